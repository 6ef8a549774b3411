/* The shapelet transform, and the distances of discovery.
 *
 * Transform.  A block for each series and shapelet tries the places, a thread every LINE-th, and
 * keeps the first of the least.  Its gradient has a thread for each value of the series that goes
 * through the shapelets of its channel in their order, as the processor does.
 *
 * Discovery.  As on the processor (distance.h), the squared distances at one shift are differences
 * of a running sum.  Threads for each series and a group of shifts walk over the steps and store
 * their sums; then threads for each candidate and series take the least of the differences.  The
 * sums are the same additions in the same order, so the distances have the same bits, and the pool
 * is the same whatever device it was found on.  Every thread of the host has a stream of its own,
 * so that copies of one overlap with computation of another. */
#include "plugin.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- The transform ---- */

enum { CHUNK = 64 }; /* steps summed up before they join the rest: as on the processor */

/* A shapelet on the device. */
struct placed {
    size_t values; /* where its values are */
    size_t length, channel, low, places;
    float offset, scale;
};

struct transform_state {
    size_t count, channels, steps;
    bool length_normalised;
    float *values;
    struct placed *shapelets;
    size_t *order, *first; /* shapelets by channel */
};

DEVICE float square_at(const float *x, const float *shapelet, size_t length)
{
    float total = 0;

    for (size_t from = 0; from < length; from += CHUNK) {
        size_t to = length - from > CHUNK ? from + CHUNK : length;
        float sum = 0;

        for (size_t t = from; t < to; t++) {
            float difference = x[t] - shapelet[t];

            sum += difference * difference;
        }
        total += sum;
    }
    return total;
}

DEVICE bool is_equal(const float *x, const float *shapelet, size_t length)
{
    for (size_t t = 0; t < length; t++)
        if (x[t] != shapelet[t])
            return false;
    return true;
}

/* The first of the least again, for squares that do not fit into a float. */
DEVICE double wide_least(const float *x, const float *values, const struct placed *shapelet,
                         size_t *least)
{
    double best = INFINITY;

    for (size_t i = 0; i < shapelet->places; i++) {
        double sum = 0;

        for (size_t t = 0; t < shapelet->length; t++) {
            double difference = (double)x[i + t] - (double)values[t];

            sum += difference * difference;
        }
        if (sum < best) {
            best = sum;
            *least = i;
        }
    }
    return best;
}

/* Grid: (shapelets, 1, series). */
KERNEL transform_kernel(struct transform_state state, size_t count, const float *x, float *features,
                        uint32_t *places)
{
    SHARED float least[LINE];
    SHARED size_t least_at[LINE];

    for (size_t n = blockIdx.z; n < count; n += gridDim.z)
        for (size_t k = blockIdx.x; k < state.count; k += gridDim.x) {
            const struct placed *shapelet = &state.shapelets[k];
            const float *series = x + (n * state.channels + shapelet->channel) * state.steps;

            PHASE
            {
                float best = 0;
                size_t best_at = shapelet->places; /* none */

                for (size_t i = threadIdx.x; i < shapelet->places; i += LINE) {
                    float square = square_at(series + shapelet->low + i,
                                             state.values + shapelet->values, shapelet->length);

                    if (best_at == shapelet->places || square < best) {
                        best = square;
                        best_at = i;
                    }
                }
                least[threadIdx.x] = best;
                least_at[threadIdx.x] = best_at;
            }
            PHASE
            {
                const float *values = state.values + shapelet->values;
                float best = least[0];
                size_t best_at = least_at[0];

                if (threadIdx.x > 0)
                    continue;
                for (int i = 1; i < LINE; i++)
                    if (least_at[i] < shapelet->places &&
                        (least[i] < best || (least[i] == best && least_at[i] < best_at))) {
                        best = least[i];
                        best_at = least_at[i];
                    }
                double square = best;
                if (square > FLT_MAX ||
                    (square < FLT_MIN &&
                     !is_equal(series + shapelet->low + best_at, values, shapelet->length)))
                    square = wide_least(series + shapelet->low, values, shapelet, &best_at);
                if (state.length_normalised)
                    square /= (double)shapelet->length;
                features[n * state.count + k] =
                    ((float)fmin(sqrt(square), (double)FLT_MAX) - shapelet->offset) *
                    shapelet->scale;
                if (places)
                    places[n * state.count + k] = (uint32_t)(shapelet->low + best_at);
            }
        }
}

KERNEL transform_backward_kernel(struct transform_state state, size_t count, const float *x,
                                 const float *features, const uint32_t *places,
                                 const float *upstream, float *dx)
{
    THREADS
    {
        for (EACH_PLANE(n, count))
            for (EACH_ROW(c, state.channels))
                for (EACH(t, state.steps)) {
                    size_t at = (n * state.channels + c) * state.steps + t;
                    float sum = dx[at];

                    for (size_t i = state.first[c]; i < state.first[c + 1]; i++) {
                        size_t k = state.order[i], feature = n * state.count + k;
                        const struct placed *shapelet = &state.shapelets[k];
                        size_t place = places[feature];
                        float distance = features[feature] / shapelet->scale + shapelet->offset;
                        float slope;

                        if (distance <= 0 || t < place || t >= place + shapelet->length)
                            continue;
                        slope = upstream[feature] * shapelet->scale / distance;
                        if (state.length_normalised)
                            slope /= (float)shapelet->length;
                        sum += slope * (x[at] - state.values[shapelet->values + t - place]);
                    }
                    dx[at] = sum;
                }
    }
}

static void transform_close(void *opaque)
{
    struct transform_state *state = (struct transform_state *)opaque;

    if (!state)
        return;
    CUDA(cudaFree(state->values));
    CUDA(cudaFree(state->shapelets));
    CUDA(cudaFree(state->order));
    CUDA(cudaFree(state->first));
    free(state);
}

/* Fills the arrays of the host and copies them. */
static bool copy_shapelets(const struct transform *transform, struct transform_state *state)
{
    size_t count = transform->count, values = 0, filled = 0;
    struct placed *placed = (struct placed *)calloc(count + 1, sizeof *placed);
    float *all;

    for (size_t k = 0; k < count; k++)
        values += transform->shapelets[k].length;
    all = (float *)calloc(values + 1, sizeof *all);
    if (placed && all) {
        for (size_t k = 0; k < count; k++) {
            const struct transform_shapelet *from = &transform->shapelets[k];

            placed[k].values = filled;
            placed[k].length = from->length;
            placed[k].channel = from->channel;
            placed[k].low = from->low;
            placed[k].places = from->places;
            placed[k].offset = from->offset;
            placed[k].scale = from->scale;
            memcpy(all + filled, from->values, from->length * sizeof *all);
            filled += from->length;
        }
        state->values = (float *)cuda_copy(all, (values + 1) * sizeof *all);
        state->shapelets = (struct placed *)cuda_copy(placed, (count + 1) * sizeof *placed);
        state->order = (size_t *)cuda_copy(transform->order, count * sizeof *transform->order);
        state->first = (size_t *)cuda_copy(transform->first,
                                           (transform->channels + 1) * sizeof *transform->first);
    }
    free(placed);
    free(all);
    return state->values && state->shapelets && state->order && state->first;
}

static void *transform_open(const struct transform *transform)
{
    struct transform_state *state = (struct transform_state *)calloc(1, sizeof *state);

    if (!state)
        return NULL;
    state->count = transform->count;
    state->channels = transform->channels;
    state->steps = transform->steps;
    state->length_normalised = transform->length_normalised;
    if (copy_shapelets(transform, state))
        return state;
    transform_close(state);
    return NULL;
}

static void transform_forward_on_device(void *opaque, const float *x, size_t count, float *features,
                                        uint32_t *places)
{
    const struct transform_state *state = (const struct transform_state *)opaque;
    dim3 grid(blocks_of(state->count, 1, MOST_LINES), 1, blocks_of(count, 1, MOST_GRID));

    if (state->count)
        LAUNCH(transform_kernel, grid, LINE, *state, count, x, features, places);
}

static void transform_backward_on_device(void *opaque, const float *x, size_t count,
                                         const float *features, const uint32_t *places,
                                         const float *upstream, float *dx)
{
    const struct transform_state *state = (const struct transform_state *)opaque;

    LAUNCH(transform_backward_kernel, across(state->steps, state->channels, count),
           dim3(WIDE, HIGH), *state, count, x, features, places, upstream, dx);
}

const struct transform_device *cuda_transform(void)
{
    static const struct transform_device functions = {
        transform_open, transform_close, transform_forward_on_device, transform_backward_on_device};

    return &functions;
}

/* ---- Distances ---- */

enum { SUM_BYTES = 64 << 20 }; /* of running sums that a thread keeps at a time */

struct device_series {
    size_t steps;
    float *values; /* as in struct series_blocks */
};

struct distance_worker {
    cudaStream_t stream;
    size_t steps, most_candidates, most_series;
    size_t shifts; /* at a time */
    float *source;
    uint32_t *start, *length;
    double *sums;  /* (shifts, steps + 1, series) */
    double *least; /* (candidates, series) */
    float *table;  /* (candidates, series) */
    float *host;   /* the same, page-locked */
};

/* What the kernels work on: the series of some blocks, and some neighbouring shifts. */
struct distance_call {
    size_t steps, series, candidates;
    size_t from, to; /* steps between which the candidates lie */
    size_t grain;    /* steps between two running sums */
    ptrdiff_t shift; /* the first */
    size_t shifts;
    const float *source, *blocks; /* blocks: of the first series */
    const uint32_t *start, *length;
    double *sums, *least;
    float *table;
};

/* Whether step t of the source has a counterpart. */
DEVICE bool is_inside(const struct distance_call *call, size_t t, ptrdiff_t shift)
{
    ptrdiff_t place = (ptrdiff_t)t + shift;

    return place >= 0 && place < (ptrdiff_t)call->steps;
}

/* Step 0 of series i; its other steps are DISTANCE_LANES apart. */
DEVICE const float *series_of(const struct distance_call *call, size_t i)
{
    return call->blocks + i / DISTANCE_LANES * call->steps * DISTANCE_LANES + i % DISTANCE_LANES;
}

DEVICE double direct_least(const struct distance_call *call, size_t c, size_t i, size_t half)
{
    size_t start = call->start[c], length = call->length[c], last = call->steps - length;
    const float *source = call->source + start, *series = series_of(call, i);
    double best = INFINITY;

    for (size_t j = start > half ? start - half : 0; j <= last && j <= start + half; j++) {
        double sum = 0;

        for (size_t t = 0; t < length; t++) {
            float difference = source[t] - series[(j + t) * DISTANCE_LANES];
            double wide = difference;

            sum += wide * wide;
        }
        best = fmin(best, sum);
    }
    return best;
}

/* The squares of the steps of a grain as a float, or of one step, which is exact as a double. */
DEVICE double grain_squares(const float *source, const float *series, size_t grain)
{
    float sum = 0, difference = source[0] - series[0];
    double wide = difference;

    if (grain == 1)
        return wide * wide;
    for (size_t i = 0; i < grain; i++) {
        difference = source[i] - series[i * DISTANCE_LANES];
        sum = __fadd_rn(sum, __fmul_rn(difference, difference));
    }
    return sum;
}

/* sums[k][t][i]: squares of the steps before t, for shift k and series i, every grain. */
KERNEL running_sums_kernel(struct distance_call call)
{
    THREADS
    {
        for (EACH_ROW(k, call.shifts))
            for (EACH(i, call.series)) {
                const float *series = series_of(&call, i);
                double *to = call.sums + k * (call.steps + 1) * call.series + i, sum = 0;
                ptrdiff_t shift = call.shift + (ptrdiff_t)k;

                size_t t = call.from - call.from % call.grain;

                for (; t + call.grain <= call.to; t += call.grain) {
                    to[t * call.series] = sum;
                    if (is_inside(&call, t, shift) && is_inside(&call, t + call.grain - 1, shift))
                        sum += grain_squares(call.source + t,
                                             series + ((ptrdiff_t)t + shift) * DISTANCE_LANES,
                                             call.grain);
                }
                to[t * call.series] = sum;
            }
    }
}

/* Lowers least[c][i] to the least over the shifts at which the candidate is inside. */
KERNEL settle_kernel(struct distance_call call)
{
    THREADS
    {
        for (EACH_ROW(c, call.candidates))
            for (EACH(i, call.series)) {
                size_t start = call.start[c], end = start + call.length[c];
                double best = call.least[c * call.series + i];

                for (size_t k = 0; k < call.shifts; k++) {
                    const double *sums = call.sums + k * (call.steps + 1) * call.series + i;
                    ptrdiff_t shift = call.shift + (ptrdiff_t)k;

                    if (is_inside(&call, start, shift) && is_inside(&call, end - 1, shift))
                        best = fmin(best, sums[end * call.series] - sums[start * call.series]);
                }
                call.least[c * call.series + i] = best;
            }
    }
}

/* What is in doubt is summed again, each place on its own (direct_least in distance.c). */
KERNEL direct_kernel(struct distance_call call, size_t half, double doubt)
{
    THREADS
    {
        for (EACH_ROW(c, call.candidates))
            for (EACH(i, call.series)) {
                double *least = &call.least[c * call.series + i];

                if (*least < doubt)
                    *least = direct_least(&call, c, i, half);
            }
    }
}

KERNEL start_distances_kernel(size_t count, double *least)
{
    THREADS
    {
        for (EACH(i, count))
            least[i] = INFINITY;
    }
}

/* Whether the squares of a candidate and block all fit into a float. */
DEVICE bool are_floats(const double *squares)
{
    for (int lane = 0; lane < DISTANCE_LANES; lane++)
        if (squares[lane] != 0 && !(squares[lane] >= FLT_MIN && squares[lane] <= FLT_MAX))
            return false;
    return true;
}

/* Rounded as by kernel_finish in distance_kernel.h. */
KERNEL roots_kernel(size_t count, const double *least, float *table)
{
    THREADS
    {
        for (EACH(i, count))
            table[i] = are_floats(least + i / DISTANCE_LANES * DISTANCE_LANES)
                           ? sqrtf((float)least[i])
                           : (float)fmin(sqrt(least[i]), (double)FLT_MAX);
    }
}

static void series_close(void *opaque)
{
    struct device_series *series = (struct device_series *)opaque;

    CUDA(cudaFree(series->values));
    free(series);
}

static void *series_open(const struct series_blocks *blocks)
{
    struct device_series *series = (struct device_series *)calloc(1, sizeof *series);
    size_t values = blocks->blocks * DISTANCE_LANES * blocks->length;

    if (!series)
        return NULL;
    series->steps = blocks->length;
    series->values = (float *)cuda_copy(blocks->values, values * sizeof(float));
    if (series->values)
        return series;
    series_close(series);
    return NULL;
}

static void worker_close(void *opaque)
{
    struct distance_worker *worker = (struct distance_worker *)opaque;

    CUDA(cudaFree(worker->source));
    CUDA(cudaFree(worker->start));
    CUDA(cudaFree(worker->length));
    CUDA(cudaFree(worker->sums));
    CUDA(cudaFree(worker->least));
    CUDA(cudaFree(worker->table));
    if (worker->host)
        CUDA(cudaFreeHost(worker->host));
    if (worker->stream)
        CUDA(cudaStreamDestroy(worker->stream));
    free(worker);
}

static void *worker_open(const struct candidates *most, size_t most_blocks)
{
    struct distance_worker *worker = (struct distance_worker *)calloc(1, sizeof *worker);
    size_t series = most_blocks * DISTANCE_LANES, cells = most->count * series;
    size_t of_shift = (most->steps + 1) * series * sizeof(double);
    void *host = NULL;

    if (!worker)
        return NULL;
    worker->steps = most->steps;
    worker->most_candidates = most->count;
    worker->most_series = series;
    worker->shifts = SUM_BYTES / of_shift ? SUM_BYTES / of_shift : 1;
    if (worker->shifts > 2 * most->steps) /* more than there ever are */
        worker->shifts = 2 * most->steps;
    worker->source = (float *)cuda_memory(most->steps * sizeof(float));
    worker->start = (uint32_t *)cuda_memory(most->count * sizeof(uint32_t));
    worker->length = (uint32_t *)cuda_memory(most->count * sizeof(uint32_t));
    worker->sums = (double *)cuda_memory(worker->shifts * of_shift);
    worker->least = (double *)cuda_memory(cells * sizeof(double));
    worker->table = (float *)cuda_memory(cells * sizeof(float));
    if (worker->source && worker->start && worker->length && worker->sums && worker->least &&
        worker->table && CUDA(cudaMallocHost(&host, cells * sizeof(float))) &&
        CUDA(cudaStreamCreateWithFlags(&worker->stream, cudaStreamNonBlocking))) {
        worker->host = (float *)host;
        return worker;
    }
    worker->host = (float *)host;
    worker_close(worker);
    return NULL;
}

/* All shifts of the window at which a candidate can be inside, some at a time. */
static void measure_shifts(const struct distance_worker *worker, struct distance_call *call,
                           size_t window, size_t shortest, double doubt)
{
    size_t farthest = call->steps - shortest, half = window < farthest ? window : farthest;
    size_t all = 2 * half + 1, cells = call->candidates * call->series;

    LAUNCH_ON(worker->stream, start_distances_kernel, along(cells), LINE, cells, call->least);
    for (size_t first = 0; first < all; first += worker->shifts) {
        call->shift = (ptrdiff_t)first - (ptrdiff_t)half;
        call->shifts = all - first < worker->shifts ? all - first : worker->shifts;
        LAUNCH_ON(worker->stream, running_sums_kernel,
                  dim3(blocks_of(call->series, WIDE, MOST_LINES),
                       blocks_of(call->shifts, HIGH, MOST_GRID)),
                  dim3(WIDE, HIGH), *call);
        LAUNCH_ON(worker->stream, settle_kernel, across(call->series, call->candidates, 1),
                  dim3(WIDE, HIGH), *call);
    }
    if (doubt > 0)
        LAUNCH_ON(worker->stream, direct_kernel, across(call->series, call->candidates, 1),
                  dim3(WIDE, HIGH), *call, half, doubt);
    LAUNCH_ON(worker->stream, roots_kernel, along(cells), LINE, cells, (const double *)call->least,
              call->table);
}

static void measure(void *opaque, const void *opaque_series, const float *source,
                    const struct candidates *candidates, size_t window, double doubt, size_t first,
                    size_t end, float *table, size_t stride)
{
    struct distance_worker *worker = (struct distance_worker *)opaque;
    const struct device_series *series = (const struct device_series *)opaque_series;
    size_t lanes = (end - first) * DISTANCE_LANES, count = candidates->count;
    struct distance_call call = {worker->steps,
                                 lanes,
                                 count,
                                 candidates->from,
                                 candidates->to,
                                 distance_grain(candidates, doubt),
                                 0,
                                 0,
                                 worker->source,
                                 NULL,
                                 worker->start,
                                 worker->length,
                                 worker->sums,
                                 worker->least,
                                 worker->table};
    size_t bytes = count * sizeof(uint32_t), cells = count * lanes;

    if (count == 0)
        return;
    if (count > worker->most_candidates || lanes > worker->most_series) {
        cuda_fault("discovery", "more candidates or series than there is room for");
        return;
    }
    call.blocks = series->values + first * DISTANCE_LANES * worker->steps;
    CUDA(cudaMemcpyAsync(worker->source, source, worker->steps * sizeof *source,
                         cudaMemcpyHostToDevice, worker->stream));
    CUDA(cudaMemcpyAsync(worker->start, candidates->start, bytes, cudaMemcpyHostToDevice,
                         worker->stream));
    CUDA(cudaMemcpyAsync(worker->length, candidates->length, bytes, cudaMemcpyHostToDevice,
                         worker->stream));
    measure_shifts(worker, &call, window, candidates->shortest, doubt);
    CUDA(cudaMemcpyAsync(worker->host, worker->table, cells * sizeof(float), cudaMemcpyDeviceToHost,
                         worker->stream));
    CUDA(cudaStreamSynchronize(worker->stream));
    for (size_t c = 0; c < count; c++)
        memcpy(table + candidates->row[c] * stride, worker->host + c * lanes,
               lanes * sizeof *table);
}

const struct distance_device *cuda_distance(void)
{
    static const struct distance_device functions = {series_open,  series_close, worker_open,
                                                     worker_close, measure,      cuda_fault_text};

    return &functions;
}
