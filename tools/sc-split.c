/* sc-split: split a labelled dataset into train, validation and test, class by class. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/claims.h"
#include "common/cli.h"
#include "data/split.h"

enum { ALL_PARTS = SPLIT_PARTS };

struct split_cli {
    struct cli_common common;
    const char *sizes[SPLIT_PARTS];
    bool in_order;
    int only; /* a part, or ALL_PARTS */
    int by;
    const char *labels;
};

static const char *const choices[] = {"train", "val", "test", "all", NULL};

enum { BY_CLASS, BY_GROUP };
static const char *const ways[] = {"class", "group", NULL};

static const struct cli_option options[] = {
    {0, "train", "SIZE", CLI_TEXT, CLI_AT(split_cli, sizes[SPLIT_TRAIN]),
     "size of the training set: a fraction (0.6), a number of series (600) or 'rest'", 0},
    {0, "val", "SIZE", CLI_TEXT, CLI_AT(split_cli, sizes[SPLIT_VAL]), "size of the validation set",
     0},
    {0, "test", "SIZE", CLI_TEXT, CLI_AT(split_cli, sizes[SPLIT_TEST]), "size of the test set", 0},
    {0, "by", "WHAT", CLI_CHOICE, CLI_AT(split_cli, by),
     "class: every class keeps its share; group: no group is in two parts", .choices = ways},
    {0, "in-order", NULL, CLI_FLAG, CLI_AT(split_cli, in_order),
     "take the series of each class in file order, not at random", 0},
    {0, "only", "PART", CLI_CHOICE, CLI_AT(split_cli, only),
     "write this part alone, to the output itself", .choices = choices},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(split_cli, labels), "file that holds the labels alone",
     0},
    {0},
};

static const struct cli_program program = {
    .name = "sc-split",
    .arguments = "[FILE]",
    .summary =
        "Cuts a labelled dataset into train, validation and test; every class keeps its share.",
    .example = "sc-split --train 0.8 --test 0.2 -o part all.npy",
    .options = options,
    .most_files = 1,
    .random = true,
    .prefix = true,
    .notes = "Writes PREFIX-train.npy, PREFIX-val.npy and PREFIX-test.npy, where PREFIX is\n"
             "what -o names; with --only, that part to -o or standard output.",
};

static void read_sizes(const struct split_cli *opt, struct split_size sizes[SPLIT_PARTS])
{
    bool any = false;

    for (int p = 0; p < SPLIT_PARTS; p++) {
        if (opt->sizes[p])
            cli_check_usage(split_part_names[p], split_parse_size(opt->sizes[p], &sizes[p]));
        any = any || opt->sizes[p];
    }
    if (!any)
        cli_usage("no sizes given; for example --train 0.6 --val 0.2 --test 0.2");
    if (opt->only == ALL_PARTS && strcmp(opt->common.output, "-") == 0)
        cli_usage("several files: name them with -o PREFIX, or choose one part with --only");
    if (opt->only != ALL_PARTS && !opt->sizes[opt->only])
        cli_usage("--only=%s, but --%s says no size", choices[opt->only], choices[opt->only]);
}

/* "PREFIX-train.npy"; a prefix that ends in .npy loses that. */
static char *part_path(const char *prefix, enum split_part part)
{
    size_t length = strlen(prefix);
    char *path;

    if (length > 4 && strcmp(prefix + length - 4, ".npy") == 0)
        length -= 4;
    if (asprintf(&path, "%.*s-%s.npy", (int)length, prefix, split_part_names[part]) < 0)
        cli_check(error_memory("a file name"));
    return path;
}

/* The names of the files that are to be written, NULL for other parts. */
static void name_parts(const struct split_cli *opt, char *paths[SPLIT_PARTS])
{
    for (int p = 0; p < SPLIT_PARTS; p++) {
        paths[p] = NULL;
        if (!opt->sizes[p] || (opt->only != ALL_PARTS && opt->only != p))
            continue;
        paths[p] = opt->only == ALL_PARTS ? part_path(opt->common.output, (enum split_part)p)
                                          : strdup(opt->common.output);
        if (!paths[p])
            cli_check(error_memory("a file name"));
        claims_add("output", paths[p], true);
    }
}

/* Says which classes are missing from a part. */
static void remark_missing(const struct dataset *part, const char *name)
{
    size_t *counts = calloc(part->classes, sizeof *counts), missing = 0;

    if (!counts)
        cli_check(error_memory("class counts"));
    dataset_class_counts(part, counts);
    for (size_t v = 0; v < part->classes; v++)
        missing += counts[v] == 0;
    if (missing)
        cli_say("%s has no series of %zu of the %zu classes", name, missing, part->classes);
    free(counts);
}

/* Takes the part out of the dataset and writes it, to be committed with the others. */
static void stage_part(const struct split_cli *opt, const struct dataset *all,
                       const struct split *split, enum split_part part, const char *path,
                       struct output *output)
{
    const char *digests[] = {all->digest, all->label_digest};
    struct dataset taken;
    char *notes;

    cli_check(dataset_pick(all, split->indices[part], split->counts[part], &taken));
    remark_missing(&taken, split_part_names[part]);
    if (opt->by == BY_GROUP)
        cli_say("%s: %zu of %zu series", split_part_names[part], taken.count, all->count);
    cli_record(&opt->common, &taken.notes, digests, 2);
    if (opt->only == ALL_PARTS) {
        if (asprintf(&notes, "%s : %s", taken.notes, split_part_names[part]) < 0)
            cli_check(error_memory("provenance"));
        free(taken.notes);
        taken.notes = notes;
    }
    cli_stage_dataset(path, &taken, output);
    dataset_free(&taken);
}

int main(int argc, char **argv)
{
    struct split_cli opt = {.only = ALL_PARTS};
    struct split_options split_options = {0};
    struct output outputs[SPLIT_PARTS];
    char *paths[SPLIT_PARTS];
    size_t written = 0;
    struct dataset all;
    struct split split;

    cli_parse(argc, argv, &program, &opt);
    read_sizes(&opt, split_options.sizes);
    name_parts(&opt, paths);
    split_options.by_group = opt.by == BY_GROUP;
    split_options.in_order = opt.in_order;
    split_options.seed = opt.common.seed;
    cli_check(dataset_read(cli_input(&opt.common), opt.labels, DATASET_LABELLED, &all));
    cli_warn_views(cli_input(&opt.common), &all);
    if (all.groups && opt.by == BY_CLASS)
        cli_say("the dataset has groups, which are not kept together (--by group does that)");
    cli_check(split_make(&all, &split_options, &split));

    for (int p = 0; p < SPLIT_PARTS; p++) {
        if (paths[p] && split.counts[p])
            stage_part(&opt, &all, &split, (enum split_part)p, paths[p], &outputs[written++]);
    }
    cli_commit(outputs, written);
    for (int p = 0; p < SPLIT_PARTS; p++)
        free(paths[p]);
    split_free(&split);
    dataset_free(&all);
    return 0;
}
