#include "match/trajectory.h"

#include <stdlib.h>
#include <string.h>

struct trajectory {
    const struct model *model;
    struct trajectory_options options;
    size_t batch;                              /* series times views */
    size_t floats;                             /* of the batch */
    const struct views *views;                 /* of this call, or NULL */
    struct model_run **runs;                   /* (N,) */
    struct model_run *ends[2];                 /* for embeddings at t_N and e */
    float *points;                             /* (N + 1, parameters): t_0 .. t_N */
    float *gradients;                          /* (N, parameters): of the loss at t_0 .. t_N-1 */
    float *v, *product;                        /* (parameters) */
    float *buffers;                            /* statistics that nobody asks for */
    float *x, *dx, *step_dx;                   /* (batch, C, L) */
    float *targets, *dtargets, *step_dtargets; /* (batch, V) */
    int32_t *labels;                           /* (batch,) */
    float *no_logits;                          /* (batch, V) zeros */
    float *embeddings[2];                      /* (series, embedding), and their gradients */
    float *direct; /* (series, C, L): gradient of the series that is not by the steps */
};

/* Of the condensed series. */
static size_t series_floats(const struct trajectory *t)
{
    return t->floats / t->batch * t->options.series;
}

static bool uses_targets(const struct trajectory *t)
{
    return t->options.loss.kind != LOSS_LABELS;
}

/* ---- Memory ---- */

static struct error *make_embeddings(struct trajectory *t)
{
    size_t values = t->options.series * t->model->embedding;

    if (t->options.embedding_weight == 0)
        return NULL;
    t->direct = calloc(series_floats(t), sizeof *t->direct);
    if (!t->direct)
        return error_memory("embeddings");
    for (size_t i = 0; i < 2; i++) {
        t->embeddings[i] = calloc(values, sizeof *t->embeddings[i]);
        if (!t->embeddings[i])
            return error_memory("embeddings");
        TRY(model_run_new(t->model, t->options.series, PASS_BACKWARD, &t->ends[i]));
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
    t->x = calloc(t->floats, sizeof *t->x);
    t->dx = calloc(t->floats, sizeof *t->dx);
    t->step_dx = calloc(t->floats, sizeof *t->step_dx);
    t->targets = calloc(logits, sizeof *t->targets);
    t->dtargets = calloc(logits, sizeof *t->dtargets);
    t->step_dtargets = calloc(logits, sizeof *t->step_dtargets);
    t->labels = calloc(t->batch, sizeof *t->labels);
    t->no_logits = calloc(logits, sizeof *t->no_logits);
    if (!t->runs || !t->points || !t->gradients || !t->v || !t->product || !t->buffers || !t->x ||
        !t->dx || !t->step_dx || !t->targets || !t->dtargets || !t->step_dtargets || !t->labels ||
        !t->no_logits)
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
    t->batch = options->series * (options->views ? VIEWS : 1);
    t->floats = t->batch * model->architecture.channels * model->architecture.length;
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
    free(t->step_dx);
    free(t->targets);
    free(t->dtargets);
    free(t->step_dtargets);
    free(t->labels);
    free(t->no_logits);
    free(t->direct);
    free(t);
}

/* ---- There ---- */

/* The batch: all views of all series, view after view, with what each is to be learned as. */
static void prepare_batch(struct trajectory *t, const struct condensed *condensed,
                          const int32_t *labels)
{
    size_t series = t->options.series, classes = t->model->architecture.classes;

    if (t->views)
        views_apply(t->views, condensed->x, t->x);
    else
        memcpy(t->x, condensed->x, t->floats * sizeof *t->x);
    for (size_t first = 0; first < t->batch; first += series) {
        memcpy(t->labels + first, labels, series * sizeof *labels);
        if (uses_targets(t))
            memcpy(t->targets + first * classes, condensed->targets,
                   series * classes * sizeof *t->targets);
    }
}

static struct model_batch batch_at(const struct trajectory *t, const float *parameters)
{
    return (struct model_batch){.count = t->batch,
                                .x = t->x,
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
    struct targets targets = {t->labels, t->targets};

    memcpy(t->points, start, parameters * sizeof *start);
    for (size_t i = 0; i < t->options.steps; i++) {
        float *point = t->points + i * parameters, *gradient = t->gradients + i * parameters;
        struct model_batch batch = batch_at(t, point);

        model_loss(t->runs[i], &batch, &t->options.loss, &targets, gradient, NULL);
        memcpy(point + parameters, point, parameters * sizeof *point);
        add_scaled(parameters, -rate, gradient, point + parameters);
    }
}

/* ---- What it came to ---- */

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

/* Runs the series, as they are, through the model at t_N (0) or e (1). */
static void embed(struct trajectory *t, size_t which, const float *point, const float *x)
{
    struct model_batch batch = batch_at(t, point);

    batch.count = t->options.series;
    batch.x = x;
    model_forward(t->ends[which], &batch);
    model_embedding(t->ends[which], t->embeddings[which]);
}

/* The distance between the embeddings at t_N and at e.  Its gradient with respect to t_N is added
 * to v, that with respect to the series is written to `direct`. */
static double embeddings_apart(struct trajectory *t, const float *x, const float *end)
{
    size_t values = t->options.series * t->model->embedding;
    size_t parameters = t->model->parameter_count;
    double sum = 0, factor = t->options.embedding_weight / (double)values;

    embed(t, 0, t->points + t->options.steps * parameters, x);
    embed(t, 1, end, x);
    for (size_t i = 0; i < values; i++) {
        double apart = (double)t->embeddings[0][i] - t->embeddings[1][i];

        sum += apart * apart;
        t->embeddings[0][i] = (float)(2 * factor * apart);
        t->embeddings[1][i] = -t->embeddings[0][i];
    }
    model_backward(t->ends[0], t->no_logits, t->embeddings[0], t->product, t->direct);
    add_scaled(parameters, 1, t->product, t->v);
    model_backward(t->ends[1], t->no_logits, t->embeddings[1], NULL, t->step_dx);
    add_scaled(series_floats(t), 1, t->step_dx, t->direct);
    return factor * sum;
}

/* ---- And back ---- */

static double dot(size_t count, const float *a, const float *b)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* Takes v from t_N to t_0; the gradients of the batch add up in dx and dtargets.  Returns that of
 * the step size. */
static double go_back(struct trajectory *t, double rate)
{
    size_t parameters = t->model->parameter_count;
    size_t logits = t->batch * t->model->architecture.classes;
    struct targets targets = {t->labels, t->targets};
    bool soft = uses_targets(t);
    double drate = 0;

    memset(t->dx, 0, t->floats * sizeof *t->dx);
    memset(t->dtargets, 0, logits * sizeof *t->dtargets);
    for (size_t i = t->options.steps; i-- > 0;) {
        drate -= dot(parameters, t->v, t->gradients + i * parameters);
        model_second(t->runs[i], &t->options.loss, &targets, t->v, i ? t->product : NULL,
                     t->step_dx, soft ? t->step_dtargets : NULL);
        add_scaled(t->floats, -rate, t->step_dx, t->dx);
        if (soft)
            add_scaled(logits, -rate, t->step_dtargets, t->dtargets);
        if (i)
            add_scaled(parameters, -rate, t->product, t->v);
    }
    return drate;
}

/* From the batch to the condensed series. */
static void gather_gradients(struct trajectory *t, struct condensed *gradient)
{
    size_t series = t->options.series * t->model->architecture.classes;

    if (t->views)
        views_adjoint(t->views, t->dx, gradient->x);
    else
        memcpy(gradient->x, t->dx, t->floats * sizeof *t->dx);
    if (!uses_targets(t))
        return;
    memset(gradient->targets, 0, series * sizeof *gradient->targets);
    for (size_t view = 0; view < t->batch / t->options.series; view++)
        add_scaled(series, 1, t->dtargets + view * series, gradient->targets);
}

double trajectory_loss(struct trajectory *trajectory, const float *start, const float *end,
                       const struct condensed *condensed, const int32_t *labels,
                       const struct views *views, struct condensed *gradient)
{
    struct trajectory *t = trajectory;
    double loss;

    t->views = views;
    prepare_batch(t, condensed, labels);
    take_steps(t, start, condensed->rate);
    loss = distance_left(t, start, end);
    if (t->options.embedding_weight > 0)
        loss += embeddings_apart(t, condensed->x, end);
    gradient->rate = go_back(t, condensed->rate);
    gather_gradients(t, gradient);
    if (t->options.embedding_weight > 0)
        add_scaled(series_floats(t), 1, t->direct, gradient->x);
    return loss;
}
