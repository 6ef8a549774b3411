/* Bars of accuracy, and a confusion matrix as shares of the true classes. */
#include <math.h>
#include <string.h>

#include "plot/figures.h"
#include "plot/figure_parts.h"

enum {
    BAR_HEIGHT = 26,
    BAR_GAP = 10,
    MOST_CLASSES = 60, /* of a matrix */
};

/* Room for the longest name, within reason. */
static double name_width(const struct scores *scores, size_t count)
{
    size_t longest = 8;

    for (size_t i = 0; i < count; i++)
        longest = strlen(scores[i].name) > longest ? strlen(scores[i].name) : longest;
    return fmin(7.2 * (double)longest + 32, 360);
}

static void draw_bar(FILE *stream, const struct scores *scores, const struct svg_frame *frame,
                     double y)
{
    double end = svg_at_step(frame, scores->accuracy);

    svg_text(stream, frame->x - 10, y + 18, 13, "end", figure_dark, "%.48s", scores->name);
    svg_box(stream, frame->x, y, end - frame->x, BAR_HEIGHT, svg_colour(1), "none", 0.85);
    if (!isnan(scores->deviation)) {
        double from = svg_at_step(frame, fmax(0, scores->accuracy - scores->deviation));
        double to = svg_at_step(frame, fmin(100, scores->accuracy + scores->deviation));
        struct svg_pen pen = {figure_dark, 1.4, 1};

        svg_line(stream, from, y + BAR_HEIGHT / 2.0, to, y + BAR_HEIGHT / 2.0, pen);
        svg_line(stream, from, y + 8, from, y + BAR_HEIGHT - 8, pen);
        svg_line(stream, to, y + 8, to, y + BAR_HEIGHT - 8, pen);
        svg_text(stream, frame->x + frame->width + 10, y + 18, 13, "start", figure_dark,
                 "%.2f \xc2\xb1 %.2f", scores->accuracy, scores->deviation);
    } else {
        svg_text(stream, frame->x + frame->width + 10, y + 18, 13, "start", figure_dark, "%.2f",
                 scores->accuracy);
    }
}

/* Returns where the bars end. */
static double draw_bars(FILE *stream, const struct scores *scores, size_t count)
{
    double left = name_width(scores, count), bottom = TOP + (double)count * (BAR_HEIGHT + BAR_GAP);
    struct svg_frame frame = {left, TOP, PAGE_WIDTH - left - 130, 1, 0, 100, 0, 1};

    for (double tick = 0; tick <= 100; tick += 20) {
        double x = svg_at_step(&frame, tick);

        svg_line(stream, x, TOP - 6, x, bottom, (struct svg_pen){"#dddddd", 1, 1});
        svg_text(stream, x, bottom + 16, 11, "middle", figure_grey, "%.0f", tick);
    }
    for (size_t i = 0; i < count; i++)
        draw_bar(stream, &scores[i], &frame, TOP + (double)i * (BAR_HEIGHT + BAR_GAP));
    svg_text(stream, left + frame.width / 2, bottom + 34, 12, "middle", figure_dark,
             "accuracy, %% (mean and deviation of the students)");
    return bottom + 48;
}

static const struct scores *first_matrix(const struct scores *scores, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (scores[i].classes && scores[i].classes <= MOST_CLASSES)
            return &scores[i];
    return NULL;
}

struct matrix {
    const struct scores *scores;
    double x, y, cell;
};

static double matrix_left(const struct scores *scores)
{
    size_t longest = 4;

    for (size_t i = 0; i < scores->classes; i++)
        if (strlen(scores->class_names[i]) > longest)
            longest = strlen(scores->class_names[i]);
    return fmin(40 + 7 * (double)longest, 260);
}

static double matrix_cell(const struct scores *scores)
{
    double room = PAGE_WIDTH - matrix_left(scores) - 20;

    return fmin(44, room / (double)scores->classes);
}

static void draw_matrix_row(FILE *stream, const struct matrix *matrix, size_t row)
{
    size_t classes = matrix->scores->classes;
    const double *counts = matrix->scores->confusion + row * classes;
    double total = 0, y = matrix->y + (double)row * matrix->cell;

    for (size_t v = 0; v < classes; v++)
        total += counts[v];
    svg_text(stream, matrix->x - 8, y + matrix->cell / 2 + 4, 12, "end", figure_dark, "%.34s",
             matrix->scores->class_names[row]);
    for (size_t v = 0; v < classes; v++) {
        double share = total > 0 ? counts[v] / total : 0;
        double x = matrix->x + (double)v * matrix->cell;

        svg_box(stream, x, y, matrix->cell - 1, matrix->cell - 1, "#f2f4f6", "none", 1);
        if (share > 0)
            svg_box(stream, x, y, matrix->cell - 1, matrix->cell - 1, svg_colour(v == row ? 2 : 0),
                    "none", 0.15 + 0.7 * share);
        if (share >= 0.005 && matrix->cell >= 18)
            svg_text(stream, x + matrix->cell / 2, y + matrix->cell / 2 + 4, 11, "middle",
                     figure_dark, "%.0f", 100 * share);
    }
}

static void draw_matrix(FILE *stream, const struct scores *scores, double top)
{
    struct matrix matrix = {scores, matrix_left(scores), top + 66, matrix_cell(scores)};
    int room = (int)(matrix.cell / 6.5);

    svg_text(stream, 16, top + 22, 14, "start", figure_dark,
             "%.60s: series of each true class (row) taken for each class (column), %%",
             scores->name);
    for (size_t v = 0; v < scores->classes; v++)
        svg_text(stream, matrix.x + ((double)v + 0.5) * matrix.cell, top + 58, 11, "middle",
                 figure_grey, "%.*s", room > 0 ? room : 1, scores->class_names[v]);
    for (size_t row = 0; row < scores->classes; row++)
        draw_matrix_row(stream, &matrix, row);
}

struct error *figure_scores(FILE *stream, const struct scores *scores, size_t count,
                            const struct figure_options *options)
{
    const struct scores *matrix = first_matrix(scores, count);
    double height = TOP + (double)count * (BAR_HEIGHT + BAR_GAP) + 48, below;

    if (matrix)
        height += 66 + (double)matrix->classes * matrix_cell(matrix) + 16;
    svg_begin(stream, PAGE_WIDTH, height, options->title ? options->title : "");
    below = draw_bars(stream, scores, count);
    if (matrix)
        draw_matrix(stream, matrix, below);
    svg_end(stream);
    return NULL;
}
