/* The calls of libsodium fail only for lengths that BLAKE2b does not have. */
#include "base/digest.h"

#include <pthread.h>
#include <sodium/core.h>
#include <stdint.h>
#include <stdio.h>

enum { DIGEST_BYTES = 16 };

/* Finds the instructions of this processor; without it, digests are the same and take longer. */
static void look_at_processor(void)
{
    if (sodium_init() < 0)
        return;
}

void digest_start(struct digest *digest)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, look_at_processor);
    crypto_generichash_blake2b_init(&digest->state, NULL, 0, DIGEST_BYTES);
}

void digest_add(struct digest *digest, const void *bytes, size_t size)
{
    crypto_generichash_blake2b_update(&digest->state, bytes, size);
}

void digest_watch(void *digest, const void *bytes, size_t size)
{
    digest_add(digest, bytes, size);
}

void digest_finish(struct digest *digest, char text[DIGEST_TEXT])
{
    uint8_t bytes[DIGEST_BYTES];

    crypto_generichash_blake2b_final(&digest->state, bytes, sizeof bytes);
    for (int i = 0; i < DIGEST_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}
