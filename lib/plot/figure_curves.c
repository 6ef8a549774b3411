/* Curves: the columns of a table over its first. */
#include "plot/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/figure_parts.h"

/* Where the rows are on the horizontal axis: NaN for what a logarithm does not exist of. */
static double *curve_places(const struct table *table, bool logarithmic)
{
    double *x = calloc(table->rows + 1, sizeof *x);

    for (size_t i = 0; x && i < table->rows; i++) {
        double value = table->values[i];

        x[i] = !logarithmic ? value : value > 0 ? log10(value) : (double)NAN;
    }
    return x;
}

/* The ranges of the numbers. */
static struct error *curve_frame(const struct table *table, const double *x,
                                 struct svg_frame *frame)
{
    frame->first = frame->low = INFINITY;
    frame->last = frame->high = -INFINITY;
    for (size_t i = 0; i < table->rows; i++) {
        frame->first = fmin(frame->first, x[i]);
        frame->last = fmax(frame->last, x[i]);
    }
    for (size_t i = table->rows; i < table->columns * table->rows; i++) {
        frame->low = fmin(frame->low, table->values[i]);
        frame->high = fmax(frame->high, table->values[i]);
    }
    if (!(frame->low <= frame->high) || !(frame->first <= frame->last))
        return error_make("no numbers to draw");
    figure_relax(&frame->low, &frame->high);
    frame->last = fmax(frame->last, frame->first + figure_least_extent(frame->first, frame->last));
    if (!isfinite(frame->high - frame->low) || !isfinite(frame->last - frame->first))
        return error_make("numbers that are too large to draw");
    return NULL;
}

/* Where the name of a curve stands: one after another from the left, in as many lines as it takes.
 */
struct legend_place {
    double x; /* of the next one, */
    double y;
    size_t lines;
};

static void find_place(struct legend_place *place, const char *name)
{
    double wide = 32 + 6.6 * (double)strlen(name);

    if (place->x > LEFT && place->x + wide > PAGE_WIDTH) {
        place->x = LEFT;
        place->y += 18;
        place->lines++;
    }
}

/* How many lines the names of all curves take. */
static size_t legend_lines(const struct table *table)
{
    struct legend_place place = {LEFT, 0, 1};

    for (size_t c = 1; c < table->columns; c++) {
        find_place(&place, table->names[c]);
        place.x += 32 + 6.6 * (double)strlen(table->names[c]) + 24;
    }
    return place.lines;
}

static void draw_curve(FILE *stream, const struct table *table, size_t c, const double *x,
                       const struct svg_frame *frame, bool marks, struct legend_place *place)
{
    const double *y = table->values + c * table->rows;
    struct svg_pen pen = {svg_colour(c - 1), 1.8, 1};
    size_t shape = (c - 1) / SVG_COLOURS;

    find_place(place, table->names[c]);
    if (marks) {
        struct svg_frame sample = {place->x, place->y - 9, 26, 10, 0, 2, 0, 2};

        svg_marks(stream, frame, x, y, table->rows, pen, shape);
        svg_marks(stream, &sample, (double[]){1}, (double[]){1}, 1, pen, shape);
    } else {
        svg_points(stream, frame, x, y, table->rows, pen);
    }
    place->x = figure_legend(stream, place->x, place->y, pen, table->names[c]);
}

struct error *figure_curves(FILE *stream, const struct table *table,
                            const struct figure_options *options)
{
    const double below = 18 * (double)(legend_lines(table) - 1), height = 460 + below;
    struct legend_place place = {LEFT, height - 14 - below, 1};
    struct svg_frame frame = {LEFT, TOP, PAGE_WIDTH - LEFT - 16, height - TOP - 84 - below};
    double *x = curve_places(table, options->logarithmic);
    struct error *error = x ? curve_frame(table, x, &frame) : error_memory("curves");

    if (!error) {
        svg_begin(stream, PAGE_WIDTH, height, options->title ? options->title : "");
        figure_panel(stream, &frame);
        figure_value_axis(stream, &frame);
        if (options->logarithmic)
            figure_logarithmic_axis(stream, &frame);
        else
            figure_step_axis(stream, &frame, 0);
        svg_text(stream, frame.x + frame.width / 2, frame.y + frame.height + 34, 12, "middle",
                 figure_dark, "%s", table->names[0]);
        if (table->columns == 2)
            svg_text(stream, LEFT, frame.y - 6, 12, "start", figure_dark, "%s", table->names[1]);
        for (size_t c = 1; c < table->columns; c++)
            draw_curve(stream, table, c, x, &frame, options->marks, &place);
        svg_end(stream);
    }
    free(x);
    return error;
}
