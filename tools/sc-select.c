/* sc-select: a few real series of each class that stand for all: the coreset methods of the paper's
 * main table. */
#include <stdlib.h>

#include "common/cli.h"
#include "condense/coreset.h"

struct select_options {
    struct cli_common common;
    int method;
    size_t per_class;
    const char *labels;
};

static const char *const methods[] = {"random", "herding", "kcenter", "kmeans", NULL};

static const struct cli_option options[] = {
    {'m', "method", "METHOD", CLI_CHOICE, CLI_AT(select_options, method), "how to choose",
     .choices = methods},
    {'n', "spc", "N", CLI_SIZE, CLI_AT(select_options, per_class), "series per class", .low = 1},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(select_options, labels),
     "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-select",
    .arguments = "[FILE]",
    .summary = "Chooses a few real series of each class that stand for all.",
    .options = options,
    .most_files = 1,
    .random = true,
};

int main(int argc, char **argv)
{
    struct select_options opt = {.method = CORESET_RANDOM, .per_class = 10};
    struct dataset all, few;
    const char *digests[1];
    size_t *chosen;

    cli_parse(argc, argv, &program, &opt);
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, DATASET_LABELLED, &all));
    chosen = calloc(all.classes, opt.per_class * sizeof *chosen);
    if (!chosen)
        cli_check(error_memory("the choice"));
    cli_check(coreset_select(all.x, all.count, all.channels * all.length, all.y, all.classes,
                             &(struct coreset_options){.method = (enum coreset_method)opt.method,
                                                       .per_class = opt.per_class,
                                                       .seed = opt.common.seed},
                             chosen));
    cli_check(dataset_take(&all, chosen, all.classes * opt.per_class, &few));
    digests[0] = all.digest;
    cli_write_dataset(&opt.common, &few, digests, 1);
    free(chosen);
    dataset_free(&few);
    dataset_free(&all);
    return 0;
}
