/* One series in a row: a label, and values after (or before) it, as archives and spreadsheets have
 * it.  The separator is what the first row shows: a tab, else a comma, else a semicolon, else white
 * space of any width; with a semicolon or a tab, 0,5 may be a half. */
#include "formats/import-internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static inline bool is_separator(char c, char separator)
{
    return separator ? c == separator : c == ' ' || c == '\t';
}

/* ---- Fields ---- */

/* Where the field that starts here ends. */
static const char *end_of_field(const struct import_syntax *syntax, const char *text,
                                const char *end)
{
    if (syntax->quotes && text < end && *text == '"') {
        /* Doubled quotes open again at once. */
        for (bool open = false; text < end; text++) {
            open ^= *text == '"';
            if (!open && is_separator(*text, syntax->separator))
                break;
        }
    } else {
        while (text < end && !is_separator(*text, syntax->separator))
            text++;
    }
    return text;
}

static const char *skip_blanks(const struct import_syntax *syntax, const char *text,
                               const char *end)
{
    while (text < end && (*text == ' ' || (*text == '\t' && syntax->separator != '\t')))
        text++;
    return text;
}

void import_next_field(const struct import_syntax *syntax, const char **text, const char *end,
                       const char **start, const char **stop)
{
    *start = skip_blanks(syntax, *text, end);
    *stop = end_of_field(syntax, *start, end);
    *text = *stop < end ? *stop + 1 : NULL;
}

/* The label field at the start of the line; *rest is set after its separator. */
static void find_first(const struct import_syntax *syntax, const char **start, const char **end,
                       const char **rest)
{
    const char *line_end = *end;

    *rest = *start;
    import_next_field(syntax, rest, line_end, start, end);
    if (!*rest)
        *rest = line_end;
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

/* ---- Rows ---- */

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

/* A label first, last or not at all, and nothing but values otherwise. */
static struct error *parse_plain_line(struct import_chunk *chunk, const char *line, const char *end)
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

enum import_role import_role_of(const struct import_source *source, size_t column, bool last)
{
    const struct import_columns *columns = &source->columns;
    enum import_role role = IMPORT_VALUE;

    if (!columns->roles)
        role = column == 0 && source->syntax.labelled ? IMPORT_LABEL : IMPORT_VALUE;
    else if (column < columns->count)
        role = (enum import_role)columns->roles[column];
    if (source->syntax.label_last && source->syntax.labelled)
        return last ? IMPORT_LABEL : role == IMPORT_LABEL ? IMPORT_VALUE : role;
    return role;
}

static struct error *add_group(struct import_chunk *chunk, const char *start, const char *stop)
{
    struct error *error;
    char *text;
    size_t length;

    TRY(import_unquote(start, stop, '"', &text, &length));
    error = import_add_text(chunk, "group", text, length);
    free(text);
    return error;
}

/* Columns that are left out or name a group, or a label in the middle: field by field. */
static struct error *parse_line(struct import_chunk *chunk, const char *line, const char *end)
{
    const struct import_source *source = chunk->source;
    const char *text = line, *start, *stop, *label = NULL, *label_end = NULL;
    const size_t group = chunk->label_size;
    bool grouped = false;

    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (size_t column = 0; text; column++) {
        import_next_field(&source->syntax, &text, end, &start, &stop);
        switch (import_role_of(source, column, !text)) {
        case IMPORT_VALUE:
            TRY(import_value(chunk, start, stop, column + 1));
            break;
        case IMPORT_LABEL:
            label = start;
            label_end = stop;
            break;
        case IMPORT_GROUP:
            TRY(add_group(chunk, start, stop));
            grouped = true;
            break;
        case IMPORT_DROP:
            break;
        }
    }
    if (source->syntax.grouped && !grouped)
        return error_make("no group: the row is too short");
    if (source->syntax.labelled && !label)
        return error_make("no label: the row is too short");
    TRY(import_end_channel(chunk));
    TRY(label ? end_row(chunk, label, label_end) : import_end_row(chunk, NULL, 0));
    chunk->rows[chunk->row_count - 1].group = group;
    return NULL;
}

/* ---- The first lines ---- */

bool import_first_line(const char **text, const char *end, const char **line, const char **line_end,
                       size_t *number)
{
    for (; import_next_line(text, end, line, line_end); ++*number) {
        const char *first = *line, *last = *line_end;

        while (*line < *line_end && (*line_end)[-1] == '\r')
            --*line_end;
        import_trim(&first, &last);
        if (first < last && *first != '#')
            return true;
    }
    return false;
}

static char find_separator(const char *line, const char *end)
{
    static const char separators[] = "\t,;";

    for (const char *separator = separators; *separator; separator++) {
        if (memchr(line, *separator, (size_t)(end - line)))
            return *separator;
    }
    return '\0';
}

static bool is_decimal_comma(const char *start, const char *stop)
{
    const struct import_syntax comma = {.quotes = true, .decimal_comma = true};
    double number;

    return memchr(start, ',', (size_t)(stop - start)) &&
           import_number(&comma, start, stop, &number);
}

/* Whether some field of the line has a comma as a decimal point; with all, whether every field that
 * has a comma has it as that. */
static bool has_decimal_comma(const char *line, const char *end, char separator, bool all)
{
    const struct import_syntax syntax = {.separator = separator, .quotes = true};
    const char *start, *stop;
    bool found = false;

    while (line) {
        bool comma;

        import_next_field(&syntax, &line, end, &start, &stop);
        comma = is_decimal_comma(start, stop);
        if (all && !comma && memchr(start, ',', (size_t)(stop - start)))
            return false;
        found |= comma;
    }
    return found;
}

/* Sets the separator from the first line, and what a comma in a number is from the first thousand.
 */
static void find_syntax(struct import_syntax *syntax, const char *text, const char *end)
{
    enum { LINES = 1000 };
    const char *line, *line_end;
    size_t number = 0;

    if (!import_first_line(&text, end, &line, &line_end, &number))
        return;
    syntax->separator = find_separator(line, line_end);
    if (syntax->separator == ',' && memchr(line, ';', (size_t)(line_end - line)) &&
        has_decimal_comma(line, line_end, ';', true))
        syntax->separator = ';';
    if (syntax->separator != ';' && syntax->separator != '\t')
        return;
    do {
        syntax->decimal_comma = has_decimal_comma(line, line_end, syntax->separator, false);
    } while (!syntax->decimal_comma && ++number < LINES &&
             import_first_line(&text, end, &line, &line_end, &number));
}

/* What the cells of a line are. */
struct cells {
    size_t count, words, numbers;
    bool counting; /* the numbers are 0, 1, 2 .. or 1, 2, 3 .. */
    bool label;    /* a word is a name for labels */
    bool index;    /* the first is empty */
};

static struct cells look_at_cells(const struct import_syntax *syntax, const char *line,
                                  const char *end)
{
    struct cells cells = {.counting = true};
    const char *start, *stop;
    double before = 0;

    while (line) {
        double number;

        import_next_field(syntax, &line, end, &start, &stop);
        import_trim(&start, &stop);
        if (stop - start >= 2 && *start == '"' && stop[-1] == '"') {
            start++;
            stop--;
        }
        if (start < stop && number_parse(start, stop, &number) == stop) {
            cells.counting &= cells.numbers ? number == before + 1 : number == 0 || number == 1;
            before = number;
            cells.numbers++;
        } else if (start == stop) {
            cells.index |= cells.count == 0;
        } else if (*start != '?' && !import_is_word(start, stop, "na")) {
            cells.words++;
            cells.label |= import_is_label_name(start, stop);
        }
        cells.count++;
    }
    return cells;
}

static bool is_all_words(const struct import_syntax *syntax, const char *line, const char *end)
{
    struct cells cells = look_at_cells(syntax, line, end);

    return cells.numbers == 0 && cells.words >= 2;
}

/* Whether the first line holds the names of columns: words and no number; or numbers that count up,
 * as pandas names columns, if a second line does not do the same. */
static bool is_header(const struct import_syntax *syntax, const char *line, const char *line_end,
                      const char *text, const char *end, bool *numbers)
{
    struct cells first = look_at_cells(syntax, line, line_end), second = {0};
    const char *next, *next_end;
    size_t number = 0;

    *numbers = first.numbers > 0;
    if (first.numbers == 0)
        return first.words >= 2 || (first.words == 1 && first.index);
    if (!first.counting || first.words > 3 ||
        !import_first_line(&text, end, &next, &next_end, &number))
        return false;
    second = look_at_cells(syntax, next, next_end);
    if (second.counting && second.numbers >= first.numbers)
        return false;
    return first.label || first.index || first.numbers >= 4;
}

static void find_first_row(struct import_columns *columns, const char *text, const char *end)
{
    size_t number = 0;

    columns->end = end;
    if (!import_first_line(&text, end, &columns->row, &columns->row_end, &number))
        columns->row = columns->row_end = NULL;
}

static struct error *import_delimited(struct import_source *source, const char *bytes, size_t size,
                                      bool csv)
{
    const struct import_options *options = source->options;
    struct import_syntax *syntax = &source->syntax;
    const char *text = bytes, *end = bytes + size, *line, *line_end;
    size_t number = 1;
    bool header, numbers = false;
    struct error *error;

    *syntax = (struct import_syntax){.comments = "#", .quotes = csv};
    find_syntax(syntax, text, end);
    if (!import_first_line(&text, end, &line, &line_end, &number))
        return error_in(source->name, error_make("no rows of data"));
    /* A file called .tsv or .txt is an archive's, unless names of columns are above the numbers. */
    csv |= !options->format && (options->header || is_all_words(syntax, line, line_end));
    syntax->quotes = csv;
    header = csv && (options->header || is_header(syntax, line, line_end, text, end, &numbers));
    if (header && numbers && !options->header)
        TRY(import_note(source->remarks, false,
                        "%s:%zu: taken for names of columns (-f ucr reads it as data)",
                        source->name, number));
    if (syntax->decimal_comma)
        TRY(import_note(source->remarks, false, "%s: commas are decimal points", source->name));
    TRY(error_in(source->name, import_take_columns(source, line, line_end, header)));
    number += header;
    if (!header)
        text = line;
    if (options->long_format)
        return import_long(source, text, end, number, bytes);
    find_first_row(&source->columns, text, end);
    TRY(error_in(source->name, import_assign_columns(source)));
    error = import_lines(source, text, end, number, bytes,
                         source->columns.roles ? parse_line : parse_plain_line);
    return error ? error : import_hint_columns(source);
}

struct error *import_ucr(struct import_source *source, const char *bytes, size_t size,
                         const char *labels)
{
    (void)labels;
    return import_delimited(source, bytes, size, false);
}

struct error *import_csv(struct import_source *source, const char *bytes, size_t size,
                         const char *labels)
{
    (void)labels;
    return import_delimited(source, bytes, size, true);
}
