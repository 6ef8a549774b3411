/* What looks wrong with a dataset as a whole: more channels than steps, a column of row numbers or
 * of something else among the values, classes of one series. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_stream.h"
#include "base/sort.h"

/* ---- Numbers of rows ---- */

enum { FEWEST_ROWS = 4 };

static bool is_whole(float value)
{
    return value == truncf(value);
}

/* Whether the values of a step over all series count up by one, or are all different whole numbers
 * where the others are not whole. */
static struct error *is_row_number(const struct dataset *dataset, size_t step, bool *counting,
                                   bool *different)
{
    float *column = malloc(dataset->count * sizeof *column);
    size_t whole = 0, up = 0;
    bool others_whole = true;

    if (!column)
        return error_memory("remarks");
    for (size_t i = 0; i < dataset->count; i++) {
        const float *series = dataset_series(dataset, i, 0);

        column[i] = series[step];
        whole += is_whole(column[i]);
        up += i > 0 && column[i] == column[i - 1] + 1;
        for (size_t j = 0; j < dataset->length; j++)
            others_whole &= j == step || is_whole(series[j]);
    }
    *counting = whole == dataset->count && up == dataset->count - 1;
    *different = whole == dataset->count && !others_whole;
    sort_floats(column, dataset->count);
    for (size_t i = 1; i < dataset->count && *different; i++)
        *different = column[i] != column[i - 1];
    free(column);
    return NULL;
}

/* Rows are numbered in the first column of a table, or in the last. */
static struct error *look_for_row_numbers(const struct import_source *source,
                                          const struct dataset *dataset,
                                          struct import_remarks *remarks)
{
    const size_t steps[] = {0, dataset->length - 1};

    if (!source->syntax.columns || dataset->channels > 1 || dataset->count < FEWEST_ROWS ||
        dataset->length < 3)
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        size_t column = import_column_of_step(source, steps[i]);
        bool counting = false, different = false;

        TRY(is_row_number(dataset, steps[i], &counting, &different));
        if (counting || different)
            TRY(import_note(
                remarks, true,
                "the values of column %zu %s: if they number the rows, --drop %zu "
                "leaves them out",
                column, counting ? "count up by one" : "are all different whole numbers", column));
    }
    return NULL;
}

/* The length of a name without the number at its end; 0: it has none. */
static size_t stem_of(const char *name)
{
    size_t length = strlen(name), stem = length;

    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    return stem < length ? stem : 0;
}

/* Steps of a table are often called v0, v1 and so on; a first or last one that is not is likely to
 * be something else, such as the number of a person. */
static struct error *look_for_other_names(const struct import_source *source,
                                          const struct dataset *dataset,
                                          struct import_remarks *remarks)
{
    const struct import_columns *columns = &source->columns;
    const size_t last = dataset->length - 1, outer[] = {0, last};
    const char *inner, *name;
    size_t stem;

    if (!columns->names || !source->syntax.columns || dataset->channels > 1 ||
        dataset->length < 4 || import_column_of_step(source, last) > columns->count)
        return NULL;
    inner = columns->names[import_column_of_step(source, 1) - 1];
    stem = stem_of(inner);
    for (size_t step = 1; step < last; step++) {
        name = columns->names[import_column_of_step(source, step) - 1];
        if (!stem || stem_of(name) != stem || strncmp(name, inner, stem) != 0)
            return NULL;
    }
    for (size_t i = 0; i < 2; i++) {
        size_t column = import_column_of_step(source, outer[i]);
        char shown[64], usual[64];

        name = columns->names[column - 1];
        if (stem_of(name) == stem && strncmp(name, inner, stem) == 0)
            continue;
        import_quote(name, name + strlen(name), shown);
        import_quote(inner, inner + strlen(inner), usual);
        TRY(import_note(remarks, true,
                        "column %zu is a step of the series, but it is called %s, not as %s: "
                        "--drop %zu leaves it "
                        "out, --group %zu makes groups of it",
                        column, shown, usual, column, column));
    }
    return NULL;
}

/* ---- Classes ---- */

static struct error *look_for_single_series(const struct dataset *dataset,
                                            struct import_remarks *remarks)
{
    size_t *counts = calloc(dataset->classes + 1, sizeof *counts), single = 0, first = 0;
    char shown[64];

    if (!counts)
        return error_memory("remarks");
    dataset_class_counts(dataset, counts);
    for (size_t i = dataset->classes; i-- > 0;) {
        if (counts[i] == 1) {
            single++;
            first = i;
        }
    }
    free(counts);
    if (!single || dataset->count < FEWEST_ROWS)
        return NULL;
    if (dataset->names)
        import_quote(dataset->names[first], dataset->names[first] + strlen(dataset->names[first]),
                     shown);
    else
        snprintf(shown, sizeof shown, "%zu", first);
    return import_note(remarks, false, "%zu of %zu classes %s one series only, such as %s", single,
                       dataset->classes, single == 1 ? "has" : "have", shown);
}

struct error *import_look_over(const struct import_source *sources, size_t count,
                               const struct dataset *dataset, struct import_remarks *remarks)
{
    if (count == 1) {
        TRY(look_for_row_numbers(&sources[0], dataset, remarks));
        TRY(look_for_other_names(&sources[0], dataset, remarks));
    }
    if (dataset->channels > dataset->length)
        TRY(import_note(remarks, true, "more channels (%zu) than steps (%zu)%s", dataset->channels,
                        dataset->length,
                        sources[0].array.data ? ": if the array is (N, L, C), --axes nlc says so"
                                              : ""));
    return dataset->y ? look_for_single_series(dataset, remarks) : NULL;
}
