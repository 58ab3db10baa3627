/*
 * vdbench_lines.h - vdbench 5.04.07's lines, from our documents.
 *
 * For the console, the files of a vdbench folder and whoever reads either with
 * a script of years ago.  README.md has the layout's rules.  Service is resp;
 * times are in ms, MB are 2^20 bytes; what is unknown is 0.
 *
 * Times are local ones, as vdbench's are, where the zone has a name of
 * letters; else UTC, for all.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_REPORT_VDBENCH_LINES_H
#define CONTROLLER_REPORT_VDBENCH_LINES_H

#include "controller/report/read.h"

/* "HH:MM:SS.mmm" of a document's time. */
#define VDBENCH_TOD_SIZE 24
void vdbench_tod(const char *wall, char text[VDBENCH_TOD_SIZE]);

/* "MM/DD/YYYY-HH:MM:SS-ZZZ" */
#define VDBENCH_STAMP_SIZE 48
void vdbench_stamp(const char *wall, char text[VDBENCH_STAMP_SIZE]);

/* "Vdbench distribution: vdbench50407 ...", with its newline. */
void vdbench_print_distribution(FILE *out);

/* "HH:MM:SS.mmm Starting RD=...; ...; For loops: None", without a newline; the
 * event "phase", or a phase's object with `wall` given beside it. */
void vdbench_print_start(FILE *out, const json_t *phase, const char *wall);

/* A blank line and the two lines of column names; `more` columns of the
 * caller's behind each, "" for none. */
void vdbench_print_header(FILE *out, const char *wall, const char *more_first,
                          const char *more_second);

/* The 15 words of a row, without a newline. */
void vdbench_print_row(FILE *out, const char *wall, const char *label,
                       const json_t *figures);

/* "3", or "avg_2-4" of the event "phase_end". */
#define VDBENCH_LABEL_SIZE 48
void vdbench_label(const json_t *event, char text[VDBENCH_LABEL_SIZE]);

/*
 * The figures of a run's average row, and its label.  Where there is no
 * warm-up, vdbench leaves the first interval out: avg_2-N.  NULL: there is
 * nothing to average.
 */
const json_t *vdbench_average(const json_t *event,
                              char label[VDBENCH_LABEL_SIZE]);

/* The flatfile's line of column names and one of its rows, each with its
 * newline.  `phase` as for vdbench_print_start(). */
void vdbench_print_flat_header(FILE *out);
void vdbench_print_flat_row(FILE *out, const json_t *phase, const char *wall,
                            const char *label, const json_t *figures);

#endif
