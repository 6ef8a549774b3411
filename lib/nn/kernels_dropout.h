/* Masks of dropout (struct dropout_mask in backend.h): Philox4x32-10 on LANES counters at once. */

enum { DROPOUT_GROUP = 32, DROPOUT_COUNTERS = 8 };

/* The product of two 32-bit numbers, in halves. */
INLINE void multiply_wide(bits a, uint32_t b, bits *high, bits *low)
{
#if defined(__AVX2__)
    __m256i factor = _mm256_set1_epi32((int)b);
    __m256i even = _mm256_mul_epu32((__m256i)a, factor);
    __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a, 32), factor);

    *high = (bits)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
    *low = (bits)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
#else
    for (size_t i = 0; i < LANES; i++) {
        uint64_t product = (uint64_t)a[i] * b;

        (*high)[i] = (uint32_t)(product >> 32); /* cppcheck-suppress uninitvar */
        (*low)[i] = (uint32_t)product;          /* cppcheck-suppress uninitvar */
    }
#endif
}

/* Ten rounds, in place. */
INLINE void philox(bits counter[4], const uint32_t key[2])
{
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        bits high0, low0, high1, low1;

        multiply_wide(counter[0], 0xD2511F53u, &high0, &low0);
        multiply_wide(counter[2], 0xCD9E8D57u, &high1, &low1);
        counter[0] = high1 ^ counter[1] ^ k0;
        counter[1] = low1;
        counter[2] = high0 ^ counter[3] ^ k1;
        counter[3] = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* The factors of one group: 0 or scale. */
INLINE void dropout_group(const struct dropout_row *row, uint32_t group, float factors[])
{
    const uint32_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const bits zero = {0}, sign = zero + 0x80000000u;
    /* Comparisons are of signed numbers. */
    const mask threshold = (mask)((zero + row->threshold) ^ sign);

    for (size_t part = 0; part < DROPOUT_COUNTERS; part += LANES) {
        bits counter[4];

        memcpy(&counter[0], lane + part, sizeof counter[0]);
        counter[0] += group * DROPOUT_COUNTERS;
        for (size_t i = 0; i < 3; i++)
            counter[i + 1] = (bits){0} + row->counter[i];
        philox(counter, row->key);
        for (size_t word = 0; word < 4; word++) {
            mask kept = (mask)(counter[word] ^ sign) >= threshold;

            store(factors + word * DROPOUT_COUNTERS + part,
                  choose(kept, splat(row->scale), splat(0.0f)));
        }
    }
}

static void dropout_row(const struct dropout_row *row, uint32_t group, size_t columns,
                        const float *in, float *out)
{
    float factors[DROPOUT_GROUP];

    for (; columns >= DROPOUT_GROUP; columns -= DROPOUT_GROUP) {
        dropout_group(row, group++, factors);
        for (size_t i = 0; i < DROPOUT_GROUP; i += LANES)
            store(out + i, load(in + i) * load(factors + i));
        in += DROPOUT_GROUP;
        out += DROPOUT_GROUP;
    }
    if (columns) {
        dropout_group(row, group, factors);
        for (size_t i = 0; i < columns; i++)
            out[i] = in[i] * factors[i];
    }
}
