/*
 * Goal: every figure is what its definition in figures.h says, at the edges of
 * what can be counted too.
 */
#include "controller/results/document.h"
#include "controller/results/figures.h"
#include "controller/results/object.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct histogram scratch;

static void add(struct tally *tally, uint64_t ns, uint64_t count)
{
    if (tally->service == NULL) {
        tally->service = malloc(sizeof(*tally->service));
        histogram_init(tally->service);
    }
    histogram_record_many(tally->service, ns, count);
    tally->n.ios += count;
    tally->n.bytes += count * 4096;
}

static struct figures figures(const struct tally_pair *pair, uint64_t window_ns,
                              bool open_loop)
{
    struct figures f;

    histogram_init(&scratch);
    figures_of(pair, window_ns, open_loop, NULL, &scratch, &f);
    return f;
}

/* A value shown is at most 1/128 above the true one. */
static void check_close(double shown_us, double true_us)
{
    ck_assert_double_ge(shown_us, true_us);
    ck_assert_double_le(shown_us, true_us * (1 + 1.0 / 128));
}

/* Two agents: 999 000 operations of 100 us, 1 000 of 50 ms. */
START_TEST(case_A01_percentiles_come_from_merged_counts)
{
    struct tally_pair a = {0}, b = {0}, all = {0};
    struct figures f;
    uint64_t p9995;

    add(&a.op[SAMPLE_READ], 100000, 999000);
    add(&b.op[SAMPLE_WRITE], 50000000, 1000);
    ck_assert_int_eq(tally_pair_add(&all, &a), 0);
    ck_assert_int_eq(tally_pair_add(&all, &b), 0);
    f = figures(&all, NS_PER_S, false);
    ck_assert_uint_eq(f.all.ios, 1000000);
    ck_assert_double_eq(f.all.service.p99_us, f.all.service.p50_us);
    check_close(f.all.service.p99_us, 100);
    check_close(f.all.service.p999_us, 100);
    check_close(f.all.service.p9999_us, 50000);
    ck_assert_double_eq(f.all.service.max_us, 50000);
    ck_assert(histogram_quantile(&scratch, 0.9995, &p9995));
    check_close((double)p9995 / 1000, 50000);
    tally_pair_done(&a);
    tally_pair_done(&b);
    tally_pair_done(&all);
}
END_TEST

/* 100 MiB in 133 ms and 100 MiB in 136 ms: 200 MiB over 136 ms. */
START_TEST(case_A02_rates_are_totals_over_the_common_window)
{
    ck_assert_double_eq_tol(rate_of(200u << 20, 136000000) / 1048576, 1470.588,
                            0.001);
    /* 10 s against 60 s: each host's rate is over the window of both. */
    ck_assert_double_eq_tol(rate_of(1000, 60 * NS_PER_S) +
                                rate_of(6000, 60 * NS_PER_S),
                            rate_of(7000, 60 * NS_PER_S), 1e-9);
    ck_assert(isnan(rate_of(1, 0)));
}
END_TEST

START_TEST(what_was_not_measured_is_nothing)
{
    struct tally_pair none = {0};
    struct figures f = figures(&none, NS_PER_S, true);

    ck_assert_uint_eq(f.all.ios, 0);
    ck_assert_double_eq(f.all.iops, 0);
    ck_assert(isnan(f.read_pct) && isnan(f.bytes_per_io));
    ck_assert(isnan(f.all.service.mean_us) && isnan(f.all.service.min_us));
    ck_assert(isnan(f.all.service.p50_us) && isnan(f.all.service.stddev_us));
    ck_assert(isnan(f.oldest_us) && isnan(f.unissued_oldest_us));
    ck_assert(isnan(f.agent_cpu_pct) && isnan(f.host_cpu_pct));
    ck_assert(isnan(figures(&none, 0, false).all.iops));
}
END_TEST

/* Histograms that are there and empty are as good as none. */
START_TEST(both_operations_may_be_empty)
{
    struct tally_pair pair = {0};
    struct figures f;

    add(&pair.op[SAMPLE_READ], 1000, 5);
    add(&pair.op[SAMPLE_WRITE], 1000, 5);
    tally_pair_reset(&pair);
    f = figures(&pair, NS_PER_S, false);
    ck_assert_uint_eq(f.all.service.count, 0);
    ck_assert(isnan(f.all.service.p50_us) && isnan(f.all.service.max_us));
    add(&pair.op[SAMPLE_WRITE], 7000, 5);
    f = figures(&pair, NS_PER_S, false);
    ck_assert_double_eq(f.all.service.max_us, 7);
    tally_pair_done(&pair);
}
END_TEST

/* Fewer than ten values beyond it: not shown.  A single one deviates by 0. */
START_TEST(case_N07_few_values_show_few_percentiles)
{
    struct tally_pair one = {0};
    struct figures f;

    add(&one.op[SAMPLE_READ], 5000, 1);
    f = figures(&one, NS_PER_S, false);
    ck_assert_double_eq(f.all.service.stddev_us, 0);
    ck_assert_double_eq(f.all.service.mean_us, 5);
    ck_assert_double_eq(f.all.service.min_us, 5);
    ck_assert(isnan(f.all.service.p50_us));
    add(&one.op[SAMPLE_READ], 5000, 19);
    f = figures(&one, NS_PER_S, false);
    ck_assert_double_eq(f.all.service.p50_us, 5);
    ck_assert(isnan(f.all.service.p90_us));
    tally_pair_done(&one);
}
END_TEST

/* A day: 10^12 values around 10 ms, then sums beyond 2^63. */
START_TEST(case_H05_sums_of_a_day_stay_sound)
{
    struct tally_pair day = {0};
    struct figures f;

    add(&day.op[SAMPLE_READ], 9000000, UINT64_C(500000000000));
    add(&day.op[SAMPLE_READ], 11000000, UINT64_C(500000000000));
    f = figures(&day, 86400 * NS_PER_S, false);
    ck_assert_double_eq_tol(f.all.service.mean_us, 10000, 1e-6);
    ck_assert_double_eq_tol(f.all.service.stddev_us, 1000, 1e-6);
    add(&day.op[SAMPLE_READ], UINT64_C(1) << 45, UINT64_C(1) << 40);
    f = figures(&day, 86400 * NS_PER_S, false);
    ck_assert(f.all.service.mean_us > 0 && isfinite(f.all.service.mean_us));
    ck_assert(f.all.service.stddev_us > 0);
    ck_assert_double_le(f.all.service.mean_us, f.all.service.max_us);
    tally_pair_done(&day);
}
END_TEST

/* Buckets near 2^32, counts near 2^53: 64 bits all the way into the text. */
START_TEST(case_I01_counts_beyond_32_and_53_bits)
{
    const uint64_t many = (UINT64_C(1) << 53) + 1;
    struct tally_pair pair = {0};
    struct object o = object_new();
    struct figures f;
    char *text;

    add(&pair.op[SAMPLE_READ], 100000, UINT32_MAX);
    add(&pair.op[SAMPLE_READ], 100000, 2);
    ck_assert_uint_eq(pair.op[SAMPLE_READ].service->count,
                      (UINT64_C(1) << 32) + 1);
    pair.op[SAMPLE_READ].n.bytes = many;
    f = figures(&pair, NS_PER_S, false);
    document_figures(&o, &f);
    text = object_text(&o);
    ck_assert_ptr_nonnull(strstr(text, "\"bytes\":9007199254740993,"));
    ck_assert_ptr_nonnull(strstr(text, "\"ios\":4294967297,"));
    free(text);
    tally_pair_done(&pair);
}
END_TEST

START_TEST(counters_saturate_and_never_wrap)
{
    struct counts a = {.ios = UINT64_MAX - 1, .oldest_ns = 5};
    const struct counts b = {.ios = 5, .oldest_ns = 3, .in_flight = 2};

    counts_add(&a, &b);
    ck_assert_uint_eq(a.ios, UINT64_MAX);
    ck_assert_uint_eq(a.oldest_ns, 5);
    ck_assert_uint_eq(a.in_flight, 2);
    counts_follow(&a, &b);
    ck_assert_uint_eq(a.oldest_ns, 3);
    ck_assert_uint_eq(a.in_flight, 2);
}
END_TEST

START_TEST(histograms_beyond_what_they_hold_are_refused)
{
    struct tally_pair a = {0}, b = {0};

    add(&a.op[SAMPLE_READ], 1000, UINT64_C(1) << 61);
    add(&b.op[SAMPLE_READ], 1000, UINT64_C(1) << 61);
    ck_assert_int_eq(tally_pair_add(&a, &b), -EOVERFLOW);
    tally_pair_done(&a);
    tally_pair_done(&b);
}
END_TEST

START_TEST(little_gives_the_queue_depth)
{
    struct tally_pair pair = {0};
    struct figures f;

    add(&pair.op[SAMPLE_READ], 1000000, 4000); /* 1 ms each */
    add(&pair.op[SAMPLE_WRITE], 2000000, 2000);
    f = figures(&pair, NS_PER_S, false);
    ck_assert_double_eq_tol(f.queue_depth, 8, 1e-9);
    ck_assert_double_eq_tol(f.read_pct, 66.6667, 0.001);
    ck_assert_double_eq(f.bytes_per_io, 4096);
    ck_assert_double_eq(f.read.iops + f.write.iops, f.all.iops);
    tally_pair_done(&pair);
}
END_TEST

/* Arrivals that were due and not issued are in no histogram. */
START_TEST(unissued_arrivals_make_the_response_a_lower_bound)
{
    struct tally_pair pair = {0};

    add(&pair.op[SAMPLE_READ], 1000, 100);
    ck_assert(!figures(&pair, NS_PER_S, true).response_lower_bound);
    pair.op[SAMPLE_READ].n.unissued = 7;
    pair.op[SAMPLE_READ].n.unissued_oldest_ns = 2500;
    ck_assert(figures(&pair, NS_PER_S, true).response_lower_bound);
    ck_assert_double_eq(figures(&pair, NS_PER_S, true).unissued_oldest_us, 2.5);
    ck_assert(!figures(&pair, NS_PER_S, false).response_lower_bound);
    tally_pair_done(&pair);
}
END_TEST

START_TEST(cpu_is_of_one_cpu_for_the_agent_and_of_all_for_the_host)
{
    const struct cpu_tally cpu = {
        .host_ns = 2 * NS_PER_S,
        .system_ns = NS_PER_S,
        .capacity_ns = 8 * NS_PER_S,
        .agent_ns = NS_PER_S / 2,
        .worker_ns = NS_PER_S / 4,
        .holds = 3,
        .held_ns = 7 * NS_PER_MS,
        .refused = 2,
    };
    struct tally_pair none = {0};
    struct figures f;

    histogram_init(&scratch);
    figures_of(&none, NS_PER_S, false, &cpu, &scratch, &f);
    ck_assert_double_eq(f.agent_cpu_pct, 50);
    ck_assert_double_eq(f.host_cpu_pct, 25);
    ck_assert_double_eq(f.host_system_pct, 12.5);
    ck_assert_double_eq(f.busiest_worker_pct, 25);
    ck_assert_uint_eq(f.holds, 3);
    ck_assert_double_eq(f.held_us, 7000);
    ck_assert_uint_eq(f.refused, 2);
    figures_of(&none, NS_PER_S, false, NULL, &scratch, &f);
    ck_assert(!f.has_cpu && isnan(f.held_us) && isnan(f.busiest_worker_pct));
}
END_TEST

/* Of hosts side by side the busiest worker is the busiest of all; in time it
 * adds up. */
START_TEST(the_busiest_worker_of_several_hosts)
{
    struct cpu_tally sum = {.agent_ns = 5, .worker_ns = 4};
    const struct cpu_tally other = {.agent_ns = 3, .worker_ns = 3, .holds = 1};

    cpu_tally_add(&sum, &other);
    ck_assert_uint_eq(sum.agent_ns, 8);
    ck_assert_uint_eq(sum.worker_ns, 4);
    cpu_tally_follow(&sum, &other);
    ck_assert_uint_eq(sum.agent_ns, 11);
    ck_assert_uint_eq(sum.worker_ns, 7);
    ck_assert_uint_eq(sum.holds, 2);
}
END_TEST

START_TEST(lateness_is_the_mean_and_the_latest_of_all)
{
    struct tally_pair pair = {0};
    struct counts more = {.issued = 6, .late_ns = 1200, .late_max_ns = 700};
    struct figures f = figures(&pair, NS_PER_S, true);

    ck_assert(isnan(f.late_mean_us) && isnan(f.late_max_us));
    pair.op[SAMPLE_READ].n =
        (struct counts){.issued = 4, .late_ns = 800, .late_max_ns = 300};
    pair.op[SAMPLE_WRITE].n = more;
    f = figures(&pair, NS_PER_S, true);
    ck_assert_double_eq(f.late_mean_us, 0.2);
    ck_assert_double_eq(f.late_max_us, 0.7);
    counts_follow(&pair.op[SAMPLE_READ].n, &more);
    ck_assert_uint_eq(pair.op[SAMPLE_READ].n.issued, 10);
    ck_assert_uint_eq(pair.op[SAMPLE_READ].n.late_ns, 2000);
    ck_assert_uint_eq(pair.op[SAMPLE_READ].n.late_max_ns, 700);
}
END_TEST

/* No document holds nan, inf, or a sentinel. */
START_TEST(documents_hold_null_where_there_is_nothing)
{
    struct tally_pair none = {0};
    struct figures f = figures(&none, 0, true);
    struct object o = object_new();
    char *text;

    document_figures(&o, &f);
    object_put_real(&o, "infinite", INFINITY, 3);
    object_put_real(&o, "huge", 1e300, 3);
    text = object_text(&o);
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inf\""));
    ck_assert_ptr_null(strstr(text, "18446744073709551615"));
    ck_assert_ptr_nonnull(strstr(text, "\"infinite\":null"));
    ck_assert_ptr_nonnull(strstr(text, "\"huge\":1e300"));
    ck_assert_ptr_nonnull(strstr(text, "\"p99\":null"));
    free(text);
}
END_TEST

START_TEST(texts_that_are_no_utf8_do_not_spoil_the_document)
{
    struct object o = object_new();
    char *text;

    object_put_text(&o, "name",
                    "a\xff\xfe"
                    "b");
    object_put_time(&o, "at", INT64_C(1790000000123456789));
    text = object_text(&o);
    ck_assert_str_eq(
        text, "{\"name\":\"a?\?b\",\"at\":\"2026-09-21T14:13:20.123Z\"}");
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("figures");
    TCase *tests = tcase_create("figures");

    tcase_add_test(tests, case_A01_percentiles_come_from_merged_counts);
    tcase_add_test(tests, case_A02_rates_are_totals_over_the_common_window);
    tcase_add_test(tests, what_was_not_measured_is_nothing);
    tcase_add_test(tests, both_operations_may_be_empty);
    tcase_add_test(tests, case_N07_few_values_show_few_percentiles);
    tcase_add_test(tests, case_H05_sums_of_a_day_stay_sound);
    tcase_add_test(tests, case_I01_counts_beyond_32_and_53_bits);
    tcase_add_test(tests, counters_saturate_and_never_wrap);
    tcase_add_test(tests, histograms_beyond_what_they_hold_are_refused);
    tcase_add_test(tests, little_gives_the_queue_depth);
    tcase_add_test(tests, unissued_arrivals_make_the_response_a_lower_bound);
    tcase_add_test(tests,
                   cpu_is_of_one_cpu_for_the_agent_and_of_all_for_the_host);
    tcase_add_test(tests, the_busiest_worker_of_several_hosts);
    tcase_add_test(tests, lateness_is_the_mean_and_the_latest_of_all);
    tcase_add_test(tests, documents_hold_null_where_there_is_nothing);
    tcase_add_test(tests, texts_that_are_no_utf8_do_not_spoil_the_document);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
