/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 the shapecond authors */

/* libnpy-c: read and write NumPy's NPY format from C.
 *
 * Reads versions 1.0, 2.0 and 3.0, either byte order, C or Fortran order, booleans, signed and
 * unsigned integers of 1 to 8 bytes, floats of 2, 4 and 8 bytes and unicode strings; several arrays
 * one after another in one file or pipe.  What it hands out is always in C order and in the byte
 * order of the machine.  A regular file is mapped and its data is used in place whenever no
 * conversion is needed; a pipe is read.
 *
 * Functions that can fail return -1 (or NULL) and fill *error, which may be NULL if the text is not
 * wanted.  There is no global state: different readers can be used from different threads.
 *
 *     struct npy_error error;
 *     npy_reader *reader = npy_open("x.npy", &error);
 *     struct npy_array array;
 *     while (reader && npy_next(reader, &array, &error) == 1) {
 *         ...
 *         npy_array_free(&array);
 *     }
 *     npy_close(reader);
 */
#ifndef NPY_C_H
#define NPY_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NPY_C_VERSION "0.1.0"
#define NPY_MAX_DIMS  32

/* What the elements are: the letters that NumPy uses. */
enum npy_kind {
    NPY_BOOL = 'b',
    NPY_INT = 'i',
    NPY_UINT = 'u',
    NPY_FLOAT = 'f',
    NPY_UNICODE = 'U', /* fixed width, one 32-bit code point per character, padded with zeros */
    NPY_BYTES = 'S',   /* ASCII of fixed width, padded with zeros: read as NPY_UNICODE */
};

struct npy_error {
    char message[255];
    bool memory; /* the reason is that there was too little memory, not the file */
};

struct npy_storage; /* what keeps the data alive: a mapping or a block of memory, counted */

struct npy_array {
    enum npy_kind kind;
    size_t item_size; /* bytes of one element */
    size_t ndim;      /* 0 for a scalar */
    size_t shape[NPY_MAX_DIMS];
    size_t count; /* elements: the product of the shape, 1 for a scalar */
    void *data;   /* C order, native byte order; writable, changes never reach the file */
    struct npy_storage *storage;
};

typedef struct npy_reader npy_reader;

/* ---- Reading ---- */

/* Opens a file, or standard input if path is "-".  NULL on error. */
npy_reader *npy_open(const char *path, struct npy_error *error);

/* Reads from an open descriptor, which stays the caller's to close. */
npy_reader *npy_open_fd(int descriptor, struct npy_error *error);

/* Reads by calling source(context, buffer, size), which answers as read(2) does: the number of
 * bytes, 0 at the end, or -1 with errno set. */
typedef ssize_t npy_source(void *context, void *buffer, size_t size);
npy_reader *npy_open_source(npy_source *source, void *context, struct npy_error *error);

/* Reads from memory, which must stay until the reader and all its arrays are gone. */
npy_reader *npy_open_memory(const void *bytes, size_t size, struct npy_error *error);

/* The next array of the file.  1: *array is filled and the caller frees it with npy_array_free;
 * 0: the file ended cleanly after the last array; -1: error. */
int npy_next(npy_reader *reader, struct npy_array *array, struct npy_error *error);

/* Calls seen(context, bytes, size) with every byte of the file, in order, as it is consumed:
 * for checksums.  Data of a mapped file is handed over whole, or, of a large one, in parts of at
 * most 1 MB, the memory of which goes afterwards.  To be set before the first npy_next. */
void npy_watch(npy_reader *reader, void (*seen)(void *context, const void *bytes, size_t size),
               void *context);

/* Where the file is mapped and how many bytes, or NULL if it is not (a pipe, memory).  A file that
 * another process makes shorter while it is mapped raises SIGBUS; a handler can tell by the address
 * which one it was.  released(context) is called when the last array of it is freed, just before it
 * is unmapped; never if this returns NULL.  To be called at most once, before the first npy_next.
 */
const void *npy_mapping(npy_reader *reader, size_t *size, void (*released)(void *context),
                        void *context);

/* Arrays that were handed out stay valid. */
void npy_close(npy_reader *reader);

/* ---- Arrays ---- */

/* A new array of zeros.  ndim 0 makes a scalar. */
int npy_array_new(struct npy_array *array, enum npy_kind kind, size_t item_size, size_t ndim,
                  const size_t *shape, struct npy_error *error);

/* Safe on an array that is all zeros, and more than once. */
void npy_array_free(struct npy_array *array);

/* Whether the data is in the mapping of a file. */
bool npy_array_is_mapped(const struct npy_array *array);

/* For files of 64 MB and more that are mapped, else nothing happens: these bytes of the data will
 * be needed soon and are to be read ahead, or are not needed now, and their memory can go.  They
 * are read again where they are used again; changes that were made to them are lost. */
void npy_array_advise(const struct npy_array *array, size_t begin, size_t bytes, bool needed);

/* Converts numbers in place to NPY_FLOAT of 4 or 8 bytes or NPY_INT of 4 or 8 bytes; nothing
 * happens when they are that already.  To float rounds as C does; to int fails, naming the element,
 * on a value that is not whole or does not fit. */
int npy_convert(struct npy_array *array, enum npy_kind kind, size_t item_size,
                struct npy_error *error);

/* The strings of a unicode array as UTF-8: count pointers and their text in one block that the
 * caller frees with one free().  NULL on error. */
char **npy_strings(const struct npy_array *array, struct npy_error *error);

/* "<f4", "|b1", "<U12": the type as NumPy writes it for this machine's byte order. */
void npy_type_name(enum npy_kind kind, size_t item_size, char name[24]);

/* ---- Writing: version 1.0, which holds every header that is written here ---- */

/* The header that goes before the data of such an array. */
int npy_write_header(FILE *stream, enum npy_kind kind, size_t item_size, size_t ndim,
                     const size_t *shape, struct npy_error *error);

/* Header and data. */
int npy_write(FILE *stream, const struct npy_array *array, struct npy_error *error);

/* Same, for data that is not in an npy_array. */
int npy_write_data(FILE *stream, enum npy_kind kind, size_t item_size, size_t ndim,
                   const size_t *shape, const void *data, struct npy_error *error);

/* A unicode array of UTF-8 strings: shape (count,), or a scalar if ndim is 0 (count 1). */
int npy_write_strings(FILE *stream, const char *const *strings, size_t ndim, size_t count,
                      struct npy_error *error);

#ifdef __cplusplus
}
#endif
#endif
