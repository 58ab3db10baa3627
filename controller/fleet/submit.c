/*
 * From the text of a parameter file to a plan of agents.  Then inspect.c asks
 * these about the targets and accept.c stores and queues the campaign.
 * Whatever is wrong is one answer with all that was found.
 */
#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/uuid.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/state.h"
#include "controller/language/language.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files, names of drives, needs: a few times what a Submit may hold. */
#define CAMPAIGN_ARENA_BYTES (64u << 20)

/* ---- Answers ----------------------------------------------------------- */

/* Takes the document. */
void submit_answer(struct campaign *campaign, uint32_t status, char *document)
{
    struct shell_session *shell = fleet_shell(campaign->fleet, campaign->shell);

    if (shell != NULL && document != NULL)
        shell_session_answer(shell, campaign->request, status, document,
                             strlen(document));
    else if (shell != NULL)
        link_end(shell->link, "the controller is out of memory");
    free(document);
}

void submit_audit(struct campaign *campaign, bool refused, const char *detail)
{
    audit_request(campaign->fleet, &campaign->by, "submit",
                  campaign->given.name, campaign->number, refused, detail);
}

/* A notice on the way of the Submit. */
void submit_progress(struct campaign *campaign, const char *text)
{
    struct shell_session *shell = fleet_shell(campaign->fleet, campaign->shell);
    char *document = document_notice(campaign->number, text);

    if (shell != NULL && document != NULL)
        shell_session_event(shell, campaign->request, SHELL_EVENT_KEPT,
                            document, strlen(document));
    free(document);
}

void submit_refuse_report(struct campaign *campaign, uint32_t status)
{
    char first[REASON_SIZE];

    language_report_first(&campaign->report, first, sizeof(first));
    log_notice(NULL, "submit of '%s' by %s refused: %s", campaign->given.name,
               campaign->given.who, first);
    submit_audit(campaign, true, first);
    submit_answer(campaign, status, document_report(&campaign->report));
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
    submit_audit(campaign, true, reason);
    submit_answer(campaign, STATUS_FAILED, document_error(reason));
    campaign_enter(campaign, CAMPAIGN_OVER);
}

void submit_show(struct campaign *campaign)
{
    char *document =
        document_plan(campaign->plan, campaign->show, &campaign->report);

    if (document == NULL) {
        submit_refuse(campaign, "the plan is too long to be sent; the shell's "
                                "'check' without --fleet shows its runs");
        return;
    }
    submit_answer(campaign, 0, document);
    campaign_enter(campaign, CAMPAIGN_OVER);
}

/* ---- A campaign's own copy of what was submitted ----------------------- */

static int copy_files(struct campaign *campaign,
                      const struct results_campaign *from, const bool *included)
{
    struct arena *arena = campaign->arena;
    struct results_file *files =
        ARENA_ARRAY(arena, from->file_count, struct results_file);

    campaign->included =
        arena_memdup(arena, included, from->file_count * sizeof(*included));
    if (files == NULL || campaign->included == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->file_count; i++) {
        files[i].name = arena_strdup(arena, from->files[i].name);
        files[i].text = arena_strdup(arena, from->files[i].text);
        files[i].length = from->files[i].length;
        if (files[i].name == NULL || files[i].text == NULL)
            return -ENOMEM;
    }
    campaign->given.files = files;
    return 0;
}

static int copy_variables(struct campaign *campaign,
                          const struct results_campaign *from)
{
    const char **variables =
        ARENA_ARRAY(campaign->arena, from->variable_count, const char *);

    if (variables == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->variable_count; i++) {
        variables[i] = arena_strdup(campaign->arena, from->variables[i]);
        if (variables[i] == NULL)
            return -ENOMEM;
    }
    campaign->given.variables = variables;
    return 0;
}

int submit_copy_given(struct campaign *campaign,
                      const struct results_campaign *from, const bool *included)
{
    struct results_campaign *given = &campaign->given;
    int err;

    *given = *from;
    given->name = arena_strdup(campaign->arena, from->name);
    given->who = arena_strdup(campaign->arena, from->who);
    if (given->name == NULL || given->who == NULL)
        return -ENOMEM;
    err = copy_files(campaign, from, included);
    return err != 0 ? err : copy_variables(campaign, from);
}

static int copy_submit(struct campaign *campaign,
                       const struct shell_session *shell,
                       const struct wire_submit *submit)
{
    struct results_file files[WIRE_FILES_MAX];
    bool included[WIRE_FILES_MAX];
    char who[REASON_SIZE];
    const struct results_campaign from = {
        .id = campaign->id,
        .name = submit->name[0] != '\0' ? submit->name : submit->files[0].name,
        .who = who,
        .files = files,
        .file_count = submit->file_count,
        .variables = submit->variables,
        .variable_count = submit->variable_count,
        .elapsed_ns = submit->elapsed_ns,
        .interval_ns = submit->interval_ns,
        .warmup_ns = submit->warmup_ns,
        .warmup_given = submit->warmup_given,
    };

    shell_session_who(shell, who);
    for (uint32_t i = 0; i < submit->file_count; i++) {
        files[i] = (struct results_file){
            .name = submit->files[i].name,
            .text = submit->files[i].text,
            .length = strlen(submit->files[i].text),
        };
        included[i] = submit->files[i].included;
    }
    return submit_copy_given(campaign, &from, included);
}

struct campaign *submit_new_campaign(struct fleet *fleet, const struct uuid *id)
{
    struct campaign *campaign = calloc(1, sizeof(*campaign));

    if (campaign == NULL)
        return NULL;
    campaign->fleet = fleet;
    campaign->id = *id;
    campaign->state = CAMPAIGN_INSPECTING;
    campaign->slices_phase = UINT32_MAX;
    language_report_init(&campaign->report);
    campaign->arena = arena_new(CAMPAIGN_ARENA_BYTES);
    if (campaign->arena == NULL)
        return campaign_free(campaign);
    campaign->next = fleet->campaigns;
    fleet->campaigns = campaign;
    fleet->campaign_count++;
    return campaign;
}

/* ---- Reading ----------------------------------------------------------- */

static const struct results_file *included_file(const struct campaign *campaign,
                                                const char *name)
{
    for (uint32_t i = 0; i < campaign->given.file_count; i++)
        if (campaign->included[i] &&
            strcmp(campaign->given.files[i].name, name) == 0)
            return &campaign->given.files[i];
    return NULL;
}

/* An include= or pattern= reads what the shell sent with the Submit, nothing
 * here. */
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

int submit_read_files(struct campaign *campaign)
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

/* ---- Hosts ------------------------------------------------------------- */

static const char *const *copy_texts(struct arena *arena,
                                     const char *const *from, uint32_t count)
{
    const char **to = ARENA_ARRAY(arena, count, const char *);

    for (uint32_t i = 0; i < count && to != NULL; i++) {
        to[i] = arena_strdup(arena, from[i]);
        if (to[i] == NULL)
            return NULL;
    }
    return to;
}

static bool copy_drive(struct arena *arena, struct plan_drive *drive)
{
    const char **texts[] = {&drive->name,  &drive->path,   &drive->by_id,
                            &drive->model, &drive->serial, &drive->firmware,
                            &drive->wwn};
    bool copied = true;

    for (size_t i = 0; i < ARRAY_LENGTH(texts) && copied; i++) {
        *texts[i] = arena_strdup(arena, *texts[i]);
        copied = *texts[i] != NULL;
    }
    drive->used_by = copy_texts(arena, drive->used_by, drive->use_count);
    return copied && drive->used_by != NULL;
}

static int copy_drives(struct arena *arena, struct plan_agent *to)
{
    struct plan_drive *drives =
        ARENA_ARRAY(arena, to->drive_count, struct plan_drive);

    for (uint32_t i = 0; i < to->drive_count && drives != NULL; i++) {
        drives[i] = to->drives[i];
        if (!copy_drive(arena, &drives[i]))
            return -ENOMEM;
    }
    to->drives = drives;
    return drives == NULL ? -ENOMEM : 0;
}

/* drive= looked at what the agents have. */
static bool has_chosen(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->target_count; i++)
        if (plan->targets[i].choice == PLAN_CHOICE_CHOSEN)
            return true;
    return false;
}

/* What made a host of the file this agent, should it be asked once more. */
static int copy_agent(struct arena *arena, const struct plan_agent *from,
                      bool with_drives, struct plan_agent *to)
{
    *to = *from;
    if (!with_drives) {
        to->drives = NULL;
        to->drive_count = 0;
    } else if (copy_drives(arena, to) != 0) {
        return -ENOMEM;
    }
    to->name = arena_strdup(arena, from->name);
    to->hostname = arena_strdup(arena, from->hostname);
    to->addresses = copy_texts(arena, from->addresses, from->address_count);
    to->labels = copy_texts(arena, from->labels, from->label_count);
    return to->name == NULL || to->hostname == NULL || to->addresses == NULL ||
                   to->labels == NULL
               ? -ENOMEM
               : 0;
}

static int take_hosts(struct campaign *campaign, const struct plan_fleet *view,
                      struct host **known)
{
    const struct plan *plan = campaign->plan;
    bool with_drives = has_chosen(plan);
    int err = 0;

    campaign->hosts = calloc(plan->host_count + 1, sizeof(*campaign->hosts));
    campaign->agents =
        ARENA_ARRAY(campaign->arena, plan->host_count, struct plan_agent);
    if (campaign->hosts == NULL || campaign->agents == NULL)
        return -ENOMEM;
    campaign->host_count = plan->host_count;
    for (uint32_t i = 0; i < plan->host_count && err == 0; i++) {
        uint32_t agent = plan->hosts[i].agent;

        assert(agent != PLAN_NOWHERE);
        campaign->hosts[i].host = known[agent];
        registry_hold(campaign->hosts[i].host);
        err = copy_agent(campaign->arena, &view->agents[agent], with_drives,
                         &campaign->agents[i]);
    }
    return err;
}

/* Which targets are on which host; the lists share one piece of memory. */
static int sort_targets(struct campaign *campaign)
{
    const struct plan *plan = campaign->plan;
    uint32_t *list =
        ARENA_ARRAY(campaign->arena, plan->target_count + 1, uint32_t);

    if (list == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < plan->target_count; i++)
        campaign->hosts[plan->targets[i].host].target_count++;
    for (uint32_t i = 0; i < plan->host_count; i++) {
        struct campaign_host *host = &campaign->hosts[i];

        host->targets = list;
        list += host->target_count;
        host->target_count = 0;
    }
    for (uint32_t i = 0; i < plan->target_count; i++) {
        struct campaign_host *host = &campaign->hosts[plan->targets[i].host];

        host->targets[host->target_count++] = i;
    }
    return 0;
}

int submit_expand(struct campaign *campaign, const struct plan_fleet *view,
                  struct host **known)
{
    int err = plan_expand(campaign->definitions, view, &campaign->report,
                          &campaign->plan);

    if (err == 0)
        err = take_hosts(campaign, view, known);
    return err == 0 ? sort_targets(campaign) : err;
}

static int match_hosts(struct campaign *campaign)
{
    struct host **known;
    struct plan_fleet *view = registry_fleet(campaign->fleet->registry, &known);
    int err;

    if (view == NULL)
        return -ENOMEM;
    view->this_host_only = campaign->fleet->is_private;
    if (campaign->fleet->folder[0] != '\0')
        view->folder = campaign->fleet->folder;
    err = submit_expand(campaign, view, known);
    free(view);
    return err;
}

/* ---- The beginning ----------------------------------------------------- */

static void submit_match(struct campaign *campaign)
{
    int err = match_hosts(campaign);

    if (err == 0)
        submit_check_targets(campaign);
    if (err == 0)
        errand_check(campaign);
    campaign->definitions = definitions_free(campaign->definitions);
    if (err == -ENOMEM)
        submit_refuse(campaign, "the controller is out of memory");
    else if (err != 0 || language_report_failed(&campaign->report))
        submit_refuse_report(campaign, STATUS_USAGE);
    else
        submit_inspect(campaign);
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
    struct uuid id = fleet->new_uuid();
    struct campaign *campaign;
    int err;

    if (fleet->stopping || fleet->campaign_count >= CAMPAIGNS_MAX) {
        answer_error(shell, request,
                     fleet->stopping ? "the controller ends"
                                     : "too many campaigns wait already");
        return;
    }
    campaign = submit_new_campaign(fleet, &id);
    if (campaign == NULL) {
        link_end(shell->link, "the controller is out of memory");
        return;
    }
    campaign->shell = shell->link->id;
    audit_actor_of(shell->link, shell->user, &campaign->by);
    campaign->request = request;
    campaign->show = submit->plan;
    campaign->yes = arena_strdup(campaign->arena, submit->yes);
    campaign->inspect_due_ns = fleet_now_ns(fleet) + CAMPAIGN_INSPECT_NS;
    err =
        campaign->yes == NULL ? -ENOMEM : copy_submit(campaign, shell, submit);
    if (err == 0)
        err = submit_read_files(campaign);
    if (err == -ENOMEM)
        submit_refuse(campaign, "the controller is out of memory");
    else if (err != 0)
        submit_refuse_report(campaign, STATUS_USAGE);
    else if (!is_too_early(fleet))
        submit_match(campaign);
}

void submit_agent_came(struct fleet *fleet)
{
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        if (at->state == CAMPAIGN_INSPECTING && at->plan == NULL)
            submit_match(at);
}
