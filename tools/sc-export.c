/* sc-export: a dataset file in the formats of others. */
#include <string.h>
#include <strings.h>

#include "common/cli.h"
#include "formats/export.h"

struct export_tool {
    struct cli_common common;
    int format;
    const char *name, *labels;
};

enum format { AUTO, NPZ, UCR, TS };
static const char *const formats[] = {"auto", "npz", "ucr", "ts", NULL};

static const struct cli_option options[] = {
    {'f', "format", "NAME", CLI_CHOICE, CLI_AT(export_tool, format),
     "what to write; auto goes by the end of the output's name", .choices = formats},
    {0, "name", "TEXT", CLI_TEXT, CLI_AT(export_tool, name), "problem name in a .ts file",
     .low = 0},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(export_tool, labels), "NPY file with the labels",
     .low = 0},
    {0},
};

static const struct cli_program program = {
    .name = "sc-export",
    .arguments = "[FILE]",
    .summary = "Writes a dataset file as .npz, UCR .tsv or .ts.",
    .example = "sc-export tiny.npy -o tiny.npz",
    .options = options,
    .most_files = 1,
};

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);

    return length >= end_length && strcasecmp(name + length - end_length, end) == 0;
}

static enum format format_of(const char *path)
{
    if (ends_with(path, ".npz"))
        return NPZ;
    if (ends_with(path, ".tsv") || ends_with(path, ".txt"))
        return UCR;
    if (ends_with(path, ".ts"))
        return TS;
    cli_usage("'%s' does not end in .npz, .tsv, .txt or .ts; --format says what to write", path);
}

static struct error *export(FILE *stream, enum format format, const struct dataset *dataset,
                            const char *name)
{
    if (format == NPZ)
        return export_npz(stream, dataset);
    if (format == UCR)
        return export_ucr(stream, dataset);
    return export_ts(stream, dataset, name);
}

int main(int argc, char **argv)
{
    struct export_tool tool = {.name = "shapecond"};
    struct dataset dataset;
    struct output output;
    const char *digests[2];
    enum format format;

    cli_parse(argc, argv, &program, &tool);
    format = tool.format == AUTO ? format_of(tool.common.output) : (enum format)tool.format;
    cli_check(dataset_read(cli_input(&tool.common), tool.labels, DATASET_ALLOW_NAN, &dataset));
    cli_warn_views(cli_input(&tool.common), &dataset);
    digests[0] = dataset.digest;
    digests[1] = dataset.label_digest;
    cli_record(&tool.common, &dataset.notes, digests, 2);

    cli_open_output(tool.common.output, format == NPZ, &output);
    cli_finish_output(&output, tool.common.output,
                      export(output.stream, format, &dataset, tool.name));
    dataset_free(&dataset);
    return 0;
}
