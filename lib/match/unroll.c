/* unroll_window() at the end is the whole computation, with its formulas; what comes before are its
 * parts.
 *
 * The caller's arrays are host memory.  On a device with its own memory they are copied there for
 * each window, and everything else is memory of the backend. */
#include "match/unroll.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/backend_memory.h"
#include "nn/optimiser.h"
#include "nn/pass.h"

enum { MOST_ARRAYS = 24 };

struct unroll {
    const struct network *network;
    struct unroll_options options;
    struct pass *pass;   /* of the condensed series */
    struct pass *scorer; /* of real ones */
    bool normalised;     /* the network has batch statistics */
    const struct backend *backend;
    /* Memory of the backend: */
    float *points;                           /* (window, parameters): t_0 .. t_N-1 */
    float *gradient, *adjoint;               /* (parameters): grad L or a product; l */
    float *velocity_adjoint;                 /* (parameters): w */
    float *statistics, *statistics_gradient; /* (buffers) */
    float *step_x, *step_features;           /* as the condensed series */
    float *logits, *dlogits, *rdlogits;      /* (series, V) */
    float *step_targets, *score_dlogits;     /* (series, V), (batch, V) */
    /* Copies of the caller's arrays, on a device that has memory of its own. */
    struct unroll_condensed condensed, gradients;
    float *parameters, *velocity;
    float *real_x, *real_features;
    int32_t *real_labels;
    /* Copies of what the device has, for the host. */
    float *host_parameters, *host_adjoint, *host_statistics, *host_statistics_gradient;
    /* All memory of the backend, to release it. */
    void *memory[MOST_ARRAYS];
    size_t memory_count;
};

/* ---- Memory ---- */

static void *allocate(struct unroll *u, size_t bytes)
{
    assert(u->memory_count < MOST_ARRAYS);
    return u->memory[u->memory_count++] = u->backend->allocate(bytes);
}

static struct error *make_arrays(struct unroll *u)
{
    const struct architecture *a = &u->network->architecture;
    size_t parameters = u->network->parameter_count, buffers = u->network->buffer_count + 1;
    size_t series = u->options.series, logits = series * a->classes;
    size_t floats = series * architecture_series_size(a), features = series * a->features + 1;
    size_t real = u->options.batch;
    struct {
        float **array;
        size_t floats;
        bool copy; /* needed only where the backend has memory of its own */
    } arrays[] = {
        {&u->points, u->options.window * parameters},
        {&u->gradient, parameters},
        {&u->adjoint, parameters},
        {&u->velocity_adjoint, parameters},
        {&u->statistics, buffers},
        {&u->statistics_gradient, buffers},
        {&u->step_x, floats},
        {&u->step_features, features},
        {&u->logits, logits},
        {&u->dlogits, logits},
        {&u->rdlogits, logits},
        {&u->step_targets, logits},
        {&u->score_dlogits, real * a->classes},
        {&u->condensed.x, floats, true},
        {&u->condensed.features, features, true},
        {&u->condensed.targets, logits, true},
        {&u->gradients.x, floats, true},
        {&u->gradients.features, features, true},
        {&u->gradients.targets, logits, true},
        {&u->parameters, parameters, true},
        {&u->velocity, parameters, true},
        {&u->real_x, real * architecture_series_size(a), true},
        {&u->real_features, real * a->features + 1, true},
    };

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (arrays[i].copy && u->backend->host_memory)
            continue;
        *arrays[i].array = allocate(u, arrays[i].floats * sizeof(float));
        if (!*arrays[i].array)
            return error_memory("a window of training");
    }
    if (u->backend->host_memory)
        return NULL;
    u->real_labels = allocate(u, real * sizeof *u->real_labels);
    u->host_parameters = calloc(parameters, sizeof(float));
    u->host_adjoint = calloc(parameters, sizeof(float));
    u->host_statistics = calloc(buffers, sizeof(float));
    u->host_statistics_gradient = calloc(buffers, sizeof(float));
    return u->real_labels && u->host_parameters && u->host_adjoint && u->host_statistics &&
                   u->host_statistics_gradient
               ? NULL
               : error_memory("a window of training");
}

static struct error *make(struct unroll *u)
{
    TRY(make_arrays(u));
    TRY(pass_new(u->network, u->options.series, PASS_BACKWARD | PASS_TANGENT, &u->pass));
    return pass_new(u->network, u->options.batch, PASS_BACKWARD, &u->scorer);
}

struct error *unroll_new(const struct network *network, const struct unroll_options *options,
                         struct unroll **result)
{
    struct unroll *u = calloc(1, sizeof *u);
    struct network_statistics statistics;
    struct error *error;

    if (!u)
        return error_memory("a window of training");
    u->network = network;
    u->backend = network->backend;
    u->options = *options;
    u->normalised = network_statistics(network, 0, &statistics);
    error = make(u);
    if (error) {
        unroll_free(u);
        return error;
    }
    *result = u;
    return NULL;
}

void unroll_free(struct unroll *unroll)
{
    struct unroll *u = unroll;

    if (!u)
        return;
    pass_free(u->pass);
    pass_free(u->scorer);
    for (size_t i = 0; i < u->memory_count; i++)
        u->backend->release(u->memory[i]);
    free(u->host_parameters);
    free(u->host_adjoint);
    free(u->host_statistics);
    free(u->host_statistics_gradient);
    free(u);
}

/* ---- The caller's arrays on the device ---- */

static size_t series_floats(const struct unroll *u)
{
    const struct architecture *a = &u->network->architecture;

    return u->options.series * architecture_series_size(a);
}

static size_t feature_floats(const struct unroll *u)
{
    return u->options.series * u->network->architecture.features;
}

static size_t logit_floats(const struct unroll *u)
{
    return u->options.series * u->network->architecture.classes;
}

static float *to_device(const struct unroll *u, const float *host, float *copy, size_t floats)
{
    return (float *)(uintptr_t)backend_input(u->backend, host, copy, floats * sizeof *copy);
}

static void to_host(const struct unroll *u, float *host, const float *copy, size_t floats)
{
    backend_readback(u->backend, host, copy, floats * sizeof *copy);
}

static struct unroll_condensed condensed_to_device(const struct unroll *u,
                                                   const struct unroll_condensed *condensed)
{
    return (struct unroll_condensed){
        to_device(u, condensed->x, u->condensed.x, series_floats(u)),
        to_device(u, condensed->features, u->condensed.features, feature_floats(u)),
        to_device(u, condensed->targets, u->condensed.targets, logit_floats(u))};
}

static struct unroll_student student_to_device(const struct unroll *u,
                                               const struct unroll_student *student)
{
    size_t parameters = u->network->parameter_count;

    return (struct unroll_student){to_device(u, student->parameters, u->parameters, parameters),
                                   to_device(u, student->velocity, u->velocity, parameters),
                                   student->age, student->dropout};
}

static void student_to_host(const struct unroll *u, const struct unroll_student *copy,
                            struct unroll_student *student)
{
    size_t parameters = u->network->parameter_count;

    to_host(u, student->parameters, copy->parameters, parameters);
    to_host(u, student->velocity, copy->velocity, parameters);
    student->age = copy->age;
}

static struct unroll_batch real_to_device(const struct unroll *u, const struct unroll_batch *real)
{
    const struct architecture *a = &u->network->architecture;

    return (struct unroll_batch){
        real->count, to_device(u, real->x, u->real_x, real->count * architecture_series_size(a)),
        to_device(u, real->features, u->real_features, real->count * a->features),
        backend_input(u->backend, real->labels, u->real_labels,
                      real->count * sizeof *real->labels)};
}

/* ---- Forward: training ---- */

static void add(const struct unroll *u, size_t count, const float *from, float *to)
{
    u->backend->axpby(count, 1, to, 1, from);
}

static struct forward forward_of_condensed(const struct unroll *u,
                                           const struct unroll_condensed *condensed,
                                           const float *parameters)
{
    return (struct forward){.count = u->options.series,
                            .x = condensed->x,
                            .features = condensed->features,
                            .parameters = parameters,
                            .buffers = u->statistics,
                            .training = true};
}

static double rate_at(const struct unroll *u, size_t age)
{
    return cosine_rate(u->options.rate, age, u->options.training);
}

/* L and grad L at these parameters: the logits go to u->logits, grad L to u->gradient.
 * for_tangents: also what pass_tangent_backward needs, the gradients of the inputs. */
static void differentiate(struct unroll *u, const struct unroll_condensed *condensed,
                          const float *parameters, struct dropout dropout, size_t age,
                          bool for_tangents)
{
    struct forward forward = forward_of_condensed(u, condensed, parameters);
    size_t series = u->options.series, classes = u->network->architecture.classes;
    struct targets targets = {.values = condensed->targets};
    struct backward backward = {.logits = u->dlogits, .parameters = u->gradient};

    forward.dropout = dropout;
    forward.dropout.step = age;
    u->backend->copy_rows(1, series * classes, pass_forward(u->pass, &forward), 0, u->logits, 0);
    u->backend->loss(&u->options.loss, series, classes, u->logits, &targets, u->dlogits, NULL,
                     pass_values(u->pass), NULL);
    if (for_tangents) {
        backward.x = u->step_x;
        backward.features = condensed->features ? u->step_features : NULL;
    }
    pass_backward(u->pass, &backward);
}

void unroll_begin(const struct unroll *unroll, uint64_t seed, uint64_t index,
                  struct unroll_student *student)
{
    size_t parameters = unroll->network->parameter_count;
    float *place = backend_output(unroll->backend, student->parameters, unroll->parameters);

    network_initialise(unroll->network, seed, index, place, unroll->statistics);
    to_host(unroll, student->parameters, place, parameters);
    memset(student->velocity, 0, parameters * sizeof *student->velocity);
    student->age = 0;
}

/* v = m v + grad L(t),   t = t - a v */
static void train_step(struct unroll *u, const struct unroll_condensed *condensed,
                       struct unroll_student *student)
{
    size_t parameters = u->network->parameter_count;

    differentiate(u, condensed, student->parameters, student->dropout, student->age, false);
    u->backend->axpby(parameters, (float)u->options.momentum, student->velocity, 1, u->gradient);
    u->backend->axpby(parameters, 1, student->parameters, -(float)rate_at(u, student->age),
                      student->velocity);
    student->age++;
}

void unroll_train(struct unroll *unroll, const struct unroll_condensed *condensed,
                  struct unroll_student *student)
{
    struct unroll_condensed on_device = condensed_to_device(unroll, condensed);
    struct unroll_student copy = student_to_device(unroll, student);

    train_step(unroll, &on_device, &copy);
    student_to_host(unroll, &copy, student);
}

/* ---- Loss ---- */

/* The loss on real series, normalised by the statistics of the condensed ones, which u->pass
 * measures; its gradient with respect to the parameters, for fixed statistics, goes to
 * u->adjoint. */
static double score(struct unroll *u, const struct unroll_condensed *condensed,
                    const struct unroll_batch *real, const float *parameters)
{
    static const struct loss cross_entropy = {LOSS_LABELS, 1, 1};
    size_t classes = u->network->architecture.classes;
    struct forward measure = forward_of_condensed(u, condensed, parameters);
    struct forward forward = {.count = real->count,
                              .x = real->x,
                              .features = real->features,
                              .parameters = parameters,
                              .buffers = u->statistics};
    struct targets targets = {.labels = real->labels};
    struct backward backward = {.logits = u->score_dlogits, .parameters = u->adjoint};
    double loss, *value = pass_values(u->scorer);

    measure.momentum = 1; /* the statistics become those of the condensed series */
    if (u->normalised)
        pass_forward(u->pass, &measure);
    u->backend->loss(&cross_entropy, real->count, classes, pass_forward(u->scorer, &forward),
                     &targets, u->score_dlogits, NULL, value, NULL);
    pass_backward(u->scorer, &backward);
    u->backend->download(&loss, value, sizeof loss);
    return loss;
}

/* Gradients of the loss on real series with respect to the statistics of the condensed ones, from
 * those of gamma and beta of the same normalisation: from
 *     a = gamma (z - mean) / sqrt(variance + epsilon) + beta
 * follow
 *     dloss/dmean     = -gamma / sqrt(variance + epsilon) dloss/dbeta
 *     dloss/dvariance = -gamma / (2 (variance + epsilon)) dloss/dgamma
 * The running variance is the unbiased one, the variance of a batch is not. */
static void set_statistics_gradient(const struct unroll *u, const struct network_statistics *p,
                                    const float *parameters, const float *adjoint,
                                    const float *statistics, float *gradient)
{
    double values = (double)(u->options.series * p->steps);
    double unbiased = values > 1 ? values / (values - 1) : 1;

    for (size_t c = 0; c < p->channels; c++) {
        double variance = statistics[p->variance + c] + BACKEND_EPSILON;
        double gamma = parameters[p->gamma + c];

        gradient[p->mean + c] = (float)(-gamma / sqrt(variance) * adjoint[p->beta + c]);
        gradient[p->variance + c] =
            (float)(-gamma / (2 * variance) * adjoint[p->gamma + c] * unbiased);
    }
}

/* The host's view of an array of the backend. */
static const float *on_host(const struct unroll *u, const float *memory, float *copy, size_t floats)
{
    to_host(u, copy, memory, floats);
    return u->backend->host_memory ? memory : copy;
}

/* Adds the gradients that reach the condensed series and the parameters through the statistics,
 * which score() has just measured with u->pass. */
static void differentiate_statistics(struct unroll *u, const float *parameters,
                                     struct unroll_condensed *gradient)
{
    size_t values = u->network->parameter_count, buffers = u->network->buffer_count;
    const float *host_parameters = on_host(u, parameters, u->host_parameters, values);
    const float *adjoint = on_host(u, u->adjoint, u->host_adjoint, values);
    const float *statistics = on_host(u, u->statistics, u->host_statistics, buffers);
    float *host_gradient =
        u->backend->host_memory ? u->statistics_gradient : u->host_statistics_gradient;
    struct network_statistics place;

    for (size_t i = 0; network_statistics(u->network, i, &place); i++)
        set_statistics_gradient(u, &place, host_parameters, adjoint, statistics, host_gradient);
    to_device(u, host_gradient, u->statistics_gradient, buffers);
    u->backend->zero(u->dlogits, logit_floats(u) * sizeof *u->dlogits);
    pass_backward(u->pass, &(struct backward){.logits = u->dlogits,
                                              .statistics = u->statistics_gradient,
                                              .parameters = u->gradient,
                                              .x = u->step_x});
    add(u, values, u->gradient, u->adjoint);
    add(u, series_floats(u), u->step_x, gradient->x);
}

/* ---- Backward: the adjoint of training ---- */

/* w = m w - a l,   dx += (d2L/dx dt) w,   l += (d2L/dt2) w
 *
 * for the step that train_step took from `point`.  The products with second derivatives are the
 * tangent of the gradient in direction w.  The step is run again: the activations of a whole window
 * would not stay in any cache. */
static void train_step_backward(struct unroll *u, const struct unroll_condensed *condensed,
                                const float *point, struct dropout dropout, size_t age,
                                struct unroll_condensed *gradient)
{
    size_t parameters = u->network->parameter_count;
    struct tangent tangent = {.parameters = u->velocity_adjoint};
    struct targets targets = {.values = condensed->targets};
    struct backward backward = {.logits = u->rdlogits,
                                .parameters = u->gradient,
                                .x = u->step_x,
                                .features = condensed->features ? u->step_features : NULL};

    u->backend->axpby(parameters, (float)u->options.momentum, u->velocity_adjoint,
                      -(float)rate_at(u, age), u->adjoint);
    differentiate(u, condensed, point, dropout, age, true);
    u->backend->loss_tangent(&u->options.loss, u->options.series, u->network->architecture.classes,
                             u->logits, &targets, pass_tangent_forward(u->pass, &tangent), NULL,
                             u->rdlogits, u->step_targets);
    pass_tangent_backward(u->pass, &backward);
    add(u, parameters, u->gradient, u->adjoint);
    add(u, series_floats(u), u->step_x, gradient->x);
    add(u, logit_floats(u), u->step_targets, gradient->targets);
    if (condensed->features)
        add(u, feature_floats(u), u->step_features, gradient->features);
}

/* Memory of the backend for the gradients; they and w start from 0. */
static struct unroll_condensed place_gradient(const struct unroll *u,
                                              const struct unroll_condensed *gradient)
{
    const struct backend *backend = u->backend;
    struct unroll_condensed placed = {
        backend_output(backend, gradient->x, u->gradients.x),
        backend_output(backend, gradient->features, u->gradients.features),
        backend_output(backend, gradient->targets, u->gradients.targets)};

    backend->zero(placed.x, series_floats(u) * sizeof *placed.x);
    backend->zero(placed.targets, logit_floats(u) * sizeof *placed.targets);
    if (placed.features)
        backend->zero(placed.features, feature_floats(u) * sizeof *placed.features);
    backend->zero(u->velocity_adjoint, u->network->parameter_count * sizeof *u->velocity_adjoint);
    return placed;
}

/* One window of N steps.  With t the student's parameters, v its velocity, x the condensed series
 * (with features and soft labels), L the loss of training, m the momentum and a_i the learning
 * rate:
 *
 *     training    v = m v + grad L(t_i),   t_{i+1} = t_i - a_i v       for i = 0..N-1
 *     loss        cross-entropy of t_N on real series, normalised by the statistics of x
 *     adjoint     l = dloss/dt_N,  w = 0,  dx = dloss/dx through the statistics
 *     backward    w = m w - a_i l,
 *                 dx += (d2L/dx dt) w,     l += (d2L/dt2) w            for i = N-1..0
 *
 * as reverse-mode differentiation of the whole training loop would give. */
double unroll_window(struct unroll *unroll, const struct unroll_condensed *host_condensed,
                     const struct unroll_batch *host_real, struct unroll_student *host_student,
                     struct unroll_condensed *host_gradient)
{
    struct unroll *u = unroll;
    struct unroll_condensed condensed = condensed_to_device(u, host_condensed), gradient;
    struct unroll_batch real = real_to_device(u, host_real);
    struct unroll_student student = student_to_device(u, host_student);
    size_t parameters = u->network->parameter_count, first = student.age;
    double loss;

    /* Training: t_i is kept for the way back. */
    for (size_t i = 0; i < u->options.window; i++) {
        u->backend->copy_rows(1, parameters, student.parameters, 0, u->points + i * parameters, 0);
        train_step(u, &condensed, &student);
    }

    /* Loss and adjoint. */
    gradient = place_gradient(u, host_gradient);
    loss = score(u, &condensed, &real, student.parameters);
    if (u->normalised)
        differentiate_statistics(u, student.parameters, &gradient);

    /* Backward. */
    for (size_t i = u->options.window; i-- > 0;)
        train_step_backward(u, &condensed, u->points + i * parameters, student.dropout, first + i,
                            &gradient);

    student_to_host(u, &student, host_student);
    to_host(u, host_gradient->x, gradient.x, series_floats(u));
    to_host(u, host_gradient->features, gradient.features, feature_floats(u));
    to_host(u, host_gradient->targets, gradient.targets, logit_floats(u));
    return loss;
}
