#include "agent/inventory_sysfs.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

PRINTF(2, 0)
static bool format_path(char *path, const char *format, va_list args)
{
    int length = vsnprintf(path, SYSFS_PATH_SIZE, format, args);

    return length > 0 && (size_t)length < SYSFS_PATH_SIZE;
}

bool text_format(char *text, size_t size, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, size, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < size)
        return true;
    text[0] = '\0';
    return false;
}

/* Bytes of the UTF-8 character at `s`, 0 when it is none worth showing. */
static size_t character(const unsigned char *s)
{
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xc2 ? 0
                    : s[0] < 0xe0 ? 2
                    : s[0] < 0xf0 ? 3
                    : s[0] < 0xf5 ? 4
                                  : 0;

    if (length == 1)
        return s[0] >= 0x20 && s[0] != 0x7f;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* overlong, a surrogate, or beyond Unicode */
    return length;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void text_clean(char *text)
{
    size_t begin = 0;
    size_t end = strlen(text);

    while (end > 0 && is_blank(text[end - 1]))
        end--;
    while (begin < end && is_blank(text[begin]))
        begin++;
    memmove(text, text + begin, end - begin);
    text[end - begin] = '\0';

    for (unsigned char *s = (unsigned char *)text; *s != '\0';) {
        size_t length = character(s);

        if (length == 0)
            *s = '?';
        s += length == 0 ? 1 : length;
    }
}

static size_t read_bytes(const char *path, uint8_t *bytes, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t length = 0;

    if (fd < 0)
        return 0;
    while (length < size) {
        ssize_t got = read(fd, bytes + length, size - length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    (void)close(fd);
    return length;
}

static bool read_text(const char *path, char *text, size_t size)
{
    size_t length = read_bytes(path, (uint8_t *)text, size - 1);

    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    text_clean(text);
    return text[0] != '\0';
}

bool sysfs_text(char *text, size_t size, const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    va_list args;
    bool fits;

    assert(size > 0);
    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    text[0] = '\0';
    return fits && read_text(path, text, size);
}

uint64_t sysfs_number(uint64_t fallback, const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    char text[32];
    char *end;
    va_list args;
    bool fits;

    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    if (!fits || !read_text(path, text, sizeof(text)) || text[0] < '0' ||
        text[0] > '9')
        return fallback;

    errno = 0;
    uint64_t value = strtoull(text, &end, 10);

    return errno == 0 && *end == '\0' ? value : fallback;
}

size_t sysfs_bytes(uint8_t *bytes, size_t size, const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    va_list args;
    bool fits;

    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    return fits ? read_bytes(path, bytes, size) : 0;
}

bool sysfs_exists(const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    va_list args;
    bool fits;

    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    return fits && access(path, F_OK) == 0;
}

FILE *sysfs_open(const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    va_list args;
    bool fits;

    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    return fits ? fopen(path, "re") : NULL;
}

/* False and "" when it does not fit. */
static bool text_copy(char *text, size_t size, const char *from)
{
    return text_format(text, size, "%s", from) && text[0] != '\0';
}

bool sysfs_link_name(char *text, size_t size, const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    char link[SYSFS_PATH_SIZE];
    va_list args;
    bool fits;
    ssize_t length;

    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    text[0] = '\0';
    length = fits ? readlink(path, link, sizeof(link) - 1) : -1;
    if (length <= 0)
        return false;
    link[length] = '\0';

    const char *slash = strrchr(link, '/');

    return text_copy(text, size, slash != NULL ? slash + 1 : link);
}

bool sysfs_real(char *text, size_t size, const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    char real[PATH_MAX];
    va_list args;
    bool fits;

    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    text[0] = '\0';
    return fits && realpath(path, real) != NULL && text_copy(text, size, real);
}

static int by_version(const void *a, const void *b)
{
    const char *const *one = a;
    const char *const *other = b;

    return strverscmp(*one, *other);
}

static bool names_add(struct sysfs_names *names, const char *name)
{
    char **grown;
    char *copy;

    if (names->count >= SYSFS_NAMES_MAX)
        return false;
    grown = reallocarray(names->names, names->count + 1, sizeof(*grown));
    if (grown == NULL)
        return false;
    names->names = grown;
    copy = strdup(name);
    if (copy == NULL)
        return false;
    names->names[names->count++] = copy;
    return true;
}

void sysfs_list(struct sysfs_names *ret_names, const char *format, ...)
{
    char path[SYSFS_PATH_SIZE];
    va_list args;
    bool fits;
    DIR *dir;

    va_start(args, format);
    fits = format_path(path, format, args);
    va_end(args);
    *ret_names = (struct sysfs_names){0};
    dir = fits ? opendir(path) : NULL;
    if (dir == NULL)
        return;

    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (e->d_name[0] != '.' && !names_add(ret_names, e->d_name))
            break;
    (void)closedir(dir);
    if (ret_names->count > 0)
        qsort(ret_names->names, ret_names->count, sizeof(char *), by_version);
}

void sysfs_names_done(struct sysfs_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct sysfs_names){0};
}
