/* Differentiating through a student's own training: unroll.
 *
 * A student is a network that is trained on the condensed series as sc-eval trains students that
 * see shapelets: gradient descent with momentum, all condensed series in one batch, soft labels, a
 * cosine learning rate,
 *     v_{i+1} = m v_i + grad L(t_i),   t_{i+1} = t_i - a_i v_{i+1}
 * A window is a few steps of that training.  Its loss is the cross-entropy of the student at its
 * end on real series; the gradient of that loss with respect to the condensed series, their
 * features and their soft labels is computed exactly, through all steps of the window.  Windows
 * start anywhere in the training, so that no long training has to be differentiated (Feng, Vedantam
 * and Kempe, "Embarrassingly simple dataset distillation", 2023).
 *
 * Real series are seen as a trained student sees them: with batch normalisation by the statistics
 * of the condensed series.  These depend on the condensed series as well, and the gradient includes
 * that part. */
#ifndef SC_MATCH_UNROLL_H
#define SC_MATCH_UNROLL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "nn/loss.h"
#include "nn/network.h"

struct unroll_options {
    size_t series;         /* condensed ones */
    size_t batch;          /* real ones, at most */
    size_t window;         /* steps */
    size_t training;       /* steps of the whole training */
    double rate, momentum; /* of it */
    struct loss loss;      /* of it: LOSS_KL */
};

/* A student after `age` steps of its training. */
struct unroll_student {
    float *parameters, *velocity; /* (network->parameter_count) */
    size_t age;
    struct dropout dropout; /* of its steps, which are counted by age; all zeros: none */
};

/* What is learned, or the gradients of it. */
struct unroll_condensed {
    float *x;        /* (series, C, L) */
    float *features; /* (series, K), or NULL */
    float *targets;  /* (series, V) logits */
};

/* Real series to score a student by. */
struct unroll_batch {
    size_t count;
    const float *x;        /* (count, C, L) */
    const float *features; /* (count, K), or NULL */
    const int32_t *labels; /* (count,) */
};

struct unroll;

/* Memory for windows with networks of that kind. */
struct error *unroll_new(const struct network *network, const struct unroll_options *options,
                         struct unroll **unroll) MUST_CHECK;
void unroll_free(struct unroll *unroll);

/* A new student of age 0. */
void unroll_begin(const struct unroll *unroll, uint64_t seed, uint64_t index,
                  struct unroll_student *student);

/* One step of its training. */
void unroll_train(struct unroll *unroll, const struct unroll_condensed *condensed,
                  struct unroll_student *student);

/* The window that begins where the student is: moves it to the window's end, returns the loss there
 * and writes the gradients. */
double unroll_window(struct unroll *unroll, const struct unroll_condensed *condensed,
                     const struct unroll_batch *real, struct unroll_student *student,
                     struct unroll_condensed *gradient);

#endif
