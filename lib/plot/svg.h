/* The little of SVG that the figures need.  Everything goes straight to a stream; its owner checks
 * it for errors. */
#ifndef SC_SVG_H
#define SC_SVG_H

#include <stddef.h>
#include <stdio.h>

/* A box on the page and the ranges of steps and values that it shows. */
struct svg_frame {
    double x, y, width, height;
    double first, last; /* horizontally */
    double low, high;   /* vertically */
};

struct svg_pen {
    const char *colour;
    double width;
    double opacity;
};

void svg_begin(FILE *stream, double width, double height, const char *title);
void svg_end(FILE *stream);

/* anchor: "start", "middle" or "end".  The text is escaped. */
void svg_text(FILE *stream, double x, double y, double size, const char *anchor, const char *colour,
              const char *format, ...) __attribute__((format(printf, 7, 8)));

void svg_box(FILE *stream, double x, double y, double width, double height, const char *fill,
             const char *stroke, double opacity);

/* A straight line between two points of the page. */
void svg_line(FILE *stream, double x1, double y1, double x2, double y2, struct svg_pen pen);

/* values[0..count-1] at the steps start, start + 1, ... as a line.  Where there are several values
 * for a pixel, their range is drawn. */
void svg_series(FILE *stream, const struct svg_frame *frame, const float *values, size_t count,
                double start, struct svg_pen pen);

/* Points (x[i], y[i]); a gap where one of them is NaN. */
void svg_points(FILE *stream, const struct svg_frame *frame, const double *x, const double *y,
                size_t count, struct svg_pen pen);

/* The same with a mark at each point, and without gaps.  Shapes of marks: 0, 1, 2, ... in turn. */
void svg_marks(FILE *stream, const struct svg_frame *frame, const double *x, const double *y,
               size_t count, struct svg_pen pen, size_t shape);

/* What is drawn between these two can be drawn again, moved to the right by dx. */
void svg_begin_group(FILE *stream, const char *kind, size_t index);
void svg_end_group(FILE *stream);
void svg_repeat_group(FILE *stream, const char *kind, size_t index, double dx);

/* Where a step or a value is on the page. */
double svg_at_step(const struct svg_frame *frame, double step);
double svg_at_value(const struct svg_frame *frame, double value);

/* A round distance between about `wanted` marks on an axis of that extent: 1, 2 or 5 times a power
 * of ten. */
double svg_tick(double extent, double wanted);

/* Colours that everybody can distinguish; used in turn. */
enum { SVG_COLOURS = 6 };
const char *svg_colour(size_t index);

#endif
