/* Checkpoints of matching. */
#include "checkpoints.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    failed(matching_run(checkpoint_file(matching_run, bytes, size, size)));
    return 0;
}
