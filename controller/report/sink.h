/*
 * sink.h - who takes a campaign piece by piece.
 *
 * The pieces are EXPORT's documents: the head once, then for each phase its
 * document, its rows in pages (the first page is in that document), and its
 * end.  A sink keeps nothing of a document beyond the call unless it takes a
 * reference.  Every function returns 0 or a negative errno with `diag` filled,
 * which ends the whole.
 */
#ifndef CONTROLLER_REPORT_SINK_H
#define CONTROLLER_REPORT_SINK_H

#include <jansson.h>

#include "common/base.h"
#include "common/diag.h"

struct sink {
    void *self;
    int (*head)(void *self, const json_t *head, struct diag *diag);
    int (*phase)(void *self, const json_t *phase, struct diag *diag);
    /* `page` is `phase` itself at first. */
    int (*rows)(void *self, const json_t *phase, const json_t *page,
                struct diag *diag);
    int (*phase_end)(void *self, const json_t *phase, struct diag *diag);
    bool want_rows; /* false: rows() is not called, pages are not asked for */
};

#endif
