/* The kernels for AVX2 with FMA. */
#define VECTOR_BYTES 32
#define KERNELS      kernels_avx2
#include "nn/kernels_instance.h"
