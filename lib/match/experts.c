/* Each expert is one task.  As many as there are threads in all ranks are trained at a time and
 * then written by rank 0 in order, so the file is the same for any number of threads and ranks and
 * never in memory as a whole. */
#include "match/experts.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "base/size.h"
#include "formats/ckpt.h"
#include "nn/backend.h"
#include "nn/checkpoint.h"
#include "nn/backend_memory.h"
#include "nn/optimiser.h"

struct expert_options expert_defaults(void)
{
    return (struct expert_options){.count = 20, .epochs = 6, .rate = 0.02};
}

/* Where no size is given an epoch has about EPOCH_STEPS steps, so that an epoch means about as much
 * training for a dataset of any size. */
enum { EPOCH_STEPS = 20, SMALLEST_BATCH = 16, LARGEST_BATCH = 1024 };

static size_t batch_size(const struct expert_options *options, size_t series)
{
    size_t batch = options->batch;

    if (batch == 0) {
        batch = series / EPOCH_STEPS;
        batch = batch < SMALLEST_BATCH ? SMALLEST_BATCH : batch;
        batch = batch > LARGEST_BATCH ? LARGEST_BATCH : batch;
    }
    return batch < series ? batch : series;
}

/* The memory of one worker: an expert in training. */
struct worker {
    struct model_run *run;
    struct optimiser optimiser;
    float *parameters, *buffers, *gradient; /* now */
    float *x;                               /* (batch, C, L) */
    int32_t *labels;                        /* (batch,) */
    size_t *order;                          /* (N,) */
    float *points;                          /* (epochs + 1, parameters) */
    struct dropout dropout;                 /* of the next step */
    struct error *error;
};

struct trainer {
    const struct expert_options *options;
    const struct dataset *dataset;
    struct model model;
    size_t batch;
    size_t worker_count; /* experts at a time, of each rank */
    struct worker *workers;
    size_t first; /* expert that the first of all ranks is */
    atomic_size_t done;
};

/* ---- Memory ---- */

static struct error *make_worker(const struct trainer *trainer, struct worker *one)
{
    const struct expert_options *options = trainer->options;
    struct optimiser_options sgd = optimiser_defaults(OPTIMISER_SGD);
    size_t parameters = trainer->model.parameter_count;

    sgd.momentum = options->momentum;
    sgd.weight_decay = options->decay;
    TRY(model_run_new(&trainer->model, trainer->batch, PASS_BACKWARD, &one->run));
    TRY(optimiser_new(&sgd, backend_cpu(), parameters, &one->optimiser));
    one->parameters = calloc(parameters, sizeof *one->parameters);
    one->gradient = calloc(parameters, sizeof *one->gradient);
    one->buffers = calloc(trainer->model.buffer_count + 1, sizeof *one->buffers);
    one->x = calloc(trainer->batch, dataset_series_size(trainer->dataset) * sizeof *one->x);
    one->labels = calloc(trainer->batch, sizeof *one->labels);
    one->order = calloc(trainer->dataset->count, sizeof *one->order);
    one->points = calloc(options->epochs + 1, parameters * sizeof *one->points);
    if (!one->parameters || !one->gradient || !one->buffers || !one->x || !one->labels ||
        !one->order || !one->points)
        return error_memory("an expert");
    return NULL;
}

static struct error *trainer_make(struct trainer *trainer)
{
    const struct expert_options *options = trainer->options;

    TRY(model_new_on(&options->architecture, options->two_towers, options->backend,
                     &trainer->model));
    trainer->batch = batch_size(options, trainer->dataset->count);
    trainer->worker_count =
        size_min(parallel_threads(), size_ceiling(options->count, cluster_size(options->cluster)));
    if (trainer->model.network->backend->whole_batch)
        trainer->worker_count = 1;
    TRY(cluster_broadcast(options->cluster, &trainer->worker_count, sizeof trainer->worker_count));
    trainer->workers = calloc(trainer->worker_count, sizeof *trainer->workers);
    if (!trainer->workers)
        return error_memory("experts");
    for (size_t i = 0; i < trainer->worker_count; i++)
        TRY(make_worker(trainer, &trainer->workers[i]));
    return NULL;
}

static void trainer_free(struct trainer *trainer)
{
    for (size_t i = 0; trainer->workers && i < trainer->worker_count; i++) {
        struct worker *one = &trainer->workers[i];

        model_run_free(one->run);
        optimiser_free(&one->optimiser);
        free(one->parameters);
        free(one->gradient);
        free(one->buffers);
        free(one->x);
        free(one->labels);
        free(one->order);
        free(one->points);
        error_free(one->error);
    }
    free(trainer->workers);
    model_free(&trainer->model);
}

/* ---- Training ---- */

/* One batch of the epoch's order. */
static double train_batch(const struct trainer *trainer, struct worker *one, size_t first)
{
    const struct dataset *dataset = trainer->dataset;
    static const struct loss cross_entropy = {LOSS_LABELS, 1, 1};
    size_t series = dataset_series_size(dataset), left = dataset->count - first;
    size_t count = left < trainer->batch ? left : trainer->batch;
    struct targets targets = {.labels = one->labels};
    struct model_batch batch = {.count = count,
                                .x = one->x,
                                .parameters = one->parameters,
                                .buffers = one->buffers,
                                .training = true,
                                .momentum = 0.1f,
                                .dropout = one->dropout};
    double loss;

    for (size_t n = 0; n < count; n++) {
        size_t from = one->order[first + n];

        memcpy(one->x + n * series, dataset->x + from * series, series * sizeof *one->x);
        one->labels[n] = dataset->y[from];
    }
    loss = model_loss(one->run, &batch, &cross_entropy, &targets, one->gradient, NULL);
    optimiser_step(&one->optimiser, trainer->options->rate, one->gradient, one->parameters);
    one->dropout.step++;
    return loss * (double)count;
}

static double train_epoch(const struct trainer *trainer, struct worker *one, size_t expert,
                          size_t epoch)
{
    size_t count = trainer->dataset->count;
    uint64_t index = ((uint64_t)expert << 32) + epoch;
    struct random_stream stream = random_stream(trainer->options->seed, RANDOM_MATCH_EXPERT, index);
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        one->order[i] = i;
    random_shuffle(&stream, one->order, count);
    for (size_t first = 0; first < count; first += trainer->batch)
        sum += train_batch(trainer, one, first);
    return sum / (double)count;
}

static struct error *train_expert(struct trainer *trainer, struct worker *one, size_t expert)
{
    const struct expert_options *options = trainer->options;
    size_t parameters = trainer->model.parameter_count;

    model_initialise(&trainer->model, options->seed, expert, one->parameters, one->buffers);
    optimiser_reset(&one->optimiser);
    one->dropout = dropout_of(options->seed, expert);
    memcpy(one->points, one->parameters, parameters * sizeof *one->points);
    for (size_t epoch = 1; epoch <= options->epochs; epoch++) {
        double loss = train_epoch(trainer, one, expert, epoch);
        size_t done = atomic_fetch_add(&trainer->done, 1) + 1;

        TRY(backend_check(trainer->model.network->backend));
        if (!isfinite(loss))
            return error_make("expert %zu, epoch %zu: the loss is no longer a number; a smaller "
                              "rate than %g may help",
                              expert + 1, epoch, options->rate);
        memcpy(one->points + epoch * parameters, one->parameters, parameters * sizeof *one->points);
        if (options->progress)
            options->progress(options->context, done, options->count * options->epochs, loss);
    }
    return NULL;
}

/* The first expert of a rank. */
static size_t first_of(const struct trainer *trainer, size_t rank)
{
    return trainer->first + rank * trainer->worker_count;
}

/* How many experts a rank trains now. */
static size_t count_of(const struct trainer *trainer, size_t rank)
{
    size_t first = first_of(trainer, rank), count = trainer->options->count;

    return first < count ? size_min(count - first, trainer->worker_count) : 0;
}

static void train_task(void *context, size_t task, unsigned worker)
{
    struct trainer *trainer = context;
    size_t first = first_of(trainer, cluster_rank(trainer->options->cluster));

    (void)worker;
    trainer->workers[task].error = train_expert(trainer, &trainer->workers[task], first + task);
}

/* ---- Writing ---- */

static struct error *write_head(const struct trainer *trainer, const char *notes, FILE *stream)
{
    const struct expert_options *options = trainer->options;
    size_t shape[] = {options->count, options->epochs + 1, trainer->model.parameter_count};
    char network[ARCHITECTURE_TEXT], *text;
    size_t size = sizeof network + 16 + (notes ? strlen(notes) : 0);
    struct npy_error npy;
    int failed;

    text = malloc(size);
    if (!text)
        return error_memory("the head of the experts");
    architecture_print(&options->architecture, network);
    snprintf(text, size, "%s\ntowers=%zu%s%s", network, trainer->model.towers, notes ? "\n" : "",
             notes ? notes : "");
    failed = npy_write_strings(stream, &(const char *){text}, 0, 1, &npy) ||
             npy_write_header(stream, NPY_FLOAT, sizeof(float), 3, shape, &npy);
    free(text);
    return failed ? dataset_npy_error(&npy) : NULL;
}

static struct error *write_points(const struct trainer *trainer, const float *points, FILE *stream)
{
    size_t floats = (trainer->options->epochs + 1) * trainer->model.parameter_count;

    if (cluster_rank(trainer->options->cluster) > 0)
        return NULL;
    if (fwrite(points, sizeof *points, floats, stream) != floats)
        return error_system("writing");
    return NULL;
}

/* Everything that the points depend on. */
static void fingerprint(const struct trainer *trainer, char text[DIGEST_TEXT])
{
    const struct expert_options *options = trainer->options;
    const struct dataset *dataset = trainer->dataset;
    char settings[ARCHITECTURE_TEXT + 256], network[ARCHITECTURE_TEXT];
    struct digest digest;

    architecture_print(&options->architecture, network);
    snprintf(settings, sizeof settings, "%s towers=%zu epochs=%zu batch=%zu %a %a %a seed=%llu",
             network, trainer->model.towers, options->epochs, trainer->batch, options->rate,
             options->momentum, options->decay, (unsigned long long)options->seed);
    digest_start(&digest);
    digest_add(&digest, settings, strlen(settings));
    digest_add(&digest, dataset->x,
               dataset->count * dataset_series_size(dataset) * sizeof *dataset->x);
    digest_add(&digest, dataset->y, dataset->count * sizeof *dataset->y);
    digest_finish(&digest, text);
}

/* The points of each finished expert are a record. */
static struct error *open_checkpoint(const struct trainer *trainer, struct ckpt *checkpoint)
{
    const struct expert_options *options = trainer->options;
    char name[DIGEST_TEXT], by[CHECKPOINT_BY];
    struct ckpt_run run = {"training of experts", name, by};

    if (!options->checkpoint || cluster_rank(options->cluster) > 0)
        return NULL;
    fingerprint(trainer, name);
    checkpoint_computed_by(trainer->model.network->backend, by);
    TRY(ckpt_open(options->checkpoint, &run,
                  (options->epochs + 1) * trainer->model.parameter_count * sizeof(float),
                  checkpoint));
    if (checkpoint->torn && options->torn)
        options->torn(options->context, checkpoint->count);
    return NULL;
}

/* Those that an earlier run finished. */
static struct error *take_finished(struct trainer *trainer, struct ckpt *checkpoint, FILE *stream)
{
    float *points = trainer->workers[0].points;

    while (trainer->first < trainer->options->count && trainer->first < checkpoint->count) {
        TRY(ckpt_next(checkpoint, points));
        TRY(write_points(trainer, points, stream));
        trainer->first++;
        atomic_fetch_add(&trainer->done, trainer->options->epochs);
    }
    return cluster_broadcast(trainer->options->cluster, &trainer->first, sizeof trainer->first);
}

/* The experts of one rank go to rank 0 and into its files, up to one that failed. */
static struct error *write_rank(struct trainer *trainer, size_t rank, struct ckpt *checkpoint,
                                FILE *stream)
{
    size_t bytes = (trainer->options->epochs + 1) * trainer->model.parameter_count * sizeof(float);

    for (size_t i = 0; i < count_of(trainer, rank); i++) {
        float *points = trainer->workers[i].points;
        struct error *error = NULL;

        if (rank == cluster_rank(trainer->options->cluster)) {
            error = trainer->workers[i].error;
            trainer->workers[i].error = NULL;
        }
        TRY(error);
        TRY(cluster_fetch(trainer->options->cluster, rank, points, bytes));
        if (checkpoint->stream)
            TRY(ckpt_add(checkpoint, points));
        TRY(write_points(trainer, points, stream));
    }
    return NULL;
}

static struct error *train_rest(struct trainer *trainer, struct ckpt *checkpoint, FILE *stream)
{
    struct cluster *cluster = trainer->options->cluster;
    size_t ranks = cluster_size(cluster);

    for (; trainer->first < trainer->options->count;
         trainer->first += ranks * trainer->worker_count) {
        parallel_for(count_of(trainer, cluster_rank(cluster)), train_task, trainer);
        for (size_t rank = 0; rank < ranks; rank++)
            TRY(write_rank(trainer, rank, checkpoint, stream));
    }
    return NULL;
}

struct error *experts_train(const struct expert_options *options, const struct dataset *dataset,
                            const char *notes, FILE *stream)
{
    struct trainer trainer = {.options = options, .dataset = dataset};
    struct ckpt checkpoint = {0};
    struct error *error = trainer_make(&trainer);

    if (!error)
        error = open_checkpoint(&trainer, &checkpoint);
    if (!error)
        error = write_head(&trainer, notes, stream);
    if (!error)
        error = take_finished(&trainer, &checkpoint, stream);
    if (!error)
        error = train_rest(&trainer, &checkpoint, stream);
    ckpt_close(&checkpoint);
    trainer_free(&trainer);
    return error;
}
