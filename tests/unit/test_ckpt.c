#include "support/check.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/ckpt.h"
#include "base/file.h"

enum { RECORD = 40, RECORDS = 3 };

static const struct ckpt_run this_run = {"training", "0123456789abcdef", "avx2, gcc 12"};
static char path[64];

/* Takes the place of the C library's: counts, and does not wait for the disk. */
static size_t syncs;

int fsync(int descriptor)
{
    (void)descriptor;
    syncs++;
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/shapecond-ckpt-%ld", (long)getpid());
    unlink(path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static unsigned char *bytes_of_file(size_t *size)
{
    unsigned char *bytes;

    assert_ok(file_read(path, &bytes, size));
    return bytes;
}

static void put_bytes(const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT, 0600); /* O_TRUNC is slow on ext4 */

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(ftruncate(file, (off_t)size), 0);
    assert_int_equal(close(file), 0);
}

/* That the error names the file and says what to do about it. */
static void assert_refused(struct error *error)
{
    assert_non_null(error);
    assert_memory_equal(error_message(error), path, strlen(path));
    if (!strstr(error_message(error), "remove ") && !strstr(error_message(error), "name another"))
        fail_msg("does not say what to do: %s", error_message(error));
    error_free(error);
}

/* ---- One record ---- */

static void write_state(void)
{
    const struct ckpt_part parts[] = {{"epoch=3\n", 8}, {"", 0}, {"\0\1\2\3", 4}};

    assert_ok(ckpt_write(path, &this_run, parts, 3));
}

static void refuse_state(const struct ckpt_run *run)
{
    unsigned char *state;
    size_t size;

    assert_refused(ckpt_read(path, run, &state, &size));
    assert_null(state);
}

static bool is_damaged(void)
{
    bool damaged;

    assert_ok(ckpt_is_damaged(path, &damaged));
    return damaged;
}

static void a_state_comes_back_as_it_was(void **unused)
{
    unsigned char *state;
    size_t size;

    (void)unused;
    unlink(path);
    assert_ok(ckpt_read(path, &this_run, &state, &size));
    assert_null(state);
    for (int i = 0; i < 2; i++) {
        syncs = 0;
        write_state();
        assert_true(syncs > 0);
    }
    assert_ok(ckpt_read(path, &this_run, &state, &size));
    assert_int_equal(size, 12);
    assert_memory_equal(state, "epoch=3\n\0\1\2\3", 12);
    free(state);
    assert_false(is_damaged());
    assert_int_equal(unlink(path), 0);
    assert_false(is_damaged());
}

static void a_state_with_any_bit_changed_is_refused(void **unused)
{
    unsigned char *bytes;
    size_t size;

    (void)unused;
    write_state();
    bytes = bytes_of_file(&size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put_bytes(bytes, size);
        refuse_state(&this_run);
        assert_true(is_damaged());
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(bytes);
}

static void a_state_of_any_other_length_is_refused(void **unused)
{
    unsigned char *bytes, *longer;
    size_t size;

    (void)unused;
    write_state();
    bytes = bytes_of_file(&size);
    for (size_t length = 0; length < size; length++) {
        put_bytes(bytes, length);
        refuse_state(&this_run);
        assert_true(is_damaged());
    }
    longer = calloc(1, size + 1);
    assert_non_null(longer);
    put_bytes(longer, size); /* zeros */
    refuse_state(&this_run);
    assert_true(is_damaged());
    memcpy(longer, bytes, size);
    put_bytes(longer, size + 1);
    refuse_state(&this_run);
    assert_true(is_damaged());
    free(longer);
    free(bytes);
}

static void a_state_of_another_run_is_refused_with_the_reason(void **unused)
{
    const struct {
        struct ckpt_run run;
        const char *reason;
    } others[] = {
        {{"matching", this_run.fingerprint, this_run.computed_by},
         ": a checkpoint of a training, not of a matching: name another file"},
        {{this_run.kind, "0123456789abcdee", this_run.computed_by},
         ": belongs to a training with other data or options: remove it"},
        {{this_run.kind, this_run.fingerprint, "generic, gcc 12"},
         ": computed so far by \"avx2, gcc 12\", but this is \"generic, gcc 12\", and the result "
         "would be that of neither: continue with the former, or remove it"},
        /* What computes comes first: it may be the reason why the data is another. */
        {{this_run.kind, "0123456789abcdee", "generic, gcc 12"}, ": computed so far by \"avx2"},
    };

    (void)unused;
    write_state();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        unsigned char *state;
        size_t size;

        assert_fails(others[i].reason, ckpt_read(path, &others[i].run, &state, &size));
        refuse_state(&others[i].run);
    }
}

static void what_a_file_says_of_its_run_is_no_trick_on_a_terminal(void **unused)
{
    static const struct ckpt_run escape = {"\x1b[31m", "1", "\x9b"};
    unsigned char *state;
    size_t size;

    (void)unused;
    assert_ok(ckpt_write(path, &escape, &(struct ckpt_part){"x", 1}, 1));
    assert_fails("a checkpoint of a ?[31m, not", ckpt_read(path, &this_run, &state, &size));
}

static void other_files_are_told_from_checkpoints(void **unused)
{
    unsigned char *state;
    size_t size;

    (void)unused;
    put_bytes("%TCH 1\n", 7);
    assert_fails("not a checkpoint", ckpt_read(path, &this_run, &state, &size));
    put_bytes("shapecond checkpoint 2\nand more\n", 32);
    assert_fails("another version", ckpt_read(path, &this_run, &state, &size));
    assert_fails("a checkpoint is a regular file", ckpt_read("/tmp", &this_run, &state, &size));
    assert_fails("a checkpoint is a regular file", ckpt_read("-", &this_run, &state, &size));
}

/* ---- Several ---- */

static void fill(unsigned char record[RECORD], size_t number)
{
    for (size_t i = 0; i < RECORD; i++)
        record[i] = (unsigned char)(number * 50 + i);
}

/* Reads the records that the file has and adds those that are missing. */
static struct error *run_to_the_end(size_t *had, bool *torn)
{
    unsigned char record[RECORD], expected[RECORD];
    struct error *error = NULL;
    struct ckpt ckpt;

    TRY(ckpt_open(path, &this_run, RECORD, &ckpt));
    *had = ckpt.count;
    *torn = ckpt.torn;
    for (size_t i = 0; !error && i < RECORDS; i++) {
        fill(expected, i);
        if (i < ckpt.count) {
            error = ckpt_next(&ckpt, record);
            if (!error)
                assert_memory_equal(record, expected, RECORD);
        } else {
            syncs = 0;
            error = ckpt_add(&ckpt, expected);
            assert_int_equal(syncs, 1);
        }
    }
    ckpt_close(&ckpt);
    return error;
}

static unsigned char *file_of_records(size_t *size)
{
    size_t had;
    bool torn;

    unlink(path);
    assert_ok(run_to_the_end(&had, &torn));
    assert_int_equal(had, 0);
    assert_false(torn);
    return bytes_of_file(size);
}

static void records_go_on_where_the_file_ends(void **unused)
{
    size_t size, header, stride = RECORD + 33;
    unsigned char *bytes;

    (void)unused;
    bytes = file_of_records(&size);
    header = size - RECORDS * stride;
    for (size_t length = header; length <= size; length++) {
        unsigned char *again;
        size_t had, again_size;
        bool torn;

        put_bytes(bytes, length);
        assert_ok(run_to_the_end(&had, &torn));
        assert_int_equal(had, (length - header) / stride);
        assert_int_equal(torn, (length - header) % stride != 0);
        again = bytes_of_file(&again_size);
        assert_int_equal(again_size, size);
        assert_memory_equal(again, bytes, size);
        free(again);
    }
    for (size_t length = 0; length < header; length++) {
        size_t had;
        bool torn;

        put_bytes(bytes, length);
        assert_refused(run_to_the_end(&had, &torn));
    }
    free(bytes);
}

static void records_with_any_bit_changed_are_refused(void **unused)
{
    size_t size, had;
    unsigned char *bytes = file_of_records(&size);
    bool torn;

    (void)unused;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put_bytes(bytes, size);
        assert_refused(run_to_the_end(&had, &torn));
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(bytes);
}

static void records_in_another_order_or_of_another_file_are_refused(void **unused)
{
    static const struct ckpt_run other = {"training", "1123456789abcdef", "avx2, gcc 12"};
    size_t size, had, stride = RECORD + 33;
    unsigned char *bytes = file_of_records(&size), *moved = malloc(size), record[RECORD];
    struct ckpt ckpt;
    bool torn;

    (void)unused;
    assert_non_null(moved);
    memcpy(moved, bytes, size);
    memcpy(moved + size - stride, bytes + size - 2 * stride, stride);
    memcpy(moved + size - 2 * stride, bytes + size - stride, stride);
    put_bytes(moved, size);
    assert_refused(run_to_the_end(&had, &torn));
    /* The first record of another run after our header. */
    unlink(path);
    fill(record, 0);
    assert_ok(ckpt_open(path, &other, RECORD, &ckpt));
    assert_ok(ckpt_add(&ckpt, record));
    ckpt_close(&ckpt);
    free(moved);
    moved = bytes_of_file(&had);
    memcpy(moved, bytes, size - RECORDS * stride);
    put_bytes(moved, had);
    assert_refused(run_to_the_end(&had, &torn));
    free(moved);
    free(bytes);
}

/* The records before a damaged one need not be lost. */
static void the_advice_on_a_damaged_record_works(void **unused)
{
    size_t size, had;
    unsigned char *bytes = file_of_records(&size);
    struct error *error;
    const char *advice;
    bool torn;

    (void)unused;
    bytes[size - 60] ^= 1;
    put_bytes(bytes, size);
    error = run_to_the_end(&had, &torn);
    assert_non_null(error);
    advice = strstr(error_message(error), "truncate -s ");
    assert_non_null(advice);
    assert_int_equal(truncate(path, atol(advice + 12)), 0);
    error_free(error);
    assert_ok(run_to_the_end(&had, &torn));
    assert_int_equal(had, RECORDS - 1);
    assert_false(torn);
    free(bytes);
}

static void what_cannot_be_written_is_an_error(void **unused)
{
    (void)unused;
    assert_fails("/nowhere/at/all: No such file",
                 ckpt_write("/nowhere/at/all", &this_run, NULL, 0));
    write_state();
    assert_fails("a checkpoint is a regular file",
                 ckpt_open("/dev/full", &this_run, RECORD, &(struct ckpt){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_comes_back_as_it_was),
        cmocka_unit_test(a_state_with_any_bit_changed_is_refused),
        cmocka_unit_test(a_state_of_any_other_length_is_refused),
        cmocka_unit_test(a_state_of_another_run_is_refused_with_the_reason),
        cmocka_unit_test(what_a_file_says_of_its_run_is_no_trick_on_a_terminal),
        cmocka_unit_test(other_files_are_told_from_checkpoints),
        cmocka_unit_test(records_go_on_where_the_file_ends),
        cmocka_unit_test(records_with_any_bit_changed_are_refused),
        cmocka_unit_test(records_in_another_order_or_of_another_file_are_refused),
        cmocka_unit_test(the_advice_on_a_damaged_record_works),
        cmocka_unit_test(what_cannot_be_written_is_an_error),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
