/* The steps of optimisers for whatever the compiler assumes of the machine. */
#define UPDATE_KERNELS update_kernels_generic
#include "nn/kernels_update_instance.h"
