/* Teachers: what PyTorch writes is read, what we write is read by PyTorch, and what is broken is
 * refused. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/teacher.h"
#include "nn/train.h"
#include "formats/npy-c/npy-c.h"
#include "support/golden.h"
#include "formats/tch.h"

static char *write_teacher(const struct teacher *teacher, size_t *size)
{
    char *bytes;
    FILE *stream = open_memstream(&bytes, size);

    assert_ok(teacher_write(stream, teacher));
    fclose(stream);
    return bytes;
}

static struct npy_array next_array(npy_reader *reader)
{
    struct npy_error error;
    struct npy_array array;

    assert_int_equal(npy_next(reader, &array, &error), 1);
    assert_int_equal(npy_convert(&array, NPY_FLOAT, sizeof(float), &error), 0);
    return array;
}

static void check_logits(const char *series, const char *file)
{
    struct npy_error error;
    npy_reader *reader = npy_open(golden_path(series), &error);
    struct npy_array x, expected;
    struct teacher teacher;
    struct tensor_dataset tensors = {0};
    struct pass *pass;
    float *logits;

    assert_non_null(reader);
    x = next_array(reader);
    expected = next_array(reader);
    assert_ok(teacher_read(golden_path(file), backend_cpu(), &teacher));
    assert_string_equal(teacher.notes, "written by PyTorch");
    tensors.count = x.shape[0];
    tensors.x = x.data;
    logits = calloc(expected.count, sizeof *logits);
    assert_ok(pass_new(teacher.network, 3, 0, &pass)); /* in two parts */
    assert_ok(network_predict(pass, teacher.parameters, teacher.buffers, &tensors, logits, NULL));
    for (size_t i = 0; i < expected.count; i++)
        assert_near(logits[i], ((float *)expected.data)[i], 2e-6);
    pass_free(pass);
    teacher_free(&teacher);
    free(logits);
    npy_array_free(&x);
    npy_array_free(&expected);
    npy_close(reader);
}

static void a_teacher_written_by_pytorch_gives_pytorchs_logits(void **state)
{
    (void)state;
    check_logits("teacher.npy", "teacher.tch");
    check_logits("fcn.npy", "fcn.tch");
    check_logits("resnet.npy", "resnet.tch");
    check_logits("transformer.npy", "transformer.tch");
    check_logits("pre-norm.npy", "pre-norm.tch");
    check_logits("gru.npy", "gru.tch");
    check_logits("inception.npy", "inception.tch");
    check_logits("tcn.npy", "tcn.tch");
    check_logits("mlp.npy", "mlp.tch");
}

static void a_teacher_survives_writing_and_reading(void **state)
{
    struct teacher teacher;
    struct tch before, after;
    char *bytes;
    size_t size;

    (void)state;
    assert_ok(tch_read(golden_path("teacher.tch"), &before));
    assert_ok(teacher_read(golden_path("teacher.tch"), backend_cpu(), &teacher));
    bytes = write_teacher(&teacher, &size);
    assert_ok(tch_read_memory(bytes, size, &after));
    assert_string_equal(after.notes, before.notes);
    assert_int_equal(after.count + 2, before.count); /* without num_batches_tracked */
    for (size_t i = 0; i < after.count; i++) {
        const struct tch_tensor *a = &after.tensors[i], *b = tch_find(&before, a->name);

        assert_non_null(b);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->ndim, b->ndim);
        assert_memory_equal(a->shape, b->shape, a->ndim * sizeof *a->shape);
        assert_memory_equal(a->values, b->values, a->count * sizeof *a->values);
    }
    free(bytes);
    tch_free(&before);
    tch_free(&after);
    teacher_free(&teacher);
}

/* The golden file with one piece of its text replaced by another of any length. */
static struct error *read_changed(const char *from, const char *to)
{
    char path[] = "/tmp/shapecond-tch-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *stream = fdopen(descriptor, "wb");
    size_t size, before;
    unsigned char *bytes = golden_bytes("teacher.tch", &size), *at;
    struct teacher teacher;
    struct error *error;

    at = memmem(bytes, size, from, strlen(from));
    assert_non_null(at);
    before = (size_t)(at - bytes);
    fwrite(bytes, 1, before, stream);
    fputs(to, stream);
    fwrite(at + strlen(from), 1, size - before - strlen(from), stream);
    fclose(stream);
    error = teacher_read(path, backend_cpu(), &teacher);
    if (!error)
        teacher_free(&teacher);
    remove(path);
    free(bytes);
    return error;
}

static void broken_teachers_are_refused_with_the_reason(void **state)
{
    (void)state;
    assert_ok(read_changed("note written", "note here written"));
    assert_fails("not a teacher", read_changed("%TCH 1", "%TCH 2"));
    assert_fails("no network line", read_changed("network cnn", "note cnn"));
    assert_fails("begins with cnn", read_changed("network cnn", "network rnn"));
    assert_fails("unknown line \"tensors", read_changed("tensor feat", "tensors feat"));
    assert_fails("features.0.bias occurs twice",
                 read_changed("tensor features.0.weight", "tensor features.0.bias"));
    assert_fails("features.0.weight is missing",
                 read_changed("tensor features.0.weight", "tensor features.0.weigth"));
    assert_fails("features.0.weight: expected shape (7, 2, 3), got (6, 2, 3)",
                 read_changed("width=6", "width=7"));
    assert_fails("unexpected data after the last", read_changed("tensor classifier.bias\n", ""));
    assert_fails("does not belong to the network", read_changed("norm=batch", "norm=instance"));
    assert_fails("ends before its array",
                 read_changed("tensor classifier.bias\n", "tensor classifier.bias\ntensor more\n"));
    assert_fails("vanish", read_changed("length=14", "length=2"));
    assert_fails(
        "features.1.running_var: value 0 is negative",
        read_changed("mean\ntensor features.1.running_var", "var\ntensor features.1.running_mean"));
    assert_fails("zero byte", read_changed("end\n\x93NUMPY", "note "));
}

/* Names are looked for among those before them. */
static void more_tensors_than_any_network_has_are_refused_soon(void **state)
{
    char *bytes;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);
    struct tch tch;

    (void)state;
    fputs("%TCH 1\nnetwork cnn\n", stream);
    for (int i = 0; i < 100000; i++)
        fprintf(stream, "tensor features.0.weight.%d\n", i);
    fputs("end\n", stream);
    fclose(stream);
    assert_fails("more than 4096 tensors", tch_read_memory(bytes, size, &tch));
    free(bytes);
}

static void every_cut_of_a_teacher_is_refused(void **state)
{
    size_t size;
    unsigned char *bytes = golden_bytes("teacher.tch", &size);
    struct tch tch;

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut ? cut : 1); /* so that reading past it is seen */
        struct error *error;

        memcpy(part, bytes, cut);
        error = tch_read_memory(part, cut, &tch);
        assert_non_null(error);
        error_free(error);
        free(part);
    }
    free(bytes);
}

static void values_that_are_not_finite_are_refused(void **state)
{
    float values[2] = {1, NAN};
    struct tch_tensor tensor = {.name = "x", .ndim = 1, .shape = {2}, .count = 2, .values = values};
    struct tch tch = {.network = "cnn", .count = 1, .tensors = &tensor}, back;
    char *bytes;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    (void)state;
    assert_ok(tch_write(stream, &tch));
    fclose(stream);
    assert_fails("x: value 1 is not finite", tch_read_memory(bytes, size, &back));
    free(bytes);
}

/* Reads one teacher and writes it to another file: for check_teacher.py. */
static int copy_teacher(const char *from, const char *to)
{
    FILE *stream = fopen(to, "wb");
    struct teacher teacher;
    struct error *error = teacher_read(from, backend_cpu(), &teacher);

    if (!error && stream)
        error = teacher_write(stream, &teacher);
    if (error)
        fprintf(stderr, "%s\n", error_message(error));
    return error || !stream || fclose(stream) != 0;
}

static void notes_end_where_they_end(void **state)
{
    /* Without a newline at the end, and with something after it in memory. */
    char notes[] = "one\ntwo\0three", network[] = "cnn", *bytes;
    struct tch tch = {.network = network, .notes = notes};
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);

    (void)state;
    assert_ok(tch_write(stream, &tch));
    fclose(stream);
    assert_non_null(strstr(bytes, "note one\nnote two\nend\n"));
    free(bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_end_where_they_end),
        cmocka_unit_test(a_teacher_written_by_pytorch_gives_pytorchs_logits),
        cmocka_unit_test(a_teacher_survives_writing_and_reading),
        cmocka_unit_test(broken_teachers_are_refused_with_the_reason),
        cmocka_unit_test(more_tensors_than_any_network_has_are_refused_soon),
        cmocka_unit_test(every_cut_of_a_teacher_is_refused),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
    };

    if (argc == 3)
        return copy_teacher(argv[1], argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
