/* The transform's kernel in portable C. */
#define SQUARES transform_squares_generic
#include "shapelets/transform_kernel.h"
