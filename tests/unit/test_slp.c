#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/slp.h"

/* Two shapelets of 3 and 2 values from a dataset of 2 channels, 10 steps, 4 classes. */
static void make_pool(struct shapelet_pool *pool)
{
    assert_ok(slp_new(2, 5, pool));
    pool->channels = 2;
    pool->quality = 2;
    pool->steps = 10;
    pool->classes = 4;
    pool->length_normalised = true;
    pool->notes = strdup("sc-test 1.0");
    for (int i = 0; i < 5; i++)
        pool->values[i] = (float)i - 1.5f;
    pool->shapelets[0] = (struct shapelet){pool->values, 1, 7, 3, 3, 20, 41, 0.75f, 1.25f};
    pool->shapelets[1] =
        (struct shapelet){pool->values + 3, 0, 0, 2, -1, SLP_WINDOW_FULL, 1ull << 40, 0.5f, 2};
}

static unsigned char *to_bytes(const struct shapelet_pool *pool, size_t *size)
{
    char *bytes;
    FILE *stream = open_memstream(&bytes, size);

    assert_ok(slp_write(stream, pool));
    fclose(stream);
    return (unsigned char *)bytes;
}

/* zlib's CRC-32, bit by bit. */
static void seal(unsigned char *bytes, size_t size)
{
    uint32_t crc = ~0u;

    for (size_t i = 0; i < size - 4; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    crc = ~crc;
    for (int i = 0; i < 4; i++)
        bytes[size - 4 + i] = (unsigned char)(crc >> 8 * i & 255);
}

static void what_was_written_is_read_back(void **state)
{
    struct shapelet_pool pool, back;
    size_t size;
    unsigned char *bytes, *again;

    (void)state;
    make_pool(&pool);
    bytes = to_bytes(&pool, &size);
    assert_int_equal(size, 48 + 2 * 40 + 5 * 4 + 11 + 4);
    assert_ok(slp_read_memory(bytes, size, &back));
    assert_int_equal(back.count, 2);
    assert_int_equal(back.channels, 2);
    assert_int_equal(back.steps, 10);
    assert_int_equal(back.classes, 4);
    assert_int_equal(back.quality, 2);
    assert_true(back.length_normalised);
    assert_string_equal(back.notes, "sc-test 1.0");
    for (size_t i = 0; i < 2; i++) {
        struct shapelet a = pool.shapelets[i], b = back.shapelets[i];

        assert_memory_equal(a.values, b.values, a.length * sizeof(float));
        assert_true(a.channel == b.channel && a.start == b.start && a.length == b.length);
        assert_true(a.label == b.label && a.window == b.window && a.source == b.source);
        assert_true(a.quality == b.quality && a.threshold == b.threshold);
    }
    again = to_bytes(&back, &size);
    assert_memory_equal(again, bytes, size);
    free(again);
    free(bytes);
    slp_free(&pool);
    slp_free(&back);
}

static void offsets_and_scales_are_read_back_and_checked(void **state)
{
    struct shapelet_pool pool, back;
    size_t size;
    unsigned char *bytes;

    (void)state;
    make_pool(&pool);
    pool.standardised = true;
    for (int i = 0; i < 2; i++) {
        pool.shapelets[i].offset = 3.5f - (float)i;
        pool.shapelets[i].scale = 0.25f + (float)i;
    }
    bytes = to_bytes(&pool, &size);
    assert_int_equal(size, 48 + 2 * 40 + 5 * 4 + 2 * 8 + 11 + 4);
    assert_int_equal(bytes[12], 3);
    assert_ok(slp_read_memory(bytes, size, &back));
    assert_true(back.standardised);
    assert_string_equal(back.notes, "sc-test 1.0");
    for (int i = 0; i < 2; i++)
        assert_true(back.shapelets[i].offset == 3.5f - (float)i &&
                    back.shapelets[i].scale == 0.25f + (float)i);
    slp_free(&back);
    memset(bytes + 48 + 2 * 40 + 5 * 4 + 4, 0, 4); /* a scale of 0 */
    seal(bytes, size);
    assert_fails("shapelet 0: invalid offset and scale", slp_read_memory(bytes, size, &back));
    free(bytes);
    slp_free(&pool);
}

static void the_bytes_are_as_the_manual_says(void **state)
{
    struct shapelet_pool pool;
    size_t size;
    unsigned char *bytes, sealed[4];

    (void)state;
    make_pool(&pool);
    bytes = to_bytes(&pool, &size);
    assert_memory_equal(bytes,
                        "\x89SLP\r\n\x1a\n\1\0\0\0\1\0\0\0\2\0\0\0\2\0\0\0\12\0\0\0\4\0\0\0"
                        "\5\0\0\0\0\0\0\0\13\0\0\0\2\0\0\0",
                        48);
    assert_memory_equal(bytes + 48,
                        "\1\0\0\0\7\0\0\0\3\0\0\0\3\0\0\0\24\0\0\0\0\0\0\0"
                        "\51\0\0\0\0\0\0\0\0\0\100\77\0\0\240\77",
                        40);
    memcpy(sealed, bytes + size - 4, 4);
    seal(bytes, size);
    assert_memory_equal(sealed, bytes + size - 4, 4);
    free(bytes);
    slp_free(&pool);
}

static void a_file_cut_anywhere_is_an_error(void **state)
{
    struct shapelet_pool pool, back;
    size_t size;
    unsigned char *bytes;

    (void)state;
    make_pool(&pool);
    bytes = to_bytes(&pool, &size);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut + 1);

        memcpy(part, bytes, cut);
        assert_fails(cut ? "truncated" : "empty file", slp_read_memory(part, cut, &back));
        free(part);
    }
    free(bytes);
    slp_free(&pool);
}

static void a_flipped_bit_anywhere_is_an_error(void **state)
{
    struct shapelet_pool pool, back;
    size_t size;
    unsigned char *bytes;

    (void)state;
    make_pool(&pool);
    bytes = to_bytes(&pool, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        struct error *error;

        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        error = slp_read_memory(bytes, size, &back);
        assert_non_null(error);
        error_free(error);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(bytes);
    slp_free(&pool);
}

/* Changes one byte of a good file and seals it again. */
static void expect_refusal(size_t position, unsigned char value, const char *reason)
{
    struct shapelet_pool pool, back;
    size_t size;
    unsigned char *bytes;

    make_pool(&pool);
    bytes = to_bytes(&pool, &size);
    bytes[position] = value;
    seal(bytes, size);
    assert_fails(reason, slp_read_memory(bytes, size, &back));
    free(bytes);
    slp_free(&pool);
}

static void records_that_make_no_sense_are_refused_with_the_reason(void **state)
{
    (void)state;
    expect_refusal(0, 'x', "not a shapelet pool");
    expect_refusal(8, 2, "version 2");
    expect_refusal(12, 4, "flags");
    expect_refusal(44, 4, "unknown measure of quality");
    expect_refusal(16, 1, "too many");
    expect_refusal(19, 255, "promises more");
    expect_refusal(39, 255, "promises more");
    expect_refusal(43, 255, "promises more");
    expect_refusal(48, 2, "shapelet 0: channel 2 of 2");
    expect_refusal(48 + 4, 8, "shapelet 0: steps 8 to 11 of 10");
    expect_refusal(48 + 7, 255, "shapelet 0: steps");
    expect_refusal(48 + 8, 0, "shapelet 0: steps");
    expect_refusal(48 + 8, 2, "1 values belong to no shapelet");
    expect_refusal(48 + 12, 4, "shapelet 0: class 4 of 4");
    expect_refusal(48 + 15, 255, "shapelet 0: class");
    expect_refusal(88 + 8, 3, "shapelet 1: more values");
    expect_refusal(48 + 39, 0x7f, "shapelet 0: quality or threshold"); /* 1.25 becomes a NaN */
}

static void values_that_are_no_numbers_are_refused(void **state)
{
    struct shapelet_pool pool, back;
    size_t size;
    unsigned char *bytes;

    (void)state;
    make_pool(&pool);
    pool.values[4] = NAN;
    bytes = to_bytes(&pool, &size);
    assert_fails("shapelet 1, step 1: not a number", slp_read_memory(bytes, size, &back));
    free(bytes);
    slp_free(&pool);
}

static void an_empty_pool_is_fine(void **state)
{
    struct shapelet_pool pool, back;
    size_t size;
    unsigned char *bytes;

    (void)state;
    assert_ok(slp_new(0, 0, &pool));
    bytes = to_bytes(&pool, &size);
    assert_int_equal(size, 52);
    assert_ok(slp_read_memory(bytes, size, &back));
    assert_int_equal(back.count, 0);
    free(bytes);
    slp_free(&pool);
    slp_free(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(the_bytes_are_as_the_manual_says),
        cmocka_unit_test(offsets_and_scales_are_read_back_and_checked),
        cmocka_unit_test(a_file_cut_anywhere_is_an_error),
        cmocka_unit_test(a_flipped_bit_anywhere_is_an_error),
        cmocka_unit_test(records_that_make_no_sense_are_refused_with_the_reason),
        cmocka_unit_test(values_that_are_no_numbers_are_refused),
        cmocka_unit_test(an_empty_pool_is_fine),
    };

    return cmocka_run_group_tests_name("slp", tests, NULL, NULL);
}
