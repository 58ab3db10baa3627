/*
 * diag.h - the reason for a human, beside the error code.
 *
 * Library code returns 0 or a negative errno and fills the `diag` its caller
 * owns; only the outermost layer logs, prints or replies.  One failure, one
 * message: what failed, why (errno in words), what to do.
 *
 * Threads: none of its own.  Memory: by value, no allocation.
 */
#ifndef COMMON_DIAG_H
#define COMMON_DIAG_H

#include "common/base.h"

struct diag {
    int err; /* negative errno, 0 while nothing failed */
    char text[REASON_SIZE];
};

/*
 * Fills `diag` (NULL is fine) and returns `err`, so that callers can write
 * `return diag_set(diag, -errno, "cannot open '%s': %s", path,
 * strerror(errno))`.  `err` is negative.  A text too long is cut.
 */
int diag_set(struct diag *diag, int err, const char *format, ...) PRINTF(3, 4);

/* Puts "<prefix>: " before what is there, e.g. the host it happened on. */
void diag_prefix(struct diag *diag, const char *format, ...) PRINTF(2, 3);

#endif
