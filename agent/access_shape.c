/* access_shape.c - the less common shapes: see struct access_shape. */
#include "agent/access.h"

#include <assert.h>
#include <math.h>

#define POISSON_PIECES 4 /* times the middle */

/* ---- laying it out ---- */

/* The places of the grid within [low, low + length) where `longest` fits. */
static struct access_piece lay_piece(const struct access *access, uint64_t low,
                                     uint64_t length, uint64_t shift)
{
    uint32_t longest = access_size_max(access);
    uint64_t grain = access->grain;
    uint64_t phase = shift % grain;
    uint64_t first = low;
    struct access_piece piece = {.low = low, .length = length};

    if (first % grain != phase)
        first += (phase + grain - first % grain) % grain;
    if (length < longest)
        return piece;
    if (first - low > length - longest)
        first = low; /* no place of the grid: its beginning alone */
    piece.first = first;
    piece.positions = (low + length - longest - first) / grain + 1;
    return piece;
}

static void lay_pieces(struct access *access, const struct job_cell *cell)
{
    struct access_shape *shape = &access->shape;
    uint64_t hits = cell->hit_bytes;

    shape->piece_count = 1;
    shape->pieces[0] = lay_piece(access, cell->low + hits,
                                 cell->high - cell->low - hits, cell->shift);
    if (cell->wrap_high > cell->wrap_low) {
        shape->piece_count = 2;
        shape->pieces[1] =
            lay_piece(access, cell->wrap_low, cell->wrap_high - cell->wrap_low,
                      cell->shift);
    }
    shape->pieces[1].begin = shape->pieces[0].length;
    for (uint32_t i = 0; i < shape->piece_count; i++)
        shape->positions += shape->pieces[i].positions;
    if (hits > 0)
        shape->hits = lay_piece(access, cell->low, hits, cell->shift);
    assert(shape->positions > 0);
}

static void lay_hits(struct access_shape *shape,
                     const struct job_workload *workload)
{
    shape->hit_below[JOB_READ] = access_threshold(workload->read_hit_percent);
    shape->hit_below[JOB_WRITE] = access_threshold(workload->write_hit_percent);
    shape->hits_always[JOB_READ] = workload->read_hit_percent >= 100;
    shape->hits_always[JOB_WRITE] = workload->write_hit_percent >= 100;
}

static const struct access_piece *pieces_of(const struct access_shape *shape)
{
    return shape->joined != NULL ? shape->joined : shape->pieces;
}

static uint64_t all_bytes(const struct access_shape *shape)
{
    const struct access_piece *last = &pieces_of(shape)[shape->piece_count - 1];

    return last->begin + last->length;
}

static void lay_streams(struct access *access,
                        const struct job_workload *workload)
{
    struct access_shape *shape = &access->shape;
    uint64_t bytes = all_bytes(shape);
    uint64_t slice;

    shape->streams = workload->streams > 1 ? workload->streams : 1;
    slice = bytes / shape->streams;
    if (shape->streams > 1)
        slice = slice / access->grain * access->grain;
    shape->stream_bytes = slice;
    for (uint32_t i = 0; i < shape->streams; i++)
        shape->at[i] = i * slice;
}

static void lay_strides(struct access *access,
                        const struct job_workload *workload)
{
    uint64_t grain = access->grain;
    uint64_t low = workload->stride_min / grain;
    uint64_t high = workload->stride_max / grain;

    if (workload->stride_max == 0)
        return;
    access->shape.stride_min = low * grain;
    access->shape.strides = high - low + 1;
}

static void lay_sizes(struct access_shape *shape,
                      const struct job_workload *workload)
{
    shape->size_step = workload->size_step;
    shape->size_min = workload->sizes[0].bytes;
    if (workload->size_step > 0)
        shape->size_steps =
            (workload->sizes[1].bytes - shape->size_min) / workload->size_step +
            1;
}

static bool is_plain(const struct job_workload *workload,
                     const struct job_cell *cell)
{
    return cell->wrap_high == 0 && cell->shift == 0 && cell->align == 0 &&
           cell->hit_bytes == 0 && workload->size_step == 0 &&
           workload->stride_max == 0 && workload->streams <= 1 &&
           workload->seek == JOB_SEEK_UNIFORM && !workload->starts_anywhere;
}

void access_init_cell(struct access *access,
                      const struct job_workload *workload, enum job_kind kind,
                      const struct job_cell *cell)
{
    struct access_shape *shape = &access->shape;

    access_init(access, workload, kind, cell->low, cell->high);
    if (kind == JOB_FILL || is_plain(workload, cell))
        return;
    access->mode = ACCESS_SHAPED;
    access->grain = job_grain(workload, cell);
    lay_pieces(access, cell);
    lay_hits(shape, workload);
    lay_streams(access, workload);
    lay_strides(access, workload);
    lay_sizes(shape, workload);
    shape->align = cell->align;
    shape->shift = cell->shift;
    shape->seek_below = access->seek_below;
    shape->seeks_always = workload->seek_percent >= 100;
    shape->seek = workload->seek;
    shape->poisson_mid = workload->poisson_mid;
    shape->band_low = sqrt(cell->band_low);
    shape->band_high = sqrt(cell->band_high);
    if (workload->starts_anywhere)
        shape->at[0] = UINT64_MAX - 1; /* drawn with the first request */
}

void access_init_joined(struct access *access,
                        const struct job_workload *workload,
                        struct access_piece *pieces, uint32_t count)
{
    struct access_shape *shape = &access->shape;
    uint64_t begin = 0;

    access_init(access, workload, JOB_MEASURE, pieces[0].low,
                pieces[0].low + pieces[0].length);
    assert(access->mode != ACCESS_RANDOM);
    access->mode = ACCESS_SHAPED;
    shape->joined = pieces;
    shape->piece_count = count;
    for (uint32_t i = 0; i < count; i++) {
        pieces[i] = lay_piece(access, pieces[i].low, pieces[i].length, 0);
        pieces[i].begin = begin;
        begin += pieces[i].length;
        shape->positions += pieces[i].positions;
    }
    lay_streams(access, workload);
    lay_strides(access, workload);
    lay_sizes(shape, workload);
    shape->seek_below = access->seek_below;
    shape->band_high = 1;
    if (workload->starts_anywhere)
        shape->at[0] = UINT64_MAX - 1; /* drawn with the first request */
}

/* ---- places ---- */

/* Poisson's draw by the product of uniforms: the middle is small. */
static double poisson(struct draw *draw, double mid)
{
    double limit = exp(-mid);
    double product = draw_unit(draw);
    uint32_t k = 0;

    while (product > limit) {
        product *= draw_unit(draw);
        k++;
    }
    return k;
}

/* A number of 0 .. 1, skewed as asked. */
static double skewed(const struct access_shape *shape, struct draw *draw)
{
    double pieces = POISSON_PIECES * shape->poisson_mid;
    double a = shape->band_low * shape->band_low;
    double b = shape->band_high * shape->band_high;
    double root, place;

    if (shape->seek == JOB_SEEK_POISSON) {
        do
            place = poisson(draw, shape->poisson_mid);
        while (place + 1 > pieces);
        return (place + 1 - draw_unit(draw)) / pieces;
    }
    root = shape->band_low +
           (shape->band_high - shape->band_low) * (1 - draw_unit(draw));
    return (root * root - a) / (b - a);
}

static uint64_t pick(const struct access_shape *shape, struct draw *draw)
{
    uint64_t at;

    if (shape->seek == JOB_SEEK_UNIFORM)
        return draw_below(draw, shape->positions);
    at = (uint64_t)(skewed(shape, draw) * (double)shape->positions);
    return at < shape->positions ? at : shape->positions - 1;
}

/* A random place; counted over all pieces in `ret_linear`. */
static uint64_t seek(struct access *access, struct draw *draw,
                     uint64_t *ret_linear)
{
    struct access_shape *shape = &access->shape;
    const struct access_piece *piece = pieces_of(shape);
    uint64_t at = pick(shape, draw);
    uint64_t offset;

    for (shape->piece = 0; at >= piece->positions; shape->piece++, piece++)
        at -= piece->positions;
    offset = piece->first + at * access->grain;
    *ret_linear = piece->begin + (offset - piece->low);
    return offset;
}

/* The piece that a place lies in; the last one, beyond the end. */
static uint32_t piece_at(const struct access_shape *shape, uint64_t linear)
{
    const struct access_piece *pieces = pieces_of(shape);
    uint32_t low = 0, high = shape->piece_count - 1;

    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;

        if (pieces[middle].begin <= linear)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint64_t offset_of(const struct access_shape *shape, uint64_t linear)
{
    const struct access_piece *piece =
        &pieces_of(shape)[piece_at(shape, linear)];

    return piece->low + (linear - piece->begin);
}

/* On to the next place of the grid, where there is one to keep to. */
static uint64_t aligned(const struct access_shape *shape, uint64_t linear)
{
    uint64_t over;

    if (shape->align == 0 || linear >= all_bytes(shape))
        return linear;
    over = (offset_of(shape, linear) + shape->align -
            shape->shift % shape->align) %
           shape->align;
    return over == 0 ? linear : linear + shape->align - over;
}

/* Where `length` bytes fit from `linear` on; not across two pieces. */
static uint64_t fitting(const struct access_shape *shape, uint64_t linear,
                        uint32_t length)
{
    const struct access_piece *piece;
    uint64_t end;

    linear = aligned(shape, linear);
    piece = &pieces_of(shape)[piece_at(shape, linear)];
    end = piece->begin + piece->length;
    return linear < end && linear + length > end ? aligned(shape, end) : linear;
}

/* ---- one after another ---- */

static bool take_stream(struct access *access, struct draw *draw,
                        uint32_t stream, struct engine_io *io)
{
    struct access_shape *shape = &access->shape;
    uint64_t begin = stream * shape->stream_bytes;
    uint64_t end = begin + shape->stream_bytes;
    uint64_t at = fitting(shape, shape->at[stream], io->length);

    if (at + io->length > end) {
        if (access->ends)
            return false;
        at = fitting(shape, begin, io->length);
        if (at + io->length > end)
            return false;
    }
    shape->piece = piece_at(shape, at);
    io->offset = offset_of(shape, at);
    at += io->length;
    if (shape->strides > 0)
        at += shape->stride_min +
              draw_below(draw, shape->strides) * access->grain;
    shape->at[stream] = at;
    return true;
}

/* The streams in turn, those at their end left out. */
static bool follow(struct access *access, struct draw *draw,
                   struct engine_io *io)
{
    struct access_shape *shape = &access->shape;

    while (shape->ended < shape->streams) {
        uint32_t stream = shape->next;

        shape->next = stream + 1 < shape->streams ? stream + 1 : 0;
        if (shape->at[stream] == UINT64_MAX)
            continue;
        if (take_stream(access, draw, stream, io))
            return true;
        shape->at[stream] = UINT64_MAX;
        shape->ended++;
    }
    return false;
}

static bool is_hit(const struct access_shape *shape, struct draw *draw,
                   uint8_t op)
{
    if (shape->hits.positions == 0)
        return false;
    return shape->hits_always[op] || draw_next(draw) < shape->hit_below[op];
}

bool access_shaped_(struct access *access, struct draw *draw,
                    struct engine_io *io)
{
    struct access_shape *shape = &access->shape;
    uint64_t linear;

    if (shape->size_step > 0)
        io->length =
            shape->size_min +
            (uint32_t)draw_below(draw, shape->size_steps) * shape->size_step;
    if (is_hit(shape, draw, io->op)) {
        io->offset = shape->hits.first +
                     draw_below(draw, shape->hits.positions) * access->grain;
        return true;
    }
    if (shape->at[0] == UINT64_MAX - 1)
        (void)seek(access, draw, &shape->at[0]);
    if (!shape->seeks_always &&
        (shape->seek_below == 0 || draw_next(draw) >= shape->seek_below))
        return follow(access, draw, io);
    io->offset = seek(access, draw, &linear);
    shape->at[0] = linear + io->length;
    return true;
}
