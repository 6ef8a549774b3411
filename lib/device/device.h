/* Where the work is done: the processor, or a GPU by way of a plug-in (shapecond-cuda(7)).
 *
 * The programs do not depend on CUDA.  The plug-in is a shared library that is loaded on demand and
 * fills in the same structs of functions as the processor has. */
#ifndef SC_DEVICE_H
#define SC_DEVICE_H

#include <stddef.h>

#include "base/error.h"
#include "nn/backend.h"
#include "shapelets/distance_device.h"
#include "shapelets/transform.h"

enum device_kind {
    DEVICE_CPU,
    DEVICE_AUTO, /* a GPU if there is one that can be used, else the processor */
    DEVICE_CUDA,
};

struct device {
    const struct backend *backend;
    const struct transform_device *transform; /* NULL: the processor's own */
    const struct distance_device *distance;   /* NULL: the processor's own */
};

/* The processor. */
struct device device_cpu(void);

/* The plug-in that SHAPECOND_CUDA_PLUGIN names, or libshapecond-cuda.so in the folder ../lib beside
 * that of the program, or where the system looks for libraries.  For DEVICE_CUDA it is an error if
 * there is no plug-in, no driver or no GPU; the message says which. */
struct error *device_open(enum device_kind kind, struct device *device) MUST_CHECK;

/* transform_forward for arrays of the host, whatever device the transform is on: series `first` to
 * first + count - 1 of x and rows of features.  A distance that has no place in a float is an
 * error. */
struct error *device_transform(const struct device *device, const struct transform *transform,
                               const float *x, size_t first, size_t count,
                               float *features) MUST_CHECK;

/* What a plug-in exports as PLUGIN_ENTRY.  Of the program: SHAPECOND_INTERFACE, its version and a
 * sum of this header and all that it includes, which the Makefile makes, and the size of struct
 * backend; a plug-in of others refuses.  Returns 0 and fills in the device, or writes to
 * message[size] what is missing. */
#define PLUGIN_ENTRY "shapecond_cuda_open"
typedef int plugin_open(const char *interface, size_t backend_size, struct device *device,
                        char *message, size_t size);

#endif
