/* A regression has two forms that say the same.  Either every series chosen has a weight: with the
 * kernel K, the products X X' of the features X of all candidates (one constant among them), and
 * the targets T,
 *     w = (K[chosen, chosen] + ridge)^-1 T[chosen],   answers  K[:, chosen] w.
 * Or every feature has one:
 *     w = (X_c' X_c + ridge)^-1 X_c' T_c,             answers  X w.
 * The first solves for as many weights as series are chosen, the second for as many as there are
 * features; a set with many more series than features would take hours with the first.
 *
 * The answers themselves are not needed, only how far they are from the targets.  With R for the
 * matrix that the answers come from,
 *     |R w - T|^2 = w' (R' R) w - 2 (R' T) w + |T|^2,
 * where R' R and R' T are part of K K and K T, or all of X' X and X' T, which are made once.  So a
 * try takes no time that grows with the number of candidates. */
#include "choose/ridge.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/random.h"

/* Of the mean square of a candidate's features: the ridge, which stands for what the rest of a
 * student adds, and the product of constant features, which stands for its bias. */
static const double ridge_share = 0.07, constant_share = 0.01;

/* A fifth of all tries are draws, the others exchanges.  Fewer of many series. */
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
    double *features;    /* (N, K + 1) */
    double *targets;     /* (V, N): logits less their mean over the classes */
    double *kernel;      /* by series (N, N): X X' */
    double *squares;     /* by series (N, N): K K; by features (K + 1, K + 1): X' X */
    double *sides;       /* by series (V, N): K T; by features (V, K + 1): X' T */
    double ridge;
    double total;           /* sum of the squares of the targets */
    double *matrix;         /* (m, m) to be inverted */
    double *square;         /* by series (m, m): part of the squares */
    double *weights;        /* (V, m) */
    double *product;        /* (V, m) */
    double *chosen_targets; /* by features (V, n) */
    double *taken;          /* by features (n, K + 1): features of those chosen */
};

/* ---- Preparing ---- */

/* c (m, n) = a' b of arrays with k rows. */
static void multiply_columns(size_t m, size_t n, size_t k, const double *a, const double *b,
                             double *c)
{
    dense_multiply(&(struct dense_product){.m = m,
                                           .n = n,
                                           .k = k,
                                           .transpose_a = true,
                                           .stride_a = m,
                                           .stride_b = n,
                                           .stride_c = n},
                   a, b, c);
}

/* c (m, n) = a b */
static void multiply(size_t m, size_t n, size_t k, const double *a, const double *b, double *c)
{
    dense_multiply(
        &(struct dense_product){
            .m = m, .n = n, .k = k, .stride_a = k, .stride_b = n, .stride_c = n},
        a, b, c);
}

/* Features in doubles, with the constant one.  Returns the mean square of a candidate's. */
static double fill_features(struct explain *explain)
{
    const struct explain_candidates *c = explain->candidates;
    size_t row = c->columns + 1;
    double mean = 0;

    for (size_t i = 0; i < c->count; i++) {
        double *own = explain->features + i * row, sum = 0;

        for (size_t k = 0; k < c->columns; k++) {
            own[k] = c->features[i * c->columns + k];
            sum += own[k] * own[k];
        }
        mean += sum / (double)c->count;
    }
    mean = mean > 0 ? mean : 1;
    for (size_t i = 0; i < c->count; i++)
        explain->features[i * row + c->columns] = sqrt(constant_share * mean);
    return mean;
}

static void prepare(struct explain *explain)
{
    const struct explain_candidates *c = explain->candidates;
    size_t row = c->columns + 1;

    explain->ridge = ridge_share * fill_features(explain);
    if (explain->by_features) {
        multiply_columns(row, row, c->count, explain->features, explain->features,
                         explain->squares);
        multiply(c->classes, row, c->count, explain->targets, explain->features, explain->sides);
    } else {
        dense_gram(c->count, row, explain->features, explain->kernel);
        dense_gram(c->count, c->count, explain->kernel, explain->squares);
        multiply(c->classes, c->count, c->count, explain->targets, explain->kernel, explain->sides);
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
    explain->total = sum;
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
    free(explain->features);
    free(explain->targets);
    free(explain->kernel);
    free(explain->squares);
    free(explain->sides);
    free(explain->matrix);
    free(explain->square);
    free(explain->weights);
    free(explain->product);
    free(explain->chosen_targets);
    free(explain->taken);
}

/* NULL if the size of the array overflows, too. */
static double *make_array(size_t rows, size_t columns)
{
    return calloc(rows + 1, (columns + 1) * sizeof(double));
}

/* Which form, and the memory for it. */
static struct error *choose_form(struct explain *explain)
{
    const struct explain_candidates *c = explain->candidates;
    size_t row = c->columns + 1, n = 0, m, all;

    for (size_t v = 0; v < c->classes; v++)
        n += wanted(explain, v);
    explain->chosen_count = n;
    explain->by_features = n > 2 * c->columns;
    explain->weight_count = m = explain->by_features ? row : n;
    all = explain->by_features ? row : c->count;
    TRY(dense_open(c->count > row ? c->count : row));
    explain->features = make_array(c->count, row);
    explain->kernel = explain->by_features ? NULL : make_array(all, all);
    explain->squares = make_array(all, all);
    explain->sides = make_array(c->classes, all);
    explain->matrix = make_array(m, m);
    explain->square = explain->by_features ? NULL : make_array(m, m);
    explain->weights = make_array(c->classes, m);
    explain->product = make_array(c->classes, m);
    explain->chosen_targets = explain->by_features ? make_array(c->classes, n) : NULL;
    explain->taken = explain->by_features ? make_array(n, row) : NULL;
    if (!explain->features || !explain->squares || !explain->sides || !explain->matrix ||
        !explain->weights || !explain->product ||
        (explain->by_features ? !explain->chosen_targets || !explain->taken
                              : !explain->kernel || !explain->square))
        return error_memory("the choice of series");
    return NULL;
}

static struct error *explain_make(const struct explain_candidates *c, size_t per_class,
                                  struct explain *explain)
{
    *explain = (struct explain){.candidates = c, .per_class = per_class};
    explain->members = calloc(c->count + 1, sizeof *explain->members);
    explain->first = calloc(c->classes + 1, sizeof *explain->first);
    explain->targets = make_array(c->classes, c->count);
    if (!explain->members || !explain->first || !explain->targets)
        return error_memory("the choice of series");
    sort_by_class(explain);
    TRY(choose_form(explain));
    centre_targets(explain);
    prepare(explain);
    return NULL;
}

/* ---- Judging ---- */

/* part (n, n): rows and columns `chosen` of whole (N, N). */
static void take_square(const double *whole, size_t count, const size_t *chosen, size_t n,
                        double *part)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            part[j * n + i] = whole[chosen[j] * count + chosen[i]];
}

/* part (rows, n): columns `chosen` of whole (rows, N). */
static void take_columns(const double *whole, size_t rows, size_t count, const size_t *chosen,
                         size_t n, double *part)
{
    for (size_t v = 0; v < rows; v++)
        for (size_t j = 0; j < n; j++)
            part[v * n + j] = whole[v * count + chosen[j]];
}

/* The matrix, without the ridge, and the right-hand sides, in place of the weights. */
static void fill_by_series(struct explain *explain, const size_t *chosen)
{
    const struct explain_candidates *c = explain->candidates;

    take_square(explain->kernel, c->count, chosen, explain->chosen_count, explain->matrix);
    take_columns(explain->targets, c->classes, c->count, chosen, explain->chosen_count,
                 explain->weights);
}

static void fill_by_features(struct explain *explain, const size_t *chosen)
{
    const struct explain_candidates *c = explain->candidates;
    size_t n = explain->chosen_count, m = explain->weight_count;

    for (size_t s = 0; s < n; s++)
        memcpy(explain->taken + s * m, explain->features + chosen[s] * m, m * sizeof(double));
    take_columns(explain->targets, c->classes, c->count, chosen, n, explain->chosen_targets);
    multiply_columns(m, m, n, explain->taken, explain->taken, explain->matrix);
    multiply(c->classes, m, n, explain->chosen_targets, explain->taken, explain->weights);
}

/* w' S w - 2 side' w, over all classes. */
static double quadratic(struct explain *explain, const size_t *chosen)
{
    const struct explain_candidates *c = explain->candidates;
    size_t m = explain->weight_count, size = c->classes * m;
    const double *square = explain->squares, *sides = explain->sides;
    double sum;

    if (!explain->by_features) {
        take_square(explain->squares, c->count, chosen, m, explain->square);
        square = explain->square;
    }
    multiply(c->classes, m, m, explain->weights, square, explain->product);
    sum = dense_dot(size, explain->weights, explain->product);
    if (!explain->by_features) {
        take_columns(explain->sides, c->classes, c->count, chosen, m, explain->product);
        sides = explain->product;
    }
    return sum - 2 * dense_dot(size, explain->weights, sides);
}

/* How far the regression on those chosen is from the teacher, as a share of the variance. */
static double judge(struct explain *explain, const size_t *chosen)
{
    size_t m = explain->weight_count;
    double left;

    if (explain->by_features)
        fill_by_features(explain, chosen);
    else
        fill_by_series(explain, chosen);
    for (size_t j = 0; j < m; j++)
        explain->matrix[j * m + j] += explain->ridge;
    if (!dense_cholesky(m, explain->matrix)) /* of what is not finite */
        return INFINITY;
    dense_cholesky_solve(m, explain->candidates->classes, explain->matrix, explain->weights);
    left = explain->total + quadratic(explain, chosen);
    return explain->total > 0 ? fmax(0, left / explain->total) : 0;
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
