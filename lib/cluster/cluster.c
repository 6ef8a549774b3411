/* The operations are made of messages between two ranks, so that a transport is small and whoever
 * waits knows for whom:
 *
 *     broadcast  a binomial tree: log2(size) messages one after another
 *     gather     every rank to rank 0
 *     reduce     a chain from rank to rank, because floats must be added in their order, in pieces, so
 *                that all ranks work at the same time; then a broadcast from the last
 *     merge      a binomial tree to rank 0, then a broadcast
 *
 * Signs of life go between rank 0 and each other rank. */
#include "cluster/cluster.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/computed_by.h"
#include "base/size.h"
#include "cluster/cluster_internal.h"

enum {
    HOST = 64,               /* bytes of a host name */
    MESSAGE_BYTES = 1 << 30, /* of one message at most */
    PIECE_BYTES = 1 << 16,   /* of a reduction on its way through the chain */
    SLICE = 50,              /* milliseconds between two looks for notes */
    TICK = 1000,             /* and between two signs of life */
    PLAINER = 200,           /* milliseconds in which rank 0 may meet the same error, and say it */
    KNOWN = 500,             /* milliseconds in which the watch thread sees that a rank is gone */
    LAST_WORDS = 5000,       /* milliseconds that a failed rank waits for rank 0 to end it */
};

struct cluster {
    struct cluster_transport transport;
    struct cluster_options options;
    char (*hosts)[HOST]; /* (size,) */
    struct cluster_traffic traffic;
    bool is_lost; /* a rank has ended: no more messages */
    size_t lost_rank;

    pthread_t watch;
    bool watching;
    atomic_bool stop;   /* the watch thread is to end */
    atomic_bool ending; /* all ranks are on their way out: one that is gone is no failure */
    atomic_bool failed; /* so is this one: */
    long tick;          /* milliseconds between two signs of life */
    long *silence;      /* (size,) milliseconds since the last one came */
};

size_t cluster_rank(const struct cluster *cluster)
{
    return cluster ? cluster->transport.rank : 0;
}

size_t cluster_size(const struct cluster *cluster)
{
    return cluster ? cluster->transport.size : 1;
}

const char *cluster_host(const struct cluster *cluster, size_t rank)
{
    return cluster && cluster->hosts[rank][0] ? cluster->hosts[rank] : "a host not known yet";
}

size_t cluster_neighbours(const struct cluster *cluster)
{
    size_t count = 0;

    for (size_t r = 0; r < cluster_size(cluster); r++)
        count +=
            strcmp(cluster_host(cluster, r), cluster_host(cluster, cluster_rank(cluster))) == 0;
    return count;
}

struct cluster_traffic cluster_traffic(const struct cluster *cluster)
{
    return cluster ? cluster->traffic : (struct cluster_traffic){0};
}

/* ---- The watch thread ---- */

static void sleep_milliseconds(long milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

static void post(const struct cluster *cluster, size_t to, enum cluster_note_kind kind,
                 const char *text)
{
    struct cluster_note note = {.kind = kind, .from = (uint32_t)cluster->transport.rank};

    snprintf(note.text, sizeof note.text, "%s", text);
    /* Signs of life may be lost; posting a failure is tried for a second. */
    for (int i = 0; !cluster->transport.post(cluster->transport.state, to, &note); i++) {
        if (kind == NOTE_ALIVE || i == 100)
            return;
        sleep_milliseconds(10);
    }
}

static void post_alive(const struct cluster *cluster)
{
    size_t rank = cluster->transport.rank, end = rank ? 1 : cluster->transport.size;

    for (size_t to = rank ? 0 : 1; to < end; to++)
        post(cluster, to, NOTE_ALIVE, "");
}

/* Something is wrong with a rank.  Rank 0 says so; where it is the one, rank 1 does. */
static void give_up(struct cluster *cluster, size_t rank, const char *what)
{
    size_t speaker = rank == 0 ? 1 : 0;
    char message[768];

    if (atomic_exchange(&cluster->failed, true))
        return;
    snprintf(message, sizeof message, "rank %zu on %s%s", rank, cluster_host(cluster, rank), what);
    cluster->options.ended(cluster->transport.rank == speaker ? message : NULL);
}

static void take_note(struct cluster *cluster, const struct cluster_note *note)
{
    char what[600];

    cluster->silence[note->from] = 0;
    if (note->kind == NOTE_FAILED && note->from == 0) {
        /* Rank 0 has said why. */
        if (!atomic_exchange(&cluster->failed, true))
            cluster->options.ended(NULL);
    } else if (note->kind == NOTE_FAILED) {
        snprintf(what, sizeof what, ": %s", note->text);
        give_up(cluster, note->from, what);
    } else if (note->kind == NOTE_GONE && !atomic_load(&cluster->ending)) {
        snprintf(what, sizeof what, " %s", note->text);
        give_up(cluster, note->from, what);
    }
}

/* Silence is counted in slices that this thread has slept, not read from a clock. */
static void count_silence(struct cluster *cluster)
{
    size_t rank = cluster->transport.rank, end = rank ? 1 : cluster->transport.size;
    char what[96];

    for (size_t other = rank ? 0 : 1; other < end; other++) {
        cluster->silence[other] += SLICE;
        if ((double)cluster->silence[other] <= 1000 * cluster->options.patience)
            continue;
        snprintf(what, sizeof what, " has given no sign of life for %g s",
                 cluster->options.patience);
        give_up(cluster, other, what);
    }
}

static void *watch(void *argument)
{
    struct cluster *cluster = argument;
    struct cluster_note note;

    for (long time = 0; !atomic_load(&cluster->stop); time += SLICE) {
        if (time % cluster->tick == 0)
            post_alive(cluster);
        while (cluster->transport.take(cluster->transport.state, &note))
            if (note.from < cluster->transport.size)
                take_note(cluster, &note);
        sleep_milliseconds(SLICE);
        count_silence(cluster);
    }
    return NULL;
}

/* Signals stay with the main thread (parallel.c). */
static struct error *start_watch(struct cluster *cluster)
{
    sigset_t all, before;
    int failure;

    cluster->tick = TICK;
    while (cluster->tick > SLICE && (double)cluster->tick > 250 * cluster->options.patience)
        cluster->tick /= 2;
    cluster->tick = size_round_up((size_t)cluster->tick, SLICE);
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(&cluster->watch, NULL, watch, cluster);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure)
        return error_make("no thread for the cluster: %s", strerror(failure));
    cluster->watching = true;
    return NULL;
}

/* ---- Messages ---- */

/* The watch thread may know why, and ends the process then. */
static void lose(struct cluster *cluster, size_t rank)
{
    for (int i = 0; i < KNOWN || atomic_load(&cluster->failed); i += SLICE)
        sleep_milliseconds(SLICE);
    cluster->is_lost = true;
    cluster->lost_rank = rank;
}

struct error *cluster_check(const struct cluster *cluster)
{
    if (!cluster || !cluster->is_lost)
        return NULL;
    return error_make("rank %zu on %s has ended", cluster->lost_rank,
                      cluster_host(cluster, cluster->lost_rank));
}

static struct error *send_to(struct cluster *cluster, size_t to, const void *bytes, size_t size)
{
    const struct cluster_transport *transport = &cluster->transport;

    for (size_t at = 0; at < size && !cluster->is_lost;) {
        size_t some = size_min(size - at, MESSAGE_BYTES);

        if (!transport->send(transport->state, to, (const char *)bytes + at, some))
            lose(cluster, to);
        cluster->traffic.messages++;
        cluster->traffic.bytes += some;
        at += some;
    }
    return cluster_check(cluster);
}

static struct error *receive_from(struct cluster *cluster, size_t from, void *bytes, size_t size)
{
    const struct cluster_transport *transport = &cluster->transport;

    for (size_t at = 0; at < size && !cluster->is_lost;) {
        size_t some = size_min(size - at, MESSAGE_BYTES);

        if (!transport->receive(transport->state, from, (char *)bytes + at, some))
            lose(cluster, from);
        at += some;
    }
    return cluster_check(cluster);
}

/* ---- Operations ---- */

static void part_of(size_t rank, size_t size, size_t count, size_t grain, size_t *first,
                    size_t *end)
{
    size_t grains = size_ceiling(count, grain), each = grains / size, more = grains % size;

    *first = size_min((rank * each + size_min(rank, more)) * grain, count);
    *end = size_min(*first + (each + (rank < more)) * grain, count);
}

void cluster_part(const struct cluster *cluster, size_t count, size_t grain, size_t *first,
                  size_t *end)
{
    part_of(cluster_rank(cluster), cluster_size(cluster), count, grain, first, end);
}

/* From any rank: places in the tree are counted from it. */
static struct error *broadcast_from(struct cluster *cluster, size_t root, void *bytes, size_t size)
{
    size_t ranks = cluster_size(cluster), step = 1;
    size_t place = (cluster_rank(cluster) + ranks - root) % ranks;

    while (step < ranks && !(place & step))
        step *= 2;
    if (place)
        TRY(receive_from(cluster, (place - step + root) % ranks, bytes, size));
    for (step /= 2; step; step /= 2)
        if (place + step < ranks)
            TRY(send_to(cluster, (place + step + root) % ranks, bytes, size));
    return NULL;
}

struct error *cluster_broadcast(struct cluster *cluster, void *bytes, size_t size)
{
    return cluster ? broadcast_from(cluster, 0, bytes, size) : NULL;
}

struct error *cluster_fetch(struct cluster *cluster, size_t from, void *bytes, size_t size)
{
    size_t rank = cluster_rank(cluster);

    if (from == 0 || (rank != 0 && rank != from))
        return NULL;
    return rank == 0 ? receive_from(cluster, from, bytes, size) : send_to(cluster, 0, bytes, size);
}

struct error *cluster_gather(struct cluster *cluster, void *items, size_t count, size_t size,
                             size_t grain)
{
    for (size_t r = 1; r < cluster_size(cluster); r++) {
        size_t first, end;

        part_of(r, cluster_size(cluster), count, grain, &first, &end);
        TRY(cluster_fetch(cluster, r, (char *)items + first * size, (end - first) * size));
    }
    return NULL;
}

struct error *cluster_share(struct cluster *cluster, void *items, size_t count, size_t size,
                            size_t grain)
{
    TRY(cluster_gather(cluster, items, count, size, grain));
    return cluster_broadcast(cluster, items, count * size);
}

struct error *cluster_reduce(struct cluster *cluster, void *sum, size_t count, size_t size,
                             void (*add)(void *context, void *sum, size_t from, size_t count),
                             void *context)
{
    size_t rank = cluster_rank(cluster), last = cluster_size(cluster) - 1;
    size_t most = size_max(PIECE_BYTES / size, 1);

    for (size_t from = 0; from < count; from += most) {
        size_t some = size_min(most, count - from);
        char *piece = (char *)sum + from * size;

        if (rank > 0)
            TRY(receive_from(cluster, rank - 1, piece, some * size));
        add(context, piece, from, some);
        if (rank < last)
            TRY(send_to(cluster, rank + 1, piece, some * size));
    }
    return cluster ? broadcast_from(cluster, last, sum, count * size) : NULL;
}

struct error *cluster_merge(struct cluster *cluster, void *bytes, size_t size,
                            void (*merge)(void *context, void *into, const void *from),
                            void *context)
{
    size_t rank = cluster_rank(cluster), ranks = cluster_size(cluster);
    struct error *error = NULL;
    void *other;

    if (!cluster)
        return NULL;
    other = malloc(size ? size : 1);
    if (!other)
        return error_memory("results of another rank");
    for (size_t step = 1; step < ranks && !error; step *= 2) {
        if (rank & step) {
            error = send_to(cluster, rank - step, bytes, size);
            break;
        }
        if (rank + step >= ranks)
            continue;
        error = receive_from(cluster, rank + step, other, size);
        if (!error)
            merge(context, bytes, other);
    }
    free(other);
    return error ? error : cluster_broadcast(cluster, bytes, size);
}

static void merge_nothing(void *context, void *into, const void *from)
{
    (void)context;
    (void)into;
    (void)from;
}

struct error *cluster_barrier(struct cluster *cluster)
{
    return cluster_merge(cluster, &(char){0}, 1, merge_nothing, NULL);
}

/* Rank 0 compares; the others hear of it by its failure, before it answers. */
struct error *cluster_agree(struct cluster *cluster, const char *what, const char *text)
{
    enum { TEXT = 1024 };
    char own[TEXT] = "", other[TEXT];

    if (!cluster)
        return NULL;
    snprintf(own, sizeof own, "%s", text);
    if (cluster_rank(cluster)) {
        TRY(send_to(cluster, 0, own, sizeof own));
        return cluster_barrier(cluster);
    }
    for (size_t r = 1; r < cluster_size(cluster); r++) {
        TRY(receive_from(cluster, r, other, sizeof other));
        other[sizeof other - 1] = '\0';
        if (strcmp(own, other) != 0)
            return error_make("%s: not the same for rank %zu on %s (%s) as for rank 0 (%s)", what,
                              r, cluster_host(cluster, r), other, own);
    }
    return cluster_barrier(cluster);
}

/* ---- Opening and closing ---- */

/* How many processes "processes:N" is; 0: it is something else. */
static struct error *parse_processes(const char *where, size_t *count)
{
    static const char processes[] = "processes:";
    const char *number = where + sizeof processes - 1;
    char *end;

    *count = 0;
    if (strncmp(where, processes, sizeof processes - 1) != 0)
        return NULL;
    *count = strtoul(number, &end, 10);
    if (*end || *number < '0' || *number > '9' || *count < 1 || *count > CLUSTER_MOST_PROCESSES)
        return error_make("'%s': from 1 to %d processes", where, CLUSTER_MOST_PROCESSES);
    return NULL;
}

struct error *cluster_check_where(const char *where)
{
    size_t count;

    TRY(parse_processes(where, &count));
    if (!count && strcmp(where, "auto") != 0 && strcmp(where, "none") != 0 &&
        strcmp(where, "mpi") != 0)
        return error_make("'%s' is not one of: auto, none, mpi, processes:N", where);
    return NULL;
}

static struct error *open_transport(const struct cluster_options *options,
                                    struct cluster_transport *transport)
{
    const char *where = options->where;
    size_t launched = cluster_launched(), count;

    *transport = (struct cluster_transport){.size = 1};
    TRY(cluster_check_where(where));
    if (strcmp(where, "none") == 0 || (strcmp(where, "auto") == 0 && launched < 2))
        return NULL;
    TRY(parse_processes(where, &count));
    if (count)
        return count == 1 ? NULL : processes_open(count, transport);
    TRY(mpi_open(transport));
    if (launched > 1 && transport->size != launched)
        return error_make("the launcher has started %zu processes, but MPI knows of %zu: the "
                          "plug-in is of another MPI than the launcher (shapecond-cluster(7))",
                          launched, transport->size);
    return NULL;
}

/* The hosts of all ranks. */
static struct error *introduce(struct cluster *cluster)
{
    char by[1024];

    gethostname(cluster->hosts[cluster->transport.rank], HOST - 1);
    TRY(cluster_share(cluster, cluster->hosts, cluster->transport.size, HOST, 1));
    for (size_t r = 0; r < cluster->transport.size; r++)
        cluster->hosts[r][HOST - 1] = '\0';
    snprintf(by, sizeof by, "shapecond %s, %s", SHAPECOND_VERSION, computed_by());
    return cluster_agree(cluster, "the programs, or SHAPECOND_CPU", by);
}

struct error *cluster_open(const struct cluster_options *options, struct cluster **result)
{
    struct cluster_transport transport;
    struct cluster *cluster;

    *result = NULL;
    TRY(open_transport(options, &transport));
    if (transport.size < 2) {
        if (transport.close)
            transport.close(transport.state, false);
        return NULL;
    }
    cluster = calloc(1, sizeof *cluster);
    if (cluster) {
        cluster->hosts = calloc(transport.size, sizeof *cluster->hosts);
        cluster->silence = calloc(transport.size, sizeof *cluster->silence);
    }
    if (!cluster || !cluster->hosts || !cluster->silence) {
        transport.close(transport.state, true);
        return error_memory("a cluster");
    }
    cluster->transport = transport;
    cluster->options = *options;
    *result = cluster;
    TRY(start_watch(cluster));
    return introduce(cluster);
}

static void stop_watch(struct cluster *cluster)
{
    atomic_store(&cluster->stop, true);
    if (cluster->watching)
        pthread_join(cluster->watch, NULL);
    cluster->watching = false;
}

struct error *cluster_close(struct cluster *cluster)
{
    if (!cluster)
        return NULL;
    atomic_store(&cluster->ending, true);
    TRY(cluster_barrier(cluster));
    stop_watch(cluster);
    cluster->transport.close(cluster->transport.state, false);
    free(cluster->hosts);
    free(cluster->silence);
    free(cluster);
    return NULL;
}

void cluster_end_from_signal(const struct cluster *cluster)
{
    static const struct cluster_note note = {.kind = NOTE_FAILED, .from = 0};

    if (!cluster || cluster->transport.rank > 0 || !cluster->transport.posts_from_signals)
        return;
    for (size_t to = 1; to < cluster->transport.size; to++)
        cluster->transport.post(cluster->transport.state, to, &note);
}

void cluster_fail(struct cluster *cluster, const char *message)
{
    if (!cluster)
        return;
    if (cluster->transport.rank > 0 && !atomic_load(&cluster->failed)) {
        sleep_milliseconds(PLAINER);
        post(cluster, 0, NOTE_FAILED, message);
        sleep_milliseconds(LAST_WORDS); /* rank 0 answers, and `ended` ends the process */
    }
    atomic_store(&cluster->failed, true);
    for (size_t to = 1; cluster->transport.rank == 0 && to < cluster->transport.size; to++)
        post(cluster, to, NOTE_FAILED, message);
    cluster->transport.close(cluster->transport.state, true);
}
