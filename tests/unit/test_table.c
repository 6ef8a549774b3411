#include "support/check.h"

#include <math.h>
#include <string.h>

#include "formats/table.h"

static struct error *parse(const char *text, struct table *table)
{
    return table_parse(text, strlen(text), table);
}

static void columns_are_separated_by_tabs_or_commas_or_spaces(void **state)
{
    static const char *const texts[] = {
        "x\ta b\n1\t2\n3\t4\n",           "x,a b\n1,2\n3,4\n",   "x,a b\r\n1,2\r\n3,4\r\n",
        "# remark\nx,a b\n\n1, 2\n 3,4 ", "x\ta b\n1 \t2\n3\t4",
    };
    struct table table;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(parse(texts[i], &table));
        assert_int_equal(table.columns, 2);
        assert_int_equal(table.rows, 2);
        assert_string_equal(table.names[0], "x");
        assert_string_equal(table.names[1], "a b");
        assert_near(table.values[0], 1, 0);
        assert_near(table.values[1], 3, 0);
        assert_near(table.values[2], 2, 0);
        assert_near(table.values[3], 4, 0);
        table_free(&table);
    }
    assert_ok(parse("x   y z\n  1  2   3\n", &table));
    assert_int_equal(table.columns, 3);
    assert_int_equal(table.rows, 1);
    assert_string_equal(table.names[2], "z");
    assert_near(table.values[2], 3, 0);
    table_free(&table);
}

static void columns_without_names_are_numbered(void **state)
{
    struct table table;

    (void)state;
    assert_ok(parse("1,2\n3,4\n5,6\n", &table));
    assert_int_equal(table.rows, 3);
    assert_string_equal(table.names[0], "column 1");
    assert_string_equal(table.names[1], "column 2");
    assert_near(table.values[5], 6, 0);
    table_free(&table);
}

static void fields_without_a_number_are_gaps(void **state)
{
    struct table table;

    (void)state;
    assert_ok(parse("x,a,b,c,d\n1,,-,nan,inf\n2,3,-4,5,1e999\n", &table));
    assert_int_equal(table.rows, 2);
    for (size_t c = 1; c < 5; c++)
        assert_true(isnan(table.values[2 * c]));
    assert_near(table.values[3], 3, 0);
    assert_near(table.values[5], -4, 0);
    assert_true(isnan(table.values[9]));
    table_free(&table);
}

static void what_is_no_table_is_refused_with_the_place(void **state)
{
    struct table table;

    (void)state;
    assert_fails("row 3, column 2: 'two' is not a number", parse("x,a\n0,1\n1,two\n", &table));
    assert_fails("row 2 has 3 columns, the first has 2", parse("0,1\n1,2,3\n", &table));
    assert_fails("row 2 has 1 columns, the first has 2", parse("0,1\n1\n", &table));
    assert_fails("one column only", parse("1\n2\n", &table));
    assert_fails("no rows of numbers", parse("", &table));
    assert_fails("no rows of numbers", parse("x,y\n", &table));
    assert_fails("no rows of numbers", parse("# 1,2\n\n", &table));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_separated_by_tabs_or_commas_or_spaces),
        cmocka_unit_test(columns_without_names_are_numbered),
        cmocka_unit_test(fields_without_a_number_are_gaps),
        cmocka_unit_test(what_is_no_table_is_refused_with_the_place),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
