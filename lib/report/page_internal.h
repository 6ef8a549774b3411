/* What the sections of a report share: names of classes, scales, panels (page_panels.c); and the
 * sections that page.c puts together. */
#ifndef SC_REPORT_PAGE_INTERNAL_H
#define SC_REPORT_PAGE_INTERNAL_H

#include "report/html.h"
#include "report/page.h"

enum {
    COLOURS = 8,
    MOST_CLASSES = 40,  /* that are drawn */
    MOST_CHANNELS = 12, /* that are drawn */
};

/* ---- page_panels.c ---- */

void page_class_name(FILE *stream, const struct page *page, size_t label);

/* The range that all but the outermost values of the channel are in, a little wider: one spike must
 * not flatten the rest. */
struct error *page_channel_scale(const struct dataset *dataset, size_t channel,
                                 struct html_scale *scale) MUST_CHECK;

/* The next series of the class from *index on; false at the end. */
bool page_next_of_class(const struct dataset *dataset, size_t label, size_t *index);

/* A grid of panels: up to that many in a row, fewer where they would be too narrow. */
void page_open_panels(FILE *stream, size_t columns);

/* Opens a panel in the colour of the class.  `what` and the name of the class describe it to screen
 * readers. */
void page_open_panel(FILE *stream, const struct page *page, size_t label, const char *what,
                     const struct html_scale *scale);
void page_close_panel(FILE *stream);

/* Draws up to `most` of the `count` series of the class, evenly spread over all of them. */
void page_draw_spread(FILE *stream, const struct dataset *dataset, size_t count, size_t label,
                      size_t channel, const struct html_scale *scale, size_t most);

/* Buttons that pick a class. */
void page_write_chips(FILE *stream, const struct page *page);

/* ---- page_series.c ---- */

struct error *page_write_classes(FILE *stream, const struct page *page) MUST_CHECK;
struct error *page_write_series(FILE *stream, const struct page *page) MUST_CHECK;
void page_write_shapelets(FILE *stream, const struct page *page);

/* ---- page_accuracy.c ---- */

void page_write_scores(FILE *stream, const struct page *page);
void page_write_confusion(FILE *stream, const struct page *page, const struct scores *scores);
struct error *page_write_embedding(FILE *stream, const struct page *page) MUST_CHECK;

#endif
