/*
 * route.h - what a path means.  Pure.
 *
 * controller/http/openapi.json describes the same paths for people and
 * programs; a test compares the two.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_HTTP_ROUTE_H
#define CONTROLLER_HTTP_ROUTE_H

#include "common/base.h"

enum route_kind {
    ROUTE_UNKNOWN,
    ROUTE_FILE, /* of the page, and the API's description */
    ROUTE_CONTROLLER,
    ROUTE_HOSTS,
    ROUTE_DRIVES,
    ROUTE_CAMPAIGNS,
    ROUTE_SUBMIT,
    ROUTE_STATUS,
    ROUTE_SHOW,
    ROUTE_RUNS,
    ROUTE_RUN,
    ROUTE_LIVE,
    ROUTE_STOP,
    ROUTE_REPORT,
    ROUTE_CSV,
    ROUTE_JSON,
    ROUTE_COMPARE,
    ROUTE_EVENTS,
    ROUTE_METRICS,
};

enum route_method {
    ROUTE_GET, /* HEAD, too */
    ROUTE_POST,
    ROUTE_OTHER,
};

struct route {
    enum route_kind kind;
    char campaign[NAME_SIZE]; /* "" is the newest */
    uint32_t run;             /* of ROUTE_RUN, from 1 */
    const char *allow; /* of a known path with the wrong method: the right
                          ones; kind is ROUTE_UNKNOWN then.  Else NULL */
};

struct route route_find(enum route_method method, const char *path);

#endif
