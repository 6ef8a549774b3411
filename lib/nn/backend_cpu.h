/* The parts of the CPU backend that backend_cpu.c puts together (see backend.h for what they do).
 */
#ifndef SC_NN_BACKEND_CPU_H
#define SC_NN_BACKEND_CPU_H

#include "nn/kernels.h"

/* The kernels for this machine. */
const struct kernels *cpu_kernels(void);

/* out (columns, rows) = in (rows, columns) transposed; the strides are those between rows. */
void cpu_transpose_sample(size_t rows, size_t columns, const float *in, size_t in_stride,
                          float *out, size_t out_stride);

void cpu_copy_rows(size_t count, size_t columns, const float *in, size_t in_sample, float *out,
                   size_t out_sample);

size_t cpu_conv1d_panel(const struct conv1d_shape *shape);
void cpu_conv1d_pack(const struct conv1d_shape *shape, const float *weight, const float *bias,
                     float *forward, float *backward);
void cpu_conv1d_forward(const struct conv1d_shape *shape, size_t count, const float *in,
                        const float *forward, bool add, float *out);
void cpu_conv1d_backward_input(const struct conv1d_shape *shape, size_t count, const float *dout,
                               const float *backward, bool add, float *din);
size_t cpu_conv1d_gradient(const struct conv1d_shape *shape);
void cpu_conv1d_backward_weight(const struct conv1d_shape *shape, size_t count, const float *in,
                                const float *dout, bool bias, float *gradient);
void cpu_conv1d_unpack(const struct conv1d_shape *shape, const float *gradient, float *dweight,
                       float *dbias);

void cpu_normact_moments(const struct normact *normact, size_t block, size_t first, size_t count,
                         const float *z);
void cpu_normact_reduce(const struct normact *normact, const float *running_mean,
                        const float *running_variance);
void cpu_normact_forward(const struct normact *normact, size_t first, size_t count, const float *z,
                         float *p);
void cpu_normact_update_running(const struct normact *normact, float momentum, float *running_mean,
                                float *running_variance);
void cpu_normact_match(const struct normact *normact, double weight, bool squared,
                       const float *running_mean, const float *running_variance, double *sum);
void cpu_normact_statistics_gradient(const struct normact *normact, const float *dmean,
                                     const float *dvariance);
void cpu_normact_backward_sums(const struct normact *normact, size_t block, size_t first,
                               size_t count, const float *z, const float *dp, float *dgamma,
                               float *dbeta);
void cpu_normact_backward_reduce(const struct normact *normact, float *dgamma, float *dbeta);
void cpu_normact_backward(const struct normact *normact, size_t first, size_t count, const float *z,
                          const float *dp, float *dz);
void cpu_normact_tangent_sums(const struct normact *normact, size_t block, size_t first,
                              size_t count, const float *z, const float *rz);
void cpu_normact_tangent_reduce(const struct normact *normact);
void cpu_normact_tangent_forward(const struct normact *normact, size_t first, size_t count,
                                 const float *z, const float *rz, float *rp);
void cpu_normact_tangent_backward_sums(const struct normact *normact, size_t block, size_t first,
                                       size_t count, const float *z, const float *rz,
                                       const float *dp, const float *rdp, float *rdgamma,
                                       float *rdbeta);
void cpu_normact_tangent_backward_reduce(const struct normact *normact, float *rdgamma,
                                         float *rdbeta);
void cpu_normact_tangent_backward(const struct normact *normact, size_t first, size_t count,
                                  const float *z, const float *rz, const float *dp,
                                  const float *rdp, float *dz, float *rdz);

/* Fills the strips (kernels.h) of a depth x columns matrix, filled up with zeros to `padded`
 * columns, from values at distances of step_row and step_column floats. */
void cpu_pack(size_t depth, size_t columns, size_t padded, const float *from, size_t step_row,
              size_t step_column, float *panel);

size_t cpu_dense_scratch(const struct dense_shape *shape, size_t count);
void cpu_dense_forward(const struct dense_shape *shape, size_t count, const float *in,
                       const float *weight, const float *bias, bool add, float *scratch,
                       float *out);
void cpu_dense_backward_input(const struct dense_shape *shape, size_t count, const float *dout,
                              const float *weight, bool add, float *scratch, float *din);
void cpu_dense_backward_weight(const struct dense_shape *shape, size_t count, const float *in,
                               const float *dout, bool add, float *dweight, float *dbias);

void cpu_dropout(const struct dropout_mask *mask, size_t first, size_t count, size_t rows,
                 size_t columns, const float *in, size_t in_sample, float *out, size_t out_sample);

/* The same for rows from number `first` of one sample, at a distance of `stride` floats. */
void cpu_dropout_rows(const struct dropout_mask *mask, size_t sample, size_t first, size_t rows,
                      size_t columns, const float *in, float *out, size_t stride);

void cpu_rownorm_forward(const struct rownorm *rownorm, size_t count, const float *z, float *y);
void cpu_rownorm_backward(const struct rownorm *rownorm, size_t count, const float *z,
                          const float *dy, float *dz, float *dparameters);
void cpu_rownorm_tangent_forward(const struct rownorm *rownorm, size_t count, const float *z,
                                 const float *rz, float *ry);
void cpu_rownorm_tangent_backward(const struct rownorm *rownorm, size_t count, const float *z,
                                  const float *rz, const float *dy, const float *rdy, float *rdz,
                                  float *rdparameters);

size_t cpu_attention_scratch(const struct attention_shape *shape, size_t count);
void cpu_attention_forward(const struct attention *attention, size_t first, size_t count,
                           const float *in, float *out);
void cpu_attention_backward(const struct attention *attention, size_t first, size_t count,
                            const float *in, const float *dout, float *din);
void cpu_attention_tangent_forward(const struct attention *attention, size_t first, size_t count,
                                   const float *in, const float *rin, float *rout);
void cpu_attention_tangent_backward(const struct attention *attention, size_t first, size_t count,
                                    const float *in, const float *rin, const float *dout,
                                    const float *rdout, float *rdin);

size_t cpu_gru_scratch(const struct gru_shape *shape, size_t count);
void cpu_gru_forward(const struct gru *gru, size_t count, const float *in, float *gates,
                     float *out);
void cpu_gru_backward(const struct gru *gru, size_t count, const float *gates, const float *out,
                      const float *dout, float *din, float *gradient);
void cpu_gru_tangent_forward(const struct gru *gru, size_t count, const float *rin,
                             const float *gates, const float *out, float *rgates, float *rout);
void cpu_gru_tangent_backward(const struct gru *gru, size_t count, const float *gates,
                              const float *rgates, const float *out, const float *rout,
                              const float *dout, const float *rdout, float *rdin, float *gradient);

#endif
