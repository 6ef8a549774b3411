/* Series i has a random stream of its own: w[t] = w[t - 1] + normal, then
 * x[t] = mean + deviation * (w[t] - mean(w)) / deviation(w). */
#include "data/walks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/summary.h"

static void walk(struct random_stream *stream, const struct summary *channel, double *sums,
                 float *out, size_t length)
{
    struct summary own = {0};
    double position = 0, scale;

    for (size_t t = 0; t < length; t++)
        sums[t] = position += random_normal(stream);
    summary_add_doubles(&own, sums, length);
    scale = summary_deviation(&own) > 0 ? summary_deviation(channel) / summary_deviation(&own) : 0;
    for (size_t t = 0; t < length; t++)
        out[t] = (float)(channel->mean + scale * (sums[t] - own.mean));
}

static void fill(const struct summary *channels, size_t per_class, uint64_t seed, double *sums,
                 struct dataset *walks)
{
    for (size_t i = 0; i < walks->count; i++) {
        struct random_stream stream = random_stream(seed, RANDOM_GENERATE, i);

        walks->y[i] = (int32_t)(i / per_class);
        for (size_t c = 0; c < walks->channels; c++)
            walk(&stream, &channels[c], sums, dataset_series(walks, i, c), walks->length);
    }
}

struct error *walks_make(const struct dataset *like, size_t per_class, uint64_t seed,
                         struct dataset *walks)
{
    struct summary *channels = calloc(like->channels, sizeof *channels);
    double *sums = calloc(like->length, sizeof *sums);
    struct error *error = channels && sums ? NULL : error_memory("random walks");
    size_t count;

    memset(walks, 0, sizeof *walks);
    if (!error && __builtin_mul_overflow(per_class, like->classes, &count))
        error = error_make("too many series");
    for (size_t i = 0; !error && i < like->count; i++)
        for (size_t c = 0; c < like->channels; c++)
            summary_add(&channels[c], dataset_series(like, i, c), like->length);
    if (!error)
        error = dataset_new(count, like->channels, like->length, like->classes, false, walks);
    if (!error) {
        struct dataset named = {.classes = like->classes, .names = like->names};

        error = dataset_copy_texts(&named, walks);
    }
    if (!error)
        fill(channels, per_class, seed, sums, walks);
    if (error)
        dataset_free(walks);
    free(channels);
    free(sums);
    return error;
}
