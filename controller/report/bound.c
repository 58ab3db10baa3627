/* bound.c - see bound.h. */
#include "controller/report/bound.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const char *path;
} metrics[] = {
    {"iops", "iops"},
    {"mib_s", "mib_s"},
    {"errors", "errors"},
    {"mean", "service_us.mean"},
    {"min", "service_us.min"},
    {"p50", "service_us.p50"},
    {"p90", "service_us.p90"},
    {"p99", "service_us.p99"},
    {"p99.9", "service_us.p999"},
    {"p999", "service_us.p999"},
    {"p99.99", "service_us.p9999"},
    {"p9999", "service_us.p9999"},
    {"max", "service_us.max"},
    {"stddev", "service_us.stddev"},
};

static const char *metric_path(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(metrics); i++)
        if (strcmp(metrics[i].name, name) == 0)
            return metrics[i].path;
    return NULL;
}

/* Takes "read." and the like off the front of a name. */
static bool take(const char **name, const char *prefix)
{
    size_t length = strlen(prefix);

    if (strncmp(*name, prefix, length) != 0)
        return false;
    *name += length;
    return true;
}

static int find_path(const char *name, char path[NAME_SIZE])
{
    const char *op = take(&name, "read.")    ? "read."
                     : take(&name, "write.") ? "write."
                                             : "";
    bool response = take(&name, "response.");
    const char *found;

    if (!response)
        (void)take(&name, "service.");
    found = metric_path(name);
    if (found == NULL || (response && strchr(found, '.') == NULL))
        return -EINVAL;
    if (response)
        found = strchr(found, '.');
    (void)snprintf(path, NAME_SIZE, "%s%s%s", op, response ? "response_us" : "",
                   found);
    return 0;
}

static const char *skip(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* The text behind the sign; NULL where there is none. */
static const char *take_sign(const char *text, enum bound_sign *ret_sign)
{
    bool equal = text[0] != '\0' && text[1] == '=';

    if (*text == '<')
        *ret_sign = equal ? BOUND_AT_MOST : BOUND_LESS;
    else if (*text == '>')
        *ret_sign = equal ? BOUND_AT_LEAST : BOUND_MORE;
    else
        return NULL;
    return text + 1 + equal;
}

static int take_value(const char *text, struct bound *bound)
{
    char *end;

    errno = 0;
    bound->value = strtod(text, &end);
    if (end == text || errno != 0 || !isfinite(bound->value))
        return -EINVAL;
    text = skip(end);
    bound->change = *text == '%';
    text = skip(text + bound->change);
    return *text == '\0' ? 0 : -EINVAL;
}

int bound_parse(const char *text, struct bound *ret_bound, struct diag *diag)
{
    struct bound bound = {.text = text};
    const char *at = skip(text);
    size_t length = strcspn(at, " \t<>=");
    char name[NAME_SIZE];
    int err;

    (void)snprintf(name, sizeof(name), "%.*s", (int)length, at);
    err = length < sizeof(name) ? find_path(name, bound.path) : -EINVAL;
    if (err < 0)
        return diag_set(diag, err,
                        "'%s': there is no figure '%s'; there are iops, mib_s, "
                        "errors, mean, p50, p90, p99, p99.9, p99.99, max, "
                        "stddev, and response.p99, read.p99, write.p99 and so "
                        "on",
                        text, name);
    at = take_sign(skip(at + length), &bound.sign);
    if (at == NULL || take_value(skip(at), &bound) < 0)
        return diag_set(diag, -EINVAL,
                        "'%s' is no bound: the form is \"p99 > +10%%\" or "
                        "\"iops < 5000\"",
                        text);
    *ret_bound = bound;
    return 0;
}

double bound_figure(const struct bound *bound, double base, double other)
{
    if (!bound->change)
        return other;
    if (!isfinite(base) || !isfinite(other))
        return NAN;
    if (base == 0)
        return other == 0 ? 0 : NAN;
    /* +10 % is 10, not 10.000000000000009. */
    return round((other / base - 1) * 1e8) / 1e6;
}

bool bound_is_broken(const struct bound *bound, double figure)
{
    switch (bound->sign) {
    case BOUND_LESS:
        return figure < bound->value;
    case BOUND_AT_MOST:
        return figure <= bound->value;
    case BOUND_MORE:
        return figure > bound->value;
    case BOUND_AT_LEAST:
        return figure >= bound->value;
    }
    return false;
}
