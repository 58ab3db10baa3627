#include "controller/http/feed.h"

#include <stdlib.h>
#include <string.h>

static uint64_t first(const struct feed *feed)
{
    return feed->last > FEED_ITEMS ? feed->last - FEED_ITEMS + 1 : 1;
}

/* The interval that the new one takes the place of. */
static void supersede(struct feed *feed, const struct uuid *campaign)
{
    for (uint64_t n = feed->last; n >= first(feed); n--) {
        struct feed_item *item = &feed->items[n % FEED_ITEMS];

        if (!item->newest || item->text == NULL ||
            !uuid_equal(&item->campaign, campaign))
            continue;
        free(item->text);
        item->text = NULL;
        return;
    }
}

void feed_add(struct feed *feed, const struct uuid *campaign, bool newest,
              const char *text, size_t length)
{
    struct feed_item *item = &feed->items[(feed->last + 1) % FEED_ITEMS];
    char *copy = malloc(length + 1);

    if (copy == NULL)
        return;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (newest)
        supersede(feed, campaign);
    free(item->text);
    *item = (struct feed_item){
        .number = ++feed->last,
        .campaign = *campaign,
        .newest = newest,
        .text = copy,
        .length = length,
    };
}

const struct feed_item *feed_next(const struct feed *feed, uint64_t cursor)
{
    uint64_t n = cursor + 1 > first(feed) ? cursor + 1 : first(feed);

    for (; n <= feed->last; n++)
        if (feed->items[n % FEED_ITEMS].text != NULL)
            return &feed->items[n % FEED_ITEMS];
    return NULL;
}

void feed_done(struct feed *feed)
{
    for (size_t i = 0; i < FEED_ITEMS; i++)
        free(feed->items[i].text);
    memset(feed, 0, sizeof(*feed));
}
