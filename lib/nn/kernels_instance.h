/* One instance of all kernels: the including file defines VECTOR_BYTES and the name KERNELS. */
#include "nn/kernels.h"

#include "nn/kernels_vector.h"

#include "nn/kernels_matrix.h"

#include "nn/kernels_normact.h"

#include "nn/kernels_pool.h"

#include "nn/kernels_max3.h"

#include "nn/kernels_dropout.h"

#include "nn/kernels_rownorm.h"

#include "nn/kernels_attention.h"

#include "nn/kernels_gru.h"

const struct kernels KERNELS = {
    .lanes = LANES,
    .multiply = multiply,
    .multiply_transposed = multiply_transposed,
    .add_columns = add_columns,
    .moments = moments,
    .products = products,
    .pool_mean = pool_mean,
    .pool_max = pool_max,
    .max3 = max3,
    .max3_backward = max3_backward,
    .max3_tangent = max3_tangent,
    .dropout_row = dropout_row,
    .rownorm_forward = rownorm_forward,
    .rownorm_backward = rownorm_backward,
    .rownorm_tangent_forward = rownorm_tangent_forward,
    .rownorm_tangent_backward = rownorm_tangent_backward,
    .softmax_rows = softmax_rows,
    .softmax_gradient = softmax_gradient,
    .softmax_gradient_tangent = softmax_gradient_tangent,
    .gru_step = gru_step,
    .gru_step_backward = gru_step_backward,
    .gru_step_tangent = gru_step_tangent,
    .gru_step_tangent_backward = gru_step_tangent_backward,
    .normact_forward = normact_forward,
    .normact_backward_sums = normact_backward_sums,
    .normact_backward = normact_backward,
    .normact_tangent_forward = normact_tangent_forward,
    .normact_tangent_backward_sums = normact_tangent_backward_sums,
    .normact_tangent_backward = normact_tangent_backward,
};
