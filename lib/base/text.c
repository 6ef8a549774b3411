#include "base/text.h"

#include <stdint.h>

size_t text_character(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length;
    uint32_t point;

    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] < 0xc0 || bytes[0] >= 0xf8)
        return 0;
    length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    point = bytes[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3fu);
    }
    if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    return length;
}

void text_write(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const unsigned char *byte = (const unsigned char *)text + i;
        size_t bytes = text_character(text + i);
        /* C1 controls are two bytes: c2 80 to c2 9f. */
        int control =
            byte[0] < 0x20 || byte[0] == 0x7f || (bytes == 2 && byte[0] == 0xc2 && byte[1] < 0xa0);

        if (bytes == 0 || bytes > length - i || control)
            fputc('?', stream);
        else
            fwrite(byte, 1, bytes, stream);
        i += bytes ? bytes : 1;
    }
}
