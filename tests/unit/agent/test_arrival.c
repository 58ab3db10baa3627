/* The drawn schedule has the rate and the dispersion that were asked for, at
 * every rate, and does not drift. */
#include "agent/arrival.h"

#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

#define ARRIVALS 400000u

static uint64_t seed;

static void setup(void)
{
    /* Statistics with one known seed cannot fail by bad luck. */
    seed = getenv("TEST_SEED") != NULL ? suite_seed() : 1;
}

/* fio is 5 % high at 100k and 21 % at 150k; 1 / gap must hold beyond 1 GHz/3,
 * where a gap is three nanoseconds. */
static const double rates[] = {0.5,   1,     3,   100,   1000,
                               10000, 1.5e5, 1e6, 1.3e7, 3e8};

static double drawn_rate(enum job_arrival kind, double rate)
{
    struct arrival arrival;

    arrival_init(&arrival, kind, rate, seed);
    for (uint32_t i = 0; i < ARRIVALS; i++)
        arrival_next(&arrival);
    return (ARRIVALS + 1) / ((double)arrival.due * 0x1.0p-64 / 1e9);
}

START_TEST(exponential_rate_is_within_four_deviations)
{
    double rate = drawn_rate(JOB_EXPONENTIAL, rates[_i]);

    ck_assert_msg(fabs(rate / rates[_i] - 1) <= 4 / sqrt(ARRIVALS),
                  "asked %g, drawn %g; TEST_SEED=%llu", rates[_i], rate,
                  (unsigned long long)seed);
}
END_TEST

START_TEST(uniform_rate_is_within_four_deviations)
{
    double rate = drawn_rate(JOB_UNIFORM, rates[_i]);

    ck_assert_msg(fabs(rate / rates[_i] - 1) <= 4 / sqrt(3.0 * ARRIVALS),
                  "asked %g, drawn %g; TEST_SEED=%llu", rates[_i], rate,
                  (unsigned long long)seed);
}
END_TEST

/* Arrival i is at first + i / rate to the nanosecond, however many came. */
START_TEST(deterministic_never_drifts)
{
    struct arrival arrival;
    double first;

    arrival_init(&arrival, JOB_DETERMINISTIC, rates[_i], seed);
    first = (double)arrival.due * 0x1.0p-64;
    ck_assert(first > 0 && first <= 1e9 / rates[_i]);
    for (uint32_t i = 0; i < ARRIVALS; i++)
        arrival_next(&arrival);
    first += ARRIVALS * (1e9 / rates[_i]);
    ck_assert_msg(fabs((double)arrival.due * 0x1.0p-64 - first) <=
                      1 + first * 0x1.0p-50,
                  "rate %g: off by %g ns", rates[_i],
                  (double)arrival.due * 0x1.0p-64 - first);
}
END_TEST

/* Variance over mean of the counts in equal windows: 1 for a Poisson process, a
 * third for gaps uniform in 0 .. 2 means, nothing for equal gaps. */
static double dispersion(enum job_arrival kind, double rate, uint64_t window_ns,
                         uint32_t windows)
{
    double sum = 0, squares = 0;
    struct arrival arrival;

    arrival_init(&arrival, kind, rate, seed);
    for (uint64_t i = 0; i < windows; i++) {
        double count = 0;

        for (; arrival_due_ns(&arrival) < (i + 1) * window_ns; count++)
            arrival_next(&arrival);
        sum += count;
        squares += count * count;
    }
    return (squares / windows - sum / windows * (sum / windows)) /
           (sum / windows);
}

START_TEST(case_D01_counts_disperse_as_they_should)
{
    uint32_t windows = 5000;
    double bound = 5 * sqrt(2.0 / windows);
    double exponential =
        dispersion(JOB_EXPONENTIAL, 1000, 100 * NS_PER_MS, windows);
    double uniform = dispersion(JOB_UNIFORM, 1000, 100 * NS_PER_MS, windows);
    double equal =
        dispersion(JOB_DETERMINISTIC, 1000, 100 * NS_PER_MS, windows);

    ck_assert_msg(fabs(exponential - 1) < bound,
                  "exponential %g; TEST_SEED=%llu", exponential,
                  (unsigned long long)seed);
    ck_assert_msg(fabs(uniform - 1.0 / 3) < bound, "uniform %g; TEST_SEED=%llu",
                  uniform, (unsigned long long)seed);
    ck_assert_msg(equal < 0.001, "deterministic %g", equal);
}
END_TEST

START_TEST(due_times_never_go_back)
{
    for (int kind = JOB_EXPONENTIAL; kind <= JOB_DETERMINISTIC; kind++) {
        struct arrival arrival;
        u128 before = 0;

        arrival_init(&arrival, (enum job_arrival)kind, 5e8, seed);
        for (uint32_t i = 0; i < 100000; i++) {
            if (arrival.due < before)
                ck_abort_msg("arrival %u is before the last", i);
            before = arrival.due;
            arrival_next(&arrival);
        }
    }
}
END_TEST

START_TEST(a_copy_goes_on_in_the_same_way)
{
    struct arrival a, b;

    arrival_init(&a, JOB_EXPONENTIAL, 1000, seed);
    for (uint32_t i = 0; i < 1000; i++)
        arrival_next(&a);
    b = a;
    for (uint32_t i = 0; i < 1000; i++) {
        arrival_next(&a);
        arrival_next(&b);
        ck_assert(a.due == b.due);
    }
}
END_TEST

/* One I/O in 30,000 years: it must be late, not wrapped to now. */
START_TEST(the_slowest_rate_does_not_wrap)
{
    struct arrival arrival;

    arrival_init(&arrival, JOB_DETERMINISTIC, 1e-12, seed);
    for (uint32_t i = 0; i < 1000; i++)
        arrival_next(&arrival);
    ck_assert_uint_ge(arrival_due_ns(&arrival), UINT64_C(1) << 60);
}
END_TEST

/* ---- rates that change with time ---- */

static struct job *stepped(void)
{
    struct job *job = job_new(0, 0, 0);

    ck_assert_ptr_nonnull(job);
    ck_assert_int_eq(job_add_steps(job, 3), 0);
    job->steps[0] = (struct job_step){10 * NS_PER_S, 100};
    job->steps[1] = (struct job_step){5 * NS_PER_S, 1000};
    job->steps[2] = (struct job_step){5 * NS_PER_S, 0};
    return job;
}

/* distribution=variable: each step has its own rate, round after round. */
START_TEST(a_profile_gives_each_step_its_rate)
{
    struct job *job = stepped();
    struct arrival_profile profile;
    struct arrival arrival;
    uint32_t counts[3] = {0};
    uint64_t before = 0;

    ck_assert_int_eq(arrival_profile_init(&profile, job), 0);
    arrival_init_steps(&arrival, JOB_EXPONENTIAL, 300, seed, &profile, false);
    while (arrival_due_ns(&arrival) < 200 * NS_PER_S) {
        uint64_t at = arrival_due_ns(&arrival) % (20 * NS_PER_S);

        ck_assert_uint_ge(arrival_due_ns(&arrival), before);
        before = arrival_due_ns(&arrival);
        counts[at < 10 * NS_PER_S ? 0 : at < 15 * NS_PER_S ? 1 : 2]++;
        arrival_next(&arrival);
    }
    /* 10 rounds: 10,000, 50,000 and none, by four deviations. */
    ck_assert_msg(fabs(counts[0] - 10000.0) < 4 * sqrt(10000), "%u", counts[0]);
    ck_assert_msg(fabs(counts[1] - 50000.0) < 4 * sqrt(50000), "%u", counts[1]);
    ck_assert_uint_le(counts[2], 10); /* the instant of an edge itself */
    arrival_profile_done(&profile);
    job_free(job);
}
END_TEST

START_TEST(a_spike_is_at_the_beginning_of_each_second)
{
    struct arrival arrival;
    uint32_t counts[10] = {0};

    arrival_init_steps(&arrival, JOB_DETERMINISTIC, 500, seed, NULL, true);
    while (arrival_due_ns(&arrival) < 10 * NS_PER_S) {
        ck_assert_uint_eq(arrival_due_ns(&arrival) % NS_PER_S, 0);
        counts[arrival_due_ns(&arrival) / NS_PER_S]++;
        arrival_next(&arrival);
    }
    for (int i = 0; i < 10; i++)
        ck_assert_uint_eq(counts[i], 500);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arrival");
    TCase *cases = tcase_create("arrival");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_loop_test(cases, exponential_rate_is_within_four_deviations, 0,
                        10);
    tcase_add_loop_test(cases, uniform_rate_is_within_four_deviations, 0, 10);
    tcase_add_loop_test(cases, deterministic_never_drifts, 0, 10);
    tcase_add_test(cases, case_D01_counts_disperse_as_they_should);
    tcase_add_test(cases, due_times_never_go_back);
    tcase_add_test(cases, a_copy_goes_on_in_the_same_way);
    tcase_add_test(cases, the_slowest_rate_does_not_wrap);
    tcase_add_test(cases, a_profile_gives_each_step_its_rate);
    tcase_add_test(cases, a_spike_is_at_the_beginning_of_each_second);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
