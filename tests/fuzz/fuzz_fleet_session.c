/*
 * A whole controller, apart from its sockets, against strangers, agents and
 * shells that say valid things in any order: wrong phase, wrong role, twice,
 * never, late.  Nothing crashes, and nothing is obeyed that should not be: an
 * order goes to nobody whose certificate does not make it that agent, a viewer
 * starts and stops nothing, and what is on a drive is written over only after
 * somebody gave the hash that asked for it.
 *
 * The input is a list of steps of three bytes: who, what, and an argument.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/histogram.h"
#include "common/log.h"
#include "controller/fleet/fleet.h"
#include "proto/lockstep.pb-c.h"

#define PEERS     4
#define STEPS_MAX 400

/* How far a peer has come, as far as it can know. */
struct peer {
    struct link *link;
    bool is_open;
    bool is_agent;
    bool is_shell;
    bool welcome;
    uint32_t prepared; /* the three orders of a start */
    uint32_t started;
    uint32_t armed;
    struct uuid campaign;
    uint32_t phase;
    uint64_t epoch;
    uint64_t probe;
    uint64_t start_ns;
    /* What its certificate says, and what it said itself. */
    enum tls_role role;
    const char *certified;
    const char *name;
    bool orders[32]; /* by id of a request: the last one was no question */
};

#define CONTENT "ext4 file system"

/* The hash that a refusal asked for last; and whether it was ever given. */
static char asked[64];
static bool given;

static struct clock_manual clock_;
static struct fleet *fleet;
static struct peer peers[PEERS];
static uint8_t body[1u << 16];

/* ---- What the controller says, and when it may ----------------------------
 */

static void note_work(struct peer *peer, const Lockstep__Work *work)
{
    memcpy(peer->campaign.bytes, work->campaign.data, 16);
    peer->phase = work->phase;
    peer->epoch = work->epoch;
}

/* Who is let in is who the certificate says. */
static void check_welcome(const struct peer *peer)
{
    if (peer->role == TLS_ROLE_NONE)
        return;
    if (peer->is_agent)
        assert(peer->role == TLS_ROLE_AGENT &&
               strcmp(peer->certified, peer->name) == 0);
    else
        assert(peer->role == TLS_ROLE_OPERATOR ||
               peer->role == TLS_ROLE_VIEWER);
}

/* Only what somebody agreed to lose is written over. */
static void check_consent(const Lockstep__Phase *phase)
{
    for (size_t i = 0; i < phase->n_targets; i++) {
        const Lockstep__Target *target = phase->targets[i];

        assert(target->consent[0] == '\0' || target->overwrite);
        assert(target->consent[0] == '\0' ||
               (given && strcmp(target->consent, CONTENT) == 0));
    }
}

static void check_answer(struct peer *peer, const Lockstep__Answer *answer)
{
    static const char key[] = "\"hash\":\"";
    const char *text = (const char *)answer->document.data;
    const char *hash = memmem(text, answer->document.len, key, strlen(key));

    if (answer->id < 32 && peer->orders[answer->id])
        assert(peer->role != TLS_ROLE_VIEWER || answer->status != 0);
    if (hash != NULL && answer->last)
        (void)snprintf(asked, sizeof(asked), "%.16s", hash + strlen(key));
}

/* Orders go to agents that were welcomed; Go only after Armed. */
static void check(struct peer *peer, const Lockstep__Frame *frame)
{
    bool order = frame->body_case >= LOCKSTEP__FRAME__BODY_CLOCK_PROBE &&
                 frame->body_case <= LOCKSTEP__FRAME__BODY_RELEASE;
    bool shell = frame->body_case == LOCKSTEP__FRAME__BODY_ANSWER ||
                 frame->body_case == LOCKSTEP__FRAME__BODY_EVENT;

    assert(!order || (peer->is_agent && peer->welcome));
    assert(!shell || (peer->is_shell && peer->welcome));
    switch (frame->body_case) {
    case LOCKSTEP__FRAME__BODY_WELCOME:
        assert(peer->is_agent || peer->is_shell);
        check_welcome(peer);
        peer->welcome = true;
        break;
    case LOCKSTEP__FRAME__BODY_CLOCK_PROBE:
        peer->probe = frame->clock_probe->sequence;
        break;
    case LOCKSTEP__FRAME__BODY_INSPECT:
        memcpy(peer->campaign.bytes, frame->inspect->campaign.data, 16);
        break;
    case LOCKSTEP__FRAME__BODY_PREPARE:
        check_consent(frame->prepare->phase);
        note_work(peer, frame->prepare->work);
        peer->prepared++;
        break;
    case LOCKSTEP__FRAME__BODY_START:
        assert(peer->prepared > 0);
        peer->start_ns = frame->start->agent_start_ns;
        peer->started++;
        break;
    case LOCKSTEP__FRAME__BODY_GO:
        assert(peer->started > 0 && peer->armed > 0);
        break;
    case LOCKSTEP__FRAME__BODY_ANSWER:
        check_answer(peer, frame->answer);
        break;
    default:
        break;
    }
}

static void world_send(void *data, const uint8_t *bytes, size_t length)
{
    struct peer *peer = data;
    Lockstep__Frame *frame = lockstep__frame__unpack(NULL, length, bytes);

    assert(peer->is_open && frame != NULL);
    check(peer, frame);
    lockstep__frame__free_unpacked(frame, NULL);
}

static size_t world_queued(void *data)
{
    (void)data;
    return 0;
}

static void world_end(void *data, const char *reason)
{
    struct peer *peer = data;

    assert(peer->is_open && reason[0] != '\0');
    memset(peer, 0, sizeof(*peer));
}

static const struct link_world world = {
    .send = world_send,
    .queued = world_queued,
    .end = world_end,
};

/* ---- What peers say ---------------------------------------------------------
 */

static void say(struct peer *peer, const Lockstep__Frame *frame)
{
    size_t length = lockstep__frame__get_packed_size(frame);

    assert(length <= sizeof(body));
    (void)lockstep__frame__pack(frame, body);
    fleet_frame(fleet, peer->link, body, length, clock_.now_ns);
}

#define SAY(peer, CASE, member, message)                                       \
    do {                                                                       \
        Lockstep__Frame frame_ = LOCKSTEP__FRAME__INIT;                        \
                                                                               \
        frame_.body_case = LOCKSTEP__FRAME__BODY_##CASE;                       \
        frame_.member = (message);                                             \
        say((peer), &frame_);                                                  \
    } while (0)

static ProtobufCBinaryData uuid_bytes(struct uuid *uuid)
{
    return (ProtobufCBinaryData){16, uuid->bytes};
}

/* The work that it was given; with an odd argument one that it was not. */
static Lockstep__Work work_of(struct peer *peer, uint8_t argument)
{
    Lockstep__Work work = LOCKSTEP__WORK__INIT;

    work.campaign = uuid_bytes(&peer->campaign);
    work.phase = peer->phase + (argument >> 4 & 1u);
    work.epoch = peer->epoch;
    return work;
}

static void say_agent_hello(struct peer *peer, uint8_t argument)
{
    static char *const names[] = {(char *)(uintptr_t) "a",
                                  (char *)(uintptr_t) "b"};
    struct uuid instance = {{argument >> 1 & 3u}};
    Lockstep__AgentHello hello = LOCKSTEP__AGENT_HELLO__INIT;
    Lockstep__Held held = LOCKSTEP__HELD__INIT;
    Lockstep__Work work = work_of(peer, argument);

    hello.major = argument > 250 ? 2 : 1;
    hello.name = names[argument & 1];
    hello.instance = uuid_bytes(&instance);
    hello.boot = hello.instance;
    hello.version = (char *)(uintptr_t) "0";
    hello.lease_ms = 2000;
    held.work = &work;
    held.state = (Lockstep__AgentState)(argument >> 5);
    if (argument >> 5 != 0 && argument >> 5 <= 6)
        hello.held = &held;
    peer->is_agent = peer->is_agent || !peer->welcome;
    if (!peer->welcome)
        peer->name = hello.name;
    SAY(peer, AGENT_HELLO, agent_hello, &hello);
}

static void say_shell_hello(struct peer *peer)
{
    Lockstep__ShellHello hello = LOCKSTEP__SHELL_HELLO__INIT;

    hello.major = 1;
    peer->is_shell = peer->is_shell || !peer->welcome;
    SAY(peer, SHELL_HELLO, shell_hello, &hello);
}

static void say_inspected(struct peer *peer, uint8_t argument)
{
    Lockstep__Inspected inspected = LOCKSTEP__INSPECTED__INIT;
    Lockstep__TargetFacts facts = LOCKSTEP__TARGET_FACTS__INIT;
    Lockstep__TargetFacts *list[] = {&facts, &facts};

    facts.kind = (Lockstep__TargetKind)(argument >> 4 & 3);
    facts.size_bytes = 1u << 30;
    facts.logical_block = 512;
    facts.device = (char *)(uintptr_t) "/dev/sdb";
    if ((argument & 64u) != 0)
        facts.content = (char *)(uintptr_t)CONTENT;
    inspected.campaign = uuid_bytes(&peer->campaign);
    inspected.targets = list;
    inspected.n_targets = argument & 3u;
    if (inspected.n_targets > 2)
        inspected.n_targets = 1;
    SAY(peer, INSPECTED, inspected, &inspected);
}

static void say_sample(struct peer *peer, uint8_t argument)
{
    static struct histogram h;
    static uint8_t blob[4096];
    Lockstep__Sample sample = LOCKSTEP__SAMPLE__INIT;
    Lockstep__CellSample cell = LOCKSTEP__CELL_SAMPLE__INIT;
    Lockstep__CellSample *cells[] = {&cell};
    Lockstep__Work work = work_of(peer, argument);

    histogram_init(&h);
    histogram_record_many(&h, 1000, 10);
    cell.ios = 10;
    cell.bytes = 40960;
    cell.cell = (argument & 0x30) == 0x30 ? 5 : 0; /* there is one */
    cell.service = (ProtobufCBinaryData){histogram_encode(&h, blob), blob};
    sample.work = &work;
    sample.interval = argument & 15u;
    sample.kind = (Lockstep__SampleKind)(argument >> 6 & 1) * 2;
    sample.parts = 1;
    sample.spans = 1;
    sample.agent_begin_ns = peer->start_ns + sample.interval * NS_PER_S;
    sample.agent_end_ns = sample.agent_begin_ns + NS_PER_S;
    sample.agent_opened_first_ns = peer->start_ns;
    sample.agent_opened_last_ns = peer->start_ns;
    sample.cells = cells;
    sample.n_cells = argument >> 7;
    SAY(peer, SAMPLE, sample, &sample);
}

static void say_finished(struct peer *peer, uint8_t argument)
{
    Lockstep__Finished finished = LOCKSTEP__FINISHED__INIT;
    Lockstep__Work work = work_of(peer, argument);

    finished.work = &work;
    finished.outcome = (Lockstep__Outcome)(argument >> 5) % 6;
    finished.intervals = argument & 15u;
    SAY(peer, FINISHED, finished, &finished);
}

static void say_about_work(struct peer *peer, uint8_t what, uint8_t argument)
{
    Lockstep__Work work = work_of(peer, argument);
    Lockstep__Ready ready = LOCKSTEP__READY__INIT;
    Lockstep__Armed armed = LOCKSTEP__ARMED__INIT;
    Lockstep__Refused refused = LOCKSTEP__REFUSED__INIT;

    ready.work = armed.work = refused.work = &work;
    refused.reason = (char *)(uintptr_t) "it would not";
    if (what == 0) {
        SAY(peer, READY, ready, &ready);
    } else if (what == 1) {
        peer->armed++;
        SAY(peer, ARMED, armed, &armed);
    } else {
        SAY(peer, REFUSED, refused, &refused);
    }
}

static void say_clock_reply(struct peer *peer, uint8_t argument)
{
    Lockstep__ClockReply reply = LOCKSTEP__CLOCK_REPLY__INIT;

    reply.sequence = peer->probe + (argument > 250 ? 1 : 0);
    reply.agent_received_ns = clock_.now_ns;
    reply.agent_sent_ns = clock_.now_ns;
    SAY(peer, CLOCK_REPLY, clock_reply, &reply);
}

static void say_inventory(struct peer *peer)
{
    Lockstep__Inventory inventory = LOCKSTEP__INVENTORY__INIT;
    Lockstep__HostFacts host = LOCKSTEP__HOST_FACTS__INIT;

    inventory.host = &host;
    SAY(peer, INVENTORY, inventory, &inventory);
}

static void say_submit(Lockstep__Request *request, struct peer *peer,
                       uint8_t argument)
{
    static const char *const texts[] = {
        "hd=a,system=a\nsd=sd1,host=a,lun=/dev/sdb,openflags=o_direct\n"
        "wd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n",
        "hd=a,system=a\nhd=b,system=b\n"
        "sd=sd1,host=(a,b),lun=/dev/sdb,openflags=o_direct\n"
        "wd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=curve,curve=(50,100),elapsed=2,"
        "interval=1\n",
        "sd=sd1,lun=",
        "hd=a,system=a\n"
        "sd=sd1,host=a,lun=/dev/sdb,openflags=o_direct,overwrite=yes\n"
        "wd=wd1,sd=*,rdpct=0\nrd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n",
    };
    Lockstep__Submit submit = LOCKSTEP__SUBMIT__INIT;
    Lockstep__File file = LOCKSTEP__FILE__INIT;
    Lockstep__File *files[] = {&file};

    file.name = (char *)(uintptr_t) "f";
    file.text = (char *)(uintptr_t)texts[argument & 3u];
    /* The hash that was asked for, or one of nothing. */
    if ((argument & 4u) != 0) {
        submit.yes = asked[0] != '\0' ? asked : (char *)(uintptr_t) "0815";
        given = given || asked[0] != '\0';
    }
    submit.files = files;
    submit.n_files = 1;
    request->what_case = LOCKSTEP__REQUEST__WHAT_SUBMIT;
    request->submit = &submit;
    SAY(peer, REQUEST, request, request);
}

static void say_request(struct peer *peer, uint8_t what, uint8_t argument)
{
    static char *const names[] = {
        (char *)(uintptr_t) "", (char *)(uintptr_t) "1",
        (char *)(uintptr_t) "2", (char *)(uintptr_t) "zz"};
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Query query = LOCKSTEP__QUERY__INIT;
    Lockstep__Watch watch = LOCKSTEP__WATCH__INIT;
    Lockstep__Stop stop = LOCKSTEP__STOP__INIT;

    request.id = argument >> 3;
    peer->orders[request.id] = what == 0 || what == 3;
    query.kind = (Lockstep__QueryKind)(argument & 7);
    query.campaign = watch.campaign = stop.campaign = names[argument & 3];
    if (what == 0) {
        say_submit(&request, peer, argument);
        return;
    }
    if (what == 1) {
        request.what_case = LOCKSTEP__REQUEST__WHAT_QUERY;
        request.query = &query;
    } else if (what == 2) {
        request.what_case = LOCKSTEP__REQUEST__WHAT_WATCH;
        request.watch = &watch;
    } else {
        request.what_case = LOCKSTEP__REQUEST__WHAT_STOP;
        request.stop = &stop;
    }
    SAY(peer, REQUEST, request, &request);
}

/* ---- Steps ------------------------------------------------------------- */

static void connect_peer(struct peer *peer, uint8_t argument)
{
    static const struct link_peer all[] = {
        {.address = "192.0.2.1:1", .name = "", .role = TLS_ROLE_NONE},
        {.address = "192.0.2.2:2", .name = "a", .role = TLS_ROLE_AGENT},
        {.address = "192.0.2.3:3", .name = "b", .role = TLS_ROLE_AGENT},
        {.address = "192.0.2.4:4", .name = "otto", .role = TLS_ROLE_OPERATOR},
        {.address = "192.0.2.5:5", .name = "vera", .role = TLS_ROLE_VIEWER},
        {.address = "192.0.2.6:6", .name = "c", .role = TLS_ROLE_CONTROLLER},
    };
    const struct link_peer *who = &all[argument % 8 < 6 ? argument % 8 : 0];

    memset(peer, 0, sizeof(*peer));
    peer->is_open = true;
    peer->role = who->role;
    peer->certified = who->name;
    peer->link = fleet_connected(fleet, peer, who);
    assert(peer->link != NULL);
}

static void disconnect(struct peer *peer)
{
    struct link *link = peer->link;

    memset(peer, 0, sizeof(*peer));
    fleet_disconnected(fleet, link, "gone");
}

static void beat_hearts(void)
{
    Lockstep__Heartbeat beat = LOCKSTEP__HEARTBEAT__INIT;

    for (size_t i = 0; i < PEERS; i++)
        if (peers[i].welcome)
            SAY(&peers[i], HEARTBEAT, heartbeat, &beat);
}

/* Time passes; with a large argument in silence. */
static void pass(uint8_t argument)
{
    for (uint8_t i = 0; i <= (argument & 127u) / 4; i++) {
        clock_manual_advance(&clock_, (argument & 3u) * 33 * NS_PER_MS + 1);
        if (argument < 128)
            beat_hearts();
        fleet_tick(fleet);
    }
}

static void step(const uint8_t bytes[3])
{
    struct peer *peer = &peers[bytes[0] % PEERS];
    uint8_t what = bytes[1] % 16;
    uint8_t argument = bytes[2];

    if (what == 15) {
        pass(argument);
        return;
    }
    if (!peer->is_open) {
        connect_peer(peer, argument);
        return;
    }
    if (what == 0)
        disconnect(peer);
    else if (what == 1)
        say_agent_hello(peer, argument);
    else if (what == 2)
        say_shell_hello(peer);
    else if (what == 3)
        say_inspected(peer, argument);
    else if (what == 4)
        say_sample(peer, argument);
    else if (what == 5)
        say_finished(peer, argument);
    else if (what <= 8)
        say_about_work(peer, what - 6, argument);
    else if (what == 9)
        say_clock_reply(peer, argument);
    else if (what == 10)
        say_inventory(peer);
    else
        say_request(peer, what - 11, argument);
}

static void open_fleet(const char *store)
{
    const struct fleet_options options = {
        .store = store,
        .start_tolerance_ns = 5 * NS_PER_MS,
        .clock = &clock_.clock,
        .world = &world,
        .threadless = true,
    };
    struct diag diag;
    int err;

    clock_manual_init(&clock_, 1000 * NS_PER_S);
    err = fleet_open(&options, &fleet, &diag);
    assert(err == 0);
}

/* What was begun comes to its end, whatever the peers do or do not. */
static void finish(void)
{
    fleet_stop(fleet, "the end of the test");
    for (int i = 0; i < 20000 && !fleet_is_over(fleet); i++) {
        uint64_t due_ns = fleet_due_ns(fleet);

        clock_manual_advance(&clock_, due_ns > clock_.now_ns
                                          ? due_ns - clock_.now_ns
                                          : NS_PER_MS);
        fleet_tick(fleet);
    }
    assert(fleet_is_over(fleet));
    fleet = fleet_close(fleet);
}

static void remove_store(const char *store)
{
    static const char *const ends[] = {"", "-wal", "-shm", ".lock"};
    char path[512];

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", store, ends[i]);
        (void)unlink(path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char store[256];

    log_set_level(LOG_LEVEL_ERROR);
    (void)snprintf(store, sizeof(store), "/dev/shm/lockstep-fuzz-%d.db",
                   (int)getpid());
    remove_store(store);
    open_fleet(store);
    memset(peers, 0, sizeof(peers));
    memset(asked, 0, sizeof(asked));
    given = false;
    for (size_t i = 0; i + 3 <= size && i / 3 < STEPS_MAX; i += 3)
        step(data + i);
    finish();
    remove_store(store);
    return 0;
}
