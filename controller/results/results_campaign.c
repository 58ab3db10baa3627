/*
 * Campaigns: added, planned, ended.
 */
#include "controller/results/inside.h"

#include "common/uuid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COPY_MAX (64u << 20) /* of what is submitted, or planned */

struct live_campaign *find_campaign(struct results *results,
                                    const struct uuid *id)
{
    struct live_campaign *campaign = results->campaigns;

    while (campaign != NULL &&
           (campaign->over || !uuid_equal(&campaign->id, id)))
        campaign = campaign->next;
    return campaign;
}

struct live_campaign *live_campaign_new(struct results *results,
                                        const struct uuid *id, uint64_t number,
                                        const char *name)
{
    struct live_campaign *campaign = calloc(1, sizeof(*campaign));

    if (campaign == NULL)
        return NULL;
    campaign->name = strdup(name == NULL ? "" : name);
    if (campaign->name == NULL) {
        free(campaign);
        return NULL;
    }
    campaign->results = results;
    campaign->id = *id;
    campaign->number = number;
    campaign->next = results->campaigns;
    results->campaigns = campaign;
    return campaign;
}

void live_campaign_free(struct live_campaign *campaign)
{
    while (campaign->phases != NULL) {
        struct live_phase *phase = campaign->phases;

        campaign->phases = phase->next;
        live_phase_free(phase);
    }
    free(campaign->layout_bytes);
    free(campaign->name);
    free(campaign->error);
    free(campaign);
}

static void unlink_campaign(struct live_campaign *campaign)
{
    struct live_campaign **at = &campaign->results->campaigns;

    while (*at != campaign)
        at = &(*at)->next;
    *at = campaign->next;
}

static void sweep_phases(struct live_campaign *campaign)
{
    struct live_phase **at = &campaign->phases;

    while (*at != NULL) {
        struct live_phase *phase = *at;

        if (phase->state == LIVE_OVER && phase->tasks == 0) {
            *at = phase->next;
            live_phase_free(phase);
        } else {
            at = &phase->next;
        }
    }
}

void campaign_sweep(struct live_campaign *campaign)
{
    sweep_phases(campaign);
    if (campaign->over && campaign->tasks == 0) {
        unlink_campaign(campaign);
        live_campaign_free(campaign);
    }
}

/* ---- Adding ----------------------------------------------------------------
 */

struct add_task {
    struct task task;
    struct record_origin origin;
    struct results_campaign campaign;
};

static int run_add(struct store_job *job, struct store_access *access)
{
    struct add_task *add = (struct add_task *)job;

    return record_campaign(access, &add->origin, &add->campaign, &job->diag);
}

static bool copy_texts(struct arena *arena, struct results_campaign *to)
{
    const struct results_campaign from = *to;
    struct results_file *files =
        ARENA_ARRAY(arena, from.file_count, struct results_file);
    const char **variables =
        ARENA_ARRAY(arena, from.variable_count, const char *);
    bool copied = files != NULL && variables != NULL;

    to->name = arena_strdup(arena, from.name == NULL ? "" : from.name);
    to->who = arena_strdup(arena, from.who == NULL ? "" : from.who);
    for (uint32_t i = 0; i < from.file_count && copied; i++) {
        files[i].name = arena_strdup(arena, from.files[i].name);
        files[i].text =
            arena_strndup(arena, from.files[i].text, from.files[i].length);
        files[i].length = from.files[i].length;
        copied = files[i].name != NULL && files[i].text != NULL;
    }
    for (uint32_t i = 0; i < from.variable_count && copied; i++) {
        variables[i] = arena_strdup(arena, from.variables[i]);
        copied = variables[i] != NULL;
    }
    to->files = files;
    to->variables = variables;
    return copied && to->name != NULL && to->who != NULL;
}

static int out_of_memory(struct diag *diag)
{
    return diag_set(diag, -ENOMEM, "the controller is out of memory");
}

static int submit_add(struct live_campaign *live,
                      const struct results_campaign *campaign)
{
    struct results *results = live->results;
    struct add_task *add = task_new_copying(sizeof(*add), COPY_MAX, results,
                                            live, NULL, run_add, task_done);

    if (add == NULL)
        return -ENOMEM;
    add->origin = (struct record_origin){
        .campaign = live->number,
        .version = results->version,
        .epoch = store_epoch(results->store),
        .wall_ns = wall_now(results),
    };
    add->campaign = *campaign;
    if (!copy_texts(add->task.arena, &add->campaign)) {
        task_over(&add->task);
        return -ENOMEM;
    }
    return task_submit(&add->task);
}

int results_campaign_add(struct results *results,
                         const struct results_campaign *campaign,
                         uint64_t *ret_number, struct diag *diag)
{
    struct live_campaign *live;
    int err;

    if (find_campaign(results, &campaign->id) != NULL)
        return diag_set(diag, -EEXIST, "this campaign is there already");
    live = live_campaign_new(results, &campaign->id, results->next_campaign,
                             campaign->name);
    if (live == NULL)
        return out_of_memory(diag);
    err = submit_add(live, campaign);
    if (err < 0) {
        live->over = true;
        campaign_sweep(live);
        return diag_set(diag, err, "cannot store the campaign: %s",
                        strerror(-err));
    }
    *ret_number = results->next_campaign++;
    return 0;
}

/* ---- Planning --------------------------------------------------------------
 */

struct plan_task {
    struct task task;
    const struct plan *plan;
    struct results_host *hosts;
    struct results_drive *drives;
};

static int run_plan(struct store_job *job, struct store_access *access)
{
    struct plan_task *task = (struct plan_task *)job;
    const struct live_campaign *campaign = task->task.campaign;

    return record_plan(access, campaign->number, campaign->first_phase,
                       task->plan, task->hosts, task->drives, &job->diag);
}

/* NULL stays NULL; false without memory. */
static bool copy_text(struct arena *arena, const char **text)
{
    if (*text == NULL)
        return true;
    *text = arena_strdup(arena, *text);
    return *text != NULL;
}

static bool copy_hosts(struct plan_task *task, const struct results_host *hosts)
{
    struct arena *arena = task->task.arena;
    uint32_t count = task->plan->host_count;
    bool copied = true;

    if (hosts == NULL)
        return true;
    task->hosts = ARENA_ARRAY(arena, count, struct results_host);
    copied = task->hosts != NULL;
    for (uint32_t i = 0; i < count && copied; i++) {
        task->hosts[i] = hosts[i];
        copied = copy_text(arena, &task->hosts[i].agent) &&
                 copy_text(arena, &task->hosts[i].address) &&
                 copy_text(arena, &task->hosts[i].version) &&
                 copy_text(arena, &task->hosts[i].facts);
    }
    return copied;
}

static bool copy_drives(struct plan_task *task,
                        const struct results_drive *drives)
{
    struct arena *arena = task->task.arena;
    uint32_t count = task->plan->target_count;
    bool copied = true;

    if (drives == NULL)
        return true;
    task->drives = ARENA_ARRAY(arena, count, struct results_drive);
    copied = task->drives != NULL;
    for (uint32_t i = 0; i < count && copied; i++) {
        task->drives[i] = drives[i];
        copied = copy_text(arena, &task->drives[i].facts);
    }
    return copied;
}

int results_campaign_plan(struct results *results, const struct uuid *campaign,
                          const struct plan *plan,
                          const struct results_host *hosts,
                          const struct results_drive *drives, struct diag *diag)
{
    struct live_campaign *live = find_campaign(results, campaign);
    struct plan_task *task;
    int err;

    if (live == NULL || live->plan != NULL)
        return diag_set(diag, -ENOENT, "no campaign waits for its plan");
    if (live->phases_there > 0 && live->phases_there != plan->run_count)
        return diag_set(diag, -ESTALE,
                        "the campaign had %u phases before the restart, and "
                        "would have %u now: it cannot go on",
                        live->phases_there, plan->run_count);
    if (live->phases_there > 0) {
        live->plan = plan;
        return 0; /* all of it is stored */
    }
    task = task_new_copying(sizeof(*task), COPY_MAX, results, live, NULL,
                            run_plan, task_done);
    if (task == NULL)
        return out_of_memory(diag);
    task->plan = plan;
    if (!copy_hosts(task, hosts) || !copy_drives(task, drives)) {
        task_over(&task->task);
        return out_of_memory(diag);
    }
    live->plan = plan;
    live->first_phase = results->next_phase;
    results->next_phase += plan->run_count;
    err = task_submit(&task->task);
    return err < 0 ? diag_set(diag, err, "cannot store the plan: %s",
                              strerror(-err))
                   : 0;
}

/* ---- States ----------------------------------------------------------------
 */

struct state_task {
    struct task task;
    enum results_state state;
    int64_t wall_ns;
    char note[REASON_SIZE];
    bool has_note;
};

static int run_state(struct store_job *job, struct store_access *access)
{
    struct state_task *task = (struct state_task *)job;

    return record_campaign_state(
        access, task->task.campaign->number, task->state,
        task->has_note ? task->note : NULL, task->wall_ns, &job->diag);
}

int results_campaign_state(struct results *results, const struct uuid *campaign,
                           enum results_state state, const char *note)
{
    struct live_campaign *live = find_campaign(results, campaign);
    struct state_task *task;

    if (live == NULL)
        return -ENOENT;
    task = task_new(sizeof(*task), results, live, NULL, run_state, task_done);
    if (task == NULL)
        return -ENOMEM;
    task->state = state;
    task->wall_ns = wall_now(results);
    task->has_note = note != NULL;
    if (note != NULL)
        (void)strncat(task->note, note, sizeof(task->note) - 1);
    return task_submit(&task->task);
}

/* ---- Commands --------------------------------------------------------------
 */

#define COMMAND_BYTES (64u << 10)

struct command_task {
    struct task task;
    int64_t wall_ns;
    struct results_command command; /* its texts lie in the arena */
};

static int run_command(struct store_job *job, struct store_access *access)
{
    struct command_task *task = (struct command_task *)job;

    return record_command(access, task->task.campaign->number, &task->command,
                          task->wall_ns, &job->diag);
}

int results_command(struct results *results, const struct uuid *campaign,
                    const struct results_command *command)
{
    struct live_campaign *live = find_campaign(results, campaign);
    struct command_task *task;
    struct results_command *to;

    if (live == NULL)
        return -ENOENT;
    task = task_new_copying(sizeof(*task), COMMAND_BYTES, results, live, NULL,
                            run_command, task_done);
    if (task == NULL)
        return -ENOMEM;
    task->wall_ns = wall_now(results);
    to = &task->command;
    *to = *command;
    if (!copy_text(task->task.arena, &to->host) ||
        !copy_text(task->task.arena, &to->keyword) ||
        !copy_text(task->task.arena, &to->command) ||
        !copy_text(task->task.arena, &to->error) ||
        !copy_text(task->task.arena, &to->output)) {
        task_over(&task->task);
        return -ENOMEM;
    }
    return task_submit(&task->task);
}

/* ---- Memories --------------------------------------------------------------
 */

struct memory_task {
    struct task task;
    struct results_memory memory;
};

static int run_memory(struct store_job *job, struct store_access *access)
{
    struct memory_task *task = (struct memory_task *)job;

    return record_memory(access, task->task.campaign->number, &task->memory,
                         &job->diag);
}

static void done_memory(struct store_job *job)
{
    struct memory_task *task = (struct memory_task *)job;
    struct results *results = task->task.results;
    bool stored = task_succeeded(&task->task);

    if (!results->closing)
        results->handler->remembered(results->data, &task->task.campaign->id,
                                     &task->memory, stored);
    task_over(&task->task);
}

int results_remember(struct results *results, const struct uuid *campaign,
                     const struct results_memory *memory)
{
    struct live_campaign *live = find_campaign(results, campaign);
    struct memory_task *task;

    if (live == NULL)
        return -ENOENT;
    task = task_new_copying(sizeof(*task), COPY_MAX, results, live, NULL,
                            run_memory, done_memory);
    if (task == NULL)
        return -ENOMEM;
    task->memory = *memory;
    task->memory.name = arena_strdup(task->task.arena, memory->name);
    task->memory.text = arena_strdup(task->task.arena, memory->text);
    if (task->memory.name == NULL || task->memory.text == NULL) {
        task_over(&task->task);
        return -ENOMEM;
    }
    return task_submit(&task->task);
}

/* ---- The end ---------------------------------------------------------------
 */

struct end_task {
    struct task task;
    int64_t wall_ns;
    enum verdict verdict; /* as stored */
    const char *error;
};

static int run_end(struct store_job *job, struct store_access *access)
{
    struct end_task *task = (struct end_task *)job;
    const struct live_campaign *campaign = task->task.campaign;

    return record_campaign_end(access, campaign->number, campaign->verdict,
                               campaign->error, task->wall_ns, &task->verdict,
                               &task->error, &job->diag);
}

static void done_end(struct store_job *job)
{
    struct end_task *task = (struct end_task *)job;
    struct live_campaign *campaign = task->task.campaign;
    struct results *results = campaign->results;

    campaign->end_queued = false;
    campaign->failed_told = false; /* who tries again hears about it again */
    if (!task_succeeded(&task->task)) {
        campaign->ending = false;
    } else if (!results->closing) {
        tell_end(campaign, task->verdict, task->error);
        campaign->over = true;
        results->handler->campaign_done(results->data, &campaign->id);
    }
    task_over(&task->task);
}

static bool phases_are_over(const struct live_campaign *campaign)
{
    for (const struct live_phase *p = campaign->phases; p != NULL; p = p->next)
        if (p->state != LIVE_OVER)
            return false;
    return true;
}

/* Queues the campaign's end once its phases have theirs. */
static int try_end(struct live_campaign *campaign)
{
    struct end_task *task;
    int err;

    if (!campaign->ending || campaign->end_queued || !phases_are_over(campaign))
        return 0;
    task = task_new(sizeof(*task), campaign->results, campaign, NULL, run_end,
                    done_end);
    if (task == NULL) {
        campaign->ending = false;
        return -ENOMEM;
    }
    task->wall_ns = wall_now(campaign->results);
    err = task_submit(&task->task);
    campaign->end_queued = err == 0;
    campaign->ending = err == 0;
    return err;
}

void campaign_advance(struct live_campaign *campaign)
{
    struct diag diag;
    int err = try_end(campaign);

    if (err == 0)
        return;
    (void)diag_set(&diag, err, "cannot store the end of campaign %llu: %s",
                   (unsigned long long)campaign->number, strerror(-err));
    campaign->failed_told = false;
    tell_failed(campaign, &diag);
}

int results_campaign_end(struct results *results, const struct uuid *campaign,
                         enum verdict verdict, const char *error)
{
    struct live_campaign *live = find_campaign(results, campaign);
    char *copy = error == NULL ? NULL : strdup(error);

    if (live == NULL || (error != NULL && copy == NULL)) {
        free(copy);
        return live == NULL ? -ENOENT : -ENOMEM;
    }
    if (live->end_queued) {
        free(copy);
        return -EALREADY;
    }
    free(live->error);
    live->error = copy;
    live->verdict = verdict;
    live->ending = true;
    for (struct live_phase *p = live->phases; p != NULL; p = p->next)
        if (p->verdict == VERDICT_NONE) {
            p->verdict = verdict;
            p->error = error == NULL ? NULL : strdup(error);
            if (phase_is_open(p) || p->state == LIVE_TOTALLED)
                phase_total(p);
        }
    return try_end(live);
}
