/* Reading: arrays one after another from a mapped file, from memory or from a stream. */
#include "npy-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct npy_reader {
    /* Mapped or in memory: all bytes and how many were consumed. */
    struct npy_storage *storage; /* NULL for a stream */
    /* A stream: bytes come from a function. */
    npy_source *source;
    void *source_context;
    /* What read_descriptor reads. */
    int descriptor;
    bool close_descriptor;

    size_t consumed; /* bytes so far, for messages too */
    size_t arrays;
    void (*seen)(void *context, const void *bytes, size_t size);
    void *seen_context;
};

static const unsigned char magic[NPY_MAGIC_SIZE] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* ---- Opening and closing ---- */

static ssize_t read_descriptor(void *context, void *buffer, size_t size)
{
    const npy_reader *reader = context;

    return read(reader->descriptor, buffer, size);
}

static npy_reader *reader_new(struct npy_storage *storage, int descriptor, struct npy_error *error)
{
    npy_reader *reader = calloc(1, sizeof *reader);

    if (!reader) {
        npy_fail(error, "out of memory");
        return NULL;
    }
    reader->storage = storage;
    reader->source = read_descriptor;
    reader->source_context = reader;
    reader->descriptor = descriptor;
    return reader;
}

npy_reader *npy_open_source(npy_source *source, void *context, struct npy_error *error)
{
    npy_reader *reader = reader_new(NULL, -1, error);

    if (reader) {
        reader->source = source;
        reader->source_context = context;
    }
    return reader;
}

npy_reader *npy_open_memory(const void *bytes, size_t size, struct npy_error *error)
{
    struct npy_storage *storage = npy_storage_new((void *)(uintptr_t)bytes, size, NPY_BORROWED);
    npy_reader *reader = storage ? reader_new(storage, -1, error) : NULL;

    if (!storage)
        npy_fail(error, "out of memory");
    else if (!reader)
        npy_storage_release(storage);
    return reader;
}

/* Maps the rest of a regular file.  NULL without an error when it cannot be mapped. */
static npy_reader *open_mapped(int descriptor, const struct stat *status, struct npy_error *error)
{
    off_t start = lseek(descriptor, 0, SEEK_CUR);
    struct npy_storage *storage = NULL;
    npy_reader *reader = NULL;
    void *base;

    if (start != 0 || status->st_size <= 0 || (uintmax_t)status->st_size > SIZE_MAX)
        return NULL;
    /* Nothing is reserved for changes: the file may be larger than the memory. */
    base = mmap(NULL, (size_t)status->st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                descriptor, 0);
    if (base == MAP_FAILED)
        return NULL;
    npy_advise(base, status->st_size < NPY_LARGE ? (size_t)status->st_size : NPY_AHEAD, true);
    storage = npy_storage_new(base, (size_t)status->st_size, NPY_MAPPED);
    if (storage)
        reader = reader_new(storage, -1, error);
    if (!reader) {
        munmap(base, (size_t)status->st_size);
        free(storage);
    }
    return reader;
}

npy_reader *npy_open_fd(int descriptor, struct npy_error *error)
{
    struct stat status;
    npy_reader *reader = NULL;

    if (fstat(descriptor, &status)) {
        npy_fail(error, "%s", strerror(errno));
        return NULL;
    }
    if (S_ISDIR(status.st_mode)) {
        npy_fail(error, "%s", strerror(EISDIR));
        return NULL;
    }
    if (S_ISREG(status.st_mode))
        reader = open_mapped(descriptor, &status, error);
    return reader ? reader : reader_new(NULL, descriptor, error);
}

npy_reader *npy_open(const char *path, struct npy_error *error)
{
    npy_reader *reader;
    int descriptor;

    if (strcmp(path, "-") == 0)
        return npy_open_fd(STDIN_FILENO, error);
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        npy_fail(error, "%s", strerror(errno));
        return NULL;
    }
    reader = npy_open_fd(descriptor, error);
    if (reader && !reader->storage)
        reader->close_descriptor = true;
    else
        close(descriptor);
    return reader;
}

void npy_watch(npy_reader *reader, void (*seen)(void *context, const void *bytes, size_t size),
               void *context)
{
    reader->seen = seen;
    reader->seen_context = context;
}

const void *npy_mapping(npy_reader *reader, size_t *size, void (*released)(void *context),
                        void *context)
{
    struct npy_storage *storage = reader->storage;

    if (!storage || storage->source != NPY_MAPPED)
        return NULL;
    storage->released = released;
    storage->context = context;
    *size = storage->size;
    return storage->base;
}

void npy_close(npy_reader *reader)
{
    if (!reader)
        return;
    npy_storage_release(reader->storage);
    if (reader->close_descriptor)
        close(reader->descriptor);
    free(reader);
}

/* ---- Bytes ---- */

static void consume(npy_reader *reader, const void *bytes, size_t size)
{
    if (reader->seen && size)
        reader->seen(reader->seen_context, bytes, size);
    reader->consumed += size;
}

/* The same for data in a mapping, nothing of which has been handed out. */
static void consume_mapped(npy_reader *reader, const char *data, size_t bytes)
{
    const size_t part = (size_t)1 << 20;

    if (!reader->seen || reader->storage->source != NPY_MAPPED ||
        reader->storage->size < NPY_LARGE) {
        consume(reader, data, bytes);
        return;
    }
    for (size_t done = 0; done < bytes;) {
        size_t size = bytes - done < part ? bytes - done : part;

        if (done % NPY_AHEAD == 0 && bytes - done > NPY_AHEAD)
            npy_advise(data + done + NPY_AHEAD,
                       bytes - done - NPY_AHEAD < NPY_AHEAD ? bytes - done - NPY_AHEAD : NPY_AHEAD,
                       true);
        consume(reader, data + done, size);
        done += size;
        if (done % NPY_AHEAD == 0)
            npy_advise(data + done - NPY_AHEAD, NPY_AHEAD, false);
    }
    npy_advise(data, bytes, false);
}

/* Up to size bytes into the buffer; fewer only at the end of the file.  -1 on a read error. */
static int read_some(npy_reader *reader, void *buffer, size_t size, size_t *got,
                     struct npy_error *error)
{
    *got = 0;
    if (reader->storage) {
        size_t left = reader->storage->size - reader->consumed;

        *got = size < left ? size : left;
        if (*got)
            memcpy(buffer, (char *)reader->storage->base + reader->consumed, *got);
    } else {
        while (*got < size) {
            ssize_t part =
                reader->source(reader->source_context, (char *)buffer + *got, size - *got);

            if (part < 0 && errno == EINTR)
                continue;
            if (part < 0)
                return npy_fail(error, "%s", strerror(errno));
            if (part == 0)
                break;
            *got += (size_t)part;
        }
    }
    consume(reader, buffer, *got);
    return 0;
}

static int read_exactly(npy_reader *reader, void *buffer, size_t size, const char *what,
                        struct npy_error *error)
{
    size_t got;

    if (read_some(reader, buffer, size, &got, error))
        return -1;
    if (got < size)
        return npy_fail(error, "truncated: the file ends inside the %s of array %zu", what,
                        reader->arrays + 1);
    return 0;
}

/* ---- Header ---- */

/* 1: header read; 0: clean end of the file; -1: error. */
static int read_header(npy_reader *reader, struct npy_header *header, struct npy_error *error)
{
    unsigned char start[NPY_MAGIC_SIZE + 2], length[4] = {0};
    size_t got, size, start_of_array = reader->consumed;
    char *text;
    int result;

    if (read_some(reader, start, sizeof start, &got, error))
        return -1;
    if (got == 0) {
        if (reader->arrays == 0)
            return npy_fail(error, "empty file");
        return 0;
    }
    if (memcmp(start, magic, got < sizeof magic ? got : sizeof magic) != 0)
        return npy_fail(error,
                        reader->arrays ? "no NPY array at byte %zu (after %zu arrays)"
                                       : "not an NPY file",
                        start_of_array, reader->arrays);
    if (got < sizeof start)
        return npy_fail(error, "truncated: the file ends inside the header of array %zu",
                        reader->arrays + 1);
    if (start[6] < 1 || start[6] > 3)
        return npy_fail(error, "unknown NPY version %u.%u", start[6], start[7]);
    if (read_exactly(reader, length, start[6] == 1 ? 2 : 4, "header", error))
        return -1;
    size = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
           (size_t)length[3] << 24;
    if (size > NPY_MOST_HEADER)
        return npy_fail(error, "header of %zu bytes is too long", size);
    text = malloc(size + 1);
    if (!text)
        return npy_fail(error, "out of memory");
    result = read_exactly(reader, text, size, "header", error);
    if (result == 0)
        result = npy_parse_header(text, size, header, error);
    free(text);
    return result ? -1 : 1;
}

/* ---- Data ---- */

static int truncated(const npy_reader *reader, const struct npy_header *header, size_t got,
                     struct npy_error *error)
{
    return npy_fail(error, "truncated: array %zu needs %zu bytes of data, the file has %zu",
                    reader->arrays + 1, header->bytes, got);
}

static void describe(struct npy_array *array, const struct npy_header *header)
{
    memset(array, 0, sizeof *array);
    array->kind = header->kind;
    array->item_size = header->item_size;
    array->ndim = header->ndim;
    memcpy(array->shape, header->shape, sizeof array->shape);
    array->count = header->count;
}

/* Points into the mapping. */
static int take_mapped(npy_reader *reader, const struct npy_header *header, struct npy_array *array,
                       struct npy_error *error)
{
    size_t left = reader->storage->size - reader->consumed;
    char *data = (char *)reader->storage->base + reader->consumed;

    if (header->bytes > left)
        return truncated(reader, header, left, error);
    describe(array, header);
    array->data = data;
    array->storage = reader->storage;
    atomic_fetch_add(&reader->storage->users, 1);
    consume_mapped(reader, data, header->bytes);
    return 0;
}

/* Reads a stream into memory of its own.  The header may promise anything, so memory is asked for
 * only as data arrives. */
static int take_streamed(npy_reader *reader, const struct npy_header *header,
                         struct npy_array *array, struct npy_error *error)
{
    const size_t first = (size_t)16 << 20;
    size_t room = header->bytes < first ? header->bytes : first, filled = 0, got;
    char *data = malloc(room + 1);

    while (data) {
        if (read_some(reader, data + filled, room - filled, &got, error)) {
            free(data);
            return -1;
        }
        filled += got;
        if (filled == header->bytes)
            break;
        if (filled < room) {
            free(data);
            return truncated(reader, header, filled, error);
        }
        room = header->bytes / 2 < room ? header->bytes : 2 * room;
        char *larger = realloc(data, room + 1);

        if (!larger)
            free(data);
        data = larger;
    }
    describe(array, header);
    if (data)
        array->storage = npy_storage_new(data, filled, NPY_OWNED);
    if (!array->storage) {
        free(data);
        return npy_fail(error, "out of memory for %zu bytes", header->bytes);
    }
    array->data = data;
    return 0;
}

/* Bytes of the unit that is stored in one byte order. */
static size_t unit_size(const struct npy_header *header)
{
    return header->kind == NPY_UNICODE ? 4 : header->kind == NPY_BYTES ? 1 : header->item_size;
}

static bool is_aligned(const struct npy_array *array, const struct npy_header *header)
{
    size_t unit = unit_size(header);

    return unit == 0 || (uintptr_t)array->data % unit == 0;
}

static void swap_bytes(char *data, size_t bytes, size_t unit)
{
    if (unit == 2) {
        for (size_t i = 0; i + 2 <= bytes; i += 2) {
            uint16_t word;

            memcpy(&word, data + i, 2);
            word = __builtin_bswap16(word);
            memcpy(data + i, &word, 2);
        }
    } else if (unit == 4) {
        for (size_t i = 0; i + 4 <= bytes; i += 4) {
            uint32_t word;

            memcpy(&word, data + i, 4);
            word = __builtin_bswap32(word);
            memcpy(data + i, &word, 4);
        }
    } else if (unit == 8) {
        for (size_t i = 0; i + 8 <= bytes; i += 8) {
            uint64_t word;

            memcpy(&word, data + i, 8);
            word = __builtin_bswap64(word);
            memcpy(data + i, &word, 8);
        }
    }
}

/* Copies Fortran order to C order: walks the target in order and keeps the source offset with an
 * odometer of indices. */
static void reorder(const struct npy_header *header, const char *from, char *to)
{
    size_t index[NPY_MAX_DIMS] = {0}, stride[NPY_MAX_DIMS] = {0}, offset = 0;
    const size_t item = header->item_size;

    for (size_t d = 0, step = item; d < header->ndim; d++) {
        stride[d] = step;
        step *= header->shape[d];
    }
    for (size_t i = 0; i < header->count; i++) {
        memcpy(to + i * item, from + offset, item);
        for (size_t d = header->ndim; d-- > 0;) {
            offset += stride[d];
            if (++index[d] < header->shape[d])
                break;
            offset -= stride[d] * header->shape[d];
            index[d] = 0;
        }
    }
}

/* Brings what was taken into C order, native byte order and natural alignment. */
static int normalise(const struct npy_header *header, struct npy_array *array,
                     struct npy_error *error)
{
    bool reordered = header->fortran && header->ndim > 1 && header->count > 1;
    struct npy_array copy;

    if (reordered || !is_aligned(array, header) ||
        (header->swapped && array->storage->source != NPY_OWNED)) {
        if (npy_array_allocate(&copy, header, error))
            return -1;
        if (reordered)
            reorder(header, array->data, copy.data);
        else
            memcpy(copy.data, array->data, header->bytes);
        npy_array_free(array);
        *array = copy;
    }
    if (header->swapped)
        swap_bytes(array->data, header->bytes, unit_size(header));
    return 0;
}

/* Strings of bytes as unicode. */
static int widen(struct npy_array *array, struct npy_error *error)
{
    const unsigned char *bytes = array->data;
    const size_t count = array->count * array->item_size;
    struct npy_array wide;

    if (npy_array_new(&wide, NPY_UNICODE, 4 * array->item_size, array->ndim, array->shape, error))
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] > 127) {
            npy_array_free(&wide);
            return npy_fail(error, "strings of bytes that are not ASCII; save them as unicode "
                                   "instead: np.char.decode(x)");
        }
        ((uint32_t *)wide.data)[i] = bytes[i];
    }
    npy_array_free(array);
    *array = wide;
    return 0;
}

int npy_next(npy_reader *reader, struct npy_array *array, struct npy_error *error)
{
    struct npy_header header;
    int result;

    memset(array, 0, sizeof *array);
    result = read_header(reader, &header, error);
    if (result <= 0)
        return result;
    if (reader->storage ? take_mapped(reader, &header, array, error)
                        : take_streamed(reader, &header, array, error))
        return -1;
    if (normalise(&header, array, error) || (array->kind == NPY_BYTES && widen(array, error))) {
        npy_array_free(array);
        return -1;
    }
    reader->arrays++;
    return 1;
}
