#include "common/bytes.h"

#include <stdlib.h>

#include "common/cli.h"

double bytes_option(const char *text)
{
    char *end;
    double bytes = strtod(text, &end);

    if (*end == 'k' || *end == 'K')
        bytes *= 1e3, end++;
    else if (*end == 'M')
        bytes *= 1e6, end++;
    if (end == text || *end || !(bytes >= 1 && bytes <= 1e15))
        cli_usage("--bytes: '%s' is not a size such as 40000, 40k or 1.5M", text);
    return bytes;
}
