#include "support/golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"

const char *golden_path(const char *name)
{
    static char path[4096];
    const char *root = getenv("SC_ROOT");

    snprintf(path, sizeof path, "%s/tests/golden/%s", root ? root : ".", name);
    return path;
}

unsigned char *golden_bytes(const char *name, size_t *size)
{
    FILE *stream = fopen(golden_path(name), "rb");
    unsigned char *bytes;
    long end;

    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    end = ftell(stream);
    assert_true(end >= 0);
    rewind(stream);
    *size = (size_t)end;
    bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    fclose(stream);
    return bytes;
}

void golden_open(const char *name, struct golden *golden)
{
    struct npy_error error;

    *golden = (struct golden){.reader = npy_open(golden_path(name), &error)};
    assert_non_null(golden->reader);
}

float *golden_next(struct golden *golden, size_t count)
{
    struct npy_array *array = &golden->arrays[golden->count++];
    struct npy_error error;

    assert_true(golden->count <= GOLDEN_ARRAYS);
    assert_int_equal(npy_next(golden->reader, array, &error), 1);
    assert_int_equal(array->count, count);
    return array->data;
}

void golden_forget(struct golden *golden)
{
    for (size_t i = 0; i < golden->count; i++)
        npy_array_free(&golden->arrays[i]);
    golden->count = 0;
}

void golden_close(struct golden *golden)
{
    struct npy_array more;
    struct npy_error error;

    golden_forget(golden);
    assert_int_equal(npy_next(golden->reader, &more, &error), 0);
    npy_close(golden->reader);
}

void golden_same(const float *values, const float *expected, size_t count)
{
    double largest = 0, distance = 0;

    for (size_t i = 0; i < count; i++) {
        assert_false(isnan(values[i]));
        largest = fmax(largest, fabs((double)expected[i]));
        distance = fmax(distance, fabs((double)values[i] - (double)expected[i]));
    }
    assert_true(largest > 1e-4);
    if (distance > 2e-5 * largest)
        fail_msg("off by %g of %g", distance, largest);
}
