/*
 * Goal: what old campaigns lose is what README says, and nothing else; pinned
 * and young ones lose nothing.
 */
#include "controller/results/retention.h"

#include "controller/results/chunk.h"
#include "tests/unit/results/stage.h"

#define DAY_NS (86400 * NS_PER_S)

static void add_spread(struct sample *s, uint32_t cell, uint64_t factor)
{
    static struct histogram h;

    histogram_init(&h);
    for (uint64_t i = 1; i < 60; i++)
        histogram_record_many(&h, i * 13337 * factor, 1);
    (void)sample_add(s, cell, SAMPLE_READ, &h, NULL);
}

/* One phase of two hosts, three drives each, with many latencies. */
static void run_campaign(uint64_t intervals)
{
    lab_begin(&lab, &campaign, 0, 0, 0, intervals);
    for (uint64_t k = 0; k < intervals; k++)
        for (uint32_t h = 0; h < 2; h++) {
            struct sample *s = sample_of(h, k, 4);

            for (uint32_t d = 0; d < 3; d++)
                add_spread(s, field_cell(&field, h, d, 0), d + 1);
            lab_sample(&lab, &campaign, 0, s);
        }
    finish_all(0, intervals);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
}

static void begin(void)
{
    setup(2, 3, 1, false);
    run_campaign(4);
}

/* The controller comes back so many days later. */
static void come_back(int64_t days, uint64_t retention_ns)
{
    struct diag diag = {0};

    lab.results = results_close(lab.results);
    lab.clock.wall_ns += days * (int64_t)DAY_NS;
    lab.retention_ns = retention_ns;
    ck_assert_msg(lab_open(&lab, &diag) == 0, "%s", diag.text);
}

/* Polls as long as it wants to be called at once. */
static void settle(void)
{
    for (unsigned i = 0; i < 1000; i++)
        if (results_poll(lab.results) > lab.clock.now_ns)
            return;
    ck_abort_msg("it never rests");
}

static int64_t sample_bytes(void)
{
    return lab_sql(&lab, "SELECT sum(length(cells)) FROM sample");
}

/* All but the samples' bytes, as one number each. */
static json_t *all_else(void)
{
    return json_pack(
        "[I,I,I,I]", lab_sql(&lab, "SELECT count(*) FROM sample"),
        lab_sql(&lab, "SELECT sum(length(read_service)) FROM host_interval"),
        lab_sql(&lab, "SELECT sum(length(read_service)) FROM cluster_interval"),
        lab_sql(&lab, "SELECT sum(length(read_service)) FROM total"));
}

/* Counts of every drive and interval are in the thinned chunks, too. */
static uint64_t ios_in_chunks(void)
{
    uint64_t ios = 0;
    sqlite3_stmt *s = NULL;
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open_v2(lab.path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "SELECT cells FROM sample", -1, &s, NULL),
        SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        struct chunk_reader reader;
        struct sample_cell cell;
        int got;

        ck_assert_int_eq(chunk_open(&reader, sqlite3_column_blob(s, 0),
                                    (size_t)sqlite3_column_bytes(s, 0)),
                         0);
        while ((got = chunk_next(&reader, &cell)) == 1)
            ios += cell.ios;
        ck_assert_int_eq(got, 0);
    }
    (void)sqlite3_finalize(s);
    (void)sqlite3_close(db);
    return ios;
}

START_TEST(old_campaigns_lose_histograms_of_drives_intervals_alone)
{
    json_t *before, *after, *show, *show_after;
    int64_t bytes;

    begin();
    before = all_else();
    bytes = sample_bytes();
    show = json_deep_copy(lab_ask(&lab, RESULTS_QUERY_SHOW, "1"));
    come_back(8, 7 * DAY_NS);
    settle();
    ck_assert_int_lt(sample_bytes(), bytes / 5);
    after = all_else();
    ck_assert(json_equal(before, after));
    ck_assert_uint_eq(ios_in_chunks(), 4 * 2 * 3 * 59);
    show_after = lab_ask(&lab, RESULTS_QUERY_SHOW, "1");
    ck_assert(json_equal(show, show_after));
    ck_assert_uint_eq(lab.failures, 0);
    ck_assert_int_eq(
        lab_sql(&lab, "SELECT count(*) FROM phase WHERE thinned = 1"),
        lab_sql(&lab, "SELECT count(*) FROM phase"));
    json_decref(before);
    json_decref(after);
    json_decref(show);
    teardown();
}
END_TEST

START_TEST(young_campaigns_and_a_store_without_retention_stay_whole)
{
    int64_t bytes;

    begin();
    bytes = sample_bytes();
    come_back(6, 7 * DAY_NS);
    settle();
    ck_assert_int_eq(sample_bytes(), bytes);
    come_back(1000, 0);
    settle();
    ck_assert_int_eq(sample_bytes(), bytes);
    teardown();
}
END_TEST

static json_t *pin(const char *asked, bool pinned)
{
    uint32_t before = lab.answers;

    ck_assert_int_eq(
        results_pin(lab.results, asked, pinned, lab_answered, &lab), 0);
    lab_until(&lab, &lab.answers, before + 1);
    return lab.answer;
}

START_TEST(pinned_campaigns_stay_whole_until_they_are_not)
{
    int64_t bytes;

    begin();
    bytes = sample_bytes();
    ck_assert(json_is_true(at(pin("1", true), "pinned")));
    ck_assert(json_is_true(
        at(lab_ask(&lab, RESULTS_QUERY_CAMPAIGNS, ""), "campaigns.0.pinned")));
    come_back(8, 7 * DAY_NS);
    settle();
    ck_assert_int_eq(sample_bytes(), bytes);
    ck_assert(json_is_false(at(pin("1", false), "pinned")));
    lab.clock.now_ns += 2 * 3600 * NS_PER_S;
    settle();
    ck_assert_int_lt(sample_bytes(), bytes / 5);
    teardown();
}
END_TEST

START_TEST(a_pin_of_nothing_is_an_error_and_harms_nothing)
{
    begin();
    (void)text_at(pin("77", true), "error");
    ck_assert_int_eq(lab.answer_err, -ENOENT);
    ck_assert_uint_eq(lab.failures, 0);
    teardown();
}
END_TEST

/* A step looks at so many samples, so that others are not kept waiting. */
START_TEST(it_comes_in_steps_and_looks_again_every_hour)
{
    int64_t bytes, whole;
    uint64_t due_ns;

    setup(2, 3, 1, false);
    run_campaign(RETENTION_SAMPLES);
    whole = sample_bytes();
    come_back(8, 7 * DAY_NS);
    (void)results_poll(lab.results);
    bytes = sample_bytes();
    ck_assert_int_lt(bytes, whole);
    settle();
    ck_assert_int_lt(sample_bytes(), bytes);
    due_ns = results_poll(lab.results);
    ck_assert_uint_eq(due_ns, lab.clock.now_ns + 3600 * NS_PER_S);
    teardown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("results.retention");
    TCase *cases = tcase_create("retention");

    tcase_add_test(cases,
                   old_campaigns_lose_histograms_of_drives_intervals_alone);
    tcase_add_test(cases,
                   young_campaigns_and_a_store_without_retention_stay_whole);
    tcase_add_test(cases, pinned_campaigns_stay_whole_until_they_are_not);
    tcase_add_test(cases, a_pin_of_nothing_is_an_error_and_harms_nothing);
    tcase_add_test(cases, it_comes_in_steps_and_looks_again_every_hour);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
