#include "support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "base/parallel.h"
#include "formats/import.h"

/* ---- Helpers ---- */

static struct error *import_text(const struct import_options *options, const char *name,
                                 const char *text, struct dataset *dataset)
{
    /* A block of exactly that size, so that reading past the end is seen by the sanitizers. */
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    struct import *import;
    struct error *error;

    assert_non_null(copy);
    memcpy(copy, text, size);
    assert_ok(import_new(options, &import));
    error = import_memory(import, name, copy, size);
    if (!error)
        error = import_finish(import, dataset);
    import_free(import);
    free(copy);
    return error;
}

/* A dataset as text: "shape|labels|names|values". */
static char *describe(const struct dataset *dataset)
{
    size_t values = dataset->count * dataset->channels * dataset->length, size;
    char *text;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    fprintf(stream, "%zux%zux%zu|", dataset->count, dataset->channels, dataset->length);
    for (size_t i = 0; dataset->y && i < dataset->count; i++)
        fprintf(stream, "%s%d", i ? " " : "", dataset->y[i]);
    putc('|', stream);
    for (size_t i = 0; dataset->names && i < dataset->classes; i++)
        fprintf(stream, "%s%s", i ? "," : "", dataset->names[i]);
    putc('|', stream);
    for (size_t i = 0; i < values; i++)
        fprintf(stream, "%s%g", i ? " " : "", (double)dataset->x[i]);
    fclose(stream);
    return text;
}

static void check_with(const struct import_options *options, const char *name, const char *text,
                       const char *expected)
{
    struct dataset dataset;
    char *description;

    assert_ok(import_text(options, name, text, &dataset));
    description = describe(&dataset);
    assert_string_equal(description, expected);
    free(description);
    dataset_free(&dataset);
}

static void check(const char *name, const char *text, const char *expected)
{
    check_with(&(struct import_options){0}, name, text, expected);
}

static void check_bad_with(const struct import_options *options, const char *name, const char *text,
                           const char *message)
{
    struct dataset dataset;

    assert_fails(message, import_text(options, name, text, &dataset));
}

static void check_bad(const char *name, const char *text, const char *message)
{
    check_bad_with(&(struct import_options){0}, name, text, message);
}

/* ---- Rows ---- */

static void ucr_files_of_all_ages_are_read(void **state)
{
    (void)state;
    check("a.tsv", "2\t0.5\t-1e1\n1\t2\t3\n", "2x1x2|1 0|1,2|0.5 -10 2 3");
    check("a", "2,0.5,-1\n1,2,3\n", "2x1x2|1 0|1,2|0.5 -1 2 3");
    check("a.txt", "  1.0000000e+00   1.5   2.5  \r\n  -1.0000000e+00   3 4\r\n\r\n",
          "2x1x2|1 0|-1,1|1.5 2.5 3 4");
    check("a.txt", "# made by hand\n\n1;2;3\n0;4;5", "2x1x2|1 0|0,1|2 3 4 5");
    check("a.tsv",
          "\xef\xbb\xbf"
          "1\t2\t3\t\n1\t4\t5\t\n",
          "2x1x2|0 0|1|2 3 4 5");
    check("a.tsv", "a b\t1\nc\t2\n", "2x1x1|0 1|a b,c|1 2");
    check("a.tsv", "1\t 2\t3 \n", "1x1x2|0|1|2 3");
}

static void csv_has_labels_at_either_end_headers_and_quotes(void **state)
{
    struct import_options last = {.label = IMPORT_LABEL_LAST};
    struct import_options none = {.label = IMPORT_LABEL_NONE};
    struct import_options header = {.header = true};

    (void)state;
    check("a.csv", "class,t0,t1\nb,1,2\na,3,4\n", "2x1x2|1 0|a,b|1 2 3 4");
    check("a.csv", "\"class\",\"t0\"\n\"x, \"\"y\"\"\",1\n", "1x1x1|0|x, \"y\"|1");
    check("a.csv", "b, 1 ,\"2\"\n", "1x1x2|0|b|1 2");
    check_with(&last, "a.csv", "1,2,yes\n3,4,no\n", "2x1x2|1 0|no,yes|1 2 3 4");
    check_with(&last, "a.csv", "t0,t1,class\n1,2,\"a,b\"\n", "1x1x2|0|a,b|1 2");
    check_with(&last, "a.txt", "1 2  7 \n3 4 6\n", "2x1x2|1 0|6,7|1 2 3 4");
    check_with(&none, "a.csv", "1,2\n3,4\n", "2x1x2|||1 2 3 4");
    check_with(&header, "a.csv", "label,0,1\n5,1,2\n", "1x1x2|0|5|1 2");
}

static void ts_files_are_read(void **state)
{
    (void)state;
    check("a.ts",
          "%# a comment\n# more\n@problemName Test\n@timeStamps false\n@univariate "
          "true\n@equalLength true\n"
          "@seriesLength 3\n@classLabel true b a c\n@data\n1,2,3:b\n4,5,6:a\n",
          "2x1x3|1 0|a,b,c|1 2 3 4 5 6");
    check("a",
          "@univariate false\r\n@dimensions 2\r\n@classLabel true 1 2\r\n@data\r\n"
          "1,2:3,4:2\r\n\r\n# more\r\n5, 6 : 7,8 : 1.0\r\n",
          "2x2x2|1 0|1,2|1 2 3 4 5 6 7 8");
    check("a.ts", "@classLabel false\n@data\n1,2:3,4\n", "1x2x2|||1 2 3 4");
    check_with(&(struct import_options){.missing = IMPORT_MISSING_LINEAR}, "a.ts",
               "@missing true\n@classLabel true x\n@data\n1,?,NaN,4:x\n", "1x1x4|0|x|1 2 3 4");
}

static void arff_files_are_read(void **state)
{
    (void)state;
    check("a.arff",
          "% comment\n@RELATION 'my set'\n\n@ATTRIBUTE t0 NUMERIC\n@attribute 't 1' real\n"
          "@attribute target {1,2}\n@DATA\n1,2,2\n% more\n3, 4, 1\n",
          "2x1x2|1 0|1,2|1 2 3 4");
    check("a",
          "@relation r\n@attribute class {'it\\'s', \"b c\" , d}\n@attribute t numeric\n@data\n"
          "'it\\'s',1\n\"b c\",2\nd,3\n",
          "3x1x1|2 0 1|b c,d,it's|1 2 3");
    check("a.arff", "@relation r\n@attribute t numeric\n@attribute class numeric\n@data\n1.5,3\n",
          "1x1x1|0|3|1.5");
    check(
        "a.arff",
        "@relation r\n@attribute 'it\\'s \\\\' integer\n@attribute c string\n@data\n4,\"x, y\" \n",
        "1x1x1|0|x, y|4");
    check_with(&(struct import_options){.label = IMPORT_LABEL_NONE}, "a.arff",
               "@relation r\n@attribute t real\n@attribute class real\n@data\n1,2\n",
               "1x1x2|||1 2");
}

static void relational_arff_files_are_read(void **state)
{
    static const char header[] = "@relation Moves\n@attribute relationalAtt relational\n"
                                 "@attribute c_0 numeric\n@attribute c_1 numeric\n"
                                 "@end relationalAtt\n@attribute class {Still,Walking}\n@data\n";
    char text[512];

    (void)state;
    snprintf(text, sizeof text, "%s'1,2\\n3,4\\n5,6',Walking\n\"7,8\\n9,10\\n11,12\\n\",Still\n",
             header);
    check("a.arff", text, "2x3x2|1 0|Still,Walking|1 2 3 4 5 6 7 8 9 10 11 12");
    snprintf(text, sizeof text, "%s'1,2\\n3,x',Walking\n", header);
    check_bad("a.arff", text, "a.arff:8: channel 2: value 2: 'x' is not a number");
    snprintf(text, sizeof text, "%s'1,2\\n3,4',Still\n'1,2',Still\n", header);
    check_bad("a.arff", text, "a.arff:9: 1 channels where the rows before have 2");
    snprintf(text, sizeof text, "%s'1,2,3\\n3,4,5',Still\n", header);
    check_bad("a.arff", text, "a.arff:8: 3 values, but the header says 2");
    snprintf(text, sizeof text, "%s1,2,Still\n", header);
    check_bad("a.arff", text, "a.arff:8: the series must be in quotes");
}

/* ---- Columns ---- */

static void columns_are_called_by_name_or_number(void **state)
{
    static const char text[] = "id,t0,kind,t1\nx1,1,b,2\nx2,3,a,4\n";
    const char *const by_name[] = {"id"}, *const by_number[] = {"1"}, *const strange[] = {"ID"};
    struct import_options options = {
        .label = IMPORT_LABEL_COLUMN, .label_column = "kind", .drop = by_name, .drop_count = 1};

    (void)state;
    check_with(&options, "a.csv", text, "2x1x2|1 0|a,b|1 2 3 4");
    options.drop = by_number;
    options.label_column = "3";
    check_with(&options, "a.csv", text, "2x1x2|1 0|a,b|1 2 3 4");
    check_with(&options, "a.csv", "x1,1,b,2\nx2,3,a,4\n", "2x1x2|1 0|a,b|1 2 3 4");
    options.label_column = "t2";
    check_bad_with(&options, "a.csv", text,
                   "a.csv: --label: there is no column 't2'; there are 4: id, t0, kind, t1");
    options.label_column = "5";
    check_bad_with(&options, "a.csv", text, "--label: there is no column '5'");
    options.label_column = "kind";
    options.drop = strange;
    check_bad_with(&options, "a.csv", text, "--drop: there is no column 'ID'");
    /* A label that is last is last in short rows, too. */
    options =
        (struct import_options){.drop = by_name, .drop_count = 1, .lengths = IMPORT_LENGTHS_PAD};
    check_with(&options, "a.csv", "id,t0,t1,Label\n7,1,2,b\n8,3,a\n9,3,4,a\n",
               "3x1x2|1 0 0|a,b|1 2 3 3 3 4");
}

static void tables_as_pandas_writes_them_are_read(void **state)
{
    (void)state;
    check("a.csv", ",t0,t1,label\n0,1,2,b\n1,3,4,a\n", "2x1x2|1 0|a,b|1 2 3 4");
    check("a.csv", "Unnamed: 0,t0,t1,label\n0,1,2,b\n1,3,4,a\n", "2x1x2|1 0|a,b|1 2 3 4");
    check("a.csv", "0,1,label\n5,6,b\n7,8,a\n", "2x1x2|1 0|a,b|5 6 7 8");
    check("a.csv", "0,1,2,3,kind\nx,6,7,8,9\n", "1x1x4|0|x|6 7 8 9");
    check("a.csv", ",0,1\n0,1,5\n1,0,7\n", "2x1x1|1 0|0,1|5 7");
    /* Not a header: its label comes again, or the rows below count as well. */
    check("a.csv", "a,0,1\n1,5,6\na,7,8\n", "3x1x2|1 0 1|1,a|0 1 5 6 7 8");
    check("a.csv", "a,0,1,2,3\nb,0,1,2,3\n", "2x1x4|0 1|a,b|0 1 2 3 0 1 2 3");
}

static void commas_can_be_decimal_points(void **state)
{
    (void)state;
    check("a.csv", "t0;t1;label\n0,5;-1,25;b\n3;4,5e1;a\n", "2x1x2|1 0|a,b|0.5 -1.25 3 45");
    check("a.csv", "a;0,5;1\nb;2;0,25\n", "2x1x2|0 1|a,b|0.5 1 2 0.25");
    check("a.tsv", "a\t0,5\t1\nb\t2\t0,25\n", "2x1x2|0 1|a,b|0.5 1 2 0.25");
    check("a.csv", "a;0.5;1\n", "1x1x2|0|a|0.5 1");
    /* A point may then be that of thousands. */
    check_bad("a.csv", "a;0,5;1.500\n", "a.csv:1: column 3: '1.500' is not a number");
}

static void one_value_in_a_row_makes_series_whatever_the_order(void **state)
{
    struct import_options options = {.long_format = "id=who,time=t,channel=c,value=v,label=l"};

    (void)state;
    check_with(&options, "a.csv",
               "who,t,c,v,l\n10,1,x,4,b\n9,0,y,5,a\n9,1,x,2,a\n10,0,x,3,b\n9,0,x,1,a\n"
               "9,1,y,6,a\n10,1,y,8,b\n10,0,y,7,b\n",
               "2x2x2|0 1|a,b|1 2 5 6 3 4 7 8");
    check_bad_with(&options, "a.csv", "who,t,c,v,l\n1,0,x,1,a\n1,0,x,2,a\n",
                   "a.csv:3: the same series, time and channel as line 2");
    check_bad_with(&options, "a.csv", "who,t,c,v,l\n1,0,x,1,a\n1,1,x,2,b\n",
                   "a.csv:3: label 'b', but line 2 of the same series has 'a'");
    check_bad_with(&options, "a.csv", "who,t,c,v,l\n1,0,x,1,a\n1,1,y,2,a\n",
                   "a.csv:2: channel 0, step 1: missing value");
    check_bad_with(&options, "a.csv", "who,t,c,v,l\n1,0,x,one,a\n",
                   "a.csv:2: column 4: 'one' is not a number");
    check_bad_with(&options, "a.csv", "who,t,c,v,l\n1,0,x,1\n", "a.csv:2: 4 columns instead of 5");
    options.long_format = "id=who,value=v+w,label=l";
    check_with(&options, "a.csv", "who,v,w,l\n1,1,3,a\n1,2,4,a\n", "1x2x2|0|a|1 2 3 4");
    options.long_format = "id=1,time=2,value=3";
    check_with(&options, "a.csv", "1,2024-01-02,5\n1,2024-01-01,4\n", "1x1x2|||4 5");
    options.long_format = "id=1";
    check_bad_with(&options, "a.csv", "1,2\n", "--long needs at least id=COLUMN and value=COLUMN");
    options.long_format = "id=1,size=2";
    check_bad_with(&options, "a.csv", "1,2\n", "is not one of: id, time, channel, value, label");
    options.long_format = "id=1,value=3";
    check_bad_with(&options, "a.csv", "1,2\n", "--long: there is no column '3'");
}

static void groups_are_numbered_in_order(void **state)
{
    struct import_options options = {.group = "who", .label = IMPORT_LABEL_LAST};
    struct dataset dataset;

    (void)state;
    assert_ok(import_text(&options, "a.csv",
                          "who,t,label\nzoe,1,x\nann,2,y\nzoe,3,x\n\"bo, b\",4,y\n", &dataset));
    assert_int_equal(dataset.groups[0], 2);
    assert_int_equal(dataset.groups[1], 0);
    assert_int_equal(dataset.groups[2], 2);
    assert_int_equal(dataset.groups[3], 1);
    dataset_free(&dataset);
    check_bad_with(&options, "a.csv", "who,t,label\n,1,x\n", "a.csv:2: no group");
    options.label = IMPORT_LABEL_NONE;
    check_bad_with(&options, "a.csv", "who,t\na,1\n", "groups without labels");
}

/* All that is wrong is said at once: each kind once, with how many rows it concerns. */
static void problems_of_many_rows_are_said_together(void **state)
{
    static const char *const expected[] = {
        "a.csv:2: column 2: 'x' is not a number; the same in 1 more",
        "a.csv:4: 3 values, but line 3 has 2 (--lengths pads or cuts)",
        "a.csv:5: column 3: missing value (--missing fills it in)",
    };
    struct dataset dataset;
    struct error *error = import_text(
        &(struct import_options){0}, "a.csv",
        "label,p,q\na,x,1\na,1,2\na,1,2,3\nb,1,\nb,x,1\nb,1,2\nb,1,2\nb,1,2\n", &dataset);
    const struct error *each = error;

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++, each = error_next(each)) {
        assert_non_null(each);
        assert_string_equal(error_message(each), expected[i]);
    }
    assert_null(each);
    error_free(error);
}

static void foreign_files_are_recognised(void **state)
{
    (void)state;
    check_bad("d/a.parquet", "PAR1....",
              "d/a.parquet: a Parquet file, which cannot be read.  In Python: import pandas as pd; "
              "pd.read_parquet('d/a.parquet').to_csv('d/a.csv', index=False)");
    check_bad("a", "\x89HDF\r\n\x1a\n.", "an HDF5 file");
    check_bad("a", "ARROW1..", "an Arrow or Feather file");
    check_bad("a.npz", "PK\3\4....", "a.npz: not an NPZ file");
}

/* ---- Labels ---- */

static void labels_are_sorted_by_value_if_all_are_numbers(void **state)
{
    (void)state;
    check("a.csv", "10,0\n9,0\n-1,0\n", "3x1x1|2 1 0|-1,9,10|0 0 0");
    check("a.csv", "10,0\n9,0\nx,0\n", "3x1x1|0 1 2|10,9,x|0 0 0");
    check("a.csv", "1,0\n1.0,0\n1e0,0\n+1,0\n0.5,0\n-0,0\n",
          "6x1x1|2 2 2 2 1 0|0,0.5,1|0 0 0 0 0 0");
    /* Infinity is a name; so is what only looks like a number. */
    check("a.csv", "9,0\ninf,0\n10,0\n", "3x1x1|1 2 0|10,9,inf|0 0 0");
    check("a.csv", "1e300,0\n1e15,0\n123456789012345,0\n-2.5e-7,0\n",
          "4x1x1|3 2 1 0|-2.5e-07,123456789012345,1e+15,1e+300|0 0 0 0");
    /* By code point: capitals first, umlauts after all of ASCII. */
    check("a.csv", "\xc3\xa4,0\nz,0\nZ,0\n", "3x1x1|2 1 0|Z,z,\xc3\xa4|0 0 0");
}

static void classes_of_another_dataset_can_be_used(void **state)
{
    struct import_options options = {0};
    struct dataset train;

    (void)state;
    assert_ok(import_text(&options, "train.csv", "3,0\n1,0\n2,0\n", &train));
    options.classes = &train;
    check_with(&options, "test.csv", "2.0,5\n", "1x1x1|1|1,2,3|5");
    check_bad_with(&options, "test.csv", "2,5\n4,5\n",
                   "test.csv:2: label '4' is not one of the given classes");
    dataset_free(&train);
    /* Classes without names are called by their numbers. */
    assert_ok(dataset_new(1, 1, 1, 3, false, &train));
    check_with(&options, "test.csv", "2,5\n0,6\n", "2x1x1|2 0||5 6");
    check_bad_with(&options, "test.csv", "3,5\n", "label '3' is not one of the given classes");
    train.y = NULL;
    check_bad_with(&options, "test.csv", "2,5\n", "has no labels");
    dataset_free(&train);
}

/* More labels than the first table of them holds, in an order that is not theirs. */
static void many_classes_are_told_apart(void **state)
{
    enum { CLASSES = 1000 };
    struct dataset dataset;
    size_t size;
    char *text;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    for (size_t i = 0; i < 3 * CLASSES; i++)
        fprintf(stream, "%zu\t%zu\n", i * 777 % CLASSES, i);
    fclose(stream);
    assert_ok(import_text(&(struct import_options){0}, "a.tsv", text, &dataset));
    assert_int_equal(dataset.classes, CLASSES);
    for (size_t i = 0; i < 3 * CLASSES; i++)
        assert_int_equal(dataset.y[i], i * 777 % CLASSES);
    dataset_free(&dataset);
    free(text);
}

static void several_files_are_pooled_in_order_under_one_numbering(void **state)
{
    struct import_options options = {0};
    struct import *import;
    struct dataset dataset;
    char *description;

    (void)state;
    assert_ok(import_new(&options, &import));
    assert_ok(import_memory(import, "a.tsv", "b\t1\na\t2\n", 8));
    assert_ok(import_memory(import, "b.ts", "@classLabel true c a\n@data\n3:c\n", 31));
    assert_ok(import_finish(import, &dataset));
    description = describe(&dataset);
    assert_string_equal(description, "3x1x1|1 0 2|a,b,c|1 2 3");
    free(description);
    dataset_free(&dataset);
    import_free(import);

    assert_ok(import_new(&options, &import));
    assert_ok(import_memory(import, "a.tsv", "b\t1\na\t2\n", 8));
    assert_ok(import_memory(import, "b.tsv", "b\t1\t2\n", 6));
    assert_fails("b.tsv:1: 2 values, but line 1 of a.tsv has 1", import_finish(import, &dataset));
    import_free(import);
}

/* ---- Lengths and gaps ---- */

static void unequal_lengths_are_errors_or_evened_out(void **state)
{
    static const char text[] = "1\t1\t2\t3\n2\t4\t5\n";
    static const char padded[] = "1\t1\t2\t3\n2\t4\t5\tNaN\n";
    struct import_options options = {0};

    (void)state;
    check_bad("a.tsv", text, "a.tsv:2: 2 values, but line 1 has 3 (--lengths pads or cuts)");
    options.lengths = IMPORT_LENGTHS_PAD;
    check_with(&options, "a.tsv", text, "2x1x3|0 1|1,2|1 2 3 4 5 5");
    check_with(&options, "a.tsv", padded, "2x1x3|0 1|1,2|1 2 3 4 5 5");
    options.length = 4;
    check_with(&options, "a.tsv", text, "2x1x4|0 1|1,2|1 2 3 3 4 5 5 5");
    options.length = 2;
    check_with(&options, "a.tsv", text, "2x1x2|0 1|1,2|1 2 4 5");
    options.length = 0;
    options.lengths = IMPORT_LENGTHS_ZERO;
    check_with(&options, "a.tsv", padded, "2x1x3|0 1|1,2|1 2 3 4 5 0");
    options.lengths = IMPORT_LENGTHS_CUT;
    check_with(&options, "a.tsv", text, "2x1x2|0 1|1,2|1 2 4 5");
    options.length = 3;
    check_bad_with(&options, "a.tsv", text, "a.tsv:2: 2 values: too few to cut to 3");
}

static void missing_values_are_errors_or_filled(void **state)
{
    static const char text[] = "1\t?\t2\tNaN\t\t8\tNA\n";
    struct import_options options = {0};

    (void)state;
    check_bad("a.tsv", text, "a.tsv:1: column 2: missing value (--missing fills it in)");
    check_bad("a.ts", "@classLabel true x\n@data\n1,2:3,?:x\n",
              "a.ts:3: channel 1, step 1: missing value");
    options.missing = IMPORT_MISSING_LINEAR;
    check_with(&options, "a.tsv", text, "1x1x6|0|1|2 2 4 6 8 8");
    options.missing = IMPORT_MISSING_PREVIOUS;
    check_with(&options, "a.tsv", text, "1x1x6|0|1|2 2 2 2 8 8");
    options.missing = IMPORT_MISSING_MEAN;
    check_with(&options, "a.tsv", text, "1x1x6|0|1|5 2 5 5 8 5");
    options.missing = IMPORT_MISSING_ZERO;
    check_with(&options, "a.tsv", text, "1x1x6|0|1|0 2 0 0 8 0");
    options.missing = IMPORT_MISSING_KEEP;
    check_with(&options, "a.tsv", text, "1x1x6|0|1|nan 2 nan nan 8 nan");
    options.missing = IMPORT_MISSING_LINEAR;
    check_bad_with(&options, "a.tsv", "1\tNaN\tNaN\n", "a.tsv:1: channel 0 has no value at all");
}

/* More values than half the bytes of the row. */
static void rows_of_nothing_but_separators_fit(void **state)
{
    struct import_options options = {.missing = IMPORT_MISSING_ZERO};
    struct dataset dataset;
    char row[1000];

    (void)state;
    memset(row, ',', sizeof row - 1);
    row[0] = 'a';
    row[sizeof row - 1] = '\0';
    assert_ok(import_text(&options, "a.csv", row, &dataset));
    assert_int_equal(dataset.length, 998);
    dataset_free(&dataset);
}

/* ---- What is wrong is said ---- */

static void bad_rows_are_named_by_line_and_column(void **state)
{
    struct dataset dataset;
    char longest[1100];

    (void)state;
    check_bad("A.XLSX", "1\t2\n", "an Excel file");
    check_bad("a.tsv", "1\t2\n1\tabc\n", "a.tsv:2: column 2: 'abc' is not a number");
    check_bad("a.tsv", "\n#\n1\t2\t3x\n", "a.tsv:3: column 3: '3x' is not a number");
    check_bad("a.txt", "1 2 0x10\n", "a.txt:1: column 3: '0x10' is not a number");
    check_bad("a.tsv", "1\t1e39\n", "a.tsv:1: column 2: '1e39' is too large for a 32-bit float");
    check_bad("a.tsv", "1\tinf\n", "a.tsv:1: column 2: 'inf' is not finite");
    check_bad("a.tsv", "1\t2\n1\n", "a.tsv:2: no values");
    check_bad("a.tsv", "?\t2\n", "a.tsv:1: no label");
    check_bad("a.tsv", "\t2\n", "a.tsv:1: no label");
    check_bad("a.tsv", "1\t2\nNaN\t2\n", "a.tsv:2: no label");
    snprintf(longest, sizeof longest, "1\t2\n%01000d\t2\n", 7);
    assert_ok(import_text(&(struct import_options){0}, "a.tsv", longest, &dataset));
    dataset_free(&dataset);
    snprintf(longest, sizeof longest, "1\t2\n%01001d\t2\n", 7);
    check_bad("a.tsv", longest, "of 1001 bytes, is not a label");
    check_bad("a.csv", "a,b\nc,d\n", "a.csv:2: column 2: 'd' is not a number");
    check_bad("a.tsv", "1\t2\n1\t\x01-a-value-of-more-than-thirty-two-bytes\n",
              "a.tsv:2: column 2: '?-a-value-of-more-than-thirty-tw...' is not a number");
    check_bad("a.csv", "", "a.csv: empty file");
    check_bad("a.csv", "\n \n# x\n", "a.csv: no rows of data");
    check_bad("a.csv", "a,b\n", "a.csv: no rows of data");
    check_bad("a.npy", "1,2\n", "a.npy: not an NPY file");
}

static void bad_headers_are_named_by_line(void **state)
{
    (void)state;
    check_bad("a.ts", "@problemName x\n1,2:a\n", "a.ts:2: '1,2:a' before @data");
    check_bad("a.ts", "@problemName x\n", "a.ts: no @data line");
    check_bad("a.ts", "@data\n", "a.ts: no rows of data");
    check_bad("a.ts", "@univariate maybe\n", "a.ts:1: @univariate must be true or false");
    check_bad("a.ts", "@dimension 0\n", "a.ts:1: @dimension must be a whole number from 1");
    check_bad("a.ts", "@timeStamps true\n", "a.ts:1: series with time stamps cannot be read");
    check_bad("a.ts", "@targetLabel true\n", "a.ts:1: @targetLabel");
    check_bad("a.ts", "@univariate true\n@classLabel true a\n@data\n1:2:a\n",
              "a.ts:4: 2 channels where the header declares 1");
    check_bad("a.ts", "@seriesLength 3\n@classLabel true a\n@data\n1,2:a\n",
              "a.ts:4: 2 values, but @seriesLength says 3");
    check_bad("a.ts", "@classLabel true a b\n@data\n1:a\n1:c\n",
              "a.ts:4: label 'c' is not among the classes that the header declares");
    check_bad("a.ts", "@classLabel true a b\n@data\n1,2\n", "a.ts:3: no ':' before a label");
    check_bad("a.ts", "@dimension 1.5\n", "a.ts:1: @dimension must be a whole number from 1");
    check_bad("a.ts", "@classLabel true a\n@data\n1:2:a\n1:a\n",
              "a.ts:4: 1 channels where the rows before have 2");
    check_bad("a.ts", "@classLabel true a\n@data\n1:2,x:a\n",
              "a.ts:3: channel 2: value 2: 'x' is not a number");
    check_bad("a.arff", "@relation r\n@attribute t date\n", "a.arff:2: attribute of type 'date'");
    check_bad("a.arff", "@relation r\n@attribute t\n", "a.arff:2: an attribute without a type");
    check_bad("a.arff", "@relation r\n@attribute s relational\n@attribute t {a}\n",
              "a.arff:3: attribute of type '{a}' among the steps");
    check_bad("a.arff", "@relation r\n@attribute c {a}\n@attribute d string\n",
              "a.arff:3: a second attribute that is not numeric");
    check_bad("a.arff", "@relation r\n@attribute t numeric\n@attribute s relational\n",
              "a.arff:3: a relational attribute beside other series");
    check_bad("a.arff", "@relation r\n@remark t numeric\n",
              "a.arff:2: '@remark' is not one of: @relation");
    check_bad("a.arff",
              "@relation r\n@attribute t real\n@attribute c {a}\n@attribute u real\n@data\n1,a,2\n",
              "a.arff: the class must be the first or the last attribute");
    check_bad_with(&(struct import_options){.label = IMPORT_LABEL_NONE}, "a.arff",
                   "@relation r\n@attribute t real\n@attribute c {a}\n@data\n1,a\n",
                   "a.arff: --label=none, but the rows have labels");
    check_bad("a.arff", "@relation r\n@attribute t numeric\n@data\n1\n",
              "a.arff: no attribute is a class");
    check_bad("a.arff", "@relation r\n@attribute c {a,b\n", "a.arff:2: no } after the list");
    check_bad("a.arff", "@relation r\n@attribute t numeric\n@attribute c {a}\n@data\n{0 1}\n",
              "a.arff:5: sparse rows cannot be read");
    check_bad("a.arff", "@relation r\n@attribute s relational\n@attribute t numeric\n@data\n",
              "a.arff: a relational attribute without its @end");
    check_bad("a.arff", "@relation r\n@attribute t numeric\n@attribute c {a}\n@data\n1,b\n",
              "a.arff:5: label 'b' is not among the classes");
    check_bad("a.arff", "@relation r\n@attribute t numeric\n@attribute c {a}\n@data\n1,2,a\n",
              "a.arff:5: 2 values, but the header says 1");
}

/* ---- NPY ---- */

static struct error *import_bytes(const struct import_options *options, const char *bytes,
                                  size_t size, struct dataset *dataset)
{
    struct import *import;
    struct error *error;

    assert_ok(import_new(options, &import));
    error = import_memory(import, "x.npy", bytes, size);
    if (!error)
        error = import_finish(import, dataset);
    import_free(import);
    return error;
}

static void npy_labels_are_numbered_again(void **state)
{
    const size_t shape[] = {3, 2}, names_count = 3;
    const double x[] = {1, 2, 3, NAN, 5, 6};
    const int16_t y[] = {7, -1, 7};
    const int32_t numbers[] = {2, 0, 2};
    const char *const names[] = {"c", "b", "a"};
    struct import_options options = {.missing = IMPORT_MISSING_PREVIOUS};
    struct dataset dataset;
    char *bytes, *description;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    (void)state;
    npy_write_data(stream, NPY_FLOAT, 8, 2, shape, x, NULL);
    npy_write_data(stream, NPY_INT, 2, 1, shape, y, NULL);
    fclose(stream);
    assert_ok(import_bytes(&options, bytes, size, &dataset));
    description = describe(&dataset);
    assert_string_equal(description, "3x1x2|1 0 1|-1,7|1 2 3 3 5 6");
    free(description);
    dataset_free(&dataset);
    options.missing = IMPORT_MISSING_ERROR;
    assert_fails("x.npy: series 1: channel 0, step 1: missing value",
                 import_bytes(&options, bytes, size, &dataset));
    free(bytes);

    /* Named classes keep their names and are sorted by them. */
    stream = open_memstream(&bytes, &size);
    npy_write_data(stream, NPY_FLOAT, 8, 2, shape, x, NULL);
    npy_write_data(stream, NPY_INT, 4, 1, shape, numbers, NULL);
    npy_write_strings(stream, names, 1, names_count, NULL);
    fclose(stream);
    options.missing = IMPORT_MISSING_ZERO;
    assert_ok(import_bytes(&options, bytes, size, &dataset));
    description = describe(&dataset);
    assert_string_equal(description, "3x1x2|0 2 0|a,b,c|1 2 3 0 5 6");
    free(description);
    dataset_free(&dataset);
    free(bytes);
}

/* Series (3, 2) in floats, then labels or what else follows; describes the dataset or fails. */
static struct error *import_with_labels(enum npy_kind kind, size_t item, size_t ndim,
                                        const size_t *shape, const void *labels,
                                        struct dataset *dataset)
{
    const size_t series[] = {3, 2};
    const float x[] = {1, 2, 3, 4, 5, 6};
    struct error *error;
    char *bytes;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    npy_write_data(stream, NPY_FLOAT, 4, 2, series, x, NULL);
    npy_write_data(stream, kind, item, ndim, shape, labels, NULL);
    fclose(stream);
    error = import_bytes(&(struct import_options){0}, bytes, size, dataset);
    free(bytes);
    return error;
}

static void npy_labels_may_be_real_numbers(void **state)
{
    const double labels[] = {2.5, -1, 2.5}, bad[] = {1, INFINITY, 1};
    const size_t shape[] = {3}, four[] = {4};
    const int32_t whole[] = {0, 1, 0, 1};
    struct dataset dataset;
    char *description;

    (void)state;
    assert_ok(import_with_labels(NPY_FLOAT, 8, 1, shape, labels, &dataset));
    description = describe(&dataset);
    assert_string_equal(description, "3x1x2|1 0 1|-1,2.5|1 2 3 4 5 6");
    free(description);
    dataset_free(&dataset);
    assert_fails("x.npy: label 1 is not a finite number",
                 import_with_labels(NPY_FLOAT, 8, 1, shape, bad, &dataset));
    assert_fails("x.npy: 4 labels for 3 series",
                 import_with_labels(NPY_INT, 4, 1, four, whole, &dataset));
    assert_fails("not one of: labels (N,)",
                 import_with_labels(NPY_INT, 4, 2, (size_t[]){3, 1}, whole, &dataset));
}

static void label_files_have_one_label_for_each_series(void **state)
{
    const size_t series[] = {3, 2}, row[] = {1, 3}, column[] = {3, 1}, *shapes[] = {row, column};
    const uint32_t labels[] = {'b', 'a', 'b'};
    char x_path[] = "/tmp/sc-import-x-XXXXXX", y_path[] = "/tmp/sc-import-y-XXXXXX", *description;
    FILE *x = fdopen(mkstemp(x_path), "wb");
    const float values[] = {1, 2, 3, 4, 5, 6};

    (void)state;
    npy_write_data(x, NPY_FLOAT, 4, 2, series, values, NULL);
    fclose(x);
    close(mkstemp(y_path));
    for (size_t i = 0; i < 2; i++) {
        FILE *y = fopen(y_path, "wb");
        struct import *import;
        struct dataset dataset;

        npy_write_data(y, NPY_UNICODE, 4, 2, shapes[i], labels, NULL);
        fclose(y);
        assert_ok(import_new(&(struct import_options){0}, &import));
        if (shapes[i] == row) {
            assert_fails("labels must have the shape (N,)", import_file(import, x_path, y_path));
        } else {
            assert_ok(import_file(import, x_path, y_path));
            assert_ok(import_finish(import, &dataset));
            description = describe(&dataset);
            assert_string_equal(description, "3x1x2|1 0 1|a,b|1 2 3 4 5 6");
            free(description);
            dataset_free(&dataset);
        }
        import_free(import);
    }
    unlink(x_path);
    unlink(y_path);
}

static void npy_series_that_make_no_sense_are_refused(void **state)
{
    const struct {
        enum npy_kind kind;
        size_t item, ndim, shape[3];
        const char *reason;
    } cases[] = {
        {NPY_FLOAT, 4, 1, {4}, "in the shape (N, C, L) or (N, L)"},
        {NPY_UNICODE, 4, 2, {2, 2}, "must be numbers in the shape"},
        {NPY_FLOAT, 4, 2, {0, 3}, "the array is empty"},
        {NPY_FLOAT, 8, 2, {2, 2}, "series 1, channel 0, step 0: not finite as a 32-bit float"},
    };
    const double values[] = {1, 2, 1e300, 4};
    struct dataset dataset;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bytes;
        size_t size;
        FILE *stream = open_memstream(&bytes, &size);

        npy_write_data(stream, cases[i].kind, cases[i].item, cases[i].ndim, cases[i].shape, values,
                       NULL);
        fclose(stream);
        assert_fails(cases[i].reason,
                     import_bytes(&(struct import_options){0}, bytes, size, &dataset));
        free(bytes);
    }
}

static void names_of_npy_classes_must_be_as_many_as_the_labels_say(void **state)
{
    const char *const names[] = {"a", "b"};
    const int32_t labels[] = {0, 2, 1};
    const size_t series[] = {3, 2, 1};
    const float x[] = {1, 2, 3, 4, 5, 6};
    struct dataset dataset;
    char *bytes;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    (void)state;
    npy_write_data(stream, NPY_FLOAT, 4, 3, series, x, NULL);
    npy_write_data(stream, NPY_INT, 4, 1, series, labels, NULL);
    npy_write_strings(stream, names, 1, 2, NULL);
    fclose(stream);
    assert_fails("label 1 is 2, but there are 2 class names",
                 import_bytes(&(struct import_options){0}, bytes, size, &dataset));
    free(bytes);
    stream = open_memstream(&bytes, &size);
    npy_write_data(stream, NPY_FLOAT, 4, 3, series, x, NULL);
    npy_write_strings(stream, names, 1, 2, NULL);
    fclose(stream);
    assert_fails("class names without labels",
                 import_bytes(&(struct import_options){0}, bytes, size, &dataset));
    free(bytes);
}

/* ---- NPZ ---- */

/* Writes an NPZ file with arrays of those names, a NULL after the last; array i is (1, 2), i and
 * 5. */
static void write_npz(const char *path, const char *const *names)
{
    int failed;
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &failed);

    assert_non_null(zip);
    for (size_t i = 0; names[i]; i++) {
        const size_t shape[] = {1, 2};
        const float values[] = {(float)i, 5};
        char *bytes, member[32];
        size_t size;
        FILE *stream = open_memstream(&bytes, &size);

        npy_write_data(stream, NPY_FLOAT, 4, 2, shape, values, NULL);
        fclose(stream);
        snprintf(member, sizeof member, "%s.npy", names[i]);
        /* libzip frees the bytes. */
        assert_true(zip_file_add(zip, member, zip_source_buffer(zip, bytes, size, 1), 0) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

static void the_series_of_an_npz_are_the_one_array_with_such_a_name(void **state)
{
    static const struct {
        const char *names[4], *array, *expected, *message;
    } cases[] = {
        {{"weights", "X"}, NULL, "1x1x2|||1 5", NULL},
        {{"data_train", "weights"}, NULL, "1x1x2|||0 5", NULL},
        {{"X_train", "X_test"}, "X_test", "1x1x2|||1 5", NULL},
        {{"X_train", "weights", "X_test"},
         NULL,
         NULL,
         "several arrays of series: X_train, X_test; --array says which"},
        {{"weights", "Xs"},
         NULL,
         NULL,
         "no array is called X; --array says which of these are the series: weights, Xs"},
        {{"X", "y"}, "Z", NULL, "no array is called 'Z'; there are: X, y"},
    };
    char path[] = "/tmp/sc-import-npz-XXXXXX";

    (void)state;
    close(mkstemp(path));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct import_options options = {.format = "npz", .array = cases[i].array};
        struct import *import;
        struct error *error;
        struct dataset dataset;

        write_npz(path, cases[i].names);
        assert_ok(import_new(&options, &import));
        error = import_file(import, path, NULL);
        if (!error)
            error = import_finish(import, &dataset);
        if (cases[i].message) {
            assert_fails(cases[i].message, error);
        } else {
            char *description;

            assert_ok(error);
            description = describe(&dataset);
            assert_string_equal(description, cases[i].expected);
            free(description);
            dataset_free(&dataset);
        }
        import_free(import);
    }
    unlink(path);
}

/* ---- Threads ---- */

/* Text of several chunks, with an error in the last but one when asked for. */
static char *long_text(size_t rows, size_t bad_row)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    for (size_t i = 0; i < rows; i++)
        fprintf(stream, "%zu\t%zu\t%s\t%.7f\n", i % 7, i, i == bad_row ? "oops" : "0.5",
                (double)i / 7);
    fclose(stream);
    return text;
}

static void long_files_give_the_same_on_any_number_of_threads(void **state)
{
    enum { ROWS = 200000 };
    struct import_options options = {0};
    struct dataset one, many;
    char *text = long_text(ROWS, SIZE_MAX);

    (void)state;
    assert_true(strlen(text) > (size_t)4 << 20);
    assert_ok(import_text(&options, "a.tsv", text, &one));
    options.parallel = parallel_for;
    parallel_set_threads(3);
    assert_ok(import_text(&options, "a.tsv", text, &many));
    assert_int_equal(one.count, ROWS);
    assert_int_equal(many.count, ROWS);
    assert_memory_equal(one.x, many.x, 3 * ROWS * sizeof *one.x);
    assert_memory_equal(one.y, many.y, ROWS * sizeof *one.y);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(one.y[i] == (int32_t)(i % 7));
        assert_true(one.x[3 * i] == (float)i);
    }
    dataset_free(&one);
    dataset_free(&many);
    free(text);

    text = long_text(ROWS, 170000);
    check_bad_with(&options, "a.tsv", text, "a.tsv:170001: column 3: 'oops' is not a number");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ucr_files_of_all_ages_are_read),
        cmocka_unit_test(csv_has_labels_at_either_end_headers_and_quotes),
        cmocka_unit_test(ts_files_are_read),
        cmocka_unit_test(arff_files_are_read),
        cmocka_unit_test(relational_arff_files_are_read),
        cmocka_unit_test(columns_are_called_by_name_or_number),
        cmocka_unit_test(tables_as_pandas_writes_them_are_read),
        cmocka_unit_test(commas_can_be_decimal_points),
        cmocka_unit_test(one_value_in_a_row_makes_series_whatever_the_order),
        cmocka_unit_test(groups_are_numbered_in_order),
        cmocka_unit_test(problems_of_many_rows_are_said_together),
        cmocka_unit_test(foreign_files_are_recognised),
        cmocka_unit_test(labels_are_sorted_by_value_if_all_are_numbers),
        cmocka_unit_test(classes_of_another_dataset_can_be_used),
        cmocka_unit_test(many_classes_are_told_apart),
        cmocka_unit_test(several_files_are_pooled_in_order_under_one_numbering),
        cmocka_unit_test(unequal_lengths_are_errors_or_evened_out),
        cmocka_unit_test(missing_values_are_errors_or_filled),
        cmocka_unit_test(rows_of_nothing_but_separators_fit),
        cmocka_unit_test(bad_rows_are_named_by_line_and_column),
        cmocka_unit_test(bad_headers_are_named_by_line),
        cmocka_unit_test(npy_labels_are_numbered_again),
        cmocka_unit_test(npy_labels_may_be_real_numbers),
        cmocka_unit_test(label_files_have_one_label_for_each_series),
        cmocka_unit_test(npy_series_that_make_no_sense_are_refused),
        cmocka_unit_test(the_series_of_an_npz_are_the_one_array_with_such_a_name),
        cmocka_unit_test(names_of_npy_classes_must_be_as_many_as_the_labels_say),
        cmocka_unit_test(long_files_give_the_same_on_any_number_of_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
