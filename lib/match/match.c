/* What is learned are the condensed series, the logarithm of the students' step size and, if asked
 * for, the soft labels; each has an optimiser of its own.  All that a step depends on is in struct
 * condensation and in what the method keeps, and goes into the checkpoint. */
#include "match/match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/scale.h"
#include "eval/student.h"
#include "match/method.h"
#include "match/start.h"
#include "nn/backend.h"
#include "nn/checkpoint.h"
#include "nn/memory.h"

const char *const match_method_names[] = {"dc", "dsa", "dm", "mtt", "condtsc", "unroll", NULL};

static const struct method *const methods[MATCH_METHODS] = {
    [MATCH_DC] = &method_classwise,       [MATCH_DSA] = &method_classwise,
    [MATCH_DM] = &method_classwise,       [MATCH_MTT] = &method_trajectory,
    [MATCH_CONDTSC] = &method_trajectory, [MATCH_UNROLL] = &method_unroll,
};

bool match_needs_experts(enum match_method method)
{
    return methods[method] == &method_trajectory;
}

struct match_options match_unset(void)
{
    return (struct match_options){.per_class = MATCH_UNSET,
                                  .steps = MATCH_UNSET,
                                  .rate = NAN,
                                  .batch = MATCH_UNSET,
                                  .network_steps = MATCH_UNSET,
                                  .training_steps = MATCH_UNSET,
                                  .training_rate = NAN,
                                  .student_steps = MATCH_UNSET,
                                  .unroll_steps = MATCH_UNSET,
                                  .expert_epochs = MATCH_UNSET,
                                  .latest_start = MATCH_UNSET,
                                  .student_rate = NAN,
                                  .student_rate_rate = NAN,
                                  .embedding_weight = NAN,
                                  .label_rate = NAN,
                                  .checkpoint_every = 100};
}

static void fill_size(size_t *value, size_t recommended)
{
    if (*value == MATCH_UNSET)
        *value = recommended;
}

static void fill_real(double *value, double recommended)
{
    if (isnan(*value))
        *value = recommended;
}

static size_t recommended_batch(enum match_method method)
{
    switch (method) {
    case MATCH_MTT:
        return 100;
    case MATCH_CONDTSC:
        return 25; /* in four views */
    case MATCH_UNROLL:
        return 256;
    default:
        return 64;
    }
}

/* A student is trained on all series at once, and what a few hundred real ones say of each is the
 * less certain the more there are: so many take smaller steps (pipelines/README). */
static double unroll_caution(size_t series)
{
    static const double bold = 100;

    return (double)series > bold ? bold / (double)series : 1;
}

void match_fill_in(struct match_options *options, size_t classes)
{
    struct match_options *o = options;
    bool unrolls = o->method == MATCH_UNROLL, follows = match_needs_experts(o->method);
    size_t series;
    double caution;

    fill_size(&o->per_class, 10);
    series = o->from ? o->from->count : o->per_class * classes;
    caution = unrolls ? unroll_caution(series) : 1;
    if (o->start == MATCH_START_DEFAULT)
        o->start = MATCH_START_KMEANS;
    if (o->optimiser == MATCH_OPTIMISER_DEFAULT)
        o->optimiser = unrolls ? MATCH_ADAM : MATCH_SCALED;
    fill_size(&o->steps, unrolls ? 600 : follows ? 200 : 100);
    /* A single series of a class stands for all of it and should stay near it. */
    fill_real(&o->rate, caution * (unrolls || (follows && o->per_class > 1) ? 0.02 : 0.01));
    fill_size(&o->batch, recommended_batch(o->method));
    fill_size(&o->network_steps, o->method == MATCH_DM ? 1 : o->per_class < 10 ? o->per_class : 10);
    fill_size(&o->training_steps, 10);
    fill_real(&o->training_rate, 0.01);
    fill_size(&o->student_steps, unrolls ? 400 : 10);
    fill_size(&o->expert_epochs, 2);
    fill_size(&o->latest_start, 4);
    fill_real(&o->student_rate, unrolls ? student_rate(true, true, classes, series) : 0.02);
    fill_real(&o->student_rate_rate, 0.05);
    fill_real(&o->embedding_weight, 1);
    fill_real(&o->label_rate, unrolls ? 0.05 * caution : 0);
    fill_size(&o->unroll_steps, 20);
}

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
    const struct method *method;
    void *state;
    struct group groups[GROUPS]; /* series, soft labels, logarithm of the step size */
    struct match_result *result;
    struct checkpoint checkpoint;
    char fingerprint[DIGEST_TEXT];
    size_t step;       /* steps gone through */
    double head, tail; /* sums of losses */
    double square;     /* mean square of the gradients of the series of late */
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
    bool soft = options->method == MATCH_UNROLL || options->label_rate > 0;
    size_t labels = soft ? m->problem.count * m->problem.set->classes : 0;
    struct group *groups = m->groups;

    groups[0] = (struct group){"series", "series.first", "series.second",
                               m->problem.count * m->problem.series, .rate = options->rate};
    groups[1] = (struct group){"labels", "labels.first", "labels.second", labels,
                               .rate = options->label_rate};
    groups[2] = (struct group){"rate", "rate.first", "rate.second",
                               match_needs_experts(options->method) ? 1 : 0,
                               .rate = options->student_rate_rate};
    TRY(make_group(options->optimiser == MATCH_ADAM ? OPTIMISER_ADAM : OPTIMISER_SGD, &groups[0]));
    TRY(make_group(OPTIMISER_ADAM, &groups[1]));
    return make_group(OPTIMISER_ADAM, &groups[2]);
}

static struct error *take_unit(struct match_problem *problem)
{
    struct scale scale;

    TRY(scale_fit(problem->set, &scale));
    for (size_t c = 0; c < scale.channels; c++)
        problem->unit += scale.deviation[c] / (double)scale.channels;
    scale_free(&scale);
    return NULL;
}

static struct error *make_problem(struct match_problem *problem)
{
    const struct match_options *options = problem->options;
    const struct dataset *set = problem->set;

    problem->count = options->from ? options->from->count : options->per_class * set->classes;
    problem->series = set->channels * set->length;
    TRY(class_lists_make(set, &problem->lists));
    TRY(take_unit(problem));
    problem->labels = calloc(problem->count, sizeof *problem->labels);
    if (!problem->labels)
        return error_memory("labels");
    for (size_t i = 0; i < problem->count; i++)
        problem->labels[i] =
            options->from ? options->from->y[i] : (int32_t)(i / options->per_class);
    return NULL;
}

static void matching_free(struct condensation *m)
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

static void fingerprint(const struct condensation *m, char text[DIGEST_TEXT])
{
    const struct match_options *o = m->problem.options;
    const struct dataset *set = m->problem.set;
    char network[ARCHITECTURE_TEXT], settings[ARCHITECTURE_TEXT + 512];
    struct digest digest;

    architecture_print(&o->architecture, network);
    snprintf(settings, sizeof settings,
             "%s spc=%zu start=%d steps=%zu %d %a seed=%llu %s %zu %zu %zu %a %s %zu %zu %zu %a %a "
             "%a %a %zu",
             match_method_names[o->method], o->per_class, (int)o->start, o->steps,
             (int)o->optimiser, o->rate, (unsigned long long)o->seed, network, o->batch,
             o->network_steps, o->training_steps, o->training_rate,
             o->experts ? o->experts->digest : "-", o->student_steps, o->expert_epochs,
             o->latest_start, o->student_rate, o->student_rate_rate, o->embedding_weight,
             o->label_rate, o->unroll_steps);
    digest_start(&digest);
    digest_add(&digest, settings, strlen(settings));
    digest_add(&digest, set->x, set->count * m->problem.series * sizeof *set->x);
    digest_add(&digest, set->y, set->count * sizeof *set->y);
    if (o->features)
        digest_add(&digest, o->features, set->count * o->transform->count * sizeof *o->features);
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
                                      .worker = m->problem.options->backend};
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
        TRY(match_start(options, &m->problem.lists, series->values, &m->result->repeated));
    else
        memcpy(series->values, from->x, series->count * sizeof *from->x);
    if (labels->count && from && from->soft)
        memcpy(labels->values, from->soft, labels->count * sizeof *from->soft);
    else
        for (size_t i = 0; labels->count && i < m->problem.count; i++)
            labels->values[i * m->problem.set->classes + (size_t)m->problem.labels[i]] =
                MATCH_LABEL_LOGIT;
    return NULL;
}

static struct error *start(struct condensation *m)
{
    const struct match_options *options = m->problem.options;

    TRY(make_problem(&m->problem));
    TRY(make_groups(m));
    TRY(start_values(m));
    if (m->groups[2].count)
        m->groups[2].values[0] = (float)log(options->student_rate);
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

/* Says that, and which rates may be too large. */
static struct error *no_number(const struct match_options *options, size_t step, const char *what)
{
    char rates[96];

    if (options->method == MATCH_UNROLL)
        snprintf(rates, sizeof rates, "--student-rate than %g", options->student_rate);
    else if (match_needs_experts(options->method))
        snprintf(rates, sizeof rates, "--student-rate than %g, or --rate than %g,",
                 options->student_rate, options->rate);
    else
        snprintf(rates, sizeof rates, "--rate than %g", options->rate);
    return error_make("step %zu: %s no longer a number; a smaller %s may help", step, what, rates);
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
    if (options->backend)
        TRY(backend_check(options->backend));
    if (!isfinite(*loss))
        return no_number(options, step + 1, "the loss is");
    if (groups[2].count)
        groups[2].gradient[0] = (float)(gradient.rate * condensed.rate);
    size = gradient_size(m, step);
    for (size_t i = 0; i < GROUPS; i++)
        if (groups[i].count)
            optimiser_step(&groups[i].optimiser,
                           cosine_rate(groups[i].rate, step, options->steps) / (i == 0 ? size : 1),
                           groups[i].gradient, groups[i].values);
    return NULL;
}

static struct error *take_all_steps(struct condensation *m)
{
    const struct match_options *options = m->problem.options;
    size_t tenth = options->steps / 10 + 1;

    for (size_t step = m->step; step < options->steps; step++) {
        double loss;

        TRY(take_step(m, step, &loss));
        m->head += step < tenth ? loss / (double)tenth : 0;
        m->tail += step + tenth >= options->steps ? loss / (double)tenth : 0;
        m->step = step + 1;
        if (options->checkpoint && (step + 1) % options->checkpoint_every == 0)
            TRY(write_checkpoint(m));
        if (options->progress)
            options->progress(options->context, step + 1, options->steps, loss);
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
                return no_number(m->problem.options, m->step, "what is learned is");
    return NULL;
}

static struct error *finish(const struct condensation *m, struct dataset *condensed)
{
    const struct match_problem *problem = &m->problem;
    const struct group *groups = m->groups;

    TRY(dataset_new(problem->count, problem->set->channels, problem->set->length,
                    problem->set->classes, groups[1].count > 0, condensed));
    memcpy(condensed->x, groups[0].values, groups[0].count * sizeof *condensed->x);
    memcpy(condensed->y, problem->labels, problem->count * sizeof *condensed->y);
    if (groups[1].count)
        memcpy(condensed->soft, groups[1].values, groups[1].count * sizeof *condensed->soft);
    m->result->first = m->head;
    m->result->last = m->tail;
    m->result->student_rate = groups[2].count ? exp(groups[2].values[0]) : NAN;
    return dataset_copy_texts(problem->set, condensed);
}

struct error *match_condense(const struct match_options *options, const struct dataset *set,
                             struct dataset *condensed, struct match_result *result)
{
    struct condensation m = {.problem = {.options = options, .set = set},
                             .method = methods[options->method],
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
    matching_free(&m);
    if (error)
        dataset_free(condensed);
    return error;
}
