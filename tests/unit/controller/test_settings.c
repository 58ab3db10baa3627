#include "controller/settings.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct settings settings;
static struct diag diag;

static int read_words(const char *file, int argc, const char *const *argv)
{
    memset(&diag, 0, sizeof(diag));
    return settings_read(file, argc, (char *const *)(uintptr_t)argv, &settings,
                         &diag);
}

static const char *file_of(const char *text)
{
    static char path[PATH_SIZE];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/controller.conf", suite_directory());
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

START_TEST(the_defaults_are_safe)
{
    const char *file = file_of("");

    ck_assert_int_eq(read_words(file, 0, NULL), 0);
    ck_assert_str_eq(settings.listen, "127.0.0.1:7780");
    ck_assert_str_eq(settings.store, "/var/lib/lockstep/lockstep.db");
    ck_assert_uint_eq(settings.start_tolerance_ns, 5 * NS_PER_MS);
    ck_assert_int_eq(settings.agent_fd, -1);
    ck_assert(!settings.is_private);
    ck_assert_int_eq(settings_check(&settings, &diag), 0);
}
END_TEST

START_TEST(arguments_win_over_the_file)
{
    static const char *const words[] = {"--listen", "127.0.0.1:1",
                                        "--start-tolerance=1ms"};
    const char *file = file_of("listen = 127.0.0.1:2\nstore = /tmp/x.db\n");

    ck_assert_int_eq(read_words(file, 3, words), 0);
    ck_assert_str_eq(settings.listen, "127.0.0.1:1");
    ck_assert_str_eq(settings.store, "/tmp/x.db");
    ck_assert_uint_eq(settings.start_tolerance_ns, NS_PER_MS);
}
END_TEST

START_TEST(what_is_wrong_is_named)
{
    static const char *const word[] = {"surplus"};

    ck_assert_int_lt(read_words("/nonexistent/conf", 0, NULL), 0);
    ck_assert_ptr_nonnull(strstr(diag.text, "/nonexistent/conf"));
    ck_assert_int_lt(read_words(file_of("lisen = x\n"), 0, NULL), 0);
    ck_assert_ptr_nonnull(strstr(diag.text, "lisen"));
    ck_assert_int_lt(read_words(file_of(""), 1, word), 0);
    ck_assert_ptr_nonnull(strstr(diag.text, "surplus"));
}
END_TEST

/* Which addresses a controller without keys may listen on. */
START_TEST(without_keys_only_this_machine_is_served)
{
    static const struct {
        const char *listen;
        bool fine;
    } cases[] = {
        {"127.0.0.1:7780", true},
        {"localhost:0", true},
        {"[::1]:7780", true},
        {"127.9.9.9:1", true},
        {"0.0.0.0:7780", false},
        {"[::]:7780", false},
        {"192.0.2.1:7780", false},
        {"example.org:7780", false},
        {"7780", false},
        {"127.0.0.1", false},
        {"", false},
        {"127.0.0.1:99999", false},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        ck_assert_int_eq(read_words(file_of(""), 0, NULL), 0);
        (void)snprintf(settings.listen, sizeof(settings.listen), "%s",
                       cases[i].listen);
        ck_assert_msg((settings_check(&settings, &diag) == 0) == cases[i].fine,
                      "listen=%s", cases[i].listen);
    }
    (void)snprintf(settings.listen, sizeof(settings.listen), "0.0.0.0:7780");
    ck_assert_int_eq(settings_check(&settings, &diag), -EINVAL);
    ck_assert_ptr_nonnull(strstr(diag.text, "lockstep keys init"));
    (void)snprintf(settings.keys, sizeof(settings.keys), "/etc/x.pem");
    ck_assert_int_eq(settings_check(&settings, &diag), 0);
}
END_TEST

START_TEST(a_private_controller_needs_its_connections)
{
    static const char *const words[] = {"--private", "--agent-fd=5"};
    static const char *const both[] = {"--private", "--agent-fd=5",
                                       "--shell-fd=6"};

    ck_assert_int_eq(read_words(file_of(""), 2, words), 0);
    ck_assert_int_eq(settings_check(&settings, &diag), -EINVAL);
    ck_assert_int_eq(read_words(file_of(""), 3, both), 0);
    ck_assert_int_eq(settings_check(&settings, &diag), 0);
    ck_assert_int_eq(settings.shell_fd, 6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("controller.settings");
    TCase *tcase = tcase_create("settings");

    tcase_add_test(tcase, the_defaults_are_safe);
    tcase_add_test(tcase, arguments_win_over_the_file);
    tcase_add_test(tcase, what_is_wrong_is_named);
    tcase_add_test(tcase, without_keys_only_this_machine_is_served);
    tcase_add_test(tcase, a_private_controller_needs_its_connections);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
