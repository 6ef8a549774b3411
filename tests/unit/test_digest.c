#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

static void check_digest(const void *bytes, size_t size, const char *expected)
{
    char text[DIGEST_TEXT];
    struct digest digest;

    digest_start(&digest);
    digest_add(&digest, bytes, size);
    digest_finish(&digest, text);
    assert_string_equal(text, expected);
}

/* From `printf ... | b2sum -l 128`. */
static void digests_are_those_of_b2sum(void **state)
{
    unsigned char *counting = malloc(1000);

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        counting[i] = (unsigned char)(i & 255);
    check_digest("", 0, "cae66941d9efbd404e4d88758ea67670");
    check_digest("abc", 3, "cf4ab791c62b8d2b2109c90275287816");
    check_digest(counting, 128, "a74787004ef589e31149183900d0294a");
    check_digest(counting, 129, "aaf1b0371f6d4ee49ee4fb5ddd9c49ef");
    check_digest(counting, 1000, "978a3f8b45508a42fe7f0f99caf2c423");
    free(counting);
}

static void pieces_give_the_digest_of_the_whole(void **state)
{
    static const size_t pieces[] = {1, 7, 64, 127, 128, 129, 300};
    unsigned char bytes[1000];
    char whole[DIGEST_TEXT], text[DIGEST_TEXT];
    struct digest digest;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 31 & 255);
    digest_start(&digest);
    digest_add(&digest, bytes, sizeof bytes);
    digest_finish(&digest, whole);
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        digest_start(&digest);
        for (size_t done = 0; done < sizeof bytes; done += pieces[p]) {
            size_t left = sizeof bytes - done;

            digest_add(&digest, bytes + done, left < pieces[p] ? left : pieces[p]);
        }
        digest_finish(&digest, text);
        assert_string_equal(text, whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_b2sum),
        cmocka_unit_test(pieces_give_the_digest_of_the_whole),
    };

    return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
