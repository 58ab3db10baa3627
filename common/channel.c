#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/channel_private.h"
#include "common/clock.h"

#define READ_SIZE  (64u << 10)
#define PLAIN_SIZE (16u << 10) /* a TLS record */

_Static_assert(READ_SIZE <= FRAME_PIECE_MAX, "one read is one piece");

/* ---- Life ---------------------------------------------------------------- */

struct channel *channel_new(const struct channel_setup *setup,
                            const struct channel_handlers *handlers,
                            void *owner)
{
    struct channel *channel = calloc(1, sizeof(*channel));

    if (channel == NULL)
        return NULL;
    if (uv_timer_init(setup->loop, &channel->timer) < 0) {
        free(channel);
        return NULL;
    }
    channel->setup = *setup;
    if (channel->setup.queue_max == 0)
        channel->setup.queue_max = CHANNEL_QUEUE_MAX;
    if (channel->setup.handshake_ms == 0)
        channel->setup.handshake_ms = HANDSHAKE_LIMIT_MS;
    if (channel->setup.clock == NULL)
        channel->setup.clock = clock_os();
    channel->handlers = handlers;
    channel->owner = owner;
    channel->timer.data = channel;
    channel->holds = 1; /* the timer */
    frame_buffer_init(&channel->received);
    return channel;
}

static void free_channel(struct channel *channel)
{
    frame_buffer_done(&channel->received);
    tls_filter_free(channel->filter);
    uv_freeaddrinfo(channel->addresses);
    free(channel);
}

void channel_drop_hold(struct channel *channel)
{
    assert(channel->holds > 0);
    if (--channel->holds > 0)
        return;
    assert(channel->state == CHANNEL_CLOSING);
    if (channel->listener != NULL)
        listener_drop(channel->listener);
    if (channel->handlers != NULL)
        channel->handlers->on_close(channel->owner, &channel->reason);
    free_channel(channel);
}

void channel_on_closed(uv_handle_t *handle)
{
    channel_drop_hold(handle->data);
}

static int start_reading(struct channel *channel);
static void tear_down(struct channel *channel);

/* The limit of the state has passed. */
static void on_timer(uv_timer_t *timer)
{
    struct channel *channel = timer->data;

    switch (channel->state) {
    case CHANNEL_STARTING:
        if (start_reading(channel) == 0)
            channel_enter(channel, CHANNEL_OPEN, 0);
        break;
    case CHANNEL_RESOLVING:
        channel_fail(channel, -ETIMEDOUT,
                     "cannot look up '%s': no answer within %u s",
                     channel->address, CONNECT_LIMIT_MS / 1000);
        break;
    case CHANNEL_CONNECTING:
        channel_attempt_failed(channel, -ETIMEDOUT);
        break;
    case CHANNEL_HANDSHAKING:
        channel_fail(channel, -ETIMEDOUT, "TLS was not agreed within %u ms",
                     channel->setup.handshake_ms);
        break;
    case CHANNEL_ENDING:
        tear_down(channel);
        break;
    case CHANNEL_NEW:
    case CHANNEL_OPEN:
    case CHANNEL_CLOSING:
        assert(false && "a state without a limit");
    }
}

#define TO(state) (1u << CHANNEL_##state)

/* Which states may follow each. */
static const unsigned may_follow[] = {
    [CHANNEL_NEW] =
        TO(RESOLVING) | TO(HANDSHAKING) | TO(STARTING) | TO(CLOSING),
    [CHANNEL_RESOLVING] = TO(CONNECTING) | TO(CLOSING),
    [CHANNEL_CONNECTING] =
        TO(CONNECTING) | TO(HANDSHAKING) | TO(STARTING) | TO(CLOSING),
    [CHANNEL_HANDSHAKING] = TO(OPEN) | TO(ENDING) | TO(CLOSING),
    [CHANNEL_STARTING] = TO(OPEN) | TO(CLOSING),
    [CHANNEL_OPEN] = TO(ENDING) | TO(CLOSING),
    [CHANNEL_ENDING] = TO(CLOSING),
    [CHANNEL_CLOSING] = 0,
};

void channel_enter(struct channel *channel, enum channel_state state,
                   uint64_t limit_ms)
{
    assert((may_follow[channel->state] & 1u << state) != 0);
    channel->state = state;
    (void)uv_timer_stop(&channel->timer);
    if (limit_ms > 0 || state == CHANNEL_STARTING)
        (void)uv_timer_start(&channel->timer, on_timer, limit_ms, 0);
    if (state == CHANNEL_OPEN && channel->handlers != NULL &&
        channel->handlers->on_open != NULL)
        channel->handlers->on_open(channel->owner);
}

/* Lets go of all that the loop has; the last callback frees. */
static void tear_down(struct channel *channel)
{
    bool resolving = channel->state == CHANNEL_RESOLVING;

    channel_enter(channel, CHANNEL_CLOSING, 0);
    if (resolving) /* its callback comes, sooner or later */
        (void)uv_cancel((uv_req_t *)&channel->resolve);
    if (channel->has_io && !uv_is_closing(&channel->io.handle))
        uv_close(&channel->io.handle, channel_on_closed);
    uv_close((uv_handle_t *)&channel->timer, channel_on_closed);
}

static void PRINTF(3, 0) set_reason(struct channel *channel, int err,
                                    const char *format, va_list args)
{
    channel->reason.err = err;
    (void)vsnprintf(channel->reason.text, sizeof(channel->reason.text), format,
                    args);
}

void channel_fail(struct channel *channel, int err, const char *format, ...)
{
    va_list args;

    if (channel->state == CHANNEL_CLOSING)
        return;
    if (channel->state != CHANNEL_ENDING) { /* it has its reason already */
        va_start(args, format);
        set_reason(channel, err, format, args);
        va_end(args);
    }
    tear_down(channel);
}

void channel_close(struct channel *channel, const char *format, ...)
{
    va_list args;

    if (channel->state == CHANNEL_CLOSING)
        return;
    if (channel->state != CHANNEL_ENDING) {
        va_start(args, format);
        set_reason(channel, 0, format, args);
        va_end(args);
    }
    tear_down(channel);
}

void channel_disown(struct channel *channel)
{
    if (channel == NULL)
        return;
    channel->handlers = NULL;
    channel_close(channel, "not needed any more");
}

/* ---- Sending ------------------------------------------------------------- */

/* What the kernel did not take at once. */
struct waiting {
    uv_write_t request; /* first: the request is the whole */
    struct channel *channel;
    size_t length;
    uint8_t data[];
};

static void on_written(uv_write_t *request, int status)
{
    struct waiting *waiting = (struct waiting *)request;
    struct channel *channel = waiting->channel;

    channel->queued -= waiting->length;
    free(waiting);
    if (channel->state == CHANNEL_CLOSING)
        return;
    if (status < 0) {
        channel_fail(channel, status, "cannot send: %s", uv_strerror(status));
        return;
    }
    if (channel->queued > 0 || channel->state != CHANNEL_OPEN ||
        channel->handlers == NULL || channel->handlers->on_drained == NULL)
        return;
    channel->handlers->on_drained(channel->owner);
}

static int enqueue(struct channel *channel, const uint8_t *data, size_t length)
{
    struct waiting *waiting;
    uv_buf_t buffer;
    int r;

    if (length > channel->setup.queue_max - channel->queued) {
        channel_fail(channel, -ENOBUFS,
                     "the peer does not take what it is sent: %zu bytes wait",
                     channel->queued);
        return -ENOBUFS;
    }
    waiting = malloc(sizeof(*waiting) + length);
    if (waiting == NULL) {
        channel_fail(channel, -ENOMEM, "cannot send: no memory for %zu bytes",
                     length);
        return -ENOMEM;
    }
    waiting->channel = channel;
    waiting->length = length;
    memcpy(waiting->data, data, length);
    buffer = uv_buf_init((char *)waiting->data, (unsigned)length);
    r = uv_write(&waiting->request, &channel->io.stream, &buffer, 1,
                 on_written);
    if (r < 0) {
        free(waiting);
        channel_fail(channel, r, "cannot send: %s", uv_strerror(r));
        return r;
    }
    channel->queued += length;
    return 0;
}

/* How much of two pieces the kernel took; negative after channel_fail(). */
static int64_t try_write(struct channel *channel, const uint8_t *head,
                         size_t head_length, const uint8_t *data, size_t length)
{
    uv_buf_t buffers[] = {
        uv_buf_init((char *)(uintptr_t)head, (unsigned)head_length),
        uv_buf_init((char *)(uintptr_t)data, (unsigned)length),
    };
    unsigned first = head_length == 0 ? 1 : 0;
    int r;

    if (channel->queued > 0)
        return 0; /* behind what waits */
    r = uv_try_write(&channel->io.stream, buffers + first, 2 - first);
    if (r == UV_EAGAIN)
        return 0;
    if (r < 0)
        channel_fail(channel, r, "cannot send: %s", uv_strerror(r));
    return r;
}

/* Hands encrypted bytes to the kernel, and what it does not take to the queue.
 */
static int flush_filter(struct channel *channel)
{
    const uint8_t *data;
    size_t length = tls_filter_output(channel->filter, &data);
    int64_t taken;
    int r = 0;

    if (length == 0)
        return 0;
    taken = try_write(channel, NULL, 0, data, length);
    if (taken < 0)
        return (int)taken;
    if ((size_t)taken < length)
        r = enqueue(channel, data + taken, length - (size_t)taken);
    tls_filter_sent(channel->filter, length);
    return r;
}

static int send_encrypted(struct channel *channel, const uint8_t *header,
                          const uint8_t *body, uint32_t length)
{
    struct diag diag = {0};
    int r = tls_filter_write(channel->filter, header, FRAME_HEADER_SIZE, &diag);

    if (r == 0)
        r = tls_filter_write(channel->filter, body, length, &diag);
    if (r < 0) {
        channel_fail(channel, r, "cannot send: %s", diag.text);
        return r;
    }
    return flush_filter(channel);
}

static int send_plain(struct channel *channel, const uint8_t *header,
                      const uint8_t *body, uint32_t length)
{
    int64_t taken = try_write(channel, header, FRAME_HEADER_SIZE, body, length);
    int r = 0;

    if (taken < 0)
        return (int)taken;
    if (taken < FRAME_HEADER_SIZE) {
        r = enqueue(channel, header + taken, FRAME_HEADER_SIZE - (size_t)taken);
        taken = FRAME_HEADER_SIZE;
    }
    taken -= FRAME_HEADER_SIZE;
    if (r == 0 && taken < length)
        r = enqueue(channel, body + taken, length - (size_t)taken);
    return r;
}

int channel_send(struct channel *channel, const uint8_t *body, uint32_t length)
{
    uint8_t header[FRAME_HEADER_SIZE];

    if (channel->state != CHANNEL_OPEN)
        return -ENOTCONN;
    if (length == 0 || length > FRAME_BODY_MAX)
        return -EMSGSIZE;
    frame_header(header, length);
    return channel->filter != NULL
               ? send_encrypted(channel, header, body, length)
               : send_plain(channel, header, body, length);
}

size_t channel_queued(const struct channel *channel)
{
    return channel->queued;
}

static void on_shutdown(uv_shutdown_t *request, int status)
{
    struct channel *channel = request->data;

    if (channel->state == CHANNEL_ENDING && status < 0)
        tear_down(channel);
}

/* What waits goes out, then our end of the stream; the peer's end, or the
 * limit, closes.  Closing at once could make the kernel reset the connection,
 * and the peer would never read why. */
static void linger(struct channel *channel)
{
    channel_enter(channel, CHANNEL_ENDING, END_LIMIT_MS);
    if (channel->filter != NULL) {
        tls_filter_end(channel->filter);
        if (flush_filter(channel) < 0)
            return;
    }
    channel->shutdown.data = channel;
    if (uv_shutdown(&channel->shutdown, &channel->io.stream, on_shutdown) < 0)
        tear_down(channel);
}

void channel_end(struct channel *channel, const char *format, ...)
{
    va_list args;

    if (channel->state == CHANNEL_CLOSING || channel->state == CHANNEL_ENDING)
        return;
    va_start(args, format);
    set_reason(channel, 0, format, args);
    va_end(args);
    if (channel->state == CHANNEL_OPEN)
        linger(channel);
    else
        tear_down(channel);
}

/* ---- Receiving ----------------------------------------------------------- */

/* Adds decrypted bytes and hands out the frames they complete. */
static void receive(struct channel *channel, const uint8_t *data, size_t length,
                    uint64_t read_ns)
{
    const uint8_t *body;
    uint32_t body_length;
    int r = frame_buffer_add(&channel->received, data, length);

    if (r < 0) {
        channel_fail(channel, r, "cannot receive: %s", strerror(-r));
        return;
    }
    while (channel->state == CHANNEL_OPEN &&
           (r = frame_buffer_take(&channel->received, &body, &body_length)) > 0)
        if (channel->handlers != NULL && channel->handlers->on_frame != NULL)
            channel->handlers->on_frame(channel->owner, body, body_length,
                                        read_ns);
    if (r < 0)
        channel_fail(channel, r,
                     "the peer does not speak our protocol: a frame with an "
                     "impossible length");
}

/* The peer ended, in order or in the middle of a frame. */
static void peer_ended(struct channel *channel)
{
    size_t partial = channel->received.end - channel->received.begin;

    if (partial > 0)
        channel_fail(channel, -ECONNRESET,
                     "the connection ended within a frame");
    else
        channel_fail(channel, 0, "the peer ended the connection");
}

/* The alert that the filter has for the peer still goes out. */
static void filter_failed(struct channel *channel, const struct diag *diag)
{
    if (channel->state == CHANNEL_ENDING)
        return;
    channel->reason = *diag;
    linger(channel);
}

static void receive_encrypted(struct channel *channel, const uint8_t *data,
                              size_t length, uint64_t read_ns)
{
    struct diag diag = {0};
    uint8_t plain[PLAIN_SIZE];
    int n = tls_filter_input(channel->filter, data, length, &diag);

    if (n < 0) {
        filter_failed(channel, &diag);
        return;
    }
    if (flush_filter(channel) < 0)
        return;
    if (channel->state == CHANNEL_HANDSHAKING &&
        tls_filter_is_open(channel->filter))
        channel_enter(channel, CHANNEL_OPEN, 0);
    while (channel->state != CHANNEL_CLOSING &&
           (n = tls_filter_read(channel->filter, plain, sizeof(plain), &diag)) >
               0)
        if (channel->state == CHANNEL_OPEN)
            receive(channel, plain, (size_t)n, read_ns);
    if (channel->state == CHANNEL_CLOSING)
        return;
    if (n == -EPIPE)
        peer_ended(channel);
    else if (n < 0)
        filter_failed(channel, &diag);
    else
        (void)flush_filter(channel); /* answers of TLS itself */
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)handle, (void)suggested;
    buffer->base = malloc(READ_SIZE);
    buffer->len = buffer->base == NULL ? 0 : READ_SIZE;
}

static void read_ended(struct channel *channel, int err)
{
    if (channel->state == CHANNEL_HANDSHAKING)
        channel_fail(channel, err == UV_EOF ? -ECONNRESET : err,
                     "the peer closed the connection before TLS was agreed; "
                     "does it have keys of this lab?");
    else if (err != UV_EOF)
        channel_fail(channel, err, "the connection is lost: %s",
                     uv_strerror(err));
    else if (channel->filter != NULL)
        channel_fail(channel, -ECONNRESET, "the peer is gone without a word");
    else
        peer_ended(channel);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
    struct channel *channel = stream->data;
    uint64_t read_ns = clock_now_ns(channel->setup.clock);

    if (n < 0)
        read_ended(channel, (int)n);
    else if (n > 0 && channel->state == CHANNEL_ENDING)
        ; /* dropped: only the end is awaited */
    else if (n > 0 && channel->filter != NULL)
        receive_encrypted(channel, (const uint8_t *)buffer->base, (size_t)n,
                          read_ns);
    else if (n > 0)
        receive(channel, (const uint8_t *)buffer->base, (size_t)n, read_ns);
    free(buffer->base);
}

/* ---- From connected to open ---------------------------------------------- */

static int begin_handshake(struct channel *channel)
{
    enum tls_side side = channel->listener == NULL ? TLS_DIALS : TLS_ACCEPTS;
    struct diag diag = {0};
    int r;

    channel_enter(channel, CHANNEL_HANDSHAKING, channel->setup.handshake_ms);
    channel->filter =
        tls_filter_new(channel->setup.tls, side, channel->setup.peer_roles);
    if (channel->filter == NULL) {
        channel_fail(channel, -ENOMEM, "no memory for TLS");
        return -ENOMEM;
    }
    r = tls_filter_input(channel->filter, NULL, 0, &diag);
    if (r < 0) {
        channel_fail(channel, r, "%s", diag.text);
        return r;
    }
    return flush_filter(channel);
}

static int start_reading(struct channel *channel)
{
    int r = uv_read_start(&channel->io.stream, on_allocate, on_read);

    if (r < 0)
        channel_fail(channel, r, "cannot receive: %s", uv_strerror(r));
    return r;
}

void channel_connected(struct channel *channel)
{
    channel->io.handle.data = channel;
    if (channel->setup.tls == NULL)
        channel_enter(channel, CHANNEL_STARTING, 0);
    else if (begin_handshake(channel) == 0)
        (void)start_reading(channel);
}

const char *channel_peer(const struct channel *channel)
{
    return channel->peer;
}

const char *channel_peer_name(const struct channel *channel)
{
    return channel->filter == NULL ? "" : tls_filter_peer_name(channel->filter);
}

enum tls_role channel_peer_role(const struct channel *channel)
{
    return channel->filter == NULL ? TLS_ROLE_NONE
                                   : tls_filter_peer_role(channel->filter);
}

int64_t channel_peer_expires_s(const struct channel *channel)
{
    return channel->filter == NULL ? 0
                                   : tls_filter_peer_expires_s(channel->filter);
}

const char *channel_peer_refusal(const struct channel *channel, int64_t now_s)
{
    return channel->filter == NULL
               ? NULL
               : tls_filter_peer_refusal(channel->filter, now_s);
}
