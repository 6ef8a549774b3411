/* The way back is that of trajectory.h with momentum: with l = d/dt_N and w = 0, for i = N-1..0
 *     w = m w - a_i l,   dx += (d2L/dx dt) w,   l += (d2L/dt2) w
 * Steps are run again on the way back from the parameters that were noted on the way there: the
 * activations of a whole window would not stay in any cache. */
#include "match/unroll.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/optimiser.h"

/* As of batch normalisation in PyTorch. */
static const double epsilon = 1e-5;

/* Where one batch normalisation has its values, for each of its channels. */
struct normalisation_place {
    size_t channels;
    size_t gamma, beta;    /* in the parameters */
    size_t mean, variance; /* in the buffers */
    double values;         /* that a mean is taken over, in a batch of all condensed series */
};

struct unroll {
    const struct network *network;
    struct unroll_options options;
    struct pass *pass;   /* of the condensed series */
    struct pass *scorer; /* of real ones */
    size_t normalisations;
    struct normalisation_place *places;
    float *points;                       /* (window, parameters): t_0 .. t_N-1 */
    float *gradient, *costate, *moving;  /* (parameters): grad L or a product; l; w */
    float *statistics, *aims;            /* (buffers) */
    float *step_x, *step_features;       /* as the set */
    float *logits, *dlogits, *rdlogits;  /* (series, V) */
    float *step_targets, *score_dlogits; /* (series, V), (batch, V) */
};

/* ---- Memory ---- */

/* The parameter or buffer that stands beside `name` with another ending. */
static size_t beside(const struct network *network, const char *name, const char *ending)
{
    char other[sizeof network->parameters->name];
    size_t stem = (size_t)(strrchr(name, '.') + 1 - name);
    const struct network_view *view;
    bool in_buffers;

    snprintf(other, sizeof other, "%.*s%s", (int)stem, name, ending);
    view = network_find(network, other, &in_buffers);
    return view->offset;
}

/* Batch normalisation follows each convolution, and pooling each normalisation. */
static struct error *find_normalisations(struct unroll *u)
{
    const struct network *network = u->network;
    size_t steps = network->architecture.length;

    u->places = calloc(network->buffer_views + 1, sizeof *u->places);
    if (!u->places)
        return error_memory("statistics");
    for (size_t i = 0; i < network->buffer_views; i++) {
        const struct network_view *view = &network->buffers[i];
        const char *name = view->name;

        if (!strstr(name, ".running_mean"))
            continue;
        u->places[u->normalisations++] =
            (struct normalisation_place){.channels = view->count,
                                         .gamma = beside(network, name, "weight"),
                                         .beta = beside(network, name, "bias"),
                                         .mean = view->offset,
                                         .variance = beside(network, name, "running_var"),
                                         .values = (double)(u->options.series * steps)};
        if (network->architecture.pool != POOL_NONE)
            steps /= 2;
    }
    return NULL;
}

static struct error *make_arrays(struct unroll *u)
{
    const struct architecture *a = &u->network->architecture;
    size_t parameters = u->network->parameter_count, buffers = u->network->buffer_count + 1;
    size_t series = u->options.series, logits = series * a->classes;
    struct {
        float **array;
        size_t floats;
    } arrays[] = {
        {&u->points, u->options.window * parameters},
        {&u->gradient, parameters},
        {&u->costate, parameters},
        {&u->moving, parameters},
        {&u->statistics, buffers},
        {&u->aims, buffers},
        {&u->step_x, series * a->channels * a->length},
        {&u->step_features, series * a->features + 1},
        {&u->logits, logits},
        {&u->dlogits, logits},
        {&u->rdlogits, logits},
        {&u->step_targets, logits},
        {&u->score_dlogits, u->options.batch * a->classes},
    };

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].array = calloc(arrays[i].floats, sizeof(float));
        if (!*arrays[i].array)
            return error_memory("a window of training");
    }
    return NULL;
}

static struct error *make(struct unroll *u)
{
    TRY(make_arrays(u));
    TRY(find_normalisations(u));
    TRY(pass_new(u->network, u->options.series, PASS_BACKWARD | PASS_TANGENT, &u->pass));
    return pass_new(u->network, u->options.batch, PASS_BACKWARD, &u->scorer);
}

struct error *unroll_new(const struct network *network, const struct unroll_options *options,
                         struct unroll **result)
{
    struct unroll *u = calloc(1, sizeof *u);
    struct error *error;

    if (!u)
        return error_memory("a window of training");
    u->network = network;
    u->options = *options;
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
    free(u->places);
    free(u->points);
    free(u->gradient);
    free(u->costate);
    free(u->moving);
    free(u->statistics);
    free(u->aims);
    free(u->step_x);
    free(u->step_features);
    free(u->logits);
    free(u->dlogits);
    free(u->rdlogits);
    free(u->step_targets);
    free(u->score_dlogits);
    free(u);
}

/* ---- There ---- */

static void add_scaled(size_t count, double factor, const float *from, float *to)
{
    float f = (float)factor;

    for (size_t i = 0; i < count; i++)
        to[i] += f * from[i];
}

static struct forward forward_of_set(const struct unroll *u, const struct unroll_set *set,
                                     const float *parameters)
{
    return (struct forward){.count = u->options.series,
                            .x = set->x,
                            .features = set->features,
                            .parameters = parameters,
                            .buffers = u->statistics,
                            .training = true};
}

static double rate_at(const struct unroll *u, size_t age)
{
    return cosine_rate(u->options.rate, age, u->options.training);
}

/* Forward and backward at those parameters: grad L goes to u->gradient, the logits are noted. */
static void differentiate(struct unroll *u, const struct unroll_set *set, const float *parameters,
                          bool for_tangents)
{
    struct forward forward = forward_of_set(u, set, parameters);
    size_t series = u->options.series, classes = u->network->architecture.classes;
    struct targets targets = {.values = set->targets};
    struct backward backward = {.logits = u->dlogits, .parameters = u->gradient};

    memcpy(u->logits, pass_forward(u->pass, &forward), series * classes * sizeof *u->logits);
    loss_value(&u->options.loss, series, classes, u->logits, &targets, u->dlogits, NULL);
    if (for_tangents) {
        backward.x = u->step_x;
        backward.features = set->features ? u->step_features : NULL;
    }
    pass_backward(u->pass, &backward);
}

void unroll_begin(const struct unroll *unroll, uint64_t seed, uint64_t index,
                  struct unroll_student *student)
{
    network_initialise(unroll->network, seed, index, student->parameters, unroll->statistics);
    memset(student->velocity, 0, unroll->network->parameter_count * sizeof *student->velocity);
    student->age = 0;
}

void unroll_train(struct unroll *unroll, const struct unroll_set *set,
                  struct unroll_student *student)
{
    float momentum = (float)unroll->options.momentum, rate = (float)rate_at(unroll, student->age);

    differentiate(unroll, set, student->parameters, false);
    for (size_t i = 0; i < unroll->network->parameter_count; i++) {
        student->velocity[i] = momentum * student->velocity[i] + unroll->gradient[i];
        student->parameters[i] -= rate * student->velocity[i];
    }
    student->age++;
}

/* ---- What it came to ---- */

/* The loss on real series, with the statistics of the condensed ones; its gradient with respect to
 * the parameters alone goes to the costate. */
static double score(struct unroll *u, const struct unroll_set *set, const struct unroll_batch *real,
                    const float *parameters)
{
    static const struct loss cross_entropy = {LOSS_LABELS, 1, 1};
    size_t classes = u->network->architecture.classes;
    struct forward measure = forward_of_set(u, set, parameters);
    struct forward forward = {.count = real->count,
                              .x = real->x,
                              .features = real->features,
                              .parameters = parameters,
                              .buffers = u->statistics};
    struct targets targets = {.labels = real->labels};
    struct backward backward = {.logits = u->score_dlogits, .parameters = u->costate};
    double loss;

    measure.momentum = 1; /* the statistics become those of the set */
    if (u->normalisations)
        pass_forward(u->pass, &measure);
    loss = loss_value(&cross_entropy, real->count, classes, pass_forward(u->scorer, &forward),
                      &targets, u->score_dlogits, NULL);
    pass_backward(u->scorer, &backward);
    return loss;
}

/* The loss depends on the statistics as it does on gamma and beta of their normalisation: from
 * a = gamma (z - mean) / sqrt(variance + epsilon) + beta follows
 *     dL/dmean = -gamma / sqrt(variance + epsilon) dL/dbeta
 *     dL/dvariance = -gamma / (2 (variance + epsilon)) dL/dgamma
 * From there it goes back through the condensed series: pass_match with squared norms adds
 * 2 weight (mean - aim) to the gradient of a mean, so aims are put where that is what is wanted,
 * far enough away not to lose digits.  The variance in use is the unbiased one, that which is
 * matched is not. */
static void differentiate_statistics(struct unroll *u, const struct unroll_set *set,
                                     const float *parameters, struct unroll_set *gradient)
{
    static const double far = 1e4;
    struct matching matching = {.weight = 0.5 / far, .first = 1, .squared = true};
    struct forward forward = forward_of_set(u, set, parameters);
    struct backward backward = {
        .logits = u->dlogits, .parameters = u->gradient, .x = u->step_x, .features = NULL};
    size_t logits = u->options.series * u->network->architecture.classes;

    for (size_t i = 0; i < u->normalisations; i++) {
        const struct normalisation_place *p = &u->places[i];
        double unbiased = p->values > 1 ? p->values / (p->values - 1) : 1;

        for (size_t c = 0; c < p->channels; c++) {
            double variance = u->statistics[p->variance + c] + epsilon;
            double gamma = parameters[p->gamma + c];
            double dmean = -gamma / sqrt(variance) * u->costate[p->beta + c];
            double dvariance = -gamma / (2 * variance) * u->costate[p->gamma + c] * unbiased;

            u->aims[p->mean + c] = (float)(u->statistics[p->mean + c] - far * dmean);
            u->aims[p->variance + c] =
                (float)(u->statistics[p->variance + c] / unbiased - far * dvariance);
        }
    }
    forward.buffers = u->aims;
    forward.statistics = true;
    memset(u->dlogits, 0, logits * sizeof *u->dlogits);
    pass_forward(u->pass, &forward);
    pass_match(u->pass, &matching, pass_values(u->pass));
    pass_backward(u->pass, &backward);
    add_scaled(u->network->parameter_count, 1, u->gradient, u->costate);
    add_scaled(u->options.series * u->network->architecture.channels *
                   u->network->architecture.length,
               1, u->step_x, gradient->x);
}

/* ---- And back ---- */

/* Adds what one step of training has to do with the costate, which goes to the step's start. */
static void go_back(struct unroll *u, const struct unroll_set *set, const float *point, double rate,
                    struct unroll_set *gradient)
{
    const struct architecture *a = &u->network->architecture;
    size_t parameters = u->network->parameter_count, series = u->options.series;
    float momentum = (float)u->options.momentum;
    struct tangent tangent = {.parameters = u->moving};
    struct targets targets = {.values = set->targets};
    struct backward backward = {.logits = u->rdlogits,
                                .parameters = u->gradient,
                                .x = u->step_x,
                                .features = set->features ? u->step_features : NULL};

    for (size_t i = 0; i < parameters; i++)
        u->moving[i] = momentum * u->moving[i] - (float)rate * u->costate[i];
    differentiate(u, set, point, true);
    loss_tangent(&u->options.loss, series, a->classes, u->logits, &targets,
                 pass_tangent_forward(u->pass, &tangent), NULL, u->rdlogits, u->step_targets);
    pass_tangent_backward(u->pass, &backward);
    add_scaled(parameters, 1, u->gradient, u->costate);
    add_scaled(series * a->channels * a->length, 1, u->step_x, gradient->x);
    add_scaled(series * a->classes, 1, u->step_targets, gradient->targets);
    if (set->features)
        add_scaled(series * a->features, 1, u->step_features, gradient->features);
}

static void clear(const struct unroll *u, struct unroll_set *gradient)
{
    const struct architecture *a = &u->network->architecture;
    size_t series = u->options.series;

    memset(gradient->x, 0, series * a->channels * a->length * sizeof *gradient->x);
    memset(gradient->targets, 0, series * a->classes * sizeof *gradient->targets);
    if (gradient->features)
        memset(gradient->features, 0, series * a->features * sizeof *gradient->features);
    memset(u->moving, 0, u->network->parameter_count * sizeof *u->moving);
}

double unroll_window(struct unroll *unroll, const struct unroll_set *set,
                     const struct unroll_batch *real, struct unroll_student *student,
                     struct unroll_set *gradient)
{
    struct unroll *u = unroll;
    size_t parameters = u->network->parameter_count, first = student->age;
    double loss;

    for (size_t i = 0; i < u->options.window; i++) {
        memcpy(u->points + i * parameters, student->parameters, parameters * sizeof *u->points);
        unroll_train(u, set, student);
    }
    clear(u, gradient);
    loss = score(u, set, real, student->parameters);
    if (u->normalisations)
        differentiate_statistics(u, set, student->parameters, gradient);
    for (size_t i = u->options.window; i-- > 0;)
        go_back(u, set, u->points + i * parameters, rate_at(u, first + i), gradient);
    return loss;
}
