/* All series are kept round after round, (per_class, V, C, L), so that a batch is one piece: a
 * round of V, or everything.  Each worker has a slot with the memory that one batch needs, on the
 * device where the teacher is.
 *
 * A step is one piece of work for the device that is the same every time (struct repeated): which
 * step it is, the rates and the lowest loss so far are in its memory.  The losses are looked at
 * when as many steps have been queued as the device allows; on the processor that is after each. */
#include "condense/synthesise.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/size.h"
#include "nn/backend_memory.h"
#include "nn/optimiser.h"

struct synthesis_options synthesis_defaults(void)
{
    return (struct synthesis_options){.per_class = 10,
                                      .start = START_RIDGE,
                                      .steps = 2000,
                                      .rate = 0.05,
                                      .objective = objective_defaults()};
}

static size_t batch_count(const struct synthesis_options *options)
{
    return options->by_round ? options->per_class : 1;
}

size_t synthesis_steps(const struct synthesis_options *options)
{
    return batch_count(options) * (options->steps + 1);
}

/* What one batch needs while it is worked on, memory of the backend. */
struct workspace {
    struct optimiser adam;
    float *x, *best_x, *dx;      /* (batch, C, L) */
    float *logits, *best_logits; /* (batch, V) */
    double *value;               /* (2): of this step, see objective_queue */
    double *history;             /* (queue, 2): of those that were queued */
    double *best;                /* (1): lowest loss */
    size_t *step;                /* (1): number among those */
    double *seen;                /* (queue, 2): the history, host memory */
};

/* The result of a batch. */
struct batch_result {
    struct error *error;
    struct objective_value first, best;
    size_t best_step;
};

struct synthesis {
    const struct synthesis_options *options;
    const struct backend *backend;
    struct objective objective;
    size_t classes, series; /* V; floats of a series */
    size_t batches, batch;  /* how many, of how many series */
    bool side_by_side;      /* one thread for each batch */
    size_t slots;           /* batches worked on at the same time */
    int32_t *labels;        /* (batch,): 0..V-1 again and again */
    const void *device_labels;
    float *x;                 /* (per_class, V, C, L) */
    float *logits;            /* (per_class, V, V), of the best */
    struct workspace *spaces; /* (slots,) */
    struct batch_result *results;
    atomic_size_t done; /* steps */
};

/* ---- Memory ---- */

static struct error *make_workspace(const struct synthesis *synthesis, struct workspace *space)
{
    const struct backend *backend = synthesis->backend;
    struct optimiser_options adam = optimiser_defaults(OPTIMISER_ADAM);
    size_t floats = synthesis->batch * synthesis->series, queue = backend->queue;
    size_t logits = synthesis->batch * synthesis->classes;

    adam.beta1 = 0.5;
    adam.beta2 = 0.9;
    TRY(optimiser_new(&adam, backend, floats, &space->adam));
    TRY(optimiser_reserve(&space->adam, queue));
    space->x = backend->allocate(floats * sizeof *space->x);
    space->best_x = backend->allocate(floats * sizeof *space->best_x);
    space->dx = backend->allocate(floats * sizeof *space->dx);
    space->logits = backend->allocate(logits * sizeof *space->logits);
    space->best_logits = backend->allocate(logits * sizeof *space->best_logits);
    space->value = backend->allocate(2 * sizeof *space->value);
    space->history = backend->allocate(2 * queue * sizeof *space->history);
    space->best = backend->allocate(sizeof *space->best);
    space->step = backend->allocate(sizeof *space->step);
    space->seen = calloc(queue, 2 * sizeof *space->seen);
    if (!space->x || !space->best_x || !space->dx || !space->logits || !space->best_logits ||
        !space->value || !space->history || !space->best || !space->step || !space->seen)
        return error_memory("a batch");
    return NULL;
}

static void free_workspace(const struct backend *backend, struct workspace *space)
{
    void *const memory[] = {space->x,       space->best_x,      space->dx,
                            space->logits,  space->best_logits, space->value,
                            space->history, space->best,        space->step};

    optimiser_free(&space->adam);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        backend->release(memory[i]);
    free(space->seen);
}

static void synthesis_free(struct synthesis *synthesis)
{
    for (size_t i = 0; synthesis->spaces && i < synthesis->slots; i++)
        free_workspace(synthesis->backend, &synthesis->spaces[i]);
    for (size_t i = 0; synthesis->results && i < synthesis->batches; i++)
        error_free(synthesis->results[i].error);
    objective_free(&synthesis->objective);
    backend_view_free(synthesis->backend, synthesis->labels, synthesis->device_labels);
    free(synthesis->labels);
    free(synthesis->x);
    free(synthesis->logits);
    free(synthesis->spaces);
    free(synthesis->results);
}

/* Steps of series in a batch up to which several threads are no faster than one: the work is over
 * before they have found it. */
enum { SMALL_BATCH = 1024 };

/* How the series are cut into batches, and how the threads go about them. */
static void lay_out(const struct guide *guide, struct synthesis *synthesis)
{
    size_t per_class = synthesis->options->per_class;

    synthesis->batches = batch_count(synthesis->options);
    synthesis->batch = per_class / synthesis->batches * synthesis->classes;
    /* With fewer batches than threads it is better to split up each of them, if there is something
     * to split. */
    synthesis->side_by_side =
        guide->side_by_side && (synthesis->batches >= parallel_threads() ||
                                synthesis->batch * guide->length <= SMALL_BATCH);
    synthesis->slots = synthesis->side_by_side && synthesis->batches > 1 ? parallel_threads() : 1;
}

static struct error *synthesis_make(const struct guide *guide, const struct transform *transform,
                                    struct synthesis *synthesis)
{
    size_t all = synthesis->options->per_class * synthesis->classes;

    lay_out(guide, synthesis);
    TRY(objective_make(&synthesis->options->objective, guide, transform, synthesis->slots,
                       synthesis->batch, &synthesis->objective));
    synthesis->labels = calloc(synthesis->batch, sizeof *synthesis->labels);
    synthesis->x = calloc(all, synthesis->series * sizeof *synthesis->x);
    synthesis->logits = calloc(all, synthesis->classes * sizeof *synthesis->logits);
    synthesis->spaces = calloc(synthesis->slots, sizeof *synthesis->spaces);
    synthesis->results = calloc(synthesis->batches, sizeof *synthesis->results);
    if (!synthesis->labels || !synthesis->x || !synthesis->logits || !synthesis->spaces ||
        !synthesis->results)
        return error_memory("the condensed series");
    for (size_t i = 0; i < synthesis->batch; i++)
        synthesis->labels[i] = (int32_t)(i % synthesis->classes);
    TRY(backend_view(synthesis->backend, synthesis->labels,
                     synthesis->batch * sizeof *synthesis->labels, &synthesis->device_labels));
    for (size_t i = 0; i < synthesis->slots; i++)
        TRY(make_workspace(synthesis, &synthesis->spaces[i]));
    return NULL;
}

/* ---- One batch ---- */

static struct error *diverged(const struct synthesis *synthesis, size_t batch, size_t step)
{
    char where[64] = "";

    if (synthesis->batches > 1)
        snprintf(where, sizeof where, "round %zu, ", batch + 1);
    if (step == 0)
        return error_make("%sthe loss of the first series is not a number: are the series of the "
                          "scale that the teacher was trained on?",
                          where);
    return error_make("%sstep %zu: the loss is no longer a number; a smaller learning rate than %g "
                      "may help",
                      where, step, synthesis->options->rate);
}

static void report(struct synthesis *synthesis, double loss)
{
    const struct synthesis_options *options = synthesis->options;
    size_t done = atomic_fetch_add(&synthesis->done, 1) + 1;

    if (options->progress)
        options->progress(options->context, done, synthesis_steps(options), loss);
}

/* One batch in one slot, for the body of a step. */
struct batch_run {
    struct synthesis *synthesis;
    size_t slot;
    struct error *error; /* of the teacher; the rest of the step is left out */
};

/* The loss of the series as they are, and its gradient. */
static void judge(struct batch_run *run)
{
    struct synthesis *synthesis = run->synthesis;
    struct workspace *space = &synthesis->spaces[run->slot];

    run->error = objective_queue(&synthesis->objective, run->slot, synthesis->batch, space->x,
                                 synthesis->device_labels, space->logits, space->dx, space->value);
    if (run->error)
        return;
    synthesis->backend->keep_best(
        &(struct best_step){.step = space->step,
                            .value = space->value,
                            .history = space->history,
                            .best = space->best,
                            .floats = synthesis->batch * synthesis->series,
                            .logits = synthesis->batch * synthesis->classes,
                            .x = space->x,
                            .best_x = space->best_x,
                            .x_logits = space->logits,
                            .best_logits = space->best_logits});
}

/* Updates the series. */
static void judge_and_move(void *context)
{
    struct batch_run *run = context;
    struct workspace *space = &run->synthesis->spaces[run->slot];

    judge(run);
    if (run->error)
        return;
    optimiser_follow(&space->adam, space->step, space->dx, space->x);
    run->synthesis->backend->increment(space->step);
}

/* Looks at the values of steps first..end-1, which were queued. */
static struct error *look_back(struct synthesis *synthesis, size_t batch,
                               const struct workspace *space, size_t first, size_t end)
{
    struct batch_result *result = &synthesis->results[batch];

    TRY(backend_fetch(synthesis->backend, space->seen, space->history,
                      2 * (end - first) * sizeof *space->seen));
    for (size_t step = first; step < end; step++) {
        struct objective_value value = objective_value(space->seen + 2 * (step - first));

        if (!isfinite(value.loss))
            return diverged(synthesis, batch, step);
        if (step == 0)
            result->first = value;
        if (step == 0 || value.loss < result->best.loss) {
            result->best = value;
            result->best_step = step;
        }
        report(synthesis, value.loss);
    }
    return NULL;
}

/* Tells the device about steps first..end-1. */
static void plan_steps(const struct synthesis *synthesis, struct workspace *space, size_t first,
                       size_t end)
{
    const struct synthesis_options *options = synthesis->options;

    for (size_t step = first; step < end; step++)
        optimiser_plan(&space->adam, step - first,
                       cosine_rate(options->rate, step, options->steps));
    optimiser_plan_end(&space->adam, end - first);
    synthesis->backend->zero(space->step, sizeof *space->step);
}

/* Step 0 begins with the loss of the start; the last one only computes the loss of the result. */
static struct error *take_steps(struct synthesis *synthesis, size_t batch, struct batch_run *run,
                                struct repeated *step_again)
{
    const struct backend *backend = synthesis->backend;
    struct workspace *space = &synthesis->spaces[run->slot];
    size_t steps = synthesis->options->steps;

    for (size_t first = 0, end; first < steps; first = end) {
        end = first + size_min(backend->queue, steps - first);
        plan_steps(synthesis, space, first, end);
        for (size_t step = first; step < end && !run->error; step++)
            backend->repeat(step_again);
        TRY(run->error);
        TRY(look_back(synthesis, batch, space, first, end));
    }
    backend->zero(space->step, sizeof *space->step);
    judge(run);
    TRY(run->error);
    return look_back(synthesis, batch, space, steps, steps + 1);
}

static struct error *optimise_batch(struct synthesis *synthesis, size_t batch, size_t slot)
{
    static const double nothing = INFINITY;
    const struct backend *backend = synthesis->backend;
    struct workspace *space = &synthesis->spaces[slot];
    size_t floats = synthesis->batch * synthesis->series;
    size_t logits = synthesis->batch * synthesis->classes;
    float *x = synthesis->x + batch * floats;
    struct batch_run run = {synthesis, slot, NULL};
    struct repeated step_again = {judge_and_move, &run, NULL};
    struct error *error;

    optimiser_reset(&space->adam);
    backend->upload(space->best, &nothing, sizeof nothing);
    backend->upload(space->x, x, floats * sizeof *x);
    error = take_steps(synthesis, batch, &run, &step_again);
    backend->repeat_end(&step_again);
    TRY(error);
    backend->download(x, space->best_x, floats * sizeof *x);
    return backend_fetch(backend, synthesis->logits + batch * logits, space->best_logits,
                         logits * sizeof *synthesis->logits);
}

static void optimise_task(void *context, size_t batch, unsigned worker)
{
    struct synthesis *synthesis = context;

    synthesis->results[batch].error = optimise_batch(synthesis, batch, worker);
}

/* The first error in the order of the batches. */
static struct error *optimise_all(struct synthesis *synthesis)
{
    if (synthesis->side_by_side)
        parallel_for(synthesis->batches, optimise_task, synthesis);
    for (size_t i = 0; i < synthesis->batches; i++) {
        struct error *error;

        if (!synthesis->side_by_side)
            optimise_task(synthesis, i, 0);
        error = synthesis->results[i].error;
        synthesis->results[i].error = NULL;
        if (error)
            return error;
    }
    return NULL;
}

/* ---- The start ---- */

/* The teacher's features and logits for any number of series, a batch at a time in the first slot.
 * Backward is called as well: for one slot the calls alternate (guide.h). */
static struct error *answer(void *context, size_t count, const float *x, float *features,
                            float *logits)
{
    struct synthesis *synthesis = context;
    const struct backend *backend = synthesis->backend;
    const struct objective *objective = &synthesis->objective;
    struct workspace *space = &synthesis->spaces[0];
    size_t series = synthesis->series, classes = synthesis->classes;
    size_t columns = objective->guide->features;

    for (size_t first = 0; first < count; first += synthesis->batch) {
        size_t some = size_min(synthesis->batch, count - first);

        backend->upload(space->x, x + first * series, some * series * sizeof *x);
        TRY(objective_queue(objective, 0, some, space->x, synthesis->device_labels, space->logits,
                            space->dx, space->value));
        TRY(backend_fetch(backend, logits + first * classes, space->logits,
                          some * classes * sizeof *logits));
        TRY(backend_fetch(backend, features + first * columns, objective->features,
                          some * columns * sizeof *features));
    }
    return NULL;
}

static struct error *start(struct synthesis *synthesis, const struct dataset *dataset,
                           size_t *repeated)
{
    const struct synthesis_options *options = synthesis->options;
    struct start_teacher teacher = {
        .features = synthesis->objective.guide->features, .answer = answer, .context = synthesis};

    struct start_options first = {
        .kind = options->start, .per_class = options->per_class, .seed = options->seed};

    if (options->start == START_RIDGE && teacher.features)
        return start_ridge(dataset, &teacher, &first, synthesis->x, repeated);
    return start_series(dataset, &first, synthesis->x, repeated);
}

/* ---- Synthesis ---- */

static void add_value(struct objective_value *sum, const struct objective_value *value,
                      double weight)
{
    sum->loss += weight * value->loss;
    sum->cross_entropy += weight * value->cross_entropy;
    sum->distance += weight * value->distance;
}

static void sum_up(const struct synthesis *synthesis, struct synthesis_result *result)
{
    double weight = 1.0 / (double)synthesis->batches;

    for (size_t i = 0; i < synthesis->batches; i++) {
        add_value(&result->first, &synthesis->results[i].first, weight);
        add_value(&result->best, &synthesis->results[i].best, weight);
        result->best_step += weight * (double)synthesis->results[i].best_step;
    }
}

/* Class by class. */
static void gather(const struct synthesis *synthesis, struct dataset *condensed)
{
    size_t classes = synthesis->classes, per_class = synthesis->options->per_class;

    for (size_t label = 0; label < classes; label++)
        for (size_t round = 0; round < per_class; round++) {
            size_t from = round * classes + label, to = label * per_class + round;

            memcpy(condensed->x + to * synthesis->series, synthesis->x + from * synthesis->series,
                   synthesis->series * sizeof *condensed->x);
            memcpy(condensed->soft + to * classes, synthesis->logits + from * classes,
                   classes * sizeof *condensed->soft);
            condensed->y[to] = (int32_t)label;
        }
}

static struct error *check_shapes(const struct dataset *dataset, const struct guide *guide)
{
    if (guide->channels != dataset->channels || guide->length != dataset->length)
        return error_make("the teacher is for series of %zu channels and %zu steps, these have %zu "
                          "and %zu",
                          guide->channels, guide->length, dataset->channels, dataset->length);
    if (guide->classes != dataset->classes)
        return error_make("the teacher knows %zu classes, the dataset has %zu", guide->classes,
                          dataset->classes);
    return NULL;
}

struct error *synthesise(const struct synthesis_options *options, const struct dataset *dataset,
                         const struct guide *guide, const struct transform *transform,
                         struct dataset *condensed, struct synthesis_result *result)
{
    struct synthesis synthesis = {.options = options,
                                  .backend = guide->backend,
                                  .classes = dataset->classes,
                                  .series = dataset_series_size(dataset)};
    struct error *error;

    memset(condensed, 0, sizeof *condensed);
    memset(result, 0, sizeof *result);
    TRY(check_shapes(dataset, guide));
    error = dataset_new(options->per_class * dataset->classes, dataset->channels, dataset->length,
                        dataset->classes, true, condensed);
    if (!error)
        error = synthesis_make(guide, transform, &synthesis);
    if (!error)
        error = start(&synthesis, dataset, &result->repeated);
    if (!error)
        error = optimise_all(&synthesis);
    if (!error) {
        sum_up(&synthesis, result);
        gather(&synthesis, condensed);
        error = dataset_copy_texts(dataset, condensed);
    }
    synthesis_free(&synthesis);
    if (error)
        dataset_free(condensed);
    return error;
}
