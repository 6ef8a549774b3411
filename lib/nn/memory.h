/* Host arrays as a backend sees them, and its faults as errors. */
#ifndef SC_NN_MEMORY_H
#define SC_NN_MEMORY_H

#include <stddef.h>

#include "base/error.h"
#include "nn/backend.h"

/* A host array in memory of the backend: itself where that is plain memory, else a copy.  NULL, or
 * no bytes, gives NULL. */
struct error *backend_view(const struct backend *backend, const void *host, size_t bytes,
                           const void **view) MUST_CHECK;
/* Frees the copy, if it is one. */
void backend_view_free(const struct backend *backend, const void *host, const void *view);

/* The same for arrays of a call, with room for copies that the caller keeps: what to read; where to
 * write, and then how it comes back to the host.  NULL stays NULL. */
const void *backend_give(const struct backend *backend, const void *host, void *copy, size_t bytes);
void *backend_place(const struct backend *backend, void *host, void *copy);
void backend_take(const struct backend *backend, void *host, const void *copy, size_t bytes);

/* Memory of the backend that must be there. */
struct error *backend_room(const struct backend *backend, size_t bytes, const char *what,
                           void **memory) MUST_CHECK;

/* What went wrong on the device since the start. */
struct error *backend_check(const struct backend *backend) MUST_CHECK;

/* Waits for the device and brings the bytes to the host. */
struct error *backend_fetch(const struct backend *backend, void *host, const void *device,
                            size_t bytes) MUST_CHECK;

#endif
