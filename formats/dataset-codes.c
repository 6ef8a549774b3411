/* What is known of a code before it is read: the contexts in which the coder (coder.h) learns how
 * the codes of compressed series and of soft labels are distributed.  sc-dataset(5) lists them.
 *
 * Writing and reading walk in the same order: series i is in lane i % P, channel by channel, code
 * by code.
 *
 * Rows of codes without a transform: how the last values went on.  Coefficients of a wavelet
 * transform: the two before in the same band, those of the next coarser band above, and the same
 * coefficient of another channel; with the class of the series, its place.  Labels: the codes of
 * the classes before, and which class has the largest logit. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "formats/coder.h"
#include "formats/dataset-internal.h"

enum {
    SERIES_OF_LANE = 16, /* at least */
    ROWS_OF_LANE = 100,
    MOST_LABEL_LANES = 32,
    SAMPLE = 300,  /* series by which channels are compared */
    FARTHEST = 32, /* channels between one and the one that predicts it */
    MOST_RUN = 15,
};

/* Magnitudes in classes 0 to 7. */
static int32_t rough(int32_t magnitude)
{
    static const int32_t bounds[] = {1, 2, 3, 5, 8, 14, 30};
    int32_t class = 0;

    while (class < 7 && magnitude >= bounds[class])
        class ++;
    return class;
}

/* ---- Series ---- */

/* The place of a coefficient among the others. */
struct place {
    int32_t
        band; /* 0: what is left of the series after all levels, 1: the coarsest differences ... */
    size_t before; /* coefficients of its band before it */
    size_t above;  /* the one of the next coarser band over it; band 0: none */
};

struct walk {
    const struct dataset *dataset;
    struct coder *coder;
    size_t ends[PACKED_MOST_LEVELS + 1]; /* of the bands of a row, with a transform */
    const uint8_t *references; /* channels from each to the one before that predicts it; 0: none */
    bool classes;              /* are known */
    size_t lanes;
    /* Of each lane, without a transform: how long the last value has stayed, and what was before. */
    int32_t run[CODER_MOST_LANES], last_other[CODER_MOST_LANES];
};

static size_t lanes_for(size_t count, size_t each, size_t most)
{
    size_t lanes = count / each;

    return lanes < 1 ? 1 : size_min(lanes, most);
}

/* Bands of a row: the lengths of what is left after each level are length, (length + 1) / 2, ... */
static void find_ends(struct walk *walk)
{
    const size_t levels = walk->dataset->packed.levels;

    for (size_t i = 0, end = walk->dataset->length; i <= levels; i++, end = (end + 1) / 2)
        walk->ends[levels - i] = end;
}

static size_t band_of(const struct walk *walk, size_t t)
{
    size_t band = 0;

    while (t >= walk->ends[band])
        band++;
    return band;
}

static struct place place_of(const struct walk *walk, size_t t)
{
    const size_t band = band_of(walk, t);
    struct place place = {.band = (int32_t)band, .before = t};
    size_t above, size;

    if (band == 0)
        return place;
    place.before = t - walk->ends[band - 1];
    above = band == 1 ? 0 : walk->ends[band - 2]; /* where the coarser band begins, and its size */
    size = walk->ends[band - 1] - above;
    place.above = above + size_min(band == 1 ? place.before : place.before / 2, size - 1);
    return place;
}

static int16_t *row_of(const struct walk *walk, size_t series, size_t channel)
{
    const struct dataset *dataset = walk->dataset;

    return dataset->packed.codes + (series * dataset->channels + channel) * dataset->length;
}

static int32_t class_of(const struct walk *walk, size_t series)
{
    return walk->classes ? walk->dataset->y[series] : 0;
}

/* The row of the channel that predicts this one, or NULL. */
static const int16_t *reference_of(const struct walk *walk, size_t series, size_t channel)
{
    size_t distance = walk->references[channel];

    return distance ? row_of(walk, series, channel - distance) : NULL;
}

enum word {
    WHERE,
    NEAR,
    ABOVE,
    TIME,
    ROUGH,
    LAST,
    LAST_BUT_ONE,
    REFERENCE,
    PLACE,
    CLASS,
    CHANGE,
    CHANGE_BEFORE,
};

#define W(word, number) coder_word(word, number)

static void coefficient_contexts(struct walk *walk, size_t lane, size_t series, size_t channel,
                                 size_t t)
{
    const int16_t *row = row_of(walk, series, channel);
    const int16_t *reference = reference_of(walk, series, channel);
    const struct place place = place_of(walk, t);
    const int32_t last = place.before > 0 ? row[t - 1] : 0;
    const int32_t last_but_one = place.before > 1 ? row[t - 2] : 0;
    const int32_t above = place.band > 0 ? abs(row[place.above]) : 0;
    const size_t next = place.above + 1;
    int32_t near = 2 * abs(last) + abs(last_but_one);
    uint32_t *context = coder_contexts(walk->coder, lane), where, at;

    if (place.band > 1) {
        near += above;
        if (next < walk->ends[place.band - 1])
            near += abs(row[next]) / 2;
    }
    near = rough(near);
    where = W(WHERE, (int32_t)(8 * channel) + place.band);
    at =
        W(PLACE, (int32_t)(channel * walk->dataset->length + t)) + W(CLASS, class_of(walk, series));
    context[0] = where + W(NEAR, near) + W(ABOVE, rough(above));
    context[1] = W(TIME, (int32_t)t) + W(ROUGH, rough(abs(last))) + W(ABOVE, rough(above));
    context[2] = where + W(LAST, last) + W(LAST_BUT_ONE, last_but_one);
    context[3] = where + W(NEAR, near) + W(REFERENCE, reference ? reference[t] : 0);
    context[4] = at;
    context[5] = at + W(NEAR, near);
    coder_set(walk->coder, lane, (unsigned)near);
}

static void value_contexts(struct walk *walk, size_t lane, size_t series, size_t channel, size_t t)
{
    const int16_t *row = row_of(walk, series, channel);
    const int16_t *reference = reference_of(walk, series, channel);
    const int32_t last = t > 0 ? row[t - 1] : 0, second = t > 1 ? row[t - 2] : 0;
    const int32_t third = t > 2 ? row[t - 3] : 0, fourth = t > 3 ? row[t - 4] : 0;
    const int32_t change = reference ? reference[t] - (t > 0 ? reference[t - 1] : 0) : 0;
    const int32_t run = walk->run[lane], class = class_of(walk, series);
    const uint32_t where = W(WHERE, (int32_t)channel) + W(LAST, last);
    uint32_t *context = coder_contexts(walk->coder, lane);

    context[0] = where + W(NEAR, walk->last_other[lane]) + W(ROUGH, run);
    context[1] = where + W(LAST_BUT_ONE, second);
    context[2] = where + W(LAST_BUT_ONE, second) + W(TIME, third) + W(ABOVE, fourth);
    context[3] =
        W(WHERE, (int32_t)channel) + W(CHANGE, last - second) + W(CHANGE_BEFORE, second - third);
    context[4] = where + W(CLASS, class) + W(REFERENCE, change);
    context[5] =
        W(PLACE, (int32_t)(channel * walk->dataset->length + t)) + W(LAST, last) + W(CLASS, class);
    context[6] = where + W(ROUGH, run) + W(CLASS, class);
    coder_set(walk->coder, lane, (unsigned)(run < 7 ? run : 7));
}

/* What the next value of the lane needs to know of this one. */
static void follow(struct walk *walk, size_t lane, int32_t last, int32_t value, size_t t)
{
    if (t == 0) {
        walk->run[lane] = 0;
        walk->last_other[lane] = 0;
    } else if (value != last) {
        walk->run[lane] = 0;
        walk->last_other[lane] = last;
    } else if (walk->run[lane] < MOST_RUN) {
        walk->run[lane]++;
    }
}

/* Step t of one channel in all lanes; first: the series of the first lane. */
static struct error *walk_step(struct walk *walk, size_t first, size_t count, size_t channel,
                               size_t t)
{
    const struct dataset *dataset = walk->dataset;
    const bool transform = dataset->packed.levels > 0;
    int32_t numbers[CODER_MOST_LANES];

    for (size_t lane = 0; lane < count; lane++) {
        const int16_t *row = row_of(walk, first + lane, channel);

        if (t == 0)
            walk->run[lane] = walk->last_other[lane] = 0;
        (transform ? coefficient_contexts : value_contexts)(walk, lane, first + lane, channel, t);
        numbers[lane] = row[t] - (transform || t == 0 ? 0 : row[t - 1]);
    }
    TRY(coder_numbers(walk->coder, count, numbers));
    for (size_t lane = 0; lane < count; lane++) {
        int16_t *row = row_of(walk, first + lane, channel);
        int32_t last = t > 0 ? row[t - 1] : 0, code = numbers[lane] + (transform ? 0 : last);

        if (abs(code) > PACKED_MOST_CODE)
            return error_make("a code is %d", code);
        row[t] = (int16_t)code;
        follow(walk, lane, last, code, t);
    }
    return NULL;
}

static struct error *walk_series(struct walk *walk)
{
    const struct dataset *dataset = walk->dataset;

    for (size_t first = 0; first < dataset->count; first += walk->lanes)
        for (size_t c = 0; c < dataset->channels; c++)
            for (size_t t = 0; t < dataset->length; t++)
                TRY(walk_step(walk, first, size_min(walk->lanes, dataset->count - first), c, t));
    return NULL;
}

/* The correlation of two channels of some series, but for their lowest band. */
static double agreement(const struct walk *walk, size_t a, size_t b)
{
    const struct dataset *dataset = walk->dataset;
    size_t begin = 0;
    double both = 0, of_a = 1e-9, of_b = 1e-9;

    if (dataset->packed.levels)
        begin = walk->ends[0];
    for (size_t i = 0; i < size_min(dataset->count, SAMPLE); i++) {
        const int16_t *row_a = row_of(walk, i, a), *row_b = row_of(walk, i, b);

        for (size_t t = begin; t < dataset->length; t++) {
            both += (double)row_a[t] * row_b[t];
            of_a += (double)row_a[t] * row_a[t];
            of_b += (double)row_b[t] * row_b[t];
        }
    }
    return both * both / (of_a * of_b);
}

/* For each channel the one before it that is most like it. */
static void choose_references(const struct walk *walk, uint8_t *references)
{
    for (size_t c = 0; c < walk->dataset->channels; c++) {
        double best = 0;

        references[c] = 0;
        for (size_t distance = 1; distance <= size_min(c, FARTHEST); distance++) {
            double found = agreement(walk, c, c - distance);

            if (found > best) {
                best = found;
                references[c] = (uint8_t)distance;
            }
        }
    }
}

static struct error *check_references(const struct dataset *dataset, const uint8_t *references,
                                      size_t size)
{
    if (size < dataset->channels)
        return error_make("%zu bytes are too few", size);
    for (size_t c = 0; c < dataset->channels; c++)
        if (references[c] > c)
            return error_make("channel %zu follows channel %zu before the first", c,
                              (size_t)references[c] - c);
    return NULL;
}

static void start_walk(struct walk *walk, const struct dataset *dataset, bool classes)
{
    memset(walk, 0, sizeof *walk);
    walk->dataset = dataset;
    walk->classes = classes;
    walk->lanes = lanes_for(dataset->count, SERIES_OF_LANE, CODER_MOST_LANES);
    if (dataset->packed.levels)
        find_ends(walk);
}

enum { INPUTS_OF_VALUES = 7, INPUTS_OF_COEFFICIENTS = 6, INPUTS_OF_LABELS = 6 };

static size_t inputs_of(const struct dataset *dataset)
{
    return dataset->packed.levels ? INPUTS_OF_COEFFICIENTS : INPUTS_OF_VALUES;
}

struct error *codes_write_series(const struct dataset *dataset, uint8_t **bytes, size_t *size)
{
    struct walk walk;
    uint8_t *references = malloc(dataset->channels), *coded = NULL;
    struct error *error = references ? NULL : error_memory("codes of series");

    *bytes = NULL;
    start_walk(&walk, dataset, dataset->y != NULL);
    if (!error) {
        choose_references(&walk, references);
        walk.references = references;
        error = coder_new(walk.lanes, inputs_of(dataset), NULL, 0, &walk.coder);
    }
    if (!error)
        error = walk_series(&walk);
    if (!error)
        error = coder_finish(walk.coder, &coded, size);
    if (!error && !(*bytes = malloc(dataset->channels + *size)))
        error = error_memory("codes of series");
    if (!error) {
        memcpy(*bytes, references, dataset->channels);
        memcpy(*bytes + dataset->channels, coded, *size);
        *size += dataset->channels;
    }
    coder_free(walk.coder);
    free(coded);
    free(references);
    return error;
}

struct error *codes_read_series(struct dataset *dataset, bool classes, const uint8_t *bytes,
                                size_t size)
{
    const size_t channels = dataset->channels;
    struct error *error;
    struct walk walk;

    TRY(check_references(dataset, bytes, size));
    start_walk(&walk, dataset, classes);
    walk.references = bytes;
    error =
        coder_new(walk.lanes, inputs_of(dataset), bytes + channels, size - channels, &walk.coder);
    if (!error)
        error = walk_series(&walk);
    if (!error)
        error = coder_finish(walk.coder, NULL, NULL);
    coder_free(walk.coder);
    return error;
}

/* ---- Soft labels ---- */

/* What is known of a row of codes when its first v codes are. */
struct known {
    int32_t sum, least, top, second, least_second, last, last_but_one;
};

enum { NO_CODE = 16 }; /* codes here have 4 bits: the upper ones of 8 */

/* top: the class of the largest logit, whose code is 0, as far as that is known; second: the one of
 * the smallest code so far but for that. */
static void learn(struct known *known, int32_t code, int32_t class, bool own)
{
    known->sum += code;
    known->least = code < known->least ? code : known->least;
    known->last_but_one = known->last;
    known->last = code;
    if (!own && code == 0 && known->top < 0) {
        known->top = class;
    } else if (class != known->top && code < known->least_second) {
        known->least_second = code;
        known->second = class;
    }
}

static void label_contexts(struct coder *coder, size_t lane, const struct known *known,
                           int32_t class, bool own)
{
    const int32_t mean = class > 0 ? 2 * known->sum / class : 2 * NO_CODE;
    const uint32_t of = W(TIME, class) + W(CLASS, known->top + 1);
    uint32_t *context = coder_contexts(coder, lane);

    context[0] = of + W(WHERE, own);
    context[1] = of + W(NEAR, known->least);
    context[2] = W(TIME, class) + W(LAST, known->last) + W(LAST_BUT_ONE, known->last_but_one);
    context[3] = of + W(ROUGH, mean);
    context[4] = W(ROUGH, mean) + W(LAST, known->last) + W(NEAR, known->least);
    context[5] = of + W(ABOVE, known->second + 1) + W(REFERENCE, known->least_second);
    coder_set(coder, lane, (unsigned)((known->top >= 0) + 2 * (known->least == 0)));
}

/* Reads the code of a class from a row, or writes it there. */
static int32_t code_at(const uint8_t *row, size_t class, unsigned bits)
{
    return bits == 4 ? row[class / 2] >> (class % 2 * 4) & 15 : row[class];
}

static void set_code(uint8_t *row, size_t class, unsigned bits, int32_t code)
{
    if (bits == 4)
        row[class / 2] = (uint8_t)(row[class / 2] | code << (class % 2 * 4));
    else
        row[class] = (uint8_t)code;
}

static struct error *walk_rows(struct coder *coder, const struct label_codes *codes, size_t first,
                               size_t count)
{
    const size_t row = views_row(codes->classes, codes->bits);
    struct known known[CODER_MOST_LANES];
    int32_t numbers[CODER_MOST_LANES];

    for (size_t lane = 0; lane < count; lane++) {
        bool own = first + lane < codes->series;

        known[lane] = (struct known){.least = NO_CODE,
                                     .top = own ? codes->y[first + lane] : -1,
                                     .second = -1,
                                     .least_second = NO_CODE,
                                     .last = NO_CODE,
                                     .last_but_one = NO_CODE};
    }
    for (size_t v = 0; v < codes->classes; v++) {
        for (size_t lane = 0; lane < count; lane++) {
            label_contexts(coder, lane, &known[lane], (int32_t)v, first + lane < codes->series);
            numbers[lane] = code_at(codes->rows + (first + lane) * row, v, codes->bits);
        }
        TRY(coder_codes(coder, count, codes->bits, numbers));
        for (size_t lane = 0; lane < count; lane++) {
            set_code(codes->rows + (first + lane) * row, v, codes->bits, numbers[lane]);
            learn(&known[lane], numbers[lane] >> (codes->bits - 4), (int32_t)v,
                  first + lane < codes->series);
        }
    }
    return NULL;
}

static struct error *walk_labels(const struct label_codes *codes, const uint8_t *from,
                                 size_t from_size, uint8_t **bytes, size_t *size)
{
    const size_t lanes = lanes_for(codes->count, ROWS_OF_LANE, MOST_LABEL_LANES);
    struct coder *coder = NULL;
    struct error *error = coder_new(lanes, INPUTS_OF_LABELS, from, from_size, &coder);

    for (size_t first = 0; !error && first < codes->count; first += lanes)
        error = walk_rows(coder, codes, first, size_min(lanes, codes->count - first));
    if (!error)
        error = coder_finish(coder, bytes, size);
    coder_free(coder);
    return error;
}

struct error *codes_write_labels(const struct label_codes *codes, uint8_t **bytes, size_t *size)
{
    return walk_labels(codes, NULL, 0, bytes, size);
}

struct error *codes_read_labels(const struct label_codes *codes, const uint8_t *bytes, size_t size)
{
    return walk_labels(codes, bytes, size, NULL, NULL);
}
