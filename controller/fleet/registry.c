#include "controller/fleet/registry.h"

#include "common/arena.h"
#include "controller/fleet/agent_session.h"
#include "controller/plan/plan.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An inventory comes in one frame; its copy is not much longer. */
#define INVENTORY_BYTES_MAX (16u << 20)

struct registry {
    struct host *hosts[REGISTRY_HOSTS_MAX]; /* by name */
    uint32_t count;
};

struct registry *registry_new(void)
{
    return calloc(1, sizeof(struct registry));
}

static struct inventory *inventory_free(struct inventory *inventory)
{
    if (inventory != NULL)
        arena_free(inventory->arena); /* the inventory lies in it */
    return NULL;
}

static void host_free(struct host *host)
{
    inventory_free(host->inventory);
    free(host->commands);
    free(host);
}

struct registry *registry_free(struct registry *registry)
{
    if (registry == NULL)
        return NULL;
    for (uint32_t i = 0; i < registry->count; i++)
        host_free(registry->hosts[i]);
    free(registry);
    return NULL;
}

/* Where the name is, or would be. */
static uint32_t place_of(const struct registry *registry, const char *name)
{
    uint32_t low = 0;
    uint32_t high = registry->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (strcmp(registry->hosts[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct host *registry_find(const struct registry *registry, const char *name)
{
    uint32_t place = place_of(registry, name);

    if (place < registry->count &&
        strcmp(registry->hosts[place]->name, name) == 0)
        return registry->hosts[place];
    return NULL;
}

uint32_t registry_count(const struct registry *registry)
{
    return registry->count;
}

struct host *registry_at(const struct registry *registry, uint32_t index)
{
    assert(index < registry->count);
    return registry->hosts[index];
}

/* Makes room; false when everyone is connected or held. */
static bool forget_one(struct registry *registry)
{
    uint32_t oldest = UINT32_MAX;

    for (uint32_t i = 0; i < registry->count; i++) {
        const struct host *host = registry->hosts[i];

        if (host->session != NULL || host->holds > 0)
            continue;
        if (oldest == UINT32_MAX ||
            host->since_wall_ns < registry->hosts[oldest]->since_wall_ns)
            oldest = i;
    }
    if (oldest == UINT32_MAX)
        return false;
    host_free(registry->hosts[oldest]);
    registry->count--;
    memmove(&registry->hosts[oldest], &registry->hosts[oldest + 1],
            (registry->count - oldest) * sizeof(struct host *));
    return true;
}

static struct host *add(struct registry *registry, const char *name)
{
    struct host *host;
    uint32_t place;

    if (registry->count == REGISTRY_HOSTS_MAX && !forget_one(registry))
        return NULL;
    host = calloc(1, sizeof(*host));
    if (host == NULL)
        return NULL;
    (void)snprintf(host->name, sizeof(host->name), "%s", name);
    place = place_of(registry, name);
    memmove(&registry->hosts[place + 1], &registry->hosts[place],
            (registry->count - place) * sizeof(struct host *));
    registry->hosts[place] = host;
    registry->count++;
    return host;
}

/* Most hosts offer none.  False without memory. */
static bool take_commands(struct host *host,
                          const struct wire_agent_hello *hello)
{
    free(host->commands);
    host->commands = NULL;
    if (hello->command_count == 0)
        return true;
    host->commands = calloc(1, sizeof(*host->commands));
    if (host->commands == NULL)
        return false;
    for (uint32_t i = 0; i < hello->command_count; i++) {
        struct command *to = &host->commands->items[i];

        (void)snprintf(to->name, sizeof(to->name), "%s",
                       hello->commands[i].name);
        (void)snprintf(to->text, sizeof(to->text), "%s",
                       hello->commands[i].text);
        to->limit_ns = hello->commands[i].limit_ns;
    }
    host->commands->count = hello->command_count;
    return true;
}

struct host *registry_hello(struct registry *registry,
                            const struct wire_agent_hello *hello,
                            const struct link *link, int64_t wall_ns)
{
    struct host *host = registry_find(registry, hello->name);

    if (host == NULL)
        host = add(registry, hello->name);
    if (host == NULL || !take_commands(host, hello))
        return NULL;
    (void)snprintf(host->address, sizeof(host->address), "%s", link->address);
    (void)snprintf(host->version, sizeof(host->version), "%s", hello->version);
    for (uint32_t i = 0; i < hello->label_count; i++)
        (void)snprintf(host->labels[i], sizeof(host->labels[i]), "%s",
                       hello->labels[i]);
    host->label_count = hello->label_count;
    host->instance = hello->instance;
    host->boot = hello->boot;
    host->lease_ns = hello->lease_ms * NS_PER_MS;
    host->since_wall_ns = wall_ns;
    host->gone_reason[0] = '\0';
    return host;
}

struct host *registry_expect(struct registry *registry, const char *name)
{
    struct host *host = registry_find(registry, name);

    if (host != NULL)
        return host;
    host = add(registry, name);
    if (host != NULL)
        (void)snprintf(host->gone_reason, sizeof(host->gone_reason),
                       "not connected since the controller was restarted");
    return host;
}

void registry_gone(struct host *host, const char *reason, int64_t wall_ns)
{
    host->session = NULL;
    host->since_wall_ns = wall_ns;
    (void)snprintf(host->gone_reason, sizeof(host->gone_reason), "%s", reason);
}

void registry_let_go(struct host *host)
{
    assert(host->holds > 0);
    host->holds--;
}

/* ---- Inventory: a deep copy into an arena of its own ------------------- */

/* Copies a text in place; false without memory. */
static bool keep(struct arena *arena, const char **text)
{
    *text = arena_strdup(arena, *text);
    return *text != NULL;
}

static bool keep_list(struct arena *arena, const char ***list, uint32_t count)
{
    if (count == 0)
        return true;
    *list = arena_memdup(arena, *list, count * sizeof(**list));
    if (*list == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!keep(arena, &(*list)[i]))
            return false;
    return true;
}

static bool keep_host(struct arena *arena, struct wire_host_facts *host)
{
    return keep(arena, &host->hostname) && keep(arena, &host->kernel) &&
           keep(arena, &host->cpu_model) && keep(arena, &host->engine) &&
           keep(arena, &host->os) &&
           keep_list(arena, &host->engine_features, host->engine_feature_count);
}

static bool keep_drive(struct arena *arena, struct wire_drive *drive)
{
    return keep(arena, &drive->name) && keep(arena, &drive->path) &&
           keep(arena, &drive->by_id) && keep(arena, &drive->model) &&
           keep(arena, &drive->serial) && keep(arena, &drive->firmware) &&
           keep(arena, &drive->wwn) && keep(arena, &drive->formats) &&
           keep(arena, &drive->pci_address) && keep(arena, &drive->slot) &&
           keep(arena, &drive->link_speed) &&
           keep(arena, &drive->write_cache) && keep(arena, &drive->scheduler) &&
           keep_list(arena, &drive->used_by, drive->use_count);
}

static struct inventory *inventory_copy(const struct wire_inventory *from)
{
    struct arena *arena = arena_new(INVENTORY_BYTES_MAX);
    struct inventory *copy =
        arena == NULL ? NULL : ARENA_NEW(arena, struct inventory);
    bool kept;

    if (copy == NULL) {
        arena_free(arena);
        return NULL;
    }
    copy->arena = arena;
    copy->facts = *from;
    copy->facts.drives =
        ARENA_ARRAY(arena, from->drive_count, struct wire_drive);
    kept = copy->facts.drives != NULL && keep_host(arena, &copy->facts.host);
    for (uint32_t i = 0; i < from->drive_count && kept; i++) {
        copy->facts.drives[i] = from->drives[i];
        kept = keep_drive(arena, &copy->facts.drives[i]);
    }
    return kept ? copy : inventory_free(copy);
}

int registry_inventory(struct host *host,
                       const struct wire_inventory *inventory)
{
    struct inventory *copy = inventory_copy(inventory);

    if (copy == NULL)
        return -ENOMEM;
    inventory_free(host->inventory);
    host->inventory = copy;
    return 0;
}

static bool is_path_of(const struct wire_drive *drive, const char *path)
{
    return strcmp(drive->path, path) == 0 ||
           (drive->by_id[0] != '\0' && strcmp(drive->by_id, path) == 0);
}

const struct wire_drive *registry_drive(const struct host *host,
                                        const char *path)
{
    const struct inventory *inventory = host->inventory;

    for (uint32_t i = 0; inventory != NULL && i < inventory->facts.drive_count;
         i++)
        if (is_path_of(&inventory->facts.drives[i], path))
            return &inventory->facts.drives[i];
    return NULL;
}

uint64_t registry_drive_user(const struct host *host,
                             const struct wire_drive *drive)
{
    for (uint32_t i = 0; i < host->user_path_count; i++)
        if (is_path_of(drive, host->user_paths[i]))
            return host->user;
    return 0;
}

/* ---- For plan_expand() ----------------------------------------------------
 */

/* Everything that one call of registry_fleet() gives, in one allocation. */
struct fleet_view {
    struct plan_fleet fleet; /* first: free() takes its address */
    struct plan_agent agents[REGISTRY_HOSTS_MAX];
    struct host *hosts[REGISTRY_HOSTS_MAX];
    const char *address[REGISTRY_HOSTS_MAX];
    char address_text[REGISTRY_HOSTS_MAX][LINK_ADDRESS_SIZE];
    const char *labels[REGISTRY_HOSTS_MAX][WIRE_LABELS_MAX];
    uint32_t drive_count;
    struct plan_drive drives[]; /* of all hosts, one behind the other */
};

static struct plan_drive view_drive(const struct wire_drive *drive)
{
    return (struct plan_drive){
        .name = drive->name,
        .path = drive->path,
        .by_id = drive->by_id,
        .model = drive->model,
        .serial = drive->serial,
        .firmware = drive->firmware,
        .wwn = drive->wwn,
        .size_bytes = drive->size_bytes,
        .used_by = drive->used_by,
        .use_count = drive->use_count,
    };
}

static uint32_t count_drives(const struct host *host)
{
    return host->inventory != NULL ? host->inventory->facts.drive_count : 0;
}

static void view_host(struct fleet_view *view, uint32_t at, struct host *host)
{
    struct plan_agent *agent = &view->agents[at];

    view->hosts[at] = host;
    link_host_address(host->session->link, view->address_text[at]);
    view->address[at] = view->address_text[at];
    for (uint32_t i = 0; i < host->label_count; i++)
        view->labels[at][i] = host->labels[i];
    *agent = (struct plan_agent){
        .name = host->name,
        .hostname =
            host->inventory == NULL ? "" : host->inventory->facts.host.hostname,
        .addresses = &view->address[at],
        .address_count = 1,
        .labels = view->labels[at],
        .label_count = host->label_count,
    };
    if (host->inventory == NULL)
        return;
    agent->drives = &view->drives[view->drive_count];
    agent->drive_count = count_drives(host);
    for (uint32_t i = 0; i < agent->drive_count; i++)
        view->drives[view->drive_count++] =
            view_drive(&host->inventory->facts.drives[i]);
}

struct plan_fleet *registry_fleet(const struct registry *registry,
                                  struct host ***ret_hosts)
{
    struct fleet_view *view;
    size_t drives = 1;

    for (uint32_t i = 0; i < registry->count; i++)
        drives += count_drives(registry->hosts[i]);
    view = calloc(1, sizeof(*view) + drives * sizeof(view->drives[0]));
    if (view == NULL)
        return NULL;
    view->fleet.agents = view->agents;
    for (uint32_t i = 0; i < registry->count; i++)
        if (registry->hosts[i]->session != NULL)
            view_host(view, view->fleet.agent_count++, registry->hosts[i]);
    *ret_hosts = view->hosts;
    return &view->fleet;
}
