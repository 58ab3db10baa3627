#include "controller/results/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Hosts told about in one event: it must fit into a frame. */
#define EVENT_HOSTS_MAX 1024u

const char *verdict_name(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_COMPLETE:
        return "complete";
    case VERDICT_DEGRADED:
        return "degraded";
    case VERDICT_INTERRUPTED:
        return "interrupted";
    case VERDICT_FAILED:
        return "failed";
    case VERDICT_NONE:
        break;
    }
    return NULL;
}

int verdict_exit_status(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_FAILED:
        return 1;
    case VERDICT_DEGRADED:
        return 3;
    case VERDICT_INTERRUPTED:
        return 4;
    case VERDICT_NONE:
    case VERDICT_COMPLETE:
        break;
    }
    return 0;
}

/* ---- Figures ---------------------------------------------------------------
 */

static struct object latency(const struct latency_figures *f)
{
    struct object o = object_new();

    object_put_us(&o, "mean", f->mean_us);
    object_put_us(&o, "min", f->min_us);
    object_put_us(&o, "p50", f->p50_us);
    object_put_us(&o, "p90", f->p90_us);
    object_put_us(&o, "p99", f->p99_us);
    object_put_us(&o, "p999", f->p999_us);
    object_put_us(&o, "p9999", f->p9999_us);
    object_put_us(&o, "max", f->max_us);
    object_put_us(&o, "stddev", f->stddev_us);
    if (f->overflow > 0)
        object_put_count(&o, "overflow", f->overflow);
    return o;
}

/* `open_loop` false: no intended start, so no response. */
static void put_op(struct object *into, const struct op_figures *f,
                   bool open_loop)
{
    struct object service = latency(&f->service);
    struct object response;

    object_put_count(into, "ios", f->ios);
    object_put_count(into, "bytes", f->bytes);
    object_put_count(into, "errors", f->errors);
    object_put_real(into, "iops", f->iops, 3);
    object_put_real(into, "mib_s", f->mib_s, 3);
    object_put_object(into, "service_us", &service);
    if (!open_loop) {
        object_put(into, "response_us", json_null());
        return;
    }
    response = latency(&f->response);
    object_put_object(into, "response_us", &response);
}

static struct object op_object(const struct op_figures *f, bool open_loop)
{
    struct object o = object_new();

    put_op(&o, f, open_loop);
    return o;
}

void document_op(struct object *into, const struct op_figures *f,
                 bool open_loop)
{
    put_op(into, f, open_loop);
}

void document_brief(struct object *into, const struct figures *f)
{
    put_op(into, &f->all, f->open_loop);
    object_put_real(into, "read_pct", f->read_pct, 2);
    object_put_count(into, "in_flight", f->in_flight);
    object_put_us(into, "oldest_us", f->oldest_us);
    object_put_count(into, "unissued", f->unissued);
}

/* Nothing in a closed loop, and where nothing was issued. */
static void put_lateness(struct object *into, const struct figures *f)
{
    struct object late = object_new();

    object_put_us(&late, "mean", f->late_mean_us);
    object_put_us(&late, "max", f->late_max_us);
    if (f->open_loop) {
        object_put_object(into, "late_us", &late);
        return;
    }
    object_done(&late);
    object_put(into, "late_us", json_null());
}

/* Only hosts and the cluster have them. */
static void put_holds(struct object *into, const struct figures *f)
{
    if (!f->has_cpu) {
        object_put(into, "holds", json_null());
        object_put(into, "held_us", json_null());
        object_put(into, "put_off", json_null());
        return;
    }
    object_put_count(into, "holds", f->holds);
    object_put_us(into, "held_us", f->held_us);
    object_put_count(into, "put_off", f->refused);
}

void document_figures(struct object *into, const struct figures *f)
{
    struct object read = op_object(&f->read, f->open_loop);
    struct object write = op_object(&f->write, f->open_loop);

    put_op(into, &f->all, f->open_loop);
    object_put_bool(into, "response_lower_bound", f->response_lower_bound);
    object_put_real(into, "read_pct", f->read_pct, 2);
    object_put_real(into, "bytes_per_io", f->bytes_per_io, 1);
    object_put_real(into, "queue_depth", f->queue_depth, 3);
    object_put_count(into, "in_flight", f->in_flight);
    object_put_us(into, "oldest_us", f->oldest_us);
    object_put_count(into, "unissued", f->unissued);
    object_put_us(into, "unissued_oldest_us", f->unissued_oldest_us);
    put_lateness(into, f);
    put_holds(into, f);
    object_put_real(into, "busiest_worker_pct", f->busiest_worker_pct, 2);
    object_put_real(into, "agent_cpu_pct", f->agent_cpu_pct, 2);
    object_put_real(into, "host_cpu_pct", f->host_cpu_pct, 2);
    object_put_real(into, "host_system_pct", f->host_system_pct, 2);
    object_put_object(into, "read", &read);
    object_put_object(into, "write", &write);
}

/* ---- Phases ----------------------------------------------------------------
 */

static const char *rate_text(const struct document_phase *phase, char *text,
                             size_t size)
{
    switch (phase->rate_kind) {
    case PLAN_RATE_MAX:
        return "max";
    case PLAN_RATE_CURVE:
        return "curve";
    case PLAN_RATE_PERCENT:
    case PLAN_RATE_DRIVES:
    case PLAN_RATE_OBSERVED:
        (void)snprintf(text, size, "%.10g%%", phase->rate_value);
        break;
    case PLAN_RATE_FIND:
    case PLAN_RATE_FIXED:
        (void)snprintf(text, size, "%.10g", phase->rate_value);
        break;
    }
    return text;
}

/* A number where there is one, else the word. */
static void put_rate(struct object *into, const struct document_phase *phase)
{
    char text[32];
    const char *word = rate_text(phase, text, sizeof(text));
    bool closed = phase->rate_kind == PLAN_RATE_MAX ||
                  phase->rate_kind == PLAN_RATE_CURVE;

    if (closed)
        object_put_text(into, "iorate", word);
    else if (phase->iorate > 0)
        object_put_real(into, "iorate", phase->iorate, 3);
    else
        object_put_real(
            into, "iorate",
            phase->rate_kind == PLAN_RATE_FIXED ? phase->rate_value : NAN, 3);
    object_put_text(into, "iorate_text", word);
}

void document_asked(struct object *into, const struct document_phase *phase)
{
    object_put_count(into, "phase", (uint64_t)phase->phase + 1);
    object_put_count(into, "phases", phase->phases);
    object_put_text(into, "run", phase->run);
    object_put_text(into, "kind",
                    phase->kind == PLAN_RUN_FILL ? "fill" : "measure");
    put_rate(into, phase);
    object_put_text(into, "for", phase->for_text);
    object_put_seconds(into, "elapsed_s", phase->elapsed_ns);
    object_put_seconds(into, "warmup_s", phase->warmup_ns);
    object_put_seconds(into, "interval_s", phase->interval_ns);
    object_put_seconds(into, "pause_s", phase->pause_ns);
    object_put_word(into, "xfersize", phase->xfersize);
    object_put_word(into, "threads", phase->threads);
    object_put_word(into, "rdpct", phase->rdpct);
    object_put_word(into, "seekpct", phase->seekpct);
}

struct object document_phase_event(const struct document_phase *phase,
                                   uint32_t hosts, uint32_t drives,
                                   uint64_t remaining_ns, int64_t wall_ns)
{
    struct object o = object_new();

    object_put_text(&o, "event", "phase");
    object_put_count(&o, "campaign", phase->campaign);
    document_asked(&o, phase);
    object_put_count(&o, "hosts", hosts);
    object_put_count(&o, "drives", drives);
    if (remaining_ns == 0)
        object_put(&o, "remaining_s", json_null());
    else
        object_put_seconds(&o, "remaining_s", remaining_ns);
    object_put_time(&o, "wall", wall_ns);
    return o;
}

void document_without_first(struct object *into, const struct figures *figures)
{
    struct object o = object_new();

    if (figures == NULL) {
        object_done(&o);
        object_put(into, "without_first", json_null());
        return;
    }
    document_figures(&o, figures);
    object_put_object(into, "without_first", &o);
}

struct object document_phase_end_event(const struct document_phase *phase,
                                       const struct document_end *end)
{
    struct object o = object_new();
    struct object total = object_new();

    object_put_text(&o, "event", "phase_end");
    object_put_count(&o, "campaign", phase->campaign);
    document_asked(&o, phase);
    object_put_text(&o, "verdict", verdict_name(end->verdict));
    object_put_word(&o, "error", end->error);
    if (end->intervals > 0) {
        object_put_count(&o, "first_interval", end->warmup_intervals + 1);
        object_put_count(&o, "last_interval",
                         end->warmup_intervals + end->intervals);
    } else {
        object_put(&o, "first_interval", json_null());
        object_put(&o, "last_interval", json_null());
    }
    object_put_time(&o, "wall", end->wall_ns);
    object_put_us(&o, "start_spread_us",
                  end->spread_ns < 0 ? NAN : (double)end->spread_ns / 1000);
    object_put_us(&o, "start_uncertainty_us",
                  end->uncertainty_ns < 0 ? NAN
                                          : (double)end->uncertainty_ns / 1000);
    document_without_first(&o, end->without_first);
    object_put(&o, "flags", end->flags == NULL ? json_array() : end->flags);
    if (end->total == NULL) {
        object_done(&total);
        object_put(&o, "total", json_null());
        return o;
    }
    document_figures(&total, end->total);
    object_put_object(&o, "total", &total);
    return o;
}

struct object document_end_event(uint64_t campaign, enum verdict verdict,
                                 const char *error)
{
    struct object o = object_new();

    object_put_text(&o, "event", "end");
    object_put_count(&o, "campaign", campaign);
    object_put_text(&o, "verdict", verdict_name(verdict));
    object_put_word(&o, "error", error);
    return o;
}

char *results_notice(const char *text)
{
    struct object o = object_new();

    object_put_text(&o, "event", "notice");
    object_put_text(&o, "text", text);
    return object_text(&o);
}

/* ---- Intervals -------------------------------------------------------------
 */

static const char *kind_name(enum sample_kind kind)
{
    static const char *const names[] = {
        [SAMPLE_ROW_MEASURED] = "measured",
        [SAMPLE_ROW_WARMUP] = "warmup",
        [SAMPLE_ROW_DRAIN] = "drain",
    };

    return names[kind];
}

static uint64_t sum_ios(const struct row_host *host)
{
    return host->n[SAMPLE_READ].ios + host->n[SAMPLE_WRITE].ios;
}

/* A host in few words: an event has all of them. */
static struct object host_row(const struct document_interval *d,
                              const struct row_host *host)
{
    uint64_t window_ns = row_window_ns(d->row);
    uint64_t bytes = host->n[SAMPLE_READ].bytes + host->n[SAMPLE_WRITE].bytes;
    struct object o = object_new();
    struct object service = object_new();

    object_put_text(&o, "name", d->host_name(d->names, host->host));
    object_put_bool(&o, "delivered", host->delivered);
    object_put_count(&o, "ios", sum_ios(host));
    object_put_count(&o, "bytes", bytes);
    object_put_count(&o, "errors",
                     host->n[SAMPLE_READ].errors +
                         host->n[SAMPLE_WRITE].errors);
    object_put_real(&o, "iops", rate_of(sum_ios(host), window_ns), 3);
    object_put_real(&o, "mib_s", rate_of(bytes, window_ns) / 1048576, 3);
    object_put_real(&o, "read_pct",
                    share_pct(host->n[SAMPLE_READ].ios, sum_ios(host)), 2);
    object_put_us(&service, "mean", host->mean_us);
    object_put_us(&service, "p99", host->p99_us);
    object_put_us(&service, "max", host->max_us);
    object_put_object(&o, "service_us", &service);
    object_put_real(&o, "host_cpu_pct",
                    share_pct(host->cpu.host_ns, host->cpu.capacity_ns), 2);
    return o;
}

static void put_hosts(struct object *into, const struct document_interval *d)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < d->row->hosts_expected && i < EVENT_HOSTS_MAX;
         i++) {
        struct object host = host_row(d, &d->row->hosts[i]);

        object_append(into, array, &host);
    }
    object_put(into, "host_rows", array);
}

static void put_workloads(struct object *into,
                          const struct document_interval *d,
                          struct histogram *scratch)
{
    json_t *array = json_array();

    for (uint32_t w = 0; w < d->row->workload_count; w++) {
        struct object o = object_new();
        struct figures figures;

        figures_of(&d->row->workloads[w], row_window_ns(d->row), d->open_loop,
                   NULL, scratch, &figures);
        object_put_text(&o, "name", d->workload_name(d->names, w));
        document_figures(&o, &figures);
        object_append(into, array, &o);
    }
    object_put(into, "workload_rows", array);
}

static int64_t end_wall_ns(const struct document_interval *d)
{
    const struct row *row = d->row;

    if (d->start_wall_ns == 0)
        return 0;
    return d->start_wall_ns +
           (row->end_ns > row->begin_ns
                ? row->end_ns
                : (int64_t)((row->interval + 1) * d->interval_ns));
}

static void put_edges(struct object *into, const struct document_interval *d)
{
    const struct row *row = d->row;
    uint64_t window_ns = row_window_ns(row);

    if (window_ns == 0)
        object_put(into, "length_s", json_null());
    else
        object_put_seconds(into, "length_s", window_ns);
    object_put_bool(into, "partial", row_is_partial(row, d->interval_ns));
    object_put_us(into, "skew_us", (double)row->skew_ns / 1000);
    object_put_bool(into, "skewed", row_is_skewed(row, d->interval_ns));
    object_put_time(into, "wall", end_wall_ns(d));
}

struct object document_interval_event(const struct document_interval *d,
                                      struct histogram *scratch)
{
    const struct row *row = d->row;
    struct object o = object_new();
    struct object sums = object_new();
    struct figures figures;

    object_put_text(&o, "event", "interval");
    object_put_count(&o, "campaign", d->campaign);
    object_put_count(&o, "phase", (uint64_t)d->phase + 1);
    object_put_text(&o, "run", d->run);
    object_put_count(&o, "interval", row->interval + 1);
    object_put_text(&o, "kind", kind_name(row->kind));
    object_put_count(&o, "spans", row->spans);
    object_put_count(&o, "revision", (uint64_t)row->revision + 1);
    object_put_count(&o, "hosts", row->hosts_delivered);
    object_put_count(&o, "hosts_expected", row->hosts_expected);
    object_put(&o, "missing", d->missing);
    put_edges(&o, d);
    figures_of(&row->sum, row_window_ns(row), d->open_loop, &row->cpu, scratch,
               &figures);
    document_figures(&sums, &figures);
    object_put_object(&o, "figures", &sums);
    if (d->host_name != NULL)
        put_hosts(&o, d);
    if (d->workload_name != NULL)
        put_workloads(&o, d, scratch);
    return o;
}
