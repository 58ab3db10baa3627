/* access.c - see access.h; the draw itself is there, for speed. */
#include "agent/access.h"

#include <assert.h>
#include <math.h>

uint64_t access_threshold(double percent)
{
    double scaled = ldexp(percent / 100.0, 64);

    if (scaled <= 0)
        return 0;
    return scaled >= 0x1.0p64 ? UINT64_MAX : (uint64_t)scaled;
}

static enum access_mode mode_of(const struct job_workload *workload,
                                enum job_kind kind)
{
    if (kind == JOB_FILL)
        return ACCESS_FILL;
    if (workload->seek_percent >= 100)
        return ACCESS_RANDOM;
    return workload->seek_percent <= 0 ? ACCESS_SEQUENTIAL : ACCESS_MIXED;
}

/* Multiples of the grain within the region; where there is none, its start. */
static void lay_positions(struct access *access)
{
    uint64_t first = access->low / access->grain;
    uint64_t end = access->high / access->grain;

    if (first * access->grain < access->low)
        first++;
    if (first < end) {
        access->first = first * access->grain;
        access->positions = end - first;
    } else {
        access->first = access->low;
        access->positions = 1;
    }
}

/* All pairs of an operation and a size, each with its share. */
static void lay_kinds(struct access *access,
                      const struct job_workload *workload)
{
    double ops[JOB_OPS] = {
        [JOB_READ] = fmax(workload->read_percent, 0),
        [JOB_WRITE] = fmax(100 - workload->read_percent, 0),
    };
    double weights[JOB_SIZES_MAX * JOB_OPS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < workload->size_count; i++)
        for (int op = 0; op < JOB_OPS; op++) {
            if (ops[op] <= 0)
                continue;
            access->kinds[count] = (struct access_kind){
                .length = workload->sizes[i].bytes,
                .op = (enum engine_op)op,
            };
            weights[count++] = workload->sizes[i].percent * ops[op];
        }
    for (int op = 0; op < JOB_OPS; op++)
        access->does[op] = ops[op] > 0;
    access->kind_count = count;
    access->mixed = count > 1;
    choice_lay(&access->kind_guide, access->kind_upto, weights, count);
}

/* A fill writes pieces of one size. */
static void lay_fill(struct access *access)
{
    access->kinds[0] = (struct access_kind){access->grain, ENGINE_WRITE};
    access->kind_count = 1;
    access->does[JOB_WRITE] = true;
}

void access_init(struct access *access, const struct job_workload *workload,
                 enum job_kind kind, uint64_t low, uint64_t high)
{
    assert(low < high && workload->size_count > 0);
    *access = (struct access){
        .mode = mode_of(workload, kind),
        .ends = workload->end_at_eof || kind == JOB_FILL,
        .grain = job_xfer_max(workload),
        .low = low,
        .high = high,
        .cursor = low,
        .seek_below = access_threshold(workload->seek_percent),
    };
    if (kind == JOB_FILL)
        lay_fill(access);
    else
        lay_kinds(access, workload);
    lay_positions(access);
    assert(kind == JOB_FILL || access->first + access->grain <= high);
}

uint32_t access_size_max(const struct access *access)
{
    uint32_t max = 0;

    for (uint32_t i = 0; i < access->kind_count; i++)
        if (access->kinds[i].length > max)
            max = access->kinds[i].length;
    return max;
}

static bool fill(struct access *access, struct engine_io *io)
{
    uint64_t left = access->high - access->cursor;

    if (left == 0)
        return false;
    if (io->length > left)
        io->length = (uint32_t)left;
    io->offset = access->cursor;
    access->cursor += io->length;
    return true;
}

bool access_follow_(struct access *access, struct draw *draw,
                    struct engine_io *io)
{
    if (access->mode == ACCESS_FILL)
        return fill(access, io);
    if (access->mode == ACCESS_SHAPED)
        return access_shaped_(access, draw, io);
    if (access->mode == ACCESS_MIXED && draw_next(draw) < access->seek_below) {
        access->cursor = access_position(access, draw);
    } else if (access->high - access->cursor < io->length) {
        if (access->ends)
            return false;
        access->cursor = access->low;
    }
    io->offset = access->cursor;
    access->cursor += io->length;
    return true;
}
