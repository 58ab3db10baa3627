#include "controller/fleet/link.h"

#include "common/arena.h"
#include "common/clock.h"
#include "controller/fleet/codec.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bool may_enter[LINK_STATES][LINK_STATES] = {
    [LINK_GREETING] =
        {[LINK_AGENT] = true, [LINK_SHELL] = true, [LINK_ENDED] = true},
    [LINK_AGENT] = {[LINK_ENDED] = true},
    [LINK_SHELL] = {[LINK_ENDED] = true},
};

void link_init(struct link *link, const struct link_context *context,
               uint64_t id, void *connection, const struct link_peer *peer)
{
    uint64_t now_ns = clock_now_ns(context->clock);

    *link = (struct link){
        .context = context,
        .world = peer->world != NULL ? peer->world : context->world,
        .connection = connection,
        .id = id,
        .state = LINK_GREETING,
        .opened_ns = now_ns,
        .heard_ns = now_ns,
        .said_ns = now_ns,
        .role = peer->role,
    };
    (void)snprintf(link->name, sizeof(link->name), "%s", peer->name);
    (void)snprintf(link->address, sizeof(link->address), "%s", peer->address);
}

void link_enter(struct link *link, enum link_state state)
{
    assert(may_enter[link->state][state]);
    link->state = state;
    if (state != LINK_ENDED)
        link->greeted_as = state;
    else if (link->context->ended != NULL)
        ++*link->context->ended;
}

int link_say(struct link *link, const struct wire_out *out)
{
    uint8_t *body;
    size_t length;
    int err;

    if (!link_is_open(link))
        return -ENOTCONN;
    if (link->world->say != NULL) {
        link->world->say(link->connection, out);
        return 0;
    }
    err = wire_encode(out, link->context->scratch, &body, &length);
    arena_reset(link->context->scratch);
    if (err == -ENOMEM)
        link_end(link, "the controller is out of memory");
    if (err != 0)
        return err;
    link->said_ns = clock_now_ns(link->context->clock);
    link->world->send(link->connection, body, length);
    free(body);
    return 0;
}

void link_heard(struct link *link, uint64_t now_ns)
{
    if (now_ns > link->heard_ns)
        link->heard_ns = now_ns;
}

void link_lost(struct link *link, const char *reason)
{
    if (!link_is_open(link))
        return;
    (void)snprintf(link->end_reason, sizeof(link->end_reason), "%s", reason);
    link_enter(link, LINK_ENDED);
}

/* Says the reason without link_say(): that one ends the link on failure. */
static void say_reject(struct link *link, const char *reason)
{
    const struct wire_out out = {.kind = WIRE_OUT_REJECT, .reject = reason};
    uint8_t *body;
    size_t length;
    int err;

    if (link->world->say != NULL)
        return; /* end() tells it the reason */
    err = wire_encode(&out, link->context->scratch, &body, &length);

    arena_reset(link->context->scratch);
    if (err != 0)
        return;
    link->world->send(link->connection, body, length);
    free(body);
}

void link_end(struct link *link, const char *format, ...)
{
    char reason[REASON_SIZE];
    va_list args;

    if (!link_is_open(link))
        return;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    say_reject(link, reason);
    link->world->end(link->connection, reason);
    link_lost(link, reason);
}

static uint64_t since(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

void link_tick(struct link *link, uint64_t now_ns)
{
    const struct wire_out heartbeat = {.kind = WIRE_OUT_HEARTBEAT};

    if (!link_is_open(link))
        return;
    if (link->state == LINK_GREETING &&
        since(now_ns, link->opened_ns) >= LINK_GREETING_NS) {
        link_end(link, "no hello within %u s",
                 (unsigned)(LINK_GREETING_NS / NS_PER_S));
        return;
    }
    if (link->world->say != NULL)
        return; /* it cannot be silent, and needs no heartbeat */
    if (!link->context->patient &&
        since(now_ns, link->heard_ns) >= LINK_SILENCE_NS) {
        link_end(link, "silent for %u s",
                 (unsigned)(LINK_SILENCE_NS / NS_PER_S));
        return;
    }
    if (link->state != LINK_GREETING &&
        since(now_ns, link->said_ns) >= LINK_HEARTBEAT_NS)
        (void)link_say(link, &heartbeat);
}

void link_host_address(const struct link *link, char *text)
{
    const char *begin = link->address;
    const char *end = strrchr(begin, ':');
    size_t length = end == NULL ? strlen(begin) : (size_t)(end - begin);

    if (*begin == '[' && length >= 2 && begin[length - 1] == ']') {
        begin++;
        length -= 2;
    }
    memcpy(text, begin, length);
    text[length] = '\0';
}
