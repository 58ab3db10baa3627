/* What the kernel counts of drives, and what drives say of themselves. */
#include "agent/device.h"

#include "agent/health.h"
#include "agent/interlock.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVES 6u

static char *root;
static struct opened_target targets[DRIVES];
static struct row_drive drives[DRIVES];
static struct devices devices;

static void add(uint32_t i, const char *name, enum interlock_kind kind)
{
    targets[i] = (struct opened_target){.fd = -1, .kind = kind};
    (void)snprintf(targets[i].name, NAME_SIZE, "%s", name);
}

static void setup(void)
{
    char path[4096];
    const char *end = strstr(__FILE__, "test_device.c");

    (void)snprintf(path, sizeof(path), "%.*ssysfs/counters.tree",
                   (int)(end - __FILE__), __FILE__);
    root = tree_make(path);
    memset(drives, 0, sizeof(drives));
    add(0, "nvme0n1", INTERLOCK_BLOCK);
    add(1, "sda1", INTERLOCK_BLOCK);
    add(2, "sda", INTERLOCK_FILE);
    add(3, "", INTERLOCK_CHARACTER);
    add(4, "sdb", INTERLOCK_BLOCK);
    add(5, "nvme1n1", INTERLOCK_BLOCK);
    ck_assert_int_eq(devices_open(&devices, root, targets, DRIVES), 0);
    devices_begin(&devices);
}

/* As the kernel does: in the same file. */
static void rewrite(const char *path, const char *text)
{
    char whole[4096];
    FILE *file;

    (void)snprintf(whole, sizeof(whole), "%s%s", root, path);
    file = fopen(whole, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static void teardown(void)
{
    devices_close(&devices);
    free(root);
}

START_TEST(counters_are_told_as_differences)
{
    const struct row_counters *c = &drives[0].counters;

    rewrite("/sys/devices/pci0000:5d/nvme/nvme0/nvme0n1/stat",
            "  1100  9  80800  12  600  3  4112  9  2  100  21  0  0  0\n");
    devices_since(&devices, drives);
    ck_assert(drives[0].counted && !drives[0].shared);
    ck_assert_uint_eq(c->reads, 100);
    ck_assert_uint_eq(c->reads_merged, 2);
    ck_assert_uint_eq(c->read_bytes, 800 * 512);
    ck_assert_uint_eq(c->writes, 100);
    ck_assert_uint_eq(c->writes_merged, 0);
    ck_assert_uint_eq(c->write_bytes, 16 * 512);
    ck_assert_uint_eq(c->in_flight, 2);
    devices_since(&devices, drives);
    ck_assert_uint_eq(c->reads, 0);
    ck_assert_uint_eq(c->in_flight, 2);
}
END_TEST

/* A file's are those of the drive below it; a partition has its own; what has
 * no drive, or none that can be read, has none. */
START_TEST(whose_counters_they_are)
{
    devices_since(&devices, drives);
    ck_assert(drives[1].counted && !drives[1].shared);
    ck_assert(drives[2].counted && drives[2].shared);
    ck_assert(!drives[3].counted);
    ck_assert(!drives[4].counted);
    ck_assert(drives[5].counted && !drives[5].shared);
}
END_TEST

START_TEST(two_targets_of_a_drive_share_its_counters)
{
    devices_close(&devices);
    add(5, "nvme0n1", INTERLOCK_BLOCK);
    ck_assert_int_eq(devices_open(&devices, root, targets, DRIVES), 0);
    devices_begin(&devices);
    devices_since(&devices, drives);
    ck_assert(drives[0].shared && drives[5].shared && !drives[1].shared);
}
END_TEST

/* Another drive behind the name: nothing is made up. */
START_TEST(counters_that_go_back_count_nothing)
{
    rewrite("/sys/devices/pci0000:5e/nvme/nvme1/nvme1n1/stat",
            "0 0 0 0 7 0 8 0 0 0 0\n");
    devices_since(&devices, drives);
    ck_assert_uint_eq(drives[5].counters.reads, 0);
    ck_assert_uint_eq(drives[5].counters.read_bytes, 0);
    ck_assert_uint_eq(drives[5].counters.writes, 7);
}
END_TEST

START_TEST(texts_that_are_no_counters)
{
    static const char *const texts[] = {"", "1 2 3", "a b c d e f g h i",
                                        "1 2 3 4 5 6 7 8"};
    struct row_counters counters;

    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        ck_assert_int_eq(device_parse(texts[i], &counters), -EBADMSG);
}
END_TEST

static const struct {
    const char *name;
    int32_t mc;
} sensors[] = {
    {"nvme0n1", 41850},          {"nvme1n1", 38000},       {"sda", 33000},
    {"sdb", ROW_NO_TEMPERATURE}, {"", ROW_NO_TEMPERATURE},
};

START_TEST(temperatures_of_sensors)
{
    struct row_health health;

    health_read(root, sensors[_i].name, &health);
    ck_assert_int_eq(health.temperature_mc, sensors[_i].mc);
    ck_assert(!health.known);
}
END_TEST

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        *at++ = (uint8_t)value;
}

/* By the places of the NVMe base specification. */
START_TEST(the_log_of_an_nvme_drive)
{
    uint8_t log[HEALTH_LOG_BYTES] = {0};
    struct row_health health;

    ck_assert_int_eq(health_parse(log, &health), -ENODATA);
    log[0] = 0x02;
    put(log + 1, 345, 2);
    log[5] = 120;
    put(log + 48, 2000, 8);
    put(log + 160, 17, 8);
    put(log + 216, 3, 4);
    put(log + 220, 1, 4);
    put(log + 224, 60, 4);
    put(log + 228, 5, 4);
    ck_assert_int_eq(health_parse(log, &health), 0);
    ck_assert(health.known && health.hot);
    ck_assert_int_eq(health.temperature_mc, 71850);
    ck_assert_uint_eq(health.used_percent, 120);
    ck_assert_uint_eq(health.media_errors, 17);
    ck_assert_uint_eq(health.written_bytes, 2000 * 512000);
    ck_assert_uint_eq(health.throttles, 4);
    ck_assert_uint_eq(health.throttled_s, 65);
    put(log + 56, 1, 8); /* beyond 64 bits */
    ck_assert_int_eq(health_parse(log, &health), 0);
    ck_assert_uint_eq(health.written_bytes, INT64_MAX);
}
END_TEST

/* The watch tells the first look, and a new one when asked. */
START_TEST(a_watch_looks_when_asked)
{
    struct health_watch *watch = health_watch_new(root, targets, DRIVES);

    ck_assert_ptr_nonnull(watch);
    while (health_watch_asked(watch))
        ;
    health_watch_take(watch, drives);
    ck_assert_int_eq(drives[0].health.temperature_mc, 41850);
    ck_assert_int_eq(drives[3].health.temperature_mc, ROW_NO_TEMPERATURE);
    tree_add(root, "/sys/devices/pci0000:5d/nvme/nvme0/hwmon/hwmon3/"
                   "temp1_input = 50000");
    health_watch_ask(watch);
    while (health_watch_asked(watch))
        ;
    health_watch_take(watch, drives);
    ck_assert_int_eq(drives[0].health.temperature_mc, 50000);
    watch = health_watch_free(watch);
    add(0, "", INTERLOCK_CHARACTER);
    ck_assert_ptr_null(health_watch_new(root, targets, 1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device");
    TCase *cases = tcase_create("device");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, counters_are_told_as_differences);
    tcase_add_test(cases, whose_counters_they_are);
    tcase_add_test(cases, two_targets_of_a_drive_share_its_counters);
    tcase_add_test(cases, counters_that_go_back_count_nothing);
    tcase_add_test(cases, texts_that_are_no_counters);
    tcase_add_loop_test(cases, temperatures_of_sensors, 0,
                        ARRAY_LENGTH(sensors));
    tcase_add_test(cases, the_log_of_an_nvme_drive);
    tcase_add_test(cases, a_watch_looks_when_asked);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
