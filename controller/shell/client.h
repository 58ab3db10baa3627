/*
 * client.h - the shell's connection to a controller.
 *
 * One thing at a time, as a person would: client_request() waits for its
 * answer, client_follow() for the end of what it follows.  While they wait the
 * loop runs, heartbeats go out and events come in.
 *
 * Interrupts: SIGINT, SIGTERM and SIGHUP do not end the program while a client
 * exists.  They are counted, and on_interrupt is called from the loop.
 *
 * Threads: one.  Memory: client_close() frees all; documents are the caller's.
 */
#ifndef CONTROLLER_SHELL_CLIENT_H
#define CONTROLLER_SHELL_CLIENT_H

#include <jansson.h>

#include "common/base.h"
#include "common/diag.h"
#include "controller/shell/codec.h"
#include "controller/shell/output.h"

struct client;

struct client_handlers {
    void (*on_event)(void *user, const json_t *event);
    /* `count`: 1 at the first signal. */
    void (*on_interrupt)(void *user, unsigned count);
    void *user;
};

/* Dials a controller and waits for its Welcome, ten seconds at most. */
int client_connect(const char *address, const char *keys,
                   const struct client_handlers *handlers,
                   struct client **ret_client, struct diag *diag) MUST_CHECK;

/* The same over an inherited socket, which it takes over also on failure. */
int client_adopt(int fd, const struct client_handlers *handlers,
                 struct client **ret_client, struct diag *diag) MUST_CHECK;

/* The exit status for what client_connect() gave: a wrong address or key file
 * is wrong usage, no matter whether there is a controller. */
enum exit_status client_status(int err);

/*
 * After the loss of a connection that client_connect() made: dials again until
 * there is a Welcome, `seconds` at most.  0, -ENOTCONN with the last reason, or
 * -EINTR at a signal.
 */
int client_reconnect(struct client *client, const char *address,
                     unsigned seconds, struct diag *diag) MUST_CHECK;

/* NULL is fine. */
void client_close(struct client *client);

/* A fresh id for an encoder. */
uint32_t client_next_id(struct client *client);

struct answer {
    enum exit_status status;
    json_t *document; /* a new reference */
};

/*
 * Sends a request, whose body it frees, and waits for the whole answer.
 * -ENOTCONN when the connection is lost meanwhile, -EINTR at a signal where
 * on_interrupt is not set.
 */
int client_request(struct client *client, uint32_t id, struct body *body,
                   struct answer *ret_answer, struct diag *diag) MUST_CHECK;

/*
 * Sends a request without waiting: its answer is dropped.  For on_interrupt,
 * from where nothing may wait.
 */
void client_post(struct client *client, struct body *body);

/* Runs until client_leave() or the loss of the connection (-ENOTCONN). */
int client_follow(struct client *client, struct diag *diag) MUST_CHECK;
void client_leave(struct client *client);

/* Lets the loop run for a while, less where client_leave() is called.
 * -ENOTCONN as client_follow(). */
int client_pause(struct client *client, unsigned ms,
                 struct diag *diag) MUST_CHECK;

unsigned client_interrupts(const struct client *client);

#endif
