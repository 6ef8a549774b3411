/* Checksums of small parts of files, against accidental damage (digest.h is for identity). */
#ifndef SC_CHECKSUM_H
#define SC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 with the polynomial of zlib, PNG and gzip: Python's zlib.crc32. */
uint32_t checksum_crc32(const void *data, size_t size);

#endif
