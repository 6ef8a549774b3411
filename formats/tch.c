/* The text is read line by line.  All that it says of the arrays is their names and number. */
#include "formats/tch.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "formats/npy-c/npy-c.h"

enum { MOST_TENSORS = 4096, MOST_TEXT = 1 << 20 };
static const char first_line[] = "%TCH 1";

/* What is left of the file while it is read. */
struct source {
    const char *bytes;
    size_t size;
};

/* The next line, without its end, as a string that the caller frees. */
static struct error *next_line(struct source *source, char **line)
{
    size_t most = source->size < MOST_TEXT ? source->size : MOST_TEXT;
    const char *end = most ? memchr(source->bytes, '\n', most) : NULL;
    size_t length;

    if (!end)
        return error_make("the text at the start does not end");
    length = (size_t)(end - source->bytes);
    if (memchr(source->bytes, '\0', length))
        return error_make("the text at the start has a zero byte in it");
    *line = strndup(source->bytes, length);
    if (!*line)
        return error_memory("a line");
    if (length && (*line)[length - 1] == '\r')
        (*line)[length - 1] = '\0';
    source->bytes += length + 1;
    source->size -= length + 1;
    return NULL;
}

static struct error *add_tensor(struct tch *tch, const char *name)
{
    struct tch_tensor *more;

    if (!*name)
        return error_make("a tensor has no name");
    if (tch_find(tch, name))
        return error_make("tensor %s occurs twice", name);
    if (tch->count == MOST_TENSORS)
        return error_make("more than %d tensors", MOST_TENSORS);
    more = realloc(tch->tensors, (tch->count + 1) * sizeof *more);
    if (!more)
        return error_memory("tensors");
    tch->tensors = more;
    more[tch->count] = (struct tch_tensor){.name = strdup(name)};
    if (!more[tch->count].name)
        return error_memory("a name");
    tch->count++;
    return NULL;
}

static struct error *add_note(struct tch *tch, const char *note)
{
    size_t before = tch->notes ? strlen(tch->notes) : 0;
    char *more = realloc(tch->notes, before + strlen(note) + 2);

    if (!more)
        return error_memory("notes");
    if (tch->notes)
        more[before++] = '\n';
    strcpy(more + before, note);
    tch->notes = more;
    return NULL;
}

/* The part after "word ", or NULL. */
static const char *after(const char *line, const char *word)
{
    size_t length = strlen(word);

    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

/* One line of the text; *end is set by the last. */
static struct error *take_line(struct tch *tch, const char *line, bool *end)
{
    const char *rest;

    *end = strcmp(line, "end") == 0;
    if (*end)
        return NULL;
    if ((rest = after(line, "network"))) {
        if (tch->network)
            return error_make("two network lines");
        tch->network = strdup(rest);
        return tch->network ? NULL : error_memory("a line");
    }
    if ((rest = after(line, "tensor")))
        return add_tensor(tch, rest);
    if ((rest = after(line, "note")))
        return add_note(tch, rest);
    return error_make("unknown line \"%.40s\": expected network, note, tensor or end", line);
}

static struct error *read_text(struct source *source, struct tch *tch)
{
    bool end = false, first = true;

    while (!end) {
        struct error *error;
        char *line;

        TRY(next_line(source, &line));
        if (first)
            error = strcmp(line, first_line) == 0
                        ? NULL
                        : error_make("not a teacher: expected \"%s\" at the start", first_line);
        else
            error = take_line(tch, line, &end);
        free(line);
        TRY(error);
        first = false;
    }
    return tch->network ? NULL : error_make("no network line");
}

static struct error *take_array(struct npy_array *array, struct tch_tensor *tensor)
{
    struct npy_error problem;

    if (array->ndim > TCH_MAX_DIMS)
        return error_make("%zu dimensions, expected at most %d", array->ndim, TCH_MAX_DIMS);
    if (array->kind == NPY_UNICODE || npy_convert(array, NPY_FLOAT, sizeof(float), &problem) != 0)
        return error_make("expected numbers");
    tensor->ndim = array->ndim;
    memcpy(tensor->shape, array->shape, array->ndim * sizeof *tensor->shape);
    tensor->count = array->count;
    tensor->values = malloc((array->count + 1) * sizeof *tensor->values);
    if (!tensor->values)
        return error_memory("a tensor");
    if (array->count)
        memcpy(tensor->values, array->data, array->count * sizeof *tensor->values);
    for (size_t i = 0; i < tensor->count; i++)
        if (!isfinite(tensor->values[i]))
            return error_make("value %zu is not finite", i);
    return NULL;
}

static struct error *read_array(npy_reader *reader, struct tch_tensor *tensor)
{
    struct npy_error problem;
    struct npy_array array = {0};
    struct error *error;

    switch (npy_next(reader, &array, &problem)) {
    case 1:
        break;
    case 0:
        return error_in(tensor->name, error_make("the file ends before its array"));
    default:
        return error_in(tensor->name, error_make("%s", problem.message));
    }
    error = take_array(&array, tensor);
    npy_array_free(&array);
    return error_in(tensor->name, error);
}

static struct error *read_arrays(const struct source *source, struct tch *tch)
{
    struct npy_error problem;
    npy_reader *reader = npy_open_memory(source->bytes, source->size, &problem);
    struct error *error = NULL;
    struct npy_array extra = {0};

    if (!reader)
        return error_make("%s", problem.message);
    for (size_t i = 0; !error && i < tch->count; i++)
        error = read_array(reader, &tch->tensors[i]);
    if (!error && npy_next(reader, &extra, &problem) != 0)
        error = error_make("unexpected data after the last of %zu arrays", tch->count);
    npy_array_free(&extra);
    npy_close(reader);
    return error;
}

struct error *tch_read_memory(const void *bytes, size_t size, struct tch *tch)
{
    struct source source = {bytes, size};
    struct digest digest;
    struct error *error;

    memset(tch, 0, sizeof *tch);
    error = read_text(&source, tch);
    if (!error)
        error = read_arrays(&source, tch);
    if (error) {
        tch_free(tch);
        return error;
    }
    digest_start(&digest);
    digest_add(&digest, bytes, size);
    digest_finish(&digest, tch->digest);
    return NULL;
}

struct error *tch_read(const char *path, struct tch *tch)
{
    unsigned char *bytes = NULL;
    size_t size;
    struct error *error = file_read(path, &bytes, &size);

    memset(tch, 0, sizeof *tch);
    if (!error)
        error = tch_read_memory(bytes, size, tch);
    free(bytes);
    return error_in(file_shown(path), error);
}

const struct tch_tensor *tch_find(const struct tch *tch, const char *name)
{
    for (size_t i = 0; i < tch->count; i++)
        if (strcmp(tch->tensors[i].name, name) == 0)
            return &tch->tensors[i];
    return NULL;
}

static void write_notes(FILE *stream, const char *notes)
{
    for (const char *note = notes; note && *note;) {
        size_t length = strcspn(note, "\n");

        fprintf(stream, "note %.*s\n", (int)length, note);
        note += length + (note[length] == '\n');
    }
}

struct error *tch_write(FILE *stream, const struct tch *tch)
{
    fprintf(stream, "%s\nnetwork %s\n", first_line, tch->network);
    write_notes(stream, tch->notes);
    for (size_t i = 0; i < tch->count; i++)
        fprintf(stream, "tensor %s\n", tch->tensors[i].name);
    fputs("end\n", stream);
    for (size_t i = 0; i < tch->count; i++) {
        const struct tch_tensor *tensor = &tch->tensors[i];
        struct npy_error problem;

        if (npy_write_data(stream, NPY_FLOAT, sizeof(float), tensor->ndim, tensor->shape,
                           tensor->values, &problem) != 0)
            return error_make("%s: %s", tensor->name, problem.message);
    }
    if (fflush(stream) != 0 || ferror(stream))
        return error_system("writing");
    return NULL;
}

void tch_free(struct tch *tch)
{
    for (size_t i = 0; i < tch->count; i++) {
        free((char *)tch->tensors[i].name);
        free(tch->tensors[i].values);
    }
    free(tch->tensors);
    free((char *)tch->network);
    free(tch->notes);
    memset(tch, 0, sizeof *tch);
}
