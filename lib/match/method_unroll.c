/* unroll: a few students are always at different places of their training on the condensed set.
 * Each step takes some of them through a window (unroll.h), one after another in turn; one that has
 * come to the end of its training makes room for a new one.  So windows lie everywhere in the
 * training, and no student is trained for one window alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "match/method.h"
#include "match/unroll.h"
#include "nn/backend.h"
#include "nn/pass.h"

/* Students there are, and windows of one step: work for that many cores. */
enum { STUDENTS = 4, WINDOWS = 2 };

struct window {
    struct unroll *unroll;
    struct unroll_set gradient;
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
    float *set_features; /* (N, K) of the condensed series */
    uint32_t *places;    /* where they were found */
    /* This step. */
    size_t step;
    struct unroll_set set;
};

/* ---- Memory ---- */

static size_t student_floats(const struct unrolling *u)
{
    return 2 * u->network->parameter_count + 1;
}

static struct error *make_window(struct unrolling *u, struct window *window)
{
    const struct match_problem *problem = u->problem;
    const struct match_options *o = problem->options;
    struct unroll_options unroll = {
        .series = problem->count,
        .batch = u->batch,
        .window = o->unroll_steps,
        .training = o->student_steps,
        .rate = o->student_rate,
        .momentum = 0.9,
        .loss = {LOSS_KL, MATCH_TEMPERATURE, MATCH_TEMPERATURE * MATCH_TEMPERATURE}};

    window->gradient.x = calloc(problem->count, problem->series * sizeof(float));
    window->gradient.targets = calloc(problem->count, problem->set->classes * sizeof(float));
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
    u->batch = o->batch < problem->set->count ? o->batch : problem->set->count;
    u->kept = calloc(STUDENTS, student_floats(u) * sizeof *u->kept);
    if (u->features) {
        u->set_features = calloc(problem->count, u->features * sizeof *u->set_features);
        u->places = calloc(problem->count, u->features * sizeof *u->places);
    }
    if (!u->kept || (u->features && (!u->set_features || !u->places)))
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
    free(u->set_features);
    free(u->places);
    network_free(u->network);
    free(u);
}

static struct error *unrolling_make(const struct match_problem *problem, void **state)
{
    const struct match_options *o = problem->options;
    struct unrolling *u;
    struct error *error;

    if (o->unroll_steps > o->student_steps)
        return error_make("a training of %zu steps has no window of %zu", o->student_steps,
                          o->unroll_steps);
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

/* One whose age makes no sense, which a checkpoint can hold, is at the end of its training. */
static struct unroll_student student_of(const struct unrolling *u, size_t number)
{
    size_t parameters = u->network->parameter_count, last = u->problem->options->student_steps;
    float *floats = u->kept + number * student_floats(u), age = floats[2 * parameters];

    return (struct unroll_student){.parameters = floats,
                                   .velocity = floats + parameters,
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

    (void)worker;
    for (size_t i = task; i < STUDENTS; i += WINDOWS) {
        struct unroll_student student = student_of(u, i);

        student.dropout = dropout_of(o->seed, i);
        unroll_begin(u->windows[task].unroll, o->seed, i, &student);
        while (student.age < i * o->student_steps / STUDENTS)
            unroll_train(u->windows[task].unroll, &u->set, &student);
        note_age(u, &student);
    }
}

/* ---- A step ---- */

static struct unroll_batch draw_real(const struct unrolling *u, struct window *window, size_t task)
{
    const struct dataset *set = u->problem->set;
    size_t series = u->problem->series, k = u->features;
    const float *features = u->problem->options->features;
    struct random_stream stream =
        random_stream(u->problem->options->seed, RANDOM_MATCH, u->step * WINDOWS + task);

    for (size_t i = 0; i < u->batch; i++) {
        size_t from = random_below(&stream, set->count);

        memcpy(window->real_x + i * series, set->x + from * series, series * sizeof(float));
        window->real_labels[i] = set->y[from];
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
    struct window *window = &u->windows[task];
    uint64_t number = u->step * WINDOWS + task;
    struct unroll_student student = student_of(u, number % STUDENTS);
    struct unroll_batch real = draw_real(u, window, task);

    (void)worker;
    student.dropout = dropout_of(o->seed, STUDENTS + number);
    if (student.age + o->unroll_steps > o->student_steps)
        unroll_begin(window->unroll, o->seed, STUDENTS + number, &student);
    window->loss = unroll_window(window->unroll, &u->set, &real, &student, &window->gradient);
    note_age(u, &student);
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
    size_t logits = problem->count * problem->set->classes;
    double loss = 0;

    u->step = step;
    u->set = (struct unroll_set){condensed->x, u->set_features, condensed->targets};
    if (transform)
        transform_forward(transform, condensed->x, problem->count, u->set_features, u->places);
    if (step == 0)
        u->network->backend->run(WINDOWS, train_ahead, u);
    u->network->backend->run(WINDOWS, take_window, u);
    memset(gradient->x, 0, floats * sizeof *gradient->x);
    memset(gradient->targets, 0, logits * sizeof *gradient->targets);
    for (size_t i = 0; i < WINDOWS; i++) {
        struct window *window = &u->windows[i];

        if (transform)
            transform_backward(transform, condensed->x, problem->count, u->set_features, u->places,
                               window->gradient.features, window->gradient.x);
        add_direction(floats, window->gradient.x, gradient->x);
        add_direction(logits, window->gradient.targets, gradient->targets);
        loss += window->loss / WINDOWS;
    }
    return loss;
}

const struct method method_unroll = {
    .make = unrolling_make, .free = unrolling_free, .step = unrolling_step, .kept = unrolling_kept};
