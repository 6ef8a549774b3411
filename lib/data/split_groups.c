/* Splits that keep groups whole.  A group (a person, a machine) goes to one part with all of its
 * series, so parts have about the sizes asked for, not exactly.
 *
 * The groups are taken from the largest to the smallest, those of one size in random order.  Each
 * goes where it brings the classes closest to their targets: with have and want the series of class
 * v in part p, the cost of a part is sum_v (have - want)^2 / want, and the group goes where it adds
 * least to it.  Then pairs of groups are exchanged as long as that lowers the cost of both
 * parts. */
#include "data/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/split_internal.h"

enum { UNUSED = SPLIT_PARTS, COLUMNS };

struct grouping {
    const struct dataset *dataset;
    size_t groups;
    size_t *counts;    /* (groups, classes): series */
    size_t *sizes;     /* of the groups */
    size_t *order;     /* the groups as they are taken */
    double *want;      /* (COLUMNS, classes) */
    double *have;      /* same */
    unsigned char *at; /* the part of each group */
};

static void grouping_free(struct grouping *grouping)
{
    free(grouping->counts);
    free(grouping->sizes);
    free(grouping->order);
    free(grouping->want);
    free(grouping->have);
    free(grouping->at);
}

static struct error *count_groups(const struct dataset *dataset, struct grouping *grouping)
{
    int32_t most = 0;

    for (size_t i = 0; i < dataset->count; i++)
        most = dataset->groups[i] > most ? dataset->groups[i] : most;
    /* Numbers far above the number of series would be a mistake, and a table of them too large. */
    if ((size_t)most >= 16 * dataset->count + 1024)
        return error_make("group %d among %zu series: groups are numbered from 0", most,
                          dataset->count);
    grouping->dataset = dataset;
    grouping->groups = (size_t)most + 1;
    grouping->counts = calloc(grouping->groups, dataset->classes * sizeof *grouping->counts);
    grouping->sizes = calloc(grouping->groups, sizeof *grouping->sizes);
    grouping->order = calloc(grouping->groups, sizeof *grouping->order);
    grouping->want = calloc(COLUMNS, dataset->classes * sizeof *grouping->want);
    grouping->have = calloc(COLUMNS, dataset->classes * sizeof *grouping->have);
    grouping->at = malloc(grouping->groups);
    if (!grouping->counts || !grouping->sizes || !grouping->order || !grouping->want ||
        !grouping->have || !grouping->at)
        return error_memory("a split");
    for (size_t i = 0; i < dataset->count; i++) {
        size_t group = (size_t)dataset->groups[i];

        grouping->counts[group * dataset->classes + (size_t)dataset->y[i]]++;
        grouping->sizes[group]++;
    }
    return NULL;
}

/* Largest first; equals stay as they are. */
static void put_in_order(const struct split_options *options, struct grouping *grouping)
{
    size_t *order = grouping->order;

    for (size_t i = 0; i < grouping->groups; i++)
        order[i] = i;
    if (!options->in_order) {
        struct random_stream stream = random_stream(options->seed, RANDOM_SPLIT, 0);

        random_shuffle(&stream, order, grouping->groups);
    }
    for (size_t i = 1; i < grouping->groups; i++) {
        size_t group = order[i], j = i;

        for (; j > 0 && grouping->sizes[order[j - 1]] < grouping->sizes[group]; j--)
            order[j] = order[j - 1];
        order[j] = group;
    }
}

static void set_targets(const size_t totals[SPLIT_PARTS], struct grouping *grouping)
{
    const struct dataset *dataset = grouping->dataset;
    double unused = 1;

    for (size_t p = 0; p < COLUMNS; p++) {
        double share = p < SPLIT_PARTS ? (double)totals[p] / (double)dataset->count : unused;

        unused -= share;
        for (size_t i = 0; i < dataset->count; i++)
            grouping->want[p * dataset->classes + (size_t)dataset->y[i]] += share;
    }
}

/* What the group adds to the cost of that part. */
static double cost_of(const struct grouping *grouping, size_t group, size_t part)
{
    const size_t classes = grouping->dataset->classes;
    double cost = 0;

    for (size_t v = 0; v < classes; v++) {
        double more = (double)grouping->counts[group * classes + v];
        double have = grouping->have[part * classes + v], want = grouping->want[part * classes + v];

        if (more > 0)
            cost += more * (2 * (have - want) + more) / want;
    }
    return cost;
}

static void place_groups(const size_t totals[SPLIT_PARTS], struct grouping *grouping)
{
    const size_t classes = grouping->dataset->classes;
    size_t used = 0;

    for (size_t p = 0; p < SPLIT_PARTS; p++)
        used += totals[p];
    for (size_t i = 0; i < grouping->groups; i++) {
        size_t group = grouping->order[i], best = COLUMNS;
        double least = 0;

        for (size_t p = 0; p < COLUMNS; p++) {
            bool open = p < SPLIT_PARTS ? totals[p] > 0 : used < grouping->dataset->count;
            double cost = open ? cost_of(grouping, group, p) : 0;

            if (open && (best == COLUMNS || cost < least)) {
                least = cost;
                best = p;
            }
        }
        grouping->at[group] = (unsigned char)best;
        for (size_t v = 0; v < classes; v++)
            grouping->have[best * classes + v] += (double)grouping->counts[group * classes + v];
    }
}

/* ---- Exchanges ---- */

static double part_cost(const struct grouping *grouping, size_t part)
{
    const size_t classes = grouping->dataset->classes;
    double cost = 0;

    for (size_t v = 0; v < classes; v++) {
        double want = grouping->want[part * classes + v];
        double more = grouping->have[part * classes + v] - want;

        cost += want > 0 ? more * more / want : 0;
    }
    return cost;
}

/* Exchanges two groups of different parts. */
static void exchange(struct grouping *grouping, size_t a, size_t b)
{
    const size_t classes = grouping->dataset->classes;
    const unsigned char part = grouping->at[a];

    for (size_t v = 0; v < classes; v++) {
        double more =
            (double)grouping->counts[b * classes + v] - (double)grouping->counts[a * classes + v];

        grouping->have[part * classes + v] += more;
        grouping->have[grouping->at[b] * classes + v] -= more;
    }
    grouping->at[a] = grouping->at[b];
    grouping->at[b] = part;
}

enum { MOST_EXCHANGED = 1000, MOST_ROUNDS = 20 };

/* Exchanges pairs of groups for as long as that lowers the cost. */
static void improve(struct grouping *grouping)
{
    bool better = grouping->groups <= MOST_EXCHANGED;

    for (size_t round = 0; better && round < MOST_ROUNDS; round++) {
        better = false;
        for (size_t i = 0; i < grouping->groups; i++)
            for (size_t j = 0; j < i; j++) {
                size_t a = grouping->order[i], b = grouping->order[j];
                size_t from = grouping->at[a], to = grouping->at[b];
                double before, after;

                if (from == to || !grouping->sizes[a] || !grouping->sizes[b])
                    continue;
                before = part_cost(grouping, from) + part_cost(grouping, to);
                exchange(grouping, a, b);
                after = part_cost(grouping, from) + part_cost(grouping, to);
                if (after < before * (1 - 1e-9))
                    better = true;
                else
                    exchange(grouping, a, b);
            }
    }
}

struct error *split_by_group(const struct dataset *dataset, const struct split_options *options,
                             const size_t totals[SPLIT_PARTS], unsigned char *parts)
{
    struct grouping grouping = {0};
    struct error *error;

    if (!dataset->groups)
        return error_make("no groups to keep together (sc-import --group makes them)");
    error = count_groups(dataset, &grouping);
    if (!error) {
        size_t sizes[COLUMNS] = {0};

        put_in_order(options, &grouping);
        set_targets(totals, &grouping);
        place_groups(totals, &grouping);
        if (!options->in_order)
            improve(&grouping);
        for (size_t i = 0; i < dataset->count; i++) {
            parts[i] = grouping.at[dataset->groups[i]];
            sizes[parts[i]]++;
        }
        for (size_t p = 0; p < SPLIT_PARTS && !error; p++) {
            if (totals[p] && !sizes[p])
                error = error_make("the groups are too few or too large: %s would have none",
                                   split_part_names[p]);
        }
    }
    grouping_free(&grouping);
    return error;
}
