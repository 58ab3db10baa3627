#include "controller/conduct/offset.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void offset_init(struct offset *offset)
{
    memset(offset, 0, sizeof(*offset));
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The most that two clocks drift apart in a time; rounded up. */
static uint64_t drift_ns(uint64_t time_ns)
{
    return (uint64_t)(((u128)time_ns * OFFSET_DRIFT_PPM + 999999) / 1000000);
}

/*
 * The window proved something about an instant between `sent` and `arrived`;
 * which one is not known, so its age counts from the further end.
 */
static uint64_t half_at(const struct offset_window *window,
                        uint64_t controller_ns)
{
    uint64_t since_sent = distance(controller_ns, window->sent);
    uint64_t since_arrived = distance(controller_ns, window->arrived);
    uint64_t age = since_sent > since_arrived ? since_sent : since_arrived;

    return window->half_ns + drift_ns(age);
}

static const struct offset_window *narrowest(const struct offset *offset,
                                             uint64_t controller_ns,
                                             uint64_t *ret_half_ns)
{
    const struct offset_window *best = NULL;
    uint64_t best_half = UINT64_MAX;

    for (uint32_t i = 0; i < offset->count; i++) {
        uint64_t half = half_at(&offset->windows[i], controller_ns);

        if (half < best_half) {
            best = &offset->windows[i];
            best_half = half;
        }
    }
    *ret_half_ns = best_half;
    return best;
}

/* No two clocks within 200 ppm of each other could have told both. */
static bool contradicts(const struct offset *offset,
                        const struct offset_window *window)
{
    uint64_t half;
    const struct offset_window *best =
        narrowest(offset, window->arrived, &half);

    if (best == NULL)
        return false;
    /* Unsigned difference: the two offsets may be far apart. */
    uint64_t apart =
        best->offset_ns > window->offset_ns
            ? (uint64_t)best->offset_ns - (uint64_t)window->offset_ns
            : (uint64_t)window->offset_ns - (uint64_t)best->offset_ns;

    return apart > half + half_at(window, window->arrived);
}

/* Stamps beyond 146 years are not clocks; below, differences are exact. */
static bool plausible(const struct offset_probe *probe)
{
    const uint64_t limit = UINT64_C(1) << 62;

    return probe->sent <= probe->arrived &&
           probe->received <= probe->returned && probe->arrived < limit &&
           probe->returned < limit;
}

static int window_of(const struct offset_probe *probe,
                     struct offset_window *ret_window)
{
    if (!plausible(probe))
        return -EBADMSG;

    int64_t high = (int64_t)probe->received - (int64_t)probe->sent;
    int64_t low = (int64_t)probe->returned - (int64_t)probe->arrived;
    uint64_t slack = drift_ns(probe->arrived - probe->sent) + 1;

    if (low > high && (uint64_t)(low - high) > slack)
        return -EBADMSG;
    *ret_window = (struct offset_window){
        .sent = probe->sent,
        .arrived = probe->arrived,
        .offset_ns = low + (high - low) / 2,
        .half_ns = high > low ? ((uint64_t)(high - low) + 1) / 2 : 1,
    };
    return 0;
}

static void keep(struct offset *offset, const struct offset_window *window)
{
    offset->windows[offset->next] = *window;
    offset->next = (offset->next + 1) % OFFSET_PROBES;
    if (offset->count < OFFSET_PROBES)
        offset->count++;
}

int offset_take(struct offset *offset, const struct offset_probe *probe)
{
    struct offset_window window;
    int err = window_of(probe, &window);

    if (err < 0)
        return err;

    int jumped = contradicts(offset, &window);

    if (jumped) {
        uint32_t breaks = offset->breaks + 1;

        offset_init(offset);
        offset->breaks = breaks;
    }
    keep(offset, &window);
    offset->probes++;
    return jumped;
}

void offset_seed(struct offset *offset, uint64_t controller_ns,
                 const struct offset_estimate *estimate)
{
    const struct offset_window window = {
        .sent = controller_ns,
        .arrived = controller_ns,
        .offset_ns = estimate->offset_ns,
        .half_ns = estimate->uncertainty_ns,
    };

    keep(offset, &window);
}

bool offset_at(const struct offset *offset, uint64_t controller_ns,
               struct offset_estimate *ret_estimate)
{
    uint64_t half;
    const struct offset_window *best = narrowest(offset, controller_ns, &half);

    if (best == NULL)
        return false;
    ret_estimate->offset_ns = best->offset_ns;
    ret_estimate->uncertainty_ns = half;
    return true;
}

bool offset_to_agent(const struct offset *offset, uint64_t controller_ns,
                     uint64_t *ret_agent_ns,
                     struct offset_estimate *ret_estimate)
{
    if (!offset_at(offset, controller_ns, ret_estimate))
        return false;
    *ret_agent_ns = controller_ns + (uint64_t)ret_estimate->offset_ns;
    return true;
}

bool offset_to_controller(const struct offset *offset, uint64_t agent_ns,
                          uint64_t *ret_controller_ns,
                          struct offset_estimate *ret_estimate)
{
    if (offset->count == 0)
        return false;

    /* Any window is near enough to find the best one for the instant. */
    const struct offset_window *any =
        &offset->windows[(offset->next + OFFSET_PROBES - 1) % OFFSET_PROBES];
    uint64_t about = agent_ns - (uint64_t)any->offset_ns;

    if (about >= UINT64_C(1) << 63)
        about = 0;
    if (!offset_at(offset, about, ret_estimate))
        return false;

    uint64_t exact = agent_ns - (uint64_t)ret_estimate->offset_ns;

    /* The instant is itself only known to within the uncertainty, and so is
     * the window's age then: a little more (1 / (1 - 200 ppm)). */
    uint64_t half =
        ret_estimate->uncertainty_ns + drift_ns(distance(exact, about));

    ret_estimate->uncertainty_ns = half + 2 * drift_ns(half) + 1;
    *ret_controller_ns = exact;
    return true;
}

uint64_t offset_round_trip_max_ns(const struct offset *offset)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < offset->count; i++) {
        const struct offset_window *window = &offset->windows[i];

        if (window->arrived - window->sent > longest)
            longest = window->arrived - window->sent;
    }
    return longest;
}
