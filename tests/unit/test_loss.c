/* Losses of logits, with any temperature and scale, and their gradients against differences. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "nn/loss.h"

enum { MANY = 5000, FEW = 6, CLASSES = 4 };

static float *logits, *values;
static int32_t labels[MANY];

static int set_up(void **state)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);

    (void)state;
    logits = calloc(MANY * CLASSES, sizeof *logits);
    values = calloc(MANY * CLASSES, sizeof *values);
    for (size_t i = 0; i < MANY * CLASSES; i++) {
        logits[i] = (float)random_normal(&stream);
        values[i] = (float)random_normal(&stream);
        labels[i / CLASSES] = (int32_t)random_below(&stream, CLASSES);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(logits);
    free(values);
    return 0;
}

static double value_of(const struct loss *loss, size_t first, size_t count, float *dlogits)
{
    struct targets targets = {.labels = labels + first};

    if (loss->kind != LOSS_LABELS)
        targets = (struct targets){.values = values + first * CLASSES};
    return loss_value(loss, count, CLASSES, logits + first * CLASSES, &targets, dlogits, NULL);
}

static void gradients_are_slopes_at_any_temperature(void **state)
{
    static const enum loss_kind kinds[] = {LOSS_LABELS, LOSS_KL};

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct loss loss = {kinds[k], 2.5f, 3};
        float dlogits[FEW * CLASSES];

        value_of(&loss, 0, FEW, dlogits);
        for (size_t i = 0; i < FEW * CLASSES; i++) {
            float before = logits[i];
            double above, below;

            logits[i] = before + 0.01f;
            above = value_of(&loss, 0, FEW, NULL);
            logits[i] = before - 0.01f;
            below = value_of(&loss, 0, FEW, NULL);
            logits[i] = before;
            assert_near(dlogits[i], (above - below) / 0.02, 2e-4);
        }
    }
}

static void the_loss_of_many_samples_is_the_mean_of_parts(void **state)
{
    struct loss loss = {LOSS_LABELS, 1, 1};
    double sum = 0;

    (void)state;
    for (size_t first = 0; first < MANY; first += 1000)
        sum += value_of(&loss, first, 1000, NULL);
    assert_near(value_of(&loss, 0, MANY, NULL), sum / 5, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes_at_any_temperature),
        cmocka_unit_test(the_loss_of_many_samples_is_the_mean_of_parts),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
