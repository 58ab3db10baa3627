/*
 * Goal: whatever the order, the parts, the duplicates and the gaps, the
 * cluster's rows are the sum of what the hosts delivered, one row an interval,
 * and those that wait do not wait for ever.
 */
#include "common/diag.h"
#include "controller/results/merge.h"
#include "tests/support/suite.h"
#include "tests/unit/results/measure.h"

#include <check.h>
#include <errno.h>
#include <math.h>

static struct field field;
static struct layout *layout;
static struct merge *merge;

static void setup(uint32_t hosts, uint32_t drives, uint32_t workloads,
                  uint64_t warmup, uint64_t measured)
{
    const struct merge_timing timing = {INTERVAL_NS, warmup, measured};

    field_init(&field, hosts, drives, workloads, 1);
    ck_assert_int_eq(layout_of_run(&field.plan, &field.plan.runs[0], &layout),
                     0);
    merge = merge_new(layout, &timing);
    ck_assert_ptr_nonnull(merge);
    merge_start(merge, 0);
}

static void teardown(void)
{
    merge = merge_free(merge);
    layout = layout_free(layout);
    field_done(&field);
}

/* A sample of `count` reads of 100 us on the host's first cell. */
static struct sample *simple(uint32_t host, uint64_t interval, uint64_t count)
{
    struct sample *s = sample_of(host, interval, 1);

    if (count > 0)
        sample_add_many(s, field_cell(&field, host, 0, 0), SAMPLE_READ, 100000,
                        count);
    return s;
}

enum taken { PART, AGAIN, WHOLE, LATE };

static enum taken take(struct sample *s)
{
    struct host_row *row = NULL;
    struct diag diag = {0};
    bool again = false;
    enum taken taken;

    ck_assert_msg(merge_take(merge, s, &row, &again, &diag) == 0, "%s",
                  diag.text);
    taken = row == NULL ? (again ? AGAIN : PART) : row->late ? LATE : WHOLE;
    (void)host_row_free(row);
    return taken;
}

static int refuse(struct sample *s)
{
    struct host_row *row = NULL;
    struct diag diag = {0};
    bool again = false;
    int err = merge_take(merge, s, &row, &again, &diag);

    ck_assert_int_lt(err, 0);
    ck_assert_int_eq(diag.err, err);
    (void)sample_free(s);
    return err;
}

static uint64_t ios(const struct row *row)
{
    return row->sum.op[SAMPLE_READ].n.ios + row->sum.op[SAMPLE_WRITE].n.ios;
}

/* The next row, which must be there. */
static struct row *next(uint64_t now_ns)
{
    struct row *row = merge_next(merge, now_ns);

    ck_assert_ptr_nonnull(row);
    return row;
}

START_TEST(a_row_closes_when_all_have_delivered)
{
    struct row *row;

    setup(2, 1, 1, 0, 10);
    ck_assert_int_eq(take(simple(0, 0, 10)), WHOLE);
    ck_assert_ptr_null(merge_next(merge, INTERVAL_NS));
    ck_assert_int_eq(take(simple(1, 0, 5)), WHOLE);
    row = next(INTERVAL_NS);
    ck_assert_uint_eq(ios(row), 15);
    ck_assert_uint_eq(row->hosts_delivered, 2);
    ck_assert_uint_eq(row->interval, 0);
    ck_assert_uint_eq(row->revision, 0);
    (void)row_free(row);
    ck_assert_ptr_null(merge_next(merge, INTERVAL_NS));
    teardown();
}
END_TEST

/* The longer of two intervals and 5 s; here 5 s after the edge at 1 s. */
START_TEST(a_row_does_not_wait_for_ever)
{
    struct row *row;

    setup(3, 1, 1, 0, 10);
    (void)take(simple(0, 0, 10));
    (void)take(simple(2, 0, 10));
    ck_assert_uint_eq(merge_due_ns(merge), 6 * NS_PER_S);
    ck_assert_ptr_null(merge_next(merge, 6 * NS_PER_S - 1));
    row = next(6 * NS_PER_S);
    ck_assert_uint_eq(row->hosts_delivered, 2);
    ck_assert_uint_eq(row->hosts_expected, 3);
    ck_assert(!row->hosts[1].delivered);
    ck_assert(row->hosts[2].delivered);
    (void)row_free(row);
    ck_assert_uint_eq(merge_due_ns(merge), UINT64_MAX);
    ck_assert_int_eq(take(simple(1, 0, 10)), LATE);
    teardown();
}
END_TEST

START_TEST(long_intervals_wait_for_two)
{
    const struct merge_timing timing = {60 * NS_PER_S, 0, 10};

    setup(2, 1, 1, 0, 10);
    (void)merge_free(merge);
    merge = merge_new(layout, &timing);
    merge_start(merge, 7);
    (void)take(simple(0, 0, 1));
    ck_assert_uint_eq(merge_due_ns(merge), 7 + 180 * NS_PER_S);
    teardown();
}
END_TEST

START_TEST(a_lost_host_is_not_waited_for_and_a_returned_one_is)
{
    struct row *row;

    setup(2, 1, 1, 0, 10);
    (void)take(simple(0, 0, 1));
    merge_host_lost(merge, 1);
    row = next(0);
    ck_assert_uint_eq(row->hosts_delivered, 1);
    ck_assert(!row->hosts[1].delivered);
    (void)row_free(row);
    merge_host_back(merge, 1);
    (void)take(simple(0, 1, 1));
    ck_assert_ptr_null(merge_next(merge, 0));
    ck_assert_int_eq(take(simple(1, 0, 1)), LATE);
    ck_assert_int_eq(take(simple(1, 1, 1)), WHOLE);
    (void)row_free(next(0));
    teardown();
}
END_TEST

START_TEST(a_finished_host_is_waited_for_up_to_its_last_interval)
{
    setup(2, 1, 1, 0, 10);
    merge_host_finished(merge, 1, 1);
    (void)take(simple(0, 0, 1));
    ck_assert_ptr_null(merge_next(merge, 0));
    (void)take(simple(1, 0, 1));
    (void)row_free(next(0));
    (void)take(simple(0, 1, 1));
    (void)row_free(next(0));
    teardown();
}
END_TEST

START_TEST(duplicates_and_parts_of_any_order_count_once)
{
    struct row *row;

    setup(1, 3, 1, 0, 10);
    for (int round = 0; round < 2; round++)
        for (uint32_t part = 3; part-- > 0;) {
            struct sample *s = sample_of(0, 0, 1);
            enum taken taken;

            s->part = part;
            s->parts = 3;
            s->has_host = part == 0;
            sample_add_many(s, field_cell(&field, 0, part, 0), SAMPLE_WRITE,
                            5000, 7);
            taken = take(s);
            ck_assert_int_eq(taken, round == 1  ? AGAIN
                                    : part == 0 ? WHOLE
                                                : PART);
        }
    row = next(0);
    ck_assert_uint_eq(ios(row), 21);
    ck_assert_uint_eq(row->cpu.capacity_ns, 4 * NS_PER_S);
    (void)row_free(row);
    teardown();
}
END_TEST

START_TEST(a_part_that_comes_twice_before_the_last_counts_once)
{
    struct sample *s;
    struct row *row;

    setup(1, 2, 1, 0, 10);
    for (uint32_t i = 0; i < 3; i++) {
        s = sample_of(0, 0, 1);
        s->part = i / 2;
        s->parts = 2;
        sample_add_many(s, field_cell(&field, 0, s->part, 0), SAMPLE_READ, 5000,
                        7);
        ck_assert_int_eq(take(s), i == 0 ? PART : i == 1 ? AGAIN : WHOLE);
    }
    row = next(0);
    ck_assert_uint_eq(ios(row), 14);
    (void)row_free(row);
    teardown();
}
END_TEST

/* A sampler that came too late: its row covers intervals 0 to 2. */
START_TEST(a_row_that_spans_takes_the_others_with_it)
{
    struct sample *s;
    struct row *row;

    setup(2, 1, 1, 0, 10);
    (void)take(simple(1, 0, 1));
    (void)take(simple(1, 1, 2));
    s = simple(0, 2, 100);
    s->spans = 3;
    s->begin_ns = 0;
    s->cells[0].in_flight = 5;
    ck_assert_int_eq(take(s), WHOLE);
    ck_assert_ptr_null(merge_next(merge, 0));
    (void)take(simple(1, 2, 4));
    for (uint64_t k = 0; k < 2; k++) {
        row = next(0);
        ck_assert_uint_eq(row->interval, k);
        ck_assert_uint_eq(row->spans, 0);
        ck_assert_uint_eq(ios(row), 0);
        (void)row_free(row);
    }
    row = next(0);
    ck_assert_uint_eq(row->interval, 2);
    ck_assert_uint_eq(row->spans, 3);
    ck_assert_uint_eq(ios(row), 107);
    ck_assert_uint_eq(row_window_ns(row), 3 * INTERVAL_NS);
    ck_assert_uint_eq(row->hosts_delivered, 2);
    ck_assert_uint_eq(row->sum.op[SAMPLE_READ].n.in_flight, 5);
    (void)row_free(row);
    ck_assert_uint_eq(merge_closed(merge), 3);
    teardown();
}
END_TEST

/* What was in flight at an edge within a row is not in flight at its end. */
START_TEST(gauges_are_those_of_the_last_edge)
{
    struct sample *s;
    struct row *row;

    setup(2, 1, 1, 0, 10);
    for (uint64_t k = 0; k < 3; k++) {
        s = simple(1, k, 1);
        s->cells[0].in_flight = 10;
        s->cells[0].unissued = 3;
        (void)take(s);
        if (k == 0) {
            s = simple(0, 2, 1);
            s->spans = 3;
            s->cells[0].in_flight = 1;
            (void)take(s);
        }
    }
    (void)row_free(next(0));
    (void)row_free(next(0));
    row = next(0);
    ck_assert_uint_eq(row->sum.op[SAMPLE_READ].n.in_flight, 11);
    ck_assert_uint_eq(row->sum.op[SAMPLE_READ].n.unissued, 3);
    ck_assert_uint_eq(row->workloads[0].op[SAMPLE_READ].n.in_flight, 11);
    (void)row_free(row);
    teardown();
}
END_TEST

/* What is not all measured is all warm-up. */
START_TEST(a_row_over_the_end_of_the_warmup_is_warmup)
{
    struct sample *s;
    struct row *row;

    setup(2, 1, 1, 2, 3);
    s = simple(0, 2, 100); /* covers 1 and 2; 2 is measured */
    (void)take(simple(0, 0, 1));
    s->spans = 2;
    s->kind = SAMPLE_ROW_MEASURED;
    (void)take(s);
    for (uint64_t k = 0; k < 3; k++)
        (void)take(simple(1, k, 1));
    row = next(0);
    ck_assert_int_eq(row->kind, SAMPLE_ROW_WARMUP);
    ck_assert_uint_eq(ios(row), 2);
    (void)row_free(row);
    row = next(0);
    ck_assert_int_eq(row->kind, SAMPLE_ROW_WARMUP);
    ck_assert_uint_eq(ios(row), 101);
    (void)row_free(row);
    row = next(0);
    ck_assert_int_eq(row->kind, SAMPLE_ROW_MEASURED);
    ck_assert_uint_eq(ios(row), 1);
    ck_assert_uint_eq(row->hosts_delivered, 1);
    (void)row_free(row);
    teardown();
}
END_TEST

START_TEST(case_C08_the_drain_is_a_row_of_its_own)
{
    struct sample *s;
    struct row *row;

    setup(2, 1, 1, 0, 1);
    for (uint32_t h = 0; h < 2; h++) {
        (void)take(simple(h, 0, 1));
        s = simple(h, 1, 50);
        s->kind = SAMPLE_ROW_DRAIN;
        s->end_ns = s->begin_ns + 7 * (int64_t)NS_PER_S;
        (void)take(s);
    }
    row = next(0);
    ck_assert_uint_eq(ios(row), 2);
    (void)row_free(row);
    row = next(0);
    ck_assert_int_eq(row->kind, SAMPLE_ROW_DRAIN);
    ck_assert_uint_eq(ios(row), 100);
    ck_assert_uint_eq(row->hosts_delivered, 2);
    ck_assert(!row_is_partial(row, INTERVAL_NS));
    (void)row_free(row);
    ck_assert_ptr_null(merge_next(merge, UINT64_MAX));
    teardown();
}
END_TEST

/* Eight hosts, one path everywhere: what tells them apart is who they are. */
START_TEST(case_A07_hosts_are_told_apart_by_who_they_are)
{
    struct row *row;

    setup(8, 1, 1, 0, 1);
    for (uint32_t h = 0; h < 8; h++)
        (void)take(simple(h, 0, h + 1));
    row = next(0);
    ck_assert_uint_eq(ios(row), 36);
    for (uint32_t h = 0; h < 8; h++)
        ck_assert_uint_eq(row_host_of(row, h)->n[SAMPLE_READ].ios, h + 1);
    (void)row_free(row);
    teardown();
}
END_TEST

START_TEST(case_N07_an_idle_interval_has_zeros_and_no_latencies)
{
    struct row *row;

    setup(1, 1, 1, 0, 3);
    (void)take(simple(0, 0, 0));
    row = next(0);
    ck_assert_uint_eq(ios(row), 0);
    ck_assert_uint_eq(row->hosts_delivered, 1);
    ck_assert(isnan(row->hosts[0].mean_us));
    ck_assert(isnan(row->hosts[0].p99_us));
    ck_assert(isnan(row->hosts[0].max_us));
    (void)row_free(row);
    teardown();
}
END_TEST

START_TEST(case_N05_a_partial_interval_is_marked)
{
    struct sample *s;
    struct row *row;

    setup(1, 1, 1, 0, 3);
    (void)take(simple(0, 0, 1));
    s = simple(0, 1, 1);
    s->end_ns = s->begin_ns + 50 * 1000000;
    (void)take(s);
    row = next(0);
    ck_assert(!row_is_partial(row, INTERVAL_NS));
    (void)row_free(row);
    row = next(0);
    ck_assert(row_is_partial(row, INTERVAL_NS));
    ck_assert_uint_eq(row_window_ns(row), 50 * 1000000);
    (void)row_free(row);
    teardown();
}
END_TEST

/* Above 5 % of an interval, of edge and drift together. */
START_TEST(a_skewed_edge_is_flagged)
{
    static const struct {
        int64_t late_ns, drift_ns;
        bool skewed;
    } cases[] = {
        {0, 0, false},
        {50000000, 0, false},
        {50000001, 0, true},
        {-50000001, 0, true},
        {0, 50000001, true},
        {0, -50000001, true},
        {30000000, 30000000, true},
    };

    setup(1, 1, 1, 0, ARRAY_LENGTH(cases));
    for (uint64_t k = 0; k < ARRAY_LENGTH(cases); k++) {
        struct sample *s = simple(0, k, 1);
        struct row *row;

        s->begin_ns += cases[k].late_ns;
        s->end_ns += cases[k].late_ns;
        s->edge_skew_ns = cases[k].drift_ns;
        (void)take(s);
        row = next(0);
        ck_assert_msg(row_is_skewed(row, INTERVAL_NS) == cases[k].skewed,
                      "case %d", (int)k);
        (void)row_free(row);
    }
    teardown();
}
END_TEST

/* Somebody is far ahead of the others: rows close early rather than fill the
 * memory, and nothing is lost. */
START_TEST(what_is_open_is_bounded)
{
    uint64_t sum = 0, late = 0;
    struct row *row;

    setup(2, 1, 1, 0, 4096);
    for (uint64_t k = 0; k < 2048; k++) {
        late += take(simple(0, k, 1)) == LATE ? 1 : 0;
        while ((row = merge_next(merge, 0)) != NULL) {
            ck_assert_uint_eq(row->interval + 1, merge_closed(merge));
            sum += ios(row);
            (void)row_free(row);
        }
    }
    merge_end(merge);
    while ((row = merge_next(merge, 0)) != NULL) {
        sum += ios(row);
        (void)row_free(row);
    }
    ck_assert_uint_eq(sum + late, 2048);
    ck_assert_uint_eq(merge_closed(merge), 2048);
    teardown();
}
END_TEST

static struct sample *with_interval(uint64_t interval, uint32_t spans)
{
    struct sample *s = simple(0, interval, 1);

    s->spans = spans;
    return s;
}

START_TEST(what_cannot_be_true_is_refused)
{
    struct sample *s;

    setup(2, 1, 1, 0, 4);
    s = simple(0, 0, 1);
    s->host = 2;
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, 1);
    s->cells[0].cell = field_cell(&field, 1, 0, 0); /* another host's */
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, 1);
    s->cells[0].cell = UINT32_MAX;
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, 1);
    s->part = 1;
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, 1);
    s->parts = 65;
    ck_assert_int_eq(refuse(s), -EPROTO);
    ck_assert_int_eq(refuse(with_interval(0, 0)), -EPROTO);
    ck_assert_int_eq(refuse(with_interval(0, 2)), -EPROTO);
    ck_assert_int_eq(refuse(with_interval(1, 1)), -EPROTO); /* 0 is the next */
    ck_assert_int_eq(refuse(with_interval(4, 5)), -EPROTO); /* there are 4 */
    s = simple(0, 0, 1);
    s->end_ns = s->begin_ns - 1;
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, 1);
    s->begin_ns = INT64_MIN;
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, 1);
    s->cells[0].ios = 2; /* the histogram has one value */
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, 1);
    s->cells[0].service_length--;
    ck_assert_int_eq(refuse(s), -EPROTO);
    s = simple(0, 0, (UINT64_C(1) << 40) + 1); /* no host does that */
    ck_assert_int_eq(refuse(s), -EPROTO);
    /* None of it left a trace. */
    ck_assert_ptr_null(merge_next(merge, UINT64_MAX));
    ck_assert_int_eq(take(simple(0, 0, 1)), WHOLE);
    teardown();
}
END_TEST

START_TEST(a_host_may_not_hoard_incomplete_samples)
{
    setup(1, 1, 1, 0, 0);
    merge_forget(merge); /* so that any order goes */
    for (uint64_t k = 0; k <= MERGE_PENDING_MAX; k++) {
        struct sample *s = simple(0, k, 1);

        s->parts = 2;
        if (k < MERGE_PENDING_MAX)
            ck_assert_int_eq(take(s), PART);
        else
            ck_assert_int_eq(refuse(s), -EPROTO);
    }
    teardown();
}
END_TEST

/* ---- The property ----------------------------------------------------------
 */

#define P_HOSTS     5u
#define P_INTERVALS 24u

/* What the test counts for itself. */
struct truth {
    uint64_t ios[P_INTERVALS];
    uint64_t host_ios[P_INTERVALS][P_HOSTS];
    uint64_t bytes;
    uint64_t errors;
    struct histogram all;
    uint64_t *raw;
    size_t raw_count;
};

static struct sample *random_sample(struct prng *prng, struct truth *truth,
                                    uint32_t host, uint64_t interval)
{
    struct sample *s = sample_of(host, interval, 12);

    for (uint32_t d = 0; d < 2; d++)
        for (uint32_t w = 0; w < 3; w++)
            for (enum sample_op op = 0; op < SAMPLE_OPS; op++) {
                static struct histogram h;
                uint64_t count = prng_below(prng, 12);
                struct sample_cell *cell;

                histogram_init(&h);
                for (uint64_t i = 0; i < count; i++) {
                    uint64_t ns =
                        prng_next(prng) >> (20 + prng_below(prng, 40));

                    histogram_record(&h, ns);
                    histogram_record(&truth->all, ns);
                    truth->raw[truth->raw_count++] = ns;
                }
                cell =
                    sample_add(s, field_cell(&field, host, d, w), op, &h, NULL);
                cell->errors = prng_below(prng, 2);
                truth->ios[interval] += count;
                truth->host_ios[interval][host] += count;
                truth->bytes += cell->bytes;
                truth->errors += cell->errors;
            }
    return s;
}

/* A copy, to come once more. */
static struct sample *copy_of(const struct sample *s)
{
    struct sample *copy = sample_of(s->host, s->interval, s->cell_count);

    for (uint32_t i = 0; i < s->cell_count; i++) {
        struct sample_cell *to = &copy->cells[i];
        uint8_t *room = sample_room(copy);

        *to = s->cells[i];
        if (to->service_length > 0) {
            memcpy(room, s->cells[i].service, to->service_length);
            to->service = room;
        }
        copy->cell_count++;
    }
    return copy;
}

static void check_row(const struct row *row, const struct truth *truth)
{
    uint64_t sum = 0, by_workload = 0;

    ck_assert_uint_eq(ios(row), truth->ios[row->interval]);
    for (uint32_t h = 0; h < P_HOSTS; h++) {
        const struct row_host *host = &row->hosts[h];

        ck_assert_uint_eq(host->n[0].ios + host->n[1].ios,
                          truth->host_ios[row->interval][h]);
        sum += host->n[0].ios + host->n[1].ios;
    }
    for (uint32_t w = 0; w < row->workload_count; w++)
        by_workload +=
            row->workloads[w].op[0].n.ios + row->workloads[w].op[1].n.ios;
    ck_assert_uint_eq(sum, ios(row));
    ck_assert_uint_eq(by_workload, ios(row));
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The percentiles of the merged histograms are those of all raw values. */
static void check_percentiles(const struct tally_pair *total,
                              struct truth *truth)
{
    static const double quantiles[] = {0.5, 0.9, 0.99};
    static struct histogram both;

    histogram_init(&both);
    for (int op = 0; op < SAMPLE_OPS; op++)
        histogram_merge(&both, total->op[op].service);
    ck_assert_uint_eq(both.count, truth->all.count);
    ck_assert(both.sum == truth->all.sum);
    ck_assert(both.sum_squares == truth->all.sum_squares);
    qsort(truth->raw, truth->raw_count, sizeof(uint64_t), compare);
    for (size_t i = 0; i < ARRAY_LENGTH(quantiles); i++) {
        size_t rank =
            (size_t)ceil(quantiles[i] * (double)truth->raw_count - 1e-9);
        uint64_t exact = truth->raw[rank - 1], shown;

        ck_assert(histogram_quantile(&both, quantiles[i], &shown));
        ck_assert_uint_ge(shown, exact);
        ck_assert_uint_le(shown - exact, exact / 128 + 1);
    }
}

START_TEST(sums_are_exact_whatever_the_order)
{
    static struct truth truth;
    struct tally_pair total = {0};
    uint64_t seed = suite_seed() + (uint64_t)_i, rows = 0;
    uint64_t sent[P_HOSTS] = {0};
    struct prng prng;
    struct row *row;

    prng_seed(&prng, seed);
    memset(&truth, 0, sizeof(truth));
    histogram_init(&truth.all);
    truth.raw = calloc((size_t)P_HOSTS * P_INTERVALS * 12 * 12, 8);
    setup(P_HOSTS, 2, 3, 0, P_INTERVALS);
    /* Hosts run ahead of each other, but by less than what is kept open. */
    for (uint32_t left = P_HOSTS * P_INTERVALS; left > 0;) {
        uint32_t h = (uint32_t)prng_below(&prng, P_HOSTS);
        struct sample *s, *once_more;

        if (sent[h] == P_INTERVALS)
            continue;
        s = random_sample(&prng, &truth, h, sent[h]);
        once_more = prng_below(&prng, 3) == 0 ? copy_of(s) : NULL;
        ck_assert_msg(take(s) == WHOLE, "TEST_SEED=%llu",
                      (unsigned long long)seed);
        if (once_more != NULL)
            ck_assert_int_eq(take(once_more), AGAIN);
        sent[h]++;
        left--;
        while ((row = merge_next(merge, 0)) != NULL) {
            ck_assert_uint_eq(row->interval, rows++);
            ck_assert_uint_eq(row->hosts_delivered, P_HOSTS);
            check_row(row, &truth);
            ck_assert_int_eq(tally_pair_add(&total, &row->sum), 0);
            (void)row_free(row);
        }
    }
    ck_assert_uint_eq(rows, P_INTERVALS);
    ck_assert_uint_eq(total.op[0].n.ios + total.op[1].n.ios, truth.all.count);
    ck_assert_uint_eq(total.op[0].n.bytes + total.op[1].n.bytes, truth.bytes);
    ck_assert_uint_eq(total.op[0].n.errors + total.op[1].n.errors,
                      truth.errors);
    check_percentiles(&total, &truth);
    tally_pair_done(&total);
    free(truth.raw);
    teardown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge");
    TCase *tests = tcase_create("merge");

    tcase_add_test(tests, a_row_closes_when_all_have_delivered);
    tcase_add_test(tests, a_row_does_not_wait_for_ever);
    tcase_add_test(tests, long_intervals_wait_for_two);
    tcase_add_test(tests, a_lost_host_is_not_waited_for_and_a_returned_one_is);
    tcase_add_test(tests,
                   a_finished_host_is_waited_for_up_to_its_last_interval);
    tcase_add_test(tests, duplicates_and_parts_of_any_order_count_once);
    tcase_add_test(tests, a_part_that_comes_twice_before_the_last_counts_once);
    tcase_add_test(tests, a_row_that_spans_takes_the_others_with_it);
    tcase_add_test(tests, gauges_are_those_of_the_last_edge);
    tcase_add_test(tests, a_row_over_the_end_of_the_warmup_is_warmup);
    tcase_add_test(tests, case_C08_the_drain_is_a_row_of_its_own);
    tcase_add_test(tests, case_A07_hosts_are_told_apart_by_who_they_are);
    tcase_add_test(tests, case_N07_an_idle_interval_has_zeros_and_no_latencies);
    tcase_add_test(tests, case_N05_a_partial_interval_is_marked);
    tcase_add_test(tests, a_skewed_edge_is_flagged);
    tcase_add_test(tests, what_is_open_is_bounded);
    tcase_add_test(tests, what_cannot_be_true_is_refused);
    tcase_add_test(tests, a_host_may_not_hoard_incomplete_samples);
    tcase_add_loop_test(tests, sums_are_exact_whatever_the_order, 0, 8);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
