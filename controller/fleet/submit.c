/*
 * From the text of a parameter file to a campaign that waits for its drives:
 * read, match hosts to agents, ask the agents about the targets, place, store,
 * queue.  Whatever is wrong is one answer with all that was found.
 */
#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/uuid.h"
#include "controller/conduct/queue.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/state.h"
#include "controller/language/language.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit statuses of the command, see design. */
#define STATUS_FAILED 1u
#define STATUS_USAGE  2u

/* Files, names of drives, needs: a few times what a Submit may hold. */
#define CAMPAIGN_ARENA_BYTES (64u << 20)

/* ---- Answers ----------------------------------------------------------------
 */

/* Takes the document. */
static void answer(struct campaign *campaign, uint32_t status, char *document)
{
    struct shell_session *shell = fleet_shell(campaign->fleet, campaign->shell);

    if (shell != NULL && document != NULL)
        shell_session_answer(shell, campaign->request, status, document,
                             strlen(document));
    else if (shell != NULL)
        link_end(shell->link, "the controller is out of memory");
    free(document);
}

/* A notice on the way of the Submit. */
static void progress(struct campaign *campaign, const char *text)
{
    struct shell_session *shell = fleet_shell(campaign->fleet, campaign->shell);
    char *document = document_notice(campaign->number, text);

    if (shell != NULL && document != NULL)
        shell_session_event(shell, campaign->request, SHELL_EVENT_KEPT,
                            document, strlen(document));
    free(document);
}

static void refuse_report(struct campaign *campaign, uint32_t status)
{
    char first[REASON_SIZE];

    language_report_first(&campaign->report, first, sizeof(first));
    log_notice(NULL, "submit of '%s' by %s refused: %s", campaign->given.name,
               campaign->given.who, first);
    answer(campaign, status, document_report(&campaign->report));
    campaign_enter(campaign, CAMPAIGN_OVER);
}

static void missing_hosts(const struct campaign *campaign, char *text,
                          size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < campaign->host_count; i++)
        if (!campaign->hosts[i].inspected && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s",
                                       length == 0 ? "" : ", ",
                                       campaign->hosts[i].host->name);
}

void submit_refuse(struct campaign *campaign, const char *reason)
{
    char missing[REASON_SIZE / 2];
    char text[REASON_SIZE];

    if (reason == NULL && campaign->plan == NULL) {
        reason = "no agent has connected";
    } else if (reason == NULL) {
        missing_hosts(campaign, missing, sizeof(missing));
        (void)snprintf(text, sizeof(text),
                       "no answer about the drives within %u s from: %s; look "
                       "at the agents' logs there",
                       (unsigned)(CAMPAIGN_INSPECT_NS / NS_PER_S), missing);
        reason = text;
    }
    log_notice(NULL, "submit of '%s' by %s refused: %s", campaign->given.name,
               campaign->given.who, reason);
    answer(campaign, STATUS_FAILED, document_error(reason));
    campaign_enter(campaign, CAMPAIGN_OVER);
}

/* ---- A campaign's own copy of what was submitted
 * ------------------------------- */

static int copy_files(struct campaign *campaign,
                      const struct wire_submit *submit)
{
    struct arena *arena = campaign->arena;
    struct results_file *files =
        ARENA_ARRAY(arena, submit->file_count, struct results_file);

    campaign->included = ARENA_ARRAY(arena, submit->file_count, bool);
    if (files == NULL || campaign->included == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < submit->file_count; i++) {
        files[i].name = arena_strdup(arena, submit->files[i].name);
        files[i].text = arena_strdup(arena, submit->files[i].text);
        files[i].length = strlen(submit->files[i].text);
        campaign->included[i] = submit->files[i].included;
        if (files[i].name == NULL || files[i].text == NULL)
            return -ENOMEM;
    }
    campaign->given.files = files;
    campaign->given.file_count = submit->file_count;
    return 0;
}

static int copy_variables(struct campaign *campaign,
                          const struct wire_submit *submit)
{
    const char **variables =
        ARENA_ARRAY(campaign->arena, submit->variable_count, const char *);

    if (variables == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < submit->variable_count; i++) {
        variables[i] = arena_strdup(campaign->arena, submit->variables[i]);
        if (variables[i] == NULL)
            return -ENOMEM;
    }
    campaign->given.variables = variables;
    campaign->given.variable_count = submit->variable_count;
    return 0;
}

static int copy_given(struct campaign *campaign,
                      const struct shell_session *shell,
                      const struct wire_submit *submit)
{
    struct results_campaign *given = &campaign->given;
    char who[REASON_SIZE];

    shell_session_who(shell, who);
    given->id = campaign->id;
    given->name = arena_strdup(campaign->arena, submit->name[0] != '\0'
                                                    ? submit->name
                                                    : submit->files[0].name);
    given->who = arena_strdup(campaign->arena, who);
    given->elapsed_ns = submit->elapsed_ns;
    given->interval_ns = submit->interval_ns;
    given->warmup_ns = submit->warmup_ns;
    given->warmup_given = submit->warmup_given;
    if (given->name == NULL || given->who == NULL)
        return -ENOMEM;
    if (copy_files(campaign, submit) != 0)
        return -ENOMEM;
    return copy_variables(campaign, submit);
}

static struct campaign *campaign_new(struct fleet *fleet,
                                     const struct shell_session *shell,
                                     uint32_t request,
                                     const struct wire_submit *submit)
{
    struct campaign *campaign = calloc(1, sizeof(*campaign));

    if (campaign == NULL)
        return NULL;
    campaign->fleet = fleet;
    campaign->id = fleet->new_uuid();
    campaign->state = CAMPAIGN_INSPECTING;
    campaign->shell = shell->link->id;
    campaign->request = request;
    campaign->slices_phase = UINT32_MAX;
    language_report_init(&campaign->report);
    campaign->arena = arena_new(CAMPAIGN_ARENA_BYTES);
    if (campaign->arena == NULL || copy_given(campaign, shell, submit) != 0)
        return campaign_free(campaign);
    campaign->next = fleet->campaigns;
    fleet->campaigns = campaign;
    fleet->campaign_count++;
    return campaign;
}

/* ---- Reading
 * ------------------------------------------------------------------------ */

static const struct results_file *included_file(const struct campaign *campaign,
                                                const char *name)
{
    for (uint32_t i = 0; i < campaign->given.file_count; i++)
        if (campaign->included[i] &&
            strcmp(campaign->given.files[i].name, name) == 0)
            return &campaign->given.files[i];
    return NULL;
}

/* An include= reads what the shell sent with the Submit, nothing here. */
static int include(void *user, const char *name, const char *from,
                   char **ret_text, size_t *ret_length)
{
    const struct results_file *file = included_file(user, name);
    char *text;

    (void)from;
    if (file == NULL)
        return -ENOENT;
    text = malloc(file->length + 1);
    if (text == NULL)
        return -ENOMEM;
    memcpy(text, file->text, file->length + 1);
    *ret_text = text;
    *ret_length = file->length;
    return 0;
}

static int read_files(struct campaign *campaign)
{
    const struct results_campaign *given = &campaign->given;
    struct language_file files[WIRE_FILES_MAX];
    struct language_input input = {
        .files = files,
        .variables = given->variables,
        .variable_count = given->variable_count,
        .elapsed_ns = given->elapsed_ns,
        .interval_ns = given->interval_ns,
        .warmup_ns = given->warmup_ns,
        .warmup_given = given->warmup_given,
        .include = include,
        .include_user = campaign,
    };

    for (uint32_t i = 0; i < given->file_count; i++)
        if (!campaign->included[i])
            files[input.file_count++] = (struct language_file){
                .name = given->files[i].name,
                .text = given->files[i].text,
                .length = given->files[i].length,
            };
    return language_read(&input, &campaign->report, &campaign->definitions);
}

/* ---- Hosts
 * ------------------------------------------------------------------------------
 */

static int take_hosts(struct campaign *campaign, struct host **known)
{
    const struct plan *plan = campaign->plan;

    campaign->hosts = calloc(plan->host_count + 1, sizeof(*campaign->hosts));
    if (campaign->hosts == NULL)
        return -ENOMEM;
    campaign->host_count = plan->host_count;
    for (uint32_t i = 0; i < plan->host_count; i++) {
        assert(plan->hosts[i].agent != PLAN_NOWHERE);
        campaign->hosts[i].host = known[plan->hosts[i].agent];
        registry_hold(campaign->hosts[i].host);
    }
    return 0;
}

static int match_hosts(struct campaign *campaign)
{
    struct host **known;
    struct plan_fleet *view = registry_fleet(campaign->fleet->registry, &known);
    int err;

    if (view == NULL)
        return -ENOMEM;
    err = plan_expand(campaign->definitions, view, &campaign->report,
                      &campaign->plan);
    if (err == 0)
        err = take_hosts(campaign, known);
    free(view);
    return err;
}

/* ---- Targets
 * ------------------------------------------------------------------------------
 */

static uint32_t count_targets(const struct plan *plan, uint32_t host)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->target_count; i++)
        count += plan->targets[i].host == host ? 1 : 0;
    return count;
}

static void check_target_counts(struct campaign *campaign)
{
    const struct plan *plan = campaign->plan;

    for (uint32_t i = 0; i < plan->host_count; i++) {
        uint32_t count = count_targets(plan, i);

        if (count > WIRE_TARGETS_MAX)
            language_report_add(
                &campaign->report, LANGUAGE_ERROR, &plan->hosts[i].place, NULL,
                "host '%s' has %u targets, at most %u are possible",
                plan->hosts[i].label, count, WIRE_TARGETS_MAX);
    }
}

static void inspect_host(struct campaign *campaign, uint32_t host)
{
    const struct plan *plan = campaign->plan;
    struct wire_inspect_target targets[WIRE_TARGETS_MAX];
    struct wire_out out = {.kind = WIRE_OUT_INSPECT};
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];

        if (target->host == host)
            targets[count++] = (struct wire_inspect_target){
                .path = target->path,
                .write = target->written,
                .create = target->size_given,
                .open_flags = target->open_flags,
                .size_bytes = target->size_given ? target->size_bytes : 0,
            };
    }
    out.inspect = (struct wire_inspect){
        .campaign = campaign->id,
        .targets = targets,
        .target_count = count,
    };
    campaign->hosts[host].inspected = count == 0;
    if (count > 0)
        (void)link_say(campaign->hosts[host].host->session->link, &out);
}

static bool all_inspected(const struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->host_count; i++)
        if (!campaign->hosts[i].inspected)
            return false;
    return true;
}

static void finish(struct campaign *campaign);

static void inspect(struct campaign *campaign)
{
    char text[128];

    (void)snprintf(text, sizeof(text), "inspecting %u drive%s on %u host%s",
                   campaign->plan->target_count,
                   campaign->plan->target_count == 1 ? "" : "s",
                   campaign->host_count, campaign->host_count == 1 ? "" : "s");
    progress(campaign, text);
    for (uint32_t i = 0; i < campaign->host_count; i++)
        inspect_host(campaign, i);
    if (all_inspected(campaign))
        finish(campaign);
}

static struct plan_facts facts_of(const struct wire_target_facts *from)
{
    bool other = from->kind == WIRE_TARGET_OTHER && from->refusal[0] == '\0';

    return (struct plan_facts){
        .known = true,
        .is_block = from->kind == WIRE_TARGET_BLOCK,
        .is_character = from->kind == WIRE_TARGET_CHARACTER,
        .missing = from->kind == WIRE_TARGET_MISSING,
        .ours = from->ours,
        .refusal = other ? "it is neither a drive nor a file" : from->refusal,
        .free_bytes = from->free_bytes,
        .device_number = from->device_number,
        .inode = from->inode,
        .size_bytes = from->size_bytes,
        .logical_block = from->logical_block,
        .device = from->device,
        .serial = from->serial,
        .wwn = from->wwn,
        .model = from->model,
        .disk_sequence = from->disk_sequence,
    };
}

static int take_facts(struct campaign *campaign, uint32_t host,
                      const struct wire_inspected *inspected)
{
    struct plan *plan = campaign->plan;
    uint32_t next = 0;

    for (uint32_t i = 0; i < plan->target_count; i++) {
        struct plan_facts facts;
        int err;

        if (plan->targets[i].host != host)
            continue;
        facts = facts_of(&inspected->targets[next++]);
        err = plan_set_facts(plan, i, &facts);
        if (err != 0)
            return err;
    }
    return 0;
}

void submit_inspected(struct campaign *campaign, uint32_t host,
                      const struct wire_inspected *inspected)
{
    char text[256];

    if (campaign->plan == NULL || campaign->hosts[host].inspected)
        return;
    if (inspected->target_count != count_targets(campaign->plan, host)) {
        (void)snprintf(text, sizeof(text),
                       "agent '%s' told about %u drives, it was asked about "
                       "%u; update it",
                       campaign->hosts[host].host->name,
                       inspected->target_count,
                       count_targets(campaign->plan, host));
        submit_refuse(campaign, text);
        return;
    }
    if (take_facts(campaign, host, inspected) != 0) {
        submit_refuse(campaign, "the controller is out of memory");
        return;
    }
    campaign->hosts[host].inspected = true;
    if (all_inspected(campaign))
        finish(campaign);
}

/* ---- Storing and queueing
 * -------------------------------------------------------------------- */

static void free_texts(char **texts, uint32_t count)
{
    for (uint32_t i = 0; texts != NULL && i < count; i++)
        free(texts[i]);
    free(texts);
}

/* The facts of hosts and drives as JSON, for the store; results copies them. */
static int store_plan(struct campaign *campaign, struct diag *diag)
{
    const struct plan *plan = campaign->plan;
    struct results_host *hosts = calloc(plan->host_count, sizeof(*hosts));
    struct results_drive *drives = calloc(plan->target_count, sizeof(*drives));
    char **host_texts = calloc(plan->host_count, sizeof(char *));
    char **drive_texts = calloc(plan->target_count, sizeof(char *));
    int err = -ENOMEM;

    if (hosts == NULL || drives == NULL || host_texts == NULL ||
        drive_texts == NULL)
        goto out;
    for (uint32_t i = 0; i < plan->host_count; i++) {
        const struct host *host = campaign->hosts[i].host;

        hosts[i] = (struct results_host){
            .agent = host->name,
            .address = host->address,
            .version = host->version,
            .instance = host->instance,
            .facts = host_texts[i] = document_host_facts(host),
        };
    }
    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];
        const struct wire_drive *drive = registry_drive(
            campaign->hosts[target->host].host, target->facts.device);

        if (drive != NULL)
            drives[i].facts = drive_texts[i] = document_drive_facts(drive);
    }
    err = results_campaign_plan(campaign->fleet->results, &campaign->id, plan,
                                hosts, drives, diag);
out:
    if (err == -ENOMEM)
        (void)diag_set(diag, err, "the controller is out of memory");
    free_texts(host_texts, plan->host_count);
    free_texts(drive_texts, plan->target_count);
    free(hosts);
    free(drives);
    return err;
}

static bool need_drive(struct campaign *campaign,
                       const struct plan_target *target,
                       struct queue_need *need)
{
    const char *host = campaign->hosts[target->host].host->name;
    char key[QUEUE_KEY_SIZE];

    queue_drive_key(host, &target->facts, target->path, key);
    need->key = arena_strdup(campaign->arena, key);
    need->title = arena_printf(campaign->arena, "%s %s", host, target->path);
    return need->key != NULL && need->title != NULL;
}

static bool need_host(struct campaign *campaign, const struct host *host,
                      struct queue_need *need)
{
    need->key = arena_printf(campaign->arena, "host %s", host->name);
    need->title = arena_printf(campaign->arena, "host '%s'", host->name);
    return need->key != NULL && need->title != NULL;
}

static int enqueue(struct campaign *campaign, struct diag *diag)
{
    const struct plan *plan = campaign->plan;
    uint32_t count = 0;
    struct queue_need *needs =
        ARENA_ARRAY(campaign->arena, plan->host_count + plan->target_count,
                    struct queue_need);
    bool made = needs != NULL;

    for (uint32_t i = 0; i < plan->target_count && made; i++)
        made = need_drive(campaign, &plan->targets[i], &needs[count++]);
    for (uint32_t i = 0; i < plan->host_count && made; i++)
        made = need_host(campaign, campaign->hosts[i].host, &needs[count++]);
    if (!made)
        return diag_set(diag, -ENOMEM, "the controller is out of memory");
    return queue_add(campaign->fleet->queue, &campaign->id,
                     campaign->given.name, needs, count, diag);
}

/* Also where somebody else has its drives: who, and that it waits for them. */
static void tell_waiting(struct campaign *campaign)
{
    char why[REASON_SIZE];
    char text[REASON_SIZE + 16];

    queue_why(campaign->fleet->queue, &campaign->id, why);
    (void)snprintf(text, sizeof(text), "waiting: %s", why);
    (void)!results_campaign_state(campaign->fleet->results, &campaign->id,
                                  RESULTS_QUEUED, why);
    campaign_notice(campaign, text);
}

static void accept_campaign(struct campaign *campaign)
{
    struct fleet *fleet = campaign->fleet;
    struct diag diag = {0};

    if (results_campaign_add(fleet->results, &campaign->given,
                             &campaign->number, &diag) != 0) {
        submit_refuse(campaign, diag.text);
        return;
    }
    fleet->newest_campaign = campaign->number;
    campaign_enter(campaign, CAMPAIGN_WAITING);
    log_notice(NULL, "campaign %llu: '%s' submitted by %s, %u runs on %u hosts",
               (unsigned long long)campaign->number, campaign->given.name,
               campaign->given.who, campaign->plan->run_count,
               campaign->host_count);
    answer(campaign, 0, document_submitted(campaign));
    if (store_plan(campaign, &diag) != 0 || enqueue(campaign, &diag) != 0) {
        campaign_end(campaign, VERDICT_FAILED, diag.text);
        return;
    }
    fleet_advance_queue(fleet);
    if (campaign->state == CAMPAIGN_WAITING)
        tell_waiting(campaign);
}

static void finish(struct campaign *campaign)
{
    int err = plan_place(campaign->plan, &campaign->report);

    if (err == -ENOMEM)
        submit_refuse(campaign, "the controller is out of memory");
    else if (err != 0)
        refuse_report(campaign, STATUS_FAILED);
    else
        accept_campaign(campaign);
}

/* ---- The beginning
 * ------------------------------------------------------------------------------
 */

static void submit_match(struct campaign *campaign)
{
    int err = match_hosts(campaign);

    if (err == 0)
        check_target_counts(campaign);
    campaign->definitions = definitions_free(campaign->definitions);
    if (err == -ENOMEM)
        submit_refuse(campaign, "the controller is out of memory");
    else if (err != 0 || language_report_failed(&campaign->report))
        refuse_report(campaign, STATUS_USAGE);
    else
        inspect(campaign);
}

/* The agent of `lockstep run` starts beside us: it is waited for. */
static bool is_too_early(const struct fleet *fleet)
{
    for (uint32_t i = 0; i < registry_count(fleet->registry); i++)
        if (registry_at(fleet->registry, i)->session != NULL)
            return false;
    return fleet->is_private;
}

static void answer_error(struct shell_session *shell, uint32_t request,
                         const char *error)
{
    char *document = document_error(error);

    if (document != NULL)
        shell_session_answer(shell, request, STATUS_FAILED, document,
                             strlen(document));
    else
        link_end(shell->link, "the controller is out of memory");
    free(document);
}

void submit_begin(struct fleet *fleet, struct shell_session *shell,
                  uint32_t request, const struct wire_submit *submit)
{
    struct campaign *campaign;
    int err;

    if (fleet->stopping || fleet->campaign_count >= CAMPAIGNS_MAX) {
        answer_error(shell, request,
                     fleet->stopping ? "the controller ends"
                                     : "too many campaigns wait already");
        return;
    }
    campaign = campaign_new(fleet, shell, request, submit);
    if (campaign == NULL) {
        link_end(shell->link, "the controller is out of memory");
        return;
    }
    campaign->inspect_due_ns = fleet_now_ns(fleet) + CAMPAIGN_INSPECT_NS;
    err = read_files(campaign);
    if (err == -ENOMEM)
        submit_refuse(campaign, "the controller is out of memory");
    else if (err != 0)
        refuse_report(campaign, STATUS_USAGE);
    else if (!is_too_early(fleet))
        submit_match(campaign);
}

void submit_agent_came(struct fleet *fleet)
{
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        if (at->state == CAMPAIGN_INSPECTING && at->plan == NULL)
            submit_match(at);
}
