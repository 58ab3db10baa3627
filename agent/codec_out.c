/* codec_out.c - what the agent says, except samples. */
#include "agent/codec.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/codec_pack.h"
#include "agent/interlock.h"
#include "agent/inventory.h"
#include "proto/lockstep.pb-c.h"

/* What an inventory may take, the frame's own bytes left out. */
#define INVENTORY_BYTES (CODEC_BODY_MAX - 16384u)

void codec_bytes_done(struct codec_bytes *bytes)
{
    free(bytes->data);
    bytes->data = NULL;
    bytes->length = 0;
}

struct codec_bytes codec_pack(const Lockstep__Frame *frame)
{
    size_t length = lockstep__frame__get_packed_size(frame);
    struct codec_bytes bytes = {malloc(length + 1), length};

    assert(length <= CODEC_BODY_MAX);
    assert(bytes.data != NULL);
    (void)lockstep__frame__pack(frame, bytes.data);
    return bytes;
}

ProtobufCBinaryData codec_pack_uuid(const struct uuid *uuid)
{
    /* protobuf-c has no const; packing only reads. */
    return (ProtobufCBinaryData){
        .len = sizeof(uuid->bytes),
        .data = (uint8_t *)(uintptr_t)uuid->bytes,
    };
}

void codec_pack_work(const struct work *work, Lockstep__Work *ret_work)
{
    lockstep__work__init(ret_work);
    ret_work->campaign = codec_pack_uuid(&work->campaign);
    ret_work->phase = work->phase;
    ret_work->epoch = work->epoch;
}

/* Texts are copied clean: what a drive or file name holds may be anything. */
struct text {
    char clean[REASON_SIZE];
};

static char *clean(struct text *text, const char *from)
{
    (void)snprintf(text->clean, sizeof(text->clean), "%s", from);
    codec_clean(text->clean);
    return text->clean;
}

struct codec_bytes codec_heartbeat(void)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Heartbeat heartbeat = LOCKSTEP__HEARTBEAT__INIT;

    frame.body_case = LOCKSTEP__FRAME__BODY_HEARTBEAT;
    frame.heartbeat = &heartbeat;
    return codec_pack(&frame);
}

struct codec_bytes codec_reject(const char *reason)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Reject reject = LOCKSTEP__REJECT__INIT;
    struct text text;

    reject.reason = clean(&text, reason);
    frame.body_case = LOCKSTEP__FRAME__BODY_REJECT;
    frame.reject = &reject;
    return codec_pack(&frame);
}

static Lockstep__AgentState state_of(enum phase_state state)
{
    static const Lockstep__AgentState states[PHASE_STATES] = {
        [PHASE_IDLE] = LOCKSTEP__AGENT_STATE__AGENT_IDLE,
        [PHASE_PREPARING] = LOCKSTEP__AGENT_STATE__AGENT_PREPARING,
        [PHASE_READY] = LOCKSTEP__AGENT_STATE__AGENT_READY,
        [PHASE_ARMED] = LOCKSTEP__AGENT_STATE__AGENT_ARMED,
        [PHASE_CLEARED] = LOCKSTEP__AGENT_STATE__AGENT_ARMED,
        [PHASE_RUNNING] = LOCKSTEP__AGENT_STATE__AGENT_RUNNING,
        [PHASE_DRAINING] = LOCKSTEP__AGENT_STATE__AGENT_DRAINING,
        [PHASE_HOLDING] = LOCKSTEP__AGENT_STATE__AGENT_HOLDING,
    };

    return states[state];
}

/* Of the configuration, which let in plain text only. */
static size_t put_commands(const struct commands *commands,
                           Lockstep__OfferedCommand *to,
                           Lockstep__OfferedCommand **list)
{
    uint32_t count = commands == NULL ? 0 : commands->count;

    for (uint32_t i = 0; i < count; i++) {
        lockstep__offered_command__init(&to[i]);
        to[i].name = (char *)(uintptr_t)commands->items[i].name;
        to[i].text = (char *)(uintptr_t)commands->items[i].text;
        to[i].limit_ns = commands->items[i].limit_ns;
        list[i] = &to[i];
    }
    return count;
}

struct codec_bytes codec_hello(const struct hello *hello)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__AgentHello to = LOCKSTEP__AGENT_HELLO__INIT;
    Lockstep__Held held = LOCKSTEP__HELD__INIT;
    Lockstep__Work work;
    char *labels[CODEC_LABELS_MAX];
    struct text text[CODEC_LABELS_MAX];
    Lockstep__OfferedCommand command[COMMANDS_MAX];
    Lockstep__OfferedCommand *commands[COMMANDS_MAX];
    static char version[] = LOCKSTEP_VERSION;

    to.major = CODEC_MAJOR;
    to.minor = CODEC_MINOR;
    to.name = (char *)(uintptr_t)hello->name;
    to.instance = codec_pack_uuid(&hello->instance);
    to.boot = codec_pack_uuid(&hello->boot);
    to.version = version;
    to.lease_ms = hello->lease_ms;
    to.finishes_phase = hello->finishes_phase;
    to.n_labels = hello->label_count;
    to.labels = labels;
    for (uint32_t i = 0; i < hello->label_count; i++)
        labels[i] = clean(&text[i], hello->labels[i]);
    to.n_commands = put_commands(hello->commands, command, commands);
    to.commands = commands;
    if (hello->state != PHASE_IDLE) {
        codec_pack_work(&hello->work, &work);
        held.work = &work;
        held.state = state_of(hello->state);
        held.first_unacknowledged = hello->first_unacknowledged;
        to.held = &held;
    }
    frame.body_case = LOCKSTEP__FRAME__BODY_AGENT_HELLO;
    frame.agent_hello = &to;
    return codec_pack(&frame);
}

struct codec_bytes codec_clock_reply(uint64_t sequence, uint64_t received_ns,
                                     uint64_t sent_ns)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__ClockReply reply = LOCKSTEP__CLOCK_REPLY__INIT;

    reply.sequence = sequence;
    reply.agent_received_ns = received_ns;
    reply.agent_sent_ns = sent_ns;
    frame.body_case = LOCKSTEP__FRAME__BODY_CLOCK_REPLY;
    frame.clock_reply = &reply;
    return codec_pack(&frame);
}

struct codec_bytes codec_ready(const struct work *work, uint32_t workers,
                               uint64_t memory_bytes,
                               const struct phase_equipment *equipment)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Ready ready = LOCKSTEP__READY__INIT;
    struct phase_equipment told = {0};
    Lockstep__Work key;

    if (equipment != NULL)
        told = *equipment;
    codec_clean(told.engine);
    codec_clean(told.placement);
    ready.engine = told.engine;
    ready.placement = told.placement;
    codec_pack_work(work, &key);
    ready.work = &key;
    ready.workers = workers;
    ready.memory_bytes = memory_bytes;
    frame.body_case = LOCKSTEP__FRAME__BODY_READY;
    frame.ready = &ready;
    return codec_pack(&frame);
}

struct codec_bytes codec_armed(const struct work *work, uint64_t agent_start_ns)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Armed armed = LOCKSTEP__ARMED__INIT;
    Lockstep__Work key;

    codec_pack_work(work, &key);
    armed.work = &key;
    armed.agent_start_ns = agent_start_ns;
    frame.body_case = LOCKSTEP__FRAME__BODY_ARMED;
    frame.armed = &armed;
    return codec_pack(&frame);
}

struct codec_bytes codec_refused(const struct work *work, const char *target,
                                 const char *reason)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Refused refused = LOCKSTEP__REFUSED__INIT;
    Lockstep__Work key;
    struct text text[2];

    codec_pack_work(work, &key);
    refused.work = &key;
    refused.target = clean(&text[0], target);
    refused.reason = clean(&text[1], reason);
    frame.body_case = LOCKSTEP__FRAME__BODY_REFUSED;
    frame.refused = &refused;
    return codec_pack(&frame);
}

struct codec_bytes codec_command_done(const struct work *work, uint32_t number,
                                      const struct errand_result *result)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__CommandDone done = LOCKSTEP__COMMAND_DONE__INIT;
    char *lines[ERRAND_LINES_MAX];
    Lockstep__Work key;
    struct text text;

    codec_pack_work(work, &key);
    done.work = &key;
    done.number = number;
    done.end = (Lockstep__CommandEnd)result->end;
    done.status = result->status;
    done.duration_ns = result->duration_ns;
    done.n_lines = result->line_count;
    done.lines = lines;
    for (uint32_t i = 0; i < result->line_count; i++)
        lines[i] = (char *)(uintptr_t)result->lines[i];
    done.reason = clean(&text, result->reason);
    frame.body_case = LOCKSTEP__FRAME__BODY_COMMAND_DONE;
    frame.command_done = &done;
    return codec_pack(&frame);
}

struct codec_bytes codec_finished(const struct work *work,
                                  const struct phase_end *end)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Finished finished = LOCKSTEP__FINISHED__INIT;
    Lockstep__Stuck stuck[PHASE_STUCK_MAX];
    Lockstep__Stuck *stucks[PHASE_STUCK_MAX];
    Lockstep__Work key;
    struct text text;

    codec_pack_work(work, &key);
    finished.work = &key;
    finished.outcome = (Lockstep__Outcome)end->outcome;
    finished.reason = clean(&text, end->reason);
    finished.intervals = end->intervals;
    finished.stuck_total = end->stuck_total;
    finished.n_stuck = end->stuck_count;
    finished.stuck = stucks;
    for (uint32_t i = 0; i < end->stuck_count; i++) {
        lockstep__stuck__init(&stuck[i]);
        stuck[i].sd = (char *)(uintptr_t)end->stuck[i].sd;
        stuck[i].write = end->stuck[i].write;
        stuck[i].offset = end->stuck[i].offset;
        stuck[i].length = end->stuck[i].length;
        stuck[i].age_ns = end->stuck[i].age_ns;
        stucks[i] = &stuck[i];
    }
    frame.body_case = LOCKSTEP__FRAME__BODY_FINISHED;
    frame.finished = &finished;
    return codec_pack(&frame);
}

/* ---- Inventory ---------------------------------------------------------- */

/* One drive's message and the clean copies of its texts. */
struct drive_message {
    Lockstep__DriveFacts facts;
    struct drive copy;
    char *used_by[INVENTORY_USES_MAX];
};

static void drive_copy(const struct drive *drive, struct drive *to)
{
    *to = *drive;
    codec_clean(to->name);
    codec_clean(to->path);
    codec_clean(to->by_id);
    codec_clean(to->model);
    codec_clean(to->serial);
    codec_clean(to->firmware);
    codec_clean(to->wwn);
    codec_clean(to->formats);
    codec_clean(to->pci_address);
    codec_clean(to->slot);
    codec_clean(to->link_speed);
    codec_clean(to->write_cache);
    codec_clean(to->scheduler);
    for (uint32_t i = 0; i < to->used_by_count; i++)
        codec_clean(to->used_by[i]);
}

static void drive_message(const struct drive *drive, struct drive_message *to)
{
    Lockstep__DriveFacts *facts = &to->facts;
    struct drive *copy = &to->copy;

    drive_copy(drive, copy);
    lockstep__drive_facts__init(facts);
    facts->name = copy->name;
    facts->path = copy->path;
    facts->by_id = copy->by_id;
    facts->model = copy->model;
    facts->serial = copy->serial;
    facts->firmware = copy->firmware;
    facts->wwn = copy->wwn;
    facts->size_bytes = copy->size_bytes;
    facts->logical_block = copy->logical_block;
    facts->physical_block = copy->physical_block;
    facts->formats = copy->formats;
    facts->pci_address = copy->pci_address;
    facts->slot = copy->slot;
    facts->link_speed = copy->link_speed;
    facts->link_width = copy->link_width;
    facts->write_cache = copy->write_cache;
    facts->scheduler = copy->scheduler;
    facts->rotational = (Lockstep__Tristate)copy->rotational;
    facts->read_only = copy->read_only;
    facts->numa_node = copy->numa_node;
    facts->disk_sequence = copy->disk_sequence;
    facts->offered = copy->offered;
    facts->n_used_by = copy->used_by_count;
    facts->used_by = to->used_by;
    for (uint32_t i = 0; i < copy->used_by_count; i++)
        to->used_by[i] = copy->used_by[i];
}

/* How many of the drives fit into the frame. */
static uint32_t drives_that_fit(const struct drive_message *drives,
                                uint32_t count)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        bytes += lockstep__drive_facts__get_packed_size(&drives[i].facts) + 8;
        if (bytes > INVENTORY_BYTES)
            return i;
    }
    return count;
}

struct codec_bytes codec_inventory(const struct inventory *inventory,
                                   const struct codec_engine *engine)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Inventory to = LOCKSTEP__INVENTORY__INIT;
    Lockstep__HostFacts host = LOCKSTEP__HOST_FACTS__INIT;
    uint32_t count = inventory->drive_count;
    struct drive_message *drives = calloc(count + 1u, sizeof(*drives));
    Lockstep__DriveFacts **list = calloc(count + 1u, sizeof(*list));
    char *features[CODEC_FEATURES_MAX];
    struct text text[5];
    struct codec_bytes bytes;

    assert(drives != NULL && list != NULL);
    host.hostname = clean(&text[0], inventory->host.hostname);
    host.kernel = clean(&text[1], inventory->host.kernel);
    host.cpus = inventory->host.cpus;
    host.cpu_model = clean(&text[2], inventory->host.cpu_model);
    host.memory_bytes = inventory->host.memory_bytes;
    host.os = clean(&text[3], inventory->host.os);
    host.engine = clean(&text[4], engine->name);
    host.n_engine_features = engine->feature_count;
    host.engine_features = features;
    for (uint32_t i = 0; i < engine->feature_count; i++)
        features[i] = (char *)(uintptr_t)engine->features[i];
    for (uint32_t i = 0; i < count; i++) {
        drive_message(&inventory->drives[i], &drives[i]);
        list[i] = &drives[i].facts;
    }
    to.host = &host;
    to.n_drives = drives_that_fit(drives, count);
    to.drives = list;
    frame.body_case = LOCKSTEP__FRAME__BODY_INVENTORY;
    frame.inventory = &to;
    bytes = codec_pack(&frame);
    free(drives);
    free(list);
    return bytes;
}

/* ---- Targets ------------------------------------------------------------ */

struct target_message {
    Lockstep__TargetFacts facts;
    struct text device;
    struct text serial;
    struct text wwn;
    struct text model;
    struct text refusal;
    struct text content;
};

static void target_message(const struct interlock_facts *from,
                           struct target_message *to)
{
    Lockstep__TargetFacts *facts = &to->facts;

    lockstep__target_facts__init(facts);
    facts->kind = (Lockstep__TargetKind)from->kind;
    facts->size_bytes = from->size_bytes;
    facts->logical_block = from->logical_block;
    facts->device = clean(&to->device, from->device);
    facts->device_number = from->device_number;
    facts->inode = from->inode;
    facts->serial = clean(&to->serial, from->serial);
    facts->wwn = clean(&to->wwn, from->wwn);
    facts->model = clean(&to->model, from->model);
    facts->disk_sequence = from->disk_sequence;
    facts->ours = from->ours;
    facts->refusal = clean(&to->refusal, from->refusal);
    if (from->content == INTERLOCK_CONTENT_FOUND)
        facts->content = clean(&to->content, from->content_text);
    /* "Does not tell" is 0 on the wire. */
    facts->free_bytes = from->free_bytes > INT64_MAX ? 0 : from->free_bytes;
}

struct codec_bytes codec_inspected(const struct uuid *campaign,
                                   const struct interlock_facts *facts,
                                   uint32_t count)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Inspected to = LOCKSTEP__INSPECTED__INIT;
    struct target_message *targets = calloc(count + 1u, sizeof(*targets));
    Lockstep__TargetFacts **list = calloc(count + 1u, sizeof(*list));
    struct codec_bytes bytes;

    /* 256 targets of at most 4 kB of texts each. */
    assert(count <= JOB_TARGETS_MAX);
    assert(targets != NULL && list != NULL);
    for (uint32_t i = 0; i < count; i++) {
        target_message(&facts[i], &targets[i]);
        list[i] = &targets[i].facts;
    }
    to.campaign = codec_pack_uuid(campaign);
    to.n_targets = count;
    to.targets = list;
    frame.body_case = LOCKSTEP__FRAME__BODY_INSPECTED;
    frame.inspected = &to;
    bytes = codec_pack(&frame);
    free(targets);
    free(list);
    return bytes;
}
