/* An .npz is a ZIP of NPY files, not compressed, so that what takes time is the disk alone.  The
 * arrays' data are handed to libzip where they are; the archive is built in memory, because
 * standard output cannot seek. */
#include "formats/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zip.h>

#include "base/memory_stream.h"

enum { MOST_MEMBERS = 6 };

/* An NPY file in two parts: header (for text, all of it) and data. */
struct member {
    const char *name;
    struct memory_stream head;
    const void *data;
    size_t data_size;
    zip_uint64_t read; /* bytes that libzip has taken */
};

struct archive {
    struct member members[MOST_MEMBERS];
    size_t count;
};

/* ---- Members ---- */

/* A new member, whose head is to be written. */
static struct error *add_member(struct archive *archive, const char *name, struct member **member)
{
    *member = &archive->members[archive->count++];
    (*member)->name = name;
    return memory_stream_open(name, &(*member)->head);
}

static struct error *end_member(struct member *member, int failed, const struct npy_error *error)
{
    TRY(memory_stream_close(&member->head));
    return failed ? error_make("%s", error->message) : NULL;
}

static struct error *add_numbers(struct archive *archive, const char *name, enum npy_kind kind,
                                 size_t ndim, const size_t *shape, const void *data)
{
    struct npy_error error;
    struct member *member;
    size_t count = 1;

    TRY(add_member(archive, name, &member));
    for (size_t i = 0; i < ndim; i++)
        count *= shape[i];
    member->data = data;
    member->data_size = 4 * count;
    return end_member(member, npy_write_header(member->head.stream, kind, 4, ndim, shape, &error),
                      &error);
}

static struct error *add_texts(struct archive *archive, const char *name,
                               const char *const *strings, size_t ndim, size_t count)
{
    struct npy_error error;
    struct member *member;

    TRY(add_member(archive, name, &member));
    return end_member(member, npy_write_strings(member->head.stream, strings, ndim, count, &error),
                      &error);
}

static struct error *add_all(struct archive *archive, const struct dataset *dataset)
{
    const size_t series[] = {dataset->count, dataset->channels, dataset->length};
    const size_t features[] = {dataset->count, dataset_series_size(dataset)};
    const size_t logits[] = {dataset->count, dataset->classes};
    const char *notes = dataset->notes;

    TRY(add_numbers(archive, "X.npy", NPY_FLOAT, dataset->flat ? 2 : 3,
                    dataset->flat ? features : series, dataset->x));
    if (dataset->y)
        TRY(add_numbers(archive, "y.npy", NPY_INT, 1, &dataset->count, dataset->y));
    if (dataset->groups)
        TRY(add_numbers(archive, "groups.npy", NPY_INT, 1, &dataset->count, dataset->groups));
    if (dataset->soft)
        TRY(add_numbers(archive, "soft.npy", NPY_FLOAT, 2, logits, dataset->soft));
    if (dataset->names)
        TRY(add_texts(archive, "classes.npy", (const char *const *)dataset->names, 1,
                      dataset->classes));
    if (notes)
        TRY(add_texts(archive, "notes.npy", &notes, 0, 1));
    return NULL;
}

/* ---- ZIP ---- */

/* The first moment that ZIP knows, in local time, as ZIP has it. */
static time_t fixed_time(void)
{
    struct tm start = {.tm_year = 80, .tm_mday = 1, .tm_isdst = -1};

    return mktime(&start);
}

static zip_int64_t read_part(struct member *member, char *buffer, zip_uint64_t size)
{
    zip_uint64_t done = 0;

    while (done < size && member->read < member->head.size + member->data_size) {
        bool in_head = member->read < member->head.size;
        const char *from = in_head
                               ? member->head.bytes + member->read
                               : (const char *)member->data + (member->read - member->head.size);
        zip_uint64_t left =
            (in_head ? member->head.size : member->head.size + member->data_size) - member->read;
        zip_uint64_t part = left < size - done ? left : size - done;

        memcpy(buffer + done, from, part);
        done += part;
        member->read += part;
    }
    return (zip_int64_t)done;
}

/* What libzip calls to get the bytes of a member. */
static zip_int64_t member_source(void *context, void *data, zip_uint64_t size,
                                 zip_source_cmd_t command)
{
    struct member *member = context;
    zip_stat_t *status = data;

    switch (command) {
    case ZIP_SOURCE_OPEN:
        member->read = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return read_part(member, data, size);
    case ZIP_SOURCE_STAT:
        zip_stat_init(status);
        status->valid = ZIP_STAT_SIZE | ZIP_STAT_MTIME;
        status->size = member->head.size + member->data_size;
        status->mtime = fixed_time();
        return sizeof *status;
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
    case ZIP_SOURCE_ERROR:
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    default:
        return -1;
    }
}

static struct error *from_zip(zip_t *zip)
{
    return error_make("%s", zip_strerror(zip));
}

static struct error *fill_zip(zip_t *zip, struct archive *archive)
{
    for (size_t i = 0; i < archive->count; i++) {
        zip_source_t *source = zip_source_function(zip, member_source, &archive->members[i]);
        zip_int64_t index;

        if (!source)
            return from_zip(zip);
        index = zip_file_add(zip, archive->members[i].name, source, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(source);
            return from_zip(zip);
        }
        if (zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) ||
            zip_file_set_mtime(zip, (zip_uint64_t)index, fixed_time(), 0))
            return from_zip(zip);
    }
    return NULL;
}

static struct error *copy_out(zip_source_t *source, FILE *stream)
{
    static const size_t size = (size_t)1 << 16;
    char *buffer = malloc(size);
    struct error *error = NULL;
    zip_int64_t part = -1;

    if (!buffer)
        return error_memory("the archive");
    if (zip_source_open(source) == 0) {
        while (!error && (part = zip_source_read(source, buffer, size)) > 0) {
            errno = 0;
            if (fwrite(buffer, 1, (size_t)part, stream) != (size_t)part)
                error = error_make("%s", errno ? strerror(errno) : "write failed");
        }
        zip_source_close(source);
    }
    if (!error && part < 0)
        error = error_make("%s", zip_error_strerror(zip_source_error(source)));
    free(buffer);
    return error;
}

static struct error *write_zip(FILE *stream, struct archive *archive)
{
    zip_source_t *memory;
    struct error *error;
    zip_error_t reason;
    zip_t *zip;

    zip_error_init(&reason);
    memory = zip_source_buffer_create(NULL, 0, 0, &reason);
    zip = memory ? zip_open_from_source(memory, ZIP_CREATE | ZIP_TRUNCATE, &reason) : NULL;
    if (!zip) {
        error = error_make("%s", zip_error_strerror(&reason));
        zip_source_free(memory);
        zip_error_fini(&reason);
        return error;
    }
    zip_source_keep(memory);
    error = fill_zip(zip, archive);
    if (!error && zip_close(zip))
        error = from_zip(zip);
    else if (!error)
        zip = NULL;
    if (zip)
        zip_discard(zip);
    else
        error = copy_out(memory, stream);
    zip_source_free(memory);
    return error;
}

struct error *export_npz(FILE *stream, const struct dataset *dataset)
{
    struct archive archive = {.count = 0};
    struct error *error = add_all(&archive, dataset);

    if (!error)
        error = write_zip(stream, &archive);
    for (size_t i = 0; i < archive.count; i++)
        memory_stream_free(&archive.members[i].head);
    return error;
}
