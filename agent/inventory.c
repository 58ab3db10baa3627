#include "agent/inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inventory_drive.h"
#include "agent/inventory_host.h"
#include "agent/inventory_sysfs.h"
#include "agent/inventory_usage.h"
#include "agent/offer.h"

/* Floppies and optical drives are no drives to us. */
static bool is_other_medium(const char *name)
{
    return ((strncmp(name, "sr", 2) == 0 || strncmp(name, "fd", 2) == 0) &&
            name[2] >= '0' && name[2] <= '9');
}

static bool is_drive(const char *root, const char *name)
{
    bool made_up = strncmp(name, "loop", 4) == 0 ||
                   strncmp(name, "zram", 4) == 0 ||
                   strncmp(name, "nbd", 3) == 0;

    if (is_other_medium(name) ||
        sysfs_number(0, "%s/sys/block/%s/hidden", root, name) != 0)
        return false;
    return !made_up || sysfs_number(0, "%s/sys/block/%s/size", root, name) > 0;
}

static bool is_offered(const char *root, const struct offers *offers,
                       const struct drive *drive)
{
    struct offer_subject subject;

    if (offers == NULL || offers->count == 0)
        return false;
    drive_subject(root, drive, drive->name, &subject);
    return offers_match(offers, &subject) != NULL;
}

static void read_drive(const char *root, const char *name,
                       const struct offers *offers, const struct usage *usage,
                       struct drive *drive)
{
    drive_read(root, name, drive);
    drive_read_formats(root, drive);
    drive->used_by_count =
        usage_list(usage, name, drive->used_by, INVENTORY_USES_MAX);
    drive->offered = is_offered(root, offers, drive);
}

static int read_drives(const char *root, const struct sysfs_names *names,
                       const struct offers *offers, struct inventory *inventory)
{
    struct usage *usage;
    int result = usage_read(root, &usage);

    if (result < 0)
        return result;
    inventory->drives =
        calloc(names->count > INVENTORY_DRIVES_MAX ? INVENTORY_DRIVES_MAX
                                                   : names->count + 1,
               sizeof(*inventory->drives));
    if (inventory->drives == NULL) {
        (void)usage_free(usage);
        return -ENOMEM;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (!is_drive(root, names->names[i]))
            continue;
        if (inventory->drive_count == INVENTORY_DRIVES_MAX) {
            inventory->left_out++;
            continue;
        }
        read_drive(root, names->names[i], offers, usage,
                   &inventory->drives[inventory->drive_count++]);
    }
    (void)usage_free(usage);
    return 0;
}

int inventory_read(const char *root, const struct offers *offers,
                   struct inventory **ret_inventory, struct diag *diag)
{
    struct inventory *inventory;
    struct sysfs_names names;
    int result;

    if (strcmp(root, "/") == 0)
        root = "";
    if (!sysfs_exists("%s/sys/block", root))
        return diag_set(diag, -ENOENT,
                        "there is no %s/sys/block to read drives from; mount "
                        "sysfs",
                        root);
    inventory = calloc(1, sizeof(*inventory));
    if (inventory == NULL)
        return diag_set(diag, -ENOMEM, "no memory for the inventory");
    host_facts_read(root, &inventory->host);
    sysfs_list(&names, "%s/sys/block", root);
    result = read_drives(root, &names, offers, inventory);
    sysfs_names_done(&names);
    if (result < 0) {
        (void)inventory_free(inventory);
        return diag_set(diag, result, "cannot tell what uses the drives: %s",
                        strerror(-result));
    }
    *ret_inventory = inventory;
    return 0;
}

struct inventory *inventory_free(struct inventory *inventory)
{
    if (inventory != NULL)
        free(inventory->drives);
    free(inventory);
    return NULL;
}

const struct drive *inventory_find(const struct inventory *inventory,
                                   const char *name)
{
    for (uint32_t i = 0; i < inventory->drive_count; i++)
        if (strcmp(inventory->drives[i].name, name) == 0)
            return &inventory->drives[i];
    return NULL;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
    return (hash ^ 0xffu) * UINT64_C(1099511628211);
}

static uint64_t hash_start(void)
{
    return UINT64_C(14695981039346656037);
}

static uint64_t hash_drive(uint64_t hash, const char *root, const char *name)
{
    static const char *const files[] = {"size", "ro", "diskseq", "hidden"};
    struct sysfs_names holders;
    char text[64];

    hash = hash_text(hash, name);
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        (void)sysfs_text(text, sizeof(text), "%s/sys/block/%s/%s", root, name,
                         files[i]);
        hash = hash_text(hash, text);
    }
    sysfs_list(&holders, "%s/sys/block/%s/holders", root, name);
    for (size_t i = 0; i < holders.count; i++)
        hash = hash_text(hash, holders.names[i]);
    sysfs_names_done(&holders);
    return hash;
}

/*
 * Which devices are mounted, whatever the order and the number of mounts: on
 * hosts of containers these come and go all the time.
 */
static uint64_t hash_mounts(const char *root)
{
    FILE *file = sysfs_open("%s/proc/self/mountinfo", root);
    uint64_t seen[256];
    size_t count = 0;
    uint64_t sum = 0;
    char *line = NULL;
    size_t room = 0;

    if (file == NULL)
        return 0;
    while (getline(&line, &room, file) > 0) {
        char number[32];
        uint64_t hash;
        size_t i = 0;

        if (sscanf(line, "%*s %*s %31s", number) != 1)
            continue;
        hash = hash_text(hash_start(), number);
        while (i < count && seen[i] != hash)
            i++;
        if (i < count || strncmp(number, "0:", 2) == 0)
            continue;
        if (count < ARRAY_LENGTH(seen))
            seen[count++] = hash;
        sum += hash;
    }
    free(line);
    (void)fclose(file);
    return sum;
}

static uint64_t hash_file(uint64_t hash, FILE *file)
{
    char line[256];

    if (file == NULL)
        return hash;
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, " \t\n")] = '\0'; /* the rest is figures */
        hash = hash_text(hash, line);
    }
    (void)fclose(file);
    return hash;
}

uint64_t inventory_fingerprint(const char *root)
{
    struct sysfs_names names;
    uint64_t hash = hash_start();

    if (strcmp(root, "/") == 0)
        root = "";
    sysfs_list(&names, "%s/sys/block", root);
    for (size_t i = 0; i < names.count; i++)
        hash = hash_drive(hash, root, names.names[i]);
    sysfs_names_done(&names);
    hash = hash_file(hash, sysfs_open("%s/proc/swaps", root));
    return hash ^ hash_mounts(root);
}
