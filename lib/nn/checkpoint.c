#include "nn/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nn/memory.h"
#include "output.h"
#include "tch.h"

enum { ARRAYS = 6, NOTE = 512 };

/* The arrays, in the order of the file; those of no length are left out. */
static size_t arrays_of(const struct checkpoint *c, struct tch_tensor tensors[ARRAYS])
{
    size_t parameters = c->network->parameter_count, buffers = c->network->buffer_count, count = 0;
    const struct tch_tensor all[ARRAYS] = {
        {.name = "parameters", .count = parameters, .values = c->parameters},
        {.name = "buffers", .count = buffers, .values = c->buffers},
        {.name = "best.parameters", .count = parameters, .values = c->best_parameters},
        {.name = "best.buffers", .count = buffers, .values = c->best_buffers},
        {.name = "optimiser.first", .count = parameters, .values = c->optimiser->first},
        {.name = "optimiser.second", .count = parameters, .values = c->optimiser->second},
    };

    for (size_t i = 0; i < ARRAYS; i++)
        if (all[i].values && all[i].count) {
            tensors[count] = all[i];
            tensors[count].ndim = 1;
            tensors[count++].shape[0] = all[i].count;
        }
    return count;
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

/* Doubles as C's hexadecimal numbers, so that nothing is lost. */
static const char note_format[] = "training %s epoch=%zu steps=%zu best=%zu loss=%a %a %a";

static struct error *write_stream(FILE *stream, const struct checkpoint *c)
{
    char text[ARCHITECTURE_TEXT], note[NOTE];
    struct tch_tensor tensors[ARRAYS];
    struct tch tch = {.network = text, .notes = note, .tensors = tensors};
    struct error *error;

    architecture_print(&c->network->architecture, text);
    snprintf(note, sizeof note, note_format, c->fingerprint, c->epoch, c->optimiser->steps,
             c->best.best_epoch, c->best.loss, c->best.validation_loss,
             c->best.validation_accuracy);
    tch.count = arrays_of(c, tensors);
    TRY(host_copies(c->network->backend, tch.count, tensors));
    error = tch_write(stream, &tch);
    host_free(c->network->backend, tch.count, tensors);
    return error;
}

struct error *checkpoint_write(const char *path, const struct checkpoint *checkpoint)
{
    struct output output;
    struct error *error;

    TRY(output_open(path, &output));
    error = write_stream(output.stream, checkpoint);
    if (error) {
        output_abort(&output);
        return error_in(path, error);
    }
    return output_commit(&output);
}

static struct error *take_note(const char *note, struct checkpoint *c)
{
    char fingerprint[64];
    struct train_result *best = &c->best;

    if (!note || sscanf(note, "training %63s epoch=%zu steps=%zu best=%zu loss=%la %la %la",
                        fingerprint, &c->epoch, &c->optimiser->steps, &best->best_epoch,
                        &best->loss, &best->validation_loss, &best->validation_accuracy) != 7)
        return error_make("not a checkpoint of a training");
    if (strcmp(fingerprint, c->fingerprint) != 0)
        return error_make("belongs to a training with other data or options: remove it to start "
                          "from the beginning");
    return NULL;
}

static struct error *take_arrays(const struct tch *tch, const struct checkpoint *c)
{
    struct tch_tensor tensors[ARRAYS];
    size_t count = arrays_of(c, tensors);

    for (size_t i = 0; i < count; i++) {
        const struct tch_tensor *stored = tch_find(tch, tensors[i].name);

        if (!stored || stored->count != tensors[i].count)
            return error_make("%s is missing or has the wrong size", tensors[i].name);
        c->network->backend->upload(tensors[i].values, stored->values,
                                    stored->count * sizeof *stored->values);
    }
    return NULL;
}

struct error *checkpoint_read(const char *path, struct checkpoint *checkpoint, bool *found)
{
    struct tch tch;
    struct error *error;

    *found = access(path, F_OK) == 0;
    if (!*found)
        return NULL;
    TRY(tch_read(path, &tch));
    error = take_note(tch.notes, checkpoint);
    if (!error)
        error = take_arrays(&tch, checkpoint);
    tch_free(&tch);
    return error_in(path, error);
}
