#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* The vectors that come with the generator's reference implementation (kat_vectors of Random123).
 */
static void philox_gives_the_published_numbers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    uint32_t out[4];

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        philox4x32_10(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void a_stream_is_the_generator_at_its_counters(void **state)
{
    struct random_stream stream = random_stream(0x123456789abcdef0u, RANDOM_SPLIT, 0xfeed00000007u);
    const uint32_t key[2] = {0x9abcdef0u, 0x12345678u};
    uint32_t expected[4];

    (void)state;
    for (uint32_t block = 0; block < 3; block++) {
        const uint32_t counter[4] = {block, RANDOM_SPLIT, 7, 0xfeed};

        philox4x32_10(counter, key, expected);
        for (int i = 0; i < 4; i++)
            assert_int_equal(random_u32(&stream), expected[i]);
    }
}

static void different_names_give_different_streams(void **state)
{
    struct random_stream streams[] = {
        random_stream(1, RANDOM_SPLIT, 0),
        random_stream(2, RANDOM_SPLIT, 0),
        random_stream(1, RANDOM_BALANCE, 0),
        random_stream(1, RANDOM_SPLIT, 1),
    };
    uint64_t first[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        first[i] = random_u64(&streams[i]);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++)
            assert_true(first[i] != first[j]);
    }
}

static void below_is_even_over_a_limit_that_does_not_divide(void **state)
{
    struct random_stream stream = random_stream(3, RANDOM_TEST, 0);
    enum { LIMIT = 7, DRAWS = 70000 };
    size_t counts[LIMIT] = {0};
    double chi = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t value = random_below(&stream, LIMIT);

        assert_true(value < LIMIT);
        counts[value]++;
    }
    for (int i = 0; i < LIMIT; i++)
        chi += pow((double)counts[i] - 10000, 2) / 10000;
    assert_true(chi < 22.5); /* 0.1 % point of chi-square with 6 degrees of freedom */
    assert_int_equal(random_below(&stream, 1), 0);
}

/* Moments of uniforms and normals against the exact ones, at five standard errors. */
static void moments_are_those_of_the_distributions(void **state)
{
    struct random_stream stream = random_stream(4, RANDOM_TEST, 0);
    enum { DRAWS = 200000 };
    double uniform = 0, uniform2 = 0, normal = 0, normal2 = 0, normal4 = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double u = random_uniform(&stream), z = random_normal(&stream);
        float f = random_uniform_float(&stream);

        assert_true(u >= 0 && u < 1 && f >= 0 && f < 1);
        uniform += u;
        uniform2 += u * u;
        normal += z;
        normal2 += z * z;
        normal4 += z * z * z * z;
    }
    assert_near(uniform / DRAWS, 0.5, 5 * 0.2887 / sqrt(DRAWS));
    assert_near(uniform2 / DRAWS, 1.0 / 3, 5 * 0.2981 / sqrt(DRAWS));
    assert_near(normal / DRAWS, 0, 5 / sqrt(DRAWS));
    assert_near(normal2 / DRAWS, 1, 5 * 1.4142 / sqrt(DRAWS));
    assert_near(normal4 / DRAWS, 3, 5 * 9.7980 / sqrt(DRAWS));
}

static void shuffling_reaches_every_order_equally_often(void **state)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, 0);
    size_t counts[27] = {0}, seen = 0;

    (void)state;
    for (int i = 0; i < 6000; i++) {
        size_t order[3] = {0, 1, 2};

        random_shuffle(&stream, order, 3);
        counts[9 * order[0] + 3 * order[1] + order[2]]++;
    }
    for (int i = 0; i < 27; i++) {
        if (counts[i]) {
            seen++;
            assert_in_range(counts[i], 855, 1145); /* five standard deviations around 1000 */
        }
    }
    assert_int_equal(seen, 6);
}

static void normals_are_finite_for_every_uniform_number(void **state)
{
    struct random_stream least = {.used = 0};
    struct random_stream most = {.block = {0xffffffffu, 0xffffffffu, 0, 0}};

    (void)state;
    assert_true(random_normal(&least) == 0);
    assert_near(random_normal(&most), sqrt(-2 * log(0x1p-53)), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normals_are_finite_for_every_uniform_number),
        cmocka_unit_test(philox_gives_the_published_numbers),
        cmocka_unit_test(a_stream_is_the_generator_at_its_counters),
        cmocka_unit_test(different_names_give_different_streams),
        cmocka_unit_test(below_is_even_over_a_limit_that_does_not_divide),
        cmocka_unit_test(moments_are_those_of_the_distributions),
        cmocka_unit_test(shuffling_reaches_every_order_equally_often),
    };

    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
