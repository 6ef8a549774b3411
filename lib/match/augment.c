#include "match/augment.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double jitter = 0.1, scaling = 0.2, shortest_crop = 0.8;
enum { SHIFT_SHARE = 8, CUTOUT_SHARE = 4 };

struct error *augmentation_new(size_t channels, size_t length, struct augmentation *augmentation)
{
    struct augmentation *a = augmentation;

    *a = (struct augmentation){.channels = channels, .length = length};
    a->index = calloc(length, sizeof *a->index);
    a->first = calloc(length, sizeof *a->first);
    a->second = calloc(length, sizeof *a->second);
    a->gain = calloc(channels, sizeof *a->gain);
    a->noise = calloc(channels, length * sizeof *a->noise);
    if (!a->index || !a->first || !a->second || !a->gain || !a->noise) {
        augmentation_free(a);
        return error_memory("an augmentation");
    }
    augmentation_draw(a, AUGMENT_NONE, 0, NULL);
    return NULL;
}

void augmentation_free(struct augmentation *augmentation)
{
    free(augmentation->index);
    free(augmentation->first);
    free(augmentation->second);
    free(augmentation->gain);
    free(augmentation->noise);
    *augmentation = (struct augmentation){0};
}

static void make_identity(struct augmentation *a)
{
    for (size_t t = 0; t < a->length; t++) {
        a->index[t] = t;
        a->first[t] = 1;
        a->second[t] = 0;
    }
    for (size_t c = 0; c < a->channels; c++)
        a->gain[c] = 1;
    memset(a->noise, 0, a->channels * a->length * sizeof *a->noise);
}

/* out[t] is what is at `at` of the series, between two steps if need be, or zero outside. */
static void take_from(struct augmentation *a, size_t t, double at)
{
    double last = (double)(a->length - 1), whole = floor(at), part = at - whole;
    bool inside = at >= 0 && at <= last;

    a->index[t] = inside ? (size_t)whole : 0;
    a->first[t] = inside ? (float)(1 - part) : 0;
    a->second[t] = inside ? (float)part : 0;
}

static void draw_shift(struct augmentation *a, struct random_stream *stream)
{
    size_t most = a->length / SHIFT_SHARE;
    double shift = (double)random_below(stream, 2 * most + 1) - (double)most;

    for (size_t t = 0; t < a->length; t++)
        take_from(a, t, (double)t + shift);
}

static void draw_crop(struct augmentation *a, struct random_stream *stream)
{
    double last = (double)(a->length - 1);
    double share = shortest_crop + (1 - shortest_crop) * random_uniform(stream);
    double start = (1 - share) * last * random_uniform(stream);

    for (size_t t = 0; t < a->length; t++)
        take_from(a, t, fmin(start + share * (double)t, last));
}

static void draw_cutout(struct augmentation *a, struct random_stream *stream)
{
    size_t width = 1 + random_below(stream, a->length / CUTOUT_SHARE + 1);
    size_t start = random_below(stream, a->length);

    for (size_t t = start; t < start + width && t < a->length; t++)
        a->first[t] = 0;
}

void augmentation_draw(struct augmentation *augmentation, enum augmentation_kind kind, double unit,
                       struct random_stream *stream)
{
    struct augmentation *a = augmentation;

    make_identity(a);
    switch (kind) {
    case AUGMENT_JITTER:
        for (size_t i = 0; i < a->channels * a->length; i++)
            a->noise[i] = (float)(jitter * unit * random_normal(stream));
        break;
    case AUGMENT_SCALE:
        for (size_t c = 0; c < a->channels; c++)
            a->gain[c] = (float)exp(scaling * random_normal(stream));
        break;
    case AUGMENT_SHIFT:
        draw_shift(a, stream);
        break;
    case AUGMENT_CROP:
        draw_crop(a, stream);
        break;
    case AUGMENT_CUTOUT:
        draw_cutout(a, stream);
        break;
    case AUGMENT_FLIP:
        for (size_t t = 0; t < a->length; t++)
            a->index[t] = a->length - 1 - t;
        break;
    case AUGMENT_NONE:
        break;
    }
}

/* Where the second weight is zero there may be no second step. */
static size_t second_index(const struct augmentation *a, size_t t)
{
    return a->index[t] + (a->second[t] != 0);
}

void augmentation_apply(const struct augmentation *augmentation, size_t count, const float *x,
                        float *out)
{
    const struct augmentation *a = augmentation;

    for (size_t row = 0; row < count * a->channels; row++) {
        size_t c = row % a->channels;
        const float *from = x + row * a->length, *noise = a->noise + c * a->length;
        float *to = out + row * a->length;

        for (size_t t = 0; t < a->length; t++)
            to[t] = a->gain[c] * (a->first[t] * from[a->index[t]] +
                                  a->second[t] * from[second_index(a, t)]) +
                    noise[t];
    }
}

void augmentation_adjoint(const struct augmentation *augmentation, size_t count, const float *dout,
                          float *dx)
{
    const struct augmentation *a = augmentation;

    memset(dx, 0, count * a->channels * a->length * sizeof *dx);
    for (size_t row = 0; row < count * a->channels; row++) {
        const float *from = dout + row * a->length;
        float *to = dx + row * a->length, gain = a->gain[row % a->channels];

        for (size_t t = 0; t < a->length; t++) {
            to[a->index[t]] += gain * a->first[t] * from[t];
            to[second_index(a, t)] += gain * a->second[t] * from[t];
        }
    }
}
