#include <string.h>

#include "match/method.h"

#define POINTER(name) &method_##name,
const struct match_method *const match_methods[] = {MATCH_METHODS(POINTER) NULL};

size_t match_parameter(const struct match_method *method, const char *name)
{
    for (size_t i = 0; method->parameters[i].name; i++)
        if (strcmp(method->parameters[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}
