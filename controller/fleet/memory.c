#include "controller/fleet/memory.h"

#include "common/arena.h"
#include "common/uuid.h"
#include "controller/plan/plan_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- Writing ------------------------------------------------------------- */

/* Takes it.  Doubles come back as they were. */
static char *text_of(json_t *json)
{
    char *text = json == NULL
                     ? NULL
                     : json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));

    json_decref(json);
    return text;
}

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* ---- Reading ------------------------------------------------------------- */

/* The first thing that is missing or of another kind is kept as `err`. */
struct reader {
    json_t *root;
    struct arena *arena;
    int err;
};

static const json_t *member(struct reader *r, const json_t *object,
                            const char *key, json_type type)
{
    const json_t *value = json_object_get(object, key);

    if (value != NULL && json_typeof(value) == type)
        return value;
    r->err = r->err == 0 ? -EBADMSG : r->err;
    return NULL;
}

static uint64_t number(struct reader *r, const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(member(r, object, key, JSON_INTEGER));
}

static uint32_t below(struct reader *r, const json_t *object, const char *key,
                      uint32_t limit)
{
    uint64_t value = number(r, object, key);

    if (value < limit)
        return (uint32_t)value;
    r->err = -EBADMSG;
    return 0;
}

static double real(struct reader *r, const json_t *object, const char *key)
{
    return json_real_value(member(r, object, key, JSON_REAL));
}

static bool boolean(struct reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_boolean(value))
        r->err = -EBADMSG;
    return json_is_true(value);
}

static const char *kept(struct reader *r, const json_t *value)
{
    const char *text = json_string_value(value);
    const char *copy = arena_strdup(r->arena, text == NULL ? "" : text);

    if (copy == NULL)
        r->err = -ENOMEM;
    else if (text == NULL && r->err == 0)
        r->err = -EBADMSG;
    return copy == NULL ? "" : copy;
}

static const char *string(struct reader *r, const json_t *object,
                          const char *key)
{
    return kept(r, member(r, object, key, JSON_STRING));
}

static struct uuid uuid(struct reader *r, const json_t *object, const char *key)
{
    const char *text = json_string_value(member(r, object, key, JSON_STRING));
    struct uuid value = {0};

    if (text == NULL || uuid_parse(text, &value) != 0)
        r->err = -EBADMSG;
    return value;
}

/* Room for the elements of an array. */
static void *list(struct reader *r, const json_t *array, size_t size,
                  uint32_t *ret_count)
{
    void *room = arena_array(r->arena, json_array_size(array), size);

    *ret_count = room == NULL ? 0 : (uint32_t)json_array_size(array);
    if (room == NULL)
        r->err = -ENOMEM;
    return room;
}

static struct reader begin(const char *text, struct arena *arena)
{
    json_t *root = json_loads(text, 0, NULL);

    return (struct reader){root, arena, root == NULL ? -EBADMSG : 0};
}

static int end(struct reader *r)
{
    json_decref(r->root);
    return r->err;
}

/* ---- Origin -------------------------------------------------------------- */

static json_t *texts(const char *const *words, uint32_t count)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < count; i++)
        (void)json_array_append_new(array, json_string(words[i]));
    return array;
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static json_t *drive_json(const struct plan_drive *drive)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "name",
                     or_empty(drive->name), "path", or_empty(drive->path),
                     "by_id", or_empty(drive->by_id), "model",
                     or_empty(drive->model), "serial", or_empty(drive->serial),
                     "firmware", or_empty(drive->firmware), "wwn",
                     or_empty(drive->wwn), "size", integer(drive->size_bytes),
                     "used_by", texts(drive->used_by, drive->use_count));
}

static json_t *agent_json(const struct plan_agent *agent)
{
    json_t *drives = json_array();

    for (uint32_t i = 0; i < agent->drive_count; i++)
        (void)json_array_append_new(drives, drive_json(&agent->drives[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", agent->name,
                     "hostname", agent->hostname, "addresses",
                     texts(agent->addresses, agent->address_count), "labels",
                     texts(agent->labels, agent->label_count), "drives",
                     drives);
}

static json_t *facts_json(const struct plan_facts *facts)
{
    json_t *json =
        json_pack("{s:b, s:b, s:b, s:b, s:b, s:s, s:s, s:s, s:s, s:s}", "known",
                  facts->known, "block", facts->is_block, "character",
                  facts->is_character, "missing", facts->missing, "ours",
                  facts->ours, "refusal", or_empty(facts->refusal), "device",
                  or_empty(facts->device), "serial", or_empty(facts->serial),
                  "wwn", or_empty(facts->wwn), "model", or_empty(facts->model));

    (void)json_object_set_new(json, "content",
                              json_string(or_empty(facts->content)));
    (void)json_object_set_new(json, "free", integer(facts->free_bytes));
    (void)json_object_set_new(json, "number", integer(facts->device_number));
    (void)json_object_set_new(json, "inode", integer(facts->inode));
    (void)json_object_set_new(json, "size", integer(facts->size_bytes));
    (void)json_object_set_new(json, "grain", integer(facts->logical_block));
    (void)json_object_set_new(json, "sequence", integer(facts->disk_sequence));
    return json;
}

char *memory_origin_text(const struct memory_origin *origin)
{
    json_t *included = json_array();
    json_t *agents = json_array();
    json_t *facts = json_array();

    for (uint32_t i = 0; i < origin->file_count; i++)
        (void)json_array_append_new(included,
                                    json_boolean(origin->included[i]));
    for (uint32_t i = 0; i < origin->agent_count; i++)
        (void)json_array_append_new(agents, agent_json(&origin->agents[i]));
    for (uint32_t i = 0; i < origin->fact_count; i++)
        (void)json_array_append_new(facts, facts_json(&origin->facts[i]));
    if (json_array_size(included) != origin->file_count ||
        json_array_size(agents) != origin->agent_count ||
        json_array_size(facts) != origin->fact_count) {
        json_decref(included);
        json_decref(agents);
        json_decref(facts);
        return NULL;
    }
    return text_of(json_pack("{s:o, s:o, s:o, s:o}", "included", included,
                             "agents", agents, "facts", facts, "fingerprint",
                             integer(origin->fingerprint)));
}

static const char *const *read_texts(struct reader *r, const json_t *array,
                                     uint32_t *ret_count)
{
    const char **words = list(r, array, sizeof(*words), ret_count);

    for (uint32_t i = 0; i < *ret_count; i++)
        words[i] = kept(r, json_array_get(array, i));
    return words;
}

static struct plan_drive read_drive(struct reader *r, const json_t *json)
{
    struct plan_drive drive = {
        .name = string(r, json, "name"),
        .path = string(r, json, "path"),
        .by_id = string(r, json, "by_id"),
        .model = string(r, json, "model"),
        .serial = string(r, json, "serial"),
        .firmware = string(r, json, "firmware"),
        .wwn = string(r, json, "wwn"),
        .size_bytes = number(r, json, "size"),
    };

    drive.used_by =
        read_texts(r, member(r, json, "used_by", JSON_ARRAY), &drive.use_count);
    return drive;
}

static void read_agent(struct reader *r, const json_t *json,
                       struct plan_agent *to)
{
    const json_t *list_json = member(r, json, "drives", JSON_ARRAY);
    struct plan_drive *drives =
        list(r, list_json, sizeof(*drives), &to->drive_count);

    to->drives = drives;
    for (uint32_t i = 0; i < to->drive_count; i++)
        drives[i] = read_drive(r, json_array_get(list_json, i));
    to->name = string(r, json, "name");
    to->hostname = string(r, json, "hostname");
    to->addresses = read_texts(r, member(r, json, "addresses", JSON_ARRAY),
                               &to->address_count);
    to->labels =
        read_texts(r, member(r, json, "labels", JSON_ARRAY), &to->label_count);
}

static void read_facts(struct reader *r, const json_t *json,
                       struct plan_facts *to)
{
    *to = (struct plan_facts){
        .known = boolean(r, json, "known"),
        .is_block = boolean(r, json, "block"),
        .is_character = boolean(r, json, "character"),
        .missing = boolean(r, json, "missing"),
        .ours = boolean(r, json, "ours"),
        .refusal = string(r, json, "refusal"),
        .device = string(r, json, "device"),
        .serial = string(r, json, "serial"),
        .wwn = string(r, json, "wwn"),
        .model = string(r, json, "model"),
        .content = string(r, json, "content"),
        .free_bytes = number(r, json, "free"),
        .device_number = number(r, json, "number"),
        .inode = number(r, json, "inode"),
        .size_bytes = number(r, json, "size"),
        .logical_block = (uint32_t)number(r, json, "grain"),
        .disk_sequence = number(r, json, "sequence"),
    };
}

int memory_origin_read(const char *text, struct arena *arena,
                       struct memory_origin *to)
{
    struct reader r = begin(text, arena);
    const json_t *included = member(&r, r.root, "included", JSON_ARRAY);
    const json_t *agents = member(&r, r.root, "agents", JSON_ARRAY);
    const json_t *facts = member(&r, r.root, "facts", JSON_ARRAY);

    to->included = list(&r, included, sizeof(bool), &to->file_count);
    to->agents = list(&r, agents, sizeof(*to->agents), &to->agent_count);
    to->facts = list(&r, facts, sizeof(*to->facts), &to->fact_count);
    for (uint32_t i = 0; i < to->file_count; i++)
        to->included[i] = json_is_true(json_array_get(included, i));
    for (uint32_t i = 0; i < to->agent_count; i++)
        read_agent(&r, json_array_get(agents, i), &to->agents[i]);
    for (uint32_t i = 0; i < to->fact_count; i++)
        read_facts(&r, json_array_get(facts, i), &to->facts[i]);
    to->fingerprint = number(&r, r.root, "fingerprint");
    return end(&r);
}

/* ---- Starts -------------------------------------------------------------- */

static json_t *start_json(const struct conduct_start *start)
{
    char instance[UUID_TEXT_SIZE], boot[UUID_TEXT_SIZE];
    json_t *json = json_pack("{s:s, s:s, s:b}", "instance",
                             uuid_format(&start->hello.instance, instance),
                             "boot", uuid_format(&start->hello.boot, boot),
                             "finishes", start->hello.finishes);

    (void)json_object_set_new(json, "host", integer(start->host));
    (void)json_object_set_new(json, "lease_ns", integer(start->hello.lease_ns));
    (void)json_object_set_new(json, "at_ns", integer(start->agent_start_ns));
    (void)json_object_set_new(json, "offset_ns",
                              json_integer(start->offset.offset_ns));
    (void)json_object_set_new(json, "uncertainty_ns",
                              integer(start->offset.uncertainty_ns));
    return json;
}

char *memory_starts_text(const struct memory_starts *starts)
{
    char boot[UUID_TEXT_SIZE];
    json_t *hosts = json_array();

    for (uint32_t i = 0; i < starts->host_count; i++)
        (void)json_array_append_new(hosts, start_json(&starts->hosts[i]));
    if (json_array_size(hosts) != starts->host_count) {
        json_decref(hosts);
        return NULL;
    }
    return text_of(json_pack("{s:s, s:o, s:o}", "boot",
                             uuid_format(&starts->boot, boot), "epoch",
                             integer(starts->epoch), "hosts", hosts));
}

static void read_start(struct reader *r, const json_t *json,
                       struct conduct_start *to)
{
    *to = (struct conduct_start){
        .host = (uint32_t)number(r, json, "host"),
        .agent_start_ns = number(r, json, "at_ns"),
        .offset =
            {
                .offset_ns = (int64_t)number(r, json, "offset_ns"),
                .uncertainty_ns = number(r, json, "uncertainty_ns"),
            },
        .hello =
            {
                .instance = uuid(r, json, "instance"),
                .boot = uuid(r, json, "boot"),
                .lease_ns = number(r, json, "lease_ns"),
                .finishes = boolean(r, json, "finishes"),
            },
    };
}

int memory_starts_read(const char *text, struct arena *arena,
                       struct memory_starts *to)
{
    struct reader r = begin(text, arena);
    const json_t *hosts = member(&r, r.root, "hosts", JSON_ARRAY);

    to->boot = uuid(&r, r.root, "boot");
    to->epoch = number(&r, r.root, "epoch");
    to->hosts = list(&r, hosts, sizeof(*to->hosts), &to->host_count);
    for (uint32_t i = 0; i < to->host_count; i++)
        read_start(&r, json_array_get(hosts, i), &to->hosts[i]);
    return end(&r);
}

/* ---- Endings ------------------------------------------------------------- */

char *memory_ending_text(const struct memory_ending *ending)
{
    return text_of(
        json_pack("{s:i, s:i, s:o, s:s}", "ending", (int)ending->ending,
                  "verdict", (int)ending->verdict, "stop_after",
                  integer(ending->stop_after), "reason", ending->reason));
}

int memory_ending_read(const char *text, struct arena *arena,
                       struct memory_ending *to)
{
    struct reader r = begin(text, arena);

    *to = (struct memory_ending){
        .ending =
            (enum conduct_ending)below(&r, r.root, "ending", CONDUCT_ENDINGS),
        .verdict = (enum conduct_verdict)below(&r, r.root, "verdict",
                                               CONDUCT_VERDICTS),
        .stop_after = number(&r, r.root, "stop_after"),
        .reason = string(&r, r.root, "reason"),
    };
    return end(&r);
}

char *memory_finish_text(const struct conduct_finish *finish)
{
    return text_of(json_pack("{s:i, s:s, s:o, s:o, s:s}", "outcome",
                             (int)finish->outcome, "reason", finish->reason,
                             "intervals", integer(finish->intervals), "stuck",
                             integer(finish->stuck), "stuck_on",
                             finish->stuck_on));
}

int memory_finish_read(const char *text, struct arena *arena,
                       struct conduct_finish *to)
{
    struct reader r = begin(text, arena);

    *to = (struct conduct_finish){
        .outcome = (enum conduct_outcome)below(&r, r.root, "outcome",
                                               CONDUCT_OUTCOME_TIME_LIMIT + 1u),
        .reason = string(&r, r.root, "reason"),
        .intervals = number(&r, r.root, "intervals"),
        .stuck = number(&r, r.root, "stuck"),
    };
    (void)snprintf(to->stuck_on, sizeof(to->stuck_on), "%s",
                   string(&r, r.root, "stuck_on"));
    return end(&r);
}

/* ---- From phase to phase ------------------------------------------------- */

static json_t *curve_json(const struct curve *curve)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f}", "state",
                     (int)curve->state, "maximum", curve->maximum_iops,
                     "observed", curve->observed_iops, "kept", curve->kept_iops,
                     "broke", curve->broke_iops, "asked", curve->asked_iops);
}

static json_t *reals(const double *values, uint32_t count)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < count; i++)
        (void)json_array_append_new(array, json_pack("f", values[i]));
    return array;
}

char *memory_carry_text(const struct memory_carry *carry)
{
    const struct conduct_memory *conduct = &carry->conduct;
    uint32_t shares = carry->shares_known ? TALLY_WORKLOADS_MAX : 0;

    return text_of(json_pack(
        "{s:i, s:s, s:b, s:o, s:o, s:o}", "verdict", (int)conduct->verdict,
        "reason", conduct->reason, "over", conduct->over, "curve",
        curve_json(&conduct->curve), "shares", reals(carry->shares, shares),
        "drives", reals(carry->drives, carry->drive_count)));
}

int memory_carry_read(const char *text, struct arena *arena,
                      struct memory_carry *to)
{
    struct reader r = begin(text, arena);
    const json_t *curve = member(&r, r.root, "curve", JSON_OBJECT);
    const json_t *shares = member(&r, r.root, "shares", JSON_ARRAY);
    const json_t *drives = member(&r, r.root, "drives", JSON_ARRAY);
    const json_t *reason = member(&r, r.root, "reason", JSON_STRING);

    *to = (struct memory_carry){
        .conduct =
            {
                .verdict = (enum conduct_verdict)below(&r, r.root, "verdict",
                                                       CONDUCT_VERDICTS),
                .over = boolean(&r, r.root, "over"),
                .curve =
                    {
                        .state = (enum curve_state)below(&r, curve, "state",
                                                         CURVE_STOPPED + 1u),
                        .maximum_iops = real(&r, curve, "maximum"),
                        .observed_iops = real(&r, curve, "observed"),
                        .kept_iops = real(&r, curve, "kept"),
                        .broke_iops = real(&r, curve, "broke"),
                        .asked_iops = real(&r, curve, "asked"),
                    },
            },
        .shares_known = json_array_size(shares) == TALLY_WORKLOADS_MAX,
    };
    for (uint32_t i = 0; to->shares_known && i < TALLY_WORKLOADS_MAX; i++)
        to->shares[i] = json_real_value(json_array_get(shares, i));
    to->drives = list(&r, drives, sizeof(*to->drives), &to->drive_count);
    for (uint32_t i = 0; i < to->drive_count; i++)
        to->drives[i] = json_real_value(json_array_get(drives, i));
    if (reason != NULL)
        (void)snprintf(to->conduct.reason, sizeof(to->conduct.reason), "%s",
                       json_string_value(reason));
    return end(&r);
}

/* ---- Fingerprint --------------------------------------------------------- */

static void mix(void *user, const void *bytes, size_t length)
{
    uint64_t *hash = user;
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < length; i++)
        *hash = (*hash ^ byte[i]) * UINT64_C(0x100000001b3);
}

static void mix_key(void *user, const char *key)
{
    const char *text = or_empty(key);

    mix(user, text, strlen(text) + 1);
}

static void mix_end(void *user)
{
    mix(user, ")", 1);
}

static void mix_text(void *user, const char *key, const char *value)
{
    mix_key(user, key);
    mix_key(user, value);
}

static void mix_integer(void *user, const char *key, uint64_t value)
{
    mix_key(user, key);
    mix(user, &value, sizeof(value));
}

static void mix_number(void *user, const char *key, double value)
{
    mix_key(user, key);
    mix(user, &value, sizeof(value));
}

static void mix_boolean(void *user, const char *key, bool value)
{
    mix_key(user, key);
    mix(user, value ? "1" : "0", 1);
}

uint64_t memory_fingerprint(const struct plan *plan)
{
    static const struct plan_visitor visitor = {
        .object_begin = mix_key,
        .object_end = mix_end,
        .array_begin = mix_key,
        .array_end = mix_end,
        .text = mix_text,
        .integer = mix_integer,
        .number = mix_number,
        .boolean = mix_boolean,
        .null = mix_key,
    };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    plan_walk(plan, &visitor, &hash);
    return hash >> 1; /* JSON's integers have a sign */
}
