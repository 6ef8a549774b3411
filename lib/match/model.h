/* What the matching methods train: one network, or two towers, of which one sees the series and
 * the other their spectra (spectrum.h), with one linear layer on both embeddings side by side.
 *
 * That layer is the sum of the towers' own last layers, W [e; f] + b = Wt e + Wf f + b, so a model
 * of two towers is two networks whose logits are added; the second one's bias stays 0.  Parameters
 * and buffers are flat arrays as those of a network (network.h), the time tower's first.
 *
 * A model_run owns the memory for batches and works as a pass does: forward, backward, and the
 * tangents of both along a direction of the parameters.  On a device that is parallel inside, one
 * run is used at a time. */
#ifndef SC_MATCH_MODEL_H
#define SC_MATCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "nn/loss.h"
#include "nn/pass.h"

enum { MODEL_TOWERS = 2 };

struct model {
    struct cluster *cluster; /* ranks that share the batches of its runs (pass_share), or NULL */
    struct architecture architecture; /* of each tower */
    size_t towers;                    /* 1 or 2 */
    struct network *network;          /* both towers are of one kind */
    struct network *described;        /* the same on the processor, for names and first values */
    size_t parameter_count, buffer_count;
    size_t embedding; /* of all towers */
};

struct error *model_new(const struct architecture *architecture, bool two_towers,
                        struct model *model) MUST_CHECK;
/* On a backend (NULL: the processor).  All arrays of a model and its runs are host memory even so:
 * on a device of its own memory, runs copy what they are given and what they give. */
struct error *model_new_on(const struct architecture *architecture, bool two_towers,
                           const struct backend *backend, struct model *model) MUST_CHECK;
/* Safe on one that is all zeros. */
void model_free(struct model *model);

/* As network_initialise; two towers share the bound of their one last layer. */
void model_initialise(const struct model *model, uint64_t seed, uint64_t index, float *parameters,
                      float *buffers);

/* ---- Runs ---- */

struct model_run;

/* flags: enum pass_flags. */
struct error *model_run_new(const struct model *model, size_t most_samples, unsigned flags,
                            struct model_run **run) MUST_CHECK;
void model_run_free(struct model_run *run);

/* A batch, and the parameters and statistics that it is run with. */
struct model_batch {
    size_t count;
    const float *x;          /* (N, C, L) */
    const float *parameters; /* must stay until the last function on this batch */
    float *buffers;          /* running statistics; NULL without batch normalisation */
    bool same_parameters;    /* as in the last model_forward */
    bool training;           /* batch normalisation by the statistics of the batch */
    float momentum;          /* training: the running statistics move by this share */
    struct dropout dropout;  /* all zeros: none */
};

/* Logits (N, V). */
const float *model_forward(struct model_run *run, const struct model_batch *batch);

/* Copies what the last layer gets into embedding (N, model->embedding), time first. */
void model_embedding(const struct model_run *run, float *embedding);

/* Gradients from those of logits (N, V) and of the embedding (N, model->embedding; may be NULL):
 * written to dparameters and dx (N, C, L), either of which may be NULL. */
void model_backward(struct model_run *run, const float *dlogits, const float *dembedding,
                    float *dparameters, float *dx);

/* ---- Losses ---- */

/* The loss of a batch and its gradients, any of which may be NULL. */
double model_loss(struct model_run *run, const struct model_batch *batch, const struct loss *loss,
                  const struct targets *targets, float *dparameters, float *dx);

/* After model_loss of the same batch with a gradient: along v, a direction of the parameters,
 *     R{dL/dparameters} = (d2L / dparameters2) v      R{dL/dx} = (d2L / dx dparameters) v
 *     R{dL/dtargets} = (d2L / dtargets dparameters) v (N, V)
 * Outputs may be NULL. */
void model_second(struct model_run *run, const struct loss *loss, const struct targets *targets,
                  const float *v, float *rparameters, float *rx, float *rtargets);

#endif
