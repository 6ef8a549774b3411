/* Counter-based random numbers (Philox4x32-10; Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", 2011).  A stream is named by (seed, purpose, index) and any two names give independent
 * streams, so that work can be split in any way, over any number of threads, and series i always
 * sees the same numbers. */
#ifndef SC_RANDOM_H
#define SC_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* What a stream is for.  Values are part of the results: add at the end, never renumber. */
enum random_purpose {
    RANDOM_TEST = 0, /* of the unit tests */
    RANDOM_SPLIT = 1,
    RANDOM_BALANCE = 2,
    RANDOM_GENERATE = 3,
    RANDOM_PRUNE = 4,
    RANDOM_SHAPELETS = 5,
    RANDOM_INITIALISE = 6, /* network parameters */
    RANDOM_SHUFFLE = 7,    /* order of the training series */
    RANDOM_SYNTHESISE = 8,
    RANDOM_SELECT = 9,
    RANDOM_DROPOUT = 11,
    RANDOM_GENERATE_CLASS = 12, /* what a generated class looks like, shared by its series */
    RANDOM_MATCH = 20,          /* batches, augmentations and starts of matching */
    RANDOM_MATCH_EXPERT = 21,   /* order of the series in an epoch of an expert */
    RANDOM_VIEW = 30,           /* how view i is made; part of sc-dataset(5) */
};

struct random_stream {
    uint32_t key[2];
    uint32_t counter[4]; /* block, purpose, index (64 bits) */
    uint32_t block[4];
    unsigned used; /* numbers of the block already given out */
};

/* The bare generator: ten rounds over a counter under a key. */
void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

struct random_stream random_stream(uint64_t seed, enum random_purpose purpose, uint64_t index);

uint32_t random_u32(struct random_stream *stream);
uint64_t random_u64(struct random_stream *stream);
/* Uniform in 0..limit-1, without bias; limit > 0. */
uint64_t random_below(struct random_stream *stream, uint64_t limit);
/* Uniform in [0, 1): 53 random bits, 24 for the float. */
double random_uniform(struct random_stream *stream);
float random_uniform_float(struct random_stream *stream);
/* Standard normal (Box-Muller; uses two uniforms for each number). */
double random_normal(struct random_stream *stream);
/* Shuffles indices in place (Fisher-Yates). */
void random_shuffle(struct random_stream *stream, size_t *indices, size_t count);

#endif
