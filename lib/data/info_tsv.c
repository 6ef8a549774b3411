/* The description for scripts: one row of a table for each file. */
#include "data/info.h"

#include <stdlib.h>
#include <string.h>

void info_write_tsv_heading(FILE *stream)
{
    fputs("file\tkind\tbytes\tcount\tchannels\tlength\tclasses\tlabels\tviews\tcontent\n", stream);
}

/* Bytes of a number of the type, such as "<f4". */
static size_t number_size(const struct info_array *array)
{
    return (size_t)strtoul(array->type + 2, NULL, 10);
}

/* Bytes of what a model is trained on: not the headers, the names of classes and the notes. */
static size_t content(const struct info *info)
{
    size_t bytes = 0;

    for (size_t i = 0; i < info->array_count; i++)
        if (info->arrays[i].kind != NPY_UNICODE)
            bytes += info->arrays[i].count * number_size(&info->arrays[i]);
    return bytes;
}

static const char *label_kind(const struct dataset *dataset)
{
    return dataset->soft ? "soft" : dataset->y ? "hard" : "-";
}

/* A name with a tab or a line break would add columns or rows. */
static void write_path(FILE *stream, const char *path)
{
    for (; *path; path++)
        putc((unsigned char)*path < ' ' ? '?' : *path, stream);
}

void info_write_tsv(FILE *stream, const struct info *info)
{
    const struct dataset *dataset = &info->dataset;
    const struct shapelet_pool *pool = &info->pool;

    write_path(stream, info->path);
    fprintf(stream, "\t%s\t%zu", info_kind_name(info->kind), info->bytes);
    if (info->kind == INFO_DATASET)
        fprintf(stream, "\t%zu\t%zu\t%zu\t%zu\t%s\t%zu\t%zu\n", dataset->count, dataset->channels,
                dataset->length, dataset->y ? dataset->classes : 0, label_kind(dataset),
                dataset->views.count, content(info));
    else if (info->kind == INFO_POOL)
        fprintf(stream, "\t%zu\t%zu\t%zu\t%zu\t-\t-\t-\n", pool->count, pool->channels, pool->steps,
                pool->classes);
    else
        fputs("\t-\t-\t-\t-\t-\t-\t-\n", stream);
}
