/* sc-synth: condense a dataset by inverting a teacher: a few series of each class that the teacher
 * is sure of and that look like the whole to it (paper, 3.3). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/device_option.h"
#include "common/progress.h"
#include "common/shapelets.h"
#include "condense/synthesise.h"
#include "base/file.h"
#include "nn/teacher.h"

struct synth_cli {
    struct cli_common common;
    const char *teacher, *command;
    double patience;
    struct shapelets_cli shapelets;
    char teacher_window[24];
    const char *labels;
    int start, norm, statistics, device;
    struct synthesis_options synthesis;
};

static const char *const starts[] = {"real", "kmeans", "noise", "ridge", NULL};
static const char *const norms[] = {"plain", "squared", NULL};
static const char *const statistics[] = {"all", "round", NULL};

static const struct cli_option options[] = {
    {'t', "teacher", "FILE", CLI_FILE, CLI_AT(synth_cli, teacher), "the network to invert"},
    {0, "teacher-command", "CMD", CLI_TEXT, CLI_AT(synth_cli, command),
     "a program in place of a teacher (sc-teacher-command(7))"},
    {0, "teacher-timeout", "S", CLI_REAL, CLI_AT(synth_cli, patience),
     "seconds to wait for each of its answers", .low = 0.001, .high = 1e6, .unrecorded = true},
    SHAPELETS_OPTIONS(synth_cli),
    {'n', "spc", "N", CLI_SIZE, CLI_AT(synth_cli, synthesis.per_class), "series per class",
     .low = 1, .high = 1e6},
    {'i', "init", "KIND", CLI_CHOICE, CLI_AT(synth_cli, start), "what to start from",
     .choices = starts},
    {0, "steps", "N", CLI_SIZE, CLI_AT(synth_cli, synthesis.steps),
     "steps of the optimiser; 0: keep the start; by default 200 from ridge-selected "
     "series, else 2000",
     .high = 1e9},
    {'r', "rate", "R", CLI_REAL, CLI_AT(synth_cli, synthesis.rate),
     "learning rate; by default 0.02 from ridge-selected series, else 0.05", .low = 0,
     .high = 1e30},
    {0, "weight-ce", "W", CLI_REAL, CLI_AT(synth_cli, synthesis.objective.cross_entropy),
     "weight of the cross-entropy", .low = 0, .high = 1e6},
    {0, "weight-bn", "W", CLI_REAL, CLI_AT(synth_cli, synthesis.objective.matching.weight),
     "weight of the distance to the teacher's statistics", .low = 0, .high = 1e6},
    {0, "first-layer", "F", CLI_REAL, CLI_AT(synth_cli, synthesis.objective.matching.first),
     "factor of that weight for the first layer", .low = 0, .high = 1e6},
    {0, "norm", "KIND", CLI_CHOICE, CLI_AT(synth_cli, norm), "how that distance is measured",
     .choices = norms},
    {0, "statistics", "OVER", CLI_CHOICE, CLI_AT(synth_cli, statistics),
     "what they are taken over: all condensed series, or one round of one series per class",
     .choices = statistics},
    DEVICE_OPTION(synth_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(synth_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-synth",
    .arguments = "--teacher=FILE [FILE]",
    .summary = "Condenses a dataset into a few synthetic series per class by inverting a teacher.",
    .example = "sc-synth -t teacher.tch -n 10 train.npy -o tiny.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .computes = true,
};

/* Ridge-selected series must stay near where they start: fewer and smaller steps
 * (pipelines/DECISIONS.md).
 */
static void choose_steps(struct synth_cli *opt)
{
    bool chosen = opt->start == START_RIDGE && opt->shapelets.pool;

    if (opt->synthesis.steps == SIZE_MAX)
        opt->synthesis.steps = chosen ? 200 : 2000;
    if (isnan(opt->synthesis.rate))
        opt->synthesis.rate = chosen ? 0.02 : 0.05;
}

static void check_usage(struct synth_cli *opt)
{
    if (!opt->teacher && !opt->command)
        cli_usage("no teacher given: use --teacher=FILE or --teacher-command=CMD");
    if (opt->teacher && opt->command)
        cli_usage("--teacher and --teacher-command exclude each other");
    if (opt->command && opt->device == DEVICE_CUDA)
        cli_usage("a teacher command computes where it likes: --device is for --teacher");
    choose_steps(opt);
    opt->synthesis.start = (enum start_kind)opt->start;
    opt->synthesis.objective.matching.squared = opt->norm == 1;
    opt->synthesis.by_round = opt->statistics == 1;
    opt->synthesis.seed = opt->common.seed;
}

/* What the teacher's provenance says about its shapelets must be true of ours: other shapelets, or
 * the same tried at other places, are other features.  A window that is not given is the teacher's.
 */
static void match_provenance(const struct teacher *teacher, const struct shapelet_pool *pool,
                             struct synth_cli *opt)
{
    const char *line = teacher->notes ? strstr(teacher->notes, "sc-teacher ") : NULL;
    const char *found;
    char *window = opt->teacher_window;

    if (!line || !opt->shapelets.pool || teacher->network->architecture.features == 0)
        return;
    if (!strstr(line, pool->digest))
        cli_check(error_make("%s: not the pool that %s was trained with",
                             file_shown(opt->shapelets.pool), file_shown(opt->teacher)));
    found = strstr(line, " --window=");
    if (!found || sscanf(found, " --window=%23s", window) != 1)
        strcpy(window, "found");
    if (!opt->shapelets.window)
        opt->shapelets.window = window;
    else if (strcmp(opt->shapelets.window, window) != 0)
        cli_check(error_make("%s was trained with --window=%s", file_shown(opt->teacher), window));
}

static void open_guide(const struct synth_cli *opt, const struct teacher *teacher,
                       const struct dataset *dataset, const struct transform *transform,
                       struct guide *guide)
{
    if (opt->teacher) {
        cli_check(guide_from_teacher(teacher, guide));
        if (!guide->statistics && opt->synthesis.objective.matching.weight > 0)
            cli_say("%s has no batch normalisation: there are no statistics to match",
                    file_shown(opt->teacher));
        return;
    }
    *guide = (struct guide){.channels = dataset->channels,
                            .length = dataset->length,
                            .classes = dataset->classes,
                            .features = transform->count};
    cli_check(guide_from_command(opt->command, opt->patience, guide));
}

static void show_step(void *context, size_t done, size_t total, double loss)
{
    char text[64];

    (void)context;
    (void)total;
    snprintf(text, sizeof text, "loss %.4f", loss);
    progress_update(done, text);
}

static void condense(const struct synth_cli *opt, const struct dataset *dataset,
                     struct guide *guide, const struct transform *transform,
                     struct dataset *condensed)
{
    struct synthesis_options synthesis = opt->synthesis;
    struct synthesis_result result;
    struct error *error;

    synthesis.progress = show_step;
    progress_start("sc-synth", synthesis_steps(&synthesis), opt->common.quiet);
    error = synthesise(&synthesis, dataset, guide, opt->shapelets.pool ? transform : NULL,
                       condensed, &result);
    progress_end();
    guide_close(guide); /* also when it failed: a program must not outlive us */
    cli_check(error_in(file_shown(cli_input(&opt->common)), error));
    if (result.repeated)
        cli_say("%zu series start from others under noise: some classes have too few",
                result.repeated);
    if (synthesis.steps && !(result.best_step > 0))
        cli_warn("no step was better than the start: try a smaller --rate");
    cli_say("loss %.4f -> %.4f: cross-entropy %.4f -> %.4f, statistics %.4f -> %.4f",
            result.first.loss, result.best.loss, result.first.cross_entropy,
            result.best.cross_entropy, result.first.distance, result.best.distance);
}

int main(int argc, char **argv)
{
    struct synth_cli opt = {
        .patience = 600, .start = START_RIDGE, .synthesis = synthesis_defaults()};
    struct dataset dataset, condensed;
    struct shapelet_pool pool;
    struct transform transform;
    struct teacher teacher = {0};
    struct guide guide;
    struct device device;
    struct output output;
    const char *digests[4];

    opt.synthesis.steps = SIZE_MAX;
    opt.synthesis.rate = NAN;
    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt);
    device = device_chosen(opt.teacher ? opt.device : DEVICE_CPU, false);
    shapelets_source(&opt.shapelets, &device, &pool);
    if (opt.teacher)
        cli_check(teacher_read(opt.teacher, device.backend, &teacher));
    match_provenance(&teacher, &pool, &opt);
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, DATASET_LABELLED, &dataset));
    cli_warn_views(cli_input(&opt.common), &dataset);
    shapelets_transform(&opt.shapelets, &pool, &dataset, &transform);
    cli_check(transform_to_device(&transform, opt.shapelets.pool ? device.transform : NULL));
    /* Before the work, so that a place where nothing can be written is known at once. */
    cli_open_output(opt.common.output, true, &output);
    open_guide(&opt, &teacher, &dataset, &transform, &guide);
    condense(&opt, &dataset, &guide, &transform, &condensed);
    digests[0] = teacher.digest;
    digests[1] = pool.digest;
    digests[2] = dataset.digest;
    digests[3] = dataset.label_digest;
    cli_record(&opt.common, &condensed.notes, digests, 4);
    cli_finish_output(&output, opt.common.output, dataset_write(output.stream, &condensed));
    teacher_free(&teacher);
    transform_free(&transform);
    slp_free(&pool);
    dataset_free(&condensed);
    dataset_free(&dataset);
    return 0;
}
