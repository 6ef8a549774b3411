/* dc, dsa and dm.  Classes are tasks.  Each network serves for a few steps and is trained on the
 * condensed dataset between them; then a new one takes its place. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "choose/draw.h"
#include "match/classwise.h"
#include "match/match.h"
#include "nn/backend.h"

/* Real series of each class that the statistics of batch normalisation are taken from. */
enum { STATISTICS_SERIES = 16 };

/* ---- Parameters ---- */

enum { STEPS, RATE, BATCH, NETWORK_STEPS, TRAINING_STEPS, TRAINING_RATE };

static double network_steps(const struct match_options *options, size_t classes)
{
    (void)classes;
    return options->per_class < 10 ? (double)options->per_class : 10;
}

/* clang-format off */
#define PARAMETERS(...)                                                                            \
    [STEPS]          = MATCH_STEPS(100),                                                           \
    [RATE]           = MATCH_RATE(0.01, .too_large = true),                                        \
    [BATCH]          = MATCH_WHOLE('b', "batch", 1, 1e6, "real series of each class in a step", 64), \
    [NETWORK_STEPS]  = MATCH_WHOLE(0, "network-steps", 1, 1e9,                                     \
                                   "steps with one network before the next", __VA_ARGS__),         \
    [TRAINING_STEPS] = MATCH_WHOLE(0, "training-steps", 0, 1e9,                                    \
                                   "steps of training it between them; 0: it stays untrained", 10), \
    [TRAINING_RATE]  = MATCH_REAL(0, "training-rate", 0, 1e6, "learning rate of that training", 0.01), \
    {0}
/* clang-format on */

static const struct match_parameter trained[] = {
    PARAMETERS(.recommend = network_steps, .recommended = "the series per class, at most 10")};
static const struct match_parameter untrained[] = {PARAMETERS(1)};

static const struct loss cross_entropy = {LOSS_LABELS, 1, 1};

/* What one class needs while it is worked on. */
struct slot {
    struct class_match match;
    float *real;     /* (batch, C, L) */
    size_t *scratch; /* for draw_class */
};

struct classwise {
    const struct match_problem *problem;
    struct model model;
    size_t batch; /* real series of a class in a step at most */
    size_t slots;
    struct slot *slot;
    float *values;               /* parameters, then buffers */
    float *parameters, *buffers; /* parts of it */
    double *losses;              /* (V,) */
    /* Training on the condensed series, and statistics. */
    struct model_run *run;
    struct optimiser optimiser;
    float *gradient;
    float *statistics; /* (V * STATISTICS_SERIES, C, L) */
    /* This step. */
    size_t step;
    size_t first_class; /* of this rank */
    const float *x;
    float *dx;
};

/* ---- Memory ---- */

static struct error *make_slot(struct classwise *c, struct slot *slot)
{
    const struct match_options *options = c->problem->options;

    TRY(class_match_new(&c->model, c->batch, options->per_class, options->method == &method_dm,
                        &slot->match));
    slot->real = calloc(c->batch, c->problem->series * sizeof *slot->real);
    slot->scratch = calloc(c->problem->lists.largest, sizeof *slot->scratch);
    if (!slot->real || !slot->scratch)
        return error_memory("matching");
    return NULL;
}

static struct error *make_training(struct classwise *c)
{
    const struct match_problem *problem = c->problem;
    struct optimiser_options sgd = optimiser_defaults(OPTIMISER_SGD);
    size_t statistics = problem->dataset->classes * STATISTICS_SERIES;
    size_t most = problem->count > statistics ? problem->count : statistics;

    sgd.momentum = 0.5;
    TRY(optimiser_new(&sgd, backend_cpu(), c->model.parameter_count, &c->optimiser));
    TRY(model_run_new(&c->model, most, PASS_BACKWARD, &c->run));
    c->gradient = calloc(c->model.parameter_count, sizeof *c->gradient);
    c->statistics = calloc(statistics, problem->series * sizeof *c->statistics);
    if (!c->gradient || !c->statistics)
        return error_memory("matching");
    return NULL;
}

/* With fewer classes than threads it is better to split up the work of each class. */
static size_t slots_for(const struct backend *backend, size_t classes)
{
    return !backend->whole_batch && classes >= parallel_threads() ? parallel_threads() : 1;
}

static struct error *make(struct classwise *c)
{
    const struct match_problem *problem = c->problem;
    size_t classes = problem->dataset->classes;

    TRY(model_new_on(&problem->options->architecture, false, problem->options->backend, &c->model));
    c->values = calloc(c->model.parameter_count + c->model.buffer_count, sizeof *c->values);
    c->losses = calloc(classes, sizeof *c->losses);
    c->batch = match_whole(problem->options, BATCH);
    if (c->batch > problem->lists.largest)
        c->batch = problem->lists.largest;
    c->slots = slots_for(c->model.network->backend, classes);
    c->slot = calloc(c->slots, sizeof *c->slot);
    if (!c->values || !c->losses || !c->slot)
        return error_memory("matching");
    c->parameters = c->values;
    c->buffers = c->values + c->model.parameter_count;
    for (size_t i = 0; i < c->slots; i++)
        TRY(make_slot(c, &c->slot[i]));
    return make_training(c);
}

static void classwise_free(void *state)
{
    struct classwise *c = state;

    for (size_t i = 0; c->slot && i < c->slots; i++) {
        class_match_free(&c->slot[i].match);
        free(c->slot[i].real);
        free(c->slot[i].scratch);
    }
    free(c->slot);
    free(c->values);
    free(c->losses);
    model_run_free(c->run);
    optimiser_free(&c->optimiser);
    free(c->gradient);
    free(c->statistics);
    model_free(&c->model);
    free(c);
}

static struct error *classwise_make(const struct match_problem *problem, void **state)
{
    struct classwise *c = calloc(1, sizeof *c);
    struct error *error;

    if (!c)
        return error_memory("matching");
    c->problem = problem;
    error = make(c);
    if (error) {
        classwise_free(c);
        return error;
    }
    *state = c;
    return NULL;
}

static float *classwise_kept(void *state, size_t *count)
{
    struct classwise *c = state;

    *count = c->model.parameter_count + c->model.buffer_count;
    return c->values;
}

/* ---- The network ---- */

/* Streams of a step: one for each class, and one for everything else. */
static struct random_stream stream_of(const struct classwise *c, size_t which)
{
    uint64_t streams = c->problem->dataset->classes + 1;

    return random_stream(c->problem->options->seed, RANDOM_MATCH, c->step * streams + which);
}

/* Training on the condensed series as they are now. */
static void train_network_on(struct classwise *c)
{
    const struct match_problem *problem = c->problem;
    struct targets targets = {.labels = problem->labels};
    struct model_batch batch = {.count = problem->count,
                                .x = c->x,
                                .parameters = c->parameters,
                                .buffers = c->buffers,
                                .training = true};

    optimiser_reset(&c->optimiser);
    for (size_t i = 0; i < match_whole(problem->options, TRAINING_STEPS); i++) {
        model_loss(c->run, &batch, &cross_entropy, &targets, c->gradient, NULL);
        optimiser_step(&c->optimiser, problem->options->values[TRAINING_RATE], c->gradient,
                       c->parameters);
    }
}

/* Batch normalisation learns from some real series of all classes what to expect. */
static void take_statistics(struct classwise *c)
{
    const struct class_lists *lists = &c->problem->lists;
    struct random_stream stream = stream_of(c, lists->classes);
    struct network_statistics normalised;
    size_t count = 0;
    struct model_batch batch = {.x = c->statistics,
                                .parameters = c->parameters,
                                .buffers = c->buffers,
                                .training = true,
                                .momentum = 1};

    if (!network_statistics(c->model.network, 0, &normalised))
        return;
    for (size_t v = 0; v < lists->classes; v++)
        count += draw_class(c->problem->dataset, lists, v, STATISTICS_SERIES, &stream,
                            c->slot[0].scratch, c->statistics + count * c->problem->series);
    batch.count = count;
    model_forward(c->run, &batch);
}

static void prepare_network(struct classwise *c)
{
    size_t each = match_whole(c->problem->options, NETWORK_STEPS);

    if (c->step % each == 0)
        model_initialise(&c->model, c->problem->options->seed, c->step / each, c->parameters,
                         c->buffers);
    else
        train_network_on(c);
    take_statistics(c);
}

/* ---- A step ---- */

static void match_class(void *context, size_t task, unsigned worker)
{
    struct classwise *c = context;
    size_t label = c->first_class + task;
    const struct match_options *options = c->problem->options;
    struct slot *slot = &c->slot[worker];
    struct random_stream stream = stream_of(c, label);
    size_t at = label * options->per_class * c->problem->series;
    struct class_batch batch = {.label = (int32_t)label,
                                .real_x = slot->real,
                                .synthetic_count = options->per_class,
                                .synthetic_x = c->x + at,
                                .parameters = c->parameters,
                                .buffers = c->buffers};

    batch.real_count = draw_class(c->problem->dataset, &c->problem->lists, label, c->batch, &stream,
                                  slot->scratch, slot->real);
    if (options->method != &method_dc)
        augmentation_draw(&slot->match.augmentation,
                          (enum augmentation_kind)random_below(&stream, AUGMENT_KINDS),
                          c->problem->unit, &stream);
    c->losses[label] = options->method == &method_dm
                           ? class_match_means(&slot->match, &batch, c->dx + at)
                           : class_match_gradients(&slot->match, &batch, c->dx + at);
}

static double classwise_step(void *state, size_t step, const struct condensed *condensed,
                             struct condensed *gradient)
{
    struct classwise *c = state;
    const struct match_options *options = c->problem->options;
    size_t classes = c->problem->dataset->classes, end;
    double loss = 0;

    c->step = step;
    c->x = condensed->x;
    c->dx = gradient->x;
    prepare_network(c);
    cluster_part(options->cluster, classes, 1, &c->first_class, &end);
    if (c->slots > 1)
        parallel_for(end - c->first_class, match_class, c);
    else
        for (size_t task = 0; c->first_class + task < end; task++)
            match_class(c, task, 0);
    /* match.c asks for errors (cluster_check). */
    error_free(cluster_share(options->cluster, c->losses, classes, sizeof *c->losses, 1));
    error_free(cluster_share(options->cluster, c->dx, classes,
                             options->per_class * c->problem->series * sizeof *c->dx, 1));
    for (size_t v = 0; v < classes; v++)
        loss += c->losses[v];
    return loss;
}

#define CLASSWISE(word, rows, what)                                                                \
    const struct match_method method_##word = {.name = #word,                                      \
                                               .summary = what,                                    \
                                               .needs = MATCH_NEEDS_NETWORK,                       \
                                               .optimiser = MATCH_SCALED,                          \
                                               .parameters = rows,                                 \
                                               .make = classwise_make,                             \
                                               .free = classwise_free,                             \
                                               .step = classwise_step,                             \
                                               .kept = classwise_kept}
CLASSWISE(dc, trained, "gradients of the loss, class by class");
CLASSWISE(dsa, trained, "gradients of the loss for augmented series, class by class");
CLASSWISE(dm, untrained, "mean embeddings of augmented series in untrained networks");
