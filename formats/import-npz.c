/* NPZ: a ZIP of NPY files, as np.savez and sc-export write it.  The series are the array X, or
 * data, or X_train and the like; their labels are y, labels or target with the same ending. */
#include "formats/import-internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zip.h>

#include "base/memory_stream.h"
#include "base/scratch.h"

static struct error *from_zip(zip_t *zip)
{
    return error_make("%s", zip_strerror(zip));
}

/* The length of a member's name without .npy, or 0 if it is no array. */
static size_t array_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;

    return length > 4 && strcmp(name + length - 4, ".npy") == 0 ? length - 4 : 0;
}

/* ---- Names ---- */

/* Whether an array of that name holds series; *ending is set to what follows: "" or "_train". */
static bool is_series_name(const char *name, size_t length, const char **ending)
{
    static const char *const stems[] = {"x", "data", "series"};

    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        size_t stem = strlen(stems[i]);

        if (length >= stem && strncasecmp(name, stems[i], stem) == 0 &&
            (length == stem || name[stem] == '_')) {
            *ending = name + stem;
            return true;
        }
    }
    return false;
}

/* The names of all arrays, or of those that may be the series: "X_train, X_test". */
static struct error *list_arrays(zip_t *zip, bool series, struct memory_stream *list)
{
    const char *ending;
    size_t shown = 0;

    TRY(memory_stream_open("names of arrays", list));
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);
        size_t length = array_name(name);

        if (length && (!series || is_series_name(name, length, &ending)))
            fprintf(list->stream, "%s%.*s", shown++ ? ", " : "", (int)length, name);
    }
    return memory_stream_close(list);
}

static struct error *not_one_series(zip_t *zip, const char *wanted, size_t found)
{
    struct memory_stream list;
    struct error *error = list_arrays(zip, found > 1, &list);

    if (error)
        return error;
    if (!*list.bytes)
        error = error_make("a ZIP file without arrays (NPY) in it");
    else if (wanted)
        error = error_make("no array is called '%s'; there are: %s", wanted, list.bytes);
    else if (found)
        error = error_make("several arrays of series: %s; --array says which", list.bytes);
    else
        error = error_make("no array is called X; --array says which of these are the series: %s",
                           list.bytes);
    memory_stream_free(&list);
    return error;
}

/* The member that holds the series, and what its name ends with. */
static struct error *find_series(zip_t *zip, const char *wanted, zip_uint64_t *index,
                                 const char **ending)
{
    size_t found = 0;

    *ending = "";
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0), *rest = "";
        size_t length = array_name(name);
        bool series = length && is_series_name(name, length, &rest);

        if (wanted ? length == strlen(wanted) && memcmp(name, wanted, length) == 0 : series) {
            *index = (zip_uint64_t)i;
            *ending = series ? rest : ".npy";
            found++;
        }
    }
    return found == 1 ? NULL : not_one_series(zip, wanted, found);
}

/* The member that is called one of the stems with that ending (which has .npy); false: none. */
static bool find_member(zip_t *zip, const char *const *stems, const char *ending,
                        zip_uint64_t *index)
{
    for (; *stems; stems++) {
        size_t stem = strlen(*stems);

        for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++) {
            const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);

            if (array_name(name) && strncasecmp(name, *stems, stem) == 0 &&
                strcasecmp(name + stem, ending) == 0) {
                *index = (zip_uint64_t)i;
                return true;
            }
        }
    }
    return false;
}

/* ---- Members ---- */

/* The bytes of a member, which the caller frees by scratch_free. */
static struct error *read_member(zip_t *zip, zip_uint64_t index, void **bytes, size_t *size)
{
    const zip_uint64_t most_ratio = 1100; /* deflate cannot do more */
    zip_uint64_t done = 0;
    zip_int64_t part = 1;
    zip_file_t *file;
    zip_stat_t status;

    *bytes = NULL;
    if (zip_stat_index(zip, index, 0, &status) ||
        !(status.valid & ZIP_STAT_SIZE && status.valid & ZIP_STAT_COMP_SIZE))
        return from_zip(zip);
    if (status.size / most_ratio > status.comp_size + 1)
        return error_make("%s: damaged: its compressed bytes cannot give that size", status.name);
    file = zip_fopen_index(zip, index, 0);
    if (!file)
        return from_zip(zip);
    *size = (size_t)status.size;
    *bytes = scratch_new(1, *size + 1);
    while (*bytes && done < status.size && part > 0) {
        part = zip_fread(file, (char *)*bytes + done, status.size - done);
        done += part > 0 ? (zip_uint64_t)part : 0;
    }
    /* Only the read at the end looks at the checksum. */
    if (*bytes && part > 0 && zip_fread(file, (char *)*bytes + done, 1) != 0)
        part = -1;
    zip_fclose(file);
    if (!*bytes)
        return error_memory("the series");
    if (part >= 0 && done == status.size)
        return NULL;
    scratch_free(*bytes);
    *bytes = NULL;
    return error_make("%s: damaged", status.name);
}

/* Reads a member that is one array; *bytes hold it, and are the caller's to free, after it. */
static struct error *read_array(zip_t *zip, zip_uint64_t index, void **bytes,
                                struct npy_array *array)
{
    struct npy_error npy_error = {.message = "empty"};
    npy_reader *reader;
    size_t size;
    int result;

    memset(array, 0, sizeof *array);
    TRY(read_member(zip, index, bytes, &size));
    reader = npy_open_memory(*bytes, size, &npy_error);
    result = reader ? npy_next(reader, array, &npy_error) : -1;
    npy_close(reader);
    return result == 1 ? NULL
                       : error_in(zip_get_name(zip, index, 0), dataset_npy_error(&npy_error));
}

/* ---- The dataset ---- */

struct texts {
    char **items;
    size_t count;
};

static struct error *take_texts(zip_t *zip, const char *name, struct texts *texts)
{
    const char *const stems[] = {name, NULL};
    struct npy_error npy_error;
    struct npy_array array;
    struct error *error;
    zip_uint64_t index;
    void *bytes = NULL;

    if (!find_member(zip, stems, ".npy", &index))
        return NULL;
    error = read_array(zip, index, &bytes, &array);
    if (!error && array.kind == NPY_UNICODE && array.ndim <= 1 &&
        array.count <= DATASET_MOST_CLASSES) {
        texts->items = npy_strings(&array, &npy_error);
        texts->count = array.count;
        if (!texts->items)
            error = dataset_npy_error(&npy_error);
    }
    npy_array_free(&array);
    scratch_free(bytes);
    return error;
}

static struct error *take_labels(struct import_source *source, zip_t *zip, const char *ending)
{
    static const char *const stems[] = {"y", "labels", "label", "target", "targets", NULL};
    struct texts names = {0};
    struct npy_array y;
    struct error *error;
    zip_uint64_t index;
    void *bytes = NULL;

    if (!find_member(zip, stems, ending, &index))
        return NULL;
    TRY(take_texts(zip, "classes", &names));
    error = read_array(zip, index, &bytes, &y);
    if (!error)
        error = error_in(zip_get_name(zip, index, 0),
                         import_take_labels(source, &y, names.items, names.count));
    npy_array_free(&y);
    scratch_free(bytes);
    free(names.items);
    return error;
}

static struct error *take_groups(struct import_source *source, zip_t *zip, const char *ending)
{
    static const char *const stems[] = {"groups", "group", NULL};
    struct npy_array groups;
    struct error *error;
    zip_uint64_t index;
    void *bytes = NULL;

    if (!find_member(zip, stems, ending, &index))
        return NULL;
    error = read_array(zip, index, &bytes, &groups);
    if (!error)
        error = error_in(zip_get_name(zip, index, 0), import_take_groups(source, &groups));
    npy_array_free(&groups);
    scratch_free(bytes);
    return error;
}

static struct error *take_notes(struct import_source *source, zip_t *zip)
{
    struct texts notes = {0};

    TRY(take_texts(zip, "notes", &notes));
    if (notes.count == 1) {
        source->notes = strdup(notes.items[0]);
        if (!source->notes) {
            free(notes.items);
            return error_memory("notes");
        }
    }
    free(notes.items);
    return NULL;
}

static struct error *take_series(struct import_source *source, zip_t *zip, zip_uint64_t index)
{
    struct npy_error npy_error;
    npy_reader *reader;
    struct error *error;
    size_t size;

    TRY(read_member(zip, index, &source->member, &size));
    reader = npy_open_memory(source->member, size, &npy_error);
    error = reader ? import_take_series(source, reader) : dataset_npy_error(&npy_error);
    npy_close(reader);
    return error_in(zip_get_name(zip, index, 0), error);
}

static struct error *take_all(struct import_source *source, zip_t *zip)
{
    static const char *const soft[] = {"soft", NULL};
    const char *ending;
    zip_uint64_t index;

    TRY(find_series(zip, source->options->array, &index, &ending));
    TRY(take_series(source, zip, index));
    TRY(take_labels(source, zip, ending));
    TRY(take_groups(source, zip, ending));
    if (find_member(zip, soft, ending, &index))
        TRY(import_note(source->remarks, true, "%s: its soft labels are left out", source->name));
    return take_notes(source, zip);
}

struct error *import_npz(struct import_source *source, const char *bytes, size_t size,
                         const char *labels)
{
    zip_source_t *memory;
    struct digest digest;
    struct error *error;
    zip_error_t reason;
    zip_t *zip;

    zip_error_init(&reason);
    memory = zip_source_buffer_create(bytes, size, 0, &reason);
    zip = memory ? zip_open_from_source(memory, ZIP_RDONLY, &reason) : NULL;
    if (!zip) {
        error =
            error_in(source->name, error_make("not an NPZ file: %s", zip_error_strerror(&reason)));
        zip_source_free(memory);
        zip_error_fini(&reason);
        return error;
    }
    error = error_in(source->name, take_all(source, zip));
    zip_discard(zip);
    digest_start(&digest);
    digest_add(&digest, bytes, size);
    digest_finish(&digest, source->digest);
    return error ? error : import_take_files(source, labels);
}
