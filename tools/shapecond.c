/* shapecond: condense a dataset with one command.  Runs the programs of the stages with options
 * chosen for the dataset, and prints each command, so that any of them can be run again alone.
 * This file has the options; job.h says which files of tools/shapecond/ do the work. */
#include <stdlib.h>
#include <string.h>

#include "common/device_option.h"
#include "shapecond/job.h"

enum { DEFAULT_VIEWS = 8000, DEFAULT_REFINE = 300 };

static const char *const students[] = {"any", "shapelets", NULL};

static const struct cli_option options[] = {
    {'n', "spc", "N", CLI_SIZE, CLI_AT(job, per_class),
     "series per class, in few bits instead of compressed [10 with --views or --bits]", .low = 1},
    {'m', "views", "M", CLI_SIZE, CLI_AT(job, views),
     "labelled views to add (sc-views(1)); 0: none", .high = 1e9},
    {'b', "bytes", "SIZE", CLI_TEXT, CLI_AT(job, bytes),
     "size of the result, such as 40k or 1M, divided between compressed series and views by trial "
     "on held-out series [that of ten float32 series per class, at most a tenth of the data]"},
    {0, "bits", "N", CLI_SIZE, CLI_AT(job, bits),
     "bits of each value of the series (sc-quantise(1)): 4, 8 or 32 [8]", .low = 4, .high = 32},
    {0, "sample", "N", CLI_SIZE, CLI_AT(job, sample),
     "choose among N random series of each class; 0: among all, which takes much disk space for "
     "large datasets"},
    {0, "students", "KIND", CLI_CHOICE, CLI_AT(job, students),
     "models that the result is for: any, or students that see the distances to the shapelets, "
     "which are written beside it",
     .choices = students},
    {0, "steps", "N", CLI_SIZE, CLI_AT(job, steps), "steps of each teacher's training", .low = 1},
    {0, "refine", "N", CLI_SIZE, CLI_AT(job, refine),
     "for students with shapelets: steps of unrolled training [300]; 0: invert the teacher",
     .high = 1e9},
    {0, "no-score", NULL, CLI_FLAG, CLI_AT(job, unscored),
     "do not train students at the end to say how good the result is"},
    {0, "network", "TEXT", CLI_TEXT, CLI_AT(job, network),
     "the teacher, such as 'cnn depth=3 width=32' [for students of any kind two: cnn and "
     "'cnn end=mean']"},
    {0, "teacher", "FILE", CLI_FILE, CLI_AT(job, teacher),
     "your own teacher (tch(5)) instead of one that is trained; it sees the series as they are"},
    {0, "teacher-command", "CMD", CLI_TEXT, CLI_AT(job, command),
     "a program that is the teacher (sc-teacher-command(7))"},
    {'v', "validate", "FILE", CLI_FILE, CLI_AT(job, validate),
     "held-out dataset; by default 15 % of the series are held out, by groups if there are any"},
    {'t', "test", "FILE", CLI_FILE, CLI_AT(job, test),
     "also train students on the result and print their scores on this dataset"},
    {'k', "keep", "DIR", CLI_FOLDER, CLI_AT(job, keep),
     "leave the files of all stages in this folder; a run that was stopped continues there"},
    {0, "report", "FILE", CLI_OUTPUT, CLI_AT(job, report),
     "also write an HTML page about the result: series, accuracy, times (sc-report(1))"},
    {0, "label", "COLUMN", CLI_TEXT, CLI_AT(job, label),
     "column of a table that holds the labels, by name or number, first or last (sc-import(1))"},
    {0, "labels", "FILE", CLI_FILE, CLI_AT(job, labels), "file that holds the labels alone"},
    {0, "import", "OPTIONS", CLI_TEXT, CLI_AT(job, import),
     "options of sc-import for a file that is not a dataset yet, such as '--drop id'"},
    {0, "force", NULL, CLI_FLAG, CLI_AT(job, force),
     "also when the result is not smaller than the training data"},
    DEVICE_OPTION(job),
    {0},
};

static const struct cli_program program = {
    .name = "shapecond",
    .arguments = "FILE",
    .summary =
        "Condenses a labelled dataset into few bytes that train any model, all stages in one go.",
    .notes = "The end of the output's name says how it is written: .npz, .ts, .tsv, .txt\n"
             "and .csv for other programs, with views written out as series; else a\n"
             "dataset file.",
    .options = options,
    .most_files = 1,
    .least_files = 1,
    .random = true,
    .example = "shapecond train.npy --bytes 40k -o tiny.npy",
};

static void check_teachers(const struct job *job)
{
    if (job->teacher && job->command)
        cli_usage("--teacher and --teacher-command exclude each other");
    if (has_own_teacher(job) && job->network && job->students == STUDENTS_ANY)
        cli_usage("--network describes the teacher to train, but you bring your own");
}

static void check_usage(struct job *job)
{
    bool shapelets = job->students == STUDENTS_SHAPELETS;

    if (job->common.file_count == 0)
        cli_usage("missing argument: FILE (shapecond FILE --spc 10 -o FILE)");
    if (strcmp(job->common.files[0], "-") == 0 ||
        (job->validate && strcmp(job->validate, "-") == 0) ||
        (job->test && strcmp(job->test, "-") == 0))
        cli_usage("a dataset is read more than once, so it must be a file");
    if (job->test && strcmp(job->common.output, "-") == 0)
        cli_usage("--test prints scores to standard output, so the result needs -o FILE");
    if (job->report && strcmp(job->common.output, "-") == 0)
        cli_usage("--report is about a file, so the result needs -o FILE");
    if (job->refine != SIZE_MAX && !shapelets)
        cli_usage("--refine is for --students=shapelets");
    if (job->bytes && (shapelets || job->views != SIZE_MAX || job->per_class))
        cli_usage("--bytes chooses --spc and --views, for --students=any");
    if (job->views != SIZE_MAX && shapelets)
        cli_usage("--views is for --students=any");
    if (job->bits && job->bits != 4 && job->bits != 8 && job->bits != 32)
        cli_usage("--bits: 4, 8 or 32, not %zu", job->bits);
    if (job->bits && shapelets)
        cli_usage("--bits is for --students=any");
    if (job->sample && (shapelets || job->command))
        cli_usage("--sample is for series that are chosen by a network, for --students=any");
    if (job->sample && job->per_class && job->sample < job->per_class)
        cli_usage("--sample=%zu, but --spc=%zu are to be chosen", job->sample, job->per_class);
    check_teachers(job);
    job->refine = job->refine == SIZE_MAX ? DEFAULT_REFINE : job->refine;
    job->format = export_format_of(job->common.output);
}

/* The networks of the teachers, where the user brings and names none. */
static void plan_teachers(struct job *job)
{
    char *pooled;

    if (job->network || has_own_teacher(job))
        return;
    job->network = fitting_network(&job->facts);
    if (!(job->size > 0) && !has_views(job))
        return;
    if (asprintf(&pooled, "%s end=mean", job->network ? job->network : "cnn") < 0)
        cli_check(error_memory("a network"));
    job->pooled = command_keep(&job->run, pooled);
}

/* All stages: run, or only counted. */
static void run_stages(struct job *job)
{
    condense(job);
    write_result(job);
    if (job->test)
        score_test(job);
    if (job->val && !job->unscored)
        score_held_out(job);
    if (job->report)
        write_report(job);
}

/* How many stages there are and how long they will take. */
static void count_stages(struct job *job)
{
    struct command_runner *run = &job->run;
    char duration[32];

    run->counting = true;
    run_stages(job);
    run->counting = false;
    run->total += run->number; /* an import before */
    print_duration(run->expected_total, duration);
    cli_say("%zu stages, %s with %zu thread%s%s", run->total, duration, job_threads(job),
            job_threads(job) == 1 ? "" : "s",
            job->command ? ", and the time of the teacher command" : "");
    say_memory(job);
}

int main(int argc, char **argv)
{
    struct job job = {.views = SIZE_MAX, .steps = 1000, .refine = SIZE_MAX};

    cli_parse(argc, argv, &program, &job);
    check_usage(&job);
    check_places(&job);
    device_chosen(job.device, false); /* fails before the work if the device is missing */
    job.data = job.common.files[0];
    if (needs_import(&job)) {
        command_begin(&job.run, job.keep, &job.common);
        import_data(&job);
        look_at_data(&job);
    } else {
        look_at_data(&job);
        command_begin(&job.run, job.keep, &job.common);
    }
    plan_size(&job);
    if (job.views == SIZE_MAX)
        job.views = DEFAULT_VIEWS;
    job.run.outdated = job.report;
    plan_teachers(&job);
    if (!job.facts.held_out)
        cli_say("too few series to hold any out: the teacher is kept as it ends");
    if (job.size > 0)
        plan_bytes(&job);
    else
        plan_series(&job);
    check_smaller(&job);
    check_enough(&job);
    count_stages(&job);
    run_stages(&job);
    say_result(&job);
    command_end(&job.run);
    free(job.pool_path);
    return 0;
}
