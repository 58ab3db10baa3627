#include "tests/sim/world.h"

#include <assert.h>
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void world_init(struct world *world, uint64_t seed)
{
    memset(world, 0, sizeof(*world));
    clock_manual_init(&world->clock, 200000 * NS_PER_S);
    prng_seed(&world->prng, seed);
    world->seed = seed;
    world->trace = getenv("TEST_TRACE") != NULL;
}

void world_done(struct world *world)
{
    free(world->heap);
    world->heap = NULL;
}

static bool is_before(const struct world_event *a, const struct world_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

static void swap(struct world_event *a, struct world_event *b)
{
    struct world_event third = *a;

    *a = *b;
    *b = third;
}

static void sift_up(struct world *world, uint32_t i)
{
    struct world_event *heap = world->heap;

    for (; i > 0 && is_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct world *world)
{
    struct world_event *heap = world->heap;
    uint32_t i = 0;

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child + 1 < world->count &&
            is_before(&heap[child + 1], &heap[child]))
            child++;
        if (child >= world->count || is_before(&heap[i], &heap[child]))
            return;
        swap(&heap[i], &heap[child]);
        i = child;
    }
}

void world_at(struct world *world, uint64_t at_ns, world_happening *happen,
              void *context, uint64_t token)
{
    if (world->count == world->room) {
        world->room = world->room == 0 ? 64 : 2 * world->room;
        world->heap = realloc(world->heap, world->room * sizeof(*world->heap));
        assert(world->heap != NULL);
    }
    world->heap[world->count] = (struct world_event){
        .at_ns = at_ns > world_now(world) ? at_ns : world_now(world),
        .number = world->numbers++,
        .happen = happen,
        .context = context,
        .token = token,
    };
    sift_up(world, world->count++);
}

bool world_step(struct world *world, uint64_t until_ns)
{
    struct world_event event;

    if (world->count == 0 || world->heap[0].at_ns >= until_ns) {
        if (until_ns > world_now(world))
            clock_manual_advance(&world->clock, until_ns - world_now(world));
        return false;
    }
    event = world->heap[0];
    world->heap[0] = world->heap[--world->count];
    sift_down(world);
    clock_manual_advance(&world->clock, event.at_ns - world_now(world));
    REQUIRE(world, world->steps++ < WORLD_STEPS_MAX);
    event.happen(event.context, event.token);
    return true;
}

uint64_t world_between(struct world *world, uint64_t low, uint64_t high)
{
    return low + prng_below(&world->prng, high - low + 1);
}

bool world_chance(struct world *world, double probability)
{
    return prng_unit(&world->prng) <= probability;
}

void world_trace(const struct world *world, const char *format, ...)
{
    va_list args;

    if (!world->trace)
        return;
    (void)fprintf(stderr, "%12.6f ", (double)world_now(world) / 1e9);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
}

void world_fail(const struct world *world, const char *file, int line,
                const char *what)
{
    ck_abort_msg("%s:%d: %s at %.6f s; TEST_SEED=%llu TEST_TRACE=1 shows it",
                 file, line, what, (double)world_now(world) / 1e9,
                 (unsigned long long)world->seed);
    abort(); /* not reached */
}
