/* Input files that are mapped into memory.
 *
 * Another process may cut such a file off while its data is in use.  The kernel then sends SIGBUS
 * where data is missing, and gives zeros where only the end of a page is.  This list of what is
 * mapped lets a program say which file it was. */
#ifndef SC_MAPPED_H
#define SC_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "formats/npy-c/npy-c.h"

struct mapped;

/* All bytes of a file ("-": standard input): mapped, if it is a regular one, else read into memory
 * (*mapped is then NULL).  They can be written to, which the file never sees.  Errors do not name
 * the file. */
struct error *mapped_read(const char *path, unsigned char **bytes, size_t *size,
                          struct mapped **mapped) MUST_CHECK;
/* NULL bytes are left alone. */
void mapped_release(unsigned char *bytes, size_t size, struct mapped *mapped);

/* npy_open, with the file in the list while it is mapped. */
npy_reader *mapped_open_npy(const char *path, struct npy_error *error);

/* The path of the file that is mapped at the address, NULL if none is.  Safe in a signal handler.
 * *cut: it is shorter now than it was. */
const char *mapped_at(const void *address, bool *cut);

/* The path of a file that was written to while it was mapped, NULL if none was.  *cut: it was made
 * shorter.  Another file that took its name does not count: the data is still that of the old one.
 */
const char *mapped_changed(bool *cut);

#endif
