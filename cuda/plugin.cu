/* The device itself: opening it, its memory, copies, errors, and work that is repeated.
 *
 * Uploads have a stream of their own, so that they overlap with computation.  They go through
 * page-locked memory of two halves that are used in turn, so that the host waits at most for the
 * copy before the last; only downloads wait for all.
 *
 * Errors.  The functions of a backend return nothing, because most of what they do happens later.
 * The first failure is remembered and reported by fault(), which the library checks after every
 * download; from then on results are invalid, but nothing crashes. */
#include "plugin.h"

#include <dlfcn.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HALF = 4 << 20,          /* bytes of a half of the page-locked memory */
    QUEUE = 64,              /* steps queued without a look at them */
    CUBLAS_BYTES = 32 << 20, /* what cuBLAS recommends at most */
    MOST_SCRATCH = 64,       /* times that scratch memory can grow */
};

static struct {
    cudaStream_t stream;  /* all work but */
    cudaStream_t uploads; /* these */
    cublasHandle_t cublas;
    cudnnHandle_t cudnn;
    void *cublas_memory;
    char *pinned;
    cudaEvent_t copied[2]; /* the copies out of each half are done */
    cudaEvent_t computed;  /* what was queued before an upload is done */
    cudaEvent_t uploaded;  /* the upload is done */
    int half;
    size_t used; /* bytes of it */
    bool capturing;
    bool open;
} device;

/* ---- Errors ---- */

static std::mutex fault_lock;
static char fault_message[512];
static bool faulty;

void cuda_fault(const char *what, const char *why)
{
    std::lock_guard<std::mutex> guard(fault_lock);

    if (faulty)
        return;
    snprintf(fault_message, sizeof fault_message, "CUDA: %.400s: %.80s", what, why);
    faulty = true;
}

const char *cuda_fault_text(void)
{
    std::lock_guard<std::mutex> guard(fault_lock);

    return faulty ? fault_message : NULL;
}

bool cuda_check(cudaError_t status, const char *call)
{
    if (status != cudaSuccess)
        cuda_fault(call, cudaGetErrorString(status));
    return status == cudaSuccess;
}

bool cublas_check(cublasStatus_t status, const char *call)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        cuda_fault(call, cublasGetStatusString(status));
    return status == CUBLAS_STATUS_SUCCESS;
}

bool cudnn_check(cudnnStatus_t status, const char *call)
{
    if (status != CUDNN_STATUS_SUCCESS)
        cuda_fault(call, cudnnGetErrorString(status));
    return status == CUDNN_STATUS_SUCCESS;
}

void cuda_launched(const char *kernel)
{
    cuda_check(cudaGetLastError(), kernel);
}

cudaStream_t cuda_stream(void)
{
    return device.stream;
}

cublasHandle_t cuda_cublas(void)
{
    return device.cublas;
}

cudnnHandle_t cuda_cudnn(void)
{
    return device.cudnn;
}

/* ---- Memory ---- */

void *cuda_memory(size_t bytes)
{
    void *memory = NULL;
    cudaError_t status = cudaMalloc(&memory, bytes ? bytes : 1);

    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* the caller tells of it */
        return NULL;
    }
    if (!cuda_check(status, "cudaMalloc"))
        return NULL;
    /* Streams do not wait for the default one, which zeroes it. */
    CUDA(cudaMemset(memory, 0, bytes ? bytes : 1));
    CUDA(cudaStreamSynchronize(0));
    return memory;
}

void *cuda_copy(const void *host, size_t bytes)
{
    void *memory = cuda_memory(bytes);

    if (memory && bytes)
        CUDA(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaStreamSynchronize(0)); /* the copy may return before it has arrived */
    return memory;
}

/* Waits for what is under way. */
static void release(void *memory)
{
    if (memory)
        CUDA(cudaFree(memory));
}

/* Old memory is kept: work that was captured may point to it. */
void *cuda_scratch(enum scratch_kind kind, size_t bytes)
{
    static struct {
        void *memory[MOST_SCRATCH];
        size_t count, bytes;
    } scratches[SCRATCH_KINDS];
    auto *scratch = &scratches[kind];

    if (scratch->count && bytes <= scratch->bytes)
        return scratch->memory[scratch->count - 1];
    if (device.capturing) {
        cuda_fault("repeated work", "needs more memory than the first time");
        return NULL;
    }
    if (bytes < 2 * scratch->bytes)
        bytes = 2 * scratch->bytes;
    if (bytes < (size_t)1 << 20)
        bytes = (size_t)1 << 20;
    void *memory = scratch->count < MOST_SCRATCH ? cuda_memory(bytes) : NULL;
    if (!memory) {
        cuda_fault("scratch memory", "out of memory");
        return NULL;
    }
    scratch->memory[scratch->count++] = memory;
    scratch->bytes = bytes;
    return memory;
}

/* ---- Copies ---- */

/* Room for some bytes of page-locked memory whose last copy is done. */
static char *pinned_room(size_t bytes)
{
    if (device.used + bytes > HALF) {
        CUDA(cudaEventRecord(device.copied[device.half], device.uploads));
        device.half = 1 - device.half;
        device.used = 0;
        CUDA(cudaEventSynchronize(device.copied[device.half]));
    }
    char *room = device.pinned + (size_t)device.half * HALF + device.used;
    device.used += (bytes + 63) / 64 * 64;
    return room;
}

static void upload_beside(void *to, const void *host, size_t bytes)
{
    if (device.capturing) {
        cuda_fault("repeated work", "copies from the host");
        return;
    }
    for (size_t done = 0; done < bytes;) {
        size_t some = bytes - done < HALF ? bytes - done : (size_t)HALF;
        char *room = pinned_room(some);

        memcpy(room, (const char *)host + done, some);
        CUDA(
            cudaMemcpyAsync((char *)to + done, room, some, cudaMemcpyHostToDevice, device.uploads));
        done += some;
    }
    CUDA(cudaEventRecord(device.uploaded, device.uploads));
    CUDA(cudaStreamWaitEvent(device.stream, device.uploaded, 0));
}

static void upload(void *to, const void *host, size_t bytes)
{
    if (!device.capturing) {
        CUDA(cudaEventRecord(device.computed, device.stream));
        CUDA(cudaStreamWaitEvent(device.uploads, device.computed, 0));
    }
    upload_beside(to, host, bytes);
}

static void download(void *host, const void *from, size_t bytes)
{
    if (device.capturing) {
        cuda_fault("repeated work", "copies to the host");
        return;
    }
    if (!CUDA(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, device.stream)) ||
        !CUDA(cudaStreamSynchronize(device.stream)))
        memset(host, 0, bytes);
}

static void zero(void *memory, size_t bytes)
{
    if (bytes)
        CUDA(cudaMemsetAsync(memory, 0, bytes, device.stream));
}

/* ---- Repeated work ---- */

/* The first time it runs as it is, so that everything that is made on first use is there: memory,
 * plans, modules.  The second time it is captured, and from then on launched as one graph. */
struct captured {
    cudaGraphExec_t graph;
};

static void capture(struct repeated *repeated, struct captured *captured)
{
    cudaGraph_t graph = NULL;

    if (!CUDA(cudaStreamBeginCapture(device.stream, cudaStreamCaptureModeThreadLocal)))
        return;
    device.capturing = true;
    repeated->body(repeated->context);
    device.capturing = false;
    if (!CUDA(cudaStreamEndCapture(device.stream, &graph)))
        return;
    CUDA(cudaGraphInstantiate(&captured->graph, graph, 0));
    CUDA(cudaGraphDestroy(graph));
}

static void repeat(struct repeated *repeated)
{
    struct captured *captured = (struct captured *)repeated->captured;

    if (!captured) {
        repeated->captured = calloc(1, sizeof *captured);
        if (!repeated->captured)
            cuda_fault("repeated work", "out of memory");
        repeated->body(repeated->context);
        return;
    }
    if (!captured->graph && !cuda_fault_text())
        capture(repeated, captured);
    if (captured->graph)
        CUDA(cudaGraphLaunch(captured->graph, device.stream));
}

static void repeat_end(struct repeated *repeated)
{
    struct captured *captured = (struct captured *)repeated->captured;

    if (captured && captured->graph) {
        CUDA(cudaStreamSynchronize(device.stream));
        CUDA(cudaGraphExecDestroy(captured->graph));
    }
    free(captured);
    repeated->captured = NULL;
}

/* ---- Opening ---- */

static void run(size_t tasks, void (*body)(void *context, size_t task, unsigned worker),
                void *context)
{
    for (size_t task = 0; task < tasks; task++)
        body(context, task, 0);
}

static unsigned workers(void)
{
    return 1;
}

void cuda_fill_memory(struct backend *backend)
{
    backend->name = "cuda";
    backend->whole_batch = true;
    backend->host_memory = false;
    backend->queue = QUEUE;
    backend->fault = cuda_fault_text;
    backend->allocate = cuda_memory;
    backend->release = release;
    backend->upload = upload;
    backend->upload_beside = upload_beside;
    backend->download = download;
    backend->zero = zero;
    backend->repeat = repeat;
    backend->repeat_end = repeat_end;
    backend->parallel_for = run;
    backend->workers = workers;
}

static bool find_gpu(char *message, size_t size)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);

    if (status == cudaErrorInsufficientDriver) {
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

        if (driver) {
            snprintf(message, size,
                     "the NVIDIA driver is too old for the CUDA %d.%d that the plug-in was built "
                     "with",
                     CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
            dlclose(driver);
        } else {
            snprintf(message, size, "no NVIDIA driver: there is no libcuda.so.1");
        }
        return false;
    }
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
        snprintf(message, size, "no GPU: the NVIDIA driver finds none");
        return false;
    }
    if (status != cudaSuccess)
        snprintf(message, size, "no GPU that can be used: %s", cudaGetErrorString(status));
    return status == cudaSuccess;
}

KERNEL probe_kernel(int *answer)
{
    THREADS
    {
        *answer = 1;
    }
}

/* Whether the plug-in has code that this GPU runs: else every launch would fail. */
static bool runs_kernels(void)
{
    int *answer = (int *)cuda_scratch(SCRATCH_SUMS, sizeof *answer), seen = 0;

    if (!answer)
        return false;
    LAUNCH(probe_kernel, 1, 1, answer);
    download(&seen, answer, sizeof seen);
    if (seen != 1)
        cuda_fault("a kernel", "does not run");
    return !cuda_fault_text();
}

static bool open_device(void)
{
    void *pinned = NULL;
    bool done = CUDA(cudaSetDevice(0)) &&
                CUDA(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking)) &&
                CUDA(cudaStreamCreateWithFlags(&device.uploads, cudaStreamNonBlocking)) &&
                CUDA(cudaMallocHost(&pinned, 2 * (size_t)HALF)) &&
                CUDA(cudaEventCreateWithFlags(&device.copied[0], cudaEventDisableTiming)) &&
                CUDA(cudaEventCreateWithFlags(&device.copied[1], cudaEventDisableTiming)) &&
                CUDA(cudaEventCreateWithFlags(&device.computed, cudaEventDisableTiming)) &&
                CUDA(cudaEventCreateWithFlags(&device.uploaded, cudaEventDisableTiming)) &&
                CUBLAS(cublasCreate(&device.cublas)) &&
                CUBLAS(cublasSetStream(device.cublas, device.stream)) &&
                CUBLAS(cublasSetMathMode(device.cublas, CUBLAS_PEDANTIC_MATH)) &&
                CUDNN(cudnnCreate(&device.cudnn)) &&
                CUDNN(cudnnSetStream(device.cudnn, device.stream));

    device.pinned = (char *)pinned;
    if (!done)
        return false;
    /* Its own memory, because what it would allocate itself cannot be captured. */
    device.cublas_memory = cuda_memory(CUBLAS_BYTES);
    device.open = device.cublas_memory &&
                  CUBLAS(cublasSetWorkspace(device.cublas, device.cublas_memory, CUBLAS_BYTES)) &&
                  runs_kernels();
    return device.open;
}

extern "C" __attribute__((visibility("default"))) int shapecond_cuda_open(
    const char *interface, size_t backend_size, struct device *result, char *message, size_t size)
{
    static struct backend backend;

    if (strcmp(interface, SHAPECOND_INTERFACE) != 0 || backend_size != sizeof(struct backend)) {
        snprintf(message, size,
                 "the CUDA plug-in (%s) and the program (%s) are not of the same build",
                 SHAPECOND_INTERFACE, interface);
        return 1;
    }
    if (!find_gpu(message, size))
        return 1;
    if (!device.open && !open_device()) {
        const char *fault = cuda_fault_text();

        snprintf(message, size, "the GPU cannot be used: %s", fault ? fault : "out of memory");
        return 1;
    }
    cuda_fill_memory(&backend);
    cuda_fill_elementwise(&backend);
    cuda_fill_convolutions(&backend);
    cuda_fill_normact(&backend);
    cuda_fill_pooling(&backend);
    cuda_fill_tangents(&backend);
    cuda_fill_rownorm(&backend);
    cuda_fill_attention(&backend);
    cuda_fill_gru(&backend);
    cuda_fill_losses(&backend);
    result->backend = &backend;
    result->transform = cuda_transform();
    result->distance = cuda_distance();
    return 0;
}
