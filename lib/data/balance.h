/* Oversampling: classes that have too few series get more of them.
 *
 * The dataset's own series come first, unchanged and in their order; then the new ones, class after
 * class.  A new series is a copy of a random one of its class, or lies at a random point of the
 * straight line between a random one and one of its nearest neighbours of the same class (SMOTE:
 * Chawla et al., "SMOTE: synthetic minority over-sampling technique", 2002).  Soft labels are
 * copied or interpolated in the same way.
 *
 * A class of one series has no neighbours, so it is copied.  A class without series stays empty. */
#ifndef SC_DATA_BALANCE_H
#define SC_DATA_BALANCE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/error.h"

enum { BALANCE_MOST_NEIGHBOURS = 64 };

enum balance_method { BALANCE_COPY, BALANCE_SMOTE };

struct balance_options {
    enum balance_method method;
    size_t target;     /* series that each class shall have at least; 0: as many as the largest */
    size_t neighbours; /* SMOTE: nearest neighbours to choose from, by Euclidean distance,
                        * 1 to BALANCE_MOST_NEIGHBOURS */
    uint64_t seed;
};

struct balance_options balance_defaults(void);

/* Makes a balanced dataset from a labelled one. */
struct error *balance(const struct dataset *dataset, const struct balance_options *options,
                      struct dataset *balanced) MUST_CHECK;

/* The same without holding the series: dataset_write makes them, from a dataset and options that
 * must stay until then; balance_end comes last. */
struct balancing;
struct error *balance_begin(const struct dataset *dataset, const struct balance_options *options,
                            struct balancing **balancing, struct dataset *balanced) MUST_CHECK;
/* Safe on NULL. */
void balance_end(struct balancing *balancing);

#endif
