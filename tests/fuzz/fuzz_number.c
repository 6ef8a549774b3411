/* Against strtod, which must agree on every number that is not hexadecimal. */
#include "fuzz.h"

#include <ctype.h>

#include "base/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *start = (const char *)bytes, *end;
    char *copy = malloc(size + 1), *expected_end, text[NUMBER_TEXT];
    double value, expected;
    float single;

    MUST(copy);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    end = number_parse(start, start + size, &value);
    expected = strtod(copy, &expected_end);
    if (!end) {
        MUST(expected_end == copy || isspace(bytes[0]));
    } else if (!strchr("xX(", copy[end - start]) || copy[end - start] == '\0') {
        MUST(end - start == expected_end - copy);
        MUST(isnan(value) ? isnan(expected) : memcmp(&value, &expected, sizeof value) == 0);
    }
    free(copy);
    if (size >= sizeof single) {
        memcpy(&single, bytes, sizeof single);
        size = number_format(single, text);
        MUST(number_parse(text, text + size, &value) == text + size);
        MUST(isnan(single) ? isnan(value) : (float)value == single);
    }
    return 0;
}
