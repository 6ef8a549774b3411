/* The series that matching starts from (internal to match.c). */
#ifndef SC_MATCH_INITIAL_H
#define SC_MATCH_INITIAL_H

#include "match/match.h"

/* Fills x (V, per_class, C, L) as options->start says; *repeated as of choose/start.h. */
struct error *initial_series(const struct match_options *options, const struct dataset *dataset,
                             float *x, size_t *repeated) MUST_CHECK;

#endif
