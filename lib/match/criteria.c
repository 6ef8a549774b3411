#include "match/criteria.h"

#include <math.h>
#include <string.h>

/* Keeps rows without a gradient (dead units) from dividing by zero. */
static const double smallest = 1e-6;

/* 1 - r.s / (|r| |s| + smallest), and its gradient with respect to s. */
static double row_distance(size_t count, const float *real, const float *synthetic, float *out)
{
    double dot = 0, rr = 0, ss = 0, norm_r, norm_s, below, along;

    for (size_t i = 0; i < count; i++) {
        dot += (double)real[i] * synthetic[i];
        rr += (double)real[i] * real[i];
        ss += (double)synthetic[i] * synthetic[i];
    }
    norm_r = sqrt(rr);
    norm_s = sqrt(ss);
    below = norm_r * norm_s + smallest;
    along = norm_s > 0 ? dot * norm_r / (norm_s * below * below) : 0;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(along * synthetic[i] - real[i] / below);
    return 1 - dot / below;
}

double gradient_distance(const struct model *model, const float *real, const float *synthetic,
                         float *dsynthetic)
{
    const struct network *network = model->network;
    double sum = 0;

    memset(dsynthetic, 0, model->parameter_count * sizeof *dsynthetic);
    for (size_t tower = 0; tower < model->towers; tower++)
        for (size_t i = 0; i < network->parameter_views; i++) {
            const struct network_view *view = &network->parameters[i];
            size_t at = tower * network->parameter_count + view->offset;
            size_t rows = view->shape[0], width = view->count / rows;

            for (size_t row = 0; view->ndim > 1 && row < rows; row++, at += width)
                sum += row_distance(width, real + at, synthetic + at, dsynthetic + at);
        }
    return sum;
}

double mean_distance(size_t dimension, size_t real_count, const float *real, size_t synthetic_count,
                     const float *synthetic, float *dsynthetic)
{
    double sum = 0;

    for (size_t k = 0; k < dimension; k++) {
        double a = 0, b = 0, difference;

        for (size_t n = 0; n < real_count; n++)
            a += real[n * dimension + k];
        for (size_t n = 0; n < synthetic_count; n++)
            b += synthetic[n * dimension + k];
        difference = b / (double)synthetic_count - a / (double)real_count;
        sum += difference * difference;
        for (size_t n = 0; n < synthetic_count; n++)
            dsynthetic[n * dimension + k] = (float)(2 * difference / (double)synthetic_count);
    }
    return sum;
}
