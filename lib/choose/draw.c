#include "choose/draw.h"

#include <string.h>

size_t draw_class(const struct dataset *dataset, const struct class_lists *lists, size_t label,
                  size_t most, struct random_stream *stream, size_t *scratch, float *x)
{
    size_t count = class_size(lists, label), taken = count < most ? count : most;
    size_t series = dataset_series_size(dataset);

    memcpy(scratch, class_members(lists, label), count * sizeof *scratch);
    for (size_t i = 0; i < taken; i++) {
        size_t other = i + random_below(stream, count - i), index = scratch[other];

        scratch[other] = scratch[i];
        memcpy(x + i * series, dataset->x + index * series, series * sizeof *x);
    }
    return taken;
}
