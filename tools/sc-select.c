/* sc-select: a few real series that represent each class: the coreset methods of the paper's
 * main table. */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/device_option.h"
#include "common/shapelets.h"
#include "base/scratch.h"
#include "choose/coreset.h"
#include "data/prune.h"

struct select_cli {
    struct cli_common common;
    int method;
    size_t per_class;
    size_t sample;
    const char *teacher;
    struct shapelets_cli shapelets;
    bool soft;
    int device;
    struct cluster_cli cluster;
    const char *labels;
};

static const char *const methods[] = {"random", "herding", "kcenter", "kmeans", NULL};

static const struct cli_option options[] = {
    {'m', "method", "METHOD", CLI_CHOICE, CLI_AT(select_cli, method), "how to choose",
     .choices = methods},
    {'n', "spc", "N", CLI_SIZE, CLI_AT(select_cli, per_class), "series per class", .low = 1},
    {0, "sample", "N", CLI_SIZE, CLI_AT(select_cli, sample),
     "choose among N random series of each class; 0: among all"},
    {'t', "teacher", "FILE", CLI_FILE, CLI_AT(select_cli, teacher),
     "compare series by the embeddings of this network"},
    SHAPELETS_OPTIONS(select_cli),
    {0, "soft", NULL, CLI_FLAG, CLI_AT(select_cli, soft),
     "store the teacher's logits as soft labels"},
    DEVICE_OPTION(select_cli),
    CLUSTER_OPTIONS(select_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(select_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-select",
    .arguments = "[FILE]",
    .summary = "Chooses a few real series to represent each class.",
    .example = "sc-select -n 10 train.npy -o chosen.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .computes = true,
};

/* What the teacher says of every series: logits and, where asked for, embeddings. */
struct predictions {
    struct teacher teacher;
    float *logits;
    float *points;
};

static void ask_teacher(const struct select_cli *opt, const struct feature_source *source,
                        const struct shapelet_pool *pool, const struct examples *all,
                        struct predictions *predictions)
{
    const struct network *network;
    size_t count = all->dataset.count, classes;
    bool embed = opt->method != CORESET_RANDOM;

    cli_check(teacher_read(opt->teacher, source->device->backend, &predictions->teacher));
    cluster_check_input(source->cluster, opt->teacher, predictions->teacher.digest);
    cli_check(examples_match_teacher(all, opt->teacher, &predictions->teacher));
    if (!teacher_knows_pool(&predictions->teacher, pool))
        cli_warn("%s was trained with other shapelets", opt->teacher);
    network = predictions->teacher.network;
    classes = network->architecture.classes;
    if (opt->soft && classes != all->dataset.classes)
        cli_check(error_make("%s: %zu classes, but %s has %zu", opt->teacher, classes, all->name,
                             all->dataset.classes));
    predictions->logits = scratch_new(count, classes * sizeof *predictions->logits);
    if (embed)
        predictions->points = scratch_new(count, network->embedding * sizeof *predictions->points);
    if (!predictions->logits || (embed && !predictions->points))
        cli_check(error_memory("embeddings"));
    cli_check(examples_predict_over(source->cluster, all, &predictions->teacher,
                                    predictions->logits, predictions->points));
}

/* Rank 0 chooses: it has all predictions. */
static void choose(const struct select_cli *opt, const struct examples *examples,
                   const struct predictions *predictions, struct cluster *cluster, size_t *chosen)
{
    const struct dataset *all = &examples->dataset;
    const float *points = predictions->points ? predictions->points : all->x;
    size_t dimension =
        predictions->points ? predictions->teacher.network->embedding : dataset_series_size(all);
    struct coreset_options coreset = {.method = (enum coreset_method)opt->method,
                                      .per_class = opt->per_class,
                                      .seed = opt->common.seed};

    if (cluster_rank(cluster) == 0)
        cli_check(error_in(examples->name, coreset_select(points, all->count, dimension, all->y,
                                                          all->classes, &coreset, chosen)));
    cli_check(cluster_broadcast(cluster, chosen, all->classes * opt->per_class * sizeof *chosen));
}

/* Keeps only the sample, if one is asked for. */
static void take_sample(const struct select_cli *opt, struct dataset *dataset)
{
    const struct prune_options prune = {.per_class = opt->sample, .seed = opt->common.seed};
    struct dataset sample;
    size_t *kept, count;

    if (opt->sample == 0)
        return;
    cli_check(prune_choose(dataset, &prune, &kept, &count));
    cli_check(dataset_take(dataset, kept, count, &sample));
    memcpy(sample.digest, dataset->digest, sizeof sample.digest);
    memcpy(sample.label_digest, dataset->label_digest, sizeof sample.label_digest);
    free(kept);
    dataset_free(dataset);
    *dataset = sample;
}

int main(int argc, char **argv)
{
    struct select_cli opt = {
        .method = CORESET_RANDOM, .per_class = 10, .cluster = CLUSTER_DEFAULTS};
    struct predictions predictions = {.logits = NULL};
    struct shapelet_pool pool;
    struct feature_source source;
    struct cluster *cluster;
    struct device device;
    struct examples all;
    struct dataset dataset, few;
    const char *digests[4];
    size_t *chosen;

    cli_parse(argc, argv, &program, &opt);
    if (opt.sample && opt.sample < opt.per_class)
        cli_usage("--sample=%zu, but --spc=%zu are to be chosen", opt.sample, opt.per_class);
    if (!opt.teacher && (opt.soft || opt.shapelets.pool))
        cli_usage("--%s needs --teacher", opt.soft ? "soft" : "shapelets");
    cluster = cluster_chosen(&opt.cluster, &opt.common);
    device = device_chosen(opt.device, false);
    source = shapelets_source(&opt.shapelets, &device, &pool);
    cluster_check_source(cluster, &source);
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, DATASET_LABELLED, &dataset));
    cluster_check_dataset(cluster, cli_input(&opt.common), &dataset);
    cli_warn_views(cli_input(&opt.common), &dataset);
    take_sample(&opt, &dataset);
    cli_check(examples_make(cli_input(&opt.common), &dataset, &source, &all));
    if (opt.teacher)
        ask_teacher(&opt, &source, &pool, &all, &predictions);
    chosen = calloc(all.dataset.classes, opt.per_class * sizeof *chosen);
    if (!chosen)
        cli_check(error_memory("the choice"));
    choose(&opt, &all, &predictions, cluster, chosen);
    if (opt.soft)
        all.dataset.soft = predictions.logits; /* what it had lives on in its storage */
    cli_check(dataset_take(&all.dataset, chosen, all.dataset.classes * opt.per_class, &few));
    digests[0] = all.dataset.digest;
    digests[1] = all.dataset.label_digest;
    digests[2] = predictions.teacher.digest;
    digests[3] = pool.digest;
    cli_write_dataset(&opt.common, &few, digests, 4);
    cluster_done(cluster);
    free(chosen);
    scratch_free(predictions.logits);
    scratch_free(predictions.points);
    teacher_free(&predictions.teacher);
    dataset_free(&few);
    examples_free(&all);
    slp_free(&pool);
    return 0;
}
