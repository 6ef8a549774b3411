/* Training: it learns, it can be interrupted, and it says what is wrong. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "base/random.h"
#include "nn/train.h"

enum { SERIES = 60, STEPS = 24, CHANNELS = 2, CLASSES = 3 };

struct fixture {
    struct network *network;
    float x[SERIES * CHANNELS * STEPS], targets[SERIES * CLASSES];
    int32_t labels[SERIES];
    struct tensor_dataset training, validation;
    float *parameters, *buffers;
    char checkpoint[64];
};

/* Sines of three frequencies under noise: easy to tell apart, not trivial. */
static void make_series(struct fixture *f)
{
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);

    for (size_t i = 0; i < SERIES; i++) {
        f->labels[i] = (int32_t)(i % CLASSES);
        for (size_t c = 0; c < CLASSES; c++)
            f->targets[i * CLASSES + c] = c == i % CLASSES ? 3.0f : (float)random_normal(&stream);
        for (size_t c = 0; c < CHANNELS; c++)
            for (size_t t = 0; t < STEPS; t++)
                f->x[(i * CHANNELS + c) * STEPS + t] =
                    (float)(sin((double)((t + i) * (i % CLASSES + 1)) * 0.5) +
                            0.3 * random_normal(&stream));
    }
}

static void set_up_with(struct fixture *f, const char *text)
{
    struct architecture architecture;

    memset(f, 0, sizeof *f);
    assert_ok(architecture_parse(text, &architecture));
    architecture.channels = CHANNELS;
    architecture.length = STEPS;
    architecture.classes = CLASSES;
    assert_ok(network_new(&architecture, backend_cpu(), &f->network));
    make_series(f);
    f->training =
        (struct tensor_dataset){.count = 40, .x = f->x, .labels = f->labels, .targets = f->targets};
    f->validation = (struct tensor_dataset){.count = 20,
                                            .x = f->x + 40 * CHANNELS * STEPS,
                                            .labels = f->labels + 40,
                                            .targets = f->targets + 40 * CLASSES};
    f->parameters = calloc(f->network->parameter_count, sizeof *f->parameters);
    f->buffers = calloc(f->network->buffer_count + 1, sizeof *f->buffers);
    network_initialise(f->network, 1, 0, f->parameters, f->buffers);
    snprintf(f->checkpoint, sizeof f->checkpoint, "/tmp/shapecond-train-%ld", (long)getpid());
    unlink(f->checkpoint);
}

static void set_up(struct fixture *f)
{
    set_up_with(f, "cnn depth=2 width=8");
}

static void tear_down(struct fixture *f)
{
    unlink(f->checkpoint);
    network_free(f->network);
    free(f->parameters);
    free(f->buffers);
}

static struct train_options quick(void)
{
    struct train_options options = train_defaults();

    options.epochs = 12;
    options.batch = 16; /* 40 series: the last batch is smaller */
    options.optimiser.rate = 1e-2;
    return options;
}

static void restart(struct fixture *f)
{
    network_initialise(f->network, 1, 0, f->parameters, f->buffers);
}

static float *copy_of(const float *from, size_t count)
{
    float *copy = malloc((count + 1) * sizeof *copy);

    memcpy(copy, from, count * sizeof *copy);
    return copy;
}

/* Series that were announced: how often each, and batches of which size. */
static size_t announced[40], announced_batches[3], announcements;

static void note_series(const void *context, const size_t *indices, size_t count)
{
    assert_ptr_equal(context, announced);
    assert_true(announcements < 3);
    announced_batches[announcements++] = count;
    for (size_t i = 0; i < count; i++)
        announced[indices[i]]++;
}

static void series_are_announced_once_before_their_batch(void **state)
{
    struct train_options options = quick();
    struct train_result result;
    struct fixture f;

    (void)state;
    set_up(&f);
    options.epochs = 1;
    f.training.prefetch = note_series;
    f.training.context = announced;
    assert_ok(
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(announced[i], 1);
    assert_int_equal(announcements, 3);
    assert_int_equal(announced_batches[0], 16);
    assert_int_equal(announced_batches[2], 8);
    tear_down(&f);
}

static void training_learns_to_tell_classes_apart(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result result;
    struct pass *pass;
    double loss, accuracy;

    (void)state;
    set_up(&f);
    options.epochs = 40;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &result));
    assert_true(result.validation_accuracy > 0.9);
    assert_ok(pass_new(f.network, 7, 0, &pass));
    assert_ok(network_evaluate(pass, &options.loss, f.parameters, f.buffers, &f.validation, &loss,
                               &accuracy));
    assert_near(loss, result.validation_loss, 1e-6);
    assert_near(accuracy, result.validation_accuracy, 1e-9);
    pass_free(pass);
    tear_down(&f);
}

struct stop_at {
    size_t epoch;
    double losses[64], held_out[64];
};

static bool stop(void *context, const struct train_epoch *epoch)
{
    struct stop_at *at = context;

    at->losses[epoch->epoch] = epoch->loss;
    at->held_out[epoch->epoch] = epoch->validation_loss;
    return epoch->epoch != at->epoch;
}

static void an_interrupted_training_goes_on_to_the_same_bytes(void **state)
{
    static const enum optimiser_kind kinds[] = {OPTIMISER_SGD, OPTIMISER_ADAMW};
    struct fixture f;

    (void)state;
    set_up(&f);
    for (size_t k = 0; k < 2; k++) {
        struct train_options options = quick();
        struct train_result whole, parts = {0};
        struct stop_at at = {.epoch = 5};
        size_t count = f.network->parameter_count;
        float *parameters, *buffers;

        options.optimiser.kind = kinds[k];
        options.optimiser.momentum = 0.9;
        restart(&f);
        assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                                f.buffers, &whole));
        parameters = copy_of(f.parameters, count);
        buffers = copy_of(f.buffers, f.network->buffer_count);

        options.checkpoint = f.checkpoint;
        options.checkpoint_every = 3;
        options.progress = stop;
        options.context = &at;
        unlink(f.checkpoint);
        do { /* stopped after epochs 5 and 8 */
            restart(&f);
            assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                                    f.buffers, &parts));
            assert_int_equal(parts.epochs, at.epoch < 12 ? at.epoch : 12);
            at.epoch += at.epoch == 5 ? 3 : 10;
        } while (parts.interrupted);
        assert_memory_equal(f.parameters, parameters, count * sizeof *parameters);
        assert_memory_equal(f.buffers, buffers, f.network->buffer_count * sizeof *buffers);
        assert_int_equal(parts.best_epoch, whole.best_epoch);
        assert_true(parts.validation_loss == whole.validation_loss);
        free(parameters);
        free(buffers);
    }
    tear_down(&f);
}

static void a_checkpoint_of_any_other_training_is_refused(void **state)
{
    enum { LABEL, SERIES_VALUE, VALIDATION, TEMPERATURE, SCALE, RATE, BATCH, DECAY, SEED, CHANGES };
    struct train_options options = quick();
    struct train_result result;
    struct stop_at at = {.epoch = 5};
    struct fixture f;

    (void)state;
    set_up(&f);
    options.checkpoint = f.checkpoint;
    options.progress = stop;
    options.context = &at;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &result));
    assert_true(result.interrupted);
    for (int change = 0; change < CHANGES; change++) {
        struct fixture other = f;
        struct train_options changed = options;

        other.training.labels = other.labels;
        other.training.x = other.x;
        other.validation.x = other.x + (f.validation.x - f.x);
        other.validation.labels = other.labels + (f.validation.labels - f.labels);
        other.labels[0] = (f.labels[0] + (change == LABEL)) % CLASSES;
        other.x[0] += change == SERIES_VALUE;
        other.x[f.validation.x - f.x] += change == VALIDATION;
        changed.loss.temperature += change == TEMPERATURE;
        changed.loss.scale += change == SCALE;
        changed.optimiser.rate *= change == RATE ? 2 : 1;
        changed.batch += change == BATCH;
        changed.optimiser.weight_decay *= change == DECAY ? 2 : 1;
        changed.seed += change == SEED;
        restart(&f);
        assert_fails("belongs to a training with other data or options",
                     train_network(f.network, &changed, &other.training, &other.validation,
                                   f.parameters, f.buffers, &result));
    }
    tear_down(&f);
}

/* Wrong answers in the validation set: the more is learned, the worse it gets. */
static void the_best_epoch_before_an_interruption_is_remembered(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result whole, parts;
    struct stop_at at = {.epoch = 8};
    float *parameters, *buffers;

    (void)state;
    set_up(&f);
    for (size_t i = 40; i < SERIES; i++)
        f.labels[i] = (f.labels[i] + 1) % CLASSES;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &whole));
    assert_true(whole.best_epoch < at.epoch);
    parameters = copy_of(f.parameters, f.network->parameter_count);
    buffers = copy_of(f.buffers, f.network->buffer_count);
    options.checkpoint = f.checkpoint;
    options.progress = stop;
    options.context = &at;
    for (int run = 0; run < 2; run++, at.epoch = 0) {
        restart(&f);
        assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                                f.buffers, &parts));
        assert_int_equal(parts.interrupted, run == 0);
    }
    assert_int_equal(parts.best_epoch, whole.best_epoch);
    assert_memory_equal(f.parameters, parameters, f.network->parameter_count * sizeof *parameters);
    assert_memory_equal(f.buffers, buffers, f.network->buffer_count * sizeof *buffers);
    free(parameters);
    free(buffers);
    tear_down(&f);
}

static bool note_rate(void *context, const struct train_epoch *epoch)
{
    ((double *)context)[epoch->epoch] = epoch->rate;
    return true;
}

static void the_rate_falls_by_a_cosine_or_stays(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result result;
    double rates[13];

    (void)state;
    set_up(&f);
    options.progress = note_rate;
    options.context = rates;
    assert_ok(
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    assert_near(rates[1], 1e-2, 1e-12);
    assert_near(rates[3] * 100, (2 + sqrt(3)) / 4, 1e-12); /* cos 30 degrees */
    assert_near(rates[5] * 100, 0.75, 1e-12);              /* 60 */
    assert_near(rates[7] * 100, 0.5, 1e-12);               /* 90 */
    assert_near(rates[9] * 100, 0.25, 1e-12);              /* 120 */
    options.cosine = false;
    assert_ok(
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    assert_true(rates[12] == options.optimiser.rate);
    tear_down(&f);
}

static void a_checkpoint_of_other_data_or_options_is_refused(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result result;

    (void)state;
    set_up(&f);
    options.checkpoint = f.checkpoint;
    assert_ok(
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    restart(&f);
    options.seed = 2;
    assert_fails("other data or options", train_network(f.network, &options, &f.training, NULL,
                                                        f.parameters, f.buffers, &result));
    options.seed = 0;
    f.x[5] += 1;
    assert_fails("other data or options", train_network(f.network, &options, &f.training, NULL,
                                                        f.parameters, f.buffers, &result));
    tear_down(&f);
}

static void results_do_not_depend_on_the_number_of_threads(void **state)
{
    static const char *const texts[] = {"cnn depth=2 width=8",
                                        "cnn depth=2 width=20 norm=layer",
                                        "cnn depth=1 width=8 norm=instance act=sigmoid pool=mean",
                                        "mlp depth=2 width=100",
                                        "transformer width=8 ff=8",
                                        "gru hidden=8"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fixture f;
        struct train_options options = quick();
        struct train_result result;
        float *one;

        options.epochs = 3;
        set_up_with(&f, texts[i]);
        parallel_set_threads(1);
        assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                                f.buffers, &result));
        one = copy_of(f.parameters, f.network->parameter_count);
        for (unsigned threads = 2; threads <= 5; threads += 3) {
            parallel_set_threads(threads);
            restart(&f);
            assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                                    f.buffers, &result));
            assert_memory_equal(f.parameters, one, f.network->parameter_count * sizeof *one);
        }
        parallel_set_threads(0);
        free(one);
        tear_down(&f);
    }
}

static void the_logits_of_a_series_do_not_depend_on_the_others_of_its_batch(void **state)
{
    static const char *const texts[] = {"cnn depth=2 width=8", "mlp depth=2 width=50",
                                        "transformer width=8 ff=8", "gru hidden=8"};
    static const size_t batches[] = {1, 3, 17};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        float together[20 * CLASSES], apart[20 * CLASSES];
        struct fixture f;
        struct pass *pass;

        set_up_with(&f, texts[i]);
        assert_ok(pass_new(f.network, 20, 0, &pass));
        assert_ok(network_predict(pass, f.parameters, f.buffers, &f.validation, together, NULL));
        pass_free(pass);
        for (size_t k = 0; k < sizeof batches / sizeof batches[0]; k++) {
            assert_ok(pass_new(f.network, batches[k], 0, &pass));
            assert_ok(network_predict(pass, f.parameters, f.buffers, &f.validation, apart, NULL));
            assert_memory_equal(together, apart, sizeof together);
            pass_free(pass);
        }
        tear_down(&f);
    }
}

static void a_pass_works_when_threads_are_added_after_it_was_made(void **state)
{
    struct fixture f;
    struct pass *pass;
    float before[20 * CLASSES], after[20 * CLASSES];

    (void)state;
    set_up(&f);
    parallel_set_threads(1);
    assert_ok(pass_new(f.network, 20, 0, &pass));
    assert_ok(network_predict(pass, f.parameters, f.buffers, &f.validation, before, NULL));
    parallel_set_threads(4);
    assert_ok(network_predict(pass, f.parameters, f.buffers, &f.validation, after, NULL));
    assert_memory_equal(before, after, sizeof before);
    parallel_set_threads(0);
    pass_free(pass);
    tear_down(&f);
}

static void the_epoch_with_the_lowest_held_out_loss_is_kept(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct stop_at at = {0};
    struct train_result result;

    (void)state;
    set_up(&f);
    options.progress = stop;
    options.context = &at;
    options.optimiser.rate = 0.1; /* bumpy */
    options.cosine = false;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &result));
    for (size_t epoch = 1; epoch <= options.epochs; epoch++)
        assert_true(at.held_out[epoch] >= at.held_out[result.best_epoch]);
    assert_true(result.validation_loss == at.held_out[result.best_epoch]);
    assert_true(result.loss == at.losses[options.epochs]);
    tear_down(&f);
}

/* Held-out accuracies of all epochs, from another progress function. */
static bool note_accuracy(void *context, const struct train_epoch *epoch)
{
    struct stop_at *at = context;

    at->losses[epoch->epoch] = epoch->validation_accuracy;
    at->held_out[epoch->epoch] = epoch->validation_loss;
    return true;
}

static void the_epoch_can_be_chosen_by_accuracy_or_be_the_last(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct stop_at at = {0};
    struct train_result result;
    size_t differ = 0; /* how often the loss would have chosen another */

    (void)state;
    set_up(&f);
    /* Wrong labels: being sure costs loss where it brings accuracy. */
    for (size_t i = 40; i < 46; i++)
        f.labels[i] = (f.labels[i] + 1) % CLASSES;
    options.progress = note_accuracy;
    options.context = &at;
    options.optimiser.rate = 0.1;
    options.cosine = false;
    options.choose = TRAIN_CHOOSE_ACCURACY;
    for (options.seed = 0; options.seed < 40; options.seed++) {
        bool least = true;

        restart(&f);
        assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                                f.buffers, &result));
        for (size_t epoch = 1; epoch <= options.epochs; epoch++) {
            double accuracy = at.losses[epoch], best = at.losses[result.best_epoch];
            bool lower = at.held_out[epoch] < at.held_out[result.best_epoch];

            assert_true(accuracy < best || (accuracy == best && !lower));
            least = least && !lower;
        }
        differ += !least;
    }
    assert_true(differ > 0);
    restart(&f);
    options.choose = TRAIN_CHOOSE_LAST;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &result));
    assert_int_equal(result.best_epoch, options.epochs);
    tear_down(&f);
}

static void only_epochs_that_were_validated_are_chosen(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct stop_at at = {0};
    struct train_result result;

    (void)state;
    set_up(&f);
    options.progress = note_accuracy;
    options.context = &at;
    options.optimiser.rate = 0.1;
    options.cosine = false;
    options.epochs = 11;
    options.validate_every = 4;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &result));
    for (size_t epoch = 1; epoch <= options.epochs; epoch++) {
        assert_int_equal(!isnan(at.held_out[epoch]), epoch % 4 == 0 || epoch == 11);
        assert_false(at.held_out[epoch] < at.held_out[result.best_epoch]);
    }
    assert_true(result.validation_loss == at.held_out[result.best_epoch]);
    tear_down(&f);
}

static void training_stops_early_when_nothing_gets_better(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result result;

    (void)state;
    set_up(&f);
    options.epochs = 500;
    options.optimiser.rate = 0.05;
    options.patience = 4;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &result));
    assert_true(result.epochs < 500);
    assert_int_equal(result.epochs, result.best_epoch + 4);
    tear_down(&f);
}

static void a_loss_that_is_not_a_number_is_an_error_and_the_best_stays(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result result;

    (void)state;
    set_up_with(&f, "cnn depth=2 width=8 norm=none");
    options.optimiser = optimiser_defaults(OPTIMISER_SGD);
    options.optimiser.rate = 1e30;
    assert_fails("loss is not a number in epoch",
                 train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                               f.buffers, &result));
    for (size_t i = 0; i < f.network->parameter_count; i++)
        assert_true(isfinite(f.parameters[i]));
    tear_down(&f);
}

/* The loss of an epoch's last step says nothing about what it did, or about running statistics. */
static void infinity_that_no_loss_shows_is_an_error(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result result;

    (void)state;
    options.batch = SERIES;
    options.epochs = 1;
    set_up_with(&f, "cnn depth=2 width=8 norm=none");
    options.optimiser = optimiser_defaults(OPTIMISER_SGD);
    options.optimiser.rate = 1e300;
    assert_fails(
        "values that are not finite after epoch 1",
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    for (size_t i = 0; i < f.network->parameter_count; i++)
        assert_true(isfinite(f.parameters[i]));
    tear_down(&f);

    set_up(&f);
    f.parameters[0] = 1e25f; /* its variance is too large for a float */
    options.optimiser.rate = 1e-6;
    assert_fails(
        "values that are not finite after epoch 1",
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    for (size_t i = 0; i < f.network->buffer_count; i++)
        assert_true(isfinite(f.buffers[i]));
    tear_down(&f);

    /* Squares of the gradients: a checkpoint with them could not be read. */
    set_up_with(&f, "cnn depth=1 width=8 norm=none");
    for (size_t i = 0; i < SERIES * CHANNELS * STEPS; i++)
        f.x[i] *= 1e23f;
    options.optimiser = optimiser_defaults(OPTIMISER_ADAMW);
    assert_fails(
        "values that are not finite after epoch 1",
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    tear_down(&f);
}

static void soft_labels_are_learned(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result few, many;

    (void)state;
    set_up(&f);
    options.loss = (struct loss){LOSS_KL, 4.0f, 16.0f};
    options.epochs = 2;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &few));
    restart(&f);
    options.epochs = 40;
    assert_ok(train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                            f.buffers, &many));
    assert_true(many.validation_loss < 0.5 * few.validation_loss);
    f.training.targets = NULL;
    assert_fails("training set has no soft labels",
                 train_network(f.network, &options, &f.training, &f.validation, f.parameters,
                               f.buffers, &many));
    tear_down(&f);
}

static void sets_that_do_not_fit_are_refused(void **state)
{
    struct fixture f;
    struct train_options options = quick();
    struct train_result result;

    (void)state;
    set_up(&f);
    f.labels[7] = CLASSES;
    assert_fails(
        "label 3 of series 7 of the training set",
        train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers, &result));
    f.labels[7] = 0;
    f.training.labels = NULL;
    assert_fails("has no labels", train_network(f.network, &options, &f.training, NULL,
                                                f.parameters, f.buffers, &result));
    f.training.count = 0;
    assert_fails("is empty", train_network(f.network, &options, &f.training, NULL, f.parameters,
                                           f.buffers, &result));
    tear_down(&f);
}

/* Of a network that does not change: r <- 0.9 r + 0.1 (the batch), as in PyTorch. */
static void running_statistics_move_by_a_tenth(void **state)
{
    struct train_options options = quick();
    float *after[3];
    struct fixture f;

    (void)state;
    assert_true(train_defaults().optimiser.weight_decay == 1e-4); /* sc-teacher(1) */
    set_up_with(&f, "cnn depth=2 width=8 norm=batch");
    options.optimiser = optimiser_defaults(OPTIMISER_SGD);
    options.optimiser.rate = 1e-30;
    options.batch = SERIES;
    for (size_t epochs = 0; epochs < 3; epochs++) {
        struct train_result result;

        restart(&f);
        options.epochs = epochs;
        if (epochs > 0)
            assert_ok(train_network(f.network, &options, &f.training, NULL, f.parameters, f.buffers,
                                    &result));
        after[epochs] = copy_of(f.buffers, f.network->buffer_count);
    }
    for (size_t i = 0; i < f.network->buffer_count; i++)
        assert_near(after[2][i] - after[1][i], 0.9f * (after[1][i] - after[0][i]), 1e-5);
    assert_true(fabsf(after[1][0] - after[0][0]) > 1e-3f);
    for (size_t epochs = 0; epochs < 3; epochs++)
        free(after[epochs]);
    tear_down(&f);
}

static void an_optimiser_that_is_reset_is_as_new(void **state)
{
    static const float gradient[] = {0.5f, -2, 1e-3f};

    (void)state;
    for (int kind = OPTIMISER_SGD; kind <= OPTIMISER_ADAMW; kind++) {
        struct optimiser_options options = optimiser_defaults((enum optimiser_kind)kind);
        float first[] = {1, 2, 3}, again[] = {1, 2, 3};
        struct optimiser optimiser;

        options.momentum = 0.9;
        assert_ok(optimiser_new(&options, backend_cpu(), 3, &optimiser));
        for (int step = 0; step < 5; step++)
            optimiser_step(&optimiser, 0.1, gradient, first);
        optimiser_reset(&optimiser);
        for (int step = 0; step < 5; step++)
            optimiser_step(&optimiser, 0.1, gradient, again);
        assert_memory_equal(first, again, sizeof first);
        optimiser_free(&optimiser);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_optimiser_that_is_reset_is_as_new),
        cmocka_unit_test(running_statistics_move_by_a_tenth),
        cmocka_unit_test(series_are_announced_once_before_their_batch),
        cmocka_unit_test(training_learns_to_tell_classes_apart),
        cmocka_unit_test(an_interrupted_training_goes_on_to_the_same_bytes),
        cmocka_unit_test(a_checkpoint_of_any_other_training_is_refused),
        cmocka_unit_test(the_best_epoch_before_an_interruption_is_remembered),
        cmocka_unit_test(the_rate_falls_by_a_cosine_or_stays),
        cmocka_unit_test(a_checkpoint_of_other_data_or_options_is_refused),
        cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(the_logits_of_a_series_do_not_depend_on_the_others_of_its_batch),
        cmocka_unit_test(a_pass_works_when_threads_are_added_after_it_was_made),
        cmocka_unit_test(the_epoch_with_the_lowest_held_out_loss_is_kept),
        cmocka_unit_test(the_epoch_can_be_chosen_by_accuracy_or_be_the_last),
        cmocka_unit_test(only_epochs_that_were_validated_are_chosen),
        cmocka_unit_test(training_stops_early_when_nothing_gets_better),
        cmocka_unit_test(a_loss_that_is_not_a_number_is_an_error_and_the_best_stays),
        cmocka_unit_test(infinity_that_no_loss_shows_is_an_error),
        cmocka_unit_test(soft_labels_are_learned),
        cmocka_unit_test(sets_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
