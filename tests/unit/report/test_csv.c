/* One table, that any tool can take. */
#include "controller/report/csv.h"

#include "controller/report/whole.h"
#include "tests/support/suite.h"
#include "tests/unit/report/pieces.h"

#define ROW(n, what, figures)                                                  \
    "{\"interval\":" #n ",\"kind\":\"" what "\",\"spans\":1,\"revision\":1,"   \
    "\"hosts\":1,\"hosts_expected\":1,\"partial\":false,\"skew_us\":0.0,"      \
    "\"length_s\":1.0,\"wall\":\"2026-01-31T12:00:0" #n ".000Z\","             \
    "\"figures\":{" figures "}}"
#define PART(n, figures)                                                       \
    "{\"interval\":" #n                                                        \
    ",\"drain\":false,\"name\":\"h1\",\"figures\":{" figures "}}"

static const char pieces[] =
    ",\"hosts\":[{\"name\":\"h1\",\"host\":\"h1\"," FIGURES "}],"
    "\"drives\":[{\"name\":\"h1:sd1\",\"host\":\"h1\",\"sd\":\"sd1\","
    "\"lun\":\"/dev/x,\\\"y\\\"\"," FIGURES "}],\"workloads\":[],"
    "\"intervals\":[" ROW(1, "warmup", FIGURES) "," ROW(
        2, "measured",
        NO_FIGURES) "],"
                    "\"host_intervals\":[" PART(1, FIGURES) "," PART(
                        2, NO_FIGURES) "],"
                                       "\"workload_intervals\":[]";

static char *text;
static size_t size;

static void render(enum csv_rows rows)
{
    FILE *out = open_memstream(&text, &size);
    json_t *head = head_of("complete", "null", 1);
    json_t *phase = phase_of(1, "rd1", "\"max\"", pieces);
    struct csv csv;
    struct sink sink = csv_sink(&csv, out, rows);

    give_head(sink, head);
    give_phase(sink, phase);
    csv_done(&csv);
    fclose(out);
    json_decref(head);
    json_decref(phase);
}

/* The value of a column in a line, both from 0; lines have no quoted breaks. */
static const char *cell(size_t line, const char *column)
{
    static char value[512];
    const char *name = text, *at = text;
    size_t index = 0, length = 0;
    bool quoted = false;

    while (strncmp(name, column, strlen(column)) != 0 ||
           strchr(",\r", name[strlen(column)]) == NULL) {
        name = strpbrk(name, ",\r");
        ck_assert_msg(name != NULL && *name == ',', "no column %s", column);
        name++;
        index++;
    }
    for (; line > 0; line--)
        at = strchr(at, '\n') + 1;
    for (; index > 0 || quoted; at++) {
        quoted ^= *at == '"';
        index -= *at == ',' && !quoted;
    }
    while ((quoted || strchr(",\r", at[length]) == NULL) && length < 511) {
        quoted ^= at[length] == '"';
        value[length] = at[length];
        length++;
    }
    value[length] = '\0';
    return value;
}

static size_t line_count(void)
{
    size_t count = 0;

    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    return count;
}

START_TEST(case_N02_every_line_has_all_effective_values)
{
    render(CSV_ALL);
    ck_assert_uint_eq(line_count(), 1 + 3 + 4);
    for (size_t i = 1; i < 8; i++) {
        ck_assert_str_eq(cell(i, "run"), "rd1");
        ck_assert_str_eq(cell(i, "xfersize"), "4k");
        ck_assert_str_eq(cell(i, "threads"), "8");
        ck_assert_str_eq(cell(i, "rdpct"), "66");
        ck_assert_str_eq(cell(i, "seekpct"), "100");
        ck_assert_str_eq(cell(i, "iorate_asked"), "max");
        ck_assert_str_eq(cell(i, "interval_s"), "1");
    }
    ck_assert_str_eq(cell(1, "iops"), "1500.125");
    ck_assert_str_eq(cell(1, "service_us_max"), "1234.567");
    ck_assert_str_eq(cell(1, "read_service_us_mean"), "90");
    ck_assert_str_eq(cell(1, "write_ios"), "500");
    free(text);
}
END_TEST

START_TEST(case_N04_one_line_an_interval_for_each_part)
{
    render(CSV_INTERVALS);
    ck_assert_uint_eq(line_count(), 1 + 4);
    ck_assert_str_eq(cell(1, "interval"), "1");
    ck_assert_str_eq(cell(1, "scope"), "cluster");
    ck_assert_str_eq(cell(2, "interval"), "1");
    ck_assert_str_eq(cell(2, "scope"), "host");
    ck_assert_str_eq(cell(3, "interval"), "2");
    ck_assert_str_eq(cell(4, "interval"), "2");
    ck_assert_str_eq(cell(4, "name"), "h1");
    free(text);
}
END_TEST

START_TEST(case_N05_lines_tell_their_length_and_kind)
{
    render(CSV_INTERVALS);
    ck_assert_str_eq(cell(1, "interval_kind"), "warmup");
    ck_assert_str_eq(cell(1, "partial"), "false");
    ck_assert_str_eq(cell(1, "length_s"), "1");
    free(text);
}
END_TEST

START_TEST(case_N07_what_is_unknown_is_empty)
{
    render(CSV_ALL);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inf,"));
    ck_assert_ptr_null(strstr(text, "null"));
    ck_assert_str_eq(cell(6, "iops"), "0");
    ck_assert_str_eq(cell(6, "service_us_min"), "");
    ck_assert_str_eq(cell(6, "read_pct"), "");
    free(text);
}
END_TEST

START_TEST(texts_are_quoted_where_they_must_be)
{
    render(CSV_TOTALS);
    ck_assert_uint_eq(line_count(), 1 + 3);
    ck_assert_str_eq(cell(3, "lun"), "\"/dev/x,\"\"y\"\"\"");
    ck_assert_str_eq(cell(3, "iops"), "1500.125");
    free(text);
}
END_TEST

START_TEST(the_whole_is_one_document)
{
    FILE *out = open_memstream(&text, &size);
    json_t *head = head_of("complete", "null", 2);
    json_t *phase = phase_of(1, "rd1", "\"max\"", pieces);
    json_t *second = phase_of(2, "rd2", "\"max\"", pieces);
    struct whole whole;
    struct sink sink = whole_sink(&whole, out, true);
    json_t *document;

    give_head(sink, head);
    give_phase(sink, phase);
    give_phase(sink, second);
    whole_end(&whole, NULL);
    fclose(out);
    document = parsed(text);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "phases")), 2);
    json_object_del(phase, "next_interval");
    ck_assert(json_equal(json_array_get(json_object_get(document, "phases"), 0),
                         phase));
    json_decref(document);
    json_decref(head);
    json_decref(phase);
    json_decref(second);
    free(text);
}
END_TEST

START_TEST(case_N01_what_broke_off_is_still_a_document)
{
    FILE *out = open_memstream(&text, &size);
    struct whole whole;
    struct sink sink = whole_sink(&whole, out, true);
    json_t *head = head_of("complete", "null", 2);
    json_t *phase = phase_of(1, "rd1", "\"max\"", pieces);
    struct diag diag;
    json_t *document;

    whole_end(&whole, "no such campaign");
    fclose(out);
    document = parsed(text);
    ck_assert_str_eq(json_string_value(json_object_get(document, "error")),
                     "no such campaign");
    json_decref(document);
    free(text);
    out = open_memstream(&text, &size);
    sink = whole_sink(&whole, out, true);
    give_head(sink, head);
    ck_assert_int_eq(sink.phase(sink.self, phase, &diag), 0);
    whole_end(&whole, "the controller is gone");
    fclose(out);
    document = parsed(text);
    ck_assert_str_eq(
        json_string_value(json_object_get(document, "export_error")),
        "the controller is gone");
    json_decref(document);
    json_decref(head);
    json_decref(phase);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *tests = tcase_create("csv");

    tcase_add_test(tests, case_N02_every_line_has_all_effective_values);
    tcase_add_test(tests, case_N04_one_line_an_interval_for_each_part);
    tcase_add_test(tests, case_N05_lines_tell_their_length_and_kind);
    tcase_add_test(tests, case_N07_what_is_unknown_is_empty);
    tcase_add_test(tests, texts_are_quoted_where_they_must_be);
    tcase_add_test(tests, the_whole_is_one_document);
    tcase_add_test(tests, case_N01_what_broke_off_is_still_a_document);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
