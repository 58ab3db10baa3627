#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/config.h"
#include "tests/support/suite.h"

struct settings {
    char name[NAME_SIZE];
    char keys[PATH_SIZE];
    uint64_t lease_ns;
    struct config_list offers;
    bool private;
    int agent_fd;
    uint32_t most;
};

/* A word of argv, which is not const. */
#define W(text)     ((char *)(uintptr_t)(text))
#define FIELD(name) offsetof(struct settings, name)

static const struct config_key rows[] = {
    {"agent_fd", "0", FIELD(agent_fd), config_parse_fd, "N", "inherited",
     CONFIG_HIDDEN},
    {"keys", NULL, FIELD(keys), config_parse_path, "FILE", "the bundle",
     CONFIG_ONCE},
    {"lease", "30s", FIELD(lease_ns), config_parse_time, "TIME",
     "how long load lives without a renewal from its controller", CONFIG_ONCE},
    {"most", "7", FIELD(most), config_parse_count, "N", "a number",
     CONFIG_ONCE},
    {"name", "host", FIELD(name), config_parse_name, "NAME", "of this agent",
     CONFIG_ONCE},
    {"offer", NULL, FIELD(offers), config_parse_list, "PATTERN",
     "drives that may be written", CONFIG_REPEATS},
    {"private", "no", FIELD(private), config_parse_bool, NULL, "a switch",
     CONFIG_ONCE},
};

static const struct config_table table = {rows, ARRAY_LENGTH(rows)};
static struct settings settings;
static struct diag diag;

static void setup(void)
{
    memset(&settings, 0, sizeof(settings));
    memset(&diag, 0, sizeof(diag));
    config_defaults(&table, &settings);
}

static void teardown(void)
{
    config_list_done(&settings.offers);
}

static int read_text(const char *text)
{
    return config_read_text(&table, &settings, text, strlen(text), "agent.conf",
                            &diag);
}

START_TEST(defaults)
{
    ck_assert_str_eq(settings.name, "host");
    ck_assert_uint_eq(settings.lease_ns, 30 * NS_PER_S);
    ck_assert_uint_eq(settings.most, 7);
    ck_assert(!settings.private);
    ck_assert_uint_eq(settings.offers.count, 0);
}
END_TEST

START_TEST(a_file)
{
    ck_assert_int_eq(read_text("# a comment\n"
                               "; another\n"
                               "\n"
                               "  name = web-1.lab   # indented; no section\n"
                               "lease=500ms ; short\n"
                               "offer = /dev/disk/by-id/nvme-A#1\n"
                               "\toffer = serial=S 1\r\n"
                               "private = yes\n"
                               "most = 4294967295"),
                     0);
    ck_assert_str_eq(settings.name, "web-1.lab");
    ck_assert_uint_eq(settings.lease_ns, 500 * NS_PER_MS);
    ck_assert_uint_eq(settings.offers.count, 2);
    ck_assert_str_eq(settings.offers.items[0], "/dev/disk/by-id/nvme-A#1");
    ck_assert_str_eq(settings.offers.items[1], "serial=S 1");
    ck_assert(settings.private);
    ck_assert_uint_eq(settings.most, UINT32_MAX);
}
END_TEST

static const struct {
    const char *text;
    const char *message;
} wrong[] = {
    {"nme = x\n", "agent.conf: line 1: unknown key 'nme'"},
    {"\n\nname = a\nlease = soon\n", "agent.conf: line 4: lease: 'soon' is"},
    {"name = a\nname = b\n", "agent.conf: line 2: 'name' was given before"},
    {"name = a\n[x]\nlease = 1\n", "agent.conf: line 3: 'lease' stands in"},
    {"name = a\nlease\n", "agent.conf: line 2: expected 'key = value'"},
    {"name = a b\n", "agent.conf: line 1: name: 'a b' is no name"},
    {"most = -1\n", "agent.conf: line 1: most: '-1' is no whole number"},
    {"most = 4294967296\n", "agent.conf: line 1: most: '4294967296' is more"},
    {"private = maybe\n", "agent.conf: line 1: private: 'maybe' is neither"},
    {"agent_fd = 3\n", "agent.conf: line 1: unknown key 'agent_fd'"},
    {"= 3\n", "agent.conf: line 1: unknown key ''"},
    {"offer =\n", "agent.conf: line 1: offer: must not be empty"},
};

START_TEST(errors_name_file_and_line)
{
    ck_assert_int_lt(read_text(wrong[_i].text), 0);
    ck_assert_msg(
        strncmp(diag.text, wrong[_i].message, strlen(wrong[_i].message)) == 0,
        "expected '%s...', got '%s'", wrong[_i].message, diag.text);
    ck_assert_int_lt(diag.err, 0);
}
END_TEST

START_TEST(long_lines_and_zero_bytes)
{
    char text[CONFIG_LINE_MAX * 2];

    memset(text, 'x', sizeof(text));
    memcpy(text, "keys = ", 7);
    text[CONFIG_LINE_MAX - 1] = '\n';
    text[CONFIG_LINE_MAX] = '\0';
    ck_assert_int_eq(read_text(text), 0);
    ck_assert_uint_eq(strlen(settings.keys), CONFIG_LINE_MAX - 8);
    memset(text, 'x', sizeof(text));
    memcpy(text, "keys = ", 7);
    text[CONFIG_LINE_MAX] = '\n';
    text[CONFIG_LINE_MAX + 1] = '\0';
    ck_assert_int_eq(read_text(text), -EMSGSIZE);
    ck_assert_int_eq(config_read_text(&table, &settings, "name = a\0b\n", 11,
                                      "agent.conf", &diag),
                     -EINVAL);
}
END_TEST

START_TEST(files_on_disk)
{
    char path[PATH_SIZE];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/agent.conf", suite_directory());
    ck_assert_int_eq(config_read(&table, &settings, path, &diag), -ENOENT);
    ck_assert_ptr_nonnull(strstr(diag.text, path));
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(write(fd, "name = b\n", 9), 9);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(config_read(&table, &settings, path, &diag), 0);
    ck_assert_str_eq(settings.name, "b");
    ck_assert_int_eq(config_read(&table, &settings, suite_directory(), &diag),
                     -EISDIR);
}
END_TEST

START_TEST(the_command_line_overrides)
{
    char *argv[] = {W("--lease=2h"), W("--name"),
                    W("c"),          W("--offer=/dev/a"),
                    W("--private"),  W("--agent-fd"),
                    W("5"),          W("--"),
                    W("--rest"),     NULL};
    int used;

    ck_assert_int_eq(read_text("name = b\noffer = /dev/b\n"), 0);
    ck_assert_int_eq(config_arguments(&table, &settings, 9, argv, &used, &diag),
                     0);
    ck_assert_int_eq(used, 8);
    ck_assert_str_eq(settings.name, "c");
    ck_assert_uint_eq(settings.lease_ns, 7200 * NS_PER_S);
    ck_assert_uint_eq(settings.offers.count, 2);
    ck_assert_str_eq(settings.offers.items[1], "/dev/a");
    ck_assert(settings.private);
    ck_assert_int_eq(settings.agent_fd, 5);
}
END_TEST

static const struct {
    char *argv[3];
    const char *message;
} wrong_words[] = {
    {{W("--nme=x")}, "unknown option '--nme=x'"},
    {{W("--lease")}, "--lease needs a value: --lease=TIME"},
    {{W("--lease=x")}, "--lease: 'x' is no time"},
    {{W("--agent-fd=x")}, "--agent_fd: 'x' is no whole number"},
};

START_TEST(errors_name_the_word)
{
    int used = 77;

    ck_assert_int_lt(config_arguments(&table, &settings, 1,
                                      wrong_words[_i].argv, &used, &diag),
                     0);
    ck_assert_msg(strncmp(diag.text, wrong_words[_i].message,
                          strlen(wrong_words[_i].message)) == 0,
                  "expected '%s...', got '%s'", wrong_words[_i].message,
                  diag.text);
    ck_assert_int_eq(used, 77);
}
END_TEST

START_TEST(words_end_the_options)
{
    char *argv[] = {W("--name=x"), W("file"), W("--lease=1"), NULL};
    int used;

    ck_assert_int_eq(config_arguments(&table, &settings, 3, argv, &used, &diag),
                     0);
    ck_assert_int_eq(used, 1);
}
END_TEST

START_TEST(options_taken_out)
{
    char *argv[] = {W("prog"),       W("--config"), W("a.conf"), W("--help"),
                    W("--config=b"), W("--"),       W("--help"), NULL};
    int argc = 7;

    ck_assert_str_eq(config_find_option(&argc, argv, "config", true), "a.conf");
    ck_assert_str_eq(config_find_option(&argc, argv, "config", true), "b");
    ck_assert_str_eq(config_find_option(&argc, argv, "help", false), "");
    ck_assert_ptr_null(config_find_option(&argc, argv, "help", false));
    ck_assert_int_eq(argc, 3);
    ck_assert_str_eq(argv[1], "--");
    ck_assert_ptr_null(argv[3]);
}
END_TEST

START_TEST(help_of_the_table)
{
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof(text), "w");

    config_print_help(&table, out);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_ptr_nonnull(strstr(text, "  --lease=TIME            how long"));
    ck_assert_ptr_nonnull(strstr(text, "controller [30s]\n"));
    ck_assert_ptr_nonnull(strstr(text, "written (may be repeated)\n"));
    ck_assert_ptr_nonnull(strstr(text, "  --private               a switch\n"));
    ck_assert_ptr_null(strstr(text, "agent-fd"));
    for (const char *line = text; *line != '\0';
         line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), 80);
}
END_TEST

START_TEST(a_list_is_bounded)
{
    int r = 0;

    for (int i = 0; i <= CONFIG_VALUES_MAX && r == 0; i++)
        r = config_parse_list("x", &settings.offers, &diag);
    ck_assert_int_eq(r, -E2BIG);
    ck_assert_uint_eq(settings.offers.count, CONFIG_VALUES_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *tc = tcase_create("config");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, defaults);
    tcase_add_test(tc, a_file);
    tcase_add_loop_test(tc, errors_name_file_and_line, 0,
                        (int)ARRAY_LENGTH(wrong));
    tcase_add_test(tc, long_lines_and_zero_bytes);
    tcase_add_test(tc, files_on_disk);
    tcase_add_test(tc, the_command_line_overrides);
    tcase_add_loop_test(tc, errors_name_the_word, 0,
                        (int)ARRAY_LENGTH(wrong_words));
    tcase_add_test(tc, words_end_the_options);
    tcase_add_test(tc, options_taken_out);
    tcase_add_test(tc, help_of_the_table);
    tcase_add_test(tc, a_list_is_bounded);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
