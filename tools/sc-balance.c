/* sc-balance: bring minority classes up to the size of the largest (paper, appendix "Datasets"). */
#include <stdlib.h>

#include "common/cli.h"
#include "data/balance.h"

struct balance_cli {
    struct cli_common common;
    int method;
    size_t target;
    size_t neighbours;
    const char *labels;
};

static const char *const methods[] = {"copy", "smote", NULL};

static const struct cli_option options[] = {
    {0, "method", "NAME", CLI_CHOICE, CLI_AT(balance_cli, method), "how new series are made",
     .choices = methods},
    {0, "to", "N", CLI_SIZE, CLI_AT(balance_cli, target),
     "series that each class shall have at least, 0 for as many as the largest class", 0},
    {'k', "neighbours", "K", CLI_SIZE, CLI_AT(balance_cli, neighbours),
     "smote: how many nearest neighbours to choose from", .low = 1,
     .high = BALANCE_MOST_NEIGHBOURS},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(balance_cli, labels), "file that holds the labels alone",
     0},
    {0},
};

static const struct cli_program program = {
    .name = "sc-balance",
    .arguments = "[FILE]",
    .summary =
        "Adds series to the smaller classes of a dataset until all classes are of equal size.",
    .example = "sc-balance train.npy -o balanced.npy",
    .options = options,
    .most_files = 1,
    .random = true,
};

/* Classes that could not be brought up as asked for. */
static void remark_small_classes(const struct dataset *dataset, bool smote)
{
    size_t *counts = calloc(dataset->classes, sizeof *counts), empty = 0, single = 0;

    if (!counts)
        cli_check(error_memory("class counts"));
    dataset_class_counts(dataset, counts);
    for (size_t v = 0; v < dataset->classes; v++) {
        empty += counts[v] == 0;
        single += counts[v] == 1;
    }
    free(counts);
    if (empty)
        cli_say("%zu of the %zu classes have no series and stay empty", empty, dataset->classes);
    if (smote && single)
        cli_say("%zu of the %zu classes have one series only, which is copied", single,
                dataset->classes);
}

int main(int argc, char **argv)
{
    struct balance_options how = balance_defaults();
    struct balance_cli opt = {.neighbours = how.neighbours};
    struct dataset dataset, balanced;
    struct balancing *balancing;

    cli_parse(argc, argv, &program, &opt);
    how.method = (enum balance_method)opt.method;
    how.target = opt.target;
    how.neighbours = opt.neighbours;
    how.seed = opt.common.seed;

    cli_check(dataset_read(cli_input(&opt.common), opt.labels, DATASET_LABELLED, &dataset));
    cli_warn_views(cli_input(&opt.common), &dataset);
    remark_small_classes(&dataset, how.method == BALANCE_SMOTE);
    cli_check(balance_begin(&dataset, &how, &balancing, &balanced));
    cli_write_dataset(&opt.common, &balanced,
                      (const char *[]){dataset.digest, dataset.label_digest}, 2);
    balance_end(balancing);
    dataset_free(&balanced);
    dataset_free(&dataset);
    return 0;
}
