/*
 * From an address, or an inherited descriptor, to a connected channel.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/channel_private.h"

#define KEEPALIVE_IDLE_S  1
#define KEEPALIVE_EACH_S  1
#define KEEPALIVE_PROBES  3
#define UNANSWERED_MAX_MS 3000

void address_print(const struct sockaddr *address, char text[ADDRESS_SIZE])
{
    char host[INET6_ADDRSTRLEN] = "";

    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;

        (void)uv_ip4_name(v4, host, sizeof(host));
        (void)snprintf(text, ADDRESS_SIZE, "%s:%u", host,
                       (unsigned)ntohs(v4->sin_port));
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)address;

        (void)uv_ip6_name(v6, host, sizeof(host));
        (void)snprintf(text, ADDRESS_SIZE, "[%s]:%u", host,
                       (unsigned)ntohs(v6->sin6_port));
    } else {
        (void)snprintf(text, ADDRESS_SIZE, "local");
    }
}

static void set_option(int fd, int level, int name, int value)
{
    /* Without it a cut link is seen later, by heartbeats: no reason to fail. */
    (void)setsockopt(fd, level, name, &value, sizeof(value));
}

void channel_tune_tcp(uv_tcp_t *tcp)
{
    uv_os_fd_t fd;

    if (uv_fileno((uv_handle_t *)tcp, &fd) < 0)
        return;
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EACH_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNANSWERED_MAX_MS);
}

/* ---- Dialling ------------------------------------------------------------ */

static void try_next(struct channel *channel);

static void on_attempt_closed(uv_handle_t *handle)
{
    struct channel *channel = handle->data;

    channel->has_io = false;
    if (channel->state != CHANNEL_CLOSING)
        try_next(channel); /* with a hold of its own */
    channel_drop_hold(channel);
}

void channel_attempt_failed(struct channel *channel, int err)
{
    channel->attempt_error = err;
    (void)uv_timer_stop(&channel->timer);
    uv_close(&channel->io.handle, on_attempt_closed);
}

/* A free port of this very host may be dialled from itself: the connection then
 * is one with ourselves, where nobody listens. */
static bool is_self(const struct sockaddr_storage *peer, uv_tcp_t *tcp)
{
    struct sockaddr_storage own;
    char own_text[ADDRESS_SIZE], peer_text[ADDRESS_SIZE];
    int length = sizeof(own);

    if (uv_tcp_getsockname(tcp, (struct sockaddr *)&own, &length) < 0)
        return false;
    address_print((const struct sockaddr *)&own, own_text);
    address_print((const struct sockaddr *)peer, peer_text);
    return strcmp(own_text, peer_text) == 0;
}

static void on_connected(uv_connect_t *request, int status)
{
    struct channel *channel = request->handle->data;
    struct sockaddr_storage peer;
    int length = sizeof(peer);

    if (channel->state != CHANNEL_CONNECTING ||
        uv_is_closing(&channel->io.handle))
        return; /* the limit passed, or the owner closed */
    if (status == 0)
        status = uv_tcp_getpeername(&channel->io.tcp, (struct sockaddr *)&peer,
                                    &length);
    if (status == 0 && is_self(&peer, &channel->io.tcp))
        status = -ECONNREFUSED;
    if (status < 0) {
        channel_attempt_failed(channel, status);
        return;
    }
    address_print((const struct sockaddr *)&peer, channel->peer);
    channel_tune_tcp(&channel->io.tcp);
    channel_connected(channel);
}

static int dial(struct channel *channel, const struct addrinfo *address)
{
    int r = uv_tcp_init(channel->setup.loop, &channel->io.tcp);

    if (r < 0)
        return r;
    channel->has_io = true;
    channel->io.handle.data = channel;
    channel->holds++;
    return uv_tcp_connect(&channel->connect, &channel->io.tcp, address->ai_addr,
                          on_connected);
}

static void try_next(struct channel *channel)
{
    const struct addrinfo *address = channel->next_address;
    int r;

    if (address == NULL) {
        channel_fail(channel, channel->attempt_error,
                     "cannot connect to %s: %s", channel->address,
                     uv_strerror(channel->attempt_error));
        return;
    }
    channel->next_address = address->ai_next;
    channel_enter(channel, CHANNEL_CONNECTING, CONNECT_LIMIT_MS);
    r = dial(channel, address);
    if (r < 0 && channel->has_io)
        channel_attempt_failed(channel, r);
    else if (r < 0)
        channel_fail(channel, r, "cannot connect to %s: %s", channel->address,
                     uv_strerror(r));
}

static void on_resolved(uv_getaddrinfo_t *request, int status,
                        struct addrinfo *addresses)
{
    struct channel *channel = request->data;

    channel->addresses = addresses;
    channel->next_address = addresses;
    channel->attempt_error = -EHOSTUNREACH;
    if (channel->state == CHANNEL_RESOLVING && status < 0)
        channel_fail(channel, status, "cannot look up '%s': %s",
                     channel->address, uv_strerror(status));
    else if (channel->state == CHANNEL_RESOLVING)
        try_next(channel);
    channel_drop_hold(channel);
}

static int resolve(struct channel *channel, const char *host, uint16_t port)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV,
    };
    char service[8];
    int r;

    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    channel->resolve.data = channel;
    r = uv_getaddrinfo(channel->setup.loop, &channel->resolve, on_resolved,
                       host, service, &hints);
    if (r < 0)
        return r;
    channel->holds++;
    channel_enter(channel, CHANNEL_RESOLVING, CONNECT_LIMIT_MS);
    return 0;
}

int channel_connect(const struct channel_setup *setup, const char *address,
                    const struct channel_handlers *handlers, void *owner,
                    struct channel **ret_channel, struct diag *diag)
{
    struct channel *channel;
    char host[ADDRESS_SIZE];
    uint16_t port;
    int r;

    if (address_split(address, 0, host, &port) < 0 || port == 0)
        return diag_set(diag, -EINVAL, "'%s' is no address, as host:port is",
                        address);
    channel = channel_new(setup, handlers, owner);
    if (channel == NULL)
        return diag_set(diag, -ENOMEM, "no memory for a connection");
    (void)snprintf(channel->address, sizeof(channel->address), "%s", address);
    (void)snprintf(channel->peer, sizeof(channel->peer), "%s", address);
    r = resolve(channel, host, port);
    if (r < 0) {
        channel_disown(channel);
        return diag_set(diag, r, "cannot look up '%s': %s", address,
                        uv_strerror(r));
    }
    *ret_channel = channel;
    return 0;
}

/* ---- An inherited descriptor --------------------------------------------- */

static int open_descriptor(struct channel *channel, int fd)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(address);
    bool tcp;
    int r;

    if (getpeername(fd, (struct sockaddr *)&address, &length) < 0)
        return -errno;
    tcp = address.ss_family != AF_UNIX;
    r = tcp ? uv_tcp_init(channel->setup.loop, &channel->io.tcp)
            : uv_pipe_init(channel->setup.loop, &channel->io.pipe, 0);
    if (r < 0)
        return r;
    channel->has_io = true;
    channel->holds++;
    channel->io.handle.data = channel;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    r = tcp ? uv_tcp_open(&channel->io.tcp, fd)
            : uv_pipe_open(&channel->io.pipe, fd);
    if (r < 0)
        return r;
    address_print((const struct sockaddr *)&address, channel->peer);
    if (tcp)
        channel_tune_tcp(&channel->io.tcp);
    return 0;
}

int channel_adopt(const struct channel_setup *setup, int fd,
                  const struct channel_handlers *handlers, void *owner,
                  struct channel **ret_channel, struct diag *diag)
{
    struct channel *channel = channel_new(setup, handlers, owner);
    uv_os_fd_t owned;
    int r = channel == NULL ? -ENOMEM : open_descriptor(channel, fd);

    if (r == 0) {
        channel->setup.tls = NULL;
        channel_connected(channel);
        *ret_channel = channel;
        return 0;
    }
    if (channel == NULL || !channel->has_io ||
        uv_fileno(&channel->io.handle, &owned) < 0)
        (void)close(fd); /* the loop did not take it */
    channel_disown(channel);
    return diag_set(diag, r, "descriptor %d is no connection: %s", fd,
                    strerror(-r));
}
