#include "controller/results/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sample *sample_free(struct sample *sample)
{
    if (sample != NULL) {
        free(sample->cells);
        free(sample->memory);
        free(sample);
    }
    return NULL;
}

static int pack(const struct histogram *h, struct blob *ret_blob)
{
    uint8_t buffer[HISTOGRAM_BLOB_MAX];
    size_t length;
    uint8_t *data;

    if (h == NULL || h->count == 0)
        return 0;
    length = histogram_encode(h, buffer);
    data = malloc(length);
    if (data == NULL)
        return -ENOMEM;
    memcpy(data, buffer, length);
    *ret_blob = (struct blob){data, length};
    return 0;
}

int packed_of(const struct tally_pair *pair, struct packed *ret_packed)
{
    struct packed packed = {0};
    int err = 0;

    for (int op = 0; op < SAMPLE_OPS && err == 0; op++) {
        packed.n[op] = pair->op[op].n;
        err = pack(pair->op[op].service, &packed.service[op]);
        if (err == 0)
            err = pack(pair->op[op].response, &packed.response[op]);
    }
    if (err < 0)
        packed_done(&packed);
    else
        *ret_packed = packed;
    return err;
}

void packed_done(struct packed *packed)
{
    for (int op = 0; op < SAMPLE_OPS; op++) {
        free(packed->service[op].data);
        free(packed->response[op].data);
    }
    memset(packed, 0, sizeof(*packed));
}

int packed_add_to(const struct packed *packed, struct tally_pair *into)
{
    for (int op = 0; op < SAMPLE_OPS; op++) {
        const struct counts *n = &packed->n[op];
        const struct blob *service = &packed->service[op];
        const struct blob *response = &packed->response[op];
        struct tally *tally = &into->op[op];
        int err = tally_add_blob(&tally->service, service->data,
                                 service->length, n->ios);

        if (err == 0 && response->length > 0)
            err = tally_add_blob(&tally->response, response->data,
                                 response->length, n->ios);
        if (err < 0)
            return err;
        counts_add(&tally->n, n);
    }
    return 0;
}

struct host_row *host_row_free(struct host_row *row)
{
    if (row == NULL)
        return NULL;
    for (uint32_t i = 0; i < row->part_count; i++)
        (void)sample_free(row->parts[i]);
    free(row->parts);
    packed_done(&row->sum);
    free(row);
    return NULL;
}

struct row *row_free(struct row *row)
{
    if (row == NULL)
        return NULL;
    tally_pair_done(&row->sum);
    for (uint32_t i = 0; row->workloads != NULL && i < row->workload_count; i++)
        tally_pair_done(&row->workloads[i]);
    free(row->workloads);
    free(row->hosts);
    free(row);
    return NULL;
}

uint64_t row_window_ns(const struct row *row)
{
    return row->end_ns > row->begin_ns
               ? (uint64_t)row->end_ns - (uint64_t)row->begin_ns
               : 0;
}

bool row_is_skewed(const struct row *row, uint64_t interval_ns)
{
    return (u128)row->skew_ns * 20 > interval_ns;
}

bool row_is_partial(const struct row *row, uint64_t interval_ns)
{
    return row->spans > 0 && row->kind != SAMPLE_ROW_DRAIN &&
           (u128)row_window_ns(row) * 20 < (u128)interval_ns * row->spans * 19;
}
