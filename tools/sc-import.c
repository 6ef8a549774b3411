/* sc-import: text and array files of others as one dataset file. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_stream.h"
#include "base/parallel.h"
#include "common/cli.h"
#include "formats/import.h"

struct import_cli {
    struct cli_common common;
    int format, axes, lengths, missing;
    const char *label, *group, *groups, *long_format, *array;
    struct cli_texts drop;
    bool header;
    size_t length;
    struct cli_texts labels;
    const char *classes_from;
};

enum { MOST_FORMATS = 16 };

/* "auto" and the formats that there are, which main fills in. */
static const char *formats[MOST_FORMATS + 2] = {"auto"};
/* In the order of the enums in import.h. */
static const char *const lengths[] = {"error", "pad", "zero", "cut", NULL};
static const char *const missing[] = {"error", "linear", "previous", "mean", "zero", "keep", NULL};
static const char *const axes[] = {"ncl", "nlc", NULL};

static const struct cli_option options[] = {
    {'f', "format", "NAME", CLI_CHOICE, CLI_AT(import_cli, format), "what the files are",
     .choices = formats},
    {0, "label", "COLUMN", CLI_TEXT, CLI_AT(import_cli, label),
     "where a row of ucr or csv has its label: auto, first, last, none, or a column by name or "
     "number"},
    {0, "drop", "COLUMN", CLI_TEXTS, CLI_AT(import_cli, drop),
     "leave out this column of ucr or csv, by name or number; may be repeated"},
    {0, "long", "COLUMNS", CLI_TEXT, CLI_AT(import_cli, long_format),
     "a row has one value: id=COLUMN,time=COLUMN,channel=COLUMN,value=COLUMN,label=COLUMN"},
    {0, "header", NULL, CLI_FLAG, CLI_AT(import_cli, header),
     "the first line of a csv file is a header even if it has numbers"},
    {0, "labels", "FILE", CLI_TEXTS, CLI_AT(import_cli, labels),
     "NPY file with the labels; once for each NPY file", .unrecorded = true, .reads = true},
    {0, "group", "COLUMN", CLI_TEXT, CLI_AT(import_cli, group),
     "column of ucr or csv that says who or what a series is from, by name or number"},
    {0, "groups", "FILE", CLI_FILE, CLI_AT(import_cli, groups),
     "NPY file with the groups of an NPY file"},
    {0, "array", "NAME", CLI_TEXT, CLI_AT(import_cli, array),
     "the array of an npz file that holds the series"},
    {0, "axes", "ORDER", CLI_CHOICE, CLI_AT(import_cli, axes),
     "order of the axes of an array: series, channels, steps or series, steps, channels",
     .choices = axes},
    {0, "classes-from", "FILE", CLI_FILE, CLI_AT(import_cli, classes_from),
     "number the labels as in this dataset"},
    {0, "lengths", "HOW", CLI_CHOICE, CLI_AT(import_cli, lengths), "series of unequal length",
     .choices = lengths},
    {0, "length", "STEPS", CLI_SIZE, CLI_AT(import_cli, length),
     "length to pad or cut to, 0 for the longest or shortest", .high = INT_MAX},
    {0, "missing", "HOW", CLI_CHOICE, CLI_AT(import_cli, missing), "missing values",
     .choices = missing},
    {0},
};

static const struct cli_program program = {
    .name = "sc-import",
    .arguments = "[FILE]...",
    .summary = "Reads UCR, CSV, .ts, .arff, NPY and NPZ files, all into one dataset file.",
    .example = "sc-import --label activity --drop id walks.csv -o walks.npy",
    .options = options,
    .most_files = SIZE_MAX,
};

/* The dataset whose classes are to be used, or NULL. */
static const struct dataset *read_classes(const char *path, struct dataset *dataset)
{
    if (!path)
        return NULL;
    cli_check(dataset_read(path, NULL, DATASET_LABELLED | DATASET_ALLOW_NAN, dataset));
    return dataset;
}

static void set_label(const char *text, struct import_options *import)
{
    static const char *const places[] = {"auto", "first", "last", "none", NULL};

    import->label = IMPORT_LABEL_COLUMN;
    import->label_column = text;
    for (int i = 0; places[i]; i++) {
        if (strcmp(text, places[i]) == 0)
            import->label = (enum import_label)i;
    }
}

static struct import_options import_options(const struct import_cli *tool)
{
    struct import_options import = {
        .format = tool->format ? formats[tool->format] : NULL,
        .drop = tool->drop.items,
        .drop_count = tool->drop.count,
        .group = tool->group,
        .groups = tool->groups,
        .long_format = tool->long_format,
        .header = tool->header,
        .channels_last = tool->axes == 1,
        .array = tool->array,
        .lengths = (enum import_lengths)tool->lengths,
        .length = tool->length,
        .missing = (enum import_missing)tool->missing,
        .parallel = parallel_for,
    };

    set_label(tool->label, &import);
    if (tool->length && tool->lengths == IMPORT_LENGTHS_ERROR)
        cli_usage("--length needs --lengths to say how");
    if (tool->groups && tool->common.file_count > 1)
        cli_usage("--groups is for one file");
    if (tool->long_format && (import.label != IMPORT_LABEL_AUTO || tool->drop.count))
        cli_usage("--long says itself which columns count, so --label and --drop make no sense");
    return import;
}

static void add_files(const struct import_cli *tool, struct import *import)
{
    static const char *standard_input[] = {"-"};
    const char **files = tool->common.file_count ? tool->common.files : standard_input;
    size_t count = tool->common.file_count ? tool->common.file_count : 1;

    if (tool->labels.count && tool->labels.count != count)
        cli_usage("--labels is given %zu times for %zu files", tool->labels.count, count);
    for (size_t i = 0; i < count; i++)
        cli_check(import_file(import, files[i], tool->labels.count ? tool->labels.items[i] : NULL));
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* ": up 30, down 30", as far as it fits. */
static void list_classes(FILE *stream, const struct dataset *dataset)
{
    enum { SHOWN = 8 };
    size_t *counts = calloc(dataset->classes + 1, sizeof *counts);

    if (!counts)
        return;
    dataset_class_counts(dataset, counts);
    for (size_t i = 0; i < dataset->classes && i < SHOWN; i++) {
        fputs(i ? ", " : ": ", stream);
        if (dataset->names)
            fputs(dataset->names[i], stream);
        else
            fprintf(stream, "%zu", i);
        fprintf(stream, " (%zu)", counts[i]);
    }
    if (dataset->classes > SHOWN)
        fputs(", ...", stream);
    free(counts);
}

static size_t count_groups(const struct dataset *dataset)
{
    int32_t most = -1;

    for (size_t i = 0; i < dataset->count; i++)
        most = dataset->groups[i] > most ? dataset->groups[i] : most;
    return (size_t)most + 1;
}

/* What was understood, in one line. */
static void say_result(const struct dataset *dataset)
{
    struct memory_stream text;

    cli_check(memory_stream_open("the summary", &text));
    fprintf(text.stream, "%zu series, %zu channel%s, %zu step%s", dataset->count, dataset->channels,
            plural(dataset->channels), dataset->length, plural(dataset->length));
    if (dataset->groups)
        fprintf(text.stream, ", %zu group%s", count_groups(dataset), plural(count_groups(dataset)));
    if (dataset->y) {
        fprintf(text.stream, ", %zu class%s", dataset->classes, dataset->classes == 1 ? "" : "es");
        list_classes(text.stream, dataset);
    } else {
        fputs(", no labels", text.stream);
    }
    cli_check(memory_stream_close(&text));
    cli_say("%s", text.bytes);
    memory_stream_free(&text);
}

static void say_remarks(const struct import *import)
{
    const char *text;
    bool warning;

    for (size_t i = 0; (text = import_remark(import, i, &warning)); i++) {
        if (warning)
            cli_warn("warning: %s", text);
        else
            cli_say("%s", text);
    }
}

int main(int argc, char **argv)
{
    struct import_cli tool = {.label = "auto"};
    struct import_options import_with;
    struct dataset classes = {0}, dataset;
    struct import *import;
    const char *const *digests;
    size_t digest_count;

    for (size_t i = 0; i < MOST_FORMATS && import_format(i); i++)
        formats[i + 1] = import_format(i);
    cli_parse(argc, argv, &program, &tool);
    import_with = import_options(&tool);
    import_with.classes = read_classes(tool.classes_from, &classes);

    cli_check(import_new(&import_with, &import));
    add_files(&tool, import);
    cli_check(import_finish(import, &dataset));
    say_remarks(import);
    digests = import_digests(import, &digest_count);
    cli_write_dataset(&tool.common, &dataset, digests, digest_count);
    say_result(&dataset);
    import_free(import);
    dataset_free(&dataset);
    dataset_free(&classes);
    free(tool.labels.items);
    free(tool.drop.items);
    return 0;
}
