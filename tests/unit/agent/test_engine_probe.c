/* Why there is no io_uring: the causes told apart, each with its remedy. */
#include "agent/engine_probe.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const struct {
    int err;
    struct engine_obstacles obstacles;
    const char *says;
} causes[] = {
    {-ENOSYS, {-1, -1, true, 4019}, "kernel (4.19) has no io_uring"},
    {-ENOSYS, {2, -1, true, 4019}, "kernel (4.19) has no io_uring"},
    {-ENOSYS, {2, -1, true, 6001}, "hidden by a seccomp filter"},
    {-ENOSYS, {0, 0, true, 6001}, "CONFIG_IO_URING"},
    {-ENOSYS, {-1, -1, false, 0}, "CONFIG_IO_URING"},
    {-EPERM, {0, 2, true, 6006}, "kernel.io_uring_disabled=0"},
    {-EPERM, {2, 2, false, 6006}, "switched off for everyone"},
    {-EPERM, {0, 1, false, 6006}, "kernel.io_uring_group"},
    {-EPERM, {2, 1, true, 6006}, "forbidden by a seccomp filter"},
    {-EPERM, {2, 0, false, 6006}, "forbidden by a seccomp filter"},
    {-EPERM, {2, -1, false, 5010}, "forbidden by a seccomp filter"},
    {-ENOMEM, {0, 0, false, 5010}, "LimitMEMLOCK"},
    {-EMFILE, {0, 0, false, 5010}, "LimitNOFILE"},
    {-EINVAL, {0, 0, false, 5010}, "Invalid argument"},
};

START_TEST(case_J06_each_cause_has_its_sentence)
{
    struct diag diag = {0};

    ck_assert_int_eq(
        engine_probe_judge(causes[_i].err, &causes[_i].obstacles, &diag),
        causes[_i].err);
    ck_assert_msg(strstr(diag.text, causes[_i].says) != NULL, "'%s' lacks '%s'",
                  diag.text, causes[_i].says);
}
END_TEST

/* Makes io_uring_setup fail with `err`, in this test's own process. */
static void forbid(uint32_t err)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

START_TEST(case_J06_a_real_filter_is_recognised)
{
    struct engine_facts facts;

    forbid(_i == 0 ? ENOSYS : EPERM);
    engine_probe(&facts);
    ck_assert_msg(strstr(facts.engine, "seccomp") != NULL, "%s", facts.engine);
    ck_assert_str_eq(facts.features, "");
}
END_TEST

/* The test host must be able to run the product. */
START_TEST(this_host_has_an_engine)
{
    struct engine_facts facts;

    engine_probe(&facts);
    ck_assert_str_eq(facts.engine, "io_uring");
    ck_assert_ptr_nonnull(strstr(facts.features, "fixed_files"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_probe");
    TCase *cases = tcase_create("causes");

    tcase_add_loop_test(cases, case_J06_each_cause_has_its_sentence, 0, 14);
    tcase_add_loop_test(cases, case_J06_a_real_filter_is_recognised, 0, 2);
    tcase_add_test(cases, this_host_has_an_engine);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
