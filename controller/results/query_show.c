/*
 * Everything about one campaign: what was run, on what, how it ended, and the
 * figures of every phase.  Written phase by phase, so that a campaign of 200
 * phases and 240 drives needs the memory of one.
 */
#include "controller/results/query_show.h"
#include "controller/results/columns.h"
#include "controller/results/layout.h"
#include "controller/results/record.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hosts that share less of the window than this are pointed out. */
#define OVERLAP_LOW_PCT 95.0

/* ---- What was run, on what -------------------------------------------------
 */

static void put_strings(struct show *show, struct object *o, const char *key,
                        const char *sql, int *err)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access, sql);
    statement_uint(&s, show->found->number);
    while ((got = statement_step(&s, show->diag)) == 1)
        if (json_array_append_new(array, json_string(statement_get_text(&s))) <
            0)
            (void)json_array_append_new(array, json_null());
    statement_end(&s);
    object_put(o, key, array);
    *err = got < 0 ? got : *err;
}

static struct object host_object(struct statement *s)
{
    struct object o = object_new();

    object_put_text(&o, "name", statement_get_text(s));
    object_put_text(&o, "system", statement_get_text(s));
    object_put_word(&o, "aliases", statement_get_text(s));
    object_put_word(&o, "agent", statement_get_text(s));
    object_put_word(&o, "address", statement_get_text(s));
    object_put_word(&o, "version", statement_get_text(s));
    object_put_parsed(&o, "facts", statement_get_text(s));
    return o;
}

static const char list_hosts[] =
    "SELECT label, system, aliases, agent, address, version, facts FROM host "
    "WHERE campaign = ? ORDER BY host";

static struct object drive_object(struct statement *s)
{
    struct object o = object_new();

    object_put_text(&o, "host", statement_get_text(s));
    object_put_text(&o, "sd", statement_get_text(s));
    object_put_text(&o, "lun", statement_get_text(s));
    object_put_word(&o, "device", statement_get_text(s));
    object_put_count(&o, "size_bytes", statement_get_uint(s));
    object_put_count(&o, "device_bytes", statement_get_uint(s));
    object_put_count(&o, "logical_block", statement_get_uint(s));
    object_put_bool(&o, "written", statement_get_int(s) != 0);
    object_put_word(&o, "serial", statement_get_text(s));
    object_put_word(&o, "wwn", statement_get_text(s));
    object_put_word(&o, "model", statement_get_text(s));
    object_put_parsed(&o, "facts", statement_get_text(s));
    return o;
}

static const char list_drives[] =
    "SELECT label, sd, path, device, size_bytes, device_bytes, logical_block, "
    "written, serial, wwn, model, t.facts FROM target AS t "
    "JOIN host AS h ON h.campaign = t.campaign AND h.host = t.host "
    "WHERE t.campaign = ? ORDER BY target";

static struct object command_object(struct statement *s)
{
    struct object o = object_new();
    bool of_all = statement_is_null(s);
    uint64_t phase = statement_get_uint(s);

    if (of_all)
        object_put(&o, "phase", json_null());
    else
        object_put_count(&o, "phase", phase + 1);
    object_put_text(&o, "keyword", statement_get_text(s));
    object_put_text(&o, "command", statement_get_text(s));
    object_put_word(&o, "host", statement_get_text(s));
    object_put_seconds(&o, "duration_s", statement_get_uint(s));
    object_put_word(&o, "error", statement_get_text(s));
    object_put_word(&o, "output", statement_get_text(s));
    return o;
}

static const char list_commands[] =
    "SELECT phase, keyword, command, host, duration_ns, error, output "
    "FROM command WHERE campaign = ? ORDER BY wall_ns, number, host";

static void put_list(struct show *show, struct object *o, const char *key,
                     const char *sql,
                     struct object (*make)(struct statement *s), int *err)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access, sql);
    statement_uint(&s, show->found->number);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object item = make(&s);

        object_append(o, array, &item);
    }
    statement_end(&s);
    object_put(o, key, array);
    *err = got < 0 ? got : *err;
}

int show_put_head(struct show *show, struct object *o)
{
    int err = query_put_head(show->access, show->found->number, o, show->diag);

    put_strings(show, o, "files",
                "SELECT name FROM file WHERE campaign = ? ORDER BY position",
                &err);
    put_strings(show, o, "variables",
                "SELECT text FROM variable WHERE campaign = ? "
                "ORDER BY position",
                &err);
    put_list(show, o, "hosts", list_hosts, host_object, &err);
    put_list(show, o, "drives", list_drives, drive_object, &err);
    put_list(show, o, "commands", list_commands, command_object, &err);
    object_put_text(o, "rates",
                    "totals of all hosts over the common window, from the "
                    "first begin to the last end; MiB are 2^20 bytes");
    return err;
}

/* All but the phases, without the last brace. */
static int write_head(struct show *show)
{
    struct object o = object_new();
    int err = show_put_head(show, &o);

    (void)json_object_del(o.json, "phases"); /* comes as the list itself */
    object_write(&o, true, show->into);
    return err;
}

/* ---- Figures ---------------------------------------------------------------
 */

static uint64_t window_ns(const struct query_phase *phase)
{
    return phase->end_ns > phase->begin_ns
               ? (uint64_t)phase->end_ns - (uint64_t)phase->begin_ns
               : 0;
}

int show_get_figures(struct show *show, struct statement *s, uint64_t window,
                     struct figures *ret_figures)
{
    struct cpu_tally cpu = columns_get_cpu(s);
    struct tally_pair pair = {0};
    int err = columns_add_tally(s, &pair, show->diag);

    if (err == 0)
        figures_of(&pair, window, show->phase.asked.iorate > 0,
                   cpu.capacity_ns > 0 ? &cpu : NULL, show->scratch,
                   ret_figures);
    tally_pair_done(&pair);
    return err;
}

void show_put_drive_name(struct show *show, struct object *o, uint32_t item)
{
    const struct query_names *names = &show->names;
    const struct query_drive *drive =
        item < names->drive_count ? &names->drives[item] : NULL;
    const char *host =
        drive == NULL ? "?" : query_host_name(names, drive->host);
    char name[2 * TEXT_SIZE];

    (void)snprintf(name, sizeof(name), "%s:%s", host,
                   drive == NULL ? "?" : drive->sd);
    object_put_text(o, "name", name);
    object_put_text(o, "host", host);
    object_put_text(o, "sd", drive == NULL ? NULL : drive->sd);
    object_put_text(o, "lun", drive == NULL ? NULL : drive->path);
}

void show_put_name(struct show *show, struct object *o, enum record_scope scope,
                   uint32_t item)
{
    const char *name;

    switch (scope) {
    case RECORD_HOST:
        name = query_host_name(&show->names, item);
        object_put_text(o, "name", name);
        object_put_text(o, "host", name);
        break;
    case RECORD_DRIVE:
        show_put_drive_name(show, o, item);
        break;
    case RECORD_WORKLOAD:
        name = json_string_value(json_array_get(show->workloads, item));
        object_put_text(o, "name", name);
        object_put_text(o, "workload", name);
        break;
    case RECORD_CLUSTER:
        break;
    }
}

/* A drive of the plan that did nothing is a finding of its own. */
static void note_idle(struct show *show, const struct object *o,
                      const struct figures *figures)
{
    if (figures->all.ios == 0 && figures->all.errors == 0)
        (void)json_array_append(show->idle, json_object_get(o->json, "name"));
}

static int append_total(struct show *show, struct statement *s,
                        enum record_scope scope, json_t *array)
{
    uint32_t item = (uint32_t)statement_get_uint(s);
    struct object o = object_new();
    struct figures figures;
    int err = show_get_figures(show, s, window_ns(&show->phase), &figures);

    if (err < 0) {
        object_done(&o);
        return err;
    }
    show_put_name(show, &o, scope, item);
    document_figures(&o, &figures);
    if (scope == RECORD_DRIVE)
        show_put_device(show, &o, item);
    if (scope == RECORD_DRIVE)
        note_idle(show, &o, &figures);
    if (scope == RECORD_CLUSTER)
        object_put_object(&show->o, "total", &o);
    else
        object_append(&show->o, array, &o);
    return 0;
}

/*
 * curve_scope=drive: what each drive was asked for.  The rate of the phase was
 * divided as the drives had shared the maximum of the curve.
 */
static int put_drive_rates(struct show *show, json_t *drives)
{
    size_t count = json_array_size(drives), at = 0;
    double *ios = calloc(count + 1, sizeof(*ios));
    double all = 0;
    struct statement s;
    int got;

    if (ios == NULL)
        return diag_set(show->diag, -ENOMEM, "out of memory");
    statement_begin(&s, show->access,
                    "SELECT coalesce(m.read_ios + m.write_ios, 0) "
                    "FROM total AS t LEFT JOIN total AS m "
                    "ON m.scope = t.scope AND m.item = t.item AND m.phase = "
                    "(SELECT id FROM phase WHERE campaign = ?2 AND phase < ?3 "
                    "AND rate_kind = ?4 ORDER BY phase DESC LIMIT 1) "
                    "WHERE t.phase = ?1 AND t.scope = ?5 ORDER BY t.item");
    statement_uint(&s, show->phase.id);
    statement_uint(&s, show->found->number);
    statement_uint(&s, show->phase.asked.phase);
    statement_int(&s, PLAN_RATE_CURVE);
    statement_int(&s, RECORD_DRIVE);
    while ((got = statement_step(&s, show->diag)) == 1 && at < count) {
        ios[at] = statement_get_real(&s);
        all += ios[at++];
    }
    statement_end(&s);
    for (size_t i = 0; i < at && all > 0; i++) {
        struct object o = {.json = json_array_get(drives, i)};

        object_put_real(&o, "iorate", show->phase.asked.iorate * ios[i] / all,
                        3);
    }
    free(ios);
    return got < 0 ? got : 0;
}

static int put_scope(struct show *show, enum record_scope scope,
                     const char *key)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT item, " COLUMNS_CPU ", " COLUMNS_TALLY
                    " FROM total WHERE phase = ? AND scope = ? ORDER BY item");
    statement_uint(&s, show->phase.id);
    statement_int(&s, scope);
    got = statement_step(&s, show->diag);
    while (got == 1) {
        got = append_total(show, &s, scope, array);
        if (got == 0)
            got = statement_step(&s, show->diag);
    }
    statement_end(&s);
    if (got == 0 && scope == RECORD_DRIVE &&
        show->phase.asked.rate_kind == PLAN_RATE_DRIVES)
        got = put_drive_rates(show, array);
    if (scope == RECORD_CLUSTER)
        json_decref(array);
    else
        object_put(&show->o, key, array);
    return got;
}

static int put_totals(struct show *show)
{
    int err = put_scope(show, RECORD_CLUSTER, "total");

    if (json_object_get(show->o.json, "total") == NULL)
        object_put(&show->o, "total", json_null());
    if (show->brief)
        return err;
    if (err == 0)
        err = put_scope(show, RECORD_HOST, "hosts");
    if (err == 0)
        err = put_scope(show, RECORD_DRIVE, "drives");
    if (err == 0)
        err = put_scope(show, RECORD_WORKLOAD, "workloads");
    return err;
}

/* ---- The drain, the lost, the stuck ----------------------------------------
 */

static int put_drain(struct show *show)
{
    struct object o = object_new();
    struct figures figures;
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT hosts_delivered, coalesce(begin_ns, 1), "
                    "coalesce(end_ns, 0), " COLUMNS_CPU ", " COLUMNS_TALLY
                    " FROM cluster_interval WHERE phase = ? AND drain = 1");
    statement_uint(&s, show->phase.id);
    got = statement_step(&s, show->diag);
    if (got == 1) {
        uint64_t hosts = statement_get_uint(&s);
        int64_t begin_ns = statement_get_int(&s);
        int64_t end_ns = statement_get_int(&s);

        got = show_get_figures(show, &s, 0, &figures);
        object_put_count(&o, "hosts", hosts);
        object_put_seconds(
            &o, "seconds",
            end_ns > begin_ns ? (uint64_t)end_ns - (uint64_t)begin_ns : 0);
        if (got == 0)
            document_figures(&o, &figures);
        object_put_object(&show->o, "drain", &o);
    } else {
        object_done(&o);
        object_put(&show->o, "drain", json_null());
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int put_lost(struct show *show)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT host, lost_at_interval, reason FROM phase_host "
                    "WHERE phase = ? AND lost_at_interval IS NOT NULL "
                    "ORDER BY host");
    statement_uint(&s, show->phase.id);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object o = object_new();
        uint32_t host = (uint32_t)statement_get_uint(&s);

        object_put_text(&o, "host", query_host_name(&show->names, host));
        object_put_count(&o, "from_interval", statement_get_uint(&s) + 1);
        object_put_word(&o, "reason", statement_get_text(&s));
        object_append(&show->o, array, &o);
    }
    statement_end(&s);
    object_put(&show->o, "lost", array);
    return got;
}

/* What each host ran the phase with. */
static int put_engines(struct show *show)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT host, engine, placement FROM phase_host "
                    "WHERE phase = ? AND engine IS NOT NULL ORDER BY host");
    statement_uint(&s, show->phase.id);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object o = object_new();
        uint32_t host = (uint32_t)statement_get_uint(&s);

        object_put_text(&o, "host", query_host_name(&show->names, host));
        object_put_word(&o, "engine", statement_get_text(&s));
        object_put_word(&o, "placement", statement_get_text(&s));
        object_append(&show->o, array, &o);
    }
    statement_end(&s);
    object_put(&show->o, "engines", array);
    return got;
}

static int put_stuck(struct show *show)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT target, write, offset, length, age_ns FROM stuck "
                    "WHERE phase = ? ORDER BY host, position");
    statement_uint(&s, show->phase.id);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object o = object_new();

        show_put_drive_name(show, &o, (uint32_t)statement_get_uint(&s));
        object_put_text(&o, "op",
                        statement_get_int(&s) != 0 ? "write" : "read");
        object_put_count(&o, "offset", statement_get_uint(&s));
        object_put_count(&o, "length", statement_get_uint(&s));
        object_put_us(&o, "age_us", (double)statement_get_uint(&s) / 1000);
        object_append(&show->o, array, &o);
    }
    statement_end(&s);
    object_put(&show->o, "stuck", array);
    return got;
}

/* ---- One phase -------------------------------------------------------------
 */

static const char *phase_state(uint32_t state)
{
    static const char *const names[] = {
        [RECORD_PHASE_PLANNED] = "planned",
        [RECORD_PHASE_RUNNING] = "running",
        [RECORD_PHASE_DONE] = "done",
        [RECORD_PHASE_SKIPPED] = "skipped",
    };

    return state < ARRAY_LENGTH(names) ? names[state] : NULL;
}

static double known_us(int64_t ns)
{
    return ns < 0 ? NAN : (double)ns / 1000;
}

void show_put_outcome(struct object *o, const struct query_phase *phase)
{
    uint64_t window = window_ns(phase);
    double overlap =
        window == 0 ? NAN : share_pct((uint64_t)phase->overlap_ns, window);

    document_asked(o, &phase->asked);
    object_put_text(o, "state", phase_state(phase->state));
    object_put_text(o, "verdict", verdict_name(phase->verdict));
    object_put_word(o, "error", phase->error);
    object_put_time(o, "started", phase->started_ns);
    object_put_time(o, "ended", phase->ended_ns);
    object_put_us(o, "start_spread_us", known_us(phase->spread_ns));
    object_put_us(o, "start_uncertainty_us", known_us(phase->uncertainty_ns));
    object_put_count(o, "warmup_intervals", phase->warmup_intervals);
    object_put_count(o, "measured_intervals", phase->intervals);
    object_put_time(o, "window_end",
                    window == 0 || phase->started_ns == 0
                        ? 0
                        : phase->started_ns + phase->end_ns);
    if (window == 0)
        object_put(o, "window_s", json_null());
    else
        object_put_seconds(o, "window_s", window);
    object_put_real(o, "overlap_pct", overlap, 2);
    object_put_bool(o, "overlap_low", overlap < OVERLAP_LOW_PCT);
}

int show_load_workloads(struct show *show)
{
    struct layout *layout = NULL;
    int got = query_layout(show->access, show->phase.layout, &layout,
                           &show->workloads, show->diag);

    (void)layout_free(layout);
    return got < 0 ? got : 0;
}

int show_phase(struct show *show)
{
    int err = show_load_workloads(show);

    show->o = object_new();
    show->idle = json_array();
    show_put_outcome(&show->o, &show->phase);
    if (err == 0)
        err = put_lost(show);
    if (err == 0)
        err = put_stuck(show);
    if (err == 0)
        err = show_put_failures(show);
    if (err == 0)
        err = put_engines(show);
    if (err == 0)
        err = show_put_flags(show);
    if (err == 0 && !show->brief)
        err = show_load_devices(show);
    if (err == 0 && !show->brief)
        err = put_drain(show);
    if (err == 0)
        err = put_totals(show);
    if (show->brief)
        json_decref(show->idle);
    else
        object_put(&show->o, "idle_drives", show->idle);
    return err;
}

void show_phase_done(struct show *show)
{
    object_done(&show->o);
    json_decref(show->workloads);
    json_decref(show->devices);
    show->workloads = show->devices = NULL;
}

static int write_phase(struct show *show)
{
    int err = show_phase(show);

    object_write(&show->o, false, show->into);
    show_phase_done(show);
    return err;
}

static int write_phases(struct show *show)
{
    uint32_t phases = 0, done = 0;
    struct statement s;
    const char *comma = "";
    int got = query_count_phases(show->access, show->found->number, &phases,
                                 &done, show->diag);

    if (got < 0)
        return got;
    statement_begin(&s, show->access, query_phase_by_campaign);
    statement_uint(&s, show->found->number);
    got = statement_step(&s, show->diag);
    while (got == 1) {
        query_get_phase(&s, show->found, phases, &show->phase);
        bytes_put(show->into, comma, strlen(comma));
        comma = ",";
        got = write_phase(show);
        if (got == 0)
            got = statement_step(&s, show->diag);
    }
    statement_end(&s);
    return got;
}

int show_init(struct show *show, struct store_access *access,
              const struct query_found *found, struct bytes *into,
              struct diag *diag)
{
    *show = (struct show){
        .access = access, .found = found, .into = into, .diag = diag};
    show->scratch = malloc(sizeof(*show->scratch));
    if (show->scratch == NULL)
        return diag_set(diag, -ENOMEM, "the controller is out of memory");
    histogram_init(show->scratch);
    return query_names_load(access, found->number, &show->names, diag);
}

void show_done(struct show *show)
{
    query_names_done(&show->names);
    free(show->scratch);
}

static int write_all(struct store_access *access,
                     const struct query_found *found, bool brief,
                     struct bytes *into, struct diag *diag)
{
    static const char before[] = ",\"phases\":[", after[] = "]}";
    struct show show;
    int err = show_init(&show, access, found, into, diag);

    show.brief = brief;
    if (err == 0)
        err = write_head(&show);
    bytes_put(into, before, sizeof(before) - 1);
    if (err == 0)
        err = write_phases(&show);
    bytes_put(into, after, sizeof(after) - 1);
    show_done(&show);
    return err;
}

int query_show(struct store_access *access, const struct query_found *found,
               struct bytes *into, struct diag *diag)
{
    return write_all(access, found, false, into, diag);
}

int query_runs(struct store_access *access, const struct query_found *found,
               struct bytes *into, struct diag *diag)
{
    return write_all(access, found, true, into, diag);
}
