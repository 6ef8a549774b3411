/* Runs kernels on the processor, for tests: block after block, and in a block thread after thread
 * of each PHASE (see cuda/kernel.h).  Not a device that anybody should compute with.
 *
 * Blocks and threads run in ascending order, or in descending order when fake_cuda_backwards is
 * set: what comes out must be the same. */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <functional>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <tuple>

#include <cuda_runtime.h>

extern thread_local struct uint3 blockIdx, threadIdx;
extern thread_local struct dim3 blockDim, gridDim;
extern bool fake_cuda_backwards;

#define KERNEL static void
#define DEVICE static inline
#define SHARED static thread_local
/* On a GPU `once`; here for each thread of the block. */
#define THREADS for (unsigned fake_i = 0; fake_thread(fake_i); fake_i++)
#define PHASE   THREADS

/* Rounded each on its own: -ffp-contract=off in the Makefile. */
DEVICE float __fmul_rn(float a, float b)
{
    return a * b;
}

DEVICE float __fadd_rn(float a, float b)
{
    return a + b;
}

/* Makes thread i of the block the current one; false when there are no more. */
bool fake_thread(unsigned i);

/* A smaller limit for grids, so that kernels have to go round (fake_cuda_limit_grids). */
size_t fake_most_blocks(size_t most);

/* Counts a convolution of cuDNN. */
void fake_count_convolution(void);
/* Whether that is to fail (fake_cuda_fail). */
bool fake_fails(const char *function);

/* Queues work: does it at once, or adds it to the graph that is being captured. */
void fake_queue(cudaStream_t stream, std::function<void()> work);
/* Runs one function for every block; false for a grid that no GPU would accept. */
void fake_run_blocks(dim3 grid, dim3 block, const std::function<void()> &kernel);
void fake_check_grid(dim3 grid, dim3 block);

/* The arguments are taken now, as a launch does, and not when a graph runs. */
template <class... Parameters, class... Arguments>
void fake_launch(cudaStream_t stream, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                 Arguments... arguments)
{
    std::tuple<Parameters...> taken(arguments...);

    fake_check_grid(grid, block);
    fake_queue(stream, [=] { fake_run_blocks(grid, block, [&] { std::apply(kernel, taken); }); });
}

#endif
