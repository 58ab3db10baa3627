/* outbox.c - a list of encoded rows and a cursor in it. */
#include "agent/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct outbox_row {
    struct outbox_row *next;
    uint64_t first_interval;
    uint64_t next_interval;
    uint64_t bytes;
    bool last;
    uint32_t part_count;
    struct codec_bytes parts[];
};

void outbox_init(struct outbox *outbox)
{
    memset(outbox, 0, sizeof(*outbox));
}

static void forget_first(struct outbox *outbox)
{
    struct outbox_row *row = outbox->first;

    outbox->first = row->next;
    if (outbox->first == NULL)
        outbox->last = NULL;
    if (outbox->cursor == row) {
        outbox->cursor = row->next;
        outbox->cursor_part = 0;
    }
    outbox->bytes -= row->bytes;
    outbox->rows--;
    for (uint32_t i = 0; i < row->part_count; i++)
        codec_bytes_done(&row->parts[i]);
    free(row);
}

void outbox_reset(struct outbox *outbox)
{
    while (outbox->first != NULL)
        forget_first(outbox);
    outbox_init(outbox);
}

int outbox_add(struct outbox *outbox, uint64_t next_interval, bool last,
               struct codec_bytes *parts, uint32_t count)
{
    size_t size = sizeof(struct outbox_row) + count * sizeof(*parts);
    struct outbox_row *row = calloc(1, size);

    if (row == NULL) {
        for (uint32_t i = 0; i < count; i++)
            codec_bytes_done(&parts[i]);
        return -ENOMEM;
    }
    row->first_interval = outbox->next_interval;
    row->next_interval = next_interval;
    row->last = last;
    row->part_count = count;
    row->bytes = size;
    for (uint32_t i = 0; i < count; i++) {
        row->parts[i] = parts[i];
        row->bytes += parts[i].length;
    }
    if (outbox->last == NULL)
        outbox->first = row;
    else
        outbox->last->next = row;
    outbox->last = row;
    if (outbox->cursor == NULL) {
        outbox->cursor = row;
        outbox->cursor_part = 0;
    }
    outbox->bytes += row->bytes;
    outbox->next_interval = next_interval;
    outbox->rows++;
    return 0;
}

void outbox_acknowledge(struct outbox *outbox, uint64_t next_interval)
{
    while (outbox->first != NULL &&
           outbox->first->next_interval <= next_interval)
        forget_first(outbox);
}

const struct codec_bytes *outbox_next(struct outbox *outbox)
{
    const struct codec_bytes *part;

    if (outbox->cursor == NULL)
        return NULL;
    part = &outbox->cursor->parts[outbox->cursor_part++];
    if (outbox->cursor_part == outbox->cursor->part_count) {
        outbox->cursor = outbox->cursor->next;
        outbox->cursor_part = 0;
    }
    return part;
}

bool outbox_is_at_last(const struct outbox *outbox)
{
    return outbox->cursor != NULL && outbox->cursor->last &&
           outbox->cursor_part == 0;
}

void outbox_rewind(struct outbox *outbox)
{
    outbox->cursor = outbox->first;
    outbox->cursor_part = 0;
}

uint64_t outbox_unacknowledged(const struct outbox *outbox)
{
    return outbox->first != NULL ? outbox->first->first_interval
                                 : outbox->next_interval;
}
