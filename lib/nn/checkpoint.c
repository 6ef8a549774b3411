#include "nn/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/computed_by.h"
#include "formats/ckpt.h"
#include "base/memory_stream.h"
#include "nn/backend_memory.h"

#ifndef SHAPECOND_VERSION /* the Makefile's */
#define SHAPECOND_VERSION "of an unknown version"
#endif

void checkpoint_add(struct checkpoint *checkpoint, const char *name, float *values, size_t count)
{
    if (!values || !count)
        return;
    if (checkpoint->count < CHECKPOINT_ARRAYS)
        checkpoint->arrays[checkpoint->count] = (struct checkpoint_array){name, values, count};
    checkpoint->count++;
}

static struct error *check_room(const struct checkpoint *checkpoint)
{
    if (checkpoint->count <= CHECKPOINT_ARRAYS)
        return NULL;
    return error_make("a checkpoint of a %s has room for %d arrays, not for %zu", checkpoint->kind,
                      CHECKPOINT_ARRAYS, checkpoint->count);
}

/* The arrays are memory of the backend; copies in host memory take their place. */
static void host_free(const struct backend *backend, size_t count, struct checkpoint_array *arrays)
{
    for (size_t i = 0; !backend->host_memory && i < count; i++)
        free(arrays[i].values);
}

static struct error *host_copies(const struct backend *backend, size_t count,
                                 struct checkpoint_array *arrays)
{
    struct error *error;

    for (size_t i = 0; !backend->host_memory && i < count; i++) {
        size_t bytes = arrays[i].count * sizeof *arrays[i].values;
        float *host = malloc(bytes);

        if (host)
            backend->download(host, arrays[i].values, bytes);
        arrays[i].values = host;
    }
    error = backend_check(backend);
    for (size_t i = 0; !error && i < count; i++)
        if (!arrays[i].values)
            error = error_memory("a checkpoint");
    if (error)
        host_free(backend, count, arrays);
    return error;
}

/* What follows the progress, which says what the arrays are. */
static struct error *write_layout(const struct checkpoint *checkpoint, struct memory_stream *layout)
{
    TRY(memory_stream_open("a checkpoint", layout));
    fprintf(layout->stream, "network %s\n", checkpoint->network);
    for (size_t i = 0; i < checkpoint->count; i++)
        fprintf(layout->stream, "array %s %zu\n", checkpoint->arrays[i].name,
                checkpoint->arrays[i].count);
    fputs("end\n", layout->stream);
    return memory_stream_close(layout);
}

/* Runs that keep checkpoints have no results that depend on OpenBLAS: computed_by() does not change
 * in the middle of them. */
void checkpoint_computed_by(const struct backend *backend, char text[CHECKPOINT_BY])
{
    snprintf(text, CHECKPOINT_BY, "shapecond %s, %s%s%s", SHAPECOND_VERSION, computed_by(),
             backend->host_memory ? "" : ", ", backend->host_memory ? "" : backend->name);
}

static struct ckpt_run run_of(const struct checkpoint *checkpoint, char by[CHECKPOINT_BY])
{
    checkpoint_computed_by(checkpoint->worker ? checkpoint->worker : checkpoint->backend, by);
    return (struct ckpt_run){checkpoint->kind, checkpoint->fingerprint, by};
}

/* ---- Writing ---- */

static struct error *write_parts(const char *path, const struct checkpoint *checkpoint,
                                 const char *progress, const struct memory_stream *layout)
{
    struct checkpoint_array arrays[CHECKPOINT_ARRAYS];
    struct ckpt_part parts[CHECKPOINT_ARRAYS + 3] = {
        {progress, strlen(progress)}, {"\n", 1}, {layout->bytes, layout->size}};
    char by[CHECKPOINT_BY];
    struct ckpt_run run = run_of(checkpoint, by);
    struct error *error;

    memcpy(arrays, checkpoint->arrays, sizeof arrays);
    TRY(host_copies(checkpoint->backend, checkpoint->count, arrays));
    for (size_t i = 0; i < checkpoint->count; i++)
        parts[3 + i] = (struct ckpt_part){arrays[i].values, arrays[i].count * sizeof(float)};
    error = ckpt_write(path, &run, parts, 3 + checkpoint->count);
    host_free(checkpoint->backend, checkpoint->count, arrays);
    return error;
}

struct error *checkpoint_write(const char *path, const struct checkpoint *checkpoint,
                               const char *progress)
{
    struct memory_stream layout;
    struct error *error;

    if (cluster_rank(checkpoint->cluster) > 0)
        return NULL;
    TRY(check_room(checkpoint));
    TRY(write_layout(checkpoint, &layout));
    error = write_parts(path, checkpoint, progress, &layout);
    memory_stream_free(&layout);
    return error;
}

/* ---- Reading ---- */

struct error *checkpoint_strange(const char *path, const struct checkpoint *checkpoint)
{
    return error_make("%s: a checkpoint of a %s, but not as this program writes it: remove it to "
                      "start from the beginning",
                      path, checkpoint->kind);
}

/* Whether the state is of that layout; then progress and arrays are taken from it. */
static bool take_state(const struct checkpoint *checkpoint, const unsigned char *state, size_t size,
                       const struct memory_stream *layout, char progress[CHECKPOINT_PROGRESS])
{
    const unsigned char *end = memchr(state, '\n', size), *next;
    size_t length = end ? (size_t)(end - state) : 0, bytes = 0;

    for (size_t i = 0; i < checkpoint->count; i++)
        bytes += checkpoint->arrays[i].count * sizeof(float);
    if (!end || length >= CHECKPOINT_PROGRESS || size != length + 1 + layout->size + bytes ||
        memcmp(end + 1, layout->bytes, layout->size) != 0)
        return false;
    memcpy(progress, state, length);
    progress[length] = '\0';
    next = end + 1 + layout->size;
    for (size_t i = 0; i < checkpoint->count; i++) {
        const struct checkpoint_array *array = &checkpoint->arrays[i];

        checkpoint->backend->upload(array->values, next, array->count * sizeof(float));
        next += array->count * sizeof(float);
    }
    return true;
}

static struct error *read_state(const char *path, const struct checkpoint *checkpoint,
                                unsigned char **state, size_t *size)
{
    char by[CHECKPOINT_BY];
    struct ckpt_run run = run_of(checkpoint, by);

    return ckpt_read(path, &run, state, size);
}

static struct error *read_file(const char *path, const struct checkpoint *checkpoint,
                               char progress[CHECKPOINT_PROGRESS], bool *found)
{
    struct memory_stream layout;
    unsigned char *state;
    size_t size;
    struct error *error;

    TRY(check_room(checkpoint));
    TRY(read_state(path, checkpoint, &state, &size));
    *found = state != NULL;
    if (!state)
        return NULL;
    error = write_layout(checkpoint, &layout);
    if (!error && !take_state(checkpoint, state, size, &layout, progress))
        error = checkpoint_strange(path, checkpoint);
    memory_stream_free(&layout);
    free(state);
    return error;
}

/* What rank 0 has read, to all. */
static struct error *share_arrays(const struct checkpoint *checkpoint)
{
    const struct backend *backend = checkpoint->backend;
    struct checkpoint_array arrays[CHECKPOINT_ARRAYS];
    struct error *error = NULL;

    memcpy(arrays, checkpoint->arrays, sizeof arrays);
    TRY(host_copies(backend, checkpoint->count, arrays));
    for (size_t i = 0; !error && i < checkpoint->count; i++) {
        size_t bytes = arrays[i].count * sizeof *arrays[i].values;

        error = cluster_broadcast(checkpoint->cluster, arrays[i].values, bytes);
        if (!error && !backend->host_memory)
            backend->upload(checkpoint->arrays[i].values, arrays[i].values, bytes);
    }
    host_free(backend, checkpoint->count, arrays);
    return error;
}

struct error *checkpoint_read(const char *path, const struct checkpoint *checkpoint,
                              char progress[CHECKPOINT_PROGRESS], bool *found)
{
    *found = false;
    if (cluster_rank(checkpoint->cluster) == 0)
        TRY(read_file(path, checkpoint, progress, found));
    TRY(cluster_broadcast(checkpoint->cluster, found, sizeof *found));
    if (!*found || !checkpoint->cluster)
        return NULL;
    TRY(cluster_broadcast(checkpoint->cluster, progress, CHECKPOINT_PROGRESS));
    return share_arrays(checkpoint);
}
