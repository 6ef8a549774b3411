/* A regression has two forms that say the same.  Either everything is said by the kernel, the
 * products of the features of all pairs of candidates: with the rows of those chosen, the weights
 * are (kernel + ridge)^-1 logits, and the answers are the rows times that.  Or features have
 * weights: (sum of their products over those chosen + ridge)^-1 (sum of features times logits). The
 * first solves for as many weights as series are chosen, the second for as many as there are
 * features; a set with many more series than features would take hours with the first.  Doubles in
 * plain loops, so that the choice is the same on every machine. */
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
    bool by_features;    /* features have the weights, not series */
    size_t weight_count; /* m: K + 1 features with the constant one, or n series */
    double *rows;        /* (N, N): kernel; by features (K + 1, N): features */
    double *targets;     /* (V, N): logits less their mean over the classes */
    double ridge;
    double variance; /* mean square of the targets */
    double *factor;  /* (m, m): Cholesky factor, lower half */
    double *weights; /* (m) */
    double *answers; /* (N) */
    double *taken;   /* by features (K + 1): of one series */
};

/* ---- Preparing ---- */

static double product(const struct explain_candidates *c, size_t one, size_t other)
{
    const float *a = c->features + one * c->columns, *b = c->features + other * c->columns;
    double sum = 0;

    for (size_t k = 0; k < c->columns; k++)
        sum += (double)a[k] * b[k];
    return sum;
}

static void kernel_row(void *context, size_t row, unsigned worker)
{
    struct explain *explain = context;
    const struct explain_candidates *c = explain->candidates;

    (void)worker;
    for (size_t i = 0; i <= row; i++)
        explain->rows[row * c->count + i] = product(c, row, i);
}

/* The kernel with the constant features. */
static void fill_kernel(struct explain *explain, double constant)
{
    size_t count = explain->candidates->count;

    parallel_for(count, kernel_row, explain);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            explain->rows[i * count + j] += constant;
            explain->rows[j * count + i] = explain->rows[i * count + j];
        }
}

static void fill_features(struct explain *explain, double constant)
{
    const struct explain_candidates *c = explain->candidates;

    for (size_t i = 0; i < c->count; i++) {
        for (size_t k = 0; k < c->columns; k++)
            explain->rows[k * c->count + i] = c->features[i * c->columns + k];
        explain->rows[c->columns * c->count + i] = sqrt(constant);
    }
}

static void prepare(struct explain *explain)
{
    const struct explain_candidates *c = explain->candidates;
    double mean = 0;

    for (size_t i = 0; i < c->count; i++)
        mean += product(c, i, i) / (double)c->count;
    mean = mean > 0 ? mean : 1;
    explain->ridge = ridge_share * mean;
    if (explain->by_features)
        fill_features(explain, constant_share * mean);
    else
        fill_kernel(explain, constant_share * mean);
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
    free(explain->rows);
    free(explain->targets);
    free(explain->factor);
    free(explain->weights);
    free(explain->answers);
    free(explain->taken);
}

/* Which form, and the memory for it. */
static struct error *choose_form(struct explain *explain)
{
    const struct explain_candidates *c = explain->candidates;
    size_t count = c->count ? c->count : 1, n = 0, m;

    for (size_t v = 0; v < c->classes; v++)
        n += wanted(explain, v);
    explain->chosen_count = n;
    explain->by_features = n > 2 * c->columns;
    explain->weight_count = m = explain->by_features ? c->columns + 1 : n;
    explain->rows = calloc(count, (explain->by_features ? m : count) * sizeof *explain->rows);
    explain->factor = calloc(m + 1, (m + 1) * sizeof *explain->factor);
    explain->weights = calloc(m + 1, sizeof *explain->weights);
    explain->taken = calloc(m + 1, sizeof *explain->taken);
    if (!explain->rows || !explain->factor || !explain->weights || !explain->taken)
        return error_memory("the choice of series");
    return NULL;
}

static struct error *explain_make(const struct explain_candidates *c, size_t per_class,
                                  struct explain *explain)
{
    size_t count = c->count ? c->count : 1;

    *explain = (struct explain){.candidates = c, .per_class = per_class};
    explain->members = calloc(count, sizeof *explain->members);
    explain->first = calloc(c->classes + 1, sizeof *explain->first);
    explain->targets = calloc(count, c->classes * sizeof *explain->targets);
    explain->answers = calloc(count, sizeof *explain->answers);
    if (!explain->members || !explain->first || !explain->targets || !explain->answers)
        return error_memory("the choice of series");
    sort_by_class(explain);
    TRY(choose_form(explain));
    prepare(explain);
    centre_targets(explain);
    return NULL;
}

/* ---- Judging ---- */

/* Row j of the matrix that gives the answers from the weights. */
static const double *row_of(const struct explain *explain, const size_t *chosen, size_t j)
{
    return explain->rows + (explain->by_features ? j : chosen[j]) * explain->candidates->count;
}

/* The features of one series. */
static void take_series(const struct explain *explain, size_t series)
{
    for (size_t j = 0; j < explain->weight_count; j++)
        explain->taken[j] = explain->rows[j * explain->candidates->count + series];
}

/* What is to be factorised; only the upper half. */
static void fill_matrix(struct explain *explain, const size_t *chosen)
{
    size_t m = explain->weight_count;
    double *matrix = explain->factor, *taken = explain->taken;

    if (explain->by_features)
        memset(matrix, 0, m * m * sizeof *matrix);
    for (size_t s = 0; explain->by_features && s < explain->chosen_count; s++) {
        take_series(explain, chosen[s]);
        for (size_t j = 0; j < m; j++)
            for (size_t i = j; i < m; i++)
                matrix[j * m + i] += taken[j] * taken[i];
    }
    for (size_t j = 0; !explain->by_features && j < m; j++)
        for (size_t i = j; i < m; i++)
            matrix[j * m + i] = row_of(explain, chosen, j)[chosen[i]];
    for (size_t j = 0; j < m; j++)
        matrix[j * m + j] += explain->ridge;
}

/* ... = L L', column after column. */
static void factorise(struct explain *explain)
{
    size_t m = explain->weight_count;
    double *factor = explain->factor; /* transposed: row j is column j of L */

    for (size_t j = 0; j < m; j++) {
        double root;

        for (size_t k = 0; k < j; k++) {
            double head = factor[k * m + j];

            for (size_t i = j; i < m; i++)
                factor[j * m + i] -= head * factor[k * m + i];
        }
        root = sqrt(factor[j * m + j]);
        for (size_t i = j; i < m; i++)
            factor[j * m + i] /= root;
    }
}

/* The right-hand side for one class. */
static void fill_side(const struct explain *explain, const size_t *chosen, const double *targets)
{
    double *weights = explain->weights;

    for (size_t j = 0; j < explain->weight_count; j++) {
        const double *row = row_of(explain, chosen, j);

        if (!explain->by_features) {
            weights[j] = targets[chosen[j]];
            continue;
        }
        weights[j] = 0;
        for (size_t s = 0; s < explain->chosen_count; s++)
            weights[j] += row[chosen[s]] * targets[chosen[s]];
    }
}

/* The weights for it. */
static void solve(const struct explain *explain)
{
    size_t m = explain->weight_count;
    const double *factor = explain->factor;
    double *weights = explain->weights;

    for (size_t j = 0; j < m; j++) {
        weights[j] /= factor[j * m + j];
        for (size_t i = j + 1; i < m; i++)
            weights[i] -= factor[j * m + i] * weights[j];
    }
    for (size_t j = m; j-- > 0;) {
        for (size_t i = j + 1; i < m; i++)
            weights[j] -= factor[j * m + i] * weights[i];
        weights[j] /= factor[j * m + j];
    }
}

/* How far the regression on those chosen is from the teacher, as a share of the variance. */
static double judge(struct explain *explain, const size_t *chosen)
{
    const struct explain_candidates *c = explain->candidates;
    double sum = 0;

    fill_matrix(explain, chosen);
    factorise(explain);
    for (size_t v = 0; v < c->classes; v++) {
        const double *targets = explain->targets + v * c->count;
        double *answers = explain->answers;

        fill_side(explain, chosen, targets);
        solve(explain);
        memset(answers, 0, c->count * sizeof *answers);
        for (size_t j = 0; j < explain->weight_count; j++) {
            const double *row = row_of(explain, chosen, j);
            double weight = explain->weights[j];

            for (size_t i = 0; i < c->count; i++)
                answers[i] += weight * row[i];
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
