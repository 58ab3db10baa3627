/* loop_errand.c - see loop_errand.h. */
#include "agent/loop_errand.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/runner.h"
#include "common/uuid.h"

_Static_assert((int)RUNNER_EXITED == (int)ERRAND_EXITED &&
                   (int)RUNNER_KILLED == (int)ERRAND_KILLED &&
                   (int)RUNNER_TIMED_OUT == (int)ERRAND_TIMED_OUT &&
                   (int)RUNNER_NO_START == (int)ERRAND_NO_START &&
                   RUNNER_LINES_MAX == ERRAND_LINES_MAX,
               "an errand ends as its command does");

struct errands {
    struct runner *runner;
    struct session *session;
    struct errand_result result; /* while it is told */
};

static void on_done(void *context, const struct runner_result *from)
{
    struct errands *errands = context;
    struct errand_result *to = &errands->result;

    memset(to, 0, sizeof(*to));
    to->end = (enum errand_end)from->end;
    to->status = (uint32_t)from->status;
    to->duration_ns = from->duration_ns;
    to->line_count = from->line_count;
    for (uint32_t i = 0; i < from->line_count; i++)
        (void)snprintf(to->lines[i], sizeof(to->lines[i]), "%s",
                       from->lines[i]);
    if (errands->session != NULL)
        session_ran(errands->session, to);
}

void errands_run(struct errands *errands, const struct command *command,
                 const struct uuid *campaign, uint32_t phase)
{
    char uuid[UUID_TEXT_SIZE];
    char of_campaign[UUID_TEXT_SIZE + 32];
    char of_phase[64];
    const char *const environment[] = {of_campaign, of_phase, NULL};
    int err;

    (void)snprintf(of_campaign, sizeof(of_campaign), "LOCKSTEP_CAMPAIGN=%s",
                   uuid_format(campaign, uuid));
    (void)snprintf(of_phase, sizeof(of_phase), "LOCKSTEP_PHASE=%u", phase + 1);
    err = runner_start(errands->runner, command, environment, on_done, errands);
    assert(err == 0); /* the session has one at a time, and memory is there */
    (void)err;
}

void errands_end(struct errands *errands)
{
    runner_cancel(errands->runner);
}

void errands_serve(struct errands *errands, struct session *session)
{
    errands->session = session;
    if (session == NULL)
        runner_cancel(errands->runner);
}

bool errands_are_idle(const struct errands *errands)
{
    return runner_is_idle(errands->runner);
}

struct errands *errands_new(struct uv_loop_s *loop)
{
    struct errands *errands = calloc(1, sizeof(*errands));

    if (errands == NULL)
        return NULL;
    errands->runner = runner_new(loop);
    if (errands->runner == NULL) {
        free(errands);
        return NULL;
    }
    return errands;
}

struct errands *errands_free(struct errands *errands)
{
    if (errands == NULL)
        return NULL;
    errands->runner = runner_free(errands->runner);
    free(errands);
    return NULL;
}
