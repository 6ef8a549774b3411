/* Small files of every kind for the fuzzers to start from: seeds FOLDER. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "slp.h"

static const char *folder;

static FILE *open_seed(const char *target, const char *name)
{
    char path[4096];
    FILE *stream;

    snprintf(path, sizeof path, "%s/fuzz_%s/%s", folder, target, name);
    stream = fopen(path, "wb");
    if (!stream) {
        perror(path);
        exit(1);
    }
    return stream;
}

static void write_text(const char *target, const char *name, const char *text)
{
    FILE *stream = open_seed(target, name);

    fputs(text, stream);
    fclose(stream);
}

static void write_texts(void)
{
    static const char *const numbers[] = {"1.5",
                                          "-0.25e-3",
                                          "1e308",
                                          "nan",
                                          "-Infinity",
                                          "9007199254740993",
                                          "1.00000000000000011102230246251565404236316680908203125",
                                          "123456789012345678901234567890e-40",
                                          "4.9e-324"};
    char name[16];

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(name, sizeof name, "%zu", i);
        write_text("number", name, numbers[i]);
    }
    write_text("ucr", "tabs", "1\t0.5\t-1\n2\tNaN\t3\n");
    write_text("ucr", "spaces", "  1.0000000e+00   1.5   2.5\r\n  -1.0000000e+00   3 4\r\n");
    write_text("ucr", "comments", "# x\n\na;1;2\nb;?;4");
    write_text("csv", "header", "class,t0,t1\n\"a \"\"b\"\"\",1,2\nc,,4\n");
    write_text("csv", "last", "1,2,\"x,y\"\n3,4,z\n");
    write_text(
        "ts", "one",
        "# c\n@problemName p\n@timeStamps false\n@missing true\n@univariate true\n"
        "@equalLength true\n@seriesLength 3\n@classLabel true a b\n@data\n1,2,3:a\n4,?,6:b\n");
    write_text(
        "ts", "many",
        "@univariate false\n@dimension 2\n@classLabel true 1 2\n@data\n1,2:3,4:1\n5,6:7,8:2.0\n");
    write_text("ts", "plain", "@classLabel false\n@data\n1,2:3,4\n");
    write_text("arff", "plain",
               "% c\n@RELATION 'r s'\n@ATTRIBUTE t0 NUMERIC\n@attribute 't 1' real\n"
               "@attribute target {1,'b c',\"d\\'\"}\n@DATA\n1,2,1\n?,4,'b c'\n");
    write_text(
        "arff", "relational",
        "@relation M\n@attribute s relational\n@attribute c0 numeric\n@attribute c1 numeric\n"
        "@end s\n@attribute class {S,W}\n@data\n'1,2\\n3,4',W\n\"5,6\\n7,8\",S\n");
    write_text("import", "ts", "@classLabel true a\n@data\n1,2:a\n");
    write_text("import", "arff",
               "@relation r\n@attribute t numeric\n@attribute class {a}\n@data\n1,a\n");
}

/* The same bytes for all targets that read NPY. */
static void write_set(const char *name, const struct dataset *set)
{
    static const char *const targets[] = {"npy", "dataset", "import"};

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        FILE *stream = open_seed(targets[i], name);

        error_free(dataset_write(stream, set));
        fclose(stream);
    }
}

static void write_sets(void)
{
    static char first[] = "a",
                second[] = "Gr\xc3\xbc\xc3\x9f"
                           "e",
                notes[] = "made by seeds";
    char *names[] = {first, second};
    float x[24], soft[] = {1, 2, 3, 4, 5, 6};
    int32_t y[] = {0, 1, 0};
    struct dataset set = {.count = 3, .channels = 2, .length = 4, .classes = 2, .x = x};

    for (size_t i = 0; i < 24; i++)
        x[i] = (float)i / 7;
    write_set("x", &set);
    set.y = y;
    write_set("xy", &set);
    set.names = names;
    set.notes = notes;
    write_set("named", &set);
    set.soft = soft;
    set.flat = true;
    write_set("soft", &set);
    x[5] = NAN;
    write_set("nan", &set);
}

static void write_types(void)
{
    static const struct {
        enum npy_kind kind;
        size_t size;
    } types[] = {{NPY_BOOL, 1}, {NPY_INT, 1},  {NPY_INT, 2},   {NPY_INT, 8},  {NPY_UINT, 1},
                 {NPY_UINT, 4}, {NPY_UINT, 8}, {NPY_FLOAT, 2}, {NPY_FLOAT, 8}};
    const unsigned char bytes[48] = {1, 0, 1, 1};
    const size_t shape[] = {2, 3};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char name[24];
        FILE *stream;

        npy_type_name(types[i].kind, types[i].size, name);
        stream = open_seed("npy", name + 1);
        npy_write_data(stream, types[i].kind, types[i].size, 2, shape, bytes, NULL);
        fclose(stream);
    }
}

static void write_pool(void)
{
    struct shapelet_pool pool;
    FILE *stream = open_seed("slp", "pool");

    if (slp_new(2, 7, &pool))
        exit(1);
    pool.channels = 2;
    pool.steps = 16;
    pool.classes = 2;
    pool.notes = strdup("made by seeds");
    pool.shapelets[0] = (struct shapelet){pool.values, 0, 3, 4, 0, 5, 9, 0.5f, 1.5f};
    pool.shapelets[1] =
        (struct shapelet){pool.values + 4, 1, 13, 3, -1, SLP_WINDOW_FULL, 2, 0.25f, 2.5f};
    error_free(slp_write(stream, &pool));
    slp_free(&pool);
    fclose(stream);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    folder = argv[1];
    write_texts();
    write_sets();
    write_types();
    write_pool();
    return 0;
}
