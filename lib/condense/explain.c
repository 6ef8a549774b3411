/* Everything is said by the kernel, the products of the features of all pairs of candidates: with
 * the rows of those chosen, the regression is (kernel + ridge)^-1 logits, and its answers are the
 * rows times that.  Doubles in plain loops, so that the choice is the same on every machine. */
#include "condense/explain.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"

/* Of the mean square of a candidate's features: the ridge, which stands for what the rest of a
 * student adds, and the product of constant features, which stands for its bias. */
static const double ridge_share = 0.07, constant_share = 0.01;

/* A fifth of all tries are draws, the others exchanges.  As many as take some seconds. */
static const double work_limit = 4e9;
enum { MOST_TRIES = 4000, LEAST_TRIES = 20, DRAWS = 5 };

struct explain {
    const struct explain_candidates *candidates;
    size_t per_class;
    size_t chosen_count; /* n */
    size_t *members;     /* candidates, class by class */
    size_t *first;       /* (V + 1): where each class begins there */
    double *kernel;      /* (N, N) */
    double *targets;     /* (V, N): logits less their mean over the classes */
    double ridge;
    double variance; /* mean square of the targets */
    double *factor;  /* (n, n): Cholesky factor, lower half */
    double *weights; /* (V, n) */
    double *answers; /* (N) */
};

/* ---- Preparing ---- */

static void kernel_row(void *context, size_t row, unsigned worker)
{
    struct explain *explain = context;
    const struct explain_candidates *c = explain->candidates;
    const float *a = c->features + row * c->columns;

    (void)worker;
    for (size_t i = 0; i <= row; i++) {
        const float *b = c->features + i * c->columns;
        double sum = 0;

        for (size_t k = 0; k < c->columns; k++)
            sum += (double)a[k] * b[k];
        explain->kernel[row * c->count + i] = sum;
    }
}

/* The other half, the constant features and the ridge. */
static void finish_kernel(struct explain *explain)
{
    size_t count = explain->candidates->count;
    double mean = 0;

    for (size_t i = 0; i < count; i++)
        mean += explain->kernel[i * count + i] / (double)count;
    mean = mean > 0 ? mean : 1;
    explain->ridge = ridge_share * mean;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            explain->kernel[i * count + j] += constant_share * mean;
            explain->kernel[j * count + i] = explain->kernel[i * count + j];
        }
}

static void centre_targets(struct explain *explain)
{
    const struct explain_candidates *c = explain->candidates;
    double sum = 0;

    for (size_t i = 0; i < c->count; i++) {
        const float *logits = c->logits + i * c->classes;
        double mean = 0;

        for (size_t v = 0; v < c->classes; v++)
            mean += logits[v] / (double)c->classes;
        for (size_t v = 0; v < c->classes; v++) {
            double target = logits[v] - mean;

            explain->targets[v * c->count + i] = target;
            sum += target * target;
        }
    }
    explain->variance = sum > 0 ? sum : 1;
}

static void sort_by_class(struct explain *explain)
{
    const struct explain_candidates *c = explain->candidates;
    size_t filled = 0;

    for (size_t v = 0; v < c->classes; v++) {
        explain->first[v] = filled;
        for (size_t i = 0; i < c->count; i++)
            if ((size_t)c->labels[i] == v)
                explain->members[filled++] = i;
    }
    explain->first[c->classes] = filled;
}

static size_t wanted(const struct explain *explain, size_t label)
{
    size_t there = explain->first[label + 1] - explain->first[label];

    return there < explain->per_class ? there : explain->per_class;
}

static void explain_free(struct explain *explain)
{
    free(explain->members);
    free(explain->first);
    free(explain->kernel);
    free(explain->targets);
    free(explain->factor);
    free(explain->weights);
    free(explain->answers);
}

static struct error *explain_make(const struct explain_candidates *c, size_t per_class,
                                  struct explain *explain)
{
    size_t n = 0, count = c->count ? c->count : 1;

    *explain = (struct explain){.candidates = c, .per_class = per_class};
    explain->members = calloc(count, sizeof *explain->members);
    explain->first = calloc(c->classes + 1, sizeof *explain->first);
    explain->kernel = calloc(count, count * sizeof *explain->kernel);
    explain->targets = calloc(count, c->classes * sizeof *explain->targets);
    explain->answers = calloc(count, sizeof *explain->answers);
    if (!explain->members || !explain->first || !explain->kernel || !explain->targets ||
        !explain->answers)
        return error_memory("the choice of series");
    sort_by_class(explain);
    for (size_t v = 0; v < c->classes; v++)
        n += wanted(explain, v);
    explain->chosen_count = n;
    explain->factor = calloc(n + 1, (n + 1) * sizeof *explain->factor);
    explain->weights = calloc(n + 1, c->classes * sizeof *explain->weights);
    if (!explain->factor || !explain->weights)
        return error_memory("the choice of series");
    parallel_for(c->count, kernel_row, explain);
    finish_kernel(explain);
    centre_targets(explain);
    return NULL;
}

/* ---- Judging ---- */

/* kernel + ridge of those chosen = L L', column after column; only the lower half is used. */
static void factorise(struct explain *explain, const size_t *chosen)
{
    size_t n = explain->chosen_count, count = explain->candidates->count;
    double *factor = explain->factor; /* transposed: row j is column j of L */

    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            factor[j * n + i] = explain->kernel[chosen[j] * count + chosen[i]];
    for (size_t j = 0; j < n; j++) {
        double root;

        factor[j * n + j] += explain->ridge;
        for (size_t k = 0; k < j; k++) {
            double head = factor[k * n + j];

            for (size_t i = j; i < n; i++)
                factor[j * n + i] -= head * factor[k * n + i];
        }
        root = sqrt(factor[j * n + j]);
        for (size_t i = j; i < n; i++)
            factor[j * n + i] /= root;
    }
}

/* Weights of the chosen for one class. */
static void solve(const struct explain *explain, const size_t *chosen, const double *targets,
                  double *weights)
{
    size_t n = explain->chosen_count;
    const double *factor = explain->factor;

    for (size_t i = 0; i < n; i++)
        weights[i] = targets[chosen[i]];
    for (size_t j = 0; j < n; j++) {
        weights[j] /= factor[j * n + j];
        for (size_t i = j + 1; i < n; i++)
            weights[i] -= factor[j * n + i] * weights[j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t i = j + 1; i < n; i++)
            weights[j] -= factor[j * n + i] * weights[i];
        weights[j] /= factor[j * n + j];
    }
}

/* How far the regression on those chosen is from the teacher, as a share of the variance. */
static double judge(struct explain *explain, const size_t *chosen)
{
    const struct explain_candidates *c = explain->candidates;
    size_t n = explain->chosen_count;
    double sum = 0;

    factorise(explain, chosen);
    for (size_t v = 0; v < c->classes; v++) {
        const double *targets = explain->targets + v * c->count;
        double *weights = explain->weights + v * n, *answers = explain->answers;

        solve(explain, chosen, targets, weights);
        memset(answers, 0, c->count * sizeof *answers);
        for (size_t j = 0; j < n; j++) {
            const double *row = explain->kernel + chosen[j] * c->count;

            for (size_t i = 0; i < c->count; i++)
                answers[i] += weights[j] * row[i];
        }
        for (size_t i = 0; i < c->count; i++)
            sum += (answers[i] - targets[i]) * (answers[i] - targets[i]);
    }
    return sum / explain->variance;
}

/* ---- Choosing ---- */

/* chosen (n): candidates of class 0, then of class 1, ... */
static void draw(struct explain *explain, struct random_stream *stream, size_t *chosen)
{
    for (size_t v = 0; v < explain->candidates->classes; v++) {
        size_t *members = explain->members + explain->first[v], take = wanted(explain, v);

        random_shuffle(stream, members, explain->first[v + 1] - explain->first[v]);
        memcpy(chosen, members, take * sizeof *chosen);
        chosen += take;
    }
}

/* Puts another series of its class in the place of a chosen one; false if there is none. */
static bool exchange(const struct explain *explain, struct random_stream *stream, size_t *chosen)
{
    size_t at = random_below(stream, explain->chosen_count);
    size_t label = (size_t)explain->candidates->labels[chosen[at]];
    size_t first = explain->first[label], count = explain->first[label + 1] - first;
    size_t other = explain->members[first + random_below(stream, count)];

    for (size_t i = 0; i < explain->chosen_count; i++)
        if (chosen[i] == other)
            return false;
    chosen[at] = other;
    return true;
}

static size_t count_tries(const struct explain *explain)
{
    double n = (double)explain->chosen_count, count = (double)explain->candidates->count;
    double classes = (double)explain->candidates->classes;
    double tries = work_limit / (n * n * n / 3 + 2 * classes * n * (n + count) + 1);

    if (tries > MOST_TRIES)
        return MOST_TRIES;
    return tries < LEAST_TRIES ? LEAST_TRIES : (size_t)tries;
}

/* best (n) of all tries. */
static double search(struct explain *explain, struct random_stream *stream, size_t *best,
                     size_t *tried)
{
    size_t bytes = explain->chosen_count * sizeof *best, tries = count_tries(explain);
    double least = INFINITY;

    for (size_t try = 0; try < tries; try++) {
        double apart;

        if (try < tries / DRAWS + 1) {
            draw(explain, stream, tried);
        } else {
            memcpy(tried, best, bytes);
            if (!exchange(explain, stream, tried))
                continue;
        }
        apart = judge(explain, tried);
        if (apart < least || try == 0) {
            least = apart;
            memcpy(best, tried, bytes);
        }
    }
    return least;
}

struct error *explain_choose(const struct explain_candidates *candidates, size_t per_class,
                             uint64_t seed, size_t *chosen, double *apart)
{
    struct random_stream stream = random_stream(seed, RANDOM_SYNTHESISE, UINT32_MAX);
    struct explain explain;
    struct error *error = explain_make(candidates, per_class, &explain);
    size_t *best = calloc(2 * explain.chosen_count + 1, sizeof *best), *next = best;
    double least = INFINITY;

    if (!error && !best)
        error = error_memory("the choice of series");
    if (!error)
        least = search(&explain, &stream, best, best + explain.chosen_count);
    for (size_t v = 0; !error && v < candidates->classes; v++) {
        size_t take = wanted(&explain, v);

        for (size_t i = 0; i < per_class; i++)
            chosen[v * per_class + i] = i < take ? *next++ : SIZE_MAX;
    }
    if (apart)
        *apart = least;
    free(best);
    explain_free(&explain);
    return error;
}
