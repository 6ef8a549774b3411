/* Teachers: .tch files (tch(5)).  Lines of text, then NPY arrays.
 *
 *     %TCH 1
 *     network cnn depth=3 width=32 ...       what the values belong to (lib/nn/architecture.h)
 *     note sc-teacher 0.1.0 ...              provenance, any number of lines
 *     tensor features.0.weight               one line for each array that follows, in its order,
 *     tensor features.0.bias                 with the name that PyTorch gives it
 *     end
 *     NPY array, NPY array, ...
 *
 * so that a state_dict can be written, and read, with a few lines of NumPy. */
#ifndef SC_TCH_H
#define SC_TCH_H

#include <stddef.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/error.h"

#define TCH_MAX_DIMS 4

struct tch_tensor {
    const char *name;
    size_t ndim;
    size_t shape[TCH_MAX_DIMS];
    size_t count;
    float *values; /* C order */
};

struct tch {
    const char *network; /* the text */
    char *notes;         /* provenance, lines joined by '\n', or NULL */
    size_t count;
    struct tch_tensor *tensors;
    char digest[DIGEST_TEXT]; /* of the file it was read from, else "" */
};

/* Reads a file, or standard input for "-".  Numbers of any type become floats; a value that is not
 * finite, a name given twice, and anything after the last array are errors. */
struct error *tch_read(const char *path, struct tch *tch) MUST_CHECK;
struct error *tch_read_memory(const void *bytes, size_t size, struct tch *tch) MUST_CHECK;

/* The tensor with that name, or NULL. */
const struct tch_tensor *tch_find(const struct tch *tch, const char *name);

struct error *tch_write(FILE *stream, const struct tch *tch) MUST_CHECK;

/* Safe on one that is all zeros, and more than once. */
void tch_free(struct tch *tch);

#endif
