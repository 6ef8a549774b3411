/* One value in a row, as sensor logs and databases have it:
 *
 *     device,time,sensor,value,state            --long id=device,time=time,channel=sensor,
 *     7,0.00,acc,0.13,ok                               value=value,label=state
 *     7,0.00,gyro,1.5,ok
 *     7,0.01,acc,0.14,ok
 *
 * The rows of one id are one series.  They may be in any order: series, channels and times are
 * sorted, by value if all are numbers, else by code point; without a time, the order of the rows is
 * that of the steps.  A series has the times that any of its channels has; where a channel has none
 * the value is missing.  Several columns can be the channels instead: value=x+y+z. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 1024, NO_COLUMN = -1 };
enum text_column { TEXT_ID, TEXT_TIME, TEXT_CHANNEL, TEXT_LABEL, TEXT_GROUP, TEXT_COLUMNS };

static const char *const text_names[] = {"id", "time", "channel", "label", "group"};

struct sample {
    int32_t texts[TEXT_COLUMNS]; /* first which text, then its place in their order */
    size_t line;
    float value;
};

struct long_table {
    struct import_source *source;
    long columns[TEXT_COLUMNS]; /* or NO_COLUMN */
    size_t values[MOST_VALUES]; /* columns */
    size_t value_count;
    struct import_texts texts[TEXT_COLUMNS];
    struct import_text **ordered[TEXT_COLUMNS];
    size_t counts[TEXT_COLUMNS];
    struct sample *samples;
    size_t count, room;
};

/* ---- Which columns ---- */

/* "x+y+z" */
static struct error *find_values(struct long_table *table, const char *text, const char *end)
{
    while (text <= end) {
        const char *plus = memchr(text, '+', (size_t)(end - text));
        const char *stop = plus ? plus : end;

        if (table->value_count == MOST_VALUES)
            return error_make("--long: more than %d columns of values", MOST_VALUES);
        TRY(import_find_column(table->source, "long", text, (size_t)(stop - text),
                               &table->values[table->value_count++]));
        text = stop + 1;
    }
    return NULL;
}

/* "id=device": what is before the = says what the column is. */
static struct error *find_role(struct long_table *table, const char *text, const char *end)
{
    const char *equals = memchr(text, '=', (size_t)(end - text));
    char shown[64];
    size_t column;

    import_quote(text, end, shown);
    if (!equals)
        return error_make("--long: %s has no '=': expected id=COLUMN,value=COLUMN and more", shown);
    if (import_is_word(text, equals, "value"))
        return find_values(table, equals + 1, end);
    for (size_t i = 0; i < TEXT_GROUP; i++) {
        if (!import_is_word(text, equals, text_names[i]))
            continue;
        TRY(import_find_column(table->source, "long", equals + 1, (size_t)(end - equals - 1),
                               &column));
        table->columns[i] = (long)column;
        return NULL;
    }
    return error_make("--long: %s is not one of: id, time, channel, value, label", shown);
}

static struct error *find_roles(struct long_table *table)
{
    const struct import_options *options = table->source->options;
    const char *text = options->long_format, *end = text + strlen(text);
    size_t column;

    for (size_t i = 0; i < TEXT_COLUMNS; i++)
        table->columns[i] = NO_COLUMN;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));

        TRY(find_role(table, text, comma ? comma : end));
        text = comma ? comma + 1 : end;
    }
    if (options->group) {
        TRY(import_find_column(table->source, "group", options->group, strlen(options->group),
                               &column));
        table->columns[TEXT_GROUP] = (long)column;
    }
    if (table->columns[TEXT_ID] == NO_COLUMN || table->value_count == 0)
        return error_make("--long needs at least id=COLUMN and value=COLUMN");
    if (table->value_count > 1 && table->columns[TEXT_CHANNEL] != NO_COLUMN)
        return error_make("--long: channels are rows (channel=) or columns (value=a+b), not both");
    return NULL;
}

/* ---- Rows ---- */

struct field {
    const char *start, *stop;
};

static struct error *add_text(struct long_table *table, size_t which, struct field field,
                              int32_t *id)
{
    struct error *error;
    size_t length;
    char *text;

    TRY(import_unquote(field.start, field.stop, '"', &text, &length));
    error = length == 0              ? error_make("no %s", text_names[which])
            : strlen(text) != length ? error_make("a zero byte in the %s", text_names[which])
                                     : import_texts_add(&table->texts[which], text, id);
    free(text);
    return error;
}

static struct error *add_sample(struct long_table *table, const struct sample *texts, size_t which,
                                struct field field)
{
    struct sample sample = *texts;
    char shown[64];
    double number;

    import_quote(field.start, field.stop, shown);
    if (!import_number(&table->source->syntax, field.start, field.stop, &number))
        return error_make("column %zu: %s is not a number", table->values[which] + 1, shown);
    sample.value = (float)number;
    if (isinf(sample.value))
        return error_make("column %zu: %s is not finite as a 32-bit float",
                          table->values[which] + 1, shown);
    if (table->columns[TEXT_CHANNEL] == NO_COLUMN)
        sample.texts[TEXT_CHANNEL] = (int32_t)which;
    TRY(import_reserve(&table->samples, &table->room, table->count + 1, sizeof *table->samples));
    table->samples[table->count++] = sample;
    return NULL;
}

/* One line: fields is scratch room for all of its columns. */
static struct error *parse_line(struct long_table *table, const char *line, const char *end,
                                size_t number, struct field *fields, long *bad_column)
{
    const struct import_source *source = table->source;
    struct sample sample = {.line = number};
    size_t count = 0;

    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    while (line && count < source->columns.count) {
        struct field *field = &fields[count++];

        import_next_field(&source->syntax, &line, end, &field->start, &field->stop);
    }
    if (count < source->columns.count)
        return error_make("%zu columns instead of %zu", count, source->columns.count);
    for (size_t i = 0; i < TEXT_COLUMNS; i++) {
        if (table->columns[i] != NO_COLUMN)
            TRY(add_text(table, i, fields[table->columns[i]], &sample.texts[i]));
    }
    for (size_t i = 0; i < table->value_count; i++) {
        *bad_column = (long)table->values[i] + 1;
        TRY(add_sample(table, &sample, i, fields[table->values[i]]));
    }
    return NULL;
}

static struct error *parse_lines(struct long_table *table, const char *text, const char *end,
                                 size_t number, struct field *fields)
{
    const char *line, *line_end;

    for (; import_first_line(&text, end, &line, &line_end, &number); number++) {
        long bad_column = 0;
        struct error *error = parse_line(table, line, line_end, number, fields, &bad_column);

        TRY(import_add_problem(&table->source->problems, number, bad_column, error));
    }
    return NULL;
}

/* ---- Order ---- */

/* By series, step and channel; those without a time by line. */
static int compare_samples(const void *a, const void *b)
{
    const struct sample *left = a, *right = b;
    static const enum text_column keys[] = {TEXT_ID, TEXT_TIME, TEXT_CHANNEL};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int32_t l = left->texts[keys[i]], r = right->texts[keys[i]];

        if (l != r)
            return l < r ? -1 : 1;
    }
    return (left->line > right->line) - (left->line < right->line);
}

/* Without times: the rows of a series and channel are its steps. */
static struct error *count_steps(struct long_table *table)
{
    size_t ids = table->counts[TEXT_ID], channels = table->counts[TEXT_CHANNEL];
    int32_t *next;

    if (ids > SIZE_MAX / 8 / channels)
        return error_memory("the series");
    next = calloc(ids * channels, sizeof *next);
    if (!next)
        return error_memory("the series");
    /* They are still in the order of the file. */
    for (size_t i = 0; i < table->count; i++) {
        struct sample *sample = &table->samples[i];

        sample->texts[TEXT_TIME] =
            next[(size_t)sample->texts[TEXT_ID] * channels + (size_t)sample->texts[TEXT_CHANNEL]]++;
    }
    free(next);
    return NULL;
}

static struct error *put_in_order(struct long_table *table)
{
    for (size_t i = 0; i < TEXT_COLUMNS; i++) {
        if (table->columns[i] == NO_COLUMN)
            continue;
        TRY(import_texts_order(&table->texts[i], &table->ordered[i], &table->counts[i]));
        for (size_t j = 0; i < TEXT_LABEL && j < table->count; j++) {
            int32_t *text = &table->samples[j].texts[i];

            *text = table->texts[i].items[*text].index;
        }
    }
    if (table->columns[TEXT_CHANNEL] == NO_COLUMN)
        table->counts[TEXT_CHANNEL] = table->value_count;
    if (table->columns[TEXT_TIME] == NO_COLUMN)
        TRY(count_steps(table));
    qsort(table->samples, table->count, sizeof *table->samples, compare_samples);
    return NULL;
}

/* ---- Series ---- */

/* A problem if a row says otherwise than the first of its series. */
static struct error *check_same(struct long_table *table, size_t which, const struct sample *first,
                                const struct sample *sample)
{
    const struct import_text *texts = table->texts[which].items;
    char shown[64], before[64];
    const char *text, *other;

    if (table->columns[which] == NO_COLUMN || sample->texts[which] == first->texts[which])
        return NULL;
    text = texts[sample->texts[which]].text;
    other = texts[first->texts[which]].text;
    import_quote(text, text + strlen(text), shown);
    import_quote(other, other + strlen(other), before);
    return import_add_problem(&table->source->problems, sample->line, 0,
                              error_make("%s %s, but line %zu of the same series has %s",
                                         text_names[which], shown, first->line, before));
}

static struct error *check_series(struct long_table *table, const struct sample *first,
                                  const struct sample *end)
{
    for (const struct sample *sample = first + 1; sample < end; sample++) {
        TRY(check_same(table, TEXT_LABEL, first, sample));
        TRY(check_same(table, TEXT_GROUP, first, sample));
        if (sample->texts[TEXT_TIME] == sample[-1].texts[TEXT_TIME] &&
            sample->texts[TEXT_CHANNEL] == sample[-1].texts[TEXT_CHANNEL])
            TRY(import_add_problem(
                &table->source->problems, sample->line, IMPORT_KEY_LABEL,
                error_make("the same series, time and channel as line %zu", sample[-1].line)));
    }
    return NULL;
}

/* Adds the series of the samples first..end as one row: channel by channel, step by step. */
static struct error *add_series(struct long_table *table, const struct sample *first,
                                const struct sample *end, struct import_chunk *chunk)
{
    size_t channels = table->counts[TEXT_CHANNEL], steps = 0, row = chunk->row_count, step = 0;
    const char *label = NULL;
    float *values;

    for (const struct sample *sample = first; sample < end; sample++)
        steps += sample == first || sample->texts[TEXT_TIME] != sample[-1].texts[TEXT_TIME];
    if (steps > (SIZE_MAX / 8 - chunk->value_count) / channels)
        return error_memory("the series");
    TRY(import_reserve(&chunk->values, &chunk->value_room, chunk->value_count + channels * steps,
                       sizeof *chunk->values));
    values = chunk->values + chunk->value_count;
    for (size_t i = 0; i < channels * steps; i++)
        values[i] = NAN;
    for (const struct sample *sample = first; sample < end; sample++) {
        step += sample > first && sample->texts[TEXT_TIME] != sample[-1].texts[TEXT_TIME];
        values[(size_t)sample->texts[TEXT_CHANNEL] * steps + step] = sample->value;
    }
    for (size_t i = 0; i < channels * steps; i++)
        chunk->has_missing |= isnan(values[i]);
    for (size_t i = 0; i < channels; i++) {
        chunk->value_count += steps;
        TRY(import_end_channel(chunk));
    }
    if (table->columns[TEXT_GROUP] != NO_COLUMN) {
        const char *group = table->texts[TEXT_GROUP].items[first->texts[TEXT_GROUP]].text;
        size_t at = chunk->label_size;

        TRY(import_add_text(chunk, "group", group, strlen(group)));
        TRY(import_reserve(&chunk->rows, &chunk->row_room, row + 1, sizeof *chunk->rows));
        chunk->rows[row].group = at;
    }
    if (table->columns[TEXT_LABEL] != NO_COLUMN)
        label = table->texts[TEXT_LABEL].items[first->texts[TEXT_LABEL]].text;
    chunk->lines = first->line;
    return import_end_row(chunk, label, label ? strlen(label) : 0);
}

/* Whether the times of the samples, which are numbers, are evenly spaced but for rounding. */
static bool is_even(const struct long_table *table, const struct sample *first,
                    const struct sample *end)
{
    double before = 0, gap = 0;
    size_t steps = 0;

    for (const struct sample *sample = first; sample < end; sample++) {
        double time = table->ordered[TEXT_TIME][sample->texts[TEXT_TIME]]->number;

        if (steps && time == before)
            continue;
        if (steps == 1)
            gap = time - before;
        else if (steps > 1 && fabs(time - before - gap) > 0.01 * gap)
            return false;
        before = time;
        steps++;
    }
    return true;
}

static struct error *add_all(struct long_table *table, struct import_chunk *chunk)
{
    const struct sample *first = table->samples, *end = table->samples + table->count;
    bool numbers = table->columns[TEXT_TIME] != NO_COLUMN && table->texts[TEXT_TIME].words == 0;
    size_t uneven = 0, rows;

    while (first < end) {
        const struct sample *next = first + 1;
        struct error *error;

        while (next < end && next->texts[TEXT_ID] == first->texts[TEXT_ID])
            next++;
        TRY(check_series(table, first, next));
        rows = chunk->row_count;
        error = add_series(table, first, next, chunk);
        if (error)
            import_drop_row(chunk, rows);
        TRY(import_add_problem(&table->source->problems, first->line, 0, error));
        uneven += numbers && !is_even(table, first, next);
        first = next;
    }
    if (uneven)
        return import_note(table->source->remarks, true,
                           "%s: the times of %zu series are not evenly spaced: only their order "
                           "counts",
                           table->source->name, uneven);
    return NULL;
}

static void table_free(struct long_table *table)
{
    for (size_t i = 0; i < TEXT_COLUMNS; i++) {
        import_texts_free(&table->texts[i]);
        free(table->ordered[i]);
    }
    free(table->samples);
    free(table);
}

static struct error *read_table(struct long_table *table, const char *data, const char *end,
                                size_t first_line, struct field *fields)
{
    struct import_source *source = table->source;
    struct import_chunk *chunk;

    TRY(error_in(source->name, find_roles(table)));
    TRY(parse_lines(table, data, end, first_line, fields));
    if (table->count == 0)
        return source->problems ? NULL : error_in(source->name, error_make("no rows of data"));
    TRY(put_in_order(table));
    source->syntax.labelled = table->columns[TEXT_LABEL] != NO_COLUMN;
    source->syntax.grouped = table->columns[TEXT_GROUP] != NO_COLUMN;
    source->chunks = chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        return error_memory("the series");
    source->chunk_count = 1;
    chunk->source = source;
    return add_all(table, chunk);
}

struct error *import_long(struct import_source *source, const char *data, const char *end,
                          size_t first_line, const char *bytes)
{
    struct long_table *table = calloc(1, sizeof *table);
    struct field *fields = calloc(source->columns.count, sizeof *fields);
    struct error *error;
    struct digest digest;

    if (!table || !fields) {
        free(table);
        free(fields);
        return error_memory("the series");
    }
    table->source = source;
    source->in_rows = true;
    error = read_table(table, data, end, first_line, fields);
    free(fields);
    table_free(table);
    digest_start(&digest);
    digest_add(&digest, bytes, (size_t)(end - bytes));
    digest_finish(&digest, source->digest);
    return error;
}
