/* Sizes and times: how --bytes is divided, results that are too large, estimates (job.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/scratch.h"
#include "base/text.h"
#include "common/bytes.h"
#include "shapecond/job.h"

/* ---- Bytes of the result ---- */

/* The logits of one view, in 4 bits. */
static double view_bytes(const struct facts *facts)
{
    return (double)(facts->classes / 2 + facts->classes % 2);
}

/* One series with its label, group and logits; with few bits, each channel has two floats as
 * well. */
static double series_bytes(const struct job *job, size_t bits)
{
    const struct facts *facts = &job->facts;
    double length = (double)facts->length, label = facts->groups ? 8 : 4;
    double channel = bits == 32 ? 4 * length : ceil(length * (double)bits / 8) + 8;
    double logits = has_views(job) ? view_bytes(facts) : 4 * (double)facts->classes;

    return (double)facts->channels * channel + label + logits;
}

static double result_bytes(const struct job *job, const struct budget *budget)
{
    double series = budget->step > 0 ? budget->bytes
                                     : (double)(job->facts.classes * budget->per_class) *
                                           series_bytes(job, budget->bits);

    return series + (double)budget->views * view_bytes(&job->facts);
}

enum {
    HEADERS = 1600,     /* of the arrays */
    STAGES_NOTES = 850, /* characters that the stages add to the provenance */
    FEWEST_VIEWS = 300, /* fewer are worth little */
    MOST_VIEWS = 20000, /* more are not worth their time */
};

/* Bytes for everything but series and views.  A character takes 4; one of the provenance 1, if the
 * series are rounded and all of it is ASCII. */
static double other_bytes(const struct job *job)
{
    const struct facts *facts = &job->facts;
    size_t command = job->command ? strlen(job->command) : 0;
    bool ascii = facts->ascii_notes && (!job->command || text_is_ascii(job->command));
    double notes = (double)(STAGES_NOTES + facts->notes + command);

    return HEADERS + 4 * (double)(facts->classes * facts->longest_name) +
           (ascii && job->bits != 32 ? 1 : 4) * notes;
}

/* A share of the bytes for series in few bits, the rest for views.  At least one series per class,
 * at most as many as there are. */
static struct budget budget_of(const struct job *job, double bytes, double share, size_t bits)
{
    const struct facts *facts = &job->facts;
    double each = (double)facts->classes * series_bytes(job, bits); /* one series of each class */
    double per_class = fmax(fmin(floor(share * bytes / each), (double)facts->fewest), 1);
    double views = floor((bytes - per_class * each) / view_bytes(facts));

    return (struct budget){(size_t)per_class, (size_t)fmax(fmin(views, MOST_VIEWS), 0), bits};
}

static const double VIEWS_SHARE = 0.2; /* of the bytes, with compressed series */
enum {
    FEWEST_PACKED = 3, /* series of each class, about */
    CONTAINER = 80,    /* bytes of compressed series apart from the series, about */
};

/* Compressed series and some views; false if a few series of each class do not fit. */
static bool packed_budget(const struct job *job, double bytes, double step, struct budget *budget)
{
    const struct facts *facts = &job->facts;
    double views =
        fmin(fmax(floor(VIEWS_SHARE * bytes / view_bytes(facts)), FEWEST_VIEWS), MOST_VIEWS);
    double label = (facts->classes <= 256 ? 1 : 4) + (facts->groups ? 4 : 0) + view_bytes(facts);
    double series =
        0.75 * (double)(facts->channels * facts->length) + label; /* with 6 bits a value */

    *budget = (struct budget){.views = (size_t)views, .bits = 8, .step = step};
    budget->bytes = floor(bytes - views * view_bytes(facts));
    return budget->bytes >= CONTAINER + FEWEST_PACKED * (double)facts->classes * series;
}

/* Whether more series or more views help, and how finely series must be rounded, differs from
 * dataset to dataset (pipelines/DECISIONS.md), so stages.c tries several budgets.  The first has
 * series in few bits; the others have compressed series in ever larger steps or, where these do not
 * fit, other shares of few bits. */
void plan_bytes(struct job *job)
{
    static const struct {
        double share, step;
        size_t bits;
    } ways[BUDGETS] = {{0.45, 0, 4}, {0.2, 0.1, 4}, {0.45, 0.25, 8}, {0.7, 0.5, 4}, {0.7, 1, 4}};
    double other = other_bytes(job), bytes = job->size - other;
    struct budget least = {1, FEWEST_VIEWS, job->bits ? job->bits : 4}, packed;
    bool room = !job->bits && packed_budget(job, bytes, 1, &packed);

    if (result_bytes(job, &least) > bytes)
        cli_check(error_make("--bytes: one series per class and %d views take %.0f bytes",
                             FEWEST_VIEWS, result_bytes(job, &least) + other));
    for (size_t i = 0; i < BUDGETS; i++) {
        struct budget *budget = &job->budgets[i];

        if (room && ways[i].step > 0) {
            packed_budget(job, bytes, ways[i].step, budget);
            continue;
        }
        *budget = budget_of(job, bytes, ways[i].share, job->bits ? job->bits : ways[i].bits);
        if (budget->views < FEWEST_VIEWS)
            *budget = budget_of(job, bytes, 0, least.bits);
    }
    job->budget = job->budgets[USUAL_BUDGET];
    job->views = job->budget.views;
}

double random_share(const struct job *job, double bytes)
{
    const struct facts *facts = &job->facts;
    double held_out = facts->held_out && !job->validate ? 0.15 : 0;
    double all =
        (1 - held_out) * (double)facts->count * 4 * (double)(facts->channels * facts->length + 1);

    return fmin(bytes / all, 1);
}

double budget_bytes(const struct job *job)
{
    return result_bytes(job, &job->budget);
}

double content_bytes(const struct job *job)
{
    return job->size - other_bytes(job);
}

enum { DEFAULT_PER_CLASS = 10, DEFAULT_BITS = 8 };

/* Ten float32 series per class, at most a tenth of the data.  Stays 0, which means --spc 10, where
 * nothing is held out to try budgets, or where a few compressed series do not fit. */
void plan_size(struct job *job)
{
    const struct facts *facts = &job->facts;
    double series = 4 * (double)(facts->channels * facts->length);
    double size =
        fmin(DEFAULT_PER_CLASS * (double)facts->classes, 0.1 * (double)facts->count) * series;
    struct budget budget;

    if (job->bytes)
        job->size = bytes_option(job->bytes);
    else if (!job->per_class && job->views == SIZE_MAX && !job->bits && !has_own_teacher(job) &&
             job->students == STUDENTS_ANY && facts->held_out &&
             packed_budget(job, size, 1, &budget))
        job->size = size + other_bytes(job);
}

void plan_series(struct job *job)
{
    size_t fewest = job->facts.fewest;

    if (!job->per_class) {
        job->per_class = fewest < DEFAULT_PER_CLASS ? fewest : DEFAULT_PER_CLASS;
        if (fewest < DEFAULT_PER_CLASS)
            cli_say("%zu series per class: the smallest class has no more to choose from", fewest);
    }
    job->budget = (struct budget){job->per_class, has_views(job) ? job->views : 0,
                                  job->students == STUDENTS_SHAPELETS ? 32
                                  : job->bits                         ? job->bits
                                                                      : DEFAULT_BITS};
}

/* For students that see shapelets, sc-synth makes up for missing real series with noisy copies; but
 * the random series for comparison must be real. */
void check_enough(const struct job *job)
{
    const struct facts *facts = &job->facts;
    bool real = job->students == STUDENTS_ANY || (facts->held_out && !job->unscored);

    if (real && job->budget.per_class > facts->fewest)
        cli_check(
            error_make("%s: %zu series per class are wanted, but the smallest class has %zu%s",
                       job->common.files[0], job->per_class, facts->fewest,
                       facts->held_out && !job->validate ? " besides those held out" : ""));
}

void check_smaller(const struct job *job)
{
    const struct facts *facts = &job->facts;
    double all = (double)facts->count * 4 * (double)(facts->channels * facts->length + 1);

    if (!job->force && job->size > 0 && result_bytes(job, &job->budget) >= all)
        cli_check(error_make("a result of %.0f bytes would be as large as the %zu series of %s; "
                             "choose fewer (--bytes), or --force",
                             job->size, facts->count, job->common.files[0]));
    if (!job->force && result_bytes(job, &job->budget) >= all)
        cli_check(error_make(
            "%zu series per class and %zu views would take as many bytes as the %zu "
            "series of %s; choose fewer (--spc, --views), or --force",
            job->budget.per_class, job->budget.views, facts->count, job->common.files[0]));
}

/* ---- Time ----
 *
 * Nearly all of it goes into training networks and the search of shapelets.  The rates are those of
 * one thread of a common x86-64 processor with AVX2; command.c corrects the time that is left by
 * how long the stages before took. */

static const double TRAINING_RATE = 4e10; /* multiplications and additions in a second */
static const double SEARCH_RATE = 2e9;    /* differences of two steps in a second */

size_t job_threads(const struct job *job)
{
    return job->common.threads ? job->common.threads : parallel_threads();
}

/* Three blocks of width 32, kernel 3, each on half as many steps as the one before; backward
 * takes twice as long as forward. */
double training_seconds(const struct job *job, size_t steps, size_t batch)
{
    const struct facts *facts = &job->facts;
    double forward = 3 * 32 * (double)facts->length * ((double)facts->channels + 16 + 8);

    return 3 * 2 * forward * (double)steps * (double)batch /
           (TRAINING_RATE * (double)job_threads(job));
}

/* Differences that the search of one series pair computes. */
static double search_work(const struct facts *facts)
{
    double starts = fmin((double)facts->length, 500);
    double shifts = fmin(0.3 * (double)facts->length, 100);

    return 5 * starts * (1 + shifts) * (double)facts->channels;
}

/* The work grows with the square of the number of series; 1e11 distances at one place each are some
 * seconds. */
size_t search_per_class(const struct facts *facts)
{
    double series = sqrt(1e11 / search_work(facts)) / (double)facts->classes;

    return series < 10 ? 10 : (size_t)series;
}

double search_seconds(const struct job *job)
{
    const struct facts *facts = &job->facts;
    double per_class =
        fmin((double)search_per_class(facts), (double)facts->count / (double)facts->classes);
    double series = per_class * (double)facts->classes;

    return series * series * search_work(facts) / (SEARCH_RATE * (double)job_threads(job));
}

/* ---- Memory ----
 *
 * Series stay in their files (shapecond(7)).  What is in memory is a network with its batches, and
 * for each series its place in the order of training, its class and the like.  Standardised copies
 * of train and held-out series are files of the stages; embeddings of all series that are chosen
 * from are files that are gone after the stage, as is the copy for the class at work. */

static const double LARGE_DATA = 100e6; /* bytes from which on this is worth a line */
static const double NETWORK_BYTES = 64e6, BYTES_PER_SERIES = 40;

void say_memory(const struct job *job)
{
    const struct facts *facts = &job->facts;
    double count = (double)facts->count, values = (double)(facts->channels * facts->length);
    double data = 4 * count * values, disk = (has_own_teacher(job) ? 1 : 2) * data;
    double sample = job->sample ? fmin((double)(job->sample * facts->classes), count) : count;
    /* Three blocks of width 32, each of which halves the steps. */
    double embeddings = job->students == STUDENTS_ANY && !job->command
                            ? 2 * sample * 4 * 32 * ceil((double)facts->length / 8)
                            : 0;

    bool in_memory = embeddings / 2 < (double)scratch_least();
    double memory = NETWORK_BYTES + BYTES_PER_SERIES * count + (in_memory ? embeddings : 0);

    if (2 * facts->smallest < facts->largest && !has_own_teacher(job))
        disk += 4 * (double)(facts->classes * facts->largest) * values; /* balanced */
    if (data < LARGE_DATA)
        return;
    cli_say("about %.0f MB of memory; %.1f GB of disk for files of the stages, and %.1f GB while "
            "series are chosen%s",
            memory / 1e6, disk / 1e9, in_memory ? 0 : embeddings / 1e9,
            embeddings > data ? " (--sample 1000 takes less)" : "");
}

void print_duration(double seconds, char text[32])
{
    if (seconds < 10)
        snprintf(text, 32, "a few seconds");
    else if (seconds < 100)
        snprintf(text, 32, "~%.0f s", 10 * round(seconds / 10));
    else if (seconds < 5400)
        snprintf(text, 32, "~%.0f min", ceil(seconds / 60));
    else
        snprintf(text, 32, "~%.1f hours", seconds / 3600);
}
