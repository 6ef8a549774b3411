/* Distinct texts, found by hashing and numbered in the order of their values if all are numbers,
 * else in that of their code points. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

void import_texts_free(struct import_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i].text);
    free(texts->items);
    free(texts->slots);
    memset(texts, 0, sizeof *texts);
}

double import_to_number(const char *text)
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
static int32_t *find_slot(const struct import_texts *texts, const char *text)
{
    size_t mask = texts->slot_count - 1, slot = hash_text(text) & mask;

    while (texts->slots[slot] >= 0 && strcmp(texts->items[texts->slots[slot]].text, text) != 0)
        slot = (slot + 1) & mask;
    return &texts->slots[slot];
}

static struct error *grow_slots(struct import_texts *texts)
{
    size_t count = texts->slot_count ? 2 * texts->slot_count : 256;
    int32_t *slots = malloc(count * sizeof *slots);

    if (!slots)
        return error_memory("class names");
    memset(slots, 0xff, count * sizeof *slots);
    free(texts->slots);
    texts->slots = slots;
    texts->slot_count = count;
    for (size_t i = 0; i < texts->count; i++)
        *find_slot(texts, texts->items[i].text) = (int32_t)i;
    return NULL;
}

struct error *import_texts_add(struct import_texts *texts, const char *text, int32_t *id)
{
    struct import_text *item;
    int32_t *slot;

    if (2 * texts->count >= texts->slot_count)
        TRY(grow_slots(texts));
    slot = find_slot(texts, text);
    *id = *slot;
    if (*id >= 0)
        return NULL;
    if (texts->count >= INT32_MAX)
        return error_make("too many different labels");
    TRY(import_reserve(&texts->items, &texts->room, texts->count + 1, sizeof *texts->items));
    item = &texts->items[texts->count];
    *item = (struct import_text){strdup(text), import_to_number(text), -1};
    if (!item->text)
        return error_memory("class names");
    texts->words += isnan(item->number);
    *id = *slot = (int32_t)texts->count++;
    return NULL;
}

/* ---- Order ---- */

static int compare_numbers(const void *a, const void *b)
{
    const struct import_text *const *left = a, *const *right = b;

    return ((*left)->number > (*right)->number) - ((*left)->number < (*right)->number);
}

static int compare_texts(const void *a, const void *b)
{
    const struct import_text *const *left = a, *const *right = b;

    return strcmp((*left)->text, (*right)->text);
}

struct error *import_texts_order(struct import_texts *texts, struct import_text ***first,
                                 size_t *count)
{
    int (*compare)(const void *, const void *) = texts->words ? compare_texts : compare_numbers;
    struct import_text **sorted = malloc((texts->count + 1) * sizeof *sorted);

    *count = 0;
    *first = sorted;
    if (!sorted)
        return error_memory("class names");
    for (size_t i = 0; i < texts->count; i++)
        sorted[i] = &texts->items[i];
    qsort(sorted, texts->count, sizeof *sorted, compare);
    /* The first of those that are the same moves to its place; none of the later ones is there. */
    for (size_t i = 0; i < texts->count; i++) {
        struct import_text *text = sorted[i];

        if (*count == 0 || compare(&sorted[*count - 1], &text) != 0)
            sorted[(*count)++] = text;
        text->index = (int32_t)*count - 1;
    }
    return NULL;
}
