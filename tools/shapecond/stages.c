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

enum { TEACHER_BATCH = 256 };

/* Students that see no shapelets learn more from a teacher that does not, either
 * (pipelines/DECISIONS.md).  network NULL: that of sc-teacher. */
static void train_teacher(struct job *job, const char *train, const char *network, const char *rate,
                          const char *log, const char *result)
{
    struct command_runner *run = &job->run;
    bool shapelets = job->students == STUDENTS_SHAPELETS;
    char steps[32];

    snprintf(steps, sizeof steps, "%zu", job->steps);
    run->expected = training_seconds(
        job, job->steps, job->facts.count < TEACHER_BATCH ? job->facts.count : TEACHER_BATCH);
    COMMAND(run, "sc-teacher", "--steps", steps, network ? "--network" : command_none,
            network ? network : command_none, rate, shapelets ? "--shapelets" : command_none,
            shapelets ? command_file(run, "pool.slp") : command_none,
            job->val ? "--validate" : command_none, job->val ? job->val : command_none,
            device_word(job), "--log", command_file(run, log), "-o", command_file(run, result),
            train);
}

/* Views are labelled by two teachers, one that knows where in a series something happens and one
 * that pools over time: students in general learn more from the mean of their logits than from the
 * first alone (pipelines/DECISIONS.md). */
static void train_teachers(struct job *job)
{
    const char *train = balance(job);

    train_teacher(job, train, job->network, command_none, "teacher-epochs.tsv", "teacher.tch");
    if (job->pooled)
        train_teacher(job, train, job->pooled, "--rate=0.003", "pooled-epochs.tsv", "pooled.tch");
}

/* Nothing if there is only one. */
static struct teacher_words second_teacher(struct job *job)
{
    if (!job->pooled)
        return (struct teacher_words){command_none, command_none};
    return (struct teacher_words){"--teacher", command_file(&job->run, "pooled.tch")};
}

struct teacher_words first_teacher(struct job *job)
{
    if (job->command)
        return (struct teacher_words){"--teacher-command", job->command};
    if (job->teacher)
        return (struct teacher_words){"--teacher", command_name(&job->run, job->teacher)};
    return (struct teacher_words){"--teacher", command_file(&job->run, "teacher.tch")};
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

enum { STUDENTS_OF_RECIPES = 6, TRIAL_STEPS = 1000, TRIAL_BATCH = 64 }; /* of sc-views --validate */

/* Of the students that choices are tried with: no more than of the teachers, so that a quick run is quick. */
static size_t trial_steps(const struct job *job)
{
    return size_min(job->steps, TRIAL_STEPS);
}

/* Adds the views of a budget; of a result of a given size, as many as fit.  `tried`: sc-views tries recipes with students and takes the one that
 * is best for the held-out series (pipelines/DECISIONS.md). */
static void add_views(struct job *job, const char *series, const struct budget *budget, bool tried,
                      const char *result)
{
    struct command_runner *run = &job->run;
    struct teacher_words teacher = first_teacher(job), second = second_teacher(job);
    const char *option = job->size > 0 ? "--bytes" : "--views";
    bool fewer = tried && trial_steps(job) < TRIAL_STEPS;
    char views[32], margin[32], steps[32];

    if (job->size > 0)
        snprintf(views, sizeof views, "%.0f", content_bytes(job));
    else
        snprintf(views, sizeof views, "%zu", budget->views);
    snprintf(margin, sizeof margin, "--margin=%g", budget->margin);
    snprintf(steps, sizeof steps, "--steps=%zu", trial_steps(job));
    run->expected =
        tried ? STUDENTS_OF_RECIPES * training_seconds(job, trial_steps(job), TRIAL_BATCH) : 0;
    COMMAND(run, "sc-views", teacher.option, teacher.value, second.option, second.value, option,
            views, budget->margin > 0 ? margin : command_none, tried ? "--validate" : command_none,
            tried ? job->val : command_none, fewer ? steps : command_none, device_word(job), "-o",
            result, series);
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

/* The accuracy that students reach with the stored series of a trial and the views of its budget:
 * the mean of a cnn and, with two teachers, of one that pools over time. */
static double try_views(struct job *job, const struct budget *budget, const char *series,
                        size_t number)
{
    const char *views = trial_file(job, "budget", number, ".npy");
    double accuracy;

    add_views(job, series, budget, false, views);
    accuracy = try_student(job, views, fitting_network(&job->facts),
                           trial_file(job, "budget", number, ".tsv"));
    if (!job->pooled)
        return accuracy;
    return 0.5 * (accuracy + try_student(job, views, job->pooled,
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
    accuracy = try_views(job, budget, series, index + 1);
    if (!job->run.counting)
        say_budget(budget, accuracy);
    if (accuracy <= best->accuracy)
        return false;
    *best = (struct best){accuracy, series};
    job->budget = *budget;
    return true;
}

static const double MARGIN = 8; /* of logits */

/* Where classes are many and small, teachers whose epoch was chosen by held-out series do not know
 * all of the series that they were trained on, and the labels of the data tell students more; where
 * labels are doubtful they tell less (pipelines/DECISIONS.md). */
static void choose_margin(struct job *job, const struct best *best)
{
    struct budget raised = job->budget;
    double accuracy;

    if (job->facts.soft)
        return;
    raised.margin = MARGIN;
    accuracy = try_views(job, &raised, best->series, TRIALS);
    if (job->run.counting)
        return;
    cli_say("the same with the class of each series %g above all others: students reach %.1f %%",
            MARGIN, accuracy);
    if (accuracy > best->accuracy)
        job->budget = raised;
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
    choose_margin(job, &best);
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
    if (job->views)
        add_views(job, stored, &job->budget, job->val != NULL, condensed);
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
