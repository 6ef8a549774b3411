/* sc-teacher: train a network on a labelled dataset, with shapelet features or without (paper,
 * 3.2). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/curve.h"
#include "common/device_option.h"
#include "common/progress.h"
#include "common/shapelets.h"
#include "common/training.h"
#include "eval/student.h"

struct teacher_cli {
    struct cli_common common;
    const char *labels;
    const char *validate;
    const char *test;
    struct shapelets_cli shapelets;
    const char *network;
    struct training_cli training;
    const char *checkpoint;
    size_t checkpoint_every;
    const char *log;
    const char *last;
    int device;
    struct cluster_cli cluster;
};

static const struct cli_option options[] = {
    {'v', "validate", "FILE", CLI_FILE, CLI_AT(teacher_cli, validate),
     "validation dataset by which the best epoch is chosen"},
    {'t', "test", "FILE", CLI_FILE, CLI_AT(teacher_cli, test),
     "test dataset: report its accuracy at the end"},
    SHAPELETS_OPTIONS(teacher_cli),
    {'n', "network", "TEXT", CLI_TEXT, CLI_AT(teacher_cli, network),
     "what to train, such as 'cnn depth=3 width=32'"},
    TRAINING_OPTIONS(teacher_cli, "", ""),
    {0, "checkpoint", "FILE", CLI_OUTPUT, CLI_AT(teacher_cli, checkpoint),
     "keep the state there, and resume from it if the run was interrupted"},
    {0, "checkpoint-every", "N", CLI_SIZE, CLI_AT(teacher_cli, checkpoint_every),
     "epochs between two checkpoints", .low = 1, .unrecorded = true},
    {'l', "log", "FILE", CLI_OUTPUT, CLI_AT(teacher_cli, log), "write a table of all epochs"},
    {0, "last", "FILE", CLI_OUTPUT, CLI_AT(teacher_cli, last),
     "with --validate: also write the network of the last epoch"},
    DEVICE_OPTION(teacher_cli),
    CLUSTER_OPTIONS(teacher_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(teacher_cli, labels),
     "file that holds the labels of the first dataset alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-teacher",
    .arguments = "[FILE]",
    .summary = "Trains a network on a labelled dataset.",
    .example = "sc-teacher -v val.npy train.npy -o teacher.tch",
    .options = options,
    .most_files = 1,
    .random = true,
    .computes = true,
};

/* The files of a run. */
struct datasets {
    struct examples train, validation, test; /* those not given: all zeros */
};

static void read_datasets(const struct teacher_cli *opt, const struct feature_source *source,
                          struct datasets *datasets)
{
    int32_t missing;

    *datasets = (struct datasets){.train.name = NULL};
    cli_check(
        examples_read_expanded(cli_input(&opt->common), opt->labels, source, &datasets->train));
    cluster_check_dataset(source->cluster, datasets->train.name, &datasets->train.dataset);
    missing = examples_missing_class(&datasets->train);
    if (missing >= 0)
        cli_check(error_make("%s: class %d of %zu has no series", datasets->train.name,
                             (int)missing, datasets->train.dataset.classes));
    if (opt->validate) {
        cli_check(examples_read(opt->validate, NULL, source, &datasets->validation));
        cluster_check_input(source->cluster, opt->validate, datasets->validation.dataset.digest);
        cli_check(examples_match(&datasets->train, &datasets->validation));
    }
    if (opt->test) {
        cli_check(examples_read(opt->test, NULL, source, &datasets->test));
        cli_check(examples_match(&datasets->train, &datasets->test));
    }
}

static bool show_epoch(void *context, const struct train_epoch *epoch)
{
    char text[128];
    int used = snprintf(text, sizeof text, "epoch %zu of %zu, loss %.4f", epoch->epoch,
                        epoch->epochs, epoch->loss);

    if (!isnan(epoch->validation_loss))
        snprintf(text + used, sizeof text - (size_t)used, ", held out %.4f, accuracy %.2f %%",
                 epoch->validation_loss, 100 * epoch->validation_accuracy);
    progress_update(epoch->epoch, text);
    cli_check(curve_add(context, epoch));
    return true;
}

static void train(const struct teacher_cli *opt, const struct datasets *datasets,
                  struct cluster *cluster, struct teacher *teacher, struct teacher *last,
                  struct train_result *result)
{
    struct tensor_dataset data = examples_tensors(&datasets->train);
    struct tensor_dataset validation = examples_tensors(&datasets->validation);
    struct train_options train;
    struct curve curve = {.path = opt->log};

    training_options(&opt->training, data.count, validation.count, &train);
    /* A teacher is trained on labels, even where the dataset has soft labels. */
    train.loss = student_loss(false, 1);
    train.seed = opt->common.seed;
    train.cluster = cluster;
    train.checkpoint = opt->checkpoint;
    train.checkpoint_every = opt->checkpoint_every;
    train.progress = show_epoch;
    train.context = &curve;
    train.last_parameters = last->parameters;
    train.last_buffers = last->buffers;
    network_initialise(teacher->network, opt->common.seed, 0, teacher->parameters,
                       teacher->buffers);
    progress_start("sc-teacher", train.epochs, opt->common.quiet);
    cli_check(train_network(teacher->network, &train, &data, opt->validate ? &validation : NULL,
                            teacher->parameters, teacher->buffers, result));
    progress_end();
    cli_check(curve_end(&curve));
}

/* Prints the accuracy on a dataset, in percent. */
static double report(const struct examples *examples, const char *role,
                     const struct teacher *teacher)
{
    struct score score;
    double percent;

    cli_check(score_teacher(teacher, examples, &score));
    percent = 100 * score.accuracy;
    cli_say("%s accuracy %.2f %% (%s, %zu series)", role, percent, examples->name,
            examples->dataset.count);
    score_free(&score);
    return percent;
}

/* loss NAN: not known. */
static void add_note(char **notes, const struct train_result *result, size_t epoch, double accuracy,
                     double loss)
{
    char *longer, text[32] = "";

    if (!isnan(loss))
        snprintf(text, sizeof text, ", loss %.4f", loss);
    if (asprintf(&longer, "%s\nepoch %zu of %zu, validation accuracy %.2f %%%s", *notes, epoch,
                 result->epochs, accuracy, text) < 0)
        cli_check(error_memory("notes"));
    free(*notes);
    *notes = longer;
}

static void record(const struct teacher_cli *opt, const struct datasets *datasets,
                   const struct shapelet_pool *pool, struct teacher *teacher)
{
    const char *digests[] = {datasets->train.dataset.digest, datasets->train.dataset.label_digest,
                             pool->digest, datasets->validation.dataset.digest};

    cli_record(&opt->common, &teacher->notes, digests, 4);
}

static void write_teacher(const struct teacher_cli *opt, const struct datasets *datasets,
                          const struct shapelet_pool *pool, const struct train_result *result,
                          struct teacher *teacher, FILE *stream)
{
    record(opt, datasets, pool, teacher);
    if (opt->validate)
        add_note(&teacher->notes, result, result->best_epoch,
                 report(&datasets->validation, "validation", teacher), result->validation_loss);
    if (opt->test)
        report(&datasets->test, "test", teacher);
    cli_check_written(opt->common.output, teacher_write(stream, teacher));
}

static void write_last(const struct teacher_cli *opt, const struct datasets *datasets,
                       const struct shapelet_pool *pool, const struct train_result *result,
                       struct teacher *last, FILE *stream)
{
    record(opt, datasets, pool, last);
    add_note(&last->notes, result, result->epochs,
             report(&datasets->validation, "last epoch: validation", last), NAN);
    cli_check_written(opt->last, teacher_write(stream, last));
}

int main(int argc, char **argv)
{
    struct teacher_cli opt = {.training = training_defaults(2000, 256, 1e-3),
                              .checkpoint_every = 10,
                              .cluster = CLUSTER_DEFAULTS};
    struct architecture architecture;
    struct shapelet_pool pool;
    struct feature_source source;
    struct cluster *cluster;
    struct device device;
    struct datasets datasets;
    struct teacher teacher, last = {NULL};
    struct train_result result;
    struct output outputs[2];

    cli_parse(argc, argv, &program, &opt);
    if (opt.last && !opt.validate)
        cli_usage("--last is for --validate, without which the last epoch is the result");
    cluster = cluster_chosen(&opt.cluster, &opt.common);
    if (cluster_rank(cluster) > 0)
        opt.log = NULL;
    device = device_chosen(opt.device, false);
    source = shapelets_source(&opt.shapelets, &device, &pool);
    cluster_check_source(cluster, &source);
    read_datasets(&opt, &source, &datasets);
    cli_check(examples_architecture(&datasets.train, opt.network, &architecture));
    cli_check(teacher_new(&architecture, device.backend, &teacher));
    if (opt.last)
        cli_check(teacher_new(&architecture, device.backend, &last));
    /* Before the work, so that a place where nothing can be written is known at once. */
    cli_open_output(opt.common.output, true, &outputs[0]);
    if (opt.last)
        cli_open_output(opt.last, true, &outputs[1]);
    train(&opt, &datasets, cluster, &teacher, &last, &result);
    cli_say("epoch %zu of %zu kept, loss of the last %.4f", result.best_epoch, result.epochs,
            result.loss);
    write_teacher(&opt, &datasets, &pool, &result, &teacher, outputs[0].stream);
    if (opt.last)
        write_last(&opt, &datasets, &pool, &result, &last, outputs[1].stream);
    cli_commit(outputs, opt.last ? 2 : 1);
    /* The run is complete: remove its checkpoint. */
    if (cluster_rank(cluster) == 0)
        cli_remove_checkpoint(opt.checkpoint);
    cluster_done(cluster);
    teacher_free(&teacher);
    teacher_free(&last);
    examples_free(&datasets.train);
    examples_free(&datasets.validation);
    examples_free(&datasets.test);
    slp_free(&pool);
    return 0;
}
