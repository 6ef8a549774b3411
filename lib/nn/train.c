/* Epochs of gather, forward, loss, backward, step.  Everything that changes from epoch to epoch is
 * in struct training, and all of it that matters goes into the checkpoint. */
#include "nn/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/size.h"
#include "nn/backend_memory.h"
#include "nn/train_checkpoint.h"

enum { CHECKPOINT_EVERY = 10, EVALUATION_BATCH = 256 };

size_t train_even_batch(size_t count, size_t batch)
{
    size_t batches;

    if (count == 0 || batch == 0)
        return batch;
    batches = (count - 1) / batch + 1;
    return (count - 1) / batches + 1;
}

size_t train_epochs_for_steps(size_t steps, size_t count, size_t batch)
{
    size_t batches = count && batch ? (count - 1) / batch + 1 : 1;
    size_t epochs = (steps + batches / 2) / batches;

    return epochs ? epochs : 1;
}

struct train_options train_defaults(void)
{
    struct train_options options = {.epochs = 100,
                                    .batch = 256,
                                    .optimiser = optimiser_defaults(OPTIMISER_ADAMW),
                                    .cosine = true,
                                    .loss = {LOSS_LABELS, 1.0f, 1.0f}};

    options.optimiser.weight_decay = 1e-4;
    return options;
}

/* ---- A dataset on the device ---- */

static void unview_dataset(const struct network *network, const struct tensor_dataset *data,
                           const struct tensor_dataset *view)
{
    const struct backend *backend = network->backend;

    backend_view_free(backend, data->x, view->x);
    backend_view_free(backend, data->features, view->features);
    backend_view_free(backend, data->labels, view->labels);
    backend_view_free(backend, data->targets, view->targets);
}

static struct error *view_dataset(const struct network *network, const struct tensor_dataset *data,
                                  struct tensor_dataset *view)
{
    const struct backend *backend = network->backend;
    const struct architecture *a = &network->architecture;
    const void *x, *features = NULL, *labels = NULL, *targets = NULL;
    struct error *error;

    error = backend_view(backend, data->x,
                         data->count * architecture_series_size(a) * sizeof(float), &x);
    if (!error)
        error = backend_view(backend, data->features, data->count * a->features * sizeof(float),
                             &features);
    if (!error)
        error = backend_view(backend, data->labels, data->count * sizeof(int32_t), &labels);
    if (!error)
        error = backend_view(backend, data->targets, data->count * a->classes * sizeof(float),
                             &targets);
    *view = (struct tensor_dataset){data->count, x, features, labels, targets};
    return error;
}

/* ---- Training ---- */

/* Arrays of one batch and of one epoch are memory of the backend. */
struct training {
    const struct network *network;
    const struct backend *backend;
    const struct train_options *options;
    const struct tensor_dataset *data, *validation;
    struct tensor_dataset view, validation_view; /* the same, as the backend sees them */
    struct pass *pass;
    struct optimiser optimiser;
    /* One epoch, on the host and on the device: the order of the series; losses[batches] of the
     * batches, then one more number that is not 0 if any value is infinite. */
    size_t batches;
    size_t *order, *device_order;
    double *losses, *device_losses;
    size_t *batch_index; /* on the device: the next batch of the epoch */
    size_t *step_index;  /* on the device: the next step, counted over all epochs, for dropout */
    /* One batch. */
    float *x, *features, *targets, *dlogits, *gradient;
    int32_t *labels;
    float *parameters, *buffers; /* as of the last step */
    float *best_parameters, *best_buffers;
    struct dropout dropout;
    struct repeated step; /* full_step: on a GPU recorded once and replayed */
    struct train_checkpoint state;
};

/* Empty arrays get memory as well, so that NULL always means failure. */
static void *device_array(const struct training *t, size_t count, size_t size)
{
    return t->backend->allocate((count ? count : 1) * size);
}

static struct error *make_batch(struct training *t, size_t batch)
{
    const struct network *network = t->network;
    const struct architecture *a = &network->architecture;

    t->device_order = device_array(t, t->data->count, sizeof *t->device_order);
    t->device_losses = device_array(t, t->batches + 1, sizeof *t->device_losses);
    t->batch_index = device_array(t, 1, sizeof *t->batch_index);
    t->step_index = device_array(t, 1, sizeof *t->step_index);
    t->x = device_array(t, batch * architecture_series_size(a), sizeof *t->x);
    t->features = device_array(t, batch * a->features, sizeof *t->features);
    t->targets = device_array(t, batch * a->classes, sizeof *t->targets);
    t->labels = device_array(t, batch, sizeof *t->labels);
    t->dlogits = device_array(t, batch * a->classes, sizeof *t->dlogits);
    t->gradient = device_array(t, network->parameter_count, sizeof *t->gradient);
    t->parameters = device_array(t, network->parameter_count, sizeof *t->parameters);
    t->buffers = device_array(t, network->buffer_count, sizeof *t->buffers);
    if (!t->device_order || !t->device_losses || !t->batch_index || !t->step_index || !t->x ||
        !t->features || !t->targets || !t->labels || !t->dlogits || !t->gradient ||
        !t->parameters || !t->buffers)
        return error_memory("training");
    return NULL;
}

static void copy_values(const struct training *t, size_t count, const float *from, float *to)
{
    t->backend->copy_rows(1, count, from, 0, to, 0);
}

static void full_step(void *context);

static struct error *training_start(struct training *t, float *parameters, float *buffers)
{
    const struct network *network = t->network;
    size_t batch = t->options->batch < t->data->count ? t->options->batch : t->data->count;
    size_t held_out = t->validation ? t->validation->count : 0;

    /* Training on few series has small batches; validation need not. */
    held_out = held_out < EVALUATION_BATCH ? held_out : EVALUATION_BATCH;
    t->batches = (t->data->count - 1) / batch + 1;
    TRY(view_dataset(network, t->data, &t->view));
    if (t->validation)
        TRY(view_dataset(network, t->validation, &t->validation_view));
    TRY(pass_new(network, batch > held_out ? batch : held_out, PASS_BACKWARD, &t->pass));
    pass_share(t->pass, t->options->cluster);
    TRY(optimiser_new(&t->options->optimiser, t->backend, network->parameter_count, &t->optimiser));
    TRY(optimiser_reserve(&t->optimiser, t->batches));
    t->order = calloc(t->data->count, sizeof *t->order);
    t->losses = calloc(t->batches + 1, sizeof *t->losses);
    if (!t->order || !t->losses)
        return error_memory("training");
    TRY(make_batch(t, batch));
    t->dropout = dropout_of(t->options->seed, t->options->index);
    t->dropout.more = t->step_index;
    t->step = (struct repeated){full_step, t, NULL};
    t->best_parameters = parameters;
    t->best_buffers = buffers;
    copy_values(t, network->parameter_count, parameters, t->parameters);
    copy_values(t, network->buffer_count, buffers, t->buffers);
    t->state.network = network;
    t->state.cluster = t->options->cluster;
    t->state.best = (struct train_result){.validation_loss = NAN, .validation_accuracy = NAN};
    t->state.parameters = t->parameters;
    t->state.buffers = t->buffers;
    t->state.best_parameters = parameters;
    t->state.best_buffers = buffers;
    t->state.optimiser = &t->optimiser;
    return NULL;
}

static void training_free(struct training *t)
{
    void *const memory[] = {
        t->device_order, t->device_losses, t->batch_index, t->step_index, t->x,
        t->features,     t->targets,       t->labels,      t->dlogits,    t->gradient,
        t->parameters,   t->buffers};

    t->backend->repeat_end(&t->step);
    unview_dataset(t->network, t->data, &t->view);
    if (t->validation)
        unview_dataset(t->network, t->validation, &t->validation_view);
    pass_free(t->pass);
    optimiser_free(&t->optimiser);
    free(t->order);
    free(t->losses);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        t->backend->release(memory[i]);
}

static void digest_dataset(struct digest *digest, const struct network *network,
                           const struct tensor_dataset *data)
{
    const struct architecture *a = &network->architecture;

    digest_add(digest, &data->count, sizeof data->count);
    digest_add(digest, data->x, data->count * architecture_series_size(a) * sizeof *data->x);
    if (data->features)
        digest_add(digest, data->features, data->count * a->features * sizeof *data->features);
    if (data->labels)
        digest_add(digest, data->labels, data->count * sizeof *data->labels);
    if (data->targets)
        digest_add(digest, data->targets, data->count * a->classes * sizeof *data->targets);
}

static struct error *digest_values(struct digest *digest, const struct backend *backend,
                                   const float *values, size_t count)
{
    float *host = malloc((count ? count : 1) * sizeof *host);
    struct error *error;

    if (!host)
        return error_memory("training");
    error = backend_fetch(backend, host, values, count * sizeof *host);
    digest_add(digest, host, count * sizeof *host);
    free(host);
    return error;
}

/* A digest of everything that the result depends on: a checkpoint of anything else must not be
 * used. */
static struct error *take_fingerprint(struct training *t)
{
    const struct train_options *o = t->options;
    const struct optimiser_options *p = &o->optimiser;
    char text[1024], network[ARCHITECTURE_TEXT];
    struct digest digest;

    architecture_print(&t->network->architecture, network);
    snprintf(text, sizeof text, "%s %zu %zu %d %a %a %a %a %a %a %d %d %a %a %llu %llu %zu %d %zu",
             network, o->epochs, o->batch, (int)p->kind, p->rate, p->momentum, p->beta1, p->beta2,
             p->epsilon, p->weight_decay, o->cosine, (int)o->loss.kind, (double)o->loss.temperature,
             (double)o->loss.scale, (unsigned long long)o->seed, (unsigned long long)o->index,
             o->patience, (int)o->choose, o->validate_every);
    digest_start(&digest);
    digest_add(&digest, text, strlen(text));
    digest_dataset(&digest, t->network, t->data);
    if (t->validation)
        digest_dataset(&digest, t->network, t->validation);
    TRY(digest_values(&digest, t->backend, t->parameters, t->network->parameter_count));
    TRY(digest_values(&digest, t->backend, t->buffers, t->network->buffer_count));
    digest_finish(&digest, t->state.fingerprint);
    return NULL;
}

/* One step of training on the batch that is due,
 *
 *     z = f(x; theta)              logits, batch normalisation by this batch's statistics
 *     L = loss(z, targets)         mean over the batch, kept for the epoch's report
 *     g = dL/dtheta                back through the layers
 *     theta = step(theta, g)       by the optimiser's rule and this step's learning rate
 *
 * All that changes from step to step is on the device (the number of the batch, the order of the
 * series, the learning rates), so that a device can repeat the step without the host. */
static void train_step(struct training *t, size_t count)
{
    const struct backend *backend = t->backend;
    const struct architecture *a = &t->network->architecture;
    const struct tensor_dataset *data = &t->view;
    const size_t *order = t->device_order, *index = t->batch_index;
    size_t size = t->options->batch;
    struct targets targets = {t->labels, t->targets};
    const float *logits;

    backend->gather(count, architecture_series_size(a), data->x, order, index, size, t->x);
    if (a->features)
        backend->gather(count, a->features, data->features, order, index, size, t->features);
    if (data->labels)
        backend->gather(count, 1, data->labels, order, index, size, t->labels);
    if (data->targets)
        backend->gather(count, a->classes, data->targets, order, index, size, t->targets);

    logits = pass_forward(t->pass, &(struct forward){.count = count,
                                                     .x = t->x,
                                                     .features = t->features,
                                                     .parameters = t->parameters,
                                                     .buffers = t->buffers,
                                                     .training = true,
                                                     .momentum = 0.1f, /* of running statistics */
                                                     .dropout = t->dropout});
    backend->loss(&t->options->loss, count, a->classes, logits, &targets, t->dlogits, NULL,
                  t->device_losses, index);
    pass_backward(t->pass, &(struct backward){.logits = t->dlogits, .parameters = t->gradient});
    optimiser_follow(&t->optimiser, index, t->gradient, t->parameters);
    backend->increment(t->batch_index);
    backend->increment(t->step_index);
}

/* On a batch of full size, for backend->repeat. */
static void full_step(void *context)
{
    struct training *t = context;

    train_step(t, t->options->batch);
}

/* Prepares the device for an epoch: order of the series, learning rates, counters. */
static void plan_epoch(struct training *t, size_t epoch, double rate)
{
    size_t first = epoch * t->batches;
    struct random_stream stream =
        random_stream(t->options->seed, RANDOM_SHUFFLE, t->options->index << 32 | epoch);

    for (size_t i = 0; i < t->data->count; i++)
        t->order[i] = i;
    random_shuffle(&stream, t->order, t->data->count);
    t->backend->upload(t->device_order, t->order, t->data->count * sizeof *t->order);
    for (size_t i = 0; i < t->batches; i++)
        optimiser_plan(&t->optimiser, i, rate);
    optimiser_plan_end(&t->optimiser, t->batches);
    t->backend->zero(t->batch_index, sizeof *t->batch_index);
    t->backend->upload(t->step_index, &first, sizeof *t->step_index);
    t->backend->zero(t->device_losses, (t->batches + 1) * sizeof *t->device_losses);
}

/* Looks for infinite values: the losses of the epoch do not show yet whether the last step
 * diverged. */
static void check_values(const struct training *t)
{
    const struct network *network = t->network;
    const struct optimiser *optimiser = &t->optimiser;
    double *found = t->device_losses + t->batches;

    t->backend->find_infinite(network->parameter_count, t->parameters, found);
    t->backend->find_infinite(network->buffer_count, t->buffers, found);
    if (optimiser->first)
        t->backend->find_infinite(optimiser->count, optimiser->first, found);
    if (optimiser->second)
        t->backend->find_infinite(optimiser->count, optimiser->second, found);
}

/* Has the series of the batch that starts there read ahead, if there is one. */
static void prefetch_batch(const struct training *t, size_t first)
{
    const struct tensor_dataset *data = t->data;

    if (data->prefetch && first < data->count)
        data->prefetch(data->context, t->order + first,
                       size_min(t->options->batch, data->count - first));
}

static struct error *train_epoch(struct training *t, size_t epoch, double rate, double *loss)
{
    size_t size = t->options->batch;
    double sum = 0;

    plan_epoch(t, epoch, rate);
    prefetch_batch(t, 0);
    for (size_t first = 0; first < t->data->count; first += size) {
        prefetch_batch(t, first + size);
        if (t->data->count - first >= size)
            t->backend->repeat(&t->step);
        else
            train_step(t, t->data->count - first);
        TRY(cluster_check(t->options->cluster));
    }
    check_values(t);
    TRY(backend_fetch(t->backend, t->losses, t->device_losses,
                      (t->batches + 1) * sizeof *t->losses));
    for (size_t i = 0; i < t->batches; i++) {
        size_t left = t->data->count - i * size;

        if (!isfinite(t->losses[i]))
            return error_make("training: the loss is not a number in epoch %zu: use a smaller "
                              "learning rate, or scale the series first (sc-scale)",
                              epoch + 1);
        sum += t->losses[i] * (double)(left < size ? left : size);
    }
    if (t->losses[t->batches] != 0)
        return error_make("training: the network has values that are not finite after epoch %zu: "
                          "use a smaller learning rate, or scale the series first (sc-scale)",
                          epoch + 1);
    *loss = sum / (double)t->data->count;
    return NULL;
}

/* Whether an epoch is better than the best so far.  Until one has been validated, the latest is. */
static bool is_better(const struct training *t, const struct train_epoch *epoch)
{
    const struct train_result *best = &t->state.best;

    if (t->options->choose == TRAIN_CHOOSE_LAST || isnan(best->validation_loss))
        return true;
    if (isnan(epoch->validation_loss))
        return false;
    if (t->options->choose == TRAIN_CHOOSE_ACCURACY) {
        if (epoch->validation_accuracy > best->validation_accuracy)
            return true;
        if (epoch->validation_accuracy < best->validation_accuracy)
            return false;
    }
    return epoch->validation_loss < best->validation_loss;
}

/* Keeps the parameters if they are the best so far. */
static void keep_best(struct training *t, const struct train_epoch *epoch)
{
    struct train_result *best = &t->state.best;

    best->loss = epoch->loss;
    if (!is_better(t, epoch))
        return;
    best->best_epoch = epoch->epoch;
    best->validation_loss = epoch->validation_loss;
    best->validation_accuracy = epoch->validation_accuracy;
    copy_values(t, t->network->parameter_count, t->parameters, t->best_parameters);
    copy_values(t, t->network->buffer_count, t->buffers, t->best_buffers);
}

static struct error *save_if_due(struct training *t, bool now)
{
    size_t every = t->options->checkpoint_every;

    if (!t->options->checkpoint ||
        (!now && t->state.epoch % (every ? every : CHECKPOINT_EVERY) != 0))
        return NULL;
    return train_checkpoint_write(t->options->checkpoint, &t->state);
}

static bool validation_is_due(const struct training *t)
{
    size_t every = t->options->validate_every ? t->options->validate_every : 1;
    size_t epoch = t->state.epoch + 1;

    return t->validation && (epoch % every == 0 || epoch == t->options->epochs);
}

static bool is_over(const struct training *t)
{
    const struct train_options *options = t->options;

    return t->state.best.interrupted || t->state.epoch >= options->epochs ||
           (options->patience && t->validation && t->state.epoch > 0 &&
            t->state.epoch - t->state.best.best_epoch >= options->patience);
}

/* One epoch and all that follows it. */
static struct error *run_epoch(struct training *t)
{
    const struct train_options *options = t->options;
    double rate = options->cosine
                      ? cosine_rate(options->optimiser.rate, t->state.epoch, options->epochs)
                      : options->optimiser.rate;
    struct train_epoch epoch = {.epoch = t->state.epoch + 1,
                                .epochs = options->epochs,
                                .rate = rate,
                                .validation_loss = NAN,
                                .validation_accuracy = NAN,
                                .parameters = t->parameters,
                                .buffers = t->buffers};

    TRY(train_epoch(t, t->state.epoch, rate, &epoch.loss));
    if (validation_is_due(t))
        TRY(network_evaluate(t->pass, &options->loss, t->parameters, t->buffers,
                             &t->validation_view, &epoch.validation_loss,
                             &epoch.validation_accuracy));
    TRY(cluster_check(options->cluster));
    t->state.epoch++;
    keep_best(t, &epoch);
    epoch.best_epoch = t->state.best.best_epoch;
    if (options->progress && !options->progress(options->context, &epoch))
        t->state.best.interrupted = true;
    return save_if_due(t, is_over(t));
}

static struct error *check_dataset(const struct network *network, const struct tensor_dataset *data,
                                   const struct loss *loss, const char *what)
{
    size_t classes = network->architecture.classes;

    if (data->count == 0)
        return error_make("training: the %s set is empty", what);
    if (network->architecture.features && !data->features)
        return error_make("training: the network expects %zu features, the %s set has none",
                          network->architecture.features, what);
    if (loss->kind == LOSS_LABELS ? !data->labels : !data->targets)
        return error_make("training: the %s set has no %s", what,
                          loss->kind == LOSS_LABELS ? "labels" : "soft labels");
    for (size_t i = 0; data->labels && i < data->count; i++)
        if (data->labels[i] < 0 || (size_t)data->labels[i] >= classes)
            return error_make("training: label %d of series %zu of the %s set is not in 0..%zu",
                              (int)data->labels[i], i, what, classes - 1);
    return NULL;
}

static struct error *run(struct training *t, struct train_result *result)
{
    bool found = false;

    if (t->options->checkpoint) {
        TRY(take_fingerprint(t));
        TRY(train_checkpoint_read(t->options->checkpoint, &t->state, &found));
    }
    while (!is_over(t))
        TRY(run_epoch(t));
    *result = t->state.best;
    result->epochs = t->state.epoch;
    if (t->options->last_parameters) {
        copy_values(t, t->network->parameter_count, t->parameters, t->options->last_parameters);
        copy_values(t, t->network->buffer_count, t->buffers, t->options->last_buffers);
    }
    return backend_check(t->backend);
}

struct error *train_network(const struct network *network, const struct train_options *options,
                            const struct tensor_dataset *data,
                            const struct tensor_dataset *validation, float *parameters,
                            float *buffers, struct train_result *result)
{
    struct training training = {.network = network,
                                .backend = network->backend,
                                .options = options,
                                .data = data,
                                .validation = validation};
    struct error *error;

    if (options->epochs == 0 || options->batch == 0)
        return error_make("training: epochs and batch must be at least 1");
    TRY(check_dataset(network, data, &options->loss, "training"));
    if (validation) {
        struct loss held_out = loss_for(&options->loss, validation);

        TRY(check_dataset(network, validation, &held_out, "validation"));
    }
    error = training_start(&training, parameters, buffers);
    if (!error)
        error = run(&training, result);
    training_free(&training);
    return error;
}
