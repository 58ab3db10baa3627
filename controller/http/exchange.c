#include "controller/http/inside.h"

#include "common/json.h"
#include "controller/http/guard.h"
#include "controller/http/submission.h"
#include "controller/web/web.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_TYPE "application/json"

/* The page loads nothing from elsewhere, and nobody may frame it. */
#define PAGE_POLICY                                                            \
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "    \
    "data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
/* A report is a file of its own that needs nothing. */
#define REPORT_POLICY                                                          \
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "           \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* ---- Waking and answering --------------------------------------------------
 */

void exchange_wake(struct exchange *x)
{
    if (!x->suspended)
        return;
    x->suspended = false;
    MHD_resume_connection(x->connection);
    http_stir(x->http);
}

static void suspend(struct exchange *x)
{
    x->suspended = true;
    MHD_suspend_connection(x->connection);
}

static void add_header(struct MHD_Response *response, const char *name,
                       const char *value)
{
    (void)MHD_add_response_header(response, name, value);
}

/* Takes the response; NULL: memory ran out, the connection is dropped. */
static void answer(struct exchange *x, unsigned status, const char *type,
                   struct MHD_Response *response)
{
    bool report = x->route.kind == ROUTE_REPORT;

    if (response != NULL) {
        add_header(response, "Content-Type", type);
        add_header(response, "Cache-Control", "no-store");
        add_header(response, "X-Content-Type-Options", "nosniff");
        add_header(response, "Referrer-Policy", "no-referrer");
        add_header(response, "Content-Security-Policy",
                   report ? REPORT_POLICY : PAGE_POLICY);
        if (x->route.allow != NULL)
            add_header(response, "Allow", x->route.allow);
    }
    x->response = response;
    x->status = status;
    x->state = EXCHANGE_ANSWERING;
    exchange_wake(x);
}

void exchange_answer(struct exchange *x, unsigned status, const char *type,
                     char *text, size_t length)
{
    struct MHD_Response *response =
        text == NULL ? NULL
                     : MHD_create_response_from_buffer(length, text,
                                                       MHD_RESPMEM_MUST_FREE);

    if (response == NULL)
        free(text);
    answer(x, status, type, response);
}

void exchange_refuse(struct exchange *x, unsigned status, const char *error)
{
    json_t *document = json_pack("{s:s, s:n}", "error", error, "verdict");
    char *text = json_dumps(document, JSON_COMPACT | JSON_FORM);

    json_decref(document);
    exchange_answer(x, status, JSON_TYPE, text,
                    text == NULL ? 0 : strlen(text));
}

/* ---- Answers that come bit by bit ------------------------------------------
 */

/* Something to read, or the end; else the connection is suspended. */
static bool has_more(struct exchange *x)
{
    if (x->out_sent < x->out_length)
        return true;
    x->out_length = x->out_sent = 0;
    if (x->is_stream)
        return stream_next(x);
    if (!x->out_end)
        paper_read(x);
    return x->out_length > 0;
}

static ssize_t on_read(void *data, uint64_t position, char *into, size_t room)
{
    struct exchange *x = data;
    size_t length;

    (void)position;
    if (!has_more(x)) {
        if (x->out_end || x->http->closing)
            return MHD_CONTENT_READER_END_OF_STREAM;
        suspend(x);
        return 0;
    }
    length = x->out_length - x->out_sent;
    if (length > room)
        length = room;
    memcpy(into, x->out + x->out_sent, length);
    x->out_sent += length;
    return (ssize_t)length;
}

void exchange_stream(struct exchange *x, const char *type,
                     const char *file_name)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, 32768, on_read, x, NULL);
    char value[128];

    if (response != NULL && file_name != NULL) {
        (void)snprintf(value, sizeof(value), "attachment; filename=\"%s\"",
                       file_name);
        add_header(response, "Content-Disposition", value);
    }
    answer(x, MHD_HTTP_OK, type, response);
}

/* ---- Asking the fleet ------------------------------------------------------
 */

void exchange_ask(struct exchange *x, const struct wire_request *request,
                  void (*answered)(void *data, struct ask_answer answer))
{
    const struct link_peer peer = {
        .address = x->peer.address,
        .name = x->peer.name,
        .role = x->peer.role,
    };

    x->ask = ask_new(x->http->door, &peer, request, answered, x);
    if (x->ask != NULL)
        return;
    if (x->state != EXCHANGE_ANSWERING)
        exchange_refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE,
                        "the controller has too many connections");
    x->out_end = true;
    exchange_wake(x);
}

static unsigned http_status(const struct exchange *x, uint32_t status)
{
    bool submits = x->route.kind == ROUTE_SUBMIT;

    if (status == 2)
        return submits ? MHD_HTTP_UNPROCESSABLE_CONTENT : MHD_HTTP_NOT_FOUND;
    if (status == 1)
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    return submits && !x->checks ? MHD_HTTP_CREATED : MHD_HTTP_OK;
}

void exchange_pass(void *exchange, struct ask_answer from)
{
    struct exchange *x = exchange;

    x->ask = NULL;
    exchange_answer(x, http_status(x, from.status), JSON_TYPE, from.text,
                    from.length);
}

static void ask_about(struct exchange *x, enum wire_request_kind kind)
{
    const char *interval = MHD_lookup_connection_value(
        x->connection, MHD_GET_ARGUMENT_KIND, "interval");
    const char *cells = MHD_lookup_connection_value(
        x->connection, MHD_GET_ARGUMENT_KIND, "cells");
    const char *brief = MHD_lookup_connection_value(
        x->connection, MHD_GET_ARGUMENT_KIND, "brief");
    const struct wire_request request = {
        .kind = kind,
        .campaign = x->route.campaign,
        .phase = x->route.run,
        .interval = interval == NULL ? 0 : strtoull(interval, NULL, 10),
        .brief = brief != NULL && strcmp(brief, "1") == 0,
        .cells = cells != NULL && strcmp(cells, "1") == 0,
    };

    exchange_ask(x, &request, exchange_pass);
}

static void submit(struct exchange *x)
{
    struct submission submission;
    struct diag diag = {0};

    if (submission_parse(x->body, x->body_length, &submission, &diag) < 0) {
        exchange_refuse(x, MHD_HTTP_BAD_REQUEST, diag.text);
        return;
    }
    x->checks = submission.submit.plan != WIRE_PLAN_NONE;
    exchange_ask(x,
                 &(struct wire_request){
                     .kind = WIRE_REQUEST_SUBMIT,
                     .campaign = "",
                     .submit = submission.submit,
                 },
                 exchange_pass);
    submission_done(&submission);
}

/* ---- Answers of our own ----------------------------------------------------
 */

/* Who asks, and what he may do. */
static void tell_controller(struct exchange *x)
{
    const struct fleet *fleet = x->http->fleet;
    char id[UUID_TEXT_SIZE];
    json_t *document = json_pack(
        "{s:s, s:I, s:s, s:s, s:s, s:b, s:s?}", "controller",
        uuid_format(fleet_controller(fleet), id), "epoch",
        (json_int_t)fleet_epoch(fleet), "version", LOCKSTEP_VERSION, "user",
        x->peer.name, "role", tls_role_name(x->peer.role), "may_change",
        x->peer.may_change, "why_not",
        x->peer.may_change ? NULL
        : x->peer.role == TLS_ROLE_VIEWER
            ? "this certificate is a viewer's: it watches and reads, and "
              "starts or stops no campaign"
            : "this address is for looking: the lab has keys, and without a "
              "certificate nobody starts or stops a campaign");
    char *text = json_dumps(document, JSON_COMPACT | JSON_FORM);

    json_decref(document);
    exchange_answer(x, MHD_HTTP_OK, JSON_TYPE, text,
                    text == NULL ? 0 : strlen(text));
}

static void tell_file(struct exchange *x, const char *path)
{
    struct web_file file;
    union {
        const char *in;
        void *out;
    } data;

    if (!web_find(path, &file)) {
        exchange_refuse(x, MHD_HTTP_NOT_FOUND,
                        "there is nothing here; the API is described by "
                        "/api/v1/openapi.json");
        return;
    }
    data.in = file.data;
    answer(x, MHD_HTTP_OK, file.type,
           MHD_create_response_from_buffer(file.length, data.out,
                                           MHD_RESPMEM_PERSISTENT));
}

/* ---- What is asked for -----------------------------------------------------
 */

static void dispatch(struct exchange *x, const char *path)
{
    switch (x->route.kind) {
    case ROUTE_FILE:
        tell_file(x, path);
        break;
    case ROUTE_CONTROLLER:
        tell_controller(x);
        break;
    case ROUTE_HOSTS:
        ask_about(x, WIRE_REQUEST_HOSTS);
        break;
    case ROUTE_DRIVES:
        ask_about(x, WIRE_REQUEST_DRIVES);
        break;
    case ROUTE_CAMPAIGNS:
        ask_about(x, WIRE_REQUEST_CAMPAIGNS);
        break;
    case ROUTE_STATUS:
        ask_about(x, WIRE_REQUEST_STATUS);
        break;
    case ROUTE_SHOW:
        ask_about(x, WIRE_REQUEST_SHOW);
        break;
    case ROUTE_RUNS:
        ask_about(x, WIRE_REQUEST_RUNS);
        break;
    case ROUTE_RUN:
        ask_about(x, WIRE_REQUEST_EXPORT);
        break;
    case ROUTE_LIVE:
        ask_about(x, WIRE_REQUEST_LIVE);
        break;
    case ROUTE_STOP:
        ask_about(x, WIRE_REQUEST_STOP);
        break;
    case ROUTE_SUBMIT:
        submit(x);
        break;
    case ROUTE_REPORT:
    case ROUTE_CSV:
    case ROUTE_JSON:
    case ROUTE_COMPARE:
        paper_begin(x);
        break;
    case ROUTE_EVENTS:
        stream_begin(x);
        break;
    case ROUTE_METRICS:
        scrape_begin(x);
        break;
    case ROUTE_UNKNOWN:
        if (x->route.allow != NULL)
            exchange_refuse(x, MHD_HTTP_METHOD_NOT_ALLOWED,
                            "this path has no such method");
        else
            exchange_refuse(x, MHD_HTTP_NOT_FOUND, "there is nothing here");
        break;
    }
}

static const char *header(const struct exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static enum route_method method_of(const char *method)
{
    if (strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
        strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
        return ROUTE_GET;
    return strcmp(method, MHD_HTTP_METHOD_POST) == 0 ? ROUTE_POST : ROUTE_OTHER;
}

/* The request is whole. */
static void begin(struct exchange *x, const char *path, const char *method)
{
    enum route_method verb = method_of(method);
    const struct guard_request request = {
        .host = header(x, MHD_HTTP_HEADER_HOST),
        .origin = header(x, "Origin"),
        .fetch_site = header(x, "Sec-Fetch-Site"),
        .content_type = header(x, MHD_HTTP_HEADER_CONTENT_TYPE),
        .changes = verb == ROUTE_POST,
        .loopback = x->http->tls == NULL,
    };
    struct diag diag = {0};
    unsigned status = guard_check(&request, &diag);

    x->state = EXCHANGE_WAITING;
    if (status == 0 && peer_of(x->http, x->connection, &x->peer, &diag) < 0)
        status = MHD_HTTP_FORBIDDEN;
    if (status == 0 && verb == ROUTE_POST && !x->peer.may_change) {
        (void)diag_set(&diag, -EACCES,
                       "this needs an operator's certificate: the lab has "
                       "keys; use the shell with --keys, or https");
        status = MHD_HTTP_FORBIDDEN;
    }
    if (status == 0 && x->body_too_long) {
        (void)diag_set(&diag, -EFBIG, "the body is longer than 2 MiB");
        status = MHD_HTTP_CONTENT_TOO_LARGE;
    }
    if (status != 0) {
        exchange_refuse(x, status, diag.text);
        return;
    }
    x->route = route_find(verb, path);
    dispatch(x, path);
}

/* ---- From libmicrohttpd ----------------------------------------------------
 */

static struct exchange *exchange_new(struct http *http,
                                     struct MHD_Connection *connection)
{
    struct exchange *x = calloc(1, sizeof(*x));

    if (x == NULL)
        return NULL;
    x->http = http;
    x->connection = connection;
    x->next = http->exchanges;
    http->exchanges = x;
    return x;
}

static void take_body(struct exchange *x, const char *data, size_t size)
{
    char *more;

    if (x->body_too_long || x->body_length + size > HTTP_BODY_MAX) {
        x->body_too_long = true;
        return;
    }
    more = realloc(x->body, x->body_length + size);
    if (more == NULL) {
        x->body_too_long = true;
        return;
    }
    memcpy(more + x->body_length, data, size);
    x->body = more;
    x->body_length += size;
}

/* The answer that has been made; without memory for one, the end. */
static enum MHD_Result queue(struct exchange *x)
{
    enum MHD_Result result = MHD_NO;

    if (x->response != NULL)
        result = MHD_queue_response(x->connection, x->status, x->response);
    MHD_destroy_response(x->response);
    x->response = NULL;
    return result;
}

enum MHD_Result exchange_handle(void *data, struct MHD_Connection *connection,
                                const char *url, const char *method,
                                const char *version, const char *body,
                                size_t *size, void **at)
{
    struct http *http = data;
    struct exchange *x = *at;

    (void)version;
    if (x == NULL) { /* the header alone; it comes again */
        *at = exchange_new(http, connection);
        return *at == NULL || http->closing ? MHD_NO : MHD_YES;
    }
    if (*size > 0) {
        take_body(x, body, *size);
        *size = 0;
        return MHD_YES;
    }
    if (x->state == EXCHANGE_READING)
        begin(x, url, method);
    if (x->state == EXCHANGE_ANSWERING)
        return queue(x);
    if (http->closing)
        return MHD_NO;
    suspend(x);
    return MHD_YES;
}

struct exchange *exchange_free(struct exchange *x)
{
    if (x->response != NULL)
        MHD_destroy_response(x->response);
    scrape_done(&x->scrape);
    (void)render_free(x->render);
    free(x->piece.text);
    free(x->body);
    free(x->out);
    free(x);
    return NULL;
}

void exchange_completed(void *data, struct MHD_Connection *connection,
                        void **at, enum MHD_RequestTerminationCode code)
{
    struct http *http = data;
    struct exchange *x = *at;
    struct exchange **where = &http->exchanges;

    (void)connection;
    (void)code;
    if (x == NULL)
        return;
    *at = NULL;
    while (*where != x)
        where = &(*where)->next;
    *where = x->next;
    x->ask = ask_cancel(x->ask);
    if (x->is_stream)
        stream_end(x);
    x->gone = true;
    if (!x->working)
        exchange_free(x);
}
