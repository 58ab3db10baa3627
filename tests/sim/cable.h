/*
 * cable.h - a connection in the fake world, as TCP is one: what is sent on one
 * side arrives at the other in order and whole, later; or the connection ends
 * and the rest never arrives.
 *
 * Side 0 dials, side 1 is dialled.  Each direction has its own delay, so round
 * trips are as lopsided as the seed likes.  A cut is noticed by each side in
 * its own time, or at once when the other's machine is there to say so.
 *
 * The owner of a side gets on_message and on_closed; both carry the number of
 * the connection, so that news of an old one can be told from the new one's.
 */
#ifndef TESTS_SIM_CABLE_H
#define TESTS_SIM_CABLE_H

#include "tests/sim/world.h"

struct cable_side {
    void (*on_message)(void *context, uint64_t connection, const void *bytes,
                       size_t length);
    void (*on_closed)(void *context, uint64_t connection);
    void *context;
};

/* What becomes of a message, and of the path behind it. */
enum cable_fate {
    CABLE_PASSES,
    CABLE_BREAKS_BEFORE, /* it is lost, too */
    CABLE_BREAKS_BEHIND,
};

struct cable_delay {
    uint64_t base_ns;
    uint64_t jitter_ns;
    double spike; /* chance that a message takes ten times as long */
};

struct cable {
    struct world *world;
    struct cable_side sides[2];
    struct cable_delay delays[2]; /* of what side i sends */
    uint64_t last_ns[2];          /* arrival of the last message of side i */
    uint64_t connection;          /* number of the current one; 0: none yet */
    uint64_t lost[2];       /* the last connection that lost what side i sent */
    bool open[2];           /* side i has it open, as far as it knows */
    uint64_t dark_until_ns; /* nobody gets through */
    struct parcel *parcels; /* on their way */
    /* Sees each message before side `to` gets it.  NULL: nobody looks. */
    enum cable_fate (*tap)(void *context, int to, const void *bytes,
                           size_t length);
    void *tap_context;
};

void cable_init(struct cable *cable, struct world *world);
/* Only when the world has ended. */
void cable_done(struct cable *cable);

/* Side 0 dials; true when it got through, and then both sides have it open.
 * An older connection is forgotten by side 0; side 1 hears of its end later. */
bool cable_dial(struct cable *cable);

/* Copies.  Into a connection that is cut it goes, and nowhere else. */
void cable_send(struct cable *cable, int side, const void *bytes,
                size_t length);

/* One side closes: the other hears of it after all that was sent before. */
void cable_close(struct cable *cable, int side);

/* Nothing is lost, but nothing arrives for a while, either. */
void cable_stall(struct cable *cable, uint64_t stall_ns);

enum cable_ways {
    CABLE_FROM_0 = 1,
    CABLE_FROM_1 = 2,
    CABLE_BOTH = 3,
};

/* The path is gone for a while: what goes these ways is lost, and each side
 * hears of it after a time of its own between the two. */
void cable_cut(struct cable *cable, enum cable_ways ways, uint64_t dark_ns,
               uint64_t notice_min_ns, uint64_t notice_max_ns);

#endif
