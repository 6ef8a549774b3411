/* sc-export: a dataset file in the formats of others. */
#include "common/cli.h"
#include "formats/export.h"

struct export_cli {
    struct cli_common common;
    int format;
    const char *name, *labels;
};

/* In the order of enum export_format. */
static const char *const formats[] = {"auto", "npz", "ucr", "ts", "csv", NULL};

static const struct cli_option options[] = {
    {'f', "format", "NAME", CLI_CHOICE, CLI_AT(export_cli, format),
     "what to write; auto goes by the end of the output's name", .choices = formats},
    {0, "name", "TEXT", CLI_TEXT, CLI_AT(export_cli, name), "problem name in a .ts file", .low = 0},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(export_cli, labels), "NPY file with the labels",
     .low = 0},
    {0},
};

static const struct cli_program program = {
    .name = "sc-export",
    .arguments = "[FILE]",
    .summary = "Writes a dataset file as .npz, UCR .tsv, .ts or .csv.",
    .example = "sc-export tiny.npy -o tiny.npz",
    .options = options,
    .most_files = 1,
};

static enum export_format format_of(const struct export_cli *tool)
{
    enum export_format format = (enum export_format)tool->format;

    if (format == EXPORT_NONE)
        format = export_format_of(tool->common.output);
    if (format == EXPORT_NONE)
        cli_usage("'%s' does not end in .npz, .tsv, .txt, .ts or .csv; --format says what to write",
                  tool->common.output);
    return format;
}

int main(int argc, char **argv)
{
    struct export_cli tool = {.name = "shapecond"};
    struct dataset dataset;
    struct output output;
    const char *digests[2];
    enum export_format format;

    cli_parse(argc, argv, &program, &tool);
    format = format_of(&tool);
    cli_check(dataset_read(cli_input(&tool.common), tool.labels, DATASET_ALLOW_NAN, &dataset));
    cli_warn_views(cli_input(&tool.common), &dataset);
    digests[0] = dataset.digest;
    digests[1] = dataset.label_digest;
    cli_record(&tool.common, &dataset.notes, digests, 2);

    cli_open_output(tool.common.output, format == EXPORT_NPZ, &output);
    cli_finish_output(&output, tool.common.output,
                      export_dataset(output.stream, format, &dataset, tool.name));
    dataset_free(&dataset);
    return 0;
}
