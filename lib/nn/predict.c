#include "nn/predict.h"

#include <math.h>

#include "nn/backend_memory.h"

/* The part of a dataset that starts at a series. */
static struct tensor_dataset part_of(const struct network *network,
                                     const struct tensor_dataset *data, size_t first, size_t most)
{
    size_t features = network->architecture.features, classes = network->architecture.classes;
    size_t left = data->count - first;

    return (struct tensor_dataset){
        .count = left < most ? left : most,
        .x = data->x + first * architecture_series_size(&network->architecture),
        .features = data->features ? data->features + first * features : NULL,
        .labels = data->labels ? data->labels + first : NULL,
        .targets = data->targets ? data->targets + first * classes : NULL};
}

/* Logits of a part, by the running statistics. */
static const float *run_part(struct pass *pass, const float *parameters, float *buffers,
                             const struct tensor_dataset *part, bool same)
{
    struct forward forward = {.count = part->count,
                              .x = part->x,
                              .features = part->features,
                              .parameters = parameters,
                              .buffers = buffers,
                              .same_parameters = same};

    return pass_forward(pass, &forward);
}

/* Buffers for parts of a dataset on a device with memory of its own: two that are
 * used in turn, so that the next part is copied while the device is busy with this one. */
struct staging {
    const struct network *network;
    const struct tensor_dataset *data;
    size_t most; /* series of a part */
    void *x[2], *features[2];
};

static struct error *staging_make(struct staging *staging)
{
    const struct backend *backend = staging->network->backend;
    size_t series =
        staging->most * architecture_series_size(&staging->network->architecture) * sizeof(float);
    size_t features = staging->most * staging->network->architecture.features * sizeof(float);

    for (int i = 0; !backend->host_memory && i < 2; i++) {
        TRY(backend_room(backend, series, "series", &staging->x[i]));
        if (staging->data->features)
            TRY(backend_room(backend, features, "features", &staging->features[i]));
    }
    return NULL;
}

static void staging_free(struct staging *staging)
{
    for (int i = 0; i < 2; i++) {
        staging->network->backend->release(staging->x[i]);
        staging->network->backend->release(staging->features[i]);
    }
}

static size_t place_of(const struct staging *staging, size_t first)
{
    return first / staging->most % 2;
}

/* The part that starts at a series, as the device sees it. */
static struct tensor_dataset staged_part(const struct staging *staging, size_t first)
{
    struct tensor_dataset part = part_of(staging->network, staging->data, first, staging->most);
    size_t place = place_of(staging, first);

    if (staging->x[place]) {
        part.x = staging->x[place];
        part.features = staging->features[place];
    }
    return part;
}

/* Copies the part there: the other buffer holds the part at work. */
static void stage_part(const struct staging *staging, size_t first)
{
    const struct network *network = staging->network;
    size_t place = place_of(staging, first), features = network->architecture.features;
    struct tensor_dataset from;

    if (first >= staging->data->count || !staging->x[place])
        return;
    from = part_of(network, staging->data, first, staging->most);
    network->backend->upload_beside(staging->x[place], from.x,
                                    from.count * architecture_series_size(&network->architecture) *
                                        sizeof *from.x);
    if (from.features)
        network->backend->upload_beside(staging->features[place], from.features,
                                        from.count * features * sizeof *from.features);
}

struct error *network_predict(struct pass *pass, const float *parameters, float *buffers,
                              const struct tensor_dataset *data, float *logits, float *embeddings)
{
    const struct network *network = pass_network(pass);
    size_t most = pass_most(pass), classes = network->architecture.classes;
    struct staging staging = {network, data, most, {NULL}, {NULL}};
    struct error *error = staging_make(&staging);

    if (!error)
        stage_part(&staging, 0);
    for (size_t first = 0; !error && first < data->count; first += most) {
        struct tensor_dataset part = staged_part(&staging, first);
        const float *out = run_part(pass, parameters, buffers, &part, first > 0);

        stage_part(&staging, first + most);
        error = backend_fetch(network->backend, logits + first * classes, out,
                              part.count * classes * sizeof *logits);
        if (!error && embeddings)
            error = backend_fetch(network->backend, embeddings + first * network->embedding,
                                  pass_embedding(pass),
                                  part.count * network->embedding * sizeof *embeddings);
    }
    staging_free(&staging);
    return error;
}

struct loss loss_for(const struct loss *loss, const struct tensor_dataset *data)
{
    struct loss labels = {LOSS_LABELS, 1.0f, 1.0f};

    return loss->kind != LOSS_LABELS && !data->targets ? labels : *loss;
}

/* Parts that are evaluated before the host reads the results. */
enum { PARTS_AT_ONCE = 64 };

/* Loss and number of correct predictions of part i to values[2 i], on the device. */
static void evaluate_parts(struct pass *pass, const struct loss *loss, const float *parameters,
                           float *buffers, const struct tensor_dataset *data, double *values)
{
    const struct network *network = pass_network(pass);
    const struct backend *backend = network->backend;
    size_t most = pass_most(pass), classes = network->architecture.classes;

    for (size_t first = 0; first < data->count; first += most, values += 2) {
        struct tensor_dataset part = part_of(network, data, first, most);
        struct targets targets = {part.labels, part.targets};
        const float *logits = run_part(pass, parameters, buffers, &part, first > 0);

        backend->loss(loss, part.count, classes, logits, &targets, NULL, NULL, values, NULL);
        if (part.labels)
            backend->count_correct(part.count, classes, logits, part.labels, values + 1);
    }
}

struct error *network_evaluate(struct pass *pass, const struct loss *loss, const float *parameters,
                               float *buffers, const struct tensor_dataset *data, double *mean,
                               double *accuracy)
{
    const struct network *network = pass_network(pass);
    const struct backend *backend = network->backend;
    size_t most = pass_most(pass), together = PARTS_AT_ONCE * most;
    struct loss used = loss_for(loss, data);
    double sum = 0, correct = 0, seen[2 * PARTS_AT_ONCE] = {0};
    struct error *error = NULL;
    void *room = NULL;

    if (!backend->host_memory)
        error = backend_room(backend, sizeof seen, "an evaluation", &room);
    for (size_t first = 0; !error && first < data->count; first += together) {
        struct tensor_dataset parts = part_of(network, data, first, together);

        evaluate_parts(pass, &used, parameters, buffers, &parts, room ? room : seen);
        if (room)
            error = backend_fetch(backend, seen, room, sizeof seen);
        for (size_t i = 0; i * most < parts.count; i++) {
            size_t left = parts.count - i * most;

            sum += (double)(left < most ? left : most) * seen[2 * i];
            correct += seen[2 * i + 1];
        }
    }
    *mean = sum / (double)data->count;
    *accuracy = data->labels ? correct / (double)data->count : NAN;
    backend->release(room);
    return error;
}
