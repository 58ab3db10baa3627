/*
 * stage.h - one campaign under way in a lab, as most tests of results begin.
 *
 * For one test program: its variables are static.
 */
#ifndef TESTS_UNIT_RESULTS_STAGE_H
#define TESTS_UNIT_RESULTS_STAGE_H

#include "tests/unit/results/lab.h"

static struct lab lab;
static struct field field;
static struct uuid campaign;

static inline void setup(uint32_t hosts, uint32_t drives, uint32_t workloads,
                         bool threads)
{
    field_init(&field, hosts, drives, workloads, 2);
    lab_init(&lab, suite_memory_directory(), threads);
    (void)lab_campaign(&lab, &field.plan, &campaign);
}

static inline void teardown(void)
{
    lab_done(&lab);
    field_done(&field);
}

static inline void finish_all(uint32_t phase, uint64_t intervals)
{
    for (uint32_t h = 0; h < field.plan.host_count; h++)
        ck_assert_int_eq(results_host_finished(lab.results, &campaign, phase, h,
                                               intervals, NULL, 0),
                         0);
}

static inline void lose(uint32_t phase, uint32_t host, const char *reason)
{
    ck_assert_int_eq(
        results_host_lost(lab.results, &campaign, phase, host, reason), 0);
}

static inline void send_simple(uint32_t phase, uint32_t host, uint64_t interval,
                               uint64_t latency_ns, uint64_t count)
{
    struct sample *s = sample_of(host, interval, 4);

    if (count > 0)
        sample_add_many(s, field_cell(&field, host, 0, 0), SAMPLE_READ,
                        latency_ns, count);
    lab_sample(&lab, &campaign, phase, s);
}

/* The sums of the hosts are the cluster's rows, exactly, by SQL. */
static inline void check_sums(void)
{
    ck_assert_int_eq(
        lab_sql(&lab,
                "SELECT count(*) FROM (SELECT c.phase, c.interval, c.read_ios "
                "AS r, c.write_ios AS w, c.read_bytes AS b, c.write_errors AS "
                "e, sum(h.read_ios) AS hr, sum(h.write_ios) AS hw, "
                "sum(h.read_bytes) AS hb, sum(h.write_errors) AS he "
                "FROM cluster_interval AS c LEFT JOIN host_interval AS h "
                "ON h.phase = c.phase AND h.drain = c.drain AND "
                "h.interval <= c.interval AND "
                "h.interval > c.interval - c.spans WHERE c.drain = 0 "
                "GROUP BY c.phase, c.interval) WHERE r IS NOT "
                "coalesce(hr, 0) OR w IS NOT coalesce(hw, 0) OR b IS NOT "
                "coalesce(hb, 0) OR e IS NOT coalesce(he, 0)"),
        0);
}

#endif
