#include "base/nearest.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/parallel.h"
#include "base/size.h"

/* Points of one task: the cut depends on the problem alone. */
enum { BLOCK = 128, LANES = 8 };

/* Eight sums side by side, which the compiler makes vectors of. */
double squared_distance(const float *a, const float *b, size_t dimension)
{
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= dimension; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            double difference = (double)a[i + lane] - (double)b[i + lane];

            sums[lane] += difference * difference;
        }
    for (; i < dimension; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    for (size_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

/* As squared_distance, from a point of doubles. */
static double squared_distance_from(const float *a, const double *b, size_t dimension)
{
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= dimension; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            double difference = a[i + lane] - b[i + lane];

            sums[lane] += difference * difference;
        }
    for (; i < dimension; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    for (size_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

static const float *point_at(const struct points *points, size_t i)
{
    return points->values + i * points->dimension;
}

/* ---- Points ---- */

struct error *points_make(const float *values, size_t count, size_t dimension,
                          struct points *points)
{
    *points = (struct points){.values = values, .count = count, .dimension = dimension};
    TRY(dense_open_for_estimates(count > dimension ? count : dimension));
    points->squares = calloc(count + 1, sizeof *points->squares);
    points->lengths = calloc(count + 1, sizeof *points->lengths);
    if (!points->squares || !points->lengths) {
        points_free(points);
        return error_memory("points");
    }
    points_update(points);
    return NULL;
}

static void measure_block(void *context, size_t task, unsigned worker)
{
    struct points *points = context;
    size_t end = size_min((task + 1) * BLOCK, points->count);

    (void)worker;
    for (size_t i = task * BLOCK; i < end; i++) {
        const float *point = point_at(points, i);
        double sums[LANES] = {0}, sum = 0;
        size_t d = 0;

        for (; d + LANES <= points->dimension; d += LANES)
            for (size_t lane = 0; lane < LANES; lane++)
                sums[lane] += (double)point[d + lane] * (double)point[d + lane];
        for (; d < points->dimension; d++)
            sum += (double)point[d] * (double)point[d];
        for (size_t lane = 0; lane < LANES; lane++)
            sum += sums[lane];
        points->squares[i] = sum;
        points->lengths[i] = sqrt(sum);
    }
}

static size_t blocks_of(size_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

void points_update(struct points *points)
{
    parallel_for(blocks_of(points->count), measure_block, points);
}

void points_free(struct points *points)
{
    free(points->squares);
    free(points->lengths);
    *points = (struct points){0};
}

/* ---- Bounds ---- */

/* How wrong |p|^2 + |c|^2 - 2 p c can be: a product of two floats that are D + 1 roundings away
 * from their own values (D of the sum and its products, one more where c itself was rounded), D
 * double roundings of the squares, and what a product loses below the smallest float. */
struct bound {
    double product; /* of |p| |c| */
    double squares; /* of |p|^2 + |c|^2 */
    double least;
};

static struct bound bound_for(size_t dimension)
{
    double terms = (double)dimension + 1, unit = terms * FLT_EPSILON / 2;

    return (struct bound){
        .product = unit < 0.5 ? 2 * unit / (1 - unit) : INFINITY,
        .squares = 4 * (terms + 2) * DBL_EPSILON,
        .least = 4 * terms * FLT_MIN,
    };
}

/* Where a squared distance is. */
struct range {
    double low, high;
};

/* Of two points with these squares and lengths and this product.  An infinite slack makes ends that
 * are infinite or NaN: comparisons with them decide nothing. */
static struct range range_of(const struct bound *bound, double square_a, double length_a,
                             double square_b, double length_b, double product)
{
    double about = square_a + square_b - 2 * product;
    double slack = bound->product * length_a * length_b + bound->squares * (square_a + square_b) +
                   bound->least;

    if (length_a * length_b > FLT_MAX / 4) /* the sums might overflow on the way */
        slack = INFINITY;
    return (struct range){about - slack, about + slack};
}

/* ---- One centre ---- */

struct lowering {
    const struct points *points;
    const float *centre;
    double square, length; /* of the centre */
    double *nearest;
};

static void lower_block(void *context, size_t task, unsigned worker)
{
    const struct lowering *work = context;
    const struct points *points = work->points;
    const struct bound bound = bound_for(points->dimension);
    size_t first = task * BLOCK, count = size_min(BLOCK, points->count - first);
    float products[BLOCK];

    (void)worker;
    dense_apply_float(count, points->dimension, point_at(points, first), work->centre, products);
    for (size_t j = 0; j < count; j++) {
        size_t i = first + j;
        struct range range = range_of(&bound, points->squares[i], points->lengths[i], work->square,
                                      work->length, products[j]);
        double distance;

        if (range.low > work->nearest[i])
            continue;
        distance = squared_distance(point_at(points, i), work->centre, points->dimension);
        if (distance < work->nearest[i])
            work->nearest[i] = distance;
    }
}

void nearest_lower(const struct points *points, const float *centre, double *nearest)
{
    struct lowering work = {.points = points, .centre = centre, .nearest = nearest};

    for (size_t d = 0; d < points->dimension; d++)
        work.square += (double)centre[d] * (double)centre[d];
    work.length = sqrt(work.square);
    parallel_for(blocks_of(points->count), lower_block, &work);
}

/* ---- The nearest point ---- */

struct search {
    const struct points *points;
    const float *rounded;  /* the target */
    double square, length; /* of the target */
    float *products;       /* (count,) */
};

static void search_block(void *context, size_t task, unsigned worker)
{
    const struct search *work = context;
    const struct points *points = work->points;
    size_t first = task * BLOCK, count = size_min(BLOCK, points->count - first);

    (void)worker;
    dense_apply_float(count, points->dimension, point_at(points, first), work->rounded,
                      work->products + first);
}

size_t nearest_to(const struct points *points, const double *target, const bool *excluded,
                  float *scratch)
{
    float *rounded = scratch + points->count;
    struct search work = {.points = points, .rounded = rounded, .products = scratch};
    const struct bound bound = bound_for(points->dimension);
    double within = INFINITY, least = INFINITY;
    size_t best = SIZE_MAX;

    for (size_t d = 0; d < points->dimension; d++) {
        rounded[d] = (float)target[d];
        work.square += target[d] * target[d];
    }
    work.length = sqrt(work.square);
    parallel_for(blocks_of(points->count), search_block, &work);
    for (int deciding = 0; deciding < 2; deciding++)
        for (size_t i = 0; i < points->count; i++) {
            struct range range = range_of(&bound, points->squares[i], points->lengths[i],
                                          work.square, work.length, work.products[i]);

            if (excluded[i] || range.low > within)
                continue;
            if (deciding) {
                double distance =
                    squared_distance_from(point_at(points, i), target, points->dimension);

                if (distance < least || best == SIZE_MAX) {
                    least = distance;
                    best = i;
                }
            } else if (range.high < within) {
                within = range.high;
            }
        }
    return best;
}

/* ---- Many centres ---- */

struct assignment {
    const struct points *points, *centres;
    float *products; /* per worker (BLOCK, centres) */
    size_t *assigned;
};

static struct range centre_range(const struct assignment *work, const struct bound *bound, size_t i,
                                 size_t c, float product)
{
    return range_of(bound, work->points->squares[i], work->points->lengths[i],
                    work->centres->squares[c], work->centres->lengths[c], product);
}

static double centre_distance(const struct assignment *work, size_t i, size_t c)
{
    return squared_distance(point_at(work->points, i), point_at(work->centres, c),
                            work->points->dimension);
}

/* The centre nearest to point i, given its products with all of them. */
static size_t nearest_centre(const struct assignment *work, size_t i, const float *products)
{
    const struct bound bound = bound_for(work->points->dimension);
    size_t best = SIZE_MAX, open = 0;
    double within = INFINITY, least = INFINITY;

    /* Not by fmin(): GCC 12 for arm64 fails with an internal error where it makes vectors of it. */
    for (size_t c = 0; c < work->centres->count; c++) {
        double high = centre_range(work, &bound, i, c, products[c]).high;

        if (high < within)
            within = high;
    }
    for (size_t c = 0; c < work->centres->count; c++) {
        double distance;

        if (centre_range(work, &bound, i, c, products[c]).low > within)
            continue;
        if (open++ == 0) { /* maybe the only one */
            best = c;
            continue;
        }
        if (open == 2)
            least = centre_distance(work, i, best);
        distance = centre_distance(work, i, c);
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

static void assign_block(void *context, size_t task, unsigned worker)
{
    const struct assignment *work = context;
    const struct points *points = work->points, *centres = work->centres;
    size_t first = task * BLOCK, count = size_min(BLOCK, points->count - first);
    float *products = work->products + worker * BLOCK * centres->count;

    dense_multiply_float(&(struct dense_product){.m = count,
                                                 .n = centres->count,
                                                 .k = points->dimension,
                                                 .transpose_b = true,
                                                 .stride_a = points->dimension,
                                                 .stride_b = points->dimension,
                                                 .stride_c = centres->count},
                         point_at(points, first), centres->values, products);
    for (size_t j = 0; j < count; j++)
        work->assigned[first + j] = nearest_centre(work, first + j, products + j * centres->count);
}

size_t nearest_scratch(size_t centres)
{
    return parallel_threads() * BLOCK * centres * sizeof(float);
}

void nearest_assign(const struct points *points, const struct points *centres, float *scratch,
                    size_t *assigned)
{
    struct assignment work = {points, centres, scratch, assigned};

    parallel_for(blocks_of(points->count), assign_block, &work);
}

/* ---- Neighbours ---- */

/* Rows of one task, and points that they meet at a time. */
enum { ROWS = 32, TILE = 256 };

struct neighbourhood {
    const struct points *points;
    const size_t *of;
    size_t rows, wanted;
    float *gathered;   /* per worker (ROWS, dimension) */
    double *distances; /* (rows, wanted) */
    size_t *neighbours;
};

/* The best so far of one row, nearest first. */
struct best {
    size_t found, wanted;
    double *distances;
    size_t *neighbours;
};

static void insert(struct best *best, size_t point, double distance)
{
    size_t at;

    if (best->found == best->wanted && distance >= best->distances[best->found - 1])
        return;
    at = best->found < best->wanted ? best->found++ : best->found - 1;
    for (; at > 0 && best->distances[at - 1] > distance; at--) {
        best->distances[at] = best->distances[at - 1];
        best->neighbours[at] = best->neighbours[at - 1];
    }
    best->distances[at] = distance;
    best->neighbours[at] = point;
}

/* Point `self` meets the points from `first` on. */
static void meet(const struct points *points, size_t self, size_t first, size_t count,
                 const float *products, struct best *best)
{
    const struct bound bound = bound_for(points->dimension);

    for (size_t j = 0; j < count; j++) {
        size_t i = first + j;
        struct range range = range_of(&bound, points->squares[i], points->lengths[i],
                                      points->squares[self], points->lengths[self], products[j]);

        if (i == self ||
            (best->found == best->wanted && range.low > best->distances[best->found - 1]))
            continue;
        insert(best, i,
               squared_distance(point_at(points, self), point_at(points, i), points->dimension));
    }
}

static void neighbours_of_rows(void *context, size_t task, unsigned worker)
{
    const struct neighbourhood *work = context;
    const struct points *points = work->points;
    size_t dimension = points->dimension, first_row = task * ROWS;
    size_t rows = size_min(ROWS, work->rows - first_row), found[ROWS] = {0};
    float *gathered = work->gathered + worker * ROWS * dimension, products[ROWS * TILE];

    for (size_t r = 0; r < rows; r++)
        memcpy(gathered + r * dimension, point_at(points, work->of[first_row + r]),
               dimension * sizeof *gathered);
    for (size_t first = 0; first < points->count; first += TILE) {
        size_t count = size_min(TILE, points->count - first);

        dense_multiply_float(&(struct dense_product){.m = rows,
                                                     .n = count,
                                                     .k = dimension,
                                                     .transpose_b = true,
                                                     .stride_a = dimension,
                                                     .stride_b = dimension,
                                                     .stride_c = TILE},
                             gathered, point_at(points, first), products);
        for (size_t r = 0; r < rows; r++) {
            size_t row = first_row + r;
            struct best best = {found[r], work->wanted, work->distances + row * work->wanted,
                                work->neighbours + row * work->wanted};

            meet(points, work->of[row], first, count, products + r * TILE, &best);
            found[r] = best.found;
        }
    }
}

struct error *nearest_neighbours(const struct points *points, const size_t *of, size_t rows,
                                 size_t wanted, size_t *neighbours)
{
    struct neighbourhood work = {
        .points = points, .of = of, .rows = rows, .wanted = wanted, .neighbours = neighbours};

    struct error *error = NULL;

    work.gathered = calloc(parallel_threads(), ROWS * points->dimension * sizeof(float));
    work.distances = calloc(rows + 1, wanted * sizeof(double));
    if (work.gathered && work.distances)
        parallel_for((rows + ROWS - 1) / ROWS, neighbours_of_rows, &work);
    else
        error = error_memory("nearest neighbours");
    free(work.gathered);
    free(work.distances);
    return error;
}
