/*
 * channel_private.h - what the channel's own files share.
 */
#ifndef COMMON_CHANNEL_PRIVATE_H
#define COMMON_CHANNEL_PRIVATE_H

#include <uv.h>

#include "common/channel.h"
#include "common/diag.h"
#include "common/frame.h"

#define CONNECT_LIMIT_MS   5000u
#define HANDSHAKE_LIMIT_MS 10000u /* unless the setup says otherwise */
#define END_LIMIT_MS       2000u

enum channel_state {
    CHANNEL_NEW,         /* made; nothing under way */
    CHANNEL_RESOLVING,   /* the host's addresses are being looked up */
    CHANNEL_CONNECTING,  /* to the address before `next_address` */
    CHANNEL_HANDSHAKING, /* TLS */
    CHANNEL_STARTING,    /* open in the loop's next turn */
    CHANNEL_OPEN,
    CHANNEL_ENDING,  /* what waits is sent, then the peer's end awaited */
    CHANNEL_CLOSING, /* its handles are; the last one frees it */
};

struct channel {
    enum channel_state state;
    struct channel_setup setup;
    const struct channel_handlers *handlers; /* NULL: nobody's */
    void *owner;
    struct listener *listener; /* that accepted it, or NULL */
    struct diag reason;        /* of closing */

    /* The loop's.  `holds` counts what it still has of ours. */
    unsigned holds;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } io;
    bool has_io;
    uv_timer_t timer; /* the limit of the state */
    uv_shutdown_t shutdown;

    /* Dialling. */
    uv_getaddrinfo_t resolve;
    uv_connect_t connect;
    char address[ADDRESS_SIZE];
    struct addrinfo *addresses;
    struct addrinfo *next_address;
    int attempt_error; /* of the address tried last */

    /* Connected. */
    struct tls_filter *filter; /* NULL: plain */
    struct frame_buffer received;
    size_t queued;
    char peer[ADDRESS_SIZE];
};

/* The one setter; `limit_ms` of 0 is none. */
void channel_enter(struct channel *channel, enum channel_state state,
                   uint64_t limit_ms);

/* Made with its timer; NULL without memory. */
struct channel *channel_new(const struct channel_setup *setup,
                            const struct channel_handlers *handlers,
                            void *owner);

/* Closes with an errno (0: nobody's fault).  The first reason wins. */
void channel_fail(struct channel *channel, int err, const char *format, ...)
    PRINTF(3, 4);

/* The bytes flow: TLS begins, or it opens. */
void channel_connected(struct channel *channel);

/* The address that was tried is of no use: closes it, tries the next. */
void channel_attempt_failed(struct channel *channel, int err);

/* The loop let go of the handle or request that `holds` counted. */
void channel_drop_hold(struct channel *channel);
void channel_on_closed(uv_handle_t *handle);

/* An accepted channel is gone. */
void listener_drop(struct listener *listener);

/* "192.0.2.7:40312" or "[2001:db8::1]:40312". */
void address_print(const struct sockaddr *address, char text[ADDRESS_SIZE]);

/* No delays, and a silent link is a closed one within seconds. */
void channel_tune_tcp(uv_tcp_t *tcp);

#endif
