/*
 * outbox.h - the samples of a phase, kept until the controller has stored them.
 *
 * Each entry is one row as the codec encoded it, in one or more parts.  They
 * are sent in order, once on a connection: outbox_next() moves a cursor, and
 * outbox_rewind() puts it back to the first that is not acknowledged, for a new
 * connection.  Acknowledgements are cumulative.
 *
 * Memory: the bytes of the parts and a little for each row; bounded by the
 * owner, who looks at outbox_bytes().  Threads: one owner.
 */
#ifndef AGENT_OUTBOX_H
#define AGENT_OUTBOX_H

#include "agent/codec.h"
#include "common/base.h"

struct outbox_row;

/* Read the fields if you like; write them only through the functions. */
struct outbox {
    struct outbox_row *first; /* oldest not acknowledged */
    struct outbox_row *last;
    struct outbox_row *cursor; /* next to be sent, NULL: all are */
    uint32_t cursor_part;
    uint64_t bytes;
    uint64_t next_interval; /* after all rows that were added */
    uint64_t rows;          /* held */
};

void outbox_init(struct outbox *outbox);
/* Drops what is held and begins anew at interval 0. */
void outbox_reset(struct outbox *outbox);

/*
 * Adds a row that covers all before `next_interval`; `last`: no other comes
 * after it.  Takes the bytes of the parts.  -ENOMEM, and the parts are freed.
 */
int outbox_add(struct outbox *outbox, uint64_t next_interval, bool last,
               struct codec_bytes *parts, uint32_t count) MUST_CHECK;

/* Forgets every row that lies below `next_interval`. */
void outbox_acknowledge(struct outbox *outbox, uint64_t next_interval);

/* The next part to send, NULL when all were.  Valid until acknowledged. */
const struct codec_bytes *outbox_next(struct outbox *outbox);
/* What outbox_next() would give begins the last row. */
bool outbox_is_at_last(const struct outbox *outbox);
void outbox_rewind(struct outbox *outbox);

/* First interval that is not acknowledged. */
uint64_t outbox_unacknowledged(const struct outbox *outbox);

static inline uint64_t outbox_bytes(const struct outbox *outbox)
{
    return outbox->bytes;
}

static inline bool outbox_is_empty(const struct outbox *outbox)
{
    return outbox->first == NULL;
}

static inline bool outbox_is_sent(const struct outbox *outbox)
{
    return outbox->cursor == NULL;
}

#endif
