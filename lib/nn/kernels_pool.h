/* Mean or maximum over all steps of one sample, (steps, stride) to (stride). */

/* Steps that are summed before they go into the total, so that long series lose no digits. */
enum { POOL_TOGETHER = 128 };

static void pool_mean(size_t steps, size_t stride, const float *x, float *out)
{
    for (size_t c = 0; c < stride; c += LANES) {
        vector total = {0};

        for (size_t first = 0; first < steps; first += POOL_TOGETHER) {
            size_t end = first + POOL_TOGETHER < steps ? first + POOL_TOGETHER : steps;
            vector sum = {0};

            for (size_t t = first; t < end; t++)
                sum += load(x + t * stride + c);
            total += sum;
        }
        store(out + c, total * splat(1.0f / (float)steps));
    }
}

/* The first of equal maxima; NaN counts as the largest. */
static void pool_max(size_t steps, size_t stride, const float *x, int32_t *index, float *out)
{
    for (size_t c = 0; c < stride; c += LANES) {
        vector best = load(x + c);
        mask place = {0};

        for (size_t t = 1; t < steps; t++) {
            vector value = load(x + t * stride + c);
            mask better = (value > best) | (value != value);

            best = choose(better, value, best);
            place = (better & ((mask){0} + (int32_t)t)) | (~better & place);
        }
        store(out + c, best);
        memcpy(index + c, &place, sizeof place);
    }
}
