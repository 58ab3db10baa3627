#include "controller/results/columns.h"

#include <errno.h>

void columns_bind_cpu(struct statement *s, const struct cpu_tally *cpu)
{
    statement_uint(s, cpu->host_ns);
    statement_uint(s, cpu->system_ns);
    statement_uint(s, cpu->capacity_ns);
    statement_uint(s, cpu->agent_ns);
    statement_uint(s, cpu->worker_ns);
    statement_uint(s, cpu->holds);
    statement_uint(s, cpu->held_ns);
    statement_uint(s, cpu->refused);
}

void columns_bind_tally(struct statement *s, const struct packed *packed)
{
    for (int op = 0; op < SAMPLE_OPS; op++) {
        const struct counts *n = &packed->n[op];

        statement_uint(s, n->ios);
        statement_uint(s, n->bytes);
        statement_uint(s, n->errors);
        statement_uint(s, n->in_flight);
        statement_uint(s, n->oldest_ns);
        statement_uint(s, n->unissued);
        statement_uint(s, n->unissued_oldest_ns);
        statement_uint(s, n->issued);
        statement_uint(s, n->late_ns);
        statement_uint(s, n->late_max_ns);
        statement_blob(s, packed->service[op].data, packed->service[op].length);
        statement_blob(s, packed->response[op].data,
                       packed->response[op].length);
    }
}

struct cpu_tally columns_get_cpu(struct statement *s)
{
    struct cpu_tally cpu;

    cpu.host_ns = statement_get_uint(s);
    cpu.system_ns = statement_get_uint(s);
    cpu.capacity_ns = statement_get_uint(s);
    cpu.agent_ns = statement_get_uint(s);
    cpu.worker_ns = statement_get_uint(s);
    cpu.holds = statement_get_uint(s);
    cpu.held_ns = statement_get_uint(s);
    cpu.refused = statement_get_uint(s);
    return cpu;
}

static void get_counts(struct statement *s, struct counts *ret_counts)
{
    ret_counts->ios = statement_get_uint(s);
    ret_counts->bytes = statement_get_uint(s);
    ret_counts->errors = statement_get_uint(s);
    ret_counts->in_flight = statement_get_uint(s);
    ret_counts->oldest_ns = statement_get_uint(s);
    ret_counts->unissued = statement_get_uint(s);
    ret_counts->unissued_oldest_ns = statement_get_uint(s);
    ret_counts->issued = statement_get_uint(s);
    ret_counts->late_ns = statement_get_uint(s);
    ret_counts->late_max_ns = statement_get_uint(s);
}

static int add_op(struct statement *s, struct tally *into)
{
    const uint8_t *blob;
    struct counts n;
    size_t length;
    int err;

    get_counts(s, &n);
    blob = statement_get_blob(s, &length);
    err = tally_add_blob(&into->service, blob, length, n.ios);
    blob = statement_get_blob(s, &length);
    if (err == 0)
        err = tally_add_responses(&into->response, blob, length, n.ios);
    if (err == 0)
        counts_add(&into->n, &n);
    return err;
}

int columns_add_tally(struct statement *s, struct tally_pair *into,
                      struct diag *diag)
{
    int err = 0;

    for (int op = 0; op < SAMPLE_OPS && err == 0; op++)
        err = add_op(s, &into->op[op]);
    if (err == 0)
        return 0;
    if (err == -ENOMEM)
        return diag_set(diag, err, "store '%s': %s", s->access->path,
                        statement_remedy(err));
    return diag_set(diag, -EUCLEAN,
                    "store '%s': a histogram in it does not fit its counts: %s",
                    s->access->path, statement_remedy(-EUCLEAN));
}
