/* One value in a row: what is accepted has labels and groups within bounds. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const formats[] = {"id=1,value=2", "id=1,time=2,channel=3,value=4,label=5",
                                          "id=1,time=2,value=3+4,label=5"};
    struct import_options options = {
        .format = "csv",
        .long_format = formats[size % 3],
        .group = size % 7 == 0 ? "5" : NULL,
        .lengths = (enum import_lengths)(size / 3 % 4),
        .missing = (enum import_missing)(size / 12 % 6),
    };
    struct dataset dataset;

    if (!import_one(&options, "input", bytes, size, &dataset))
        return 0;
    MUST(dataset.count && dataset.channels && dataset.length);
    check_same(&dataset, &dataset);
    for (size_t i = 0; dataset.groups && i < dataset.count; i++)
        MUST(dataset.groups[i] >= 0 && (size_t)dataset.groups[i] < dataset.count);
    dataset_free(&dataset);
    return 0;
}
