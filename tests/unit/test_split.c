#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/split.h"

static struct split_options sizes_of(const char *train, const char *val, const char *test)
{
    struct split_options options = {.seed = 3};
    const char *texts[] = {train, val, test};

    for (int p = 0; p < SPLIT_PARTS; p++) {
        if (texts[p])
            assert_ok(split_parse_size(texts[p], &options.sizes[p]));
    }
    return options;
}

/* A dataset whose series tell their own number; class sizes as given, classes mixed. */
static void make_set(const size_t *counts, size_t classes, struct dataset *dataset)
{
    size_t total = 0, filled = 0, left[16];

    for (size_t v = 0; v < classes; v++)
        total += left[v] = counts[v];
    assert_ok(dataset_new(total, 1, 1, classes, false, dataset));
    for (size_t v = 0; filled < total; v = (v + 1) % classes) {
        if (left[v] == 0)
            continue;
        left[v]--;
        dataset->x[filled] = (float)filled;
        dataset->y[filled++] = (int32_t)v;
    }
}

static void sizes_are_fractions_counts_or_the_rest(void **state)
{
    struct split_size size;

    (void)state;
    assert_ok(split_parse_size("0.25", &size));
    assert_true(size.unit == SPLIT_FRACTION && size.fraction == 0.25);
    assert_ok(split_parse_size("1.0", &size));
    assert_true(size.unit == SPLIT_FRACTION && size.fraction == 1);
    assert_ok(split_parse_size(".5", &size));
    assert_true(size.unit == SPLIT_FRACTION && size.fraction == 0.5);
    assert_ok(split_parse_size("1", &size));
    assert_true(size.unit == SPLIT_COUNT && size.count == 1);
    assert_ok(split_parse_size("rest", &size));
    assert_true(size.unit == SPLIT_REST);
    assert_fails("between 0 and 1", split_parse_size("1.5", &size));
    assert_fails("between 0 and 1", split_parse_size("0.0", &size));
    assert_fails("between 0 and 1", split_parse_size("0.5x", &size));
    assert_fails("number of series", split_parse_size("0", &size));
    assert_fails("number of series", split_parse_size("12x", &size));
    assert_fails("number of series", split_parse_size("99999999999999999999999", &size));
    assert_fails("neither", split_parse_size("-3", &size));
    assert_fails("neither", split_parse_size("nan", &size));
    assert_fails("neither", split_parse_size("", &size));
}

static void fractions_that_add_up_to_one_use_every_series(void **state)
{
    size_t totals[SPLIT_PARTS];
    struct split_options options = sizes_of("0.6", "0.2", "0.2");

    (void)state;
    for (size_t count = 4; count < 3000; count++) {
        assert_ok(split_totals(&options, count, totals));
        assert_int_equal(totals[0] + totals[1] + totals[2], count);
        assert_true(fabs((double)totals[0] - 0.6 * (double)count) < 1);
        assert_true(fabs((double)totals[1] - 0.2 * (double)count) < 1);
        assert_true(fabs((double)totals[2] - 0.2 * (double)count) < 1);
    }
    options = sizes_of("0.1", "0.7", NULL);
    assert_ok(split_totals(&options, 1000, totals));
    assert_int_equal(totals[0], 100);
    assert_int_equal(totals[1], 700);
    assert_int_equal(totals[2], 0);
    options = sizes_of("0.333333333", "7", "rest");
    assert_ok(split_totals(&options, 30, totals));
    assert_int_equal(totals[0], 10);
    assert_int_equal(totals[1], 7);
    assert_int_equal(totals[2], 13);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    struct split_options options;
    size_t totals[SPLIT_PARTS];

    (void)state;
    options = sizes_of("0.6", "0.2", "0.21");
    assert_fails("more than 1", split_totals(&options, 100, totals));
    options = sizes_of("60", "41", NULL);
    assert_fails("val would be larger than what is left: 40 of 100",
                 split_totals(&options, 100, totals));
    options = sizes_of("rest", "rest", NULL);
    assert_fails("only one part", split_totals(&options, 100, totals));
    options = sizes_of("100", NULL, "rest");
    assert_fails("test would have none", split_totals(&options, 100, totals));
    options = sizes_of("0.01", NULL, "rest");
    assert_fails("train would have none", split_totals(&options, 20, totals));
}

/* Sums are exact and every share is the exact one rounded up or down. */
static void assert_shares(const size_t *counts, size_t classes, const size_t *totals)
{
    size_t shares[12 * SPLIT_PARTS], sums[SPLIT_PARTS] = {0}, total = 0;

    for (size_t v = 0; v < classes; v++)
        total += counts[v];
    assert_ok(split_shares(counts, classes, totals, shares));
    for (size_t v = 0; v < classes; v++) {
        size_t used = 0;

        for (size_t p = 0; p < SPLIT_PARTS; p++) {
            size_t share = shares[v * SPLIT_PARTS + p];
            double exact = (double)counts[v] * (double)totals[p] / (double)total;

            assert_true(fabs((double)share - exact) < 1);
            sums[p] += share;
            used += share;
        }
        assert_true(used <= counts[v]);
    }
    assert_memory_equal(sums, totals, sizeof sums);
}

static void shares_add_up_and_stay_within_one_series(void **state)
{
    /* A dataset where squares alone would lead astray. */
    const size_t hard_counts[] = {13, 13, 15, 14}, hard_totals[] = {11, 13, 14};
    struct random_stream stream = random_stream(1, RANDOM_TEST, 0);

    (void)state;
    assert_shares(hard_counts, 4, hard_totals);
    for (int trial = 0; trial < 5000; trial++) {
        size_t classes = 1 + (size_t)random_below(&stream, 12), counts[12], total = 0;
        size_t totals[SPLIT_PARTS], left;

        /* Large enough that train holds every class by its share already. */
        for (size_t v = 0; v < classes; v++)
            total += counts[v] = 40 + (size_t)random_below(&stream, 200);
        left = total;
        for (size_t p = 0; p < SPLIT_PARTS; p++) {
            totals[p] = total / 20 + (size_t)random_below(&stream, left / 2 - total / 20);
            left -= totals[p];
        }
        assert_shares(counts, classes, totals);
    }
}

static void small_classes_go_to_train_first(void **state)
{
    const size_t counts[] = {1, 2, 1, 0, 96}, totals[] = {25, 37, 38};
    size_t shares[5 * SPLIT_PARTS], many[20], many_shares[20 * SPLIT_PARTS];
    const size_t few[] = {4, 8, 8};

    (void)state;
    assert_ok(split_shares(counts, 5, totals, shares));
    for (size_t v = 0; v < 5; v++)
        assert_int_equal(shares[v * SPLIT_PARTS] > 0, counts[v] > 0);
    assert_int_equal(shares[0 * SPLIT_PARTS] + shares[2 * SPLIT_PARTS], 2);
    /* Where train has no room for all, the sizes still come out. */
    for (size_t v = 0; v < 20; v++)
        many[v] = 1;
    assert_ok(split_shares(many, 20, few, many_shares));
    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        size_t sum = 0;

        for (size_t v = 0; v < 20; v++)
            sum += many_shares[v * SPLIT_PARTS + p];
        assert_int_equal(sum, few[p]);
    }
}

/* The one series of test comes from the largest class, though to get there one has to leave train
 * for the rest: the sum of squares from the exact shares is 1.43, and 1.56 where a smaller class
 * gives it directly. */
static void a_series_takes_the_way_that_costs_least(void **state)
{
    const size_t counts[] = {7, 5, 3}, totals[] = {12, 0, 1};
    const size_t expected[] = {5, 0, 1, 4, 0, 0, 3, 0, 0};
    size_t shares[3 * SPLIT_PARTS];

    (void)state;
    assert_ok(split_shares(counts, 3, totals, shares));
    assert_memory_equal(shares, expected, sizeof expected);
}

static void every_series_is_in_one_part_and_in_file_order(void **state)
{
    const size_t counts[] = {50, 7, 0, 23};
    struct split_options options = sizes_of("0.5", "0.25", "0.25"), other;
    bool seen[80] = {false}, differs = false;
    struct dataset dataset;
    struct split split, again;

    (void)state;
    make_set(counts, 4, &dataset);
    assert_ok(split_make(&dataset, &options, &split));
    for (size_t p = 0; p < SPLIT_PARTS; p++) {
        for (size_t k = 0; k < split.counts[p]; k++) {
            assert_true(k == 0 || split.indices[p][k] > split.indices[p][k - 1]);
            assert_false(seen[split.indices[p][k]]);
            seen[split.indices[p][k]] = true;
        }
    }
    assert_int_equal(split.counts[0] + split.counts[1] + split.counts[2], 80);
    /* The seed decides. */
    other = options;
    assert_ok(split_make(&dataset, &other, &again));
    assert_memory_equal(split.indices[0], again.indices[0], 40 * sizeof(size_t));
    split_free(&again);
    other.seed++;
    assert_ok(split_make(&dataset, &other, &again));
    for (size_t k = 0; k < 40; k++)
        differs |= split.indices[0][k] != again.indices[0][k];
    assert_true(differs);
    split_free(&again);
    split_free(&split);
    dataset_free(&dataset);
}

static void in_order_takes_the_first_of_each_class(void **state)
{
    const size_t counts[] = {10, 20};
    struct split_options options = sizes_of("0.5", NULL, "0.3");
    size_t last[2] = {0}, taken[2] = {0};
    struct dataset dataset;
    struct split split;

    (void)state;
    options.in_order = true;
    make_set(counts, 2, &dataset);
    assert_ok(split_make(&dataset, &options, &split));
    for (size_t k = 0; k < split.counts[SPLIT_TRAIN]; k++) {
        size_t i = split.indices[SPLIT_TRAIN][k];

        last[dataset.y[i]] = i;
        taken[dataset.y[i]]++;
    }
    assert_int_equal(taken[0], 5);
    assert_int_equal(taken[1], 10);
    for (size_t i = 0; i < dataset.count; i++) {
        if (i <= last[dataset.y[i]])
            taken[dataset.y[i]]--; /* all before the last one taken are taken */
    }
    assert_int_equal(taken[0], 0);
    assert_int_equal(taken[1], 0);
    assert_int_equal(split.counts[SPLIT_VAL], 0);
    assert_int_equal(split.counts[SPLIT_TEST], 9);
    for (size_t k = 0; k < 9; k++)
        assert_true(split.indices[SPLIT_TEST][k] > last[dataset.y[split.indices[SPLIT_TEST][k]]]);
    split_free(&split);
    dataset_free(&dataset);
}

/* A dataset of 4 series in each group; a class may be without series. */
static void make_groups(const size_t *counts, size_t classes, struct dataset *dataset)
{
    make_set(counts, classes, dataset);
    assert_ok(dataset_add_groups(dataset));
    for (size_t i = 0; i < dataset->count; i++)
        dataset->groups[i] = (int32_t)(i / 4);
}

static void a_class_without_series_does_not_keep_groups_together(void **state)
{
    const size_t counts[] = {40, 0, 40};
    struct split_options options = sizes_of("0.5", NULL, "0.5");
    struct dataset dataset;
    struct split split;

    (void)state;
    options.by_group = true;
    make_groups(counts, 3, &dataset);
    assert_ok(split_make(&dataset, &options, &split));
    assert_int_equal(split.counts[SPLIT_TRAIN], 40);
    assert_int_equal(split.counts[SPLIT_TEST], 40);
    split_free(&split);
    dataset_free(&dataset);
}

static void groups_with_numbers_far_above_those_of_series_are_refused(void **state)
{
    const size_t counts[] = {10, 10};
    struct split_options options = sizes_of("0.5", NULL, "0.5");
    struct dataset dataset;
    struct split split;

    (void)state;
    options.by_group = true;
    make_groups(counts, 2, &dataset);
    dataset.groups[7] = 16 * 20 + 1024;
    assert_fails("group 1344 among 20 series: groups are numbered from 0",
                 split_make(&dataset, &options, &split));
    dataset.groups[7]--;
    assert_ok(split_make(&dataset, &options, &split));
    split_free(&split);
    dataset_free(&dataset);
}

/* Each series of a class is equally likely to be drawn. */
static void the_draw_is_fair(void **state)
{
    const size_t counts[] = {10};
    struct split_options options = sizes_of("3", NULL, NULL);
    size_t drawn[10] = {0};
    struct dataset dataset;

    (void)state;
    make_set(counts, 1, &dataset);
    for (options.seed = 0; options.seed < 5000; options.seed++) {
        struct split split;

        assert_ok(split_make(&dataset, &options, &split));
        for (size_t k = 0; k < 3; k++)
            drawn[split.indices[SPLIT_TRAIN][k]]++;
        split_free(&split);
    }
    for (size_t i = 0; i < 10; i++)
        assert_in_range(drawn[i], 1340, 1660); /* 1500, five standard deviations */
    dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_fractions_counts_or_the_rest),
        cmocka_unit_test(fractions_that_add_up_to_one_use_every_series),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(shares_add_up_and_stay_within_one_series),
        cmocka_unit_test(a_series_takes_the_way_that_costs_least),
        cmocka_unit_test(small_classes_go_to_train_first),
        cmocka_unit_test(every_series_is_in_one_part_and_in_file_order),
        cmocka_unit_test(in_order_takes_the_first_of_each_class),
        cmocka_unit_test(a_class_without_series_does_not_keep_groups_together),
        cmocka_unit_test(groups_with_numbers_far_above_those_of_series_are_refused),
        cmocka_unit_test(the_draw_is_fair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
