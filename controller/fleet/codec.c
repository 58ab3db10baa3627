#include "controller/fleet/codec.h"

#include "common/arena.h"
#include "common/command.h"
#include "controller/fleet/codec_check.h"
#include "controller/results/results.h"

#include <assert.h>
#include <errno.h>

static const char *const in_names[] = {
    [WIRE_IN_IGNORED] = "unknown frame",
    [WIRE_IN_HEARTBEAT] = "Heartbeat",
    [WIRE_IN_REJECT] = "Reject",
    [WIRE_IN_AGENT_HELLO] = "AgentHello",
    [WIRE_IN_INVENTORY] = "Inventory",
    [WIRE_IN_CLOCK_REPLY] = "ClockReply",
    [WIRE_IN_INSPECTED] = "Inspected",
    [WIRE_IN_READY] = "Ready",
    [WIRE_IN_ARMED] = "Armed",
    [WIRE_IN_REFUSED] = "Refused",
    [WIRE_IN_SAMPLE] = "Sample",
    [WIRE_IN_FINISHED] = "Finished",
    [WIRE_IN_COMMAND_DONE] = "CommandDone",
    [WIRE_IN_SHELL_HELLO] = "ShellHello",
    [WIRE_IN_REQUEST] = "Request",
};

const char *wire_in_name(enum wire_in_kind kind)
{
    assert((size_t)kind < ARRAY_LENGTH(in_names));
    return in_names[kind];
}

static void decode_held(struct check *c, const Lockstep__Held *from,
                        struct wire_agent_hello *to)
{
    to->holds = from != NULL;
    if (from == NULL)
        return;
    to->held = check_work(c, from->work);
    to->held_state =
        check_enum(c, "state", (int)from->state, WIRE_AGENT_HOLDING + 1);
    to->first_unacknowledged =
        check_range(c, "first_unacknowledged", from->first_unacknowledged, 0,
                    CHECK_COUNT_MAX);
}

static void decode_commands(struct check *c, const Lockstep__AgentHello *from,
                            struct wire_agent_hello *to)
{
    if (from->n_commands > COMMANDS_MAX) {
        check_fail(c, "%zu commands, at most %u are allowed", from->n_commands,
                   COMMANDS_MAX);
        return;
    }
    to->commands = check_alloc(c, from->n_commands, sizeof(*to->commands));
    for (size_t i = 0; i < from->n_commands && c->err == 0; i++) {
        const Lockstep__OfferedCommand *command = from->commands[i];

        to->commands[i] = (struct wire_offered){
            .name = check_name(c, "command name", command->name),
            .text = check_text(c, "command text", command->text, TEXT_SIZE - 1),
            .limit_ns = check_range(c, "limit_ns", command->limit_ns, 1,
                                    COMMAND_LIMIT_MAX_NS),
        };
    }
    to->command_count = (uint32_t)from->n_commands;
}

/*
 * Of another major only what the refusal needs is looked at: the rest may have
 * changed its meaning.
 */
static void decode_agent_hello(struct check *c,
                               const Lockstep__AgentHello *from,
                               struct wire_agent_hello *to)
{
    to->major = from->major;
    to->minor = from->minor;
    to->name = check_name(c, "name", from->name);
    to->version = check_text(c, "version", from->version, TEXT_SIZE - 1);
    if (from->major != WIRE_MAJOR)
        return;
    to->instance = check_uuid(c, "instance", &from->instance);
    to->boot = check_uuid(c, "boot", &from->boot);
    to->lease_ms = (uint32_t)check_range(c, "lease_ms", from->lease_ms,
                                         WIRE_LEASE_MS_MIN, WIRE_LEASE_MS_MAX);
    to->features =
        check_texts(c, "features", from->features, from->n_features,
                    WIRE_FEATURES_MAX, NAME_SIZE - 1, &to->feature_count);
    to->labels = check_texts(c, "labels", from->labels, from->n_labels,
                             WIRE_LABELS_MAX, NAME_SIZE - 1, &to->label_count);
    decode_commands(c, from, to);
    to->finishes_phase = from->finishes_phase;
    decode_held(c, from->held, to);
}

static void decode_host(struct check *c, const Lockstep__HostFacts *from,
                        struct wire_host_facts *to)
{
    const size_t max = TEXT_SIZE - 1;

    if (from == NULL) {
        check_fail(c, "host is missing");
        return;
    }
    to->hostname = check_text(c, "hostname", from->hostname, max);
    to->kernel = check_text(c, "kernel", from->kernel, max);
    to->cpu_model = check_text(c, "cpu_model", from->cpu_model, max);
    to->engine = check_text(c, "engine", from->engine, max);
    to->os = check_text(c, "os", from->os, max);
    to->cpus = from->cpus;
    to->memory_bytes =
        check_range(c, "memory_bytes", from->memory_bytes, 0, CHECK_COUNT_MAX);
    to->engine_features = check_texts(
        c, "engine_features", from->engine_features, from->n_engine_features,
        WIRE_FEATURES_MAX, NAME_SIZE - 1, &to->engine_feature_count);
}

static void decode_drive(struct check *c, const Lockstep__DriveFacts *from,
                         struct wire_drive *to)
{
    const size_t max = TEXT_SIZE - 1;

    to->name = check_text(c, "drive name", from->name, NAME_SIZE - 1);
    if (from->name[0] == '\0')
        check_fail(c, "a drive has no name");
    to->path = check_text(c, "path", from->path, PATH_SIZE - 1);
    to->by_id = check_text(c, "by_id", from->by_id, PATH_SIZE - 1);
    to->model = check_text(c, "model", from->model, max);
    to->serial = check_text(c, "serial", from->serial, max);
    to->firmware = check_text(c, "firmware", from->firmware, max);
    to->wwn = check_text(c, "wwn", from->wwn, max);
    to->formats = check_text(c, "formats", from->formats, max);
    to->pci_address = check_text(c, "pci_address", from->pci_address, max);
    to->slot = check_text(c, "slot", from->slot, max);
    to->link_speed = check_text(c, "link_speed", from->link_speed, max);
    to->write_cache = check_text(c, "write_cache", from->write_cache, max);
    to->scheduler = check_text(c, "scheduler", from->scheduler, max);
    to->size_bytes =
        check_range(c, "size_bytes", from->size_bytes, 0, CHECK_COUNT_MAX);
    to->disk_sequence = check_range(c, "disk_sequence", from->disk_sequence, 0,
                                    CHECK_COUNT_MAX);
    to->logical_block = from->logical_block;
    to->physical_block = from->physical_block;
    to->link_width = from->link_width;
    to->numa_node = from->numa_node;
    to->rotational =
        check_enum(c, "rotational", (int)from->rotational, WIRE_YES + 1);
    to->read_only = from->read_only;
    to->offered = from->offered;
    to->used_by = check_texts(c, "used_by", from->used_by, from->n_used_by,
                              WIRE_USES_MAX, TEXT_SIZE - 1, &to->use_count);
}

static void decode_inventory(struct check *c, const Lockstep__Inventory *from,
                             struct wire_inventory *to)
{
    if (from->n_drives > WIRE_DRIVES_MAX) {
        check_fail(c, "%zu drives, at most %u are allowed", from->n_drives,
                   WIRE_DRIVES_MAX);
        return;
    }
    decode_host(c, from->host, &to->host);
    to->drives = check_alloc(c, from->n_drives, sizeof(*to->drives));
    for (size_t i = 0; i < from->n_drives && c->err == 0; i++)
        decode_drive(c, from->drives[i], &to->drives[i]);
    to->drive_count = (uint32_t)from->n_drives;
}

static void decode_clock_reply(struct check *c,
                               const Lockstep__ClockReply *from,
                               struct wire_clock_reply *to)
{
    to->sequence = from->sequence;
    to->agent_received_ns = check_range(
        c, "agent_received_ns", from->agent_received_ns, 0, CHECK_COUNT_MAX);
    to->agent_sent_ns = check_range(c, "agent_sent_ns", from->agent_sent_ns,
                                    to->agent_received_ns, CHECK_COUNT_MAX);
}

static void decode_target(struct check *c, const Lockstep__TargetFacts *from,
                          struct wire_target_facts *to)
{
    const size_t max = TEXT_SIZE - 1;

    to->kind = check_enum(c, "kind", (int)from->kind, WIRE_TARGET_OTHER + 1);
    to->size_bytes =
        check_range(c, "size_bytes", from->size_bytes, 0, CHECK_COUNT_MAX);
    to->logical_block = from->logical_block;
    if (to->kind != WIRE_TARGET_MISSING && from->refusal[0] == '\0')
        (void)check_range(c, "logical_block", from->logical_block, 1,
                          UINT32_C(1) << 30);
    to->device = check_text(c, "device", from->device, PATH_SIZE - 1);
    to->device_number = from->device_number;
    to->inode = from->inode;
    to->serial = check_text(c, "serial", from->serial, max);
    to->wwn = check_text(c, "wwn", from->wwn, max);
    to->model = check_text(c, "model", from->model, max);
    to->disk_sequence = check_range(c, "disk_sequence", from->disk_sequence, 0,
                                    CHECK_COUNT_MAX);
    to->ours = from->ours;
    to->refusal = check_text(c, "refusal", from->refusal, REASON_SIZE - 1);
    to->free_bytes =
        check_range(c, "free_bytes", from->free_bytes, 0, CHECK_COUNT_MAX);
    to->content = check_text(c, "content", from->content, max);
}

static void decode_inspected(struct check *c, const Lockstep__Inspected *from,
                             struct wire_inspected *to)
{
    if (from->n_targets > WIRE_TARGETS_MAX) {
        check_fail(c, "%zu targets, at most %u are allowed", from->n_targets,
                   WIRE_TARGETS_MAX);
        return;
    }
    to->campaign = check_uuid(c, "campaign", &from->campaign);
    to->targets = check_alloc(c, from->n_targets, sizeof(*to->targets));
    for (size_t i = 0; i < from->n_targets && c->err == 0; i++)
        decode_target(c, from->targets[i], &to->targets[i]);
    to->target_count = (uint32_t)from->n_targets;
}

static void decode_ready(struct check *c, const Lockstep__Ready *from,
                         struct wire_ready *to)
{
    to->work = check_work(c, from->work);
    to->workers = from->workers;
    to->engine = check_text(c, "engine", from->engine, REASON_SIZE - 1);
    to->placement =
        check_text(c, "placement", from->placement, RESULTS_PLACEMENT_MAX);
    to->memory_bytes =
        check_range(c, "memory_bytes", from->memory_bytes, 0, CHECK_COUNT_MAX);
}

static void decode_refused(struct check *c, const Lockstep__Refused *from,
                           struct wire_refused *to)
{
    to->work = check_work(c, from->work);
    to->target = check_text(c, "target", from->target, NAME_SIZE - 1);
    to->reason = check_text(c, "reason", from->reason, REASON_SIZE - 1);
}

static void decode_stuck(struct check *c, const Lockstep__Stuck *from,
                         struct wire_stuck *to)
{
    to->sd = check_text(c, "sd", from->sd, NAME_SIZE - 1);
    to->write = from->write;
    to->offset = check_range(c, "offset", from->offset, 0, CHECK_COUNT_MAX);
    to->length = from->length;
    to->age_ns = check_range(c, "age_ns", from->age_ns, 0, CHECK_COUNT_MAX);
}

static void decode_finished(struct check *c, const Lockstep__Finished *from,
                            struct wire_finished *to)
{
    if (from->n_stuck > WIRE_STUCK_MAX) {
        check_fail(c, "%zu stuck requests, at most %u are named", from->n_stuck,
                   WIRE_STUCK_MAX);
        return;
    }
    to->work = check_work(c, from->work);
    to->outcome = check_enum(c, "outcome", (int)from->outcome,
                             WIRE_OUTCOME_TIME_LIMIT + 1);
    to->reason = check_text(c, "reason", from->reason, REASON_SIZE - 1);
    to->intervals =
        check_range(c, "intervals", from->intervals, 0, CHECK_COUNT_MAX);
    to->stuck_total = check_range(c, "stuck_total", from->stuck_total,
                                  from->n_stuck, CHECK_COUNT_MAX);
    to->stuck = check_alloc(c, from->n_stuck, sizeof(*to->stuck));
    for (size_t i = 0; i < from->n_stuck && c->err == 0; i++)
        decode_stuck(c, from->stuck[i], &to->stuck[i]);
    to->stuck_count = (uint32_t)from->n_stuck;
}

static void decode_command_done(struct check *c,
                                const Lockstep__CommandDone *from,
                                struct wire_command_done *to)
{
    to->work = check_work(c, from->work);
    to->number =
        (uint32_t)check_range(c, "number", from->number, 1, UINT32_MAX);
    to->end = check_enum(c, "end", (int)from->end, WIRE_COMMAND_REFUSED + 1);
    to->status = from->status;
    to->duration_ns =
        check_range(c, "duration_ns", from->duration_ns, 0, CHECK_COUNT_MAX);
    to->lines = check_texts(c, "lines", from->lines, from->n_lines,
                            WIRE_LINES_MAX, TEXT_SIZE - 1, &to->line_count);
    to->reason = check_text(c, "reason", from->reason, REASON_SIZE - 1);
}

static enum wire_in_kind kind_of(const Lockstep__Frame *frame)
{
    switch (frame->body_case) {
    case LOCKSTEP__FRAME__BODY_HEARTBEAT:
        return WIRE_IN_HEARTBEAT;
    case LOCKSTEP__FRAME__BODY_REJECT:
        return WIRE_IN_REJECT;
    case LOCKSTEP__FRAME__BODY_AGENT_HELLO:
        return WIRE_IN_AGENT_HELLO;
    case LOCKSTEP__FRAME__BODY_INVENTORY:
        return WIRE_IN_INVENTORY;
    case LOCKSTEP__FRAME__BODY_CLOCK_REPLY:
        return WIRE_IN_CLOCK_REPLY;
    case LOCKSTEP__FRAME__BODY_INSPECTED:
        return WIRE_IN_INSPECTED;
    case LOCKSTEP__FRAME__BODY_READY:
        return WIRE_IN_READY;
    case LOCKSTEP__FRAME__BODY_ARMED:
        return WIRE_IN_ARMED;
    case LOCKSTEP__FRAME__BODY_REFUSED:
        return WIRE_IN_REFUSED;
    case LOCKSTEP__FRAME__BODY_SAMPLE:
        return WIRE_IN_SAMPLE;
    case LOCKSTEP__FRAME__BODY_FINISHED:
        return WIRE_IN_FINISHED;
    case LOCKSTEP__FRAME__BODY_COMMAND_DONE:
        return WIRE_IN_COMMAND_DONE;
    case LOCKSTEP__FRAME__BODY_SHELL_HELLO:
        return WIRE_IN_SHELL_HELLO;
    case LOCKSTEP__FRAME__BODY_REQUEST:
        return WIRE_IN_REQUEST;
    default:
        return WIRE_IN_IGNORED;
    }
}

/* protobuf-c may leave a message of a oneof NULL; kind_of() came first. */
static void decode_body(struct check *c, const Lockstep__Frame *frame,
                        struct wire_in *in)
{
    switch (in->kind) {
    case WIRE_IN_IGNORED:
    case WIRE_IN_HEARTBEAT:
        break;
    case WIRE_IN_REJECT:
        in->reject =
            check_text(c, "reason", frame->reject->reason, REASON_SIZE - 1);
        break;
    case WIRE_IN_AGENT_HELLO:
        decode_agent_hello(c, frame->agent_hello, &in->agent_hello);
        break;
    case WIRE_IN_INVENTORY:
        decode_inventory(c, frame->inventory, &in->inventory);
        break;
    case WIRE_IN_CLOCK_REPLY:
        decode_clock_reply(c, frame->clock_reply, &in->clock_reply);
        break;
    case WIRE_IN_INSPECTED:
        decode_inspected(c, frame->inspected, &in->inspected);
        break;
    case WIRE_IN_READY:
        decode_ready(c, frame->ready, &in->ready);
        break;
    case WIRE_IN_ARMED:
        in->armed.work = check_work(c, frame->armed->work);
        in->armed.agent_start_ns = frame->armed->agent_start_ns;
        break;
    case WIRE_IN_REFUSED:
        decode_refused(c, frame->refused, &in->refused);
        break;
    case WIRE_IN_SAMPLE:
        wire_decode_sample(c, frame->sample, &in->sample);
        break;
    case WIRE_IN_FINISHED:
        decode_finished(c, frame->finished, &in->finished);
        break;
    case WIRE_IN_COMMAND_DONE:
        decode_command_done(c, frame->command_done, &in->command_done);
        break;
    case WIRE_IN_SHELL_HELLO:
        wire_decode_shell_hello(c, frame->shell_hello, &in->shell_hello);
        break;
    case WIRE_IN_REQUEST:
        wire_decode_request(c, frame->request, &in->request);
        break;
    }
}

static void *allocate(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void give_back(void *arena, void *memory)
{
    (void)arena; /* all at once, when the arena is reset */
    (void)memory;
}

int wire_decode(const uint8_t *body, size_t length, struct arena *arena,
                struct wire_in *ret_in, struct diag *diag)
{
    ProtobufCAllocator allocator = {
        .alloc = allocate,
        .free = give_back,
        .allocator_data = arena,
    };
    Lockstep__Frame *frame = lockstep__frame__unpack(&allocator, length, body);
    struct wire_in in = {0};
    struct check check = {.frame = "frame", .diag = diag, .arena = arena};

    if (frame == NULL)
        return diag_set(diag, -EBADMSG,
                        "a frame of %zu bytes is no message of the protocol",
                        length);
    in.kind = kind_of(frame);
    check.frame = wire_in_name(in.kind);
    decode_body(&check, frame, &in);
    if (check.err != 0)
        return check.err;
    *ret_in = in;
    return 0;
}
