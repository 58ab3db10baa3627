#include "tests/sim/host.h"

#include "agent/interlock.h"
#include "agent/inventory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_NS 100000u

static const struct session_world doors;

/* ---- Time ---------------------------------------------------------------- */

uint64_t host_clock_ns(const struct host *h, uint64_t true_ns)
{
    return (uint64_t)(h->clock_base_ns +
                      (int64_t)((double)true_ns * h->clock_rate));
}

static uint64_t clock_now(const struct clock *clock)
{
    const struct host *h = (const struct host *)(const void *)clock;

    return host_clock_ns(h, world_now(h->world));
}

static int64_t wall_now(const struct clock *clock)
{
    return (int64_t)clock_now(clock);
}

/* When its clock reads so much, or a microsecond later. */
static uint64_t true_ns(const struct host *h, uint64_t clock_ns)
{
    double at = (double)((int64_t)clock_ns - h->clock_base_ns) / h->clock_rate;

    return at < 0 ? 0 : (uint64_t)at + 1000;
}

static bool is_frozen(const struct host *h)
{
    return world_now(h->world) < h->thaw_ns;
}

static bool is_of(struct host *h, uint64_t token, uint64_t now,
                  world_happening *happen)
{
    if (token != now || h->session == NULL)
        return false;
    if (!is_frozen(h))
        return true;
    world_at(h->world, h->thaw_ns, happen, h, token);
    return false;
}

/* A step of this life; for a stopped process it comes when it goes on. */
static bool is_due(struct host *h, uint64_t life, world_happening *happen)
{
    return is_of(h, life, h->life, happen);
}

/* A step of the workers; void when they have other work. */
static bool is_crew_due(struct host *h, uint64_t work, world_happening *happen)
{
    return is_of(h, work, h->work, happen);
}

static void on_tick(void *context, uint64_t life);

/* After every call into the session: the loop goes to wait. */
static void wait_again(struct host *h)
{
    uint64_t due, at;

    if (h->session == NULL)
        return;
    session_waits(h->session);
    due = session_due_ns(h->session);
    if (due == UINT64_MAX)
        return;
    at = true_ns(h, due);
    if (at < world_now(h->world))
        at = world_now(h->world);
    if (h->tick_ns >= world_now(h->world) && h->tick_ns <= at)
        return;
    h->tick_ns = at;
    world_at(h->world, at, on_tick, h, h->life);
}

static void on_tick(void *context, uint64_t life)
{
    struct host *h = context;

    if (!is_due(h, life, on_tick))
        return;
    h->tick_ns = 0;
    session_tick(h->session);
    wait_again(h);
}

/* ---- Workers ---------------------------------------------------------------
 */

static void crew_at(struct host *h, uint64_t at_ns, world_happening *happen)
{
    world_at(h->world, at_ns, happen, h, h->work);
}

static struct truth_part *truth_of(struct host *h)
{
    return &h->truth->parts[h->job->work.phase][h->index];
}

static enum row_kind kind_of(const struct host *h, bool drain)
{
    if (drain)
        return ROW_DRAIN;
    return h->rows < h->job->warmup_intervals ? ROW_WARMUP : ROW_MEASURED;
}

/* A row of one interval, and of those that the sampler missed; `end_ns` on its
 * clock. */
static void make_row(struct host *h, bool drain, uint64_t end_ns)
{
    uint32_t missed = drain ? 0 : h->missed;
    static struct row_cell cells[2 * JOB_CELLS_MAX];
    static struct histogram service;
    uint64_t ios = world_between(h->world, 1, 1000);
    struct row row = {
        .interval = h->rows - missed,
        .spans = 1 + missed,
        .kind = kind_of(h, drain),
        .begin_ns = h->start_ns + (h->rows - missed) * h->job->interval_ns,
        .end_ns = end_ns,
        .opened_first_ns = h->start_ns + 1000,
        .opened_last_ns = h->start_ns + 2000,
        .cells = cells,
        .cell_count = h->job->cell_count,
    };

    if (drain && h->rows > 0)
        row.begin_ns = end_ns > 1000 ? end_ns - 1000 : 0;
    memset(cells, 0, 2 * h->job->cell_count * sizeof(cells[0]));
    histogram_init(&service);
    histogram_record_many(&service, LATENCY_NS, ios);
    cells[JOB_READ].ios = ios;
    cells[JOB_READ].bytes = ios * 4096;
    cells[JOB_READ].service = &service;
    h->missed = drain ? h->missed : 0;
    h->rows++;
    truth_of(h)->rows++;
    truth_of(h)->ios += ios;
    if (row.kind == ROW_MEASURED)
        truth_of(h)->measured_ios += ios;
    session_row(h->session, &row);
}

static void crew_drained(void *context, uint64_t work)
{
    struct host *h = context;

    if (!is_crew_due(h, work, crew_drained))
        return;
    truth_of(h)->complete =
        h->rows == h->job->warmup_intervals + h->job->measured_intervals &&
        h->end.outcome == PHASE_COMPLETE && h->end.stuck_total == 0;
    h->crew = CREW_ENDED;
    h->end.intervals = h->rows;
    make_row(h, true, clock_now(&h->clock));
    session_ended(h->session, &h->end);
    wait_again(h);
}

static void crew_quiet(void *context, uint64_t work)
{
    struct host *h = context;

    if (is_crew_due(h, work, crew_quiet))
        truth_stops(h->truth, h->index, h->job->work.phase);
}

static void crew_drain(struct host *h, enum phase_outcome outcome)
{
    uint64_t takes = world_between(h->world, 0, 20 * NS_PER_MS);

    h->work++;
    h->crew = CREW_DRAINING;
    memset(&h->end, 0, sizeof(h->end));
    h->end.outcome = outcome;
    if (outcome != PHASE_COMPLETE)
        (void)snprintf(h->end.reason, sizeof(h->end.reason),
                       "the workers "
                       "stopped");
    crew_at(h, world_now(h->world) + takes, crew_quiet);
    if (world_chance(h->world, h->sticks)) {
        h->end.stuck_total = 3;
        takes = h->job->drain_limit_ns;
    }
    crew_at(h, world_now(h->world) + takes, crew_drained);
}

/* No new I/O, whoever says so; the interval at hand is short. */
static void crew_stop(struct host *h, enum phase_outcome outcome)
{
    uint64_t now = clock_now(&h->clock);
    uint64_t begin = h->start_ns + h->rows * h->job->interval_ns;

    make_row(h, false, now > begin ? now : begin + 1);
    crew_drain(h, outcome);
}

static void crew_told(void *context, uint64_t work)
{
    struct host *h = context;

    if (!is_crew_due(h, work, crew_told))
        return;
    crew_stop(h, PHASE_COMPLETE);
    wait_again(h);
}

static void crew_ends_unopened(void *context, uint64_t work)
{
    struct host *h = context;

    if (!is_crew_due(h, work, crew_ends_unopened))
        return;
    h->crew = CREW_ENDED;
    session_ended(h->session, &h->end);
    wait_again(h);
}

/* A sampler that is frozen over three edges hands over one row for them. */
static bool misses_edge(struct host *h, uint64_t all)
{
    bool may = h->rows >= h->job->warmup_intervals && h->rows + 3 <= all &&
               h->stop_after == UINT64_MAX;

    if (h->lag == 0 && h->missed == 0 && may &&
        world_chance(h->world, h->lags)) {
        world_trace(h->world, "host%u: the sampler is late", h->index);
        h->lag = 2;
    }
    if (h->lag == 0)
        return false;
    h->lag--;
    h->missed++;
    return true;
}

static void crew_edge(void *context, uint64_t work)
{
    struct host *h = context;
    const struct job *job = h->job;
    uint64_t all;

    if (!is_crew_due(h, work, crew_edge))
        return;
    all = job->warmup_intervals + job->measured_intervals;
    if (misses_edge(h, all))
        h->rows++;
    else
        make_row(h, false, h->start_ns + (h->rows + 1) * job->interval_ns);
    if (h->rows == all || h->rows > h->stop_after)
        crew_drain(h, PHASE_COMPLETE);
    else
        crew_at(h, true_ns(h, h->start_ns + (h->rows + 1) * job->interval_ns),
                crew_edge);
    wait_again(h);
}

static void crew_opens(void *context, uint64_t work)
{
    struct host *h = context;

    if (!is_crew_due(h, work, crew_opens) || h->crew != CREW_WAITING)
        return;
    if (clock_now(&h->clock) < h->start_ns || !h->may_go)
        return; /* armed anew for later, or to be disarmed */
    h->work++;
    h->crew = CREW_GOING;
    truth_of(h)->late = clock_now(&h->clock) > h->start_ns + 25 * NS_PER_US;
    truth_opens(h->truth, h->index, h->job->work.phase, h->job->work.epoch);
    crew_at(h, true_ns(h, h->start_ns + h->job->interval_ns), crew_edge);
}

static void crew_check_lease(void *context, uint64_t life)
{
    struct host *h = context;

    if (!is_due(h, life, crew_check_lease) || h->crew != CREW_GOING ||
        clock_now(&h->clock) < h->deadline_ns)
        return;
    world_trace(h->world, "host%u: the lease is over", h->index);
    crew_stop(h, PHASE_LEASE_LOST);
    wait_again(h);
}

static void crew_prepared(void *context, uint64_t work)
{
    struct host *h = context;

    if (!is_crew_due(h, work, crew_prepared))
        return;
    h->crew = CREW_WAITING;
    if (world_chance(h->world, h->refuses))
        session_refused(h->session, "sd1", "no such drive");
    else
        session_prepared(h->session, 1, 1 << 20, NULL);
    wait_again(h);
}

/* ---- What the session asks of the workers
 * ------------------------------------ */

static void on_prepare(void *context, const struct job *job)
{
    struct host *h = context;

    REQUIRE(h->world, h->crew == CREW_GONE);
    h->work++;
    h->crew = CREW_OPENING;
    h->job = job;
    h->start_ns = 0;
    h->may_go = false;
    h->stop_after = UINT64_MAX;
    h->rows = 0;
    h->lag = 0;
    h->missed = 0;
    memset(&h->end, 0, sizeof(h->end));
    crew_at(h,
            world_now(h->world) +
                world_between(h->world, h->prepare_ns / 2, h->prepare_ns),
            crew_prepared);
}

static int on_arm(void *context, uint64_t start_ns, struct diag *diag)
{
    struct host *h = context;

    (void)diag;
    REQUIRE(h->world, h->crew == CREW_WAITING);
    h->start_ns = start_ns;
    crew_at(h, true_ns(h, start_ns), crew_opens);
    return 0;
}

static void on_go(void *context)
{
    struct host *h = context;

    REQUIRE(h->world, h->start_ns != 0);
    h->may_go = true;
}

static void on_stop_after(void *context, uint64_t interval)
{
    ((struct host *)context)->stop_after = interval;
}

/* Answered by session_ended(), later: rows come as calls of their own. */
static void on_stop(void *context)
{
    struct host *h = context;

    if (h->crew == CREW_GOING) {
        crew_at(h, world_now(h->world), crew_told);
    } else if (h->crew == CREW_WAITING) {
        h->work++;
        crew_at(h, world_now(h->world), crew_ends_unopened);
    }
}

static void on_lease(void *context, uint64_t deadline_ns)
{
    struct host *h = context;

    h->deadline_ns = deadline_ns;
    if (deadline_ns != UINT64_MAX)
        world_at(h->world, true_ns(h, deadline_ns), crew_check_lease, h,
                 h->life);
}

static void on_discard(void *context, struct job *job)
{
    struct host *h = context;

    REQUIRE(h->world, h->crew != CREW_GOING && job == h->job);
    h->work++;
    h->crew = CREW_GONE;
    h->job = NULL;
    (void)job_free(job);
}

static void on_release(void *context, const struct uuid *campaign)
{
    const struct host *h = context;

    (void)campaign;
    REQUIRE(h->world, h->crew == CREW_GONE);
}

/* ---- What it asks of the host
 * ------------------------------------------------- */

static void looked(void *context, uint64_t life)
{
    static const struct inventory nothing;
    static const struct codec_engine engine = {.name = "none"};
    struct host *h = context;

    if (!is_due(h, life, looked))
        return;
    session_inventory(h->session, &nothing, &engine);
    wait_again(h);
}

static void on_look(void *context)
{
    struct host *h = context;

    world_at(h->world, world_now(h->world) + NS_PER_MS, looked, h, h->life);
}

static void inspected(void *context, uint64_t life)
{
    struct host *h = context;
    struct interlock_facts *facts;

    if (!is_due(h, life, inspected))
        return;
    facts = calloc(h->inspect.count, sizeof(*facts));
    assert(facts != NULL);
    for (uint32_t i = 0; i < h->inspect.count; i++) {
        facts[i].kind = INTERLOCK_BLOCK;
        facts[i].size_bytes = 64u << 20;
        facts[i].logical_block = 512;
        facts[i].device_number = i + 1;
        (void)snprintf(facts[i].device, PATH_SIZE, "/dev/fake%u", i);
        (void)snprintf(facts[i].serial, TEXT_SIZE, "H%u-%u", h->index, i);
    }
    session_inspected(h->session, &h->inspect.campaign, facts,
                      h->inspect.count);
    free(facts);
    wait_again(h);
}

static void on_inspect(void *context, const struct uuid *campaign,
                       struct interlock_wish *wishes, uint32_t count)
{
    struct host *h = context;

    free(wishes);
    h->inspect.campaign = *campaign;
    h->inspect.count = count;
    world_at(h->world, world_now(h->world) + NS_PER_MS, inspected, h, h->life);
}

static void on_log(void *context, enum session_log level, const char *text)
{
    const struct host *h = context;

    (void)level;
    world_trace(h->world, "host%u: %s", h->index, text);
}

/* ---- Its connection
 * ------------------------------------------------------------- */

static void dialled(void *context, uint64_t life)
{
    struct host *h = context;

    if (!is_due(h, life, dialled))
        return;
    if (cable_dial(&h->cable)) {
        h->connected = true;
        h->connection = h->cable.connection;
        session_connected(h->session);
    } else {
        session_disconnected(h->session, "no route to host");
    }
    wait_again(h);
}

static void on_dial(void *context)
{
    struct host *h = context;

    world_at(h->world, world_now(h->world) + NS_PER_MS, dialled, h, h->life);
}

static void on_send(void *context, const uint8_t *body, size_t length)
{
    struct host *h = context;

    REQUIRE(h->world, h->connected);
    cable_send(&h->cable, 0, body, length);
}

static size_t on_queued(void *context)
{
    (void)context;
    return 0;
}

static void on_hang_up(void *context)
{
    struct host *h = context;

    if (h->connected)
        cable_close(&h->cable, 0);
    h->connected = false;
}

static void forget_inbox(struct host *h)
{
    for (uint32_t i = 0; i < h->inbox_count; i++)
        free(h->inbox[i].body);
    h->inbox_count = 0;
}

static void keep(struct host *h, const void *bytes, size_t length)
{
    struct host_frame *frame = &h->inbox[h->inbox_count];

    REQUIRE(h->world, h->inbox_count < HOST_FRAMES);
    frame->body = malloc(length);
    assert(frame->body != NULL);
    memcpy(frame->body, bytes, length);
    frame->length = length;
    h->inbox_count++;
}

static void hear(struct host *h, const void *bytes, size_t length)
{
    session_frame(h->session, bytes, length, clock_now(&h->clock));
    wait_again(h);
}

static void on_message(void *context, uint64_t connection, const void *bytes,
                       size_t length)
{
    struct host *h = context;

    if (h->session == NULL || !h->connected || connection != h->connection)
        return;
    if (is_frozen(h))
        keep(h, bytes, length);
    else
        hear(h, bytes, length);
}

static void closed(void *context, uint64_t connection)
{
    struct host *h = context;

    if (h->session == NULL || !h->connected || connection != h->connection)
        return;
    if (is_frozen(h)) {
        world_at(h->world, h->thaw_ns + 1, closed, h, connection);
        return;
    }
    h->connected = false;
    session_disconnected(h->session, "connection reset");
    wait_again(h);
}

static void on_closed(void *context, uint64_t connection)
{
    closed(context, connection);
}

static void errand_done(void *context, uint64_t token)
{
    struct host *h = context;
    struct errand_result *result;

    if (!is_of(h, token, h->errand, errand_done))
        return; /* killed, or the process died */
    h->errand = 0;
    result = calloc(1, sizeof(*result));
    REQUIRE(h->world, result != NULL);
    session_ran(h->session, result);
    free(result);
    wait_again(h);
}

/* One at a time, and never beside I/O. */
static void on_run(void *context, const struct command *command,
                   const struct uuid *campaign, uint32_t phase)
{
    struct host *h = context;

    (void)command;
    (void)campaign;
    (void)phase;
    REQUIRE(h->world, h->errand == 0 && h->crew == CREW_GONE);
    h->errand = ++h->errands;
    world_at(h->world,
             world_now(h->world) +
                 world_between(h->world, NS_PER_MS, 300 * NS_PER_MS),
             errand_done, h, h->errand);
}

static void on_end_run(void *context)
{
    struct host *h = context;

    REQUIRE(h->world, h->errand != 0);
    h->errand = 0;
}

static const struct session_world doors = {
    .dial = on_dial,
    .send = on_send,
    .queued = on_queued,
    .hang_up = on_hang_up,
    .log = on_log,
    .look = on_look,
    .inspect = on_inspect,
    .prepare = on_prepare,
    .arm = on_arm,
    .go = on_go,
    .stop_after = on_stop_after,
    .stop = on_stop,
    .lease = on_lease,
    .discard = on_discard,
    .release = on_release,
    .run = on_run,
    .end_run = on_end_run,
};

/* ---- Life and death
 * --------------------------------------------------------------- */

void host_start(struct host *h)
{
    static const struct commands commands = {
        .items = {{"ready", "/bin/true", NS_PER_S}},
        .count = 1,
    };
    struct session_config config = {
        .commands = &commands,
        .phase = {.lease_ns = h->lease_ns, .finish_on_lease_lost = h->finishes},
    };

    if (h->session != NULL)
        return;
    (void)snprintf(config.name, sizeof(config.name), "host%u", h->index);
    config.instance.bytes[0] = ++h->instance;
    config.instance.bytes[1] = (uint8_t)(h->index + 1);
    config.boot.bytes[0] = (uint8_t)(h->boot + 1);
    config.boot.bytes[1] = (uint8_t)(h->index + 1);
    h->session = session_new(&config, &h->clock, &doors, h);
    assert(h->session != NULL);
    h->crew = CREW_GONE;
    session_start(h->session);
    wait_again(h);
}

/* What the process had goes with it. */
static void bury(struct host *h)
{
    if (h->crew == CREW_GOING || h->crew == CREW_DRAINING) {
        truth_stops(h->truth, h->index, h->job->work.phase);
        h->crew = CREW_ENDED;
    }
    h->session = session_free(h->session);
    h->connected = false;
    h->crew = CREW_GONE;
    h->tick_ns = 0;
    h->life++;
    h->work++;
    h->thaw_ns = 0;
    forget_inbox(h);
}

void host_die(struct host *h, bool power, uint64_t notice_ns)
{
    if (h->session == NULL)
        return;
    world_trace(h->world, "host%u %s", h->index,
                power ? "loses power" : "is killed");
    cable_cut(&h->cable, CABLE_BOTH, 0, notice_ns / 2, notice_ns);
    bury(h);
    if (!power)
        return;
    h->boot++;
    h->clock_base_ns = (int64_t)world_between(h->world, 0, NS_PER_S) -
                       (int64_t)((double)world_now(h->world) * h->clock_rate);
}

static void thaw(void *context, uint64_t life)
{
    struct host *h = context;
    uint64_t now = clock_now(&h->clock);
    bool ticks_first = world_chance(h->world, 0.5);

    if (life != h->life || h->session == NULL || is_frozen(h))
        return;
    world_trace(h->world, "host%u thaws", h->index);
    /* Workers look at their deadline and their last edge before all else. */
    if (h->crew == CREW_GOING && now < h->deadline_ns &&
        now < h->start_ns +
                  (h->job->warmup_intervals + h->job->measured_intervals) *
                      h->job->interval_ns)
        truth_resumes(h->truth, h->index, h->job->work.phase);
    if (ticks_first)
        session_tick(h->session);
    for (uint32_t i = 0; i < h->inbox_count; i++)
        if (h->connected)
            session_frame(h->session, h->inbox[i].body, h->inbox[i].length,
                          clock_now(&h->clock));
    forget_inbox(h);
    wait_again(h);
}

void host_freeze(struct host *h, uint64_t for_ns)
{
    if (h->session == NULL || is_frozen(h))
        return;
    world_trace(h->world, "host%u freezes for %.3f s", h->index,
                (double)for_ns / 1e9);
    truth_pauses(h->truth, h->index);
    h->thaw_ns = world_now(h->world) + for_ns;
    world_at(h->world, h->thaw_ns, thaw, h, h->life);
}

void host_init(struct host *h, struct world *world, struct truth *truth,
               uint32_t index)
{
    memset(h, 0, sizeof(*h));
    h->clock = (struct clock){clock_now, wall_now};
    h->world = world;
    h->truth = truth;
    h->index = index;
    h->clock_rate = 1;
    cable_init(&h->cable, world);
    h->cable.sides[0] = (struct cable_side){on_message, on_closed, h};
}

void host_done(struct host *h)
{
    if (h->session != NULL)
        bury(h);
    cable_done(&h->cable);
}
