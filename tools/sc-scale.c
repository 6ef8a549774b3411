/* sc-scale: standardise series with statistics from the training set, or undo that. */
#include <stdlib.h>

#include "common/cli.h"
#include "data/scale.h"
#include "base/file.h"

struct scale_cli {
    struct cli_common common;
    const char *with;
    const char *save;
    bool undo;
    bool per_series;
};

static const struct cli_option options[] = {
    {0, "save", "FILE", CLI_OUTPUT, CLI_AT(scale_cli, save),
     "write the statistics of the dataset to FILE", 0},
    {0, "with", "FILE", CLI_FILE, CLI_AT(scale_cli, with),
     "use the statistics of FILE instead of the dataset's own", 0},
    {0, "undo", NULL, CLI_FLAG, CLI_AT(scale_cli, undo), "back to the scale before (needs --with)",
     0},
    {0, "per-series", NULL, CLI_FLAG, CLI_AT(scale_cli, per_series),
     "standardise each series by itself", 0},
    {0},
};

static const struct cli_program program = {
    .name = "sc-scale",
    .arguments = "[FILE]",
    .summary = "Scales every channel to mean 0 and standard deviation 1 over all series and steps.",
    .example = "sc-scale --save scale.npy train.npy -o scaled.npy",
    .options = options,
    .most_files = 1,
};

static void check_options(const struct scale_cli *opt)
{
    if (opt->per_series && (opt->with || opt->save || opt->undo))
        cli_usage("--per-series keeps no statistics: not with --with, --save or --undo");
    if (opt->with && opt->save)
        cli_usage("--with uses statistics and --save makes them: one of the two");
    if (opt->undo && !opt->with)
        cli_usage("--undo needs the statistics: --with=FILE");
}

static void remark_constant(const struct scaling *scaling)
{
    const struct dataset *dataset = scaling->from;

    if (scaling->constant)
        cli_say("%zu constant series (of %zu with %zu channels each) became 0", scaling->constant,
                dataset->count, dataset->channels);
}

/* Fits or reads the statistics. */
static void get_statistics(const struct scale_cli *opt, const struct dataset *dataset,
                           struct scale *scale)
{
    if (opt->with)
        cli_check(scale_read(opt->with, scale));
    else
        cli_check(scale_fit(dataset, scale));
    if (scale->constant)
        cli_say("%zu of %zu channels are constant: only their mean is subtracted", scale->constant,
                scale->channels);
}

int main(int argc, char **argv)
{
    struct scale_cli opt = {.undo = false};
    struct output outputs[2];
    struct scale scale = {0};
    struct dataset dataset, scaled;
    struct scaling scaling = {.from = &dataset};

    cli_parse(argc, argv, &program, &opt);
    check_options(&opt);
    scaling.name = file_shown(cli_input(&opt.common));
    scaling.undo = opt.undo;
    cli_check(
        dataset_read(cli_input(&opt.common), NULL, opt.per_series ? 0 : DATASET_VIEWS, &dataset));
    cli_warn_views(cli_input(&opt.common), &dataset);
    if (!opt.per_series) {
        get_statistics(&opt, &dataset, &scale);
        scaling.scale = &scale;
    }
    cli_record(&opt.common, &dataset.notes, (const char *[]){dataset.digest, scale.digest}, 2);
    if (dataset_is_rounded(&dataset)) { /* their levels move */
        cli_check(error_in(scaling.name, opt.undo ? scale_undo(&scale, &dataset)
                                                  : scale_apply(&scale, &dataset)));
        scaled = dataset;
    } else {
        cli_check(scaling_begin(&scaling, &scaled));
    }
    cli_stage_dataset(opt.common.output, &scaled, &outputs[0]);
    remark_constant(&scaling);
    if (opt.save) {
        cli_open_output(opt.save, true, &outputs[1]);
        cli_check(error_in(opt.save, scale_write(outputs[1].stream, &scale, dataset.notes)));
    }
    cli_commit(outputs, opt.save ? 2 : 1);
    scale_free(&scale);
    dataset_free(&dataset);
    return 0;
}
