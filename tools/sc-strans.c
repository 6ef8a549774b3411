/* sc-strans: the shapelet transform: each series becomes its distances to the shapelets of a pool
 * (paper, eq. STrans). */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/device_option.h"
#include "common/shapelets.h"
#include "base/file.h"
#include "shapelets/transform.h"

struct strans_cli {
    struct cli_common common;
    const char *window;
    const char *labels;
    bool raw;
    int device;
    struct cluster_cli cluster;
};

static const struct cli_option options[] = {
    {'w', "window", "W", CLI_TEXT, CLI_AT(strans_cli, window),
     "try each shapelet up to W steps around its place, 'full': everywhere, or 'found': as when it "
     "was found"},
    {0, "raw", NULL, CLI_FLAG, CLI_AT(strans_cli, raw),
     "distances as they come, though the pool is standardised"},
    DEVICE_OPTION(strans_cli),
    CLUSTER_OPTIONS(strans_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(strans_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-strans",
    .arguments = "POOL [FILE]",
    .summary = "Turns series into their distances to the shapelets of a pool.",
    .example = "sc-strans pool.slp train.npy -o features.npy",
    .options = options,
    .most_files = 2,
    .least_files = 1,
    .computes = true,
};

/* What makes the features of a block of series. */
struct features_maker {
    const struct device *device;
    const struct transform *transform;
    const struct dataset *series;
    const char *name;
};

static struct error *make_features(void *context, size_t first, size_t count, float *features)
{
    const struct features_maker *maker = context;
    const struct dataset *series = maker->series;

    dataset_passed(series, first);
    return error_mark_placed(error_in(
        maker->name, device_transform(maker->device, maker->transform,
                                      dataset_series(series, first, 0), 0, count, features)));
}

int main(int argc, char **argv)
{
    struct strans_cli opt = {.window = "found", .cluster = CLUSTER_DEFAULTS};
    struct dataset series, features;
    struct features_maker maker;
    struct shapelet_pool pool;
    struct transform transform;
    struct cluster *cluster;
    struct device device;
    const char *digests[3];
    const char *input;
    size_t window, first, end;
    bool shared;

    cli_parse(argc, argv, &program, &opt);
    window = shapelets_window(opt.window);
    if (opt.common.file_count < 1)
        cli_usage("missing argument: POOL");
    input = opt.common.file_count > 1 ? opt.common.files[1] : "-";
    cluster = cluster_chosen(&opt.cluster, &opt.common);
    device = device_chosen(opt.device, false);
    cli_check(slp_read(opt.common.files[0], &pool));
    pool.standardised = pool.standardised && !opt.raw;
    cli_check(dataset_read(input, opt.labels, 0, &series));
    cluster_check_input(cluster, opt.common.files[0], pool.digest);
    cluster_check_dataset(cluster, input, &series);
    cli_warn_views(input, &series);
    cli_check(error_in(file_shown(input),
                       transform_make(&pool, series.channels, series.length, window, &transform)));
    maker = (struct features_maker){&device, &transform, &series, file_shown(input)};
    /* One process makes them block by block while it writes; several exchange them all. */
    shared = cluster_size(cluster) > 1;
    if (shared)
        cli_check(dataset_new(series.count, 1, pool.count, series.classes, false, &features));
    else
        cli_check(dataset_new_made(series.count, 1, pool.count, series.classes, make_features,
                                   &maker, &features));
    features.flat = true;
    if (series.y)
        memcpy(features.y, series.y, series.count * sizeof *features.y);
    if (series.groups) {
        cli_check(dataset_add_groups(&features));
        memcpy(features.groups, series.groups, series.count * sizeof *features.groups);
    }
    cli_check(transform_to_device(&transform, device.transform));
    if (shared) {
        cluster_part(cluster, series.count, 1, &first, &end);
        cli_check(error_in(file_shown(input), device_transform(&device, &transform, series.x, first,
                                                               end - first, features.x)));
        cli_check(
            cluster_gather(cluster, features.x, series.count, pool.count * sizeof *features.x, 1));
    }
    cli_check(dataset_copy_texts(&series, &features));
    digests[0] = pool.digest;
    digests[1] = series.digest;
    digests[2] = series.label_digest;
    cli_write_dataset(&opt.common, &features, digests, 3);
    cluster_done(cluster);
    transform_free(&transform);
    dataset_free(&features);
    dataset_free(&series);
    slp_free(&pool);
    return 0;
}
