/* The calls of libb2 fail only for lengths that BLAKE2b does not have. */
#include "base/digest.h"

#include <stdio.h>

enum { DIGEST_BYTES = 16 };

void digest_start(struct digest *digest)
{
    blake2b_init(&digest->state, DIGEST_BYTES);
}

void digest_add(struct digest *digest, const void *bytes, size_t size)
{
    blake2b_update(&digest->state, bytes, size);
}

void digest_finish(struct digest *digest, char text[DIGEST_TEXT])
{
    uint8_t bytes[DIGEST_BYTES];

    blake2b_final(&digest->state, bytes, sizeof bytes);
    for (int i = 0; i < DIGEST_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}
