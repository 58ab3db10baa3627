/*
 * proof.h - what a parameter does to the I/O that is issued.
 *
 * A proof is a parameter file with an @ in it, what to put there, and a check
 * of what comes out.  The file goes the whole way: read, expanded, placed,
 * encoded as Prepare, decoded by the agent, run by its workers on a clock that
 * the test moves, with an engine that writes down every request.  With the
 * parameter the check must hold; without it, it must not: so no check can pass
 * that does not see the parameter's effect.
 *
 * Every parameter of the table that works has a row in the proofs of its
 * section: here, or in another test that the row names (ELSEWHERE).
 *
 * Drives have 64 MiB; "/dev/x_16" has 16.  Paths outside /dev are files that we
 * made, as long as their size= or 64 MiB.  Requests take a millisecond.
 */
#ifndef TESTS_UNIT_LANGUAGE_PROOF_H
#define TESTS_UNIT_LANGUAGE_PROOF_H

#include "agent/codec.h"
#include "common/arena.h"
#include "controller/fleet/codec.h"
#include "controller/fleet/slice.h"
#include "controller/language/internal.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"
#include "tests/unit/agent/rig.h"

#include <errno.h>
#include <math.h>

#define KB UINT64_C(1024)
#define MB (1024 * KB)

/* One request. */
struct issued {
    uint64_t at_ns; /* from the start */
    uint64_t offset;
    uint32_t length;
    uint16_t target;
    uint8_t op;
};

/* A file, and what its latest run made the workers of one host issue. */
struct issue {
    struct parm parm;
    const struct plan *plan; /* NULL: the file is refused */
    struct rig rig;
    bool has_run;
    struct issued *ios; /* reads and writes, as they were submitted */
    uint32_t count;
    uint32_t capacity;
    uint32_t flushes;
    /* Of what was written: bytes, zeros among them, digests of its pieces. */
    uint32_t unit;
    uint64_t bytes;
    uint64_t zeros;
    uint64_t *digests;
    uint32_t digest_count;
    uint32_t digest_capacity;
};

/* ---- reading ---- */

static inline struct plan_facts issue_facts(const struct plan_target *target)
{
    const char *size = strchr(target->path, '_');
    struct plan_facts facts = {
        .is_block = strncmp(target->path, "/dev/", 5) == 0,
        .ours = true,
        .logical_block = 512,
        .size_bytes = 64 * MB,
        .device = target->path,
        .serial = target->path,
    };

    if (size != NULL)
        facts.size_bytes = strtoull(size + 1, NULL, 10) * MB;
    if (!facts.is_block && target->size_bytes > 0)
        facts.size_bytes = target->size_bytes;
    return facts;
}

#define ISSUE_PATTERN "0123456789abcdefghijklm" /* pattern=letters */

static inline int issue_include(void *user, const char *name, const char *from,
                                char **ret_text, size_t *ret_length)
{
    (void)user, (void)from;
    if (strcmp(name, LANGUAGE_PATTERN "letters") != 0)
        return -ENOENT;
    *ret_text = language_pattern_text((const uint8_t *)ISSUE_PATTERN,
                                      strlen(ISSUE_PATTERN));
    ck_assert_ptr_nonnull(*ret_text);
    *ret_length = strlen(*ret_text);
    return 0;
}

static inline void issue_read(struct issue *issue, const char *text)
{
    memset(issue, 0, sizeof(*issue));
    issue->unit = 4096;
    parm_expand_including(&issue->parm, text, NULL, issue_include);
    if (issue->parm.err < 0)
        return;
    for (uint32_t i = 0; i < issue->parm.plan->target_count; i++) {
        struct plan_facts facts = issue_facts(&issue->parm.plan->targets[i]);

        ck_assert_int_eq(plan_set_facts(issue->parm.plan, i, &facts), 0);
    }
    if (plan_place(issue->parm.plan, &issue->parm.report) == 0)
        issue->plan = issue->parm.plan;
}

/* ---- running ---- */

#define ISSUE_DIGEST UINT64_C(0xcbf29ce484222325) /* of nothing */

#define ISSUE_GROW(array, count, capacity)                                     \
    do {                                                                       \
        if ((count) == (capacity)) {                                           \
            (capacity) = (capacity) == 0 ? 4096 : (capacity)*2;                \
            (array) = realloc((array), (capacity) * sizeof(*(array)));         \
            ck_assert_ptr_nonnull(array);                                      \
        }                                                                      \
    } while (0)

static inline uint64_t issue_digest(uint64_t digest, uint8_t byte)
{
    return (digest ^ byte) * UINT64_C(0x100000001b3);
}

static inline void issue_note_data(struct issue *issue,
                                   const struct engine_io *io)
{
    const uint8_t *data = io->memory;
    uint64_t digest = 0;

    for (uint32_t i = 0; i < io->length; i++) {
        if (i % issue->unit == 0)
            digest = ISSUE_DIGEST;
        digest = issue_digest(digest, data[i]);
        issue->zeros += data[i] == 0;
        if (i % issue->unit != issue->unit - 1)
            continue;
        ISSUE_GROW(issue->digests, issue->digest_count, issue->digest_capacity);
        issue->digests[issue->digest_count++] = digest;
    }
    issue->bytes += io->length;
}

static inline void issue_note(struct rig *rig, const struct engine_io *io,
                              uint64_t number, uint64_t since_ns,
                              struct engine_null_fate *fate)
{
    struct issue *issue =
        (struct issue *)((char *)rig - offsetof(struct issue, rig));

    (void)number;
    fate->latency_ns = NS_PER_MS;
    if (io->op == ENGINE_FSYNC) {
        issue->flushes++;
        return;
    }
    ISSUE_GROW(issue->ios, issue->count, issue->capacity);
    issue->ios[issue->count++] = (struct issued){
        .at_ns = since_ns,
        .offset = io->offset,
        .length = io->length,
        .target = io->file,
        .op = io->op,
    };
    if (io->op == ENGINE_WRITE)
        issue_note_data(issue, io);
}

/* The job as the agent of `host` gets it, or NULL: it has no part. */
static inline struct job *issue_job(struct issue *issue, uint32_t run,
                                    uint32_t host, double rate)
{
    struct arena *arena = arena_new(WIRE_ARENA_BYTES);
    struct slice *slice = NULL;
    struct wire_out out = {.kind = WIRE_OUT_PREPARE};
    struct order order;
    struct diag diag = {0};
    struct job *job;
    uint8_t *body = NULL;
    size_t length = 0;

    ck_assert_ptr_nonnull(arena);
    memset(&order, 0, sizeof(order));
    ck_assert_uint_lt(run, issue->plan->run_count);
    if (slice_new(issue->plan, run, host, &slice) < 0) {
        arena_free(arena);
        return NULL;
    }
    out.prepare = (struct wire_prepare){
        .work = {.campaign = {{7}}, .epoch = 1},
        .plan = issue->plan,
        .slice = slice,
        .rate = rate,
        .seed = 1,
        .drain_limit_ns = 5 * NS_PER_S,
        .time_limit_ns = 3600 * NS_PER_S,
    };
    ck_assert_int_eq(wire_encode(&out, arena, &body, &length), 0);
    ck_assert_msg(codec_decode(body, length, &order, &diag) == 0, "%s",
                  diag.text);
    job = order.job;
    order.job = NULL;
    order_done(&order);
    free(body);
    slice_free(slice);
    arena_free(arena);
    return job;
}

static inline void issue_forget(struct issue *issue)
{
    if (issue->has_run)
        rig_done(&issue->rig);
    issue->has_run = false;
    issue->count = issue->flushes = issue->digest_count = 0;
    issue->bytes = issue->zeros = 0;
}

/* Runs one run on one host at `rate`; false: it has no part in it. */
static inline bool issue_run_at(struct issue *issue, uint32_t run,
                                uint32_t host, double rate)
{
    struct job *job = issue_job(issue, run, host, rate);

    issue_forget(issue);
    if (job == NULL)
        return false;
    rig_take_job(&issue->rig, job);
    issue->rig.fate = issue_note;
    issue->has_run = true;
    rig_run(&issue->rig);
    return true;
}

/* The same at the rate that the file asks for. */
static inline bool issue_run(struct issue *issue, uint32_t run, uint32_t host)
{
    const struct plan_rate *rate = &issue->plan->runs[run].rate;

    return issue_run_at(issue, run, host,
                        rate->kind == PLAN_RATE_FIXED ? rate->value : 0);
}

static inline void issue_done(struct issue *issue)
{
    issue_forget(issue);
    free(issue->ios);
    free(issue->digests);
    parm_done(&issue->parm);
}

/* ---- looking ---- */

/* Whether a share is what was asked, by five standard deviations. */
static inline bool share_is(uint64_t hits, uint64_t of, double asked)
{
    double bound = 5 * sqrt(asked * (1 - asked) / (double)of) + 1e-9;

    return of > 0 && fabs((double)hits / (double)of - asked) <= bound;
}

/* Requests that begin in low .. high of their drive. */
static inline uint64_t issued_within(const struct issue *issue, uint64_t low,
                                     uint64_t high)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < issue->count; i++)
        count += issue->ios[i].offset >= low && issue->ios[i].offset < high;
    return count;
}

static inline uint64_t issued_of_length(const struct issue *issue,
                                        uint32_t length)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < issue->count; i++)
        count += issue->ios[i].length == length;
    return count;
}

static inline uint64_t issued_reads(const struct issue *issue)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < issue->count; i++)
        count += issue->ios[i].op == ENGINE_READ;
    return count;
}

static inline uint64_t issued_on(const struct issue *issue, uint32_t target)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < issue->count; i++)
        count += issue->ios[i].target == target;
    return count;
}

/* All of one length? */
static inline bool issued_all_of(const struct issue *issue, uint32_t length)
{
    return issue->count > 0 && issued_of_length(issue, length) == issue->count;
}

/* The most requests outstanding at a time; each takes a millisecond. */
static inline uint32_t issued_outstanding(const struct issue *issue)
{
    uint32_t most = 0, first = 0;

    for (uint32_t i = 0; i < issue->count; i++) {
        while (issue->ios[first].at_ns + NS_PER_MS <= issue->ios[i].at_ns)
            first++;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return most;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* How many pieces were written for each that was different; and how many times
 * the most frequent one. */
static inline double issued_dedup(struct issue *issue, uint32_t *ret_most)
{
    uint32_t distinct = 0, most = 0, run = 0;

    qsort(issue->digests, issue->digest_count, sizeof(*issue->digests),
          by_value);
    for (uint32_t i = 0; i < issue->digest_count; i++) {
        run = i > 0 && issue->digests[i] == issue->digests[i - 1] ? run + 1 : 1;
        distinct += run == 1;
        most = run > most ? run : most;
    }
    *ret_most = most;
    return distinct == 0 ? 0 : (double)issue->digest_count / distinct;
}

/* ---- proofs ---- */

struct proof {
    const char *name;  /* in the table of parameters */
    const char *text;  /* each @ is where the parameter goes */
    const char *with;  /* what goes there */
    const char *where; /* another test that proves it; else NULL */
    bool (*holds)(struct issue *issue);
};

#define PROOF(name, text, with, holds)                                         \
    {                                                                          \
        name, text, with, NULL, holds                                          \
    }
#define ELSEWHERE(name, where)                                                 \
    {                                                                          \
        name, NULL, NULL, where, NULL                                          \
    }

static inline void proof_text(char *to, size_t size, const char *text,
                              const char *with)
{
    to[0] = '\0';
    for (; *text != '\0'; text++)
        if (*text == '@')
            parm_append(to, size, "%s", with);
        else
            parm_append(to, size, "%c", *text);
}

static inline bool proof_holds(const struct proof *proof, const char *with,
                               bool *ret_refused, char *messages, size_t size)
{
    static struct issue issue;
    char text[2048];
    bool holds;

    proof_text(text, sizeof(text), proof->text, with);
    issue_read(&issue, text);
    *ret_refused = issue.plan == NULL;
    (void)snprintf(messages, size, "%s\n%s", text, issue.parm.messages);
    holds = issue.plan != NULL && proof->holds(&issue);
    issue_done(&issue);
    return holds;
}

static inline void proof_check(const struct proof *proof)
{
    char messages[4096];
    bool refused;

    if (proof->where != NULL)
        return;
    ck_assert_msg(
        proof_holds(proof, proof->with, &refused, messages, sizeof(messages)),
        "%s= has not its effect%s in:\n%s", proof->name,
        refused ? ", it is refused," : "", messages);
    ck_assert_msg(
        !proof_holds(proof, "", &refused, messages, sizeof(messages)),
        "the proof of %s= does not see it, it holds without it in:\n%s",
        proof->name, messages);
}

/* Every parameter of the section that works has a proof, and no other has. */
static inline void proof_check_section(enum section section,
                                       const struct proof *proofs,
                                       uint32_t count)
{
    for (uint32_t i = 0; i < parameter_table_length; i++) {
        const struct parameter_kind *kind = &parameter_table[i];
        bool found = false;

        if (kind->section != section)
            continue;
        for (uint32_t k = 0; k < count; k++)
            found |= strcmp(proofs[k].name, kind->name) == 0;
        ck_assert_msg(found || kind->support != PARAMETER_WORKS,
                      "%s= of %s= works, but no proof shows from the I/O that "
                      "is issued that it does; add a row to the proofs of its "
                      "section",
                      kind->name, section_name(section));
        ck_assert_msg(!found || kind->support == PARAMETER_WORKS,
                      "%s= of %s= has a proof, but it does not work yet",
                      kind->name, section_name(section));
    }
    for (uint32_t k = 0; k < count; k++) {
        bool known = false;

        for (uint32_t i = 0; i < parameter_table_length; i++)
            known |= parameter_table[i].section == section &&
                     strcmp(parameter_table[i].name, proofs[k].name) == 0;
        ck_assert_msg(known, "%s= is no parameter", proofs[k].name);
    }
}

#endif
