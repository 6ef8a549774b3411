/* The table of shares has a row for each class and a column for each part, with one more column for
 * series that no part takes.  Its rows must add up to the classes and its columns to the parts. */
#include "data/split.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/classes.h"
#include "data/split_internal.h"

enum { UNUSED = SPLIT_PARTS, COLUMNS };

const char *const split_part_names[SPLIT_PARTS] = {"train", "val", "test"};

struct error *split_parse_size(const char *text, struct split_size *size)
{
    unsigned long long count;
    char *end;

    memset(size, 0, sizeof *size);
    if (strcmp(text, "rest") == 0) {
        size->unit = SPLIT_REST;
        return NULL;
    }
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return error_make("'%s' is neither a fraction, a number of series nor 'rest'", text);
    if (strchr(text, '.')) {
        size->unit = SPLIT_FRACTION;
        size->fraction = strtod(text, &end);
        if (*end || !(size->fraction > 0 && size->fraction <= 1))
            return error_make("'%s' is not a fraction between 0 and 1", text);
        return NULL;
    }
    errno = 0;
    count = strtoull(text, &end, 10);
    if (*end || errno || count == 0 || count > SIZE_MAX)
        return error_make("'%s' is not a number of series (a fraction has a point)", text);
    size->unit = SPLIT_COUNT;
    size->count = (size_t)count;
    return NULL;
}

/* ---- Sizes of the parts ---- */

/* Gives `extra` more to the entries with the largest remainders, the first of equals. */
static void add_largest(double *remainders, size_t entries, size_t extra, size_t *values)
{
    while (extra > 0) {
        size_t best = 0;

        for (size_t i = 1; i < entries; i++) {
            if (remainders[i] > remainders[best])
                best = i;
        }
        values[best]++;
        remainders[best] -= 1;
        extra--;
    }
}

/* A product of a decimal fraction and a count that is whole on paper is made whole. */
static double exact_share(double fraction, size_t count)
{
    double share = fraction * (double)count, nearest = nearbyint(share);

    return fabs(share - nearest) < 1e-9 * (double)count ? nearest : share;
}

static struct error *fraction_totals(const struct split_options *options, size_t count,
                                     size_t totals[SPLIT_PARTS])
{
    double remainders[SPLIT_PARTS], sum = 0;
    size_t given = 0, wanted;

    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        double share = 0;

        remainders[p] = -INFINITY;
        if (options->sizes[p].unit == SPLIT_FRACTION) {
            share = exact_share(options->sizes[p].fraction, count);
            sum += options->sizes[p].fraction;
            remainders[p] = share - floor(share);
        }
        totals[p] = (size_t)share;
        given += totals[p];
    }
    if (sum > 1 + 1e-9)
        return error_make("the fractions add up to %g, more than 1", sum);
    wanted = (size_t)nearbyint(sum * (double)count);
    add_largest(remainders, SPLIT_PARTS, wanted > given ? wanted - given : 0, totals);
    return NULL;
}

struct error *split_totals(const struct split_options *options, size_t count,
                           size_t totals[SPLIT_PARTS])
{
    size_t left = count, rest = SPLIT_PARTS;

    TRY(fraction_totals(options, count, totals));
    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        if (options->sizes[p].unit == SPLIT_REST && rest < SPLIT_PARTS)
            return error_make("only one part can have the rest");
        if (options->sizes[p].unit == SPLIT_REST)
            rest = p;
        if (options->sizes[p].unit == SPLIT_COUNT)
            totals[p] = options->sizes[p].count;
        if (totals[p] > left)
            return error_make("%s would be larger than what is left: %zu of %zu series",
                              split_part_names[p], left, count);
        left -= totals[p];
    }
    if (rest < SPLIT_PARTS)
        totals[rest] = left;
    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        if (options->sizes[p].unit != SPLIT_NONE && totals[p] == 0)
            return error_make("%s would have none of the %zu series", split_part_names[p], count);
    }
    return NULL;
}

/* ---- Shares of the classes ---- */

struct table {
    size_t classes;
    size_t *cells;   /* (classes, COLUMNS) */
    double *exact;   /* the same before rounding */
    size_t *columns; /* what the columns must add up to */
    bool train_has_all;
};

static void round_row(struct table *table, size_t v, size_t count)
{
    size_t *row = table->cells + v * COLUMNS, given = 0;
    double remainders[COLUMNS];

    for (size_t p = 0; p < COLUMNS; p++) {
        double exact = table->exact[v * COLUMNS + p];

        row[p] = (size_t)exact;
        given += row[p];
        remainders[p] = exact - floor(exact);
    }
    add_largest(remainders, COLUMNS, count - given, row);
    if (table->train_has_all && count > 0 && row[SPLIT_TRAIN] == 0) {
        size_t from = SPLIT_TRAIN;

        for (size_t p = 0; p < COLUMNS; p++) {
            if (row[p] > row[from])
                from = p;
        }
        row[from]--;
        row[SPLIT_TRAIN]++;
    }
}

/* What it costs a class to move one series: how much the squared distance from its share grows, and
 * much more where a number would no longer be its exact share rounded up or down. */
static double move_cost(const struct table *table, size_t v, size_t from, size_t to)
{
    const double outside = 1e6;
    const size_t *row = table->cells + v * COLUMNS;
    const double *exact = table->exact + v * COLUMNS;
    double cost = 2 * ((exact[from] - (double)row[from]) - (exact[to] - (double)row[to])) + 2;

    if (row[from] == 0 || (table->train_has_all && from == SPLIT_TRAIN && row[from] == 1))
        return INFINITY;
    cost += (double)row[from] - 1 < floor(exact[from]) ? outside : 0;
    cost += (double)row[to] + 1 > ceil(exact[to]) ? outside : 0;
    return cost;
}

/* A move from one column to another in the class where it costs least. */
struct move {
    double cost;
    size_t class;
};

static void find_moves(const struct table *table, struct move moves[COLUMNS][COLUMNS])
{
    for (size_t from = 0; from < COLUMNS; from++) {
        for (size_t to = 0; to < COLUMNS; to++) {
            struct move *best = &moves[from][to];

            best->cost = INFINITY;
            for (size_t v = 0; from != to && v < table->classes; v++) {
                double cost = move_cost(table, v, from, to);

                if (cost < best->cost)
                    *best = (struct move){cost, v};
            }
        }
    }
}

/* Cheapest ways from the columns that have too many (Bellman and Ford): what each column costs to
 * reach, and from where. */
static void find_ways(const struct table *table, const size_t *sums,
                      struct move moves[COLUMNS][COLUMNS], double *costs, size_t *sources)
{
    for (size_t p = 0; p < COLUMNS; p++) {
        costs[p] = sums[p] > table->columns[p] ? 0 : INFINITY;
        sources[p] = COLUMNS;
    }
    for (size_t round = 1; round < COLUMNS; round++) {
        for (size_t from = 0; from < COLUMNS; from++) {
            for (size_t to = 0; to < COLUMNS; to++) {
                double cost = costs[from] + moves[from][to].cost;

                if (sums[to] <= table->columns[to] && cost < costs[to] - 1e-9) {
                    costs[to] = cost;
                    sources[to] = from;
                }
            }
        }
    }
}

/* Moves one series from a column that has too many to one that has too few, on the way that costs
 * least: through another column if no class can do it well alone.  False when none has too many. */
static bool move_one(struct table *table, const size_t *sums)
{
    struct move moves[COLUMNS][COLUMNS];
    double costs[COLUMNS], least = INFINITY;
    size_t sources[COLUMNS], target = COLUMNS;

    find_moves(table, moves);
    find_ways(table, sums, moves, costs, sources);
    for (size_t p = 0; p < COLUMNS; p++) {
        if (sums[p] < table->columns[p] && costs[p] < least) {
            least = costs[p];
            target = p;
        }
    }
    if (target == COLUMNS)
        return false;
    for (; sources[target] < COLUMNS; target = sources[target]) {
        size_t class = moves[sources[target]][target].class;

        table->cells[class * COLUMNS + sources[target]]--;
        table->cells[class * COLUMNS + target]++;
    }
    return true;
}

static void fit_columns(struct table *table)
{
    size_t sums[COLUMNS];

    do {
        memset(sums, 0, sizeof sums);
        for (size_t i = 0; i < table->classes * COLUMNS; i++)
            sums[i % COLUMNS] += table->cells[i];
    } while (move_one(table, sums));
}

struct error *split_shares(const size_t *class_counts, size_t classes,
                           const size_t totals[SPLIT_PARTS], size_t *shares)
{
    size_t columns[COLUMNS], count = 0, used = 0, present = 0;
    struct table table = {.classes = classes, .columns = columns};

    for (size_t v = 0; v < classes; v++) {
        count += class_counts[v];
        present += class_counts[v] > 0;
    }
    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        columns[p] = totals[p];
        used += totals[p];
    }
    columns[UNUSED] = count - used;
    table.train_has_all = totals[SPLIT_TRAIN] >= present;
    table.cells = calloc(classes * COLUMNS, sizeof *table.cells);
    table.exact = calloc(classes * COLUMNS, sizeof *table.exact);
    if (!table.cells || !table.exact) {
        free(table.cells);
        free(table.exact);
        return error_memory("the shares of classes");
    }
    for (size_t v = 0; v < classes; v++) {
        for (size_t p = 0; p < COLUMNS; p++)
            table.exact[v * COLUMNS + p] =
                (double)class_counts[v] * (double)columns[p] / (double)count;
        round_row(&table, v, class_counts[v]);
    }
    fit_columns(&table);
    for (size_t v = 0; v < classes; v++)
        memcpy(shares + v * SPLIT_PARTS, table.cells + v * COLUMNS, SPLIT_PARTS * sizeof *shares);
    free(table.cells);
    free(table.exact);
    return NULL;
}

/* ---- Which series ---- */

/* Says for every series of class v which part it belongs to. */
static void assign_class(const struct split_options *options, size_t v, size_t *members,
                         size_t count, const size_t *shares, unsigned char *parts)
{
    size_t next = 0;

    if (!options->in_order) {
        struct random_stream stream = random_stream(options->seed, RANDOM_SPLIT, v);

        random_shuffle(&stream, members, count);
    }
    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        for (size_t k = 0; k < shares[p]; k++)
            parts[members[next++]] = (unsigned char)p;
    }
}

static struct error *collect(const unsigned char *parts, size_t count, const size_t *totals,
                             struct split *split)
{
    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        if (totals[p] == 0)
            continue;
        split->indices[p] = malloc(totals[p] * sizeof *split->indices[p]);
        if (!split->indices[p])
            return error_memory("a split");
    }
    for (size_t i = 0; i < count; i++) {
        if (parts[i] < SPLIT_PARTS)
            split->indices[parts[i]][split->counts[parts[i]]++] = i;
    }
    return NULL;
}

/* Working memory of split_make. */
struct work {
    size_t *counts; /* of each class */
    size_t *shares; /* (classes, SPLIT_PARTS) */
    struct class_lists lists;
    unsigned char *parts; /* of each series */
};

static struct error *divide(const struct dataset *dataset, const struct split_options *options,
                            struct work *work, struct split *split)
{
    size_t totals[SPLIT_PARTS];

    if (!work->counts || !work->shares || !work->parts)
        return error_memory("a split");
    TRY(split_totals(options, dataset->count, totals));
    dataset_class_counts(dataset, work->counts);
    TRY(split_shares(work->counts, dataset->classes, totals, work->shares));
    TRY(class_lists_make(dataset->y, dataset->count, dataset->classes, &work->lists));
    memset(work->parts, UNUSED, dataset->count);
    if (options->by_group) {
        TRY(split_by_group(dataset, options, totals, work->parts));
        memset(totals, 0, sizeof totals);
        for (size_t i = 0; i < dataset->count; i++) {
            if (work->parts[i] < SPLIT_PARTS)
                totals[work->parts[i]]++;
        }
        return collect(work->parts, dataset->count, totals, split);
    }
    for (size_t v = 0; v < dataset->classes; v++)
        assign_class(options, v, class_members(&work->lists, v), work->counts[v],
                     work->shares + v * SPLIT_PARTS, work->parts);
    return collect(work->parts, dataset->count, totals, split);
}

struct error *split_make(const struct dataset *dataset, const struct split_options *options,
                         struct split *split)
{
    struct work work = {
        .counts = calloc(dataset->classes, sizeof *work.counts),
        .shares = calloc(dataset->classes, SPLIT_PARTS * sizeof *work.shares),
        .parts = malloc(dataset->count),
    };
    struct error *error;

    memset(split, 0, sizeof *split);
    error = divide(dataset, options, &work, split);
    free(work.counts);
    free(work.shares);
    class_lists_free(&work.lists);
    free(work.parts);
    if (error)
        split_free(split);
    return error;
}

void split_free(struct split *split)
{
    for (size_t p = 0; p < SPLIT_PARTS; p++)
        free(split->indices[p]);
    memset(split, 0, sizeof *split);
}
