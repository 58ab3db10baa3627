#include "controller/conduct/queue.h"

#include "common/prng.h"
#include "controller/plan/plan.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct queue *queue;
static struct diag diag;

static void setup(void)
{
    queue = queue_new();
    ck_assert_ptr_nonnull(queue);
}

static void teardown(void)
{
    queue = queue_free(queue);
}

static struct uuid campaign(uint32_t number)
{
    struct uuid uuid = {{0}};

    memcpy(uuid.bytes, &number, sizeof(number));
    return uuid;
}

/* `keys`: one letter each; a capital is shared. */
static int add(uint32_t number, const char *keys)
{
    struct uuid uuid = campaign(number);
    struct queue_need needs[32];
    char texts[32][2];
    char name[16];
    uint32_t count = 0;

    for (; keys[count] != '\0'; count++) {
        bool shared = keys[count] <= 'Z';

        texts[count][0] = shared ? (char)(keys[count] + 32) : keys[count];
        texts[count][1] = '\0';
        needs[count] = (struct queue_need){texts[count], texts[count], shared};
    }
    (void)snprintf(name, sizeof(name), "c%u", number);
    return queue_add(queue, &uuid, name, needs, count, &diag);
}

static int take(void)
{
    struct uuid uuid;
    uint32_t number;

    if (!queue_take(queue, &uuid))
        return -1;
    memcpy(&number, uuid.bytes, sizeof(number));
    return (int)number;
}

static void drop(uint32_t number)
{
    struct uuid uuid = campaign(number);

    queue_remove(queue, &uuid);
}

static const char *why(uint32_t number)
{
    static char text[REASON_SIZE];
    struct uuid uuid = campaign(number);

    queue_why(queue, &uuid, text);
    return text;
}

START_TEST(disjoint_campaigns_run_side_by_side)
{
    ck_assert_int_eq(add(1, "ab"), 0);
    ck_assert_int_eq(add(2, "cd"), 0);
    ck_assert_int_eq(take(), 1);
    ck_assert_int_eq(take(), 2);
    ck_assert_int_eq(take(), -1);
}
END_TEST

START_TEST(all_or_nothing_and_the_holder_is_named)
{
    ck_assert_int_eq(add(1, "ab"), 0);
    ck_assert_int_eq(add(2, "bc"), 0);
    ck_assert_int_eq(take(), 1);
    ck_assert_int_eq(take(), -1);
    ck_assert_str_eq(why(2), "b is used by campaign 'c1'");
    ck_assert_str_eq(why(1), "");
    drop(1);
    ck_assert_int_eq(take(), 2);
    ck_assert_str_eq(why(2), "");
}
END_TEST

/* 3 could run beside 1, but 2 came first and waits for the same drive. */
START_TEST(later_ones_do_not_overtake_on_the_same_drive)
{
    ck_assert_int_eq(add(1, "a"), 0);
    ck_assert_int_eq(take(), 1);
    ck_assert_int_eq(add(2, "ab"), 0);
    ck_assert_int_eq(add(3, "b"), 0);
    ck_assert_int_eq(add(4, "c"), 0);
    ck_assert_int_eq(take(), 4);
    ck_assert_int_eq(take(), -1);
    ck_assert_str_eq(why(3), "b is wanted by the earlier campaign 'c2'");
    drop(1);
    ck_assert_int_eq(take(), 2);
    ck_assert_int_eq(take(), -1);
    drop(2);
    ck_assert_int_eq(take(), 3);
}
END_TEST

START_TEST(sharing_takes_both)
{
    ck_assert_int_eq(add(1, "Hx"), 0);
    ck_assert_int_eq(add(2, "Hy"), 0);
    ck_assert_int_eq(add(3, "hz"), 0);
    ck_assert_int_eq(take(), 1);
    ck_assert_int_eq(take(), 2);
    ck_assert_int_eq(take(), -1);
    drop(1);
    ck_assert_int_eq(take(), -1);
    drop(2);
    ck_assert_int_eq(take(), 3);
}
END_TEST

START_TEST(one_campaign_may_name_a_drive_twice)
{
    ck_assert_int_eq(add(1, "aAa"), 0);
    ck_assert_int_eq(take(), 1);
    ck_assert_int_eq(add(2, "AA"), 0);
    ck_assert_int_eq(take(), -1);
}
END_TEST

START_TEST(limits_are_said)
{
    ck_assert_int_eq(add(1, "a"), 0);
    ck_assert_int_eq(add(1, "b"), -EEXIST);
    for (uint32_t i = 2; i <= QUEUE_CAMPAIGNS_MAX; i++)
        ck_assert_int_eq(add(i, "a"), 0);
    ck_assert_int_eq(add(5000, "b"), -ENOSPC);
    drop(77);
    drop(77);
    ck_assert_int_eq(add(5000, "b"), 0);
}
END_TEST

/* Whatever comes and goes: nothing is held twice, all is held in the end. */
START_TEST(every_campaign_gets_its_turn_and_no_drive_is_held_twice)
{
    uint64_t seed = suite_seed();
    struct prng prng;

    prng_seed(&prng, seed);
    for (int round = 0; round < 500; round++) {
        uint32_t held[26] = {0};
        char keys[20][5];
        uint32_t running[20], running_count = 0, done = 0;

        for (uint32_t i = 0; i < 20; i++) {
            for (int k = 0; k < 4; k++)
                keys[i][k] = (char)('a' + prng_below(&prng, 10));
            keys[i][4] = '\0';
            ck_assert_int_eq(add(i, keys[i]), 0);
        }
        while (done < 20) {
            int got = take();

            if (got >= 0) {
                for (int k = 0; k < 4; k++) {
                    uint32_t *holder = &held[keys[got][k] - 'a'];

                    if (*holder != 0 && *holder != (uint32_t)got + 1)
                        ck_abort_msg("held twice; TEST_SEED=%llu",
                                     (unsigned long long)seed);
                    *holder = (uint32_t)got + 1;
                }
                running[running_count++] = (uint32_t)got;
                continue;
            }
            if (running_count == 0)
                ck_abort_msg("all wait; TEST_SEED=%llu",
                             (unsigned long long)seed);
            uint32_t at = (uint32_t)prng_below(&prng, running_count);

            for (int k = 0; k < 26; k++)
                if (held[k] == running[at] + 1)
                    held[k] = 0;
            drop(running[at]);
            running[at] = running[--running_count];
            done++;
        }
    }
}
END_TEST

START_TEST(drive_is_itself_on_every_host)
{
    struct plan_facts facts = {.known = true,
                               .is_block = true,
                               .serial = "S1",
                               .model = "M",
                               .wwn = "eui.0011",
                               .device = "/dev/nvme0n1",
                               .size_bytes = 4096};
    char one[QUEUE_KEY_SIZE], other[QUEUE_KEY_SIZE];

    queue_drive_key("host1", &facts, "/dev/nvme0n1", one);
    facts.device = "/dev/nvme7n1";
    queue_drive_key("host2", &facts, "/dev/nvme7n1", other);
    ck_assert_str_eq(one, other);

    facts.wwn = "";
    queue_drive_key("host1", &facts, "/dev/a", one);
    queue_drive_key("host2", &facts, "/dev/b", other);
    ck_assert_str_eq(one, other);
    facts.size_bytes = 8192;
    queue_drive_key("host2", &facts, "/dev/b", other);
    ck_assert_str_ne(one, other);

    facts.serial = "";
    queue_drive_key("host1", &facts, "/dev/link", one);
    queue_drive_key("host2", &facts, "/dev/link", other);
    ck_assert_str_ne(one, other);
    queue_drive_key("host1", &facts, "/dev/other-link", other);
    ck_assert_str_eq(one, other); /* the same device by two names */

    facts.known = false;
    queue_drive_key("host1", &facts, "/tmp/f", one);
    queue_drive_key("host2", &facts, "/tmp/f", other);
    ck_assert_str_ne(one, other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conduct queue");
    TCase *tests = tcase_create("queue");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, disjoint_campaigns_run_side_by_side);
    tcase_add_test(tests, all_or_nothing_and_the_holder_is_named);
    tcase_add_test(tests, later_ones_do_not_overtake_on_the_same_drive);
    tcase_add_test(tests, sharing_takes_both);
    tcase_add_test(tests, one_campaign_may_name_a_drive_twice);
    tcase_add_test(tests, limits_are_said);
    tcase_add_test(tests,
                   every_campaign_gets_its_turn_and_no_drive_is_held_twice);
    tcase_add_test(tests, drive_is_itself_on_every_host);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
