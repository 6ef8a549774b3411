/* What the distance kernel costs, as ratios within one run.  Prints tables; see shapelets.sh. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/parallel.h"
#include "base/random.h"
#include "shapelets/distance.h"
#include "shapelets/transform.h"

enum { SERIES = 64, SOURCES = 2 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(struct error *error)
{
    if (!error)
        return;
    fprintf(stderr, "shapelet-kernel: %s\n", error_message(error));
    exit(1);
}

/* Random series, their interleaved copy, all candidates of some lengths, and room for distances. */
struct problem {
    struct dataset dataset;
    struct series_blocks blocks;
    struct candidates candidates;
    struct distance_scratch scratch;
    float *table;
};

static void make_problem(size_t steps, const size_t *lengths, size_t length_count,
                         struct problem *problem)
{
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);
    size_t order[SERIES];

    check(dataset_new(SERIES, 1, steps, 2, false, &problem->dataset));
    for (size_t i = 0; i < SERIES * steps; i++)
        problem->dataset.x[i] = (float)random_normal(&stream);
    for (size_t i = 0; i < SERIES; i++)
        order[i] = i;
    check(series_blocks_make(&problem->dataset, 0, order, &problem->blocks));
    check(candidates_make(steps, lengths, length_count, 1, 0, steps, &problem->candidates));
    check(distance_scratch_make(&problem->candidates, &problem->scratch));
    problem->table = calloc(problem->candidates.count, (SERIES + 16) * sizeof *problem->table);
    if (!problem->table)
        check(error_memory("distances"));
}

static void free_problem(struct problem *problem)
{
    dataset_free(&problem->dataset);
    series_blocks_free(&problem->blocks);
    candidates_free(&problem->candidates);
    distance_scratch_free(&problem->scratch);
    free(problem->table);
}

/* Seconds for the candidates of some sources against all series. */
static double run_kernel(struct problem *problem, size_t window)
{
    double start = now();

    for (size_t source = 0; source < SOURCES; source++)
        for (size_t b = 0; b < problem->blocks.blocks; b++)
            distance_to_block(dataset_series(&problem->dataset, source, 0),
                              problem->blocks.values + b * problem->dataset.length * DISTANCE_LANES,
                              &problem->candidates, window, &problem->scratch,
                              problem->table + b * DISTANCE_LANES, SERIES + 16);
    return now() - start;
}

/* Nanoseconds for one candidate and one series, best of many runs within half a second. */
static double kernel_cost(struct problem *problem, size_t window)
{
    double best = INFINITY, end = now() + 0.5;

    do
        best = fmin(best, run_kernel(problem, window));
    while (now() < end);
    return 1e9 * best / ((double)problem->candidates.count * SOURCES * SERIES);
}

/* Nanoseconds for one candidate and one series when every place and step is summed up directly with
 * vectors: the transform, a full scan for one shapelet. */
static double vector_cost(const struct problem *problem, size_t length)
{
    struct shapelet shapelet = {.values = problem->dataset.x, .length = (uint32_t)length};
    struct shapelet_pool pool = {.count = 1, .channels = 1, .shapelets = &shapelet};
    double best = INFINITY, end = now() + 0.5;
    struct transform transform;
    float features[SERIES];

    check(transform_make(&pool, 1, problem->dataset.length, TRANSFORM_FULL, &transform));
    do {
        double begin = now();

        transform_forward(&transform, problem->dataset.x, SERIES, features, NULL);
        best = fmin(best, now() - begin);
    } while (now() < end);
    transform_free(&transform);
    return 1e9 * best / SERIES;
}

/* The conventional way: every place, every step, straight from the definition. */
static float conventional_distance(const float *s, size_t length, const float *x, size_t steps)
{
    float least = INFINITY;

    for (size_t j = 0; j + length <= steps; j++) {
        float sum = 0;

        for (size_t t = 0; t < length; t++)
            sum += (s[t] - x[j + t]) * (s[t] - x[j + t]);
        least = sum < least ? sum : least;
    }
    return sqrtf(least);
}

/* Nanoseconds for one candidate and one series, from a sample of candidates. */
static double conventional_cost(const struct problem *problem, size_t length)
{
    size_t steps = problem->dataset.length;
    volatile float sink = 0;
    double best = INFINITY, end = now() + 0.5;
    size_t sample = 0;

    do {
        size_t start = sample * 37 % (steps - length + 1);
        double begin = now();

        sink = sink + conventional_distance(dataset_series(&problem->dataset, 0, 0) + start, length,
                                            dataset_series(&problem->dataset, 1 + sample % 20, 0),
                                            steps);
        best = fmin(best, now() - begin);
        sample++;
    } while (now() < end || sample < 5);
    return 1e9 * best;
}

static void flat_table(void)
{
    static const size_t steps[] = {100, 300, 1000, 3000};

    puts("One candidate and one series on one thread, in ns: length L/10, three alignments (W = "
         "1),\n"
         "beside the conventional full scan in plain C and with vectors (a sample of candidates); "
         "the\n"
         "ratios take into account that with p = 0.7 only 0.09 of the pairs are measured.\n\n"
         "     L  length   here  full scan  with vectors     ratio  to vectors");
    for (size_t i = 0; i < 4; i++) {
        size_t length = steps[i] / 10;
        struct problem problem;
        double ours, plain, vectors;

        make_problem(steps[i], &length, 1, &problem);
        ours = kernel_cost(&problem, 1);
        plain = conventional_cost(&problem, length);
        vectors = vector_cost(&problem, length);
        printf("%6zu  %6zu  %5.2f  %9.0f  %12.0f  %8.0f  %10.0f\n", steps[i], length, ours, plain,
               vectors, plain / ours / 0.09, vectors / ours / 0.09);
        free_problem(&problem);
    }
    putchar('\n');
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Vectors of four doubles that this core can load, subtract and compare for the least in a
 * nanosecond, when nothing else is to be done: eight at a time from the first-level cache. */
__attribute__((target("avx2,fma"))) static double peak_vectors(void)
{
    static double values[1024] __attribute__((aligned(64)));
    double best = 0, end = now() + 0.5;

    while (now() < end) {
        __m256d least[8], sum = _mm256_set1_pd(3), one = _mm256_set1_pd(1);
        double begin = now(), rate;
        volatile double sink;

        for (int k = 0; k < 8; k++)
            least[k] = sum;
        for (int run = 0; run < 1000; run++)
            for (int i = 0; i < 1024; i += 32) {
                __asm__ volatile("" : "+x"(one), "+x"(sum));
                for (int k = 0; k < 8; k++)
                    least[k] = _mm256_min_pd(
                        least[k], _mm256_fnmadd_pd(one, _mm256_load_pd(values + i + 4 * k), sum));
            }
        rate = 1000 * 256 / (now() - begin) * 1e-9;
        for (int k = 1; k < 8; k++)
            least[0] = _mm256_min_pd(least[0], least[k]);
        sink = _mm256_cvtsd_f64(least[0]);
        (void)sink;
        best = fmax(best, rate);
    }
    return best;
}
#endif

static void peak_table(void)
{
#if defined(__x86_64__)
    size_t lengths[] = {14, 18, 22, 26}, alignments = 0;
    struct problem problem;
    double peak, cost, rate;

    if (cpu_level() < CPU_AVX2) {
        puts("The kernel's share of the machine: only measured with AVX2.\n");
        return;
    }
    make_problem(96, lengths, 4, &problem);
    for (size_t c = 0; c < problem.candidates.count; c++)
        for (size_t j = 0; j + problem.candidates.length[c] <= 96; j++)
            alignments += labs((long)j - (long)problem.candidates.start[c]) <= 20;
    peak = peak_vectors();
    cost = kernel_cost(&problem, 20);
    /* Two vectors of doubles settle eight series at one alignment. */
    rate = (double)alignments / (double)problem.candidates.count * 2 / 8 / cost;
    printf("The kernel's share of the machine (L = 96, lengths 14 18 22 26, W = 20; the limit is "
           "what\n"
           "a core can load from the first-level cache, subtract and compare):\n\n"
           "limit %.2f, reached %.2f vectors of 4 doubles per ns: %.0f %%, with the running sums\n"
           "and roots counted as overhead\n\n",
           peak, rate, 100 * rate / peak);
    free_problem(&problem);
#endif
}

/* Nanoseconds for one candidate and one series by matrix product: the products of all candidates of
 * a series with all windows of another, |a|^2 - 2 ab + |b|^2. */
static double product_cost(const struct problem *problem, size_t length)
{
    size_t steps = problem->dataset.length, windows = steps - length + 1;
    float *products = calloc(windows * windows, sizeof *products);
    float *norms = calloc(2 * windows, sizeof *norms), *least = calloc(windows, sizeof *least);
    float *copies = calloc(2 * windows * length, sizeof *copies),
          *others = copies + windows * length;
    double best = INFINITY, end = now() + 0.5;

    if (!products || !norms || !least || !copies)
        check(error_memory("products"));
    do {
        const float *a = dataset_series(&problem->dataset, 0, 0), *b = a + steps;
        double begin = now();

        for (size_t j = 0; j < windows; j++) {
            memcpy(copies + j * length, a + j, length * sizeof *copies);
            memcpy(others + j * length, b + j, length * sizeof *copies);
            norms[j] = norms[windows + j] = 0;
            for (size_t t = 0; t < length; t++) {
                norms[j] += a[j + t] * a[j + t];
                norms[windows + j] += b[j + t] * b[j + t];
            }
        }
        cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)windows, (int)windows,
                    (int)length, -2, copies, (int)length, others, (int)length, 0, products,
                    (int)windows);
        for (size_t i = 0; i < windows; i++)
            least[i] = INFINITY;
        for (size_t j = 0; j < windows; j++)
            for (size_t i = 0; i < windows; i++) {
                float square = products[j * windows + i] + norms[i] + norms[windows + j];

                least[i] = square < least[i] ? square : least[i];
            }
        best = fmin(best, now() - begin);
    } while (now() < end);
    free(products);
    free(norms);
    free(copies);
    free(least);
    return 1e9 * best / (double)windows;
}

static void full_scan_table(void)
{
    static const size_t lengths[] = {8, 16, 32, 64, 128, 256};

    puts("Full scan of all candidates of one length, L = 512, one candidate and one series on one\n"
         "thread: running sums (used), the matrix product (OpenBLAS sgemm, float), and directly "
         "with\n"
         "vectors.\n\n"
         "length  running sums (ns)  product (ns)  directly (ns)");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct problem problem;

        make_problem(512, &lengths[i], 1, &problem);
        printf("%6zu  %17.0f  %12.0f  %13.0f\n", lengths[i], kernel_cost(&problem, SIZE_MAX),
               product_cost(&problem, lengths[i]), vector_cost(&problem, lengths[i]));
        free_problem(&problem);
    }
    putchar('\n');
}

int main(void)
{
    openblas_set_num_threads(1);
    parallel_set_threads(1);
    flat_table();
    peak_table();
    full_scan_table();
    return 0;
}
