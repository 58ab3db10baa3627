/* loop_look.c - inventory and inspection on libuv's threads. */
#include "agent/loop_look.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "agent/engine_probe.h"
#include "agent/inventory.h"
#include "common/log.h"

struct looks {
    uv_loop_t *loop;
    const struct interlock_policy *policy;
    struct session *session;
    struct codec_engine engine;
    uint32_t inspects;
    uv_work_t work;
    enum {
        LOOKS_IDLE,
        LOOKS_BUSY,
        LOOKS_BUSY_AGAIN, /* asked for once more meanwhile */
    } state;
    bool wanted; /* read even if nothing changed */
    /* The thread's while busy. */
    bool read;
    uint64_t fingerprint;
    struct inventory *inventory; /* read just now, NULL where it was not */
    struct diag diag;
};

/* ---- Inventory ---------------------------------------------------------- */

static void on_look(uv_work_t *work)
{
    struct looks *looks = work->data;
    uint64_t fingerprint = inventory_fingerprint(looks->policy->root);

    looks->diag.text[0] = '\0';
    if (!looks->read && fingerprint == looks->fingerprint)
        return;
    looks->fingerprint = fingerprint;
    if (inventory_read(looks->policy->root, looks->policy->offers,
                       &looks->inventory, &looks->diag) < 0)
        looks->inventory = NULL;
}

static void on_looked(uv_work_t *work, int status);

static void look(struct looks *looks)
{
    looks->state = LOOKS_BUSY;
    looks->read = looks->wanted;
    looks->wanted = false;
    looks->work.data = looks;
    /* Fails only without a callback. */
    (void)uv_queue_work(looks->loop, &looks->work, on_look, on_looked);
}

static void on_looked(uv_work_t *work, int status)
{
    struct looks *looks = work->data;
    bool again = looks->state == LOOKS_BUSY_AGAIN;

    (void)status;
    looks->state = LOOKS_IDLE;
    if (looks->diag.text[0] != '\0')
        log_warn(NULL, "no inventory of this host: %s, ignoring",
                 looks->diag.text);
    if (looks->inventory != NULL && looks->inventory->left_out > 0)
        log_warn(NULL, "%u drives beyond %u are left out, ignoring",
                 looks->inventory->left_out, INVENTORY_DRIVES_MAX);
    if (looks->inventory != NULL && looks->session != NULL)
        session_inventory(looks->session, looks->inventory, &looks->engine);
    looks->inventory = inventory_free(looks->inventory);
    if (again && looks->session != NULL)
        look(looks);
}

void looks_look(struct looks *looks)
{
    looks->wanted = true;
    if (looks->state == LOOKS_IDLE)
        look(looks);
    else
        looks->state = LOOKS_BUSY_AGAIN;
}

void looks_compare(struct looks *looks)
{
    if (looks->state == LOOKS_IDLE)
        look(looks);
}

/* ---- Inspection --------------------------------------------------------- */

struct inspection {
    uv_work_t work;
    struct looks *looks;
    struct uuid campaign;
    struct interlock_wish *wishes;
    struct interlock_facts *facts;
    uint32_t count;
};

static void on_inspect(uv_work_t *work)
{
    struct inspection *inspection = work->data;
    struct diag diag = {0};

    if (interlock_inspect(inspection->looks->policy, inspection->wishes,
                          inspection->count, inspection->facts, &diag) == 0)
        return;
    for (uint32_t i = 0; i < inspection->count; i++)
        memcpy(inspection->facts[i].refusal, diag.text, sizeof(diag.text));
}

static void on_inspected(uv_work_t *work, int status)
{
    struct inspection *inspection = work->data;
    struct looks *looks = inspection->looks;

    (void)status;
    looks->inspects--;
    if (looks->session != NULL)
        session_inspected(looks->session, &inspection->campaign,
                          inspection->facts, inspection->count);
    free(inspection->wishes);
    free(inspection->facts);
    free(inspection);
}

void looks_inspect(struct looks *looks, const struct uuid *campaign,
                   struct interlock_wish *wishes, uint32_t count)
{
    struct inspection *inspection = calloc(1, sizeof(*inspection));

    assert(inspection != NULL);
    inspection->facts = calloc(count, sizeof(*inspection->facts));
    assert(inspection->facts != NULL); /* 3 MB at most, four at a time */
    inspection->looks = looks;
    inspection->campaign = *campaign;
    inspection->wishes = wishes;
    inspection->count = count;
    inspection->work.data = inspection;
    looks->inspects++;
    (void)uv_queue_work(looks->loop, &inspection->work, on_inspect,
                        on_inspected);
}

/* ---- Life --------------------------------------------------------------- */

static void probe(struct codec_engine *engine)
{
    struct engine_facts facts;
    char *rest = facts.features;
    char *word;

    engine_probe(&facts);
    (void)snprintf(engine->name, sizeof(engine->name), "%s", facts.engine);
    while ((word = strsep(&rest, " ")) != NULL &&
           engine->feature_count < CODEC_FEATURES_MAX)
        if (word[0] != '\0')
            (void)snprintf(engine->features[engine->feature_count++], NAME_SIZE,
                           "%.*s", NAME_SIZE - 1, word);
}

struct looks *looks_new(struct uv_loop_s *loop,
                        const struct interlock_policy *policy)
{
    struct looks *looks = calloc(1, sizeof(*looks));

    if (looks == NULL)
        return NULL;
    looks->loop = loop;
    looks->policy = policy;
    probe(&looks->engine);
    return looks;
}

void looks_serve(struct looks *looks, struct session *session)
{
    looks->session = session;
}

const struct codec_engine *looks_engine(const struct looks *looks)
{
    return &looks->engine;
}

bool looks_are_idle(const struct looks *looks)
{
    return looks->state == LOOKS_IDLE && looks->inspects == 0;
}

struct looks *looks_free(struct looks *looks)
{
    if (looks == NULL)
        return NULL;
    assert(looks_are_idle(looks));
    free(looks);
    return NULL;
}
