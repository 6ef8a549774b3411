/* The description for programs.  Every fact that is a single value is a member of the outermost
 * object. */
#include "data/info.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static void write_string(struct json *json, const char *key, const char *text)
{
    json_text(json, key, text, strlen(text));
}

/* The members of a summary, inside an open object. */
static void write_summary(struct json *json, const struct summary *summary)
{
    const bool any = summary->count > 0;

    json_real(json, "min", any ? summary->least : NAN);
    json_real(json, "max", any ? summary->greatest : NAN);
    json_real(json, "mean", any ? summary->mean : NAN);
    json_real(json, "std", summary_deviation(summary));
    json_size(json, "nan", summary->nans);
    json_size(json, "infinite", summary->infinities);
}

static void write_arrays(struct json *json, const struct info *info)
{
    json_open(json, "arrays", '[');
    for (size_t i = 0; i < info->array_count; i++) {
        const struct info_array *array = &info->arrays[i];

        json_open_row(json, NULL, '{');
        write_string(json, "role", array->role);
        write_string(json, "type", array->type);
        write_string(json, "order", array->fortran ? "F" : "C");
        json_open_row(json, "shape", '[');
        for (size_t d = 0; d < array->ndim; d++)
            json_size(json, NULL, array->shape[d]);
        json_close(json, ']');
        if (info->kind == INFO_ARRAYS && array->kind != NPY_UNICODE)
            write_summary(json, &array->summary);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_class_list(struct json *json, const struct info *info)
{
    json_open(json, "class_list", '[');
    for (size_t v = 0; info->class_counts && v < info->dataset.classes; v++) {
        json_open_row(json, NULL, '{');
        json_size(json, "class", v);
        if (info->dataset.names)
            write_string(json, "name", info->dataset.names[v]);
        else
            json_null(json, "name");
        json_size(json, "count", info->class_counts[v]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_dataset(struct json *json, const struct info *info)
{
    const struct dataset *dataset = &info->dataset;

    json_size(json, "count", dataset->count);
    json_size(json, "channels", dataset->channels);
    json_size(json, "length", dataset->length);
    json_size(json, "classes", dataset->y ? dataset->classes : 0);
    json_bool(json, "labelled", dataset->y != NULL);
    json_bool(json, "soft", dataset->soft != NULL);
    json_size(json, "views", dataset->views.count);
    write_summary(json, &info->all);
    json_open(json, "channel_list", '[');
    for (size_t c = 0; c < dataset->channels; c++) {
        json_open_row(json, NULL, '{');
        write_summary(json, &info->channels[c]);
        json_close(json, '}');
    }
    json_close(json, ']');
    write_class_list(json, info);
    if (dataset->soft) {
        json_open_row(json, "soft_labels", '{');
        write_summary(json, &info->soft);
        json_real(json, "agreement", (double)info->soft_agrees / (double)dataset->count);
        json_close(json, '}');
    }
}

static void write_pool(struct json *json, const struct shapelet_pool *pool)
{
    json_size(json, "count", pool->count);
    json_size(json, "channels", pool->channels);
    json_size(json, "length", pool->steps);
    json_size(json, "classes", pool->classes);
    json_bool(json, "length_normalised", pool->length_normalised);
    json_bool(json, "standardised", pool->standardised);
    json_open(json, "shapelets", '[');
    for (size_t i = 0; i < pool->count; i++) {
        const struct shapelet *shapelet = &pool->shapelets[i];

        json_open_row(json, NULL, '{');
        json_size(json, "channel", shapelet->channel);
        json_size(json, "start", shapelet->start);
        json_size(json, "length", shapelet->length);
        if (shapelet->label < 0)
            json_null(json, "class");
        else
            json_size(json, "class", (size_t)shapelet->label);
        if (shapelet->window == SLP_WINDOW_FULL)
            write_string(json, "window", "full");
        else
            json_size(json, "window", shapelet->window);
        json_size(json, "source", shapelet->source);
        json_real(json, "gain", (double)shapelet->gain);
        json_real(json, "threshold", (double)shapelet->threshold);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_teacher(struct json *json, const struct info *info)
{
    const struct tch *teacher = &info->teacher;

    write_string(json, "network", teacher->network);
    json_size(json, "parameters", info->parameter_count);
    json_open(json, "tensors", '[');
    for (size_t i = 0; i < teacher->count; i++) {
        const struct tch_tensor *tensor = &teacher->tensors[i];

        json_open_row(json, NULL, '{');
        write_string(json, "name", tensor->name);
        json_open_row(json, "shape", '[');
        for (size_t d = 0; d < tensor->ndim; d++)
            json_size(json, NULL, tensor->shape[d]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

void info_write_json(FILE *stream, const struct info *info)
{
    struct json json = {.stream = stream};
    const char *line = NULL;
    size_t length = 0;

    json_open(&json, NULL, '{');
    write_string(&json, "file", info->path);
    write_string(&json, "kind", info_kind_name(info->kind));
    json_size(&json, "bytes", info->bytes);
    write_string(&json, "digest", info->digest);
    if (info->kind == INFO_DATASET)
        write_dataset(&json, info);
    else if (info->kind == INFO_POOL)
        write_pool(&json, &info->pool);
    else if (info->kind == INFO_TEACHER)
        write_teacher(&json, info);
    else
        write_string(&json, "reason", info->reason);
    if (info->array_count)
        write_arrays(&json, info);
    json_open(&json, "provenance", '[');
    while (info_next_note(info, &line, &length))
        json_text(&json, NULL, line, length);
    json_close(&json, ']');
    json_close(&json, '}');
}
