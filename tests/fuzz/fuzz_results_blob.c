/*
 * Byte strings of the store: a chunk of cells (first byte even) or a layout
 * (odd): refused, or sound and inside its bounds.
 */
#include <assert.h>
#include <stddef.h>

#include "controller/results/chunk.h"
#include "controller/results/layout.h"
#include "tests/fuzz/fuzz.h"

static void read_chunk(const uint8_t *data, size_t size)
{
    struct chunk_reader reader;
    struct sample_cell cell;
    size_t cells = 0;

    if (chunk_open(&reader, data, size) < 0)
        return;
    while (chunk_next(&reader, &cell) == 1) {
        assert(++cells <= size);
        assert(cell.service >= data && cell.response >= data);
        assert(cell.service + cell.service_length <= data + size);
        assert(cell.response + cell.response_length <= data + size);
        assert((unsigned)cell.op < SAMPLE_OPS);
    }
    assert(reader.bytes.at <= data + size);
}

static void read_layout(const uint8_t *data, size_t size)
{
    struct layout *layout, *again;
    struct bytes bytes = {0};
    uint32_t taking_part = 0;

    if (layout_decode(data, size, &layout) < 0)
        return;
    for (uint32_t i = 0; i < layout->cell_count; i++) {
        assert(layout->cells[i].host < layout->host_count);
        assert(layout->cells[i].target < layout->target_count);
        assert(layout->cells[i].workload < layout->workload_count);
    }
    for (uint32_t h = 0; h < layout->host_count; h++)
        taking_part += layout->takes_part[h] ? 1 : 0;
    assert(taking_part == layout->takes_part_count);
    layout_encode(layout, &bytes);
    assert(!bytes.failed);
    assert(layout_decode(bytes.data, bytes.length, &again) == 0);
    assert(again->cell_count == layout->cell_count);
    again = layout_free(again);
    layout = layout_free(layout);
    bytes_done(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 2 == 0)
        read_chunk(data + 1, size - 1);
    else
        read_layout(data + 1, size - 1);
    return 0;
}
