#include "data/classes.h"

#include <stdlib.h>

struct error *class_lists_make(const int32_t *labels, size_t count, size_t classes,
                               struct class_lists *lists)
{
    size_t start = 0;

    *lists = (struct class_lists){.classes = classes};
    lists->first = calloc(classes + 1, sizeof *lists->first);
    lists->members = calloc(count + 1, sizeof *lists->members);
    if (!lists->first || !lists->members) {
        class_lists_free(lists);
        return error_memory("the series of each class");
    }
    /* first[v + 1] counts the series of class v, then is where the next one goes, and in the end
     * where those of class v + 1 begin. */
    for (size_t i = 0; i < count; i++)
        lists->first[labels[i] + 1]++;
    for (size_t v = 0; v < classes; v++) {
        size_t size = lists->first[v + 1];

        lists->largest = size > lists->largest ? size : lists->largest;
        lists->first[v + 1] = start;
        start += size;
    }
    for (size_t i = 0; i < count; i++)
        lists->members[lists->first[labels[i] + 1]++] = i;
    return NULL;
}

void class_lists_free(struct class_lists *lists)
{
    free(lists->first);
    free(lists->members);
    *lists = (struct class_lists){0};
}

size_t class_lists_empty(const struct class_lists *lists)
{
    size_t label = 0;

    while (label < lists->classes && class_size(lists, label) > 0)
        label++;
    return label;
}
