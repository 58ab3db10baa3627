#include "agent/offer.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *prefix;
    enum offer_kind kind;
} keys[] = {
    {"serial=", OFFER_SERIAL},
    {"model=", OFFER_MODEL},
    {"id=", OFFER_ID},
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with_slash(const char *text)
{
    return text[0] != '\0' && text[strlen(text) - 1] == '/';
}

/* Without its key; NULL when there is nothing behind it. */
static const char *split(const char *text, enum offer_kind *ret_kind)
{
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        if (!starts_with(text, keys[i].prefix))
            continue;
        text += strlen(keys[i].prefix);
        *ret_kind = keys[i].kind;
        return text[0] != '\0' ? text : NULL;
    }
    if (text[0] != '/')
        return NULL;
    if (ends_with_slash(text))
        *ret_kind = OFFER_DIRECTORY;
    else if (starts_with(text, "/dev/disk/") ||
             starts_with(text, "/dev/mapper/"))
        *ret_kind = OFFER_LINK;
    else
        *ret_kind = OFFER_PATH;
    return text;
}

/* Directories in which a file is never what the owner can mean. */
static bool is_system_directory(const char *path)
{
    static const char *const trees[] = {"/dev/", "/proc/", "/sys/"};

    for (size_t i = 0; i < ARRAY_LENGTH(trees); i++)
        if (starts_with(path, trees[i]))
            return true;
    return path[strspn(path, "/")] == '\0';
}

int offers_add(struct offers *offers, const char *text, struct diag *diag)
{
    struct offer offer = {.kind = OFFER_PATH};
    const char *pattern = split(text, &offer.kind);

    if (pattern == NULL)
        return diag_set(diag, -EINVAL,
                        "'%.200s' is not an offer; write a path pattern "
                        "(/dev/nvme*n1), a directory/ with a slash at its end, "
                        "serial=, model= or id=",
                        text);
    if (offer.kind == OFFER_DIRECTORY && is_system_directory(pattern))
        return diag_set(diag, -EINVAL,
                        "'%.200s' cannot be offered as a directory for files; "
                        "offer drives by a pattern, as in /dev/nvme*n1",
                        text);
    if (strlen(pattern) >= sizeof(offer.pattern))
        return diag_set(diag, -E2BIG,
                        "an offer of %zu bytes is too long; %zu are the most",
                        strlen(pattern), sizeof(offer.pattern) - 1);
    if (offers->count == OFFERS_MAX)
        return diag_set(diag, -E2BIG,
                        "more than %u offers; use patterns, as in "
                        "/dev/nvme*n1",
                        OFFERS_MAX);
    memcpy(offer.pattern, pattern, strlen(pattern));
    offers->items[offers->count++] = offer;
    return 0;
}

static bool glob(const char *pattern, const char *text)
{
    return text[0] != '\0' && fnmatch(pattern, text, FNM_PATHNAME) == 0;
}

static bool matches_path(const char *pattern,
                         const struct offer_subject *subject)
{
    return glob(pattern, subject->path) || glob(pattern, subject->drive);
}

static bool matches_link(const char *pattern,
                         const struct offer_subject *subject)
{
    for (uint32_t i = 0; i < subject->link_count; i++)
        if (glob(pattern, subject->links[i]))
            return true;
    return false;
}

static bool matches_id(const char *pattern, const struct offer_subject *subject)
{
    static const char folder[] = "/dev/disk/by-id/";

    for (uint32_t i = 0; i < subject->link_count; i++)
        if (starts_with(subject->links[i], folder) &&
            glob(pattern, subject->links[i] + sizeof(folder) - 1))
            return true;
    return false;
}

/*
 * The directory may itself be reached by a link; its real path counts, as the
 * subject's does.
 */
static bool matches_directory(const char *pattern,
                              const struct offer_subject *subject)
{
    char real[PATH_MAX];
    size_t length;

    if (!subject->is_file || realpath(pattern, real) == NULL)
        return false;
    length = strlen(real);
    return strncmp(subject->path, real, length) == 0 &&
           subject->path[length] == '/';
}

static bool matches(const struct offer *offer,
                    const struct offer_subject *subject)
{
    switch (offer->kind) {
    case OFFER_PATH:
        return matches_path(offer->pattern, subject);
    case OFFER_LINK:
        return matches_link(offer->pattern, subject);
    case OFFER_DIRECTORY:
        return matches_directory(offer->pattern, subject);
    case OFFER_SERIAL:
        return subject->serial[0] != '\0' &&
               strcmp(offer->pattern, subject->serial) == 0;
    case OFFER_MODEL: /* a model may have slashes */
        return subject->model[0] != '\0' &&
               fnmatch(offer->pattern, subject->model, 0) == 0;
    case OFFER_ID:
        return matches_id(offer->pattern, subject);
    }
    return false;
}

const struct offer *offers_match(const struct offers *offers,
                                 const struct offer_subject *subject)
{
    for (uint32_t i = 0; i < offers->count; i++)
        if (matches(&offers->items[i], subject))
            return &offers->items[i];
    return NULL;
}
