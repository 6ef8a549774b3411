#include "formats/export.h"

#include "base/text.h"

enum export_format export_format_of(const char *path)
{
    static const struct {
        const char *end;
        enum export_format format;
    } ends[] = {{".npz", EXPORT_NPZ},
                {".tsv", EXPORT_UCR},
                {".txt", EXPORT_UCR},
                {".ts", EXPORT_TS},
                {".csv", EXPORT_CSV}};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with_nocase(path, ends[i].end))
            return ends[i].format;
    return EXPORT_NONE;
}

struct error *export_dataset(FILE *stream, enum export_format format, const struct dataset *dataset,
                             const char *problem)
{
    switch (format) {
    case EXPORT_NPZ:
        return export_npz(stream, dataset);
    case EXPORT_UCR:
        return export_ucr(stream, dataset);
    case EXPORT_CSV:
        return export_csv(stream, dataset);
    case EXPORT_TS:
        return export_ts(stream, dataset, problem);
    case EXPORT_NONE:
        break;
    }
    return error_make("not a format to export to");
}
