/*
 * statement.h - SQL statements, prepared once, bound and read in order.
 *
 *     statement_begin(&s, access, "SELECT host, spans FROM ... WHERE a = ?1");
 *     statement_uint(&s, phase);
 *     while ((got = statement_step(&s, diag)) == 1) {
 *         host = statement_get_uint(&s);
 *         spans = statement_get_uint(&s);
 *     }
 *     statement_end(&s);
 *
 * The SQL text must be a literal, or live as long as the store: it is the key
 * under which the prepared statement is kept.  A statement is not begun again
 * before it has ended.  Errors of binding show up at the step.
 *
 * SQLite's integers have 63 bits: larger ones are kept as the largest.  Times
 * and counts that we believe are below (see merge.h).
 *
 * Threads: the one that the connection belongs to.
 */
#ifndef CONTROLLER_RESULTS_STATEMENT_H
#define CONTROLLER_RESULTS_STATEMENT_H

#include "common/diag.h"
#include "controller/results/store.h"

struct sqlite3_stmt;

struct statement {
    struct store_access *access;
    struct sqlite3_stmt *prepared; /* NULL: it could not be */
    int bind_at;
    int column_at;
};

void statement_begin(struct statement *s, struct store_access *access,
                     const char *sql);

/* Each binds the next parameter.  Texts and blobs must stay until the end. */
void statement_int(struct statement *s, int64_t value);
void statement_uint(struct statement *s, uint64_t value);
void statement_real(struct statement *s, double value);     /* NAN: NULL */
void statement_text(struct statement *s, const char *text); /* NULL: NULL */
void statement_blob(struct statement *s, const void *data, size_t length);
void statement_null(struct statement *s);

/* 1 with a row, 0 at the end, or a negative errno with `diag` filled. */
int statement_step(struct statement *s, struct diag *diag) MUST_CHECK;

/* For those without rows: step to the end, and end.  0 or a negative errno. */
int statement_run(struct statement *s, struct diag *diag) MUST_CHECK;

/* Each reads the next column of the row.  What they point to lives until the
 * next step. */
int64_t statement_get_int(struct statement *s);
uint64_t statement_get_uint(struct statement *s);    /* 0 for a negative one */
double statement_get_real(struct statement *s);      /* NAN for NULL */
const char *statement_get_text(struct statement *s); /* "" for NULL */
const uint8_t *statement_get_blob(struct statement *s, size_t *ret_length);
bool statement_is_null(const struct statement *s); /* the next one */

void statement_end(struct statement *s);

/* Statements without parameters and rows: "BEGIN", a schema. */
int statement_script(struct store_access *access, const char *sql,
                     struct diag *diag) MUST_CHECK;

/* Where SQLite has rolled back by itself, nothing is left to be done. */
void statement_roll_back(struct store_access *access);

/* What people can do about a negative errno from the store. */
const char *statement_remedy(int err);

/* What the connection's last error means for people: file, reason, remedy.
 * Returns the negative errno that it comes to. */
int statement_explain(struct store_access *access, struct diag *diag);

/* NULL without memory; the other NULL-safe, returns NULL. */
struct statements *statements_new(void);
struct statements *statements_free(struct statements *statements);

#endif
