#include "controller/results/layout.h"

#include "controller/plan/plan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define LAYOUT_VERSION 1

struct layout *layout_free(struct layout *layout)
{
    if (layout != NULL) {
        free(layout->cells);
        free(layout->takes_part);
        free(layout);
    }
    return NULL;
}

static bool within_bounds(const struct layout *layout)
{
    return layout->host_count <= LAYOUT_HOSTS_MAX &&
           layout->target_count <= LAYOUT_TARGETS_MAX &&
           layout->workload_count <= LAYOUT_WORKLOADS_MAX &&
           layout->cell_count <= LAYOUT_CELLS_MAX;
}

/* With room for the cells, all zero. */
static int layout_new(const struct layout *counts, struct layout **ret_layout)
{
    struct layout *layout;

    if (!within_bounds(counts))
        return -EINVAL;
    layout = calloc(1, sizeof(*layout));
    if (layout == NULL)
        return -ENOMEM;
    *layout = *counts;
    layout->cells =
        calloc((size_t)counts->cell_count + 1, sizeof(*layout->cells));
    layout->takes_part = calloc((size_t)counts->host_count + 1, sizeof(bool));
    if (layout->cells == NULL || layout->takes_part == NULL) {
        (void)layout_free(layout);
        return -ENOMEM;
    }
    *ret_layout = layout;
    return 0;
}

static void count_hosts(struct layout *layout)
{
    for (uint32_t i = 0; i < layout->cell_count; i++) {
        bool *takes_part = &layout->takes_part[layout->cells[i].host];

        layout->takes_part_count += *takes_part ? 0 : 1;
        *takes_part = true;
    }
}

int layout_of_run(const struct plan *plan, const struct plan_run *run,
                  struct layout **ret_layout)
{
    const struct layout counts = {.host_count = plan->host_count,
                                  .target_count = plan->target_count,
                                  .workload_count = run->workload_count,
                                  .cell_count = run->cell_count};
    struct layout *layout;
    int err = layout_new(&counts, &layout);

    if (err < 0)
        return err;
    for (uint32_t i = 0; i < run->cell_count; i++) {
        uint32_t target = run->targets[run->cells[i].target].target;

        layout->cells[i] =
            (struct layout_cell){.host = plan->targets[target].host,
                                 .target = target,
                                 .workload = run->cells[i].workload};
    }
    count_hosts(layout);
    *ret_layout = layout;
    return 0;
}

void layout_encode(const struct layout *layout, struct bytes *into)
{
    const uint8_t version = LAYOUT_VERSION;

    bytes_put(into, &version, 1);
    bytes_put_number(into, layout->host_count);
    bytes_put_number(into, layout->target_count);
    bytes_put_number(into, layout->workload_count);
    bytes_put_number(into, layout->cell_count);
    for (uint32_t i = 0; i < layout->cell_count; i++) {
        bytes_put_number(into, layout->cells[i].host);
        bytes_put_number(into, layout->cells[i].target);
        bytes_put_number(into, layout->cells[i].workload);
    }
}

/* An index below `count`; nothing is below 0. */
static uint32_t take_index(struct byte_reader *reader, uint32_t count)
{
    if (count == 0)
        reader->bad = true;
    return byte_reader_below(reader, count == 0 ? 0 : count - 1);
}

static int take_counts(struct byte_reader *reader, struct layout *ret_counts)
{
    const uint8_t *version = byte_reader_take(reader, 1);

    if (version == NULL || *version != LAYOUT_VERSION)
        return -EBADMSG;
    ret_counts->host_count = byte_reader_below(reader, LAYOUT_HOSTS_MAX);
    ret_counts->target_count = byte_reader_below(reader, LAYOUT_TARGETS_MAX);
    ret_counts->workload_count =
        byte_reader_below(reader, LAYOUT_WORKLOADS_MAX);
    ret_counts->cell_count = byte_reader_below(reader, LAYOUT_CELLS_MAX);
    /* Three bytes a cell at least: no allocation beyond what is there. */
    if (reader->bad ||
        ret_counts->cell_count > (uint64_t)(reader->end - reader->at) / 3)
        return -EBADMSG;
    return 0;
}

int layout_decode(const uint8_t *data, size_t length,
                  struct layout **ret_layout)
{
    struct byte_reader reader = {data, data + length, false};
    CLEANUP(layout_freep) struct layout *layout = NULL;
    struct layout counts = {0};
    int err = take_counts(&reader, &counts);

    if (err < 0)
        return err;
    err = layout_new(&counts, &layout);
    if (err < 0)
        return err;
    for (uint32_t i = 0; i < layout->cell_count; i++) {
        layout->cells[i].host = take_index(&reader, layout->host_count);
        layout->cells[i].target = take_index(&reader, layout->target_count);
        layout->cells[i].workload = take_index(&reader, layout->workload_count);
    }
    if (reader.bad || reader.at != reader.end)
        return -EBADMSG;
    count_hosts(layout);
    *ret_layout = TAKE(layout);
    return 0;
}
