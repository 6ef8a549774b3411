#include "plot/figure_parts.h"

#include <math.h>
#include <string.h>

const char figure_dark[] = "#222222", figure_grey[] = "#777777";

void figure_widen(const float *values, size_t count, double *low, double *high)
{
    /* Not by fmin() and fmax(): GCC 12 for arm64 fails with an internal error at -O3. */
    for (size_t i = 0; i < count; i++) {
        *low = values[i] < *low ? values[i] : *low;
        *high = values[i] > *high ? values[i] : *high;
    }
}

double figure_least_extent(double low, double high)
{
    double size = fmax(fabs(low), fabs(high));

    if (high - low > 1e-12 * size && high - low > 1e-300)
        return 0;
    return fmax(1, 2e-3 * size);
}

void figure_relax(double *low, double *high)
{
    double margin = fmax(0.05 * (*high - *low), 0.5 * figure_least_extent(*low, *high));

    *low -= margin;
    *high += margin;
}

void figure_panel(FILE *stream, const struct svg_frame *frame)
{
    svg_box(stream, frame->x, frame->y, frame->width, frame->height, "none", "#cccccc", 1);
}

void figure_step_axis(FILE *stream, const struct svg_frame *frame, double least)
{
    double tick = fmax(least, svg_tick(frame->last - frame->first, frame->width / 70));

    for (double step = ceil(frame->first / tick) * tick; step <= frame->last; step += tick) {
        double x = svg_at_step(frame, step), y = frame->y + frame->height;

        svg_line(stream, x, y, x, y + 4, (struct svg_pen){figure_grey, 1, 1});
        svg_text(stream, x, y + 16, 11, "middle", figure_grey, "%g", step);
    }
}

void figure_logarithmic_axis(FILE *stream, const struct svg_frame *frame)
{
    static const double digits[] = {1, 2, 5};
    size_t many = frame->last - frame->first > 4 ? 1 : 3;

    for (double power = floor(frame->first); power <= frame->last; power++)
        for (size_t i = 0; i < many; i++) {
            double step = power + log10(digits[i]), x = svg_at_step(frame, step);

            if (step < frame->first || step > frame->last)
                continue;
            svg_line(stream, x, frame->y + frame->height, x, frame->y + frame->height + 4,
                     (struct svg_pen){figure_grey, 1, 1});
            svg_text(stream, x, frame->y + frame->height + 16, 11, "middle", figure_grey, "%.12g",
                     pow(10, power) * digits[i]);
        }
}

void figure_value_axis(FILE *stream, const struct svg_frame *frame)
{
    double tick = svg_tick(frame->high - frame->low, frame->height / 30);

    for (double value = ceil(frame->low / tick) * tick; value <= frame->high; value += tick) {
        double y = svg_at_value(frame, value);

        svg_line(stream, frame->x - 4, y, frame->x, y, (struct svg_pen){figure_grey, 1, 1});
        svg_text(stream, frame->x - 7, y + 4, 11, "end", figure_grey, "%g",
                 fabs(value) < 1e-3 * tick ? 0 : value);
    }
}

double figure_legend(FILE *stream, double x, double y, struct svg_pen pen, const char *text)
{
    pen.width = fmax(pen.width, 1);
    pen.opacity = fmax(pen.opacity, 0.8);
    svg_line(stream, x, y - 4, x + 26, y - 4, pen);
    svg_text(stream, x + 32, y, 12, "start", figure_dark, "%s", text);
    return x + 32 + 6.6 * (double)strlen(text) + 24;
}
