/* Writing.  Data starts at a multiple of 64 bytes, as NumPy does it, so that it can be mapped. */
#include "npy-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int write_bytes(FILE *stream, const void *bytes, size_t size, struct npy_error *error)
{
    if (size && fwrite(bytes, 1, size, stream) != size)
        return npy_fail(error, "%s", errno ? strerror(errno) : "write failed");
    return 0;
}

int npy_write_header(FILE *stream, enum npy_kind kind, size_t item_size, size_t ndim,
                     const size_t *shape, struct npy_error *error)
{
    /* 32 extents of at most 20 digits with separators, and the rest. */
    char dictionary[1024], type[24];
    unsigned char start[10];
    size_t length, padding;
    int used;

    if (ndim > NPY_MAX_DIMS)
        return npy_fail(error, "more than %d dimensions", NPY_MAX_DIMS);
    npy_type_name(kind, item_size, type);
    used = snprintf(dictionary, sizeof dictionary,
                    "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (size_t i = 0; i < ndim; i++)
        used += snprintf(dictionary + used, sizeof dictionary - (size_t)used, "%s%zu",
                         i ? ", " : "", shape[i]);
    used += snprintf(dictionary + used, sizeof dictionary - (size_t)used, "%s), }",
                     ndim == 1 ? "," : "");
    padding = 63 - (sizeof start + (size_t)used) % 64;
    length = (size_t)used + padding + 1;
    memset(dictionary + used, ' ', padding);
    dictionary[length - 1] = '\n';
    memcpy(start, "\x93NUMPY\x01", 8); /* the end of the string is the minor version 0 */
    start[8] = (unsigned char)(length & 255);
    start[9] = (unsigned char)(length >> 8);
    errno = 0;
    if (write_bytes(stream, start, sizeof start, error))
        return -1;
    return write_bytes(stream, dictionary, length, error);
}

int npy_write_data(FILE *stream, enum npy_kind kind, size_t item_size, size_t ndim,
                   const size_t *shape, const void *data, struct npy_error *error)
{
    struct npy_header header = {.kind = kind, .item_size = item_size, .ndim = ndim};

    if (npy_write_header(stream, kind, item_size, ndim, shape, error))
        return -1;
    if (ndim)
        memcpy(header.shape, shape, ndim * sizeof *shape);
    if (npy_count(&header, error))
        return -1;
    return write_bytes(stream, data, header.bytes, error);
}

int npy_write(FILE *stream, const struct npy_array *array, struct npy_error *error)
{
    return npy_write_data(stream, array->kind, array->item_size, array->ndim, array->shape,
                          array->data, error);
}

/* The next code point of UTF-8 text; a byte that does not start one is taken as Latin-1. */
static uint32_t decode_utf8(const unsigned char **next)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *text = *next;
    int more = text[0] >= 0xf0 && text[0] < 0xf8   ? 3
               : text[0] >= 0xe0 && text[0] < 0xf0 ? 2
               : text[0] >= 0xc0 && text[0] < 0xe0 ? 1
                                                   : 0;
    uint32_t point = more ? text[0] & (0x3fu >> more) : text[0];

    for (int i = 1; i <= more; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            more = 0;
            break;
        }
        point = point << 6 | (text[i] & 63);
    }
    if (more && (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)))
        more = 0;
    *next = text + 1 + more;
    return more ? point : text[0];
}

static size_t count_points(const char *string)
{
    const unsigned char *next = (const unsigned char *)string;
    size_t points = 0;

    for (; *next; points++)
        decode_utf8(&next);
    return points;
}

int npy_write_strings(FILE *stream, const char *const *strings, size_t ndim, size_t count,
                      struct npy_error *error)
{
    size_t width = 0;
    int result = 0;
    uint32_t *row;

    for (size_t i = 0; i < count; i++) {
        size_t points = count_points(strings[i]);

        width = points > width ? points : width;
    }
    if (width == 0)
        width = 1; /* as NumPy stores empty strings */
    if (npy_write_header(stream, NPY_UNICODE, 4 * width, ndim, &count, error))
        return -1;
    row = malloc(width * sizeof *row);
    if (!row)
        return npy_fail(error, "out of memory");
    for (size_t i = 0; i < count && result == 0; i++) {
        const unsigned char *next = (const unsigned char *)strings[i];

        memset(row, 0, width * sizeof *row);
        for (size_t j = 0; *next; j++)
            row[j] = decode_utf8(&next);
        result = write_bytes(stream, row, width * sizeof *row, error);
    }
    free(row);
    return result;
}
