/*
 * Goal: the byte strings of the store come back as they went in, and what is
 * damaged is found out, wherever it is cut or changed.
 */
#include "common/prng.h"
#include "controller/results/chunk.h"
#include "controller/results/layout.h"
#include "controller/results/row.h"
#include "tests/support/suite.h"
#include "tests/unit/results/measure.h"

#include <check.h>
#include <errno.h>

START_TEST(numbers_come_back)
{
    static const uint64_t numbers[] = {
        0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX};
    struct byte_reader reader;
    struct bytes bytes = {0};

    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        bytes_put_number(&bytes, numbers[i]);
    ck_assert(!bytes.failed);
    reader = (struct byte_reader){bytes.data, bytes.data + bytes.length, false};
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        ck_assert_uint_eq(byte_reader_number(&reader), numbers[i]);
    ck_assert(!reader.bad && reader.at == reader.end);
    (void)byte_reader_number(&reader);
    ck_assert(reader.bad);
    bytes_done(&bytes);
}
END_TEST

START_TEST(numbers_that_are_too_long_are_bad)
{
    static const uint8_t eleven[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0x01};
    struct byte_reader reader = {eleven, eleven + sizeof(eleven), false};

    (void)byte_reader_number(&reader);
    ck_assert(reader.bad);
}
END_TEST

START_TEST(what_is_not_there_is_not_taken)
{
    static const uint8_t four[] = {1, 2, 3, 4};
    struct byte_reader reader = {four, four + sizeof(four), false};

    ck_assert_ptr_null(byte_reader_take(&reader, UINT64_MAX));
    ck_assert(reader.bad);
}
END_TEST

static void make_chunk(struct bytes *chunk, struct sample *parts[2])
{
    parts[0] = sample_of(0, 3, 2);
    parts[1] = sample_of(0, 3, 1);
    sample_add_many(parts[0], 7, SAMPLE_READ, 1000, 5)->in_flight = 9;
    sample_add_many(parts[0], 7, SAMPLE_WRITE, 2000, 6)->errors = 3;
    sample_add_many(parts[1], 8, SAMPLE_READ, 3000, 0)->unissued_oldest_ns = 4;
    parts[1]->cells[0].issued = 12;
    parts[1]->cells[0].late_ns = 1000;
    parts[1]->cells[0].late_max_ns = 300;
    chunk_encode(chunk, parts, 2);
    ck_assert(!chunk->failed);
}

START_TEST(cells_come_back)
{
    struct sample *parts[2];
    struct chunk_reader reader;
    struct bytes chunk = {0};
    struct sample_cell cell;

    make_chunk(&chunk, parts);
    ck_assert_int_eq(chunk_open(&reader, chunk.data, chunk.length), 0);
    ck_assert_int_eq(chunk_next(&reader, &cell), 1);
    ck_assert_uint_eq(cell.cell, 7);
    ck_assert_uint_eq(cell.ios, 5);
    ck_assert_uint_eq(cell.in_flight, 9);
    ck_assert_uint_eq(cell.service_length, parts[0]->cells[0].service_length);
    ck_assert_mem_eq(cell.service, parts[0]->cells[0].service,
                     cell.service_length);
    ck_assert_int_eq(chunk_next(&reader, &cell), 1);
    ck_assert_int_eq(cell.op, SAMPLE_WRITE);
    ck_assert_uint_eq(cell.errors, 3);
    ck_assert_int_eq(chunk_next(&reader, &cell), 1);
    ck_assert_uint_eq(cell.cell, 8);
    ck_assert_uint_eq(cell.service_length, 0);
    ck_assert_uint_eq(cell.unissued_oldest_ns, 4);
    ck_assert_uint_eq(cell.issued, 12);
    ck_assert_uint_eq(cell.late_ns, 1000);
    ck_assert_uint_eq(cell.late_max_ns, 300);
    ck_assert_int_eq(chunk_next(&reader, &cell), 0);
    bytes_done(&chunk);
    (void)sample_free(parts[0]);
    (void)sample_free(parts[1]);
}
END_TEST

/* As stores of before have them: without arrivals. */
START_TEST(a_chunk_of_the_first_version_comes_back)
{
    static const uint8_t chunk[] = {1, 15, 0, 0, 3, 1, 70, 2, 80, 0, 0};
    struct chunk_reader reader;
    struct sample_cell cell;

    ck_assert_int_eq(chunk_open(&reader, chunk, sizeof(chunk)), 0);
    ck_assert_int_eq(chunk_next(&reader, &cell), 1);
    ck_assert_uint_eq(cell.cell, 7);
    ck_assert_int_eq(cell.op, SAMPLE_WRITE);
    ck_assert_uint_eq(cell.errors, 3);
    ck_assert_uint_eq(cell.unissued_oldest_ns, 80);
    ck_assert_uint_eq(cell.issued, 0);
    ck_assert_int_eq(chunk_next(&reader, &cell), 0);
}
END_TEST

/* Cut anywhere, it ends at a cell's edge or is bad; it never reads on. */
START_TEST(a_chunk_cut_anywhere_is_found_out)
{
    struct sample *parts[2];
    struct bytes chunk = {0};

    make_chunk(&chunk, parts);
    for (size_t length = 0; length < chunk.length; length++) {
        uint8_t *cut = malloc(length + 1);
        struct chunk_reader reader;
        struct sample_cell cell;
        int got;

        memcpy(cut, chunk.data, length);
        got = chunk_open(&reader, cut, length);
        if (got == 0)
            got = 1;
        for (int cells = 0; got == 1; cells++) {
            got = chunk_next(&reader, &cell);
            ck_assert_int_lt(cells, 4);
        }
        ck_assert(got == 0 || got == -EBADMSG);
        free(cut);
    }
    bytes_done(&chunk);
    (void)sample_free(parts[0]);
    (void)sample_free(parts[1]);
}
END_TEST

START_TEST(a_layout_comes_back)
{
    struct layout *layout, *again;
    struct bytes bytes = {0};
    struct field field;

    field_init(&field, 3, 2, 2, 1);
    ck_assert_int_eq(layout_of_run(&field.plan, &field.plan.runs[0], &layout),
                     0);
    ck_assert_uint_eq(layout->cell_count, 12);
    ck_assert_uint_eq(layout->takes_part_count, 3);
    layout_encode(layout, &bytes);
    ck_assert_int_eq(layout_decode(bytes.data, bytes.length, &again), 0);
    ck_assert_uint_eq(again->takes_part_count, 3);
    ck_assert_mem_eq(again->cells, layout->cells,
                     12 * sizeof(struct layout_cell));
    again = layout_free(again);
    for (size_t length = 0; length < bytes.length; length++)
        ck_assert_int_eq(layout_decode(bytes.data, length, &again), -EBADMSG);
    bytes_done(&bytes);
    layout = layout_free(layout);
    field_done(&field);
}
END_TEST

/* A host without a cell in the run has no part in the phase. */
START_TEST(only_hosts_with_cells_take_part)
{
    struct layout *layout;
    struct field field;

    field_init(&field, 3, 1, 1, 1);
    field.plan.runs[0].cell_count = 2;
    ck_assert_int_eq(layout_of_run(&field.plan, &field.plan.runs[0], &layout),
                     0);
    ck_assert_uint_eq(layout->takes_part_count, 2);
    ck_assert(!layout->takes_part[2]);
    layout = layout_free(layout);
    field_done(&field);
}
END_TEST

START_TEST(a_packed_tally_comes_back)
{
    static struct histogram h;
    struct tally_pair pair = {0}, again = {0};
    struct packed packed;

    histogram_init(&h);
    histogram_record_many(&h, 12345, 678);
    pair.op[SAMPLE_WRITE].service = &h;
    pair.op[SAMPLE_WRITE].n =
        (struct counts){678, 678 * 4096, 1, 2, 3, 4, 5, 6, 7, 8};
    ck_assert_int_eq(packed_of(&pair, &packed), 0);
    ck_assert_ptr_null(packed.service[SAMPLE_READ].data);
    ck_assert_int_eq(packed_add_to(&packed, &again), 0);
    ck_assert_mem_eq(&again.op[SAMPLE_WRITE].n, &pair.op[SAMPLE_WRITE].n,
                     sizeof(struct counts));
    ck_assert_mem_eq(again.op[SAMPLE_WRITE].service, &h, sizeof(h));
    packed.service[SAMPLE_WRITE].length--;
    ck_assert_int_eq(packed_add_to(&packed, &again), -EBADMSG);
    packed_done(&packed);
    tally_pair_done(&again);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chunk");
    TCase *tests = tcase_create("chunk");

    tcase_add_test(tests, numbers_come_back);
    tcase_add_test(tests, numbers_that_are_too_long_are_bad);
    tcase_add_test(tests, what_is_not_there_is_not_taken);
    tcase_add_test(tests, cells_come_back);
    tcase_add_test(tests, a_chunk_of_the_first_version_comes_back);
    tcase_add_test(tests, a_chunk_cut_anywhere_is_found_out);
    tcase_add_test(tests, a_layout_comes_back);
    tcase_add_test(tests, only_hosts_with_cells_take_part);
    tcase_add_test(tests, a_packed_tally_comes_back);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
