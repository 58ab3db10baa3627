#include "controller/results/chunk.h"

#include <errno.h>

#define CHUNK_VERSION 1

static void put_blob(struct bytes *into, const uint8_t *blob, size_t length)
{
    bytes_put_number(into, length);
    bytes_put(into, blob, length);
}

static void put_cell(struct bytes *into, const struct sample_cell *cell)
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
    put_blob(into, cell->service, cell->service_length);
    put_blob(into, cell->response, cell->response_length);
}

void chunk_encode(struct bytes *into, struct sample *const *parts,
                  uint32_t part_count)
{
    const uint8_t version = CHUNK_VERSION;

    bytes_put(into, &version, 1);
    for (uint32_t p = 0; p < part_count; p++)
        for (uint32_t i = 0; i < parts[p]->cell_count; i++)
            put_cell(into, &parts[p]->cells[i]);
}

int chunk_open(struct byte_reader *reader, const uint8_t *data, size_t length)
{
    *reader = (struct byte_reader){data, data + length, false};
    if (length == 0 || *reader->at != CHUNK_VERSION)
        return -EBADMSG;
    reader->at++;
    return 0;
}

int chunk_next(struct byte_reader *reader, struct sample_cell *ret_cell)
{
    struct sample_cell cell = {0};
    uint32_t key;

    if (reader->at == reader->end)
        return reader->bad ? -EBADMSG : 0;
    key = byte_reader_below(reader, UINT32_MAX);
    cell.cell = key / SAMPLE_OPS;
    cell.op = (enum sample_op)(key % SAMPLE_OPS);
    cell.ios = byte_reader_number(reader);
    cell.bytes = byte_reader_number(reader);
    cell.errors = byte_reader_number(reader);
    cell.in_flight = byte_reader_below(reader, UINT32_MAX);
    cell.oldest_ns = byte_reader_number(reader);
    cell.unissued = byte_reader_number(reader);
    cell.unissued_oldest_ns = byte_reader_number(reader);
    cell.service_length = byte_reader_number(reader);
    cell.service = byte_reader_take(reader, cell.service_length);
    cell.response_length = byte_reader_number(reader);
    cell.response = byte_reader_take(reader, cell.response_length);
    if (reader->bad)
        return -EBADMSG;
    *ret_cell = cell;
    return 1;
}
