/*
 * What shells ask: answered here from what the fleet knows, by results from
 * what the store holds, or by submit.c.
 */
#include "common/clock.h"
#include "common/log.h"
#include "controller/fleet/codec.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/greeting.h"
#include "controller/fleet/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Coming and going -------------------------------------------------- */

void shells_hello(struct fleet *fleet, struct link *link,
                  const struct wire_shell_hello *hello)
{
    const struct wire_out out = {
        .kind = WIRE_OUT_WELCOME,
        .welcome =
            {
                .controller = *fleet_controller(fleet),
                .epoch = fleet_epoch(fleet),
            },
    };
    struct diag diag = {0};

    if (greeting_shell(link, hello, &diag) != 0) {
        struct audit_actor actor;

        audit_actor_of(link, hello->user, &actor);
        audit_stranger(fleet, &actor, diag.text);
        link_end(link, "%s", diag.text);
        return;
    }
    if (shell_session_new(link, hello) == NULL) {
        link_end(link, "the controller is out of memory");
        return;
    }
    (void)link_say(link, &out);
}

/* A submission whose shell has gone would be run for nobody. */
static void drop_submissions(struct fleet *fleet, const struct link *link)
{
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        if (at->state == CAMPAIGN_INSPECTING && at->shell == link->id)
            submit_refuse(at, "the shell has gone");
}

void shells_gone(struct fleet *fleet, struct link *link)
{
    log_debug(NULL, "shell at %s: %s", link->address, link->end_reason);
    drop_submissions(fleet, link);
    link->owner = shell_session_free(link->owner);
    if (fleet->is_private)
        fleet_stop(fleet, "the end of the shell");
}

/* ---- Answers ----------------------------------------------------------- */

/* Takes the document; NULL means that memory ran out. */
static void answer(struct shell_session *shell, uint32_t id, uint32_t status,
                   char *document)
{
    if (document == NULL)
        link_end(shell->link, "the controller is out of memory");
    else
        shell_session_answer(shell, id, status, document, strlen(document));
    free(document);
}

static void answer_error(struct shell_session *shell, uint32_t id,
                         uint32_t status, const char *error)
{
    answer(shell, id, status, document_error(error));
}

/* ---- Questions to the store -------------------------------------------- */

/* Who asked; the shell may be gone when the answer comes. */
struct question {
    struct fleet *fleet;
    uint64_t shell;
    uint32_t id;
    enum wire_request_kind kind;
};

static void answer_watch(const struct question *question,
                         struct shell_session *shell,
                         const struct results_answer *from)
{
    const struct shell_request *request =
        shell_session_request(shell, question->id);
    char *end;

    if (request == NULL)
        return;
    if (request->state == SHELL_REQUEST_OPEN)
        shell_session_watch(shell, question->id, &from->campaign);
    shell_session_answer_watch(shell, question->id, from->text, from->length);
    if (fleet_campaign(question->fleet, &from->campaign) != NULL)
        return; /* its end will come, or was held back until now */
    end = document_end_of(from->number, from->text, from->length);
    if (end != NULL)
        shell_session_event(shell, question->id, SHELL_EVENT_END, end,
                            strlen(end));
    free(end);
}

/* A Stop that found nobody running: the campaign is over, or unknown. */
static void answer_stop(const struct question *question,
                        struct shell_session *shell,
                        const struct results_answer *from)
{
    answer(shell, question->id, 0, document_stopped(from->number, "done"));
}

static void answer_status(const struct question *question,
                          struct shell_session *shell,
                          const struct results_answer *from)
{
    struct campaign *campaign =
        fleet_campaign(question->fleet, &from->campaign);
    char *document = campaign == NULL
                         ? NULL
                         : document_live(from->text, from->length, campaign);

    if (document != NULL)
        answer(shell, question->id, 0, document);
    else
        shell_session_answer(shell, question->id, 0, from->text, from->length);
}

static void answer_failure(const struct question *question,
                           struct shell_session *shell,
                           const struct results_answer *from)
{
    bool usage = from->err == -ENOENT || from->err == -EINVAL;

    if (from->length > 0)
        shell_session_answer(shell, question->id,
                             usage ? STATUS_USAGE : STATUS_FAILED, from->text,
                             from->length);
    else
        answer_error(shell, question->id, STATUS_FAILED, "the controller ends");
}

static void answer_question(const struct question *question,
                            struct shell_session *shell,
                            const struct results_answer *from)
{
    if (from->err != 0)
        answer_failure(question, shell, from);
    else if (question->kind == WIRE_REQUEST_WATCH)
        answer_watch(question, shell, from);
    else if (question->kind == WIRE_REQUEST_STOP)
        answer_stop(question, shell, from);
    else if (question->kind == WIRE_REQUEST_STATUS)
        answer_status(question, shell, from);
    else
        shell_session_answer(shell, question->id, 0, from->text, from->length);
}

static void on_answered(void *data, const struct results_answer *from)
{
    struct question *question = data;
    struct shell_session *shell = fleet_shell(question->fleet, question->shell);

    if (shell != NULL)
        answer_question(question, shell, from);
    free(question);
}

static enum results_query query_of(enum wire_request_kind kind)
{
    switch (kind) {
    case WIRE_REQUEST_CAMPAIGNS:
        return RESULTS_QUERY_CAMPAIGNS;
    case WIRE_REQUEST_SHOW:
        return RESULTS_QUERY_SHOW;
    case WIRE_REQUEST_RUNS:
        return RESULTS_QUERY_RUNS;
    case WIRE_REQUEST_AUDIT:
        return RESULTS_QUERY_AUDIT;
    case WIRE_REQUEST_WATCH:
        return RESULTS_QUERY_WATCH;
    default:
        return RESULTS_QUERY_STATUS;
    }
}

static int ask(struct fleet *fleet, const struct wire_request *request,
               struct question *question)
{
    if (request->kind == WIRE_REQUEST_EXPORT)
        return results_export(fleet->results, request->campaign, request->phase,
                              request->interval, !request->brief, on_answered,
                              question);
    if (request->kind == WIRE_REQUEST_PIN)
        return results_pin(fleet->results, request->campaign, request->pinned,
                           on_answered, question);
    if (request->kind == WIRE_REQUEST_LIVE)
        return results_live(fleet->results, request->campaign, request->cells,
                            on_answered, question);
    return results_query(fleet->results, query_of(request->kind),
                         request->campaign, on_answered, question);
}

static void ask_results(struct fleet *fleet, struct shell_session *shell,
                        const struct wire_request *request)
{
    struct question *question = malloc(sizeof(*question));
    int err;

    if (question == NULL) {
        link_end(shell->link, "the controller is out of memory");
        return;
    }
    *question = (struct question){
        .fleet = fleet,
        .shell = shell->link->id,
        .id = request->id,
        .kind = request->kind,
    };
    err = ask(fleet, request, question);
    if (err == 0)
        return;
    free(question);
    answer_error(shell, request->id, STATUS_FAILED,
                 err == -EAGAIN ? "the store is busy with other questions; "
                                  "try again"
                                : strerror(-err));
}

/* ---- Requests ---------------------------------------------------------- */

static void on_watch(struct fleet *fleet, struct shell_session *shell,
                     const struct wire_request *request)
{
    const struct campaign *campaign =
        fleet_campaign_named(fleet, request->campaign);

    /* From now on nothing is missed: events wait for the answer. */
    if (campaign != NULL)
        shell_session_watch(shell, request->id, &campaign->id);
    ask_results(fleet, shell, request);
}

static void on_stop(struct fleet *fleet, struct shell_session *shell,
                    const struct wire_request *request)
{
    struct campaign *campaign = fleet_campaign_named(fleet, request->campaign);
    struct audit_actor actor;
    char who[REASON_SIZE];

    audit_actor_of(shell->link, shell->user, &actor);
    if (campaign == NULL) {
        ask_results(fleet, shell, request);
        return;
    }
    shell_session_who(shell, who);
    log_notice(NULL, "campaign %llu: stop asked for by %s",
               (unsigned long long)campaign->number, who);
    audit_request(fleet, &actor, "stop", campaign->given.name, campaign->number,
                  false, request->run_only ? "the run that goes on" : "");
    if (request->run_only)
        campaign_end_run(campaign, who);
    else
        campaign_stop(campaign, who);
    answer(shell, request->id, 0,
           document_stopped(campaign->number,
                            campaign_state_name(campaign->state)));
}

/* Written down as asked for; the answer says what came of it. */
static void on_pin(struct fleet *fleet, struct shell_session *shell,
                   const struct wire_request *request)
{
    struct audit_actor actor;

    audit_actor_of(shell->link, shell->user, &actor);
    audit_request(fleet, &actor, request->pinned ? "pin" : "unpin",
                  request->campaign, 0, false, "");
    ask_results(fleet, shell, request);
}

/* The word for what changes something, which is for operators; NULL: it only
 * looks. */
static const char *order_of(const struct wire_request *request)
{
    switch (request->kind) {
    case WIRE_REQUEST_STOP:
        return "stop";
    case WIRE_REQUEST_PIN:
        return request->pinned ? "pin" : "unpin";
    case WIRE_REQUEST_SUBMIT:
        return request->submit.plan == WIRE_PLAN_NONE ? "submit" : NULL;
    default:
        return NULL;
    }
}

static void refuse_order(struct fleet *fleet, struct shell_session *shell,
                         const struct wire_request *request, const char *order)
{
    bool submit = request->kind == WIRE_REQUEST_SUBMIT;
    struct audit_actor actor;
    char reason[REASON_SIZE];

    audit_actor_of(shell->link, shell->user, &actor);
    (void)snprintf(reason, sizeof(reason),
                   "'%s' may watch and read, not %s campaigns: the certificate "
                   "is a viewer's, an operator's is needed ('lockstep keys "
                   "operator NAME')",
                   actor.name, order);
    log_notice(NULL, "%s from %s: %s", actor.name, actor.address, reason);
    audit_request(fleet, &actor, order,
                  submit ? request->submit.name : request->campaign, 0, true,
                  reason);
    answer_error(shell, request->id, STATUS_FAILED, reason);
}

static void on_request(struct fleet *fleet, struct shell_session *shell,
                       const struct wire_request *request)
{
    const char *order = order_of(request);

    if (order != NULL && shell->link->role == TLS_ROLE_VIEWER) {
        refuse_order(fleet, shell, request, order);
        return;
    }
    switch (request->kind) {
    case WIRE_REQUEST_SUBMIT:
        submit_begin(fleet, shell, request->id, &request->submit);
        break;
    case WIRE_REQUEST_HOSTS:
        answer(shell, request->id, 0,
               document_hosts(fleet->registry, fleet_now_ns(fleet)));
        break;
    case WIRE_REQUEST_DRIVES:
        answer(shell, request->id, 0, document_drives(fleet->registry));
        break;
    case WIRE_REQUEST_CAMPAIGNS:
    case WIRE_REQUEST_STATUS:
    case WIRE_REQUEST_SHOW:
    case WIRE_REQUEST_EXPORT:
    case WIRE_REQUEST_RUNS:
    case WIRE_REQUEST_LIVE:
    case WIRE_REQUEST_AUDIT:
        ask_results(fleet, shell, request);
        break;
    case WIRE_REQUEST_PIN:
        on_pin(fleet, shell, request);
        break;
    case WIRE_REQUEST_WATCH:
        on_watch(fleet, shell, request);
        break;
    case WIRE_REQUEST_STOP:
        on_stop(fleet, shell, request);
        break;
    case WIRE_REQUEST_UNKNOWN:
        answer_error(shell, request->id, STATUS_USAGE,
                     "this controller (" LOCKSTEP_VERSION ") does not know "
                     "this request; it is older than the shell");
        break;
    }
}

void shells_frame(struct fleet *fleet, struct link *link,
                  const struct wire_in *in)
{
    struct shell_session *shell = link->owner;
    int err;

    switch (in->kind) {
    case WIRE_IN_IGNORED:
    case WIRE_IN_HEARTBEAT:
        break;
    case WIRE_IN_REJECT:
        link_end(link, "the shell ends: %s", in->reject);
        break;
    case WIRE_IN_REQUEST:
        err = shell_session_open(shell, in->request.id);
        if (err != 0)
            link_end(link, "request %u: %s", in->request.id,
                     err == -EBUSY    ? "too many are open"
                     : err == -EEXIST ? "the id is in use"
                                      : "0 is no id");
        else
            on_request(fleet, shell, &in->request);
        break;
    default:
        link_end(link, "%s from a shell", wire_in_name(in->kind));
        break;
    }
}
