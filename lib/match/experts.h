/* Experts: recorded trainings of networks on the whole dataset.  The parameters at the start and
 * after every epoch, for each of several networks, in a file of NPY arrays one after another
 * (sc-experts(1)):
 *
 *     text    ()                  unicode: the network (architecture.h), "towers=1" or "towers=2",
 *                                 and lines of provenance
 *     points  (experts, epochs + 1, parameters)  float32
 *
 * Matching (trajectory.h) reads it in place: a file may be larger than memory. */
#ifndef SC_MATCH_EXPERTS_H
#define SC_MATCH_EXPERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/dataset.h"
#include "base/digest.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "match/model.h"
#include "formats/npy-c/npy-c.h"

struct expert_options {
    struct architecture architecture; /* of the network, or of each tower; all numbers known */
    bool two_towers;
    size_t count;          /* experts */
    size_t epochs;         /* of each */
    size_t batch;          /* 0: a twentieth of the dataset */
    double rate, momentum; /* of stochastic gradient descent */
    double decay;          /* weight decay */
    uint64_t seed;
    const struct backend *backend; /* where they are trained; NULL: the processor */
    const char *checkpoint;        /* file of the finished experts of an interrupted run, or NULL */
    struct cluster
        *cluster; /* ranks that share the experts; rank 0 has the checkpoint and writes */

    /* Called after every epoch of every expert of this rank, from any thread, with the epochs done
     * by its experts, the total of all, and the loss of this one. */
    void (*progress)(void *context, size_t done, size_t total, double loss);
    /* Called when the checkpoint ends in the middle of an expert, which is trained again. */
    void (*torn)(void *context, size_t expert);
    void *context;
};

struct expert_options expert_defaults(void);

/* Trains them, several at a time, and writes the file to the stream as they are finished. */
struct error *experts_train(const struct expert_options *options, const struct dataset *dataset,
                            const char *notes, FILE *stream) MUST_CHECK;

struct experts {
    struct architecture architecture;
    bool two_towers;
    size_t count, epochs, parameters;
    const float *points; /* (count, epochs + 1, parameters) */
    char *text;          /* all of it, as in the file */
    char digest[DIGEST_TEXT];
    struct npy_array storage;
};

/* Reads a file.  Errors name it. */
struct error *experts_read(const char *path, struct experts *experts) MUST_CHECK;
/* Safe on one that is all zeros. */
void experts_free(struct experts *experts);

/* Parameters of an expert after `epoch` epochs. */
const float *experts_point(const struct experts *experts, size_t expert, size_t epoch);

#endif
