/* Networks with their values, in and out of .tch files (tch(5)). */
#ifndef SC_NN_TEACHER_H
#define SC_NN_TEACHER_H

#include <stdio.h>

#include "base/digest.h"
#include "base/error.h"
#include "nn/network.h"

struct teacher {
    struct network *network;
    float *parameters, *buffers; /* memory of the backend */
    char *notes;                 /* provenance, or NULL */
    char digest[DIGEST_TEXT];    /* of the file it was read from, else "" */
};

/* Reads a file, or standard input for "-".  Every tensor of the network must be there with its
 * shape (a linear layer's too: nothing is reshaped); "...num_batches_tracked" of PyTorch is left
 * out; any other tensor is an error. */
struct error *teacher_read(const char *path, const struct backend *backend,
                           struct teacher *teacher) MUST_CHECK;

/* A network with all values zero, to be initialised (network_initialise) or filled. */
struct error *teacher_new(const struct architecture *architecture, const struct backend *backend,
                          struct teacher *teacher) MUST_CHECK;

struct error *teacher_write(FILE *stream, const struct teacher *teacher) MUST_CHECK;

/* Safe on one that is all zeros, and more than once. */
void teacher_free(struct teacher *teacher);

#endif
