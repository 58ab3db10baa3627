/*
 * Commands before and after runs: whether the hosts let campaigns run them,
 * who is told to, and what became of them.
 *
 * What goes over the wire is a name that the host's own configuration gave; on
 * the controller's host it is the controller's configuration.
 */
#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/runner.h"
#include "common/uuid.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/state.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)RUNNER_EXITED == (int)WIRE_COMMAND_EXITED &&
                   (int)RUNNER_KILLED == (int)WIRE_COMMAND_KILLED &&
                   (int)RUNNER_TIMED_OUT == (int)WIRE_COMMAND_TIMED_OUT &&
                   (int)RUNNER_NO_START == (int)WIRE_COMMAND_NO_START,
               "a command of our own ends as one of an agent");

/* Numbers of commands that nobody waits for are beyond the conductor's. */
#define UNAWAITED UINT32_C(1000000000)

/* ---- May it be run? ---------------------------------------------------- */

/* A name for the line to be added: that of the program. */
static void make_up_name(const char *text, char name[NAME_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *word = text;
    size_t length = strcspn(text, " \t");
    size_t used = 0;

    for (size_t i = 0; i < length; i++)
        if (text[i] == '/')
            word = &text[i + 1];
    for (; word < text + length && used < NAME_SIZE - 1; word++)
        if (strchr(letters, *word) != NULL)
            name[used++] = *word;
    (void)snprintf(name + used, NAME_SIZE - used, "%s",
                   used == 0 ? "NAME" : "");
}

/* "drop /usr/local/sbin/drop --all": a text as it is, or a name that still
 * wants a program. */
static void make_up_line(const char *text, char *line, size_t size)
{
    char name[NAME_SIZE];
    bool is_name = strpbrk(text, "/ \t\"") == NULL;

    make_up_name(text, name);
    (void)snprintf(line, size, "%s %s", name, is_name ? "/PROGRAM" : text);
}

static void report_missing(struct campaign *campaign,
                           const struct plan_command *command, const char *host)
{
    char line[NAME_SIZE + TEXT_SIZE + 16];
    char hint[sizeof(line) + 128];
    const char *file = host == NULL ? "/etc/lockstep/controller.conf"
                                    : "/etc/lockstep/agent.conf";

    make_up_line(command->text, line, sizeof(line));
    if (campaign->fleet->is_private)
        (void)snprintf(hint, sizeof(hint),
                       "offer it: lockstep run --command "
                       "'%s' ...",
                       line);
    else
        (void)snprintf(hint, sizeof(hint), "add to %s there: command = %s",
                       file, line);
    language_report_add(&campaign->report, LANGUAGE_ERROR, &command->place,
                        hint, "%s%s%s does not let campaigns run '%s'",
                        host == NULL ? "the controller's host" : "host '",
                        host == NULL ? "" : host, host == NULL ? "" : "'",
                        command->text);
}

static bool host_offers(const struct campaign *campaign, uint32_t host,
                        const char *text)
{
    const struct commands *commands = campaign->hosts[host].host->commands;

    return commands != NULL && commands_find(commands, text) != NULL;
}

static bool controller_offers(const struct campaign *campaign, const char *text)
{
    const struct commands *commands = campaign->fleet->commands;

    return commands != NULL && commands_find(commands, text) != NULL;
}

static void check_on_hosts(struct campaign *campaign,
                           const struct plan_run *run,
                           const struct plan_command *command)
{
    const struct plan *plan = campaign->plan;
    bool *seen = ARENA_ARRAY(campaign->arena, plan->host_count, bool);

    for (uint32_t i = 0; i < run->target_count; i++) {
        uint32_t host = plan->targets[run->targets[i].target].host;

        if (seen != NULL && seen[host])
            continue;
        if (seen != NULL)
            seen[host] = true;
        if (!host_offers(campaign, host, command->text))
            report_missing(campaign, command, plan->hosts[host].label);
    }
}

/* `run` NULL: of the campaign as a whole. */
static void check_list(struct campaign *campaign, const struct plan_run *run,
                       const struct plan_commands *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct plan_command *command = &list->items[i];

        if (!command->on_controller)
            check_on_hosts(campaign, run, command);
        else if (!controller_offers(campaign, command->text))
            report_missing(campaign, command, NULL);
    }
}

void errand_check(struct campaign *campaign)
{
    const struct plan *plan = campaign->plan;
    const struct plan_command *before = NULL;

    check_list(campaign, NULL, &plan->start);
    for (uint32_t i = 0; i < plan->distinct_runs; i++) {
        const struct plan_run *run = &plan->runs[i];

        /* The runs of one rd= share their lists: what is wrong is said once. */
        if (run->start.items != before) {
            check_list(campaign, run, &run->start);
            check_list(campaign, run, &run->end);
        }
        before = run->start.items;
    }
    check_list(campaign, NULL, &plan->end);
    check_list(campaign, NULL, &plan->host_lost);
    language_report_sort(&campaign->report);
}

/* ---- What became of it ------------------------------------------------- */

/* How it failed; false: it did not. */
static bool describe(const struct wire_command_done *done, char *text,
                     size_t size)
{
    const char *last =
        done->line_count > 0 ? done->lines[done->line_count - 1] : "";
    const char *colon = last[0] != '\0' ? ": " : "";
    const char *signal;

    switch (done->end) {
    case WIRE_COMMAND_EXITED:
        (void)snprintf(text, size, "exit status %u%s%s", done->status, colon,
                       last);
        return done->status != 0;
    case WIRE_COMMAND_KILLED:
        signal = sigabbrev_np((int)done->status);
        (void)snprintf(text, size, "killed by SIG%s%s%s",
                       signal != NULL ? signal : "?", colon, last);
        return true;
    case WIRE_COMMAND_TIMED_OUT:
        (void)snprintf(text, size, "not done within its time, and killed%s%s",
                       colon, last);
        return true;
    case WIRE_COMMAND_NO_START:
        (void)snprintf(text, size, "cannot be started: %s",
                       strerror((int)done->status));
        return true;
    case WIRE_COMMAND_REFUSED:
        break;
    }
    (void)snprintf(text, size, "not run: %s", done->reason);
    return true;
}

/* All that it said, as one text; free() it. */
static char *join_lines(const struct wire_command_done *done)
{
    size_t length = 0, used = 0;
    char *text;

    for (uint32_t i = 0; i < done->line_count; i++)
        length += strlen(done->lines[i]) + 1;
    text = malloc(length + 1);
    if (text == NULL)
        return NULL;
    text[0] = '\0';
    for (uint32_t i = 0; i < done->line_count; i++)
        used += (size_t)snprintf(text + used, length + 1 - used, "%s%s",
                                 i > 0 ? "\n" : "", done->lines[i]);
    return text;
}

/* A command that has ended. */
struct ended {
    const char *keyword;
    const char *command;
    bool shown;
    const char *host; /* NULL: the controller's */
    uint32_t phase;   /* UINT32_MAX: of the campaign */
    const char *failure;
};

static void store(struct campaign *campaign, const struct ended *ended,
                  const struct wire_command_done *done)
{
    char *output = join_lines(done);
    const struct results_command command = {
        .number = done->number,
        .host = ended->host,
        .phase = ended->phase,
        .keyword = ended->keyword,
        .command = ended->command,
        .duration_ns = done->duration_ns,
        .error = ended->failure,
        .output = output != NULL ? output : "",
    };
    int err =
        results_command(campaign->fleet->results, &campaign->id, &command);

    if (err != 0)
        log_warn(NULL, "cannot store what became of %s=%s: %s, ignoring",
                 ended->keyword, ended->command, strerror(-err));
    free(output);
}

static void tell(struct campaign *campaign, const struct ended *ended,
                 const struct wire_command_done *done)
{
    const char *host = ended->host != NULL ? ended->host : "controller";
    char text[REASON_SIZE + 2 * TEXT_SIZE];

    for (uint32_t i = 0; i < done->line_count && ended->shown; i++) {
        (void)snprintf(text, sizeof(text), "%s: Cmd: %s", host, done->lines[i]);
        campaign_notice(campaign, text);
    }
    (void)snprintf(text, sizeof(text), "%s: %s=%s: %s", host, ended->keyword,
                   ended->command,
                   ended->failure != NULL ? ended->failure : "done");
    if (ended->failure != NULL)
        campaign_notice(campaign, text);
    else
        log_notice(NULL, "campaign %llu: %s",
                   (unsigned long long)campaign->number, text);
}

static void take(struct campaign *campaign, struct ended *ended,
                 const struct wire_command_done *done)
{
    char failure[REASON_SIZE];

    ended->failure = describe(done, failure, sizeof(failure)) ? failure : NULL;
    store(campaign, ended, done);
    tell(campaign, ended, done);
    ended->failure = NULL; /* it was ours */
}

/* Of the command that the conductor waits for. */
static void take_awaited(struct campaign *campaign, uint32_t host,
                         const struct wire_command_done *done)
{
    const struct conductor *conductor = campaign->conductor;
    enum conduct_when when;
    const struct plan_command *command = conductor_errand(conductor, &when);
    char failure[REASON_SIZE];
    bool failed = describe(done, failure, sizeof(failure));

    if (!conductor_waits_for(conductor, host, done->number))
        return;
    take(
        campaign,
        &(struct ended){
            .keyword = command->keyword,
            .command = command->text,
            .shown = command->shown,
            .host = host == CONDUCT_CONTROLLER
                        ? NULL
                        : campaign->plan->hosts[host].label,
            .phase = when == CONDUCT_BEFORE_PHASE || when == CONDUCT_AFTER_PHASE
                         ? conductor_phase(conductor)->number
                         : UINT32_MAX,
        },
        done);
    campaign_commanded(campaign, host, done->number, failed ? failure : NULL);
}

void errand_answered(struct campaign *campaign, uint32_t host,
                     const struct wire_command_done *done)
{
    take_awaited(campaign, host, done);
}

/* ---- On the controller's host ------------------------------------------ */

static struct fleet_errand *find(struct fleet *fleet, uint64_t token)
{
    struct fleet_errand *at = fleet->errands;

    while (at != NULL && at->token != token)
        at = at->next;
    return at;
}

static void forget(struct fleet *fleet, struct fleet_errand *errand)
{
    struct fleet_errand **at = &fleet->errands;

    while (*at != errand)
        at = &(*at)->next;
    *at = errand->next;
    free(errand);
}

/* 0, or a negative errno with the reason. */
static int run_here(struct campaign *campaign, uint32_t phase, uint32_t number,
                    const struct plan_command *command, char *reason,
                    size_t size)
{
    struct fleet *fleet = campaign->fleet;
    const struct command *found =
        fleet->commands != NULL ? commands_find(fleet->commands, command->text)
                                : NULL;
    struct fleet_errand *errand;

    if (found == NULL || fleet->runner == NULL) {
        (void)snprintf(reason, size,
                       "the controller's configuration names no such command");
        return -ENOENT;
    }
    errand = calloc(1, sizeof(*errand));
    if (errand == NULL ||
        fleet->runner->run(fleet->runner_data, ++fleet->last_errand, found,
                           &campaign->id, phase) != 0) {
        free(errand);
        (void)snprintf(reason, size, "the controller is out of memory");
        return -ENOMEM;
    }
    errand->token = fleet->last_errand;
    errand->campaign = campaign->id;
    errand->phase = phase;
    errand->number = number;
    errand->command = *command; /* texts of the plan: gone with the campaign */
    errand->next = fleet->errands;
    fleet->errands = errand;
    return 0;
}

static void end_here(struct fleet *fleet, const struct campaign *campaign,
                     uint32_t number)
{
    struct fleet_errand *at = fleet->errands;

    while (at != NULL && !(at->number == number &&
                           wire_uuid_equal(&at->campaign, &campaign->id)))
        at = at->next;
    if (at == NULL)
        return;
    fleet->runner->end(fleet->runner_data, at->token);
    forget(fleet, at);
}

static void take_unawaited(struct campaign *campaign,
                           const struct fleet_errand *errand,
                           const struct wire_command_done *done)
{
    take(campaign,
         &(struct ended){
             .keyword = errand->command.keyword,
             .command = errand->command.text,
             .shown = errand->command.shown,
             .phase = errand->phase,
         },
         done);
}

void fleet_ran(struct fleet *fleet, uint64_t token,
               const struct runner_result *result)
{
    struct fleet_errand *errand = find(fleet, token);
    struct campaign *campaign;
    struct fleet_errand of;

    if (errand == NULL)
        return;
    of = *errand;
    forget(fleet, errand);
    campaign = fleet_campaign(fleet, &of.campaign);
    if (campaign == NULL || campaign->state != CAMPAIGN_RUNNING)
        return;

    const struct wire_command_done done = {
        .number = of.number,
        .end = (enum wire_command_end)result->end,
        .status = (uint32_t)result->status,
        .duration_ns = result->duration_ns,
        .lines = (const char **)(uintptr_t)result->lines,
        .line_count = result->line_count,
        .reason = "",
    };

    if (of.number >= UNAWAITED)
        take_unawaited(campaign, &of, &done);
    else
        take_awaited(campaign, CONDUCT_CONTROLLER, &done);
}

void errand_host_lost(struct campaign *campaign)
{
    const struct plan_commands *list = &campaign->plan->host_lost;
    uint32_t phase = conductor_phase(campaign->conductor)->number;
    char reason[REASON_SIZE];

    for (uint32_t i = 0; i < list->count; i++)
        if (run_here(campaign, phase, UNAWAITED + campaign->unawaited++,
                     &list->items[i], reason, sizeof(reason)) != 0)
            campaign_notice(campaign, reason);
}

/* ---- Orders ------------------------------------------------------------ */

/* What cannot be ordered has not been run: as if the host had said so. */
static void refuse(struct campaign *campaign,
                   const struct conduct_effect *effect, const char *reason)
{
    const struct wire_command_done done = {
        .number = effect->number,
        .end = WIRE_COMMAND_REFUSED,
        .reason = reason,
    };

    take_awaited(campaign, effect->host, &done);
}

static void order_agent(struct campaign *campaign,
                        const struct conduct_effect *effect)
{
    const struct host *host = campaign->hosts[effect->host].host;
    const struct command *found = NULL;
    struct wire_out out = {
        .kind = WIRE_OUT_COMMAND,
        .command =
            {
                .work = {.campaign = campaign->id,
                         .phase = effect->phase,
                         .epoch = fleet_epoch(campaign->fleet)},
                .number = effect->number,
                .name = "",
            },
    };

    if (effect->command != NULL && host->commands != NULL)
        found = commands_find(host->commands, effect->command->text);
    if (effect->command != NULL && found == NULL) {
        refuse(campaign, effect,
               "the agent's configuration names no such command any more");
        return;
    }
    if (found != NULL)
        out.command.name = found->name;
    if (host->session != NULL)
        (void)link_say(host->session->link, &out);
}

void errand_give(struct campaign *campaign, const struct conduct_effect *effect)
{
    char reason[REASON_SIZE];

    if (effect->host != CONDUCT_CONTROLLER)
        order_agent(campaign, effect);
    else if (effect->command == NULL)
        end_here(campaign->fleet, campaign, effect->number);
    else if (run_here(campaign, effect->phase, effect->number, effect->command,
                      reason, sizeof(reason)) != 0)
        refuse(campaign, effect, reason);
}

void errand_forget_all(struct fleet *fleet)
{
    while (fleet->errands != NULL)
        forget(fleet, fleet->errands);
}
