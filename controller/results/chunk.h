/*
 * chunk.h - all cells of one sample as one byte string of the store.
 *
 * One row of the store for each host and interval costs a sixth of one for
 * each cell and operation.  The format:
 *     byte 2, then for each cell and operation with something to say, numbers
 *     cell x 2 + op, ios, bytes, errors, in_flight, oldest_ns, unissued,
 *     unissued_oldest_ns, issued, late_ns, late_max_ns, length of service,
 *     service, length of response, response
 * (byte 1: as written before, without issued, late_ns and late_max_ns) with the
 * histograms as common/histogram.h has them.  Retention may have taken the
 * histograms away: length 0 beside ios above 0.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_RESULTS_CHUNK_H
#define CONTROLLER_RESULTS_CHUNK_H

#include "controller/results/bytes.h"
#include "controller/results/sample.h"

/* A chunk is begun, then has its cells put into it. */
void chunk_begin(struct bytes *into);
void chunk_put(struct bytes *into, const struct sample_cell *cell);

/* Both, for all parts of a sample, in their order. */
void chunk_encode(struct bytes *into, struct sample *const *parts,
                  uint32_t part_count);

struct chunk_reader {
    struct byte_reader bytes;
    uint8_t version;
};

/* 0 with the reader before the first cell, or -EBADMSG. */
int chunk_open(struct chunk_reader *reader, const uint8_t *data,
               size_t length) MUST_CHECK;

/* 1 with the next cell, which points into the chunk; 0 at the end; -EBADMSG. */
int chunk_next(struct chunk_reader *reader,
               struct sample_cell *ret_cell) MUST_CHECK;

#endif
