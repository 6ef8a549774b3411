/* Distances to shapelets as features for networks.  As they come, they are large, all positive and
 * of different spread, so that a linear layer learns more from their mean than from the differences
 * between classes. */
#ifndef SC_SHAPELETS_STANDARDISE_H
#define SC_SHAPELETS_STANDARDISE_H

#include "formats/dataset.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "formats/slp.h"

/* Gives each shapelet of the pool the offset and scale that make its distances to the series of the
 * dataset, with the window it was found with, have mean 0 and a deviation that is the same for all:
 * sqrt(512 / K), so that K shapelets together weigh as much as the encoder of a usual network,
 * whose 512 outputs are about 1.  A distance that is the same for all series gets scale 1.
 * Distances that are too large or too small for this to be done in floats are an error.  The ranks
 * of the cluster, which may be NULL, share the series. */
struct error *pool_standardise(struct shapelet_pool *pool, const struct dataset *dataset,
                               struct cluster *cluster) MUST_CHECK;

#endif
