/* Layout: a title, then panels in rows, then a line that says what is drawn how. */
#include "plot/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/svg.h"

enum {
    LEFT = 64,
    TOP = 44,
    BOTTOM = 74,
    GAP = 10,
    NAME_HEIGHT = 20, /* of a class, above its row */
    PANEL_HEIGHT = 92,
    SMALL_PANEL_HEIGHT = 46, /* of one of several channels */
    PAGE_WIDTH = 1000,
    SAMPLES = 20000, /* values that a scale is made from */
};

static const char dark[] = "#222222", grey[] = "#777777", frame_colour[] = "#cccccc";
static const struct svg_pen real_pen = {"#9aa5b1", 0.6, 0.55};
static const struct svg_pen series_pen = {"#222222", 1.3, 1};

struct figure_options figure_defaults(void)
{
    return (struct figure_options){.columns = 5, .rows = 20, .behind = 20};
}

/* ---- Shared by the figures ---- */

/* Widens low..high to hold the values.  (Of fmin and fmax here gcc 12 for arm64 dies at -O3.) */
static void widen(const float *values, size_t count, double *low, double *high)
{
    for (size_t i = 0; i < count; i++) {
        *low = values[i] < *low ? values[i] : *low;
        *high = values[i] > *high ? values[i] : *high;
    }
}

/* How far apart the ends of an axis for one value are to be, or for values so near each other that
 * there is no counting from one to the next; 0 for others. */
static double least_extent(double low, double high)
{
    double size = fmax(fabs(low), fabs(high));

    if (high - low > 1e-12 * size && high - low > 1e-300)
        return 0;
    return fmax(1, 2e-3 * size);
}

/* Room above and below; something to show even when all values are the same. */
static void relax(double *low, double *high)
{
    double margin = fmax(0.05 * (*high - *low), 0.5 * least_extent(*low, *high));

    *low -= margin;
    *high += margin;
}

static void panel(FILE *stream, const struct svg_frame *frame)
{
    svg_box(stream, frame->x, frame->y, frame->width, frame->height, "none", frame_colour, 1);
}

/* Marks and numbers below a panel, at least `least` apart: steps are whole. */
static void step_axis(FILE *stream, const struct svg_frame *frame, double least)
{
    double tick = fmax(least, svg_tick(frame->last - frame->first, frame->width / 70));

    for (double step = ceil(frame->first / tick) * tick; step <= frame->last; step += tick) {
        double x = svg_at_step(frame, step), y = frame->y + frame->height;

        svg_line(stream, x, y, x, y + 4, (struct svg_pen){grey, 1, 1});
        svg_text(stream, x, y + 16, 11, "middle", grey, "%g", step);
    }
}

/* The frame has logarithms to the base 10: marks at 1, 2 and 5 times powers of ten, or, over many
 * of them, at the powers alone. */
static void logarithmic_axis(FILE *stream, const struct svg_frame *frame)
{
    static const double digits[] = {1, 2, 5};
    size_t many = frame->last - frame->first > 4 ? 1 : 3;

    for (double power = floor(frame->first); power <= frame->last; power++)
        for (size_t i = 0; i < many; i++) {
            double step = power + log10(digits[i]), x = svg_at_step(frame, step);

            if (step < frame->first || step > frame->last)
                continue;
            svg_line(stream, x, frame->y + frame->height, x, frame->y + frame->height + 4,
                     (struct svg_pen){grey, 1, 1});
            svg_text(stream, x, frame->y + frame->height + 16, 11, "middle", grey, "%.12g",
                     pow(10, power) * digits[i]);
        }
}

static void value_axis(FILE *stream, const struct svg_frame *frame)
{
    double tick = svg_tick(frame->high - frame->low, frame->height / 30);

    for (double value = ceil(frame->low / tick) * tick; value <= frame->high; value += tick) {
        double y = svg_at_value(frame, value);

        svg_line(stream, frame->x - 4, y, frame->x, y, (struct svg_pen){grey, 1, 1});
        svg_text(stream, frame->x - 7, y + 4, 11, "end", grey, "%g",
                 fabs(value) < 1e-3 * tick ? 0 : value);
    }
}

/* A sample of a line and what it stands for; returns where the next one goes. */
static double legend(FILE *stream, double x, double y, struct svg_pen pen, const char *text)
{
    pen.width = fmax(pen.width, 1);
    pen.opacity = fmax(pen.opacity, 0.8);
    svg_line(stream, x, y - 4, x + 26, y - 4, pen);
    svg_text(stream, x + 32, y, 12, "start", dark, "%s", text);
    return x + 32 + 6.6 * (double)strlen(text) + 24;
}

/* ---- Datasets ---- */

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

static int compare_floats(const void *a, const void *b)
{
    const float left = *(const float *)a, right = *(const float *)b;

    return (left > right) - (left < right);
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
        widen(dataset_series(dataset, i, channel), dataset->length, low, high);
    for (size_t i = 0; i < total; i += stride)
        values[count++] =
            dataset_series(dataset, i / dataset->length, channel)[i % dataset->length];
    qsort(values, count, sizeof *values, compare_floats);
    first = (double)values[count / 250];
    last = (double)values[count - 1 - count / 250];
    free(values);
    margin = 0.25 * (last - first);
    if (margin > 0 && *low < first - margin)
        *low = first - margin, *cut = true;
    if (margin > 0 && *high > last + margin)
        *high = last + margin, *cut = true;
    relax(low, high);
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

    x = legend(stream, x, y, series_pen, condensed ? "condensed series" : "series");
    if (real)
        x = legend(stream, x, y, real_pen,
                   condensed ? "real series of the class" : "series of the class behind");
    for (size_t i = 0; pool && i < 3; i++)
        x = legend(stream, x, y, (struct svg_pen){svg_colour(i), 3, 1}, ranks[i]);
}

/* One channel of one class in one row of panels. */
static void dataset_row(FILE *stream, struct svg_frame frame, const struct dataset *dataset,
                        const struct dataset *real, const struct shapelet_pool *pool, size_t label,
                        size_t channel, bool last, const struct figure_options *options)
{
    size_t column = 0;

    value_axis(stream, &frame);
    for (size_t i = 0; i < dataset->count && column < options->columns; i++) {
        const float *series = dataset_series(dataset, i, channel);

        if (dataset->y && (size_t)dataset->y[i] != label)
            continue;
        panel(stream, &frame);
        if (real)
            draw_real(stream, &frame, real, (int32_t)label, channel, options->behind);
        svg_series(stream, &frame, series, dataset->length, 0, series_pen);
        if (pool)
            mark_shapelets(stream, &frame, pool, (int32_t)label, channel, series, dataset->length);
        if (options->all_channels && column == 0)
            svg_text(stream, frame.x + 4, frame.y + 12, 10, "start", grey, "channel %zu", channel);
        if (last)
            step_axis(stream, &frame, 1);
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
    svg_text(stream, LEFT, frame.y + 13, 13, "start", dark, "%s", name);
    frame.y += NAME_HEIGHT;
    for (size_t c = 0; c < channels; c++) {
        frame.low = ranges[c].low;
        frame.high = ranges[c].high;
        if (label == 0 && c == 0)
            svg_text(stream, 16, frame.y - 7, 11, "start", grey, "value");
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

/* What the picture does not show as it is. */
static void note_omissions(FILE *stream, size_t shown, size_t classes, bool cut)
{
    char text[128] = "";

    if (shown < classes)
        snprintf(text, sizeof text, "the first %zu of %zu classes%s", shown, classes,
                 cut ? "; " : "");
    if (cut)
        strcat(text, "outliers are drawn at the edge");
    svg_text(stream, PAGE_WIDTH - 16, 26, 12, "end", grey, "%s", text);
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
    svg_text(stream, PAGE_WIDTH / 2.0, frame.y + 24, 12, "middle", grey, "step");
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

/* ---- Pools ---- */

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
    panel(stream, &frame);
    if (source)
        svg_series(stream, &frame, source, (size_t)frame.last + 1, 0, real_pen);
    svg_series(
        stream, &frame, shapelet->values, shapelet->length, from,
        (struct svg_pen){svg_colour(shapelet->label < 0 ? 0 : (size_t)shapelet->label), 2.2, 1});
    if (shapelet->label >= 0 && real && real->names)
        snprintf(name, sizeof name, "class %s", real->names[shapelet->label]);
    else if (shapelet->label >= 0)
        snprintf(name, sizeof name, "class no. %d", shapelet->label);
    svg_text(stream, frame.x + 5, frame.y + 13, 11, "start", dark, "%zu: %.*s%s, %s %.3f", index,
             name_room(&frame), name, strlen(name) > (size_t)name_room(&frame) ? "..." : "",
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

        widen(shapelet->values, shapelet->length, &frame.low, &frame.high);
    }
    if (pool->count == 0)
        return error_make("the pool is empty");
    relax(&frame.low, &frame.high);
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
            value_axis(stream, &here);
        if (k + columns >= shown)
            step_axis(stream, &here, 1);
    }
    svg_text(stream, 16, TOP - 3, 11, "start", grey, "value");
    svg_text(stream, PAGE_WIDTH / 2.0, height - BOTTOM + 24, 12, "middle", grey, "step");
    double x = legend(stream, LEFT, height - 14, (struct svg_pen){svg_colour(0), 2.2, 1},
                      "shapelet at its place (colour: class)");
    x = legend(stream, x, height - 14, (struct svg_pen){"#dfe6ee", 10, 1}, "search window");
    if (real)
        legend(stream, x, height - 14, real_pen, "series that it was cut from");
    svg_end(stream);
    return NULL;
}

/* ---- Curves ---- */

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
    relax(&frame->low, &frame->high);
    frame->last = fmax(frame->last, frame->first + least_extent(frame->first, frame->last));
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
    place->x = legend(stream, place->x, place->y, pen, table->names[c]);
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
        panel(stream, &frame);
        value_axis(stream, &frame);
        if (options->logarithmic)
            logarithmic_axis(stream, &frame);
        else
            step_axis(stream, &frame, 0);
        svg_text(stream, frame.x + frame.width / 2, frame.y + frame.height + 34, 12, "middle", dark,
                 "%s", table->names[0]);
        if (table->columns == 2)
            svg_text(stream, LEFT, frame.y - 6, 12, "start", dark, "%s", table->names[1]);
        for (size_t c = 1; c < table->columns; c++)
            draw_curve(stream, table, c, x, &frame, options->marks, &place);
        svg_end(stream);
    }
    free(x);
    return error;
}
