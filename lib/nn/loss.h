/* Losses on logits (N, V), their gradients, and the tangents of those (R, see network.h).
 * With p = softmax(logits / temperature) and every loss the mean over the N samples times `scale`:
 *
 *     LOSS_LABELS   -log p[label]                      cross-entropy with classes
 *     LOSS_SOFT     -sum q log p                       targets are weights q, usually summing to 1
 *     LOSS_KL       sum q (log q - log p)              targets are logits t,
 *                                                      q = softmax(t / temperature)
 *
 * Soft targets can be learned: their gradients and tangents are computed where asked for.  Arrays
 * are host memory; backend->loss takes the same structs with memory of the device. */
#ifndef SC_NN_LOSS_H
#define SC_NN_LOSS_H

#include <stddef.h>
#include <stdint.h>

enum loss_kind { LOSS_LABELS, LOSS_SOFT, LOSS_KL };

struct loss {
    enum loss_kind kind;
    float temperature; /* 1 */
    float scale;       /* 1; distillation often uses temperature squared */
};

/* What the logits are compared with. */
struct targets {
    const int32_t *labels; /* (N,) in 0..V-1, LOSS_LABELS */
    const float *values;   /* (N, V), the others */
};

/* The loss; its gradients with respect to logits and targets.values (N, V), where not NULL. */
double loss_value(const struct loss *loss, size_t count, size_t classes, const float *logits,
                  const struct targets *targets, float *dlogits, float *dtargets);

/* Tangents of the two gradients when logits move along rlogits and the targets along rtargets
 * (NULL: they do not move); outputs may be NULL. */
void loss_tangent(const struct loss *loss, size_t count, size_t classes, const float *logits,
                  const struct targets *targets, const float *rlogits, const float *rtargets,
                  float *rdlogits, float *rdtargets);

/* How many of the logits are largest at the label. */
size_t count_correct(size_t count, size_t classes, const float *logits, const int32_t *labels);

#endif
