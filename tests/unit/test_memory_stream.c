/* Allocations of this program, those of the C library and of libzip included, can be made to fail:
 * the functions below take the place of the C library's. */
#include "support/check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export.h"
#include "base/memory_stream.h"

/* With a sanitizer the allocator is the sanitizer's, and the work is done once. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INJECTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INJECTS 0
#endif
#endif
#ifndef INJECTS
#define INJECTS 1
#endif

static size_t failing; /* the allocation that fails, counted from now on; 0: none */

#if INJECTS
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static bool fails_now(void)
{
    if (failing == 0 || --failing > 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __libc_realloc(memory, size);
}
#endif

/* Runs work with its n-th allocation failing, for every n.  It gives all of its bytes or an error.
 */
static void fail_every_allocation(struct error *(*work)(struct memory_stream *))
{
    struct memory_stream whole, part;
    size_t failures = 0;

    assert_ok(work(&whole));
    for (size_t n = 1; INJECTS; n++) {
        struct error *error;
        bool injected;

        failing = n;
        error = work(&part);
        injected = failing == 0;
        failing = 0;
        failures += error != NULL;
        if (!error) {
            assert_int_equal(part.size, whole.size);
            assert_memory_equal(part.bytes, whole.bytes, whole.size);
        }
        error_free(error);
        memory_stream_free(&part);
        if (!injected)
            break;
    }
    assert_true(failures > 1 || !INJECTS);
    memory_stream_free(&whole);
}

/* Small pieces, and one larger than any buffer. */
static struct error *write_text(struct memory_stream *memory)
{
    TRY(memory_stream_open("a text", memory));
    for (int i = 0; i < 2000; i++)
        fprintf(memory->stream, "line %d\n", i);
    fprintf(memory->stream, "%100000s\n", "far right");
    fputs("the end", memory->stream);
    return memory_stream_close(memory);
}

static struct error *write_npz(struct memory_stream *memory)
{
    char *names[] = {(char *)"a", (char *)"b"};
    float x[6] = {1, 2, 3, 4, 5, 6}, soft[4] = {0};
    int32_t y[2] = {0, 1};
    struct dataset dataset = {.count = 2,
                              .channels = 1,
                              .length = 3,
                              .classes = 2,
                              .x = x,
                              .y = y,
                              .soft = soft,
                              .names = names,
                              .notes = (char *)"sc-gen 1"};
    struct error *error;

    TRY(memory_stream_open("an archive", memory));
    error = export_npz(memory->stream, &dataset);
    if (error)
        return error;
    return memory_stream_close(memory);
}

static void text_is_whole_or_an_error(void **state)
{
    (void)state;
    fail_every_allocation(write_text);
}

static void an_npz_is_whole_or_an_error(void **state)
{
    (void)state;
    fail_every_allocation(write_npz);
}

static void bytes_are_there_after_a_flush_and_can_be_written_on(void **state)
{
    struct memory_stream memory;

    (void)state;
    assert_ok(memory_stream_open("a text", &memory));
    assert_ok(memory_stream_flush(&memory));
    assert_int_equal(memory.size, 0);
    assert_string_equal(memory.bytes, "");
    fputs("one", memory.stream);
    assert_ok(memory_stream_flush(&memory));
    assert_string_equal(memory.bytes, "one");
    fwrite("\0two", 1, 5, memory.stream);
    assert_ok(memory_stream_close(&memory));
    assert_int_equal(memory.size, 8);
    assert_memory_equal(memory.bytes, "one\0two\0", 9);
    memory_stream_free(&memory);
    memory_stream_free(&memory);
}

static void a_restart_forgets_everything(void **state)
{
    struct memory_stream memory;

    (void)state;
    assert_ok(memory_stream_open("a text", &memory));
    fputs("stored", memory.stream);
    assert_ok(memory_stream_flush(&memory));
    fputs("not stored yet", memory.stream);
    memory_stream_restart(&memory);
    if (INJECTS) {
        failing = 1;
        for (int i = 0; i < 1000; i++)
            fputs("something that is longer than a buffer", memory.stream);
        assert_fails("out of memory for a text", memory_stream_flush(&memory));
        assert_fails("out of memory for a text", memory_stream_flush(&memory));
        memory_stream_restart(&memory);
    }
    fputs("new", memory.stream);
    assert_ok(memory_stream_close(&memory));
    assert_string_equal(memory.bytes, "new");
    memory_stream_free(&memory);
}

static void there_is_room_for_the_zero_byte(void **state)
{
    char bytes[4096];

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    for (size_t size = 1; size <= sizeof bytes; size++) {
        struct memory_stream memory;

        assert_ok(memory_stream_open("bytes", &memory));
        assert_int_equal(fwrite(bytes, 1, size, memory.stream), size);
        assert_ok(memory_stream_flush(&memory));
        assert_true(memory.size == size && memory.room > size && memory.bytes[size] == '\0');
        memory_stream_free(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_room_for_the_zero_byte),
        cmocka_unit_test(text_is_whole_or_an_error),
        cmocka_unit_test(an_npz_is_whole_or_an_error),
        cmocka_unit_test(bytes_are_there_after_a_flush_and_can_be_written_on),
        cmocka_unit_test(a_restart_forgets_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
