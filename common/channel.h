/*
 * channel.h - one framed connection on a libuv loop, for all three programs.
 *
 * What it is for: bytes come and go as frames (frame.h), through TLS where a
 * context was given, over TCP or an inherited socket pair.  The channel knows
 * no message; who speaks which is fleet's and the agent's business.
 *
 * Life: channel_connect(), channel_adopt() or a listener's on_accept give a
 * channel.  on_open comes at most once, then on_frame for each frame, and
 * on_close exactly once, as the last call, always from the loop: never from
 * inside another channel function.  After on_close the channel is gone.  Until
 * then the owner must exist.  Whoever needs to go earlier calls
 * channel_disown(): the channel closes and calls nobody.
 *
 * "Open" means that the connection is made and TLS agreed on this side.  With
 * TLS 1.3 the dialling side learns of a refused certificate only after that,
 * as a close: count a connection as made when the peer's Welcome arrived.
 *
 * Cut links: TCP_USER_TIMEOUT and keepalive close a link that is silent at the
 * level of TCP within about four seconds; so is one whose peer takes nothing
 * for as long while bytes wait for it.  A peer that is stopped while nothing
 * waits is not seen here; heartbeats are the owner's.
 *
 * Limits: a frame as in frame.h; bytes waiting to be sent are bounded, and a
 * send beyond the bound closes the channel, saying so; connecting 5 s for each
 * address, TLS 10 s, both named when they pass.
 *
 * Threads: all on the loop's thread.  Programs ignore SIGPIPE.
 */
#ifndef COMMON_CHANNEL_H
#define COMMON_CHANNEL_H

#include "common/base.h"
#include "common/tls.h"

struct channel;
struct clock;
struct diag;
struct uv_loop_s;

/* As an address in text, "host:port" or "[v6]:port", with its final zero. */
#define ADDRESS_SIZE 280

/* Bytes waiting unless said otherwise: a few of the longest frames. */
#define CHANNEL_QUEUE_MAX (8u << 20)

/* Each may be NULL, on_close excepted. */
struct channel_handlers {
    void (*on_open)(void *owner);

    /* `body` is valid during the call.  `read_ns` is the clock's time right
     * after the read that completed the frame. */
    void (*on_frame)(void *owner, const uint8_t *body, uint32_t length,
                     uint64_t read_ns);

    /* All that waited has been handed to the kernel.  Comes only after a time
     * in which channel_queued() was above 0. */
    void (*on_drained)(void *owner);

    /* `reason->err` is 0 where this side closed or the peer ended orderly
     * between two frames (the text says which); else a negative errno.  The
     * channel may still be asked for its peer. */
    void (*on_close)(void *owner, const struct diag *reason);
};

struct channel_setup {
    struct uv_loop_s *loop;
    struct tls_context *tls; /* NULL: plain.  Shared, outlives the channel. */
    uint32_t peer_roles;     /* TLS_ROLE_* bits taken from the peer; with TLS */
    size_t queue_max;        /* 0: CHANNEL_QUEUE_MAX */
    uint32_t handshake_ms;   /* how long TLS may take; 0: 10 s */
    const struct clock *clock; /* of read_ns; NULL: clock_os() */
};

/* Dials "host:port"; each address of the host is tried in turn.  A text that
 * is no address is -EINVAL at once, all else comes by on_close. */
int channel_connect(const struct channel_setup *setup, const char *address,
                    const struct channel_handlers *handlers, void *owner,
                    struct channel **ret_channel, struct diag *diag) MUST_CHECK;

/*
 * Takes over a connected stream socket, e.g. one end of an inherited socket
 * pair; also on failure it is closed.  No TLS.  on_open comes from the loop.
 */
int channel_adopt(const struct channel_setup *setup, int fd,
                  const struct channel_handlers *handlers, void *owner,
                  struct channel **ret_channel, struct diag *diag) MUST_CHECK;

/*
 * Sends one frame of 1 byte to FRAME_BODY_MAX.  What the kernel does not take
 * at once waits here.  Returns 0; -ENOTCONN when the channel is not open or is
 * closing; -EMSGSIZE; -ENOBUFS or -ENOMEM, and then the channel is closing.
 * A caller that ignores the result loses nothing but the frame: on_close tells.
 */
int channel_send(struct channel *channel, const uint8_t *body, uint32_t length);

/* Bytes that wait to be sent. */
size_t channel_queued(const struct channel *channel);

/* Closes now; what waits is dropped.  The first reason wins.  Any time. */
void channel_close(struct channel *channel, const char *format, ...)
    PRINTF(2, 3);

/* Sends what waits (a Reject, say), for two seconds at most, then closes.
 * Frames that still come are dropped. */
void channel_end(struct channel *channel, const char *format, ...) PRINTF(2, 3);

/* Closes and calls nobody any more.  NULL is fine. */
void channel_disown(struct channel *channel);

/* "192.0.2.7:40312", "[2001:db8::1]:40312" or "local"; known once open. */
const char *channel_peer(const struct channel *channel);

/* From the peer's certificate, once open; "" and TLS_ROLE_NONE without TLS. */
const char *channel_peer_name(const struct channel *channel);
enum tls_role channel_peer_role(const struct channel *channel);

/* When the peer's certificate ends, in seconds of the wall clock; 0: it has
 * none.  And why it is refused by now (tls.h); NULL: it is not. */
int64_t channel_peer_expires_s(const struct channel *channel);
const char *channel_peer_refusal(const struct channel *channel, int64_t now_s);

/* ---- Listening ----------------------------------------------------------- */

struct listener;

/*
 * A new connection, not yet open: call channel_bind() inside, or the channel
 * is closed.  `channel` has the listener's setup.
 */
typedef void listener_on_accept(void *owner, struct channel *channel);

/* Says whose an accepted channel is. */
void channel_bind(struct channel *channel,
                  const struct channel_handlers *handlers, void *owner);

/*
 * Listens on "host:port"; port 0 takes a free one.  More than `connections_max`
 * channels at a time are refused.  A port in use and an address that is not
 * this host's are told with their remedy.
 */
int listener_open(const struct channel_setup *setup, const char *address,
                  uint32_t connections_max, listener_on_accept *on_accept,
                  void *owner, struct listener **ret_listener,
                  struct diag *diag) MUST_CHECK;

uint16_t listener_port(const struct listener *listener);

/* NULL is fine.  Its channels stay.  Memory goes from the loop. */
void listener_close(struct listener *listener);

/* ---- Addresses ----------------------------------------------------------- */

/*
 * Splits "host:port", "[v6]:port" or, when `default_port` is not 0, "host" or
 * "[v6]"; `host` has ADDRESS_SIZE bytes.  0 or -EINVAL.
 */
int address_split(const char *text, uint16_t default_port, char *ret_host,
                  uint16_t *ret_port) MUST_CHECK;

/* The host of an address text means this machine only: "localhost" or a
 * literal of 127.0.0.0/8 or ::1. */
bool address_is_loopback(const char *host);

#endif
