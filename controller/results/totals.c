#include "controller/results/totals.h"

#include "controller/results/chunk.h"
#include "controller/results/columns.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* So many cells have their histograms in memory at once: at 160 KiB each at
 * most, 160 MiB.  More take more passes over the samples. */
#define CELLS_AT_ONCE 1024u

struct adding {
    struct store_access *access;
    struct totals *totals;
    struct layout *layout;
    uint32_t *by_host;   /* cells, those of a host together */
    uint32_t *host_from; /* where a host's begin in it; one more at the end */
    struct tally_pair *cells;
    struct tally_pair *workloads;
    struct tally_pair cluster;
    struct device *devices; /* by target of the plan */
    struct histogram *scratch;
};

struct totals *totals_free(struct totals *totals)
{
    if (totals == NULL)
        return NULL;
    for (uint32_t i = 0; i < totals->item_count; i++)
        packed_done(&totals->items[i].sum);
    rest_done(&totals->rest);
    trust_done(&totals->trust);
    free(totals->devices);
    free(totals->items);
    free(totals->hosts);
    free(totals);
    return NULL;
}

uint64_t totals_window_ns(const struct totals *totals)
{
    return totals->end_ns > totals->begin_ns
               ? (uint64_t)totals->end_ns - (uint64_t)totals->begin_ns
               : 0;
}

uint32_t totals_measured(const struct totals *totals)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < totals->host_count; i++)
        count += totals->intervals > 0 &&
                         totals->hosts[i].intervals == totals->intervals
                     ? 1
                     : 0;
    return count;
}

static int explain(const struct adding *a, int err, struct diag *diag)
{
    int told = err == -ENOMEM ? err : -EUCLEAN;

    return diag_set(diag, told, "store '%s': %s", a->access->path,
                    statement_remedy(told));
}

/* ---- Setting up ------------------------------------------------------------
 */

static int load_layout(struct adding *a, struct diag *diag)
{
    struct statement s;
    const uint8_t *cells;
    size_t length;
    int got;

    statement_begin(&s, a->access,
                    "SELECT cells FROM phase JOIN layout "
                    "ON layout.id = phase.layout WHERE phase.id = ?");
    statement_uint(&s, a->totals->phase);
    got = statement_step(&s, diag);
    if (got == 1) {
        cells = statement_get_blob(&s, &length);
        got = layout_decode(cells, length, &a->layout);
        got = got < 0 ? explain(a, got, diag) : 1;
    }
    statement_end(&s);
    return got;
}

/* Sorts the cells by host, by counting. */
static int sort_cells(struct adding *a)
{
    const struct layout *layout = a->layout;
    uint32_t *from = calloc((size_t)layout->host_count + 2, sizeof(*from));
    uint32_t *by_host =
        calloc((size_t)layout->cell_count + 1, sizeof(*by_host));

    a->host_from = from;
    a->by_host = by_host;
    if (from == NULL || by_host == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < layout->cell_count; i++)
        from[layout->cells[i].host + 2]++;
    for (uint32_t h = 0; h < layout->host_count; h++)
        from[h + 2] += from[h + 1];
    for (uint32_t i = 0; i < layout->cell_count; i++)
        by_host[from[layout->cells[i].host + 1]++] = i;
    return 0;
}

static int set_up(struct adding *a)
{
    const struct layout *layout = a->layout;
    struct totals *totals = a->totals;
    /* The cluster, each host, drive (a cell has one at most) and workload. */
    size_t items = 1 + (size_t)layout->takes_part_count + layout->cell_count +
                   layout->workload_count;

    a->cells = calloc((size_t)layout->cell_count + 1, sizeof(*a->cells));
    a->workloads =
        calloc((size_t)layout->workload_count + 1, sizeof(*a->workloads));
    totals->items = calloc(items, sizeof(*totals->items));
    totals->hosts =
        calloc((size_t)layout->takes_part_count + 1, sizeof(*totals->hosts));
    a->devices = calloc((size_t)layout->target_count + 1, sizeof(*a->devices));
    a->scratch = malloc(sizeof(*a->scratch));
    if (a->cells == NULL || a->workloads == NULL || totals->items == NULL ||
        totals->hosts == NULL || a->devices == NULL || a->scratch == NULL)
        return -ENOMEM;
    histogram_init(a->scratch);
    for (uint32_t h = 0; h < layout->host_count; h++)
        if (layout->takes_part[h])
            totals->hosts[totals->host_count++].host = h;
    return sort_cells(a);
}

static void tear_down(struct adding *a)
{
    uint32_t cells = a->layout == NULL ? 0 : a->layout->cell_count;
    uint32_t workloads = a->layout == NULL ? 0 : a->layout->workload_count;

    for (uint32_t i = 0; a->cells != NULL && i < cells; i++)
        tally_pair_done(&a->cells[i]);
    for (uint32_t i = 0; a->workloads != NULL && i < workloads; i++)
        tally_pair_done(&a->workloads[i]);
    tally_pair_done(&a->cluster);
    free(a->cells);
    free(a->workloads);
    free(a->by_host);
    free(a->host_from);
    free(a->devices);
    free(a->scratch);
    a->layout = layout_free(a->layout);
}

/* ---- Times, from the hosts' rows -------------------------------------------
 */

static struct totals_host *find_host(struct totals *totals, uint32_t host)
{
    for (uint32_t i = 0; i < totals->host_count; i++)
        if (totals->hosts[i].host == host)
            return &totals->hosts[i];
    return NULL;
}

/* One host's measured part: it widens the window, and narrows what all share.
 */
static int add_times(struct adding *a, struct statement *s, struct diag *diag)
{
    struct totals *totals = a->totals;
    struct totals_host *host =
        find_host(totals, (uint32_t)statement_get_uint(s));
    int64_t begin_ns, end_ns;

    if (host == NULL)
        return explain(a, -EUCLEAN, diag);
    host->intervals = statement_get_uint(s);
    begin_ns = statement_get_int(s);
    end_ns = statement_get_int(s);
    host->cpu = columns_get_cpu(s);
    if (host->intervals > totals->intervals)
        totals->intervals = host->intervals;
    if (begin_ns < totals->begin_ns)
        totals->begin_ns = begin_ns;
    if (end_ns > totals->end_ns)
        totals->end_ns = end_ns;
    return 0;
}

static int read_times(struct adding *a, struct diag *diag)
{
    struct statement s;
    int got;

    a->totals->begin_ns = INT64_MAX;
    a->totals->end_ns = INT64_MIN;
    statement_begin(&s, a->access,
                    "SELECT host, sum(spans), min(begin_ns), "
                    "max(end_ns), " COLUMNS_CPU_SUMS " FROM host_interval "
                    "WHERE phase = ? AND drain = 0 AND kind = ? GROUP BY host");
    statement_uint(&s, a->totals->phase);
    statement_int(&s, SAMPLE_ROW_MEASURED);
    got = statement_step(&s, diag);
    while (got == 1) {
        got = add_times(a, &s, diag);
        if (got == 0)
            got = statement_step(&s, diag);
    }
    statement_end(&s);
    return got;
}

/* The start: from when the first worker of all to when the last opened its
 * schedule.  And from when to when all hosts measured. */
static int read_start(struct adding *a, struct diag *diag)
{
    struct totals *totals = a->totals;
    struct statement s;
    int got;

    totals->spread_ns = -1;
    statement_begin(&s, a->access,
                    "SELECT max(opened_last_ns) - min(opened_first_ns) "
                    "FROM host_interval WHERE phase = ?");
    statement_uint(&s, totals->phase);
    got = statement_step(&s, diag);
    if (got == 1 && !statement_is_null(&s))
        totals->spread_ns = statement_get_int(&s);
    statement_end(&s);
    if (got < 0)
        return got;
    statement_begin(&s, a->access,
                    "SELECT count(*), min(e) - max(max(b), max(o)) FROM ("
                    " SELECT min(begin_ns) AS b, max(end_ns) AS e,"
                    " max(opened_last_ns) AS o FROM host_interval"
                    " WHERE phase = ? AND drain = 0 AND kind = ?"
                    " GROUP BY host)");
    statement_uint(&s, totals->phase);
    statement_int(&s, SAMPLE_ROW_MEASURED);
    got = statement_step(&s, diag);
    if (got == 1 && statement_get_uint(&s) == totals->host_count &&
        !statement_is_null(&s))
        totals->overlap_ns = statement_get_int(&s);
    statement_end(&s);
    if (totals->overlap_ns < 0)
        totals->overlap_ns = 0;
    return got < 0 ? got : 0;
}

/* ---- Sums, from the samples ------------------------------------------------
 */

/* What the workers did, in every row. */
static int note_work(struct adding *a, uint32_t host,
                     const struct sample_cell *cell)
{
    struct device *device;

    if (cell->cell >= a->layout->cell_count ||
        a->layout->cells[cell->cell].host != host)
        return -EBADMSG;
    device = &a->devices[a->layout->cells[cell->cell].target];
    device->ios[cell->op] += cell->ios;
    device->bytes[cell->op] += cell->bytes;
    return 0;
}

/* What the kernel and the drives told, in every row; NULL: nothing. */
static int add_drives(struct adding *a, const uint8_t *data, size_t length)
{
    struct byte_reader reader;
    struct sample_drive drive;
    int got;

    if (length == 0)
        return 0;
    got = device_open(&reader, data, length);
    if (got == 0)
        got = device_next(&reader, &drive);
    while (got == 1) {
        if (drive.target >= a->layout->target_count)
            return -EBADMSG;
        device_add(&a->devices[drive.target], &drive);
        got = device_next(&reader, &drive);
    }
    return got;
}

/* Of a measured row. */
static int add_cell(struct adding *a, const struct sample_cell *cell)
{
    const struct counts n = counts_of(cell);
    struct tally *tally = &a->cells[cell->cell].op[cell->op];
    int err;

    err = tally_add_blob(&tally->service, cell->service, cell->service_length,
                         cell->ios);
    if (err == 0 && cell->response_length > 0)
        err = tally_add_blob(&tally->response, cell->response,
                             cell->response_length, cell->ios);
    if (err == 0)
        counts_follow(&tally->n, &n);
    return err;
}

/* What was in flight an interval ago is not in flight any more, unless the
 * sample says so once more. */
static void clear_gauges(struct adding *a, uint32_t host)
{
    const struct counts nothing = {0};

    for (uint32_t i = a->host_from[host]; i < a->host_from[host + 1]; i++)
        for (int op = 0; op < SAMPLE_OPS; op++)
            counts_follow(&a->cells[a->by_host[i]].op[op].n, &nothing);
}

static int add_sample(struct adding *a, struct statement *s, struct diag *diag)
{
    uint32_t host = (uint32_t)statement_get_uint(s);
    struct chunk_reader reader;
    struct sample_cell cell;
    bool measured = statement_get_int(s) == SAMPLE_ROW_MEASURED;
    const uint8_t *data;
    size_t length;
    int got;

    data = statement_get_blob(s, &length);
    if (host >= a->layout->host_count)
        return explain(a, -EUCLEAN, diag);
    if (measured)
        clear_gauges(a, host);
    got = chunk_open(&reader, data, length);
    if (got == 0)
        got = chunk_next(&reader, &cell);
    while (got == 1) {
        got = note_work(a, host, &cell);
        if (got == 0 && measured)
            got = add_cell(a, &cell);
        if (got == 0)
            got = chunk_next(&reader, &cell);
    }
    data = statement_get_blob(s, &length);
    if (got == 0)
        got = add_drives(a, data, length);
    return got < 0 ? explain(a, got, diag) : 0;
}

/* One pass over the samples: those of the hosts from `first` to `last`. */
static int add_samples(struct adding *a, uint32_t first, uint32_t last,
                       struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, a->access,
                    "SELECT host, kind, cells, drives FROM sample WHERE "
                    "phase = ? AND host BETWEEN ? AND ? ORDER BY interval");
    statement_uint(&s, a->totals->phase);
    statement_uint(&s, first);
    statement_uint(&s, last);
    got = statement_step(&s, diag);
    while (got == 1) {
        got = add_sample(a, &s, diag);
        if (got == 0)
            got = statement_step(&s, diag);
    }
    statement_end(&s);
    return got;
}

static int keep(struct adding *a, enum record_scope scope, uint32_t item,
                const struct tally_pair *sum, const struct cpu_tally *cpu)
{
    struct totals_item *to = &a->totals->items[a->totals->item_count];
    int err = packed_of(sum, &to->sum);

    if (err < 0)
        return err;
    to->scope = scope;
    to->item = item;
    if (cpu != NULL)
        to->cpu = *cpu;
    a->totals->item_count++;
    return 0;
}

/*
 * Sums the cells of one drive, beginning with that at `at` of the host's:
 * into the first of them, which is kept as the drive's.  The others are marked
 * as done by what they no longer have.
 */
static int sum_drive(struct adding *a, uint32_t at, uint32_t end,
                     struct tally_pair *host, bool *done)
{
    const struct layout *layout = a->layout;
    uint32_t first = a->by_host[at];
    uint32_t target = layout->cells[first].target;
    struct tally_pair drive = {0};
    int err = 0;

    for (uint32_t i = at; i < end && err == 0; i++) {
        uint32_t cell = a->by_host[i];

        if (layout->cells[cell].target != target)
            continue;
        err = tally_pair_add(&drive, &a->cells[cell]);
        done[i - a->host_from[layout->cells[cell].host]] = true;
    }
    if (err == 0)
        err = keep(a, RECORD_DRIVE, target, &drive, NULL);
    if (err == 0)
        err = tally_pair_add(host, &drive);
    tally_pair_done(&drive);
    return err;
}

static int sum_drives(struct adding *a, uint32_t host, struct tally_pair *sum)
{
    uint32_t from = a->host_from[host], end = a->host_from[host + 1];
    bool *done = calloc((size_t)(end - from) + 1, sizeof(*done));
    int err = done == NULL ? -ENOMEM : 0;

    for (uint32_t i = from; i < end && err == 0; i++)
        if (!done[i - from])
            err = sum_drive(a, i, end, sum, done);
    free(done);
    return err;
}

static int sum_workloads(struct adding *a, uint32_t host)
{
    int err = 0;

    for (uint32_t i = a->host_from[host];
         i < a->host_from[host + 1] && err == 0; i++) {
        uint32_t cell = a->by_host[i];
        uint32_t workload = a->layout->cells[cell].workload;

        err = tally_pair_add(&a->workloads[workload], &a->cells[cell]);
        tally_pair_done(&a->cells[cell]);
    }
    return err;
}

static void judge_host(struct adding *a, const struct totals_host *host,
                       const struct tally_pair *sum)
{
    uint64_t window_ns = totals_window_ns(a->totals);
    struct figures figures;

    if (window_ns == 0)
        return;
    figures_of(sum, window_ns, true, &host->cpu, a->scratch, &figures);
    trust_judge_host(&a->totals->trust, host->host, &figures, window_ns);
}

static bool is_told(const struct device *device)
{
    return device->sum.counted || device->sum.has_temperature ||
           device->before.known;
}

/* The drives of which anything was told, and what that says. */
static int keep_devices(struct adding *a)
{
    struct totals *totals = a->totals;

    totals->devices =
        calloc((size_t)a->layout->target_count + 1, sizeof(*totals->devices));
    if (totals->devices == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < a->layout->target_count; i++) {
        if (!is_told(&a->devices[i]))
            continue;
        trust_judge_drive(&totals->trust, &a->devices[i]);
        totals->devices[totals->device_count++] = a->devices[i];
    }
    return totals->trust.failed ? -ENOMEM : 0;
}

/* A host's cells are complete: they become its drives, itself, and parts of the
 * workloads and the cluster. */
static int sum_host(struct adding *a, const struct totals_host *host)
{
    struct tally_pair sum = {0};
    int err = sum_drives(a, host->host, &sum);

    if (err == 0)
        judge_host(a, host, &sum);
    if (err == 0)
        err = keep(a, RECORD_HOST, host->host, &sum, &host->cpu);
    if (err == 0)
        err = tally_pair_add(&a->cluster, &sum);
    if (err == 0)
        err = sum_workloads(a, host->host);
    tally_pair_done(&sum);
    return err;
}

/* As many of the hosts from `at` on as fit; returns how many. */
static uint32_t batch(const struct adding *a, uint32_t at)
{
    const struct totals *totals = a->totals;
    uint32_t cells = 0, count = 0;

    while (at + count < totals->host_count) {
        uint32_t host = totals->hosts[at + count].host;

        cells += a->host_from[host + 1] - a->host_from[host];
        if (count > 0 && cells > CELLS_AT_ONCE)
            break;
        count++;
    }
    return count;
}

static int sum_all(struct adding *a, struct diag *diag)
{
    const struct totals *totals = a->totals;
    struct cpu_tally cpu = {0};
    uint32_t count;
    int err = 0;

    for (uint32_t at = 0; at < totals->host_count; at += count) {
        count = batch(a, at);
        err = add_samples(a, totals->hosts[at].host,
                          totals->hosts[at + count - 1].host, diag);
        if (err < 0)
            return err;
        for (uint32_t i = at; i < at + count && err == 0; i++) {
            cpu_tally_add(&cpu, &totals->hosts[i].cpu);
            err = sum_host(a, &totals->hosts[i]);
        }
        if (err < 0)
            return explain(a, err, diag);
    }
    err = keep(a, RECORD_CLUSTER, 0, &a->cluster, &cpu);
    for (uint32_t w = 0; w < a->layout->workload_count && err == 0; w++)
        err = keep(a, RECORD_WORKLOAD, w, &a->workloads[w], NULL);
    if (err == 0)
        err = keep_devices(a);
    return err < 0 ? explain(a, err, diag) : 0;
}

static int read_all(struct adding *a, struct diag *diag)
{
    int err = load_layout(a, diag);

    if (err <= 0)
        return err; /* 0: it never began */
    err = set_up(a);
    if (err < 0)
        return explain(a, err, diag);
    err = read_times(a, diag);
    if (err == 0)
        err = read_start(a, diag);
    if (err == 0)
        err = rest_read(a->access, a->totals->phase, &a->totals->rest, diag);
    if (err == 0)
        err = totals_read_failures(a->access, a->totals, diag);
    return err < 0 ? err : sum_all(a, diag);
}

int totals_read(struct store_access *access, uint64_t phase,
                struct totals **ret_totals, struct diag *diag)
{
    struct adding a = {.access = access};
    int err;

    a.totals = calloc(1, sizeof(*a.totals));
    if (a.totals == NULL)
        return explain(&a, -ENOMEM, diag);
    a.totals->phase = phase;
    a.totals->spread_ns = -1;
    err = read_all(&a, diag);
    tear_down(&a);
    if (err < 0)
        (void)totals_free(a.totals);
    else
        *ret_totals = a.totals;
    return err;
}

/* ---- Writing ---------------------------------------------------------------
 */

static int write_item(struct store_access *access, const struct totals *totals,
                      const struct totals_item *item, struct diag *diag)
{
    struct statement s;

    statement_begin(
        &s, access,
        "INSERT OR REPLACE INTO total(phase, scope, item, " COLUMNS_CPU
        ", " COLUMNS_TALLY ") VALUES (?, ?, ?, " COLUMNS_CPU_VALUES
        ", " COLUMNS_TALLY_VALUES ")");
    statement_uint(&s, totals->phase);
    statement_int(&s, item->scope);
    statement_uint(&s, item->item);
    columns_bind_cpu(&s, &item->cpu);
    columns_bind_tally(&s, &item->sum);
    return statement_run(&s, diag);
}

static void bind_or_null(struct statement *s, bool known, int64_t value)
{
    if (known)
        statement_int(s, value);
    else
        statement_null(s);
}

static int write_times(struct store_access *access, const struct totals *totals,
                       struct diag *diag)
{
    bool measured = totals_window_ns(totals) > 0;
    struct statement s;

    statement_begin(&s, access,
                    "UPDATE phase SET begin_ns = ?2, end_ns = ?3, "
                    "spread_ns = ?4, overlap_ns = ?5, intervals = ?6 "
                    "WHERE id = ?1");
    statement_uint(&s, totals->phase);
    bind_or_null(&s, measured, totals->begin_ns);
    bind_or_null(&s, measured, totals->end_ns);
    bind_or_null(&s, totals->spread_ns >= 0, totals->spread_ns);
    bind_or_null(&s, measured, totals->overlap_ns);
    statement_uint(&s, totals->intervals);
    return statement_run(&s, diag);
}

static int write_device(struct store_access *access,
                        const struct totals *totals,
                        const struct device *device, struct diag *diag)
{
    struct object o = device_object(device);
    char *facts = object_text(&o);
    struct statement s;
    int err;

    if (facts == NULL)
        return diag_set(diag, -ENOMEM, "store '%s': %s", access->path,
                        statement_remedy(-ENOMEM));
    statement_begin(&s, access,
                    "INSERT OR REPLACE INTO device(phase, target, facts) "
                    "VALUES (?, ?, ?)");
    statement_uint(&s, totals->phase);
    statement_uint(&s, device->sum.target);
    statement_text(&s, facts);
    err = statement_run(&s, diag);
    free(facts);
    return err;
}

static int write_flag(struct store_access *access, const struct totals *totals,
                      uint32_t position, struct diag *diag)
{
    const struct trust_flag *flag = &totals->trust.flags[position];
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO flag(phase, position, scope, item, word, "
                    "text) VALUES (?, ?, ?, ?, ?, ?)");
    statement_uint(&s, totals->phase);
    statement_uint(&s, position);
    statement_int(&s, flag->scope);
    statement_uint(&s, flag->item);
    statement_text(&s, flag->word);
    statement_text(&s, flag->text);
    return statement_run(&s, diag);
}

/* Those of before, where the totals are made again, go. */
static int write_trust(struct store_access *access, const struct totals *totals,
                       struct diag *diag)
{
    struct statement s;
    int err;

    statement_begin(&s, access, "DELETE FROM flag WHERE phase = ?");
    statement_uint(&s, totals->phase);
    err = statement_run(&s, diag);
    for (uint32_t i = 0; i < totals->trust.count && err == 0; i++)
        err = write_flag(access, totals, i, diag);
    for (uint32_t i = 0; i < totals->device_count && err == 0; i++)
        err = write_device(access, totals, &totals->devices[i], diag);
    return err;
}

int totals_write(struct store_access *access, const struct totals *totals,
                 struct diag *diag)
{
    int err = write_times(access, totals, diag);

    if (err == 0)
        err = write_trust(access, totals, diag);

    for (uint32_t i = 0; i < totals->item_count && err == 0; i++)
        err = write_item(access, totals, &totals->items[i], diag);
    return err;
}
