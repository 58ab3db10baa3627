/*
 * Commands before and after phases: each on all its hosts at once, the next one
 * when all have answered.  The first that fails before a phase ends the list;
 * after one, the list goes on.
 */
#include "controller/conduct/conductor.h"

#include <stdio.h>
#include <string.h>

static bool is_before(enum conduct_when when)
{
    return when == CONDUCT_BEFORE_ALL || when == CONDUCT_BEFORE_PHASE;
}

const struct plan_command *errand_command(const struct conductor *c)
{
    const struct errands *errands = &c->errands;

    return errands->when == CONDUCT_NEVER_RUN
               ? NULL
               : &errands->commands->items[errands->at];
}

/* Nothing may run beside I/O: whoever has work in its hands is left out. */
static bool can_run(const struct part *part)
{
    return part_is_up(part) && part->holds == PLAN_NOWHERE;
}

static void send(struct conductor *c, uint32_t host)
{
    struct conduct_effect *effect =
        host == CONDUCT_CONTROLLER
            ? effect_add(c, CONDUCT_DO_COMMAND)
            : effect_add_host(c, CONDUCT_DO_COMMAND, host);

    effect->host = host;
    effect->number = c->errands.number;
    effect->command = errand_command(c);
}

static void send_to_hosts(struct conductor *c)
{
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (!part_takes_part(part))
            continue;
        if (can_run(part)) {
            part->errand = PART_ERRAND_OUT;
            part->errand_due_ns = CONDUCT_NEVER;
            send(c, host);
        } else if (!is_before(c->errands.when)) {
            effect_notice(
                c, "%s=%s is not run on %s: %s", errand_command(c)->keyword,
                errand_command(c)->text, part_label(c, host),
                part_is_up(part) ? "it still has work" : part->link_reason);
        }
    }
}

/* The command at hand, to all that are to run it. */
static void send_all(struct conductor *c)
{
    c->errands.number = ++c->errand_count;
    c->errands.due_ns = c->now_ns + CONDUCT_COMMAND_NS;
    if (errand_command(c)->on_controller) {
        c->errands.controller = PART_ERRAND_OUT;
        send(c, CONDUCT_CONTROLLER);
    } else {
        send_to_hosts(c);
    }
}

void errands_begin(struct conductor *c, enum conduct_when when,
                   const struct plan_commands *commands)
{
    struct errands *errands = &c->errands;

    *errands = (struct errands){.controller = PART_ERRAND_NONE};
    if (commands->count == 0)
        return;
    errands->when = when;
    errands->commands = commands;
    send_all(c);
}

bool errands_take_failure(struct conductor *c, char ret_text[REASON_SIZE])
{
    if (c->errands.failure[0] == '\0')
        return false;
    memcpy(ret_text, c->errands.failure, REASON_SIZE);
    c->errands.failure[0] = '\0';
    return true;
}

bool errands_are_done(const struct conductor *c)
{
    return c->errands.when == CONDUCT_NEVER_RUN;
}

static bool is_out(const struct part *part)
{
    return part->errand != PART_ERRAND_NONE;
}

/* Some answer to the command at hand is still to come. */
static bool is_waiting(const struct conductor *c)
{
    return c->errands.controller == PART_ERRAND_OUT ||
           part_count(c, is_out) > 0;
}

static void end_list(struct conductor *c)
{
    c->errands.when = CONDUCT_NEVER_RUN;
    c->changes++;
}

/* The first failure is told in full. */
static void note_failure(struct conductor *c, uint32_t host, const char *text)
{
    const struct plan_command *command = errand_command(c);

    if (c->errands.failure[0] == '\0')
        (void)snprintf(c->errands.failure, sizeof(c->errands.failure),
                       "%s=%s on %s: %s", command->keyword, command->text,
                       host == CONDUCT_CONTROLLER ? "the controller's host"
                                                  : part_label(c, host),
                       text);
}

/* Hosts that did not come back, or never answer. */
static void give_up_late(struct conductor *c)
{
    bool all = c->now_ns >= c->errands.due_ns;
    struct part *part;

    if (all && c->errands.controller == PART_ERRAND_OUT) {
        c->errands.controller = PART_ERRAND_NONE;
        note_failure(c, CONDUCT_CONTROLLER, "it did not end");
    }
    FOR_EACH_PART(c, host, part)
    {
        if (!is_out(part) || (!all && c->now_ns < part->errand_due_ns))
            continue;
        part->errand = PART_ERRAND_NONE;
        note_failure(c, host,
                     part_is_up(part) ? "no answer" : part->link_reason);
    }
}

/* Whoever came back and has nothing any more is told once more: it knows the
 * number, if it is the same process. */
static void send_held(struct conductor *c)
{
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (part->errand != PART_ERRAND_HELD || !can_run(part))
            continue;
        part->errand = PART_ERRAND_OUT;
        part->errand_due_ns = CONDUCT_NEVER;
        send(c, host);
    }
}

void errands_step(struct conductor *c)
{
    struct errands *errands = &c->errands;

    if (errands->when == CONDUCT_NEVER_RUN)
        return;
    send_held(c);
    give_up_late(c);
    if (is_waiting(c))
        return;
    if ((errands->failure[0] != '\0' && is_before(errands->when)) ||
        errands->at + 1 == errands->commands->count) {
        end_list(c);
        return;
    }
    errands->at++;
    send_all(c);
    c->changes++; /* nobody may have been there to run it */
}

uint64_t errands_due_ns(const struct conductor *c)
{
    uint64_t due = c->errands.due_ns;
    const struct part *part;

    if (c->errands.when == CONDUCT_NEVER_RUN)
        return CONDUCT_NEVER;
    FOR_EACH_PART(c, host, part)
    {
        if (is_out(part) && part->errand_due_ns < due)
            due = part->errand_due_ns;
    }
    return due;
}

void errands_abandon(struct conductor *c)
{
    struct part *part;

    if (c->errands.when == CONDUCT_NEVER_RUN)
        return;
    c->errands.when = CONDUCT_NEVER_RUN;
    if (c->errands.controller == PART_ERRAND_OUT) {
        struct conduct_effect *effect = effect_add(c, CONDUCT_DO_COMMAND);

        effect->host = CONDUCT_CONTROLLER;
        effect->number = c->errands.number;
    }
    c->errands.controller = PART_ERRAND_NONE;
    FOR_EACH_PART(c, host, part)
    {
        if (is_out(part) && part_is_up(part))
            effect_add_host(c, CONDUCT_DO_COMMAND, host)->number =
                c->errands.number;
        part->errand = PART_ERRAND_NONE;
    }
}

void errands_host_up(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    if (is_out(part))
        part->errand = PART_ERRAND_HELD;
}

/* It goes on there, and may be told of for as long as a lease lasts. */
void errands_host_down(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    if (is_out(part))
        part->errand_due_ns =
            c->options.no_return ? c->now_ns : c->now_ns + part->hello.lease_ns;
}

void errands_answer(struct conductor *c, uint32_t host, uint32_t number,
                    const char *failure)
{
    if (!conductor_waits_for(c, host, number))
        return;
    if (host == CONDUCT_CONTROLLER)
        c->errands.controller = PART_ERRAND_NONE;
    else
        c->parts[host].errand = PART_ERRAND_NONE;
    if (failure != NULL)
        note_failure(c, host, failure);
}

bool conductor_waits_for(const struct conductor *c, uint32_t host,
                         uint32_t number)
{
    if (c->errands.when == CONDUCT_NEVER_RUN || number != c->errands.number)
        return false;
    return host == CONDUCT_CONTROLLER ? c->errands.controller == PART_ERRAND_OUT
                                      : is_out(&c->parts[host]);
}

const struct plan_command *conductor_errand(const struct conductor *c,
                                            enum conduct_when *ret_when)
{
    *ret_when = c->errands.when;
    return errand_command(c);
}
