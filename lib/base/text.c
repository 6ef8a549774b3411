#include "base/text.h"

#include <string.h>
#include <strings.h>

/* Where a text that ends with `end` would have it; NULL if it is too short. */
static const char *tail(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);

    return length >= wanted ? text + length - wanted : NULL;
}

bool text_ends_with(const char *text, const char *end)
{
    const char *last = tail(text, end);

    return last && strcmp(last, end) == 0;
}

bool text_ends_with_nocase(const char *text, const char *end)
{
    const char *last = tail(text, end);

    return last && strcasecmp(last, end) == 0;
}

bool text_is_ascii(const char *text)
{
    while (*text && (unsigned char)*text <= 127)
        text++;
    return *text == '\0';
}

size_t text_decode(const char *text, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length;

    *point = bytes[0];
    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] < 0xc0 || bytes[0] >= 0xf8)
        return 0;
    length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    *point = bytes[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (bytes[i] & 0x3fu);
    }
    if (*point < least[length] || *point > 0x10ffff || (*point >= 0xd800 && *point < 0xe000))
        return 0;
    return length;
}

/* Controls, C1 among them, and what turns the direction of text or ends a line. */
static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

size_t text_printable(const char *text, size_t length)
{
    uint32_t point;
    size_t bytes = text_decode(text, &point);

    return bytes > length || is_control(point) ? 0 : bytes;
}

/* Bytes of what is no printable character: all of a control, one of what is not UTF-8. */
static size_t unprintable(const char *text, size_t length)
{
    uint32_t point;
    size_t bytes = text_decode(text, &point);

    return bytes == 0 || bytes > length ? 1 : bytes;
}

void text_write(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t bytes = text_printable(text + i, length - i);

        if (bytes)
            fwrite(text + i, 1, bytes, stream);
        else
            fputc('?', stream);
        i += bytes ? bytes : unprintable(text + i, length - i);
    }
}

void text_escape(FILE *stream, const char *text)
{
    for (size_t length = strlen(text); length;) {
        size_t bytes = text_printable(text, length);

        if (bytes) {
            fwrite(text, 1, bytes, stream);
        } else {
            bytes = 1;
            fprintf(stream, "\\x%02x", (unsigned char)text[0]);
        }
        text += bytes;
        length -= bytes;
    }
}
