#include "choose/classes.h"

#include <stdlib.h>
#include <string.h>

struct error *class_lists_make(const struct dataset *set, struct class_lists *lists)
{
    size_t *filled;

    *lists = (struct class_lists){.set = set, .classes = set->classes};
    lists->first = calloc(set->classes + 1, sizeof *lists->first);
    lists->members = calloc(set->count + 1, sizeof *lists->members);
    filled = calloc(set->classes + 1, sizeof *filled);
    if (!lists->first || !lists->members || !filled) {
        free(filled);
        return error_memory("the lists of classes");
    }
    dataset_class_counts(set, filled);
    for (size_t v = 0; v < set->classes; v++) {
        lists->largest = filled[v] > lists->largest ? filled[v] : lists->largest;
        lists->first[v + 1] = lists->first[v] + filled[v];
        filled[v] = lists->first[v];
    }
    for (size_t i = 0; i < set->count; i++)
        lists->members[filled[set->y[i]]++] = i;
    free(filled);
    for (size_t v = 0; v < set->classes; v++)
        if (lists->first[v] == lists->first[v + 1])
            return error_make("class %zu has no series", v);
    return NULL;
}

void class_lists_free(struct class_lists *lists)
{
    free(lists->first);
    free(lists->members);
    *lists = (struct class_lists){0};
}

size_t draw_class(const struct class_lists *lists, size_t label, size_t most,
                  struct random_stream *stream, size_t *scratch, float *x)
{
    const struct dataset *set = lists->set;
    size_t count = lists->first[label + 1] - lists->first[label];
    size_t taken = count < most ? count : most, series = set->channels * set->length;

    memcpy(scratch, lists->members + lists->first[label], count * sizeof *scratch);
    for (size_t i = 0; i < taken; i++) {
        size_t other = i + random_below(stream, count - i), index = scratch[other];

        scratch[other] = scratch[i];
        memcpy(x + i * series, set->x + index * series, series * sizeof *x);
    }
    return taken;
}
