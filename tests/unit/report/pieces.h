/*
 * pieces.h - documents as the controller sends them, for tests of what is made
 * of them.
 *
 * For one test program: its functions are static.
 */
#ifndef TESTS_UNIT_REPORT_PIECES_H
#define TESTS_UNIT_REPORT_PIECES_H

#include <check.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/report/sink.h"

static inline json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);

    ck_assert_msg(json != NULL, "%s at %d: %s", error.text, error.column, text);
    return json;
}

static inline json_t *parsed_of(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static inline json_t *parsed_of(const char *format, ...)
{
    char text[16384];
    va_list arguments;

    va_start(arguments, format);
    ck_assert_int_lt(vsnprintf(text, sizeof(text), format, arguments),
                     (int)sizeof(text));
    va_end(arguments);
    return parsed(text);
}

#define LATENCY(mean)                                                          \
    "{\"mean\":" #mean ",\"min\":10.5,\"p50\":80.25,\"p90\":120,\"p99\":200,"  \
    "\"p999\":null,\"p9999\":null,\"max\":1234.567,\"stddev\":12.125}"

/* Figures of 1000 reads and 500 writes. */
#define FIGURES                                                                \
    "\"ios\":1500,\"bytes\":6144000,\"errors\":0,\"iops\":1500.125,"           \
    "\"mib_s\":5.859,\"service_us\":" LATENCY(                                 \
        100.5) ",\"response_us\":null,"                                        \
               "\"response_lower_bound\":false,\"read_pct\":66.67,"            \
               "\"bytes_per_io\":4096.0,\"queue_depth\":0.151,\"in_flight\":"  \
               "4,"                                                            \
               "\"oldest_us\":55.5,\"unissued\":0,\"unissued_oldest_us\":"     \
               "null,"                                                         \
               "\"agent_cpu_pct\":3.25,\"host_cpu_pct\":12.5,\"host_system_"   \
               "pct\":null,"                                                   \
               "\"read\":{\"ios\":1000,\"bytes\":4096000,\"errors\":0,"        \
               "\"iops\":1000.083,"                                            \
               "\"mib_s\":3.906,\"service_us\":" LATENCY(                      \
                   90) ",\"response_us\":null},\"write\":{\"ios\":500,"        \
                       "\"bytes\":2048000,"                                    \
                       "\"errors\":0,\"iops\":500.042,\"mib_s\":1.953,"        \
                       "\"service_us\":" LATENCY(                              \
                           121.5) ",\"response_us\":null}"

/* An interval without any I/O: nulls, as the controller has them. */
#define NO_LATENCY                                                             \
    "{\"mean\":null,\"min\":null,\"p50\":null,\"p90\":null,\"p99\":null,"      \
    "\"p999\":null,\"p9999\":null,\"max\":null,\"stddev\":null}"
#define NO_FIGURES                                                             \
    "\"ios\":0,\"bytes\":0,\"errors\":0,\"iops\":0.0,\"mib_s\":0.0,"           \
    "\"service_us\":" NO_LATENCY ",\"response_us\":null,\"read_pct\":null,"    \
    "\"bytes_per_io\":null,\"queue_depth\":0.0,\"host_cpu_pct\":null,"         \
    "\"host_system_pct\":null,\"read\":{\"ios\":0,\"service_us\":" NO_LATENCY  \
    "},\"write\":{\"ios\":0,\"service_us\":" NO_LATENCY "}"

static inline json_t *head_of(const char *verdict, const char *error,
                              size_t phases)
{
    json_t *head = parsed_of(
        "{\"number\":7,\"id\":\"0-1\",\"name\":\"a <b>.parm\",\"who\":\"ann\","
        "\"verdict\":\"%s\",\"error\":%s,\"started\":"
        "\"2026-01-31T12:00:00.000Z\",\"ended\":\"2026-01-31T12:01:00.000Z\","
        "\"version\":\"0.1.0\",\"files\":[\"a.parm\"],\"variables\":"
        "[\"disk=/dev/x\"],\"texts\":[{\"name\":\"a.parm\",\"text\":"
        "\"sd=sd1,lun=$disk  the drive\\n\"}],\"hosts\":[{\"name\":\"h1\"}],"
        "\"drives\":[{\"host\":\"h1\",\"sd\":\"sd1\",\"lun\":\"/dev/x\","
        "\"model\":\"M1\"}],\"rates\":\"over the common window\"}",
        verdict, error);
    json_t *list = json_array();

    for (size_t i = 0; i < phases; i++)
        json_array_append_new(list, json_object());
    json_object_set_new(head, "phases", list);
    return head;
}

/* One run; `more` are keys of its document, with a comma before. */
static inline json_t *phase_of(int number, const char *run, const char *rate,
                               const char *more)
{
    return parsed_of(
        "{\"phase\":%d,\"run\":\"%s\",\"kind\":\"measure\",\"iorate\":%s,"
        "\"iorate_text\":%s,\"for\":\"\",\"elapsed_s\":2.0,\"warmup_s\":1.0,"
        "\"interval_s\":1.0,\"xfersize\":\"4k\",\"threads\":\"8\",\"rdpct\":"
        "\"66\",\"seekpct\":\"100\",\"state\":\"done\",\"verdict\":"
        "\"complete\",\"error\":null,\"started\":\"2026-01-31T12:00:00.000Z\","
        "\"window_end\":\"2026-01-31T12:00:03.001Z\",\"window_s\":2.0,"
        "\"start_spread_us\":5.5,\"start_uncertainty_us\":20.0,"
        "\"warmup_intervals\":1,\"measured_intervals\":2,"
        "\"without_first\":null,\"lost\":[],\"stuck\":[],\"idle_drives\":[],"
        "\"failures\":{\"count\":0,\"kinds\":[],\"first\":[]},"
        "\"total\":{" FIGURES "},\"next_interval\":null%s}",
        number, run, rate, rate, more);
}

/* Hands one document over, as pieces_fetch() does. */
static inline void give_phase(struct sink sink, const json_t *phase)
{
    struct diag diag = {0};

    if (sink.phase != NULL)
        ck_assert_int_eq(sink.phase(sink.self, phase, &diag), 0);
    if (sink.want_rows)
        ck_assert_int_eq(sink.rows(sink.self, phase, phase, &diag), 0);
    if (sink.phase_end != NULL)
        ck_assert_int_eq(sink.phase_end(sink.self, phase, &diag), 0);
}

static inline void give_head(struct sink sink, const json_t *head)
{
    struct diag diag = {0};

    ck_assert_int_eq(sink.head(sink.self, head, &diag), 0);
}

#endif
