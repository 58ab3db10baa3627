#include "tests/sim/cable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Something on its way; `side` is the one that it goes to. */
struct parcel {
    struct parcel *next;
    struct parcel **where; /* the pointer that points here */
    struct cable *cable;
    uint64_t connection;
    int side;
    bool is_end;
    size_t length;
    uint8_t bytes[];
};

void cable_init(struct cable *cable, struct world *world)
{
    memset(cable, 0, sizeof(*cable));
    cable->world = world;
}

static void parcel_free(struct parcel *parcel)
{
    *parcel->where = parcel->next;
    if (parcel->next != NULL)
        parcel->next->where = parcel->where;
    free(parcel);
}

void cable_done(struct cable *cable)
{
    while (cable->parcels != NULL)
        parcel_free(cable->parcels);
}

static bool gets_through(const struct parcel *parcel)
{
    const struct cable *cable = parcel->cable;

    return parcel->connection > cable->lost[1 - parcel->side] &&
           parcel->connection == cable->connection && cable->open[parcel->side];
}

static void deliver(struct parcel *parcel)
{
    struct cable *cable = parcel->cable;
    struct cable_side *to = &cable->sides[parcel->side];
    enum cable_fate fate = CABLE_PASSES;
    enum cable_ways ways = CABLE_BOTH;

    if (cable->tap != NULL)
        fate = cable->tap(cable->tap_context, parcel->side, parcel->bytes,
                          parcel->length);
    if (fate != CABLE_BREAKS_BEFORE)
        to->on_message(to->context, parcel->connection, parcel->bytes,
                       parcel->length);
    if (fate == CABLE_PASSES)
        return;
    if (world_chance(cable->world, 0.5)) /* only the way that it came */
        ways = parcel->side == 1 ? CABLE_FROM_0 : CABLE_FROM_1;
    cable_cut(cable, ways, 0, 0, 500 * NS_PER_MS);
}

static void arrive(void *context, uint64_t token)
{
    struct parcel *parcel = context;
    struct cable *cable = parcel->cable;
    struct cable_side *to = &cable->sides[parcel->side];

    (void)token;
    if (parcel->is_end) {
        if (cable->connection == parcel->connection)
            cable->open[parcel->side] = false;
        to->on_closed(to->context, parcel->connection);
    } else if (gets_through(parcel)) {
        deliver(parcel);
    }
    parcel_free(parcel);
}

static struct parcel *parcel_new(struct cable *cable, int side, size_t length)
{
    struct parcel *parcel = malloc(sizeof(*parcel) + length);

    assert(parcel != NULL);
    parcel->next = cable->parcels;
    if (parcel->next != NULL)
        parcel->next->where = &parcel->next;
    parcel->where = &cable->parcels;
    cable->parcels = parcel;
    parcel->cable = cable;
    parcel->connection = cable->connection;
    parcel->side = side;
    parcel->is_end = false;
    parcel->length = length;
    return parcel;
}

static uint64_t travel_ns(struct cable *cable, int from)
{
    const struct cable_delay *delay = &cable->delays[from];
    uint64_t ns =
        delay->base_ns + world_between(cable->world, 0, delay->jitter_ns);

    return world_chance(cable->world, delay->spike) ? 10 * ns : ns;
}

static void post(struct cable *cable, int from, struct parcel *parcel)
{
    uint64_t at = world_now(cable->world) + travel_ns(cable, from);

    if (at < cable->last_ns[from])
        at = cable->last_ns[from];
    cable->last_ns[from] = at;
    world_at(cable->world, at, arrive, parcel, 0);
}

static void post_end(struct cable *cable, int side, uint64_t after_ns)
{
    struct parcel *parcel = parcel_new(cable, side, 0);

    parcel->is_end = true;
    world_at(cable->world, world_now(cable->world) + after_ns, arrive, parcel,
             0);
}

bool cable_dial(struct cable *cable)
{
    if (world_now(cable->world) < cable->dark_until_ns)
        return false;
    if (cable->open[1]) /* half open until now */
        post_end(cable, 1, world_between(cable->world, 0, 5 * NS_PER_S));
    cable->connection++;
    cable->open[0] = true;
    cable->open[1] = true;
    cable->last_ns[0] = 0;
    cable->last_ns[1] = 0;
    return true;
}

void cable_send(struct cable *cable, int side, const void *bytes, size_t length)
{
    struct parcel *parcel;

    if (!cable->open[side])
        return;
    parcel = parcel_new(cable, 1 - side, length);
    memcpy(parcel->bytes, bytes, length);
    post(cable, side, parcel);
}

void cable_close(struct cable *cable, int side)
{
    struct parcel *parcel;

    if (!cable->open[side])
        return;
    cable->open[side] = false;
    if (!cable->open[1 - side])
        return;
    parcel = parcel_new(cable, 1 - side, 0);
    parcel->is_end = true;
    post(cable, side, parcel);
}

void cable_stall(struct cable *cable, uint64_t stall_ns)
{
    uint64_t until = world_now(cable->world) + stall_ns;

    for (int side = 0; side < 2; side++)
        if (cable->last_ns[side] < until)
            cable->last_ns[side] = until;
}

void cable_cut(struct cable *cable, enum cable_ways ways, uint64_t dark_ns,
               uint64_t notice_min_ns, uint64_t notice_max_ns)
{
    struct world *world = cable->world;

    if ((ways & CABLE_FROM_0) != 0)
        cable->lost[0] = cable->connection;
    if ((ways & CABLE_FROM_1) != 0)
        cable->lost[1] = cable->connection;
    cable->dark_until_ns = world_now(world) + dark_ns;
    for (int side = 0; side < 2; side++)
        if (cable->open[side])
            post_end(cable, side,
                     world_between(world, notice_min_ns, notice_max_ns));
}
