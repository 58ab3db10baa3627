/* What shells say. */
#include "controller/fleet/codec_check.h"

#include <string.h>

void wire_decode_shell_hello(struct check *c, const Lockstep__ShellHello *from,
                             struct wire_shell_hello *to)
{
    to->major = from->major;
    to->minor = from->minor;
    to->user = check_text(c, "user", from->user, NAME_SIZE - 1);
    to->version = check_text(c, "version", from->version, TEXT_SIZE - 1);
}

/* The text itself is the language's to judge; only its size is ours. */
static void decode_files(struct check *c, const Lockstep__Submit *from,
                         struct wire_submit *to)
{
    size_t total = 0;

    if (from->n_files == 0 || from->n_files > WIRE_FILES_MAX) {
        check_fail(c, "%zu files, 1 to %u are allowed", from->n_files,
                   WIRE_FILES_MAX);
        return;
    }
    to->files = check_alloc(c, from->n_files, sizeof(*to->files));
    for (size_t i = 0; i < from->n_files && c->err == 0; i++) {
        const Lockstep__File *file = from->files[i];

        to->files[i].name =
            check_text(c, "file name", file->name, PATH_SIZE - 1);
        to->files[i].text = file->text;
        to->files[i].included = file->included;
        total += strlen(file->text);
    }
    if (total > WIRE_FILES_BYTES)
        check_fail(c, "files of %zu bytes, at most %u are allowed", total,
                   WIRE_FILES_BYTES);
    to->file_count = (uint32_t)from->n_files;
}

static const enum wire_plan_form plan_forms[] = {
    [LOCKSTEP__PLAN_FORM__PLAN_NONE] = WIRE_PLAN_NONE,
    [LOCKSTEP__PLAN_FORM__PLAN_TABLE] = WIRE_PLAN_TABLE,
    [LOCKSTEP__PLAN_FORM__PLAN_RUNS] = WIRE_PLAN_RUNS,
    [LOCKSTEP__PLAN_FORM__PLAN_JSON] = WIRE_PLAN_JSON,
};

static void decode_submit(struct check *c, const Lockstep__Submit *from,
                          struct wire_submit *to)
{
    const uint64_t longest = UINT64_C(366) * 24 * 3600 * NS_PER_S;

    decode_files(c, from, to);
    to->variables =
        check_texts(c, "variables", from->variables, from->n_variables,
                    WIRE_VARIABLES_MAX, PATH_SIZE - 1, &to->variable_count);
    to->elapsed_ns = check_range(c, "elapsed_ns", from->elapsed_ns, 0, longest);
    to->interval_ns =
        check_range(c, "interval_ns", from->interval_ns, 0, longest);
    to->warmup_ns = check_range(c, "warmup_ns", from->warmup_ns, 0, longest);
    to->warmup_given = from->warmup_given;
    if ((size_t)from->plan < ARRAY_LENGTH(plan_forms))
        to->plan = plan_forms[from->plan];
    else
        check_fail(c, "form %d of a plan is not known here", (int)from->plan);
    to->name = check_text(c, "name", from->name, TEXT_SIZE - 1);
    to->yes = check_text(c, "yes", from->yes, NAME_SIZE - 1);
}

static const enum wire_request_kind query_kinds[] = {
    [LOCKSTEP__QUERY_KIND__QUERY_HOSTS] = WIRE_REQUEST_HOSTS,
    [LOCKSTEP__QUERY_KIND__QUERY_DRIVES] = WIRE_REQUEST_DRIVES,
    [LOCKSTEP__QUERY_KIND__QUERY_CAMPAIGNS] = WIRE_REQUEST_CAMPAIGNS,
    [LOCKSTEP__QUERY_KIND__QUERY_STATUS] = WIRE_REQUEST_STATUS,
    [LOCKSTEP__QUERY_KIND__QUERY_SHOW] = WIRE_REQUEST_SHOW,
    [LOCKSTEP__QUERY_KIND__QUERY_EXPORT] = WIRE_REQUEST_EXPORT,
    [LOCKSTEP__QUERY_KIND__QUERY_LIVE] = WIRE_REQUEST_LIVE,
    [LOCKSTEP__QUERY_KIND__QUERY_AUDIT] = WIRE_REQUEST_AUDIT,
};

static void decode_query(const Lockstep__Query *from, struct wire_request *to)
{
    size_t kind = (size_t)from->kind;

    to->kind = kind < ARRAY_LENGTH(query_kinds) ? query_kinds[kind]
                                                : WIRE_REQUEST_UNKNOWN;
    to->campaign = from->campaign;
    to->phase = from->phase;
    to->interval = from->interval;
}

void wire_decode_request(struct check *c, const Lockstep__Request *from,
                         struct wire_request *to)
{
    to->id = from->id;
    to->campaign = "";
    switch (from->what_case) {
    case LOCKSTEP__REQUEST__WHAT_SUBMIT:
        to->kind = WIRE_REQUEST_SUBMIT;
        decode_submit(c, from->submit, &to->submit);
        break;
    case LOCKSTEP__REQUEST__WHAT_QUERY:
        decode_query(from->query, to);
        break;
    case LOCKSTEP__REQUEST__WHAT_WATCH:
        to->kind = WIRE_REQUEST_WATCH;
        to->campaign = from->watch->campaign;
        break;
    case LOCKSTEP__REQUEST__WHAT_STOP:
        to->kind = WIRE_REQUEST_STOP;
        to->campaign = from->stop->campaign;
        to->run_only = from->stop->run_only;
        break;
    case LOCKSTEP__REQUEST__WHAT_PIN:
        to->kind = WIRE_REQUEST_PIN;
        to->campaign = from->pin->campaign;
        to->pinned = from->pin->pinned;
        break;
    default:
        to->kind = WIRE_REQUEST_UNKNOWN;
        break;
    }
    (void)check_text(c, "campaign", to->campaign, NAME_SIZE - 1);
}
