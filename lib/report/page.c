/* Sections follow each other as a reader asks: how much smaller, what came in, what came out beside
 * it, what was found on the way, how good it is, where it came from, how to use it. */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/embedding.h"
#include "report/html.h"
#include "report/style.h"

enum {
    COLOURS = 8,
    MOST_CLASSES = 40,  /* that are drawn */
    MOST_PANELS = 7,    /* condensed series of a class, one channel */
    MOST_CHANNELS = 12, /* that are drawn */
    MOST_IN_ROW = 6,    /* channels next to each other */
    MOST_CURVES = 5,    /* condensed series in a panel of a channel */
    MOST_BEHIND = 14,   /* real series behind them */
    MOST_EXAMPLES = 5,  /* real series of a class in the table of classes */
    MOST_SHAPELETS = 24,
    MOST_POINTS = 1200, /* real series of the embedding */
    MOST_MATRIX = 30,   /* classes of a confusion matrix */
    SAMPLES = 4000,     /* values that a scale is made from */
};

/* ---- Small things ---- */

static void class_name(FILE *stream, const struct page *page, size_t label)
{
    const struct dataset *dataset = page->condensed;

    if (dataset->names)
        html_text(stream, dataset->names[label]);
    else
        fprintf(stream, "class %zu", label);
}

static int compare_floats(const void *a, const void *b)
{
    const float left = *(const float *)a, right = *(const float *)b;

    return (left > right) - (left < right);
}

/* The range that all but the outermost values of the channel are in, a little wider: one spike must
 * not flatten the rest. */
static struct error *channel_scale(const struct dataset *dataset, size_t channel,
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
    qsort(values, count, sizeof *values, compare_floats);
    low = (double)values[count / 250];
    high = (double)values[count - 1 - count / 250];
    free(values);
    margin = fmax(0.08 * (high - low), 1e-6 * fmax(1, fmax(fabs(low), fabs(high))));
    *scale = (struct html_scale){dataset->length, low - margin, high + margin};
    return NULL;
}

/* The next series of the class from *index on; false at the end. */
static bool next_of_class(const struct dataset *dataset, size_t label, size_t *index)
{
    while (*index < dataset->count && (size_t)dataset->y[*index] != label)
        ++*index;
    return *index < dataset->count;
}

/* Opens a panel in the colour of the class; what it shows, for those who cannot see it, ends with the
 * name of the class. */
static void open_panel(FILE *stream, const struct page *page, size_t label, const char *what,
                       const struct html_scale *scale)
{
    fprintf(stream,
            "<div class=\"panel\"><svg class=\"k%zu\" viewBox=\"0 0 100 100\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s of ",
            label % COLOURS, what);
    class_name(stream, page, label);
    fputc('"', stream);
    html_scale(stream, scale);
    fputc('>', stream);
}

/* Opens a grid of panels: up to that many in a row, fewer where they would be too narrow. */
static void open_panels(FILE *stream, size_t columns)
{
    fprintf(stream, "<div class=\"panels\" style=\"--n:%zu\">", columns ? columns : 1);
}

static void close_panel(FILE *stream)
{
    fputs("</svg></div>", stream);
}

/* Draws up to `most` series of the class, evenly spread over all of them. */
static void draw_spread(FILE *stream, const struct dataset *dataset, size_t count, size_t label,
                        size_t channel, const struct html_scale *scale, size_t most)
{
    size_t stride = count / most + 1, seen = 0;

    for (size_t i = 0; next_of_class(dataset, label, &i); i++) {
        if (seen++ % stride == 0)
            html_curve(stream, scale, "real", NULL, dataset_series(dataset, i, channel), 0,
                       dataset->length);
    }
}

/* ---- Head ---- */

static void write_head(FILE *stream, const struct page *page)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
          "<link rel=\"icon\" href=\"data:,\"><title>",
          stream);
    html_text(stream, page->title ? page->title : page->file);
    fputs("</title>\n<style>", stream);
    for (const char *const *line = report_style; *line; line++)
        fputs(*line, stream);
    fputs("</style></head>\n<body><main>\n<h1>", stream);
    html_text(stream, page->title ? page->title : page->file);
    fputs("</h1>\n", stream);
}

static void open_tile(FILE *stream)
{
    fputs("<div class=\"tile\"><b>", stream);
}

static void end_tile(FILE *stream, const char *text)
{
    fprintf(stream, "</b><span>%s</span></div>", text);
}

/* The page in a sentence or two. */
static void write_lead(FILE *stream, const struct page *page)
{
    const struct dataset *condensed = page->condensed;

    fputs("<p class=\"lead\">A condensed dataset: ", stream);
    html_count(stream, condensed->count);
    fputs(" series", stream);
    if (condensed->views.count) {
        fputs(" and ", stream);
        html_count(stream, condensed->views.count);
        fputs(" labelled views of them", stream);
    }
    if (page->real) {
        fputs(" that train a classifier in place of ", stream);
        html_count(stream, page->real->count);
    }
    fputc('.', stream);
    if (page->score_count)
        fprintf(stream,
                " Networks that learned from them alone recognise <b>%.1f&thinsp;%%</b> of series "
                "that they have not seen.",
                page->scores[0].accuracy);
    fputs("</p>\n", stream);
}

static void write_tiles(FILE *stream, const struct page *page)
{
    const struct dataset *condensed = page->condensed;

    write_lead(stream, page);
    fputs("<div class=\"tiles\">", stream);
    open_tile(stream);
    html_count(stream, condensed->count);
    end_tile(stream, "condensed series");
    if (page->real) {
        open_tile(stream);
        fprintf(stream, "%.3g&times;", (double)page->real->count / (double)condensed->count);
        fputs("</b><span>fewer than ", stream);
        html_count(stream, page->real->count);
        fputs(" real ones</span></div>", stream);
    }
    open_tile(stream);
    html_bytes(stream, page->condensed_bytes);
    if (page->real) {
        fputs("</b><span>instead of ", stream);
        html_bytes(stream, page->real_bytes);
        fputs("</span></div>", stream);
    } else {
        end_tile(stream, "on disk");
    }
    open_tile(stream);
    fprintf(stream, "%zu", condensed->classes);
    end_tile(stream, condensed->classes == 1 ? "class" : "classes");
    open_tile(stream);
    fprintf(stream, "%zu&thinsp;&times;&thinsp;%zu", condensed->channels, condensed->length);
    end_tile(stream, "channels and steps");
    if (condensed->views.count) {
        open_tile(stream);
        html_count(stream, condensed->views.count);
        end_tile(stream, "labelled views");
    }
    if (page->score_count) {
        open_tile(stream);
        fprintf(stream, "%.1f&thinsp;%%</b><span>accuracy: ", page->scores[0].accuracy);
        html_text(stream, page->scores[0].name);
        fputs("</span></div>", stream);
    }
    fputs("</div>\n", stream);
}

/* ---- Classes ---- */

static void write_bar(FILE *stream, const char *css, size_t count, size_t most)
{
    fprintf(stream, "<span class=\"bar%s\" style=\"width:%.1f%%\"></span>", css,
            most ? 100 * (double)count / (double)most : 0);
}

/* Some real series of the class, or all channels of one. */
static void write_examples(FILE *stream, const struct page *page, const struct html_scale *scales,
                           size_t label, size_t count)
{
    const struct dataset *real = page->real;
    size_t middle = 0, seen = 0;

    fprintf(stream,
            "<td><svg class=\"few k%zu\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" "
            "role=\"img\" aria-label=\"real series of ",
            label % COLOURS);
    class_name(stream, page, label);
    fputs("\">", stream);
    if (real->channels == 1) {
        draw_spread(stream, real, count, label, 0, &scales[0], MOST_EXAMPLES);
    } else if (count) {
        while (next_of_class(real, label, &middle) && seen++ < count / 2)
            middle++;
        for (size_t c = 0; c < real->channels && c < MOST_CHANNELS; c++)
            html_curve(stream, &scales[c], "real", NULL, dataset_series(real, middle, c), 0,
                       real->length);
    }
    fputs("</svg></td>", stream);
}

static struct error *write_counts(FILE *stream, const struct page *page,
                                  const struct html_scale *scales)
{
    const size_t classes = page->condensed->classes;
    size_t *counts = calloc(classes, 2 * sizeof *counts), most = 0, *real;

    if (!counts)
        return error_memory("the report");
    real = counts + classes;
    dataset_class_counts(page->condensed, counts);
    if (page->real)
        dataset_class_counts(page->real, real);
    for (size_t v = 0; v < classes; v++) {
        size_t count = page->real ? real[v] : counts[v];

        most = count > most ? count : most;
    }
    if (page->real)
        fprintf(stream,
                "<p>%s, and how many there are: in grey those of the data, in blue those of the "
                "condensed dataset.</p>\n",
                page->real->channels == 1 ? "Some real series of each class"
                                          : "A real series of each class with all its channels");
    fputs("<div class=\"wide\"><table class=\"counts\"><thead><tr><th>class</th>", stream);
    fputs(page->real ? "<th>series</th><th>real</th><th>condensed</th><th></th></tr></thead>"
                     : "<th>condensed</th><th></th></tr></thead>",
          stream);
    for (size_t v = 0; v < classes && v < MOST_CLASSES; v++) {
        fprintf(stream, "<tr data-c=\"%zu\"><td title=\"", v);
        class_name(stream, page, v);
        fputs("\">", stream);
        class_name(stream, page, v);
        fputs("</td>", stream);
        if (page->real) {
            write_examples(stream, page, scales, v, real[v]);
            fputs("<td class=\"n\">", stream);
            html_count(stream, real[v]);
            fputs("</td>", stream);
        }
        fputs("<td class=\"n\">", stream);
        html_count(stream, counts[v]);
        fputs("</td><td>", stream);
        if (page->real)
            write_bar(stream, " real", real[v], most);
        write_bar(stream, "", counts[v], most);
        fputs("</td></tr>\n", stream);
    }
    fputs("</table></div>\n", stream);
    if (classes > MOST_CLASSES)
        fprintf(stream, "<p>The first %d of %zu classes.</p>\n", MOST_CLASSES, classes);
    free(counts);
    return NULL;
}

static struct error *write_classes(FILE *stream, const struct page *page)
{
    const size_t channels = page->real ? page->real->channels : 0;
    struct html_scale *scales = calloc(channels + 1, sizeof *scales);
    struct error *error = scales ? NULL : error_memory("the report");

    fputs(page->real ? "<h2>What came in</h2>\n" : "<h2>Classes</h2>\n", stream);
    for (size_t c = 0; !error && c < channels; c++)
        error = channel_scale(page->real, c, &scales[c]);
    if (!error)
        error = write_counts(stream, page, scales);
    free(scales);
    return error;
}

static void write_chips(FILE *stream, const struct page *page)
{
    fputs("<div class=\"chips\">", stream);
    for (size_t v = 0; v < page->condensed->classes && v < MOST_CLASSES; v++) {
        fprintf(stream,
                "<button type=\"button\" aria-pressed=\"false\" data-c=\"%zu\"><span class=\"dot "
                "k%zu\"></span>",
                v, v % COLOURS);
        class_name(stream, page, v);
        fputs("</button>", stream);
    }
    fputs("</div>\n", stream);
}

/* ---- Series ---- */

/* What the panels of a class need. */
struct gallery {
    const struct page *page;
    struct html_scale *scales; /* of each channel */
    size_t *real_counts;       /* of each class, or NULL */
    float *column;             /* room for the values of a class at one step */
    float *low, *middle, *high;
};

/* One panel for each condensed series, real ones behind it. */
static void draw_single_channel(FILE *stream, const struct gallery *gallery, size_t label)
{
    const struct page *page = gallery->page;
    size_t panels = 0;
    char name[64];

    open_panels(stream, MOST_PANELS);
    for (size_t i = 0; panels < MOST_PANELS && next_of_class(page->condensed, label, &i);
         i++, panels++) {
        snprintf(name, sizeof name, "series %zu", i);
        open_panel(stream, page, label, name, &gallery->scales[0]);
        /* The real series are the same in all panels of the class. */
        if (page->real && panels == 0) {
            fprintf(stream, "<g id=\"real%zu\">", label);
            draw_spread(stream, page->real, gallery->real_counts[label], label, 0,
                        &gallery->scales[0], MOST_BEHIND);
            fputs("</g>", stream);
        } else if (page->real) {
            fprintf(stream, "<use href=\"#real%zu\"/>", label);
        }
        html_curve(stream, &gallery->scales[0], "own", name, dataset_series(page->condensed, i, 0),
                   0, page->condensed->length);
        close_panel(stream);
    }
    fputs("</div>", stream);
}

/* At each step, where the middle 80 % of the real series of the class are, and the median. */
static void find_band(const struct gallery *gallery, size_t label, size_t channel)
{
    const struct dataset *real = gallery->page->real;

    for (size_t step = 0; step < real->length; step++) {
        size_t count = 0;

        for (size_t i = 0; next_of_class(real, label, &i); i++)
            gallery->column[count++] = dataset_series(real, i, channel)[step];
        qsort(gallery->column, count, sizeof *gallery->column, compare_floats);
        gallery->low[step] = gallery->column[count / 10];
        gallery->middle[step] = gallery->column[count / 2];
        gallery->high[step] = gallery->column[count - 1 - count / 10];
    }
}

/* One panel for each channel: condensed series over the range of the real ones. */
static void draw_channels(FILE *stream, const struct gallery *gallery, size_t label)
{
    const struct page *page = gallery->page;
    const size_t channels = page->condensed->channels;
    const size_t shown = channels < MOST_CHANNELS ? channels : MOST_CHANNELS;
    const size_t rows = 1 + (shown ? shown - 1 : 0) / MOST_IN_ROW;
    char name[64];

    open_panels(stream, (shown + rows - 1) / rows);
    for (size_t c = 0; c < shown; c++) {
        size_t curves = 0;

        snprintf(name, sizeof name, "channel %zu", c);
        open_panel(stream, page, label, name, &gallery->scales[c]);
        if (page->real && gallery->real_counts[label]) {
            find_band(gallery, label, c);
            html_band(stream, &gallery->scales[c], "band", gallery->low, gallery->high);
            html_curve(stream, &gallery->scales[c], "middle", "median of the real series",
                       gallery->middle, 0, page->real->length);
        }
        for (size_t i = 0; curves < MOST_CURVES && next_of_class(page->condensed, label, &i);
             i++, curves++) {
            snprintf(name, sizeof name, "series %zu, channel %zu", i, c);
            html_curve(stream, &gallery->scales[c], "own", name,
                       dataset_series(page->condensed, i, c), 0, page->condensed->length);
        }
        fprintf(stream, "</svg><small>channel %zu</small></div>", c);
    }
    fputs("</div>", stream);
}

static void write_gallery(FILE *stream, const struct gallery *gallery)
{
    const struct page *page = gallery->page;
    const struct dataset *condensed = page->condensed;
    bool single = condensed->channels == 1;

    fputs("<h2>Condensed series</h2>\n<p>", stream);
    if (page->real)
        fputs(single
                  ? "In colour the condensed series, thin and grey some real series of the class."
                  : "In colour up to five condensed series of the class; in grey the middle "
                    "80&thinsp;% "
                    "of the real ones and their median.",
              stream);
    else
        fputs("The first series of each class.", stream);
    fputs(single ? " One scale for all classes." : " Each channel has one scale for all classes.",
          stream);
    if (condensed->channels > MOST_CHANNELS)
        fprintf(stream, " The first %d of %zu channels are drawn.", MOST_CHANNELS,
                condensed->channels);
    fputs("</p>\n", stream);
    write_chips(stream, page);
    for (size_t v = 0; v < condensed->classes && v < MOST_CLASSES; v++) {
        fprintf(stream, "<div class=\"class\" data-c=\"%zu\"><div><b>", v);
        class_name(stream, page, v);
        fputs("</b></div>", stream);
        if (single)
            draw_single_channel(stream, gallery, v);
        else
            draw_channels(stream, gallery, v);
        fputs("</div>\n", stream);
    }
}

static struct error *make_gallery(FILE *stream, const struct page *page, struct gallery *gallery)
{
    const struct dataset *scaled = page->real ? page->real : page->condensed;

    if (!gallery->scales || !gallery->real_counts || !gallery->column || !gallery->low)
        return error_memory("the report");
    for (size_t c = 0; c < scaled->channels; c++)
        TRY(channel_scale(scaled, c, &gallery->scales[c]));
    if (page->real)
        dataset_class_counts(page->real, gallery->real_counts);
    write_gallery(stream, gallery);
    return NULL;
}

static struct error *write_series(FILE *stream, const struct page *page)
{
    const struct dataset *scaled = page->real ? page->real : page->condensed;
    struct gallery gallery = {
        .page = page,
        .scales = calloc(scaled->channels, sizeof *gallery.scales),
        .real_counts = calloc(scaled->classes, sizeof *gallery.real_counts),
        .column = calloc(scaled->count, sizeof *gallery.column),
        .low = calloc(scaled->length, 3 * sizeof *gallery.low),
    };
    struct error *error;

    gallery.middle = gallery.low ? gallery.low + scaled->length : NULL;
    gallery.high = gallery.low ? gallery.low + 2 * scaled->length : NULL;
    error = make_gallery(stream, page, &gallery);
    free(gallery.scales);
    free(gallery.real_counts);
    free(gallery.column);
    free(gallery.low);
    return error;
}

/* ---- Shapelets ---- */

/* The series that it was cut out of, if that is known. */
static const float *source_of(const struct page *page, const struct shapelet *shapelet)
{
    return page->searched
               ? dataset_series(page->searched, (size_t)shapelet->source, shapelet->channel)
               : NULL;
}

/* "shapelet 3 of bell": which series it is from, and how near a series must come to have it. */
static void shapelet_title(FILE *stream, const struct page *page, size_t index)
{
    const struct shapelet *shapelet = &page->pool->shapelets[index];

    fprintf(stream, "shapelet %zu", index);
    if (shapelet->label >= 0 && (size_t)shapelet->label < page->condensed->classes) {
        fputs(" of ", stream);
        class_name(stream, page, (size_t)shapelet->label);
    }
    fprintf(stream, ", from series %llu\n%s %.3g at the distance %.3g",
            (unsigned long long)shapelet->source, slp_quality_names[page->pool->quality],
            (double)shapelet->quality, (double)shapelet->threshold);
}

static void draw_shapelet(FILE *stream, const struct page *page, size_t index)
{
    const struct shapelet *shapelet = &page->pool->shapelets[index];
    const float *source = source_of(page, shapelet);
    const float *values = source ? source : shapelet->values;
    size_t count = source ? page->pool->steps : shapelet->length;
    struct html_scale scale = {page->pool->steps, (double)values[0], (double)values[0]};
    double margin;

    for (size_t i = 0; i < count; i++) {
        scale.low = fmin(scale.low, (double)values[i]);
        scale.high = fmax(scale.high, (double)values[i]);
    }
    margin = fmax(0.1 * (scale.high - scale.low), 1e-6);
    scale.low -= margin;
    scale.high += margin;
    fputs("<div class=\"panel\"", stream);
    if (shapelet->label >= 0)
        fprintf(stream, " data-c=\"%d\"", (int)shapelet->label);
    fprintf(stream,
            "><svg class=\"k%zu\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" "
            "role=\"img\" aria-label=\"shapelet %zu\" data-t=\"",
            shapelet->label < 0 ? 7 : (size_t)shapelet->label % COLOURS, index);
    shapelet_title(stream, page, index);
    fputc('"', stream);
    html_scale(stream, &scale);
    fputc('>', stream);
    if (source)
        html_curve(stream, &scale, "middle", "its series", source, 0, page->pool->steps);
    html_curve(stream, &scale, "part", "the shapelet", shapelet->values, shapelet->start,
               shapelet->length);
    fputs("</svg><small>", stream);
    if (shapelet->label >= 0 && (size_t)shapelet->label < page->condensed->classes)
        class_name(stream, page, (size_t)shapelet->label);
    if (page->pool->channels > 1)
        fprintf(stream, ", channel %u", shapelet->channel);
    fprintf(stream, "<br>%s %.3g, steps %u&ndash;%u</small></div>",
            slp_quality_names[page->pool->quality], (double)shapelet->quality, shapelet->start,
            shapelet->start + shapelet->length - 1);
}

static void write_shapelets(FILE *stream, const struct page *page)
{
    const struct shapelet_pool *pool = page->pool;
    size_t shown = pool->count < MOST_SHAPELETS ? pool->count : MOST_SHAPELETS;

    fprintf(stream,
            "<h2>Shapelets</h2>\n<p>Short pieces of series whose presence tells classes apart"
            "%s: %zu of %zu, each where it was found.</p>\n",
            page->searched ? ", on the series that they were cut out of" : "", shown, pool->count);
    write_chips(stream, page);
    open_panels(stream, 8);
    for (size_t i = 0; i < shown; i++)
        draw_shapelet(stream, page, i);
    fputs("</div>\n", stream);
}

/* ---- Accuracy ---- */

/* Characters of the model in "MODEL: NAME"; 0 if there is none. */
static size_t model_length(const struct scores *scores)
{
    const char *colon = strstr(scores->name, ": ");

    return colon ? (size_t)(colon - scores->name) : 0;
}

/* A heading where another model begins; returns the rest of the name. */
static const char *write_model(FILE *stream, const struct scores *before,
                               const struct scores *scores)
{
    size_t length = model_length(scores);
    bool same = before && model_length(before) == length &&
                strncmp(before->name, scores->name, length) == 0;
    char model[256];

    if (length == 0)
        return scores->name;
    if (!same) {
        snprintf(model, sizeof model, "%.*s", length < 255 ? (int)length : 255, scores->name);
        fputs("<div class=\"model\">", stream);
        html_text(stream, model);
        fputs("</div>", stream);
    }
    return scores->name + length + 2;
}

static void write_scores(FILE *stream, const struct page *page)
{
    fputs(
        "<h2>Accuracy</h2>\n<p>Students trained from scratch, tested on series that they were not "
        "trained on; the thin line is one standard deviation to either side.",
        stream);
    if (page->note) {
        fputc(' ', stream);
        html_text(stream, page->note);
    }
    fputs("</p>\n<div class=\"scores\">", stream);
    for (size_t i = 0; i < page->score_count; i++) {
        const struct scores *scores = &page->scores[i];
        const char *name = write_model(stream, i ? &page->scores[i - 1] : NULL, scores);

        fputs("<div>", stream);
        html_text(stream, name);
        fprintf(stream,
                "</div><div class=\"track\"><span class=\"fill%s\" style=\"width:%.2f%%\"></span>",
                i ? " other" : "", scores->accuracy);
        if (!isnan(scores->deviation)) {
            double from = fmax(0, scores->accuracy - scores->deviation);
            double to = fmin(100, scores->accuracy + scores->deviation);

            fprintf(stream, "<span class=\"dev\" style=\"left:%.2f%%;width:%.2f%%\"></span>", from,
                    to - from);
        }
        fprintf(stream, "</div><div class=\"n\">%.2f", scores->accuracy);
        if (!isnan(scores->deviation))
            fprintf(stream, " &plusmn; %.2f", scores->deviation);
        fputs("&thinsp;%</div>\n", stream);
    }
    fputs("</div>\n", stream);
}

static void write_matrix_row(FILE *stream, const struct page *page, const struct scores *scores,
                             size_t row)
{
    double total = 0;

    for (size_t column = 0; column < scores->classes; column++)
        total += scores->confusion[row * scores->classes + column];
    fprintf(stream, "<tr data-c=\"%zu\"><th title=\"", row);
    class_name(stream, page, row);
    fputs("\">", stream);
    class_name(stream, page, row);
    fputs("</th>", stream);
    for (size_t column = 0; column < scores->classes; column++) {
        double share = total > 0 ? scores->confusion[row * scores->classes + column] / total : 0;

        fprintf(stream, "<td class=\"%s\" style=\"--s:%.3f\"", row == column ? "hit" : "miss",
                share > 0 ? 0.12 + 0.78 * share : 0);
        if (share > 0)
            fprintf(stream, " data-n=\"%.4g of %.6g\"",
                    scores->confusion[row * scores->classes + column], total);
        fputc('>', stream);
        if (share > 0)
            fprintf(stream, share < 0.005 ? "&lt;1" : "%.0f", 100 * share);
        fputs("</td>", stream);
    }
    fputs("</tr>\n", stream);
}

static void write_confusion(FILE *stream, const struct page *page, const struct scores *scores)
{
    fputs("<h2>Confusion</h2>\n<p>", stream);
    html_text(stream, scores->name);
    fprintf(stream,
            ": of the series of each true class (row), the percentage taken for each class "
            "(column).</p>\n<div class=\"wide\"><table class=\"matrix%s\"><thead><tr><th></th>",
            scores->classes <= 8 ? " few" : "");
    for (size_t v = 0; v < scores->classes; v++) {
        fputs("<th title=\"", stream);
        class_name(stream, page, v);
        fputs("\">", stream);
        class_name(stream, page, v);
        fputs("</th>", stream);
    }
    fputs("</tr></thead>\n", stream);
    for (size_t v = 0; v < scores->classes; v++)
        write_matrix_row(stream, page, scores, v);
    fputs("</table></div>\n", stream);
}

/* ---- Embedding ---- */

struct cloud {
    size_t *indices; /* real series that are shown */
    size_t count;
    double (*points)[2]; /* theirs, then those of the condensed series */
    double *centre, *axes;
    double explained[2];
};

static void draw_points(FILE *stream, const struct page *page, const struct cloud *cloud)
{
    const struct dataset *condensed = page->condensed;
    size_t total = cloud->count + condensed->count;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

    for (size_t i = 0; i < total; i++) {
        for (size_t k = 0; k < 2; k++) {
            low[k] = fmin(low[k], cloud->points[i][k]);
            high[k] = fmax(high[k], cloud->points[i][k]);
        }
    }
    fputs("<svg class=\"points\" viewBox=\"0 0 200 150\" role=\"img\" "
          "aria-label=\"real and condensed series as points\">",
          stream);
    for (size_t i = 0; i < total; i++) {
        bool real = i < cloud->count;
        size_t label =
            (size_t)(real ? page->real->y[cloud->indices[i]] : condensed->y[i - cloud->count]);
        double x = 6 + 188 * (cloud->points[i][0] - low[0]) / fmax(high[0] - low[0], 1e-30);
        double y = 144 - 138 * (cloud->points[i][1] - low[1]) / fmax(high[1] - low[1], 1e-30);

        if (real)
            fprintf(stream,
                    "<circle class=\"k%zu\" data-c=\"%zu\" data-n=\"%zu\" cx=\"%.1f\" cy=\"%.1f\" "
                    "r=\"%.1f\"/>",
                    label % COLOURS, label, cloud->indices[i], x, y,
                    cloud->count > 400 ? 0.9 : 1.4);
        else
            fprintf(stream,
                    "<rect class=\"k%zu\" data-c=\"%zu\" data-n=\"%zu\" x=\"%.1f\" y=\"%.1f\" "
                    "width=\"3.2\" "
                    "height=\"3.2\" rx=\".5\"/>",
                    label % COLOURS, label, i - cloud->count, x - 1.6, y - 1.6);
    }
    fputs("</svg>\n", stream);
}

static struct error *make_cloud(FILE *stream, const struct page *page, struct cloud *cloud)
{
    const struct dataset *real = page->real, *condensed = page->condensed;
    const size_t size = dataset_series_size(real), stride = real->count / MOST_POINTS + 1;

    if (!cloud->indices || !cloud->points)
        return error_memory("the report");
    for (size_t i = 0; i < real->count; i += stride)
        cloud->indices[cloud->count++] = i;
    TRY(embedding_fit(real, cloud->indices, cloud->count, &cloud->centre, &cloud->axes,
                      cloud->explained));
    for (size_t i = 0; i < cloud->count; i++)
        embedding_place(dataset_series(real, cloud->indices[i], 0), size, cloud->centre,
                        cloud->axes, cloud->points[i]);
    for (size_t i = 0; i < condensed->count; i++)
        embedding_place(dataset_series(condensed, i, 0), size, cloud->centre, cloud->axes,
                        cloud->points[cloud->count + i]);
    fprintf(
        stream,
        "<h2>Where they lie</h2>\n<p>The first two principal components of the real series (%.0f "
        "and %.0f&thinsp;%% of the variance). Dots are real series, squares condensed ones.</p>\n",
        100 * cloud->explained[0], 100 * cloud->explained[1]);
    write_chips(stream, page);
    draw_points(stream, page, cloud);
    return NULL;
}

static struct error *write_cloud(FILE *stream, const struct page *page)
{
    const size_t most = page->real->count + page->condensed->count;
    struct cloud cloud = {
        .indices = calloc(page->real->count, sizeof *cloud.indices),
        .points = calloc(most, sizeof *cloud.points),
    };
    struct error *error = make_cloud(stream, page, &cloud);

    free(cloud.indices);
    free(cloud.points);
    free(cloud.centre);
    free(cloud.axes);
    return error;
}

/* ---- Use and provenance ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);

    return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

/* How the arrays get into X and target. */
static void write_python_reading(FILE *stream, const struct page *page)
{
    if (ends_with(page->file, ".npz")) {
        fputs("\nd = np.load(&quot;", stream);
        html_text(stream, page->file);
        fprintf(stream,
                "&quot;)\nX = torch.tensor(d[&quot;X&quot;])  # series%s (N, channels, "
                "steps)\n%s",
                page->condensed->views.count ? " and views" : "",
                page->condensed->soft
                    ? "target = torch.softmax(torch.tensor(d[&quot;soft&quot;]) / 4, 1)\n"
                    : "target = torch.tensor(d[&quot;y&quot;]).long()\n");
        return;
    }
    if (page->condensed->views.count) {
        fputs("import shapecond                     # formats/shapecond.py, NumPy alone\n\n"
              "data = shapecond.load(&quot;",
              stream);
        html_text(stream, page->file);
        fputs("&quot;)\nX, soft = shapecond.expand(data)     # views (M, channels, steps) and "
              "logits\nX = torch.tensor(np.concatenate([data[&quot;X&quot;], X]))\n"
              "soft = torch.tensor(np.concatenate([data[&quot;soft&quot;], soft]))\n"
              "target = torch.softmax(soft / 4, 1)\n",
              stream);
        return;
    }
    fputs("\nwith open(&quot;", stream);
    html_text(stream, page->file);
    fputs("&quot;, &quot;rb&quot;) as f:        # arrays follow each other in one file\n"
          "    X = torch.tensor(np.load(f))   # series (N, channels, steps)\n"
          "    y = torch.tensor(np.load(f)).long()\n",
          stream);
    if (page->condensed->soft)
        fputs("    soft = torch.tensor(np.load(f))  # logits of the teacher\n"
              "target = torch.softmax(soft / 4, 1)\n",
              stream);
    else
        fputs("target = y\n", stream);
}

static void write_python(FILE *stream, const struct page *page)
{
    bool views = page->condensed->views.count > 0;

    fputs("<h2>Training on it</h2>\n<p>With NumPy and PyTorch; <code>model</code> is a classifier "
          "of your own.</p>\n<pre class=\"code\">import numpy as np, torch\n",
          stream);
    write_python_reading(stream, page);
    fprintf(stream,
            "\noptimiser = torch.optim.AdamW(model.parameters(), %s, weight_decay=1e-4)\n"
            "schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, %d)\n"
            "for step in range(%d):\n    batch = torch.randint(len(X), (%d,))\n"
            "    loss = torch.nn.functional.cross_entropy(model(X[batch]), target[batch])\n"
            "    optimiser.zero_grad(); loss.backward(); optimiser.step(); schedule.step()</pre>\n",
            views ? "3e-3" : "1e-3", views ? 2000 : 1000, views ? 2000 : 1000, 64);
}

static void write_provenance(FILE *stream, const struct page *page)
{
    fputs("<h2>Provenance</h2>\n<p>The programs that the data went through, with the options that "
          "matter and the digests of what they read.</p>\n<pre>",
          stream);
    html_text(stream, page->condensed->notes ? page->condensed->notes : "(none recorded)");
    fputs("</pre>\n", stream);
    if (page->condensed->digest[0])
        fprintf(stream, "<p>BLAKE2b-128 of the file: %s</p>\n", page->condensed->digest);
}

struct error *page_write(FILE *stream, const struct page *page)
{
    write_head(stream, page);
    write_tiles(stream, page);
    if (page->score_count)
        write_scores(stream, page);
    TRY(write_classes(stream, page));
    TRY(write_series(stream, page));
    if (page->pool && page->pool->count)
        write_shapelets(stream, page);
    if (page->real)
        TRY(write_cloud(stream, page));
    for (size_t i = 0; i < page->score_count; i++) {
        const struct scores *scores = &page->scores[i];

        if (scores->classes == page->condensed->classes && scores->classes <= MOST_MATRIX) {
            write_confusion(stream, page, scores);
            break;
        }
    }
    if (page->curve_count)
        TRY(write_curves(stream, page->curves, page->curve_count));
    if (page->times)
        TRY(write_times(stream, page->times, page->times_size));
    write_python(stream, page);
    write_provenance(stream, page);
    fputs("</main><script>", stream);
    for (const char *const *line = report_script; *line; line++)
        fputs(*line, stream);
    fputs("</script></body></html>\n", stream);
    return NULL;
}
