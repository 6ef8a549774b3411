#include "support/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"

enum { LARGE = 32 << 20 }; /* what main() says is large */

/* Whether the address is in memory that a file is mapped to. */
static bool is_in_file(const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long begin, end, inode;
    bool found = false;
    char line[512];

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) == 3 &&
            (uintptr_t)address >= begin && (uintptr_t)address < end)
            found = inode != 0;
    fclose(maps);
    return found;
}

static void the_environment_or_the_memory_says_what_is_large(void **state)
{
    size_t by_memory;

    (void)state;
    assert_int_equal(scratch_least(), LARGE);
    setenv("SHAPECOND_SCRATCH", "0.5", 1);
    assert_int_equal(scratch_least(), 1 << 19);
    unsetenv("SHAPECOND_SCRATCH");
    by_memory = scratch_least();
    assert_true(by_memory >= LARGE);
    setenv("SHAPECOND_SCRATCH", "much", 1);
    assert_int_equal(scratch_least(), by_memory);
    setenv("SHAPECOND_SCRATCH", "32", 1);
}

static void small_arrays_are_memory(void **state)
{
    char *small = scratch_new(1000, 3);

    (void)state;
    assert_non_null(small);
    assert_int_equal((uintptr_t)small % 64, 0);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(small[i], 0);
    assert_false(is_in_file(small));
    memset(small, 1, 3000);
    scratch_free(small);
    scratch_free(NULL);
}

static void large_arrays_are_in_a_file(void **state)
{
    const size_t size = LARGE;
    char *large = scratch_new(size, 1);

    (void)state;
    assert_non_null(large);
    assert_true(is_in_file(large));
    for (size_t i = 0; i < size; i += 997)
        assert_int_equal(large[i], 0);
    memset(large, 1, size);
    scratch_free(large);
}

static void without_a_folder_they_are_memory(void **state)
{
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL, *large;
    FILE *stream;

    (void)state;
    setenv("TMPDIR", "/nowhere", 1);
    large = scratch_new(LARGE, 1);
    assert_non_null(large);
    assert_false(is_in_file(large));
    assert_int_equal(large[LARGE - 1], 0);
    scratch_free(large);
    assert_null(spill_new(100));
    stream = scratch_file();
    assert_non_null(stream);
    fclose(stream);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_null(scratch_new(SIZE_MAX / 2, 3));
    assert_null(scratch_new(1, SIZE_MAX));
}

static void what_is_moved_out_of_memory_keeps_its_bytes(void **state)
{
    struct spill *spill = spill_new(300);
    char *first = strdup("first"), *second = strdup("second"), *more = malloc(200);

    (void)state;
    assert_non_null(spill);
    first = spill_move(spill, first, 6);
    second = spill_move(spill, second, 7);
    assert_string_equal(first, "first");
    assert_string_equal(second, "second");
    assert_true(spill_holds(spill, first) && is_in_file(second));
    memcpy(first, "FIRST", 6);
    assert_string_equal(first, "FIRST");
    /* No room for this one: it stays where it is. */
    memset(more, 7, 200);
    assert_ptr_equal(spill_move(spill, more, 200), more);
    assert_false(spill_holds(spill, more));
    assert_int_equal(more[199], 7);
    free(more);
    spill_free(spill);
    spill_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_or_the_memory_says_what_is_large),
        cmocka_unit_test(small_arrays_are_memory),
        cmocka_unit_test(large_arrays_are_in_a_file),
        cmocka_unit_test(without_a_folder_they_are_memory),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(what_is_moved_out_of_memory_keeps_its_bytes),
    };

    setenv("SHAPECOND_SCRATCH", "32", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
