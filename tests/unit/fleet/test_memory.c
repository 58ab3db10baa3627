/*
 * What a campaign leaves for a controller that is started again comes back as
 * it was, and what this program did not write is refused.
 */
#include "controller/fleet/memory.h"

#include "common/arena.h"
#include "common/uuid.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
    arena = arena_new(1u << 20);
    ck_assert_ptr_nonnull(arena);
}

static void teardown(void)
{
    arena = arena_free(arena);
}

START_TEST(origins_come_back)
{
    static const char *const addresses[] = {"192.0.2.7", "2001:db8::7"};
    static const char *const labels[] = {"rack1"};
    static const char *const used_by[] = {"mounted on /srv"};
    const struct plan_drive drive = {
        .name = "nvme0n1",
        .path = "/dev/nvme0n1",
        .by_id = "",
        .model = "PM1725",
        .serial = "S1",
        .firmware = "F",
        .wwn = "eui.1",
        .size_bytes = UINT64_C(3840755982336),
        .used_by = used_by,
        .use_count = 1,
    };
    struct plan_agent agents[] = {
        {.name = "a1",
         .hostname = "nas1",
         .addresses = addresses,
         .address_count = 2,
         .labels = labels,
         .label_count = 1,
         .drives = &drive,
         .drive_count = 1},
        {.name = "a2", .hostname = ""},
    };
    struct plan_facts facts[] = {
        {.known = true,
         .missing = true,
         .refusal = "",
         .device = "/srv/f",
         .serial = "",
         .wwn = "",
         .model = "",
         .free_bytes = 77,
         .logical_block = 1},
        {.known = true,
         .is_block = true,
         .device = "/dev/nvme0n1",
         .size_bytes = UINT64_C(1) << 62,
         .logical_block = 4096,
         .device_number = 66304,
         .inode = 9,
         .disk_sequence = 12},
    };
    bool included[] = {false, true};
    const struct memory_origin origin = {included, 2, agents,         2,
                                         facts,    2, UINT64_MAX >> 1};
    char *text = memory_origin_text(&origin);
    struct memory_origin back;

    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(memory_origin_read(text, arena, &back), 0);
    ck_assert_uint_eq(back.file_count, 2);
    ck_assert(!back.included[0] && back.included[1]);
    ck_assert_uint_eq(back.agent_count, 2);
    ck_assert_str_eq(back.agents[0].addresses[1], "2001:db8::7");
    ck_assert_str_eq(back.agents[0].labels[0], "rack1");
    ck_assert_str_eq(back.agents[0].drives[0].model, "PM1725");
    ck_assert_uint_eq(back.agents[0].drives[0].size_bytes, drive.size_bytes);
    ck_assert_str_eq(back.agents[0].drives[0].used_by[0], "mounted on /srv");
    ck_assert_uint_eq(back.agents[1].drive_count, 0);
    ck_assert(back.facts[0].missing && !back.facts[0].is_block);
    ck_assert_uint_eq(back.facts[0].free_bytes, 77);
    ck_assert_str_eq(back.facts[1].wwn, ""); /* it was not known */
    ck_assert_uint_eq(back.facts[1].size_bytes, UINT64_C(1) << 62);
    ck_assert_uint_eq(back.facts[1].disk_sequence, 12);
    ck_assert_uint_eq(back.fingerprint, UINT64_MAX >> 1);
    free(text);
}
END_TEST

START_TEST(starts_come_back)
{
    struct conduct_start hosts[] = {
        {.host = 3,
         .hello = {.instance = {{1, 2}},
                   .boot = {{3}},
                   .lease_ns = 30,
                   .finishes = true},
         .agent_start_ns = UINT64_C(86400000000001),
         .offset = {-86400000000000, 1234}},
    };
    const struct memory_starts starts = {{{9}}, 7, hosts, 1};
    char *text = memory_starts_text(&starts);
    struct memory_starts back;

    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(memory_starts_read(text, arena, &back), 0);
    ck_assert(uuid_equal(&back.boot, &starts.boot));
    ck_assert_uint_eq(back.epoch, 7);
    ck_assert_uint_eq(back.host_count, 1);
    ck_assert_uint_eq(back.hosts[0].host, 3);
    ck_assert(
        uuid_equal(&back.hosts[0].hello.instance, &hosts[0].hello.instance));
    ck_assert(back.hosts[0].hello.finishes);
    ck_assert_uint_eq(back.hosts[0].agent_start_ns, hosts[0].agent_start_ns);
    ck_assert_int_eq(back.hosts[0].offset.offset_ns, -86400000000000);
    ck_assert_uint_eq(back.hosts[0].offset.uncertainty_ns, 1234);
    free(text);
}
END_TEST

START_TEST(ends_come_back)
{
    const struct memory_ending ending = {CONDUCT_ENDING_EARLY, CONDUCT_FAILED,
                                         17, "50 requests \"failed\""};
    const struct conduct_finish finish = {
        .outcome = CONDUCT_OUTCOME_TIME_LIMIT,
        .reason = "late",
        .intervals = 60,
        .stuck = 3,
        .stuck_on = "sd1",
    };
    struct memory_ending ending_back;
    struct conduct_finish finish_back;
    char *text = memory_ending_text(&ending);

    ck_assert_int_eq(memory_ending_read(text, arena, &ending_back), 0);
    ck_assert_int_eq(ending_back.ending, CONDUCT_ENDING_EARLY);
    ck_assert_int_eq(ending_back.verdict, CONDUCT_FAILED);
    ck_assert_uint_eq(ending_back.stop_after, 17);
    ck_assert_str_eq(ending_back.reason, ending.reason);
    free(text);
    text = memory_finish_text(&finish);
    ck_assert_int_eq(memory_finish_read(text, arena, &finish_back), 0);
    ck_assert_int_eq(finish_back.outcome, CONDUCT_OUTCOME_TIME_LIMIT);
    ck_assert_str_eq(finish_back.reason, "late");
    ck_assert_uint_eq(finish_back.intervals, 60);
    ck_assert_uint_eq(finish_back.stuck, 3);
    ck_assert_str_eq(finish_back.stuck_on, "sd1");
    free(text);
}
END_TEST

/* To the last bit: the next rate is a share of it. */
START_TEST(what_later_phases_need_comes_back)
{
    double drives[] = {1.0 / 3, 0, 1e9 / 7};
    struct memory_carry carry = {
        .conduct = {.curve = {CURVE_KNOWN, 34246.1 / 3, -1, 100, 1e6 / 3, 7},
                    .verdict = CONDUCT_DEGRADED,
                    .reason = "phase 1",
                    .over = true},
        .shares_known = true,
        .drives = drives,
        .drive_count = 3,
    };
    struct memory_carry back;
    char *text;

    carry.shares[1] = 100.0 / 3;
    text = memory_carry_text(&carry);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(memory_carry_read(text, arena, &back), 0);
    ck_assert_int_eq(back.conduct.curve.state, CURVE_KNOWN);
    ck_assert(back.conduct.curve.maximum_iops == 34246.1 / 3);
    ck_assert(back.conduct.curve.observed_iops == -1);
    ck_assert(back.conduct.curve.broke_iops == 1e6 / 3);
    ck_assert_int_eq(back.conduct.verdict, CONDUCT_DEGRADED);
    ck_assert_str_eq(back.conduct.reason, "phase 1");
    ck_assert(back.conduct.over);
    ck_assert(back.shares_known && back.shares[1] == 100.0 / 3);
    ck_assert_uint_eq(back.drive_count, 3);
    ck_assert(memcmp(back.drives, drives, sizeof(drives)) == 0);
    free(text);
}
END_TEST

START_TEST(what_is_damaged_is_refused)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{}",
        "null",
        "7",
        "{\"ending\":9,\"verdict\":0,\"stop_after\":0,\"reason\":\"\"}",
        "{\"ending\":1,\"verdict\":\"0\",\"stop_after\":0,\"reason\":\"\"}",
        "{\"included\":[],\"agents\":[{}],\"facts\":[],\"fingerprint\":1}",
        "{\"boot\":\"x\",\"epoch\":1,\"hosts\":[]}",
    };

    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        struct memory_origin origin;
        struct memory_starts starts;
        struct memory_ending ending;
        struct conduct_finish finish;
        struct memory_carry carry;

        ck_assert_int_eq(memory_origin_read(texts[i], arena, &origin),
                         -EBADMSG);
        ck_assert_int_eq(memory_starts_read(texts[i], arena, &starts),
                         -EBADMSG);
        ck_assert_int_eq(memory_ending_read(texts[i], arena, &ending),
                         -EBADMSG);
        ck_assert_int_eq(memory_finish_read(texts[i], arena, &finish),
                         -EBADMSG);
        ck_assert_int_eq(memory_carry_read(texts[i], arena, &carry), -EBADMSG);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet memory");
    TCase *tests = tcase_create("memory");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, origins_come_back);
    tcase_add_test(tests, starts_come_back);
    tcase_add_test(tests, ends_come_back);
    tcase_add_test(tests, what_later_phases_need_comes_back);
    tcase_add_test(tests, what_is_damaged_is_refused);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
