#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned flags = (size & 1 ? DATASET_LABELLED : 0) | (size & 2 ? DATASET_ALLOW_NAN : 0) |
                     (size & 4 ? DATASET_VIEWS : 0);
    struct dataset dataset, again;
    char *written;
    size_t written_size;
    FILE *stream;

    if (failed(dataset_read_memory(bytes, size, flags, &dataset)))
        return 0;
    MUST(!(flags & DATASET_LABELLED) || dataset.y);
    stream = open_memstream(&written, &written_size);
    MUST(stream);
    MUST(!failed(dataset_write(stream, &dataset)));
    fclose(stream);
    MUST(!failed(dataset_read_memory(written, written_size, flags, &again)));
    check_same(&dataset, &again);
    dataset_free(&again);
    dataset_free(&dataset);
    free(written);
    return 0;
}
