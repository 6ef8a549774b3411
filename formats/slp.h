/* Shapelet pools: .slp files (slp(5)).  All numbers are little-endian.
 *
 *     0  magic      8 bytes   89 53 4c 50 0d 0a 1a 0a  ("\x89SLP\r\n\x1a\n")
 *     8  version    u32       1
 *    12  flags      u32       bit 0: distances are divided by the square root of the length
 *                             bit 1: there are offsets and scales
 *    16  count      u32       K, shapelets
 *    20  channels   u32       C of the series that the pool was made from
 *    24  steps      u32       L of those series
 *    28  classes    u32       V
 *    32  values     u64       sum of the lengths
 *    40  notes      u32       bytes of provenance text
 *    44  quality    u32       measure of the records (SLP_QUALITIES), 0: information gain
 *    48  records    K times 40 bytes:
 *            channel u32, start u32, length u32, class i32 (-1: none), window u32
 *            (0xffffffff: full scan), reserved u32, source u64, quality f32, threshold f32
 *        values     f32 each, shapelet after shapelet
 *        scaling    with bit 1, K times 8 bytes: offset f32, scale f32
 *        notes      UTF-8
 *        checksum   u32       CRC-32 (as zlib's) of all bytes before it */
#ifndef SC_SLP_H
#define SC_SLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/error.h"

#define SLP_WINDOW_FULL UINT32_MAX

/* The measures of quality, in the order of their numbers in files: add at the end.  What they
 * compute is in shapelets/quality.h; a row here needs a quality_X there. */
#define SLP_QUALITIES(row)                                                                         \
    row(gain, "gain") row(f, "f") row(kruskal_wallis, "kruskal-wallis") row(mood, "mood")

/* Their names: "gain", ...; ends with NULL. */
extern const char *const slp_quality_names[];

struct shapelet {
    const float *values; /* length of them, inside the pool's block */
    uint32_t channel;
    uint32_t start;  /* where it was cut out of its source */
    uint32_t length; /* steps */
    int32_t label; /* class of its source (one against the rest: the class it tells), -1 unknown */
    uint32_t window; /* half width of the search around start, or SLP_WINDOW_FULL */
    uint64_t source; /* index of its series in the dataset that was searched */
    float quality;   /* by the measure of the pool */
    float threshold; /* the distance of the split with the largest information gain */
    /* Where the pool is standardised, networks get (distance - offset) * scale. */
    float offset, scale;
};

struct shapelet_pool {
    size_t count;
    size_t channels; /* C, L, V of the dataset it was found in */
    size_t steps;
    size_t classes;
    size_t quality;         /* the measure: a number of SLP_QUALITIES */
    bool length_normalised; /* distances are divided by sqrt(length) */
    bool standardised;      /* the shapelets have an offset and a scale */
    struct shapelet *shapelets;
    float *values;            /* all values, one block */
    char *notes;              /* provenance, or NULL */
    char digest[DIGEST_TEXT]; /* of the file it was read from, else "" */
};

/* Reads a file, or standard input for "-".  Checks everything: lengths, ranges, checksum. */
struct error *slp_read(const char *path, struct shapelet_pool *pool) MUST_CHECK;
struct error *slp_read_memory(const void *bytes, size_t size,
                              struct shapelet_pool *pool) MUST_CHECK;
struct error *slp_write(FILE *stream, const struct shapelet_pool *pool) MUST_CHECK;

/* A pool with room for count shapelets and values values; the caller fills it in, pointing each
 * shapelet's values into pool->values, in order. */
struct error *slp_new(size_t count, size_t values, struct shapelet_pool *pool) MUST_CHECK;

/* Safe on a pool that is all zeros, and more than once. */
void slp_free(struct shapelet_pool *pool);

#endif
