/*
 * What failed in a phase: how often with which errno on which drive, and the
 * first requests as they were.  Warm-up and drain are in it as well.
 */
#include "controller/results/failure.h"
#include "controller/results/query_show.h"
#include "controller/results/totals.h"

#include <stdio.h>

#define FIRST_MAX "64" /* that a document shows */

static void put_errno(struct object *o, uint32_t err)
{
    char code[NAME_SIZE], words[TEXT_SIZE];

    object_put_count(o, "errno", err);
    object_put_text(o, "code", failure_code(err, code));
    object_put_text(o, "error", failure_words(err, words));
}

static int put_kinds(struct show *show, struct object *failures)
{
    json_t *array = json_array();
    uint64_t total = 0, count;
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT target, op, err, sum(count) FROM failure_count "
                    "WHERE phase = ? GROUP BY target, op, err "
                    "ORDER BY target, op, err");
    statement_uint(&s, show->phase.id);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object o = object_new();

        show_put_drive_name(show, &o, (uint32_t)statement_get_uint(&s));
        object_put_text(&o, "op", failure_op((uint32_t)statement_get_uint(&s)));
        put_errno(&o, (uint32_t)statement_get_uint(&s));
        count = statement_get_uint(&s);
        total += count;
        object_put_count(&o, "count", count);
        object_append(failures, array, &o);
    }
    statement_end(&s);
    object_put_count(failures, "count", total);
    object_put(failures, "kinds", array);
    return got;
}

static int put_first(struct show *show, struct object *failures)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT target, op, offset, length, err, transferred, "
                    "at_ns FROM failure WHERE phase = ? "
                    "ORDER BY at_ns, host, position LIMIT " FIRST_MAX);
    statement_uint(&s, show->phase.id);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object o = object_new();

        show_put_drive_name(show, &o, (uint32_t)statement_get_uint(&s));
        object_put_text(&o, "op", failure_op((uint32_t)statement_get_uint(&s)));
        object_put_count(&o, "offset", statement_get_uint(&s));
        object_put_count(&o, "length", statement_get_uint(&s));
        put_errno(&o, (uint32_t)statement_get_uint(&s));
        object_put_count(&o, "transferred", statement_get_uint(&s));
        object_put_real(&o, "at_s", (double)statement_get_int(&s) / NS_PER_S,
                        6);
        object_append(failures, array, &o);
    }
    statement_end(&s);
    object_put(failures, "first", array);
    return got;
}

int show_put_failures(struct show *show)
{
    struct object o = object_new();
    int err = put_kinds(show, &o);

    if (err == 0)
        err = put_first(show, &o);
    object_put_object(&show->o, "failures", &o);
    return err;
}

/* ---- For the verdict -------------------------------------------------------
 */

static int count_all(struct store_access *access, struct totals *totals,
                     struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT coalesce(sum(count), 0) FROM failure_count "
                    "WHERE phase = ?");
    statement_uint(&s, totals->phase);
    got = statement_step(&s, diag);
    if (got == 1)
        totals->failures = statement_get_uint(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

int totals_read_failures(struct store_access *access, struct totals *totals,
                         struct diag *diag)
{
    int err = count_all(access, totals, diag);
    struct statement s;
    int got;

    if (err < 0 || totals->failures == 0)
        return err;
    statement_begin(&s, access,
                    "SELECT h.label || ':' || t.sd, f.op, f.offset, f.length, "
                    "f.err FROM failure AS f "
                    "JOIN phase AS p ON p.id = f.phase "
                    "JOIN target AS t ON t.campaign = p.campaign "
                    "AND t.target = f.target "
                    "JOIN host AS h ON h.campaign = p.campaign "
                    "AND h.host = t.host "
                    "WHERE f.phase = ? ORDER BY at_ns, f.host, position "
                    "LIMIT 1");
    statement_uint(&s, totals->phase);
    got = statement_step(&s, diag);
    if (got == 1) {
        const char *drive = statement_get_text(&s);
        uint32_t op = (uint32_t)statement_get_uint(&s);
        uint64_t offset = statement_get_uint(&s);
        uint32_t length = (uint32_t)statement_get_uint(&s);

        failure_sentence(drive, op, offset, length,
                         (uint32_t)statement_get_uint(&s),
                         totals->first_failure, sizeof(totals->first_failure));
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}
