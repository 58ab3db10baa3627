/* bank.c - see bank.h. */
#include "agent/bank.h"

#include "agent/memory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static uint64_t histograms(const enum bank_need *needs, uint32_t count)
{
    uint64_t number = 0;

    for (uint32_t i = 0; i < count; i++)
        number += needs[i];
    return number;
}

uint64_t bank_memory(const enum bank_need *needs, uint32_t tally_count)
{
    uint64_t each = tally_count * sizeof(struct tally) +
                    histograms(needs, tally_count) * sizeof(struct histogram);

    return each * (BANK_COUNT + 1);
}

/* Carves histograms off `at`. */
static struct histogram *place(struct histogram **at)
{
    histogram_init(*at);
    return (*at)++;
}

static void lay(struct bank *bank, const enum bank_need *needs, uint32_t count,
                struct tally **tallies, struct histogram **at)
{
    bank->tallies = *tallies;
    *tallies += count;
    for (uint32_t i = 0; i < count; i++) {
        if (needs[i] >= BANK_SERVICE)
            bank->tallies[i].service = place(at);
        if (needs[i] >= BANK_BOTH)
            bank->tallies[i].response = place(at);
    }
}

int bank_ring_init(struct bank_ring *ring, const enum bank_need *needs,
                   uint32_t tally_count)
{
    struct histogram *at;
    struct tally *tallies;

    memset(ring, 0, sizeof(*ring));
    ring->tally_count = tally_count;
    ring->memory_length = bank_memory(needs, tally_count);
    ring->memory = memory_map(ring->memory_length);
    if (ring->memory == NULL)
        return -ENOMEM;
    at = ring->memory;
    tallies = (struct tally *)(at + histograms(needs, tally_count) *
                                        (BANK_COUNT + 1));
    for (uint32_t i = 0; i < BANK_COUNT; i++)
        lay(&ring->bank[i], needs, tally_count, &tallies, &at);
    lay(&ring->drain, needs, tally_count, &tallies, &at);
    return 0;
}

void bank_ring_done(struct bank_ring *ring)
{
    ring->memory = memory_unmap(ring->memory, ring->memory_length);
}

bool bank_may_close(struct bank_ring *ring, bool border)
{
    uint32_t closed = atomic_load_explicit(&ring->closed, memory_order_relaxed);
    /* Acquire: what the sampler did to a bank it gave back is done. */
    uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);
    uint32_t held = closed + 1 - taken; /* with the one to be closed */

    return held < (border ? BANK_COUNT : BANK_COUNT - 1);
}

void bank_close(struct bank_ring *ring)
{
    uint32_t closed = atomic_load_explicit(&ring->closed, memory_order_relaxed);

    assert(bank_open(ring)->spans > 0);
    /* Release: all that was counted is seen by whoever sees the number. */
    atomic_store_explicit(&ring->closed, closed + 1, memory_order_release);
}

struct bank *bank_closed(struct bank_ring *ring)
{
    uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    /* Acquire: pairs with bank_close(). */
    uint32_t closed = atomic_load_explicit(&ring->closed, memory_order_acquire);

    return closed == taken ? NULL : &ring->bank[taken % BANK_COUNT];
}

static void tally_clear(struct tally *tally)
{
    struct tally clear = {.service = tally->service,
                          .response = tally->response};

    if (tally->service != NULL && tally->service->count > 0)
        histogram_init(tally->service);
    if (tally->response != NULL && tally->response->count > 0)
        histogram_init(tally->response);
    *tally = clear;
}

void bank_release(struct bank_ring *ring)
{
    uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    struct bank *bank = &ring->bank[taken % BANK_COUNT];

    for (uint32_t i = 0; i < ring->tally_count; i++)
        tally_clear(&bank->tallies[i]);
    bank->spans = 0;
    bank->holds = (struct row_holds){0};
    bank->failure_count = 0;
    /* Release: the worker finds it cleared. */
    atomic_store_explicit(&ring->taken, taken + 1, memory_order_release);
}

void tally_error(struct tally *tally, int err)
{
    tally->errors++;
    for (uint32_t i = 0; i < ROW_ERRORS; i++) {
        struct row_error *known = &tally->by_errno[i];

        if (known->count > 0 && known->err != err)
            continue;
        known->err = err;
        known->count++;
        return;
    }
}

bool bank_keep(struct bank *bank, const struct row_failure *failure)
{
    if (bank->failure_count == BANK_FAILURES)
        return false;
    bank->failures[bank->failure_count++] = *failure;
    return true;
}
