/* One sample at a time, in blocks of samples that are tasks.  With s = scale / N and T the
 * temperature:
 *
 *     d/dlogits = s/T (p sum(q) - q)    q: 1 at the label, the weights, or softmax(t/T)
 *     LOSS_SOFT:  d/dq = -s log p
 *     LOSS_KL:    d/dt = s/T q (h - sum q h),    h = log q - log p
 *
 * and Rp = p (Rz/T - sum p Rz/T), R log p = Rz/T - sum p Rz/T. */
#include "nn/loss.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/parallel.h"

enum { TASK_SAMPLES = 64, MOST_TASKS = 64 };

/* One call, shared by its tasks. */
struct loss_call {
    const struct loss *loss;
    size_t count, classes, samples; /* samples of a task */
    const float *logits;
    const struct targets *targets;
    const float *rlogits, *rtargets;
    float *dlogits, *dtargets;
    double sums[MOST_TASKS];
};

/* Largest value and the logarithm of sum exp((x - largest) / T). */
struct normaliser {
    float largest;
    float log_sum;
};

static struct normaliser normaliser(const float *x, size_t classes, float temperature)
{
    struct normaliser out = {x[0], 0};
    double sum;

    for (size_t v = 1; v < classes; v++)
        out.largest = x[v] > out.largest ? x[v] : out.largest;
    sum = expf((x[0] - out.largest) / temperature);
    for (size_t v = 1; v < classes; v++)
        sum += expf((x[v] - out.largest) / temperature);
    out.log_sum = (float)log(sum);
    return out;
}

static float log_softmax(const float *x, size_t v, float temperature, struct normaliser n)
{
    return (x[v] - n.largest) / temperature - n.log_sum;
}

/* sum softmax(x/T) y / T: what is taken from y/T to make a tangent of log softmax. */
static double mean_under(const float *x, size_t classes, float temperature, struct normaliser n,
                         const float *y)
{
    double sum = 0;

    for (size_t v = 0; v < classes; v++)
        sum += (double)expf(log_softmax(x, v, temperature, n)) * y[v];
    return sum / temperature;
}

static double sum_of(const float *x, size_t classes)
{
    double sum = 0;

    for (size_t v = 0; v < classes; v++)
        sum += x[v];
    return sum;
}

/* Loss of one sample before scaling; gradients scaled by s. */
static double labels_sample(const struct loss_call *call, size_t n, float s)
{
    size_t classes = call->classes, label = (size_t)call->targets->labels[n];
    const float *logits = call->logits + n * classes;
    float temperature = call->loss->temperature;
    struct normaliser of_logits = normaliser(logits, classes, temperature);

    for (size_t v = 0; call->dlogits && v < classes; v++) {
        float p = expf(log_softmax(logits, v, temperature, of_logits));

        call->dlogits[n * classes + v] = s / temperature * (p - (v == label ? 1.0f : 0.0f));
    }
    return -(double)log_softmax(logits, label, temperature, of_logits);
}

static double soft_sample(const struct loss_call *call, size_t n, float s)
{
    size_t classes = call->classes;
    const float *logits = call->logits + n * classes, *q = call->targets->values + n * classes;
    float temperature = call->loss->temperature;
    struct normaliser of_logits = normaliser(logits, classes, temperature);
    double value = 0, total = sum_of(q, classes);

    for (size_t v = 0; v < classes; v++) {
        float log_p = log_softmax(logits, v, temperature, of_logits);

        value -= (double)q[v] * log_p;
        if (call->dlogits)
            call->dlogits[n * classes + v] = s / temperature * (expf(log_p) * (float)total - q[v]);
        if (call->dtargets)
            call->dtargets[n * classes + v] = -s * log_p;
    }
    return value;
}

static double kl_sample(const struct loss_call *call, size_t n, float s)
{
    size_t classes = call->classes;
    const float *logits = call->logits + n * classes, *t = call->targets->values + n * classes;
    float temperature = call->loss->temperature;
    struct normaliser of_logits = normaliser(logits, classes, temperature);
    struct normaliser of_targets = normaliser(t, classes, temperature);
    double value = 0;

    for (size_t v = 0; v < classes; v++) {
        float log_p = log_softmax(logits, v, temperature, of_logits);
        float log_q = log_softmax(t, v, temperature, of_targets), q = expf(log_q);

        value += (double)q * (log_q - log_p);
        if (call->dlogits)
            call->dlogits[n * classes + v] = s / temperature * (expf(log_p) - q);
    }
    for (size_t v = 0; call->dtargets && v < classes; v++) {
        float log_p = log_softmax(logits, v, temperature, of_logits);
        float log_q = log_softmax(t, v, temperature, of_targets);

        call->dtargets[n * classes + v] =
            s / temperature * expf(log_q) * (log_q - log_p - (float)value);
    }
    return value;
}

static double sample_value(const struct loss_call *call, size_t n, float s)
{
    switch (call->loss->kind) {
    case LOSS_LABELS:
        return labels_sample(call, n, s);
    case LOSS_SOFT:
        return soft_sample(call, n, s);
    default:
        return kl_sample(call, n, s);
    }
}

static void run_tasks(struct loss_call *call,
                      void (*body)(void *context, size_t task, unsigned worker))
{
    call->samples = TASK_SAMPLES;
    while (call->samples * MOST_TASKS < call->count)
        call->samples *= 2;
    parallel_for((call->count + call->samples - 1) / call->samples, body, call);
}

static size_t task_end(const struct loss_call *call, size_t task)
{
    size_t end = (task + 1) * call->samples;

    return end < call->count ? end : call->count;
}

static void value_task(void *context, size_t task, unsigned worker)
{
    struct loss_call *call = context;
    float s = call->loss->scale / (float)call->count;
    double sum = 0;

    (void)worker;
    for (size_t n = task * call->samples; n < task_end(call, task); n++)
        sum += sample_value(call, n, s);
    call->sums[task] = sum;
}

double loss_value(const struct loss *loss, size_t count, size_t classes, const float *logits,
                  const struct targets *targets, float *dlogits, float *dtargets)
{
    struct loss_call call = {.loss = loss,
                             .count = count,
                             .classes = classes,
                             .logits = logits,
                             .targets = targets,
                             .dlogits = dlogits,
                             .dtargets = loss->kind == LOSS_LABELS ? NULL : dtargets};
    double sum = 0;

    run_tasks(&call, value_task);
    for (size_t task = 0; task * call.samples < count; task++)
        sum += call.sums[task];
    return sum * loss->scale / (double)count;
}

/* ---- Tangents ---- */

/* In double precision: much of it cancels. */
static double tangent_of(const float *direction, size_t v, float temperature)
{
    return direction ? (double)direction[v] / temperature : 0.0;
}

/* The targets of one sample, for LOSS_KL: q, its tangent, and that of the loss's m = sum q h. */
struct kl_targets {
    struct normaliser normaliser;
    double moved;      /* sum q Rt/T */
    double m, moved_m; /* m and Rm */
};

static struct kl_targets kl_targets(const struct loss_call *call, const float *logits,
                                    const float *t, const float *rlogits, const float *rt,
                                    struct normaliser of_logits, double moved_logits)
{
    float temperature = call->loss->temperature;
    struct kl_targets out = {.normaliser = normaliser(t, call->classes, temperature)};

    if (rt)
        out.moved = mean_under(t, call->classes, temperature, out.normaliser, rt);
    for (size_t v = 0; v < call->classes; v++) {
        double log_q = log_softmax(t, v, temperature, out.normaliser), q = exp(log_q);
        double h = log_q - log_softmax(logits, v, temperature, of_logits);
        double rlog_q = tangent_of(rt, v, temperature) - out.moved;
        double rlog_p = tangent_of(rlogits, v, temperature) - moved_logits;

        out.m += q * h;
        out.moved_m += q * rlog_q * h + q * (rlog_q - rlog_p);
    }
    return out;
}

static void kl_tangent_sample(const struct loss_call *call, size_t n, float s)
{
    size_t classes = call->classes, at = n * classes;
    const float *logits = call->logits + at, *t = call->targets->values + at;
    const float *rlogits = call->rlogits + at, *rt = call->rtargets ? call->rtargets + at : NULL;
    float temperature = call->loss->temperature;
    struct normaliser of_logits = normaliser(logits, classes, temperature);
    double moved = mean_under(logits, classes, temperature, of_logits, rlogits);
    struct kl_targets targets = kl_targets(call, logits, t, rlogits, rt, of_logits, moved);

    for (size_t v = 0; v < classes; v++) {
        double log_p = log_softmax(logits, v, temperature, of_logits);
        double log_q = log_softmax(t, v, temperature, targets.normaliser), q = exp(log_q);
        double rlog_p = tangent_of(rlogits, v, temperature) - moved;
        double rlog_q = tangent_of(rt, v, temperature) - targets.moved;

        if (call->dlogits)
            call->dlogits[at + v] = (float)(s / temperature * (exp(log_p) * rlog_p - q * rlog_q));
        if (call->dtargets)
            call->dtargets[at + v] = (float)(s / temperature *
                                             (q * rlog_q * (log_q - log_p - targets.m) +
                                              q * (rlog_q - rlog_p - targets.moved_m)));
    }
}

/* Labels and soft targets: q is given; soft targets may have a tangent of their own. */
static void linear_tangent_sample(const struct loss_call *call, size_t n, float s)
{
    size_t classes = call->classes, at = n * classes;
    bool soft = call->loss->kind == LOSS_SOFT;
    const float *logits = call->logits + at, *rlogits = call->rlogits + at;
    const float *rq = soft && call->rtargets ? call->rtargets + at : NULL;
    float temperature = call->loss->temperature;
    struct normaliser of_logits = normaliser(logits, classes, temperature);
    double moved = mean_under(logits, classes, temperature, of_logits, rlogits);
    double total = soft ? sum_of(call->targets->values + at, classes) : 1.0;
    double total_moved = rq ? sum_of(rq, classes) : 0.0;

    for (size_t v = 0; v < classes; v++) {
        double p = exp((double)log_softmax(logits, v, temperature, of_logits));
        double rlog_p = tangent_of(rlogits, v, temperature) - moved;

        if (call->dlogits)
            call->dlogits[at + v] =
                (float)(s / temperature *
                        (p * rlog_p * total + p * total_moved - (rq ? (double)rq[v] : 0.0)));
        if (call->dtargets)
            call->dtargets[at + v] = (float)(-s * rlog_p);
    }
}

static void tangent_task(void *context, size_t task, unsigned worker)
{
    struct loss_call *call = context;
    float s = call->loss->scale / (float)call->count;

    (void)worker;
    for (size_t n = task * call->samples; n < task_end(call, task); n++) {
        if (call->loss->kind == LOSS_KL)
            kl_tangent_sample(call, n, s);
        else
            linear_tangent_sample(call, n, s);
    }
}

void loss_tangent(const struct loss *loss, size_t count, size_t classes, const float *logits,
                  const struct targets *targets, const float *rlogits, const float *rtargets,
                  float *rdlogits, float *rdtargets)
{
    struct loss_call call = {.loss = loss,
                             .count = count,
                             .classes = classes,
                             .logits = logits,
                             .targets = targets,
                             .rlogits = rlogits,
                             .rtargets = rtargets,
                             .dlogits = rdlogits,
                             .dtargets = loss->kind == LOSS_LABELS ? NULL : rdtargets};

    run_tasks(&call, tangent_task);
}

size_t count_correct(size_t count, size_t classes, const float *logits, const int32_t *labels)
{
    size_t correct = 0;

    for (size_t n = 0; n < count; n++) {
        const float *row = logits + n * classes;
        size_t best = 0;

        for (size_t v = 1; v < classes; v++)
            best = row[v] > row[best] ? v : best;
        correct += best == (size_t)labels[n];
    }
    return correct;
}
