/*
 * Goal: a reader of any speed sees events in order, none twice, every phase and
 * end that is still there, and of a campaign's intervals never an old one after
 * a new one.
 */
#include "controller/http/feed.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/prng.h"
#include "tests/support/suite.h"

static struct feed feed;

static void add(uint8_t campaign, bool newest, const char *text)
{
    struct uuid id = {{campaign}};

    feed_add(&feed, &id, newest, text, strlen(text));
}

START_TEST(intervals_give_way)
{
    const struct feed_item *item;

    add(1, false, "phase 1");
    add(1, true, "interval 1");
    add(2, true, "other 1");
    add(1, true, "interval 2");
    item = feed_next(&feed, 0);
    ck_assert_str_eq(item->text, "phase 1");
    item = feed_next(&feed, item->number);
    ck_assert_str_eq(item->text, "other 1");
    item = feed_next(&feed, item->number);
    ck_assert_str_eq(item->text, "interval 2");
    ck_assert_ptr_null(feed_next(&feed, item->number));
    feed_done(&feed);
}
END_TEST

START_TEST(a_late_reader_goes_on_with_the_oldest)
{
    const struct feed_item *item;
    char text[32];

    for (unsigned i = 1; i <= FEED_ITEMS + 10; i++) {
        (void)snprintf(text, sizeof(text), "%u", i);
        add(1, false, text);
    }
    item = feed_next(&feed, 3);
    ck_assert_uint_eq(item->number, 11);
    ck_assert_str_eq(item->text, "11");
    ck_assert_ptr_null(feed_next(&feed, FEED_ITEMS + 10));
    feed_done(&feed);
}
END_TEST

/* Against a list that keeps everything. */
START_TEST(any_order)
{
    uint64_t seed = suite_seed();
    uint64_t cursor = 0, last_of[3] = {0};
    struct prng prng;
    char text[32];

    prng_seed(&prng, seed);
    for (uint64_t n = 1; n <= 20000; n++) {
        uint8_t campaign = (uint8_t)prng_below(&prng, 3);
        bool newest = prng_below(&prng, 4) != 0;

        (void)snprintf(text, sizeof(text), "%c%llu", newest ? 'i' : 'k',
                       (unsigned long long)n);
        add(campaign, newest, text);
        if (newest)
            last_of[campaign] = n;
        for (uint64_t reads = prng_below(&prng, 3); reads > 0; reads--) {
            const struct feed_item *item = feed_next(&feed, cursor);

            if (item == NULL)
                break;
            if (item->number <= cursor ||
                strtoull(item->text + 1, NULL, 10) != item->number ||
                (item->newest &&
                 item->number != last_of[item->campaign.bytes[0]]))
                ck_abort_msg("item %llu after %llu; TEST_SEED=%llu",
                             (unsigned long long)item->number,
                             (unsigned long long)cursor,
                             (unsigned long long)seed);
            cursor = item->number;
        }
    }
    feed_done(&feed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http.feed");
    TCase *tcase = tcase_create("feed");

    tcase_add_test(tcase, intervals_give_way);
    tcase_add_test(tcase, a_late_reader_goes_on_with_the_oldest);
    tcase_add_test(tcase, any_order);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
