/*
 * The two codecs against each other: what one side encodes is what the other
 * decodes.
 */
#include "controller/fleet/codec.h"

#include "agent/codec.h"
#include "agent/interlock.h"
#include "agent/row.h"
#include "common/arena.h"
#include "common/histogram.h"
#include "controller/fleet/slice.h"
#include "controller/plan/plan.h"
#include "controller/results/sample.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;
static struct wire_in in;
static struct order order;
static const struct work work = {
    .campaign = {{7, 7, 7}}, .phase = 4, .epoch = 12};
static const struct wire_work wire_work = {
    .campaign = {{7, 7, 7}}, .phase = 4, .epoch = 12};

static void setup(void)
{
    arena = arena_new(WIRE_ARENA_BYTES);
    memset(&order, 0, sizeof(order));
}

static void teardown(void)
{
    order_done(&order);
    arena = arena_free(arena);
}

/* From the agent. */
static void hear(struct codec_bytes bytes)
{
    struct diag diag = {0};
    int err;

    arena_reset(arena);
    err = wire_decode(bytes.data, bytes.length, arena, &in, &diag);
    ck_assert_msg(err == 0, "%s", diag.text);
    codec_bytes_done(&bytes);
}

/* To the agent. */
static void say(const struct wire_out *out)
{
    struct diag diag = {0};
    uint8_t *body;
    size_t length;
    int err;

    order_done(&order);
    ck_assert_int_eq(wire_encode(out, arena, &body, &length), 0);
    err = codec_decode(body, length, &order, &diag);
    ck_assert_msg(err == 0, "%s", diag.text);
    free(body);
}

static void expect_work(const struct wire_work *found)
{
    ck_assert(wire_uuid_equal(&found->campaign, &wire_work.campaign));
    ck_assert_uint_eq(found->phase, 4);
    ck_assert_uint_eq(found->epoch, 12);
}

static void expect_order(enum order_kind kind, uint64_t number)
{
    ck_assert_int_eq(order.kind, kind);
    ck_assert_mem_eq(&order.work.campaign, &work.campaign, 16);
    ck_assert_uint_eq(order.work.phase, 4);
    ck_assert_uint_eq(order.work.epoch, 12);
    ck_assert_uint_eq(order.number, number);
}

/* ---- Agent to controller ------------------------------------------------- */

static const struct phase_equipment equipment = {
    .engine = "io_uring fixed_files",
    .placement = "worker 0 on CPU 3: sd1",
};

START_TEST(agents_are_understood)
{
    static const struct commands commands = {
        .items = {{"drop", "/bin/drop --all", NS_PER_S}}, .count = 1};
    struct hello hello = {
        .commands = &commands,
        .name = "host1",
        .instance = {{1}},
        .boot = {{2}},
        .lease_ms = 30000,
        .finishes_phase = true,
        .labels = {"rack4"},
        .label_count = 1,
        .work = work,
        .state = PHASE_RUNNING,
        .first_unacknowledged = 9,
    };

    hear(codec_hello(&hello));
    ck_assert_int_eq(in.kind, WIRE_IN_AGENT_HELLO);
    ck_assert_str_eq(in.agent_hello.name, "host1");
    ck_assert_uint_eq(in.agent_hello.command_count, 1);
    ck_assert_str_eq(in.agent_hello.commands[0].name, "drop");
    ck_assert_str_eq(in.agent_hello.commands[0].text, "/bin/drop --all");
    ck_assert_uint_eq(in.agent_hello.commands[0].limit_ns, NS_PER_S);
    ck_assert(in.agent_hello.finishes_phase && in.agent_hello.holds);
    expect_work(&in.agent_hello.held);
    ck_assert_int_eq(in.agent_hello.held_state, WIRE_AGENT_RUNNING);
    hear(codec_heartbeat());
    ck_assert_int_eq(in.kind, WIRE_IN_HEARTBEAT);
    hear(codec_clock_reply(5, 1000, 1001));
    ck_assert_uint_eq(in.clock_reply.agent_sent_ns, 1001);
    hear(codec_ready(&work, 8, 1 << 20, &equipment));
    ck_assert_uint_eq(in.ready.workers, 8);
    ck_assert_str_eq(in.ready.engine, "io_uring fixed_files");
    ck_assert_str_eq(in.ready.placement, "worker 0 on CPU 3: sd1");
    expect_work(&in.ready.work);
    hear(codec_armed(&work, 77));
    expect_work(&in.armed.work);
    ck_assert_uint_eq(in.armed.agent_start_ns, 77);
    hear(codec_refused(&work, "sd1", "it is mounted\non /"));
    ck_assert_str_eq(in.refused.target, "sd1");
    ck_assert_str_eq(in.refused.reason, "it is mounted?on /");
}
END_TEST

START_TEST(ends_of_commands_are_understood)
{
    static struct errand_result result = {
        .end = ERRAND_EXITED,
        .status = 3,
        .duration_ns = 7,
        .lines = {"one", "two"},
        .line_count = 2,
    };

    hear(codec_command_done(&work, 41, &result));
    ck_assert_int_eq(in.kind, WIRE_IN_COMMAND_DONE);
    expect_work(&in.command_done.work);
    ck_assert_uint_eq(in.command_done.number, 41);
    ck_assert_int_eq(in.command_done.end, WIRE_COMMAND_EXITED);
    ck_assert_uint_eq(in.command_done.status, 3);
    ck_assert_uint_eq(in.command_done.duration_ns, 7);
    ck_assert_uint_eq(in.command_done.line_count, 2);
    ck_assert_str_eq(in.command_done.lines[1], "two");
    result.end = ERRAND_REFUSED;
    (void)snprintf(result.reason, sizeof(result.reason), "no\nsuch");
    hear(codec_command_done(&work, 42, &result));
    ck_assert_int_eq(in.command_done.end, WIRE_COMMAND_REFUSED);
    ck_assert_str_eq(in.command_done.reason, "no?such");
}
END_TEST

static struct histogram service;
static struct row_cell cells[2 * JOB_OPS];

static const struct row_failure failures[] = {
    {.at_ns = 5100,
     .offset = 8192,
     .length = 4096,
     .cell = 1,
     .op = JOB_WRITE,
     .result = -5},
    {.at_ns = 5200, .length = 4096, .cell = 1, .op = JOB_WRITE, .result = 512},
};

static struct row make_row(void)
{
    histogram_init(&service);
    histogram_record_many(&service, 100000, 77);
    memset(cells, 0, sizeof(cells));
    cells[JOB_OPS + JOB_WRITE] = (struct row_cell){
        .ios = 77,
        .bytes = 77 * 4096,
        .errors = 3,
        .by_errno = {{5, 2}, {0, 1}},
        .in_flight = 3,
        .oldest_ns = 55,
        .service = &service,
    };
    return (struct row){
        .interval = 10,
        .spans = 2,
        .kind = ROW_WARMUP,
        .begin_ns = 5000,
        .end_ns = 7000,
        .opened_first_ns = 100,
        .opened_last_ns = 200,
        .host = {.capacity_ns = 4000, .agent_cpu_ns = 9},
        .cells = cells,
        .cell_count = 2,
        .failures = failures,
        .failure_count = 2,
    };
}

static void expect_failures(const struct sample *sample)
{
    ck_assert_uint_eq(sample->error_count, 2);
    ck_assert_uint_eq(sample->errors[0].cell, 1);
    ck_assert_int_eq(sample->errors[0].op, SAMPLE_WRITE);
    ck_assert_uint_eq(sample->errors[0].err, 5);
    ck_assert_uint_eq(sample->errors[0].count, 2);
    ck_assert_uint_eq(sample->errors[1].err, 0);
    ck_assert_uint_eq(sample->errors[1].count, 1);
    ck_assert_uint_eq(sample->failure_count, 2);
    ck_assert_uint_eq(sample->failures[0].offset, 8192);
    ck_assert_uint_eq(sample->failures[0].length, 4096);
    ck_assert_uint_eq(sample->failures[0].err, 5);
    ck_assert_int_eq(sample->failures[0].at_ns, 5100);
    ck_assert_uint_eq(sample->failures[1].err, 0);
    ck_assert_uint_eq(sample->failures[1].transferred, 512);
}

START_TEST(samples_are_understood)
{
    struct codec_bytes parts[CODEC_PARTS_MAX];
    struct row row = make_row();
    const struct sample_cell *cell = NULL;
    struct sample *sample;

    ck_assert_uint_eq(codec_sample(&work, &row, parts), 1);
    hear(parts[0]);
    ck_assert_int_eq(in.kind, WIRE_IN_SAMPLE);
    expect_work(&in.sample.work);
    sample = in.sample.sample;
    ck_assert_uint_eq(sample->interval, 11); /* the last that it covers */
    ck_assert_uint_eq(sample->spans, 2);
    ck_assert_int_eq(sample->kind, SAMPLE_ROW_WARMUP);
    ck_assert(sample->has_host);
    ck_assert_uint_eq(sample->host_sample.agent_cpu_ns, 9);
    for (uint32_t i = 0; i < sample->cell_count; i++)
        if (sample->cells[i].ios > 0)
            cell = &sample->cells[i];
    ck_assert_ptr_nonnull(cell);
    ck_assert_uint_eq(cell->cell, 1);
    ck_assert_int_eq(cell->op, SAMPLE_WRITE);
    ck_assert_uint_eq(cell->ios, 77);
    ck_assert_uint_eq(cell->errors, 3);
    ck_assert_uint_eq(cell->in_flight, 3);
    expect_failures(sample);
    sample_free(sample);
}
END_TEST

/* ---- Controller to agent ------------------------------------------------- */

START_TEST(orders_are_understood)
{
    struct wire_out out = {.kind = WIRE_OUT_WELCOME};

    out.welcome.controller = (struct uuid){{9, 9}};
    out.welcome.epoch = 12;
    say(&out);
    ck_assert_int_eq(order.kind, ORDER_WELCOME);
    ck_assert_uint_eq(order.welcome.epoch, 12);
    ck_assert_str_eq(order.welcome.version, LOCKSTEP_VERSION);
    out = (struct wire_out){.kind = WIRE_OUT_START};
    out.start.work = wire_work;
    out.start.agent_start_ns = 123456789;
    say(&out);
    expect_order(ORDER_START, 123456789);
    out = (struct wire_out){.kind = WIRE_OUT_GO, .go = wire_work};
    say(&out);
    expect_order(ORDER_GO, 0);
    out = (struct wire_out){.kind = WIRE_OUT_STOP_AFTER};
    out.stop_after = (struct wire_mark){.work = wire_work, .interval = 8};
    say(&out);
    expect_order(ORDER_STOP_AFTER, 8);
    out = (struct wire_out){.kind = WIRE_OUT_ABORT};
    out.abort = (struct wire_abort){.work = wire_work, .reason = "told so"};
    say(&out);
    expect_order(ORDER_ABORT, 0);
    ck_assert_str_eq(order.reason, "told so");
    out = (struct wire_out){.kind = WIRE_OUT_RENEW, .renew = wire_work};
    say(&out);
    expect_order(ORDER_RENEW, 0);
    out = (struct wire_out){.kind = WIRE_OUT_SAMPLE_ACK};
    out.sample_ack = (struct wire_mark){.work = wire_work, .interval = 31};
    say(&out);
    expect_order(ORDER_SAMPLE_ACK, 31);
    out = (struct wire_out){.kind = WIRE_OUT_CLOCK_PROBE, .clock_probe = 6};
    say(&out);
    ck_assert_int_eq(order.kind, ORDER_CLOCK_PROBE);
    ck_assert_uint_eq(order.number, 6);
    out = (struct wire_out){.kind = WIRE_OUT_RELEASE};
    out.release = wire_work.campaign;
    say(&out);
    ck_assert_int_eq(order.kind, ORDER_RELEASE);
    out = (struct wire_out){.kind = WIRE_OUT_COMMAND};
    out.command = (struct wire_command){wire_work, 3, "drop"};
    say(&out);
    expect_order(ORDER_COMMAND, 3);
    ck_assert_str_eq(order.command, "drop");
    out = (struct wire_out){.kind = WIRE_OUT_HEARTBEAT};
    say(&out);
    ck_assert_int_eq(order.kind, ORDER_HEARTBEAT);
    out = (struct wire_out){.kind = WIRE_OUT_REJECT, .reject = "no"};
    say(&out);
    ck_assert_int_eq(order.kind, ORDER_REJECT);
}
END_TEST

START_TEST(inspect_is_understood)
{
    const struct wire_inspect_target targets[] = {
        {.path = "/dev/sdb", .write = true, .open_flags = PLAN_OPEN_DIRECT},
        {.path = "/tmp/x", .create = true, .size_bytes = 1 << 20},
    };
    struct wire_out out = {.kind = WIRE_OUT_INSPECT};

    out.inspect = (struct wire_inspect){
        .campaign = wire_work.campaign,
        .targets = targets,
        .target_count = 2,
    };
    say(&out);
    ck_assert_int_eq(order.kind, ORDER_INSPECT);
    ck_assert_uint_eq(order.wish_count, 2);
    ck_assert_str_eq(order.wishes[0].path, "/dev/sdb");
    ck_assert(order.wishes[0].write && !order.wishes[0].create);
    ck_assert_uint_eq(order.wishes[0].open_flags, JOB_OPEN_DIRECT);
    ck_assert(order.wishes[1].create && !order.wishes[1].write);
    ck_assert_uint_eq(order.wishes[1].size_bytes, 1 << 20);
}
END_TEST

/*
 * Two hosts, three targets, two workloads, four cells; host 1 has the middle
 * target alone.
 */
static struct plan_host plan_hosts[2] = {{.label = "a"}, {.label = "b"}};
static struct plan_target plan_targets[3] = {
    {.host = 0, .sd = "sd1", .path = "/dev/a1", .size_bytes = 1 << 20},
    {.host = 1,
     .sd = "sd2",
     .path = "/dev/b1",
     .size_bytes = 2 << 20,
     .facts = {.known = true,
               .is_block = true,
               .size_bytes = 2 << 20,
               .logical_block = 512,
               .refusal = "",
               .device = "/dev/b1",
               .serial = "S123",
               .wwn = "eui.1",
               .model = "",
               .disk_sequence = 8}},
    {.host = 0, .sd = "sd3", .path = "/dev/a2", .size_bytes = 1 << 20},
};
static const struct plan_size_share one_size[] = {{4096, 100}};
static const struct plan_size_share sizes[] = {{4096, 90}, {8192, 10}};
static struct plan_workload plan_workloads[2] = {
    {.name = "wd1",
     .read_percent = 100,
     .seek_percent = 100,
     .sizes = one_size,
     .size_count = 1},
    {.name = "wd2",
     .read_percent = 30,
     .end_at_eof = true,
     .sizes = sizes,
     .size_count = 2},
};
static struct plan_run_target run_targets[3] = {
    {.target = 0, .threads = 1},
    {.target = 1, .threads = 8, .open_flags = PLAN_OPEN_DIRECT, .write = true},
    {.target = 2, .threads = 1},
};
static struct plan_cell plan_cells[4] = {
    {.workload = 0, .target = 0, .share = 0.25, .low = 4096, .high = 1 << 20},
    {.workload = 1, .target = 1, .share = 0.40, .low = 8192, .high = 2 << 20},
    {.workload = 0, .target = 1, .share = 0.10, .low = 4096, .high = 1 << 20},
    {.workload = 0, .target = 2, .share = 0.25, .low = 4096, .high = 1 << 20},
};
static struct plan_run run = {
    .name = "rd1",
    .rate = {PLAN_RATE_FIXED, 1000},
    .arrival = PLAN_ARRIVAL_UNIFORM,
    .elapsed_ns = 10 * NS_PER_S,
    .warmup_ns = 1500 * NS_PER_MS,
    .interval_ns = NS_PER_S,
    .workloads = plan_workloads,
    .workload_count = 2,
    .targets = run_targets,
    .target_count = 3,
    .cells = plan_cells,
    .cell_count = 4,
};
static const struct plan plan = {
    .hosts = plan_hosts,
    .host_count = 2,
    .targets = plan_targets,
    .target_count = 3,
    .runs = &run,
    .run_count = 1,
};

START_TEST(a_slice_has_what_is_the_hosts_own)
{
    struct slice *slice;

    ck_assert_int_eq(slice_new(&plan, 0, 1, &slice), 0);
    ck_assert_uint_eq(slice->target_count, 1);
    ck_assert_uint_eq(slice->targets[0], 1);
    ck_assert_uint_eq(slice->cell_count, 2);
    ck_assert_uint_eq(slice->cells[0], 1);
    ck_assert_uint_eq(slice->cells[1], 2);
    ck_assert_uint_eq(slice->workload_count, 2);
    ck_assert_uint_eq(slice->workloads[0], 1); /* met first */
    ck_assert_uint_eq(slice->cell_workload[1], 1);
    slice_free(slice);
    ck_assert_int_eq(slice_new(&plan, 0, 0, &slice), 0);
    ck_assert_uint_eq(slice->target_count, 2);
    ck_assert_uint_eq(slice->workload_count, 1);
    slice_free(slice);
    ck_assert_int_eq(slice_new(&plan, 0, 2, &slice), -ENOENT);
}
END_TEST

START_TEST(prepare_is_understood)
{
    struct wire_out out = {.kind = WIRE_OUT_PREPARE};
    const struct job *job;
    struct slice *slice;
    struct diag diag;

    ck_assert_int_eq(slice_new(&plan, 0, 1, &slice), 0);
    out.prepare = (struct wire_prepare){
        .work = wire_work,
        .plan = &plan,
        .slice = slice,
        .rate = 1000,
        .seed = 42,
        .drain_limit_ns = 30 * NS_PER_S,
        .time_limit_ns = 60 * NS_PER_S,
    };
    say(&out);
    expect_order(ORDER_PREPARE, 0);
    job = order.job;
    ck_assert_msg(job_check(job, &diag) == 0, "%s", diag.text);
    ck_assert_str_eq(job->name, "rd1");
    ck_assert_int_eq(job->arrival, JOB_UNIFORM);
    ck_assert_uint_eq(job->warmup_intervals, 2); /* whole intervals */
    ck_assert_uint_eq(job->measured_intervals, 10);
    ck_assert_uint_eq(job->seed, 42);
    ck_assert_uint_eq(job->target_count, 1);
    ck_assert_str_eq(job->targets[0].path, "/dev/b1");
    ck_assert_str_eq(job->targets[0].serial, "S123");
    ck_assert_uint_eq(job->targets[0].device_size_bytes, 2 << 20);
    ck_assert_uint_eq(job->targets[0].threads, 8);
    ck_assert(job->targets[0].write && !job->targets[0].create);
    ck_assert_uint_eq(job->cell_count, 2);
    ck_assert_str_eq(job->workloads[job->cells[0].workload].name, "wd2");
    ck_assert_double_eq_tol(job->cells[0].iorate, 400, 1e-9);
    ck_assert_double_eq_tol(job->cells[1].iorate, 100, 1e-9);
    ck_assert_uint_eq(job->cells[0].low, 8192);
    slice_free(slice);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.codec_both");
    TCase *tcase = tcase_create("both");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, agents_are_understood);
    tcase_add_test(tcase, ends_of_commands_are_understood);
    tcase_add_test(tcase, samples_are_understood);
    tcase_add_test(tcase, orders_are_understood);
    tcase_add_test(tcase, inspect_is_understood);
    tcase_add_test(tcase, a_slice_has_what_is_the_hosts_own);
    tcase_add_test(tcase, prepare_is_understood);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
