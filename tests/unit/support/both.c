#include "support/both.h"

#include <stdlib.h>

#include "support/check.h"

struct both both_of(const void *values, size_t bytes)
{
    return (struct both){bytes, to_backend(gpu(), values, bytes),
                         to_backend(backend_cpu(), values, bytes), calloc(1, bytes + 1)};
}

struct both both_normal(size_t count, uint64_t index)
{
    float *values = normal_values(count, index);
    struct both both = both_of(values, count * sizeof *values);

    free(values);
    return both;
}

void fetch_both(struct both *both)
{
    from_backend(gpu(), both->seen, both->on_gpu, both->bytes);
}

void free_both(struct both *both)
{
    gpu()->release(both->on_gpu);
    backend_cpu()->release(both->on_cpu);
    free(both->seen);
}

void assert_same(struct both *both)
{
    fetch_both(both);
    assert_memory_equal(both->seen, both->on_cpu, both->bytes);
}

void assert_close(struct both *both, double tolerance)
{
    fetch_both(both);
    assert_arrays_near((const float *)both->seen, (const float *)both->on_cpu,
                       both->bytes / sizeof(float), tolerance);
}
