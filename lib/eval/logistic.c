/* The series are cut into blocks of fixed size.  One task standardises the features of a block and
 * makes its part of the gradient by two matrix products, logits Z W' and gradient E' Z; the parts
 * are added in block order, so that the sum does not depend on the threads. */
#include "eval/logistic.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/parallel.h"

enum { BLOCK = 512, MEMORY = 10 };

struct logistic_options logistic_defaults(void)
{
    return (struct logistic_options){.penalty = 1e-4, .most_steps = 500, .tolerance = 1e-5};
}

/* What is minimised. */
struct objective {
    const float *x; /* (N, D) */
    const int32_t *labels;
    size_t count;
    const struct logistic *model; /* for the scale of the features; D, V */
    size_t size;                  /* of the parameters: V (D + 1) */
    size_t blocks;
    double penalty;
    const double *parameters; /* at which it is evaluated */
    double *block_gradients;  /* (blocks, size) */
    double *block_losses;     /* (blocks,) */
    double *scratch;          /* for each worker: (BLOCK, D + V) */
};

static size_t block_count(size_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

/* Series of a block. */
static size_t block_rows(size_t count, size_t block)
{
    return count - block * BLOCK < BLOCK ? count - block * BLOCK : BLOCK;
}

static double *make_scratch(const struct logistic *model)
{
    return calloc(parallel_threads(), BLOCK * (model->features + model->classes) * sizeof(double));
}

/* z (rows, D) */
static void standardise(const struct logistic *model, const float *x, size_t rows, double *z)
{
    size_t features = model->features;

    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; d < features; d++)
            z[i * features + d] = (x[i * features + d] - model->mean[d]) * model->scale[d];
}

/* logits (rows, V) = z W' + b */
static void apply(const struct logistic *model, const double *parameters, const double *z,
                  size_t rows, double *logits)
{
    size_t features = model->features, classes = model->classes;

    for (size_t i = 0; i < rows; i++)
        memcpy(logits + i * classes, parameters + classes * features, classes * sizeof *logits);
    dense_multiply(&(struct dense_product){.m = rows,
                                           .n = classes,
                                           .k = features,
                                           .transpose_b = true,
                                           .stride_a = features,
                                           .stride_b = features,
                                           .stride_c = classes,
                                           .keep = 1},
                   z, parameters, logits);
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
    const struct logistic *model = objective->model;
    size_t features = model->features, classes = model->classes;
    size_t first = block * BLOCK, rows = block_rows(objective->count, block);
    double *z = objective->scratch + worker * BLOCK * (features + classes);
    double *logits = z + BLOCK * features; /* then errors */
    double *gradient = objective->block_gradients + block * objective->size;
    double *bias_gradient = gradient + classes * features, loss = 0;

    standardise(model, objective->x + first * features, rows, z);
    apply(model, objective->parameters, z, rows, logits);
    memset(bias_gradient, 0, classes * sizeof *bias_gradient);
    for (size_t i = 0; i < rows; i++) {
        size_t label = (size_t)objective->labels[first + i];
        double *own = logits + i * classes;

        loss += softmax(own, classes, label);
        own[label] -= 1;
        for (size_t v = 0; v < classes; v++)
            bias_gradient[v] += own[v];
    }
    dense_multiply(&(struct dense_product){.m = classes,
                                           .n = features,
                                           .k = rows,
                                           .transpose_a = true,
                                           .stride_a = classes,
                                           .stride_b = features,
                                           .stride_c = features},
                   logits, z, gradient);
    objective->block_losses[block] = loss;
}

static double evaluate(struct objective *objective, const double *parameters, double *gradient)
{
    size_t weights = objective->model->classes * objective->model->features;
    double loss = 0, count = (double)objective->count;

    objective->parameters = parameters;
    parallel_for(objective->blocks, evaluate_block, objective);
    memset(gradient, 0, objective->size * sizeof *gradient);
    for (size_t b = 0; b < objective->blocks; b++) {
        loss += objective->block_losses[b] / count;
        dense_add(objective->size, 1 / count, objective->block_gradients + b * objective->size,
                  gradient);
    }
    loss += objective->penalty / 2 * dense_dot(weights, parameters, parameters);
    dense_add(weights, objective->penalty, parameters, gradient);
    return loss;
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

        factors[h] = dense_dot(size, history->steps + h * size, direction) / history->products[h];
        dense_add(size, -factors[h], history->changes + h * size, direction);
    }
    if (history->count) {
        size_t h = (history->next + MEMORY - 1) % MEMORY;
        const double *change = history->changes + h * size;
        double scale = history->products[h] / dense_dot(size, change, change);

        for (size_t p = 0; p < size; p++)
            direction[p] *= scale;
    }
    for (size_t k = history->count; k-- > 0;) {
        size_t h = (history->next + MEMORY - 1 - k) % MEMORY;
        double factor =
            dense_dot(size, history->changes + h * size, direction) / history->products[h];

        dense_add(size, factors[h] - factor, history->steps + h * size, direction);
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
    history->products[history->next] = dense_dot(history->size, step, change);
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

        memcpy(vectors->tried, parameters, objective->size * sizeof *parameters);
        dense_add(objective->size, step, vectors->direction, vectors->tried);
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
        slope = dense_dot(objective->size, vectors->gradient, vectors->direction);
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
    size_t features = model->features;
    double *mean = model->mean, *scale = model->scale;

    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < features; d++)
            mean[d] += x[i * features + d];
    for (size_t d = 0; d < features; d++)
        mean[d] /= (double)count;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < features; d++) {
            double from_mean = x[i * features + d] - mean[d];

            scale[d] += from_mean * from_mean;
        }
    for (size_t d = 0; d < features; d++) {
        double deviation = sqrt(scale[d] / (double)count);

        scale[d] = deviation > 1e-7 * fabs(mean[d]) ? 1 / deviation : 0;
    }
}

static struct error *fit(struct objective *objective, const struct logistic_options *options,
                         struct logistic *model)
{
    size_t size = objective->size;
    double *memory = calloc(size, (2 * MEMORY + 4) * sizeof *memory);
    struct error *error = NULL;

    objective->scratch = make_scratch(model);
    objective->block_gradients = calloc(objective->blocks, size * sizeof(double));
    objective->block_losses = calloc(objective->blocks, sizeof(double));
    if (memory && objective->scratch && objective->block_gradients && objective->block_losses) {
        struct history history = {.size = size, .steps = memory, .changes = memory + MEMORY * size};
        double *rest = memory + 2 * MEMORY * size;
        struct vectors vectors = {rest, rest + size, rest + 2 * size, rest + 3 * size};

        set_scale(objective->x, objective->count, model);
        model->loss =
            minimise(objective, options, &history, &vectors, model->weights, &model->steps);
    } else {
        error = error_memory("logistic regression");
    }
    free(memory);
    free(objective->scratch);
    free(objective->block_gradients);
    free(objective->block_losses);
    return error;
}

struct error *logistic_fit(const float *x, const int32_t *labels, size_t count, size_t features,
                           size_t classes, const struct logistic_options *options,
                           struct logistic *model)
{
    struct objective objective = {.x = x,
                                  .labels = labels,
                                  .count = count,
                                  .model = model,
                                  .size = classes * (features + 1),
                                  .blocks = block_count(count),
                                  .penalty = options->penalty};
    struct error *error;

    *model = (struct logistic){.features = features, .classes = classes};
    if (count == 0 || features == 0 || classes < 2)
        return error_make("logistic regression needs series, features and at least two classes");
    TRY(dense_open(objective.size));
    model->weights = calloc(objective.size, sizeof *model->weights);
    model->mean = calloc(features, sizeof *model->mean);
    model->scale = calloc(features, sizeof *model->scale);
    if (!model->weights || !model->mean || !model->scale)
        error = error_memory("logistic regression");
    else
        error = fit(&objective, options, model);
    if (error)
        logistic_free(model);
    return error;
}

struct prediction {
    const struct logistic *model;
    const float *x;
    size_t count;
    double *scratch;
    float *logits;
};

static void predict_block(void *context, size_t block, unsigned worker)
{
    const struct prediction *call = context;
    const struct logistic *model = call->model;
    size_t features = model->features, classes = model->classes;
    size_t first = block * BLOCK, rows = block_rows(call->count, block);
    double *z = call->scratch + worker * BLOCK * (features + classes);
    double *logits = z + BLOCK * features;

    standardise(model, call->x + first * features, rows, z);
    apply(model, model->weights, z, rows, logits);
    for (size_t i = 0; i < rows * classes; i++)
        call->logits[first * classes + i] = (float)logits[i];
}

struct error *logistic_predict(const struct logistic *model, const float *x, size_t count,
                               float *logits)
{
    struct prediction call = {model, x, count, make_scratch(model), logits};

    if (!call.scratch)
        return error_memory("predictions");
    parallel_for(block_count(count), predict_block, &call);
    free(call.scratch);
    return NULL;
}

void logistic_free(struct logistic *model)
{
    free(model->weights);
    free(model->mean);
    free(model->scale);
    *model = (struct logistic){0};
}
