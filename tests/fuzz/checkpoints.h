/* Small runs that keep a checkpoint, for the fuzzers of checkpoints and their seeds.
 *
 * Mutated bytes would never have the right digests.  So the bytes of a fuzzer are the records, and
 * the frame around them (formats/ckpt.h) is made for each execution, with the header that the run
 * itself would write. */
#ifndef SC_FUZZ_CHECKPOINTS_H
#define SC_FUZZ_CHECKPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A run of two steps, epochs or experts that resumes from the checkpoint of that name, if there is
 * one, and leaves it there. */
typedef struct error *checkpoint_run(const char *path);
checkpoint_run training_run, matching_run, experts_run;

/* The bytes of records that the run writes, malloc'ed; *record: of one of them. */
uint8_t *checkpoint_records(checkpoint_run *run, size_t *size, size_t *record);

/* Writes a file with the header of that run and these records, each of `record` bytes and with its
 * digest; what is left of the bytes is a torn one.  Returns its name. */
const char *checkpoint_file(checkpoint_run *run, const uint8_t *records, size_t size,
                            size_t record);

#endif
