/* An .npz is a ZIP of NPY files, not compressed: only the disk takes time.  The
 * arrays' data are handed to libzip where they are; libzip writes to the output itself if that can
 * seek, else to a file without a name that is copied. */
#include "formats/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zip.h>

#include "base/memory_stream.h"
#include "base/scratch.h"

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

/* A new member, whose header is still to be written. */
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

/* Where libzip writes to. */
struct target {
    FILE *stream;
    zip_int64_t start; /* of the archive in it */
    zip_int64_t end;   /* how far it was written when it was last sought in */
    bool written;
    zip_error_t error;
};

static zip_int64_t target_fail(struct target *target, int why)
{
    zip_error_set(&target->error, why, errno);
    return -1;
}

static zip_int64_t seek_target(struct target *target, void *data, zip_uint64_t size)
{
    zip_int64_t at = ftello(target->stream) - target->start, wanted;

    target->end = at > target->end ? at : target->end;
    wanted = zip_source_seek_compute_offset((zip_uint64_t)at, (zip_uint64_t)target->end, data, size,
                                            &target->error);
    if (wanted < 0)
        return -1;
    return fseeko(target->stream, target->start + wanted, SEEK_SET)
               ? target_fail(target, ZIP_ER_SEEK)
               : 0;
}

/* What libzip calls to write the archive. */
static zip_int64_t target_source(void *context, void *data, zip_uint64_t size,
                                 zip_source_cmd_t command)
{
    struct target *target = context;
    zip_stat_t *status = data;

    switch (command) {
    case ZIP_SOURCE_STAT: /* there is no such archive yet */
        zip_stat_init(status);
        errno = ENOENT;
        return target->written ? (zip_int64_t)sizeof *status : target_fail(target, ZIP_ER_READ);
    case ZIP_SOURCE_BEGIN_WRITE:
        return 0;
    case ZIP_SOURCE_WRITE:
        errno = 0;
        return fwrite(data, 1, size, target->stream) == size ? (zip_int64_t)size
                                                             : target_fail(target, ZIP_ER_WRITE);
    case ZIP_SOURCE_SEEK_WRITE:
        return seek_target(target, data, size);
    case ZIP_SOURCE_TELL_WRITE:
        return ftello(target->stream) - target->start;
    case ZIP_SOURCE_COMMIT_WRITE:
        target->written = true;
        return fflush(target->stream) ? target_fail(target, ZIP_ER_WRITE) : 0;
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&target->error, data, size);
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
            ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE,
            ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, -1);
    default:
        return target_fail(target, ZIP_ER_OPNOTSUPP);
    }
}

/* Appends what was written to a file to a stream. */
static struct error *copy_out(FILE *from, FILE *stream)
{
    static const size_t size = (size_t)1 << 16;
    char *buffer = malloc(size);
    struct error *error = buffer ? NULL : error_memory("the archive");
    size_t part;

    rewind(from);
    while (!error && (part = fread(buffer, 1, size, from)) > 0) {
        errno = 0;
        if (fwrite(buffer, 1, part, stream) != part)
            error = error_make("%s", errno ? strerror(errno) : "write failed");
    }
    if (!error && ferror(from))
        error = error_make("%s", strerror(errno));
    free(buffer);
    return error;
}

static struct error *write_zip(struct target *target, struct archive *archive)
{
    struct error *error;
    zip_source_t *source = zip_source_function_create(target_source, target, &target->error);
    zip_t *zip =
        source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &target->error) : NULL;

    if (!zip) {
        zip_source_free(source);
        return error_make("%s", zip_error_strerror(&target->error));
    }
    error = fill_zip(zip, archive);
    if (!error && zip_close(zip))
        error = from_zip(zip);
    else if (!error)
        return NULL;
    zip_discard(zip);
    return error;
}

static bool can_seek(FILE *stream)
{
    const int file = fileno(stream), flags = file < 0 ? 0 : fcntl(file, F_GETFL);
    const off_t start = ftello(stream);

    return start >= 0 && flags >= 0 && !(flags & O_APPEND) && fseeko(stream, start, SEEK_SET) == 0;
}

/* To the stream, or by way of a file where that cannot seek. */
static struct error *write_archive(FILE *stream, struct archive *archive)
{
    struct target target = {.stream = stream};
    FILE *file = NULL;
    struct error *error;

    if (can_seek(stream)) {
        target.start = ftello(stream);
    } else {
        errno = 0;
        file = scratch_file();
        if (!file)
            return error_make("a file for the archive: %s", strerror(errno));
        target = (struct target){.stream = file};
    }
    zip_error_init(&target.error);
    error = write_zip(&target, archive);
    zip_error_fini(&target.error);
    if (!error && file)
        error = copy_out(file, stream);
    if (file)
        fclose(file);
    return error;
}

struct error *export_npz(FILE *stream, const struct dataset *dataset)
{
    struct archive archive = {.count = 0};
    struct error *error = add_all(&archive, dataset);

    if (!error)
        error = write_archive(stream, &archive);
    for (size_t i = 0; i < archive.count; i++)
        memory_stream_free(&archive.members[i].head);
    return error;
}
