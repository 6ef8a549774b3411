/* Bytes as they are, and with the checksum put right, which no mutation would ever find. */
#include "fuzz.h"

#include "formats/slp.h"

static uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void read_and_write(const uint8_t *bytes, size_t size)
{
    struct shapelet_pool pool, again;
    float sum = 0;
    char *written;
    size_t written_size;
    FILE *stream;

    if (failed(slp_read_memory(bytes, size, &pool)))
        return;
    for (size_t i = 0; i < pool.count; i++) {
        for (size_t j = 0; j < pool.shapelets[i].length; j++)
            sum += pool.shapelets[i].values[j];
        MUST(pool.shapelets[i].channel < pool.channels);
        MUST(pool.shapelets[i].start + pool.shapelets[i].length <= pool.steps);
    }
    MUST(!isnan(sum) || pool.count);
    stream = open_memstream(&written, &written_size);
    MUST(stream);
    MUST(!failed(slp_write(stream, &pool)));
    fclose(stream);
    MUST(!failed(slp_read_memory(written, written_size, &again)));
    MUST(again.count == pool.count && again.steps == pool.steps);
    slp_free(&again);
    slp_free(&pool);
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy;
    uint32_t crc;

    read_and_write(bytes, size);
    if (size < 4)
        return 0;
    copy = malloc(size);
    MUST(copy);
    memcpy(copy, bytes, size);
    crc = crc32_of(copy, size - 4);
    for (int i = 0; i < 4; i++)
        copy[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
    read_and_write(copy, size);
    free(copy);
    return 0;
}
