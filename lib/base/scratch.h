/* Arrays that may be too large for the memory.
 *
 * One of scratch_least() bytes or more lives in a file without a name, in the folder that TMPDIR
 * names or in /var/tmp, and is mapped: the kernel writes its pages out where memory is short, and
 * the file is gone when the process is.  The room on the disk is reserved first.  Smaller ones, and
 * those for which no such file can be made, are ordinary memory. */
#ifndef SC_BASE_SCRATCH_H
#define SC_BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes from which on an array is in a file: those that SHAPECOND_SCRATCH says, in MiB, else a
 * sixteenth of the memory that the machine has or the control group may use, at least 32 MiB.
 * Memory is faster, and no result depends on it. */
size_t scratch_least(void);

/* count elements of that size, all zeros, or NULL if memory and disk are full. */
void *scratch_new(size_t count, size_t size);
/* NULL is left alone. */
void scratch_free(void *memory);

/* A new file without a name in that folder, or in memory where none can be made there, to be
 * written and read; or NULL with errno set. */
FILE *scratch_file(void);

/* Room in such a file for what is made part by part, of which at most `most` bytes are used in all;
 * NULL if there can be none.  Its room on the disk is taken as it is used. */
struct spill;
struct spill *spill_new(size_t most);
/* Moves malloc'ed bytes there and frees them.  Returns where they are: where they were, if there is
 * no room. */
void *spill_move(struct spill *spill, void *bytes, size_t size);
/* Whether the bytes have been moved there: then they are not to be freed. */
bool spill_holds(const struct spill *spill, const void *bytes);
/* NULL is left alone. */
void spill_free(struct spill *spill);

#endif
