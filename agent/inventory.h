/*
 * inventory.h - what this host is and which drives it has.
 *
 * Read from sysfs, /proc and /dev, with one ioctl for the formats of an NVMe
 * namespace.  What a drive or kernel does not tell is unknown ("" or 0 or
 * INVENTORY_UNKNOWN), never guessed.  Drives are whole block devices: not
 * partitions (though those may be targets), not loop devices without a file
 * or zram without a size, not the hidden paths below a multipath NVMe drive.
 *
 * All of it is read below `root`: "/" in production, a tree made by hand in
 * tests.
 *
 * Nothing is opened for writing, and nothing exclusively: a drive that just
 * appeared belongs to whoever is assembling it.
 *
 * Not while a phase runs: reading sends one Identify command to every NVMe
 * drive.
 *
 * Threads: none of its own.  inventory_read() may block for as long as a sick
 * drive does (the ioctl gives up after 2 s): call it beside the loop.  It
 * shares nothing, so any thread may.  inventory_fingerprint() reads a few small
 * files of the kernel and never touches a drive.
 *
 *     uint64_t seen = inventory_fingerprint("/");
 *     struct inventory *inventory;
 *     int result = inventory_read("/", &offers, &inventory, &diag);
 *     ... every few seconds: inventory_fingerprint("/") != seen: read again
 */
#ifndef AGENT_INVENTORY_H
#define AGENT_INVENTORY_H

#include "common/base.h"
#include "common/diag.h"

struct offers;

#define INVENTORY_DRIVES_MAX 1024u
#define INVENTORY_USES_MAX   16u

/* The values of Tristate on the wire. */
enum inventory_answer {
    INVENTORY_UNKNOWN,
    INVENTORY_NO,
    INVENTORY_YES,
};

/* As struct DriveFacts of lockstep.proto, field by field. */
struct drive {
    char name[NAME_SIZE];  /* nvme0n1 */
    char path[PATH_SIZE];  /* /dev/nvme0n1 */
    char by_id[PATH_SIZE]; /* the most telling link of /dev/disk/by-id */
    char model[TEXT_SIZE];
    char serial[TEXT_SIZE];
    char firmware[TEXT_SIZE];
    char wwn[TEXT_SIZE]; /* as the kernel writes it: eui.0025..., naa.5... */
    uint64_t size_bytes;
    uint32_t logical_block;
    uint32_t physical_block;
    char formats[TEXT_SIZE];     /* "*512 4096 4096+8", * is the one in use */
    char pci_address[TEXT_SIZE]; /* "0000:5e:00.0"; several with a comma for
                                    a drive with several paths */
    char slot[TEXT_SIZE];
    char link_speed[TEXT_SIZE];  /* "16.0 GT/s PCIe", "6.0 Gbps" */
    uint32_t link_width;         /* lanes */
    char write_cache[TEXT_SIZE]; /* "write back", "write through" */
    char scheduler[TEXT_SIZE];   /* the active one */
    enum inventory_answer rotational;
    bool read_only;
    uint32_t numa_node;     /* node + 1; 0 is unknown */
    uint64_t disk_sequence; /* changes when the device behind the name does */
    char used_by[INVENTORY_USES_MAX][TEXT_SIZE]; /* "mounted on /", "swap" */
    uint32_t used_by_count;
    bool offered; /* some offer covers it */
};

struct host_facts {
    char hostname[TEXT_SIZE];
    char kernel[TEXT_SIZE]; /* release */
    uint32_t cpus;          /* online and allowed to this process */
    char cpu_model[TEXT_SIZE];
    uint64_t memory_bytes;
    char os[TEXT_SIZE]; /* pretty name of the distribution */
};

struct inventory {
    struct host_facts host;
    struct drive *drives; /* by name, numbers in their order */
    uint32_t drive_count;
    uint32_t left_out; /* drives beyond INVENTORY_DRIVES_MAX */
};

/*
 * Reads all of it.  `offers` may be NULL: none.  0, or a negative errno when
 * there is no sysfs below `root` or no memory.  The caller frees the inventory.
 */
int inventory_read(const char *root, const struct offers *offers,
                   struct inventory **ret_inventory,
                   struct diag *diag) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct inventory *inventory_free(struct inventory *inventory);

/*
 * A number that differs when drives came, went, were swapped, grew, turned
 * read-only, or what this mount namespace and the swap list use did.
 */
uint64_t inventory_fingerprint(const char *root);

/* Drives, by the agent's own word; for tests and messages.  NULL: not there. */
const struct drive *inventory_find(const struct inventory *inventory,
                                   const char *name);

#endif
