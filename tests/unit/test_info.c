#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/info.h"
#include "data/summary.h"

/* These take the place of the C library's: the one with this number has no memory. */
static int failing_call, calls;

static bool fails_now(void)
{
    return failing_call && ++calls == failing_call;
}

char *strdup(const char *text)
{
    char *copy = fails_now() ? NULL : malloc(strlen(text) + 1);

    return copy ? strcpy(copy, text) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory;

    return fails_now() || posix_memalign(&memory, alignment, size) ? NULL : memory;
}

static void a_summary_is_that_of_the_definition(void **state)
{
    double values[2000], sum = 0, squares = 0;
    float floats[2000];
    struct summary doubles = {0}, singles = {0};

    (void)state;
    for (int i = 0; i < 2000; i++) {
        floats[i] = (float)(1e6 + sin(i));
        values[i] = (double)floats[i];
        sum += values[i];
    }
    for (int i = 0; i < 2000; i++)
        squares += (values[i] - sum / 2000) * (values[i] - sum / 2000);
    /* In pieces, or all at once. */
    for (int i = 0; i < 2000; i += 400)
        summary_add_doubles(&doubles, values + i, 400);
    summary_add(&singles, floats, 2000);
    assert_int_equal(doubles.count, 2000);
    assert_true(fabs(doubles.mean - sum / 2000) < 1e-9);
    assert_near(summary_deviation(&doubles), sqrt(squares / 2000), 1e-9);
    assert_near(summary_deviation(&singles), sqrt(squares / 2000), 1e-9);
    assert_near(singles.least, doubles.least, 0);
    assert_near(singles.greatest, 1000001, 1e-6);
}

static void what_is_not_finite_is_counted_and_left_out(void **state)
{
    const double values[] = {NAN, 3, INFINITY, 5, -INFINITY, NAN, NAN};
    struct summary summary = {0};

    (void)state;
    summary_add_doubles(&summary, values, 1);
    assert_int_equal(summary.count, 0);
    assert_true(isnan(summary_deviation(&summary)));
    summary_add_doubles(&summary, values + 1, 6);
    assert_int_equal(summary.count, 2);
    assert_int_equal(summary.nans, 3);
    assert_int_equal(summary.infinities, 2);
    assert_true(summary.least == 3 && summary.greatest == 5 && summary.mean == 4);
    assert_true(summary_deviation(&summary) == 1);
}

/* An NPY array with any header text, padded to 128 bytes. */
static size_t put_array(char *out, const char *type, const char *fortran, const char *shape,
                        const void *data, size_t size)
{
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\x01\0\x76\0", 10);
    sprintf(out + 10, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type, fortran, shape);
    out[strlen(out + 10) + 10] = ' ';
    out[127] = '\n';
    memcpy(out + 128, data, size);
    return 128 + size;
}

static void arrays_are_told_as_they_are_stored(void **state)
{
    /* (2, 1, 3) in Fortran order and big-endian: the series 1 2 3 and 4 5 NaN. */
    const unsigned char series[] = {0x3f, 0x80, 0, 0, 0x40, 0x80, 0, 0, 0x40, 0,    0, 0,
                                    0x40, 0xa0, 0, 0, 0x40, 0x40, 0, 0, 0x7f, 0xc0, 0, 0};
    const unsigned char labels[] = {1, 0};
    struct info info;
    char file[600];
    size_t size;

    (void)state;
    size = put_array(file, ">f4", "True", "(2, 1, 3)", series, sizeof series);
    size += put_array(file + size, "|u1", "False", "(2,)", labels, sizeof labels);
    assert_ok(info_read_memory(file, size, &info));
    assert_int_equal(info.kind, INFO_DATASET);
    assert_int_equal(info.array_count, 2);
    assert_string_equal(info.arrays[0].type, ">f4");
    assert_true(info.arrays[0].fortran);
    assert_string_equal(info.arrays[0].role, "series");
    assert_int_equal(info.arrays[0].shape[2], 3);
    assert_string_equal(info.arrays[1].type, "|u1");
    assert_false(info.arrays[1].fortran);
    assert_string_equal(info.arrays[1].role, "labels");
    assert_int_equal(info.dataset.classes, 2);
    assert_int_equal(info.class_counts[0], 1);
    assert_int_equal(info.all.nans, 1);
    assert_true(info.all.least == 1 && info.all.greatest == 5 && info.all.mean == 3);
    assert_int_equal(info.bytes, size);
    info_free(&info);
    info_free(&info);
}

static void lack_of_memory_is_an_error_and_no_reason_to_be_no_dataset(void **state)
{
    const double series[] = {1, 2, 3, 4};
    const uint32_t notes[] = {'n', 'o', 't', 'e'};
    struct error *error;
    struct info info;
    char file[600];
    size_t size;

    (void)state;
    size = put_array(file, "<f8", "False", "(2, 2)", series, sizeof series);
    size += put_array(file + size, "<U4", "False", "()", notes, sizeof notes);
    for (failing_call = 1;; failing_call++) {
        calls = 0;
        error = info_read_memory(file, size, &info);
        if (calls < failing_call)
            break;
        assert_fails("out of memory", error);
    }
    assert_ok(error);
    assert_int_equal(info.kind, INFO_DATASET);
    assert_true(failing_call > 3);
    failing_call = 0;
    info_free(&info);
}

static void what_is_no_dataset_is_shown_with_the_reason(void **state)
{
    const int16_t numbers[] = {-3, 9, 0, 2};
    const double wide[] = {1, 2, 3, 4};
    struct info info;
    char file[600];
    size_t size;

    (void)state;
    size = put_array(file, "<i2", "False", "(4,)", numbers, sizeof numbers);
    size += put_array(file + size, "<f8", "False", "(1, 2, 2, 1)", wide, sizeof wide);
    assert_ok(info_read_memory(file, size, &info));
    assert_int_equal(info.kind, INFO_ARRAYS);
    assert_non_null(strstr(info.reason, "(N, C, L)"));
    assert_true(info.arrays[0].summary.least == -3 && info.arrays[0].summary.greatest == 9);
    assert_true(info.arrays[1].summary.mean == 2.5);
    assert_string_equal(info.arrays[1].role, "array");
    info_free(&info);
    /* An array of nothing has no range. */
    size = put_array(file, "<f4", "False", "(0, 3)", numbers, 0);
    assert_ok(info_read_memory(file, size, &info));
    assert_int_equal(info.kind, INFO_ARRAYS);
    assert_int_equal(info.arrays[0].summary.count, 0);
    info_free(&info);
}

static char *pool_bytes(size_t *size)
{
    struct shapelet_pool pool;
    char *bytes;
    FILE *stream = open_memstream(&bytes, size);

    assert_ok(slp_new(2, 4, &pool));
    pool.channels = 2;
    pool.steps = 10;
    pool.classes = 3;
    pool.notes = strdup("first\nsecond");
    pool.shapelets[0] = (struct shapelet){
        .values = pool.values, .channel = 1, .start = 4, .length = 3, .label = 2, .window = 5};
    pool.shapelets[1] = (struct shapelet){.values = pool.values + 3,
                                          .length = 1,
                                          .label = -1,
                                          .window = SLP_WINDOW_FULL,
                                          .source = 5000000000,
                                          .quality = 0.5F,
                                          .threshold = 2};
    assert_ok(slp_write(stream, &pool));
    fclose(stream);
    slp_free(&pool);
    return bytes;
}

static void pools_are_recognised_and_notes_come_line_by_line(void **state)
{
    const char *line = NULL;
    size_t size, length = 0;
    char *bytes = pool_bytes(&size);
    struct info info;

    (void)state;
    assert_ok(info_read_memory(bytes, size, &info));
    assert_int_equal(info.kind, INFO_POOL);
    assert_int_equal(info.pool.shapelets[0].start, 4);
    assert_true(info_next_note(&info, &line, &length));
    assert_int_equal(length, 5);
    assert_memory_equal(line, "first", 5);
    assert_true(info_next_note(&info, &line, &length));
    assert_memory_equal(line, "second", 6);
    assert_false(info_next_note(&info, &line, &length));
    info_free(&info);
    free(bytes);
}

static void bad_files_are_refused(void **state)
{
    const float values[] = {1, 2, 3, 4};
    struct info info;
    char file[200], zip[] = "PK\3\4";
    size_t size = put_array(file, "<f4", "False", "(2, 2)", values, sizeof values), pool_size;
    char *pool = pool_bytes(&pool_size);

    (void)state;
    assert_fails("empty", info_read_memory(file, 0, &info));
    for (size_t cut = 1; cut < size; cut++)
        assert_fails("", info_read_memory(file, cut, &info));
    for (size_t cut = 1; cut < pool_size; cut++)
        assert_fails("", info_read_memory(pool, cut, &info));
    assert_fails("zip archive", info_read_memory(zip, sizeof zip, &info));
    assert_fails("neither NPY nor", info_read_memory("label\t1\t2\n", 10, &info));
    assert_fails("No such file", info_read("/nonexistent/file", &info));
    assert_fails("directory", info_read("/", &info));
    free(pool);
}

/* Whatever is in the file, both outputs can be written. */
static void both_outputs_hold_the_facts(void **state)
{
    size_t pool_size, text_size;
    char *pool = pool_bytes(&pool_size), *text;
    struct info info;
    FILE *stream;

    (void)state;
    assert_ok(info_read_memory(pool, pool_size, &info));
    stream = open_memstream(&text, &text_size);
    info_write_text(stream, &info, false);
    fclose(stream);
    assert_non_null(strstr(text, "2 shapelets\n"));
    assert_non_null(strstr(text, " 1       4       3       2       5         0 "));
    assert_non_null(strstr(text, " 0       0       1      -1    full 5000000000        0.5 "));
    assert_non_null(strstr(text, "made by   first\n          second\n"));
    free(text);
    stream = open_memstream(&text, &text_size);
    info_write_json(stream, &info);
    fclose(stream);
    assert_non_null(strstr(text, "{\"channel\": 1, \"start\": 4, \"length\": 3, \"class\": 2, "
                                 "\"window\": 5, \"source\": 0, \"gain\": 0, \"threshold\": 0}"));
    assert_non_null(strstr(text, "\"class\": null, \"window\": \"full\", \"source\": 5000000000, "
                                 "\"gain\": 0.5, \"threshold\": 2}"));
    free(text);
    info_free(&info);
    free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_is_that_of_the_definition),
        cmocka_unit_test(what_is_not_finite_is_counted_and_left_out),
        cmocka_unit_test(arrays_are_told_as_they_are_stored),
        cmocka_unit_test(lack_of_memory_is_an_error_and_no_reason_to_be_no_dataset),
        cmocka_unit_test(what_is_no_dataset_is_shown_with_the_reason),
        cmocka_unit_test(pools_are_recognised_and_notes_come_line_by_line),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(both_outputs_hold_the_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
