#include "controller/http/route.h"

#include <stdlib.h>
#include <string.h>

/* {id} is a campaign, {n} a number. */
static const struct {
    const char *path;
    enum route_method method;
    enum route_kind kind;
} routes[] = {
    {"/metrics", ROUTE_GET, ROUTE_METRICS},
    {"/api/v1/controller", ROUTE_GET, ROUTE_CONTROLLER},
    {"/api/v1/hosts", ROUTE_GET, ROUTE_HOSTS},
    {"/api/v1/drives", ROUTE_GET, ROUTE_DRIVES},
    {"/api/v1/status", ROUTE_GET, ROUTE_STATUS},
    {"/api/v1/events", ROUTE_GET, ROUTE_EVENTS},
    {"/api/v1/compare", ROUTE_GET, ROUTE_COMPARE},
    {"/api/v1/campaigns", ROUTE_GET, ROUTE_CAMPAIGNS},
    {"/api/v1/campaigns", ROUTE_POST, ROUTE_SUBMIT},
    {"/api/v1/campaigns/{id}", ROUTE_GET, ROUTE_SHOW},
    {"/api/v1/campaigns/{id}/status", ROUTE_GET, ROUTE_STATUS},
    {"/api/v1/campaigns/{id}/runs", ROUTE_GET, ROUTE_RUNS},
    {"/api/v1/campaigns/{id}/runs/{n}", ROUTE_GET, ROUTE_RUN},
    {"/api/v1/campaigns/{id}/live", ROUTE_GET, ROUTE_LIVE},
    {"/api/v1/campaigns/{id}/stop", ROUTE_POST, ROUTE_STOP},
    {"/api/v1/campaigns/{id}/report", ROUTE_GET, ROUTE_REPORT},
    {"/api/v1/campaigns/{id}/export.csv", ROUTE_GET, ROUTE_CSV},
    {"/api/v1/campaigns/{id}/export.json", ROUTE_GET, ROUTE_JSON},
};

/* A number or the beginning of a UUID; "newest" is "". */
static bool take_campaign(const char *text, size_t length, struct route *route)
{
    if (length == 6 && strncmp(text, "newest", 6) == 0)
        return true;
    if (length == 0 || length >= sizeof(route->campaign) ||
        strspn(text, "0123456789abcdefABCDEF-") < length)
        return false;
    memcpy(route->campaign, text, length);
    route->campaign[length] = '\0';
    return true;
}

static bool take_number(const char *text, size_t length, struct route *route)
{
    if (length == 0 || length > 9 || strspn(text, "0123456789") < length)
        return false;
    route->run = (uint32_t)strtoul(text, NULL, 10);
    return route->run > 0;
}

static bool matches(const char *pattern, const char *path, struct route *route)
{
    while (*pattern != '\0') {
        size_t length = strcspn(path, "/");

        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        if (pattern[1] == 'i' ? !take_campaign(path, length, route)
                              : !take_number(path, length, route))
            return false;
        path += length;
        pattern = strchr(pattern, '}') + 1;
    }
    return *path == '\0';
}

struct route route_find(enum route_method method, const char *path)
{
    const char *allow = NULL;

    for (size_t i = 0; i < ARRAY_LENGTH(routes); i++) {
        struct route route = {.kind = routes[i].kind};

        if (!matches(routes[i].path, path, &route))
            continue;
        if (routes[i].method == method)
            return route;
        allow = allow != NULL                    ? "GET, HEAD, POST"
                : routes[i].method == ROUTE_POST ? "POST"
                                                 : "GET, HEAD";
    }
    if (allow == NULL && method == ROUTE_GET)
        return (struct route){.kind = ROUTE_FILE};
    return (struct route){.kind = ROUTE_UNKNOWN, .allow = allow};
}
