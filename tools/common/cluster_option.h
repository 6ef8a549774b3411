/* The options --cluster and --cluster-timeout, of tools that can run as several ranks (cluster.h).
 *
 * Every rank runs the whole program.  Those other than rank 0 print nothing, write their outputs to
 * /dev/null, and leave their errors to rank 0.  Standard input goes to all. */
#ifndef SC_CLUSTER_OPTION_H
#define SC_CLUSTER_OPTION_H

#include "cluster/cluster.h"
#include "common/cli.h"
#include "eval/examples.h"
#include "formats/dataset.h"

struct cluster_cli {
    const char *where; /* NULL: SHAPECOND_CLUSTER, or auto */
    double patience;
};

#define CLUSTER_DEFAULTS                                                                           \
    {                                                                                              \
        .patience = 60                                                                             \
    }

/* Rows for the table of a tool whose struct `options` has a struct cluster_cli `cluster`. */
/* clang-format off */
#define CLUSTER_OPTIONS(options)                                                                   \
    {0, "cluster", "WHERE", CLI_TEXT, CLI_AT(options, cluster.where),                              \
     "ranks that share the work: auto, none, mpi or processes:N (shapecond-cluster(7))",           \
     .unrecorded = true},                                                                          \
    {0, "cluster-timeout", "S", CLI_REAL, CLI_AT(options, cluster.patience),                       \
     "seconds without a sign of life after which a rank is given up", .low = 0.1, .high = 1e6,     \
     .unrecorded = true}
/* clang-format on */

/* Joins the ranks, or prints what is wrong and exits; NULL: one process alone.  To be called after
 * cli_parse and the checks of usage, before anything is read and any thread is started.  Where
 * --threads is not given, ranks of one host share its cores. */
struct cluster *cluster_chosen(const struct cluster_cli *option, struct cli_common *common);

/* Waits for the others: the last call of a tool that has written its outputs. */
void cluster_done(struct cluster *cluster);

/* An error if ranks have read different files. */
void cluster_check_input(struct cluster *cluster, const char *path, const char *digest);
/* The same of a dataset, and of the file of its labels, if that is another. */
void cluster_check_dataset(struct cluster *cluster, const char *path,
                           const struct dataset *dataset);
/* The same of the pool of shapelets, if there is one; the cluster computes the features. */
void cluster_check_source(struct cluster *cluster, struct feature_source *source);

#endif
