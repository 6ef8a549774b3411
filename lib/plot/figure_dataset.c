/* A dataset: a title, then a row of panels for each class, then a legend. */
#include "plot/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "plot/figure_parts.h"

enum {
    NAME_HEIGHT = 20,        /* of a class, above its row */
    SMALL_PANEL_HEIGHT = 46, /* of one of several channels */
    SAMPLES = 20000,         /* values that a scale is made from */
};

static const struct svg_pen real_pen = {"#9aa5b1", 0.6, 0.55};
static const struct svg_pen series_pen = {"#222222", 1.3, 1};

struct figure_options figure_defaults(void)
{
    return (struct figure_options){.columns = 5, .rows = 20, .behind = 20};
}

/* Where the shapelet fits the series best within its window: least squared distance. */
static size_t best_match(const struct shapelet *shapelet, const float *series, size_t length)
{
    size_t window = shapelet->window, last = length - shapelet->length;
    size_t from = shapelet->start > window ? shapelet->start - window : 0;
    size_t to = window < last && shapelet->start + window < last ? shapelet->start + window : last;
    size_t best = from;
    double least = INFINITY;

    for (size_t at = from; at <= to; at++) {
        double sum = 0;

        for (size_t j = 0; j < shapelet->length && sum < least; j++) {
            double difference = (double)series[at + j] - (double)shapelet->values[j];

            sum += difference * difference;
        }
        if (sum < least) {
            least = sum;
            best = at;
        }
    }
    return best;
}

/* Up to three shapelets of the class: more would cover the series. */
static void mark_shapelets(FILE *stream, const struct svg_frame *frame,
                           const struct shapelet_pool *pool, int32_t label, size_t channel,
                           const float *series, size_t length)
{
    size_t marked = 0;

    for (size_t k = 0; k < pool->count && marked < 3; k++) {
        const struct shapelet *shapelet = &pool->shapelets[k];
        size_t at;

        if (shapelet->label != label || shapelet->channel != channel || shapelet->length > length)
            continue;
        at = best_match(shapelet, series, length);
        svg_series(stream, frame, series + at, shapelet->length, (double)at,
                   (struct svg_pen){svg_colour(marked++), 3, 0.85});
    }
}

static size_t count_class(const struct dataset *dataset, int32_t label)
{
    size_t count = 0;

    for (size_t i = 0; i < dataset->count; i++)
        count += !dataset->y || dataset->y[i] == label;
    return count;
}

/* The same behind every panel of a row, so that the file holds it once.  Series of one class often
 * follow each other because they are similar, so those that are drawn are spread over all. */
static void draw_real(FILE *stream, const struct svg_frame *frame, const struct dataset *real,
                      int32_t label, size_t channel, size_t behind)
{
    size_t row = (size_t)label * real->channels + channel, seen = 0;
    size_t count = count_class(real, label), most = behind < count ? behind : count;

    if (frame->x > LEFT) {
        svg_repeat_group(stream, "real", row, frame->x - LEFT);
        return;
    }
    svg_begin_group(stream, "real", row);
    for (size_t i = 0; i < real->count; i++) {
        if (real->y && real->y[i] != label)
            continue;
        if (seen * most % count < most)
            svg_series(stream, frame, dataset_series(real, i, channel), real->length, 0, real_pen);
        seen++;
    }
    svg_end_group(stream);
}

static void class_name(const struct dataset *dataset, size_t label, char *text, size_t size)
{
    if (dataset->names)
        snprintf(text, size, "%s", dataset->names[label]);
    else
        snprintf(text, size, "class %zu", label);
}

/* The range of a channel.  Values far outside of where 99.2 % of them are do not count: one spike
 * must not flatten the rest.  *cut tells whether there are such. */
static struct error *channel_range(const struct dataset *dataset, size_t channel, double *low,
                                   double *high, bool *cut)
{
    size_t total = dataset->count * dataset->length, stride = total / SAMPLES + 1, count = 0;
    float *values = malloc((total / stride + 1) * sizeof *values);
    double first, last, margin;

    if (!values)
        return error_memory("a figure");
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < dataset->count; i++)
        figure_widen(dataset_series(dataset, i, channel), dataset->length, low, high);
    for (size_t i = 0; i < total; i += stride)
        values[count++] =
            dataset_series(dataset, i / dataset->length, channel)[i % dataset->length];
    sort_floats(values, count);
    first = (double)values[count / 250];
    last = (double)values[count - 1 - count / 250];
    free(values);
    margin = 0.25 * (last - first);
    if (margin > 0 && *low < first - margin)
        *low = first - margin, *cut = true;
    if (margin > 0 && *high > last + margin)
        *high = last + margin, *cut = true;
    figure_relax(low, high);
    return NULL;
}

static struct error *check_shapes(const struct dataset *dataset, const struct dataset *real,
                                  const struct shapelet_pool *pool,
                                  const struct figure_options *options)
{
    if (options->channel >= dataset->channels)
        return error_make("channel %zu of a dataset of %zu", options->channel, dataset->channels);
    if (real && (real->channels != dataset->channels || real->length != dataset->length))
        return error_make("the series behind are %zu x %zu, those in front %zu x %zu",
                          real->channels, real->length, dataset->channels, dataset->length);
    if (pool && (pool->channels != dataset->channels || pool->steps != dataset->length))
        return error_make("the pool is for series of %zu x %zu, these are %zu x %zu",
                          pool->channels, pool->steps, dataset->channels, dataset->length);
    return NULL;
}

static void dataset_legend(FILE *stream, double y, const struct dataset *dataset, bool real,
                           const struct shapelet_pool *pool)
{
    static const char *const ranks[] = {"match of the class's best shapelet", "second", "third"};
    bool condensed = dataset->soft != NULL;
    double x = LEFT;

    x = figure_legend(stream, x, y, series_pen, condensed ? "condensed series" : "series");
    if (real)
        x = figure_legend(stream, x, y, real_pen,
                          condensed ? "real series of the class" : "series of the class behind");
    for (size_t i = 0; pool && i < 3; i++)
        x = figure_legend(stream, x, y, (struct svg_pen){svg_colour(i), 3, 1}, ranks[i]);
}

/* One channel of one class in one row of panels. */
static void dataset_row(FILE *stream, struct svg_frame frame, const struct dataset *dataset,
                        const struct dataset *real, const struct shapelet_pool *pool, size_t label,
                        size_t channel, bool last, const struct figure_options *options)
{
    size_t column = 0;

    figure_value_axis(stream, &frame);
    for (size_t i = 0; i < dataset->count && column < options->columns; i++) {
        const float *series = dataset_series(dataset, i, channel);

        if (dataset->y && (size_t)dataset->y[i] != label)
            continue;
        figure_panel(stream, &frame);
        if (real)
            draw_real(stream, &frame, real, (int32_t)label, channel, options->behind);
        svg_series(stream, &frame, series, dataset->length, 0, series_pen);
        if (pool)
            mark_shapelets(stream, &frame, pool, (int32_t)label, channel, series, dataset->length);
        if (options->all_channels && column == 0)
            svg_text(stream, frame.x + 4, frame.y + 12, 10, "start", figure_grey, "channel %zu",
                     channel);
        if (last)
            figure_step_axis(stream, &frame, 1);
        frame.x += frame.width + GAP;
        column++;
    }
}

/* All rows of one class; returns where the next one begins. */
static double dataset_class(FILE *stream, struct svg_frame frame, const struct svg_frame *ranges,
                            const struct dataset *dataset, const struct dataset *real,
                            const struct shapelet_pool *pool, size_t label, bool last,
                            const struct figure_options *options)
{
    size_t channels = options->all_channels ? dataset->channels : 1;
    char name[256];

    class_name(dataset, label, name, sizeof name);
    svg_text(stream, LEFT, frame.y + 13, 13, "start", figure_dark, "%s", name);
    frame.y += NAME_HEIGHT;
    for (size_t c = 0; c < channels; c++) {
        frame.low = ranges[c].low;
        frame.high = ranges[c].high;
        if (label == 0 && c == 0)
            svg_text(stream, 16, frame.y - 7, 11, "start", figure_grey, "value");
        dataset_row(stream, frame, dataset, real, pool, label,
                    options->all_channels ? c : options->channel, last && c + 1 == channels,
                    options);
        frame.y += frame.height + (c + 1 < channels ? GAP / 2.0 : GAP);
    }
    return frame.y;
}

/* The range of each channel that is drawn. */
static struct error *dataset_ranges(const struct dataset *dataset,
                                    const struct figure_options *options, struct svg_frame *ranges,
                                    bool *cut)
{
    for (size_t c = 0; c < (options->all_channels ? dataset->channels : 1); c++)
        TRY(channel_range(dataset, options->all_channels ? c : options->channel, &ranges[c].low,
                          &ranges[c].high, cut));
    return NULL;
}

static void dataset_title(const struct dataset *dataset, size_t classes,
                          const struct figure_options *options, char title[256])
{
    int used = snprintf(title, 256, "%zu series, %zu classes", dataset->count, classes);

    if (dataset->channels > 1 && options->all_channels)
        snprintf(title + used, 256 - (size_t)used, ", %zu channels", dataset->channels);
    else if (dataset->channels > 1)
        snprintf(title + used, 256 - (size_t)used, ", channel %zu of %zu", options->channel,
                 dataset->channels);
}

/* The most series that a class has, up to the columns asked for. */
static size_t columns_needed(const struct dataset *dataset, size_t classes, size_t most)
{
    size_t needed = 1;

    for (size_t label = 0; label < classes; label++) {
        size_t count = 0;

        for (size_t i = 0; i < dataset->count; i++)
            count += !dataset->y || (size_t)dataset->y[i] == label;
        needed = count > needed ? count : needed;
    }
    return needed < most ? needed : most;
}

/* What the picture leaves out or cuts. */
static void note_omissions(FILE *stream, size_t shown, size_t classes, bool cut)
{
    char text[128] = "";

    if (shown < classes)
        snprintf(text, sizeof text, "the first %zu of %zu classes%s", shown, classes,
                 cut ? "; " : "");
    if (cut)
        strcat(text, "outliers are drawn at the edge");
    svg_text(stream, PAGE_WIDTH - 16, 26, 12, "end", figure_grey, "%s", text);
}

static struct error *draw_classes(FILE *stream, const struct dataset *dataset,
                                  const struct dataset *real, const struct shapelet_pool *pool,
                                  const struct figure_options *options, struct svg_frame *ranges)
{
    size_t classes = dataset->y ? dataset->classes : 1;
    size_t shown = classes < options->rows ? classes : options->rows;
    size_t channels = options->all_channels ? dataset->channels : 1;
    size_t columns = columns_needed(dataset, classes, options->columns);
    struct svg_frame frame = {.x = LEFT, .y = TOP, .last = 1};
    double height;
    char title[256];
    bool cut = false;

    TRY(dataset_ranges(dataset, options, ranges, &cut));
    frame.height = channels > 1 ? SMALL_PANEL_HEIGHT : PANEL_HEIGHT;
    frame.width = (PAGE_WIDTH - LEFT - 16 - GAP * (double)(columns - 1)) / (double)columns;
    frame.last = dataset->length > 1 ? (double)dataset->length - 1 : 1;
    height = TOP + BOTTOM +
             (double)shown * (NAME_HEIGHT + GAP + (double)channels * frame.height +
                              (double)(channels - 1) * GAP / 2);
    dataset_title(dataset, classes, options, title);
    svg_begin(stream, PAGE_WIDTH, height, options->title ? options->title : title);
    for (size_t label = 0; label < shown; label++)
        frame.y = dataset_class(stream, frame, ranges, dataset, real, pool, label,
                                label == shown - 1, options);
    svg_text(stream, PAGE_WIDTH / 2.0, frame.y + 24, 12, "middle", figure_grey, "step");
    if (shown < classes || cut)
        note_omissions(stream, shown, classes, cut);
    dataset_legend(stream, height - 14, dataset, real != NULL, pool);
    svg_end(stream);
    return NULL;
}

struct error *figure_dataset(FILE *stream, const struct dataset *dataset,
                             const struct dataset *real, const struct shapelet_pool *pool,
                             const struct figure_options *options)
{
    struct svg_frame *ranges = calloc(dataset->channels + 1, sizeof *ranges);
    struct error *error =
        ranges ? check_shapes(dataset, real, pool, options) : error_memory("a figure");

    if (!error)
        error = draw_classes(stream, dataset, real, pool, options, ranges);
    free(ranges);
    return error;
}
