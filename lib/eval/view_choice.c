#include "eval/view_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "base/size.h"
#include "eval/student.h"

enum { BATCH = 64, MOST_EPOCHS = 100 };

/* The series and their views with the logits of the teachers, as an ordinary dataset. */
static struct error *expand_views(const struct labeller *labeller, const char *name,
                                  const struct dataset *dataset, const struct view_recipe *recipe,
                                  size_t views, struct dataset *training)
{
    size_t count = dataset->count, classes = dataset->classes;
    size_t size = dataset_series_size(dataset);
    struct error *error;

    TRY(dataset_new(count + views, dataset->channels, dataset->length, classes, true, training));
    memcpy(training->x, dataset->x, count * size * sizeof *training->x);
    memcpy(training->y, dataset->y, count * sizeof *training->y);
    memcpy(training->soft, dataset->soft, count * classes * sizeof *training->soft);
    error = view_make(dataset, recipe, 0, views, training->x + count * size);
    if (!error)
        error = labeller_views(labeller, name, dataset, recipe, views, NULL,
                               training->soft + count * classes);
    if (error)
        dataset_free(training);
    return error;
}

/* What the default network of a student ends with. */
static const char *const endings[VIEW_STUDENTS] = {"", " end=mean"};

double view_trial_score(const struct view_trial *trial)
{
    double sum = 0;

    for (size_t i = 0; i < VIEW_STUDENTS; i++)
        sum += trial->accuracy[i];
    return sum / VIEW_STUDENTS;
}

static struct error *try_student(const struct examples *training, const struct examples *validation,
                                 const char *ending, const struct view_choice_options *options,
                                 double *accuracy)
{
    struct tensor_dataset data = examples_tensors(training),
                          held_out = examples_tensors(validation);
    struct student_options student = {.seeds = 1};
    struct score score;
    char network[64];

    snprintf(network, sizeof network, "%s%s", student_network(training->dataset.length), ending);
    TRY(examples_architecture(training, network, &student.architecture));
    student.train = train_defaults();
    student.train.seed = options->seed;
    student.train.batch = train_even_batch(data.count, BATCH);
    student.train.epochs = train_epochs_for_steps(options->steps, data.count, student.train.batch);
    if (student.train.epochs > MOST_EPOCHS)
        student.train.epochs = MOST_EPOCHS;
    student.train.optimiser = optimiser_defaults(OPTIMISER_ADAMW);
    student.train.optimiser.rate =
        student_rate(false, true, true, training->dataset.classes, data.count);
    student.train.cosine = true;
    student.train.choose = TRAIN_CHOOSE_LAST;
    student.train.loss = student_loss(true, student_temperature(true, training->dataset.classes));
    held_out.targets = NULL;
    TRY(students_train(&student, &data, NULL, &held_out, &score));
    *accuracy = score.accuracy;
    score_free(&score);
    return NULL;
}

/* The students of a recipe, each on a thread of its own: batches of 64 are too small to share. */
struct trial_students {
    const struct examples *training, *validation;
    const struct view_choice_options *options;
    size_t first;
    double *accuracy;
    struct error *errors[VIEW_STUDENTS];
};

static void try_student_task(void *context, size_t task, unsigned worker)
{
    struct trial_students *students = context;
    size_t i = students->first + task;

    (void)worker;
    students->errors[task] = try_student(students->training, students->validation, endings[i],
                                         students->options, &students->accuracy[i]);
}

/* Students first to end - 1 of this recipe. */
static struct error *try_recipe(const struct labeller *labeller, const char *name,
                                const struct dataset *dataset, const struct examples *validation,
                                const struct view_choice_options *options, size_t first, size_t end,
                                struct view_trial *trial)
{
    struct feature_source none = {NULL};
    struct dataset expanded;
    struct examples training;
    struct trial_students students = {&training, validation,      options,
                                      first,     trial->accuracy, {NULL}};
    struct error *error = NULL;

    TRY(expand_views(labeller, name, dataset, &trial->recipe, options->views, &expanded));
    TRY(examples_make(name, &expanded, &none, &training));
    parallel_for(end - first, try_student_task, &students);
    for (size_t i = 0; i < end - first; i++) {
        if (!error)
            error = students.errors[i];
        else
            error_free(students.errors[i]);
    }
    examples_free(&training);
    return error;
}

struct error *view_choose(const struct labeller *labeller, const char *name,
                          const struct dataset *dataset, const struct examples *validation,
                          const struct view_choice_options *options, void (*progress)(size_t done),
                          struct view_trial *trials, size_t *best)
{
    struct labeller own = *labeller; /* each rank labels what its students need */
    double accuracy[VIEW_PRESETS][VIEW_STUDENTS] = {{0}};
    size_t first, end;

    own.cluster = NULL;
    cluster_part(labeller->cluster, VIEW_PRESETS * VIEW_STUDENTS, 1, &first, &end);
    for (size_t i = 0; i < VIEW_PRESETS; i++) {
        size_t before = i * VIEW_STUDENTS, from = size_max(first, before) - before;
        size_t to = size_max(size_min(end, before + VIEW_STUDENTS), before) - before;

        trials[i] = (struct view_trial){view_presets[i].name, view_presets[i].recipe, {0}};
        trials[i].recipe.seed = options->seed;
        if (from < to)
            TRY(try_recipe(&own, name, dataset, validation, options, from, to, &trials[i]));
        memcpy(accuracy[i], trials[i].accuracy, sizeof accuracy[i]);
        if (progress)
            progress(i + 1);
    }
    TRY(cluster_share(labeller->cluster, accuracy, VIEW_PRESETS * VIEW_STUDENTS, sizeof(double),
                      1));
    *best = 0;
    for (size_t i = 0; i < VIEW_PRESETS; i++) {
        memcpy(trials[i].accuracy, accuracy[i], sizeof accuracy[i]);
        if (view_trial_score(&trials[i]) > view_trial_score(&trials[*best]))
            *best = i;
    }
    return NULL;
}
