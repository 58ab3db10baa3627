/*
 * web.h - files that are served as they are, built into the daemon.
 *
 * Threads: any.  Memory: constant.
 */
#ifndef CONTROLLER_WEB_WEB_H
#define CONTROLLER_WEB_WEB_H

#include "common/base.h"

struct web_file {
    const char *type; /* of its content */
    const char *data;
    size_t length;
};

/* "/api/v1/openapi.json".  False: no such file. */
bool web_find(const char *path, struct web_file *ret_file);

#endif
