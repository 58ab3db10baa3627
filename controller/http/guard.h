/*
 * guard.h - whether a request may be served at all.  Pure.
 *
 * A browser sends requests for any page that it shows.  Two things keep others'
 * pages away from a controller:
 *   Host    On loopback it must name loopback: a name that somebody made to
 *           resolve to 127.0.0.1 is not ours.
 *   Origin  Of a request that changes something it must be this very server;
 *           programs send none.  And its body must be JSON, which no page of
 *           another origin may send unasked.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_HTTP_GUARD_H
#define CONTROLLER_HTTP_GUARD_H

#include "common/base.h"
#include "common/diag.h"

struct guard_request {
    const char *host; /* the headers; NULL: not there */
    const char *origin;
    const char *fetch_site; /* Sec-Fetch-Site */
    const char *content_type;
    bool changes;  /* the method: POST */
    bool loopback; /* served in clear, on loopback only */
};

/* 0, or the HTTP status to refuse it with, and the sentence. */
unsigned guard_check(const struct guard_request *request, struct diag *diag);

#endif
