/*
 * runner.h - runs one command of common/command.h at a time, on a libuv loop.
 *
 * Without a shell, in a session and process group of its own, with nothing to
 * read.  What it writes, to stdout or stderr, is kept: the last
 * RUNNER_LINES_MAX lines.  At its limit the group is told to end (SIGTERM) and
 * RUNNER_GRACE_NS later killed.  A command ends as a whole: what it left behind
 * in its group is killed when its own process has ended.
 *
 *     runner = runner_new(loop);
 *     runner_start(runner, command, environment, done, context)
 *     ... done(context, &result), once, from the loop
 *     runner_free(runner);      when runner_is_idle()
 *
 * Threads: the loop's.
 */
#ifndef COMMON_RUNNER_H
#define COMMON_RUNNER_H

#include "common/base.h"
#include "common/command.h"

struct uv_loop_s;

#define RUNNER_LINES_MAX 64u
#define RUNNER_BYTES_MAX (16u << 10)
#define RUNNER_GRACE_NS  (2 * NS_PER_S)

enum runner_end {
    RUNNER_EXITED,    /* status: 0 .. 255 */
    RUNNER_KILLED,    /* status: by which signal */
    RUNNER_TIMED_OUT, /* its limit passed */
    RUNNER_NO_START,  /* status: errno; the program is not there, ... */
};

struct runner_result {
    enum runner_end end;
    int status;
    uint64_t duration_ns;
    /* Plain text (common/text.h), at most TEXT_SIZE - 1 bytes each, none
     * empty; valid during the call. */
    const char *const *lines;
    uint32_t line_count;
    uint64_t bytes; /* written in all */
};

typedef void runner_done(void *context, const struct runner_result *result);

struct runner;

/* NULL without memory. */
struct runner *runner_new(struct uv_loop_s *loop);

/*
 * Starts it; `done` follows, also where it cannot be started, but never from
 * within this call.  `environment`: NAME=VALUE, ended by NULL, beside this
 * process's own.  -EBUSY: one runs; -ENOMEM.
 */
int runner_start(struct runner *runner, const struct command *command,
                 const char *const *environment, runner_done *done,
                 void *context) MUST_CHECK;

/* Kills what runs, and `done` will not be called.  Nothing runs: fine. */
void runner_cancel(struct runner *runner);

/* No command is at hand: another may be started. */
bool runner_is_free(const struct runner *runner);

/* Nothing of it is on the loop any more, not even what was cancelled. */
bool runner_is_idle(const struct runner *runner);

/* NULL is fine.  Returns NULL.  Only when idle. */
struct runner *runner_free(struct runner *runner);

#endif
