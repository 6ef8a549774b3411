/* BLAKE2b (RFC 7693) with a 128-bit result, to name the input of a run: what `b2sum -l 128 FILE`
 * prints.  Fast enough to take over every byte that a stage reads. */
#ifndef SC_DIGEST_H
#define SC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_TEXT 33 /* 32 hexadecimal digits and the end */

struct digest {
    uint64_t state[8];
    uint64_t bytes;
    unsigned char block[128];
    size_t filled;
};

void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t size);
void digest_finish(struct digest *digest, char text[DIGEST_TEXT]);

#endif
