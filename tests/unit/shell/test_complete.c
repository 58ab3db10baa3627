/* What could stand where the cursor is. */
#include "controller/shell/complete.h"

#include "tests/support/suite.h"

#define DECIDE(last, ...)                                                      \
    complete_decide((const char *const[]){__VA_ARGS__},                        \
                    ARRAY_LENGTH(((const char *const[]){__VA_ARGS__})), last)

START_TEST(the_first_word_is_a_command)
{
    ck_assert_int_eq(complete_decide(NULL, 0, "ch").kind, COMPLETION_COMMAND);
}
END_TEST

START_TEST(an_unknown_command_has_nothing_to_offer)
{
    ck_assert_int_eq(DECIDE("", "chekc").kind, COMPLETION_NOTHING);
    ck_assert_int_eq(DECIDE("-", "chekc").kind, COMPLETION_NOTHING);
}
END_TEST

START_TEST(a_dash_begins_an_option_of_the_command)
{
    struct completion c = DECIDE("--o", "run", "-f", "x.parm");

    ck_assert_int_eq(c.kind, COMPLETION_OPTION);
    ck_assert_int_eq(c.command, COMMAND_RUN);
}
END_TEST

START_TEST(files_are_wanted_behind_options_that_take_one)
{
    ck_assert_int_eq(DECIDE("x", "check", "-f").kind, COMPLETION_FILE);
    ck_assert_int_eq(DECIDE("", "run", "-o").kind, COMPLETION_FILE);
    ck_assert_int_eq(DECIDE("/dev/n", "run", "--offer").kind, COMPLETION_FILE);
    ck_assert_int_eq(DECIDE("", "show", "--keys").kind, COMPLETION_FILE);
    ck_assert_int_eq(DECIDE("", "check", "-e").kind, COMPLETION_NOTHING);
    /* -e's value is taken; what follows is none of the file's. */
    ck_assert_int_eq(DECIDE("", "show", "-c", "lab:7780").kind,
                     COMPLETION_CAMPAIGN);
}
END_TEST

START_TEST(campaigns_hosts_and_drives_have_their_places)
{
    struct completion c = DECIDE("", "drives", "--json", "nas1");

    ck_assert_int_eq(c.kind, COMPLETION_DRIVE);
    ck_assert_str_eq(c.host, "nas1");
    ck_assert_int_eq(DECIDE("", "drives").kind, COMPLETION_HOST);
    ck_assert_int_eq(DECIDE("", "drives", "nas1", "sda").kind,
                     COMPLETION_NOTHING);
    ck_assert_int_eq(DECIDE("", "show").kind, COMPLETION_CAMPAIGN);
    ck_assert_int_eq(DECIDE("", "show", "7").kind, COMPLETION_NOTHING);
    ck_assert_int_eq(DECIDE("", "compare", "7", "8").kind, COMPLETION_CAMPAIGN);
    ck_assert_int_eq(DECIDE("", "hosts").kind, COMPLETION_NOTHING);
    ck_assert_int_eq(DECIDE("", "keys").kind, COMPLETION_KEYS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shell.complete");
    TCase *cases = tcase_create("complete");

    tcase_add_test(cases, the_first_word_is_a_command);
    tcase_add_test(cases, an_unknown_command_has_nothing_to_offer);
    tcase_add_test(cases, a_dash_begins_an_option_of_the_command);
    tcase_add_test(cases, files_are_wanted_behind_options_that_take_one);
    tcase_add_test(cases, campaigns_hosts_and_drives_have_their_places);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
