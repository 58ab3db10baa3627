/* What a phase takes against what the process may have. */
#include "agent/limits.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

static const struct limits plenty = {
    .files_used = 20,
    .files_max = LIMITS_NONE,
    .tasks_max = LIMITS_NONE,
    .threads_max = LIMITS_NONE,
    .locked_max = LIMITS_NONE,
};

static const struct limits_need need = {
    .files = 100, .threads = 8, .locked = 64 << 20};

START_TEST(each_limit_is_told_with_its_setting)
{
    struct limits have = plenty;
    struct diag diag = {0};

    ck_assert_int_eq(limits_judge(&have, &need, &diag), 0);
    have.files_max = 20 + 100 + 16;
    have.tasks_used = 12;
    have.tasks_max = 20;
    have.threads_max = 8;
    ck_assert_int_eq(limits_judge(&have, &need, &diag), 0);
    have.files_max--;
    ck_assert_int_eq(limits_judge(&have, &need, &diag), -EMFILE);
    ck_assert_ptr_nonnull(
        strstr(diag.text, "136 files are to be open and 135 are allowed"));
    ck_assert_ptr_nonnull(strstr(diag.text, "LimitNOFILE="));
    have.files_max = LIMITS_NONE;
    have.tasks_max = 19;
    ck_assert_int_eq(limits_judge(&have, &need, &diag), -EAGAIN);
    ck_assert_ptr_nonnull(strstr(diag.text, "8 threads are needed beside 12 "
                                            "there are, and the control group "
                                            "allows 19"));
    ck_assert_ptr_nonnull(strstr(diag.text, "TasksMax="));
    have.tasks_max = 5; /* below what is used already */
    ck_assert_int_eq(limits_judge(&have, &need, &diag), -EAGAIN);
    have.tasks_max = LIMITS_NONE;
    have.threads_max = 7;
    ck_assert_int_eq(limits_judge(&have, &need, &diag), -EAGAIN);
    ck_assert_ptr_nonnull(strstr(diag.text, "LimitNPROC="));
}
END_TEST

START_TEST(buffers_that_may_not_be_locked_are_told)
{
    struct limits have = plenty;
    char text[TEXT_SIZE];

    limits_tell_locked(&have, &need, text);
    ck_assert_str_eq(text, "");
    have.locked_max = 64 << 20;
    limits_tell_locked(&have, &need, text);
    ck_assert_str_eq(text, "");
    have.locked_max = 8 << 20;
    limits_tell_locked(&have, &need, text);
    ck_assert_ptr_nonnull(strstr(text, "64 MiB to lock, 8 MiB allowed"));
    ck_assert_ptr_nonnull(strstr(text, "LimitMEMLOCK="));
}
END_TEST

START_TEST(soft_limits_are_raised_to_the_hard_ones)
{
    struct rlimit limit;
    struct limits have;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 64;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    limits_read(&have);
    ck_assert(have.files_max == LIMITS_NONE || have.files_max > 64 ||
              limit.rlim_max <= 64);
    ck_assert_uint_ge(have.files_used, 3);
    ck_assert_uint_lt(have.files_used, 64);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("limits");
    TCase *cases = tcase_create("limits");

    tcase_add_test(cases, each_limit_is_told_with_its_setting);
    tcase_add_test(cases, buffers_that_may_not_be_locked_are_told);
    tcase_add_test(cases, soft_limits_are_raised_to_the_hard_ones);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
