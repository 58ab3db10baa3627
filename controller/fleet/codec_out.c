/* What the controller says. */
#include "common/arena.h"
#include "common/frame.h"
#include "controller/fleet/codec.h"
#include "controller/fleet/codec_check.h"
#include "controller/fleet/slice.h"
#include "controller/plan/plan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* protobuf-c's strings are not const, though it does not write them. */
static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static ProtobufCBinaryData bytes_of(const void *data, size_t length)
{
    return (ProtobufCBinaryData){
        .len = length,
        .data = (uint8_t *)(uintptr_t)data,
    };
}

static ProtobufCBinaryData uuid_bytes(const struct uuid *uuid)
{
    return bytes_of(uuid->bytes, sizeof(uuid->bytes));
}

/* A message of its type, initialised, in the arena; NULL without memory. */
#define MESSAGE(arena, type, init)                                             \
    ((type *)message(arena, sizeof(type), &(const type)init))

static void *message(struct arena *arena, size_t size, const void *initial)
{
    return arena_memdup(arena, initial, size);
}

static Lockstep__Work *put_work(struct arena *arena,
                                const struct wire_work *from)
{
    Lockstep__Work *work = MESSAGE(arena, Lockstep__Work, LOCKSTEP__WORK__INIT);

    if (work == NULL)
        return NULL;
    work->campaign = uuid_bytes(&from->campaign);
    work->phase = from->phase;
    work->epoch = from->epoch;
    return work;
}

static int put_welcome(struct arena *arena, const struct wire_out *out,
                       Lockstep__Frame *frame)
{
    Lockstep__Welcome *welcome =
        MESSAGE(arena, Lockstep__Welcome, LOCKSTEP__WELCOME__INIT);

    if (welcome == NULL)
        return -ENOMEM;
    welcome->major = WIRE_MAJOR;
    welcome->minor = WIRE_MINOR;
    welcome->controller = uuid_bytes(&out->welcome.controller);
    welcome->epoch = out->welcome.epoch;
    welcome->version = text(LOCKSTEP_VERSION);
    frame->body_case = LOCKSTEP__FRAME__BODY_WELCOME;
    frame->welcome = welcome;
    return 0;
}

static int put_reject(struct arena *arena, const struct wire_out *out,
                      Lockstep__Frame *frame)
{
    frame->reject = MESSAGE(arena, Lockstep__Reject, LOCKSTEP__REJECT__INIT);
    if (frame->reject == NULL)
        return -ENOMEM;
    frame->reject->reason = text(out->reject);
    frame->body_case = LOCKSTEP__FRAME__BODY_REJECT;
    return 0;
}

static int put_heartbeat(struct arena *arena, const struct wire_out *out,
                         Lockstep__Frame *frame)
{
    (void)out;
    frame->heartbeat =
        MESSAGE(arena, Lockstep__Heartbeat, LOCKSTEP__HEARTBEAT__INIT);
    frame->body_case = LOCKSTEP__FRAME__BODY_HEARTBEAT;
    return frame->heartbeat == NULL ? -ENOMEM : 0;
}

static int put_clock_probe(struct arena *arena, const struct wire_out *out,
                           Lockstep__Frame *frame)
{
    frame->clock_probe =
        MESSAGE(arena, Lockstep__ClockProbe, LOCKSTEP__CLOCK_PROBE__INIT);
    if (frame->clock_probe == NULL)
        return -ENOMEM;
    frame->clock_probe->sequence = out->clock_probe;
    frame->body_case = LOCKSTEP__FRAME__BODY_CLOCK_PROBE;
    return 0;
}

static int put_inspect(struct arena *arena, const struct wire_out *out,
                       Lockstep__Frame *frame)
{
    const struct wire_inspect *from = &out->inspect;
    Lockstep__Inspect *inspect =
        MESSAGE(arena, Lockstep__Inspect, LOCKSTEP__INSPECT__INIT);
    Lockstep__InspectTarget **list =
        ARENA_ARRAY(arena, from->target_count, Lockstep__InspectTarget *);

    if (inspect == NULL || list == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->target_count; i++) {
        list[i] = MESSAGE(arena, Lockstep__InspectTarget,
                          LOCKSTEP__INSPECT_TARGET__INIT);
        if (list[i] == NULL)
            return -ENOMEM;
        list[i]->path = text(from->targets[i].path);
        list[i]->write = from->targets[i].write;
        list[i]->create = from->targets[i].create;
        list[i]->open_flags = from->targets[i].open_flags;
        list[i]->size_bytes = from->targets[i].size_bytes;
        list[i]->overwrite = from->targets[i].overwrite;
    }
    inspect->campaign = uuid_bytes(&from->campaign);
    inspect->targets = list;
    inspect->n_targets = from->target_count;
    frame->inspect = inspect;
    frame->body_case = LOCKSTEP__FRAME__BODY_INSPECT;
    return 0;
}

/* ---- Prepare: a host's slice of a run ---------------------------------- */

static const Lockstep__DedupFlip flips[] = {
    [PLAN_FLIP_NO] = LOCKSTEP__DEDUP_FLIP__DEDUP_STAY,
    [PLAN_FLIP_YES] = LOCKSTEP__DEDUP_FLIP__DEDUP_FLIP,
    [PLAN_FLIP_HOT] = LOCKSTEP__DEDUP_FLIP__DEDUP_FLIP_HOT,
};

static int put_duplicates(struct arena *arena, const struct plan_dedup *from,
                          Lockstep__Target *to)
{
    if (from->contents == 0)
        return 0;
    to->dedup_unit = from->unit;
    to->dedup_unique = from->unique;
    to->dedup_sets = from->contents;
    to->dedup_bucket = from->bucket;
    to->dedup_places_alike = from->places_alike;
    to->dedup_flip = flips[from->flip];
    to->dedup_hot_first = from->hot_first;
    to->dedup_hot_every = from->hot_every;
    to->dedup_hot = ARENA_ARRAY(arena, from->hot_count, Lockstep__DedupHot *);
    if (to->dedup_hot == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->hot_count; i++) {
        to->dedup_hot[i] =
            MESSAGE(arena, Lockstep__DedupHot, LOCKSTEP__DEDUP_HOT__INIT);
        if (to->dedup_hot[i] == NULL)
            return -ENOMEM;
        to->dedup_hot[i]->sets = from->hot[i].sets;
        to->dedup_hot[i]->units = from->hot[i].units;
    }
    to->n_dedup_hot = from->hot_count;
    return 0;
}

static Lockstep__Target *put_target(struct arena *arena,
                                    const struct plan *plan,
                                    const struct plan_run *run, uint32_t index)
{
    const struct plan_run_target *part = &run->targets[index];
    const struct plan_target *from = &plan->targets[part->target];
    Lockstep__Target *to =
        MESSAGE(arena, Lockstep__Target, LOCKSTEP__TARGET__INIT);

    if (to == NULL)
        return NULL;
    to->sd = text(from->sd);
    to->path = text(from->path);
    to->open_flags = part->open_flags;
    to->size_bytes = from->size_bytes;
    to->threads = part->threads;
    to->write = part->write;
    to->create = run->kind == PLAN_RUN_FILL;
    to->overwrite = from->overwrite;
    if (from->overwrite)
        to->consent = text(from->facts.content);
    if (put_duplicates(arena, &from->dedup, to) != 0)
        return NULL;
    if (from->facts.known && from->facts.is_block) {
        to->serial = text(from->facts.serial);
        to->wwn = text(from->facts.wwn);
        to->device_size_bytes = from->facts.size_bytes;
        to->disk_sequence = from->facts.disk_sequence;
    }
    return to;
}

static const Lockstep__Seek seeks[] = {
    [PLAN_SEEK_UNIFORM] = LOCKSTEP__SEEK__SEEK_UNIFORM,
    [PLAN_SEEK_POISSON] = LOCKSTEP__SEEK__SEEK_POISSON,
    [PLAN_SEEK_BAND] = LOCKSTEP__SEEK__SEEK_BAND,
};

static Lockstep__Workload *put_workload(struct arena *arena,
                                        const struct plan_workload *from)
{
    Lockstep__Workload *to =
        MESSAGE(arena, Lockstep__Workload, LOCKSTEP__WORKLOAD__INIT);
    Lockstep__SizeShare **sizes =
        ARENA_ARRAY(arena, from->size_count, Lockstep__SizeShare *);

    if (to == NULL || sizes == NULL)
        return NULL;
    for (uint32_t i = 0; i < from->size_count; i++) {
        sizes[i] =
            MESSAGE(arena, Lockstep__SizeShare, LOCKSTEP__SIZE_SHARE__INIT);
        if (sizes[i] == NULL)
            return NULL;
        sizes[i]->bytes = from->sizes[i].bytes;
        sizes[i]->percent = from->sizes[i].percent;
    }
    to->name = text(from->name);
    to->read_percent = from->read_percent;
    to->seek_percent = from->seek_percent;
    to->end_at_eof = from->end_at_eof;
    to->size_step = from->size_step;
    to->read_hit_percent = from->read_hit_percent;
    to->write_hit_percent = from->write_hit_percent;
    to->stride_min = from->stride_min;
    to->stride_max = from->stride_max;
    to->streams = from->streams;
    to->seek = seeks[from->seek];
    to->poisson_mid = from->poisson_mid;
    to->starts_anywhere = from->starts_anywhere;
    to->sizes = sizes;
    to->n_sizes = from->size_count;
    return to;
}

/* The hit area counts only where some requests hit it. */
static uint64_t hit_bytes(const struct plan_run *run,
                          const struct plan_cell *cell)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];

    return workload->read_hit_percent > 0 || workload->write_hit_percent > 0
               ? cell->hit_area
               : 0;
}

/* What the host calls the cell that this one joins: 1 + its number; 0: none. */
static uint32_t joins(const struct slice *slice, const struct plan_cell *cell)
{
    for (uint32_t i = 0; cell->joins > 0 && i < slice->cell_count; i++)
        if (slice->cells[i] == cell->joins - 1)
            return i + 1;
    return 0;
}

/* At the maximum a slot draws its workload by share; an agent wants it > 0. */
static Lockstep__Cell *put_cell(struct arena *arena,
                                const struct wire_prepare *from,
                                const struct plan_run *run, uint32_t index)
{
    const struct plan_cell *cell = &run->cells[from->slice->cells[index]];
    const struct plan_workload *workload = &run->workloads[cell->workload];
    Lockstep__Cell *to = MESSAGE(arena, Lockstep__Cell, LOCKSTEP__CELL__INIT);
    double stretch = 1;

    if (to == NULL)
        return NULL;
    if (from->shares != NULL && workload->rate == 0 && workload->skew > 0)
        stretch = from->shares[cell->workload] / workload->skew;
    to->workload = from->slice->cell_workload[index];
    to->target = from->slice->cell_target[index];
    to->low = cell->low;
    to->high = cell->high;
    to->iorate = from->cell_rates != NULL
                     ? from->cell_rates[from->slice->cells[index]]
                     : plan_cell_rate(run, cell, from->rate) * stretch;
    to->weight = cell->share > 0 ? cell->share : 1;
    to->wrap_low = cell->wrap_low;
    to->wrap_high = cell->wrap_high;
    to->shift = cell->shift;
    to->align = cell->align;
    to->hit_bytes = hit_bytes(run, cell);
    to->band_low = cell->band_low;
    to->band_high = cell->band_high;
    to->priority = run->workloads[cell->workload].priority;
    to->joins = joins(from->slice, cell);
    return to;
}

static int put_lists(struct arena *arena, const struct wire_prepare *from,
                     const struct plan_run *run, Lockstep__Phase *phase)
{
    const struct slice *slice = from->slice;

    phase->targets =
        ARENA_ARRAY(arena, slice->target_count, Lockstep__Target *);
    phase->workloads =
        ARENA_ARRAY(arena, slice->workload_count, Lockstep__Workload *);
    phase->cells = ARENA_ARRAY(arena, slice->cell_count, Lockstep__Cell *);
    if (phase->targets == NULL || phase->workloads == NULL ||
        phase->cells == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < slice->target_count; i++)
        if ((phase->targets[i] =
                 put_target(arena, from->plan, run, slice->targets[i])) == NULL)
            return -ENOMEM;
    for (uint32_t i = 0; i < slice->workload_count; i++)
        if ((phase->workloads[i] = put_workload(
                 arena, &run->workloads[slice->workloads[i]])) == NULL)
            return -ENOMEM;
    for (uint32_t i = 0; i < slice->cell_count; i++)
        if ((phase->cells[i] = put_cell(arena, from, run, i)) == NULL)
            return -ENOMEM;
    phase->n_targets = slice->target_count;
    phase->n_workloads = slice->workload_count;
    phase->n_cells = slice->cell_count;
    return 0;
}

static uint64_t intervals_of(uint64_t span_ns, uint64_t interval_ns)
{
    return (span_ns + interval_ns - 1) / interval_ns;
}

static const Lockstep__Arrival arrivals[] = {
    [PLAN_ARRIVAL_EXPONENTIAL] = LOCKSTEP__ARRIVAL__ARRIVAL_EXPONENTIAL,
    [PLAN_ARRIVAL_UNIFORM] = LOCKSTEP__ARRIVAL__ARRIVAL_UNIFORM,
    [PLAN_ARRIVAL_DETERMINISTIC] = LOCKSTEP__ARRIVAL__ARRIVAL_DETERMINISTIC,
};

static int put_steps(struct arena *arena, const struct plan_run *run,
                     Lockstep__Phase *phase)
{
    if (run->step_count == 0)
        return 0;
    phase->steps = ARENA_ARRAY(arena, run->step_count, Lockstep__Step *);
    if (phase->steps == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < run->step_count; i++) {
        phase->steps[i] = MESSAGE(arena, Lockstep__Step, LOCKSTEP__STEP__INIT);
        if (phase->steps[i] == NULL)
            return -ENOMEM;
        phase->steps[i]->rate = run->steps[i].rate;
        phase->steps[i]->duration_ns = run->steps[i].duration_ns;
    }
    phase->n_steps = run->step_count;
    return 0;
}

static bool writes(const struct plan_run *run)
{
    for (uint32_t i = 0; i < run->workload_count; i++)
        if (run->workloads[i].read_percent < 100)
            return true;
    return run->kind == PLAN_RUN_FILL;
}

static Lockstep__Phase *put_phase(struct arena *arena,
                                  const struct wire_prepare *from)
{
    const struct plan_run *run = &from->plan->runs[from->slice->run];
    Lockstep__Phase *phase =
        MESSAGE(arena, Lockstep__Phase, LOCKSTEP__PHASE__INIT);

    if (phase == NULL || put_lists(arena, from, run, phase) != 0)
        return NULL;
    phase->name = text(run->name);
    phase->kind = run->kind == PLAN_RUN_FILL
                      ? LOCKSTEP__PHASE_KIND__PHASE_FILL
                      : LOCKSTEP__PHASE_KIND__PHASE_MEASURE;
    phase->interval_ns = run->interval_ns;
    phase->warmup_intervals =
        (uint32_t)intervals_of(run->warmup_ns, run->interval_ns);
    phase->measured_intervals =
        run->kind == PLAN_RUN_FILL
            ? 0
            : intervals_of(run->elapsed_ns, run->interval_ns);
    phase->arrival = arrivals[run->arrival];
    phase->seed = from->seed;
    phase->drain_limit_ns = from->drain_limit_ns;
    phase->time_limit_ns = from->time_limit_ns;
    phase->spike = run->spike;
    phase->compression = run->compression;
    phase->workers = from->plan->workers;
    phase->spin_percent = run->spin_percent;
    if (writes(run))
        phase->pattern =
            bytes_of(from->plan->pattern, from->plan->pattern_length);
    return put_steps(arena, run, phase) == 0 ? phase : NULL;
}

static int put_prepare(struct arena *arena, const struct wire_out *out,
                       Lockstep__Frame *frame)
{
    Lockstep__Prepare *prepare =
        MESSAGE(arena, Lockstep__Prepare, LOCKSTEP__PREPARE__INIT);

    if (prepare == NULL)
        return -ENOMEM;
    prepare->work = put_work(arena, &out->prepare.work);
    prepare->phase = put_phase(arena, &out->prepare);
    if (prepare->work == NULL || prepare->phase == NULL)
        return -ENOMEM;
    frame->prepare = prepare;
    frame->body_case = LOCKSTEP__FRAME__BODY_PREPARE;
    return 0;
}

/* ---- Orders about work ----------------------------------------------------
 */

static int put_start(struct arena *arena, const struct wire_out *out,
                     Lockstep__Frame *frame)
{
    Lockstep__Start *start =
        MESSAGE(arena, Lockstep__Start, LOCKSTEP__START__INIT);

    if (start == NULL)
        return -ENOMEM;
    start->work = put_work(arena, &out->start.work);
    start->agent_start_ns = out->start.agent_start_ns;
    frame->start = start;
    frame->body_case = LOCKSTEP__FRAME__BODY_START;
    return start->work == NULL ? -ENOMEM : 0;
}

static int put_go(struct arena *arena, const struct wire_out *out,
                  Lockstep__Frame *frame)
{
    Lockstep__Go *go = MESSAGE(arena, Lockstep__Go, LOCKSTEP__GO__INIT);

    if (go == NULL)
        return -ENOMEM;
    go->work = put_work(arena, &out->go);
    frame->go = go;
    frame->body_case = LOCKSTEP__FRAME__BODY_GO;
    return go->work == NULL ? -ENOMEM : 0;
}

static int put_stop_after(struct arena *arena, const struct wire_out *out,
                          Lockstep__Frame *frame)
{
    Lockstep__StopAfter *stop =
        MESSAGE(arena, Lockstep__StopAfter, LOCKSTEP__STOP_AFTER__INIT);

    if (stop == NULL)
        return -ENOMEM;
    stop->work = put_work(arena, &out->stop_after.work);
    stop->interval = out->stop_after.interval;
    frame->stop_after = stop;
    frame->body_case = LOCKSTEP__FRAME__BODY_STOP_AFTER;
    return stop->work == NULL ? -ENOMEM : 0;
}

static int put_abort(struct arena *arena, const struct wire_out *out,
                     Lockstep__Frame *frame)
{
    Lockstep__Abort *order =
        MESSAGE(arena, Lockstep__Abort, LOCKSTEP__ABORT__INIT);

    if (order == NULL)
        return -ENOMEM;
    order->work = put_work(arena, &out->abort.work);
    order->reason = text(out->abort.reason);
    frame->abort = order;
    frame->body_case = LOCKSTEP__FRAME__BODY_ABORT;
    return order->work == NULL ? -ENOMEM : 0;
}

static int put_renew(struct arena *arena, const struct wire_out *out,
                     Lockstep__Frame *frame)
{
    Lockstep__Renew *renew =
        MESSAGE(arena, Lockstep__Renew, LOCKSTEP__RENEW__INIT);

    if (renew == NULL)
        return -ENOMEM;
    renew->work = put_work(arena, &out->renew);
    frame->renew = renew;
    frame->body_case = LOCKSTEP__FRAME__BODY_RENEW;
    return renew->work == NULL ? -ENOMEM : 0;
}

static int put_sample_ack(struct arena *arena, const struct wire_out *out,
                          Lockstep__Frame *frame)
{
    Lockstep__SampleAck *ack =
        MESSAGE(arena, Lockstep__SampleAck, LOCKSTEP__SAMPLE_ACK__INIT);

    if (ack == NULL)
        return -ENOMEM;
    ack->work = put_work(arena, &out->sample_ack.work);
    ack->next_interval = out->sample_ack.interval;
    frame->sample_ack = ack;
    frame->body_case = LOCKSTEP__FRAME__BODY_SAMPLE_ACK;
    return ack->work == NULL ? -ENOMEM : 0;
}

static int put_release(struct arena *arena, const struct wire_out *out,
                       Lockstep__Frame *frame)
{
    frame->release = MESSAGE(arena, Lockstep__Release, LOCKSTEP__RELEASE__INIT);
    if (frame->release == NULL)
        return -ENOMEM;
    frame->release->campaign = uuid_bytes(&out->release);
    frame->body_case = LOCKSTEP__FRAME__BODY_RELEASE;
    return 0;
}

static int put_command(struct arena *arena, const struct wire_out *out,
                       Lockstep__Frame *frame)
{
    Lockstep__Command *command =
        MESSAGE(arena, Lockstep__Command, LOCKSTEP__COMMAND__INIT);

    if (command == NULL)
        return -ENOMEM;
    command->work = put_work(arena, &out->command.work);
    command->number = out->command.number;
    command->name = text(out->command.name);
    frame->body_case = LOCKSTEP__FRAME__BODY_COMMAND;
    frame->command = command;
    return command->work == NULL ? -ENOMEM : 0;
}

/* ---- To shells ------------------------------------------------------------
 */

static int put_answer(struct arena *arena, const struct wire_out *out,
                      Lockstep__Frame *frame)
{
    Lockstep__Answer *answer =
        MESSAGE(arena, Lockstep__Answer, LOCKSTEP__ANSWER__INIT);

    if (answer == NULL)
        return -ENOMEM;
    answer->id = out->answer.id;
    answer->status = out->answer.status;
    answer->last = out->answer.last;
    answer->document = bytes_of(out->answer.text, out->answer.length);
    frame->answer = answer;
    frame->body_case = LOCKSTEP__FRAME__BODY_ANSWER;
    return 0;
}

static int put_event(struct arena *arena, const struct wire_out *out,
                     Lockstep__Frame *frame)
{
    Lockstep__Event *event =
        MESSAGE(arena, Lockstep__Event, LOCKSTEP__EVENT__INIT);

    if (event == NULL)
        return -ENOMEM;
    event->id = out->event.id;
    event->more = !out->event.last;
    event->document = bytes_of(out->event.text, out->event.length);
    frame->event = event;
    frame->body_case = LOCKSTEP__FRAME__BODY_EVENT;
    return 0;
}

static int (*const putters[])(struct arena *, const struct wire_out *,
                              Lockstep__Frame *) = {
    [WIRE_OUT_HEARTBEAT] = put_heartbeat,
    [WIRE_OUT_REJECT] = put_reject,
    [WIRE_OUT_WELCOME] = put_welcome,
    [WIRE_OUT_CLOCK_PROBE] = put_clock_probe,
    [WIRE_OUT_INSPECT] = put_inspect,
    [WIRE_OUT_PREPARE] = put_prepare,
    [WIRE_OUT_START] = put_start,
    [WIRE_OUT_GO] = put_go,
    [WIRE_OUT_STOP_AFTER] = put_stop_after,
    [WIRE_OUT_ABORT] = put_abort,
    [WIRE_OUT_RENEW] = put_renew,
    [WIRE_OUT_SAMPLE_ACK] = put_sample_ack,
    [WIRE_OUT_RELEASE] = put_release,
    [WIRE_OUT_COMMAND] = put_command,
    [WIRE_OUT_ANSWER] = put_answer,
    [WIRE_OUT_EVENT] = put_event,
};

int wire_encode(const struct wire_out *out, struct arena *arena,
                uint8_t **ret_body, size_t *ret_length)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    uint8_t *body;
    size_t length;

    assert((size_t)out->kind < ARRAY_LENGTH(putters));
    if (putters[out->kind](arena, out, &frame) != 0)
        return -ENOMEM;
    length = lockstep__frame__get_packed_size(&frame);
    if (length > FRAME_BODY_MAX)
        return -EMSGSIZE;
    body = malloc(length);
    if (body == NULL)
        return -ENOMEM;
    *ret_length = lockstep__frame__pack(&frame, body);
    *ret_body = body;
    return 0;
}
