/* Choosing shapelets for the classes that the pool does not separate yet.
 *
 * Each candidate is a yes/no feature of a series: its best split.  The features of the pool give
 * each series a probability of its own class (naive Bayes with Laplace's correction); one minus
 * that becomes its weight, scaled so that all classes weigh the same at the start.  The next
 * shapelet is the one with the largest information gain under these weights over all classes, even
 * where candidates were scored for one class against the rest, since the pool serves all classes.
 *
 * Refused are candidates that overlap a chosen one in the same series; those of a class that has
 * its share of the pool; and near-copies, whose features agree with a chosen one's (or its
 * opposite) on more than 95 % of the series.  When nothing else is left, nearer copies are
 * accepted, up to 98 %, then any; and then classes beyond their share. */
#include "shapelets/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "shapelets/transform.h"

enum { SERIES_AT_ONCE = 256 };

/* Shares of equal features up to which a candidate is not a copy; the next is used when no
 * candidate is left. */
static const double limits[] = {0.95, 0.98, 1};

enum { LIMITS = sizeof limits / sizeof *limits };

struct diverse {
    const struct dataset *dataset;
    const struct scored_candidate *candidates;
    size_t candidate_count;
    size_t share;      /* the most shapelets of a class, as long as others have candidates */
    size_t *taken;     /* (V,) shapelets of each class */
    size_t words;      /* of 64 answers */
    uint64_t *answers; /* (candidates, words): bit i is set if series i is on the near side */
    double *weights;   /* (N,) */
    double *log_odds;  /* (N, V): log of prior and features so far */
    size_t *counts;    /* (V,) series */
    double *scores;    /* (candidates,) */
    double *likeness;  /* (candidates,) largest share of equal answers with a chosen one */
    bool *refused;     /* (candidates,) chosen, or overlapping a chosen one */
    double *sides;     /* per worker: (V, 2) weights on each side */
};

static bool answer(const struct diverse *diverse, size_t candidate, size_t i)
{
    return diverse->answers[candidate * diverse->words + i / 64] >> (i % 64) & 1;
}

/* A pool of the candidates, so that the transform can measure them. */
static struct error *candidate_pool(const struct diverse *diverse, struct shapelet_pool *pool)
{
    size_t values = 0;
    float *next;

    for (size_t c = 0; c < diverse->candidate_count; c++)
        values += diverse->candidates[c].length;
    TRY(slp_new(diverse->candidate_count, values, pool));
    pool->channels = diverse->dataset->channels;
    next = pool->values;
    for (size_t c = 0; c < diverse->candidate_count; c++) {
        const struct scored_candidate *found = &diverse->candidates[c];

        memcpy(next, dataset_series(diverse->dataset, found->source, found->channel) + found->start,
               found->length * sizeof *next);
        pool->shapelets[c] = (struct shapelet){.values = next,
                                               .channel = found->channel,
                                               .start = found->start,
                                               .length = found->length};
        next += found->length;
    }
    return NULL;
}

/* On which side of every candidate's split each series is: the bits of `answers`. */
static struct error *ask(struct diverse *diverse, const struct shapelet_pool *pool, size_t window)
{
    const struct dataset *dataset = diverse->dataset;
    size_t size = dataset_series_size(dataset);
    struct transform transform;
    float *features;

    TRY(transform_make(pool, dataset->channels, dataset->length, window, &transform));
    features = calloc(SERIES_AT_ONCE * pool->count, sizeof *features);
    if (!features) {
        transform_free(&transform);
        return error_memory("distances of candidates");
    }
    for (size_t from = 0; from < dataset->count; from += SERIES_AT_ONCE) {
        size_t count =
            dataset->count - from < SERIES_AT_ONCE ? dataset->count - from : SERIES_AT_ONCE;

        transform_forward(&transform, dataset->x + from * size, count, features, NULL);
        for (size_t i = 0; i < count; i++)
            for (size_t c = 0; c < pool->count; c++)
                if (features[i * pool->count + c] <= diverse->candidates[c].threshold)
                    diverse->answers[c * diverse->words + (from + i) / 64] |= (uint64_t)1
                                                                              << (from + i) % 64;
    }
    free(features);
    transform_free(&transform);
    return NULL;
}

static double xlogx(double x)
{
    return x > 0 ? x * log2(x) : 0;
}

/* Information gain of a candidate's split under the weights. */
static void score_candidate(void *context, size_t c, unsigned worker)
{
    struct diverse *diverse = context;
    const struct dataset *dataset = diverse->dataset;
    double *sides = diverse->sides + worker * 2 * dataset->classes;
    double near = 0, far = 0, gain = 0;

    if (diverse->refused[c])
        return;
    memset(sides, 0, 2 * dataset->classes * sizeof *sides);
    for (size_t i = 0; i < dataset->count; i++)
        sides[2 * (size_t)dataset->y[i] + answer(diverse, c, i)] += diverse->weights[i];
    for (size_t v = 0; v < dataset->classes; v++) {
        far += sides[2 * v];
        near += sides[2 * v + 1];
        gain +=
            xlogx(sides[2 * v]) + xlogx(sides[2 * v + 1]) - xlogx(sides[2 * v] + sides[2 * v + 1]);
    }
    diverse->scores[c] = gain + xlogx(near + far) - xlogx(near) - xlogx(far);
}

/* The weights of the series: one minus the probability of their own class. */
static void weigh_series(struct diverse *diverse)
{
    const struct dataset *dataset = diverse->dataset;

    for (size_t i = 0; i < dataset->count; i++) {
        const double *odds = diverse->log_odds + i * dataset->classes;
        double own = odds[dataset->y[i]], sum = 0;

        for (size_t v = 0; v < dataset->classes; v++)
            sum += exp(odds[v] - own);
        diverse->weights[i] = (1 - 1 / sum) / (double)diverse->counts[dataset->y[i]];
    }
}

/* Adds the feature of a chosen candidate to the probabilities of the classes. */
static void learn(struct diverse *diverse, size_t chosen)
{
    const struct dataset *dataset = diverse->dataset;
    double *logs = diverse->sides;

    memset(logs, 0, 2 * dataset->classes * sizeof *logs);
    for (size_t i = 0; i < dataset->count; i++)
        logs[2 * (size_t)dataset->y[i] + answer(diverse, chosen, i)]++;
    for (size_t v = 0; v < dataset->classes; v++)
        for (size_t side = 0; side < 2; side++)
            logs[2 * v + side] = log((logs[2 * v + side] + 1) / ((double)diverse->counts[v] + 2));
    for (size_t i = 0; i < dataset->count; i++)
        for (size_t v = 0; v < dataset->classes; v++)
            diverse->log_odds[i * dataset->classes + v] += logs[2 * v + answer(diverse, chosen, i)];
}

/* Refuses what overlaps a chosen candidate, and notes how much others are like it. */
static void compare_with(struct diverse *diverse, size_t chosen)
{
    const uint64_t *ours = diverse->answers + chosen * diverse->words;

    for (size_t c = 0; c < diverse->candidate_count; c++) {
        const uint64_t *theirs = diverse->answers + c * diverse->words;
        size_t different = 0;
        double share;

        for (size_t w = 0; w < diverse->words; w++)
            different += (size_t)__builtin_popcountll(ours[w] ^ theirs[w]);
        share = (double)different / (double)diverse->dataset->count;
        share = share < 0.5 ? 1 - share : share;
        if (share > diverse->likeness[c])
            diverse->likeness[c] = share;
        if (scored_overlap(&diverse->candidates[c], &diverse->candidates[chosen]))
            diverse->refused[c] = true;
    }
}

/* The candidate with the largest score among those that are no copies; candidate_count if none. */
static size_t best_candidate(const struct diverse *diverse, double limit)
{
    size_t best = diverse->candidate_count;

    for (size_t c = 0; c < diverse->candidate_count; c++) {
        if (diverse->refused[c] || diverse->likeness[c] > limit ||
            diverse->taken[diverse->candidates[c].label] >= diverse->share)
            continue;
        if (best == diverse->candidate_count || diverse->scores[c] > diverse->scores[best])
            best = c;
    }
    return best;
}

static size_t choose(struct diverse *diverse, size_t k, struct scored_candidate *chosen)
{
    size_t count = 0, limit = 0;

    while (count < k) {
        size_t best;

        weigh_series(diverse);
        parallel_for(diverse->candidate_count, score_candidate, diverse);
        while ((best = best_candidate(diverse, limits[limit])) == diverse->candidate_count &&
               limit + 1 < LIMITS)
            limit++;
        if (best == diverse->candidate_count && diverse->share < k) {
            diverse->share = k;
            limit = 0;
            continue;
        }
        if (best == diverse->candidate_count)
            break;
        diverse->taken[diverse->candidates[best].label]++;
        chosen[count++] = diverse->candidates[best];
        compare_with(diverse, best);
        learn(diverse, best);
    }
    return count;
}

static struct error *diverse_make(struct diverse *diverse, size_t k)
{
    const struct dataset *dataset = diverse->dataset;
    size_t count = dataset->count, classes = dataset->classes, present = 0;

    diverse->words = (count + 63) / 64;
    diverse->answers = calloc(diverse->candidate_count * diverse->words, sizeof(uint64_t));
    diverse->weights = calloc(count, sizeof(double));
    diverse->log_odds = calloc(count * classes, sizeof(double));
    diverse->counts = calloc(classes, sizeof(size_t));
    diverse->taken = calloc(classes, sizeof(size_t));
    diverse->scores = calloc(diverse->candidate_count, sizeof(double));
    diverse->likeness = calloc(diverse->candidate_count, sizeof(double));
    diverse->refused = calloc(diverse->candidate_count, sizeof(bool));
    diverse->sides = calloc(parallel_threads() * 2 * classes, sizeof(double));
    if (!diverse->answers || !diverse->weights || !diverse->log_odds || !diverse->counts ||
        !diverse->taken || !diverse->scores || !diverse->likeness || !diverse->refused ||
        !diverse->sides)
        return error_memory("choosing diverse shapelets");
    dataset_class_counts(dataset, diverse->counts);
    /* All classes are equally likely; one without series is impossible. */
    for (size_t v = 0; v < classes; v++)
        present += diverse->counts[v] > 0;
    diverse->share = (k + present - 1) / present;
    for (size_t v = 0; v < classes; v++)
        if (diverse->counts[v] == 0)
            for (size_t i = 0; i < count; i++)
                diverse->log_odds[i * classes + v] = -INFINITY;
    return NULL;
}

struct error *select_diverse(const struct scored_candidate *candidates, size_t candidate_count,
                             size_t k, const struct select_measure *measure,
                             struct scored_candidate *chosen, size_t *count)
{
    struct diverse diverse = {
        .dataset = measure->dataset, .candidates = candidates, .candidate_count = candidate_count};
    struct shapelet_pool pool = {0};
    struct error *error = diverse_make(&diverse, k);

    if (!error)
        error = candidate_pool(&diverse, &pool);
    pool.length_normalised = measure->length_normalised;
    if (!error)
        error = ask(&diverse, &pool, measure->window);
    if (!error)
        *count = choose(&diverse, k, chosen);
    slp_free(&pool);
    free(diverse.answers);
    free(diverse.weights);
    free(diverse.log_odds);
    free(diverse.counts);
    free(diverse.taken);
    free(diverse.scores);
    free(diverse.likeness);
    free(diverse.refused);
    free(diverse.sides);
    return error;
}
