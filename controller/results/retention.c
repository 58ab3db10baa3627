/* retention.c - see retention.h. */
#include "controller/results/retention.h"

#include <errno.h>

#include "controller/results/chunk.h"
#include "controller/results/results.h"
#include "controller/results/statement.h"

/* ---- One sample ------------------------------------------------------------
 */

/* 1 with the chunk without histograms, 0 where it has none, or -EBADMSG. */
static int thin_chunk(const uint8_t *data, size_t length, struct bytes *into)
{
    struct chunk_reader reader;
    struct sample_cell cell;
    bool thinned = false;
    int got = chunk_open(&reader, data, length);

    chunk_begin(into);
    if (got == 0)
        got = chunk_next(&reader, &cell);
    while (got == 1) {
        thinned = thinned || cell.service_length + cell.response_length > 0;
        cell.service_length = 0;
        cell.response_length = 0;
        chunk_put(into, &cell);
        got = chunk_next(&reader, &cell);
    }
    return got < 0 ? got : thinned;
}

static int rewrite(const struct retention *r, struct store_access *access,
                   const struct bytes *bytes, struct diag *diag)
{
    struct statement s;

    if (bytes->failed)
        return diag_set(diag, -ENOMEM, "the controller is out of memory");
    statement_begin(&s, access,
                    "UPDATE sample SET cells = ?5 WHERE phase = ?1 AND "
                    "interval = ?2 AND drain = ?3 AND host = ?4");
    statement_uint(&s, r->phase);
    statement_int(&s, r->interval);
    statement_int(&s, r->drain);
    statement_int(&s, r->host);
    statement_blob(&s, bytes->data, bytes->length);
    return statement_run(&s, diag);
}

/* The next sample of the phase: 1 with what is left of it in `into` (empty: it
 * stays as it is), 0 at the phase's end. */
static int next_sample(struct retention *r, struct store_access *access,
                       struct bytes *into, size_t *ret_length,
                       struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT interval, drain, host, cells FROM sample WHERE "
                    "phase = ?1 AND (interval, drain, host) > (?2, ?3, ?4) "
                    "ORDER BY interval, drain, host LIMIT 1");
    statement_uint(&s, r->phase);
    statement_int(&s, r->interval);
    statement_int(&s, r->drain);
    statement_int(&s, r->host);
    got = statement_step(&s, diag);
    if (got == 1) {
        const uint8_t *data;
        int thinned;

        r->interval = statement_get_int(&s);
        r->drain = statement_get_int(&s);
        r->host = statement_get_int(&s);
        data = statement_get_blob(&s, ret_length);
        thinned = thin_chunk(data, *ret_length, into);
        if (thinned < 1) /* what cannot be read is not made worse */
            into->length = 0;
    }
    statement_end(&s);
    return got;
}

/* ---- Phases ----------------------------------------------------------------
 */

static int next_phase(struct retention *r, struct store_access *access,
                      int64_t before_ns, struct diag *diag)
{
    struct statement s;
    int got;

    *r = (struct retention){.interval = -1};
    statement_begin(&s, access,
                    "SELECT p.id FROM phase p JOIN campaign c ON c.id = "
                    "p.campaign WHERE c.state = ?1 AND c.pinned = 0 AND "
                    "c.ended_ns < ?2 AND p.thinned = 0 ORDER BY p.id LIMIT 1");
    statement_int(&s, RESULTS_DONE);
    statement_int(&s, before_ns);
    got = statement_step(&s, diag);
    if (got == 1)
        r->phase = statement_get_uint(&s);
    statement_end(&s);
    return got;
}

static int end_phase(struct retention *r, struct store_access *access,
                     struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access, "UPDATE phase SET thinned = 1 WHERE id = ?1");
    statement_uint(&s, r->phase);
    r->phase = 0;
    return statement_run(&s, diag);
}

/* Samples until the phase's end or the limits of a step. */
static int thin_phase(struct retention *r, struct store_access *access,
                      struct diag *diag)
{
    size_t bytes = 0;
    int got = 1;

    for (unsigned i = 0;
         got == 1 && i < RETENTION_SAMPLES && bytes < RETENTION_BYTES; i++) {
        struct bytes chunk = {0};
        size_t length = 0;

        got = next_sample(r, access, &chunk, &length, diag);
        bytes += length;
        if (got == 1 && (chunk.failed || chunk.length > 0)) {
            int err = rewrite(r, access, &chunk, diag);

            got = err < 0 ? err : 1;
        }
        bytes_done(&chunk);
    }
    return got == 0 ? end_phase(r, access, diag) : got < 0 ? got : 0;
}

int retention_step(struct retention *retention, struct store_access *access,
                   int64_t before_ns, bool *ret_more, struct diag *diag)
{
    int got = 1;

    if (retention->phase == 0)
        got = next_phase(retention, access, before_ns, diag);
    *ret_more = got == 1;
    return got == 1 ? thin_phase(retention, access, diag) : got;
}
