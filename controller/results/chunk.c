#include "controller/results/chunk.h"

#include <errno.h>

#define CHUNK_VERSION 2 /* 1 has no arrivals */

static void put_blob(struct bytes *into, const uint8_t *blob, size_t length)
{
    bytes_put_number(into, length);
    bytes_put(into, blob, length);
}

void chunk_begin(struct bytes *into)
{
    const uint8_t version = CHUNK_VERSION;

    bytes_put(into, &version, 1);
}

void chunk_put(struct bytes *into, const struct sample_cell *cell)
{
    bytes_put_number(into,
                     (uint64_t)cell->cell * SAMPLE_OPS + (uint64_t)cell->op);
    bytes_put_number(into, cell->ios);
    bytes_put_number(into, cell->bytes);
    bytes_put_number(into, cell->errors);
    bytes_put_number(into, cell->in_flight);
    bytes_put_number(into, cell->oldest_ns);
    bytes_put_number(into, cell->unissued);
    bytes_put_number(into, cell->unissued_oldest_ns);
    bytes_put_number(into, cell->issued);
    bytes_put_number(into, cell->late_ns);
    bytes_put_number(into, cell->late_max_ns);
    put_blob(into, cell->service, cell->service_length);
    put_blob(into, cell->response, cell->response_length);
}

void chunk_encode(struct bytes *into, struct sample *const *parts,
                  uint32_t part_count)
{
    chunk_begin(into);
    for (uint32_t p = 0; p < part_count; p++)
        for (uint32_t i = 0; i < parts[p]->cell_count; i++)
            chunk_put(into, &parts[p]->cells[i]);
}

int chunk_open(struct chunk_reader *reader, const uint8_t *data, size_t length)
{
    reader->bytes = (struct byte_reader){data, data + length, false};
    if (length == 0 || *data == 0 || *data > CHUNK_VERSION)
        return -EBADMSG;
    reader->version = *reader->bytes.at++;
    return 0;
}

static void take_lateness(struct byte_reader *bytes, struct sample_cell *cell)
{
    cell->issued = byte_reader_number(bytes);
    cell->late_ns = byte_reader_number(bytes);
    cell->late_max_ns = byte_reader_number(bytes);
}

int chunk_next(struct chunk_reader *reader, struct sample_cell *ret_cell)
{
    struct byte_reader *bytes = &reader->bytes;
    struct sample_cell cell = {0};
    uint32_t key;

    if (bytes->at == bytes->end)
        return bytes->bad ? -EBADMSG : 0;
    key = byte_reader_below(bytes, UINT32_MAX);
    cell.cell = key / SAMPLE_OPS;
    cell.op = (enum sample_op)(key % SAMPLE_OPS);
    cell.ios = byte_reader_number(bytes);
    cell.bytes = byte_reader_number(bytes);
    cell.errors = byte_reader_number(bytes);
    cell.in_flight = byte_reader_below(bytes, UINT32_MAX);
    cell.oldest_ns = byte_reader_number(bytes);
    cell.unissued = byte_reader_number(bytes);
    cell.unissued_oldest_ns = byte_reader_number(bytes);
    if (reader->version > 1)
        take_lateness(bytes, &cell);
    cell.service_length = byte_reader_number(bytes);
    cell.service = byte_reader_take(bytes, cell.service_length);
    cell.response_length = byte_reader_number(bytes);
    cell.response = byte_reader_take(bytes, cell.response_length);
    if (bytes->bad)
        return -EBADMSG;
    *ret_cell = cell;
    return 1;
}
