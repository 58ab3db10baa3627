/*
 * agent/loop*.c: a whole agent in a process of its own, at the other end of a
 * socket pair.  The controller is this test.  Drives are /dev/zero and files.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/engine_probe.h"
#include "agent/loop.h"
#include "common/clock.h"
#include "common/frame.h"
#include "common/histogram.h"
#include "tests/unit/agent/frames.h"

#define PATIENCE_MS 20000 /* for what comes at once */
#define EPOCH       5u

#ifdef __SANITIZE_THREAD__
/* libuv closes descriptors behind the sanitizer's back, which then takes the
 * next one of the same number for a race. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:closedir\n";
}
#endif

static int link_fd = -1;
static pid_t agent = -1;
static Lockstep__Frame *got; /* the last frame that expect() returned */
static const struct work work0 = {{{1, 2, 3, 4, 5, 6, 7, 8}}, 0, EPOCH};

static uint64_t now_ns(void)
{
    return clock_now_ns(clock_os());
}

/* ---- The agent's process ------------------------------------------------ */

static void begin(const char *engine, uint64_t lease_ns)
{
    static struct settings settings;
    struct diag diag = {0};
    int pair[2];

    (void)signal(SIGPIPE, SIG_IGN); /* as main() does */
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    memset(&settings, 0, sizeof(settings));
    memcpy(settings.name, "host1", 6);
    settings.lease_ns = lease_ns;
    settings.controller_fd = pair[1];
    settings.workers_max = 1;
    (void)snprintf(settings.engine, sizeof(settings.engine), "%s", engine);
    agent = fork();
    ck_assert_int_ge(agent, 0);
    if (agent == 0) {
        (void)close(pair[0]);
        _exit(loop_run(&settings, &diag) == 0 ? 0 : 1);
    }
    (void)close(pair[1]);
    link_fd = pair[0];
}

/* The agent ends by itself, and well. */
static void gone(void)
{
    int status = -1;

    if (got != NULL)
        lockstep__frame__free_unpacked(TAKE(got), NULL);
    ck_assert_int_eq(waitpid(agent, &status, 0), agent);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static void end(void)
{
    (void)close(link_fd);
    gone();
}

/* ---- The controller ----------------------------------------------------- */

static void deliver(void)
{
    uint8_t header[FRAME_HEADER_SIZE];

    frame_header(header, (uint32_t)frame_made.length);
    ck_assert_int_eq(write(link_fd, header, sizeof(header)), sizeof(header));
    ck_assert_int_eq(write(link_fd, frame_made.data, frame_made.length),
                     (ssize_t)frame_made.length);
}

/* False at the end of the connection. */
static bool read_exactly(uint8_t *data, size_t length)
{
    while (length > 0) {
        struct pollfd wait = {.fd = link_fd, .events = POLLIN};
        ssize_t n;

        ck_assert_msg(poll(&wait, 1, PATIENCE_MS) == 1, "nothing came");
        n = read(link_fd, data, length);
        if (n <= 0)
            return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}

/* The next frame that is no heartbeat and no inventory; NULL at the end. */
static const Lockstep__Frame *next_frame(void)
{
    static uint8_t body[FRAME_BODY_MAX];
    uint8_t header[FRAME_HEADER_SIZE];
    size_t length;

    for (;;) {
        if (got != NULL)
            lockstep__frame__free_unpacked(TAKE(got), NULL);
        if (!read_exactly(header, sizeof(header)))
            return NULL;
        length = (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
        ck_assert(read_exactly(body, length));
        got = lockstep__frame__unpack(NULL, length, body);
        ck_assert_ptr_nonnull(got);
        if (got->body_case != LOCKSTEP__FRAME__BODY_HEARTBEAT &&
            got->body_case != LOCKSTEP__FRAME__BODY_INVENTORY)
            return got;
    }
}

static const Lockstep__Frame *expect(Lockstep__Frame__BodyCase body)
{
    const Lockstep__Frame *frame = next_frame();

    ck_assert_ptr_nonnull(frame);
    if (frame->body_case == LOCKSTEP__FRAME__BODY_REFUSED)
        ck_assert_msg(body == frame->body_case, "refused: %s: %s",
                      frame->refused->target, frame->refused->reason);
    ck_assert_int_eq((int)frame->body_case, (int)body);
    return frame;
}

static void welcome(void)
{
    const Lockstep__Frame *frame = expect(LOCKSTEP__FRAME__BODY_AGENT_HELLO);
    static const struct uuid none;

    ck_assert_str_eq(frame->agent_hello->name, "host1");
    ck_assert_mem_ne(frame->agent_hello->instance.data, none.bytes, 16);
    ck_assert_mem_ne(frame->agent_hello->boot.data, none.bytes, 16);
    frames_welcome(&frames_controller, EPOCH, 1);
    deliver();
}

/* Reads of /dev/zero, in intervals of 100 ms. */
static struct job *reading(uint64_t intervals)
{
    struct job *job = frames_job(0, EPOCH);

    job->interval_ns = 100 * NS_PER_MS;
    job->warmup_intervals = 1;
    job->measured_intervals = intervals - 1;
    job->targets[0] = (struct job_target){
        .sd = "sd1", .path = "/dev/zero", .size_bytes = 1u << 20, .threads = 4};
    job->workloads[0].read_percent = 100;
    job->cells[0].high = 1u << 20;
    job->cells[0].iorate = 1000;
    return job;
}

static void prepare(struct job *job)
{
    frames_prepare(job);
    (void)job_free(job);
    deliver();
}

/* From Prepare to Go. */
static uint64_t start(struct job *job)
{
    uint64_t at;

    prepare(job);
    expect(LOCKSTEP__FRAME__BODY_READY);
    ck_assert_uint_ge(got->ready->workers, 1);
    at = now_ns() + 200 * NS_PER_MS;
    frames_start(&work0, at);
    deliver();
    expect(LOCKSTEP__FRAME__BODY_ARMED);
    frames_go(&work0);
    deliver();
    return at;
}

/* Samples until Finished: how many I/Os, when the last row ended. */
struct harvest {
    uint64_t ios;
    uint64_t rows;
    uint64_t end_ns;
    Lockstep__Outcome outcome;
    char reason[REASON_SIZE];
};

static void take_sample(struct harvest *harvest, const Lockstep__Sample *sample)
{
    ck_assert_uint_eq(sample->interval, harvest->rows);
    ck_assert_uint_eq(sample->spans, 1);
    harvest->rows++;
    harvest->end_ns = sample->agent_end_ns;
    for (size_t i = 0; i < sample->n_cells; i++) {
        static struct histogram histogram;
        const Lockstep__CellSample *cell = sample->cells[i];

        histogram_init(&histogram);
        ck_assert_int_eq(histogram_merge_blob(&histogram, cell->service.data,
                                              cell->service.len),
                         0);
        ck_assert_uint_eq(histogram.count, cell->ios);
        ck_assert_uint_eq(cell->errors, 0);
        harvest->ios += cell->ios;
    }
}

static void take_finished(struct harvest *harvest,
                          const Lockstep__Finished *finished)
{
    harvest->outcome = finished->outcome;
    /* The drain row's number, and so the number of those before it. */
    ck_assert_uint_eq(finished->intervals, harvest->rows);
    (void)snprintf(harvest->reason, sizeof(harvest->reason), "%s",
                   finished->reason);
}

/* Takes and acknowledges all until the drain row, or Finished where none is. */
static struct harvest harvest_all(void)
{
    struct harvest harvest = {0};
    bool is_last = false;

    while (!is_last) {
        const Lockstep__Frame *frame = next_frame();

        ck_assert_ptr_nonnull(frame);
        if (frame->body_case == LOCKSTEP__FRAME__BODY_FINISHED) {
            take_finished(&harvest, frame->finished);
            is_last = harvest.rows == 0;
        } else {
            ck_assert_int_eq((int)frame->body_case,
                             LOCKSTEP__FRAME__BODY_SAMPLE);
            take_sample(&harvest, frame->sample);
            is_last =
                frame->sample->kind == LOCKSTEP__SAMPLE_KIND__SAMPLE_DRAIN;
        }
        frames_ack(&work0, harvest.rows);
        deliver();
    }
    return harvest;
}

/* ---- Tests -------------------------------------------------------------- */

START_TEST(probes_are_answered_between_their_stamps)
{
    uint64_t before, after;

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    before = now_ns();
    frames_probe(5);
    deliver();
    expect(LOCKSTEP__FRAME__BODY_CLOCK_REPLY);
    after = now_ns();
    ck_assert_uint_eq(got->clock_reply->sequence, 5);
    ck_assert_uint_ge(got->clock_reply->agent_received_ns, before);
    ck_assert_uint_ge(got->clock_reply->agent_sent_ns,
                      got->clock_reply->agent_received_ns);
    ck_assert_uint_ge(after, got->clock_reply->agent_sent_ns);
    end();
}
END_TEST

START_TEST(a_phase_runs_and_its_rows_are_all_there)
{
    struct harvest harvest;
    uint64_t at;

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    at = start(reading(5));
    harvest = harvest_all();
    ck_assert_int_eq(harvest.outcome, LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    ck_assert_uint_eq(harvest.rows, 6); /* and the drain row */
    ck_assert_uint_ge(harvest.ios, 300);
    ck_assert_uint_le(harvest.ios, 800);
    ck_assert_uint_ge(harvest.end_ns, at + 500 * NS_PER_MS);
    /* The next one of the same campaign. */
    frames_release(&frames_campaign);
    deliver();
    (void)start(reading(2));
    harvest = harvest_all();
    ck_assert_int_eq(harvest.outcome, LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    end();
}
END_TEST

START_TEST(inspection_answers_for_each_target)
{
    begin("null:100us", 5 * NS_PER_S);
    welcome();
    frames_inspect(&frames_campaign, "/dev/zero", 2, 0);
    deliver();
    expect(LOCKSTEP__FRAME__BODY_INSPECTED);
    ck_assert_uint_eq(got->inspected->n_targets, 2);
    ck_assert_int_eq(got->inspected->targets[1]->kind,
                     LOCKSTEP__TARGET_KIND__TARGET_CHARACTER);
    end();
}
END_TEST

START_TEST(a_target_that_is_not_there_is_refused_by_name)
{
    struct job *job = reading(5);

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    memcpy(job->targets[0].path, "/dev/no-such-drive", 19);
    prepare(job);
    expect(LOCKSTEP__FRAME__BODY_REFUSED);
    ck_assert_str_eq(got->refused->target, "sd1");
    ck_assert_ptr_nonnull(strstr(got->refused->reason, "/dev/no-such-drive"));
    /* And it can still work. */
    (void)start(reading(2));
    ck_assert_int_eq(harvest_all().outcome,
                     LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    end();
}
END_TEST

START_TEST(an_abort_ends_it_with_what_there_is)
{
    struct harvest harvest;

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    (void)start(reading(100));
    expect(LOCKSTEP__FRAME__BODY_SAMPLE);
    frames_abort(&work0, "by ann");
    deliver();
    harvest.rows = 1;
    while (next_frame()->body_case == LOCKSTEP__FRAME__BODY_SAMPLE)
        harvest.rows++;
    ck_assert_int_eq((int)got->body_case, LOCKSTEP__FRAME__BODY_FINISHED);
    ck_assert_int_eq(got->finished->outcome,
                     LOCKSTEP__OUTCOME__OUTCOME_STOPPED);
    ck_assert_str_eq(got->finished->reason, "by ann");
    ck_assert_uint_lt(harvest.rows, 100);
    end();
}
END_TEST

START_TEST(an_abort_before_the_start_leaves_no_rows)
{
    struct harvest harvest;

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    (void)start(reading(100));
    frames_abort(&work0, "by ann");
    deliver();
    harvest = harvest_all();
    ck_assert_int_eq(harvest.outcome, LOCKSTEP__OUTCOME__OUTCOME_STOPPED);
    ck_assert_uint_eq(harvest.rows, 0);
    end();
}
END_TEST

START_TEST(stop_after_ends_at_that_edge)
{
    struct harvest harvest;

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    (void)start(reading(100));
    frames_stop_after(&work0, 3);
    deliver();
    harvest = harvest_all();
    ck_assert_int_eq(harvest.outcome, LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    ck_assert_uint_eq(harvest.rows, 5); /* 0 to 3, and the drain row */
    end();
}
END_TEST

START_TEST(without_go_nothing_starts)
{
    struct harvest harvest;

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    prepare(reading(5));
    expect(LOCKSTEP__FRAME__BODY_READY);
    frames_start(&work0, now_ns() + 50 * NS_PER_MS);
    deliver();
    expect(LOCKSTEP__FRAME__BODY_ARMED);
    harvest = harvest_all();
    ck_assert_int_eq(harvest.outcome, LOCKSTEP__OUTCOME__OUTCOME_NO_GO);
    ck_assert_uint_eq(harvest.ios, 0);
    end();
}
END_TEST

START_TEST(another_instant_moves_the_start)
{
    struct harvest harvest;
    uint64_t at;

    begin("null:100us", 5 * NS_PER_S);
    welcome();
    prepare(reading(3));
    expect(LOCKSTEP__FRAME__BODY_READY);
    frames_start(&work0, now_ns() + 150 * NS_PER_MS);
    deliver();
    expect(LOCKSTEP__FRAME__BODY_ARMED);
    at = now_ns() + 400 * NS_PER_MS;
    frames_start(&work0, at);
    deliver();
    expect(LOCKSTEP__FRAME__BODY_ARMED);
    frames_go(&work0);
    deliver();
    harvest = harvest_all();
    ck_assert_int_eq(harvest.outcome, LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    ck_assert_uint_ge(harvest.end_ns, at + 300 * NS_PER_MS);
    end();
}
END_TEST

START_TEST(load_ends_with_the_lease)
{
    struct harvest harvest;
    uint64_t granted;

    begin("null:100us", NS_PER_S);
    welcome();
    granted = now_ns();
    (void)start(reading(100));
    harvest = harvest_all();
    ck_assert_int_eq(harvest.outcome, LOCKSTEP__OUTCOME__OUTCOME_LEASE_LOST);
    ck_assert_uint_gt(harvest.ios, 0);
    /* Room for a machine that is busy, and far from the ten seconds asked. */
    ck_assert_uint_le(harvest.end_ns, granted + 2 * NS_PER_S);
    end();
}
END_TEST

/* The dead man's switch: the whole process is stopped beyond the lease, and
 * Renews wait in its socket.  Once it goes on, no I/O is issued any more. */
START_TEST(load_stays_ended_after_a_stop_beyond_the_lease)
{
    struct harvest harvest;
    uint64_t stopped;
    struct pollfd nothing = {.fd = -1};
    int status;

    begin("null:100us", NS_PER_S);
    welcome();
    (void)start(reading(100));
    expect(LOCKSTEP__FRAME__BODY_SAMPLE);
    ck_assert_int_eq(kill(agent, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(agent, &status, WUNTRACED), agent);
    ck_assert(WIFSTOPPED(status));
    stopped = now_ns();
    while (now_ns() < stopped + 2 * NS_PER_S) {
        frames_renew(&work0);
        deliver();
        (void)poll(&nothing, 1, 200);
    }
    ck_assert_int_eq(kill(agent, SIGCONT), 0);
    harvest = (struct harvest){0};
    while (next_frame()->body_case == LOCKSTEP__FRAME__BODY_SAMPLE)
        for (size_t i = 0; i < got->sample->n_cells; i++)
            harvest.ios += got->sample->cells[i]->ios;
    ck_assert_int_eq((int)got->body_case, LOCKSTEP__FRAME__BODY_FINISHED);
    ck_assert_int_eq(got->finished->outcome,
                     LOCKSTEP__OUTCOME__OUTCOME_LEASE_LOST);
    /* What was done before the stop and not read yet; two seconds' backlog of
     * a thousand a second is not among it. */
    ck_assert_uint_le(harvest.ios, 700);
    end();
}
END_TEST

START_TEST(the_end_of_the_connection_is_the_end)
{
    begin("null:100us", 5 * NS_PER_S);
    welcome();
    (void)start(reading(100));
    expect(LOCKSTEP__FRAME__BODY_SAMPLE);
    (void)close(link_fd);
    gone();
}
END_TEST

START_TEST(a_signal_ends_it_with_a_farewell)
{
    begin("null:100us", 5 * NS_PER_S);
    welcome();
    (void)start(reading(100));
    expect(LOCKSTEP__FRAME__BODY_SAMPLE);
    ck_assert_int_eq(kill(agent, SIGTERM), 0);
    while (next_frame()->body_case == LOCKSTEP__FRAME__BODY_SAMPLE)
        continue;
    ck_assert_int_eq((int)got->body_case, LOCKSTEP__FRAME__BODY_FINISHED);
    ck_assert_int_eq(got->finished->outcome,
                     LOCKSTEP__OUTCOME__OUTCOME_STOPPED);
    ck_assert_ptr_nonnull(strstr(got->finished->reason, "SIGTERM"));
    expect(LOCKSTEP__FRAME__BODY_SAMPLE);
    frames_ack(&work0, UINT64_MAX);
    deliver();
    expect(LOCKSTEP__FRAME__BODY_REJECT);
    ck_assert_ptr_null(next_frame());
    gone();
    (void)close(link_fd);
}
END_TEST

/* ---- With io_uring ------------------------------------------------------ */

static bool has_uring(void)
{
    struct engine_facts facts;

    engine_probe(&facts);
    return strcmp(facts.engine, "io_uring") == 0;
}

START_TEST(a_fill_makes_the_file_that_a_phase_then_writes)
{
    char directory[] = "/tmp/lockstep-loop-XXXXXX";
    char path[64];
    struct job *job = reading(3);
    struct stat st;

    if (!has_uring())
        return;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/file", directory);
    begin("", 5 * NS_PER_S);
    welcome();
    job->kind = JOB_FILL;
    job->warmup_intervals = 0;
    job->measured_intervals = 0;
    memcpy(job->targets[0].path, path, strlen(path) + 1);
    job->targets[0].create = true;
    job->targets[0].write = true;
    job->workloads[0].read_percent = 0;
    job->workloads[0].seek_percent = 0;
    job->workloads[0].size_count = 1;
    job->workloads[0].sizes[0] = (struct job_size){65536, 100};
    job->cells[0].low = 0;
    job->cells[0].iorate = 0;
    (void)start(job);
    ck_assert_int_eq(harvest_all().outcome,
                     LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_size, 1 << 20);
    ck_assert_int_ge(st.st_blocks, (1 << 20) / 512);

    job = reading(3);
    memcpy(job->targets[0].path, path, strlen(path) + 1);
    job->targets[0].write = true;
    job->workloads[0].read_percent = 50;
    (void)start(job);
    ck_assert_int_eq(harvest_all().outcome,
                     LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    end();
    ck_assert_int_eq(unlink(path), 0); /* whole: it stays */
    ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        probes_are_answered_between_their_stamps,
        a_phase_runs_and_its_rows_are_all_there,
        inspection_answers_for_each_target,
        a_target_that_is_not_there_is_refused_by_name,
        an_abort_ends_it_with_what_there_is,
        an_abort_before_the_start_leaves_no_rows,
        stop_after_ends_at_that_edge,
        without_go_nothing_starts,
        another_instant_moves_the_start,
        load_ends_with_the_lease,
        load_stays_ended_after_a_stop_beyond_the_lease,
        the_end_of_the_connection_is_the_end,
        a_signal_ends_it_with_a_farewell,
        a_fill_makes_the_file_that_a_phase_then_writes,
    };
    Suite *suite = suite_create("loop");
    TCase *tcase = tcase_create("loop");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 60);
    for (size_t i = 0; i < ARRAY_LENGTH(tests); i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
