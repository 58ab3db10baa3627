/*
 * world.h - a world for links in which nothing is sent: what was is kept, to
 * be looked at.
 */
#ifndef TESTS_UNIT_FLEET_WORLD_H
#define TESTS_UNIT_FLEET_WORLD_H

#include "bodies.h"

#include "common/arena.h"
#include "common/clock.h"
#include "controller/fleet/codec.h"
#include "controller/fleet/link.h"

#include <stdio.h>

#define WORLD_FRAMES 256

struct connection {
    uint8_t *bodies[WORLD_FRAMES];
    size_t lengths[WORLD_FRAMES];
    uint32_t sent;  /* frames, all in all */
    uint32_t taken; /* of them, by world_take() */
    size_t queued;
    bool blocked; /* what is sent waits */
    bool ended;
    char reason[REASON_SIZE];
};

static struct clock_manual world_clock;
static struct arena *world_arena;

static inline void world_send(void *data, const uint8_t *body, size_t length)
{
    struct connection *connection = data;

    ck_assert(!connection->ended);
    ck_assert_uint_lt(connection->sent, WORLD_FRAMES);
    connection->bodies[connection->sent] = malloc(length);
    memcpy(connection->bodies[connection->sent], body, length);
    connection->lengths[connection->sent++] = length;
    if (connection->blocked)
        connection->queued += length;
}

static inline size_t world_queued(void *data)
{
    return ((struct connection *)data)->queued;
}

static inline void world_end(void *data, const char *reason)
{
    struct connection *connection = data;

    ck_assert(!connection->ended);
    connection->ended = true;
    (void)snprintf(connection->reason, sizeof(connection->reason), "%s",
                   reason);
}

static const struct link_world world_functions = {
    .send = world_send,
    .queued = world_queued,
    .end = world_end,
};

static struct link_context world_context;

static inline void world_setup(void)
{
    clock_manual_init(&world_clock, 1000 * NS_PER_S);
    world_arena = arena_new(WIRE_ARENA_BYTES);
    world_context = (struct link_context){
        .world = &world_functions,
        .clock = &world_clock.clock,
        .scratch = world_arena,
    };
}

static inline void world_teardown(void)
{
    world_arena = arena_free(world_arena);
}

static inline void connection_done(struct connection *connection)
{
    for (uint32_t i = 0; i < connection->sent; i++)
        free(connection->bodies[i]);
    memset(connection, 0, sizeof(*connection));
}

/* The next frame that was sent; NULL: none. */
static inline Lockstep__Frame *world_take(struct connection *connection)
{
    Lockstep__Frame *frame;

    if (connection->taken == connection->sent)
        return NULL;
    frame =
        lockstep__frame__unpack(NULL, connection->lengths[connection->taken],
                                connection->bodies[connection->taken]);
    connection->taken++;
    ck_assert_ptr_nonnull(frame);
    return frame;
}

/* Skips to the next frame of a kind; fails when there is none. */
static inline Lockstep__Frame *world_find(struct connection *connection,
                                          Lockstep__Frame__BodyCase kind)
{
    Lockstep__Frame *frame;

    while ((frame = world_take(connection)) != NULL) {
        if (frame->body_case == kind)
            return frame;
        lockstep__frame__free_unpacked(frame, NULL);
    }
    ck_abort_msg("no frame of kind %d was sent", (int)kind);
    return NULL;
}

static inline void world_expect(struct connection *connection,
                                Lockstep__Frame__BodyCase kind)
{
    lockstep__frame__free_unpacked(world_find(connection, kind), NULL);
}

static inline struct link world_link(struct connection *connection, uint64_t id,
                                     const char *name, enum tls_role role)
{
    const struct link_peer peer = {
        .address = "192.0.2.7:4711",
        .name = name,
        .role = role,
    };
    struct link link;

    link_init(&link, &world_context, id, connection, &peer);
    return link;
}

#endif
