/*
 * lab.h - results with a store in a fresh directory, a clock that the test
 * moves, and a handler that notes what it is told.
 */
#ifndef TESTS_UNIT_RESULTS_LAB_H
#define TESTS_UNIT_RESULTS_LAB_H

#include "common/uuid.h"
#include "controller/results/results.h"
#include "tests/support/suite.h"
#include "tests/unit/results/measure.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <semaphore.h>
#include <sqlite3.h>

#define LAB_HOSTS  64u
#define LAB_EVENTS 4096u

struct lab {
    char path[PATH_SIZE];
    struct clock_manual clock;
    struct results *results;
    sem_t woken;
    bool threads;
    uint64_t retention_ns;
    /* What the handler was told. */
    uint64_t stored[LAB_HOSTS];
    uint32_t stored_calls;
    json_t *events; /* an array */
    uint32_t phase_dones;
    struct results_total total;
    char first_failure[REASON_SIZE];
    uint32_t campaign_dones;
    uint32_t failures;
    struct diag failure;
    uint32_t remembered;
    char last_memory[64];       /* name and text */
    struct results_sum sums[8]; /* of the phase that was resumed */
    uint32_t sum_count;
    /* The last answer. */
    json_t *answer;
    int answer_err;
    uint32_t answers;
};

static inline void lab_stored(void *data, const struct uuid *campaign,
                              uint32_t phase, uint32_t host, uint64_t next)
{
    struct lab *lab = data;

    (void)campaign;
    (void)phase;
    lab->stored[host] = next;
    lab->stored_calls++;
}

/* Strict: what does not parse, or parses with an infinity, is a failure. */
static inline json_t *lab_parse(const char *text, size_t length)
{
    json_error_t error;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);

    ck_assert_msg(json != NULL, "%s in: %.200s", error.text, text);
    return json;
}

static inline void lab_event(void *data, const struct uuid *campaign,
                             struct results_event *event)
{
    struct lab *lab = data;
    size_t length;
    const char *text = results_event_text(event, &length);

    (void)campaign;
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(json_array_size(lab->events), LAB_EVENTS);
    json_array_append_new(lab->events, lab_parse(text, length));
}

static inline void lab_phase_done(void *data, const struct uuid *campaign,
                                  uint32_t phase,
                                  const struct results_total *total)
{
    struct lab *lab = data;

    (void)campaign;
    (void)phase;
    lab->phase_dones++;
    lab->total = *total;
    (void)snprintf(lab->first_failure, sizeof(lab->first_failure), "%s",
                   total->first_failure);
}

static inline void lab_remembered(void *data, const struct uuid *campaign,
                                  const struct results_memory *memory,
                                  bool stored)
{
    struct lab *lab = data;

    (void)campaign;
    lab->remembered += stored ? 1 : 0;
    (void)snprintf(lab->last_memory, sizeof(lab->last_memory), "%s %s",
                   memory->name, memory->text);
}

static inline void lab_resumed(void *data, const struct uuid *campaign,
                               uint32_t phase, const struct results_past *past)
{
    struct lab *lab = data;

    (void)campaign;
    (void)phase;
    ck_assert_uint_le(past->sum_count, ARRAY_LENGTH(lab->sums));
    lab->sum_count = past->sum_count;
    memcpy(lab->sums, past->sums, past->sum_count * sizeof(lab->sums[0]));
}

static inline void lab_campaign_done(void *data, const struct uuid *campaign)
{
    struct lab *lab = data;

    (void)campaign;
    lab->campaign_dones++;
}

static inline void lab_failed(void *data, const struct uuid *campaign,
                              const struct diag *why)
{
    struct lab *lab = data;

    (void)campaign;
    lab->failures++;
    lab->failure = *why;
}

static inline void lab_wake(void *data)
{
    struct lab *lab = data;

    (void)sem_post(&lab->woken);
}

static inline int lab_open(struct lab *lab, struct diag *diag)
{
    static const struct results_handler handler = {
        .stored = lab_stored,
        .event = lab_event,
        .phase_done = lab_phase_done,
        .remembered = lab_remembered,
        .resumed = lab_resumed,
        .campaign_done = lab_campaign_done,
        .failed = lab_failed,
    };
    const struct results_options options = {
        .path = lab->path,
        .version = "1.2.3",
        .clock = &lab->clock.clock,
        .handler = &handler,
        .wake = lab_wake,
        .data = lab,
        .threadless = !lab->threads,
        .retention_ns = lab->retention_ns,
    };

    return results_open(&options, &lab->results, diag);
}

static inline void lab_init(struct lab *lab, const char *directory,
                            bool threads)
{
    struct diag diag = {0};

    memset(lab, 0, sizeof(*lab));
    (void)snprintf(lab->path, sizeof(lab->path), "%s/store.db", directory);
    clock_manual_init(&lab->clock, 1000 * NS_PER_S);
    lab->clock.wall_ns = INT64_C(1790000000) * (int64_t)NS_PER_S;
    (void)sem_init(&lab->woken, 0, 0);
    lab->threads = threads;
    lab->events = json_array();
    ck_assert_msg(lab_open(lab, &diag) == 0, "%s", diag.text);
}

static inline void lab_done(struct lab *lab)
{
    lab->results = results_close(lab->results);
    json_decref(lab->events);
    json_decref(lab->answer);
    (void)sem_destroy(&lab->woken);
}

/* Polls until `*counter` has reached `value`. */
static inline void lab_until(struct lab *lab, const uint32_t *counter,
                             uint32_t value)
{
    (void)results_poll(lab->results);
    while (*counter < value) {
        if (lab->threads)
            while (sem_wait(&lab->woken) != 0)
                ;
        (void)results_poll(lab->results);
    }
}

static inline void lab_answered(void *data, const struct results_answer *answer)
{
    struct lab *lab = data;

    lab->answers++;
    lab->answer_err = answer->err;
    json_decref(lab->answer);
    lab->answer =
        answer->length == 0 ? NULL : lab_parse(answer->text, answer->length);
}

static inline json_t *lab_ask(struct lab *lab, enum results_query query,
                              const char *campaign)
{
    uint32_t before = lab->answers;

    ck_assert_int_eq(
        results_query(lab->results, query, campaign, lab_answered, lab), 0);
    lab_until(lab, &lab->answers, before + 1);
    return lab->answer;
}

/* ---- A campaign ------------------------------------------------------------
 */

static inline uint64_t lab_campaign(struct lab *lab, const struct plan *plan,
                                    struct uuid *ret_id)
{
    static const struct results_file file = {"a.parm", "sd=sd1\n", 7};
    static const char *const variables[] = {"disk=/dev/x"};
    struct results_campaign campaign = {
        .id = uuid_random(),
        .name = "a.parm",
        .who = "ann from shell",
        .files = &file,
        .file_count = 1,
        .variables = variables,
        .variable_count = 1,
    };
    struct diag diag = {0};
    uint64_t number = 0;

    ck_assert_int_eq(
        results_campaign_add(lab->results, &campaign, &number, &diag), 0);
    ck_assert_int_eq(results_campaign_plan(lab->results, &campaign.id, plan,
                                           NULL, NULL, &diag),
                     0);
    ck_assert_int_eq(results_campaign_state(lab->results, &campaign.id,
                                            RESULTS_RUNNING, NULL),
                     0);
    *ret_id = campaign.id;
    return number;
}

/* Begins and starts a phase at this instant. */
static inline void lab_begin(struct lab *lab, const struct uuid *id,
                             uint32_t phase, double iorate, uint32_t warmup,
                             uint64_t measured)
{
    const struct results_phase asked = {iorate, warmup, measured};
    struct diag diag = {0};

    ck_assert_msg(results_phase_begin(lab->results, id, phase, &asked, &diag) ==
                      0,
                  "%s", diag.text);
    ck_assert_int_eq(results_phase_started(lab->results, id, phase,
                                           lab->clock.now_ns, 20000),
                     0);
}

static inline void lab_sample(struct lab *lab, const struct uuid *id,
                              uint32_t phase, struct sample *sample)
{
    struct diag diag = {0};
    int err = results_sample(lab->results, id, phase, sample, &diag);

    ck_assert_msg(err == 0, "%s", diag.text);
}

static inline void lab_end(struct lab *lab, const struct uuid *id,
                           uint32_t phase, enum verdict verdict,
                           const char *error)
{
    uint32_t before = lab->phase_dones;

    ck_assert_int_eq(
        results_phase_end(lab->results, id, phase, VERDICT_NONE, NULL), 0);
    lab_until(lab, &lab->phase_dones, before + 1);
    ck_assert_int_eq(
        results_phase_verdict(lab->results, id, phase, verdict, error), 0);
}

static inline void lab_finish(struct lab *lab, const struct uuid *id,
                              enum verdict verdict, const char *error)
{
    uint32_t before = lab->campaign_dones;

    ck_assert_int_eq(results_campaign_end(lab->results, id, verdict, error), 0);
    lab_until(lab, &lab->campaign_dones, before + 1);
}

/* ---- Looking ---------------------------------------------------------------
 */

/* One number by SQL, from a connection of its own: as a stranger sees it. */
static inline int64_t lab_sql(const struct lab *lab, const char *sql)
{
    sqlite3_stmt *s = NULL;
    sqlite3 *db = NULL;
    int64_t value;

    ck_assert_int_eq(
        sqlite3_open_v2(lab->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK,
                  "%s: %s", sqlite3_errmsg(db), sql);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    value = sqlite3_column_int64(s, 0);
    (void)sqlite3_finalize(s);
    (void)sqlite3_close(db);
    return value;
}

/* "a.b.0.c": a value within a document. */
static inline json_t *at(json_t *json, const char *path)
{
    char key[64];

    while (*path != '\0' && json != NULL) {
        size_t length = strcspn(path, ".");

        ck_assert_uint_lt(length, sizeof(key));
        memcpy(key, path, length);
        key[length] = '\0';
        json = json_is_array(json)
                   ? json_array_get(json, strtoul(key, NULL, 10))
                   : json_object_get(json, key);
        path += length + (path[length] == '.' ? 1 : 0);
    }
    ck_assert_msg(json != NULL, "no %s in the document", path);
    return json;
}

static inline double number_at(json_t *json, const char *path)
{
    json_t *value = at(json, path);

    ck_assert_msg(json_is_number(value), "%s is no number", path);
    return json_number_value(value);
}

static inline const char *text_at(json_t *json, const char *path)
{
    json_t *value = at(json, path);

    ck_assert_msg(json_is_string(value), "%s is no text", path);
    return json_string_value(value);
}

static inline bool null_at(json_t *json, const char *path)
{
    return json_is_null(at(json, path));
}

/* How many events of a kind came. */
static inline size_t count_events(const struct lab *lab, const char *kind)
{
    size_t count = 0, i;
    json_t *event;

    json_array_foreach(lab->events, i, event)
    {
        if (strcmp(text_at(event, "event"), kind) == 0)
            count++;
    }
    return count;
}

/* The n-th event of a kind. */
static inline json_t *event_at(const struct lab *lab, const char *kind,
                               size_t n)
{
    size_t i;
    json_t *event;

    json_array_foreach(lab->events, i, event)
    {
        if (strcmp(text_at(event, "event"), kind) == 0 && n-- == 0)
            return event;
    }
    ck_abort_msg("there is no such event %s", kind);
    return NULL;
}

#endif
