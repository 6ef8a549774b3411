/* Whole files in memory, and what kind they are. */
#ifndef SC_FILE_H
#define SC_FILE_H

#include <stddef.h>

#include "base/error.h"

enum file_kind {
    FILE_NPY,  /* an array or a dataset */
    FILE_POOL, /* .slp */
    FILE_TEXT, /* anything else */
};

/* Reads a file, or standard input for "-", into malloc'ed memory.  Errors do not name the file. */
struct error *file_read(const char *path, unsigned char **bytes, size_t *size) MUST_CHECK;

/* By its first byte: NPY files and pools start with one that no text has. */
enum file_kind file_kind(const unsigned char *bytes, size_t size);

/* The name for messages. */
const char *file_shown(const char *path);

#endif
