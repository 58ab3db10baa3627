/* Samples: most of what a controller decodes, and all that it will believe. */
#include "common/histogram.h"
#include "controller/fleet/codec_check.h"
#include "controller/results/failure.h"
#include "controller/results/sample.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_PER_IO_MAX (UINT64_C(256) << 20)
#define SPAN_MAX_NS      (UINT64_C(24) * 3600 * NS_PER_S)
#define ERRNOS_MAX       8u
#define FAILURES_MAX     64u

/* A blob decodes and holds as many values as the cell completed. */
static void check_blob(struct check *c, const char *field,
                       const ProtobufCBinaryData *blob, uint64_t ios,
                       struct histogram *scratch)
{
    uint64_t before = scratch->count;
    bool decodes = blob->len == 0 ||
                   histogram_merge_blob(scratch, blob->data, blob->len) == 0;

    if (!decodes)
        check_fail(c, "%s is no histogram", field);
    else if (scratch->count - before != ios)
        check_fail(c, "%s holds %llu values of %llu I/Os", field,
                   (unsigned long long)(scratch->count - before),
                   (unsigned long long)ios);
}

static uint64_t count_of(struct check *c, const char *field, uint64_t value)
{
    return check_range(c, field, value, 0, CHECK_COUNT_MAX);
}

/* No arrival is later than the latest. */
static void decode_lateness(struct check *c, const Lockstep__CellSample *from,
                            struct sample_cell *to)
{
    to->issued = count_of(c, "issued", from->issued);
    to->late_ns = count_of(c, "late_ns", from->late_ns);
    to->late_max_ns = count_of(c, "late_max_ns", from->late_max_ns);
    if (to->late_max_ns > to->late_ns ||
        (u128)to->late_ns > (u128)to->late_max_ns * to->issued)
        check_fail(c, "%llu arrivals are not %llu ns late, %llu at most",
                   (unsigned long long)to->issued,
                   (unsigned long long)to->late_ns,
                   (unsigned long long)to->late_max_ns);
}

static void decode_cell(struct check *c, const Lockstep__CellSample *from,
                        struct sample_cell *to, struct histogram *scratch)
{
    to->cell =
        (uint32_t)check_range(c, "cell", from->cell, 0, WIRE_CELLS_MAX - 1);
    to->op = check_enum(c, "op", (int)from->op, SAMPLE_OPS);
    to->ios = count_of(c, "ios", from->ios);
    to->bytes = count_of(c, "bytes", from->bytes);
    if ((u128)to->bytes > (u128)to->ios * BYTES_PER_IO_MAX)
        check_fail(c, "%llu bytes are too many for %llu I/Os",
                   (unsigned long long)to->bytes, (unsigned long long)to->ios);
    to->errors = count_of(c, "errors", from->errors);
    check_blob(c, "service", &from->service, to->ios, scratch);
    if (from->response.len > 0)
        check_blob(c, "response", &from->response, to->ios, scratch);
    to->in_flight = from->in_flight;
    to->oldest_ns = count_of(c, "oldest_ns", from->oldest_ns);
    to->unissued = count_of(c, "unissued", from->unissued);
    to->unissued_oldest_ns =
        count_of(c, "unissued_oldest_ns", from->unissued_oldest_ns);
    decode_lateness(c, from, to);
}

/* Blobs are copied: the store thread keeps them longer than the frame. */
static uint8_t *copy_blob(uint8_t *at, const ProtobufCBinaryData *blob,
                          const uint8_t **ret_blob, size_t *ret_length)
{
    if (blob->len == 0)
        return at;
    memcpy(at, blob->data, blob->len);
    *ret_blob = at;
    *ret_length = blob->len;
    return at + blob->len;
}

static int copy_blobs(const Lockstep__Sample *from, struct sample *to)
{
    size_t total = 0;
    uint8_t *at;

    for (size_t i = 0; i < from->n_cells; i++)
        total += from->cells[i]->service.len + from->cells[i]->response.len;
    if (total == 0)
        return 0;
    to->memory = at = malloc(total);
    if (at == NULL)
        return -1;
    for (size_t i = 0; i < from->n_cells; i++) {
        struct sample_cell *cell = &to->cells[i];

        at = copy_blob(at, &from->cells[i]->service, &cell->service,
                       &cell->service_length);
        at = copy_blob(at, &from->cells[i]->response, &cell->response,
                       &cell->response_length);
    }
    return 0;
}

/* Each cell and operation at most once in a part. */
static void check_twice(struct check *c, const struct sample *sample)
{
    uint8_t seen[WIRE_CELLS_MAX * SAMPLE_OPS / 8] = {0};

    for (uint32_t i = 0; i < sample->cell_count && c->err == 0; i++) {
        uint32_t bit =
            sample->cells[i].cell * SAMPLE_OPS + (uint32_t)sample->cells[i].op;
        uint8_t mask = (uint8_t)(1u << bit % 8);

        if ((seen[bit / 8] & mask) != 0)
            check_fail(c, "cell %u comes twice", sample->cells[i].cell);
        seen[bit / 8] |= mask;
    }
}

static void decode_cells(struct check *c, const Lockstep__Sample *from,
                         struct sample *to)
{
    struct histogram scratch;

    if (from->n_cells > (size_t)WIRE_CELLS_MAX * SAMPLE_OPS) {
        check_fail(c, "%zu cells", from->n_cells);
        return;
    }
    if (from->n_cells == 0)
        return;
    to->cells = calloc(from->n_cells, sizeof(*to->cells));
    if (to->cells == NULL) {
        check_fail(c, "out of memory");
        return;
    }
    to->cell_count = (uint32_t)from->n_cells;
    histogram_init(&scratch);
    for (uint32_t i = 0; i < to->cell_count && c->err == 0; i++)
        decode_cell(c, from->cells[i], &to->cells[i], &scratch);
    check_twice(c, to);
    if (c->err == 0 && copy_blobs(from, to) != 0)
        check_fail(c, "out of memory");
}

static uint32_t decode_errno(struct check *c, uint32_t err)
{
    return (uint32_t)check_range(c, "err", err, 0, FAILURE_ERRNO_MAX);
}

static void decode_cell_errors(struct check *c,
                               const Lockstep__CellSample *from,
                               struct sample *to)
{
    uint64_t sum = 0;

    if (from->n_by_errno > ERRNOS_MAX)
        check_fail(c, "%zu kinds of errors, at most %u are told",
                   from->n_by_errno, ERRNOS_MAX);
    for (size_t i = 0; i < from->n_by_errno && c->err == 0; i++) {
        const Lockstep__ErrorCount *error = from->by_errno[i];

        sum += count_of(c, "count", error->count);
        if (sum > from->errors)
            check_fail(c, "more errors by errno than errors");
        to->errors[to->error_count++] = (struct sample_error){
            .cell = from->cell,
            .op = (enum sample_op)from->op,
            .err = decode_errno(c, error->err),
            .count = error->count,
        };
    }
}

/* After the cells were checked. */
static void decode_errors(struct check *c, const Lockstep__Sample *from,
                          struct sample *to)
{
    size_t total = 0;

    for (size_t i = 0; i < from->n_cells; i++)
        total += from->cells[i]->n_by_errno;
    if (total == 0)
        return;
    to->errors = calloc(total, sizeof(*to->errors));
    if (to->errors == NULL)
        check_fail(c, "out of memory");
    for (size_t i = 0; i < from->n_cells && c->err == 0; i++)
        decode_cell_errors(c, from->cells[i], to);
}

static void decode_failure(struct check *c, const Lockstep__Failure *from,
                           struct sample_failure *to)
{
    to->cell =
        (uint32_t)check_range(c, "cell", from->cell, 0, WIRE_CELLS_MAX - 1);
    to->op = check_enum(c, "op", (int)from->op, SAMPLE_OPS);
    to->offset = count_of(c, "offset", from->offset);
    to->length =
        (uint32_t)check_range(c, "length", from->length, 0, BYTES_PER_IO_MAX);
    to->err = decode_errno(c, from->err);
    to->transferred = (uint32_t)check_range(c, "transferred", from->transferred,
                                            0, BYTES_PER_IO_MAX);
    to->at_ns = (int64_t)count_of(c, "agent_at_ns", from->agent_at_ns);
}

static void decode_failures(struct check *c, const Lockstep__Sample *from,
                            struct sample *to)
{
    if (from->n_failures == 0)
        return;
    if (from->n_failures > FAILURES_MAX || from->part != 0) {
        check_fail(c, "%zu failures in part %u", from->n_failures, from->part);
        return;
    }
    to->failures = calloc(from->n_failures, sizeof(*to->failures));
    if (to->failures == NULL)
        check_fail(c, "out of memory");
    for (size_t i = 0; i < from->n_failures && c->err == 0; i++)
        decode_failure(c, from->failures[i],
                       &to->failures[to->failure_count++]);
}

static void decode_host(struct check *c, const Lockstep__Sample *from,
                        struct sample *to)
{
    const Lockstep__HostSample *host = from->host;

    to->has_host = host != NULL;
    if (host == NULL)
        return;
    if (from->part != 0)
        check_fail(c, "host comes with part %u", from->part);
    to->host_sample = (struct sample_host){
        .host_cpu_ns = count_of(c, "host_cpu_ns", host->host_cpu_ns),
        .host_system_ns = count_of(c, "host_system_ns", host->host_system_ns),
        .capacity_ns = count_of(c, "capacity_ns", host->capacity_ns),
        .agent_cpu_ns = count_of(c, "agent_cpu_ns", host->agent_cpu_ns),
        .worker_cpu_ns = count_of(c, "worker_cpu_ns", host->worker_cpu_ns),
        .holds = count_of(c, "holds", host->holds),
        .held_ns = count_of(c, "held_ns", host->held_ns),
        .refused = count_of(c, "refused", host->refused),
    };
}

static void decode_health(struct check *c, const Lockstep__DriveHealth *from,
                          struct sample_health *to)
{
    if (from == NULL)
        return;
    *to = (struct sample_health){
        .known = true,
        .hot = from->hot,
        .used_percent = (uint32_t)check_range(c, "used_percent",
                                              from->used_percent, 0, 255),
        .media_errors = count_of(c, "media_errors", from->media_errors),
        .written_bytes = count_of(c, "written_bytes", from->written_bytes),
        .throttles = count_of(c, "throttles", from->throttles),
        .throttled_s = count_of(c, "throttled_s", from->throttled_s),
    };
}

static void decode_drive(struct check *c, const Lockstep__DriveSample *from,
                         struct sample_drive *to)
{
    to->target = (uint32_t)check_range(c, "target", from->target, 0,
                                       WIRE_TARGETS_MAX - 1);
    to->counted = from->counted;
    to->shared = from->shared;
    to->reads = count_of(c, "reads", from->reads);
    to->reads_merged = count_of(c, "reads_merged", from->reads_merged);
    to->read_bytes = count_of(c, "read_bytes", from->read_bytes);
    to->writes = count_of(c, "writes", from->writes);
    to->writes_merged = count_of(c, "writes_merged", from->writes_merged);
    to->write_bytes = count_of(c, "write_bytes", from->write_bytes);
    to->in_flight = from->in_flight;
    to->has_temperature = from->has_temperature;
    to->temperature_mc = from->temperature_mc;
    decode_health(c, from->health, &to->health);
}

static void decode_drives(struct check *c, const Lockstep__Sample *from,
                          struct sample *to)
{
    if (from->n_drives == 0)
        return;
    if (from->n_drives > WIRE_TARGETS_MAX || from->part != 0) {
        check_fail(c, "%zu drives in part %u", from->n_drives, from->part);
        return;
    }
    to->drives = calloc(from->n_drives, sizeof(*to->drives));
    if (to->drives == NULL) {
        check_fail(c, "out of memory");
        return;
    }
    to->drive_count = (uint32_t)from->n_drives;
    for (uint32_t i = 0; i < to->drive_count && c->err == 0; i++)
        decode_drive(c, from->drives[i], &to->drives[i]);
}

static void decode_head(struct check *c, const Lockstep__Sample *from,
                        struct sample *to)
{
    to->interval = check_range(c, "interval", from->interval, 0, UINT32_MAX);
    to->parts =
        (uint32_t)check_range(c, "parts", from->parts, 1, WIRE_PARTS_MAX);
    to->part = (uint32_t)check_range(c, "part", from->part, 0,
                                     (uint64_t)to->parts - 1);
    to->kind = check_enum(c, "kind", (int)from->kind, SAMPLE_ROW_DRAIN + 1);
    to->spans =
        (uint32_t)check_range(c, "spans", from->spans, 1, to->interval + 1);
}

static void decode_times(struct check *c, const Lockstep__Sample *from,
                         struct wire_sample *to)
{
    to->agent_begin_ns = count_of(c, "agent_begin_ns", from->agent_begin_ns);
    to->agent_end_ns =
        check_range(c, "agent_end_ns", from->agent_end_ns, to->agent_begin_ns,
                    to->agent_begin_ns + SPAN_MAX_NS);
    to->agent_opened_first_ns =
        count_of(c, "agent_opened_first_ns", from->agent_opened_first_ns);
    to->agent_opened_last_ns =
        check_range(c, "agent_opened_last_ns", from->agent_opened_last_ns,
                    to->agent_opened_first_ns, CHECK_COUNT_MAX);
}

void wire_decode_sample(struct check *c, const Lockstep__Sample *from,
                        struct wire_sample *to)
{
    struct sample *sample = calloc(1, sizeof(*sample));

    if (sample == NULL) {
        check_fail(c, "out of memory");
        return;
    }
    to->work = check_work(c, from->work);
    decode_times(c, from, to);
    decode_head(c, from, sample);
    decode_host(c, from, sample);
    if (c->err == 0)
        decode_cells(c, from, sample);
    if (c->err == 0)
        decode_errors(c, from, sample);
    if (c->err == 0)
        decode_failures(c, from, sample);
    if (c->err == 0)
        decode_drives(c, from, sample);
    if (c->err != 0) {
        sample = sample_free(sample);
        return;
    }
    to->sample = sample;
}
