/*
 * access.h - which offset, which size, which operation: a workload's shape on
 * one region.
 *
 * Random offsets are multiples of the workload's largest transfer, counted from
 * byte 0 as vdbench does, and every such position within [low, high) is equally
 * likely.  Sequential ones follow each other from `low` and wrap at `high`, or
 * end there.  In between, `seek_percent` of the I/Os jump to a random position
 * and the others go on from where the last one ended.  A fill is sequential,
 * ends, and shortens its last piece so that every byte is written once.
 *
 * What is less common (see struct access_shape) is drawn out of line.
 *
 * Operation and size are one choice (choice.h) among all pairs of them.  One
 * random word does for a random I/O: its product with the number of positions
 * gives the position, and what is left over is as good as a second word, to
 * 2^-64 times that number.  All other shares are exact to 2^-53.
 *
 * Threads: one owner.  Memory: by value.
 */
#ifndef AGENT_ACCESS_H
#define AGENT_ACCESS_H

#include "agent/choice.h"
#include "agent/draw.h"
#include "agent/engine.h"
#include "agent/job.h"
#include "common/base.h"

enum access_mode {
    ACCESS_RANDOM,
    ACCESS_SEQUENTIAL,
    ACCESS_MIXED,
    ACCESS_FILL,
    ACCESS_SHAPED, /* anything else: access_shape.c */
};

/* Random positions in one piece of a region: first, first + grain, ... */
struct access_piece {
    uint64_t low;
    uint64_t length;
    uint64_t begin; /* bytes of the pieces before it */
    uint64_t first;
    uint64_t positions;
};

/*
 * What is out of the ordinary: several pieces, a hit area, streams, strides,
 * alignment, a skew.  Sequential places count the bytes of all pieces, one
 * after another.
 */
struct access_shape {
    struct access_piece pieces[2];
    const struct access_piece *joined; /* instead of `pieces`; the caller's */
    uint32_t piece_count;
    uint32_t piece;              /* in which the latest place lies */
    struct access_piece hits;    /* positions 0: none */
    uint64_t hit_below[JOB_OPS]; /* of the draws that are hits */
    uint64_t positions;          /* of all pieces */
    uint64_t seek_below;
    bool seeks_always;
    bool hits_always[JOB_OPS];
    enum job_seek seek;
    double poisson_mid;
    double band_low; /* square roots */
    double band_high;
    uint32_t size_min;
    uint32_t size_step; /* 0: by shares */
    uint32_t size_steps;
    uint64_t align; /* of sequential places; 0: as they come */
    uint64_t shift;
    uint64_t stride_min;
    uint64_t strides; /* how many there are: multiples of the grain */
    uint64_t stream_bytes;
    uint32_t streams;
    uint32_t next; /* stream */
    uint32_t ended;
    uint64_t at[JOB_STREAMS_MAX]; /* UINT64_MAX: has come to its end */
};

/* What an I/O can be, apart from its place. */
struct access_kind {
    uint32_t length;
    enum engine_op op;
};

struct access {
    enum access_mode mode;
    bool mixed; /* several kinds; otherwise there is kinds[0] alone */
    bool ends;  /* at `high`, instead of wrapping */
    bool does[JOB_OPS];
    uint32_t grain;
    uint64_t first;     /* lowest random position, in bytes */
    uint64_t positions; /* how many random positions there are */
    uint64_t low;
    uint64_t high;
    uint64_t cursor; /* where the next sequential I/O begins */
    uint64_t seek_below;
    uint32_t kind_count;
    struct access_kind kinds[JOB_SIZES_MAX * JOB_OPS];
    uint64_t kind_upto[JOB_SIZES_MAX * JOB_OPS];
    struct choice_guide kind_guide;
    struct access_shape shape; /* ACCESS_SHAPED only */
};

/*
 * The region [low, high) holds at least one of the largest transfers (a fill's
 * at least one byte); job_check() saw to it.
 */
void access_init(struct access *access, const struct job_workload *workload,
                 enum job_kind kind, uint64_t low, uint64_t high);

/* The same for a cell with all that it asks for. */
void access_init_cell(struct access *access,
                      const struct job_workload *workload, enum job_kind kind,
                      const struct job_cell *cell);

/*
 * The same for sequential work over several regions, which are as one: the
 * `count` pieces, of which `low` and `length` are set (each holds one of the
 * largest transfers).  They are laid out here, and have to stay.
 * access_draw() then tells by access_piece() which one an offset lies in.
 */
void access_init_joined(struct access *access,
                        const struct job_workload *workload,
                        struct access_piece *pieces, uint32_t count);

static inline uint32_t access_piece(const struct access *access)
{
    return access->shape.piece;
}

/* The longest I/O that it draws. */
uint32_t access_size_max(const struct access *access);

/* Of access_draw() alone. */
bool access_shaped_(struct access *access, struct draw *draw,
                    struct engine_io *io);
bool access_follow_(struct access *access, struct draw *draw,
                    struct engine_io *io);

static inline void access_kind_(const struct access *access, uint64_t word,
                                struct engine_io *io)
{
    const struct access_kind *kind = access->kinds;

    if (access->mixed)
        kind += choice_take(&access->kind_guide, access->kind_upto, word);
    io->op = (uint8_t)kind->op;
    io->length = kind->length;
}

/* A random position of the region. */
static inline uint64_t access_position(const struct access *access,
                                       struct draw *draw)
{
    return access->first + draw_below(draw, access->positions) * access->grain;
}

/*
 * Puts operation, length and offset of the next I/O into `io`.  False when the
 * cell has come to its end; so it stays.
 */
static inline bool access_draw(struct access *access, struct draw *draw,
                               struct engine_io *io)
{
    u128 product;

    if (access->mode != ACCESS_RANDOM) {
        access_kind_(access, access->mixed ? draw_next(draw) : 0, io);
        return access_follow_(access, draw, io);
    }
    product = (u128)draw_next(draw) * access->positions;
    io->offset = access->first + (uint64_t)(product >> 64) * access->grain;
    access_kind_(access, (uint64_t)product, io);
    return true;
}

/* Whether the cell ever does `op`. */
static inline bool access_does(const struct access *access, enum engine_op op)
{
    return access->does[op];
}

/* A share in per cent as a threshold for 64 random bits; 100 is not one. */
uint64_t access_threshold(double percent);

#endif
