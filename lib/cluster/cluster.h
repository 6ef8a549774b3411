/* Several processes, on one machine or on many, that do one job together.
 *
 * Every process runs the same program on the same files and is known by its rank, 0 to size - 1.
 * Work is cut into parts by the problem and the number of ranks; what comes out of the parts is the
 * same wherever they are computed, and is put together in an order that the problem gives.  So the
 * result has the same bytes for any number of ranks, as it has for any number of threads.
 *
 * All ranks must call the functions below in the same order, except those marked otherwise.  A
 * cluster that is NULL is one process alone: rank 0 of 1, and nothing is sent.
 *
 * Failures.  A thread in each rank sends a sign of life every second and listens for those of the
 * others.  When a rank reports an error, ends, or is silent for `patience` seconds, the thread
 * calls `ended` with a message that names rank and host, whatever the rest of the process is doing.
 * Time in which this process itself was stopped does not count. */
#ifndef SC_CLUSTER_H
#define SC_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cluster;

struct cluster_options {
    /* "none": this process alone.  "mpi": the ranks that mpirun or srun started.  "processes:N": N
     * processes of this machine; the call forks the others, so that no thread may run yet.  "auto":
     * mpi where the environment shows that a launcher started several processes, else none. */
    const char *where;
    double patience; /* seconds of silence after which a rank is given up */
    /* Called in the watch thread; must end the process. */
    void (*ended)(const char *message);
};

enum { CLUSTER_MOST_PROCESSES = 16 }; /* of processes:N */

/* How many processes mpirun or srun has started together with this one, by what they left in the
 * environment; 0: none has. */
size_t cluster_launched(void);

/* An error if `where` is none of the words above. */
struct error *cluster_check_where(const char *where) MUST_CHECK;

/* Returns in every rank.  *cluster is NULL for a single process.  Ranks whose results could differ,
 * by version, compiler or instruction set (computed_by.h), are refused. */
struct error *cluster_open(const struct cluster_options *options,
                           struct cluster **cluster) MUST_CHECK;

/* Waits for all ranks and frees the cluster.  Safe on NULL. */
struct error *cluster_close(struct cluster *cluster) MUST_CHECK;

/* Tells the other ranks that this one cannot continue, from any thread, and ends the connection:
 * rank 0 ends all others; another rank leaves that to rank 0, waits for it for some seconds, and
 * returns.  The process must exit then.  Not called in the same order by all. */
void cluster_fail(struct cluster *cluster, const char *message);

/* Rank 0 is about to end by a signal: the others, if they are processes of this machine, end
 * without a word.  For signal handlers.  Not called in the same order by all. */
void cluster_end_from_signal(const struct cluster *cluster);

/* Not called in the same order by all. */
size_t cluster_rank(const struct cluster *cluster);
size_t cluster_size(const struct cluster *cluster);
const char *cluster_host(const struct cluster *cluster, size_t rank);
/* Ranks on the host of this one, itself among them. */
size_t cluster_neighbours(const struct cluster *cluster);

/* What this rank has sent so far, notes not counted. */
struct cluster_traffic {
    uint64_t messages, bytes;
};
struct cluster_traffic cluster_traffic(const struct cluster *cluster);

/* The part [first, end) of `count` items that is this rank's.  Parts are next to each other in the
 * order of the ranks and cut at multiples of `grain`. */
void cluster_part(const struct cluster *cluster, size_t count, size_t grain, size_t *first,
                  size_t *end);

/* items[count], of `size` bytes each, of which every rank has its part (cluster_part): afterwards
 * rank 0 has all. */
struct error *cluster_gather(struct cluster *cluster, void *items, size_t count, size_t size,
                             size_t grain) MUST_CHECK;
/* And all ranks have all. */
struct error *cluster_share(struct cluster *cluster, void *items, size_t count, size_t size,
                            size_t grain) MUST_CHECK;

/* The bytes of one rank to rank 0; the others do nothing. */
struct error *cluster_fetch(struct cluster *cluster, size_t from, void *bytes,
                            size_t size) MUST_CHECK;

/* The bytes of rank 0 to all. */
struct error *cluster_broadcast(struct cluster *cluster, void *bytes, size_t size) MUST_CHECK;

struct error *cluster_barrier(struct cluster *cluster) MUST_CHECK;

/* Ordered reduction.  add(context, sum, from, count) adds what this rank has for items from..from +
 * count - 1 to the sum[count] that the ranks before it have made.  It is called rank after rank,
 * rank 0 with the sum as the caller left it, so that floats are added in the order of the ranks as
 * one process would add them.  Items are of `size` bytes.  Afterwards all ranks have the sum. */
struct error *cluster_reduce(struct cluster *cluster, void *sum, size_t count, size_t size,
                             void (*add)(void *context, void *sum, size_t from, size_t count),
                             void *context) MUST_CHECK;

/* Reduction in a tree, for what is the same in any order: merge(context, into, from) puts the bytes
 * of another rank into those of this one.  Afterwards all ranks have the result. */
struct error *cluster_merge(struct cluster *cluster, void *bytes, size_t size,
                            void (*merge)(void *context, void *into, const void *from),
                            void *context) MUST_CHECK;

/* The error of an operation of before, for callers in the middle of work that cannot pass one on:
 * after the first, all later operations fail at once, and their results are worth nothing. */
struct error *cluster_check(const struct cluster *cluster) MUST_CHECK;

/* An error in every rank that has another text than rank 0: the digest of an input for example.
 * `what` is for the message: "train.npy". */
struct error *cluster_agree(struct cluster *cluster, const char *what, const char *text) MUST_CHECK;

#endif
