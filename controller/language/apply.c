/*
 * apply.c - from stanzas to definitions: the order of things, hosts, and what
 * several sections share.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TRANSFER_MAX (256u << 20)
#define THREADS_MAX  65536u

/* ---- parameters without effect ---- */

static void note_idle(struct building *building,
                      const struct parameter *parameter)
{
    for (uint32_t i = 0; i < building->idle_count; i++)
        if (building->idle[i] == parameter->kind)
            return;
    if (building->idle_count == ARRAY_LENGTH(building->idle))
        return;
    if (building->idle_count == 0)
        building->idle_place = parameter->place;
    building->idle[building->idle_count++] = parameter->kind;
}

/* All of them in one message. */
static void report_idle(struct building *building)
{
    char text[1024];
    size_t used = 0;

    if (building->idle_count == 0)
        return;
    text[0] = '\0';
    for (uint32_t i = 0; i < building->idle_count; i++) {
        int n = snprintf(text + used, sizeof(text) - used,
                         "%s%s=", i > 0 ? ", " : "", building->idle[i]->name);

        if (n < 0 || (size_t)n >= sizeof(text) - used)
            break;
        used += (size_t)n;
    }
    language_report_add(building->reading->report, LANGUAGE_NOTE,
                        &building->idle_place, NULL,
                        "accepted, but without effect here: %s", text);
}

/* ---- one parameter ---- */

/* What no function looks at must still be written well. */
static int check_shape(struct reading *reading,
                       const struct parameter *parameter)
{
    struct number *numbers;
    uint32_t count;

    if (parameter->kind->shape != SHAPE_NUMBERS)
        return 0;
    return value_numbers(reading, parameter, UNIT_BYTES, &numbers, &count);
}

int apply_parameter(struct building *building, void *definition,
                    const struct parameter *parameter)
{
    struct reading *reading = building->reading;
    const struct parameter_kind *kind = parameter->kind;
    int err = 0;

    switch (kind->support) {
    case PARAMETER_NO_EFFECT:
        note_idle(building, parameter);
        if (kind->apply != NULL)
            err = kind->apply(reading, definition, parameter);
        break;
    case PARAMETER_NOT_YET:
        err = check_shape(reading, parameter);
        if (err == 0)
            err = value_not_yet(reading, parameter, NULL);
        break;
    case PARAMETER_WORKS:
        err = kind->apply(reading, definition, parameter);
        break;
    }
    return err == -ENOMEM ? err : 0;
}

/* Many values exist, and none of them but no is done yet. */
APPLY(apply_anything_but_no)
{
    const struct token *token = &parameter->values[0];

    (void)definition;
    if (parameter->count == 1 && strcasecmp(token->text, "no") == 0)
        return 0;
    return value_not_yet(reading, parameter, NULL);
}

/* ---- shared values ---- */

int check_transfer(struct reading *reading, const struct parameter *parameter,
                   const struct number *number)
{
    if (number->is_percent || number->value < 1)
        return value_error(reading, parameter, number->token,
                           "xfersize=%s is not a size above 0",
                           number->token->text);
    if (number->value > TRANSFER_MAX)
        return value_error(reading, parameter, number->token,
                           "xfersize=%s is more than 256m",
                           number->token->text);
    if ((uint64_t)number->value % 512 != 0 ||
        number->value != (double)(uint64_t)number->value)
        return value_error(reading, parameter, number->token,
                           "xfersize=%s is not a multiple of 512",
                           number->token->text);
    return 0;
}

int check_percentage(struct reading *reading, const struct parameter *parameter,
                     const struct number *number)
{
    if (number->value < 0 || number->value > 100)
        return value_error(reading, parameter, number->token,
                           "%s=%s is not a percentage from 0 to 100",
                           parameter->kind->name, number->token->text);
    return 0;
}

int check_threads(struct reading *reading, const struct parameter *parameter,
                  const struct number *number)
{
    if (number->is_percent || number->value < 1 || number->value > THREADS_MAX)
        return value_error(reading, parameter, number->token,
                           "threads=%s is not a number from 1 to %u",
                           number->token->text, THREADS_MAX);
    return 0;
}

int apply_range(struct reading *reading, struct definition_range *range,
                const struct parameter *parameter)
{
    struct number *numbers;
    uint32_t count;
    int err = value_numbers(reading, parameter, UNIT_BYTES, &numbers, &count);

    if (err < 0)
        return err;
    if (count != 2)
        return value_error(reading, parameter, NULL,
                           "range= takes two values, as in range=(0,50)");
    if (numbers[0].value < 0 || numbers[1].value <= 0)
        return value_error(reading, parameter, numbers[0].token,
                           "range= ends below its beginning");

    bool low_is_percent = numbers[0].is_percent || numbers[0].value <= 100;
    bool high_is_percent = numbers[1].is_percent || numbers[1].value <= 200;

    if (low_is_percent == high_is_percent &&
        numbers[0].value >= numbers[1].value)
        return value_error(reading, parameter, numbers[0].token,
                           "range=(%s,%s): the second value must be above the "
                           "first",
                           numbers[0].token->text, numbers[1].token->text);
    if (high_is_percent && numbers[1].value > 100 &&
        (!low_is_percent || numbers[1].value - 100 > numbers[0].value))
        return value_error(reading, parameter, numbers[1].token,
                           "range=(%s,%s) goes on from the beginning and "
                           "overlaps with itself",
                           numbers[0].token->text, numbers[1].token->text);
    *range = (struct definition_range){
        .given = true,
        .low_is_percent = low_is_percent,
        .high_is_percent = high_is_percent,
        .low = numbers[0].value,
        .high = numbers[1].value,
        .place = parameter->place,
    };
    return 0;
}

static const struct {
    const char *name;
    uint32_t flags;
} open_flags[] = {
    {"o_direct", DEFINITION_OPEN_DIRECT}, {"directio", DEFINITION_OPEN_DIRECT},
    {"o_dsync", DEFINITION_OPEN_DSYNC},   {"o_sync", DEFINITION_OPEN_SYNC},
    {"o_rsync", DEFINITION_OPEN_SYNC},    {"fsync", DEFINITION_OPEN_FSYNC},
    {"0x4000", DEFINITION_OPEN_DIRECT},   {"0x1000", DEFINITION_OPEN_DSYNC},
    {"0x101000", DEFINITION_OPEN_SYNC},
};

static int report_open_flag(struct reading *reading, const struct token *token)
{
    const char *names[ARRAY_LENGTH(open_flags)];
    const char *near;
    char hint[64];

    for (size_t i = 0; i < ARRAY_LENGTH(open_flags); i++)
        names[i] = open_flags[i].name;
    near = suggest(token->text, names, 6);
    if (near != NULL)
        (void)snprintf(hint, sizeof(hint), "did you mean %s?", near);
    language_report_add(reading->report, LANGUAGE_ERROR, &token->place,
                        near != NULL ? hint : NULL,
                        "'%s' is no open flag; known are o_direct, o_dsync, "
                        "o_sync and fsync",
                        token->text);
    return -EINVAL;
}

int apply_openflags(struct reading *reading, struct definition_open *open,
                    const struct parameter *parameter)
{
    uint32_t flags = 0;

    for (uint32_t i = 0; i < parameter->count; i++) {
        const struct token *token = &parameter->values[i];
        bool known = false;

        for (size_t k = 0; k < ARRAY_LENGTH(open_flags); k++)
            if (strcasecmp(token->text, open_flags[k].name) == 0) {
                flags |= open_flags[k].flags;
                known = true;
            }
        if (!known)
            return report_open_flag(reading, token);
    }
    *open = (struct definition_open){
        .given = true,
        .flags = flags,
        .place = parameter->place,
    };
    return 0;
}

const struct token *apply_name(struct building *building,
                               const struct stanza *stanza)
{
    struct language_report *report = building->reading->report;
    const struct token *token = &stanza->names[0];
    struct number number = {0};

    if (stanza->name_count > 1) {
        language_report_add(report, LANGUAGE_ERROR, &stanza->names[1].place,
                            NULL, "%s= defines one name, not several",
                            section_name(stanza->section));
        return NULL;
    }
    if (token->text[0] == '\0' || strlen(token->text) >= NAME_SIZE) {
        language_report_add(report, LANGUAGE_ERROR, &token->place, NULL,
                            "a name has 1 to %d bytes", NAME_SIZE - 1);
        return NULL;
    }
    if (strchr(token->text, '*') != NULL) {
        language_report_add(report, LANGUAGE_ERROR, &token->place, NULL,
                            "'%s' defines a name, which cannot hold a *",
                            token->text);
        return NULL;
    }
    if (stanza->section != SECTION_HD && !token->quoted &&
        number_parse(token->text, UNIT_BYTES, &number) == 0)
        language_report_add(report, LANGUAGE_WARNING, &token->place, NULL,
                            "vdbench refuses the name '%s': it is a number",
                            token->text);
    return token;
}

/* ---- hosts ---- */

APPLY(apply_host_system)
{
    struct host_building *building = definition;
    const struct token *token;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    if (token->text[0] == '\0' || strlen(token->text) >= TEXT_SIZE)
        return value_error(reading, parameter, token,
                           "system= is an agent's name or address of 1 to %d "
                           "bytes",
                           TEXT_SIZE - 1);
    building->host.system = token->text;
    return 0;
}

static bool is_known_host(const struct building *building, const char *label)
{
    for (uint32_t i = 0; i < building->host_count; i++)
        if (strcmp(building->hosts[i].label, label) == 0)
            return true;
    return false;
}

int apply_host(struct building *building, const struct stanza *stanza)
{
    struct reading *reading = building->reading;
    const struct token *token = &stanza->names[stanza->name_count - 1];
    bool is_default = strcmp(token->text, "default") == 0;
    struct host_building host = building->host_default;
    int err = 0;

    if (stanza->name_count > 2) {
        language_report_add(reading->report, LANGUAGE_ERROR, &stanza->place,
                            NULL, "hd= takes a label, or (system,label)");
        return 0;
    }
    host.host.label = token->text;
    host.host.place = token->place;
    if (stanza->name_count == 2)
        host.host.system = stanza->names[0].text;
    for (uint32_t i = 0; i < stanza->count && err == 0; i++)
        err = apply_parameter(building, &host, &stanza->parameters[i]);
    if (err < 0)
        return err;
    if (is_default) {
        building->host_default = host;
        return 0;
    }
    if (token->text[0] == '\0' || strlen(token->text) >= NAME_SIZE)
        language_report_add(reading->report, LANGUAGE_ERROR, &token->place,
                            NULL, "a name has 1 to %d bytes", NAME_SIZE - 1);
    if (is_known_host(building, token->text))
        language_report_add(reading->report, LANGUAGE_ERROR, &token->place,
                            NULL, "hd=%s is defined twice", token->text);
    if (host.host.system == NULL)
        host.host.system = host.host.label;
    err = reading_grow(reading, &building->hosts, building->host_count,
                       &building->host_capacity, sizeof(host.host));
    if (err == 0)
        building->hosts[building->host_count++] = host.host;
    return err;
}

/* ---- the whole ---- */

static int apply_general(struct building *building, const struct stanza *stanza)
{
    int err = 0;

    for (uint32_t i = 0; i < stanza->count && err == 0; i++)
        err = apply_parameter(building, &building->general,
                              &stanza->parameters[i]);
    return err;
}

static int apply_stanza(struct building *building, const struct stanza *stanza)
{
    switch (stanza->section) {
    case SECTION_GENERAL:
        return apply_general(building, stanza);
    case SECTION_HD:
        return apply_host(building, stanza);
    case SECTION_SD:
        return hosts_expand(building, stanza, apply_storage);
    case SECTION_WD:
        return hosts_expand(building, stanza, apply_workload);
    case SECTION_RD:
        return hosts_expand(building, stanza, apply_rd);
    case SECTIONS:
        break;
    }
    return 0;
}

/* -r: those before it are not run. */
static void drop_first(struct building *building)
{
    const struct definition_name *first = &building->general.first_rd;
    uint32_t at = 0;

    if (first->text == NULL)
        return;
    while (at < building->rd_count &&
           strcmp(building->rds[at].name, first->text) != 0)
        at++;
    if (at == building->rd_count) {
        language_report_add(building->reading->report, LANGUAGE_ERROR,
                            &first->place, NULL,
                            "there is no rd=%s to begin with", first->text);
        return;
    }
    building->rds += at;
    building->rd_count -= at;
}

int apply_run(struct reading *reading)
{
    struct definitions *definitions = reading->definitions;
    struct building *building = arena_alloc(reading->arena, sizeof(*building));
    int err = 0;

    if (building == NULL)
        return -ENOMEM;
    building->reading = reading;
    apply_defaults(building);
    for (uint32_t i = 0; i < reading->stanza_count && err == 0; i++)
        err = apply_stanza(building, &reading->stanzas[i]);
    if (err < 0)
        return err;
    report_idle(building);
    drop_first(building);
    definitions->general = building->general;
    definitions->hosts = building->hosts;
    definitions->host_count = building->host_count;
    definitions->sds = building->sds;
    definitions->sd_count = building->sd_count;
    definitions->wds = building->wds;
    definitions->wd_count = building->wd_count;
    definitions->wd_default = building->wd_default;
    definitions->rds = building->rds;
    definitions->rd_count = building->rd_count;
    return 0;
}
