#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/frame.h"
#include "common/prng.h"
#include "tests/support/suite.h"

static struct frame_buffer buffer;

static void setup(void)
{
    frame_buffer_init(&buffer);
}

static void teardown(void)
{
    frame_buffer_done(&buffer);
}

/* Writes a frame whose bytes tell which it is; returns its whole length. */
static size_t put_frame(uint8_t *at, uint32_t length, uint8_t tag)
{
    frame_header(at, length);
    memset(at + FRAME_HEADER_SIZE, tag, length);
    return FRAME_HEADER_SIZE + length;
}

static void expect_frame(uint32_t length, uint8_t tag)
{
    const uint8_t *body;
    uint32_t found;

    ck_assert_int_eq(frame_buffer_take(&buffer, &body, &found), 1);
    ck_assert_uint_eq(found, length);
    ck_assert_uint_eq(body[0], tag);
    ck_assert_uint_eq(body[length - 1], tag);
}

static void expect_nothing(void)
{
    const uint8_t *body = NULL;
    uint32_t length = 77;

    ck_assert_int_eq(frame_buffer_take(&buffer, &body, &length), 0);
    ck_assert_ptr_null(body);
    ck_assert_uint_eq(length, 77);
}

/* Three frames, cut into two pieces at every byte. */
START_TEST(a_cut_at_each_byte)
{
    static const uint32_t lengths[] = {1, 300, 2};
    uint8_t stream[3 * FRAME_HEADER_SIZE + 303];
    size_t whole = 0;

    for (uint8_t i = 0; i < 3; i++)
        whole += put_frame(stream + whole, lengths[i], (uint8_t)(i + 1));
    ck_assert_uint_eq(whole, sizeof(stream));
    for (size_t cut = 0; cut <= whole; cut++) {
        uint8_t seen = 0;
        const uint8_t *body;
        uint32_t length;

        for (int half = 0; half < 2; half++) {
            const uint8_t *piece = half == 0 ? stream : stream + cut;
            size_t size = half == 0 ? cut : whole - cut;

            if (frame_buffer_add(&buffer, piece, size) != 0)
                ck_abort_msg("not added, cut at %zu", cut);
            while (frame_buffer_take(&buffer, &body, &length) == 1) {
                if (length != lengths[seen] || body[0] != seen + 1 ||
                    body[length - 1] != seen + 1)
                    ck_abort_msg("frame %u is wrong, cut at %zu", seen, cut);
                seen++;
            }
        }
        if (seen != 3)
            ck_abort_msg("%u frames, cut at %zu", seen, cut);
    }
}
END_TEST

START_TEST(byte_by_byte)
{
    uint8_t stream[FRAME_HEADER_SIZE + 9];
    size_t whole = put_frame(stream, 9, 5);

    for (size_t i = 0; i + 1 < whole; i++) {
        ck_assert_int_eq(frame_buffer_add(&buffer, stream + i, 1), 0);
        expect_nothing();
    }
    ck_assert_int_eq(frame_buffer_add(&buffer, stream + whole - 1, 1), 0);
    expect_frame(9, 5);
    expect_nothing();
}
END_TEST

START_TEST(the_longest_body)
{
    uint8_t *stream = malloc(FRAME_HEADER_SIZE + FRAME_BODY_MAX);
    size_t whole = put_frame(stream, FRAME_BODY_MAX, 9);

    for (int round = 0; round < 3; round++) {
        for (size_t at = 0; at < whole; at += FRAME_PIECE_MAX) {
            size_t left = whole - at;

            ck_assert_int_eq(frame_buffer_add(&buffer, stream + at,
                                              left < FRAME_PIECE_MAX
                                                  ? left
                                                  : FRAME_PIECE_MAX),
                             0);
            if (left > FRAME_PIECE_MAX)
                expect_nothing();
        }
        expect_frame(FRAME_BODY_MAX, 9);
        expect_nothing();
    }
    free(stream);
}
END_TEST

/* Lengths of 0, one too many, and the worst; the stream stays refused. */
START_TEST(case_O01_impossible_lengths)
{
    static const uint8_t headers[][FRAME_HEADER_SIZE] = {
        {0, 0, 0, 0}, {0, 0x10, 0, 1}, {0x80, 0, 0, 0}, {255, 255, 255, 255}};
    const uint8_t *body;
    uint32_t length;

    ck_assert_int_eq(frame_buffer_add(&buffer, headers[_i], 4), 0);
    for (int again = 0; again < 2; again++)
        ck_assert_int_eq(frame_buffer_take(&buffer, &body, &length), -EMSGSIZE);
    ck_assert_uint_lt(buffer.capacity, 1u << 16);
}
END_TEST

/* Memory follows what came, not what was announced. */
START_TEST(case_O01_announcing_costs_nothing)
{
    uint8_t header[FRAME_HEADER_SIZE];

    frame_header(header, FRAME_BODY_MAX);
    ck_assert_int_eq(frame_buffer_add(&buffer, header, sizeof(header)), 0);
    expect_nothing();
    ck_assert_uint_le(buffer.capacity, 1u << 16);
}
END_TEST

/* One who never takes is stopped, not fed for ever. */
START_TEST(growth_is_bounded)
{
    static uint8_t piece[FRAME_PIECE_MAX];
    int r = 0;

    frame_header(piece, FRAME_BODY_MAX);
    for (int i = 0; i < 100 && r == 0; i++)
        r = frame_buffer_add(&buffer, piece, sizeof(piece));
    ck_assert_int_eq(r, -ENOBUFS);
    ck_assert_uint_le(buffer.capacity,
                      FRAME_HEADER_SIZE + FRAME_BODY_MAX + FRAME_PIECE_MAX);
}
END_TEST

/* Random frames in random pieces come out as they went in. */
START_TEST(any_pieces)
{
    enum { FRAMES = 400 };
    static uint8_t stream[FRAMES * 2100];
    uint64_t seed = suite_seed();
    uint32_t lengths[FRAMES];
    size_t whole = 0, at = 0;
    struct prng prng;
    int seen = 0;

    prng_seed(&prng, seed);
    for (int i = 0; i < FRAMES; i++) {
        lengths[i] = 1 + (uint32_t)prng_below(&prng, 2000);
        whole += put_frame(stream + whole, lengths[i], (uint8_t)i);
    }
    while (at < whole) {
        size_t size = 1 + prng_below(&prng, 5000);
        const uint8_t *body;
        uint32_t length;

        size = size > whole - at ? whole - at : size;
        ck_assert_int_eq(frame_buffer_add(&buffer, stream + at, size), 0);
        at += size;
        while (frame_buffer_take(&buffer, &body, &length) == 1) {
            ck_assert_msg(length == lengths[seen] && body[0] == (uint8_t)seen &&
                              body[length - 1] == (uint8_t)seen,
                          "TEST_SEED=%llu", (unsigned long long)seed);
            seen++;
        }
    }
    ck_assert_int_eq(seen, FRAMES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame");
    TCase *tc = tcase_create("frame");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_cut_at_each_byte);
    tcase_add_test(tc, byte_by_byte);
    tcase_add_test(tc, the_longest_body);
    tcase_add_loop_test(tc, case_O01_impossible_lengths, 0, 4);
    tcase_add_test(tc, case_O01_announcing_costs_nothing);
    tcase_add_test(tc, growth_is_bounded);
    tcase_add_test(tc, any_pieces);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
