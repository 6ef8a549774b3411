/* Losses on the device (loss.h, whose formulas these are): one thread for a sample, and one block
 * that adds up the samples in an order of its own.  They are computed here, and not on the host
 * from a copy of the logits, so that a step never waits for the host and can be captured as a
 * whole. */
#include "plugin.h"

/* What the kernels work on. */
struct loss_call {
    struct loss loss;
    size_t count, classes;
    const float *logits, *values; /* values: targets */
    const int32_t *labels;
    const float *rlogits, *rtargets;
    float *dlogits, *dtargets; /* or their tangents */
};

/* Largest value and the logarithm of sum exp((x - largest) / T). */
struct normaliser {
    float largest, log_sum;
};

DEVICE struct normaliser normaliser_of(const float *x, size_t classes, float temperature)
{
    struct normaliser out = {x[0], 0};
    double sum = 0;

    for (size_t v = 1; v < classes; v++)
        out.largest = x[v] > out.largest ? x[v] : out.largest;
    for (size_t v = 0; v < classes; v++)
        sum += expf((x[v] - out.largest) / temperature);
    out.log_sum = (float)log(sum);
    return out;
}

DEVICE float log_softmax(const float *x, size_t v, float temperature, struct normaliser n)
{
    return (x[v] - n.largest) / temperature - n.log_sum;
}

/* sum softmax(x/T) y / T. */
DEVICE double mean_under(const float *x, size_t classes, float temperature, struct normaliser n,
                         const float *y)
{
    double sum = 0;

    for (size_t v = 0; v < classes; v++)
        sum += expf(log_softmax(x, v, temperature, n)) * y[v];
    return sum / temperature;
}

DEVICE double sum_of(const float *x, size_t classes)
{
    double sum = 0;

    for (size_t v = 0; v < classes; v++)
        sum += x[v];
    return sum;
}

/* ---- Values ---- */

/* Classes and weights: q is the one at the label, or the weights. */
DEVICE double linear_sample(const struct loss_call *call, size_t n, float s)
{
    size_t at = n * call->classes;
    const float *logits = call->logits + at;
    float temperature = call->loss.temperature;
    bool soft = call->loss.kind == LOSS_SOFT;
    struct normaliser of_logits = normaliser_of(logits, call->classes, temperature);
    float total = soft ? (float)sum_of(call->values + at, call->classes) : 1.0f;
    double value = 0;

    for (size_t v = 0; v < call->classes; v++) {
        float log_p = log_softmax(logits, v, temperature, of_logits);
        float q = soft ? call->values[at + v] : v == (size_t)call->labels[n] ? 1.0f : 0.0f;

        if (soft || q > 0)
            value -= (double)q * log_p;
        if (call->dlogits)
            call->dlogits[at + v] = s / temperature * (expf(log_p) * total - q);
        if (call->dtargets)
            call->dtargets[at + v] = -s * log_p;
    }
    return value;
}

DEVICE double kl_sample(const struct loss_call *call, size_t n, float s)
{
    size_t at = n * call->classes;
    const float *logits = call->logits + at, *t = call->values + at;
    float temperature = call->loss.temperature;
    struct normaliser of_logits = normaliser_of(logits, call->classes, temperature);
    struct normaliser of_targets = normaliser_of(t, call->classes, temperature);
    double value = 0;

    for (size_t v = 0; v < call->classes; v++) {
        float log_p = log_softmax(logits, v, temperature, of_logits);
        float log_q = log_softmax(t, v, temperature, of_targets), q = expf(log_q);

        value += (double)q * (log_q - log_p);
        if (call->dlogits)
            call->dlogits[at + v] = s / temperature * (expf(log_p) - q);
    }
    for (size_t v = 0; call->dtargets && v < call->classes; v++) {
        float log_p = log_softmax(logits, v, temperature, of_logits);
        float log_q = log_softmax(t, v, temperature, of_targets);

        call->dtargets[at + v] = s / temperature * expf(log_q) * (log_q - log_p - (float)value);
    }
    return value;
}

KERNEL loss_kernel(struct loss_call call, double *samples)
{
    THREADS
    {
        float s = call.loss.scale / (float)call.count;

        for (EACH(n, call.count))
            samples[n] =
                call.loss.kind == LOSS_KL ? kl_sample(&call, n, s) : linear_sample(&call, n, s);
    }
}

/* One block: result[*index] = factor * sum of the values. */
KERNEL sum_kernel(size_t count, const double *values, double factor, double *result,
                  const size_t *index)
{
    SHARED double shared[LINE];

    PHASE
    {
        double sum = 0;

        for (size_t i = threadIdx.x; i < count; i += LINE)
            sum += values[i];
        shared[threadIdx.x] = sum;
    }
    PHASE
    {
        double sum = 0;

        if (threadIdx.x > 0)
            continue;
        for (int i = 0; i < LINE; i++)
            sum += shared[i];
        result[index ? *index : 0] = factor * sum;
    }
}

static void loss_value_on_device(const struct loss *loss, size_t count, size_t classes,
                                 const float *logits, const struct targets *targets, float *dlogits,
                                 float *dtargets, double *value, const size_t *index)
{
    struct loss_call call = {*loss,           count,   classes, logits,  targets->values,
                             targets->labels, nullptr, nullptr, dlogits, NULL};
    double *samples = (double *)cuda_scratch(SCRATCH_SUMS, count * sizeof *samples);

    if (!samples)
        return;
    if (loss->kind != LOSS_LABELS)
        call.dtargets = dtargets;
    LAUNCH(loss_kernel, along(count), LINE, call, samples);
    LAUNCH(sum_kernel, 1, LINE, count, (const double *)samples, loss->scale / (double)count, value,
           index);
}

/* ---- Tangents ---- */

DEVICE double tangent_of(const float *direction, size_t v, float temperature)
{
    return direction ? direction[v] / temperature : 0.0f;
}

DEVICE void linear_tangent(const struct loss_call *call, size_t n, float s)
{
    size_t at = n * call->classes;
    bool soft = call->loss.kind == LOSS_SOFT;
    const float *logits = call->logits + at, *rlogits = call->rlogits + at;
    const float *rq = soft && call->rtargets ? call->rtargets + at : NULL;
    float temperature = call->loss.temperature;
    struct normaliser of_logits = normaliser_of(logits, call->classes, temperature);
    double moved = mean_under(logits, call->classes, temperature, of_logits, rlogits);
    double total = soft ? sum_of(call->values + at, call->classes) : 1.0;
    double total_moved = rq ? sum_of(rq, call->classes) : 0.0;

    for (size_t v = 0; v < call->classes; v++) {
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

DEVICE void kl_tangent(const struct loss_call *call, size_t n, float s)
{
    size_t at = n * call->classes, classes = call->classes;
    const float *logits = call->logits + at, *t = call->values + at;
    const float *rlogits = call->rlogits + at, *rt = call->rtargets ? call->rtargets + at : NULL;
    float temperature = call->loss.temperature;
    struct normaliser of_logits = normaliser_of(logits, classes, temperature);
    struct normaliser of_targets = normaliser_of(t, classes, temperature);
    double moved = mean_under(logits, classes, temperature, of_logits, rlogits);
    double moved_t = rt ? mean_under(t, classes, temperature, of_targets, rt) : 0.0;
    double m = 0, moved_m = 0; /* m = sum q (log q - log p), and its tangent */

    for (size_t v = 0; v < classes; v++) {
        double log_q = log_softmax(t, v, temperature, of_targets), q = exp(log_q);
        double h = log_q - log_softmax(logits, v, temperature, of_logits);
        double rlog_q = tangent_of(rt, v, temperature) - moved_t;
        double rlog_p = tangent_of(rlogits, v, temperature) - moved;

        m += q * h;
        moved_m += q * rlog_q * h + q * (rlog_q - rlog_p);
    }
    for (size_t v = 0; v < classes; v++) {
        double log_p = log_softmax(logits, v, temperature, of_logits);
        double log_q = log_softmax(t, v, temperature, of_targets), q = exp(log_q);
        double rlog_p = tangent_of(rlogits, v, temperature) - moved;
        double rlog_q = tangent_of(rt, v, temperature) - moved_t;

        if (call->dlogits)
            call->dlogits[at + v] = (float)(s / temperature * (exp(log_p) * rlog_p - q * rlog_q));
        if (call->dtargets)
            call->dtargets[at + v] =
                (float)(s / temperature *
                        (q * rlog_q * (log_q - log_p - m) + q * (rlog_q - rlog_p - moved_m)));
    }
}

KERNEL loss_tangent_kernel(struct loss_call call)
{
    THREADS
    {
        float s = call.loss.scale / (float)call.count;

        for (EACH(n, call.count)) {
            if (call.loss.kind == LOSS_KL)
                kl_tangent(&call, n, s);
            else
                linear_tangent(&call, n, s);
        }
    }
}

static void loss_tangent_on_device(const struct loss *loss, size_t count, size_t classes,
                                   const float *logits, const struct targets *targets,
                                   const float *rlogits, const float *rtargets, float *rdlogits,
                                   float *rdtargets)
{
    struct loss_call call = {*loss,           count,   classes,  logits,   targets->values,
                             targets->labels, rlogits, rtargets, rdlogits, NULL};

    if (loss->kind != LOSS_LABELS)
        call.dtargets = rdtargets;
    LAUNCH(loss_tangent_kernel, along(count), LINE, call);
}

/* ---- Accuracy ---- */

KERNEL correct_kernel(size_t count, size_t classes, const float *logits, const int32_t *labels,
                      double *right)
{
    THREADS
    {
        for (EACH(n, count)) {
            const float *row = logits + n * classes;
            size_t best = 0;

            for (size_t v = 1; v < classes; v++)
                best = row[v] > row[best] ? v : best;
            right[n] = best == (size_t)labels[n] ? 1.0 : 0.0;
        }
    }
}

static void count_correct_on_device(size_t count, size_t classes, const float *logits,
                                    const int32_t *labels, double *correct)
{
    double *right = (double *)cuda_scratch(SCRATCH_SUMS, count * sizeof *right);

    if (!right)
        return;
    LAUNCH(correct_kernel, along(count), LINE, count, classes, logits, labels, right);
    LAUNCH(sum_kernel, 1, LINE, count, (const double *)right, 1.0, correct,
           (const size_t *)nullptr);
}

void cuda_fill_losses(struct backend *backend)
{
    backend->loss = loss_value_on_device;
    backend->loss_tangent = loss_tangent_on_device;
    backend->count_correct = count_correct_on_device;
}
