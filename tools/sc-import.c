/* sc-import: text and array files of others as one dataset file. */
#include <limits.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "common/cli.h"
#include "formats/import.h"

struct import_tool {
    struct cli_common common;
    int format, label, lengths, missing;
    bool header;
    size_t length;
    struct cli_texts labels;
    const char *classes_from;
};

/* In the order of the enums in import.h. */
static const char *const formats[] = {"auto", "ucr", "csv", "ts", "arff", "npy", NULL};
static const char *const label_places[] = {"first", "last", "none", NULL};
static const char *const lengths[] = {"error", "pad", "zero", "cut", NULL};
static const char *const missing[] = {"error", "linear", "previous", "mean", "zero", "keep", NULL};

static const struct cli_option options[] = {
    {'f', "format", "NAME", CLI_CHOICE, CLI_AT(import_tool, format), "what the files are",
     .choices = formats},
    {0, "label", "PLACE", CLI_CHOICE, CLI_AT(import_tool, label),
     "where a row of ucr or csv has its label", .choices = label_places},
    {0, "header", NULL, CLI_FLAG, CLI_AT(import_tool, header),
     "the first line of a csv file is a header even if it has numbers", .low = 0},
    {0, "labels", "FILE", CLI_TEXTS, CLI_AT(import_tool, labels),
     "NPY file with the labels; once for each NPY file", .unrecorded = true, .reads = true},
    {0, "classes-from", "FILE", CLI_FILE, CLI_AT(import_tool, classes_from),
     "number the labels as in this dataset", .low = 0},
    {0, "lengths", "HOW", CLI_CHOICE, CLI_AT(import_tool, lengths), "series of unequal length",
     .choices = lengths},
    {0, "length", "STEPS", CLI_SIZE, CLI_AT(import_tool, length),
     "length to pad or cut to, 0 for the longest or shortest", .high = INT_MAX},
    {0, "missing", "HOW", CLI_CHOICE, CLI_AT(import_tool, missing), "missing values",
     .choices = missing},
    {0},
};

static const struct cli_program program = {
    .name = "sc-import",
    .arguments = "[FILE]...",
    .summary = "Reads UCR, CSV, .ts, .arff and NPY files, all into one dataset file.",
    .options = options,
    .most_files = SIZE_MAX,
};

/* The set whose classes are to be used, or NULL. */
static const struct dataset *read_classes(const char *path, struct dataset *set)
{
    if (!path)
        return NULL;
    cli_check(dataset_read(path, NULL, DATASET_LABELLED | DATASET_ALLOW_NAN, set));
    return set;
}

static void add_files(const struct import_tool *tool, struct import *import)
{
    static const char *standard_input[] = {"-"};
    const char **files = tool->common.file_count ? tool->common.files : standard_input;
    size_t count = tool->common.file_count ? tool->common.file_count : 1;

    if (tool->labels.count && tool->labels.count != count)
        cli_usage("--labels is given %zu times for %zu files", tool->labels.count, count);
    for (size_t i = 0; i < count; i++)
        cli_check(import_file(import, files[i], tool->labels.count ? tool->labels.items[i] : NULL));
}

int main(int argc, char **argv)
{
    struct import_tool tool = {0};
    struct import_options import_options = {0};
    struct dataset classes = {0}, dataset;
    struct import *import;
    const char *const *digests;
    size_t digest_count;

    cli_parse(argc, argv, &program, &tool);
    if (tool.length && tool.lengths == IMPORT_LENGTHS_ERROR)
        cli_usage("--length needs --lengths to say how");
    import_options.format = (enum import_format)tool.format;
    import_options.label = (enum import_label)tool.label;
    import_options.header = tool.header;
    import_options.lengths = (enum import_lengths)tool.lengths;
    import_options.length = tool.length;
    import_options.missing = (enum import_missing)tool.missing;
    import_options.classes = read_classes(tool.classes_from, &classes);
    import_options.parallel = parallel_for;

    cli_check(import_new(&import_options, &import));
    add_files(&tool, import);
    cli_check(import_finish(import, &dataset));
    if (import_warning(import))
        cli_warn("warning: %s", import_warning(import));
    digests = import_digests(import, &digest_count);
    cli_write_dataset(&tool.common, &dataset, digests, digest_count);
    import_free(import);
    dataset_free(&dataset);
    dataset_free(&classes);
    free(tool.labels.items);
    return 0;
}
