/* The lines of a configuration that name commands. */
#include "common/command.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct commands commands;
static struct diag diag;

static void setup(void)
{
    memset(&commands, 0, sizeof(commands));
}

START_TEST(line_is_a_name_a_time_and_a_program)
{
    const struct command *found;

    ck_assert_int_eq(commands_add(&commands, "drop 10s /bin/drop --all", &diag),
                     0);
    ck_assert_int_eq(commands_add(&commands, " say  logger  \"a b\"  ", &diag),
                     0);
    found = commands_find(&commands, "drop");
    ck_assert_ptr_nonnull(found);
    ck_assert_uint_eq(found->limit_ns, 10 * NS_PER_S);
    ck_assert_str_eq(found->text, "/bin/drop --all");
    ck_assert_ptr_eq(commands_find(&commands, "/bin/drop --all"), found);
    found = commands_find(&commands, "logger  \"a b\"");
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found->name, "say");
    ck_assert_uint_eq(found->limit_ns, COMMAND_LIMIT_NS);
    /* Not a part of it, nor more than it. */
    ck_assert_ptr_null(commands_find(&commands, "/bin/drop"));
    ck_assert_ptr_null(commands_find(&commands, "/bin/drop --all x"));
    ck_assert_ptr_null(commands_find(&commands, ""));
}
END_TEST

static const struct {
    const char *line;
    const char *says;
} wrong[] = {
    {"", "no name"},
    {"only-a-name", "no program"},
    {"name 10s", "no program"},
    {"na/me /bin/true", "no name"},
    {"name 2h /bin/true", "100ms .. 1h"},
    {"name 1ms /bin/true", "100ms .. 1h"},
    {"name /bin/echo \"open", "without its second"},
    {"name \"\" x", "no program"},
    {"name /bin/echo \x01", "plain"},
};

START_TEST(wrong_lines_are_refused)
{
    ck_assert_int_eq(commands_add(&commands, wrong[_i].line, &diag), -EINVAL);
    ck_assert_msg(strstr(diag.text, wrong[_i].says) != NULL,
                  "'%s' says '%s', not '%s'", wrong[_i].line, diag.text,
                  wrong[_i].says);
    ck_assert_uint_eq(commands.count, 0);
}
END_TEST

START_TEST(names_are_given_once_and_not_without_end)
{
    char line[64];

    for (uint32_t i = 0; i < COMMANDS_MAX; i++) {
        (void)snprintf(line, sizeof(line), "c%u /bin/true", i);
        ck_assert_int_eq(commands_add(&commands, line, &diag), 0);
    }
    ck_assert_int_eq(commands_add(&commands, "more /bin/true", &diag), -EINVAL);
    commands.count = 1;
    ck_assert_int_eq(commands_add(&commands, "c0 /bin/false", &diag), -EINVAL);
    ck_assert_ptr_nonnull(strstr(diag.text, "another command"));
}
END_TEST

START_TEST(quotes_keep_blanks_together)
{
    struct command_words words;

    ck_assert_int_eq(
        command_split("/bin/x  a\"b c\"d \"\" 'e f'", &words, &diag), 0);
    ck_assert_uint_eq(words.count, 5);
    ck_assert_str_eq(words.word[1], "ab cd");
    ck_assert_str_eq(words.word[2], "");
    ck_assert_str_eq(words.word[3], "'e");
    ck_assert_ptr_null(words.word[5]);
}
END_TEST

START_TEST(long_texts_and_many_words_are_refused)
{
    char line[2 * TEXT_SIZE];
    struct command_words words;

    memset(line, 'x', sizeof(line));
    memcpy(line, "name /", 6);
    line[sizeof(line) - 1] = '\0';
    ck_assert_int_eq(commands_add(&commands, line, &diag), -EINVAL);
    for (size_t i = 0; i < 2 * COMMAND_WORDS_MAX + 2; i++)
        line[i] = i % 2 == 0 ? 'x' : ' ';
    line[2 * COMMAND_WORDS_MAX + 2] = '\0';
    ck_assert_int_eq(command_split(line, &words, &diag), -EINVAL);
    line[2 * COMMAND_WORDS_MAX] = '\0';
    ck_assert_int_eq(command_split(line, &words, &diag), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command");
    TCase *cases = tcase_create("command");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, line_is_a_name_a_time_and_a_program);
    tcase_add_loop_test(cases, wrong_lines_are_refused, 0, ARRAY_LENGTH(wrong));
    tcase_add_test(cases, names_are_given_once_and_not_without_end);
    tcase_add_test(cases, quotes_keep_blanks_together);
    tcase_add_test(cases, long_texts_and_many_words_are_refused);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
