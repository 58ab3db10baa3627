/*
 * agent/codec*.c: what it accepts is true, what it says the controller takes.
 *
 * The frames that come are made with protobuf directly; those that go are read
 * by the controller's own codec.
 */
#include "agent/codec.h"

#include <math.h>
#include <string.h>

#include "agent/interlock.h"
#include "agent/inventory.h"
#include "agent/row.h"
#include "common/arena.h"
#include "common/histogram.h"
#include "common/prng.h"
#include "common/uuid.h"
#include "controller/fleet/codec.h"
#include "controller/results/sample.h"
#include "tests/unit/agent/script.h"

static struct order order;
static struct diag diag;

static int decode(void)
{
    memset(&diag, 0, sizeof(diag));
    memset(&order, 0, sizeof(order));
    return codec_decode(frame_made.data, frame_made.length, &order, &diag);
}

static void accepts(enum order_kind kind)
{
    ck_assert_msg(decode() == 0, "%s", diag.text);
    ck_assert_str_eq(order_kind_name(order.kind), order_kind_name(kind));
}

/* Refused, the reason naming `word`; nothing is left to free. */
static void refuses(const char *word)
{
    ck_assert_int_eq(decode(), -EBADMSG);
    ck_assert_msg(strstr(diag.text, word) != NULL, "no '%s' in: %s", word,
                  diag.text);
    ck_assert_ptr_null(order.job);
    ck_assert_ptr_null(order.wishes);
}

/* ---- Orders ------------------------------------------------------------- */

START_TEST(each_order_comes_through)
{
    accepts(ORDER_UNKNOWN); /* an empty frame: of a newer minor version */
    frames_heartbeat();
    accepts(ORDER_HEARTBEAT);
    frames_reject("no\x01good");
    accepts(ORDER_REJECT);
    ck_assert_str_eq(order.reason, "no?good");
    frames_welcome(&frames_controller, 9, 1);
    accepts(ORDER_WELCOME);
    ck_assert(uuid_equal(&order.welcome.controller, &frames_controller));
    ck_assert_uint_eq(order.welcome.epoch, 9);
    ck_assert_uint_eq(order.welcome.major, 1);
    ck_assert_uint_eq(order.welcome.minor, 7);
    ck_assert_str_eq(order.welcome.version, "0.1.0");
    frames_probe(UINT64_MAX);
    accepts(ORDER_CLOCK_PROBE);
    ck_assert_uint_eq(order.number, UINT64_MAX);
    frames_start(&work0, 77);
    accepts(ORDER_START);
    ck_assert_uint_eq(order.number, 77);
    ck_assert(uuid_equal(&order.work.campaign, &frames_campaign));
    ck_assert_uint_eq(order.work.phase, 0);
    ck_assert_uint_eq(order.work.epoch, EPOCH);
    frames_go(&work0);
    accepts(ORDER_GO);
    frames_stop_after(&work0, 12);
    accepts(ORDER_STOP_AFTER);
    ck_assert_uint_eq(order.number, 12);
    frames_abort(&work0, "by ann");
    accepts(ORDER_ABORT);
    ck_assert_str_eq(order.reason, "by ann");
    frames_renew(&work0);
    accepts(ORDER_RENEW);
    frames_ack(&work0, 3);
    accepts(ORDER_SAMPLE_ACK);
    ck_assert_uint_eq(order.number, 3);
    frames_release(&frames_campaign);
    accepts(ORDER_RELEASE);
    ck_assert(uuid_equal(&order.campaign, &frames_campaign));
}
END_TEST

START_TEST(inspect_comes_through)
{
    frames_inspect(&frames_campaign, "/dev/nvme0n1", 256, 3);
    accepts(ORDER_INSPECT);
    ck_assert_uint_eq(order.wish_count, 256);
    ck_assert_str_eq(order.wishes[255].path, "/dev/nvme0n1");
    ck_assert_uint_eq(order.wishes[255].open_flags, 3);
    ck_assert_uint_eq(order.wishes[255].size_bytes, 4096);
    ck_assert(order.wishes[255].write && !order.wishes[255].create);
    order_done(&order);
}
END_TEST

START_TEST(a_wrong_inspect_is_refused)
{
    char path[PATH_SIZE + 1];

    frames_inspect(&frames_campaign, "/dev/x", 0, 0);
    refuses("targets");
    frames_inspect(&frames_campaign, "/dev/x", 257, 0);
    refuses("257");
    frames_inspect(&frames_campaign, "dev/x", 1, 0);
    refuses("begin with /");
    frames_inspect(&frames_campaign, "/dev/x", 1, 16);
    refuses("open_flags");
    frames_inspect(&frames_campaign, "/dev/\x1b[2J", 1, 0);
    refuses("control");
    memset(path, '/', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    frames_inspect(&frames_campaign, path, 1, 0);
    refuses("1025 bytes");
}
END_TEST

START_TEST(wrong_work_is_refused)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Go go = LOCKSTEP__GO__INIT;
    Lockstep__Work work = frames_work(&work0);
    struct work none = work0;

    frame.body_case = LOCKSTEP__FRAME__BODY_GO;
    frame.go = &go;
    frames_pack(&frame);
    refuses("missing");
    go.work = &work;
    work.campaign.len = 15;
    frames_pack(&frame);
    refuses("15 bytes");
    work.campaign.len = 0;
    frames_pack(&frame);
    refuses("0 bytes");
    none.epoch = 0;
    frames_go(&none);
    refuses("epoch");
}
END_TEST

START_TEST(a_wrong_welcome_is_refused)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Welcome welcome = LOCKSTEP__WELCOME__INIT;
    char *features[65];
    char feature[] = "x";
    char version[TEXT_SIZE + 1];

    frames_welcome(&frames_controller, 0, 1);
    refuses("epoch");
    welcome.epoch = 1;
    welcome.controller = frames_uuid(&frames_controller);
    welcome.n_features = 65;
    welcome.features = features;
    for (size_t i = 0; i < 65; i++)
        features[i] = feature;
    frame.body_case = LOCKSTEP__FRAME__BODY_WELCOME;
    frame.welcome = &welcome;
    frames_pack(&frame);
    refuses("features");
    welcome.n_features = 0;
    memset(version, 'v', sizeof(version) - 1);
    version[sizeof(version) - 1] = '\0';
    welcome.version = version;
    frames_pack(&frame);
    refuses("version");
    welcome.version = feature;
    welcome.controller.len = 3;
    frames_pack(&frame);
    refuses("controller");
}
END_TEST

START_TEST(reasons_are_bounded)
{
    char reason[REASON_SIZE + 1];

    memset(reason, 'r', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    frames_reject(reason);
    refuses("1025 bytes");
    frames_abort(&work0, reason);
    refuses("1025 bytes");
    reason[REASON_SIZE - 1] = '\0';
    frames_abort(&work0, reason);
    accepts(ORDER_ABORT);
}
END_TEST

/* ---- Prepare ------------------------------------------------------------ */

static bool jobs_equal(const struct job *a, const struct job *b)
{
    return memcmp(&a->work, &b->work, sizeof(a->work)) == 0 &&
           strcmp(a->name, b->name) == 0 && a->kind == b->kind &&
           a->arrival == b->arrival && a->interval_ns == b->interval_ns &&
           a->warmup_intervals == b->warmup_intervals &&
           a->measured_intervals == b->measured_intervals &&
           a->seed == b->seed && a->drain_limit_ns == b->drain_limit_ns &&
           a->time_limit_ns == b->time_limit_ns &&
           a->target_count == b->target_count &&
           a->workload_count == b->workload_count &&
           a->cell_count == b->cell_count &&
           memcmp(a->targets, b->targets,
                  a->target_count * sizeof(*a->targets)) == 0 &&
           memcmp(a->cells, b->cells, a->cell_count * sizeof(*a->cells)) == 0;
}

START_TEST(a_prepare_comes_through_whole)
{
    struct job *job = frames_job(3, EPOCH);

    job->kind = JOB_FILL;
    job->arrival = JOB_DETERMINISTIC;
    frames_prepare(job);
    accepts(ORDER_PREPARE);
    ck_assert_ptr_nonnull(order.job);
    ck_assert(jobs_equal(job, order.job));
    ck_assert_str_eq(order.job->workloads[0].name, "wd1");
    ck_assert_uint_eq(order.job->workloads[0].size_count, 2);
    ck_assert_uint_eq(order.job->workloads[0].sizes[1].bytes, 8192);
    ck_assert(order.job->workloads[0].sizes[1].percent > 9.9);
    ck_assert(order.job->workloads[0].read_percent > 69);
    ck_assert_uint_eq(order.work.phase, 3);
    order_done(&order);
    job = job_free(job);
}
END_TEST

/* One thing of the message spoilt; the rules of job_check() have a test of
 * their own, so one of them is enough. */
#define SPOILT(what, word)                                                     \
    do {                                                                       \
        frames_fill_prepare(&prepare, job);                                    \
        what;                                                                  \
        frames_pack_prepare(&prepare);                                         \
        refuses(word);                                                         \
    } while (0)

START_TEST(a_wrong_prepare_is_refused)
{
    static struct frames_prepare prepare;
    struct job *job = frames_job(0, EPOCH);
    static uint8_t bytes[JOB_PATTERN_MAX + 1];
    static char text[PATH_SIZE + 1];

    memset(text, 'x', sizeof(text) - 1);
    SPOILT(prepare.body.work = NULL, "work: missing");
    SPOILT(prepare.body.phase = NULL, "phase: missing");
    SPOILT(prepare.phase.kind = (Lockstep__PhaseKind)2, "kind");
    SPOILT(prepare.phase.kind = (Lockstep__PhaseKind)-1, "kind");
    SPOILT(prepare.phase.arrival = (Lockstep__Arrival)3, "arrival");
    SPOILT(prepare.phase.name = text, "name");
    SPOILT(prepare.targets[0].sd = text, "sd");
    SPOILT(prepare.targets[0].path = text, "path");
    SPOILT(prepare.targets[0].serial = text, "serial");
    SPOILT(prepare.targets[0].wwn = text, "wwn");
    SPOILT(prepare.targets[0].open_flags = 1u << 31, "open_flags");
    SPOILT(prepare.workloads[0].name = text, "workloads[0]: name");
    SPOILT(prepare.cells[0].target = 7, "target 7 of 1");
    SPOILT(prepare.phase.pattern.data = bytes;
           prepare.phase.pattern.len = sizeof(bytes), "pattern: 262145 bytes");
    SPOILT(prepare.phase.pattern.data = bytes; prepare.phase.pattern.len = 3;
           prepare.phase.compression = 2, "a pattern, and compratio=2");
    SPOILT(prepare.phase.n_targets = 0, "0 targets");
    SPOILT(prepare.phase.n_cells = 0, "0 cells");
    job = job_free(job);
}
END_TEST

START_TEST(numbers_of_a_prepare_are_bounded)
{
    static struct frames_prepare prepare;
    struct job *job = frames_job(0, EPOCH);
    static Lockstep__SizeShare *sizes[JOB_SIZES_MAX + 1];

    frames_fill_prepare(&prepare, job);
    for (uint32_t i = 0; i <= JOB_TARGETS_MAX; i++)
        prepare.target_list[i] = &prepare.targets[0];
    prepare.phase.n_targets = JOB_TARGETS_MAX + 1;
    frames_pack_prepare(&prepare);
    refuses("257 targets");

    frames_fill_prepare(&prepare, job);
    for (uint32_t i = 0; i <= JOB_WORKLOADS_MAX; i++)
        prepare.workload_list[i] = &prepare.workloads[0];
    prepare.phase.n_workloads = JOB_WORKLOADS_MAX + 1;
    frames_pack_prepare(&prepare);
    refuses("65 workloads");

    frames_fill_prepare(&prepare, job);
    for (uint32_t i = 0; i <= JOB_CELLS_MAX; i++)
        prepare.cell_list[i] = &prepare.cells[0];
    prepare.phase.n_cells = JOB_CELLS_MAX + 1;
    frames_pack_prepare(&prepare);
    refuses("4097 cells");

    frames_fill_prepare(&prepare, job);
    for (uint32_t i = 0; i <= JOB_SIZES_MAX; i++)
        sizes[i] = &prepare.sizes[0][0];
    prepare.workloads[0].n_sizes = JOB_SIZES_MAX + 1;
    prepare.workloads[0].sizes = sizes;
    frames_pack_prepare(&prepare);
    refuses("sizes: 65");
    job = job_free(job);
}
END_TEST

/* ---- Bytes -------------------------------------------------------------- */

START_TEST(bytes_that_are_no_frame_are_refused)
{
    struct job *job = frames_job(0, EPOCH);
    size_t length;

    frames_prepare(job);
    length = frame_made.length;
    /* Cut anywhere, it is refused or (on a border) says less. */
    for (size_t i = 1; i < length; i++) {
        frame_made.length = i;
        if (decode() == 0)
            order_done(&order);
        else
            ck_assert_str_ne(diag.text, "");
    }
    frame_made.length = CODEC_BODY_MAX + 1;
    refuses("at most");
    job = job_free(job);
}
END_TEST

/* A frame that unpacks to far more than it is long: a million empty strings
 * would take tens of megabytes. */
START_TEST(memory_is_bounded_by_the_frame)
{
    static const uint8_t head[] = {0x1a, 0x80, 0x80, 0x20}; /* welcome */
    size_t length = sizeof(head) + (512u << 10);

    memcpy(frame_made.data, head, sizeof(head));
    for (size_t i = sizeof(head); i + 1 < length; i += 2) {
        frame_made.data[i] = 0x1a; /* features: "" */
        frame_made.data[i + 1] = 0;
    }
    frame_made.length = length;
    refuses("no frame of this protocol");
}
END_TEST

START_TEST(texts_are_cleaned)
{
    static const struct {
        const char *from;
        const char *to;
    } texts[] = {
        {"", ""},
        {"plain", "plain"},
        {"tab\there", "tab?here"},
        {"\x7f", "?"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xc3", "?"},
        {"\xc0\xaf", "??"},           /* overlong */
        {"\xc2\x80", "??"},           /* a control of Latin-1 */
        {"\xed\xa0\x80", "???"},      /* half a surrogate pair */
        {"\xf4\x90\x80\x80", "????"}, /* beyond Unicode */
        {"\xf0\x9f\x92\xbe", "\xf0\x9f\x92\xbe"},
        {"\xe2\x82", "??"},
        {"\xff\xfe", "??"},
    };
    char text[32];

    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        (void)snprintf(text, sizeof(text), "%s", texts[i].from);
        ck_assert_int_eq(codec_is_clean(text),
                         strcmp(texts[i].from, texts[i].to) == 0);
        codec_clean(text);
        ck_assert_str_eq(text, texts[i].to);
        ck_assert(codec_is_clean(text));
    }
}
END_TEST

/* ---- What the agent says ------------------------------------------------ */

static struct arena *arena;
static struct wire_in in;

/* The controller's codec must take it as such a frame. */
static void said(struct codec_bytes bytes, enum wire_in_kind kind)
{
    memset(&diag, 0, sizeof(diag));
    ck_assert_uint_le(bytes.length, CODEC_BODY_MAX);
    ck_assert_msg(wire_decode(bytes.data, bytes.length, arena, &in, &diag) == 0,
                  "%s", diag.text);
    ck_assert_int_eq(in.kind, kind);
    codec_bytes_done(&bytes);
}

static void arena_begin(void)
{
    arena = arena_new(WIRE_ARENA_BYTES);
    ck_assert_ptr_nonnull(arena);
}

static void arena_end(void)
{
    arena = arena_free(arena);
}

START_TEST(small_frames_are_understood)
{
    said(codec_heartbeat(), WIRE_IN_HEARTBEAT);
    said(codec_reject("a\nb"), WIRE_IN_REJECT);
    ck_assert_str_eq(in.reject, "a?b");
    said(codec_clock_reply(4, 10, 11), WIRE_IN_CLOCK_REPLY);
    ck_assert_uint_eq(in.clock_reply.sequence, 4);
    ck_assert_uint_eq(in.clock_reply.agent_received_ns, 10);
    ck_assert_uint_eq(in.clock_reply.agent_sent_ns, 11);
    said(codec_ready(&work0, 3, 4096, NULL), WIRE_IN_READY);
    ck_assert_uint_eq(in.ready.workers, 3);
    ck_assert_uint_eq(in.ready.memory_bytes, 4096);
    ck_assert_uint_eq(in.ready.work.epoch, EPOCH);
    said(codec_armed(&work0, 5), WIRE_IN_ARMED);
    ck_assert_uint_eq(in.armed.agent_start_ns, 5);
    ck_assert_mem_eq(in.armed.work.campaign.bytes, frames_campaign.bytes, 16);
    said(codec_refused(&work0, "sd1", "mounted on /\xff"), WIRE_IN_REFUSED);
    ck_assert_str_eq(in.refused.target, "sd1");
    ck_assert_str_eq(in.refused.reason, "mounted on /?");
}
END_TEST

START_TEST(a_hello_is_understood)
{
    struct hello hello = {
        .name = "host-1.lab",
        .instance = {{1}},
        .boot = {{2}},
        .lease_ms = 30000,
        .finishes_phase = true,
        .labels = {"rack=b7", "fast"},
        .label_count = 2,
        .state = PHASE_IDLE,
    };

    said(codec_hello(&hello), WIRE_IN_AGENT_HELLO);
    ck_assert_str_eq(in.agent_hello.name, "host-1.lab");
    ck_assert_uint_eq(in.agent_hello.lease_ms, 30000);
    ck_assert_uint_eq(in.agent_hello.label_count, 2);
    ck_assert_str_eq(in.agent_hello.labels[1], "fast");
    ck_assert(in.agent_hello.finishes_phase);
    ck_assert(!in.agent_hello.holds);
    hello.state = PHASE_CLEARED;
    hello.work = work0;
    hello.first_unacknowledged = 17;
    said(codec_hello(&hello), WIRE_IN_AGENT_HELLO);
    ck_assert(in.agent_hello.holds);
    ck_assert_int_eq(in.agent_hello.held_state, WIRE_AGENT_ARMED);
    ck_assert_uint_eq(in.agent_hello.first_unacknowledged, 17);
}
END_TEST

START_TEST(a_finished_is_understood)
{
    static struct phase_end end;

    end.outcome = PHASE_TIME_LIMIT;
    end.intervals = 60;
    memcpy(end.reason, "the time limit", 15);
    end.stuck_count = PHASE_STUCK_MAX;
    end.stuck_total = 99;
    for (uint32_t i = 0; i < PHASE_STUCK_MAX; i++)
        end.stuck[i] = (struct phase_stuck){
            .sd = "sd1", .offset = i, .length = 4096, .age_ns = 5, .write = 1};
    said(codec_finished(&work0, &end), WIRE_IN_FINISHED);
    ck_assert_uint_eq(in.finished.intervals, 60);
    ck_assert_uint_eq(in.finished.stuck_total, 99);
    ck_assert_uint_eq(in.finished.stuck_count, PHASE_STUCK_MAX);
    ck_assert_str_eq(in.finished.stuck[63].sd, "sd1");
    ck_assert_uint_eq(in.finished.stuck[63].offset, 63);
    ck_assert_str_eq(in.finished.reason, "the time limit");
}
END_TEST

START_TEST(an_inventory_is_understood)
{
    struct drive drives[2] = {
        {.name = "nvme0n1",
         .path = "/dev/nvme0n1",
         .model = "M\xff",
         .serial = "S\x01",
         .size_bytes = 1u << 30,
         .logical_block = 512,
         .rotational = INVENTORY_NO,
         .used_by = {"mounted on /"},
         .used_by_count = 1},
        {.name = "sda", .path = "/dev/sda", .offered = true},
    };
    struct inventory inventory = {
        .host = {.hostname = "h", .cpus = 2, .kernel = "6.1"},
        .drives = drives,
        .drive_count = 2,
    };
    struct codec_engine engine = {
        .name = "io_uring", .features = {"fixed_files"}, .feature_count = 1};

    said(codec_inventory(&inventory, &engine), WIRE_IN_INVENTORY);
    ck_assert_uint_eq(in.inventory.drive_count, 2);
    ck_assert_str_eq(in.inventory.drives[0].model, "M?");
    ck_assert_str_eq(in.inventory.drives[0].used_by[0], "mounted on /");
    ck_assert_int_eq(in.inventory.drives[0].rotational, WIRE_NO);
    ck_assert_int_eq(in.inventory.drives[1].rotational, WIRE_UNKNOWN);
    ck_assert(in.inventory.drives[1].offered);
    ck_assert_str_eq(in.inventory.host.engine, "io_uring");
    ck_assert_str_eq(in.inventory.host.engine_features[0], "fixed_files");
}
END_TEST

/* A host whose drives say more than a frame holds: what fits is told. */
START_TEST(an_inventory_never_exceeds_a_frame)
{
    struct inventory inventory = {.drive_count = INVENTORY_DRIVES_MAX};
    struct codec_engine engine = {.name = "io_uring"};

    inventory.drives = calloc(INVENTORY_DRIVES_MAX, sizeof(*inventory.drives));
    ck_assert_ptr_nonnull(inventory.drives);
    for (uint32_t i = 0; i < INVENTORY_DRIVES_MAX; i++) {
        struct drive *drive = &inventory.drives[i];

        (void)snprintf(drive->name, sizeof(drive->name), "sd%u", i);
        (void)snprintf(drive->path, sizeof(drive->path), "/dev/sd%u", i);
        memset(drive->by_id, 'x', sizeof(drive->by_id) - 1);
        memset(drive->model, 'm', sizeof(drive->model) - 1);
    }
    said(codec_inventory(&inventory, &engine), WIRE_IN_INVENTORY);
    ck_assert_uint_gt(in.inventory.drive_count, 500);
    ck_assert_uint_lt(in.inventory.drive_count, INVENTORY_DRIVES_MAX);
    free(inventory.drives);
}
END_TEST

START_TEST(inspected_targets_are_understood)
{
    struct interlock_facts *facts = calloc(256, sizeof(*facts));

    ck_assert_ptr_nonnull(facts);
    for (uint32_t i = 0; i < 256; i++) {
        facts[i].kind = INTERLOCK_BLOCK;
        facts[i].size_bytes = 4096 * i;
        facts[i].logical_block = 512;
        memset(facts[i].device, 'd', sizeof(facts[i].device) - 1);
        memset(facts[i].refusal, 'r', sizeof(facts[i].refusal) - 1);
        memset(facts[i].serial, 's', sizeof(facts[i].serial) - 1);
        memset(facts[i].model, 'm', sizeof(facts[i].model) - 1);
        memset(facts[i].wwn, 'w', sizeof(facts[i].wwn) - 1);
    }
    said(codec_inspected(&frames_campaign, facts, 256), WIRE_IN_INSPECTED);
    ck_assert_uint_eq(in.inspected.target_count, 256);
    ck_assert_uint_eq(in.inspected.targets[255].size_bytes, 4096 * 255);
    free(facts);
}
END_TEST

/* ---- Samples ------------------------------------------------------------ */

/* A row of `cells` cells that each read and write, with spread latencies. */
static void make_row(struct row *row, uint32_t cells, uint64_t values)
{
    static struct histogram histogram;
    struct prng prng;
    struct row_cell *list = calloc((size_t)cells * JOB_OPS, sizeof(*list));

    ck_assert_ptr_nonnull(list);
    prng_seed(&prng, 1);
    histogram_init(&histogram);
    for (uint64_t i = 0; i < values; i++)
        histogram_record(&histogram,
                         prng_next(&prng) >> (18 + prng_below(&prng, 20)));
    for (uint32_t i = 0; i < cells * JOB_OPS; i++)
        list[i] = (struct row_cell){
            .ios = values,
            .bytes = values * 4096,
            .errors = 2,
            .in_flight = 4,
            .oldest_ns = 9,
            .service = &histogram,
            .response = &histogram,
        };
    *row = (struct row){
        .interval = 5,
        .spans = 2,
        .kind = ROW_WARMUP,
        .begin_ns = 1000,
        .end_ns = 3000,
        .opened_first_ns = 10,
        .opened_last_ns = 20,
        .host = {.host_cpu_ns = 4,
                 .host_system_ns = 3,
                 .capacity_ns = 8,
                 .agent_cpu_ns = 2},
        .cells = list,
        .cell_count = cells,
    };
}

START_TEST(a_row_becomes_a_sample)
{
    struct row row;
    struct codec_bytes parts[CODEC_PARTS_MAX];
    struct wire_sample *sample = &in.sample;
    struct histogram merged;

    make_row(&row, 2, 100);
    row.cells[1] = (struct row_cell){0};             /* says nothing */
    row.cells[2].response = NULL;                    /* closed loop */
    row.cells[3] = (struct row_cell){.unissued = 7}; /* no I/O yet */
    ck_assert_uint_eq(codec_sample(&work0, &row, parts), 1);
    said(parts[0], WIRE_IN_SAMPLE);
    /* The wire names a row by its last interval. */
    ck_assert_uint_eq(sample->sample->interval, 6);
    ck_assert_uint_eq(sample->sample->spans, 2);
    ck_assert_uint_eq(sample->sample->part, 0);
    ck_assert_uint_eq(sample->sample->parts, 1);
    ck_assert_int_eq(sample->sample->kind, SAMPLE_ROW_WARMUP);
    ck_assert(sample->sample->has_host);
    ck_assert_uint_eq(sample->sample->host_sample.capacity_ns, 8);
    ck_assert_uint_eq(sample->sample->cell_count, 3);
    ck_assert_uint_eq(sample->sample->cells[0].cell, 0);
    ck_assert_int_eq(sample->sample->cells[0].op, SAMPLE_READ);
    ck_assert_uint_eq(sample->sample->cells[1].cell, 1);
    ck_assert_ptr_null(sample->sample->cells[1].response);
    ck_assert_int_eq(sample->sample->cells[2].op, SAMPLE_WRITE);
    ck_assert_uint_eq(sample->sample->cells[2].unissued, 7);
    histogram_init(&merged);
    ck_assert_int_eq(
        histogram_merge_blob(&merged, sample->sample->cells[0].service,
                             sample->sample->cells[0].service_length),
        0);
    ck_assert_uint_eq(merged.count, 100);
    ck_assert_mem_eq(merged.bucket, row.cells[0].service->bucket,
                     sizeof(merged.bucket));
    (void)sample_free(sample->sample);
    free(row.cells);
}
END_TEST

/* A host of 240 drives and three workloads: the largest that design.md names.
 */
START_TEST(a_large_row_comes_in_parts)
{
    struct row row;
    struct codec_bytes parts[CODEC_PARTS_MAX];
    uint32_t count, cells = 0;
    uint64_t ios = 0;

    make_row(&row, 720, 20000);
    count = codec_sample(&work0, &row, parts);
    ck_assert_uint_gt(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        arena_reset(arena);
        said(parts[i], WIRE_IN_SAMPLE);
        ck_assert_uint_eq(in.sample.sample->part, i);
        ck_assert_uint_eq(in.sample.sample->parts, count);
        ck_assert(in.sample.sample->has_host == (i == 0));
        for (uint32_t k = 0; k < in.sample.sample->cell_count; k++, cells++) {
            ck_assert_uint_eq(in.sample.sample->cells[k].cell, cells / 2);
            ios += in.sample.sample->cells[k].ios;
        }
        (void)sample_free(in.sample.sample);
    }
    ck_assert_uint_eq(cells, 1440);
    ck_assert_uint_eq(ios, UINT64_C(1440) * 20000);
    free(row.cells);
}
END_TEST

START_TEST(an_empty_row_is_a_sample_too)
{
    struct row row;
    struct codec_bytes parts[CODEC_PARTS_MAX];

    make_row(&row, 1, 0);
    memset(row.cells, 0, JOB_OPS * sizeof(*row.cells));
    ck_assert_uint_eq(codec_sample(&work0, &row, parts), 1);
    said(parts[0], WIRE_IN_SAMPLE);
    ck_assert_uint_eq(in.sample.sample->cell_count, 0);
    (void)sample_free(in.sample.sample);
    free(row.cells);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_order_comes_through,
        inspect_comes_through,
        a_wrong_inspect_is_refused,
        wrong_work_is_refused,
        a_wrong_welcome_is_refused,
        reasons_are_bounded,
        a_prepare_comes_through_whole,
        a_wrong_prepare_is_refused,
        numbers_of_a_prepare_are_bounded,
        bytes_that_are_no_frame_are_refused,
        memory_is_bounded_by_the_frame,
        texts_are_cleaned,
        small_frames_are_understood,
        a_hello_is_understood,
        a_finished_is_understood,
        an_inventory_is_understood,
        an_inventory_never_exceeds_a_frame,
        inspected_targets_are_understood,
        a_row_becomes_a_sample,
        a_large_row_comes_in_parts,
        an_empty_row_is_a_sample_too,
    };
    Suite *suite = suite_create("codec");
    TCase *tcase = tcase_create("codec");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, arena_begin, arena_end);
    for (size_t i = 0; i < ARRAY_LENGTH(tests); i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
