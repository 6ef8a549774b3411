/* What the files of libnpy-c share. */
#ifndef NPY_INTERNAL_H
#define NPY_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>

#include "npy-c.h"

/* The shared library exports what npy-c.h declares and none of this. */
#pragma GCC visibility push(hidden)

/* Longest header that is read; NumPy itself refuses more than 10000 characters unless told to. */
enum { NPY_MOST_HEADER = 1 << 20, NPY_MAGIC_SIZE = 6 };

/* What is read ahead of a mapped file, and the least size of a file whose pages are let go once
 * they have been seen. */
enum { NPY_AHEAD = 16 << 20, NPY_LARGE = 64 << 20 };

struct npy_header {
    enum npy_kind kind;
    size_t item_size;
    bool swapped; /* stored in the other byte order */
    bool fortran;
    size_t ndim;
    size_t shape[NPY_MAX_DIMS];
    size_t count;
    size_t bytes; /* count * item_size */
};

/* The dictionary after the length field: text of that size.  Checks everything that it fills in,
 * products included. */
int npy_parse_header(const char *text, size_t size, struct npy_header *header,
                     struct npy_error *error);

/* Multiplies sizes; false on overflow. */
bool npy_multiply(size_t a, size_t b, size_t *product);

/* Fills in count and bytes from shape and item_size. */
int npy_count(struct npy_header *header, struct npy_error *error);

/* Says what went wrong; returns -1. */
int npy_fail(struct npy_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A mapping or a block of memory that arrays point into; it goes when the last of them does. */
struct npy_storage {
    _Atomic size_t users;
    void *base;
    size_t size;
    enum { NPY_OWNED, NPY_MAPPED, NPY_BORROWED } source;
    void (*released)(void *context); /* NULL, or to be called before a mapping goes */
    void *context;
};

/* Tells the kernel that bytes of a mapping are needed soon, or that whole pages between them are
 * not needed now.  What was written to the latter is lost. */
void npy_advise(const void *begin, size_t bytes, bool needed);

struct npy_storage *npy_storage_new(void *base, size_t size, int source);
void npy_storage_release(struct npy_storage *storage);

/* An array of size bytes for what the header says, on storage of its own. */
int npy_array_allocate(struct npy_array *array, const struct npy_header *header,
                       struct npy_error *error);

#pragma GCC visibility pop

#endif
