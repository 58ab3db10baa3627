/*
 * The small ones: diag, clock, prng, uuid, fault.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "common/diag.h"
#include "common/fault.h"
#include "common/prng.h"
#include "common/uuid.h"
#include "tests/support/suite.h"

/* ---- diag ---------------------------------------------------------------- */

START_TEST(diag_keeps_code_and_text)
{
    struct diag diag = {0};

    ck_assert_int_eq(diag_set(&diag, -EIO, "cannot read '%s'", "x"), -EIO);
    ck_assert_int_eq(diag.err, -EIO);
    ck_assert_str_eq(diag.text, "cannot read 'x'");
    diag_prefix(&diag, "host%d", 7);
    diag_prefix(&diag, "phase 3");
    ck_assert_str_eq(diag.text, "phase 3: host7: cannot read 'x'");
    ck_assert_int_eq(diag.err, -EIO);
    ck_assert_int_eq(diag_set(NULL, -EIO, "nobody asks"), -EIO);
    diag_prefix(NULL, "nobody asks");
}
END_TEST

START_TEST(diag_cuts_what_is_too_long)
{
    char text[2 * REASON_SIZE];
    struct diag diag = {0};

    memset(text, 'y', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    (void)diag_set(&diag, -EIO, "%s", text);
    ck_assert_uint_eq(strlen(diag.text), REASON_SIZE - 1);
    diag_prefix(&diag, "host7");
    ck_assert_uint_eq(strlen(diag.text), REASON_SIZE - 1);
    ck_assert(strncmp(diag.text, "host7: yyy", 10) == 0);
    diag_prefix(&diag, "%s", text);
    ck_assert_uint_eq(strlen(diag.text), REASON_SIZE - 1);
}
END_TEST

/* ---- clock -----------------------------------------------------------------
 */

START_TEST(clocks)
{
    struct clock_manual manual;
    uint64_t before = clock_now_ns(clock_os());

    ck_assert_uint_ge(clock_now_ns(clock_os()), before);
    ck_assert(clock_os()->wall_ns(clock_os()) >
              INT64_C(1700000000) * INT64_C(1000000000));
    clock_manual_init(&manual, 5);
    ck_assert_uint_eq(clock_now_ns(&manual.clock), 5);
    clock_manual_advance(&manual, 7);
    ck_assert_uint_eq(clock_now_ns(&manual.clock), 12);
    ck_assert_int_eq(manual.clock.wall_ns(&manual.clock), 7);
}
END_TEST

/* ---- prng ---------------------------------------------------------------- */

START_TEST(equal_seeds_give_equal_numbers)
{
    struct prng a, b;
    int different = 0;

    prng_seed(&a, 9);
    prng_seed(&b, 9);
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_eq(prng_next(&a), prng_next(&b));
    prng_seed(&b, 10);
    for (int i = 0; i < 1000; i++)
        different += prng_next(&a) != prng_next(&b);
    ck_assert_int_eq(different, 1000);
    prng_seed(&a, 0);
    ck_assert_uint_ne(prng_next(&a) | prng_next(&a), 0);
}
END_TEST

/* xoshiro256++ from the state 1, 2, 3, 4, worked out by hand: the first result
 * is rotl(1 + 4, 23) + 1; then the state is 7, 0, 2 ^ ..., and so on. */
START_TEST(the_generator_is_the_one_it_says)
{
    struct prng prng = {{1, 2, 3, 4}};

    ck_assert_uint_eq(prng_next(&prng), (UINT64_C(5) << 23) + 1);
    ck_assert_uint_eq(prng.state[0], 7);
    ck_assert_uint_eq(prng.state[1], 0);
    ck_assert_uint_eq(prng.state[2], UINT64_C(2) ^ (UINT64_C(2) << 17));
    ck_assert_uint_eq(prng.state[3], UINT64_C(6) << 45);
}
END_TEST

/* Each of ten kinds comes a tenth of the time, within five deviations. */
START_TEST(bounded_numbers_are_even)
{
    enum { DRAWS = 200000, KINDS = 10 };
    double expected = DRAWS / KINDS, deviation = sqrt(expected * 0.9);
    uint64_t seed = suite_seed();
    int seen[KINDS] = {0};
    struct prng prng;

    prng_seed(&prng, seed);
    for (int i = 0; i < DRAWS; i++)
        seen[prng_below(&prng, KINDS)]++;
    for (int i = 0; i < KINDS; i++)
        ck_assert_msg(fabs(seen[i] - expected) < 5 * deviation,
                      "%d: %d; TEST_SEED=%llu", i, seen[i],
                      (unsigned long long)seed);
    ck_assert_uint_eq(prng_below(&prng, 1), 0);
}
END_TEST

START_TEST(units_are_above_zero)
{
    uint64_t seed = suite_seed();
    double sum = 0;
    struct prng prng;

    prng_seed(&prng, seed);
    for (int i = 0; i < 100000; i++) {
        double unit = prng_unit(&prng);

        if (!(unit > 0 && unit <= 1))
            ck_abort_msg("%g", unit);
        sum += unit;
    }
    ck_assert_msg(fabs(sum / 100000 - 0.5) < 0.005, "TEST_SEED=%llu",
                  (unsigned long long)seed);
}
END_TEST

/* ---- uuid ---------------------------------------------------------------- */

START_TEST(uuid_round_trip)
{
    struct uuid a = uuid_random(), b = uuid_random(), read = {{0}};
    char text[UUID_TEXT_SIZE];

    ck_assert(!uuid_equal(&a, &b));
    ck_assert(!uuid_is_nil(&a));
    ck_assert(uuid_is_nil(&read));
    ck_assert_uint_eq(strlen(uuid_format(&a, text)), UUID_TEXT_SIZE - 1);
    ck_assert_int_eq(text[14], '4'); /* version 4 */
    ck_assert_ptr_nonnull(strchr("89ab", text[19]));
    ck_assert_int_eq(uuid_parse(text, &read), 0);
    ck_assert(uuid_equal(&a, &read));
    ck_assert_int_eq(uuid_parse("0123ABCD-4567-89ab-CDEF-0123456789ab", &read),
                     0);
    ck_assert_str_eq(uuid_format(&read, text),
                     "0123abcd-4567-89ab-cdef-0123456789ab");
}
END_TEST

static const char *const no_uuids[] = {
    "",
    "0123abcd-4567-89ab-cdef-0123456789a",
    "0123abcd-4567-89ab-cdef-0123456789abc",
    "0123abcd-4567-89ab-cdef-0123456789ag",
    "0123abcd04567-89ab-cdef-0123456789ab",
    "0123abcd4567-89ab-cdef-0123456789ab-",
    "{0123abcd-4567-89ab-cdef-0123456789a",
};

START_TEST(uuid_refuses)
{
    struct uuid uuid = {{0}};

    ck_assert_int_eq(uuid_parse(no_uuids[_i], &uuid), -EINVAL);
    ck_assert(uuid_is_nil(&uuid));
}
END_TEST

/* ---- fault --------------------------------------------------------------- */

#ifdef FAULTS
START_TEST(faults_fail_what_they_name)
{
    fault_disarm_all();
    ck_assert_int_eq(FAULT("store.commit"), 0);
    fault_arm("store.commit", -ENOSPC, 2);
    ck_assert_int_eq(FAULT("store.open"), 0);
    ck_assert_int_eq(FAULT("store.commit"), 0);
    ck_assert_int_eq(FAULT("store.commit"), 0);
    ck_assert_int_eq(FAULT("store.commit"), -ENOSPC);
    ck_assert_int_eq(FAULT("store.commit"), -ENOSPC);
    fault_disarm_all();
    ck_assert_int_eq(FAULT("store.commit"), 0);
}
END_TEST

START_TEST(faults_from_text)
{
    fault_disarm_all();
    ck_assert_int_eq(fault_arm_text("a.b=EIO,c.d=ENOMEM:1"), 0);
    ck_assert_int_eq(FAULT("a.b"), -EIO);
    ck_assert_int_eq(FAULT("c.d"), 0);
    ck_assert_int_eq(FAULT("c.d"), -ENOMEM);
    ck_assert_int_eq(fault_arm_text("a.b"), -EINVAL);
    ck_assert_int_eq(fault_arm_text("a.b=EWHAT"), -EINVAL);
    ck_assert_int_eq(fault_arm_text("a.b=EIO:x"), -EINVAL);
}
END_TEST
#else
START_TEST(faults_cost_nothing)
{
    _Static_assert(FAULT("store.commit") == 0, "a constant");
}
END_TEST
#endif

static void add_fault_tests(TCase *tc)
{
#ifdef FAULTS
    tcase_add_test(tc, faults_fail_what_they_name);
    tcase_add_test(tc, faults_from_text);
#else
    tcase_add_test(tc, faults_cost_nothing);
#endif
}

int main(void)
{
    Suite *suite = suite_create("small");
    TCase *tc = tcase_create("small");

    tcase_add_test(tc, diag_keeps_code_and_text);
    tcase_add_test(tc, diag_cuts_what_is_too_long);
    tcase_add_test(tc, clocks);
    tcase_add_test(tc, equal_seeds_give_equal_numbers);
    tcase_add_test(tc, the_generator_is_the_one_it_says);
    tcase_add_test(tc, bounded_numbers_are_even);
    tcase_add_test(tc, units_are_above_zero);
    tcase_add_test(tc, uuid_round_trip);
    tcase_add_loop_test(tc, uuid_refuses, 0, (int)ARRAY_LENGTH(no_uuids));
    add_fault_tests(tc);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
