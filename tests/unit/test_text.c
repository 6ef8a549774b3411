#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static void assert_escaped(const char *text, const char *expected)
{
    char *got = NULL;
    size_t size;
    FILE *stream = open_memstream(&got, &size);

    assert_non_null(stream);
    text_escape(stream, text);
    fclose(stream);
    assert_string_equal(got, expected);
    free(got);
}

static void assert_replaced(const char *text, const char *expected)
{
    char *got = NULL;
    size_t size;
    FILE *stream = open_memstream(&got, &size);

    assert_non_null(stream);
    text_write(stream, text, strlen(text));
    fclose(stream);
    assert_string_equal(got, expected);
    free(got);
}

static void printable_text_stays_as_it_is(void **state)
{
    static const char *const texts[] = {"",
                                        "plain ASCII ~",
                                        "Z\xc3\xbcrich",
                                        "\xe6\x97\xa5\xe6\x9c\xac",
                                        "\xf0\x9f\x93\x88",
                                        "\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_escaped(texts[i], texts[i]);
        assert_replaced(texts[i], texts[i]);
    }
}

static void control_characters_are_shown_as_their_bytes(void **state)
{
    (void)state;
    assert_escaped("a\x1b[31mb", "a\\x1b[31mb");
    assert_escaped("\a\b\t\n\r\x7f", "\\x07\\x08\\x09\\x0a\\x0d\\x7f");
    assert_escaped("\xc2\x80\xc2\x9b"
                   "2J\xc2\x9f",
                   "\\xc2\\x80\\xc2\\x9b2J\\xc2\\x9f");
    assert_replaced("a\x1b[31mb\xc2\x9b", "a?[31mb?");
}

static void what_turns_the_direction_of_text_is_shown_as_its_bytes(void **state)
{
    (void)state;
    assert_escaped("\xe2\x80\xaa\xe2\x80\xae", "\\xe2\\x80\\xaa\\xe2\\x80\\xae");
    assert_escaped("\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
    assert_escaped("\xe2\x80\xa8", "\\xe2\\x80\\xa8");
    assert_replaced("\xe2\x80\xae"
                    "abc\xe2\x81\xa7",
                    "?abc?");
}

static void what_is_not_utf8_is_shown_as_its_bytes(void **state)
{
    (void)state;
    assert_escaped("\xff"
                   "a\xc3",
                   "\\xffa\\xc3");
    assert_escaped("\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80");
    assert_escaped("\xed\xb0\x80\xed\xbf\xbf", "\\xed\\xb0\\x80\\xed\\xbf\\xbf"); /* surrogates */
    assert_escaped("\xed\x9f\xbb\xef\xa4\x80", "\xed\x9f\xbb\xef\xa4\x80");
    assert_replaced("\xff"
                    "a\xc3",
                    "?a?");
}

static void json_has_them_as_escapes(void **state)
{
    static const char text[] = "\xc2\x9b\xe2\x80\xae\xc3\xbc";
    char *got = NULL;
    size_t size;
    FILE *stream = open_memstream(&got, &size);
    struct json json = {.stream = stream};

    (void)state;
    json_open(&json, NULL, '[');
    json_text(&json, NULL, text, strlen(text));
    json_close(&json, ']');
    fclose(stream);
    assert_non_null(strstr(got, "\"\\u009b\\u202e\xc3\xbc\""));
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printable_text_stays_as_it_is),
        cmocka_unit_test(control_characters_are_shown_as_their_bytes),
        cmocka_unit_test(what_turns_the_direction_of_text_is_shown_as_its_bytes),
        cmocka_unit_test(what_is_not_utf8_is_shown_as_its_bytes),
        cmocka_unit_test(json_has_them_as_escapes),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
