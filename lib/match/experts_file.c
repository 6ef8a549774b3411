/* Reading files of experts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/mapped.h"
#include "match/experts.h"

static struct error *next_array(npy_reader *reader, struct npy_array *array)
{
    struct npy_error error;
    int got = npy_next(reader, array, &error);

    if (got == 1)
        return NULL;
    return error_make("%s", got == 0 ? "ends before the points of the experts" : error.message);
}

/* The two first lines: network and towers. */
static struct error *parse_text(struct experts *experts)
{
    char line[2 * ARCHITECTURE_TEXT], *end = strchr(experts->text, '\n');
    size_t size = end ? (size_t)(end - experts->text) : 0;

    if (!end || size >= sizeof line || strncmp(end + 1, "towers=", 7) != 0 ||
        (end[8] != '1' && end[8] != '2'))
        return error_make("not a file of experts");
    memcpy(line, experts->text, size);
    line[size] = '\0';
    experts->two_towers = end[8] == '2';
    TRY(architecture_parse(line, &experts->architecture));
    if (experts->architecture.features)
        return error_make("experts have no shapelet features, these have %zu",
                          experts->architecture.features);
    return architecture_check(&experts->architecture);
}

static struct error *take_text(npy_reader *reader, struct experts *experts)
{
    struct npy_array array = {0};
    struct npy_error error;
    char **strings;

    TRY(next_array(reader, &array));
    if (array.kind != NPY_UNICODE || array.count != 1) {
        npy_array_free(&array);
        return error_make("not a file of experts");
    }
    strings = npy_strings(&array, &error);
    npy_array_free(&array);
    if (!strings)
        return dataset_npy_error(&error);
    experts->text = strdup(strings[0]);
    free(strings);
    if (!experts->text)
        return error_memory("the text of the experts");
    return parse_text(experts);
}

static struct error *check_finite(const struct npy_array *points)
{
    const float *values = points->data;

    for (size_t i = 0; i < points->count; i++)
        if (!isfinite(values[i]))
            return error_make("expert %zu, epoch %zu: a parameter is not a number, or infinite",
                              i / points->shape[2] / points->shape[1] + 1,
                              i / points->shape[2] % points->shape[1]);
    return NULL;
}

static struct error *take_points(npy_reader *reader, struct experts *experts)
{
    struct npy_array *points = &experts->storage;
    struct npy_error error;
    struct model model;

    TRY(next_array(reader, points));
    if (points->kind != NPY_FLOAT || points->ndim != 3)
        return error_make("the points of the experts are not an array of floats of 3 dimensions");
    if (npy_convert(points, NPY_FLOAT, sizeof(float), &error) != 0)
        return dataset_npy_error(&error);
    if (points->shape[0] == 0 || points->shape[1] < 2)
        return error_make("no expert that was trained");
    TRY(check_finite(points));
    experts->count = points->shape[0];
    experts->epochs = points->shape[1] - 1;
    experts->parameters = points->shape[2];
    experts->points = points->data;
    TRY(model_new(&experts->architecture, experts->two_towers, &model));
    if (model.parameter_count != experts->parameters) {
        struct error *wrong = error_make("%zu parameters, but the network has %zu",
                                         experts->parameters, model.parameter_count);

        model_free(&model);
        return wrong;
    }
    model_free(&model);
    return NULL;
}

struct error *experts_read(const char *path, struct experts *experts)
{
    struct npy_array more = {0};
    struct npy_error npy;
    struct digest digest;
    npy_reader *reader = mapped_open_npy(path, &npy);
    struct error *error;

    memset(experts, 0, sizeof *experts);
    if (!reader)
        return error_in(path, dataset_npy_error(&npy));
    digest_start(&digest);
    npy_watch(reader, digest_watch, &digest);
    error = take_text(reader, experts);
    if (!error)
        error = take_points(reader, experts);
    if (!error && npy_next(reader, &more, &npy) != 0)
        error = error_make("more than two arrays");
    npy_array_free(&more);
    digest_finish(&digest, experts->digest);
    npy_close(reader);
    if (error)
        experts_free(experts);
    return error_in(path, error);
}

void experts_free(struct experts *experts)
{
    free(experts->text);
    npy_array_free(&experts->storage);
    memset(experts, 0, sizeof *experts);
}

const float *experts_point(const struct experts *experts, size_t expert, size_t epoch)
{
    return experts->points + (expert * (experts->epochs + 1) + epoch) * experts->parameters;
}
