/* sc-prune: keep a random part of the series of a dataset (paper, 3.1, "data pruning"). */
#include <stdlib.h>

#include "common/cli.h"
#include "data/prune.h"

struct prune_cli {
    struct cli_common common;
    struct prune_options prune;
    const char *labels;
};

static const struct cli_option options[] = {
    {'p', "ratio", "P", CLI_REAL, CLI_AT(prune_cli, prune.ratio), "share of the series to drop",
     .low = 0, .high = 0.999999},
    {'n', "per-class", "N", CLI_SIZE, CLI_AT(prune_cli, prune.per_class),
     "keep at most N series of each class; 0: no limit"},
    {0, "overall", NULL, CLI_FLAG, CLI_AT(prune_cli, prune.overall),
     "drop the share of the whole dataset, not of each class"},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(prune_cli, labels), "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-prune",
    .arguments = "[FILE]",
    .summary = "Keeps a random part of the series of a dataset.",
    .example = "sc-prune -p 0.7 train.npy -o kept.npy",
    .options = options,
    .most_files = 1,
    .random = true,
};

int main(int argc, char **argv)
{
    struct prune_cli opt = {0};
    struct dataset all, few;
    const char *digests[2];
    size_t *kept, count;
    bool labelled;

    cli_parse(argc, argv, &program, &opt);
    opt.prune.seed = opt.common.seed;
    labelled = !opt.prune.overall || opt.prune.per_class;
    cli_check(
        dataset_read(cli_input(&opt.common), opt.labels, labelled ? DATASET_LABELLED : 0, &all));
    cli_warn_views(cli_input(&opt.common), &all);
    cli_check(prune_choose(&all, &opt.prune, &kept, &count));
    cli_check(dataset_pick(&all, kept, count, &few));
    digests[0] = all.digest;
    digests[1] = all.label_digest;
    cli_write_dataset(&opt.common, &few, digests, 2);
    free(kept);
    dataset_free(&few);
    dataset_free(&all);
    return 0;
}
