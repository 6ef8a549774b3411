/* cuBLAS and cuDNN on the processor, as far as the plug-in uses them, by the definitions of their
 * manuals, for tests.  Arguments are checked as strictly as the real ones do or more: leading
 * dimensions, shapes that fit each other, dense tensors, scratch memory of the size that was asked
 * for (which is overwritten, so that nobody relies on what was in it). */
#include "fake_kernel.h"

#include <cublas_v2.h>
#include <cudnn.h>
#include <string.h>

/* ---- cuBLAS ---- */

struct fake_cublas {
    cudaStream_t stream;
    void *memory;
};

const char *cublasGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "an invalid value";
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = new fake_cublas();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    handle->memory = nullptr; /* as the real one does */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    (void)handle;
    return mode == CUBLAS_PEDANTIC_MATH ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *memory, size_t bytes)
{
    handle->memory = memory;
    return bytes ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const float *alpha, const float *a, int lda,
                           const float *b, int ldb, const float *beta, float *c, int ldc)
{
    float scale = *alpha, keep = *beta;

    if (!handle->memory || m < 0 || n < 0 || k < 0 || lda < (op_a == CUBLAS_OP_N ? m : k) ||
        ldb < (op_b == CUBLAS_OP_N ? k : n) || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    fake_queue(handle->stream, [=] {
        for (size_t j = 0; j < (size_t)n; j++)
            for (size_t i = 0; i < (size_t)m; i++) {
                double sum = 0;

                for (size_t l = 0; l < (size_t)k; l++)
                    sum += (double)a[op_a == CUBLAS_OP_N ? i + l * lda : l + i * lda] *
                           b[op_b == CUBLAS_OP_N ? l + j * ldb : j + l * ldb];
                c[i + j * ldc] = scale * (float)sum + (keep != 0 ? keep * c[i + j * ldc] : 0);
            }
    });
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int batch)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

    for (int i = 0; i < batch && status == CUBLAS_STATUS_SUCCESS; i++)
        status = cublasSgemm(handle, op_a, op_b, m, n, k, alpha, a + i * stride_a, lda,
                             b + i * stride_b, ldb, beta, c + i * stride_c, ldc);
    return status;
}

/* ---- cuDNN ---- */

struct fake_cudnn {
    cudaStream_t stream;
};

struct fake_tensor {
    size_t n, c, h, w;
};

struct fake_filter {
    size_t k, c, h, w;
};

struct fake_convolution {
    size_t pad_h, pad_w;
    bool fma; /* no TF32 */
};

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_BAD_PARAM";
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    *handle = new fake_cudnn();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *descriptor)
{
    *descriptor = new fake_tensor();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *descriptor)
{
    *descriptor = new fake_filter();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *descriptor)
{
    *descriptor = new fake_convolution();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor,
                                         cudnnTensorFormat_t format, cudnnDataType_t type, int n,
                                         int c, int h, int w)
{
    if (format != CUDNN_TENSOR_NHWC || type != CUDNN_DATA_FLOAT || n < 1 || c < 1 || h < 1 || w < 1)
        return CUDNN_STATUS_BAD_PARAM;
    *descriptor = {(size_t)n, (size_t)c, (size_t)h, (size_t)w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    if (format != CUDNN_TENSOR_NHWC || type != CUDNN_DATA_FLOAT || k < 1 || c < 1 || h < 1 || w < 1)
        return CUDNN_STATUS_BAD_PARAM;
    *descriptor = {(size_t)k, (size_t)c, (size_t)h, (size_t)w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor, int pad_h,
                                              int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type)
{
    if (pad_h < 0 || pad_w < 0 || u != 1 || v != 1 || dilation_h != 1 || dilation_w != 1 ||
        mode != CUDNN_CROSS_CORRELATION || type != CUDNN_DATA_FLOAT)
        return CUDNN_STATUS_BAD_PARAM;
    *descriptor = {(size_t)pad_h, (size_t)pad_w, false};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor,
                                          cudnnMathType_t type)
{
    descriptor->fma = type == CUDNN_FMA_MATH;
    return CUDNN_STATUS_SUCCESS;
}

/* Whether x * w can be y. */
static bool fits(const fake_tensor *x, const fake_filter *w, const fake_convolution *convolution,
                 const fake_tensor *y)
{
    return convolution->fma && x->n == y->n && x->c == w->c && y->c == w->k &&
           y->h == x->h + 2 * convolution->pad_h - w->h + 1 &&
           y->w == x->w + 2 * convolution->pad_w - w->w + 1;
}

/* An odd number of bytes that depends on the shapes. */
static size_t scratch_bytes(const fake_tensor *x, const fake_filter *w)
{
    return x->n * x->w * w->w + w->k + 13;
}

/* Checks and counts what is about to run. */
static cudnnStatus_t start(const fake_tensor *x, const fake_filter *w,
                           const fake_convolution *convolution, const fake_tensor *y,
                           const void *alpha, size_t bytes)
{
    if (!fits(x, w, convolution, y) || x->h != 1 || *(const float *)alpha != 1.0f ||
        bytes < scratch_bytes(x, w))
        return CUDNN_STATUS_BAD_PARAM;
    if (fake_fails("cuDNN runs"))
        return CUDNN_STATUS_NOT_SUPPORTED;
    fake_count_convolution();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y, int requested,
    int *returned, cudnnConvolutionFwdAlgoPerf_t *results)
{
    (void)handle;
    if (!fits(x, w, convolution, y) || requested < 4)
        return CUDNN_STATUS_BAD_PARAM;
    if (fake_fails("cuDNN proposes"))
        return CUDNN_STATUS_NOT_SUPPORTED;
    *returned = 4;
    memset(results, 0, 4 * sizeof *results);
    /* Three that must not be taken: one needs too much memory, one does not work, and one needs
     * TF32. */
    for (int i = 0; i < 4; i++)
        results[i].determinism = CUDNN_DETERMINISTIC;
    results[0].algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    results[0].memory = (size_t)1 << 40;
    results[1].algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    results[1].status = CUDNN_STATUS_NOT_SUPPORTED;
    results[2].algo = CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
    results[3].algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    results[3].memory = scratch_bytes(x, w);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes)
{
    (void)handle;
    if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_GEMM)
        return CUDNN_STATUS_NOT_SUPPORTED;
    if (!fits(x, w, convolution, y) ||
        algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
        return CUDNN_STATUS_BAD_PARAM;
    *bytes = scratch_bytes(x, w);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                      cudnnTensorDescriptor_t x_descriptor, const void *x_pointer,
                                      cudnnFilterDescriptor_t w_descriptor, const void *w_pointer,
                                      cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *memory,
                                      size_t bytes, const void *beta_pointer,
                                      cudnnTensorDescriptor_t y_descriptor, void *y_pointer)
{
    const float *x = (const float *)x_pointer, *w = (const float *)w_pointer;
    float *y = (float *)y_pointer, beta = *(const float *)beta_pointer;
    fake_tensor in = *x_descriptor, out = *y_descriptor;
    fake_filter filter = *w_descriptor;
    size_t pad = convolution->pad_w;
    cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM;

    if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
        status = start(x_descriptor, w_descriptor, convolution, y_descriptor, alpha, bytes);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    fake_queue(handle->stream, [=] {
        memset(memory, 0xFF, bytes);
        for (size_t n = 0; n < out.n; n++)
            for (size_t t = 0; t < out.w; t++)
                for (size_t o = 0; o < out.c; o++) {
                    size_t at = (n * out.w + t) * out.c + o;
                    double sum = 0;

                    for (size_t k = 0; k < filter.w; k++)
                        for (size_t i = 0; i < in.c && t + k >= pad && t + k - pad < in.w; i++)
                            sum += (double)x[(n * in.w + t + k - pad) * in.c + i] *
                                   w[(o * filter.w + k) * in.c + i];
                    y[at] = (float)sum + (beta != 0 ? beta * y[at] : 0);
                }
    });
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t dw, int requested,
    int *returned, cudnnConvolutionBwdFilterAlgoPerf_t *results)
{
    (void)handle;
    if (!fits(x, dw, convolution, dy) || requested < 3)
        return CUDNN_STATUS_BAD_PARAM;
    *returned = fake_fails("cuDNN proposes") ? 2 : 3; /* the first two must not be taken */
    memset(results, 0, 3 * sizeof *results);
    results[0].algo = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
    results[0].determinism = CUDNN_NON_DETERMINISTIC;
    results[1].algo = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
    results[1].determinism = CUDNN_DETERMINISTIC;
    results[2].algo = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
    results[2].memory = scratch_bytes(x, dw);
    results[2].determinism = CUDNN_DETERMINISTIC;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes)
{
    (void)handle;
    if (algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3)
        return CUDNN_STATUS_NOT_SUPPORTED;
    if (!fits(x, dw, convolution, dy) || algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1)
        return CUDNN_STATUS_BAD_PARAM;
    *bytes = scratch_bytes(x, dw);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t x_descriptor,
    const void *x_pointer, cudnnTensorDescriptor_t dy_descriptor, const void *dy_pointer,
    cudnnConvolutionDescriptor_t convolution, cudnnConvolutionBwdFilterAlgo_t algorithm,
    void *memory, size_t bytes, const void *beta_pointer, cudnnFilterDescriptor_t dw_descriptor,
    void *dw_pointer)
{
    const float *x = (const float *)x_pointer, *dy = (const float *)dy_pointer;
    float *dw = (float *)dw_pointer, beta = *(const float *)beta_pointer;
    fake_tensor in = *x_descriptor, out = *dy_descriptor;
    fake_filter filter = *dw_descriptor;
    size_t pad = convolution->pad_w;
    cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM;

    if (algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1)
        status = start(x_descriptor, dw_descriptor, convolution, dy_descriptor, alpha, bytes);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    fake_queue(handle->stream, [=] {
        memset(memory, 0xFF, bytes);
        for (size_t o = 0; o < filter.k; o++)
            for (size_t k = 0; k < filter.w; k++)
                for (size_t i = 0; i < filter.c; i++) {
                    size_t at = (o * filter.w + k) * filter.c + i;
                    double sum = 0;

                    for (size_t n = 0; n < out.n; n++)
                        for (size_t t = 0; t < out.w; t++)
                            if (t + k >= pad && t + k - pad < in.w)
                                sum += (double)x[(n * in.w + t + k - pad) * in.c + i] *
                                       dy[(n * out.w + t) * out.c + o];
                    dw[at] = (float)sum + (beta != 0 ? beta * dw[at] : 0);
                }
    });
    return CUDNN_STATUS_SUCCESS;
}
