/* Linux can make a file that has no name yet (O_TMPFILE): killed at any moment, the process leaves
 * nothing behind.  Where the file system cannot, a hidden temporary name is used. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Temporary names that exist on the disk now, for the signal handler. */
enum { MOST_TEMPORARIES = 16, MOST_LINKS = 40 };
static char *volatile temporaries[MOST_TEMPORARIES];

static void remember(char *temporary)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        if (!temporaries[i]) {
            temporaries[i] = temporary;
            return;
        }
    }
}

static void forget(const char *temporary)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        if (temporaries[i] == temporary)
            temporaries[i] = NULL;
    }
}

void output_abort_all_from_signal(void)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        if (temporaries[i])
            unlink(temporaries[i]);
    }
}

/* The folder of a path, malloc'ed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* A name in the target's folder that is not taken: ".NAME.XXXXXX" with X's replaced later. */
static char *temporary_template(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *result;

    if (asprintf(&result, "%.*s.%s.XXXXXX", (int)(name - path), path, name) < 0)
        return NULL;
    return result;
}

/* The mode of the file that is replaced, else what the umask leaves of 0666. */
static mode_t target_mode(const char *path)
{
    struct stat status;
    mode_t mask;

    if (stat(path, &status) == 0)
        return status.st_mode & 07777;
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

/* Opens the file that will take the place of output->path. */
static struct error *open_replacement(struct output *output)
{
    char *folder = folder_of(output->path);
    int descriptor;

    if (!folder)
        return error_memory("a file name");
    descriptor = open_nameless(folder);
    free(folder);
    if (descriptor < 0) {
        output->temporary = temporary_template(output->path);
        if (!output->temporary)
            return error_memory("a file name");
        descriptor = mkostemp(output->temporary, O_CLOEXEC);
        if (descriptor < 0) {
            free(output->temporary);
            output->temporary = NULL;
            return error_system(output->path);
        }
        remember(output->temporary);
    }
    output->stream = fdopen(descriptor, "wb");
    if (!output->stream) {
        close(descriptor);
        return error_system(output->path);
    }
    return NULL;
}

/* The file that a path stands for which is not there yet, malloc'ed: that which a link leads to. */
static char *follow_links(const char *path)
{
    char *target = strdup(path), link[PATH_MAX];

    for (int links = 0; target && links < MOST_LINKS; links++) {
        const char *slash = strrchr(target, '/');
        ssize_t length = readlink(target, link, sizeof link);
        char *next;

        if (length < 0 || (size_t)length == sizeof link)
            break;
        if (asprintf(&next, "%.*s%.*s", slash && link[0] != '/' ? (int)(slash + 1 - target) : 0,
                     target, (int)length, link) < 0)
            next = NULL;
        free(target);
        target = next;
    }
    return target;
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

struct error *output_open(const char *path, struct output *output)
{
    struct stat status;
    struct error *error;
    bool exists;

    memset(output, 0, sizeof *output);
    if (strcmp(path, "-") == 0) {
        output->stream = stdout;
        return NULL;
    }
    exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return error_system(path);
    }
    if (exists && !S_ISREG(status.st_mode))
        return open_special(path, output);
    /* A file that must not be written must not be replaced either. */
    if (exists && access(path, W_OK) != 0)
        return error_system(path);
    output->path = exists ? realpath(path, NULL) : follow_links(path);
    if (!output->path)
        return error_system(path);
    error = open_replacement(output);
    if (error)
        output_abort(output);
    return error;
}

/* Gives a nameless file a temporary name beside the target. */
static struct error *give_name(struct output *output)
{
    char source[64], *template = temporary_template(output->path);

    if (!template)
        return error_memory("a file name");
    snprintf(source, sizeof source, "/proc/self/fd/%d", fileno(output->stream));
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(template + strlen(template) - 6, 7, "%06x",
                 ((unsigned)getpid() * 1000 + attempt) & 0xffffffu);
        if (linkat(AT_FDCWD, source, AT_FDCWD, template, AT_SYMLINK_FOLLOW) == 0) {
            output->temporary = template;
            remember(template);
            return NULL;
        }
        if (errno != EEXIST)
            break;
    }
    free(template);
    return error_system(output->path);
}

/* Syncs the folder, so that the new name survives a power cut.  Not every file system can. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

/* A write that failed before counts too, even if there is room again now. */
static struct error *flush(FILE *stream, const char *shown)
{
    bool failed_before = ferror(stream);

    if (fflush(stream))
        return error_system(shown);
    return failed_before ? error_make("%s: a write failed", shown) : NULL;
}

static struct error *put_in_place(struct output *output)
{
    FILE *stream = output->stream;

    TRY(flush(stream, output->path));
    if (fchmod(fileno(stream), target_mode(output->path)) || fsync(fileno(stream)))
        return error_system(output->path);
    if (!output->temporary)
        TRY(give_name(output));
    output->stream = NULL;
    if (fclose(stream) || rename(output->temporary, output->path))
        return error_system(output->path);
    forget(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    sync_folder(output->path);
    return NULL;
}

struct error *output_commit(struct output *output)
{
    struct error *error = NULL;

    if (output->path)
        error = put_in_place(output);
    else
        error = flush(output->stream, output->special ? output->special : "standard output");
    output_abort(output);
    return error;
}

void output_abort(struct output *output)
{
    if (output->stream && output->stream != stdout)
        fclose(output->stream);
    if (output->temporary) {
        unlink(output->temporary);
        forget(output->temporary);
        free(output->temporary);
    }
    free(output->path);
    free(output->special);
    memset(output, 0, sizeof *output);
}
