/* Time that passes, for limits and progress. */
#ifndef SC_CLOCK_H
#define SC_CLOCK_H

#include <time.h>

/* Seconds since some moment in the past, whatever happens to the date. */
static inline double clock_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
