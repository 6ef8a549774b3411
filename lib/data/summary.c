/* Each piece is summarised by itself in two passes, then merged (Chan, Golub, LeVeque, "Updating
 * formulae and a pairwise algorithm for computing sample variances", 1979): no digits are lost
 * where the mean is large. */
#include "data/summary.h"

#include <math.h>

void summary_merge(struct summary *summary, const struct summary *other)
{
    const double before = (double)summary->count, added = (double)other->count;
    const double distance = other->mean - summary->mean;

    summary->nans += other->nans;
    summary->infinities += other->infinities;
    if (other->count == 0)
        return;
    if (summary->count == 0) {
        size_t nans = summary->nans, infinities = summary->infinities;

        *summary = *other;
        summary->nans = nans;
        summary->infinities = infinities;
        return;
    }
    summary->count += other->count;
    summary->mean += distance * (added / (before + added));
    summary->squares += other->squares + distance * distance * (before * added / (before + added));
    summary->least = fmin(summary->least, other->least);
    summary->greatest = fmax(summary->greatest, other->greatest);
}

void summary_add_doubles(struct summary *summary, const double *values, size_t count)
{
    struct summary piece = {.least = INFINITY, .greatest = -INFINITY};
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            piece.count++;
            sum += values[i];
            piece.least = values[i] < piece.least ? values[i] : piece.least;
            piece.greatest = values[i] > piece.greatest ? values[i] : piece.greatest;
        } else if (isnan(values[i])) {
            piece.nans++;
        } else {
            piece.infinities++;
        }
    }
    if (piece.count)
        piece.mean = sum / (double)piece.count;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]))
            piece.squares += (values[i] - piece.mean) * (values[i] - piece.mean);
    }
    summary_merge(summary, &piece);
}

void summary_add(struct summary *summary, const float *values, size_t count)
{
    enum { PIECE = 512 };
    double piece[PIECE];

    for (size_t i = 0; i < count; i += PIECE) {
        size_t size = count - i < PIECE ? count - i : PIECE;

        for (size_t j = 0; j < size; j++)
            piece[j] = (double)values[i + j];
        summary_add_doubles(summary, piece, size);
    }
}

double summary_deviation(const struct summary *summary)
{
    return summary->count ? sqrt(summary->squares / (double)summary->count) : NAN;
}
