#include "eval/labeller.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "views/view.h"

enum {
    PART = 4096, /* views that are made at a time */
    BATCH = 256, /* series that a program is asked about at a time */
};

struct error *labeller_read(const char *const *names, size_t count,
                            const struct feature_source *source, const struct dataset *dataset,
                            struct labeller *labeller)
{
    *labeller = (struct labeller){.names = names,
                                  .teachers = calloc(count + 1, sizeof *labeller->teachers),
                                  .source = *source,
                                  .cluster = source->cluster};
    labeller->source.cluster = NULL;
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

struct error *labeller_start_program(struct labeller *labeller, const char *command,
                                     double patience, const struct dataset *dataset)
{
    struct guide *program = calloc(1, sizeof *program);
    struct error *error;

    if (!program)
        return error_memory("the teacher command");
    program->channels = dataset->channels;
    program->length = dataset->length;
    program->classes = dataset->classes;
    program->features = labeller->source.pool ? labeller->source.pool->count : 0;
    error = guide_from_command(command, patience, program);
    if (error) {
        free(program);
        return error;
    }
    labeller->program = program;
    return NULL;
}

void labeller_free(struct labeller *labeller)
{
    if (labeller->program)
        guide_close(labeller->program);
    free(labeller->program);
    for (size_t i = 0; i < labeller->count; i++)
        teacher_free(&labeller->teachers[i]);
    free(labeller->teachers);
    *labeller = (struct labeller){0};
}

/* Logits of a program, batch by batch. */
static struct error *ask_program(struct guide *program, const struct examples *examples,
                                 float *logits)
{
    size_t size = program->channels * program->length, total = examples->dataset.count;

    for (size_t first = 0; first < total; first += BATCH) {
        size_t count = total - first < BATCH ? total - first : BATCH;
        const float *features =
            program->features ? examples->features + first * program->features : NULL;
        struct error *error =
            program->forward(program->state, 0, count, examples->dataset.x + first * size, features,
                             false, logits + first * program->classes);

        if (error) {
            guide_close(program); /* must not outlive us */
            return error;
        }
    }
    return NULL;
}

/* Logits of teacher i: a network, or after the last of these the program. */
static struct error *ask_teacher(const struct labeller *labeller, size_t i,
                                 const struct examples *examples, float *logits)
{
    if (i == labeller->count)
        return ask_program(labeller->program, examples, logits);
    TRY(examples_match_teacher(examples, labeller->names[i], &labeller->teachers[i]));
    return examples_predict(examples, &labeller->teachers[i], logits, NULL);
}

struct error *labeller_ask(const struct labeller *labeller, const struct examples *examples,
                           float *logits)
{
    size_t count = examples->dataset.count * examples->dataset.classes;
    size_t teachers = labeller->count + (labeller->program != NULL);
    float *one = calloc(count + 1, sizeof *one);
    struct error *error = one ? NULL : error_memory("logits");

    memset(logits, 0, count * sizeof *logits);
    for (size_t i = 0; !error && i < teachers; i++) {
        error = ask_teacher(labeller, i, examples, one);
        for (size_t j = 0; !error && j < count; j++)
            logits[j] += one[j] / (float)teachers;
    }
    free(one);
    return error;
}

/* Logits (N, V) of the series of a dataset, which is taken over and freed. */
static struct error *run(const struct labeller *labeller, const char *name, struct dataset *series,
                         float *logits)
{
    struct examples examples;
    struct error *error;

    TRY(examples_make(name, series, &labeller->source, &examples));
    error = labeller_ask(labeller, &examples, logits);
    examples_free(&examples);
    return error;
}

/* The class of each series at least that much above all others. */
static void raise_classes(const struct dataset *dataset, double margin, float *logits)
{
    for (size_t i = 0; i < dataset->count; i++) {
        float *row = logits + i * dataset->classes, most = -INFINITY;
        size_t class = (size_t)dataset->y[i];

        for (size_t v = 0; v < dataset->classes; v++)
            if (v != class)
                most = fmaxf(most, row[v]);
        row[class] = fmaxf(row[class], most + (float)margin);
    }
}

struct error *labeller_label(const struct labeller *labeller, const char *name, double margin,
                             struct dataset *dataset)
{
    size_t size = dataset_series_size(dataset);
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
    error = run(labeller, name, &copy, logits);
    if (!error && margin > 0)
        raise_classes(dataset, margin, logits);
    if (!error)
        error = dataset_set_soft(dataset, logits);
    free(logits);
    return error;
}

struct error *labeller_views(const struct labeller *labeller, const char *name,
                             const struct dataset *dataset, const struct view_recipe *recipe,
                             size_t views, void (*progress)(size_t done), float *logits)
{
    size_t begin, end;

    /* Cut into the batches of one process. */
    cluster_part(labeller->cluster, views, BATCH, &begin, &end);
    for (size_t first = begin; first < end; first += PART) {
        size_t count = end - first < PART ? end - first : PART;
        struct dataset part;
        struct error *error;

        TRY(dataset_new(count, dataset->channels, dataset->length, dataset->classes, false, &part));
        error = view_make(dataset, recipe, first, count, part.x);
        if (error) {
            dataset_free(&part);
            return error;
        }
        TRY(run(labeller, name, &part, logits + first * dataset->classes));
        if (progress)
            progress((first + count - begin) * cluster_size(labeller->cluster));
    }
    return cluster_share(labeller->cluster, logits, views, dataset->classes * sizeof *logits,
                         BATCH);
}
