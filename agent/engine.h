/*
 * engine.h - the one door between a worker and the kernel's I/O.
 *
 * What it is for: a worker fills `struct engine_io` of some slots, hands the
 * numbers of those slots over in one call, which also waits, and takes what
 * is done in batches.  engine_uring.c is io_uring; engine_null.c completes
 * after constructed latencies, for tests and for the agent's --engine option.
 *
 *     engine->ops->submit(engine, slots, n, now, wait_ns);
 *     now = clock_now_ns(clock);
 *     n = engine->ops->reap(engine, now, &done, &at_ns);
 *     ... each of done[0..n-1] completed at at_ns
 *
 * The calls are per batch, so that going through a table costs nothing per
 * I/O.  No call after open allocates, locks, or makes a system call other than
 * one io_uring_enter in submit.
 *
 * Units: relative waits in nanoseconds; a wait is always relative, because
 * io_uring's absolute timeouts ignore time namespaces.
 * Threads: one owner, the thread that opened it, close included.
 * Ownership: files, memory and the io table stay the caller's and must live
 * until close returned true.
 */
#ifndef AGENT_ENGINE_H
#define AGENT_ENGINE_H

#include "common/base.h"
#include "common/diag.h"

#define ENGINE_SLOTS_MAX    65536u
#define ENGINE_FILES_MAX    256u
#define ENGINE_REGIONS_MAX  16384u
#define ENGINE_REGION_BYTES (UINT64_C(1) << 29) /* registered at once */
#define ENGINE_FEATURES     256 /* bytes of a list of features */

enum engine_op {
    ENGINE_READ,
    ENGINE_WRITE,
    ENGINE_FSYNC, /* offset, length, memory and region are 0 */
    ENGINE_OPS,
};

/* One request.  Filled by the worker, read by submit. */
struct engine_io {
    uint64_t offset;
    void *memory;
    uint32_t length;
    uint16_t file; /* index into engine_setup.fds */
    uint8_t op;    /* enum engine_op */
    uint8_t unused;
    uint16_t region; /* that `memory` lies in, whole */
    uint16_t owner;  /* the worker's own; of no concern to the engine */
};

/* One completion.  The layout is the kernel's, so that nothing is copied. */
struct engine_done {
    uint64_t slot;
    int32_t result; /* bytes, or a negative errno */
    uint32_t unused;
};

/* Memory that will be transferred from and to; at most
 * ENGINE_REGION_BYTES each. */
struct engine_region {
    void *memory;
    size_t length;
};

struct engine_setup {
    const int *fds;
    uint32_t fd_count;
    const struct engine_region *regions;
    uint32_t region_count;
    const struct engine_io *io; /* of every slot, `io_stride` bytes apart */
    size_t io_stride;
    uint32_t slot_count;
};

struct engine;

struct engine_ops {
    /*
     * Submits the requests of `slots` (at most engine.batch_max) and waits
     * until one request is done or `wait_ns` have passed; 0 does not wait.
     * `now_ns` is the worker's stamp of their submission.  A request that the
     * kernel does not take now is kept, and offered again with the next call;
     * `refused` counts how often.  Returns 0, or a negative errno when the ring
     * itself is broken, after which only close helps.
     */
    int (*submit)(struct engine *engine, const uint32_t *slots, uint32_t count,
                  uint64_t now_ns, uint64_t wait_ns);

    /*
     * Takes completions that share one time, which is `now_ns` except where
     * completions are constructed.  Returns their number; 0: there are none.
     * Not all of one time need come at once, but those that are left make the
     * next submit return without waiting.  `ret_done` is good until the next
     * call of any kind.
     */
    uint32_t (*reap)(struct engine *engine, uint64_t now_ns,
                     const struct engine_done **ret_done, uint64_t *ret_at_ns);

    /*
     * Gives all back and frees `engine`.  With requests in flight (`pending`
     * above 0) it cannot: it returns false and nothing may be freed, ever.
     */
    bool (*close)(struct engine *engine, uint32_t pending);
};

/* The head of every engine. */
struct engine {
    const struct engine_ops *ops;
    uint32_t batch_max; /* most requests in one submit */
    bool constructed;   /* completions have times of their own: one reap takes
                           those of one time */
    uint64_t refused;   /* submissions that the kernel put off (EAGAIN) */
    char features[ENGINE_FEATURES]; /* in use: "defer_taskrun fixed_files" */
};

/* What opens an engine: engine_uring_open, or another with its context. */
struct engine_kind {
    int (*open)(const void *context, const struct engine_setup *setup,
                struct engine **ret_engine, struct diag *diag);
    const void *context;
};

/*
 * Opens an io_uring.  Features are tried one by one; those that the kernel or
 * a limit denies are left out of `features`.  -ENOSYS, -EPERM and others with
 * the cause and the remedy in `diag` when there is no io_uring at all.
 * `context` is not used.
 */
int engine_uring_open(const void *context, const struct engine_setup *setup,
                      struct engine **ret_engine, struct diag *diag) MUST_CHECK;

#endif
