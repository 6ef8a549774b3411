#include "common/curve.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Finds where the rows of the epochs from `first` on begin, to be written over. */
static struct error *skip_rows(const struct curve *curve, size_t first, long *end)
{
    char *line = NULL;
    size_t size = 0;
    bool heading = true;

    *end = 0;
    while (getline(&line, &size, curve->stream) > 0) {
        if (!heading && strtoull(line, NULL, 10) >= first)
            break;
        heading = false;
        *end = ftell(curve->stream);
    }
    free(line);
    return ferror(curve->stream) || *end < 0 ? error_system(curve->path) : NULL;
}

static struct error *begin(struct curve *curve, size_t first)
{
    long end = 0;

    /* Only a resumed run has rows to keep. */
    curve->stream = first > 1 ? fopen(curve->path, "r+") : NULL;
    if (!curve->stream)
        curve->stream = fopen(curve->path, "w");
    if (!curve->stream)
        return error_system(curve->path);
    if (first > 1) {
        TRY(skip_rows(curve, first, &end));
        if (fseek(curve->stream, end, SEEK_SET) || ftruncate(fileno(curve->stream), end))
            return error_system(curve->path);
    }
    if (end == 0)
        fputs("epoch\tloss\tvalidation_loss\tvalidation_accuracy\n", curve->stream);
    return NULL;
}

static void write_number(FILE *stream, double value)
{
    if (isnan(value))
        fputs("\t-", stream);
    else
        fprintf(stream, "\t%.6g", value);
}

struct error *curve_add(struct curve *curve, const struct train_epoch *epoch)
{
    if (!curve->path)
        return NULL;
    if (!curve->stream)
        TRY(begin(curve, epoch->epoch));
    fprintf(curve->stream, "%zu", epoch->epoch);
    write_number(curve->stream, epoch->loss);
    write_number(curve->stream, epoch->validation_loss);
    write_number(curve->stream, epoch->validation_accuracy);
    fputc('\n', curve->stream);
    return fflush(curve->stream) ? error_system(curve->path) : NULL;
}

struct error *curve_end(struct curve *curve)
{
    int failed = curve->stream ? fclose(curve->stream) : 0;

    curve->stream = NULL;
    return failed ? error_system(curve->path) : NULL;
}
