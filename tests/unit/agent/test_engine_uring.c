/* The kernel's io_uring, on files. */
#include "agent/engine.h"

#include "agent/pattern.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS  8u
#define LENGTH 4096u

struct fixture {
    struct engine *engine;
    struct engine_io io[SLOTS];
    struct engine_region region;
    uint8_t *memory; /* LENGTH for each slot */
    int fd;
};

static struct fixture f;

static void open_engine(int fd)
{
    struct engine_setup setup = {
        .fds = &fd,
        .fd_count = 1,
        .regions = &f.region,
        .region_count = 1,
        .io = f.io,
        .io_stride = sizeof(f.io[0]),
        .slot_count = SLOTS,
    };
    struct diag diag = {0};

    f.fd = fd;
    f.memory = mmap(NULL, SLOTS * LENGTH, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(f.memory, MAP_FAILED);
    f.region = (struct engine_region){f.memory, SLOTS * LENGTH};
    ck_assert_msg(engine_uring_open(NULL, &setup, &f.engine, &diag) == 0, "%s",
                  diag.text);
}

static void close_engine(void)
{
    ck_assert(f.engine->ops->close(f.engine, 0));
    ck_assert_int_eq(munmap(f.memory, SLOTS * LENGTH), 0);
    (void)close(f.fd);
}

static int make_file(uint64_t bytes, int flags)
{
    char path[4200];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/drive", suite_directory());
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    return fd;
}

static void prepare(uint32_t slot, enum engine_op op, uint64_t offset)
{
    f.io[slot] = (struct engine_io){
        .offset = offset,
        .memory = f.memory + slot * LENGTH,
        .length = LENGTH,
        .op = (uint8_t)op,
    };
}

/* Submits slots 0 .. count - 1 and collects all their results. */
static void transfer(uint32_t count, int32_t *ret_results)
{
    uint32_t slots[SLOTS];
    const struct engine_done *done;
    uint32_t seen = 0;
    uint64_t at_ns = 0;

    for (uint32_t i = 0; i < count; i++) {
        slots[i] = i;
        ret_results[i] = INT32_MIN;
    }
    ck_assert_int_eq(f.engine->ops->submit(f.engine, slots, count, 5, NS_PER_S),
                     0);
    while (seen < count) {
        uint32_t n = f.engine->ops->reap(f.engine, 7, &done, &at_ns);

        for (uint32_t i = 0; i < n; i++) {
            ck_assert_int_eq(ret_results[done[i].slot], INT32_MIN);
            ret_results[done[i].slot] = done[i].result;
        }
        seen += n;
        if (n == 0)
            ck_assert_int_eq(
                f.engine->ops->submit(f.engine, slots, 0, 5, NS_PER_S), 0);
    }
    ck_assert_uint_eq(at_ns, 7);
}

START_TEST(what_is_written_is_read_back)
{
    uint8_t *expected = malloc(SLOTS * LENGTH);
    int32_t results[SLOTS];

    ck_assert_ptr_nonnull(expected);
    open_engine(make_file(SLOTS * LENGTH, _i == 0 ? 0 : O_DIRECT));
    pattern_fill(expected, SLOTS * LENGTH, 42);
    memcpy(f.memory, expected, SLOTS * LENGTH);
    for (uint32_t i = 0; i < SLOTS; i++)
        prepare(i, ENGINE_WRITE, i * LENGTH);
    transfer(SLOTS, results);
    for (uint32_t i = 0; i < SLOTS; i++)
        ck_assert_int_eq(results[i], LENGTH);
    memset(f.memory, 0, SLOTS * LENGTH);
    for (uint32_t i = 0; i < SLOTS; i++)
        prepare(i, ENGINE_READ, (SLOTS - 1 - i) * LENGTH);
    transfer(SLOTS, results);
    for (uint32_t i = 0; i < SLOTS; i++) {
        ck_assert_int_eq(results[i], LENGTH);
        ck_assert(memcmp(f.memory + i * LENGTH,
                         expected + (SLOTS - 1 - i) * LENGTH, LENGTH) == 0);
    }
    free(expected);
    close_engine();
}
END_TEST

START_TEST(results_are_the_kernels)
{
    int32_t results[SLOTS];

    open_engine(make_file(3 * LENGTH + 512, 0));
    prepare(0, ENGINE_READ, 2 * LENGTH);
    prepare(1, ENGINE_READ, 3 * LENGTH); /* short */
    prepare(2, ENGINE_READ, 9 * LENGTH); /* beyond the end */
    f.io[3] = (struct engine_io){.op = ENGINE_FSYNC};
    prepare(4, ENGINE_READ, UINT64_C(1) << 63);
    transfer(5, results);
    ck_assert_int_eq(results[0], LENGTH);
    ck_assert_int_eq(results[1], 512);
    ck_assert_int_eq(results[2], 0);
    ck_assert_int_eq(results[3], 0);
    ck_assert_int_lt(results[4], 0);
    close_engine();
}
END_TEST

START_TEST(a_descriptor_for_reading_refuses_writes_by_result)
{
    int32_t results[2];

    open_engine(open("/dev/zero", O_RDONLY | O_CLOEXEC));
    prepare(0, ENGINE_WRITE, 0);
    prepare(1, ENGINE_READ, 0);
    transfer(2, results);
    ck_assert_int_eq(results[0], -EBADF);
    ck_assert_int_eq(results[1], LENGTH);
    close_engine();
}
END_TEST

/* The wait ends with its time when nothing completes. */
START_TEST(a_wait_is_bounded)
{
    const struct engine_done *done;
    uint64_t at_ns;

    open_engine(open("/dev/zero", O_RDONLY | O_CLOEXEC));
    ck_assert_int_eq(
        f.engine->ops->submit(f.engine, NULL, 0, 0, 20 * NS_PER_MS), 0);
    ck_assert_uint_eq(f.engine->ops->reap(f.engine, 0, &done, &at_ns), 0);
    close_engine();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_uring");
    TCase *cases = tcase_create("uring");

    tcase_add_loop_test(cases, what_is_written_is_read_back, 0, 2);
    tcase_add_test(cases, results_are_the_kernels);
    tcase_add_test(cases, a_descriptor_for_reading_refuses_writes_by_result);
    tcase_add_test(cases, a_wait_is_bounded);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
