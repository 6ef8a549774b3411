#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "shapelets/discover.h"
#include "shapelets/lengths.h"
#include "shapelets/transform.h"
#include "support/brute.h"

/* Series of noise to which each class adds its own bump at its own place, with a constant series, a
 * copy and, in the last class, a single member. */
static void make_set(size_t count, size_t channels, size_t length, size_t classes, uint64_t seed,
                     struct dataset *dataset)
{
    struct random_stream stream = random_stream(seed, RANDOM_TEST, 0);

    assert_ok(dataset_new(count, channels, length, classes, false, dataset));
    for (size_t i = 0; i < count; i++) {
        dataset->y[i] = (int32_t)(i == 1 ? classes - 1 : i % (classes - 1));
        for (size_t c = 0; c < channels; c++)
            for (size_t t = 0; t < length; t++) {
                double middle =
                    (double)(dataset->y[i] + 1) * (double)length / (double)(classes + 1);
                double far = ((double)t - middle) / 2;

                dataset_series(dataset, i, c)[t] =
                    (float)(random_normal(&stream) + 2 * exp(-far * far));
            }
    }
    for (size_t t = 0; t < channels * length; t++) {
        dataset->x[2 * channels * length + t] = 0.5F;
        dataset->x[4 * channels * length + t] = dataset->x[3 * channels * length + t];
    }
}

static struct discover_options defaults(const size_t *lengths, size_t count)
{
    return (struct discover_options){
        .lengths = lengths, .length_count = count, .start_step = 1, .window = 3, .k = 5};
}

/* Score of one candidate by brute force. */
static struct brute_split brute_score(const struct dataset *dataset,
                                      const struct discover_options *options,
                                      const struct scored_candidate *candidate)
{
    double *distances = calloc(dataset->count, sizeof *distances);
    const float *values =
        dataset_series(dataset, candidate->source, candidate->channel) + candidate->start;
    struct brute_split split;

    for (size_t i = 0; i < dataset->count; i++)
        distances[i] = brute_distance(values, candidate->length, candidate->start,
                                      dataset_series(dataset, i, candidate->channel),
                                      dataset->length, options->window);
    split = brute_best_split(distances, dataset->y, dataset->count, dataset->classes,
                             options->one_against_rest ? candidate->label : -1);
    split.gain = brute_quality(options->quality, distances, dataset->y, dataset->count,
                               dataset->classes, options->one_against_rest ? candidate->label : -1);
    free(distances);
    return split;
}

/* All candidates of a channel by brute force, sorted and without overlaps. */
static size_t brute_candidates(const struct dataset *dataset,
                               const struct discover_options *options, size_t channel,
                               struct scored_candidate *all)
{
    size_t total = 0;

    for (size_t i = 0; i < dataset->count; i++) {
        size_t first = total;

        for (size_t k = 0; k < options->length_count; k++)
            for (size_t start = 0; start + options->lengths[k] <= dataset->length;
                 start += options->start_step) {
                struct scored_candidate *found = &all[total++];
                struct brute_split split;

                *found = (struct scored_candidate){.channel = (uint32_t)channel,
                                                   .start = (uint32_t)start,
                                                   .length = (uint32_t)options->lengths[k],
                                                   .label = dataset->y[i],
                                                   .source = i};
                split = brute_score(dataset, options, found);
                found->quality = (float)split.gain;
                found->margin = (float)((split.high - split.low) / sqrt((double)found->length));
                found->threshold = (float)((split.low + split.high) / 2);
            }
        total = first + scored_keep_separate(all + first, total - first);
    }
    qsort(all, total, sizeof *all, scored_compare);
    return total;
}

static const struct scored_candidate *find(const struct scored_candidate *all, size_t count,
                                           const struct shapelet *shapelet)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].source == shapelet->source && all[i].start == shapelet->start &&
            all[i].length == shapelet->length)
            return &all[i];
    return NULL;
}

static void check_against_brute_force(const struct dataset *dataset,
                                      const struct discover_options *options)
{
    struct scored_candidate *all =
        calloc(dataset->count * dataset->length * options->length_count, sizeof *all);
    struct shapelet_pool pool;
    size_t at = 0;

    assert_ok(discover_shapelets(dataset, options, &pool, NULL));
    for (size_t c = 0; c < dataset->channels; c++) {
        size_t total = brute_candidates(dataset, options, c, all);

        for (size_t k = 0; k < options->k && k < total; k++, at++) {
            const struct shapelet *got = &pool.shapelets[at];
            const struct scored_candidate *same = find(all, total, got);
            double near = options->quality ? 1e-5 : 0; /* statistics have no upper limit */
            double scale = options->length_normalised ? sqrt((double)got->length) : 1;

            /* Its place, but for equals, and its own score. */
            assert_int_equal(got->channel, c);
            assert_non_null(same);
            assert_near(same->quality, all[k].quality, 1e-6 + near * all[k].quality);
            assert_near(same->margin, all[k].margin, 1e-5);
            assert_near(got->quality, same->quality, 1e-6 + near * same->quality);
            assert_near(got->threshold * scale, same->threshold, 1e-5);
            assert_int_equal(got->label, dataset->y[got->source]);
            assert_memory_equal(got->values, dataset_series(dataset, got->source, c) + got->start,
                                got->length * sizeof(float));
        }
    }
    assert_int_equal(at, pool.count);
    free(all);
    slp_free(&pool);
}

static void test_top_pools_equal_brute_force(void **state)
{
    static const size_t windows[] = {0, 1, 4, DISCOVER_FULL};
    size_t lengths[] = {2, 5, 16};

    (void)state;
    for (size_t run = 0; run < 16; run++) {
        struct discover_options options = defaults(lengths, 3);
        struct dataset dataset;

        make_set(14 + run, 1 + run % 3, 16, 2 + run % 3, run, &dataset);
        options.window = windows[run % 4];
        options.start_step = 1 + run % 2;
        options.one_against_rest = run % 3 == 0;
        options.length_normalised = run % 5 == 0;
        check_against_brute_force(&dataset, &options);
        dataset_free(&dataset);
    }
}

static void pools_of_every_quality_equal_brute_force(void **state)
{
    size_t lengths[] = {3, 7};

    (void)state;
    for (size_t run = 0; run < 12; run++) {
        struct discover_options options = defaults(lengths, 2);
        struct discover_report report;
        struct shapelet_pool pool;
        struct dataset dataset;

        make_set(20 + run, 1 + run % 2, 14, 2 + run % 3, 100 + run, &dataset);
        options.quality = run % 4;
        options.one_against_rest = run / 4 % 2;
        check_against_brute_force(&dataset, &options);
        assert_ok(discover_shapelets(&dataset, &options, &pool, &report));
        assert_int_equal(pool.quality, run % 4);
        /* Without bounds every distance is measured. */
        if (options.quality)
            assert_int_equal(report.distances, report.candidates * dataset.count);
        slp_free(&pool);
        dataset_free(&dataset);
    }
}

/* Starts and lengths that are multiples of a few steps, in series that are not. */
static void test_pools_of_coarser_candidates_equal_brute_force(void **state)
{
    static const size_t windows[] = {0, 2, 7, DISCOVER_FULL};
    static const size_t factors[] = {2, 4, 5};

    (void)state;
    for (size_t run = 0; run < 12; run++) {
        size_t factor = factors[run % 3], lengths[] = {factor, 2 * factor, 4 * factor};
        struct discover_options options = defaults(lengths, 3);
        struct dataset dataset;

        make_set(14 + run, 1 + run % 2, 4 * factor + 1 + run, 2 + run % 3, run, &dataset);
        options.window = windows[run / 3];
        options.start_step = factor;
        options.one_against_rest = run % 2;
        check_against_brute_force(&dataset, &options);
        dataset_free(&dataset);
    }
}

static void test_all_candidates_when_k_is_larger(void **state)
{
    size_t lengths[] = {5, 6};
    struct discover_options options = defaults(lengths, 2);
    struct dataset dataset;

    (void)state;
    make_set(9, 1, 12, 3, 5, &dataset);
    options.k = SIZE_MAX / 2;
    check_against_brute_force(&dataset, &options);
    dataset_free(&dataset);
}

static void assert_same_pool(const struct shapelet_pool *a, const struct shapelet_pool *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; k++) {
        struct shapelet x = a->shapelets[k], y = b->shapelets[k];

        assert_int_equal(x.length, y.length);
        assert_memory_equal(x.values, y.values, x.length * sizeof(float));
        x.values = y.values;
        assert_memory_equal(&x, &y, sizeof x);
    }
}

/* Many series, so that candidates are dropped in every way. */
static void test_dropping_and_threads_do_not_change_the_pool(void **state)
{
    static const unsigned threads[] = {1, 2, 7};
    static const size_t lengths[] = {4, 7}, even[] = {4, 8};

    (void)state;
    for (size_t run = 0; run < 12; run++) {
        bool coarse = run >= 6;
        struct discover_options options = defaults(coarse ? even : lengths, 2);
        struct shapelet_pool expected;
        struct discover_report whole, dropped = {0};
        struct dataset dataset;

        make_set(350, 1, 20, 4, 20 + run, &dataset);
        options.selection = (enum selection)(run % 3);
        options.one_against_rest = run / 3 % 2;
        options.start_step = coarse ? 2 : 1;
        options.keep_all = true;
        assert_ok(discover_shapelets(&dataset, &options, &expected, &whole));
        assert_int_equal(whole.distances, 350 * 350 * (coarse ? 9 + 7 : 17 + 14));
        options.keep_all = false;
        for (size_t i = 0; i < 3; i++) {
            struct shapelet_pool pool;

            parallel_set_threads(threads[i]);
            assert_ok(discover_shapelets(&dataset, &options, &pool, &dropped));
            assert_same_pool(&expected, &pool);
            /* A diverse choice needs many. */
            if (options.selection != SELECT_DIVERSE)
                assert_true(dropped.sorted < whole.sorted / 2);
            assert_true(dropped.distances <= whole.distances);
            slp_free(&pool);
        }
        parallel_set_threads(0);
        slp_free(&expected);
        dataset_free(&dataset);
    }
}

static void test_candidates_are_dropped_before_the_end(void **state)
{
    size_t lengths[] = {6};
    struct discover_options options = defaults(lengths, 1);
    struct discover_report report;
    struct shapelet_pool pool;
    struct dataset dataset;

    (void)state;
    make_set(800, 1, 30, 2, 1, &dataset);
    for (size_t i = 0; i < dataset.count; i++)
        for (size_t t = 10; t < 16; t++)
            dataset_series(&dataset, i, 0)[t] += dataset.y[i] ? 30.0F : 0;
    for (size_t i = 0; i < dataset.count; i += 2) {
        dataset.y[i] = 1;
        for (size_t t = 10; t < 16; t++)
            dataset_series(&dataset, i, 0)[t] += 30;
    }
    assert_ok(discover_shapelets(&dataset, &options, &pool, &report));
    assert_true(report.distances < report.candidates * dataset.count * 9 / 10);
    slp_free(&pool);
    dataset_free(&dataset);
}

static void test_class_selection_gives_every_class_its_share(void **state)
{
    size_t lengths[] = {4, 7}, shares[4] = {0};
    struct discover_options options = defaults(lengths, 2);
    struct shapelet_pool pool;
    struct dataset dataset;

    (void)state;
    make_set(61, 1, 20, 4, 9, &dataset);
    options.selection = SELECT_CLASS;
    options.k = 14;
    assert_ok(discover_shapelets(&dataset, &options, &pool, NULL));
    assert_int_equal(pool.count, 14);
    for (size_t k = 0; k < pool.count; k++)
        shares[pool.shapelets[k].label]++;
    /* The one series of class 3 has room for at most five that do not overlap. */
    assert_in_range(shares[3], 1, 5);
    for (size_t v = 0; v < 3; v++)
        assert_in_range(shares[v], 3, 5);
    slp_free(&pool);
    dataset_free(&dataset);
}

/* All candidates of a channel by brute force, sorted; without those that the lists of a diverse
 * choice have no room for, and overlapping ones of the same list. */
static size_t brute_lists(const struct dataset *dataset, const struct discover_options *options,
                          size_t channel, struct scored_candidate *all)
{
    size_t counts[8] = {0}, total = 0, kept = 0;
    struct scored_candidate *list = calloc(dataset->count * dataset->length * 3, sizeof *list);
    struct select_plan plan;

    dataset_class_counts(dataset, counts);
    plan = select_plan(SELECT_DIVERSE, options->k, counts, dataset->classes, dataset->length);
    for (size_t i = 0; i < dataset->count; i++)
        for (size_t k = 0; k < options->length_count; k++)
            for (size_t start = 0; start + options->lengths[k] <= dataset->length; start++) {
                struct scored_candidate *found = &all[total++];
                double root = sqrt((double)options->lengths[k]);
                struct brute_split split;

                *found = (struct scored_candidate){.channel = (uint32_t)channel,
                                                   .start = (uint32_t)start,
                                                   .length = (uint32_t)options->lengths[k],
                                                   .label = dataset->y[i],
                                                   .source = i};
                split = brute_score(dataset, options, found);
                found->quality = (float)split.gain;
                found->margin = (float)((split.high - split.low) / root);
                found->threshold =
                    (float)((split.low + split.high) / 2 / (options->length_normalised ? root : 1));
            }
    qsort(all, total, sizeof *all, scored_compare);
    for (size_t i = 0; i < plan.lists; i++) {
        size_t count = 0;

        for (size_t c = 0; c < total; c++)
            if (select_list(&plan, &all[c]) == i)
                list[count++] = all[c];
        count = scored_keep_separate(list, count);
        count = count < plan.capacity ? count : plan.capacity;
        memcpy(all + total + kept, list, count * sizeof *list);
        kept += count;
    }
    memmove(all, all + total, kept * sizeof *all);
    qsort(all, kept, sizeof *all, scored_compare);
    free(list);
    return kept;
}

/* Scores, lists and the choice itself, however candidates are scored and compared. */
static void test_a_diverse_pool_is_the_one_that_brute_force_chooses(void **state)
{
    static const size_t windows[] = {2, 0, DISCOVER_FULL};
    size_t lengths[] = {3, 6};

    (void)state;
    for (size_t run = 0; run < 8; run++) {
        struct discover_options options = defaults(lengths, 2);
        struct scored_candidate *all, *chosen;
        struct shapelet_pool pool;
        struct dataset dataset;
        size_t at = 0;

        make_set(70 + run, 1 + run % 2, 16, 3 + run % 3, 40 + run, &dataset);
        options.selection = SELECT_DIVERSE;
        options.k = run % 4 == 3 ? 40 : 9;
        options.window = windows[run % 3];
        options.one_against_rest = run % 2;
        options.length_normalised = run / 2 % 2;
        all = calloc(2 * dataset.count * dataset.length * 2, sizeof *all);
        chosen = calloc(options.k, sizeof *chosen);
        assert_ok(discover_shapelets(&dataset, &options, &pool, NULL));
        for (size_t c = 0; c < dataset.channels; c++) {
            struct select_measure measure = {&dataset, options.window, options.length_normalised};
            size_t total = brute_lists(&dataset, &options, c, all);
            size_t count = brute_diverse(all, total, options.k, &measure, chosen);

            for (size_t k = 0; k < count; k++, at++) {
                assert_in_range(at, 0, pool.count - 1);
                assert_int_equal(pool.shapelets[at].source, chosen[k].source);
                assert_int_equal(pool.shapelets[at].start, chosen[k].start);
                assert_int_equal(pool.shapelets[at].length, chosen[k].length);
                assert_int_equal(pool.shapelets[at].channel, c);
            }
        }
        assert_int_equal(at, pool.count);
        free(all);
        free(chosen);
        slp_free(&pool);
        dataset_free(&dataset);
    }
}

/* Without the search: few candidates, so that nothing but copies and full classes is left; classes
 * without a series, which have no share. */
static void test_a_diverse_choice_takes_what_is_left_when_nothing_new_is(void **state)
{
    size_t lengths[] = {4, 5};

    (void)state;
    for (size_t run = 0; run < 6; run++) {
        struct discover_options options = defaults(lengths, 2);
        struct scored_candidate *all, *chosen, *expected;
        size_t total, count, expected_count, k = 20 + 10 * run;
        struct dataset dataset;

        make_set(40, 1, 12, 3, 60 + run, &dataset);
        dataset.classes += run % 3; /* the last ones have no series */
        options.length_normalised = run % 2;
        all = calloc(dataset.count * dataset.length * 2, sizeof *all);
        chosen = calloc(k, sizeof *chosen);
        expected = calloc(k, sizeof *expected);
        total = brute_candidates(&dataset, &options, 0, all);
        total = total < 50 ? total : 50;
        for (size_t i = 0; options.length_normalised && i < total; i++)
            all[i].threshold /= sqrtf((float)all[i].length);
        struct select_measure measure = {&dataset, options.window, options.length_normalised};
        expected_count = brute_diverse(all, total, k, &measure, expected);
        assert_ok(select_diverse(all, total, k, &measure, chosen, &count));
        assert_int_equal(count, expected_count);
        for (size_t i = 0; i < count; i++)
            assert_memory_equal(&chosen[i], &expected[i], sizeof *chosen);
        free(all);
        free(chosen);
        free(expected);
        dataset_free(&dataset);
    }
}

static void test_diverse_selection_refuses_near_copies(void **state)
{
    size_t lengths[] = {4, 7};
    struct discover_options options = defaults(lengths, 2);
    struct shapelet_pool pool;
    struct transform transform;
    struct dataset dataset;
    float *features;

    (void)state;
    make_set(200, 1, 24, 4, 10, &dataset);
    options.selection = SELECT_DIVERSE;
    options.k = 8;
    assert_ok(discover_shapelets(&dataset, &options, &pool, NULL));
    assert_int_equal(pool.count, 8);
    assert_ok(transform_make(&pool, 1, 24, TRANSFORM_AS_FOUND, &transform));
    features = calloc(dataset.count * pool.count, sizeof *features);
    transform_forward(&transform, dataset.x, dataset.count, features, NULL);
    for (size_t a = 0; a < pool.count; a++)
        for (size_t b = 0; b < a; b++) {
            size_t same = 0;

            for (size_t i = 0; i < dataset.count; i++)
                same += (features[i * 8 + a] <= pool.shapelets[a].threshold) ==
                        (features[i * 8 + b] <= pool.shapelets[b].threshold);
            assert_in_range(same, 10, 190);
        }
    free(features);
    transform_free(&transform);
    slp_free(&pool);
    dataset_free(&dataset);
}

static void test_bad_input_is_refused(void **state)
{
    size_t lengths[] = {4, 21}, wrong[] = {5, 4};
    struct discover_options options = defaults(lengths, 2);
    struct shapelet_pool pool;
    struct dataset dataset;

    (void)state;
    make_set(20, 1, 20, 3, 11, &dataset);
    assert_fails("candidates of 21 steps are longer than the series (20 steps)",
                 discover_shapelets(&dataset, &options, &pool, NULL));
    options.length_count = 0;
    assert_fails("no candidate lengths", discover_shapelets(&dataset, &options, &pool, NULL));
    options = defaults(wrong, 2);
    assert_fails("ascending", discover_shapelets(&dataset, &options, &pool, NULL));
    options = defaults(lengths, 1);
    memset(dataset.y, 0, dataset.count * sizeof *dataset.y);
    assert_fails("the 20 series have 1 class", discover_shapelets(&dataset, &options, &pool, NULL));
    dataset_free(&dataset);
}

static void test_a_window_wider_than_the_series_is_a_full_scan(void **state)
{
    size_t lengths[] = {4};
    struct discover_options options = defaults(lengths, 1);
    struct shapelet_pool wide, full;
    struct dataset dataset;

    (void)state;
    make_set(40, 1, 20, 3, 12, &dataset);
    options.window = 100;
    assert_ok(discover_shapelets(&dataset, &options, &wide, NULL));
    options.window = DISCOVER_FULL;
    assert_ok(discover_shapelets(&dataset, &options, &full, NULL));
    for (size_t k = 0; k < wide.count; k++)
        wide.shapelets[k].window = SLP_WINDOW_FULL;
    assert_same_pool(&wide, &full);
    slp_free(&wide);
    slp_free(&full);
    dataset_free(&dataset);
}

static void test_default_lengths_fit_the_series(void **state)
{
    size_t lengths[5];

    (void)state;
    assert_int_equal(discover_default_lengths(100, lengths), 5);
    assert_int_equal(lengths[0], 10);
    assert_int_equal(lengths[4], 30);
    for (size_t steps = 1; steps < 300; steps++) {
        size_t count = discover_default_lengths(steps, lengths);

        assert_in_range(count, 1, 5);
        assert_true(lengths[count - 1] <= steps);
        assert_in_range(discover_default_window(steps), 1, 50);
    }
}

static void check_lengths(const char *text, const size_t *expected, size_t count)
{
    size_t *lengths, got;

    assert_ok(lengths_parse(text, &lengths, &got));
    assert_int_equal(got, count);
    assert_memory_equal(lengths, expected, count * sizeof *lengths);
    free(lengths);
}

static void test_lengths_are_lists_and_ranges(void **state)
{
    static const char *const wrong[] = {"",      "a",    "0",   "3,", "3,,4", "5-3", "3-",
                                        "3-9:0", "3-9:", "3;4", "-3", "3 ,4", "+3",  "99999999999"};
    size_t *lengths, count;

    (void)state;
    check_lengths("7", (size_t[]){7}, 1);
    check_lengths("14,18,22,26", (size_t[]){14, 18, 22, 26}, 4);
    check_lengths("10-30:5", (size_t[]){10, 15, 20, 25, 30}, 5);
    check_lengths("9,3-5,4-8:2", (size_t[]){3, 4, 5, 6, 8, 9}, 6);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails("is not a list of lengths", lengths_parse(wrong[i], &lengths, &count));
    assert_fails("more than", lengths_parse("1-4000000000", &lengths, &count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_pools_equal_brute_force),
        cmocka_unit_test(pools_of_every_quality_equal_brute_force),
        cmocka_unit_test(test_pools_of_coarser_candidates_equal_brute_force),
        cmocka_unit_test(test_all_candidates_when_k_is_larger),
        cmocka_unit_test(test_dropping_and_threads_do_not_change_the_pool),
        cmocka_unit_test(test_candidates_are_dropped_before_the_end),
        cmocka_unit_test(test_class_selection_gives_every_class_its_share),
        cmocka_unit_test(test_a_diverse_pool_is_the_one_that_brute_force_chooses),
        cmocka_unit_test(test_a_diverse_choice_takes_what_is_left_when_nothing_new_is),
        cmocka_unit_test(test_diverse_selection_refuses_near_copies),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_a_window_wider_than_the_series_is_a_full_scan),
        cmocka_unit_test(test_default_lengths_fit_the_series),
        cmocka_unit_test(test_lengths_are_lists_and_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
