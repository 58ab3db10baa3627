/*
 * http.h - the page, the JSON API, the event stream and the metrics, on the
 * controller's loop.
 *
 * In clear it is served on loopback only; elsewhere, and wherever the address
 * begins with https://, by TLS 1.3, and only to those with a certificate of the
 * lab.  What a visitor may do is what a shell of the same role may.  README.md
 * has the paths.
 *
 * Threads: the loop's; reports, exports and comparisons are printed by
 * libuv's pool.  Memory: http_close() ends all; run the loop once more
 * afterwards, so that handles and the pool come to their end.
 */
#ifndef CONTROLLER_HTTP_HTTP_H
#define CONTROLLER_HTTP_HTTP_H

#include "common/base.h"
#include "common/diag.h"

#define HTTP_DEFAULT "127.0.0.1:7781"

struct fleet;
struct http;
struct tls_context;
struct uv_loop_s;

struct http_options {
    struct uv_loop_s *loop;
    struct fleet *fleet;
    const char *address; /* HOST:PORT, or https://HOST:PORT */
    const char *keys;    /* the controller's bundle; "": none */
    /* Of the same bundle, and whom it takes: what is revoked there is revoked
       here.  NULL without keys.  Outlives this. */
    struct tls_context *tls;
};

/* Whether the address can be served with what is given: 0 or -EINVAL. */
int http_check(const char *address, bool keys, struct diag *diag) MUST_CHECK;

/* Fails as a listener does: the address is in use, or not this host's. */
int http_open(const struct http_options *options, struct http **ret_http,
              struct diag *diag) MUST_CHECK;

/* "http://127.0.0.1:7781/", with the port that was taken. */
const char *http_url(const struct http *http);

/* Before the fleet is closed.  NULL is fine.  Returns NULL. */
struct http *http_close(struct http *http);

#endif
