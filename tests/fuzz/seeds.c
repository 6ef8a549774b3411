/* Small files of every kind for the fuzzers to start from: seeds FOLDER. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"
#include "formats/ckpt.h"
#include "data/scale.h"
#include "formats/dataset.h"
#include "formats/export.h"
#include "match/model.h"
#include "nn/backend.h"
#include "nn/teacher.h"
#include "formats/slp.h"

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

static void check(struct error *error)
{
    if (!error)
        return;
    fprintf(stderr, "seeds: %s\n", error_message(error));
    exit(1);
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
    write_text("csv", "pandas", ",id,0,1,label\n0,x,1.5,2,b\n1,y,3,4,a\n");
    write_text("csv", "counting", "0,1,2,3,label\n5,6,7,8,b\n1,2,3,5,a\n");
    write_text("csv", "decimal-comma", "t0;t1;label\n0,5;-1,25;b\n3;4,5e1;a\n");
    write_text("long", "two", "1,5\n1,6\n2,7\n2,8\n\n");
    write_text("long", "five", "1,0,x,5,a\n1,1,x,6,a\n1,0,y,7,a\n1,1,y,8,a\n2,0,x,1,b\n");
    write_text("long", "columns", "id,t,u,v,l\n1,0,5,6,a\n1,1,7,8,a\n\"2\",0,1,,b\n");
    write_text("import", "ts", "@classLabel true a\n@data\n1,2:a\n");
    write_text("import", "arff",
               "@relation r\n@attribute t numeric\n@attribute class {a}\n@data\n1,a\n");
}

static void write_tables(void)
{
    write_text("table", "tabs", "# of sc-eval\nseed\taccuracy\n1\t90.5\n2\t-\n\n3\t\n");
    write_text("table", "commas", "step, loss ,a b\r\n1,0.5,nan\r\n2,1e-3,inf\r\n");
    write_text("table", "spaces", "  1   2 3\n 4 5   6\n");
    write_text("report", "table", "seed\taccuracy\tF1\n1\t90.5\t0.9\nmean\t90.5\t0.9\n");
    write_text("report", "commented", "# test\nseed\taccuracy\t\nmean\t1e1\t");
    write_text("figures", "table", "epoch\tloss\tacc\n1\t2\t3\n2\t-1e308\t1e30\n3\t-\tnan\n");
    write_text("figures", "scores",
               "seed\taccuracy\n0\t50\n1\t60\nmean\t55\ndeviation\t5\n\ntrue\tas:a\tas:b\n"
               "a\t1\t2\nb\t3\t4\n");
    write_text("figures", "times", "aa\tbb\t1.50\tsc-a -o x/y z\naa\tbb\t2\tsc-b\n");
}

static const char *const networks[] = {
    "cnn depth=1 width=1 kernel=1 norm=none act=relu pool=none channels=1 length=2 classes=2",
    "cnn depth=2 width=2 kernel=3 norm=batch act=leaky pool=max channels=2 length=9 classes=3 "
    "features=2",
    "cnn\tdepth=1 width=4 norm=instance act=sigmoid pool=mean length=4 channels=1 classes=2",
    "cnn depth=16 width=1024 kernel=255 norm=layer channels=1048576 length=16777216 "
    "classes=1048576 features=1048576",
    "transformer width=4 heads=2 layers=2 ff=3 patch=2 norm=layer act=gelu dropout=0.125 "
    "positions=learned end=mean channels=2 length=9 classes=2",
    "gru hidden=3 layers=2 end=last channels=1 length=4 classes=2",
    "cnn"};
enum { NETWORKS = sizeof networks / sizeof *networks, SMALL_NETWORKS = 3 };

static void write_networks(void)
{
    char name[16];

    for (size_t i = 0; i < NETWORKS; i++) {
        snprintf(name, sizeof name, "%zu", i);
        write_text("architecture", name, networks[i]);
    }
    for (size_t i = 0; i < SMALL_NETWORKS; i++) {
        struct architecture architecture;
        struct teacher teacher;
        FILE *stream;

        snprintf(name, sizeof name, "%zu", i);
        stream = open_seed("teacher", name);
        check(architecture_parse(networks[i], &architecture));
        check(teacher_new(&architecture, backend_cpu(), &teacher));
        network_initialise(teacher.network, 1, 0, teacher.parameters, teacher.buffers);
        check(teacher_write(stream, &teacher));
        teacher_free(&teacher);
        fclose(stream);
    }
}

static void write_experts(void)
{
    for (int towers = 1; towers <= 2; towers++) {
        const char *text = towers == 1 ? "\ntowers=1\nmade by seeds" : "\ntowers=2\n";
        char *whole, name[16];
        struct architecture architecture;
        struct model model;
        FILE *stream;
        float *points;

        check(architecture_parse(networks[0], &architecture));
        check(model_new(&architecture, towers == 2, &model));
        snprintf(name, sizeof name, "%d", towers);
        stream = open_seed("experts", name);
        points = calloc(4 * model.parameter_count, sizeof *points);
        if (!points || asprintf(&whole, "%s%s", networks[0], text) < 0)
            exit(1);
        npy_write_strings(stream, (const char *const *)&whole, 0, 1, NULL);
        npy_write_data(stream, NPY_FLOAT, 4, 3, (size_t[]){2, 2, model.parameter_count}, points,
                       NULL);
        free(points);
        free(whole);
        model_free(&model);
        fclose(stream);
    }
}

static void write_statistics(void)
{
    double mean[] = {0.5, -3}, deviation[] = {1, 2.5};
    struct scale scale = {.channels = 2, .mean = mean, .deviation = deviation};
    FILE *stream = open_seed("statistics", "notes");

    check(scale_write(stream, &scale, "made by seeds"));
    fclose(stream);
    stream = open_seed("statistics", "plain");
    check(scale_write(stream, &scale, NULL));
    fclose(stream);
}

/* What a teacher command would write, for the shapes of fuzz_command.c. */
static void write_answers(bool features, size_t padding)
{
    const char *ready = "ready 1";
    const float values[12] = {1, 2, 3};
    char name[32];
    FILE *stream;

    snprintf(name, sizeof name, "%s-%zu", features ? "features" : "plain", padding);
    stream = open_seed("command", name);
    npy_write_strings(stream, &ready, 0, 1, NULL);
    npy_write_data(stream, NPY_FLOAT, 4, 2, (size_t[]){2, 2}, values, NULL);
    npy_write_data(stream, NPY_FLOAT, 4, 3, (size_t[]){2, 2, 3}, values, NULL);
    if (features)
        npy_write_data(stream, NPY_FLOAT, 4, 2, (size_t[]){2, 2}, values, NULL);
    npy_write_data(stream, NPY_FLOAT, 4, 0, NULL, values, NULL);
    for (size_t i = 0; i < padding; i++)
        fputc(0, stream);
    fclose(stream);
}

static void write_refusal(void)
{
    const char *words = "error this teacher is for other series";
    FILE *stream = open_seed("command", "refusal");

    npy_write_strings(stream, &words, 0, 1, NULL);
    fclose(stream);
}

static void write_records(const char *target, checkpoint_run *run)
{
    FILE *stream = open_seed(target, "whole");
    size_t size, record;
    uint8_t *bytes = checkpoint_records(run, &size, &record);

    fwrite(bytes, 1, size, stream);
    fclose(stream);
    /* A run that was interrupted, or a torn record. */
    stream = open_seed(target, "half");
    fwrite(bytes, 1, size / 2, stream);
    fclose(stream);
    free(bytes);
}

static void write_checkpoints(void)
{
    const struct ckpt_run run = {"fuzzing", "0123", "libFuzzer"};
    const struct ckpt_part part = {"8 bytes.", 8};
    char path[4096];

    snprintf(path, sizeof path, "%s/fuzz_ckpt/record", folder);
    check(ckpt_write(path, &run, &part, 1));
    snprintf(path, sizeof path, "%s/fuzz_ckpt/empty", folder);
    check(ckpt_write(path, &run, NULL, 0));
    write_records("training_checkpoint", training_run);
    write_records("matching_checkpoint", matching_run);
    write_records("experts_checkpoint", experts_run);
}

/* The same bytes for all targets that read NPY. */
static void write_set(const char *name, const struct dataset *dataset)
{
    static const char *const targets[] = {"npy", "dataset", "import"};

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        FILE *stream = open_seed(targets[i], name);

        check(dataset_write(stream, dataset));
        fclose(stream);
    }
    for (size_t i = 0; i < 2; i++) {
        static const char *const archives[] = {"npz", "import"};
        char other[64];
        FILE *stream;

        snprintf(other, sizeof other, "%s.npz", name);
        stream = open_seed(archives[i], other);
        check(export_npz(stream, dataset));
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
    struct dataset dataset = {.count = 3, .channels = 2, .length = 4, .classes = 2, .x = x};

    for (size_t i = 0; i < 24; i++)
        x[i] = (float)i / 7;
    write_set("x", &dataset);
    dataset.y = y;
    write_set("xy", &dataset);
    dataset.names = names;
    dataset.notes = notes;
    write_set("named", &dataset);
    dataset.groups = y;
    write_set("grouped", &dataset);
    dataset.soft = soft;
    dataset.flat = true;
    write_set("soft", &dataset);
    dataset.flat = false;
    check(dataset_new_views(&dataset, 5, 4));
    dataset.views.step = 0.5;
    write_set("views", &dataset);
    check(dataset_quantise(&dataset, 4));
    write_set("few-bits", &dataset);
    check(dataset_pack(&dataset, 0.25, false, NULL));
    write_set("compressed", &dataset);
    dataset_unround(&dataset);
    dataset.channels = 1;
    dataset.length = 8;
    check(dataset_pack(&dataset, 0.25, true, NULL));
    write_set("transformed", &dataset);
    dataset.channels = 2;
    dataset.length = 4;
    dataset_unround(&dataset);
    npy_array_free(&dataset.views.storage);
    dataset.views.count = 0;
    x[5] = NAN;
    write_set("nan", &dataset);
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

    check(slp_new(2, 7, &pool));
    pool.channels = 2;
    pool.steps = 16;
    pool.classes = 2;
    pool.notes = strdup("made by seeds");
    pool.shapelets[0] = (struct shapelet){pool.values, 0, 3, 4, 0, 5, 9, 0.5f, 1.5f};
    pool.shapelets[1] =
        (struct shapelet){pool.values + 4, 1, 13, 3, -1, SLP_WINDOW_FULL, 2, 0.25f, 2.5f};
    check(slp_write(stream, &pool));
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
    write_tables();
    write_networks();
    write_experts();
    write_statistics();
    for (size_t padding = 0; padding < 4; padding++) {
        write_answers(false, padding);
        write_answers(true, padding);
    }
    write_refusal();
    write_checkpoints();
    return 0;
}
