#include "support/check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "data/prune.h"

/* 60 series of class 0, 30 of class 1, 1 of class 2, mixed. */
static void make_set(struct dataset *dataset)
{
    assert_ok(dataset_new(91, 1, 2, 3, false, dataset));
    for (size_t i = 0; i < 91; i++)
        dataset->y[i] = i == 40 ? 2 : i % 3 == 0;
}

static size_t choose(const struct dataset *dataset, struct prune_options options, bool *stays,
                     size_t counts[3])
{
    size_t *kept, count;

    counts[0] = counts[1] = counts[2] = 0;
    for (size_t i = 0; i < dataset->count; i++)
        stays[i] = false;
    assert_ok(prune_choose(dataset, &options, &kept, &count));
    for (size_t k = 0; k < count; k++) {
        assert_true(kept[k] < dataset->count && (k == 0 || kept[k] > kept[k - 1]));
        stays[kept[k]] = true;
        if (dataset->y)
            counts[dataset->y[kept[k]]]++;
    }
    free(kept);
    return count;
}

static void test_every_class_keeps_its_share(void **state)
{
    struct dataset dataset;
    bool stays[91];
    size_t counts[3];

    (void)state;
    make_set(&dataset);
    assert_int_equal(choose(&dataset, (struct prune_options){.ratio = 0}, stays, counts), 91);
    choose(&dataset, (struct prune_options){.ratio = 0.7}, stays, counts);
    assert_int_equal(counts[0], 18);
    assert_int_equal(counts[1], 9);
    assert_int_equal(counts[2], 1);
    choose(&dataset, (struct prune_options){.ratio = 0.5, .per_class = 12}, stays, counts);
    assert_int_equal(counts[0], 12);
    assert_int_equal(counts[1], 12);
    assert_int_equal(
        choose(&dataset, (struct prune_options){.ratio = 0.7, .overall = true}, stays, counts), 27);
    dataset_free(&dataset);
}

static void test_a_stronger_pruning_keeps_a_part_of_a_weaker(void **state)
{
    struct dataset dataset;
    bool weak[91], strong[91], other[91];
    size_t counts[3];

    (void)state;
    make_set(&dataset);
    for (int overall = 0; overall < 2; overall++) {
        bool same = true;

        choose(&dataset, (struct prune_options){.ratio = 0.4, .overall = overall, .seed = 3}, weak,
               counts);
        choose(&dataset, (struct prune_options){.ratio = 0.8, .overall = overall, .seed = 3},
               strong, counts);
        choose(&dataset, (struct prune_options){.ratio = 0.8, .overall = overall, .seed = 4}, other,
               counts);
        for (size_t i = 0; i < 91; i++) {
            assert_true(!strong[i] || weak[i]);
            same = same && strong[i] == other[i];
        }
        assert_false(same);
    }
    dataset_free(&dataset);
}

static void test_without_labels_only_the_whole_dataset_can_be_pruned(void **state)
{
    struct dataset dataset;
    struct prune_options options = {.ratio = 0.5};
    bool stays[91];
    size_t counts[3], *kept, count;
    int32_t *labels;

    (void)state;
    make_set(&dataset);
    labels = dataset.y;
    dataset.y = NULL;
    assert_fails("needs labels", prune_choose(&dataset, &options, &kept, &count));
    options.overall = true;
    assert_int_equal(choose(&dataset, options, stays, counts), 46);
    options.ratio = 1;
    assert_fails("--ratio must be at least 0 and below 1",
                 prune_choose(&dataset, &options, &kept, &count));
    dataset.y = labels;
    dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_class_keeps_its_share),
        cmocka_unit_test(test_a_stronger_pruning_keeps_a_part_of_a_weaker),
        cmocka_unit_test(test_without_labels_only_the_whole_dataset_can_be_pruned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
