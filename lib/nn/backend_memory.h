/* Host arrays as a backend sees them, and its faults as errors. */
#ifndef SC_NN_BACKEND_MEMORY_H
#define SC_NN_BACKEND_MEMORY_H

#include <stddef.h>

#include "base/error.h"
#include "nn/backend.h"

/* A host array in memory of the backend: itself where that is plain memory, else a copy.  NULL, or
 * no bytes, gives NULL. */
struct error *backend_view(const struct backend *backend, const void *host, size_t bytes,
                           const void **view) MUST_CHECK;
/* Frees the copy, if it is one. */
void backend_view_free(const struct backend *backend, const void *host, const void *view);

/* The same with `copy`, memory of the backend that the caller keeps, which is not used where the
 * backend has plain memory.  NULL stays NULL.
 *
 * An input: the array that the backend reads. */
const void *backend_input(const struct backend *backend, const void *host, void *copy,
                          size_t bytes);
/* An output: the array that the backend writes. */
void *backend_output(const struct backend *backend, void *host, void *copy);
/* Copies that output back to the host. */
void backend_readback(const struct backend *backend, void *host, const void *copy, size_t bytes);

/* Memory of the backend, or an error that says for what it was. */
struct error *backend_room(const struct backend *backend, size_t bytes, const char *what,
                           void **memory) MUST_CHECK;

/* The first failure on the device since the start. */
struct error *backend_check(const struct backend *backend) MUST_CHECK;

/* Waits for the device and brings the bytes to the host. */
struct error *backend_fetch(const struct backend *backend, void *host, const void *device,
                            size_t bytes) MUST_CHECK;

#endif
