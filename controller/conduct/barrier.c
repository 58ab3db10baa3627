/*
 * One start.  Probes until each clock is known well enough; then an instant far
 * enough away that Start, Armed and Go can make their three journeys before
 * it.  The last of them needs the margin: Armed must be in by then.
 */
#include "controller/conduct/conductor.h"

#include <stdio.h>

/* A lost packet is sent again after 200 ms: it may be Start or Armed, and in
 * the margin it may be Go. */
#define ROOM_MIN_NS      (300 * NS_PER_MS)
#define ROOM_HOST_NS     (150 * NS_PER_US) /* to send and handle a frame */
#define ROOM_MAX_NS      (BARRIER_AHEAD_MAX_NS / 2)
#define MARGIN_MIN_NS    (250 * NS_PER_MS)
#define MARGIN_HOST_NS   (50 * NS_PER_US)
#define TRIES_MAX        2u
#define MORE_ROOM        4u /* in the second try */
#define PROBE_UNHURRY_NS (20 * NS_PER_MS)

void barrier_begin(struct conductor *c)
{
    struct part *part;

    c->barrier.state = BARRIER_PROBING;
    c->barrier.tries = 0;
    c->barrier.limit_ns = c->now_ns + c->options.probe_ns;
    FOR_EACH_PART(c, host, part)
    {
        part->probes = 0;
        part->probe = PROBE_IDLE;
        part->probe_due_ns = c->now_ns;
    }
}

uint64_t barrier_probe_due_ns(const struct conductor *c,
                              const struct part *part)
{
    bool probing =
        c->phase.state == CONDUCT_ARMING && c->barrier.state == BARRIER_PROBING;

    if (probing && part->probes < CONDUCT_PROBES_MIN)
        return c->now_ns;
    if (probing && part->probes < CONDUCT_PROBES_MAX)
        return c->now_ns + PROBE_UNHURRY_NS;
    return c->now_ns + c->options.probe_every_ns;
}

static bool is_unknown(const struct part *part)
{
    return part_is_starter(part) &&
           (!part_is_up(part) || part->probes < CONDUCT_PROBES_MIN ||
            part->offset.probes < CONDUCT_PROBES_MIN);
}

static bool is_not_armed(const struct part *part)
{
    return part_is_starter(part) &&
           (!part_is_up(part) || part->state != PART_ARMED);
}

/*
 * Those that `picks` picks were too slow.  Without them, if enough are left;
 * otherwise the phase fails with their names.
 */
static void leave_out(struct conductor *c,
                      bool (*picks)(const struct part *part), const char *what)
{
    uint32_t starters = part_count(c, part_is_starter);
    uint32_t late = part_count(c, picks);
    char names[TEXT_SIZE];
    struct part *part;

    verdict_names(c, picks, names);
    if (starters - late < course_required(c)) {
        course_break(c, CONDUCT_ENDING_FAILED, "%u of %u hosts %s: %s", late,
                     c->phase.host_count, what, names);
        return;
    }
    FOR_EACH_PART(c, host, part)
    {
        if (!picks(part))
            continue;
        order_abort(c, host, "the phase starts without this host");
        part_give_up(c, host, "it %s", what);
    }
}

uint64_t barrier_round_trip_ns(const struct conductor *c)
{
    const struct part *part;
    uint64_t longest = 0;

    FOR_EACH_PART(c, host, part)
    {
        uint64_t mine = offset_round_trip_max_ns(&part->offset);

        if (part_is_busy(part) && mine > longest)
            longest = mine;
    }
    return longest;
}

/* Sets the instant and the margin of the next try. */
static void choose_instant(struct conductor *c)
{
    uint64_t hosts = part_count(c, part_is_starter);
    uint64_t trip = barrier_round_trip_ns(c);
    uint64_t margin = MARGIN_MIN_NS + trip + hosts * MARGIN_HOST_NS;
    uint64_t room = ROOM_MIN_NS + 3 * trip + hosts * ROOM_HOST_NS;

    if (c->barrier.tries > 0) {
        margin *= 2;
        room *= MORE_ROOM;
    }
    if (room > ROOM_MAX_NS)
        room = ROOM_MAX_NS;
    if (margin > ROOM_MAX_NS)
        margin = ROOM_MAX_NS;
    c->barrier.margin_ns = margin;
    c->phase.start_ns = c->now_ns + room + margin;
}

/* Translates the instant for every starter; returns the one whose clock is
 * known worst. */
static uint32_t translate_instant(struct conductor *c)
{
    uint32_t worst = 0;
    uint64_t uncertainty = 0;
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (!part_is_starter(part))
            continue;
        if (!offset_to_agent(&part->offset, c->phase.start_ns,
                             &part->agent_start_ns, &part->start))
            part->start.uncertainty_ns = UINT64_MAX;
        if (part->start.uncertainty_ns >= uncertainty) {
            uncertainty = part->start.uncertainty_ns;
            worst = host;
        }
    }
    return worst;
}

static void refuse_clock(struct conductor *c, uint32_t worst)
{
    const struct part *part = &c->parts[worst];

    course_break(
        c, CONDUCT_ENDING_FAILED,
        "the clock of %s is known to %.3f ms only (round trips up to %.3f ms, "
        "%u probes), and start_tolerance is %.3f ms: use a quieter path to it, "
        "or raise start_tolerance",
        part_label(c, worst), (double)part->start.uncertainty_ns / 1e6,
        (double)offset_round_trip_max_ns(&part->offset) / 1e6, part->probes,
        (double)c->options.start_tolerance_ns / 1e6);
}

/* False where the clocks are not known well enough. */
static bool start_all(struct conductor *c, uint32_t *ret_worst)
{
    struct part *part;

    choose_instant(c);
    *ret_worst = translate_instant(c);
    if (c->parts[*ret_worst].start.uncertainty_ns >
        c->options.start_tolerance_ns)
        return false;
    c->barrier.state = BARRIER_STARTING;
    c->barrier.tries++;
    FOR_EACH_PART(c, host, part)
    {
        if (part_is_starter(part))
            order_start(c, host);
    }
    return true;
}

static void step_probing(struct conductor *c)
{
    bool late = c->now_ns >= c->barrier.limit_ns;
    uint32_t worst;

    if (part_count(c, is_unknown) > 0) {
        if (late)
            leave_out(c, is_unknown, "did not answer the clock probes");
        return;
    }
    if (start_all(c, &worst))
        return;
    if (late || c->parts[worst].probes >= CONDUCT_PROBES_MAX)
        refuse_clock(c, worst);
}

static void step_starting(struct conductor *c)
{
    uint32_t worst;

    if (c->now_ns < c->phase.start_ns - c->barrier.margin_ns)
        return;
    if (c->barrier.tries < TRIES_MAX) {
        char names[TEXT_SIZE];

        verdict_names(c, is_not_armed, names);
        effect_notice(c, "not armed in time, trying once more: %s", names);
    } else {
        leave_out(c, is_not_armed, "did not arm in time");
        if (c->phase.state != CONDUCT_ARMING)
            return;
    }
    if (!start_all(c, &worst))
        refuse_clock(c, worst);
}

bool barrier_is_armed(const struct conductor *c)
{
    return c->barrier.state == BARRIER_STARTING &&
           part_count(c, is_not_armed) == 0 &&
           c->now_ns < c->phase.start_ns - c->barrier.margin_ns;
}

void barrier_step(struct conductor *c)
{
    switch (c->barrier.state) {
    case BARRIER_PROBING:
        step_probing(c);
        break;
    case BARRIER_STARTING:
        step_starting(c);
        break;
    }
}

uint64_t barrier_due_ns(const struct conductor *c)
{
    if (c->barrier.state == BARRIER_PROBING)
        return c->barrier.limit_ns;
    return c->phase.start_ns - c->barrier.margin_ns;
}
