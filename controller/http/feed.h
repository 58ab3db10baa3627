/*
 * feed.h - what happens in all campaigns, for readers of any speed.  Pure.
 *
 * Keeps the last FEED_ITEMS events; of a campaign's intervals only the newest.
 * A reader has a cursor and asks for the next event behind it: one that was too
 * slow goes on with the oldest that is still there.
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_HTTP_FEED_H
#define CONTROLLER_HTTP_FEED_H

#include "common/base.h"
#include "common/uuid.h"

#define FEED_ITEMS 256u

struct feed_item {
    uint64_t number; /* 1, 2, ... */
    struct uuid campaign;
    bool newest; /* an interval */
    char *text;  /* NULL: a newer interval has come */
    size_t length;
};

/* All zero is empty. */
struct feed {
    struct feed_item items[FEED_ITEMS]; /* item n is at n % FEED_ITEMS */
    uint64_t last;
};

/* Copies the text.  Without memory the event is left out. */
void feed_add(struct feed *feed, const struct uuid *campaign, bool newest,
              const char *text, size_t length);

/* The first event behind `cursor`, or NULL; valid until the next feed_add(). */
const struct feed_item *feed_next(const struct feed *feed, uint64_t cursor);

void feed_done(struct feed *feed);

#endif
