#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zip.h>

#include "base/random.h"
#include "formats/export.h"
#include "formats/import.h"

/* Values of all sizes, soft labels, names and notes. */
static void make_set(size_t channels, struct dataset *dataset)
{
    static const char *const names[] = {"a", "b-c", "z\xc3\xbc"};
    struct random_stream random = random_stream(1, RANDOM_TEST, 1);

    assert_ok(dataset_new(20, channels, 7, 3, true, dataset));
    for (size_t i = 0; i < 20 * channels * 7; i++)
        dataset->x[i] =
            (float)(random_normal(&random) * pow(10, (double)random_below(&random, 60) - 30));
    for (size_t i = 0; i < 60; i++)
        dataset->soft[i] = (float)random_normal(&random);
    for (size_t i = 0; i < 20; i++)
        dataset->y[i] = (int32_t)random_below(&random, 3);
    dataset->names = malloc(3 * sizeof(char *) + 16);
    assert_non_null(dataset->names);
    for (char *next = (char *)(dataset->names + 3), **name = dataset->names;
         name < dataset->names + 3; name++) {
        *name = next;
        next = stpcpy(next, names[name - dataset->names]) + 1;
    }
    dataset->notes = strdup("sc-gen 1\nsc-prune 2");
}

static char *export_to_memory(struct error *(*export)(FILE *, const struct dataset *),
                              const struct dataset *dataset, size_t *size)
{
    char *bytes;
    FILE *stream = open_memstream(&bytes, size);

    assert_non_null(stream);
    assert_ok(export(stream, dataset));
    fclose(stream);
    return bytes;
}

static struct error *export_named_ts(FILE *stream, const struct dataset *dataset)
{
    return export_ts(stream, dataset, "my problem");
}

static void check_reads_back(const char *name, const char *bytes, size_t size,
                             const struct dataset *dataset, bool keep_missing)
{
    struct import_options options = {.missing =
                                         keep_missing ? IMPORT_MISSING_KEEP : IMPORT_MISSING_ERROR};
    struct dataset back;
    struct import *import;

    assert_ok(import_new(&options, &import));
    assert_ok(import_memory(import, name, bytes, size));
    assert_ok(import_finish(import, &back));
    assert_int_equal(back.count, dataset->count);
    assert_int_equal(back.channels, dataset->channels);
    assert_int_equal(back.length, dataset->length);
    for (size_t i = 0; i < dataset->count * dataset->channels * dataset->length; i++)
        assert_true(back.x[i] == dataset->x[i] || (isnan(back.x[i]) && isnan(dataset->x[i])));
    assert_memory_equal(back.y, dataset->y, dataset->count * sizeof *dataset->y);
    assert_int_equal(back.classes, dataset->classes);
    for (size_t i = 0; i < dataset->classes; i++)
        assert_string_equal(back.names[i], dataset->names[i]);
    dataset_free(&back);
    import_free(import);
}

static void ucr_text_reads_back_bit_for_bit(void **state)
{
    struct dataset dataset;
    char *bytes;
    size_t size;

    (void)state;
    make_set(1, &dataset);
    bytes = export_to_memory(export_ucr, &dataset, &size);
    check_reads_back("a.tsv", bytes, size, &dataset, false);
    free(bytes);
    dataset.x[3] = NAN;
    bytes = export_to_memory(export_ucr, &dataset, &size);
    check_reads_back("a.tsv", bytes, size, &dataset, true);
    assert_non_null(strstr(bytes, "\tNaN\t"));
    free(bytes);
    dataset_free(&dataset);
}

static void ts_text_reads_back_bit_for_bit(void **state)
{
    struct dataset dataset;
    char *bytes;
    size_t size;

    (void)state;
    for (size_t channels = 1; channels <= 3; channels += 2) {
        make_set(channels, &dataset);
        dataset.x[5] = NAN;
        bytes = export_to_memory(export_named_ts, &dataset, &size);
        check_reads_back("a.ts", bytes, size, &dataset, true);
        assert_non_null(strstr(bytes, "# sc-gen 1\n# sc-prune 2\n@problemName my_problem\n"));
        assert_non_null(strstr(bytes, "@missing true\n"));
        assert_non_null(strstr(bytes, channels == 1 ? "\n@univariate true\n@equalLength"
                                                    : "\n@univariate false\n@dimension 3\n"));
        assert_non_null(strstr(bytes, "@classLabel true a b-c z\xc3\xbc\n@data\n"));
        free(bytes);
        dataset_free(&dataset);
    }
}

static void sets_that_a_format_cannot_hold_are_refused(void **state)
{
    struct dataset dataset;
    FILE *null = fopen("/dev/null", "w");

    (void)state;
    assert_non_null(null);
    make_set(2, &dataset);
    assert_fails("UCR files hold one channel, this dataset has 2", export_ucr(null, &dataset));
    dataset.names[1][1] = ' ';
    assert_fails("class name 'b c' cannot be written to a .ts file",
                 export_ts(null, &dataset, "x"));
    dataset_free(&dataset);
    make_set(1, &dataset);
    dataset.names[1][1] = '\t';
    assert_fails("cannot be written to a UCR file", export_ucr(null, &dataset));
    dataset.names[1][1] = ' ';
    assert_ok(export_ucr(null, &dataset));
    strcpy(dataset.names[1], "NaN");
    assert_fails("class name 'NaN' cannot be written", export_ucr(null, &dataset));
    strcpy(dataset.names[1], "b ");
    assert_fails("class name 'b ' cannot be written", export_ucr(null, &dataset));
    strcpy(dataset.names[1], " b");
    assert_fails("class name ' b' cannot be written", export_ucr(null, &dataset));
    strcpy(dataset.names[1], "b");
    dataset.x[dataset.length + 1] = -INFINITY;
    assert_fails("series 1, channel 0, step 1: text cannot hold infinity",
                 export_ucr(null, &dataset));
    assert_fails("text cannot hold infinity", export_ts(null, &dataset, "x"));
    dataset.y = NULL;
    assert_fails("UCR files need labels", export_ucr(null, &dataset));
    dataset_free(&dataset);
    fclose(null);
}

/* ---- NPZ ---- */

static void read_member(zip_t *zip, const char *name, struct npy_array *array)
{
    struct npy_error error;
    npy_reader *reader;
    zip_file_t *file;
    zip_stat_t status;
    char *bytes;

    assert_int_equal(zip_stat(zip, name, 0, &status), 0);
    assert_int_equal(status.comp_method, ZIP_CM_STORE);
    bytes = malloc(status.size);
    file = zip_fopen(zip, name, 0);
    assert_non_null(file);
    assert_int_equal(zip_fread(file, bytes, status.size), status.size);
    zip_fclose(file);
    reader = npy_open_memory(bytes, status.size, &error);
    assert_int_equal(npy_next(reader, array, &error), 1);
    /* A copy that outlives the bytes. */
    if (array->kind == NPY_UNICODE) {
        char **strings = npy_strings(array, &error);

        array->data = strings;
    } else {
        char *copy = malloc(array->count * array->item_size);

        memcpy(copy, array->data, array->count * array->item_size);
        array->data = copy;
    }
    npy_close(reader);
    free(bytes);
}

static void check_member(zip_t *zip, const char *name, size_t ndim, size_t first, size_t count,
                         const void *expected)
{
    struct npy_array array;

    read_member(zip, name, &array);
    assert_int_equal(array.ndim, ndim);
    assert_int_equal(array.shape[0], first);
    assert_int_equal(array.count, count);
    assert_memory_equal(array.data, expected, 4 * count);
    free(array.data);
    array.data = NULL;
    npy_array_free(&array);
}

static void npz_holds_all_arrays_by_name(void **state)
{
    struct dataset dataset;
    struct npy_array array;
    zip_source_t *source;
    zip_error_t error;
    zip_t *zip;
    char *bytes;
    size_t size;

    make_set(2, &dataset);
    dataset.flat = *state != NULL;
    bytes = export_to_memory(export_npz, &dataset, &size);
    zip_error_init(&error);
    source = zip_source_buffer_create(bytes, size, 0, &error);
    zip = zip_open_from_source(source, ZIP_CHECKCONS | ZIP_RDONLY, &error);
    assert_non_null(zip);
    assert_int_equal(zip_get_num_entries(zip, 0), 5);
    check_member(zip, "X.npy", dataset.flat ? 2 : 3, 20, 20 * 2 * 7, dataset.x);
    check_member(zip, "y.npy", 1, 20, 20, dataset.y);
    check_member(zip, "soft.npy", 2, 20, 60, dataset.soft);
    read_member(zip, "classes.npy", &array);
    assert_int_equal(array.count, 3);
    assert_string_equal(((char **)array.data)[2], dataset.names[2]);
    free(array.data);
    npy_array_free(&array);
    read_member(zip, "notes.npy", &array);
    assert_int_equal(array.ndim, 0);
    assert_string_equal(((char **)array.data)[0], dataset.notes);
    free(array.data);
    npy_array_free(&array);
    zip_discard(zip);
    free(bytes);
    dataset_free(&dataset);
}

static void npz_has_the_same_bytes_at_any_time_and_place(void **state)
{
    static const char *const zones[] = {"UTC", "Asia/Tokyo", "America/New_York", "XXX-13:30"};
    struct dataset dataset;
    size_t size, other_size;
    char *bytes, *other;

    (void)state;
    make_set(1, &dataset);
    setenv("TZ", "UTC", 1);
    tzset();
    bytes = export_to_memory(export_npz, &dataset, &size);
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        setenv("TZ", zones[i], 1);
        tzset();
        other = export_to_memory(export_npz, &dataset, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(bytes, other, size);
        free(other);
    }
    free(bytes);
    dataset_free(&dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ucr_text_reads_back_bit_for_bit),
        cmocka_unit_test(ts_text_reads_back_bit_for_bit),
        cmocka_unit_test(sets_that_a_format_cannot_hold_are_refused),
        cmocka_unit_test(npz_holds_all_arrays_by_name),
        {"npz_of_a_flat_set_is_flat", npz_holds_all_arrays_by_name, NULL, NULL, &(int){1}},
        cmocka_unit_test(npz_has_the_same_bytes_at_any_time_and_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
