/*
 * submission.h - a campaign as the page submits it: JSON into what a shell
 * would say.  Pure.
 *
 *   {"files": [{"name": "x.parm", "text": "...", "included": false}],
 *    "variables": ["NAME=VALUE"], "name": "...",
 *    "elapsed_s": 60, "interval_s": 1, "warmup_s": 5,
 *    "yes": the hash of what may be destroyed,
 *    "check": true: what would run is told, and nothing is queued}
 *
 * A file of pattern= is included as well: its name is "pattern=" and what the
 * parameter says, its text base64.
 *
 * Everything but `files` may be left out.  Limits are those of the protocol.
 *
 * Threads: one owner.  Memory: submission_done(); `submit` points into it.
 */
#ifndef CONTROLLER_HTTP_SUBMISSION_H
#define CONTROLLER_HTTP_SUBMISSION_H

#include <jansson.h>

#include "common/base.h"
#include "common/diag.h"
#include "controller/fleet/wire.h"

struct submission {
    struct wire_submit submit;
    json_t *json_;
};

/* 0, or -EINVAL with what is wrong, or -ENOMEM. */
int submission_parse(const char *text, size_t length,
                     struct submission *ret_submission,
                     struct diag *diag) MUST_CHECK;
void submission_done(struct submission *submission);

#endif
