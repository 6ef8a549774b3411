#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/dataset.h"

/* A small dataset with everything: 3 series, 2 channels, 4 steps, 2 classes. */
static void make_dataset(struct dataset *dataset)
{
    static const char *const names[] = {"no", "yes"};
    size_t pointers = 2 * sizeof(char *);

    assert_ok(dataset_new(3, 2, 4, 2, true, dataset));
    for (int i = 0; i < 24; i++)
        dataset->x[i] = (float)i / 8;
    for (int i = 0; i < 3; i++)
        dataset->y[i] = i % 2;
    for (int i = 0; i < 6; i++)
        dataset->soft[i] = (float)-i;
    dataset->names = malloc(pointers + 8);
    dataset->names[0] = strcpy((char *)dataset->names + pointers, names[0]);
    dataset->names[1] = strcpy((char *)dataset->names + pointers + 3, names[1]);
    dataset->notes = strdup("sc-test 1.0");
}

static void assert_same(const struct dataset *a, const struct dataset *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->x, b->x, a->count * a->channels * a->length * sizeof *a->x);
    assert_memory_equal(a->y, b->y, a->count * sizeof *a->y);
    assert_memory_equal(a->soft, b->soft, a->count * a->classes * sizeof *a->soft);
    for (size_t i = 0; i < a->classes; i++)
        assert_string_equal(a->names[i], b->names[i]);
    assert_string_equal(a->notes, b->notes);
}

static void what_was_written_is_read_back(void **state)
{
    struct dataset written, back;
    struct digest digest;
    char text[DIGEST_TEXT];
    size_t size;
    char *bytes;

    (void)state;
    make_dataset(&written);
    bytes = dataset_bytes(&written, &size);
    assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED, &back));
    assert_same(&written, &back);
    digest_start(&digest);
    digest_add(&digest, bytes, size);
    digest_finish(&digest, text);
    assert_string_equal(back.digest, text);
    dataset_free(&written);
    dataset_free(&back);
    free(bytes);
}

static void chosen_series_keep_everything_that_belongs_to_them(void **state)
{
    static const size_t chosen[] = {2, 0, 2};
    struct dataset all, taken;

    (void)state;
    make_dataset(&all);
    assert_ok(dataset_take(&all, chosen, 3, &taken));
    assert_int_equal(taken.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(dataset_series(&taken, i, 0), dataset_series(&all, chosen[i], 0),
                            8 * sizeof(float));
        assert_int_equal(taken.y[i], all.y[chosen[i]]);
        assert_memory_equal(taken.soft + 2 * i, all.soft + 2 * chosen[i], 2 * sizeof(float));
    }
    assert_string_equal(taken.names[1], "yes");
    assert_string_equal(taken.notes, "sc-test 1.0");
    dataset_free(&taken);
    /* Series without labels stay without; a flat dataset stays flat. */
    all.y = NULL;
    all.flat = true;
    assert_ok(dataset_take(&all, chosen, 2, &taken));
    assert_null(taken.y);
    assert_true(taken.flat);
    dataset_free(&all);
    dataset_free(&taken);
}

/* In any order, and one twice. */
static void picked_series_are_written_as_taken_ones_are(void **state)
{
    const size_t indices[] = {2, 0, 2, 1};
    struct dataset all, taken, picked;
    size_t taken_size, picked_size;
    char *taken_bytes, *picked_bytes;

    (void)state;
    make_dataset(&all);
    assert_ok(dataset_add_groups(&all));
    for (size_t i = 0; i < all.count; i++)
        all.groups[i] = (int32_t)(7 * i);
    assert_non_null(all.soft);
    assert_ok(dataset_take(&all, indices, 4, &taken));
    assert_ok(dataset_pick(&all, indices, 4, &picked));
    assert_null(picked.x);
    taken_bytes = dataset_bytes(&taken, &taken_size);
    picked_bytes = dataset_bytes(&picked, &picked_size);
    assert_int_equal(taken_size, picked_size);
    assert_memory_equal(taken_bytes, picked_bytes, taken_size);
    free(taken_bytes);
    free(picked_bytes);
    dataset_free(&taken);
    dataset_free(&picked);
    dataset_free(&all);
}

static struct error *count_up(void *context, size_t first, size_t count, float *x)
{
    size_t *calls = context;

    assert_int_equal(first, *calls * ((4 << 20) / sizeof(float) / 1000));
    for (size_t i = 0; i < count * 1000; i++)
        x[i] = (float)(first * 1000 + i);
    return ++*calls < 4 ? NULL : error_make("no more");
}

static void series_are_made_block_by_block_while_they_are_written(void **state)
{
    struct dataset made, read;
    size_t calls = 0, size;
    char *bytes;
    FILE *stream;

    (void)state;
    assert_ok(dataset_new_made(2500, 10, 100, 3, count_up, &calls, &made));
    bytes = dataset_bytes(&made, &size);
    assert_int_equal(calls, 3);
    assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED, &read));
    for (size_t i = 0; i < 2500 * 1000; i += 333)
        assert_true(read.x[i] == (float)i);
    dataset_free(&read);
    free(bytes);
    /* An error of what makes them ends the writing. */
    dataset_free(&made);
    assert_ok(dataset_new_made(5000, 10, 100, 3, count_up, &calls, &made));
    calls = 0;
    stream = fopen("/dev/null", "we");
    assert_non_null(stream);
    assert_fails("no more", dataset_write(stream, &made));
    fclose(stream);
    dataset_free(&made);
}

/* Every series once, in ranges of whole steps. */
static void a_walk_visits_every_series(void **state)
{
    struct dataset dataset = {.count = 100001, .channels = 3, .length = 50};
    struct dataset_walk walk = {.step = 7};
    size_t next = 0;

    (void)state;
    while (dataset_walk(&dataset, &walk)) {
        assert_int_equal(walk.first, next);
        assert_true(walk.count % 7 == 0 || walk.first + walk.count == dataset.count);
        next += walk.count;
    }
    assert_int_equal(next, dataset.count);
}

static void series_are_counted_by_their_class(void **state)
{
    static const int32_t labels[] = {2, 0, 2, 2, 0, 4};
    size_t counts[5];
    struct dataset dataset;

    (void)state;
    assert_ok(dataset_new(6, 1, 1, 5, false, &dataset));
    memcpy(dataset.y, labels, sizeof labels);
    dataset_class_counts(&dataset, counts);
    assert_memory_equal(counts, ((size_t[]){2, 0, 3, 0, 1}), sizeof counts);
    dataset_free(&dataset);
}

/* ---- Files put together by hand ---- */

struct file {
    FILE *stream;
    char *bytes;
    size_t size;
};

static void begin(struct file *file)
{
    file->stream = open_memstream(&file->bytes, &file->size);
    assert_non_null(file->stream);
}

static void add_zeros(struct file *file, enum npy_kind kind, size_t size, size_t ndim, size_t a,
                      size_t b, size_t c)
{
    const size_t shape[] = {a, b, c};
    struct npy_error error;
    struct npy_array array;

    assert_int_equal(npy_array_new(&array, kind, size, ndim, shape, &error), 0);
    assert_int_equal(npy_write(file->stream, &array, &error), 0);
    npy_array_free(&array);
}

static void add_ints(struct file *file, int32_t a, int32_t b, int32_t c)
{
    static const size_t shape[] = {3};
    const int32_t labels[] = {a, b, c};

    assert_int_equal(npy_write_data(file->stream, NPY_INT, 4, 1, shape, labels, NULL), 0);
}

static void add_names(struct file *file, size_t count)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    assert_int_equal(npy_write_strings(file->stream, names, 1, count, NULL), 0);
}

static struct error *end(struct file *file, unsigned flags, struct dataset *dataset)
{
    struct error *error;

    fclose(file->stream);
    error = dataset_read_memory(file->bytes, file->size, flags, dataset);
    free(file->bytes);
    return error;
}

static void parts_may_be_missing_and_types_may_vary(void **state)
{
    struct dataset dataset;
    struct file file;

    (void)state;
    begin(&file);
    add_zeros(&file, NPY_INT, 2, 2, 3, 5, 0);
    assert_ok(end(&file, 0, &dataset));
    assert_int_equal(dataset.count, 3);
    assert_int_equal(dataset.channels, 1);
    assert_int_equal(dataset.length, 5);
    assert_int_equal(dataset.classes, 0);
    assert_null(dataset.y);
    dataset_free(&dataset);

    begin(&file);
    add_zeros(&file, NPY_FLOAT, 2, 3, 3, 2, 5);
    add_zeros(&file, NPY_UINT, 1, 1, 3, 0, 0);
    add_names(&file, 4);
    assert_ok(end(&file, DATASET_LABELLED, &dataset));
    assert_int_equal(dataset.classes, 4); /* by the names, though only class 0 occurs */
    dataset_free(&dataset);

    begin(&file);
    add_zeros(&file, NPY_FLOAT, 8, 3, 3, 2, 5);
    add_ints(&file, 0, 4, 2);
    add_zeros(&file, NPY_FLOAT, 8, 2, 3, 7, 0);
    assert_ok(end(&file, DATASET_LABELLED, &dataset));
    assert_int_equal(dataset.classes, 7); /* by the soft labels */
    dataset_free(&dataset);
}

static void sets_that_make_no_sense_are_refused_with_the_reason(void **state)
{
    struct dataset dataset;
    struct file file;

    (void)state;
#define EXPECT(reason, flags, ...)                                                                 \
    do {                                                                                           \
        begin(&file);                                                                              \
        __VA_ARGS__;                                                                               \
        assert_fails(reason, end(&file, flags, &dataset));                                         \
    } while (0)
#define SERIES add_zeros(&file, NPY_FLOAT, 4, 3, 3, 1, 5)
    EXPECT("no labels", DATASET_LABELLED, SERIES);
    EXPECT("not (5,)", 0, add_zeros(&file, NPY_FLOAT, 4, 1, 5, 0, 0));
    EXPECT("no series", 0, add_zeros(&file, NPY_FLOAT, 4, 3, 0, 1, 5));
    EXPECT("no series", 0, add_zeros(&file, NPY_FLOAT, 4, 3, 3, 1, 0));
    EXPECT("holds text", 0, add_names(&file, 3));
    /* Names of no characters take no room in the file, but would in memory. */
    EXPECT("1073741824 class names are too many", 0, SERIES,
           add_zeros(&file, NPY_UNICODE, 0, 1, 1 << 30, 0, 0));
    EXPECT("array 2 of type <f4 and shape (3,) is not one of", 0, SERIES,
           add_zeros(&file, NPY_FLOAT, 4, 1, 3, 0, 0));
    EXPECT("4 labels for 3 series", 0, SERIES, add_zeros(&file, NPY_INT, 4, 1, 4, 0, 0));
    EXPECT("2 soft labels for 3 series", 0, SERIES, add_ints(&file, 0, 1, 0),
           add_zeros(&file, NPY_FLOAT, 4, 2, 2, 2, 0));
    EXPECT("soft labels of 3 classes, class names of 2", 0, SERIES, add_ints(&file, 0, 1, 0),
           add_zeros(&file, NPY_FLOAT, 4, 2, 3, 3, 0), add_names(&file, 2));
    EXPECT("label 2, but there are only 2 classes", 0, SERIES, add_ints(&file, 0, 2, 0),
           add_names(&file, 2));
    EXPECT("series 1 has the label -1", 0, SERIES, add_ints(&file, 0, -1, 0));
    EXPECT("series 2 has the label 2147483647", 0, SERIES, add_ints(&file, 0, 1, INT32_MAX));
    EXPECT("soft labels without labels", 0, SERIES, add_zeros(&file, NPY_FLOAT, 4, 2, 3, 2, 0));
    EXPECT(
        "array 4 of type <i4 and shape (3,) is not one of: labels (N,) and groups (N,) of integers",
        0, SERIES, add_ints(&file, 0, 0, 0), add_ints(&file, 0, 0, 0), add_ints(&file, 0, 0, 0));
    EXPECT("series 1 has the group -4", 0, SERIES, add_ints(&file, 0, 0, 0),
           add_ints(&file, 0, -4, 0));
    EXPECT("array 2 of type <f4 and shape (3, 1, 5)", 0, SERIES, SERIES);
#undef EXPECT
#undef SERIES
}

static void a_value_that_is_no_number_is_named(void **state)
{
    struct dataset dataset, back;
    size_t size;
    char *bytes;

    (void)state;
    make_dataset(&dataset);
    dataset_series(&dataset, 2, 1)[3] = NAN;
    bytes = dataset_bytes(&dataset, &size);
    assert_fails("series 2, channel 1, step 3: NaN", dataset_read_memory(bytes, size, 0, &back));
    assert_ok(dataset_read_memory(bytes, size, DATASET_ALLOW_NAN, &back));
    dataset_free(&back);
    free(bytes);
    dataset_series(&dataset, 2, 1)[3] = 0;
    dataset.soft[5] = INFINITY;
    bytes = dataset_bytes(&dataset, &size);
    assert_fails("soft labels hold", dataset_read_memory(bytes, size, 0, &back));
    free(bytes);
    dataset_free(&dataset);
}

/* Every cut either is an error or ends just after one of the five arrays. */
static void a_file_cut_anywhere_is_an_error(void **state)
{
    struct dataset dataset, back;
    size_t size, clean = 0;
    char *bytes;

    (void)state;
    make_dataset(&dataset);
    bytes = dataset_bytes(&dataset, &size);
    for (size_t cut = 0; cut < size; cut++) {
        char *part = malloc(cut + 1);
        struct error *error;

        memcpy(part, bytes, cut);
        error = dataset_read_memory(part, cut, 0, &back);
        clean += error == NULL;
        error_free(error);
        dataset_free(&back);
        free(part);
    }
    assert_int_equal(clean, 4);
    free(bytes);
    dataset_free(&dataset);
}

static void save(const char *path, enum npy_kind kind, size_t size, const size_t *shape,
                 size_t ndim, const void *data)
{
    FILE *stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(npy_write_data(stream, kind, size, ndim, shape, data, NULL), 0);
    fclose(stream);
}

static void series_and_labels_may_be_in_two_files(void **state)
{
    static const size_t shape[] = {2, 3}, five[] = {5};
    static const int32_t zeros[5] = {0};
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    static const double labels[] = {1, 0}, half[] = {0.5, 0};
    char folder[] = "/tmp/sc-dataset-XXXXXX";
    struct dataset dataset;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    save("x.npy", NPY_FLOAT, 4, shape, 2, x);
    save("y.npy", NPY_FLOAT, 8, shape, 1, labels);
    assert_ok(dataset_read("x.npy", "y.npy", DATASET_LABELLED, &dataset));
    assert_int_equal(dataset.classes, 2);
    assert_int_equal(dataset.y[0], 1);
    assert_true(dataset.x[5] == 6);
    dataset_free(&dataset);
    save("y.npy", NPY_FLOAT, 8, shape, 1, half);
    assert_fails("y.npy: labels: element 0", dataset_read("x.npy", "y.npy", 0, &dataset));
    save("y.npy", NPY_INT, 4, five, 1, zeros);
    assert_fails("y.npy: 5 labels for 2 series", dataset_read("x.npy", "y.npy", 0, &dataset));
    assert_fails("x.npy: labels must be one row", dataset_read("x.npy", "x.npy", 0, &dataset));
    assert_fails("none.npy: No such file", dataset_read("none.npy", NULL, 0, &dataset));
    assert_fails("none.npy: No such file", dataset_read("x.npy", "none.npy", 0, &dataset));
    make_dataset(&dataset);
    FILE *stream = fopen("whole.npy", "wb");
    assert_ok(dataset_write(stream, &dataset));
    fclose(stream);
    dataset_free(&dataset);
    assert_fails("whole.npy: has labels of its own",
                 dataset_read("whole.npy", "y.npy", 0, &dataset));
    assert_int_equal(unlink("x.npy") || unlink("y.npy") || unlink("whole.npy") || chdir("/") ||
                         rmdir(folder),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(chosen_series_keep_everything_that_belongs_to_them),
        cmocka_unit_test(picked_series_are_written_as_taken_ones_are),
        cmocka_unit_test(series_are_made_block_by_block_while_they_are_written),
        cmocka_unit_test(a_walk_visits_every_series),
        cmocka_unit_test(series_are_counted_by_their_class),
        cmocka_unit_test(parts_may_be_missing_and_types_may_vary),
        cmocka_unit_test(sets_that_make_no_sense_are_refused_with_the_reason),
        cmocka_unit_test(a_value_that_is_no_number_is_named),
        cmocka_unit_test(a_file_cut_anywhere_is_an_error),
        cmocka_unit_test(series_and_labels_may_be_in_two_files),
    };

    return cmocka_run_group_tests_name("dataset", tests, NULL, NULL);
}
