/* The stages up to the condensed dataset, in their order: `condense` at the end is the story. */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "shapecond/job.h"

/* ---- Data ---- */

/* Training and held-out series as the stages see them: standardised, except for a teacher of the
 * user's own, which gets them as they are in the file. */
static void prepare(struct job *job)
{
    struct command_runner *run = &job->run;
    const char *scale = command_file(run, "scale.npy");

    job->train = command_name(run, job->data);
    job->val = job->validate ? command_name(run, job->validate) : NULL;
    if (job->facts.held_out && !job->val) {
        COMMAND(run, "sc-split", "--train", "0.85", "--val", "rest",
                job->facts.by_group ? "--by=group" : command_none, "-o", command_file(run, "raw"),
                job->train);
        job->train = command_file(run, "raw-train.npy");
        job->val = command_file(run, "raw-val.npy");
    }
    if (has_own_teacher(job))
        return;
    COMMAND(run, "sc-scale", "--save", scale, "-o", command_file(run, "train.npy"), job->train);
    job->train = command_file(run, "train.npy");
    if (!job->val)
        return;
    COMMAND(run, "sc-scale", "--with", scale, "-o", command_file(run, "val.npy"), job->val);
    job->val = command_file(run, "val.npy");
}

const char *device_word(const struct job *job)
{
    static const char *const words[] = {command_none, "--device=auto", "--device=cuda"};

    return words[job->device];
}

/* ---- Shapelets and teachers ---- */

static void find_shapelets(struct job *job)
{
    struct command_runner *run = &job->run;
    const char *pruned = command_file(run, "pruned.npy");
    char per_class[32];

    snprintf(per_class, sizeof per_class, "%zu", search_per_class(&job->facts));
    COMMAND(run, "sc-prune", "--per-class", per_class, "-o", pruned, job->train);
    run->expected = search_seconds(job);
    COMMAND(run, "sc-shapelets", "-k", job->facts.channels == 1 ? "120" : "20", "--gain", "one",
            "--select", "diverse", device_word(job), "-o", command_file(run, "pool.slp"), pruned);
}

/* Classes of very unequal size are balanced for the teachers. */
static const char *balance(struct job *job)
{
    const char *balanced;

    if (2 * job->facts.smallest >= job->facts.largest)
        return job->train;
    balanced = command_file(&job->run, "balanced.npy");
    COMMAND(&job->run, "sc-balance", "-o", balanced, job->train);
    return balanced;
}

/* Whether labels are tried with students. */
static bool tries_labels(const struct job *job)
{
    return job->val && has_views(job) && !job->facts.soft;
}

/* A file of the run that is named after a teacher. */
static const char *name_file(struct job *job, const char *name, const char *ending)
{
    char file[64];

    snprintf(file, sizeof file, "%s%s", name, ending);
    return command_file(&job->run, file);
}

static const char *teacher_file(struct job *job, const char *name, bool last)
{
    return name_file(job, name, last ? "-last.tch" : ".tch");
}

enum { TEACHER_BATCH = 256 };

/* Students that see no shapelets learn more from a teacher that does not, either
 * (pipelines/DECISIONS.md).  network NULL: that of sc-teacher. */
static void train_teacher(struct job *job, const char *train, const char *network, const char *rate,
                          const char *name)
{
    struct command_runner *run = &job->run;
    bool shapelets = job->students == STUDENTS_SHAPELETS;
    bool last = tries_labels(job);
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", job->steps);
    run->expected = training_seconds(
        job, job->steps, job->facts.count < TEACHER_BATCH ? job->facts.count : TEACHER_BATCH);
    COMMAND(run, "sc-teacher", "--steps", steps, network ? "--network" : command_none,
            network ? network : command_none, rate, shapelets ? "--shapelets" : command_none,
            shapelets ? command_file(run, "pool.slp") : command_none,
            job->val ? "--validate" : command_none, job->val ? job->val : command_none,
            device_word(job), last ? "--last" : command_none,
            last ? teacher_file(job, name, true) : command_none, "--log",
            name_file(job, name, "-epochs.tsv"), "-o", teacher_file(job, name, false), train);
}

/* Views are labelled by two teachers, one that knows where in a series something happens and one
 * that pools over time: students in general learn more from the mean of their logits than from the
 * first alone (pipelines/DECISIONS.md). */
static void train_teachers(struct job *job)
{
    const char *train = balance(job);

    train_teacher(job, train, job->network, command_none, "teacher");
    if (job->pooled)
        train_teacher(job, train, job->pooled, "--rate=0.003", "pooled");
}

struct teacher_words first_teacher(struct job *job)
{
    if (job->command)
        return (struct teacher_words){"--teacher-command", job->command};
    if (job->teacher)
        return (struct teacher_words){"--teacher", command_name(&job->run, job->teacher)};
    return (struct teacher_words){"--teacher", teacher_file(job, "teacher", false)};
}

/* The teachers that label: one or two of ours, or that of the user. */
static void labelling_teachers(struct job *job, const struct labelling *labels,
                               struct teacher_words words[2])
{
    size_t n = 0;

    words[0] = words[1] = (struct teacher_words){command_none, command_none};
    if (has_own_teacher(job)) {
        words[0] = first_teacher(job);
        return;
    }
    if (labels->teacher != TEACHER_POOLED)
        words[n++] =
            (struct teacher_words){"--teacher", teacher_file(job, "teacher", labels->last)};
    if (job->pooled && labels->teacher != TEACHER_FIRST)
        words[n] = (struct teacher_words){"--teacher", teacher_file(job, "pooled", labels->last)};
}

/* ---- The condensed dataset ---- */

/* N series per class with the teacher's logits.  They start as real series, chosen by ridge
 * regression on the features of a teacher that sees shapelets, or at random for another teacher.
 * `kept`: they stay as they are; otherwise the teacher is inverted from there. */
static void synthesise(struct job *job, bool kept, const char *chosen)
{
    struct command_runner *run = &job->run;
    bool shapelets = !has_own_teacher(job);
    struct teacher_words teacher = first_teacher(job);
    char per_class[32];

    snprintf(per_class, sizeof per_class, "%zu", job->budget.per_class);
    COMMAND(run, "sc-synth", teacher.option, teacher.value,
            shapelets ? "--shapelets" : command_none,
            shapelets ? command_file(run, "pool.slp") : command_none, "--spc", per_class,
            kept && !shapelets ? "--init=real" : command_none, kept ? "--steps" : command_none,
            kept ? "0" : command_none, job->command ? command_none : device_word(job), "-o", chosen,
            job->train);
}

/* For any model: real series as the budget says.
 *
 * Compressed: as many random ones as fit (sc-quantise --step).  In few bits: those whose mean
 * embedding is closest to that of their class (herding), or random ones if the teacher is a
 * program, which has no embeddings.  They get soft labels here if there are no views, else from
 * sc-views. tag: part of the names of the files, to distinguish those of several budgets. */
static void choose_series(struct job *job, const struct budget *budget, const char *tag,
                          const char *result)
{
    struct command_runner *run = &job->run;
    struct teacher_words teacher = first_teacher(job);
    bool rounded = budget->bits < 32;
    const char *chosen = result;
    char per_class[32], bits[32], sample[32], name[64], step[32], bytes[32];

    snprintf(step, sizeof step, "%g", budget->step);
    snprintf(bytes, sizeof bytes, "%.0f", budget->bytes);
    if (budget->step > 0) {
        COMMAND(run, "sc-quantise", "--step", step, "--bytes", bytes, "-o", result, job->train);
        return;
    }
    snprintf(name, sizeof name, "chosen%s.npy", tag);
    if (rounded)
        chosen = command_file(run, name);
    snprintf(per_class, sizeof per_class, "%zu", budget->per_class);
    snprintf(bits, sizeof bits, "%zu", budget->bits);
    snprintf(sample, sizeof sample, "%zu",
             job->sample < budget->per_class ? budget->per_class : job->sample);
    if (job->command && budget->views == 0)
        synthesise(job, true, chosen); /* sc-views asks the program for logits otherwise */
    else if (job->command)
        COMMAND(run, "sc-select", "--spc", per_class, "-o", chosen, job->train);
    else
        COMMAND(run, "sc-select", "--method", "herding", teacher.option, teacher.value,
                budget->views ? command_none : "--soft", "--spc", per_class,
                job->sample ? "--sample" : command_none, job->sample ? sample : command_none,
                device_word(job), "-o", chosen, job->train);
    if (rounded)
        COMMAND(run, "sc-quantise", "--bits", bits, "-o", result, chosen);
}

enum {
    STUDENTS_OF_RECIPES = 6, /* of sc-views --validate */
    TRIAL_STEPS = 500,
    TRIAL_BATCH = 64,
    TRIAL_VIEWS = 4000,
};

/* Of the students that choices are tried with: no more than of the teachers, so that a quick run is
 * quick. */
static size_t trial_steps(const struct job *job)
{
    return size_min(job->steps, TRIAL_STEPS);
}

/* The option of sc-views that says how many views: as many as fit into the result, or a number. */
static const char *views_option(struct job *job, bool fitting, size_t number, char text[64])
{
    if (fitting)
        snprintf(text, 64, "--bytes=%.0f", content_bytes(job));
    else
        snprintf(text, 64, "--views=%zu", number);
    return text;
}

/* sc-views with the options that all calls share. */
static void add_views(struct job *job, const char *series, const struct labelling *labels,
                      const char *views, const char *recipes[3], const char *result)
{
    struct teacher_words teachers[2];
    char margin[32];

    labelling_teachers(job, labels, teachers);
    snprintf(margin, sizeof margin, "--margin=%g", labels->margin);
    COMMAND(&job->run, "sc-views", teachers[0].option, teachers[0].value, teachers[1].option,
            teachers[1].value, views, labels->margin > 0 ? margin : command_none, recipes[0],
            recipes[1], recipes[2], device_word(job), "-o", result, series);
}

/* The views of the result.  Of series in few bits most of the bytes are views, and sc-views takes
 * the recipe whose students are best on the held-out series; beside compressed series no recipe is
 * better than the gentle one (pipelines/DECISIONS.md). */
static void add_final_views(struct job *job, const char *series, const char *result)
{
    bool tried = job->val && !(job->budget.step > 0);
    const char *recipes[3] = {command_none, command_none, command_none};
    char views[64], steps[32];

    snprintf(steps, sizeof steps, "--steps=%zu", trial_steps(job));
    if (tried) {
        recipes[0] = "--validate";
        recipes[1] = job->val;
        recipes[2] = steps;
        job->run.expected =
            STUDENTS_OF_RECIPES * training_seconds(job, trial_steps(job), TRIAL_BATCH);
    }
    add_views(job, series, &job->labelling,
              views_option(job, job->size > 0, job->budget.views, views), recipes, result);
}

/* The accuracy of a student on the held-out series. */
static double try_student(struct job *job, const char *train, const char *network,
                          const char *table)
{
    struct command_runner *run = &job->run;
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", trial_steps(job));
    run->expected = training_seconds(job, trial_steps(job), TRIAL_BATCH);
    COMMAND(run, "sc-eval", "--seeds=1", "--choose=last", "--steps", steps,
            network ? "--network" : command_none, network ? network : command_none,
            device_word(job), "-o", table, train, job->val);
    return read_accuracy(job, table);
}

/* "stored-2.npy": a file of a trial. */
static const char *trial_file(struct job *job, const char *name, size_t number, const char *ending)
{
    char file[64];

    snprintf(file, sizeof file, "%s-%zu%s", name, number, ending);
    return command_file(&job->run, file);
}

/* The accuracy that students reach with the stored series of a trial, some views of them and these
 * labels: the mean of a cnn and, with two teachers, of one that pools over time. */
static double try_views(struct job *job, const struct budget *budget,
                        const struct labelling *labels, const char *series, size_t number)
{
    static const char *no_recipes[3] = {command_none, command_none, command_none};
    const char *trial = trial_file(job, "budget", number, ".npy");
    double accuracy;
    char views[64];

    views_option(job, false, size_max(size_min(budget->views, TRIAL_VIEWS), 1), views);
    add_views(job, series, labels, views, no_recipes, trial);
    accuracy = try_student(job, trial, fitting_network(&job->facts),
                           trial_file(job, "budget", number, ".tsv"));
    if (!job->pooled)
        return accuracy;
    return 0.5 * (accuracy + try_student(job, trial, job->pooled,
                                         trial_file(job, "budget", number, "-pooled.tsv")));
}

static bool same_budget(const struct budget *a, const struct budget *b)
{
    return a->per_class == b->per_class && a->views == b->views && a->bits == b->bits &&
           a->step == b->step && a->bytes == b->bytes;
}

static void say_budget(const struct budget *budget, double accuracy)
{
    if (budget->step > 0)
        cli_say("compressed series in steps of %g in %.0f bytes, views in the others: students "
                "reach %.1f %%",
                budget->step, budget->bytes, accuracy);
    else
        cli_say("%zu series per class in %zu bits, views in the other bytes: students reach "
                "%.1f %%",
                budget->per_class, budget->bits, accuracy);
}

/* The best trial so far. */
struct best {
    double accuracy;
    const char *series;
};

/* Tries a budget, unless an earlier one is the same, and takes it if it is better than the best. */
static bool improve(struct job *job, size_t index, struct best *best)
{
    const struct budget *budget = &job->budgets[index];
    const char *series = trial_file(job, "stored", index + 1, ".npy");
    double accuracy;
    char tag[32];

    for (size_t i = 0; i < index; i++)
        if (same_budget(budget, &job->budgets[i]))
            return false;
    snprintf(tag, sizeof tag, "-%zu", index + 1);
    choose_series(job, budget, tag, series);
    accuracy = try_views(job, budget, &job->labelling, series, index + 1);
    if (!job->run.counting)
        say_budget(budget, accuracy);
    if (accuracy <= best->accuracy)
        return false;
    *best = (struct best){accuracy, series};
    job->budget = *budget;
    return true;
}

static const double MARGIN = 8;  /* of logits */
static const double CLEARLY = 2; /* per cent: better by more than chance, about */

/* Tries labels with the stored series, and takes them if they are better by more than `least`. */
static void improve_labels(struct job *job, const struct labelling *labels, double least,
                           const char *what, size_t number, struct best *best)
{
    double accuracy = try_views(job, &job->budget, labels, best->series, number);

    if (job->run.counting)
        return;
    cli_say("%s: students reach %.1f %%", what, accuracy);
    if (accuracy <= best->accuracy + least)
        return;
    best->accuracy = accuracy;
    job->labelling = *labels;
}

/* How labels should be made differs from dataset to dataset (pipelines/DECISIONS.md).
 *
 * The epoch of a teacher is the one with the lowest loss on the held-out series.  Where classes are
 * many and small, or few series are held out, that is too early, and the last one knows more; where
 * labels are doubtful it is too sure.  The same goes for a margin, by which the labels of the data
 * tell more.  And one of the two teachers may have learned little. */
static void choose_labels(struct job *job, struct best *best)
{
    size_t number = BUDGETS + 1;
    struct labelling labels;

    if (!has_own_teacher(job)) {
        labels = job->labelling;
        labels.last = true;
        improve_labels(job, &labels, 0, "labels of the teachers' last epochs", number++, best);
    }
    labels = job->labelling;
    labels.margin = MARGIN;
    improve_labels(job, &labels, 0, "the class of each series at least 8 above all others",
                   number++, best);
    if (job->pooled) {
        labels = job->labelling;
        labels.teacher = TEACHER_FIRST;
        improve_labels(job, &labels, CLEARLY, "labels of the first teacher alone", number++, best);
        labels = job->labelling;
        labels.teacher = TEACHER_POOLED;
        improve_labels(job, &labels, CLEARLY, "labels of the second teacher alone", number, best);
    }
}

/* Few bits first, then compressed series in the usual step, in larger ones as long as that is
 * better, or else in the smaller one.  Without compressed series all budgets are tried. */
static void choose_budget(struct job *job)
{
    const struct budget *usual = &job->budgets[USUAL_BUDGET];
    struct best best = {.accuracy = -1};
    bool larger = false;

    improve(job, 0, &best);
    if (usual->step > 0) {
        improve(job, USUAL_BUDGET, &best);
        for (size_t i = USUAL_BUDGET + 1; i < BUDGETS && improve(job, i, &best); i++)
            larger = true;
        if (!larger)
            improve(job, USUAL_BUDGET - 1, &best);
    }
    for (size_t i = 1; !(usual->step > 0) && i < BUDGETS; i++)
        improve(job, i, &best);
    if (tries_labels(job))
        choose_labels(job, &best);
    if (job->run.counting)
        job->budget = *usual;
    else if (usual->step > 0 && !(job->budget.step > 0))
        job->run.total++; /* choosing and rounding: two stages instead of one */
    job->views = job->budget.views;
}

static void make_for_any_model(struct job *job)
{
    const char *condensed = command_file(&job->run, "condensed.npy");
    const char *stored = job->views ? command_file(&job->run, "stored.npy") : condensed;

    if (job->size > 0 && job->val)
        choose_budget(job);
    choose_series(job, &job->budget, "", stored);
    if (job->views && !(job->size > 0) && tries_labels(job)) {
        struct best best = {.series = stored};

        best.accuracy = try_views(job, &job->budget, &job->labelling, stored, BUDGETS);
        if (!job->run.counting)
            cli_say("labels of the teachers: students reach %.1f %%", best.accuracy);
        choose_labels(job, &best);
    }
    if (job->views)
        add_final_views(job, stored, condensed);
}

enum { UNROLLED_STEPS = 100 }; /* steps of training that one step of sc-match costs, about */

/* For students that see the shapelets.  Series that are to be refined stay as they were chosen:
 * inverting them first does not help, and hurts where classes overlap (pipelines/DECISIONS.md). */
static void refine(struct job *job)
{
    struct command_runner *run = &job->run;
    const char *chosen = command_file(run, "chosen.npy");
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", job->refine);
    synthesise(job, true, chosen);
    run->expected =
        training_seconds(job, job->refine * UNROLLED_STEPS, job->per_class * job->facts.classes);
    COMMAND(run, "sc-match", "--method", "unroll", "--from", chosen, "--shapelets",
            command_file(run, "pool.slp"), "--steps", steps,
            job->network ? "--network" : command_none, job->network ? job->network : command_none,
            device_word(job), "-o", command_file(run, "condensed.npy"), job->train);
}

void condense(struct job *job)
{
    const char *condensed = command_file(&job->run, "condensed.npy");

    prepare(job);
    if (job->students == STUDENTS_SHAPELETS)
        find_shapelets(job);
    if (!has_own_teacher(job))
        train_teachers(job);
    if (job->students == STUDENTS_ANY)
        make_for_any_model(job);
    else if (job->refine > 0)
        refine(job);
    else
        synthesise(job, false, condensed);
}
