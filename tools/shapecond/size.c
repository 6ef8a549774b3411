#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/scratch.h"
#include "shapecond/job.h"

/* ---- Bytes of the result ---- */

/* The logits of one view, in 4 bits. */
static double view_bytes(const struct facts *facts)
{
    return (double)(facts->classes / 2 + facts->classes % 2);
}

/* One series with its label, group and logits; few bits have two floats for each channel beside them. */
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
    return (double)(job->facts.classes * budget->per_class) * series_bytes(job, budget->bits) +
           (double)budget->views * view_bytes(&job->facts);
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
    NOTES = 5000,       /* headers, and what the stages add to the provenance */
    FEWEST_VIEWS = 300, /* less are worth little */
    MOST_VIEWS = 20000, /* more are not worth their time */
};

/* Bytes that neither series nor views take; texts have 4 for a character. */
static double other_bytes(const struct job *job)
{
    const struct facts *facts = &job->facts;
    size_t command = job->command ? strlen(job->command) : 0;

    return NOTES + 4 * (double)(facts->classes * facts->longest_name + facts->notes + command);
}

/* A share of the bytes for series, at least one per class and no more than there are, the rest for
 * views. */
static struct budget budget_of(const struct job *job, double bytes, double share, size_t bits)
{
    const struct facts *facts = &job->facts;
    double each = (double)facts->classes * series_bytes(job, bits); /* one series of each class */
    double per_class = fmax(fmin(floor(share * bytes / each), (double)facts->fewest), 1);
    double views = floor((bytes - per_class * each) / view_bytes(facts));

    return (struct budget){(size_t)per_class, (size_t)fmax(fmin(views, MOST_VIEWS), 0), bits};
}

/* Whether series or views buy more, and whether four bits tell enough, differs from dataset to
 * dataset (pipelines/DECISIONS.md): stages.c tries some ways. */
void plan_bytes(struct job *job)
{
    static const struct {
        double share;
        size_t bits;
    } ways[BUDGETS] = {{0.2, 4}, {0.45, 4}, {0.7, 4}, {0.45, 8}};
    double other = other_bytes(job), bytes = parse_bytes(job->bytes) - other;
    struct budget least = {1, FEWEST_VIEWS, job->bits ? job->bits : 4};

    if (result_bytes(job, &least) > bytes)
        cli_check(error_make("--bytes: one series per class and %d views take %.0f bytes",
                             FEWEST_VIEWS, result_bytes(job, &least) + other));
    for (size_t i = 0; i < BUDGETS; i++) {
        size_t bits = job->bits ? job->bits : ways[i].bits;

        job->budgets[i] = budget_of(job, bytes, ways[i].share, bits);
        if (job->budgets[i].views < FEWEST_VIEWS)
            job->budgets[i] = budget_of(job, bytes, 0, least.bits);
    }
    take_budget(job, &job->budgets[BUDGETS - 1]);
}

void take_budget(struct job *job, const struct budget *budget)
{
    job->per_class = budget->per_class;
    job->views = budget->views;
    job->stored_bits = budget->bits;
}

enum { DEFAULT_PER_CLASS = 10 };

void plan_series(struct job *job)
{
    size_t fewest = job->facts.fewest;

    if (job->per_class)
        return;
    job->per_class = fewest < DEFAULT_PER_CLASS ? fewest : DEFAULT_PER_CLASS;
    if (fewest < DEFAULT_PER_CLASS)
        cli_say("%zu series per class: the smallest class has no more to choose from", fewest);
}

/* Students that see shapelets get series under noise where there are too few real ones, but the
 * random series that they are compared with are real. */
void check_enough(const struct job *job)
{
    const struct facts *facts = &job->facts;
    bool real = job->students == STUDENTS_ANY || (facts->held_out && !job->unscored);

    if (real && job->per_class > facts->fewest)
        cli_check(
            error_make("%s: %zu series per class are wanted, but the smallest class has %zu%s",
                       job->common.files[0], job->per_class, facts->fewest,
                       facts->held_out && !job->validate ? " besides those held out" : ""));
}

void check_smaller(const struct job *job)
{
    const struct facts *facts = &job->facts;
    double all = (double)facts->count * 4 * (double)(facts->channels * facts->length + 1);
    struct budget budget = {job->per_class, has_views(job) ? job->views : 0, job->stored_bits};

    if (!job->force && result_bytes(job, &budget) >= all)
        cli_check(
            error_make("%zu series per class and %zu views would take as many bytes as the %zu "
                       "series of %s; choose fewer (%s), or --force",
                       budget.per_class, budget.views, facts->count, job->common.files[0],
                       job->bytes ? "--bytes" : "--spc, --views"));
}

/* ---- Time ----
 *
 * Nearly all of it goes into training networks and the search of shapelets.  The rates are those of
 * one thread of a common x86-64 processor with AVX2; command.c corrects the time that is left by how
 * long the stages before took. */

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
    /* Three blocks of width 32, after each of which half of the steps are left. */
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
