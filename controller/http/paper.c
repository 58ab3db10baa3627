/*
 * Reports, exports and comparisons: a piece from the fleet, printed by the
 * pool, then the next.  What is printed bit by bit waits for its reader.
 */
#include "controller/http/inside.h"

#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void next(struct exchange *x);

static bool is_by_bits(const struct exchange *x)
{
    return x->route.kind == ROUTE_CSV || x->route.kind == ROUTE_JSON;
}

/* ---- What was printed ------------------------------------------------------
 */

static bool add_out(struct exchange *x, const char *text, size_t length)
{
    char *more;

    if (length == 0)
        return true;
    if (x->out_sent > 0) {
        x->out_length -= x->out_sent;
        memmove(x->out, x->out + x->out_sent, x->out_length);
        x->out_sent = 0;
    }
    more = realloc(x->out, x->out_length + length);
    if (more == NULL)
        return false;
    memcpy(more + x->out_length, text, length);
    x->out = more;
    x->out_length += length;
    return true;
}

static bool take_output(struct exchange *x)
{
    size_t length;
    const char *text = render_output(x->render, &length);
    bool taken = add_out(x, text, length);

    render_taken(x->render);
    return taken;
}

static void answer_whole(struct exchange *x)
{
    char *text = x->out;
    size_t length = x->out_length;

    x->out = NULL;
    x->out_length = 0;
    exchange_answer(x, MHD_HTTP_OK,
                    x->route.kind == ROUTE_REPORT ? "text/html; charset=utf-8"
                                                  : "application/json",
                    text, length);
}

static void answer_bits(struct exchange *x)
{
    bool csv = x->route.kind == ROUTE_CSV;
    char name[NAME_SIZE + 32];

    (void)snprintf(name, sizeof(name), "lockstep-%s.%s",
                   x->route.campaign[0] == '\0' ? "newest" : x->route.campaign,
                   csv ? "csv" : "json");
    exchange_stream(x, csv ? "text/csv; charset=utf-8" : "application/json",
                    name);
}

/* Before anything was sent a failure has a status; later the text says it. */
static void fail(struct exchange *x, unsigned status, const char *error)
{
    log_debug(NULL, "a page's paper: %s", error);
    if (x->state != EXCHANGE_ANSWERING) {
        exchange_refuse(x, status, error);
        return;
    }
    render_break(x->render, error);
    x->out_end = true;
    (void)take_output(x);
    exchange_wake(x);
}

/* ---- The pool --------------------------------------------------------------
 */

static void on_work(uv_work_t *work)
{
    struct exchange *x = work->data;

    x->work_err =
        render_take(x->render, x->piece.text, x->piece.length, &x->work_diag);
}

static void on_worked(uv_work_t *work, int status)
{
    struct exchange *x = work->data;
    struct render_piece piece;

    x->working = false;
    free(x->piece.text);
    x->piece.text = NULL;
    if (x->gone || status != 0) {
        if (x->gone)
            exchange_free(x);
        return;
    }
    if (x->work_err == 0 && !take_output(x))
        x->work_err = diag_set(&x->work_diag, -ENOMEM, "out of memory");
    if (x->work_err < 0) {
        fail(x, MHD_HTTP_INTERNAL_SERVER_ERROR, x->work_diag.text);
        return;
    }
    x->out_end = !render_wants(x->render, &piece);
    if (!is_by_bits(x) && x->out_end)
        answer_whole(x);
    else if (is_by_bits(x) && x->state == EXCHANGE_WAITING)
        answer_bits(x);
    else if (is_by_bits(x))
        exchange_wake(x);
    next(x);
}

/* {"error": ...} of an answer that is none. */
static void fail_as(struct exchange *x, const struct ask_answer *from)
{
    json_t *json = from->text == NULL
                       ? NULL
                       : json_loadb(from->text, from->length, 0, NULL);
    const char *error = json_string_value(json_object_get(json, "error"));

    fail(x,
         from->status == 2 ? MHD_HTTP_NOT_FOUND
                           : MHD_HTTP_INTERNAL_SERVER_ERROR,
         error != NULL ? error : "the controller is out of memory");
    json_decref(json);
}

static void on_piece(void *data, struct ask_answer from)
{
    struct exchange *x = data;

    x->ask = NULL;
    if (from.status != 0 && from.text != NULL && x->piece.text == NULL) {
        fail_as(x, &from);
        free(from.text);
        return;
    }
    x->piece = from;
    x->work.data = x;
    x->working = true;
    if (from.text == NULL ||
        uv_queue_work(x->http->poll.loop, &x->work, on_work, on_worked) != 0) {
        x->working = false;
        fail(x, MHD_HTTP_INTERNAL_SERVER_ERROR,
             "the controller is out of memory");
    }
}

/* Fetches the next piece, unless enough waits to be read. */
static void next(struct exchange *x)
{
    struct render_piece piece;

    if (x->working || x->ask != NULL || x->http->closing ||
        !render_wants(x->render, &piece) ||
        (is_by_bits(x) && x->out_length - x->out_sent > HTTP_OUT_MAX))
        return;
    exchange_ask(x,
                 &(struct wire_request){
                     .kind = WIRE_REQUEST_EXPORT,
                     .campaign = piece.campaign,
                     .phase = piece.phase,
                     .interval = piece.interval,
                     .brief = piece.brief,
                 },
                 on_piece);
}

void paper_read(struct exchange *x)
{
    next(x);
}

/* ---- The request -----------------------------------------------------------
 */

struct arguments {
    struct exchange *x;
    struct diag diag;
    int err;
    size_t sides;
};

static enum MHD_Result on_argument(void *data, enum MHD_ValueKind kind,
                                   const char *key, const char *value)
{
    struct arguments *a = data;

    (void)kind;
    if (a->err == 0 && strcmp(key, "side") == 0 && value != NULL) {
        a->err = render_add(a->x->render, value, &a->diag);
        a->sides++;
    }
    if (a->err == 0 && strcmp(key, "fail_if") == 0 && value != NULL)
        a->err = render_add_bound(a->x->render, value, &a->diag);
    return a->err == 0 ? MHD_YES : MHD_NO;
}

static int take_arguments(struct exchange *x, struct diag *diag)
{
    struct arguments a = {.x = x};

    if (x->route.kind != ROUTE_COMPARE)
        return render_add(x->render, x->route.campaign, diag);
    (void)MHD_get_connection_values(x->connection, MHD_GET_ARGUMENT_KIND,
                                    on_argument, &a);
    if (a.err == 0 && a.sides < 2)
        return diag_set(diag, -EINVAL,
                        "a comparison needs two sides: "
                        "/api/v1/compare?side=1&side=2");
    *diag = a.diag;
    return a.err;
}

void paper_begin(struct exchange *x)
{
    static const enum render_kind kinds[] = {
        [ROUTE_REPORT] = RENDER_REPORT,
        [ROUTE_CSV] = RENDER_CSV,
        [ROUTE_JSON] = RENDER_JSON,
        [ROUTE_COMPARE] = RENDER_COMPARE,
    };
    struct diag diag = {0};

    x->render = render_new(kinds[x->route.kind]);
    if (x->render == NULL)
        exchange_refuse(x, MHD_HTTP_INTERNAL_SERVER_ERROR,
                        "the controller is out of memory");
    else if (take_arguments(x, &diag) < 0)
        exchange_refuse(x, MHD_HTTP_BAD_REQUEST, diag.text);
    else
        next(x);
}
