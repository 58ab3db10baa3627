/*
 * Addresses as text; channel.h describes them.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "common/channel.h"

/* A port, all digits, not 0 unless written so. */
static int parse_port(const char *text, uint16_t *ret_port)
{
    uint32_t port = 0;

    if (*text == '\0' || strlen(text) > 5)
        return -EINVAL;
    for (; *text != '\0'; text++) {
        if (!isdigit((unsigned char)*text))
            return -EINVAL;
        port = port * 10 + (uint32_t)(*text - '0');
    }
    if (port > UINT16_MAX)
        return -EINVAL;
    *ret_port = (uint16_t)port;
    return 0;
}

/* Where the host begins and ends, and what follows it. */
static int find_host(const char *text, const char **ret_host,
                     size_t *ret_length, const char **ret_rest)
{
    const char *end;

    if (text[0] == '[') {
        end = strchr(text, ']');
        if (end == NULL)
            return -EINVAL;
        *ret_host = text + 1;
        *ret_length = (size_t)(end - text) - 1;
        *ret_rest = end + 1;
        return 0;
    }
    end = text + strcspn(text, ":");
    if (*end == ':' && strchr(end + 1, ':') != NULL)
        end = text + strlen(text); /* a bare IPv6 literal */
    *ret_host = text;
    *ret_length = (size_t)(end - text);
    *ret_rest = end;
    return 0;
}

static bool is_host(const char *host)
{
    struct in6_addr v6;

    if (strchr(host, ':') != NULL)
        return inet_pton(AF_INET6, host, &v6) == 1;
    for (; *host != '\0'; host++)
        if (!isalnum((unsigned char)*host) && strchr(".-_", *host) == NULL)
            return false;
    return true;
}

int address_split(const char *text, uint16_t default_port, char *ret_host,
                  uint16_t *ret_port)
{
    char host[ADDRESS_SIZE];
    uint16_t port = default_port;
    const char *at, *rest;
    size_t length;

    if (find_host(text, &at, &length, &rest) < 0)
        return -EINVAL;
    if (length == 0 || length > 253)
        return -EINVAL;
    memcpy(host, at, length);
    host[length] = '\0';
    if (!is_host(host) || (*rest != '\0' && *rest != ':') ||
        (*rest == '\0' && default_port == 0))
        return -EINVAL;
    if (*rest == ':' && parse_port(rest + 1, &port) < 0)
        return -EINVAL;
    memcpy(ret_host, host, length + 1);
    *ret_port = port;
    return 0;
}

bool address_is_loopback(const char *host)
{
    struct in6_addr v6;
    struct in_addr v4;

    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}
