/*
 * world.h - a fake world: one true time, and what will happen in it.
 *
 * Everything that happens is an event at an instant of the true time, which is
 * the controller's monotonic clock.  Events of one instant happen in the order
 * in which they were put down.  All chance comes from one seed, so a seed is a
 * history.
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include "common/clock.h"
#include "common/prng.h"

/* A step too many is a world that never ends. */
#define WORLD_STEPS_MAX 3000000u

typedef void world_happening(void *context, uint64_t token);

struct world_event {
    uint64_t at_ns;
    uint64_t number; /* order of those of one instant */
    world_happening *happen;
    void *context;
    uint64_t token;
};

struct world {
    struct clock_manual clock; /* the controller's */
    struct prng prng;
    uint64_t seed;
    struct world_event *heap;
    uint32_t count;
    uint32_t room;
    uint64_t numbers;
    uint32_t steps;
    bool trace; /* TEST_TRACE is set: tells the history on stderr */
};

void world_init(struct world *world, uint64_t seed);
void world_done(struct world *world);

static inline uint64_t world_now(const struct world *world)
{
    return world->clock.now_ns;
}

/* `happen(context, token)` at an instant; one in the past is now. */
void world_at(struct world *world, uint64_t at_ns, world_happening *happen,
              void *context, uint64_t token);

/* Lets the next event happen; false when there is none before `until_ns`, and
 * then it is that time. */
bool world_step(struct world *world, uint64_t until_ns);

/* Chances. */
uint64_t world_between(struct world *world, uint64_t low, uint64_t high);
bool world_chance(struct world *world, double probability);

void world_trace(const struct world *world, const char *format, ...)
    PRINTF(2, 3);

/* Ends the test with the seed that leads here. */
_Noreturn void world_fail(const struct world *world, const char *file, int line,
                          const char *what);

#define REQUIRE(world, condition)                                              \
    do {                                                                       \
        if (!(condition))                                                      \
            world_fail((world), __FILE__, __LINE__, #condition);               \
    } while (0)

#endif
