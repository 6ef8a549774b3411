/* The kernels for whatever the compiler assumes of the machine. */
#define VECTOR_BYTES 16
#define KERNELS      kernels_generic
#include "nn/kernels_instance.h"
