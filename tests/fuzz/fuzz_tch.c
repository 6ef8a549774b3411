/* Teachers: what is read can be written and read again as the same. */
#include "fuzz.h"

#include "formats/tch.h"

static void check_same_tensors(const struct tch *a, const struct tch *b)
{
    MUST(a->count == b->count && strcmp(a->network, b->network) == 0);
    for (size_t i = 0; i < a->count; i++) {
        const struct tch_tensor *one = &a->tensors[i], *other = &b->tensors[i];

        MUST(strcmp(one->name, other->name) == 0 && one->ndim == other->ndim);
        MUST(one->count == other->count);
        for (size_t k = 0; k < one->count; k++)
            MUST(isfinite(one->values[k]) && one->values[k] == other->values[k]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tch tch, again;
    char *written;
    size_t written_size;
    FILE *stream;

    if (failed(tch_read_memory(bytes, size, &tch)))
        return 0;
    stream = open_memstream(&written, &written_size);
    MUST(stream);
    MUST(!failed(tch_write(stream, &tch)));
    fclose(stream);
    MUST(!failed(tch_read_memory(written, written_size, &again)));
    check_same_tensors(&tch, &again);
    tch_free(&again);
    tch_free(&tch);
    free(written);
    return 0;
}
