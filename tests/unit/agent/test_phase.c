/* agent/phase.c: every state, every limit, the lease. */
#include "agent/phase.h"

#include <check.h>
#include <string.h>

#include "common/uuid.h"
#include "tests/unit/agent/frames.h"

#define LEASE (30 * NS_PER_S)

static struct clock_manual now;
static struct phase phase;
static struct diag diag;
/* The effects since the last look, as one text: "lease prepare ". */
static char did[512];
static struct phase_effect last[PHASE_LOG + 1]; /* of each kind */

static const char *const words[] = {
    [PHASE_DO_PREPARE] = "prepare",
    [PHASE_DO_ARM] = "arm",
    [PHASE_DO_GO] = "go",
    [PHASE_DO_STOP_AFTER] = "stop_after",
    [PHASE_DO_STOP] = "stop",
    [PHASE_DO_LEASE] = "lease",
    [PHASE_DO_DISCARD] = "discard",
    [PHASE_DO_RELEASE] = "release",
    [PHASE_SAY_READY] = "Ready",
    [PHASE_SAY_ARMED] = "Armed",
    [PHASE_SAY_REFUSED] = "Refused",
    [PHASE_SAY_HOLDING] = "Holding",
    [PHASE_SAY_IDLE] = "Idle",
    [PHASE_LOG] = "",
};

static const char *look(void)
{
    struct phase_effect effect;
    size_t length = 0;

    did[0] = '\0';
    while (phase_take_effect(&phase, &effect)) {
        last[effect.kind] = effect;
        if (effect.kind == PHASE_DO_DISCARD)
            (void)job_free(effect.job);
        if (words[effect.kind][0] != '\0')
            length +=
                (size_t)snprintf(did + length, sizeof(did) - length, "%s%s",
                                 length > 0 ? " " : "", words[effect.kind]);
        ck_assert_uint_lt(length, sizeof(did));
    }
    return did;
}

#define DID(text) ck_assert_str_eq(look(), text)
#define IS(name)  ck_assert_str_eq(phase_state_name(phase.state), name)

static uint64_t at(void)
{
    return now.now_ns;
}

static void pass(uint64_t ns)
{
    clock_manual_advance(&now, ns);
    phase_tick(&phase);
}

static void begin(bool finish)
{
    struct phase_config config = {LEASE, finish};

    clock_manual_init(&now, 1000 * NS_PER_S);
    phase_init(&phase, &config, &now.clock);
    memset(&diag, 0, sizeof(diag));
}

static void end(void)
{
    phase_done(&phase);
    (void)look();
    ck_assert_ptr_null(phase.job);
}

static void prepare(uint32_t number)
{
    ck_assert_int_eq(phase_prepare(&phase, frames_job(number, 5), at(), &diag),
                     0);
    DID("lease prepare");
    IS("preparing");
}

static void ready(void)
{
    prepare(0);
    phase_prepared(&phase, 2, 1 << 20, NULL);
    DID("Ready");
    IS("ready");
}

static void armed(void)
{
    ready();
    ck_assert_int_eq(phase_start(&phase, at() + NS_PER_S, &diag), 0);
    DID("arm");
    phase_armed(&phase);
    DID("Armed");
    IS("armed");
}

static void cleared(void)
{
    armed();
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    DID("go");
    IS("cleared");
}

static void running(void)
{
    cleared();
    pass(NS_PER_S);
    DID("");
    IS("running");
}

static void draining(void)
{
    running();
    pass(10 * NS_PER_S);
    DID("");
    IS("draining");
}

static void ended(enum phase_outcome outcome, const char *reason,
                  uint64_t intervals)
{
    struct phase_end how = {.outcome = outcome, .intervals = intervals};

    (void)snprintf(how.reason, sizeof(how.reason), "%s", reason);
    phase_ended(&phase, &how);
}

static void holding(void)
{
    draining();
    ended(PHASE_COMPLETE, "", 10);
    DID("discard Holding");
    IS("holding");
}

static void renew(void)
{
    ck_assert_int_eq(phase_renew(&phase, &frames_campaign, at(), &diag), 0);
    DID("lease");
    ck_assert_uint_eq(last[PHASE_DO_LEASE].at_ns, at() + LEASE);
}

/* ---- The way through ---------------------------------------------------- */

START_TEST(a_phase_goes_its_way)
{
    begin(false);
    IS("idle");
    ck_assert_uint_eq(phase_due_ns(&phase), UINT64_MAX);
    holding();
    ck_assert_int_eq(phase.end.outcome, PHASE_COMPLETE);
    ck_assert_str_eq(phase.end.reason, "");
    ck_assert_uint_eq(phase.end.intervals, 10);
    phase_acknowledged(&phase);
    DID("Idle");
    IS("idle");
    /* The drives stay claimed for the next phase of the campaign. */
    ck_assert_int_eq(phase.lease, PHASE_LEASE_HELD);
    prepare(1);
    end();
}
END_TEST

START_TEST(ready_tells_what_it_took)
{
    begin(false);
    ready();
    ck_assert_uint_eq(last[PHASE_SAY_READY].workers, 2);
    ck_assert_uint_eq(last[PHASE_SAY_READY].memory_bytes, 1 << 20);
    ck_assert_uint_eq(last[PHASE_SAY_READY].work.epoch, 5);
    phase_say_ready(&phase);
    DID("Ready");
    end();
}
END_TEST

/* Whatever comes in whatever state: the table decides, nothing crashes, and
 * what does not belong changes nothing. */
START_TEST(orders_in_a_wrong_state_are_not_obeyed)
{
    static void (*const to[])(void) = {ready,   armed,    cleared,
                                       running, draining, holding};
    static const bool start_ok[] = {true, true, false, false, false, false};
    static const bool go_ok[] = {false, true, true, true, false, false};
    static const bool stop_ok[] = {false, false, true, true, false, false};

    for (size_t i = 0; i < ARRAY_LENGTH(to); i++) {
        enum phase_state before;

        begin(false);
        to[i]();
        before = phase.state;
        ck_assert_int_eq(phase_prepare(&phase, frames_job(9, 5), at(), &diag),
                         -EPROTO);
        ck_assert_ptr_nonnull(strstr(diag.text, "still has phase 0"));
        DID("");
        if (!stop_ok[i])
            ck_assert_int_eq(phase_stop_after(&phase, 3, &diag), -EPROTO);
        if (!go_ok[i])
            ck_assert_int_eq(phase_go(&phase, &diag), -EPROTO);
        if (!start_ok[i])
            ck_assert_int_eq(phase_start(&phase, at() + 7, &diag), -EPROTO);
        DID("");
        ck_assert_int_eq(phase.state, before);
        end();
    }
}
END_TEST

START_TEST(idle_obeys_nothing_but_prepare)
{
    begin(false);
    ck_assert_int_eq(phase_start(&phase, at() + 1, &diag), -EPROTO);
    ck_assert_int_eq(phase_go(&phase, &diag), -EPROTO);
    ck_assert_int_eq(phase_stop_after(&phase, 1, &diag), -EPROTO);
    ck_assert_int_eq(phase_renew(&phase, &frames_campaign, at(), &diag),
                     -ESTALE);
    phase_abort(&phase, PHASE_STOPPED, "x");
    phase_release(&phase, &frames_campaign);
    phase_prepared(&phase, 1, 1, NULL);
    phase_armed(&phase);
    phase_acknowledged(&phase);
    phase_refused(&phase, "sd1", "late");
    ended(PHASE_COMPLETE, "", 1);
    pass(3600 * NS_PER_S);
    DID("");
    IS("idle");
    end();
}
END_TEST

START_TEST(orders_said_twice_are_answered_twice_or_not_at_all)
{
    uint64_t start;

    begin(false);
    armed();
    start = phase.start_ns;
    ck_assert_int_eq(phase_start(&phase, start, &diag), 0);
    DID("Armed");
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    DID("go");
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    DID("");
    pass(NS_PER_S);
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    ck_assert_int_eq(phase_start(&phase, start, &diag), 0);
    DID("");
    ck_assert_int_eq(phase_stop_after(&phase, 4, &diag), 0);
    DID("stop_after");
    ck_assert_int_eq(phase_stop_after(&phase, 4, &diag), 0);
    ck_assert_int_eq(phase_stop_after(&phase, 6, &diag), 0);
    DID("");
    end();
}
END_TEST

/* ---- The start ---------------------------------------------------------- */

START_TEST(another_start_while_armed_moves_the_instant)
{
    begin(false);
    armed();
    ck_assert_int_eq(phase_start(&phase, at() + 3 * NS_PER_S, &diag), 0);
    DID("arm");
    ck_assert_uint_eq(last[PHASE_DO_ARM].at_ns, at() + 3 * NS_PER_S);
    phase_armed(&phase);
    DID("Armed");
    pass(2 * NS_PER_S); /* past the first instant */
    IS("armed");
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    pass(NS_PER_S);
    IS("running");
    end();
}
END_TEST

/* Past: nothing is lost by waiting for the controller's next try. */
START_TEST(a_start_that_is_past_is_not_taken_one_too_far_is_refused)
{
    begin(false);
    ready();
    ck_assert_int_eq(phase_start(&phase, at() - 1, &diag), -ESTALE);
    DID("");
    IS("ready");
    ck_assert_int_eq(phase_start(&phase, at() + NS_PER_S, &diag), 0);
    DID("arm");
    end();

    begin(false);
    ready();
    ck_assert_int_eq(phase_start(&phase, at() + 61 * NS_PER_S, &diag), 0);
    DID("Refused discard");
    end();
}
END_TEST

START_TEST(arming_that_fails_is_refused)
{
    begin(false);
    ready();
    ck_assert_int_eq(phase_start(&phase, at() + NS_PER_S, &diag), 0);
    DID("arm");
    phase_refused(&phase, "", "the workers are gone");
    DID("Refused discard");
    IS("idle");
    ck_assert_str_eq(last[PHASE_SAY_REFUSED].text, "the workers are gone");
    end();
}
END_TEST

START_TEST(no_go_by_the_start_disarms)
{
    begin(false);
    armed();
    pass(NS_PER_S - 1);
    IS("armed");
    pass(1);
    DID("discard Holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_NO_GO);
    ck_assert_uint_eq(phase.end.intervals, 0);
    ck_assert_int_eq(phase_go(&phase, &diag), -EPROTO);
    phase_acknowledged(&phase);
    IS("idle");
    end();
}
END_TEST

START_TEST(a_go_that_the_loop_reads_after_the_start_is_none)
{
    begin(false);
    armed();
    clock_manual_advance(&now, NS_PER_S); /* and no tick in between */
    ck_assert_int_eq(phase_go(&phase, &diag), -EPROTO);
    IS("holding");
    DID("discard Holding");
    end();
}
END_TEST

/* The workers look at their own clock: they may have given up when the loop
 * still thought that there was time. */
START_TEST(workers_that_gave_up_at_the_start_end_it)
{
    begin(false);
    cleared();
    ended(PHASE_NO_GO, "no Go at the start", 0);
    DID("discard Holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_NO_GO);
    end();
}
END_TEST

/* ---- Ends --------------------------------------------------------------- */

START_TEST(stop_after_ends_with_that_interval)
{
    begin(false);
    running();
    pass(3 * NS_PER_S + 1); /* in interval 3 */
    ck_assert_int_eq(phase_stop_after(&phase, 4, &diag), 0);
    DID("stop_after");
    ck_assert_uint_eq(last[PHASE_DO_STOP_AFTER].interval, 4);
    pass(2 * NS_PER_S - 2);
    IS("running");
    pass(1);
    IS("draining");
    end();
}
END_TEST

START_TEST(stop_after_that_comes_too_late_ends_with_the_current_interval)
{
    begin(false);
    running();
    pass(3 * NS_PER_S + 1);
    ck_assert_int_eq(phase_stop_after(&phase, 1, &diag), 0);
    DID("stop_after");
    ck_assert_uint_eq(last[PHASE_DO_STOP_AFTER].interval, 3);
    end();
}
END_TEST

START_TEST(an_abort_ends_each_state)
{
    begin(false);
    prepare(0);
    phase_abort(&phase, PHASE_STOPPED, "by ann");
    DID("discard Holding");
    phase_prepared(&phase, 1, 1, NULL); /* the world may have been about to */
    phase_refused(&phase, "", "gone");
    DID("");
    ck_assert_int_eq(phase.end.outcome, PHASE_STOPPED);
    ck_assert_str_eq(phase.end.reason, "by ann");
    end();

    begin(false);
    ready();
    phase_abort(&phase, PHASE_STOPPED, "by ann");
    DID("discard Holding");
    end();

    begin(false);
    armed();
    phase_abort(&phase, PHASE_STOPPED, "by ann");
    DID("discard Holding");
    end();

    begin(false);
    cleared();
    phase_abort(&phase, PHASE_STOPPED, "by ann");
    DID("stop");
    IS("draining");
    ended(PHASE_STOPPED, "", 0);
    DID("discard Holding");
    end();

    begin(false);
    running();
    phase_abort(&phase, PHASE_STOPPED, "by ann");
    DID("stop");
    phase_abort(&phase, PHASE_FAILED, "the first reason stays");
    DID("");
    ended(PHASE_COMPLETE, "", 4);
    DID("discard Holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_STOPPED);
    ck_assert_str_eq(phase.end.reason, "by ann");
    ck_assert_uint_eq(phase.end.intervals, 4);
    end();

    begin(false);
    holding();
    phase_abort(&phase, PHASE_STOPPED, "too late");
    DID("");
    ck_assert_int_eq(phase.end.outcome, PHASE_COMPLETE);
    end();
}
END_TEST

START_TEST(what_the_crew_failed_at_is_the_outcome)
{
    begin(false);
    running();
    ended(PHASE_FAILED, "the ring is broken", 3);
    DID("discard Holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_FAILED);
    ck_assert_str_eq(phase.end.reason, "the ring is broken");
    end();
}
END_TEST

START_TEST(a_fill_ends_when_it_is_full)
{
    struct job *job;

    begin(false);
    job = frames_job(0, 5);
    job->kind = JOB_FILL;
    job->measured_intervals = 0;
    ck_assert_int_eq(phase_prepare(&phase, job, at(), &diag), 0);
    phase_prepared(&phase, 1, 1, NULL);
    ck_assert_int_eq(phase_start(&phase, at() + 1, &diag), 0);
    phase_armed(&phase);
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    pass(1);
    (void)look();
    for (int i = 0; i < 50; i++) {
        pass(NS_PER_S);
        renew();
    }
    IS("running");
    ended(PHASE_COMPLETE, "", 51);
    DID("discard Holding");
    end();
}
END_TEST

/* ---- Limits ------------------------------------------------------------- */

/* Keeps the lease alive while time passes. */
static void pass_renewed(uint64_t ns)
{
    while (ns > 0) {
        uint64_t step = ns < LEASE / 5 ? ns : LEASE / 5;

        if (phase_renew(&phase, &frames_campaign, at(), &diag) == 0)
            (void)look();
        pass(step);
        ns -= step;
    }
}

START_TEST(preparing_has_a_limit)
{
    begin(false);
    prepare(0);
    pass_renewed(PHASE_PREPARE_LIMIT_NS + PHASE_PREPARE_TARGET_NS - 1);
    IS("preparing");
    pass_renewed(1);
    (void)look();
    IS("idle");
    ck_assert_ptr_nonnull(strstr(last[PHASE_SAY_REFUSED].text, "hangs"));
    phase_prepared(&phase, 1, 1, NULL);
    DID("");
    end();
}
END_TEST

START_TEST(ready_has_a_limit)
{
    begin(false);
    ready();
    pass_renewed(PHASE_READY_LIMIT_NS);
    IS("holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_FAILED);
    end();
}
END_TEST

START_TEST(running_has_the_time_limit)
{
    struct job *job;

    begin(false);
    job = frames_job(0, 5);
    job->time_limit_ns = 3 * NS_PER_S;
    ck_assert_int_eq(phase_prepare(&phase, job, at(), &diag), 0);
    phase_prepared(&phase, 1, 1, NULL);
    ck_assert_int_eq(phase_start(&phase, at() + 1, &diag), 0);
    phase_armed(&phase);
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    pass(1);
    (void)look();
    pass(3 * NS_PER_S - 1);
    IS("running");
    pass(1);
    DID("stop");
    ended(PHASE_TIME_LIMIT, "", 3);
    ck_assert_int_eq(phase.end.outcome, PHASE_TIME_LIMIT);
    end();
}
END_TEST

START_TEST(draining_has_a_limit_beyond_the_crews_own)
{
    begin(false);
    draining();
    pass_renewed(5 * NS_PER_S + PHASE_DRAIN_GRACE_NS - 1);
    IS("draining");
    pass_renewed(1);
    IS("holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_FAILED);
    end();
}
END_TEST

START_TEST(holding_has_a_limit)
{
    begin(false);
    holding();
    pass(PHASE_HOLD_LIMIT_NS - 1);
    IS("holding");
    pass(1);
    IS("idle");
    DID("release Idle");
    end();
}
END_TEST

START_TEST(due_is_the_next_limit)
{
    begin(false);
    running();
    ck_assert_uint_eq(phase_due_ns(&phase), phase.start_ns + 10 * NS_PER_S);
    pass(9 * NS_PER_S);
    ck_assert_int_eq(phase_stop_after(&phase, 9, &diag), 0);
    ck_assert_uint_eq(phase_due_ns(&phase), phase.start_ns + 10 * NS_PER_S);
    end();

    begin(false);
    ready();
    ck_assert_uint_eq(phase_due_ns(&phase), at() + LEASE);
    end();
}
END_TEST

/* ---- The lease ---------------------------------------------------------- */

START_TEST(the_lease_ends_each_state)
{
    static void (*const to[])(void) = {ready, armed, cleared, running};

    for (size_t i = 0; i < ARRAY_LENGTH(to); i++) {
        begin(false);
        to[i]();
        phase.limit_ns = UINT64_MAX; /* nothing else ends it */
        pass(phase.lease_deadline_ns - at() - 1);
        DID("");
        pass(1);
        if (i < 2) {
            DID("discard release Holding");
        } else {
            DID("stop");
            ended(PHASE_LEASE_LOST, "", 3);
            DID("discard release Holding");
        }
        ck_assert_int_eq(phase.end.outcome, PHASE_LEASE_LOST);
        ck_assert(uuid_equal(&last[PHASE_DO_RELEASE].work.campaign,
                             &frames_campaign));
        ck_assert_int_eq(phase_renew(&phase, &frames_campaign, at(), &diag),
                         -ESTALE);
        end();
    }
}
END_TEST

START_TEST(the_lease_ends_preparing)
{
    begin(false);
    prepare(0);
    pass(LEASE);
    DID("discard release Holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_LEASE_LOST);
    end();
}
END_TEST

START_TEST(the_lease_covers_pauses)
{
    begin(false);
    holding();
    phase_acknowledged(&phase);
    DID("Idle");
    pass(10 * NS_PER_S);
    renew();
    ck_assert_uint_eq(phase_due_ns(&phase), at() + LEASE);
    pass(LEASE);
    DID("release");
    IS("idle");
    ck_assert_int_eq(phase.lease, PHASE_LEASE_NONE);
    end();
}
END_TEST

START_TEST(samples_outlive_the_lease)
{
    begin(false);
    holding();
    pass(LEASE);
    DID("release");
    IS("holding");
    phase_acknowledged(&phase);
    DID("Idle");
    end();
}
END_TEST

START_TEST(a_renew_runs_from_when_it_may_have_come)
{
    uint64_t before;

    begin(false);
    ready();
    before = at();
    clock_manual_advance(&now, 4 * NS_PER_S);
    ck_assert_int_eq(
        phase_renew(&phase, &frames_campaign, before + NS_PER_S, &diag), 0);
    ck_assert_uint_eq(phase.lease_deadline_ns, before + NS_PER_S + LEASE);
    (void)look();
    /* It never makes the lease shorter. */
    ck_assert_int_eq(phase_renew(&phase, &frames_campaign, before, &diag), 0);
    DID("");
    ck_assert_uint_eq(phase.lease_deadline_ns, before + NS_PER_S + LEASE);
    end();
}
END_TEST

/* SIGSTOP for hours, then SIGCONT: the Renews that waited in the socket come
 * to a lease that has ended. */
START_TEST(renews_that_waited_do_not_revive_a_lease)
{
    begin(false);
    running();
    clock_manual_advance(&now, 2 * 3600 * NS_PER_S);
    ck_assert_int_eq(phase_renew(&phase, &frames_campaign, at(), &diag),
                     -ESTALE);
    DID("stop");
    ended(PHASE_LEASE_LOST, "", 5);
    ck_assert_int_eq(phase.end.outcome, PHASE_LEASE_LOST);
    end();
}
END_TEST

START_TEST(another_campaign_renews_nothing)
{
    begin(false);
    ready();
    ck_assert_int_eq(phase_renew(&phase, &frames_other, at(), &diag), -ESTALE);
    DID("");
    end();
}
END_TEST

START_TEST(finish_lets_the_phase_run_out)
{
    begin(true);
    ck_assert_int_eq(phase_prepare(&phase, frames_job(0, 5), at(), &diag), 0);
    (void)look();
    ck_assert_uint_eq(last[PHASE_DO_LEASE].at_ns, UINT64_MAX);
    phase_prepared(&phase, 1, 1, NULL);
    ck_assert_int_eq(phase_start(&phase, at() + 25 * NS_PER_S, &diag), 0);
    phase_armed(&phase);
    ck_assert_int_eq(phase_go(&phase, &diag), 0);
    (void)look();
    pass(25 * NS_PER_S);
    pass(6 * NS_PER_S); /* the lease ended in between */
    DID("");
    IS("running");
    ck_assert_int_eq(phase_renew(&phase, &frames_campaign, at(), &diag),
                     -ESTALE);
    pass(4 * NS_PER_S);
    IS("draining");
    ended(PHASE_COMPLETE, "", 10);
    DID("discard release Holding");
    ck_assert_int_eq(phase.end.outcome, PHASE_COMPLETE);
    end();
}
END_TEST

START_TEST(finish_is_for_a_phase_that_runs)
{
    begin(true);
    ck_assert_int_eq(phase_prepare(&phase, frames_job(0, 5), at(), &diag), 0);
    phase_prepared(&phase, 1, 1, NULL);
    (void)look();
    pass(LEASE);
    DID("discard release Holding");
    end();
}
END_TEST

/* ---- Release ------------------------------------------------------------ */

START_TEST(release_gives_the_drives_back)
{
    begin(false);
    holding();
    phase_acknowledged(&phase);
    (void)look();
    phase_release(&phase, &frames_other);
    DID("");
    phase_release(&phase, &frames_campaign);
    DID("release");
    phase_release(&phase, &frames_campaign);
    DID("");
    end();
}
END_TEST

START_TEST(release_in_mid_phase_stops_and_forgets)
{
    begin(false);
    running();
    phase_release(&phase, &frames_campaign);
    DID("stop");
    ended(PHASE_STOPPED, "", 3);
    DID("discard release Idle");
    IS("idle");
    end();

    begin(false);
    holding();
    phase_release(&phase, &frames_campaign);
    DID("release Idle");
    IS("idle");
    end();
}
END_TEST

START_TEST(another_campaign_takes_over_from_one_that_is_done)
{
    struct job *job;

    begin(false);
    holding();
    phase_acknowledged(&phase);
    (void)look();
    job = frames_job(0, 5);
    job->work.campaign = frames_other;
    ck_assert_int_eq(phase_prepare(&phase, job, at(), &diag), 0);
    DID("release lease prepare");
    ck_assert(
        uuid_equal(&last[PHASE_DO_RELEASE].work.campaign, &frames_campaign));
    ck_assert(uuid_equal(&phase.leased_campaign, &frames_other));
    end();
}
END_TEST

START_TEST(the_end_of_the_agent_leaves_nothing_open)
{
    begin(false);
    running();
    phase_done(&phase);
    DID("discard release");
    begin(false);
    phase_done(&phase);
    DID("");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_phase_goes_its_way,
        ready_tells_what_it_took,
        orders_in_a_wrong_state_are_not_obeyed,
        idle_obeys_nothing_but_prepare,
        orders_said_twice_are_answered_twice_or_not_at_all,
        another_start_while_armed_moves_the_instant,
        a_start_that_is_past_is_not_taken_one_too_far_is_refused,
        arming_that_fails_is_refused,
        no_go_by_the_start_disarms,
        a_go_that_the_loop_reads_after_the_start_is_none,
        workers_that_gave_up_at_the_start_end_it,
        stop_after_ends_with_that_interval,
        stop_after_that_comes_too_late_ends_with_the_current_interval,
        an_abort_ends_each_state,
        what_the_crew_failed_at_is_the_outcome,
        a_fill_ends_when_it_is_full,
        preparing_has_a_limit,
        ready_has_a_limit,
        running_has_the_time_limit,
        draining_has_a_limit_beyond_the_crews_own,
        holding_has_a_limit,
        due_is_the_next_limit,
        the_lease_ends_each_state,
        the_lease_ends_preparing,
        the_lease_covers_pauses,
        samples_outlive_the_lease,
        a_renew_runs_from_when_it_may_have_come,
        renews_that_waited_do_not_revive_a_lease,
        another_campaign_renews_nothing,
        finish_lets_the_phase_run_out,
        finish_is_for_a_phase_that_runs,
        release_gives_the_drives_back,
        release_in_mid_phase_stops_and_forgets,
        another_campaign_takes_over_from_one_that_is_done,
        the_end_of_the_agent_leaves_nothing_open,
    };
    Suite *suite = suite_create("phase");
    TCase *tcase = tcase_create("phase");
    SRunner *runner = srunner_create(suite);
    int failed;

    for (size_t i = 0; i < ARRAY_LENGTH(tests); i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
