#include "controller/conduct/offset.h"

#include "common/prng.h"
#include "tests/support/suite.h"

#include <errno.h>

/* An agent's clock that wanders: every second it runs at another rate within
 * 200 ppm, the worst ones most often. */
#define SECONDS 400u

struct wanderer {
    uint64_t begin_ns; /* controller's clock */
    int64_t offset_ns[SECONDS + 1];
    int64_t ppm[SECONDS];
};

static void wander(struct wanderer *w, struct prng *prng)
{
    w->begin_ns = 1000 * NS_PER_S + prng_below(prng, NS_PER_S);
    w->offset_ns[0] = (int64_t)prng_below(prng, 2 * 86400 * NS_PER_S) -
                      (int64_t)(500 * NS_PER_S);
    for (uint32_t i = 0; i < SECONDS; i++) {
        uint64_t kind = prng_below(prng, 4);

        w->ppm[i] = kind == 0   ? (int64_t)prng_below(prng, 401) - 200
                    : kind == 1 ? -200
                    : kind == 2 ? 200
                    : i > 0     ? w->ppm[i - 1]
                                : 0;
        w->offset_ns[i + 1] = w->offset_ns[i] + w->ppm[i] * 1000;
    }
}

static int64_t true_offset(const struct wanderer *w, uint64_t controller_ns)
{
    uint64_t since = controller_ns - w->begin_ns;
    uint64_t second = since / NS_PER_S;

    ck_assert_uint_lt(second, SECONDS);
    return w->offset_ns[second] +
           w->ppm[second] * (int64_t)(since % NS_PER_S) / 1000000;
}

static uint64_t agent_clock(const struct wanderer *w, uint64_t controller_ns)
{
    return controller_ns + (uint64_t)true_offset(w, controller_ns);
}

/* Each direction takes a time of its own: often all of the trip is in one. */
static struct offset_probe probe_at(const struct wanderer *w, struct prng *prng,
                                    uint64_t sent)
{
    uint64_t scale = UINT64_C(1) << prng_below(prng, 27); /* to 134 ms */
    uint64_t there = prng_below(prng, 4) == 0 ? 0 : prng_below(prng, scale);
    uint64_t hold = prng_below(prng, 100000);
    uint64_t back = prng_below(prng, 4) == 0 ? 0 : prng_below(prng, scale);

    return (struct offset_probe){
        .sent = sent,
        .received = agent_clock(w, sent + there),
        .returned = agent_clock(w, sent + there + hold),
        .arrived = sent + there + hold + back,
    };
}

static uint64_t error_of(int64_t estimate, int64_t truth)
{
    return (uint64_t)(estimate > truth ? estimate - truth : truth - estimate);
}

/* 2 ns: the wanderer's own readings are whole nanoseconds. */
static void check_instant(const struct offset *offset, const struct wanderer *w,
                          uint64_t at_ns, uint64_t seed)
{
    struct offset_estimate estimate;
    uint64_t back_ns, agent_ns = agent_clock(w, at_ns);

    if (!offset_at(offset, at_ns, &estimate))
        ck_abort_msg("no estimate");
    if (error_of(estimate.offset_ns, true_offset(w, at_ns)) >
        estimate.uncertainty_ns + 2)
        ck_abort_msg("off by more than %llu ns; TEST_SEED=%llu",
                     (unsigned long long)estimate.uncertainty_ns,
                     (unsigned long long)seed);
    if (!offset_to_controller(offset, agent_ns, &back_ns, &estimate))
        ck_abort_msg("no translation");
    if (error_of((int64_t)back_ns, (int64_t)at_ns) >
        estimate.uncertainty_ns + 2)
        ck_abort_msg("translated off by more than %llu ns; TEST_SEED=%llu",
                     (unsigned long long)estimate.uncertainty_ns,
                     (unsigned long long)seed);
}

START_TEST(truth_is_never_outside_the_uncertainty)
{
    uint64_t seed = suite_seed();
    static struct wanderer w;
    struct prng prng;

    prng_seed(&prng, seed);
    for (int round = 0; round < 300; round++) {
        struct offset offset;
        uint64_t now;

        wander(&w, &prng);
        offset_init(&offset);
        now = w.begin_ns + NS_PER_S;
        for (int i = 0; i < 150; i++) {
            struct offset_probe probe = probe_at(&w, &prng, now);

            if (offset_take(&offset, &probe) != 0)
                ck_abort_msg("an honest probe was not taken; TEST_SEED=%llu",
                             (unsigned long long)seed);
            now = probe.arrived;
            check_instant(&offset, &w, now, seed);
            check_instant(
                &offset, &w,
                w.begin_ns + prng_below(&prng, (SECONDS - 1) * NS_PER_S), seed);
            now += prng_below(&prng, 2 * NS_PER_S);
        }
    }
}
END_TEST

/* Sixteen probes of a quiet path are good for microseconds. */
START_TEST(quiet_path_gives_a_small_uncertainty)
{
    struct offset offset;
    struct offset_estimate estimate;
    uint64_t now = 5 * NS_PER_S;

    offset_init(&offset);
    for (int i = 0; i < 16; i++) {
        struct offset_probe probe = {now, now + 1000050000, now + 1000060000,
                                     now + 110000};

        ck_assert_int_eq(offset_take(&offset, &probe), 0);
        now += 200000;
    }
    ck_assert(offset_at(&offset, now, &estimate));
    ck_assert_int_eq(estimate.offset_ns, 1000000000);
    ck_assert_uint_le(estimate.uncertainty_ns, 50000 + 100);
    /* 200 us more a second from then on. */
    ck_assert(offset_at(&offset, now + 10 * NS_PER_S, &estimate));
    ck_assert_uint_ge(estimate.uncertainty_ns, 2000000);
    ck_assert_uint_le(estimate.uncertainty_ns, 2000000 + 51000);
}
END_TEST

/* A slow probe does not spoil what a quick one told; with time it wins. */
START_TEST(narrowest_window_wins_for_its_time)
{
    struct offset offset;
    struct offset_estimate estimate;
    struct offset_probe quick = {NS_PER_S, 3 * NS_PER_S + 50000,
                                 3 * NS_PER_S + 50000, NS_PER_S + 100000};
    struct offset_probe slow = {20 * NS_PER_S, 22 * NS_PER_S + 100000,
                                22 * NS_PER_S + 100000,
                                20 * NS_PER_S + 2000000};

    offset_init(&offset);
    ck_assert_int_eq(offset_take(&offset, &quick), 0);
    ck_assert_int_eq(offset_take(&offset, &slow), 0);
    ck_assert(offset_at(&offset, NS_PER_S, &estimate));
    ck_assert_int_eq(estimate.offset_ns, 2 * (int64_t)NS_PER_S);
    ck_assert(offset_at(&offset, 20 * NS_PER_S, &estimate));
    ck_assert_int_eq(estimate.offset_ns, 2 * (int64_t)NS_PER_S - 900000);
    ck_assert_uint_eq(offset_round_trip_max_ns(&offset), 2000000);
}
END_TEST

START_TEST(clock_that_jumps_is_noticed_and_learnt_anew)
{
    struct offset offset;
    struct offset_estimate estimate;
    struct offset_probe before = {NS_PER_S, 9 * NS_PER_S, 9 * NS_PER_S,
                                  NS_PER_S + 100000};
    /* A suspended guest: its clock stood still for a second. */
    struct offset_probe after = {3 * NS_PER_S, 10 * NS_PER_S, 10 * NS_PER_S,
                                 3 * NS_PER_S + 100000};

    offset_init(&offset);
    ck_assert_int_eq(offset_take(&offset, &before), 0);
    ck_assert_int_eq(offset_take(&offset, &after), 1);
    ck_assert_uint_eq(offset.breaks, 1);
    ck_assert_uint_eq(offset.probes, 1);
    ck_assert(offset_at(&offset, 3 * NS_PER_S, &estimate));
    ck_assert_int_eq(estimate.offset_ns, 7 * (int64_t)NS_PER_S - 50000);
}
END_TEST

START_TEST(stamps_that_cannot_be_are_refused)
{
    static const struct offset_probe bad[] = {
        {2000, 5000, 5000, 1000},              /* arrived before sent */
        {1000, 6000, 5000, 2000},              /* returned before received */
        {1000, 5000, 7001, 2000},              /* held longer than the trip */
        {1000, 5000, UINT64_MAX, 2000},        /* no clock */
        {1000, UINT64_MAX, UINT64_MAX, 2000},  /* no clock */
        {1000, 5000, 5000, UINT64_C(1) << 62}, /* no clock */
    };
    struct offset offset;
    struct offset_estimate estimate;

    offset_init(&offset);
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        ck_assert_int_eq(offset_take(&offset, &bad[i]), -EBADMSG);
    ck_assert(!offset_at(&offset, 1000, &estimate));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conduct offset");
    TCase *tests = tcase_create("offset");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, truth_is_never_outside_the_uncertainty);
    tcase_add_test(tests, quiet_path_gives_a_small_uncertainty);
    tcase_add_test(tests, narrowest_window_wins_for_its_time);
    tcase_add_test(tests, clock_that_jumps_is_noticed_and_learnt_anew);
    tcase_add_test(tests, stamps_that_cannot_be_are_refused);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
