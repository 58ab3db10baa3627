/*
 * vdbench.h - a folder as vdbench leaves it: flatfile, summary, totals,
 * logfile, parmfile and histogram, all .html, for scripts that read such
 * folders.
 *
 * Live, from a campaign's events as they come, each line flushed:
 *     vdbench_open(directory, false, &folder, &diag);
 *     vdbench_event(folder, event);            for each
 *     vdbench_parmfile(folder, head);          when it is known
 *     vdbench_histogram(folder, phase);        for each, when they are over
 *     vdbench_close(folder, &diag);
 * or afterwards, as a sink of the campaign's pieces.  Both give the same bytes.
 *
 * What vdbench has no word for is left out: filling of files, rows of the
 * drain, runs that measured nothing, later revisions of a row.  The last are
 * counted: vdbench_is_stale() says that a folder made afterwards would differ.
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_REPORT_VDBENCH_H
#define CONTROLLER_REPORT_VDBENCH_H

#include "controller/report/sink.h"

struct vdbench;

/* Makes the files; those that are there are a failure, unless `again`. */
int vdbench_open(const char *directory, bool again, struct vdbench **ret_folder,
                 struct diag *diag) MUST_CHECK;

void vdbench_event(struct vdbench *folder, const json_t *event);
bool vdbench_is_stale(const struct vdbench *folder);

/* The parameter text, from EXPORT's head. */
void vdbench_parmfile(struct vdbench *folder, const json_t *head);

/* A phase's histogram, from EXPORT's document of it.  The sink does it too. */
void vdbench_histogram(struct vdbench *folder, const json_t *phase);

struct sink vdbench_sink(struct vdbench *folder);

/* The log's last line is the campaign's verdict, where it was told.  Says what
 * could not be written.  NULL is fine. */
int vdbench_close(struct vdbench *folder, struct diag *diag);

#endif
