#include "controller/loop.h"

#include "common/channel.h"
#include "common/clock.h"
#include "common/keys.h"
#include "common/log.h"
#include "common/process.h"
#include "common/text.h"
#include "common/uuid.h"
#include "controller/fleet/fleet.h"
#include "controller/http/http.h"
#include "controller/keys_watch.h"
#include "controller/loop_runner.h"
#include "controller/settings.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define SIGNALS 3

/* Connections that have not come through TLS yet; one more, and the one that
 * took longest has to go: who is serious needs milliseconds. */
#define STRANGERS_MAX 512u

/* How often it is looked at whose certificate is good no more. */
#define KEYS_EVERY_MS 2000u

struct connection;

struct loop {
    uv_loop_t uv;
    uv_async_t wake;      /* from the store's threads */
    uv_timer_t timer;     /* when the fleet is due */
    uv_prepare_t prepare; /* sets the timer, once a turn */
    uv_signal_t signal[SIGNALS];
    uv_timer_t keys; /* with TLS: looks after certificates */
    struct keys_watch watch;
    struct connection *first; /* all, newest first */
    uint32_t strangers;       /* not open yet, of these */
    struct tls_context *tls;
    struct listener *listener;
    struct fleet *fleet;
    struct http *http; /* NULL: there is no page */
    struct runners *runners;
    const struct settings *settings;
    bool gave_up;
};

/* A channel and the link that it is to the fleet. */
struct connection {
    struct loop *loop;
    struct channel *channel;
    struct link *link; /* NULL: not open yet, or ended by the fleet */
    bool opened;
    struct connection *next;
    struct connection *before;
};

/* ---- The fleet's world --------------------------------------------------- */

static void world_send(void *data, const uint8_t *body, size_t length)
{
    struct connection *connection = data;

    (void)channel_send(connection->channel, body, (uint32_t)length);
}

static size_t world_queued(void *data)
{
    struct connection *connection = data;

    return channel_queued(connection->channel);
}

static void world_end(void *data, const char *reason)
{
    struct connection *connection = data;

    connection->link = NULL;
    channel_end(connection->channel, "%s", reason);
}

static const struct link_world world = {
    .send = world_send,
    .queued = world_queued,
    .end = world_end,
};

/* ---- Connections --------------------------------------------------------- */

static void opened(struct connection *connection)
{
    if (!connection->opened)
        connection->loop->strangers--;
    connection->opened = true;
}

/* So that nobody is surprised in the middle of a campaign. */
static void warn_expiry(struct channel *channel)
{
    int64_t left_s = channel_peer_expires_s(channel) - time(NULL);

    if (channel_peer_expires_s(channel) != 0 && left_s < KEYS_EXPIRES_SOON_S)
        log_warn(NULL,
                 "the certificate of %s '%s' at %s expires in %lld days; "
                 "'lockstep keys renew' issues another",
                 tls_role_name(channel_peer_role(channel)),
                 channel_peer_name(channel), channel_peer(channel),
                 (long long)(left_s / (24 * 3600)));
}

static void on_open(void *owner)
{
    struct connection *connection = owner;
    struct channel *channel = connection->channel;
    const struct link_peer peer = {
        .address = channel_peer(channel),
        .name = channel_peer_name(channel),
        .role = channel_peer_role(channel),
    };

    opened(connection);
    warn_expiry(channel);
    connection->link =
        fleet_connected(connection->loop->fleet, connection, &peer);
    if (connection->link == NULL)
        channel_close(channel, "too many connections");
}

static void on_frame(void *owner, const uint8_t *body, uint32_t length,
                     uint64_t read_ns)
{
    struct connection *connection = owner;

    if (connection->link != NULL)
        fleet_frame(connection->loop->fleet, connection->link, body, length,
                    read_ns);
}

static void on_drained(void *owner)
{
    struct connection *connection = owner;

    if (connection->link != NULL)
        fleet_drained(connection->loop->fleet, connection->link);
}

/* It did not come through TLS. */
static void turned_away(struct connection *connection, const char *reason)
{
    if (connection->loop->fleet != NULL)
        fleet_turned_away(connection->loop->fleet,
                          channel_peer(connection->channel), reason);
}

static void forget(struct connection *connection)
{
    struct loop *loop = connection->loop;

    opened(connection);
    if (connection->before != NULL)
        connection->before->next = connection->next;
    else
        loop->first = connection->next;
    if (connection->next != NULL)
        connection->next->before = connection->before;
    free(connection);
}

static void on_close(void *owner, const struct diag *reason)
{
    struct connection *connection = owner;
    struct link *link = connection->link;

    connection->link = NULL;
    if (link != NULL)
        fleet_disconnected(connection->loop->fleet, link, reason->text);
    else if (!connection->opened && reason->err != 0)
        turned_away(connection, reason->text);
    else
        log_debug(NULL, "a connection closed: %s", reason->text);
    forget(connection);
}

static const struct channel_handlers handlers = {
    .on_open = on_open,
    .on_frame = on_frame,
    .on_drained = on_drained,
    .on_close = on_close,
};

static struct connection *connection_new(struct loop *loop)
{
    struct connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL)
        return NULL;
    connection->loop = loop;
    connection->next = loop->first;
    if (loop->first != NULL)
        loop->first->before = connection;
    loop->first = connection;
    loop->strangers++;
    return connection;
}

static void shed_oldest_stranger(struct loop *loop)
{
    struct connection *oldest = NULL;

    for (struct connection *at = loop->first; at != NULL; at = at->next)
        if (!at->opened)
            oldest = at;
    if (oldest == NULL)
        return;
    turned_away(oldest, "too many connections knock at once");
    opened(oldest); /* it counts no more */
    channel_close(oldest->channel, "too many connections knock at once");
}

static void on_accept(void *owner, struct channel *channel)
{
    struct loop *loop = owner;
    struct connection *connection;

    if (loop->strangers >= STRANGERS_MAX)
        shed_oldest_stranger(loop);
    connection = connection_new(loop);
    if (connection == NULL)
        return; /* not bound: closed */
    connection->channel = channel;
    channel_bind(channel, &handlers, connection);
}

static int adopt(struct loop *loop, int fd, struct diag *diag)
{
    const struct channel_setup setup = {.loop = &loop->uv};
    struct connection *connection = connection_new(loop);
    int err;

    if (connection == NULL)
        return diag_set(diag, -ENOMEM, "out of memory");
    err = channel_adopt(&setup, fd, &handlers, connection, &connection->channel,
                        diag);
    if (err != 0)
        forget(connection);
    return err;
}

/* ---- Keys ---------------------------------------------------------------- */

/* No connection outlives its certificate. */
static void end_refused(struct loop *loop)
{
    struct connection *at = loop->first;

    while (at != NULL) {
        struct connection *next = at->next;
        const char *why = channel_peer_refusal(at->channel, time(NULL));

        if (why != NULL && at->link != NULL) {
            log_warn(NULL, "%s '%s' at %s: %s",
                     tls_role_name(channel_peer_role(at->channel)),
                     channel_peer_name(at->channel), channel_peer(at->channel),
                     why);
            fleet_turned_away(loop->fleet, channel_peer(at->channel), why);
            link_end(at->link, "%s", why);
        }
        at = next;
    }
}

static void on_keys(uv_timer_t *timer)
{
    struct loop *loop = timer->data;
    struct diag diag = {0};

    if (keys_watch_look(&loop->watch, loop->tls, &diag) < 0)
        log_error(NULL, "%s; those revoked before stay so", diag.text);
    end_refused(loop);
    fleet_tick(loop->fleet); /* what has ended goes */
}

/* ---- Time ---------------------------------------------------------------- */

static void tick(struct loop *loop)
{
    fleet_tick(loop->fleet);
    if (fleet_is_over(loop->fleet))
        uv_stop(&loop->uv);
}

static void on_timer(uv_timer_t *timer)
{
    tick(timer->data);
}

static void on_wake(uv_async_t *async)
{
    tick(async->data);
}

/* Once a turn, after all that came in: when does the fleet want its turn? */
static void on_prepare(uv_prepare_t *prepare)
{
    struct loop *loop = prepare->data;
    uint64_t now_ns = clock_now_ns(clock_os());
    uint64_t due_ns = fleet_due_ns(loop->fleet);
    uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;

    uv_update_time(&loop->uv);
    (void)uv_timer_start(&loop->timer, on_timer,
                         (wait_ns + NS_PER_MS - 1) / NS_PER_MS, 0);
}

/* On the store's threads. */
static void wake(void *data)
{
    struct loop *loop = data;

    (void)uv_async_send(&loop->wake);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct loop *loop = signal->data;
    char reason[64];

    if (loop->gave_up) {
        log_warn(NULL, "told to end once more: does not wait any longer");
        uv_stop(&loop->uv);
        return;
    }
    loop->gave_up = true;
    (void)snprintf(reason, sizeof(reason), "the controller's end (SIG%s)",
                   sigabbrev_np(number));
    fleet_stop(loop->fleet, reason);
}

/* ---- Opening and closing ------------------------------------------------- */

static void init_handles(struct loop *loop)
{
    static const int numbers[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};

    (void)uv_async_init(&loop->uv, &loop->wake, on_wake);
    (void)uv_timer_init(&loop->uv, &loop->timer);
    (void)uv_timer_init(&loop->uv, &loop->keys);
    loop->keys.data = loop;
    (void)uv_prepare_init(&loop->uv, &loop->prepare);
    loop->wake.data = loop;
    loop->timer.data = loop;
    loop->prepare.data = loop;
    (void)uv_prepare_start(&loop->prepare, on_prepare);
    for (size_t i = 0; i < SIGNALS; i++) {
        (void)uv_signal_init(&loop->uv, &loop->signal[i]);
        loop->signal[i].data = loop;
        if (numbers[i] != SIGHUP || !process_ignores(SIGHUP))
            (void)uv_signal_start(&loop->signal[i], on_signal, numbers[i]);
    }
}

static int open_listener(struct loop *loop, struct diag *diag)
{
    const struct settings *settings = loop->settings;
    const struct channel_setup setup = {
        .loop = &loop->uv,
        .tls = loop->tls,
        .peer_roles = TLS_ROLE_AGENT | TLS_ROLE_OPERATOR | TLS_ROLE_VIEWER,
    };
    char host[ADDRESS_SIZE];
    uint16_t port;
    int err;

    err = listener_open(&setup, settings->listen, FLEET_LINKS_MAX, on_accept,
                        loop, &loop->listener, diag);
    if (err != 0)
        return err;
    err = address_split(settings->listen, 0, host, &port);
    assert(err == 0); /* settings_check() saw to it */
    port = listener_port(loop->listener);
    log_notice(NULL,
               strchr(host, ':') == NULL ? "listening on %s:%u"
                                         : "listening on [%s]:%u",
               host, port);
    if (loop->tls == NULL)
        log_notice(NULL,
                   "without keys: only this machine can connect; 'lockstep "
                   "keys init' makes keys for a lab");
    return 0;
}

/* The usual address may be another controller's: campaigns run without a page.
 * One that was asked for must be had. */
static int open_http(struct loop *loop, struct diag *diag)
{
    const struct settings *settings = loop->settings;
    const struct http_options options = {
        .loop = &loop->uv,
        .fleet = loop->fleet,
        .address = settings_http(settings),
        .keys = settings->keys,
        .tls = loop->tls,
    };
    int err = http_open(&options, &loop->http, diag);

    if (err == 0) {
        log_notice(NULL, "the page is at %s", http_url(loop->http));
    } else if (settings->http[0] == '\0') {
        log_warn(NULL, "%s, ignoring", diag->text);
        err = 0;
    }
    return err;
}

static int open_doors(struct loop *loop, struct diag *diag)
{
    const struct settings *settings = loop->settings;
    int err = 0;

    if (settings->agent_fd >= 0)
        err = adopt(loop, settings->agent_fd, diag);
    if (err == 0 && settings->shell_fd >= 0)
        err = adopt(loop, settings->shell_fd, diag);
    if (err == 0 && !settings->is_private)
        err = open_listener(loop, diag);
    if (err == 0 && settings_has_http(settings))
        err = open_http(loop, diag);
    return err;
}

/* Where `lockstep run` was started; "" where that cannot be told, or sent. */
static void find_folder(char folder[PATH_SIZE])
{
    if (getcwd(folder, PATH_SIZE) == NULL || !text_is_plain(folder))
        folder[0] = '\0';
}

static int open_keys(struct loop *loop, struct diag *diag)
{
    const struct settings *settings = loop->settings;
    int err = tls_context_load(settings->keys, &loop->tls, diag);
    int64_t left_s;

    if (err != 0)
        return err;
    keys_watch_init(&loop->watch, settings->keys, settings->revoked);
    err = keys_watch_look(&loop->watch, loop->tls, diag);
    left_s = tls_context_expires_s(loop->tls) - time(NULL);
    if (left_s < KEYS_EXPIRES_SOON_S)
        log_warn(NULL,
                 "this controller's certificate expires in %lld days; "
                 "'lockstep keys renew controller' issues another",
                 (long long)(left_s / (24 * 3600)));
    return err;
}

static int open_fleet(struct loop *loop, struct diag *diag)
{
    const struct settings *settings = loop->settings;
    char folder[PATH_SIZE] = "";
    struct fleet_options options = {
        .store = settings->store,
        .start_tolerance_ns = settings->start_tolerance_ns,
        .retention_ns = settings->is_private ? 0 : settings->retention_ns,
        .is_private = settings->is_private,
        .clock = clock_os(),
        .boot = uuid_boot(),
        .world = &world,
        .wake = wake,
        .wake_data = loop,
        .commands = &settings->commands,
        .runner = &runners_world,
        .runner_data = loop->runners,
    };
    int err = 0;

    if (settings->is_private)
        find_folder(folder);
    options.folder = folder;
    if (settings->keys[0] != '\0')
        err = open_keys(loop, diag);
    if (err == 0)
        err = fleet_open(&options, &loop->fleet, diag);
    if (err == 0)
        runners_serve(loop->runners, loop->fleet);
    return err;
}

static void close_handle(uv_handle_t *handle, void *data)
{
    (void)data;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* Ends what is ours; channels end by themselves, with what they had to say. */
static void close_all(struct loop *loop)
{
    listener_close(loop->listener);
    loop->http = http_close(loop->http);
    runners_serve(loop->runners, NULL);
    loop->fleet = fleet_close(loop->fleet);
    close_handle((uv_handle_t *)&loop->wake, NULL);
    close_handle((uv_handle_t *)&loop->timer, NULL);
    close_handle((uv_handle_t *)&loop->keys, NULL);
    close_handle((uv_handle_t *)&loop->prepare, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        close_handle((uv_handle_t *)&loop->signal[i], NULL);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    loop->runners = runners_free(loop->runners);
    (void)uv_loop_close(&loop->uv);
    tls_context_free(loop->tls);
}

/* Every agent, shell and stranger is a descriptor. */
static void raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
        limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int loop_run(const struct settings *settings, struct diag *diag)
{
    struct loop loop = {.settings = settings};
    int err = uv_loop_init(&loop.uv);

    if (err != 0)
        return diag_set(diag, err, "cannot make an event loop: %s",
                        uv_strerror(err));
    raise_limits();
    loop.runners = runners_new(&loop.uv);
    if (loop.runners == NULL) {
        (void)uv_loop_close(&loop.uv);
        return diag_set(diag, -ENOMEM, "out of memory");
    }
    init_handles(&loop);
    err = open_fleet(&loop, diag);
    if (err == 0)
        err = open_doors(&loop, diag);
    if (err == 0 && loop.tls != NULL)
        (void)uv_timer_start(&loop.keys, on_keys, KEYS_EVERY_MS, KEYS_EVERY_MS);
    if (err == 0)
        (void)uv_run(&loop.uv, UV_RUN_DEFAULT);
    close_all(&loop);
    return err;
}
