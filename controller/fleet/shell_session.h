/*
 * shell_session.h - a connected shell: its open requests and what it is to be
 * sent.
 *
 * A shell may be slow, an answer long.  What is to be sent waits here, in
 * order, and goes on as the connection drains.  Intervals that wait too long
 * are dropped, oldest first: a watcher sees the newest state.  Answers, phases,
 * ends and notices are never dropped; a shell that lets too many of them wait
 * is disconnected.
 *
 * Memory: shell_session_free().  Texts handed in are copied.
 * Threads: one owner.
 */
#ifndef CONTROLLER_FLEET_SHELL_SESSION_H
#define CONTROLLER_FLEET_SHELL_SESSION_H

#include "common/base.h"
#include "controller/fleet/link.h"

#define SHELL_REQUESTS_MAX  16u
#define SHELL_QUEUED_MAX    (1u << 20)  /* handed to the connection at once */
#define SHELL_BACKLOG_MAX   (64u << 20) /* bytes that wait here */
#define SHELL_INTERVALS_MAX 64u         /* events that may be dropped */

enum shell_request_state {
    SHELL_REQUEST_NONE,       /* the slot is free */
    SHELL_REQUEST_OPEN,       /* its answer is still to come */
    SHELL_REQUEST_WATCH_OPEN, /* a Watch, not answered: its events are held */
    SHELL_REQUEST_WATCH,      /* answered; events until "end" */
};

struct shell_request {
    uint32_t id;
    enum shell_request_state state;
    struct uuid campaign; /* of a Watch */
};

struct shell_item;

struct shell_session {
    struct link *link;
    char user[NAME_SIZE];
    struct shell_request requests[SHELL_REQUESTS_MAX];
    struct shell_item *first; /* what waits, oldest first */
    struct shell_item *last;
    struct shell_item *held; /* events of unanswered Watches, newest first */
    size_t backlog_bytes;
    uint32_t backlog_intervals;
    uint64_t dropped;
};

/* Takes over a link that is greeting.  NULL without memory. */
struct shell_session *shell_session_new(struct link *link,
                                        const struct wire_shell_hello *hello);

/* NULL is fine.  Returns NULL. */
struct shell_session *shell_session_free(struct shell_session *session);

/*
 * Opens a request.  -EINVAL for id 0, -EEXIST for one in use, -EBUSY above
 * SHELL_REQUESTS_MAX; the shell does not keep the protocol then.
 */
int shell_session_open(struct shell_session *session, uint32_t id) MUST_CHECK;

/* NULL: not open. */
struct shell_request *shell_session_request(struct shell_session *session,
                                            uint32_t id);

/* The answer, in parts as needed; closes the request. */
void shell_session_answer(struct shell_session *session, uint32_t id,
                          uint32_t status, const char *text, size_t length);

/* The request is a Watch of this campaign: its events are kept back from now
 * on until the answer has been given. */
void shell_session_watch(struct shell_session *session, uint32_t id,
                         const struct uuid *campaign);

/* The answer to a Watch: the request stays open for events. */
void shell_session_answer_watch(struct shell_session *session, uint32_t id,
                                const char *text, size_t length);

static inline bool shell_request_watches(const struct shell_request *request,
                                         const struct uuid *campaign)
{
    return (request->state == SHELL_REQUEST_WATCH_OPEN ||
            request->state == SHELL_REQUEST_WATCH) &&
           wire_uuid_equal(&request->campaign, campaign);
}

enum shell_event {
    SHELL_EVENT_INTERVAL, /* may be dropped */
    SHELL_EVENT_KEPT,
    SHELL_EVENT_END, /* closes the request */
};

void shell_session_event(struct shell_session *session, uint32_t id,
                         enum shell_event kind, const char *text,
                         size_t length);

/* The connection has drained. */
void shell_session_drained(struct shell_session *session);

/* "ann from 10.0.0.7:4711" into REASON_SIZE bytes. */
void shell_session_who(const struct shell_session *session, char *text);

#endif
