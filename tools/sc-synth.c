/* sc-synth: condense a set by inverting a teacher: a few series of each class that the teacher is
 * sure of and that look like the whole to it (paper, 3.3). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/progress.h"
#include "condense/synthesise.h"
#include "file.h"
#include "nn/backend_cpu.h"
#include "nn/teacher.h"

struct synth_options {
    struct cli_common common;
    const char *teacher, *command;
    double patience;
    const char *pool, *window;
    const char *labels;
    int start, norm, statistics;
    double matching_weight;
    struct synthesis_options synthesis;
};

static const char *const starts[] = {"real", "kmeans", "noise", NULL};
static const char *const norms[] = {"plain", "squared", NULL};
static const char *const statistics[] = {"all", "round", NULL};

static const struct cli_option options[] = {
    {'t', "teacher", "FILE", CLI_FILE, CLI_AT(synth_options, teacher), "the network to invert"},
    {0, "teacher-command", "CMD", CLI_TEXT, CLI_AT(synth_options, command),
     "a program that does what a teacher does, instead (sc-teacher-command(7))"},
    {0, "teacher-timeout", "S", CLI_REAL, CLI_AT(synth_options, patience),
     "seconds that it may take for an answer", .low = 0.001, .high = 1e6, .unrecorded = true},
    {'s', "shapelets", "FILE", CLI_FILE, CLI_AT(synth_options, pool),
     "the pool that the teacher was trained with"},
    {'w', "window", "W", CLI_TEXT, CLI_AT(synth_options, window),
     "try each shapelet up to W steps around its place, 'full': everywhere, or 'found': as when it "
     "was found"},
    {'n', "spc", "N", CLI_SIZE, CLI_AT(synth_options, synthesis.per_class), "series per class",
     .low = 1, .high = 1e6},
    {'i', "init", "KIND", CLI_CHOICE, CLI_AT(synth_options, start), "what to start from",
     .choices = starts},
    {0, "steps", "N", CLI_SIZE, CLI_AT(synth_options, synthesis.steps),
     "steps of the optimiser; 0: keep the start", .high = 1e9},
    {'r', "rate", "R", CLI_REAL, CLI_AT(synth_options, synthesis.rate), "learning rate", .low = 0,
     .high = 1000},
    {0, "weight-ce", "W", CLI_REAL, CLI_AT(synth_options, synthesis.objective.cross_entropy),
     "weight of the cross-entropy", .low = 0, .high = 1e6},
    {0, "weight-bn", "W", CLI_REAL, CLI_AT(synth_options, synthesis.objective.matching.weight),
     "weight of the distance to the teacher's statistics", .low = 0, .high = 1e6},
    {0, "first-layer", "F", CLI_REAL, CLI_AT(synth_options, synthesis.objective.matching.first),
     "factor of that weight for the first layer", .low = 0, .high = 1e6},
    {0, "norm", "KIND", CLI_CHOICE, CLI_AT(synth_options, norm), "how that distance is measured",
     .choices = norms},
    {0, "statistics", "OVER", CLI_CHOICE, CLI_AT(synth_options, statistics),
     "what they are taken over: all condensed series, or one round of one series per class",
     .choices = statistics},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(synth_options, labels),
     "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-synth",
    .arguments = "--teacher=FILE [FILE]",
    .summary = "Condenses a set into a few synthetic series per class by inverting a teacher.",
    .options = options,
    .most_files = 1,
    .random = true,
};

/* "20", "full" or "found". */
static size_t parse_window(const char *text)
{
    char *end;
    unsigned long long window;

    if (!text || strcmp(text, "found") == 0)
        return TRANSFORM_AS_FOUND;
    if (strcmp(text, "full") == 0)
        return TRANSFORM_FULL;
    window = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || window >= TRANSFORM_AS_FOUND)
        cli_usage("--window: '%s' is neither a number of steps nor 'full' nor 'found'", text);
    return (size_t)window;
}

static void check_usage(struct synth_options *opt)
{
    if (!opt->teacher && !opt->command)
        cli_usage("which teacher? Give --teacher=FILE or --teacher-command=CMD");
    if (opt->teacher && opt->command)
        cli_usage("--teacher and --teacher-command exclude each other");
    if (opt->window && !opt->pool)
        cli_usage("--window is of no use without --shapelets");
    opt->synthesis.start = (enum start_kind)opt->start;
    opt->synthesis.objective.matching.squared = opt->norm == 1;
    opt->synthesis.by_round = opt->statistics == 1;
    opt->synthesis.seed = opt->common.seed;
}

static void open_guide(const struct synth_options *opt, const struct dataset *set,
                       const struct transform *transform, struct teacher *teacher,
                       struct guide *guide)
{
    memset(teacher, 0, sizeof *teacher);
    if (opt->teacher) {
        cli_check(teacher_read(opt->teacher, backend_cpu(), teacher));
        cli_check(guide_from_teacher(teacher, guide));
        if (!guide->statistics && opt->synthesis.objective.matching.weight > 0)
            cli_say("%s has no batch normalisation: there are no statistics to match",
                    file_shown(opt->teacher));
        return;
    }
    *guide = (struct guide){.channels = set->channels,
                            .length = set->length,
                            .classes = set->classes,
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

int main(int argc, char **argv)
{
    struct synth_options opt = {.patience = 600, .synthesis = synthesis_defaults()};
    struct dataset set, condensed;
    struct shapelet_pool pool = {0};
    struct transform transform = {0};
    struct teacher teacher;
    struct guide guide;
    struct synthesis_result result;
    struct error *error;
    const char *input, *digests[3];
    size_t window;

    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt);
    window = parse_window(opt.window);
    input = cli_input(&opt.common);
    cli_check(dataset_read(input, opt.labels, DATASET_LABELLED, &set));
    if (opt.pool) {
        cli_check(slp_read(opt.pool, &pool));
        cli_check(error_in(file_shown(opt.pool),
                           transform_make(&pool, set.channels, set.length, window, &transform)));
    }
    open_guide(&opt, &set, &transform, &teacher, &guide);
    opt.synthesis.progress = show_step;
    progress_start("sc-synth",
                   (opt.synthesis.steps + 1) *
                       (opt.synthesis.by_round ? opt.synthesis.per_class : 1),
                   opt.common.quiet);
    error =
        synthesise(&opt.synthesis, &set, &guide, opt.pool ? &transform : NULL, &condensed, &result);
    progress_end();
    guide_close(&guide);
    cli_check(error_in(file_shown(input), error));
    cli_say("loss %.4f -> %.4f (cross-entropy %.4f -> %.4f, statistics %.4f -> %.4f)",
            result.first.loss, result.best.loss, result.first.cross_entropy,
            result.best.cross_entropy, result.first.apart, result.best.apart);
    digests[0] = teacher.digest;
    digests[1] = set.digest;
    digests[2] = pool.digest;
    cli_write_dataset(&opt.common, &condensed, digests, 3);
    teacher_free(&teacher);
    transform_free(&transform);
    slp_free(&pool);
    dataset_free(&condensed);
    dataset_free(&set);
    return 0;
}
