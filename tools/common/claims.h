/* The files that a run reads and writes, checked before the work.
 *
 * A file that has two uses would be lost in one of them: an input that a log is written to, a
 * result that is removed as a checkpoint.  Files are compared, not names (identity.h). */
#ifndef SC_CLAIMS_H
#define SC_CLAIMS_H

#include <stdbool.h>

/* Adds a file that an option names, or an argument if option is NULL; "-" is standard input or
 * output.  A usage error if the run uses that file already and at least one of the two uses writes
 * it, or if both are standard input; an error if standard output is to be written and cannot be. */
void claims_add(const char *option, const char *path, bool written);

/* Whether something is read from standard input. */
bool claims_standard_input(void);

/* Whether the file that is at the path now is that of another option or argument. */
bool claims_other(const char *option, const char *path);

#endif
