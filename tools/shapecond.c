/* shapecond: condense a dataset with one command.  Runs the programs of the stages with options
 * chosen from the size of the dataset, and says each command, so that any of them can be repeated
 * alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "common/claims.h"
#include "common/cli.h"
#include "common/command.h"
#include "common/device.h"
#include "data/split.h"
#include "eval/examples.h"
#include "eval/report.h"
#include "eval/student.h"

enum { DEFAULT_PER_CLASS = 10, DEFAULT_VIEWS = 4000, DEFAULT_REFINE = 300 };

struct shapecond_options {
    struct cli_common common;
    size_t per_class;
    size_t views;
    const char *bytes;
    int students;
    size_t steps, refine;
    bool plain, unscored;
    int device;
    const char *network, *validate, *test, *keep, *labels, *import;
    bool force;
    const char *data; /* the dataset itself, also of a file that is imported */
};

/* Whom the dataset is for. */
enum { STUDENTS_ANY, STUDENTS_SHAPELETS };
static const char *const students[] = {"any", "shapelets", NULL};

static const struct cli_option options[] = {
    {'n', "spc", "N", CLI_SIZE, CLI_AT(shapecond_options, per_class), "series per class [10]",
     .low = 1},
    {'m', "views", "M", CLI_SIZE, CLI_AT(shapecond_options, views),
     "labelled views to add (sc-views(1)); 0: none", .high = 1e9},
    {'b', "bytes", "SIZE", CLI_TEXT, CLI_AT(shapecond_options, bytes),
     "size of the result, such as 40k or 1M, instead of --spc and --views: series and views are "
     "chosen to fit"},
    {0, "students", "KIND", CLI_CHOICE, CLI_AT(shapecond_options, students),
     "models that the result is for: any, or students that see the distances to the shapelets, "
     "which are written beside it",
     .choices = students},
    {0, "steps", "N", CLI_SIZE, CLI_AT(shapecond_options, steps), "steps of the teacher's training",
     .low = 1},
    {0, "refine", "N", CLI_SIZE, CLI_AT(shapecond_options, refine),
     "for students with shapelets: steps of unrolled training [300]; 0: invert the teacher",
     .high = 1e9},
    {0, "plain", NULL, CLI_FLAG, CLI_AT(shapecond_options, plain), "a teacher without shapelets"},
    {0, "no-score", NULL, CLI_FLAG, CLI_AT(shapecond_options, unscored),
     "do not train students at the end to say how good the result is"},
    {0, "network", "TEXT", CLI_TEXT, CLI_AT(shapecond_options, network),
     "the teacher, such as 'cnn depth=3 width=32'"},
    {'v', "validate", "FILE", CLI_FILE, CLI_AT(shapecond_options, validate),
     "held-out dataset; by default 15 % of the series are held out"},
    {'t', "test", "FILE", CLI_FILE, CLI_AT(shapecond_options, test),
     "also train students on the result and print their scores on this dataset"},
    {'k', "keep", "DIR", CLI_FOLDER, CLI_AT(shapecond_options, keep),
     "leave the files of all stages in this folder; a run that was stopped continues there"},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(shapecond_options, labels),
     "file that holds the labels alone"},
    {0, "import", "OPTIONS", CLI_TEXT, CLI_AT(shapecond_options, import),
     "options of sc-import for a file that is not a dataset yet, such as '--label last'"},
    {0, "force", NULL, CLI_FLAG, CLI_AT(shapecond_options, force),
     "also when the result is not smaller than the training data"},
    DEVICE_OPTION(shapecond_options),
    {0},
};

static const struct cli_program program = {
    .name = "shapecond",
    .arguments = "FILE",
    .summary = "Condenses a labelled dataset into a few series per class, all stages in one go.",
    .options = options,
    .most_files = 1,
    .random = true,
    .example = "shapecond train.npy --spc 10 -o tiny.npy",
};

/* What the options of the stages are chosen from. */
struct facts {
    size_t count, channels, length, classes;
    size_t smallest, largest; /* class */
    size_t longest_name;      /* characters of a class's name */
    bool held_out;            /* there are series to validate with */
};

/* What would end a stage in the middle of the work, about a file of its own that nobody knows. */
static void check_set(const struct examples *set, bool plain)
{
    int32_t missing = examples_missing_class(set);

    if (missing >= 0)
        cli_check(error_make("%s: class %d of %zu has no series", set->name, (int)missing,
                             set->dataset.classes));
    if (set->dataset.classes < 2 && !plain)
        cli_check(error_make("%s: shapelets tell classes apart, but there is only one", set->name));
}

static void check_other(const struct examples *set, const char *path)
{
    struct feature_source none = {NULL};
    struct examples other;

    if (!path)
        return;
    cli_check(examples_read(path, NULL, &none, &other));
    cli_check(examples_match(set, &other));
    examples_free(&other);
}

static void check_network(const struct examples *set, const char *text)
{
    struct architecture architecture;

    cli_check_usage("network", architecture_parse(text, &architecture));
    if (!architecture.features) /* how many shapelets there will be is not known yet */
        cli_check_usage("network", examples_architecture(set, text, &architecture));
}

/* Whether some series can be held out and yet every class keeps one to learn from. */
static bool can_hold_out(const struct dataset *set)
{
    struct split_options split = {.sizes = {{SPLIT_FRACTION, .fraction = 0.85}, {SPLIT_REST}}};
    size_t totals[SPLIT_PARTS];
    struct error *error = split_totals(&split, set->count, totals);
    bool can = !error && totals[SPLIT_TRAIN] >= set->classes;

    error_free(error);
    return can;
}

static void count_classes(const struct dataset *set, struct facts *facts)
{
    size_t *counts = calloc(set->classes, sizeof *counts);

    if (!counts)
        cli_check(error_memory("the classes"));
    dataset_class_counts(set, counts);
    facts->smallest = SIZE_MAX;
    for (size_t c = 0; c < set->classes; c++) {
        facts->smallest = counts[c] < facts->smallest ? counts[c] : facts->smallest;
        facts->largest = counts[c] > facts->largest ? counts[c] : facts->largest;
    }
    free(counts);
}

static void look_at(const struct shapecond_options *opt, struct facts *facts)
{
    struct feature_source none = {NULL};
    struct examples set;

    cli_check(examples_read(opt->data, NULL, &none, &set));
    cli_warn_views(opt->data, &set.dataset);
    check_set(&set, opt->plain);
    if (opt->network)
        check_network(&set, opt->network);
    check_other(&set, opt->validate);
    check_other(&set, opt->test);
    *facts = (struct facts){.count = set.dataset.count,
                            .channels = set.dataset.channels,
                            .length = set.dataset.length,
                            .classes = set.dataset.classes,
                            .held_out = opt->validate || can_hold_out(&set.dataset)};
    count_classes(&set.dataset, facts);
    for (size_t c = 0; set.dataset.names && c < set.dataset.classes; c++)
        if (strlen(set.dataset.names[c]) > facts->longest_name)
            facts->longest_name = strlen(set.dataset.names[c]);
    examples_free(&set);
}

/* ---- Own data ---- */

/* Whether sc-import has to make a dataset of the file: text, or arrays with labels of their own. */
static bool needs_import(const struct shapecond_options *opt)
{
    const char *path = opt->common.files[0];
    struct stat status;
    FILE *file;
    int first;

    if (opt->labels || opt->import)
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

/* Not what would end sc-import early or write elsewhere. */
static bool may_be_passed_on(const char *word)
{
    static const char *const own[] = {"-o", "--output", "--help", "--version", "--complete"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(word, own[i], strlen(own[i])) == 0)
            return false;
    return strcmp(word, "--") != 0;
}

static void import_data(struct command_runner *run, struct shapecond_options *opt)
{
    const char *data = command_file(run, "data.npy"), *words[IMPORT_WORDS + 8];
    char *text = strdup(opt->import ? opt->import : ""), *rest = text, *word;
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
    if (opt->labels) {
        words[count++] = "--labels";
        words[count++] = command_name(run, opt->labels);
    }
    words[count++] = "-o";
    words[count++] = data;
    words[count++] = command_name(run, opt->common.files[0]);
    words[count] = NULL;
    command_run(run, "sc-import", words);
    free(text);
    opt->data = data;
}

/* ---- How large the result will be ---- */

/* Values of one series with its labels, and those of one view. */
static double series_bytes(const struct facts *facts)
{
    return 4 * ((double)facts->channels * (double)facts->length + (double)facts->classes + 1);
}

static double result_bytes(const struct facts *facts, size_t per_class, size_t views)
{
    double classes = (double)facts->classes;

    return classes * (double)per_class * series_bytes(facts) + (double)views * classes;
}

/* "40k": 40000. */
static double parse_bytes(const char *text)
{
    char *end;
    double bytes = strtod(text, &end);

    if (*end == 'k' || *end == 'K')
        bytes *= 1e3, end++;
    else if (*end == 'M')
        bytes *= 1e6, end++;
    if (end == text || *end || !(bytes >= 1 && bytes <= 1e15))
        cli_usage("--bytes: '%s' is not a size such as 40000, 40k or 1.5M", text);
    return bytes;
}

enum {
    NOTES = 5000,       /* headers and provenance */
    FEWEST_VIEWS = 300, /* less are worth little */
    MOST_VIEWS = 20000, /* more are not worth their time */
};

/* Divides a budget: half of it for series, at least one per class, the rest for views.  With views
 * the number of series matters little (pipelines/DECISIONS.md). */
static void spend(struct shapecond_options *opt, const struct facts *facts)
{
    double classes = (double)facts->classes, names = 4 * classes * (double)facts->longest_name;
    double bytes = parse_bytes(opt->bytes) - NOTES - names;
    double fewest = (double)facts->smallest * (facts->held_out && !opt->validate ? 0.85 : 1);
    double per_class = floor(bytes / 2 / (classes * series_bytes(facts))), views;

    per_class = fmax(fmin(per_class, floor(fewest)), 1);
    views = floor((bytes - per_class * classes * series_bytes(facts)) / classes);
    if (views < FEWEST_VIEWS)
        cli_check(error_make("--bytes: one series per class and %d views take %.0f bytes",
                             FEWEST_VIEWS, result_bytes(facts, 1, FEWEST_VIEWS) + NOTES + names));
    opt->per_class = (size_t)per_class;
    opt->views = (size_t)fmin(views, MOST_VIEWS);
    cli_say("%s bytes: %zu series per class and %zu views", opt->bytes, opt->per_class, opt->views);
}

static void check_smaller(const struct shapecond_options *opt, const struct facts *facts)
{
    double all = (double)facts->count * 4 * (double)(facts->channels * facts->length + 1);
    size_t views = opt->students == STUDENTS_ANY ? opt->views : 0;

    if (!opt->force && result_bytes(facts, opt->per_class, views) >= all)
        cli_check(
            error_make("%zu series per class and %zu views would take as many bytes as the %zu "
                       "series of %s; choose fewer (--spc, --views), or --force",
                       opt->per_class, views, facts->count, opt->common.files[0]));
}

/* A place where nothing can be written is known at once, not after the work.  Pipes and devices are
 * not tried: a reader would take it for the end. */
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

/* The files of the stages must not replace those that the user names. */
static void claim_stages(const char *folder)
{
    static const char *const names[] = {
        "data.npy",    "commands.tsv", "raw-train.npy", "raw-val.npy",   "scale.npy",
        "train.npy",   "val.npy",      "pruned.npy",    "pool.slp",      "balanced.npy",
        "teacher.tch", "chosen.npy",   "condensed.npy", "test.npy",      "random.npy",
        "plain.tch",   "teacher.tsv",  "random.tsv",    "condensed.tsv", "unscaled.npy"};

    for (size_t i = 0; folder && i < sizeof names / sizeof *names; i++) {
        char *path;

        if (asprintf(&path, "%s/%s", folder, names[i]) < 0)
            cli_check(error_memory("a file name"));
        claims_add("keep", path, true); /* which stays in use */
    }
}

/* The network of the other programs where it fits (NULL), else a smaller one. */
static const char *fitting_network(const struct facts *facts)
{
    return facts->length >= 8 ? NULL : student_network(facts->length);
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

/* Standardised train.npy, val.npy if series are held out, and the scale. */
static void prepare(struct command_runner *run, const struct shapecond_options *opt, bool held_out)
{
    const char *scale = command_file(run, "scale.npy");
    const char *train = command_name(run, opt->data);
    const char *val = opt->validate ? command_name(run, opt->validate) : NULL;

    if (held_out && !val) {
        COMMAND(run, "sc-split", "--train", "0.85", "--val", "rest", "-o", command_file(run, "raw"),
                train);
        train = command_file(run, "raw-train.npy");
        val = command_file(run, "raw-val.npy");
    }
    COMMAND(run, "sc-scale", "--save", scale, "-o", command_file(run, "train.npy"), train);
    if (val)
        COMMAND(run, "sc-scale", "--with", scale, "-o", command_file(run, "val.npy"), val);
}

/* For the stages that compute; nothing for what they do anyway. */
static const char *device_word(const struct shapecond_options *opt)
{
    static const char *const words[] = {command_none, "--device=auto", "--device=cuda"};

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

/* Classes of very unequal size are balanced for the teachers. */
static const char *balance(struct command_runner *run, const struct facts *facts)
{
    const char *train = command_file(run, "train.npy"), *balanced;

    if (2 * facts->smallest >= facts->largest)
        return train;
    balanced = command_file(run, "balanced.npy");
    COMMAND(run, "sc-balance", "-o", balanced, train);
    return balanced;
}

static void train_teacher(struct command_runner *run, const struct shapecond_options *opt,
                          const struct facts *facts, const char *train, bool shapelets,
                          const char *teacher)
{
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", opt->steps);
    COMMAND(run, "sc-teacher", "--steps", steps, opt->network ? "--network" : command_none,
            opt->network ? opt->network : command_none, shapelets ? "--shapelets" : command_none,
            shapelets ? command_file(run, "pool.slp") : command_none,
            facts->held_out ? "--validate" : command_none,
            facts->held_out ? command_file(run, "val.npy") : command_none, device_word(opt), "-o",
            command_file(run, teacher), train);
}

/* The teacher that labels views: students that see no shapelets learn more from one that does not,
 * either (pipelines/DECISIONS.md). */
static const char *labeller(const struct shapecond_options *opt)
{
    return opt->students == STUDENTS_ANY && !opt->plain ? "plain.tch" : "teacher.tch";
}

/* Options of the stages that need the teacher's shapelets, if it has any. */
static const char *pool_option(const struct shapecond_options *opt)
{
    return opt->plain ? command_none : "--shapelets";
}

static const char *pool_file(struct command_runner *run, const struct shapecond_options *opt)
{
    return opt->plain ? command_none : command_file(run, "pool.slp");
}

/* N series per class.  `kept`: real ones as they were chosen, with the teacher's logits; otherwise
 * the teacher is inverted from there. */
static void choose_series(struct command_runner *run, const struct shapecond_options *opt,
                          bool kept, const char *chosen)
{
    char per_class[32];

    snprintf(per_class, sizeof per_class, "%zu", opt->per_class);
    COMMAND(run, "sc-synth", "--teacher", command_file(run, "teacher.tch"), pool_option(opt),
            pool_file(run, opt), "--spc", per_class,
            kept && opt->plain ? "--init=real" : command_none, kept ? "--steps" : command_none,
            kept ? "0" : command_none, device_word(opt), "-o", chosen,
            command_file(run, "train.npy"));
}

/* For any model: real series, and views of them that the teacher labels, made by the recipe that is
 * best for held-out series (pipelines/DECISIONS.md). */
static void make_views(struct command_runner *run, const struct shapecond_options *opt,
                       const struct facts *facts)
{
    char views[32];

    snprintf(views, sizeof views, "%zu", opt->views);
    choose_series(run, opt, true, command_file(run, "chosen.npy"));
    COMMAND(run, "sc-views", "--teacher", command_file(run, labeller(opt)), "--views", views,
            facts->held_out ? "--validate" : command_none,
            facts->held_out ? command_file(run, "val.npy") : command_none, device_word(opt), "-o",
            command_file(run, "condensed.npy"), command_file(run, "chosen.npy"));
}

/* For students that see the shapelets.  Series that are to be refined stay as they were chosen:
 * inverting them first does not help, and hurts where classes overlap (pipelines/DECISIONS.md). */
static void refine(struct command_runner *run, const struct shapecond_options *opt)
{
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", opt->refine);
    choose_series(run, opt, true, command_file(run, "chosen.npy"));
    COMMAND(run, "sc-match", "--method", "unroll", "--from", command_file(run, "chosen.npy"),
            "--shapelets", command_file(run, "pool.slp"), "--steps", steps,
            opt->network ? "--network" : command_none, opt->network ? opt->network : command_none,
            device_word(opt), "-o", command_file(run, "condensed.npy"),
            command_file(run, "train.npy"));
}

/* Where the pool goes: beside the output, with the ending .slp.  Without it, students cannot be
 * trained as they are meant to.  NULL if the output is a pipe or a device. */
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

/* Both or none: a dataset with the pool of another one would be taken for whole. */
static void write_with_pool(const char *const from[2], const char *const to[2])
{
    struct output outputs[2];

    for (int i = 0; i < 2; i++) {
        unsigned char *bytes;
        size_t size;

        cli_check(error_in(from[i], file_read(from[i], &bytes, &size)));
        cli_open_output(to[i], true, &outputs[i]);
        if (fwrite(bytes, 1, size, outputs[i].stream) < size)
            cli_check(error_system(to[i]));
        free(bytes);
    }
    cli_commit(outputs, 2);
}

static void condense(struct command_runner *run, const struct shapecond_options *opt,
                     const struct facts *facts, const char *pool_path)
{
    const char *result;

    if (opt->students == STUDENTS_SHAPELETS && opt->refine > 0)
        refine(run, opt);
    else if (opt->students == STUDENTS_SHAPELETS || opt->views == 0)
        choose_series(run, opt, opt->students == STUDENTS_ANY, command_file(run, "condensed.npy"));
    else
        make_views(run, opt, facts);
    result = pool_path ? command_file(run, "unscaled.npy") : opt->common.output;
    COMMAND(run, "sc-scale", "--undo", "--with", command_file(run, "scale.npy"), "-o", result,
            command_file(run, "condensed.npy"));
    if (pool_path && !run->counting)
        write_with_pool((const char *[]){result, command_file(run, "pool.slp")},
                        (const char *[]){opt->common.output, pool_path});
}

static void score(struct command_runner *run, const struct shapecond_options *opt,
                  const struct facts *facts)
{
    const char *test = command_file(run, "test.npy"), *network = fitting_network(facts);

    COMMAND(run, "sc-scale", "--with", command_file(run, "scale.npy"), "-o", test,
            command_name(run, opt->test));
    COMMAND(run, "sc-eval", command_file(run, "condensed.npy"), test,
            facts->held_out ? "--validate" : command_none,
            facts->held_out ? command_file(run, "val.npy") : command_none,
            opt->students == STUDENTS_SHAPELETS ? "--shapelets" : command_none,
            opt->students == STUDENTS_SHAPELETS ? command_file(run, "pool.slp") : command_none,
            network ? "--network" : command_none, network ? network : command_none,
            device_word(opt));
}

/* ---- How good it is ---- */

/* Accuracy on the held-out series of students that learn from a file, or of the teacher; the table
 * goes into the folder under that name. */
static double held_out_accuracy(struct command_runner *run, const struct shapecond_options *opt,
                                const struct facts *facts, const char *train, const char *table)
{
    const char *network = fitting_network(facts), *result = command_file(run, table);
    bool shapelets = opt->students == STUDENTS_SHAPELETS;
    double accuracy;

    COMMAND(
        run, "sc-eval", shapelets ? "--shapelets" : command_none,
        shapelets ? command_file(run, "pool.slp") : command_none, train ? "--seeds=2" : "--teacher",
        train ? "--choose=last" : command_file(run, labeller(opt)),
        train && network ? "--network" : command_none, train && network ? network : command_none,
        device_word(opt), "-o", result, train ? train : command_none, command_file(run, "val.npy"));
    if (run->counting)
        return 0;
    cli_check(report_read_full(result, &accuracy));
    return 100 * accuracy;
}

static size_t file_size(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (size_t)status.st_size : 0;
}

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Fresh students on series that nothing was chosen by but the teacher's epoch and the recipe. */
static void say_how_good(struct command_runner *run, const struct shapecond_options *opt,
                         const struct facts *facts)
{
    const char *random = command_file(run, "random.npy");
    const char *condensed_path = command_file(run, "condensed.npy");
    double condensed, chance, teacher;
    char per_class[32];

    snprintf(per_class, sizeof per_class, "%zu", opt->per_class);
    COMMAND(run, "sc-select", "--spc", per_class, "-o", random, command_file(run, "train.npy"));
    condensed = held_out_accuracy(run, opt, facts, condensed_path, "condensed.tsv");
    chance = held_out_accuracy(run, opt, facts, random, "random.tsv");
    teacher = held_out_accuracy(run, opt, facts, NULL, "teacher.tsv");
    if (run->counting)
        return;
    cli_say(
        "%zu series per class%s: %.1f kB, training data %.1f kB", opt->per_class,
        opt->students == STUDENTS_ANY && opt->views ? " with views" : "",
        1e-3 * (double)file_size(is_file(opt->common.output) ? opt->common.output : condensed_path),
        1e-3 * (double)file_size(command_file(run, "train.npy")));
    cli_say("accuracy on held-out series: %s %.1f %%, students of as many random series %.1f %%, "
            "teacher of all data %.1f %%",
            opt->students == STUDENTS_ANY ? "plain students of the result"
                                          : "students of the result that see the shapelets",
            condensed, chance, teacher);
}

/* What a newcomer would ask; as it can be pasted into a shell. */
static void say_what_next(const struct shapecond_options *opt)
{
    const char *output = opt->common.output;
    size_t stem = strlen(output);

    if (opt->students == STUDENTS_SHAPELETS || !is_file(output) ||
        strspn(output, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-") !=
            stem ||
        *output == '-')
        return;
    if (stem > 4 && strcmp(output + stem - 4, ".npy") == 0)
        stem -= 4;
    cli_say("for any program: sc-expand %s | sc-export -o %.*s-expanded.npz", output, (int)stem,
            output);
}

static void check_usage(struct shapecond_options *opt)
{
    bool shapelets = opt->students == STUDENTS_SHAPELETS;

    if (opt->common.file_count == 0)
        cli_usage("missing argument: FILE (shapecond FILE --spc 10 -o FILE)");
    if (strcmp(opt->common.files[0], "-") == 0 ||
        (opt->validate && strcmp(opt->validate, "-") == 0) ||
        (opt->test && strcmp(opt->test, "-") == 0))
        cli_usage("a dataset is read more than once, so it must be a file");
    if (opt->test && strcmp(opt->common.output, "-") == 0)
        cli_usage("--test prints scores to standard output, so the result needs -o FILE");
    if (opt->refine != SIZE_MAX && !shapelets)
        cli_usage("--refine is for --students=shapelets");
    if (opt->plain && shapelets)
        cli_usage("--plain has no shapelets for --students=shapelets");
    if (opt->bytes && (shapelets || opt->views != SIZE_MAX || opt->per_class))
        cli_usage("--bytes chooses --spc and --views, for --students=any");
    if (opt->views != SIZE_MAX && shapelets)
        cli_usage("--views is for --students=any");
    opt->per_class = opt->per_class ? opt->per_class : DEFAULT_PER_CLASS;
    opt->refine = opt->refine == SIZE_MAX ? DEFAULT_REFINE : opt->refine;
    opt->views = opt->views == SIZE_MAX ? DEFAULT_VIEWS : opt->views;
}

/* All stages: run, or only counted. */
static void run_stages(struct command_runner *run, const struct shapecond_options *opt,
                       const struct facts *facts, const char *pool_path)
{
    const char *train;

    prepare(run, opt, facts->held_out);
    if (!opt->plain)
        find_shapelets(run, opt, facts);
    train = balance(run, facts);
    train_teacher(run, opt, facts, train, !opt->plain, "teacher.tch");
    if (strcmp(labeller(opt), "plain.tch") == 0)
        train_teacher(run, opt, facts, train, false, "plain.tch");
    condense(run, opt, facts, pool_path);
    if (opt->test)
        score(run, opt, facts);
    if (facts->held_out && !opt->unscored)
        say_how_good(run, opt, facts);
}

int main(int argc, char **argv)
{
    struct shapecond_options opt = {.views = SIZE_MAX, .steps = 1000, .refine = SIZE_MAX};
    struct command_runner run;
    struct facts facts = {0};
    char *pool_path = NULL;

    cli_parse(argc, argv, &program, &opt);
    check_usage(&opt);
    if (opt.test)
        cli_check(output_check_standard());
    claim_stages(opt.keep);
    check_output(opt.common.output);
    if (opt.students == STUDENTS_SHAPELETS)
        pool_path = pool_beside(opt.common.output);
    if (pool_path) {
        claims_add("students", pool_path, true);
        check_output(pool_path);
    }
    device_chosen(opt.device, false); /* so that what is missing is said before the work */
    opt.data = opt.common.files[0];
    if (needs_import(&opt)) {
        command_begin(&run, opt.keep, &opt.common);
        import_data(&run, &opt);
        look_at(&opt, &facts);
    } else {
        look_at(&opt, &facts);
        command_begin(&run, opt.keep, &opt.common);
    }
    if (!opt.network)
        opt.network = fitting_network(&facts);
    cli_say("%zu series of %zu channel%s and %zu steps in %zu classes of %zu to %zu", facts.count,
            facts.channels, facts.channels == 1 ? command_none : "s", facts.length, facts.classes,
            facts.smallest, facts.largest);
    if (!facts.held_out)
        cli_say("too few series to hold any out: the teacher is kept as it ends");
    if (opt.bytes)
        spend(&opt, &facts);
    check_smaller(&opt, &facts);
    run.counting = true;
    run_stages(&run, &opt, &facts, pool_path);
    run.counting = false;
    run.total += run.number; /* an import before */
    run_stages(&run, &opt, &facts, pool_path);
    if (!opt.keep)
        cli_say("done; --keep DIR leaves the files of the stages, to continue there or repeat any");
    say_what_next(&opt);
    command_end(&run);
    return 0;
}
