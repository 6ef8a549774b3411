/* Sections follow each other as a reader asks: how much smaller, how good, what came in, what came
 * out, what was found on the way, how to use it, where it came from. */
#include "report/page.h"

#include <math.h>

#include "base/text.h"
#include "report/page_internal.h"
#include "report/style.h"

enum { MOST_MATRIX = 30 }; /* classes of a confusion matrix */

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
        fprintf(
            stream,
            " Networks that learned from them alone classify <b>%.1f&thinsp;%%</b> of new series "
            "correctly.",
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

/* ---- Use and provenance ---- */

/* The temperature of students in lib/eval, in Python. */
static const char *divided(const struct page *page)
{
    return page->condensed->classes > 20 ? "" : " / 4";
}

/* A table holds series and views with their classes. */
static void write_reading_of_table(FILE *stream, const struct page *page)
{
    fputs("import shapecond                     # formats/shapecond.py, NumPy alone\n\n"
          "# before, in a shell: sc-import ",
          stream);
    html_text(stream, page->file);
    fputs(" -o imported.npy\ndata = shapecond.load(&quot;imported.npy&quot;)\n"
          "X = torch.tensor(data[&quot;X&quot;])         # (N, channels, steps)\n"
          "target = torch.tensor(data[&quot;y&quot;]).long()\n",
          stream);
}

/* How the arrays get into X and target. */
static void write_python_reading(FILE *stream, const struct page *page)
{
    if (text_ends_with(page->file, ".npz")) {
        fputs("\nd = np.load(&quot;", stream);
        html_text(stream, page->file);
        fprintf(stream,
                "&quot;)\nX = torch.tensor(d[&quot;X&quot;])  # series%s (N, channels, "
                "steps)\n",
                page->condensed->views.count ? " and views" : "");
        if (page->condensed->soft)
            fprintf(stream, "target = torch.softmax(torch.tensor(d[&quot;soft&quot;])%s, 1)\n",
                    divided(page));
        else
            fputs("target = torch.tensor(d[&quot;y&quot;]).long()\n", stream);
        return;
    }
    if (text_ends_with(page->file, ".csv") || text_ends_with(page->file, ".tsv") ||
        text_ends_with(page->file, ".ts")) {
        write_reading_of_table(stream, page);
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
              "target = torch.softmax(soft",
              stream);
        fprintf(stream, "%s, 1)\n", divided(page));
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
        page_write_scores(stream, page);
    TRY(page_write_classes(stream, page));
    TRY(page_write_series(stream, page));
    if (page->pool && page->pool->count)
        page_write_shapelets(stream, page);
    if (page->real)
        TRY(page_write_embedding(stream, page));
    for (size_t i = 0; i < page->score_count; i++) {
        const struct scores *scores = &page->scores[i];

        if (scores->classes == page->condensed->classes && scores->classes <= MOST_MATRIX) {
            page_write_confusion(stream, page, scores);
            break;
        }
    }
    if (page->curve_count)
        TRY(training_write_curves(stream, page->curves, page->curve_count));
    if (page->times)
        training_write_stages(stream, page->times, page->times_size);
    write_python(stream, page);
    write_provenance(stream, page);
    fputs("</main><script>", stream);
    for (const char *const *line = report_script; *line; line++)
        fputs(*line, stream);
    fputs("</script></body></html>\n", stream);
    return NULL;
}
