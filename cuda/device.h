/* What the parts of the plug-in share.  All that it computes but discovery goes through one stream,
 * in order; its scratch memory is therefore free again when the next function begins. */
#ifndef SC_CUDA_DEVICE_H
#define SC_CUDA_DEVICE_H

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

/* Scratch memory of at least that many bytes, valid until the next call; NULL if there is none,
 * which is remembered.  For the products of cuDNN, for sums, and for dense copies of what goes into
 * a convolution and comes out of it. */
enum scratch_kind { SCRATCH_PRODUCT, SCRATCH_SUMS, SCRATCH_INPUT, SCRATCH_OUTPUT, SCRATCH_KINDS };
void *cuda_scratch(enum scratch_kind kind, size_t bytes);

/* out[n][0..columns) = in[n][0..columns), or added to it, for rows that lie apart. */
void cuda_move_rows(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                    size_t out_sample, bool add);

/* Zeroed memory; NULL if there is none. */
void *cuda_memory(size_t bytes);
/* A copy of an array of the host; NULL if there is no memory. */
void *cuda_copy(const void *host, size_t bytes);

/* The parts, which fill in their functions. */
void cuda_fill_memory(struct backend *backend);
void cuda_fill_moves(struct backend *backend);
void cuda_fill_convolutions(struct backend *backend);
void cuda_fill_normact(struct backend *backend);
void cuda_fill_pooling(struct backend *backend);
void cuda_fill_tangents(struct backend *backend);
void cuda_fill_losses(struct backend *backend);
const struct transform_device *cuda_transform(void);
const struct distance_device *cuda_distance(void);

#endif
