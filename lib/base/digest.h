/* BLAKE2b (RFC 7693) with a 128-bit result, to name the input of a run: what `b2sum -l 128 FILE`
 * prints.  By libsodium, which has one for AVX2: a digest is taken of every byte that a stage
 * reads. */
#ifndef SC_DIGEST_H
#define SC_DIGEST_H

#include <sodium/crypto_generichash_blake2b.h>
#include <stddef.h>

#define DIGEST_TEXT 33 /* 32 hexadecimal digits and the end */

struct digest {
    crypto_generichash_blake2b_state state;
};

void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t size);
/* The same for npy_watch: the context is the digest. */
void digest_watch(void *digest, const void *bytes, size_t size);
void digest_finish(struct digest *digest, char text[DIGEST_TEXT]);

#endif
