/* The CUDA plug-in on the processor (tests/fake_cuda): a device for tests.  With SC_TEST_GPU in the
 * environment (make check-cuda) it is the real one. */
#ifndef SC_TEST_FAKE_DEVICE_H
#define SC_TEST_FAKE_DEVICE_H

#include "../fake_cuda/fake_cuda.h"
#include "device/device.h"

/* The functions of fake_cuda.h, found in the plug-in. */
struct fake_knobs {
    void (*set_memory)(size_t bytes);
    void (*break_call)(const char *function);
    void (*run_backwards)(bool backwards);
    void (*run_late)(enum fake_late late);
    void (*limit_grids)(size_t most);
    struct fake_cuda_counts (*counts)(void);
};

/* A device on the plug-in, opened once. */
const struct device *fake_device(void);
/* NULL for the real one. */
const struct fake_knobs *fake_knobs(void);

/* Arrays of the host on a backend, and back. */
void *to_backend(const struct backend *backend, const void *host, size_t bytes);
void from_backend(const struct backend *backend, void *host, const void *memory, size_t bytes);
/* Floats of a backend, malloc'ed. */
float *fetch(const struct backend *backend, const float *memory, size_t count);

/* Values of a normal distribution from stream `index`, malloc'ed. */
float *normal_values(size_t count, uint64_t index);

/* The largest difference, relative to the largest value, is at most that; NaNs are equal. */
#define assert_arrays_near(a, b, count, tolerance)                                                 \
    check_arrays((a), (b), (count), (tolerance), #a, __FILE__, __LINE__)
void check_arrays(const float *a, const float *b, size_t count, double tolerance, const char *what,
                  const char *file, int line);

#endif
