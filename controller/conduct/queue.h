/*
 * queue.h - campaigns that wait for drives and hosts.
 *
 * A campaign gets all it needs at once or waits.  Those that have nothing in
 * common run side by side; one that waits can name what it waits for and who
 * has it.  First come, first served: what an earlier one waits for is not
 * given to a later one, so nobody waits for ever; a later one that needs none
 * of it passes.
 *
 * What is needed is told as keys, plain texts: a drive seen from two hosts has
 * one key if it has an identity of its own (queue_drive_key()).  Hosts are
 * needed alone, or shared with others that share, too.
 *
 * Threads: one owner.  Memory: all owned by the queue; texts are copied.
 */
#ifndef CONTROLLER_CONDUCT_QUEUE_H
#define CONTROLLER_CONDUCT_QUEUE_H

#include "common/diag.h"

#define QUEUE_CAMPAIGNS_MAX 1024u /* waiting and running together */
#define QUEUE_KEY_SIZE      (PATH_SIZE + 3 * TEXT_SIZE)

struct plan_facts;
struct queue;

struct queue_need {
    const char *key;   /* who is who */
    const char *title; /* for people: "host2 /dev/nvme0n1", "host2" */
    bool shared;       /* others that share it may have it, too */
};

/* NULL without memory. */
struct queue *queue_new(void);

/* NULL is fine.  Returns NULL. */
struct queue *queue_free(struct queue *queue);

/*
 * Adds a campaign at the end.  The same key may come twice.  Returns 0,
 * -EEXIST for a campaign that is there, -ENOSPC above QUEUE_CAMPAIGNS_MAX, or
 * -ENOMEM.
 */
int queue_add(struct queue *queue, const struct uuid *campaign,
              const char *name, const struct queue_need *needs,
              uint32_t need_count, struct diag *diag) MUST_CHECK;

/*
 * The first waiting campaign whose needs are all free: they are given to it
 * and it runs from now on.  False when there is none.
 */
bool queue_take(struct queue *queue, struct uuid *ret_campaign) MUST_CHECK;

/* One that waits had been given its needs before a restart. */
void queue_resume(struct queue *queue, const struct uuid *campaign);

/* Forgets a campaign, waiting or running; its needs are free.  An unknown one
 * is fine. */
void queue_remove(struct queue *queue, const struct uuid *campaign);

enum queue_state {
    QUEUE_UNKNOWN,
    QUEUE_WAITING,
    QUEUE_RUNNING,
};

enum queue_state queue_state(const struct queue *queue,
                             const struct uuid *campaign);

/*
 * Why a campaign waits: "host2 /dev/nvme0n1 is used by campaign 'nightly'".
 * Empty when it does not.
 */
void queue_why(const struct queue *queue, const struct uuid *campaign,
               char text[REASON_SIZE]);

/*
 * The key of a drive or file.  By WWN or serial number and size, where they
 * are known: then it is one drive for the whole fleet.  Otherwise by the
 * agent and the device or file it is there.
 */
void queue_drive_key(const char *agent, const struct plan_facts *facts,
                     const char *path, char key[QUEUE_KEY_SIZE]);

#endif
