#include "formats/mapped.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct mapped {
    struct mapped *next;
    const char *base;
    size_t size;
    struct stat before; /* the file when it was mapped */
    bool known;         /* before is of that file */
    char path[];
};

/* Taken for moments, in which no data of a file is touched: so SIGBUS does not come then, and its
 * handler can take the lock as well. */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct mapped *all;

/* The first file that was found to have changed when it was removed. */
static struct {
    char path[PATH_MAX];
    bool cut;
} changed;

static void lock(void)
{
    while (atomic_flag_test_and_set(&busy))
        ;
}

static void unlock(void)
{
    atomic_flag_clear(&busy);
}

static bool look(const char *path, struct stat *status)
{
    return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, status) : stat(path, status)) == 0;
}

static bool has_changed(const struct mapped *mapped, bool *cut)
{
    struct stat now;

    *cut = false;
    if (!mapped->known || !look(mapped->path, &now) || now.st_dev != mapped->before.st_dev ||
        now.st_ino != mapped->before.st_ino)
        return false;
    *cut = (size_t)now.st_size < mapped->size;
    return *cut || now.st_mtim.tv_sec != mapped->before.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != mapped->before.st_mtim.tv_nsec;
}

static struct mapped *mapped_new(const char *path)
{
    struct mapped *mapped = calloc(1, sizeof *mapped + strlen(path) + 1);

    if (mapped)
        strcpy(mapped->path, path);
    return mapped;
}

static void enter(struct mapped *mapped, const void *base, size_t size)
{
    mapped->base = base;
    mapped->size = size;
    mapped->known =
        look(mapped->path, &mapped->before) && (size_t)mapped->before.st_size == mapped->size;
    lock();
    mapped->next = all;
    all = mapped;
    unlock();
}

/* Adds what was mapped of a file ("-": standard input).  To be removed before it is unmapped. */
static struct error *mapped_add(const char *path, const void *base, size_t size,
                                struct mapped **mapped)
{
    *mapped = mapped_new(path);
    if (!*mapped)
        return error_memory("a file name");
    enter(*mapped, base, size);
    return NULL;
}

/* NULL is left alone. */
static void mapped_remove(struct mapped *mapped)
{
    struct mapped **place = &all;
    bool cut;

    if (!mapped)
        return;
    lock();
    while (*place != mapped)
        place = &(*place)->next;
    *place = mapped->next;
    if (has_changed(mapped, &cut) && (!changed.path[0] || (cut && !changed.cut))) {
        changed.cut = cut;
        strncpy(changed.path, mapped->path, sizeof changed.path - 1);
    }
    unlock();
    free(mapped);
}

/* Files of this size are not read ahead as a whole: they may be larger than the memory. */
enum { LARGE = 64 << 20 };

/* Maps a regular file from its start.  False if that cannot be done. */
static bool map_descriptor(const char *path, int descriptor, unsigned char **bytes, size_t *size,
                           struct mapped **mapped)
{
    struct stat status;
    struct error *error;
    void *base;

    if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
        (uintmax_t)status.st_size > SIZE_MAX || lseek(descriptor, 0, SEEK_CUR) != 0)
        return false;
    base = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                descriptor, 0);
    if (base == MAP_FAILED)
        return false;
    error = mapped_add(path, base, (size_t)status.st_size, mapped);
    if (error) {
        error_free(error);
        munmap(base, (size_t)status.st_size);
        return false;
    }
    madvise(base, (size_t)status.st_size, status.st_size < LARGE ? MADV_WILLNEED : MADV_SEQUENTIAL);
    *bytes = base;
    *size = (size_t)status.st_size;
    return true;
}

struct error *mapped_read(const char *path, unsigned char **bytes, size_t *size,
                          struct mapped **mapped)
{
    struct stat status;

    *mapped = NULL;
    /* Not opened to look at: a named pipe can be opened only once. */
    if (strcmp(path, "-") == 0) {
        if (map_descriptor(path, STDIN_FILENO, bytes, size, mapped))
            return NULL;
    } else if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        bool done = descriptor >= 0 && map_descriptor(path, descriptor, bytes, size, mapped);

        if (descriptor >= 0)
            close(descriptor);
        if (done)
            return NULL;
    }
    return file_read(path, bytes, size);
}

void mapped_release(unsigned char *bytes, size_t size, struct mapped *mapped)
{
    mapped_remove(mapped);
    if (mapped)
        munmap(bytes, size);
    else
        free(bytes);
}

static void released(void *context)
{
    mapped_remove(context);
}

npy_reader *mapped_open_npy(const char *path, struct npy_error *error)
{
    struct mapped *mapped = mapped_new(path);
    npy_reader *reader = mapped ? npy_open(path, error) : NULL;
    const void *base = NULL;
    size_t size;

    if (!mapped && error)
        *error = (struct npy_error){"out of memory", true};
    if (reader)
        base = npy_mapping(reader, &size, released, mapped);
    if (base)
        enter(mapped, base, size);
    else
        free(mapped);
    return reader;
}

const char *mapped_at(const void *address, bool *cut)
{
    const struct mapped *mapped;

    lock();
    mapped = all;
    while (mapped && ((const char *)address < mapped->base ||
                      (size_t)((const char *)address - mapped->base) >= mapped->size))
        mapped = mapped->next;
    if (mapped)
        has_changed(mapped, cut);
    unlock();
    return mapped ? mapped->path : NULL;
}

const char *mapped_changed(bool *cut)
{
    const char *path;

    lock();
    path = changed.path[0] ? changed.path : NULL;
    *cut = changed.cut;
    for (const struct mapped *mapped = all; mapped && !*cut; mapped = mapped->next) {
        bool shorter;

        if (has_changed(mapped, &shorter) && (!path || shorter)) {
            path = mapped->path;
            *cut = shorter;
        }
    }
    unlock();
    return path;
}
