#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/dataset.h"

void check_ok(struct error *error, const char *file, int line)
{
    if (!error)
        return;
    print_error("%s:%d: unexpected error: %s\n", file, line, error_message(error));
    error_free(error);
    _fail(file, line);
}

void check_fails(const char *text, struct error *error, const char *file, int line)
{
    bool found;

    if (!error) {
        print_error("%s:%d: no error; expected \"%s\"\n", file, line, text);
        _fail(file, line);
        return;
    }
    found = strstr(error_message(error), text) != NULL;
    if (!found)
        print_error("%s:%d: \"%s\" does not say \"%s\"\n", file, line, error_message(error), text);
    error_free(error);
    if (!found)
        _fail(file, line);
}

void check_near(double a, double b, double tolerance, const char *file, int line)
{
    double scale = fmax(1.0, fmax(fabs(a), fabs(b)));

    if (fabs(a - b) <= tolerance * scale)
        return;
    print_error("%s:%d: %.9g and %.9g differ by more than %g\n", file, line, a, b, tolerance);
    _fail(file, line);
}

char *dataset_bytes(const struct dataset *dataset, size_t *size)
{
    char *bytes;
    FILE *stream = open_memstream(&bytes, size);

    assert_ok(dataset_write(stream, dataset));
    fclose(stream);
    return bytes;
}
