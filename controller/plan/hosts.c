/*
 * hosts.c - which agent each hd= of a file means.
 */
#include "controller/plan/internal.h"

#include "common/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct definition_host implied = {.label = "localhost",
                                               .system = "localhost"};

uint32_t hosts_defined(const struct hosts *hosts)
{
    uint32_t count = hosts->definitions->host_count;

    return count > 0 ? count : 1;
}

static const struct definition_host *definition(const struct hosts *hosts,
                                                uint32_t hd)
{
    return hosts->definitions->host_count > 0 ? &hosts->definitions->hosts[hd]
                                              : &implied;
}

const char *hosts_label(const struct hosts *hosts, uint32_t hd)
{
    return definition(hosts, hd)->label;
}

bool hosts_selected(const struct hosts *hosts, uint32_t hd,
                    const struct definition_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (definitions_match(names->items[i].text, hosts_label(hosts, hd)))
            return true;
    return names->count == 0;
}

static int by_label(const void *a, const void *b, void *hosts)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(hosts_label(hosts, x), hosts_label(hosts, y));

    return order != 0 ? order : (x > y) - (x < y);
}

int hosts_init(struct hosts *hosts)
{
    struct arena *arena = hosts->plan->arena;
    uint32_t count = hosts_defined(hosts);

    hosts->index = ARENA_ARRAY(arena, count, uint32_t);
    hosts->failed = ARENA_ARRAY(arena, count, bool);
    hosts->order = ARENA_ARRAY(arena, count, uint32_t);
    hosts->found = ARENA_ARRAY(arena, count, uint32_t);
    if (hosts->index == NULL || hosts->failed == NULL || hosts->order == NULL ||
        hosts->found == NULL)
        return -ENOMEM;
    for (uint32_t hd = 0; hd < count; hd++)
        hosts->order[hd] = hd;
    qsort_r(hosts->order, count, sizeof(*hosts->order), by_label, hosts);
    return 0;
}

/* The one host of that label; false: there is none. */
static bool find_label(const struct hosts *hosts, const char *label,
                       uint32_t *ret_hd)
{
    uint32_t low = 0, high = hosts_defined(hosts);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(hosts_label(hosts, hosts->order[middle]), label);

        if (order == 0) {
            *ret_hd = hosts->order[middle];
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

const uint32_t *hosts_find(struct hosts *hosts,
                           const struct definition_names *names,
                           uint32_t *ret_count)
{
    bool is_one =
        names->count == 1 && strchr(names->items[0].text, '*') == NULL;
    uint32_t count = 0;

    /* One name is the usual, and may come for each of many sds. */
    if (is_one)
        count = find_label(hosts, names->items[0].text, &hosts->found[0]);
    for (uint32_t hd = 0; hd < hosts_defined(hosts) && !is_one; hd++)
        if (hosts_selected(hosts, hd, names))
            hosts->found[count++] = hd;
    *ret_count = count;
    return hosts->found;
}

/* ---- matching ---- */

/* Equal names, or one is the other's first part: nas1 and nas1.lab.org. */
static bool is_same_name(const char *a, const char *b)
{
    size_t length = strlen(a), other = strlen(b);
    size_t shorter = length < other ? length : other;
    const char *longer = length < other ? b : a;

    if (a[0] == '\0' || b[0] == '\0' || strncasecmp(a, b, shorter) != 0)
        return false;
    if (length == other)
        return true;
    return longer[shorter] == '.' &&
           strspn(longer, "0123456789.:") != strlen(longer);
}

static bool is_loopback(const char *name)
{
    return strcasecmp(name, "localhost") == 0 ||
           strncmp(name, "127.", 4) == 0 || strcmp(name, "::1") == 0;
}

static bool is_address(const struct plan_agent *agent, const char *name)
{
    for (uint32_t i = 0; i < agent->address_count; i++)
        if (strcasecmp(agent->addresses[i], name) == 0)
            return true;
    return false;
}

static bool has_label(const struct plan_agent *agent, const char *name)
{
    for (uint32_t i = 0; i < agent->label_count; i++)
        if (strcmp(agent->labels[i], name) == 0)
            return true;
    return false;
}

/* How strongly a host means an agent; 0: not at all. */
static int match_strength(const struct definition_host *host,
                          const struct plan_agent *agent)
{
    if (strcmp(agent->name, host->system) == 0)
        return 6;
    if (is_same_name(agent->hostname, host->system) ||
        is_same_name(agent->name, host->system))
        return 5;
    if (is_loopback(host->system) && is_loopback(agent->name))
        return 5;
    if (is_address(agent, host->system))
        return 4;
    if (strcmp(agent->name, host->label) == 0)
        return 3;
    if (is_same_name(agent->hostname, host->label))
        return 2;
    if (has_label(agent, host->system) || has_label(agent, host->label))
        return 1;
    return 0;
}

/* The names of some agents, for a message. */
static void list_agents(const struct plan_fleet *fleet, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < fleet->agent_count; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                         i < 8 ? fleet->agents[i].name : "...");

        if (n < 0 || (size_t)n >= size - used || i == 8)
            break;
        used += (size_t)n;
    }
}

static int report_host(struct hosts *hosts, uint32_t hd, const char *problem)
{
    const struct definition_host *host = definition(hosts, hd);
    char agents[512];
    char hint[640];

    list_agents(hosts->fleet, agents, sizeof(agents));
    (void)snprintf(hint, sizeof(hint), "%s%s",
                   hosts->fleet->agent_count > 0
                       ? "connected agents: "
                       : "no agent is connected; start lockstep-agent on it",
                   agents);
    language_report_add(
        hosts->report, LANGUAGE_ERROR, &host->place, hint,
        strcmp(host->label, host->system) == 0 ? "host %s: %s"
                                               : "host %s (system=%s): %s",
        host->label,
        strcmp(host->label, host->system) == 0 ? problem : host->system,
        problem);
    hosts->failed[hd] = true;
    return -ENOENT;
}

/* No hd= in the file: the one agent there is. */
static int match_implied(struct hosts *hosts, uint32_t hd, uint32_t *ret_agent)
{
    if (hosts->fleet->agent_count == 1) {
        *ret_agent = 0;
        return 0;
    }
    return report_host(hosts, hd,
                       hosts->fleet->agent_count == 0
                           ? "no agent is connected"
                           : "the file names no hosts (hd=), and several "
                             "agents are connected");
}

static int match(struct hosts *hosts, uint32_t hd, uint32_t *ret_agent)
{
    const struct plan_fleet *fleet = hosts->fleet;
    uint32_t best = PLAN_NOWHERE;
    int strength = 0;
    bool twice = false;

    if (hosts->definitions->host_count == 0)
        return match_implied(hosts, hd, ret_agent);
    for (uint32_t i = 0; i < fleet->agent_count; i++) {
        int s = match_strength(definition(hosts, hd), &fleet->agents[i]);

        if (s > 0 && s == strength)
            twice = true;
        if (s > strength) {
            strength = s;
            best = i;
            twice = false;
        }
    }
    if (best == PLAN_NOWHERE && fleet->this_host_only)
        return report_host(hosts, hd,
                           "it is not this host, and 'lockstep run' has no "
                           "other; use 'lockstep submit -c CONTROLLER -f "
                           "FILE'");
    if (best == PLAN_NOWHERE)
        return report_host(hosts, hd, "no agent has this name or address");
    if (twice)
        return report_host(hosts, hd, "several agents match it");
    *ret_agent = best;
    return 0;
}

/* ---- hosts of the plan ---- */

/* A second hd= of one machine becomes an alias of the first. */
static int add_alias(struct plan *plan, struct plan_host *host,
                     const char *label)
{
    char *text = arena_printf(plan->arena, "%s%s%s", host->aliases,
                              host->aliases[0] != '\0' ? ", " : "", label);

    if (text == NULL)
        return -ENOMEM;
    host->aliases = text;
    return 0;
}

static int add_host(struct hosts *hosts, uint32_t hd, uint32_t agent)
{
    const struct definition_host *from = definition(hosts, hd);
    struct plan *plan = hosts->plan;
    struct plan_host host = {.agent = agent, .aliases = ""};
    int err;

    if (plan->host_count == PLAN_HOSTS_MAX) {
        language_report_add(hosts->report, LANGUAGE_ERROR, &from->place, NULL,
                            "more than %u hosts", PLAN_HOSTS_MAX);
        hosts->failed[hd] = true;
        return -ENOENT;
    }
    host.label = arena_strdup(plan->arena, from->label);
    host.system = arena_strdup(plan->arena, from->system);
    if (host.label == NULL || host.system == NULL)
        return -ENOMEM;
    err = plan_copy_place(plan, &from->place, &host.place);
    if (err == 0)
        err = plan_grow(plan, &plan->hosts, plan->host_count, &hosts->capacity,
                        sizeof(host));
    if (err == 0)
        plan->hosts[plan->host_count++] = host;
    return err;
}

int hosts_use(struct hosts *hosts, uint32_t hd, uint32_t *ret_host)
{
    struct plan *plan = hosts->plan;
    uint32_t agent = PLAN_NOWHERE;
    uint32_t found = PLAN_NOWHERE;
    int err = 0;

    if (hosts->failed[hd])
        return -ENOENT;
    if (hosts->index[hd] > 0) {
        *ret_host = hosts->index[hd] - 1;
        return 0;
    }
    if (hosts->fleet != NULL)
        err = match(hosts, hd, &agent);
    if (err < 0)
        return err;
    for (uint32_t i = 0; i < plan->host_count && agent != PLAN_NOWHERE; i++)
        if (plan->hosts[i].agent == agent)
            found = i;
    if (found != PLAN_NOWHERE) {
        err = add_alias(plan, &plan->hosts[found], hosts_label(hosts, hd));
    } else {
        found = plan->host_count;
        err = add_host(hosts, hd, agent);
    }
    if (err < 0)
        return err;
    hosts->index[hd] = found + 1;
    *ret_host = found;
    return 0;
}
