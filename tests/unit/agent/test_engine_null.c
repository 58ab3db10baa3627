/* Constructed latencies: their text, and their order. */
#include "agent/engine_null.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *text;
    int result;
} texts[] = {
    {"null:100us", 0},
    {"null:999000x100us,1000x50ms", 0},
    {"null:1ms,hang=7,error=5/1000,stall=5s+2s", 0},
    {"null:", -EINVAL},
    {"null", -EINVAL},
    {"", -EINVAL},
    {"uring:100us", -EINVAL},
    {"null:100", -EINVAL},
    {"null:0x100us", -EINVAL},
    {"null:-1x100us", -EINVAL},
    {"null:1x", -EINVAL},
    {"null:x1us", -EINVAL},
    {"null:1us,,2us", -EINVAL},
    {"null:hang=3", -EINVAL},
    {"null:1us,hang=", -EINVAL},
    {"null:1us,error=5", -EINVAL},
    {"null:1us,error=0/5", -EINVAL},
    {"null:1us,error=5/0", -EINVAL},
    {"null:1us,error=5000/2", -EINVAL},
    {"null:1us,stall=5s", -EINVAL},
    {"null:1us,speed=5", -EINVAL},
    {"null:99999999999999999999x1us", -EINVAL},
    {"null:1us,2us,3us,4us,5us,6us,7us,8us,9us,10us,11us,12us,13us,14us,"
     "15us,16us,17us",
     -EINVAL},
    {"null:111111111111111111111111111111111111111111111111111111111111111111",
     -EINVAL},
};

START_TEST(texts_are_read_or_refused_with_a_reason)
{
    struct engine_null_text text;
    struct diag diag = {0};
    int r = engine_null_parse(texts[_i].text, &text, &diag);

    ck_assert_msg(r == texts[_i].result, "'%s': %d", texts[_i].text, r);
    ck_assert((r < 0) == (diag.text[0] != '\0'));
}
END_TEST

static struct engine_null_fate decide(const char *name, uint64_t number,
                                      uint64_t since_ns)
{
    struct engine_null_fate fate = {.result = 4096};
    struct engine_null_text text;
    struct diag diag;

    ck_assert_int_eq(engine_null_parse(name, &text, &diag), 0);
    engine_null_decide(&text, number, since_ns, &fate);
    return fate;
}

START_TEST(steps_come_in_turn)
{
    const char *name = "null:2x100us,1x50ms,7us";

    ck_assert_uint_eq(decide(name, 0, 0).latency_ns, 100000);
    ck_assert_uint_eq(decide(name, 1, 0).latency_ns, 100000);
    ck_assert_uint_eq(decide(name, 2, 0).latency_ns, 50000000);
    ck_assert_uint_eq(decide(name, 3, 0).latency_ns, 7000);
    ck_assert_uint_eq(decide(name, 4, 0).latency_ns, 100000);
}
END_TEST

START_TEST(faults_come_as_written)
{
    ck_assert_uint_eq(decide("null:1us,hang=3", 3, 0).latency_ns,
                      ENGINE_NULL_NEVER);
    ck_assert_uint_eq(decide("null:1us,hang=3", 4, 0).latency_ns, 1000);
    ck_assert_int_eq(decide("null:1us,error=5/10", 9, 0).result, -EIO);
    ck_assert_int_eq(decide("null:1us,error=5/10", 8, 0).result, 4096);
    ck_assert_uint_eq(decide("null:1us,stall=1s+2s", 0, 500000).latency_ns,
                      1000);
    ck_assert_uint_eq(
        decide("null:1us,stall=1s+2s", 0, 1500 * NS_PER_MS).latency_ns,
        1500 * NS_PER_MS);
    ck_assert_uint_eq(
        decide("null:1us,stall=1s+2s", 0, 3 * NS_PER_S).latency_ns, 1000);
}
END_TEST

static void by_number(void *context, const struct engine_io *io,
                      uint64_t number, uint64_t now_ns,
                      struct engine_null_fate *fate)
{
    static const uint64_t latencies[] = {50, 10, 30, 10, 20, 10, 40};

    (void)context;
    (void)io;
    (void)now_ns;
    fate->latency_ns = latencies[number % 7];
}

/* By time, and first come first served within one time; one time a batch. */
START_TEST(completions_come_in_the_order_of_their_times)
{
    static const uint32_t order[] = {1, 3, 5, 4, 2, 6, 0};
    static const uint32_t counts[] = {3, 1, 1, 1, 1};
    static const uint64_t times[] = {10, 20, 30, 40, 50};
    struct engine_io io[7] = {{.length = 512}};
    uint32_t slots[7] = {0, 1, 2, 3, 4, 5, 6};
    struct engine_setup setup = {
        .io = io, .io_stride = sizeof(io[0]), .slot_count = 7};
    struct engine_null_script script = {.fate = by_number};
    const struct engine_done *done;
    struct clock_manual clock;
    struct engine *engine;
    struct diag diag;
    uint64_t at_ns;
    uint32_t next = 0;

    clock_manual_init(&clock, 1000);
    script.clock = &clock.clock;
    script.manual = &clock;
    ck_assert_int_eq(engine_null_open(&script, &setup, &engine, &diag), 0);
    ck_assert_int_eq(engine->ops->submit(engine, slots, 7, 1000, 0), 0);
    ck_assert_uint_eq(clock.now_ns, 1000);
    ck_assert_uint_eq(engine->ops->reap(engine, 1000, &done, &at_ns), 0);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(engine->ops->submit(engine, slots, 0, 1000, 1000), 0);
        ck_assert_uint_eq(clock.now_ns, 1000 + times[i]);
        ck_assert_uint_eq(
            engine->ops->reap(engine, clock.now_ns, &done, &at_ns), counts[i]);
        ck_assert_uint_eq(at_ns, 1000 + times[i]);
        for (uint32_t j = 0; j < counts[i]; j++)
            ck_assert_uint_eq(done[j].slot, order[next++]);
    }
    ck_assert_int_eq(engine->ops->submit(engine, slots, 0, 1000, 777), 0);
    ck_assert_uint_eq(clock.now_ns, 1050 + 777);
    ck_assert(engine->ops->close(engine, 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_null");
    TCase *cases = tcase_create("null");

    tcase_add_loop_test(cases, texts_are_read_or_refused_with_a_reason, 0, 24);
    tcase_add_test(cases, steps_come_in_turn);
    tcase_add_test(cases, faults_come_as_written);
    tcase_add_test(cases, completions_come_in_the_order_of_their_times);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
