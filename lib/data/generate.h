/* Generated datasets: problems whose answer is known.
 *
 * Series i is made from its own random stream, so it is the same whatever the number of series or
 * of threads, and datasets that start at different series of one seed are disjoint samples of the
 * same problem.  Noise is normal with the standard deviation `noise`; neighbouring steps correlate
 * by `correlation` (0: white).
 *
 * TwoPatterns (Geurts, "Contributions to decision tree induction", 2002).  Two steps of random
 * lengths l1, l2 in L/8..L/4 lie at random places t1 in 0..L-1-l1-l2 and t2 in t1+l1..L-1-l2.  A
 * step up is -5 for its first half (the longer one when the length is odd) and 5 for the second, a
 * step down the opposite; there is no noise within.  The class is the order: dd, ud, du, uu.  These
 * distributions are those of the published dataset of 5000 series, where L is 128.
 *
 * CBF (Saito, "Local feature extraction and its applications using a library of bases", 1994).
 * With a in L/8..L/4, b - a in L/4..3L/4 and h standard normal, on the steps a..b lies
 * (6 + h) times 1 (cylinder), (t - a)/(b - a) (bell) or (b - t)/(b - a) (funnel), plus noise.
 *
 * Planted.  Each class has its own `shapelets` smooth random shapes: sums of the first few cosines
 * of the shape's length, without mean, scaled to the root mean square `amplitude`.  Each has a
 * channel and a place; in a series of the class it is added to the noise of that channel at that
 * place, shifted by up to `jitter` steps.  The shapes of a class never overlap. */
#ifndef SC_DATA_GENERATE_H
#define SC_DATA_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"

enum generate_kind { GENERATE_TWO_PATTERNS, GENERATE_CBF, GENERATE_PLANTED };

struct generate_options {
    enum generate_kind kind;
    size_t count;       /* series */
    size_t first;       /* index of the first one */
    size_t length;      /* steps */
    double noise;       /* standard deviation */
    double correlation; /* of the noise between neighbouring steps, -1 < r < 1 */
    double imbalance;   /* share of the rarest class relative to the most frequent; at 1 classes
                         * take turns, else each series draws its class */
    uint64_t seed;
    /* Planted only. */
    size_t channels;
    size_t classes;
    size_t shapelets; /* of each class */
    size_t pattern;   /* steps of a shapelet */
    size_t jitter;    /* largest shift, either way */
    double amplitude;
};

struct generate_options generate_defaults(void);

/* Where a pattern lies: steps start..start+length-1 of that channel of that series. */
struct planted {
    size_t series; /* in the dataset, from 0 */
    size_t channel;
    size_t start;
    size_t length;
};

/* The patterns of all series, in order of series and time. */
struct planted_list {
    struct planted *items;
    size_t count;
};

/* Makes a dataset with labels and class names.  truth may be NULL; else the caller frees it with
 * planted_free. */
struct error *generate(const struct generate_options *options, struct dataset *dataset,
                       struct planted_list *truth) MUST_CHECK;

/* The same without holding the series: dataset_write makes them, fills in the labels and, if truth
 * is not NULL, the patterns.  options and truth must stay until then; generate_end comes last. */
struct generator;
struct error *generate_begin(const struct generate_options *options, struct planted_list *truth,
                             struct generator **generator, struct dataset *dataset) MUST_CHECK;
/* Safe on NULL. */
void generate_end(struct generator *generator);

void planted_free(struct planted_list *truth);

#endif
