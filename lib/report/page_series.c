/* The sections of a report that show series: classes, condensed series, shapelets. */
#include "report/page_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

enum {
    MOST_PANELS = 7,   /* condensed series of a class, one channel */
    MOST_IN_ROW = 6,   /* channels next to each other */
    MOST_CURVES = 5,   /* condensed series in a panel of a channel */
    MOST_BEHIND = 14,  /* real series behind them */
    MOST_EXAMPLES = 5, /* real series of a class in the table of classes */
    MOST_SHAPELETS = 24,
};

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
    page_class_name(stream, page, label);
    fputs("\">", stream);
    if (real->channels == 1) {
        page_draw_spread(stream, real, count, label, 0, &scales[0], MOST_EXAMPLES);
    } else if (count) {
        while (page_next_of_class(real, label, &middle) && seen++ < count / 2)
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
        page_class_name(stream, page, v);
        fputs("\">", stream);
        page_class_name(stream, page, v);
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

struct error *page_write_classes(FILE *stream, const struct page *page)
{
    const size_t channels = page->real ? page->real->channels : 0;
    struct html_scale *scales = calloc(channels + 1, sizeof *scales);
    struct error *error = scales ? NULL : error_memory("the report");

    fputs(page->real ? "<h2>What came in</h2>\n" : "<h2>Classes</h2>\n", stream);
    for (size_t c = 0; !error && c < channels; c++)
        error = page_channel_scale(page->real, c, &scales[c]);
    if (!error)
        error = write_counts(stream, page, scales);
    free(scales);
    return error;
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

    page_open_panels(stream, MOST_PANELS);
    for (size_t i = 0; panels < MOST_PANELS && page_next_of_class(page->condensed, label, &i);
         i++, panels++) {
        snprintf(name, sizeof name, "series %zu", i);
        page_open_panel(stream, page, label, name, &gallery->scales[0]);
        /* The real series are the same in all panels of the class. */
        if (page->real && panels == 0) {
            fprintf(stream, "<g id=\"real%zu\">", label);
            page_draw_spread(stream, page->real, gallery->real_counts[label], label, 0,
                             &gallery->scales[0], MOST_BEHIND);
            fputs("</g>", stream);
        } else if (page->real) {
            fprintf(stream, "<use href=\"#real%zu\"/>", label);
        }
        html_curve(stream, &gallery->scales[0], "own", name, dataset_series(page->condensed, i, 0),
                   0, page->condensed->length);
        page_close_panel(stream);
    }
    fputs("</div>", stream);
}

/* At each step, where the middle 80 % of the real series of the class are, and the median. */
static void find_band(const struct gallery *gallery, size_t label, size_t channel)
{
    const struct dataset *real = gallery->page->real;

    for (size_t step = 0; step < real->length; step++) {
        size_t count = 0;

        for (size_t i = 0; page_next_of_class(real, label, &i); i++)
            gallery->column[count++] = dataset_series(real, i, channel)[step];
        sort_floats(gallery->column, count);
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

    page_open_panels(stream, (shown + rows - 1) / rows);
    for (size_t c = 0; c < shown; c++) {
        size_t curves = 0;

        snprintf(name, sizeof name, "channel %zu", c);
        page_open_panel(stream, page, label, name, &gallery->scales[c]);
        if (page->real && gallery->real_counts[label]) {
            find_band(gallery, label, c);
            html_band(stream, &gallery->scales[c], "band", gallery->low, gallery->high);
            html_curve(stream, &gallery->scales[c], "middle", "median of the real series",
                       gallery->middle, 0, page->real->length);
        }
        for (size_t i = 0; curves < MOST_CURVES && page_next_of_class(page->condensed, label, &i);
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
    page_write_chips(stream, page);
    for (size_t v = 0; v < condensed->classes && v < MOST_CLASSES; v++) {
        fprintf(stream, "<div class=\"class\" data-c=\"%zu\"><div><b>", v);
        page_class_name(stream, page, v);
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
        TRY(page_channel_scale(scaled, c, &gallery->scales[c]));
    if (page->real)
        dataset_class_counts(page->real, gallery->real_counts);
    write_gallery(stream, gallery);
    return NULL;
}

struct error *page_write_series(FILE *stream, const struct page *page)
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
        page_class_name(stream, page, (size_t)shapelet->label);
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
        page_class_name(stream, page, (size_t)shapelet->label);
    if (page->pool->channels > 1)
        fprintf(stream, ", channel %u", shapelet->channel);
    fprintf(stream, "<br>%s %.3g, steps %u&ndash;%u</small></div>",
            slp_quality_names[page->pool->quality], (double)shapelet->quality, shapelet->start,
            shapelet->start + shapelet->length - 1);
}

void page_write_shapelets(FILE *stream, const struct page *page)
{
    const struct shapelet_pool *pool = page->pool;
    size_t shown = pool->count < MOST_SHAPELETS ? pool->count : MOST_SHAPELETS;

    fprintf(stream,
            "<h2>Shapelets</h2>\n<p>Short pieces of series whose presence tells classes apart"
            "%s: %zu of %zu, each where it was found.</p>\n",
            page->searched ? ", on the series that they were cut out of" : "", shown, pool->count);
    page_write_chips(stream, page);
    page_open_panels(stream, 8);
    for (size_t i = 0; i < shown; i++)
        draw_shapelet(stream, page, i);
    fputs("</div>\n", stream);
}
