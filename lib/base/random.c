#include "base/random.h"

#include <math.h>

void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;

        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

struct random_stream random_stream(uint64_t seed, enum random_purpose purpose, uint64_t index)
{
    struct random_stream stream = {
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, (uint32_t)purpose, (uint32_t)index, (uint32_t)(index >> 32)},
        .used = 4,
    };

    return stream;
}

uint32_t random_u32(struct random_stream *stream)
{
    if (stream->used == 4) {
        philox4x32_10(stream->counter, stream->key, stream->block);
        stream->counter[0]++;
        stream->used = 0;
    }
    return stream->block[stream->used++];
}

uint64_t random_u64(struct random_stream *stream)
{
    uint64_t low = random_u32(stream);

    return low | (uint64_t)random_u32(stream) << 32;
}

uint64_t random_below(struct random_stream *stream, uint64_t limit)
{
    /* Values under 2^64 mod limit are rejected, so that what is left divides evenly. */
    uint64_t reject = (0 - limit) % limit;
    uint64_t value;

    do
        value = random_u64(stream);
    while (value < reject);
    return value % limit;
}

double random_uniform(struct random_stream *stream)
{
    return (double)(random_u64(stream) >> 11) * 0x1p-53;
}

float random_uniform_float(struct random_stream *stream)
{
    return (float)(random_u32(stream) >> 8) * 0x1p-24f;
}

double random_normal(struct random_stream *stream)
{
    const double two_pi = 6.283185307179586476925;
    double radius = sqrt(-2.0 * log(1.0 - random_uniform(stream)));

    return radius * cos(two_pi * random_uniform(stream));
}

void random_shuffle(struct random_stream *stream, size_t *indices, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)random_below(stream, i);
        size_t swap = indices[i - 1];

        indices[i - 1] = indices[j];
        indices[j] = swap;
    }
}
