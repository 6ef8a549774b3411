#include "support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/dataset.h"
#include "formats/mapped.h"

static char path[] = "/tmp/sc-mapped-XXXXXX";

/* A dataset of more than a page. */
static int make_file(void **state)
{
    static float values[4000];
    const size_t shape[] = {2, 2000};
    int descriptor;
    FILE *stream;
    int failed;

    (void)state;
    strcpy(path + sizeof path - 7, "XXXXXX");
    descriptor = mkstemp(path);
    stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    failed = !stream || npy_write_data(stream, NPY_FLOAT, 4, 2, shape, values, NULL);
    return failed || fclose(stream);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void the_file_is_known_by_addresses_of_its_data_while_it_is_in_use(void **state)
{
    struct dataset dataset;
    const float *x;
    bool cut;

    (void)state;
    assert_ok(dataset_read(path, NULL, 0, &dataset));
    x = dataset.x;
    assert_string_equal(mapped_at(x, &cut), path);
    assert_string_equal(mapped_at(x + 3999, &cut), path);
    assert_false(cut);
    assert_null(mapped_at(x + 4000, &cut));
    assert_null(mapped_at(&dataset, &cut));
    assert_int_equal(truncate(path, 8000), 0);
    assert_string_equal(mapped_at(x, &cut), path);
    assert_true(cut);
    dataset_free(&dataset);
    assert_null(mapped_at(x, &cut));
}

/* In this order: what was found is not forgotten. */
static void a_file_that_is_replaced_or_removed_does_not_count_as_changed(void **state)
{
    struct dataset dataset;
    char other[64];
    FILE *stream;
    bool cut;

    (void)state;
    assert_ok(dataset_read(path, NULL, 0, &dataset));
    snprintf(other, sizeof other, "%s-new", path);
    stream = fopen(other, "wb");
    assert_non_null(stream);
    fclose(stream);
    assert_int_equal(rename(other, path), 0);
    assert_null(mapped_changed(&cut));
    dataset_free(&dataset);
    assert_null(mapped_changed(&cut));
}

static void a_file_that_was_written_to_is_remembered(void **state)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    struct dataset dataset;
    bool cut;

    (void)state;
    assert_ok(dataset_read(path, NULL, 0, &dataset));
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_string_equal(mapped_changed(&cut), path);
    assert_false(cut);
    dataset_free(&dataset);
    assert_string_equal(mapped_changed(&cut), path);
    assert_false(cut);
}

static void a_file_that_was_cut_off_is_remembered_before_others(void **state)
{
    struct dataset dataset;
    bool cut;

    (void)state;
    assert_ok(dataset_read(path, NULL, 0, &dataset));
    assert_int_equal(truncate(path, 16000), 0);
    assert_string_equal(mapped_changed(&cut), path);
    assert_true(cut);
    dataset_free(&dataset);
    assert_string_equal(mapped_changed(&cut), path);
    assert_true(cut);
}

int main(void)
{
#define WITH_A_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)
    const struct CMUnitTest tests[] = {
        WITH_A_FILE(a_file_that_is_replaced_or_removed_does_not_count_as_changed),
        WITH_A_FILE(a_file_that_was_written_to_is_remembered),
        WITH_A_FILE(a_file_that_was_cut_off_is_remembered_before_others),
        WITH_A_FILE(the_file_is_known_by_addresses_of_its_data_while_it_is_in_use),
    };

    return cmocka_run_group_tests_name("mapped", tests, NULL, NULL);
}
