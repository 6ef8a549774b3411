/* Rows of text.  The text is cut into pieces of about a megabyte at line ends, by its size alone,
 * and each piece is parsed by itself; line numbers are added up afterwards. */
#include "formats/import-internal.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/scratch.h"

enum { CHUNK_BYTES = 1 << 20, MOST_LABEL_BYTES = 1000 };

/* ---- Helpers ---- */

struct error *import_reserve(void *array, size_t *room, size_t count, size_t size)
{
    size_t more = *room + *room / 2 + 64;
    void *block;

    if (count <= *room)
        return NULL;
    more = more < count ? count : more;
    /* A pointer to any type: copied, not read through another type. */
    memcpy(&block, array, sizeof block);
    block = more > SIZE_MAX / size ? NULL : realloc(block, more * size);
    if (!block)
        return error_memory("the series");
    memcpy(array, &block, sizeof block);
    *room = more;
    return NULL;
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

void import_trim(const char **start, const char **end)
{
    while (*start < *end && is_blank(**start))
        ++*start;
    while (*start < *end && is_blank((*end)[-1]))
        --*end;
}

bool import_next_line(const char **text, const char *end, const char **line, const char **line_end)
{
    const char *newline;

    if (*text >= end)
        return false;
    newline = memchr(*text, '\n', (size_t)(end - *text));
    *line = *text;
    *line_end = newline ? newline : end;
    *text = newline ? newline + 1 : end;
    return true;
}

bool import_is_word(const char *start, const char *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - start) == length && strncasecmp(start, word, length) == 0;
}

void import_quote(const char *start, const char *end, char quoted[64])
{
    size_t length = (size_t)(end - start), shown = length > 32 ? 32 : length;
    char *next = quoted;

    *next++ = '\'';
    for (size_t i = 0; i < shown; i++)
        *next++ = iscntrl((unsigned char)start[i]) ? '?' : start[i];
    strcpy(next, length > shown ? "...'" : "'");
}

struct error *import_unquote(const char *start, const char *end, char escape, char **text,
                             size_t *length)
{
    char quote, *next;

    import_trim(&start, &end);
    *text = next = malloc((size_t)(end - start) + 1);
    if (!next)
        return error_memory("a label");
    quote = start < end && (*start == '"' || *start == '\'') ? *start : '\0';
    if (quote && end - start >= 2 && end[-1] == quote) {
        start++;
        end--;
    } else {
        quote = '\0';
    }
    for (; start < end; start++) {
        /* "" or \" inside quotes stands for one quote. */
        if (quote && (*start == escape) && start + 1 < end &&
            (escape == '\\' || start[1] == escape))
            start++;
        *next++ = *start;
    }
    *length = (size_t)(next - *text);
    *next = '\0';
    return NULL;
}

/* ---- Problems and remarks ---- */

static struct error *problem_list(struct import_problems **problems)
{
    if (!*problems)
        *problems = calloc(1, sizeof **problems);
    return *problems ? NULL : error_memory("messages");
}

/* The problem that is the same as this, or NULL. */
static struct import_problem *find_problem(struct import_problems *problems, long key,
                                           const char *message)
{
    for (size_t i = 0; i < problems->count; i++) {
        struct import_problem *item = &problems->items[i];

        if (item->key == key && (key || strcmp(item->message, message) == 0))
            return item;
    }
    return NULL;
}

struct error *import_add_problem(struct import_problems **problems, size_t line, long key,
                                 struct error *error)
{
    struct import_problem *same;
    struct error *no_memory;

    if (!error || error_is_memory(error))
        return error;
    no_memory = problem_list(problems);
    same = no_memory ? NULL : find_problem(*problems, key, error_message(error));
    if (same) {
        same->rows++;
    } else if (!no_memory && (*problems)->count == IMPORT_MOST_PROBLEMS) {
        (*problems)->others++;
    } else if (!no_memory) {
        struct import_problem item = {line, key, 1, strdup(error_message(error))};

        if (item.message)
            (*problems)->items[(*problems)->count++] = item;
        else
            no_memory = error_memory("messages");
    }
    error_free(error);
    return no_memory;
}

struct error *import_move_problems(struct import_problems **from, size_t line,
                                   struct import_problems **to)
{
    if (!*from)
        return NULL;
    TRY(problem_list(to));
    (*to)->others += (*from)->others;
    for (size_t i = 0; i < (*from)->count; i++) {
        struct import_problem *item = &(*from)->items[i];
        struct import_problem *same = find_problem(*to, item->key, item->message);

        if (same) {
            same->rows += item->rows;
        } else if ((*to)->count == IMPORT_MOST_PROBLEMS) {
            (*to)->others += item->rows;
        } else {
            (*to)->items[(*to)->count] = *item;
            (*to)->items[(*to)->count++].line += line;
            item->message = NULL;
        }
    }
    import_free_problems(*from);
    *from = NULL;
    return NULL;
}

void import_free_problems(struct import_problems *problems)
{
    if (!problems)
        return;
    for (size_t i = 0; i < problems->count; i++)
        free(problems->items[i].message);
    free(problems);
}

struct error *import_note(struct import_remarks *remarks, bool warning, const char *format, ...)
{
    struct import_remark remark = {NULL, warning};
    va_list arguments;
    int length;

    TRY(import_reserve(&remarks->items, &remarks->room, remarks->count + 1,
                       sizeof *remarks->items));
    va_start(arguments, format);
    length = vasprintf(&remark.text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return error_memory("remarks");
    remarks->items[remarks->count++] = remark;
    return NULL;
}

struct error *import_at_line(const struct import_source *source, size_t line, struct error *error)
{
    struct error *outer;

    if (!error)
        return NULL;
    if (error_is_memory(error))
        return error_in(source->name, error);
    outer = error_make("%s:%zu: %s", source->name, line, error_message(error));
    error_free(error);
    return outer;
}

/* ---- Values ---- */

static bool is_missing(const char *start, const char *end)
{
    return start == end || (end - start == 1 && *start == '?') ||
           import_is_word(start, end, "na") || import_is_word(start, end, "nan");
}

/* A number with a comma for the point.  One with a point as well is not: it may be thousands. */
static bool parse_decimal_comma(const char *start, const char *end, double *number)
{
    size_t length = (size_t)(end - start);
    char text[64], *comma;

    if (length >= sizeof text || memchr(start, '.', length))
        return false;
    memcpy(text, start, length);
    comma = memchr(text, ',', length);
    if (comma)
        *comma = '.';
    return number_parse(text, text + length, number) == text + length;
}

bool import_number(const struct import_syntax *syntax, const char *start, const char *end,
                   double *number)
{
    import_trim(&start, &end);
    if (syntax->quotes && end - start >= 2 && (*start == '"' || *start == '\'') &&
        end[-1] == *start) {
        start++;
        end--;
        import_trim(&start, &end);
    }
    if (is_missing(start, end)) {
        *number = (double)NAN;
        return true;
    }
    return syntax->decimal_comma ? parse_decimal_comma(start, end, number)
                                 : number_parse(start, end, number) == end;
}

/* A field that is not simply a number up to the next separator. */
static struct error *parse_odd_field(struct import_chunk *chunk, const char *start, const char *end,
                                     float *value)
{
    char shown[64];
    double number;

    import_trim(&start, &end);
    import_quote(start, end, shown);
    if (!import_number(&chunk->source->syntax, start, end, &number))
        return error_make("%s is not a number", shown);
    if (isnan(number)) {
        chunk->has_missing = true;
        *value = NAN;
        return NULL;
    }
    *value = (float)number;
    if (!isfinite(*value))
        return error_make("%s is %s", shown,
                          isfinite(number) ? "too large for a 32-bit float" : "not finite");
    return NULL;
}

/* Where the field that starts here ends: before a separator that is not in quotes. */
static const char *field_end(const struct import_syntax *syntax, const char *start, const char *end)
{
    const char *next = start;

    if (!syntax->separator) {
        while (next < end && !is_blank(*next))
            next++;
        return next;
    }
    if (syntax->quotes && next < end && (*next == '"' || *next == '\'')) {
        const char *close = memchr(next + 1, *next, (size_t)(end - next - 1));

        next = close ? close : next;
    }
    next = memchr(next, syntax->separator, (size_t)(end - next));
    return next ? next : end;
}

struct error *import_channel(struct import_chunk *chunk, const char *text, const char *end,
                             const char *what, size_t first)
{
    const struct import_syntax *syntax = &chunk->source->syntax;
    const char separator = syntax->separator;
    float *out;

    /* A missing value may take no more than its separator. */
    TRY(import_reserve(&chunk->values, &chunk->value_room,
                       chunk->value_count + (size_t)(end - text) + 1, sizeof *chunk->values));
    TRY(import_reserve(&chunk->ends, &chunk->end_room, chunk->end_count + 1, sizeof *chunk->ends));
    out = chunk->values + chunk->value_count;
    /* Separators in front stand for missing values; at the end, one more tab is common and means
     * nothing. */
    while (text < end && is_blank(*text) && *text != separator)
        text++;
    while (text < end && is_blank(end[-1]))
        end--;
    while (text < end || (separator && out > chunk->values + chunk->value_count)) {
        double number;
        const char *stop = text < end ? number_parse(text, end, &number) : NULL;

        if (stop && (stop == end || *stop == separator || (!separator && is_blank(*stop))) &&
            isfinite((float)number) && !syntax->decimal_comma) {
            *out++ = (float)number;
        } else {
            size_t position = first + (size_t)(out - chunk->values) - chunk->value_count;
            struct error *error;
            char where[64];

            stop = field_end(syntax, text, end);
            snprintf(where, sizeof where, "%s %zu", what, position);
            error = parse_odd_field(chunk, text, stop, out++);
            if (error) {
                chunk->bad_column = position;
                return error_in(where, error);
            }
        }
        if (stop == end)
            break;
        text = stop + 1;
        while (text < end && is_blank(*text) && *text != separator)
            text++;
    }
    chunk->value_count = (size_t)(out - chunk->values);
    chunk->ends[chunk->end_count++] = chunk->value_count;
    return NULL;
}

struct error *import_value(struct import_chunk *chunk, const char *start, const char *stop,
                           size_t column)
{
    const bool comma = chunk->source->syntax.decimal_comma;
    struct error *error;
    char where[64];
    double number;

    TRY(import_reserve(&chunk->values, &chunk->value_room, chunk->value_count + 1,
                       sizeof *chunk->values));
    if (!comma && start < stop && number_parse(start, stop, &number) == stop &&
        isfinite((float)number)) {
        chunk->values[chunk->value_count++] = (float)number;
        return NULL;
    }
    error = parse_odd_field(chunk, start, stop, &chunk->values[chunk->value_count++]);
    if (!error)
        return NULL;
    chunk->bad_column = column;
    snprintf(where, sizeof where, "column %zu", column);
    return error_in(where, error);
}

struct error *import_end_channel(struct import_chunk *chunk)
{
    TRY(import_reserve(&chunk->ends, &chunk->end_room, chunk->end_count + 1, sizeof *chunk->ends));
    chunk->ends[chunk->end_count++] = chunk->value_count;
    return NULL;
}

/* ---- Rows ---- */

struct error *import_add_text(struct import_chunk *chunk, const char *what, const char *label,
                              size_t length)
{
    char shown[64];

    import_quote(label, label + length, shown);
    /* NaN is how tables of numbers say that there is none; NA may be a name. */
    if (length == 0 || (length == 1 && *label == '?') ||
        import_is_word(label, label + length, "nan"))
        return error_make("no %s", what);
    if (length > MOST_LABEL_BYTES)
        return error_make("%s, of %zu bytes, is not a %s", shown, length, what);
    if (memchr(label, '\0', length))
        return error_make("a zero byte in the %s %s", what, shown);
    TRY(import_reserve(&chunk->labels, &chunk->label_room, chunk->label_size + length + 1, 1));
    memcpy(chunk->labels + chunk->label_size, label, length);
    chunk->labels[chunk->label_size + length] = '\0';
    chunk->label_size += length + 1;
    return NULL;
}

struct error *import_end_row(struct import_chunk *chunk, const char *label, size_t length)
{
    size_t before = chunk->row_count * chunk->channels;
    size_t channels = chunk->end_count - before;
    size_t values = before ? chunk->ends[before - 1] : 0;
    const struct import_syntax *syntax = &chunk->source->syntax;

    if (chunk->value_count == values)
        return error_make("no values");
    if (chunk->channels && channels != chunk->channels)
        return error_make("%zu channels where the rows before have %zu", channels, chunk->channels);
    if (syntax->channels && channels != syntax->channels)
        return error_make("%zu channels where the header declares %zu", channels, syntax->channels);
    TRY(import_reserve(&chunk->rows, &chunk->row_room, chunk->row_count + 1, sizeof *chunk->rows));
    chunk->rows[chunk->row_count].line = chunk->lines;
    chunk->rows[chunk->row_count].label = chunk->label_size;
    if (label)
        TRY(import_add_text(chunk, "label", label, length));
    chunk->channels = channels;
    chunk->row_count++;
    return NULL;
}

void import_drop_row(struct import_chunk *chunk, size_t rows)
{
    size_t ends = rows * chunk->channels;

    chunk->row_count = rows;
    chunk->end_count = ends;
    chunk->value_count = ends ? chunk->ends[ends - 1] : 0;
}

static void parse_chunk(struct import_chunk *chunk, import_line_parser *parser)
{
    const char *comments = chunk->source->syntax.comments;
    const char *text = chunk->start, *line, *end;

    for (; import_next_line(&text, chunk->end, &line, &end); chunk->lines++) {
        /* Not the front: there, a tab may stand for an empty field. */
        while (line < end && end[-1] == '\r')
            end--;
        const char *first = line, *last = end;

        import_trim(&first, &last);
        if (first == last || (comments && *first && strchr(comments, *first)))
            continue;
        size_t rows = chunk->row_count;
        struct error *error;

        chunk->bad_column = 0;
        error = parser(chunk, line, end);
        if (error)
            import_drop_row(chunk, rows);
        chunk->error =
            import_add_problem(&chunk->problems, chunk->lines, (long)chunk->bad_column, error);
        if (chunk->error)
            return;
    }
}

/* A row takes at most this many times the bytes of its text. */
enum { MOST_EXPANSION = 16 };

/* Moves what a chunk holds out of the memory.  Where that fails it stays there. */
static void spill_chunk(struct spill *spill, struct import_chunk *chunk)
{
    chunk->values = spill_move(spill, chunk->values, chunk->value_count * sizeof *chunk->values);
    chunk->rows = spill_move(spill, chunk->rows, chunk->row_count * sizeof *chunk->rows);
    chunk->ends = spill_move(spill, chunk->ends, chunk->end_count * sizeof *chunk->ends);
    chunk->labels = spill_move(spill, chunk->labels, chunk->label_size);
}

struct parse_job {
    struct import_source *source;
    const char *bytes, *end;
    import_line_parser *parser;
};

/* Task 0 takes the digest, the others parse a chunk each. */
static void parse_task(void *context, size_t task, unsigned worker)
{
    struct parse_job *job = context;
    struct digest digest;

    (void)worker;
    if (task > 0) {
        struct import_chunk *chunk = &job->source->chunks[task - 1];

        parse_chunk(chunk, job->parser);
        if (job->source->spill)
            spill_chunk(job->source->spill, chunk);
        return;
    }
    digest_start(&digest);
    digest_add(&digest, job->bytes, (size_t)(job->end - job->bytes));
    digest_finish(&digest, job->source->digest);
}

/* Cuts the text at the first line end after each CHUNK_BYTES. */
static struct error *cut(struct import_source *source, const char *start, const char *end)
{
    source->chunks = calloc((size_t)(end - start) / CHUNK_BYTES + 1, sizeof *source->chunks);
    if (!source->chunks)
        return error_memory("the series");
    while (start < end) {
        struct import_chunk *chunk = &source->chunks[source->chunk_count++];
        const char *newline =
            end - start > CHUNK_BYTES
                ? memchr(start + CHUNK_BYTES, '\n', (size_t)(end - start - CHUNK_BYTES))
                : NULL;

        chunk->source = source;
        chunk->start = start;
        chunk->end = start = newline ? newline + 1 : end;
    }
    return NULL;
}

struct error *import_lines(struct import_source *source, const char *start, const char *end,
                           size_t first_line, const char *bytes, import_line_parser *parser)
{
    struct parse_job job = {source, bytes, end, parser};
    size_t tasks, rows = 0;

    source->in_rows = true;
    TRY(cut(source, start, end));
    if ((size_t)(end - start) >= scratch_least())
        source->spill = spill_new((size_t)(end - start) * MOST_EXPANSION);
    tasks = source->chunk_count + 1;
    if (source->options->parallel) {
        source->options->parallel(tasks, parse_task, &job);
    } else {
        for (size_t i = 0; i < tasks; i++)
            parse_task(&job, i, 0);
    }
    for (size_t i = 0; i < source->chunk_count; i++) {
        struct import_chunk *chunk = &source->chunks[i];
        struct error *error = chunk->error;

        chunk->first_line = first_line;
        chunk->error = NULL;
        if (error)
            return error_in(source->name, error);
        TRY(import_move_problems(&chunk->problems, first_line, &source->problems));
        first_line += chunk->lines;
        rows += chunk->row_count;
    }
    return rows || source->problems ? NULL : error_in(source->name, error_make("no rows of data"));
}

struct error *import_declare(struct import_source *source, const char *label, size_t length)
{
    char **longer =
        realloc(source->declared, (source->declared_count + 1) * sizeof *source->declared);

    if (!longer)
        return error_memory("class names");
    source->declared = longer;
    longer[source->declared_count] = strndup(label, length);
    if (!longer[source->declared_count])
        return error_memory("class names");
    source->declared_count++;
    return NULL;
}
