/* Lines of fields that tabs separate: a heading that starts with "seed" and has "accuracy", a row
 * for each student, "mean" and "deviation"; after an empty line, maybe, the confusion matrix, whose
 * rows start with the name of the true class. */
#include "formats/scores.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { MOST_CLASSES = 1000 };

struct line {
    const char *start, *end;
};

static bool next_line(const char **text, const char *end, struct line *line)
{
    const char *newline;

    if (*text >= end)
        return false;
    newline = memchr(*text, '\n', (size_t)(end - *text));
    line->start = *text;
    line->end = newline ? newline : end;
    *text = newline ? newline + 1 : end;
    return true;
}

/* The field by its number; false if there is none. */
static bool field_at(struct line line, size_t index, struct line *field)
{
    const char *start = line.start;

    for (;; index--) {
        const char *tab = memchr(start, '\t', (size_t)(line.end - start));

        *field = (struct line){start, tab ? tab : line.end};
        if (index == 0)
            return true;
        if (!tab)
            return false;
        start = tab + 1;
    }
}

static bool is_text(struct line field, const char *text)
{
    return (size_t)(field.end - field.start) == strlen(text) &&
           memcmp(field.start, text, strlen(text)) == 0;
}

static double number_at(struct line line, size_t index)
{
    struct line field;
    double number;

    return field_at(line, index, &field) &&
                   number_parse(field.start, field.end, &number) == field.end
               ? number
               : (double)NAN;
}

static size_t count_fields(struct line line)
{
    size_t count = 1;

    for (const char *next = line.start; next < line.end; next++)
        count += *next == '\t';
    return count;
}

static size_t find_accuracy(struct line heading)
{
    struct line field;
    size_t index = 0;

    while (field_at(heading, index, &field)) {
        if (is_text(field, "accuracy"))
            return index;
        index++;
    }
    return 0;
}

/* The matrix whose heading has just been read: as many rows as it has classes. */
static struct error *read_confusion(const char *text, const char *end, struct line heading,
                                    struct scores *scores)
{
    size_t classes = count_fields(heading) - 1;
    struct line line;

    if (classes == 0 || classes > MOST_CLASSES)
        return NULL;
    scores->confusion = calloc(classes * classes, sizeof *scores->confusion);
    scores->class_names = calloc(classes, sizeof *scores->class_names);
    if (!scores->confusion || !scores->class_names)
        return error_memory("the confusion matrix");
    scores->classes = classes;
    for (size_t row = 0; row < classes; row++) {
        struct line name;

        if (!next_line(&text, end, &line))
            return error_make("the confusion matrix has %zu rows instead of %zu", row, classes);
        field_at(line, 0, &name);
        scores->class_names[row] = strndup(name.start, (size_t)(name.end - name.start));
        if (!scores->class_names[row])
            return error_memory("the confusion matrix");
        for (size_t column = 0; column < classes; column++) {
            double count = number_at(line, column + 1);

            if (!(count >= 0))
                return error_make("the confusion matrix has no count in row %zu", row + 1);
            scores->confusion[row * classes + column] = count;
        }
    }
    return NULL;
}

bool scores_are(const char *text, size_t size)
{
    struct line line, field;

    return next_line(&text, text + size, &line) && field_at(line, 0, &field) &&
           is_text(field, "seed") && find_accuracy(line) > 0;
}

struct error *scores_parse(const char *text, size_t size, const char *name, struct scores *scores)
{
    const char *end = text + size;
    struct line line, field;
    size_t column = 0;
    bool table_ended = false;

    *scores = (struct scores){.name = name, .accuracy = (double)NAN, .deviation = (double)NAN};
    while (next_line(&text, end, &line)) {
        field_at(line, 0, &field);
        if (line.start == line.end) {
            table_ended = column > 0;
        } else if (!column) {
            column = is_text(field, "seed") ? find_accuracy(line) : 0;
            if (!column)
                return error_make("not a table that sc-eval has written");
        } else if (table_ended) {
            struct error *error = read_confusion(text, end, line, scores);

            if (error)
                scores_free(scores);
            if (error)
                return error;
            break;
        } else if (is_text(field, "mean")) {
            scores->accuracy = number_at(line, column);
        } else if (is_text(field, "deviation")) {
            scores->deviation = number_at(line, column);
        } else {
            scores->students++;
        }
    }
    if (scores->students < 2)
        scores->deviation = (double)NAN;
    if (!(scores->accuracy >= 0 && scores->accuracy <= 100)) {
        scores_free(scores);
        return error_make("no mean accuracy: not a table that sc-eval has written");
    }
    return NULL;
}

void scores_free(struct scores *scores)
{
    for (size_t i = 0; scores->class_names && i < scores->classes; i++)
        free(scores->class_names[i]);
    free(scores->class_names);
    free(scores->confusion);
    scores->class_names = NULL;
    scores->confusion = NULL;
    scores->classes = 0;
}
