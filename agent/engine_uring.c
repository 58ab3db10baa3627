/*
 * engine_uring.c - io_uring, by liburing for the setting up and by hand for the
 * rest: one io_uring_enter per batch, six stores per request.
 *
 * DEFER_TASKRUN makes completions run in our own enter, not in interrupts of
 * whatever we were doing; SINGLE_ISSUER saves the kernel its locks.  Never
 * SQPOLL: its thread takes a core from the host that we measure.
 */
#include "agent/engine.h"

#include "agent/engine_probe.h"

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX      512u
#define CQ_ENTRIES_MAX 65536u

/* Waits when the kernel takes nothing and nothing is in flight to wait for. */
#define PUT_OFF_NS NS_PER_MS

/* The first eight bytes of an sqe. */
struct sqe_head {
    uint8_t opcode;
    uint8_t flags;
    uint16_t ioprio;
    int32_t fd;
};
_Static_assert(sizeof(struct sqe_head) == offsetof(struct io_uring_sqe, off) &&
                   offsetof(struct sqe_head, fd) ==
                       offsetof(struct io_uring_sqe, fd),
               "the head of an sqe");
_Static_assert(sizeof(struct engine_done) == sizeof(struct io_uring_cqe) &&
                   offsetof(struct engine_done, result) ==
                       offsetof(struct io_uring_cqe, res),
               "completions are given out as they lie in the ring");

struct uring {
    struct engine engine; /* first: a uring is an engine */
    struct io_uring ring;
    const struct engine_io *io;
    size_t io_stride;
    unsigned enter_flags;
    int enter_fd;
    unsigned cq_seen;                          /* completions given out */
    struct __kernel_timespec limit;            /* of a wait */
    struct io_uring_getevents_arg arg;         /* that points to it */
    struct sqe_head head[ENGINE_FILES_MAX][4]; /* by file and operation */
};

/* Setup flags, newest first: an older kernel refuses what it does not know. */
static const struct {
    unsigned flag;
    const char *name;
} optional[] = {
    {IORING_SETUP_DEFER_TASKRUN, "defer_taskrun"},
    {IORING_SETUP_SINGLE_ISSUER, "single_issuer"},
    {IORING_SETUP_COOP_TASKRUN, "coop_taskrun"},
    {IORING_SETUP_SUBMIT_ALL, "submit_all"},
};

static uint32_t power_of_two(uint32_t least)
{
    uint32_t power = 1;

    while (power < least)
        power <<= 1;
    return power;
}

static void add_feature(struct uring *u, const char *name)
{
    size_t used = strlen(u->engine.features);

    (void)snprintf(u->engine.features + used, ENGINE_FEATURES - used, "%s%s",
                   used > 0 ? " " : "", name);
}

static inline const struct engine_io *io_of(const struct uring *u,
                                            uint32_t slot)
{
    return (const struct engine_io *)((const uint8_t *)u->io +
                                      (size_t)slot * u->io_stride);
}

/* What is not written here was zero when the ring was made and stays so. */
static inline void fill_sqe(const struct uring *u, struct io_uring_sqe *sqe,
                            uint32_t slot)
{
    const struct engine_io *io = io_of(u, slot);

    memcpy(sqe, &u->head[io->file][io->op], sizeof(struct sqe_head));
    sqe->off = io->offset;
    sqe->addr = (uint64_t)(uintptr_t)io->memory;
    sqe->len = io->length;
    sqe->user_data = slot;
    sqe->buf_index = io->region;
}

/* Puts requests into the ring; returns how many wait there in all. */
static inline unsigned fill(struct uring *u, const uint32_t *slots,
                            uint32_t count)
{
    struct io_uring_sq *sq = &u->ring.sq;
    unsigned tail = sq->sqe_tail;
    unsigned head = io_uring_smp_load_acquire(sq->khead);

    assert(tail - head + count <= sq->ring_entries);
    for (uint32_t i = 0; i < count; i++)
        fill_sqe(u, &sq->sqes[tail++ & sq->ring_mask], slots[i]);
    sq->sqe_tail = tail;
    sq->sqe_head = tail;
    /* Release: the kernel sees the requests before it sees their number. */
    io_uring_smp_store_release(sq->ktail, tail);
    return tail - head;
}

static inline int enter(struct uring *u, unsigned to_submit, uint64_t wait_ns)
{
    u->limit.tv_sec = 0;
    u->limit.tv_nsec = (long long)wait_ns;
    /* Callers wait in slices, so that the divisions hardly ever are. */
    if (__builtin_expect(wait_ns >= NS_PER_S, 0)) {
        u->limit.tv_sec = (int64_t)(wait_ns / NS_PER_S);
        u->limit.tv_nsec = (long long)(wait_ns % NS_PER_S);
    }
    return io_uring_enter2((unsigned)u->enter_fd, to_submit, wait_ns > 0,
                           u->enter_flags, (sigset_t *)&u->arg, sizeof(u->arg));
}

/* Release: what was given out has been read before the kernel reuses it. */
static inline void release_seen(struct uring *u)
{
    io_uring_smp_store_release(u->ring.cq.khead, u->cq_seen);
}

/* What an enter came back with instead of a number. */
static __attribute__((noinline)) int bear(struct uring *u, int err,
                                          uint64_t wait_ns)
{
    int r;

    if (err == -ETIME || err == -EINTR)
        return 0;
    if (err != -EAGAIN && err != -EBUSY && err != -ENOMEM)
        return err;
    u->engine.refused++;
    /* The kernel is short of something: let completions make room. */
    r = enter(u, 0, wait_ns < PUT_OFF_NS ? wait_ns : PUT_OFF_NS);
    return r == -EBADF || r == -EINVAL || r == -EFAULT ? r : 0;
}

static int uring_submit(struct engine *engine, const uint32_t *slots,
                        uint32_t count, uint64_t now_ns, uint64_t wait_ns)
{
    struct uring *u = (struct uring *)engine;
    unsigned waiting = fill(u, slots, count);
    int r;

    (void)now_ns;
    release_seen(u);
    r = enter(u, waiting, wait_ns);
    return __builtin_expect(r >= 0, 1) ? 0 : bear(u, r, wait_ns);
}

/* Gives out what lies in one piece; the kernel gets the room back with the next
 * call. */
static uint32_t uring_reap(struct engine *engine, uint64_t now_ns,
                           const struct engine_done **ret_done,
                           uint64_t *ret_at_ns)
{
    struct uring *u = (struct uring *)engine;
    struct io_uring_cq *cq = &u->ring.cq;
    unsigned head = u->cq_seen;
    unsigned ready = io_uring_smp_load_acquire(cq->ktail) - head;
    unsigned piece = cq->ring_entries - (head & cq->ring_mask);
    unsigned count = ready < piece ? ready : piece;

    u->cq_seen = head + count;
    *ret_done = (const struct engine_done *)&cq->cqes[head & cq->ring_mask];
    *ret_at_ns = now_ns;
    return count;
}

static bool uring_close(struct engine *engine, uint32_t pending)
{
    struct uring *u = (struct uring *)engine;

    if (pending > 0)
        return false;
    io_uring_queue_exit(&u->ring);
    free(u);
    return true;
}

static const struct engine_ops uring_ops = {
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};

/* Tries with all flags, then with ever fewer, newest first. */
static int make_ring(struct uring *u, uint32_t slot_count)
{
    uint32_t cq = power_of_two(slot_count);
    struct io_uring_params params;
    unsigned flags = 0;
    int r;

    u->engine.batch_max =
        power_of_two(slot_count < BATCH_MAX ? slot_count : BATCH_MAX);
    for (size_t i = 0; i < ARRAY_LENGTH(optional); i++)
        flags |= optional[i].flag;
    for (size_t next = 0;; next++) {
        params = (struct io_uring_params){
            .flags = flags | IORING_SETUP_CQSIZE,
            .cq_entries = cq < 2 ? 2 : cq,
        };
        r = io_uring_queue_init_params(u->engine.batch_max, &u->ring, &params);
        if (r != -EINVAL || next == ARRAY_LENGTH(optional))
            break;
        flags &= ~optional[next].flag;
    }
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LENGTH(optional); i++)
        if ((flags & optional[i].flag) != 0)
            add_feature(u, optional[i].name);
    return 0;
}

/* All that follows is good to have; the ring works without. */
static void register_ring(struct uring *u)
{
    u->enter_fd = u->ring.ring_fd;
    u->enter_flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
    if (io_uring_register_ring_fd(&u->ring) == 1) {
        u->enter_fd = u->ring.enter_ring_fd;
        u->enter_flags |= IORING_ENTER_REGISTERED_RING;
        add_feature(u, "fixed_ring");
    }
}

static bool register_files(struct uring *u, const struct engine_setup *setup)
{
    if (io_uring_register_files(&u->ring, setup->fds, setup->fd_count) < 0)
        return false;
    add_feature(u, "fixed_files");
    return true;
}

static bool register_buffers(struct uring *u, const struct engine_setup *setup)
{
    struct iovec *regions = calloc(setup->region_count + 1u, sizeof(*regions));
    int r;

    if (regions == NULL || setup->region_count == 0) {
        free(regions);
        return false;
    }
    for (uint32_t i = 0; i < setup->region_count; i++)
        regions[i] =
            (struct iovec){setup->regions[i].memory, setup->regions[i].length};
    r = io_uring_register_buffers(&u->ring, regions, setup->region_count);
    free(regions);
    if (r < 0)
        return false;
    add_feature(u, "fixed_buffers");
    return true;
}

static void lay_heads(struct uring *u, const struct engine_setup *setup,
                      bool fixed_files, bool fixed_buffers)
{
    const uint8_t opcode[ENGINE_OPS] = {
        [ENGINE_READ] = fixed_buffers ? IORING_OP_READ_FIXED : IORING_OP_READ,
        [ENGINE_WRITE] =
            fixed_buffers ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE,
        [ENGINE_FSYNC] = IORING_OP_FSYNC,
    };

    for (uint32_t i = 0; i < setup->fd_count; i++)
        for (uint32_t op = 0; op < ENGINE_OPS; op++)
            u->head[i][op] = (struct sqe_head){
                .opcode = opcode[op],
                .flags = fixed_files ? IOSQE_FIXED_FILE : 0,
                .fd = fixed_files ? (int32_t)i : setup->fds[i],
            };
}

int engine_uring_open(const void *context, const struct engine_setup *setup,
                      struct engine **ret_engine, struct diag *diag)
{
    struct uring *u;
    bool fixed_files, fixed_buffers;
    int r;

    (void)context;
    assert(setup->slot_count > 0 && setup->slot_count <= ENGINE_SLOTS_MAX);
    assert(setup->fd_count <= ENGINE_FILES_MAX);
    _Static_assert(ENGINE_SLOTS_MAX <= CQ_ENTRIES_MAX,
                   "every slot has its place in the completion queue");
    u = calloc(1, sizeof(*u));
    if (u == NULL)
        return diag_set(diag, -ENOMEM, "no memory for an io_uring");
    u->engine.ops = &uring_ops;
    u->io = setup->io;
    u->io_stride = setup->io_stride;
    u->arg = (struct io_uring_getevents_arg){
        .sigmask_sz = _NSIG / 8,
        .ts = (uint64_t)(uintptr_t)&u->limit,
    };
    r = make_ring(u, setup->slot_count);
    if (r < 0) {
        free(u);
        return engine_probe_explain(r, diag);
    }
    if ((u->ring.features & IORING_FEAT_EXT_ARG) == 0) {
        (void)uring_close(&u->engine, 0);
        return diag_set(diag, -ENOSYS,
                        "io_uring of this kernel cannot wait with a time limit "
                        "(EXT_ARG); Linux 5.11 or newer is needed");
    }
    register_ring(u);
    fixed_files = register_files(u, setup);
    fixed_buffers = register_buffers(u, setup);
    lay_heads(u, setup, fixed_files, fixed_buffers);
    *ret_engine = &u->engine;
    return 0;
}
