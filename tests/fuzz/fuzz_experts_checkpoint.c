/* Checkpoints of experts: records of one size, the last of which may be torn. */
#include "checkpoints.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static size_t record;

    if (!record) {
        size_t all;

        free(checkpoint_records(experts_run, &all, &record));
    }
    failed(experts_run(checkpoint_file(experts_run, bytes, size, record)));
    return 0;
}
