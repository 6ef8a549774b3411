#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/npy-c/npy-c.h"
#include "formats/npy-c/npy-internal.h"
#include "support/golden.h"

/* Element k of an array of npy-read.bin (tests/golden/make_npy.py). */
static double golden_value(enum npy_kind kind, size_t k)
{
    switch (kind) {
    case NPY_BOOL:
        return k % 3 == 0;
    case NPY_UINT:
        return 3 * (double)k;
    case NPY_INT:
        return (double)k - 5;
    default:
        return ((double)k - 5) / 4;
    }
}

static const char *const golden_names[] = {"a", "", "Grüße", "日本", "😀!"};

static void check_golden_array(struct npy_array *array)
{
    static const size_t shape[] = {2, 3, 4};
    enum npy_kind kind = array->kind;
    struct npy_error error;

    if (kind == NPY_UNICODE) {
        char **names = npy_strings(array, &error);

        assert_non_null(names);
        assert_int_equal(array->count, 5);
        for (size_t i = 0; i < 5; i++)
            assert_string_equal(names[i], golden_names[i]);
        free(names);
        return;
    }
    assert_int_equal(array->ndim, 3);
    assert_memory_equal(array->shape, shape, sizeof shape);
    assert_int_equal(npy_convert(array, NPY_FLOAT, 8, &error), 0);
    for (size_t k = 0; k < 24; k++)
        assert_true(((double *)array->data)[k] == golden_value(kind, k));
}

static void check_golden_file(npy_reader *reader)
{
    struct npy_error error;
    struct npy_array array;
    size_t count = 0;
    int result;

    while ((result = npy_next(reader, &array, &error)) == 1) {
        check_golden_array(&array);
        npy_array_free(&array);
        count++;
    }
    assert_int_equal(result, 0);
    assert_int_equal(count, 12 * 2 * 2 * 3 + 2);
    npy_close(reader);
}

static void every_type_order_and_version_is_read_from_a_file(void **state)
{
    struct npy_error error;

    (void)state;
    check_golden_file(npy_open(golden_path("npy-read.bin"), &error));
}

static void the_same_comes_out_of_memory(void **state)
{
    struct npy_error error;
    size_t size;
    unsigned char *bytes = golden_bytes("npy-read.bin", &size);

    (void)state;
    check_golden_file(npy_open_memory(bytes, size, &error));
    free(bytes);
}

/* A reader on a pipe that holds the bytes; they must fit into it. */
static npy_reader *open_pipe(const unsigned char *bytes, size_t size, int ends[2])
{
    struct npy_error error;
    npy_reader *reader;

    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= (int)size);
    assert_int_equal(write(ends[1], bytes, size), (ssize_t)size);
    close(ends[1]);
    reader = npy_open_fd(ends[0], &error);
    assert_non_null(reader);
    return reader;
}

static void the_same_comes_out_of_a_pipe(void **state)
{
    size_t size;
    unsigned char *bytes = golden_bytes("npy-read.bin", &size);
    int ends[2];

    (void)state;
    check_golden_file(open_pipe(bytes, size, ends));
    close(ends[0]);
    free(bytes);
}

struct trickle {
    const unsigned char *bytes;
    size_t left;
};

/* A few bytes at a time. */
static ssize_t read_trickle(void *context, void *buffer, size_t size)
{
    struct trickle *trickle = context;
    size_t part = size < 7 ? size : 7;

    part = part < trickle->left ? part : trickle->left;
    memcpy(buffer, trickle->bytes, part);
    trickle->bytes += part;
    trickle->left -= part;
    return (ssize_t)part;
}

static void the_same_comes_out_of_a_function_that_gives_few_bytes(void **state)
{
    struct npy_error error;
    size_t size;
    unsigned char *bytes = golden_bytes("npy-read.bin", &size);
    struct trickle trickle = {bytes, size};

    (void)state;
    check_golden_file(npy_open_source(read_trickle, &trickle, &error));
    free(bytes);
}

struct large {
    const char *header;
    size_t header_size, at, size;
    bool interrupted;
};

/* A header, then bytes that tell their place; a signal comes in between now and then. */
static ssize_t read_large(void *context, void *buffer, size_t size)
{
    struct large *large = context;
    size_t part = 0;

    large->interrupted = !large->interrupted;
    if (large->interrupted) {
        errno = EINTR;
        return -1;
    }
    for (; part < size && part < 1000003 && large->at < large->size; part++, large->at++)
        ((unsigned char *)buffer)[part] =
            large->at < large->header_size
                ? (unsigned char)large->header[large->at]
                : (unsigned char)((large->at - large->header_size) % 251);
    return (ssize_t)part;
}

/* Arrays of a pipe are given room as they come: 16 MiB, then twice that and so on. */
static void large_arrays_are_read_from_a_source_that_is_interrupted(void **state)
{
    static const size_t sizes[] = {((size_t)16 << 20) - 1, (size_t)16 << 20, ((size_t)16 << 20) + 1,
                                   (size_t)45 << 20};
    struct npy_error error;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct large large = {.at = 0};
        struct npy_array array;
        npy_reader *reader;
        char *header;
        FILE *stream = open_memstream(&header, &large.header_size);

        assert_int_equal(npy_write_header(stream, NPY_UINT, 1, 1, &sizes[i], &error), 0);
        fclose(stream);
        large.header = header;
        large.size = large.header_size + sizes[i];
        reader = npy_open_source(read_large, &large, &error);
        assert_int_equal(npy_next(reader, &array, &error), 1);
        assert_int_equal(array.count, sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            if (((unsigned char *)array.data)[k] != k % 251)
                fail_msg("byte %zu of %zu is another", k, sizes[i]);
        npy_array_free(&array);
        assert_int_equal(npy_next(reader, &array, &error), 0);
        npy_close(reader);
        /* One byte short. */
        large.at = 0;
        large.size--;
        reader = npy_open_source(read_large, &large, &error);
        assert_int_equal(npy_next(reader, &array, &error), -1);
        assert_non_null(strstr(error.message, "truncated"));
        npy_close(reader);
        free(header);
    }
}

/* Reads everything; 0 if the reader found a clean end, -1 on an error. */
static int drain(npy_reader *reader, size_t *arrays, struct npy_error *error)
{
    struct npy_array array;
    int result;

    *arrays = 0;
    while ((result = npy_next(reader, &array, error)) == 1) {
        npy_array_free(&array);
        ++*arrays;
    }
    npy_close(reader);
    return result;
}

static void a_file_cut_anywhere_is_an_error(void **state)
{
    struct npy_error error;
    size_t size, arrays, clean = 0;
    unsigned char *bytes = golden_bytes("npy-write.bin", &size);

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        /* A copy of just that size, so that a sanitizer sees any read after the end. */
        unsigned char *part = malloc(cut + 1);
        int from_memory, from_pipe, ends[2];

        memcpy(part, bytes, cut);
        from_memory = drain(npy_open_memory(part, cut, &error), &arrays, &error);
        if (from_memory == 0)
            clean++;
        else
            assert_true(strstr(error.message, "truncated") || strstr(error.message, "empty file"));
        from_pipe = drain(open_pipe(part, cut, ends), &arrays, &error);
        assert_int_equal(from_pipe, from_memory);
        close(ends[0]);
        free(part);
    }
    assert_int_equal(clean, 5); /* just after each array but the last */
    free(bytes);
}

static void files_are_mapped_when_nothing_needs_converting(void **state)
{
    struct npy_error error;
    struct npy_array array;
    npy_reader *reader = npy_open(golden_path("npy-write.bin"), &error);

    (void)state;
    assert_non_null(reader);
    assert_int_equal(npy_next(reader, &array, &error), 1);
    assert_int_equal(array.storage->source, NPY_MAPPED);
    assert_int_equal(npy_convert(&array, NPY_FLOAT, 4, &error), 0);
    assert_int_equal(array.storage->source, NPY_MAPPED);
    npy_close(reader);
    assert_true(((float *)array.data)[23] == 5.75f); /* outlives its reader */
    ((float *)array.data)[23] = 0;                   /* may be written to */
    npy_array_free(&array);

    reader = npy_open(golden_path("npy-write.bin"), &error);
    assert_int_equal(npy_next(reader, &array, &error), 1);
    assert_true(((float *)array.data)[23] == 5.75f); /* and the file did not change */
    npy_array_free(&array);
    npy_close(reader);
}

static void what_is_written_is_what_numpy_writes(void **state)
{
    static const char *const names[] = {"a", "", "Grüße", "😀!"};
    static const char *const lines[] = {"one line\nanother"};
    static const size_t shape[] = {2, 3, 4}, five[] = {5}, none[] = {0, 3};
    const double scalar = 2.5;
    float floats[24];
    int32_t ints[5];
    struct npy_error error;
    size_t size, expected_size;
    unsigned char *expected = golden_bytes("npy-write.bin", &expected_size);
    char *text;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    for (int i = 0; i < 24; i++)
        floats[i] = (float)i / 4;
    for (int i = 0; i < 5; i++)
        ints[i] = i;
    assert_int_equal(npy_write_data(stream, NPY_FLOAT, 4, 3, shape, floats, &error), 0);
    assert_int_equal(npy_write_data(stream, NPY_INT, 4, 1, five, ints, &error), 0);
    assert_int_equal(npy_write_data(stream, NPY_UINT, 1, 2, none, NULL, &error), 0);
    assert_int_equal(npy_write_data(stream, NPY_FLOAT, 8, 0, NULL, &scalar, &error), 0);
    assert_int_equal(npy_write_strings(stream, names, 1, 4, &error), 0);
    assert_int_equal(npy_write_strings(stream, lines, 0, 1, &error), 0);
    fclose(stream);
    assert_int_equal(size, expected_size);
    assert_memory_equal(text, expected, size);
    free(text);
    free(expected);
}

static void a_full_disk_is_an_error(void **state)
{
    static const size_t shape[] = {1 << 16};
    struct npy_error error;
    struct npy_array array;
    FILE *stream = fopen("/dev/full", "wb");

    (void)state;
    assert_non_null(stream);
    assert_int_equal(npy_array_new(&array, NPY_FLOAT, 4, 1, shape, &error), 0);
    assert_int_equal(npy_write(stream, &array, &error), -1);
    assert_non_null(strstr(error.message, "No space left"));
    npy_array_free(&array);
    fclose(stream);
}

/* ---- Headers ---- */

static int parse(const char *text, struct npy_error *error)
{
    struct npy_header header;

    return npy_parse_header(text, strlen(text), &header, error);
}

static void odd_but_legal_headers_are_read(void **state)
{
    static const char *const good[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n",
        "{\"shape\":(3,4),\"descr\":\"<f4\",\"fortran_order\":True}",
        " { 'shape' : ( 10L , ) , 'fortran_order' : False , 'descr' : '|u1' } ",
        "{'descr': '=i8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1000000)}",
    };
    struct npy_error error = {""};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (parse(good[i], &error) != 0)
            fail_msg("%s: %s", good[i], error.message);
    }
}

static void bad_headers_are_refused_with_the_reason(void **state)
{
#define WITH(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }\n"
    static const struct {
        const char *text, *reason;
    } bad[] = {
        {"", "malformed"},
        {"{}", "needed"},
        {"[1]", "malformed"},
        {"{'descr': '<f4', 'shape': (1,)}", "needed"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", "twice"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "unknown key 'x'"},
        {WITH("'<f4'", "(1,)") "import os", "follows"},
        {WITH("'<f4'", "(-1,)"), "negative"},
        {WITH("'<f4'", "(3)"), "malformed shape"},
        {WITH("'<f4'", "(3 4)"), "malformed shape"},
        {WITH("'<f4'", "(x,)"), "malformed shape"},
        {WITH("'<f4'", "3"), "malformed shape"},
        {WITH("'<f4'", "(99999999999999999999,)"), "too large"},
        {WITH("'<f4'", "(4294967296, 4294967296)"), "too large"},
        {WITH("'<f8'", "(2305843009213693952,)"), "too large"},
        {WITH("'<f4'", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"),
         "more than 32"},
        /* Empty, yet its other sizes alone are more than memory can hold. */
        {WITH("'<f8'", "(0, 9223372036854775807)"), "too large"},
        {WITH("'|O'", "(1,)"), "Python objects"},
        {WITH("'|O8'", "(1,)"), "Python objects"},
        {WITH("'<c8'", "(1,)"), "complex64"},
        {WITH("'<M8[ns]'", "(1,)"), "not supported"},
        {WITH("'|S5[s]'", "(1,)"), "not supported"},
        {WITH("'<f16'", "(1,)"), "not supported"},
        {WITH("'<i3'", "(1,)"), "not supported"},
        {WITH("'<U99999999999999999999'", "(1,)"), "not supported"},
        {WITH("'f4'", "(1,)"), "unknown type"},
        {WITH("''", "(1,)"), "unknown type"},
        {WITH("[('a', '<f4')]", "(1,)"), "structured"},
        {WITH("'<f\\x34'", "(1,)"), "malformed"},
    };
    struct npy_error error = {""};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i].text, &error) != -1)
            fail_msg("accepted: %s", bad[i].text);
        if (!strstr(error.message, bad[i].reason))
            fail_msg("%s: '%s' does not say '%s'", bad[i].text, error.message, bad[i].reason);
    }
}

static void expect_open_error(const unsigned char *bytes, size_t size, const char *reason)
{
    struct npy_error error = {""};
    size_t arrays;

    assert_int_equal(drain(npy_open_memory(bytes, size, &error), &arrays, &error), -1);
    if (!strstr(error.message, reason))
        fail_msg("'%s' does not say '%s'", error.message, reason);
}

static void files_that_are_no_npy_are_refused_with_the_reason(void **state)
{
    struct npy_error error;
    size_t size;
    unsigned char *bytes = golden_bytes("npy-write.bin", &size);
    unsigned char *longer = realloc(bytes, size + 8);

    (void)state;
    assert_non_null(longer);
    bytes = longer;
    expect_open_error((const unsigned char *)"", 0, "empty file");
    expect_open_error((const unsigned char *)"label\t1.0", 9, "not an NPY file");
    memcpy(bytes + size, "garbage!", 8);
    expect_open_error(bytes, size + 8, "no NPY array at byte");
    bytes[6] = 9;
    expect_open_error(bytes, size, "version 9.0");
    bytes[6] = 2; /* takes four bytes of length: the old two and the start of the text */
    expect_open_error(bytes, size, "too long");
    free(bytes);
    assert_null(npy_open("/", &error));
    assert_string_equal(error.message, "Is a directory");
    assert_null(npy_open("/nowhere/x.npy", &error));
    assert_string_equal(error.message, "No such file or directory");
}

/* A header that promises far more than a pipe delivers must not make the reader ask for it. */
static void a_pipe_that_promises_too_much_is_refused(void **state)
{
    static const size_t shape[] = {(size_t)1 << 50};
    struct npy_error error;
    size_t size, arrays;
    char *text;
    int ends[2];
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    assert_int_equal(npy_write_header(stream, NPY_FLOAT, 4, 1, shape, &error), 0);
    fclose(stream);
    assert_int_equal(drain(open_pipe((unsigned char *)text, size, ends), &arrays, &error), -1);
    assert_non_null(strstr(error.message, "truncated"));
    close(ends[0]);
    free(text);
}

/* ---- Conversion ---- */

static void make(struct npy_array *array, enum npy_kind kind, size_t size, const void *data)
{
    static const size_t one[] = {1};
    struct npy_error error;

    assert_int_equal(npy_array_new(array, kind, size, 1, one, &error), 0);
    memcpy(array->data, data, size);
}

static void integers_that_do_not_fit_are_refused(void **state)
{
    const double half = 0.5, large = 1e300, nan_value = NAN, fine = -2147483648.0;
    const uint64_t unsigned_large = UINT64_MAX;
    const int64_t just_too_large = (int64_t)INT32_MAX + 1;
    const struct {
        enum npy_kind kind;
        size_t size;
        const void *data;
        int narrow, wide;
    } cases[] = {
        {NPY_FLOAT, 8, &half, -1, -1},          {NPY_FLOAT, 8, &large, -1, -1},
        {NPY_FLOAT, 8, &nan_value, -1, -1},     {NPY_FLOAT, 8, &fine, 0, 0},
        {NPY_UINT, 8, &unsigned_large, -1, -1}, {NPY_INT, 8, &just_too_large, -1, 0},
    };
    struct npy_error error;
    struct npy_array array;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t target = 4; target <= 8; target += 4) {
            make(&array, cases[i].kind, cases[i].size, cases[i].data);
            assert_int_equal(npy_convert(&array, NPY_INT, target, &error),
                             target == 4 ? cases[i].narrow : cases[i].wide);
            npy_array_free(&array);
        }
    }
}

static void whole_numbers_of_every_type_become_integers(void **state)
{
    const uint8_t truth = 1, byte = 200;
    const int8_t small = -100;
    const int16_t i2 = -30000;
    const uint16_t u2 = 60000, half = 0xc500; /* -5 */
    const int32_t i4 = -2000000000;
    const uint32_t u4 = 4000000000u;
    const int64_t i8 = -5000000000;
    const uint64_t u8 = 5000000000u;
    const float f4 = -16777216;
    const double f8 = 4503599627370496, edge = -0x1p63, beyond = 0x1p63;
    const struct {
        enum npy_kind kind;
        size_t size;
        const void *data;
        int64_t value;
    } cases[] = {
        {NPY_BOOL, 1, &truth, 1},         {NPY_UINT, 1, &byte, 200},
        {NPY_INT, 1, &small, -100},       {NPY_INT, 2, &i2, -30000},
        {NPY_UINT, 2, &u2, 60000},        {NPY_INT, 4, &i4, -2000000000},
        {NPY_UINT, 4, &u4, 4000000000},   {NPY_INT, 8, &i8, -5000000000},
        {NPY_UINT, 8, &u8, 5000000000},   {NPY_FLOAT, 2, &half, -5},
        {NPY_FLOAT, 4, &f4, -16777216},   {NPY_FLOAT, 8, &f8, 4503599627370496},
        {NPY_FLOAT, 8, &edge, INT64_MIN},
    };
    struct npy_error error;
    struct npy_array array;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool fits = cases[i].value >= INT32_MIN && cases[i].value <= INT32_MAX;

        make(&array, cases[i].kind, cases[i].size, cases[i].data);
        assert_int_equal(npy_convert(&array, NPY_INT, 8, &error), 0);
        assert_true(*(int64_t *)array.data == cases[i].value);
        npy_array_free(&array);
        make(&array, cases[i].kind, cases[i].size, cases[i].data);
        if (cases[i].kind != NPY_INT || cases[i].size != 4) {
            assert_int_equal(npy_convert(&array, NPY_INT, 4, &error), fits ? 0 : -1);
            if (fits)
                assert_true(*(int32_t *)array.data == cases[i].value);
        }
        npy_array_free(&array);
    }
    make(&array, NPY_FLOAT, 8, &beyond);
    assert_int_equal(npy_convert(&array, NPY_INT, 8, &error), -1);
    npy_array_free(&array);
}

static void every_half_precision_number_is_converted_exactly(void **state)
{
    struct npy_error error;
    struct npy_array array;

    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half = (uint16_t)bits;
        int exponent = (int)(bits >> 10 & 31);
        double mantissa = (double)(bits & 1023) / 1024;
        double expected = exponent == 31 ? (mantissa != 0 ? NAN : INFINITY)
                          : exponent     ? ldexp(1 + mantissa, exponent - 15)
                                         : ldexp(mantissa, -14);
        float got;

        make(&array, NPY_FLOAT, 2, &half);
        assert_int_equal(npy_convert(&array, NPY_FLOAT, 4, &error), 0);
        got = *(float *)array.data;
        expected = bits & 0x8000 ? -expected : expected;
        assert_true(isnan(expected) ? isnan(got) : (double)got == expected);
        npy_array_free(&array);
    }
}

static void text_and_numbers_are_not_mixed_up(void **state)
{
    const uint32_t letter = 'x';
    const float number = 1;
    struct npy_error error;
    struct npy_array array;

    (void)state;
    make(&array, NPY_UNICODE, 4, &letter);
    assert_int_equal(npy_convert(&array, NPY_FLOAT, 4, &error), -1);
    assert_non_null(strstr(error.message, "got text"));
    npy_array_free(&array);
    make(&array, NPY_FLOAT, 4, &number);
    assert_null(npy_strings(&array, &error));
    assert_non_null(strstr(error.message, "got numbers"));
    npy_array_free(&array);
}

static void what_is_no_character_becomes_a_replacement(void **state)
{
    static const uint32_t points[] = {0xd800, 0x110000, 'z', 0};
    struct npy_error error;
    struct npy_array array;
    char **strings;

    (void)state;
    make(&array, NPY_UNICODE, sizeof points, points);
    strings = npy_strings(&array, &error);
    assert_string_equal(strings[0], "\xef\xbf\xbd\xef\xbf\xbdz");
    free(strings);
    npy_array_free(&array);
}

static int read_bytes(const char *letters, struct npy_array *array, struct npy_error *error)
{
    char file[256];
    size_t size = (size_t)snprintf(file, sizeof file, "%cNUMPY%c%c%c%c%-69s\n", 0x93, 1, 0, 70, 0,
                                   "{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}");
    npy_reader *reader;
    int result;

    memcpy(file + size, letters, 6);
    reader = npy_open_memory(file, size + 6, error);
    result = npy_next(reader, array, error);
    npy_close(reader);
    return result;
}

static void strings_of_bytes_are_read_as_unicode(void **state)
{
    struct npy_error error;
    struct npy_array array;
    char **strings;

    (void)state;
    assert_int_equal(read_bytes("one\0\0\0", &array, &error), 1);
    assert_int_equal(array.kind, NPY_UNICODE);
    assert_int_equal(array.item_size, 12);
    strings = npy_strings(&array, &error);
    assert_string_equal(strings[0], "one");
    assert_string_equal(strings[1], "");
    free(strings);
    npy_array_free(&array);
    assert_int_equal(read_bytes("\xe9t\xe9\0\0\0", &array, &error), -1);
    assert_non_null(strstr(error.message, "not ASCII"));
}

static void strings_without_bytes_are_limited_in_number(void **state)
{
    static const char file[] = "\x93NUMPY\x01\0\x47\0{'descr': '<U0', 'fortran_order': False, "
                               "'shape': (1048577,)}         \n";
    struct npy_error error;
    struct npy_array array;
    npy_reader *reader = npy_open_memory(file, sizeof file - 1, &error);

    (void)state;
    assert_int_equal(npy_next(reader, &array, &error), 1);
    assert_null(npy_strings(&array, &error));
    assert_non_null(strstr(error.message, "too many"));
    npy_array_free(&array);
    npy_close(reader);
}

static void count_bytes(void *context, const void *bytes, size_t size)
{
    size_t *sum = context;

    for (size_t i = 0; i < size; i++)
        *sum += ((const unsigned char *)bytes)[i] * ++sum[1];
}

static void a_watcher_sees_every_byte_in_order(void **state)
{
    struct npy_error error;
    size_t size, arrays, expected[2] = {0}, seen[2] = {0};
    unsigned char *bytes = golden_bytes("npy-read.bin", &size);
    npy_reader *reader = npy_open(golden_path("npy-read.bin"), &error);

    (void)state;
    count_bytes(expected, bytes, size);
    npy_watch(reader, count_bytes, seen);
    assert_int_equal(drain(reader, &arrays, &error), 0);
    assert_memory_equal(seen, expected, sizeof seen);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_order_and_version_is_read_from_a_file),
        cmocka_unit_test(the_same_comes_out_of_memory),
        cmocka_unit_test(the_same_comes_out_of_a_pipe),
        cmocka_unit_test(the_same_comes_out_of_a_function_that_gives_few_bytes),
        cmocka_unit_test(a_file_cut_anywhere_is_an_error),
        cmocka_unit_test(large_arrays_are_read_from_a_source_that_is_interrupted),
        cmocka_unit_test(files_are_mapped_when_nothing_needs_converting),
        cmocka_unit_test(what_is_written_is_what_numpy_writes),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(odd_but_legal_headers_are_read),
        cmocka_unit_test(bad_headers_are_refused_with_the_reason),
        cmocka_unit_test(files_that_are_no_npy_are_refused_with_the_reason),
        cmocka_unit_test(a_pipe_that_promises_too_much_is_refused),
        cmocka_unit_test(integers_that_do_not_fit_are_refused),
        cmocka_unit_test(whole_numbers_of_every_type_become_integers),
        cmocka_unit_test(every_half_precision_number_is_converted_exactly),
        cmocka_unit_test(text_and_numbers_are_not_mixed_up),
        cmocka_unit_test(what_is_no_character_becomes_a_replacement),
        cmocka_unit_test(strings_of_bytes_are_read_as_unicode),
        cmocka_unit_test(strings_without_bytes_are_limited_in_number),
        cmocka_unit_test(a_watcher_sees_every_byte_in_order),
    };

    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
