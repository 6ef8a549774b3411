/* Knobs and counters of the fake CUDA, for tests. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#pragma GCC visibility push(default)
#endif

/* What the next calls meet.  For programs, FAKE_CUDA_GPUS in the environment says how many GPUs
 * there are (0: none; -1: no driver), and FAKE_CUDA_FAIL is as fake_cuda_fail(). */
void fake_cuda_set_memory(size_t bytes); /* all that there is; 0: no end */
/* That call fails from now on; "kernel": launches; "cuDNN proposes", "cuDNN runs": it supports
 * nothing. NULL: none. */
void fake_cuda_fail(const char *function);
void fake_cuda_run_backwards(bool backwards); /* blocks and threads in descending order */

/* Which streams do their work only when somebody waits for it, as late as CUDA may.  For programs:
 * FAKE_CUDA_LATE, the number. */
enum fake_late {
    FAKE_NONE_LATE,
    FAKE_ALL_LATE,
    FAKE_FIRST_LATE,  /* what is computed: copies of other streams overtake it if they may */
    FAKE_OTHERS_LATE, /* copies */
};
void fake_cuda_run_late(enum fake_late late);

void fake_cuda_limit_grids(size_t most); /* blocks in each direction; 0: no limit */

/* What happened so far. */
struct fake_cuda_counts {
    size_t launches;       /* kernels and products that ran */
    size_t convolutions;   /* of cuDNN that were asked for */
    size_t graph_launches; /* graphs that ran */
    size_t syncs;          /* times the host waited */
    size_t allocated;      /* pieces of memory that were not freed */
};
struct fake_cuda_counts fake_cuda_counts(void);

#ifdef __cplusplus
#pragma GCC visibility pop
}
#endif

#endif
