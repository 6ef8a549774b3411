#include "support/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/identity.h"

static char folder[] = "/tmp/test-identity-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"first", "second", "third", "a", "b", "one/in", "one"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(names[i]);
    return rmdir(folder);
}

static void links_are_followed_to_a_file_that_need_not_be_there(void **state)
{
    char *target;

    (void)state;
    assert_int_equal(mkdir("one", 0700), 0);
    assert_int_equal(symlink("second", "first"), 0);
    assert_int_equal(symlink("one/in", "second"), 0);
    assert_int_equal(symlink("there", "one/in"), 0);
    target = identity_follow_links("first");
    assert_string_equal(target, "one/there");
    free(target);
    target = identity_follow_links("no link");
    assert_string_equal(target, "no link");
    free(target);
    assert_int_equal(symlink("/of/nobody", "third"), 0);
    target = identity_follow_links("./third");
    assert_string_equal(target, "/of/nobody");
    free(target);
}

static void a_loop_of_links_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    alarm(10); /* which ends the process if the loop is followed for ever */
    assert_null(identity_follow_links("a"));
    assert_int_equal(errno, ELOOP);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_followed_to_a_file_that_need_not_be_there),
        cmocka_unit_test(a_loop_of_links_is_an_error),
    };

    return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}
