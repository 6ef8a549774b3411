/* The functions of the CUDA backend one by one, run on the processor by tests/fake_cuda, against
 * the CPU backend: one element, odd sizes, tails of blocks, many blocks; and its errors. */
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/backend_memory.h"
#include "support/both.h"

/* All members from the first function on are functions, but those of dense layers, which are
 * convolutions here. */
static void every_function_of_the_backend_is_there(void **state)
{
    const char *at = (const char *)gpu() + offsetof(struct backend, fault);
    const char *end = (const char *)gpu() + sizeof(struct backend);
    const char *optional = (const char *)gpu() + offsetof(struct backend, dense_scratch);
    const char *required = (const char *)gpu() + offsetof(struct backend, dropout);
    void *function;

    (void)state;
    assert_true((size_t)(end - at) > 40 * sizeof function);
    for (; at < end; at += sizeof function) {
        memcpy(&function, at, sizeof function);
        if (at >= optional && at < required)
            assert_null(function);
        else
            assert_non_null(function);
    }
    assert_non_null(fake_device()->transform);
    assert_non_null(fake_device()->distance);
}

/* ---- Moving ---- */

static void matrices_of_any_shape_are_transposed(void **state)
{
    static const size_t shapes[][2] = {{1, 1}, {1, 40}, {33, 1}, {32, 32}, {31, 33}, {70, 65}};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        size_t rows = shapes[i][0], columns = shapes[i][1], count = 3;
        size_t in_stride = columns + 2, out_stride = rows + 1;
        size_t in_sample = rows * in_stride + 3, out_sample = columns * out_stride + 2;
        struct both in = both_normal(count * in_sample, 1);
        struct both out = both_normal(count * out_sample, 2);

        gpu()->transpose(count, rows, columns, in.on_gpu, in_sample, in_stride, out.on_gpu,
                         out_sample, out_stride);
        backend_cpu()->transpose(count, rows, columns, in.on_cpu, in_sample, in_stride, out.on_cpu,
                                 out_sample, out_stride);
        assert_same(&out);
        free_both(&in);
        free_both(&out);
    }
}

static void rows_are_copied_added_and_gathered(void **state)
{
    static const size_t widths[] = {1, 7, 256, 257, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        const size_t order[] = {4, 0, 3, 3, 1, 2}, second = 1;
        size_t width = widths[i], count = 5;
        struct both in = both_normal(count * (width + 3), 1);
        struct both out = both_normal(count * (width + 1), 2);
        struct both order_of = both_of(order, sizeof order),
                    batch = both_of(&second, sizeof second);
        const struct backend *const backends[] = {gpu(), backend_cpu()};

        for (int k = 0; k < 2; k++) {
            void *from = k ? in.on_cpu : in.on_gpu;
            float *to = k ? out.on_cpu : out.on_gpu;

            backends[k]->copy_rows(count, width, from, width + 3, to, width + 1);
            backends[k]->add_rows(count - 1, width, from, width + 3, to + 1, width + 1);
            backends[k]->gather(2, width, from, k ? order_of.on_cpu : order_of.on_gpu,
                                k ? batch.on_cpu : batch.on_gpu, 4, to);
            backends[k]->gather(1, 1, from, k ? order_of.on_cpu : order_of.on_gpu, NULL, 9, to + 5);
            backends[k]->increment(k ? batch.on_cpu : batch.on_gpu);
            backends[k]->axpby(count * (width + 1) - 1, 2, to, 0.5f, from);
        }
        assert_same(&out);
        assert_same(&batch);
        free_both(&in);
        free_both(&out);
        free_both(&order_of);
        free_both(&batch);
    }
}

static void copies_of_any_size_arrive(void **state)
{
    /* Around the halves of the page-locked memory. */
    static const size_t sizes[] = {1, 63, (4 << 20) - 1, 4 << 20, (4 << 20) + 5, 9 << 20};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *sent = malloc(sizes[i]), *back = malloc(sizes[i]);
        unsigned char *memory = gpu()->allocate(sizes[i] + 1);

        for (size_t k = 0; k < sizes[i]; k++)
            sent[k] = (unsigned char)(k * 31 + k / 251);
        gpu()->upload(memory, sent, sizes[i]);
        from_backend(gpu(), back, memory, sizes[i]);
        assert_memory_equal(sent, back, sizes[i]);
        gpu()->zero(memory, sizes[i] / 2);
        memset(sent, 0, sizes[i] / 2);
        from_backend(gpu(), back, memory, sizes[i]);
        assert_memory_equal(sent, back, sizes[i]);
        from_backend(gpu(), back, memory + sizes[i], 1);
        assert_int_equal(back[0], 0); /* new memory is zero, and nothing was written after */
        gpu()->release(memory);
        free(sent);
        free(back);
    }
}

/* Memory of the fake device can be looked at while its work is not done. */
static void uploads_wait_for_the_work_before_them_unless_told_otherwise(void **state)
{
    const float first = 1, second = 2, third = 3;
    float seen;

    (void)state;
    if (!fake_knobs())
        skip();
    for (int late = FAKE_NONE_LATE; late <= FAKE_OTHERS_LATE; late++) {
        float *a = gpu()->allocate(sizeof *a), *b = gpu()->allocate(sizeof *b);
        float *beside = gpu()->allocate(sizeof *beside);

        fake_knobs()->run_late((enum fake_late)late);
        gpu()->upload(a, &first, sizeof first);
        gpu()->copy_rows(1, 1, a, 0, b, 0);
        gpu()->upload_beside(beside, &third, sizeof third);
        if (late == FAKE_FIRST_LATE)
            assert_true(*beside == 3 && *b == 0);
        gpu()->upload(a, &second, sizeof second);
        from_backend(gpu(), &seen, b, sizeof seen);
        assert_true(seen == 1);
        gpu()->add_rows(1, 1, beside, 0, a, 0);
        from_backend(gpu(), &seen, a, sizeof seen);
        assert_true(seen == 5);
        copies_of_any_size_arrive(NULL);
        fake_knobs()->run_late(FAKE_NONE_LATE);
        gpu()->release(a);
        gpu()->release(b);
        gpu()->release(beside);
    }
}

static void values_that_are_not_finite_are_found(void **state)
{
    static const size_t sizes[] = {1, 255, 256, 257, 1000};
    static const float odd[] = {INFINITY, -INFINITY, NAN};
    const double none = 0, before = 7;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < 7; k++) {
            size_t count = sizes[i];
            float *values = normal_values(count, 3);
            struct both all, found = both_of(k == 6 ? &before : &none, sizeof none);

            values[0] = -FLT_MAX;
            values[count - 1] = FLT_MAX;
            if (k < 6)
                values[k % 2 ? count - 1 : 0] = odd[k / 2];
            if (k == 5) /* all of them write the same */
                values[0] = values[count / 2] = NAN;
            all = both_of(values, count * sizeof *values);
            gpu()->find_infinite(count, all.on_gpu, found.on_gpu);
            backend_cpu()->find_infinite(count, all.on_cpu, found.on_cpu);
            assert_same(&found);
            assert_true(*(double *)found.on_cpu == (k < 6 ? 1 : 7));
            free_both(&all);
            free_both(&found);
            free(values);
        }
}

static void partial_gradients_are_added_up_in_order(void **state)
{
    size_t floats = 777, blocks = 5;
    struct both partial = both_normal(floats * blocks, 1);

    (void)state;
    gpu()->reduce_blocks(blocks, floats, partial.on_gpu);
    backend_cpu()->reduce_blocks(blocks, floats, partial.on_cpu);
    assert_same(&partial);
    free_both(&partial);
}

static void optimisers_take_the_step_they_are_told(void **state)
{
    static const size_t counts[] = {1, 255, 257, 70000};
    const struct optimiser_step steps[3] = {{.rate = 9},
                                            {.rate = 0.1f,
                                             .decay = 0.02f,
                                             .momentum = 0.7f,
                                             .root = 1.3f,
                                             .shrink = 0.99f,
                                             .epsilon = 1e-3f,
                                             .beta2 = 0.9f,
                                             .new1 = 0.5f,
                                             .new2 = 0.1f},
                                            {.rate = 7}};
    const size_t which = 1;

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t n = counts[i];
        struct both step = both_of(steps, sizeof steps), index = both_of(&which, sizeof which);
        struct both g = both_normal(n, 1), first = both_normal(n, 2), values = both_normal(n, 4);
        float *square = normal_values(n, 3);
        struct both second;

        for (size_t k = 0; k < n; k++)
            square[k] *= square[k];
        second = both_of(square, n * sizeof *square);
        gpu()->adam_step(step.on_gpu, index.on_gpu, n, g.on_gpu, first.on_gpu, second.on_gpu,
                         values.on_gpu);
        backend_cpu()->adam_step(step.on_cpu, index.on_cpu, n, g.on_cpu, first.on_cpu,
                                 second.on_cpu, values.on_cpu);
        gpu()->sgd_step(step.on_gpu, index.on_gpu, n, g.on_gpu, first.on_gpu, values.on_gpu);
        backend_cpu()->sgd_step(step.on_cpu, index.on_cpu, n, g.on_cpu, first.on_cpu,
                                values.on_cpu);
        gpu()->sgd_step((struct optimiser_step *)step.on_gpu + 1, NULL, n, g.on_gpu, first.on_gpu,
                        values.on_gpu);
        backend_cpu()->sgd_step((struct optimiser_step *)step.on_cpu + 1, NULL, n, g.on_cpu,
                                first.on_cpu, values.on_cpu);
        assert_close(&first, 1e-6);
        assert_close(&second, 1e-6);
        assert_close(&values, 1e-6);
        free_both(&step);
        free_both(&index);
        free_both(&g);
        free_both(&first);
        free_both(&second);
        free_both(&values);
        free(square);
    }
}

static void the_best_step_is_kept_and_no_other(void **state)
{
    /* Sums 3, 2, 2, not a number, 1. */
    const double values[][2] = {{2, 1}, {1, 1}, {0.5, 1.5}, {NAN, 0}, {0.25, 0.75}};
    const double none = INFINITY, history[10] = {0};
    const size_t zero = 0;
    struct both step = both_of(&zero, sizeof zero), best = both_of(&none, sizeof none);
    struct both seen = both_of(history, sizeof history);
    struct both best_x = both_normal(300, 8), best_logits = both_normal(3, 9);

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct both value = both_of(values[i], sizeof values[i]);
        struct both x = both_normal(300, 20 + i), logits = both_normal(3, 30 + i);

        gpu()->keep_best(&(struct best_step){step.on_gpu, value.on_gpu, seen.on_gpu, best.on_gpu,
                                             299, 2, x.on_gpu, best_x.on_gpu, logits.on_gpu,
                                             best_logits.on_gpu});
        backend_cpu()->keep_best(&(struct best_step){step.on_cpu, value.on_cpu, seen.on_cpu,
                                                     best.on_cpu, 299, 2, x.on_cpu, best_x.on_cpu,
                                                     logits.on_cpu, best_logits.on_cpu});
        gpu()->increment(step.on_gpu);
        backend_cpu()->increment(step.on_cpu);
        assert_same(&best_x);
        assert_same(&best_logits);
        assert_same(&best);
        assert_same(&seen);
        free_both(&value);
        free_both(&x);
        free_both(&logits);
    }
    assert_same(&step);
    free_both(&step);
    free_both(&best);
    free_both(&seen);
    free_both(&best_x);
    free_both(&best_logits);
}

/* ---- Losses ---- */

static void losses_and_their_tangents_are_those_of_the_processor(void **state)
{
    static const size_t counts[] = {1, 5, 257, 700};

    (void)state;
    for (size_t i = 0; i < 3 * sizeof counts / sizeof counts[0]; i++) {
        size_t count = counts[i / 3], classes = 2 + i % 5, all = count * classes;
        const struct loss loss = {(enum loss_kind)(i % 3), 1.5f, 0.8f};
        const double nothing[3] = {-1, -1, -1};
        const size_t where = 1;
        float *raw = normal_values(all, 1);
        struct both logits, targets = both_normal(all, 2);
        struct both rlogits = both_normal(all, 3), rtargets = both_normal(all, 4);
        struct both d = both_normal(all, 5), dt = both_normal(all, 6);
        struct both rd = both_normal(all, 7), rdt = both_normal(all, 8);
        struct both value = both_of(nothing, sizeof nothing), index = both_of(&where, sizeof where);
        int32_t *classes_of = calloc(count, sizeof *classes_of);
        const struct backend *const backends[] = {gpu(), backend_cpu()};
        struct both labels;

        for (size_t n = 0; n < count; n++)
            classes_of[n] = (int32_t)((n * 7 + 1) % classes);
        labels = both_of(classes_of, count * sizeof *classes_of);
        if (count > 1)
            raw[1] = 500; /* too large for an exponential */
        logits = both_of(raw, all * sizeof *raw);
        for (int k = 0; k < 2; k++) {
#define ON(array) (k ? (array).on_cpu : (array).on_gpu)
            struct targets t = {ON(labels), ON(targets)};

            backends[k]->loss(&loss, count, classes, ON(logits), &t, ON(d), ON(dt), ON(value),
                              ON(index));
            backends[k]->loss(&loss, count, classes, ON(logits), &t, NULL, NULL, ON(value), NULL);
            backends[k]->loss_tangent(&loss, count, classes, ON(logits), &t, ON(rlogits),
                                      i % 2 ? ON(rtargets) : NULL, ON(rd), ON(rdt));
            backends[k]->count_correct(count, classes, ON(logits), ON(labels),
                                       (double *)ON(value) + 2);
#undef ON
        }
        fetch_both(&value);
        for (size_t k = 0; k < 3; k++)
            assert_near(((double *)value.seen)[k], ((double *)value.on_cpu)[k],
                        1e-6 * fmax(fabs(((double *)value.on_cpu)[k]), 1));
        assert_close(&d, 2e-6);
        assert_close(&dt, 2e-6);
        assert_close(&rd, 2e-6);
        assert_close(&rdt, 5e-6);
        free(classes_of);
        free(raw);
        struct both *const freed[] = {&logits, &targets, &rlogits, &rtargets, &d,     &dt,
                                      &rd,     &rdt,     &value,   &index,    &labels};
        for (size_t k = 0; k < sizeof freed / sizeof freed[0]; k++)
            free_both(freed[k]);
    }
}

/* ---- Convolutions ---- */

/* With that many more samples, so that every call can have plans of its own. */
static void check_convolutions(size_t more)
{
    /* gap: more steps of halo than the convolution needs, because others read the tensors, too. */
    static const struct {
        size_t count, steps, kernel, inputs, outputs, gap;
    } shapes[] = {{1, 1, 3, 1, 1, 0},   {3, 7, 3, 2, 5, 0},   {2, 40, 5, 17, 33, 0},
                  {5, 1, 1, 70, 3, 0},  {4, 9, 1, 5, 16, 0},  {2, 300, 3, 1, 2, 0},
                  {2, 5, 7, 3, 2, 0},   {3, 6, 3, 16, 32, 0}, {3, 9, 8, 3, 17, 0},
                  {2, 4, 2, 16, 16, 0}, {3, 9, 1, 16, 16, 2}, {2, 7, 3, 16, 5, 1},
                  {3, 10, 4, 5, 16, 3}, {2, 2, 6, 16, 16, 1}};
    const struct backend *const backends[] = {gpu(), backend_cpu()};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        size_t gap = shapes[i].gap, count = shapes[i].count + more, kernel = shapes[i].kernel;
        size_t halo = kernel / 2 + gap;
        size_t ins = shapes[i].inputs, outs = (shapes[i].outputs + 15) / 16 * 16;
        size_t steps = shapes[i].steps, width = steps + 2 * halo, narrow = steps + 2 * gap;
        struct conv1d_shape shape = {steps,        kernel,      ins,         shapes[i].outputs,
                                     ins,          outs,        width * ins, narrow * outs,
                                     narrow * ins, width * outs};
        struct both weight = both_normal(shapes[i].outputs * ins * kernel, 1);
        struct both bias = both_normal(shapes[i].outputs, 2), in, dout;
        struct both out = both_normal(count * narrow * outs, 5);
        struct both din = both_normal(count * narrow * ins, 6);
        struct both dweight = both_normal(shapes[i].outputs * ins * kernel, 7);
        struct both dbias = both_normal(shapes[i].outputs, 8);
        float *x = normal_values(count * width * ins, 3),
              *g = normal_values(count * width * outs, 4);

        for (size_t n = 0; n < count; n++)
            for (size_t t = 0; t < width; t++) {
                bool inside = t >= halo && t < halo + steps;

                for (size_t c = 0; c < ins && !inside; c++)
                    x[(n * width + t) * ins + c] = 0;
                for (size_t c = inside ? shapes[i].outputs : 0; c < outs; c++)
                    g[(n * width + t) * outs + c] = 0;
            }
        in = both_of(x, count * width * ins * sizeof *x);
        dout = both_of(g, count * width * outs * sizeof *g);
        for (int k = 0; k < 2; k++) {
#define ON(array) ((float *)(k ? (array).on_cpu : (array).on_gpu))
            const struct backend *b = backends[k];
            float *forward = b->allocate(b->conv1d_panel(&shape) * sizeof *forward);
            float *backward = b->allocate(b->conv1d_panel(&shape) * sizeof *backward);
            float *gradient = b->allocate(b->conv1d_gradient(&shape) * sizeof *gradient);

            b->conv1d_pack(&shape, ON(weight), ON(bias), forward, backward);
            b->conv1d_forward(&shape, count, ON(in) + halo * ins, forward, false,
                              ON(out) + gap * outs);
            b->conv1d_forward(&shape, count, ON(in) + halo * ins, forward, true,
                              ON(out) + gap * outs);
            b->conv1d_backward_input(&shape, count, ON(dout) + halo * outs, backward, false,
                                     ON(din) + gap * ins);
            b->conv1d_backward_input(&shape, count, ON(dout) + halo * outs, backward, true,
                                     ON(din) + gap * ins);
            b->conv1d_backward_weight(&shape, count, ON(in) + halo * ins, ON(dout) + halo * outs,
                                      true, gradient);
            b->conv1d_backward_weight(&shape, count, ON(in) + halo * ins, ON(dout) + halo * outs,
                                      true, gradient);
            b->conv1d_backward_weight(&shape, count, ON(in) + halo * ins, ON(dout) + halo * outs,
                                      false, gradient);
            b->conv1d_unpack(&shape, gradient, ON(dweight), ON(dbias));
            b->release(forward);
            b->release(backward);
            b->release(gradient);
#undef ON
        }
        assert_close(&out, 1e-5);
        assert_close(&din, 1e-5);
        assert_close(&dweight, 1e-5);
        assert_close(&dbias, 1e-5);
        free(x);
        free(g);
        struct both *const freed[] = {&weight, &bias, &in, &dout, &out, &din, &dweight, &dbias};
        for (size_t k = 0; k < sizeof freed / sizeof freed[0]; k++)
            free_both(freed[k]);
    }
}

static void convolutions_of_any_shape_are_those_of_the_processor(void **state)
{
    struct fake_cuda_counts before = {0};

    (void)state;
    if (fake_knobs())
        before = fake_knobs()->counts();
    check_convolutions(0);
    /* Those with more than one tap are cuDNN's. */
    assert_true(!fake_knobs() || fake_knobs()->counts().convolutions > before.convolutions + 30);
}

static void convolutions_that_cudnn_does_not_have_are_made_of_products(void **state)
{
    (void)state;
    if (!fake_knobs())
        skip();
    fake_knobs()->break_call("cuDNN proposes");
    check_convolutions(10);
    fake_knobs()->break_call("cuDNN runs");
    check_convolutions(20);
    fake_knobs()->break_call(NULL);
    check_convolutions(10);
    assert_null(gpu()->fault());
}

/* ---- Normalisation, activation, pooling (test_cuda_network.c has the rest) ---- */

/* All functions of a normact layer; arrays: in this order, those of each backend. */
enum { Z, RZ, DP, RDP, GAMMA, BETA, RGAMMA, RBETA, P, RP, DGAMMA, DBETA, DZ, RDZ, ROWS, ARRAYS };

static void run_normact(const struct backend *b, struct normact normact, size_t count,
                        float *const *on, double *moments, double *sums)
{
    size_t bytes = NORMACT_SUMS * normact.shape.stride * sizeof *sums;

    normact.gamma = on[GAMMA];
    normact.beta = on[BETA];
    normact.tangent_gamma = on[RGAMMA];
    normact.tangent_beta = on[RBETA];
    normact.rows = on[ROWS];
    normact.moments = moments;
    normact.sums = sums;
    b->zero(moments, NORMACT_MOMENTS * normact.shape.stride * sizeof *moments);
    b->normact_moments(&normact, 0, 0, count, on[Z]);
    b->normact_reduce(&normact, NULL, NULL);
    b->normact_forward(&normact, 0, count, on[Z], on[P]);
    b->zero(sums, bytes);
    b->normact_backward_sums(&normact, 0, 0, count, on[Z], on[DP], NULL, NULL);
    b->normact_backward_reduce(&normact, on[DGAMMA], on[DBETA]);
    b->normact_backward(&normact, 0, count, on[Z], on[DP], on[DZ]);
    b->zero(sums, bytes);
    b->normact_tangent_sums(&normact, 0, 0, count, on[Z], on[RZ]);
    b->normact_tangent_reduce(&normact);
    b->normact_tangent_forward(&normact, 0, count, on[Z], on[RZ], on[RP]);
    b->zero(sums, bytes);
    b->normact_tangent_backward_sums(&normact, 0, 0, count, on[Z], on[RZ], on[DP], on[RDP], NULL,
                                     NULL);
    b->normact_tangent_backward_reduce(&normact, on[DGAMMA], on[DBETA]);
    b->normact_tangent_backward(&normact, 0, count, on[Z], on[RZ], on[DP], on[RDP], on[DZ],
                                on[RDZ]);
}

/* Inside of networks there is other memory after the results; here, nothing. */
static void normacts_write_nothing_behind_their_results(void **state)
{
    enum { COUNT = 3, STEPS = 7, POOLED = 3, STRIDE = 16 };
    enum { LONG = COUNT * STEPS * STRIDE, SHORT = COUNT * POOLED * STRIDE };
    static const size_t sizes[ARRAYS] = {LONG,   LONG,   SHORT,  SHORT, STRIDE,
                                         STRIDE, STRIDE, STRIDE, SHORT, SHORT,
                                         STRIDE, STRIDE, LONG,   LONG,  NORMACT_ROWS * STRIDE};
    struct normact normact = {.shape = {.norm = NORM_BATCH,
                                        .act = ACTIVATION_SIGMOID,
                                        .pool = POOL_MEAN,
                                        .steps = STEPS,
                                        .pooled = POOLED,
                                        .channels = STRIDE,
                                        .stride = STRIDE,
                                        .input_sample = STEPS * STRIDE,
                                        .input_gradient_sample = STEPS * STRIDE,
                                        .output_sample = POOLED * STRIDE,
                                        .output_gradient_sample = POOLED * STRIDE},
                              .samples = COUNT,
                              .blocks = 1,
                              .batch = true,
                              .measured = true,
                              .summed = true};
    struct both arrays[ARRAYS], moments = both_normal(2 * NORMACT_MOMENTS * STRIDE, 20);
    struct both sums = both_normal(2 * NORMACT_SUMS * STRIDE, 21);
    float *on_gpu[ARRAYS], *on_cpu[ARRAYS];

    (void)state;
    for (size_t i = 0; i < ARRAYS; i++) {
        arrays[i] = both_normal(sizes[i], i);
        on_gpu[i] = arrays[i].on_gpu;
        on_cpu[i] = arrays[i].on_cpu;
    }
    run_normact(gpu(), normact, COUNT, on_gpu, moments.on_gpu, sums.on_gpu);
    run_normact(backend_cpu(), normact, COUNT, on_cpu, moments.on_cpu, sums.on_cpu);
    for (size_t i = 0; i < ARRAYS; i++) {
        if (i != ROWS)
            assert_close(&arrays[i], 2e-5);
        free_both(&arrays[i]);
    }
    free_both(&moments);
    free_both(&sums);
}

/* One sample less than there is room for: the last stays as it was. */
static void pooling_of_all_steps_is_that_of_the_processor(void **state)
{
    enum { ROOM = 4, COUNT = 3, STEPS = 9, STRIDE = 48, GAP = 16 };
    enum { LONG = STEPS * STRIDE + GAP, SHORT = STRIDE + GAP };
    const struct backend *const backends[] = {gpu(), backend_cpu()};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pool_shape shape = {
            i ? POOL_MAX : POOL_MEAN, STEPS, STRIDE, LONG, LONG, SHORT, SHORT};
        struct both in = both_normal(ROOM * LONG, 1), rin = both_normal(ROOM * LONG, 2);
        struct both dout = both_normal(ROOM * SHORT, 3), out = both_normal(ROOM * SHORT, 4);
        struct both rout = both_normal(ROOM * SHORT, 5), din = both_normal(ROOM * LONG, 6);
        struct both index = both_normal(ROOM * STRIDE, 7);

        for (int k = 0; k < 2; k++) {
#define ON(array) (k ? (array).on_cpu : (array).on_gpu)
            backends[k]->pool_steps(&shape, COUNT, ON(in), ON(index), ON(out));
            backends[k]->pool_steps_tangent(&shape, COUNT, ON(rin), ON(index), ON(rout));
            backends[k]->pool_steps_backward(&shape, COUNT, ON(dout), ON(index), ON(din));
#undef ON
        }
        fetch_both(&index);
        assert_memory_equal(index.seen, index.on_cpu, ROOM * STRIDE * sizeof(int32_t));
        assert_close(&out, 1e-6);
        assert_close(&rout, 1e-6);
        assert_close(&din, 1e-6);
        struct both *const freed[] = {&in, &rin, &dout, &out, &rout, &din, &index};
        for (size_t k = 0; k < sizeof freed / sizeof freed[0]; k++)
            free_both(freed[k]);
    }
}

/* ---- Small grids ---- */

/* Scores of some hundred, whose exponentials no float holds, and more steps than threads. */
static void attention_to_large_scores_does_not_overflow(void **state)
{
    enum { COUNT = 2, STEPS = 70, WIDTH = 4, STRIDE = 16, LONG = STEPS * STRIDE };
    const struct backend *const backends[] = {gpu(), backend_cpu()};
    struct attention_shape shape = {STEPS, 1, WIDTH, STRIDE, STRIDE, LONG, LONG, LONG, LONG};
    struct both in = both_normal(COUNT * LONG, 1), out = both_normal(COUNT * LONG, 2);

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct attention attention = {.shape = shape};
        float *x = k ? in.on_cpu : in.on_gpu;

        attention.scratch =
            backends[k]->allocate(backends[k]->attention_scratch(&shape, COUNT) * sizeof *x);
        backends[k]->axpby(COUNT * LONG, 20, x, 0, x);
        backends[k]->attention_forward(&attention, 0, COUNT, x, k ? out.on_cpu : out.on_gpu);
        backends[k]->release(attention.scratch);
    }
    assert_close(&out, 1e-3);
    free_both(&in);
    free_both(&out);
}

static void grids_too_small_for_the_work_go_round(void **state)
{
    (void)state;
    if (!fake_knobs())
        skip();
    for (size_t most = 1; most < 4; most += 2) {
        fake_knobs()->limit_grids(most);
        matrices_of_any_shape_are_transposed(NULL);
        rows_are_copied_added_and_gathered(NULL);
        values_that_are_not_finite_are_found(NULL);
        partial_gradients_are_added_up_in_order(NULL);
        optimisers_take_the_step_they_are_told(NULL);
        the_best_step_is_kept_and_no_other(NULL);
        losses_and_their_tangents_are_those_of_the_processor(NULL);
        convolutions_of_any_shape_are_those_of_the_processor(NULL);
        fake_knobs()->limit_grids(0);
    }
}

/* ---- Errors (the last: the first fault stays) ---- */

static void memory_that_is_not_there_is_told(void **state)
{
    void *memory;

    (void)state;
    if (!fake_knobs())
        skip();
    fake_knobs()->set_memory(1);
    assert_null(gpu()->allocate(1 << 20));
    assert_fails("not enough memory on the device cuda for series: 1 MB",
                 backend_room(gpu(), 1 << 20, "series", &memory));
    fake_knobs()->set_memory(0);
    assert_null(gpu()->fault());
}

static void the_first_fault_is_kept_and_told(void **state)
{
    float value = 1, *memory = gpu()->allocate(sizeof value);

    (void)state;
    if (!fake_knobs())
        skip();
    fake_knobs()->break_call("kernel");
    gpu()->copy_rows(1, 1, memory, 0, memory, 0);
    fake_knobs()->break_call("cudaMemcpyAsync");
    assert_fails("CUDA: copy_rows_kernel: an illegal memory access was encountered",
                 backend_fetch(gpu(), &value, memory, sizeof value));
    assert_true(value == 0);
    fake_knobs()->break_call(NULL);
    assert_fails("CUDA: copy_rows_kernel", backend_fetch(gpu(), &value, memory, sizeof value));
    gpu()->release(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_of_the_backend_is_there),
        cmocka_unit_test(matrices_of_any_shape_are_transposed),
        cmocka_unit_test(rows_are_copied_added_and_gathered),
        cmocka_unit_test(copies_of_any_size_arrive),
        cmocka_unit_test(uploads_wait_for_the_work_before_them_unless_told_otherwise),
        cmocka_unit_test(values_that_are_not_finite_are_found),
        cmocka_unit_test(partial_gradients_are_added_up_in_order),
        cmocka_unit_test(optimisers_take_the_step_they_are_told),
        cmocka_unit_test(the_best_step_is_kept_and_no_other),
        cmocka_unit_test(losses_and_their_tangents_are_those_of_the_processor),
        cmocka_unit_test(convolutions_of_any_shape_are_those_of_the_processor),
        cmocka_unit_test(convolutions_that_cudnn_does_not_have_are_made_of_products),
        cmocka_unit_test(normacts_write_nothing_behind_their_results),
        cmocka_unit_test(pooling_of_all_steps_is_that_of_the_processor),
        cmocka_unit_test(attention_to_large_scores_does_not_overflow),
        cmocka_unit_test(grids_too_small_for_the_work_go_round),
        cmocka_unit_test(memory_that_is_not_there_is_told),
        cmocka_unit_test(the_first_fault_is_kept_and_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
