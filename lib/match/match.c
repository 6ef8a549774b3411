/* What is learned are the condensed series, the logarithm of the students' step size and, if asked
 * for, the soft labels; each has an optimiser of its own.  All that a step depends on is in struct
 * condensation and in what the method keeps, and goes into the checkpoint. */
#include "match/match.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/scale.h"
#include "match/initial.h"
#include "nn/backend.h"
#include "nn/checkpoint.h"
#include "nn/backend_memory.h"

/* ---- Options ---- */

struct match_options match_unset(void)
{
    struct match_options options = {
        .method = match_methods[0], .per_class = MATCH_UNSET, .checkpoint_every = 100};

    for (size_t i = 0; i < MATCH_PARAMETERS; i++)
        options.values[i] = NAN;
    return options;
}

void match_set(struct match_options *options, const char *name, double value)
{
    size_t parameter = match_parameter(options->method, name);

    assert(parameter < MATCH_PARAMETERS);
    options->values[parameter] = value;
}

double match_value(const struct match_options *options, const char *name)
{
    size_t parameter = match_parameter(options->method, name);

    return parameter == SIZE_MAX ? NAN : options->values[parameter];
}

void match_fill_in(struct match_options *options, size_t classes)
{
    const struct match_parameter *parameters = options->method->parameters;

    if (options->per_class == MATCH_UNSET)
        options->per_class = 10;
    if (options->start == MATCH_START_DEFAULT)
        options->start = MATCH_START_KMEANS;
    if (options->optimiser == MATCH_OPTIMISER_DEFAULT)
        options->optimiser = options->method->optimiser;
    for (size_t i = 0; parameters[i].name; i++)
        if (isnan(options->values[i]))
            options->values[i] = parameters[i].recommend ? parameters[i].recommend(options, classes)
                                                         : parameters[i].standard;
}

/* ---- State ---- */

enum { GROUPS = 3, SQUARE_MEMORY = 50 };

/* Values that one optimiser moves. */
struct group {
    const char *name, *first, *second; /* of the arrays in a checkpoint */
    size_t count;
    float *values, *gradient;
    double rate;
    struct optimiser optimiser;
};

struct condensation {
    struct match_problem problem;
    const struct match_method *method;
    void *state;
    size_t steps;
    struct group groups[GROUPS]; /* series, soft labels, logarithm of the step size */
    struct match_result *result;
    struct checkpoint checkpoint;
    char fingerprint[DIGEST_TEXT];
    size_t step;       /* steps taken */
    double head, tail; /* sums of losses */
    double square;     /* running mean square of the gradients of the series */
};

/* ---- Memory ---- */

static struct error *make_group(enum optimiser_kind kind, struct group *group)
{
    struct optimiser_options options = optimiser_defaults(kind);

    if (group->count == 0)
        return NULL;
    if (kind == OPTIMISER_SGD)
        options.momentum = 0.5;
    group->values = calloc(group->count, sizeof *group->values);
    group->gradient = calloc(group->count, sizeof *group->gradient);
    if (!group->values || !group->gradient)
        return error_memory("what is learned");
    return optimiser_new(&options, backend_cpu(), group->count, &group->optimiser);
}

static struct error *make_groups(struct condensation *m)
{
    const struct match_options *options = m->problem.options;
    double label_rate = match_value(options, "label-rate");
    double rate_rate = match_value(options, "rate-rate");
    bool soft = (m->method->needs & MATCH_NEEDS_SOFT_LABELS) || label_rate > 0;
    size_t labels = soft ? m->problem.count * m->problem.dataset->classes : 0;
    struct group *groups = m->groups;

    groups[0] =
        (struct group){"series", "series.first", "series.second",
                       m->problem.count * m->problem.series, .rate = match_value(options, "rate")};
    groups[1] =
        (struct group){"labels", "labels.first", "labels.second", labels, .rate = label_rate};
    groups[2] = (struct group){"rate", "rate.first", "rate.second", isnan(rate_rate) ? 0 : 1,
                               .rate = rate_rate};
    TRY(make_group(options->optimiser == MATCH_ADAM ? OPTIMISER_ADAM : OPTIMISER_SGD, &groups[0]));
    TRY(make_group(OPTIMISER_ADAM, &groups[1]));
    return make_group(OPTIMISER_ADAM, &groups[2]);
}

static struct error *take_unit(struct match_problem *problem)
{
    struct scale scale;

    TRY(scale_fit(problem->dataset, &scale));
    for (size_t c = 0; c < scale.channels; c++)
        problem->unit += scale.deviation[c] / (double)scale.channels;
    scale_free(&scale);
    return NULL;
}

static struct error *make_problem(struct match_problem *problem)
{
    const struct match_options *options = problem->options;
    const struct dataset *dataset = problem->dataset;

    problem->count = options->from ? options->from->count : options->per_class * dataset->classes;
    problem->series = dataset_series_size(dataset);
    TRY(class_lists_make(dataset->y, dataset->count, dataset->classes, &problem->lists));
    if (class_lists_empty(&problem->lists) < dataset->classes)
        return error_make("class %zu has no series", class_lists_empty(&problem->lists));
    TRY(take_unit(problem));
    problem->labels = calloc(problem->count, sizeof *problem->labels);
    if (!problem->labels)
        return error_memory("labels");
    for (size_t i = 0; i < problem->count; i++)
        problem->labels[i] =
            options->from ? options->from->y[i] : (int32_t)(i / options->per_class);
    return NULL;
}

static void condensation_free(struct condensation *m)
{
    for (size_t i = 0; i < GROUPS; i++) {
        free(m->groups[i].values);
        free(m->groups[i].gradient);
        optimiser_free(&m->groups[i].optimiser);
    }
    if (m->state)
        m->method->free(m->state);
    class_lists_free(&m->problem.lists);
    free(m->problem.labels);
}

/* ---- Checkpoints ---- */

static void digest_text(struct digest *digest, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void digest_text(struct digest *digest, const char *format, ...)
{
    char text[ARCHITECTURE_TEXT + 256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    digest_add(digest, text, strlen(text));
}

/* The digest of all that decides the result: options, parameters of the method, dataset and start.
 */
static void fingerprint(const struct condensation *m, char text[DIGEST_TEXT])
{
    const struct match_options *o = m->problem.options;
    const struct match_parameter *parameters = m->method->parameters;
    const struct dataset *dataset = m->problem.dataset;
    char network[ARCHITECTURE_TEXT];
    struct digest digest;

    architecture_print(&o->architecture, network);
    digest_start(&digest);
    digest_text(&digest, "%s spc=%zu start=%d optimiser=%d seed=%llu network=%s experts=%s",
                m->method->name, o->per_class, (int)o->start, (int)o->optimiser,
                (unsigned long long)o->seed, network, o->experts ? o->experts->digest : "-");
    for (size_t i = 0; parameters[i].name; i++)
        digest_text(&digest, " %s=%a", parameters[i].name, o->values[i]);
    digest_add(&digest, dataset->x, dataset->count * m->problem.series * sizeof *dataset->x);
    digest_add(&digest, dataset->y, dataset->count * sizeof *dataset->y);
    if (o->features)
        digest_add(&digest, o->features,
                   dataset->count * o->transform->count * sizeof *o->features);
    digest_add(&digest, m->groups[0].values, m->groups[0].count * sizeof *m->groups[0].values);
    digest_add(&digest, m->groups[1].values, m->groups[1].count * sizeof *m->groups[1].values);
    digest_finish(&digest, text);
}

/* Everything that changes from step to step, but for a few numbers. */
static void lay_out_checkpoint(struct condensation *m)
{
    struct checkpoint *checkpoint = &m->checkpoint;
    size_t kept = 0;
    float *values = m->method->kept ? m->method->kept(m->state, &kept) : NULL;

    fingerprint(m, m->fingerprint);
    *checkpoint = (struct checkpoint){.kind = "matching",
                                      .network = "none",
                                      .fingerprint = m->fingerprint,
                                      .backend = backend_cpu(),
                                      .worker = m->problem.options->backend,
                                      .cluster = m->problem.options->cluster};
    checkpoint_add(checkpoint, "kept", values, kept);
    for (size_t i = 0; i < GROUPS; i++) {
        struct group *group = &m->groups[i];

        checkpoint_add(checkpoint, group->name, group->values, group->count);
        checkpoint_add(checkpoint, group->first, group->optimiser.first, group->count);
        checkpoint_add(checkpoint, group->second, group->optimiser.second, group->count);
    }
}

/* Doubles as C's hexadecimal numbers, so that nothing is lost. */
static struct error *write_checkpoint(const struct condensation *m)
{
    char progress[CHECKPOINT_PROGRESS];

    snprintf(progress, sizeof progress, "step=%zu %a %a %a", m->step, m->head, m->tail, m->square);
    return checkpoint_write(m->problem.options->checkpoint, &m->checkpoint, progress);
}

static struct error *resume(struct condensation *m)
{
    const char *path = m->problem.options->checkpoint;
    char progress[CHECKPOINT_PROGRESS];
    bool found;

    lay_out_checkpoint(m);
    if (!path)
        return NULL;
    TRY(checkpoint_read(path, &m->checkpoint, progress, &found));
    if (found &&
        sscanf(progress, "step=%zu %la %la %la", &m->step, &m->head, &m->tail, &m->square) != 4)
        return checkpoint_strange(path, &m->checkpoint);
    for (size_t i = 0; i < GROUPS; i++)
        m->groups[i].optimiser.steps = m->step;
    return NULL;
}

/* ---- The loop ---- */

/* Series and soft labels. */
static struct error *start_values(struct condensation *m)
{
    const struct match_options *options = m->problem.options;
    const struct dataset *from = options->from;
    struct group *series = &m->groups[0], *labels = &m->groups[1];

    if (!from)
        TRY(initial_series(options, m->problem.dataset, series->values, &m->result->repeated));
    else
        memcpy(series->values, from->x, series->count * sizeof *from->x);
    if (labels->count && from && from->soft)
        memcpy(labels->values, from->soft, labels->count * sizeof *from->soft);
    else
        for (size_t i = 0; labels->count && i < m->problem.count; i++)
            labels->values[i * m->problem.dataset->classes + (size_t)m->problem.labels[i]] =
                MATCH_LABEL_LOGIT;
    return NULL;
}

static struct error *start(struct condensation *m)
{
    TRY(make_problem(&m->problem));
    TRY(make_groups(m));
    TRY(start_values(m));
    if (m->groups[2].count)
        m->groups[2].values[0] = (float)log(match_value(m->problem.options, "student-rate"));
    TRY(m->method->make(&m->problem, &m->state));
    return resume(m);
}

/* What the rate of the series is to be divided by: 1, or the root mean square of their gradients,
 * averaged over about the last SQUARE_MEMORY steps. */
static double gradient_size(struct condensation *m, size_t step)
{
    const struct group *series = &m->groups[0];
    double sum = 0, weight = step < SQUARE_MEMORY ? 1 / (double)(step + 1) : 1.0 / SQUARE_MEMORY;

    if (m->problem.options->optimiser != MATCH_SCALED)
        return 1;
    for (size_t i = 0; i < series->count; i++)
        sum += (double)series->gradient[i] * series->gradient[i];
    m->square += weight * (sum / (double)series->count - m->square);
    return m->square > 0 ? sqrt(m->square) : 1;
}

/* The error for a loss that is NaN or infinite, with the parameters that may be too large. */
static struct error *no_number(const struct condensation *m, size_t step, const char *what)
{
    const struct match_parameter *parameters = m->method->parameters;
    char rates[128] = "";
    size_t named = 0, used = 0;

    for (size_t i = 0; parameters[i].name && used < sizeof rates; i++)
        if (parameters[i].too_large)
            used += (size_t)snprintf(rates + used, sizeof rates - used, "%s--%s than %g",
                                     named++ ? ", or " : "", parameters[i].name,
                                     m->problem.options->values[i]);
    return error_make("step %zu: %s no longer a number; a smaller %s%s may help", step, what, rates,
                      named > 1 ? "," : "");
}

static struct error *take_step(struct condensation *m, size_t step, double *loss)
{
    const struct match_options *options = m->problem.options;
    struct group *groups = m->groups;
    struct condensed condensed = {.x = groups[0].values, .targets = groups[1].values};
    struct condensed gradient = {.x = groups[0].gradient, .targets = groups[1].gradient};
    double size;

    if (groups[2].count)
        condensed.rate = exp(groups[2].values[0]);
    *loss = m->method->step(m->state, step, &condensed, &gradient);
    TRY(cluster_check(options->cluster));
    if (options->backend)
        TRY(backend_check(options->backend));
    if (!isfinite(*loss))
        return no_number(m, step + 1, "the loss is");
    if (groups[2].count)
        groups[2].gradient[0] = (float)(gradient.rate * condensed.rate);
    size = gradient_size(m, step);
    for (size_t i = 0; i < GROUPS; i++)
        if (groups[i].count)
            optimiser_step(&groups[i].optimiser,
                           cosine_rate(groups[i].rate, step, m->steps) / (i == 0 ? size : 1),
                           groups[i].gradient, groups[i].values);
    return NULL;
}

static struct error *take_all_steps(struct condensation *m)
{
    const struct match_options *options = m->problem.options;
    size_t tenth = m->steps / 10 + 1;

    for (size_t step = m->step; step < m->steps; step++) {
        double loss;

        TRY(take_step(m, step, &loss));
        m->head += step < tenth ? loss / (double)tenth : 0;
        m->tail += step + tenth >= m->steps ? loss / (double)tenth : 0;
        m->step = step + 1;
        if (options->checkpoint && (step + 1) % options->checkpoint_every == 0)
            TRY(write_checkpoint(m));
        if (options->progress)
            options->progress(options->context, step + 1, m->steps, loss);
    }
    return NULL;
}

/* A gradient may be out of all bounds though its loss is not, which shows in the loss of the next
 * step, but for the last one. */
static struct error *check_values(const struct condensation *m)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < m->groups[g].count; i++)
            if (!isfinite(m->groups[g].values[i]))
                return no_number(m, m->step, "what is learned is");
    return NULL;
}

static struct error *finish(const struct condensation *m, struct dataset *condensed)
{
    const struct match_problem *problem = &m->problem;
    const struct group *groups = m->groups;

    TRY(dataset_new(problem->count, problem->dataset->channels, problem->dataset->length,
                    problem->dataset->classes, groups[1].count > 0, condensed));
    memcpy(condensed->x, groups[0].values, groups[0].count * sizeof *condensed->x);
    memcpy(condensed->y, problem->labels, problem->count * sizeof *condensed->y);
    if (groups[1].count)
        memcpy(condensed->soft, groups[1].values, groups[1].count * sizeof *condensed->soft);
    m->result->first = m->head;
    m->result->last = m->tail;
    m->result->student_rate = groups[2].count ? exp(groups[2].values[0]) : NAN;
    return dataset_copy_texts(problem->dataset, condensed);
}

struct error *match_condense(const struct match_options *options, const struct dataset *dataset,
                             struct dataset *condensed, struct match_result *result)
{
    struct condensation m = {.problem = {.options = options, .dataset = dataset},
                             .method = options->method,
                             .steps = (size_t)match_value(options, "steps"),
                             .result = result};
    struct error *error;

    memset(condensed, 0, sizeof *condensed);
    memset(result, 0, sizeof *result);
    error = start(&m);
    if (!error)
        error = take_all_steps(&m);
    if (!error)
        error = check_values(&m);
    if (!error)
        error = finish(&m, condensed);
    condensation_free(&m);
    if (error)
        dataset_free(condensed);
    return error;
}
