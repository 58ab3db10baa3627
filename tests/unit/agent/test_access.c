/* Offsets, sizes and operations have the shape that was asked for. */
#include "agent/access.h"

#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 200000u

static struct draw source;
static uint64_t seed;

static void setup(void)
{
    /* Statistics with one known seed cannot fail by bad luck. */
    seed = getenv("TEST_SEED") != NULL ? suite_seed() : 1;
    draw_seed(&source, seed);
}

static struct job_workload shape(double read, double seek, uint32_t size)
{
    return (struct job_workload){
        .name = "wd",
        .read_percent = read,
        .seek_percent = seek,
        .sizes = {{size, 100}},
        .size_count = 1,
    };
}

/* Without an assertion each time: those take longer than the draw. */
static void draw(struct access *access, struct engine_io *io)
{
    if (!access_draw(access, &source, io))
        ck_abort_msg("the cell has ended");
}

/* Four standard deviations of a share. */
static void check_share(uint64_t hits, uint64_t draws, double percent,
                        const char *what)
{
    double p = percent / 100;
    double bound = 4 * sqrt(p * (1 - p) * (double)draws);
    double off = fabs((double)hits - p * (double)draws);

    ck_assert_msg(off <= bound + 1e-9,
                  "%s: %llu of %llu, asked %g %%; TEST_SEED=%llu", what,
                  (unsigned long long)hits, (unsigned long long)draws, percent,
                  (unsigned long long)seed);
}

START_TEST(random_offsets_are_multiples_within_the_region)
{
    struct job_workload w = shape(100, 100, 8192);
    uint64_t low = 5 * 4096, high = 101 * 4096; /* neither a multiple */
    uint32_t seen[64] = {0};
    struct access access;
    struct engine_io io;

    access_init(&access, &w, JOB_MEASURE, low, high);
    for (uint32_t i = 0; i < DRAWS; i++) {
        if (!access_draw(&access, &source, &io) || io.offset % 8192 != 0 ||
            io.offset < low || io.offset + io.length > high ||
            io.length != 8192 || io.op != ENGINE_READ)
            ck_abort_msg("offset %llu, length %u; TEST_SEED=%llu",
                         (unsigned long long)io.offset, io.length,
                         (unsigned long long)seed);
        seen[io.offset / 8192]++;
    }
    /* 24 KiB .. 400 KiB: positions 3 .. 49, all alike. */
    for (uint32_t i = 3; i <= 49; i++)
        check_share(seen[i], DRAWS, 100.0 / 47, "position");
}
END_TEST

/* With several sizes the grain is the largest: no two positions overlap by
 * halves, and the longest fits everywhere. */
START_TEST(mixed_sizes_keep_their_shares_and_the_largest_grain)
{
    struct job_workload w = shape(100, 100, 4096);
    uint64_t hits[3] = {0};
    struct access access;
    struct engine_io io;

    w.sizes[0] = (struct job_size){4096, 62.5};
    w.sizes[1] = (struct job_size){65536, 12.5};
    w.sizes[2] = (struct job_size){16384, 25};
    w.size_count = 3;
    access_init(&access, &w, JOB_MEASURE, 0, 64 << 20);
    for (uint32_t i = 0; i < DRAWS; i++) {
        draw(&access, &io);
        if (io.offset % 65536 != 0 || io.offset + io.length > 64 << 20)
            ck_abort_msg("offset %llu", (unsigned long long)io.offset);
        for (uint32_t j = 0; j < 3; j++)
            hits[j] += io.length == w.sizes[j].bytes;
    }
    ck_assert_uint_eq(hits[0] + hits[1] + hits[2], DRAWS);
    check_share(hits[0], DRAWS, 62.5, "4k");
    check_share(hits[1], DRAWS, 12.5, "64k");
    check_share(hits[2], DRAWS, 25, "16k");
}
END_TEST

static const double shares[] = {0, 0.5, 10, 50, 70, 99.9, 100};

START_TEST(reads_have_their_share)
{
    struct job_workload w = shape(shares[_i], 100, 4096);
    uint64_t reads = 0;
    struct access access;
    struct engine_io io;

    access_init(&access, &w, JOB_MEASURE, 0, 1 << 20);
    for (uint32_t i = 0; i < DRAWS; i++) {
        draw(&access, &io);
        reads += io.op == ENGINE_READ;
    }
    check_share(reads, DRAWS, shares[_i], "reads");
    ck_assert(access_does(&access, ENGINE_READ) == (shares[_i] > 0));
    ck_assert(access_does(&access, ENGINE_WRITE) == (shares[_i] < 100));
}
END_TEST

/* A jump lands behind the last I/O by chance too, once in 4096 here. */
START_TEST(seeks_have_their_share)
{
    struct job_workload w = shape(100, shares[_i], 4096);
    uint64_t positions = 1 << 20, jumps = 0, next = 0;
    struct access access;
    struct engine_io io;

    access_init(&access, &w, JOB_MEASURE, 0, positions * 4096);
    for (uint32_t i = 0; i < DRAWS; i++) {
        draw(&access, &io);
        jumps += io.offset != next;
        next = io.offset + io.length;
        if (next == positions * 4096)
            next = 0;
    }
    check_share(jumps, DRAWS, shares[_i], "jumps");
}
END_TEST

START_TEST(sequential_covers_the_region_without_gaps_and_wraps)
{
    struct job_workload w = shape(100, 0, 4096);
    struct access access;
    struct engine_io io;

    access_init(&access, &w, JOB_MEASURE, 8192, 8192 + 10 * 4096);
    for (uint32_t i = 0; i < 35; i++) {
        draw(&access, &io);
        ck_assert_uint_eq(io.offset, 8192 + i % 10 * 4096);
    }
}
END_TEST

START_TEST(sequential_with_mixed_sizes_leaves_no_gap)
{
    struct job_workload w = shape(0, 0, 4096);
    uint64_t next = 0;
    struct access access;
    struct engine_io io;

    w.sizes[0].percent = 50;
    w.sizes[1] = (struct job_size){12288, 50};
    w.size_count = 2;
    access_init(&access, &w, JOB_MEASURE, 0, 1 << 20);
    for (uint32_t i = 0; i < 10000; i++) {
        draw(&access, &io);
        ck_assert_uint_le(io.offset + io.length, 1 << 20);
        if (io.offset != next)
            ck_assert(io.offset == 0 && (1 << 20) - next < 12288);
        next = io.offset + io.length;
    }
}
END_TEST

START_TEST(sequential_ends_at_the_end_and_stays_there)
{
    struct job_workload w = shape(100, 0, 4096);
    struct access access;
    struct engine_io io;

    w.end_at_eof = true;
    access_init(&access, &w, JOB_MEASURE, 0, 5 * 4096);
    for (uint32_t i = 0; i < 5; i++)
        draw(&access, &io);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert(!access_draw(&access, &source, &io));
}
END_TEST

/* Every byte once; the last piece is shorter. */
START_TEST(fill_writes_every_byte_once)
{
    static const uint64_t lengths[] = {1,      511,         131072,
                                       131073, 10 * 131072, 1234567};
    struct job_workload w = shape(100, 100, 131072);
    uint64_t low = 4096;
    uint64_t next = low;
    struct access access;
    struct engine_io io;

    access_init(&access, &w, JOB_FILL, low, low + lengths[_i]);
    while (access_draw(&access, &source, &io)) {
        ck_assert_int_eq(io.op, ENGINE_WRITE);
        ck_assert_uint_eq(io.offset, next);
        ck_assert(io.length == 131072 || io.offset + io.length == access.high);
        next += io.length;
    }
    ck_assert_uint_eq(next, low + lengths[_i]);
    ck_assert(!access_draw(&access, &source, &io));
}
END_TEST

START_TEST(case_G04_lengths_stay_on_the_grid)
{
    struct job_workload w = shape(50, 30, 24576);
    struct access access;
    struct engine_io io;

    w.sizes[0].percent = 20;
    w.sizes[1] = (struct job_size){249856, 30};
    w.sizes[2] = (struct job_size){4096, 50};
    w.size_count = 3;
    access_init(&access, &w, JOB_MEASURE, 4096, 100 << 20);
    for (uint32_t i = 0; i < DRAWS; i++) {
        draw(&access, &io);
        if (io.offset % 4096 != 0 || io.length % 4096 != 0 ||
            io.offset + io.length > 100 << 20 || io.offset < 4096)
            ck_abort_msg("offset %llu length %u; TEST_SEED=%llu",
                         (unsigned long long)io.offset, io.length,
                         (unsigned long long)seed);
    }
}
END_TEST

START_TEST(a_region_of_one_unaligned_transfer_is_used_as_it_is)
{
    struct job_workload w = shape(100, 100, 8192);
    struct access access;
    struct engine_io io;

    access_init(&access, &w, JOB_MEASURE, 4096, 4096 + 8192);
    for (uint32_t i = 0; i < 100; i++) {
        draw(&access, &io);
        ck_assert_uint_eq(io.offset, 4096);
    }
}
END_TEST

START_TEST(thresholds_of_the_ends)
{
    ck_assert_uint_eq(access_threshold(0), 0);
    ck_assert_uint_eq(access_threshold(50), UINT64_C(1) << 63);
    ck_assert_uint_eq(access_threshold(100), UINT64_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access");
    TCase *cases = tcase_create("access");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, random_offsets_are_multiples_within_the_region);
    tcase_add_test(cases, mixed_sizes_keep_their_shares_and_the_largest_grain);
    tcase_add_loop_test(cases, reads_have_their_share, 0, 7);
    tcase_add_loop_test(cases, seeks_have_their_share, 0, 7);
    tcase_add_test(cases, sequential_covers_the_region_without_gaps_and_wraps);
    tcase_add_test(cases, sequential_with_mixed_sizes_leaves_no_gap);
    tcase_add_test(cases, sequential_ends_at_the_end_and_stays_there);
    tcase_add_loop_test(cases, fill_writes_every_byte_once, 0, 6);
    tcase_add_test(cases, case_G04_lengths_stay_on_the_grid);
    tcase_add_test(cases, a_region_of_one_unaligned_transfer_is_used_as_it_is);
    tcase_add_test(cases, thresholds_of_the_ends);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
