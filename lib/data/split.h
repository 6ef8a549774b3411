/* Splitting a labelled dataset into train, validation and test so that every class keeps its share.
 *
 * The size of a part is a fraction of the dataset, a number of series, or the rest.  Fractions
 * become numbers by largest remainder, so that parts that add up to 1 use every series.  Each class
 * is then divided in the proportions of the parts: first by largest remainder within the class,
 * then, where the sums over classes miss the sizes of the parts, by moving series from one part to
 * another in the classes that come closest to their exact share by it.  So the parts have exactly
 * the sizes asked for, and a class is at most about one series away from its share.
 *
 * The exception: a class that has fewer series than there are parts goes to train first: no class
 * is missing from train as long as train has room for one series of each. */
#ifndef SC_DATA_SPLIT_H
#define SC_DATA_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"

enum split_part { SPLIT_TRAIN, SPLIT_VAL, SPLIT_TEST, SPLIT_PARTS };

/* "train", "val", "test" */
extern const char *const split_part_names[SPLIT_PARTS];

struct split_size {
    enum { SPLIT_NONE, SPLIT_FRACTION, SPLIT_COUNT, SPLIT_REST } unit;
    double fraction;
    size_t count;
};

struct split_options {
    struct split_size sizes[SPLIT_PARTS]; /* SPLIT_NONE: there is no such part */
    bool by_group; /* all series of a group go to one part; sizes are then approximate */
    bool in_order; /* the first series of each class go to train, and so on; else at random */
    uint64_t seed;
};

struct split {
    size_t *indices[SPLIT_PARTS]; /* the series of each part, in the order of the dataset */
    size_t counts[SPLIT_PARTS];
};

/* Reads "0.25" as a fraction, "300" as a number of series, "rest" as what the others leave. */
struct error *split_parse_size(const char *text, struct split_size *size) MUST_CHECK;

/* How many series each part gets, for a dataset of `count`. */
struct error *split_totals(const struct split_options *options, size_t count,
                           size_t totals[SPLIT_PARTS]) MUST_CHECK;

/* Divides classes of the given sizes into parts of the given sizes: shares (classes,
 * SPLIT_PARTS).  The totals may be less than all series together. */
struct error *split_shares(const size_t *class_counts, size_t classes,
                           const size_t totals[SPLIT_PARTS], size_t *shares) MUST_CHECK;

/* Divides a labelled dataset.  The caller ends with split_free. */
struct error *split_make(const struct dataset *dataset, const struct split_options *options,
                         struct split *split) MUST_CHECK;

/* Safe on a split that is all zeros, and more than once. */
void split_free(struct split *split);

#endif
