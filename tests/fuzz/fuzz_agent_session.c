/*
 * An agent's session in the hands of a mad controller and a mad world: sound
 * and unsound frames, news and time in any order.  Each input byte is a step,
 * the next one its argument.
 *
 * What must hold: the world is asked for nothing that does not fit (go before
 * arm, two jobs at once, a send without a connection), every job is given
 * back, load never runs beyond the lease, and nothing leaks.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/interlock.h"
#include "agent/inventory.h"
#include "agent/row.h"
#include "agent/session.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/agent/frames.h"

#define LEASE     (5 * NS_PER_S)
#define STEPS_MAX 2000

static struct {
    bool connected;
    bool dialling;
    bool prepared;
    bool armed;
    bool going;
    bool stopped;
    const struct job *job;
    uint64_t lease_ns;
    bool runs; /* a command */
    uint32_t inspects;
    uint64_t interval;
} world;

static const struct commands commands = {
    .items = {{"known", "/bin/true", NS_PER_S}},
    .count = 1,
};

static struct clock_manual now;
static struct session *session;

static void on_dial(void *context)
{
    (void)context;
    assert(!world.connected && !world.dialling);
    world.dialling = true;
}

static void on_send(void *context, const uint8_t *body, size_t length)
{
    (void)context;
    assert(world.connected);
    assert(body != NULL && length <= CODEC_BODY_MAX);
}

static size_t on_queued(void *context)
{
    (void)context;
    return now.now_ns % 3 == 0 ? SESSION_QUEUE_MAX : 0;
}

static void on_hang_up(void *context)
{
    (void)context;
    assert(world.connected || world.dialling);
    world.connected = false;
    world.dialling = false;
}

static void on_log(void *context, enum session_log level, const char *text)
{
    (void)context;
    (void)level;
    assert(text[0] != '\0');
}

static void on_look(void *context)
{
    (void)context;
}

static void on_inspect(void *context, const struct uuid *campaign,
                       struct interlock_wish *wishes, uint32_t count)
{
    (void)context;
    (void)campaign;
    assert(count > 0);
    world.inspects++;
    free(wishes);
}

static void on_prepare(void *context, const struct job *job)
{
    (void)context;
    assert(world.job == NULL);
    world.job = job;
    world.prepared = world.armed = world.going = world.stopped = false;
    world.interval = 0;
}

static int on_arm(void *context, uint64_t start_ns, struct diag *diag)
{
    (void)context;
    assert(world.prepared && !world.going);
    assert(start_ns > now.now_ns);
    if (now.now_ns % 7 == 0)
        return diag_set(diag, -ETIME, "no");
    world.armed = true;
    return 0;
}

static void on_go(void *context)
{
    (void)context;
    assert(world.armed && !world.going);
    assert(now.now_ns < world.lease_ns);
    world.going = true;
}

static void on_stop_after(void *context, uint64_t interval)
{
    (void)context;
    (void)interval;
    assert(world.going);
}

static void on_stop(void *context)
{
    (void)context;
    assert(world.going && !world.stopped);
    world.stopped = true;
}

static void on_lease(void *context, uint64_t deadline_ns)
{
    (void)context;
    assert(deadline_ns <= now.now_ns + LEASE);
    world.lease_ns = deadline_ns;
}

static void on_discard(void *context, struct job *job)
{
    (void)context;
    assert(job == world.job && job != NULL);
    world.job = NULL;
    (void)job_free(job);
}

static void on_release(void *context, const struct uuid *campaign)
{
    (void)context;
    (void)campaign;
    assert(world.job == NULL);
}

static void on_run(void *context, const struct command *command,
                   const struct uuid *campaign, uint32_t phase)
{
    (void)context;
    (void)campaign;
    (void)phase;
    /* By name alone, one at a time, and never beside work. */
    assert(command == &commands.items[0]);
    assert(!world.runs && world.job == NULL);
    world.runs = true;
}

static void on_end_run(void *context)
{
    (void)context;
    assert(world.runs);
    world.runs = false;
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

/* ---- Steps -------------------------------------------------------------- */

static void deliver(void)
{
    if (world.connected)
        session_frame(session, frame_made.data, frame_made.length, now.now_ns);
}

static struct work some_work(uint8_t argument)
{
    return (struct work){(argument & 0x80) == 0 ? frames_campaign
                                                : frames_other,
                         argument >> 4 & 3, 1 + (argument & 1)};
}

static void order(uint8_t what, uint8_t argument)
{
    struct work work = some_work(argument);
    uint64_t number = argument & 15;
    struct job *job;

    switch (what % 12) {
    case 0:
        frames_welcome(number == 9 ? &frames_other : &frames_controller,
                       1 + (number & 1), number == 10 ? 2 : 1);
        break;
    case 1:
        job = frames_job(work.phase, work.epoch);
        job->work.campaign = work.campaign;
        if (number == 15)
            job->cells[0].target = 9;
        frames_prepare(job);
        (void)job_free(job);
        break;
    case 2:
        frames_start(&work, now.now_ns + number * NS_PER_S / 4);
        break;
    case 3:
        frames_go(&work);
        break;
    case 4:
        frames_stop_after(&work, number);
        break;
    case 5:
        frames_abort(&work, "enough");
        break;
    case 6:
        frames_renew(&work);
        break;
    case 7:
        frames_ack(&work, number == 15 ? UINT64_MAX : number);
        break;
    case 8:
        frames_release(&work.campaign);
        break;
    case 9:
        frames_inspect(&work.campaign, "/dev/x", 1 + (uint32_t)number, 0);
        break;
    case 10:
        frames_command(&work, (uint32_t)number,
                       argument % 5 == 0   ? ""
                       : argument % 5 == 1 ? "unknown"
                                           : "known");
        break;
    default:
        frames_probe(argument);
        break;
    }
    deliver();
}

static void connection(uint8_t argument)
{
    if (world.dialling && argument % 2 == 0) {
        world.dialling = false;
        world.connected = true;
        session_connected(session);
    } else if (world.dialling || world.connected) {
        world.dialling = world.connected = false;
        session_disconnected(session, "cut");
    }
}

static void row(uint8_t argument)
{
    struct row_cell cells[JOB_OPS] = {{.errors = 1}, {.in_flight = 2}};
    struct row row = {
        .interval = world.interval,
        .spans = 1 + (argument & 1u),
        .kind = argument % 8 == 0 ? ROW_DRAIN : ROW_MEASURED,
        .cells = cells,
        .cell_count = 1,
    };

    if (world.job == NULL || !world.going)
        return;
    world.interval += row.spans;
    session_row(session, &row);
}

static void end_of_crew(uint8_t argument)
{
    struct phase_end end = {.outcome = argument % PHASE_OUTCOMES};

    if (world.job != NULL && world.armed)
        session_ended(session, &end);
}

static void answer(uint8_t argument)
{
    if (world.job == NULL || world.prepared)
        return;
    if (argument % 4 == 0) {
        session_refused(session, "sd1", "no");
    } else {
        world.prepared = true;
        session_prepared(session, 1, 1, NULL);
    }
}

static void command_ends(uint8_t argument)
{
    struct errand_result *result;

    if (!world.runs)
        return;
    world.runs = false;
    result = calloc(1, sizeof(*result));
    assert(result != NULL);
    result->end = argument % (ERRAND_REFUSED + 1);
    session_ran(session, result);
    free(result);
}

static void look(uint8_t argument)
{
    struct inventory inventory = {.host = {.cpus = argument}};
    struct codec_engine engine = {.name = "null"};
    struct interlock_facts *facts;

    session_inventory(session, &inventory, &engine);
    if (world.inspects == 0)
        return;
    facts = calloc(1, sizeof(*facts));
    assert(facts != NULL);
    world.inspects--;
    session_inspected(session, &frames_campaign, facts, 1);
    free(facts);
}

/* A byte whose square is time: from a microsecond to more than the lease. */
static void pass(uint8_t argument)
{
    clock_manual_advance(&now, (uint64_t)argument * argument * 100000 + 1000);
    session_tick(session);
    /* With the loop's help or without, load has an order to stop by then. */
    if (world.job != NULL && world.going && now.now_ns >= world.lease_ns)
        assert(world.stopped ||
               session_phase(session)->state == PHASE_DRAINING);
}

static void step(uint8_t what, uint8_t argument)
{
    if (what < 128)
        order(what, argument);
    else if (what < 150)
        connection(argument);
    else if (what < 180)
        answer(argument);
    else if (what < 200)
        row(argument);
    else if (what < 210)
        end_of_crew(argument);
    else if (what < 215)
        look(argument);
    else if (what < 220)
        session_waits(session);
    else if (what < 225)
        command_ends(argument);
    else if (what == 254 && argument == 254)
        session_stop(session, "told to end");
    else
        pass(argument);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct session_config config = {
        .name = "fuzzed",
        .instance = {{1}},
        .phase = {.lease_ns = LEASE},
        .unacknowledged_max = 4096,
        .commands = &commands,
    };

    memset(&world, 0, sizeof(world));
    clock_manual_init(&now, 1000 * NS_PER_S);
    session = session_new(&config, &now.clock, &doors, NULL);
    assert(session != NULL);
    session_start(session);
    for (size_t i = 0; i + 1 < size && i < STEPS_MAX; i += 2) {
        if (data[i] == 255 && world.connected) {
            /* What follows is a frame as it is. */
            size_t length = data[i + 1];

            if (length > size - i - 2)
                length = size - i - 2;
            session_frame(session, data + i + 2, length, now.now_ns);
            i += length;
        } else {
            step(data[i], data[i + 1]);
        }
        assert(session_due_ns(session) > 0);
        assert(world.job == session_phase(session)->job);
    }
    session = session_free(session);
    assert(world.job == NULL);
    return 0;
}
