/* The parts of the CPU backend that backend_cpu.c puts together (see backend.h for what they do).
 */
#ifndef SC_NN_BACKEND_CPU_H
#define SC_NN_BACKEND_CPU_H

#include "nn/kernels.h"

/* The kernels for this machine. */
const struct kernels *cpu_kernels(void);

void cpu_stage_moments(const struct stage *stage, size_t block, size_t first, size_t count,
                       const float *z);
void cpu_stage_reduce(const struct stage *stage, const float *running_mean,
                      const float *running_variance);
void cpu_stage_forward(const struct stage *stage, size_t first, size_t count, const float *z,
                       float *p);
void cpu_stage_update_running(const struct stage *stage, float momentum, float *running_mean,
                              float *running_variance);
void cpu_stage_match(const struct stage *stage, double weight, bool squared,
                     const float *running_mean, const float *running_variance, double *sum);
void cpu_stage_statistics_gradient(const struct stage *stage, const float *dmean,
                                   const float *dvariance);
void cpu_stage_backward_sums(const struct stage *stage, size_t block, size_t first, size_t count,
                             const float *z, const float *dp, float *dgamma, float *dbeta);
void cpu_stage_backward_reduce(const struct stage *stage, float *dgamma, float *dbeta);
void cpu_stage_backward(const struct stage *stage, size_t first, size_t count, const float *z,
                        const float *dp, float *dz);
void cpu_stage_tangent_sums(const struct stage *stage, size_t block, size_t first, size_t count,
                            const float *z, const float *rz);
void cpu_stage_tangent_reduce(const struct stage *stage);
void cpu_stage_tangent_forward(const struct stage *stage, size_t first, size_t count,
                               const float *z, const float *rz, float *rp);
void cpu_stage_tangent_backward_sums(const struct stage *stage, size_t block, size_t first,
                                     size_t count, const float *z, const float *rz, const float *dp,
                                     const float *rdp, float *rdgamma, float *rdbeta);
void cpu_stage_tangent_backward_reduce(const struct stage *stage, float *rdgamma, float *rdbeta);
void cpu_stage_tangent_backward(const struct stage *stage, size_t first, size_t count,
                                const float *z, const float *rz, const float *dp, const float *rdp,
                                float *dz, float *rdz);

#endif
