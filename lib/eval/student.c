/* One task for each student.  Inside of a task the engine runs on one thread; a single student has
 * all threads to itself, and so has each on a device that is parallel inside. */
#include "eval/student.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

enum { TEST_BATCH = 256, MANY_CLASSES = 16, CLASSES_AT_4 = 20, FEW_SERIES = 20 };

/* ---- How students are trained ---- */

struct loss student_loss(bool soft, double temperature)
{
    if (!soft)
        return (struct loss){LOSS_LABELS, 1.0f, 1.0f};
    return (struct loss){LOSS_KL, (float)temperature, (float)(temperature * temperature)};
}

double student_temperature(bool views, size_t classes)
{
    return views && classes > CLASSES_AT_4 ? 1 : 4;
}

double student_rate(bool sgd, bool soft, bool views, size_t classes, size_t count)
{
    double rate = sgd ? 0.01 : 0.001;

    if (views && soft && !sgd)
        return 0.005;
    if (soft && sgd && count < FEW_SERIES)
        rate = 0.003;
    return soft && classes > MANY_CLASSES ? 3 * rate : rate;
}

const char *student_network(size_t length)
{
    if (length >= 8)
        return "cnn";
    if (length >= 4)
        return "cnn depth=2";
    return length >= 2 ? "cnn depth=1" : "cnn depth=1 pool=none";
}

/* ---- Students ---- */

struct students {
    const struct student_options *options;
    const struct network *network;
    const struct tensor_dataset *training, *validation, *test;
    size_t first; /* student that is the first task */
    struct score *scores;
    struct error **errors;
    _Atomic size_t epochs; /* finished, of all students */
};

static bool count_epoch(void *context, const struct train_epoch *epoch)
{
    struct students *students = context;
    const struct student_options *options = students->options;
    size_t done = atomic_fetch_add(&students->epochs, 1) + 1;

    if (options->progress)
        options->progress(options->context, done, epoch->epochs * options->seeds);
    return true;
}

static struct error *score_student(const struct students *students, const float *parameters,
                                   float *buffers, struct score *score)
{
    const struct tensor_dataset *test = students->test;
    size_t classes = students->network->architecture.classes;
    float *logits = calloc(test->count ? test->count : 1, classes * sizeof *logits);
    struct pass *pass;
    struct error *error;

    if (!logits)
        return error_memory("predictions");
    error = pass_new(students->network, TEST_BATCH, 0, &pass);
    if (!error) {
        error = network_predict(pass, parameters, buffers, test, logits, NULL);
        pass_free(pass);
    }
    if (!error)
        error = score_make(logits, test->labels, test->count, classes, score);
    free(logits);
    return error;
}

static struct error *train_student(struct students *students, size_t student)
{
    const struct network *network = students->network;
    struct train_options train = students->options->train;
    float *parameters = network->backend->allocate(
        (network->parameter_count + network->buffer_count) * sizeof *parameters);
    float *buffers;
    struct train_result result;
    struct error *error;

    if (!parameters)
        return error_memory("a student");
    buffers = parameters + network->parameter_count;
    train.seed += student;
    train.progress = count_epoch;
    train.context = students;
    network_initialise(network, train.seed, train.index, parameters, buffers);
    error = train_network(network, &train, students->training, students->validation, parameters,
                          buffers, &result);
    if (!error)
        error = score_student(students, parameters, buffers, &students->scores[student]);
    if (!error)
        students->scores[student].training = result;
    network->backend->release(parameters);
    return error;
}

static void train_task(void *context, size_t task, unsigned worker)
{
    struct students *students = context;

    (void)worker;
    students->errors[task] = train_student(students, students->first + task);
}

/* The first error, by student; the others are dropped. */
static struct error *collect_errors(const struct students *students, size_t count)
{
    struct error *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!first)
            first = students->errors[i];
        else
            error_free(students->errors[i]);
    }
    return first;
}

/* Every rank has the scores of its students, and then of all: each as its struct and the confusion
 * matrix after it. */
static struct error *share_scores(struct cluster *cluster, struct score *scores, size_t count,
                                  size_t classes)
{
    size_t matrix = classes * classes * sizeof *scores->confusion;
    size_t size = sizeof *scores + matrix, first, end;
    char *packed = cluster ? calloc(count, size) : NULL;
    struct error *error;

    if (!cluster)
        return NULL;
    if (!packed)
        return error_memory("scores");
    cluster_part(cluster, count, 1, &first, &end);
    for (size_t i = first; i < end; i++) {
        memcpy(packed + i * size, &scores[i], sizeof *scores);
        memcpy(packed + i * size + sizeof *scores, scores[i].confusion, matrix);
    }
    error = cluster_share(cluster, packed, count, size, 1);
    for (size_t i = 0; !error && i < count; i++) {
        size_t *confusion = scores[i].confusion ? scores[i].confusion : malloc(matrix);

        memcpy(&scores[i], packed + i * size, sizeof *scores);
        scores[i].confusion = confusion;
        if (confusion)
            memcpy(confusion, packed + i * size + sizeof *scores, matrix);
        else
            error = error_memory("scores");
    }
    free(packed);
    return error;
}

struct error *students_train(const struct student_options *options,
                             const struct tensor_dataset *training,
                             const struct tensor_dataset *validation,
                             const struct tensor_dataset *test, struct score *scores)
{
    struct students students = {.options = options,
                                .training = training,
                                .validation = validation,
                                .test = test,
                                .scores = scores};
    const struct backend *backend = options->backend ? options->backend : backend_cpu();
    struct network *network;
    struct error *error;
    size_t count;

    cluster_part(options->cluster, options->seeds, 1, &students.first, &count);
    count -= students.first;
    memset(scores, 0, options->seeds * sizeof *scores);
    TRY(network_new(&options->architecture, backend, &network));
    students.network = network;
    students.errors = calloc(options->seeds, sizeof(struct error *));
    if (!students.errors) {
        network_free(network);
        return error_memory("students");
    }
    if (count == 1 || backend->whole_batch)
        for (size_t i = 0; i < count; i++)
            train_task(&students, i, 0);
    else
        parallel_for(count, train_task, &students);
    error = collect_errors(&students, count);
    if (!error)
        error =
            share_scores(options->cluster, scores, options->seeds, network->architecture.classes);
    for (size_t i = 0; error && i < options->seeds; i++)
        score_free(&scores[i]);
    free(students.errors);
    network_free(network);
    return error;
}
