/*
 * store.h - SQLite on two threads, fed with jobs.
 *
 * The *writer* owns the only connection that writes.  It takes all jobs that
 * wait, runs them in one transaction and commits (WAL, synchronous=FULL): when
 * a job is done with result 0, it is on the disk.  When one fails, the whole
 * group is rolled back and all its jobs fail with the same reason: nothing is
 * half written.  The *reader* has a read-only connection and runs queries one
 * by one; each sees one state of the store, in which everything is written that
 * was submitted before the query was.
 *
 * Ownership: store_write() and store_read() take the job; `done` gives it
 * back, on the thread that calls store_poll().  Between the two nobody else
 * looks at it.  `done` runs exactly once for each, also at store_close()
 * (reads that did not run: -ECANCELED).
 *
 * Threads: all functions here are for one thread, the loop's, but for the
 * callback `wake`, which is called on the store's.  `run` is called there too.
 * With `threadless` nothing runs but in store_poll().
 *
 * Limits: STORE_JOBS_MAX jobs and STORE_BYTES_MAX bytes wait for the writer,
 * STORE_QUERIES_MAX for the reader.
 */
#ifndef CONTROLLER_RESULTS_STORE_H
#define CONTROLLER_RESULTS_STORE_H

#include "common/base.h"
#include "common/diag.h"

#define STORE_JOBS_MAX    16384u
#define STORE_BYTES_MAX   (512u << 20)
#define STORE_GROUP_MAX   512u /* jobs in one transaction */
#define STORE_QUERIES_MAX 64u

struct sqlite3;
struct statements;
struct store;

/* What a job sees of the store. */
struct store_access {
    struct sqlite3 *db;
    struct statements *statements; /* prepared once, see statements.h */
    const char *path;
};

struct store_job {
    /* 0 or a negative errno with `diag` filled.  Must not commit. */
    int (*run)(struct store_job *job, struct store_access *access);
    void (*done)(struct store_job *job);
    size_t bytes;            /* what it holds, about */
    int result;              /* of run() or of the commit */
    struct diag diag;        /* why, when result < 0 */
    uint64_t after_;         /* store's: of a read, how many writes it sees */
    struct store_job *next_; /* store's */
};

/* Called once the file is open, before anything else; see store_options. */
typedef int store_opened_fn(struct store_access *access, void *data,
                            struct diag *diag);

struct store_options {
    const char *path;
    const char *version;
    int64_t wall_ns;         /* now, to note when it was opened */
    store_opened_fn *opened; /* NULL: nothing to read at the start */
    void (*wake)(void *data);
    void *data; /* for both */
    bool threadless;
};

int store_open(const struct store_options *options, struct store **ret_store,
               struct diag *diag) MUST_CHECK;

/* Writes what waits, then ends the threads and runs every `done`.  NULL is
 * fine.  Returns NULL. */
struct store *store_close(struct store *store);

const struct uuid *store_controller(const struct store *store);
uint64_t store_epoch(const struct store *store);
const char *store_path(const struct store *store);

/* -EAGAIN when the queue is full, with the job still the caller's. */
int store_write(struct store *store, struct store_job *job) MUST_CHECK;
int store_read(struct store *store, struct store_job *job) MUST_CHECK;

/* Runs `done` of all finished jobs. */
void store_poll(struct store *store);

/* Waits until every write that was submitted was tried. */
void store_wait(struct store *store);

/* More than half full. */
bool store_busy(struct store *store);

#endif
