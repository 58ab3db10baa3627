#include "agent/interlock_content.h"

#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "agent/interlock_facts.h"
#include "agent/interlock_left.h"
#include "agent/inventory_sysfs.h"
#include "agent/patience.h"

#define SIGNATURES_MAX 32u

#define SAMPLE_END    65536u /* bytes at each end */
#define SAMPLE_INSIDE 4096u
#define SAMPLES       16u

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
                const char *label, const char *uuid)
{
    size_t length = strlen(text);

    (void)snprintf(text + length, TEXT_SIZE - length,
                   "%s%.40s %s%s%.64s%s%s%.64s%s", length > 0 ? ", " : "", type,
                   noun, label[0] != '\0' ? " \"" : "", label,
                   label[0] != '\0' ? "\"" : "", uuid[0] != '\0' ? " (" : "",
                   uuid, uuid[0] != '\0' ? ")" : "");
}

/* What the probe has just found. */
static void describe(blkid_probe probe, char *text)
{
    const char *type = NULL;
    const char *label = "";
    const char *uuid = "";

    if (blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL) == 0) {
        (void)blkid_probe_lookup_value(probe, "PTUUID", &uuid, NULL);
        add(text, type, "partition table", "", uuid);
        return;
    }
    (void)blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
    (void)blkid_probe_lookup_value(probe, "UUID", &uuid, NULL);
    if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) == 0)
        add(text, type, noun_of(probe), label, uuid);
    else
        add(text, "unnamed", "signature", "", "");
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

/* Signatures alone. */
static enum interlock_content probe_signatures(int fd, char *text)
{
    blkid_probe probe = blkid_new_probe();
    enum interlock_content content = INTERLOCK_CONTENT_UNKNOWN;

    text[0] = '\0';
    if (probe != NULL && blkid_probe_set_device(probe, fd, 0, 0) == 0 &&
        blkid_probe_enable_superblocks(probe, 1) == 0 &&
        blkid_probe_set_superblocks_flags(
            probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_LABEL |
                       BLKID_SUBLKS_UUID | BLKID_SUBLKS_BADCSUM) == 0 &&
        blkid_probe_enable_partitions(probe, 1) == 0 &&
        blkid_probe_set_partitions_flags(probe, BLKID_PARTS_FORCE_GPT) == 0)
        content = probe_all(probe, text);
    else
        (void)snprintf(text, TEXT_SIZE, "libblkid cannot read it");
    blkid_free_probe(probe);
    return content;
}

/* ---- Data without a signature -------------------------------------------- */

/* FNV-1a: tells changes by accident, which is all it is for. */
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

struct samples {
    int fd;
    uint8_t *buffer;
    uint64_t sum;
    bool blank;
};

static bool is_blank(const uint8_t *bytes, size_t length)
{
    if (bytes[0] != 0x00 && bytes[0] != 0xff)
        return false;
    return memcmp(bytes, bytes + 1, length - 1) == 0;
}

/* What cannot be read may be anything: it is no blank. */
static void sample(struct samples *s, uint64_t offset, size_t length)
{
    ssize_t got;

    do
        got = pread(s->fd, s->buffer, length, (off_t)offset);
    while (got < 0 && errno == EINTR);
    if (got <= 0 || !is_blank(s->buffer, (size_t)got))
        s->blank = false;
    for (ssize_t i = 0; i < got; i++)
        s->sum = (s->sum ^ s->buffer[i]) * FNV_PRIME;
}

static void sample_all(struct samples *s, uint64_t size)
{
    size_t ends = size < SAMPLE_END ? size : SAMPLE_END;

    sample(s, 0, ends);
    sample(s, size - ends, ends);
    for (uint64_t i = 1; i <= SAMPLES && size > SAMPLE_END; i++)
        sample(s, size / (SAMPLES + 1) / SAMPLE_INSIDE * SAMPLE_INSIDE * i,
               SAMPLE_INSIDE);
}

static enum interlock_content probe_data(int fd, char *text)
{
    struct samples s = {
        .fd = fd,
        .buffer = malloc(SAMPLE_END),
        .sum = FNV_BASIS,
        .blank = true,
    };
    uint64_t size = 0;

    if (s.buffer == NULL || ioctl(fd, BLKGETSIZE64, &size) != 0) {
        (void)snprintf(text, TEXT_SIZE, "looking for data failed: %s",
                       strerror(errno));
        free(s.buffer);
        return INTERLOCK_CONTENT_UNKNOWN;
    }
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    if (size > 0)
        sample_all(&s, size);
    free(s.buffer);
    if (s.blank)
        return INTERLOCK_CONTENT_NONE;
    (void)snprintf(text, TEXT_SIZE,
                   "data of no known kind (checksum %016" PRIx64 ")", s.sum);
    return INTERLOCK_CONTENT_FOUND;
}

/* ---- Drives that do not answer --------------------------------------------
 */

typedef enum interlock_content probe_fn(int fd, char *text);

/* A look that may hang: see patience.h. */
struct looking {
    probe_fn *probe;
    int fd; /* its own */
    enum interlock_content content;
    char text[TEXT_SIZE];
};

static void look_now(void *context)
{
    struct looking *l = context;

    l->content = l->probe(l->fd, l->text);
}

static void looking_free(void *context)
{
    struct looking *l = context;

    if (l->fd >= 0)
        (void)close(l->fd);
    free(l);
}

static enum interlock_content patiently(probe_fn *probe, int fd, char *text)
{
    struct looking *l = calloc(1, sizeof(*l));
    enum interlock_content content = INTERLOCK_CONTENT_UNKNOWN;
    int err;

    (void)snprintf(text, TEXT_SIZE, "no memory or descriptor for a look");
    if (l == NULL)
        return content;
    l->probe = probe;
    l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    err = l->fd < 0 ? -errno
                    : patience_run(look_now, l, looking_free, PATIENCE_NS);
    if (err == -ETIMEDOUT) {
        (void)snprintf(text, TEXT_SIZE,
                       "it does not answer: reading it is not done after %u s",
                       (unsigned)(PATIENCE_NS / NS_PER_S));
        return content;
    }
    if (err == 0) {
        content = l->content;
        memcpy(text, l->text, sizeof(l->text));
    }
    looking_free(l);
    return content;
}

/* ---- All of it ----------------------------------------------------------- */

void content_look(const struct look *look, int fd, const struct uuid *campaign,
                  struct interlock_facts *facts)
{
    /* Let the cache not show what was there before, nor hide what others have
       not written back yet; it may not be allowed. */
    (void)ioctl(fd, BLKFLSBUF, 0);
    facts->content = patiently(probe_signatures, fd, facts->content_text);
    if (facts->content != INTERLOCK_CONTENT_NONE)
        return;
    if (left_is_ours(look->policy, facts->device_number, campaign))
        facts->content = INTERLOCK_CONTENT_LEFT;
    else
        facts->content = patiently(probe_data, fd, facts->content_text);
}

void content_peek(int fd, struct interlock_facts *facts)
{
    facts->content = patiently(probe_signatures, fd, facts->content_text);
    if (facts->content == INTERLOCK_CONTENT_NONE)
        facts->content = INTERLOCK_CONTENT_LEFT;
}

void content_of_file(const struct stat *st, char *text)
{
    char when[32] = "";
    struct tm tm;

    if (gmtime_r(&st->st_mtim.tv_sec, &tm) != NULL)
        (void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    (void)snprintf(text, TEXT_SIZE,
                   "a file of others: %lld bytes, last changed %s UTC",
                   (long long)st->st_size, when);
}
