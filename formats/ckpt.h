/* Checkpoints: what an interrupted run resumes from.
 *
 *     shapecond checkpoint 1
 *     kind training                          of the run
 *     run 6a09e667f3bcc908...                digest of the data and options that it depends on
 *     by avx2, glibc 2.36 fma, gcc ...       what computed (lib/base/computed_by.h)
 *     bb67ae8584caa73b...                    digest of the four lines above
 *     record, digest, record, digest, ...
 *
 * A record is bytes of the run; its digest, a line of its own, covers the header, the number of the
 * record and the record, so that no part of a file can be changed, moved or cut off unnoticed.
 *
 * A run keeps its state in one record and rewrites the file each time (ckpt_write), or adds a
 * record of fixed size for each part that it has finished (ckpt_add).  Either way everything is on
 * the disk when the function returns.  Only the last record that was added can be incomplete, by a
 * kill in the middle of the write: the next one overwrites it.  Anything else that is not as it was
 * written is an error that says what to do. */
#ifndef SC_CKPT_H
#define SC_CKPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* What a run must have in common with the one that wrote the checkpoint; each one line. */
struct ckpt_run {
    const char *kind;        /* "training", for messages: "a checkpoint of a training" */
    const char *fingerprint; /* of everything else that the result depends on */
    const char *computed_by;
};

struct ckpt_part {
    const void *bytes;
    size_t size;
};

/* Replaces the file by one with the parts, one after another, as its only record; with none if
 * there are no parts. */
struct error *ckpt_write(const char *path, const struct ckpt_run *run,
                         const struct ckpt_part *parts, size_t count) MUST_CHECK;

/* The only record, malloc'ed; *state is NULL if there is no such file. */
struct error *ckpt_read(const char *path, const struct ckpt_run *run, unsigned char **state,
                        size_t *size) MUST_CHECK;

/* Whether the file is there and is, of whatever run, not as ckpt_write wrote it. */
struct error *ckpt_is_damaged(const char *path, bool *is_damaged) MUST_CHECK;

/* A file of records of the same size. */
struct ckpt {
    const char *path;
    FILE *stream;
    char *header;
    size_t header_size;
    size_t record_size;
    size_t count; /* records that the file had when it was opened */
    size_t next;  /* record that is read or added next */
    bool torn;    /* it ends in the middle of another one */
};

/* Opens the file, or makes one without records.  After an error nothing need be closed. */
struct error *ckpt_open(const char *path, const struct ckpt_run *run, size_t record_size,
                        struct ckpt *ckpt) MUST_CHECK;

/* Reads the next record; there are `count`. */
struct error *ckpt_next(struct ckpt *ckpt, void *record) MUST_CHECK;

/* Adds a record, when all that were there have been read. */
struct error *ckpt_add(struct ckpt *ckpt, const void *record) MUST_CHECK;

/* Safe on a struct of zeros, and more than once. */
void ckpt_close(struct ckpt *ckpt);

#endif
