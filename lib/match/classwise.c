#include "match/classwise.h"

#include <stdlib.h>

#include "match/criteria.h"

static const struct loss cross_entropy = {LOSS_LABELS, 1, 1};

static struct error *make(size_t most_real, size_t most_synthetic, struct class_match *m)
{
    const struct architecture *a = &m->model->architecture;
    size_t series = architecture_series_size(a), parameters = m->model->parameter_count;
    size_t most = most_real > most_synthetic ? most_real : most_synthetic;

    TRY(model_run_new(m->model, most_real, PASS_BACKWARD, &m->real));
    TRY(model_run_new(m->model, most_synthetic, PASS_BACKWARD | PASS_TANGENT, &m->synthetic));
    TRY(augmentation_new(a->channels, a->length, &m->augmentation));
    m->real_x = calloc(most_real, series * sizeof *m->real_x);
    m->synthetic_x = calloc(most_synthetic, series * sizeof *m->synthetic_x);
    m->dx = calloc(most_synthetic, series * sizeof *m->dx);
    m->real_gradient = calloc(parameters, sizeof *m->real_gradient);
    m->synthetic_gradient = calloc(parameters, sizeof *m->synthetic_gradient);
    m->direction = calloc(parameters, sizeof *m->direction);
    m->no_logits = calloc(most, a->classes * sizeof *m->no_logits);
    m->labels = calloc(most, sizeof *m->labels);
    if (!m->real_x || !m->synthetic_x || !m->dx || !m->real_gradient || !m->synthetic_gradient ||
        !m->direction || !m->no_logits || !m->labels)
        return error_memory("matching");
    return NULL;
}

static struct error *make_embeddings(size_t most_real, size_t most_synthetic, struct class_match *m)
{
    size_t values = m->model->embedding;

    m->real_embedding = calloc(most_real, values * sizeof *m->real_embedding);
    m->synthetic_embedding = calloc(most_synthetic, values * sizeof *m->synthetic_embedding);
    m->dembedding = calloc(most_synthetic, values * sizeof *m->dembedding);
    if (!m->real_embedding || !m->synthetic_embedding || !m->dembedding)
        return error_memory("embeddings");
    return NULL;
}

struct error *class_match_new(const struct model *model, size_t most_real, size_t most_synthetic,
                              bool embeddings, struct class_match *match)
{
    struct error *error;

    *match = (struct class_match){.model = model};
    error = make(most_real, most_synthetic, match);
    if (!error && embeddings)
        error = make_embeddings(most_real, most_synthetic, match);
    if (error)
        class_match_free(match);
    return error;
}

void class_match_free(struct class_match *match)
{
    model_run_free(match->real);
    model_run_free(match->synthetic);
    augmentation_free(&match->augmentation);
    free(match->real_x);
    free(match->synthetic_x);
    free(match->dx);
    free(match->real_gradient);
    free(match->synthetic_gradient);
    free(match->direction);
    free(match->real_embedding);
    free(match->synthetic_embedding);
    free(match->dembedding);
    free(match->no_logits);
    free(match->labels);
    *match = (struct class_match){0};
}

/* Augments both batches in the same way and prepares their passes. */
static void prepare(struct class_match *m, const struct class_batch *batch,
                    struct model_batch *real, struct model_batch *synthetic)
{
    augmentation_apply(&m->augmentation, batch->real_count, batch->real_x, m->real_x);
    augmentation_apply(&m->augmentation, batch->synthetic_count, batch->synthetic_x,
                       m->synthetic_x);
    *real = (struct model_batch){.count = batch->real_count,
                                 .x = m->real_x,
                                 .parameters = batch->parameters,
                                 .buffers = batch->buffers};
    *synthetic = *real;
    synthetic->count = batch->synthetic_count;
    synthetic->x = m->synthetic_x;
}

double class_match_gradients(struct class_match *match, const struct class_batch *batch, float *dx)
{
    size_t most =
        batch->real_count > batch->synthetic_count ? batch->real_count : batch->synthetic_count;
    struct targets targets = {.labels = match->labels};
    struct model_batch real, synthetic;
    double distance;

    for (size_t n = 0; n < most; n++)
        match->labels[n] = batch->label;
    prepare(match, batch, &real, &synthetic);
    model_loss(match->real, &real, &cross_entropy, &targets, match->real_gradient, NULL);
    model_loss(match->synthetic, &synthetic, &cross_entropy, &targets, match->synthetic_gradient,
               NULL);
    distance = gradient_distance(match->model, match->real_gradient, match->synthetic_gradient,
                                 match->direction);
    model_second(match->synthetic, &cross_entropy, &targets, match->direction, NULL, match->dx,
                 NULL);
    augmentation_adjoint(&match->augmentation, batch->synthetic_count, match->dx, dx);
    return distance;
}

double class_match_means(struct class_match *match, const struct class_batch *batch, float *dx)
{
    struct model_batch real, synthetic;
    double distance;

    prepare(match, batch, &real, &synthetic);
    model_forward(match->real, &real);
    model_embedding(match->real, match->real_embedding);
    model_forward(match->synthetic, &synthetic);
    model_embedding(match->synthetic, match->synthetic_embedding);
    distance = mean_distance(match->model->embedding, batch->real_count, match->real_embedding,
                             batch->synthetic_count, match->synthetic_embedding, match->dembedding);
    model_backward(match->synthetic, match->no_logits, match->dembedding, NULL, match->dx);
    augmentation_adjoint(&match->augmentation, batch->synthetic_count, match->dx, dx);
    return distance;
}
