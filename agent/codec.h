/*
 * codec.h - frames of the protocol to and from what the agent works with.
 *
 * The only file of the agent that sees protobuf structs.  Everything that
 * lockstep.proto bounds is checked here: what codec_decode() accepts is true
 * from there on.  Bodies only; the four bytes of length are the channel's.
 *
 * Decoding uses no more memory than CODEC_ARENA_FACTOR times the frame plus
 * what the decoded order itself takes, whatever a peer sends.
 *
 * Threads: none of its own; no state.
 */
#ifndef AGENT_CODEC_H
#define AGENT_CODEC_H

#include "agent/errand.h"
#include "agent/job.h"
#include "agent/phase.h"
#include "common/base.h"
#include "common/diag.h"

struct interlock_facts;
struct interlock_wish;
struct inventory;
struct row;

#define CODEC_MAJOR        1u
#define CODEC_MINOR        0u
#define CODEC_BODY_MAX     (1u << 20)
#define CODEC_ARENA_FACTOR 16u
#define CODEC_LABELS_MAX   16u
#define CODEC_PARTS_MAX    64u
#define CODEC_FEATURES_MAX 64u

enum order_kind {
    ORDER_UNKNOWN, /* of a newer minor version, or not for agents: ignored */
    ORDER_HEARTBEAT,
    ORDER_REJECT,
    ORDER_WELCOME,
    ORDER_CLOCK_PROBE,
    ORDER_INSPECT,
    ORDER_PREPARE,
    ORDER_START,
    ORDER_GO,
    ORDER_STOP_AFTER,
    ORDER_ABORT,
    ORDER_RENEW,
    ORDER_SAMPLE_ACK,
    ORDER_RELEASE,
    ORDER_COMMAND,
    ORDER_KINDS,
};

struct order_welcome {
    uint32_t major;
    uint32_t minor;
    struct uuid controller;
    uint64_t epoch;
    char version[TEXT_SIZE];
};

/* What a controller says.  Which members count depends on `kind`. */
struct order {
    enum order_kind kind;
    struct work work;         /* PREPARE .. RENEW, SAMPLE_ACK, COMMAND */
    struct uuid campaign;     /* INSPECT, RELEASE */
    uint64_t number;          /* CLOCK_PROBE: sequence; START: agent_start_ns;
                                 STOP_AFTER: interval; ACK: next_interval;
                                 COMMAND: number */
    char reason[REASON_SIZE]; /* REJECT, ABORT */
    char command[NAME_SIZE];  /* COMMAND; "": end the one that runs */
    struct order_welcome welcome;
    struct job *job;               /* PREPARE; may be taken */
    struct interlock_wish *wishes; /* INSPECT; may be taken, free() */
    uint32_t wish_count;
};

/*
 * Decodes one body.  Returns 0 or -EBADMSG (-ENOMEM), `diag` saying which
 * field is wrong and what it holds.  `ret_order` is to be given to
 * order_done().
 */
int codec_decode(const uint8_t *body, size_t length, struct order *ret_order,
                 struct diag *diag) MUST_CHECK;
void order_done(struct order *order);

/* "Prepare", for people. */
const char *order_kind_name(enum order_kind kind);

/*
 * Texts of the protocol are UTF-8 without control characters.  codec_clean()
 * puts '?' in the place of every byte that is not part of such.  The encoders
 * clean what they send.
 */
bool codec_is_clean(const char *text);
void codec_clean(char *text);

/* An encoded body.  codec_bytes_done() frees it; NULL data is fine. */
struct codec_bytes {
    uint8_t *data;
    size_t length;
};
void codec_bytes_done(struct codec_bytes *bytes);

struct hello {
    char name[NAME_SIZE];
    struct uuid instance;
    struct uuid boot;
    uint32_t lease_ms;
    bool finishes_phase;
    char labels[CODEC_LABELS_MAX][NAME_SIZE];
    uint32_t label_count;
    const struct commands *commands; /* that it may be told to run */
    /* Held, unless state is PHASE_IDLE. */
    struct work work;
    enum phase_state state;
    uint64_t first_unacknowledged;
};

/* What the engine of this host can do, as probed. */
struct codec_engine {
    char name[TEXT_SIZE]; /* "io_uring", or why there is none */
    char features[CODEC_FEATURES_MAX][NAME_SIZE];
    uint32_t feature_count;
};

/*
 * Encoders.  They cannot fail: what they are given is the agent's own, and
 * memory for one frame is taken for granted.  The bytes are the caller's.
 */
struct codec_bytes codec_heartbeat(void);
struct codec_bytes codec_reject(const char *reason);
struct codec_bytes codec_hello(const struct hello *hello);
struct codec_bytes codec_clock_reply(uint64_t sequence, uint64_t received_ns,
                                     uint64_t sent_ns);
struct codec_bytes codec_ready(const struct work *work, uint32_t workers,
                               uint64_t memory_bytes,
                               const struct phase_equipment *equipment);
struct codec_bytes codec_armed(const struct work *work,
                               uint64_t agent_start_ns);
struct codec_bytes codec_refused(const struct work *work, const char *target,
                                 const char *reason);
struct codec_bytes codec_finished(const struct work *work,
                                  const struct phase_end *end);
struct codec_bytes codec_command_done(const struct work *work, uint32_t number,
                                      const struct errand_result *result);
/* Leaves out drives from the end where a frame would be too long. */
struct codec_bytes codec_inventory(const struct inventory *inventory,
                                   const struct codec_engine *engine);
struct codec_bytes codec_inspected(const struct uuid *campaign,
                                   const struct interlock_facts *facts,
                                   uint32_t count);

/*
 * Encodes a row as one to CODEC_PARTS_MAX parts that each fit a frame.
 * Returns how many, 0 if it does not fit so many.
 */
uint32_t codec_sample(const struct work *work, const struct row *row,
                      struct codec_bytes ret_parts[CODEC_PARTS_MAX]);

#endif
