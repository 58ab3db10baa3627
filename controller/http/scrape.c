/*
 * A scrape: hosts first, which say what campaigns run; then each one's status
 * and newest interval.
 */
#include "controller/http/inside.h"
#include "controller/http/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void next(struct exchange *x);

void scrape_done(struct scrape *scrape)
{
    json_decref(scrape->hosts);
    for (size_t i = 0; i < scrape->count; i++) {
        json_decref(scrape->status[i]);
        json_decref(scrape->live[i]);
    }
    *scrape = (struct scrape){0};
}

static json_t *parse(struct ask_answer *from)
{
    json_t *json = from->status != 0 || from->text == NULL
                       ? NULL
                       : json_loadb(from->text, from->length, 0, NULL);

    free(from->text);
    return json;
}

static void print(struct exchange *x)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (out != NULL) {
        metrics_print(out, x->scrape.hosts,
                      (const json_t *const *)x->scrape.live,
                      (const json_t *const *)x->scrape.status, x->scrape.count);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    exchange_answer(x, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8",
                    text, length);
}

/* Campaigns that hold hosts, each once. */
static void note_campaigns(struct scrape *scrape)
{
    const json_t *hosts = json_object_get(scrape->hosts, "hosts");

    for (size_t i = 0; i < json_array_size(hosts); i++) {
        json_int_t number = json_integer_value(
            json_object_get(json_array_get(hosts, i), "campaign"));
        bool seen = number <= 0 || scrape->count == HTTP_SCRAPE_MAX;

        for (size_t k = 0; k < scrape->count; k++)
            seen |= scrape->numbers[k] == (uint64_t)number;
        if (!seen)
            scrape->numbers[scrape->count++] = (uint64_t)number;
    }
}

static void on_hosts(void *data, struct ask_answer from)
{
    struct exchange *x = data;

    x->ask = NULL;
    x->scrape.hosts = parse(&from);
    note_campaigns(&x->scrape);
    next(x);
}

static void on_campaign(void *data, struct ask_answer from)
{
    struct exchange *x = data;
    struct scrape *scrape = &x->scrape;
    json_t *json = parse(&from);

    x->ask = NULL;
    if (scrape->have % 2 == 0)
        scrape->status[scrape->have / 2] = json;
    else
        scrape->live[scrape->have / 2] = json;
    scrape->have++;
    next(x);
}

static void next(struct exchange *x)
{
    struct scrape *scrape = &x->scrape;
    char campaign[NAME_SIZE];

    if (scrape->have == 2 * scrape->count) {
        print(x);
        return;
    }
    (void)snprintf(campaign, sizeof(campaign), "%llu",
                   (unsigned long long)scrape->numbers[scrape->have / 2]);
    exchange_ask(x,
                 &(struct wire_request){
                     .kind = scrape->have % 2 == 0 ? WIRE_REQUEST_STATUS
                                                   : WIRE_REQUEST_LIVE,
                     .campaign = campaign,
                     .cells = true,
                 },
                 on_campaign);
}

void scrape_begin(struct exchange *x)
{
    exchange_ask(x, &(struct wire_request){.kind = WIRE_REQUEST_HOSTS},
                 on_hosts);
}
