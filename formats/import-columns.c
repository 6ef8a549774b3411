/* The columns of a table: which hold values, which one the label or the group, which are left out.
 */
#include "formats/import-internal.h"

#include <stdlib.h>
#include <string.h>

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
    if (number < 1 || number > columns->count)
        return no_column(source, option, name, length);
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

    /* A single column is the label, as ever: its rows have no values. */
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

/* Whether the names are those of a table with one value in a row. */
static bool looks_long(const struct import_columns *columns)
{
    bool time = false, value = false;

    for (size_t i = 0; columns->names && i < columns->count; i++) {
        const char *name = columns->names[i], *end = name + strlen(name);

        time |= import_is_word(name, end, "time") || import_is_word(name, end, "timestamp") ||
                import_is_word(name, end, "step");
        value |= import_is_word(name, end, "value");
    }
    return time && value;
}

static char *advise(const struct import_source *source, const struct import_problem *problem)
{
    const struct import_columns *columns = &source->columns;
    size_t column = (size_t)problem->key;
    char name[64], *text;
    int length;

    name_column(columns, column, name);
    if (looks_long(columns))
        length = asprintf(&text, "%s (is there one value in a row? --long reads that)",
                          problem->message);
    else if (column == columns->count && !source->syntax.label_last)
        length = asprintf(&text, "%s (is it the label? --label last)", problem->message);
    else
        length = asprintf(&text,
                          "%s (--drop %s leaves the column out, --group or --label %s makes it the "
                          "group or label)",
                          problem->message, name, name);
    return length < 0 ? NULL : text;
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
        char *text;

        if (problem->key <= 0 || problem->rows < rows || problem->rows + rows < 2)
            continue;
        text = advise(source, problem);
        if (!text)
            return error_memory("messages");
        free(problem->message);
        problem->message = text;
    }
    return NULL;
}
