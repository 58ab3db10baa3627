/*
 * ask.h - the page's requests to the fleet: each is a shell of its own, within
 * this process, so that a page can do what a shell can and nothing else.
 *
 *     door = door_new(fleet);
 *     ask = ask_new(door, &peer, &request, answered, data);
 *     once a turn of the loop: door_turn(door): answered() is called
 *     door_free(door);
 *
 * Threads: the loop's.  Memory: an ask is freed after answered() returned, or
 * by ask_cancel().
 */
#ifndef CONTROLLER_HTTP_ASK_H
#define CONTROLLER_HTTP_ASK_H

#include "common/base.h"
#include "controller/fleet/fleet.h"
#include "controller/fleet/wire.h"

struct ask;
struct door;

/* NULL without memory. */
struct door *door_new(struct fleet *fleet);

/* Gives up what is asked; answered() is not called.  NULL is fine.  Returns
 * NULL. */
struct door *door_free(struct door *door);

struct ask_answer {
    uint32_t status; /* exit status of the command: 0 .. 6 */
    char *text;      /* a JSON document, the receiver's to free(); NULL: memory
                        ran out */
    size_t length;
};

/* Texts of the request are needed during the call only.  NULL without memory.
 */
struct ask *ask_new(struct door *door, const struct link_peer *peer,
                    const struct wire_request *request,
                    void (*answered)(void *data, struct ask_answer answer),
                    void *data);

/* NULL is fine.  Returns NULL. */
struct ask *ask_cancel(struct ask *ask);

void door_turn(struct door *door);

#endif
