#include "formats/slp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"

enum { HEADER_SIZE = 48, RECORD_SIZE = 40, SCALING_SIZE = 8, VERSION = 1 };
enum { FLAG_LENGTH_NORMALISED = 1, FLAG_STANDARDISED = 2 };
static const unsigned char magic[8] = {0x89, 'S', 'L', 'P', '\r', '\n', 0x1a, '\n'};

/* ---- Bytes ---- */

static uint32_t get32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static uint64_t get64(const unsigned char *bytes)
{
    return get32(bytes) | (uint64_t)get32(bytes + 4) << 32;
}

static float get_float(const unsigned char *bytes)
{
    uint32_t bits = get32(bytes);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put32(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i) & 255);
}

static void put64(unsigned char *bytes, uint64_t value)
{
    put32(bytes, (uint32_t)value);
    put32(bytes + 4, (uint32_t)(value >> 32));
}

static void put_float(unsigned char *bytes, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    put32(bytes, bits);
}

/* ---- Pools ---- */

#define NAME(word, text) text,
const char *const slp_quality_names[] = {SLP_QUALITIES(NAME) NULL};
enum { QUALITIES = sizeof slp_quality_names / sizeof *slp_quality_names - 1 };

struct error *slp_new(size_t count, size_t values, struct shapelet_pool *pool)
{
    memset(pool, 0, sizeof *pool);
    pool->shapelets = calloc(count ? count : 1, sizeof *pool->shapelets);
    pool->values = calloc(values ? values : 1, sizeof *pool->values);
    pool->count = count;
    if (!pool->shapelets || !pool->values) {
        slp_free(pool);
        return error_memory("a shapelet pool");
    }
    return NULL;
}

void slp_free(struct shapelet_pool *pool)
{
    free(pool->shapelets);
    free(pool->values);
    free(pool->notes);
    memset(pool, 0, sizeof *pool);
}

static size_t value_count(const struct shapelet_pool *pool)
{
    size_t total = 0;

    for (size_t i = 0; i < pool->count; i++)
        total += pool->shapelets[i].length;
    return total;
}

/* ---- Reading ---- */

/* A record must make sense within the pool's own C, L and V. */
static struct error *check_record(const struct shapelet_pool *pool, size_t i)
{
    const struct shapelet *shapelet = &pool->shapelets[i];

    if (shapelet->channel >= pool->channels)
        return error_make("shapelet %zu: channel %u of %zu", i, shapelet->channel, pool->channels);
    if (shapelet->length == 0 || shapelet->length > pool->steps ||
        shapelet->start > pool->steps - shapelet->length)
        return error_make("shapelet %zu: steps %u to %llu of %zu", i, shapelet->start,
                          (unsigned long long)shapelet->start + shapelet->length, pool->steps);
    if (shapelet->label < -1 || (shapelet->label >= 0 && (size_t)shapelet->label >= pool->classes))
        return error_make("shapelet %zu: class %d of %zu", i, shapelet->label, pool->classes);
    if (!isfinite(shapelet->quality) || !isfinite(shapelet->threshold))
        return error_make("shapelet %zu: quality or threshold is not a number", i);
    for (size_t j = 0; j < shapelet->length; j++) {
        if (!isfinite(shapelet->values[j]))
            return error_make("shapelet %zu, step %zu: not a number", i, j);
    }
    return NULL;
}

static struct error *parse_records(const unsigned char *bytes, size_t values,
                                   struct shapelet_pool *pool)
{
    size_t used = 0;

    for (size_t i = 0; i < pool->count; i++) {
        const unsigned char *record = bytes + i * RECORD_SIZE;
        struct shapelet *shapelet = &pool->shapelets[i];

        shapelet->channel = get32(record);
        shapelet->start = get32(record + 4);
        shapelet->length = get32(record + 8);
        shapelet->label = (int32_t)get32(record + 12);
        shapelet->window = get32(record + 16);
        shapelet->source = get64(record + 24);
        shapelet->quality = get_float(record + 32);
        shapelet->threshold = get_float(record + 36);
        if (shapelet->length > values - used)
            return error_make("shapelet %zu: more values than the file has", i);
        shapelet->values = pool->values + used;
        used += shapelet->length;
        TRY(check_record(pool, i));
    }
    if (used != values)
        return error_make("%zu values belong to no shapelet", values - used);
    return NULL;
}

static struct error *parse_scaling(const unsigned char *bytes, struct shapelet_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        struct shapelet *shapelet = &pool->shapelets[i];

        shapelet->offset = get_float(bytes + i * SCALING_SIZE);
        shapelet->scale = get_float(bytes + i * SCALING_SIZE + 4);
        if (!isfinite(shapelet->offset) || !isfinite(shapelet->scale) || shapelet->scale <= 0)
            return error_make("shapelet %zu: invalid offset and scale: %g, %g", i,
                              (double)shapelet->offset, (double)shapelet->scale);
    }
    return NULL;
}

/* Everything after the header has been measured. */
static struct error *parse_body(const unsigned char *bytes, size_t values, size_t notes,
                                struct shapelet_pool *pool)
{
    const unsigned char *records = bytes + HEADER_SIZE;
    const unsigned char *value = records + pool->count * RECORD_SIZE;
    const unsigned char *scaling = value + values * 4;
    const unsigned char *text = scaling + (pool->standardised ? pool->count * SCALING_SIZE : 0);

    for (size_t i = 0; i < values; i++)
        pool->values[i] = get_float(value + 4 * i);
    if (notes) {
        pool->notes = strndup((const char *)text, notes);
        if (!pool->notes)
            return error_memory("notes");
    }
    if (pool->standardised)
        TRY(parse_scaling(scaling, pool));
    return parse_records(records, values, pool);
}

struct error *slp_read_memory(const void *memory, size_t size, struct shapelet_pool *pool)
{
    const unsigned char *bytes = memory;
    size_t count, notes, scaling, expected;
    struct digest digest;
    struct error *error;
    uint64_t values;
    uint32_t flags;

    memset(pool, 0, sizeof *pool);
    if (size == 0)
        return error_make("empty file");
    if (memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0)
        return error_make("not a shapelet pool (.slp)");
    if (size < HEADER_SIZE + 4)
        return error_make("truncated: the file ends inside the header");
    if (get32(bytes + 8) != VERSION)
        return error_make("unknown version %u of the format", get32(bytes + 8));
    flags = get32(bytes + 12);
    if (flags & ~(uint32_t)(FLAG_LENGTH_NORMALISED | FLAG_STANDARDISED))
        return error_make("unknown flags");
    if (get32(bytes + 44) >= QUALITIES)
        return error_make("unknown measure of quality");
    count = get32(bytes + 16);
    values = get64(bytes + 32);
    notes = get32(bytes + 40);
    /* No sum below can overflow: each part is bounded by what the file can hold. */
    if (count > size / RECORD_SIZE || values > size / 4 || notes > size)
        return error_make("truncated: the header promises more than the file has");
    scaling = flags & FLAG_STANDARDISED ? count * SCALING_SIZE : 0;
    expected = HEADER_SIZE + count * RECORD_SIZE + (size_t)values * 4 + scaling + notes + 4;
    if (size < expected)
        return error_make("truncated: %zu bytes of %zu", size, expected);
    if (size > expected)
        return error_make("%zu bytes too many", size - expected);
    if (checksum_crc32(bytes, size - 4) != get32(bytes + size - 4))
        return error_make("damaged: the checksum does not match");
    TRY(slp_new(count, (size_t)values, pool));
    pool->length_normalised = flags & FLAG_LENGTH_NORMALISED;
    pool->standardised = flags & FLAG_STANDARDISED;
    pool->channels = get32(bytes + 20);
    pool->steps = get32(bytes + 24);
    pool->classes = get32(bytes + 28);
    pool->quality = get32(bytes + 44);
    error = parse_body(bytes, (size_t)values, notes, pool);
    if (error) {
        slp_free(pool);
        return error;
    }
    digest_start(&digest);
    digest_add(&digest, bytes, size);
    digest_finish(&digest, pool->digest);
    return NULL;
}

struct error *slp_read(const char *path, struct shapelet_pool *pool)
{
    unsigned char *bytes = NULL;
    struct error *error;
    size_t size;

    memset(pool, 0, sizeof *pool);
    error = file_read(path, &bytes, &size);
    if (!error)
        error = slp_read_memory(bytes, size, pool);
    free(bytes);
    return error_in(file_shown(path), error);
}

/* ---- Writing ---- */

static void encode(const struct shapelet_pool *pool, size_t values, size_t notes,
                   unsigned char *bytes)
{
    unsigned char *next = bytes + HEADER_SIZE;

    memcpy(bytes, magic, sizeof magic);
    put32(bytes + 8, VERSION);
    put32(bytes + 12, (pool->length_normalised ? FLAG_LENGTH_NORMALISED : 0u) |
                          (pool->standardised ? FLAG_STANDARDISED : 0u));
    put32(bytes + 16, (uint32_t)pool->count);
    put32(bytes + 20, (uint32_t)pool->channels);
    put32(bytes + 24, (uint32_t)pool->steps);
    put32(bytes + 28, (uint32_t)pool->classes);
    put64(bytes + 32, values);
    put32(bytes + 40, (uint32_t)notes);
    put32(bytes + 44, (uint32_t)pool->quality);
    for (size_t i = 0; i < pool->count; i++, next += RECORD_SIZE) {
        const struct shapelet *shapelet = &pool->shapelets[i];

        put32(next, shapelet->channel);
        put32(next + 4, shapelet->start);
        put32(next + 8, shapelet->length);
        put32(next + 12, (uint32_t)shapelet->label);
        put32(next + 16, shapelet->window);
        put32(next + 20, 0);
        put64(next + 24, shapelet->source);
        put_float(next + 32, shapelet->quality);
        put_float(next + 36, shapelet->threshold);
    }
    for (size_t i = 0; i < pool->count; i++) {
        for (size_t j = 0; j < pool->shapelets[i].length; j++, next += 4)
            put_float(next, pool->shapelets[i].values[j]);
    }
    for (size_t i = 0; pool->standardised && i < pool->count; i++, next += SCALING_SIZE) {
        put_float(next, pool->shapelets[i].offset);
        put_float(next + 4, pool->shapelets[i].scale);
    }
    if (notes)
        memcpy(next, pool->notes, notes);
    next += notes;
    put32(next, checksum_crc32(bytes, (size_t)(next - bytes)));
}

struct error *slp_write(FILE *stream, const struct shapelet_pool *pool)
{
    size_t values = value_count(pool), notes = pool->notes ? strlen(pool->notes) : 0;
    size_t scaling = pool->standardised ? pool->count * SCALING_SIZE : 0;
    size_t size = HEADER_SIZE + pool->count * RECORD_SIZE + values * 4 + scaling + notes + 4;
    unsigned char *bytes;
    size_t written;

    if (pool->count > UINT32_MAX || notes > UINT32_MAX)
        return error_make("too many shapelets for one pool");
    bytes = malloc(size);
    if (!bytes)
        return error_memory("a shapelet pool");
    encode(pool, values, notes, bytes);
    written = fwrite(bytes, 1, size, stream);
    free(bytes);
    return written == size ? NULL : error_make("%s", strerror(errno));
}
