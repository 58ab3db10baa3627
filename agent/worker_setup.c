/*
 * worker_setup.c - all that a worker takes before it begins, and gives back.
 *
 * Memory of a worker: its tables (slots, lists, heaps) in one mapping, its
 * banks in another, one buffer that all its reads share, and the pool of bytes
 * to write, in which each slot of a writing target has a window of its own.
 * The pool is long, so that no compressor finds in it what it saw before; with
 * a pattern, windows are no longer than a request.
 */
#include "agent/worker.h"

#include "agent/interlock.h"
#include "agent/memory.h"
#include "agent/pattern_ratio.h"
#include "common/units.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POOL_BYTES                                                             \
    (UINT64_C(16) << 20) /* at least, where anything is written                \
                          */

/* Gives out parts of one mapping; without one it only adds up. */
struct carver {
    uint8_t *memory;
    size_t used;
};

static void *carve(struct carver *c, size_t count, size_t size)
{
    void *part = c->memory == NULL ? NULL : c->memory + c->used;

    c->used += (count * size + 63) & ~(size_t)63;
    return part;
}

static uint32_t ring_size(uint32_t least)
{
    uint32_t size = 1;

    while (size < least)
        size <<= 1;
    return size;
}

static void lay_target(struct worker *w, struct worker_target *t,
                       uint32_t cells, struct carver *c)
{
    (void)w;
    t->closed = carve(c, cells, sizeof(*t->closed));
    t->closed_upto = carve(c, cells, sizeof(*t->closed_upto));
    t->closed_guide = carve(c, 1, sizeof(*t->closed_guide));
    t->closed_weights = carve(c, cells, sizeof(*t->closed_weights));
    t->open.entry = carve(c, cells, sizeof(*t->open.entry));
    t->free = carve(c, t->threads, sizeof(*t->free));
}

static uint32_t cells_of(const struct worker *w, uint32_t target)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->cell_count; i++)
        count += w->cells[i].target == target;
    return count;
}

/* Lays all tables into `memory`, or only adds up; returns the bytes. */
static size_t lay_tables(struct worker *w, void *memory)
{
    struct carver c = {memory, 0};

    w->slots = carve(&c, w->slot_count, sizeof(*w->slots));
    w->freed = carve(&c, ring_size(w->slot_count), sizeof(*w->freed));
    w->freed_mask = ring_size(w->slot_count) - 1;
    w->batch = carve(&c, w->slot_count, sizeof(*w->batch));
    w->sleepers = carve(&c, w->slot_count, sizeof(*w->sleepers));
    w->due.entry = carve(&c, w->target_count, sizeof(*w->due.entry));
    w->mixed = carve(&c, w->target_count, sizeof(*w->mixed));
    for (uint32_t i = 0; i < w->target_count; i++)
        lay_target(w, &w->targets[i], cells_of(w, i), &c);
    return c.used;
}

static int copy_target(struct worker *w, const struct job *job,
                       const struct opened_target *opened, uint32_t index,
                       struct diag *diag)
{
    const struct job_target *from = &job->targets[index];
    struct worker_target *t = &w->targets[w->target_count];

    t->target = index;
    t->threads = from->threads;
    t->first_slot = w->slot_count;
    t->duplicates = from->duplicates;
    t->settled = t->duplicates.unit > 0 || job->pattern_length > 0;
    if (t->duplicates.unit > 0)
        duplicates_init(&t->duplicates, from->sd);
    t->drive = (struct stuck_drive){
        .device_number = opened[index].device_number,
        .inode = opened[index].kind == INTERLOCK_FILE ? opened[index].inode : 0,
    };
    t->fsync = from->write && (from->open_flags & JOB_OPEN_FSYNC) != 0;
    t->fd = fcntl(opened[index].fd, F_DUPFD_CLOEXEC, 3);
    w->target_count++;
    if (t->fd < 0)
        return diag_set(diag, -errno,
                        "cannot keep a descriptor of sd=%s: %s; raise the "
                        "limit of open files (LimitNOFILE= of the service)",
                        from->sd, strerror(errno));
    w->slot_count += from->threads;
    if (w->slot_count > ENGINE_SLOTS_MAX)
        return diag_set(diag, -E2BIG,
                        "more than %u requests outstanding in one worker; "
                        "lower threads=",
                        ENGINE_SLOTS_MAX);
    return 0;
}

static void note_sizes(struct worker *w, struct worker_target *t,
                       const struct worker_cell *cell)
{
    uint32_t max = access_size_max(&cell->access);

    if (access_does(&cell->access, ENGINE_READ) && max > w->read_max)
        w->read_max = max;
    if (access_does(&cell->access, ENGINE_WRITE) && max > t->write_max)
        t->write_max = max;
}

static void copy_cell(struct worker *w, const struct job *job, uint32_t index,
                      uint32_t target)
{
    const struct job_cell *from = &job->cells[index];
    struct worker_cell *cell = &w->cells[w->cell_count];
    double rate = job->cells[from->joins > 0 ? from->joins - 1 : index].iorate;

    cell->cell = index;
    cell->target = target;
    cell->tally = (uint16_t)(w->cell_count * JOB_OPS);
    cell->part_count = from->joins == 0;
    cell->open = rate > 0 && job->kind == JOB_MEASURE;
    cell->weight = from->weight > 0 ? from->weight : 1;
    cell->priority = from->priority;
    access_init_cell(&cell->access, &job->workloads[from->workload], job->kind,
                     from);
    note_sizes(w, &w->targets[target], cell);
    w->cell_count++;
    if (from->joins > 0)
        return; /* another's arrivals */
    if (cell->open)
        arrival_init_steps(
            &cell->stream.arrival, job->arrival, from->iorate,
            job->seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15),
            w->profile.count > 0 ? &w->profile : NULL, job->spike);
    w->targets[target].ranked |= cell->priority > 0;
    w->has_open |= cell->open;
    w->targets[target].has_open |= cell->open;
}

static void add_piece(struct worker *w, const struct job *job,
                      struct worker_cell *cell, uint32_t part)
{
    const struct job_cell *from = &job->cells[w->cells[part].cell];
    uint32_t at = (uint32_t)(cell->parts - w->parts) + cell->part_count++;

    w->pieces[at].low = from->low;
    w->pieces[at].length = from->high - from->low;
    w->parts[at] = part;
}

/* The sequence of a cell that others join goes on in theirs. */
static void join_cells(struct worker *w, const struct job *job)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < w->cell_count; i++) {
        struct worker_cell *cell = &w->cells[i];

        for (uint32_t j = i + 1; cell->part_count > 0 && j < w->cell_count; j++)
            if (job->cells[w->cells[j].cell].joins == cell->cell + 1) {
                if (cell->parts == NULL) {
                    cell->parts = &w->parts[used];
                    cell->part_count = 0;
                    add_piece(w, job, cell, i);
                }
                add_piece(w, job, cell, j);
            }
        if (cell->parts == NULL)
            continue;
        access_init_joined(&cell->access,
                           &job->workloads[job->cells[cell->cell].workload],
                           &w->pieces[used], cell->part_count);
        used += cell->part_count;
    }
}

static void copy_cells(struct worker *w, const struct job *job)
{
    for (uint32_t i = 0; i < job->cell_count; i++)
        for (uint32_t j = 0; j < w->target_count; j++)
            if (job->cells[i].target == w->targets[j].target)
                copy_cell(w, job, i, j);
    w->live_cells = w->cell_count;
}

/* A window holds the longest write, and its share of the pool where that is
 * more. */
static void size_windows(struct worker *w)
{
    uint64_t slots = 0;
    uint64_t share;

    for (uint32_t i = 0; i < w->target_count; i++)
        slots += w->targets[i].write_max > 0 ? w->targets[i].threads : 0;
    share = slots == 0 ? 0 : POOL_BYTES / slots;
    for (uint32_t i = 0; i < w->target_count; i++) {
        struct worker_target *t = &w->targets[i];
        uint64_t window = t->write_max > share ? t->write_max : share;

        if (w->pattern_length > 0)
            window = t->write_max;
        else if (t->duplicates.unit > 0)
            window = (uint64_t)t->write_max + t->duplicates.unit;
        window = (window + PATTERN_BLOCK - 1) & ~(uint64_t)(PATTERN_BLOCK - 1);
        t->window = t->write_max == 0 ? 0 : (uint32_t)window;
    }
}

int worker_init(struct worker *w, const struct job *job,
                const struct opened_target *opened, const uint32_t *targets,
                uint32_t target_count, const struct clock *clock,
                struct worker_control *control, struct diag *diag)
{
    int r;

    memset(w, 0, sizeof(*w));
    w->clock = clock;
    w->control = control;
    w->targets = calloc(target_count, sizeof(*w->targets));
    w->cells = calloc(job->cell_count, sizeof(*w->cells));
    w->pieces = calloc(job->cell_count, sizeof(*w->pieces));
    w->parts = calloc(job->cell_count, sizeof(*w->parts));
    if (w->targets == NULL || w->cells == NULL || w->pieces == NULL ||
        w->parts == NULL)
        return diag_set(diag, -ENOMEM, "no memory for a worker");
    for (uint32_t i = 0; i < target_count; i++) {
        r = copy_target(w, job, opened, targets[i], diag);
        if (r < 0)
            return r;
    }
    if (job->step_count > 0 && arrival_profile_init(&w->profile, job) < 0)
        return diag_set(diag, -ENOMEM, "no memory for a worker");
    w->compression = job->compression;
    w->pattern_bytes = job->pattern;
    w->pattern_length = job->pattern_length;
    copy_cells(w, job);
    join_cells(w, job);
    size_windows(w);
    w->tables_length = lay_tables(w, NULL);
    w->fill = job->kind == JOB_FILL;
    w->plain = !w->has_open && !w->fill;
    w->interval_ns = job->interval_ns;
    w->warmup_intervals = job->warmup_intervals;
    w->intervals_max = job->measured_intervals == 0
                           ? UINT64_MAX
                           : job->warmup_intervals + job->measured_intervals;
    w->limit_ns = job->time_limit_ns; /* an instant from the start on */
    w->drain_limit_ns = job->drain_limit_ns;
    w->spin_share = job->spin_percent / 100.0;
    w->wake_ns = UINT64_MAX;
    w->edge_ns = UINT64_MAX;
    w->reason_target = UINT32_MAX;
    draw_seed(&w->draw, job->seed ^ ((uint64_t)targets[0] << 32));
    pattern_init(&w->pattern, draw_next(&w->draw));
    return 0;
}

static enum bank_need need(const struct worker_cell *cell, enum engine_op op)
{
    if (!access_does(&cell->access, op))
        return BANK_NOTHING;
    return cell->open ? BANK_BOTH : BANK_SERVICE;
}

/* `needs` has two entries for each cell. */
static void list_needs(const struct worker *w, enum bank_need *needs)
{
    for (uint32_t i = 0; i < w->cell_count; i++) {
        needs[i * JOB_OPS + ENGINE_READ] = need(&w->cells[i], ENGINE_READ);
        needs[i * JOB_OPS + ENGINE_WRITE] = need(&w->cells[i], ENGINE_WRITE);
    }
}

static uint64_t pool_bytes(const struct worker *w)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < w->target_count; i++)
        bytes += (uint64_t)w->targets[i].window * w->targets[i].threads;
    return bytes;
}

uint64_t worker_buffers(const struct worker *w)
{
    return w->read_max + pool_bytes(w);
}

uint64_t worker_memory(const struct worker *w)
{
    uint64_t histograms = 0;

    for (uint32_t i = 0; i < w->cell_count; i++)
        histograms += (uint64_t)need(&w->cells[i], ENGINE_READ) +
                      need(&w->cells[i], ENGINE_WRITE);
    return w->tables_length + w->read_max + pool_bytes(w) +
           (BANK_COUNT + 1) * (histograms * sizeof(struct histogram) +
                               w->cell_count * JOB_OPS * sizeof(struct tally));
}

static int open_banks(struct worker *w)
{
    enum bank_need *needs =
        calloc(w->cell_count * JOB_OPS + 1u, sizeof(*needs));
    int r;

    if (needs == NULL)
        return -ENOMEM;
    list_needs(w, needs);
    r = bank_ring_init(&w->banks, needs, w->cell_count * JOB_OPS);
    free(needs);
    return r;
}

static int map_region(struct worker *w, size_t length)
{
    struct engine_region *region = &w->regions[w->region_count];

    region->memory = memory_map(length);
    if (region->memory == NULL)
        return -ENOMEM;
    region->length = length;
    w->region_count++;
    return 0;
}

static void fill_windows(struct worker *w, const struct worker_target *t,
                         uint8_t *at, uint32_t count)
{
    if (w->pattern_length > 0) {
        for (uint32_t i = 0; i < count; i++, at += t->window)
            pattern_repeat(at, t->window, w->pattern_bytes, w->pattern_length);
        return;
    }
    if (t->duplicates.unit == 0) {
        pattern_fill(at, (size_t)count * t->window, draw_next(&w->draw));
        pattern_compress(at, (size_t)count * t->window, w->compression);
        return;
    }
    for (uint32_t i = 0; i < count; i++, at += t->window)
        pattern_fill_units(at, t->window, t->duplicates.unit, w->compression);
}

/* The windows of a target, as many as fit in a region together. */
static int open_windows(struct worker *w, struct worker_target *t)
{
    uint32_t fit =
        t->window == 0 ? 0 : (uint32_t)(ENGINE_REGION_BYTES / t->window);

    for (uint32_t done = 0; fit > 0 && done < t->threads;) {
        uint32_t count = t->threads - done < fit ? t->threads - done : fit;
        uint8_t *at;

        if (map_region(w, (size_t)count * t->window) < 0)
            return -ENOMEM;
        at = w->regions[w->region_count - 1].memory;
        fill_windows(w, t, at, count);
        if (w->compressible == 0)
            w->compressible = pattern_ratio(at, (size_t)count * t->window);
        for (uint32_t i = 0; i < count; i++, done++, at += t->window) {
            struct slot *slot = &w->slots[t->first_slot + done];

            slot->write_base = at;
            slot->write_region = (uint16_t)(w->region_count - 1);
        }
    }
    return 0;
}

/* How many regions there will be at most. */
static size_t regions_max(const struct worker *w)
{
    return 1 + w->target_count + 2 * pool_bytes(w) / ENGINE_REGION_BYTES;
}

static int open_memory(struct worker *w)
{
    if (regions_max(w) > ENGINE_REGIONS_MAX)
        return -ENOMEM;
    w->regions = calloc(regions_max(w), sizeof(*w->regions));
    if (w->regions == NULL || (w->read_max > 0 && map_region(w, w->read_max)))
        return -ENOMEM;
    if (w->read_max > 0)
        w->read_memory = w->regions[0].memory;
    for (uint32_t i = 0; i < w->target_count; i++)
        if (open_windows(w, &w->targets[i]) < 0)
            return -ENOMEM;
    return 0;
}

static void init_slots(struct worker *w)
{
    for (uint32_t i = 0; i < w->target_count; i++)
        for (uint32_t j = 0; j < w->targets[i].threads; j++) {
            struct slot *slot = &w->slots[w->targets[i].first_slot + j];

            slot->io.file = slot->io.owner = (uint16_t)i;
        }
}

static int open_engine(struct worker *w, const struct engine_kind *kind,
                       struct diag *diag)
{
    int fds[ENGINE_FILES_MAX];
    struct engine_setup setup = {
        .fds = fds,
        .fd_count = w->target_count,
        .regions = w->regions,
        .region_count = w->region_count,
        .io = &w->slots->io,
        .io_stride = sizeof(struct slot),
        .slot_count = w->slot_count,
    };
    int r;

    for (uint32_t i = 0; i < w->target_count; i++)
        fds[i] = w->targets[i].fd;
    r = kind->open(kind->context, &setup, &w->engine, diag);
    if (r < 0)
        return r;
    w->batch_max = w->engine->batch_max < w->slot_count ? w->engine->batch_max
                                                        : w->slot_count;
    return 0;
}

int worker_open(struct worker *w, const struct engine_kind *kind,
                struct diag *diag)
{
    char size[UNITS_SIZE];

    w->tables = memory_map(w->tables_length);
    if (w->tables == NULL)
        return diag_set(diag, -ENOMEM, "no memory for %u requests",
                        w->slot_count);
    (void)lay_tables(w, w->tables);
    init_slots(w);
    if (open_banks(w) < 0 || open_memory(w) < 0)
        return diag_set(diag, -ENOMEM,
                        "no memory: %s are needed for buffers and histograms; "
                        "lower threads= or xfersize=",
                        units_print_size(size, worker_memory(w)));
    return open_engine(w, kind, diag);
}

static void begin_cells(struct worker *w)
{
    for (uint32_t i = 0; i < w->cell_count; i++) {
        struct worker_cell *cell = &w->cells[i];
        struct worker_target *t = &w->targets[cell->target];

        if (cell->part_count == 0)
            continue; /* it is a part of another */
        if (cell->open)
            due_push(&t->open, stream_due_ns(w, &cell->stream), i);
        else
            t->closed[t->closed_count++] = i;
    }
    for (uint32_t i = 0; i < w->target_count; i++)
        worker_weigh(w, &w->targets[i]);
}

/* What its thread has used by now, and how others learn of more. */
static void note_cpu(struct worker *w)
{
    struct timespec time = {0};

    (void)pthread_getcpuclockid(pthread_self(), &w->cpu_clock);
    (void)clock_gettime(w->cpu_clock, &time);
    w->cpu_begin_ns = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

void worker_begin(struct worker *w, uint64_t start_ns)
{
    assert(w->state == WORKER_IDLE && w->engine != NULL);
    w->start_ns = start_ns;
    w->edge_ns = start_ns + w->interval_ns;
    w->limit_ns = start_ns + w->limit_ns;
    worker_look_again(w);
    w->bank = bank_open(&w->banks);
    w->bank->interval = 0;
    begin_cells(w);
    for (uint32_t i = 0; i < w->target_count; i++) {
        struct worker_target *t = &w->targets[i];

        if (t->has_open && t->closed_count > 0)
            w->mixed[w->mixed_count++] = i;
        for (uint32_t j = 0; j < t->threads; j++)
            worker_release(w, t->first_slot + j, start_ns);
    }
    w->state = WORKER_RUNNING;
    note_cpu(w);
    w->return_ns = UINT64_MAX;
    w->opened_ns = clock_now_ns(w->clock);
}

bool worker_close(struct worker *w)
{
    if (w->engine != NULL) {
        if (!w->engine->ops->close(w->engine, w->in_flight))
            return false;
        w->engine = NULL;
    }
    for (uint32_t i = 0; i < w->region_count; i++)
        (void)memory_unmap(w->regions[i].memory, w->regions[i].length);
    w->region_count = 0;
    w->tables = memory_unmap(w->tables, w->tables_length);
    for (uint32_t i = 0; i < w->target_count; i++) {
        if (w->targets[i].fd >= 0)
            (void)close(w->targets[i].fd);
        w->targets[i].fd = -1;
    }
    return true;
}

void worker_linger(struct worker *w)
{
    struct timespec second = {.tv_sec = 1};
    uint64_t now_ns = clock_now_ns(w->clock);
    const struct engine_done *done;
    uint64_t at_ns;
    uint32_t count;

    if (w->engine->ops->submit(w->engine, w->batch, 0, now_ns, NS_PER_S) < 0)
        (void)nanosleep(&second, NULL); /* tidy: allow sleep, because the
                                           ring is broken: no facts come */
    while ((count = w->engine->ops->reap(w->engine, now_ns, &done, &at_ns)) > 0)
        w->in_flight -= count;
}

void worker_done(struct worker *w)
{
    bank_ring_done(&w->banks);
    arrival_profile_done(&w->profile);
    free(w->regions);
    free(w->targets);
    free(w->cells);
    free(w->pieces);
    free(w->parts);
    w->pieces = NULL;
    w->parts = NULL;
    w->regions = NULL;
    w->targets = NULL;
    w->cells = NULL;
}
