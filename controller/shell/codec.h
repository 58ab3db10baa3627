/*
 * codec.h - the shell's side of the wire: frames out, answers in.
 *
 * The only file of the shell that sees protobuf.  What it accepts is checked:
 * texts are bounded, a document is one piece of bytes.
 *
 * Memory: encoders return a frame body that the caller frees; decoded messages
 * point into a struct that codec_message_done() empties.
 */
#ifndef CONTROLLER_SHELL_CODEC_H
#define CONTROLLER_SHELL_CODEC_H

#include "common/base.h"
#include "common/diag.h"

struct body {
    uint8_t *bytes;
    uint32_t length;
};

struct submit_file {
    const char *name;
    const char *text;
    bool included; /* only where an include= or a pattern= names it */
};

/* The values of PlanForm on the wire. */
enum plan_form {
    PLAN_NONE,
    PLAN_TABLE,
    PLAN_RUNS,
    PLAN_JSON,
};

struct submit {
    const struct submit_file *files;
    size_t file_count;
    const char *const *variables;
    size_t variable_count;
    uint64_t elapsed_ns;
    uint64_t interval_ns;
    uint64_t warmup_ns;
    bool warmup_given;
    const char *name;
    enum plan_form plan; /* not PLAN_NONE: nothing is queued */
    const char *yes;     /* hash of what may be destroyed; NULL: nothing may */
};

/* The values of QueryKind on the wire. */
enum query_kind {
    SHELL_QUERY_HOSTS,
    SHELL_QUERY_DRIVES,
    SHELL_QUERY_CAMPAIGNS,
    SHELL_QUERY_STATUS,
    SHELL_QUERY_SHOW,
    SHELL_QUERY_EXPORT,
    SHELL_QUERY_LIVE,
    SHELL_QUERY_AUDIT,
};

/* Encoders return -ENOMEM, or -EMSGSIZE when the frame would be too long. */
int codec_hello(const char *user, struct body *ret) MUST_CHECK;
int codec_heartbeat(struct body *ret) MUST_CHECK;
int codec_submit(uint32_t id, const struct submit *submit,
                 struct body *ret) MUST_CHECK;
int codec_query(uint32_t id, enum query_kind kind, const char *campaign,
                struct body *ret) MUST_CHECK;
/* A piece of a campaign: `phase` 0 the head; `interval` where a page begins. */
int codec_export(uint32_t id, const char *campaign, uint32_t phase,
                 uint64_t interval, struct body *ret) MUST_CHECK;
int codec_watch(uint32_t id, const char *campaign, struct body *ret) MUST_CHECK;
int codec_pin(uint32_t id, const char *campaign, bool pinned,
              struct body *ret) MUST_CHECK;
/* `run_only`: not the campaign, but the run of it that goes on. */
int codec_stop(uint32_t id, const char *campaign, bool run_only,
               struct body *ret) MUST_CHECK;

enum message_kind {
    MESSAGE_OTHER, /* heartbeats, and frames newer than this program */
    MESSAGE_WELCOME,
    MESSAGE_REJECT,
    MESSAGE_ANSWER,
    MESSAGE_EVENT,
};

struct message {
    enum message_kind kind;
    uint32_t id;
    uint32_t status;
    bool last;
    const char *reason;      /* of a reject */
    const uint8_t *document; /* of an answer or event */
    size_t document_length;
    void *memory_;
};

/* Returns 0, or -EBADMSG for what is no frame of the protocol. */
int codec_decode(const uint8_t *bytes, uint32_t length,
                 struct message *ret_message) MUST_CHECK;
void codec_message_done(struct message *message);

#endif
