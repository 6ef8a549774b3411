/* shapecond: condense a set with one command.  Runs the programs of the stages with options chosen
 * from the size of the set, and says each command, so that any of them can be repeated alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/command.h"
#include "common/device.h"

struct shapecond_options {
    struct cli_common common;
    size_t per_class;
    size_t steps, refine;
    bool plain;
    int device;
    const char *network, *validate, *test, *keep;
};

static const struct cli_option options[] = {
    {'n', "spc", "N", CLI_SIZE, CLI_AT(shapecond_options, per_class), "series per class", .low = 1},
    {0, "steps", "N", CLI_SIZE, CLI_AT(shapecond_options, steps), "steps of the teacher's training",
     .low = 1},
    {0, "refine", "N", CLI_SIZE, CLI_AT(shapecond_options, refine),
     "steps of going back through the training of students at the end; 0: none", .high = 1e9},
    {0, "plain", NULL, CLI_FLAG, CLI_AT(shapecond_options, plain),
     "a teacher without shapelets (SRe2L)"},
    {0, "network", "TEXT", CLI_TEXT, CLI_AT(shapecond_options, network),
     "the teacher, such as 'cnn depth=3 width=32'"},
    {'v', "validate", "FILE", CLI_FILE, CLI_AT(shapecond_options, validate),
     "held-out set; by default 15 % of the set are held out"},
    {'t', "test", "FILE", CLI_FILE, CLI_AT(shapecond_options, test),
     "also train students on the condensed set and print their scores on this one"},
    {'k', "keep", "DIR", CLI_FILE, CLI_AT(shapecond_options, keep),
     "leave the files of all stages in this folder"},
    DEVICE_OPTION(shapecond_options),
    {0},
};

static const struct cli_program program = {
    .name = "shapecond",
    .arguments = "FILE",
    .summary = "Condenses a labelled set into a few series per class, all stages in one go.",
    .options = options,
    .most_files = 1,
    .random = true,
};

/* What the options of the stages are chosen from. */
struct facts {
    size_t channels, length, classes;
    size_t smallest, largest; /* class */
};

static struct error *look_at(const char *path, struct facts *facts)
{
    struct dataset set;
    size_t *counts;

    TRY(dataset_read(path, NULL, DATASET_LABELLED, &set));
    *facts = (struct facts){set.channels, set.length, set.classes, SIZE_MAX, 0};
    counts = calloc(set.classes, sizeof *counts);
    if (counts) {
        dataset_class_counts(&set, counts);
        for (size_t c = 0; c < set.classes; c++) {
            facts->smallest = counts[c] < facts->smallest ? counts[c] : facts->smallest;
            facts->largest = counts[c] > facts->largest ? counts[c] : facts->largest;
        }
    }
    free(counts);
    dataset_free(&set);
    return counts ? NULL : error_memory("the classes");
}

/* The network of the other programs where it fits; of fewer stages for series that would vanish
 * under its three poolings.  NULL: theirs. */
static const char *fitting_network(const struct facts *facts)
{
    if (facts->length >= 8)
        return NULL;
    if (facts->length >= 4)
        return "cnn depth=2";
    return facts->length >= 2 ? "cnn depth=1" : "cnn depth=1 pool=none";
}

/* Series of each class that shapelets are looked for in.  The work grows with the square of their
 * number; 1e11 distances at one place each are some seconds. */
static size_t search_per_class(const struct facts *facts)
{
    double starts = fmin((double)facts->length, 500);
    double shifts = fmin(0.3 * (double)facts->length, 100);
    double work = 5 * starts * (1 + shifts) * (double)facts->channels;
    double series = sqrt(1e11 / work) / (double)facts->classes;

    return series < 10 ? 10 : (size_t)series;
}

/* Standardised train.npy and val.npy, and the scale. */
static void prepare(struct command_runner *run, const char *input, const char *validate)
{
    const char *scale = command_file(run, "scale.npy");
    const char *train = input, *val = validate;

    if (!val) {
        COMMAND(run, "sc-split", "--train", "0.85", "--val", "rest", "-o", command_file(run, "raw"),
                input);
        train = command_file(run, "raw-train.npy");
        val = command_file(run, "raw-val.npy");
    }
    COMMAND(run, "sc-scale", "--save", scale, "-o", command_file(run, "train.npy"), train);
    COMMAND(run, "sc-scale", "--with", scale, "-o", command_file(run, "val.npy"), val);
}

/* For the stages that compute; nothing for what they do anyway. */
static const char *device_word(const struct shapecond_options *opt)
{
    static const char *const words[] = {"", "--device=auto", "--device=cuda"};

    return words[opt->device];
}

static void find_shapelets(struct command_runner *run, const struct shapecond_options *opt,
                           const struct facts *facts)
{
    const char *pruned = command_file(run, "pruned.npy");
    char per_class[32];

    snprintf(per_class, sizeof per_class, "%zu", search_per_class(facts));
    COMMAND(run, "sc-prune", "--per-class", per_class, "-o", pruned,
            command_file(run, "train.npy"));
    COMMAND(run, "sc-shapelets", "-k", facts->channels == 1 ? "120" : "20", "--gain", "one",
            "--select", "diverse", device_word(opt), "-o", command_file(run, "pool.slp"), pruned);
}

static void train_teacher(struct command_runner *run, const struct shapecond_options *opt,
                          const struct facts *facts)
{
    const char *train = command_file(run, "train.npy");
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", opt->steps);
    if (2 * facts->smallest < facts->largest) {
        const char *balanced = command_file(run, "balanced.npy");

        COMMAND(run, "sc-balance", "-o", balanced, train);
        train = balanced;
    }
    COMMAND(run, "sc-teacher", "--steps", steps, opt->network ? "--network" : "",
            opt->network ? opt->network : "", opt->plain ? "" : "--shapelets",
            opt->plain ? "" : command_file(run, "pool.slp"), "--validate",
            command_file(run, "val.npy"), device_word(opt), "-o", command_file(run, "teacher.tch"),
            train);
}

/* Students with shapelets, as those of sc-eval, are what the set is made for in the end. */
static void refine(struct command_runner *run, const struct shapecond_options *opt)
{
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", opt->refine);
    COMMAND(run, "sc-match", "--method", "unroll", "--from", command_file(run, "inverted.npy"),
            "--shapelets", command_file(run, "pool.slp"), "--steps", steps,
            opt->network ? "--network" : "", opt->network ? opt->network : "", device_word(opt),
            "-o", command_file(run, "condensed.npy"), command_file(run, "train.npy"));
}

static void synthesise(struct command_runner *run, const struct shapecond_options *opt)
{
    bool refined = opt->refine > 0 && !opt->plain;
    const char *tiny = command_file(run, "condensed.npy");
    const char *inverted = refined ? command_file(run, "inverted.npy") : tiny;
    char per_class[32];

    snprintf(per_class, sizeof per_class, "%zu", opt->per_class);
    COMMAND(run, "sc-synth", "--teacher", command_file(run, "teacher.tch"),
            opt->plain ? "" : "--shapelets", opt->plain ? "" : command_file(run, "pool.slp"),
            "--spc", per_class, device_word(opt), "-o", inverted, command_file(run, "train.npy"));
    if (refined)
        refine(run, opt);
    COMMAND(run, "sc-scale", "--undo", "--with", command_file(run, "scale.npy"), "-o",
            opt->common.output, tiny);
}

static void score(struct command_runner *run, const struct shapecond_options *opt,
                  const struct facts *facts)
{
    const char *test = command_file(run, "test.npy"), *network = fitting_network(facts);

    COMMAND(run, "sc-scale", "--with", command_file(run, "scale.npy"), "-o", test, opt->test);
    COMMAND(run, "sc-eval", command_file(run, "condensed.npy"), test, "--validate",
            command_file(run, "val.npy"), opt->plain ? "" : "--shapelets",
            opt->plain ? "" : command_file(run, "pool.slp"), network ? "--network" : "",
            network ? network : "", device_word(opt));
}

int main(int argc, char **argv)
{
    struct shapecond_options opt = {.per_class = 10, .steps = 2000, .refine = 300};
    struct command_runner run;
    struct facts facts = {0};

    cli_parse(argc, argv, &program, &opt);
    if (opt.common.file_count == 0)
        cli_usage("which set?  shapecond FILE --spc 10 -o FILE");
    if (opt.test && strcmp(opt.common.output, "-") == 0)
        cli_usage("--test prints scores to standard output, so the set needs -o FILE");
    cli_refuse_terminal(opt.common.output);
    device_chosen(opt.device, false); /* so that what is missing is said before the work */
    cli_check(look_at(opt.common.files[0], &facts));
    if (!opt.network)
        opt.network = fitting_network(&facts);
    cli_say("%zu classes of %zu to %zu series, %zu channel%s, %zu steps", facts.classes,
            facts.smallest, facts.largest, facts.channels, facts.channels == 1 ? "" : "s",
            facts.length);
    command_begin(&run, opt.keep, &opt.common);
    prepare(&run, opt.common.files[0], opt.validate);
    if (!opt.plain)
        find_shapelets(&run, &opt, &facts);
    train_teacher(&run, &opt, &facts);
    synthesise(&run, &opt);
    if (opt.test)
        score(&run, &opt, &facts);
    if (!opt.keep)
        cli_say("done; --keep DIR leaves the files of the stages, to repeat any of them");
    command_end(&run);
    return 0;
}
