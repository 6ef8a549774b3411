/* A regression has two equivalent forms.  Either every series chosen has a weight: with the
 * kernel K, the products X X' of the features X of all candidates (one constant among them), and
 * the targets T,
 *     w = (K[chosen, chosen] + ridge)^-1 T[chosen],   answers  K[:, chosen] w.
 * Or every feature has one:
 *     w = (X_c' X_c + ridge)^-1 X_c' T_c,             answers  X w.
 * The first solves for as many weights as series are chosen, the second for as many as there are
 * features; a dataset with many more series than features would take hours with the first.
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
#include "data/classes.h"

/* Both relative to the mean squared norm of the features: the ridge penalty, and the square of the
 * bias feature. */
static const double ridge_share = 0.07, constant_share = 0.01;

/* A fifth of all tries are draws, the others exchanges.  Fewer of many series. */
static const double work_limit = 4e9;
enum { MOST_TRIES = 4000, LEAST_TRIES = 20, DRAWS = 5 };

struct ridge_choice {
    const struct ridge_candidates *candidates;
    size_t per_class;
    size_t chosen_count; /* n */
    struct class_lists lists;
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
static double fill_features(struct ridge_choice *choice)
{
    const struct ridge_candidates *c = choice->candidates;
    size_t row = c->columns + 1;
    double mean = 0;

    for (size_t i = 0; i < c->count; i++) {
        double *own = choice->features + i * row, sum = 0;

        for (size_t k = 0; k < c->columns; k++) {
            own[k] = c->features[i * c->columns + k];
            sum += own[k] * own[k];
        }
        mean += sum / (double)c->count;
    }
    mean = mean > 0 ? mean : 1;
    for (size_t i = 0; i < c->count; i++)
        choice->features[i * row + c->columns] = sqrt(constant_share * mean);
    return mean;
}

static void prepare(struct ridge_choice *choice)
{
    const struct ridge_candidates *c = choice->candidates;
    size_t row = c->columns + 1;

    choice->ridge = ridge_share * fill_features(choice);
    if (choice->by_features) {
        multiply_columns(row, row, c->count, choice->features, choice->features, choice->squares);
        multiply(c->classes, row, c->count, choice->targets, choice->features, choice->sides);
    } else {
        dense_gram(c->count, row, choice->features, choice->kernel);
        dense_gram(c->count, c->count, choice->kernel, choice->squares);
        multiply(c->classes, c->count, c->count, choice->targets, choice->kernel, choice->sides);
    }
}

static void centre_targets(struct ridge_choice *choice)
{
    const struct ridge_candidates *c = choice->candidates;
    double sum = 0;

    for (size_t i = 0; i < c->count; i++) {
        const float *logits = c->logits + i * c->classes;
        double mean = 0;

        for (size_t v = 0; v < c->classes; v++)
            mean += logits[v] / (double)c->classes;
        for (size_t v = 0; v < c->classes; v++) {
            double target = logits[v] - mean;

            choice->targets[v * c->count + i] = target;
            sum += target * target;
        }
    }
    choice->total = sum;
}

static size_t wanted(const struct ridge_choice *choice, size_t label)
{
    size_t there = class_size(&choice->lists, label);

    return there < choice->per_class ? there : choice->per_class;
}

static void choice_free(struct ridge_choice *choice)
{
    class_lists_free(&choice->lists);
    free(choice->features);
    free(choice->targets);
    free(choice->kernel);
    free(choice->squares);
    free(choice->sides);
    free(choice->matrix);
    free(choice->square);
    free(choice->weights);
    free(choice->product);
    free(choice->chosen_targets);
    free(choice->taken);
}

/* NULL also if the size of the array overflows. */
static double *make_array(size_t rows, size_t columns)
{
    return calloc(rows + 1, (columns + 1) * sizeof(double));
}

/* Which form, and the memory for it. */
static struct error *choose_form(struct ridge_choice *choice)
{
    const struct ridge_candidates *c = choice->candidates;
    size_t row = c->columns + 1, n = 0, m, all;

    for (size_t v = 0; v < c->classes; v++)
        n += wanted(choice, v);
    choice->chosen_count = n;
    choice->by_features = n > 2 * c->columns;
    choice->weight_count = m = choice->by_features ? row : n;
    all = choice->by_features ? row : c->count;
    TRY(dense_open(c->count > row ? c->count : row));
    choice->features = make_array(c->count, row);
    choice->kernel = choice->by_features ? NULL : make_array(all, all);
    choice->squares = make_array(all, all);
    choice->sides = make_array(c->classes, all);
    choice->matrix = make_array(m, m);
    choice->square = choice->by_features ? NULL : make_array(m, m);
    choice->weights = make_array(c->classes, m);
    choice->product = make_array(c->classes, m);
    choice->chosen_targets = choice->by_features ? make_array(c->classes, n) : NULL;
    choice->taken = choice->by_features ? make_array(n, row) : NULL;
    if (!choice->features || !choice->squares || !choice->sides || !choice->matrix ||
        !choice->weights || !choice->product ||
        (choice->by_features ? !choice->chosen_targets || !choice->taken
                             : !choice->kernel || !choice->square))
        return error_memory("the choice of series");
    return NULL;
}

static struct error *choice_make(const struct ridge_candidates *c, size_t per_class,
                                 struct ridge_choice *choice)
{
    *choice = (struct ridge_choice){.candidates = c, .per_class = per_class};
    choice->targets = make_array(c->classes, c->count);
    if (!choice->targets)
        return error_memory("the choice of series");
    TRY(class_lists_make(c->labels, c->count, c->classes, &choice->lists));
    TRY(choose_form(choice));
    centre_targets(choice);
    prepare(choice);
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
static void fill_by_series(struct ridge_choice *choice, const size_t *chosen)
{
    const struct ridge_candidates *c = choice->candidates;

    take_square(choice->kernel, c->count, chosen, choice->chosen_count, choice->matrix);
    take_columns(choice->targets, c->classes, c->count, chosen, choice->chosen_count,
                 choice->weights);
}

static void fill_by_features(struct ridge_choice *choice, const size_t *chosen)
{
    const struct ridge_candidates *c = choice->candidates;
    size_t n = choice->chosen_count, m = choice->weight_count;

    for (size_t s = 0; s < n; s++)
        memcpy(choice->taken + s * m, choice->features + chosen[s] * m, m * sizeof(double));
    take_columns(choice->targets, c->classes, c->count, chosen, n, choice->chosen_targets);
    multiply_columns(m, m, n, choice->taken, choice->taken, choice->matrix);
    multiply(c->classes, m, n, choice->chosen_targets, choice->taken, choice->weights);
}

/* w' S w - 2 side' w, over all classes. */
static double quadratic(struct ridge_choice *choice, const size_t *chosen)
{
    const struct ridge_candidates *c = choice->candidates;
    size_t m = choice->weight_count, size = c->classes * m;
    const double *square = choice->squares, *sides = choice->sides;
    double sum;

    if (!choice->by_features) {
        take_square(choice->squares, c->count, chosen, m, choice->square);
        square = choice->square;
    }
    multiply(c->classes, m, m, choice->weights, square, choice->product);
    sum = dense_dot(size, choice->weights, choice->product);
    if (!choice->by_features) {
        take_columns(choice->sides, c->classes, c->count, chosen, m, choice->product);
        sides = choice->product;
    }
    return sum - 2 * dense_dot(size, choice->weights, sides);
}

/* How far the regression on those chosen is from the teacher, as a share of the variance. */
static double judge(struct ridge_choice *choice, const size_t *chosen)
{
    size_t m = choice->weight_count;
    double left;

    if (choice->by_features)
        fill_by_features(choice, chosen);
    else
        fill_by_series(choice, chosen);
    for (size_t j = 0; j < m; j++)
        choice->matrix[j * m + j] += choice->ridge;
    if (!dense_cholesky(m, choice->matrix)) /* of what is not finite */
        return INFINITY;
    dense_cholesky_solve(m, choice->candidates->classes, choice->matrix, choice->weights);
    left = choice->total + quadratic(choice, chosen);
    return choice->total > 0 ? fmax(0, left / choice->total) : 0;
}

/* ---- Choosing ---- */

/* chosen (n): candidates of class 0, then of class 1, ... */
static void draw(struct ridge_choice *choice, struct random_stream *stream, size_t *chosen)
{
    for (size_t v = 0; v < choice->candidates->classes; v++) {
        size_t *members = class_members(&choice->lists, v), take = wanted(choice, v);

        random_shuffle(stream, members, class_size(&choice->lists, v));
        memcpy(chosen, members, take * sizeof *chosen);
        chosen += take;
    }
}

/* Puts another series of its class in the place of a chosen one; false if there is none. */
static bool exchange(const struct ridge_choice *choice, struct random_stream *stream,
                     size_t *chosen)
{
    size_t at = random_below(stream, choice->chosen_count);
    size_t label = (size_t)choice->candidates->labels[chosen[at]];
    size_t among = random_below(stream, class_size(&choice->lists, label));
    size_t other = class_members(&choice->lists, label)[among];

    for (size_t i = 0; i < choice->chosen_count; i++)
        if (chosen[i] == other)
            return false;
    chosen[at] = other;
    return true;
}

static size_t count_tries(const struct ridge_choice *choice)
{
    double n = (double)choice->chosen_count, count = (double)choice->candidates->count;
    double classes = (double)choice->candidates->classes;
    double tries = work_limit / (n * n * n / 3 + 2 * classes * n * (n + count) + 1);

    if (tries > MOST_TRIES)
        return MOST_TRIES;
    return tries < LEAST_TRIES ? LEAST_TRIES : (size_t)tries;
}

/* best (n) of all tries. */
static double search(struct ridge_choice *choice, struct random_stream *stream, size_t *best,
                     size_t *tried)
{
    size_t bytes = choice->chosen_count * sizeof *best, tries = count_tries(choice);
    double least = INFINITY;

    for (size_t try = 0; try < tries; try++) {
        double distance;

        if (try < tries / DRAWS + 1) {
            draw(choice, stream, tried);
        } else {
            memcpy(tried, best, bytes);
            if (!exchange(choice, stream, tried))
                continue;
        }
        distance = judge(choice, tried);
        if (distance < least || try == 0) {
            least = distance;
            memcpy(best, tried, bytes);
        }
    }
    return least;
}

struct error *ridge_choose(const struct ridge_candidates *candidates, size_t per_class,
                           uint64_t seed, size_t *chosen, double *unexplained)
{
    struct random_stream stream = random_stream(seed, RANDOM_SYNTHESISE, UINT32_MAX);
    struct ridge_choice choice;
    struct error *error = choice_make(candidates, per_class, &choice);
    size_t *best = calloc(2 * choice.chosen_count + 1, sizeof *best), *next = best;
    double least = INFINITY;

    if (!error && !best)
        error = error_memory("the choice of series");
    if (!error)
        least = search(&choice, &stream, best, best + choice.chosen_count);
    for (size_t v = 0; !error && v < candidates->classes; v++) {
        size_t take = wanted(&choice, v);

        for (size_t i = 0; i < per_class; i++)
            chosen[v * per_class + i] = i < take ? *next++ : SIZE_MAX;
    }
    if (unexplained)
        *unexplained = least;
    free(best);
    choice_free(&choice);
    return error;
}
