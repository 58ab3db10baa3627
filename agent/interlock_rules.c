/*
 * The rules, one row each: what breaks it, and the sentence that says so. Pure.
 * A new rule is a row here and, if it looks at something new, a fact.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/interlock.h"
#include "agent/interlock_facts.h"
#include "common/units.h"

struct situation {
    const struct interlock_facts *facts;
    const struct interlock_wish *wish;
    bool writes; /* writing is asked for, or needed to make the file */
};

typedef bool breaks_fn(const struct situation *s);
typedef void explain_fn(const struct situation *s, char *reason);

static bool is_file(const struct situation *s)
{
    return s->facts->kind == INTERLOCK_FILE ||
           s->facts->kind == INTERLOCK_MISSING;
}

static bool is_block(const struct situation *s)
{
    return s->facts->kind == INTERLOCK_BLOCK;
}

/* A file that is too short for the wish is made longer, where that is asked. */
static bool makes_file(const struct interlock_facts *facts,
                       const struct interlock_wish *wish)
{
    return wish->create && (facts->kind == INTERLOCK_MISSING ||
                            (facts->kind == INTERLOCK_FILE &&
                             facts->size_bytes < wish->size_bytes));
}

static uint64_t space_needed(const struct situation *s)
{
    uint64_t have = s->facts->allocated_bytes;

    if (!makes_file(s->facts, s->wish) || s->wish->size_bytes <= have)
        return 0;
    return s->wish->size_bytes - have;
}

static bool silent(const struct situation *s)
{
    return s->facts->silent_ns > 0;
}

static void say_silent(const struct situation *s, char *reason)
{
    char since[UNITS_SIZE];

    units_print_duration(since, s->facts->silent_ns / NS_PER_S);
    (void)snprintf(reason, REASON_SIZE,
                   "'%.500s' does not answer: requests of an earlier phase "
                   "have been given up %s ago and have not come back; see to "
                   "the drive (dmesg tells what the kernel knows)",
                   s->wish->path, since);
}

static bool no_access(const struct situation *s)
{
    return s->facts->access_error != 0;
}

static void say_no_access(const struct situation *s, char *reason)
{
    (void)snprintf(reason, REASON_SIZE,
                   "cannot look at '%.600s': %s; the agent must run as a user "
                   "who may (root, for drives)",
                   s->wish->path, strerror(s->facts->access_error));
}

static bool not_there(const struct situation *s)
{
    const struct interlock_facts *f = s->facts;

    return f->kind == INTERLOCK_MISSING &&
           (!s->wish->create || s->wish->size_bytes == 0 || f->below_dev ||
            f->parent_missing);
}

static void say_not_there(const struct situation *s, char *reason)
{
    const char *path = s->wish->path;

    if (s->facts->below_dev)
        (void)snprintf(reason, REASON_SIZE,
                       "there is no '%.600s' on this host; 'lockstep drives' "
                       "lists the drives there are",
                       path);
    else if (s->facts->parent_missing)
        (void)snprintf(reason, REASON_SIZE,
                       "the directory of '%.600s' does not exist on this host; "
                       "make it first",
                       path);
    else
        (void)snprintf(reason, REASON_SIZE,
                       "there is no '%.600s' on this host; give its sd a size= "
                       "to have the file made",
                       path);
}

static bool wrong_kind(const struct situation *s)
{
    return s->facts->kind == INTERLOCK_OTHER ||
           (s->facts->kind == INTERLOCK_CHARACTER && !s->facts->harmless);
}

static void say_wrong_kind(const struct situation *s, char *reason)
{
    (void)snprintf(reason, REASON_SIZE,
                   "'%.600s' is %s; I/O goes to block devices, regular files, "
                   "/dev/null and /dev/zero",
                   s->wish->path,
                   s->facts->kind == INTERLOCK_OTHER ? s->facts->what
                                                     : "a character device");
}

static bool differs(const char *planned, const char *now)
{
    return planned[0] != '\0' && strcmp(planned, now) != 0;
}

static bool number_differs(uint64_t planned, uint64_t now)
{
    return planned != 0 && planned != now;
}

static bool another_drive(const struct situation *s)
{
    const struct interlock_wish *w = s->wish;
    const struct interlock_facts *f = s->facts;

    return differs(w->serial, f->serial) || differs(w->wwn, f->wwn) ||
           (is_block(s) &&
            number_differs(w->device_size_bytes, f->size_bytes)) ||
           number_differs(w->disk_sequence, f->disk_sequence);
}

static const char *or_unknown(const char *text)
{
    return text[0] != '\0' ? text : "unknown";
}

/* Appends "<what> <planned>, now <now>; " for what differs. */
static void add_difference(char *reason, const char *what, const char *planned,
                           const char *now)
{
    size_t length = strlen(reason);

    if (differs(planned, now))
        (void)snprintf(reason + length, REASON_SIZE - length,
                       "%s was %.100s and is %.100s; ", what, planned,
                       or_unknown(now));
}

static void add_number_difference(char *reason, const char *what,
                                  uint64_t planned, uint64_t now)
{
    char texts[2][32];

    (void)snprintf(texts[0], sizeof(texts[0]), "%" PRIu64, planned);
    (void)snprintf(texts[1], sizeof(texts[1]), "%" PRIu64, now);
    if (number_differs(planned, now))
        add_difference(reason, what, texts[0], texts[1]);
}

static void say_another_drive(const struct situation *s, char *reason)
{
    const struct interlock_wish *w = s->wish;
    const struct interlock_facts *f = s->facts;
    size_t length;

    (void)snprintf(reason, REASON_SIZE,
                   "'%.400s' is not the drive that the campaign was planned "
                   "with: ",
                   w->path);
    add_difference(reason, "its serial number", w->serial, f->serial);
    add_difference(reason, "its WWN", w->wwn, f->wwn);
    add_number_difference(reason, "its size", w->device_size_bytes,
                          f->size_bytes);
    add_number_difference(reason, "its disk sequence", w->disk_sequence,
                          f->disk_sequence);
    length = strlen(reason);
    (void)snprintf(reason + length, REASON_SIZE - length,
                   "submit the campaign again if this drive is meant");
}

static bool too_small(const struct situation *s)
{
    const struct interlock_facts *f = s->facts;

    if (f->kind == INTERLOCK_CHARACTER)
        return s->wish->size_bytes == 0;
    if (f->kind == INTERLOCK_MISSING || makes_file(f, s->wish))
        return false;
    return f->size_bytes == 0 || f->size_bytes < s->wish->size_bytes;
}

static void say_too_small(const struct situation *s, char *reason)
{
    const struct interlock_facts *f = s->facts;
    char has[UNITS_SIZE];
    char needs[UNITS_SIZE];

    units_print_size(has, f->size_bytes);
    units_print_size(needs, s->wish->size_bytes);
    if (f->kind == INTERLOCK_CHARACTER)
        (void)snprintf(reason, REASON_SIZE,
                       "'%.600s' has no size of its own; give its sd a size=",
                       s->wish->path);
    else if (f->kind == INTERLOCK_FILE && f->size_bytes < f->length_bytes)
        (void)snprintf(reason, REASON_SIZE,
                       "'%.600s' is filled up to %s only (an earlier fill did "
                       "not come to its end); give its sd a size= to have it "
                       "filled",
                       s->wish->path, has);
    else if (f->size_bytes == 0)
        (void)snprintf(reason, REASON_SIZE, "'%.600s' is empty%s",
                       s->wish->path,
                       is_block(s) ? " (no medium)"
                                   : "; give its sd a size= to have it filled");
    else
        (void)snprintf(
            reason, REASON_SIZE,
            "'%.600s' is too small: it has %s (%" PRIu64
            " bytes), the campaign wants %s (%" PRIu64 " bytes); lower size=",
            s->wish->path, has, f->size_bytes, needs, s->wish->size_bytes);
}

static bool read_only(const struct situation *s)
{
    return s->writes && s->facts->read_only;
}

static void say_read_only(const struct situation *s, char *reason)
{
    if (is_block(s))
        (void)snprintf(reason, REASON_SIZE,
                       "'%.500s' is read-only; 'blockdev --setrw %.250s' on "
                       "the host may change that",
                       s->wish->path, s->facts->device);
    else
        (void)snprintf(reason, REASON_SIZE,
                       "'%.500s' is on a read-only file system; choose "
                       "another place",
                       s->wish->path);
}

static bool in_use(const struct situation *s)
{
    return s->writes && s->facts->used_by_count > 0;
}

static void say_in_use(const struct situation *s, char *reason)
{
    const struct interlock_facts *f = s->facts;
    size_t length;

    (void)snprintf(reason, REASON_SIZE, "'%.200s' is in use: ", s->wish->path);
    for (uint32_t i = 0; i < f->used_by_count && i < 4; i++) {
        length = strlen(reason);
        (void)snprintf(reason + length, REASON_SIZE - length, "%s%.130s",
                       i > 0 ? "; " : "", f->used_by[i]);
    }
    length = strlen(reason);
    if (f->used_by_count > 4)
        (void)snprintf(reason + length, REASON_SIZE - length, "; and %u more",
                       f->used_by_count - 4);
    length = strlen(reason);
    (void)snprintf(reason + length, REASON_SIZE - length,
                   ".  Only what nothing else uses is written");
}

/* The operator agreed to lose exactly that. */
static bool is_agreed(const struct situation *s)
{
    return s->wish->overwrite &&
           (!s->wish->final ||
            strcmp(s->wish->consent, s->facts->content_text) == 0);
}

/* Why consent there is does not do. */
static void say_not_agreed(const struct situation *s, char *reason)
{
    const struct interlock_wish *w = s->wish;
    const struct interlock_facts *f = s->facts;

    if (w->consent[0] == '\0')
        (void)snprintf(reason, REASON_SIZE,
                       "'%.350s' is not empty (%.250s), and nobody agreed to "
                       "lose that; submit the campaign again",
                       w->path, f->content_text);
    else
        (void)snprintf(reason, REASON_SIZE,
                       "what is on '%.250s' is not what was agreed to be "
                       "lost: that was %.250s, now it is %.250s; submit the "
                       "campaign again",
                       w->path, w->consent, f->content_text);
}

static bool below_dev(const struct situation *s)
{
    return s->writes && s->facts->kind == INTERLOCK_FILE && s->facts->below_dev;
}

static void say_below_dev(const struct situation *s, char *reason)
{
    (void)snprintf(reason, REASON_SIZE,
                   "'%.500s' is a file below /dev (%.300s); no file is written "
                   "there: choose another directory",
                   s->wish->path, s->facts->device);
}

static bool not_ours(const struct situation *s)
{
    return s->writes && s->facts->kind == INTERLOCK_FILE && !s->facts->ours &&
           !is_agreed(s);
}

static void say_not_ours(const struct situation *s, char *reason)
{
    const struct interlock_facts *f = s->facts;

    if (s->wish->overwrite) {
        say_not_agreed(s, reason);
        return;
    }
    (void)snprintf(reason, REASON_SIZE,
                   "'%.500s' exists and %.250s, so it is not written%s; choose "
                   "another name, delete it first, or give its sd "
                   "overwrite=yes",
                   s->wish->path,
                   f->not_ours[0] != '\0' ? f->not_ours
                                          : "was not made by Lockstep",
                   s->wish->write ? "" : " (to make it long enough)");
}

static bool not_offered(const struct situation *s)
{
    const struct interlock_facts *f = s->facts;

    return s->writes && !f->offered &&
           (is_block(s) || (is_file(s) && !f->private_agent));
}

static void say_not_offered(const struct situation *s, char *reason)
{
    const struct interlock_facts *f = s->facts;

    if (f->private_agent)
        (void)snprintf(reason, REASON_SIZE,
                       "'%.500s' may not be written: nobody offered it; add "
                       "--offer '%.250s' to the command",
                       s->wish->path, f->offer_hint);
    else
        (void)snprintf(reason, REASON_SIZE,
                       "'%.500s' may not be written: this host's agent does "
                       "not offer it; its owner can add 'offer = %.250s' to "
                       "the agent's configuration and restart it",
                       s->wish->path, f->offer_hint);
}

static bool no_space(const struct situation *s)
{
    return space_needed(s) > s->facts->free_bytes;
}

static void say_no_space(const struct situation *s, char *reason)
{
    char needs[UNITS_SIZE];
    char free_[UNITS_SIZE];

    units_print_size(needs, space_needed(s));
    units_print_size(free_, s->facts->free_bytes);
    (void)snprintf(reason, REASON_SIZE,
                   "'%.500s' needs %s (%" PRIu64 " bytes) more, and its file "
                   "system has %s (%" PRIu64 " bytes) free; lower size= or "
                   "make room",
                   s->wish->path, needs, space_needed(s), free_,
                   s->facts->free_bytes);
}

static bool busy(const struct situation *s)
{
    const struct interlock_facts *f = s->facts;
    bool claims = is_block(s) || f->kind == INTERLOCK_FILE;

    return s->writes && claims &&
           (f->claim == INTERLOCK_CLAIM_BUSY ||
            (s->wish->final && f->claim != INTERLOCK_CLAIM_HELD));
}

static void say_busy(const struct situation *s, char *reason)
{
    const struct interlock_facts *f = s->facts;

    (void)snprintf(reason, REASON_SIZE,
                   "'%.500s' is held exclusively by another user%s%.250s; it "
                   "is not written while that lasts",
                   s->wish->path, f->claim_text[0] != '\0' ? ": " : "",
                   f->claim_text);
}

static bool has_content(const struct situation *s)
{
    const struct interlock_facts *f = s->facts;

    if (!s->writes || !is_block(s))
        return false;
    if (f->content == INTERLOCK_CONTENT_UNKNOWN)
        return s->wish->final || f->content_text[0] != '\0';
    return f->content == INTERLOCK_CONTENT_FOUND && !is_agreed(s);
}

static void say_has_content(const struct situation *s, char *reason)
{
    const struct interlock_facts *f = s->facts;

    if (f->content == INTERLOCK_CONTENT_UNKNOWN)
        (void)snprintf(reason, REASON_SIZE,
                       "cannot tell what is on '%.500s'%s%.250s; a drive of "
                       "unknown content is not written",
                       s->wish->path, f->content_text[0] != '\0' ? ": " : "",
                       f->content_text);
    else if (s->wish->overwrite)
        say_not_agreed(s, reason);
    else
        (void)snprintf(reason, REASON_SIZE,
                       "'%.500s' is not empty: it has %.250s.  That is "
                       "overwritten only where its sd says overwrite=yes and "
                       "the operator confirms it",
                       s->wish->path, f->content_text);
}

static const struct {
    enum interlock_verdict verdict;
    breaks_fn *breaks;
    explain_fn *explain;
} rules[] = {
    {INTERLOCK_NO_ACCESS, no_access, say_no_access},
    {INTERLOCK_SILENT, silent, say_silent},
    {INTERLOCK_NOT_THERE, not_there, say_not_there},
    {INTERLOCK_WRONG_KIND, wrong_kind, say_wrong_kind},
    {INTERLOCK_ANOTHER_DRIVE, another_drive, say_another_drive},
    {INTERLOCK_TOO_SMALL, too_small, say_too_small},
    {INTERLOCK_READ_ONLY, read_only, say_read_only},
    {INTERLOCK_IN_USE, in_use, say_in_use},
    {INTERLOCK_BELOW_DEV, below_dev, say_below_dev},
    {INTERLOCK_NOT_OURS, not_ours, say_not_ours},
    {INTERLOCK_NOT_OFFERED, not_offered, say_not_offered},
    {INTERLOCK_NO_SPACE, no_space, say_no_space},
    {INTERLOCK_BUSY, busy, say_busy},
    {INTERLOCK_HAS_CONTENT, has_content, say_has_content},
};

bool interlock_writes(const struct interlock_facts *facts,
                      const struct interlock_wish *wish)
{
    return wish->write || makes_file(facts, wish);
}

enum interlock_verdict interlock_judge(const struct interlock_facts *facts,
                                       const struct interlock_wish *wish,
                                       char *ret_reason)
{
    const struct situation s = {
        .facts = facts,
        .wish = wish,
        .writes = interlock_writes(facts, wish),
    };

    for (size_t i = 0; i < ARRAY_LENGTH(rules); i++) {
        if (!rules[i].breaks(&s))
            continue;
        rules[i].explain(&s, ret_reason);
        return rules[i].verdict;
    }
    ret_reason[0] = '\0';
    return INTERLOCK_ALLOWED;
}
