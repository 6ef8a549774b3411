/* Tables of sc-eval, as --full takes them. */
#include "fuzz.h"

#include "eval/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    double full;

    if (!failed(report_read_full(as_file(bytes, size), &full)))
        MUST(full >= 0 && full <= 1);
    return 0;
}
