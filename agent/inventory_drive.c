#include "agent/inventory_drive.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inventory_sysfs.h"

/* Where the facts of a drive are, while they are read. */
struct source {
    const char *root;
    char block[SYSFS_PATH_SIZE];  /* its folder in /sys/block, real path */
    char device[SYSFS_PATH_SIZE]; /* that of the device behind it; "" none */
    char port[SYSFS_PATH_SIZE];   /* of NVMe: the first controller; else "" */
    struct drive *drive;
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_nvme(const struct drive *drive)
{
    return starts_with(drive->name, "nvme");
}

static bool has_digits(const char **at, size_t least, size_t most)
{
    size_t count = 0;

    while (isxdigit((unsigned char)(*at)[count]) && count < most)
        count++;
    *at += count;
    return count >= least;
}

static bool has_mark(const char **at, char mark)
{
    if (**at != mark)
        return false;
    (*at)++;
    return true;
}

/* 0000:5e:00.0; behind a volume management device the domain is longer. */
static bool is_pci_address(const char *text)
{
    return has_digits(&text, 4, 8) && has_mark(&text, ':') &&
           has_digits(&text, 2, 2) && has_mark(&text, ':') &&
           has_digits(&text, 2, 2) && has_mark(&text, '.') &&
           has_digits(&text, 1, 1) && *text == '\0';
}

/* The last PCI device on the way to a folder of sysfs; "" when none. */
static void pci_of(const char *folder, char *address, size_t size)
{
    char path[SYSFS_PATH_SIZE];
    char *rest = path;
    char *part;

    (void)text_format(path, sizeof(path), "%s", folder);
    address[0] = '\0';
    while ((part = strsep(&rest, "/")) != NULL)
        if (is_pci_address(part))
            (void)text_format(address, size, "%s", part);
}

static void add_address(struct drive *drive, const char *address)
{
    size_t length = strlen(drive->pci_address);

    (void)snprintf(drive->pci_address + length,
                   sizeof(drive->pci_address) - length, "%s%s",
                   length > 0 ? "," : "", address);
}

/*
 * A drive with several controllers hangs below a subsystem, in which every
 * controller is a link.
 */
static void read_ports(struct source *source)
{
    struct sysfs_names entries;

    sysfs_list(&entries, "%s", source->device);
    for (size_t i = 0; i < entries.count; i++) {
        const char *name = entries.names[i];
        char folder[SYSFS_PATH_SIZE];
        char address[32];

        if (!starts_with(name, "nvme") || strchr(name + 4, 'n') != NULL ||
            !sysfs_real(folder, sizeof(folder), "%s/%s", source->device, name))
            continue;
        pci_of(folder, address, sizeof(address));
        if (address[0] == '\0')
            continue; /* over a network */
        if (source->port[0] == '\0')
            (void)text_format(source->port, sizeof(source->port), "%s", folder);
        add_address(source->drive, address);
    }
    sysfs_names_done(&entries);
}

static void read_pci(struct source *source)
{
    pci_of(source->block, source->drive->pci_address,
           sizeof(source->drive->pci_address));
    if (!is_nvme(source->drive))
        return;
    if (source->drive->pci_address[0] == '\0')
        read_ports(source);
    else
        (void)text_format(source->port, sizeof(source->port), "%s",
                          source->device);
}

/* The slot that holds this very device: /sys/bus/pci/slots/12/address. */
static void read_pci_slot(struct source *source, const char *address)
{
    struct sysfs_names slots;
    size_t length = strcspn(address, ".");

    sysfs_list(&slots, "%s/sys/bus/pci/slots", source->root);
    for (size_t i = 0; i < slots.count; i++) {
        char text[32];

        if (sysfs_text(text, sizeof(text), "%s/sys/bus/pci/slots/%s/address",
                       source->root, slots.names[i]) &&
            strlen(text) == length && strncmp(text, address, length) == 0)
            (void)text_format(source->drive->slot, sizeof(source->drive->slot),
                              "%s", slots.names[i]);
    }
    sysfs_names_done(&slots);
}

static void read_pci_link(struct source *source)
{
    struct drive *drive = source->drive;
    char address[32];

    pci_of(source->port, address, sizeof(address));
    if (address[0] == '\0')
        return;
    (void)sysfs_text(drive->link_speed, sizeof(drive->link_speed),
                     "%s/sys/bus/pci/devices/%s/current_link_speed",
                     source->root, address);
    drive->link_width = (uint32_t)sysfs_number(
        0, "%s/sys/bus/pci/devices/%s/current_link_width", source->root,
        address);
    read_pci_slot(source, address);
}

/* .../ata3/host2/target2:0:0/2:0:0:0 -> .../ata3/link3/ata_link/link3 */
static void read_ata_link(struct source *source)
{
    char path[SYSFS_PATH_SIZE];
    char *ata;
    char *end;
    unsigned long number;

    (void)text_format(path, sizeof(path), "%s", source->device);
    ata = strstr(path, "/ata");
    if (ata == NULL || !isdigit((unsigned char)ata[4]))
        return;
    number = strtoul(ata + 4, &end, 10);
    *end = '\0';
    (void)sysfs_text(
        source->drive->link_speed, sizeof(source->drive->link_speed),
        "%s/link%lu/ata_link/link%lu/sata_spd", path, number, number);
    if (source->drive->link_speed[0] == '<') /* "<unknown>" */
        source->drive->link_speed[0] = '\0';
}

/* An enclosure names the bay: .../2:0:0:0/enclosure_device:Slot 05 */
static void read_bay(struct source *source)
{
    static const char prefix[] = "enclosure_device:";
    struct sysfs_names entries;

    sysfs_list(&entries, "%s", source->device);
    for (size_t i = 0; i < entries.count; i++) {
        if (!starts_with(entries.names[i], prefix))
            continue;
        (void)text_format(source->drive->slot, sizeof(source->drive->slot),
                          "%s", entries.names[i] + sizeof(prefix) - 1);
        text_clean(source->drive->slot);
    }
    sysfs_names_done(&entries);
}

static void read_numa(struct source *source)
{
    char address[32];
    uint64_t node;

    pci_of(source->port[0] != '\0' ? source->port : source->block, address,
           sizeof(address));
    if (address[0] == '\0')
        return;
    /* -1, no node, is no number to sysfs_number(). */
    node = sysfs_number(UINT32_MAX, "%s/sys/bus/pci/devices/%s/numa_node",
                        source->root, address);
    if (node < UINT32_MAX)
        source->drive->numa_node = (uint32_t)node + 1;
}

static void read_scsi_serial(struct source *source)
{
    uint8_t page[256];
    size_t length =
        sysfs_bytes(page, sizeof(page), "%s/vpd_pg80", source->device);
    char *serial = source->drive->serial;
    size_t told;

    if (length < 5 || page[1] != 0x80)
        return;
    told = (size_t)page[2] << 8 | page[3];
    if (told > length - 4)
        told = length - 4;
    if (told > TEXT_SIZE - 1)
        told = TEXT_SIZE - 1;
    memcpy(serial, page + 4, told);
    serial[told] = '\0';
    text_clean(serial);
}

static void read_serial(struct source *source)
{
    struct drive *drive = source->drive;

    if (!sysfs_text(drive->serial, sizeof(drive->serial), "%s/serial",
                    source->device) &&
        !sysfs_text(drive->serial, sizeof(drive->serial), "%s/serial",
                    source->block))
        read_scsi_serial(source);
}

/* SCSI drives also have a vendor worth telling; "ATA" and numbers are none. */
static void read_model(struct source *source)
{
    struct drive *drive = source->drive;
    char vendor[64];
    char model[TEXT_SIZE];

    if (!sysfs_text(model, sizeof(model), "%s/model", source->device) &&
        !sysfs_text(model, sizeof(model), "%s/name", source->device))
        return;
    (void)sysfs_text(vendor, sizeof(vendor), "%s/vendor", source->device);
    if (vendor[0] == '\0' || starts_with(vendor, "0x") ||
        strcmp(vendor, "ATA") == 0 || strcmp(vendor, "NVMe") == 0)
        vendor[0] = '\0';
    (void)snprintf(drive->model, sizeof(drive->model), "%s%s%.190s", vendor,
                   vendor[0] != '\0' ? " " : "", model);
    text_clean(drive->model);
}

/* What the kernel makes up itself has no maker; say what it is. */
static void read_virtual_model(struct source *source)
{
    struct drive *drive = source->drive;
    char text[TEXT_SIZE];

    if (sysfs_text(text, sizeof(text), "%s/loop/backing_file", source->block))
        (void)snprintf(drive->model, sizeof(drive->model), "loop on %.240s",
                       text);
    else if (sysfs_text(text, sizeof(text), "%s/dm/name", source->block))
        (void)snprintf(drive->model, sizeof(drive->model),
                       "device mapper %.240s", text);
    else if (sysfs_text(text, sizeof(text), "%s/md/level", source->block))
        (void)snprintf(drive->model, sizeof(drive->model), "md %.240s", text);
    else if (sysfs_exists("%s/disksize", source->block))
        (void)snprintf(drive->model, sizeof(drive->model), "zram");
    text_clean(drive->model);
}

static void read_firmware(struct source *source)
{
    static const char *const files[] = {"firmware_rev", "rev", "fwrev"};
    struct drive *drive = source->drive;

    for (size_t i = 0; i < ARRAY_LENGTH(files); i++)
        if (sysfs_text(drive->firmware, sizeof(drive->firmware), "%s/%s",
                       source->device, files[i]))
            return;
}

/* The worldwide name as the kernel composes it, else what it is made of. */
static void read_wwn(struct source *source)
{
    static const struct {
        const char *file;
        const char *prefix;
    } parts[] = {{"nguid", "nguid."},
                 {"eui", "eui."},
                 {"dm/uuid", ""},
                 {"md/uuid", "uuid."}};
    struct drive *drive = source->drive;
    char text[TEXT_SIZE];

    if (sysfs_text(drive->wwn, sizeof(drive->wwn), "%s/wwid", source->block) ||
        sysfs_text(drive->wwn, sizeof(drive->wwn), "%s/wwid", source->device))
        return;
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        if (!sysfs_text(text, sizeof(text), "%s/%s", source->block,
                        parts[i].file))
            continue;
        (void)snprintf(drive->wwn, sizeof(drive->wwn), "%s%.240s",
                       parts[i].prefix, text);
        return;
    }
}

static void read_queue(struct source *source)
{
    struct drive *drive = source->drive;
    const char *block = source->block;
    char text[TEXT_SIZE];
    uint64_t rotational;

    drive->logical_block =
        (uint32_t)sysfs_number(0, "%s/queue/logical_block_size", block);
    drive->physical_block =
        (uint32_t)sysfs_number(0, "%s/queue/physical_block_size", block);
    rotational = sysfs_number(2, "%s/queue/rotational", block);
    drive->rotational = rotational == 0   ? INVENTORY_NO
                        : rotational == 1 ? INVENTORY_YES
                                          : INVENTORY_UNKNOWN;
    (void)sysfs_text(drive->write_cache, sizeof(drive->write_cache),
                     "%s/queue/write_cache", block);
    if (!sysfs_text(text, sizeof(text), "%s/queue/scheduler", block))
        return;

    /* "mq-deadline kyber [none]": the active one is in brackets. */
    char *begin = strchr(text, '[');
    char *end = begin != NULL ? strchr(begin, ']') : NULL;

    if (end != NULL)
        *end = '\0';
    (void)text_format(drive->scheduler, sizeof(drive->scheduler), "%s",
                      end != NULL ? begin + 1 : text);
}

/* Which link of /dev/disk/by-id tells people most: lower is better. */
static int link_rank(const char *name)
{
    static const char *const prefixes[] = {
        "nvme-eui.", "nvme-nvme.", "nvme-uuid.", "nvme-", "ata-",
        "scsi-S",    "scsi-",      "virtio-",    "mmc-",  "usb-",
        "dm-name-",  "md-name-",   "wwn-",
    };
    static const int ranks[] = {20, 20, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    _Static_assert(ARRAY_LENGTH(ranks) == ARRAY_LENGTH(prefixes), "in pairs");
    for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
        if (starts_with(name, prefixes[i]))
            return ranks[i];
    return 15;
}

/*
 * Of equally telling links the longest: it has the namespace behind the serial,
 * without which it may lead to another namespace after a reboot.
 */
static void read_by_id(struct source *source)
{
    struct drive *drive = source->drive;
    struct sysfs_names links;
    const char *best = NULL;

    sysfs_list(&links, "%s/dev/disk/by-id", source->root);
    for (size_t i = 0; i < links.count; i++) {
        const char *name = links.names[i];
        char target[TEXT_SIZE];

        if (!sysfs_link_name(target, sizeof(target), "%s/dev/disk/by-id/%s",
                             source->root, name) ||
            strcmp(target, drive->name) != 0)
            continue;
        if (best == NULL || link_rank(name) < link_rank(best) ||
            (link_rank(name) == link_rank(best) && strlen(name) > strlen(best)))
            best = name;
    }
    if (best != NULL)
        (void)text_format(drive->by_id, sizeof(drive->by_id),
                          "/dev/disk/by-id/%s", best);
    sysfs_names_done(&links);
}

/* cciss!c0d0 is /dev/cciss/c0d0 */
static void device_path(const char *name, char *path, size_t size)
{
    (void)text_format(path, size, "/dev/%s", name);
    for (char *mark = strchr(path, '!'); mark != NULL; mark = strchr(mark, '!'))
        *mark = '/';
}

void drive_read(const char *root, const char *name, struct drive *ret_drive)
{
    struct source source = {.root = strcmp(root, "/") == 0 ? "" : root,
                            .drive = ret_drive};

    *ret_drive = (struct drive){0};
    (void)text_format(ret_drive->name, sizeof(ret_drive->name), "%s", name);
    device_path(name, ret_drive->path, sizeof(ret_drive->path));
    if (!sysfs_real(source.block, sizeof(source.block), "%s/sys/block/%s",
                    source.root, name))
        return;
    (void)sysfs_real(source.device, sizeof(source.device), "%s/device",
                     source.block);

    ret_drive->size_bytes = sysfs_number(0, "%s/size", source.block) * 512;
    ret_drive->read_only = sysfs_number(0, "%s/ro", source.block) != 0;
    ret_drive->disk_sequence = sysfs_number(0, "%s/diskseq", source.block);
    read_queue(&source);
    read_wwn(&source);
    read_by_id(&source);
    if (source.device[0] == '\0') {
        read_virtual_model(&source);
        return;
    }
    read_model(&source);
    read_serial(&source);
    read_firmware(&source);
    read_pci(&source);
    read_pci_link(&source);
    read_ata_link(&source);
    read_bay(&source);
    read_numa(&source);
}

static void add_links(const char *root, const char *folder, const char *name,
                      struct offer_subject *subject)
{
    struct sysfs_names links;

    sysfs_list(&links, "%s%s", root, folder);
    for (size_t i = 0; i < links.count; i++) {
        char target[TEXT_SIZE];
        char *text = subject->links[subject->link_count];

        if (subject->link_count == OFFER_LINKS_MAX)
            break;
        if (sysfs_link_name(target, sizeof(target), "%s%s/%s", root, folder,
                            links.names[i]) &&
            strcmp(target, name) == 0 &&
            text_format(text, PATH_SIZE, "%s/%s", folder, links.names[i]))
            subject->link_count++;
    }
    sysfs_names_done(&links);
}

void drive_subject(const char *root, const struct drive *drive,
                   const char *name, struct offer_subject *ret_subject)
{
    static const char *const folders[] = {"/dev/disk/by-id",
                                          "/dev/disk/by-path", "/dev/mapper"};
    bool is_partition = strcmp(drive->name, name) != 0;

    if (strcmp(root, "/") == 0)
        root = "";
    *ret_subject = (struct offer_subject){0};
    device_path(name, ret_subject->path, sizeof(ret_subject->path));
    if (is_partition)
        device_path(drive->name, ret_subject->drive,
                    sizeof(ret_subject->drive));
    memcpy(ret_subject->serial, drive->serial, sizeof(drive->serial));
    memcpy(ret_subject->model, drive->model, sizeof(drive->model));
    for (size_t i = 0; i < ARRAY_LENGTH(folders); i++) {
        add_links(root, folders[i], name, ret_subject);
        if (is_partition)
            add_links(root, folders[i], drive->name, ret_subject);
    }
}
