/* Random walks with the shape of a dataset: the control for condensed series.  What students learn
 * from labelled views of walks comes from the labels, not from the series. */
#ifndef SC_DATA_WALKS_H
#define SC_DATA_WALKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/dataset.h"

/* `per_class` series for each class of `like`, class by class, with its channels, length and class
 * names.  Every channel of a series is a sum of normal steps, shifted and scaled to the mean and
 * deviation that the channel has in `like`.  The labels say nothing about the series. */
struct error *walks_make(const struct dataset *like, size_t per_class, uint64_t seed,
                         struct dataset *walks) MUST_CHECK;

#endif
