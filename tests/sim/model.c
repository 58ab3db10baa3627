#include "tests/sim/model.h"

#include "controller/conduct/conduct.h"

#include <string.h>

/* A step of the work that is at hand; void when that has changed. */
static void at(struct model *m, uint64_t at_ns, world_happening *happen)
{
    world_at(m->world, at_ns, happen, m, m->work);
}

static bool is_frozen(const struct model *m)
{
    return world_now(m->world) < m->thaw_ns;
}

/* Time does not pass for who is stopped: the step comes when it goes on. */
static bool is_due(struct model *m, uint64_t work, world_happening *happen)
{
    if (work != m->work || !m->alive)
        return false;
    if (!is_frozen(m))
        return true;
    world_at(m->world, m->thaw_ns, happen, m, work);
    return false;
}

uint64_t model_clock_ns(const struct model *m, uint64_t true_ns)
{
    return (uint64_t)(m->clock_base_ns +
                      (int64_t)((double)true_ns * m->clock_rate));
}

static uint64_t true_ns(const struct model *m, uint64_t clock_ns)
{
    double at = (double)((int64_t)clock_ns - m->clock_base_ns) / m->clock_rate;

    return at < 0 ? 0 : (uint64_t)at;
}

static void say(struct model *m, struct message message)
{
    if (m->connected)
        cable_send(&m->cable, 0, &message, sizeof(message));
}

static void say_row(struct model *m, uint64_t row)
{
    say(m, (struct message){.kind = MESSAGE_SAMPLE,
                            .phase = m->phase,
                            .value = row,
                            .second = m->ios[row],
                            .third = m->start_ns});
}

static void say_finished(struct model *m)
{
    say(m, (struct message){.kind = MESSAGE_FINISHED,
                            .phase = m->phase,
                            .value = m->outcome,
                            .second = m->drain_row,
                            .third = m->stuck});
}

/* ---- The end of work ----------------------------------------------------- */

static void hold(struct model *m)
{
    m->work++;
    m->state = MODEL_HOLDING;
    say_finished(m);
}

static void make_row(struct model *m)
{
    REQUIRE(m->world, m->rows_made < MODEL_ROWS);
    m->ios[m->rows_made] = world_between(m->world, 1, 1000);
    m->truth->parts[m->phase][m->index].ios += m->ios[m->rows_made];
    m->truth->parts[m->phase][m->index].rows++;
    say_row(m, m->rows_made++);
}

/* Nothing completes any more; what is stuck never will. */
static void quiet(void *context, uint64_t work)
{
    struct model *m = context;

    if (is_due(m, work, quiet))
        truth_stops(m->truth, m->index, m->phase);
}

static void drained(void *context, uint64_t work)
{
    struct model *m = context;

    if (!is_due(m, work, drained))
        return;
    m->drain_row = m->rows_made;
    make_row(m);
    m->truth->parts[m->phase][m->index].complete =
        m->outcome == CONDUCT_OUTCOME_COMPLETE && m->stuck == 0;
    hold(m);
}

static void drain(struct model *m, enum conduct_outcome outcome)
{
    uint64_t takes = world_between(m->world, 0, 20 * NS_PER_MS);

    m->work++;
    m->outcome = outcome;
    m->state = MODEL_DRAINING;
    m->stuck = world_chance(m->world, m->sticks) ? 3 : 0;
    at(m, world_now(m->world) + takes, quiet);
    if (m->stuck > 0)
        takes = m->drain_limit_ns;
    at(m, world_now(m->world) + takes, drained);
}

/* Ends what it has, in any state. */
static void stop(struct model *m, enum conduct_outcome outcome)
{
    switch (m->state) {
    case MODEL_PREPARING:
    case MODEL_READY:
    case MODEL_ARMED:
        m->outcome = outcome;
        hold(m);
        break;
    case MODEL_RUNNING: /* the interval at hand is short */
        make_row(m);
        drain(m, outcome);
        break;
    case MODEL_IDLE:
    case MODEL_DRAINING:
    case MODEL_HOLDING:
        break;
    }
}

/* ---- Its work ------------------------------------------------------------ */

static void edge(void *context, uint64_t work)
{
    struct model *m = context;

    if (!is_due(m, work, edge))
        return;
    make_row(m);
    if (m->rows_made == m->intervals || m->rows_made > m->stop_after)
        drain(m, CONDUCT_OUTCOME_COMPLETE);
    else
        at(m, true_ns(m, m->start_ns + (m->rows_made + 1) * m->interval_ns),
           edge);
}

static void open_schedule(void *context, uint64_t work)
{
    struct model *m = context;

    if (!is_due(m, work, open_schedule))
        return;
    if (model_clock_ns(m, world_now(m->world)) + 1000 < m->start_ns)
        return; /* armed anew for later */
    if (!m->may_go) {
        stop(m, CONDUCT_OUTCOME_NO_GO);
        return;
    }
    m->work++;
    m->state = MODEL_RUNNING;
    m->truth->parts[m->phase][m->index].late =
        model_clock_ns(m, world_now(m->world)) > m->start_ns + 25 * NS_PER_US;
    truth_opens(m->truth, m->index, m->phase, 0);
    at(m, true_ns(m, m->start_ns + m->interval_ns), edge);
}

static void check_lease(struct model *m)
{
    bool running = m->state == MODEL_RUNNING;

    if (m->state == MODEL_IDLE || m->state >= MODEL_DRAINING ||
        world_now(m->world) < m->deadline_ns || (running && m->finishes))
        return;
    world_trace(m->world, "host%u lease lost", m->index);
    stop(m, CONDUCT_OUTCOME_LEASE_LOST);
}

static void lease_over(void *context, uint64_t life)
{
    struct model *m = context;

    if (life != m->life || !m->alive || is_frozen(m))
        return; /* whoever thaws looks for himself */
    check_lease(m);
}

/* A Renew may have waited since the last look: the lease runs from there. */
static void extend_lease(struct model *m)
{
    uint64_t deadline = m->turn_ns + m->lease_ns;

    if (deadline < m->deadline_ns)
        return;
    m->deadline_ns = deadline;
    world_at(m->world, deadline, lease_over, m, m->life);
}

static void prepared(void *context, uint64_t work)
{
    struct model *m = context;

    if (!is_due(m, work, prepared))
        return;
    if (world_chance(m->world, m->refuses)) {
        m->work++;
        m->state = MODEL_IDLE;
        say(m, (struct message){.kind = MESSAGE_REFUSED, .phase = m->phase});
        return;
    }
    m->state = MODEL_READY;
    say(m, (struct message){.kind = MESSAGE_READY, .phase = m->phase});
}

static void prepare(struct model *m, const struct message *message)
{
    /* A controller that knows what it does asks nobody whose hands are full. */
    REQUIRE(m->world, m->state == MODEL_IDLE);
    REQUIRE(m->world, m->command == m->command_done);
    m->work++;
    m->state = MODEL_PREPARING;
    m->phase = message->phase;
    m->interval_ns = message->value;
    m->intervals = message->second;
    m->stop_after = UINT64_MAX;
    m->start_ns = 0;
    m->may_go = false;
    m->outcome = CONDUCT_OUTCOME_COMPLETE;
    m->stuck = 0;
    m->rows_made = 0;
    m->drain_row = 0;
    m->acknowledged = 0;
    m->deadline_ns = 0;
    extend_lease(m);
    at(m,
       world_now(m->world) +
           world_between(m->world, m->prepare_ns / 2, m->prepare_ns),
       prepared);
}

static void arm(struct model *m, uint64_t start_ns)
{
    if (m->state != MODEL_READY && m->state != MODEL_ARMED)
        return;
    if (true_ns(m, start_ns) < world_now(m->world))
        return; /* too late: another may come */
    m->state = MODEL_ARMED;
    m->start_ns = start_ns;
    m->may_go = false;
    at(m, true_ns(m, start_ns) + world_between(m->world, 0, 20 * NS_PER_US),
       open_schedule);
    say(m, (struct message){
               .kind = MESSAGE_ARMED, .phase = m->phase, .value = start_ns});
}

static void acknowledge(struct model *m, uint64_t next)
{
    if (next > m->acknowledged)
        m->acknowledged = next;
    if (m->state == MODEL_HOLDING && m->acknowledged >= m->rows_made) {
        m->work++;
        m->state = MODEL_IDLE;
    }
}

static void say_commanded(struct model *m)
{
    say(m, (struct message){.kind = MESSAGE_COMMANDED,
                            .value = m->command_done,
                            .second = m->command_done % 50 == 49});
}

static void command_ends(void *context, uint64_t life)
{
    struct model *m = context;

    if (life != m->command_life || !m->alive)
        return;
    if (is_frozen(m)) {
        world_at(m->world, m->thaw_ns, command_ends, m, life);
        return;
    }
    m->command_done = m->command;
    say_commanded(m);
}

/* Never beside work, and only one at a time. */
static void run_command(struct model *m, uint64_t number)
{
    REQUIRE(m->world, m->state == MODEL_IDLE);
    if (number == m->command) {
        if (m->command_done == number)
            say_commanded(m);
        return;
    }
    REQUIRE(m->world, m->command == m->command_done);
    m->command = number;
    world_at(m->world,
             world_now(m->world) +
                 world_between(m->world, NS_PER_MS, 300 * NS_PER_MS),
             command_ends, m, ++m->command_life);
}

/* Kills what runs. */
static void end_command(struct model *m)
{
    m->command_life++;
    m->command = m->command_done = 0;
}

static void handle(struct model *m, const struct message *message)
{
    bool mine = m->state != MODEL_IDLE && message->phase == m->phase;

    switch (message->kind) {
    case MESSAGE_PROBE: {
        uint64_t now = model_clock_ns(m, world_now(m->world));

        say(m, (struct message){.kind = MESSAGE_REPLY,
                                .value = message->value,
                                .second = now,
                                .third = now});
        break;
    }
    case MESSAGE_PREPARE:
        prepare(m, message);
        break;
    case MESSAGE_START:
        if (mine)
            arm(m, message->value);
        break;
    case MESSAGE_GO:
        if (mine)
            m->may_go = true;
        break;
    case MESSAGE_STOP_AFTER:
        if (mine && message->value >= m->rows_made)
            m->stop_after = message->value;
        break;
    case MESSAGE_ABORT:
        if (mine)
            stop(m, CONDUCT_OUTCOME_STOPPED);
        break;
    case MESSAGE_RENEW:
        if (m->state != MODEL_IDLE && world_now(m->world) < m->deadline_ns)
            extend_lease(m);
        break;
    case MESSAGE_ACK:
        if (mine)
            acknowledge(m, message->value);
        break;
    case MESSAGE_RELEASE:
        stop(m, CONDUCT_OUTCOME_STOPPED);
        if (m->state == MODEL_HOLDING) {
            m->work++;
            m->state = MODEL_IDLE;
        }
        break;
    case MESSAGE_COMMAND:
        if (message->second == 0)
            end_command(m);
        else
            run_command(m, message->value);
        break;
    default:
        REQUIRE(m->world, !"a message for an agent");
    }
}

/* ---- Its connection ------------------------------------------------------ */

static void say_hello(struct model *m)
{
    say(m, (struct message){.kind = MESSAGE_HELLO,
                            .phase = m->phase,
                            .value = m->state,
                            .second = m->instance,
                            .third = m->boot});
    if (m->state == MODEL_IDLE)
        return;
    for (uint64_t row = m->acknowledged; row < m->rows_made; row++)
        say_row(m, row);
    if (m->state == MODEL_HOLDING)
        say_finished(m);
}

static void dial(void *context, uint64_t life)
{
    struct model *m = context;

    if (life != m->life || !m->alive || m->connected)
        return;
    if (is_frozen(m)) {
        world_at(m->world, m->thaw_ns, dial, m, life);
        return;
    }
    if (!cable_dial(&m->cable)) {
        world_at(m->world, world_now(m->world) + NS_PER_S, dial, m, life);
        return;
    }
    m->connected = true;
    m->connection = m->cable.connection;
    say_hello(m);
}

static void on_message(void *context, uint64_t connection, const void *bytes,
                       size_t length)
{
    struct model *m = context;
    struct message message;

    if (!m->alive || !m->connected || connection != m->connection)
        return;
    REQUIRE(m->world, length == sizeof(message));
    memcpy(&message, bytes, sizeof(message));
    if (is_frozen(m)) {
        if (m->inbox_count < 256)
            m->inbox[m->inbox_count++] = message;
        return;
    }
    m->turn_ns = world_now(m->world);
    check_lease(m);
    handle(m, &message);
}

static void on_closed(void *context, uint64_t connection)
{
    struct model *m = context;

    if (!m->connected || connection != m->connection)
        return;
    m->connected = false;
    world_at(m->world,
             world_now(m->world) +
                 world_between(m->world, 50 * NS_PER_MS, NS_PER_S),
             dial, m, m->life);
}

/* ---- Misfortunes --------------------------------------------------------- */

/* When its workers submit no more, whatever else happens. */
static uint64_t end_ns(const struct model *m)
{
    return true_ns(m, m->start_ns + m->intervals * m->interval_ns);
}

static void thaw(void *context, uint64_t life)
{
    struct model *m = context;

    if (life != m->life || !m->alive || is_frozen(m))
        return;
    world_trace(m->world, "host%u thaws", m->index);
    check_lease(m);
    if (m->state == MODEL_RUNNING && world_now(m->world) < end_ns(m))
        truth_resumes(m->truth, m->index, m->phase);
    for (uint32_t i = 0; i < m->inbox_count; i++)
        if (m->connected)
            handle(m, &m->inbox[i]);
    m->inbox_count = 0;
    m->turn_ns = world_now(m->world);
}

void model_freeze(struct model *m, uint64_t for_ns)
{
    if (!m->alive || is_frozen(m))
        return;
    world_trace(m->world, "host%u freezes for %.3f s", m->index,
                (double)for_ns / 1e9);
    truth_pauses(m->truth, m->index);
    m->turn_ns = world_now(m->world);
    m->thaw_ns = world_now(m->world) + for_ns;
    world_at(m->world, m->thaw_ns, thaw, m, m->life);
}

void model_die(struct model *m, bool power, uint64_t notice_ns)
{
    if (!m->alive)
        return;
    world_trace(m->world, "host%u %s", m->index,
                power ? "loses power" : "is killed");
    end_command(m);
    if (m->state == MODEL_RUNNING || m->state == MODEL_DRAINING)
        truth_stops(m->truth, m->index, m->phase);
    m->alive = false;
    m->connected = false;
    m->state = MODEL_IDLE;
    m->life++;
    m->work++;
    m->inbox_count = 0;
    m->thaw_ns = 0;
    cable_cut(&m->cable, CABLE_BOTH, 0, notice_ns / 2, notice_ns);
    if (power) {
        m->boot++;
        m->clock_base_ns = (int64_t)world_between(m->world, 0, NS_PER_S) -
                           (int64_t)world_now(m->world);
    }
}

void model_start(struct model *m)
{
    if (m->alive)
        return;
    m->alive = true;
    m->instance++;
    m->turn_ns = world_now(m->world);
    dial(m, m->life);
}

void model_init(struct model *m, struct world *world, struct truth *truth,
                uint32_t index)
{
    memset(m, 0, sizeof(*m));
    m->world = world;
    m->truth = truth;
    m->index = index;
    m->clock_rate = 1;
    cable_init(&m->cable, world);
    m->cable.sides[0] = (struct cable_side){on_message, on_closed, m};
}

void model_done(struct model *m)
{
    cable_done(&m->cable);
}
