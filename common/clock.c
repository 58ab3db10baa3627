#include "common/clock.h"

#include <assert.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec t;
    int r = clock_gettime(id, &t);

    assert(r == 0);
    return (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec;
}

static uint64_t os_monotonic_ns(const struct clock *clock)
{
    (void)clock;
    return (uint64_t)read_ns(CLOCK_MONOTONIC);
}

static int64_t os_wall_ns(const struct clock *clock)
{
    (void)clock;
    return read_ns(CLOCK_REALTIME);
}

const struct clock *clock_os(void)
{
    static const struct clock os = {os_monotonic_ns, os_wall_ns};

    return &os;
}

static uint64_t manual_monotonic_ns(const struct clock *clock)
{
    return ((const struct clock_manual *)clock)->now_ns;
}

static int64_t manual_wall_ns(const struct clock *clock)
{
    return ((const struct clock_manual *)clock)->wall_ns;
}

void clock_manual_init(struct clock_manual *manual, uint64_t now_ns)
{
    manual->clock = (struct clock){manual_monotonic_ns, manual_wall_ns};
    manual->now_ns = now_ns;
    manual->wall_ns = 0;
}

void clock_manual_advance(struct clock_manual *manual, uint64_t by_ns)
{
    manual->now_ns += by_ns;
    manual->wall_ns += (int64_t)by_ns;
}
