#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static char *text;
static size_t size;

static void assert_written(FILE *stream, const char *expected)
{
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void a_row_stays_on_its_line(void **state)
{
    struct json json = {.stream = open_memstream(&text, &size)};

    (void)state;
    json_open(&json, NULL, '{');
    json_size(&json, "n", 3);
    json_open(&json, "list", '[');
    json_open_row(&json, NULL, '{');
    json_bool(&json, "yes", true);
    json_open_row(&json, "inner", '[');
    json_size(&json, NULL, 1);
    json_size(&json, NULL, 2);
    json_close(&json, ']');
    json_null(&json, "none");
    json_close(&json, '}');
    json_open_row(&json, NULL, '{');
    json_close(&json, '}');
    json_close(&json, ']');
    json_open(&json, "empty", '[');
    json_close(&json, ']');
    json_close(&json, '}');
    assert_written(json.stream, "{\n"
                                "  \"n\": 3,\n"
                                "  \"list\": [\n"
                                "    {\"yes\": true, \"inner\": [1, 2], \"none\": null},\n"
                                "    {}\n"
                                "  ],\n"
                                "  \"empty\": []\n"
                                "}\n");
}

static void strings_are_escaped(void **state)
{
    /* Quotes, controls, a valid character of each length, then bytes that are none: a lone
     * continuation, an overlong slash, a surrogate, a cut character. */
    const char *odd = "a\"\\\n\t\x1b\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80|\x80|\xc0\xaf|"
                      "\xed\xa0\x80|\xe2\x82";
    struct json json = {.stream = open_memstream(&text, &size)};

    (void)state;
    json_text(&json, NULL, odd, strlen(odd));
    assert_written(json.stream, "\"a\\\"\\\\\\u000a\\u0009\\u001b\\u007f\xc3\xa9\xe2\x82\xac"
                                "\xf0\x9f\x98\x80|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
                                "\\ufffd\\ufffd\"");
}

static void a_slice_ends_where_it_ends(void **state)
{
    struct json json = {.stream = open_memstream(&text, &size)};

    (void)state;
    json_text(&json, NULL, "one\ntwo", 3);
    json_text(&json, NULL, "\xc3\xa9", 1); /* cut inside of a character */
    assert_written(json.stream, "\"one\",\"\\ufffd\"");
}

static void what_is_not_finite_is_null(void **state)
{
    struct json json = {.stream = open_memstream(&text, &size)};

    (void)state;
    json_open_row(&json, NULL, '[');
    json_real(&json, NULL, NAN);
    json_real(&json, NULL, -INFINITY);
    json_real(&json, NULL, 0.1f);
    json_real(&json, NULL, -1e300);
    json_close(&json, ']');
    assert_written(json.stream, "[null, null, 0.100000001, -1e+300]\n");
}

static void a_terminal_sees_no_control_characters(void **state)
{
    const char *odd = "a\x1b[31m\r\xc2\x9b|\xc3\xa9|\xff|\xe2\x82";
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    text_write(stream, odd, strlen(odd));
    assert_written(stream, "a?[31m??|\xc3\xa9|?|??");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_stays_on_its_line),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(a_slice_ends_where_it_ends),
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(a_terminal_sees_no_control_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
