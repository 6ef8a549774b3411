#include "support/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/parallel.h"

enum { TASKS = 1000 };

struct job {
    _Atomic unsigned runs[TASKS];
    _Atomic unsigned inside[256]; /* tasks that run now, by worker */
    _Atomic bool broken;
};

static void count_run(void *context, size_t task, unsigned worker)
{
    struct job *job = context;

    if (worker >= parallel_threads() || atomic_fetch_add(&job->inside[worker], 1) != 0)
        job->broken = true;
    for (volatile int spin = 0; spin < 200; spin++)
        ;
    atomic_fetch_add(&job->runs[task], 1);
    atomic_fetch_sub(&job->inside[worker], 1);
}

static void every_task_runs_once_and_workers_are_exclusive(void **state)
{
    static const unsigned threads[] = {1, 2, 7, 1, 3};

    (void)state;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        parallel_set_threads(threads[t]);
        assert_int_equal(parallel_threads(), threads[t]);
        for (int repeat = 0; repeat < 50; repeat++) {
            static struct job job;
            size_t tasks = (size_t)repeat * 20;

            memset(&job, 0, sizeof job);
            parallel_for(tasks, count_run, &job);
            assert_false(job.broken);
            for (size_t i = 0; i < TASKS; i++)
                assert_int_equal(job.runs[i], i < tasks);
        }
    }
}

static _Atomic unsigned inner_runs;

static void inner(void *context, size_t task, unsigned worker)
{
    (void)task;
    assert_int_equal(worker, *(unsigned *)context);
    atomic_fetch_add(&inner_runs, 1);
}

static void outer(void *context, size_t task, unsigned worker)
{
    (void)context;
    (void)task;
    parallel_for(5, inner, &worker);
}

static void a_loop_inside_a_task_stays_on_its_worker(void **state)
{
    (void)state;
    parallel_set_threads(3);
    parallel_for(40, outer, NULL);
    assert_int_equal(inner_runs, 200);
}

static pthread_t seen_threads[64];
static _Atomic size_t seen_count;

static void note_thread(void *context, size_t task, unsigned worker)
{
    size_t count = atomic_load(&seen_count);

    (void)context;
    (void)task;
    (void)worker;
    for (size_t i = 0; i < count; i++) {
        if (pthread_equal(seen_threads[i], pthread_self()))
            return;
    }
    count = atomic_fetch_add(&seen_count, 1);
    if (count < 64)
        seen_threads[count] = pthread_self();
}

static void threads_are_kept_between_loops(void **state)
{
    (void)state;
    parallel_set_threads(2);
    for (int i = 0; i < 2000; i++)
        parallel_for(8, note_thread, NULL);
    assert_in_range(seen_count, 1, 2);
}

static pthread_barrier_t both;

/* Holds its thread until the other one is here. */
static void note_mask(void *context, size_t task, unsigned worker)
{
    sigset_t *masks = context;

    (void)task;
    pthread_barrier_wait(&both);
    pthread_sigmask(SIG_SETMASK, NULL, &masks[worker]);
}

static void workers_leave_signals_to_the_main_thread_but_that_of_a_truncated_input(void **state)
{
    sigset_t masks[2];

    (void)state;
    parallel_set_threads(2);
    pthread_barrier_init(&both, NULL, 2);
    parallel_for(2, note_mask, masks);
    pthread_barrier_destroy(&both);
    assert_int_equal(sigismember(&masks[0], SIGTERM), 0);
    assert_int_equal(sigismember(&masks[1], SIGTERM), 1);
    assert_int_equal(sigismember(&masks[1], SIGCHLD), 1);
    assert_int_equal(sigismember(&masks[1], SIGBUS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once_and_workers_are_exclusive),
        cmocka_unit_test(a_loop_inside_a_task_stays_on_its_worker),
        cmocka_unit_test(threads_are_kept_between_loops),
        cmocka_unit_test(workers_leave_signals_to_the_main_thread_but_that_of_a_truncated_input),
    };

    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
