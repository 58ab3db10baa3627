/*
 * monitor.h - monitor=FILE: a file on the host of who runs or watches, by which
 * a run, or all of them, are ended from outside.
 *
 * Its first line is looked at after every interval, as vdbench does: "shutdown"
 * or "end_rd" end the run that goes on, "terminate" or "end_vdbench" all.
 *
 * Threads: none of its own.  Memory: by value.
 */
#ifndef CONTROLLER_SHELL_MONITOR_H
#define CONTROLLER_SHELL_MONITOR_H

#include "common/base.h"
#include "common/diag.h"

enum monitor_wish {
    MONITOR_NOTHING,
    MONITOR_END_RUN,
    MONITOR_END_ALL,
};

/*
 * Makes the file, or empties it where it holds one of the words.  -EEXIST where
 * it holds anything else, which is left alone; others with the reason.
 */
int monitor_begin(const char *path, struct diag *diag) MUST_CHECK;

/* What is in it now; a wish is taken out of it. */
enum monitor_wish monitor_look(const char *path);

#endif
