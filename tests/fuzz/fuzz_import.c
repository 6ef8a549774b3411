/* NPY datasets, and text whose format is known by its content. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_import(NULL, bytes, size);
    return 0;
}
