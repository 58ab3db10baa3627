#include "controller/results/inside.h"

#include "controller/results/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Opening and closing ---------------------------------------------------
 */

static int next_number(struct store_access *access, const char *sql,
                       uint64_t *ret_number, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access, sql);
    got = statement_step(&s, diag);
    if (got == 1)
        *ret_number = statement_get_uint(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

/* What must be known of the store before anything is done with it. */
static int on_opened(struct store_access *access, void *data, struct diag *diag)
{
    struct results *results = data;
    int err =
        next_number(access, "SELECT coalesce(max(id), 0) + 1 FROM campaign",
                    &results->next_campaign, diag);

    if (err == 0)
        err = next_number(access, "SELECT coalesce(max(id), 0) + 1 FROM phase",
                          &results->next_phase, diag);
    if (err == 0)
        err = next_number(access, "SELECT coalesce(max(id), 0) + 1 FROM layout",
                          &results->next_layout, diag);
    if (err == 0)
        err = unfinished_load(access, &results->unfinished, diag);
    return err;
}

static void no_wake(void *data)
{
    (void)data;
}

/* On the store's threads. */
static void on_wake(void *data)
{
    const struct results *results = data;

    results->wake(results->data);
}

static void results_free(struct results *results)
{
    while (results->campaigns != NULL) {
        struct live_campaign *campaign = results->campaigns;

        results->campaigns = campaign->next;
        live_campaign_free(campaign);
    }
    (void)unfinished_free(results->unfinished);
    free(results->scratch);
    free(results->version);
    free(results);
}

static int open_store(struct results *results,
                      const struct results_options *options, struct diag *diag)
{
    const struct store_options store = {
        .path = options->path,
        .version = results->version,
        .wall_ns = wall_now(results),
        .opened = on_opened,
        .wake = on_wake,
        .data = results,
        .threadless = options->threadless,
    };

    return store_open(&store, &results->store, diag);
}

int results_open(const struct results_options *options,
                 struct results **ret_results, struct diag *diag)
{
    struct results *results = calloc(1, sizeof(*results));
    int err;

    if (results == NULL)
        return diag_set(diag, -ENOMEM, "out of memory");
    results->clock = options->clock;
    results->handler = options->handler;
    results->data = options->data;
    results->wake = options->wake == NULL ? no_wake : options->wake;
    results->threadless = options->threadless;
    results->retention_ns = options->retention_ns;
    results->retention_due_ns = options->retention_ns > 0 ? 0 : UINT64_MAX;
    results->version = strdup(options->version == NULL ? "" : options->version);
    results->scratch = malloc(sizeof(*results->scratch));
    if (results->version == NULL || results->scratch == NULL) {
        results_free(results);
        return diag_set(diag, -ENOMEM, "out of memory");
    }
    histogram_init(results->scratch);
    err = open_store(results, options, diag);
    if (err < 0)
        results_free(results);
    else
        *ret_results = results;
    return err;
}

struct results *results_close(struct results *results)
{
    if (results == NULL)
        return NULL;
    results->closing = true;
    results->store = store_close(results->store);
    results_free(results);
    return NULL;
}

const struct uuid *results_controller(const struct results *results)
{
    return store_controller(results->store);
}

uint64_t results_epoch(const struct results *results)
{
    return store_epoch(results->store);
}

bool results_busy(struct results *results)
{
    return results->loading > 0 || store_busy(results->store);
}

/* ---- Polling ---------------------------------------------------------------
 */

/* Handlers may add and end what is walked through: one round looks at all that
 * was there when it began, and nothing is freed but by a task. */
static uint64_t poll_phases(struct results *results)
{
    uint64_t due_ns = UINT64_MAX;

    for (struct live_campaign *c = results->campaigns; c != NULL; c = c->next)
        for (struct live_phase *p = c->phases; p != NULL; p = p->next) {
            uint64_t phase_due_ns =
                p->state == LIVE_OVER ? UINT64_MAX : phase_poll(p);

            due_ns = phase_due_ns < due_ns ? phase_due_ns : due_ns;
        }
    return due_ns;
}

void results_wait(struct results *results)
{
    store_wait(results->store);
    (void)results_poll(results);
}

uint64_t results_poll(struct results *results)
{
    uint64_t due_ns;

    store_poll(results->store);
    due_ns = poll_phases(results);
    keep_poll(results);
    if (results->threadless)
        store_poll(results->store);
    return results->retention_due_ns < due_ns ? results->retention_due_ns
                                              : due_ns;
}
