/* How kernels are written here, so that the same text is compiled by nvcc for GPUs and by a plain
 * compiler for the tests (tests/fake_cuda), which run it block after block on the processor.
 *
 * A kernel is a function for one block of threads.  What the threads do is in loops,
 *
 *     THREADS { ... }    once for each thread; at most one in a kernel
 *     PHASE { ... }      the same, and then all threads of the block wait for each other
 *
 * which a GPU runs side by side and the processor one after the other.  Nothing but SHARED arrays
 * lives on from one PHASE to the next.  `continue` leaves a thread's part, `return` and `break` do
 * not occur.  Since the barrier is part of PHASE, it cannot be forgotten. */
#ifndef SC_CUDA_KERNEL_H
#define SC_CUDA_KERNEL_H

#include <cuda_runtime.h>

#ifdef __CUDACC__
#define KERNEL  static __global__ void
#define DEVICE  static __device__ __forceinline__
#define SHARED  __shared__
#define THREADS for (bool sc_once = true; sc_once; sc_once = false)
#define PHASE   for (bool sc_once = true; sc_once; sc_once = false, __syncthreads())
#define LAUNCH_ON(stream, kernel, grid, block, ...)                                                \
    (kernel<<<(grid), (block), 0, (stream)>>>(__VA_ARGS__), cuda_launched(#kernel))
#else
#include <fake_kernel.h>
#define LAUNCH_ON(stream, kernel, grid, block, ...)                                                \
    (fake_launch((stream), kernel, (grid), (block), __VA_ARGS__), cuda_launched(#kernel))
#endif

#define LAUNCH(kernel, grid, block, ...)                                                           \
    LAUNCH_ON(cuda_stream(), kernel, (grid), (block), __VA_ARGS__)

/* Notes if the last launch was refused. */
void cuda_launched(const char *kernel);
/* Where the work of networks is queued. */
cudaStream_t cuda_stream(void);

/* ---- Grids ---- */

enum {
    LINE = 256,           /* threads of a block that goes along an array */
    WIDE = 32,            /* threads side by side along the channels, */
    HIGH = 8,             /* and one above the other along the steps */
    MOST_GRID = 65535,    /* blocks in y and z; kernels loop when there is more to do */
    MOST_LINES = 1 << 20, /* blocks along x */
};

/* At most this number; the kernel loops over the rest. */
static inline unsigned blocks_of(size_t items, size_t each, size_t most)
{
    size_t blocks = (items + each - 1) / each;

#ifndef __CUDACC__
    most = fake_most_blocks(most);
#endif
    return (unsigned)(blocks == 0 ? 1 : blocks < most ? blocks : most);
}

/* For LINE threads each. */
static inline dim3 along(size_t items)
{
    return dim3(blocks_of(items, LINE, MOST_LINES));
}

/* For blocks of (WIDE, HIGH): columns, rows, and planes. */
static inline dim3 across(size_t columns, size_t rows, size_t planes)
{
    return dim3(blocks_of(columns, WIDE, MOST_LINES), blocks_of(rows, HIGH, MOST_GRID),
                blocks_of(planes, 1, MOST_GRID));
}

/* The items of a thread: i from its place in the grid on, as long as there are any. */
#define EACH(i, items)                                                                             \
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;                                      \
    i < (items);                                                                                   \
    i += gridDim.x * (size_t)blockDim.x
#define EACH_ROW(i, items)                                                                         \
    size_t i = blockIdx.y * (size_t)blockDim.y + threadIdx.y;                                      \
    i < (items);                                                                                   \
    i += gridDim.y * (size_t)blockDim.y
#define EACH_PLANE(i, items)                                                                       \
    size_t i = blockIdx.z;                                                                         \
    i < (items);                                                                                   \
    i += gridDim.z

#endif
