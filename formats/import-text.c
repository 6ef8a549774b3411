/* Rows of text.  The text is cut into pieces of about a megabyte at line ends, by its size alone,
 * and each piece is parsed by itself; line numbers are added up afterwards. */
#include "formats/import-internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

enum { CHUNK_BYTES = 1 << 20, MOST_LABEL_BYTES = 1000 };

/* ---- Small things ---- */

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

struct error *import_at_line(const struct import_source *source, size_t line, struct error *error)
{
    struct error *outer;

    if (!error)
        return NULL;
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

/* A field that is not simply a number up to the next separator. */
static struct error *parse_odd_field(struct import_chunk *chunk, const char *start, const char *end,
                                     float *value)
{
    char shown[64];
    double number;

    import_trim(&start, &end);
    if (chunk->source->syntax.quotes && end - start >= 2 && (*start == '"' || *start == '\'') &&
        end[-1] == *start) {
        start++;
        end--;
        import_trim(&start, &end);
    }
    if (is_missing(start, end)) {
        chunk->has_missing = true;
        *value = NAN;
        return NULL;
    }
    import_quote(start, end, shown);
    if (number_parse(start, end, &number) != end)
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
    /* Separators in front stand for missing values; behind, a tab more is common and means none. */
    while (text < end && is_blank(*text) && *text != separator)
        text++;
    while (text < end && is_blank(end[-1]))
        end--;
    while (text < end || (separator && out > chunk->values + chunk->value_count)) {
        double number;
        const char *stop = text < end ? number_parse(text, end, &number) : NULL;

        if (stop && (stop == end || *stop == separator || (!separator && is_blank(*stop))) &&
            isfinite((float)number)) {
            *out++ = (float)number;
        } else {
            size_t position = first + (size_t)(out - chunk->values) - chunk->value_count;
            struct error *error;
            char where[64];

            stop = field_end(syntax, text, end);
            snprintf(where, sizeof where, "%s %zu", what, position);
            error = parse_odd_field(chunk, text, stop, out++);
            if (error)
                return error_in(where, error);
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

/* ---- Rows ---- */

static struct error *add_label(struct import_chunk *chunk, const char *label, size_t length)
{
    char shown[64];

    import_quote(label, label + length, shown);
    /* NaN is how tables of numbers say that there is none; NA may be a name. */
    if (length == 0 || (length == 1 && *label == '?') ||
        import_is_word(label, label + length, "nan"))
        return error_make("no label");
    if (length > MOST_LABEL_BYTES)
        return error_make("%s, of %zu bytes, is not a label", shown, length);
    if (memchr(label, '\0', length))
        return error_make("a zero byte in the label %s", shown);
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
        TRY(add_label(chunk, label, length));
    chunk->channels = channels;
    chunk->row_count++;
    return NULL;
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
        if (first == last || (*first && strchr(comments, *first)))
            continue;
        chunk->error = parser(chunk, line, end);
        if (chunk->error) {
            chunk->error_line = chunk->lines;
            return;
        }
    }
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
        parse_chunk(&job->source->chunks[task - 1], job->parser);
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
        first_line += chunk->lines;
        rows += chunk->row_count;
        if (error) {
            chunk->error = NULL;
            return import_at_line(source, chunk->first_line + chunk->error_line, error);
        }
    }
    return rows ? NULL : error_in(source->name, error_make("no rows of data"));
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
