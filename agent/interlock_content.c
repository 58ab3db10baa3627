#include "agent/interlock_content.h"

#include <blkid.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/inventory_sysfs.h"

#define SIGNATURES_MAX 32u

static const struct {
    const char *usage; /* libblkid's word */
    const char *noun;
} usages[] = {
    {"filesystem", "file system"},
    {"raid", "RAID or volume member"},
    {"crypto", "encrypted volume"},
};

static const char *noun_of(blkid_probe probe)
{
    const char *usage = "";

    (void)blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(usages); i++)
        if (strcmp(usage, usages[i].usage) == 0)
            return usages[i].noun;
    return "signature";
}

static void add(char *text, const char *type, const char *noun,
                const char *label)
{
    size_t length = strlen(text);

    (void)snprintf(text + length, TEXT_SIZE - length, "%s%.40s %s%s%.64s%s",
                   length > 0 ? ", " : "", type, noun,
                   label[0] != '\0' ? " \"" : "", label,
                   label[0] != '\0' ? "\"" : "");
}

/* What the probe has just found. */
static void describe(blkid_probe probe, char *text)
{
    const char *type = NULL;
    const char *label = "";

    if (blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL) == 0) {
        add(text, type, "partition table", "");
        return;
    }
    (void)blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
    if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) == 0)
        add(text, type, noun_of(probe), label);
    else
        add(text, "unnamed", "signature", "");
}

static enum interlock_content probe_all(blkid_probe probe, char *text)
{
    int result = 0;

    for (uint32_t i = 0; i < SIGNATURES_MAX && result == 0; i++) {
        errno = 0;
        result = blkid_do_probe(probe);
        if (result == 0)
            describe(probe, text);
    }
    text_clean(text);
    if (text[0] != '\0')
        return INTERLOCK_CONTENT_FOUND;
    if (result == 1)
        return INTERLOCK_CONTENT_NONE;
    (void)snprintf(text, TEXT_SIZE, "looking for signatures failed: %s",
                   errno != 0 ? strerror(errno) : "libblkid gave up");
    return INTERLOCK_CONTENT_UNKNOWN;
}

enum interlock_content content_probe(int fd, char *text)
{
    blkid_probe probe = blkid_new_probe();
    enum interlock_content content = INTERLOCK_CONTENT_UNKNOWN;

    text[0] = '\0';
    if (probe != NULL && blkid_probe_set_device(probe, fd, 0, 0) == 0 &&
        blkid_probe_enable_superblocks(probe, 1) == 0 &&
        blkid_probe_set_superblocks_flags(
            probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_LABEL |
                       BLKID_SUBLKS_BADCSUM) == 0 &&
        blkid_probe_enable_partitions(probe, 1) == 0 &&
        blkid_probe_set_partitions_flags(probe, BLKID_PARTS_FORCE_GPT) == 0)
        content = probe_all(probe, text);
    else
        (void)snprintf(text, TEXT_SIZE, "libblkid cannot read it");
    blkid_free_probe(probe);
    return content;
}
