/*
 * The server on the loop: libmicrohttpd does its work in an epoll of its own,
 * which the loop polls, and says when it wants its turn next.
 */
#include "controller/http/http.h"

#include "common/channel.h"
#include "common/key_file.h"
#include "common/log.h"
#include "controller/http/inside.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEAT_MS         5000u /* a reader that has gone is seen by then */
#define CONNECTIONS_MAX 512u
#define IDLE_S          60u
#define LINGER_TURNS    8 /* at the end: what is said leaves */
#define TLS_PRIORITIES  "NORMAL:-VERS-ALL:+VERS-TLS1.3"
#define SECURE          "https://"
#define PLAIN           "http://"

/* ---- Turns of the loop -----------------------------------------------------
 */

static void on_timer(uv_timer_t *timer);

static void set_timer(struct http *http)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;

    if (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES)
        (void)uv_timer_start(&http->timer, on_timer, wait_ms, 0);
    else
        (void)uv_timer_stop(&http->timer);
}

static void run(struct http *http)
{
    do {
        http->dirty = false;
        (void)MHD_run(http->daemon);
        door_turn(http->door);
    } while (http->dirty);
    set_timer(http);
}

void http_stir(struct http *http)
{
    http->dirty = true;
}

static void on_timer(uv_timer_t *timer)
{
    run(timer->data);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run(poll->data);
}

/* Once a turn: what the fleet, the store and the pool have done by now. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct http *http = prepare->data;

    door_turn(http->door);
    if (http->dirty)
        run(http);
}

/* A suspended connection does not see that its peer has gone; and one whose
 * certificate was good when the stream began may be revoked since. */
static void on_beat(uv_timer_t *timer)
{
    struct http *http = timer->data;

    for (struct exchange *x = http->exchanges; x != NULL; x = x->next) {
        struct diag diag;

        if (!x->is_stream)
            continue;
        x->beat = true;
        x->out_end |= peer_of(http, x->connection, &x->peer, &diag) < 0;
        exchange_wake(x);
    }
}

/* ---- The address -----------------------------------------------------------
 */

struct place {
    char host[ADDRESS_SIZE];
    uint16_t port;
    bool secure;
};

static int parse(const char *address, struct place *ret_place,
                 struct diag *diag)
{
    bool secure = strncmp(address, SECURE, sizeof(SECURE) - 1) == 0;
    bool plain = strncmp(address, PLAIN, sizeof(PLAIN) - 1) == 0;
    const char *rest = address + (secure  ? sizeof(SECURE) - 1
                                  : plain ? sizeof(PLAIN) - 1
                                          : 0);

    if (address_split(rest, 0, ret_place->host, &ret_place->port) != 0)
        return diag_set(diag, -EINVAL,
                        "http=%s is no HOST:PORT, e.g. " HTTP_DEFAULT, address);
    ret_place->secure = secure || !address_is_loopback(ret_place->host);
    if (ret_place->secure && plain)
        return diag_set(diag, -EINVAL,
                        "http=%s is reachable from other machines: without "
                        "http:// it is served by HTTPS",
                        address);
    return 0;
}

int http_check(const char *address, bool keys, struct diag *diag)
{
    struct place place;
    int err = parse(address, &place, diag);

    if (err == 0 && place.secure && !keys)
        return diag_set(diag, -EINVAL,
                        "http=%s needs keys: make them with 'lockstep keys "
                        "init' and set keys=FILE, or use " HTTP_DEFAULT,
                        address);
    return err;
}

static int bind_to(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    one = -errno;
    (void)close(fd);
    return one;
}

/* The listening socket, with the port that was taken in `place`. */
static int open_socket(struct place *place, struct diag *diag)
{
    const struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_PASSIVE,
    };
    struct addrinfo *found = NULL;
    struct sockaddr_storage own;
    socklen_t length = sizeof(own);
    char service[8];
    int fd;

    (void)snprintf(service, sizeof(service), "%u", (unsigned)place->port);
    if (getaddrinfo(place->host, service, &hints, &found) != 0)
        return diag_set(diag, -EADDRNOTAVAIL,
                        "cannot serve the page: '%s' is no address",
                        place->host);
    fd = bind_to(found);
    freeaddrinfo(found);
    if (fd < 0)
        return diag_set(diag, fd,
                        "cannot serve the page on %s:%u: %s; set http= to "
                        "another address, or to off",
                        place->host, (unsigned)place->port, strerror(-fd));
    if (getsockname(fd, (struct sockaddr *)&own, &length) == 0 &&
        getnameinfo((struct sockaddr *)&own, length, NULL, 0, service,
                    sizeof(service), NI_NUMERICSERV) == 0)
        place->port = (uint16_t)strtoul(service, NULL, 10);
    return fd;
}

/* ---- libmicrohttpd ---------------------------------------------------------
 */

static struct MHD_Daemon *start(struct http *http, int fd, const char *pem)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, fd, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

    if (pem == NULL)
        return MHD_start_daemon(flags, 0, NULL, NULL, exchange_handle, http,
                                MHD_OPTION_ARRAY, options,
                                MHD_OPTION_NOTIFY_COMPLETED, exchange_completed,
                                http, MHD_OPTION_END);
    return MHD_start_daemon(
        flags | MHD_USE_TLS, 0, NULL, NULL, exchange_handle, http,
        MHD_OPTION_ARRAY, options, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_completed, http, MHD_OPTION_HTTPS_PRIORITIES, TLS_PRIORITIES,
        MHD_OPTION_HTTPS_MEM_KEY, pem, MHD_OPTION_HTTPS_MEM_CERT, pem,
        MHD_OPTION_HTTPS_MEM_TRUST, pem, MHD_OPTION_END);
}

/* The bundle is read anew, by the rules for bundles. */
static int start_secure(struct http *http, int fd,
                        const struct http_options *options, struct diag *diag)
{
    char pem[KEY_FILE_MAX];
    size_t length = 0;
    int err = key_file_read(options->keys, pem, &length, diag);

    http->tls = options->tls;
    if (err == 0)
        http->daemon = start(http, fd, pem);
    explicit_bzero(pem, sizeof(pem));
    return err;
}

static int start_daemon(struct http *http, const struct http_options *options,
                        const struct place *place, int fd, struct diag *diag)
{
    int err = 0;

    if (place->secure)
        err = start_secure(http, fd, options, diag);
    else
        http->daemon = start(http, fd, NULL);
    if (err == 0 && http->daemon == NULL)
        err = diag_set(diag, -EIO,
                       "cannot serve the page: the HTTP server "
                       "does not start");
    return err;
}

static void init_handles(struct http *http, uv_loop_t *loop)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

    (void)uv_poll_init(loop, &http->poll, info->epoll_fd);
    (void)uv_timer_init(loop, &http->timer);
    (void)uv_timer_init(loop, &http->beat);
    (void)uv_prepare_init(loop, &http->prepare);
    http->poll.data = http->timer.data = http->beat.data = http->prepare.data =
        http;
    http->handles = 4;
    (void)uv_poll_start(&http->poll, UV_READABLE, on_poll);
    (void)uv_prepare_start(&http->prepare, on_prepare);
    (void)uv_timer_start(&http->beat, on_beat, BEAT_MS, BEAT_MS);
    set_timer(http);
}

/* ---- Opening and closing ---------------------------------------------------
 */

static void free_http(struct http *http)
{
    (void)door_free(http->door);
    feed_done(&http->feed);
    free(http->url);
    free(http);
}

static char *print_url(const struct place *place)
{
    char *url = NULL;
    bool v6 = strchr(place->host, ':') != NULL;

    return asprintf(&url, "%s%s%s%s:%u/", place->secure ? SECURE : PLAIN,
                    v6 ? "[" : "", place->host, v6 ? "]" : "",
                    (unsigned)place->port) < 0
               ? NULL
               : url;
}

int http_open(const struct http_options *options, struct http **ret_http,
              struct diag *diag)
{
    struct http *http = calloc(1, sizeof(*http));
    struct place place;
    int err, fd = -1;

    if (http == NULL)
        return diag_set(diag, -ENOMEM, "out of memory");
    http->fleet = options->fleet;
    http->has_keys = options->keys[0] != '\0';
    http->door = door_new(options->fleet);
    err = parse(options->address, &place, diag);
    if (err == 0)
        err = fd = open_socket(&place, diag);
    if (err >= 0) {
        http->url = print_url(&place);
        err = http->door == NULL || http->url == NULL
                  ? diag_set(diag, -ENOMEM, "out of memory")
                  : start_daemon(http, options, &place, fd, diag);
    }
    if (err < 0) {
        if (fd >= 0)
            (void)close(fd);
        free_http(http);
        return err;
    }
    init_handles(http, options->loop);
    *ret_http = http;
    return 0;
}

const char *http_url(const struct http *http)
{
    return http->url;
}

static void on_closed(uv_handle_t *handle)
{
    struct http *http = handle->data;

    if (--http->handles == 0)
        free_http(http);
}

/* libmicrohttpd must not be stopped while connections are suspended. */
static void end_exchanges(struct http *http)
{
    for (struct exchange *x = http->exchanges; x != NULL; x = x->next) {
        x->ask = ask_cancel(x->ask);
        exchange_wake(x);
    }
    for (int i = 0; i < LINGER_TURNS; i++)
        (void)MHD_run(http->daemon);
}

struct http *http_close(struct http *http)
{
    if (http == NULL)
        return NULL;
    http->closing = true;
    fleet_observe(http->fleet, NULL, NULL);
    end_exchanges(http);
    (void)uv_poll_stop(&http->poll);
    MHD_stop_daemon(http->daemon);
    uv_close((uv_handle_t *)&http->poll, on_closed);
    uv_close((uv_handle_t *)&http->timer, on_closed);
    uv_close((uv_handle_t *)&http->beat, on_closed);
    uv_close((uv_handle_t *)&http->prepare, on_closed);
    return NULL;
}
