/* Entropy coding of numbers: what is written is read, in about as many bytes as its entropy. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "formats/coder.h"

enum { INPUTS = 2 };

/* Codes `count` numbers of `bits` bits (0: of any sign) in lanes, the second context being the
 * number before; from bytes, or to them if there are none. */
static struct error *walk(struct coder *coder, size_t lanes, unsigned bits, int32_t *numbers,
                          size_t count)
{
    for (size_t first = 0; first < count; first += lanes) {
        size_t group = count - first < lanes ? count - first : lanes;

        for (size_t lane = 0; lane < group; lane++) {
            uint32_t *contexts = coder_contexts(coder, lane);

            contexts[0] = 0;
            contexts[1] = coder_word(3, first < lanes ? 0 : numbers[first + lane - lanes]);
            coder_set(coder, lane, (unsigned)(first % CODER_SETS));
        }
        TRY(bits ? coder_codes(coder, group, bits, numbers + first)
                 : coder_numbers(coder, group, numbers + first));
    }
    return NULL;
}

static uint8_t *encoded(size_t lanes, unsigned bits, int32_t *numbers, size_t count, size_t *size)
{
    struct coder *coder;
    uint8_t *bytes;

    assert_ok(coder_new(lanes, INPUTS, NULL, 0, &coder));
    assert_ok(walk(coder, lanes, bits, numbers, count));
    assert_ok(coder_finish(coder, &bytes, size));
    coder_free(coder);
    return bytes;
}

static struct error *decoded(size_t lanes, unsigned bits, const uint8_t *bytes, size_t size,
                             int32_t *numbers, size_t count)
{
    struct coder *coder;
    struct error *error;

    TRY(coder_new(lanes, INPUTS, bytes, size, &coder));
    error = walk(coder, lanes, bits, numbers, count);
    if (!error)
        error = coder_finish(coder, NULL, NULL);
    coder_free(coder);
    return error;
}

static void check_round_trip(size_t lanes, unsigned bits, int32_t *numbers, size_t count)
{
    size_t size;
    int32_t *read = calloc(count + 1, sizeof *read);
    uint8_t *bytes = encoded(lanes, bits, numbers, count, &size);

    assert_non_null(read);
    assert_ok(decoded(lanes, bits, bytes, size, read, count));
    assert_memory_equal(read, numbers, count * sizeof *read);
    free(bytes);
    free(read);
}

static void numbers_are_read_as_they_were_written(void **state)
{
    static const size_t all_lanes[] = {1, 2, 7, 256};
    static const size_t counts[] = {0, 1, 5, 600};
    int32_t numbers[600];

    (void)state;
    for (size_t l = 0; l < 4; l++)
        for (size_t n = 0; n < 4; n++)
            for (int shift = 0; shift < 17; shift++) {
                struct random_stream stream = random_stream(1, RANDOM_TEST, (uint64_t)shift);

                for (size_t i = 0; i < counts[n]; i++) {
                    numbers[i] = (int32_t)(random_uniform(&stream) * (1 << shift));
                    numbers[i] = random_uniform(&stream) < 0.5 ? -numbers[i] : numbers[i];
                }
                check_round_trip(all_lanes[l], 0, numbers, counts[n]);
            }
    numbers[0] = CODER_MOST;
    numbers[1] = -CODER_MOST;
    check_round_trip(1, 0, numbers, 2);
}

static void codes_are_read_as_they_were_written(void **state)
{
    int32_t codes[500];

    (void)state;
    for (unsigned bits = 1; bits <= 16; bits++) {
        struct random_stream stream = random_stream(2, RANDOM_TEST, bits);

        for (size_t i = 0; i < 500; i++)
            codes[i] = (int32_t)(random_uniform(&stream) * (1 << bits));
        check_round_trip(3, bits, codes, 500);
    }
}

/* Counts that are full are halved, weights move far. */
static void long_rows_of_one_number(void **state)
{
    enum { COUNT = 50000 };
    int32_t *numbers = malloc(COUNT * sizeof *numbers);
    size_t size;

    (void)state;
    assert_non_null(numbers);
    for (size_t i = 0; i < COUNT; i++)
        numbers[i] = i % 10000 == 9999 ? 40 : -3;
    check_round_trip(1, 0, numbers, COUNT);
    check_round_trip(256, 0, numbers, COUNT);
    free(encoded(1, 0, numbers, COUNT, &size));
    assert_true(size < 300);
    assert_true(size * CODER_RATIO > COUNT);
    free(numbers);
}

/* Numbers of a geometric distribution, and ones that follow from the number before. */
static void bytes_are_near_the_entropy(void **state)
{
    enum { COUNT = 40000 };
    static const size_t all_lanes[] = {1, 32};
    const double stay = 0.7, zero = (1 - stay) / (1 + stay);
    const double positive = (1 - zero) / 2;
    int32_t *numbers = malloc(COUNT * sizeof *numbers);
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    double entropy = 0;
    size_t size;

    (void)state;
    assert_non_null(numbers);
    for (size_t i = 0; i < COUNT; i++) {
        double p = zero;

        numbers[i] = 0;
        if (random_uniform(&stream) >= zero) {
            numbers[i] = 1;
            p = positive * (1 - stay);
            for (; random_uniform(&stream) < stay; p *= stay)
                numbers[i]++;
            if (random_uniform(&stream) < 0.5)
                numbers[i] = -numbers[i];
        }
        entropy -= log2(p) / 8;
    }
    for (size_t l = 0; l < 2; l++) {
        free(encoded(all_lanes[l], 0, numbers, COUNT, &size));
        if (!((double)size > 0.98 * entropy && (double)size < 1.06 * entropy))
            fail_msg("%zu bytes, entropy %g", size, entropy);
    }
    for (size_t i = 32; i < COUNT; i++)
        numbers[i] = numbers[i - 32] * 5 % 31;
    free(encoded(32, 0, numbers, COUNT, &size));
    assert_true(size < COUNT / 20);
    free(numbers);
}

/* Whatever is cut off or changed is noticed, or at least read without harm. */
static void damage_is_noticed(void **state)
{
    int32_t numbers[300], read[300];
    uint8_t *bytes, *cut;
    size_t size, noticed = 0, tried = 0;

    (void)state;
    for (int i = 0; i < 300; i++)
        numbers[i] = i * i % 23 - 11;
    bytes = encoded(4, 0, numbers, 300, &size);
    for (size_t length = 0; length < size; length++) {
        cut = malloc(length + 1); /* of its own, so that sanitizers see its end */
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        assert_fails("", decoded(4, 0, cut, length, read, 300));
        free(cut);
    }
    cut = malloc(size + 2);
    assert_non_null(cut);
    memcpy(cut, bytes, size);
    memset(cut + size, 0, 2);
    assert_fails("more coded bytes", decoded(4, 0, cut, size + 2, read, 300));
    free(cut);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++, tried++) {
            struct error *error;

            bytes[i] ^= (uint8_t)(1 << bit);
            error = decoded(4, 0, bytes, size, read, 300);
            noticed += error != NULL;
            if (error)
                error_free(error);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    assert_int_equal(noticed, tried);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_they_were_written),
        cmocka_unit_test(codes_are_read_as_they_were_written),
        cmocka_unit_test(long_rows_of_one_number),
        cmocka_unit_test(bytes_are_near_the_entropy),
        cmocka_unit_test(damage_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
