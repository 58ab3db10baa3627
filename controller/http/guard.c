#include "controller/http/guard.h"

#include "common/channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FORBIDDEN   403u
#define UNSUPPORTED 415u

static bool names_loopback(const char *host)
{
    char name[ADDRESS_SIZE];
    uint16_t port;

    return host != NULL && strlen(host) < TEXT_SIZE &&
           address_split(host, 80, name, &port) == 0 &&
           address_is_loopback(name);
}

/* Whether the origin is the server that the request was sent to. */
static bool is_own(const struct guard_request *request)
{
    const char *scheme = request->loopback ? "http://" : "https://";
    size_t length = strlen(scheme);

    return request->host != NULL &&
           strncasecmp(request->origin, scheme, length) == 0 &&
           strcasecmp(request->origin + length, request->host) == 0;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    size_t length = sizeof(json) - 1;

    return type != NULL && strncasecmp(type, json, length) == 0 &&
           (type[length] == '\0' || type[length] == ';' || type[length] == ' ');
}

static bool is_same_site(const char *site)
{
    return site == NULL || strcmp(site, "same-origin") == 0 ||
           strcmp(site, "none") == 0;
}

static unsigned refuse(unsigned status, struct diag *diag, const char *text)
{
    (void)diag_set(diag, -EACCES, "%s", text);
    return status;
}

unsigned guard_check(const struct guard_request *request, struct diag *diag)
{
    if (request->loopback && !names_loopback(request->host))
        return refuse(FORBIDDEN, diag,
                      "this server is on loopback, and the Host of the request "
                      "is not: use http://localhost or http://127.0.0.1");
    if (!request->changes)
        return 0;
    if ((request->origin != NULL && !is_own(request)) ||
        !is_same_site(request->fetch_site))
        return refuse(FORBIDDEN, diag,
                      "the request comes from another site's page; nothing "
                      "was done");
    if (!is_json(request->content_type))
        return refuse(UNSUPPORTED, diag,
                      "the body must be JSON: Content-Type: application/json");
    return 0;
}
