/* One instance of all kernels: the including file defines VECTOR_BYTES and the name KERNELS. */
#include "nn/kernels.h"

#include "nn/kernels_vector.h"

#include "nn/kernels_matrix.h"

#include "nn/kernels_stage.h"

#include "nn/kernels_pool.h"

const struct kernels KERNELS = {
    .lanes = LANES,
    .multiply = multiply,
    .multiply_transposed = multiply_transposed,
    .add_columns = add_columns,
    .moments = moments,
    .products = products,
    .pool_mean = pool_mean,
    .pool_max = pool_max,
    .stage_forward = stage_forward,
    .stage_backward_sums = stage_backward_sums,
    .stage_backward = stage_backward,
    .stage_tangent_forward = stage_tangent_forward,
    .stage_tangent_backward_sums = stage_tangent_backward_sums,
    .stage_tangent_backward = stage_tangent_backward,
};
