/*
 * svg.h - charts as SVG: they need no script, and print.
 *
 * Colours come from classes of page.css, so that dark and light are the
 * page's matter.  NAN breaks a line.  Nothing is drawn outside the axes.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_REPORT_SVG_H
#define CONTROLLER_REPORT_SVG_H

#include <stdio.h>

#include "common/base.h"

enum svg_unit {
    SVG_COUNT,   /* 1.5k */
    SVG_US,      /* microseconds, as 1.5 ms */
    SVG_SECONDS, /* 90 s */
    SVG_PERCENT,
};

struct svg_axis {
    const char *label;
    enum svg_unit unit;
    bool log;  /* as asked; only where all values are above 0 */
    bool zero; /* begins at 0 */
};

enum svg_form {
    SVG_LINE,
    SVG_LINE_POINTS,
    SVG_POINTS,
    SVG_STEPS, /* filled, each value from the x before to its own */
};

struct svg_series {
    const char *style; /* a class: "a" to "d", "thin", "odd" */
    enum svg_form form;
    const double *x;
    const double *y;
    size_t count;
};

/* A point with a word. */
struct svg_mark {
    double x;
    double y;
    const char *text;
};

struct svg_chart {
    const char *title; /* for those who cannot see it */
    struct svg_axis x;
    struct svg_axis y;
    const struct svg_series *series;
    size_t series_count;
    const struct svg_mark *marks;
    size_t mark_count;
    double shade_to; /* x below it is shaded: warm-up; 0: none */
};

void svg_print(FILE *out, const struct svg_chart *chart);

/* A value as an axis shows it. */
#define SVG_TICK_SIZE 24
char *svg_tick(double value, enum svg_unit unit, char text[SVG_TICK_SIZE]);

/* Text with the five characters of HTML and XML replaced. */
void svg_print_text(FILE *out, const char *text);

#endif
