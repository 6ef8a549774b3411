/* Range, mean and deviation of many numbers, fed in bit by bit.  Numbers that are not finite are
 * counted and left out of everything else. */
#ifndef SC_DATA_SUMMARY_H
#define SC_DATA_SUMMARY_H

#include <stddef.h>

struct summary {
    size_t count; /* finite numbers */
    size_t nans;
    size_t infinities;
    double least, greatest; /* meaningless while count is 0, like mean and squares */
    double mean;
    double squares; /* sum of the squared distances from the mean */
};

/* An empty summary is all zeros. */
void summary_add(struct summary *summary, const float *values, size_t count);
void summary_add_doubles(struct summary *summary, const double *values, size_t count);
/* Adds what another has seen. */
void summary_merge(struct summary *summary, const struct summary *other);
/* Of the population; NaN without numbers. */
double summary_deviation(const struct summary *summary);

#endif
