/* Files of experts: every point that is accepted can be read and is finite. */
#include "fuzz.h"

#include "match/experts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct experts experts;

    if (failed(experts_read(as_file(bytes, size), &experts)))
        return 0;
    MUST(experts.count && experts.epochs && experts.parameters);
    for (size_t expert = 0; expert < experts.count; expert++)
        for (size_t epoch = 0; epoch <= experts.epochs; epoch++) {
            const float *point = experts_point(&experts, expert, epoch);

            for (size_t i = 0; i < experts.parameters; i++)
                MUST(isfinite(point[i]));
        }
    MUST(!failed(architecture_check(&experts.architecture)));
    experts_free(&experts);
    return 0;
}
