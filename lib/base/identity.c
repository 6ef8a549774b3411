#include "base/identity.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as many as Linux follows */

char *identity_follow_links(const char *path)
{
    char *target = strdup(path), link[PATH_MAX];

    for (int links = 0; target; links++) {
        const char *slash = strrchr(target, '/');
        ssize_t length = readlink(target, link, sizeof link);
        char *next = NULL;

        if (length < 0)
            return target;
        if (links == MOST_LINKS || (size_t)length == sizeof link)
            errno = links == MOST_LINKS ? ELOOP : ENAMETOOLONG;
        else if (asprintf(&next, "%.*s%.*s",
                          slash && link[0] != '/' ? (int)(slash + 1 - target) : 0, target,
                          (int)length, link) < 0)
            next = NULL;
        free(target);
        target = next;
    }
    return NULL;
}

static struct file_identity identity_from(const struct stat *status)
{
    return (struct file_identity){.state = FILE_THERE,
                                  .device = status->st_dev,
                                  .inode = status->st_ino,
                                  .mode = status->st_mode};
}

/* Known by its folder and its name there. */
static struct file_identity identity_to_be_made(const char *path)
{
    struct file_identity identity = {FILE_UNKNOWN};
    char *target = identity_follow_links(path), *slash = target ? strrchr(target, '/') : NULL;
    struct stat folder;

    if (!target)
        return identity;
    identity.name = strdup(slash ? slash + 1 : target);
    if (slash)
        slash[slash == target] = '\0'; /* of "/name" the slash stays */
    if (identity.name && identity.name[0] && stat(slash ? target : ".", &folder) == 0) {
        identity.state = FILE_TO_BE_MADE;
        identity.device = folder.st_dev;
        identity.inode = folder.st_ino;
    }
    free(target);
    return identity;
}

struct file_identity identity_of(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0)
        return identity_from(&status);
    return errno == ENOENT ? identity_to_be_made(path) : (struct file_identity){FILE_UNKNOWN};
}

struct file_identity identity_of_descriptor(int descriptor)
{
    struct stat status;

    if (fstat(descriptor, &status))
        return (struct file_identity){FILE_UNKNOWN};
    return identity_from(&status);
}

void identity_free(struct file_identity *identity)
{
    free(identity->name);
    identity->name = NULL;
}

bool identity_same(const struct file_identity *a, const struct file_identity *b)
{
    if (a->state == FILE_UNKNOWN || a->state != b->state || a->device != b->device ||
        a->inode != b->inode)
        return false;
    return a->state == FILE_THERE || strcmp(a->name, b->name) == 0;
}
