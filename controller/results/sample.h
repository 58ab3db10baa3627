/*
 * sample.h - what one agent measured in one interval, as fleet's codec
 * decoded and checked it; the input of merging.
 *
 * Histogram blobs were checked to decode.  Cell indices are those of the
 * agent's own phase message; sample_cell.cell was translated by fleet into the
 * index of the run's cell (plan_run.cells).
 *
 * Memory: sample_free() frees all.  Threads: made on the loop, handed over to
 * the store thread whole.
 */
#ifndef CONTROLLER_RESULTS_SAMPLE_H
#define CONTROLLER_RESULTS_SAMPLE_H

#include "common/base.h"

enum sample_kind {
    SAMPLE_ROW_MEASURED,
    SAMPLE_ROW_WARMUP,
    SAMPLE_ROW_DRAIN,
};

enum sample_op {
    SAMPLE_READ,
    SAMPLE_WRITE,
    SAMPLE_OPS,
};

struct sample_cell {
    uint32_t cell; /* index into plan_run.cells */
    enum sample_op op;
    uint64_t ios;
    uint64_t bytes;
    uint64_t errors;
    const uint8_t *service; /* blob; NULL when empty */
    size_t service_length;
    const uint8_t *response; /* NULL in a closed loop */
    size_t response_length;
    uint32_t in_flight;
    uint64_t oldest_ns;
    uint64_t unissued;
    uint64_t unissued_oldest_ns;
    uint64_t issued; /* arrivals of an open loop, and how late */
    uint64_t late_ns;
    uint64_t late_max_ns;
};

/* So many requests of a cell failed with one errno. */
struct sample_error {
    uint32_t cell; /* index into plan_run.cells */
    enum sample_op op;
    uint32_t err; /* 0: a short transfer */
    uint64_t count;
};

/* One request that failed: among the first of its drive. */
struct sample_failure {
    uint32_t cell;
    enum sample_op op;
    uint64_t offset;
    uint32_t length;
    uint32_t err;         /* 0: a short transfer, */
    uint32_t transferred; /* of so many bytes */
    int64_t at_ns;        /* as begin_ns below; before that: the agent's own */
};

struct sample_host {
    uint64_t host_cpu_ns;
    uint64_t host_system_ns;
    uint64_t capacity_ns;
    uint64_t agent_cpu_ns;
    uint64_t worker_cpu_ns; /* the busiest worker */
    uint64_t holds;         /* a worker came back late from the kernel */
    uint64_t held_ns;
    uint64_t refused; /* submissions that the kernel put off */
};

/* What a drive says of itself; counters are of its whole life. */
struct sample_health {
    bool known;
    bool hot;
    uint32_t used_percent;
    uint64_t media_errors;
    uint64_t written_bytes;
    uint64_t throttles;
    uint64_t throttled_s;
};

/* What the kernel counted of a drive since the row before. */
struct sample_drive {
    uint32_t target; /* index into plan.targets */
    bool counted;    /* all of it up to in_flight is known */
    bool shared;     /* others may use it, too: no witness of this phase */
    uint64_t reads;
    uint64_t reads_merged;
    uint64_t read_bytes;
    uint64_t writes;
    uint64_t writes_merged;
    uint64_t write_bytes;
    uint32_t in_flight;
    bool has_temperature;
    int32_t temperature_mc;
    struct sample_health health;
};

struct sample {
    uint32_t host; /* index into plan.hosts */
    uint64_t interval;
    uint32_t part;
    uint32_t parts;
    enum sample_kind kind;
    uint32_t spans;
    /* On the controller's clock, relative to the phase's start. */
    int64_t begin_ns;
    int64_t end_ns;
    int64_t opened_first_ns;
    int64_t opened_last_ns;
    int64_t edge_skew_ns; /* clock drift since the start */
    bool has_host;
    struct sample_host host_sample;
    struct sample_cell *cells;
    uint32_t cell_count;
    struct sample_error *errors;
    uint32_t error_count;
    struct sample_failure *failures; /* in part 0 only */
    uint32_t failure_count;
    struct sample_drive *drives; /* in part 0 only */
    uint32_t drive_count;
    void *memory; /* what the blobs point into; sample_free()'s */
};

/* NULL is fine.  Returns NULL. */
struct sample *sample_free(struct sample *sample);

#endif
