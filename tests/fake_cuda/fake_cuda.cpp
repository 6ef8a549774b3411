/* CUDA's runtime on the processor, as far as the plug-in uses it: memory of the device is plain
 * memory that is known by address, work is done when it is queued, or, if that is asked for, when
 * somebody waits for it, and a capture keeps it instead.  Stricter than the real one where that
 * finds mistakes: copies must lie inside of memory that was allocated, memory is surrounded by
 * guards that nobody may write to and that are not numbers, and what cannot be captured fails. */
#include "fake_cuda.h"
#include "fake_kernel.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdio.h>
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
    size_t number;                           /* of the streams before it */
    std::deque<std::function<void()>> queue; /* what is not done yet */
    size_t queued = 0, done = 0;             /* how much ever was */
};

/* The work of a stream up to some point. */
struct fake_event {
    fake_stream *stream = nullptr;
    size_t queued = 0;
};

static std::mutex lock;
static std::map<const char *, size_t> memory; /* of the device, by where it begins */
static std::map<const char *, size_t> pinned; /* page-locked */
static size_t limit, used;
/* For programs, which cannot turn knobs. */
static int gpus = getenv("FAKE_CUDA_GPUS") ? atoi(getenv("FAKE_CUDA_GPUS")) : 1;
static std::string failing = getenv("FAKE_CUDA_FAIL") ? getenv("FAKE_CUDA_FAIL") : "";
static struct fake_cuda_counts counts;
static thread_local cudaError_t last_error;
static thread_local int captures; /* that this thread has begun */
static fake_late late =
    getenv("FAKE_CUDA_LATE") ? (fake_late)atoi(getenv("FAKE_CUDA_LATE")) : FAKE_NONE_LATE;
static std::recursive_mutex running; /* one at a time does what was left for later */
static std::set<fake_stream *> streams;

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

static bool is_late(const fake_stream *stream)
{
    return stream && late != FAKE_NONE_LATE &&
           (late == FAKE_ALL_LATE || (late == FAKE_FIRST_LATE) == (stream->number == 0));
}

/* Does the work of a stream until so much of it is done. */
static void run_until(fake_stream *stream, size_t queued)
{
    std::lock_guard<std::recursive_mutex> guard(running);

    while (stream->done < queued) {
        std::function<void()> work = std::move(stream->queue.front());

        stream->queue.pop_front();
        stream->done++;
        work();
    }
}

static void run_all(void)
{
    std::lock_guard<std::recursive_mutex> guard(running);

    for (fake_stream *stream : streams)
        run_until(stream, stream->queued);
}

/* Now or later. */
static void run_in(fake_stream *stream, std::function<void()> work)
{
    if (!is_late(stream)) {
        work();
        return;
    }
    std::lock_guard<std::recursive_mutex> guard(running);

    stream->queue.push_back(std::move(work));
    stream->queued++;
}

void fake_cuda_run_late(enum fake_late which)
{
    run_all();
    late = which;
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
    run_in(stream, std::move(work));
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

/* Bytes before and after each piece of memory; sanitizers have their own. */
#ifdef __SANITIZE_ADDRESS__
enum { GUARD = 0 };
#else
enum { GUARD = 256 };
#endif

/* What is in them, for each piece another, so that copies from one to the other are found out:
 * signalling NaNs and tiny numbers in turn, tiny as doubles, which arithmetic does not leave as
 * they are. */
static uint64_t guard_word(const char *piece)
{
    uint64_t own = (uintptr_t)piece >> 8 & 0xfffff;

    return (0x00a00000 | own) << 32 | 0x7fa00000 | own;
}

/* Fills, or checks, the guards on both sides. */
static bool guards_are_whole(char *piece, size_t bytes, bool fill)
{
    uint64_t word = guard_word(piece);
    bool whole = true;

    for (size_t k = 0; k < 2 * GUARD; k++) {
        size_t i = k < GUARD ? k : bytes + k;
        char *at = piece - GUARD + i, expected;

        memcpy(&expected, (char *)&word + i % sizeof word, 1);
        if (fill)
            *at = expected;
        whole = whole && *at == expected;
    }
    return whole;
}

static void check_guards(const char *piece, size_t bytes)
{
    if (guards_are_whole((char *)piece, bytes, false))
        return;
    fprintf(stderr, "fake_cuda: something wrote outside of %zu bytes of memory\n", bytes);
    abort();
}

cudaError_t cudaMalloc(void **to, size_t bytes)
{
    std::lock_guard<std::mutex> guard(lock);

    if (is_forbidden())
        return cudaErrorStreamCaptureUnsupported;
    if (limit && used + bytes > limit)
        return last_error = cudaErrorMemoryAllocation;
    /* Real memory is not zeroed, and aligned to 256 bytes. */
    size_t all = bytes + 2 * GUARD;
    void *start = NULL;
    if (posix_memalign(&start, 256, all))
        return last_error = cudaErrorMemoryAllocation;
    memset(start, 0xFF, all);
    *to = (char *)start + GUARD;
    guards_are_whole((char *)*to, bytes, true);
    memory[(char *)*to] = bytes;
    used += bytes;
    return result("cudaMalloc", true, cudaSuccess);
}

cudaError_t cudaFree(void *pointer)
{
    run_all();
    std::lock_guard<std::mutex> guard(lock);
    auto found = memory.find((char *)pointer);

    if (!pointer)
        return cudaSuccess;
    if (is_forbidden())
        return cudaErrorStreamCaptureUnsupported;
    if (found == memory.end())
        return cudaErrorInvalidValue;
    check_guards(found->first, found->second);
    used -= found->second;
    memory.erase(found);
    free((char *)pointer - GUARD);
    return result("cudaFree", true, cudaSuccess);
}

/* Whether all of it is memory of that kind. */
static bool is_inside(const std::map<const char *, size_t> &pieces, const void *pointer,
                      size_t bytes)
{
    std::lock_guard<std::mutex> guard(lock);
    const char *at = (const char *)pointer;
    auto found = pieces.upper_bound(at);

    if (found == pieces.begin())
        return false;
    --found;
    return at + bytes <= found->first + found->second;
}

static bool on_device(const void *pointer, size_t bytes)
{
    return is_inside(memory, pointer, bytes);
}

cudaError_t cudaMallocHost(void **to, size_t bytes)
{
    if (is_forbidden())
        return cudaErrorStreamCaptureUnsupported;
    *to = malloc(bytes);
    std::lock_guard<std::mutex> guard(lock);
    pinned[(char *)*to] = bytes;
    return result("cudaMallocHost", true, cudaSuccess);
}

cudaError_t cudaFreeHost(void *pointer)
{
    run_all();
    std::lock_guard<std::mutex> guard(lock);
    pinned.erase((char *)pointer);
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
    bool upload = kind == cudaMemcpyHostToDevice;
    const void *device = upload ? to : from, *host = upload ? from : to;

    if (bytes && !on_device(device, bytes))
        return cudaErrorInvalidValue;
    if (is_forbidden() || (stream && stream->capturing))
        return cudaErrorStreamCaptureUnsupported;
    if (is_inside(pinned, host, bytes)) {
        run_in(stream, [=] { memcpy(to, from, bytes); });
    } else if (upload) { /* the real one keeps what it has not copied yet */
        auto kept =
            std::make_shared<std::vector<char>>((const char *)from, (const char *)from + bytes);

        run_in(stream, [=] { memcpy(to, kept->data(), bytes); });
    } else { /* the real one waits */
        if (stream)
            run_until(stream, stream->queued);
        memcpy(to, from, bytes);
    }
    return result("cudaMemcpyAsync", true, cudaSuccess);
}

/* ---- Streams, events, graphs ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    std::lock_guard<std::recursive_mutex> guard(running);
    static size_t count;

    *stream = new fake_stream;
    (*stream)->number = count++;
    streams.insert(*stream);
    return result("cudaStreamCreateWithFlags", flags == cudaStreamNonBlocking,
                  cudaErrorInvalidValue);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    std::lock_guard<std::recursive_mutex> guard(running);

    run_until(stream, stream->queued);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream)
        run_until(stream, stream->queued);
    std::lock_guard<std::mutex> guard(lock);

    for (const auto &piece : memory)
        check_guards(piece.first, piece.second);
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
    *event = {stream, stream->queued};
    return result("cudaEventRecord", !stream->capturing, cudaErrorStreamCaptureUnsupported);
}

/* Waits for what the event stands for now; it may be recorded again before that is done. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    fake_event now = *event;

    if (now.stream)
        run_in(stream, [=] { run_until(now.stream, now.queued); });
    return result("cudaStreamWaitEvent", flags == 0 && !stream->capturing, cudaErrorInvalidValue);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (event->stream)
        run_until(event->stream, event->queued);
    return result("cudaEventSynchronize", !is_forbidden(), cudaErrorInvalidValue);
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
    auto works = std::make_shared<fake_graph>(*executable);
    run_in(stream, [=] {
        for (const auto &work : works->work)
            work();
    });
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
