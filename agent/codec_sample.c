/* codec_sample.c - a row becomes samples, in parts that fit frames. */
#include "agent/codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/codec_pack.h"
#include "agent/row.h"
#include "common/histogram.h"
#include "proto/lockstep.pb-c.h"

/* A cell without its blobs, and a part without its cells, take less. */
#define CELL_BYTES  288u
#define DRIVE_BYTES 192u
#define HEAD_BYTES  8192u
#define PART_BYTES  (CODEC_BODY_MAX - HEAD_BYTES)

/* A row on its way: every cell that has something to say, and in `ends` which
 * of them is the first of the next part. */
struct builder {
    Lockstep__CellSample *cells;
    Lockstep__CellSample **list;
    Lockstep__ErrorCount *errors; /* ROW_ERRORS of each cell */
    Lockstep__ErrorCount **error_list;
    Lockstep__Failure failures[ROW_FAILURES];
    Lockstep__Failure *failure_list[ROW_FAILURES];
    uint32_t cell_count;
    uint32_t ends[CODEC_PARTS_MAX];
    uint32_t part_count;
    size_t part_bytes;
    Lockstep__DriveSample *drives;
    Lockstep__DriveHealth *healths;
    Lockstep__DriveSample **drive_list;
    uint32_t drive_count;
    uint8_t scratch[HISTOGRAM_BLOB_MAX];
};

static bool has_something(const struct row_cell *cell)
{
    return cell->ios > 0 || cell->errors > 0 || cell->in_flight > 0 ||
           cell->unissued > 0 || cell->issued > 0;
}

static bool take_blob(struct builder *builder,
                      const struct histogram *histogram,
                      ProtobufCBinaryData *ret_blob)
{
    size_t length;

    if (histogram == NULL || histogram->count == 0)
        return true;
    length = histogram_encode(histogram, builder->scratch);
    ret_blob->data = malloc(length);
    if (ret_blob->data == NULL)
        return false;
    memcpy(ret_blob->data, builder->scratch, length);
    ret_blob->len = length;
    return true;
}

static void add_errors(struct builder *builder, const struct row_cell *from,
                       Lockstep__CellSample *to)
{
    size_t first = (size_t)(to - builder->cells) * ROW_ERRORS;

    to->by_errno = &builder->error_list[first];
    for (uint32_t i = 0; i < ROW_ERRORS && from->by_errno[i].count > 0; i++) {
        Lockstep__ErrorCount *error = &builder->errors[first + i];

        lockstep__error_count__init(error);
        error->err = (uint32_t)from->by_errno[i].err;
        error->count = from->by_errno[i].count;
        to->by_errno[to->n_by_errno++] = error;
    }
}

static void builder_done(struct builder *builder)
{
    for (uint32_t i = 0; builder->cells != NULL && i < builder->cell_count;
         i++) {
        free(builder->cells[i].service.data);
        free(builder->cells[i].response.data);
    }
    free(builder->drives);
    free(builder->healths);
    free(builder->drive_list);
    free(builder->cells);
    free(builder->list);
    free(builder->errors);
    free(builder->error_list);
    free(builder);
}

static struct builder *builder_new(const struct row *row)
{
    size_t most = (size_t)row->cell_count * JOB_OPS + 1;
    struct builder *builder = calloc(1, sizeof(*builder));

    if (builder == NULL)
        return NULL;
    builder->cells = calloc(most, sizeof(*builder->cells));
    builder->list = calloc(most, sizeof(Lockstep__CellSample *));
    builder->errors = calloc(most * ROW_ERRORS, sizeof(*builder->errors));
    builder->error_list =
        calloc(most * ROW_ERRORS, sizeof(Lockstep__ErrorCount *));
    builder->part_count = 1;
    if (builder->cells == NULL || builder->list == NULL ||
        builder->errors == NULL || builder->error_list == NULL) {
        builder_done(builder);
        return NULL;
    }
    return builder;
}

static bool add_cell(struct builder *builder, uint32_t index, enum job_op op,
                     const struct row_cell *from)
{
    Lockstep__CellSample *to = &builder->cells[builder->cell_count];
    size_t bytes;

    lockstep__cell_sample__init(to);
    builder->list[builder->cell_count++] = to;
    to->cell = index;
    to->op = (Lockstep__Op)op;
    to->ios = from->ios;
    to->bytes = from->bytes;
    to->errors = from->errors;
    if (from->errors > 0)
        add_errors(builder, from, to);
    to->in_flight = from->in_flight;
    to->oldest_ns = from->oldest_ns;
    to->unissued = from->unissued;
    to->unissued_oldest_ns = from->unissued_oldest_ns;
    to->issued = from->issued;
    to->late_ns = from->late_ns;
    to->late_max_ns = from->late_max_ns;
    if (!take_blob(builder, from->service, &to->service) ||
        !take_blob(builder, from->response, &to->response))
        return false;
    bytes = to->service.len + to->response.len + CELL_BYTES;
    if (builder->part_bytes + bytes > PART_BYTES) {
        if (builder->part_count == CODEC_PARTS_MAX)
            return false;
        builder->ends[builder->part_count - 1] = builder->cell_count - 1;
        builder->part_count++;
        builder->part_bytes = 0;
    }
    builder->part_bytes += bytes;
    builder->ends[builder->part_count - 1] = builder->cell_count;
    return true;
}

static void add_health(struct builder *builder, const struct row_health *from,
                       Lockstep__DriveSample *to)
{
    Lockstep__DriveHealth *health = &builder->healths[builder->drive_count];

    to->has_temperature = from->temperature_mc != ROW_NO_TEMPERATURE;
    to->temperature_mc = to->has_temperature ? from->temperature_mc : 0;
    if (!from->known)
        return;
    lockstep__drive_health__init(health);
    health->hot = from->hot;
    health->used_percent = from->used_percent;
    health->media_errors = from->media_errors;
    health->written_bytes = from->written_bytes;
    health->throttles = from->throttles;
    health->throttled_s = from->throttled_s;
    to->health = health;
}

static void add_drive(struct builder *builder, uint32_t target,
                      const struct row_drive *from)
{
    Lockstep__DriveSample *to = &builder->drives[builder->drive_count];

    if (!from->counted && !from->health.known &&
        from->health.temperature_mc == ROW_NO_TEMPERATURE)
        return;
    lockstep__drive_sample__init(to);
    to->target = target;
    to->counted = from->counted;
    to->shared = from->shared;
    if (from->counted) {
        to->reads = from->counters.reads;
        to->reads_merged = from->counters.reads_merged;
        to->read_bytes = from->counters.read_bytes;
        to->writes = from->counters.writes;
        to->writes_merged = from->counters.writes_merged;
        to->write_bytes = from->counters.write_bytes;
        to->in_flight = from->counters.in_flight;
    }
    add_health(builder, &from->health, to);
    builder->drive_list[builder->drive_count++] = to;
    builder->part_bytes += DRIVE_BYTES;
}

/* Before the cells: they go with the first part. */
static bool add_drives(struct builder *builder, const struct row *row)
{
    if (row->drives == NULL)
        return true;
    builder->drives = calloc(row->drive_count, sizeof(*builder->drives));
    builder->healths = calloc(row->drive_count, sizeof(*builder->healths));
    builder->drive_list =
        calloc(row->drive_count, sizeof(Lockstep__DriveSample *));
    if (builder->drives == NULL || builder->healths == NULL ||
        builder->drive_list == NULL)
        return false;
    for (uint32_t i = 0; i < row->drive_count; i++)
        add_drive(builder, i, &row->drives[i]);
    return true;
}

static bool add_cells(struct builder *builder, const struct row *row)
{
    for (uint32_t i = 0; i < row->cell_count; i++)
        for (int op = 0; op < JOB_OPS; op++) {
            const struct row_cell *cell = row_cell(row, i, (enum job_op)op);

            if (has_something(cell) &&
                !add_cell(builder, i, (enum job_op)op, cell))
                return false;
        }
    return true;
}

static void fill_head(const struct row *row, Lockstep__Sample *sample)
{
    static const Lockstep__SampleKind kinds[] = {
        [ROW_MEASURED] = LOCKSTEP__SAMPLE_KIND__SAMPLE_MEASURED,
        [ROW_WARMUP] = LOCKSTEP__SAMPLE_KIND__SAMPLE_WARMUP,
        [ROW_DRAIN] = LOCKSTEP__SAMPLE_KIND__SAMPLE_DRAIN,
    };

    /* A row is known here by its first interval, on the wire by its last. */
    sample->interval = row->interval + row->spans - 1;
    sample->spans = row->spans;
    sample->kind = kinds[row->kind];
    sample->agent_begin_ns = row->begin_ns;
    sample->agent_end_ns = row->end_ns;
    sample->agent_opened_first_ns = row->opened_first_ns;
    sample->agent_opened_last_ns = row->opened_last_ns;
}

static void add_failures(struct builder *builder, const struct row *row)
{
    for (uint32_t i = 0; i < row->failure_count; i++) {
        const struct row_failure *from = &row->failures[i];
        Lockstep__Failure *to = &builder->failures[i];

        lockstep__failure__init(to);
        to->cell = from->cell;
        to->op = (Lockstep__Op)from->op;
        to->offset = from->offset;
        to->length = from->length;
        to->err = from->result < 0 ? (uint32_t)-from->result : 0;
        to->transferred = from->result < 0 ? 0 : (uint32_t)from->result;
        to->agent_at_ns = from->at_ns;
        builder->failure_list[i] = to;
    }
}

static struct codec_bytes pack_part(const struct work *work,
                                    const struct row *row,
                                    struct builder *builder, uint32_t part)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Sample sample = LOCKSTEP__SAMPLE__INIT;
    Lockstep__HostSample host = LOCKSTEP__HOST_SAMPLE__INIT;
    Lockstep__Work key;
    uint32_t begin = part == 0 ? 0 : builder->ends[part - 1];

    codec_pack_work(work, &key);
    sample.work = &key;
    fill_head(row, &sample);
    sample.part = part;
    sample.parts = builder->part_count;
    sample.n_cells = builder->ends[part] - begin;
    sample.cells = builder->list + begin;
    host.host_cpu_ns = row->host.host_cpu_ns;
    host.host_system_ns = row->host.host_system_ns;
    host.capacity_ns = row->host.capacity_ns;
    host.agent_cpu_ns = row->host.agent_cpu_ns;
    host.worker_cpu_ns = row->host.worker_cpu_ns;
    host.holds = row->holds.count;
    host.held_ns = row->holds.ns;
    host.refused = row->holds.refused;
    if (part == 0) {
        sample.host = &host;
        sample.n_failures = row->failure_count;
        sample.failures = builder->failure_list;
        sample.n_drives = builder->drive_count;
        sample.drives = builder->drive_list;
    }
    frame.body_case = LOCKSTEP__FRAME__BODY_SAMPLE;
    frame.sample = &sample;
    return codec_pack(&frame);
}

uint32_t codec_sample(const struct work *work, const struct row *row,
                      struct codec_bytes ret_parts[CODEC_PARTS_MAX])
{
    struct builder *builder = builder_new(row);
    uint32_t count = 0;

    if (builder == NULL)
        return 0;
    add_failures(builder, row);
    if (add_drives(builder, row) && add_cells(builder, row)) {
        count = builder->part_count;
        for (uint32_t i = 0; i < count; i++)
            ret_parts[i] = pack_part(work, row, builder, i);
    }
    builder_done(builder);
    return count;
}
