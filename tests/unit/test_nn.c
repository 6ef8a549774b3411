/* Networks on their own: descriptions, names, starting values, and derivatives against finite
 * differences, which know nothing of PyTorch. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nn/loss.h"
#include "nn/pass.h"

/* ---- A small problem ---- */

enum { SAMPLES = 6 };

struct fixture {
    struct network *network;
    struct pass *pass;
    size_t values, features;
    float *parameters, *buffers, *x, *shapelets, *targets;
    int32_t labels[SAMPLES];
    float *dlogits, *dparameters, *dx, *dshapelets;
    bool training;
};

static float *make_normal(size_t count, uint64_t index)
{
    struct random_stream stream = random_stream(5, RANDOM_TEST, index);
    float *memory = calloc(count + 1, sizeof *memory);

    for (size_t i = 0; i < count; i++)
        memory[i] = (float)random_normal(&stream);
    return memory;
}

static void set_up(struct fixture *f, const char *text)
{
    struct architecture architecture;
    size_t classes;

    memset(f, 0, sizeof *f);
    assert_ok(architecture_parse(text, &architecture));
    assert_ok(network_new(&architecture, backend_cpu(), &f->network));
    assert_ok(pass_new(f->network, SAMPLES, PASS_BACKWARD | PASS_TANGENT, &f->pass));
    classes = architecture.classes;
    f->values = SAMPLES * architecture.channels * architecture.length;
    f->features = SAMPLES * architecture.features;
    f->parameters = calloc(f->network->parameter_count, sizeof *f->parameters);
    f->buffers = calloc(f->network->buffer_count + 1, sizeof *f->buffers);
    network_initialise(f->network, 1, 0, f->parameters, f->buffers);
    f->x = make_normal(f->values, 1);
    f->shapelets = make_normal(f->features, 2);
    f->targets = make_normal(SAMPLES * classes, 3);
    for (size_t i = 0; i < SAMPLES; i++)
        f->labels[i] = (int32_t)(i % classes);
    f->dlogits = make_normal(SAMPLES * classes, 4);
    f->dparameters = make_normal(f->network->parameter_count, 5);
    f->dx = make_normal(f->values, 6);
    f->dshapelets = make_normal(f->features, 7);
    f->training = true;
}

static void tear_down(struct fixture *f)
{
    pass_free(f->pass);
    network_free(f->network);
    free(f->parameters);
    free(f->buffers);
    free(f->x);
    free(f->shapelets);
    free(f->targets);
    free(f->dlogits);
    free(f->dparameters);
    free(f->dx);
    free(f->dshapelets);
}

static const struct loss kl = {LOSS_KL, 2.0f, 1.5f};

static const float *run_forward(struct fixture *f)
{
    struct forward forward = {.count = SAMPLES,
                              .x = f->x,
                              .features = f->shapelets,
                              .parameters = f->parameters,
                              .buffers = f->buffers,
                              .training = f->training};

    if (f->training)
        forward.dropout = dropout_of(3, 0);
    return pass_forward(f->pass, &forward);
}

static double loss_at(struct fixture *f)
{
    struct targets targets = {f->labels, f->targets};

    return loss_value(&kl, SAMPLES, f->network->architecture.classes, run_forward(f), &targets,
                      f->dlogits, NULL);
}

/* Gradients of the loss into the fixture. */
static void gradients(struct fixture *f)
{
    loss_at(f);
    pass_backward(f->pass, &(struct backward){.logits = f->dlogits,
                                              .parameters = f->dparameters,
                                              .x = f->dx,
                                              .features = f->dshapelets});
}

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

static void move(float *values, const float *direction, size_t count, float step)
{
    for (size_t i = 0; i < count; i++)
        values[i] += step * direction[i];
}

struct directions {
    float *parameters, *x, *shapelets;
};

static void move_all(struct fixture *f, const struct directions *v, float step)
{
    move(f->parameters, v->parameters, f->network->parameter_count, step);
    move(f->x, v->x, f->values, step);
    move(f->shapelets, v->shapelets, f->features, step);
}

static struct directions make_directions(const struct fixture *f)
{
    return (struct directions){make_normal(f->network->parameter_count, 11),
                               make_normal(f->values, 12), make_normal(f->features, 13)};
}

static void free_directions(struct directions *v)
{
    free(v->parameters);
    free(v->x);
    free(v->shapelets);
}

/* Smooth networks, so that differences converge: sigmoid, mean pooling. */
static const char *const smooth[] = {
    "cnn depth=2 width=5 norm=batch act=sigmoid pool=mean channels=2 length=13 classes=3 "
    "features=2",
    "cnn depth=2 width=5 norm=layer act=sigmoid pool=none channels=1 length=7 classes=3",
    "cnn depth=1 width=17 norm=instance act=sigmoid pool=mean channels=3 length=8 classes=4 "
    "features=1",
    "cnn depth=2 width=6 kernel=5 norm=none act=sigmoid pool=mean channels=2 length=9 classes=2",
    "cnn depth=1 width=5 norm=batch act=sigmoid pool=none end=mean channels=2 length=9 classes=3",
    "fcn width=3 norm=instance act=sigmoid channels=2 length=12 classes=3 features=2",
    "resnet blocks=2 width=3 norm=batch act=sigmoid channels=2 length=10 classes=3 features=1",
    "resnet blocks=3 width=2 norm=none act=sigmoid end=flatten channels=1 length=7 classes=2",
    /* One module, on steps that rise: maxima of deeper ones change their mind on the way. */
    "inception depth=1 width=3 kernel1=6 kernel2=3 kernel3=2 bottleneck=2 norm=none act=sigmoid "
    "channels=2 "
    "length=4 classes=3 features=1",
    "inception depth=1 width=5 kernel1=12 kernel2=5 kernel3=1 norm=layer act=sigmoid end=flatten "
    "channels=1 length=5 classes=2",
    "tcn depth=3 width=3 kernel=3 act=sigmoid end=mean channels=2 length=10 classes=3 features=1",
    "tcn depth=4 width=17 kernel=2 norm=none act=sigmoid channels=1 length=9 classes=2",
    "mlp depth=2 width=5 act=sigmoid channels=2 length=6 classes=3 features=2",
    "mlp depth=1 width=18 norm=batch act=sigmoid channels=1 length=7 classes=2",
    "mlp depth=1 width=3 act=sigmoid channels=1 length=131 classes=2",
    /* With dropout, whose masks are those of one step: constants. */
    "transformer width=6 heads=2 ff=5 act=sigmoid dropout=0.3 end=mean channels=2 length=7 "
    "classes=3 features=1",
    "transformer width=4 layers=2 ff=5 patch=2 norm=layer act=gelu dropout=0.2 positions=learned "
    "end=mean channels=2 length=9 classes=3",
    "transformer width=5 ff=3 norm=layer act=gelu dropout=0 end=flatten channels=1 length=5 "
    "classes=2",
    "gru hidden=5 layers=2 channels=2 length=7 classes=3 features=2",
    "gru hidden=9 end=mean channels=1 length=6 classes=2",
    "cnn depth=2 width=5 norm=batch act=gelu pool=mean channels=2 length=9 classes=3",
};

static void gradients_are_what_finite_differences_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof smooth / sizeof smooth[0]; i++) {
        const float step = 2e-3f;
        struct fixture f;
        struct directions v;
        double analytic, above, below;

        set_up(&f, smooth[i / 2]);
        f.training = i % 2 == 0;
        v = make_directions(&f);
        gradients(&f);
        analytic = dot(f.dparameters, v.parameters, f.network->parameter_count) +
                   dot(f.dx, v.x, f.values) + dot(f.dshapelets, v.shapelets, f.features);
        move_all(&f, &v, step);
        above = loss_at(&f);
        move_all(&f, &v, -2 * step);
        below = loss_at(&f);
        assert_near(analytic, (above - below) / (2 * (double)step), 2e-3);
        free_directions(&v);
        tear_down(&f);
    }
}

/* Steps that rise from one to the next, so that no difference changes which is the largest. */
static void make_steps_rise(struct fixture *f)
{
    size_t length = f->network->architecture.length;

    for (size_t i = 0; i < f->values; i++)
        f->x[i] = 0.1f * f->x[i] + 0.5f * (float)(i % length);
}

/* The tangent of the gradient is the difference of gradients at either side. */
static void second_order_products_are_what_finite_differences_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof smooth / sizeof smooth[0]; i++) {
        const float step = 2e-3f;
        struct targets targets;
        struct fixture f;
        struct directions v;
        size_t count;
        float *product, *mixed, *above, *above_x, scale = 0;
        const float *logits, *rlogits;

        set_up(&f, smooth[i / 2]);
        if (strncmp(smooth[i / 2], "inception", 9) == 0)
            make_steps_rise(&f);
        f.training = i % 2 == 0;
        v = make_directions(&f);
        count = f.network->parameter_count;
        product = make_normal(count, 20);
        mixed = make_normal(f.values, 21);
        above = make_normal(count, 22);
        above_x = make_normal(f.values, 23);
        targets = (struct targets){f.labels, f.targets};
        logits = run_forward(&f);
        gradients(&f);
        rlogits = pass_tangent_forward(f.pass, &(struct tangent){v.parameters, v.x, v.shapelets});
        loss_tangent(&kl, SAMPLES, f.network->architecture.classes, logits, &targets, rlogits, NULL,
                     f.dlogits, NULL);
        pass_tangent_backward(
            f.pass, &(struct backward){.logits = f.dlogits, .parameters = product, .x = mixed});
        move_all(&f, &v, step);
        gradients(&f);
        memcpy(above, f.dparameters, count * sizeof *above);
        memcpy(above_x, f.dx, f.values * sizeof *above_x);
        move_all(&f, &v, -2 * step);
        gradients(&f);
        for (size_t k = 0; k < count; k++)
            scale = fmaxf(scale, fabsf(product[k]));
        for (size_t k = 0; k < count; k++)
            assert_near(product[k] / scale, (above[k] - f.dparameters[k]) / (2 * step) / scale,
                        5e-3);
        for (size_t k = 0; k < f.values; k++)
            assert_near(mixed[k], (above_x[k] - f.dx[k]) / (2 * step), 5e-3);
        free(product);
        free(mixed);
        free(above);
        free(above_x);
        free_directions(&v);
        tear_down(&f);
    }
}

static void a_gradient_of_the_embedding_goes_all_the_way_down(void **state)
{
    const float step = 2e-3f;
    struct fixture f;
    struct directions v;
    float *zero, *weights;
    double above, below;
    size_t count;

    (void)state;
    set_up(&f, smooth[0]);
    v = make_directions(&f);
    count = SAMPLES * f.network->embedding;
    weights = make_normal(count, 30);
    zero = calloc(SAMPLES * f.network->architecture.classes, sizeof *zero);
    run_forward(&f);
    pass_backward(f.pass, &(struct backward){.logits = zero, .embedding = weights, .x = f.dx});
    move(f.x, v.x, f.values, step);
    run_forward(&f);
    above = dot(pass_embedding(f.pass), weights, count);
    move(f.x, v.x, f.values, -2 * step);
    run_forward(&f);
    below = dot(pass_embedding(f.pass), weights, count);
    assert_near(dot(f.dx, v.x, f.values), (above - below) / (2 * (double)step), 5e-3);
    free(weights);
    free(zero);
    free_directions(&v);
    tear_down(&f);
}

static void a_frozen_network_treats_every_series_on_its_own(void **state)
{
    struct fixture f;
    float *all;
    size_t classes, size;

    (void)state;
    set_up(&f, "cnn depth=2 width=8 channels=2 length=12 classes=3");
    f.training = false;
    classes = f.network->architecture.classes;
    size = f.values / SAMPLES;
    all = calloc(SAMPLES * classes, sizeof *all);
    memcpy(all, run_forward(&f), SAMPLES * classes * sizeof *all);
    for (size_t i = 0; i < SAMPLES; i++) {
        struct forward one = {
            .count = 1, .x = f.x + i * size, .parameters = f.parameters, .buffers = f.buffers};

        assert_memory_equal(pass_forward(f.pass, &one), all + i * classes, classes * sizeof *all);
    }
    free(all);
    tear_down(&f);
}

/* Long and wide enough that a block goes through the cache in several pieces.  With one tap and one
 * channel every output is w x + b, so that its statistics follow from those of x. */
static void statistics_of_many_pieces_are_those_of_the_whole(void **state)
{
    enum { MANY = 20, LONG = 600, WIDTH = 64 };
    struct architecture architecture;
    struct network *network;
    struct pass *pass;
    float *x = make_normal(MANY * LONG, 40), *parameters, *buffers;
    double mean = 0, variance = 0;

    (void)state;
    for (size_t i = 0; i < MANY * LONG; i++) {
        x[i] += (float)(i / LONG) - 3.0f; /* series of different means */
        mean += x[i] / (double)(MANY * LONG);
    }
    for (size_t i = 0; i < MANY * LONG; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (MANY * LONG - 1.0);
    assert_ok(architecture_parse("cnn depth=1 width=64 kernel=1 channels=1 length=600 classes=2",
                                 &architecture));
    assert_ok(network_new(&architecture, backend_cpu(), &network));
    parameters = make_normal(network->parameter_count, 41);
    buffers = make_normal(network->buffer_count, 42);
    network_initialise(network, 1, 0, parameters, buffers);
    assert_ok(pass_new(network, MANY, 0, &pass));
    pass_forward(pass, &(struct forward){.count = MANY,
                                         .x = x,
                                         .parameters = parameters,
                                         .buffers = buffers,
                                         .training = true,
                                         .momentum = 1.0f});
    for (size_t c = 0; c < WIDTH; c++) {
        double weight = parameters[c], bias = parameters[WIDTH + c];

        assert_near(buffers[c], weight * mean + bias, 1e-6);
        assert_near(buffers[WIDTH + c], weight * weight * variance, 1e-6);
    }
    pass_free(pass);
    network_free(network);
    free(x);
    free(parameters);
    free(buffers);
}

static void a_parameter_that_is_not_a_number_shows_in_the_loss(void **state)
{
    static const char *const texts[] = {
        "cnn depth=2 width=5 channels=2 length=9 classes=3",
        "cnn depth=2 width=5 norm=none pool=none channels=2 length=9 classes=3",
        "cnn depth=1 width=5 norm=none act=leaky channels=2 length=9 classes=3",
        "cnn depth=1 width=5 norm=layer act=sigmoid pool=mean channels=2 length=9 classes=3",
        "inception depth=3 width=5 norm=none channels=2 length=9 classes=3",
        "tcn depth=2 width=5 norm=none channels=2 length=9 classes=3",
        "mlp depth=2 width=5 channels=2 length=9 classes=3",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fixture f;

        set_up(&f, texts[i]);
        f.parameters[0] = NAN; /* of the first convolution */
        assert_true(isnan(loss_at(&f)));
        tear_down(&f);
    }
}

/* Where only a few steps see it: nothing may choose the healthy neighbour. */
static void a_step_that_is_not_a_number_shows_in_the_loss(void **state)
{
    static const char *const texts[] = {
        "cnn depth=2 width=5 kernel=1 norm=none channels=2 length=9 classes=3",
        "cnn depth=2 width=5 kernel=1 norm=none act=leaky channels=2 length=9 classes=3",
        "cnn depth=2 width=5 kernel=1 norm=none act=sigmoid channels=2 length=9 classes=3",
        "cnn depth=2 width=5 kernel=1 norm=instance channels=2 length=9 classes=3",
        "cnn depth=2 width=5 kernel=1 norm=layer pool=none channels=2 length=9 classes=3",
        ("cnn depth=1 width=5 kernel=1 norm=batch act=sigmoid pool=mean channels=2 length=9 "
         "classes=3"),
        ("inception depth=2 width=5 kernel1=1 kernel2=1 kernel3=1 norm=none channels=2 length=9 "
         "classes=3"),
        "tcn depth=2 width=5 kernel=5 norm=none channels=2 length=9 classes=3",
        "mlp depth=2 width=5 channels=2 length=9 classes=3",
    };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof texts / sizeof texts[0]; i++)
        for (size_t step = 0; step < 8; step++) {
            struct fixture f;

            set_up(&f, texts[i / 2]);
            f.training = i % 2 == 0;
            f.x[step] = nanf("77"); /* with something in its lower bits */
            assert_true(isnan(loss_at(&f)));
            tear_down(&f);
        }
}

static void infinity_does_not_normalise_to_numbers(void **state)
{
    static const char *const norms[] = {"batch", "instance", "layer"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        char text[200];

        snprintf(text, sizeof text, "cnn depth=1 width=5 norm=%s channels=2 length=9 classes=3",
                 norms[i]);
        set_up(&f, text);
        f.x[4] = INFINITY;
        assert_true(isnan(loss_at(&f)));
        tear_down(&f);
    }
}

/* ---- Dropout ---- */

/* Value i of a row of `columns`, by the definition in backend.h. */
static bool is_dropped(const struct dropout_mask *mask, size_t sample, size_t columns, size_t row,
                       size_t i)
{
    size_t group = row * ((columns + 31) / 32) + i / 32;
    const uint32_t key[2] = {(uint32_t)mask->dropout.key, (uint32_t)(mask->dropout.key >> 32)};
    const uint32_t counter[4] = {(uint32_t)(8 * group + i % 8), RANDOM_DROPOUT + 256 * mask->layer,
                                 (uint32_t)sample, (uint32_t)mask->dropout.step};
    uint32_t out[4];

    philox4x32_10(counter, key, out);
    return out[i % 32 / 8] < (uint32_t)((double)mask->rate * 0x1p32);
}

static void dropout_drops_what_its_counters_say(void **state)
{
    enum { COUNT = 3, ROWS = 5, COLUMNS = 77, FIRST = 6 };
    struct dropout_mask mask = {dropout_of(7, 1), 9, 0.25f};
    float ones[COUNT * ROWS * COLUMNS], out[COUNT * ROWS * COLUMNS];
    size_t dropped = 0;

    (void)state;
    mask.dropout.step = 4;
    for (size_t i = 0; i < COUNT * ROWS * COLUMNS; i++)
        ones[i] = 1;
    backend_cpu()->dropout(&mask, FIRST, COUNT, ROWS, COLUMNS, ones, ROWS * COLUMNS, out,
                           ROWS * COLUMNS);
    for (size_t n = 0, at = 0; n < COUNT; n++)
        for (size_t row = 0; row < ROWS; row++)
            for (size_t i = 0; i < COLUMNS; i++, at++) {
                bool gone = is_dropped(&mask, FIRST + n, COLUMNS, row, i);

                dropped += gone;
                assert_float_equal(out[at], (gone ? 0.0f : 1.0f / 0.75f), 1e-7f);
            }
    assert_near((double)dropped / (COUNT * ROWS * COLUMNS), 0.25, 0.05);
}

static void dropout_is_off_unless_asked_for_and_changes_with_the_step(void **state)
{
    struct fixture f;
    float logits[3][SAMPLES * 3];
    struct forward forward = {.count = SAMPLES};

    (void)state;
    set_up(&f, "transformer width=8 heads=2 ff=8 norm=layer dropout=0.4 channels=2 length=9 "
               "classes=3");
    forward.x = f.x;
    forward.parameters = f.parameters;
    forward.buffers = f.buffers;
    forward.training = true;
    memcpy(logits[0], pass_forward(f.pass, &forward), sizeof logits[0]);
    f.training = false;
    memcpy(logits[1], run_forward(&f), sizeof logits[1]);
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    forward.dropout = dropout_of(1, 0);
    memcpy(logits[0], pass_forward(f.pass, &forward), sizeof logits[0]);
    memcpy(logits[1], pass_forward(f.pass, &forward), sizeof logits[1]);
    forward.dropout.step = 1;
    memcpy(logits[2], pass_forward(f.pass, &forward), sizeof logits[2]);
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    assert_memory_not_equal(logits[0], logits[2], sizeof logits[0]);
    tear_down(&f);
}

/* The output of one head by the formulas of struct attention, in double precision. */
static double attended(const struct attention *attention, const float *in, size_t sample,
                       size_t head, size_t step, size_t i)
{
    const struct attention_shape *s = &attention->shape;
    const float *q = in + step * s->input_stride + head * s->width;
    double sum = 0, out = 0;

    for (size_t t = 0; t < s->steps; t++) {
        const float *k = in + t * s->input_stride + (s->heads + head) * s->width;
        const float *v = k + s->heads * s->width;
        double weight = exp(dot(q, k, s->width) / sqrt((double)s->width));

        sum += weight;
        if (!is_dropped(&attention->mask, sample, s->steps, head * s->steps + step, t))
            out += weight * v[i] / (1 - (double)attention->mask.rate);
    }
    return out / sum;
}

static void attention_drops_the_weights_that_its_counters_say(void **state)
{
    enum { COUNT = 2, STEPS = 9, HEADS = 2, WIDTH = 4, FIRST = 3 };
    enum { IN = STEPS * 3 * HEADS * WIDTH, OUT = STEPS * HEADS * WIDTH };
    struct attention attention = {
        .shape = {STEPS, HEADS, WIDTH, 3 * HEADS * WIDTH, HEADS * WIDTH, IN, IN, OUT, OUT},
        .mask = {dropout_of(2, 0), 5, 0.4f}};
    float *in = make_normal(COUNT * IN, 1), *out = make_normal(COUNT * OUT, 2);

    (void)state;
    attention.scratch = backend_cpu()->allocate(
        backend_cpu()->attention_scratch(&attention.shape, COUNT) * sizeof *attention.scratch);
    assert_non_null(attention.scratch);
    backend_cpu()->attention_forward(&attention, FIRST, COUNT, in, out);
    for (size_t n = 0; n < COUNT; n++)
        for (size_t t = 0; t < STEPS; t++)
            for (size_t i = 0; i < HEADS * WIDTH; i++)
                assert_near(out[n * OUT + t * HEADS * WIDTH + i],
                            attended(&attention, in + n * IN, FIRST + n, i / WIDTH, t, i % WIDTH),
                            1e-5);
    backend_cpu()->release(attention.scratch);
    free(in);
    free(out);
}

static void set_to_zero(struct fixture *f, const char *name)
{
    bool in_buffers;
    const struct network_view *view = network_find(f->network, name, &in_buffers);

    assert_non_null(view);
    memset(f->parameters + view->offset, 0, view->count * sizeof *f->parameters);
}

/* Without the output of attention, what is left of dropout is that of the layers between. */
static void dropout_is_of_the_layers_too_and_not_only_of_attention(void **state)
{
    struct fixture f;
    float with[SAMPLES * 3];

    (void)state;
    set_up(&f, "transformer width=8 heads=2 ff=8 norm=layer dropout=0.4 channels=2 length=9 "
               "classes=3");
    set_to_zero(&f, "encoder.layers.0.self_attn.out_proj.weight");
    set_to_zero(&f, "encoder.layers.0.self_attn.out_proj.bias");
    memcpy(with, run_forward(&f), sizeof with);
    f.training = false;
    assert_memory_not_equal(with, run_forward(&f), sizeof with);
    /* With nothing in either branch, nothing is left to drop. */
    set_to_zero(&f, "encoder.layers.0.linear2.weight");
    set_to_zero(&f, "encoder.layers.0.linear2.bias");
    memcpy(with, run_forward(&f), sizeof with);
    f.training = true;
    assert_memory_equal(with, run_forward(&f), sizeof with);
    tear_down(&f);
}

/* ---- Threads ---- */

static unsigned spied_workers, largest_worker;

static unsigned spy_workers(void)
{
    return spied_workers;
}

/* As a backend may do it that has as many workers as it says. */
static void spy_run(size_t tasks, void (*body)(void *context, size_t task, unsigned worker),
                    void *context)
{
    for (size_t task = 0; task < tasks; task++) {
        unsigned worker = (unsigned)(task % spied_workers);

        largest_worker = worker > largest_worker ? worker : largest_worker;
        if (worker < 2)
            body(context, task, worker);
    }
}

static void a_pass_gives_no_work_to_workers_that_it_has_no_memory_for(void **state)
{
    struct fixture f;
    struct network *network;
    struct pass *pass;
    struct backend spy = *backend_cpu();
    struct forward forward = {.count = SAMPLES};
    float expected[SAMPLES * 2];

    (void)state;
    set_up(&f, "cnn depth=2 width=8 channels=2 length=16 classes=2");
    f.training = false;
    memcpy(expected, run_forward(&f), sizeof expected);
    spy.parallel_for = spy_run;
    spy.workers = spy_workers;
    spied_workers = 2;
    assert_ok(network_new(&f.network->architecture, &spy, &network));
    assert_ok(pass_new(network, SAMPLES, 0, &pass));
    forward.x = f.x;
    forward.parameters = f.parameters;
    forward.buffers = f.buffers;
    for (spied_workers = 1; spied_workers <= 4; spied_workers++) {
        largest_worker = 0;
        assert_memory_equal(pass_forward(pass, &forward), expected, sizeof expected);
        assert_int_equal(largest_worker, spied_workers == 2 ? 1 : 0);
    }
    pass_free(pass);
    network_free(network);
    tear_down(&f);
}

/* ---- Descriptions ---- */

static void descriptions_are_read_and_written_alike(void **state)
{
    const char *const text = "cnn depth=4 width=64 kernel=5 norm=layer act=leaky pool=mean "
                             "channels=9 length=128 classes=6 features=20";
    struct architecture architecture;
    char back[ARCHITECTURE_TEXT];

    (void)state;
    assert_ok(architecture_parse(text, &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, text);
    assert_int_equal(architecture_value(&architecture, "depth"), 4);
    assert_int_equal(architecture_value(&architecture, "length"), 128);
    assert_int_equal(architecture_value(&architecture, "heads"), 0);
    assert_ok(architecture_parse("cnn", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "cnn depth=3 width=32 kernel=3 norm=batch act=relu pool=max");
    assert_ok(architecture_parse("cnn end=flatten", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "cnn depth=3 width=32 kernel=3 norm=batch act=relu pool=max");
    assert_ok(architecture_parse("cnn end=mean classes=2", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "cnn depth=3 width=32 kernel=3 norm=batch act=relu pool=max end=mean "
                              "classes=2");
    assert_ok(architecture_parse("fcn", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "fcn width=128 kernel1=8 kernel2=5 kernel3=3 norm=batch act=relu "
                              "end=mean");
    assert_ok(architecture_parse("resnet", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "resnet blocks=3 width=64 kernel1=8 kernel2=5 kernel3=3 norm=batch "
                              "act=relu end=mean");
    assert_ok(architecture_parse("inception", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "inception depth=6 width=32 kernel1=40 kernel2=20 kernel3=10 "
                              "bottleneck=32 norm=batch act=relu end=mean");
    assert_ok(architecture_parse("tcn end=max", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "tcn depth=5 width=32 kernel=7 norm=batch act=relu end=max");
    assert_ok(architecture_parse("mlp norm=batch", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "mlp depth=3 width=500 norm=batch act=relu");
    assert_ok(architecture_parse("transformer", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "transformer width=64 heads=1 layers=1 ff=128 patch=1 norm=batch "
                              "act=relu dropout=0.1 positions=none end=max");
    assert_ok(architecture_parse("transformer dropout=0.125", &architecture));
    assert_int_equal(architecture_value(&architecture, "dropout"), 125);
    assert_ok(architecture_parse("gru", &architecture));
    architecture_print(&architecture, back);
    assert_string_equal(back, "gru hidden=64 layers=1 end=last");
}

static void bad_descriptions_are_refused_with_the_word(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "begins with cnn, fcn, resnet, inception"},
        {"rnn depth=3", ", got \"rnn\""},
        {"transformer dropout=1", "dropout=1: expected a number from 0 to 0.9 with at most three"},
        {"transformer dropout=0.1234", "dropout=0.1234: expected a number from 0 to 0.9"},
        {"transformer dropout=.1", "dropout=.1: expected a number"},
        {"transformer dropout=", "dropout=: expected a number"},
        {"transformer norm=none", "norm=none: expected one of batch, layer"},
        {"transformer heads=33", "heads=33: expected a whole number from 1 to 32"},
        {"gru end=flatten", "end=flatten: expected one of last, max, mean"},
        {"resnet depth=3", "unknown word \"depth\""},
        {"fcn width=513", "width=513: expected a whole number from 1 to 512"},
        {"resnet end=all", "end=all: expected one of flatten, max, mean"},
        {"cnn depth", "\"depth\" is not word=value"},
        {"cnn depth=3 deep=4", "unknown word \"deep\""},
        {"cnn depth=3 depth=4", "depth is given twice"},
        {"cnn depth=0", "depth=0: expected a whole number from 1 to 16"},
        {"cnn width=-1", "width=-1: expected a whole number"},
        {"cnn width=32x", "width=32x: expected a whole number"},
        {"cnn width=99999999999999999999", "expected a whole number from 1 to 1024"},
        {"cnn kernel=4", "kernel=4: expected an odd number"},
        {"cnn norm=group", "norm=group: expected one of none, batch, instance, layer"},
        {"cnn act=tanh", "act=tanh: expected one of relu, leaky, sigmoid"},
        {"cnn pool=", "pool=: expected one of none, max, mean"},
        {"inception blocks=3", "unknown word \"blocks\""},
        {"inception width=257", "width=257: expected a whole number from 1 to 256"},
        {"inception kernel2=0", "kernel2=0: expected a whole number from 1 to 255"},
        {"tcn depth=17", "depth=17: expected a whole number from 1 to 16"},
        {"tcn end=first", "end=first: expected one of flatten, max, mean, last"},
        {"mlp norm=instance", "norm=instance: expected one of none, batch"},
        {"mlp end=mean", "unknown word \"end\""},
    };
    struct architecture architecture;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(bad[i].message, architecture_parse(bad[i].text, &architecture));
}

static struct error *build(const char *text)
{
    struct architecture architecture;
    struct network *network = NULL;
    struct error *error = architecture_parse(text, &architecture);

    if (!error)
        error = network_new(&architecture, backend_cpu(), &network);
    network_free(network);
    return error;
}

static void networks_that_cannot_be_built_are_refused(void **state)
{
    (void)state;
    assert_fails("channels is not known", build("cnn"));
    assert_fails("classes is not known", build("cnn channels=1 length=8"));
    assert_fails("7 steps vanish under 3 poolings", build("cnn channels=1 length=7 classes=2"));
    assert_ok(build("cnn channels=1 length=8 classes=2"));
    assert_ok(build("cnn channels=1 length=1 classes=2 pool=none"));
    assert_fails("too many", build("cnn channels=1 length=16777216 classes=1048576 pool=none"));
    assert_fails("heads=3 must divide width=64",
                 build("transformer heads=3 channels=1 length=9 classes=2"));
    assert_fails("series of 7 steps are shorter than patch=8",
                 build("transformer patch=8 channels=1 length=7 classes=2"));
    assert_fails("series of 32770 steps make 16385 patches, a transformer takes at most 16384",
                 build("transformer patch=2 channels=1 length=32770 classes=2"));
    assert_ok(build("transformer patch=7 channels=1 length=7 classes=2"));
    assert_fails("too many", build("fcn channels=1 length=16777216 classes=2"));
    assert_ok(build("fcn width=2 channels=1 length=1 classes=2"));
    assert_ok(build("resnet width=2 channels=5000 length=1 classes=2"));
    assert_ok(build("inception width=2 channels=1 length=1 classes=2"));
    assert_fails("too many", build("inception channels=1 length=16777216 classes=2"));
    assert_ok(build("tcn depth=16 width=2 channels=1 length=1 classes=2"));
    assert_fails("too many", build("mlp channels=1048576 length=16777216 classes=2"));
}

static void all_432_networks_of_the_paper_can_be_built(void **state)
{
    static const char *const norms[] = {"none", "batch", "instance", "layer"};
    static const char *const acts[] = {"sigmoid", "relu", "leaky"};
    static const char *const pools[] = {"none", "max", "mean"};
    size_t built = 0;

    (void)state;
    for (int depth = 2; depth <= 4; depth++)
        for (int width = 32; width <= 256; width *= 2)
            for (size_t i = 0; i < 4 * 3 * 3; i++, built++) {
                char text[200];

                snprintf(text, sizeof text,
                         "cnn depth=%d width=%d norm=%s act=%s pool=%s channels=9 length=128 "
                         "classes=6",
                         depth, width, norms[i / 9], acts[i / 3 % 3], pools[i % 3]);
                assert_ok(build(text));
            }
    assert_int_equal(built, 432);
}

static void values_have_pytorchs_names_shapes_and_start(void **state)
{
    struct fixture f;
    const struct network_view *view;
    bool in_buffers;
    double largest = 0, squares = 0;

    (void)state;
    set_up(&f, "cnn depth=2 width=32 channels=9 length=16 classes=6 features=3");
    view = network_find(f.network, "features.4.weight", &in_buffers);
    assert_non_null(view);
    assert_false(in_buffers);
    assert_int_equal(view->ndim, 3);
    assert_int_equal(view->shape[0] * 10000 + view->shape[1] * 100 + view->shape[2], 323203);
    for (size_t i = 0; i < view->count; i++) {
        double value = f.parameters[view->offset + i];

        largest = fmax(largest, fabs(value));
        squares += value * value;
    }
    /* Uniform within 1/sqrt(fan in): standard deviation is the bound over sqrt(3). */
    assert_true(largest <= 1 / sqrt(96.0));
    assert_near(sqrt(squares / (double)view->count) * sqrt(96.0) * sqrt(3.0), 1.0, 0.03);
    view = network_find(f.network, "features.1.running_var", &in_buffers);
    assert_non_null(view);
    assert_true(in_buffers);
    assert_true(f.buffers[view->offset] == 1.0f);
    view = network_find(f.network, "classifier.weight", &in_buffers);
    assert_int_equal(view->shape[1], 3 + 32 * 4);
    assert_null(network_find(f.network, "features.2.weight", &in_buffers));
    tear_down(&f);
}

static void check_view(const struct network *network, const char *name, size_t ndim, size_t a,
                       size_t b, size_t c)
{
    const size_t shape[] = {a, b, c};
    bool in_buffers;
    const struct network_view *view = network_find(network, name, &in_buffers);

    assert_non_null(view);
    assert_int_equal(view->ndim, ndim);
    for (size_t i = 0; i < ndim; i++)
        assert_int_equal(view->shape[i], shape[i]);
}

static void modules_are_where_the_papers_have_them(void **state)
{
    struct fixture f;
    bool in_buffers;

    (void)state;
    set_up(&f, "inception channels=3 length=30 classes=2");
    check_view(f.network, "blocks.0.bottleneck.weight", 3, 32, 3, 1);
    check_view(f.network, "blocks.0.conv1.weight", 3, 32, 32, 40);
    check_view(f.network, "blocks.5.conv3.weight", 3, 32, 32, 10);
    check_view(f.network, "blocks.5.conv4.weight", 3, 32, 128, 1);
    check_view(f.network, "blocks.2.shortcut.0.weight", 3, 128, 3, 1);
    check_view(f.network, "blocks.5.shortcut.0.weight", 3, 128, 128, 1);
    check_view(f.network, "blocks.5.shortcut.1.running_var", 1, 128, 0, 0);
    assert_null(network_find(f.network, "blocks.1.shortcut.0.weight", &in_buffers));
    assert_null(network_find(f.network, "blocks.0.conv1.bias", &in_buffers));
    tear_down(&f);
    set_up(&f, "inception width=4 channels=1 length=30 classes=2");
    assert_null(network_find(f.network, "blocks.0.bottleneck.weight", &in_buffers));
    check_view(f.network, "blocks.0.conv1.weight", 3, 4, 1, 40);
    check_view(f.network, "blocks.1.bottleneck.weight", 3, 32, 16, 1);
    tear_down(&f);
    set_up(&f, "tcn channels=3 length=30 classes=2");
    check_view(f.network, "blocks.4.conv2.weight", 3, 32, 32, 7);
    check_view(f.network, "blocks.0.shortcut.weight", 3, 32, 3, 1);
    assert_null(network_find(f.network, "blocks.1.shortcut.weight", &in_buffers));
    tear_down(&f);
    set_up(&f, "mlp channels=3 length=30 classes=2 features=4");
    check_view(f.network, "features.0.weight", 2, 500, 90, 0);
    check_view(f.network, "features.4.weight", 2, 500, 500, 0);
    check_view(f.network, "classifier.weight", 2, 2, 504, 0);
    tear_down(&f);
}

/* What a causal network says of a series does not change with what comes later. */
static void a_causal_network_does_not_look_ahead(void **state)
{
    struct fixture f;
    float *before;
    size_t width, steps = 12;

    (void)state;
    set_up(&f, "tcn depth=3 width=4 kernel=3 end=flatten channels=1 length=12 classes=2");
    f.training = false;
    width = f.network->embedding;
    before = calloc(width, sizeof *before);
    run_forward(&f);
    memcpy(before, pass_embedding(f.pass), width * sizeof *before);
    f.x[7] += 1.0f;
    run_forward(&f);
    for (size_t i = 0; i < width; i++)
        if (i % steps < 7)
            assert_true(pass_embedding(f.pass)[i] == before[i]);
    assert_true(memcmp(pass_embedding(f.pass), before, width * sizeof *before) != 0);
    free(before);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_what_finite_differences_say),
        cmocka_unit_test(second_order_products_are_what_finite_differences_say),
        cmocka_unit_test(dropout_drops_what_its_counters_say),
        cmocka_unit_test(dropout_is_off_unless_asked_for_and_changes_with_the_step),
        cmocka_unit_test(attention_drops_the_weights_that_its_counters_say),
        cmocka_unit_test(dropout_is_of_the_layers_too_and_not_only_of_attention),
        cmocka_unit_test(a_pass_gives_no_work_to_workers_that_it_has_no_memory_for),
        cmocka_unit_test(a_gradient_of_the_embedding_goes_all_the_way_down),
        cmocka_unit_test(a_frozen_network_treats_every_series_on_its_own),
        cmocka_unit_test(statistics_of_many_pieces_are_those_of_the_whole),
        cmocka_unit_test(a_parameter_that_is_not_a_number_shows_in_the_loss),
        cmocka_unit_test(a_step_that_is_not_a_number_shows_in_the_loss),
        cmocka_unit_test(infinity_does_not_normalise_to_numbers),
        cmocka_unit_test(descriptions_are_read_and_written_alike),
        cmocka_unit_test(bad_descriptions_are_refused_with_the_word),
        cmocka_unit_test(networks_that_cannot_be_built_are_refused),
        cmocka_unit_test(all_432_networks_of_the_paper_can_be_built),
        cmocka_unit_test(values_have_pytorchs_names_shapes_and_start),
        cmocka_unit_test(modules_are_where_the_papers_have_them),
        cmocka_unit_test(a_causal_network_does_not_look_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
