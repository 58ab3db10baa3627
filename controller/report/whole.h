/*
 * whole.h - a campaign as one JSON document: EXPORT's head, with each phase
 * whole in its `phases`, rows and all.  Written as the pieces come.
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_REPORT_WHOLE_H
#define CONTROLLER_REPORT_WHOLE_H

#include <stdio.h>

#include "common/json.h"
#include "controller/report/sink.h"

/* How all of this program's JSON is written. */
#define WHOLE_JSON (JSON_INDENT(1) | JSON_FORM)

struct whole {
    FILE *out;
    bool rows;
    bool phases;    /* some were written */
    json_t *phase_; /* with the pages so far */
};

struct sink whole_sink(struct whole *whole, FILE *out, bool rows);

/* Closes the document; also after a failure, with `error` in it. */
void whole_end(struct whole *whole, const char *error);

#endif
