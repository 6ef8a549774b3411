/* sc-match: condense a set by matching what networks make of a few synthetic series with what they
 * make of all real ones: gradients (dc, dsa), embeddings (dm), whole trajectories of training
 * (mtt, condtsc), or what a student that is trained on them gets right (unroll). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/device.h"
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
    struct match_options match;
};

static const char *const starts[] = {"default", "real", "kmeans", "noise", NULL};
static const char *const optimisers[] = {"default", "sgd", "scaled", "adam", NULL};

static const struct cli_option options[] = {
    {'m', "method", "METHOD", CLI_CHOICE, CLI_AT(match_cli, method), "what to match",
     .choices = match_method_names},
    {'n', "spc", "N", CLI_SIZE, CLI_AT(match_cli, match.per_class),
     "series per class; by default 10, or those of --from", .low = 1, .high = 1e6},
    {'x', "experts", "FILE", CLI_FILE, CLI_AT(match_cli, experts),
     "what mtt and condtsc follow (sc-experts)"},
    {0, "network", "TEXT", CLI_TEXT, CLI_AT(match_cli, network),
     "for dc, dsa, dm and unroll, such as 'cnn depth=3 width=32'"},
    SHAPELETS_OPTIONS(match_cli),
    {'i', "init", "KIND", CLI_CHOICE, CLI_AT(match_cli, start), "what to start from",
     .choices = starts},
    {'f', "from", "FILE", CLI_FILE, CLI_AT(match_cli, from),
     "unroll: a condensed set to start from, instead of --init"},
    {0, "steps", "N", CLI_SIZE, CLI_AT(match_cli, match.steps),
     "steps of the optimiser; 0: keep the start", .high = 1e9},
    {'r', "rate", "R", CLI_REAL, CLI_AT(match_cli, match.rate), "learning rate of the series",
     .low = 0, .high = 1e30},
    {0, "optimiser", "KIND", CLI_CHOICE, CLI_AT(match_cli, optimiser), "rule of a step",
     .choices = optimisers},
    {'b', "batch", "N", CLI_SIZE, CLI_AT(match_cli, match.batch),
     "real series in a step (dc, dsa, dm: of each class); mtt, condtsc: condensed ones in a "
     "student's step",
     .low = 1, .high = 1e6},
    {0, "network-steps", "N", CLI_SIZE, CLI_AT(match_cli, match.network_steps),
     "dc, dsa, dm: steps with one network", .low = 1, .high = 1e9},
    {0, "training-steps", "N", CLI_SIZE, CLI_AT(match_cli, match.training_steps),
     "dc, dsa, dm: steps of training it in between; 0: it stays untrained", .high = 1e9},
    {0, "student-steps", "N", CLI_SIZE, CLI_AT(match_cli, match.student_steps),
     "mtt, condtsc, unroll: steps of a student", .low = 1, .high = 1e6},
    {0, "unroll-steps", "N", CLI_SIZE, CLI_AT(match_cli, match.unroll_steps),
     "unroll: how many of them gradients go back through", .low = 1, .high = 1e6},
    {0, "expert-epochs", "N", CLI_SIZE, CLI_AT(match_cli, match.expert_epochs),
     "mtt, condtsc: epochs of an expert that they make up for", .low = 1, .high = 1e6},
    {0, "latest-start", "N", CLI_SIZE, CLI_AT(match_cli, match.latest_start),
     "mtt, condtsc: last epoch to start from; 0: its beginning", .high = 1e6},
    {0, "student-rate", "R", CLI_REAL, CLI_AT(match_cli, match.student_rate),
     "mtt, condtsc, unroll: first step size of the students", .low = 1e-12, .high = 1e6},
    {0, "rate-rate", "R", CLI_REAL, CLI_AT(match_cli, match.student_rate_rate),
     "mtt, condtsc: learning rate of its logarithm; 0: keep it", .low = 0, .high = 1e6},
    {0, "weight-embedding", "W", CLI_REAL, CLI_AT(match_cli, match.embedding_weight),
     "condtsc: weight of the distance between embeddings", .low = 0, .high = 1e6},
    {0, "label-rate", "R", CLI_REAL, CLI_AT(match_cli, match.label_rate),
     "mtt, condtsc, unroll: learning rate of soft labels", .low = 0, .high = 1e6},
    {0, "checkpoint", "FILE", CLI_OUTPUT, CLI_AT(match_cli, match.checkpoint),
     "keep the state there, and go on from it if the run was interrupted"},
    {0, "checkpoint-every", "N", CLI_SIZE, CLI_AT(match_cli, match.checkpoint_every),
     "steps from one writing of it to the next", .low = 1, .unrecorded = true},
    DEVICE_OPTION(match_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(match_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-match",
    .arguments = "[FILE]",
    .summary = "Condenses a set by matching gradients, embeddings or trajectories of networks.",
    .example = "sc-match -m unroll -n 10 --from chosen.npy train.npy -o tiny.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .computes = true,
    .notes = "What is not given is chosen by the method; see sc-match(1).",
};

/* Options of other methods are refused: what they ask for would not be done. */
static void check_usage(const struct match_cli *opt)
{
    const struct match_options *m = &opt->match;
    enum match_method method = (enum match_method)opt->method;
    bool follows = match_needs_experts(method), unrolls = method == MATCH_UNROLL;
    bool has_students = follows || unrolls;
    const struct {
        const char *name;
        bool given, used;
    } some[] = {
        {"experts", opt->experts, follows},
        {"network", opt->network, !follows},
        {"from", opt->from, unrolls},
        {"shapelets", opt->shapelets.pool, unrolls},
        {"network-steps", m->network_steps != MATCH_UNSET, !has_students},
        {"training-steps", m->training_steps != MATCH_UNSET, !has_students},
        {"student-steps", m->student_steps != MATCH_UNSET, has_students},
        {"student-rate", !isnan(m->student_rate), has_students},
        {"label-rate", !isnan(m->label_rate), has_students},
        {"unroll-steps", m->unroll_steps != MATCH_UNSET, unrolls},
        {"expert-epochs", m->expert_epochs != MATCH_UNSET, follows},
        {"latest-start", m->latest_start != MATCH_UNSET, follows},
        {"rate-rate", !isnan(m->student_rate_rate), follows},
        {"weight-embedding", !isnan(m->embedding_weight), method == MATCH_CONDTSC},
    };

    if (follows && !opt->experts)
        cli_usage("%s needs --experts=FILE, from sc-experts", match_method_names[method]);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i].given && !some[i].used)
            cli_usage("--%s is of no use to %s", some[i].name, match_method_names[method]);
    if (opt->from && opt->start != MATCH_START_DEFAULT)
        cli_usage("--from and --init exclude each other");
}

/* --spc says nothing new about a set to start from, but must not say otherwise. */
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

/* The set to start from, and the transform of its series. */
static void prepare_unroll(struct match_cli *opt, const struct examples *set,
                           const struct feature_source *source, struct examples *from,
                           struct transform *transform)
{
    if (opt->from) {
        struct feature_source none = {NULL};

        cli_check(examples_read(opt->from, NULL, &none, from));
        cli_warn_views(opt->from, &from->dataset);
        cli_check(examples_match(set, from));
        if (from->dataset.classes != set->dataset.classes)
            cli_check(error_make("%s: a set of %zu classes, but %s has %zu", from->name,
                                 from->dataset.classes, set->name, set->dataset.classes));
        if (opt->match.per_class != MATCH_UNSET)
            cli_check(check_per_class(from, opt->match.per_class));
        opt->match.from = &from->dataset;
    }
    shapelets_transform(&opt->shapelets, source->pool, &set->dataset, transform);
    if (source->pool) {
        opt->match.transform = transform;
        opt->match.features = set->features;
    }
}

/* The experts are of the shape of the set.  They may well be of another set, such as one with
 * balanced classes, but then somebody should know. */
static void check_experts(const struct match_cli *opt, const struct experts *experts,
                          const struct dataset *set)
{
    const struct architecture *a = &experts->architecture;
    const char *sources = strchr(experts->text, '<');

    if (a->channels != set->channels || a->length != set->length || a->classes != set->classes)
        cli_check(error_make("%s: experts of series with %zu channels, %zu steps and %zu classes, "
                             "these have %zu, %zu and %zu",
                             opt->experts, a->channels, a->length, a->classes, set->channels,
                             set->length, set->classes));
    if (sources && !strstr(sources, set->digest))
        cli_say("%s: the experts were trained on another set than %s", opt->experts,
                file_shown(cli_input(&opt->common)));
}

static void show_step(void *context, size_t done, size_t total, double loss)
{
    char text[96];

    (void)context;
    snprintf(text, sizeof text, "step %zu of %zu, loss %.4f", done, total, loss);
    progress_update(done, text);
}

static void check_classes(const struct examples *set)
{
    int32_t missing = examples_missing_class(set);

    if (missing >= 0)
        cli_check(error_make("%s: class %d of %zu has no series", set->name, (int)missing,
                             set->dataset.classes));
}

static void condense(struct match_cli *opt, const struct examples *set, struct dataset *condensed)
{
    struct match_options *match = &opt->match;
    struct match_result result;
    struct error *error;

    match->method = (enum match_method)opt->method;
    match->seed = opt->common.seed;
    match->start = (enum match_start)opt->start;
    match->optimiser = (enum match_optimiser)opt->optimiser;
    match->progress = show_step;
    match_fill_in(match, set->dataset.classes);
    progress_start("sc-match", match->steps, opt->common.quiet);
    error = match_condense(match, &set->dataset, condensed, &result);
    progress_end();
    cli_check(error);
    if (result.repeated)
        cli_say("%zu series start from others under noise: some classes have too few",
                result.repeated);
    if (match->steps)
        cli_say("loss %.4f -> %.4f in %zu steps", result.first, result.last, match->steps);
    if (match->steps && !isnan(result.student_rate))
        cli_say("step size of the students %.4g -> %.4g", match->student_rate, result.student_rate);
}

int main(int argc, char **argv)
{
    struct match_cli opt = {.method = MATCH_DC, .match = match_unset()};
    struct experts experts = {0};
    struct shapelet_pool pool;
    struct feature_source source;
    struct transform transform = {0};
    struct examples set, from = {0};
    struct dataset condensed;
    struct output output;
    const char *digests[5];

    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt);
    opt.match.backend = device_for_network(opt.device, opt.network, NULL).backend;
    source = shapelets_source(&opt.shapelets, NULL, &pool);
    cli_check(examples_read(cli_input(&opt.common), opt.labels, &source, &set));
    check_classes(&set);
    cli_warn_views(cli_input(&opt.common), &set.dataset);
    cli_check(examples_architecture(&set, opt.network, &opt.match.architecture));
    if (opt.experts) {
        cli_check(experts_read(opt.experts, &experts));
        check_experts(&opt, &experts, &set.dataset);
        opt.match.experts = &experts;
    }
    prepare_unroll(&opt, &set, &source, &from, &transform);
    /* Before the work, so that a place where nothing can be written is known at once. */
    cli_open_output(opt.common.output, true, &output);
    condense(&opt, &set, &condensed);
    digests[0] = set.dataset.digest;
    digests[1] = set.dataset.label_digest;
    digests[2] = experts.digest;
    digests[3] = pool.digest;
    digests[4] = from.dataset.digest;
    cli_record(&opt.common, &condensed.notes, digests, 5);
    cli_finish_output(&output, opt.common.output, dataset_write(output.stream, &condensed));
    /* Done: what was there to go on from is of no more use. */
    cli_remove_checkpoint(opt.match.checkpoint);
    experts_free(&experts);
    transform_free(&transform);
    slp_free(&pool);
    examples_free(&from);
    dataset_free(&condensed);
    examples_free(&set);
    return 0;
}
