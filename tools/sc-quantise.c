/* sc-quantise: store the series of a condensed dataset in few bits. */
#include "common/cli.h"

struct quantise_cli {
    struct cli_common common;
    int bits;
    const char *labels;
};

static const char *const bit_choices[] = {"8", "4", NULL};
static const unsigned bits_of[] = {8, 4};

static const struct cli_option options[] = {
    {'b', "bits", "N", CLI_CHOICE, CLI_AT(quantise_cli, bits), "bits of each stored value",
     .choices = bit_choices},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(quantise_cli, labels),
     "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-quantise",
    .arguments = "[FILE]",
    .summary = "Stores the series of a dataset in 8 or 4 bits per value instead of 32.",
    .example = "sc-quantise --bits 4 few.npy | sc-views -t teacher.tch -o tiny.npy",
    .options = options,
    .most_files = 1,
};

int main(int argc, char **argv)
{
    struct quantise_cli opt = {0};
    struct dataset dataset;
    const char *digests[2];

    cli_parse(argc, argv, &program, &opt);
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, 0, &dataset));
    cli_warn_views(cli_input(&opt.common), &dataset);
    cli_check(dataset_quantise(&dataset, bits_of[opt.bits]));
    digests[0] = dataset.digest;
    digests[1] = dataset.label_digest;
    cli_write_dataset(&opt.common, &dataset, digests, 2);
    dataset_free(&dataset);
    return 0;
}
