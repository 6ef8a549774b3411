/* NPY sets, and text whose format is told by its content. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_import(NULL, bytes, size);
    return 0;
}
