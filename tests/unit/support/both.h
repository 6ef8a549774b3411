/* Arrays on two backends: that of fake_device.h and the processor's, for comparing them. */
#ifndef SC_TEST_BOTH_H
#define SC_TEST_BOTH_H

#include "support/fake_device.h"

static inline const struct backend *gpu(void)
{
    return fake_device()->backend;
}

/* An array on both devices. */
struct both {
    size_t bytes;
    void *on_gpu, *on_cpu, *seen; /* seen: that of the GPU, fetched */
};

struct both both_of(const void *values, size_t bytes);
struct both both_normal(size_t count, uint64_t index); /* of normal_values() */
void fetch_both(struct both *both);
void free_both(struct both *both);

/* That they are the same, or near each other (assert_arrays_near). */
void assert_same(struct both *both);
void assert_close(struct both *both, double tolerance);

#endif
