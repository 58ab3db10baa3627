/*
 * Real sockets on loopback and in socket pairs, one loop for both ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/channel.h"
#include "common/clock.h"
#include "common/diag.h"
#include "common/frame.h"
#include "tests/support/lab.h"
#include "tests/support/loop.h"
#include "tests/support/suite.h"

#define LIMIT_MS   20000
#define ANY_CLIENT (TLS_ROLE_AGENT | TLS_ROLE_OPERATOR)

static uv_loop_t loop;
static struct listener *listener;
static char address[ADDRESS_SIZE];

/* What one end saw. */
struct end {
    struct channel *channel;
    int opened, closed, drained;
    uint32_t frames;
    uint64_t bytes;
    uint64_t sum; /* of all bytes */
    uint64_t last_read_ns;
    struct diag reason;
    char peer_at_close[ADDRESS_SIZE];

    /* What it does by itself. */
    bool echoes;
    bool closes_at_frame;
    bool ends_at_open;
    uint32_t to_send; /* on_open and on_drained send until none is left */
};

static struct end client, server;

/* ---- Owners -------------------------------------------------------------- */

static void send_while_room(struct end *end)
{
    static uint8_t body[100000];

    while (end->to_send > 0 && channel_queued(end->channel) == 0) {
        end->to_send--;
        memset(body, (int)end->to_send, sizeof(body));
        ck_assert_int_eq(channel_send(end->channel, body, sizeof(body)), 0);
    }
}

static void on_open(void *owner)
{
    struct end *end = owner;

    end->opened++;
    if (end->ends_at_open) {
        ck_assert_int_eq(
            channel_send(end->channel, (const uint8_t *)"go away", 7), 0);
        channel_end(end->channel, "refused for a test");
        return;
    }
    send_while_room(end);
}

static void on_drained(void *owner)
{
    struct end *end = owner;

    end->drained++;
    send_while_room(end);
}

static void on_frame(void *owner, const uint8_t *body, uint32_t length,
                     uint64_t read_ns)
{
    struct end *end = owner;

    ck_assert_int_eq(end->closed, 0);
    ck_assert_uint_ge(read_ns, end->last_read_ns);
    ck_assert_uint_le(read_ns, clock_now_ns(clock_os()));
    end->last_read_ns = read_ns;
    end->frames++;
    end->bytes += length;
    for (uint32_t i = 0; i < length; i++)
        end->sum += body[i];
    if (end->echoes)
        ck_assert_int_eq(channel_send(end->channel, body, length), 0);
    if (end->closes_at_frame)
        channel_close(end->channel, "enough");
}

static void on_close(void *owner, const struct diag *reason)
{
    struct end *end = owner;

    ck_assert_int_eq(end->closed, 0); /* exactly once */
    end->closed++;
    end->reason = *reason;
    (void)snprintf(end->peer_at_close, sizeof(end->peer_at_close), "%s",
                   channel_peer(end->channel));
    end->channel = NULL;
}

static const struct channel_handlers handlers = {on_open, on_frame, on_drained,
                                                 on_close};

static void on_accept(void *owner, struct channel *channel)
{
    struct end *end = owner;

    ck_assert_ptr_null(end->channel);
    end->channel = channel;
    channel_bind(channel, &handlers, end);
}

/* ---- Facts to wait for --------------------------------------------------- */

static bool both_open(void *data)
{
    (void)data;
    return client.opened > 0 && server.opened > 0;
}

static bool both_closed(void *data)
{
    (void)data;
    return client.closed > 0 && server.closed > 0;
}

static bool is_closed(void *data)
{
    return ((struct end *)data)->closed > 0;
}

static uint32_t wanted_frames;

static bool has_frames(void *data)
{
    return ((struct end *)data)->frames >= wanted_frames;
}

static void await(bool (*fact)(void *), void *data)
{
    ck_assert(loop_until(&loop, fact, data, LIMIT_MS));
}

static void await_frames(struct end *end, uint32_t frames)
{
    wanted_frames = frames;
    await(has_frames, end);
}

/* ---- Fixtures ------------------------------------------------------------ */

static struct tls_context *server_keys, *client_keys;

static void setup(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
}

static void setup_keys(void)
{
    const char *lab = lab_new();

    setup();
    server_keys = lab_controller(lab);
    client_keys = lab_issue(lab, TLS_ROLE_AGENT, "host7");
}

static void teardown(void)
{
    listener_close(listener);
    if (client.channel != NULL)
        channel_close(client.channel, "teardown");
    if (server.channel != NULL)
        channel_close(server.channel, "teardown");
    loop_finish(&loop);
    server_keys = tls_context_free(server_keys);
    client_keys = tls_context_free(client_keys);
}

static struct channel_setup server_setup(void)
{
    return (struct channel_setup){
        .loop = &loop, .tls = server_keys, .peer_roles = ANY_CLIENT};
}

static struct channel_setup client_setup(void)
{
    return (struct channel_setup){
        .loop = &loop, .tls = client_keys, .peer_roles = TLS_ROLE_CONTROLLER};
}

static void listen_on(const char *host, uint32_t most)
{
    struct channel_setup setup = server_setup();
    struct diag diag = {0};
    char text[ADDRESS_SIZE];

    (void)snprintf(text, sizeof(text), "%s:0", host);
    ck_assert_msg(listener_open(&setup, text, most, on_accept, &server,
                                &listener, &diag) == 0,
                  "%s", diag.text);
    ck_assert_uint_ne(listener_port(listener), 0);
    (void)snprintf(address, sizeof(address), "%s:%u", host,
                   (unsigned)listener_port(listener));
}

static void dial(void)
{
    struct channel_setup setup = client_setup();
    struct diag diag = {0};

    ck_assert_msg(channel_connect(&setup, address, &handlers, &client,
                                  &client.channel, &diag) == 0,
                  "%s", diag.text);
}

static void connect_both(void)
{
    listen_on("127.0.0.1", 10);
    dial();
    ck_assert_int_eq(client.opened, 0); /* never from inside a call */
    await(both_open, NULL);
}

/* A socket pair: our end is a channel, the other is a descriptor. */
static int adopt_one(void)
{
    struct channel_setup setup = {.loop = &loop};
    struct diag diag = {0};
    int fds[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    ck_assert_msg(channel_adopt(&setup, fds[0], &handlers, &server,
                                &server.channel, &diag) == 0,
                  "%s", diag.text);
    ck_assert_int_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    return fds[1];
}

/* ---- Both ways ----------------------------------------------------------- */

static void talk(void)
{
    uint8_t body[1000];

    memset(body, 3, sizeof(body));
    connect_both();
    server.echoes = true;
    for (uint32_t length = 1; length <= sizeof(body); length++)
        ck_assert_int_eq(channel_send(client.channel, body, length), 0);
    await_frames(&client, sizeof(body));
    ck_assert_uint_eq(client.bytes, 1000 * 1001 / 2);
    ck_assert_uint_eq(client.sum, 3 * client.bytes);
    channel_close(client.channel, "done with %d", 7);
    ck_assert_int_eq(client.closed, 0); /* from the loop, not from inside */
    ck_assert_int_eq(channel_send(client.channel, body, 1), -ENOTCONN);
    await(both_closed, NULL);
    ck_assert_str_eq(client.reason.text, "done with 7");
    ck_assert_int_eq(client.reason.err, 0);
    ck_assert_int_eq(client.opened, 1);
    ck_assert_int_eq(server.opened, 1);
}

START_TEST(frames_go_both_ways)
{
    talk();
    ck_assert_int_eq(server.reason.err, 0);
    ck_assert_str_eq(server.reason.text, "the peer ended the connection");
    ck_assert(strncmp(server.peer_at_close, "127.0.0.1:", 10) == 0);
}
END_TEST

START_TEST(frames_go_both_ways_in_tls)
{
    talk();
    /* Closed without a word of TLS: it could have been anybody's doing. */
    ck_assert_int_eq(server.reason.err, -ECONNRESET);
}
END_TEST

START_TEST(names_and_roles)
{
    connect_both();
    ck_assert_str_eq(channel_peer_name(server.channel), "host7");
    ck_assert_int_eq(channel_peer_role(server.channel), TLS_ROLE_AGENT);
    ck_assert_str_eq(channel_peer_name(client.channel), "controller");
    ck_assert_str_eq(channel_peer(client.channel), address);
}
END_TEST

/* The longest frames, more than any socket holds: they wait, then drain. */
static void send_longest(void)
{
    enum { FRAMES = 6 };
    uint8_t *body = malloc(FRAME_BODY_MAX);

    memset(body, 1, FRAME_BODY_MAX);
    connect_both();
    for (int i = 0; i < FRAMES; i++)
        ck_assert_int_eq(channel_send(client.channel, body, FRAME_BODY_MAX), 0);
    ck_assert_uint_gt(channel_queued(client.channel), 0);
    await_frames(&server, FRAMES);
    ck_assert_uint_eq(server.sum, (uint64_t)FRAMES * FRAME_BODY_MAX);
    ck_assert_uint_eq(channel_queued(client.channel), 0);
    ck_assert_int_ge(client.drained, 1);
    ck_assert_int_eq(channel_send(client.channel, body, FRAME_BODY_MAX + 1),
                     -EMSGSIZE);
    ck_assert_int_eq(channel_send(client.channel, body, 0), -EMSGSIZE);
    ck_assert_int_eq(client.closed, 0);
    free(body);
}

START_TEST(the_longest_frames)
{
    send_longest();
}
END_TEST

/* A sender that waits for on_drained sends 30 MB through a bound of 8 MiB. */
static void send_paced(void)
{
    client.to_send = 300;
    connect_both();
    await_frames(&server, 300);
    ck_assert_int_eq(client.closed, 0);
    ck_assert_uint_eq(server.bytes, 300 * UINT64_C(100000));
}

START_TEST(pacing_by_on_drained)
{
    send_paced();
}
END_TEST

/* ---- Ends ---------------------------------------------------------------- */

/* What was sent before channel_end() arrives, and the end is orderly. */
static void end_after_sending(void)
{
    server.ends_at_open = true;
    listen_on("127.0.0.1", 10);
    client.to_send = 50;
    dial();
    await(both_closed, NULL);
    ck_assert_uint_eq(client.frames, 1);
    ck_assert_uint_eq(client.bytes, 7);
    ck_assert_str_eq(server.reason.text, "refused for a test");
    ck_assert_int_eq(server.reason.err, 0);
}

START_TEST(an_end_delivers_what_waits)
{
    end_after_sending();
}
END_TEST

START_TEST(an_orderly_end_in_tls)
{
    connect_both();
    channel_end(client.channel, "bye");
    await(both_closed, NULL);
    ck_assert_int_eq(server.reason.err, 0);
    ck_assert_str_eq(server.reason.text, "the peer ended the connection");
}
END_TEST

/* A peer that never answers the end does not hold it for ever. */
START_TEST(an_end_has_a_limit)
{
    int fd = adopt_one();

    await(both_open, (client.opened = 1, NULL));
    channel_end(server.channel, "bye");
    channel_end(server.channel, "another word");
    channel_close(server.channel, "a third");
    await(is_closed, &server);
    ck_assert_str_eq(server.reason.text, "bye");
    (void)close(fd);

    memset(&server, 0, sizeof(server));
    fd = adopt_one();
    await(both_open, NULL);
    channel_end(server.channel, "bye again");
    await(is_closed, &server);
    ck_assert_str_eq(server.reason.text, "bye again");
    (void)close(fd);
}
END_TEST

START_TEST(closing_inside_on_frame)
{
    connect_both();
    server.closes_at_frame = true;
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(channel_send(client.channel, (const uint8_t *)"x", 1),
                         0);
    await(both_closed, NULL);
    ck_assert_uint_eq(server.frames, 1); /* none after the close */
    ck_assert_str_eq(server.reason.text, "enough");
}
END_TEST

START_TEST(a_disowned_channel_calls_nobody)
{
    connect_both();
    channel_disown(server.channel);
    server.channel = NULL;
    await(is_closed, &client);
    ck_assert_int_eq(server.closed, 0);
    channel_disown(NULL);
}
END_TEST

/* The first reason is the one that is told. */
START_TEST(closing_twice)
{
    connect_both();
    channel_close(client.channel, "first");
    channel_close(client.channel, "second");
    channel_end(client.channel, "third");
    await(both_closed, NULL);
    ck_assert_str_eq(client.reason.text, "first");
}
END_TEST

/* ---- Bad peers ----------------------------------------------------------- */

/* One who does not read: what waits is bounded, and then he is let go. */
START_TEST(a_peer_that_does_not_read)
{
    static uint8_t body[FRAME_BODY_MAX];
    int fd = adopt_one();
    int sent = 0, r = 0;

    client.opened = 1;
    await(both_open, NULL);
    while (r == 0 && sent++ < 100)
        r = channel_send(server.channel, body, sizeof(body));
    ck_assert_int_eq(r, -ENOBUFS);
    ck_assert_int_lt(sent, 12);
    await(is_closed, &server);
    ck_assert_int_eq(server.reason.err, -ENOBUFS);
    ck_assert_ptr_nonnull(strstr(server.reason.text, "does not take"));
    (void)close(fd);
}
END_TEST

START_TEST(case_O01_a_peer_that_lies_about_length)
{
    static const uint8_t bad[] = {0x7f, 0xff, 0xff, 0xff, 1, 2, 3};
    int fd = adopt_one();

    ck_assert_int_eq(write(fd, bad, sizeof(bad)), sizeof(bad));
    await(is_closed, &server);
    ck_assert_int_eq(server.reason.err, -EMSGSIZE);
    ck_assert_int_eq(server.opened, 1);
    ck_assert_uint_eq(server.frames, 0);
    (void)close(fd);
}
END_TEST

START_TEST(a_peer_that_goes_within_a_frame)
{
    static const uint8_t half[] = {0, 0, 0, 9, 1, 2};
    int fd = adopt_one();

    ck_assert_int_eq(write(fd, half, sizeof(half)), sizeof(half));
    (void)close(fd);
    await(is_closed, &server);
    ck_assert_int_eq(server.reason.err, -ECONNRESET);
    ck_assert_str_eq(server.peer_at_close, "local");
}
END_TEST

/* A plain socket, connected to our listener and then left alone. */
static int connect_silently(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(listener_port(listener));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static bool server_is_open(void *data)
{
    (void)data;
    return server.opened > 0;
}

/* One whose kernel answers but who takes nothing: TCP gives up on him. */
START_TEST(a_silent_peer_is_let_go)
{
    static uint8_t body[FRAME_BODY_MAX];
    int fd;

    listen_on("127.0.0.1", 5);
    fd = connect_silently();
    await(server_is_open, NULL);
    while (channel_queued(server.channel) < sizeof(body))
        ck_assert_int_eq(channel_send(server.channel, body, sizeof(body)), 0);
    await(is_closed, &server);
    ck_assert_int_eq(server.reason.err, -ETIMEDOUT);
    (void)close(fd);
}
END_TEST

/* One who connects and never says a word of TLS. */
START_TEST(tls_has_a_limit)
{
    struct channel_setup setup = server_setup();
    int fd;

    setup.handshake_ms = 50;
    ck_assert_int_eq(listener_open(&setup, "127.0.0.1:0", 5, on_accept, &server,
                                   &listener, NULL),
                     0);
    fd = connect_silently();
    await(is_closed, &server);
    ck_assert_int_eq(server.reason.err, -ETIMEDOUT);
    ck_assert_int_eq(server.opened, 0);
    (void)close(fd);
}
END_TEST

/* Plain frames to a TLS listener, and a TLS client at a plain one. */
START_TEST(plain_against_tls)
{
    struct tls_context *keys = client_keys;

    listen_on("127.0.0.1", 10);
    if (_i == 0) {
        client_keys = NULL;
        client.to_send = 1;
    } else {
        struct tls_context *other = server_keys;

        listener_close(listener);
        server_keys = NULL;
        listen_on("127.0.0.1", 10);
        server_keys = other;
    }
    dial();
    client_keys = keys;
    await(both_closed, NULL);
    if (_i == 0) {
        ck_assert_int_lt(server.reason.err, 0);
        ck_assert_ptr_nonnull(strstr(server.reason.text, "speak TLS"));
        ck_assert_int_eq(server.opened, 0);
    } else {
        ck_assert_int_eq(server.reason.err, -EMSGSIZE);
        ck_assert_int_lt(client.reason.err, 0);
        ck_assert_int_eq(client.opened, 0);
    }
    ck_assert_uint_eq(server.frames, 0);
}
END_TEST

/* The refused side hears why, though it may have been open and have sent. */
START_TEST(case_O03_a_role_that_is_not_wanted)
{
    struct channel_setup setup = server_setup();

    setup.peer_roles = TLS_ROLE_OPERATOR;
    ck_assert_int_eq(listener_open(&setup, "127.0.0.1:0", 5, on_accept, &server,
                                   &listener, NULL),
                     0);
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u",
                   (unsigned)listener_port(listener));
    client.to_send = 3;
    dial();
    await(both_closed, NULL);
    ck_assert_int_eq(server.opened, 0);
    ck_assert_uint_eq(server.frames, 0);
    ck_assert_int_eq(server.reason.err, -EKEYREJECTED);
    ck_assert_ptr_nonnull(strstr(server.reason.text, "role"));
    ck_assert_ptr_nonnull(strstr(client.reason.text, "refuses us"));
}
END_TEST

/* More connections than allowed are closed at once, the others stay. */
START_TEST(too_many_connections)
{
    struct channel_setup setup = client_setup();
    struct end second = {.channel = NULL};

    listen_on("127.0.0.1", 1);
    dial();
    await(both_open, NULL);
    ck_assert_int_eq(channel_connect(&setup, address, &handlers, &second,
                                     &second.channel, NULL),
                     0);
    await(is_closed, &second);
    ck_assert_int_eq(client.closed, 0);
    channel_close(client.channel, "room for another");
    await(both_closed, NULL);

    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
    dial();
    await(both_open, NULL);
}
END_TEST

/* ---- Dialling and listening ---------------------------------------------- */

/* A port that was free a moment ago, and is again. */
static uint16_t free_port(void)
{
    uint16_t port;

    listen_on("127.0.0.1", 1);
    port = listener_port(listener);
    listener_close(listener);
    listener = NULL;
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    return port;
}

START_TEST(nobody_listens)
{
    (void)free_port();
    dial();
    await(is_closed, &client);
    ck_assert_int_eq(client.reason.err, -ECONNREFUSED);
    ck_assert_int_eq(client.opened, 0);
    ck_assert_ptr_nonnull(strstr(client.reason.text, address));
}
END_TEST

/* "localhost" has two addresses; one of them is enough. */
START_TEST(each_address_is_tried)
{
    listen_on("127.0.0.1", 5);
    (void)snprintf(address, sizeof(address), "localhost:%u",
                   (unsigned)listener_port(listener));
    dial();
    await(both_open, NULL);
}
END_TEST

START_TEST(a_host_that_does_not_exist)
{
    (void)snprintf(address, sizeof(address), "no-such-host.invalid:1");
    dial();
    await(is_closed, &client);
    ck_assert_int_lt(client.reason.err, 0);
    ck_assert_ptr_nonnull(strstr(client.reason.text, "no-such-host"));
}
END_TEST

START_TEST(closing_while_dialling)
{
    listen_on("127.0.0.1", 5);
    dial();
    channel_close(client.channel, "changed my mind");
    await(is_closed, &client);
    ck_assert_str_eq(client.reason.text, "changed my mind");
    ck_assert_int_eq(client.opened, 0);
    dial();
    channel_disown(client.channel);
    client.channel = NULL;
}
END_TEST

START_TEST(a_port_in_use)
{
    struct channel_setup setup = server_setup();
    struct listener *second = NULL;
    struct diag diag = {0};

    listen_on("127.0.0.1", 5);
    ck_assert_int_eq(
        listener_open(&setup, address, 5, on_accept, &server, &second, &diag),
        -EADDRINUSE);
    ck_assert_ptr_null(second);
    ck_assert_ptr_nonnull(strstr(diag.text, address));
    ck_assert_ptr_nonnull(strstr(diag.text, "another port"));
    ck_assert_int_eq(listener_open(&setup, "192.0.2.1:1", 5, on_accept, &server,
                                   &second, &diag),
                     -EADDRNOTAVAIL);
    ck_assert_int_eq(listener_open(&setup, "nonsense", 5, on_accept, &server,
                                   &second, &diag),
                     -EINVAL);
}
END_TEST

START_TEST(ipv6)
{
    int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (probe < 0)
        return; /* a kernel without it cannot be asked */
    (void)close(probe);
    listen_on("[::1]", 5);
    dial();
    await(both_open, NULL);
    ck_assert_str_eq(channel_peer(client.channel), address);
}
END_TEST

START_TEST(a_descriptor_that_is_no_connection)
{
    struct channel_setup setup = {.loop = &loop};
    struct diag diag = {0};
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    ck_assert_int_eq(
        channel_adopt(&setup, fd, &handlers, &server, &server.channel, &diag),
        -ENOTSOCK);
    ck_assert_ptr_null(server.channel);
    ck_assert_int_lt(fcntl(fd, F_GETFD), 0); /* closed all the same */
}
END_TEST

/* ---- Addresses ----------------------------------------------------------- */

static const struct {
    const char *text;
    uint16_t default_port;
    const char *host; /* NULL: refused */
    uint16_t port;
} addresses[] = {
    {"host7:7780", 0, "host7", 7780},
    {"10.0.0.7:1", 0, "10.0.0.7", 1},
    {"[2001:db8::7]:7780", 0, "2001:db8::7", 7780},
    {"host7", 7780, "host7", 7780},
    {"host7:9", 7780, "host7", 9},
    {"[::1]", 7780, "::1", 7780},
    {"::1", 7780, "::1", 7780},
    {"0.0.0.0:0", 0, "0.0.0.0", 0},
    {"a_b-c.d:65535", 0, "a_b-c.d", 65535},
    {"host7", 0, NULL, 0},
    {"host7:", 7780, NULL, 0},
    {":7780", 7780, NULL, 0},
    {"", 7780, NULL, 0},
    {"host7:65536", 0, NULL, 0},
    {"host7:99999999", 0, NULL, 0},
    {"host7:-1", 0, NULL, 0},
    {"host7:7x", 0, NULL, 0},
    {"ho st:1", 0, NULL, 0},
    {"[::1:7780", 0, NULL, 0},
    {"[::1]7780", 0, NULL, 0},
    {"[zz::1]:7780", 0, NULL, 0},
    {"http://host7:80", 0, NULL, 0},
};

START_TEST(splitting)
{
    char host[ADDRESS_SIZE] = "untouched";
    uint16_t port = 77;
    int r = address_split(addresses[_i].text, addresses[_i].default_port, host,
                          &port);
    bool good = addresses[_i].host != NULL;

    ck_assert_msg(r == (good ? 0 : -EINVAL), "'%s'", addresses[_i].text);
    ck_assert_str_eq(host, good ? addresses[_i].host : "untouched");
    ck_assert_uint_eq(port, good ? addresses[_i].port : 77);
}
END_TEST

START_TEST(loopback)
{
    ck_assert(address_is_loopback("localhost"));
    ck_assert(address_is_loopback("127.0.0.1"));
    ck_assert(address_is_loopback("127.9.9.9"));
    ck_assert(address_is_loopback("::1"));
    ck_assert(!address_is_loopback("0.0.0.0"));
    ck_assert(!address_is_loopback("::"));
    ck_assert(!address_is_loopback("10.0.0.1"));
    ck_assert(!address_is_loopback("localhost.evil.example"));
    ck_assert(!address_is_loopback("127.0.0.1.evil.example"));
}
END_TEST

static TCase *make_case(const char *name, void (*before)(void))
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, before, teardown);
    tcase_set_timeout(tc, 60);
    return tc;
}

static TCase *plain_case(void)
{
    TCase *tc = make_case("plain", setup);

    tcase_add_test(tc, frames_go_both_ways);
    tcase_add_test(tc, the_longest_frames);
    tcase_add_test(tc, pacing_by_on_drained);
    tcase_add_test(tc, an_end_delivers_what_waits);
    tcase_add_test(tc, an_end_has_a_limit);
    tcase_add_test(tc, closing_inside_on_frame);
    tcase_add_test(tc, a_disowned_channel_calls_nobody);
    tcase_add_test(tc, closing_twice);
    tcase_add_test(tc, a_peer_that_does_not_read);
    tcase_add_test(tc, a_silent_peer_is_let_go);
    tcase_add_test(tc, case_O01_a_peer_that_lies_about_length);
    tcase_add_test(tc, a_peer_that_goes_within_a_frame);
    tcase_add_test(tc, too_many_connections);
    tcase_add_test(tc, nobody_listens);
    tcase_add_test(tc, each_address_is_tried);
    tcase_add_test(tc, a_host_that_does_not_exist);
    tcase_add_test(tc, closing_while_dialling);
    tcase_add_test(tc, a_port_in_use);
    tcase_add_test(tc, ipv6);
    tcase_add_test(tc, a_descriptor_that_is_no_connection);
    return tc;
}

static TCase *tls_case(void)
{
    TCase *tc = make_case("tls", setup_keys);

    tcase_add_test(tc, frames_go_both_ways_in_tls);
    tcase_add_test(tc, names_and_roles);
    tcase_add_test(tc, the_longest_frames);
    tcase_add_test(tc, pacing_by_on_drained);
    tcase_add_test(tc, an_end_delivers_what_waits);
    tcase_add_test(tc, an_orderly_end_in_tls);
    tcase_add_test(tc, closing_inside_on_frame);
    tcase_add_test(tc, closing_twice);
    tcase_add_test(tc, tls_has_a_limit);
    tcase_add_loop_test(tc, plain_against_tls, 0, 2);
    tcase_add_test(tc, case_O03_a_role_that_is_not_wanted);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("channel");
    TCase *tc = tcase_create("address");

    tcase_add_loop_test(tc, splitting, 0, (int)ARRAY_LENGTH(addresses));
    tcase_add_test(tc, loopback);
    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, plain_case());
    suite_add_tcase(suite, tls_case());
    return suite_run(suite);
}
