/* Epochs of gather, forward, loss, backward, step.  Everything that changes from epoch to epoch is
 * in struct training, and all of it that matters goes into the checkpoint. */
#include "nn/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nn/checkpoint.h"

enum { CHECKPOINT_EVERY = 10, EVALUATION_BATCH = 256 };

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

/* ---- Running over a set ---- */

static size_t series_size(const struct network *network)
{
    return network->architecture.channels * network->architecture.length;
}

/* The part of a set that starts at a series. */
static struct train_set part_of(const struct network *network, const struct train_set *set,
                                size_t first, size_t count)
{
    size_t features = network->architecture.features, classes = network->architecture.classes;

    return (struct train_set){.count = count,
                              .x = set->x + first * series_size(network),
                              .features = set->features ? set->features + first * features : NULL,
                              .labels = set->labels ? set->labels + first : NULL,
                              .targets = set->targets ? set->targets + first * classes : NULL};
}

/* Logits of a part, by the running statistics. */
static const float *run_part(struct pass *pass, const float *parameters, float *buffers,
                             const struct train_set *part, bool same)
{
    struct forward forward = {.count = part->count,
                              .x = part->x,
                              .features = part->features,
                              .parameters = parameters,
                              .buffers = buffers,
                              .same_parameters = same};

    return pass_forward(pass, &forward);
}

void network_predict(struct pass *pass, const float *parameters, float *buffers,
                     const struct train_set *set, float *logits, float *embeddings)
{
    const struct network *network = pass_network(pass);
    size_t most = pass_most(pass), classes = network->architecture.classes;

    for (size_t first = 0; first < set->count; first += most) {
        size_t count = set->count - first < most ? set->count - first : most;
        struct train_set part = part_of(network, set, first, count);
        const float *out = run_part(pass, parameters, buffers, &part, first > 0);

        memcpy(logits + first * classes, out, count * classes * sizeof *logits);
        if (embeddings)
            memcpy(embeddings + first * network->embedding, pass_embedding(pass),
                   count * network->embedding * sizeof *embeddings);
    }
}

/* The loss that a set can be held against. */
static struct loss loss_for(const struct loss *loss, const struct train_set *set)
{
    struct loss labels = {LOSS_LABELS, 1.0f, 1.0f};

    return loss->kind != LOSS_LABELS && !set->targets ? labels : *loss;
}

double network_evaluate(struct pass *pass, const struct loss *loss, const float *parameters,
                        float *buffers, const struct train_set *set, double *accuracy)
{
    const struct network *network = pass_network(pass);
    size_t most = pass_most(pass), classes = network->architecture.classes, correct = 0;
    struct loss used = loss_for(loss, set);
    double sum = 0;

    for (size_t first = 0; first < set->count; first += most) {
        size_t count = set->count - first < most ? set->count - first : most;
        struct train_set part = part_of(network, set, first, count);
        struct targets targets = {part.labels, part.targets};
        const float *logits = run_part(pass, parameters, buffers, &part, first > 0);

        sum += (double)count * loss_value(&used, count, classes, logits, &targets, NULL, NULL);
        if (part.labels)
            correct += count_correct(count, classes, logits, part.labels);
    }
    if (accuracy)
        *accuracy = set->labels ? (double)correct / (double)set->count : NAN;
    return sum / (double)set->count;
}

/* ---- Training ---- */

struct training {
    const struct network *network;
    const struct train_options *options;
    const struct train_set *set, *validation;
    struct pass *pass;
    struct optimiser optimiser;
    size_t *order;
    /* One batch. */
    float *x, *features, *targets, *dlogits, *gradient;
    int32_t *labels;
    float *parameters, *buffers; /* now */
    float *best_parameters, *best_buffers;
    struct checkpoint state;
};

static void *room(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

static struct error *training_start(struct training *t, float *parameters, float *buffers)
{
    const struct network *network = t->network;
    const struct architecture *a = &network->architecture;
    size_t batch = t->options->batch < t->set->count ? t->options->batch : t->set->count;
    size_t held_out = t->validation ? t->validation->count : 0;

    /* A condensed set makes small batches; the validation set need not suffer from it. */
    held_out = held_out < EVALUATION_BATCH ? held_out : EVALUATION_BATCH;
    TRY(pass_new(network, batch > held_out ? batch : held_out, PASS_BACKWARD, &t->pass));
    TRY(optimiser_new(&t->options->optimiser, network->backend, network->parameter_count,
                      &t->optimiser));
    t->order = room(t->set->count, sizeof *t->order);
    t->x = room(batch * series_size(network), sizeof *t->x);
    t->features = room(batch * a->features, sizeof *t->features);
    t->targets = room(batch * a->classes, sizeof *t->targets);
    t->labels = room(batch, sizeof *t->labels);
    t->dlogits = room(batch * a->classes, sizeof *t->dlogits);
    t->gradient = room(network->parameter_count, sizeof *t->gradient);
    t->parameters = room(network->parameter_count, sizeof *t->parameters);
    t->buffers = room(network->buffer_count, sizeof *t->buffers);
    t->best_parameters = parameters;
    t->best_buffers = buffers;
    if (!t->order || !t->x || !t->features || !t->targets || !t->labels || !t->dlogits ||
        !t->gradient || !t->parameters || !t->buffers)
        return error_memory("training");
    memcpy(t->parameters, parameters, network->parameter_count * sizeof *parameters);
    memcpy(t->buffers, buffers, network->buffer_count * sizeof *buffers);
    t->state.network = network;
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
    pass_free(t->pass);
    optimiser_free(&t->optimiser);
    free(t->order);
    free(t->x);
    free(t->features);
    free(t->targets);
    free(t->labels);
    free(t->dlogits);
    free(t->gradient);
    free(t->parameters);
    free(t->buffers);
}

static void digest_set(struct digest *digest, const struct network *network,
                       const struct train_set *set)
{
    const struct architecture *a = &network->architecture;

    digest_add(digest, &set->count, sizeof set->count);
    digest_add(digest, set->x, set->count * series_size(network) * sizeof *set->x);
    if (set->features)
        digest_add(digest, set->features, set->count * a->features * sizeof *set->features);
    if (set->labels)
        digest_add(digest, set->labels, set->count * sizeof *set->labels);
    if (set->targets)
        digest_add(digest, set->targets, set->count * a->classes * sizeof *set->targets);
}

/* Of all that the result depends on: a checkpoint of anything else must not be used. */
static void take_fingerprint(struct training *t)
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
    digest_set(&digest, t->network, t->set);
    if (t->validation)
        digest_set(&digest, t->network, t->validation);
    digest_add(&digest, t->parameters, t->network->parameter_count * sizeof *t->parameters);
    digest_add(&digest, t->buffers, t->network->buffer_count * sizeof *t->buffers);
    digest_finish(&digest, t->state.fingerprint);
}

/* Copies the series of a batch together. */
static void gather(struct training *t, const size_t *order, size_t count)
{
    const struct architecture *a = &t->network->architecture;
    size_t size = series_size(t->network);

    for (size_t i = 0; i < count; i++) {
        size_t from = order[i];

        memcpy(t->x + i * size, t->set->x + from * size, size * sizeof *t->x);
        if (a->features)
            memcpy(t->features + i * a->features, t->set->features + from * a->features,
                   a->features * sizeof *t->features);
        if (t->set->labels)
            t->labels[i] = t->set->labels[from];
        if (t->set->targets)
            memcpy(t->targets + i * a->classes, t->set->targets + from * a->classes,
                   a->classes * sizeof *t->targets);
    }
}

/* One step on the gathered batch; its loss. */
static double train_batch(struct training *t, size_t count, double rate)
{
    struct forward forward = {.count = count,
                              .x = t->x,
                              .features = t->features,
                              .parameters = t->parameters,
                              .buffers = t->buffers,
                              .training = true,
                              .momentum = 0.1f};
    struct targets targets = {t->labels, t->targets};
    const float *logits = pass_forward(t->pass, &forward);
    double loss = loss_value(&t->options->loss, count, t->network->architecture.classes, logits,
                             &targets, t->dlogits, NULL);

    pass_backward(t->pass, &(struct backward){.logits = t->dlogits, .parameters = t->gradient});
    optimiser_step(&t->optimiser, rate, t->gradient, t->parameters);
    return loss;
}

static struct error *train_epoch(struct training *t, size_t epoch, double rate, double *loss)
{
    struct random_stream stream =
        random_stream(t->options->seed, RANDOM_SHUFFLE, t->options->index << 32 | epoch);
    double sum = 0;

    for (size_t i = 0; i < t->set->count; i++)
        t->order[i] = i;
    random_shuffle(&stream, t->order, t->set->count);
    for (size_t first = 0; first < t->set->count; first += t->options->batch) {
        size_t left = t->set->count - first;
        size_t count = left < t->options->batch ? left : t->options->batch;
        double value;

        gather(t, t->order + first, count);
        value = train_batch(t, count, rate);
        if (!isfinite(value))
            return error_make("training: the loss is not a number in epoch %zu: use a smaller "
                              "learning rate",
                              epoch + 1);
        sum += value * (double)count;
    }
    *loss = sum / (double)t->set->count;
    return NULL;
}

/* By the bits: an exponent of all ones is infinity or not a number.  A loop that becomes vectors.
 */
static bool all_finite(const float *values, size_t count)
{
    int32_t largest = 0;

    for (size_t i = 0; i < count; i++) {
        int32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    return largest < 0x7f800000;
}

/* The loss may not show yet what the last step has done. */
static struct error *check_values(const struct training *t, size_t epoch)
{
    const struct network *network = t->network;
    const struct optimiser *optimiser = &t->optimiser;

    if (!all_finite(t->parameters, network->parameter_count) ||
        !all_finite(t->buffers, network->buffer_count) ||
        !all_finite(optimiser->first, optimiser->count) ||
        (optimiser->second && !all_finite(optimiser->second, optimiser->count)))
        return error_make("training: the network has values that are not finite after epoch %zu: "
                          "use a smaller learning rate",
                          epoch + 1);
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
    memcpy(t->best_parameters, t->parameters,
           t->network->parameter_count * sizeof *t->best_parameters);
    memcpy(t->best_buffers, t->buffers, t->network->buffer_count * sizeof *t->best_buffers);
}

static struct error *save_if_due(struct training *t, bool now)
{
    size_t every = t->options->checkpoint_every;

    if (!t->options->checkpoint ||
        (!now && t->state.epoch % (every ? every : CHECKPOINT_EVERY) != 0))
        return NULL;
    return checkpoint_write(t->options->checkpoint, &t->state);
}

static bool validation_is_due(const struct training *t)
{
    size_t every = t->options->validate_every ? t->options->validate_every : 1;
    size_t epoch = t->state.epoch + 1;

    return t->validation && (epoch % every == 0 || epoch == t->options->epochs);
}

/* One epoch and all that follows it; *go_on is cleared when it shall be the last. */
static struct error *run_epoch(struct training *t, bool *go_on)
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
    TRY(check_values(t, t->state.epoch));
    if (validation_is_due(t))
        epoch.validation_loss = network_evaluate(t->pass, &options->loss, t->parameters, t->buffers,
                                                 t->validation, &epoch.validation_accuracy);
    t->state.epoch++;
    keep_best(t, &epoch);
    epoch.best_epoch = t->state.best.best_epoch;
    if (options->progress && !options->progress(options->context, &epoch))
        t->state.best.interrupted = true;
    *go_on = !t->state.best.interrupted && t->state.epoch < options->epochs &&
             !(options->patience && t->validation &&
               t->state.epoch - t->state.best.best_epoch >= options->patience);
    return save_if_due(t, !*go_on);
}

static struct error *check_set(const struct network *network, const struct train_set *set,
                               const struct loss *loss, const char *what)
{
    size_t classes = network->architecture.classes;

    if (set->count == 0)
        return error_make("training: the %s set is empty", what);
    if (network->architecture.features && !set->features)
        return error_make("training: the network expects %zu features, the %s set has none",
                          network->architecture.features, what);
    if (loss->kind == LOSS_LABELS ? !set->labels : !set->targets)
        return error_make("training: the %s set has no %s", what,
                          loss->kind == LOSS_LABELS ? "labels" : "soft labels");
    for (size_t i = 0; set->labels && i < set->count; i++)
        if (set->labels[i] < 0 || (size_t)set->labels[i] >= classes)
            return error_make("training: label %d of series %zu of the %s set is not in 0..%zu",
                              (int)set->labels[i], i, what, classes - 1);
    return NULL;
}

static bool patience_is_over(const struct training *t)
{
    return t->options->patience && t->validation && t->state.epoch > 0 &&
           t->state.epoch - t->state.best.best_epoch >= t->options->patience;
}

static struct error *run(struct training *t, struct train_result *result)
{
    bool found = false, go_on;

    if (t->options->checkpoint) {
        take_fingerprint(t);
        TRY(checkpoint_read(t->options->checkpoint, &t->state, &found));
    }
    go_on = t->state.epoch < t->options->epochs && !patience_is_over(t);
    while (go_on)
        TRY(run_epoch(t, &go_on));
    *result = t->state.best;
    result->epochs = t->state.epoch;
    return NULL;
}

struct error *train_network(const struct network *network, const struct train_options *options,
                            const struct train_set *set, const struct train_set *validation,
                            float *parameters, float *buffers, struct train_result *result)
{
    struct training training = {
        .network = network, .options = options, .set = set, .validation = validation};
    struct error *error;

    if (options->epochs == 0 || options->batch == 0)
        return error_make("training: epochs and batch must be at least 1");
    TRY(check_set(network, set, &options->loss, "training"));
    if (validation) {
        struct loss held_out = loss_for(&options->loss, validation);

        TRY(check_set(network, validation, &held_out, "validation"));
    }
    error = training_start(&training, parameters, buffers);
    if (!error)
        error = run(&training, result);
    training_free(&training);
    return error;
}
