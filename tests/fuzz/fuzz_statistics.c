/* Statistics of sc-scale: what is read can be used, and is the same when it was written again. */
#include "fuzz.h"

#include "data/scale.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct scale scale, again;
    char *written;
    size_t written_size;
    FILE *stream;

    if (failed(scale_read(as_file(bytes, size), &scale)))
        return 0;
    MUST(scale.channels > 0);
    for (size_t c = 0; c < scale.channels; c++)
        MUST(isfinite(scale.mean[c]) && isfinite(scale.deviation[c]) && scale.deviation[c] > 0);
    stream = open_memstream(&written, &written_size);
    MUST(stream);
    MUST(!failed(scale_write(stream, &scale, "again")));
    fclose(stream);
    MUST(!failed(scale_read(as_file(written, written_size), &again)));
    MUST(again.channels == scale.channels);
    MUST(memcmp(again.mean, scale.mean, scale.channels * sizeof *scale.mean) == 0);
    MUST(memcmp(again.deviation, scale.deviation, scale.channels * sizeof *scale.mean) == 0);
    scale_free(&again);
    scale_free(&scale);
    free(written);
    return 0;
}
