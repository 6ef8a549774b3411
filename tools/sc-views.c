/* sc-views: give a condensed dataset labelled views: more series, stored as a recipe and the logits
 * of a teacher. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/device_option.h"
#include "common/progress.h"
#include "common/shapelets.h"
#include "base/file.h"
#include "base/size.h"
#include "eval/labeller.h"
#include "eval/view_choice.h"
#include "views/view.h"

struct views_cli {
    struct cli_common common;
    struct cli_texts teachers;
    const char *command;
    double patience;
    bool augment;
    struct shapelets_cli shapelets;
    double margin;
    size_t count;
    const char *bytes;
    const char *recipe;
    const char *validate;
    size_t steps;
    int bits;
    int device;
    struct cluster_cli cluster;
    const char *labels;
};

static const char *const bit_choices[] = {"4", "8", NULL};
static const unsigned bits_of[] = {4, 8};

static const struct cli_option options[] = {
    {'t', "teacher", "FILE", CLI_TEXTS, CLI_AT(views_cli, teachers),
     "network that labels the views; may be given more than once: the mean logits count",
     .reads = true, .unrecorded = true},
    {0, "teacher-command", "CMD", CLI_TEXT, CLI_AT(views_cli, command),
     "a program that labels them, instead or as one more teacher (sc-teacher-command(7))"},
    {0, "teacher-timeout", "S", CLI_REAL, CLI_AT(views_cli, patience),
     "seconds to wait for each of its answers", .low = 0.001, .high = 1e6, .unrecorded = true},
    {0, "augment", NULL, CLI_FLAG, CLI_AT(views_cli, augment),
     "no teacher: views keep the label of the series that they are made from"},
    {0, "margin", "M", CLI_REAL, CLI_AT(views_cli, margin),
     "raise the logit of the class of each series until it is M above all others; 0: as the "
     "teacher "
     "says",
     .low = 0, .high = 1e3},
    SHAPELETS_OPTIONS(views_cli),
    {'m', "views", "M", CLI_SIZE, CLI_AT(views_cli, count), "views to add [1000]", .low = 1,
     .high = 1e9},
    {0, "bytes", "SIZE", CLI_TEXT, CLI_AT(views_cli, bytes),
     "add as many views as fit, with the series and labels, into this size, such as 40k"},
    {'r', "recipe", "TEXT", CLI_TEXT, CLI_AT(views_cli, recipe),
     "how views are made: gentle, moderate, strong, or words such as 'shift=0.25 mix=1'"},
    {'v', "validate", "FILE", CLI_FILE, CLI_AT(views_cli, validate),
     "held-out dataset: try the three recipes and keep the one that a student learns most from"},
    {0, "steps", "N", CLI_SIZE, CLI_AT(views_cli, steps),
     "with --validate: steps of a student's training [1000]", .low = 1, .high = 1e9},
    {0, "bits", "N", CLI_CHOICE, CLI_AT(views_cli, bits), "bits of each stored logit",
     .choices = bit_choices},
    DEVICE_OPTION(views_cli),
    CLUSTER_OPTIONS(views_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(views_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-views",
    .arguments = "--teacher=FILE [FILE]",
    .summary = "Adds labelled views to a condensed dataset: recipes and the logits of a teacher.",
    .example = "sc-views -t teacher.tch tiny.npy -o more.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .computes = true,
};

enum { MOST_TEACHERS = 64, TRIAL_STEPS = 1000 };
enum { MOST_VIEWS = 20000, FEWEST_TRIED = 25 }; /* that --bytes adds */

static void show_progress(size_t done)
{
    progress_update(done, NULL);
}

/* The recipe that is best for students, by held-out series. */
static void choose_recipe(const struct views_cli *opt, const struct labeller *labeller,
                          const char *name, const struct dataset *dataset,
                          const struct examples *validation, size_t views,
                          struct view_recipe *recipe)
{
    struct view_choice_options choice = {
        .views = views, .steps = opt->steps ? opt->steps : TRIAL_STEPS, .seed = opt->common.seed};
    struct view_trial trials[VIEW_PRESETS];
    size_t best;

    progress_start("sc-views: recipes", VIEW_PRESETS, opt->common.quiet);
    cli_check(
        view_choose(labeller, name, dataset, validation, &choice, show_progress, trials, &best));
    progress_end();
    *recipe = trials[best].recipe;
    cli_say(
        "recipe %s: accuracy on the held-out series %.1f %% (flattened end) and %.1f %% (mean over "
        "time); means: %.1f %%, %s %.1f %%, %s %.1f %%",
        trials[best].name, 100 * trials[best].accuracy[0], 100 * trials[best].accuracy[1],
        100 * view_trial_score(&trials[best]), trials[(best + 1) % VIEW_PRESETS].name,
        100 * view_trial_score(&trials[(best + 1) % VIEW_PRESETS]),
        trials[(best + 2) % VIEW_PRESETS].name,
        100 * view_trial_score(&trials[(best + 2) % VIEW_PRESETS]));
}

enum { INPUTS = 4 }; /* besides the teachers */

/* The digests of all that the result depends on: INPUTS and one of each teacher. */
static void list_inputs(const struct dataset *dataset, const struct shapelet_pool *pool,
                        const struct dataset *validation, const struct labeller *labeller,
                        const char **digests)
{
    *digests++ = dataset->digest;
    *digests++ = dataset->label_digest;
    *digests++ = pool->digest;
    *digests++ = validation->digest;
    for (size_t i = 0; i < labeller->count; i++)
        *digests++ = labeller->teachers[i].digest;
}

static void check_usage(const struct views_cli *opt, struct view_recipe *recipe)
{
    if (opt->augment && (opt->teachers.count || opt->command || opt->shapelets.pool))
        cli_usage("--augment keeps labels: not with --teacher, --teacher-command or --shapelets");
    if (!opt->augment && opt->teachers.count == 0 && !opt->command)
        cli_usage("missing option: --teacher=FILE (or --teacher-command, or --augment)");
    if (opt->augment && opt->margin > 0)
        cli_usage("--margin is for soft labels: not with --augment");
    if (opt->teachers.count > MOST_TEACHERS)
        cli_usage("at most %d teachers", MOST_TEACHERS);
    if (opt->validate && (opt->augment || opt->recipe))
        cli_usage("--validate chooses the recipe: not with %s",
                  opt->augment ? "--augment" : "--recipe");
    if (opt->steps && !opt->validate)
        cli_usage("--steps is for the students of --validate");
    if (opt->common.seed >> 53)
        cli_usage("--seed must be below 2^53");
    if (opt->augment)
        recipe->mix = recipe->cut = 0;
    if (opt->recipe)
        cli_check_usage("recipe", view_recipe_parse(opt->recipe, recipe));
    if (opt->augment && (recipe->mix > 0 || recipe->cut > 0))
        cli_usage(
            "--augment: a view of several series has no label to keep: mix and cut must be 0");
    recipe->seed = opt->common.seed;
}

/* Students of the dataset can be run on the held-out series. */
static void check_held_out(const struct dataset *dataset, const char *name,
                           const struct examples *validation)
{
    struct examples examples = {.name = file_shown(name), .dataset = *dataset};

    cli_check(examples_match(&examples, validation));
}

static void warn_of_other_pools(const struct labeller *labeller)
{
    for (size_t i = 0; labeller->source.pool && i < labeller->count; i++)
        if (!teacher_knows_pool(&labeller->teachers[i], labeller->source.pool))
            cli_warn("%s was trained with other shapelets", labeller->names[i]);
}

/* Hard labels are two codes, which 4 bits hold as exactly as 8. */
static double label_range(unsigned bits, const struct dataset *dataset)
{
    return (double)(bits == 4 && dataset->soft ? VIEW_RANGE_4_BITS : VIEW_RANGE);
}

/* The views of the result: as asked for, or about as many as fit. */
static size_t views_wanted(const struct views_cli *opt, const struct dataset *dataset)
{
    const size_t most = opt->count ? opt->count : opt->bytes ? MOST_VIEWS : 1000;
    double room;

    if (!opt->bytes)
        return most;
    cli_check(error_in("--bytes",
                       view_room(dataset, bits_of[opt->bits], bytes_option(opt->bytes), &room)));
    return (size_t)fmin(fmax(room, 1), (double)most);
}

static void label_views(const struct views_cli *opt, const struct labeller *labeller,
                        const char *name, const struct view_recipe *recipe, size_t count,
                        struct dataset *dataset)
{
    const unsigned bits = bits_of[opt->bits];
    float *logits = calloc(count, dataset->classes * sizeof *logits);

    if (!logits)
        cli_check(error_memory("views"));
    progress_start("sc-views", count, opt->common.quiet);
    if (opt->augment)
        view_kept_logits(dataset, recipe, count, logits);
    else
        cli_check(labeller_views(labeller, name, dataset, recipe, count, show_progress, logits));
    progress_end();
    cli_check(view_label(dataset, recipe, count, logits, bits, label_range(bits, dataset)));
    free(logits);
}

/* As many views as fit.  Labels compress to a share that is known only when they are there: first
 * four times as many are tried as would fit uncompressed, then, while all fit, four times more. */
static void fit_views(const struct views_cli *opt, const struct labeller *labeller,
                      const char *name, const struct view_recipe *recipe, size_t wanted,
                      struct dataset *dataset)
{
    const size_t most = opt->count ? opt->count : MOST_VIEWS;
    size_t tried = 0;

    do {
        tried = size_min(tried ? 4 * tried : 4 * size_max(wanted, FEWEST_TRIED), most);
        label_views(opt, labeller, name, recipe, tried, dataset);
        cli_check(error_in("--bytes", view_fit(dataset, bytes_option(opt->bytes))));
    } while (dataset->views.count == tried && tried < most);
    cli_say("%zu views fit", dataset->views.count);
}

int main(int argc, char **argv)
{
    struct views_cli opt = {.patience = 600, .cluster = CLUSTER_DEFAULTS};
    struct view_recipe recipe = view_recipe_default();
    struct feature_source source, none = {NULL};
    struct examples validation = {.name = NULL};
    struct labeller labeller;
    struct shapelet_pool pool;
    struct cluster *cluster;
    struct device device;
    struct dataset dataset;
    const char *name, *digests[INPUTS + MOST_TEACHERS];
    size_t wanted;

    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt, &recipe);
    name = cli_input(&opt.common);
    cluster = cluster_chosen(&opt.cluster, &opt.common);
    device = device_chosen(opt.device, true);
    source = shapelets_source(&opt.shapelets, &device, &pool);
    cluster_check_source(cluster, &source);
    cli_check(dataset_read(name, opt.labels, DATASET_LABELLED | DATASET_VIEWS, &dataset));
    cluster_check_dataset(cluster, name, &dataset);
    if (dataset.views.count)
        cli_say("%s: its %zu views are replaced", file_shown(name), dataset.views.count);
    if (opt.validate) {
        cli_check(examples_read(opt.validate, NULL, &none, &validation));
        cluster_check_dataset(cluster, opt.validate, &validation.dataset);
        check_held_out(&dataset, name, &validation);
    }
    cli_check(labeller_read(opt.teachers.items, opt.teachers.count, &source, &dataset, &labeller));
    for (size_t i = 0; i < labeller.count; i++)
        cluster_check_input(cluster, labeller.names[i], labeller.teachers[i].digest);
    warn_of_other_pools(&labeller);
    if (opt.command)
        cli_check(labeller_start_program(&labeller, opt.command, opt.patience, &dataset));
    wanted = views_wanted(&opt, &dataset);
    list_inputs(&dataset, &pool, &validation.dataset, &labeller, digests);
    if (!opt.augment && !dataset.soft)
        cli_check(labeller_label(&labeller, name, opt.margin, &dataset));
    else if (opt.margin > 0)
        cli_warn("%s has soft labels, so --margin changes nothing", file_shown(name));
    if (opt.validate)
        choose_recipe(&opt, &labeller, name, &dataset, &validation, wanted, &recipe);
    if (opt.bytes)
        fit_views(&opt, &labeller, name, &recipe, wanted, &dataset);
    else
        label_views(&opt, &labeller, name, &recipe, wanted, &dataset);
    cli_write_dataset(&opt.common, &dataset, digests, labeller.count + INPUTS);
    cluster_done(cluster);
    labeller_free(&labeller);
    examples_free(&validation);
    dataset_free(&dataset);
    slp_free(&pool);
    free(opt.teachers.items);
    return 0;
}
