#include "support/check.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dense.h"
#include "base/parallel.h"
#include "base/random.h"

static void fill(struct random_stream *stream, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = random_normal(stream);
}

/* A number from /proc/self/status, such as "VmSize". */
static size_t status_of(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    size_t length = strlen(name), value = 0;
    char line[256];

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            value = strtoul(line + length + 1, NULL, 10);
    fclose(file);
    return value;
}

/* ---- Loading; these come first, while OpenBLAS is not there ---- */

enum { SIZE = 150 };

static void multiply_here(void *context, size_t task, unsigned worker)
{
    double *results = context, a[SIZE], b[SIZE];
    struct random_stream stream = random_stream(task, RANDOM_TEST, 0);

    (void)worker;
    fill(&stream, a, SIZE);
    fill(&stream, b, SIZE);
    dense_multiply(
        &(struct dense_product){
            .m = SIZE, .n = SIZE, .k = 1, .stride_a = 1, .stride_b = SIZE, .stride_c = SIZE},
        a, b, results + task * SIZE * SIZE);
    results[task * SIZE * SIZE] -= a[0] * b[0];
}

/* In a process of its own that may have that many more megabytes of addresses: 0 if OpenBLAS was
 * opened and works on several threads, 1 if that was refused with this text. */
static int open_within(size_t megabytes, const char *text)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        rlim_t limit = (rlim_t)status_of("VmSize") * 1024 + ((rlim_t)megabytes << 20);
        enum { TASKS = 64 };
        double *results = calloc(TASKS, SIZE * SIZE * sizeof *results);
        struct error *error;

        parallel_set_threads(16);
        setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit});
        alarm(60); /* it hangs */
        error = dense_open(SIZE);
        if (error)
            _exit(strstr(error_message(error), text) ? 1 : 2);
        parallel_for(TASKS, multiply_here, results);
        for (size_t task = 0; task < TASKS; task++)
            if (results[task * SIZE * SIZE] != 0)
                _exit(3);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(open_within(20, "out of memory"), 1);
    assert_int_equal(open_within(150, "out of memory"), 1);
    assert_int_equal(open_within(600, ""), 0);
    assert_int_equal(open_within(3000, ""), 0);
}

static void it_works_on_one_thread_whatever_the_environment_says(void **state)
{
    size_t threads = status_of("Threads");

    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "8", 1);
    assert_null(dense_description());
    assert_ok(dense_open_for_estimates(1));
    assert_null(dense_description());
    assert_ok(dense_open(1));
    assert_int_equal(status_of("Threads"), threads);
    assert_string_equal(getenv("OPENBLAS_NUM_THREADS"), "8");
    assert_int_equal(strncmp(dense_description(), "OpenBLAS 0.", 11), 0);
    assert_non_null(strchr(dense_description() + 11, ' '));
}

static void sizes_beyond_an_int_are_refused(void **state)
{
    (void)state;
    assert_fails("2147483648 rows", dense_open((size_t)INT_MAX + 1));
    assert_ok(dense_open(INT_MAX));
}

/* ---- Products ---- */

enum { MOST = 20 };

/* op(a)[i, l] of an array with a stride. */
static double element(const double *a, size_t stride, bool transposed, size_t i, size_t l)
{
    return transposed ? a[l * stride + i] : a[i * stride + l];
}

static void check_product(struct random_stream *stream, size_t m, size_t n, size_t k,
                          unsigned transposed, double keep)
{
    struct dense_product product = {.m = m,
                                    .n = n,
                                    .k = k,
                                    .transpose_a = transposed & 1,
                                    .transpose_b = transposed >> 1,
                                    .stride_a = (transposed & 1 ? m : k) + 2,
                                    .stride_b = (transposed & 2 ? k : n) + 1,
                                    .stride_c = n + 3,
                                    .keep = keep};
    double a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], before[MOST * MOST];
    float fa[MOST * MOST], fb[MOST * MOST], fc[MOST * MOST];

    fill(stream, a, MOST * MOST);
    fill(stream, b, MOST * MOST);
    fill(stream, c, MOST * MOST);
    memcpy(before, c, sizeof c);
    for (size_t i = 0; i < MOST * MOST; i++) {
        fa[i] = (float)a[i];
        fb[i] = (float)b[i];
        fc[i] = (float)c[i];
    }
    dense_multiply(&product, a, b, c);
    dense_multiply_float(&product, fa, fb, fc);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < product.stride_c; j++) {
            size_t at = i * product.stride_c + j;
            double sum = j < n ? keep * before[at] : before[at];

            for (size_t l = 0; j < n && l < k; l++)
                sum += element(a, product.stride_a, product.transpose_a, i, l) *
                       element(b, product.stride_b, product.transpose_b, l, j);
            assert_near(c[at], sum, 1e-13);
            assert_near(fc[at], sum, 1e-5);
        }
}

static void products_are_what_three_loops_say(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 5, 8, 15};
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);
    enum { SIZES = sizeof sizes / sizeof *sizes };

    (void)state;
    for (unsigned transposed = 0; transposed < 4; transposed++)
        for (size_t i = 0; i < SIZES * SIZES * SIZES; i++)
            check_product(&stream, sizes[i % SIZES], sizes[i / SIZES % SIZES],
                          sizes[i / SIZES / SIZES], transposed, (double)(i % 3) / 2);
}

static void vectors_are_what_loops_say(void **state)
{
    enum { M = 37, K = 53 };
    struct random_stream stream = random_stream(2, RANDOM_TEST, 0);
    double x[K], y[K], before[K];
    float a[M * K], fx[K], fy[M];

    (void)state;
    fill(&stream, x, K);
    fill(&stream, y, K);
    memcpy(before, y, sizeof y);
    for (size_t i = 0; i < M * K; i++)
        a[i] = (float)random_normal(&stream);
    for (size_t i = 0; i < K; i++)
        fx[i] = (float)x[i];
    dense_apply_float(M, K, a, fx, fy);
    for (size_t i = 0; i < M; i++) {
        double sum = 0;

        for (size_t k = 0; k < K; k++)
            sum += (double)a[i * K + k] * fx[k];
        assert_near(fy[i], sum, 1e-5);
    }
    for (size_t count = 0; count <= K; count++) {
        double sum = 0;

        for (size_t k = 0; k < count; k++)
            sum += x[k] * y[k];
        assert_near(dense_dot(count, x, y), sum, 1e-13);
    }
    dense_add(K - 1, -1.5, x, y);
    for (size_t k = 0; k < K; k++)
        assert_near(y[k], before[k] - (k < K - 1 ? 1.5 * x[k] : 0), 1e-15);
}

/* ---- Gram matrices and systems of equations ---- */

static void gram_matrices_are_the_same_for_any_number_of_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    enum { M = 300, K = 41 };
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    double *a = test_calloc(M * K, sizeof *a), *first = test_calloc(M * M, sizeof *first);
    double *c = test_calloc(M * M, sizeof *c);

    (void)state;
    fill(&stream, a, M * K);
    for (size_t t = 0; t < 3; t++) {
        parallel_set_threads(threads[t]);
        dense_gram(M, K, a, t == 0 ? first : c);
        if (t > 0)
            assert_memory_equal(c, first, M * M * sizeof *c);
    }
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++) {
            double sum = 0;

            for (size_t k = 0; k < K; k++)
                sum += a[i * K + k] * a[j * K + k];
            assert_near(first[i * M + j], sum, 1e-13);
        }
    parallel_set_threads(0);
    test_free(a);
    test_free(first);
    test_free(c);
}

static void equations_are_solved(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 3, 17, 64, 130, 257};
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);
    enum { LARGEST = 257, SIDES = 3 };
    double *root = test_calloc(LARGEST * LARGEST, sizeof *root);
    double *a = test_calloc(LARGEST * LARGEST, sizeof *a);
    double *factor = test_calloc(LARGEST * LARGEST, sizeof *factor);
    double b[SIDES * LARGEST], x[SIDES * LARGEST];

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t m = sizes[s];

        fill(&stream, root, m * m);
        fill(&stream, b, SIDES * m);
        dense_gram(m, m, root, a);
        for (size_t i = 0; i < m; i++)
            a[i * m + i] += 1;
        memcpy(factor, a, m * m * sizeof *a);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < i; j++)
                factor[i * m + j] = NAN; /* the lower half is not read */
        memcpy(x, b, sizeof x);
        assert_true(dense_cholesky(m, factor));
        dense_cholesky_solve(m, SIDES, factor, x);
        for (size_t side = 0; side < SIDES; side++)
            for (size_t i = 0; i < m; i++) {
                double sum = 0;

                for (size_t j = 0; j < m; j++)
                    sum += a[i * m + j] * x[side * m + j];
                assert_near(sum, b[side * m + i], 1e-9);
            }
    }
    test_free(root);
    test_free(a);
    test_free(factor);
}

static void matrices_that_are_not_positive_definite_are_refused(void **state)
{
    double negative[] = {1, 2, 2, 1}, none[] = {1, NAN, NAN, 1}, infinite[] = {1, 0, 0, NAN};

    (void)state;
    assert_false(dense_cholesky(2, negative));
    assert_false(dense_cholesky(2, none));
    assert_false(dense_cholesky(2, infinite));
}

/* ---- The same bytes ---- */

static void bytes_do_not_depend_on_where_the_arrays_are(void **state)
{
    enum { M = 61, K = 77, ROOM = M * K + 8 };
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);
    struct dense_product product = {
        .m = M, .n = M, .k = K, .transpose_b = true, .stride_a = K, .stride_b = K, .stride_c = M};
    double values[M * K], a[ROOM], b[ROOM], c[M * M], first[M * M], first_dot = 0;
    float fa[ROOM], fx[ROOM], fy[M], first_fy[M];

    (void)state;
    fill(&stream, values, M * K);
    for (size_t shift = 0; shift < 8; shift++) {
        double dot;

        memcpy(a + shift, values, sizeof values);
        memcpy(b + 7 - shift, values, sizeof values);
        for (size_t i = 0; i < M * K; i++)
            fa[shift + i] = fx[7 - shift + i] = (float)values[i];
        dense_multiply(&product, a + shift, b + 7 - shift, c);
        dense_apply_float(M, K, fa + shift, fx + 7 - shift, fy);
        dot = dense_dot(M * K, a + shift, b + 7 - shift);
        if (shift == 0) {
            memcpy(first, c, sizeof c);
            memcpy(first_fy, fy, sizeof fy);
            first_dot = dot;
        }
        assert_memory_equal(c, first, sizeof c);
        assert_memory_equal(fy, first_fy, sizeof fy);
        assert_memory_equal(&dot, &first_dot, sizeof dot);
    }
}

struct crowd {
    double a[SIZE * SIZE];
    double results[32][SIZE * SIZE];
};

static void multiply_square(void *context, size_t task, unsigned worker)
{
    struct crowd *crowd = context;

    (void)worker;
    dense_multiply(
        &(struct dense_product){
            .m = SIZE, .n = SIZE, .k = SIZE, .stride_a = SIZE, .stride_b = SIZE, .stride_c = SIZE},
        crowd->a, crowd->a, crowd->results[task]);
}

/* More than there are buffers for. */
static void many_threads_get_the_same_bytes(void **state)
{
    static struct crowd crowd;
    struct random_stream stream = random_stream(6, RANDOM_TEST, 0);

    (void)state;
    fill(&stream, crowd.a, SIZE * SIZE);
    parallel_set_threads(24);
    parallel_for(32, multiply_square, &crowd);
    for (size_t task = 1; task < 32; task++)
        assert_memory_equal(crowd.results[task], crowd.results[0], sizeof crowd.results[0]);
    parallel_set_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lack_of_memory_is_an_error),
        cmocka_unit_test(it_works_on_one_thread_whatever_the_environment_says),
        cmocka_unit_test(sizes_beyond_an_int_are_refused),
        cmocka_unit_test(products_are_what_three_loops_say),
        cmocka_unit_test(vectors_are_what_loops_say),
        cmocka_unit_test(gram_matrices_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(equations_are_solved),
        cmocka_unit_test(matrices_that_are_not_positive_definite_are_refused),
        cmocka_unit_test(bytes_do_not_depend_on_where_the_arrays_are),
        cmocka_unit_test(many_threads_get_the_same_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
