/* The compressed size grows a little more slowly than the number of series.  So the number that
 * fits is found in a few tries: the next one follows from the bytes per series of the last or,
 * where that was tried already, halves the interval. */
#include "data/pack.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/size.h"
#include "data/prune.h"

enum {
    SAMPLE = 300, /* series that are packed both ways to choose the transform */
    MOST_TRIES = 8,
};
static const double NEARLY = 0.97; /* share of the bytes that is enough to stop trying */

struct packing {
    const struct dataset *from;
    const struct pack_options *options;
    bool transform;
    double error; /* of the last trial: mean, in squared steps */
};

/* Copies at most per_class series of each class. */
static struct error *take(const struct packing *packing, size_t per_class, struct dataset *taken)
{
    const struct prune_options options = {.per_class = per_class, .seed = packing->options->seed};
    struct error *error;
    size_t *kept, count;

    TRY(prune_choose(packing->from, &options, &kept, &count));
    error = dataset_take(packing->from, kept, count, taken);
    free(kept);
    return error;
}

/* Packs them; *bytes: their size with labels, among them the soft labels that sc-views will add. */
static struct error *pack(struct packing *packing, struct dataset *taken, double *bytes)
{
    size_t size = 0;

    TRY(dataset_pack(taken, packing->options->step, packing->transform, &packing->error));
    TRY(dataset_content_size(taken, 0, &size));
    *bytes = (double)(size + (taken->soft ? 0 : taken->count * views_row(taken->classes, 4)));
    return NULL;
}

static struct error *try_number(struct packing *packing, size_t per_class, struct dataset *taken,
                                double *bytes)
{
    struct error *error;

    TRY(take(packing, per_class, taken));
    error = pack(packing, taken, bytes);
    if (error)
        dataset_free(taken);
    return error;
}

/* Chooses with or without transform on a sample; *each: bytes per series.  At the same step one way
 * may take fewer bytes and the other have smaller errors.  Half the squared error counts as half a
 * bit per value, which is the exchange rate of fine steps. */
static struct error *choose_transform(struct packing *packing, size_t per_class, double *each)
{
    const double values = (double)dataset_series_size(packing->from);
    double best = INFINITY;
    bool chosen = false;

    for (size_t i = 0; i < 2; i++) {
        struct dataset taken;
        double bytes, cost;

        packing->transform = i == 1;
        TRY(try_number(packing, per_class, &taken, &bytes));
        bytes /= (double)taken.count;
        dataset_free(&taken);
        cost = 8 * bytes / values + 0.5 * log2(packing->error + DBL_MIN);
        if (cost < best) {
            best = cost;
            chosen = packing->transform;
            *each = bytes;
        }
    }
    packing->transform = chosen;
    return NULL;
}

/* The number of series that remain with at most per_class of each class. */
static double series_of(const size_t *counts, size_t classes, size_t per_class)
{
    size_t sum = 0;

    for (size_t v = 0; v < classes; v++)
        sum += size_min(counts[v], per_class);
    return (double)sum;
}

/* The largest number per class, at least 1, with which at most `series` remain. */
static size_t number_for(const size_t *counts, size_t classes, size_t most, double series)
{
    size_t fits = 1, beyond = most + 1;

    while (beyond - fits > 1) {
        size_t middle = fits + (beyond - fits) / 2;

        if (series_of(counts, classes, middle) <= series)
            fits = middle;
        else
            beyond = middle;
    }
    return fits;
}

/* Searches for the largest number per class that fits: `fits` does, with its result in *packed;
 * `beyond` is too many; each: estimate of the bytes per series. */
static struct error *fill(struct packing *packing, const size_t *counts, size_t largest,
                          double each, struct dataset *packed)
{
    const double most = packing->options->bytes;
    const size_t classes = packing->from->classes;
    size_t fits = 0, beyond = largest + 1;
    struct error *error = NULL;

    for (size_t tries = 0; !error && tries < MOST_TRIES && beyond - fits > 1; tries++) {
        size_t number = number_for(counts, classes, largest, most / each);
        struct dataset tried;
        double bytes;

        if (tries + 1 == MOST_TRIES && fits == 0)
            number = 1;
        else if (number <= fits || number >= beyond)
            number = fits + (beyond - fits) / 2;
        error = try_number(packing, number, &tried, &bytes);
        if (error)
            break;
        each = bytes / (double)tried.count;
        if (bytes > most) {
            dataset_free(&tried);
            beyond = number;
            continue;
        }
        dataset_free(packed);
        *packed = tried;
        fits = number;
        if (bytes >= NEARLY * most)
            break;
    }
    if (!error && fits == 0)
        error = error_make("one series of each class takes more than %.0f bytes", most);
    return error;
}

struct error *pack_make(const struct dataset *from, const struct pack_options *options,
                        struct dataset *packed)
{
    struct packing packing = {.from = from, .options = options};
    struct error *error;
    size_t *counts, largest = 0;
    double each;

    if (!from->y)
        return error_make("no labels: compressed series are chosen class by class");
    counts = calloc(from->classes, sizeof *counts);
    if (!counts)
        return error_memory("classes");
    dataset_class_counts(from, counts);
    for (size_t v = 0; v < from->classes; v++)
        largest = size_max(largest, counts[v]);
    *packed = (struct dataset){0};
    error = choose_transform(&packing, number_for(counts, from->classes, largest, SAMPLE), &each);
    if (!error && options->bytes > 0)
        error = fill(&packing, counts, largest, each, packed);
    else if (!error)
        error = try_number(&packing, largest, packed, &each);
    free(counts);
    if (error)
        dataset_free(packed);
    return error;
}
