/* In front of an array is how much of it is mapped.  A mapping starts with a page for that. */
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FRONT = 64, MAPPED_FRONT = 4096 };

/* ---- How much is too much for the memory ---- */

enum { MIB = 1 << 20, LEAST_MIB = 32, SHARE = 16 };

/* The number that the file begins with, or `otherwise`: "max", no such file. */
static double read_limit(const char *path, double otherwise)
{
    FILE *file = fopen(path, "re");
    double limit;

    if (!file)
        return otherwise;
    if (fscanf(file, "%lf", &limit) != 1 || !(limit > 0))
        limit = otherwise;
    fclose(file);
    return limit < otherwise ? limit : otherwise;
}

/* The least limit of a control group and those that it is in: `group` is its path in the hierarchy
 * at `root`. */
static double group_limit(const char *root, char *group, const char *name, double otherwise)
{
    for (;;) {
        char *slash, *path;

        if (asprintf(&path, "%s%s/%s", root, group, name) < 0)
            return otherwise;
        otherwise = read_limit(path, otherwise);
        free(path);
        slash = strrchr(group, '/');
        if (!slash)
            return otherwise;
        *slash = '\0';
    }
}

/* What the control groups of this process leave of so much memory.  Lines of the file are
 * NUMBER:CONTROLLERS:PATH, and in the newer kind of groups 0::PATH. */
static double limited_memory(double memory)
{
    FILE *groups = fopen("/proc/self/cgroup", "re");
    char line[4096];

    while (groups && fgets(line, sizeof line, groups)) {
        char *path = strstr(line, ":/");

        line[strcspn(line, "\n")] = '\0';
        if (path && strncmp(line, "0::", 3) == 0)
            memory = group_limit("/sys/fs/cgroup", path + 1, "memory.max", memory);
        else if (path && strstr(line, ":memory:"))
            memory =
                group_limit("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes", memory);
    }
    if (groups)
        fclose(groups);
    return memory;
}

size_t scratch_least(void)
{
    const char *said = getenv("SHAPECOND_SCRATCH");
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double least;
    char *end;

    if (said && *said) {
        least = strtod(said, &end);
        if (*end == '\0' && least >= 0 && least <= 1e9)
            return (size_t)(least * MIB);
    }
    least = limited_memory(memory) / SHARE;
    return least > (double)LEAST_MIB * MIB ? (size_t)least : (size_t)LEAST_MIB * MIB;
}

/* ---- Files without a name ---- */

/* The descriptor of a new file without a name, or -1. */
static int open_nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char *path;
    int file;

    if (!folder || !*folder)
        folder = "/var/tmp";
    file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || asprintf(&path, "%s/shapecond.XXXXXX", folder) < 0)
        return file;
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    free(path);
    return file;
}

FILE *scratch_file(void)
{
    int file = open_nameless();
    FILE *stream;

    if (file < 0)
        file = memfd_create("shapecond", MFD_CLOEXEC);
    stream = file >= 0 ? fdopen(file, "w+b") : NULL;

    if (!stream && file >= 0)
        close(file);
    return stream;
}

/* NULL if it cannot be done. */
static void *map_file(int file, size_t size)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    return base == MAP_FAILED ? NULL : base;
}

static char *map_new(size_t size)
{
    int file = open_nameless();
    char *base = NULL;

    if (file < 0)
        return NULL;
    if (size <= INT64_MAX && posix_fallocate(file, 0, (off_t)size) == 0)
        base = map_file(file, size);
    close(file);
    return base;
}

void *scratch_new(size_t count, size_t size)
{
    size_t bytes, mapped = 0;
    char *base = NULL, *data;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - MAPPED_FRONT)
        return NULL;
    if (bytes >= scratch_least()) {
        mapped = bytes + MAPPED_FRONT;
        base = map_new(mapped);
    }
    if (base) {
        data = base + MAPPED_FRONT;
    } else {
        mapped = 0;
        base = aligned_alloc(FRONT, (bytes / FRONT + 2) * FRONT);
        if (!base)
            return NULL;
        data = base + FRONT;
        memset(data, 0, bytes);
    }
    memcpy(data - sizeof mapped, &mapped, sizeof mapped);
    return data;
}

void scratch_free(void *memory)
{
    char *data = memory;
    size_t mapped;

    if (!data)
        return;
    memcpy(&mapped, data - sizeof mapped, sizeof mapped);
    if (mapped)
        munmap(data - MAPPED_FRONT, mapped);
    else
        free(data - FRONT);
}

struct spill {
    int file;
    char *base;
    size_t size;
    atomic_size_t used;
};

struct spill *spill_new(size_t most)
{
    struct spill *spill = malloc(sizeof *spill);

    if (!spill)
        return NULL;
    *spill = (struct spill){.file = open_nameless(), .size = most};
    if (spill->file >= 0 && most && most <= INT64_MAX && ftruncate(spill->file, (off_t)most) == 0)
        spill->base = map_file(spill->file, most);
    if (!spill->base) {
        spill_free(spill);
        return NULL;
    }
    return spill;
}

/* Written, not copied into the mapping: a full disk is then an error, not a signal. */
static bool write_all(int file, const char *bytes, size_t size, size_t at)
{
    while (size) {
        ssize_t part = pwrite(file, bytes, size, (off_t)at);

        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return false;
        bytes += part;
        size -= (size_t)part;
        at += (size_t)part;
    }
    return true;
}

void *spill_move(struct spill *spill, void *bytes, size_t size)
{
    const size_t room = (size + FRONT - 1) / FRONT * FRONT;
    size_t at;

    if (!bytes || size == 0)
        return bytes;
    at = atomic_fetch_add(&spill->used, room);
    if (at > spill->size || spill->size - at < size || !write_all(spill->file, bytes, size, at))
        return bytes;
    free(bytes);
    return spill->base + at;
}

bool spill_holds(const struct spill *spill, const void *bytes)
{
    return spill && (const char *)bytes >= spill->base &&
           (const char *)bytes < spill->base + spill->size;
}

void spill_free(struct spill *spill)
{
    if (!spill)
        return;
    if (spill->base)
        munmap(spill->base, spill->size);
    if (spill->file >= 0)
        close(spill->file);
    free(spill);
}
