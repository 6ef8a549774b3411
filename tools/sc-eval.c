/* sc-eval: how well networks learn from a dataset: train fresh ones on it and score them on other
 * series (paper, 4.1). */
#include <math.h>
#include <stdlib.h>

#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/device_option.h"
#include "common/progress.h"
#include "common/shapelets.h"
#include "common/training.h"
#include "eval/labeller.h"
#include "eval/report.h"
#include "eval/student.h"

struct eval_cli {
    struct cli_common common;
    const char *validate;
    struct shapelets_cli shapelets;
    int classifier;
    const char *teacher, *command;
    double patience;
    const char *network;
    size_t seeds;
    bool soft, hard;
    double temperature;
    struct training_cli training;
    const char *full;
    bool confusion;
    bool json;
    int device;
    struct cluster_cli cluster;
    const char *labels;
};

enum { CLASSIFIER_NETWORK, CLASSIFIER_SHAPELETS };
static const char *const classifiers[] = {"network", "shapelets", NULL};

static const struct cli_option options[] = {
    {'v', "validate", "FILE", CLI_FILE, CLI_AT(eval_cli, validate),
     "validation dataset by which the epoch of each student is chosen"},
    {0, "seeds", "N", CLI_SIZE, CLI_AT(eval_cli, seeds), "students to train", .low = 1,
     .high = 10000},
    {0, "soft", NULL, CLI_FLAG, CLI_AT(eval_cli, soft), "learn the soft labels [if there are any]"},
    {0, "hard", NULL, CLI_FLAG, CLI_AT(eval_cli, hard), "learn the labels"},
    {'T', "temperature", "T", CLI_REAL, CLI_AT(eval_cli, temperature),
     "of the soft labels [4; with views of more than 20 classes 1]", .low = 0.01, .high = 1000},
    SHAPELETS_OPTIONS(eval_cli),
    {'n', "network", "TEXT", CLI_TEXT, CLI_AT(eval_cli, network),
     "what to train, such as 'cnn depth=3 width=32'"},
    {0, "classifier", "KIND", CLI_CHOICE, CLI_AT(eval_cli, classifier),
     "networks, or one logistic regression on shapelet distances", .choices = classifiers},
    {0, "teacher", "FILE", CLI_FILE, CLI_AT(eval_cli, teacher),
     "train nothing: score this network"},
    {0, "teacher-command", "CMD", CLI_TEXT, CLI_AT(eval_cli, command),
     "train nothing: score this program (sc-teacher-command(7))"},
    {0, "teacher-timeout", "S", CLI_REAL, CLI_AT(eval_cli, patience),
     "seconds to wait for each of its answers", .low = 0.001, .high = 1e6, .unrecorded = true},
    TRAINING_OPTIONS(eval_cli, " [1000; with views 2000]", " [256; with views 64]"),
    {'f', "full", "A", CLI_TEXT, CLI_AT(eval_cli, full),
     "accuracy with all data, in %, for the ratio to it; or a table that sc-eval wrote",
     .reads = true},
    {0, "confusion", NULL, CLI_FLAG, CLI_AT(eval_cli, confusion), "add the confusion matrix"},
    {0, "json", NULL, CLI_FLAG, CLI_AT(eval_cli, json), "write JSON"},
    DEVICE_OPTION(eval_cli),
    CLUSTER_OPTIONS(eval_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(eval_cli, labels),
     "file that holds the labels of the first dataset alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-eval",
    .arguments = "TRAIN TEST",
    .summary = "Trains fresh networks on one dataset and scores them on another.",
    .example = "sc-eval tiny.npy test.npy",
    .options = options,
    .most_files = 2,
    .least_files = 2,
    .random = true,
};

static void show_progress(void *context, size_t done, size_t total)
{
    const struct cluster *cluster = context;

    (void)total;
    progress_update(done * cluster_size(cluster), NULL); /* the other ranks do as much */
}

/* Whether to learn soft labels. */
static bool use_soft(const struct eval_cli *opt, const struct examples *train)
{
    if (opt->soft && opt->hard)
        cli_usage("--soft and --hard exclude each other");
    if (opt->soft && !train->dataset.soft)
        cli_check(error_make("%s: has no soft labels", train->name));
    return train->dataset.soft && !opt->hard;
}

/* The rule and rate that were best on validation data.  With shapelet features SGD was better than
 * AdamW for small datasets. */
static struct training_cli choose_training(const struct eval_cli *opt, const struct examples *train,
                                           bool soft)
{
    struct training_cli training = opt->training;
    bool small;

    if (training.batch == SIZE_MAX)
        training.batch = train->views ? 64 : 256;
    small = soft || train->dataset.count <= training.batch;
    if (training.optimiser == TRAINING_AUTO)
        training.optimiser = small && opt->shapelets.pool ? OPTIMISER_SGD : OPTIMISER_ADAMW;
    if (training.steps == SIZE_MAX)
        training.steps = train->views ? 2000 : 1000; /* views take longer to learn */
    if (isnan(training.rate))
        training.rate = student_rate(training.optimiser == OPTIMISER_SGD, soft, train->views > 0,
                                     train->dataset.classes, train->dataset.count);
    return training;
}

static void score_students(const struct eval_cli *opt, const struct feature_source *source,
                           const struct examples *train, const struct examples *validation,
                           const struct examples *test, struct score *scores)
{
    struct tensor_dataset data = examples_tensors(train), held_out = examples_tensors(validation),
                          tested = examples_tensors(test);
    struct student_options students = {.seeds = opt->seeds,
                                       .backend = source->device->backend,
                                       .cluster = source->cluster,
                                       .progress = show_progress,
                                       .context = source->cluster};
    bool soft = use_soft(opt, train);
    struct training_cli training = choose_training(opt, train, soft);
    int32_t missing = examples_missing_class(train);

    if (missing >= 0)
        cli_warn("%s: class %d has no series", train->name, (int)missing);
    held_out.targets = NULL; /* judged by its labels */
    cli_check(examples_architecture(train, opt->network, &students.architecture));
    training_options(&training, data.count, held_out.count, &students.train);
    students.train.loss =
        student_loss(soft, isnan(opt->temperature)
                               ? student_temperature(train->views > 0, train->dataset.classes)
                               : opt->temperature);
    students.train.seed = opt->common.seed;
    progress_start("sc-eval", students.train.epochs * opt->seeds, opt->common.quiet);
    cli_check(students_train(&students, &data, opt->validate ? &held_out : NULL, &tested, scores));
    progress_end();
}

static void read_and_score_teacher(const char *path, const struct feature_source *source,
                                   const struct examples *test, struct score *score)
{
    struct teacher teacher;

    cli_check(teacher_read(path, source->device->backend, &teacher));
    cli_check(examples_match_teacher(test, path, &teacher));
    if (source->pool && !teacher_knows_pool(&teacher, source->pool))
        cli_warn("%s was trained with other shapelets", path);
    cli_check(score_teacher(&teacher, test, score));
    teacher_free(&teacher);
}

static void ask_and_score(const struct eval_cli *opt, const struct feature_source *source,
                          const struct examples *test, struct score *score)
{
    size_t count = test->dataset.count, classes = test->dataset.classes;
    float *logits = calloc(count, classes * sizeof *logits);
    struct labeller labeller;

    if (!logits)
        cli_check(error_memory("predictions"));
    cli_check(labeller_read(NULL, 0, source, &test->dataset, &labeller));
    cli_check(labeller_start_program(&labeller, opt->command, opt->patience, &test->dataset));
    cli_check(labeller_ask(&labeller, test, logits));
    labeller_free(&labeller);
    cli_check(score_make(logits, test->dataset.y, count, classes, score));
    free(logits);
}

/* Trains what is asked for and scores it. */
static void train_and_score(const struct eval_cli *opt, const struct feature_source *source,
                            const struct examples *test, struct score *scores)
{
    struct examples train, validation = {.name = NULL};

    cli_check(examples_read_expanded(opt->common.files[0], opt->labels, source, &train));
    cluster_check_dataset(source->cluster, train.name, &train.dataset);
    cli_check(examples_match(&train, test));
    if (opt->validate) {
        cli_check(examples_read(opt->validate, NULL, source, &validation));
        cluster_check_dataset(source->cluster, opt->validate, &validation.dataset);
        cli_check(examples_match(&train, &validation));
    }
    if (opt->classifier == CLASSIFIER_SHAPELETS)
        cli_check(score_shapelets(&train, test, scores));
    else
        score_students(opt, source, &train, &validation, test, scores);
    examples_free(&validation);
    examples_free(&train);
}

static void check_usage(const struct eval_cli *opt)
{
    bool trained = opt->teacher || opt->command;

    if (opt->teacher && opt->command)
        cli_usage("--teacher and --teacher-command exclude each other");
    if (opt->common.file_count != (trained ? 1 : 2))
        cli_usage(trained ? "a teacher is scored on one dataset: sc-eval --teacher FILE TEST"
                          : "missing arguments: sc-eval TRAIN TEST");
    if (opt->classifier == CLASSIFIER_SHAPELETS && (!opt->shapelets.pool || trained))
        cli_usage("--classifier=shapelets needs --shapelets, and no --teacher");
}

int main(int argc, char **argv)
{
    struct eval_cli opt = {.seeds = 5,
                           .temperature = NAN,
                           .patience = 600,
                           .cluster = CLUSTER_DEFAULTS,
                           .training = training_defaults(SIZE_MAX, SIZE_MAX, NAN)};
    struct report report = {.full = NAN};
    struct shapelet_pool pool;
    struct feature_source source;
    struct cluster *cluster;
    struct device device;
    struct examples test;
    struct score *scores;
    struct output output;

    opt.training.optimiser = TRAINING_AUTO;
    opt.training.choose = TRAIN_CHOOSE_ACCURACY; /* with few series the loss is a worse guide */
    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt);
    report.students = !opt.teacher && !opt.command && opt.classifier == CLASSIFIER_NETWORK;
    report.count = report.students ? opt.seeds : 1;
    report.first_seed = opt.common.seed;
    cluster = cluster_chosen(&opt.cluster, &opt.common);
    if (opt.full)
        cli_check(report_read_full(opt.full, &report.full));
    if (opt.full && !(report.full > 0))
        cli_check(error_make("%s: an accuracy of 0 %% has no ratio to it", opt.full));
    device = device_chosen(opt.device, false);
    source = shapelets_source(&opt.shapelets, &device, &pool);
    cluster_check_source(cluster, &source);
    cli_check(examples_read(opt.common.files[opt.common.file_count - 1], NULL, &source, &test));
    cluster_check_input(cluster, test.name, test.dataset.digest);
    report.scores = scores = calloc(report.count, sizeof *scores);
    if (!scores)
        cli_check(error_memory("scores"));
    /* Before the work, so that a place where nothing can be written is known at once. */
    cli_open_output(opt.common.output, false, &output);
    if (opt.teacher)
        read_and_score_teacher(opt.teacher, &source, &test, scores);
    else if (opt.command)
        ask_and_score(&opt, &source, &test, scores);
    else
        train_and_score(&opt, &source, &test, scores);
    /* Names of the test set, if it has one for every class. */
    if (test.dataset.classes == scores[0].classes)
        report.names = test.dataset.names;
    if (opt.json)
        report_write_json(output.stream, &report);
    else
        report_write_table(output.stream, &report, opt.confusion);
    cli_commit(&output, 1);
    cluster_done(cluster);
    for (size_t i = 0; i < report.count; i++)
        score_free(&scores[i]);
    free(scores);
    examples_free(&test);
    slp_free(&pool);
    return 0;
}
