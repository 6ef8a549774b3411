#include "common/cluster_option.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/coprocess.h"
#include "base/file.h"
#include "base/output.h"
#include "base/parallel.h"
#include "common/claims.h"
#include "common/process.h"

static struct cluster *joined;
static atomic_flag failing = ATOMIC_FLAG_INIT;

/* One thread ends the process, the others wait for that. */
static void be_the_one(void)
{
    while (atomic_flag_test_and_set(&failing))
        pause();
}

/* An error of this rank, which rank 0 has printed. */
static void fail(const char *message)
{
    be_the_one();
    cluster_fail(joined, message);
}

/* Another rank is in trouble: the watch thread ends the process. */
static void ended(const char *message)
{
    be_the_one();
    while (output_is_committing())
        usleep(1000);
    output_abort_all_from_signal();
    coprocess_kill_from_signal();
    if (message)
        cli_say_of_cluster(message);
    if (message)
        cluster_fail(joined, message);
    _exit(1);
}

static void end_others(void)
{
    cluster_end_from_signal(joined);
}

/* ---- Standard input ---- */

static struct error *write_all(int file, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t some = write(file, bytes + done, size - done);

        if (some < 0 && errno != EINTR)
            return error_system("standard input in memory");
        done += some > 0 ? (size_t)some : 0;
    }
    return NULL;
}

/* Rank 0 reads it; every rank gets a file in memory in its place. */
static struct error *share_standard_input(struct cluster *cluster)
{
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    int file = memfd_create("standard input", MFD_CLOEXEC);
    struct error *error = NULL;
    int64_t size = 1;

    if (!piece || file < 0)
        error = error_memory("standard input");
    while (!error && size > 0) {
        if (cluster_rank(cluster) == 0)
            do
                size = read(STDIN_FILENO, piece, PIECE);
            while (size < 0 && errno == EINTR);
        if (size < 0)
            error = error_system("standard input");
        if (!error)
            error = cluster_broadcast(cluster, &size, sizeof size);
        if (!error)
            error = cluster_broadcast(cluster, piece, (size_t)size);
        if (!error)
            error = write_all(file, piece, (size_t)size);
    }
    free(piece);
    if (!error && (lseek(file, 0, SEEK_SET) < 0 || dup2(file, STDIN_FILENO) < 0))
        error = error_system("standard input");
    if (file >= 0)
        close(file);
    return error;
}

/* ---- Joining and leaving ---- */

/* Where a launcher has not bound the ranks to cores of their own, they share those of the host. */
static void share_cores(const struct cluster *cluster, const struct cli_common *common)
{
    size_t cores = parallel_threads(), ranks = cluster_neighbours(cluster);

    if (common->threads == 0 && cores == (size_t)sysconf(_SC_NPROCESSORS_ONLN))
        parallel_set_threads(cores > ranks ? (unsigned)(cores / ranks) : 1);
}

struct cluster *cluster_chosen(const struct cluster_cli *option, struct cli_common *common)
{
    const char *given = getenv("SHAPECOND_CLUSTER");
    struct cluster_options options = {.where = option->where     ? option->where
                                               : given && *given ? given
                                                                 : "auto",
                                      .patience = option->patience,
                                      .ended = ended};
    struct error *error;

    cli_check_usage(option->where ? "cluster" : "cluster (SHAPECOND_CLUSTER)",
                    cluster_check_where(options.where));
    error = cluster_open(&options, &joined);
    if (joined)
        cli_join(cluster_rank(joined), cluster_host(joined, cluster_rank(joined)), fail);
    process_at_end(end_others);
    cli_check(error_in("--cluster", error));
    if (!joined)
        return NULL;
    common->quiet = common->quiet || cluster_rank(joined) > 0;
    share_cores(joined, common);
    if (claims_standard_input())
        cli_check(share_standard_input(joined));
    return joined;
}

static void add_traffic(void *context, void *into, const void *from)
{
    const struct cluster_traffic *other = from;
    struct cluster_traffic *sum = into;

    (void)context;
    sum->messages += other->messages;
    sum->bytes += other->bytes;
}

void cluster_done(struct cluster *cluster)
{
    struct cluster_traffic sum = cluster_traffic(cluster);
    size_t ranks = cluster_size(cluster), rank = cluster_rank(cluster);

    if (!cluster)
        return;
    cli_check(cluster_merge(cluster, &sum, sizeof sum, add_traffic, NULL));
    cli_check(cluster_close(cluster));
    cli_join(rank, "", NULL);
    joined = NULL;
    cli_say("%zu ranks sent %" PRIu64 " messages, %" PRIu64 " bytes", ranks, sum.messages,
            sum.bytes);
}

void cluster_check_input(struct cluster *cluster, const char *path, const char *digest)
{
    cli_check(cluster_agree(cluster, file_shown(path), digest));
}

void cluster_check_dataset(struct cluster *cluster, const char *path, const struct dataset *dataset)
{
    cluster_check_input(cluster, path, dataset->digest);
    if (dataset->label_digest[0])
        cluster_check_input(cluster, "the labels", dataset->label_digest);
}

void cluster_check_source(struct cluster *cluster, struct feature_source *source)
{
    source->cluster = cluster;
    if (source->pool)
        cluster_check_input(cluster, "the shapelets", source->pool->digest);
}
