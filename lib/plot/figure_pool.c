/* A shapelet pool: a panel for each shapelet. */
#include "plot/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/figure_parts.h"

static const struct svg_pen real_pen = {"#9aa5b1", 0.6, 0.55};

/* Characters of a class's name that fit beside the number and the quality. */
static int name_room(const struct svg_frame *frame)
{
    int room = (int)(frame->width / 6) - 16;

    return room > 4 ? room : 4;
}

static void shapelet_panel(FILE *stream, struct svg_frame frame, const struct shapelet_pool *pool,
                           size_t index, const struct dataset *real)
{
    const struct shapelet *shapelet = &pool->shapelets[index];
    const float *source = NULL;
    char name[64] = "no class";
    double from = shapelet->start, to = shapelet->start + shapelet->length - 1;

    if (real)
        source = dataset_series(real, (size_t)shapelet->source, shapelet->channel);
    if (shapelet->window != SLP_WINDOW_FULL) {
        double left = fmax(frame.first, from - shapelet->window);
        double right = fmin(frame.last, to + shapelet->window);

        svg_box(stream, svg_at_step(&frame, left), frame.y,
                svg_at_step(&frame, right) - svg_at_step(&frame, left), frame.height, "#eef2f6",
                "none", 1);
    }
    figure_panel(stream, &frame);
    if (source)
        svg_series(stream, &frame, source, (size_t)frame.last + 1, 0, real_pen);
    svg_series(
        stream, &frame, shapelet->values, shapelet->length, from,
        (struct svg_pen){svg_colour(shapelet->label < 0 ? 0 : (size_t)shapelet->label), 2.2, 1});
    if (shapelet->label >= 0 && real && real->names)
        snprintf(name, sizeof name, "class %s", real->names[shapelet->label]);
    else if (shapelet->label >= 0)
        snprintf(name, sizeof name, "class no. %d", shapelet->label);
    svg_text(stream, frame.x + 5, frame.y + 13, 11, "start", figure_dark, "%zu: %.*s%s, %s %.3f",
             index, name_room(&frame), name, strlen(name) > (size_t)name_room(&frame) ? "..." : "",
             slp_quality_names[pool->quality], (double)shapelet->quality);
}

struct error *figure_check_pool(const struct shapelet_pool *pool, const struct dataset *real)
{
    for (size_t k = 0; real && k < pool->count; k++) {
        if (pool->shapelets[k].source >= real->count || pool->classes > real->classes ||
            pool->channels != real->channels || pool->steps != real->length)
            return error_make("the pool was not found in this dataset");
    }
    return NULL;
}

struct error *figure_pool(FILE *stream, const struct shapelet_pool *pool,
                          const struct dataset *real, const struct figure_options *options)
{
    size_t columns = pool->count < options->columns ? pool->count : options->columns;
    size_t most = columns * options->rows, shown = pool->count < most ? pool->count : most;
    size_t rows = columns ? (shown + columns - 1) / columns : 0;
    double height = TOP + (double)rows * (PANEL_HEIGHT + GAP) + BOTTOM;
    struct svg_frame frame = {LEFT, TOP, 0, PANEL_HEIGHT, 0, 1, INFINITY, -INFINITY};
    char title[256];

    TRY(figure_check_pool(pool, real));
    for (size_t k = 0; k < pool->count; k++) {
        const struct shapelet *shapelet = &pool->shapelets[k];

        figure_widen(shapelet->values, shapelet->length, &frame.low, &frame.high);
    }
    if (pool->count == 0)
        return error_make("the pool is empty");
    figure_relax(&frame.low, &frame.high);
    frame.high += 0.3 * (frame.high - frame.low); /* for the words in the panel */
    frame.width = (PAGE_WIDTH - LEFT - 16 - GAP * (double)(columns - 1)) / (double)columns;
    frame.last = pool->steps > 1 ? (double)pool->steps - 1 : 1;
    if (shown < pool->count)
        snprintf(title, sizeof title, "%zu shapelets, the first %zu of them", pool->count, shown);
    else
        snprintf(title, sizeof title, "%zu shapelets", pool->count);
    svg_begin(stream, PAGE_WIDTH, height, options->title ? options->title : title);
    for (size_t k = 0; k < shown; k++) {
        struct svg_frame here = frame;

        here.x += (double)(k % columns) * (frame.width + GAP);
        here.y += (double)(k / columns) * (PANEL_HEIGHT + GAP);
        shapelet_panel(stream, here, pool, k, real);
        if (k % columns == 0)
            figure_value_axis(stream, &here);
        if (k + columns >= shown)
            figure_step_axis(stream, &here, 1);
    }
    svg_text(stream, 16, TOP - 3, 11, "start", figure_grey, "value");
    svg_text(stream, PAGE_WIDTH / 2.0, height - BOTTOM + 24, 12, "middle", figure_grey, "step");
    double x = figure_legend(stream, LEFT, height - 14, (struct svg_pen){svg_colour(0), 2.2, 1},
                             "shapelet at its place (colour: class)");
    x = figure_legend(stream, x, height - 14, (struct svg_pen){"#dfe6ee", 10, 1}, "search window");
    if (real)
        figure_legend(stream, x, height - 14, real_pen, "series that it was cut from");
    svg_end(stream);
    return NULL;
}
