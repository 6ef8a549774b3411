#include "match/trajectory.h"

#include <stdlib.h>
#include <string.h>

struct trajectory {
    const struct model *model;
    struct trajectory_options options;
    size_t all;                         /* rows: series times views */
    size_t batch;                       /* rows of a step */
    size_t row;                         /* floats of one: C * L */
    const struct spectral_views *views; /* of this call, or NULL */
    const size_t *picks;                /* of this call: (N, options.batch), or NULL */
    const int32_t *labels;              /* of this call: (series,) */
    const float *targets;               /* of this call: (series, V), or NULL */

    struct model_run **runs;   /* (N,) */
    struct model_run *ends[2]; /* for embeddings at t_N and e */
    float *points;             /* (N + 1, parameters): t_0 .. t_N */
    float *gradients;          /* (N, parameters): of the loss at t_0 .. t_N-1 */
    float *v, *product;        /* (parameters) */
    float *buffers;            /* statistics that are not used */
    float *x, *dx;             /* (all, C, L) */
    float *embeddings[2];      /* (options.batch, embedding), and their gradients */
    /* What a step sees: */
    float *step_x, *step_dx;             /* (batch, C, L) */
    float *step_targets, *step_dtargets; /* (batch, V) */
    int32_t *step_labels;                /* (batch,) */
    float *no_logits;                    /* (batch, V) zeros */
};

static bool uses_targets(const struct trajectory *t)
{
    return t->options.loss.kind != LOSS_LABELS;
}

/* ---- Memory ---- */

static struct error *make_embeddings(struct trajectory *t)
{
    size_t values = t->options.batch * t->model->embedding;

    for (size_t i = 0; i < 2 && t->options.embedding_weight > 0; i++) {
        t->embeddings[i] = calloc(values, sizeof *t->embeddings[i]);
        if (!t->embeddings[i])
            return error_memory("embeddings");
        TRY(model_run_new(t->model, t->options.batch, PASS_BACKWARD, &t->ends[i]));
    }
    return NULL;
}

static struct error *make_arrays(struct trajectory *t)
{
    size_t parameters = t->model->parameter_count, steps = t->options.steps;
    size_t logits = t->batch * t->model->architecture.classes;

    t->runs = calloc(steps, sizeof *t->runs);
    t->points = calloc((steps + 1) * parameters, sizeof *t->points);
    t->gradients = calloc(steps * parameters, sizeof *t->gradients);
    t->v = calloc(parameters, sizeof *t->v);
    t->product = calloc(parameters, sizeof *t->product);
    t->buffers = calloc(t->model->buffer_count + 1, sizeof *t->buffers);
    t->x = calloc(t->all, t->row * sizeof *t->x);
    t->dx = calloc(t->all, t->row * sizeof *t->dx);
    t->step_x = calloc(t->batch, t->row * sizeof *t->step_x);
    t->step_dx = calloc(t->batch, t->row * sizeof *t->step_dx);
    t->step_targets = calloc(logits, sizeof *t->step_targets);
    t->step_dtargets = calloc(logits, sizeof *t->step_dtargets);
    t->step_labels = calloc(t->batch, sizeof *t->step_labels);
    t->no_logits = calloc(logits, sizeof *t->no_logits);
    if (!t->runs || !t->points || !t->gradients || !t->v || !t->product || !t->buffers || !t->x ||
        !t->dx || !t->step_x || !t->step_dx || !t->step_targets || !t->step_dtargets ||
        !t->step_labels || !t->no_logits)
        return error_memory("a trajectory");
    return NULL;
}

static struct error *make(struct trajectory *t)
{
    TRY(make_arrays(t));
    TRY(make_embeddings(t));
    for (size_t i = 0; i < t->options.steps; i++)
        TRY(model_run_new(t->model, t->batch, PASS_BACKWARD | PASS_TANGENT, &t->runs[i]));
    return NULL;
}

struct error *trajectory_new(const struct model *model, const struct trajectory_options *options,
                             struct trajectory **result)
{
    struct trajectory *t = calloc(1, sizeof *t);
    struct error *error;

    if (!t)
        return error_memory("a trajectory");
    t->model = model;
    t->options = *options;
    t->all = options->series * (options->views ? SPECTRAL_VIEWS : 1);
    t->batch = options->batch * (options->views ? SPECTRAL_VIEWS : 1);
    t->row = architecture_series_size(&model->architecture);
    error = make(t);
    if (error) {
        trajectory_free(t);
        return error;
    }
    *result = t;
    return NULL;
}

void trajectory_free(struct trajectory *trajectory)
{
    struct trajectory *t = trajectory;

    if (!t)
        return;
    for (size_t i = 0; t->runs && i < t->options.steps; i++)
        model_run_free(t->runs[i]);
    for (size_t i = 0; i < 2; i++) {
        model_run_free(t->ends[i]);
        free(t->embeddings[i]);
    }
    free(t->runs);
    free(t->points);
    free(t->gradients);
    free(t->v);
    free(t->product);
    free(t->buffers);
    free(t->x);
    free(t->dx);
    free(t->step_x);
    free(t->step_dx);
    free(t->step_targets);
    free(t->step_dtargets);
    free(t->step_labels);
    free(t->no_logits);
    free(t);
}

/* ---- Forward: the steps of the student ---- */

/* The condensed series of a row of a step. */
static size_t pick_of(const struct trajectory *t, size_t step, size_t row)
{
    size_t at = row % t->options.batch;

    return t->picks ? t->picks[step * t->options.batch + at] : at;
}

/* Its row among all views of all series. */
static size_t row_of(const struct trajectory *t, size_t step, size_t row)
{
    return row / t->options.batch * t->options.series + pick_of(t, step, row);
}

/* The targets of the rows of a step. */
static struct targets gather_targets(struct trajectory *t, size_t step)
{
    size_t classes = t->model->architecture.classes;

    for (size_t n = 0; n < t->batch; n++) {
        size_t pick = pick_of(t, step, n);

        t->step_labels[n] = t->labels[pick];
        if (uses_targets(t))
            memcpy(t->step_targets + n * classes, t->targets + pick * classes,
                   classes * sizeof *t->step_targets);
    }
    return (struct targets){t->step_labels, t->step_targets};
}

/* The first `count` rows of a step, for a model at a point. */
static struct model_batch gather_batch(struct trajectory *t, size_t step, size_t count,
                                       const float *parameters)
{
    for (size_t n = 0; n < count; n++)
        memcpy(t->step_x + n * t->row, t->x + row_of(t, step, n) * t->row,
               t->row * sizeof *t->step_x);
    return (struct model_batch){.count = count,
                                .x = t->step_x,
                                .parameters = parameters,
                                .buffers = t->buffers,
                                .training = true};
}

static void add_scaled(size_t count, double factor, const float *from, float *to)
{
    float f = (float)factor;

    for (size_t i = 0; i < count; i++)
        to[i] += f * from[i];
}

static void take_steps(struct trajectory *t, const float *start, double rate)
{
    size_t parameters = t->model->parameter_count;

    memcpy(t->points, start, parameters * sizeof *start);
    for (size_t i = 0; i < t->options.steps; i++) {
        float *point = t->points + i * parameters, *gradient = t->gradients + i * parameters;
        struct model_batch batch = gather_batch(t, i, t->batch, point);
        struct targets targets = gather_targets(t, i);

        model_loss(t->runs[i], &batch, &t->options.loss, &targets, gradient, NULL);
        memcpy(point + parameters, point, parameters * sizeof *point);
        add_scaled(parameters, -rate, gradient, point + parameters);
    }
}

/* ---- Loss ---- */

/* |t_N - e|^2 / |s - e|^2; its gradient with respect to t_N goes to v. */
static double distance_left(struct trajectory *t, const float *start, const float *end)
{
    size_t parameters = t->model->parameter_count;
    const float *last = t->points + t->options.steps * parameters;
    double left = 0, way = 0;

    for (size_t i = 0; i < parameters; i++) {
        double a = (double)last[i] - end[i], b = (double)start[i] - end[i];

        left += a * a;
        way += b * b;
    }
    way = way > 0 ? way : 1;
    for (size_t i = 0; i < parameters; i++)
        t->v[i] = (float)(2 * ((double)last[i] - end[i]) / way);
    return left / way;
}

/* Adds factor times the gradients of the first rows of a step to those of all. */
static void scatter(struct trajectory *t, size_t step, size_t count, double factor)
{
    for (size_t n = 0; n < count; n++)
        add_scaled(t->row, factor, t->step_dx + n * t->row, t->dx + row_of(t, step, n) * t->row);
}

/* The distance between the embeddings of the series of the first step, as they are, at t_N and at
 * e.  Its gradients are added to v and dx. */
static double embedding_distance(struct trajectory *t, const float *end)
{
    size_t series = t->options.batch, values = series * t->model->embedding;
    size_t parameters = t->model->parameter_count;
    const float *const places[2] = {t->points + t->options.steps * parameters, end};
    double sum = 0, factor = t->options.embedding_weight / (double)values;

    for (size_t i = 0; i < 2; i++) {
        struct model_batch batch = gather_batch(t, 0, series, places[i]);

        model_forward(t->ends[i], &batch);
        model_embedding(t->ends[i], t->embeddings[i]);
    }
    for (size_t i = 0; i < values; i++) {
        double difference = (double)t->embeddings[0][i] - t->embeddings[1][i];

        sum += difference * difference;
        t->embeddings[0][i] = (float)(2 * factor * difference);
        t->embeddings[1][i] = -t->embeddings[0][i];
    }
    model_backward(t->ends[0], t->no_logits, t->embeddings[0], t->product, t->step_dx);
    scatter(t, 0, series, 1);
    add_scaled(parameters, 1, t->product, t->v);
    model_backward(t->ends[1], t->no_logits, t->embeddings[1], NULL, t->step_dx);
    scatter(t, 0, series, 1);
    return factor * sum;
}

/* ---- Backward: the adjoint of the steps ---- */

static double dot(size_t count, const float *a, const float *b)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* Takes v from t_N to t_0; adds the gradients of rows and soft labels.  Returns that of the step
 * size. */
static double go_back(struct trajectory *t, double rate, float *dtargets)
{
    size_t parameters = t->model->parameter_count, classes = t->model->architecture.classes;
    bool soft = uses_targets(t);
    double drate = 0;

    for (size_t i = t->options.steps; i-- > 0;) {
        struct targets targets = gather_targets(t, i);

        drate -= dot(parameters, t->v, t->gradients + i * parameters);
        model_second(t->runs[i], &t->options.loss, &targets, t->v, i ? t->product : NULL,
                     t->step_dx, soft ? t->step_dtargets : NULL);
        scatter(t, i, t->batch, -rate);
        for (size_t n = 0; soft && n < t->batch; n++)
            add_scaled(classes, -rate, t->step_dtargets + n * classes,
                       dtargets + pick_of(t, i, n) * classes);
        if (i)
            add_scaled(parameters, -rate, t->product, t->v);
    }
    return drate;
}

double trajectory_loss(struct trajectory *trajectory, const struct trajectory_task *task,
                       const struct condensed *condensed, struct condensed *gradient)
{
    struct trajectory *t = trajectory;
    size_t classes = t->model->architecture.classes;
    double loss;

    t->views = task->views;
    t->picks = task->picks;
    t->labels = task->labels;
    t->targets = condensed->targets;
    if (t->views)
        spectral_views_apply(t->views, condensed->x, t->x);
    else
        memcpy(t->x, condensed->x, t->all * t->row * sizeof *t->x);
    memset(t->dx, 0, t->all * t->row * sizeof *t->dx);
    if (uses_targets(t))
        memset(gradient->targets, 0, t->options.series * classes * sizeof *gradient->targets);
    take_steps(t, task->start, condensed->rate);
    loss = distance_left(t, task->start, task->end);
    if (t->options.embedding_weight > 0)
        loss += embedding_distance(t, task->end);
    gradient->rate = go_back(t, condensed->rate, gradient->targets);
    if (t->views)
        spectral_views_adjoint(t->views, t->dx, gradient->x);
    else
        memcpy(gradient->x, t->dx, t->all * t->row * sizeof *t->dx);
    return loss;
}
