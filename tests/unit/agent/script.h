/*
 * script.h - an agent's session, the world it acts on and the controller it
 * talks to, all in one test's hands.
 *
 * look() tells what was done since the last look, in words: "dial", "stop" for
 * calls of the world, "Ready" for frames.
 */
#ifndef TESTS_UNIT_AGENT_SCRIPT_H
#define TESTS_UNIT_AGENT_SCRIPT_H

#include <check.h>
#include <string.h>

#include "agent/interlock.h"
#include "agent/inventory.h"
#include "agent/row.h"
#include "agent/session.h"
#include "common/histogram.h"
#include "common/uuid.h"
#include "tests/unit/agent/frames.h"

#define LEASE    (30 * NS_PER_S)
#define SENT_MAX 256
#define EPOCH    5u

/* ---- The world ---------------------------------------------------------- */

static struct {
    char did[1024]; /* since the last look */
    char log[8192];
    Lockstep__Frame *sent[SENT_MAX];
    uint32_t sent_count;
    size_t queued;
    uint64_t lease_ns;
    uint64_t start_ns;
    uint64_t stop_after;
    const struct job *job;
    int arm_result;
    uint32_t dials;
} world;

static struct clock_manual now;
static struct session *session;

static inline void note(const char *word)
{
    size_t length = strlen(world.did);

    (void)snprintf(world.did + length, sizeof(world.did) - length, "%s%s",
                   length > 0 ? " " : "", word);
}

static inline void on_dial(void *context)
{
    (void)context;
    world.dials++;
    note("dial");
}

static inline const char *frame_name(const Lockstep__Frame *frame)
{
    switch ((int)frame->body_case) {
    case LOCKSTEP__FRAME__BODY_HEARTBEAT:
        return "Heartbeat";
    case LOCKSTEP__FRAME__BODY_REJECT:
        return "Reject";
    case LOCKSTEP__FRAME__BODY_AGENT_HELLO:
        return "Hello";
    case LOCKSTEP__FRAME__BODY_INVENTORY:
        return "Inventory";
    case LOCKSTEP__FRAME__BODY_CLOCK_REPLY:
        return "ClockReply";
    case LOCKSTEP__FRAME__BODY_INSPECTED:
        return "Inspected";
    case LOCKSTEP__FRAME__BODY_READY:
        return "Ready";
    case LOCKSTEP__FRAME__BODY_ARMED:
        return "Armed";
    case LOCKSTEP__FRAME__BODY_REFUSED:
        return "Refused";
    case LOCKSTEP__FRAME__BODY_SAMPLE:
        return "Sample";
    case LOCKSTEP__FRAME__BODY_FINISHED:
        return "Finished";
    case LOCKSTEP__FRAME__BODY_COMMAND_DONE:
        return "CommandDone";
    default:
        return "?";
    }
}

static inline void on_send(void *context, const uint8_t *body, size_t length)
{
    Lockstep__Frame *frame = lockstep__frame__unpack(NULL, length, body);

    (void)context;
    ck_assert_ptr_nonnull(frame);
    ck_assert_uint_lt(world.sent_count, SENT_MAX);
    world.sent[world.sent_count++] = frame;
    note(frame_name(frame));
}

static inline size_t on_queued(void *context)
{
    (void)context;
    return world.queued;
}

static inline void on_hang_up(void *context)
{
    (void)context;
    note("hang_up");
}

static inline void on_log(void *context, enum session_log level,
                          const char *text)
{
    size_t length = strlen(world.log);

    (void)context;
    (void)level;
    (void)snprintf(world.log + length, sizeof(world.log) - length, "%s\n",
                   text);
}

static inline void on_look(void *context)
{
    (void)context;
    note("look");
}

static inline void on_inspect(void *context, const struct uuid *campaign,
                              struct interlock_wish *wishes, uint32_t count)
{
    (void)context;
    (void)campaign;
    ck_assert_uint_ge(count, 1);
    note("inspect");
    free(wishes);
}

static inline void on_prepare(void *context, const struct job *job)
{
    (void)context;
    world.job = job;
    note("prepare");
}

static inline int on_arm(void *context, uint64_t start_ns, struct diag *diag)
{
    (void)context;
    world.start_ns = start_ns;
    note("arm");
    if (world.arm_result < 0)
        return diag_set(diag, world.arm_result, "cannot arm");
    return 0;
}

static inline void on_go(void *context)
{
    (void)context;
    note("go");
}

static inline void on_stop_after(void *context, uint64_t interval)
{
    (void)context;
    world.stop_after = interval;
    note("stop_after");
}

static inline void on_stop(void *context)
{
    (void)context;
    note("stop");
}

static inline void on_lease(void *context, uint64_t deadline_ns)
{
    (void)context;
    world.lease_ns = deadline_ns;
}

static inline void on_discard(void *context, struct job *job)
{
    (void)context;
    world.job = NULL;
    note("discard");
    (void)job_free(job);
}

static inline void on_release(void *context, const struct uuid *campaign)
{
    (void)context;
    (void)campaign;
    note("release");
}

static inline void on_run(void *context, const struct command *command,
                          const struct uuid *campaign, uint32_t phase)
{
    char word[NAME_SIZE + 32];

    (void)context;
    ck_assert(uuid_equal(campaign, &frames_campaign));
    (void)snprintf(word, sizeof(word), "run:%s:%u", command->name, phase);
    note(word);
}

static inline void on_end_run(void *context)
{
    (void)context;
    note("end_run");
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

static inline void forget_sent(void)
{
    for (uint32_t i = 0; i < world.sent_count; i++)
        lockstep__frame__free_unpacked(world.sent[i], NULL);
    world.sent_count = 0;
}

/* What was done since the last look; forgets it. */
static inline const char *look(void)
{
    static char did[sizeof(world.did)];

    memcpy(did, world.did, sizeof(did));
    world.did[0] = '\0';
    return did;
}

#define DID(text) ck_assert_str_eq(look(), text)
#define LOGGED(text)                                                           \
    ck_assert_msg(strstr(world.log, text) != NULL, "no '%s' in: %s", text,     \
                  world.log)

static inline const Lockstep__Frame *last_sent(Lockstep__Frame__BodyCase body)
{
    for (uint32_t i = world.sent_count; i > 0; i--)
        if (world.sent[i - 1]->body_case == body)
            return world.sent[i - 1];
    ck_abort_msg("no such frame was sent");
    return NULL;
}

/* ---- The script --------------------------------------------------------- */

static struct session_config config;
static const struct work work0 = {{{1, 2, 3, 4, 5, 6, 7, 8}}, 0, EPOCH};

static inline void begin(void)
{
    memset(&world, 0, sizeof(world));
    clock_manual_init(&now, 1000 * NS_PER_S);
    if (config.phase.lease_ns == 0)
        config.phase.lease_ns = LEASE;
    memcpy(config.name, "host1", 6);
    config.instance.bytes[0] = 7;
    session = session_new(&config, &now.clock, &doors, NULL);
    ck_assert_ptr_nonnull(session);
    session_start(session);
    DID("dial");
}

static inline void end(void)
{
    session = session_free(session);
    ck_assert_ptr_null(world.job);
    forget_sent();
}

static inline void deliver(void)
{
    session_frame(session, frame_made.data, frame_made.length, now.now_ns);
}

/* Time in steps of 10 ms, as a loop would. */
static inline void pass(uint64_t ns)
{
    while (ns > 0) {
        uint64_t step = ns < 10 * NS_PER_MS ? ns : 10 * NS_PER_MS;

        clock_manual_advance(&now, step);
        if (session_due_ns(session) <= now.now_ns)
            session_tick(session);
        ns -= step;
    }
}

/* The same with a controller that goes on saying something. */
static inline void pass_alive(uint64_t ns, bool renews)
{
    while (ns > 0) {
        uint64_t step = ns < NS_PER_S ? ns : NS_PER_S;

        pass(step);
        if (renews)
            frames_renew(&work0);
        else
            frames_heartbeat();
        deliver();
        ns -= step;
    }
    (void)look();
}

static inline void welcome_of(const struct uuid *controller, uint64_t epoch)
{
    session_connected(session);
    DID("Hello");
    frames_welcome(controller, epoch, CODEC_MAJOR);
    deliver();
}

static inline void up(void)
{
    welcome_of(&frames_controller, EPOCH);
    ck_assert(session_is_up(session));
    DID("look");
}

static inline void reconnect(uint64_t epoch)
{
    session_disconnected(session, "connection reset");
    pass(SESSION_REDIAL_MIN_NS);
    DID("dial");
    welcome_of(&frames_controller, epoch);
}

static inline void prepare(uint32_t phase, uint64_t epoch)
{
    struct job *job = frames_job(phase, epoch);

    frames_prepare(job);
    deliver();
    job = job_free(job);
}

static inline void ready(void)
{
    begin();
    up();
    prepare(0, EPOCH);
    DID("prepare");
    ck_assert_uint_eq(world.lease_ns, now.now_ns + config.phase.lease_ns);
    session_prepared(session, 2, 4096, NULL);
    DID("Ready");
}

static inline void armed(void)
{
    ready();
    frames_start(&work0, now.now_ns + NS_PER_S);
    deliver();
    DID("arm Armed");
    ck_assert_uint_eq(world.start_ns, now.now_ns + NS_PER_S);
}

static inline void running(void)
{
    armed();
    frames_go(&work0);
    deliver();
    DID("go");
    pass(NS_PER_S);
    frames_heartbeat();
    deliver();
    (void)look();
}

/* A row of two cells' worth of reads. */
static inline void row(uint64_t interval, enum row_kind kind)
{
    static struct histogram service;
    struct row_cell cells[JOB_OPS] = {{0}};
    struct row row = {
        .interval = interval,
        .spans = 1,
        .kind = kind,
        .begin_ns = world.start_ns + interval * NS_PER_S,
        .end_ns = world.start_ns + (interval + 1) * NS_PER_S,
        .cells = cells,
        .cell_count = 1,
    };

    histogram_init(&service);
    histogram_record(&service, 100000 + interval);
    cells[JOB_READ].ios = 1;
    cells[JOB_READ].bytes = 4096;
    cells[JOB_READ].service = &service;
    cells[JOB_READ].response = &service;
    session_row(session, &row);
}

static inline void ended(enum phase_outcome outcome)
{
    struct phase_end how = {.outcome = outcome};

    session_ended(session, &how);
}

static inline void ack(uint64_t next)
{
    frames_ack(&work0, next);
    deliver();
}

static inline void is_state(const char *name)
{
    ck_assert_str_eq(phase_state_name(session_phase(session)->state), name);
}

/* The numbers of the samples sent since forget_sent(), as "0 1 2". */
static inline const char *samples_sent(void)
{
    static char text[512];
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < world.sent_count; i++)
        if (world.sent[i]->body_case == LOCKSTEP__FRAME__BODY_SAMPLE)
            length +=
                (size_t)snprintf(text + length, sizeof(text) - length, "%s%u",
                                 length > 0 ? " " : "",
                                 (unsigned)world.sent[i]->sample->interval);
    return text;
}

static inline int run_tests(const char *name, const TTest *const *tests,
                            size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}

#endif
