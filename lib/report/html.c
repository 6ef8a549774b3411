#include "report/html.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

enum { MOST_COLUMNS = 160 };

void html_text(FILE *stream, const char *text)
{
    while (*text) {
        size_t length = text_printable(text, strlen(text));

        if (*text == '\n') {
            fputc('\n', stream);
            length = 1;
        } else if (length == 0) {
            fputs("\xef\xbf\xbd", stream);
            length = 1;
        } else if (*text == '&') {
            fputs("&amp;", stream);
        } else if (*text == '<') {
            fputs("&lt;", stream);
        } else if (*text == '>') {
            fputs("&gt;", stream);
        } else if (*text == '"') {
            fputs("&quot;", stream);
        } else if (*text == '\'') {
            fputs("&#39;", stream);
        } else {
            fwrite(text, 1, length, stream);
        }
        text += length;
    }
}

static double at_step(const struct html_scale *scale, double step)
{
    return scale->steps > 1 ? 100 * step / (double)(scale->steps - 1) : 50;
}

/* Points far outside of the box are moved just outside of it. */
static double at_value(const struct html_scale *scale, double value)
{
    double y = 100 * (scale->high - value) / (scale->high - scale->low);

    return fmin(fmax(y, -50), 150);
}

/* One number, without trailing zeros. */
static void number(FILE *stream, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.1f", value);
    if (strcmp(text + strlen(text) - 2, ".0") == 0)
        text[strlen(text) - 2] = '\0';
    fputs(strcmp(text, "-0") == 0 ? "0" : text, stream);
}

static void point(FILE *stream, const struct html_scale *scale, double step, double value,
                  char command)
{
    fputc(command, stream);
    number(stream, at_step(scale, step));
    fputc(' ', stream);
    number(stream, at_value(scale, value));
}

void html_scale(FILE *stream, const struct html_scale *scale)
{
    fprintf(stream, " data-s=\"%zu %.6g %.6g\"", scale->steps, scale->low, scale->high);
}

void html_curve(FILE *stream, const struct html_scale *scale, const char *css, const char *name,
                const float *values, size_t first, size_t count)
{
    size_t columns = count > 2 * MOST_COLUMNS ? MOST_COLUMNS : count;

    fprintf(stream, "<path class=\"%s\"", css);
    if (name) {
        fputs(" data-n=\"", stream);
        html_text(stream, name);
        fputc('"', stream);
    }
    fputs(" d=\"", stream);
    if (columns == count) {
        for (size_t i = 0; i < count; i++)
            point(stream, scale, (double)(first + i), (double)values[i], i ? 'L' : 'M');
        /* A single value is a dot. */
        if (count == 1)
            fputs("h.1", stream);
    } else {
        for (size_t column = 0; column < columns; column++) {
            size_t from = column * count / columns, to = (column + 1) * count / columns;
            double low = (double)values[from], high = low, middle;

            for (size_t i = from; i < to; i++) {
                low = fmin(low, (double)values[i]);
                high = fmax(high, (double)values[i]);
            }
            middle = (double)first + 0.5 * (double)(from + to - 1);
            point(stream, scale, middle, values[from] < values[to - 1] ? low : high,
                  column ? 'L' : 'M');
            point(stream, scale, middle, values[from] < values[to - 1] ? high : low, 'L');
        }
    }
    fputs("\"/>", stream);
}

void html_band(FILE *stream, const struct html_scale *scale, const char *css, const float *low,
               const float *high)
{
    size_t stride = scale->steps / MOST_COLUMNS + 1;

    fprintf(stream, "<path class=\"%s\" d=\"", css);
    for (size_t i = 0; i < scale->steps; i += stride)
        point(stream, scale, (double)i, (double)low[i], i ? 'L' : 'M');
    for (size_t i = (scale->steps - 1) / stride * stride + stride; i >= stride; i -= stride)
        point(stream, scale, (double)(i - stride), (double)high[i - stride], 'L');
    fputs("Z\"/>", stream);
}

void html_count(FILE *stream, size_t count)
{
    char digits[32];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%zu", count);

    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            fputc(',', stream);
        fputc(digits[i], stream);
    }
}

void html_bytes(FILE *stream, size_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;

    for (; value >= 1000 && unit < 4; unit++)
        value /= 1000;
    fprintf(stream, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}
