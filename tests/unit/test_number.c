/* The C library's strtod and strtof are the oracle. */
#include "support/check.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/number.h"

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* All of the text is read, as the same double as strtod gives. */
static void check_as_strtod(const char *text)
{
    size_t length = strlen(text);
    double value = -1, expected = strtod(text, NULL);
    /* A block of its own, so that reading past the end is seen by the sanitizers. */
    char *copy = malloc(length ? length : 1);
    const char *end;

    assert_non_null(copy);
    memcpy(copy, text, length);
    end = number_parse(copy, copy + length, &value);
    if (end != copy + length || !same_bits(value, expected))
        fail_msg("%.60s is read as %a, not %a", text, value, expected);
    free(copy);
}

static void hard_cases_are_rounded_as_strtod_does(void **state)
{
    static const char *const cases[] = {
        "0",
        "-0",
        "0.0",
        "+1",
        "-1",
        ".5",
        "5.",
        "-.25e1",
        "1e0",
        "1E+2",
        "1e-2",
        "1.0000000e+00",
        "0.1",
        "0.3",
        "123456789012345678",
        "1234567890123456789",
        "9999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        /* Halfway between two doubles, and a hair to each side. */
        "9007199254740993",
        "9007199254740992.999999999999",
        "9007199254740993.000000000001",
        "9007199254740995",
        "1.00000000000000011102230246251565404",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "8.5e-323",
        "0.500000000000000166533453693773481063544750213623046875",
        "3.518437208883201171875e13",
        "62.5364939768271845828",
        "8.10109172351e-10",
        "1.50000000000000011102230246251565",
        "9007199254740991.4999999999999999999999999999999995",
        /* The edges of what a double can hold. */
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e999",
        "1e-400",
        "0e999999999999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "7.2057594037927933e16",
        "1e23",
        "8.589973e9",
        /* The exponents at which the ways of reading change. */
        "9007199254740992e22",
        "9007199254740993e22",
        "9007199254740992e23",
        "9007199254740993e-22",
        "1e27",
        "1e28",
        "9999999999999999999e27",
        "9999999999999999999e28",
        "1e-27",
        "1e-28",
        "9999999999999999999e-27",
        "9999999999999999999e-28",
        "1.000000000000000000e+00",
        "-2.411778000000000155e-01",
        "1.234567890123456789e-05",
        "0.000000000000000000000000000000000000000000000000001234567890123456789",
        "00000000000000000000000000000000000000000001.5",
        "inf",
        "-INF",
        "Infinity",
        "+iNf",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_as_strtod(cases[i]);
}

/* One digit in a thousand decides a halfway case. */
static void digits_far_behind_the_point_count(void **state)
{
    /* 1 + 2^-53 exactly, then zeros, then a last digit. */
    static const char halfway[] = "1.00000000000000011102230246251565404236316680908203125";
    char text[5000];

    (void)state;
    for (size_t zeros = 0; zeros < 4000; zeros += 397) {
        size_t used = sizeof halfway - 1;

        memcpy(text, halfway, used);
        memset(text + used, '0', zeros);
        strcpy(text + used + zeros, "1");
        check_as_strtod(text);
        strcpy(text + used + zeros, "");
        check_as_strtod(text);
    }
    memset(text, '7', 4990);
    strcpy(text + 4000, "e-4000");
    check_as_strtod(text);
    strcpy(text + 4000, "e-4310");
    check_as_strtod(text);
    text[1] = '.';
    check_as_strtod(text);
    memset(text, '0', 4990);
    text[1] = '.';
    strcpy(text + 4500, "123e4400");
    check_as_strtod(text);
}

static void random_numbers_are_read_as_strtod_reads_them(void **state)
{
    struct random_stream random = random_stream(1, RANDOM_TEST, 1);
    char text[64];

    (void)state;
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = random_u64(&random);
        double number;

        /* Any double at all; one of usual size; one with as many digits as NumPy writes. */
        memcpy(&number, &bits, sizeof number);
        if (isfinite(number)) {
            snprintf(text, sizeof text, "%.*e", (int)random_below(&random, 22), number);
            check_as_strtod(text);
        }
        number = random_normal(&random) * 100;
        snprintf(text, sizeof text, "%.*g", 1 + (int)random_below(&random, 20), number);
        check_as_strtod(text);
        snprintf(text, sizeof text, "%.18e", number);
        check_as_strtod(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)bits,
                 (int)random_below(&random, 80) - 40);
        check_as_strtod(text);
    }
}

/* The longest divisors leave the fewest bits, so that only the rest of the division tells a number
 * from a halfway case. */
static void the_rest_of_a_division_decides(void **state)
{
    struct random_stream random = random_stream(1, RANDOM_TEST, 4);
    char text[64];

    (void)state;
    for (int i = 0; i < 60000; i++) {
        uint64_t digits = 1000000000000000000u + random_below(&random, 9000000000000000000u);

        snprintf(text, sizeof text, "%llue-%d", (unsigned long long)digits,
                 24 + (int)random_below(&random, 4));
        check_as_strtod(text);
    }
}

/* Decimals that lie exactly between two doubles, where ties must go to even. */
static void halfway_cases_go_to_even(void **state)
{
    struct random_stream random = random_stream(1, RANDOM_TEST, 2);
    char text[1200];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t mantissa = (random_u64(&random) >> 11 | (uint64_t)1 << 52) * 2 + 1;
        int exponent = (int)random_below(&random, 160) - 120;

        /* 54 bits: exact as a long double, and printf writes it out in full. */
        snprintf(text, sizeof text, "%.*Lf", exponent < 0 ? -exponent : 0,
                 ldexpl((long double)mantissa, exponent));
        check_as_strtod(text);
    }
}

static void reading_stops_where_the_number_does(void **state)
{
    static const char word[] = "-NaN";
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"1,2", 1},   {"1.5\t", 3}, {"1e", 1},  {"1e+", 1},  {"1ex", 1},
                 {"1.2.3", 3}, {"0x10", 1},  {"-1-", 2}, {"nanx", 3}, {"infinite", 3},
                 {"12 ", 2},   {"1e5.", 3},  {"1__", 1}, {"1d5", 1}};
    static const char *const none[] = {"",  "-",  "+",   ".",  "-.", "e5", ".e5", "abc",
                                       " ", " 1", "--1", "in", "na", "?",  ","};
    double value;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;

        assert_ptr_equal(number_parse(text, text + strlen(text), &value), text + cases[i].length);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(number_parse(none[i], none[i] + strlen(none[i]), &value));
    assert_ptr_equal(number_parse(word, word + 4, &value), word + 4);
    assert_true(isnan(value));
}

static void the_locale_does_not_matter(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", NULL};
    static const char digits[] = "0.1000000000000000055511151231257827021181583404541015625";
    char text[NUMBER_TEXT];
    double value;

    (void)state;
    for (size_t i = 0; names[i] && !setlocale(LC_ALL, names[i]); i++)
        continue;
    number_parse(digits, digits + sizeof digits - 1, &value);
    number_format(1.5f, text);
    setlocale(LC_ALL, "C");
    assert_true(value == 0.1);
    assert_string_equal(text, "1.5");
}

/* Digits between the first and the last that is not zero. */
static size_t significant_digits(const char *text)
{
    size_t digits = 0, zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text >= '1' && *text <= '9') {
            digits += zeros + 1;
            zeros = 0;
        } else if (*text == '0' && digits) {
            zeros++;
        }
    }
    return digits;
}

static void check_round_trip(float value)
{
    char text[NUMBER_TEXT], printed[64];
    size_t length = number_format(value, text);
    double back;

    assert_int_equal(length, strlen(text));
    assert_ptr_equal(number_parse(text, text + length, &back), text + length);
    if ((float)back != value || strtof(text, NULL) != value)
        fail_msg("%a is written as %s", (double)value, text);
    /* As few digits as printf needs. */
    for (int places = 1; places <= 9; places++) {
        snprintf(printed, sizeof printed, "%.*e", places - 1, (double)value);
        if (strtof(printed, NULL) == value) {
            assert_true(significant_digits(text) <= (size_t)places);
            return;
        }
    }
    fail_msg("%a needs more than nine digits", (double)value);
}

static void floats_are_written_short_and_read_back(void **state)
{
    struct random_stream random = random_stream(1, RANDOM_TEST, 3);

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = random_u32(&random);
        float value;

        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_round_trip(value);
        check_round_trip((float)random_normal(&random));
    }
    for (uint32_t bits = 1; bits < 3000; bits++) {
        float value;

        memcpy(&value, &bits, sizeof value);
        check_round_trip(value);
    }
}

static void floats_are_written_as_people_write_them(void **state)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0f, "-0"},
        {1, "1"},
        {-1.5f, "-1.5"},
        {0.1f, "0.1"},
        {100, "100"},
        {123456792, "123456790"},
        {1e9f, "1e+09"},
        {1e-4f, "0.0001"},
        {1e-5f, "1e-05"},
        {16777216, "16777216"},
        {3.4028235e38f, "3.4028235e+38"},
        {1e-45f, "1e-45"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {0.00123f, "0.00123"},
    };
    char text[NUMBER_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        number_format(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
    number_format_double(0.1, text);
    assert_string_equal(text, "0.1");
    number_format_double(1.0 / 3, text);
    assert_true(strtod(text, NULL) == 1.0 / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_cases_are_rounded_as_strtod_does),
        cmocka_unit_test(digits_far_behind_the_point_count),
        cmocka_unit_test(random_numbers_are_read_as_strtod_reads_them),
        cmocka_unit_test(the_rest_of_a_division_decides),
        cmocka_unit_test(halfway_cases_go_to_even),
        cmocka_unit_test(reading_stops_where_the_number_does),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(floats_are_written_short_and_read_back),
        cmocka_unit_test(floats_are_written_as_people_write_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
