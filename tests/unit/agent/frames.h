/*
 * frames.h - what a controller would send, for tests of the agent: frames made
 * with protobuf directly, so that wrong ones can be made too.
 */
#ifndef TESTS_UNIT_AGENT_FRAMES_H
#define TESTS_UNIT_AGENT_FRAMES_H

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/job.h"
#include "proto/lockstep.pb-c.h"

#define FRAMES_MAX (2u << 20)

struct frame_bytes {
    size_t length;
    uint8_t data[FRAMES_MAX];
};

/* The one that the last call made. */
static struct frame_bytes frame_made;

static const struct uuid frames_campaign = {{1, 2, 3, 4, 5, 6, 7, 8}};
static const struct uuid frames_other = {{9, 9, 9}};
static const struct uuid frames_controller = {{0xc0, 0xff, 0xee}};

static inline void frames_pack(const Lockstep__Frame *frame)
{
    assert(lockstep__frame__get_packed_size(frame) <= FRAMES_MAX);
    frame_made.length = lockstep__frame__pack(frame, frame_made.data);
}

static inline ProtobufCBinaryData frames_uuid(const struct uuid *uuid)
{
    return (ProtobufCBinaryData){16, (uint8_t *)(uintptr_t)uuid->bytes};
}

static inline Lockstep__Work frames_work(const struct work *work)
{
    Lockstep__Work to = LOCKSTEP__WORK__INIT;

    to.campaign = frames_uuid(&work->campaign);
    to.phase = work->phase;
    to.epoch = work->epoch;
    return to;
}

/* FRAME(go, GO, Go): the frame of a message that holds nothing but work. */
#define FRAMES_ORDER(function, CASE, Type, member)                             \
    static inline void function(const struct work *work)                       \
    {                                                                          \
        Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;                         \
        Lockstep__##Type body = LOCKSTEP__##CASE##__INIT;                      \
        Lockstep__Work key = frames_work(work);                                \
                                                                               \
        body.work = &key;                                                      \
        frame.body_case = LOCKSTEP__FRAME__BODY_##CASE;                        \
        frame.member = &body;                                                  \
        frames_pack(&frame);                                                   \
    }

/* The same with one number more. */
#define FRAMES_NUMBERED(function, CASE, Type, member, field)                   \
    static inline void function(const struct work *work, uint64_t number)      \
    {                                                                          \
        Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;                         \
        Lockstep__##Type body = LOCKSTEP__##CASE##__INIT;                      \
        Lockstep__Work key = frames_work(work);                                \
                                                                               \
        body.work = &key;                                                      \
        body.field = number;                                                   \
        frame.body_case = LOCKSTEP__FRAME__BODY_##CASE;                        \
        frame.member = &body;                                                  \
        frames_pack(&frame);                                                   \
    }

FRAMES_ORDER(frames_go, GO, Go, go)
FRAMES_ORDER(frames_renew, RENEW, Renew, renew)
FRAMES_NUMBERED(frames_start, START, Start, start, agent_start_ns)
FRAMES_NUMBERED(frames_stop_after, STOP_AFTER, StopAfter, stop_after, interval)
FRAMES_NUMBERED(frames_ack, SAMPLE_ACK, SampleAck, sample_ack, next_interval)

static inline void frames_heartbeat(void)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Heartbeat body = LOCKSTEP__HEARTBEAT__INIT;

    frame.body_case = LOCKSTEP__FRAME__BODY_HEARTBEAT;
    frame.heartbeat = &body;
    frames_pack(&frame);
}

static inline void frames_reject(const char *reason)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Reject body = LOCKSTEP__REJECT__INIT;

    body.reason = (char *)(uintptr_t)reason;
    frame.body_case = LOCKSTEP__FRAME__BODY_REJECT;
    frame.reject = &body;
    frames_pack(&frame);
}

static inline void frames_welcome(const struct uuid *controller, uint64_t epoch,
                                  uint32_t major)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Welcome body = LOCKSTEP__WELCOME__INIT;
    static char version[] = "0.1.0";

    body.major = major;
    body.minor = 7; /* newer ones are fine */
    body.controller = frames_uuid(controller);
    body.epoch = epoch;
    body.version = version;
    frame.body_case = LOCKSTEP__FRAME__BODY_WELCOME;
    frame.welcome = &body;
    frames_pack(&frame);
}

static inline void frames_probe(uint64_t sequence)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__ClockProbe body = LOCKSTEP__CLOCK_PROBE__INIT;

    body.sequence = sequence;
    frame.body_case = LOCKSTEP__FRAME__BODY_CLOCK_PROBE;
    frame.clock_probe = &body;
    frames_pack(&frame);
}

static inline void frames_abort(const struct work *work, const char *reason)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Abort body = LOCKSTEP__ABORT__INIT;
    Lockstep__Work key = frames_work(work);

    body.work = &key;
    body.reason = (char *)(uintptr_t)reason;
    frame.body_case = LOCKSTEP__FRAME__BODY_ABORT;
    frame.abort = &body;
    frames_pack(&frame);
}

static inline void frames_command(const struct work *work, uint32_t number,
                                  const char *name)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Command body = LOCKSTEP__COMMAND__INIT;
    Lockstep__Work key = frames_work(work);

    body.work = &key;
    body.number = number;
    body.name = (char *)(uintptr_t)name;
    frame.body_case = LOCKSTEP__FRAME__BODY_COMMAND;
    frame.command = &body;
    frames_pack(&frame);
}

static inline void frames_release(const struct uuid *campaign)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Release body = LOCKSTEP__RELEASE__INIT;

    body.campaign = frames_uuid(campaign);
    frame.body_case = LOCKSTEP__FRAME__BODY_RELEASE;
    frame.release = &body;
    frames_pack(&frame);
}

static inline void frames_inspect(const struct uuid *campaign, const char *path,
                                  uint32_t count, uint32_t open_flags)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Inspect body = LOCKSTEP__INSPECT__INIT;
    Lockstep__InspectTarget target = LOCKSTEP__INSPECT_TARGET__INIT;
    Lockstep__InspectTarget **targets = calloc(count + 1u, sizeof(*targets));

    assert(targets != NULL);
    target.path = (char *)(uintptr_t)path;
    target.write = 1;
    target.size_bytes = 4096;
    target.open_flags = open_flags;
    for (uint32_t i = 0; i < count; i++)
        targets[i] = &target;
    body.campaign = frames_uuid(campaign);
    body.n_targets = count;
    body.targets = targets;
    frame.body_case = LOCKSTEP__FRAME__BODY_INSPECT;
    frame.inspect = &body;
    frames_pack(&frame);
    free(targets);
}

/* ---- Prepare ------------------------------------------------------------ */

/* A sound job: one target, one workload that reads and writes, one cell; ten
 * intervals of a second, the first two of them to warm up. */
static inline struct job *frames_job(uint32_t phase, uint64_t epoch)
{
    struct job *job = job_new(1, 1, 1);

    assert(job != NULL);
    job->work = (struct work){frames_campaign, phase, epoch};
    (void)snprintf(job->name, sizeof(job->name), "rd%u", phase);
    job->interval_ns = NS_PER_S;
    job->warmup_intervals = 2;
    job->measured_intervals = 8;
    job->seed = 42;
    job->drain_limit_ns = 5 * NS_PER_S;
    job->time_limit_ns = 60 * NS_PER_S;
    job->targets[0] = (struct job_target){
        .sd = "sd1",
        .path = "/dev/nvme0n1",
        .open_flags = JOB_OPEN_DIRECT,
        .size_bytes = 1u << 30,
        .threads = 8,
        .write = true,
        .serial = "S1",
        .wwn = "eui.1",
        .device_size_bytes = 1u << 30,
        .disk_sequence = 3,
    };
    job->workloads[0] = (struct job_workload){
        .name = "wd1",
        .read_percent = 70,
        .seek_percent = 100,
        .sizes = {{4096, 90}, {8192, 10}},
        .size_count = 2,
    };
    job->cells[0] = (struct job_cell){
        .low = 4096,
        .high = 1u << 30,
        .iorate = 1000,
        .weight = 1,
    };
    return job;
}

struct frames_prepare {
    Lockstep__Prepare body;
    Lockstep__Work work;
    Lockstep__Phase phase;
    Lockstep__Target targets[4];
    Lockstep__Workload workloads[4];
    Lockstep__SizeShare sizes[4][JOB_SIZES_MAX];
    Lockstep__SizeShare *size_lists[4][JOB_SIZES_MAX];
    Lockstep__Cell cells[4];
    Lockstep__Target *target_list[JOB_TARGETS_MAX + 1];
    Lockstep__Workload *workload_list[JOB_WORKLOADS_MAX + 1];
    Lockstep__Cell *cell_list[JOB_CELLS_MAX + 1];
};

static inline void frames_fill_target(const struct job_target *from,
                                      Lockstep__Target *to)
{
    lockstep__target__init(to);
    to->sd = (char *)(uintptr_t)from->sd;
    to->path = (char *)(uintptr_t)from->path;
    to->open_flags = from->open_flags;
    to->size_bytes = from->size_bytes;
    to->threads = from->threads;
    to->write = from->write;
    to->create = from->create;
    to->serial = (char *)(uintptr_t)from->serial;
    to->wwn = (char *)(uintptr_t)from->wwn;
    to->device_size_bytes = from->device_size_bytes;
    to->disk_sequence = from->disk_sequence;
}

static inline void frames_fill_workload(struct frames_prepare *prepare,
                                        const struct job_workload *from,
                                        uint32_t index)
{
    Lockstep__Workload *to = &prepare->workloads[index];

    lockstep__workload__init(to);
    to->name = (char *)(uintptr_t)from->name;
    to->read_percent = from->read_percent;
    to->seek_percent = from->seek_percent;
    to->end_at_eof = from->end_at_eof;
    to->n_sizes = from->size_count;
    to->sizes = prepare->size_lists[index];
    for (uint32_t i = 0; i < from->size_count; i++) {
        lockstep__size_share__init(&prepare->sizes[index][i]);
        prepare->sizes[index][i].bytes = from->sizes[i].bytes;
        prepare->sizes[index][i].percent = from->sizes[i].percent;
        prepare->size_lists[index][i] = &prepare->sizes[index][i];
    }
}

static inline void frames_fill_cell(const struct job_cell *from,
                                    Lockstep__Cell *to)
{
    lockstep__cell__init(to);
    to->workload = from->workload;
    to->target = from->target;
    to->low = from->low;
    to->high = from->high;
    to->iorate = from->iorate;
    to->weight = from->weight;
}

/* At most four of each; the message is in `prepare`, to be spoilt by hand. */
static inline void frames_fill_prepare(struct frames_prepare *prepare,
                                       const struct job *job)
{
    Lockstep__Phase *phase = &prepare->phase;

    lockstep__prepare__init(&prepare->body);
    lockstep__phase__init(phase);
    prepare->work = frames_work(&job->work);
    prepare->body.work = &prepare->work;
    prepare->body.phase = phase;
    phase->name = (char *)(uintptr_t)job->name;
    phase->kind = (Lockstep__PhaseKind)job->kind;
    phase->arrival = (Lockstep__Arrival)job->arrival;
    phase->interval_ns = job->interval_ns;
    phase->warmup_intervals = job->warmup_intervals;
    phase->measured_intervals = job->measured_intervals;
    phase->seed = job->seed;
    phase->drain_limit_ns = job->drain_limit_ns;
    phase->time_limit_ns = job->time_limit_ns;
    phase->n_targets = job->target_count;
    phase->targets = prepare->target_list;
    phase->n_workloads = job->workload_count;
    phase->workloads = prepare->workload_list;
    phase->n_cells = job->cell_count;
    phase->cells = prepare->cell_list;
    for (uint32_t i = 0; i < job->target_count; i++) {
        frames_fill_target(&job->targets[i], &prepare->targets[i]);
        prepare->target_list[i] = &prepare->targets[i];
    }
    for (uint32_t i = 0; i < job->workload_count; i++) {
        frames_fill_workload(prepare, &job->workloads[i], i);
        prepare->workload_list[i] = &prepare->workloads[i];
    }
    for (uint32_t i = 0; i < job->cell_count; i++) {
        frames_fill_cell(&job->cells[i], &prepare->cells[i]);
        prepare->cell_list[i] = &prepare->cells[i];
    }
}

static inline void frames_pack_prepare(struct frames_prepare *prepare)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;

    frame.body_case = LOCKSTEP__FRAME__BODY_PREPARE;
    frame.prepare = &prepare->body;
    frames_pack(&frame);
}

static inline void frames_prepare(const struct job *job)
{
    static struct frames_prepare prepare;

    frames_fill_prepare(&prepare, job);
    frames_pack_prepare(&prepare);
}

#endif
