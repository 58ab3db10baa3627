/* The inventory of hosts we do not have: trees as their kernels print them. */
#include "agent/inventory.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inventory_drive.h"
#include "agent/inventory_usage.h"
#include "agent/offer.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

static char *root;
static struct inventory *inventory;

/* The folder sysfs/ beside this file. */
static void load(const char *name)
{
    char path[4096];
    struct diag diag;

    (void)snprintf(path, sizeof(path), "%.*s/sysfs/%s",
                   (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
    root = tree_make(path);
    ck_assert_msg(inventory_read(root, NULL, &inventory, &diag) == 0, "%s",
                  diag.text);
}

static void unload(void)
{
    inventory = inventory_free(inventory);
    free(root);
}

static void read_again(const struct offers *offers)
{
    struct diag diag;

    inventory = inventory_free(inventory);
    ck_assert_int_eq(inventory_read(root, offers, &inventory, &diag), 0);
}

static const struct drive *drive(const char *name)
{
    const struct drive *found = inventory_find(inventory, name);

    ck_assert_msg(found != NULL, "no drive %s", name);
    return found;
}

static void check_uses(const char *name, const char *const *uses)
{
    const struct drive *d = drive(name);
    uint32_t count = 0;

    for (; uses[count] != NULL; count++)
        ck_assert_msg(count < d->used_by_count &&
                          strcmp(d->used_by[count], uses[count]) == 0,
                      "%s: use %u is '%s', not '%s'", name, count,
                      count < d->used_by_count ? d->used_by[count] : "none",
                      uses[count]);
    ck_assert_msg(count == d->used_by_count, "%s: one use more: '%s'", name,
                  d->used_by[count]);
}

START_TEST(an_nvme_drive_tells_all)
{
    load("p4510.tree");
    const struct drive *d = drive("nvme0n1");

    ck_assert_str_eq(d->path, "/dev/nvme0n1");
    ck_assert_str_eq(
        d->by_id,
        "/dev/disk/by-id/nvme-INTEL_SSDPE2KX010T8_PHLJ913201AB1P0FGN_1");
    ck_assert_str_eq(d->model, "INTEL SSDPE2KX010T8");
    ck_assert_str_eq(d->serial, "PHLJ913201AB1P0FGN");
    ck_assert_str_eq(d->firmware, "VDV10131");
    ck_assert_str_eq(d->wwn, "eui.01000000010000005cd2e4b1a8d15051");
    ck_assert_uint_eq(d->size_bytes, 1000204886016);
    ck_assert_uint_eq(d->logical_block, 512);
    ck_assert_uint_eq(d->physical_block, 4096);
    ck_assert_str_eq(d->pci_address, "0000:5e:00.0");
    ck_assert_str_eq(d->slot, "12");
    ck_assert_str_eq(d->link_speed, "8.0 GT/s PCIe");
    ck_assert_uint_eq(d->link_width, 4);
    ck_assert_str_eq(d->write_cache, "write through");
    ck_assert_str_eq(d->scheduler, "none");
    ck_assert_int_eq(d->rotational, INVENTORY_NO);
    ck_assert_uint_eq(d->numa_node, 1); /* node 0 */
    ck_assert_uint_eq(d->disk_sequence, 9);
    ck_assert(!d->read_only);
    ck_assert(!d->offered);
    ck_assert_uint_eq(d->used_by_count, 0);
    ck_assert_str_eq(d->formats, ""); /* no drive answered */
    unload();
}
END_TEST

START_TEST(a_drive_behind_vmd_has_a_long_address)
{
    load("p4510.tree");
    const struct drive *d = drive("nvme1n1");

    ck_assert_str_eq(d->pci_address, "10000:01:00.0");
    ck_assert_str_eq(d->slot, "0-1");
    ck_assert_uint_eq(d->numa_node, 2);
    ck_assert_uint_eq(d->logical_block, 4096);
    unload();
}
END_TEST

/* The serial is binary, the bay an enclosure's, the link ATA's own. */
START_TEST(a_sata_drive_behind_ahci)
{
    load("p4510.tree");
    const struct drive *d = drive("sda");

    ck_assert_str_eq(d->model, "SAMSUNG MZ7LM480"); /* without "ATA" */
    ck_assert_str_eq(d->serial, "S2UJNX0J402155");
    ck_assert_str_eq(d->firmware, "104Q");
    ck_assert_str_eq(d->wwn, "naa.5002538c40a1b2c3");
    ck_assert_str_eq(
        d->by_id,
        "/dev/disk/by-id/ata-SAMSUNG_MZ7LM480HMHQ-00005_S2UJNX0J402155");
    ck_assert_str_eq(d->pci_address, "0000:00:17.0");
    ck_assert_str_eq(d->slot, "Slot 05");
    ck_assert_str_eq(d->link_speed, "6.0 Gbps");
    ck_assert_uint_eq(d->link_width, 0);
    ck_assert_str_eq(d->scheduler, "none");
    ck_assert_str_eq(d->write_cache, "write back");
    unload();
}
END_TEST

/* Partitions, empty loops and zrams and optical drives are not drives. */
START_TEST(only_drives_are_listed)
{
    static const char *const names[] = {"dm-0", "loop1", "nvme0n1", "nvme1n1",
                                        "sda"};

    load("p4510.tree");
    ck_assert_uint_eq(inventory->drive_count, ARRAY_LENGTH(names));
    for (uint32_t i = 0; i < ARRAY_LENGTH(names); i++)
        ck_assert_str_eq(inventory->drives[i].name, names[i]);
    ck_assert_uint_eq(inventory->left_out, 0);
    unload();
}
END_TEST

START_TEST(uses_are_found_wherever_they_are)
{
    load("p4510.tree");
    check_uses("sda", (const char *const[]){"partition sda2: mounted on /",
                                            "partition sda3: swap", NULL});
    check_uses("nvme1n1",
               (const char *const[]){
                   "partition nvme1n1p1: held by dm-0 (vg0-data)", NULL});
    check_uses("dm-0",
               (const char *const[]){
                   "mounted on /var/lib/pg in the mount namespace of 4711 "
                   "(postgres)",
                   NULL});
    check_uses("loop1",
               (const char *const[]){"mounted on /snap/core 20", NULL});
    unload();
}
END_TEST

START_TEST(what_the_kernel_makes_up_says_so)
{
    load("p4510.tree");
    ck_assert_str_eq(drive("loop1")->model,
                     "loop on /var/lib/snapd/snaps/core20_2318.snap");
    ck_assert(drive("loop1")->read_only);
    ck_assert_str_eq(drive("dm-0")->model, "device mapper vg0-data");
    ck_assert_int_eq(strncmp(drive("dm-0")->wwn, "LVM-", 4), 0);
    ck_assert_str_eq(drive("dm-0")->scheduler, "none");
    ck_assert_str_eq(drive("dm-0")->serial, "");
    ck_assert_str_eq(drive("dm-0")->pci_address, "");
    ck_assert_uint_eq(drive("dm-0")->numa_node, 0);
    unload();
}
END_TEST

START_TEST(host_facts)
{
    load("p4510.tree");
    ck_assert_str_eq(inventory->host.hostname, "stor07");
    ck_assert_str_eq(inventory->host.kernel, "5.14.0-427.13.1.el9_4.x86_64");
    ck_assert_uint_eq(inventory->host.cpus, 48); /* allowed, of 96 */
    ck_assert_str_eq(inventory->host.cpu_model,
                     "Intel(R) Xeon(R) Gold 6248R CPU @ 3.00GHz");
    ck_assert_uint_eq(inventory->host.memory_bytes, UINT64_C(404410585088));
    ck_assert_str_eq(inventory->host.os, "Rocky Linux 9.4 (Blue Onyx)");
    unload();
    load("virtual.tree");
    ck_assert_uint_eq(inventory->host.cpus, 2); /* "1,3" */
    unload();
}
END_TEST

/* The head of a multipath drive is the drive; its hidden paths are not. */
START_TEST(a_dual_port_drive_has_both_addresses)
{
    load("pm1725b.tree");
    const struct drive *d = drive("nvme0n1");

    ck_assert_ptr_null(inventory_find(inventory, "nvme0c0n1"));
    ck_assert_ptr_null(inventory_find(inventory, "nvme0c1n1"));
    ck_assert_str_eq(d->model, "SAMSUNG MZWLL1T6HAJQ-00005");
    ck_assert_str_eq(d->serial, "S4C9NF0M500129");
    ck_assert_str_eq(d->firmware, "GPJA0B3Q");
    ck_assert_str_eq(d->wwn, "eui.334343394d5001290025384100000001");
    ck_assert_str_eq(d->pci_address, "0000:3b:00.0,0000:86:00.0");
    ck_assert_str_eq(d->slot, "4"); /* of the first address, as the link */
    ck_assert_str_eq(d->link_speed, "8.0 GT/s PCIe");
    ck_assert_uint_eq(d->link_width, 2);
    ck_assert_uint_eq(d->numa_node, 1);
    ck_assert_str_eq(d->by_id,
                     "/dev/disk/by-id/"
                     "nvme-SAMSUNG_MZWLL1T6HAJQ-00005_S4C9NF0M500129");
    unload();
}
END_TEST

START_TEST(a_drive_over_the_network_has_no_address)
{
    load("pm1725b.tree");
    const struct drive *d = drive("nvme9n1");

    ck_assert_str_eq(d->serial, "5ea2b1c77d90f3aa4d1e");
    ck_assert_str_eq(d->pci_address, "");
    ck_assert_str_eq(d->slot, "");
    ck_assert_str_eq(d->link_speed, "");
    ck_assert_uint_eq(d->numa_node, 0);
    check_uses("nvme9n1",
               (const char *const[]){
                   "open for writing in qemu-system-x86 (pid 812)", NULL});
    unload();
}
END_TEST

START_TEST(two_paths_to_one_drive_are_told_by_its_name)
{
    load("pm1725b.tree");
    ck_assert_str_eq(drive("sdb")->wwn, drive("sdc")->wwn);
    ck_assert_str_eq(drive("sdb")->serial, "ZL2B4K1T0000C1234567");
    ck_assert_str_eq(drive("sdb")->model, "SEAGATE ST16000NM004G");
    ck_assert_int_eq(drive("sdb")->rotational, INVENTORY_YES);
    ck_assert_str_eq(drive("sdb")->slot, "");
    check_uses("sdb", (const char *const[]){"mounted on /srv", NULL});
    check_uses("sdc", (const char *const[]){NULL}); /* smartd only reads */
    unload();
}
END_TEST

START_TEST(a_member_of_a_mounted_btrfs_is_in_use)
{
    load("pm1725b.tree");
    check_uses("nvme0n1",
               (const char *const[]){"member of the mounted btrfs "
                                     "2f0b5c8e-77d2-4b69-8a35-1e9c3f2d4a66",
                                     NULL});
    unload();
}
END_TEST

START_TEST(virtual_drives_tell_little)
{
    load("virtual.tree");
    ck_assert_str_eq(drive("vda")->serial, "root-disk-01");
    ck_assert_str_eq(drive("vda")->model, "");
    ck_assert_str_eq(drive("vda")->pci_address, "0000:00:05.0");
    ck_assert_uint_eq(drive("vda")->numa_node, 0); /* "-1" */
    ck_assert_str_eq(drive("vdb")->serial, "");
    ck_assert(drive("vdb")->read_only);
    ck_assert_str_eq(drive("zram3")->model, "zram");
    ck_assert_str_eq(drive("md127")->model, "md raid10");
    ck_assert_str_eq(drive("md127")->wwn,
                     "uuid.3aaa0122-29827cfa-5331ad66-ca767371");
    check_uses("zram3", (const char *const[]){"swap", NULL});
    check_uses("vdb", (const char *const[]){"behind loop7", NULL});
    unload();
}
END_TEST

/* Mount and device names are people's: they go into JSON. */
START_TEST(texts_are_clean)
{
    load("virtual.tree");
    tree_add(root, "/sys/devices/pci0000:00/0000:00:05.0/virtio5/block/vda/"
                   "serial = a\\xff\\xc3\\x28b\\x1b\\xc3\\xa4\\xed\\xa0\\x80");
    read_again(NULL);
    ck_assert_str_eq(drive("vda")->serial, "a\?\?(b\?\xc3\xa4\?\?\?");
    unload();
}
END_TEST

START_TEST(nonsense_is_unknown)
{
    load("virtual.tree");
    tree_add(root, "/sys/block/vda/size = lots");
    tree_add(root, "/sys/block/vda/queue/rotational = 7");
    tree_add(root, "/sys/block/vda/queue/logical_block_size = -512");
    tree_add(root, "/sys/block/vda/queue/scheduler = [none");
    read_again(NULL);
    ck_assert_uint_eq(drive("vda")->size_bytes, 0);
    ck_assert_int_eq(drive("vda")->rotational, INVENTORY_UNKNOWN);
    ck_assert_uint_eq(drive("vda")->logical_block, 0);
    unload();
}
END_TEST

START_TEST(no_sysfs_is_an_error)
{
    struct inventory *none = NULL;
    struct diag diag;

    ck_assert_int_eq(inventory_read("/nonexistent", NULL, &none, &diag),
                     -ENOENT);
    ck_assert_ptr_null(none);
    ck_assert_ptr_nonnull(strstr(diag.text, "/nonexistent/sys/block"));
}
END_TEST

START_TEST(offers_are_marked)
{
    static struct offers offers;
    struct diag diag;

    load("p4510.tree");
    ck_assert_int_eq(offers_add(&offers, "serial=PHLJ913201AB1P0FGN", &diag),
                     0);
    ck_assert_int_eq(offers_add(&offers, "id=ata-SAMSUNG_*", &diag), 0);
    ck_assert_int_eq(offers_add(&offers, "/dev/mapper/vg0-*", &diag), 0);
    read_again(&offers);
    ck_assert(drive("nvme0n1")->offered);
    ck_assert(!drive("nvme1n1")->offered);
    ck_assert(drive("sda")->offered);
    ck_assert(drive("dm-0")->offered);
    unload();
}
END_TEST

/* Each line is a thing that happens to a host. */
static const char *const changes[] = {
    "/sys/block/vda/size = 41943040",
    "/sys/block/vda/ro = 1",
    "/sys/block/vda/diskseq = 99",
    "/sys/block/sdz/size = 100",
    "/sys/block/vda/holders/dm-0 = x",
    "/proc/self/mountinfo = 22 1 252:0 / / rw - ext4 /dev/vda rw",
    "/proc/swaps = Filename\\x0a/dev/vdb partition 5 0 -2",
};

START_TEST(fingerprint_sees_every_change)
{
    load("virtual.tree");
    uint64_t before = inventory_fingerprint(root);

    ck_assert_uint_eq(inventory_fingerprint(root), before);
    tree_add(root, changes[_i]);
    ck_assert_uint_ne(inventory_fingerprint(root), before);
    unload();
}
END_TEST

/* Containers come and go on the same drive; that is no change of drives. */
START_TEST(fingerprint_does_not_flicker)
{
    uint64_t before;

    load("virtual.tree");
    tree_add(root, "/proc/self/mountinfo = "
                   "22 1 252:0 / / rw - ext4 /dev/vda rw\\x0a"
                   "23 22 0:44 / /proc rw - proc proc rw");
    tree_add(root, "/proc/swaps = Filename\\x0a/dev/zram3 partition 1 777 -2");
    before = inventory_fingerprint(root);
    tree_add(root, "/proc/self/mountinfo = "
                   "22 1 252:0 / / rw - ext4 /dev/vda rw\\x0a"
                   "40 22 0:60 / /run/c1 rw - overlay overlay rw\\x0a"
                   "41 22 252:0 /c /run/c2 rw - ext4 /dev/vda rw");
    tree_add(root, "/proc/swaps = Filename\\x0a/dev/zram3 partition 1 888 -2");
    ck_assert_uint_eq(inventory_fingerprint(root), before);
    unload();
}
END_TEST

START_TEST(the_real_host_can_be_read)
{
    struct diag diag;

    ck_assert_msg(inventory_read("/", NULL, &inventory, &diag) == 0, "%s",
                  diag.text);
    ck_assert_str_ne(inventory->host.kernel, "");
    ck_assert_uint_gt(inventory->host.cpus, 0);
    ck_assert_uint_gt(inventory->host.memory_bytes, 0);
    ck_assert_uint_eq(inventory_fingerprint("/"), inventory_fingerprint("/"));
    inventory = inventory_free(inventory);
}
END_TEST

/* An answer as a drive gives it: 512 in use, 4096, 4096 with metadata. */
START_TEST(formats_of_an_identify_answer)
{
    uint8_t identify[NVME_IDENTIFY_BYTES] = {0};
    char text[TEXT_SIZE];

    identify[25] = 3;
    identify[26] = 1;
    identify[128 + 2] = 9;
    identify[132 + 2] = 12;
    identify[136] = 8;
    identify[136 + 2] = 12;
    identify[140 + 2] = 0; /* not available */
    drive_formats(identify, text, sizeof(text));
    ck_assert_str_eq(text, "512 *4096 4096+8");

    memset(identify, 0xff, sizeof(identify)); /* a liar */
    drive_formats(identify, text, sizeof(text));
    ck_assert_str_eq(text, "");

    memset(identify, 0, sizeof(identify));
    identify[25] = 255; /* more formats than there can be */
    for (int i = 0; i < 64; i++)
        identify[128 + i * 4 + 2] = 31;
    drive_formats(identify, text, sizeof(text));
    ck_assert_uint_lt(strlen(text), sizeof(text));
    ck_assert_int_eq(strncmp(text, "*2147483648 2147483648", 22), 0);

    identify[25] = 17;
    identify[26] = 1 << 5 | 1; /* the upper bits count beyond 16 formats */
    drive_formats(identify, text, sizeof(text));
    ck_assert_ptr_nonnull(strchr(text, '*'));
    identify[25] = 15;
    drive_formats(identify, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "2147483648 *2147483648"));
}
END_TEST

START_TEST(openers_are_named)
{
    struct usage *usage;
    char text[TEXT_SIZE];

    load("pm1725b.tree");
    ck_assert_int_eq(usage_read(root, &usage), 0);
    usage_openers(usage, "nvme9n1", text, sizeof(text));
    ck_assert_str_eq(text, "qemu-system-x86 (pid 812)");
    usage_openers(usage, "sdc", text, sizeof(text));
    ck_assert_str_eq(text, "smartd (pid 813)");
    usage_openers(usage, "sdb", text, sizeof(text));
    ck_assert_str_eq(text, "");
    usage = usage_free(usage);
    unload();
}
END_TEST

/* nvmet holds nothing exclusively: only its own lists tell. */
START_TEST(a_drive_exported_by_nvmet_is_in_use)
{
    load("p4510.tree");
    tree_add(root, "/sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1/"
                   "device_path = /dev/nvme0n1");
    tree_add(root, "/sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1/"
                   "enable = 0");
    read_again(NULL);
    check_uses("nvme0n1", (const char *const[]){NULL});
    tree_add(root, "/sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1/"
                   "enable = 1");
    read_again(NULL);
    check_uses("nvme0n1",
               (const char *const[]){"exported by nvmet as nqn.x", NULL});
    unload();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inventory");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, an_nvme_drive_tells_all);
    tcase_add_test(tests, a_drive_behind_vmd_has_a_long_address);
    tcase_add_test(tests, a_sata_drive_behind_ahci);
    tcase_add_test(tests, only_drives_are_listed);
    tcase_add_test(tests, uses_are_found_wherever_they_are);
    tcase_add_test(tests, what_the_kernel_makes_up_says_so);
    tcase_add_test(tests, host_facts);
    tcase_add_test(tests, a_dual_port_drive_has_both_addresses);
    tcase_add_test(tests, a_drive_over_the_network_has_no_address);
    tcase_add_test(tests, two_paths_to_one_drive_are_told_by_its_name);
    tcase_add_test(tests, a_member_of_a_mounted_btrfs_is_in_use);
    tcase_add_test(tests, virtual_drives_tell_little);
    tcase_add_test(tests, texts_are_clean);
    tcase_add_test(tests, nonsense_is_unknown);
    tcase_add_test(tests, no_sysfs_is_an_error);
    tcase_add_test(tests, offers_are_marked);
    tcase_add_loop_test(tests, fingerprint_sees_every_change, 0,
                        ARRAY_LENGTH(changes));
    tcase_add_test(tests, fingerprint_does_not_flicker);
    tcase_add_test(tests, the_real_host_can_be_read);
    tcase_add_test(tests, formats_of_an_identify_answer);
    tcase_add_test(tests, openers_are_named);
    tcase_add_test(tests, a_drive_exported_by_nvmet_is_in_use);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
