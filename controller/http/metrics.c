#include "controller/http/metrics.h"

#include <math.h>
#include <string.h>

/* ---- Samples ---------------------------------------------------------------
 */

/* A label's value: quotes, backslashes and ends of lines are escaped. */
static void put_value(FILE *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if (*text == '\n')
            fputs("\\n", out);
        else
            fputc(*text, out);
    }
}

static void put_label(FILE *out, const char *before, const char *name,
                      const char *value)
{
    fprintf(out, "%s%s=\"", before, name);
    put_value(out, value);
    fputc('"', out);
}

static void put_typed(FILE *out, const char *name, const char *help,
                      const char *type)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_family(FILE *out, const char *name, const char *help)
{
    put_typed(out, name, help, "gauge");
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- Hosts -----------------------------------------------------------------
 */

static void put_host(FILE *out, const char *name, const json_t *host,
                     double value)
{
    if (isnan(value))
        return;
    fputs(name, out);
    put_label(out, "{", "host", text_of(host, "name"));
    fprintf(out, "} %.9g\n", value);
}

static double connected(const json_t *host)
{
    return strcmp(text_of(host, "state"), "connected") == 0 ? 1 : 0;
}

static double uncertainty_s(const json_t *host)
{
    return number_of(host, "clock_uncertainty_us") / 1e6;
}

static double drives(const json_t *host)
{
    return number_of(host, "drives");
}

static void put_hosts(FILE *out, const json_t *hosts)
{
    static const struct {
        const char *name;
        const char *help;
        double (*value)(const json_t *host);
    } families[] = {
        {"lockstep_host_connected", "1 while the host's agent is connected.",
         connected},
        {"lockstep_host_drives", "Drives that the host has.", drives},
        {"lockstep_host_clock_uncertainty_seconds",
         "How far the host's clock may be off what is known of it.",
         uncertainty_s},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(families); i++) {
        put_family(out, families[i].name, families[i].help);
        for (size_t k = 0; k < json_array_size(hosts); k++) {
            const json_t *host = json_array_get(hosts, k);

            put_host(out, families[i].name, host, families[i].value(host));
        }
    }
}

/* ---- Campaigns -------------------------------------------------------------
 */

static void put_campaign(FILE *out, const char *name, const json_t *status,
                         double value)
{
    if (isnan(value))
        return;
    fputs(name, out);
    fprintf(out, "{campaign=\"%lld\"",
            (long long)json_integer_value(json_object_get(status, "number")));
    put_label(out, ",", "name", text_of(status, "name"));
    fprintf(out, "} %.9g\n", value);
}

static void put_campaigns(FILE *out, const json_t *const *status, size_t count)
{
    static const struct {
        const char *name;
        const char *help;
        const char *key;
    } families[] = {
        {"lockstep_campaign_phase", "The phase at hand, from 1.", "phase"},
        {"lockstep_campaign_phases", "How many phases there are.", "phases"},
        {"lockstep_campaign_remaining_seconds",
         "Planned time of what is left of the campaign.", "remaining_s"},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(families); i++) {
        put_family(out, families[i].name, families[i].help);
        for (size_t k = 0; k < count; k++)
            put_campaign(out, families[i].name, status[k],
                         number_of(status[k], families[i].key));
    }
}

/* ---- Drives ----------------------------------------------------------------
 */

struct family {
    const char *name;
    const char *help;
    const char *key;
    double unit; /* of the document, in that of the metric */
};

static void put_drive_labels(FILE *out, const char *name, const json_t *drive)
{
    fputs(name, out);
    put_label(out, "{", "host", text_of(drive, "host"));
    put_label(out, ",", "drive", text_of(drive, "lun"));
    put_label(out, ",", "sd", text_of(drive, "sd"));
}

static void put_cell(FILE *out, const char *name, const json_t *drive,
                     const json_t *cell, const char *quantile, double value)
{
    if (isnan(value))
        return;
    put_drive_labels(out, name, drive);
    put_label(out, ",", "workload", text_of(cell, "workload"));
    put_label(out, ",", "op", text_of(cell, "op"));
    if (quantile != NULL)
        put_label(out, ",", "quantile", quantile);
    fprintf(out, "} %.9g\n", value);
}

static void put_rates(FILE *out, const struct family *family,
                      const json_t *drive)
{
    const json_t *cells = json_object_get(drive, "cells");

    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);

        put_cell(out, family->name, drive, cell, NULL,
                 number_of(cell, family->key) * family->unit);
    }
}

static void put_quantiles(FILE *out, const struct family *family,
                          const json_t *drive)
{
    static const struct {
        const char *key;
        const char *quantile;
    } quantiles[] = {{"p50", "0.5"},
                     {"p90", "0.9"},
                     {"p99", "0.99"},
                     {"p999", "0.999"},
                     {"max", "1"}};
    const json_t *cells = json_object_get(drive, "cells");

    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);
        const json_t *latency = json_object_get(cell, family->key);

        for (size_t q = 0; q < ARRAY_LENGTH(quantiles); q++)
            put_cell(out, family->name, drive, cell, quantiles[q].quantile,
                     number_of(latency, quantiles[q].key) * family->unit);
    }
}

/* What is in flight belongs to the drive. */
static void put_gauge(FILE *out, const struct family *family,
                      const json_t *drive)
{
    double value = number_of(drive, family->key) * family->unit;

    if (isnan(value))
        return;
    put_drive_labels(out, family->name, drive);
    fprintf(out, "} %.9g\n", value);
}

static const struct {
    struct family family;
    void (*put)(FILE *out, const struct family *family, const json_t *drive);
} drive_families[] = {
    {{"lockstep_iops", "I/Os a second in the newest interval.", "iops", 1},
     put_rates},
    {{"lockstep_bytes_per_second", "Bytes a second in the newest interval.",
      "mib_s", 1048576},
     put_rates},
    {{"lockstep_errors", "I/Os that failed in the newest interval.", "errors",
      1},
     put_rates},
    {{"lockstep_service_seconds",
      "Submission to completion in the newest interval, quantiles of this "
      "series alone; 1 is the longest.",
      "service_us", 1e-6},
     put_quantiles},
    {{"lockstep_response_seconds",
      "Intended start to completion in the newest interval, quantiles of this "
      "series alone; 1 is the longest.",
      "response_us", 1e-6},
     put_quantiles},
    {{"lockstep_in_flight", "I/Os in flight at the interval's end.",
      "in_flight", 1},
     put_gauge},
    {{"lockstep_oldest_io_seconds",
      "Age of the oldest I/O in flight at the interval's end.", "oldest_us",
      1e-6},
     put_gauge},
};

void metrics_print(FILE *out, const json_t *hosts, const json_t *const *live,
                   const json_t *const *status, size_t count)
{
    put_family(out, "lockstep_info", "The controller.");
    fputs("lockstep_info{version=\"" LOCKSTEP_VERSION "\"} 1\n", out);
    put_hosts(out, json_object_get(hosts, "hosts"));
    put_campaigns(out, status, count);
    for (size_t i = 0; i < ARRAY_LENGTH(drive_families); i++) {
        const struct family *family = &drive_families[i].family;

        /* Only a summary may have quantiles, say Prometheus' own rules. */
        put_typed(out, family->name, family->help,
                  drive_families[i].put == put_quantiles ? "summary" : "gauge");
        for (size_t k = 0; k < count; k++) {
            const json_t *list = json_object_get(live[k], "drives");

            if (!json_is_true(json_object_get(live[k], "running")))
                continue; /* between phases nothing is measured */
            for (size_t d = 0; d < json_array_size(list); d++)
                drive_families[i].put(out, family, json_array_get(list, d));
        }
    }
}
