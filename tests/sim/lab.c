#include "tests/sim/lab.h"

#include "proto/lockstep.pb-c.h"

#include <assert.h>
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct link_world doors;

static const char *const verdict_names[LAB_VERDICTS] = {
    "none", "complete", "degraded", "failed", "interrupted",
};

/* ---- Time ---------------------------------------------------------------- */

static void on_tick(void *context, uint64_t token)
{
    struct lab *lab = context;

    if (lab->fleet == NULL || lab->dying || token != lab->tick_ns)
        return;
    lab->tick_ns = UINT64_MAX;
    fleet_tick(lab->fleet);
    lab_tick_soon(lab);
}

static void tick_by(struct lab *lab, uint64_t at_ns)
{
    uint64_t now = world_now(&lab->world);

    if (at_ns < now)
        at_ns = now;
    if (at_ns >= lab->tick_ns)
        return;
    lab->tick_ns = at_ns;
    world_at(&lab->world, at_ns, on_tick, lab, at_ns);
}

void lab_tick_soon(struct lab *lab)
{
    uint64_t due = fleet_due_ns(lab->fleet);

    if (due != UINT64_MAX)
        tick_by(lab, due);
}

/* Something came: the store has work, in a while. */
static void after_frame(struct lab *lab)
{
    tick_by(lab, world_now(&lab->world) + lab->store_ns);
    lab_tick_soon(lab);
}

/* ---- Connections -----------------------------------------------------------
 */

static struct lab_port *port_new(struct lab *lab, uint32_t host,
                                 uint64_t connection)
{
    static const struct link_peer peer = {
        .address = "192.0.2.7:4711", .name = "", .role = TLS_ROLE_NONE};
    struct lab_port *port = calloc(1, sizeof(*port));

    assert(port != NULL);
    port->lab = lab;
    port->host = host;
    port->connection = connection;
    port->next = lab->ports;
    lab->ports = port;
    port->link = fleet_connected(lab->fleet, port, &peer);
    REQUIRE(&lab->world, port->link != NULL);
    return port;
}

static struct lab_port *port_find(struct lab *lab, uint32_t host,
                                  uint64_t connection)
{
    struct lab_port *port = lab->ports;

    while (port != NULL &&
           (port->host != host || port->connection != connection))
        port = port->next;
    return port;
}

/* On its way to the shell. */
struct lab_news {
    struct lab_news *next;
    struct lab_news **where; /* the pointer that points here */
    struct lab *lab;
    size_t length;
    uint8_t bytes[];
};

static void shell_hears(void *context, uint64_t token);

static struct lab_news *news_new(struct lab *lab, const uint8_t *body,
                                 size_t length)
{
    struct lab_news *news = malloc(sizeof(*news) + length);

    assert(news != NULL);
    news->next = lab->news;
    if (news->next != NULL)
        news->next->where = &news->next;
    news->where = &lab->news;
    lab->news = news;
    news->lab = lab;
    news->length = length;
    memcpy(news->bytes, body, length);
    return news;
}

static void news_free(struct lab_news *news)
{
    *news->where = news->next;
    if (news->next != NULL)
        news->next->where = news->where;
    free(news);
}

static int kind_of_frame(const uint8_t *body, size_t length)
{
    Lockstep__Frame *frame = lockstep__frame__unpack(NULL, length, body);
    int kind = frame == NULL ? 0 : (int)frame->body_case;

    lockstep__frame__free_unpacked(frame, NULL);
    return kind;
}

static void on_send(void *connection, const uint8_t *body, size_t length)
{
    struct lab_port *port = connection;
    struct lab *lab = port->lab;
    struct cable *cable;

    if (lab->dying || (lab->crash_at != 0 &&
                       lab_crash_point(lab, kind_of_frame(body, length))))
        return;

    if (port->host < LAB_HOSTS) {
        cable = &lab->hosts[port->host].cable;
        if (cable->connection == port->connection)
            cable_send(cable, 1, body, length);
        return;
    }
    world_at(&lab->world, world_now(&lab->world), shell_hears,
             news_new(lab, body, length), 0);
}

static size_t on_queued(void *connection)
{
    (void)connection;
    return 0;
}

static void on_end(void *connection, const char *reason)
{
    struct lab_port *port = connection;
    struct lab *lab = port->lab;

    world_trace(&lab->world, "controller ends host%u's connection: %s",
                port->host, reason);
    port->link = NULL;
    REQUIRE(&lab->world, port->host < LAB_HOSTS || lab->over || lab->dying);
    if (port->host < LAB_HOSTS &&
        lab->hosts[port->host].cable.connection == port->connection)
        cable_close(&lab->hosts[port->host].cable, 1);
}

static const struct link_world doors = {
    .send = on_send,
    .queued = on_queued,
    .end = on_end,
};

struct ear {
    struct lab *lab;
    uint32_t host;
};

static struct ear ears[LAB_HOSTS];

static void on_message(void *context, uint64_t connection, const void *bytes,
                       size_t length)
{
    const struct ear *ear = context;
    struct lab *lab = ear->lab;
    struct lab_port *port = port_find(lab, ear->host, connection);

    if (lab->fleet == NULL || lab->dying)
        return;
    if (lab->crash_at != 0 &&
        lab_crash_point(lab, kind_of_frame(bytes, length)) &&
        world_chance(&lab->world, 0.5))
        return; /* it died before it read it */
    if (port == NULL)
        port = port_new(lab, ear->host, connection);
    if (port->link == NULL)
        return;
    fleet_frame(lab->fleet, port->link, bytes, length, world_now(&lab->world));
    after_frame(lab);
}

static void on_closed(void *context, uint64_t connection)
{
    const struct ear *ear = context;
    struct lab *lab = ear->lab;
    struct lab_port *port = port_find(lab, ear->host, connection);
    struct link *link;

    if (lab->fleet == NULL || port == NULL || port->link == NULL)
        return;
    link = port->link;
    port->link = NULL;
    fleet_disconnected(lab->fleet, link, "connection reset");
    after_frame(lab);
}

bool lab_is_up(const struct lab *lab, uint32_t host)
{
    return lab->hosts[host].session != NULL &&
           session_is_up(lab->hosts[host].session);
}

/* ---- The shell ------------------------------------------------------------
 */

static void shell_say(struct lab *lab, const Lockstep__Frame *frame)
{
    uint8_t body[16384];
    size_t length = lockstep__frame__get_packed_size(frame);

    assert(length <= sizeof(body));
    (void)lockstep__frame__pack(frame, body);
    fleet_frame(lab->fleet, lab->shell->link, body, length,
                world_now(&lab->world));
    after_frame(lab);
}

static void shell_beats(void *context, uint64_t token)
{
    struct lab *lab = context;
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Heartbeat beat = LOCKSTEP__HEARTBEAT__INIT;

    if (lab->fleet == NULL || lab->dying || lab->shell == NULL ||
        lab->shell->connection != token)
        return;
    frame.body_case = LOCKSTEP__FRAME__BODY_HEARTBEAT;
    frame.heartbeat = &beat;
    shell_say(lab, &frame);
    world_at(&lab->world, world_now(&lab->world) + NS_PER_S, shell_beats, lab,
             token);
}

static void shell_enter(struct lab *lab)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__ShellHello hello = LOCKSTEP__SHELL_HELLO__INIT;

    lab->shell = port_new(lab, LAB_HOSTS, ++lab->shells);
    hello.major = 1;
    hello.user = (char *)(uintptr_t) "ann";
    frame.body_case = LOCKSTEP__FRAME__BODY_SHELL_HELLO;
    frame.shell_hello = &hello;
    shell_say(lab, &frame);
    shell_beats(lab, lab->shell->connection);
}

static void write_file(const struct lab *lab, char *text, size_t size)
{
    size_t length = 0;

#define ADD(...)                                                               \
    (length += (size_t)snprintf(text + length, size - length, __VA_ARGS__))
    for (uint32_t i = 0; i < lab->host_count; i++)
        ADD("hd=host%u,system=host%u\n", i, i);
    for (uint32_t i = 0; i < lab->host_count; i++)
        ADD("sd=sd%u,host=host%u,lun=/dev/fake0,openflags=o_direct\n", i + 1,
            i);
    ADD("wd=wd1,sd=sd*,rdpct=100,xfersize=4k\n");
    for (uint32_t i = 0; i < lab->run_count; i++)
        ADD("rd=rd%u,wd=wd1,iorate=max,elapsed=%u,interval=1,warmup=%u\n", i,
            (unsigned)lab->runs[i].elapsed_s, (unsigned)lab->runs[i].warmup_s);
#undef ADD
    assert(length < size);
}

static void shell_request(struct lab *lab, Lockstep__Request *request)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;

    frame.body_case = LOCKSTEP__FRAME__BODY_REQUEST;
    frame.request = request;
    shell_say(lab, &frame);
}

void lab_submit(struct lab *lab)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Submit submit = LOCKSTEP__SUBMIT__INIT;
    Lockstep__File file = LOCKSTEP__FILE__INIT;
    Lockstep__File *files[] = {&file};
    char text[8192];

    write_file(lab, text, sizeof(text));
    file.name = (char *)(uintptr_t) "sim.parm";
    file.text = text;
    submit.files = files;
    submit.n_files = 1;
    request.id = 1;
    request.what_case = LOCKSTEP__REQUEST__WHAT_SUBMIT;
    request.submit = &submit;
    shell_request(lab, &request);
}

static void shell_watch(struct lab *lab)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Watch watch = LOCKSTEP__WATCH__INIT;

    watch.campaign = (char *)(uintptr_t) "1";
    request.id = 2;
    request.what_case = LOCKSTEP__REQUEST__WHAT_WATCH;
    request.watch = &watch;
    shell_request(lab, &request);
}

void lab_check(struct lab *lab)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Query query = LOCKSTEP__QUERY__INIT;

    query.kind = LOCKSTEP__QUERY_KIND__QUERY_SHOW;
    query.campaign = (char *)(uintptr_t) "1";
    request.id = 4;
    request.what_case = LOCKSTEP__REQUEST__WHAT_QUERY;
    request.query = &query;
    shell_request(lab, &request);
}

void lab_stop_campaign(struct lab *lab)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Stop stop = LOCKSTEP__STOP__INIT;

    if (lab->fleet == NULL || lab->dying || !lab->submitted || lab->over)
        return;
    world_trace(&lab->world, "the operator stops it");
    lab->stopped = true;
    lab->stopped_ns = world_now(&lab->world);
    stop.campaign = (char *)(uintptr_t) "1";
    request.id = 3;
    request.what_case = LOCKSTEP__REQUEST__WHAT_STOP;
    request.stop = &stop;
    shell_request(lab, &request);
}

/* ---- What the shell is told is true
 * ------------------------------------------ */

static enum lab_verdict verdict_named(const struct lab *lab, const char *name)
{
    for (int i = LAB_COMPLETE; i < LAB_VERDICTS; i++)
        if (strcmp(verdict_names[i], name) == 0)
            return (enum lab_verdict)i;
    REQUIRE(&lab->world, !"a verdict");
    return LAB_NONE;
}

static enum lab_verdict verdict_in(const struct lab *lab, const json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "verdict"));

    REQUIRE(&lab->world, name != NULL);
    return verdict_named(lab, name);
}

static void check_complete(const struct lab *lab, uint32_t phase,
                           const json_t *event)
{
    const json_t *total = json_object_get(event, "total");
    uint64_t ios = 0;

    for (uint32_t i = 0; i < lab->host_count; i++) {
        const struct truth_part *part = &lab->truth.parts[phase][i];

        REQUIRE(&lab->world, part->complete);
        ios += part->measured_ios;
    }
    REQUIRE(&lab->world,
            (uint64_t)json_integer_value(json_object_get(total, "ios")) == ios);
}

static double number_in(const json_t *event, const char *key)
{
    const json_t *number = json_object_get(event, key);

    return json_is_number(number) ? json_number_value(number) : -1;
}

/* Those whose workers were there in time opened as near to each other as the
 * result says, give or take what it says about the clocks. */
static void check_spread(const struct lab *lab, uint32_t phase,
                         const json_t *event)
{
    double spread_us = number_in(event, "start_spread_us");
    double uncertainty_us = number_in(event, "start_uncertainty_us");
    uint64_t first = UINT64_MAX, last = 0;

    if (spread_us < 0 || uncertainty_us < 0)
        return;
    for (uint32_t i = 0; i < lab->host_count; i++) {
        const struct truth_part *part = &lab->truth.parts[phase][i];

        if (part->opened_ns == 0 || part->late)
            continue;
        first = part->opened_ns < first ? part->opened_ns : first;
        last = part->opened_ns > last ? part->opened_ns : last;
    }
    if (last > first)
        REQUIRE(&lab->world, (double)(last - first) / 1e3 <=
                                 spread_us + 2 * uncertainty_us + 5);
}

static void check_phase_end(struct lab *lab, const json_t *event)
{
    uint32_t phase =
        (uint32_t)json_integer_value(json_object_get(event, "phase")) - 1;
    enum lab_verdict verdict = verdict_in(lab, event);
    const char *error = json_string_value(json_object_get(event, "error"));
    uint32_t whole = 0;

    world_trace(&lab->world, "phase %u: %s %s", phase, verdict_names[verdict],
                error != NULL ? error : "");
    REQUIRE(&lab->world, phase < lab->run_count);
    for (uint32_t i = 0; i < lab->host_count; i++)
        whole += lab->truth.parts[phase][i].complete;
    REQUIRE(&lab->world, lab->truth.writing == 0);
    check_spread(lab, phase, event);
    if (verdict == LAB_COMPLETE)
        check_complete(lab, phase, event);
    if (verdict == LAB_DEGRADED)
        REQUIRE(&lab->world, whole > 0);
    if (verdict != LAB_COMPLETE)
        REQUIRE(&lab->world, error != NULL && error[0] != '\0');
    if (verdict == LAB_INTERRUPTED)
        REQUIRE(&lab->world, lab->stopped);
    lab->phases_ended++;
}

static void check_event(struct lab *lab, const json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    const char *text = json_string_value(json_object_get(event, "text"));

    REQUIRE(&lab->world, name != NULL);
    if (strcmp(name, "notice") == 0)
        world_trace(&lab->world, "notice: %s", text);
    if (strcmp(name, "phase_end") == 0)
        check_phase_end(lab, event);
    if (strcmp(name, "end") != 0)
        return;
    lab->verdict = verdict_in(lab, event);
    lab->over = true;
    lab->truth.ended = true;
    world_trace(&lab->world, "campaign: %s", verdict_names[lab->verdict]);
    REQUIRE(&lab->world, lab->truth.writing == 0);
}

/* A phase in the store, by the truth. */
static void check_stored(const struct lab *lab, uint32_t phase,
                         const json_t *shown)
{
    const char *verdict = json_string_value(json_object_get(shown, "verdict"));
    const json_t *hosts = json_object_get(shown, "hosts");

    if (verdict == NULL || verdict_named(lab, verdict) != LAB_COMPLETE)
        return;
    check_complete(lab, phase, shown);
    REQUIRE(&lab->world, json_array_size(hosts) == lab->host_count);
    for (uint32_t i = 0; i < lab->host_count; i++)
        REQUIRE(&lab->world, (uint64_t)json_integer_value(json_object_get(
                                 json_array_get(hosts, i), "ios")) ==
                                 lab->truth.parts[phase][i].measured_ios);
}

static void check_show(struct lab *lab, const json_t *document)
{
    const json_t *phases = json_object_get(document, "phases");
    size_t i;
    const json_t *phase;

    REQUIRE(&lab->world, json_array_size(phases) == lab->run_count);
    json_array_foreach(phases, i, phase)
    {
        check_stored(lab, (uint32_t)i, phase);
    }
    REQUIRE(&lab->world, verdict_in(lab, document) == lab->verdict);
    lab->checked = true;
}

/* People look whether the agents are there. */
static void submit_again(void *context, uint64_t shell)
{
    struct lab *lab = context;

    if (lab->shell == NULL || lab->dying || lab->shell->connection != shell)
        return;
    for (uint32_t i = 0; i < lab->host_count; i++)
        if (!lab_is_up(lab, i)) {
            world_at(&lab->world, world_now(&lab->world) + NS_PER_S,
                     submit_again, lab, shell);
            return;
        }
    lab_submit(lab);
}

/* After a restart: is it known?  A submit that was not answered may be lost. */
static void check_watch(struct lab *lab, uint32_t status,
                        const json_t *document)
{
    const char *verdict =
        json_string_value(json_object_get(document, "verdict"));

    if (status != 0) {
        REQUIRE(&lab->world, !lab->submitted);
        submit_again(lab, lab->shell->connection);
        return;
    }
    lab->submitted = true;
    if (verdict == NULL)
        return;
    lab->verdict = verdict_named(lab, verdict);
    lab->over = true;
    lab->truth.ended = true;
    world_trace(&lab->world, "campaign was: %s", verdict);
    REQUIRE(&lab->world, lab->truth.writing == 0);
}

static void check_answer(struct lab *lab, uint32_t request, uint32_t status,
                         const json_t *document)
{
    const char *error = json_string_value(json_object_get(document, "error"));

    if (status != 0)
        world_trace(&lab->world, "answer %u: status %u %s", request, status,
                    error != NULL ? error : "");
    if (request == 2)
        check_watch(lab, status, document);
    if (request == 4)
        check_show(lab, document);
    if (request != 1)
        return;
    REQUIRE(&lab->world, status == 0 || lab->mood == LAB_ROUGH);
    if (status != 0) {
        lab->over = true;
        lab->verdict = LAB_FAILED;
        return;
    }
    lab->submitted = true;
    shell_watch(lab);
}

static void shell_hears(void *context, uint64_t token)
{
    struct lab_news *news = context;
    struct lab *lab = news->lab;
    Lockstep__Frame *frame =
        lockstep__frame__unpack(NULL, news->length, news->bytes);
    const ProtobufCBinaryData *text = NULL;
    json_t *json;

    (void)token;
    news_free(news);
    REQUIRE(&lab->world, frame != NULL);
    if (lab->dying) {
        lockstep__frame__free_unpacked(frame, NULL);
        return;
    }
    if (frame->body_case == LOCKSTEP__FRAME__BODY_ANSWER)
        text = &frame->answer->document;
    if (frame->body_case == LOCKSTEP__FRAME__BODY_EVENT)
        text = &frame->event->document;
    if (text != NULL && lab->fleet != NULL) {
        json = json_loadb((const char *)text->data, text->len, 0, NULL);
        REQUIRE(&lab->world, json != NULL);
        if (frame->body_case == LOCKSTEP__FRAME__BODY_EVENT)
            check_event(lab, json);
        else
            check_answer(lab, frame->answer->id, frame->answer->status, json);
        json_decref(json);
    }
    lockstep__frame__free_unpacked(frame, NULL);
}

/* ---- The controller's life
 * ------------------------------------------------------ */

static void open_fleet(struct lab *lab)
{
    const struct fleet_options options = {
        .store = lab->store,
        .start_tolerance_ns = 20 * NS_PER_MS,
        .clock = &lab->world.clock.clock,
        .world = &doors,
        .threadless = true,
    };
    struct diag diag = {0};
    int err = fleet_open(&options, &lab->fleet, &diag);

    if (err != 0)
        ck_abort_msg("%s", diag.text);
    lab->tick_ns = UINT64_MAX;
    lab_tick_soon(lab);
}

static const char *const store_suffixes[] = {"", "-wal"};

/* What a kill leaves behind: the file as it is, and its log. */
static void move_store(const struct lab *lab, const char *from, const char *to)
{
    char source[PATH_SIZE + 16], target[PATH_SIZE + 16], buffer[65536];

    for (size_t i = 0; i < ARRAY_LENGTH(store_suffixes); i++) {
        FILE *in, *out;
        size_t length;

        (void)snprintf(source, sizeof(source), "%s%s%s", lab->store, from,
                       store_suffixes[i]);
        (void)snprintf(target, sizeof(target), "%s%s%s", lab->store, to,
                       store_suffixes[i]);
        (void)unlink(target);
        in = fopen(source, "rb");
        if (in == NULL)
            continue;
        out = fopen(target, "wb");
        assert(out != NULL);
        while ((length = fread(buffer, 1, sizeof(buffer), in)) > 0)
            (void)fwrite(buffer, 1, length, out);
        (void)fclose(in);
        (void)fclose(out);
    }
}

static void restart(void *context, uint64_t token)
{
    struct lab *lab = context;

    (void)token;
    world_trace(&lab->world, "the controller is started again");
    lab->dying = false;
    open_fleet(lab);
    shell_enter(lab);
    shell_watch(lab);
}

void lab_crash(struct lab *lab, uint64_t dark_ns)
{
    if (lab->fleet == NULL)
        return;
    world_trace(&lab->world, "the controller is killed, for %.3f s",
                (double)dark_ns / 1e9);
    lab->dying = true;
    for (struct lab_port *port = lab->ports; port != NULL; port = port->next)
        if (port->host == LAB_HOSTS)
            port->link = NULL;
    for (uint32_t i = 0; i < lab->host_count; i++)
        cable_cut(&lab->hosts[i].cable, CABLE_BOTH, dark_ns, 0, NS_PER_MS);
    lab->shell = NULL;
    move_store(lab, "", ".crash");
    lab->fleet = fleet_close(lab->fleet);
    move_store(lab, ".crash", "");
    for (struct lab_port *port = lab->ports; port != NULL; port = port->next)
        port->link = NULL;
    world_at(&lab->world, world_now(&lab->world) + dark_ns, restart, lab, 0);
}

static void die_now(void *context, uint64_t dark_ns)
{
    lab_crash(context, dark_ns);
}

bool lab_crash_point(struct lab *lab, int frame_kind)
{
    if (frame_kind != lab->crash_at || lab->over || lab->crash_after-- > 0)
        return false;
    lab->crash_at = 0;
    lab->dying = true;
    world_trace(&lab->world, "the controller dies at frame %d", frame_kind);
    world_at(&lab->world, world_now(&lab->world), die_now, lab,
             lab_dark_ns(lab));
    return true;
}

uint64_t lab_dark_ns(struct lab *lab)
{
    /* Renewals are a fifth of a lease apart; dialling takes up to a second. */
    uint64_t in_time = lab->lease_ns * 4 / 5 - 2 * NS_PER_S;

    if (lab->mood == LAB_CRASHED)
        return world_between(&lab->world, 0, in_time);
    if (lab->mood == LAB_FELLED)
        return lab->lease_ns +
               world_between(&lab->world, 3 * NS_PER_S / 2, lab->lease_ns);
    return world_between(&lab->world, 0, 2 * lab->lease_ns);
}

void lab_init(struct lab *lab, uint64_t seed, enum lab_mood mood,
              const char *directory)
{
    memset(lab, 0, sizeof(*lab));
    world_init(&lab->world, seed);
    lab->mood = mood;
    lab->host_count = (uint32_t)world_between(&lab->world, 1, LAB_HOSTS);
    lab->run_count = (uint32_t)world_between(&lab->world, 1, LAB_RUNS);
    lab->lease_ns = world_between(&lab->world, 5, 20) * NS_PER_S;
    lab->store_ns = world_between(&lab->world, NS_PER_MS, 50 * NS_PER_MS);
    for (uint32_t i = 0; i < lab->run_count; i++) {
        lab->runs[i].elapsed_s = world_between(&lab->world, 2, 12);
        lab->runs[i].warmup_s = world_between(&lab->world, 0, 2);
    }
    truth_init(&lab->truth, &lab->world, lab->host_count);
    (void)snprintf(lab->store, sizeof(lab->store), "%s/lab.db", directory);
    for (uint32_t i = 0; i < lab->host_count; i++) {
        host_init(&lab->hosts[i], &lab->world, &lab->truth, i);
        lab->hosts[i].lease_ns = lab->lease_ns;
        ears[i] = (struct ear){lab, i};
        lab->hosts[i].cable.sides[1] =
            (struct cable_side){on_message, on_closed, &ears[i]};
    }
    open_fleet(lab);
    shell_enter(lab);
}

static void remove_store(const struct lab *lab)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[PATH_SIZE + 16];

    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", lab->store, suffixes[i]);
        (void)unlink(path);
        (void)snprintf(path, sizeof(path), "%s.crash%s", lab->store,
                       suffixes[i]);
        (void)unlink(path);
    }
}

void lab_done(struct lab *lab)
{
    struct lab_port *next;

    if (lab->shell != NULL)
        lab->shell->link = NULL;
    lab->dying = true;
    lab->fleet = fleet_close(lab->fleet);
    for (uint32_t i = 0; i < lab->host_count; i++)
        host_done(&lab->hosts[i]);
    for (struct lab_port *port = lab->ports; port != NULL; port = next) {
        next = port->next;
        free(port);
    }
    while (lab->news != NULL)
        news_free(lab->news);
    world_done(&lab->world);
    remove_store(lab);
}
