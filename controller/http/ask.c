#include "controller/http/ask.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

#define STATUS_FAILED 1u
#define REQUEST_ID    1u

struct door {
    struct fleet *fleet;
    struct ask *asks;
};

struct ask {
    struct door *door;
    struct ask *next;
    struct link *link; /* NULL: the fleet has ended it */
    void (*answered)(void *data, struct ask_answer answer);
    void *data;
    struct ask_answer answer;
    bool over;
};

/* ---- What the fleet says to it ---------------------------------------------
 */

static void add_part(struct ask *ask, const struct wire_document *part)
{
    size_t length = ask->answer.length + part->length;
    char *text = realloc(ask->answer.text, length + 1);

    if (text == NULL) {
        free(ask->answer.text);
        ask->answer = (struct ask_answer){.status = STATUS_FAILED};
        ask->over = true;
        return;
    }
    memcpy(text + ask->answer.length, part->text, part->length);
    text[length] = '\0';
    ask->answer = (struct ask_answer){
        .status = part->status,
        .text = text,
        .length = length,
    };
    ask->over = part->last;
}

static void on_say(void *connection, const struct wire_out *out)
{
    struct ask *ask = connection;

    if (out->kind == WIRE_OUT_ANSWER && !ask->over &&
        out->answer.id == REQUEST_ID)
        add_part(ask, &out->answer);
}

static size_t on_queued(void *connection)
{
    (void)connection;
    return 0;
}

static void on_end(void *connection, const char *reason)
{
    struct ask *ask = connection;
    json_t *document;

    ask->link = NULL;
    if (ask->over)
        return;
    document = json_pack("{s:s, s:n}", "error", reason, "verdict");
    free(ask->answer.text);
    ask->answer = (struct ask_answer){
        .status = STATUS_FAILED,
        .text = json_dumps(document, JSON_COMPACT | JSON_FORM),
    };
    if (ask->answer.text != NULL)
        ask->answer.length = strlen(ask->answer.text);
    json_decref(document);
    ask->over = true;
}

static const struct link_world world = {
    .queued = on_queued,
    .end = on_end,
    .say = on_say,
};

/* ---- Asking ----------------------------------------------------------------
 */

struct door *door_new(struct fleet *fleet)
{
    struct door *door = calloc(1, sizeof(*door));

    if (door != NULL)
        door->fleet = fleet;
    return door;
}

static void send(struct ask *ask, const struct wire_request *request)
{
    struct wire_in hello = {
        .kind = WIRE_IN_SHELL_HELLO,
        .shell_hello =
            {
                .major = WIRE_MAJOR,
                .minor = WIRE_MINOR,
                .user = "the page",
                .version = LOCKSTEP_VERSION,
            },
    };
    struct wire_in in = {.kind = WIRE_IN_REQUEST, .request = *request};

    in.request.id = REQUEST_ID;
    fleet_tell(ask->door->fleet, ask->link, &hello);
    if (ask->link != NULL)
        fleet_tell(ask->door->fleet, ask->link, &in);
}

struct ask *ask_new(struct door *door, const struct link_peer *peer,
                    const struct wire_request *request,
                    void (*answered)(void *data, struct ask_answer answer),
                    void *data)
{
    struct ask *ask = calloc(1, sizeof(*ask));
    struct link_peer here = *peer;

    if (ask == NULL)
        return NULL;
    *ask = (struct ask){
        .door = door,
        .answered = answered,
        .data = data,
    };
    here.world = &world;
    ask->link = fleet_connected(door->fleet, ask, &here);
    if (ask->link == NULL) {
        free(ask);
        return NULL;
    }
    ask->next = door->asks;
    door->asks = ask;
    send(ask, request);
    return ask;
}

static void unlink_ask(struct ask *ask)
{
    struct ask **at = &ask->door->asks;

    while (*at != ask)
        at = &(*at)->next;
    *at = ask->next;
}

static void leave(struct ask *ask, const char *reason)
{
    if (ask->link != NULL)
        fleet_disconnected(ask->door->fleet, ask->link, reason);
    ask->link = NULL;
}

struct ask *ask_cancel(struct ask *ask)
{
    if (ask == NULL)
        return NULL;
    unlink_ask(ask);
    leave(ask, "nobody waits for the answer");
    free(ask->answer.text);
    free(ask);
    return NULL;
}

struct door *door_free(struct door *door)
{
    while (door != NULL && door->asks != NULL)
        ask_cancel(door->asks);
    free(door);
    return NULL;
}

static struct ask *find_over(struct door *door)
{
    for (struct ask *ask = door->asks; ask != NULL; ask = ask->next)
        if (ask->over)
            return ask;
    return NULL;
}

void door_turn(struct door *door)
{
    struct ask *ask;

    while ((ask = find_over(door)) != NULL) {
        unlink_ask(ask);
        leave(ask, "answered");
        ask->answered(ask->data, ask->answer);
        free(ask);
    }
}
