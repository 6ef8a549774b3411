/* sc-gen: make a dataset whose answer is known. */
#include <stdio.h>
#include <string.h>

#include "common/cli.h"
#include "data/generate.h"

struct gen_options {
    struct cli_common common;
    struct generate_options set;
    const char *truth;
};

static const struct cli_option options[] = {
    {'n', "count", "N", CLI_SIZE, CLI_AT(gen_options, set.count), "how many series", .low = 1},
    {0, "first", "N", CLI_SIZE, CLI_AT(gen_options, set.first),
     "index of the first series: datasets that do not overlap are new samples of the same problem",
     0},
    {'L', "length", "N", CLI_SIZE, CLI_AT(gen_options, set.length), "steps of a series", .low = 1,
     .high = 1e9},
    {0, "noise", "S", CLI_REAL, CLI_AT(gen_options, set.noise), "standard deviation of the noise",
     .low = 0, .high = 1e6},
    {0, "correlation", "R", CLI_REAL, CLI_AT(gen_options, set.correlation),
     "correlation of the noise between neighbouring steps", .low = -0.9999, .high = 0.9999},
    {0, "imbalance", "R", CLI_REAL, CLI_AT(gen_options, set.imbalance),
     "share of the rarest class relative to the most frequent", .low = 1e-6, .high = 1},
    {0, "truth", "FILE", CLI_OUTPUT, CLI_AT(gen_options, truth),
     "write where the patterns are, as a table", 0},
    {'C', "channels", "N", CLI_SIZE, CLI_AT(gen_options, set.channels), "planted: channels",
     .low = 1, .high = 1e9},
    {'V', "classes", "N", CLI_SIZE, CLI_AT(gen_options, set.classes), "planted: classes", .low = 1,
     .high = 1e6},
    {'k', "shapelets", "N", CLI_SIZE, CLI_AT(gen_options, set.shapelets),
     "planted: shapelets of each class", .low = 1, .high = 1e6},
    {0, "pattern", "N", CLI_SIZE, CLI_AT(gen_options, set.pattern), "planted: steps of a shapelet",
     .low = 2, .high = 1e9},
    {0, "jitter", "N", CLI_SIZE, CLI_AT(gen_options, set.jitter),
     "planted: largest shift of a shapelet from its place", .high = 1e9},
    {0, "amplitude", "A", CLI_REAL, CLI_AT(gen_options, set.amplitude),
     "planted: root mean square of a shapelet", .low = 0, .high = 1e6},
    {0},
};

static const struct cli_program program = {
    .name = "sc-gen",
    .arguments = "two-patterns | cbf | planted",
    .summary = "Makes a labelled dataset of series whose classes are known by construction.",
    .options = options,
    .most_files = 1,
    .random = true,
    .words = true,
};

static enum generate_kind kind_of(const struct gen_options *opt)
{
    static const char *const kinds[] = {"two-patterns", "cbf", "planted"};
    const struct generate_options usual = generate_defaults(), *set = &opt->set;
    size_t kind = 0;

    if (opt->common.file_count == 0)
        cli_usage("missing argument: two-patterns, cbf or planted");
    while (kind < 3 && strcmp(opt->common.files[0], kinds[kind]) != 0)
        kind++;
    if (kind == 3)
        cli_usage("'%s' is none of: two-patterns, cbf, planted", opt->common.files[0]);
    if (kind != GENERATE_PLANTED &&
        (set->channels != usual.channels || set->classes != usual.classes ||
         set->shapelets != usual.shapelets || set->pattern != usual.pattern ||
         set->jitter != usual.jitter || set->amplitude != usual.amplitude))
        cli_usage("channels, classes and shapelets can be chosen for planted datasets only");
    return (enum generate_kind)kind;
}

static void write_truth(const struct planted_list *truth, const struct dataset *dataset,
                        FILE *stream)
{
    fputs("series\tclass\tchannel\tstart\tlength\n", stream);
    for (size_t i = 0; i < truth->count; i++) {
        const struct planted *row = &truth->items[i];

        fprintf(stream, "%zu\t%d\t%zu\t%zu\t%zu\n", row->series, dataset->y[row->series],
                row->channel, row->start, row->length);
    }
}

int main(int argc, char **argv)
{
    struct gen_options opt = {.set = generate_defaults()};
    struct dataset dataset;
    struct planted_list truth;
    struct output outputs[2];

    cli_parse(argc, argv, &program, &opt);
    opt.set.kind = kind_of(&opt);
    opt.set.seed = opt.common.seed;
    cli_check(generate(&opt.set, &dataset, &truth));

    cli_record(&opt.common, &dataset.notes, NULL, 0);
    cli_stage_dataset(opt.common.output, &dataset, &outputs[0]);
    if (opt.truth) {
        cli_open_output(opt.truth, false, &outputs[1]);
        write_truth(&truth, &dataset, outputs[1].stream);
    }
    cli_commit(outputs, opt.truth ? 2 : 1);
    planted_free(&truth);
    dataset_free(&dataset);
    return 0;
}
