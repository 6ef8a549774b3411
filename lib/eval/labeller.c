#include "eval/labeller.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "views/view.h"

enum { PART = 4096 }; /* views that are made at a time */

struct error *labeller_read(const char *const *names, size_t count,
                            const struct feature_source *source, const struct dataset *dataset,
                            struct labeller *labeller)
{
    *labeller = (struct labeller){.names = names,
                                  .teachers = calloc(count + 1, sizeof *labeller->teachers),
                                  .source = *source};
    if (!labeller->teachers)
        return error_memory("teachers");
    for (; labeller->count < count; labeller->count++) {
        struct teacher *teacher = &labeller->teachers[labeller->count];
        const char *name = names[labeller->count];
        size_t classes;

        TRY(teacher_read(name, source->device->backend, teacher));
        classes = teacher->network->architecture.classes;
        if (classes != dataset->classes)
            return error_make("%s: knows %zu classes, but the dataset has %zu", file_shown(name),
                              classes, dataset->classes);
    }
    return NULL;
}

void labeller_free(struct labeller *labeller)
{
    for (size_t i = 0; i < labeller->count; i++)
        teacher_free(&labeller->teachers[i]);
    free(labeller->teachers);
    *labeller = (struct labeller){0};
}

struct error *labeller_run(const struct labeller *labeller, const char *name,
                           struct dataset *series, float *logits)
{
    size_t count = series->count * series->classes;
    struct examples examples;
    struct error *error;
    float *one;

    TRY(examples_make(name, series, &labeller->source, &examples));
    one = calloc(count + 1, sizeof *one);
    error = one ? NULL : error_memory("logits");
    memset(logits, 0, count * sizeof *logits);
    for (size_t i = 0; !error && i < labeller->count; i++) {
        error = examples_match_teacher(&examples, labeller->names[i], &labeller->teachers[i]);
        if (!error)
            error = examples_predict(&examples, &labeller->teachers[i], one, NULL);
        for (size_t j = 0; !error && j < count; j++)
            logits[j] += one[j] / (float)labeller->count;
    }
    examples_free(&examples);
    free(one);
    return error;
}

struct error *labeller_label(const struct labeller *labeller, const char *name,
                             struct dataset *dataset)
{
    size_t size = dataset->channels * dataset->length;
    struct dataset copy;
    struct error *error;
    float *logits;

    TRY(dataset_new(dataset->count, dataset->channels, dataset->length, dataset->classes, false,
                    &copy));
    memcpy(copy.x, dataset->x, dataset->count * size * sizeof *copy.x);
    logits = calloc(dataset->count + 1, dataset->classes * sizeof *logits);
    if (!logits) {
        dataset_free(&copy);
        return error_memory("logits");
    }
    error = labeller_run(labeller, name, &copy, logits);
    if (!error)
        error = dataset_set_soft(dataset, logits);
    free(logits);
    return error;
}

struct error *labeller_views(const struct labeller *labeller, const char *name,
                             const struct dataset *dataset, const struct view_recipe *recipe,
                             size_t views, void (*progress)(size_t done), float *logits)
{
    for (size_t first = 0; first < views; first += PART) {
        size_t count = views - first < PART ? views - first : PART;
        struct dataset part;
        struct error *error;

        TRY(dataset_new(count, dataset->channels, dataset->length, dataset->classes, false, &part));
        error = view_make(dataset, recipe, first, count, part.x);
        if (error) {
            dataset_free(&part);
            return error;
        }
        TRY(labeller_run(labeller, name, &part, logits + first * dataset->classes));
        if (progress)
            progress(first + count);
    }
    return NULL;
}
