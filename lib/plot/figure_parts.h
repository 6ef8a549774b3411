/* What the SVG figures share: sizes, colours, axes, legends. */
#ifndef SC_PLOT_FIGURE_PARTS_H
#define SC_PLOT_FIGURE_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "plot/svg.h"

enum {
    PAGE_WIDTH = 1000,
    LEFT = 64,
    TOP = 44,
    BOTTOM = 74,
    GAP = 10,
    PANEL_HEIGHT = 92,
};

extern const char figure_dark[], figure_grey[];

/* Widens low..high to hold the values. */
void figure_widen(const float *values, size_t count, double *low, double *high);

/* How long an axis must be at least for one value, or for values that differ by rounding alone; 0
 * for others. */
double figure_least_extent(double low, double high);

/* Room above and below; something to show even when all values are the same. */
void figure_relax(double *low, double *high);

void figure_panel(FILE *stream, const struct svg_frame *frame);

/* Marks and numbers below a panel, at least `least` apart: steps are whole. */
void figure_step_axis(FILE *stream, const struct svg_frame *frame, double least);

/* The frame has logarithms to the base 10: marks at 1, 2 and 5 times powers of ten, or, over many
 * of them, at the powers alone. */
void figure_logarithmic_axis(FILE *stream, const struct svg_frame *frame);

/* Marks and numbers at the left. */
void figure_value_axis(FILE *stream, const struct svg_frame *frame);

/* A sample of a line and what it stands for; returns where the next one goes. */
double figure_legend(FILE *stream, double x, double y, struct svg_pen pen, const char *text);

#endif
