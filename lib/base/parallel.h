/* Work on several threads whose results never depend on how many there are.
 *
 * The caller cuts its problem into tasks by the problem alone, never by the thread count; each task
 * writes its own part of the result, and sums over tasks are added up afterwards in task order.
 * Which thread runs which task is left open.
 *
 * The threads are started once, at the first use, and wait between calls. */
#ifndef SC_PARALLEL_H
#define SC_PARALLEL_H

#include <stddef.h>

/* How many threads to use from now on; 0 asks for one per core that
 * the process may run on (the default).  Not to be called
 * inside a task. */
void parallel_set_threads(unsigned threads);

/* How many threads are in use: worker numbers are below this. */
unsigned parallel_threads(void);

/* Runs body(context, task, worker) for every task in 0..tasks-1 and returns when all are done.
 * No two tasks run at once with the same worker number, so that scratch memory can be kept per
 * worker.  Called from inside a task it runs the tasks one after another on the same worker. */
void parallel_for(size_t tasks, void (*body)(void *context, size_t task, unsigned worker),
                  void *context);

#endif
