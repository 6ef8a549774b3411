/* Labels as they are written become classes 0..V-1.
 *
 * The distinct texts are collected in a hash table first: there are few of them.  If each is a
 * finite number, "1", "1.0" and "1.000e+00" are the same class and classes are sorted by value;
 * else each text is a class and they are sorted by code point, which for UTF-8 is the order of
 * bytes.  Groups are numbered in the same way. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* The text of a row: its label, or its group. */
static const char *row_text(const struct import_chunk *chunk, size_t row, bool group)
{
    return chunk->labels + (group ? chunk->rows[row].group : chunk->rows[row].label);
}

static struct error *collect(struct import_source *source, bool group, struct import_texts *texts)
{
    int32_t id;

    for (size_t i = 0; !group && i < source->declared_count; i++)
        TRY(import_texts_add(texts, source->declared[i], &id));
    for (size_t i = 0; i < source->chunk_count; i++) {
        struct import_chunk *chunk = &source->chunks[i];
        const char *before = NULL;

        id = 0;
        for (size_t row = 0; row < chunk->row_count; row++) {
            const char *text = row_text(chunk, row, group);

            /* Rows of one class often follow each other. */
            if (!before || strcmp(text, before) != 0)
                TRY(import_texts_add(texts, text, &id));
            before = text;
            *(group ? &chunk->rows[row].group_id : &chunk->rows[row].text_id) = id;
        }
    }
    return NULL;
}

/* ---- Numbering ---- */

/* Class names in one block, as npy_strings makes it. */
static struct error *store_names(char *const *names, size_t count, struct dataset *dataset)
{
    size_t bytes = count * sizeof *names;
    char *next;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    dataset->names = malloc(bytes);
    if (!dataset->names)
        return error_memory("class names");
    next = (char *)(dataset->names + count);
    for (size_t i = 0; i < count; i++) {
        dataset->names[i] = next;
        next = stpcpy(next, names[i]) + 1;
    }
    dataset->classes = count;
    return NULL;
}

/* What the class is called, malloc'ed: "1.0000e+00" is called "1". */
static char *class_name(const struct import_text *label, bool number)
{
    char text[NUMBER_TEXT];

    if (!number)
        return strdup(label->text);
    /* Whole numbers are written out; zero has no sign. */
    if (label->number == trunc(label->number) && fabs(label->number) < 1e15)
        snprintf(text, sizeof text, "%.0f", label->number == 0 ? 0.0 : label->number);
    else
        number_format_double(label->number, text);
    return strdup(text);
}

/* Sorts the texts into classes. */
static struct error *number_afresh(struct import_texts *labels, struct dataset *dataset)
{
    struct import_text **first;
    size_t classes;
    struct error *error = import_texts_order(labels, &first, &classes);
    char **names = error ? NULL : calloc(classes + 1, sizeof *names);

    for (size_t i = 0; !error && i < classes; i++) {
        if (!names || !(names[i] = class_name(first[i], labels->words == 0)))
            error = error_memory("class names");
    }
    if (!error)
        error = store_names(names, classes, dataset);
    for (size_t i = 0; names && i < classes; i++)
        free(names[i]);
    free(first);
    free(names);
    return error;
}

/* Finds each text among the classes of another dataset: as it is written, or as the same number. */
static struct error *number_like(struct import_texts *labels, const struct dataset *classes,
                                 struct dataset *dataset)
{
    if (!classes->y)
        return error_make("the dataset that gives the classes has no labels");
    for (size_t i = 0; i < labels->count; i++) {
        struct import_text *label = &labels->items[i];

        for (size_t j = 0; j < classes->classes && label->index < 0; j++) {
            bool same = classes->names ? strcmp(label->text, classes->names[j]) == 0 ||
                                             label->number == import_to_number(classes->names[j])
                                       : label->number == (double)j;

            if (same)
                label->index = (int32_t)j;
        }
    }
    dataset->classes = classes->classes;
    return classes->names ? store_names(classes->names, classes->classes, dataset) : NULL;
}

/* ---- Rows ---- */

static struct error *assign_row(const struct import_source *source,
                                const struct import_chunk *chunk, size_t row, int32_t index,
                                const bool *declared)
{
    const char *text = row_text(chunk, row, false);
    char shown[64];

    import_quote(text, text + strlen(text), shown);
    if (index < 0)
        return error_make("label %s is not one of the given classes", shown);
    if (source->declared_count && !declared[index])
        return error_make("label %s is not among the classes that the header declares", shown);
    return NULL;
}

static struct error *assign_chunk(struct import_source *source, const struct import_chunk *chunk,
                                  const struct import_texts *labels, const bool *declared,
                                  int32_t **y)
{
    for (size_t row = 0; row < chunk->row_count; row++) {
        int32_t index = labels->items[chunk->rows[row].text_id].index;
        struct error *error = assign_row(source, chunk, row, index, declared);

        TRY(import_row_problem(source, chunk, row, 0, error));
        *(*y)++ = index;
    }
    return NULL;
}

static struct error *assign(struct import_source *source, struct import_texts *labels,
                            size_t classes, int32_t **y)
{
    bool *declared = calloc(classes + 1, sizeof *declared);
    struct error *error = declared ? NULL : error_memory("class names");

    for (size_t i = 0; i < source->declared_count && !error; i++) {
        int32_t id;

        error = import_texts_add(labels, source->declared[i], &id);
        if (!error && labels->items[id].index >= 0)
            declared[labels->items[id].index] = true;
    }
    for (size_t i = 0; i < source->chunk_count && !error; i++)
        error = assign_chunk(source, &source->chunks[i], labels, declared, y);
    free(declared);
    return error;
}

static bool any_fraction(const struct import_texts *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->items[i].number != trunc(labels->items[i].number))
            return labels->words == 0;
    }
    return false;
}

/* Whether the first row alone has a label that is no number: it may be the names of columns, of
 * which some are numbers. */
static bool starts_like_header(const struct import_source *source,
                               const struct import_texts *labels)
{
    const struct import_chunk *first = source->chunks;

    if (!source->syntax.quotes || source->declared_count || first->row_count < 2 ||
        !isnan(labels->items[first->rows[0].text_id].number))
        return false;
    for (size_t row = 1; row < first->row_count; row++) {
        if (first->rows[row].text_id == first->rows[0].text_id)
            return false;
    }
    return labels->words == 1;
}

static const char *find_warning(const struct import_source *first,
                                const struct import_texts *labels)
{
    if (any_fraction(labels))
        return "the labels are numbers that are not whole; is the label where --label says?";
    if (starts_like_header(first, labels))
        return "the label of the first row alone is not a number; --header skips a line of names";
    return NULL;
}

static struct error *number_all(struct import_source *sources, size_t count,
                                const struct dataset *classes, struct import_texts *labels,
                                struct dataset *dataset)
{
    int32_t *y = dataset->y;

    for (size_t i = 0; i < count; i++)
        TRY(collect(&sources[i], false, labels));
    TRY(classes ? number_like(labels, classes, dataset) : number_afresh(labels, dataset));
    for (size_t i = 0; i < count; i++)
        TRY(assign(&sources[i], labels, dataset->classes, &y));
    return NULL;
}

struct error *import_number_labels(struct import_source *sources, size_t count,
                                   const struct dataset *classes, struct import_remarks *remarks,
                                   struct dataset *dataset)
{
    struct import_texts labels = {0};
    struct error *error = number_all(sources, count, classes, &labels, dataset);
    const char *warning = error ? NULL : find_warning(sources, &labels);

    if (warning)
        error = import_note(remarks, true, "%s", warning);
    import_texts_free(&labels);
    return error;
}

struct error *import_number_groups(struct import_source *sources, size_t count,
                                   struct dataset *dataset)
{
    struct import_texts texts = {0};
    struct import_text **first = NULL;
    struct error *error = NULL;
    size_t groups, next = 0;

    for (size_t i = 0; i < count && !error; i++)
        error = collect(&sources[i], true, &texts);
    if (!error)
        error = import_texts_order(&texts, &first, &groups);
    for (size_t i = 0; i < count && !error; i++) {
        for (size_t j = 0; j < sources[i].chunk_count; j++) {
            const struct import_chunk *chunk = &sources[i].chunks[j];

            for (size_t row = 0; row < chunk->row_count; row++)
                dataset->groups[next++] = texts.items[chunk->rows[row].group_id].index;
        }
    }
    free(first);
    import_texts_free(&texts);
    return error;
}
