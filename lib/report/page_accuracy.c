/* The sections of a report that show how good the result is: accuracy, confusion, and where the
 * series lie among the real ones. */
#include "report/page_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/embedding.h"

enum { MOST_POINTS = 1200 }; /* real series of the embedding */

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

void page_write_scores(FILE *stream, const struct page *page)
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
    page_class_name(stream, page, row);
    fputs("\">", stream);
    page_class_name(stream, page, row);
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

void page_write_confusion(FILE *stream, const struct page *page, const struct scores *scores)
{
    fputs("<h2>Confusion</h2>\n<p>", stream);
    html_text(stream, scores->name);
    fprintf(stream,
            ": of the series of each true class (row), the percentage taken for each class "
            "(column).</p>\n<div class=\"wide\"><table class=\"matrix%s\"><thead><tr><th></th>",
            scores->classes <= 8 ? " few" : "");
    for (size_t v = 0; v < scores->classes; v++) {
        fputs("<th title=\"", stream);
        page_class_name(stream, page, v);
        fputs("\">", stream);
        page_class_name(stream, page, v);
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
    page_write_chips(stream, page);
    draw_points(stream, page, cloud);
    return NULL;
}

struct error *page_write_embedding(FILE *stream, const struct page *page)
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
