/* Linear layers of one step on the processor: few rows against many weights.
 *
 * A batch has some ten rows, the weights do not fit into the cache: what counts is how often they
 * are read and written.  So they are used where they are, in PyTorch's order W (outputs, inputs);
 * with X (rows, inputs) and the gradient G of the output (rows, outputs),
 *     (X W^T)^T = W X^T      with X^T packed instead of the weights
 *     G W                    rows of W added up, weighted by the columns of G^T
 *     dW = G^T X             written once, to its place
 * A task has some outputs, or some inputs for G W, of all rows: there is nothing to be added up
 * between tasks.  Rows are filled up to ROWS, so that each is computed in the same order however
 * many there are. */
#include <string.h>

#include "base/parallel.h"
#include "base/size.h"
#include "nn/backend_cpu.h"

/* Tasks have whole tiles of the kernels.  DEPTH rows of a strip of X^T stay in the first-level
 * cache. */
enum { ROWS = 16, OUTPUTS = 48, INPUTS = 64, GRADIENT_OUTPUTS = 24, DEPTH = 128 };

struct product {
    const struct dense_shape *shape;
    size_t count, rows; /* rows: count, filled up */
    const float *in, *dout;
    const float *weight, *bias;
    bool add;
    float *panel;      /* X^T, packed */
    float *transposed; /* (outputs, rows): the output or its gradient */
    float *out, *din, *dweight, *dbias;
};

static size_t filled_up(size_t count)
{
    return (count + ROWS - 1) / ROWS * ROWS;
}

size_t cpu_dense_scratch(const struct dense_shape *shape, size_t count)
{
    return filled_up(count) * (shape->inputs + shape->outputs);
}

static struct product product_of(const struct dense_shape *shape, size_t count, float *scratch)
{
    size_t rows = filled_up(count);

    return (struct product){.shape = shape,
                            .count = count,
                            .rows = rows,
                            .panel = scratch,
                            .transposed = scratch + rows * shape->inputs};
}

/* rows of W times one strip of X^T, added to `to`. */
static void multiply_strip(const struct product *product, size_t rows, const float *weight,
                           struct panel_strip strip, float *to)
{
    size_t inputs = product->shape->inputs, width = strip.vectors * cpu_kernels()->lanes;
    const float *panel = product->panel + inputs * strip.first;

    for (size_t k = 0; k < inputs; k += DEPTH)
        cpu_kernels()->multiply(rows, size_min(inputs - k, DEPTH), weight + k, inputs,
                                panel + k * width, width, NULL, true, to + strip.first,
                                product->rows);
}

static void forward_task(void *context, size_t task, unsigned worker)
{
    const struct product *product = context;
    const struct dense_shape *shape = product->shape;
    size_t first = task * OUTPUTS, outputs = size_min(shape->outputs - first, OUTPUTS);
    size_t lanes = cpu_kernels()->lanes, sample = shape->output_sample;
    float *transposed = product->transposed + first * product->rows;

    (void)worker;
    if (product->add)
        backend_cpu()->transpose(1, product->count, outputs, product->out + first, 0, sample,
                                 transposed, 0, product->rows);
    else
        for (size_t o = 0; o < outputs; o++)
            for (size_t n = 0; n < product->rows; n++)
                transposed[o * product->rows + n] = product->bias ? product->bias[first + o] : 0.0f;
    for (size_t n = 0; n < product->rows;) {
        struct panel_strip strip = panel_strip(product->rows, n, lanes);

        multiply_strip(product, outputs, product->weight + first * shape->inputs, strip,
                       transposed);
        n += strip.vectors * lanes;
    }
    backend_cpu()->transpose(1, outputs, product->count, transposed, 0, product->rows,
                             product->out + first, 0, sample);
}

void cpu_dense_forward(const struct dense_shape *shape, size_t count, const float *in,
                       const float *weight, const float *bias, bool add, float *scratch, float *out)
{
    struct product product = product_of(shape, count, scratch);

    product.weight = weight;
    product.bias = bias;
    product.add = add;
    product.out = out;
    cpu_pack(shape->inputs, count, product.rows, in, 1, shape->input_sample, product.panel);
    parallel_for((shape->outputs + OUTPUTS - 1) / OUTPUTS, forward_task, &product);
}

static void input_task(void *context, size_t task, unsigned worker)
{
    const struct product *product = context;
    const struct dense_shape *shape = product->shape;
    size_t first = task * INPUTS, inputs = size_min(shape->inputs - first, INPUTS);
    size_t sample = shape->input_gradient_sample;
    float *din = product->din + first;

    (void)worker;
    for (size_t n = 0; !product->add && n < product->count; n++)
        memset(din + n * sample, 0, inputs * sizeof *din);
    cpu_kernels()->multiply_transposed(1, shape->outputs, product->transposed, 0, product->rows,
                                       product->count, product->weight + first, 0, shape->inputs,
                                       inputs, din, sample);
}

void cpu_dense_backward_input(const struct dense_shape *shape, size_t count, const float *dout,
                              const float *weight, bool add, float *scratch, float *din)
{
    struct product product = product_of(shape, count, scratch);

    product.weight = weight;
    product.add = add;
    product.din = din;
    backend_cpu()->transpose(1, count, shape->outputs, dout, 0, shape->output_gradient_sample,
                             product.transposed, 0, product.rows);
    parallel_for((shape->inputs + INPUTS - 1) / INPUTS, input_task, &product);
}

static void weight_task(void *context, size_t task, unsigned worker)
{
    const struct product *product = context;
    const struct dense_shape *shape = product->shape;
    size_t first = task * GRADIENT_OUTPUTS;
    size_t outputs = size_min(shape->outputs - first, GRADIENT_OUTPUTS);
    float *dweight = product->dweight + first * shape->inputs, *dbias = product->dbias + first;

    (void)worker;
    if (!product->add) {
        memset(dweight, 0, outputs * shape->inputs * sizeof *dweight);
        memset(dbias, 0, outputs * sizeof *dbias);
        for (size_t n = 0; n < product->count; n++)
            for (size_t o = 0; o < outputs; o++)
                dbias[o] += product->dout[n * shape->output_gradient_sample + first + o];
    }
    cpu_kernels()->multiply_transposed(1, product->count, product->dout + first, 0,
                                       shape->output_gradient_sample, outputs, product->in, 0,
                                       shape->input_sample, shape->inputs, dweight, shape->inputs);
}

void cpu_dense_backward_weight(const struct dense_shape *shape, size_t count, const float *in,
                               const float *dout, bool add, float *dweight, float *dbias)
{
    struct product product = {.shape = shape,
                              .count = count,
                              .in = in,
                              .dout = dout,
                              .add = add,
                              .dweight = dweight,
                              .dbias = dbias};

    parallel_for((shape->outputs + GRADIENT_OUTPUTS - 1) / GRADIENT_OUTPUTS, weight_task, &product);
}
