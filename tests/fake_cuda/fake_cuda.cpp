/* CUDA's runtime on the processor, as far as the plug-in uses it: memory of the device is plain
 * memory that is known by address, work is done when it is queued, and a capture keeps it instead.
 * Stricter than the real one where that finds mistakes: copies must lie inside of memory that was
 * allocated, and what cannot be captured fails. */
#include "fake_cuda.h"
#include "fake_kernel.h"

#include <map>
#include <mutex>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

thread_local struct uint3 blockIdx, threadIdx;
thread_local struct dim3 blockDim, gridDim;
bool fake_cuda_backwards;

struct fake_graph {
    std::vector<std::function<void()>> work;
};

struct fake_stream {
    fake_graph *capturing = nullptr;
};

struct fake_event {
    int nothing;
};

static std::mutex lock;
static std::map<const char *, size_t> memory; /* of the device, by where it begins */
static size_t limit, used;
/* For programs, which cannot turn knobs. */
static int gpus = getenv("FAKE_CUDA_GPUS") ? atoi(getenv("FAKE_CUDA_GPUS")) : 1;
static std::string failing = getenv("FAKE_CUDA_FAIL") ? getenv("FAKE_CUDA_FAIL") : "";
static struct fake_cuda_counts counts;
static thread_local cudaError_t last_error;
static thread_local int captures; /* that this thread has begun */

/* ---- For tests ---- */

void fake_cuda_set_memory(size_t bytes)
{
    limit = bytes;
}

void fake_cuda_fail(const char *function)
{
    failing = function ? function : "";
}

void fake_cuda_run_backwards(bool backwards)
{
    fake_cuda_backwards = backwards;
}

struct fake_cuda_counts fake_cuda_counts(void)
{
    std::lock_guard<std::mutex> guard(lock);

    counts.allocated = memory.size();
    return counts;
}

void fake_count_convolution(void)
{
    std::lock_guard<std::mutex> guard(lock);

    counts.convolutions++;
}

bool fake_fails(const char *function)
{
    return failing == function;
}

static size_t most_blocks;

void fake_cuda_limit_grids(size_t most)
{
    most_blocks = most;
}

size_t fake_most_blocks(size_t most)
{
    return most_blocks && most_blocks < most ? most_blocks : most;
}

/* What waits for the device or changes its memory fails while the thread captures: CUDA's
 * "potentially unsafe" calls, and whatever goes through the default stream. */
static bool is_forbidden(void)
{
    return captures > 0;
}

static cudaError_t result(const char *function, bool fine, cudaError_t error)
{
    if (failing == function)
        return cudaErrorIllegalAddress;
    return fine ? cudaSuccess : error;
}

/* ---- Kernels ---- */

bool fake_thread(unsigned i)
{
    unsigned all = blockDim.x * blockDim.y * blockDim.z;

    if (i >= all)
        return false;
    if (fake_cuda_backwards)
        i = all - 1 - i;
    threadIdx.x = i % blockDim.x;
    threadIdx.y = i / blockDim.x % blockDim.y;
    threadIdx.z = i / blockDim.x / blockDim.y;
    return true;
}

void fake_run_blocks(dim3 grid, dim3 block, const std::function<void()> &kernel)
{
    size_t all = (size_t)grid.x * grid.y * grid.z;

    gridDim = grid;
    blockDim = block;
    for (size_t i = 0; i < all; i++) {
        size_t at = fake_cuda_backwards ? all - 1 - i : i;

        blockIdx.x = (unsigned)(at % grid.x);
        blockIdx.y = (unsigned)(at / grid.x % grid.y);
        blockIdx.z = (unsigned)(at / grid.x / grid.y);
        kernel();
    }
}

void fake_check_grid(dim3 grid, dim3 block)
{
    unsigned threads = block.x * block.y * block.z;

    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535 ||
        threads == 0 || threads > 1024)
        last_error = cudaErrorInvalidConfiguration;
    if (failing == "kernel")
        last_error = cudaErrorIllegalAddress;
}

void fake_queue(cudaStream_t stream, std::function<void()> work)
{
    if (stream && stream->capturing) {
        stream->capturing->work.push_back(std::move(work));
        return;
    }
    {
        std::lock_guard<std::mutex> guard(lock);

        counts.launches++;
    }
    work();
}

/* ---- Errors and devices ---- */

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted when stream is capturing";
    default:
        return error ? "invalid argument" : "no error";
    }
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = gpus > 0 ? gpus : 0;
    return gpus > 0 ? cudaSuccess : gpus == 0 ? cudaErrorNoDevice : cudaErrorInsufficientDriver;
}

cudaError_t cudaSetDevice(int device)
{
    return result("cudaSetDevice", device >= 0 && device < gpus, cudaErrorInvalidValue);
}

/* ---- Memory ---- */

cudaError_t cudaMalloc(void **to, size_t bytes)
{
    std::lock_guard<std::mutex> guard(lock);

    if (is_forbidden())
        return cudaErrorStreamCaptureUnsupported;
    if (limit && used + bytes > limit)
        return last_error = cudaErrorMemoryAllocation;
    /* Real memory is not zeroed, and aligned to 256 bytes. */
    *to = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(*to, 0xA5, bytes);
    memory[(char *)*to] = bytes;
    used += bytes;
    return result("cudaMalloc", true, cudaSuccess);
}

cudaError_t cudaFree(void *pointer)
{
    std::lock_guard<std::mutex> guard(lock);
    auto found = memory.find((char *)pointer);

    if (!pointer)
        return cudaSuccess;
    if (is_forbidden())
        return cudaErrorStreamCaptureUnsupported;
    if (found == memory.end())
        return cudaErrorInvalidValue;
    used -= found->second;
    memory.erase(found);
    free(pointer);
    return result("cudaFree", true, cudaSuccess);
}

/* Whether all of it is memory of the device. */
static bool on_device(const void *pointer, size_t bytes)
{
    std::lock_guard<std::mutex> guard(lock);
    const char *at = (const char *)pointer;
    auto found = memory.upper_bound(at);

    if (found == memory.begin())
        return false;
    --found;
    return at + bytes <= found->first + found->second;
}

cudaError_t cudaMallocHost(void **to, size_t bytes)
{
    if (is_forbidden())
        return cudaErrorStreamCaptureUnsupported;
    *to = malloc(bytes);
    return result("cudaMallocHost", true, cudaSuccess);
}

cudaError_t cudaFreeHost(void *pointer)
{
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    return cudaMemsetAsync(pointer, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    if (!on_device(pointer, bytes))
        return cudaErrorInvalidValue;
    if (!stream && is_forbidden())
        return cudaErrorStreamCaptureUnsupported;
    fake_queue(stream, [=] { memset(pointer, value, bytes); });
    return result("cudaMemsetAsync", true, cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    const void *device = kind == cudaMemcpyHostToDevice ? to : from;

    if (bytes && !on_device(device, bytes))
        return cudaErrorInvalidValue;
    if (is_forbidden() || (stream && stream->capturing))
        return cudaErrorStreamCaptureUnsupported;
    memcpy(to, from, bytes);
    return result("cudaMemcpyAsync", true, cudaSuccess);
}

/* ---- Streams, events, graphs ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new fake_stream;
    return result("cudaStreamCreateWithFlags", flags == cudaStreamNonBlocking,
                  cudaErrorInvalidValue);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    std::lock_guard<std::mutex> guard(lock);

    counts.syncs += stream != nullptr;
    return result("cudaStreamSynchronize", !is_forbidden(), cudaErrorStreamCaptureUnsupported);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    *event = new fake_event;
    return result("cudaEventCreateWithFlags", flags == cudaEventDisableTiming,
                  cudaErrorInvalidValue);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return result("cudaEventRecord", event && !stream->capturing,
                  cudaErrorStreamCaptureUnsupported);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return result("cudaEventSynchronize", event != nullptr && !is_forbidden(),
                  cudaErrorInvalidValue);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    if (!stream || stream->capturing || mode != cudaStreamCaptureModeThreadLocal)
        return cudaErrorInvalidValue;
    stream->capturing = new fake_graph;
    captures++;
    return result("cudaStreamBeginCapture", true, cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = stream->capturing;
    captures -= *graph != nullptr;
    stream->capturing = nullptr;
    return result("cudaStreamEndCapture", *graph != nullptr, cudaErrorInvalidValue);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags)
{
    *executable = new fake_graph(*graph);
    return result("cudaGraphInstantiate", flags == 0, cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    if (stream->capturing)
        return cudaErrorStreamCaptureUnsupported;
    {
        std::lock_guard<std::mutex> guard(lock);

        counts.graph_launches++;
    }
    for (const auto &work : executable->work)
        work();
    return result("cudaGraphLaunch", true, cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    delete executable;
    return cudaSuccess;
}
