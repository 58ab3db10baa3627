/*
 * worker_trouble.c - requests that fail.
 *
 * A drive that fails goes on being asked, as vdbench and the lab expect, but
 * not in a storm: the slot sleeps, longer with each failure in a row.  What the
 * kernel puts off (EAGAIN) is no failure of the drive: the same request is made
 * again, its time counted from the first submission.
 */
#include "agent/worker.h"

#include <errno.h>
#include <string.h>

#define RETRY_NS     NS_PER_MS
#define BACKOFF_NS   NS_PER_MS
#define BACKOFF_BITS 7u /* up to 128 ms */

static void put_to_sleep(struct worker *w, uint32_t slot, bool retry,
                         uint64_t until_ns)
{
    w->sleepers[w->sleeper_count++] = (struct sleeper){until_ns, slot, retry};
    if (until_ns < w->wake_ns)
        w->wake_ns = until_ns;
    worker_look_again(w);
}

static const char *error_text(int32_t result)
{
    return result < 0 ? strerror(-result) : "transferred less than asked for";
}

/* The file that was to be filled is not: nothing after it makes sense. */
static void fail_fill(struct worker *w, const struct slot *slot, int32_t result)
{
    if (w->reason.err == 0) {
        w->reason_target = w->targets[slot->io.file].target;
        (void)diag_set(&w->reason, result < 0 ? result : -EIO,
                       "writing %u bytes at %llu: %s", slot->io.length,
                       (unsigned long long)slot->io.offset, error_text(result));
    }
    worker_control_stop(w->control, CREW_ERROR);
}

/* The first of a drive, as they were. */
static void keep_failure(struct worker *w, const struct slot *slot,
                         int32_t result, uint64_t now_ns)
{
    struct worker_target *t = &w->targets[slot->io.file];
    const struct row_failure failure = {
        .at_ns = now_ns,
        .offset = slot->io.offset,
        .length = slot->io.length,
        .cell = w->cells[slot->tally / JOB_OPS].cell,
        .op = (enum job_op)(slot->tally % JOB_OPS),
        .result = result,
    };

    if (t->kept < WORKER_FAILURES_KEPT && bank_keep(w->bank, &failure))
        t->kept++;
}

static uint64_t backoff_ns(struct worker *w, struct worker_target *t)
{
    uint32_t bits = t->failures < BACKOFF_BITS ? t->failures : BACKOFF_BITS;

    w->failing += t->failures == 0;
    t->failures++;
    return BACKOFF_NS << bits;
}

void worker_recover(struct worker *w, uint32_t target)
{
    struct worker_target *t = &w->targets[target];

    w->failing -= t->failures > 0;
    t->failures = 0;
}

void worker_fail(struct worker *w, uint32_t index, int32_t result,
                 uint64_t now_ns)
{
    struct slot *slot = &w->slots[index];
    struct worker_target *t = &w->targets[slot->io.file];

    if ((result == -EAGAIN || result == -EINTR) && w->state == WORKER_RUNNING) {
        w->retries++;
        put_to_sleep(w, index, true, now_ns + RETRY_NS);
        return;
    }
    w->errors++;
    tally_error(&w->bank->tallies[slot->tally], result < 0 ? -result : 0);
    keep_failure(w, slot, result, now_ns);
    slot->submitted_ns = 0;
    if (w->fill)
        fail_fill(w, slot, result);
    put_to_sleep(w, index, false, now_ns + backoff_ns(w, t));
}

uint32_t worker_wake(struct worker *w, uint64_t now_ns, uint32_t count)
{
    uint32_t kept = 0;

    w->wake_ns = UINT64_MAX;
    for (uint32_t i = 0; i < w->sleeper_count; i++) {
        struct sleeper *s = &w->sleepers[i];

        if (s->until_ns > now_ns || (s->retry && count == w->batch_max)) {
            w->wake_ns = s->until_ns < w->wake_ns ? s->until_ns : w->wake_ns;
            w->sleepers[kept++] = *s;
        } else if (s->retry) {
            w->batch[count++] = s->slot;
        } else {
            worker_release(w, s->slot, now_ns);
        }
    }
    w->sleeper_count = kept;
    worker_look_again(w);
    return count;
}

void worker_break(struct worker *w, int err, uint64_t now_ns)
{
    if (w->reason.err == 0) {
        w->reason_target = UINT32_MAX;
        (void)diag_set(&w->reason, err, "io_uring gave up: %s", strerror(-err));
    }
    worker_control_stop(w->control, CREW_ERROR);
    if (w->state == WORKER_RUNNING)
        worker_stop_issuing(w, now_ns, now_ns);
    w->drain_until_ns = now_ns; /* nothing will come back */
}
