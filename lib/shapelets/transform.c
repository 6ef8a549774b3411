/* One task for each series: its channels are copied one after the other into padded memory, where
 * the kernel may read past the end, and all shapelets of the channel are tried on the copy. */
#include "shapelets/transform.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/parallel.h"
#include "shapelets/transform_internal.h"

/* Where a shapelet is tried in series of `steps` steps. */
static struct error *set_places(const struct shapelet *shapelet, size_t steps, size_t window,
                                struct transform_shapelet *prepared)
{
    size_t start = shapelet->start, low = 0, high;

    if (shapelet->length > steps)
        return error_make("a shapelet of %u steps does not fit into series of %zu",
                          shapelet->length, steps);
    high = steps - shapelet->length;
    if (window == TRANSFORM_AS_FOUND)
        window = shapelet->window == SLP_WINDOW_FULL ? TRANSFORM_FULL : shapelet->window;
    if (window != TRANSFORM_FULL) {
        low = start > window ? start - window : 0;
        if (low > high)
            return error_make("a shapelet of %zu steps at %zu..%zu does not fit into series of %zu "
                              "steps (a full scan would)",
                              (size_t)shapelet->length, low, start + window, steps);
        if (start < high && window < high - start)
            high = start + window;
    }
    *prepared = (struct transform_shapelet){.values = shapelet->values,
                                            .length = shapelet->length,
                                            .channel = shapelet->channel,
                                            .low = low,
                                            .places = high - low + 1};
    return NULL;
}

static struct error *prepare(const struct shapelet_pool *pool, size_t window,
                             struct transform *transform)
{
    size_t filled = 0;

    if (pool->channels != transform->channels)
        return error_make("the pool is for series of %zu channels, not %zu", pool->channels,
                          transform->channels);
    for (size_t k = 0; k < pool->count; k++) {
        struct transform_shapelet *prepared = &transform->shapelets[k];

        TRY(set_places(&pool->shapelets[k], transform->steps, window, prepared));
        prepared->offset = pool->standardised ? pool->shapelets[k].offset : 0;
        prepared->scale = pool->standardised ? pool->shapelets[k].scale : 1;
    }
    for (size_t c = 0; c < transform->channels; c++) {
        transform->first[c] = filled;
        for (size_t k = 0; k < pool->count; k++)
            if (pool->shapelets[k].channel == c)
                transform->order[filled++] = k;
    }
    transform->first[transform->channels] = filled;
    return NULL;
}

struct error *transform_make(const struct shapelet_pool *pool, size_t channels, size_t steps,
                             size_t window, struct transform *transform)
{
    struct error *error = NULL;

    *transform = (struct transform){.count = pool->count,
                                    .channels = channels,
                                    .steps = steps,
                                    .length_normalised = pool->length_normalised,
                                    .workers = parallel_threads()};
    transform->scratch_size = 2 * (steps + TRANSFORM_PADDING);
    transform->shapelets = calloc(pool->count, sizeof *transform->shapelets);
    transform->order = calloc(pool->count, sizeof *transform->order);
    transform->first = calloc(channels + 1, sizeof *transform->first);
    transform->scratch = calloc(transform->workers, transform->scratch_size * sizeof(float));
    if ((pool->count && (!transform->shapelets || !transform->order)) || !transform->first ||
        !transform->scratch)
        error = error_memory("the shapelet transform");
    if (!error)
        error = prepare(pool, window, transform);
    if (error)
        transform_free(transform);
    return error;
}

struct error *transform_to_device(struct transform *transform,
                                  const struct transform_device *device)
{
    if (!device)
        return NULL;
    transform->device = device;
    transform->on_device = device->open(transform);
    return transform->on_device ? NULL : error_memory("the shapelets on the device");
}

void transform_free(struct transform *transform)
{
    if (transform->on_device)
        transform->device->close(transform->on_device);
    free(transform->shapelets);
    free(transform->order);
    free(transform->first);
    free(transform->scratch);
    *transform = (struct transform){0};
}

static transform_squares *kernel(void)
{
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX2)
        return transform_squares_avx2;
#endif
    return transform_squares_generic;
}

struct forward {
    const struct transform *transform;
    const float *x;
    float *features;
    uint32_t *places;
    transform_squares *squares;
};

static size_t first_least(const float *values, size_t count)
{
    size_t least = 0;

    for (size_t i = 1; i < count; i++)
        if (values[i] < values[least])
            least = i;
    return least;
}

double transform_least_square(const struct transform_shapelet *shapelet, const float *x,
                              size_t *place)
{
    double least = INFINITY;

    for (size_t j = 0; j < shapelet->places; j++) {
        const float *at = x + shapelet->low + j;
        double square = 0;

        for (size_t t = 0; t < shapelet->length && square < least; t++) {
            double difference = (double)at[t] - (double)shapelet->values[t];

            square += difference * difference;
        }
        if (square < least) {
            least = square;
            *place = j;
        }
    }
    return least;
}

static void forward_series(void *context, size_t i, unsigned worker)
{
    const struct forward *call = context;
    const struct transform *transform = call->transform;
    float *padded = transform->scratch + worker * transform->scratch_size;
    float *squares = padded + transform->steps + TRANSFORM_PADDING;

    for (size_t c = 0; c < transform->channels; c++) {
        if (transform->first[c] == transform->first[c + 1])
            continue;
        memcpy(padded, call->x + (i * transform->channels + c) * transform->steps,
               transform->steps * sizeof *padded);
        for (size_t p = transform->first[c]; p < transform->first[c + 1]; p++) {
            size_t k = transform->order[p], least;
            const struct transform_shapelet *shapelet = &transform->shapelets[k];
            double square;

            call->squares(padded + shapelet->low, shapelet->values, shapelet->length,
                          shapelet->places, squares);
            least = first_least(squares, shapelet->places);
            square = squares[least];
            if (square > FLT_MAX ||
                (square < FLT_MIN && memcmp(padded + shapelet->low + least, shapelet->values,
                                            shapelet->length * sizeof *padded) != 0))
                square = transform_least_square(shapelet, padded, &least);
            if (transform->length_normalised)
                square /= (double)shapelet->length;
            call->features[i * transform->count + k] =
                ((float)fmin(sqrt(square), FLT_MAX) - shapelet->offset) * shapelet->scale;
            if (call->places)
                call->places[i * transform->count + k] = (uint32_t)(shapelet->low + least);
        }
    }
}

void transform_forward(const struct transform *transform, const float *x, size_t count,
                       float *features, uint32_t *places)
{
    struct forward call = {transform, x, features, places, kernel()};

    if (transform->on_device) {
        transform->device->forward(transform->on_device, x, count, features, places);
        return;
    }
    parallel_for(count, forward_series, &call);
}

struct backward {
    const struct transform *transform;
    const float *x, *features, *upstream;
    const uint32_t *places;
    float *dx;
};

static void backward_series(void *context, size_t i, unsigned worker)
{
    const struct backward *call = context;
    const struct transform *transform = call->transform;

    (void)worker;
    for (size_t k = 0; k < transform->count; k++) {
        const struct transform_shapelet *shapelet = &transform->shapelets[k];
        size_t at = i * transform->count + k;
        size_t offset =
            (i * transform->channels + shapelet->channel) * transform->steps + call->places[at];
        const float *x = call->x + offset;
        float *dx = call->dx + offset;
        float distance = call->features[at] / shapelet->scale + shapelet->offset, slope;

        if (distance <= 0)
            continue;
        slope = call->upstream[at] * shapelet->scale / distance;
        if (transform->length_normalised)
            slope /= (float)shapelet->length;
        for (size_t t = 0; t < shapelet->length; t++)
            dx[t] += slope * (x[t] - shapelet->values[t]);
    }
}

void transform_backward(const struct transform *transform, const float *x, size_t count,
                        const float *features, const uint32_t *places, const float *upstream,
                        float *dx)
{
    struct backward call = {transform, x, features, upstream, places, dx};

    if (transform->on_device) {
        transform->device->backward(transform->on_device, x, count, features, places, upstream, dx);
        return;
    }
    parallel_for(count, backward_series, &call);
}
