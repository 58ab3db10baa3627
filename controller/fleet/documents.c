#include "controller/fleet/documents.h"

#include "common/json.h"
#include "common/uuid.h"
#include "controller/conduct/offset.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/campaign.h"
#include "controller/fleet/consent.h"
#include "controller/fleet/registry.h"
#include "controller/fleet/shell_session.h"
#include "controller/plan/plan_json.h"
#include "controller/plan/plan_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLAN_CELLS_MAX 100000u /* of a plan as an object; about 30 MB */

/* jansson's setters steal the value and fail on NULL: a document of which a
 * part could not be made is not made. */
struct object {
    json_t *json;
    bool failed;
};

static void put(struct object *object, const char *key, json_t *value)
{
    if (value == NULL || json_object_set_new(object->json, key, value) != 0)
        object->failed = true;
}

static void put_text(struct object *object, const char *key, const char *text)
{
    bool known = text != NULL && text[0] != '\0';

    put(object, key, known ? json_string(text) : json_null());
}

static void put_number(struct object *object, const char *key, uint64_t number)
{
    put(object, key, json_integer((json_int_t)number));
}

/* 0 is unknown. */
static void put_known(struct object *object, const char *key, uint64_t number)
{
    put(object, key,
        number == 0 ? json_null() : json_integer((json_int_t)number));
}

static void put_texts(struct object *object, const char *key,
                      const char *const *texts, uint32_t count)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < count; i++)
        if (json_array_append_new(array, json_string(texts[i])) != 0)
            object->failed = true;
    put(object, key, array);
}

static struct object object_new(void)
{
    json_t *json = json_object();

    return (struct object){.json = json, .failed = json == NULL};
}

/* Adds an object to an array, or fails the object that the array is for. */
static void append(struct object *whole, json_t *array, struct object *part)
{
    if (part->failed || json_array_append(array, part->json) != 0)
        whole->failed = true;
    json_decref(part->json);
}

static char *text_of(struct object *object)
{
    char *text = object->failed
                     ? NULL
                     : json_dumps(object->json, JSON_COMPACT | JSON_FORM);

    json_decref(object->json);
    return text;
}

static void put_wall(struct object *object, const char *key, int64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / (int64_t)NS_PER_S);
    char text[32];
    struct tm utc;

    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
    put_text(object, key, text);
}

static void put_uuid(struct object *object, const char *key,
                     const struct uuid *uuid)
{
    char text[UUID_TEXT_SIZE];

    put_text(object, key, uuid_format(uuid, text));
}

/* ---- Hosts ------------------------------------------------------------------
 */

static void put_host_facts(struct object *object, const struct host *host)
{
    static const struct wire_host_facts unknown;
    const struct wire_host_facts *facts =
        host->inventory == NULL ? &unknown : &host->inventory->facts.host;

    put_text(object, "hostname", facts->hostname);
    put_text(object, "kernel", facts->kernel);
    put_text(object, "os", facts->os);
    put_known(object, "cpus", facts->cpus);
    put_text(object, "cpu_model", facts->cpu_model);
    put_known(object, "memory_bytes", facts->memory_bytes);
    put_text(object, "engine", facts->engine);
    put_texts(object, "engine_features", facts->engine_features,
              facts->engine_feature_count);
}

static void put_labels(struct object *object, const struct host *host)
{
    const char *labels[WIRE_LABELS_MAX];

    for (uint32_t i = 0; i < host->label_count; i++)
        labels[i] = host->labels[i];
    put_texts(object, "labels", labels, host->label_count);
}

/* How far the agent's monotonic clock is before the controller's, and how well
 * that is known. */
static void put_clock(struct object *object, const struct host *host,
                      uint64_t now_ns)
{
    struct offset_estimate e;
    bool known =
        host->session != NULL && offset_at(&host->session->clock, now_ns, &e);

    put(object, "clock_offset_us",
        known ? json_fixed((double)e.offset_ns / 1000, 3) : json_null());
    put(object, "clock_uncertainty_us",
        known ? json_fixed((double)e.uncertainty_ns / 1000, 3) : json_null());
}

static void put_commands(struct object *object, const struct host *host)
{
    json_t *list = json_array();

    for (uint32_t i = 0; host->commands != NULL && i < host->commands->count;
         i++) {
        const struct command *command = &host->commands->items[i];
        struct object item = object_new();

        put_text(&item, "name", command->name);
        put_text(&item, "command", command->text);
        put(&item, "limit_s", json_fixed((double)command->limit_ns / 1e9, 3));
        append(object, list, &item);
    }
    put(object, "commands", list);
}

static void put_host(struct object *object, const struct host *host,
                     uint64_t now_ns)
{
    bool connected = host->session != NULL;

    put_text(object, "name", host->name);
    put_text(object, "state", connected ? "connected" : "lost");
    put_text(object, "reason", host->gone_reason);
    put_wall(object, "since", host->since_wall_ns);
    put_text(object, "address", host->address);
    put_text(object, "version", host->version);
    put_uuid(object, "instance", &host->instance);
    put_uuid(object, "boot", &host->boot);
    put(object, "lease_s", json_fixed((double)host->lease_ns / 1e9, 3));
    put_labels(object, host);
    put_host_facts(object, host);
    put(object, "drives",
        host->inventory == NULL
            ? json_null()
            : json_integer(host->inventory->facts.drive_count));
    put_known(object, "campaign", host->user);
    put_commands(object, host);
    put_clock(object, host, now_ns);
}

char *document_hosts(const struct registry *registry, uint64_t now_ns)
{
    struct object document = object_new();
    json_t *hosts = json_array();

    for (uint32_t i = 0; i < registry_count(registry); i++) {
        struct object object = object_new();

        put_host(&object, registry_at(registry, i), now_ns);
        append(&document, hosts, &object);
    }
    put(&document, "hosts", hosts);
    return text_of(&document);
}

char *document_host_facts(const struct host *host)
{
    struct object object = object_new();

    put_host_facts(&object, host);
    put_uuid(&object, "boot", &host->boot);
    put_labels(&object, host);
    return text_of(&object);
}

/* ---- Drives -----------------------------------------------------------------
 */

static json_t *tristate(enum wire_tristate value)
{
    return value == WIRE_UNKNOWN ? json_null()
                                 : json_boolean(value == WIRE_YES);
}

static void put_drive_facts(struct object *object,
                            const struct wire_drive *drive)
{
    put_text(object, "name", drive->name);
    put_text(object, "path", drive->path);
    put_text(object, "by_id", drive->by_id);
    put_text(object, "model", drive->model);
    put_text(object, "serial", drive->serial);
    put_text(object, "firmware", drive->firmware);
    put_text(object, "wwn", drive->wwn);
    put_number(object, "size_bytes", drive->size_bytes);
    put_known(object, "logical_block", drive->logical_block);
    put_known(object, "physical_block", drive->physical_block);
    put_text(object, "formats", drive->formats);
    put_text(object, "pci_address", drive->pci_address);
    put_text(object, "slot", drive->slot);
    put_text(object, "link_speed", drive->link_speed);
    put_known(object, "link_width", drive->link_width);
    put_text(object, "write_cache", drive->write_cache);
    put_text(object, "scheduler", drive->scheduler);
    put(object, "rotational", tristate(drive->rotational));
    put_texts(object, "used_by", drive->used_by, drive->use_count);
    put(object, "read_only", json_boolean(drive->read_only));
    put(object, "numa_node",
        drive->numa_node == 0 ? json_null()
                              : json_integer(drive->numa_node - 1));
    put_known(object, "disk_sequence", drive->disk_sequence);
    put(object, "offered", json_boolean(drive->offered));
}

char *document_drive_facts(const struct wire_drive *drive)
{
    struct object object = object_new();

    put_drive_facts(&object, drive);
    return text_of(&object);
}

static void append_drives(struct object *document, json_t *drives,
                          const struct host *host)
{
    for (uint32_t i = 0;
         host->inventory != NULL && i < host->inventory->facts.drive_count;
         i++) {
        const struct wire_drive *drive = &host->inventory->facts.drives[i];
        struct object object = object_new();

        put_text(&object, "host", host->name);
        put_text(&object, "host_state",
                 host->session != NULL ? "connected" : "lost");
        put_drive_facts(&object, drive);
        put_known(&object, "campaign", registry_drive_user(host, drive));
        append(document, drives, &object);
    }
}

char *document_drives(const struct registry *registry)
{
    struct object document = object_new();
    json_t *drives = json_array();

    for (uint32_t i = 0; i < registry_count(registry); i++)
        append_drives(&document, drives, registry_at(registry, i));
    put(&document, "drives", drives);
    return text_of(&document);
}

/* ---- Answers to Submit and Stop ---------------------------------------- */

static const char *const severities[] = {
    [LANGUAGE_ERROR] = "error",
    [LANGUAGE_UNSUPPORTED] = "unsupported",
    [LANGUAGE_WARNING] = "warning",
    [LANGUAGE_NOTE] = "note",
};

static void put_messages(struct object *document,
                         const struct language_report *report)
{
    char *text = language_report_text(report);
    json_t *messages = json_array();

    for (uint32_t i = 0; i < report->count; i++) {
        const struct language_message *message = &report->messages[i];
        struct object object = object_new();

        put_text(&object, "severity", severities[message->severity]);
        put_text(&object, "file", message->place.file);
        put_known(&object, "line", message->place.line);
        put_known(&object, "column", message->place.column);
        put_text(&object, "text", message->text);
        put_text(&object, "hint", message->hint);
        append(document, messages, &object);
    }
    put(document, "messages", messages);
    put(document, "text", text == NULL ? NULL : json_string(text));
    free(text);
}

static void put_chosen(struct object *document, const struct plan *plan)
{
    json_t *drives = json_array();

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];
        struct object object;

        if (target->choice != PLAN_CHOICE_CHOSEN)
            continue;
        object = object_new();
        put_text(&object, "sd", target->sd);
        put_text(&object, "host", plan->hosts[target->host].label);
        put_text(&object, "path", target->path);
        put_text(&object, "model", target->facts.model);
        put_text(&object, "serial", target->facts.serial);
        put_text(&object, "wwn", target->facts.wwn);
        put_known(&object, "size_bytes", target->facts.size_bytes);
        append(document, drives, &object);
    }
    put(document, "drives", drives);
}

char *document_submitted(const struct campaign *campaign)
{
    struct object document = object_new();

    put_number(&document, "campaign", campaign->number);
    put_uuid(&document, "id", &campaign->id);
    put_chosen(&document, campaign->plan);
    if (campaign->plan->monitor != NULL)
        put_text(&document, "monitor", campaign->plan->monitor);
    put_messages(&document, &campaign->report);
    return text_of(&document);
}

char *document_report(const struct language_report *report)
{
    struct object document = object_new();
    char first[REASON_SIZE];

    language_report_first(report, first, sizeof(first));
    put_text(&document, "error", first);
    put_messages(&document, report);
    return text_of(&document);
}

/* A text that it frees; NULL fails the object. */
static void put_made(struct object *object, const char *key, char *text)
{
    put(object, key, text != NULL ? json_string(text) : NULL);
    free(text);
}

/* As an object every run has its cells; that is known before it is made. */
static bool plan_is_short(const struct plan *plan)
{
    uint64_t cells = 0;

    for (uint32_t i = 0; i < plan->run_count; i++)
        cells += plan->runs[i].cell_count + 1;
    return cells < PLAN_CELLS_MAX;
}

char *document_plan(const struct plan *plan, enum wire_plan_form form,
                    const struct language_report *report)
{
    struct object document = object_new();
    char *text;

    if (form == WIRE_PLAN_TABLE)
        put_made(&document, "plan", plan_text_table(plan));
    else if (form == WIRE_PLAN_RUNS)
        put_made(&document, "plan", plan_text_runs(plan));
    else if (plan_is_short(plan))
        put(&document, "plan", plan_json(plan));
    else
        document.failed = true;
    put_messages(&document, report);
    text = text_of(&document);
    if (text != NULL && strlen(text) > SHELL_BACKLOG_MAX / 2) {
        free(text);
        text = NULL;
    }
    return text;
}

static void put_items(struct object *document, json_t *drives,
                      const struct consent *consent)
{
    for (uint32_t i = 0; i < consent->count; i++) {
        const struct consent_item *item = &consent->items[i];
        struct object drive = object_new();

        put_text(&drive, "host", item->host);
        put_text(&drive, "sd", item->sd);
        put_text(&drive, "path", item->path);
        put_text(&drive, "id", item->id);
        put_number(&drive, "size_bytes", item->size_bytes);
        put_text(&drive, "model", item->model);
        put_text(&drive, "content", item->content);
        append(document, drives, &drive);
    }
}

char *document_consent(const struct campaign *campaign,
                       const struct consent *consent)
{
    struct object document = object_new();
    struct object list = object_new();
    json_t *drives = json_array();
    char error[REASON_SIZE];

    (void)snprintf(
        error, sizeof(error),
        "%sthis campaign destroys what is on %u drive%s: confirm the list with "
        "--yes %s",
        campaign->yes[0] != '\0' ? "what --yes agreed to is not what is there: "
                                 : "",
        consent->count, consent->count == 1 ? "" : "s", consent->hash);
    put_items(&document, drives, consent);
    put_text(&list, "hash", consent->hash);
    put(&list, "drives", drives);
    document.failed |= list.failed;
    put_text(&document, "error", error);
    put(&document, "consent", list.json);
    return text_of(&document);
}

char *document_error(const char *error)
{
    struct object document = object_new();

    put_text(&document, "error", error);
    return text_of(&document);
}

char *document_stopped(uint64_t number, const char *state)
{
    struct object document = object_new();

    put_number(&document, "campaign", number);
    put_text(&document, "state", state);
    return text_of(&document);
}

/* ---- Events ------------------------------------------------------------ */

char *document_notice(uint64_t number, const char *text)
{
    struct object document = object_new();

    put_text(&document, "event", "notice");
    put_known(&document, "campaign", number);
    put_text(&document, "text", text);
    return text_of(&document);
}

char *document_end(uint64_t number, const char *verdict, const char *error)
{
    struct object document = object_new();

    put_text(&document, "event", "end");
    put_known(&document, "campaign", number);
    put_text(&document, "verdict", verdict);
    put_text(&document, "error", error);
    return text_of(&document);
}

char *document_end_of(uint64_t number, const char *status, size_t length)
{
    json_t *json = json_loadb(status, length, 0, NULL);
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    const char *error = json_string_value(json_object_get(json, "error"));
    char *document =
        document_end(number, verdict != NULL ? verdict : "failed", error);

    json_decref(json);
    return document;
}

/* ---- How the phase at hand stands -------------------------------------- */

static json_t *live_hosts(const struct campaign *campaign,
                          struct object *document)
{
    json_t *hosts = json_array();

    for (uint32_t i = 0; i < campaign->host_count; i++) {
        struct object object = object_new();

        if (conductor_host_takes_part(campaign->conductor, i)) {
            put_text(&object, "name", campaign->hosts[i].host->name);
            put_text(&object, "state",
                     conductor_host_state(campaign->conductor, i));
            append(document, hosts, &object);
        } else {
            json_decref(object.json);
        }
    }
    return hosts;
}

char *document_live(const char *status, size_t length,
                    const struct campaign *campaign)
{
    struct object document = {
        .json = json_loadb(status, length, 0, NULL),
    };
    struct object live = object_new();
    const struct conduct_phase *phase;

    if (!json_is_object(document.json)) {
        json_decref(document.json);
        json_decref(live.json);
        return NULL;
    }
    if (campaign->conductor == NULL) {
        put_text(&live, "state", campaign_state_name(campaign->state));
        put(&live, "hosts", json_array());
    } else {
        phase = conductor_phase(campaign->conductor);
        put_text(&live, "state", conduct_state_name(phase->state));
        put(&live, "hosts", live_hosts(campaign, &document));
    }
    document.failed |= live.failed;
    put(&document, "live", live.json);
    return text_of(&document);
}
