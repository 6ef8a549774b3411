/* Whether two paths stand for one file, however they are written: relative or not, through links of
 * either kind, and whether the file is there already or still to be made. */
#ifndef SC_IDENTITY_H
#define SC_IDENTITY_H

#include <stdbool.h>
#include <sys/stat.h>

struct file_identity {
    enum { FILE_UNKNOWN, FILE_THERE, FILE_TO_BE_MADE } state;
    dev_t device; /* of the file; of its folder if it is to be made */
    ino_t inode;
    mode_t mode; /* of a file that exists */
    char *name;  /* malloc'ed: of a file that is to be made, within its folder */
};

/* The file that the path stands for.  FILE_UNKNOWN: it cannot be reached, or memory ran out. */
struct file_identity identity_of(const char *path);
/* The file that an open descriptor belongs to. */
struct file_identity identity_of_descriptor(int descriptor);
void identity_free(struct file_identity *identity);

/* Whether both are known and one file. */
bool identity_same(const struct file_identity *a, const struct file_identity *b);

/* The file that a path which does not exist yet would create, after following symbolic links;
 * malloc'ed.  NULL with errno set, ELOOP if they lead nowhere. */
char *identity_follow_links(const char *path);

#endif
