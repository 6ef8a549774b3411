/* sc-experts: train networks on a whole dataset and record their parameters after every epoch, for
 * sc-match. */
#include <stdio.h>
#include <stdlib.h>

#include "common/cli.h"
#include "common/cluster_option.h"
#include "common/device_option.h"
#include "common/progress.h"
#include "eval/examples.h"
#include "match/experts.h"

struct experts_cli {
    struct cli_common common;
    const char *network, *labels;
    int device;
    struct cluster_cli cluster;
    struct expert_options experts;
};

static const struct cli_option options[] = {
    {'n', "network", "TEXT", CLI_TEXT, CLI_AT(experts_cli, network),
     "what to train, such as 'cnn depth=3 width=32'"},
    {0, "two-tower", NULL, CLI_FLAG, CLI_AT(experts_cli, experts.two_towers),
     "one such network on the series and one on their spectra, for condtsc"},
    {'c', "count", "N", CLI_SIZE, CLI_AT(experts_cli, experts.count), "how many experts", .low = 1,
     .high = 1e6},
    {'e', "epochs", "N", CLI_SIZE, CLI_AT(experts_cli, experts.epochs), "epochs of each", .low = 1,
     .high = 1e6},
    {'b', "batch", "N", CLI_SIZE, CLI_AT(experts_cli, experts.batch),
     "series in a step at most; 0: by the size of the dataset", .high = 1e6},
    {'r', "rate", "R", CLI_REAL, CLI_AT(experts_cli, experts.rate), "learning rate", .low = 0,
     .high = 1000},
    {0, "momentum", "M", CLI_REAL, CLI_AT(experts_cli, experts.momentum), "momentum of SGD",
     .low = 0, .high = 0.999999},
    {0, "decay", "D", CLI_REAL, CLI_AT(experts_cli, experts.decay), "weight decay", .low = 0,
     .high = 1000},
    {0, "checkpoint", "FILE", CLI_OUTPUT, CLI_AT(experts_cli, experts.checkpoint),
     "keep finished experts there, and resume from it if the run was interrupted"},
    DEVICE_OPTION(experts_cli),
    CLUSTER_OPTIONS(experts_cli),
    {0, "labels", "FILE", CLI_FILE, CLI_AT(experts_cli, labels),
     "file that holds the labels alone"},
    {0},
};

static const struct cli_program program = {
    .name = "sc-experts",
    .arguments = "[FILE]",
    .summary = "Trains networks on a dataset and writes their parameters after every epoch.",
    .example = "sc-experts -c 20 train.npy -o experts.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .computes = true,
};

static void show_epoch(void *context, size_t done, size_t total, double loss)
{
    const struct experts_cli *opt = context;
    char text[96];

    done = done * cluster_size(opt->experts.cluster); /* the other ranks do as much */
    done = done < total ? done : total;
    snprintf(text, sizeof text, "epoch %zu of %zu, loss %.4f", done, total, loss);
    progress_update(done, text);
}

/* The run was killed while it wrote the checkpoint. */
static void say_torn(void *context, size_t expert)
{
    const struct experts_cli *opt = context;

    cli_say("%s: expert %zu is incomplete and trained again", opt->experts.checkpoint, expert + 1);
}

int main(int argc, char **argv)
{
    struct experts_cli opt = {.experts = expert_defaults(), .cluster = CLUSTER_DEFAULTS};
    struct feature_source none = {NULL};
    struct examples real;
    struct output output;
    struct error *error;
    const char *digests[2];
    char *notes = NULL;

    cli_parse(argc, argv, &program, &opt);
    opt.experts.cluster = cluster_chosen(&opt.cluster, &opt.common);
    cli_check(examples_read(cli_input(&opt.common), opt.labels, &none, &real));
    cluster_check_dataset(opt.experts.cluster, real.name, &real.dataset);
    cli_warn_views(cli_input(&opt.common), &real.dataset);
    cli_check(examples_architecture(&real, opt.network, &opt.experts.architecture));
    opt.experts.backend = device_chosen(opt.device, false).backend;
    opt.experts.seed = opt.common.seed;
    opt.experts.progress = show_epoch;
    opt.experts.torn = say_torn;
    opt.experts.context = &opt;
    digests[0] = real.dataset.digest;
    digests[1] = real.dataset.label_digest;
    cli_record(&opt.common, &notes, digests, 2);
    cli_open_output(opt.common.output, true, &output);
    progress_start("sc-experts", opt.experts.count * opt.experts.epochs, opt.common.quiet);
    error = experts_train(&opt.experts, &real.dataset, notes, output.stream);
    progress_end();
    if (error && !ferror(output.stream)) /* not about the output */
        cli_check(error);
    cli_finish_output(&output, opt.common.output, error);
    /* The run is complete: remove its checkpoint. */
    if (cluster_rank(opt.experts.cluster) == 0)
        cli_remove_checkpoint(opt.experts.checkpoint);
    cluster_done(opt.experts.cluster);
    free(notes);
    examples_free(&real);
    return 0;
}
