/* codec.c - what a controller says, checked field by field. */
#include "agent/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/interlock.h"
#include "common/arena.h"
#include "proto/lockstep.pb-c.h"

/* A small frame may need more than its multiple: the frame itself, and the
 * unpacker's own tables. */
#define ARENA_FLOOR 8192u

#define INSPECT_MAX JOB_TARGETS_MAX

static void *arena_take(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void arena_keep(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer; /* all goes when the arena does */
}

/* ---- Fields ------------------------------------------------------------- */

/* A name, path or the like: of at most `size` - 1 bytes. */
static int take_text(const char *field, const char *text, char *ret_text,
                     size_t size, struct diag *diag)
{
    size_t length = strlen(text);

    if (length >= size)
        return diag_set(diag, -EBADMSG, "%s: %zu bytes, at most %zu", field,
                        length, size - 1);
    if (!codec_is_clean(text))
        return diag_set(diag, -EBADMSG,
                        "%s: not UTF-8, or with control characters", field);
    memcpy(ret_text, text, length + 1);
    return 0;
}

/* A sentence for people: what is no text in it becomes '?'. */
static int take_reason(const char *field, const char *text,
                       char ret_text[REASON_SIZE], struct diag *diag)
{
    size_t length = strlen(text);

    if (length >= REASON_SIZE)
        return diag_set(diag, -EBADMSG, "%s: %zu bytes, at most %u", field,
                        length, REASON_SIZE - 1);
    memcpy(ret_text, text, length + 1);
    codec_clean(ret_text);
    return 0;
}

static int take_uuid(const char *field, const ProtobufCBinaryData *bytes,
                     struct uuid *ret_uuid, struct diag *diag)
{
    if (bytes->len != sizeof(ret_uuid->bytes))
        return diag_set(diag, -EBADMSG, "%s: a UUID of %zu bytes, not 16",
                        field, bytes->len);
    memcpy(ret_uuid->bytes, bytes->data, sizeof(ret_uuid->bytes));
    return 0;
}

static int take_work(const Lockstep__Work *work, struct work *ret_work,
                     struct diag *diag)
{
    int err;

    if (work == NULL)
        return diag_set(diag, -EBADMSG, "work: missing");
    err =
        take_uuid("work.campaign", &work->campaign, &ret_work->campaign, diag);
    if (err < 0)
        return err;
    if (work->epoch == 0)
        return diag_set(diag, -EBADMSG, "work.epoch: 0, must be 1 or more");
    ret_work->phase = work->phase;
    ret_work->epoch = work->epoch;
    return 0;
}

static int take_flags(uint32_t flags, uint32_t *ret_flags, struct diag *diag)
{
    if ((flags & ~(uint32_t)JOB_OPEN_ALL) != 0)
        return diag_set(diag, -EBADMSG, "open_flags: %#x has unknown bits",
                        flags);
    *ret_flags = flags;
    return 0;
}

/* ---- Messages ----------------------------------------------------------- */

static int take_welcome(const Lockstep__Welcome *welcome, struct order *order,
                        struct diag *diag)
{
    struct order_welcome *to = &order->welcome;
    int err =
        take_uuid("controller", &welcome->controller, &to->controller, diag);

    if (err == 0)
        err = take_text("version", welcome->version, to->version,
                        sizeof(to->version), diag);
    if (err < 0)
        return err;
    if (welcome->epoch == 0)
        return diag_set(diag, -EBADMSG, "epoch: 0, must be 1 or more");
    if (welcome->n_features > CODEC_FEATURES_MAX)
        return diag_set(diag, -EBADMSG, "features: %zu, at most %u",
                        welcome->n_features, CODEC_FEATURES_MAX);
    to->major = welcome->major;
    to->minor = welcome->minor;
    to->epoch = welcome->epoch;
    return 0;
}

static int take_inspect(const Lockstep__Inspect *inspect, struct order *order,
                        struct diag *diag)
{
    uint32_t count = (uint32_t)inspect->n_targets;
    int err = take_uuid("campaign", &inspect->campaign, &order->campaign, diag);

    if (err < 0)
        return err;
    if (inspect->n_targets == 0 || inspect->n_targets > INSPECT_MAX)
        return diag_set(diag, -EBADMSG, "targets: %zu, must be 1 .. %u",
                        inspect->n_targets, INSPECT_MAX);
    order->wishes = calloc(count, sizeof(*order->wishes));
    if (order->wishes == NULL)
        return diag_set(diag, -ENOMEM, "no memory for %u targets", count);
    order->wish_count = count;
    for (uint32_t i = 0; err == 0 && i < count; i++) {
        const Lockstep__InspectTarget *from = inspect->targets[i];
        struct interlock_wish *to = &order->wishes[i];

        to->write = from->write;
        to->create = from->create;
        to->overwrite = from->overwrite;
        to->size_bytes = from->size_bytes;
        err = take_text("path", from->path, to->path, sizeof(to->path), diag);
        if (err == 0)
            err = take_flags(from->open_flags, &to->open_flags, diag);
        if (err == 0 && to->path[0] != '/')
            err = diag_set(diag, -EBADMSG, "path: '%s' does not begin with /",
                           to->path);
        if (err < 0)
            diag_prefix(diag, "targets[%u]", i);
    }
    return err;
}

/* What it may hold is for job_check(). */
static int take_duplicates(const Lockstep__Target *from, struct duplicates *to,
                           struct diag *diag)
{
    if (from->n_dedup_hot > DUPLICATES_HOT_MAX)
        return diag_set(diag, -EBADMSG, "%zu kinds of hot sets, at most %u",
                        from->n_dedup_hot, DUPLICATES_HOT_MAX);
    to->unit = from->dedup_unit;
    to->unique = from->dedup_unique;
    to->sets = from->dedup_sets;
    to->bucket = from->dedup_bucket;
    to->places_alike = from->dedup_places_alike;
    to->flip = (enum duplicates_flip)from->dedup_flip;
    to->hot_first = from->dedup_hot_first;
    to->hot_every = from->dedup_hot_every;
    to->hot_count = (uint32_t)from->n_dedup_hot;
    for (size_t i = 0; i < from->n_dedup_hot; i++)
        to->hot[i] = (struct duplicates_hot){from->dedup_hot[i]->sets,
                                             from->dedup_hot[i]->units};
    return 0;
}

static int take_target(const Lockstep__Target *from, struct job_target *to,
                       struct diag *diag)
{
    int err = take_text("sd", from->sd, to->sd, sizeof(to->sd), diag);

    if (err == 0)
        err = take_text("path", from->path, to->path, sizeof(to->path), diag);
    if (err == 0)
        err = take_text("serial", from->serial, to->serial, sizeof(to->serial),
                        diag);
    if (err == 0)
        err = take_text("wwn", from->wwn, to->wwn, sizeof(to->wwn), diag);
    if (err == 0)
        err = take_flags(from->open_flags, &to->open_flags, diag);
    to->size_bytes = from->size_bytes;
    to->threads = from->threads;
    to->write = from->write;
    to->create = from->create;
    to->overwrite = from->overwrite;
    if (err == 0)
        err = take_text("consent", from->consent, to->consent,
                        sizeof(to->consent), diag);
    if (err == 0)
        err = take_duplicates(from, &to->duplicates, diag);
    to->device_size_bytes = from->device_size_bytes;
    to->disk_sequence = from->disk_sequence;
    return err;
}

static int take_workload(const Lockstep__Workload *from,
                         struct job_workload *to, struct diag *diag)
{
    int err = take_text("name", from->name, to->name, sizeof(to->name), diag);

    if (err < 0)
        return err;
    if (from->n_sizes > JOB_SIZES_MAX)
        return diag_set(diag, -EBADMSG, "sizes: %zu, at most %u", from->n_sizes,
                        JOB_SIZES_MAX);
    to->read_percent = from->read_percent;
    to->seek_percent = from->seek_percent;
    to->end_at_eof = from->end_at_eof;
    to->size_step = from->size_step;
    to->read_hit_percent = from->read_hit_percent;
    to->write_hit_percent = from->write_hit_percent;
    to->stride_min = from->stride_min;
    to->stride_max = from->stride_max;
    to->streams = from->streams;
    to->seek = (enum job_seek)from->seek; /* job_check() looks at it */
    to->poisson_mid = from->poisson_mid;
    to->starts_anywhere = from->starts_anywhere;
    to->size_count = (uint32_t)from->n_sizes;
    for (uint32_t i = 0; i < to->size_count; i++) {
        to->sizes[i].bytes = from->sizes[i]->bytes;
        to->sizes[i].percent = from->sizes[i]->percent;
    }
    return 0;
}

static void take_cell(const Lockstep__Cell *from, struct job_cell *to)
{
    to->workload = from->workload;
    to->target = from->target;
    to->low = from->low;
    to->high = from->high;
    to->iorate = from->iorate;
    to->weight = from->weight;
    to->wrap_low = from->wrap_low;
    to->wrap_high = from->wrap_high;
    to->shift = from->shift;
    to->align = from->align;
    to->hit_bytes = from->hit_bytes;
    to->band_low = from->band_low;
    to->band_high = from->band_high;
    to->priority = from->priority;
    to->joins = from->joins;
}

static int take_steps(const Lockstep__Phase *from, struct job *to,
                      struct diag *diag)
{
    int err = 0;

    if (from->n_steps > JOB_STEPS_MAX)
        return diag_set(diag, -EBADMSG, "steps: %zu, at most %u", from->n_steps,
                        JOB_STEPS_MAX);
    if (from->n_steps > 0)
        err = job_add_steps(to, (uint32_t)from->n_steps);
    if (err < 0)
        return diag_set(diag, err, "no memory for the phase");
    for (uint32_t i = 0; i < to->step_count; i++)
        to->steps[i] = (struct job_step){
            .duration_ns = from->steps[i]->duration_ns,
            .rate = from->steps[i]->rate,
        };
    return 0;
}

static int take_pattern(const Lockstep__Phase *from, struct job *to,
                        struct diag *diag)
{
    int err = 0;

    if (from->pattern.len > JOB_PATTERN_MAX)
        return diag_set(diag, -EBADMSG, "pattern: %zu bytes, at most %u",
                        from->pattern.len, JOB_PATTERN_MAX);
    if (from->pattern.len > 0)
        err = job_set_pattern(to, from->pattern.data, from->pattern.len);
    return err < 0 ? diag_set(diag, err, "no memory for the phase") : 0;
}

static int take_lists(const Lockstep__Phase *from, struct job *to,
                      struct diag *diag)
{
    int err = 0;

    for (uint32_t i = 0; err == 0 && i < to->target_count; i++) {
        err = take_target(from->targets[i], &to->targets[i], diag);
        if (err < 0)
            diag_prefix(diag, "targets[%u]", i);
    }
    for (uint32_t i = 0; err == 0 && i < to->workload_count; i++) {
        err = take_workload(from->workloads[i], &to->workloads[i], diag);
        if (err < 0)
            diag_prefix(diag, "workloads[%u]", i);
    }
    for (uint32_t i = 0; err == 0 && i < to->cell_count; i++)
        take_cell(from->cells[i], &to->cells[i]);
    return err;
}

static int take_kinds(const Lockstep__Phase *from, struct job *to,
                      struct diag *diag)
{
    if (from->kind != LOCKSTEP__PHASE_KIND__PHASE_MEASURE &&
        from->kind != LOCKSTEP__PHASE_KIND__PHASE_FILL)
        return diag_set(diag, -EBADMSG, "kind: %d is unknown", (int)from->kind);
    if ((int)from->arrival < JOB_EXPONENTIAL ||
        (int)from->arrival > JOB_DETERMINISTIC)
        return diag_set(diag, -EBADMSG, "arrival: %d is unknown",
                        (int)from->arrival);
    to->kind = (enum job_kind)from->kind;
    to->arrival = (enum job_arrival)from->arrival;
    return 0;
}

static int take_phase(const Lockstep__Phase *from, struct order *order,
                      struct diag *diag)
{
    struct job *to;
    int err;

    if (from->n_targets > JOB_TARGETS_MAX ||
        from->n_workloads > JOB_WORKLOADS_MAX || from->n_cells > JOB_CELLS_MAX)
        return diag_set(diag, -EBADMSG,
                        "%zu targets, %zu workloads, %zu cells; at most %u, "
                        "%u, %u",
                        from->n_targets, from->n_workloads, from->n_cells,
                        JOB_TARGETS_MAX, JOB_WORKLOADS_MAX, JOB_CELLS_MAX);
    order->job = job_new((uint32_t)from->n_targets, (uint32_t)from->n_workloads,
                         (uint32_t)from->n_cells);
    if (order->job == NULL)
        return diag_set(diag, -ENOMEM, "no memory for the phase");
    to = order->job;
    to->work = order->work;
    to->interval_ns = from->interval_ns;
    to->warmup_intervals = from->warmup_intervals;
    to->measured_intervals = from->measured_intervals;
    to->seed = from->seed;
    to->drain_limit_ns = from->drain_limit_ns;
    to->time_limit_ns = from->time_limit_ns;
    to->spike = from->spike;
    to->compression = from->compression;
    to->workers = from->workers;
    to->spin_percent = from->spin_percent;
    err = take_text("name", from->name, to->name, sizeof(to->name), diag);
    if (err == 0)
        err = take_kinds(from, to, diag);
    if (err == 0)
        err = take_lists(from, to, diag);
    if (err == 0)
        err = take_steps(from, to, diag);
    if (err == 0)
        err = take_pattern(from, to, diag);
    if (err == 0)
        err = job_check(to, diag);
    return err;
}

static int take_prepare(const Lockstep__Prepare *prepare, struct order *order,
                        struct diag *diag)
{
    int err = take_work(prepare->work, &order->work, diag);

    if (err < 0)
        return err;
    if (prepare->phase == NULL)
        return diag_set(diag, -EBADMSG, "phase: missing");
    err = take_phase(prepare->phase, order, diag);
    if (err < 0)
        diag_prefix(diag, "phase");
    return err;
}

static int take_abort(const Lockstep__Abort *abort, struct order *order,
                      struct diag *diag)
{
    int err = take_work(abort->work, &order->work, diag);

    if (err == 0)
        err = take_reason("reason", abort->reason, order->reason, diag);
    return err;
}

static int take_numbered(const Lockstep__Work *work, uint64_t number,
                         struct order *order, struct diag *diag)
{
    order->number = number;
    return take_work(work, &order->work, diag);
}

static int take_command(const Lockstep__Command *command, struct order *order,
                        struct diag *diag)
{
    int err = take_numbered(command->work, command->number, order, diag);

    if (err == 0)
        err = take_text("name", command->name, order->command,
                        sizeof(order->command), diag);
    if (err == 0 && command->number == 0)
        err = diag_set(diag, -EBADMSG, "number: 0, must be 1 or more");
    return err;
}

/* ---- Frames ------------------------------------------------------------- */

static enum order_kind kind_of(Lockstep__Frame__BodyCase body)
{
    static const struct {
        Lockstep__Frame__BodyCase body;
        enum order_kind kind;
    } kinds[] = {
        {LOCKSTEP__FRAME__BODY_HEARTBEAT, ORDER_HEARTBEAT},
        {LOCKSTEP__FRAME__BODY_REJECT, ORDER_REJECT},
        {LOCKSTEP__FRAME__BODY_WELCOME, ORDER_WELCOME},
        {LOCKSTEP__FRAME__BODY_CLOCK_PROBE, ORDER_CLOCK_PROBE},
        {LOCKSTEP__FRAME__BODY_INSPECT, ORDER_INSPECT},
        {LOCKSTEP__FRAME__BODY_PREPARE, ORDER_PREPARE},
        {LOCKSTEP__FRAME__BODY_START, ORDER_START},
        {LOCKSTEP__FRAME__BODY_GO, ORDER_GO},
        {LOCKSTEP__FRAME__BODY_STOP_AFTER, ORDER_STOP_AFTER},
        {LOCKSTEP__FRAME__BODY_ABORT, ORDER_ABORT},
        {LOCKSTEP__FRAME__BODY_RENEW, ORDER_RENEW},
        {LOCKSTEP__FRAME__BODY_SAMPLE_ACK, ORDER_SAMPLE_ACK},
        {LOCKSTEP__FRAME__BODY_RELEASE, ORDER_RELEASE},
        {LOCKSTEP__FRAME__BODY_COMMAND, ORDER_COMMAND},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        if (kinds[i].body == body)
            return kinds[i].kind;
    return ORDER_UNKNOWN;
}

const char *order_kind_name(enum order_kind kind)
{
    static const char *const names[ORDER_KINDS] = {
        [ORDER_UNKNOWN] = "unknown",
        [ORDER_HEARTBEAT] = "Heartbeat",
        [ORDER_REJECT] = "Reject",
        [ORDER_WELCOME] = "Welcome",
        [ORDER_CLOCK_PROBE] = "ClockProbe",
        [ORDER_INSPECT] = "Inspect",
        [ORDER_PREPARE] = "Prepare",
        [ORDER_START] = "Start",
        [ORDER_GO] = "Go",
        [ORDER_STOP_AFTER] = "StopAfter",
        [ORDER_ABORT] = "Abort",
        [ORDER_RENEW] = "Renew",
        [ORDER_SAMPLE_ACK] = "SampleAck",
        [ORDER_RELEASE] = "Release",
        [ORDER_COMMAND] = "Command",
    };

    return names[kind];
}

static int take_frame(const Lockstep__Frame *frame, struct order *order,
                      struct diag *diag)
{
    switch (order->kind) {
    case ORDER_REJECT:
        return take_reason("reason", frame->reject->reason, order->reason,
                           diag);
    case ORDER_WELCOME:
        return take_welcome(frame->welcome, order, diag);
    case ORDER_CLOCK_PROBE:
        order->number = frame->clock_probe->sequence;
        return 0;
    case ORDER_INSPECT:
        return take_inspect(frame->inspect, order, diag);
    case ORDER_PREPARE:
        return take_prepare(frame->prepare, order, diag);
    case ORDER_START:
        return take_numbered(frame->start->work, frame->start->agent_start_ns,
                             order, diag);
    case ORDER_GO:
        return take_work(frame->go->work, &order->work, diag);
    case ORDER_STOP_AFTER:
        return take_numbered(frame->stop_after->work,
                             frame->stop_after->interval, order, diag);
    case ORDER_ABORT:
        return take_abort(frame->abort, order, diag);
    case ORDER_RENEW:
        return take_work(frame->renew->work, &order->work, diag);
    case ORDER_SAMPLE_ACK:
        return take_numbered(frame->sample_ack->work,
                             frame->sample_ack->next_interval, order, diag);
    case ORDER_RELEASE:
        return take_uuid("campaign", &frame->release->campaign,
                         &order->campaign, diag);
    case ORDER_COMMAND:
        return take_command(frame->command, order, diag);
    case ORDER_UNKNOWN:
    case ORDER_HEARTBEAT:
    case ORDER_KINDS:
        break;
    }
    return 0;
}

int codec_decode(const uint8_t *body, size_t length, struct order *ret_order,
                 struct diag *diag)
{
    CLEANUP(arena_freep) struct arena *arena = NULL;
    struct order order = {0};
    ProtobufCAllocator allocator = {arena_take, arena_keep, NULL};
    Lockstep__Frame *frame;
    int err;

    if (length > CODEC_BODY_MAX)
        return diag_set(diag, -EBADMSG, "a frame of %zu bytes, at most %u",
                        length, CODEC_BODY_MAX);
    arena = arena_new(length * CODEC_ARENA_FACTOR + ARENA_FLOOR);
    if (arena == NULL)
        return diag_set(diag, -ENOMEM, "no memory for a frame of %zu bytes",
                        length);
    allocator.allocator_data = arena;
    frame = lockstep__frame__unpack(&allocator, length, body);
    if (frame == NULL)
        return diag_set(diag, -EBADMSG,
                        "%zu bytes that are no frame of this protocol", length);
    order.kind = kind_of(frame->body_case);
    err = take_frame(frame, &order, diag);
    if (err < 0) {
        diag_prefix(diag, "%s", order_kind_name(order.kind));
        order_done(&order);
        return err;
    }
    *ret_order = order;
    return 0;
}

void order_done(struct order *order)
{
    order->job = job_free(order->job);
    free(order->wishes);
    order->wishes = NULL;
}
