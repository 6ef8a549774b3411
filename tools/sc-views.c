/* sc-views: give a condensed dataset labelled views: more series, stored as a recipe and the logits
 * of a teacher. */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/device.h"
#include "common/progress.h"
#include "common/shapelets.h"
#include "base/file.h"
#include "eval/examples.h"
#include "views/view.h"

struct views_cli {
    struct cli_common common;
    struct cli_texts teachers;
    bool augment;
    struct shapelets_cli shapelets;
    size_t count;
    const char *recipe;
    int bits;
    int device;
    const char *labels;
};

static const char *const bit_choices[] = {"8", "4", NULL};

static const struct cli_option options[] = {
    {'t', "teacher", "FILE", CLI_TEXTS, CLI_AT(views_cli, teachers),
     "network that labels the views; may be given more than once: the mean logits count",
     .reads = true, .unrecorded = true},
    {0, "augment", NULL, CLI_FLAG, CLI_AT(views_cli, augment),
     "no teacher: views keep the label of the series that they are made from"},
    SHAPELETS_OPTIONS(views_cli),
    {'m', "views", "M", CLI_SIZE, CLI_AT(views_cli, count), "views to add", .low = 1, .high = 1e9},
    {'r', "recipe", "TEXT", CLI_TEXT, CLI_AT(views_cli, recipe),
     "how views are made, such as 'shift=0.25 warp=0.2 mix=1'"},
    {0, "bits", "N", CLI_CHOICE, CLI_AT(views_cli, bits), "bits of each stored logit",
     .choices = bit_choices},
    DEVICE_OPTION(views_cli),
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

/* Views are made and labelled this many at a time, so that memory does not grow with their number.
 */
enum { PART = 4096, MOST_TEACHERS = 64 };

/* Who labels: networks, and where the features that they need come from. */
struct panel {
    const struct cli_texts *names;
    struct teacher *teachers;
    struct feature_source source;
};

static void read_teachers(const struct device *device, const struct dataset *dataset,
                          struct panel *panel)
{
    panel->teachers = calloc(panel->names->count, sizeof *panel->teachers);
    if (!panel->teachers)
        cli_check(error_memory("teachers"));
    for (size_t i = 0; i < panel->names->count; i++) {
        struct teacher *teacher = &panel->teachers[i];

        cli_check(teacher_read(panel->names->items[i], device->backend, teacher));
        if (teacher->network->architecture.classes != dataset->classes)
            cli_check(error_make("%s: knows %zu classes, but the dataset has %zu",
                                 file_shown(panel->names->items[i]),
                                 teacher->network->architecture.classes, dataset->classes));
        if (panel->source.pool && !teacher_knows_pool(teacher, panel->source.pool))
            cli_warn("%s was trained with other shapelets", panel->names->items[i]);
    }
}

/* The mean logits (N, V) of all teachers for the series, which are taken over. */
static void label_series(const struct panel *panel, const char *name, struct dataset *series,
                         float *logits)
{
    size_t count = series->count * series->classes, teachers = panel->names->count;
    float *one = calloc(count, sizeof *one);
    struct examples examples;

    if (!one)
        cli_check(error_memory("logits"));
    memset(logits, 0, count * sizeof *logits);
    cli_check(examples_make(name, series, &panel->source, &examples));
    for (size_t i = 0; i < teachers; i++) {
        cli_check(examples_match_teacher(&examples, panel->names->items[i], &panel->teachers[i]));
        cli_check(examples_predict(&examples, &panel->teachers[i], one, NULL));
        for (size_t j = 0; j < count; j++)
            logits[j] += one[j] / (float)teachers;
    }
    examples_free(&examples);
    free(one);
}

/* The series of the dataset get soft labels, too, if they have none. */
static void label_dataset(const struct panel *panel, const char *name, struct dataset *dataset)
{
    float *logits = calloc(dataset->count, dataset->classes * sizeof *logits);
    struct dataset copy;

    if (!logits)
        cli_check(error_memory("logits"));
    cli_check(dataset_new(dataset->count, dataset->channels, dataset->length, dataset->classes,
                          false, &copy));
    memcpy(copy.x, dataset->x,
           dataset->count * dataset->channels * dataset->length * sizeof *copy.x);
    label_series(panel, name, &copy, logits);
    cli_check(dataset_set_soft(dataset, logits));
    free(logits);
}

static void label_views(const struct panel *panel, const char *name, const struct dataset *dataset,
                        const struct view_recipe *recipe, size_t views, float *logits)
{
    for (size_t first = 0; first < views; first += PART) {
        size_t count = views - first < PART ? views - first : PART;
        struct dataset part;

        cli_check(
            dataset_new(count, dataset->channels, dataset->length, dataset->classes, false, &part));
        cli_check(view_make(dataset, recipe, first, count, part.x));
        label_series(panel, name, &part, logits + first * dataset->classes);
        progress_update(first + count, NULL);
    }
}

/* The digests of all that the result depends on: 3 and one of each teacher. */
static void list_inputs(const struct dataset *dataset, const struct shapelet_pool *pool,
                        const struct panel *panel, const char **digests)
{
    *digests++ = dataset->digest;
    *digests++ = dataset->label_digest;
    *digests++ = pool->digest;
    for (size_t i = 0; i < panel->names->count; i++)
        *digests++ = panel->teachers[i].digest;
}

static void check_usage(const struct views_cli *opt, struct view_recipe *recipe)
{
    if (opt->augment && (opt->teachers.count || opt->shapelets.pool))
        cli_usage("--augment keeps labels: not with --teacher or --shapelets");
    if (!opt->augment && opt->teachers.count == 0)
        cli_usage("missing option: --teacher=FILE (or --augment)");
    if (opt->teachers.count > MOST_TEACHERS)
        cli_usage("at most %d teachers", MOST_TEACHERS);
    if (opt->common.seed >> 53)
        cli_usage("--seed must be below 2^53");
    if (opt->augment)
        recipe->mix = recipe->cut = 0;
    if (opt->recipe)
        cli_check_usage("--recipe", view_recipe_parse(opt->recipe, recipe));
    if (opt->augment && (recipe->mix > 0 || recipe->cut > 0))
        cli_usage(
            "--augment: a view of several series has no label to keep: mix and cut must be 0");
    recipe->seed = opt->common.seed;
}

int main(int argc, char **argv)
{
    struct views_cli opt = {.count = 1000};
    struct view_recipe recipe = view_recipe_default();
    struct panel panel = {.names = &opt.teachers};
    struct shapelet_pool pool;
    struct device device;
    struct dataset dataset;
    const char *name, *digests[3 + MOST_TEACHERS];
    float *logits;

    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt, &recipe);
    name = cli_input(&opt.common);
    device = device_chosen(opt.device, true);
    panel.source = shapelets_source(&opt.shapelets, &device, &pool);
    cli_check(dataset_read(name, opt.labels, DATASET_LABELLED | DATASET_VIEWS, &dataset));
    if (dataset.views.count)
        cli_say("%s: its %zu views are replaced", file_shown(name), dataset.views.count);
    read_teachers(&device, &dataset, &panel);
    logits = calloc(opt.count, dataset.classes * sizeof *logits);
    if (!logits)
        cli_check(error_memory("views"));
    list_inputs(&dataset, &pool, &panel, digests);
    progress_start("sc-views", opt.count, opt.common.quiet);
    if (!opt.augment && !dataset.soft)
        label_dataset(&panel, name, &dataset);
    if (opt.augment)
        view_kept_logits(&dataset, &recipe, opt.count, logits);
    else
        label_views(&panel, name, &dataset, &recipe, opt.count, logits);
    progress_end();
    cli_check(view_label(&dataset, &recipe, opt.count, logits, opt.bits == 1 ? 4 : 8));
    cli_write_dataset(&opt.common, &dataset, digests, opt.teachers.count + 3);
    for (size_t i = 0; i < opt.teachers.count; i++)
        teacher_free(&panel.teachers[i]);
    free(panel.teachers);
    free(logits);
    dataset_free(&dataset);
    slp_free(&pool);
    return 0;
}
