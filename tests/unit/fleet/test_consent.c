/*
 * What the fleet lets be destroyed: only the list that was agreed to, and no
 * drive that some host of the fleet uses.
 */
#include "actor.h"

#include "controller/fleet/registry.h"
#include "controller/fleet/shared.h"
#include "controller/plan/plan.h"

#define FILE_OF(sd_lines)                                                      \
    "hd=default\nhd=a,system=a\nhd=b,system=b\n" sd_lines                      \
    "wd=wd1,sd=*,rdpct=0,xfersize=4k\n"                                        \
    "rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n"                          \
    "rd=rd2,wd=wd1,iorate=max,elapsed=2,interval=1\n"
#define OVER                                                                   \
    FILE_OF("sd=sd1,host=(a,b),lun=/dev/sdb,openflags=o_direct,"               \
            "overwrite=yes\n")
#define PLAIN FILE_OF("sd=sd1,host=a,lun=/dev/sdb,openflags=o_direct\n")

static json_t *answer_to(uint32_t id, const char *text, const char *yes,
                         uint32_t *ret_status)
{
    shell_submit_yes(id, text, yes);
    return shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, NULL, NULL, ret_status);
}

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text != NULL ? text : "";
}

static void enter(void)
{
    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    stage_play(NS_PER_S);
}

/* Asks without consent; the hash that is asked for. */
static void ask(uint32_t id, char hash[64])
{
    uint32_t status = 99;
    json_t *json = answer_to(id, OVER, "", &status);
    const json_t *consent = json_object_get(json, "consent");

    ck_assert_uint_eq(status, 2);
    (void)snprintf(hash, 64, "%s", text_at(consent, "hash"));
    ck_assert_uint_eq(strlen(hash), 16);
    ck_assert_ptr_nonnull(strstr(text_at(json, "error"), hash));
    json_decref(json);
}

START_TEST(case_F02_the_list_names_every_host_and_drive)
{
    uint32_t status = 99;
    const json_t *drives, *drive;
    json_t *json;

    actors[0].content = "ext4 file system \"srv\" (0815)";
    actors[1].content = "crypto_LUKS encrypted volume (4711)";
    actors[0].wwn = "naa.1";
    enter();
    json = answer_to(1, OVER, "", &status);
    ck_assert_uint_eq(status, 2);
    drives = json_object_get(json_object_get(json, "consent"), "drives");
    ck_assert_uint_eq(json_array_size(drives), 2);
    drive = json_array_get(drives, 0);
    ck_assert_str_eq(text_at(drive, "host"), "a");
    ck_assert_str_eq(text_at(drive, "path"), "/dev/sdb");
    ck_assert_str_eq(text_at(drive, "id"), "naa.1");
    ck_assert_str_eq(text_at(drive, "content"), actors[0].content);
    ck_assert_int_eq(json_integer_value(json_object_get(drive, "size_bytes")),
                     1 << 30);
    drive = json_array_get(drives, 1);
    ck_assert_str_eq(text_at(drive, "host"), "b");
    ck_assert_str_eq(text_at(drive, "content"), actors[1].content);
    json_decref(json);
    stage_play(NS_PER_S);
    ck_assert_uint_eq(actors[0].prepares, 0);
}
END_TEST

START_TEST(case_F02_the_answer_is_bound_to_the_list)
{
    char hash[64], later[64];
    uint32_t status = 99;
    json_t *json;

    actors[0].content = actors[1].content = "ext4 file system (1)";
    enter();
    ask(1, hash);
    ask(2, later);
    ck_assert_str_eq(hash, later);
    actors[1].content = "ext4 file system (2)";
    json = answer_to(3, OVER, hash, &status);
    ck_assert_uint_eq(status, 2);
    ck_assert_ptr_nonnull(strstr(text_at(json, "error"), "not what is there"));
    ck_assert_str_ne(text_at(json_object_get(json, "consent"), "hash"), hash);
    (void)snprintf(later, sizeof(later), "%s",
                   text_at(json_object_get(json, "consent"), "hash"));
    json_decref(json);
    json = answer_to(4, OVER, later, &status);
    ck_assert_uint_eq(status, 0);
    json_decref(json);
    stage_play(2 * NS_PER_S);
    /* The agents are told what was agreed to, and compare. */
    ck_assert_str_eq(actors[0].consent, "ext4 file system (1)");
    ck_assert_str_eq(actors[1].consent, "ext4 file system (2)");
}
END_TEST

START_TEST(nothing_to_lose_needs_no_answer)
{
    uint32_t status = 99;

    enter();
    json_decref(answer_to(1, OVER, "", &status));
    ck_assert_uint_eq(status, 0);
    stage_play(2 * NS_PER_S);
    ck_assert_uint_eq(actors[0].prepares, 1);
    ck_assert_str_eq(actors[0].consent, "");
}
END_TEST

/* Without overwrite=yes it is the agent's to refuse, and no hash is offered. */
START_TEST(without_overwrite_nobody_is_asked)
{
    uint32_t status = 99;
    json_t *json;

    actors[0].content = "ext4 file system (1)";
    actors[0].refusal = "it is not empty";
    enter();
    json = answer_to(1, PLAIN, "", &status);
    ck_assert_uint_eq(status, 1);
    ck_assert_ptr_null(json_object_get(json, "consent"));
    json_decref(json);
}
END_TEST

/* ---- One drive seen from two hosts ---- */

START_TEST(a_drive_in_use_on_another_host_is_refused)
{
    uint32_t status = 99;
    json_t *json;

    actors[0].wwn = actors[1].wwn = "eui.0025385";
    actors[1].used_by = "mounted on /data";
    enter();
    actor_tell_drive(&actors[1]);
    json = answer_to(1, PLAIN, "", &status);
    ck_assert_uint_eq(status, 1);
    ck_assert_ptr_nonnull(strstr(
        text_at(json, "error"),
        "(eui.0025385) is in use on host 'b', as /dev/sdc: mounted on /data"));
    json_decref(json);

    actors[1].used_by = NULL;
    actor_tell_drive(&actors[1]);
    json_decref(answer_to(2, PLAIN, "", &status));
    ck_assert_uint_eq(status, 0);
}
END_TEST

/* Mounted while the first phase writes: it is stopped at once. */
START_TEST(a_drive_taken_into_use_elsewhere_ends_the_campaign)
{
    uint32_t status = 99;
    json_t *json;

    actors[0].wwn = actors[1].wwn = "eui.0025385";
    enter();
    actor_tell_drive(&actors[1]);
    json_decref(answer_to(1, PLAIN, "", &status));
    ck_assert_uint_eq(status, 0);
    shell_watch(2, "1");
    stage_play(NS_PER_S);
    ck_assert_uint_eq(actors[0].prepares, 1);
    actors[1].used_by = "mounted on /data";
    actor_tell_drive(&actors[1]);
    json = shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "end", NULL);
    ck_assert_str_eq(text_at(json, "verdict"), "interrupted");
    ck_assert_ptr_nonnull(strstr(text_at(json, "error"),
                                 "stopped by the interlock: the same drive"));
    ck_assert_ptr_nonnull(strstr(text_at(json, "error"), "mounted on /data"));
    ck_assert_uint_eq(actors[0].prepares, 1);
    ck_assert_uint_gt(actors[0].aborts, 0);
    json_decref(json);
}
END_TEST

/* While it is only read, nothing of it can be lost. */
START_TEST(a_phase_that_reads_goes_on_beside_a_mount)
{
    static const char text[] =
        "hd=a\nsd=sd1,host=a,lun=/dev/sdb,openflags=o_direct\n"
        "wd=wd1,sd=*,rdpct=100,xfersize=4k\n"
        "wd=wd2,sd=*,rdpct=0,xfersize=4k\n"
        "rd=rd1,wd=wd1,iorate=max,elapsed=5,interval=1\n"
        "rd=rd2,wd=wd2,iorate=max,elapsed=2,interval=1\n";
    uint32_t status = 99;
    json_t *json;

    actors[0].wwn = actors[1].wwn = "eui.0025385";
    enter();
    json_decref(answer_to(1, text, "", &status));
    ck_assert_uint_eq(status, 0);
    shell_watch(2, "1");
    stage_play(2 * NS_PER_S);
    actors[1].used_by = "mounted on /data";
    actor_tell_drive(&actors[1]);
    stage_play(NS_PER_S);
    ck_assert_int_eq(actors[0].state, ACTOR_RUNNING);
    /* The one that writes is not prepared. */
    json = shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "end", NULL);
    ck_assert_str_eq(text_at(json, "verdict"), "failed");
    ck_assert_ptr_nonnull(strstr(text_at(json, "error"), "mounted on /data"));
    ck_assert_uint_eq(actors[0].prepares, 1);
    json_decref(json);
}
END_TEST

/* Thousands of drives, all in use but ours: found by identity, and quickly. */
START_TEST(every_drive_in_use_is_found)
{
    static struct wire_drive drives[WIRE_DRIVES_MAX];
    static char wwns[WIRE_DRIVES_MAX][32];
    static const char *use = "mounted on /x";
    struct registry *registry = registry_new();
    struct wire_inventory inventory = {.drives = drives};
    struct shared shared = {0};
    char reason[REASON_SIZE];

    for (uint32_t i = 0; i < 64; i++) {
        char name[16];
        struct link link = {0};
        struct wire_agent_hello hello = {
            .name = name, .version = "0", .lease_ms = 2000};
        struct host *host;

        (void)snprintf(name, sizeof(name), "h%02u", i);
        host = registry_hello(registry, &hello, &link, 0);
        ck_assert_ptr_nonnull(host);
        for (uint32_t k = 0; k < WIRE_DRIVES_MAX; k++) {
            (void)snprintf(wwns[k], sizeof(wwns[k]), "eui.%06u",
                           i * WIRE_DRIVES_MAX + k);
            drives[k] = (struct wire_drive){.name = "sdx",
                                            .path = "/dev/sdx",
                                            .by_id = "",
                                            .model = "",
                                            .serial = "",
                                            .firmware = "",
                                            .wwn = wwns[k],
                                            .formats = "",
                                            .pci_address = "",
                                            .slot = "",
                                            .link_speed = "",
                                            .write_cache = "",
                                            .scheduler = "",
                                            .used_by = &use,
                                            .use_count = k % 2};
        }
        inventory.drive_count = WIRE_DRIVES_MAX;
        inventory.host = (struct wire_host_facts){.hostname = "",
                                                  .kernel = "",
                                                  .cpu_model = "",
                                                  .engine = "",
                                                  .os = ""};
        ck_assert_int_eq(registry_inventory(host, &inventory), 0);
    }
    for (uint32_t n = 0; n < 64 * WIRE_DRIVES_MAX; n++) {
        char wwn[32], own[16];
        const struct plan_facts facts = {
            .is_block = true, .wwn = wwn, .serial = "", .model = ""};

        (void)snprintf(wwn, sizeof(wwn), "eui.%06u", n);
        (void)snprintf(own, sizeof(own), "h%02u", n / WIRE_DRIVES_MAX);
        ck_assert(shared_in_use(&shared, registry, "other", &facts, reason) ==
                  (n % 2 == 1));
        ck_assert(!shared_in_use(&shared, registry, own, &facts, reason));
    }
    shared_forget(&shared);
    registry = registry_free(registry);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.consent");
    TCase *tcase = tcase_create("consent");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, stage_setup, stage_teardown);
    tcase_add_test(tcase, case_F02_the_list_names_every_host_and_drive);
    tcase_add_test(tcase, case_F02_the_answer_is_bound_to_the_list);
    tcase_add_test(tcase, nothing_to_lose_needs_no_answer);
    tcase_add_test(tcase, without_overwrite_nobody_is_asked);
    tcase_add_test(tcase, a_drive_in_use_on_another_host_is_refused);
    tcase_add_test(tcase, a_drive_taken_into_use_elsewhere_ends_the_campaign);
    tcase_add_test(tcase, a_phase_that_reads_goes_on_beside_a_mount);
    tcase_add_test(tcase, every_drive_in_use_is_found);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
