/* mtt and condtsc: each step draws an expert and an epoch to start from. */
#include <stdlib.h>

#include "learn/student.h"
#include "match/method.h"

struct following {
    const struct match_problem *problem;
    struct model model;
    struct trajectory *trajectory;
    struct views views; /* condtsc */
};

static void following_free(void *state)
{
    struct following *following = state;

    trajectory_free(following->trajectory);
    views_free(&following->views);
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

static struct error *following_make(const struct match_problem *problem, void **state)
{
    const struct match_options *options = problem->options;
    const struct experts *experts = options->experts;
    bool dual = options->method == MATCH_CONDTSC;
    struct trajectory_options trajectory = {
        .steps = options->student_steps,
        .series = problem->count,
        .views = dual,
        .embedding_weight = dual ? options->embedding_weight : 0,
        .loss = student_loss(options->label_rate > 0, MATCH_TEMPERATURE)};
    struct following *following;
    struct error *error;

    TRY(check(options, experts));
    following = calloc(1, sizeof *following);
    if (!following)
        return error_memory("matching");
    following->problem = problem;
    error = model_new_on(&experts->architecture, experts->two_towers, options->backend,
                         &following->model);
    if (!error)
        error = trajectory_new(&following->model, &trajectory, &following->trajectory);
    if (!error && dual)
        error = views_new(problem->count * problem->set->channels, problem->set->length,
                          &following->views);
    if (error) {
        following_free(following);
        return error;
    }
    *state = following;
    return NULL;
}

static double following_step(void *state, size_t step, const struct condensed *condensed,
                             struct condensed *gradient)
{
    struct following *following = state;
    const struct match_options *options = following->problem->options;
    const struct experts *experts = options->experts;
    size_t latest = experts->epochs - options->expert_epochs, expert, epoch;
    struct random_stream stream = random_stream(options->seed, RANDOM_MATCH, step);

    latest = options->latest_start < latest ? options->latest_start : latest;
    expert = random_below(&stream, experts->count);
    epoch = random_below(&stream, latest + 1);
    if (following->views.rows)
        views_draw(&following->views, &stream);
    return trajectory_loss(following->trajectory, experts_point(experts, expert, epoch),
                           experts_point(experts, expert, epoch + options->expert_epochs),
                           condensed, following->problem->labels,
                           following->views.rows ? &following->views : NULL, gradient);
}

const struct method method_trajectory = {
    .make = following_make, .free = following_free, .step = following_step};
