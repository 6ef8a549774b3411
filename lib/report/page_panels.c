/* Panels of curves, and what else the sections of a report share. */
#include "report/page_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

enum { SAMPLES = 4000 }; /* values that a scale is made from */

void page_class_name(FILE *stream, const struct page *page, size_t label)
{
    const struct dataset *dataset = page->condensed;

    if (dataset->names)
        html_text(stream, dataset->names[label]);
    else
        fprintf(stream, "class %zu", label);
}

struct error *page_channel_scale(const struct dataset *dataset, size_t channel,
                                 struct html_scale *scale)
{
    size_t total = dataset->count * dataset->length, stride = total / SAMPLES + 1, count = 0;
    float *values = malloc((total / stride + 1) * sizeof *values);
    double low, high, margin;

    if (!values)
        return error_memory("the report");
    for (size_t i = 0; i < total; i += stride)
        values[count++] =
            dataset_series(dataset, i / dataset->length, channel)[i % dataset->length];
    sort_floats(values, count);
    low = (double)values[count / 250];
    high = (double)values[count - 1 - count / 250];
    free(values);
    margin = fmax(0.08 * (high - low), 1e-6 * fmax(1, fmax(fabs(low), fabs(high))));
    *scale = (struct html_scale){dataset->length, low - margin, high + margin};
    return NULL;
}

bool page_next_of_class(const struct dataset *dataset, size_t label, size_t *index)
{
    while (*index < dataset->count && (size_t)dataset->y[*index] != label)
        ++*index;
    return *index < dataset->count;
}

void page_open_panel(FILE *stream, const struct page *page, size_t label, const char *what,
                     const struct html_scale *scale)
{
    fprintf(stream,
            "<div class=\"panel\"><svg class=\"k%zu\" viewBox=\"0 0 100 100\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s of ",
            label % COLOURS, what);
    page_class_name(stream, page, label);
    fputc('"', stream);
    html_scale(stream, scale);
    fputc('>', stream);
}

void page_open_panels(FILE *stream, size_t columns)
{
    fprintf(stream, "<div class=\"panels\" style=\"--n:%zu\">", columns ? columns : 1);
}

void page_close_panel(FILE *stream)
{
    fputs("</svg></div>", stream);
}

void page_draw_spread(FILE *stream, const struct dataset *dataset, size_t count, size_t label,
                      size_t channel, const struct html_scale *scale, size_t most)
{
    size_t stride = count / most + 1, seen = 0;

    for (size_t i = 0; page_next_of_class(dataset, label, &i); i++) {
        if (seen++ % stride == 0)
            html_curve(stream, scale, "real", NULL, dataset_series(dataset, i, channel), 0,
                       dataset->length);
    }
}

void page_write_chips(FILE *stream, const struct page *page)
{
    fputs("<div class=\"chips\">", stream);
    for (size_t v = 0; v < page->condensed->classes && v < MOST_CLASSES; v++) {
        fprintf(stream,
                "<button type=\"button\" aria-pressed=\"false\" data-c=\"%zu\"><span class=\"dot "
                "k%zu\"></span>",
                v, v % COLOURS);
        page_class_name(stream, page, v);
        fputs("</button>", stream);
    }
    fputs("</div>\n", stream);
}
