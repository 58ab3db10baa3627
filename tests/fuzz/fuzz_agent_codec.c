/*
 * Frames to an agent: whatever the bytes, what the codec accepts is true.
 */
#include <assert.h>
#include <string.h>

#include "agent/codec.h"
#include "agent/interlock.h"
#include "tests/fuzz/fuzz.h"

static void check_inspect(const struct order *order)
{
    assert(order->wish_count >= 1 && order->wish_count <= JOB_TARGETS_MAX);
    for (uint32_t i = 0; i < order->wish_count; i++) {
        assert(order->wishes[i].path[0] == '/');
        assert(codec_is_clean(order->wishes[i].path));
        assert((order->wishes[i].open_flags & ~(uint32_t)JOB_OPEN_ALL) == 0);
    }
}

static void check_prepare(const struct order *order)
{
    struct diag diag = {0};
    const struct job *job = order->job;

    assert(job_check(job, &diag) == 0);
    assert(codec_is_clean(job->name));
    for (uint32_t i = 0; i < job->target_count; i++) {
        assert(codec_is_clean(job->targets[i].sd));
        assert(codec_is_clean(job->targets[i].path));
    }
    for (uint32_t i = 0; i < job->cell_count; i++)
        assert(job->cells[i].high <=
               job->targets[job->cells[i].target].size_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct order order;
    struct diag diag = {0};

    if (codec_decode(data, size, &order, &diag) < 0) {
        assert(diag.err < 0 && diag.text[0] != '\0');
        return 0;
    }
    assert(order.kind < ORDER_KINDS);
    assert((order.kind == ORDER_PREPARE) == (order.job != NULL));
    assert((order.kind == ORDER_INSPECT) == (order.wishes != NULL));
    assert(codec_is_clean(order.reason));
    if (order.kind == ORDER_INSPECT)
        check_inspect(&order);
    if (order.kind == ORDER_PREPARE)
        check_prepare(&order);
    order_done(&order);
    return 0;
}
