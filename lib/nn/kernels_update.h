/* The steps of optimisers (struct optimiser_step), value by value, compiled once for each
 * instruction set: kernels_update_generic.c, kernels_update_avx2.c.  Products are rounded before
 * they are added (the Makefile), so that all of them give the same bits. */
#ifndef SC_NN_KERNELS_UPDATE_H
#define SC_NN_KERNELS_UPDATE_H

#include "nn/backend.h"

struct update_kernels {
    void (*sgd)(const struct optimiser_step *step, size_t count, const float *gradient,
                float *velocity, float *values);
    void (*adam)(const struct optimiser_step *step, size_t count, const float *gradient,
                 float *first, float *second, float *values);
};

extern const struct update_kernels update_kernels_generic;
#if defined(__x86_64__)
extern const struct update_kernels update_kernels_avx2;
#endif

#endif
