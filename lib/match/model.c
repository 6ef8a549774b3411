#include "match/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/spectrum.h"
#include "nn/backend.h"
#include "nn/backend_memory.h"

/* Inputs and outputs of a tower on a device that has memory of its own. */
struct copies {
    float *x, *dx, *parameters, *buffers, *gradient, *direction, *dlogits, *dembedding;
    float *logits, *rlogits, *embedding; /* host memory */
};

struct model_run {
    const struct model *model;
    size_t most, count;
    struct pass *passes[MODEL_TOWERS];
    struct copies copies[MODEL_TOWERS];
    struct spectrum *spectrum;
    float *spectra, *dspectra; /* (N, C, L) of two towers */
    float *logits, *rlogits;   /* (N, V), the sums of both */
    float *dlogits, *rdlogits; /* (N, V), of the loss */
    float *dembedding;         /* (N, one tower's embedding) */
    const float *seen;         /* the logits that the last model_loss was of */
};

/* ---- Models ---- */

struct error *model_new(const struct architecture *architecture, bool two_towers,
                        struct model *model)
{
    return model_new_on(architecture, two_towers, NULL, model);
}

static struct error *make_networks(const struct backend *backend, struct model *model)
{
    TRY(network_new(&model->architecture, backend ? backend : backend_cpu(), &model->network));
    if (model->network->backend->host_memory)
        model->described = model->network;
    else
        TRY(network_new(&model->architecture, backend_cpu(), &model->described));
    return NULL;
}

struct error *model_new_on(const struct architecture *architecture, bool two_towers,
                           const struct backend *backend, struct model *model)
{
    struct error *error;

    *model = (struct model){.architecture = *architecture, .towers = two_towers ? 2 : 1};
    if (two_towers && architecture->features)
        return error_make("network: two towers take no shapelet features");
    error = make_networks(backend, model);
    if (error) {
        model_free(model);
        return error;
    }
    model->parameter_count = model->towers * model->network->parameter_count;
    model->buffer_count = model->towers * model->network->buffer_count;
    model->embedding = model->towers * model->network->embedding;
    return NULL;
}

void model_free(struct model *model)
{
    if (model->described != model->network)
        network_free(model->described);
    network_free(model->network);
    model->network = model->described = NULL;
}

static const struct network_view *last_layer(const struct network *network, const char *name)
{
    bool in_buffers;

    return network_find(network, name, &in_buffers);
}

static void scale_view(const struct network_view *view, float factor, float *parameters)
{
    for (size_t i = 0; i < view->count; i++)
        parameters[view->offset + i] *= factor;
}

void model_initialise(const struct model *model, uint64_t seed, uint64_t index, float *parameters,
                      float *buffers)
{
    const struct network *network = model->described;
    const struct network_view *weight = last_layer(network, "classifier.weight");
    const struct network_view *bias = last_layer(network, "classifier.bias");
    float share = (float)sqrt(1.0 / (double)model->towers);

    for (size_t tower = 0; tower < model->towers; tower++) {
        float *own = parameters + tower * network->parameter_count;

        network_initialise(network, seed, model->towers * index + tower, own,
                           buffers ? buffers + tower * network->buffer_count : NULL);
        scale_view(weight, share, own);
        scale_view(bias, tower == 0 ? share : 0, own);
    }
}

/* ---- Copies ---- */

static const struct backend *backend_of(const struct model_run *run)
{
    return run->model->network->backend;
}

static struct error *make_copies(const struct model_run *run, struct copies *c)
{
    const struct network *network = run->model->network;
    const struct backend *backend = network->backend;
    size_t series = run->most * architecture_series_size(&network->architecture);
    size_t logits = run->most * network->architecture.classes;
    size_t embedding = run->most * network->embedding;

    c->x = backend->allocate(series * sizeof *c->x);
    c->dx = backend->allocate(series * sizeof *c->dx);
    c->parameters = backend->allocate(network->parameter_count * sizeof *c->parameters);
    c->buffers = backend->allocate((network->buffer_count + 1) * sizeof *c->buffers);
    c->gradient = backend->allocate(network->parameter_count * sizeof *c->gradient);
    c->direction = backend->allocate(network->parameter_count * sizeof *c->direction);
    c->dlogits = backend->allocate(logits * sizeof *c->dlogits);
    c->dembedding = backend->allocate(embedding * sizeof *c->dembedding);
    c->logits = calloc(logits, sizeof *c->logits);
    c->rlogits = calloc(logits, sizeof *c->rlogits);
    c->embedding = calloc(embedding, sizeof *c->embedding);
    if (!c->x || !c->dx || !c->parameters || !c->buffers || !c->gradient || !c->direction ||
        !c->dlogits || !c->dembedding || !c->logits || !c->rlogits || !c->embedding)
        return error_memory("a batch on the device");
    return NULL;
}

static void free_copies(const struct backend *backend, struct copies *c)
{
    float *const memory[] = {c->x,        c->dx,        c->parameters, c->buffers,
                             c->gradient, c->direction, c->dlogits,    c->dembedding};

    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        backend->release(memory[i]);
    free(c->logits);
    free(c->rlogits);
    free(c->embedding);
}

/* An array of the host for the device: itself, or its copy. */
static const float *to_device(const struct model_run *run, const float *host, float *copy,
                              size_t count)
{
    return backend_input(backend_of(run), host, copy, count * sizeof *copy);
}

/* Where the device writes an output for the host; then copies it there. */
static float *device_output(const struct model_run *run, float *host, float *copy)
{
    return backend_output(backend_of(run), host, copy);
}

static void to_host(const struct model_run *run, float *host, const float *copy, size_t count)
{
    backend_readback(backend_of(run), host, copy, count * sizeof *host);
}

/* An array of the device for the host: itself, or its copy. */
static const float *on_host(const struct model_run *run, const float *memory, float *copy,
                            size_t count)
{
    if (backend_of(run)->host_memory)
        return memory;
    to_host(run, copy, memory, count);
    return copy;
}

/* ---- Runs ---- */

static struct error *make_towers(struct model_run *run)
{
    const struct architecture *a = &run->model->architecture;
    size_t floats = run->most * architecture_series_size(a);

    TRY(spectrum_new(a->length, &run->spectrum));
    run->spectra = calloc(floats, sizeof *run->spectra);
    run->dspectra = calloc(floats, sizeof *run->dspectra);
    run->dembedding = calloc(run->most * run->model->network->embedding, sizeof *run->dembedding);
    if (!run->spectra || !run->dspectra || !run->dembedding)
        return error_memory("spectra");
    return NULL;
}

static struct error *make_run(unsigned flags, struct model_run *run)
{
    size_t logits = run->most * run->model->architecture.classes;

    for (size_t tower = 0; tower < run->model->towers; tower++) {
        TRY(pass_new(run->model->network, run->most, flags, &run->passes[tower]));
        pass_share(run->passes[tower], run->model->cluster);
    }
    for (size_t tower = 0; tower < run->model->towers && !backend_of(run)->host_memory; tower++)
        TRY(make_copies(run, &run->copies[tower]));
    run->logits = calloc(logits, sizeof *run->logits);
    run->rlogits = calloc(logits, sizeof *run->rlogits);
    run->dlogits = calloc(logits, sizeof *run->dlogits);
    run->rdlogits = calloc(logits, sizeof *run->rdlogits);
    if (!run->logits || !run->rlogits || !run->dlogits || !run->rdlogits)
        return error_memory("a batch");
    return run->model->towers > 1 ? make_towers(run) : NULL;
}

struct error *model_run_new(const struct model *model, size_t most_samples, unsigned flags,
                            struct model_run **result)
{
    struct model_run *run = calloc(1, sizeof *run);
    struct error *error;

    if (!run)
        return error_memory("a batch");
    run->model = model;
    run->most = most_samples;
    error = make_run(flags, run);
    if (error) {
        model_run_free(run);
        return error;
    }
    *result = run;
    return NULL;
}

void model_run_free(struct model_run *run)
{
    if (!run)
        return;
    for (size_t tower = 0; tower < MODEL_TOWERS; tower++) {
        pass_free(run->passes[tower]);
        free_copies(backend_of(run), &run->copies[tower]);
    }
    spectrum_free(run->spectrum);
    free(run->spectra);
    free(run->dspectra);
    free(run->logits);
    free(run->rlogits);
    free(run->dlogits);
    free(run->rdlogits);
    free(run->dembedding);
    free(run);
}

static size_t rows_of(const struct model_run *run)
{
    return run->count * run->model->architecture.channels;
}

static size_t series_of(const struct model_run *run)
{
    return rows_of(run) * run->model->architecture.length;
}

static size_t logits_of(const struct model_run *run)
{
    return run->count * run->model->architecture.classes;
}

/* The sum of the logits of the towers, in `sum` if there are two. */
static const float *add_towers(const struct model_run *run, const float *const parts[MODEL_TOWERS],
                               float *sum)
{
    size_t count = logits_of(run);

    if (run->model->towers == 1)
        return parts[0];
    for (size_t i = 0; i < count; i++)
        sum[i] = parts[0][i] + parts[1][i];
    return sum;
}

const float *model_forward(struct model_run *run, const struct model_batch *batch)
{
    const struct network *network = run->model->network;
    const float *parts[MODEL_TOWERS] = {NULL};

    run->count = batch->count;
    if (run->model->towers > 1)
        spectrum_forward(run->spectrum, rows_of(run), batch->x, run->spectra);
    for (size_t tower = 0; tower < run->model->towers; tower++) {
        struct copies *copies = &run->copies[tower];
        float *buffers = batch->buffers ? batch->buffers + tower * network->buffer_count : NULL;
        struct forward forward = {
            .count = batch->count,
            .x = to_device(run, tower == 0 ? batch->x : run->spectra, copies->x, series_of(run)),
            .parameters = to_device(run, batch->parameters + tower * network->parameter_count,
                                    copies->parameters, network->parameter_count),
            .buffers = device_output(run, buffers, copies->buffers),
            .same_parameters = batch->same_parameters,
            .training = batch->training,
            .momentum = batch->momentum,
            .dropout = batch->dropout};

        to_device(run, buffers, copies->buffers, network->buffer_count);
        parts[tower] = on_host(run, pass_forward(run->passes[tower], &forward), copies->logits,
                               logits_of(run));
        if (batch->training && batch->momentum > 0)
            to_host(run, buffers, copies->buffers, network->buffer_count);
    }
    return add_towers(run, parts, run->logits);
}

void model_embedding(const struct model_run *run, float *embedding)
{
    size_t own = run->model->network->embedding, all = run->model->embedding;

    for (size_t tower = 0; tower < run->model->towers; tower++) {
        const float *from = on_host(run, pass_embedding(run->passes[tower]),
                                    run->copies[tower].embedding, run->count * own);

        for (size_t n = 0; n < run->count; n++)
            memcpy(embedding + n * all + tower * own, from + n * own, own * sizeof *from);
    }
}

/* The tower's part of the gradient of the embedding. */
static const float *own_embedding(const struct model_run *run, size_t tower,
                                  const float *dembedding)
{
    size_t own = run->model->network->embedding, all = run->model->embedding;

    if (!dembedding || run->model->towers == 1)
        return dembedding;
    for (size_t n = 0; n < run->count; n++)
        memcpy(run->dembedding + n * own, dembedding + n * all + tower * own,
               own * sizeof *dembedding);
    return run->dembedding;
}

typedef void backward_function(struct pass *pass, const struct backward *backward);

static void run_backward(struct model_run *run, backward_function *function, const float *dlogits,
                         const float *dembedding, float *dparameters, float *dx)
{
    const struct network *network = run->model->network;

    for (size_t tower = 0; tower < run->model->towers; tower++) {
        struct copies *copies = &run->copies[tower];
        float *own = dparameters ? dparameters + tower * network->parameter_count : NULL;
        float *own_dx = !dx || tower == 0 ? dx : run->dspectra;
        struct backward backward = {
            .logits = to_device(run, dlogits, copies->dlogits, logits_of(run)),
            .embedding = to_device(run, own_embedding(run, tower, dembedding), copies->dembedding,
                                   run->count * network->embedding),
            .parameters = device_output(run, own, copies->gradient),
            .x = device_output(run, own_dx, copies->dx)};

        function(run->passes[tower], &backward);
        to_host(run, own, copies->gradient, network->parameter_count);
        to_host(run, own_dx, copies->dx, series_of(run));
        if (own && tower > 0)
            scale_view(last_layer(network, "classifier.bias"), 0, own);
    }
    if (dx && run->model->towers > 1)
        spectrum_adjoint(run->spectrum, rows_of(run), run->dspectra, dx);
}

void model_backward(struct model_run *run, const float *dlogits, const float *dembedding,
                    float *dparameters, float *dx)
{
    run_backward(run, pass_backward, dlogits, dembedding, dparameters, dx);
}

/* R{logits} along a direction of the parameters. */
static const float *tangent_forward(struct model_run *run, const float *direction)
{
    const struct network *network = run->model->network;
    const float *parts[MODEL_TOWERS] = {NULL};

    for (size_t tower = 0; tower < run->model->towers; tower++) {
        struct copies *copies = &run->copies[tower];
        struct tangent tangent = {.parameters =
                                      to_device(run, direction + tower * network->parameter_count,
                                                copies->direction, network->parameter_count)};

        parts[tower] = on_host(run, pass_tangent_forward(run->passes[tower], &tangent),
                               copies->rlogits, logits_of(run));
    }
    return add_towers(run, parts, run->rlogits);
}

/* ---- Losses ---- */

double model_loss(struct model_run *run, const struct model_batch *batch, const struct loss *loss,
                  const struct targets *targets, float *dparameters, float *dx)
{
    bool gradient = dparameters || dx;
    double value;

    run->seen = model_forward(run, batch);
    value = loss_value(loss, batch->count, run->model->architecture.classes, run->seen, targets,
                       gradient ? run->dlogits : NULL, NULL);
    if (gradient)
        model_backward(run, run->dlogits, NULL, dparameters, dx);
    return value;
}

void model_second(struct model_run *run, const struct loss *loss, const struct targets *targets,
                  const float *v, float *rparameters, float *rx, float *rtargets)
{
    const float *rlogits = tangent_forward(run, v);

    loss_tangent(loss, run->count, run->model->architecture.classes, run->seen, targets, rlogits,
                 NULL, run->rdlogits, rtargets);
    run_backward(run, pass_tangent_backward, run->rdlogits, NULL, rparameters, rx);
}
