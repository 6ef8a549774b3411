/* Reading.  The digits make an integer w and a power e, the number is w * 10^e.
 *   - w up to 2^53 and |e| up to 22: both w and 10^|e| are exact doubles, so that one product or
 *     quotient rounds exactly (Clinger, "How to read floating point numbers accurately", 1990).
 *   - w of up to 19 digits and |e| up to 27: 5^|e| fits into 64 bits, so the product is exact in
 *     128 bits; of the quotient, 64 bits or more and whether there is a remainder are enough to
 *     round.
 *   - more than 19 digits: if w and w + 1 give the same double, the digits cut off cannot matter.
 *   - all else: strtod on at most 800 digits; no double's halfway point needs more to be told
 *     from its neighbours.
 *
 * Writing.  The decimal with the fewest digits that reads back as the same float: more and more
 * digits are tried; nine always do. */
#include "base/number.h"

#include <endian.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 wide;

enum { MOST_DIGITS = 19, MOST_EXACT_POWER = 22, MOST_FIVES = 27, MOST_STRTOD_DIGITS = 800 };

static const double powers_of_ten[MOST_EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static const uint64_t powers_of_five[MOST_FIVES + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* ---- From decimal to double ---- */

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* strtod as it is in the C locale. */
static double strtod_c(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_locale);
    return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

/* 2^exponent, for exponents that a normal double has. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;

    memcpy(&power, &bits, sizeof power);
    return power;
}

/* number * 2^exponent, exactly rounded; number > 0.  Of its highest 64 bits the last may stand for
 * all that follow, since a double takes 53.  (The compiler's own conversion is slower.) */
static inline double round_wide(wide number, int exponent)
{
    uint64_t high = (uint64_t)(number >> 64), low = (uint64_t)number;
    int shift;

    if (high == 0)
        return (double)low * power_of_two(exponent);
    shift = __builtin_clzll(high);
    number <<= shift;
    high = (uint64_t)(number >> 64) | ((uint64_t)number != 0);
    return (double)high * power_of_two(exponent + 64 - shift);
}

/* digits * 10^exponent, exactly rounded; digits > 0 and |exponent| up to MOST_FIVES. */
static double scale_wide(uint64_t digits, int exponent)
{
    int shift;
    wide numerator, quotient;
    uint64_t divisor;

    if (exponent >= 0)
        return round_wide((wide)digits * powers_of_five[exponent], exponent);
    shift = __builtin_clzll(digits);
    divisor = powers_of_five[-exponent];
    numerator = (wide)(digits << shift) << 64;
    quotient = numerator / divisor;
    /* At least 64 bits, so the last one is far below where a double is rounded. */
    quotient |= quotient * divisor != numerator;
    return round_wide(quotient, exponent - shift - 64);
}

static double scale_far(uint64_t digits, int64_t exponent)
{
    char text[64];

    if (digits == 0)
        return 0;
    if (exponent >= -MOST_FIVES && exponent <= MOST_FIVES)
        return scale_wide(digits, (int)exponent);
    snprintf(text, sizeof text, "%llue%lld", (unsigned long long)digits, (long long)exponent);
    return strtod_c(text);
}

static inline double scale(uint64_t digits, int64_t exponent)
{
    if (digits <= (uint64_t)1 << 53 && exponent >= -MOST_EXACT_POWER &&
        exponent <= MOST_EXACT_POWER)
        return exponent < 0 ? (double)(int64_t)digits / powers_of_ten[-exponent]
                            : (double)(int64_t)digits * powers_of_ten[exponent];
    return scale_far(digits, exponent);
}

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Digits of which there may be any number, with a point among them or not; the last one counts
 * 10^exponent. */
static double scale_many(const char *text, const char *end, int64_t exponent)
{
    char digits[MOST_STRTOD_DIGITS + 32];
    size_t used = 0, dropped = 0;
    bool rest = false;
    uint64_t first = 0;
    double low;

    for (; text < end; text++) {
        if (*text == '.' || (used == 0 && *text == '0'))
            continue;
        if (used < MOST_DIGITS)
            first = first * 10 + (uint64_t)(*text - '0');
        if (used < MOST_STRTOD_DIGITS) {
            digits[used++] = *text;
        } else {
            dropped++;
            rest |= *text != '0';
        }
    }
    exponent += (int64_t)dropped;
    if (used <= MOST_DIGITS)
        return scale(first, exponent);
    /* first has 19 digits: adding one cannot overflow 64 bits. */
    low = scale(first, exponent + (int64_t)(used - MOST_DIGITS));
    if (low == scale(first + 1, exponent + (int64_t)(used - MOST_DIGITS)))
        return low;
    if (rest) {
        digits[used++] = '1';
        exponent--;
    }
    snprintf(digits + used, sizeof digits - used, "e%lld", (long long)exponent);
    return strtod_c(digits);
}

/* ---- Reading ---- */

/* Takes up to eight digits from the eight bytes at text, without a branch for each: *digits grows
 * by them.  Returns how many there were. */
static inline int take_digits(const char *text, uint64_t *digits)
{
    static const uint64_t shift[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t word, others;
    int count;

    memcpy(&word, text, sizeof word);
    word = le64toh(word) ^ 0x3030303030303030u;
    /* The top bit of each byte that is no digit. */
    others = (((word & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | word) & 0x8080808080808080u;
    count = others ? __builtin_ctzll(others) >> 3 : 8;
    if (count == 0)
        return 0;
    /* As eight digits with zeros in front, then joined to numbers of two, four and eight. */
    word <<= 64 - 8 * count;
    word = word * 10 + (word >> 8);
    word = ((word & 0x000000ff000000ffu) * (100 + ((uint64_t)1000000 << 32)) +
            ((word >> 16) & 0x000000ff000000ffu) * (1 + ((uint64_t)10000 << 32))) >>
           32;
    *digits = *digits * shift[count] + word;
    return count;
}

static const char *parse_word(const char *text, const char *end, bool negative, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", HUGE_VAL}, {"inf", HUGE_VAL}, {"nan", (double)NAN}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);

        if ((size_t)(end - text) >= length && strncasecmp(text, words[i].word, length) == 0) {
            *value = negative ? -words[i].value : words[i].value;
            return text + length;
        }
    }
    return NULL;
}

/* The exponent after the digits, if there is one.  Returns where it ends. */
static const char *parse_exponent(const char *text, const char *end, int64_t *exponent)
{
    const char *next = text + 1;
    bool negative = false;
    int64_t number = 0;

    if (text == end || (*text | 0x20) != 'e')
        return text;
    if (next < end && (*next == '+' || *next == '-'))
        negative = *next++ == '-';
    if (next == end || !is_digit(*next))
        return text;
    for (; next < end && is_digit(*next); next++) {
        /* Far beyond what any number of digits in a file could make up for. */
        if (number < INT64_MAX / 1000)
            number = number * 10 + (*next - '0');
    }
    *exponent = negative ? -number : number;
    return next;
}

const char *number_parse(const char *text, const char *end, double *value)
{
    bool negative = false;
    const char *start, *next, *stop;
    int64_t exponent = 0, fraction = 0;
    uint64_t digits = 0;
    size_t count;
    double result;

    if (text < end && (*text == '-' || *text == '+'))
        negative = *text++ == '-';
    start = next = text;
    for (; next < end && is_digit(*next); next++)
        digits = digits * 10 + (uint64_t)(*next - '0');
    count = (size_t)(next - start);
    if (next < end && *next == '.') {
        const char *point = next++;

        for (int taken = 8; taken == 8 && end - next >= 8; next += taken)
            taken = take_digits(next, &digits);
        for (; next < end && is_digit(*next); next++)
            digits = digits * 10 + (uint64_t)(*next - '0');
        fraction = next - point - 1;
        count += (size_t)fraction;
    }
    if (count == 0)
        return parse_word(text, end, negative, value);
    stop = parse_exponent(next, end, &exponent);
    result = count <= MOST_DIGITS ? scale(digits, exponent - fraction)
                                  : scale_many(start, next, exponent - fraction);
    *value = negative ? -result : result;
    return stop;
}

/* ---- Writing ---- */

/* value * 10^exponent, a few units of the last place off at most. */
static double times_power(double value, int exponent)
{
    for (; exponent > MOST_EXACT_POWER; exponent -= MOST_EXACT_POWER)
        value *= powers_of_ten[MOST_EXACT_POWER];
    for (; exponent < -MOST_EXACT_POWER; exponent += MOST_EXACT_POWER)
        value /= powers_of_ten[MOST_EXACT_POWER];
    return exponent < 0 ? value / powers_of_ten[-exponent] : value * powers_of_ten[exponent];
}

/* The shortest digits * 10^*exponent that reads as value, which is positive and finite. */
static uint64_t shortest(float value, int *exponent)
{
    int magnitude = (int)floor(log10((double)value));

    /* Six digits survive a float that is not subnormal: if fewer do, these six end in zeros. */
    for (int places = value < FLT_MIN ? 1 : FLT_DIG;; places++) {
        int power = magnitude - places + 1;
        uint64_t digits = (uint64_t)llrint(times_power(value, -power));

        if (places == 9 || (float)scale(digits, power) == value) {
            *exponent = power;
            return digits;
        }
    }
}

/* Lays digits * 10^exponent out as printf's %g would with enough precision. */
static size_t lay_out(bool negative, uint64_t digits, int exponent, char *text)
{
    char number[24];
    int count, point;
    char *next = text;

    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    count = snprintf(number, sizeof number, "%llu", (unsigned long long)digits);
    point = count + exponent; /* digits before the point */
    if (negative)
        *next++ = '-';
    if (point > -4 && point <= 0) {
        next = stpcpy(next, "0.");
        memset(next, '0', (size_t)-point);
        next = stpcpy(next - point, number);
    } else if (point > 0 && point <= 9) {
        int whole = count < point ? count : point;

        next = mempcpy(next, number, (size_t)whole);
        memset(next, '0', (size_t)(point - whole));
        next += point - whole;
        if (count > point) {
            *next++ = '.';
            next = stpcpy(next, number + point);
        }
    } else {
        *next++ = number[0];
        if (count > 1) {
            *next++ = '.';
            next = stpcpy(next, number + 1);
        }
        next += sprintf(next, "e%+03d", point - 1);
    }
    *next = '\0';
    return (size_t)(next - text);
}

static size_t format_special(double value, char text[NUMBER_TEXT])
{
    const char *word = isnan(value) ? "nan" : value == 0 ? "0" : "inf";
    bool negative = signbit(value) && !isnan(value);

    return (size_t)sprintf(text, "%s%s", negative ? "-" : "", word);
}

size_t number_format(float value, char text[NUMBER_TEXT])
{
    int exponent;
    uint64_t digits;

    if (!isfinite(value) || value == 0)
        return format_special((double)value, text);
    digits = shortest(fabsf(value), &exponent);
    return lay_out(value < 0, digits, exponent, text);
}

size_t number_format_double(double value, char text[NUMBER_TEXT])
{
    int length = 0;

    if (!isfinite(value) || value == 0)
        return format_special(value, text);
    for (int places = 15; places <= DBL_DECIMAL_DIG; places++) {
        double back;

        length = snprintf(text, NUMBER_TEXT, "%.*g", places, value);
        /* In a locale with another decimal point. */
        for (char *c = text; *c; c++)
            *c = *c == ',' ? '.' : *c;
        number_parse(text, text + length, &back);
        if (back == value)
            break;
    }
    return (size_t)length;
}
