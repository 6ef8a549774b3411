#include "support/golden.h"

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
