/*
 * What the fleet lets be destroyed: only the list that was agreed to, and no
 * drive that some host of the fleet uses.
 */
#include "actor.h"

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

/* Mounted between two phases: the second one is not prepared. */
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
    ck_assert_str_eq(text_at(json, "verdict"), "failed");
    ck_assert_ptr_nonnull(strstr(text_at(json, "error"), "mounted on /data"));
    ck_assert_uint_eq(actors[0].prepares, 1);
    json_decref(json);
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
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
