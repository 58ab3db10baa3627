/* Calls that may never come back. */
#include "agent/patience.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

/* Waits for a byte in a pipe: a drive that answers when the test wants. */
struct errand {
    int pipe[2];
    _Atomic bool called;
    _Atomic bool released;
};

static void wait_for_byte(void *context)
{
    struct errand *e = context;
    char byte;

    ck_assert_int_eq(read(e->pipe[0], &byte, 1), 1);
    atomic_store(&e->called, true);
}

static void release(void *context)
{
    struct errand *e = context;

    atomic_store(&e->released, true);
}

static void answer(struct errand *e)
{
    ck_assert_int_eq(write(e->pipe[1], "x", 1), 1);
}

START_TEST(a_call_that_is_done_is_the_callers)
{
    struct errand e = {0};

    ck_assert_int_eq(pipe(e.pipe), 0);
    answer(&e);
    ck_assert_int_eq(patience_run(wait_for_byte, &e, release, NS_PER_S * 60),
                     0);
    ck_assert(atomic_load(&e.called));
    ck_assert(!atomic_load(&e.released));
    close(e.pipe[0]);
    close(e.pipe[1]);
}
END_TEST

START_TEST(a_call_that_hangs_is_left_to_its_thread)
{
    struct errand e = {0};

    ck_assert_int_eq(pipe(e.pipe), 0);
    ck_assert_int_eq(patience_run(wait_for_byte, &e, release, 20 * NS_PER_MS),
                     -ETIMEDOUT);
    ck_assert(!atomic_load(&e.called));
    ck_assert(!atomic_load(&e.released));
    answer(&e);
    for (int i = 0; i < 1000 && !atomic_load(&e.released); i++)
        (void)poll(NULL, 0, 10);
    ck_assert(atomic_load(&e.called));
    ck_assert(atomic_load(&e.released));
    close(e.pipe[0]);
    close(e.pipe[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("patience");
    TCase *cases = tcase_create("patience");

    tcase_add_test(cases, a_call_that_is_done_is_the_callers);
    tcase_add_test(cases, a_call_that_hangs_is_left_to_its_thread);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
