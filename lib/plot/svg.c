#include "plot/svg.h"

#include <math.h>
#include <stdarg.h>

void svg_begin(FILE *stream, double width, double height, const char *title)
{
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "width=\"%.0f\" height=\"%.0f\" font-family=\"Helvetica, Arial, sans-serif\">\n",
            width, height, width, height);
    svg_box(stream, 0, 0, width, height, "#ffffff", "none", 1);
    svg_text(stream, 16, 26, 16, "start", "#222222", "%s", title);
}

void svg_end(FILE *stream)
{
    fputs("</svg>\n", stream);
}

void svg_begin_group(FILE *stream, const char *kind, size_t index)
{
    fprintf(stream, "<g id=\"%s-%zu\">\n", kind, index);
}

void svg_end_group(FILE *stream)
{
    fputs("</g>\n", stream);
}

void svg_repeat_group(FILE *stream, const char *kind, size_t index, double dx)
{
    fprintf(stream, "<use href=\"#%s-%zu\" x=\"%.1f\"/>\n", kind, index, dx);
}

static void put_escaped(FILE *stream, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        default:
            /* Other control characters are not allowed in XML at all. */
            if ((unsigned char)*text >= ' ')
                fputc(*text, stream);
        }
    }
}

void svg_text(FILE *stream, double x, double y, double size, const char *anchor, const char *colour,
              const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stream,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">", x, y,
            size, anchor, colour);
    put_escaped(stream, text);
    fputs("</text>\n", stream);
}

void svg_box(FILE *stream, double x, double y, double width, double height, const char *fill,
             const char *stroke, double opacity)
{
    fprintf(stream,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
            "stroke=\"%s\" opacity=\"%.2f\"/>\n",
            x, y, width, height, fill, stroke, opacity);
}

void svg_line(FILE *stream, double x1, double y1, double x2, double y2, struct svg_pen pen)
{
    fprintf(stream,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"%.2f\" opacity=\"%.2f\"/>\n",
            x1, y1, x2, y2, pen.colour, pen.width, pen.opacity);
}

double svg_at_step(const struct svg_frame *frame, double step)
{
    return frame->x + frame->width * (step - frame->first) / (frame->last - frame->first);
}

double svg_at_value(const struct svg_frame *frame, double value)
{
    double share = (value - frame->low) / (frame->high - frame->low);

    /* A value outside of the range stays at the edge. */
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return frame->y + frame->height * (1 - share);
}

static void begin_path(FILE *stream, struct svg_pen pen)
{
    fprintf(stream,
            "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%.2f\" stroke-linejoin=\"round\" "
            "opacity=\"%.2f\" d=\"",
            pen.colour, pen.width, pen.opacity);
}

void svg_series(FILE *stream, const struct svg_frame *frame, const float *values, size_t count,
                double start, struct svg_pen pen)
{
    double per_pixel = (frame->last - frame->first) / frame->width;
    size_t group = per_pixel > 2 ? (size_t)per_pixel : 1;

    begin_path(stream, pen);
    for (size_t i = 0; i < count; i += group) {
        float low = values[i], high = values[i];
        double x = svg_at_step(frame, start + (double)i);

        for (size_t j = i; j < i + group && j < count; j++) {
            low = fminf(low, values[j]);
            high = fmaxf(high, values[j]);
        }
        fprintf(stream, "%c%.1f %.1f", i ? 'L' : 'M', x, svg_at_value(frame, (double)low));
        if (group > 1)
            fprintf(stream, "V%.1f", svg_at_value(frame, (double)high));
    }
    fputs("\"/>\n", stream);
}

void svg_points(FILE *stream, const struct svg_frame *frame, const double *x, const double *y,
                size_t count, struct svg_pen pen)
{
    char command = 'M';

    begin_path(stream, pen);
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i]) || isnan(y[i])) {
            command = 'M';
            continue;
        }
        fprintf(stream, "%c%.1f %.1f", command, svg_at_step(frame, x[i]),
                svg_at_value(frame, y[i]));
        command = 'L';
    }
    fputs("\"/>\n", stream);
}

/* Around (x, y): a disc, a square or a triangle. */
static void put_mark(FILE *stream, double x, double y, const char *colour, size_t shape)
{
    if (shape % 3 == 0)
        fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, colour);
    else if (shape % 3 == 1)
        svg_box(stream, x - 3.2, y - 3.2, 6.4, 6.4, colour, "none", 1);
    else
        fprintf(stream, "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"%s\"/>\n", x,
                y - 4.6, x - 4, y + 2.6, x + 4, y + 2.6, colour);
}

void svg_marks(FILE *stream, const struct svg_frame *frame, const double *x, const double *y,
               size_t count, struct svg_pen pen, size_t shape)
{
    char command = 'M';

    begin_path(stream, pen);
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i]) || isnan(y[i]))
            continue;
        fprintf(stream, "%c%.1f %.1f", command, svg_at_step(frame, x[i]),
                svg_at_value(frame, y[i]));
        command = 'L';
    }
    fputs("\"/>\n", stream);
    for (size_t i = 0; i < count; i++)
        if (!isnan(x[i]) && !isnan(y[i]))
            put_mark(stream, svg_at_step(frame, x[i]), svg_at_value(frame, y[i]), pen.colour,
                     shape);
}

double svg_tick(double extent, double wanted)
{
    double rough = extent / wanted, power = pow(10, floor(log10(rough)));
    double digit = rough / power;

    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

const char *svg_colour(size_t index)
{
    /* Okabe and Ito's palette without black and yellow: SVG_COLOURS of them. */
    static const char *const colours[SVG_COLOURS] = {
        "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    };

    return colours[index % SVG_COLOURS];
}
