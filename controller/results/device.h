/*
 * device.h - what the kernel and the drives themselves told about a phase.
 *
 * With each sample comes what the block layer counted of each drive since the
 * one before (struct sample_drive), and what the drive says of itself.  The
 * store keeps it beside the sample's cells as one byte string:
 *     byte 1, then for each drive numbers: target, flags (1 counted, 2 shared,
 *     4 temperature, 8 health, 16 hot); where counted reads, reads_merged,
 *     read_bytes, writes, writes_merged, write_bytes, in_flight; the
 *     temperature in thousandths of a degree, below zero 2n - 1, else 2n; the
 *     five numbers of its health
 * Summed over all rows of a phase, warm-up and drain included, the counters
 * stand beside what the workers did in all of it.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_RESULTS_DEVICE_H
#define CONTROLLER_RESULTS_DEVICE_H

#include "controller/results/bytes.h"
#include "controller/results/object.h"
#include "controller/results/sample.h"

/* A drive over a whole phase. */
struct device {
    struct sample_drive sum; /* counters of all rows; the last of the rest */
    int32_t hottest_mc;      /* where has_temperature */
    struct sample_health before;
    struct sample_health after;
    /* What the workers did to it, errors not among it. */
    uint64_t ios[SAMPLE_OPS];
    uint64_t bytes[SAMPLE_OPS];
};

void device_encode(struct bytes *into, const struct sample_drive *drives,
                   uint32_t count);

/* 0 with the reader before the first drive, or -EBADMSG. */
int device_open(struct byte_reader *reader, const uint8_t *data,
                size_t length) MUST_CHECK;

/* 1 with the next drive; 0 at the end; -EBADMSG. */
int device_next(struct byte_reader *reader,
                struct sample_drive *ret_drive) MUST_CHECK;

/* One row more. */
void device_add(struct device *device, const struct sample_drive *row);

/* The object "device" of a drive. */
struct object device_object(const struct device *device);

#endif
