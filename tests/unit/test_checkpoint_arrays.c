#include "support/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "nn/backend.h"
#include "nn/checkpoint.h"

static void more_arrays_than_there_is_room_for_are_an_error(void **state)
{
    float values[2] = {1, 2};
    struct checkpoint checkpoint = {
        .kind = "test", .network = "none", .fingerprint = "0", .backend = backend_cpu()};
    char progress[CHECKPOINT_PROGRESS], path[] = "/tmp/sc-checkpoint-XXXXXX";
    bool found;

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    for (int i = 0; i < CHECKPOINT_ARRAYS; i++)
        checkpoint_add(&checkpoint, "array", values, 2);
    assert_int_equal(checkpoint.count, CHECKPOINT_ARRAYS);
    for (int i = 0; i < 3; i++)
        checkpoint_add(&checkpoint, "more", values, 2);
    assert_fails("has room for 10 arrays, not for 13",
                 checkpoint_write(path, &checkpoint, "step=1"));
    assert_fails("has room for 10 arrays, not for 13",
                 checkpoint_read(path, &checkpoint, progress, &found));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_arrays_than_there_is_room_for_are_an_error),
    };

    return cmocka_run_group_tests_name("checkpoint_arrays", tests, NULL, NULL);
}
