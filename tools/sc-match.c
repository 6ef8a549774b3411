/* sc-match: condense a dataset by matching what networks make of a few synthetic series with what
 * they make of all real ones.  The methods (match/method.h) describe themselves; the options below
 * follow from that. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
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

enum { MOST_PARAMETERS = 32, MOST_METHODS = 16, HELP_TEXT = 400 };

struct match_cli {
    struct cli_common common;
    int method, start, optimiser, device;
    const char *network, *experts, *from, *labels;
    struct shapelets_cli shapelets;
    struct match_options match;
    /* Parameters of methods, as they were given: MATCH_UNSET or NaN if not. */
    struct {
        size_t whole;
        double real;
    } given[MOST_PARAMETERS];
};

static const char *const starts[] = {"default", "real", "kmeans", "noise", NULL};
static const char *const optimisers[] = {"default", "sgd", "scaled", "adam", NULL};
static const char *method_names[MOST_METHODS];
static char needs_help[3][HELP_TEXT];

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
    {0, "optimiser", "KIND", CLI_CHOICE, CLI_AT(match_cli, optimiser), "rule of a step",
     .choices = optimisers},
};
static const struct cli_option last_options[] = {
    {0, "checkpoint", "FILE", CLI_OUTPUT, CLI_AT(match_cli, match.checkpoint),
     "keep the state there, and resume from it if the run was interrupted"},
    {0, "checkpoint-every", "N", CLI_SIZE, CLI_AT(match_cli, match.checkpoint_every),
     "steps from one writing of it to the next", .low = 1, .unrecorded = true},
    DEVICE_OPTION(match_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(match_cli, labels), "file that holds the labels alone"},
};
enum {
    FIRST_OPTIONS = sizeof first_options / sizeof *first_options,
    LAST_OPTIONS = sizeof last_options / sizeof *last_options,
    MOST_OPTIONS = FIRST_OPTIONS + MOST_PARAMETERS + LAST_OPTIONS + 1
};

/* All options; those from FIRST_OPTIONS on are the `parameters` of all methods. */
static struct cli_option options[MOST_OPTIONS];
static size_t parameters;
static char parameter_help[MOST_PARAMETERS][HELP_TEXT];

static char notes[2 * HELP_TEXT] = "Methods, by what they match:";

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

/* ---- Options, from what the methods say of themselves ---- */

static void append(char text[HELP_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(char text[HELP_TEXT], const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, HELP_TEXT - used, format, arguments);
    va_end(arguments);
}

/* The method's parameter of this name, or NULL. */
static const struct match_parameter *parameter_of(const struct match_method *method,
                                                  const char *name)
{
    size_t i = match_parameter(method, name);

    return i == SIZE_MAX ? NULL : &method->parameters[i];
}

static const char *help_of(const struct match_parameter *parameter)
{
    return parameter->help;
}

/* The default in words; a number lasts until the second call after this one. */
static const char *default_of(const struct match_parameter *parameter)
{
    static char texts[2][32];
    static size_t calls;
    char *text = texts[calls++ % 2];

    if (parameter->recommend)
        return parameter->recommended;
    snprintf(text, sizeof texts[0], "%g", parameter->standard);
    return text;
}

/* Appends what is said of a parameter, once for all methods that say the same: "A", or
 * "dc, dsa: A; mtt: B".  named: say which methods also where all that have it say the same, unless
 * these are all methods. */
static void append_sayings(char text[HELP_TEXT], const char *name, bool named,
                           const char *(*say)(const struct match_parameter *))
{
    bool said[MOST_METHODS] = {false};
    size_t sayings = 0;

    for (size_t i = 0; match_methods[i]; i++) {
        const struct match_parameter *parameter = parameter_of(match_methods[i], name);
        char users[HELP_TEXT] = "";
        bool all = true;

        if (!parameter || said[i])
            continue;
        for (size_t j = 0; match_methods[j]; j++) {
            const struct match_parameter *other = parameter_of(match_methods[j], name);

            if (other && strcmp(say(other), say(parameter)) == 0) {
                append(users, "%s%s", users[0] ? ", " : "", match_methods[j]->name);
                said[j] = true;
            } else if (other || named) {
                all = false;
            }
        }
        append(text, "%s%s%s%s", sayings++ ? "; " : "", all ? "" : users, all ? "" : ": ",
               say(parameter));
    }
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < parameters; i++)
        if (strcmp(options[FIRST_OPTIONS + i].name, name) == 0)
            return true;
    return false;
}

static void add_parameter(const struct match_parameter *parameter)
{
    char *help = parameter_help[parameters];

    assert(parameters < MOST_PARAMETERS);
    append_sayings(help, parameter->name, true, help_of);
    append(help, " [");
    append_sayings(help, parameter->name, false, default_of);
    append(help, "]");
    options[FIRST_OPTIONS + parameters] =
        (struct cli_option){.letter = parameter->letter,
                            .name = parameter->name,
                            .argument = parameter->argument,
                            .type = parameter->whole ? CLI_SIZE : CLI_REAL,
                            .offset = parameter->whole ? CLI_AT(match_cli, given[parameters].whole)
                                                       : CLI_AT(match_cli, given[parameters].real),
                            .help = help,
                            .low = parameter->low,
                            .high = parameter->high};
    parameters++;
}

static void describe_needs(unsigned needs, const char *what, char text[HELP_TEXT])
{
    for (size_t i = 0; match_methods[i]; i++)
        if (match_methods[i]->needs & needs)
            append(text, "%s%s", text[0] ? ", " : "", match_methods[i]->name);
    append(text, ": %s", what);
}

static void make_options(struct match_cli *opt)
{
    describe_needs(MATCH_NEEDS_EXPERTS, "the experts (sc-experts)", needs_help[0]);
    describe_needs(MATCH_NEEDS_NETWORK, "the network, such as 'cnn depth=3 width=32'",
                   needs_help[1]);
    describe_needs(MATCH_NEEDS_FROM, "a condensed dataset to start from, instead of --init",
                   needs_help[2]);
    memcpy(options, first_options, sizeof first_options);
    for (size_t i = 0; match_methods[i]; i++) {
        const struct match_parameter *row = match_methods[i]->parameters;

        assert(i + 1 < MOST_METHODS);
        method_names[i] = match_methods[i]->name;
        snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "\n  %-8s %s",
                 match_methods[i]->name, match_methods[i]->summary);
        for (; row->name; row++)
            if (!is_known(row->name))
                add_parameter(row);
    }
    memcpy(options + FIRST_OPTIONS + parameters, last_options, sizeof last_options);
    for (size_t i = 0; i < MOST_PARAMETERS; i++) {
        opt->given[i].whole = MATCH_UNSET;
        opt->given[i].real = NAN;
    }
}

/* ---- Checks ---- */

static void refuse(const char *option, const struct match_method *method)
{
    cli_usage("--%s does not apply to %s", option, method->name);
}

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
            refuse(some[i].name, method);
    if (opt->from && opt->start != MATCH_START_DEFAULT)
        cli_usage("--from and --init exclude each other");
}

/* Sets the parameters that were given. */
static void set_parameters(struct match_cli *opt, const struct match_method *method)
{
    opt->match.method = method;
    for (size_t i = 0; i < parameters; i++) {
        const struct cli_option *option = &options[FIRST_OPTIONS + i];
        bool whole = option->type == CLI_SIZE;

        if (whole ? opt->given[i].whole == MATCH_UNSET : isnan(opt->given[i].real))
            continue;
        if (!parameter_of(method, option->name))
            refuse(option->name, method);
        match_set(&opt->match, option->name,
                  whole ? (double)opt->given[i].whole : opt->given[i].real);
    }
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
            cli_check(error_make("%s: a dataset of %zu classes, but %s has %zu", from->name,
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
    size_t steps;

    match->seed = opt->common.seed;
    match->start = (enum match_start)opt->start;
    match->optimiser = (enum match_optimiser)opt->optimiser;
    match->progress = show_step;
    match_fill_in(match, set->dataset.classes);
    steps = (size_t)match_value(match, "steps");
    progress_start("sc-match", steps, opt->common.quiet);
    error = match_condense(match, &set->dataset, condensed, &result);
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
    struct match_cli opt = {.match = match_unset()};
    struct experts experts = {0};
    struct shapelet_pool pool;
    struct feature_source source;
    struct transform transform = {0};
    struct examples set, from = {0};
    struct dataset condensed;
    struct output output;
    const char *digests[5];

    make_options(&opt);
    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt, match_methods[opt.method]);
    set_parameters(&opt, match_methods[opt.method]);
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
    cli_remove_checkpoint(opt.match.checkpoint);
    experts_free(&experts);
    transform_free(&transform);
    slp_free(&pool);
    examples_free(&from);
    dataset_free(&condensed);
    examples_free(&set);
    return 0;
}
