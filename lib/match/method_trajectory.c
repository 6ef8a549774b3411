/* mtt and condtsc: each step draws an expert and an epoch to start from. */
#include <stdlib.h>

#include "eval/student.h"
#include "match/method.h"

struct following {
    const struct match_problem *problem;
    struct model model;
    struct trajectory *trajectory;
    struct views views; /* condtsc */
    size_t batch;       /* series of a step */
    size_t *order;      /* (count,) */
    size_t *picks;      /* (student steps, batch) */
};

static void following_free(void *state)
{
    struct following *following = state;

    trajectory_free(following->trajectory);
    views_free(&following->views);
    free(following->order);
    free(following->picks);
    model_free(&following->model);
    free(following);
}

static struct error *check(const struct match_options *options, const struct experts *experts)
{
    if (options->method == MATCH_CONDTSC && !experts->two_towers)
        return error_make("condtsc needs experts of two towers (sc-experts --two-tower)");
    if (options->expert_epochs > experts->epochs)
        return error_make("experts of %zu epochs are too short to look %zu epochs ahead",
                          experts->epochs, options->expert_epochs);
    return NULL;
}

static struct error *make(struct following *following)
{
    const struct match_problem *problem = following->problem;
    const struct match_options *options = problem->options;
    bool dual = options->method == MATCH_CONDTSC;
    struct trajectory_options trajectory = {
        .steps = options->student_steps,
        .series = problem->count,
        .views = dual,
        .embedding_weight = dual ? options->embedding_weight : 0,
        .loss = student_loss(options->label_rate > 0, MATCH_TEMPERATURE)};

    following->batch = options->batch < problem->count ? options->batch : problem->count;
    trajectory.batch = following->batch;
    following->order = calloc(problem->count, sizeof *following->order);
    following->picks = calloc(options->student_steps, following->batch * sizeof *following->picks);
    if (!following->order || !following->picks)
        return error_memory("matching");
    TRY(model_new_on(&options->experts->architecture, options->experts->two_towers,
                     options->backend, &following->model));
    TRY(trajectory_new(&following->model, &trajectory, &following->trajectory));
    if (dual)
        TRY(views_new(problem->count * problem->set->channels, problem->set->length,
                      &following->views));
    return NULL;
}

static struct error *following_make(const struct match_problem *problem, void **state)
{
    struct following *following;
    struct error *error;

    TRY(check(problem->options, problem->options->experts));
    following = calloc(1, sizeof *following);
    if (!following)
        return error_memory("matching");
    following->problem = problem;
    error = make(following);
    if (error) {
        following_free(following);
        return error;
    }
    *state = following;
    return NULL;
}

/* The students' steps go through the condensed series in random order, again and again. */
static void draw_picks(struct following *following, struct random_stream *stream)
{
    size_t count = following->problem->count, at = count;
    size_t picks = following->problem->options->student_steps * following->batch;

    for (size_t i = 0; i < picks; i++, at++) {
        if (at == count) {
            for (size_t n = 0; n < count; n++)
                following->order[n] = n;
            random_shuffle(stream, following->order, count);
            at = 0;
        }
        following->picks[i] = following->order[at];
    }
}

static double following_step(void *state, size_t step, const struct condensed *condensed,
                             struct condensed *gradient)
{
    struct following *following = state;
    const struct match_options *options = following->problem->options;
    const struct experts *experts = options->experts;
    size_t latest = experts->epochs - options->expert_epochs, expert, epoch;
    struct random_stream stream = random_stream(options->seed, RANDOM_MATCH, step);
    struct trajectory_task task = {.labels = following->problem->labels};

    latest = options->latest_start < latest ? options->latest_start : latest;
    expert = random_below(&stream, experts->count);
    epoch = random_below(&stream, latest + 1);
    task.start = experts_point(experts, expert, epoch);
    task.end = experts_point(experts, expert, epoch + options->expert_epochs);
    if (following->views.rows) {
        views_draw(&following->views, &stream);
        task.views = &following->views;
    }
    if (following->batch < following->problem->count) {
        draw_picks(following, &stream);
        task.picks = following->picks;
    }
    return trajectory_loss(following->trajectory, &task, condensed, gradient);
}

const struct method method_trajectory = {
    .make = following_make, .free = following_free, .step = following_step};
