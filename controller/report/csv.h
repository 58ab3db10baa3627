/*
 * csv.h - a campaign as one table: a line for each total and each interval, of
 * the cluster and of each host, drive and workload.
 *
 * Every line carries all effective values of its run, defaults included, so
 * that a line stands by itself.  README.md has the columns with their units.
 * An unknown value is empty: never nan, inf or a number that stands for one.
 * A point is the decimal sign in any locale; lines end with CR LF, texts are
 * quoted where they must be (RFC 4180).
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_REPORT_CSV_H
#define CONTROLLER_REPORT_CSV_H

#include <stdio.h>

#include "controller/report/sink.h"

enum csv_rows {
    CSV_TOTALS = 1,
    CSV_INTERVALS = 2,
    CSV_ALL = 3,
};

struct csv {
    FILE *out;
    enum csv_rows rows;
    json_t *head_; /* a reference */
};

/* Its columns are printed with the head. */
struct sink csv_sink(struct csv *csv, FILE *out, enum csv_rows rows);
void csv_done(struct csv *csv);

#endif
