/* What the parts of the plug-in share.  All that it computes but discovery goes through one stream,
 * in order; its scratch memory is therefore free again when the next function begins. */
#ifndef SC_CUDA_PLUGIN_H
#define SC_CUDA_PLUGIN_H

#include <cublas_v2.h>
#include <cudnn.h>

#include "kernel.h"

extern "C" {
#include "device/device.h"
}

/* Remembers what went wrong, if it is the first thing that does. */
void cuda_fault(const char *what, const char *why);
/* NULL, or what went wrong first. */
const char *cuda_fault_text(void);

/* Whether a call succeeded; if not, that is remembered. */
bool cuda_check(cudaError_t status, const char *call);
bool cublas_check(cublasStatus_t status, const char *call);
bool cudnn_check(cudnnStatus_t status, const char *call);
#define CUDA(call)   cuda_check((call), #call)
#define CUBLAS(call) cublas_check((call), #call)
#define CUDNN(call)  cudnn_check((call), #call)

cublasHandle_t cuda_cublas(void);
cudnnHandle_t cuda_cudnn(void);

/* Scratch memory of at least `bytes` bytes, valid until the next call; NULL if there is none, which
 * is remembered.  For the products of cuDNN, for sums, and for dense copies of what goes into a
 * convolution and comes out of it. */
enum scratch_kind { SCRATCH_PRODUCT, SCRATCH_SUMS, SCRATCH_INPUT, SCRATCH_OUTPUT, SCRATCH_KINDS };
void *cuda_scratch(enum scratch_kind kind, size_t bytes);

/* out[n][0..columns) = in[n][0..columns), or added to it, for rows with strides. */
void cuda_move_rows(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                    size_t out_sample, bool add);

/* to[c] += the sum over rows of x (rows, columns). */
void cuda_add_columns(size_t rows, size_t columns, const float *x, float *to);
/* out (count, steps, columns) = in some steps later, with zeros in front. */
void cuda_delay(size_t count, size_t steps, size_t columns, size_t delay, const float *in,
                size_t in_sample, float *out);
/* Dropout (struct dropout_mask) of rows from number `first_row` of samples from number `first`. */
void cuda_dropout_rows(const struct dropout_mask *mask, size_t first, size_t count,
                       size_t first_row, size_t rows, size_t columns, const float *in,
                       size_t in_sample, float *out, size_t out_sample);

/* Zeroed memory; NULL if there is none. */
void *cuda_memory(size_t bytes);
/* A copy of an array of the host; NULL if there is no memory. */
void *cuda_copy(const void *host, size_t bytes);

/* The parts, which fill in their functions. */
void cuda_fill_memory(struct backend *backend);
void cuda_fill_elementwise(struct backend *backend);
void cuda_fill_convolutions(struct backend *backend);
void cuda_fill_normact(struct backend *backend);
void cuda_fill_pooling(struct backend *backend);
void cuda_fill_tangents(struct backend *backend);
void cuda_fill_rownorm(struct backend *backend);
void cuda_fill_attention(struct backend *backend);
void cuda_fill_gru(struct backend *backend);
void cuda_fill_losses(struct backend *backend);
const struct transform_device *cuda_transform(void);
const struct distance_device *cuda_distance(void);

#endif
