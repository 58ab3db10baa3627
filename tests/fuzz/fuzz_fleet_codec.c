/*
 * What strangers send to a controller.  What the codec accepts keeps within
 * the bounds of the protocol, whatever came.
 */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "common/histogram.h"
#include "controller/fleet/codec.h"
#include "controller/results/sample.h"

static void check_sample(const struct wire_sample *sample)
{
    static struct histogram h;
    const struct sample *s = sample->sample;

    assert(s->part < s->parts && s->parts <= WIRE_PARTS_MAX);
    assert(s->spans >= 1 && s->spans <= s->interval + 1);
    assert(sample->agent_begin_ns <= sample->agent_end_ns);
    for (uint32_t i = 0; i < s->cell_count; i++) {
        const struct sample_cell *cell = &s->cells[i];

        assert(cell->cell < WIRE_CELLS_MAX && cell->op < SAMPLE_OPS);
        histogram_init(&h);
        assert(cell->service_length == 0 ||
               histogram_merge_blob(&h, cell->service, cell->service_length) ==
                   0);
        assert(h.count == cell->ios);
    }
}

static void check_hello(const struct wire_agent_hello *hello)
{
    assert(hello->name[0] != '\0' && strlen(hello->name) < NAME_SIZE);
    if (hello->major != WIRE_MAJOR)
        return;
    assert(hello->lease_ms >= WIRE_LEASE_MS_MIN);
    assert(hello->label_count <= WIRE_LABELS_MAX);
}

static void check_request(const struct wire_request *request)
{
    size_t total = 0;

    assert(strlen(request->campaign) < NAME_SIZE);
    assert(request->submit.file_count <= WIRE_FILES_MAX);
    for (uint32_t i = 0; i < request->submit.file_count; i++)
        total += strlen(request->submit.files[i].text);
    assert(total <= WIRE_FILES_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(WIRE_ARENA_BYTES);
    struct wire_in in;
    struct diag diag = {0};
    int err;

    assert(arena != NULL);
    err = wire_decode(data, size, arena, &in, &diag);
    assert(err == 0 || diag.text[0] != '\0');
    if (err == 0 && in.kind == WIRE_IN_SAMPLE) {
        check_sample(&in.sample);
        sample_free(in.sample.sample);
    } else if (err == 0 && in.kind == WIRE_IN_AGENT_HELLO) {
        check_hello(&in.agent_hello);
    } else if (err == 0 && in.kind == WIRE_IN_REQUEST) {
        check_request(&in.request);
    } else if (err == 0 && in.kind == WIRE_IN_INVENTORY) {
        assert(in.inventory.drive_count <= WIRE_DRIVES_MAX);
    }
    assert(arena_size(arena) <= WIRE_ARENA_BYTES);
    arena_free(arena);
    return 0;
}
