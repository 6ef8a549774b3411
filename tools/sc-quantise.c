/* sc-quantise: store the series of a dataset in few bits, or rounded and compressed. */
#include <math.h>

#include "base/file.h"
#include "common/bytes.h"
#include "common/cli.h"
#include "data/pack.h"

struct quantise_cli {
    struct cli_common common;
    int bits;
    double step;
    const char *bytes, *labels;
};

static const char *const bit_choices[] = {"8", "4", NULL};
static const unsigned bits_of[] = {8, 4};
enum { BITS_NOT_GIVEN = -1 };

static const struct cli_option options[] = {
    {'b', "bits", "N", CLI_CHOICE, CLI_AT(quantise_cli, bits), "bits of each stored value [8]",
     .choices = bit_choices},
    {0, "step", "S", CLI_REAL, CLI_AT(quantise_cli, step),
     "instead of --bits: round to multiples of S standard deviations of each channel, and compress",
     .high = 100},
    {0, "bytes", "SIZE", CLI_TEXT, CLI_AT(quantise_cli, bytes),
     "with --step: keep as many random series of each class as fit, with their labels, into "
     "this size, such as 40k"},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(quantise_cli, labels),
     "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-quantise",
    .arguments = "[FILE]",
    .summary = "Stores the series of a dataset in few bits per value instead of 32.",
    .example = "sc-quantise --bits 4 few.npy | sc-views -t teacher.tch -o tiny.npy",
    .options = options,
    .most_files = 1,
    .random = true,
};

int main(int argc, char **argv)
{
    struct quantise_cli opt = {.bits = BITS_NOT_GIVEN, .step = NAN};
    struct dataset dataset, packed = {0};
    const char *digests[2];

    cli_parse(argc, argv, &program, &opt);
    if (opt.step == 0)
        cli_usage("--step must be above 0");
    if (opt.bytes && isnan(opt.step))
        cli_usage("--bytes needs --step");
    if (opt.bits != BITS_NOT_GIVEN && !isnan(opt.step))
        cli_usage("--bits and --step exclude each other");
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, 0, &dataset));
    cli_warn_views(cli_input(&opt.common), &dataset);
    if (opt.step > 0) {
        struct pack_options packing = {.step = opt.step, .seed = opt.common.seed};

        packing.bytes = opt.bytes ? bytes_option(opt.bytes) : 0;
        cli_check(
            error_in(file_shown(cli_input(&opt.common)), pack_make(&dataset, &packing, &packed)));
    } else {
        cli_check(dataset_quantise(&dataset, bits_of[opt.bits < 0 ? 0 : opt.bits]));
    }
    digests[0] = dataset.digest;
    digests[1] = dataset.label_digest;
    cli_write_dataset(&opt.common, opt.step > 0 ? &packed : &dataset, digests, 2);
    dataset_free(&packed);
    dataset_free(&dataset);
    return 0;
}
