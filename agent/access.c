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

static void lay_sizes(struct access *access,
                      const struct job_workload *workload)
{
    double below = 0;

    access->size = workload->sizes[0].bytes;
    access->mixed_sizes = workload->size_count > 1;
    access->size_count = workload->size_count;
    for (uint32_t i = 0; i < workload->size_count; i++) {
        below += workload->sizes[i].percent;
        access->sizes[i] = workload->sizes[i].bytes;
        access->size_below[i] = access_threshold(below);
    }
}

void access_init(struct access *access, const struct job_workload *workload,
                 enum job_kind kind, uint64_t low, uint64_t high)
{
    assert(low < high && workload->size_count > 0);
    *access = (struct access){
        .mode = mode_of(workload, kind),
        .mixed_ops = kind == JOB_MEASURE && workload->read_percent > 0 &&
                     workload->read_percent < 100,
        .ends = workload->end_at_eof || kind == JOB_FILL,
        .op = kind == JOB_FILL || workload->read_percent <= 0 ? ENGINE_WRITE
                                                              : ENGINE_READ,
        .grain = job_xfer_max(workload),
        .low = low,
        .high = high,
        .cursor = low,
        .read_below = access_threshold(workload->read_percent),
        .seek_below = access_threshold(workload->seek_percent),
    };
    lay_sizes(access, workload);
    if (kind == JOB_FILL) {
        access->size = access->grain;
        access->mixed_sizes = false;
    }
    lay_positions(access);
    assert(kind == JOB_FILL || access->first + access->grain <= high);
}

uint32_t access_size_max(const struct access *access)
{
    uint32_t max = access->mixed_sizes ? 0 : access->size;

    for (uint32_t i = 0; access->mixed_sizes && i < access->size_count; i++)
        if (access->sizes[i] > max)
            max = access->sizes[i];
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
