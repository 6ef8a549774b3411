/* Dataset files: labelled series as NPY arrays one after another (sc-dataset(5)).
 *
 *     X     (N, C, L)  numbers         the series; (N, L) is read as one channel
 *     levels (2, N, C, 1) float32      optional: X holds codes of few bits, from low in steps
 *     packing (2,)     float64         with `levels`: bits of a code, L
 *     or X (B,) bytes, packing (6,), levels (2, 1, C, 1): X is compressed
 *     y     (N,)       integers        classes 0..V-1
 *     groups (N,)      integers        optional: who or what a series is from, a second such array
 *     soft  (N, V)     floats          optional: teacher logits
 *     names (V,)       unicode         optional: class names
 *     notes ()         unicode         optional: provenance, one line for each stage
 *     views (13,)      float64         optional: how M views are made from the series
 *     codes (1, B)     bytes           with `views`: their labels, coded
 *
 * The arrays that follow X are recognised by type and shape, so that any of them may be missing. */
#ifndef SC_DATASET_H
#define SC_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/error.h"
#include "formats/npy-c/npy-c.h"

/* How views are made from the series of a dataset (sc-dataset(5); the arithmetic is in lib/views).
 */
struct view_recipe {
    uint64_t seed; /* below 2^53 */
    double shift;  /* circular, by up to this share of L, 0 to 0.5 */
    double crop;   /* up to this share of a series is cut off and the rest stretched, 0 to 0.9 */
    double warp;   /* a quarter of a series gets longer or shorter by up to this share, 0 to 0.5 */
    double gain;   /* channels are scaled by up to 1 - gain to 1 + gain, 0 to 1 */
    double mix;    /* probability that a second series is mixed in, channel by channel */
    double cut;    /* probability that a segment of a third replaces that of the first */
};

/* Labelled views: a recipe, and the logits of a teacher for each view.  A view's largest logit is
 * 0, the others are -step times a code.  Soft labels of the series are stored in the same way. */
struct dataset_views {
    size_t count; /* M; 0: none */
    struct view_recipe recipe;
    unsigned bits; /* of a code: 8, or 4, two in a byte, the first in the lower half */
    double step;
    uint32_t checksum;  /* of the codes, as the file says */
    bool labels_series; /* the file has codes of the series as well, before those of the views */
    size_t coded_rows;  /* of bytes that must still be decoded, while a file is read */
    uint8_t *codes;     /* (M, views_row(V, bits)) */
    struct npy_array storage; /* what codes live in */
};

/* Series that are stored in few bits: a value is low + step * code, with a low and a step for each
 * channel of each series.  x always holds the values themselves. */
struct dataset_levels {
    unsigned bits;            /* of a code: 8, or 4, two in a byte; 0: X is stored as float32 */
    float *low, *step;        /* (N, C) each */
    struct npy_array storage; /* what both live in */
};

/* Compressed series: a value is low + step * w, with a low and a step for each channel, where w is
 * a code or an element of the inverse wavelet transform of codes.  x always holds the values. */
struct dataset_packed {
    int16_t *codes;           /* (N, C, L), or NULL: X is not compressed */
    size_t levels;            /* of the transform; 0: none */
    float *low, *step;        /* (C,) each */
    struct npy_array storage; /* what both live in */
    struct npy_array stream;  /* the coded codes, while a file is read */
    bool classes;             /* were known when they were coded */
};

/* Makes series first..first+count-1, in that order, for a dataset that is written without being
 * held in memory. */
typedef struct error *dataset_maker(void *context, size_t first, size_t count, float *x);

struct dataset {
    size_t count;    /* N: series */
    size_t channels; /* C */
    size_t length;   /* L: steps */
    size_t classes;  /* V; 0 without labels */
    float *x;        /* (N, C, L); NULL: the series are made when they are written */
    int32_t *y;      /* (N,), or NULL */
    int32_t *groups; /* (N,): who or what each series is from, numbers from 0, or NULL */
    float *soft;     /* (N, V) logits, or NULL */
    char **names;    /* V class names in UTF-8, in one block as npy_strings makes it, or NULL */
    char *notes;     /* provenance, or NULL */
    bool flat;       /* X is written as (N, L): features, not series */
    struct dataset_views views;
    struct dataset_levels levels;
    struct dataset_packed packed;
    size_t dropped_views; /* that the file has, but the caller did not ask for */

    dataset_maker *make; /* where there is no x, with its context */
    void *context;
    const struct dataset *picked_from; /* where there is no x and no make: what dataset_pick got */
    const size_t *picked;
    bool reread; /* x is in a mapped file, as it was read */

    char digest[DIGEST_TEXT];       /* of the file it was read from, else "" */
    char label_digest[DIGEST_TEXT]; /* of the file of labels, if they had one of their own */
    struct npy_array storage[4];    /* what x, y, soft and groups live in */
    void *scratch;                  /* or x, if it is large (scratch.h) */
};

/* More classes than this are a mistake in the labels, not a classification problem. */
enum { DATASET_MOST_CLASSES = 1 << 20 };

enum dataset_flags {
    DATASET_LABELLED = 1,  /* y must be there, with every label in 0..V-1 */
    DATASET_ALLOW_NAN = 2, /* otherwise a value that is not finite is an error */
    DATASET_VIEWS = 4,     /* keep views and few-bit storage; otherwise both are dropped, and views
                              counted */
};

/* Reads a file, or standard input for "-".  labels, if not NULL, names a file that holds y alone
 * (then the first file may hold X alone).  Errors name the file. */
struct error *dataset_read(const char *path, const char *labels, unsigned flags,
                           struct dataset *dataset) MUST_CHECK;

/* Same from memory, which must stay as long as the dataset.  Errors name no file. */
struct error *dataset_read_memory(const void *bytes, size_t size, unsigned flags,
                                  struct dataset *dataset) MUST_CHECK;

/* A dataset of that shape, x and y all zeros; soft labels when asked for.  A large x lives in a
 * file (scratch.h). */
struct error *dataset_new(size_t count, size_t channels, size_t length, size_t classes, bool soft,
                          struct dataset *dataset) MUST_CHECK;

/* Groups of their own, all 0. */
struct error *dataset_add_groups(struct dataset *dataset) MUST_CHECK;

/* Soft labels of their own, all 0. */
struct error *dataset_add_soft(struct dataset *dataset) MUST_CHECK;

/* The series whose indices are given, in that order, with labels, groups, soft labels, names and
 * notes, but without views, which are made from all of the series. */
struct error *dataset_take(const struct dataset *from, const size_t *indices, size_t count,
                           struct dataset *taken) MUST_CHECK;

/* The same, to be written and for nothing else: series and soft labels stay where they are until
 * then, as must `from` and the indices. */
struct error *dataset_pick(const struct dataset *from, const size_t *indices, size_t count,
                           struct dataset *picked) MUST_CHECK;

/* A dataset of that shape without x, whose labels are all zeros: dataset_write asks `make` for the
 * series, and reads the labels after the last of them has been made. */
struct error *dataset_new_made(size_t count, size_t channels, size_t length, size_t classes,
                               dataset_maker *make, void *context,
                               struct dataset *dataset) MUST_CHECK;

/* Makes the series of such a dataset now, all of them. */
struct error *dataset_hold(struct dataset *dataset) MUST_CHECK;

/* Says that the series before this one are not needed now, and which come next.  For walks over a
 * mapped file that may be larger than the memory. */
void dataset_passed(const struct dataset *dataset, size_t first);

/* Has this series of a large file that is mapped read ahead. */
void dataset_needs(const struct dataset *dataset, size_t index);

/* A walk over all series in order, in ranges of a multiple of `step` series (about 16 MB), that
 * keeps only about that much of a mapped file in memory.
 *
 *     struct dataset_walk walk = {.step = 256};
 *     while (dataset_walk(dataset, &walk))
 *         ... series walk.first to walk.first + walk.count - 1
 */
struct dataset_walk {
    size_t step;
    size_t first, count; /* all 0 before the first call */
};
bool dataset_walk(const struct dataset *dataset, struct dataset_walk *walk);

/* Gives the dataset these soft labels (N, V), which are copied, in place of those it has. */
struct error *dataset_set_soft(struct dataset *dataset, const float *logits) MUST_CHECK;

/* Views of their own, with codes that are all zeros; the caller fills in recipe and step. */
struct error *dataset_new_views(struct dataset *dataset, size_t count, unsigned bits) MUST_CHECK;

/* Stores the series in few bits (8 or 4) from now on: every value becomes the nearest of 2^bits
 * levels between the smallest and the largest of its channel in its series. */
struct error *dataset_quantise(struct dataset *dataset, unsigned bits) MUST_CHECK;

/* Rounds the series to multiples of `step` standard deviations of each channel, and stores them
 * compressed from now on.  transform: wavelet coefficients are rounded instead of values, which
 * takes fewer bytes for smooth series.  *error, if not NULL, is the mean squared error in squared
 * steps. */
struct error *dataset_pack(struct dataset *dataset, double step, bool transform,
                           double *error) MUST_CHECK;

/* Bytes of such series, compressed. */
struct error *dataset_packed_size(const struct dataset *dataset, size_t *size) MUST_CHECK;

/* Bytes of the codes of the first `count` views, with those of the series if these have soft
 * labels. */
struct error *dataset_codes_size(const struct dataset *dataset, size_t count,
                                 size_t *size) MUST_CHECK;

/* Bytes that a file has for series, labels, groups, soft labels and the first `views` views: all
 * but headers, names and notes. */
struct error *dataset_content_size(const struct dataset *dataset, size_t views,
                                   size_t *size) MUST_CHECK;

/* Whether series are stored in few bits or compressed. */
static inline bool dataset_is_rounded(const struct dataset *dataset)
{
    return dataset->levels.bits || dataset->packed.codes;
}

/* The series are stored as float32 from now on. */
void dataset_unround(struct dataset *dataset);

/* x = factor x + offset for one channel of series that are stored in few bits or compressed; their
 * codes stay as they are. */
struct error *dataset_move_levels(struct dataset *dataset, size_t channel, double factor,
                                  double offset) MUST_CHECK;

/* Bytes of the codes of one view. */
static inline size_t views_row(size_t classes, unsigned bits)
{
    return bits == 4 ? (classes + 1) / 2 : classes;
}

/* Rounds logits to the codes of one view. */
void views_encode(const float *logits, size_t classes, unsigned bits, double step, uint8_t *row);
/* The logits that the codes of one view stand for. */
void views_decode(const uint8_t *row, size_t classes, unsigned bits, double step, float *logits);

/* The message of the NPY library, and whether memory was the reason. */
struct error *dataset_npy_error(const struct npy_error *error) MUST_CHECK;

/* Class names, where the array is a row of texts, or notes, where it is a single one; malloc'ed,
 * the names in one block as npy_strings makes it.  The others stay as they are. */
struct error *dataset_take_texts(const struct npy_array *array, char ***names, size_t *count,
                                 char **notes) MUST_CHECK;

/* Copies class names and notes. */
struct error *dataset_copy_texts(const struct dataset *from, struct dataset *to) MUST_CHECK;

/* How many series each class has, into counts[V]. */
void dataset_class_counts(const struct dataset *dataset, size_t *counts);

/* Values of one series. */
static inline size_t dataset_series_size(const struct dataset *dataset)
{
    return dataset->channels * dataset->length;
}

/* The start of channel c of series i. */
static inline float *dataset_series(const struct dataset *dataset, size_t i, size_t c)
{
    return dataset->x + (i * dataset->channels + c) * dataset->length;
}

/* Writes the arrays that are there to a stream. */
struct error *dataset_write(FILE *stream, const struct dataset *dataset) MUST_CHECK;

/* Safe on a dataset that is all zeros, and more than once. */
void dataset_free(struct dataset *dataset);

#endif
