/*
 * bodies.h - frames as agents and shells would send them, made with protobuf
 * directly, so that wrong ones can be made too.
 */
#ifndef TESTS_UNIT_FLEET_BODIES_H
#define TESTS_UNIT_FLEET_BODIES_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/histogram.h"
#include "proto/lockstep.pb-c.h"

struct body {
    uint8_t data[2u << 20];
    size_t length;
};

/* The one made last. */
static struct body body_made;

static const struct uuid body_instance = {{1, 1, 1}};
static const struct uuid body_other = {{2, 2, 2}};
static const struct uuid body_boot = {{3, 3, 3}};
static const struct uuid body_campaign = {{4, 4, 4}};

static inline void body_pack(const Lockstep__Frame *frame)
{
    size_t length = lockstep__frame__get_packed_size(frame);

    ck_assert_uint_le(length, sizeof(body_made.data));
    body_made.length = lockstep__frame__pack(frame, body_made.data);
}

static inline ProtobufCBinaryData body_uuid(const struct uuid *uuid)
{
    return (ProtobufCBinaryData){16, (uint8_t *)(uintptr_t)uuid->bytes};
}

/* A message in a frame: BODY(&frame, HELLO, hello, &message). */
#define BODY_PACK(CASE, member, message)                                       \
    do {                                                                       \
        Lockstep__Frame frame_ = LOCKSTEP__FRAME__INIT;                        \
                                                                               \
        frame_.body_case = LOCKSTEP__FRAME__BODY_##CASE;                       \
        frame_.member = (message);                                             \
        body_pack(&frame_);                                                    \
    } while (0)

static inline Lockstep__AgentHello body_hello(const char *name,
                                              const struct uuid *instance)
{
    Lockstep__AgentHello hello = LOCKSTEP__AGENT_HELLO__INIT;

    hello.major = 1;
    hello.name = (char *)(uintptr_t)name;
    hello.instance = body_uuid(instance);
    hello.boot = body_uuid(&body_boot);
    hello.version = (char *)(uintptr_t) "0.1.0";
    hello.lease_ms = 30000;
    return hello;
}

static inline Lockstep__Work body_work(uint32_t phase)
{
    Lockstep__Work work = LOCKSTEP__WORK__INIT;

    work.campaign = body_uuid(&body_campaign);
    work.phase = phase;
    work.epoch = 1;
    return work;
}

/* A sample of one cell that read `ios` blocks of 4 KiB in 100 us each. */
struct body_sample {
    Lockstep__Sample sample;
    Lockstep__Work work;
    Lockstep__CellSample cell;
    Lockstep__CellSample *cells[2];
    Lockstep__ErrorCount error;
    Lockstep__ErrorCount *errors[1];
    Lockstep__Failure failure;
    Lockstep__Failure *failures[65];
    Lockstep__HostSample host;
    uint8_t blob[HISTOGRAM_BLOB_MAX];
};

static inline void body_sample_init(struct body_sample *s, uint64_t interval,
                                    uint64_t ios)
{
    static struct histogram h;

    lockstep__sample__init(&s->sample);
    lockstep__cell_sample__init(&s->cell);
    lockstep__host_sample__init(&s->host);
    histogram_init(&h);
    if (ios > 0)
        histogram_record_many(&h, 100000, ios);
    s->work = body_work(0);
    s->cell.ios = ios;
    s->cell.bytes = ios * 4096;
    s->cell.service.data = s->blob;
    s->cell.service.len = histogram_encode(&h, s->blob);
    s->cells[0] = s->cells[1] = &s->cell;
    lockstep__error_count__init(&s->error);
    s->error.err = 5;
    s->error.count = 5;
    s->errors[0] = &s->error;
    s->cell.by_errno = s->errors; /* counted by n_by_errno, as the next */
    lockstep__failure__init(&s->failure);
    for (size_t i = 0; i < ARRAY_LENGTH(s->failures); i++)
        s->failures[i] = &s->failure;
    s->sample.failures = s->failures;
    s->sample.work = &s->work;
    s->sample.interval = interval;
    s->sample.parts = 1;
    s->sample.spans = 1;
    s->sample.agent_begin_ns = 1000 + interval * NS_PER_S;
    s->sample.agent_end_ns = 1000 + (interval + 1) * NS_PER_S;
    s->sample.agent_opened_first_ns = 1000;
    s->sample.agent_opened_last_ns = 1000;
    s->sample.cells = s->cells;
    s->sample.n_cells = 1;
    s->sample.host = &s->host;
    s->host.capacity_ns = 2 * NS_PER_S;
}

#endif
