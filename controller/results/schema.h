/*
 * schema.h - the tables of the store, and how older ones become these.
 *
 * README.md describes the tables.  The schema's version is the database's
 * user_version.  A change is one more step: a step once shipped is never
 * edited.
 *
 * Threads: called while the store opens.
 */
#ifndef CONTROLLER_RESULTS_SCHEMA_H
#define CONTROLLER_RESULTS_SCHEMA_H

#include "common/diag.h"
#include "controller/results/store.h"

/* Marks a SQLite file as ours. */
#define SCHEMA_APPLICATION_ID 0x4c4b5354

/* What this program reads and writes. */
uint32_t schema_version(void);

/*
 * Makes the tables of an empty database, moves those of an older one to this
 * version, all in the caller's transaction.  -EMEDIUMTYPE for a database that
 * is not ours, -EPROTONOSUPPORT for a newer one (both versions named).
 * `ret_version` is what was found.
 */
int schema_migrate(struct store_access *access, uint32_t *ret_version,
                   struct diag *diag) MUST_CHECK;

/*
 * The same for other steps than the store's own; for tests of the moving.
 * steps[i] brings version i to i + 1.
 */
int schema_migrate_steps(struct store_access *access, const char *const *steps,
                         uint32_t step_count, uint32_t *ret_version,
                         struct diag *diag) MUST_CHECK;

#endif
