/*
 * output.h - how a command ends: one document or one message, and a status.
 *
 * With --json, stdout gets exactly one document, whatever goes wrong; without,
 * errors are one message on stderr.  These functions are the only ones that
 * decide it.
 */
#ifndef CONTROLLER_SHELL_OUTPUT_H
#define CONTROLLER_SHELL_OUTPUT_H

#include <jansson.h>

#include "common/base.h"
#include "common/json.h"

/* How documents are written. */
#define OUTPUT_JSON (JSON_INDENT(2) | JSON_FORM)

/* The program's exit statuses, from design and man page. */
enum exit_status {
    EXIT_COMPLETE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DEGRADED = 3,
    EXIT_INTERRUPTED = 4,
    EXIT_NO_CONTROLLER = 5,
    EXIT_BOUND = 6, /* a comparison broke its bound */
};

/* What a campaign's document says of it: by its verdict; EXIT_COMPLETE while
 * it is not over. */
enum exit_status output_status(const json_t *document);

/* Prints an error by itself and returns the status. */
int output_error(bool json, enum exit_status status, const char *format, ...)
    PRINTF(3, 4);

/*
 * Prints a document on stdout, adding "verdict" and "error" where an error is
 * given, and frees it.  Returns the status.
 */
int output_document(json_t *document, enum exit_status status,
                    const char *error);

#endif
