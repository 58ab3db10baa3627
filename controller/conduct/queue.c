#include "controller/conduct/queue.h"

#include "controller/plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct need {
    char *key;
    char *title;
    bool shared;
};

struct entry {
    struct uuid campaign;
    enum queue_state state;
    char *name;
    struct need *needs;
    uint32_t need_count;
};

/* Entries in the order in which they came. */
struct queue {
    struct entry *entries[QUEUE_CAMPAIGNS_MAX];
    uint32_t count;
};

static struct entry *entry_free(struct entry *entry)
{
    if (entry == NULL)
        return NULL;
    for (uint32_t i = 0; entry->needs != NULL && i < entry->need_count; i++) {
        free(entry->needs[i].key);
        free(entry->needs[i].title);
    }
    free(entry->needs);
    free(entry->name);
    free(entry);
    return NULL;
}

static void entry_freep(struct entry **entry)
{
    (void)entry_free(*entry);
}

struct queue *queue_new(void)
{
    return calloc(1, sizeof(struct queue));
}

struct queue *queue_free(struct queue *queue)
{
    if (queue == NULL)
        return NULL;
    for (uint32_t i = 0; i < queue->count; i++)
        (void)entry_free(queue->entries[i]);
    free(queue);
    return NULL;
}

/* Of equal keys the one that is not shared comes first: it decides. */
static int need_compare(const void *a, const void *b)
{
    const struct need *one = a, *other = b;
    int order = strcmp(one->key, other->key);

    return order != 0 ? order : (int)one->shared - (int)other->shared;
}

static struct entry *entry_new(const struct uuid *campaign, const char *name,
                               const struct queue_need *needs,
                               uint32_t need_count)
{
    CLEANUP(entry_freep) struct entry *entry = calloc(1, sizeof(*entry));

    if (entry == NULL)
        return NULL;
    entry->campaign = *campaign;
    entry->state = QUEUE_WAITING;
    entry->name = strdup(name);
    entry->needs = calloc(need_count + 1u, sizeof(*entry->needs));
    entry->need_count = need_count;
    if (entry->name == NULL || entry->needs == NULL)
        return NULL;
    for (uint32_t i = 0; i < need_count; i++) {
        struct need *need = &entry->needs[i];

        need->key = strdup(needs[i].key);
        need->title = strdup(needs[i].title);
        need->shared = needs[i].shared;
        if (need->key == NULL || need->title == NULL)
            return NULL;
    }
    /* Sorted, two campaigns are compared in one walk. */
    qsort(entry->needs, need_count, sizeof(*entry->needs), need_compare);
    return TAKE(entry);
}

static uint32_t position(const struct queue *queue, const struct uuid *campaign)
{
    uint32_t i = 0;

    while (i < queue->count && memcmp(&queue->entries[i]->campaign, campaign,
                                      sizeof(*campaign)) != 0)
        i++;
    return i;
}

int queue_add(struct queue *queue, const struct uuid *campaign,
              const char *name, const struct queue_need *needs,
              uint32_t need_count, struct diag *diag)
{
    if (position(queue, campaign) < queue->count)
        return diag_set(diag, -EEXIST, "campaign '%s' is queued already", name);
    if (queue->count == QUEUE_CAMPAIGNS_MAX)
        return diag_set(diag, -ENOSPC,
                        "%u campaigns wait or run already; stop one of them",
                        QUEUE_CAMPAIGNS_MAX);

    struct entry *entry = entry_new(campaign, name, needs, need_count);

    if (entry == NULL)
        return diag_set(diag, -ENOMEM, "out of memory for campaign '%s'", name);
    queue->entries[queue->count++] = entry;
    return 0;
}

/* The first need of `entry` that `other` has or waits for, too. */
static const struct need *collision(const struct entry *entry,
                                    const struct entry *other)
{
    uint32_t i = 0, j = 0;

    while (i < entry->need_count && j < other->need_count) {
        const struct need *mine = &entry->needs[i];
        const struct need *theirs = &other->needs[j];
        int order = strcmp(mine->key, theirs->key);

        if (order == 0 && !(mine->shared && theirs->shared))
            return mine;
        if (order <= 0)
            i++;
        else
            j++;
    }
    return NULL;
}

/*
 * Who stands in the way of entries[at]: one that runs, or one that waits for
 * the same and came before.  NULL: nobody.
 */
static const struct entry *obstacle(const struct queue *queue, uint32_t at,
                                    const struct need **ret_need)
{
    const struct entry *entry = queue->entries[at];

    for (uint32_t i = 0; i < queue->count; i++) {
        const struct entry *other = queue->entries[i];

        if (i == at || (other->state == QUEUE_WAITING && i > at))
            continue;
        *ret_need = collision(entry, other);
        if (*ret_need != NULL)
            return other;
    }
    return NULL;
}

bool queue_take(struct queue *queue, struct uuid *ret_campaign)
{
    const struct need *need;

    for (uint32_t i = 0; i < queue->count; i++) {
        struct entry *entry = queue->entries[i];

        if (entry->state != QUEUE_WAITING || obstacle(queue, i, &need) != NULL)
            continue;
        entry->state = QUEUE_RUNNING;
        *ret_campaign = entry->campaign;
        return true;
    }
    return false;
}

void queue_resume(struct queue *queue, const struct uuid *campaign)
{
    uint32_t at = position(queue, campaign);

    if (at < queue->count)
        queue->entries[at]->state = QUEUE_RUNNING;
}

void queue_remove(struct queue *queue, const struct uuid *campaign)
{
    uint32_t at = position(queue, campaign);

    if (at == queue->count)
        return;
    (void)entry_free(queue->entries[at]);
    queue->count--;
    memmove(&queue->entries[at], &queue->entries[at + 1],
            (queue->count - at) * sizeof(queue->entries[0]));
}

enum queue_state queue_state(const struct queue *queue,
                             const struct uuid *campaign)
{
    uint32_t at = position(queue, campaign);

    return at < queue->count ? queue->entries[at]->state : QUEUE_UNKNOWN;
}

void queue_why(const struct queue *queue, const struct uuid *campaign,
               char text[REASON_SIZE])
{
    uint32_t at = position(queue, campaign);
    const struct need *need = NULL;

    text[0] = '\0';
    if (at == queue->count || queue->entries[at]->state != QUEUE_WAITING)
        return;

    const struct entry *other = obstacle(queue, at, &need);

    if (other == NULL)
        return;
    (void)snprintf(text, REASON_SIZE, "%s is %s campaign '%s'", need->title,
                   other->state == QUEUE_RUNNING ? "used by"
                                                 : "wanted by the earlier",
                   other->name);
}

void queue_drive_key(const char *agent, const struct plan_facts *facts,
                     const char *path, char key[QUEUE_KEY_SIZE])
{
    if (facts->known && facts->is_block && facts->wwn != NULL &&
        facts->wwn[0] != '\0')
        (void)snprintf(key, QUEUE_KEY_SIZE, "wwn %s", facts->wwn);
    else if (facts->known && facts->is_block && facts->serial != NULL &&
             facts->serial[0] != '\0')
        (void)snprintf(key, QUEUE_KEY_SIZE, "serial %s %s %llu", facts->serial,
                       facts->model != NULL ? facts->model : "",
                       (unsigned long long)facts->size_bytes);
    else
        (void)snprintf(key, QUEUE_KEY_SIZE, "agent %s %s", agent,
                       facts->known && facts->device != NULL &&
                               facts->device[0] != '\0'
                           ? facts->device
                           : path);
}
