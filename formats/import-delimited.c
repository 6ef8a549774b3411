/* One series in a row: a label, and values behind (or before) it.  The separator is what the first
 * row shows: a tab, else a comma, else a semicolon, else white space of any width. */
#include "formats/import-internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static char find_separator(const char *line, const char *end)
{
    static const char separators[] = "\t,;";

    for (const char *separator = separators; *separator; separator++) {
        if (memchr(line, *separator, (size_t)(end - line)))
            return *separator;
    }
    return '\0';
}

static inline bool is_separator(char c, char separator)
{
    return separator ? c == separator : c == ' ' || c == '\t';
}

/* The label field at the start of the line; *rest is set behind its separator. */
static void find_first(const struct import_syntax *syntax, const char **start, const char **end,
                       const char **rest)
{
    const char *next = *start;

    while (next < *end && (*next == ' ' || (*next == '\t' && syntax->separator != '\t')))
        next++;
    *start = next;
    if (syntax->quotes && next < *end && *next == '"') {
        /* Doubled quotes open again at once. */
        for (bool open = false; next < *end; next++) {
            open ^= *next == '"';
            if (!open && is_separator(*next, syntax->separator))
                break;
        }
    } else {
        while (next < *end && !is_separator(*next, syntax->separator))
            next++;
    }
    *rest = next < *end ? next + 1 : *end;
    *end = next;
}

/* The label field at the end of the line; *rest is set before its separator. */
static void find_last(const struct import_syntax *syntax, const char **start, const char **end,
                      const char **rest)
{
    const char *next, *line = *start;

    while (*end > line && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
        --*end;
    next = *end;
    if (syntax->quotes && next - line >= 2 && next[-1] == '"') {
        bool open = false;

        for (; next > line; next--) {
            if (!open && is_separator(next[-1], syntax->separator))
                break;
            open ^= next[-1] == '"';
        }
    } else {
        while (next > line && !is_separator(next[-1], syntax->separator))
            next--;
    }
    *start = next;
    *rest = next > line ? next - 1 : line;
}

static struct error *end_row(struct import_chunk *chunk, const char *label, const char *end)
{
    struct error *error;
    char *text;
    size_t length;

    import_trim(&label, &end);
    if (!chunk->source->syntax.quotes || label == end || *label != '"')
        return import_end_row(chunk, label, (size_t)(end - label));
    TRY(import_unquote(label, end, '"', &text, &length));
    error = import_end_row(chunk, text, length);
    free(text);
    return error;
}

static struct error *parse_line(struct import_chunk *chunk, const char *line, const char *end)
{
    const struct import_syntax *syntax = &chunk->source->syntax;
    const char *label = line, *label_end = end, *rest;

    if (!syntax->labelled) {
        TRY(import_channel(chunk, line, end, "column", 1));
        return import_end_row(chunk, NULL, 0);
    }
    if (syntax->label_last) {
        find_last(syntax, &label, &label_end, &rest);
        TRY(import_channel(chunk, line, rest, "column", 1));
    } else {
        find_first(syntax, &label, &label_end, &rest);
        TRY(import_channel(chunk, rest, end, "column", 2));
    }
    return end_row(chunk, label, label_end);
}

/* A line of two words or more, and not one number: names of columns. */
static bool is_header(const char *line, const char *end, char separator)
{
    size_t words = 0;

    while (line <= end) {
        const char *start = line, *stop = line;
        double number;

        while (stop < end && !is_separator(*stop, separator))
            stop++;
        line = stop + 1;
        import_trim(&start, &stop);
        if (stop - start >= 2 && *start == '"' && stop[-1] == '"') {
            start++;
            stop--;
        }
        if (start < stop && number_parse(start, stop, &number) == stop)
            return false;
        words += start < stop && *start != '?' && !import_is_word(start, stop, "na");
    }
    return words >= 2;
}

struct error *import_delimited(struct import_source *source, const char *bytes, size_t size,
                               bool csv)
{
    const char *text = bytes, *end = bytes + size, *line = NULL, *line_end = NULL, *data = bytes;
    const char *first, *last;
    size_t number = 0;

    do {
        data = text;
        number++;
        if (!import_next_line(&text, end, &line, &line_end))
            return error_in(source->name, error_make("no rows of data"));
        first = line;
        last = line_end;
        import_trim(&first, &last);
    } while (first == last || *first == '#');

    source->syntax = (struct import_syntax){
        .separator = find_separator(line, last),
        .comments = "#",
        .quotes = csv,
        .labelled = source->options->label != IMPORT_LABEL_NONE,
        .label_last = source->options->label == IMPORT_LABEL_LAST,
        .columns = source->options->label == IMPORT_LABEL_FIRST ? 2 : 1,
    };
    if (csv && (source->options->header || is_header(first, last, source->syntax.separator))) {
        data = text;
        number++;
    }
    return import_lines(source, data, end, number, bytes, parse_line);
}
