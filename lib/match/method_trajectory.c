/* mtt and condtsc: each step draws an expert and an epoch to start from. */
#include <stdlib.h>

#include "base/random.h"
#include "eval/student.h"
#include "match/match.h"
#include "match/trajectory.h"

/* ---- Parameters ---- */

enum {
    STEPS,
    RATE,
    BATCH,
    STUDENT_STEPS,
    STUDENT_RATE,
    RATE_RATE,
    EXPERT_EPOCHS,
    LATEST_START,
    LABEL_RATE,
    EMBEDDING_WEIGHT
};

/* A single series of a class stands for all of it and should stay near it. */
static double series_rate(const struct match_options *options, size_t classes)
{
    (void)classes;
    return options->per_class > 1 ? 0.02 : 0.01;
}

/* clang-format off */
#define PARAMETERS(batch)                                                                          \
    [STEPS]         = MATCH_STEPS(200),                                                            \
    [RATE]          = MATCH_RATE(.recommend = series_rate, .recommended = "0.02, with --spc=1 0.01", \
                                 .too_large = true),                                               \
    [BATCH]         = MATCH_WHOLE('b', "batch", 1, 1e6, "condensed series in a step of a student", batch), \
    [STUDENT_STEPS] = MATCH_WHOLE(0, "student-steps", 1, 1e6, "steps of a student", 10),           \
    [STUDENT_RATE]  = MATCH_REAL(0, "student-rate", 1e-12, 1e6, "step size of the students at first", 0.02, \
                                 .too_large = true),                                               \
    [RATE_RATE]     = MATCH_REAL(0, "rate-rate", 0, 1e6, "learning rate of its logarithm; 0: keep it", 0.05), \
    [EXPERT_EPOCHS] = MATCH_WHOLE(0, "expert-epochs", 1, 1e6,                                      \
                                  "epochs of the expert from the start of a student to its target", 2),     \
    [LATEST_START]  = MATCH_WHOLE(0, "latest-start", 0, 1e6,                                       \
                                  "last epoch of an expert to start from; 0: its beginning", 4),   \
    [LABEL_RATE]    = MATCH_REAL(0, "label-rate", 0, 1e6,                                          \
                                 "learning rate of soft labels; 0: hard labels", 0)

static const struct match_parameter mtt_parameters[] = {PARAMETERS(100), {0}};
/* Each series is seen in four views. */
static const struct match_parameter condtsc_parameters[] = {
    PARAMETERS(25),
    [EMBEDDING_WEIGHT] = MATCH_REAL(0, "weight-embedding", 0, 1e6,
                                    "weight of the distance between embeddings", 1),
    {0},
};
/* clang-format on */

/* ---- State ---- */

struct trajectory_state {
    const struct match_problem *problem;
    struct model model;
    struct trajectory *trajectory;
    struct spectral_views views; /* condtsc */
    size_t batch;                /* series of a step */
    size_t *order;               /* (count,) */
    size_t *picks;               /* (student steps, batch) */
};

static void matching_free(void *state)
{
    struct trajectory_state *m = state;

    trajectory_free(m->trajectory);
    spectral_views_free(&m->views);
    free(m->order);
    free(m->picks);
    model_free(&m->model);
    free(m);
}

static struct error *check(const struct match_options *options, const struct experts *experts)
{
    if (options->method == &method_condtsc && !experts->two_towers)
        return error_make("condtsc needs experts of two towers (sc-experts --two-tower)");
    if (match_whole(options, EXPERT_EPOCHS) > experts->epochs)
        return error_make("experts of %zu epochs are too short to look %zu epochs ahead",
                          experts->epochs, match_whole(options, EXPERT_EPOCHS));
    return NULL;
}

static struct error *make(struct trajectory_state *m)
{
    const struct match_problem *problem = m->problem;
    const struct match_options *options = problem->options;
    bool dual = options->method == &method_condtsc;
    struct trajectory_options trajectory = {
        .steps = match_whole(options, STUDENT_STEPS),
        .series = problem->count,
        .views = dual,
        .embedding_weight = dual ? options->values[EMBEDDING_WEIGHT] : 0,
        .loss = student_loss(options->values[LABEL_RATE] > 0, MATCH_TEMPERATURE)};

    m->batch = match_whole(options, BATCH);
    if (m->batch > problem->count)
        m->batch = problem->count;
    trajectory.batch = m->batch;
    m->order = calloc(problem->count, sizeof *m->order);
    m->picks = calloc(trajectory.steps, m->batch * sizeof *m->picks);
    if (!m->order || !m->picks)
        return error_memory("matching");
    TRY(model_new_on(&options->experts->architecture, options->experts->two_towers,
                     options->backend, &m->model));
    m->model.cluster = options->cluster;
    TRY(trajectory_new(&m->model, &trajectory, &m->trajectory));
    if (dual)
        TRY(spectral_views_new(problem->count * problem->dataset->channels,
                               problem->dataset->length, &m->views));
    return NULL;
}

static struct error *matching_make(const struct match_problem *problem, void **state)
{
    struct trajectory_state *m;
    struct error *error;

    TRY(check(problem->options, problem->options->experts));
    m = calloc(1, sizeof *m);
    if (!m)
        return error_memory("matching");
    m->problem = problem;
    error = make(m);
    if (error) {
        matching_free(m);
        return error;
    }
    *state = m;
    return NULL;
}

/* The students' steps go through the condensed series in random order, again and again. */
static void draw_picks(struct trajectory_state *m, struct random_stream *stream)
{
    size_t count = m->problem->count, at = count;
    size_t picks = match_whole(m->problem->options, STUDENT_STEPS) * m->batch;

    for (size_t i = 0; i < picks; i++, at++) {
        if (at == count) {
            for (size_t n = 0; n < count; n++)
                m->order[n] = n;
            random_shuffle(stream, m->order, count);
            at = 0;
        }
        m->picks[i] = m->order[at];
    }
}

static double matching_step(void *state, size_t step, const struct condensed *condensed,
                            struct condensed *gradient)
{
    struct trajectory_state *m = state;
    const struct match_options *options = m->problem->options;
    const struct experts *experts = options->experts;
    size_t ahead = match_whole(options, EXPERT_EPOCHS);
    size_t latest = experts->epochs - ahead, expert, epoch;
    struct random_stream stream = random_stream(options->seed, RANDOM_MATCH, step);
    struct trajectory_task task = {.labels = m->problem->labels};

    if (match_whole(options, LATEST_START) < latest)
        latest = match_whole(options, LATEST_START);
    expert = random_below(&stream, experts->count);
    epoch = random_below(&stream, latest + 1);
    task.start = experts_point(experts, expert, epoch);
    task.end = experts_point(experts, expert, epoch + ahead);
    if (m->views.rows) {
        spectral_views_draw(&m->views, &stream);
        task.views = &m->views;
    }
    if (m->batch < m->problem->count) {
        draw_picks(m, &stream);
        task.picks = m->picks;
    }
    return trajectory_loss(m->trajectory, &task, condensed, gradient);
}

const struct match_method method_mtt = {.name = "mtt",
                                        .summary = "trajectories of training",
                                        .needs = MATCH_NEEDS_EXPERTS,
                                        .optimiser = MATCH_SCALED,
                                        .parameters = mtt_parameters,
                                        .make = matching_make,
                                        .free = matching_free,
                                        .step = matching_step};

const struct match_method method_condtsc = {
    .name = "condtsc",
    .summary = "trajectories of two towers, one of which sees spectra",
    .needs = MATCH_NEEDS_EXPERTS,
    .optimiser = MATCH_SCALED,
    .parameters = condtsc_parameters,
    .make = matching_make,
    .free = matching_free,
    .step = matching_step};
