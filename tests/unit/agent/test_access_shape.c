/* Each parameter that shapes a workload, from the I/O that is issued. */
#include "agent/access.h"

#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 100000u
#define KB    UINT64_C(1024)
#define MB    (1024 * KB)

static struct draw source;
static struct job_workload w;
static struct job_cell cell;
static struct access access_;

static void setup(void)
{
    draw_seed(&source, getenv("TEST_SEED") != NULL ? suite_seed() : 1);
    w = (struct job_workload){
        .name = "wd",
        .read_percent = 100,
        .seek_percent = 100,
        .sizes = {{4096, 100}},
        .size_count = 1,
    };
    cell = (struct job_cell){.low = 0, .high = 64 * MB, .weight = 1};
}

static void begin(void)
{
    access_init_cell(&access_, &w, JOB_MEASURE, &cell);
}

static struct engine_io next(void)
{
    struct engine_io io = {0};

    if (!access_draw(&access_, &source, &io))
        ck_abort_msg("the cell has ended");
    return io;
}

/* Within four standard deviations of a share. */
static void check_share(uint64_t hits, double percent, const char *what)
{
    double p = percent / 100;
    double off = fabs((double)hits - p * DRAWS);

    ck_assert_msg(off <= 4 * sqrt(p * (1 - p) * DRAWS) + 1e-9,
                  "%s: %llu of %u, asked %g %%", what, (unsigned long long)hits,
                  DRAWS, percent);
}

static bool is_in(const struct engine_io *io, uint64_t low, uint64_t high)
{
    return io->offset >= low && io->offset + io->length <= high;
}

/* ---- range= beyond the end ---- */

START_TEST(range_90_to_110_is_the_last_and_the_first_tenth)
{
    uint64_t last = 0;

    cell.low = 90 * MB;
    cell.high = 100 * MB;
    cell.wrap_high = 10 * MB;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();

        if (!is_in(&io, cell.low, cell.high) && !is_in(&io, 0, 10 * MB))
            ck_abort_msg("offset %llu", (unsigned long long)io.offset);
        last += io.offset >= cell.low;
    }
    check_share(last, 50, "in the last tenth");
}
END_TEST

START_TEST(sequential_work_goes_on_from_the_beginning_and_back)
{
    w.seek_percent = 0;
    cell.low = 90 * KB * 1024;
    cell.high = cell.low + 8 * KB;
    cell.wrap_low = 4 * KB;
    cell.wrap_high = 12 * KB;
    begin();
    for (int round = 0; round < 3; round++) {
        ck_assert_uint_eq(next().offset, cell.low);
        ck_assert_uint_eq(next().offset, cell.low + 4 * KB);
        ck_assert_uint_eq(next().offset, 4 * KB);
        ck_assert_uint_eq(next().offset, 8 * KB);
    }
}
END_TEST

/* ---- hitarea=, rhpct=, whpct= ---- */

START_TEST(rhpct_and_whpct_hit_the_area_and_miss_it)
{
    uint64_t reads = 0, writes = 0, read_hits = 0, write_hits = 0;

    w.read_percent = 50;
    w.read_hit_percent = 80;
    w.write_hit_percent = 20;
    cell.low = 1 * MB;
    cell.hit_bytes = 2 * MB;
    begin();
    for (uint32_t i = 0; i < 2 * DRAWS; i++) {
        struct engine_io io = next();
        bool hit = is_in(&io, 1 * MB, 3 * MB);

        if (!hit && !is_in(&io, 3 * MB, 64 * MB))
            ck_abort_msg("offset %llu", (unsigned long long)io.offset);
        if (io.op == ENGINE_READ && reads < DRAWS) {
            reads++;
            read_hits += hit;
        } else if (io.op == ENGINE_WRITE && writes < DRAWS) {
            writes++;
            write_hits += hit;
        }
    }
    ck_assert_uint_gt(reads, DRAWS / 2);
    ck_assert_msg(fabs((double)read_hits / (double)reads - 0.8) < 0.01,
                  "%llu of %llu", (unsigned long long)read_hits,
                  (unsigned long long)reads);
    ck_assert_msg(fabs((double)write_hits / (double)writes - 0.2) < 0.01,
                  "%llu of %llu", (unsigned long long)write_hits,
                  (unsigned long long)writes);
}
END_TEST

START_TEST(all_hits_stay_in_the_area)
{
    w.read_hit_percent = 100;
    cell.hit_bytes = 1 * MB;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();

        if (!is_in(&io, 0, 1 * MB))
            ck_abort_msg("offset %llu", (unsigned long long)io.offset);
    }
}
END_TEST

/* Misses go on in order behind the area, whatever is hit in between. */
START_TEST(sequential_misses_keep_their_order)
{
    uint64_t expected = 1 * MB;

    w.seek_percent = 0;
    w.read_hit_percent = 50;
    cell.hit_bytes = 1 * MB;
    begin();
    for (uint32_t i = 0; i < 1000; i++) {
        struct engine_io io = next();

        if (io.offset < 1 * MB)
            continue;
        ck_assert_uint_eq(io.offset, expected);
        expected += io.length;
    }
    ck_assert_uint_gt(expected, 2 * MB);
}
END_TEST

/* ---- offset=, align=, xfersize=(min,max,align) ---- */

START_TEST(offset_moves_every_place)
{
    w.sizes[0].bytes = 8192;
    cell.shift = 512;
    cell.low = 8192 + 512;
    cell.high = 1 * MB + 512;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();

        if (io.offset % 8192 != 512 || !is_in(&io, cell.low, cell.high))
            ck_abort_msg("offset %llu", (unsigned long long)io.offset);
    }
}
END_TEST

START_TEST(align_is_what_places_are_multiples_of)
{
    uint32_t odd = 0;

    w.sizes[0].bytes = 16384;
    cell.align = 4096;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();

        if (io.offset % 4096 != 0 || !is_in(&io, 0, 64 * MB))
            ck_abort_msg("offset %llu", (unsigned long long)io.offset);
        odd += io.offset % 16384 != 0;
    }
    check_share(odd, 75, "not multiples of the transfer");
}
END_TEST

START_TEST(sequential_places_are_aligned_as_well)
{
    w.seek_percent = 0;
    w.sizes[0].bytes = 1536;
    cell.align = 4096;
    cell.shift = 512;
    cell.low = 512;
    cell.high = 64 * KB + 512;
    begin();
    for (uint64_t i = 0; i < 40; i++)
        ck_assert_uint_eq(next().offset, 512 + i % 16 * 4096);
}
END_TEST

START_TEST(sizes_between_min_and_max_are_all_alike)
{
    uint64_t seen[9] = {0};

    w.sizes[0] = (struct job_size){4096, 50};
    w.sizes[1] = (struct job_size){32768, 50};
    w.size_count = 2;
    w.size_step = 4096;
    cell.align = 4096;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();

        if (io.length % 4096 != 0 || io.length < 4096 || io.length > 32768 ||
            io.offset % 4096 != 0 || !is_in(&io, 0, 64 * MB))
            ck_abort_msg("%u bytes at %llu", io.length,
                         (unsigned long long)io.offset);
        seen[io.length / 4096]++;
    }
    for (int i = 1; i <= 8; i++)
        check_share(seen[i], 12.5, "a size");
}
END_TEST

/* ---- streams=, stride=, seqnz ---- */

START_TEST(streams_keep_their_own_slices)
{
    uint64_t expected[4];

    w.seek_percent = 0;
    w.streams = 4;
    begin();
    for (uint32_t i = 0; i < 4; i++)
        expected[i] = i * 16 * MB;
    for (uint32_t i = 0; i < 50000; i++) {
        struct engine_io io = next();
        uint64_t *at = &expected[i % 4];

        if (io.offset != *at ||
            !is_in(&io, i % 4 * 16 * MB, (i % 4 + 1) * 16 * MB))
            ck_abort_msg("stream %u at %llu", i % 4,
                         (unsigned long long)io.offset);
        *at += io.length;
        if (*at == (i % 4 + 1) * 16 * MB)
            *at -= 16 * MB;
    }
}
END_TEST

/* seekpct=eof with streams: every block once, then the end. */
START_TEST(streams_that_end_cover_their_slices_once)
{
    static uint8_t seen[256];
    struct engine_io io;
    uint32_t count = 0;

    memset(seen, 0, sizeof(seen));
    w.seek_percent = 0;
    w.end_at_eof = true;
    w.streams = 8;
    cell.high = 256 * 4096;
    begin();
    for (; access_draw(&access_, &source, &io); count++)
        seen[io.offset / 4096]++;
    ck_assert_uint_eq(count, 256);
    for (uint32_t i = 0; i < 256; i++)
        ck_assert_uint_eq(seen[i], 1);
    ck_assert(!access_draw(&access_, &source, &io));
}
END_TEST

START_TEST(stride_leaves_out_what_it_says)
{
    uint64_t end = 0, gaps[5] = {0};
    uint32_t wraps = 0;

    w.seek_percent = 0;
    w.stride_min = 64 * KB;
    w.stride_max = 80 * KB;
    begin();
    end = next().offset + 4096;
    for (uint32_t i = 1; i < DRAWS; i++) {
        struct engine_io io = next();

        if (io.offset < end) {
            ck_assert_uint_eq(io.offset, 0);
            wraps++;
        } else {
            uint64_t gap = io.offset - end;

            if (gap < 64 * KB || gap > 80 * KB || gap % 4096 != 0)
                ck_abort_msg("a gap of %llu", (unsigned long long)gap);
            gaps[(gap - 64 * KB) / 4096]++;
        }
        end = io.offset + io.length;
    }
    ck_assert_uint_gt(wraps, 50);
    for (int i = 0; i < 5; i++)
        ck_assert_msg(fabs((double)gaps[i] / (DRAWS - wraps) - 0.2) < 0.01,
                      "gap %d: %llu", i, (unsigned long long)gaps[i]);
}
END_TEST

START_TEST(seqnz_starts_anywhere_and_goes_round)
{
    uint64_t first, beginnings[8] = {0};
    uint64_t blocks = cell.high / 4096;

    w.seek_percent = 0;
    w.starts_anywhere = true;
    begin();
    first = next().offset;
    for (uint64_t i = 1; i <= 2 * blocks; i++)
        if (next().offset != (first + i * 4096) % cell.high)
            ck_abort_msg("request %llu", (unsigned long long)i);
    for (uint32_t i = 0; i < 8000; i++) {
        begin();
        beginnings[next().offset / (8 * MB)]++;
    }
    for (int i = 0; i < 8; i++)
        ck_assert_msg(beginnings[i] > 850 && beginnings[i] < 1150, "%llu",
                      (unsigned long long)beginnings[i]);
}
END_TEST

/* ---- seekpct=poisson, hotband= ---- */

START_TEST(poisson_hits_its_middle_most)
{
    uint64_t pieces[12] = {0};
    double p = exp(-3.0), all = 0;

    w.seek = JOB_SEEK_POISSON;
    w.poisson_mid = 3;
    cell.high = 12 * MB;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++)
        pieces[next().offset / MB]++;
    for (int k = 0; k < 12; k++) {
        all += p;
        p *= 3.0 / (k + 1);
    }
    p = exp(-3.0);
    for (int k = 0; k < 12; k++) {
        check_share(pieces[k], 100 * p / all, "a piece");
        p *= 3.0 / (k + 1);
    }
}
END_TEST

/* Density 1/sqrt(x): x of the band holds sqrt(x) of all. */
START_TEST(hotband_leans_to_its_beginning)
{
    uint64_t first_quarter = 0, first_half = 0;

    w.seek = JOB_SEEK_BAND;
    cell.low = 8 * MB;
    cell.high = 24 * MB;
    cell.band_high = 1;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();

        if (!is_in(&io, cell.low, cell.high))
            ck_abort_msg("offset %llu", (unsigned long long)io.offset);
        first_quarter += io.offset < 12 * MB;
        first_half += io.offset < 16 * MB;
    }
    check_share(first_quarter, 50, "first quarter");
    check_share(first_half, 100 * sqrt(0.5), "first half");
}
END_TEST

/* A cell that is the second half of a band goes on as the band would. */
START_TEST(a_part_of_a_band_has_the_bands_slope)
{
    double root = sqrt(0.5);
    uint64_t first = 0;

    w.seek = JOB_SEEK_BAND;
    cell.band_low = 0.5;
    cell.band_high = 1;
    begin();
    for (uint32_t i = 0; i < DRAWS; i++)
        first += next().offset < 32 * MB;
    check_share(first, 100 * (sqrt(0.75) - root) / (1 - root), "first half");
}
END_TEST

/* ---- the common ones stay what they are ---- */

START_TEST(seekpct_20_seeks_with_a_fifth)
{
    uint64_t end = 0, seeks = 0;

    w.seek_percent = 20;
    cell.align = 4096; /* the same through the long way */
    begin();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();

        seeks += io.offset != end % cell.high;
        end = io.offset + io.length;
    }
    check_share(seeks, 20, "seeks");
}
END_TEST

/* ---- several regions as one ---- */

static struct access_piece pieces[3];

static void join(void)
{
    pieces[0] = (struct access_piece){.low = 4 * KB, .length = 10 * KB};
    pieces[1] = (struct access_piece){.low = 0, .length = 8 * KB};
    pieces[2] = (struct access_piece){.low = 64 * KB, .length = 12 * KB};
    access_init_joined(&access_, &w, pieces, 3);
}

/* Region by region; what does not fit before an edge is left out. */
static const struct {
    uint32_t piece;
    uint64_t offset;
} walk[] = {
    {0, 4 * KB},  {0, 8 * KB},  {1, 0},       {1, 4 * KB},
    {2, 64 * KB}, {2, 68 * KB}, {2, 72 * KB},
};

START_TEST(joined_regions_are_gone_through_in_order_and_again)
{
    w.seek_percent = 0;
    join();
    for (uint32_t i = 0; i < 5 * ARRAY_LENGTH(walk); i++) {
        struct engine_io io = next();

        ck_assert_uint_eq(access_piece(&access_),
                          walk[i % ARRAY_LENGTH(walk)].piece);
        ck_assert_uint_eq(io.offset, walk[i % ARRAY_LENGTH(walk)].offset);
    }
}
END_TEST

START_TEST(joined_regions_end_behind_the_last)
{
    struct engine_io io = {0};

    w.seek_percent = 0;
    w.end_at_eof = true;
    join();
    for (uint32_t i = 0; i < ARRAY_LENGTH(walk); i++)
        ck_assert_uint_eq(next().offset, walk[i].offset);
    ck_assert(!access_draw(&access_, &source, &io));
    ck_assert(!access_draw(&access_, &source, &io));
}
END_TEST

/* Any length at any place: within one region, and those of one follow each
 * other. */
START_TEST(no_request_lies_across_joined_regions)
{
    static const uint64_t low[] = {4 * KB, 0, 64 * KB};
    static const uint64_t high[] = {14 * KB, 8 * KB, 76 * KB};
    uint64_t hits[3] = {0};

    w.seek_percent = 20;
    w.sizes[0] = (struct job_size){512, 50};
    w.sizes[1] = (struct job_size){2048, 50};
    w.size_count = 2;
    join();
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct engine_io io = next();
        uint32_t piece = access_piece(&access_);

        ck_assert_uint_lt(piece, 3);
        if (!is_in(&io, low[piece], high[piece]))
            ck_abort_msg("offset %llu of piece %u",
                         (unsigned long long)io.offset, piece);
        hits[piece]++;
    }
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_double_eq_tol((double)hits[i] / DRAWS,
                                (double)(high[i] - low[i]) / (30 * KB), 0.02);
}
END_TEST

/* Two streams cut the whole, not each region: 15 KB, rounded down, each. */
START_TEST(streams_cut_joined_regions_as_one)
{
    static const uint64_t offsets[] = {4 * KB, 0 * KB + 2 * KB, 8 * KB,
                                       64 * KB};

    w.seek_percent = 0;
    w.streams = 2;
    join();
    for (uint32_t i = 0; i < ARRAY_LENGTH(offsets); i++)
        ck_assert_uint_eq(next().offset, offsets[i]);
}
END_TEST

START_TEST(a_plain_cell_takes_the_short_way)
{
    begin();
    ck_assert_int_eq(access_.mode, ACCESS_RANDOM);
    w.seek_percent = 0;
    begin();
    ck_assert_int_eq(access_.mode, ACCESS_SEQUENTIAL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access_shape");
    TCase *cases = tcase_create("access_shape");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, range_90_to_110_is_the_last_and_the_first_tenth);
    tcase_add_test(cases, sequential_work_goes_on_from_the_beginning_and_back);
    tcase_add_test(cases, rhpct_and_whpct_hit_the_area_and_miss_it);
    tcase_add_test(cases, all_hits_stay_in_the_area);
    tcase_add_test(cases, sequential_misses_keep_their_order);
    tcase_add_test(cases, offset_moves_every_place);
    tcase_add_test(cases, align_is_what_places_are_multiples_of);
    tcase_add_test(cases, sequential_places_are_aligned_as_well);
    tcase_add_test(cases, sizes_between_min_and_max_are_all_alike);
    tcase_add_test(cases, streams_keep_their_own_slices);
    tcase_add_test(cases, streams_that_end_cover_their_slices_once);
    tcase_add_test(cases, stride_leaves_out_what_it_says);
    tcase_add_test(cases, seqnz_starts_anywhere_and_goes_round);
    tcase_add_test(cases, poisson_hits_its_middle_most);
    tcase_add_test(cases, hotband_leans_to_its_beginning);
    tcase_add_test(cases, a_part_of_a_band_has_the_bands_slope);
    tcase_add_test(cases, seekpct_20_seeks_with_a_fifth);
    tcase_add_test(cases, joined_regions_are_gone_through_in_order_and_again);
    tcase_add_test(cases, joined_regions_end_behind_the_last);
    tcase_add_test(cases, no_request_lies_across_joined_regions);
    tcase_add_test(cases, streams_cut_joined_regions_as_one);
    tcase_add_test(cases, a_plain_cell_takes_the_short_way);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
