/* Text for HTML, and curves as paths of SVG.  Everything goes straight to a stream; its owner
 * checks it for errors. */
#ifndef SC_REPORT_HTML_H
#define SC_REPORT_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Writes the text so that a browser shows it as it is, in an element or in an attribute: &, <, >
 * and quotes are escaped; what is not printable, or not UTF-8, becomes U+FFFD. */
void html_text(FILE *stream, const char *text);

/* A box in which curves are drawn: x from 0 to 100, y from 0 (high) to 100 (low). */
struct html_scale {
    size_t steps;
    double low, high;
};

/* Writes the attribute by which the page's script turns places in an <svg> of that scale back into
 * steps and values. */
void html_scale(FILE *stream, const struct html_scale *scale);

/* <path> of a series, with that class attribute and what the script calls it, or NULL.  A long one
 * is drawn by the range of its values in each of some columns. */
void html_curve(FILE *stream, const struct html_scale *scale, const char *css, const char *name,
                const float *values, size_t first, size_t count);

/* <path> of the area between two series. */
void html_band(FILE *stream, const struct html_scale *scale, const char *css, const float *low,
               const float *high);

/* "1234567" as "1,234,567" and bytes as "1.2 MB". */
void html_count(FILE *stream, size_t count);
void html_bytes(FILE *stream, size_t bytes);

#endif
