/* Labels as they are written become classes 0..V-1.
 *
 * The distinct texts are collected in a hash table first: there are few of them.  If each is a
 * finite number, "1", "1.0" and "1.000e+00" are the same class and classes are sorted by value;
 * else each text is a class and they are sorted by code point, which for UTF-8 is the order of
 * bytes. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

struct label {
    char *text;
    double number; /* NaN if it is not one */
    int32_t index; /* its class, -1 for none */
};

struct labels {
    struct label *items;
    size_t count, room;
    int32_t *slots; /* hash table of indices, -1 for free; a power of two of them */
    size_t slot_count;
    bool all_numbers;
};

static void labels_free(struct labels *labels)
{
    for (size_t i = 0; i < labels->count; i++)
        free(labels->items[i].text);
    free(labels->items);
    free(labels->slots);
}

static double to_number(const char *text)
{
    const char *end = text + strlen(text);
    double number;

    return number_parse(text, end, &number) == end && isfinite(number) ? number : (double)NAN;
}

/* ---- Distinct texts ---- */

static size_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

/* The slot where the text is, or should be. */
static int32_t *find_slot(const struct labels *labels, const char *text)
{
    size_t mask = labels->slot_count - 1, slot = hash_text(text) & mask;

    while (labels->slots[slot] >= 0 && strcmp(labels->items[labels->slots[slot]].text, text) != 0)
        slot = (slot + 1) & mask;
    return &labels->slots[slot];
}

static struct error *grow_slots(struct labels *labels)
{
    size_t count = labels->slot_count ? 2 * labels->slot_count : 256;
    int32_t *slots = malloc(count * sizeof *slots);

    if (!slots)
        return error_memory("class names");
    memset(slots, 0xff, count * sizeof *slots);
    free(labels->slots);
    labels->slots = slots;
    labels->slot_count = count;
    for (size_t i = 0; i < labels->count; i++)
        *find_slot(labels, labels->items[i].text) = (int32_t)i;
    return NULL;
}

static struct error *add_text(struct labels *labels, const char *text, int32_t *id)
{
    struct label *label;
    int32_t *slot;

    if (2 * labels->count >= labels->slot_count)
        TRY(grow_slots(labels));
    slot = find_slot(labels, text);
    *id = *slot;
    if (*id >= 0)
        return NULL;
    if (labels->count >= INT32_MAX)
        return error_make("too many different labels");
    TRY(import_reserve(&labels->items, &labels->room, labels->count + 1, sizeof *labels->items));
    label = &labels->items[labels->count];
    *label = (struct label){strdup(text), to_number(text), -1};
    if (!label->text)
        return error_memory("class names");
    labels->all_numbers &= !isnan(label->number);
    *id = *slot = (int32_t)labels->count++;
    return NULL;
}

static struct error *collect(struct import_source *source, struct labels *labels)
{
    int32_t id;

    for (size_t i = 0; i < source->declared_count; i++)
        TRY(add_text(labels, source->declared[i], &id));
    for (size_t i = 0; i < source->chunk_count; i++) {
        struct import_chunk *chunk = &source->chunks[i];

        for (size_t row = 0; row < chunk->row_count; row++) {
            const char *text = chunk->labels + chunk->rows[row].label;

            /* Rows of one class often follow each other. */
            if (row && strcmp(text, chunk->labels + chunk->rows[row - 1].label) == 0)
                chunk->rows[row].text_id = chunk->rows[row - 1].text_id;
            else
                TRY(add_text(labels, text, &chunk->rows[row].text_id));
        }
    }
    return NULL;
}

/* ---- Numbering ---- */

static int compare_numbers(const void *a, const void *b)
{
    const struct label *const *left = a, *const *right = b;

    return ((*left)->number > (*right)->number) - ((*left)->number < (*right)->number);
}

static int compare_texts(const void *a, const void *b)
{
    const struct label *const *left = a, *const *right = b;

    return strcmp((*left)->text, (*right)->text);
}

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
static char *class_name(const struct label *label, bool number)
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

/* Gives sorted labels their classes and these their names.  Returns how many there are, or 0
 * without memory. */
static size_t name_classes(struct label **sorted, size_t count, bool numbers,
                           int (*compare)(const void *, const void *), char **names)
{
    size_t classes = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare(&sorted[i - 1], &sorted[i]) != 0) {
            names[classes] = class_name(sorted[i], numbers);
            if (!names[classes])
                return 0;
            classes++;
        }
        sorted[i]->index = (int32_t)classes - 1;
    }
    return classes;
}

/* Sorts the texts into classes. */
static struct error *number_afresh(struct labels *labels, struct dataset *dataset)
{
    int (*compare)(const void *, const void *) =
        labels->all_numbers ? compare_numbers : compare_texts;
    struct label **sorted = malloc(labels->count * sizeof *sorted);
    char **names = calloc(labels->count, sizeof *names);
    size_t classes = 0;
    struct error *error;

    if (sorted && names) {
        for (size_t i = 0; i < labels->count; i++)
            sorted[i] = &labels->items[i];
        qsort(sorted, labels->count, sizeof *sorted, compare);
        classes = name_classes(sorted, labels->count, labels->all_numbers, compare, names);
    }
    error = classes ? store_names(names, classes, dataset) : error_memory("class names");
    for (size_t i = 0; names && i < labels->count; i++)
        free(names[i]);
    free(sorted);
    free(names);
    return error;
}

/* Finds each text among the classes of another set: as it is written, or as the same number. */
static struct error *number_like(struct labels *labels, const struct dataset *classes,
                                 struct dataset *dataset)
{
    if (!classes->y)
        return error_make("the set that gives the classes has no labels");
    for (size_t i = 0; i < labels->count; i++) {
        struct label *label = &labels->items[i];

        for (size_t j = 0; j < classes->classes && label->index < 0; j++) {
            bool same = classes->names ? strcmp(label->text, classes->names[j]) == 0 ||
                                             label->number == to_number(classes->names[j])
                                       : label->number == (double)j;

            if (same)
                label->index = (int32_t)j;
        }
    }
    dataset->classes = classes->classes;
    return classes->names ? store_names(classes->names, classes->classes, dataset) : NULL;
}

/* ---- Rows ---- */

static struct error *assign_chunk(const struct import_source *source,
                                  const struct import_chunk *chunk, const struct labels *labels,
                                  const bool *declared, int32_t **y)
{
    for (size_t row = 0; row < chunk->row_count; row++) {
        const char *text = chunk->labels + chunk->rows[row].label;
        int32_t index = labels->items[chunk->rows[row].text_id].index;
        char shown[64];

        import_quote(text, text + strlen(text), shown);
        if (index < 0)
            return import_at(source, chunk, row,
                             error_make("label %s is none of the given classes", shown));
        if (source->declared_count && !declared[index])
            return import_at(
                source, chunk, row,
                error_make("label %s is not among the classes that the header declares", shown));
        *(*y)++ = index;
    }
    return NULL;
}

static struct error *assign(const struct import_source *source, const struct labels *labels,
                            size_t classes, int32_t **y)
{
    bool *declared = calloc(classes + 1, sizeof *declared);
    struct error *error = declared ? NULL : error_memory("class names");

    for (size_t i = 0; i < source->declared_count && !error; i++) {
        int32_t id = *find_slot(labels, source->declared[i]);

        if (labels->items[id].index >= 0)
            declared[labels->items[id].index] = true;
    }
    for (size_t i = 0; i < source->chunk_count && !error; i++)
        error = assign_chunk(source, &source->chunks[i], labels, declared, y);
    free(declared);
    return error;
}

static bool any_fraction(const struct labels *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->items[i].number != trunc(labels->items[i].number))
            return labels->all_numbers;
    }
    return false;
}

/* Whether the first row alone has a label that is no number: it may be the names of columns, of
 * which some are numbers. */
static bool starts_like_header(const struct import_source *source, const struct labels *labels)
{
    const struct import_chunk *first = source->chunks;
    size_t words = 0;

    if (!source->syntax.quotes || source->declared_count || first->row_count < 2 ||
        !isnan(labels->items[first->rows[0].text_id].number))
        return false;
    for (size_t row = 1; row < first->row_count; row++) {
        if (first->rows[row].text_id == first->rows[0].text_id)
            return false;
    }
    for (size_t i = 0; i < labels->count; i++)
        words += isnan(labels->items[i].number);
    return words == 1;
}

static const char *find_warning(const struct import_source *first, const struct labels *labels)
{
    if (any_fraction(labels))
        return "the labels are numbers that are not whole; is the label where --label says?";
    if (starts_like_header(first, labels))
        return "the label of the first row alone is not a number; --header skips a line of names";
    return NULL;
}

static struct error *number_all(struct import_source *sources, size_t count,
                                const struct dataset *classes, struct labels *labels,
                                struct dataset *dataset)
{
    int32_t *y = dataset->y;

    for (size_t i = 0; i < count; i++)
        TRY(collect(&sources[i], labels));
    TRY(classes ? number_like(labels, classes, dataset) : number_afresh(labels, dataset));
    for (size_t i = 0; i < count; i++)
        TRY(assign(&sources[i], labels, dataset->classes, &y));
    return NULL;
}

struct error *import_number_labels(struct import_source *sources, size_t count,
                                   const struct dataset *classes, const char **warning,
                                   struct dataset *dataset)
{
    struct labels labels = {.all_numbers = true};
    struct error *error = number_all(sources, count, classes, &labels, dataset);

    *warning = error ? NULL : find_warning(sources, &labels);
    labels_free(&labels);
    return error;
}
