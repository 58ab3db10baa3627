#include "tests/support/suite.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/base.h"

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

/* One on disk, one in memory. */
static struct {
    const char *below;
    char path[64];
    pid_t owner;
} directories[] = {{.below = "/tmp"}, {.below = "/dev/shm"}};

static int remove_entry(const char *path, const struct stat *st, int kind,
                        struct FTW *place)
{
    (void)st, (void)kind, (void)place;
    return remove(path);
}

static void remove_directories(void)
{
    for (size_t i = 0; i < ARRAY_LENGTH(directories); i++)
        if (directories[i].owner == getpid())
            (void)nftw(directories[i].path, remove_entry, 8,
                       FTW_DEPTH | FTW_PHYS);
}

static const char *fresh_directory(size_t i)
{
    if (directories[i].owner == getpid())
        return directories[i].path;
    (void)snprintf(directories[i].path, sizeof(directories[i].path),
                   "%s/lockstep-test.XXXXXX", directories[i].below);
    ck_assert_ptr_nonnull(mkdtemp(directories[i].path));
    directories[i].owner = getpid();
    ck_assert_int_eq(atexit(remove_directories), 0);
    return directories[i].path;
}

const char *suite_directory(void)
{
    return fresh_directory(0);
}

const char *suite_memory_directory(void)
{
    return fresh_directory(access("/dev/shm", W_OK) == 0 ? 1 : 0);
}
