#include "formats/export.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

/* ---- Labels ---- */

/* Whether a name can stand in the text and be read back; forbidden: characters that would end
 * it. */
static struct error *check_name(const char *name, const char *forbidden, const char *format)
{
    size_t length = strlen(name);
    bool bad = length == 0 || strcmp(name, "?") == 0 || strcasecmp(name, "nan") == 0 ||
               strchr("#\"'@", name[0]) || strpbrk(name, forbidden) ||
               isspace((unsigned char)name[0]) || isspace((unsigned char)name[length - 1]);

    for (size_t i = 0; i < length; i++)
        bad |= iscntrl((unsigned char)name[i]) != 0;
    if (bad)
        return error_make("class name '%s' cannot be written to a %s (an .npz can hold it)", name,
                          format);
    return NULL;
}

static struct error *check_names(const struct dataset *dataset, const char *forbidden,
                                 const char *format)
{
    for (size_t i = 0; dataset->names && i < dataset->classes; i++)
        TRY(check_name(dataset->names[i], forbidden, format));
    return NULL;
}

static void write_class(FILE *stream, const struct dataset *dataset, size_t class_number)
{
    if (dataset->names)
        fputs(dataset->names[class_number], stream);
    else
        fprintf(stream, "%zu", class_number);
}

/* ---- Values ---- */

static void write_value(FILE *stream, float value, const char *missing)
{
    char text[NUMBER_TEXT];

    if (!isnan(value))
        number_format(value, text);
    fputs(isnan(value) ? missing : text, stream);
}

/* The text formats can mark missing values, but have no infinity that other programs would read. */
static struct error *check_values(const struct dataset *dataset)
{
    const size_t series = dataset_series_size(dataset);

    for (size_t i = 0; i < dataset->count * series; i++) {
        if (isinf(dataset->x[i]))
            return error_make("series %zu, channel %zu, step %zu: text cannot hold infinity",
                              i / series, i % series / dataset->length, i % dataset->length);
    }
    return NULL;
}

static bool any_missing(const struct dataset *dataset)
{
    const size_t count = dataset->count * dataset_series_size(dataset);

    for (size_t i = 0; i < count; i++) {
        if (isnan(dataset->x[i]))
            return true;
    }
    return false;
}

static struct error *check_stream(FILE *stream)
{
    if (ferror(stream))
        return error_make("%s", errno ? strerror(errno) : "write failed");
    return NULL;
}

/* ---- Formats ---- */

static struct error *check_rows(const struct dataset *dataset, const char *forbidden,
                                const char *format)
{
    if (!dataset->y)
        return error_make("%ss need labels", format);
    if (dataset->channels != 1)
        return error_make("%ss hold one channel, this dataset has %zu (.ts and .npz hold more)",
                          format, dataset->channels);
    TRY(check_names(dataset, forbidden, format));
    return check_values(dataset);
}

/* One series in a row, label first. */
static struct error *write_rows(FILE *stream, const struct dataset *dataset, char between,
                                const char *missing)
{
    for (size_t i = 0; i < dataset->count; i++) {
        const float *values = dataset_series(dataset, i, 0);

        write_class(stream, dataset, (size_t)dataset->y[i]);
        for (size_t step = 0; step < dataset->length; step++) {
            putc(between, stream);
            write_value(stream, values[step], missing);
        }
        putc('\n', stream);
        TRY(check_stream(stream));
    }
    return NULL;
}

struct error *export_ucr(FILE *stream, const struct dataset *dataset)
{
    TRY(check_rows(dataset, "\t", "UCR file"));
    errno = 0;
    return write_rows(stream, dataset, '\t', "NaN");
}

struct error *export_csv(FILE *stream, const struct dataset *dataset)
{
    TRY(check_rows(dataset, ",;\t\"", "CSV file"));
    errno = 0;
    fputs("label", stream);
    for (size_t step = 0; step < dataset->length; step++)
        fprintf(stream, ",%zu", step);
    putc('\n', stream);
    return write_rows(stream, dataset, ',', "");
}

/* Provenance as comments. */
static void write_comments(FILE *stream, const char *notes)
{
    while (notes && *notes) {
        size_t length = strcspn(notes, "\n");

        fprintf(stream, "# %.*s\n", (int)length, notes);
        notes += length + (notes[length] == '\n');
    }
}

static void write_ts_header(FILE *stream, const struct dataset *dataset, const char *problem)
{
    write_comments(stream, dataset->notes);
    fputs("@problemName ", stream);
    for (; *problem; problem++)
        putc(isspace((unsigned char)*problem) || iscntrl((unsigned char)*problem) ? '_' : *problem,
             stream);
    fprintf(stream, "\n@timeStamps false\n@missing %s\n@univariate %s\n",
            any_missing(dataset) ? "true" : "false", dataset->channels == 1 ? "true" : "false");
    if (dataset->channels > 1)
        fprintf(stream, "@dimension %zu\n", dataset->channels);
    fprintf(stream, "@equalLength true\n@seriesLength %zu\n@classLabel %s", dataset->length,
            dataset->y ? "true" : "false");
    for (size_t i = 0; dataset->y && i < dataset->classes; i++) {
        putc(' ', stream);
        write_class(stream, dataset, i);
    }
    fputs("\n@data\n", stream);
}

struct error *export_ts(FILE *stream, const struct dataset *dataset, const char *problem)
{
    TRY(check_names(dataset, " \t:,", ".ts file"));
    TRY(check_values(dataset));
    errno = 0;
    write_ts_header(stream, dataset, problem);
    for (size_t i = 0; i < dataset->count; i++) {
        for (size_t channel = 0; channel < dataset->channels; channel++) {
            const float *values = dataset_series(dataset, i, channel);

            for (size_t step = 0; step < dataset->length; step++) {
                if (step || channel)
                    putc(step ? ',' : ':', stream);
                write_value(stream, values[step], "?");
            }
        }
        if (dataset->y) {
            putc(':', stream);
            write_class(stream, dataset, (size_t)dataset->y[i]);
        }
        putc('\n', stream);
        TRY(check_stream(stream));
    }
    return NULL;
}
