#include "common/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CHANCE = 6, MOST_ATTEMPTS = 100 };

static const char lock_name[] = ".running";

/* What the names begin with.  The host is in it because locks need not be seen by other hosts that
 * share the folder. */
static void name_beginning(char beginning[NAME_MAX - CHANCE])
{
    struct utsname host;

    if (uname(&host))
        host.nodename[0] = '\0';
    snprintf(beginning, NAME_MAX - CHANCE, "shapecond-run-%s-", host.nodename);
    for (char *c = beginning; *c; c++)
        *c = *c == '/' ? '_' : *c;
}

/* Removes the files of an open folder, the lock last: a folder without it is empty. */
static void remove_files(int folder)
{
    int copy = fcntl(folder, F_DUPFD_CLOEXEC, 3);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    while (stream && (entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, lock_name) != 0)
            unlinkat(folder, entry->d_name, 0);
    }
    unlinkat(folder, lock_name, 0);
    if (stream)
        closedir(stream);
    else if (copy >= 0)
        close(copy);
}

/* Only a folder of this user that no living process uses. */
static void remove_stale(int base, const char *name)
{
    int folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), lock;
    struct stat status;

    if (folder < 0)
        return;
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid() && !(status.st_mode & 077)) {
        lock = openat(folder, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
            remove_files(folder);
        unlinkat(base, name, AT_REMOVEDIR); /* fails unless it is empty */
        if (lock >= 0)
            close(lock);
    }
    close(folder);
}

static void remove_all_stale(const char *base, const char *beginning)
{
    DIR *stream = opendir(base);
    size_t length = strlen(beginning);
    const struct dirent *entry;

    while (stream && (entry = readdir(stream))) {
        if (strncmp(entry->d_name, beginning, length) == 0 &&
            strlen(entry->d_name) == length + CHANCE)
            remove_stale(dirfd(stream), entry->d_name);
    }
    if (stream)
        closedir(stream);
}

/* *taken: another process took it for a stale one before the lock was on it, and removes it. */
static struct error *lock_folder(struct folder *folder, bool *taken)
{
    struct stat status;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder->path, lock_name);
    folder->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    *taken = folder->lock < 0 && errno == ENOENT;
    if (folder->lock < 0)
        return *taken ? NULL : error_system(path);
    /* Without locks, no process can get one to remove it. */
    *taken = (flock(folder->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ||
             fstat(folder->lock, &status) || status.st_nlink == 0;
    return NULL;
}

static struct error *make_in(const char *base, const char *beginning, struct folder *folder,
                             bool *taken)
{
    struct error *error;

    *folder = (struct folder){.lock = -1};
    /* Never taken for an option. */
    if (asprintf(&folder->path, "%s%s/%sXXXXXX", base[0] == '-' ? "./" : "", base, beginning) < 0)
        return error_memory("a file name");
    *taken = false;
    error = mkdtemp(folder->path) ? lock_folder(folder, taken) : error_system(folder->path);
    if (error || *taken) {
        if (folder->lock >= 0)
            close(folder->lock);
        rmdir(folder->path);
        free(folder->path);
    }
    return error;
}

struct error *folder_make(struct folder *folder)
{
    const char *base = getenv("TMPDIR");
    char beginning[NAME_MAX - CHANCE];
    bool taken = true;

    base = base && *base ? base : "/tmp";
    name_beginning(beginning);
    remove_all_stale(base, beginning);
    for (int attempt = 0; taken && attempt < MOST_ATTEMPTS; attempt++)
        TRY(make_in(base, beginning, folder, &taken));
    return taken ? error_make("%s: no temporary folder could be made", base) : NULL;
}

bool folder_remove(const struct folder *folder)
{
    int descriptor = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (descriptor >= 0) {
        remove_files(descriptor);
        close(descriptor);
    }
    return rmdir(folder->path) == 0;
}

void folder_free(struct folder *folder)
{
    if (folder->lock >= 0)
        close(folder->lock);
    free(folder->path);
    *folder = (struct folder){.lock = -1};
}
