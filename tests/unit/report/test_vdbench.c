/* vdbench's lines and folder, to the byte. */
#include "controller/report/vdbench.h"

#include <sys/stat.h>
#include <time.h>

#include "controller/report/vdbench_histogram.h"
#include "controller/report/vdbench_lines.h"
#include "controller/report/vdbench_parm.h"
#include "tests/support/suite.h"
#include "tests/unit/report/pieces.h"

static char *text;
static size_t size;
static FILE *out;

static void begin(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    out = open_memstream(&text, &size);
}

static void said(const char *expected)
{
    fclose(out);
    ck_assert_str_eq(text, expected);
    free(text);
    begin();
}

START_TEST(a_row_is_fifteen_words)
{
    json_t *figures = parsed("{" FIGURES "}");

    begin();
    vdbench_print_row(out, "2026-01-31T12:00:01.042Z", "1", figures);
    said("12:00:01.042           1     1500.1     5.86    4096  66.67    0.101 "
         "   0.090    0.121     1.23     1.23    0.012    0.2  12.5   0.0");
    vdbench_print_row(out, "2026-01-31T12:00:01.042Z", "avg_10001-20000",
                      figures);
    said("12:00:01.042 avg_10001-20000     1500.1     5.86    4096  66.67    "
         "0.101    0.090    0.121     1.23     1.23    0.012    0.2  12.5   "
         "0.0");
    json_decref(figures);
}
END_TEST

START_TEST(case_N07_nothing_is_zero_not_nan)
{
    json_t *figures = parsed("{" NO_FIGURES "}");

    begin();
    vdbench_print_row(out, "2026-01-31T12:00:01.042Z", "1", figures);
    said("12:00:01.042           1        0.0     0.00       0   0.00    0.000 "
         "   0.000    0.000     0.00     0.00    0.000    0.0   0.0   0.0");
    json_decref(figures);
}
END_TEST

START_TEST(the_header_has_a_word_for_each_column)
{
    begin();
    vdbench_print_header(out, "2026-01-05T12:00:01.042Z", "", "");
    said("\nJan 05, 2026    interval        i/o   MB/sec   bytes   read     "
         "resp     read    write     read    write     resp  queue  cpu%  "
         "cpu%\n"
         "                               rate  1024**2     i/o    pct     time "
         "    resp     resp      max      max   stddev  depth sys+u   sys\n");
}
END_TEST

static void start_line(const char *rate, const char *rate_text,
                       const char *expected)
{
    json_t *phase = parsed_of(
        "{\"run\":\"rd1\",\"iorate\":%s,\"iorate_text\":\"%s\",\"for\":\"\","
        "\"elapsed_s\":2.4,\"warmup_s\":0.0}",
        rate, rate_text);

    vdbench_print_start(out, phase, "2026-01-31T12:00:00.000Z");
    said(expected);
    json_decref(phase);
}

START_TEST(starting_lines)
{
    begin();
    start_line("\"max\"", "max",
               "12:00:00.000 Starting RD=rd1; I/O rate: Uncontrolled MAX; "
               "elapsed=2; For loops: None");
    start_line("\"curve\"", "curve",
               "12:00:00.000 Starting RD=rd1; I/O rate: Uncontrolled curve; "
               "elapsed=2; For loops: None");
    start_line("1500.0", "10%",
               "12:00:00.000 Starting RD=rd1; I/O rate: 1500; elapsed=2; For "
               "loops: None");
    start_line("0.5", "0.5",
               "12:00:00.000 Starting RD=rd1; I/O rate: 0.5; elapsed=2; For "
               "loops: None");
}
END_TEST

START_TEST(zones_without_letters_are_told_in_utc)
{
    char stamp[VDBENCH_STAMP_SIZE];

    setenv("TZ", "<-03>3", 1);
    tzset();
    vdbench_stamp("2026-01-31T12:00:01.042Z", stamp);
    ck_assert_str_eq(stamp, "01/31/2026-12:00:01-UTC");
    setenv("TZ", "EST5", 1);
    tzset();
    vdbench_stamp("2026-01-31T12:00:01.042Z", stamp);
    ck_assert_str_eq(stamp, "01/31/2026-07:00:01-EST");
}
END_TEST

START_TEST(an_average_without_warmup_leaves_the_first_out)
{
    char label[VDBENCH_LABEL_SIZE];
    json_t *event = parsed(
        "{\"event\":\"phase_end\",\"first_interval\":1,\"last_interval\":4,"
        "\"total\":{\"ios\":1},\"without_first\":{\"ios\":2}}");

    ck_assert_int_eq(read_count(vdbench_average(event, label), "ios"), 2);
    ck_assert_str_eq(label, "avg_2-4");
    json_object_set_new(event, "without_first", json_null());
    ck_assert_int_eq(read_count(vdbench_average(event, label), "ios"), 1);
    ck_assert_str_eq(label, "avg_1-4");
    json_object_set_new(event, "last_interval", json_null());
    ck_assert_ptr_null(vdbench_average(event, label));
    json_decref(event);
}
END_TEST

START_TEST(a_flat_row_has_no_blank_within_a_value)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");
    json_t *figures = parsed("{" FIGURES "}");

    begin();
    vdbench_print_flat_row(out, phase, "2026-01-31T12:00:01.042Z", "1",
                           figures);
    said("12:00:01.042 01/31/2026-12:00:01-UTC rd1 1 9999988 1500.125 5.859 "
         "4096 66.67 0.1005 0.09 0.1215 1.234567 1.234567 1.234567 0.012125 "
         "0.012125 0.012125 4096 8 66 n/a n/a 100 n/a n/a 1 n/a 0.151 12.5 "
         "n/a n/a n/a 87.5 \n");
    vdbench_print_flat_row(out, phase, "2026-01-31T12:00:01.042Z", "avg_2-3",
                           figures);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, " rd1  avg_2-3 9999988 "));
    free(text);
    json_decref(phase);
    json_decref(figures);
}
END_TEST

START_TEST(values_end_with_their_line)
{
    json_t *head =
        parsed("{\"variables\":[\"d=/dev/a\",\"disk=/dev/b\"],\"phases\":[],"
               "\"texts\":[{\"name\":\"x\",\"text\":"
               "\"* note $disk\\nsd=sd1,lun=$disk,size=1g  my drive\\n"
               "wd=wd1,range=(10, 20),xfersize=4k,\\n  rdpct=70\\t tail\\n"
               "sd=sd2,lun=$d2\"}]}");

    begin();
    vdbench_print_parm(out, head);
    said("<title>Lockstep parmfile.html</title><pre>\n* file: x\n"
         "* note $disk\n* my drive\nsd=sd1,lun=/dev/b,size=1g\n"
         "wd=wd1,range=(10, 20),xfersize=4k,\n* tail\n  rdpct=70\n"
         "sd=sd2,lun=/dev/a2\n"
         "\n* The values of each run, defaults included:\n");
    json_decref(head);
}
END_TEST

START_TEST(bytes_of_a_pattern_are_no_lines)
{
    json_t *head = parsed("{\"variables\":[],\"phases\":[],\"texts\":["
                          "{\"name\":\"x\",\"text\":\"pattern=a.bin\"},"
                          "{\"name\":\"pattern=a.bin\",\"text\":"
                          "\"Zm9v\"}]}");

    begin();
    vdbench_print_parm(out, head);
    said("<title>Lockstep parmfile.html</title><pre>\n* file: x\n"
         "pattern=a.bin\n* file: pattern=a.bin\n"
         "* bytes that were written; the JSON export has them as base64\n"
         "\n* The values of each run, defaults included:\n");
    json_decref(head);
}
END_TEST

/* ---- The folder ------------------------------------------------------------
 */

static char *content(const char *directory, const char *name)
{
    static char buffer[65536];
    char path[4096];
    FILE *file;
    size_t length;

    (void)snprintf(path, sizeof(path), "%s/%s.html", directory, name);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    length = fread(buffer, 1, sizeof(buffer) - 1, file);
    buffer[length] = '\0';
    fclose(file);
    return buffer;
}

static size_t count_of(const char *all, const char *word)
{
    size_t count = 0;

    for (; (all = strstr(all, word)) != NULL; all++)
        count++;
    return count;
}

static json_t *interval_event(int interval, int revision, const char *kind)
{
    return parsed_of("{\"event\":\"interval\",\"phase\":1,\"interval\":%d,"
                     "\"revision\":%d,\"kind\":\"%s\",\"wall\":"
                     "\"2026-01-31T12:00:0%d.000Z\",\"figures\":{" FIGURES "}}",
                     interval, revision, kind, interval);
}

static void tell(struct vdbench *folder, json_t *event)
{
    vdbench_event(folder, event);
    json_decref(event);
}

static json_t *phase_event(const char *kind)
{
    json_t *event = phase_of(1, "rd1", "\"max\"", "");

    json_object_set_new(event, "event", json_string("phase"));
    json_object_set_new(event, "kind", json_string(kind));
    json_object_set_new(event, "wall", json_string("2026-01-31T12:00:00.000Z"));
    return event;
}

static json_t *phase_end_event(void)
{
    return parsed("{\"event\":\"phase_end\",\"first_interval\":2,"
                  "\"last_interval\":3,\"wall\":\"2026-01-31T12:00:03.001Z\","
                  "\"without_first\":null,\"total\":{" FIGURES "}}");
}

static struct vdbench *opened(const char **ret_directory)
{
    static char path[2][4096];
    static int count;
    struct vdbench *folder = NULL;
    struct diag diag = {0};

    setenv("TZ", "UTC", 1);
    tzset();
    (void)snprintf(path[count], sizeof(path[count]), "%s/%d", suite_directory(),
                   count);
    ck_assert_int_eq(mkdir(path[count], 0777), 0);
    *ret_directory = path[count++];
    ck_assert_msg(vdbench_open(*ret_directory, false, &folder, &diag) == 0,
                  "%s", diag.text);
    return folder;
}

START_TEST(events_told_twice_and_late_rows_stand_once)
{
    const char *directory;
    struct vdbench *folder = opened(&directory);

    tell(folder, phase_event("measure"));
    tell(folder, phase_event("measure"));
    tell(folder, interval_event(1, 1, "warmup"));
    tell(folder, interval_event(1, 1, "warmup"));
    tell(folder, interval_event(2, 1, "measured"));
    ck_assert(!vdbench_is_stale(folder));
    tell(folder, interval_event(1, 2, "warmup"));
    ck_assert(vdbench_is_stale(folder));
    tell(folder, interval_event(3, 1, "measured"));
    tell(folder, interval_event(3, 1, "drain"));
    tell(folder, phase_end_event());
    ck_assert_int_eq(vdbench_close(folder, NULL), 0);
    ck_assert_uint_eq(count_of(content(directory, "summary"), "Starting RD="),
                      1);
    ck_assert_uint_eq(count_of(content(directory, "flatfile"), " rd1 "), 4);
    ck_assert_uint_eq(count_of(content(directory, "totals"), " avg_2-3 "), 1);
}
END_TEST

START_TEST(a_fill_and_a_run_without_rows_are_not_told_about)
{
    const char *directory;
    struct vdbench *folder = opened(&directory);
    json_t *second = phase_event("measure");

    tell(folder, phase_event("fill"));
    tell(folder, interval_event(1, 1, "measured"));
    tell(folder, phase_end_event());
    json_object_set_new(second, "phase", json_integer(2));
    tell(folder, second);
    ck_assert_int_eq(vdbench_close(folder, NULL), 0);
    ck_assert_uint_eq(count_of(content(directory, "summary"), "Starting"), 0);
    ck_assert_uint_eq(count_of(content(directory, "totals"), "avg_"), 0);
    ck_assert_uint_eq(count_of(content(directory, "flatfile"), "rd1"), 0);
}
END_TEST

START_TEST(an_earlier_folder_is_never_overwritten)
{
    const char *directory;
    struct vdbench *folder = opened(&directory), *second = NULL;
    struct diag diag = {0};

    ck_assert_int_lt(vdbench_open(directory, false, &second, &diag), 0);
    ck_assert_ptr_nonnull(strstr(diag.text, "flatfile.html"));
    ck_assert_int_eq(vdbench_close(folder, NULL), 0);
}
END_TEST

#define COLUMNS                                                                \
    "     min(ms) <      max(ms)          count       %%     cum%%  "          \
    "'+': own, '-': before; 2 % each\n"
#define HISTOGRAM                                                              \
    ",\"histogram\":{\"suppress\":%s,\"edges_us\":[20,1000],"                  \
    "\"all\":[1,0,3],\"read\":[1,0,1],\"write\":[%s]}"

static json_t *histogram_phase(const char *suppress, const char *write)
{
    char more[512];

    (void)snprintf(more, sizeof(more), HISTOGRAM, suppress, write);
    return phase_of(1, "rd1", "\"max\"", more);
}

START_TEST(a_histogram_has_shares_and_bars)
{
    json_t *phase = histogram_phase("false", "0,0,2");

    begin();
    ck_assert_int_eq(vdbench_histogram_count(phase), 4);
    vdbench_print_histogram(out, phase);
    said("\nReads and writes: 4\n\n" COLUMNS
         "       0.000 <        0.020              1  25.0000  25.0000  "
         "+++++++++++++\n"
         "       0.020 <        1.000              0   0.0000  25.0000  "
         "-------------\n"
         "       1.000 <          max              3  75.0000 100.0000  "
         "++++++++++++++++++++++++++++++++++++++------------\n"
         "\nReads: 2\n\n" COLUMNS
         "       0.000 <        0.020              1  50.0000  50.0000  "
         "+++++++++++++++++++++++++\n"
         "       0.020 <        1.000              0   0.0000  50.0000  "
         "-------------------------\n"
         "       1.000 <          max              1  50.0000 100.0000  "
         "+++++++++++++++++++++++++-------------------------\n"
         "\nWrites: 2\n\n" COLUMNS
         "       0.000 <        0.020              0   0.0000   0.0000\n"
         "       0.020 <        1.000              0   0.0000   0.0000\n"
         "       1.000 <          max              2 100.0000 100.0000  "
         "++++++++++++++++++++++++++++++++++++++++++++++++++\n");
    json_decref(phase);
}
END_TEST

START_TEST(a_histogram_of_one_kind_is_one_table)
{
    json_t *phase = histogram_phase("true", "0,0,0");

    begin();
    vdbench_print_histogram(out, phase);
    said("\nReads: 4\n\n" COLUMNS
         "       0.000 <        0.020              1  25.0000  25.0000  "
         "+++++++++++++\n"
         "       1.000 <          max              3  75.0000 100.0000  "
         "++++++++++++++++++++++++++++++++++++++------------\n");
    json_decref(phase);
}
END_TEST

START_TEST(from_the_store_it_is_the_same)
{
    const char *live_directory, *directory;
    struct vdbench *folder = opened(&live_directory);
    json_t *head = head_of("complete", "null", 1);
    json_t *phase;
    char *live;

    tell(folder, phase_event("measure"));
    tell(folder, interval_event(1, 1, "warmup"));
    tell(folder, interval_event(2, 1, "measured"));
    tell(folder, interval_event(3, 1, "measured"));
    tell(folder, phase_end_event());
    tell(folder, parsed("{\"event\":\"end\",\"verdict\":\"complete\","
                        "\"error\":null}"));
    phase = histogram_phase("false", "0,0,2");
    vdbench_histogram(folder, phase);
    ck_assert_int_eq(vdbench_close(folder, NULL), 0);
    folder = opened(&directory);
    json_object_set_new(phase, "intervals", json_array());
    for (int i = 1; i <= 3; i++)
        json_array_append_new(
            json_object_get(phase, "intervals"),
            interval_event(i, 1, i == 1 ? "warmup" : "measured"));
    give_head(vdbench_sink(folder), head);
    give_phase(vdbench_sink(folder), phase);
    ck_assert_int_eq(vdbench_close(folder, NULL), 0);
    for (int i = 0; i < 5; i++) {
        static const char *const names[] = {"flatfile", "summary", "totals",
                                            "logfile", "histogram"};

        live = strdup(content(live_directory, names[i]));
        ck_assert_str_eq(content(directory, names[i]), live);
        free(live);
    }
    json_decref(head);
    json_decref(phase);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vdbench");
    TCase *tests = tcase_create("vdbench");

    tcase_add_test(tests, a_row_is_fifteen_words);
    tcase_add_test(tests, case_N07_nothing_is_zero_not_nan);
    tcase_add_test(tests, the_header_has_a_word_for_each_column);
    tcase_add_test(tests, starting_lines);
    tcase_add_test(tests, zones_without_letters_are_told_in_utc);
    tcase_add_test(tests, an_average_without_warmup_leaves_the_first_out);
    tcase_add_test(tests, a_flat_row_has_no_blank_within_a_value);
    tcase_add_test(tests, values_end_with_their_line);
    tcase_add_test(tests, bytes_of_a_pattern_are_no_lines);
    tcase_add_test(tests, events_told_twice_and_late_rows_stand_once);
    tcase_add_test(tests, a_fill_and_a_run_without_rows_are_not_told_about);
    tcase_add_test(tests, an_earlier_folder_is_never_overwritten);
    tcase_add_test(tests, a_histogram_has_shares_and_bars);
    tcase_add_test(tests, a_histogram_of_one_kind_is_one_table);
    tcase_add_test(tests, from_the_store_it_is_the_same);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
