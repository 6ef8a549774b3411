#include "shapelets/lengths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LENGTHS = 100000 };

/* A positive number at *text, which is moved past it. */
static bool parse_number(const char **text, size_t *number)
{
    unsigned long long value;
    char *end;

    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    value = strtoull(*text, &end, 10);
    if (errno || value == 0 || value > UINT32_MAX)
        return false;
    *text = end;
    *number = (size_t)value;
    return true;
}

/* "N", "N-M" or "N-M:S" */
static bool parse_item(const char **text, size_t *from, size_t *to, size_t *step)
{
    *step = 1;
    if (!parse_number(text, from))
        return false;
    *to = *from;
    if (**text != '-')
        return true;
    ++*text;
    if (!parse_number(text, to) || *to < *from)
        return false;
    if (**text != ':')
        return true;
    ++*text;
    return parse_number(text, step);
}

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_unique(size_t *lengths, size_t *count)
{
    size_t kept = 0;

    qsort(lengths, *count, sizeof *lengths, compare_sizes);
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || lengths[i] != lengths[kept - 1])
            lengths[kept++] = lengths[i];
    *count = kept;
}

static struct error *append(size_t **lengths, size_t *count, size_t from, size_t to, size_t step)
{
    size_t more = (to - from) / step + 1;
    size_t *grown;

    if (more > MOST_LENGTHS || *count > MOST_LENGTHS)
        return error_make("more than %d lengths", MOST_LENGTHS);
    if (!(grown = realloc(*lengths, (*count + more) * sizeof *grown)))
        return error_memory("lengths");
    *lengths = grown;
    for (size_t i = 0; i < more; i++)
        grown[(*count)++] = from + i * step;
    return NULL;
}

struct error *lengths_parse(const char *text, size_t **lengths, size_t *count)
{
    const char *at = text;
    struct error *error = NULL;

    *lengths = NULL;
    *count = 0;
    do {
        size_t from, to, step;

        if (!parse_item(&at, &from, &to, &step) || (*at != '\0' && *at != ','))
            error = error_make("'%s' is not a list of lengths such as 14,18,22 or 10-30:5", text);
        else
            error = append(lengths, count, from, to, step);
    } while (!error && *at++ == ',');
    if (error) {
        free(*lengths);
        *lengths = NULL;
        return error;
    }
    sort_unique(*lengths, count);
    return NULL;
}
