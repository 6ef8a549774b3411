/* sc-match: condense a dataset by matching the response of networks to a few synthetic series with
 * their response to all real ones.  The methods (match/method.h) describe themselves; their options
 * follow from that (common/method_options.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/device_option.h"
#include "common/method_options.h"
#include "common/progress.h"
#include "common/shapelets.h"
#include "base/file.h"
#include "eval/examples.h"
#include "match/match.h"

struct match_cli {
    struct cli_common common;
    int method, start, optimiser, device;
    const char *network, *experts, *from, *labels;
    struct shapelets_cli shapelets;
    struct cluster_cli cluster;
    struct match_options match;
    struct method_values values;
};

static const char *const starts[] = {"default", "real", "kmeans", "noise", NULL};
static const char *const optimisers[] = {"default", "sgd", "scaled", "adam", NULL};
static const char *method_names[METHOD_NAMES];
static char needs_help[3][METHOD_HELP];

/* The options before and after the parameters of the methods. */
static const struct cli_option first_options[] = {
    {'m', "method", "METHOD", CLI_CHOICE, CLI_AT(match_cli, method), "what to match",
     .choices = method_names},
    {'n', "spc", "N", CLI_SIZE, CLI_AT(match_cli, match.per_class),
     "series per class; by default 10, or those of --from", .low = 1, .high = 1e6},
    {'x', "experts", "FILE", CLI_FILE, CLI_AT(match_cli, experts), needs_help[0]},
    {0, "network", "TEXT", CLI_TEXT, CLI_AT(match_cli, network), needs_help[1]},
    SHAPELETS_OPTIONS(match_cli),
    {'i', "init", "KIND", CLI_CHOICE, CLI_AT(match_cli, start), "what to start from",
     .choices = starts},
    {'f', "from", "FILE", CLI_FILE, CLI_AT(match_cli, from), needs_help[2]},
    {0, "optimiser", "KIND", CLI_CHOICE, CLI_AT(match_cli, optimiser), "optimiser",
     .choices = optimisers},
};
static const struct cli_option last_options[] = {
    {0, "checkpoint", "FILE", CLI_OUTPUT, CLI_AT(match_cli, match.checkpoint),
     "keep the state there, and resume from it if the run was interrupted"},
    {0, "checkpoint-every", "N", CLI_SIZE, CLI_AT(match_cli, match.checkpoint_every),
     "steps between two checkpoints", .low = 1, .unrecorded = true},
    DEVICE_OPTION(match_cli),
    CLUSTER_OPTIONS(match_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(match_cli, labels), "file that holds the labels alone"},
};
enum {
    FIRST_OPTIONS = sizeof first_options / sizeof *first_options,
    LAST_OPTIONS = sizeof last_options / sizeof *last_options,
    MOST_OPTIONS = FIRST_OPTIONS + METHOD_PARAMETERS + LAST_OPTIONS + 1
};

/* All options; those from FIRST_OPTIONS on are the `parameters` of all methods. */
static struct cli_option options[MOST_OPTIONS];
static size_t parameters;

static char notes[2 * METHOD_HELP] = "Methods, by what they match:";

static const struct cli_program program = {
    .name = "sc-match",
    .arguments = "[FILE]",
    .summary = "Condenses a dataset by matching gradients, embeddings or trajectories of networks.",
    .example = "sc-match -m unroll -n 10 --from chosen.npy train.npy -o tiny.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .computes = true,
    .notes = notes,
};

/* ---- Options ---- */

static void make_options(struct match_cli *opt)
{
    method_options_names(method_names);
    method_options_needs(MATCH_NEEDS_EXPERTS, "the experts (sc-experts)", needs_help[0]);
    method_options_needs(MATCH_NEEDS_NETWORK, "the network, such as 'cnn depth=3 width=32'",
                         needs_help[1]);
    method_options_needs(MATCH_NEEDS_FROM, "a condensed dataset to start from, instead of --init",
                         needs_help[2]);
    for (size_t i = 0; match_methods[i]; i++)
        snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "\n  %-8s %s",
                 match_methods[i]->name, match_methods[i]->summary);
    memcpy(options, first_options, sizeof first_options);
    parameters =
        method_options_make(options + FIRST_OPTIONS, CLI_AT(match_cli, values), &opt->values);
    memcpy(options + FIRST_OPTIONS + parameters, last_options, sizeof last_options);
}

/* ---- Checks ---- */

/* Options of other methods are refused: what they ask for would not be done. */
static void check_usage(const struct match_cli *opt, const struct match_method *method)
{
    const struct {
        const char *name;
        bool given;
        unsigned needs;
    } some[] = {
        {"experts", opt->experts, MATCH_NEEDS_EXPERTS},
        {"network", opt->network, MATCH_NEEDS_NETWORK},
        {"from", opt->from, MATCH_NEEDS_FROM},
        {"shapelets", opt->shapelets.pool, MATCH_NEEDS_SHAPELETS},
    };

    if ((method->needs & MATCH_NEEDS_EXPERTS) && !opt->experts)
        cli_usage("%s needs --experts=FILE, from sc-experts", method->name);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i].given && !(method->needs & some[i].needs))
            cli_usage("--%s does not apply to %s", some[i].name, method->name);
    if (opt->from && opt->start != MATCH_START_DEFAULT)
        cli_usage("--from and --init exclude each other");
}

/* --spc is not needed with --from, but must not contradict it. */
static struct error *check_per_class(const struct examples *from, size_t per_class)
{
    size_t *counts = calloc(from->dataset.classes, sizeof *counts);
    struct error *error = counts ? NULL : error_memory("the classes");

    if (counts)
        dataset_class_counts(&from->dataset, counts);
    for (size_t v = 0; !error && v < from->dataset.classes; v++)
        if (counts[v] != per_class)
            error = error_make("%s: has %zu series of class %zu, which --spc=%zu cannot change: "
                               "leave it out",
                               from->name, counts[v], v, per_class);
    free(counts);
    return error;
}

/* The dataset to start from, and the transform of its series. */
static void prepare_start(struct match_cli *opt, const struct examples *real,
                          const struct feature_source *source, struct examples *from,
                          struct transform *transform)
{
    if (opt->from) {
        struct feature_source none = {NULL};

        cli_check(examples_read(opt->from, NULL, &none, from));
        cluster_check_input(source->cluster, opt->from, from->dataset.digest);
        cli_warn_views(opt->from, &from->dataset);
        cli_check(examples_match(real, from));
        if (from->dataset.classes != real->dataset.classes)
            cli_check(error_make("%s: a dataset of %zu classes, but %s has %zu", from->name,
                                 from->dataset.classes, real->name, real->dataset.classes));
        if (opt->match.per_class != MATCH_UNSET)
            cli_check(check_per_class(from, opt->match.per_class));
        opt->match.from = &from->dataset;
    }
    shapelets_transform(&opt->shapelets, source->pool, &real->dataset, transform);
    if (source->pool) {
        opt->match.transform = transform;
        opt->match.features = real->features;
    }
}

/* Experts must have the shape of the dataset.  They may have been trained on another one, such as a
 * balanced version of it, but then the user is told. */
static void check_experts(const struct match_cli *opt, const struct experts *experts,
                          const struct dataset *dataset)
{
    const struct architecture *a = &experts->architecture;
    const char *sources = strchr(experts->text, '<');

    if (a->channels != dataset->channels || a->length != dataset->length ||
        a->classes != dataset->classes)
        cli_check(error_make("%s: experts of series with %zu channels, %zu steps and %zu classes, "
                             "these have %zu, %zu and %zu",
                             opt->experts, a->channels, a->length, a->classes, dataset->channels,
                             dataset->length, dataset->classes));
    if (sources && !strstr(sources, dataset->digest))
        cli_say("%s: the experts were trained on another dataset than %s", opt->experts,
                file_shown(cli_input(&opt->common)));
}

static void show_step(void *context, size_t done, size_t total, double loss)
{
    char text[96];

    (void)context;
    snprintf(text, sizeof text, "step %zu of %zu, loss %.4f", done, total, loss);
    progress_update(done, text);
}

static void check_classes(const struct examples *real)
{
    int32_t missing = examples_missing_class(real);

    if (missing >= 0)
        cli_check(error_make("%s: class %d of %zu has no series", real->name, (int)missing,
                             real->dataset.classes));
}

static void condense(struct match_cli *opt, const struct examples *real, struct dataset *condensed)
{
    struct match_options *match = &opt->match;
    struct match_result result;
    struct error *error;
    size_t steps;

    match->seed = opt->common.seed;
    match->start = (enum match_start)opt->start;
    match->optimiser = (enum match_optimiser)opt->optimiser;
    match->progress = show_step;
    match_fill_in(match, real->dataset.classes);
    steps = (size_t)match_value(match, "steps");
    progress_start("sc-match", steps, opt->common.quiet);
    error = match_condense(match, &real->dataset, condensed, &result);
    progress_end();
    cli_check(error);
    if (result.repeated)
        cli_say("%zu series start from others under noise: some classes have too few",
                result.repeated);
    if (steps)
        cli_say("loss %.4f -> %.4f in %zu steps", result.first, result.last, steps);
    if (steps && !isnan(result.student_rate))
        cli_say("step size of the students %.4g -> %.4g", match_value(match, "student-rate"),
                result.student_rate);
}

int main(int argc, char **argv)
{
    struct match_cli opt = {.match = match_unset(), .cluster = CLUSTER_DEFAULTS};
    struct experts experts = {0};
    struct shapelet_pool pool;
    struct feature_source source;
    struct transform transform = {0};
    struct examples real, from = {0};
    struct dataset condensed;
    struct output output;
    const char *digests[5];

    make_options(&opt);
    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt, match_methods[opt.method]);
    opt.match.method = match_methods[opt.method];
    method_options_apply(options + FIRST_OPTIONS, parameters, &opt.values, &opt.match);
    opt.match.cluster = cluster_chosen(&opt.cluster, &opt.common);
    opt.match.backend = device_chosen(opt.device, false).backend;
    source = shapelets_source(&opt.shapelets, NULL, &pool);
    cluster_check_source(opt.match.cluster, &source);
    cli_check(examples_read(cli_input(&opt.common), opt.labels, &source, &real));
    cluster_check_dataset(source.cluster, real.name, &real.dataset);
    check_classes(&real);
    cli_warn_views(cli_input(&opt.common), &real.dataset);
    cli_check(examples_architecture(&real, opt.network, &opt.match.architecture));
    if (opt.experts) {
        cli_check(experts_read(opt.experts, &experts));
        cluster_check_input(source.cluster, opt.experts, experts.digest);
        check_experts(&opt, &experts, &real.dataset);
        opt.match.experts = &experts;
    }
    prepare_start(&opt, &real, &source, &from, &transform);
    /* Before the work, so that a place where nothing can be written is known at once. */
    cli_open_output(opt.common.output, true, &output);
    condense(&opt, &real, &condensed);
    digests[0] = real.dataset.digest;
    digests[1] = real.dataset.label_digest;
    digests[2] = experts.digest;
    digests[3] = pool.digest;
    digests[4] = from.dataset.digest;
    cli_record(&opt.common, &condensed.notes, digests, 5);
    cli_finish_output(&output, opt.common.output, dataset_write(output.stream, &condensed));
    if (cluster_rank(opt.match.cluster) == 0)
        cli_remove_checkpoint(opt.match.checkpoint);
    cluster_done(opt.match.cluster);
    experts_free(&experts);
    transform_free(&transform);
    slp_free(&pool);
    examples_free(&from);
    dataset_free(&condensed);
    examples_free(&real);
    return 0;
}
