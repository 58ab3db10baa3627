/*
 * inside.h - what the files of http/ share.
 *
 *   http.c      the server: sockets, libmicrohttpd, the loop
 *   peer.c      who is at the other end
 *   exchange.c  one request from its first byte to its answer
 *   scrape.c    the metrics, document by document
 *   paper.c     reports, exports, comparisons, piece by piece
 *   stream.c    events
 *
 *   state      leaves when                              to
 *   reading    the request is whole                     waiting or answering
 *   waiting    the fleet, or the pool, has answered     answering
 *   answering  the response is sent, or nobody reads    over: freed
 *
 * A connection whose exchange waits is suspended: libmicrohttpd leaves it alone
 * until exchange_wake().
 */
#ifndef CONTROLLER_HTTP_INSIDE_H
#define CONTROLLER_HTTP_INSIDE_H

#include <jansson.h>
#include <microhttpd.h>
#include <uv.h>

#include "common/base.h"
#include "common/tls.h"
#include "controller/http/ask.h"
#include "controller/http/feed.h"
#include "controller/http/http.h"
#include "controller/http/render.h"
#include "controller/http/route.h"

#define HTTP_BODY_MAX   (2u << 20) /* of a submission, escapes and all */
#define HTTP_OUT_MAX    (1u << 20) /* more is not made before it was read */
#define HTTP_SCRAPE_MAX 64u        /* campaigns in one scrape */

struct http {
    struct MHD_Daemon *daemon;
    struct door *door;
    struct fleet *fleet;
    struct tls_context *tls; /* NULL: served in clear */
    bool has_keys;           /* the lab has them: in clear, look only */
    char *url;
    uv_poll_t poll; /* libmicrohttpd's epoll */
    uv_timer_t timer;
    uv_timer_t beat;
    uv_prepare_t prepare;
    uint32_t handles; /* not closed yet */
    bool dirty;       /* a connection was resumed */
    bool closing;
    struct exchange *exchanges;
    struct feed feed;
    uint32_t readers; /* of it */
};

struct peer {
    char address[LINK_ADDRESS_SIZE];
    char name[NAME_SIZE];
    enum tls_role role;
    bool may_change;
};

struct scrape {
    json_t *hosts;
    uint64_t numbers[HTTP_SCRAPE_MAX];
    json_t *status[HTTP_SCRAPE_MAX];
    json_t *live[HTTP_SCRAPE_MAX];
    size_t count;
    size_t have; /* documents of campaigns, two each */
};

enum exchange_state {
    EXCHANGE_READING,
    EXCHANGE_WAITING,
    EXCHANGE_ANSWERING,
};

struct exchange {
    struct http *http;
    struct exchange *next;
    struct MHD_Connection *connection;
    enum exchange_state state;
    bool suspended;
    struct route route;
    struct peer peer;
    char *body;
    size_t body_length;
    bool body_too_long;
    bool checks; /* a submission that is only looked at */
    struct ask *ask;
    struct MHD_Response *response; /* made, not queued yet */
    unsigned status;
    /* What a response that comes bit by bit has for its reader. */
    char *out;
    size_t out_length;
    size_t out_sent;
    bool out_end;
    bool is_stream; /* of events */
    bool beat;      /* it says that it lives */
    uint64_t cursor;
    struct scrape scrape;
    struct render *render;
    uv_work_t work;
    bool working; /* the pool has it */
    bool gone;    /* nobody reads any more; freed when the pool is done */
    struct ask_answer piece;
    int work_err;
    struct diag work_diag;
};

/* ---- http.c ---- */

/* Lets libmicrohttpd run, this turn. */
void http_stir(struct http *http);

/* ---- peer.c ---- */

/* 0, or -EACCES: no certificate, or none of the lab's. */
int peer_of(const struct http *http, struct MHD_Connection *connection,
            struct peer *ret_peer, struct diag *diag) MUST_CHECK;

/* ---- exchange.c ---- */

enum MHD_Result exchange_handle(void *http, struct MHD_Connection *connection,
                                const char *url, const char *method,
                                const char *version, const char *data,
                                size_t *size, void **at);
void exchange_completed(void *http, struct MHD_Connection *connection,
                        void **at, enum MHD_RequestTerminationCode code);

/* A connection that was suspended goes on. */
void exchange_wake(struct exchange *exchange);

/* The answer; takes the text, which is to be freed with free(). */
void exchange_answer(struct exchange *exchange, unsigned status,
                     const char *type, char *text, size_t length);

/* {"error": ...}, as a document. */
void exchange_refuse(struct exchange *exchange, unsigned status,
                     const char *error);

/* A response whose text comes by exchange->out. */
void exchange_stream(struct exchange *exchange, const char *type,
                     const char *file_name);

/* Asks the fleet; an answer that cannot be asked for is refused. */
void exchange_ask(struct exchange *exchange, const struct wire_request *request,
                  void (*answered)(void *data, struct ask_answer answer));

/* Passes an answer on as it is. */
void exchange_pass(void *exchange, struct ask_answer answer);

/* After it is over and the pool is done with it. */
struct exchange *exchange_free(struct exchange *exchange);

/* ---- scrape.c, paper.c, stream.c ---- */

void scrape_begin(struct exchange *exchange);
void scrape_done(struct scrape *scrape);

void paper_begin(struct exchange *exchange);
/* What was printed has been read: goes on. */
void paper_read(struct exchange *exchange);

void stream_begin(struct exchange *exchange);
/* Puts the next event into exchange->out; false: there is none. */
bool stream_next(struct exchange *exchange);
void stream_end(struct exchange *exchange);

#endif
