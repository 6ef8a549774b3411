/* Figures for a terminal.  A character of Braille is two dots wide and four high. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/sort.h"
#include "plot/figures.h"

enum { HEIGHT = 4, CURVE_HEIGHT = 16, LEAST_WIDTH = 20, GAP = 2, MARGIN = 10 };

/* ---- Canvas ---- */

struct canvas {
    size_t width, height; /* characters */
    unsigned char *dots;
};

static struct error *canvas_new(size_t width, size_t height, struct canvas *canvas)
{
    *canvas = (struct canvas){width, height, calloc(width * height + 1, 1)};
    return canvas->dots ? NULL : error_memory("a figure");
}

static void set_dot(struct canvas *canvas, size_t x, size_t y)
{
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

    canvas->dots[y / 4 * canvas->width + x / 2] |= bits[y % 4][x % 2];
}

/* The dot row of a value, or the nearest edge. */
static size_t dot_row(const struct canvas *canvas, double value, double low, double high)
{
    double rows = (double)(4 * canvas->height - 1), y = rows * ((high - value) / (high - low));

    return (size_t)(y > rows ? rows : y > 0 ? y + 0.5 : 0);
}

/* Room above and below values that are all the same, which may be large. */
static void widen(double *low, double *high)
{
    double room = 1e-3 * fabs(*low) > 1 ? 1e-3 * fabs(*low) : 1;

    if (*high > *low)
        return;
    *low -= room;
    *high += room;
}

/* A column of dots between two values. */
static void set_column(struct canvas *canvas, size_t x, size_t from, size_t to)
{
    for (size_t y = from < to ? from : to; y <= (from < to ? to : from); y++)
        set_dot(canvas, x, y);
}

static void put_row(FILE *stream, const struct canvas *canvas, size_t row)
{
    for (size_t x = 0; x < canvas->width; x++) {
        unsigned char dots = canvas->dots[row * canvas->width + x];

        /* U+2800 and the dots, in UTF-8. */
        fputc(0xe2, stream);
        fputc(0xa0 | dots >> 6, stream);
        fputc(0x80 | (dots & 0x3f), stream);
    }
}

/* No text from a file may send control characters to the terminal. */
static void put_line(FILE *stream, const char *text)
{
    text_write(stream, text, strlen(text));
    fputc('\n', stream);
}

static void put_title(FILE *stream, const struct figure_options *options)
{
    if (options->title)
        put_line(stream, options->title);
}

/* ---- Series ---- */

/* Each of the columns of dots from `left` on shows the range of its steps, joined to the column
 * before. */
static void draw_series(struct canvas *canvas, size_t left, size_t columns, const float *values,
                        size_t length, double low, double high)
{
    size_t before = dot_row(canvas, (double)values[0], low, high);

    for (size_t column = 0; column < columns; column++) {
        size_t from = column * length / columns, to = (column + 1) * length / columns;
        size_t top, bottom;
        double least, most;

        to = to > from ? to : from + 1;
        least = most = (double)values[from];
        for (size_t i = from; i < to; i++) {
            least = (double)values[i] < least ? (double)values[i] : least;
            most = (double)values[i] > most ? (double)values[i] : most;
        }
        top = dot_row(canvas, most, low, high);
        bottom = dot_row(canvas, least, low, high);
        set_column(canvas, left + column, before < top ? before + 1 : top,
                   before > bottom ? before - 1 : bottom);
        before = dot_row(canvas, (double)values[to - 1], low, high);
    }
}

/* The range of all but the outermost values of the channel. */
static struct error *text_range(const struct dataset *dataset, size_t channel, double *low,
                                double *high)
{
    size_t total = dataset->count * dataset->length;
    float *values = malloc((total + 1) * sizeof *values);

    if (!values)
        return error_memory("a figure");
    for (size_t i = 0; i < dataset->count; i++)
        memcpy(values + i * dataset->length, dataset_series(dataset, i, channel),
               dataset->length * sizeof *values);
    sort_floats(values, total);
    *low = (double)values[total / 250];
    *high = (double)values[total - 1 - total / 250];
    free(values);
    widen(low, high);
    return NULL;
}

/* The canvas, with the range of its values at the left. */
static void put_panels(FILE *stream, const struct canvas *canvas, double low, double high)
{
    for (size_t row = 0; row < canvas->height; row++) {
        if (row == 0 || row == canvas->height - 1)
            fprintf(stream, "%*.3g ", MARGIN - 1, row ? low : high);
        else
            fprintf(stream, "%*s", MARGIN, "");
        put_row(stream, canvas, row);
        fputc('\n', stream);
    }
}

/* How many panels of a readable width fit next to each other; *width is made large enough for
 * one. */
static size_t fit_panels(size_t columns, size_t *width)
{
    *width = *width < MARGIN + LEAST_WIDTH ? MARGIN + LEAST_WIDTH : *width;
    while (columns > 1 && (*width - MARGIN) / columns < LEAST_WIDTH)
        columns--;
    return columns;
}

static void put_class(FILE *stream, const struct dataset *dataset, size_t label)
{
    if (dataset->names)
        put_line(stream, dataset->names[label]);
    else
        fprintf(stream, "class %zu\n", label);
}

/* The first series of a class side by side. */
static struct error *text_class(FILE *stream, const struct dataset *dataset, size_t label,
                                size_t width, size_t columns, double low, double high,
                                size_t channel)
{
    size_t panel = (width - MARGIN - GAP * (columns - 1)) / columns, column = 0;
    struct canvas canvas;

    TRY(canvas_new(width - MARGIN, HEIGHT, &canvas));
    for (size_t i = 0; i < dataset->count && column < columns; i++)
        if (!dataset->y || (size_t)dataset->y[i] == label)
            draw_series(&canvas, 2 * column++ * (panel + GAP), 2 * panel,
                        dataset_series(dataset, i, channel), dataset->length, low, high);
    put_panels(stream, &canvas, low, high);
    free(canvas.dots);
    return NULL;
}

/* The most series that a class has. */
static size_t most_series(const struct dataset *dataset, size_t classes)
{
    size_t most = 1;

    for (size_t label = 0; label < classes; label++) {
        size_t count = 0;

        for (size_t i = 0; i < dataset->count; i++)
            count += !dataset->y || (size_t)dataset->y[i] == label;
        most = count > most ? count : most;
    }
    return most;
}

struct error *text_dataset(FILE *stream, const struct dataset *dataset, size_t width,
                           const struct figure_options *options)
{
    size_t classes = dataset->y ? dataset->classes : 1;
    size_t shown = classes < options->rows ? classes : options->rows;
    size_t most = most_series(dataset, classes);
    size_t columns = options->columns < most ? options->columns : most;
    size_t first = options->all_channels ? 0 : options->channel;
    size_t end = options->all_channels ? dataset->channels : options->channel + 1;
    double low = 0, high = 1;

    if (options->channel >= dataset->channels)
        return error_make("channel %zu of a dataset of %zu", options->channel, dataset->channels);
    columns = fit_panels(columns, &width);
    put_title(stream, options);
    fprintf(stream, "%zu series, %zu classes", dataset->count, classes);
    if (options->all_channels)
        fprintf(stream, ", %zu channels", dataset->channels);
    else if (dataset->channels > 1)
        fprintf(stream, ", channel %zu of %zu", options->channel, dataset->channels);
    fputc('\n', stream);
    for (size_t label = 0; label < shown; label++) {
        put_class(stream, dataset, label);
        for (size_t channel = first; channel < end; channel++) {
            TRY(text_range(dataset, channel, &low, &high));
            if (end - first > 1)
                fprintf(stream, "%*schannel %zu\n", MARGIN, "", channel);
            TRY(text_class(stream, dataset, label, width, columns, low, high, channel));
        }
    }
    fprintf(stream, "%*s%zu steps\n", MARGIN, "", dataset->length);
    if (shown < classes)
        fprintf(stream, "the first %zu of %zu classes\n", shown, classes);
    return NULL;
}

/* ---- Shapelets ---- */

/* Prints the text in exactly that many columns of the terminal: cut, or with blanks after it. */
static void put_cell(FILE *stream, const char *text, size_t width)
{
    size_t done = 0, bytes;

    for (; *text && done < width; text += bytes, done++) {
        bytes = text_printable(text, strlen(text));
        bytes = bytes ? bytes : 1;
        text_write(stream, text, bytes);
    }
    fprintf(stream, "%*s", (int)(width - done), "");
}

/* "pulse, channel 1, gain 0.92": what is above a shapelet. */
static void put_caption(FILE *stream, const struct shapelet_pool *pool, size_t index,
                        const struct dataset *real, size_t width)
{
    const struct shapelet *shapelet = &pool->shapelets[index];
    char text[256] = "", channel[32] = "", quality[64];
    size_t room;

    if (shapelet->label >= 0 && real && real->names)
        snprintf(text, sizeof text, "%s", real->names[shapelet->label]);
    else if (shapelet->label >= 0)
        snprintf(text, sizeof text, "class %d", (int)shapelet->label);
    if (pool->channels > 1)
        snprintf(channel, sizeof channel, " ch %u", shapelet->channel);
    snprintf(quality, sizeof quality, "%s %s %.2g", channel, slp_quality_names[pool->quality],
             (double)shapelet->quality);
    room = strlen(quality) < width ? width - strlen(quality) : 0;
    put_cell(stream, text, room);
    put_cell(stream, quality, width - room);
}

/* A row of panels: the shapelets from `first` on, each at its place in time. */
static struct error *text_shapelets(FILE *stream, const struct shapelet_pool *pool, size_t first,
                                    size_t columns, const struct dataset *real, size_t width,
                                    double low, double high)
{
    size_t panel = (width - MARGIN - GAP * (columns - 1)) / columns;
    struct canvas canvas;

    TRY(canvas_new(width - MARGIN, HEIGHT, &canvas));
    fprintf(stream, "%*s", MARGIN, "");
    for (size_t k = 0; k < columns && first + k < pool->count; k++) {
        const struct shapelet *shapelet = &pool->shapelets[first + k];
        size_t from = (size_t)shapelet->start * 2 * panel / pool->steps;
        size_t to = ((size_t)shapelet->start + shapelet->length) * 2 * panel / pool->steps;

        draw_series(&canvas, 2 * k * (panel + GAP) + from, to > from ? to - from : 1,
                    shapelet->values, shapelet->length, low, high);
        if (k)
            fprintf(stream, "%*s", GAP, "");
        put_caption(stream, pool, first + k, real, panel);
    }
    fputc('\n', stream);
    put_panels(stream, &canvas, low, high);
    free(canvas.dots);
    return NULL;
}

struct error *text_pool(FILE *stream, const struct shapelet_pool *pool, const struct dataset *real,
                        size_t width, const struct figure_options *options)
{
    size_t columns = pool->count < options->columns ? pool->count : options->columns;
    size_t shown;
    double low = INFINITY, high = -INFINITY;

    if (pool->count == 0)
        return error_make("the pool is empty");
    TRY(figure_check_pool(pool, real));
    for (size_t k = 0; k < pool->count; k++) {
        const struct shapelet *shapelet = &pool->shapelets[k];

        for (size_t i = 0; i < shapelet->length; i++) {
            low = fmin(low, (double)shapelet->values[i]);
            high = fmax(high, (double)shapelet->values[i]);
        }
    }
    widen(&low, &high);
    columns = fit_panels(columns, &width);
    shown = pool->count < columns * options->rows ? pool->count : columns * options->rows;
    put_title(stream, options);
    fprintf(stream, "%zu shapelets", pool->count);
    if (shown < pool->count)
        fprintf(stream, ", the first %zu of them", shown);
    fputs(", each at its place in time\n", stream);
    for (size_t first = 0; first < shown; first += columns)
        TRY(text_shapelets(stream, pool, first, columns, real, width, low, high));
    fprintf(stream, "%*s%zu steps\n", MARGIN, "", pool->steps);
    return NULL;
}

/* ---- Tables ---- */

static void range_of(const double *values, size_t count, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        *low = values[i] < *low ? values[i] : *low;
        *high = values[i] > *high ? values[i] : *high;
    }
}

/* A line between two places, in dots. */
static void draw_line(struct canvas *canvas, const size_t from[2], const size_t to[2])
{
    double width = (double)to[0] - (double)from[0], height = (double)to[1] - (double)from[1];
    size_t before = from[1];

    if (to[0] == from[0])
        set_column(canvas, to[0], from[1], to[1]);
    for (size_t x = from[0] + 1; x <= to[0]; x++) {
        size_t y = (size_t)((double)from[1] + height * (double)(x - from[0]) / width + 0.5);

        /* As in a series: each column continues where the one before ended. */
        set_column(canvas, x, before < y ? before + 1 : before > y ? before - 1 : y, y);
        before = y;
    }
}

/* One curve: a dot for each value, joined where the horizontal axis increases. */
static struct error *text_curve(FILE *stream, const struct table *table, size_t column,
                                size_t width, const struct figure_options *options)
{
    const double *x = table->values, *y = table->values + column * table->rows;
    double first, last, low, high;
    size_t place[2] = {0}, before[2] = {0};
    struct canvas canvas;
    bool joined = false;

    range_of(x, table->rows, &first, &last);
    range_of(y, table->rows, &low, &high);
    if (!(low <= high) || !(first <= last))
        return error_make("no numbers to draw");
    widen(&low, &high);
    if (!isfinite(high - low) || !isfinite(last - first))
        return error_make("numbers that are too large to draw");
    TRY(canvas_new(width - MARGIN, CURVE_HEIGHT, &canvas));
    for (size_t i = 0; i < table->rows; i++) {
        double share = last > first ? (x[i] - first) / (last - first) : 0.5;
        bool here = !isnan(share) && !isnan(y[i]);

        if (here) {
            place[0] = (size_t)(share * (double)(2 * canvas.width - 1) + 0.5);
            place[1] = dot_row(&canvas, y[i], low, high);
            set_dot(&canvas, place[0], place[1]);
        }
        if (here && joined && place[0] >= before[0])
            draw_line(&canvas, before, place);
        joined = here || (joined && options->marks);
        if (here)
            memcpy(before, place, sizeof place);
    }
    put_line(stream, table->names[column]);
    for (size_t row = 0; row < CURVE_HEIGHT; row++) {
        if (row == 0 || row == CURVE_HEIGHT - 1)
            fprintf(stream, "%*.4g ", MARGIN - 1, row ? low : high);
        else
            fprintf(stream, "%*s", MARGIN, "");
        put_row(stream, &canvas, row);
        fputc('\n', stream);
    }
    fprintf(stream, "%*s", MARGIN, "");
    text_write(stream, table->names[0], strlen(table->names[0]));
    fprintf(stream, " from %g to %g\n", first, last);
    free(canvas.dots);
    return NULL;
}

struct error *text_curves(FILE *stream, const struct table *table, size_t width,
                          const struct figure_options *options)
{
    put_title(stream, options);
    width = width < MARGIN + LEAST_WIDTH ? MARGIN + LEAST_WIDTH : width;
    for (size_t column = 1; column < table->columns; column++)
        TRY(text_curve(stream, table, column, width, options));
    return NULL;
}

/* ---- Scores ---- */

static void text_bar(FILE *stream, const struct scores *scores, size_t names, size_t room)
{
    size_t eighths = (size_t)(scores->accuracy / 100 * (double)(8 * room) + 0.5);

    put_cell(stream, scores->name, names);
    fputc(' ', stream);
    for (size_t i = 0; i<room; i++, eighths = eighths> 8 ? eighths - 8 : 0) {
        size_t part = eighths > 8 ? 8 : eighths;

        if (part)
            fprintf(stream, "\xe2\x96%c", (int)(0x90 - part)); /* U+2588 is whole */
        else
            fputc(' ', stream);
    }
    fprintf(stream, " %6.2f %%", scores->accuracy);
    if (!isnan(scores->deviation))
        fprintf(stream, " \xc2\xb1 %.2f", scores->deviation);
    fputc('\n', stream);
}

struct error *text_scores(FILE *stream, const struct scores *scores, size_t count, size_t width,
                          const struct figure_options *options)
{
    size_t names = 4;

    put_title(stream, options);
    for (size_t i = 0; i < count; i++)
        names = strlen(scores[i].name) > names ? strlen(scores[i].name) : names;
    names = names > width / 3 ? width / 3 : names;
    for (size_t i = 0; i < count; i++)
        text_bar(stream, &scores[i], names, width > names + 20 + 10 ? width - names - 20 : 10);
    return NULL;
}
