/* As many series as fit into so many bytes, rounded and compressed (sc-quantise --step). */
#ifndef SC_PACK_H
#define SC_PACK_H

#include "formats/dataset.h"

struct pack_options {
    double step;   /* of the values, in deviations of their channel */
    double bytes;  /* that the series and their labels may take; 0: all series are kept */
    uint64_t seed; /* of the choice of series */
};

/* Random series of each class, as many of one as of the other as far as there are, in the order of
 * `from`.  The transform of dataset_pack is used where it is better, by bytes and errors. */
struct error *pack_make(const struct dataset *from, const struct pack_options *options,
                        struct dataset *packed) MUST_CHECK;

#endif
