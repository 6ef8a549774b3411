/* Networks against PyTorch: every case of a file that tests/golden/networks.py wrote in double
 * precision.  Run with the names of such files it checks those, and says how close each was. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/loss.h"
#include "nn/pass.h"
#include "nn/optimiser.h"
#include "formats/npy-c/npy-c.h"
#include "support/golden.h"

enum { MOST_ARRAYS = 64 };

/* One case: named pieces of one flat array. */
struct network_case {
    struct npy_array text, values;
    char **strings;
    char architecture[512], loss[16];
    size_t arrays;
    char names[MOST_ARRAYS][32];
    const float *data[MOST_ARRAYS];
    size_t sizes[MOST_ARRAYS];
};

/* Everything that a case needs to run. */
struct fixture {
    const struct network_case *golden;
    struct network *network;
    struct pass *pass;
    size_t samples, classes;
    int32_t *labels;
    float *parameters, *buffers;
    struct loss loss;
    struct targets targets;
    double worst; /* of all comparisons, as a share of what is allowed */
    char worst_name[48];
};

static const float *array(const struct network_case *golden, const char *name, size_t *size)
{
    for (size_t i = 0; i < golden->arrays; i++)
        if (strcmp(golden->names[i], name) == 0) {
            if (size)
                *size = golden->sizes[i];
            return golden->data[i];
        }
    return NULL;
}

static size_t size_of(const struct network_case *golden, const char *name)
{
    size_t size = 0;

    assert_non_null(array(golden, name, &size));
    return size;
}

static float *copy_of(const struct network_case *golden, const char *name)
{
    size_t size = size_of(golden, name);
    float *copy = malloc((size + 1) * sizeof *copy);

    assert_non_null(copy);
    memcpy(copy, array(golden, name, NULL), size * sizeof *copy);
    return copy;
}

static bool next_case(npy_reader *reader, struct network_case *golden)
{
    struct npy_error error;
    char *rest, *line;
    const float *at;

    memset(golden, 0, sizeof *golden);
    if (npy_next(reader, &golden->text, &error) != 1)
        return false;
    assert_int_equal(npy_next(reader, &golden->values, &error), 1);
    golden->strings = npy_strings(&golden->text, &error);
    at = golden->values.data;
    line = strtok_r(golden->strings[0], "\n", &rest);
    snprintf(golden->architecture, sizeof golden->architecture, "%s", line);
    snprintf(golden->loss, sizeof golden->loss, "%s", strtok_r(NULL, "\n", &rest));
    while ((line = strtok_r(NULL, "\n", &rest))) {
        size_t i = golden->arrays++;

        assert_int_equal(sscanf(line, "%31s %zu", golden->names[i], &golden->sizes[i]), 2);
        golden->data[i] = at;
        at += golden->sizes[i];
    }
    assert_ptr_equal(at, (float *)golden->values.data + golden->values.count);
    return true;
}

static void free_case(struct network_case *golden)
{
    free(golden->strings);
    npy_array_free(&golden->text);
    npy_array_free(&golden->values);
}

/* Some values of an array: the largest difference, beside the largest value (or a least one), is at
 * most the tolerance. */
static void compare_part(struct fixture *f, const char *name, const float *values,
                         const float *expected, size_t size, double largest, double tolerance)
{
    double distance = 0;

    for (size_t i = 0; i < size; i++) {
        largest = fmax(largest, fabs((double)expected[i]));
        distance = isnan(values[i]) ? INFINITY
                                    : fmax(distance, fabs((double)values[i] - (double)expected[i]));
    }
    if (distance / largest / tolerance > f->worst) {
        f->worst = distance / largest / tolerance;
        snprintf(f->worst_name, sizeof f->worst_name, "%s", name);
    }
    if (distance > tolerance * largest)
        fail_msg("%s: %s is off by %g of %g", f->golden->architecture, name, distance, largest);
}

static void compare(struct fixture *f, const char *name, const float *values, double tolerance)
{
    size_t size = 0;
    const float *expected = array(f->golden, name, &size);

    assert_non_null(expected);
    compare_part(f, name, values, expected, size, 1e-3, tolerance);
}

/* Parameter by parameter, so that large gradients do not hide errors of small ones.  Those that are
 * nothing but what rounding left over are held against the large ones all the same. */
static void compare_parameters(struct fixture *f, const char *name, const float *values,
                               double tolerance)
{
    size_t size = 0;
    const float *expected = array(f->golden, name, &size);
    double largest = 1e-3;

    compare(f, name, values, tolerance);
    for (size_t i = 0; i < size; i++)
        if (fabs((double)expected[i]) > largest) /* of fmax gcc 12 for arm64 dies */
            largest = fabs((double)expected[i]);
    for (size_t i = 0; i < f->network->parameter_views; i++) {
        const struct network_view *view = &f->network->parameters[i];

        compare_part(f, view->name, values + view->offset, expected + view->offset, view->count,
                     largest / 30, tolerance);
    }
}

static struct forward forward_of(const struct fixture *f, bool training)
{
    return (struct forward){.count = f->samples,
                            .x = array(f->golden, "x", NULL),
                            .features = array(f->golden, "features", NULL),
                            .parameters = f->parameters,
                            .buffers = f->buffers,
                            .training = training,
                            .momentum = 0.1f};
}

static void set_up(struct fixture *f, const struct network_case *golden)
{
    const float *options = array(golden, "options", NULL), *labels;
    struct architecture architecture;
    enum loss_kind kind = strcmp(golden->loss, "labels") == 0 ? LOSS_LABELS
                          : strcmp(golden->loss, "soft") == 0 ? LOSS_SOFT
                                                              : LOSS_KL;

    *f = (struct fixture){.golden = golden};
    assert_ok(architecture_parse(golden->architecture, &architecture));
    assert_ok(network_new(&architecture, backend_cpu(), &f->network));
    assert_int_equal(f->network->parameter_count, size_of(golden, "parameters"));
    assert_int_equal(f->network->buffer_count, size_of(golden, "buffers"));
    f->samples = size_of(golden, "labels");
    f->classes = architecture.classes;
    assert_ok(pass_new(f->network, f->samples, PASS_BACKWARD | PASS_TANGENT, &f->pass));
    f->parameters = copy_of(golden, "parameters");
    f->buffers = copy_of(golden, "buffers");
    f->labels = calloc(f->samples, sizeof *f->labels);
    labels = array(golden, "labels", NULL);
    for (size_t i = 0; i < f->samples; i++)
        f->labels[i] = (int32_t)labels[i];
    f->loss = (struct loss){kind, options[1], options[2]};
    f->targets = (struct targets){f->labels, array(golden, "targets", NULL)};
}

static void tear_down(struct fixture *f)
{
    pass_free(f->pass);
    network_free(f->network);
    free(f->parameters);
    free(f->buffers);
    free(f->labels);
}

static float *zeros(size_t count)
{
    float *memory = calloc(count + 1, sizeof *memory);

    assert_non_null(memory);
    return memory;
}

/* Logits, loss, gradients, running statistics, then their tangents. */
static void check_derivatives(struct fixture *f)
{
    const struct network_case *golden = f->golden;
    bool training = array(golden, "options", NULL)[0] != 0;
    struct forward forward = forward_of(f, training);
    float *dlogits = zeros(f->samples * f->classes), *dtargets = zeros(f->samples * f->classes);
    struct backward backward = {.logits = dlogits,
                                .parameters = zeros(f->network->parameter_count),
                                .x = zeros(size_of(golden, "x")),
                                .features = zeros(size_of(golden, "features"))};
    const float *logits = pass_forward(f->pass, &forward), *rlogits;
    float loss;

    compare(f, "logits", logits, 1e-5);
    loss =
        (float)loss_value(&f->loss, f->samples, f->classes, logits, &f->targets, dlogits, dtargets);
    compare(f, "loss", &loss, 1e-5);
    pass_backward(f->pass, &backward);
    compare_parameters(f, "d_parameters", backward.parameters, 3e-5);
    compare(f, "d_x", backward.x, 3e-5);
    compare(f, "d_features", backward.features, 3e-5);
    compare(f, "d_targets", dtargets, 3e-5);
    compare(f, "buffers_after", f->buffers, 1e-5);
    if (array(golden, "v_x", NULL)) {
        struct tangent tangent = {array(golden, "v_parameters", NULL), array(golden, "v_x", NULL),
                                  array(golden, "v_features", NULL)};

        rlogits = pass_tangent_forward(f->pass, &tangent);
        loss_tangent(&f->loss, f->samples, f->classes, logits, &f->targets, rlogits,
                     array(golden, "v_targets", NULL), dlogits, dtargets);
        pass_tangent_backward(f->pass, &backward);
        compare_parameters(f, "r_parameters", backward.parameters, 1e-4);
        compare(f, "r_x", backward.x, 1e-4);
        compare(f, "r_features", backward.features, 1e-4);
        compare(f, "r_targets", dtargets, 1e-4);
    }
    free(dlogits);
    free(dtargets);
    free(backward.parameters);
    free(backward.x);
    free(backward.features);
}

static void restart(struct fixture *f)
{
    const float *buffers = array(f->golden, "buffers", NULL);

    memcpy(f->parameters, array(f->golden, "parameters", NULL),
           f->network->parameter_count * sizeof *f->parameters);
    memcpy(f->buffers, buffers, f->network->buffer_count * sizeof *f->buffers);
}

/* 0.99 cross-entropy + the distance of the batch statistics, in inference mode. */
static void check_matching(struct fixture *f)
{
    struct matching matching = {0.01, 10.0, array(f->golden, "options", NULL)[3] != 0};
    struct forward forward = forward_of(f, false);
    struct loss loss = {LOSS_LABELS, 1.0f, 0.99f};
    float *dlogits = zeros(f->samples * f->classes), *dx = zeros(size_of(f->golden, "x"));
    const float *logits;
    float distance;
    double sum;

    if (!array(f->golden, "match", NULL)) {
        free(dlogits);
        free(dx);
        return;
    }
    restart(f);
    forward.statistics = true;
    logits = pass_forward(f->pass, &forward);
    loss_value(&loss, f->samples, f->classes, logits, &f->targets, dlogits, NULL);
    pass_match(f->pass, &matching, &sum);
    distance = (float)sum;
    compare(f, "match", &distance, 2e-5);
    pass_backward(f->pass, &(struct backward){.logits = dlogits, .x = dx});
    compare(f, "match_x", dx, 3e-5);
    free(dlogits);
    free(dx);
}

static void check_optimiser(struct fixture *f, const char *name, struct optimiser_options options)
{
    struct loss loss = {LOSS_LABELS, 1.0f, 1.0f};
    struct forward forward = forward_of(f, true);
    float *dlogits = zeros(f->samples * f->classes);
    float *gradient = zeros(f->network->parameter_count);
    struct optimiser optimiser;

    if (array(f->golden, name, NULL)) {
        restart(f);
        assert_ok(optimiser_new(&options, backend_cpu(), f->network->parameter_count, &optimiser));
        for (int step = 0; step < 10; step++) {
            const float *logits = pass_forward(f->pass, &forward);

            loss_value(&loss, f->samples, f->classes, logits, &f->targets, dlogits, NULL);
            pass_backward(f->pass, &(struct backward){.logits = dlogits, .parameters = gradient});
            optimiser_step(&optimiser, options.rate, gradient, f->parameters);
        }
        compare_parameters(f, name, f->parameters, 1e-4);
        optimiser_free(&optimiser);
    }
    free(dlogits);
    free(gradient);
}

static void check_optimisers(struct fixture *f)
{
    struct optimiser_options sgd = {
        .kind = OPTIMISER_SGD, .rate = 0.05, .momentum = 0.9, .weight_decay = 1e-3};
    struct optimiser_options adam = optimiser_defaults(OPTIMISER_ADAM);
    struct optimiser_options adamw = optimiser_defaults(OPTIMISER_ADAMW);

    adam.rate = adamw.rate = 0.01;
    adam.beta1 = 0.5;
    adam.beta2 = 0.9;
    adam.weight_decay = 1e-2;
    check_optimiser(f, "after_sgd", sgd);
    check_optimiser(f, "after_adam", adam);
    check_optimiser(f, "after_adamw", adamw);
}

static size_t check_file(const char *path, bool report)
{
    struct npy_error error;
    struct network_case golden;
    npy_reader *reader = npy_open(path, &error);
    size_t cases = 0;

    assert_non_null(reader);
    for (; next_case(reader, &golden); cases++) {
        struct fixture f;

        set_up(&f, &golden);
        check_derivatives(&f);
        check_matching(&f);
        check_optimisers(&f);
        if (report)
            printf("# %s: %.2f of the tolerance in %s\n", golden.architecture, f.worst,
                   f.worst_name);
        tear_down(&f);
        free_case(&golden);
    }
    npy_close(reader);
    return cases;
}

static char **files;

static void networks_agree_with_pytorch_in_values_and_all_derivatives(void **state)
{
    (void)state;
    if (*files) {
        for (char **file = files; *file; file++)
            assert_true(check_file(*file, true) > 0);
        return;
    }
    assert_int_equal(check_file(golden_path("networks.npy"), false), 58);
    assert_int_equal(check_file(golden_path("families.npy"), false), 80);
    assert_int_equal(check_file(golden_path("later.npy"), false), 43);
    assert_int_equal(check_file(golden_path("sequences.npy"), false), 55);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_agree_with_pytorch_in_values_and_all_derivatives),
    };

    (void)argc;
    files = argv + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
