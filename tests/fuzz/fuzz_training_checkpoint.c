/* Checkpoints of training: what has the right digest is taken, whatever it says, and what it says
 * must not break anything. */
#include "checkpoints.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    failed(training_run(checkpoint_file(training_run, bytes, size, size)));
    return 0;
}
