/* agent/session_errand.c: commands, by the names that the host's owner gave. */
#include "tests/unit/agent/script.h"

static const struct commands commands = {
    .items =
        {
            {"drop", "/bin/drop --all", NS_PER_S},
            {"collect", "/bin/collect", 10 * NS_PER_S},
        },
    .count = 2,
};

static struct errand_result result;

static void begin_up(void)
{
    config.commands = &commands;
    begin();
    up();
}

static void command(uint32_t number, const char *name)
{
    frames_command(&work0, number, name);
    deliver();
}

static const Lockstep__CommandDone *answer(void)
{
    return last_sent(LOCKSTEP__FRAME__BODY_COMMAND_DONE)->command_done;
}

static void ran(uint32_t status, const char *line)
{
    memset(&result, 0, sizeof(result));
    result.end = ERRAND_EXITED;
    result.status = status;
    result.duration_ns = 5 * NS_PER_MS;
    result.line_count = 1;
    (void)snprintf(result.lines[0], sizeof(result.lines[0]), "%s", line);
    session_ran(session, &result);
}

static void is_refused(const char *why)
{
    ck_assert_int_eq(answer()->end, LOCKSTEP__COMMAND_END__COMMAND_REFUSED);
    ck_assert_msg(strstr(answer()->reason, why) != NULL, "'%s', not '%s'",
                  answer()->reason, why);
}

START_TEST(hello_tells_what_the_owner_lets_run)
{
    const Lockstep__AgentHello *hello;

    begin_up();
    hello = last_sent(LOCKSTEP__FRAME__BODY_AGENT_HELLO)->agent_hello;
    ck_assert_uint_eq(hello->n_commands, 2);
    ck_assert_str_eq(hello->commands[0]->name, "drop");
    ck_assert_str_eq(hello->commands[0]->text, "/bin/drop --all");
    ck_assert_uint_eq(hello->commands[1]->limit_ns, 10 * NS_PER_S);
    end();
}
END_TEST

START_TEST(command_runs_once_however_often_it_is_told)
{
    begin_up();
    command(1, "drop");
    DID("run:drop:0");
    command(1, "drop");
    DID("");
    ran(3, "said so");
    DID("CommandDone");
    ck_assert_uint_eq(answer()->number, 1);
    ck_assert_int_eq(answer()->end, LOCKSTEP__COMMAND_END__COMMAND_EXITED);
    ck_assert_uint_eq(answer()->status, 3);
    ck_assert_uint_eq(answer()->n_lines, 1);
    ck_assert_str_eq(answer()->lines[0], "said so");
    command(1, "drop"); /* the answer was lost: it is told again, not run */
    DID("CommandDone");
    command(2, "collect");
    DID("run:collect:0");
    ran(0, "x");
    DID("CommandDone");
    end();
}
END_TEST

START_TEST(answer_waits_for_a_connection)
{
    struct work again = work0;

    begin_up();
    command(1, "drop");
    DID("run:drop:0");
    session_disconnected(session, "cut");
    ran(0, "x");
    pass(SESSION_REDIAL_MIN_NS);
    DID("dial");
    welcome_of(&frames_controller, EPOCH + 1);
    DID("look");
    again.epoch = EPOCH + 1;
    frames_command(&again, 1, "drop");
    deliver();
    DID("CommandDone");
    ck_assert_uint_eq(answer()->work->epoch, EPOCH + 1);
    end();
}
END_TEST

START_TEST(texts_and_unknown_names_are_not_run)
{
    begin_up();
    command(1, "/bin/drop");
    DID("CommandDone");
    is_refused("names no command '/bin/drop'");
    command(2, "x");
    DID("CommandDone");
    is_refused("names no command 'x'");
    end();
}
END_TEST

START_TEST(one_at_a_time_and_never_beside_a_phase)
{
    begin_up();
    command(1, "drop");
    DID("run:drop:0");
    command(2, "collect");
    DID("CommandDone");
    is_refused("still runs");
    prepare(0, EPOCH);
    DID("Refused");
    ran(0, "x");
    (void)look();
    end();

    config.commands = &commands;
    running();
    command(3, "drop");
    DID("CommandDone");
    is_refused("no command runs beside I/O");
    end();
}
END_TEST

START_TEST(it_is_ended_when_told_and_with_the_agent)
{
    begin_up();
    command(1, "drop");
    DID("run:drop:0");
    command(2, "");
    DID("end_run");
    command(3, "collect");
    DID("run:collect:0");
    session_stop(session, "told to end");
    DID("end_run");
    ck_assert(session_is_over(session));
    command(4, "drop");
    DID("CommandDone");
    is_refused("told to end");
    end();
}
END_TEST

START_TEST(orders_of_another_epoch_are_not_obeyed)
{
    struct work old = work0;

    begin_up();
    old.epoch = EPOCH - 1;
    frames_command(&old, 1, "drop");
    deliver();
    DID("");
    LOGGED("Command not obeyed");
    end();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        hello_tells_what_the_owner_lets_run,
        command_runs_once_however_often_it_is_told,
        answer_waits_for_a_connection,
        texts_and_unknown_names_are_not_run,
        one_at_a_time_and_never_beside_a_phase,
        it_is_ended_when_told_and_with_the_agent,
        orders_of_another_epoch_are_not_obeyed,
    };

    return run_tests("session_errand", tests, ARRAY_LENGTH(tests));
}
