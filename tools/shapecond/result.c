/* The result in the format of its name, how good it is, and what to do with it (job.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "eval/report.h"
#include "formats/scores.h"
#include "shapecond/job.h"

/* ---- The file ---- */

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

/* Copies up to two files into place, both or neither: a dataset beside the pool of another one
 * would look complete. */
static void copy_files(struct job *job, size_t count, const char *const *from,
                       const char *const *to)
{
    struct output outputs[2];

    if (job->run.counting)
        return;
    for (size_t i = 0; i < count; i++) {
        unsigned char *bytes;
        size_t size;

        command_say(&job->run, (const char *[]){"cp", from[i], to[i], NULL});
        cli_check(error_in(from[i], file_read(from[i], &bytes, &size)));
        cli_open_output(to[i], true, &outputs[i]);
        if (fwrite(bytes, 1, size, outputs[i].stream) < size)
            cli_check(error_system(to[i]));
        free(bytes);
    }
    command_remove_outdated(&job->run);
    cli_commit(outputs, count);
}

/* Other formats have no views: they are written out as series. */
static void write_other_format(struct job *job, const char *result)
{
    struct command_runner *run = &job->run;
    const char *expanded = command_file(run, "expanded.npy");

    if (has_views(job))
        COMMAND(run, "sc-expand", "-o", expanded, result);
    COMMAND(run, "sc-export", "-o", job->common.output, has_views(job) ? expanded : result);
    if (has_views(job) && !run->counting)
        cli_say("%s has the views written out as series (%.1f kB); a result named .npy keeps them "
                "as a recipe (%.1f kB)",
                job->common.output, 1e-3 * (double)file_size(job->common.output),
                1e-3 * (double)file_size(result));
}

void write_result(struct job *job)
{
    struct command_runner *run = &job->run;
    const char *output = job->common.output;
    const char *result = command_file(run, "condensed.npy");
    const char *pool = command_file(run, "pool.slp");
    bool direct = job->format == EXPORT_NONE && !job->pool_path;

    job->result = result;
    if (!has_own_teacher(job)) {
        const char *condensed = result;

        job->result = result = direct ? output : command_file(run, "unscaled.npy");
        COMMAND(run, "sc-scale", "--undo", "--with", command_file(run, "scale.npy"), "-o", result,
                condensed);
        if (direct)
            return;
    }
    if (job->format == EXPORT_NONE) {
        copy_files(job, job->pool_path ? 2 : 1, (const char *[]){result, pool},
                   (const char *[]){job->common.output, job->pool_path});
        return;
    }
    write_other_format(job, result);
    if (job->pool_path)
        copy_files(job, 1, &pool, (const char *[]){job->pool_path});
}

/* ---- How good it is ---- */

enum { STUDENTS = 2, STUDENT_STEPS = 2000, STUDENT_BATCH = 64, FEW_STEPS = 1000 };

/* Seconds for students of the result, or of as many series without views. */
static double student_seconds(const struct job *job, size_t students, bool views)
{
    size_t series = job->budget.step > 0
                        ? (size_t)(random_share(job, budget_bytes(job)) * (double)job->facts.count)
                        : job->budget.per_class * job->facts.classes;

    return (double)students * (views
                                   ? training_seconds(job, STUDENT_STEPS, STUDENT_BATCH)
                                   : training_seconds(job, FEW_STEPS, series < 256 ? series : 256));
}

void score_test(struct job *job)
{
    struct command_runner *run = &job->run;
    const char *test = command_name(run, job->test), *network = fitting_network(&job->facts);
    bool shapelets = job->students == STUDENTS_SHAPELETS;

    if (!has_own_teacher(job)) {
        const char *raw = test;

        test = command_file(run, "test.npy");
        COMMAND(run, "sc-scale", "--with", command_file(run, "scale.npy"), "-o", test, raw);
    }
    run->expected = student_seconds(job, 5, has_views(job));
    COMMAND(run, "sc-eval", command_file(run, "condensed.npy"), test,
            job->val ? "--validate" : command_none, job->val ? job->val : command_none,
            shapelets ? "--shapelets" : command_none,
            shapelets ? command_file(run, "pool.slp") : command_none,
            network ? "--network" : command_none, network ? network : command_none,
            device_word(job));
}

double read_accuracy(const struct job *job, const char *table)
{
    double accuracy = 0;

    if (!job->run.counting)
        cli_check(report_read_full(table, &accuracy));
    return 100 * accuracy;
}

/* Trains students on a file: their accuracy on the held-out series.  table: the file in the folder
 * that sc-eval writes. */
static double student_accuracy(struct job *job, const char *train, bool views, const char *table)
{
    struct command_runner *run = &job->run;
    const char *network = fitting_network(&job->facts), *result = command_file(run, table);
    bool shapelets = job->students == STUDENTS_SHAPELETS;

    run->expected = student_seconds(job, STUDENTS, views);
    COMMAND(run, "sc-eval", shapelets ? "--shapelets" : command_none,
            shapelets ? command_file(run, "pool.slp") : command_none, "--seeds=2", "--choose=last",
            "--confusion", network ? "--network" : command_none, network ? network : command_none,
            device_word(job), "-o", result, train, job->val);
    return read_accuracy(job, result);
}

static double teacher_accuracy(struct job *job, const char *table)
{
    struct command_runner *run = &job->run;
    const char *result = command_file(run, table);
    struct teacher_words teacher = first_teacher(job);
    bool shapelets = job->students == STUDENTS_SHAPELETS && !has_own_teacher(job);

    COMMAND(run, "sc-eval", shapelets ? "--shapelets" : command_none,
            shapelets ? command_file(run, "pool.slp") : command_none, teacher.option, teacher.value,
            job->command ? command_none : device_word(job), "-o", result, job->val);
    return read_accuracy(job, result);
}

/* How many series and views the result has. */
static void count_result(struct job *job, size_t *series, size_t *views)
{
    struct dataset dataset;

    cli_check(
        dataset_read(command_file(&job->run, "condensed.npy"), NULL, DATASET_VIEWS, &dataset));
    *series = dataset.count;
    *views = dataset.views.count;
    dataset_free(&dataset);
}

static void say_size(struct job *job, const char *condensed)
{
    double bytes = 1e-3 * (double)file_size(condensed), all = 1e-3 * (double)file_size(job->train);
    char views[64] = "", less[64] = "", each[64];
    size_t series_count, view_count;

    count_result(job, &series_count, &view_count);
    if (has_views(job))
        snprintf(views, sizeof views, " and %zu labelled views", view_count);
    if (bytes > 0 && all > bytes)
        snprintf(less, sizeof less, "%.*f times less than ", all < 10 * bytes, all / bytes);
    if (job->budget.step > 0)
        snprintf(each, sizeof each, "compressed");
    else
        snprintf(each, sizeof each, "%zu per class", job->budget.per_class);
    cli_say("%zu series (%s)%s in %.1f kB, %sthe training data (%.1f kB)", series_count, each,
            views, bytes, *less ? less : "no less than ", all);
}

static const double MOST_RATIO = 0.999999; /* that sc-prune takes */

/* Random series of the training data: as many as the result has, or in as many bytes. */
static const char *choose_random(struct job *job)
{
    struct command_runner *run = &job->run;
    const char *random = command_file(run, "random.npy"),
               *stored = command_file(run, "condensed.npy");
    char per_class[32], ratio[32];

    snprintf(per_class, sizeof per_class, "%zu", job->budget.per_class);
    if (job->budget.step > 0) {
        double bytes = run->counting ? budget_bytes(job) : (double)file_size(stored);

        snprintf(ratio, sizeof ratio, "%.6f", fmin(1 - random_share(job, bytes), MOST_RATIO));
        COMMAND(run, "sc-prune", "--ratio", ratio, "-o", random, job->train);
    } else {
        COMMAND(run, "sc-select", "--spc", per_class, "-o", random, job->train);
    }
    return random;
}

void score_held_out(struct job *job)
{
    const char *random = choose_random(job);
    double condensed, chance, teacher;

    condensed = student_accuracy(job, command_file(&job->run, "condensed.npy"), has_views(job),
                                 "condensed.tsv");
    chance = student_accuracy(job, random, false, "random.tsv");
    teacher = teacher_accuracy(job, "teacher.tsv");
    job->scores = (struct scores_held_out){condensed, chance, teacher};
}

/* What the result is compared with, as messages and the report call it. */
static const char *random_words(const struct job *job)
{
    return job->budget.step > 0 ? "random series in as many bytes" : "as many random series";
}

static void say_accuracy(const struct job *job)
{
    const struct scores_held_out *scores = &job->scores;

    cli_say("accuracy on held-out series: %s %.1f %%, students of %s %.1f %%, "
            "%s %.1f %%",
            job->students == STUDENTS_ANY ? "plain students of the result"
                                          : "students of the result that see the shapelets",
            scores->condensed, random_words(job), scores->random,
            has_own_teacher(job) ? "your teacher" : "teacher of all data", scores->teacher);
}

/* The class that students of the result recognise least: a high accuracy can hide that one is
 * lost. */
static void say_least(struct job *job)
{
    const char *path = command_file(&job->run, "condensed.tsv");
    double least = INFINITY, all = 0, of_least = 0;
    size_t size, worst = 0;
    struct scores scores;
    unsigned char *bytes;

    cli_check(error_in(path, file_read(path, &bytes, &size)));
    cli_check(error_in(path, scores_parse((const char *)bytes, size, path, &scores)));
    free(bytes);
    for (size_t v = 0; v < scores.classes; v++) {
        const double *row = scores.confusion + v * scores.classes;
        double count = 0;

        for (size_t i = 0; i < scores.classes; i++)
            count += row[i];
        all += count;
        if (count > 0 && row[v] / count < least) {
            least = row[v] / count;
            of_least = count;
            worst = v;
        }
    }
    if (all > 0)
        cli_say("the least recognised class: %s, %.1f %% (%.0f held-out series of it, %.0f in all)",
                file_shown(scores.class_names[worst]), 100 * least,
                of_least / (double)scores.students, all / (double)scores.students);
    scores_free(&scores);
}

/* "NAME=FILE" for a table of the folder. */
static const char *named(struct job *job, const char *name, const char *table)
{
    char *text;
    const char *kept;

    if (asprintf(&text, "%s=%s", name, command_file(&job->run, table)) < 0)
        cli_check(error_memory("a file name"));
    kept = command_keep(&job->run, text);
    return kept;
}

/* Says what else the held-out series were used for. */
static const char *optimism(const struct job *job)
{
    if (!has_views(job))
        return "These held-out series also chose the epoch of the teacher, so the figures are "
               "slightly optimistic.";
    if (has_own_teacher(job))
        return "These held-out series also chose how series are stored and labelled, so the "
               "figures are slightly optimistic.";
    return "These held-out series also chose the epochs of the teachers, and how series are stored "
           "and labelled, so the figures are slightly optimistic.";
}

void write_report(struct job *job)
{
    struct command_runner *run = &job->run;
    bool scored = job->val && !job->unscored, trained = !has_own_teacher(job);
    bool pool = job->students == STUDENTS_SHAPELETS;
    const char *slash = strrchr(job->common.output, '/');
    const char *times = command_file(run, "stages.tsv"), *words[40];
    size_t n = 0;

    words[n++] = "--real";
    words[n++] = command_name(run, job->data);
    words[n++] = "--name";
    words[n++] = slash ? slash + 1 : job->common.output;
    if (pool) {
        words[n++] = "--shapelets";
        words[n++] = command_file(run, "pool.slp");
        words[n++] = "--searched";
        words[n++] = command_file(run, "pruned.npy");
    }
    if (scored) {
        words[n++] = "--eval";
        words[n++] = named(job, "the condensed dataset", "condensed.tsv");
        words[n++] = "--eval";
        words[n++] = named(job, random_words(job), "random.tsv");
        words[n++] = "--eval";
        words[n++] = named(job, has_own_teacher(job) ? "your teacher" : "the teacher, on all data",
                           "teacher.tsv");
        if (trained || has_views(job)) {
            words[n++] = "--note";
            words[n++] = optimism(job);
        }
    }
    if (trained) {
        words[n++] = "--curve";
        words[n++] = named(job, "teacher", "teacher-epochs.tsv");
        if (job->pooled) {
            words[n++] = "--curve";
            words[n++] = named(job, "teacher that pools over time", "pooled-epochs.tsv");
        }
    }
    if (!run->counting)
        command_write_stages(run, times);
    if (job->keep) {
        words[n++] = "--times";
        words[n++] = times;
    } else if (!run->counting) {
        run->times = times; /* a temporary file: left out of the command that is printed */
    }
    words[n++] = "-o";
    words[n++] = job->report;
    words[n++] = command_name(run, job->result);
    words[n] = NULL;
    command_run(run, "sc-report", words);
}

/* Suggests the next command, in a form that can be pasted into a shell. */
static void say_what_next(const struct job *job)
{
    const char *output = job->common.output;
    size_t stem = strlen(output);

    if (!is_file(output) ||
        strspn(output, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-") !=
            stem ||
        *output == '-')
        return;
    if (job->format == EXPORT_NPZ)
        cli_say("in Python: d = np.load(\"%s\"); X, logits = d[\"X\"], d[\"soft\"]", output);
    if (!has_views(job) || job->format != EXPORT_NONE)
        return;
    if (stem > 4 && strcmp(output + stem - 4, ".npy") == 0)
        stem -= 4;
    cli_say("for any program: sc-expand %s | sc-export -o %.*s-expanded.npz", output, (int)stem,
            output);
}

void say_result(struct job *job)
{
    const char *file = job->common.output;

    if (!is_file(file) || job->format != EXPORT_NONE)
        file = command_file(&job->run, "condensed.npy");
    say_size(job, file);
    if (job->val && !job->unscored) {
        say_accuracy(job);
        say_least(job);
    }
    say_what_next(job);
}
