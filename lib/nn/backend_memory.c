#include "nn/backend_memory.h"

#include <stdint.h>

struct error *backend_view(const struct backend *backend, const void *host, size_t bytes,
                           const void **view)
{
    void *copy;

    *view = NULL;
    if (!host || bytes == 0)
        return NULL;
    if (backend->host_memory) {
        *view = host;
        return NULL;
    }
    TRY(backend_room(backend, bytes, "data", &copy));
    backend->upload(copy, host, bytes);
    *view = copy;
    return NULL;
}

void backend_view_free(const struct backend *backend, const void *host, const void *view)
{
    if (view != host)
        backend->release((void *)(uintptr_t)view);
}

const void *backend_input(const struct backend *backend, const void *host, void *copy, size_t bytes)
{
    if (!host || backend->host_memory)
        return host;
    backend->upload(copy, host, bytes);
    return copy;
}

void *backend_output(const struct backend *backend, void *host, void *copy)
{
    return !host || backend->host_memory ? host : copy;
}

void backend_readback(const struct backend *backend, void *host, const void *copy, size_t bytes)
{
    if (host && !backend->host_memory)
        backend->download(host, copy, bytes);
}

struct error *backend_room(const struct backend *backend, size_t bytes, const char *what,
                           void **memory)
{
    *memory = backend->allocate(bytes);
    if (*memory)
        return NULL;
    TRY(backend_check(backend));
    return error_make("not enough memory on the device %s for %s: %zu MB", backend->name, what,
                      bytes >> 20);
}

struct error *backend_check(const struct backend *backend)
{
    const char *fault = backend->fault();

    return fault ? error_make("%s", fault) : NULL;
}

struct error *backend_fetch(const struct backend *backend, void *host, const void *device,
                            size_t bytes)
{
    backend->download(host, device, bytes);
    return backend_check(backend);
}
