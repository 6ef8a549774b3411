/* What OpenBLAS gains over plain loops in C, for the dense algebra of the suite and at the sizes
 * that it has there: one thread, loops and library in turn, medians.
 *
 *     dense [REPEATS]
 *
 * Prints for each job how many times as fast the library is; below 1 a loop would be faster. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/dense.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "base/random.h"

enum { MOST_REPEATS = 99 };

static int repeats = 9;
static struct random_stream stream;
static volatile double used; /* so that nothing is left out */

static void check(struct error *error)
{
    if (!error)
        return;
    fprintf(stderr, "dense: %s\n", error_message(error));
    exit(1);
}

static void *make(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        check(error_memory("a benchmark"));
    return memory;
}

static double *make_doubles(size_t count)
{
    double *values = make(count, sizeof *values);

    for (size_t i = 0; i < count; i++)
        values[i] = random_normal(&stream);
    return values;
}

static float *make_floats(size_t count)
{
    float *values = make(count, sizeof *values);

    for (size_t i = 0; i < count; i++)
        values[i] = (float)random_normal(&stream);
    return values;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The time of a call, from as many as take two milliseconds. */
static double time_of(void (*run)(void *), void *job)
{
    double start = now(), spent;
    size_t calls = 0;

    do {
        run(job);
        calls++;
        spent = now() - start;
    } while (spent < 0.002);
    return spent / (double)calls;
}

static void report(const char *name, void (*loop)(void *), void (*library)(void *), void *job)
{
    double ratios[MOST_REPEATS];

    library(job);
    for (int r = 0; r < repeats; r++) {
        double theirs = time_of(loop, job);

        ratios[r] = theirs / time_of(library, job);
    }
    qsort(ratios, (size_t)repeats, sizeof *ratios, compare);
    printf("%-62s %6.1f\n", name, ratios[repeats / 2]);
    fflush(stdout);
}

/* ---- Gram matrices: a a' ---- */

struct matrices {
    size_t m, k;
    double *a, *c, *factor, *b;
    size_t sides;
};

static void gram_loop(void *job)
{
    struct matrices *j = job;

    for (size_t i = 0; i < j->m; i++)
        for (size_t l = 0; l <= i; l++) {
            double sum = 0;

            for (size_t k = 0; k < j->k; k++)
                sum += j->a[i * j->k + k] * j->a[l * j->k + k];
            j->c[i * j->m + l] = j->c[l * j->m + i] = sum;
        }
}

static void gram_library(void *job)
{
    struct matrices *j = job;

    dense_gram(j->m, j->k, j->a, j->c);
}

static void bench_gram(size_t m, size_t k)
{
    struct matrices j = {.m = m, .k = k, .a = make_doubles(m * k), .c = make_doubles(m * m)};
    char name[80];

    snprintf(name, sizeof name, "Gram matrix of %zu candidates, %zu features", m, k);
    report(name, gram_loop, gram_library, &j);
    free(j.a);
    free(j.c);
}

/* ---- Equations: Cholesky factor and solutions ---- */

static void solve_loop(void *job)
{
    struct matrices *j = job;
    size_t m = j->m;
    double *factor = j->factor;

    memcpy(factor, j->a, m * m * sizeof *factor);
    for (size_t row = 0; row < m; row++) {
        double root;

        for (size_t k = 0; k < row; k++) {
            double head = factor[k * m + row];

            for (size_t i = row; i < m; i++)
                factor[row * m + i] -= head * factor[k * m + i];
        }
        root = sqrt(factor[row * m + row]);
        for (size_t i = row; i < m; i++)
            factor[row * m + i] /= root;
    }
    memcpy(j->c, j->b, j->sides * m * sizeof *j->c);
    for (size_t side = 0; side < j->sides; side++) {
        double *x = j->c + side * m;

        for (size_t row = 0; row < m; row++) {
            x[row] /= factor[row * m + row];
            for (size_t i = row + 1; i < m; i++)
                x[i] -= factor[row * m + i] * x[row];
        }
        for (size_t row = m; row-- > 0;) {
            for (size_t i = row + 1; i < m; i++)
                x[row] -= factor[row * m + i] * x[i];
            x[row] /= factor[row * m + row];
        }
    }
}

static void solve_library(void *job)
{
    struct matrices *j = job;

    memcpy(j->factor, j->a, j->m * j->m * sizeof *j->factor);
    memcpy(j->c, j->b, j->sides * j->m * sizeof *j->c);
    if (!dense_cholesky(j->m, j->factor))
        check(error_make("the matrix is not positive definite"));
    dense_cholesky_solve(j->m, j->sides, j->factor, j->c);
}

static void bench_solve(size_t m, size_t sides)
{
    struct matrices j = {.m = m,
                         .sides = sides,
                         .a = make_doubles(m * m),
                         .factor = make_doubles(m * m),
                         .b = make_doubles(sides * m),
                         .c = make_doubles(sides * m)};
    double *root = make_doubles(m * m);
    char name[80];

    dense_gram(m, m, root, j.a);
    for (size_t i = 0; i < m; i++)
        j.a[i * m + i] += (double)m;
    snprintf(name, sizeof name, "ridge regression: %zu weights for %zu classes", m, sides);
    report(name, solve_loop, solve_library, &j);
    free(j.a);
    free(j.factor);
    free(j.b);
    free(j.c);
    free(root);
}

/* ---- Logistic regression: logits and gradient of a block ---- */

enum { BLOCK = 512 };

struct logits {
    size_t features, classes;
    double *z, *weights, *errors, *gradient;
};

static void logits_loop(void *job)
{
    struct logits *j = job;

    for (size_t i = 0; i < BLOCK; i++)
        for (size_t v = 0; v < j->classes; v++) {
            double sum[4] = {0};
            size_t d = 0;

            for (; d + 4 <= j->features; d += 4)
                for (size_t k = 0; k < 4; k++)
                    sum[k] += j->weights[v * j->features + d + k] * j->z[i * j->features + d + k];
            for (; d < j->features; d++)
                sum[0] += j->weights[v * j->features + d] * j->z[i * j->features + d];
            j->errors[i * j->classes + v] = sum[0] + sum[1] + sum[2] + sum[3];
        }
    memset(j->gradient, 0, j->classes * j->features * sizeof *j->gradient);
    for (size_t i = 0; i < BLOCK; i++)
        for (size_t v = 0; v < j->classes; v++)
            for (size_t d = 0; d < j->features; d++)
                j->gradient[v * j->features + d] +=
                    j->errors[i * j->classes + v] * j->z[i * j->features + d];
}

static void logits_library(void *job)
{
    struct logits *j = job;

    dense_multiply(&(struct dense_product){.m = BLOCK,
                                           .n = j->classes,
                                           .k = j->features,
                                           .transpose_b = true,
                                           .stride_a = j->features,
                                           .stride_b = j->features,
                                           .stride_c = j->classes},
                   j->z, j->weights, j->errors);
    dense_multiply(&(struct dense_product){.m = j->classes,
                                           .n = j->features,
                                           .k = BLOCK,
                                           .transpose_a = true,
                                           .stride_a = j->classes,
                                           .stride_b = j->features,
                                           .stride_c = j->features},
                   j->errors, j->z, j->gradient);
}

static void bench_logits(size_t features, size_t classes)
{
    struct logits j = {.features = features,
                       .classes = classes,
                       .z = make_doubles(BLOCK * features),
                       .weights = make_doubles(classes * features),
                       .errors = make_doubles(BLOCK * classes),
                       .gradient = make_doubles(classes * features)};
    char name[80];

    snprintf(name, sizeof name, "logistic regression: %zu features, %zu classes", features,
             classes);
    report(name, logits_loop, logits_library, &j);
    free(j.z);
    free(j.weights);
    free(j.errors);
    free(j.gradient);
}

struct vectors {
    size_t size;
    double *x, *y;
};

static void vectors_loop(void *job)
{
    struct vectors *j = job;
    double sum = 0;

    for (size_t i = 0; i < j->size; i++)
        sum += j->x[i] * j->y[i];
    for (size_t i = 0; i < j->size; i++)
        j->y[i] += 1e-9 * j->x[i];
    used = sum;
}

static void vectors_library(void *job)
{
    struct vectors *j = job;

    used = dense_dot(j->size, j->x, j->y);
    dense_add(j->size, 1e-9, j->x, j->y);
}

static void bench_vectors(size_t size)
{
    struct vectors j = {size, make_doubles(size), make_doubles(size)};
    char name[80];

    snprintf(name, sizeof name, "L-BFGS: dot product and sum of %zu parameters", size);
    report(name, vectors_loop, vectors_library, &j);
    free(j.x);
    free(j.y);
}

/* ---- Distances ---- */

struct distances {
    float *x, *centre_values;
    struct points points, centres;
    float *scratch, *room;
    double *nearest, *target;
    bool *excluded;
    size_t *assigned, *of, *neighbours;
};

/* As it was written before there was a library: one sum after the other. */
static double plain_distance(const float *a, const float *b, size_t dimension)
{
    double sum = 0;

    for (size_t i = 0; i < dimension; i++) {
        double difference = (double)a[i] - (double)b[i];

        sum += difference * difference;
    }
    return sum;
}

static void assign_loop(void *job)
{
    struct distances *j = job;
    size_t dimension = j->points.dimension;

    for (size_t i = 0; i < j->points.count; i++) {
        double least = INFINITY;

        for (size_t c = 0; c < j->centres.count; c++) {
            double distance =
                plain_distance(j->x + i * dimension, j->centre_values + c * dimension, dimension);

            if (distance < least) {
                least = distance;
                j->assigned[i] = c;
            }
        }
    }
}

static void assign_library(void *job)
{
    struct distances *j = job;

    nearest_assign(&j->points, &j->centres, j->scratch, j->assigned);
}

/* k-center and the start of k-means: a distance to each centre for each point. */
static void lower_loop(void *job)
{
    struct distances *j = job;
    size_t dimension = j->points.dimension;

    for (size_t i = 0; i < j->points.count; i++)
        j->nearest[i] = INFINITY;
    for (size_t c = 0; c < j->centres.count; c++)
        for (size_t i = 0; i < j->points.count; i++)
            j->nearest[i] =
                fmin(j->nearest[i], plain_distance(j->x + i * dimension,
                                                   j->centre_values + c * dimension, dimension));
}

static void lower_library(void *job)
{
    struct distances *j = job;

    for (size_t i = 0; i < j->points.count; i++)
        j->nearest[i] = INFINITY;
    for (size_t c = 0; c < j->centres.count; c++)
        nearest_lower(&j->points, j->centre_values + c * j->points.dimension, j->nearest);
}

/* The distance itself, where it must be known: both are loops. */
static void exact_loop(void *job)
{
    struct distances *j = job;
    size_t dimension = j->points.dimension;

    for (size_t i = 0; i < j->points.count; i++)
        j->nearest[i] = plain_distance(j->x + i * dimension, j->x, dimension);
}

static void exact_library(void *job)
{
    struct distances *j = job;
    size_t dimension = j->points.dimension;

    for (size_t i = 0; i < j->points.count; i++)
        j->nearest[i] = squared_distance(j->x + i * dimension, j->x, dimension);
}

static void herd_loop(void *job)
{
    struct distances *j = job;
    size_t dimension = j->points.dimension, best = 0;
    double least = INFINITY;

    for (size_t i = 0; i < j->points.count; i++) {
        double sum = 0;

        for (size_t d = 0; d < dimension; d++) {
            double difference = (double)j->x[i * dimension + d] - j->target[d];

            sum += difference * difference;
        }
        if (sum < least) {
            least = sum;
            best = i;
        }
    }
    used = (double)best;
}

static void herd_library(void *job)
{
    struct distances *j = job;

    used = (double)nearest_to(&j->points, j->target, j->excluded, j->room);
}

enum { ROWS = 64, NEIGHBOURS = 5 };

static void neighbours_loop(void *job)
{
    struct distances *j = job;
    size_t dimension = j->points.dimension;

    for (size_t row = 0; row < ROWS; row++) {
        double best[NEIGHBOURS];
        size_t found = 0, *own = j->neighbours + row * NEIGHBOURS;

        for (size_t i = 0; i < j->points.count; i++) {
            double distance;
            size_t at;

            if (i == j->of[row])
                continue;
            distance =
                plain_distance(j->x + i * dimension, j->x + j->of[row] * dimension, dimension);
            if (found == NEIGHBOURS && distance >= best[found - 1])
                continue;
            at = found < NEIGHBOURS ? found++ : found - 1;
            for (; at > 0 && best[at - 1] > distance; at--) {
                best[at] = best[at - 1];
                own[at] = own[at - 1];
            }
            best[at] = distance;
            own[at] = i;
        }
    }
}

static void neighbours_library(void *job)
{
    struct distances *j = job;

    check(nearest_neighbours(&j->points, j->of, ROWS, NEIGHBOURS, j->neighbours));
}

static void bench_distances(size_t count, size_t dimension, size_t centres)
{
    struct distances j = {.x = make_floats(count * dimension),
                          .centre_values = make_floats(centres * dimension),
                          .scratch = make(nearest_scratch(centres), 1),
                          .nearest = make_doubles(count),
                          .room = make_floats(count + dimension),
                          .target = make_doubles(dimension),
                          .excluded = make(count, sizeof(bool)),
                          .assigned = make(count, sizeof(size_t)),
                          .of = make(ROWS, sizeof(size_t)),
                          .neighbours = make(ROWS * NEIGHBOURS, sizeof(size_t))};
    char name[80];

    check(points_make(j.x, count, dimension, &j.points));
    check(points_make(j.centre_values, centres, dimension, &j.centres));
    for (size_t row = 0; row < ROWS; row++)
        j.of[row] = row * 3;
    printf("%zu points of %zu dimensions\n", count, dimension);
    snprintf(name, sizeof name, "  k-means: which of %zu centres is nearest", centres);
    report(name, assign_loop, assign_library, &j);
    snprintf(name, sizeof name, "  k-center, k-means++: distances to the nearest of %zu", centres);
    report(name, lower_loop, lower_library, &j);
    report("  herding: the nearest point", herd_loop, herd_library, &j);
    report("  SMOTE: five neighbours of 64 points", neighbours_loop, neighbours_library, &j);
    report("  a distance in doubles (both are loops)", exact_loop, exact_library, &j);
    points_free(&j.points);
    points_free(&j.centres);
    free(j.x);
    free(j.centre_values);
    free(j.scratch);
    free(j.nearest);
    free(j.room);
    free(j.target);
    free(j.excluded);
    free(j.assigned);
    free(j.of);
    free(j.neighbours);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        repeats = atoi(argv[1]);
    if (argc > 2 || repeats < 1 || repeats > MOST_REPEATS) {
        fprintf(stderr, "usage: dense [REPEATS], up to %d\n", MOST_REPEATS);
        return 2;
    }
    stream = random_stream(1, RANDOM_TEST, 0);
    parallel_set_threads(1);
    check(dense_open(1 << 20));
    printf("%s, one thread: how many times as fast as plain loops\n", dense_description());
    bench_gram(1000, 30);
    bench_gram(1000, 300);
    bench_solve(4, 4);
    bench_solve(20, 4);
    bench_solve(60, 6);
    bench_solve(300, 6);
    bench_solve(1000, 10);
    bench_logits(30, 2);
    bench_logits(100, 6);
    bench_logits(600, 14);
    bench_vectors(60);
    bench_vectors(600);
    bench_vectors(8400);
    bench_distances(1000, 131, 10);
    bench_distances(1000, 131, 50);
    bench_distances(1000, 1152, 10);
    bench_distances(1000, 1152, 50);
    return 0;
}
