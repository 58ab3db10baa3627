/*
 * wire.h - what is said on the wire, as the controller's code sees it.
 *
 * `struct wire_in` is a frame that the codec checked: lengths, counts, enums,
 * names and texts are within the bounds of proto/lockstep.proto, histogram
 * blobs decode and count what their cell says.  What only the receiver can
 * know (does this work run here? is this interval due?) is not checked.
 * `struct wire_out` is a frame to be sent.
 *
 * Memory: strings and arrays of a wire_in live in the arena given to
 * wire_decode(); a wire_in's sample is malloc'ed and whoever takes it frees
 * it.  A wire_out owns nothing.
 */
#ifndef CONTROLLER_FLEET_WIRE_H
#define CONTROLLER_FLEET_WIRE_H

#include "common/base.h"

#define WIRE_MAJOR 1u
#define WIRE_MINOR 0u

#define WIRE_FEATURES_MAX   64u
#define WIRE_LABELS_MAX     16u
#define WIRE_DRIVES_MAX     1024u
#define WIRE_USES_MAX       64u
#define WIRE_TARGETS_MAX    256u
#define WIRE_WORKLOADS_MAX  64u
#define WIRE_CELLS_MAX      4096u
#define WIRE_STUCK_MAX      64u
#define WIRE_LINES_MAX      64u
#define WIRE_PARTS_MAX      64u
#define WIRE_FILES_MAX      64u
#define WIRE_FILES_BYTES    (512u << 10)
#define WIRE_VARIABLES_MAX  256u
#define WIRE_DOCUMENT_BYTES (512u << 10) /* of one Answer or Event */
#define WIRE_LEASE_MS_MIN   1000u
#define WIRE_LEASE_MS_MAX   (24u * 3600 * 1000)

/* ---- Both ways --------------------------------------------------------- */

/* One phase of one campaign, as ordered by one start of the controller. */
struct wire_work {
    struct uuid campaign;
    uint32_t phase;
    uint64_t epoch;
};

static inline bool wire_uuid_equal(const struct uuid *a, const struct uuid *b)
{
    return __builtin_memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- From agents ------------------------------------------------------- */

enum wire_agent_state {
    WIRE_AGENT_IDLE,
    WIRE_AGENT_PREPARING,
    WIRE_AGENT_READY,
    WIRE_AGENT_ARMED,
    WIRE_AGENT_RUNNING,
    WIRE_AGENT_DRAINING,
    WIRE_AGENT_HOLDING,
};

/* A command as the host's owner wrote it down. */
struct wire_offered {
    const char *name;
    const char *text;
    uint64_t limit_ns;
};

struct wire_agent_hello {
    uint32_t major;
    uint32_t minor;
    const char *name; /* letters, digits, dot, dash, underscore */
    struct uuid instance;
    struct uuid boot;
    const char *version;
    uint32_t lease_ms;
    const char **features;
    uint32_t feature_count;
    const char **labels;
    uint32_t label_count;
    struct wire_offered *commands; /* COMMANDS_MAX at most */
    uint32_t command_count;
    bool finishes_phase; /* when its lease ends */
    bool holds;          /* the three below are given */
    struct wire_work held;
    enum wire_agent_state held_state;
    uint64_t first_unacknowledged;
};

/* Empty texts and zeros are unknown, here and in drives. */
struct wire_host_facts {
    const char *hostname;
    const char *kernel;
    const char *cpu_model;
    const char *engine;
    const char *os;
    uint32_t cpus;
    uint64_t memory_bytes;
    const char **engine_features;
    uint32_t engine_feature_count;
};

enum wire_tristate {
    WIRE_UNKNOWN,
    WIRE_NO,
    WIRE_YES,
};

struct wire_drive {
    const char *name;
    const char *path;
    const char *by_id;
    const char *model;
    const char *serial;
    const char *firmware;
    const char *wwn;
    const char *formats;
    const char *pci_address;
    const char *slot;
    const char *link_speed;
    const char *write_cache;
    const char *scheduler;
    uint64_t size_bytes;
    uint64_t disk_sequence;
    uint32_t logical_block;
    uint32_t physical_block;
    uint32_t link_width;
    uint32_t numa_node; /* node + 1 */
    enum wire_tristate rotational;
    bool read_only;
    bool offered;
    const char **used_by;
    uint32_t use_count;
};

struct wire_inventory {
    struct wire_host_facts host;
    struct wire_drive *drives;
    uint32_t drive_count;
};

struct wire_clock_reply {
    uint64_t sequence;
    uint64_t agent_received_ns;
    uint64_t agent_sent_ns; /* not before agent_received_ns */
};

enum wire_target_kind {
    WIRE_TARGET_MISSING,
    WIRE_TARGET_BLOCK,
    WIRE_TARGET_FILE,
    WIRE_TARGET_CHARACTER,
    WIRE_TARGET_OTHER,
};

struct wire_target_facts {
    enum wire_target_kind kind;
    uint64_t size_bytes;
    uint32_t logical_block; /* 1 or more, unless missing */
    const char *device;
    uint64_t device_number;
    uint64_t inode;
    const char *serial;
    const char *wwn;
    const char *model;
    uint64_t disk_sequence;
    bool ours;
    const char *refusal;
    uint64_t free_bytes;
    const char *content; /* what writing to it would destroy; "": nothing */
};

struct wire_inspected {
    struct uuid campaign;
    struct wire_target_facts *targets;
    uint32_t target_count;
};

struct wire_ready {
    struct wire_work work;
    uint32_t workers;
    uint64_t memory_bytes;
    const char *engine; /* "": not told, as the next */
    const char *placement;
};

/* Of Start, and of Armed, which answers it. */
struct wire_start {
    struct wire_work work;
    uint64_t agent_start_ns;
};

struct wire_refused {
    struct wire_work work;
    const char *target;
    const char *reason;
};

enum wire_outcome {
    WIRE_OUTCOME_COMPLETE,
    WIRE_OUTCOME_STOPPED,
    WIRE_OUTCOME_LEASE_LOST,
    WIRE_OUTCOME_NO_GO,
    WIRE_OUTCOME_FAILED,
    WIRE_OUTCOME_TIME_LIMIT,
};

struct wire_stuck {
    const char *sd;
    bool write;
    uint64_t offset;
    uint32_t length;
    uint64_t age_ns;
};

struct wire_finished {
    struct wire_work work;
    enum wire_outcome outcome;
    const char *reason;
    uint64_t intervals;
    uint64_t stuck_total;
    struct wire_stuck *stuck;
    uint32_t stuck_count;
};

enum wire_command_end {
    WIRE_COMMAND_EXITED,
    WIRE_COMMAND_KILLED,
    WIRE_COMMAND_TIMED_OUT,
    WIRE_COMMAND_NO_START,
    WIRE_COMMAND_REFUSED,
};

struct wire_command_done {
    struct wire_work work;
    uint32_t number;
    enum wire_command_end end;
    uint32_t status; /* exit status, signal or errno */
    uint64_t duration_ns;
    const char **lines;
    uint32_t line_count;
    const char *reason;
};

/*
 * A sample as it came: cells of `sample` are numbered as in the agent's phase,
 * its host and its times on the controller's clock are not set; the agent's
 * times stand beside it.
 */
struct wire_sample {
    struct wire_work work;
    struct sample *sample;
    uint64_t agent_begin_ns;
    uint64_t agent_end_ns;          /* not before the begin */
    uint64_t agent_opened_first_ns; /* not after the last */
    uint64_t agent_opened_last_ns;
};

/* ---- From shells ------------------------------------------------------- */

struct wire_shell_hello {
    uint32_t major;
    uint32_t minor;
    const char *user;
    const char *version;
};

struct wire_file {
    const char *name;
    const char *text;
    bool included; /* read where an include= or a pattern= names it */
};

/* The values of PlanForm. */
enum wire_plan_form {
    WIRE_PLAN_NONE,
    WIRE_PLAN_TABLE,
    WIRE_PLAN_RUNS,
    WIRE_PLAN_JSON,
};

struct wire_submit {
    struct wire_file *files;
    uint32_t file_count;
    const char **variables; /* NAME=VALUE */
    uint32_t variable_count;
    uint64_t elapsed_ns; /* 0: as the file says, here and below */
    uint64_t interval_ns;
    uint64_t warmup_ns;
    bool warmup_given;
    const char *name;
    enum wire_plan_form plan; /* not NONE: only looked at, not queued */
    const char *yes; /* hash of what may be destroyed, see consent.h; "" */
};

enum wire_request_kind {
    WIRE_REQUEST_UNKNOWN, /* of a newer minor: answered so */
    WIRE_REQUEST_SUBMIT,
    WIRE_REQUEST_HOSTS,
    WIRE_REQUEST_DRIVES,
    WIRE_REQUEST_CAMPAIGNS,
    WIRE_REQUEST_STATUS,
    WIRE_REQUEST_SHOW,
    WIRE_REQUEST_EXPORT,
    WIRE_REQUEST_RUNS,
    WIRE_REQUEST_LIVE,
    WIRE_REQUEST_AUDIT,
    WIRE_REQUEST_WATCH,
    WIRE_REQUEST_STOP,
    WIRE_REQUEST_PIN,
};

struct wire_request {
    uint32_t id;
    enum wire_request_kind kind;
    const char *campaign; /* which one; "" is the newest */
    uint32_t phase;       /* of EXPORT */
    uint64_t interval;
    bool pinned; /* of PIN */
    bool brief; /* of EXPORT: no rows of hosts and workloads */
    bool cells; /* of LIVE: each workload and operation by itself */
    bool run_only; /* of STOP: the one that goes on */
    struct wire_submit submit;
};

/* ---- Any frame that comes in ------------------------------------------- */

enum wire_in_kind {
    WIRE_IN_IGNORED, /* of a newer minor, or one that we only send */
    WIRE_IN_HEARTBEAT,
    WIRE_IN_REJECT,
    WIRE_IN_AGENT_HELLO,
    WIRE_IN_INVENTORY,
    WIRE_IN_CLOCK_REPLY,
    WIRE_IN_INSPECTED,
    WIRE_IN_READY,
    WIRE_IN_ARMED,
    WIRE_IN_REFUSED,
    WIRE_IN_SAMPLE,
    WIRE_IN_FINISHED,
    WIRE_IN_COMMAND_DONE,
    WIRE_IN_SHELL_HELLO,
    WIRE_IN_REQUEST,
};

struct wire_in {
    enum wire_in_kind kind;
    union {
        const char *reject;
        struct wire_agent_hello agent_hello;
        struct wire_inventory inventory;
        struct wire_clock_reply clock_reply;
        struct wire_inspected inspected;
        struct wire_ready ready;
        struct wire_start armed;
        struct wire_refused refused;
        struct wire_sample sample;
        struct wire_finished finished;
        struct wire_command_done command_done;
        struct wire_shell_hello shell_hello;
        struct wire_request request;
    };
};

/* ---- Frames that go out ------------------------------------------------ */

struct wire_welcome {
    struct uuid controller;
    uint64_t epoch;
};

struct wire_inspect_target {
    const char *path;
    bool write;
    bool create;
    uint32_t open_flags; /* enum plan_open_flag */
    uint64_t size_bytes; /* of size=; 0: all there is */
    bool overwrite;      /* what is on it may be destroyed */
};

struct wire_inspect {
    struct uuid campaign;
    const struct wire_inspect_target *targets;
    uint32_t target_count;
};

/* A run's share for one host, see slice.h. */
struct wire_prepare {
    struct wire_work work;
    const struct plan *plan;
    const struct slice *slice;
    double rate;          /* of the whole run, I/Os a second; 0: closed loop */
    const double *shares; /* of workloads, per cent, in place of their skew;
                             NULL: as planned */
    const double *cell_rates; /* of the run's cells, in place of what follows
                                 from the rate; NULL: they follow */
    uint64_t seed;
    uint64_t drain_limit_ns;
    uint64_t time_limit_ns;
};

/* A work and the number of an interval. */
struct wire_mark {
    struct wire_work work;
    uint64_t interval;
};

struct wire_abort {
    struct wire_work work;
    const char *reason;
};

struct wire_command {
    struct wire_work work;
    uint32_t number;
    const char *name; /* "": end the one that runs */
};

struct wire_document {
    uint32_t id; /* of the request */
    uint32_t status;
    bool last; /* part of the document */
    const char *text;
    size_t length;
};

enum wire_out_kind {
    WIRE_OUT_HEARTBEAT,
    WIRE_OUT_REJECT,
    WIRE_OUT_WELCOME,
    WIRE_OUT_CLOCK_PROBE,
    WIRE_OUT_INSPECT,
    WIRE_OUT_PREPARE,
    WIRE_OUT_START,
    WIRE_OUT_GO,
    WIRE_OUT_STOP_AFTER,
    WIRE_OUT_ABORT,
    WIRE_OUT_RENEW,
    WIRE_OUT_SAMPLE_ACK,
    WIRE_OUT_RELEASE,
    WIRE_OUT_COMMAND,
    WIRE_OUT_ANSWER,
    WIRE_OUT_EVENT,
};

struct wire_out {
    enum wire_out_kind kind;
    union {
        const char *reject;
        struct wire_welcome welcome;
        uint64_t clock_probe; /* sequence */
        struct wire_inspect inspect;
        struct wire_prepare prepare;
        struct wire_start start;
        struct wire_work go;
        struct wire_mark stop_after;
        struct wire_abort abort;
        struct wire_work renew;
        struct wire_mark sample_ack;
        struct uuid release;
        struct wire_command command;
        struct wire_document answer;
        struct wire_document event;
    };
};

#endif
