/*
 * Campaigns found and listed, and what is common to all queries.
 */
#include "controller/results/query.h"

#include "common/uuid.h"
#include "controller/results/layout.h"
#include "controller/results/record.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which campaign --------------------------------------------------------
 */

static const char find_newest[] =
    "SELECT id, uuid, state, verdict FROM campaign ORDER BY id DESC LIMIT 1";
static const char find_number[] =
    "SELECT id, uuid, state, verdict FROM campaign WHERE id = ?1";
static const char find_uuid[] = "SELECT id, uuid, state, verdict FROM campaign "
                                "WHERE lower(hex(uuid)) LIKE ?1 || '%' LIMIT 2";

/* A number of people's: digits, and few. */
static bool is_number(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && length < 12 && strspn(text, "0123456789") == length;
}

/* The digits of a UUID's beginning; false when it is none. */
static bool uuid_digits(const char *text, char digits[33])
{
    size_t length = 0;

    for (; *text != '\0'; text++) {
        if (*text == '-')
            continue;
        if (!isxdigit((unsigned char)*text) || length == 32)
            return false;
        digits[length++] = (char)tolower((unsigned char)*text);
    }
    digits[length] = '\0';
    return length > 0;
}

static void get_found(struct statement *s, struct query_found *ret_found)
{
    const uint8_t *id;
    size_t length;

    ret_found->number = statement_get_uint(s);
    id = statement_get_blob(s, &length);
    if (length == sizeof(ret_found->id.bytes))
        memcpy(ret_found->id.bytes, id, length);
    ret_found->state = (enum results_state)statement_get_int(s);
    ret_found->verdict = (enum verdict)statement_get_int(s);
}

/* The number of rows, two at most; the first of them is `ret_found`. */
static int look(struct store_access *access, const char *sql, const char *text,
                struct query_found *ret_found, struct diag *diag)
{
    struct statement s;
    int got, count = 0;

    statement_begin(&s, access, sql);
    if (text != NULL)
        statement_text(&s, text);
    while ((got = statement_step(&s, diag)) == 1)
        if (count++ == 0)
            get_found(&s, ret_found);
    statement_end(&s);
    return got < 0 ? got : count;
}

int query_find(struct store_access *access, const char *text,
               struct query_found *ret_found, struct diag *diag)
{
    struct query_found found = {0};
    char digits[33];
    int got = 0;

    if (text[0] == '\0')
        got = look(access, find_newest, NULL, &found, diag);
    else if (is_number(text))
        got = look(access, find_number, text, &found, diag);
    if (got == 0 && text[0] != '\0' && uuid_digits(text, digits))
        got = look(access, find_uuid, digits, &found, diag);
    if (got < 0)
        return got;
    if (got == 0 && text[0] == '\0')
        return diag_set(diag, -ENOENT, "there is no campaign yet");
    if (got == 0)
        return diag_set(diag, -ENOENT,
                        "there is no campaign '%s'; 'lockstep campaigns' lists "
                        "them",
                        text);
    if (got > 1)
        return diag_set(diag, -EINVAL,
                        "several campaigns' UUIDs begin with '%s'; give more "
                        "of it, or the number",
                        text);
    *ret_found = found;
    return 0;
}

/* ---- All of them -----------------------------------------------------------
 */

static const char *state_name(enum results_state state)
{
    static const char *const names[] = {
        [RESULTS_QUEUED] = "queued",
        [RESULTS_RUNNING] = "running",
        [RESULTS_DONE] = "done",
    };

    return (unsigned)state < ARRAY_LENGTH(names) ? names[state] : NULL;
}

static const char list_campaigns[] =
    "SELECT id, uuid, name, who, state, verdict, error, note, submitted_ns, "
    "started_ns, ended_ns,"
    " (SELECT count(*) FROM phase WHERE campaign = c.id),"
    " (SELECT count(*) FROM phase WHERE campaign = c.id AND state = ?1), "
    "version, pinned,"
    " (SELECT json_group_array(DISTINCT model) FROM target"
    "  WHERE campaign = c.id AND model <> '') FROM campaign AS c";

static void put_uuid(struct object *o, const char *key, const uint8_t *bytes,
                     size_t length)
{
    char text[UUID_TEXT_SIZE];
    struct uuid id;

    if (length != sizeof(id.bytes)) {
        object_put(o, key, json_null());
        return;
    }
    memcpy(id.bytes, bytes, length);
    object_put_text(o, key, uuid_format(&id, text));
}

/* The keys that every document about a campaign has. */
static void put_campaign(struct object *o, struct statement *s)
{
    const uint8_t *id;
    size_t length;

    object_put_count(o, "number", statement_get_uint(s));
    id = statement_get_blob(s, &length);
    put_uuid(o, "id", id, length);
    object_put_text(o, "name", statement_get_text(s));
    object_put_text(o, "who", statement_get_text(s));
    object_put_text(o, "state",
                    state_name((enum results_state)statement_get_int(s)));
    object_put_text(o, "verdict",
                    verdict_name((enum verdict)statement_get_int(s)));
    object_put_word(o, "error", statement_get_text(s));
    object_put_word(o, "note", statement_get_text(s));
    object_put_time(o, "submitted", statement_get_int(s));
    object_put_time(o, "started", statement_get_int(s));
    object_put_time(o, "ended", statement_get_int(s));
    object_put_count(o, "phases", statement_get_uint(s));
    object_put_count(o, "phases_done", statement_get_uint(s));
    object_put_text(o, "version", statement_get_text(s));
    object_put_bool(o, "pinned", statement_get_int(s) != 0);
}

int query_campaigns(struct store_access *access, struct bytes *into,
                    struct diag *diag)
{
    struct object document = object_new();
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, access, list_campaigns);
    statement_int(&s, RECORD_PHASE_DONE);
    while ((got = statement_step(&s, diag)) == 1) {
        struct object campaign = object_new();

        put_campaign(&campaign, &s);
        object_put_parsed(&campaign, "models", statement_get_text(&s));
        object_append(&document, array, &campaign);
    }
    statement_end(&s);
    object_put(&document, "campaigns", array);
    object_write(&document, false, into);
    return got;
}

/* ---- Phases ----------------------------------------------------------------
 */

#define PHASE_COLUMNS                                                          \
    "SELECT p.id, p.phase, p.run, p.kind, p.rate_kind, p.rate_value, "         \
    "p.iorate, p.for_text, p.elapsed_ns, p.warmup_ns, p.interval_ns, "         \
    "p.pause_ns, p.xfersize, p.threads, p.rdpct, p.seekpct, p.state, "         \
    "p.verdict, p.error, p.started_ns, p.ended_ns, "                           \
    "coalesce(p.uncertainty_ns, -1), coalesce(p.spread_ns, -1), "              \
    "coalesce(p.begin_ns, 1), coalesce(p.end_ns, 0), "                         \
    "coalesce(p.overlap_ns, 0), coalesce(p.warmup_intervals, 0), "             \
    "coalesce(p.measured_intervals, 0), coalesce(p.intervals, 0), "            \
    "coalesce(p.layout, 0) FROM phase AS p WHERE p.campaign = ?1 "

const char query_phase_by_campaign[] = PHASE_COLUMNS "ORDER BY p.phase";

/* The one that runs, else the last that did. */
const char query_phase_at_hand[] =
    PHASE_COLUMNS "AND p.state IN (1, 2) ORDER BY p.phase DESC LIMIT 1";

const char query_phase_by_number[] = PHASE_COLUMNS "AND p.phase = ?2";

_Static_assert(RECORD_PHASE_RUNNING == 1 && RECORD_PHASE_DONE == 2,
               "query_phase_at_hand names them by number");

static void get_asked(struct statement *s, struct document_phase *asked)
{
    asked->phase = (uint32_t)statement_get_uint(s);
    asked->run = statement_get_text(s);
    asked->kind = (enum plan_run_kind)statement_get_int(s);
    asked->rate_kind = (enum plan_rate_kind)statement_get_int(s);
    asked->rate_value = statement_get_real(s);
    asked->iorate = statement_get_real(s);
    asked->for_text = statement_get_text(s);
    asked->elapsed_ns = statement_get_uint(s);
    asked->warmup_ns = statement_get_uint(s);
    asked->interval_ns = statement_get_uint(s);
    asked->pause_ns = statement_get_uint(s);
    asked->xfersize = statement_get_text(s);
    asked->threads = statement_get_text(s);
    asked->rdpct = statement_get_text(s);
    asked->seekpct = statement_get_text(s);
}

void query_get_phase(struct statement *s, const struct query_found *found,
                     uint32_t phases, struct query_phase *ret_phase)
{
    *ret_phase = (struct query_phase){.id = statement_get_uint(s)};
    get_asked(s, &ret_phase->asked);
    ret_phase->asked.campaign = found->number;
    ret_phase->asked.phases = phases;
    ret_phase->state = (uint32_t)statement_get_uint(s);
    ret_phase->verdict = (enum verdict)statement_get_int(s);
    ret_phase->error = statement_get_text(s);
    ret_phase->started_ns = statement_get_int(s);
    ret_phase->ended_ns = statement_get_int(s);
    ret_phase->uncertainty_ns = statement_get_int(s);
    ret_phase->spread_ns = statement_get_int(s);
    ret_phase->begin_ns = statement_get_int(s);
    ret_phase->end_ns = statement_get_int(s);
    ret_phase->overlap_ns = statement_get_int(s);
    ret_phase->warmup_intervals = statement_get_uint(s);
    ret_phase->measured_intervals = statement_get_uint(s);
    ret_phase->intervals = statement_get_uint(s);
    ret_phase->layout = statement_get_uint(s);
}

int query_count_phases(struct store_access *access, uint64_t campaign,
                       uint32_t *ret_phases, uint32_t *ret_done,
                       struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT count(*), count(*) FILTER (WHERE state = ?2) "
                    "FROM phase WHERE campaign = ?1");
    statement_uint(&s, campaign);
    statement_int(&s, RECORD_PHASE_DONE);
    got = statement_step(&s, diag);
    if (got == 1) {
        *ret_phases = (uint32_t)statement_get_uint(&s);
        *ret_done = (uint32_t)statement_get_uint(&s);
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

/* ---- Names -----------------------------------------------------------------
 */

void query_names_done(struct query_names *names)
{
    for (uint32_t i = 0; i < names->host_count; i++)
        free(names->hosts[i]);
    for (uint32_t i = 0; i < names->drive_count; i++) {
        free(names->drives[i].sd);
        free(names->drives[i].path);
    }
    free(names->hosts);
    free(names->drives);
    memset(names, 0, sizeof(*names));
}

/* Room for one more at the end of an array. */
static void *grown(void *array, uint32_t count, size_t size)
{
    return (count & (count - 1)) != 0
               ? array
               : realloc(array, (count == 0 ? 1 : 2 * (size_t)count) * size);
}

static int out_of_memory(struct diag *diag)
{
    return diag_set(diag, -ENOMEM, "the controller is out of memory");
}

static int load_hosts(struct store_access *access, uint64_t campaign,
                      struct query_names *names, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT label FROM host WHERE campaign = ? ORDER BY host");
    statement_uint(&s, campaign);
    while ((got = statement_step(&s, diag)) == 1) {
        char *name = strdup(statement_get_text(&s));
        char **hosts = grown(names->hosts, names->host_count, sizeof(*hosts));

        names->hosts = hosts != NULL ? hosts : names->hosts;
        if (name == NULL || hosts == NULL) {
            free(name);
            got = out_of_memory(diag);
            break;
        }
        names->hosts[names->host_count++] = name;
    }
    statement_end(&s);
    return got;
}

static int load_drives(struct store_access *access, uint64_t campaign,
                       struct query_names *names, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT host, sd, path FROM target WHERE campaign = ? "
                    "ORDER BY target");
    statement_uint(&s, campaign);
    while ((got = statement_step(&s, diag)) == 1) {
        struct query_drive drive = {.host = (uint32_t)statement_get_uint(&s)};
        struct query_drive *drives =
            grown(names->drives, names->drive_count, sizeof(*drives));

        names->drives = drives != NULL ? drives : names->drives;
        drive.sd = strdup(statement_get_text(&s));
        drive.path = strdup(statement_get_text(&s));
        if (drives == NULL || drive.sd == NULL || drive.path == NULL) {
            free(drive.sd);
            free(drive.path);
            got = out_of_memory(diag);
            break;
        }
        names->drives[names->drive_count++] = drive;
    }
    statement_end(&s);
    return got;
}

int query_names_load(struct store_access *access, uint64_t campaign,
                     struct query_names *ret_names, struct diag *diag)
{
    struct query_names names = {0};
    int err = load_hosts(access, campaign, &names, diag);

    if (err == 0)
        err = load_drives(access, campaign, &names, diag);
    if (err < 0)
        query_names_done(&names);
    else
        *ret_names = names;
    return err;
}

const char *query_host_name(const struct query_names *names, uint32_t host)
{
    return host < names->host_count ? names->hosts[host] : "?";
}

json_t *query_missing(const struct query_names *names, const char *numbers)
{
    json_t *array = json_array();

    while (array != NULL && *numbers != '\0') {
        char *rest;
        unsigned long host = strtoul(numbers, &rest, 10);

        if (rest == numbers)
            break;
        if (json_array_append_new(
                array, json_string(query_host_name(names, (uint32_t)host))) < 0)
            break;
        numbers = rest;
    }
    return array;
}

/* ---- Status ----------------------------------------------------------------
 */

static const char one_campaign[] =
    "SELECT id, uuid, name, who, state, verdict, error, note, submitted_ns, "
    "started_ns, ended_ns,"
    " (SELECT count(*) FROM phase WHERE campaign = c.id),"
    " (SELECT count(*) FROM phase WHERE campaign = c.id AND state = ?1), "
    "version, pinned FROM campaign AS c WHERE id = ?2";

int query_put_head(struct store_access *access, uint64_t campaign,
                   struct object *o, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access, one_campaign);
    statement_int(&s, RECORD_PHASE_DONE);
    statement_uint(&s, campaign);
    got = statement_step(&s, diag);
    if (got == 1)
        put_campaign(o, &s);
    statement_end(&s);
    object_put_count(o, "campaign", campaign);
    return got < 0 ? got : 0;
}

/* Planned time of the runs to come. */
int query_planned_ns(struct store_access *access, uint64_t campaign,
                     uint64_t *ret_ns, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(
        &s, access,
        "SELECT coalesce(sum(pause_ns + warmup_ns + elapsed_ns), 0) "
        "FROM phase WHERE campaign = ? AND state = ?");
    statement_uint(&s, campaign);
    statement_int(&s, RECORD_PHASE_PLANNED);
    got = statement_step(&s, diag);
    if (got == 1)
        *ret_ns = statement_get_uint(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

/* Of the phase that runs: what is left of its planned time. */
uint64_t query_left_ns(const struct query_phase *phase, int64_t now_wall_ns)
{
    uint64_t whole = phase->asked.warmup_ns + phase->asked.elapsed_ns;
    int64_t gone = now_wall_ns - phase->started_ns;

    if (phase->state != RECORD_PHASE_RUNNING)
        return 0;
    return gone < 0                 ? whole
           : (uint64_t)gone > whole ? 0
                                    : whole - (uint64_t)gone;
}

static void put_remaining(struct object *o, const struct query_found *found,
                          uint64_t ns)
{
    if (found->state == RESULTS_DONE)
        object_put(o, "remaining_s", json_null());
    else
        object_put_seconds(o, "remaining_s", ns);
}

int query_put_status(struct store_access *access,
                     const struct query_found *found, int64_t now_wall_ns,
                     struct object *o, struct diag *diag)
{
    uint32_t phases = 0, done = 0;
    uint64_t planned = 0, left = 0;
    struct query_phase phase;
    struct statement s;
    int got = query_put_head(access, found->number, o, diag);

    if (got == 0)
        got = query_count_phases(access, found->number, &phases, &done, diag);
    if (got == 0)
        got = query_planned_ns(access, found->number, &planned, diag);
    if (got < 0)
        return got;
    statement_begin(&s, access, query_phase_at_hand);
    statement_uint(&s, found->number);
    got = statement_step(&s, diag);
    if (got == 1) {
        query_get_phase(&s, found, phases, &phase);
        left = query_left_ns(&phase, now_wall_ns);
        object_put_count(o, "phase", (uint64_t)phase.asked.phase + 1);
        object_put_text(o, "run", phase.asked.run);
    } else {
        object_put(o, "phase", json_null());
        object_put(o, "run", json_null());
    }
    statement_end(&s);
    put_remaining(o, found, planned + left);
    return got < 0 ? got : 0;
}

int query_status(struct store_access *access, const struct query_found *found,
                 int64_t now_wall_ns, struct bytes *into, struct diag *diag)
{
    struct object o = object_new();
    int err = query_put_status(access, found, now_wall_ns, &o, diag);

    object_write(&o, false, into);
    return err;
}

/* ---- Layouts ---------------------------------------------------------------
 */

int query_layout(struct store_access *access, uint64_t number,
                 struct layout **ret_layout, json_t **ret_workloads,
                 struct diag *diag)
{
    struct layout *layout = NULL;
    json_t *workloads = NULL;
    const uint8_t *cells;
    struct statement s;
    size_t length;
    int got;

    statement_begin(&s, access,
                    "SELECT cells, workloads FROM layout WHERE id = ?");
    statement_uint(&s, number);
    got = statement_step(&s, diag);
    if (got == 1) {
        cells = statement_get_blob(&s, &length);
        if (layout_decode(cells, length, &layout) == 0)
            workloads = json_loads(statement_get_text(&s), 0, NULL);
        if (workloads == NULL) {
            layout = layout_free(layout);
            got = diag_set(diag, -EUCLEAN, "store '%s': %s", access->path,
                           statement_remedy(-EUCLEAN));
        }
    }
    statement_end(&s);
    if (got == 1) {
        *ret_layout = layout;
        *ret_workloads = workloads;
    }
    return got;
}

uint32_t query_count_drives(const struct layout *layout)
{
    bool *seen = calloc((size_t)layout->target_count + 1, sizeof(*seen));
    uint32_t count = 0;

    for (uint32_t i = 0; seen != NULL && i < layout->cell_count; i++) {
        count += seen[layout->cells[i].target] ? 0 : 1;
        seen[layout->cells[i].target] = true;
    }
    free(seen);
    return count;
}
