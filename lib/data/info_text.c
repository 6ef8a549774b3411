/* The description for people: a headline, then facts with their names in the left column. */
#include "data/info.h"

#include <string.h>

#include "base/text.h"

enum { FEW_CHANNELS = 10, FEW_CLASSES = 30, FEW_SHAPELETS = 30 };

/* How many items of a list are shown: all, or as many as fit on one screen. */
static size_t shown(size_t count, size_t few, bool all)
{
    return all || count <= few + 1 ? count : few;
}

static void say_rest(FILE *stream, size_t count, size_t printed)
{
    if (printed < count)
        fprintf(stream, "          ... and %zu more (--all)\n", count - printed);
}

/* "1 channel", "3 channels" */
static void write_number(FILE *stream, size_t count, const char *one, const char *many)
{
    fprintf(stream, "%zu %s", count, count == 1 ? one : many);
}

static void write_shape(FILE *stream, size_t ndim, const size_t *shape)
{
    fputc('(', stream);
    for (size_t i = 0; i < ndim; i++)
        fprintf(stream, "%s%zu", i ? ", " : "", shape[i]);
    fputs(ndim == 1 ? ",)" : ")", stream);
}

static void write_summary(FILE *stream, const struct summary *summary)
{
    if (summary->count)
        /* + 0.0: zeros have no sign. */
        fprintf(stream, "%12.6g %12.6g %12.6g %12.6g", summary->least + 0.0,
                summary->greatest + 0.0, summary->mean + 0.0, summary_deviation(summary));
    else
        fprintf(stream, "%12s %12s %12s %12s", "-", "-", "-", "-");
    if (summary->nans || summary->infinities)
        fprintf(stream, "  %zu NaN, %zu infinite", summary->nans, summary->infinities);
    fputc('\n', stream);
}

static void write_arrays(FILE *stream, const struct info *info)
{
    for (size_t i = 0; i < info->array_count; i++) {
        const struct info_array *array = &info->arrays[i];

        fprintf(stream, "%-9s %-8s %-6s ", i ? "" : "arrays", array->role, array->type);
        write_shape(stream, array->ndim, array->shape);
        fputs(array->fortran ? ", Fortran order\n" : "\n", stream);
    }
}

static void write_notes(FILE *stream, const struct info *info)
{
    const char *line = NULL, *title = info->kind == INFO_ARRAYS ? "text" : "made by";
    size_t length = 0;

    while (info_next_note(info, &line, &length)) {
        fprintf(stream, "%-9s ", title);
        text_write(stream, line, length);
        fputc('\n', stream);
        title = "";
    }
}

/* ---- Datasets ---- */

static void write_channels(FILE *stream, const struct info *info, bool all)
{
    const size_t channels = info->dataset.channels;
    const size_t count = shown(channels, FEW_CHANNELS, all);

    fprintf(stream, "%-9s %-8s %12s %12s %12s %12s\n", "values", "channel", "min", "max", "mean",
            "std");
    for (size_t c = 0; c < count; c++) {
        fprintf(stream, "%9s %-8zu ", "", c);
        write_summary(stream, &info->channels[c]);
    }
    say_rest(stream, channels, count);
    if (channels > 1) {
        fprintf(stream, "%9s %-8s ", "", "all");
        write_summary(stream, &info->all);
    }
}

static void write_classes(FILE *stream, const struct info *info, bool all)
{
    const struct dataset *dataset = &info->dataset;
    const size_t count = shown(dataset->classes, FEW_CLASSES, all);

    fprintf(stream, "%-9s %-8s %12s %12s%s\n", "classes", "class", "series", "share",
            dataset->names ? "  name" : "");
    for (size_t v = 0; v < count; v++) {
        double share = 100.0 * (double)info->class_counts[v] / (double)dataset->count;

        fprintf(stream, "%9s %-8zu %12zu %10.2f %%", "", v, info->class_counts[v], share);
        if (dataset->names) {
            fputs("  ", stream);
            text_write(stream, dataset->names[v], strlen(dataset->names[v]));
        }
        fputc('\n', stream);
    }
    say_rest(stream, dataset->classes, count);
}

static void write_soft(FILE *stream, const struct info *info)
{
    fprintf(stream, "%-9s %-8s ", "soft", "logits");
    write_summary(stream, &info->soft);
    fprintf(stream, "%9s the largest logit is the label's for %.2f %% of the series\n", "",
            100.0 * (double)info->soft_agrees / (double)info->dataset.count);
}

static void write_levels(FILE *stream, const struct dataset *dataset)
{
    fprintf(stream,
            "%-9s stored in %u bits per value, rounded to %u levels per channel and series\n",
            "series", dataset->levels.bits, 1u << dataset->levels.bits);
}

static void write_packed(FILE *stream, const struct dataset *dataset)
{
    size_t size = 0;
    struct error *error = dataset_packed_size(dataset, &size);

    fprintf(stream, "%-9s compressed, %.2f bits per value, rounded to whole steps%s\n", "series",
            8 * (double)size / ((double)dataset->count * (double)dataset_series_size(dataset)),
            dataset->packed.levels ? " of a wavelet transform" : "");
    error_free(error);
}

/* Bytes that the file has for the labels of the views. */
static size_t label_bytes(const struct info *info)
{
    for (size_t i = 0; i < info->array_count; i++)
        if (strcmp(info->arrays[i].role, "codes") == 0)
            return info->arrays[i].count;
    return 0;
}

static void write_views(FILE *stream, const struct info *info)
{
    const struct dataset_views *views = &info->dataset.views;
    const struct view_recipe *recipe = &views->recipe;

    fprintf(stream, "%-9s %zu, labels of %u bits in %zu bytes, seed %llu\n", "views", views->count,
            views->bits, label_bytes(info), (unsigned long long)recipe->seed);
    fprintf(stream, "%9s shift=%g crop=%g warp=%g gain=%g mix=%g cut=%g\n", "", recipe->shift,
            recipe->crop, recipe->warp, recipe->gain, recipe->mix, recipe->cut);
}

static void write_dataset(FILE *stream, const struct info *info, bool all)
{
    const struct dataset *dataset = &info->dataset;

    fputs("dataset, ", stream);
    write_number(stream, dataset->count, "series", "series");
    fputs(", ", stream);
    write_number(stream, dataset->channels, "channel", "channels");
    fputs(", ", stream);
    write_number(stream, dataset->length, "step", "steps");
    fputs(", ", stream);
    if (dataset->y)
        write_number(stream, dataset->classes, "class", "classes");
    else
        fputs("no labels", stream);
    fputc('\n', stream);
    write_arrays(stream, info);
    write_channels(stream, info, all);
    if (dataset->y)
        write_classes(stream, info, all);
    if (dataset->soft)
        write_soft(stream, info);
    if (dataset->levels.bits)
        write_levels(stream, dataset);
    if (dataset->packed.codes)
        write_packed(stream, dataset);
    if (dataset->views.count)
        write_views(stream, info);
}

/* ---- Other arrays ---- */

static void write_plain(FILE *stream, const struct info *info)
{
    write_number(stream, info->array_count, "array", "arrays");
    fputc('\n', stream);
    write_arrays(stream, info);
    fprintf(stream, "%-9s %-8s %12s %12s %12s %12s\n", "values", "array", "min", "max", "mean",
            "std");
    for (size_t i = 0; i < info->array_count; i++) {
        if (info->arrays[i].kind == NPY_UNICODE)
            continue;
        fprintf(stream, "%9s %-8zu ", "", i + 1);
        write_summary(stream, &info->arrays[i].summary);
    }
    fprintf(stream, "%-9s no dataset: ", "remark");
    text_write(stream, info->reason, strlen(info->reason));
    fputc('\n', stream);
}

/* ---- Pools ---- */

static void write_shapelet(FILE *stream, const struct shapelet *shapelet)
{
    char window[16] = "full";

    if (shapelet->window != SLP_WINDOW_FULL)
        snprintf(window, sizeof window, "%u", shapelet->window);
    fprintf(stream, "%7u %7u %7u %7d %7s %9llu %10.5g %10.5g\n", shapelet->channel, shapelet->start,
            shapelet->length, shapelet->label, window, (unsigned long long)shapelet->source,
            (double)shapelet->quality, (double)shapelet->threshold);
}

static void write_pool(FILE *stream, const struct info *info, bool all)
{
    const struct shapelet_pool *pool = &info->pool;
    const size_t count = shown(pool->count, FEW_SHAPELETS, all);

    fputs("shapelet pool, ", stream);
    write_number(stream, pool->count, "shapelet", "shapelets");
    fputc('\n', stream);
    fprintf(stream, "%-9s %zu channel%s, %zu steps, %zu classes\n", "found in", pool->channels,
            pool->channels == 1 ? "" : "s", pool->steps, pool->classes);
    fprintf(stream, "%-9s %s\n", "distance",
            pool->length_normalised ? "divided by the square root of the length"
                                    : "not divided by the length");
    fprintf(stream, "%-9s %s\n", "features",
            pool->standardised ? "distances, standardised" : "distances as they come");
    if (pool->quality)
        fprintf(stream, "%-9s %s\n", "quality", slp_quality_names[pool->quality]);
    fprintf(stream, "%-9s %7s %7s %7s %7s %7s %9s %10s %10s\n", "shapelet", "channel", "start",
            "length", "class", "window", "source", pool->quality ? "quality" : "gain", "threshold");
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "%9zu ", i);
        write_shapelet(stream, &pool->shapelets[i]);
    }
    say_rest(stream, pool->count, count);
}

/* ---- Teachers ---- */

static void write_teacher(FILE *stream, const struct info *info)
{
    const struct tch *teacher = &info->teacher;

    fputs("teacher, ", stream);
    write_number(stream, info->parameter_count, "parameter", "parameters");
    fprintf(stream, "\n%-9s ", "network");
    text_write(stream, teacher->network, strlen(teacher->network));
    fputc('\n', stream);
    for (size_t i = 0; i < teacher->count; i++) {
        const struct tch_tensor *tensor = &teacher->tensors[i];
        int width = (int)strlen(tensor->name);

        fprintf(stream, "%-9s ", i ? "" : "tensors");
        text_write(stream, tensor->name, strlen(tensor->name));
        fprintf(stream, "%*s ", width < 24 ? 24 - width : 0, "");
        write_shape(stream, tensor->ndim, tensor->shape);
        fputc('\n', stream);
    }
}

void info_write_text(FILE *stream, const struct info *info, bool all)
{
    text_write(stream, info->path, strlen(info->path));
    fputs(": ", stream);
    if (info->kind == INFO_DATASET)
        write_dataset(stream, info, all);
    else if (info->kind == INFO_ARRAYS)
        write_plain(stream, info);
    else if (info->kind == INFO_TEACHER)
        write_teacher(stream, info);
    else
        write_pool(stream, info, all);
    write_notes(stream, info);
    fprintf(stream, "%-9s %zu bytes, BLAKE2b-128 %s\n", "file", info->bytes, info->digest);
}
