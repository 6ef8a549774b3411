/* Compressed datasets of a given size: as many random series as fit (sc-quantise --step). */
#ifndef SC_PACK_H
#define SC_PACK_H

#include "formats/dataset.h"

struct pack_options {
    double step;   /* that values are rounded to, in standard deviations of their channel */
    double bytes;  /* for the series and their labels; 0: keep all series */
    uint64_t seed; /* of the random choice */
};

/* Keeps n random series of each class (all series of a class that has fewer), in the order of
 * `from`, with the largest n that fits, nearly.  Uses the transform of dataset_pack where that
 * takes fewer bytes for the same error. */
struct error *pack_make(const struct dataset *from, const struct pack_options *options,
                        struct dataset *packed) MUST_CHECK;

#endif
