/* A temporary folder of a run, which goes with it.
 *
 * A process that is killed by SIGKILL cannot remove anything; the next one that makes such a folder
 * removes what dead ones left.  Those alive hold a lock on a file in their folder, which the kernel
 * drops when the process is gone, and so do the programs that they started. */
#ifndef SC_FOLDER_H
#define SC_FOLDER_H

#include <stdbool.h>

#include "base/error.h"

struct folder {
    char *path; /* malloc'ed */
    int lock;   /* descriptor, closed by exec */
};

/* Makes a folder in TMPDIR, else /tmp. */
struct error *folder_make(struct folder *folder) MUST_CHECK;

/* Removes it and all files in it.  It holds no folders.  Whether nothing is left. */
bool folder_remove(const struct folder *folder);
/* Safe on one that is all zeros but for the lock, which is -1. */
void folder_free(struct folder *folder);

#endif
