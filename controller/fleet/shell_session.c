#include "controller/fleet/shell_session.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shell_item {
    struct shell_item *next;
    uint32_t id;
    uint32_t status;
    bool is_event;
    bool is_end;
    bool may_drop;
    size_t length;
    size_t sent; /* of an answer in parts */
    char text[];
};

struct shell_session *shell_session_new(struct link *link,
                                        const struct wire_shell_hello *hello)
{
    struct shell_session *session = calloc(1, sizeof(*session));

    if (session == NULL)
        return NULL;
    session->link = link;
    (void)snprintf(session->user, sizeof(session->user), "%s",
                   link->name[0] != '\0' ? link->name : hello->user);
    link_enter(link, LINK_SHELL);
    link->owner = session;
    return session;
}

static void free_items(struct shell_item *item)
{
    while (item != NULL) {
        struct shell_item *next = item->next;

        free(item);
        item = next;
    }
}

struct shell_session *shell_session_free(struct shell_session *session)
{
    if (session == NULL)
        return NULL;
    free_items(session->first);
    free_items(session->held);
    free(session);
    return NULL;
}

struct shell_request *shell_session_request(struct shell_session *session,
                                            uint32_t id)
{
    for (size_t i = 0; i < ARRAY_LENGTH(session->requests); i++)
        if (session->requests[i].state != SHELL_REQUEST_NONE &&
            session->requests[i].id == id)
            return &session->requests[i];
    return NULL;
}

int shell_session_open(struct shell_session *session, uint32_t id)
{
    if (id == 0)
        return -EINVAL;
    if (shell_session_request(session, id) != NULL)
        return -EEXIST;
    for (size_t i = 0; i < ARRAY_LENGTH(session->requests); i++) {
        struct shell_request *request = &session->requests[i];

        if (request->state != SHELL_REQUEST_NONE)
            continue;
        *request = (struct shell_request){
            .id = id,
            .state = SHELL_REQUEST_OPEN,
        };
        return 0;
    }
    return -EBUSY;
}

static void close_request(struct shell_session *session, uint32_t id)
{
    struct shell_request *request = shell_session_request(session, id);

    if (request != NULL)
        request->state = SHELL_REQUEST_NONE;
}

/* ---- What waits ------------------------------------------------------------
 */

static void forget(struct shell_session *session, struct shell_item *item,
                   struct shell_item *before)
{
    if (before == NULL)
        session->first = item->next;
    else
        before->next = item->next;
    if (session->last == item)
        session->last = before;
    session->backlog_bytes -= item->length;
    session->backlog_intervals -= item->may_drop ? 1 : 0;
    free(item);
}

static void drop_oldest_interval(struct shell_session *session)
{
    struct shell_item *before = NULL;

    for (struct shell_item *item = session->first; item != NULL;
         before = item, item = item->next)
        if (item->may_drop && item->sent == 0) {
            forget(session, item, before);
            session->dropped++;
            return;
        }
}

/* Sends the first item, or its next part.  False when it is to wait. */
static bool send_next(struct shell_session *session)
{
    struct shell_item *item = session->first;
    struct link *link = session->link;
    struct wire_out out = {0};
    struct wire_document *document;
    size_t part;

    if (item == NULL || !link_is_open(link) ||
        link->world->queued(link->connection) >= SHELL_QUEUED_MAX)
        return false;
    part = item->length - item->sent;
    if (part > WIRE_DOCUMENT_BYTES)
        part = WIRE_DOCUMENT_BYTES;
    out.kind = item->is_event ? WIRE_OUT_EVENT : WIRE_OUT_ANSWER;
    document = item->is_event ? &out.event : &out.answer;
    *document = (struct wire_document){
        .id = item->id,
        .status = item->status,
        .last = item->sent + part == item->length,
        .text = item->text + item->sent,
        .length = part,
    };
    (void)link_say(link, &out);
    item->sent += part;
    if (item->sent == item->length)
        forget(session, item, NULL);
    return true;
}

static void pump(struct shell_session *session)
{
    while (send_next(session))
        continue;
}

void shell_session_drained(struct shell_session *session)
{
    pump(session);
}

static struct shell_item *item_new(struct shell_session *session,
                                   const struct shell_item *head,
                                   const char *text)
{
    struct shell_item *item;

    if (!link_is_open(session->link))
        return NULL;
    item = malloc(sizeof(*item) + head->length);
    if (item == NULL) {
        link_end(session->link, "the controller is out of memory");
        return NULL;
    }
    *item = *head;
    memcpy(item->text, text, head->length);
    session->backlog_bytes += item->length;
    session->backlog_intervals += item->may_drop ? 1 : 0;
    return item;
}

static void append(struct shell_session *session, struct shell_item *item)
{
    item->next = NULL;
    if (session->last == NULL)
        session->first = item;
    else
        session->last->next = item;
    session->last = item;
    if (item->is_end)
        close_request(session, item->id);
    pump(session);
}

static void keep_limits(struct shell_session *session)
{
    if (session->backlog_intervals > SHELL_INTERVALS_MAX)
        drop_oldest_interval(session);
    if (session->backlog_bytes > SHELL_BACKLOG_MAX)
        link_end(session->link,
                 "the shell does not read: %zu bytes wait for it",
                 session->backlog_bytes);
}

/* ---- Answers and events ----------------------------------------------------
 */

static void answer(struct shell_session *session, uint32_t id, uint32_t status,
                   const char *text, size_t length)
{
    const struct shell_item head = {
        .id = id,
        .status = status,
        .length = length,
    };
    struct shell_item *item;

    assert(length > 0); /* a document is never empty */
    item = item_new(session, &head, text);
    if (item != NULL)
        append(session, item);
    keep_limits(session);
}

/* Takes what is held for a request off the list, oldest first. */
static struct shell_item *take_held(struct shell_session *session, uint32_t id)
{
    struct shell_item **at = &session->held;
    struct shell_item *taken = NULL;

    while (*at != NULL) {
        struct shell_item *item = *at;

        if (item->id != id) {
            at = &item->next;
            continue;
        }
        *at = item->next;
        item->next = taken;
        taken = item;
    }
    return taken;
}

static void drop_held(struct shell_session *session, uint32_t id)
{
    struct shell_item *item = take_held(session, id);

    for (struct shell_item *at = item; at != NULL; at = at->next) {
        session->backlog_bytes -= at->length;
        session->backlog_intervals -= at->may_drop ? 1 : 0;
    }
    free_items(item);
}

void shell_session_answer(struct shell_session *session, uint32_t id,
                          uint32_t status, const char *text, size_t length)
{
    close_request(session, id);
    drop_held(session, id);
    answer(session, id, status, text, length);
}

void shell_session_watch(struct shell_session *session, uint32_t id,
                         const struct uuid *campaign)
{
    struct shell_request *request = shell_session_request(session, id);

    assert(request != NULL && request->state == SHELL_REQUEST_OPEN);
    request->state = SHELL_REQUEST_WATCH_OPEN;
    request->campaign = *campaign;
}

void shell_session_answer_watch(struct shell_session *session, uint32_t id,
                                const char *text, size_t length)
{
    struct shell_request *request = shell_session_request(session, id);
    struct shell_item *item;

    if (request == NULL)
        return;
    request->state = SHELL_REQUEST_WATCH;
    answer(session, id, 0, text, length);
    item = take_held(session, id);
    while (item != NULL) {
        struct shell_item *next = item->next;

        append(session, item);
        item = next;
    }
}

void shell_session_event(struct shell_session *session, uint32_t id,
                         enum shell_event kind, const char *text, size_t length)
{
    const struct shell_item head = {
        .id = id,
        .is_event = true,
        .is_end = kind == SHELL_EVENT_END,
        .may_drop = kind == SHELL_EVENT_INTERVAL,
        .length = length,
    };
    const struct shell_request *request = shell_session_request(session, id);
    struct shell_item *item =
        request == NULL ? NULL : item_new(session, &head, text);

    if (item == NULL)
        return;
    if (request->state == SHELL_REQUEST_WATCH_OPEN) {
        item->next = session->held;
        session->held = item;
    } else {
        append(session, item);
    }
    keep_limits(session);
}

void shell_session_who(const struct shell_session *session, char *text)
{
    (void)snprintf(text, REASON_SIZE, "%s from %s",
                   session->user[0] != '\0' ? session->user : "somebody",
                   session->link->address);
}
