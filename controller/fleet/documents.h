/*
 * documents.h - what the fleet tells shells, as JSON.
 *
 * One document each; unknown facts are null, sizes are bytes.  What was
 * measured is told by results.  Keys are part of the shell's protocol: they
 * are added to, never changed.
 *
 * Memory: texts are to be freed with free(); NULL without memory.
 * Threads: none of its own.
 */
#ifndef CONTROLLER_FLEET_DOCUMENTS_H
#define CONTROLLER_FLEET_DOCUMENTS_H

#include "common/base.h"
#include "controller/fleet/wire.h"

struct campaign;
struct consent;
struct host;
struct language_report;
struct plan;
struct registry;

/* {"hosts": [...]}: every host that was seen. */
char *document_hosts(const struct registry *registry, uint64_t now_ns);

/* {"drives": [...]}: of every host that was seen. */
char *document_drives(const struct registry *registry);

/* The facts alone, for the store. */
char *document_host_facts(const struct host *host);
char *document_drive_facts(const struct wire_drive *drive);

/*
 * {"campaign": 7, "id": ..., "drives": [...], "messages": [...], "text": ...};
 * the drives are those that drive= selected: sd, host, path, identity, size.
 */
char *document_submitted(const struct campaign *campaign);

/* {"error": ..., "messages": [...], "text": ...} of a report with errors. */
char *document_report(const struct language_report *report);

/* {"plan": text or object, "messages": [...], "text": ...}; NULL also where it
 * would be longer than a shell takes. */
char *document_plan(const struct plan *plan, enum wire_plan_form form,
                    const struct language_report *report);

/* {"error": ..., "consent": {"hash", "drives": [{"host", "sd", "path", "id",
 * "size_bytes", "model", "content"}]}}: what would be destroyed. */
char *document_consent(const struct campaign *campaign,
                       const struct consent *consent);

/* {"error": ...} */
char *document_error(const char *error);

/* {"campaign": 7, "state": "running"} */
char *document_stopped(uint64_t number, const char *state);

/* {"event": "notice", "campaign": 7 or null, "text": ...} */
char *document_notice(uint64_t number, const char *text);

/* {"event": "end", "campaign": 7, "verdict": ..., "error": ... or null} */
char *document_end(uint64_t number, const char *verdict, const char *error);

/* The same for a campaign that is over, from results' status document. */
char *document_end_of(uint64_t number, const char *status, size_t length);

/* Adds to results' status document how the phase at hand stands: "live":
 * {"state": "running", "hosts": [{"name", "state"}]}.  NULL: as it was. */
char *document_live(const char *status, size_t length,
                    const struct campaign *campaign);

#endif
