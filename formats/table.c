#include "formats/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_FIELD = 63 };

struct field {
    const char *text;
    size_t size;
};

/* Lines and their fields.  A tab or a comma separates fields, which may be empty; without either,
 * runs of spaces do. */
struct cursor {
    const char *next, *end; /* of the text */
    const char *line_end;
    char separator;
    bool more; /* the line has another field */
};

static bool next_line(struct cursor *cursor)
{
    for (;;) {
        const char *line = cursor->next, *newline;

        if (line >= cursor->end)
            return false;
        newline = memchr(line, '\n', (size_t)(cursor->end - line));
        cursor->line_end = newline ? newline : cursor->end;
        if (cursor->line_end > line && cursor->line_end[-1] == '\r')
            cursor->line_end--;
        while (line < cursor->line_end && *line == ' ')
            line++;
        if (line < cursor->line_end && *line != '#') {
            size_t length = (size_t)(cursor->line_end - line);

            cursor->next = line;
            cursor->separator = memchr(line, '\t', length)  ? '\t'
                                : memchr(line, ',', length) ? ','
                                                            : ' ';
            cursor->more = true;
            return true;
        }
        cursor->next = newline ? newline + 1 : cursor->end;
    }
}

static bool next_field(struct cursor *cursor, struct field *field)
{
    const char *end;

    if (!cursor->more) {
        while (cursor->next < cursor->end && *cursor->next++ != '\n')
            ;
        return false;
    }
    end = memchr(cursor->next, cursor->separator, (size_t)(cursor->line_end - cursor->next));
    field->text = cursor->next;
    field->size = (size_t)((end ? end : cursor->line_end) - cursor->next);
    cursor->next = end ? end + 1 : cursor->line_end;
    cursor->more = end != NULL;
    if (cursor->separator == ' ') {
        while (cursor->next < cursor->line_end && *cursor->next == ' ')
            cursor->next++;
        cursor->more = cursor->next < cursor->line_end;
    }
    return true;
}

static bool parse_number(struct field field, double *value)
{
    char copy[LONGEST_FIELD + 1], *end;

    while (field.size && field.text[0] == ' ') {
        field.text++;
        field.size--;
    }
    if (field.size == 0 || (field.size == 1 && field.text[0] == '-')) {
        *value = NAN;
        return true;
    }
    if (field.size > LONGEST_FIELD)
        return false;
    memcpy(copy, field.text, field.size);
    copy[field.size] = '\0';
    *value = strtod(copy, &end);
    while (*end == ' ')
        end++;
    if (isinf(*value))
        *value = NAN;
    return *end == '\0';
}

/* Counts rows and columns and finds out whether the first line holds names. */
static struct error *measure(struct cursor cursor, struct table *table, bool *named)
{
    struct field field;
    size_t line = 0;
    double value;

    *named = false;
    for (; next_line(&cursor); line++) {
        size_t fields = 0;

        while (next_field(&cursor, &field)) {
            fields++;
            if (parse_number(field, &value))
                continue;
            if (line > 0)
                return error_make("row %zu, column %zu: '%.*s' is not a number", line + 1, fields,
                                  (int)(field.size < 40 ? field.size : 40), field.text);
            *named = true;
        }
        if (line == 0)
            table->columns = fields;
        else if (fields != table->columns)
            return error_make("row %zu has %zu columns, the first has %zu", line + 1, fields,
                              table->columns);
    }
    table->rows = line - *named;
    if (line == 0 || table->rows == 0)
        return error_make("no rows of numbers");
    if (table->columns < 2)
        return error_make("one column only: the first is the horizontal axis");
    return NULL;
}

static void fill_names(struct cursor *cursor, bool named, struct table *table)
{
    char *room = (char *)(table->names + table->columns);
    struct field field;

    if (named)
        next_line(cursor);
    for (size_t c = 0; c < table->columns; c++, room += LONGEST_FIELD + 1) {
        table->names[c] = room;
        if (named && next_field(cursor, &field))
            snprintf(room, LONGEST_FIELD + 1, "%.*s",
                     (int)(field.size < LONGEST_FIELD ? field.size : LONGEST_FIELD), field.text);
        else
            snprintf(room, LONGEST_FIELD + 1, "column %zu", c + 1);
    }
    if (named)
        next_field(cursor, &field); /* to the next line */
}

struct error *table_parse(const char *text, size_t size, struct table *table)
{
    struct cursor cursor = {.next = text, .end = text + size};
    struct field field;
    bool named;

    memset(table, 0, sizeof *table);
    TRY(measure(cursor, table, &named));
    table->names = malloc(table->columns * (sizeof *table->names + LONGEST_FIELD + 1));
    table->values = calloc(table->columns * table->rows, sizeof *table->values);
    if (!table->names || !table->values) {
        table_free(table);
        return error_memory("a table");
    }
    fill_names(&cursor, named, table);
    for (size_t row = 0; row < table->rows && next_line(&cursor); row++) {
        for (size_t c = 0; next_field(&cursor, &field); c++)
            parse_number(field, &table->values[c * table->rows + row]);
    }
    return NULL;
}

void table_free(struct table *table)
{
    free(table->names);
    free(table->values);
    memset(table, 0, sizeof *table);
}
