#include "support/check.h"

#include <math.h>

#include "eval/metrics.h"

/* Three classes of 4, 2 and 0 series; class 2 is predicted once. */
static const float scores[] = {
    9, 1, 0, /* 0 -> 0 */
    9, 1, 0, /* 0 -> 0 */
    1, 1, 0, /* 0 -> 0: a tie goes to the first */
    1, 5, 0, /* 0 -> 1 */
    1, 5, 0, /* 1 -> 1 */
    1, 2, 8, /* 1 -> 2 */
};
static const int32_t labels[] = {0, 0, 0, 0, 1, 1};

static void confusion_counts_true_against_predicted(void **state)
{
    static const size_t expected[] = {3, 1, 0, 0, 1, 1, 0, 0, 0};
    size_t confusion[9];

    (void)state;
    metrics_confusion(scores, labels, 6, 3, confusion);
    assert_memory_equal(confusion, expected, sizeof confusion);
}

/* By hand: F1 of class 0 is 2*3/(4+3), of class 1 2*1/(2+2), of class 2 0. */
static void scores_are_those_worked_out_by_hand(void **state)
{
    size_t confusion[9];

    (void)state;
    metrics_confusion(scores, labels, 6, 3, confusion);
    assert_near(metrics_accuracy(confusion, 3), 4.0 / 6, 1e-15);
    assert_near(metrics_recall(confusion, 3, 0), 0.75, 1e-15);
    assert_near(metrics_recall(confusion, 3, 1), 0.5, 1e-15);
    assert_true(isnan(metrics_recall(confusion, 3, 2)));
    assert_near(metrics_macro_f1(confusion, 3), (6.0 / 7 + 0.5 + 0) / 3, 1e-15);
}

static void classes_that_play_no_part_do_not_count(void **state)
{
    static const size_t confusion[] = {2, 0, 0, 0, 1, 0, 0, 0, 0};

    (void)state;
    assert_near(metrics_macro_f1(confusion, 3), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(confusion_counts_true_against_predicted),
        cmocka_unit_test(scores_are_those_worked_out_by_hand),
        cmocka_unit_test(classes_that_play_no_part_do_not_count),
    };

    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
