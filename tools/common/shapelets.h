/* The options for shapelet features that tools which run networks share. */
#ifndef SC_SHAPELET_OPTIONS_H
#define SC_SHAPELET_OPTIONS_H

#include "common/cli.h"
#include "eval/examples.h"
#include "shapelets/transform.h"

struct shapelets_cli {
    const char *pool;   /* file, or NULL */
    const char *window; /* "found", "full" or a number; "found" if NULL */
};

/* Rows for the table of a tool whose struct `options` has a struct shapelets_cli `shapelets`. */
/* clang-format off */
#define SHAPELETS_OPTIONS(options)                                                                 \
    {'s', "shapelets", "FILE", CLI_FILE, CLI_AT(options, shapelets.pool),                          \
     "pool of shapelets whose distances are features"},                                            \
    {'w', "window", "W", CLI_TEXT, CLI_AT(options, shapelets.window),                              \
     "try each shapelet up to W steps around its place, 'full': everywhere, or 'found': as when it " \
     "was found"}
/* clang-format on */

/* "20", "full" or "found", for transform_make.  Usage errors exit. */
size_t shapelets_window(const char *text);

/* Reads the pool, if one is given; pool is all zeros without.  The source points to it and to the
 * device. */
struct feature_source shapelets_source(const struct shapelets_cli *cli, const struct device *device,
                                       struct shapelet_pool *pool);

/* The transform of series of the dataset, whose steps and classes must be those that the pool was
 * found in; all zeros without a pool. */
void shapelets_transform(const struct shapelets_cli *cli, const struct shapelet_pool *pool,
                         const struct dataset *dataset, struct transform *transform);

#endif
