/* Arrays and what they live in. */
#include "npy-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_EMPTY_STRINGS = 1 << 20 };

struct npy_storage *npy_storage_new(void *base, size_t size, int source)
{
    struct npy_storage *storage = calloc(1, sizeof *storage);

    if (!storage)
        return NULL;
    atomic_init(&storage->users, 1);
    storage->base = base;
    storage->size = size;
    storage->source = source;
    return storage;
}

void npy_storage_release(struct npy_storage *storage)
{
    if (!storage || atomic_fetch_sub(&storage->users, 1) > 1)
        return;
    if (storage->released)
        storage->released(storage->context);
    if (storage->source == NPY_OWNED)
        free(storage->base);
    else if (storage->source == NPY_MAPPED)
        munmap(storage->base, storage->size);
    free(storage);
}

void npy_advise(const void *begin, size_t bytes, bool needed)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)begin, to = from + bytes;

    if (needed) {
        from -= from % page;
    } else {
        from += (page - from % page) % page;
        to -= to % page;
    }
    if (from < to)
        madvise((void *)from, to - from, needed ? MADV_WILLNEED : MADV_DONTNEED);
}

void npy_array_advise(const struct npy_array *array, size_t begin, size_t bytes, bool needed)
{
    const struct npy_storage *storage = array->storage;
    size_t size = array->count * array->item_size;

    if (!storage || storage->source != NPY_MAPPED || storage->size < NPY_LARGE || begin >= size)
        return;
    npy_advise((const char *)array->data + begin, bytes < size - begin ? bytes : size - begin,
               needed);
}

bool npy_array_is_mapped(const struct npy_array *array)
{
    return array->storage && array->storage->source == NPY_MAPPED;
}

int npy_array_allocate(struct npy_array *array, const struct npy_header *header,
                       struct npy_error *error)
{
    /* Whole cache lines, so that vector code may start at the beginning of one. */
    size_t room = (header->bytes | 63) + 1;
    void *data = aligned_alloc(64, room);

    memset(array, 0, sizeof *array);
    if (data)
        array->storage = npy_storage_new(data, room, NPY_OWNED);
    if (!array->storage) {
        free(data);
        return npy_fail(error, "out of memory for %zu bytes", header->bytes);
    }
    array->kind = header->kind;
    array->item_size = header->item_size;
    array->ndim = header->ndim;
    memcpy(array->shape, header->shape, sizeof array->shape);
    array->count = header->count;
    array->data = data;
    return 0;
}

int npy_array_new(struct npy_array *array, enum npy_kind kind, size_t item_size, size_t ndim,
                  const size_t *shape, struct npy_error *error)
{
    struct npy_header header = {.kind = kind, .item_size = item_size, .ndim = ndim};

    memset(array, 0, sizeof *array);
    if (ndim > NPY_MAX_DIMS)
        return npy_fail(error, "more than %d dimensions", NPY_MAX_DIMS);
    if (ndim)
        memcpy(header.shape, shape, ndim * sizeof *shape);
    if (npy_count(&header, error) || npy_array_allocate(array, &header, error))
        return -1;
    memset(array->data, 0, header.bytes);
    return 0;
}

void npy_array_free(struct npy_array *array)
{
    npy_storage_release(array->storage);
    memset(array, 0, sizeof *array);
}

void npy_type_name(enum npy_kind kind, size_t item_size, char name[24])
{
    const uint16_t one = 1;
    char order = item_size == 1 || kind == NPY_BYTES ? '|'
                 : *(const unsigned char *)&one == 1 ? '<'
                                                     : '>';

    if (kind == NPY_UNICODE)
        item_size /= 4;
    snprintf(name, 24, "%c%c%zu", order, (char)kind, item_size);
}

/* ---- Conversion ---- */

/* IEEE half precision: 1 sign, 5 exponent, 10 mantissa bits. */
static float half_to_float(uint16_t half)
{
    uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
    float magnitude;

    if (exponent == 31)
        magnitude = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = (float)mantissa * 0x1p-24f;
    else {
        uint32_t bits = (exponent + 112) << 23 | mantissa << 13;

        memcpy(&magnitude, &bits, sizeof bits);
    }
    return half & 0x8000 ? -magnitude : magnitude;
}

/* Every source type: letter and size as they select the loop, and the C type. */
#define SOURCES(DO)                                                                                \
    DO('b', 1, uint8_t)                                                                            \
    DO('i', 1, int8_t)                                                                             \
    DO('i', 2, int16_t)                                                                            \
    DO('i', 4, int32_t)                                                                            \
    DO('i', 8, int64_t)                                                                            \
    DO('u', 1, uint8_t)                                                                            \
    DO('u', 2, uint16_t)                                                                           \
    DO('u', 4, uint32_t) DO('u', 8, uint64_t) DO('f', 4, float) DO('f', 8, double)

#define SELECTOR(kind, size) ((unsigned)(kind) << 8 | (unsigned)(size))

#define TO_FLOAT(letter, size, type)                                                               \
    case SELECTOR(letter, size): {                                                                 \
        const type *values = from->data;                                                           \
        if (wide)                                                                                  \
            for (size_t i = 0; i < count; i++)                                                     \
                doubles[i] = (double)values[i];                                                    \
        else                                                                                       \
            for (size_t i = 0; i < count; i++)                                                     \
                floats[i] = (float)values[i];                                                      \
        break;                                                                                     \
    }

static void to_float(const struct npy_array *from, bool wide, void *out)
{
    const size_t count = from->count;
    float *restrict floats = out;
    double *restrict doubles = out;

    switch (SELECTOR(from->kind, from->item_size)) {
        SOURCES(TO_FLOAT)
    case SELECTOR('f', 2): {
        const uint16_t *values = from->data;

        for (size_t i = 0; i < count; i++) {
            if (wide)
                doubles[i] = (double)half_to_float(values[i]);
            else
                floats[i] = half_to_float(values[i]);
        }
        break;
    }
    default:
        break;
    }
}

/* The element as a 64-bit integer; false when it is not whole or does not fit. */
static bool element_to_int(const struct npy_array *from, size_t i, int64_t *value)
{
    double real;

    switch (SELECTOR(from->kind, from->item_size)) {
#define ONE_INT(letter, size, type)                                                                \
    case SELECTOR(letter, size):                                                                   \
        *value = (int64_t)((const type *)from->data)[i];                                           \
        return true;
        ONE_INT('b', 1, uint8_t)
        ONE_INT('i', 1, int8_t)
        ONE_INT('i', 2, int16_t)
        ONE_INT('i', 4, int32_t)
        ONE_INT('i', 8, int64_t)
        ONE_INT('u', 1, uint8_t)
        ONE_INT('u', 2, uint16_t)
        ONE_INT('u', 4, uint32_t)
#undef ONE_INT
    case SELECTOR('u', 8):
        *value = (int64_t)((const uint64_t *)from->data)[i];
        return *value >= 0;
    case SELECTOR('f', 2):
        real = (double)half_to_float(((const uint16_t *)from->data)[i]);
        break;
    case SELECTOR('f', 4):
        real = (double)((const float *)from->data)[i];
        break;
    default:
        real = ((const double *)from->data)[i];
        break;
    }
    /* From -2^63 up to but not including 2^63; NaN fails too. */
    if (!(real >= (double)INT64_MIN && real < -(double)INT64_MIN) || real != floor(real))
        return false;
    *value = (int64_t)real;
    return true;
}

static int to_int(const struct npy_array *from, bool wide, void *out, struct npy_error *error)
{
    char name[24];

    for (size_t i = 0; i < from->count; i++) {
        int64_t value;

        if (!element_to_int(from, i, &value) ||
            (!wide && (value < INT32_MIN || value > INT32_MAX))) {
            npy_type_name(from->kind, from->item_size, name);
            return npy_fail(error, "element %zu (type %s) is not a whole number of %d bits", i,
                            name, wide ? 64 : 32);
        }
        if (wide)
            ((int64_t *)out)[i] = value;
        else
            ((int32_t *)out)[i] = (int32_t)value;
    }
    return 0;
}

int npy_convert(struct npy_array *array, enum npy_kind kind, size_t item_size,
                struct npy_error *error)
{
    struct npy_header header = {.kind = kind, .item_size = item_size, .ndim = array->ndim};
    struct npy_array converted;

    if (array->kind == kind && array->item_size == item_size)
        return 0;
    if (array->kind == NPY_UNICODE)
        return npy_fail(error, "expected numbers, got text");
    if ((kind != NPY_FLOAT && kind != NPY_INT) || (item_size != 4 && item_size != 8))
        return npy_fail(error, "cannot convert to %c%zu", (char)kind, item_size);
    memcpy(header.shape, array->shape, sizeof header.shape);
    if (npy_count(&header, error) || npy_array_allocate(&converted, &header, error))
        return -1;
    if (kind == NPY_FLOAT)
        to_float(array, item_size == 8, converted.data);
    else if (to_int(array, item_size == 8, converted.data, error)) {
        npy_array_free(&converted);
        return -1;
    }
    npy_array_free(array);
    *array = converted;
    return 0;
}

/* ---- Strings ---- */

/* Writes a code point as UTF-8; what is not one becomes U+FFFD.  Returns its bytes. */
static size_t encode_utf8(uint32_t point, char *out)
{
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        point = 0xfffd;
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 63));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 63));
        out[2] = (char)(0x80 | (point & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 63));
    out[2] = (char)(0x80 | (point >> 6 & 63));
    out[3] = (char)(0x80 | (point & 63));
    return 4;
}

char **npy_strings(const struct npy_array *array, struct npy_error *error)
{
    const size_t width = array->item_size / 4;
    size_t pointers, text, total;
    char **strings;
    char *next;

    if (array->kind != NPY_UNICODE) {
        npy_fail(error, "expected text, got numbers");
        return NULL;
    }
    /* They have no bytes, so that a file of any size can claim any number of them. */
    if (array->item_size == 0 && array->count > MOST_EMPTY_STRINGS) {
        npy_fail(error, "%zu strings of no characters are too many", array->count);
        return NULL;
    }
    /* At most four bytes for a character and one for the end of each string. */
    if (!npy_multiply(array->count, sizeof *strings, &pointers) ||
        !npy_multiply(array->count, array->item_size + 1, &text) ||
        __builtin_add_overflow(pointers, text, &total) || !(strings = malloc(total ? total : 1))) {
        npy_fail(error, "out of memory for %zu strings", array->count);
        return NULL;
    }
    next = (char *)strings + pointers;
    for (size_t i = 0; i < array->count; i++) {
        const char *characters = (const char *)array->data + i * array->item_size;

        strings[i] = next;
        for (size_t j = 0; j < width; j++) {
            uint32_t point;

            memcpy(&point, characters + 4 * j, sizeof point);
            if (point == 0)
                break;
            next += encode_utf8(point, next);
        }
        *next++ = '\0';
    }
    return strings;
}
