/* The same bytes from memory and through a pipe must give the same arrays or both an error. */
#include "fuzz.h"

#include <unistd.h>

enum { PIPE_BYTES = 60000 }; /* what a pipe takes without a reader */

static npy_reader *open_pipe(const uint8_t *bytes, size_t size, int *descriptor)
{
    int ends[2];

    MUST(pipe(ends) == 0);
    MUST(write(ends[1], bytes, size) == (ssize_t)size);
    close(ends[1]);
    *descriptor = ends[0];
    return npy_open_fd(ends[0], NULL);
}

static void use(struct npy_array *array)
{
    struct npy_error error;

    if (array->kind == NPY_UNICODE) {
        char **strings = npy_strings(array, &error);

        for (size_t i = 0; strings && i < array->count; i++)
            MUST(strlen(strings[i]) <= array->item_size);
        free(strings);
        return;
    }
    if (npy_convert(array, NPY_INT, 8, &error))
        MUST(error.message[0]);
    MUST(npy_convert(array, NPY_FLOAT, 4, &error) == 0);
    for (size_t i = 0; i < array->count; i++)
        ((float *)array->data)[i] += 1; /* writable */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct npy_error error;
    npy_reader *memory, *piped;
    int descriptor, result, other;

    if (size > PIPE_BYTES)
        return 0;
    memory = npy_open_memory(bytes, size, &error);
    piped = open_pipe(bytes, size, &descriptor);
    MUST(memory && piped);
    do {
        struct npy_array a, b;

        result = npy_next(memory, &a, &error);
        other = npy_next(piped, &b, NULL);
        MUST(result == other);
        MUST(result >= 0 || error.message[0]);
        if (result == 1) {
            MUST(a.kind == b.kind && a.count == b.count && a.item_size == b.item_size);
            MUST(a.count * a.item_size == 0 || memcmp(a.data, b.data, a.count * a.item_size) == 0);
            use(&b);
        }
        npy_array_free(&a);
        npy_array_free(&b);
    } while (result == 1);
    npy_close(memory);
    npy_close(piped);
    close(descriptor);
    return 0;
}
