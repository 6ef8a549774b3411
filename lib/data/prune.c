#include "data/prune.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/size.h"

/* Of count series, how many stay: at least one of any. */
static size_t share_kept(size_t count, double ratio)
{
    size_t kept = (size_t)floor((1 - ratio) * (double)count + 0.5);

    return kept > count ? count : kept == 0 && count > 0 ? 1 : kept;
}

/* How many of each class may stay. */
static void set_quotas(const struct dataset *dataset, const struct prune_options *options,
                       size_t *quotas)
{
    dataset_class_counts(dataset, quotas);
    for (size_t v = 0; v < dataset->classes; v++) {
        if (!options->overall)
            quotas[v] = share_kept(quotas[v], options->ratio);
        if (options->per_class)
            quotas[v] = size_min(quotas[v], options->per_class);
    }
}

/* Walks through the random order and marks what stays. */
static void mark_kept(const struct dataset *dataset, const struct prune_options *options,
                      size_t *order, size_t *quotas, bool *stays)
{
    struct random_stream stream = random_stream(options->seed, RANDOM_PRUNE, 0);
    size_t count = dataset->count;
    size_t first = options->overall ? share_kept(count, options->ratio) : count;

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    random_shuffle(&stream, order, count);
    for (size_t i = 0; i < first; i++) {
        size_t *quota = dataset->y ? &quotas[dataset->y[order[i]]] : NULL;

        stays[order[i]] = !quota || *quota > 0;
        if (quota && *quota > 0)
            --*quota;
    }
}

struct error *prune_choose(const struct dataset *dataset, const struct prune_options *options,
                           size_t **kept, size_t *count)
{
    size_t *order, *quotas;
    bool *stays;

    if (!(options->ratio >= 0 && options->ratio < 1))
        return error_make("--ratio must be at least 0 and below 1, not %g", options->ratio);
    if (!dataset->y && (!options->overall || options->per_class))
        return error_make("pruning class by class needs labels");
    order = calloc(dataset->count + 1, sizeof *order);
    quotas = calloc(dataset->classes + 1, sizeof *quotas);
    stays = calloc(dataset->count + 1, sizeof *stays);
    if (!order || !quotas || !stays) {
        free(order);
        free(quotas);
        free(stays);
        return error_memory("pruning");
    }
    if (dataset->y)
        set_quotas(dataset, options, quotas);
    mark_kept(dataset, options, order, quotas, stays);
    *count = 0;
    for (size_t i = 0; i < dataset->count; i++)
        if (stays[i])
            order[(*count)++] = i;
    *kept = order;
    free(quotas);
    free(stays);
    return NULL;
}
