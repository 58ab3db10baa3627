/* agent/settings.c: file, arguments, and each wrong value. */
#include "agent/settings.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct settings settings;
static enum settings_wish wish;
static struct diag diag;
static char file[] = "/tmp/lockstep-settings-XXXXXX";

static void write_file(const char *text)
{
    int fd;

    memcpy(file + sizeof(file) - 7, "XXXXXX", 6);
    fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
    (void)close(fd);
}

/* Reads `text` as the file and up to three arguments. */
static int read_all(const char *text, const char *a, const char *b,
                    const char *c)
{
    static char words[6][256];
    char *argv[7] = {0};
    const char *given[] = {"lockstep-agent", "--config", file, a, b, c};
    int argc = 0, err;

    write_file(text);
    for (size_t i = 0; i < ARRAY_LENGTH(given) && given[i] != NULL; i++) {
        (void)snprintf(words[argc], sizeof(words[argc]), "%s", given[i]);
        argv[argc] = words[argc];
        argc++;
    }
    memset(&diag, 0, sizeof(diag));
    err = settings_read(argc, argv, &settings, &wish, &diag);
    (void)unlink(file);
    return err;
}

static void is_wrong(const char *text, const char *argument, const char *word)
{
    ck_assert_int_lt(read_all(text, argument, NULL, NULL), 0);
    ck_assert_msg(strstr(diag.text, word) != NULL, "no '%s' in: %s", word,
                  diag.text);
    settings_done(&settings);
}

START_TEST(without_anything_the_defaults_hold)
{
    ck_assert_msg(read_all("", NULL, NULL, NULL) == 0, "%s", diag.text);
    ck_assert_int_eq(wish, SETTINGS_RUN);
    ck_assert_str_eq(settings.controller, "127.0.0.1:7780");
    ck_assert_str_eq(settings.name, "");
    ck_assert_uint_eq(settings.lease_ns, 30 * NS_PER_S);
    ck_assert_int_eq(settings.lease_lost, SETTINGS_STOP);
    ck_assert_int_eq(settings.controller_fd, -1);
    ck_assert_uint_eq(settings.offers.count, 0);
    ck_assert_uint_eq(settings.unacknowledged_max, 256u << 20);
    settings_done(&settings);
}
END_TEST

START_TEST(the_command_line_overrides_the_file)
{
    ck_assert_msg(read_all("# this host\n"
                           "name = host7\n"
                           "controller = lab.example\n"
                           "offer = /dev/nvme*n1\n"
                           "offer = /mnt/test/\n"
                           "label = rack=b7\n"
                           "command = drop 10s /bin/drop --all\n"
                           "command = say logger \"it begins\"\n"
                           "lease = 10s\n"
                           "on_lease_lost = finish\n",
                           "--controller=[2001:db8::1]:99", "--lease",
                           "1m") == 0,
                  "%s", diag.text);
    ck_assert_str_eq(settings.name, "host7");
    ck_assert_str_eq(settings.controller, "[2001:db8::1]:99");
    ck_assert_uint_eq(settings.offers.count, 2);
    ck_assert_int_eq(settings.offers.items[1].kind, OFFER_DIRECTORY);
    ck_assert_uint_eq(settings.label_count, 1);
    ck_assert_str_eq(settings.labels[0], "rack=b7");
    ck_assert_uint_eq(settings.commands.count, 2);
    ck_assert_str_eq(settings.commands.items[1].text, "logger \"it begins\"");
    ck_assert_uint_eq(settings.lease_ns, 60 * NS_PER_S);
    ck_assert_int_eq(settings.lease_lost, SETTINGS_FINISH);
    settings_done(&settings);
}
END_TEST

START_TEST(a_host_alone_has_the_usual_port)
{
    ck_assert_int_eq(read_all("controller = lab", NULL, NULL, NULL), 0);
    ck_assert_str_eq(settings.controller, "lab:7780");
    settings_done(&settings);
}
END_TEST

START_TEST(wrong_values_are_named)
{
    is_wrong("lease = 100ms\n", NULL, "1s .. 24h");
    is_wrong("lease = 25h\n", NULL, "1s .. 24h");
    is_wrong("\non_lease_lost = never\n", NULL, "line 2");
    is_wrong("on_lease_lost = never\n", NULL, "neither stop nor finish");
    is_wrong("controller = a:b:c:d\n", NULL, "controller");
    is_wrong("name = a b\n", NULL, "name");
    is_wrong("log_level = loud\n", NULL, "loud");
    is_wrong("colour = red\n", NULL, "colour");
    is_wrong("offer = nvme0n1\n", NULL, "offer 'nvme0n1'");
    is_wrong("command = drop\n", NULL, "command 'drop': drop: there is no");
    is_wrong("command = a /x\ncommand = a /y\n", NULL, "another command");
    is_wrong("label = \x01\n", NULL, "label");
    is_wrong("", "--engine=spdk", "spdk");
    is_wrong("", "--engine=null:soon", "soon");
    is_wrong("", "--workers=many", "many");
    is_wrong("", "stray", "'stray'");
    is_wrong("", "--controller", "controller");
    is_wrong("engine = null:1us\n", NULL, "engine");
}
END_TEST

START_TEST(too_many_labels_are_refused)
{
    char text[512] = "";

    for (int i = 0; i <= (int)CODEC_LABELS_MAX; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                       "label = l%d\n", i);
    is_wrong(text, NULL, "17 labels");
}
END_TEST

START_TEST(a_named_file_must_be_there)
{
    char *argv[] = {(char[]){"agent"}, (char[]){"--config=/nowhere/agent.conf"},
                    NULL};

    ck_assert_int_eq(settings_read(2, argv, &settings, &wish, &diag), -ENOENT);
    ck_assert_ptr_nonnull(strstr(diag.text, "/nowhere/agent.conf"));
    settings_done(&settings);
}
END_TEST

START_TEST(help_and_version_win_over_what_is_wrong)
{
    ck_assert_int_eq(read_all("", "--nonsense", "--help", NULL), 0);
    ck_assert_int_eq(wish, SETTINGS_HELP);
    settings_done(&settings);
    ck_assert_int_eq(read_all("", "--version", NULL, NULL), 0);
    ck_assert_int_eq(wish, SETTINGS_VERSION);
    settings_done(&settings);
}
END_TEST

START_TEST(the_hosts_name_can_be_an_agents)
{
    char name[NAME_SIZE];

    settings_host_name(name);
    ck_assert_str_ne(name, "");
    ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"),
                      strlen(name));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        without_anything_the_defaults_hold,
        the_command_line_overrides_the_file,
        a_host_alone_has_the_usual_port,
        wrong_values_are_named,
        too_many_labels_are_refused,
        a_named_file_must_be_there,
        help_and_version_win_over_what_is_wrong,
        the_hosts_name_can_be_an_agents,
    };
    Suite *suite = suite_create("settings");
    TCase *tcase = tcase_create("settings");
    SRunner *runner = srunner_create(suite);
    int failed;

    for (size_t i = 0; i < ARRAY_LENGTH(tests); i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
