/* pieces.c - see pieces.h. */
#include "controller/shell/pieces.h"

#include <errno.h>

struct pieces {
    struct client *client;
    const char *campaign;
    const struct sink *sinks;
    size_t sink_count;
    struct diag *diag;
};

static int ask(const struct pieces *p, uint32_t phase, uint64_t interval,
               json_t **ret_document)
{
    uint32_t id = client_next_id(p->client);
    struct answer answer;
    struct body body;
    int r = codec_export(id, p->campaign, phase, interval, &body);

    if (r < 0)
        return diag_set(p->diag, r, "no memory");
    r = client_request(p->client, id, &body, &answer, p->diag);
    if (r < 0)
        return r;
    if (answer.status != EXIT_COMPLETE) {
        const char *error =
            json_string_value(json_object_get(answer.document, "error"));

        r = diag_set(p->diag, answer.status == EXIT_USAGE ? -ENOENT : -EIO,
                     "%s", error != NULL ? error : "refused");
        json_decref(answer.document);
        return r;
    }
    *ret_document = answer.document;
    return 0;
}

static int give_head(const struct pieces *p, const json_t *head)
{
    int r = 0;

    for (size_t i = 0; i < p->sink_count && r == 0; i++)
        if (p->sinks[i].head != NULL)
            r = p->sinks[i].head(p->sinks[i].self, head, p->diag);
    return r;
}

static int give_phase(const struct pieces *p, const json_t *phase, bool end)
{
    int r = 0;

    for (size_t i = 0; i < p->sink_count && r == 0; i++) {
        const struct sink *sink = &p->sinks[i];
        int (*give)(void *self, const json_t *piece, struct diag *diag) =
            end ? sink->phase_end : sink->phase;

        if (give != NULL)
            r = give(sink->self, phase, p->diag);
    }
    return r;
}

static int give_rows(const struct pieces *p, const json_t *phase,
                     const json_t *page)
{
    int r = 0;

    for (size_t i = 0; i < p->sink_count && r == 0; i++)
        if (p->sinks[i].want_rows)
            r = p->sinks[i].rows(p->sinks[i].self, phase, page, p->diag);
    return r;
}

static bool want_rows(const struct pieces *p)
{
    for (size_t i = 0; i < p->sink_count; i++)
        if (p->sinks[i].want_rows)
            return true;
    return false;
}

static uint64_t next_of(const json_t *page)
{
    json_int_t next =
        json_integer_value(json_object_get(page, "next_interval"));

    return next > 0 ? (uint64_t)next : 0;
}

static int give_pages(const struct pieces *p, const json_t *phase,
                      uint32_t number)
{
    uint64_t at = 1, next = next_of(phase);
    int r = give_rows(p, phase, phase);

    while (r == 0 && next > at) {
        json_t *page = NULL;

        at = next;
        r = ask(p, number, at, &page);
        if (r == 0)
            r = give_rows(p, phase, page);
        next = next_of(page);
        json_decref(page);
    }
    return r;
}

static int fetch_phase(const struct pieces *p, uint32_t number)
{
    json_t *phase = NULL;
    int r = ask(p, number, 0, &phase);

    if (r == 0)
        r = give_phase(p, phase, false);
    if (r == 0 && want_rows(p))
        r = give_pages(p, phase, number);
    if (r == 0)
        r = give_phase(p, phase, true);
    json_decref(phase);
    return r;
}

int pieces_fetch(struct client *client, const char *campaign,
                 const struct sink *sinks, size_t sink_count,
                 enum exit_status *ret_status, struct diag *diag)
{
    const struct pieces p = {.client = client,
                             .campaign = campaign,
                             .sinks = sinks,
                             .sink_count = sink_count,
                             .diag = diag};
    json_t *head = NULL;
    size_t phases;
    int r = ask(&p, 0, 0, &head);

    if (r < 0)
        return r;
    phases = json_array_size(json_object_get(head, "phases"));
    *ret_status = output_status(head);
    r = give_head(&p, head);
    json_decref(head);
    for (uint32_t k = 1; k <= phases && r == 0; k++)
        r = fetch_phase(&p, k);
    return r;
}
