/*
 * Listening, and the channels that come of it.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/channel_private.h"
#include "common/log.h"

#define BACKLOG 1024

struct listener {
    uv_tcp_t tcp;
    struct channel_setup setup;
    listener_on_accept *on_accept;
    void *owner;
    uint32_t connections_max;
    uint32_t connections;
    uint32_t holds; /* the handle's and one for each connection */
    bool has_tcp;
};

static void listener_unhold(struct listener *listener)
{
    assert(listener->holds > 0);
    if (--listener->holds == 0)
        free(listener);
}

void listener_drop(struct listener *listener)
{
    listener->connections--;
    listener_unhold(listener);
}

/* Accepts into a channel, which then counts as one of the listener's. */
static int accept_channel(struct listener *listener,
                          struct channel **ret_channel)
{
    struct channel *channel = channel_new(&listener->setup, NULL, NULL);
    struct sockaddr_storage peer;
    int length = sizeof(peer);
    int r;

    if (channel == NULL)
        return -ENOMEM;
    channel->listener = listener;
    listener->connections++;
    listener->holds++;
    r = uv_tcp_init(listener->setup.loop, &channel->io.tcp);
    if (r == 0) {
        channel->has_io = true;
        channel->holds++;
        channel->io.handle.data = channel;
        r = uv_accept((uv_stream_t *)&listener->tcp, &channel->io.stream);
    }
    if (r == 0)
        r = uv_tcp_getpeername(&channel->io.tcp, (struct sockaddr *)&peer,
                               &length);
    if (r < 0) {
        channel_disown(channel);
        return r;
    }
    address_print((const struct sockaddr *)&peer, channel->peer);
    channel_tune_tcp(&channel->io.tcp);
    *ret_channel = channel;
    return 0;
}

static void on_connection(uv_stream_t *server, int status)
{
    struct listener *listener = server->data;
    struct channel *channel = NULL;

    if (status == 0)
        status = accept_channel(listener, &channel);
    if (status < 0) {
        log_warn("listener", "cannot accept a connection: %s, ignoring",
                 uv_strerror(status));
        return;
    }
    if (listener->connections > listener->connections_max) {
        log_warn("listener", "%s: refused: there are %u connections already",
                 channel->peer, listener->connections_max);
        channel_disown(channel);
        return;
    }
    listener->on_accept(listener->owner, channel);
    if (channel->state == CHANNEL_NEW)
        channel_disown(channel);
}

void channel_bind(struct channel *channel,
                  const struct channel_handlers *handlers, void *owner)
{
    assert(channel->state == CHANNEL_NEW && channel->listener != NULL);
    channel->handlers = handlers;
    channel->owner = owner;
    channel_connected(channel);
}

/* ---- Opening ------------------------------------------------------------- */

static int bind_address(struct listener *listener, const char *host,
                        uint16_t port)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_PASSIVE,
    };
    uv_getaddrinfo_t request;
    char service[8];
    int r;

    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    /* Without a callback it waits: once, at the start of a program. */
    r = uv_getaddrinfo(listener->setup.loop, &request, NULL, host, service,
                       &hints);
    if (r < 0)
        return r;
    r = uv_tcp_init(listener->setup.loop, &listener->tcp);
    if (r == 0) {
        listener->has_tcp = true;
        listener->tcp.data = listener;
        r = uv_tcp_bind(&listener->tcp, request.addrinfo->ai_addr, 0);
    }
    uv_freeaddrinfo(request.addrinfo);
    return r < 0 ? r
                 : uv_listen((uv_stream_t *)&listener->tcp, BACKLOG,
                             on_connection);
}

static const char *bind_remedy(int err)
{
    switch (err) {
    case UV_EADDRINUSE:
        return "; is one running already? stop it or take another port";
    case UV_EADDRNOTAVAIL:
        return "; that address is not this host's";
    case UV_EACCES:
        return "; ports below 1024 are root's";
    default:
        return "";
    }
}

int listener_open(const struct channel_setup *setup, const char *address,
                  uint32_t connections_max, listener_on_accept *on_accept,
                  void *owner, struct listener **ret_listener,
                  struct diag *diag)
{
    struct listener *listener;
    char host[ADDRESS_SIZE];
    uint16_t port;
    int r;

    if (address_split(address, 0, host, &port) < 0)
        return diag_set(diag, -EINVAL, "'%s' is no address, as host:port is",
                        address);
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL)
        return diag_set(diag, -ENOMEM, "no memory to listen");
    listener->setup = *setup;
    listener->on_accept = on_accept;
    listener->owner = owner;
    listener->connections_max = connections_max;
    listener->holds = 1;
    r = bind_address(listener, host, port);
    if (r < 0) {
        listener_close(listener);
        return diag_set(diag, r, "cannot listen on %s: %s%s", address,
                        uv_strerror(r), bind_remedy(r));
    }
    *ret_listener = listener;
    return 0;
}

uint16_t listener_port(const struct listener *listener)
{
    struct sockaddr_storage own;
    char text[ADDRESS_SIZE];
    int length = sizeof(own);
    uint16_t port = 0;

    if (uv_tcp_getsockname(&listener->tcp, (struct sockaddr *)&own, &length) <
        0)
        return 0;
    address_print((const struct sockaddr *)&own, text);
    (void)sscanf(strrchr(text, ':') + 1, "%hu", &port);
    return port;
}

static void on_listener_closed(uv_handle_t *handle)
{
    listener_unhold(handle->data);
}

void listener_close(struct listener *listener)
{
    if (listener == NULL)
        return;
    if (listener->has_tcp)
        uv_close((uv_handle_t *)&listener->tcp, on_listener_closed);
    else
        listener_unhold(listener);
}
