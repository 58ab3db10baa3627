/* client.c - see client.h. */
#include "controller/shell/client.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/channel.h"
#include "common/process.h"

#define WELCOME_LIMIT_MS 10000
#define HEARTBEAT_MS     1000
#define REDIAL_MS        500
#define DOCUMENT_MAX     (256u << 20)

static const int interrupt_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* A document that comes in parts. */
struct text {
    char *bytes;
    size_t length;
};

struct client {
    uv_loop_t loop;
    uv_timer_t welcome_limit;
    uv_timer_t heartbeat;
    uv_timer_t pause;
    uv_signal_t signals[ARRAY_LENGTH(interrupt_signals)];
    struct channel *channel; /* NULL once closed */
    struct tls_context *tls;
    struct client_handlers handlers;
    struct diag reason; /* why it closed, or what the controller rejected */
    uint32_t id;
    uint32_t waiting_for;
    struct text answer;
    unsigned status;
    unsigned interrupts;
    bool welcome;
    bool rejected;
    bool opened;
    bool ended_unheard; /* without keys, after our hello, without a word */
    bool leave;         /* the present wait is over */
};

static void leave(struct client *c)
{
    c->leave = true;
    uv_stop(&c->loop);
}

void client_leave(struct client *client)
{
    leave(client);
}

static void wait(struct client *c)
{
    c->leave = false;
    while (!c->leave && c->channel != NULL)
        (void)uv_run(&c->loop, UV_RUN_DEFAULT);
}

static void on_heartbeat(uv_timer_t *timer)
{
    struct client *c = timer->data;
    struct body body;

    if (c->channel == NULL || codec_heartbeat(&body) < 0)
        return;
    (void)channel_send(c->channel, body.bytes, body.length);
    free(body.bytes);
}

static void on_welcome_limit(uv_timer_t *timer)
{
    struct client *c = timer->data;

    if (!c->welcome && c->channel != NULL)
        channel_close(c->channel, "it did not answer within %d s",
                      WELCOME_LIMIT_MS / 1000);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct client *c = handle->data;

    (void)number;
    c->interrupts++;
    if (c->handlers.on_interrupt != NULL)
        c->handlers.on_interrupt(c->handlers.user, c->interrupts);
    else
        leave(c);
}

static const char *user_name(void)
{
    const struct passwd *entry = getpwuid(getuid());

    return entry != NULL ? entry->pw_name : "unknown";
}

static void on_open(void *owner)
{
    struct client *c = owner;
    struct body body;

    c->opened = true;
    if (codec_hello(user_name(), &body) < 0)
        return;
    (void)channel_send(c->channel, body.bytes, body.length);
    free(body.bytes);
}

static void on_close(void *owner, const struct diag *reason)
{
    struct client *c = owner;

    c->channel = NULL;
    if (!c->rejected)
        c->reason = *reason;
    c->ended_unheard =
        c->opened && c->tls == NULL && !c->welcome && !c->rejected;
    uv_stop(&c->loop);
}

static void take_answer(struct client *c, const struct message *m)
{
    if (m->id != c->waiting_for)
        return;
    if (c->answer.length + m->document_length > DOCUMENT_MAX) {
        channel_close(c->channel, "its answer is longer than %u MiB",
                      DOCUMENT_MAX >> 20);
        return;
    }

    char *grown =
        realloc(c->answer.bytes, c->answer.length + m->document_length + 1);

    if (grown == NULL) {
        channel_close(c->channel, "no memory for its answer");
        return;
    }
    memcpy(grown + c->answer.length, m->document, m->document_length);
    c->answer.bytes = grown;
    c->answer.length += m->document_length;
    c->status = m->status;
    if (m->last)
        leave(c);
}

static void take_event(struct client *c, const struct message *m)
{
    json_t *event =
        json_loadb((const char *)m->document, m->document_length, 0, NULL);

    if (event != NULL && c->handlers.on_event != NULL)
        c->handlers.on_event(c->handlers.user, event);
    json_decref(event);
}

static void take(struct client *c, const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_WELCOME:
        c->welcome = true;
        leave(c);
        break;
    case MESSAGE_REJECT:
        c->rejected = true;
        (void)diag_set(&c->reason, -ECONNREFUSED, "%s", m->reason);
        break;
    case MESSAGE_ANSWER:
        take_answer(c, m);
        break;
    case MESSAGE_EVENT:
        take_event(c, m);
        break;
    case MESSAGE_OTHER:
        break;
    }
}

static void on_frame(void *owner, const uint8_t *body, uint32_t length,
                     uint64_t read_ns)
{
    struct client *c = owner;
    struct message m;

    (void)read_ns;
    if (codec_decode(body, length, &m) < 0) {
        channel_close(c->channel, "it sent what is no message of Lockstep");
        return;
    }
    take(c, &m);
    codec_message_done(&m);
}

static const struct channel_handlers channel_handlers = {
    .on_open = on_open,
    .on_frame = on_frame,
    .on_close = on_close,
};

static struct client *client_new(const struct client_handlers *handlers)
{
    struct client *c = calloc(1, sizeof(*c));

    if (c == NULL || uv_loop_init(&c->loop) < 0) {
        free(c);
        return NULL;
    }
    if (handlers != NULL)
        c->handlers = *handlers;
    (void)uv_timer_init(&c->loop, &c->welcome_limit);
    (void)uv_timer_init(&c->loop, &c->heartbeat);
    c->welcome_limit.data = c;
    (void)uv_timer_init(&c->loop, &c->pause);
    c->heartbeat.data = c;
    c->pause.data = c;
    (void)uv_timer_start(&c->heartbeat, on_heartbeat, HEARTBEAT_MS,
                         HEARTBEAT_MS);
    for (size_t i = 0; i < ARRAY_LENGTH(interrupt_signals); i++) {
        (void)uv_signal_init(&c->loop, &c->signals[i]);
        c->signals[i].data = c;
        if (interrupt_signals[i] == SIGHUP && process_ignores(SIGHUP))
            continue; /* nohup: it outlives its terminal */
        (void)uv_signal_start(&c->signals[i], on_signal, interrupt_signals[i]);
    }
    return c;
}

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void client_close(struct client *client)
{
    if (client == NULL)
        return;
    channel_disown(client->channel);
    /* The disowned channel closes its own handles. */
    uv_close((uv_handle_t *)&client->welcome_limit, NULL);
    uv_close((uv_handle_t *)&client->heartbeat, NULL);
    uv_close((uv_handle_t *)&client->pause, NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(interrupt_signals); i++)
        uv_close((uv_handle_t *)&client->signals[i], NULL);
    (void)uv_run(&client->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&client->loop) == UV_EBUSY) {
        uv_walk(&client->loop, close_handle, NULL);
        (void)uv_run(&client->loop, UV_RUN_DEFAULT);
        (void)uv_loop_close(&client->loop);
    }
    tls_context_free(client->tls);
    free(client->answer.bytes);
    free(client);
}

static int dial(struct client *c, const char *address, struct diag *diag)
{
    struct channel_setup setup = {
        .loop = &c->loop,
        .tls = c->tls,
        .peer_roles = TLS_ROLE_CONTROLLER,
    };

    return channel_connect(&setup, address, &channel_handlers, c, &c->channel,
                           diag);
}

/* Why there is no Welcome, without the address once more, and what to do. */
static void say_why(const struct client *c, const char *who, int err,
                    struct diag *diag)
{
    char dialled[128];
    int length =
        snprintf(dialled, sizeof(dialled), "cannot connect to %s: ", who);
    const char *reason = c->interrupts > 0 ? "interrupted" : c->reason.text;
    const char *hint = "";

    if (c->ended_unheard) {
        hint = "; does it want keys? give --keys FILE or set LOCKSTEP_KEYS";
    } else if (length > 0 && strncmp(reason, dialled, (size_t)length) == 0) {
        reason += length;
        hint = "; -c HOST:PORT or LOCKSTEP_CONTROLLER names another";
    }
    (void)diag_set(diag, err, "no controller at %s: %s%s", who, reason, hint);
}

/* Waits for the Welcome; on failure the client is gone. */
static int await_welcome(struct client *c, const char *who,
                         struct client **ret_client, struct diag *diag)
{
    (void)uv_timer_start(&c->welcome_limit, on_welcome_limit, WELCOME_LIMIT_MS,
                         0);
    while (!c->welcome && c->channel != NULL && c->interrupts == 0)
        wait(c);
    if (c->welcome) {
        *ret_client = c;
        return 0;
    }

    int r = c->interrupts > 0 ? -EINTR : -ECONNREFUSED;

    say_why(c, who, r, diag);
    client_close(c);
    return r;
}

enum exit_status client_status(int err)
{
    return err == -EINVAL  ? EXIT_USAGE
           : err == -EINTR ? EXIT_INTERRUPTED
                           : EXIT_NO_CONTROLLER;
}

int client_connect(const char *address, const char *keys,
                   const struct client_handlers *handlers,
                   struct client **ret_client, struct diag *diag)
{
    struct client *c = client_new(handlers);
    int r = 0;

    if (c == NULL)
        return diag_set(diag, -ENOMEM, "no memory for a connection");
    if (keys != NULL && tls_context_load(keys, &c->tls, diag) < 0)
        r = -EINVAL;
    if (r == 0)
        r = dial(c, address, diag);
    if (r < 0) {
        client_close(c);
        return r;
    }
    return await_welcome(c, address, ret_client, diag);
}

int client_adopt(int fd, const struct client_handlers *handlers,
                 struct client **ret_client, struct diag *diag)
{
    struct client *c = client_new(handlers);

    if (c == NULL) {
        (void)close(fd);
        return diag_set(diag, -ENOMEM, "no memory for a connection");
    }

    struct channel_setup setup = {.loop = &c->loop};
    int r = channel_adopt(&setup, fd, &channel_handlers, c, &c->channel, diag);

    if (r < 0) {
        client_close(c);
        return r;
    }
    return await_welcome(c, "its private socket", ret_client, diag);
}

uint32_t client_next_id(struct client *client)
{
    return ++client->id;
}

static int lost(const struct client *c, struct diag *diag)
{
    return diag_set(diag, -ENOTCONN, "the controller is gone: %s",
                    c->reason.text);
}

/* What came for the request, as a document. */
static int finish_answer(struct client *c, struct answer *ret_answer,
                         struct diag *diag)
{
    json_error_t error;
    json_t *document = json_loadb(c->answer.bytes, c->answer.length, 0, &error);

    if (document == NULL)
        return diag_set(diag, -EBADMSG,
                        "the controller's answer is no document: %s",
                        error.text);
    ret_answer->document = document;
    ret_answer->status = (enum exit_status)c->status;
    return 0;
}

int client_request(struct client *client, uint32_t id, struct body *body,
                   struct answer *ret_answer, struct diag *diag)
{
    unsigned interrupts = client->interrupts;
    int r = client->channel != NULL
                ? channel_send(client->channel, body->bytes, body->length)
                : -ENOTCONN;

    free(body->bytes);
    body->bytes = NULL;
    if (r < 0)
        return lost(client, diag);
    client->waiting_for = id;
    client->answer.length = 0;
    wait(client);
    client->waiting_for = 0;
    if (!client->leave)
        return lost(client, diag);
    if (client->interrupts > interrupts &&
        client->handlers.on_interrupt == NULL)
        return diag_set(diag, -EINTR, "interrupted");
    return finish_answer(client, ret_answer, diag);
}

void client_post(struct client *client, struct body *body)
{
    if (client->channel != NULL)
        (void)channel_send(client->channel, body->bytes, body->length);
    free(body->bytes);
    body->bytes = NULL;
}

int client_follow(struct client *client, struct diag *diag)
{
    wait(client);
    return client->leave ? 0 : lost(client, diag);
}

static void on_pause(uv_timer_t *timer)
{
    leave(timer->data);
}

int client_pause(struct client *client, unsigned ms, struct diag *diag)
{
    (void)uv_timer_start(&client->pause, on_pause, ms, 0);
    wait(client);
    (void)uv_timer_stop(&client->pause);
    return client->leave ? 0 : lost(client, diag);
}

static void run_for(struct client *c, unsigned ms)
{
    c->leave = false;
    (void)uv_timer_start(&c->pause, on_pause, ms, 0);
    while (!c->leave)
        (void)uv_run(&c->loop, UV_RUN_DEFAULT);
    (void)uv_timer_stop(&c->pause);
}

/* One try; false: there is no controller yet. */
static bool try_again(struct client *c, const char *address, unsigned signals)
{
    c->welcome = false;
    c->rejected = false;
    c->opened = false;
    if (dial(c, address, &c->reason) < 0)
        return false;
    (void)uv_timer_start(&c->welcome_limit, on_welcome_limit, WELCOME_LIMIT_MS,
                         0);
    while (!c->welcome && c->channel != NULL && c->interrupts == signals)
        wait(c);
    return c->welcome;
}

int client_reconnect(struct client *client, const char *address,
                     unsigned seconds, struct diag *diag)
{
    unsigned signals = client->interrupts;
    uint64_t end_ms;

    uv_update_time(&client->loop);
    end_ms = uv_now(&client->loop) + (uint64_t)seconds * 1000;
    while (!try_again(client, address, signals)) {
        if (client->interrupts > signals)
            return diag_set(diag, -EINTR, "interrupted");
        if (uv_now(&client->loop) >= end_ms)
            return lost(client, diag);
        run_for(client, REDIAL_MS);
    }
    return 0;
}

unsigned client_interrupts(const struct client *client)
{
    return client->interrupts;
}
