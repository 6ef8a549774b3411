/* A pool of threads around one shared job.
 *
 * Tasks are claimed from an atomic counter.  A worker that has nothing to do spins for a short
 * while before it sleeps: a training step issues many jobs of some microseconds each, and waking a
 * sleeping thread costs more than that.
 *
 * The caller works, too, and waits only for workers that have joined the job, so that on a busy
 * machine a small job never waits for a thread that the system has not let run.  Joining is a
 * handshake: a worker raises `active` and then looks whether its job is still open; the caller
 * closes the job and then looks at `active`.  One of the two always sees the other. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 256, SPINS = 4000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    unsigned wanted;  /* as set by the user, 0: one per core */
    unsigned started; /* threads besides the caller's */
    pthread_t threads[MOST_THREADS];
    _Atomic bool stop;

    /* The job.  Odd while it is open; raised to publish it, and again to close it. */
    _Atomic uint64_t generation;
    _Atomic unsigned sleeping;
    _Atomic unsigned active; /* workers that have joined, or are about to find that it is closed */
    void (*body)(void *, size_t, unsigned);
    void *context;
    size_t tasks;
    _Atomic size_t next;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* The worker number of this thread while it runs tasks, else -1. */
static _Thread_local int current_worker = -1;

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void run_tasks(unsigned worker)
{
    size_t task;

    current_worker = (int)worker;
    while ((task = atomic_fetch_add(&pool.next, 1)) < pool.tasks)
        pool.body(pool.context, task, worker);
    current_worker = -1;
}

/* Waits for an open job other than the last one seen. */
static uint64_t await_job(uint64_t seen)
{
    uint64_t generation;

    for (int spin = 0; spin < SPINS; spin++) {
        generation = atomic_load(&pool.generation);
        if (generation != seen && generation % 2 == 1)
            return generation;
        relax();
    }
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.sleeping, 1);
    while ((generation = atomic_load(&pool.generation)) == seen || generation % 2 == 0)
        pthread_cond_wait(&pool.wake, &pool.lock);
    atomic_fetch_sub(&pool.sleeping, 1);
    pthread_mutex_unlock(&pool.lock);
    return generation;
}

static void publish(void)
{
    atomic_fetch_add(&pool.generation, 1);
    if (atomic_load(&pool.sleeping) > 0) {
        pthread_mutex_lock(&pool.lock);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.lock);
    }
}

struct worker_start {
    unsigned worker;
    uint64_t seen;
};

static void *worker_main(void *argument)
{
    struct worker_start start = *(struct worker_start *)argument;

    free(argument);
    for (;;) {
        start.seen = await_job(start.seen);
        if (pool.stop)
            return NULL;
        atomic_fetch_add(&pool.active, 1);
        if (atomic_load(&pool.generation) == start.seen)
            run_tasks(start.worker);
        atomic_fetch_sub(&pool.active, 1);
    }
}

static void stop_threads(void)
{
    if (pool.started == 0)
        return;
    pool.stop = true;
    publish();
    for (unsigned i = 0; i < pool.started; i++)
        pthread_join(pool.threads[i], NULL);
    atomic_fetch_add(&pool.generation, 1);
    pool.started = 0;
    pool.stop = false;
}

/* Starts what is missing.  If the system refuses a thread, the work is done with fewer: that never
 * changes the result. */
static void start_threads(unsigned wanted)
{
    static bool registered;
    sigset_t all, before;

    if (!registered) {
        atexit(stop_threads);
        registered = true;
    }
    /* Signals are for the main thread, except that of an input that was truncated (mapped.h): it
     * comes in the thread that reads the data, and where it is blocked it ends the process. */
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.started < wanted) {
        struct worker_start *start = malloc(sizeof *start);

        if (!start)
            break;
        start->worker = pool.started + 1;
        start->seen = atomic_load(&pool.generation);
        if (pthread_create(&pool.threads[pool.started], NULL, worker_main, start)) {
            free(start);
            break;
        }
        pool.started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Those that this process may run on: launchers of clusters bind processes to some. */
static long count_cores(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

unsigned parallel_threads(void)
{
    static _Atomic long known; /* too slow for every job */
    long cores = atomic_load(&known);

    if (pool.wanted)
        return pool.wanted;
    if (cores == 0) {
        cores = count_cores();
        atomic_store(&known, cores = cores < 1 ? 1 : cores);
    }
    return cores > MOST_THREADS ? MOST_THREADS : (unsigned)cores;
}

void parallel_set_threads(unsigned threads)
{
    pool.wanted = threads > MOST_THREADS ? MOST_THREADS : threads;
    if (pool.started + 1 != parallel_threads())
        stop_threads();
}

void parallel_for(size_t tasks, void (*body)(void *context, size_t task, unsigned worker),
                  void *context)
{
    if (current_worker >= 0) {
        for (size_t task = 0; task < tasks; task++)
            body(context, task, (unsigned)current_worker);
        return;
    }
    if (tasks > 1 && pool.started + 1 < parallel_threads())
        start_threads(parallel_threads() - 1);
    if (tasks <= 1 || pool.started == 0) {
        current_worker = 0;
        for (size_t task = 0; task < tasks; task++)
            body(context, task, 0);
        current_worker = -1;
        return;
    }
    pool.body = body;
    pool.context = context;
    pool.tasks = tasks;
    atomic_store(&pool.next, 0);
    publish();
    run_tasks(0);
    atomic_fetch_add(&pool.generation, 1);
    for (int spin = 0; atomic_load(&pool.active) > 0; spin++) {
        if (spin < SPINS)
            relax();
        else
            sched_yield();
    }
}
