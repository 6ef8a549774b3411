/* What the two ways to split share. */
#ifndef SC_DATA_SPLIT_INTERNAL_H
#define SC_DATA_SPLIT_INTERNAL_H

#include "data/split.h"

/* Says for every series which part it belongs to, SPLIT_PARTS for none, so that no group is in two
 * parts. */
struct error *split_by_group(const struct dataset *dataset, const struct split_options *options,
                             const size_t totals[SPLIT_PARTS], unsigned char *parts) MUST_CHECK;

#endif
