#include "world.h"

#include "controller/fleet/agent_session.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/registry.h"
#include "controller/plan/plan.h"
#include "tests/support/suite.h"

#include <jansson.h>
#include <stdio.h>

static struct connection connection;
static struct link link_;
static struct registry *registry;

static void setup(void)
{
    world_setup();
    memset(&connection, 0, sizeof(connection));
    link_ = world_link(&connection, 1, "", TLS_ROLE_NONE);
    registry = registry_new();
}

static void teardown(void)
{
    registry = registry_free(registry);
    connection_done(&connection);
    world_teardown();
}

static struct host *greet(const char *name, int64_t wall_ns)
{
    const struct wire_agent_hello hello = {
        .name = name, .version = "0.1.0", .lease_ms = 30000};

    return registry_hello(registry, &hello, &link_, wall_ns);
}

START_TEST(hosts_are_in_the_order_of_names)
{
    static const char *const names[] = {"b", "a", "d", "c", "b"};

    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        ck_assert_ptr_nonnull(greet(names[i], 0));
    ck_assert_uint_eq(registry_count(registry), 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(registry_at(registry, i)->name[0], (int)('a' + i));
    ck_assert_ptr_eq(registry_find(registry, "c"), registry_at(registry, 2));
    ck_assert_ptr_null(registry_find(registry, "e"));
}
END_TEST

START_TEST(the_longest_gone_makes_room)
{
    struct agent_session session;
    struct host *held;
    char name[16];

    for (uint32_t i = 0; i < REGISTRY_HOSTS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "h%04u", i);
        ck_assert_ptr_nonnull(greet(name, (int64_t)i));
    }
    greet("h0000", 0)->session = &session; /* connected */
    held = registry_find(registry, "h0001");
    registry_hold(held);
    ck_assert_ptr_nonnull(greet("newcomer", 9999));
    ck_assert_uint_eq(registry_count(registry), REGISTRY_HOSTS_MAX);
    ck_assert_ptr_nonnull(registry_find(registry, "h0000"));
    ck_assert_ptr_eq(registry_find(registry, "h0001"), held);
    ck_assert_ptr_null(registry_find(registry, "h0002"));
    for (uint32_t i = 0; i < registry_count(registry); i++)
        registry_hold(registry_at(registry, i));
    ck_assert_ptr_null(greet("one more", 10000));
}
END_TEST

static struct wire_inventory make_inventory(struct wire_drive *drive)
{
    static const char *uses[] = {"mounted on /"};
    static const struct wire_drive unknown = {
        .name = "sda",
        .path = "/dev/sda",
        .by_id = "/dev/disk/by-id/wwn-1",
        .model = "",
        .serial = "",
        .firmware = "",
        .wwn = "",
        .formats = "",
        .pci_address = "",
        .slot = "",
        .link_speed = "",
        .write_cache = "",
        .scheduler = "",
        .used_by = uses,
        .use_count = 1,
        .size_bytes = 1 << 20,
        .numa_node = 1,
    };

    *drive = unknown;
    return (struct wire_inventory){
        .host = {.hostname = "alpha",
                 .kernel = "6.1",
                 .cpu_model = "",
                 .engine = "",
                 .os = ""},
        .drives = drive,
        .drive_count = 1,
    };
}

START_TEST(an_inventory_is_kept_whole)
{
    struct wire_drive drive;
    struct wire_inventory inventory = make_inventory(&drive);
    struct host *host = greet("a", 0);
    const struct wire_drive *found;

    ck_assert_int_eq(registry_inventory(host, &inventory), 0);
    memset(&drive, 0, sizeof(drive));
    found = registry_drive(host, "/dev/disk/by-id/wwn-1");
    ck_assert_ptr_nonnull(found);
    ck_assert_ptr_eq(registry_drive(host, "/dev/sda"), found);
    ck_assert_str_eq(found->used_by[0], "mounted on /");
    ck_assert_ptr_null(registry_drive(host, ""));
    inventory.drive_count = 0;
    ck_assert_int_eq(registry_inventory(host, &inventory), 0);
    ck_assert_ptr_null(registry_drive(host, "/dev/sda"));
}
END_TEST

START_TEST(plans_see_the_connected_only)
{
    struct agent_session session = {.link = &link_};
    struct plan_fleet *fleet;
    struct host **hosts;

    (void)greet("a", 0);
    greet("b", 0)->session = &session;
    fleet = registry_fleet(registry, &hosts);
    ck_assert_uint_eq(fleet->agent_count, 1);
    ck_assert_str_eq(fleet->agents[0].name, "b");
    ck_assert_str_eq(fleet->agents[0].addresses[0], "192.0.2.7");
    ck_assert_ptr_eq(hosts[0], registry_find(registry, "b"));
    free(fleet);
}
END_TEST

/* What nobody told is null, never 0 or an empty text. */
START_TEST(unknown_facts_are_null)
{
    struct wire_drive drive;
    struct wire_inventory inventory = make_inventory(&drive);
    struct host *host = greet("a", 0);
    char *text;
    json_t *json;
    const json_t *item;

    ck_assert_int_eq(registry_inventory(host, &inventory), 0);
    text = document_drives(registry);
    json = json_loads(text, 0, NULL);
    item = json_array_get(json_object_get(json, "drives"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(item, "host")), "a");
    ck_assert(json_is_null(json_object_get(item, "model")));
    ck_assert(json_is_null(json_object_get(item, "rotational")));
    ck_assert(json_is_null(json_object_get(item, "campaign")));
    ck_assert_int_eq(json_integer_value(json_object_get(item, "numa_node")), 0);
    json_decref(json);
    free(text);
    text = document_hosts(registry, 0);
    json = json_loads(text, 0, NULL);
    item = json_array_get(json_object_get(json, "hosts"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(item, "state")), "lost");
    ck_assert_str_eq(json_string_value(json_object_get(item, "hostname")),
                     "alpha");
    ck_assert(json_is_null(json_object_get(item, "cpus")));
    ck_assert(json_is_null(json_object_get(item, "clock_uncertainty_us")));
    json_decref(json);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.registry");
    TCase *tcase = tcase_create("registry");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, hosts_are_in_the_order_of_names);
    tcase_add_test(tcase, the_longest_gone_makes_room);
    tcase_add_test(tcase, an_inventory_is_kept_whole);
    tcase_add_test(tcase, plans_see_the_connected_only);
    tcase_add_test(tcase, unknown_facts_are_null);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
