/* The operations of a cluster, and its failures, with ranks that are processes of this machine.
 *
 * Each run happens in a child of the test, which becomes rank 0 and forks the others; what they
 * find is in shared memory. */
#include "support/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster/cluster.h"

enum { RANKS = 8, ITEMS = 50000, FAILED = 3 };

struct seen {
    int done[RANKS]; /* reached the end */
    size_t first[RANKS], end[RANKS];
    float sum[RANKS][ITEMS];
    size_t items[RANKS][100];
    struct cluster_traffic traffic[RANKS];
    char message[1024]; /* of whoever spoke last */
    pid_t pid[RANKS];
};

static struct seen *seen;
static struct cluster *cluster;

static void ended(const char *message)
{
    if (message) {
        snprintf(seen->message, sizeof seen->message, "%s", message);
        cluster_fail(cluster, message);
    }
    _exit(FAILED);
}

/* Of an error of this rank. */
static void check_rank(struct error *error)
{
    if (!error)
        return;
    if (cluster_rank(cluster) == 0)
        snprintf(seen->message, sizeof seen->message, "%s", error_message(error));
    cluster_fail(cluster, error_message(error));
    _exit(FAILED);
}

/* Runs body in each of `ranks` processes; the exit status of rank 0, or minus the signal. */
static int run(size_t ranks, double patience, void (*body)(size_t rank))
{
    char where[32];
    struct cluster_options options = {.where = where, .patience = patience, .ended = ended};
    int status;
    pid_t first;

    snprintf(where, sizeof where, "processes:%zu", ranks);
    memset(seen, 0, sizeof *seen);
    first = fork();
    assert_true(first >= 0);
    if (first == 0) {
        size_t rank;

        check_rank(cluster_open(&options, &cluster));
        rank = cluster_rank(cluster);
        seen->pid[rank] = getpid();
        body(rank);
        seen->traffic[rank] = cluster_traffic(cluster);
        check_rank(cluster_close(cluster));
        seen->done[rank] = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(first, &status, 0), first);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void assert_all_done(size_t ranks)
{
    for (size_t r = 0; r < ranks; r++)
        assert_int_equal(seen->done[r], 1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int make_shared(void **state)
{
    (void)state;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return seen == MAP_FAILED;
}

/* ---- Alone ---- */

static void one_process_is_rank_0_of_1_and_sends_nothing(void **state)
{
    struct cluster_options options = {.where = "none", .patience = 1, .ended = ended};
    struct cluster *alone;
    size_t first, end, items[3] = {5, 6, 7};

    (void)state;
    assert_ok(cluster_open(&options, &alone));
    assert_null(alone);
    assert_int_equal(cluster_rank(alone), 0);
    assert_int_equal(cluster_size(alone), 1);
    assert_int_equal(cluster_traffic(alone).messages, 0);
    cluster_part(alone, 10, 4, &first, &end);
    assert_int_equal(first, 0);
    assert_int_equal(end, 10);
    assert_ok(cluster_share(alone, items, 3, sizeof *items, 1));
    assert_ok(cluster_broadcast(alone, items, sizeof items));
    assert_ok(cluster_barrier(alone));
    assert_ok(cluster_agree(alone, "this", "that"));
    assert_int_equal(items[2], 7);
    assert_ok(cluster_close(alone));
}

static void nonsense_is_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "mpirun",
                                        "processes",
                                        "processes:",
                                        "processes:0",
                                        "processes:3x",
                                        "processes:17",
                                        "processes:-1"};
    struct cluster_options options = {.patience = 1, .ended = ended};
    struct cluster *none;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.where = wrong[i];
        assert_fails("'", cluster_open(&options, &none));
        assert_null(none);
    }
}

/* ---- Operations ---- */

static size_t grain;

static void note_part(size_t rank)
{
    cluster_part(cluster, 100, grain, &seen->first[rank], &seen->end[rank]);
}

static void parts_are_next_to_each_other_and_cut_at_the_grain(void **state)
{
    static const size_t grains[] = {1, 7, 30, 1000};

    (void)state;
    for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
        for (size_t ranks = 2; ranks <= RANKS; ranks += 3) {
            size_t next = 0;

            grain = grains[g];
            assert_int_equal(run(ranks, 10, note_part), 0);
            assert_all_done(ranks);
            for (size_t r = 0; r < ranks; r++) {
                assert_int_equal(seen->first[r], next);
                assert_true(seen->end[r] >= next);
                assert_true(seen->end[r] == 100 || seen->end[r] % grain == 0);
                next = seen->end[r];
            }
            assert_int_equal(next, 100);
        }
    }
}

static void share_squares(size_t rank)
{
    size_t *items = seen->items[rank], first, end;

    cluster_part(cluster, 100, 7, &first, &end);
    for (size_t i = first; i < end; i++)
        items[i] = i * i;
    check_rank(cluster_share(cluster, items, 100, sizeof *items, 7));
}

static void gather_squares(size_t rank)
{
    size_t *items = seen->items[rank], first, end;

    cluster_part(cluster, 100, 7, &first, &end);
    for (size_t i = first; i < end; i++)
        items[i] = i * i;
    check_rank(cluster_gather(cluster, items, 100, sizeof *items, 7));
}

static void all_ranks_get_the_parts_of_all_by_share_and_rank_0_by_gather(void **state)
{
    (void)state;
    for (size_t ranks = 2; ranks <= RANKS; ranks++) {
        assert_int_equal(run(ranks, 10, share_squares), 0);
        assert_all_done(ranks);
        for (size_t r = 0; r < ranks; r++)
            for (size_t i = 0; i < 100; i++)
                assert_int_equal(seen->items[r][i], i * i);
    }
    assert_int_equal(run(3, 10, gather_squares), 0);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(seen->items[0][i], i * i);
    assert_int_equal(seen->items[1][1], 0);
    /* To rank 0: two gathered parts and the tables of hosts and programs. */
    assert_true(seen->traffic[1].bytes >= 28 * sizeof(size_t));
    assert_true(seen->traffic[2].messages >= 1);
}

/* What a rank adds to item i: of so different sizes that the order shows. */
static float share_of(size_t rank, size_t i)
{
    static const float sizes[] = {1e8F, 1.5F, -1e8F, 3.25F, 1e-3F, 7e6F, -7e6F, 0.1F};

    return sizes[rank % 8] * (float)(1 + i % 13);
}

static void add_share(void *context, void *sum, size_t from, size_t count)
{
    const size_t *rank = context;

    for (size_t i = 0; i < count; i++)
        ((float *)sum)[i] += share_of(*rank, from + i);
}

static void reduce_floats(size_t rank)
{
    float *sum = seen->sum[rank];

    for (size_t i = 0; rank == 0 && i < ITEMS; i++)
        sum[i] = 0.5F;
    check_rank(cluster_reduce(cluster, sum, ITEMS, sizeof *sum, add_share, &rank));
}

static void floats_are_added_in_the_order_of_the_ranks(void **state)
{
    (void)state;
    for (size_t ranks = 2; ranks <= RANKS; ranks += 2) {
        assert_int_equal(run(ranks, 10, reduce_floats), 0);
        assert_all_done(ranks);
        for (size_t i = 0; i < ITEMS; i++) {
            float sum = 0.5F;

            for (size_t r = 0; r < ranks; r++)
                sum += share_of(r, i);
            for (size_t r = 0; r < ranks; r++)
                assert_memory_equal(&seen->sum[r][i], &sum, sizeof sum);
        }
    }
}

static void keep_larger(void *context, void *into, const void *from)
{
    size_t *mine = into;
    const size_t *other = from;

    (void)context;
    for (size_t i = 0; i < 10; i++)
        mine[i] = mine[i] > other[i] ? mine[i] : other[i];
}

static void merge_largest(size_t rank)
{
    for (size_t i = 0; i < 10; i++)
        seen->items[rank][i] = i % cluster_size(cluster) == rank ? 100 + i : rank;
    check_rank(cluster_merge(cluster, seen->items[rank], 10 * sizeof(size_t), keep_larger, NULL));
}

static void every_rank_takes_part_in_a_merge(void **state)
{
    (void)state;
    for (size_t ranks = 2; ranks <= RANKS; ranks++) {
        assert_int_equal(run(ranks, 10, merge_largest), 0);
        for (size_t r = 0; r < ranks; r++)
            for (size_t i = 0; i < 10; i++)
                assert_int_equal(seen->items[r][i], 100 + i);
    }
}

static void disagree(size_t rank)
{
    check_rank(cluster_agree(cluster, "first.npy", "the same"));
    check_rank(cluster_agree(cluster, "second.npy", rank == 2 ? "other" : "the same"));
    check_rank(cluster_barrier(cluster));
}

static void ranks_that_read_different_files_are_found(void **state)
{
    (void)state;
    assert_int_equal(run(3, 10, disagree), FAILED);
    assert_non_null(strstr(seen->message, "second.npy: not the same for rank 2 on "));
    assert_int_equal(seen->done[0] + seen->done[1] + seen->done[2], 0);
}

/* ---- Failures ---- */

static void fail_in_rank_2(size_t rank)
{
    if (rank == 2)
        check_rank(error_make("no bread"));
    check_rank(cluster_barrier(cluster));
}

static void an_error_of_a_rank_is_told_by_rank_0_with_rank_and_host(void **state)
{
    char host[64] = "", wanted[160];

    (void)state;
    gethostname(host, sizeof host - 1);
    snprintf(wanted, sizeof wanted, "rank 2 on %s: no bread", host);
    assert_int_equal(run(4, 10, fail_in_rank_2), FAILED);
    assert_string_equal(seen->message, wanted);
}

/* The others are at work, not waiting for anybody. */
static void kill_rank_1_at_work(size_t rank)
{
    if (rank == 1)
        raise(SIGKILL);
    sleep(30);
}

static void kill_rank_1_while_all_wait(size_t rank)
{
    if (rank == 1) {
        usleep(200000);
        raise(SIGKILL);
    }
    check_rank(cluster_barrier(cluster));
}

static void a_rank_that_dies_ends_the_run_within_seconds(void **state)
{
    double start = now();

    (void)state;
    assert_int_equal(run(3, 60, kill_rank_1_at_work), FAILED);
    assert_non_null(strstr(seen->message, "rank 1 on "));
    assert_non_null(strstr(seen->message, "was ended by signal 9"));
    assert_int_equal(run(3, 60, kill_rank_1_while_all_wait), FAILED);
    assert_non_null(strstr(seen->message, "rank 1 on "));
    assert_non_null(strstr(seen->message, "ended"));
    assert_true(now() - start < 20);
}

static void stop_rank_2(size_t rank)
{
    if (rank == 2)
        raise(SIGSTOP);
    check_rank(cluster_barrier(cluster));
}

static void a_rank_that_stalls_is_given_up_after_the_timeout(void **state)
{
    double start = now();

    (void)state;
    assert_int_equal(run(3, 2, stop_rank_2), FAILED);
    assert_non_null(strstr(seen->message, "rank 2 on "));
    assert_non_null(strstr(seen->message, "has given no sign of life for 2 s"));
    assert_true(now() - start >= 2);
    assert_true(now() - start < 20);
    assert_int_equal(kill(seen->pid[2], 0), -1); /* it does not stay behind */
}

static void work_for_long(size_t rank)
{
    if (rank == 1)
        sleep(3);
    check_rank(cluster_barrier(cluster));
}

static void a_rank_that_works_for_longer_than_the_timeout_is_not_given_up(void **state)
{
    (void)state;
    assert_int_equal(run(3, 1, work_for_long), 0);
    assert_all_done(3);
}

static void kill_rank_0(size_t rank)
{
    if (rank == 0) {
        usleep(300000);
        raise(SIGKILL);
    }
    sleep(30);
}

static void the_others_end_when_rank_0_dies(void **state)
{
    double start = now();

    (void)state;
    assert_int_equal(run(3, 60, kill_rank_0), -SIGKILL);
    for (int r = 1; r < 3; r++) /* not our children: they are asked for until they are gone */
        while (kill(seen->pid[r], 0) == 0 && now() - start < 20)
            usleep(50000);
    assert_true(now() - start < 20);
    assert_non_null(strstr(seen->message, "rank 0 on "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_is_rank_0_of_1_and_sends_nothing),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(parts_are_next_to_each_other_and_cut_at_the_grain),
        cmocka_unit_test(all_ranks_get_the_parts_of_all_by_share_and_rank_0_by_gather),
        cmocka_unit_test(floats_are_added_in_the_order_of_the_ranks),
        cmocka_unit_test(every_rank_takes_part_in_a_merge),
        cmocka_unit_test(ranks_that_read_different_files_are_found),
        cmocka_unit_test(an_error_of_a_rank_is_told_by_rank_0_with_rank_and_host),
        cmocka_unit_test(a_rank_that_dies_ends_the_run_within_seconds),
        cmocka_unit_test(a_rank_that_stalls_is_given_up_after_the_timeout),
        cmocka_unit_test(a_rank_that_works_for_longer_than_the_timeout_is_not_given_up),
        cmocka_unit_test(the_others_end_when_rank_0_dies),
    };

    return cmocka_run_group_tests(tests, make_shared, NULL);
}
