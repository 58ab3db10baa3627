#include "tests/support/suite.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

uint64_t suite_seed(void)
{
    const char *text = getenv("TEST_SEED");
    struct timespec now;

    if (text != NULL)
        return strtoull(text, NULL, 10);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
}

static char directory[64];
static pid_t directory_owner;

static int remove_entry(const char *path, const struct stat *st, int kind,
                        struct FTW *place)
{
    (void)st, (void)kind, (void)place;
    return remove(path);
}

static void remove_directory(void)
{
    if (directory_owner == getpid())
        (void)nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *suite_directory(void)
{
    if (directory_owner == getpid())
        return directory;
    (void)snprintf(directory, sizeof(directory), "/tmp/lockstep-test.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    directory_owner = getpid();
    ck_assert_int_eq(atexit(remove_directory), 0);
    return directory;
}
