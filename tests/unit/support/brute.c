#include "support/brute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double brute_distance(const float *s, size_t length, size_t start, const float *x, size_t steps,
                      size_t window)
{
    double least = INFINITY;

    for (size_t j = 0; j + length <= steps; j++) {
        double sum = 0;

        if ((j > start ? j - start : start - j) > window)
            continue;
        for (size_t t = 0; t < length; t++)
            sum += ((double)s[t] - x[j + t]) * ((double)s[t] - x[j + t]);
        least = fmin(least, sqrt(sum));
    }
    return least;
}

/* H(Y) of the series for which side[i] == which (or all, for which -1). */
static double entropy(const int32_t *labels, const int *side, int which, size_t count,
                      size_t classes, int32_t positive, size_t *members)
{
    double h = 0;

    *members = 0;
    for (size_t i = 0; i < count; i++)
        *members += which < 0 || side[i] == which;
    for (size_t v = 0; v < classes; v++) {
        size_t n = 0;

        for (size_t i = 0; i < count; i++) {
            size_t label = positive < 0 ? (size_t)labels[i] : labels[i] != positive;

            n += label == v && (which < 0 || side[i] == which);
        }
        if (n)
            h -= (double)n / (double)*members * log2((double)n / (double)*members);
    }
    return h;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

struct brute_split brute_best_split(const double *distances, const int32_t *labels, size_t count,
                                    size_t classes, int32_t positive)
{
    struct brute_split best = {0};
    double *sorted = malloc(count * sizeof *sorted);
    int *side = malloc(count * sizeof *side);

    classes = positive < 0 ? classes : 2;
    memcpy(sorted, distances, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    for (size_t k = 0; k + 1 < count; k++) {
        size_t near, far, all;
        double gain;

        if (sorted[k + 1] - sorted[k] <= 1e-6 * sorted[k + 1])
            continue;
        for (size_t i = 0; i < count; i++)
            side[i] = distances[i] <= (sorted[k] + sorted[k + 1]) / 2;
        gain = entropy(labels, side, -1, count, classes, positive, &all);
        gain -= entropy(labels, side, 1, count, classes, positive, &near) * (double)near /
                (double)count;
        gain -=
            entropy(labels, side, 0, count, classes, positive, &far) * (double)far / (double)count;
        if (gain > best.gain + 1e-9)
            best = (struct brute_split){.gain = gain, .low = sorted[k], .high = sorted[k + 1]};
    }
    free(sorted);
    free(side);
    return best;
}

/* ---- The diverse choice ---- */

struct choice {
    const struct dataset *dataset;
    size_t classes, present;
    size_t *members;     /* (V,) */
    int *answers;        /* (candidates, N): 1 on the near side */
    double *probability; /* (N, V) of each class, by the answers to the questions chosen so far */
};

static void ask_all(struct choice *choice, const struct scored_candidate *candidates, size_t count,
                    const struct select_measure *measure)
{
    const struct dataset *dataset = choice->dataset;

    for (size_t c = 0; c < count; c++) {
        const struct scored_candidate *found = &candidates[c];
        const float *values = dataset_series(dataset, found->source, found->channel) + found->start;

        for (size_t i = 0; i < dataset->count; i++) {
            double distance = brute_distance(values, found->length, found->start,
                                             dataset_series(dataset, i, found->channel),
                                             dataset->length, measure->window);

            distance /= measure->length_normalised ? sqrt((double)found->length) : 1;
            choice->answers[c * dataset->count + i] = distance <= (double)found->threshold;
        }
    }
}

/* ---- Other qualities ---- */

static size_t group_of(int32_t label, int32_t positive)
{
    return positive < 0 ? (size_t)label : label != positive;
}

static bool less(double a, double b)
{
    return a < b - 1e-6 * (1 + fabs(b));
}

/* Total sum of squares = that between the classes + that within them. */
static double brute_f(const double *distances, const size_t *groups, size_t count)
{
    double mean = 0, total = 0, within = 0, classes = 0;

    for (size_t i = 0; i < count; i++)
        mean += distances[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double sum = 0, members = 0, first = 1;

        for (size_t j = 0; j < count; j++)
            if (groups[j] == groups[i]) {
                sum += distances[j];
                members++;
                first = j < i ? 0 : first;
            }
        classes += first;
        total += (distances[i] - mean) * (distances[i] - mean);
        within += (distances[i] - sum / members) * (distances[i] - sum / members);
    }
    if (classes < 2 || (double)count <= classes || total <= 0)
        return 0;
    return (total - within) / (classes - 1) / (within / ((double)count - classes));
}

/* The variance of the mean ranks of the classes over that of all ranks. */
static double brute_kruskal_wallis(const double *distances, const size_t *groups, size_t count)
{
    double *ranks = calloc(count, sizeof *ranks);
    double middle = ((double)count + 1) / 2, between = 0, total = 0;

    for (size_t i = 0; i < count; i++) {
        double below = 0, equal = 0;

        for (size_t j = 0; j < count; j++) {
            below += less(distances[j], distances[i]);
            equal += !less(distances[j], distances[i]) && !less(distances[i], distances[j]);
        }
        ranks[i] = below + (equal + 1) / 2;
        total += (ranks[i] - middle) * (ranks[i] - middle);
    }
    for (size_t i = 0; i < count; i++) {
        double sum = 0, members = 0;

        for (size_t j = 0; j < count; j++)
            if (groups[j] == groups[i]) {
                sum += ranks[j];
                members++;
            }
        between += (sum / members - middle) * (sum / members - middle);
    }
    free(ranks);
    return total > 0 ? ((double)count - 1) * between / total : 0;
}

static double brute_mood(const double *distances, const size_t *groups, size_t count,
                         size_t classes)
{
    double above_all = 0, sum = 0, low = 0, high = 0;

    /* The median: the mean of those with half of the others on either side. */
    for (size_t i = 0; i < count; i++) {
        size_t below = 0, equal = 0;

        for (size_t j = 0; j < count; j++) {
            below += distances[j] < distances[i];
            equal += distances[j] == distances[i];
        }
        if (below <= (count - 1) / 2 && (count - 1) / 2 < below + equal)
            low = distances[i];
        if (below <= count / 2 && count / 2 < below + equal)
            high = distances[i];
    }
    for (size_t i = 0; i < count; i++)
        above_all += less((low + high) / 2, distances[i]);
    for (size_t v = 0; v < classes && above_all > 0; v++)
        for (int above = 0; above < 2; above++) {
            double observed = 0, members = 0, expected;

            for (size_t i = 0; i < count; i++)
                if (groups[i] == v) {
                    members++;
                    observed += less((low + high) / 2, distances[i]) == above;
                }
            expected = members * (above ? above_all : (double)count - above_all) / (double)count;
            if (members > 0)
                sum += (observed - expected) * (observed - expected) / expected;
        }
    return sum;
}

double brute_quality(size_t quality, const double *distances, const int32_t *labels, size_t count,
                     size_t classes, int32_t positive)
{
    size_t *groups = calloc(count, sizeof *groups);
    double result = 0;

    for (size_t i = 0; i < count; i++)
        groups[i] = group_of(labels[i], positive);
    if (strcmp(slp_quality_names[quality], "gain") == 0)
        result = brute_best_split(distances, labels, count, classes, positive).gain;
    else if (strcmp(slp_quality_names[quality], "f") == 0)
        result = brute_f(distances, groups, count);
    else if (strcmp(slp_quality_names[quality], "kruskal-wallis") == 0)
        result = brute_kruskal_wallis(distances, groups, count);
    else
        result = brute_mood(distances, groups, count, positive < 0 ? classes : 2);
    free(groups);
    return result;
}

/* Information gain of a question when series i weighs weights[i]. */
static double weighted_gain(const struct choice *choice, const int *answers, const double *weights)
{
    const struct dataset *dataset = choice->dataset;
    double total = 0, gain = 0;

    for (size_t i = 0; i < dataset->count; i++)
        total += weights[i];
    for (int side = -1; side < 2; side++) {
        double of_side = 0, entropy = 0;

        for (size_t i = 0; i < dataset->count; i++)
            of_side += side < 0 || answers[i] == side ? weights[i] : 0;
        for (size_t v = 0; v < choice->classes; v++) {
            double of_class = 0;

            for (size_t i = 0; i < dataset->count; i++)
                if ((size_t)dataset->y[i] == v && (side < 0 || answers[i] == side))
                    of_class += weights[i];
            if (of_class > 0)
                entropy -= of_class / of_side * log2(of_class / of_side);
        }
        gain += side < 0 ? entropy : -of_side / total * entropy;
    }
    return gain;
}

/* Bayes' rule with the answers to one more question. */
static void learn(struct choice *choice, const int *answers)
{
    const struct dataset *dataset = choice->dataset;

    for (size_t i = 0; i < dataset->count; i++) {
        double *p = choice->probability + i * choice->classes, sum = 0;

        for (size_t v = 0; v < choice->classes; v++) {
            double same = 1;

            for (size_t j = 0; j < dataset->count; j++)
                same += (size_t)dataset->y[j] == v && answers[j] == answers[i];
            p[v] *= same / ((double)choice->members[v] + 2);
            sum += p[v];
        }
        for (size_t v = 0; v < choice->classes; v++)
            p[v] /= sum;
    }
}

/* The share of the series on which two questions agree, or one and the other's opposite. */
static double likeness(const int *a, const int *b, size_t count)
{
    size_t same = 0;

    for (size_t i = 0; i < count; i++)
        same += a[i] == b[i];
    return (double)(2 * same > count ? same : count - same) / (double)count;
}

/* The best candidate that agrees with no chosen one on more than `limit` of the series, is of no
 * class with `share` of the chosen, and overlaps no chosen one; `count` if there is none. */
static size_t best_left(const struct choice *choice, const struct scored_candidate *candidates,
                        size_t count, const size_t *chosen, size_t chosen_count, double limit,
                        size_t share)
{
    const struct dataset *dataset = choice->dataset;
    double *weights = calloc(dataset->count, sizeof *weights), most = -1;
    size_t best = count;

    for (size_t i = 0; i < dataset->count; i++)
        weights[i] = (1 - choice->probability[i * choice->classes + (size_t)dataset->y[i]]) /
                     (double)choice->members[dataset->y[i]];
    for (size_t c = 0; c < count; c++) {
        const struct scored_candidate *one = &candidates[c];
        size_t of_class = 0;
        int refused = 0;
        double gain;

        for (size_t k = 0; k < chosen_count; k++) {
            const struct scored_candidate *other = &candidates[chosen[k]];

            of_class += other->label == one->label;
            refused |= other->source == one->source && other->start < one->start + one->length &&
                       one->start < other->start + other->length;
            refused |=
                likeness(choice->answers + c * dataset->count,
                         choice->answers + chosen[k] * dataset->count, dataset->count) > limit;
        }
        if (refused || of_class >= share)
            continue;
        gain = weighted_gain(choice, choice->answers + c * dataset->count, weights);
        if (gain > most + 1e-12) {
            most = gain;
            best = c;
        }
    }
    free(weights);
    return best;
}

size_t brute_diverse(const struct scored_candidate *candidates, size_t count, size_t k,
                     const struct select_measure *measure, struct scored_candidate *chosen)
{
    static const double limits[] = {0.95, 0.98, 1};
    struct choice choice = {.dataset = measure->dataset, .classes = measure->dataset->classes};
    size_t *taken = calloc(k, sizeof *taken), filled = 0, series = choice.dataset->count;

    choice.members = calloc(choice.classes, sizeof *choice.members);
    choice.answers = calloc(count * series + 1, sizeof *choice.answers);
    choice.probability = calloc(series * choice.classes, sizeof *choice.probability);
    ask_all(&choice, candidates, count, measure);
    for (size_t i = 0; i < series; i++)
        choice.present += choice.members[choice.dataset->y[i]]++ == 0;
    for (size_t i = 0; i < series * choice.classes; i++)
        choice.probability[i] =
            choice.members[i % choice.classes] ? 1.0 / (double)choice.present : 0;
    for (; filled < k; filled++) {
        size_t share = (k - 1) / choice.present + 1, best = count;

        for (int any_class = 0; any_class < 2 && best == count; any_class++)
            for (int limit = 0; limit < 3 && best == count; limit++)
                best = best_left(&choice, candidates, count, taken, filled, limits[limit],
                                 any_class ? k : share);
        if (best == count)
            break;
        taken[filled] = best;
        chosen[filled] = candidates[best];
        learn(&choice, choice.answers + best * series);
    }
    free(choice.members);
    free(choice.answers);
    free(choice.probability);
    free(taken);
    return filled;
}
