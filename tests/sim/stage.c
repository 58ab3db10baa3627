#include "tests/sim/stage.h"

#include "controller/conduct/conductor.h"

#include <string.h>

/* ---- Checks -------------------------------------------------------------- */

/* The first Go: whoever takes part has armed for this very instant. */
static void check_go(struct stage *s)
{
    if (s->start_ns != 0)
        return; /* it is repeated for one that came back */
    for (uint32_t i = 0; i < s->hosts; i++) {
        const struct session *session = &s->sessions[i];

        if (s->conductor->parts[i].state == PART_GONE)
            continue;
        REQUIRE(&s->world, session->up);
        REQUIRE(&s->world, session->armed_for != 0);
        REQUIRE(&s->world, session->armed_for == session->started_for);
    }
}

/* A clock that was known to within u opened within u of the instant. */
static void check_spread(struct stage *s, uint32_t phase)
{
    for (uint32_t i = 0; i < s->hosts; i++) {
        uint64_t opened = s->truth.parts[phase][i].opened_ns;
        uint64_t off =
            opened > s->start_ns ? opened - s->start_ns : s->start_ns - opened;

        /* 20 us: the model's own lateness. */
        if (opened == 0 || s->truth.parts[phase][i].late)
            continue;
        REQUIRE(&s->world, off <= s->uncertainty_ns + 21 * NS_PER_US);
    }
}

static uint64_t rows_due(const struct rows *rows)
{
    return rows->drain_row == 0 ? 0 : rows->drain_row + 1;
}

/* Of a phase that was ended early, all rows up to the last and one more, or
 * its own word that this was all. */
static bool is_whole(const struct stage *s, const struct rows *rows)
{
    bool enough =
        rows->complete || (s->stop_after != UINT64_MAX && !rows->stuck &&
                           rows->drain_row > s->stop_after + 1);

    return rows->finished && enough && rows->next >= rows_due(rows) &&
           rows->drain_row > 0;
}

static uint32_t count_whole(const struct stage *s, uint32_t phase)
{
    uint32_t whole = 0;

    for (uint32_t i = 0; i < s->hosts; i++)
        whole += is_whole(s, &s->rows[phase][i]);
    return whole;
}

/* Nothing that is still to come will be missing in the totals. */
static void check_total(struct stage *s)
{
    for (uint32_t i = 0; i < s->hosts; i++) {
        const struct part *part = &s->conductor->parts[i];
        const struct rows *rows =
            &s->rows[conductor_phase(s->conductor)->number][i];

        REQUIRE(&s->world, part->state != PART_FINISHED);
        if (part->state == PART_COLLECTED)
            REQUIRE(&s->world, rows->next >= rows_due(rows));
    }
}

/* The store has what the agents made: every row once, every count. */
static void check_sums(struct stage *s, uint32_t phase)
{
    for (uint32_t i = 0; i < s->hosts; i++) {
        const struct rows *rows = &s->rows[phase][i];
        const struct truth_part *truth = &s->truth.parts[phase][i];
        uint64_t ios = 0;

        for (uint64_t k = 0; k < rows_due(rows); k++) {
            REQUIRE(&s->world, rows->stored[k]);
            ios += rows->ios[k];
        }
        REQUIRE(&s->world, rows_due(rows) == truth->rows);
        REQUIRE(&s->world, ios == truth->ios);
        REQUIRE(&s->world, truth->complete || s->stop_after != UINT64_MAX);
    }
}

static void check_verdict(struct stage *s, const struct conduct_effect *effect)
{
    uint32_t phase = effect->phase;
    uint32_t whole = count_whole(s, phase);

    REQUIRE(&s->world, s->truth.writing == 0);
    switch (effect->verdict) {
    case CONDUCT_COMPLETE:
        REQUIRE(&s->world, whole == s->hosts);
        check_sums(s, phase);
        break;
    case CONDUCT_DEGRADED:
        REQUIRE(&s->world, whole > 0 && whole < s->hosts);
        REQUIRE(&s->world, effect->reason[0] != '\0');
        break;
    case CONDUCT_FAILED:
        REQUIRE(&s->world, effect->reason[0] != '\0');
        REQUIRE(&s->world, whole < s->hosts || s->failing_total);
        break;
    case CONDUCT_INTERRUPTED:
        REQUIRE(&s->world, s->stopped);
        break;
    case CONDUCT_VERDICTS:
        REQUIRE(&s->world, !"a verdict");
    }
    if (whole == s->hosts && !s->failing_total && !s->stopped)
        REQUIRE(&s->world, effect->verdict == CONDUCT_COMPLETE);
    if (effect->spread_ns != UINT64_MAX)
        check_spread(s, phase);
}

/* ---- The controller's edge ----------------------------------------------- */

static void tick(void *context, uint64_t token)
{
    struct stage *s = context;

    if (s->over || token != s->tick_ns)
        return;
    s->tick_ns = UINT64_MAX;
    conductor_tick(s->conductor, world_now(&s->world));
    stage_carry_out(s);
}

static void send_to(struct stage *s, uint32_t host, struct message message)
{
    REQUIRE(&s->world, s->sessions[host].up);
    cable_send(&s->models[host].cable, 1, &message, sizeof(message));
}

static void total(void *context, uint64_t phase)
{
    struct stage *s = context;
    struct conduct_total sum = {.iops = 1000};

    if (s->over)
        return;
    if (s->failing_total)
        sum.failures = 1;
    conductor_totalled(s->conductor, world_now(&s->world), (uint32_t)phase,
                       &sum);
    stage_carry_out(s);
}

static void forget_phase(struct stage *s)
{
    s->start_ns = 0;
    s->uncertainty_ns = 0;
    s->stop_after = UINT64_MAX;
    for (uint32_t i = 0; i < s->hosts; i++) {
        s->sessions[i].armed_for = 0;
        s->sessions[i].started_for = 0;
    }
}

static void send_prepare(struct stage *s, uint32_t host)
{
    const struct conduct_phase *phase = conductor_phase(s->conductor);

    send_to(s, host,
            (struct message){.kind = MESSAGE_PREPARE,
                             .phase = phase->number,
                             .value = phase->interval_ns,
                             .second = phase->warmup_intervals +
                                       phase->measured_intervals});
}

static void send_start(struct stage *s, const struct conduct_effect *effect)
{
    s->sessions[effect->host].started_for = effect->agent_start_ns;
    send_to(s, effect->host,
            (struct message){.kind = MESSAGE_START,
                             .phase = effect->phase,
                             .value = effect->agent_start_ns});
}

static void send_simple(struct stage *s, const struct conduct_effect *effect,
                        enum message_kind kind, uint64_t value)
{
    send_to(
        s, effect->host,
        (struct message){.kind = kind, .phase = effect->phase, .value = value});
}

/* Rows that are acknowledged are forgotten by the agent: they are stored, or
 * the phase does not call itself complete. */
static void send_ack(struct stage *s, const struct conduct_effect *effect)
{
    const struct rows *rows = &s->rows[effect->phase][effect->host];

    if (effect->interval > rows->next)
        REQUIRE(&s->world, s->mood == MOOD_ROUGH);
    send_simple(s, effect, MESSAGE_ACK, effect->interval);
}

static void own_command(void *context, uint64_t number)
{
    struct stage *s = context;

    if (s->over)
        return;
    conductor_commanded(s->conductor, world_now(&s->world), CONDUCT_CONTROLLER,
                        (uint32_t)number, NULL);
    stage_carry_out(s);
}

/* No command is given while anybody writes. */
static void do_command(struct stage *s, const struct conduct_effect *effect)
{
    if (effect->command != NULL)
        REQUIRE(&s->world, s->truth.writing == 0);
    if (effect->host != CONDUCT_CONTROLLER)
        send_to(s, effect->host,
                (struct message){.kind = MESSAGE_COMMAND,
                                 .value = effect->number,
                                 .second = effect->command != NULL});
    else if (effect->command != NULL)
        world_at(&s->world, world_now(&s->world) + 20 * NS_PER_MS, own_command,
                 s, effect->number);
}

static void do_effect(struct stage *s, const struct conduct_effect *effect)
{
    switch (effect->kind) {
    case CONDUCT_DO_PREPARE:
        send_prepare(s, effect->host);
        break;
    case CONDUCT_DO_PROBE:
        s->sessions[effect->host].probe_sent = world_now(&s->world);
        send_simple(s, effect, MESSAGE_PROBE, world_now(&s->world));
        break;
    case CONDUCT_DO_START:
        send_start(s, effect);
        break;
    case CONDUCT_DO_GO:
        check_go(s);
        send_simple(s, effect, MESSAGE_GO, 0);
        break;
    case CONDUCT_DO_STOP_AFTER:
        REQUIRE(&s->world, effect->interval == s->stop_after);
        send_simple(s, effect, MESSAGE_STOP_AFTER, effect->interval);
        break;
    case CONDUCT_DO_ABORT:
        REQUIRE(&s->world, effect->reason[0] != '\0');
        send_simple(s, effect, MESSAGE_ABORT, 0);
        break;
    case CONDUCT_DO_RENEW:
        send_simple(s, effect, MESSAGE_RENEW, 0);
        break;
    case CONDUCT_DO_ACK:
        send_ack(s, effect);
        break;
    case CONDUCT_DO_RELEASE:
        send_simple(s, effect, MESSAGE_RELEASE, 0);
        break;
    case CONDUCT_DO_COMMAND:
        do_command(s, effect);
        break;
    case CONDUCT_PHASE_BEGAN:
        REQUIRE(&s->world, !s->stopped);
        forget_phase(s);
        s->failing_total =
            s->mood == MOOD_ROUGH && world_chance(&s->world, 0.05);
        break;
    case CONDUCT_PHASE_STARTED:
        s->start_ns = effect->at_ns;
        s->uncertainty_ns = effect->uncertainty_ns;
        REQUIRE(&s->world, effect->at_ns > world_now(&s->world));
        REQUIRE(&s->world,
                effect->uncertainty_ns <= s->options.start_tolerance_ns);
        break;
    case CONDUCT_DO_TOTAL:
        check_total(s);
        world_at(&s->world, world_now(&s->world) + s->store_ns, total, s,
                 effect->phase);
        break;
    case CONDUCT_PHASE_ENDED:
        check_verdict(s, effect);
        s->phases_ended++;
        break;
    case CONDUCT_PHASE_ENDING:
    case CONDUCT_PHASE_SKIPPED:
    case CONDUCT_NOTICE:
    case CONDUCT_HOST_GIVEN_UP:
        break;
    case CONDUCT_CAMPAIGN_ENDED:
        REQUIRE(&s->world, s->truth.writing == 0);
        s->truth.ended = true;
        s->over = true;
        s->verdict = effect->verdict;
        break;
    }
}

static void trace_effect(const struct stage *s,
                         const struct conduct_effect *effect)
{
    static const char *const names[] = {
        "PREPARE",       "PROBE",          "START",  "GO",       "STOP_AFTER",
        "ABORT",         "RENEW",          "ACK",    "RELEASE",  "COMMAND",
        "phase began",   "started",        "ending", "TOTAL",    "phase ended",
        "phase skipped", "campaign ended", "notice", "given up",
    };

    if (effect->kind == CONDUCT_DO_PROBE || effect->kind == CONDUCT_DO_RENEW)
        return;
    world_trace(&s->world, "  %s host%u phase%u %s %s interval %llu",
                names[effect->kind], effect->host, effect->phase,
                conduct_verdict_name(effect->verdict), effect->reason,
                (unsigned long long)effect->interval);
}

void stage_carry_out(struct stage *s)
{
    struct conduct_effect effect;
    uint64_t due;

    while (conductor_take_effect(s->conductor, &effect)) {
        trace_effect(s, &effect);
        do_effect(s, &effect);
    }
    due = conductor_due_ns(s->conductor);
    if (s->over || due >= s->tick_ns)
        return;
    s->tick_ns = due;
    world_at(&s->world, due, tick, s, due);
}

/* ---- The store ----------------------------------------------------------- */

static uint64_t row_token(uint32_t phase, uint32_t host, uint64_t row)
{
    return (uint64_t)phase << 32 | (uint64_t)host << 16 | row;
}

static void committed(void *context, uint64_t token)
{
    struct stage *s = context;
    uint32_t phase = (uint32_t)(token >> 32);
    uint32_t host = (uint32_t)(token >> 16) & 0xffff;
    struct rows *rows = &s->rows[phase][host];

    rows->stored[token & 0xffff] = true;
    while (rows->next < STAGE_ROWS && rows->stored[rows->next])
        rows->next++;
    if (s->over)
        return;
    conductor_stored(s->conductor, world_now(&s->world), host, phase,
                     rows->next);
    stage_carry_out(s);
}

static void take_row(struct stage *s, uint32_t host,
                     const struct message *message)
{
    struct rows *rows = &s->rows[message->phase][host];
    uint64_t row = message->value;

    REQUIRE(&s->world, row < STAGE_ROWS);
    if (rows->ios[row] != 0) {
        REQUIRE(&s->world, rows->ios[row] == message->second);
        if (!rows->stored[row])
            return; /* its commit is on its way */
    }
    rows->ios[row] = message->second;
    if (!s->over)
        conductor_opened(s->conductor, host, message->phase, message->third,
                         message->third);
    world_at(&s->world, world_now(&s->world) + s->store_ns, committed, s,
             row_token(message->phase, host, row));
}

/* ---- Messages from agents ------------------------------------------------ */

static void take_hello(struct stage *s, uint32_t host,
                       const struct message *message)
{
    struct conduct_hello hello = {
        .lease_ns = s->lease_ns,
        .finishes = s->models[host].finishes,
        .held = (enum conduct_held)message->value,
        .held_phase = message->phase,
    };

    memcpy(hello.instance.bytes, &message->second, sizeof(message->second));
    memcpy(hello.boot.bytes, &message->third, sizeof(message->third));
    conductor_host_up(s->conductor, world_now(&s->world), host, &hello);
}

static void take_finished(struct stage *s, uint32_t host,
                          const struct message *message)
{
    struct rows *rows = &s->rows[message->phase][host];
    struct conduct_finish finish = {
        .outcome = (enum conduct_outcome)message->value,
        .reason = "",
        .intervals = message->second,
        .stuck = message->third,
    };

    rows->finished = true;
    rows->drain_row = message->second;
    rows->stuck = finish.stuck > 0;
    rows->complete =
        finish.outcome == CONDUCT_OUTCOME_COMPLETE && finish.stuck == 0;
    conductor_finished(s->conductor, world_now(&s->world), host, message->phase,
                       &finish);
}

static void take_message(struct stage *s, uint32_t host,
                         const struct message *message)
{
    uint64_t now = world_now(&s->world);
    struct offset_probe probe;

    switch (message->kind) {
    case MESSAGE_HELLO:
        take_hello(s, host, message);
        break;
    case MESSAGE_READY:
        conductor_ready(s->conductor, now, host, message->phase);
        break;
    case MESSAGE_ARMED:
        s->sessions[host].armed_for = message->value;
        conductor_armed(s->conductor, now, host, message->phase,
                        message->value);
        break;
    case MESSAGE_REFUSED:
        conductor_refused(s->conductor, now, host, message->phase, "sd1",
                          "no such drive");
        break;
    case MESSAGE_FINISHED:
        take_finished(s, host, message);
        break;
    case MESSAGE_REPLY:
        probe = (struct offset_probe){message->value, message->second,
                                      message->third, now};
        conductor_probed(s->conductor, now, host, &probe);
        break;
    case MESSAGE_SAMPLE:
        take_row(s, host, message);
        return;
    case MESSAGE_COMMANDED:
        conductor_commanded(s->conductor, now, host, (uint32_t)message->value,
                            message->second != 0 ? "exit status 1" : NULL);
        break;
    default:
        REQUIRE(&s->world, !"a message from an agent");
    }
    stage_carry_out(s);
}

/* An agent whose campaign is over is freed of what it has. */
static void free_agent(struct stage *s, uint32_t host)
{
    static const enum message_kind kinds[] = {MESSAGE_ABORT, MESSAGE_ACK,
                                              MESSAGE_RELEASE};

    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        send_to(s, host,
                (struct message){.kind = kinds[i],
                                 .phase = s->models[host].phase,
                                 .value = UINT64_MAX});
}

static void on_closed(void *context, uint64_t connection)
{
    struct port *port = context;
    struct stage *s = port->stage;
    struct session *session = &s->sessions[port->host];

    if (!session->up || connection != session->connection)
        return;
    session->up = false;
    if (s->over)
        return;
    conductor_host_down(s->conductor, world_now(&s->world), port->host,
                        "connection reset");
    stage_carry_out(s);
}

static void on_message(void *context, uint64_t connection, const void *bytes,
                       size_t length)
{
    struct port *port = context;
    struct stage *s = port->stage;
    struct session *session = &s->sessions[port->host];
    const struct message *message = bytes;

    REQUIRE(&s->world, length == sizeof(*message));
    if (connection != session->connection) {
        REQUIRE(&s->world, message->kind == MESSAGE_HELLO);
        if (session->up)
            on_closed(context, session->connection);
        session->connection = connection;
        session->up = true;
    }
    if (!session->up)
        return;
    if (!s->over)
        take_message(s, port->host, message);
    else if (message->kind == MESSAGE_HELLO)
        free_agent(s, port->host);
}

void stage_listen(struct stage *s)
{
    for (uint32_t i = 0; i < s->hosts; i++) {
        s->ports[i] = (struct port){s, i};
        s->models[i].cable.sides[1] =
            (struct cable_side){on_message, on_closed, &s->ports[i]};
    }
}

void stage_hang_up(struct stage *s, uint32_t host, uint64_t connection)
{
    struct cable *cable = &s->models[host].cable;

    if (connection != cable->connection)
        return;
    cable_close(cable, 1);
    on_closed(&s->ports[host], connection);
}
