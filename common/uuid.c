#include "common/uuid.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct uuid uuid_random(void)
{
    struct uuid uuid;
    ssize_t n;

    do
        n = getrandom(uuid.bytes, sizeof(uuid.bytes), 0);
    while (n < 0 && errno == EINTR);
    assert(n == (ssize_t)sizeof(uuid.bytes));
    uuid.bytes[6] = (uint8_t)((uuid.bytes[6] & 0x0f) | 0x40);
    uuid.bytes[8] = (uint8_t)((uuid.bytes[8] & 0x3f) | 0x80);
    return uuid;
}

struct uuid uuid_boot(void)
{
    struct uuid boot = {{0}};
    char text[UUID_TEXT_SIZE] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return boot;
    if (read(fd, text, sizeof(text) - 1) != sizeof(text) - 1 ||
        uuid_parse(text, &boot) < 0)
        memset(&boot, 0, sizeof(boot));
    (void)close(fd);
    return boot;
}

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

char *uuid_format(const struct uuid *uuid, char text[UUID_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
        if (is_dash(at))
            text[at++] = '-';
        text[at++] = digits[uuid->bytes[i] >> 4];
        text[at++] = digits[uuid->bytes[i] & 15];
    }
    text[at] = '\0';
    return text;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int uuid_parse(const char *text, struct uuid *ret_uuid)
{
    struct uuid uuid;
    size_t at = 0;

    if (strnlen(text, UUID_TEXT_SIZE) != UUID_TEXT_SIZE - 1)
        return -EINVAL;
    for (size_t i = 0; i < sizeof(uuid.bytes); i++) {
        if (is_dash(at) && text[at++] != '-')
            return -EINVAL;

        int high = digit_value(text[at++]);
        int low = digit_value(text[at++]);

        if (high < 0 || low < 0)
            return -EINVAL;
        uuid.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *ret_uuid = uuid;
    return 0;
}

bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

bool uuid_is_nil(const struct uuid *uuid)
{
    static const struct uuid nil;

    return uuid_equal(uuid, &nil);
}
