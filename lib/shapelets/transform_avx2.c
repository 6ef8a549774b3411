/* The transform's kernel for AVX2. */
#define SQUARES transform_squares_avx2
#include "shapelets/transform_kernel.h"
