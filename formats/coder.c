/* A number is a few decisions between 0 and 1.  For each decision, every context has a pair of
 * counts (c0, c1) of how it went before, in a table where contexts and decisions are hashed.  With
 * stretch_i = ln(2 c1 + 1) - ln(2 c0 + 1) of context i, the probability of a 1 is
 *
 *     p = 1 / (1 + exp(-sum_i w_i stretch_i))
 *
 * and after the decision b the weights move along the gradient of its code length:
 *
 *     w_i += rate stretch_i (b - p)
 *
 * All lanes decide before any count or weight changes.  Logarithms and p come from tables of whole
 * numbers, units of 1/256 and 1/32768.  Negative numbers are shifted right as every compiler does
 * it, rounding down.
 *
 * The probabilities drive a range asymmetric numeral system (rANS) in each lane; all lanes share one
 * row of 16-bit words.  A decoder has a state x >= 2^16 for each lane; with f and s the share of a
 * bit and where that begins in 0 ... 2^15 - 1,
 *
 *     r = x mod 2^15      bit = r < p      x = f (x / 2^15) + r - s
 *
 * and x = 2^16 x + the next word where x has become less than 2^16.  An encoder runs backwards: it
 * keeps all decisions with their probabilities until the end. */
#include "formats/coder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

enum {
    SLOT_BITS = 18,
    SLOTS = 1 << SLOT_BITS,
    MOST_COUNT = 1023, /* of a slot; then both are halved */
    LOGARITHMS = 2 * (MOST_COUNT + CODER_MOST_LANES) + 2,
    UNIT = 256, /* of stretches */
    MOST_STRETCH = 2047,
    PROBABILITY_BITS = 15,
    ONE = 1 << PROBABILITY_BITS,
    LEAST_PROBABILITY = 16,
    FIRST_WEIGHT = 20000, /* of 65536 */
    RATE_SHIFT = 16,
    LEAST_STATE = 1 << 16,
    MOST_BITS = 16, /* of a number */
    /* Kinds of decisions: whether a number is 0, its sign, one more bit, the bits. */
    KIND_ZERO = 0,
    KIND_SIGN = 1,
    KIND_LONGER = 2,
    KIND_BIT = KIND_LONGER + MOST_BITS,
    KINDS = KIND_BIT + MOST_BITS,
};

/* Powers of 0x9e3779b1. */
const uint32_t coder_factors[CODER_WORDS] = {
    0x9e3779b1, 0xffe6cc61, 0xcc042811, 0x1f76bcc1, 0x8bc6ba71, 0x5ecd5121,
    0x6364b0d1, 0x4b180981, 0xf0d38b31, 0xa49465e1, 0xb018c991, 0x448fe641,
};

struct slot {
    uint16_t count[2];
};

struct coder {
    bool decoding;
    size_t lanes, inputs;
    struct slot *slots; /* SLOTS of each input */
    int64_t weights[KINDS][CODER_SETS][CODER_MOST_INPUTS];
    int32_t logarithm[LOGARITHMS], squash[2 * MOST_STRETCH + 1];
    /* Of each lane: */
    uint32_t contexts[CODER_MOST_LANES][CODER_MOST_INPUTS];
    unsigned sets[CODER_MOST_LANES];
    uint32_t node[CODER_MOST_LANES];
    int bit[CODER_MOST_LANES];
    /* The lanes that take part in a decision. */
    size_t active[CODER_MOST_LANES], active_count;
    /* Decoding: the states, and the words that are left.  Encoding: all decisions so far. */
    uint32_t states[CODER_MOST_LANES];
    const uint8_t *next, *end;
    uint32_t *events;
    size_t event_count, event_room;
};

static void fill_tables(struct coder *coder)
{
    for (size_t i = 1; i < LOGARITHMS; i++)
        coder->logarithm[i] = (int32_t)floor(UNIT * log((double)i) + 0.5);
    for (int i = -MOST_STRETCH; i <= MOST_STRETCH; i++) {
        double p = floor(ONE / (1 + exp(-(double)i / UNIT)) + 0.5);

        coder->squash[i + MOST_STRETCH] =
            (int32_t)fmin(fmax(p, LEAST_PROBABILITY), ONE - LEAST_PROBABILITY);
    }
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t set = 0; set < CODER_SETS; set++)
            for (size_t i = 0; i < CODER_MOST_INPUTS; i++)
                coder->weights[kind][set][i] = FIRST_WEIGHT;
}

static uint32_t read_32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

struct error *coder_new(size_t lanes, size_t inputs, const uint8_t *bytes, size_t size,
                        struct coder **made)
{
    struct coder *coder;

    if (bytes && size < 4 * lanes)
        return error_make("%zu coded bytes are too few", size);
    coder = calloc(1, sizeof *coder);
    if (!coder || !(coder->slots = calloc(inputs * SLOTS, sizeof *coder->slots))) {
        free(coder);
        return error_memory("coded numbers");
    }
    coder->decoding = bytes != NULL;
    coder->lanes = lanes;
    coder->inputs = inputs;
    fill_tables(coder);
    if (bytes) {
        for (size_t lane = 0; lane < lanes; lane++)
            coder->states[lane] = read_32(bytes + 4 * lane);
        coder->next = bytes + 4 * lanes;
        coder->end = bytes + size;
    }
    *made = coder;
    return NULL;
}

void coder_free(struct coder *coder)
{
    if (coder) {
        free(coder->slots);
        free(coder->events);
    }
    free(coder);
}

uint32_t *coder_contexts(struct coder *coder, size_t lane)
{
    return coder->contexts[lane];
}

void coder_set(struct coder *coder, size_t lane, unsigned set)
{
    coder->sets[lane] = set;
}

/* ---- One decision in each active lane ---- */

static struct slot *slot_of(struct coder *coder, size_t lane, size_t input)
{
    uint32_t hash = coder->contexts[lane][input] + coder->node[lane] * 0x9e3779b1u;

    hash = (hash ^ hash >> 15) * 0x85ebca6bu;
    return coder->slots + input * SLOTS + (hash >> (32 - SLOT_BITS));
}

static int32_t mix(const int64_t *weights, const int32_t *stretch, size_t inputs)
{
    int64_t sum = 0;

    for (size_t i = 0; i < inputs; i++)
        sum += weights[i] * stretch[i];
    sum >>= 16;
    return (int32_t)(sum > MOST_STRETCH ? MOST_STRETCH : sum < -MOST_STRETCH ? -MOST_STRETCH : sum);
}

/* The bit of a lane whose 1 has the probability p. */
static struct error *decode(struct coder *coder, size_t lane, uint32_t p)
{
    uint32_t x = coder->states[lane], r = x % ONE;
    bool bit = r < p;

    x = (bit ? p : ONE - p) * (x >> PROBABILITY_BITS) + r - (bit ? 0 : p);
    if (x < LEAST_STATE) {
        if (coder->end - coder->next < 2)
            return error_make("the coded numbers end too early");
        x = x << 16 | coder->next[0] | (uint32_t)coder->next[1] << 8;
        coder->next += 2;
    }
    coder->states[lane] = x;
    coder->bit[lane] = bit;
    return NULL;
}

static struct error *encode(struct coder *coder, size_t lane, uint32_t p)
{
    if (coder->event_count == coder->event_room) {
        size_t room = coder->event_room ? 2 * coder->event_room : 4096;
        uint32_t *events = realloc(coder->events, room * sizeof *events);

        if (!events)
            return error_memory("coded numbers");
        coder->events = events;
        coder->event_room = room;
    }
    coder->events[coder->event_count++] =
        p | (uint32_t)coder->bit[lane] << 16 | (uint32_t)lane << 17;
    return NULL;
}

/* Bits of the active lanes, whose nodes say which decision it is. */
static struct error *decide(struct coder *coder, unsigned kind)
{
    static const int64_t half = 1 << (RATE_SHIFT - 1);
    struct slot *slots[CODER_MOST_LANES][CODER_MOST_INPUTS];
    int32_t stretch[CODER_MOST_LANES][CODER_MOST_INPUTS], p[CODER_MOST_LANES];
    const size_t inputs = coder->inputs;

    for (size_t i = 0; i < coder->active_count; i++) {
        size_t lane = coder->active[i];

        for (size_t j = 0; j < inputs; j++) {
            struct slot *slot = slots[i][j] = slot_of(coder, lane, j);

            stretch[i][j] =
                coder->logarithm[2 * slot->count[1] + 1] - coder->logarithm[2 * slot->count[0] + 1];
        }
        p[i] = coder->squash[MOST_STRETCH +
                             mix(coder->weights[kind][coder->sets[lane]], stretch[i], inputs)];
    }
    for (size_t i = 0; i < coder->active_count; i++) {
        size_t lane = coder->active[i];
        int64_t *weights = coder->weights[kind][coder->sets[lane]];
        int64_t error;

        TRY(coder->decoding ? decode(coder, lane, (uint32_t)p[i])
                            : encode(coder, lane, (uint32_t)p[i]));
        error = coder->bit[lane] * ONE - p[i];
        for (size_t j = 0; j < inputs; j++) {
            weights[j] += (stretch[i][j] * error + half) >> RATE_SHIFT;
            slots[i][j]->count[coder->bit[lane]]++;
        }
    }
    for (size_t i = 0; i < coder->active_count; i++)
        for (size_t j = 0; j < inputs; j++) {
            uint16_t *count = slots[i][j]->count;

            if (count[0] + count[1] > MOST_COUNT) {
                count[0] >>= 1;
                count[1] >>= 1;
            }
        }
    return NULL;
}

/* ---- Numbers of several decisions ---- */

static void start(struct coder *coder, size_t count)
{
    coder->active_count = count;
    for (size_t lane = 0; lane < count; lane++)
        coder->active[lane] = lane;
}

/* Only the lanes whose last bit was 1 go on. */
static void keep_ones(struct coder *coder)
{
    size_t kept = 0;

    for (size_t i = 0; i < coder->active_count; i++)
        if (coder->bit[coder->active[i]])
            coder->active[kept++] = coder->active[i];
    coder->active_count = kept;
}

/* The number of bits after the first 1 of each lane's absolute value, into longer. */
static struct error *code_lengths(struct coder *coder, const uint32_t *size, const int *negative,
                                  unsigned *longer)
{
    for (unsigned i = 0; coder->active_count; i++) {
        if (i == MOST_BITS)
            return error_make("a coded number is too large");
        for (size_t j = 0; j < coder->active_count; j++) {
            size_t lane = coder->active[j];

            coder->bit[lane] = size[lane] >> (i + 1) != 0;
            coder->node[lane] = 2 + 2 * i + (uint32_t)negative[lane];
        }
        TRY(decide(coder, KIND_LONGER + i));
        keep_ones(coder);
        for (size_t j = 0; j < coder->active_count; j++)
            longer[coder->active[j]] = i + 1;
    }
    return NULL;
}

/* These bits, from the highest to the lowest. */
static struct error *code_bits(struct coder *coder, size_t count, const unsigned *longer,
                               const int *negative, uint32_t *size)
{
    uint32_t known[CODER_MOST_LANES];

    for (size_t lane = 0; lane < count; lane++)
        known[lane] = 1;
    for (unsigned i = 1;; i++) {
        coder->active_count = 0;
        for (size_t lane = 0; lane < count; lane++)
            if (longer[lane] >= i) {
                coder->active[coder->active_count++] = lane;
                coder->bit[lane] = size[lane] >> (longer[lane] - i) & 1;
                coder->node[lane] = 64 + 2 * ((uint32_t)longer[lane] << 16 | known[lane]) +
                                    (uint32_t)negative[lane];
            }
        if (!coder->active_count)
            break;
        TRY(decide(coder, KIND_BIT + i - 1));
        for (size_t j = 0; j < coder->active_count; j++) {
            size_t lane = coder->active[j];

            known[lane] = known[lane] << 1 | (uint32_t)coder->bit[lane];
        }
    }
    memcpy(size, known, count * sizeof *size);
    return NULL;
}

struct error *coder_numbers(struct coder *coder, size_t count, int32_t *numbers)
{
    uint32_t size[CODER_MOST_LANES];
    unsigned longer[CODER_MOST_LANES] = {0};
    int negative[CODER_MOST_LANES] = {0}, zero[CODER_MOST_LANES];

    start(coder, count);
    for (size_t lane = 0; lane < count; lane++) {
        size[lane] = coder->decoding ? 0 : (uint32_t)abs(numbers[lane]);
        coder->bit[lane] = size[lane] != 0;
        coder->node[lane] = 0;
    }
    TRY(decide(coder, KIND_ZERO));
    for (size_t lane = 0; lane < count; lane++)
        zero[lane] = !coder->bit[lane];
    keep_ones(coder);
    for (size_t i = 0; i < coder->active_count; i++) {
        size_t lane = coder->active[i];

        coder->bit[lane] = !coder->decoding && numbers[lane] < 0;
        coder->node[lane] = 1;
    }
    TRY(decide(coder, KIND_SIGN));
    for (size_t i = 0; i < coder->active_count; i++)
        negative[coder->active[i]] = coder->bit[coder->active[i]];
    TRY(code_lengths(coder, size, negative, longer));
    TRY(code_bits(coder, count, longer, negative, size));
    for (size_t lane = 0; lane < count; lane++)
        numbers[lane] = zero[lane]       ? 0
                        : negative[lane] ? -(int32_t)size[lane]
                                         : (int32_t)size[lane];
    return NULL;
}

struct error *coder_codes(struct coder *coder, size_t count, unsigned bits, int32_t *codes)
{
    uint32_t known[CODER_MOST_LANES];

    start(coder, count);
    for (size_t lane = 0; lane < count; lane++)
        known[lane] = 1;
    for (unsigned i = 1; i <= bits; i++) {
        for (size_t lane = 0; lane < count; lane++) {
            coder->bit[lane] = !coder->decoding && ((uint32_t)codes[lane] >> (bits - i) & 1);
            coder->node[lane] = known[lane];
        }
        TRY(decide(coder, KIND_BIT + i - 1));
        for (size_t lane = 0; lane < count; lane++)
            known[lane] = known[lane] << 1 | (uint32_t)coder->bit[lane];
    }
    for (size_t lane = 0; lane < count; lane++)
        codes[lane] = (int32_t)(known[lane] - (1u << bits));
    return NULL;
}

/* ---- The end ---- */

static struct error *check_end(const struct coder *coder)
{
    for (size_t lane = 0; lane < coder->lanes; lane++)
        if (coder->states[lane] != LEAST_STATE)
            return error_make("the coded numbers are damaged");
    return coder->next == coder->end ? NULL : error_make("more coded bytes than numbers");
}

/* Runs the system backwards over all decisions; the words come out last first. */
static size_t run_back(struct coder *coder, uint16_t *words)
{
    size_t count = 0;

    for (size_t lane = 0; lane < coder->lanes; lane++)
        coder->states[lane] = LEAST_STATE;
    for (size_t i = coder->event_count; i > 0; i--) {
        uint32_t event = coder->events[i - 1], p = event & 0xffff, bit = event >> 16 & 1;
        uint32_t *x = &coder->states[event >> 17], share = bit ? p : ONE - p;

        if (*x >= share << (32 - PROBABILITY_BITS)) {
            words[count++] = (uint16_t)*x;
            *x >>= 16;
        }
        *x = ((*x / share) << PROBABILITY_BITS) + *x % share + (bit ? 0 : p);
    }
    return count;
}

struct error *coder_finish(struct coder *coder, uint8_t **bytes, size_t *size)
{
    uint16_t *words;
    uint8_t *next;
    size_t count;

    if (coder->decoding)
        return check_end(coder);
    words = malloc((coder->event_count + 1) * sizeof *words);
    if (!words)
        return error_memory("coded numbers");
    count = run_back(coder, words);
    *size = 4 * coder->lanes + 2 * count;
    next = *bytes = malloc(*size);
    if (!*bytes) {
        free(words);
        return error_memory("coded numbers");
    }
    for (size_t lane = 0; lane < coder->lanes; lane++)
        for (int shift = 0; shift < 32; shift += 8)
            *next++ = (uint8_t)(coder->states[lane] >> shift);
    for (size_t i = count; i > 0; i--) {
        *next++ = (uint8_t)words[i - 1];
        *next++ = (uint8_t)(words[i - 1] >> 8);
    }
    free(words);
    return NULL;
}
