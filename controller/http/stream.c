/*
 * Events as they happen, of all campaigns: server-sent events.  A reader that
 * does not keep up misses intervals, not phases and ends, unless it misses more
 * than FEED_ITEMS.
 */
#include "controller/http/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_ROOM 64u

static void on_event(void *data, const struct uuid *campaign, bool newest,
                     const char *text, size_t length)
{
    struct http *http = data;

    feed_add(&http->feed, campaign, newest, text, length);
    for (struct exchange *x = http->exchanges; x != NULL; x = x->next)
        if (x->is_stream)
            exchange_wake(x);
}

static bool put(struct exchange *x, const char *text, size_t length)
{
    char *more = realloc(x->out, length);

    if (more == NULL)
        return false;
    memcpy(more, text, length);
    x->out = more;
    x->out_length = length;
    x->out_sent = 0;
    return true;
}

static bool put_event(struct exchange *x, const struct feed_item *item)
{
    size_t room = item->length + FRAME_ROOM;
    char *text = malloc(room);
    bool done = false;

    if (text != NULL) {
        int length = snprintf(text, room, "id: %llu\ndata: %s\n\n",
                              (unsigned long long)item->number, item->text);

        done = put(x, text, (size_t)length);
    }
    free(text);
    return done;
}

bool stream_next(struct exchange *x)
{
    static const char life[] = ": here\n\n";
    const struct feed_item *item = feed_next(&x->http->feed, x->cursor);

    if (x->out_end)
        return false;
    if (item != NULL) {
        x->cursor = item->number;
        return put_event(x, item);
    }
    if (!x->beat)
        return false;
    x->beat = false;
    return put(x, life, sizeof(life) - 1);
}

void stream_begin(struct exchange *x)
{
    struct http *http = x->http;

    x->is_stream = true;
    x->beat = true; /* something at once: the reader sees that it is open */
    x->cursor = http->feed.last;
    (void)MHD_set_connection_option(x->connection,
                                    MHD_CONNECTION_OPTION_TIMEOUT, 0);
    if (http->readers++ == 0)
        fleet_observe(http->fleet, on_event, http);
    exchange_stream(x, "text/event-stream", NULL);
}

void stream_end(struct exchange *x)
{
    struct http *http = x->http;

    if (--http->readers == 0 && !http->closing)
        fleet_observe(http->fleet, NULL, NULL);
}
