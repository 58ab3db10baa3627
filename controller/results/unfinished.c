/*
 * What was not over when the store was opened: queued, or running when the
 * controller ended.
 */
#include "controller/results/inside.h"
#include "controller/results/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNFINISHED_MAX (256u << 20) /* bytes of all their files */

struct unfinished *unfinished_free(struct unfinished *unfinished)
{
    if (unfinished != NULL) {
        (void)arena_free(unfinished->arena);
        free(unfinished);
    }
    return NULL;
}

static int count_rows(struct store_access *access, const char *sql,
                      uint64_t first, int64_t second, uint32_t *ret_count,
                      struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access, sql);
    statement_uint(&s, first);
    statement_int(&s, second);
    got = statement_step(&s, diag);
    if (got == 1)
        *ret_count = (uint32_t)statement_get_uint(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int out_of_memory(struct store_access *access, struct diag *diag)
{
    return diag_set(diag, -ENOMEM, "store '%s': %s", access->path,
                    statement_remedy(-ENOMEM));
}

static int load_files(struct store_access *access, struct arena *arena,
                      uint64_t number, struct results_campaign *to,
                      struct diag *diag)
{
    struct results_file *files;
    struct statement s;
    int got = count_rows(access,
                         "SELECT count(*) FROM file WHERE campaign = ?1 AND "
                         "?2 = ?2",
                         number, 0, &to->file_count, diag);

    if (got < 0)
        return got;
    files = ARENA_ARRAY(arena, to->file_count, struct results_file);
    if (files == NULL)
        return out_of_memory(access, diag);
    to->files = files;
    statement_begin(&s, access,
                    "SELECT name, text FROM file WHERE campaign = ? "
                    "ORDER BY position");
    statement_uint(&s, number);
    for (uint32_t i = 0;
         i < to->file_count && (got = statement_step(&s, diag)) == 1; i++) {
        files[i].name = arena_strdup(arena, statement_get_text(&s));
        files[i].text = arena_strdup(arena, statement_get_text(&s));
        if (files[i].name == NULL || files[i].text == NULL) {
            got = out_of_memory(access, diag);
            break;
        }
        files[i].length = strlen(files[i].text);
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int load_variables(struct store_access *access, struct arena *arena,
                          uint64_t number, struct results_campaign *to,
                          struct diag *diag)
{
    const char **variables;
    struct statement s;
    int got = count_rows(access,
                         "SELECT count(*) FROM variable WHERE campaign = ?1 "
                         "AND ?2 = ?2",
                         number, 0, &to->variable_count, diag);

    if (got < 0)
        return got;
    variables = ARENA_ARRAY(arena, to->variable_count, const char *);
    if (variables == NULL)
        return out_of_memory(access, diag);
    to->variables = variables;
    statement_begin(&s, access,
                    "SELECT text FROM variable WHERE campaign = ? "
                    "ORDER BY position");
    statement_uint(&s, number);
    for (uint32_t i = 0;
         i < to->variable_count && (got = statement_step(&s, diag)) == 1; i++) {
        variables[i] = arena_strdup(arena, statement_get_text(&s));
        if (variables[i] == NULL) {
            got = out_of_memory(access, diag);
            break;
        }
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int load_running(struct store_access *access, struct arena *arena,
                        uint64_t number, struct unfinished_phases *to,
                        struct diag *diag)
{
    struct statement s;
    int got = count_rows(access,
                         "SELECT count(*) FROM phase WHERE campaign = ?1 AND "
                         "state = ?2",
                         number, RECORD_PHASE_RUNNING, &to->count, diag);

    if (got < 0)
        return got;
    to->running = ARENA_ARRAY(arena, to->count, uint64_t);
    if (to->running == NULL)
        return out_of_memory(access, diag);
    statement_begin(&s, access,
                    "SELECT id FROM phase WHERE campaign = ? AND state = ? "
                    "ORDER BY id");
    statement_uint(&s, number);
    statement_int(&s, RECORD_PHASE_RUNNING);
    for (uint32_t i = 0; i < to->count && (got = statement_step(&s, diag)) == 1;
         i++)
        to->running[i] = statement_get_uint(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

/* What was asked of the phase that ran: the first, where there are several. */
static int load_asked(struct store_access *access, uint64_t phase,
                      struct results_unfinished *to, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT coalesce(iorate, 0), warmup_intervals, "
                    "measured_intervals, coalesce(start_ns, 0), "
                    "coalesce(started_ns, 0) FROM phase "
                    "WHERE id = ?");
    statement_uint(&s, phase);
    got = statement_step(&s, diag);
    if (got == 1) {
        to->phase_runs = true;
        to->asked.iorate = statement_get_real(&s);
        to->asked.warmup_intervals = (uint32_t)statement_get_uint(&s);
        to->asked.measured_intervals = statement_get_uint(&s);
        to->start_ns = statement_get_uint(&s);
        to->started_wall_ns = to->start_ns == 0 ? 0 : statement_get_int(&s);
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int get_memory(struct statement *s, struct store_access *access,
                      struct arena *arena, struct results_memory *to,
                      struct diag *diag)
{
    int64_t phase = statement_get_int(s);

    to->phase = phase < 0 ? PLAN_NOWHERE : (uint32_t)phase;
    to->name = arena_strdup(arena, statement_get_text(s));
    to->item = (uint32_t)statement_get_uint(s);
    to->text = arena_strdup(arena, statement_get_text(s));
    return to->name == NULL || to->text == NULL ? out_of_memory(access, diag)
                                                : 0;
}

static int load_memories(struct store_access *access, struct arena *arena,
                         struct results_unfinished *to, struct diag *diag)
{
    struct results_memory *memories;
    struct statement s;
    int got = count_rows(access,
                         "SELECT count(*) FROM memory WHERE campaign = ?1 AND "
                         "?2 = ?2",
                         to->number, 0, &to->memory_count, diag);

    if (got < 0)
        return got;
    memories = ARENA_ARRAY(arena, to->memory_count, struct results_memory);
    if (memories == NULL)
        return out_of_memory(access, diag);
    to->memories = memories;
    statement_begin(&s, access,
                    "SELECT phase, name, item, text FROM memory "
                    "WHERE campaign = ? ORDER BY phase, name, item");
    statement_uint(&s, to->number);
    for (uint32_t i = 0;
         i < to->memory_count && (got = statement_step(&s, diag)) == 1; i++) {
        got = get_memory(&s, access, arena, &memories[i], diag);
        if (got < 0)
            break;
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

static void get_head(struct statement *s, struct results_unfinished *to)
{
    struct results_campaign *campaign = &to->campaign;
    const uint8_t *id;
    size_t length;

    to->number = statement_get_uint(s);
    id = statement_get_blob(s, &length);
    if (length == sizeof(campaign->id.bytes))
        memcpy(campaign->id.bytes, id, length);
    to->state = (enum results_state)statement_get_int(s);
    campaign->elapsed_ns = statement_get_uint(s);
    campaign->interval_ns = statement_get_uint(s);
    campaign->warmup_given = !statement_is_null(s);
    campaign->warmup_ns = statement_get_uint(s);
    to->next_phase = (uint32_t)statement_get_uint(s);
}

static int load_one(struct store_access *access, struct unfinished *to,
                    struct statement *s, struct diag *diag)
{
    struct results_unfinished *one = &to->list[to->count];
    struct unfinished_phases *phases = &to->phases[to->count];
    int err;

    get_head(s, one);
    phases->first = statement_get_uint(s);
    phases->there = (uint32_t)statement_get_uint(s);
    one->phase_count = phases->there;
    one->campaign.name = arena_strdup(to->arena, statement_get_text(s));
    one->campaign.who = arena_strdup(to->arena, statement_get_text(s));
    if (one->campaign.name == NULL || one->campaign.who == NULL)
        return out_of_memory(access, diag);
    err = load_files(access, to->arena, one->number, &one->campaign, diag);
    if (err == 0)
        err = load_variables(access, to->arena, one->number, &one->campaign,
                             diag);
    if (err == 0)
        err = load_memories(access, to->arena, one, diag);
    if (err == 0)
        err = load_running(access, to->arena, one->number, phases, diag);
    if (err == 0 && phases->count > 0)
        err = load_asked(access, phases->running[0], one, diag);
    if (err == 0)
        to->count++;
    return err;
}

static int load_all(struct store_access *access, struct unfinished *to,
                    struct diag *diag)
{
    struct statement s;
    uint32_t count = 0;
    int got = count_rows(access,
                         "SELECT count(*) FROM campaign WHERE state <> ?1 AND "
                         "?2 = ?2",
                         RESULTS_DONE, 0, &count, diag);

    if (got < 0)
        return got;
    to->arena = arena_new(UNFINISHED_MAX);
    if (to->arena == NULL)
        return out_of_memory(access, diag);
    to->list = ARENA_ARRAY(to->arena, count, struct results_unfinished);
    to->phases = ARENA_ARRAY(to->arena, count, struct unfinished_phases);
    if (to->list == NULL || to->phases == NULL)
        return out_of_memory(access, diag);
    statement_begin(&s, access,
                    "SELECT id, uuid, state, elapsed_ns, interval_ns, "
                    "warmup_ns,"
                    " coalesce((SELECT min(phase) FROM phase"
                    "  WHERE campaign = c.id AND state IN (?2, ?3)),"
                    "  (SELECT count(*) FROM phase WHERE campaign = c.id)),"
                    " coalesce((SELECT min(id) FROM phase"
                    "  WHERE campaign = c.id), 0),"
                    " (SELECT count(*) FROM phase WHERE campaign = c.id),"
                    " name, who "
                    "FROM campaign AS c WHERE state <> ?1 ORDER BY id");
    statement_int(&s, RESULTS_DONE);
    statement_int(&s, RECORD_PHASE_PLANNED);
    statement_int(&s, RECORD_PHASE_RUNNING);
    while (to->count < count && (got = statement_step(&s, diag)) == 1) {
        got = load_one(access, to, &s, diag);
        if (got < 0)
            break;
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

int unfinished_load(struct store_access *access,
                    struct unfinished **ret_unfinished, struct diag *diag)
{
    struct unfinished *unfinished = calloc(1, sizeof(*unfinished));
    int err;

    if (unfinished == NULL)
        return out_of_memory(access, diag);
    err = load_all(access, unfinished, diag);
    if (err < 0)
        (void)unfinished_free(unfinished);
    else
        *ret_unfinished = unfinished;
    return err;
}

/* ---- The face --------------------------------------------------------------
 */

const struct results_unfinished *
results_unfinished(const struct results *results, uint32_t *ret_count)
{
    *ret_count = results->unfinished == NULL ? 0 : results->unfinished->count;
    return results->unfinished == NULL ? NULL : results->unfinished->list;
}

int results_take_over(struct results *results, const struct uuid *campaign)
{
    struct unfinished *unfinished = results->unfinished;

    for (uint32_t i = 0; unfinished != NULL && i < unfinished->count; i++) {
        const struct results_unfinished *one = &unfinished->list[i];
        struct live_campaign *live;

        if (memcmp(&one->campaign.id, campaign, sizeof(*campaign)) != 0 ||
            unfinished->phases[i].taken)
            continue;
        live = live_campaign_new(results, campaign, one->number,
                                 one->campaign.name);
        if (live == NULL)
            return -ENOMEM;
        live->first_phase = unfinished->phases[i].first;
        live->phases_there = unfinished->phases[i].there;
        unfinished->phases[i].taken = true;
        return 0;
    }
    return -ENOENT;
}

int results_abandon(struct results *results, const struct uuid *campaign,
                    const char *reason)
{
    struct unfinished *unfinished = results->unfinished;

    for (uint32_t i = 0; unfinished != NULL && i < unfinished->count; i++) {
        struct unfinished_phases *phases = &unfinished->phases[i];

        if (memcmp(&unfinished->list[i].campaign.id, campaign,
                   sizeof(*campaign)) != 0 ||
            phases->taken)
            continue;
        phases->taken = true;
        return end_abandoned(results, unfinished->list[i].number,
                             phases->running, phases->count, reason);
    }
    return -ENOENT;
}

void results_abandon_unfinished(struct results *results)
{
    struct unfinished *unfinished = results->unfinished;

    for (uint32_t i = 0; unfinished != NULL && i < unfinished->count; i++) {
        const struct unfinished_phases *phases = &unfinished->phases[i];

        /* What cannot be queued now is found again at the next start. */
        if (!phases->taken &&
            end_abandoned(results, unfinished->list[i].number, phases->running,
                          phases->count, "controller was restarted") < 0)
            break;
    }
    results->unfinished = unfinished_free(unfinished);
}
