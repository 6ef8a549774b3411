#include "nn/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nn/memory.h"
#include "output.h"

enum { NOTE = CHECKPOINT_PROGRESS + 128 };

void checkpoint_add(struct checkpoint *checkpoint, const char *name, float *values, size_t count)
{
    if (!values || !count)
        return;
    if (checkpoint->count < CHECKPOINT_ARRAYS)
        checkpoint->arrays[checkpoint->count] = (struct tch_tensor){
            .name = name, .ndim = 1, .shape = {count}, .count = count, .values = values};
    checkpoint->count++;
}

static struct error *check_room(const struct checkpoint *checkpoint)
{
    if (checkpoint->count <= CHECKPOINT_ARRAYS)
        return NULL;
    return error_make("a checkpoint of a %s has room for %d arrays, not for %zu", checkpoint->kind,
                      CHECKPOINT_ARRAYS, checkpoint->count);
}

/* The arrays are memory of the backend; tensors of host memory take their place. */
static void host_free(const struct backend *backend, size_t count, struct tch_tensor *tensors)
{
    for (size_t i = 0; !backend->host_memory && i < count; i++)
        free(tensors[i].values);
}

static struct error *host_copies(const struct backend *backend, size_t count,
                                 struct tch_tensor *tensors)
{
    for (size_t i = 0; !backend->host_memory && i < count; i++) {
        size_t bytes = tensors[i].count * sizeof *tensors[i].values;
        float *host = malloc(bytes);

        if (host)
            backend->download(host, tensors[i].values, bytes);
        tensors[i].values = host;
    }
    for (size_t i = 0; i < count; i++)
        if (!tensors[i].values) {
            host_free(backend, count, tensors);
            return error_memory("a checkpoint");
        }
    return backend_check(backend);
}

static struct error *write_stream(FILE *stream, const struct checkpoint *checkpoint,
                                  const char *progress)
{
    const struct backend *backend = checkpoint->backend;
    struct tch_tensor tensors[CHECKPOINT_ARRAYS];
    char note[NOTE];
    struct tch tch = {.network = checkpoint->network,
                      .notes = note,
                      .count = checkpoint->count,
                      .tensors = tensors};
    struct error *error;

    snprintf(note, sizeof note, "%s %s %s", checkpoint->kind, checkpoint->fingerprint, progress);
    memcpy(tensors, checkpoint->arrays, sizeof tensors);
    TRY(host_copies(backend, tch.count, tensors));
    error = tch_write(stream, &tch);
    host_free(backend, tch.count, tensors);
    return error;
}

struct error *checkpoint_write(const char *path, const struct checkpoint *checkpoint,
                               const char *progress)
{
    struct output output;
    struct error *error;

    TRY(check_room(checkpoint));
    TRY(output_open(path, &output));
    error = write_stream(output.stream, checkpoint, progress);
    if (error) {
        output_abort(&output);
        return error_in(path, error);
    }
    return output_commit(&output);
}

static struct error *strange(const struct checkpoint *checkpoint)
{
    return error_make("not a checkpoint of a %s", checkpoint->kind);
}

struct error *checkpoint_strange(const char *path, const struct checkpoint *checkpoint)
{
    return error_in(path, strange(checkpoint));
}

static struct error *take_note(const char *note, const struct checkpoint *checkpoint,
                               char progress[CHECKPOINT_PROGRESS])
{
    char kind[32], fingerprint[64];
    int read = 0;

    if (!note || sscanf(note, "%31s %63s %n", kind, fingerprint, &read) != 2 || !read ||
        strcmp(kind, checkpoint->kind) != 0)
        return strange(checkpoint);
    if (strcmp(fingerprint, checkpoint->fingerprint) != 0)
        return error_make("belongs to a %s with other data or options: remove it to start from the "
                          "beginning",
                          checkpoint->kind);
    snprintf(progress, CHECKPOINT_PROGRESS, "%s", note + read);
    return NULL;
}

static struct error *take_arrays(const struct tch *tch, const struct checkpoint *checkpoint)
{
    for (size_t i = 0; i < checkpoint->count; i++) {
        const struct tch_tensor *array = &checkpoint->arrays[i];
        const struct tch_tensor *stored = tch_find(tch, array->name);

        if (!stored || stored->count != array->count)
            return error_make("%s is missing or has the wrong size", array->name);
        checkpoint->backend->upload(array->values, stored->values,
                                    stored->count * sizeof *stored->values);
    }
    return NULL;
}

struct error *checkpoint_look(const char *path, bool *found)
{
    struct stat status;

    *found = stat(path, &status) == 0;
    if (!*found && errno != ENOENT)
        return error_system(path);
    if (*found ? !S_ISREG(status.st_mode) : strcmp(path, "-") == 0)
        return error_make("%s: a checkpoint is a regular file", path);
    return NULL;
}

struct error *checkpoint_read(const char *path, const struct checkpoint *checkpoint,
                              char progress[CHECKPOINT_PROGRESS], bool *found)
{
    struct tch tch;
    struct error *error;

    TRY(check_room(checkpoint));
    TRY(checkpoint_look(path, found));
    if (!*found)
        return NULL;
    TRY(tch_read(path, &tch));
    error = take_note(tch.notes, checkpoint, progress);
    if (!error)
        error = take_arrays(&tch, checkpoint);
    tch_free(&tch);
    return error_in(path, error);
}
