/* The chosen series make a small dataset of their own, from which the start is taken as from any
 * other, so that a class with too few series is treated in the same way. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "choose/ridge.h"
#include "choose/start.h"
#include "data/classes.h"

enum { CANDIDATES = 1000 };

static size_t most_of_class(const struct dataset *dataset, size_t per_class)
{
    size_t share = CANDIDATES / dataset->classes;

    return share > 2 * per_class ? share : 2 * per_class;
}

/* Whether one of the last `count` of the taken series is the same. */
static bool is_copy(const struct dataset *taken, size_t end, size_t count, const float *x)
{
    size_t series = dataset_series_size(taken);

    for (size_t i = end - count; i < end; i++)
        if (memcmp(taken->x + i * series, x, series * sizeof *x) == 0)
            return true;
    return false;
}

/* Up to `most` series of each class that are not copies of each other, drawn by the seed. */
static struct error *draw_candidates(const struct dataset *dataset, size_t most, uint64_t seed,
                                     struct dataset *taken)
{
    size_t series = dataset_series_size(dataset), filled = 0;
    struct class_lists lists;
    struct error *error = class_lists_make(dataset->y, dataset->count, dataset->classes, &lists);
    size_t room =
        dataset->count / dataset->classes >= most ? most * dataset->classes : dataset->count;

    if (!error)
        error =
            dataset_new(room, dataset->channels, dataset->length, dataset->classes, false, taken);
    for (size_t v = 0; !error && v < dataset->classes; v++) {
        struct random_stream stream = random_stream(seed, RANDOM_SYNTHESISE, v);
        size_t *order = class_members(&lists, v), count = class_size(&lists, v), kept = 0;

        random_shuffle(&stream, order, count);
        for (size_t i = 0; i < count && kept < most && filled < room; i++) {
            const float *x = dataset->x + order[i] * series;

            if (is_copy(taken, filled, kept, x))
                continue;
            memcpy(taken->x + filled * series, x, series * sizeof *x);
            taken->y[filled++] = (int32_t)v;
            kept++;
        }
    }
    class_lists_free(&lists);
    if (!error)
        taken->count = filled;
    return error;
}

static struct error *choose(const struct dataset *taken, const struct start_teacher *teacher,
                            size_t per_class, uint64_t seed, size_t *chosen)
{
    float *features = calloc(taken->count + 1, teacher->features * sizeof *features);
    float *logits = calloc(taken->count + 1, taken->classes * sizeof *logits);
    struct error *error = features && logits ? NULL : error_memory("the teacher's answers");
    struct ridge_candidates candidates = {.count = taken->count,
                                          .columns = teacher->features,
                                          .classes = taken->classes,
                                          .features = features,
                                          .logits = logits,
                                          .labels = taken->y};

    if (!error)
        error = teacher->answer(teacher->context, taken->count, taken->x, features, logits);
    if (!error)
        error = ridge_choose(&candidates, per_class, seed, chosen, NULL);
    free(features);
    free(logits);
    return error;
}

/* Moves the chosen series to the front and forgets the others.  Indices of a class are smaller than
 * those of the next, but in any order. */
static struct error *keep_chosen(struct dataset *taken, const size_t *chosen, size_t count)
{
    size_t series = dataset_series_size(taken), kept = 0;
    bool *wanted = calloc(taken->count + 1, sizeof *wanted);

    if (!wanted)
        return error_memory("the chosen series");
    for (size_t i = 0; i < count; i++)
        if (chosen[i] != SIZE_MAX)
            wanted[chosen[i]] = true;
    for (size_t i = 0; i < taken->count; i++)
        if (wanted[i]) {
            memmove(taken->x + kept * series, taken->x + i * series, series * sizeof *taken->x);
            taken->y[kept++] = taken->y[i];
        }
    taken->count = kept;
    free(wanted);
    return NULL;
}

struct error *start_ridge(const struct dataset *dataset, const struct start_teacher *teacher,
                          const struct start_options *options, float *x, size_t *repeated)
{
    struct start_options drawn = *options;
    size_t per_class = options->per_class;
    size_t *chosen = calloc(dataset->classes, per_class * sizeof *chosen);
    struct error *error = chosen ? NULL : error_memory("the chosen series");
    struct dataset taken = {0};

    if (!error)
        error = draw_candidates(dataset, most_of_class(dataset, per_class), options->seed, &taken);
    if (!error)
        error = choose(&taken, teacher, per_class, options->seed, chosen);
    if (!error)
        error = keep_chosen(&taken, chosen, dataset->classes * per_class);
    drawn.kind = START_REAL;
    if (!error)
        error = start_series(&taken, &drawn, x, repeated);
    dataset_free(&taken);
    free(chosen);
    return error;
}
