/* sc-views: give a condensed dataset labelled views: more series, stored as a recipe and the logits
 * of a teacher. */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/device.h"
#include "common/progress.h"
#include "common/shapelets.h"
#include "file.h"
#include "learn/examples.h"
#include "views/view.h"

struct views_cli {
    struct cli_common common;
    struct cli_texts teachers;
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
     "the network that labels the views; of several the mean logits are taken"},
    SHAPELETS_OPTIONS(views_cli),
    {'m', "views", "M", CLI_SIZE, CLI_AT(views_cli, count), "views to add", .low = 1, .high = 1e9},
    {'r', "recipe", "TEXT", CLI_TEXT, CLI_AT(views_cli, recipe),
     "how they are made, such as 'shift=0.25 warp=0.2 gain=0.3 mix=0.5 cut=0.5'"},
    {0, "bits", "N", CLI_CHOICE, CLI_AT(views_cli, bits), "of each stored logit",
     .choices = bit_choices},
    DEVICE_OPTION(views_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(views_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-views",
    .arguments = "--teacher=FILE [FILE]",
    .summary = "Adds labelled views to a condensed dataset: recipes and the logits of a teacher.",
    .options = options,
    .most_files = 1,
    .random = true,
};

/* Adds the teacher's logits for the series to sums (N, V). */
static void add_logits(const struct teacher *teacher, const struct examples *examples, float *sums)
{
    size_t count = examples->dataset.count * teacher->network->architecture.classes;
    float *logits = calloc(count, sizeof *logits);

    if (!logits)
        cli_check(error_memory("logits"));
    cli_check(examples_predict(examples, teacher, logits, NULL));
    for (size_t i = 0; i < count; i++)
        sums[i] += logits[i];
    free(logits);
}

/* Views are made and labelled a part at a time, so that memory does not grow with their number. */
enum { PART = 4096 };

int main(int argc, char **argv)
{
    struct views_cli opt = {.count = 1000};
    struct view_recipe recipe = view_recipe_default();
    struct dataset dataset;
    struct shapelet_pool pool;
    struct feature_source source;
    struct device device;
    struct teacher *teachers;
    const char **digests;
    float *logits;
    size_t classes;

    cli_parse(argc, argv, &program, &opt);
    if (opt.teachers.count == 0)
        cli_usage("missing option: --teacher=FILE");
    if (opt.common.seed >= (uint64_t)1 << 53)
        cli_usage("--seed must be below 2^53 for views");
    if (opt.recipe)
        cli_check_usage("--recipe", view_recipe_parse(opt.recipe, &recipe));
    recipe.seed = opt.common.seed;
    device = device_chosen(opt.device, true);
    source = shapelets_source(&opt.shapelets, &device, &pool);
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, DATASET_LABELLED, &dataset));
    classes = dataset.classes;
    if (dataset.views.count)
        cli_say("%s: its %zu views are replaced", file_shown(cli_input(&opt.common)),
                dataset.views.count);
    teachers = calloc(opt.teachers.count, sizeof *teachers);
    digests = calloc(opt.teachers.count + 2, sizeof *digests);
    logits = calloc(opt.count, classes * sizeof *logits);
    if (!teachers || !digests || !logits)
        cli_check(error_memory("views"));
    digests[0] = dataset.digest;
    digests[1] = pool.digest;
    for (size_t i = 0; i < opt.teachers.count; i++) {
        cli_check(teacher_read(opt.teachers.items[i], device.backend, &teachers[i]));
        digests[i + 2] = teachers[i].digest;
    }
    progress_start("sc-views", opt.count, opt.common.quiet);
    for (size_t first = 0; first < opt.count; first += PART) {
        size_t count = opt.count - first < PART ? opt.count - first : PART;
        struct dataset part;
        struct examples examples;

        cli_check(dataset_new(count, dataset.channels, dataset.length, classes, false, &part));
        cli_check(view_make(&dataset, &recipe, first, count, part.x));
        cli_check(examples_make(cli_input(&opt.common), &part, &source, &examples));
        for (size_t i = 0; i < opt.teachers.count; i++) {
            cli_check(examples_match_teacher(&examples, opt.teachers.items[i], &teachers[i]));
            add_logits(&teachers[i], &examples, logits + first * classes);
        }
        examples_free(&examples);
        progress_update(first + count, NULL);
    }
    progress_end();
    for (size_t i = 0; i < opt.count * classes; i++)
        logits[i] /= (float)opt.teachers.count;
    cli_check(view_label(&dataset, &recipe, opt.count, logits, opt.bits == 1 ? 4 : 8));
    cli_write_dataset(&opt.common, &dataset, digests, opt.teachers.count + 2);
    for (size_t i = 0; i < opt.teachers.count; i++)
        teacher_free(&teachers[i]);
    free(teachers);
    free(digests);
    free(logits);
    dataset_free(&dataset);
    slp_free(&pool);
    return 0;
}
