/* The series are cut into blocks of fixed size; each block's part of the gradient is added up by
 * one task, and the parts are added in block order, so that the sum does not depend on the threads.
 */
#include "learn/logistic.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

enum { BLOCK = 512, MEMORY = 10 };

struct logistic_options logistic_defaults(void)
{
    return (struct logistic_options){.penalty = 1e-4, .most_steps = 500, .tolerance = 1e-5};
}

/* What is minimised. */
struct objective {
    const float *z; /* (N, D) standardised */
    const int32_t *labels;
    size_t count, features, classes;
    size_t size; /* of the parameters: V (D + 1) */
    size_t blocks;
    double penalty;
    const double *parameters; /* at which it is evaluated */
    double *block_gradients;  /* (blocks, size) */
    double *block_losses;     /* (blocks,) */
};

static void standardise(const struct logistic *model, const float *x, float *z)
{
    for (size_t d = 0; d < model->features; d++)
        z[d] = (float)((x[d] - model->mean[d]) * model->scale[d]);
}

/* logits = W z + b */
static void apply(const double *parameters, const float *z, size_t features, size_t classes,
                  double *logits)
{
    const double *biases = parameters + classes * features;

    for (size_t v = 0; v < classes; v++) {
        const double *weights = parameters + v * features;
        double sum[4] = {biases[v]};
        size_t d = 0;

        for (; d + 4 <= features; d += 4)
            for (size_t k = 0; k < 4; k++)
                sum[k] += weights[d + k] * z[d + k];
        for (; d < features; d++)
            sum[0] += weights[d] * z[d];
        logits[v] = sum[0] + sum[1] + sum[2] + sum[3];
    }
}

/* Turns logits into probabilities; returns -log of the one given. */
static double softmax(double *logits, size_t classes, size_t label)
{
    double most = logits[0], sum = 0, own = logits[label];

    for (size_t v = 1; v < classes; v++)
        most = logits[v] > most ? logits[v] : most;
    for (size_t v = 0; v < classes; v++)
        sum += logits[v] = exp(logits[v] - most);
    for (size_t v = 0; v < classes; v++)
        logits[v] /= sum;
    /* The largest term is 1. */
    return log(fmax(sum, 1)) + most - own;
}

static void evaluate_block(void *context, size_t block, unsigned worker)
{
    struct objective *objective = context;
    size_t features = objective->features, classes = objective->classes;
    size_t from = block * BLOCK;
    size_t to = objective->count - from < BLOCK ? objective->count : from + BLOCK;
    double *gradient = objective->block_gradients + block * (objective->size + classes);
    double *logits = gradient + objective->size;

    (void)worker;
    memset(gradient, 0, objective->size * sizeof *gradient);
    objective->block_losses[block] = 0;
    for (size_t i = from; i < to; i++) {
        const float *z = objective->z + i * features;
        size_t label = (size_t)objective->labels[i];

        apply(objective->parameters, z, features, classes, logits);
        objective->block_losses[block] += softmax(logits, classes, label);
        logits[label] -= 1;
        for (size_t v = 0; v < classes; v++) {
            double error = logits[v];

            for (size_t d = 0; d < features; d++)
                gradient[v * features + d] += error * z[d];
            gradient[classes * features + v] += error;
        }
    }
}

static double evaluate(struct objective *objective, const double *parameters, double *gradient)
{
    double loss = 0, count = (double)objective->count;

    objective->parameters = parameters;
    parallel_for(objective->blocks, evaluate_block, objective);
    memset(gradient, 0, objective->size * sizeof *gradient);
    for (size_t b = 0; b < objective->blocks; b++) {
        const double *part =
            objective->block_gradients + b * (objective->size + objective->classes);

        loss += objective->block_losses[b] / count;
        for (size_t p = 0; p < objective->size; p++)
            gradient[p] += part[p] / count;
    }
    for (size_t p = 0; p < objective->classes * objective->features; p++) {
        loss += objective->penalty / 2 * parameters[p] * parameters[p];
        gradient[p] += objective->penalty * parameters[p];
    }
    return loss;
}

static double dot(const double *a, const double *b, size_t size)
{
    double sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The last steps and changes of the gradient, in a ring. */
struct history {
    size_t size, count, next;
    double *steps, *changes; /* (MEMORY, size) */
    double products[MEMORY]; /* step . change */
};

/* direction = - H gradient, H the inverse Hessian as the history sees it (two-loop recursion). */
static void lbfgs_direction(const struct history *history, const double *gradient,
                            double *direction)
{
    size_t size = history->size;
    double factors[MEMORY] = {0};

    for (size_t p = 0; p < size; p++)
        direction[p] = -gradient[p];
    for (size_t k = 0; k < history->count; k++) {
        size_t h = (history->next + MEMORY - 1 - k) % MEMORY;

        factors[h] = dot(history->steps + h * size, direction, size) / history->products[h];
        for (size_t p = 0; p < size; p++)
            direction[p] -= factors[h] * history->changes[h * size + p];
    }
    if (history->count) {
        size_t h = (history->next + MEMORY - 1) % MEMORY;
        const double *change = history->changes + h * size;
        double scale = history->products[h] / dot(change, change, size);

        for (size_t p = 0; p < size; p++)
            direction[p] *= scale;
    }
    for (size_t k = history->count; k-- > 0;) {
        size_t h = (history->next + MEMORY - 1 - k) % MEMORY;
        double factor = dot(history->changes + h * size, direction, size) / history->products[h];

        for (size_t p = 0; p < size; p++)
            direction[p] += (factors[h] - factor) * history->steps[h * size + p];
    }
}

static void remember(struct history *history, const double *before, const double *after,
                     const double *gradient_before, const double *gradient_after)
{
    double *step = history->steps + history->next * history->size;
    double *change = history->changes + history->next * history->size;

    for (size_t p = 0; p < history->size; p++) {
        step[p] = after[p] - before[p];
        change[p] = gradient_after[p] - gradient_before[p];
    }
    history->products[history->next] = dot(step, change, history->size);
    /* Only what keeps the Hessian positive. */
    if (!(history->products[history->next] > 1e-300))
        return;
    history->next = (history->next + 1) % MEMORY;
    history->count += history->count < MEMORY;
}

static double largest(const double *values, size_t size)
{
    double most = 0;

    for (size_t i = 0; i < size; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

/* Vectors of the parameters' size that minimise works with. */
struct vectors {
    double *tried, *gradient, *tried_gradient, *direction;
};

/* Halves the step until the loss falls by a fraction of what the slope promises (Armijo).  Returns
 * false if no step helps. */
static bool search_line(struct objective *objective, const double *parameters, double slope,
                        double *loss, const struct vectors *vectors, double step)
{
    for (int halving = 0; halving < 40; halving++, step /= 2) {
        double tried;

        for (size_t p = 0; p < objective->size; p++)
            vectors->tried[p] = parameters[p] + step * vectors->direction[p];
        tried = evaluate(objective, vectors->tried, vectors->tried_gradient);
        if (tried <= *loss + 1e-4 * step * slope) {
            *loss = tried;
            return true;
        }
    }
    return false;
}

static double minimise(struct objective *objective, const struct logistic_options *options,
                       struct history *history, const struct vectors *vectors, double *parameters,
                       size_t *steps)
{
    size_t bytes = objective->size * sizeof *parameters;
    double loss = evaluate(objective, parameters, vectors->gradient);

    for (*steps = 0; *steps < options->most_steps; ++*steps) {
        double most = largest(vectors->gradient, objective->size), slope;

        if (most <= options->tolerance)
            break;
        lbfgs_direction(history, vectors->gradient, vectors->direction);
        slope = dot(vectors->gradient, vectors->direction, objective->size);
        if (!search_line(objective, parameters, slope, &loss, vectors,
                         history->count ? 1 : 1 / fmax(1, most)))
            break;
        remember(history, parameters, vectors->tried, vectors->gradient, vectors->tried_gradient);
        memcpy(parameters, vectors->tried, bytes);
        memcpy(vectors->gradient, vectors->tried_gradient, bytes);
    }
    return loss;
}

/* Mean and deviation of each feature. */
static void set_scale(const float *x, size_t count, struct logistic *model)
{
    for (size_t d = 0; d < model->features; d++) {
        double sum = 0, squares = 0;

        for (size_t i = 0; i < count; i++)
            sum += x[i * model->features + d];
        model->mean[d] = sum / (double)count;
        for (size_t i = 0; i < count; i++) {
            double from_mean = x[i * model->features + d] - model->mean[d];

            squares += from_mean * from_mean;
        }
        squares = sqrt(squares / (double)count);
        model->scale[d] = squares > 1e-7 * fabs(model->mean[d]) ? 1 / squares : 0;
    }
}

static struct error *fit(const float *x, struct objective *objective,
                         const struct logistic_options *options, struct logistic *model)
{
    size_t size = objective->size;
    double *memory = calloc(size, (2 * MEMORY + 4) * sizeof *memory);
    float *z = calloc(objective->count, objective->features * sizeof *z);
    struct error *error = NULL;

    objective->block_gradients =
        calloc(objective->blocks, (size + objective->classes) * sizeof(double));
    objective->block_losses = calloc(objective->blocks, sizeof(double));
    if (memory && z && objective->block_gradients && objective->block_losses) {
        struct history history = {.size = size, .steps = memory, .changes = memory + MEMORY * size};
        double *rest = memory + 2 * MEMORY * size;
        struct vectors vectors = {rest, rest + size, rest + 2 * size, rest + 3 * size};

        set_scale(x, objective->count, model);
        for (size_t i = 0; i < objective->count; i++)
            standardise(model, x + i * model->features, z + i * model->features);
        objective->z = z;
        model->loss =
            minimise(objective, options, &history, &vectors, model->weights, &model->steps);
    } else {
        error = error_memory("logistic regression");
    }
    free(memory);
    free(z);
    free(objective->block_gradients);
    free(objective->block_losses);
    return error;
}

struct error *logistic_fit(const float *x, const int32_t *labels, size_t count, size_t features,
                           size_t classes, const struct logistic_options *options,
                           struct logistic *model)
{
    struct objective objective = {.labels = labels,
                                  .count = count,
                                  .features = features,
                                  .classes = classes,
                                  .size = classes * (features + 1),
                                  .blocks = (count + BLOCK - 1) / BLOCK,
                                  .penalty = options->penalty};
    struct error *error;

    *model = (struct logistic){.features = features, .classes = classes};
    if (count == 0 || features == 0 || classes < 2)
        return error_make("logistic regression needs series, features and at least two classes");
    model->weights = calloc(objective.size, sizeof *model->weights);
    model->mean = calloc(features, sizeof *model->mean);
    model->scale = calloc(features, sizeof *model->scale);
    if (!model->weights || !model->mean || !model->scale)
        error = error_memory("logistic regression");
    else
        error = fit(x, &objective, options, model);
    if (error)
        logistic_free(model);
    return error;
}

struct prediction {
    const struct logistic *model;
    const float *x;
    size_t count;
    float *logits;
};

static void predict_block(void *context, size_t block, unsigned worker)
{
    const struct prediction *call = context;
    const struct logistic *model = call->model;
    size_t from = block * BLOCK, to = call->count - from < BLOCK ? call->count : from + BLOCK;
    const double *biases = model->weights + model->classes * model->features;

    (void)worker;
    for (size_t i = from; i < to; i++)
        for (size_t v = 0; v < model->classes; v++) {
            const double *weights = model->weights + v * model->features;
            double sum = biases[v];

            for (size_t d = 0; d < model->features; d++)
                sum += weights[d] * (call->x[i * model->features + d] - model->mean[d]) *
                       model->scale[d];
            call->logits[i * model->classes + v] = (float)sum;
        }
}

void logistic_predict(const struct logistic *model, const float *x, size_t count, float *logits)
{
    struct prediction call = {model, x, count, logits};

    parallel_for((count + BLOCK - 1) / BLOCK, predict_block, &call);
}

void logistic_free(struct logistic *model)
{
    free(model->weights);
    free(model->mean);
    free(model->scale);
    *model = (struct logistic){0};
}
