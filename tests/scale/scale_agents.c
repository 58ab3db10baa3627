/*
 * scale_agents - many agents that do no I/O, to measure a controller.
 *
 * Speaks the real protocol over real connections: each agent says hello, tells
 * of its drives, answers probes, prepares, arms, starts when its own clock
 * says so, and sends a sample at each edge, with histograms as a busy NVMe
 * drive fills them.  Their clocks are apart from ours, each by another amount.
 *
 *   scale_agents --controller 127.0.0.1:7780 --agents 200 --drives 8
 *                [--seconds N] [--ios N] [--keys DIRECTORY]
 *
 * DIRECTORY has agent-scale0000.pem and so on, for a controller with keys.
 * Prints a line when all are connected and one at the end, and ends after N
 * seconds, on SIGTERM, or when the controller has gone.
 */
#include "common/channel.h"
#include "common/clock.h"
#include "common/diag.h"
#include "common/frame.h"
#include "common/histogram.h"
#include "common/prng.h"
#include "common/uuid.h"
#include "proto/lockstep.pb-c.h"

#include <assert.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define BLOBS       32 /* different histograms to draw from */
#define CELLS_MAX   4096
#define DRIVE_BYTES (UINT64_C(3840755982336))

struct blob {
    uint8_t *data;
    size_t length;
    uint64_t ios;
};

struct cell {
    bool reads;
    bool writes;
    bool open;
};

enum state {
    IDLE,
    READY,
    ARMED,
    RUNNING,
    FINISHED,
};

struct agent {
    struct fleet *fleet;
    struct channel *channel;
    struct tls_context *tls;
    uint32_t number;
    bool welcome;
    char name[64];
    struct uuid instance;
    uint64_t offset_ns; /* of its clock to ours */
    uint64_t heard_ns;
    uint64_t said_ns;
    enum state state;
    /* The phase at hand. */
    uint8_t campaign[16];
    uint32_t phase;
    uint64_t epoch;
    uint64_t interval_ns;
    uint64_t warmup;
    uint64_t intervals; /* all of them */
    uint64_t start_ns;  /* on our clock */
    uint64_t next;      /* interval to be sent */
    struct cell *cells;
    uint32_t cell_count;
};

struct fleet {
    uv_loop_t uv;
    uv_timer_t timer;
    uv_signal_t term;
    const char *address;
    const char *keys; /* directory; NULL: plain connections */
    uint32_t agent_count;
    uint32_t drive_count;
    uint64_t end_ns;
    uint32_t connected;
    uint64_t samples;
    uint64_t acks;
    uint64_t bytes;
    struct agent *agents;
    struct blob blobs[BLOBS];
    struct prng prng;
};

static uint64_t now(void)
{
    return clock_now_ns(clock_os());
}

/* ---- Saying ------------------------------------------------------------ */

static uint8_t scratch[FRAME_BODY_MAX];

static void say(struct agent *agent, const Lockstep__Frame *frame)
{
    size_t length = lockstep__frame__get_packed_size(frame);

    assert(length <= sizeof(scratch));
    (void)lockstep__frame__pack(frame, scratch);
    agent->said_ns = now();
    agent->fleet->bytes += length;
    (void)channel_send(agent->channel, scratch, (uint32_t)length);
}

#define SAY(agent, CASE, member, message)                                      \
    do {                                                                       \
        Lockstep__Frame frame_ = LOCKSTEP__FRAME__INIT;                        \
                                                                               \
        frame_.body_case = LOCKSTEP__FRAME__BODY_##CASE;                       \
        frame_.member = (message);                                             \
        say((agent), &frame_);                                                 \
    } while (0)

static Lockstep__Work work_of(struct agent *agent)
{
    Lockstep__Work work = LOCKSTEP__WORK__INIT;

    work.campaign = (ProtobufCBinaryData){16, agent->campaign};
    work.phase = agent->phase;
    work.epoch = agent->epoch;
    return work;
}

static void say_hello(struct agent *agent)
{
    Lockstep__AgentHello hello = LOCKSTEP__AGENT_HELLO__INIT;

    hello.major = 1;
    hello.name = agent->name;
    hello.instance = (ProtobufCBinaryData){16, agent->instance.bytes};
    hello.boot = (ProtobufCBinaryData){16, agent->instance.bytes};
    hello.version = (char *)(uintptr_t)LOCKSTEP_VERSION;
    hello.lease_ms = 30000;
    SAY(agent, AGENT_HELLO, agent_hello, &hello);
}

static void say_inventory(struct agent *agent)
{
    uint32_t count = agent->fleet->drive_count;
    Lockstep__Inventory inventory = LOCKSTEP__INVENTORY__INIT;
    Lockstep__HostFacts host = LOCKSTEP__HOST_FACTS__INIT;
    Lockstep__DriveFacts *drives = calloc(count, sizeof(*drives));
    Lockstep__DriveFacts **list = calloc(count, sizeof(*list));
    char(*text)[3][64] = calloc(count, sizeof(*text));

    for (uint32_t i = 0; i < count; i++) {
        lockstep__drive_facts__init(&drives[i]);
        (void)snprintf(text[i][0], 64, "nvme%un1", i);
        (void)snprintf(text[i][1], 64, "/dev/nvme%un1", i);
        (void)snprintf(text[i][2], 64, "SCALE%05u%03u", agent->number, i);
        drives[i].name = text[i][0];
        drives[i].path = text[i][1];
        drives[i].serial = text[i][2];
        drives[i].model = (char *)(uintptr_t) "Simulated drive";
        drives[i].size_bytes = DRIVE_BYTES;
        drives[i].logical_block = 512;
        list[i] = &drives[i];
    }
    host.hostname = agent->name;
    host.kernel = (char *)(uintptr_t) "6.1.0";
    host.cpus = 64;
    inventory.host = &host;
    inventory.drives = list;
    inventory.n_drives = count;
    SAY(agent, INVENTORY, inventory, &inventory);
    free(text);
    free(list);
    free(drives);
}

static void say_finished(struct agent *agent, Lockstep__Outcome outcome)
{
    Lockstep__Finished finished = LOCKSTEP__FINISHED__INIT;
    Lockstep__Work work = work_of(agent);

    finished.work = &work;
    finished.outcome = outcome;
    finished.intervals = agent->next > 0 ? agent->next - 1 : 0;
    agent->state = FINISHED;
    SAY(agent, FINISHED, finished, &finished);
}

/* ---- Samples ----------------------------------------------------------- */

static void fill_cell(struct agent *agent, Lockstep__CellSample *to,
                      uint32_t cell, Lockstep__Op op)
{
    struct fleet *fleet = agent->fleet;
    const struct blob *blob = &fleet->blobs[prng_below(&fleet->prng, BLOBS)];

    lockstep__cell_sample__init(to);
    to->cell = cell;
    to->op = op;
    to->ios = blob->ios;
    to->bytes = blob->ios * 4096;
    to->service = (ProtobufCBinaryData){blob->length, blob->data};
    if (agent->cells[cell].open)
        to->response = to->service;
    to->in_flight = 32;
    to->oldest_ns = 100000;
}

static size_t fill_cells(struct agent *agent, Lockstep__CellSample *cells,
                         Lockstep__CellSample **list)
{
    size_t count = 0;

    for (uint32_t i = 0; i < agent->cell_count; i++) {
        if (agent->cells[i].reads)
            fill_cell(agent, &cells[count++], i, LOCKSTEP__OP__OP_READ);
        if (agent->cells[i].writes)
            fill_cell(agent, &cells[count++], i, LOCKSTEP__OP__OP_WRITE);
    }
    for (size_t i = 0; i < count; i++)
        list[i] = &cells[i];
    return count;
}

/* The drain row, after the last interval, is empty. */
static void say_sample(struct agent *agent)
{
    static Lockstep__CellSample cells[CELLS_MAX * 2];
    static Lockstep__CellSample *list[CELLS_MAX * 2];
    Lockstep__Sample sample = LOCKSTEP__SAMPLE__INIT;
    Lockstep__HostSample host = LOCKSTEP__HOST_SAMPLE__INIT;
    Lockstep__Work work = work_of(agent);
    uint64_t begin_ns = agent->start_ns + agent->next * agent->interval_ns;
    bool drain = agent->next == agent->intervals;

    sample.work = &work;
    sample.interval = agent->next;
    sample.parts = 1;
    sample.spans = 1;
    sample.kind = drain ? LOCKSTEP__SAMPLE_KIND__SAMPLE_DRAIN
                  : agent->next < agent->warmup
                      ? LOCKSTEP__SAMPLE_KIND__SAMPLE_WARMUP
                      : LOCKSTEP__SAMPLE_KIND__SAMPLE_MEASURED;
    sample.agent_begin_ns = begin_ns + agent->offset_ns;
    sample.agent_end_ns =
        sample.agent_begin_ns + (drain ? NS_PER_MS : agent->interval_ns);
    sample.agent_opened_first_ns = agent->start_ns + agent->offset_ns;
    sample.agent_opened_last_ns = sample.agent_opened_first_ns + 50000;
    sample.host = &host;
    host.capacity_ns = 64 * agent->interval_ns;
    host.host_cpu_ns = 3 * agent->interval_ns;
    host.agent_cpu_ns = 2 * agent->interval_ns;
    sample.n_cells = drain ? 0 : fill_cells(agent, cells, list);
    sample.cells = list;
    agent->fleet->samples++;
    agent->next++;
    SAY(agent, SAMPLE, sample, &sample);
    if (drain)
        say_finished(agent, LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
}

static void send_due_samples(struct agent *agent, uint64_t now_ns)
{
    while (agent->state == RUNNING) {
        uint64_t edges =
            agent->next < agent->intervals ? agent->next + 1 : agent->intervals;

        if (now_ns < agent->start_ns + edges * agent->interval_ns)
            return;
        say_sample(agent);
    }
}

/* ---- Hearing ----------------------------------------------------------- */

static void on_probe(struct agent *agent, const Lockstep__ClockProbe *probe,
                     uint64_t read_ns)
{
    Lockstep__ClockReply reply = LOCKSTEP__CLOCK_REPLY__INIT;

    reply.sequence = probe->sequence;
    reply.agent_received_ns = read_ns + agent->offset_ns;
    reply.agent_sent_ns = now() + agent->offset_ns;
    SAY(agent, CLOCK_REPLY, clock_reply, &reply);
}

static void on_inspect(struct agent *agent, const Lockstep__Inspect *inspect)
{
    Lockstep__Inspected inspected = LOCKSTEP__INSPECTED__INIT;
    Lockstep__TargetFacts *facts = calloc(inspect->n_targets, sizeof(*facts));
    Lockstep__TargetFacts **list = calloc(inspect->n_targets, sizeof(*list));
    char(*serials)[64] = calloc(inspect->n_targets, sizeof(*serials));

    for (size_t i = 0; i < inspect->n_targets; i++) {
        lockstep__target_facts__init(&facts[i]);
        (void)snprintf(serials[i], 64, "SCALE%05u%03zu", agent->number, i);
        facts[i].kind = LOCKSTEP__TARGET_KIND__TARGET_BLOCK;
        facts[i].size_bytes = DRIVE_BYTES;
        facts[i].logical_block = 512;
        facts[i].device = inspect->targets[i]->path;
        facts[i].serial = serials[i];
        facts[i].device_number = 259 * 256 + i;
        list[i] = &facts[i];
    }
    inspected.campaign = inspect->campaign;
    inspected.targets = list;
    inspected.n_targets = inspect->n_targets;
    SAY(agent, INSPECTED, inspected, &inspected);
    free(serials);
    free(list);
    free(facts);
}

static void take_phase(struct agent *agent, const Lockstep__Phase *phase)
{
    free(agent->cells);
    agent->cells = calloc(phase->n_cells, sizeof(*agent->cells));
    agent->cell_count = (uint32_t)phase->n_cells;
    for (size_t i = 0; i < phase->n_cells; i++) {
        const Lockstep__Cell *cell = phase->cells[i];
        double read = phase->workloads[cell->workload]->read_percent;

        agent->cells[i] = (struct cell){
            .reads = read > 0,
            .writes = read<100, .open = cell->iorate> 0,
        };
    }
    agent->interval_ns = phase->interval_ns;
    agent->warmup = phase->warmup_intervals;
    agent->intervals = phase->warmup_intervals + phase->measured_intervals;
    agent->next = 0;
}

static void on_prepare(struct agent *agent, const Lockstep__Prepare *prepare)
{
    Lockstep__Ready ready = LOCKSTEP__READY__INIT;
    Lockstep__Work work;

    memcpy(agent->campaign, prepare->work->campaign.data, 16);
    agent->phase = prepare->work->phase;
    agent->epoch = prepare->work->epoch;
    take_phase(agent, prepare->phase);
    agent->state = READY;
    work = work_of(agent);
    ready.work = &work;
    ready.workers = 8;
    SAY(agent, READY, ready, &ready);
}

static void on_start(struct agent *agent, const Lockstep__Start *start)
{
    Lockstep__Armed armed = LOCKSTEP__ARMED__INIT;
    Lockstep__Work work = work_of(agent);

    agent->start_ns = start->agent_start_ns - agent->offset_ns;
    agent->state = ARMED;
    armed.work = &work;
    armed.agent_start_ns = start->agent_start_ns;
    SAY(agent, ARMED, armed, &armed);
}

static void on_abort(struct agent *agent)
{
    if (agent->state == RUNNING) {
        agent->intervals = agent->next;
        say_sample(agent);
    } else if (agent->state == READY || agent->state == ARMED) {
        say_finished(agent, LOCKSTEP__OUTCOME__OUTCOME_STOPPED);
    }
}

static void on_stop_after(struct agent *agent, uint64_t interval)
{
    if (agent->state == RUNNING && interval + 1 < agent->intervals &&
        interval >= agent->next)
        agent->intervals = interval + 1;
}

static void on_welcome(struct agent *agent)
{
    struct fleet *fleet = agent->fleet;

    agent->welcome = true;
    say_inventory(agent);
    if (++fleet->connected == fleet->agent_count) {
        (void)printf("%u agents are connected\n", fleet->connected);
        (void)fflush(stdout);
    }
}

static void handle(struct agent *agent, const Lockstep__Frame *frame,
                   uint64_t read_ns)
{
    switch (frame->body_case) {
    case LOCKSTEP__FRAME__BODY_WELCOME:
        on_welcome(agent);
        break;
    case LOCKSTEP__FRAME__BODY_CLOCK_PROBE:
        on_probe(agent, frame->clock_probe, read_ns);
        break;
    case LOCKSTEP__FRAME__BODY_INSPECT:
        on_inspect(agent, frame->inspect);
        break;
    case LOCKSTEP__FRAME__BODY_PREPARE:
        on_prepare(agent, frame->prepare);
        break;
    case LOCKSTEP__FRAME__BODY_START:
        on_start(agent, frame->start);
        break;
    case LOCKSTEP__FRAME__BODY_GO:
        if (agent->state == ARMED)
            agent->state = RUNNING;
        break;
    case LOCKSTEP__FRAME__BODY_STOP_AFTER:
        on_stop_after(agent, frame->stop_after->interval);
        break;
    case LOCKSTEP__FRAME__BODY_ABORT:
        on_abort(agent);
        break;
    case LOCKSTEP__FRAME__BODY_SAMPLE_ACK:
        agent->fleet->acks++;
        break;
    case LOCKSTEP__FRAME__BODY_REJECT:
        (void)fprintf(stderr, "%s: %s\n", agent->name, frame->reject->reason);
        break;
    default:
        break;
    }
}

/* ---- Connections ------------------------------------------------------- */

static void on_open(void *owner)
{
    say_hello(owner);
}

static void on_frame(void *owner, const uint8_t *body, uint32_t length,
                     uint64_t read_ns)
{
    struct agent *agent = owner;
    Lockstep__Frame *frame = lockstep__frame__unpack(NULL, length, body);

    agent->heard_ns = read_ns;
    if (frame == NULL)
        channel_close(agent->channel, "a frame that does not parse");
    else
        handle(agent, frame, read_ns);
    lockstep__frame__free_unpacked(frame, NULL);
}

static void on_close(void *owner, const struct diag *reason)
{
    struct agent *agent = owner;

    agent->channel = NULL;
    if (now() < agent->fleet->end_ns)
        (void)fprintf(stderr, "%s: %s\n", agent->name, reason->text);
    if (agent->welcome)
        agent->fleet->connected--;
    agent->welcome = false;
    if (agent->fleet->connected == 0)
        uv_stop(&agent->fleet->uv);
}

static const struct channel_handlers handlers = {
    .on_open = on_open,
    .on_frame = on_frame,
    .on_close = on_close,
};

static void on_timer(uv_timer_t *timer)
{
    struct fleet *fleet = timer->data;
    uint64_t now_ns = now();

    for (uint32_t i = 0; i < fleet->agent_count; i++) {
        struct agent *agent = &fleet->agents[i];
        Lockstep__Heartbeat heartbeat = LOCKSTEP__HEARTBEAT__INIT;

        if (!agent->welcome)
            continue;
        send_due_samples(agent, now_ns);
        if (now_ns - agent->said_ns >= NS_PER_S)
            SAY(agent, HEARTBEAT, heartbeat, &heartbeat);
    }
    if (now_ns >= fleet->end_ns)
        uv_stop(&fleet->uv);
}

static void on_term(uv_signal_t *signal, int number)
{
    struct fleet *fleet = signal->data;

    (void)number;
    fleet->end_ns = 0;
    uv_stop(&fleet->uv);
}

/* ---- The beginning ----------------------------------------------------- */

/* A lognormal body around 80 us and a tail of one in a hundred. */
static uint64_t draw_latency(struct prng *prng)
{
    double normal = sqrt(-2 * log(prng_unit(prng))) *
                    cos(6.283185307179586 * prng_unit(prng));

    if (prng_below(prng, 100) == 0)
        return (uint64_t)(1e6 * -log(prng_unit(prng)));
    return (uint64_t)(80e3 * exp(0.3 * normal));
}

static void make_blobs(struct fleet *fleet, uint64_t ios)
{
    static uint8_t encoded[HISTOGRAM_BLOB_MAX];
    static struct histogram h;

    for (uint32_t i = 0; i < BLOBS; i++) {
        struct blob *blob = &fleet->blobs[i];

        histogram_init(&h);
        blob->ios = ios + prng_below(&fleet->prng, ios / 10 + 1);
        for (uint64_t k = 0; k < blob->ios; k++)
            histogram_record(&h, draw_latency(&fleet->prng));
        blob->length = histogram_encode(&h, encoded);
        blob->data = malloc(blob->length);
        memcpy(blob->data, encoded, blob->length);
    }
}

static int dial(struct fleet *fleet, uint32_t i)
{
    struct channel_setup setup = {.loop = &fleet->uv,
                                  .peer_roles = TLS_ROLE_CONTROLLER};
    struct agent *agent = &fleet->agents[i];
    struct diag diag = {0};
    char path[PATH_SIZE];

    agent->fleet = fleet;
    agent->number = i;
    (void)snprintf(agent->name, sizeof(agent->name), "scale%04u", i);
    agent->instance = uuid_random();
    agent->offset_ns = prng_below(&fleet->prng, 86400) * NS_PER_S;
    (void)snprintf(path, sizeof(path), "%s/agent-%s.pem",
                   fleet->keys != NULL ? fleet->keys : "", agent->name);
    if (fleet->keys != NULL &&
        tls_context_load(path, &agent->tls, &diag) != 0) {
        (void)fprintf(stderr, "scale_agents: %s\n", diag.text);
        return -1;
    }
    setup.tls = agent->tls;
    if (channel_connect(&setup, fleet->address, &handlers, agent,
                        &agent->channel, &diag) == 0)
        return 0;
    (void)fprintf(stderr, "scale_agents: %s\n", diag.text);
    return -1;
}

static void report(const struct fleet *fleet)
{
    (void)printf("samples %llu acks %llu bytes %llu connected %u\n",
                 (unsigned long long)fleet->samples,
                 (unsigned long long)fleet->acks,
                 (unsigned long long)fleet->bytes, fleet->connected);
    (void)fflush(stdout);
}

static void finish(struct fleet *fleet)
{
    fleet->end_ns = 0; /* closes are not news any more */
    for (uint32_t i = 0; i < fleet->agent_count; i++) {
        if (fleet->agents[i].channel != NULL)
            channel_close(fleet->agents[i].channel, "the end");
        free(fleet->agents[i].cells);
    }
    uv_close((uv_handle_t *)&fleet->timer, NULL);
    uv_close((uv_handle_t *)&fleet->term, NULL);
    while (uv_run(&fleet->uv, UV_RUN_DEFAULT) != 0)
        continue; /* on_close() stops the loop, too */
    (void)uv_loop_close(&fleet->uv);
    for (uint32_t i = 0; i < BLOBS; i++)
        free(fleet->blobs[i].data);
    for (uint32_t i = 0; i < fleet->agent_count; i++)
        tls_context_free(fleet->agents[i].tls);
    free(fleet->agents);
}

static int run(struct fleet *fleet)
{
    bool whole;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)uv_loop_init(&fleet->uv);
    (void)uv_timer_init(&fleet->uv, &fleet->timer);
    (void)uv_signal_init(&fleet->uv, &fleet->term);
    fleet->timer.data = fleet;
    fleet->term.data = fleet;
    (void)uv_timer_start(&fleet->timer, on_timer, 10, 10);
    (void)uv_signal_start(&fleet->term, on_term, SIGTERM);
    for (uint32_t i = 0; i < fleet->agent_count; i++)
        if (dial(fleet, i) != 0)
            return 1;
    (void)uv_run(&fleet->uv, UV_RUN_DEFAULT);
    report(fleet);
    whole = fleet->connected == fleet->agent_count;
    finish(fleet);
    return whole ? 0 : 1;
}

static uint64_t number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0') {
        (void)fprintf(stderr, "scale_agents: '%s' is no number\n", text);
        _Exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"controller", required_argument, NULL, 'c'},
        {"agents", required_argument, NULL, 'a'},
        {"drives", required_argument, NULL, 'd'},
        {"seconds", required_argument, NULL, 's'},
        {"ios", required_argument, NULL, 'i'},
        {"keys", required_argument, NULL, 'k'},
        {0},
    };
    struct fleet fleet = {
        .address = "127.0.0.1:7780",
        .agent_count = 200,
        .drive_count = 8,
        .end_ns = UINT64_MAX,
    };
    uint64_t ios = 20000;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            fleet.address = optarg;
            break;
        case 'a':
            fleet.agent_count = (uint32_t)number(optarg);
            break;
        case 'd':
            fleet.drive_count = (uint32_t)number(optarg);
            break;
        case 's':
            fleet.end_ns = now() + number(optarg) * NS_PER_S;
            break;
        case 'k':
            fleet.keys = optarg;
            break;
        case 'i':
            ios = number(optarg);
            break;
        default:
            return 2;
        }
    }
    prng_seed(&fleet.prng, 1);
    make_blobs(&fleet, ios);
    fleet.agents = calloc(fleet.agent_count, sizeof(*fleet.agents));
    return fleet.agents == NULL ? 1 : run(&fleet);
}
