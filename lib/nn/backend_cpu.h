/* The parts of the CPU backend that backend_cpu.c puts together (see backend.h for what they do).
 */
#ifndef SC_NN_BACKEND_CPU_H
#define SC_NN_BACKEND_CPU_H

#include "nn/kernels.h"

/* The kernels for this machine. */
const struct kernels *cpu_kernels(void);

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

#endif
