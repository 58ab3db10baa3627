/* session_errand.c - commands of this host's configuration, by name. */
#include <stdio.h>
#include <string.h>

#include "agent/session_private.h"
#include "common/uuid.h"

static void answer(struct session *session)
{
    const struct errand *errand = &session->errand;

    if (session->state == SESSION_UP && errand->state == ERRAND_DONE)
        session_send(session, codec_command_done(&errand->work, errand->number,
                                                 &errand->result));
}

void session_ran(struct session *session, const struct errand_result *result)
{
    if (session->errand.state != ERRAND_RUNS)
        return;
    session->errand.state = ERRAND_DONE;
    session->errand.result = *result;
    answer(session);
}

void session_end_errand(struct session *session)
{
    if (session->errand.state == ERRAND_RUNS)
        session->world->end_run(session->context);
    session->errand.state = ERRAND_NONE;
}

bool session_runs_errand(const struct session *session)
{
    return session->errand.state == ERRAND_RUNS;
}

static bool is_the_same(const struct session *session,
                        const struct order *order)
{
    const struct errand *errand = &session->errand;

    return errand->state != ERRAND_NONE &&
           uuid_equal(&errand->work.campaign, &order->work.campaign) &&
           errand->number == (uint32_t)order->number;
}

/* Why it may not be run now; "": it may. */
static void look_for_reasons(const struct session *session,
                             const struct order *order,
                             const struct command *command,
                             char reason[REASON_SIZE])
{
    reason[0] = '\0';
    if (session->stopping[0] != '\0')
        (void)snprintf(reason, REASON_SIZE, "%s", session->stopping);
    else if (command == NULL)
        (void)snprintf(reason, REASON_SIZE,
                       "the agent's configuration names no command '%s'",
                       order->command);
    else if (phase_has_work(&session->phase))
        (void)snprintf(reason, REASON_SIZE,
                       "the agent has work of phase %u, and no command runs "
                       "beside I/O",
                       session->phase.work.phase + 1);
    else if (session->errand.state == ERRAND_RUNS)
        (void)snprintf(reason, REASON_SIZE, "another command still runs");
}

/* Told without becoming the errand at hand: one may run. */
static void refuse(struct session *session, const struct order *order,
                   const char *reason)
{
    struct errand_result *result = &session->refused_errand;

    memset(result, 0, sizeof(*result));
    result->end = ERRAND_REFUSED;
    (void)snprintf(result->reason, sizeof(result->reason), "%s", reason);
    session_send(session, codec_command_done(&order->work,
                                             (uint32_t)order->number, result));
}

void session_command(struct session *session, const struct order *order)
{
    const struct command *command;
    char reason[REASON_SIZE];

    if (order->command[0] == '\0') {
        session_end_errand(session);
        return;
    }
    if (is_the_same(session, order)) {
        session->errand.work = order->work; /* its epoch may be another */
        answer(session);
        return;
    }
    command = commands_find(session->config.commands, order->command);
    look_for_reasons(session, order, command, reason);
    if (reason[0] != '\0') {
        refuse(session, order, reason);
        return;
    }
    session->errand.state = ERRAND_RUNS;
    session->errand.work = order->work;
    session->errand.number = (uint32_t)order->number;
    session_say(session, SESSION_LOG_INFO, "runs command %s", command->name);
    session->world->run(session->context, command, &order->work.campaign,
                        order->work.phase);
}
