/*
 * store_open.h - the file under the store: found, locked, made ours, moved to
 * this version, its epoch raised.  What can be wrong with it is told here.
 *
 * Threads: called before the store's threads start, and after they ended.
 */
#ifndef CONTROLLER_RESULTS_STORE_OPEN_H
#define CONTROLLER_RESULTS_STORE_OPEN_H

#include "common/diag.h"
#include "controller/results/store.h"

struct store_file {
    struct store_access writer;
    struct store_access reader;
    int lock; /* descriptor of FILE.lock, beside the file that links lead
               * to: one controller a store */
    struct uuid controller;
    uint64_t epoch;
};

/* `path` must outlive the file. */
int store_file_open(struct store_file *file, const char *path,
                    const char *version, int64_t wall_ns,
                    struct diag *diag) MUST_CHECK;
void store_file_close(struct store_file *file);

#endif
