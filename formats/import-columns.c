/* The columns of a table: which hold values, which one the label or the group, which are left out.
 */
#include "formats/import-internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory_stream.h"

void import_free_columns(struct import_columns *columns)
{
    for (size_t i = 0; columns->names && i < columns->count; i++)
        free(columns->names[i]);
    free(columns->names);
    free(columns->roles);
    memset(columns, 0, sizeof *columns);
}

struct error *import_take_columns(struct import_source *source, const char *line, const char *end,
                                  bool header)
{
    struct import_columns *columns = &source->columns;
    const char *text = line, *start, *stop;
    size_t room = 0;

    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    while (text) {
        size_t length;

        import_next_field(&source->syntax, &text, end, &start, &stop);
        if (header) {
            TRY(import_reserve(&columns->names, &room, columns->count + 1, sizeof *columns->names));
            TRY(import_unquote(start, stop, '"', &columns->names[columns->count], &length));
        }
        columns->count++;
    }
    return NULL;
}

/* ---- Finding ---- */

/* "a, b, c, ... (41 in all)" */
static struct error *list_names(const struct import_columns *columns, struct memory_stream *list)
{
    enum { SHOWN = 8 };
    size_t shown = columns->count > SHOWN ? SHOWN - 1 : columns->count;

    TRY(memory_stream_open("names of columns", list));
    for (size_t i = 0; i < shown; i++)
        fprintf(list->stream, "%s%s", i ? ", " : "", columns->names[i]);
    if (shown < columns->count)
        fprintf(list->stream, ", ..., %s", columns->names[columns->count - 1]);
    return memory_stream_close(list);
}

static struct error *no_column(const struct import_source *source, const char *option,
                               const char *name, size_t length)
{
    const struct import_columns *columns = &source->columns;
    struct memory_stream list;
    struct error *error;
    char shown[64];

    import_quote(name, name + length, shown);
    if (!columns->names)
        return error_make("--%s: there is no column %s: there is no header, and the columns are "
                          "1 to %zu",
                          option, shown, columns->count);
    error = list_names(columns, &list);
    if (!error)
        error = error_make("--%s: there is no column %s; there are %zu: %s", option, shown,
                           columns->count, list.bytes);
    memory_stream_free(&list);
    return error;
}

/* The column of that name but for the case of its letters, or NULL. */
static const char *alike(const struct import_columns *columns, const char *name, size_t length)
{
    for (size_t i = 0; columns->names && i < columns->count; i++)
        if (strlen(columns->names[i]) == length &&
            strncasecmp(columns->names[i], name, length) == 0)
            return columns->names[i];
    return NULL;
}

struct error *import_find_column(const struct import_source *source, const char *option,
                                 const char *name, size_t length, size_t *column)
{
    const struct import_columns *columns = &source->columns;
    size_t number = 0;

    for (size_t i = 0; columns->names && i < columns->count; i++) {
        if (strlen(columns->names[i]) == length && memcmp(columns->names[i], name, length) == 0) {
            *column = i;
            return NULL;
        }
    }
    for (size_t i = 0; i < length && number <= columns->count; i++)
        number = name[i] >= '0' && name[i] <= '9' ? 10 * number + (size_t)(name[i] - '0')
                                                  : columns->count + 1;
    if (number < 1 || number > columns->count) {
        const char *near = alike(columns, name, length);

        if (near) {
            char wanted[64], there[64];

            import_quote(name, name + length, wanted);
            import_quote(near, near + length, there);
            return error_make("--%s: there is no column %s; did you mean %s?", option, wanted,
                              there);
        }
        return no_column(source, option, name, length);
    }
    *column = number - 1;
    return NULL;
}

/* ---- What they are for ---- */

static bool is_index_name(const char *name)
{
    return name[0] == '\0' || strcmp(name, "Unnamed: 0") == 0;
}

bool import_is_label_name(const char *start, const char *end)
{
    static const char *const names[] = {"label", "labels", "class", "target"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (import_is_word(start, end, names[i]))
            return true;
    }
    return false;
}

static bool is_label(const char *name)
{
    return import_is_label_name(name, name + strlen(name));
}

/* The first or last column that is not left out. */
static size_t outer_column(const struct import_columns *columns, const unsigned char *roles,
                           bool last)
{
    for (size_t i = 0; i < columns->count; i++) {
        size_t column = last ? columns->count - 1 - i : i;

        if (roles[column] == IMPORT_VALUE)
            return column;
    }
    return 0;
}

/* What stands for a value that is missing. */
static bool is_missing(const char *start, const char *stop)
{
    static const char *const words[] = {"", "-", "?", "na", "n/a", "#n/a", "nan", "null", "none"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(stop - start) == strlen(words[i]) &&
            strncasecmp(start, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* Whether that column is text in the first rows: not values that are missing, and not another text
 * in each of many rows, as dates and names are. */
static bool is_text(const struct import_source *source, size_t column)
{
    enum { ROWS = 20, MANY = 10 };
    const char *text = source->columns.row, *line, *end, *start, *stop;
    const char *texts[ROWS], *ends[ROWS];
    size_t number = 0, rows = 0, repeated = 0;
    double value;

    for (size_t row = 0; row < ROWS && text; row++) {
        if (!import_first_line(&text, source->columns.end, &line, &end, &number))
            break;
        for (size_t i = 0; i <= column && line; i++)
            import_next_field(&source->syntax, &line, end, &start, &stop);
        if (import_number(&source->syntax, start, stop, &value) || is_missing(start, stop))
            return false;
        for (size_t i = 0; i < rows; i++)
            if (ends[i] - texts[i] == stop - start &&
                memcmp(texts[i], start, (size_t)(stop - start)) == 0) {
                repeated++;
                break;
            }
        texts[rows] = start;
        ends[rows++] = stop;
    }
    return rows < MANY || repeated > 0;
}

/* How many columns of values are text in the first row of data; *column becomes the only one. */
static size_t find_only_text(const struct import_source *source, const unsigned char *roles,
                             size_t *column)
{
    const char *line = source->columns.row, *start, *stop;
    size_t found = 0, last = 0;
    double number;

    for (size_t i = 0; line && i < source->columns.count; i++) {
        import_next_field(&source->syntax, &line, source->columns.row_end, &start, &stop);
        if (roles[i] == IMPORT_VALUE && !import_number(&source->syntax, start, stop, &number)) {
            last = i;
            found++;
        }
    }
    if (found == 1 && !is_text(source, last))
        found = 0;
    if (found == 1)
        *column = last;
    return found;
}

/* The column of the label, or count for none. */
static struct error *find_label(struct import_source *source, const unsigned char *roles,
                                size_t *label)
{
    const struct import_options *options = source->options;
    const struct import_columns *columns = &source->columns;
    size_t found = 0;

    *label = columns->count;
    if (options->label == IMPORT_LABEL_NONE)
        return NULL;
    if (options->label == IMPORT_LABEL_COLUMN)
        return import_find_column(source, "label", options->label_column,
                                  strlen(options->label_column), label);
    *label = outer_column(columns, roles, options->label == IMPORT_LABEL_LAST);
    if (options->label != IMPORT_LABEL_AUTO || !columns->names || is_label(columns->names[*label]))
        return NULL;
    for (size_t i = columns->count; i-- > 0;) {
        if (roles[i] == IMPORT_VALUE && is_label(columns->names[i])) {
            *label = i;
            found++;
        }
    }
    if (found == 1)
        return import_note(source->remarks, false, "%s: the labels are in column %zu, '%s'",
                           source->name, *label + 1, columns->names[*label]);
    if (found > 1)
        return error_make("several columns may be the label; --label says which");
    found = find_only_text(source, roles, label);
    if (found == 1 && *label > 0)
        return import_note(source->remarks, false,
                           "%s: the labels are in column %zu, '%s': the others are numbers",
                           source->name, *label + 1, columns->names[*label]);
    if (found == 0)
        return import_note(source->remarks, false,
                           "%s: the labels are taken from column %zu, '%s'; --label names another",
                           source->name, *label + 1, columns->names[*label]);
    return NULL;
}

static struct error *assign_roles(struct import_source *source, unsigned char *roles)
{
    const struct import_options *options = source->options;
    struct import_columns *columns = &source->columns;
    size_t column, label, others = 0;

    if (columns->names && columns->count > 1 && is_index_name(columns->names[0])) {
        roles[0] = IMPORT_DROP;
        TRY(import_note(source->remarks, false,
                        "%s: column 1 has no name: left out as the index of a table",
                        source->name));
    }
    for (size_t i = 0; i < options->drop_count; i++) {
        TRY(import_find_column(source, "drop", options->drop[i], strlen(options->drop[i]),
                               &column));
        roles[column] = IMPORT_DROP;
    }
    if (options->group) {
        TRY(import_find_column(source, "group", options->group, strlen(options->group), &column));
        roles[column] = IMPORT_GROUP;
        source->syntax.grouped = true;
    }
    TRY(find_label(source, roles, &label));
    source->syntax.labelled = label < columns->count;
    source->syntax.label_last = label + 1 == columns->count;
    if (source->syntax.labelled) {
        if (roles[label] != IMPORT_VALUE)
            return error_make("column %zu cannot be the label and something else", label + 1);
        roles[label] = IMPORT_LABEL;
    }
    for (size_t i = 0; i < columns->count; i++)
        others += roles[i] == IMPORT_DROP || roles[i] == IMPORT_GROUP;
    source->syntax.columns = 1;
    if (others || (source->syntax.labelled && label > 0 && !source->syntax.label_last))
        columns->roles = roles;
    else if (label == 0)
        source->syntax.columns = 2;
    return NULL;
}

struct error *import_assign_columns(struct import_source *source)
{
    unsigned char *roles = calloc(source->columns.count, 1);
    struct error *error = roles ? assign_roles(source, roles) : error_memory("columns");

    /* A single column is always the label: its rows have no values. */
    if (source->columns.count == 1 && source->syntax.labelled)
        source->syntax.label_last = source->options->label == IMPORT_LABEL_LAST;
    if (source->columns.roles != roles)
        free(roles);
    return error;
}

size_t import_column_of_step(const struct import_source *source, size_t step)
{
    const struct import_columns *columns = &source->columns;
    size_t values = 0;

    if (!columns->roles)
        return source->syntax.columns + step;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->roles[i] == IMPORT_VALUE && values++ == step)
            return i + 1;
    }
    return columns->count + step - values + 1;
}

/* ---- Advice ---- */

/* How a column is called on the command line. */
static void name_column(const struct import_columns *columns, size_t column, char name[64])
{
    const char *text = columns->names && column <= columns->count ? columns->names[column - 1] : "";

    if (*text && strlen(text) <= 32 && !strpbrk(text, " \t\"'$`\\!*?()&|;<>#~"))
        strcpy(name, text);
    else
        snprintf(name, 64, "%zu", column);
}

/* The column with the times of a log, a table of few columns: one value, or one of each sensor, in
 * a row.  NULL if there is none. */
static const char *time_of_log(const struct import_columns *columns)
{
    static const char *const names[] = {"time", "timestamp", "datetime", "date", "step", "t"};
    enum { MOST_OF_LOG = 16 };

    if (!columns->names || columns->count > MOST_OF_LOG)
        return NULL;
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns->names[i], *end = name + strlen(name);

        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (import_is_word(name, end, names[k]))
                return name;
        }
    }
    return NULL;
}

/* What else in the first row of data is not a number where one should be, after that column:
 * "; the same in column 3 'sensor', 5 'state'".  A row is given up at its first problem. */
static struct error *list_texts(const struct import_source *source, size_t after,
                                struct memory_stream *list)
{
    enum { SHOWN = 8 };
    const char *line = source->columns.row, *end = source->columns.row_end, *start, *stop;
    size_t found = 0;
    double number;

    TRY(memory_stream_open("names of columns", list));
    for (size_t column = 0; line; column++) {
        char shown[64];

        import_next_field(&source->syntax, &line, end, &start, &stop);
        if (column < after || import_role_of(source, column, !line) != IMPORT_VALUE ||
            import_number(&source->syntax, start, stop, &number) || ++found > SHOWN)
            continue;
        if (source->columns.names && column < source->columns.count)
            start = source->columns.names[column], stop = start + strlen(start);
        import_quote(start, stop, shown);
        fprintf(list->stream, "%s %zu %s", found == 1 ? "; the same in column" : ",", column + 1,
                shown);
    }
    if (found > SHOWN)
        fprintf(list->stream, " and %zu more", found - SHOWN);
    return memory_stream_close(list);
}

static struct error *advise(const struct import_source *source,
                            const struct import_problem *problem, const char *others, char **text)
{
    const struct import_columns *columns = &source->columns;
    const char *time = time_of_log(columns);
    size_t column = (size_t)problem->key;
    char name[64];
    int length;

    name_column(columns, column, name);
    if (time)
        length = asprintf(text,
                          "%s%s (a log, with one value of a series in a row?  --long "
                          "id=COLUMN,time=%s,value=COLUMN,label=COLUMN reads it, see sc-import(1))",
                          problem->message, others, time);
    else if (column == columns->count && !source->syntax.label_last)
        length = asprintf(text, "%s (is it the label? --label last)", problem->message);
    else
        length = asprintf(text,
                          "%s%s (--drop %s leaves the column out, --group or --label %s makes it "
                          "the group or label)",
                          problem->message, others, name, name);
    return length < 0 ? error_memory("messages") : NULL;
}

struct error *import_hint_columns(struct import_source *source)
{
    size_t rows = 0;

    if (!source->problems)
        return NULL;
    for (size_t i = 0; i < source->chunk_count; i++)
        rows += source->chunks[i].row_count;
    for (size_t i = 0; i < source->problems->count; i++) {
        struct import_problem *problem = &source->problems->items[i];
        struct memory_stream others = {0};
        struct error *error;
        char *text;

        if (problem->key <= 0 || problem->rows < rows || problem->rows + rows < 2)
            continue;
        error = list_texts(source, (size_t)problem->key, &others);
        if (!error)
            error = advise(source, problem, others.bytes, &text);
        memory_stream_free(&others);
        if (error)
            return error;
        free(problem->message);
        problem->message = text;
    }
    return NULL;
}
