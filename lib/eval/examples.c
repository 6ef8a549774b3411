#include "eval/examples.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/scratch.h"
#include "shapelets/transform.h"
#include "views/view.h"

enum { PREDICT_BATCH = 256 };

static struct error *compute_features(const struct feature_source *source,
                                      struct transform *transform, struct examples *examples)
{
    const struct dataset *dataset = &examples->dataset;
    struct device device = source->device ? *source->device : device_cpu();
    size_t first, end;

    examples->feature_count = transform->count;
    examples->features = scratch_new(dataset->count, transform->count * sizeof *examples->features);
    if (!examples->features)
        return error_memory("shapelet features");
    TRY(transform_to_device(transform, device.transform));
    cluster_part(source->cluster, dataset->count, 1, &first, &end);
    TRY(device_transform(&device, transform, dataset->x, first, end - first, examples->features));
    return cluster_share(source->cluster, examples->features, dataset->count,
                         transform->count * sizeof *examples->features, 1);
}

static struct error *add_features(const struct feature_source *source, struct examples *examples)
{
    const struct dataset *dataset = &examples->dataset;
    struct transform transform;
    struct error *error;

    /* Places in series of another length mean something else. */
    if (source->pool->steps != examples->dataset.length)
        return error_make("the shapelets were found in series of %zu steps, these have %zu",
                          source->pool->steps, examples->dataset.length);
    TRY(transform_make(source->pool, dataset->channels, dataset->length, source->window,
                       &transform));
    error = compute_features(source, &transform, examples);
    transform_free(&transform);
    return error;
}

struct error *examples_make(const char *name, struct dataset *dataset,
                            const struct feature_source *source, struct examples *examples)
{
    struct error *error = NULL;

    *examples = (struct examples){.name = file_shown(name), .dataset = *dataset};
    memset(dataset, 0, sizeof *dataset);
    if (source && source->pool)
        error = add_features(source, examples);
    if (error)
        examples_free(examples);
    return error_in(file_shown(name), error);
}

struct error *examples_read(const char *path, const char *labels,
                            const struct feature_source *source, struct examples *examples)
{
    struct dataset dataset;

    memset(examples, 0, sizeof *examples);
    TRY(dataset_read(path, labels, DATASET_LABELLED, &dataset));
    return examples_make(path, &dataset, source, examples);
}

/* Replaces a dataset by its series and views. */
static struct error *expand(struct dataset *dataset)
{
    struct dataset expanded;
    struct error *error = view_expand(dataset, &expanded);

    if (!error)
        memcpy(expanded.digest, dataset->digest, sizeof expanded.digest);
    dataset_free(dataset);
    if (!error)
        *dataset = expanded;
    return error;
}

struct error *examples_read_expanded(const char *path, const char *labels,
                                     const struct feature_source *source, struct examples *examples)
{
    struct dataset dataset;
    size_t views;

    memset(examples, 0, sizeof *examples);
    TRY(dataset_read(path, labels, DATASET_LABELLED | DATASET_VIEWS, &dataset));
    views = dataset.views.count;
    if (views)
        TRY(error_in(file_shown(path), expand(&dataset)));
    TRY(examples_make(path, &dataset, source, examples));
    examples->views = views;
    return NULL;
}

void examples_free(struct examples *examples)
{
    dataset_free(&examples->dataset);
    scratch_free(examples->features);
    memset(examples, 0, sizeof *examples);
}

static void prefetch_series(const void *context, const size_t *indices, size_t count)
{
    const struct dataset *dataset = context;

    for (size_t i = 0; i < count; i++)
        dataset_needs(dataset, indices[i]);
}

struct tensor_dataset examples_tensors(const struct examples *examples)
{
    return (struct tensor_dataset){.count = examples->dataset.count,
                                   .x = examples->dataset.x,
                                   .features = examples->features,
                                   .labels = examples->dataset.y,
                                   .targets = examples->dataset.soft,
                                   .prefetch = examples->dataset.reread ? prefetch_series : NULL,
                                   .context = &examples->dataset};
}

static struct error *match_shape(const struct examples *examples, size_t channels, size_t length,
                                 const char *whose)
{
    const struct dataset *dataset = &examples->dataset;

    if (dataset->channels == channels && dataset->length == length)
        return NULL;
    return error_make("%s: series of %zu channels and %zu steps, but %s is for %zu and %zu",
                      examples->name, dataset->channels, dataset->length, whose, channels, length);
}

static struct error *match_classes(const struct examples *examples, size_t classes,
                                   const char *whose)
{
    const struct dataset *dataset = &examples->dataset;

    for (size_t i = 0; i < dataset->count; i++) {
        if ((size_t)dataset->y[i] >= classes)
            return error_make("%s: series %zu is of class %d, but %s knows only classes 0 to %zu",
                              examples->name, i, (int)dataset->y[i], whose, classes - 1);
    }
    return NULL;
}

/* Classes that both have names for must have the same, or all scores would be nonsense. */
static struct error *match_names(const struct examples *examples, const struct examples *other)
{
    const struct dataset *a = &examples->dataset, *b = &other->dataset;

    for (size_t v = 0; a->names && b->names && v < a->classes && v < b->classes; v++)
        if (strcmp(a->names[v], b->names[v]) != 0)
            return error_make(
                "%s: class %zu is '%s', but '%s' in %s; sc-import --classes-from numbers "
                "classes alike",
                other->name, v, b->names[v], a->names[v], examples->name);
    return NULL;
}

struct error *examples_match(const struct examples *examples, const struct examples *other)
{
    const struct dataset *dataset = &examples->dataset;

    TRY(match_shape(other, dataset->channels, dataset->length, examples->name));
    TRY(match_classes(other, dataset->classes, examples->name));
    return match_names(examples, other);
}

int32_t examples_missing_class(const struct examples *examples)
{
    const struct dataset *dataset = &examples->dataset;

    for (size_t v = 0; v < dataset->classes; v++) {
        size_t i = 0;

        while (i < dataset->count && (size_t)dataset->y[i] != v)
            i++;
        if (i == dataset->count)
            return (int32_t)v;
    }
    return -1;
}

/* A number of the architecture that is known from the data. */
static struct error *fill_in(const struct examples *examples, const char *word, size_t known,
                             size_t *number)
{
    if (*number != 0 && *number != known)
        return error_make("the network says %s=%zu, but for %s it is %zu", word, *number,
                          examples->name, known);
    *number = known;
    return NULL;
}

struct error *examples_architecture(const struct examples *examples, const char *text,
                                    struct architecture *architecture)
{
    const struct dataset *dataset = &examples->dataset;

    *architecture = architecture_default();
    if (text)
        TRY(architecture_parse(text, architecture));
    TRY(fill_in(examples, "channels", dataset->channels, &architecture->channels));
    TRY(fill_in(examples, "length", dataset->length, &architecture->length));
    TRY(fill_in(examples, "classes", dataset->classes, &architecture->classes));
    TRY(fill_in(examples, "features", examples->feature_count, &architecture->features));
    return architecture_check(architecture);
}

struct error *examples_match_teacher(const struct examples *examples, const char *teacher_name,
                                     const struct teacher *teacher)
{
    const struct architecture *a = &teacher->network->architecture;
    const char *name = file_shown(teacher_name);

    TRY(match_shape(examples, a->channels, a->length, name));
    TRY(match_classes(examples, a->classes, name));
    if (a->features && !examples->feature_count)
        return error_make("%s: needs the %zu shapelets that it was trained with", name,
                          a->features);
    if (a->features != examples->feature_count)
        return error_make("%s: was trained with %zu shapelets, not with %zu", name, a->features,
                          examples->feature_count);
    return NULL;
}

bool teacher_knows_pool(const struct teacher *teacher, const struct shapelet_pool *pool)
{
    const char *notes = teacher->notes;

    return !pool->digest[0] || !notes || !strchr(notes, '<') || strstr(notes, pool->digest);
}

static struct error *predict(const struct tensor_dataset *data, const struct teacher *teacher,
                             float *logits, float *embeddings)
{
    struct pass *pass;
    struct error *error;

    TRY(pass_new(teacher->network, PREDICT_BATCH, 0, &pass));
    error = network_predict(pass, teacher->parameters, teacher->buffers, data, logits, embeddings);
    pass_free(pass);
    return error;
}

struct error *examples_predict(const struct examples *examples, const struct teacher *teacher,
                               float *logits, float *embeddings)
{
    struct tensor_dataset data = examples_tensors(examples);

    return predict(&data, teacher, logits, embeddings);
}

/* Parts are whole batches, so that the batches are those of one process. */
struct error *examples_predict_over(struct cluster *cluster, const struct examples *examples,
                                    const struct teacher *teacher, float *logits, float *embeddings)
{
    const struct network *network = teacher->network;
    size_t classes = network->architecture.classes, count = examples->dataset.count, first, end;
    struct tensor_dataset part = examples_tensors(examples);

    cluster_part(cluster, count, PREDICT_BATCH, &first, &end);
    part.count = end - first;
    part.x += first * dataset_series_size(&examples->dataset);
    if (part.features)
        part.features += first * examples->feature_count;
    part.labels = NULL;
    part.targets = NULL;
    if (part.count)
        TRY(predict(&part, teacher, logits + first * classes,
                    embeddings ? embeddings + first * network->embedding : NULL));
    TRY(cluster_gather(cluster, logits, count, classes * sizeof *logits, PREDICT_BATCH));
    if (embeddings)
        TRY(cluster_gather(cluster, embeddings, count, network->embedding * sizeof *embeddings,
                           PREDICT_BATCH));
    return NULL;
}
