/*
 * actor.h - agents and a shell that play their parts against a whole fleet, in
 * a world without sockets, drives and real time.
 */
#ifndef TESTS_UNIT_FLEET_ACTOR_H
#define TESTS_UNIT_FLEET_ACTOR_H

#include "world.h"

#include "controller/fleet/fleet.h"
#include "tests/support/suite.h"

#include <jansson.h>
#include <stdio.h>

#define ACTORS_MAX 4

enum actor_state {
    ACTOR_IDLE,
    ACTOR_READY,
    ACTOR_ARMED,
    ACTOR_RUNNING,
    ACTOR_FINISHED,
};

struct actor {
    struct connection connection;
    struct link *link;
    const char *name;
    struct uuid instance;
    uint64_t offset_ns; /* of its clock */
    enum actor_state state;
    struct uuid campaign;
    uint32_t phase;
    uint64_t epoch;
    uint64_t interval_ns;
    uint64_t intervals;
    uint64_t start_ns; /* on its own clock */
    uint64_t next;
    uint64_t acknowledged;
    uint32_t cell_count;
    uint32_t prepares;
    uint32_t renews;
    uint32_t aborts;
    uint32_t releases;
    bool is_mute;            /* hears, says nothing */
    const char *refusal;     /* of its drives; NULL: none */
    const char *content;     /* of its drives; NULL: they are blank */
    const char *wwn;         /* of its drives; NULL: they tell none */
    const char *used_by;     /* who uses them, in its inventory; NULL: nobody */
    char consent[TEXT_SIZE]; /* of the last Prepare's first target */
};

static struct fleet *fleet;
static struct actor actors[ACTORS_MAX];
static struct connection shell_connection;
static struct link *shell_link;

static inline void stage_open(const char *store, bool is_private)
{
    const struct fleet_options options = {
        .store = store,
        .start_tolerance_ns = 5 * NS_PER_MS,
        .is_private = is_private,
        .clock = &world_clock.clock,
        .world = &world_functions,
        .threadless = true,
    };
    struct diag diag = {0};
    int err = fleet_open(&options, &fleet, &diag);

    ck_assert_msg(err == 0, "%s", diag.text);
}

static inline const char *stage_store(void)
{
    static char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "%s/lockstep.db", suite_directory());
    return path;
}

static inline void stage_setup(void)
{
    world_setup();
    memset(actors, 0, sizeof(actors));
    memset(&shell_connection, 0, sizeof(shell_connection));
    shell_link = NULL;
    stage_open(stage_store(), false);
}

static inline void stage_teardown(void)
{
    fleet = fleet_close(fleet);
    for (size_t i = 0; i < ACTORS_MAX; i++)
        connection_done(&actors[i].connection);
    connection_done(&shell_connection);
    world_teardown();
}

/* ---- Agents -------------------------------------------------------------- */

static inline void actor_say(struct actor *actor)
{
    if (!actor->is_mute && !actor->connection.ended)
        fleet_frame(fleet, actor->link, body_made.data, body_made.length,
                    world_clock.now_ns);
}

#define ACTOR_SAY(actor, CASE, member, message)                                \
    do {                                                                       \
        BODY_PACK(CASE, member, message);                                      \
        actor_say(actor);                                                      \
    } while (0)

static inline Lockstep__Work actor_work(struct actor *actor)
{
    Lockstep__Work work = LOCKSTEP__WORK__INIT;

    work.campaign = body_uuid(&actor->campaign);
    work.phase = actor->phase;
    work.epoch = actor->epoch;
    return work;
}

static inline void actor_connect(struct actor *actor)
{
    static const struct link_peer peer = {
        .address = "192.0.2.7:4711", .name = "", .role = TLS_ROLE_NONE};
    Lockstep__AgentHello hello = body_hello(actor->name, &actor->instance);
    Lockstep__Held held = LOCKSTEP__HELD__INIT;
    Lockstep__Work work = actor_work(actor);

    connection_done(&actor->connection);
    actor->link = fleet_connected(fleet, &actor->connection, &peer);
    ck_assert_ptr_nonnull(actor->link);
    if (actor->state != ACTOR_IDLE) {
        static const Lockstep__AgentState states[] = {
            [ACTOR_READY] = LOCKSTEP__AGENT_STATE__AGENT_READY,
            [ACTOR_ARMED] = LOCKSTEP__AGENT_STATE__AGENT_ARMED,
            [ACTOR_RUNNING] = LOCKSTEP__AGENT_STATE__AGENT_RUNNING,
            [ACTOR_FINISHED] = LOCKSTEP__AGENT_STATE__AGENT_HOLDING,
        };

        held.work = &work;
        held.state = states[actor->state];
        held.first_unacknowledged = actor->acknowledged;
        hello.held = &held;
    }
    ACTOR_SAY(actor, AGENT_HELLO, agent_hello, &hello);
}

static inline void actor_enter(uint32_t index, const char *name)
{
    struct actor *actor = &actors[index];
    Lockstep__Inventory inventory = LOCKSTEP__INVENTORY__INIT;
    Lockstep__HostFacts host = LOCKSTEP__HOST_FACTS__INIT;

    actor->name = name;
    actor->instance.bytes[0] = (uint8_t)(index + 1);
    actor->offset_ns = index * 86400 * NS_PER_S;
    actor_connect(actor);
    world_expect(&actor->connection, LOCKSTEP__FRAME__BODY_WELCOME);
    inventory.host = &host;
    ACTOR_SAY(actor, INVENTORY, inventory, &inventory);
}

/* Tells about one drive, in use or not, as after a change. */
static inline void actor_tell_drive(struct actor *actor)
{
    Lockstep__Inventory inventory = LOCKSTEP__INVENTORY__INIT;
    Lockstep__HostFacts host = LOCKSTEP__HOST_FACTS__INIT;
    Lockstep__DriveFacts drive = LOCKSTEP__DRIVE_FACTS__INIT;
    Lockstep__DriveFacts *list[] = {&drive};
    char *use = (char *)(uintptr_t)actor->used_by;

    drive.name = (char *)(uintptr_t) "sdc";
    drive.path = (char *)(uintptr_t) "/dev/sdc";
    drive.wwn = (char *)(uintptr_t)(actor->wwn != NULL ? actor->wwn : "");
    drive.size_bytes = 1 << 30;
    drive.used_by = &use;
    drive.n_used_by = use != NULL;
    inventory.host = &host;
    inventory.drives = list;
    inventory.n_drives = 1;
    ACTOR_SAY(actor, INVENTORY, inventory, &inventory);
}

static inline void actor_inspected(struct actor *actor,
                                   const Lockstep__Inspect *inspect)
{
    Lockstep__Inspected inspected = LOCKSTEP__INSPECTED__INIT;
    Lockstep__TargetFacts facts[8];
    Lockstep__TargetFacts *list[8];
    char serial[80];

    ck_assert_uint_le(inspect->n_targets, 8);
    (void)snprintf(serial, sizeof(serial), "SERIAL-%s", actor->name);
    for (size_t i = 0; i < inspect->n_targets; i++) {
        lockstep__target_facts__init(&facts[i]);
        facts[i].kind = LOCKSTEP__TARGET_KIND__TARGET_BLOCK;
        facts[i].size_bytes = 1 << 30;
        facts[i].logical_block = 512;
        facts[i].device = inspect->targets[i]->path;
        facts[i].device_number = i + 1;
        if (actor->refusal != NULL)
            facts[i].refusal = (char *)(uintptr_t)actor->refusal;
        if (actor->content != NULL)
            facts[i].content = (char *)(uintptr_t)actor->content;
        if (actor->wwn != NULL)
            facts[i].wwn = (char *)(uintptr_t)actor->wwn;
        list[i] = &facts[i];
    }
    inspected.campaign = inspect->campaign;
    inspected.targets = list;
    inspected.n_targets = inspect->n_targets;
    ACTOR_SAY(actor, INSPECTED, inspected, &inspected);
}

static inline void actor_prepare(struct actor *actor,
                                 const Lockstep__Prepare *prepare)
{
    Lockstep__Ready ready = LOCKSTEP__READY__INIT;
    Lockstep__Work work;

    memcpy(actor->campaign.bytes, prepare->work->campaign.data, 16);
    actor->phase = prepare->work->phase;
    actor->epoch = prepare->work->epoch;
    actor->interval_ns = prepare->phase->interval_ns;
    actor->intervals =
        prepare->phase->warmup_intervals + prepare->phase->measured_intervals;
    actor->cell_count = (uint32_t)prepare->phase->n_cells;
    actor->next = 0;
    actor->acknowledged = 0;
    actor->state = ACTOR_READY;
    actor->prepares++;
    (void)snprintf(actor->consent, sizeof(actor->consent), "%s",
                   prepare->phase->targets[0]->consent);
    work = actor_work(actor);
    ready.work = &work;
    ACTOR_SAY(actor, READY, ready, &ready);
}

static inline void actor_probed(struct actor *actor, uint64_t sequence)
{
    Lockstep__ClockReply reply = LOCKSTEP__CLOCK_REPLY__INIT;

    reply.sequence = sequence;
    reply.agent_received_ns = world_clock.now_ns + actor->offset_ns;
    reply.agent_sent_ns = reply.agent_received_ns;
    clock_manual_advance(&world_clock, 1000); /* the way back */
    ACTOR_SAY(actor, CLOCK_REPLY, clock_reply, &reply);
}

static inline void actor_start(struct actor *actor, uint64_t start_ns)
{
    Lockstep__Armed armed = LOCKSTEP__ARMED__INIT;
    Lockstep__Work work = actor_work(actor);

    actor->start_ns = start_ns;
    actor->state = ACTOR_ARMED;
    armed.work = &work;
    armed.agent_start_ns = start_ns;
    ACTOR_SAY(actor, ARMED, armed, &armed);
}

static inline void actor_finish(struct actor *actor, Lockstep__Outcome outcome,
                                const char *reason)
{
    Lockstep__Finished finished = LOCKSTEP__FINISHED__INIT;
    Lockstep__Work work = actor_work(actor);

    finished.work = &work;
    finished.outcome = outcome;
    finished.reason = (char *)(uintptr_t)reason;
    finished.intervals = actor->next > 0 ? actor->next - 1 : 0;
    actor->state = ACTOR_FINISHED;
    ACTOR_SAY(actor, FINISHED, finished, &finished);
}

/* The next row; after the last interval that of the drain. */
static inline void actor_sample(struct actor *actor)
{
    static struct body_sample s;
    bool drain = actor->next == actor->intervals;
    uint64_t begin_ns = actor->start_ns + actor->next * actor->interval_ns;

    body_sample_init(&s, actor->next, drain ? 0 : 1000);
    s.work = actor_work(actor);
    s.sample.kind = drain ? LOCKSTEP__SAMPLE_KIND__SAMPLE_DRAIN
                          : LOCKSTEP__SAMPLE_KIND__SAMPLE_MEASURED;
    s.sample.agent_begin_ns = begin_ns;
    s.sample.agent_end_ns = begin_ns + (drain ? 1000 : actor->interval_ns);
    s.sample.agent_opened_first_ns = actor->start_ns + 1000;
    s.sample.agent_opened_last_ns = actor->start_ns + 2000;
    if (drain)
        s.sample.n_cells = 0;
    actor->next++;
    ACTOR_SAY(actor, SAMPLE, sample, &s.sample);
}

static inline void actor_hear(struct actor *actor, const Lockstep__Frame *frame)
{
    switch (frame->body_case) {
    case LOCKSTEP__FRAME__BODY_INSPECT:
        actor_inspected(actor, frame->inspect);
        break;
    case LOCKSTEP__FRAME__BODY_PREPARE:
        actor_prepare(actor, frame->prepare);
        break;
    case LOCKSTEP__FRAME__BODY_CLOCK_PROBE:
        actor_probed(actor, frame->clock_probe->sequence);
        break;
    case LOCKSTEP__FRAME__BODY_START:
        actor_start(actor, frame->start->agent_start_ns);
        break;
    case LOCKSTEP__FRAME__BODY_GO:
        if (actor->state == ACTOR_ARMED)
            actor->state = ACTOR_RUNNING;
        break;
    case LOCKSTEP__FRAME__BODY_ABORT:
        actor->aborts++;
        if (actor->state == ACTOR_RUNNING) {
            actor->intervals = actor->next;
            actor_sample(actor);
        }
        if (actor->state != ACTOR_FINISHED && actor->state != ACTOR_IDLE)
            actor_finish(actor, LOCKSTEP__OUTCOME__OUTCOME_STOPPED,
                         frame->abort->reason);
        break;
    case LOCKSTEP__FRAME__BODY_SAMPLE_ACK:
        actor->acknowledged = frame->sample_ack->next_interval;
        if (actor->state == ACTOR_FINISHED &&
            actor->acknowledged >= actor->next)
            actor->state = ACTOR_IDLE;
        break;
    case LOCKSTEP__FRAME__BODY_RENEW:
        actor->renews++;
        break;
    case LOCKSTEP__FRAME__BODY_RELEASE:
        actor->releases++;
        break;
    default:
        break;
    }
}

static inline void actor_act(struct actor *actor)
{
    Lockstep__Frame *frame;
    Lockstep__Heartbeat beat = LOCKSTEP__HEARTBEAT__INIT;
    uint64_t now_ns;

    while ((frame = world_take(&actor->connection)) != NULL) {
        actor_hear(actor, frame);
        lockstep__frame__free_unpacked(frame, NULL);
    }
    if (actor->connection.sent > WORLD_FRAMES / 2 && !actor->connection.ended) {
        for (uint32_t i = 0; i < actor->connection.sent; i++)
            free(actor->connection.bodies[i]);
        actor->connection.sent = actor->connection.taken = 0;
    }
    ACTOR_SAY(actor, HEARTBEAT, heartbeat, &beat);
    now_ns = world_clock.now_ns + actor->offset_ns;
    while (actor->state == ACTOR_RUNNING && actor->next < actor->intervals &&
           now_ns >= actor->start_ns + (actor->next + 1) * actor->interval_ns)
        actor_sample(actor);
    if (actor->state == ACTOR_RUNNING && actor->next == actor->intervals &&
        actor->intervals > 0) {
        actor_sample(actor);
        actor_finish(actor, LOCKSTEP__OUTCOME__OUTCOME_COMPLETE, "");
    }
}

/* ---- The shell ------------------------------------------------------------
 */

static inline void shell_say(void)
{
    fleet_frame(fleet, shell_link, body_made.data, body_made.length,
                world_clock.now_ns);
}

static inline void shell_enter_as(const struct link_peer *peer)
{
    Lockstep__ShellHello hello = LOCKSTEP__SHELL_HELLO__INIT;

    shell_link = fleet_connected(fleet, &shell_connection, peer);
    ck_assert_ptr_nonnull(shell_link);
    hello.major = 1;
    hello.user = (char *)(uintptr_t) "ann";
    BODY_PACK(SHELL_HELLO, shell_hello, &hello);
    shell_say();
    world_expect(&shell_connection, LOCKSTEP__FRAME__BODY_WELCOME);
}

static inline void shell_enter(void)
{
    static const struct link_peer peer = {
        .address = "local", .name = "", .role = TLS_ROLE_NONE};

    shell_enter_as(&peer);
}

static inline void shell_submit_yes(uint32_t id, const char *text,
                                    const char *yes)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Submit submit = LOCKSTEP__SUBMIT__INIT;
    Lockstep__File file = LOCKSTEP__FILE__INIT;
    Lockstep__File *files[] = {&file};

    file.name = (char *)(uintptr_t) "test.parm";
    file.text = (char *)(uintptr_t)text;
    submit.files = files;
    submit.n_files = 1;
    submit.yes = (char *)(uintptr_t)yes;
    request.id = id;
    request.what_case = LOCKSTEP__REQUEST__WHAT_SUBMIT;
    request.submit = &submit;
    BODY_PACK(REQUEST, request, &request);
    shell_say();
}

static inline void shell_submit(uint32_t id, const char *text)
{
    shell_submit_yes(id, text, "");
}

static inline void shell_query(uint32_t id, Lockstep__QueryKind kind,
                               const char *campaign)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Query query = LOCKSTEP__QUERY__INIT;

    query.kind = kind;
    query.campaign = (char *)(uintptr_t)campaign;
    request.id = id;
    request.what_case = LOCKSTEP__REQUEST__WHAT_QUERY;
    request.query = &query;
    BODY_PACK(REQUEST, request, &request);
    shell_say();
}

static inline void shell_watch(uint32_t id, const char *campaign)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Watch watch = LOCKSTEP__WATCH__INIT;

    watch.campaign = (char *)(uintptr_t)campaign;
    request.id = id;
    request.what_case = LOCKSTEP__REQUEST__WHAT_WATCH;
    request.watch = &watch;
    BODY_PACK(REQUEST, request, &request);
    shell_say();
}

static inline void shell_stop(uint32_t id, const char *campaign)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Stop stop = LOCKSTEP__STOP__INIT;

    stop.campaign = (char *)(uintptr_t)campaign;
    request.id = id;
    request.what_case = LOCKSTEP__REQUEST__WHAT_STOP;
    request.stop = &stop;
    BODY_PACK(REQUEST, request, &request);
    shell_say();
}

static inline void shell_beat(void)
{
    Lockstep__Heartbeat beat = LOCKSTEP__HEARTBEAT__INIT;

    if (shell_link == NULL || shell_connection.ended)
        return;
    BODY_PACK(HEARTBEAT, heartbeat, &beat);
    shell_say();
}

/* ---- Time ------------------------------------------------------------------
 */

static inline void stage_step(void)
{
    clock_manual_advance(&world_clock, 10 * NS_PER_MS);
    for (size_t i = 0; i < ACTORS_MAX; i++)
        if (actors[i].link != NULL && !actors[i].connection.ended)
            actor_act(&actors[i]);
    shell_beat();
    fleet_tick(fleet);
}

static inline void stage_play(uint64_t ns)
{
    uint64_t end_ns = world_clock.now_ns + ns;

    while (world_clock.now_ns < end_ns)
        stage_step();
}

/* Plays until the shell got an answer or event with this in it (`key` NULL:
 * any); gives its document, which is to be freed with json_decref(). */
static inline json_t *shell_wait(Lockstep__Frame__BodyCase kind,
                                 const char *key, const char *value,
                                 uint32_t *ret_status)
{
    for (int i = 0; i < 60000; i++) { /* ten minutes */
        Lockstep__Frame *frame;

        while ((frame = world_take(&shell_connection)) != NULL) {
            const ProtobufCBinaryData *text =
                frame->body_case == LOCKSTEP__FRAME__BODY_ANSWER
                    ? &frame->answer->document
                    : &frame->event->document;
            json_t *json = NULL;
            const json_t *found = NULL;

            if (frame->body_case == kind) {
                json = json_loadb((const char *)text->data, text->len, 0, NULL);
                ck_assert_ptr_nonnull(json);
                found = key != NULL ? json_object_get(json, key) : json;
                if (kind == LOCKSTEP__FRAME__BODY_ANSWER && ret_status != NULL)
                    *ret_status = frame->answer->status;
            }
            lockstep__frame__free_unpacked(frame, NULL);
            if (found != NULL &&
                (value == NULL ||
                 (json_is_string(found) &&
                  strcmp(json_string_value(found), value) == 0)))
                return json;
            json_decref(json);
        }
        if (shell_connection.sent > WORLD_FRAMES / 2) {
            for (uint32_t k = 0; k < shell_connection.sent; k++)
                free(shell_connection.bodies[k]);
            shell_connection.sent = shell_connection.taken = 0;
        }
        stage_step();
    }
    ck_abort_msg("the shell never got %s=%s", key, value);
    return NULL;
}

#endif
