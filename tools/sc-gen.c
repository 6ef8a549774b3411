/* sc-gen: make a dataset whose answer is known. */
#include <stdio.h>
#include <string.h>

#include "common/cli.h"
#include "data/generate.h"
#include "data/walks.h"

struct gen_cli {
    struct cli_common common;
    struct generate_options generate;
    const char *truth;
    const char *like;
    size_t per_class;
};

enum { DEFAULT_PER_CLASS = 10 };

static const struct cli_option options[] = {
    {'n', "count", "N", CLI_SIZE, CLI_AT(gen_cli, generate.count), "how many series", .low = 1},
    {0, "first", "N", CLI_SIZE, CLI_AT(gen_cli, generate.first),
     "index of the first series: datasets that do not overlap are new samples of the same problem",
     0},
    {'L', "length", "N", CLI_SIZE, CLI_AT(gen_cli, generate.length), "steps of a series", .low = 1,
     .high = 1e9},
    {0, "noise", "S", CLI_REAL, CLI_AT(gen_cli, generate.noise), "standard deviation of the noise",
     .low = 0, .high = 1e6},
    {0, "correlation", "R", CLI_REAL, CLI_AT(gen_cli, generate.correlation),
     "correlation of the noise between neighbouring steps", .low = -0.9999, .high = 0.9999},
    {0, "imbalance", "R", CLI_REAL, CLI_AT(gen_cli, generate.imbalance),
     "share of the rarest class relative to the most frequent", .low = 1e-6, .high = 1},
    {0, "truth", "FILE", CLI_OUTPUT, CLI_AT(gen_cli, truth),
     "write where the patterns are, as a table", 0},
    {'C', "channels", "N", CLI_SIZE, CLI_AT(gen_cli, generate.channels), "planted: channels",
     .low = 1, .high = 1e9},
    {'V', "classes", "N", CLI_SIZE, CLI_AT(gen_cli, generate.classes), "planted: classes", .low = 1,
     .high = 1e6},
    {'k', "shapelets", "N", CLI_SIZE, CLI_AT(gen_cli, generate.shapelets),
     "planted: shapelets of each class", .low = 1, .high = 1e6},
    {0, "pattern", "N", CLI_SIZE, CLI_AT(gen_cli, generate.pattern), "planted: steps of a shapelet",
     .low = 2, .high = 1e9},
    {0, "jitter", "N", CLI_SIZE, CLI_AT(gen_cli, generate.jitter),
     "planted: largest shift of a shapelet from its place", .high = 1e9},
    {0, "amplitude", "A", CLI_REAL, CLI_AT(gen_cli, generate.amplitude),
     "planted: root mean square of a shapelet", .low = 0, .high = 1e6},
    {0, "like", "FILE", CLI_FILE, CLI_AT(gen_cli, like),
     "walks: dataset whose channels, length, scale and classes they get", 0},
    {0, "spc", "N", CLI_SIZE, CLI_AT(gen_cli, per_class), "walks: series per class [10]", .low = 1,
     .high = 1e9},
    {0},
};

static const struct cli_program program = {
    .name = "sc-gen",
    .arguments = "two-patterns | cbf | planted | walks",
    .summary = "Makes a labelled dataset of series whose classes are known by construction.",
    .example = "sc-gen cbf -n 300 -o train.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .words = true,
};

static const char *const kinds[] = {"two-patterns", "cbf", "planted", "walks"};
enum { WALKS = GENERATE_PLANTED + 1, KINDS };

static bool planted_options(const struct generate_options *chosen,
                            const struct generate_options *usual)
{
    return chosen->channels != usual->channels || chosen->classes != usual->classes ||
           chosen->shapelets != usual->shapelets || chosen->pattern != usual->pattern ||
           chosen->jitter != usual->jitter || chosen->amplitude != usual->amplitude;
}

static bool pattern_options(const struct generate_options *chosen,
                            const struct generate_options *usual)
{
    return chosen->count != usual->count || chosen->first != usual->first ||
           chosen->length != usual->length || chosen->noise != usual->noise ||
           chosen->correlation != usual->correlation || chosen->imbalance != usual->imbalance;
}

static int kind_of(const struct gen_cli *opt)
{
    const struct generate_options usual = generate_defaults(), *chosen = &opt->generate;
    int kind = 0;

    if (opt->common.file_count == 0)
        cli_usage("missing argument: two-patterns, cbf, planted or walks");
    while (kind < KINDS && strcmp(opt->common.files[0], kinds[kind]) != 0)
        kind++;
    if (kind == KINDS)
        cli_usage("'%s' is not one of: two-patterns, cbf, planted, walks", opt->common.files[0]);
    if (kind != GENERATE_PLANTED && planted_options(chosen, &usual))
        cli_usage("channels, classes and shapelets can be chosen for planted datasets only");
    if (kind == WALKS && (pattern_options(chosen, &usual) || opt->truth))
        cli_usage("walks take --like, --spc and --seed");
    if (kind == WALKS && !opt->like)
        cli_usage("missing option: --like=FILE");
    if (kind != WALKS && (opt->like || opt->per_class))
        cli_usage("--like and --spc are for walks");
    return kind;
}

static void make_walks(struct gen_cli *opt)
{
    struct dataset like, walks;
    size_t per_class = opt->per_class ? opt->per_class : DEFAULT_PER_CLASS;
    const char *digest;

    cli_check(dataset_read(opt->like, NULL, DATASET_LABELLED, &like));
    cli_check(walks_make(&like, per_class, opt->common.seed, &walks));
    digest = like.digest;
    cli_write_dataset(&opt->common, &walks, &digest, 1);
    dataset_free(&walks);
    dataset_free(&like);
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
    struct gen_cli opt = {.generate = generate_defaults()};
    struct generator *generator;
    struct dataset dataset;
    struct planted_list truth = {0};
    struct output outputs[2];
    int kind;

    cli_parse(argc, argv, &program, &opt);
    kind = kind_of(&opt);
    if (kind == WALKS) {
        make_walks(&opt);
        return 0;
    }
    opt.generate.kind = (enum generate_kind)kind;
    opt.generate.seed = opt.common.seed;
    cli_check(generate_begin(&opt.generate, opt.truth ? &truth : NULL, &generator, &dataset));

    cli_record(&opt.common, &dataset.notes, NULL, 0);
    cli_stage_dataset(opt.common.output, &dataset, &outputs[0]);
    if (opt.truth) {
        cli_open_output(opt.truth, false, &outputs[1]);
        write_truth(&truth, &dataset, outputs[1].stream);
    }
    cli_commit(outputs, opt.truth ? 2 : 1);
    planted_free(&truth);
    generate_end(generator);
    dataset_free(&dataset);
    return 0;
}
