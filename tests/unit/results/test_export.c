/* A campaign piece by piece: head, phases, pages of rows. */
#include "tests/unit/results/stage.h"

#include "tests/support/suite.h"

static void ask_piece(const char *id, uint32_t phase, uint64_t interval)
{
    uint32_t before = lab.answers;

    ck_assert_int_eq(results_export(lab.results, id, phase, interval, true,
                                    lab_answered, &lab),
                     0);
    lab_until(&lab, &lab.answers, before + 1);
}

/* Two hosts, a warm-up interval, four in all, and a drain. */
static void measure(uint32_t hosts, uint64_t intervals)
{
    setup(hosts, 2, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 1, intervals - 1);
    for (uint64_t k = 0; k < intervals; k++) {
        for (uint32_t h = 0; h < hosts; h++)
            send_simple(0, h, k, 100000, 100 * (h + 1));
        (void)results_poll(lab.results);
    }
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
}

START_TEST(the_head_has_the_texts_and_no_figures)
{
    measure(2, 4);
    ask_piece("1", 0, 0);
    ck_assert_int_eq(lab.answer_err, 0);
    ck_assert_str_eq(text_at(lab.answer, "texts.0.name"), "a.parm");
    ck_assert_str_eq(text_at(lab.answer, "texts.0.text"), "sd=sd1\n");
    ck_assert_str_eq(text_at(lab.answer, "phases.0.verdict"), "complete");
    ck_assert_ptr_null(json_object_get(at(lab.answer, "phases.0"), "total"));
    ck_assert_uint_eq(json_array_size(at(lab.answer, "hosts")), 2);
    teardown();
}
END_TEST

START_TEST(commands_are_told_with_the_campaign)
{
    const struct results_command done = {
        .number = 1,
        .phase = UINT32_MAX,
        .keyword = "startcmd",
        .command = "drop",
        .duration_ns = 1500 * NS_PER_MS,
        .output = "",
    };
    const struct results_command failed = {
        .number = 2,
        .host = "nas1",
        .phase = 1,
        .keyword = "endcmd",
        .command = "/bin/x y",
        .error = "exit status 3",
        .output = "one\ntwo",
    };
    struct uuid other = {{9}};

    setup(2, 2, 1, false);
    ck_assert_int_eq(results_command(lab.results, &campaign, &failed), 0);
    ck_assert_int_eq(results_command(lab.results, &campaign, &done), 0);
    ck_assert_int_eq(results_command(lab.results, &other, &done), -ENOENT);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    ask_piece("1", 0, 0);
    ck_assert_uint_eq(json_array_size(at(lab.answer, "commands")), 2);
    for (int i = 0; i < 2; i++) {
        json_t *one = json_array_get(at(lab.answer, "commands"), (size_t)i);

        if (json_is_null(json_object_get(one, "phase"))) {
            ck_assert(json_is_null(json_object_get(one, "host")));
            ck_assert(json_is_null(json_object_get(one, "error")));
            ck_assert_double_eq(
                json_number_value(json_object_get(one, "duration_s")), 1.5);
        } else {
            ck_assert_int_eq(json_integer_value(json_object_get(one, "phase")),
                             2);
            ck_assert_str_eq(json_string_value(json_object_get(one, "host")),
                             "nas1");
            ck_assert_str_eq(json_string_value(json_object_get(one, "output")),
                             "one\ntwo");
        }
    }
    teardown();
}
END_TEST

START_TEST(a_phase_is_that_of_show_and_its_rows_are_the_events)
{
    json_t *show, *total;

    measure(2, 4);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "1");
    total = json_incref(at(show, "phases.0.total"));
    ask_piece("1", 1, 0);
    ck_assert(json_equal(at(lab.answer, "total"), total));
    json_decref(total);
    ck_assert_uint_eq(json_array_size(at(lab.answer, "intervals")), 4);
    for (size_t i = 0; i < 4; i++) {
        json_t *row = json_array_get(at(lab.answer, "intervals"), i);

        ck_assert(json_equal(json_object_get(row, "figures"),
                             at(event_at(&lab, "interval", i), "figures")));
        ck_assert_str_eq(json_string_value(json_object_get(row, "wall")),
                         text_at(event_at(&lab, "interval", i), "wall"));
    }
    ck_assert_str_eq(text_at(lab.answer, "window_end"),
                     text_at(event_at(&lab, "phase_end", 0), "wall"));
    ck_assert(null_at(lab.answer, "next_interval"));
    teardown();
}
END_TEST

START_TEST(rows_of_hosts_and_workloads_add_up)
{
    double hosts = 0, workloads = 0;

    measure(2, 4);
    ask_piece("1", 1, 0);
    ck_assert_uint_eq(json_array_size(at(lab.answer, "host_intervals")), 8);
    ck_assert_uint_eq(json_array_size(at(lab.answer, "workload_intervals")), 4);
    for (size_t i = 0; i < 2; i++)
        hosts += number_at(json_array_get(at(lab.answer, "host_intervals"), i),
                           "figures.iops");
    workloads =
        number_at(at(lab.answer, "workload_intervals.0"), "figures.iops");
    ck_assert_double_eq(hosts, 300);
    ck_assert_double_eq(workloads, 300);
    ck_assert_double_eq(
        number_at(at(lab.answer, "intervals.0"), "figures.iops"), 300);
    teardown();
}
END_TEST

START_TEST(a_distribution_counts_every_io)
{
    json_t *all;
    double count = 0;

    measure(2, 4);
    ask_piece("1", 1, 0);
    all = at(lab.answer, "distribution.service_us.all");
    for (size_t i = 0; i < json_array_size(all); i++)
        count += json_number_value(json_array_get(json_array_get(all, i), 1));
    ck_assert_double_eq(count, number_at(lab.answer, "total.ios"));
    ck_assert_uint_eq(json_array_size(all), 1); /* all took 100 us */
    ck_assert_double_ge(
        number_at(lab.answer, "distribution.service_us.all.0.0"), 100);
    ck_assert_uint_eq(
        json_array_size(at(lab.answer, "distribution.response_us.all")), 0);
    teardown();
}
END_TEST

static void assert_counts(const char *path, const uint64_t *counts,
                          size_t count)
{
    const json_t *array = at(lab.answer, path);

    ck_assert_uint_eq(json_array_size(array), count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(json_integer_value(json_array_get(array, i)),
                         (json_int_t)counts[i]);
}

/* A bucket with an edge in it counts above the edge; none is lost. */
START_TEST(a_histogram_has_the_edges_that_were_asked_for)
{
    static const struct {
        uint64_t latency_ns, count;
    } sent[] = {
        {1, 3},       {99000, 5},      {100000, 7},
        {1999999, 1}, {2000000000, 2}, {UINT64_C(1) << 47, 4},
    };

    field_init(&field, 1, 2, 1, 2);
    field.plan.histogram = "100,2000,3000,suppress";
    lab_init(&lab, suite_memory_directory(), false);
    (void)lab_campaign(&lab, &field.plan, &campaign);
    lab_begin(&lab, &campaign, 0, 0, 1, ARRAY_LENGTH(sent));
    send_simple(0, 0, 0, 5000, 9); /* the warm-up */
    for (uint64_t k = 0; k < ARRAY_LENGTH(sent); k++)
        send_simple(0, 0, k + 1, sent[k].latency_ns, sent[k].count);
    (void)results_poll(lab.results);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    ask_piece("1", 1, 0);
    assert_counts("histogram.edges_us", (uint64_t[]){100, 2000, 3000}, 3);
    assert_counts("histogram.all", (uint64_t[]){8, 7, 1, 6}, 4);
    assert_counts("histogram.read", (uint64_t[]){8, 7, 1, 6}, 4);
    assert_counts("histogram.write", (uint64_t[]){0, 0, 0, 0}, 4);
    ck_assert(json_is_true(at(lab.answer, "histogram.suppress")));
    teardown();
}
END_TEST

START_TEST(a_histogram_has_vdbenchs_edges_by_default)
{
    measure(2, 4);
    ask_piece("1", 1, 0);
    ck_assert_uint_eq(json_array_size(at(lab.answer, "histogram.all")), 27);
    ck_assert_double_eq(number_at(lab.answer, "histogram.all.5"),
                        number_at(lab.answer, "total.ios"));
    ck_assert_double_eq(number_at(lab.answer, "histogram.edges_us.5"), 200);
    ck_assert(!json_is_true(at(lab.answer, "histogram.suppress")));
    teardown();
}
END_TEST

START_TEST(long_phases_come_in_pages)
{
    uint64_t next = 1, seen = 0, pages = 0;

    /* With 2 hosts and a workload, 4 rows each: more than a page of 4,000. */
    measure(2, LAB_EVENTS - 8);
    while (next != 0) {
        json_t *rows;

        ask_piece("1", 1, next);
        rows = at(lab.answer, "intervals");
        for (size_t i = 0; i < json_array_size(rows); i++)
            ck_assert_double_eq(number_at(json_array_get(rows, i), "interval"),
                                (double)++seen);
        next = (uint64_t)json_integer_value(at(lab.answer, "next_interval"));
        pages++;
    }
    ck_assert_uint_eq(seen, LAB_EVENTS - 8);
    ck_assert_uint_ge(pages, 2);
    teardown();
}
END_TEST

START_TEST(pieces_that_are_not_there)
{
    measure(2, 4);
    ask_piece("1", 99, 0);
    ck_assert_int_eq(lab.answer_err, -ENOENT);
    ck_assert_ptr_nonnull(strstr(text_at(lab.answer, "error"), "99"));
    ask_piece("1", 1, UINT64_MAX);
    ck_assert_int_eq(lab.answer_err, 0);
    ck_assert_uint_eq(json_array_size(at(lab.answer, "intervals")), 0);
    ck_assert(null_at(lab.answer, "next_interval"));
    ask_piece("7", 0, 0);
    ck_assert_int_eq(lab.answer_err, -ENOENT);
    /* A phase that never began has no rows, and says so. */
    ask_piece("1", 2, 0);
    ck_assert_int_eq(lab.answer_err, 0);
    ck_assert_str_eq(text_at(lab.answer, "state"), "skipped");
    ck_assert_uint_eq(json_array_size(at(lab.answer, "intervals")), 0);
    teardown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("export");
    TCase *tests = tcase_create("export");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_head_has_the_texts_and_no_figures);
    tcase_add_test(tests, commands_are_told_with_the_campaign);
    tcase_add_test(tests, a_phase_is_that_of_show_and_its_rows_are_the_events);
    tcase_add_test(tests, rows_of_hosts_and_workloads_add_up);
    tcase_add_test(tests, a_distribution_counts_every_io);
    tcase_add_test(tests, a_histogram_has_the_edges_that_were_asked_for);
    tcase_add_test(tests, a_histogram_has_vdbenchs_edges_by_default);
    tcase_add_test(tests, long_phases_come_in_pages);
    tcase_add_test(tests, pieces_that_are_not_there);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
