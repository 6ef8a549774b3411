/* Linux can make a file that has no name yet (O_TMPFILE): a process that is killed while it writes
 * leaves nothing behind.  Then the file is linked to its name, if that is free.  A file that is
 * there is replaced by rename(2), which needs a name to rename from: a hidden one in the same
 * folder, .NAME.hhhhhhhhhhhh.  The signal handler knows it before it exists, so that a signal that
 * can be caught leaves nothing; only SIGKILL or a power cut in the moment between linkat(2) and
 * rename(2) leaves it behind.  Where the file system has no files without a name, the hidden name
 * is there from the start. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/identity.h"

/* ---- Hidden names, for the signal handler ---- */

enum { MOST_TEMPORARIES = 16, MOST_ATTEMPTS = 100 };

/* Names that may be on the disk now.  Not malloc'ed: a handler may run in another thread. */
static struct temporary {
    atomic_bool claimed;
    atomic_bool named;
    char name[PATH_MAX];
} temporaries[MOST_TEMPORARIES];

static atomic_bool dying;      /* the handler has removed what there was */
static atomic_bool committing; /* several files are being put in place */

/* A place for a name, or NULL. */
static struct temporary *claim(void)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        bool claimed = false;

        if (atomic_compare_exchange_strong(&temporaries[i].claimed, &claimed, true))
            return &temporaries[i];
    }
    return NULL;
}

static void forget(struct output *output)
{
    for (int i = 0; output->temporary && i < MOST_TEMPORARIES; i++) {
        if (temporaries[i].name == output->temporary) {
            atomic_store(&temporaries[i].named, false);
            atomic_store(&temporaries[i].claimed, false);
        }
    }
    output->temporary = NULL;
}

/* Whether the name is free now. */
static bool is_removed(const char *name)
{
    return unlink(name) == 0 || errno == ENOENT;
}

void output_abort_all_from_signal(void)
{
    atomic_store(&dying, true);
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        if (atomic_load(&temporaries[i].named) && is_removed(temporaries[i].name))
            atomic_store(&temporaries[i].named, false);
    }
}

const char *output_leftover(size_t i)
{
    for (size_t k = 0; k < MOST_TEMPORARIES; k++) {
        if (atomic_load(&temporaries[k].named) && i-- == 0)
            return temporaries[k].name;
    }
    return NULL;
}

bool output_is_committing(void)
{
    return atomic_load(&committing);
}

/* No other process has it: 48 random bits. */
static uint64_t chance(void)
{
    struct timespec time;
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
        clock_gettime(CLOCK_MONOTONIC, &time);
        bits = ((uint64_t)getpid() << 30) + (uint64_t)time.tv_nsec;
    }
    return bits & 0xffffffffffffu;
}

/* Writes a new hidden name beside the target into the place that the output has. */
static bool name_hidden(const struct output *output)
{
    const char *slash = strrchr(output->path, '/'), *name = slash ? slash + 1 : output->path;

    /* Of a long name a part is enough: a name of the file system has 255 bytes at most. */
    return snprintf(output->temporary, PATH_MAX, "%.*s.%.200s.%012llx", (int)(name - output->path),
                    output->path, name, (unsigned long long)chance()) < PATH_MAX;
}

/* Calls make(output), which makes the file or returns -1 with errno set, with one hidden name after
 * another until one is free.  The handler knows each of them before. */
static int make_hidden(struct output *output, int (*make)(const struct output *output))
{
    struct temporary *place = claim();

    if (!place) {
        errno = EMFILE;
        return -1;
    }
    output->temporary = place->name;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        int result;

        atomic_store(&place->named, false);
        errno = ENAMETOOLONG;
        if (!name_hidden(output))
            break;
        atomic_store(&place->named, true);
        while (atomic_load(&dying)) /* the handler may have missed it */
            pause();
        result = make(output);
        if (result >= 0)
            return result;
        if (errno != EEXIST)
            break;
    }
    forget(output);
    return -1;
}

/* ---- Opening ---- */

/* The folder of a path, malloc'ed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* The mode of the file that is replaced, else what the umask leaves of 0666. */
static mode_t target_mode(const char *path)
{
    struct stat status;
    mode_t mask;

    if (stat(path, &status) == 0)
        return status.st_mode & 0777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int open_nameless(const char *folder)
{
#ifdef O_TMPFILE
    /* Without /proc it could not be given a name later. */
    if (access("/proc/self/fd", X_OK) == 0)
        return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
#else
    (void)folder;
#endif
    return -1;
}

static int open_hidden(const struct output *output)
{
    return open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* Opens the file that will take the place of output->path. */
static struct error *open_replacement(struct output *output)
{
    char *folder = folder_of(output->path);
    int descriptor;

    if (!folder)
        return error_memory("a file name");
    descriptor = open_nameless(folder);
    free(folder);
    if (descriptor < 0)
        descriptor = make_hidden(output, open_hidden);
    if (descriptor < 0)
        return error_system(output->path);
    output->stream = fdopen(descriptor, "wb");
    if (!output->stream) {
        struct error *error = error_system(output->path);

        close(descriptor);
        return error;
    }
    return NULL;
}

static struct error *open_special(const char *path, struct output *output)
{
    output->special = strdup(path);
    if (!output->special)
        return error_memory("a file name");
    output->stream = fopen(path, "wbe");
    if (!output->stream) {
        struct error *error = error_system(path);

        output_abort(output);
        return error;
    }
    return NULL;
}

struct error *output_check_standard(void)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);

    if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY)
        return error_make("standard output: not open for writing");
    return NULL;
}

struct error *output_open(const char *path, struct output *output)
{
    struct stat status;
    struct error *error;
    bool exists;

    *output = (struct output){.descriptor = -1};
    if (strcmp(path, "-") == 0) {
        TRY(output_check_standard());
        output->stream = stdout;
        return NULL;
    }
    exists = stat(path, &status) == 0;
    if (!exists && errno != ENOENT)
        return error_system(path);
    if (exists && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return error_system(path);
    }
    if (exists && !S_ISREG(status.st_mode))
        return open_special(path, output);
    /* A file that must not be written must not be replaced either. */
    if (exists && access(path, W_OK) != 0)
        return error_system(path);
    output->path = exists ? realpath(path, NULL) : identity_follow_links(path);
    if (!output->path)
        return error_system(path);
    error = open_replacement(output);
    if (error)
        output_abort(output);
    return error;
}

/* ---- Putting in place ---- */

/* A write that failed before counts too, even if there is room again now. */
static struct error *flush(FILE *stream, const char *shown)
{
    bool failed_before = ferror(stream);

    if (fflush(stream))
        return error_system(shown);
    return failed_before ? error_make("%s: a write failed", shown) : NULL;
}

/* Some file systems tell only a close that there was no room: that of a copy, while somebody can
 * still hear of it. */
static struct error *complete_special(FILE *stream, const char *shown)
{
    int copy;

    TRY(flush(stream, shown));
    copy = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 3);
    return copy < 0 || close(copy) ? error_system(shown) : NULL;
}

/* All data is on the disk; the file keeps a descriptor, but still has no name. */
static struct error *complete(struct output *output)
{
    FILE *stream = output->stream;

    if (!output->path)
        return complete_special(stream, output->special ? output->special : "standard output");
    TRY(flush(stream, output->path));
    if (fchmod(fileno(stream), target_mode(output->path)) || fsync(fileno(stream)))
        return error_system(output->path);
    output->descriptor = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 3);
    if (output->descriptor < 0)
        return error_system(output->path);
    output->stream = NULL;
    return fclose(stream) ? error_system(output->path) : NULL;
}

static int link_to(const struct output *output, const char *name)
{
    char source[64];

    snprintf(source, sizeof source, "/proc/self/fd/%d", output->descriptor);
    return linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int link_hidden(const struct output *output)
{
    return link_to(output, output->temporary);
}

/* Gives a file that has no name a hidden one. */
static struct error *hide(struct output *output)
{
    if (!output->path || output->temporary || make_hidden(output, link_hidden) >= 0)
        return NULL;
    return error_system(output->path);
}

/* The file gets its name in one operation: no reader ever sees a part of it. */
static struct error *take_name(struct output *output)
{
    if (!output->path)
        return NULL;
    if (!output->temporary) {
        if (link_to(output, output->path) == 0)
            return NULL;
        if (errno != EEXIST)
            return error_system(output->path);
        TRY(hide(output));
    }
    if (rename(output->temporary, output->path))
        return error_system(output->path);
    forget(output);
    return NULL;
}

/* Syncs the folder, so that the new name survives a power cut.  Not every file system can. */
static void sync_folder(const struct output *output)
{
    char *folder = output->path ? folder_of(output->path) : NULL;
    int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

static void sync_folders(const struct output *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sync_folder(&outputs[i]);
}

/* Removes the files that are to be replaced. */
static struct error *make_room(struct output *outputs, size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any = any || (outputs[i].path && access(outputs[i].path, F_OK) == 0);
    if (!any)
        return NULL;
    /* What can fail comes first, while all old files still exist. */
    for (size_t i = 0; i < count; i++)
        TRY(hide(&outputs[i]));
    for (size_t i = 0; i < count; i++) {
        if (outputs[i].path && unlink(outputs[i].path) && errno != ENOENT)
            return error_system(outputs[i].path);
    }
    sync_folders(outputs, count);
    return NULL;
}

/* The first file comes last: where it is, all are. */
static struct error *place_all(struct output *outputs, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        struct error *error = take_name(&outputs[i]);

        if (error) {
            for (size_t j = i + 1; j < count; j++) {
                if (outputs[j].path)
                    unlink(outputs[j].path);
            }
            return error;
        }
    }
    return NULL;
}

struct error *output_commit_all(struct output *outputs, size_t count)
{
    struct error *error = NULL;
    size_t files = 0;

    for (size_t i = 0; !error && i < count; i++) {
        error = complete(&outputs[i]);
        files += outputs[i].path != NULL;
    }
    atomic_store(&committing, !error && files > 1);
    if (!error && files > 1)
        error = make_room(outputs, count);
    if (!error)
        error = place_all(outputs, count);
    atomic_store(&committing, false);
    if (!error)
        sync_folders(outputs, count);
    for (size_t i = 0; i < count; i++)
        output_abort(&outputs[i]);
    return error;
}

struct error *output_commit(struct output *output)
{
    return output_commit_all(output, 1);
}

void output_abort(struct output *output)
{
    if (output->stream && output->stream != stdout)
        fclose(output->stream);
    if (output->descriptor >= 0)
        close(output->descriptor);
    if (output->temporary && is_removed(output->temporary))
        forget(output); /* else it stays in the list of what is left */
    free(output->path);
    free(output->special);
    *output = (struct output){.descriptor = -1};
}
