/*
 * log.h - lines for operators, on stderr.
 *
 * What it is for: mains, sessions and the loops' edges; never pure rooms (they
 * return a diag), never an I/O path (count there, report once).  A line is
 *
 *     2026-01-31 12:00:00.123 lockstepd: agent host7: connected
 *     2026-01-31 12:00:01.250 lockstepd: warning: agent host7: ..., ignoring
 *
 * without the time and with journald's level mark when journald listens, and
 * without the time where log_setup asks so (children of `lockstep run`).
 *
 * A line that comes again and again (same format, same subject) is printed ten
 * times in ten seconds at most; how many were left out is said with the next.
 *
 * Threads: any.  The setup is made once, before them.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include "common/base.h"

struct clock;

enum log_level {
    LOG_LEVEL_ERROR,  /* the operation failed and someone must act */
    LOG_LEVEL_WARN,   /* it failed, we go on: end with "..., ignoring" */
    LOG_LEVEL_NOTICE, /* one per campaign, phase, agent connected or lost */
    LOG_LEVEL_DEBUG,  /* off by default; may be as chatty as it likes */
};

struct log_setup {
    const char *program; /* kept, not copied */
    enum log_level level;
    bool bare; /* no time stamps */
    int fd;
    const struct clock *clock; /* NULL: clock_os() */
};

/* Before it: notices on stderr from "lockstep", bare. */
void log_open(const struct log_setup *setup);

void log_set_level(enum log_level level);
bool log_is_on(enum log_level level);

/* "error", "warning", "notice", "debug".  0 or -EINVAL. */
int log_level_parse(const char *text, enum log_level *ret_level) MUST_CHECK;

/* `who` is "agent host7", "phase 12", or NULL for the process itself. */
void log_error(const char *who, const char *format, ...) PRINTF(2, 3);
void log_warn(const char *who, const char *format, ...) PRINTF(2, 3);
void log_notice(const char *who, const char *format, ...) PRINTF(2, 3);
void log_debug(const char *who, const char *format, ...) PRINTF(2, 3);

#endif
