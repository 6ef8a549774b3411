/* Every series starts as noise in all channels; its pattern is then put over it (TwoPatterns) or
 * added (the others).  How many patterns a series has depends on the kind alone, so each series
 * knows its rows of the truth. */
#include "data/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"

/* A shape of a class, as planted. */
struct shape {
    size_t channel;
    size_t place; /* start without jitter */
    float *values;
};

struct generator {
    const struct generate_options *options;
    size_t classes, channels;
    size_t patterns;       /* in each series */
    struct shape *shapes;  /* (classes, patterns), or NULL */
    float *values;         /* of all shapes */
    int32_t *labels;       /* (count,) */
    struct planted *truth; /* (count, patterns), or NULL */
    /* The block at work. */
    size_t begin;
    float *x;
    struct planted *own; /* (threads, patterns): where nobody wants the truth */
};

static const char *const two_patterns_names[] = {"dd", "ud", "du", "uu"};
static const char *const cbf_names[] = {"cylinder", "bell", "funnel"};

struct generate_options generate_defaults(void)
{
    return (struct generate_options){
        .kind = GENERATE_TWO_PATTERNS,
        .count = 1000,
        .length = 128,
        .noise = 1,
        .imbalance = 1,
        .channels = 1,
        .classes = 2,
        .shapelets = 1,
        .pattern = 16,
        .jitter = 4,
        .amplitude = 2,
    };
}

/* Uniform in low..high, both included. */
static size_t between(struct random_stream *stream, size_t low, size_t high)
{
    return low + (size_t)random_below(stream, high - low + 1);
}

static size_t draw_class(const struct generator *generator, size_t index,
                         struct random_stream *stream)
{
    const double imbalance = generator->options->imbalance;
    const size_t classes = generator->classes;
    double total = 0, drawn;
    size_t label = 0;

    if (imbalance >= 1 || classes < 2)
        return index % classes;
    /* Shares fall from 1 to the imbalance in equal steps. */
    total = (double)classes * (1 + imbalance) / 2;
    drawn = total * random_uniform(stream);
    for (; label + 1 < classes; label++) {
        drawn -= 1 - (1 - imbalance) * (double)label / (double)(classes - 1);
        if (drawn < 0)
            break;
    }
    return label;
}

/* First-order autoregressive noise, stationary from the first step. */
static void fill_noise(const struct generate_options *options, struct random_stream *stream,
                       float *out)
{
    const double fresh = sqrt(1 - options->correlation * options->correlation);
    double value = random_normal(stream);

    for (size_t t = 0; t < options->length; t++) {
        out[t] = (float)(options->noise * value);
        if (t + 1 < options->length)
            value = options->correlation * value + fresh * random_normal(stream);
    }
}

/* ---- Kinds ---- */

static void put_step(float *out, size_t length, bool up)
{
    for (size_t t = 0; t < length; t++)
        out[t] = (t < (length + 1) / 2) == up ? -5.0f : 5.0f;
}

static void two_patterns(const struct generator *generator, size_t label,
                         struct random_stream *stream, float *out, struct planted *truth)
{
    const size_t length = generator->options->length;
    size_t first = between(stream, length / 8, length / 4);
    size_t second = between(stream, length / 8, length / 4);

    truth[0].length = first;
    truth[1].length = second;
    truth[0].start = between(stream, 0, length - 1 - first - second);
    truth[1].start = between(stream, truth[0].start + first, length - 1 - second);
    put_step(out + truth[0].start, first, label & 1);
    put_step(out + truth[1].start, second, label & 2);
}

static void cylinder_bell_funnel(const struct generator *generator, size_t label,
                                 struct random_stream *stream, float *out, struct planted *truth)
{
    const size_t length = generator->options->length;
    size_t start = between(stream, length / 8, length / 4);
    size_t width = between(stream, length / 4, length * 3 / 4);
    double height = 6 + random_normal(stream);

    /* In Saito's definition steps count from 1, so the support can end at the last step. */
    for (size_t t = start; t <= start + width && t <= length; t++) {
        double share = label == 0   ? 1
                       : label == 1 ? (double)(t - start) / (double)width
                                    : (double)(start + width - t) / (double)width;

        out[t - 1] += (float)(height * share);
    }
    truth->start = start - 1;
    truth->length = start + width > length ? length - start + 1 : width + 1;
}

static void planted_shapes(const struct generator *generator, size_t label,
                           struct random_stream *stream, float *series, struct planted *truth)
{
    const struct generate_options *options = generator->options;

    for (size_t k = 0; k < generator->patterns; k++) {
        const struct shape *shape = &generator->shapes[label * generator->patterns + k];
        size_t start = shape->place - options->jitter + between(stream, 0, 2 * options->jitter);
        float *out = series + shape->channel * options->length + start;

        for (size_t t = 0; t < options->pattern; t++)
            out[t] += shape->values[t];
        truth[k].channel = shape->channel;
        truth[k].start = start;
        truth[k].length = options->pattern;
    }
}

/* ---- Planted shapes ---- */

/* A random sum of cosines without mean (the first terms of a discrete cosine transform), scaled to
 * the root mean square that is asked for. */
static void draw_shape(const struct generate_options *options, struct random_stream *stream,
                       float *values)
{
    enum { MOST_TERMS = 6 };
    const double pi = 3.14159265358979323846;
    const size_t length = options->pattern;
    const size_t terms = length - 1 < MOST_TERMS ? length - 1 : MOST_TERMS;
    double weights[MOST_TERMS], square = 0;

    for (size_t k = 0; k < terms; k++) {
        weights[k] = random_normal(stream);
        square += weights[k] * weights[k] / 2;
    }
    for (size_t t = 0; t < length; t++) {
        double value = 0;

        for (size_t k = 0; k < terms; k++)
            value += weights[k] * cos(pi * (double)(k + 1) * ((double)t + 0.5) / (double)length);
        values[t] = (float)(options->amplitude * value / sqrt(square));
    }
}

/* Each shape of a class has its own part of the time axis to move in. */
static struct error *make_shapes(struct generator *generator)
{
    const struct generate_options *options = generator->options;
    const size_t room = options->length / generator->patterns;
    size_t count = 0, total = 0;

    if (options->pattern > room || options->jitter > (room - options->pattern) / 2)
        return error_make(
            "%zu shapelets of %zu steps, each shifted by up to %zu either way, do not "
            "fit into %zu steps",
            generator->patterns, options->pattern, options->jitter, options->length);
    if (__builtin_mul_overflow(generator->classes, generator->patterns, &count) ||
        __builtin_mul_overflow(count, options->pattern, &total))
        return error_memory("shapelets");
    generator->shapes = calloc(count, sizeof *generator->shapes);
    generator->values = calloc(total, sizeof *generator->values);
    if (!generator->shapes || !generator->values)
        return error_memory("shapelets");
    for (size_t i = 0; i < count; i++) {
        struct random_stream stream = random_stream(options->seed, RANDOM_GENERATE_CLASS, i);
        struct shape *shape = &generator->shapes[i];
        size_t begin = i % generator->patterns * room;

        shape->values = generator->values + i * options->pattern;
        shape->channel = (size_t)random_below(&stream, options->channels);
        shape->place = between(&stream, begin + options->jitter,
                               begin + room - options->pattern - options->jitter);
        draw_shape(options, &stream, shape->values);
    }
    return NULL;
}

/* ---- Datasets ---- */

static void make_series(void *context, size_t task, unsigned worker)
{
    const struct generator *generator = context;
    const struct generate_options *options = generator->options;
    const size_t i = generator->begin + task, patterns = generator->patterns;
    const uint64_t index = options->first + i;
    struct random_stream stream = random_stream(options->seed, RANDOM_GENERATE, index);
    struct planted *truth =
        generator->truth ? generator->truth + i * patterns : generator->own + worker * patterns;
    size_t label = draw_class(generator, (size_t)index, &stream);
    float *out = generator->x + task * generator->channels * options->length;

    generator->labels[i] = (int32_t)label;
    memset(truth, 0, patterns * sizeof *truth);
    for (size_t k = 0; k < patterns; k++)
        truth[k].series = i;
    for (size_t c = 0; c < generator->channels; c++)
        fill_noise(options, &stream, out + c * options->length);
    if (options->kind == GENERATE_TWO_PATTERNS)
        two_patterns(generator, label, &stream, out, truth);
    else if (options->kind == GENERATE_CBF)
        cylinder_bell_funnel(generator, label, &stream, out, truth);
    else
        planted_shapes(generator, label, &stream, out, truth);
}

static struct error *make_block(void *context, size_t first, size_t count, float *x)
{
    struct generator *generator = context;

    generator->begin = first;
    generator->x = x;
    parallel_for(count, make_series, generator);
    return NULL;
}

static struct error *set_names(const struct generator *generator, struct dataset *dataset)
{
    enum { NAME_SIZE = 32 };
    const size_t classes = generator->classes;
    const enum generate_kind kind = generator->options->kind;
    char *texts = malloc(classes * NAME_SIZE);
    char **names = malloc(classes * sizeof *names);
    struct dataset named = {.classes = classes, .names = names};
    struct error *error = texts && names ? NULL : error_memory("class names");

    for (size_t v = 0; !error && v < classes; v++) {
        names[v] = texts + v * NAME_SIZE;
        if (kind == GENERATE_PLANTED)
            snprintf(names[v], NAME_SIZE, "class-%zu", v);
        else
            strcpy(names[v], kind == GENERATE_CBF ? cbf_names[v] : two_patterns_names[v]);
    }
    if (!error)
        error = dataset_copy_texts(&named, dataset);
    free(texts);
    free(names);
    return error;
}

static struct error *prepare(struct generator *generator, struct planted_list *truth,
                             struct dataset *dataset)
{
    const struct generate_options *options = generator->options;
    size_t rows = parallel_threads() * generator->patterns;

    if (options->kind == GENERATE_PLANTED)
        TRY(make_shapes(generator));
    TRY(dataset_new_made(options->count, generator->channels, options->length, generator->classes,
                         make_block, generator, dataset));
    generator->labels = dataset->y;
    TRY(set_names(generator, dataset));
    if (!truth && !(generator->own = calloc(rows, sizeof *generator->own)))
        return error_memory("the positions of patterns");
    if (!truth)
        return NULL;
    if (__builtin_mul_overflow(options->count, generator->patterns, &rows) ||
        !(truth->items = calloc(rows, sizeof *truth->items)))
        return error_memory("the positions of patterns");
    truth->count = rows;
    generator->truth = truth->items;
    return NULL;
}

static struct error *check_options(const struct generate_options *options)
{
    if (options->count == 0 || options->channels == 0 || options->classes == 0)
        return error_make("a dataset needs at least one series, one channel and one class");
    if (options->first > SIZE_MAX - options->count)
        return error_make("too many series");
    if (options->kind != GENERATE_PLANTED && options->length < 16)
        return error_make("series of %zu steps are too short: at least 16", options->length);
    if (options->kind == GENERATE_PLANTED && (options->pattern < 2 || options->shapelets == 0))
        return error_make("a class needs a shapelet of at least 2 steps");
    if (!(fabs(options->correlation) < 1))
        return error_make("a correlation of the noise must be between -1 and 1");
    return NULL;
}

struct error *generate_begin(const struct generate_options *options, struct planted_list *truth,
                             struct generator **generator, struct dataset *dataset)
{
    const bool planted = options->kind == GENERATE_PLANTED;
    const bool cbf = options->kind == GENERATE_CBF;
    struct error *error;

    memset(dataset, 0, sizeof *dataset);
    if (truth)
        memset(truth, 0, sizeof *truth);
    *generator = NULL;
    TRY(check_options(options));
    *generator = malloc(sizeof **generator);
    if (!*generator)
        return error_memory("the generator");
    **generator = (struct generator){
        .options = options,
        .classes = planted ? options->classes
                   : cbf   ? 3
                           : 4,
        .channels = planted ? options->channels : 1,
        .patterns = planted ? options->shapelets
                    : cbf   ? 1
                            : 2,
    };
    error = prepare(*generator, truth, dataset);
    if (error) {
        generate_end(*generator);
        *generator = NULL;
        dataset_free(dataset);
        if (truth)
            planted_free(truth);
    }
    return error;
}

void generate_end(struct generator *generator)
{
    if (!generator)
        return;
    free(generator->shapes);
    free(generator->values);
    free(generator->own);
    free(generator);
}

struct error *generate(const struct generate_options *options, struct dataset *dataset,
                       struct planted_list *truth)
{
    struct generator *generator;
    struct error *error;

    TRY(generate_begin(options, truth, &generator, dataset));
    error = dataset_hold(dataset);
    generate_end(generator);
    if (error)
        dataset_free(dataset);
    if (error && truth)
        planted_free(truth);
    return error;
}

void planted_free(struct planted_list *truth)
{
    free(truth->items);
    memset(truth, 0, sizeof *truth);
}
