#include "nn/teacher.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "nn/backend_memory.h"
#include "formats/tch.h"

struct error *teacher_new(const struct architecture *architecture, const struct backend *backend,
                          struct teacher *teacher)
{
    memset(teacher, 0, sizeof *teacher);
    TRY(network_new(architecture, backend, &teacher->network));
    teacher->parameters =
        backend->allocate(teacher->network->parameter_count * sizeof *teacher->parameters);
    teacher->buffers = backend->allocate(teacher->network->buffer_count * sizeof *teacher->buffers);
    if (!teacher->parameters || !teacher->buffers) {
        teacher_free(teacher);
        return error_memory("a teacher");
    }
    return NULL;
}

void teacher_free(struct teacher *teacher)
{
    if (teacher->network) {
        teacher->network->backend->release(teacher->parameters);
        teacher->network->backend->release(teacher->buffers);
    }
    network_free(teacher->network);
    free(teacher->notes);
    memset(teacher, 0, sizeof *teacher);
}

static void shape_text(size_t ndim, const size_t *shape, char text[128])
{
    size_t used = (size_t)snprintf(text, 128, "(");

    for (size_t i = 0; i < ndim && used < 100; i++)
        used += (size_t)snprintf(text + used, 128 - used, i ? ", %zu" : "%zu", shape[i]);
    snprintf(text + used, 128 - used, ")");
}

static struct error *check_shape(const struct network_view *view, const struct tch_tensor *tensor)
{
    char expected[128], got[128];

    if (tensor->ndim == view->ndim &&
        memcmp(tensor->shape, view->shape, view->ndim * sizeof *view->shape) == 0)
        return NULL;
    shape_text(view->ndim, view->shape, expected);
    shape_text(tensor->ndim, tensor->shape, got);
    return error_make("tensor %s: expected shape %s, got %s", view->name, expected, got);
}

/* Fills the views of one flat array. */
static struct error *take_views(const struct backend *backend, const struct tch *tch,
                                const struct network_view *views, size_t count, float *values)
{
    for (size_t i = 0; i < count; i++) {
        const struct tch_tensor *tensor = tch_find(tch, views[i].name);

        if (!tensor)
            return error_make("tensor %s is missing", views[i].name);
        TRY(check_shape(&views[i], tensor));
        backend->upload(values + views[i].offset, tensor->values, views[i].count * sizeof *values);
    }
    return NULL;
}

/* A variance below 0 would make everything after it NaN. */
static struct error *check_variances(const struct tch *tch)
{
    for (size_t i = 0; i < tch->count; i++) {
        const struct tch_tensor *tensor = &tch->tensors[i];

        for (size_t k = 0; text_ends_with(tensor->name, ".running_var") && k < tensor->count; k++)
            if (tensor->values[k] < 0)
                return error_make("tensor %s: value %zu is negative: %g", tensor->name, k,
                                  (double)tensor->values[k]);
    }
    return NULL;
}

static struct error *refuse_strangers(const struct network *network, const struct tch *tch)
{
    bool in_buffers;

    for (size_t i = 0; i < tch->count; i++) {
        const char *name = tch->tensors[i].name;

        if (!network_find(network, name, &in_buffers) &&
            !text_ends_with(name, ".num_batches_tracked"))
            return error_make("tensor %s does not belong to the network \"%s\"", name,
                              tch->network);
    }
    return NULL;
}

static struct error *from_tch(struct tch *tch, const struct backend *backend,
                              struct teacher *teacher)
{
    struct architecture architecture;
    const struct network *network;

    TRY(architecture_parse(tch->network, &architecture));
    TRY(teacher_new(&architecture, backend, teacher));
    network = teacher->network;
    TRY(take_views(backend, tch, network->parameters, network->parameter_views,
                   teacher->parameters));
    TRY(take_views(backend, tch, network->buffers, network->buffer_views, teacher->buffers));
    TRY(refuse_strangers(network, tch));
    TRY(check_variances(tch));
    teacher->notes = tch->notes;
    tch->notes = NULL;
    memcpy(teacher->digest, tch->digest, sizeof teacher->digest);
    return NULL;
}

struct error *teacher_read(const char *path, const struct backend *backend, struct teacher *teacher)
{
    struct tch tch;
    struct error *error;

    memset(teacher, 0, sizeof *teacher);
    TRY(tch_read(path, &tch));
    error = from_tch(&tch, backend, teacher);
    tch_free(&tch);
    if (error)
        teacher_free(teacher);
    return error_in(file_shown(path), error);
}

/* Adds tensors for the views, pointing into one host copy of the flat array. */
static size_t add_views(const struct network_view *views, size_t count, float *values,
                        struct tch_tensor *tensors)
{
    for (size_t i = 0; i < count; i++) {
        tensors[i] = (struct tch_tensor){.name = views[i].name,
                                         .ndim = views[i].ndim,
                                         .count = views[i].count,
                                         .values = values + views[i].offset};
        memcpy(tensors[i].shape, views[i].shape, views[i].ndim * sizeof *views[i].shape);
    }
    return count;
}

struct error *teacher_write(FILE *stream, const struct teacher *teacher)
{
    const struct network *network = teacher->network;
    size_t parameters = network->parameter_count, views = network->parameter_views;
    char text[ARCHITECTURE_TEXT];
    struct tch tch = {.network = text, .notes = teacher->notes};
    float *values = malloc((parameters + network->buffer_count) * sizeof *values);
    struct error *error;

    tch.tensors = calloc(views + network->buffer_views, sizeof *tch.tensors);
    if (!values || !tch.tensors) {
        free(values);
        free(tch.tensors);
        return error_memory("a teacher");
    }
    architecture_print(&network->architecture, text);
    error =
        backend_fetch(network->backend, values, teacher->parameters, parameters * sizeof *values);
    if (!error)
        error = backend_fetch(network->backend, values + parameters, teacher->buffers,
                              network->buffer_count * sizeof *values);
    tch.count = add_views(network->parameters, views, values, tch.tensors);
    tch.count += add_views(network->buffers, network->buffer_views, values + parameters,
                           tch.tensors + views);
    if (!error)
        error = tch_write(stream, &tch);
    free(values);
    free(tch.tensors);
    return error;
}
