/* Reads the data once and rejects early what a later stage would reject (job.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "common/claims.h"
#include "data/split.h"
#include "eval/examples.h"
#include "eval/student.h"
#include "shapecond/job.h"

/* ---- Import ---- */

bool needs_import(const struct job *job)
{
    const char *path = job->common.files[0];
    struct stat status;
    FILE *file;
    int first;

    if (job->labels || job->label || job->import)
        return true;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    file = fopen(path, "rb");
    if (!file)
        return false; /* reading it says why */
    first = fgetc(file);
    if (ferror(file))
        cli_check(error_system(path));
    fclose(file);
    return first != EOF && first != 0x93; /* the first byte of every NPY file */
}

enum { IMPORT_WORDS = 64 };

/* Options that would end sc-import early or write elsewhere are not passed on. */
static bool may_be_passed_on(const char *word)
{
    static const char *const own[] = {"-o", "--output", "--help", "--version", "--complete"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(word, own[i], strlen(own[i])) == 0)
            return false;
    return strcmp(word, "--") != 0;
}

void import_data(struct job *job)
{
    struct command_runner *run = &job->run;
    const char *data = command_file(run, "data.npy"), *words[IMPORT_WORDS + 8];
    char *text = strdup(job->import ? job->import : ""), *rest = text, *word;
    size_t count = 0;

    if (!text)
        cli_check(error_memory("options"));
    while ((word = strsep(&rest, " \t\n")) != NULL) {
        if (!*word)
            continue;
        if (!may_be_passed_on(word) || count == IMPORT_WORDS)
            cli_usage("--import: cannot pass on '%s'", word);
        words[count++] = word;
    }
    if (job->label) {
        words[count++] = "--label";
        words[count++] = job->label;
    }
    if (job->labels) {
        words[count++] = "--labels";
        words[count++] = command_name(run, job->labels);
    }
    words[count++] = "-o";
    words[count++] = data;
    words[count++] = command_name(run, job->common.files[0]);
    words[count] = NULL;
    run->advice = "pass its options on as in --import '--drop id --group person'";
    command_run(run, "sc-import", words);
    free(text);
    job->data = data;
}

/* ---- Checks ---- */

static void check_classes(const struct examples *examples)
{
    int32_t missing = examples_missing_class(examples);

    if (missing >= 0)
        cli_check(error_make("%s: class %d of %zu has no series", examples->name, (int)missing,
                             examples->dataset.classes));
    if (examples->dataset.classes < 2)
        cli_check(
            error_make("%s: there is only one class, so nothing to tell apart", examples->name));
}

static void check_other(const struct examples *examples, const char *path)
{
    struct feature_source none = {NULL};
    struct examples other;

    if (!path)
        return;
    cli_check(examples_read(path, NULL, &none, &other));
    cli_check(examples_match(examples, &other));
    examples_free(&other);
}

static void check_network(const struct examples *examples, const char *text)
{
    struct architecture architecture;

    cli_check_usage("network", architecture_parse(text, &architecture));
    if (!architecture.features) /* how many shapelets there will be is not known yet */
        cli_check_usage("network", examples_architecture(examples, text, &architecture));
}

static void check_teacher(const struct examples *examples, const char *path)
{
    struct teacher teacher;

    cli_check(teacher_read(path, backend_cpu(), &teacher));
    if (teacher.network->architecture.features)
        cli_check(
            error_make("%s: sees shapelets; --teacher takes networks that see series alone", path));
    cli_check(examples_match_teacher(examples, path, &teacher));
    teacher_free(&teacher);
}

/* Whether series like the first can be written in the format of the result. */
static void check_format(const struct job *job, const struct dataset *dataset)
{
    const size_t first = 0;
    struct dataset one;
    FILE *nowhere;

    if (job->format == EXPORT_NONE)
        return;
    nowhere = fopen("/dev/null", "w");
    if (!nowhere) {
        cli_check(error_system("/dev/null"));
        return;
    }
    cli_check(dataset_take(dataset, &first, 1, &one));
    cli_check(error_in(job->common.output, export_dataset(nowhere, job->format, &one, "")));
    dataset_free(&one);
    fclose(nowhere);
}

/* ---- Facts ---- */

/* Whether a split leaves every class a series to learn from, and some to validate with: *fewest of
 * the smallest class.  It is the one that sc-split will make. */
static bool can_hold_out(const struct dataset *dataset, bool by_group, uint64_t seed,
                         size_t *fewest)
{
    struct split_options options = {.sizes = {{SPLIT_FRACTION, .fraction = 0.85}, {SPLIT_REST}},
                                    .by_group = by_group,
                                    .seed = seed};
    size_t *counts = calloc(dataset->classes, sizeof *counts);
    struct split split = {{NULL}};
    struct error *error = counts ? NULL : error_memory("the classes");
    size_t least = SIZE_MAX;
    bool can;

    if (!error)
        error = split_make(dataset, &options, &split);
    can = !error && split.counts[SPLIT_VAL] > 0;
    for (size_t i = 0; can && i < split.counts[SPLIT_TRAIN]; i++)
        counts[dataset->y[split.indices[SPLIT_TRAIN][i]]]++;
    for (size_t c = 0; can && c < dataset->classes; c++)
        least = counts[c] < least ? counts[c] : least;
    can = can && least > 0;
    if (can)
        *fewest = least;
    error_free(error);
    split_free(&split);
    free(counts);
    return can;
}

/* Series that follow each other or come from one person are similar: where the dataset says who
 * each is from, others are held out. */
static void plan_split(const struct job *job, const struct dataset *dataset, struct facts *facts)
{
    if (job->validate) {
        facts->held_out = true;
        return;
    }
    facts->by_group =
        dataset->groups && can_hold_out(dataset, true, job->common.seed, &facts->fewest);
    facts->held_out =
        facts->by_group || can_hold_out(dataset, false, job->common.seed, &facts->fewest);
    if (facts->by_group)
        cli_say("the dataset has groups: series of some groups are held out, none is in both "
                "parts");
    else if (dataset->groups && facts->held_out)
        cli_warn("groups cannot be held out without losing a class: accuracies are those for "
                 "known groups");
}

static void count_classes(const struct dataset *dataset, struct facts *facts)
{
    size_t *counts = calloc(dataset->classes, sizeof *counts);

    if (!counts)
        cli_check(error_memory("the classes"));
    dataset_class_counts(dataset, counts);
    facts->smallest = SIZE_MAX;
    for (size_t c = 0; c < dataset->classes; c++) {
        facts->smallest = counts[c] < facts->smallest ? counts[c] : facts->smallest;
        facts->largest = counts[c] > facts->largest ? counts[c] : facts->largest;
    }
    facts->fewest = facts->smallest;
    free(counts);
}

void look_at_data(struct job *job)
{
    struct feature_source none = {NULL};
    struct facts *facts = &job->facts;
    struct examples examples;
    const char *notes;

    cli_check(examples_read(job->data, NULL, &none, &examples));
    cli_warn_views(job->data, &examples.dataset);
    check_classes(&examples);
    if (job->network)
        check_network(&examples, job->network);
    if (job->teacher)
        check_teacher(&examples, job->teacher);
    check_other(&examples, job->validate);
    check_other(&examples, job->test);
    check_format(job, &examples.dataset);
    notes = examples.dataset.notes ? examples.dataset.notes : "";
    *facts = (struct facts){.count = examples.dataset.count,
                            .channels = examples.dataset.channels,
                            .length = examples.dataset.length,
                            .classes = examples.dataset.classes,
                            .notes = strlen(notes),
                            .ascii_notes = text_is_ascii(notes),
                            .soft = examples.dataset.soft != NULL,
                            .groups = examples.dataset.groups != NULL};
    count_classes(&examples.dataset, facts);
    for (size_t c = 0; examples.dataset.names && c < examples.dataset.classes; c++)
        if (strlen(examples.dataset.names[c]) > facts->longest_name)
            facts->longest_name = strlen(examples.dataset.names[c]);
    cli_say("%zu series of %zu channel%s and %zu steps in %zu classes of %zu to %zu", facts->count,
            facts->channels, facts->channels == 1 ? "" : "s", facts->length, facts->classes,
            facts->smallest, facts->largest);
    plan_split(job, &examples.dataset, facts);
    examples_free(&examples);
}

const char *fitting_network(const struct facts *facts)
{
    return facts->length >= 8 ? NULL : student_network(facts->length);
}

/* ---- Places ---- */

/* Fails now, not after the work, where nothing can be written.  Pipes and devices are not tried: a
 * reader would take closing them for the end. */
static void check_output(const char *path)
{
    struct stat status;
    struct output output;

    cli_refuse_terminal(path);
    if (strcmp(path, "-") == 0 ||
        (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        return;
    cli_check(output_open(path, &output));
    output_abort(&output);
}

/* Where the pool goes, which students need: next to the output, with the ending .slp.  NULL if the
 * output is a pipe or a device. */
static char *pool_beside(const char *output)
{
    struct stat status;
    const char *name = strrchr(output, '/') ? strrchr(output, '/') + 1 : output;
    const char *dot = strrchr(name, '.');
    char *path;

    if (strcmp(output, "-") == 0 || (stat(output, &status) == 0 && !S_ISREG(status.st_mode)))
        return NULL;
    if (asprintf(&path, "%.*s.slp", (int)((dot && dot > name ? dot : name + strlen(name)) - output),
                 output) < 0)
        cli_check(error_memory("a file name"));
    return path;
}

static void claim_stage(const char *folder, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        cli_check(error_memory("a file name"));
    claims_add("keep", path, true); /* claims keep the path: not freed */
}

/* The files of the stages must not replace those that the user names. */
static void claim_stages(const char *folder)
{
    static const char *const names[] = {
        "data.npy",         "commands.tsv",       "stages.tsv", "raw-train.npy",     "raw-val.npy",
        "scale.npy",        "train.npy",          "val.npy",    "pruned.npy",        "pool.slp",
        "balanced.npy",     "teacher.tch",        "chosen.npy", "condensed.npy",     "test.npy",
        "random.npy",       "stored.npy",         "random.tsv", "condensed.tsv",     "unscaled.npy",
        "expanded.npy",     "teacher-epochs.tsv", "pooled.tch", "pooled-epochs.tsv", "teacher.tsv",
        "teacher-last.tch", "pooled-last.tch"};
    static const char *const trials[] = {"chosen-%zu.npy", "stored-%zu.npy", "budget-%zu.npy",
                                         "budget-%zu.tsv", "budget-%zu-pooled.tsv"};

    for (size_t i = 0; folder && i < sizeof names / sizeof *names; i++)
        claim_stage(folder, names[i]);
    for (size_t i = 0; folder && i < TRIALS * (sizeof trials / sizeof *trials); i++) {
        char name[64];

        snprintf(name, sizeof name, trials[i / TRIALS], i % TRIALS + 1);
        claim_stage(folder, name);
    }
}

void check_places(struct job *job)
{
    if (job->test)
        cli_check(output_check_standard());
    claim_stages(job->keep);
    check_output(job->common.output);
    if (job->report)
        check_output(job->report);
    if (job->students != STUDENTS_SHAPELETS)
        return;
    job->pool_path = pool_beside(job->common.output);
    if (job->pool_path) {
        claims_add("students", job->pool_path, true);
        check_output(job->pool_path);
    }
}
