/* Optimisers on flat arrays, with PyTorch's rules (torch.optim.SGD, Adam, AdamW), and the cosine
 * schedule.  Used for the parameters of networks and for synthetic series. */
#ifndef SC_NN_OPTIMISER_H
#define SC_NN_OPTIMISER_H

#include <stddef.h>

#include "base/error.h"
#include "nn/backend.h"

enum optimiser_kind { OPTIMISER_SGD, OPTIMISER_ADAM, OPTIMISER_ADAMW };

struct optimiser_options {
    enum optimiser_kind kind;
    double rate;
    double momentum;     /* SGD: 0 */
    double beta1, beta2; /* Adam: 0.9, 0.999 */
    double epsilon;      /* Adam: 1e-8 */
    double weight_decay; /* 0; AdamW: 0.01 */
};

/* PyTorch's defaults of that kind (for SGD, a rate of 0.01). */
struct optimiser_options optimiser_defaults(enum optimiser_kind kind);

struct optimiser {
    struct optimiser_options options;
    const struct backend *backend;
    size_t count;
    size_t steps;  /* taken so far */
    float *first;  /* (count): velocity, or mean of the gradients */
    float *second; /* (count): mean of their squares; NULL for SGD */
    /* The numbers of steps to come: for the host, and on the device. */
    size_t room;
    struct optimiser_step *plan, *planned;
};

/* State for `count` values, all zero. */
struct error *optimiser_new(const struct optimiser_options *options, const struct backend *backend,
                            size_t count, struct optimiser *optimiser) MUST_CHECK;
void optimiser_free(struct optimiser *optimiser);

/* Forgets what was learned: as new. */
void optimiser_reset(struct optimiser *optimiser);

/* One step with that learning rate (options.rate, or that of a schedule). */
void optimiser_step(struct optimiser *optimiser, double rate, const float *gradient, float *values);

/* The same in two parts, so that a device can take many steps without the host: reserve memory for
 * a plan of `steps` steps; set the learning rate of step `at` of the plan; send the plan to the
 * device, whose steps count as taken; take step *index (memory of the backend) of the plan. */
struct error *optimiser_reserve(struct optimiser *optimiser, size_t steps) MUST_CHECK;
void optimiser_plan(struct optimiser *optimiser, size_t at, double rate);
void optimiser_plan_end(struct optimiser *optimiser, size_t steps);
void optimiser_follow(struct optimiser *optimiser, const size_t *index, const float *gradient,
                      float *values);

/* rate (1 + cos(pi step / steps)) / 2: from the full rate at step 0 down to 0 at `steps`. */
double cosine_rate(double rate, size_t step, size_t steps);

#endif
