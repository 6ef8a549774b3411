/* The header of an NPY file is a Python dictionary in text, for example
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (10, 3), }
 *
 * This parses just that: three keys in any order, each once, and nothing else. */
#include "npy-internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int npy_fail(struct npy_error *error, const char *format, ...)
{
    va_list arguments;

    if (error) {
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        error->memory = strncmp(format, "out of memory", 13) == 0;
    }
    return -1;
}

bool npy_multiply(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

int npy_count(struct npy_header *header, struct npy_error *error)
{
    /* Empty arrays are legal, but the other sizes must not overflow either. */
    size_t without_zeros = header->item_size ? header->item_size : 1;

    header->count = 1;
    for (size_t i = 0; i < header->ndim; i++) {
        size_t extent = header->shape[i];

        if (extent && !npy_multiply(without_zeros, extent, &without_zeros))
            return npy_fail(error, "shape is too large for this machine");
        header->count *= extent;
    }
    if (without_zeros > PTRDIFF_MAX)
        return npy_fail(error, "shape is too large for this machine");
    header->bytes = header->count * header->item_size;
    return 0;
}

struct parser {
    const char *next;
    const char *end;
};

static void skip_space(struct parser *parser)
{
    while (parser->next < parser->end && isspace((unsigned char)*parser->next))
        parser->next++;
}

/* Skips space, then the character if it is there. */
static bool accept(struct parser *parser, char character)
{
    skip_space(parser);
    if (parser->next == parser->end || *parser->next != character)
        return false;
    parser->next++;
    return true;
}

static bool accept_word(struct parser *parser, const char *word)
{
    size_t length = strlen(word);

    skip_space(parser);
    if ((size_t)(parser->end - parser->next) < length || memcmp(parser->next, word, length) != 0)
        return false;
    parser->next += length;
    return true;
}

/* A quoted string without escapes, cut to the size of the buffer. */
static bool parse_string(struct parser *parser, char *buffer, size_t size)
{
    size_t length = 0;
    char quote;

    skip_space(parser);
    if (parser->next == parser->end || (*parser->next != '\'' && *parser->next != '"'))
        return false;
    quote = *parser->next++;
    while (parser->next < parser->end && *parser->next != quote) {
        if (*parser->next == '\\')
            return false;
        if (length + 1 < size)
            buffer[length++] = *parser->next;
        parser->next++;
    }
    buffer[length] = '\0';
    return accept(parser, quote);
}

static int parse_extent(struct parser *parser, size_t *extent, struct npy_error *error)
{
    size_t value = 0;

    if (accept(parser, '-'))
        return npy_fail(error, "negative shape");
    skip_space(parser);
    if (parser->next == parser->end || !isdigit((unsigned char)*parser->next))
        return npy_fail(error, "malformed shape");
    while (parser->next < parser->end && isdigit((unsigned char)*parser->next)) {
        if (!npy_multiply(value, 10, &value) ||
            __builtin_add_overflow(value, (size_t)(*parser->next - '0'), &value))
            return npy_fail(error, "shape is too large for this machine");
        parser->next++;
    }
    /* Python 2 wrote long integers as 10L. */
    if (parser->next < parser->end && *parser->next == 'L')
        parser->next++;
    *extent = value;
    return 0;
}

static int parse_shape(struct parser *parser, struct npy_header *header, struct npy_error *error)
{
    header->ndim = 0;
    if (!accept(parser, '('))
        return npy_fail(error, "malformed shape");
    while (!accept(parser, ')')) {
        if (header->ndim == NPY_MAX_DIMS)
            return npy_fail(error, "more than %d dimensions", NPY_MAX_DIMS);
        if (parse_extent(parser, &header->shape[header->ndim++], error))
            return -1;
        if (accept(parser, ','))
            continue;
        if (header->ndim == 1 || !accept(parser, ')')) /* (3) is a number, not a shape */
            return npy_fail(error, "malformed shape");
        break;
    }
    return 0;
}

static bool native_is_little(void)
{
    const uint16_t one = 1;

    return *(const unsigned char *)&one == 1;
}

static int parse_type(const char *descr, struct npy_header *header, struct npy_error *error)
{
    char order = descr[0], kind = order ? descr[1] : '\0';
    char *end = NULL;
    unsigned long size;

    if (kind == 'O')
        return npy_fail(error,
                        "array of Python objects; save numbers or text instead: x.astype('f4'), "
                        "y.astype(str)");
    if (!order || !strchr("<>|=", order) || !kind || !isdigit((unsigned char)descr[2]))
        return npy_fail(error, "unknown type '%s'", descr);
    size = strtoul(descr + 2, &end, 10);
    if (*end != '\0' && *end != '[') /* datetimes end in [unit] */
        return npy_fail(error, "unknown type '%s'", descr);
    header->kind = (enum npy_kind)kind;
    header->item_size = size;
    header->swapped = order != '=' && order != '|' && (order == '<') != native_is_little();
    switch (kind) {
    case NPY_BOOL:
        if (size == 1)
            return 0;
        break;
    case NPY_INT:
    case NPY_UINT:
        if (size == 1 || size == 2 || size == 4 || size == 8)
            return 0;
        break;
    case NPY_FLOAT:
        if (size == 2 || size == 4 || size == 8)
            return 0;
        break;
    case NPY_UNICODE:
        if (size <= SIZE_MAX / 8 && *end == '\0') {
            header->item_size = 4 * size;
            return 0;
        }
        break;
    case NPY_BYTES:
        if (size <= SIZE_MAX / 8 && *end == '\0')
            return 0;
        break;
    case 'c':
        return npy_fail(error, "expected real numbers, got complex%lu", size * 8);
    default:
        break;
    }
    return npy_fail(error, "type '%s' is not supported (real numbers and strings are)", descr);
}

static int parse_entry(struct parser *parser, const char *key, unsigned *found,
                       struct npy_header *header, struct npy_error *error)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned which = 0;
    char descr[64];

    while (which < 3 && strcmp(key, keys[which]) != 0)
        which++;
    if (which == 3)
        return npy_fail(error, "unknown key '%s' in the header", key);
    if (*found & 1u << which)
        return npy_fail(error, "key '%s' stands twice in the header", key);
    *found |= 1u << which;
    if (!accept(parser, ':'))
        return npy_fail(error, "malformed header");
    switch (which) {
    case 0:
        if (accept(parser, '['))
            return npy_fail(error, "structured arrays are not supported");
        if (!parse_string(parser, descr, sizeof descr))
            return npy_fail(error, "malformed header");
        return parse_type(descr, header, error);
    case 1:
        header->fortran = accept_word(parser, "True");
        if (!header->fortran && !accept_word(parser, "False"))
            return npy_fail(error, "malformed header: fortran_order is neither True nor False");
        return 0;
    default:
        return parse_shape(parser, header, error);
    }
}

int npy_parse_header(const char *text, size_t size, struct npy_header *header,
                     struct npy_error *error)
{
    struct parser parser = {text, text + size};
    unsigned found = 0;
    char key[32];

    memset(header, 0, sizeof *header);
    if (!accept(&parser, '{'))
        return npy_fail(error, "malformed header");
    while (!accept(&parser, '}')) {
        if (!parse_string(&parser, key, sizeof key))
            return npy_fail(error, "malformed header");
        if (parse_entry(&parser, key, &found, header, error))
            return -1;
        if (accept(&parser, ','))
            continue;
        if (!accept(&parser, '}'))
            return npy_fail(error, "malformed header");
        break;
    }
    skip_space(&parser);
    if (parser.next != parser.end)
        return npy_fail(error, "malformed header: something follows the dictionary");
    if (found != 7)
        return npy_fail(error, "malformed header: descr, fortran_order and shape are needed");
    return npy_count(header, error);
}
