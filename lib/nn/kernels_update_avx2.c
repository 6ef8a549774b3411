/* The steps of optimisers for AVX2. */
#define UPDATE_KERNELS update_kernels_avx2
#include "nn/kernels_update_instance.h"
