#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "views/view.h"

/* ---- Against the NumPy reader of sc-dataset(5): tests/golden/views.py ---- */

static void expands_to_the_bytes_of_numpy(const char *name)
{
    struct dataset condensed, expanded, golden;
    char path[512];
    size_t size;

    snprintf(path, sizeof path, "%s/tests/golden/%s.npy", getenv("SC_ROOT"), name);
    assert_ok(dataset_read(path, NULL, DATASET_LABELLED | DATASET_VIEWS, &condensed));
    snprintf(path, sizeof path, "%s/tests/golden/%s-expanded.npy", getenv("SC_ROOT"), name);
    assert_ok(dataset_read(path, NULL, DATASET_LABELLED, &golden));
    size = golden.channels * golden.length;
    for (unsigned threads = 1; threads <= 3; threads++) {
        parallel_set_threads(threads);
        assert_ok(view_expand(&condensed, &expanded));
        assert_int_equal(expanded.count, condensed.count + golden.count);
        assert_memory_equal(expanded.x, condensed.x, condensed.count * size * sizeof *golden.x);
        assert_memory_equal(expanded.x + condensed.count * size, golden.x,
                            golden.count * size * sizeof *golden.x);
        assert_memory_equal(expanded.y + condensed.count, golden.y,
                            golden.count * sizeof *golden.y);
        assert_memory_equal(expanded.soft + condensed.count * golden.classes, golden.soft,
                            golden.count * golden.classes * sizeof *golden.soft);
        dataset_free(&expanded);
    }
    dataset_free(&condensed);
    dataset_free(&golden);
}

static void views_are_those_of_the_numpy_reader(void **state)
{
    (void)state;
    expands_to_the_bytes_of_numpy("views");
    expands_to_the_bytes_of_numpy("views-4");
}

/* Series and views, whose series and soft labels are stored in few bits. */
static void few_bits_are_those_of_the_numpy_reader(void **state)
{
    static const char *const names[] = {"views-few", "views-few-4"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct dataset condensed, expanded, golden;
        char path[512];
        size_t size;

        snprintf(path, sizeof path, "%s/tests/golden/%s.npy", getenv("SC_ROOT"), names[i]);
        assert_ok(dataset_read(path, NULL, DATASET_LABELLED | DATASET_VIEWS, &condensed));
        assert_int_equal(condensed.levels.bits, i ? 4 : 8);
        snprintf(path, sizeof path, "%s/tests/golden/%s-expanded.npy", getenv("SC_ROOT"), names[i]);
        assert_ok(dataset_read(path, NULL, DATASET_LABELLED, &golden));
        size = golden.channels * golden.length;
        assert_ok(view_expand(&condensed, &expanded));
        assert_int_equal(expanded.count, golden.count);
        assert_int_equal(expanded.length, golden.length);
        assert_memory_equal(expanded.x, golden.x, golden.count * size * sizeof *golden.x);
        assert_memory_equal(expanded.y, golden.y, golden.count * sizeof *golden.y);
        assert_memory_equal(expanded.soft, golden.soft,
                            golden.count * golden.classes * sizeof *golden.soft);
        dataset_free(&condensed);
        dataset_free(&expanded);
        dataset_free(&golden);
    }
}

/* ---- Properties ---- */

static void make_dataset(struct dataset *dataset, size_t count, size_t channels, size_t length)
{
    assert_ok(dataset_new(count, channels, length, 3, false, dataset));
    for (size_t i = 0; i < count * channels * length; i++)
        dataset->x[i] = sinf((float)i * 0.7f) + (float)(i % 5);
    for (size_t i = 0; i < count; i++)
        dataset->y[i] = (int32_t)(i % 3);
}

static void a_recipe_of_nothing_gives_the_series_themselves(void **state)
{
    struct view_recipe recipe = {.seed = 7};
    struct dataset dataset;
    float view[2 * 9];
    bool seen[4] = {false};

    (void)state;
    make_dataset(&dataset, 4, 2, 9);
    for (size_t m = 0; m < 40; m++) {
        size_t i = 0;

        assert_ok(view_make(&dataset, &recipe, m, 1, view));
        while (i < 4 && memcmp(view, dataset_series(&dataset, i, 0), sizeof view) != 0)
            i++;
        assert_true(i < 4);
        seen[i] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    dataset_free(&dataset);
}

static void views_do_not_depend_on_how_they_are_cut_into_parts(void **state)
{
    struct view_recipe recipe = view_recipe_default();
    struct dataset dataset;
    float whole[50 * 2 * 9], part[20 * 2 * 9];

    (void)state;
    make_dataset(&dataset, 4, 2, 9);
    assert_ok(view_make(&dataset, &recipe, 0, 50, whole));
    assert_ok(view_make(&dataset, &recipe, 17, 20, part));
    assert_memory_equal(part, whole + 17 * 18, sizeof part);
    dataset_free(&dataset);
}

static void views_follow_a_change_of_scale_and_offset(void **state)
{
    struct view_recipe recipe = {3, 0.3, 0.5, 0.4, 0.8, 0.7, 0.7};
    struct dataset dataset;
    float before[30 * 2 * 16], after[30 * 2 * 16];
    const float scale[] = {4, 0.25f}, offset[] = {-3, 100};

    (void)state;
    make_dataset(&dataset, 6, 2, 16);
    assert_ok(view_make(&dataset, &recipe, 0, 30, before));
    for (size_t i = 0; i < 6 * 2 * 16; i++)
        dataset.x[i] = dataset.x[i] * scale[i / 16 % 2] + offset[i / 16 % 2];
    assert_ok(view_make(&dataset, &recipe, 0, 30, after));
    for (size_t i = 0; i < 30 * 2 * 16; i++) {
        float expected = before[i] * scale[i / 16 % 2] + offset[i / 16 % 2];

        assert_true(fabsf(after[i] - expected) <= 2e-5f * (1 + fabsf(expected)));
    }
    dataset_free(&dataset);
}

static void series_of_one_step_have_views(void **state)
{
    struct view_recipe recipe = {3, 0.5, 0.9, 0.5, 0.5, 1, 1};
    struct dataset dataset;
    float views[100];

    (void)state;
    make_dataset(&dataset, 6, 1, 1);
    assert_ok(view_make(&dataset, &recipe, 0, 100, views));
    for (size_t i = 0; i < 100; i++)
        assert_true(isfinite(views[i]));
    dataset_free(&dataset);
}

static void stored_logits_are_within_half_a_step(void **state)
{
    static const unsigned bits[] = {8, 4};
    struct view_recipe recipe = view_recipe_default();
    struct dataset dataset;
    float logits[20 * 3], stored[3];

    (void)state;
    make_dataset(&dataset, 6, 1, 8);
    for (size_t i = 0; i < 60; i++)
        logits[i] = 9 * cosf((float)i);
    for (size_t b = 0; b < 2; b++) {
        assert_ok(view_label(&dataset, &recipe, 20, logits, bits[b], 48));
        for (size_t m = 0; m < 20; m++) {
            float most = fmaxf(fmaxf(logits[3 * m], logits[3 * m + 1]), logits[3 * m + 2]);

            view_logits(&dataset, m, stored);
            for (size_t v = 0; v < 3; v++)
                assert_true(fabs((double)(stored[v] - (logits[3 * m + v] - most))) <=
                            0.501 * dataset.views.step);
        }
        assert_true(dataset.views.step <= 18.1 / (bits[b] == 8 ? 255 : 15));
    }
    dataset_free(&dataset);
}

/* ---- Files ---- */

enum { RECIPE = 13 * 8 }; /* bytes of its numbers */

/* Bytes of the array that begins there. */
static size_t array_size(const char *bytes, size_t data)
{
    return 10 + (unsigned char)bytes[8] + 256 * (size_t)(unsigned char)bytes[9] + data;
}

static void views_are_read_back_and_damage_is_noticed(void **state)
{
    struct view_recipe recipe = view_recipe_default();
    struct dataset dataset, back;
    float logits[20 * 3];
    size_t size, before, codes;
    char *bytes;

    (void)state;
    make_dataset(&dataset, 6, 1, 8);
    free(dataset_bytes(&dataset, &before));
    for (size_t i = 0; i < 60; i++)
        logits[i] = 9 * cosf((float)i);
    assert_ok(view_label(&dataset, &recipe, 20, logits, 8, 48));
    bytes = dataset_bytes(&dataset, &size);
    assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &back));
    assert_int_equal(back.views.count, 20);
    assert_memory_equal(&back.views.recipe, &recipe, sizeof recipe);
    assert_memory_equal(back.views.codes, dataset.views.codes, 60);
    dataset_free(&back);
    /* Who does not ask for views learns that there are some. */
    assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED, &back));
    assert_true(back.views.count == 0 && back.views.codes == NULL && back.dropped_views == 20);
    dataset_free(&back);
    codes = before + array_size(bytes + before, RECIPE);
    codes += array_size(bytes + codes, 0);
    assert_true(codes < size);
    /* Numbers of the recipe and codes: every bit flip is either noticed or gives another valid
     * recipe, never a crash; those of the codes are all noticed. */
    for (size_t i = before; i < size; i++) {
        struct error *error;

        bytes[i] ^= 16;
        error = dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &back);
        if (i >= codes)
            assert_non_null(error);
        if (error)
            error_free(error);
        else
            dataset_free(&back);
        bytes[i] ^= 16;
    }
    /* A file that ends between recipe and codes. */
    assert_fails("recipe without codes",
                 dataset_read_memory(bytes, before + array_size(bytes + before, RECIPE),
                                     DATASET_LABELLED, &back));
    free(bytes);
    dataset_free(&dataset);
}

static void soft_labels_are_stored_as_those_of_views(void **state)
{
    struct view_recipe recipe = view_recipe_default();
    struct dataset dataset, back;
    float logits[4 * 3], soft[6 * 3];
    size_t size, before, with_floats;
    char *bytes, *both;
    FILE *stream;

    (void)state;
    make_dataset(&dataset, 6, 1, 8);
    for (size_t i = 0; i < 18; i++)
        soft[i] = 7 * sinf((float)i);
    for (size_t i = 0; i < 12; i++)
        logits[i] = 9 * cosf((float)i);
    assert_ok(dataset_set_soft(&dataset, soft));
    assert_ok(view_label(&dataset, &recipe, 4, logits, 4, 20));
    /* Rounded at once, to what the file will hold: the largest is 0, the others within half a
     * step. */
    for (size_t i = 0; i < 6; i++) {
        float most = fmaxf(soft[3 * i], fmaxf(soft[3 * i + 1], soft[3 * i + 2]));

        for (size_t v = 0; v < 3; v++)
            assert_true(fabs((double)(soft[3 * i + v] - most - dataset.soft[3 * i + v])) <=
                        0.501 * dataset.views.step);
    }
    bytes = dataset_bytes(&dataset, &size);
    assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &back));
    assert_int_equal(back.views.count, 4);
    assert_memory_equal(back.soft, dataset.soft, sizeof soft);
    assert_memory_equal(back.views.codes, dataset.views.codes, 4 * 2);
    dataset_free(&back);
    /* Without names, of a class that no series has only the columns of the soft labels tell. */
    free(bytes);
    for (size_t i = 0; i < 6; i++)
        dataset.y[i] = dataset.y[i] == 2 ? 0 : dataset.y[i];
    bytes = dataset_bytes(&dataset, &size);
    assert_ok(dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &back));
    assert_int_equal(back.classes, 3);
    assert_memory_equal(back.soft, dataset.soft, sizeof soft);
    dataset_free(&back);
    free(bytes);
    dataset.y[2] = 2;
    bytes = dataset_bytes(&dataset, &size);
    /* Soft labels as floats besides. */
    dataset.views.count = 0;
    stream = open_memstream(&both, &with_floats);
    assert_ok(dataset_write(stream, &dataset));
    fflush(stream);
    before = with_floats - array_size(bytes, 6 * 3 * sizeof(float));
    fwrite(bytes + before, 1, size - before, stream);
    fclose(stream);
    assert_fails("soft labels twice",
                 dataset_read_memory(both, with_floats, DATASET_LABELLED | DATASET_VIEWS, &back));
    free(both);
    free(bytes);
    dataset_free(&dataset);
}

static void views_of_other_series_are_refused(void **state)
{
    const double seven = 7;
    struct view_recipe recipe = view_recipe_default();
    struct dataset dataset, back;
    float logits[20 * 3] = {0};
    size_t size, before, series;
    char *bytes;

    (void)state;
    make_dataset(&dataset, 6, 1, 8);
    free(dataset_bytes(&dataset, &before));
    assert_ok(view_label(&dataset, &recipe, 20, logits, 8, 48));
    bytes = dataset_bytes(&dataset, &size);
    /* The second number of the recipe is that of the series. */
    memcpy(bytes + before + array_size(bytes + before, 8), &seven, 8);
    assert_fails("views of 7 series, but there are 6",
                 dataset_read_memory(bytes, size, DATASET_LABELLED | DATASET_VIEWS, &back));
    free(bytes);
    /* The series and the views, and nothing between them. */
    bytes = dataset_bytes(&dataset, &size);
    series = array_size(bytes, 6 * 8 * sizeof(float));
    memmove(bytes + series, bytes + before, size - before);
    assert_fails("views without labels",
                 dataset_read_memory(bytes, series + size - before, DATASET_VIEWS, &back));
    free(bytes);
    dataset_free(&dataset);
}

static void recipes_are_read_from_words(void **state)
{
    struct view_recipe recipe = view_recipe_default();
    const uint64_t seed = recipe.seed = 11;

    (void)state;
    assert_ok(view_recipe_parse("none shift=0.5, mix=1", &recipe));
    assert_true(recipe.shift == 0.5 && recipe.mix == 1 && recipe.gain == 0 && recipe.cut == 0);
    assert_ok(view_recipe_parse("gentle cut=0", &recipe));
    assert_true(recipe.shift == 0.02 && recipe.mix == 0.5 && recipe.cut == 0 &&
                recipe.seed == seed);
    assert_ok(view_recipe_parse("strong", &recipe));
    assert_true(recipe.crop == 0.5 && recipe.warp == 0.5 && recipe.mix == 0.5 && recipe.cut == 0.5);
    assert_true(recipe.shift == 0.5 && recipe.gain == 0.8);
    assert_fails("'gentler' is not a word of a recipe", view_recipe_parse("gentler", &recipe));
    assert_fails("shift must be between 0 and 0.5", view_recipe_parse("shift=0.6", &recipe));
    assert_fails("'turn=1' is not a word of a recipe", view_recipe_parse("turn=1", &recipe));
    assert_fails("mix must be", view_recipe_parse("mix=", &recipe));
    assert_fails("mix must be", view_recipe_parse("mix=nan", &recipe));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_those_of_the_numpy_reader),
        cmocka_unit_test(few_bits_are_those_of_the_numpy_reader),
        cmocka_unit_test(a_recipe_of_nothing_gives_the_series_themselves),
        cmocka_unit_test(views_do_not_depend_on_how_they_are_cut_into_parts),
        cmocka_unit_test(views_follow_a_change_of_scale_and_offset),
        cmocka_unit_test(series_of_one_step_have_views),
        cmocka_unit_test(stored_logits_are_within_half_a_step),
        cmocka_unit_test(views_are_read_back_and_damage_is_noticed),
        cmocka_unit_test(soft_labels_are_stored_as_those_of_views),
        cmocka_unit_test(views_of_other_series_are_refused),
        cmocka_unit_test(recipes_are_read_from_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
