/* engine_null.c - see engine_null.h.  Requests wait in a heap, the one to
 * complete next on top. */
#include "agent/engine_null.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pending {
    uint64_t due_ns;
    uint64_t number; /* breaks ties: first come, first served */
    uint32_t slot;
    int32_t result;
};

struct null_engine {
    struct engine engine; /* first: it is an engine */
    struct engine_null_script script;
    struct engine_null_text text; /* of engine_null_open_text() */
    uint64_t first_ns;            /* of the first request */
    const struct engine_io *io;
    size_t io_stride;
    uint64_t number;
    struct pending *heap;
    uint32_t heap_count;
    uint32_t heap_max;
    struct engine_done *done; /* room for all that can be in the heap */
};

static bool before(const struct pending *a, const struct pending *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns
                                  : a->number < b->number;
}

static void swap(struct pending *a, struct pending *b)
{
    struct pending keep = *a;

    *a = *b;
    *b = keep;
}

static void push(struct null_engine *n, struct pending pending)
{
    uint32_t i = n->heap_count++;

    assert(i < n->heap_max);
    n->heap[i] = pending;
    for (; i > 0 && before(&n->heap[i], &n->heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&n->heap[i], &n->heap[(i - 1) / 2]);
}

static struct pending pop(struct null_engine *n)
{
    struct pending top = n->heap[0];
    uint32_t i = 0;

    n->heap[0] = n->heap[--n->heap_count];
    for (;;) {
        uint32_t least = 2 * i + 1;

        if (least >= n->heap_count)
            break;
        if (least + 1 < n->heap_count &&
            before(&n->heap[least + 1], &n->heap[least]))
            least++;
        if (!before(&n->heap[least], &n->heap[i]))
            break;
        swap(&n->heap[least], &n->heap[i]);
        i = least;
    }
    return top;
}

static void accept_request(struct null_engine *n, uint32_t slot,
                           uint64_t now_ns)
{
    const struct engine_io *io =
        (const struct engine_io *)((const uint8_t *)n->io +
                                   (size_t)slot * n->io_stride);
    struct engine_null_fate fate = {0};
    uint64_t number = n->number++;

    fate.result = io->op == ENGINE_FSYNC ? 0 : (int32_t)io->length;
    if (n->script.fate != NULL)
        n->script.fate(n->script.context, io, number, now_ns, &fate);
    push(n, (struct pending){
                .due_ns = fate.latency_ns == ENGINE_NULL_NEVER
                              ? UINT64_MAX
                              : now_ns + fate.latency_ns,
                .number = number,
                .slot = slot,
                .result = fate.result,
            });
}

static void wait_until(const struct null_engine *n, uint64_t until_ns)
{
    uint64_t now_ns = clock_now_ns(n->script.clock);
    struct timespec time;

    if (until_ns <= now_ns)
        return;
    if (n->script.manual != NULL) {
        clock_manual_advance(n->script.manual, until_ns - now_ns);
        return;
    }
    time.tv_sec = (time_t)((until_ns - now_ns) / NS_PER_S);
    time.tv_nsec = (long)((until_ns - now_ns) % NS_PER_S);
    (void)nanosleep(&time, NULL); /* tidy: allow sleep, because it waits */
}

static int null_submit(struct engine *engine, const uint32_t *slots,
                       uint32_t count, uint64_t now_ns, uint64_t wait_ns)
{
    struct null_engine *n = (struct null_engine *)engine;
    uint64_t until_ns = clock_now_ns(n->script.clock) + wait_ns;

    for (uint32_t i = 0; i < count; i++)
        accept_request(n, slots[i], now_ns);
    if (n->heap_count > 0 && n->heap[0].due_ns < until_ns)
        until_ns = n->heap[0].due_ns;
    wait_until(n, until_ns);
    return 0;
}

static uint32_t null_reap(struct engine *engine, uint64_t now_ns,
                          const struct engine_done **ret_done,
                          uint64_t *ret_at_ns)
{
    struct null_engine *n = (struct null_engine *)engine;
    uint64_t at_ns;
    uint32_t count = 0;

    if (n->heap_count == 0 || n->heap[0].due_ns > now_ns)
        return 0;
    at_ns = n->heap[0].due_ns;
    while (n->heap_count > 0 && n->heap[0].due_ns == at_ns) {
        struct pending top = pop(n);

        n->done[count++] =
            (struct engine_done){.slot = top.slot, .result = top.result};
    }
    *ret_done = n->done;
    *ret_at_ns = at_ns;
    return count;
}

static void null_free(struct null_engine *n)
{
    free(n->heap);
    free(n->done);
    free(n);
}

static bool null_close(struct engine *engine, uint32_t pending)
{
    struct null_engine *n = (struct null_engine *)engine;

    if (pending > 0)
        return false;
    null_free(n);
    return true;
}

static const struct engine_ops null_ops = {
    .submit = null_submit,
    .reap = null_reap,
    .close = null_close,
};

int engine_null_open(const void *context, const struct engine_setup *setup,
                     struct engine **ret_engine, struct diag *diag)
{
    struct null_engine *n = calloc(1, sizeof(*n));

    if (n == NULL)
        return diag_set(diag, -ENOMEM, "no memory for a null engine");
    n->heap = calloc(setup->slot_count, sizeof(*n->heap));
    n->done = calloc(setup->slot_count, sizeof(*n->done));
    if (n->heap == NULL || n->done == NULL) {
        null_free(n);
        return diag_set(diag, -ENOMEM, "no memory for a null engine");
    }
    n->engine.ops = &null_ops;
    n->engine.batch_max = setup->slot_count;
    n->engine.constructed = true;
    (void)snprintf(n->engine.features, ENGINE_FEATURES, "null");
    n->script = *(const struct engine_null_script *)context;
    n->io = setup->io;
    n->io_stride = setup->io_stride;
    n->heap_max = setup->slot_count;
    *ret_engine = &n->engine;
    return 0;
}

static void text_fate(void *context, const struct engine_io *io,
                      uint64_t number, uint64_t now_ns,
                      struct engine_null_fate *fate)
{
    struct null_engine *n = context;

    (void)io;
    if (number == 0)
        n->first_ns = now_ns;
    engine_null_decide(&n->text, number, now_ns - n->first_ns, fate);
}

int engine_null_open_text(const void *context, const struct engine_setup *setup,
                          struct engine **ret_engine, struct diag *diag)
{
    struct engine_null_script script = {
        .fate = text_fate,
        .clock = clock_os(),
    };
    struct null_engine *n;
    int r = engine_null_open(&script, setup, ret_engine, diag);

    if (r < 0)
        return r;
    n = (struct null_engine *)*ret_engine;
    n->text = *(const struct engine_null_text *)context;
    n->script.context = n;
    return 0;
}
