/* Matching trajectories: mtt and condtsc.
 *
 * mtt (Cazenavette et al., "Dataset distillation by matching training trajectories", 2022): from a
 * point s of an expert's training a student takes N steps of gradient descent on the condensed
 * series, t_0 = s, t_{i+1} = t_i - a grad L(t_i), with a step size a that is learned, and should
 * end where the expert was some epochs later, e:
 *     |t_N - e|^2 / |s - e|^2
 *
 * condtsc (Liu et al., "Dataset condensation for time series classification via dual domain
 * matching", 2024) does so with two towers (model.h) on four views of the condensed series
 * (spectral_views.h), and adds the squared distance, mean over series and values, between their
 * embeddings at t_N and at e.  A step can be on some of the series only, to save time and memory.
 *
 * All N steps are differentiated exactly: with v = d/dt_N, for i = N-1..0
 *     dx -= a (d2L/dx dt) v,   da -= v . grad L(t_i),   v -= a (d2L/dt2) v
 * Each step has a model_run of its own that remembers its activations. */
#ifndef SC_MATCH_TRAJECTORY_H
#define SC_MATCH_TRAJECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "match/method.h"
#include "match/model.h"
#include "match/spectral_views.h"

struct trajectory_options {
    size_t steps;            /* N */
    size_t series;           /* condensed ones */
    size_t batch;            /* of them that a step is on, at most all */
    bool views;              /* sees each series in four ways */
    double embedding_weight; /* of the distance between embeddings; 0: leave it out */
    struct loss loss;        /* of the students; if not LOSS_LABELS, soft labels are learned */
};

struct trajectory;

struct error *trajectory_new(const struct model *model, const struct trajectory_options *options,
                             struct trajectory **trajectory) MUST_CHECK;
void trajectory_free(struct trajectory *trajectory);

/* One student: where it starts, where it should end, and what it is trained on. */
struct trajectory_task {
    const float *start, *end;           /* points of an expert */
    const int32_t *labels;              /* (series,), for LOSS_LABELS */
    const struct spectral_views *views; /* drawn, where options.views says so, else NULL */
    const size_t *picks; /* (steps, batch): the series of each step; NULL: the first `batch` */
};

/* The loss of the condensed series.  Gradients are written. */
double trajectory_loss(struct trajectory *trajectory, const struct trajectory_task *task,
                       const struct condensed *condensed, struct condensed *gradient);

#endif
