/* Dense linear algebra by OpenBLAS: row-major arrays, sizes in size_t.
 *
 * Every function works on the calling thread alone, whatever OPENBLAS_NUM_THREADS says, and may be
 * called from several threads at once: work is spread over threads by parallel_for, in parts that
 * depend on the problem alone, so that the bytes of a result never depend on the threads.  They do
 * depend on OpenBLAS and the kind of processor that it has found: see dense_description. */
#ifndef SC_BASE_DENSE_H
#define SC_BASE_DENSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* To be called before the functions below, with the largest of the sizes to come: OpenBLAS takes
 * those that fit into an int.  The first call loads it (libopenblas.so.0) and has it allocate all
 * of its memory, so that the functions below cannot fail for lack of it. */
struct error *dense_open(size_t largest) MUST_CHECK;

/* The same for computations that only narrow down a search whose result is decided in another way
 * (nearest.h), so that no result depends on OpenBLAS. */
struct error *dense_open_for_estimates(size_t largest) MUST_CHECK;

/* What computes, such as "OpenBLAS 0.3.21 Zen"; NULL if dense_open was never called, so that no
 * result of this process depends on it. */
const char *dense_description(void);

/* c (m, n) = op(a) op(b) + keep c.  op(a) is (m, k): a itself or, if transposed, a' of an a (k, m);
 * op(b) is (k, n) likewise.  The strides are those from one row to the next.  keep 0: c need not be
 * initialised. */
struct dense_product {
    size_t m, n, k;
    bool transpose_a, transpose_b;
    size_t stride_a, stride_b, stride_c;
    double keep;
};

void dense_multiply(const struct dense_product *product, const double *a, const double *b,
                    double *c);
void dense_multiply_float(const struct dense_product *product, const float *a, const float *b,
                          float *c);

/* y (m) = a x, a (m, k). */
void dense_apply_float(size_t m, size_t k, const float *a, const float *x, float *y);

/* c (m, m) = a a', a (m, k): the products of all pairs of rows.  On all threads. */
void dense_gram(size_t m, size_t k, const double *a, double *c);

/* a (m, m) = U' U, written over its upper half; only that half is read.  False if a is not positive
 * definite. */
bool dense_cholesky(size_t m, double *a) MUST_CHECK;

/* Solves U' U x = b for each row of b (count, m), in place. */
void dense_cholesky_solve(size_t m, size_t count, const double *factor, double *b);

double dense_dot(size_t count, const double *a, const double *b);

/* y += factor x */
void dense_add(size_t count, double factor, const double *x, double *y);

#endif
