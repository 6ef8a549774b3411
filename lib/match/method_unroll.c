/* unroll: a few students are always at different points of their training on the condensed series.
 * Each step takes some of them through a window (unroll.h), in turn; one that has finished its
 * training is replaced by a new one. So windows cover the whole training, and no student is trained
 * for one window alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "eval/student.h"
#include "match/match.h"
#include "match/unroll.h"
#include "nn/backend.h"
#include "nn/pass.h"

/* Students that exist at a time, and windows of one step, which is the number of cores they can
 * use. */
enum { STUDENTS = 4, WINDOWS = 2 };

/* ---- Parameters ---- */

enum { STEPS, RATE, BATCH, STUDENT_STEPS, STUDENT_RATE, UNROLL_STEPS, LABEL_RATE };

static size_t series_count(const struct match_options *options, size_t classes)
{
    return options->from ? options->from->count : options->per_class * classes;
}

/* A student is trained on all series at once: the more there are, the noisier is the gradient that
 * a batch of real series gives each of them, so the steps get smaller (pipelines/DECISIONS.md). */
static double caution(const struct match_options *options, size_t classes)
{
    static const double bold = 100;
    double series = (double)series_count(options, classes);

    return series > bold ? bold / series : 1;
}

static double series_rate(const struct match_options *options, size_t classes)
{
    return caution(options, classes) * 0.02;
}

static double label_rate(const struct match_options *options, size_t classes)
{
    return 0.05 * caution(options, classes);
}

static double first_rate(const struct match_options *options, size_t classes)
{
    return student_rate(true, true, false, classes, series_count(options, classes));
}

/* clang-format off */
static const struct match_parameter parameters[] = {
    [STEPS]         = MATCH_STEPS(600),
    [RATE]          = MATCH_RATE(.recommend = series_rate,
                                 .recommended = "0.02, beyond 100 series 2 / their number"),
    [BATCH]         = MATCH_WHOLE('b', "batch", 1, 1e6, "real series that a student is scored by", 256),
    [STUDENT_STEPS] = MATCH_WHOLE(0, "student-steps", 1, 1e6, "steps of a student", 400),
    [STUDENT_RATE]  = MATCH_REAL(0, "student-rate", 1e-12, 1e6, "learning rate of the students",
                                 .recommend = first_rate, .recommended = "as sc-eval --optimiser=sgd",
                                 .too_large = true),
    [UNROLL_STEPS]  = MATCH_WHOLE(0, "unroll-steps", 1, 1e6,
                                  "steps of a student that are differentiated", 20),
    [LABEL_RATE]    = MATCH_REAL(0, "label-rate", 0, 1e6, "learning rate of soft labels; 0: keep them",
                                 .recommend = label_rate,
                                 .recommended = "0.05, beyond 100 series 5 / their number"),
    {0},
};
/* clang-format on */

/* ---- State ---- */

struct window {
    struct unroll *unroll;
    struct unroll_condensed gradient;
    float *real_x, *real_features; /* (batch, C, L), (batch, K) */
    int32_t *real_labels;
    double loss;
};

struct unrolling {
    const struct match_problem *problem;
    struct network *network;
    size_t features; /* K */
    size_t batch;
    float *kept; /* (STUDENTS, 2 parameters + 1): parameters, velocity, age */
    struct window windows[WINDOWS];
    float *condensed_features; /* (N, K) of the condensed series */
    uint32_t *places;          /* where they were found */
    float *shared;             /* (WINDOWS, shared_floats): what ranks exchange of a step */
    size_t first_window;       /* of this rank */
    /* This step. */
    size_t step;
    struct unroll_condensed condensed;
};

/* ---- Memory ---- */

static size_t student_floats(const struct unrolling *u)
{
    return 2 * u->network->parameter_count + 1;
}

/* Gradients of a window and its loss, as a double. */
static size_t shared_floats(const struct unrolling *u)
{
    const struct match_problem *problem = u->problem;

    return problem->count * (problem->series + problem->dataset->classes + u->features) +
           sizeof(double) / sizeof(float);
}

static struct error *make_window(struct unrolling *u, struct window *window)
{
    const struct match_problem *problem = u->problem;
    const struct match_options *o = problem->options;
    struct unroll_options unroll = {
        .series = problem->count,
        .batch = u->batch,
        .window = match_whole(o, UNROLL_STEPS),
        .training = match_whole(o, STUDENT_STEPS),
        .rate = o->values[STUDENT_RATE],
        .momentum = 0.9,
        .loss = {LOSS_KL, MATCH_TEMPERATURE, MATCH_TEMPERATURE * MATCH_TEMPERATURE}};

    window->gradient.x = calloc(problem->count, problem->series * sizeof(float));
    window->gradient.targets = calloc(problem->count, problem->dataset->classes * sizeof(float));
    window->real_x = calloc(u->batch, problem->series * sizeof(float));
    window->real_labels = calloc(u->batch, sizeof *window->real_labels);
    if (!window->gradient.x || !window->gradient.targets || !window->real_x || !window->real_labels)
        return error_memory("windows of training");
    if (u->features) {
        window->gradient.features = calloc(problem->count, u->features * sizeof(float));
        window->real_features = calloc(u->batch, u->features * sizeof(float));
        if (!window->gradient.features || !window->real_features)
            return error_memory("windows of training");
    }
    return unroll_new(u->network, &unroll, &window->unroll);
}

static struct error *make(struct unrolling *u)
{
    const struct match_problem *problem = u->problem;
    const struct match_options *o = problem->options;

    TRY(network_new(&o->architecture, o->backend ? o->backend : backend_cpu(), &u->network));
    u->features = o->transform ? o->transform->count : 0;
    u->batch = match_whole(o, BATCH);
    if (u->batch > problem->dataset->count)
        u->batch = problem->dataset->count;
    u->kept = calloc(STUDENTS, student_floats(u) * sizeof *u->kept);
    if (u->features) {
        u->condensed_features = calloc(problem->count, u->features * sizeof *u->condensed_features);
        u->places = calloc(problem->count, u->features * sizeof *u->places);
    }
    u->shared = calloc(WINDOWS, shared_floats(u) * sizeof *u->shared);
    if (!u->kept || !u->shared || (u->features && (!u->condensed_features || !u->places)))
        return error_memory("students");
    for (size_t i = 0; i < WINDOWS; i++)
        TRY(make_window(u, &u->windows[i]));
    return NULL;
}

static void unrolling_free(void *state)
{
    struct unrolling *u = state;

    for (size_t i = 0; i < WINDOWS; i++) {
        struct window *window = &u->windows[i];

        unroll_free(window->unroll);
        free(window->gradient.x);
        free(window->gradient.features);
        free(window->gradient.targets);
        free(window->real_x);
        free(window->real_features);
        free(window->real_labels);
    }
    free(u->kept);
    free(u->shared);
    free(u->condensed_features);
    free(u->places);
    network_free(u->network);
    free(u);
}

static struct error *unrolling_make(const struct match_problem *problem, void **state)
{
    const struct match_options *o = problem->options;
    struct unrolling *u;
    struct error *error;

    if (match_whole(o, UNROLL_STEPS) > match_whole(o, STUDENT_STEPS))
        return error_make("a training of %zu steps has no window of %zu",
                          match_whole(o, STUDENT_STEPS), match_whole(o, UNROLL_STEPS));
    u = calloc(1, sizeof *u);
    if (!u)
        return error_memory("matching");
    u->problem = problem;
    error = make(u);
    if (error) {
        unrolling_free(u);
        return error;
    }
    *state = u;
    return NULL;
}

static float *unrolling_kept(void *state, size_t *count)
{
    struct unrolling *u = state;

    *count = STUDENTS * student_floats(u);
    return u->kept;
}

/* ---- Students ---- */

/* An invalid age, which a damaged checkpoint can hold, counts as the end of the training. */
static struct unroll_student student_of(const struct unrolling *u, size_t number)
{
    size_t count = u->network->parameter_count;
    size_t last = match_whole(u->problem->options, STUDENT_STEPS);
    float *floats = u->kept + number * student_floats(u), age = floats[2 * count];

    return (struct unroll_student){.parameters = floats,
                                   .velocity = floats + count,
                                   .age = age >= 0 && age <= (float)last ? (size_t)age : last};
}

static void note_age(const struct unrolling *u, const struct unroll_student *student)
{
    student->parameters[2 * u->network->parameter_count] = (float)student->age;
}

/* Before the first step: students that are spread evenly over the training. */
static void train_ahead(void *context, size_t task, unsigned worker)
{
    struct unrolling *u = context;
    const struct match_options *o = u->problem->options;
    size_t w = u->first_window + task;

    (void)worker;
    for (size_t i = w; i < STUDENTS; i += WINDOWS) {
        struct unroll_student student = student_of(u, i);

        student.dropout = dropout_of(o->seed, i);
        unroll_begin(u->windows[w].unroll, o->seed, i, &student);
        while (student.age < i * match_whole(o, STUDENT_STEPS) / STUDENTS)
            unroll_train(u->windows[w].unroll, &u->condensed, &student);
        note_age(u, &student);
    }
}

/* ---- A step ---- */

static struct unroll_batch draw_real(const struct unrolling *u, struct window *window, size_t w)
{
    const struct dataset *dataset = u->problem->dataset;
    size_t series = u->problem->series, k = u->features;
    const float *features = u->problem->options->features;
    struct random_stream stream =
        random_stream(u->problem->options->seed, RANDOM_MATCH, u->step * WINDOWS + w);

    for (size_t i = 0; i < u->batch; i++) {
        size_t from = random_below(&stream, dataset->count);

        memcpy(window->real_x + i * series, dataset->x + from * series, series * sizeof(float));
        window->real_labels[i] = dataset->y[from];
        if (k)
            memcpy(window->real_features + i * k, features + from * k, k * sizeof(float));
    }
    return (struct unroll_batch){u->batch, window->real_x, window->real_features,
                                 window->real_labels};
}

static void take_window(void *context, size_t task, unsigned worker)
{
    struct unrolling *u = context;
    const struct match_options *o = u->problem->options;
    size_t w = u->first_window + task;
    struct window *window = &u->windows[w];
    uint64_t number = u->step * WINDOWS + w;
    struct unroll_student student = student_of(u, number % STUDENTS);
    struct unroll_batch real = draw_real(u, window, w);

    (void)worker;
    student.dropout = dropout_of(o->seed, STUDENTS + number);
    if (student.age + match_whole(o, UNROLL_STEPS) > match_whole(o, STUDENT_STEPS))
        unroll_begin(window->unroll, o->seed, STUDENTS + number, &student);
    window->loss = unroll_window(window->unroll, &u->condensed, &real, &student, &window->gradient);
    note_age(u, &student);
}

static float *move(bool in, float *array, size_t floats, float *packed)
{
    if (floats)
        memcpy(in ? packed : array, in ? array : packed, floats * sizeof *array);
    return packed + floats;
}

/* A window into its place in u->shared, or out of it. */
static void pack_window(struct unrolling *u, size_t w, bool in)
{
    const struct match_problem *problem = u->problem;
    struct window *window = &u->windows[w];
    float *next = u->shared + w * shared_floats(u);

    next = move(in, window->gradient.x, problem->count * problem->series, next);
    next = move(in, window->gradient.targets, problem->count * problem->dataset->classes, next);
    next = move(in, window->gradient.features, problem->count * u->features, next);
    memcpy(in ? (void *)next : &window->loss, in ? &window->loss : (void *)next,
           sizeof window->loss);
}

/* All ranks get the gradients of all windows.  A student belongs to the same window, and so to the
 * same rank, in all steps: the others need it for a checkpoint only.  Errors: cluster_check. */
static void share_windows(struct unrolling *u)
{
    struct cluster *cluster = u->problem->options->cluster;
    size_t floats = student_floats(u);

    if (!cluster)
        return;
    for (size_t w = 0; w < WINDOWS; w++)
        pack_window(u, w, true);
    error_free(cluster_share(cluster, u->shared, WINDOWS, shared_floats(u) * sizeof *u->shared, 1));
    for (size_t w = 0; w < WINDOWS; w++)
        pack_window(u, w, false);
    for (size_t i = 0; u->problem->options->checkpoint && i < STUDENTS; i += WINDOWS)
        error_free(
            cluster_share(cluster, u->kept + i * floats, WINDOWS, floats * sizeof *u->kept, 1));
}

/* Adds a window's gradient to the sum, with length 1: one that lies where training is wild would
 * otherwise outweigh all others. */
static void add_direction(size_t count, const float *from, float *to)
{
    double square = 0;
    float scale;

    for (size_t i = 0; i < count; i++)
        square += (double)from[i] * from[i];
    if (!(square > 0) || !isfinite(square))
        return;
    scale = (float)(1 / sqrt(square));
    for (size_t i = 0; i < count; i++)
        to[i] += scale * from[i];
}

static double unrolling_step(void *state, size_t step, const struct condensed *condensed,
                             struct condensed *gradient)
{
    struct unrolling *u = state;
    const struct match_problem *problem = u->problem;
    const struct transform *transform = problem->options->transform;
    size_t floats = problem->count * problem->series;
    size_t logits = problem->count * problem->dataset->classes;
    double loss = 0;
    size_t end;

    cluster_part(problem->options->cluster, WINDOWS, 1, &u->first_window, &end);
    u->step = step;
    u->condensed =
        (struct unroll_condensed){condensed->x, u->condensed_features, condensed->targets};
    if (transform)
        transform_forward(transform, condensed->x, problem->count, u->condensed_features,
                          u->places);
    if (step == 0)
        u->network->backend->parallel_for(end - u->first_window, train_ahead, u);
    u->network->backend->parallel_for(end - u->first_window, take_window, u);
    share_windows(u);
    memset(gradient->x, 0, floats * sizeof *gradient->x);
    memset(gradient->targets, 0, logits * sizeof *gradient->targets);
    for (size_t i = 0; i < WINDOWS; i++) {
        struct window *window = &u->windows[i];

        if (transform)
            transform_backward(transform, condensed->x, problem->count, u->condensed_features,
                               u->places, window->gradient.features, window->gradient.x);
        add_direction(floats, window->gradient.x, gradient->x);
        add_direction(logits, window->gradient.targets, gradient->targets);
        loss += window->loss / WINDOWS;
    }
    return loss;
}

const struct match_method method_unroll = {
    .name = "unroll",
    .summary = "nothing: unrolled training of students scored by real series",
    .needs =
        MATCH_NEEDS_NETWORK | MATCH_NEEDS_FROM | MATCH_NEEDS_SHAPELETS | MATCH_NEEDS_SOFT_LABELS,
    .optimiser = MATCH_ADAM,
    .parameters = parameters,
    .make = unrolling_make,
    .free = unrolling_free,
    .step = unrolling_step,
    .kept = unrolling_kept};
