/* The series of all files as one array: brought to one length, gaps filled.  Each chunk of rows
 * fills its own part of the result, so chunks can be taken at the same time. */
#include "formats/import-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct error *import_row_problem(struct import_source *source, const struct import_chunk *chunk,
                                 size_t row, long key, struct error *error)
{
    size_t line = chunk->rows[row].line;

    if (source->in_rows)
        line += chunk->first_line;
    return import_add_problem(&source->problems, line, key, error);
}

/* The values of a channel.  Unless unequal lengths are an error, missing values at its end are not
 * part of it. */
static const float *channel_values(const struct import_chunk *chunk, size_t row, size_t channel,
                                   size_t *length)
{
    size_t index = row * chunk->channels + channel;
    size_t start = chunk->ends ? (index ? chunk->ends[index - 1] : 0) : index * chunk->fixed_length;
    size_t end = chunk->ends ? chunk->ends[index] : start + chunk->fixed_length;

    if (chunk->has_missing && chunk->source->options->lengths != IMPORT_LENGTHS_ERROR) {
        while (end > start && isnan(chunk->values[end - 1]))
            end--;
    }
    *length = end - start;
    return chunk->values + start;
}

/* ---- Shape ---- */

struct shape {
    size_t count, channels, shortest, longest;
    /* The row that the others are compared with: the first. */
    const struct import_source *source;
    const struct import_chunk *chunk;
};

static struct error *unequal(const struct import_source *source, size_t length,
                             const struct shape *shape)
{
    const struct import_chunk *first = shape->chunk;
    char where[48] = "series 0";

    if (source->syntax.steps && length != source->syntax.steps)
        return error_make("%zu values, but %s says %zu (--lengths pads or cuts)", length,
                          source->syntax.header, source->syntax.steps);
    if (shape->source->in_rows)
        snprintf(where, sizeof where, "line %zu", first->first_line + first->rows[0].line);
    return error_make("%zu values, but %s%s%s has %zu (--lengths pads or cuts)", length, where,
                      shape->source == source ? "" : " of ",
                      shape->source == source ? "" : shape->source->name, shape->longest);
}

/* The first value that is missing, unless that may be. */
static struct error *find_missing(const struct import_source *source,
                                  const struct import_chunk *chunk, size_t row, size_t channel,
                                  const struct import_options *options)
{
    const char *hint = "missing value (--missing fills it in)";
    size_t length, step = 0;
    const float *values = channel_values(chunk, row, channel, &length);

    if (!chunk->has_missing || options->missing != IMPORT_MISSING_ERROR)
        return NULL;
    while (step < length && !isnan(values[step]))
        step++;
    if (step == length)
        return NULL;
    if (source->syntax.columns)
        return error_make("column %zu: %s", import_column_of_step(source, step), hint);
    return error_make("channel %zu, step %zu: %s", channel, step, hint);
}

/* Takes one more channel into the shortest and longest length. */
static struct error *measure_channel(struct import_source *source, const struct import_chunk *chunk,
                                     size_t row, size_t channel,
                                     const struct import_options *options, struct shape *shape)
{
    struct error *error = NULL;
    size_t length;

    channel_values(chunk, row, channel, &length);
    if (length == 0)
        return import_row_problem(source, chunk, row, 0,
                                  error_make("no values in channel %zu", channel));
    if (options->lengths == IMPORT_LENGTHS_ERROR &&
        ((shape->longest && length != shape->longest) ||
         (source->syntax.steps && length != source->syntax.steps)))
        error = unequal(source, length, shape);
    else if (options->lengths == IMPORT_LENGTHS_CUT && length < options->length)
        error = error_make("%zu values: too few to cut to %zu", length, options->length);
    if (error)
        return import_row_problem(source, chunk, row, IMPORT_KEY_LENGTH, error);
    shape->shortest = length < shape->shortest ? length : shape->shortest;
    shape->longest = length > shape->longest ? length : shape->longest;
    return NULL;
}

static struct error *measure_chunk(struct import_source *source, const struct import_chunk *chunk,
                                   const struct import_options *options, struct shape *shape)
{
    if (chunk->row_count == 0)
        return NULL;
    if (!shape->chunk) {
        shape->source = source;
        shape->chunk = chunk;
        shape->channels = chunk->channels;
    }
    if (chunk->channels != shape->channels)
        return import_row_problem(source, chunk, 0, 0,
                                  error_make("%zu channels where the series before have %zu",
                                             chunk->channels, shape->channels));
    for (size_t row = 0; row < chunk->row_count; row++) {
        struct error *missing = NULL;

        for (size_t channel = 0; channel < chunk->channels; channel++) {
            TRY(measure_channel(source, chunk, row, channel, options, shape));
            if (!missing)
                missing = find_missing(source, chunk, row, channel, options);
        }
        TRY(import_row_problem(source, chunk, row, IMPORT_KEY_MISSING, missing));
    }
    shape->count += chunk->row_count;
    return NULL;
}

static size_t common_length(const struct shape *shape, const struct import_options *options)
{
    if (options->lengths == IMPORT_LENGTHS_ERROR)
        return shape->longest;
    if (options->length)
        return options->length;
    return options->lengths == IMPORT_LENGTHS_CUT ? shape->shortest : shape->longest;
}

/* ---- Missing values ---- */

static float mean_of(const float *values, size_t length)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < length; i++) {
        if (!isnan(values[i])) {
            sum += (double)values[i];
            count++;
        }
    }
    return (float)(sum / (double)count);
}

/* Fills the gap from..to-1 between two values, or at an end of the series. */
static void fill_gap(float *values, size_t length, size_t from, size_t to,
                     enum import_missing missing)
{
    double left = (double)values[from ? from - 1 : to],
           right = (double)values[to < length ? to : from - 1];

    for (size_t i = from; i < to; i++) {
        double part = (double)(i - from + 1) / (double)(to - from + 1);

        values[i] = missing == IMPORT_MISSING_LINEAR && from && to < length
                        ? (float)(left + (right - left) * part)
                        : (float)(from ? left : right);
    }
}

/* Fills what is missing; there is at least one value. */
static void fill(float *values, size_t length, enum import_missing missing)
{
    float other = missing == IMPORT_MISSING_MEAN ? mean_of(values, length) : 0;

    for (size_t i = 0; i < length; i++) {
        size_t end = i;

        while (end < length && isnan(values[end]))
            end++;
        if (end == i)
            continue;
        if (missing == IMPORT_MISSING_LINEAR || missing == IMPORT_MISSING_PREVIOUS)
            fill_gap(values, length, i, end, missing);
        else
            for (size_t j = i; j < end; j++)
                values[j] = other;
        i = end;
    }
}

/* ---- Filling the dataset ---- */

struct placement {
    struct import_source *source;
    struct import_chunk *chunk;
    size_t first; /* index of its first series */
};

struct join {
    struct placement *placements;
    const struct import_options *options;
    struct dataset *dataset;
};

static struct error *fill_missing(size_t channel, enum import_missing missing, float *values,
                                  size_t length)
{
    size_t first = 0, known = 0;

    while (first < length && !isnan(values[first]))
        first++;
    if (first == length || missing == IMPORT_MISSING_KEEP)
        return NULL;
    for (size_t i = 0; i < length; i++)
        known += !isnan(values[i]);
    if (known == 0 && missing != IMPORT_MISSING_ZERO)
        return error_make("channel %zu has no value at all to fill it from", channel);
    fill(values, length, missing);
    return NULL;
}

static struct error *place_channel(const struct join *join, const struct placement *placement,
                                   size_t row, size_t channel)
{
    const struct import_chunk *chunk = placement->chunk;
    const size_t steps = join->dataset->length;
    float *out = dataset_series(join->dataset, placement->first + row, channel);
    size_t length;
    const float *values = channel_values(chunk, row, channel, &length);
    bool pad = join->options->lengths == IMPORT_LENGTHS_PAD;

    length = length < steps ? length : steps;
    memcpy(out, values, length * sizeof *out);
    if (chunk->has_missing)
        TRY(fill_missing(channel, join->options->missing, out, length));
    for (size_t i = length; i < steps; i++)
        out[i] = pad ? out[length - 1] : 0;
    return NULL;
}

static void place_chunk(void *context, size_t task, unsigned worker)
{
    const struct join *join = context;
    const struct placement *placement = &join->placements[task];
    struct import_chunk *chunk = placement->chunk;

    (void)worker;
    for (size_t row = 0; row < chunk->row_count && !chunk->error; row++) {
        for (size_t channel = 0; channel < chunk->channels && !chunk->error; channel++)
            chunk->error = import_add_problem(&chunk->problems, chunk->rows[row].line, 0,
                                              place_channel(join, placement, row, channel));
    }
    /* Text is not needed twice. */
    if (chunk->ends && !placement->source->spill) {
        free(chunk->values);
        chunk->values = NULL;
    }
}

static struct error *place_all(struct join *join, size_t chunks)
{
    if (join->options->parallel) {
        join->options->parallel(chunks, place_chunk, join);
    } else {
        for (size_t i = 0; i < chunks; i++)
            place_chunk(join, i, 0);
    }
    for (size_t i = 0; i < chunks; i++) {
        struct import_chunk *chunk = join->placements[i].chunk;
        struct import_source *source = join->placements[i].source;
        struct error *error = chunk->error;

        chunk->error = NULL;
        TRY(error);
        TRY(import_move_problems(&chunk->problems, source->in_rows ? chunk->first_line : 0,
                                 &source->problems));
    }
    return NULL;
}

static bool any_problem(const struct import_source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sources[i].problems)
            return true;
    }
    return false;
}

struct error *import_join_series(struct import_source *sources, size_t count,
                                 const struct import_options *options, struct dataset *dataset)
{
    struct shape shape = {.shortest = SIZE_MAX};
    struct join join = {NULL, options, dataset};
    size_t chunks = 0, next = 0, first = 0;
    struct error *error;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sources[i].chunk_count; j++, chunks++)
            TRY(measure_chunk(&sources[i], &sources[i].chunks[j], options, &shape));
    }
    if (any_problem(sources, count))
        return NULL;
    TRY(dataset_new(shape.count, shape.channels, common_length(&shape, options), 0, false,
                    dataset));
    join.placements = malloc((chunks + 1) * sizeof *join.placements);
    if (!join.placements)
        return error_memory("the series");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sources[i].chunk_count; j++) {
            join.placements[next++] = (struct placement){&sources[i], &sources[i].chunks[j], first};
            first += sources[i].chunks[j].row_count;
        }
    }
    error = place_all(&join, chunks);
    free(join.placements);
    return error;
}
