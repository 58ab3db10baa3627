/*
 * page_inside.h - what the files of the report page share.
 *
 *     page.c        collecting the pieces; the order of the whole
 *     page_html.c   cells, figures, badges
 *     page_front.c  verdict, findings, the table of runs
 *     page_curves.c latency curves
 *     page_lines.c  the same, a line each host, drive or curve
 *     page_run.c    one run: figures, charts
 *     page_drives.c hosts and drives beside each other
 *     page_origin.c what it was run on, the files, the definitions
 */
#ifndef CONTROLLER_REPORT_PAGE_INSIDE_H
#define CONTROLLER_REPORT_PAGE_INSIDE_H

#include "controller/report/page.h"
#include "controller/report/read.h"

/* Points of a chart over time; more are put together. */
#define PAGE_POINTS_MAX 400u

/* Drives' lines in the curves of all runs together; curves behind them are
 * drawn without.  So many lines are 700 kB. */
#define PAGE_DRIVE_LINES_MAX 2400u

/* Hosts or drives that a table lists. */
#define PAGE_ITEMS_MAX 16u

/* The rows of the run at hand. */
struct page_rows {
    double *at[6]; /* by page_row_value */
    size_t count;
    size_t capacity;
    double warmup_s; /* end of the last warm-up interval */
    size_t missing;  /* rows without all hosts */
    size_t partial;
};

enum page_row_value {
    ROW_SECONDS, /* since the start, at its end */
    ROW_IOPS,
    ROW_MIB,
    ROW_MEAN, /* service, us */
    ROW_P99,
    ROW_RESPONSE_P99,
    ROW_VALUES,
};
_Static_assert(ROW_VALUES == 6, "page_rows.at has as many");

/* What stands on a curve's y axis, in us. */
enum page_latency {
    PAGE_MEAN, /* service, as the next two */
    PAGE_P99,
    PAGE_P999,
    PAGE_RESPONSE_P99,
    PAGE_RESPONSE_P999,
    PAGE_LATENCIES,
};

/* The point of a run, a host or a drive on a curve. */
struct page_point {
    char *name;    /* of the host or drive; NULL without memory */
    double iorate; /* asked of it alone: curve_scope=drive; else NAN */
    double iops;
    double mib_s;
    double us[PAGE_LATENCIES];
};

struct page_points {
    struct page_point *at;
    size_t count;
};

/* What is kept of a run until the page is written. */
struct page_run {
    json_t *phase; /* without rows, drives and hosts */
    struct page_point total;
    struct page_points hosts;
    struct page_points drives;
};

/* Points of one curve. */
#define PAGE_CURVE_MAX 64u

/* The runs of one curve, in order of the load asked for. */
struct page_curve {
    const struct page_run *run[PAGE_CURVE_MAX];
    size_t count;
};

struct page {
    json_t *head;
    struct page_run *runs;
    size_t run_count;
    struct page_rows rows;
    /* Written as the runs come. */
    char *section_text;
    size_t section_size;
    FILE *sections;
    char *finding_text;
    size_t finding_size;
    FILE *findings; /* list items */
    size_t finding_count;
    bool charts_left_out;
};

/* ---- page_html.c -----------------------------------------------------------
 */

/* How a figure is shown. */
enum page_form {
    PAGE_COUNT, /* 29,015; with a decimal below 100 */
    PAGE_US,
    PAGE_PERCENT,
    PAGE_WHOLE,
};

/* <data value="29015.215">29,015</data>; a dash where there is none. */
void page_figure(FILE *out, const json_t *object, const char *path,
                 enum page_form form);
void page_figure_cell(FILE *out, const json_t *object, const char *path,
                      enum page_form form);
/* The digits alone, with the thousands apart. */
void page_number(FILE *out, double value, enum page_form form);
void page_text(FILE *out, const char *text);
void page_text_cell(FILE *out, const char *text); /* a dash for "" */
void page_badge(FILE *out, const char *verdict);
/* The run's name with its loops, as a link to its section. */
void page_run_link(FILE *out, const json_t *phase);
/* "rd1" of "rd1_(50%)": how many bytes of it. */
size_t page_base_length(const char *run);
/* A figure of which one of several charts is seen; the reader chooses.  Each
 * chart begins with page_choice(), the first with `number` 0. */
void page_choices(FILE *out, unsigned figure, const char *const *names,
                  size_t count);
void page_choice(FILE *out);
/* "p99" as a key of a chart. */
void page_key(FILE *out, const char *style, const char *text);

/* A finding of the run; close it with "</li>". */
FILE *page_finding(struct page *page, const json_t *phase);

/* ---- The others ------------------------------------------------------------
 */

void page_print_front(const struct page *page, FILE *out);
void page_print_curves(const struct page *page, FILE *out);
/* Opens a figure and its caption: the curve's name, its loops, `what`. */
void page_print_caption(FILE *out, const struct page_curve *curve,
                        const char *what);
/* Charts with a line for each host and each drive of a curve, and for each of
 * several curves; `figure` numbers the page's choices.  `drive_lines` counts
 * the lines of drives: false when a chart by drive would be beyond
 * PAGE_DRIVE_LINES_MAX, and is left out. */
bool page_print_lines(FILE *out, const struct page_curve *curve,
                      unsigned *figure, size_t *drive_lines);
void page_print_side_by_side(FILE *out, const struct page_curve *curves,
                             size_t count, unsigned *figure);
void page_print_run(struct page *page, const json_t *phase);
void page_print_items(struct page *page, const json_t *phase, const char *key,
                      const char *title);
void page_print_origin(const struct page *page, FILE *out);

#endif
