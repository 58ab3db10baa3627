/* loop_runner.c - see loop_runner.h. */
#include "controller/loop_runner.h"

#include "common/runner.h"
#include "common/uuid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct errand {
    struct errand *next;
    struct runners *of;
    struct runner *runner;
    uint64_t token;
};

struct runners {
    struct uv_loop_s *loop;
    struct fleet *fleet;
    struct errand *list;
};

/* Frees those of which nothing is on the loop any more. */
static void sweep(struct runners *runners)
{
    struct errand **at = &runners->list;

    while (*at != NULL) {
        struct errand *errand = *at;

        if (!runner_is_idle(errand->runner)) {
            at = &errand->next;
            continue;
        }
        *at = errand->next;
        runner_free(errand->runner);
        free(errand);
    }
}

static void on_done(void *context, const struct runner_result *result)
{
    const struct errand *errand = context;

    if (errand->of->fleet != NULL)
        fleet_ran(errand->of->fleet, errand->token, result);
}

static int start(struct errand *errand, const struct command *command,
                 const struct uuid *campaign, uint32_t phase)
{
    char uuid[UUID_TEXT_SIZE];
    char of_campaign[UUID_TEXT_SIZE + 32];
    char of_phase[64];
    const char *const environment[] = {of_campaign, of_phase, NULL};

    (void)snprintf(of_campaign, sizeof(of_campaign), "LOCKSTEP_CAMPAIGN=%s",
                   uuid_format(campaign, uuid));
    (void)snprintf(of_phase, sizeof(of_phase), "LOCKSTEP_PHASE=%u", phase + 1);
    return runner_start(errand->runner, command, environment, on_done, errand);
}

static int run(void *data, uint64_t token, const struct command *command,
               const struct uuid *campaign, uint32_t phase)
{
    struct runners *runners = data;
    struct errand *errand = calloc(1, sizeof(*errand));
    int err = -ENOMEM;

    sweep(runners);
    if (errand == NULL)
        return -ENOMEM;
    errand->of = runners;
    errand->token = token;
    errand->runner = runner_new(runners->loop);
    if (errand->runner != NULL)
        err = start(errand, command, campaign, phase);
    if (err != 0) {
        runner_free(errand->runner);
        free(errand);
        return -ENOMEM;
    }
    errand->next = runners->list;
    runners->list = errand;
    return 0;
}

static void end(void *data, uint64_t token)
{
    const struct runners *runners = data;

    for (struct errand *at = runners->list; at != NULL; at = at->next)
        if (at->token == token)
            runner_cancel(at->runner);
}

const struct fleet_runner runners_world = {.run = run, .end = end};

struct runners *runners_new(struct uv_loop_s *loop)
{
    struct runners *runners = calloc(1, sizeof(*runners));

    if (runners != NULL)
        runners->loop = loop;
    return runners;
}

void runners_serve(struct runners *runners, struct fleet *fleet)
{
    runners->fleet = fleet;
    if (fleet != NULL)
        return;
    for (struct errand *at = runners->list; at != NULL; at = at->next)
        runner_cancel(at->runner);
}

struct runners *runners_free(struct runners *runners)
{
    if (runners == NULL)
        return NULL;
    sweep(runners);
    free(runners);
    return NULL;
}
