/*
 * apply_storage.c - sd=.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT_MAX 65536u
#define SDS_MAX   65536u

APPLY(apply_sd_host)
{
    struct sd_building *building = definition;
    struct definition_names names;
    int err = value_names(reading, parameter, &names);

    if (err == 0)
        err = reading_grow(reading, &building->hosts, building->host_count,
                           &building->host_capacity, sizeof(names));
    if (err == 0)
        building->hosts[building->host_count++] = names;
    return err;
}

APPLY(apply_sd_lun)
{
    struct sd_building *building = definition;
    const struct token *token;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    if (building->is_default) {
        building->lun_refused = true;
        return value_error(reading, parameter, NULL,
                           "sd=default cannot have a lun=: give it to each "
                           "sd=");
    }
    if (token->text[0] == '\0' || strlen(token->text) >= PATH_SIZE)
        return value_error(reading, parameter, token,
                           "a path has 1 to %d bytes", PATH_SIZE - 1);
    err = reading_grow(reading, &building->luns, building->lun_count,
                       &building->lun_capacity, sizeof(building->luns[0]));
    if (err == 0)
        building->luns[building->lun_count++] =
            (struct definition_name){token->text, token->place};
    return err;
}

APPLY(apply_sd_count)
{
    struct sd_building *building = definition;
    struct number *numbers;
    uint32_t count;
    int err = value_numbers(reading, parameter, UNIT_COUNT, &numbers, &count);

    if (err < 0)
        return err;
    if (count != 2 || numbers[0].value < 0 || numbers[1].value < 1)
        return value_error(reading, parameter, NULL,
                           "count= takes the first number and how many, as in "
                           "count=(1,8)");
    if (numbers[0].value > COUNT_MAX || numbers[1].value > COUNT_MAX)
        return value_error(reading, parameter, numbers[0].token,
                           "count= goes up to %u", COUNT_MAX);
    building->count_first = (uint32_t)numbers[0].value;
    building->count_number = (uint32_t)numbers[1].value;
    return 0;
}

/* A value, and optionally what it is divided by. */
static int divided(struct reading *reading, const struct parameter *parameter,
                   enum unit unit, struct number *ret_number)
{
    struct number *numbers;
    uint32_t count;
    int err = value_numbers(reading, parameter, unit, &numbers, &count);

    if (err < 0)
        return err;
    if (count > 2)
        return value_error(reading, parameter, numbers[2].token,
                           "%s= takes a value and a divisor, no more",
                           parameter->kind->name);
    *ret_number = numbers[0];
    if (count == 1)
        return 0;
    if (numbers[1].is_percent || numbers[1].value < 1)
        return value_error(reading, parameter, numbers[1].token,
                           "%s= cannot be divided by %s", parameter->kind->name,
                           numbers[1].token->text);
    ret_number->value =
        (double)((uint64_t)ret_number->value / (uint64_t)numbers[1].value);
    return 0;
}

APPLY(apply_sd_size)
{
    struct sd_building *building = definition;
    struct number number;
    int err = divided(reading, parameter, UNIT_BYTES, &number);
    uint64_t bytes;

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 512 || number.value > 0x1p62)
        return value_error(reading, parameter, number.token,
                           "size=%s is not a size of 512 bytes or more",
                           number.token->text);
    bytes = (uint64_t)number.value;
    if (bytes % 512 != 0)
        language_report_add(reading->report, LANGUAGE_WARNING,
                            &number.token->place, NULL,
                            "size=%s is not a multiple of 512; the bytes "
                            "beyond are not used",
                            number.token->text);
    building->sd.size_bytes = bytes / 512 * 512;
    building->sd.size_place = parameter->place;
    return 0;
}

APPLY(apply_sd_threads)
{
    struct sd_building *building = definition;
    struct number number;
    int err = divided(reading, parameter, UNIT_COUNT, &number);

    if (err == 0)
        err = check_threads(reading, parameter, &number);
    if (err < 0)
        return err;
    value_whole(reading, parameter, &number);
    building->sd.threads = (uint32_t)number.value;
    return 0;
}

APPLY(apply_sd_openflags)
{
    struct sd_building *building = definition;

    return apply_openflags(reading, &building->sd.open, parameter);
}

APPLY(apply_sd_range)
{
    struct sd_building *building = definition;

    return apply_range(reading, &building->sd.range, parameter);
}

/* ---- places ---- */

int apply_blocks(struct reading *reading, const struct parameter *parameter,
                 uint64_t most, uint64_t *ret_bytes)
{
    struct number number;
    int err = value_number(reading, parameter, UNIT_BYTES, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 0 || number.value > (double)most)
        return value_error(reading, parameter, number.token,
                           "%s=%s is not a size of 0 to %" PRIu64 " bytes",
                           parameter->kind->name, number.token->text, most);
    if ((uint64_t)number.value % 512 != 0 ||
        number.value != (double)(uint64_t)number.value)
        return value_error(reading, parameter, number.token,
                           "%s=%s is not a multiple of 512",
                           parameter->kind->name, number.token->text);
    *ret_bytes = (uint64_t)number.value;
    return 0;
}

APPLY(apply_sd_hitarea)
{
    struct sd_building *building = definition;

    building->sd.hit_place = parameter->place;
    return apply_blocks(reading, parameter, UINT64_C(1) << 60,
                        &building->sd.hit_area);
}

APPLY(apply_sd_offset)
{
    struct sd_building *building = definition;

    return apply_blocks(reading, parameter, UINT64_C(1) << 60,
                        &building->sd.offset);
}

APPLY(apply_sd_align)
{
    struct sd_building *building = definition;
    uint64_t bytes;
    int err = apply_blocks(reading, parameter, 256u << 20, &bytes);

    if (err < 0)
        return err;
    building->sd.align = (uint32_t)bytes;
    building->sd.align_place = parameter->place;
    return 0;
}

APPLY(apply_sd_overwrite)
{
    struct sd_building *building = definition;

    return value_yes(reading, parameter, &building->sd.overwrite);
}

/* ---- names that count ---- */

/* "%02d" and the like: '%', an optional width, 'd'.  NULL: no such mask. */
static const char *find_mask(const char *text, int *ret_width, bool *ret_zeros,
                             size_t *ret_length)
{
    for (const char *p = strchr(text, '%'); p != NULL; p = strchr(p + 1, '%')) {
        const char *q = p + 1;
        int width = 0;

        *ret_zeros = *q == '0';
        while (isdigit((unsigned char)*q) && width < 10)
            width = width * 10 + (*q++ - '0');
        if (*q != 'd' || width > 16)
            continue;
        *ret_width = width;
        *ret_length = (size_t)(q - p) + 1;
        return p;
    }
    return NULL;
}

/* The number in place of a mask or a '*', else at the end. */
static char *counted_name(struct reading *reading, const char *text,
                          uint32_t number)
{
    int width = 0;
    bool zeros = false;
    size_t length = 1;
    const char *at = find_mask(text, &width, &zeros, &length);

    if (at == NULL)
        at = strchr(text, '*');
    if (at == NULL)
        return arena_printf(reading->arena, "%s%u", text, number);
    if (zeros)
        return arena_printf(reading->arena, "%.*s%0*u%s", (int)(at - text),
                            text, width, number, at + length);
    return arena_printf(reading->arena, "%.*s%*u%s", (int)(at - text), text,
                        width, number, at + length);
}

/* ---- the entry ---- */

/* drive= stands for all its lun=: the fleet's drives settle them. */
static int pair_selection(struct reading *reading, struct sd_building *sd,
                          struct definition_path **ret_paths)
{
    const struct definition_select *select = &sd->sd.select;
    const char *with = sd->lun_count > 0      ? "lun="
                       : sd->count_number > 0 ? "count= behind sd="
                       : sd->host_count > 1   ? "several host="
                                              : NULL;
    struct definition_path *path;
    char *text;

    if (with != NULL) {
        language_report_add(
            reading->report, LANGUAGE_ERROR, &select->place,
            sd->count_number > 0 ? "write it within, as in drive=(count=24)"
                                 : NULL,
            "sd=%s: drive= does not go with %s", sd->sd.name, with);
        return -EINVAL;
    }
    path = ARENA_NEW(reading->arena, struct definition_path);
    text = arena_printf(reading->arena, "drive=(%s)", select->text);
    if (path == NULL || text == NULL)
        return -ENOMEM;
    path->lun = (struct definition_name){text, select->place};
    path->hosts = sd->host_count > 0 ? sd->hosts[0] : sd->hosts_default;
    *ret_paths = path;
    return 0;
}

/* Pairs each lun= with its host=. */
static int pair_paths(struct reading *reading, struct sd_building *sd,
                      struct definition_path **ret_paths)
{
    uint32_t hosts = sd->host_count;
    struct definition_path *paths;

    if (sd->sd.select.given)
        return pair_selection(reading, sd, ret_paths);
    if (sd->lun_count == 0 && (sd->lun_refused || reading->unknown_variable))
        return -EINVAL; /* what is wrong is said already */
    if (sd->lun_count == 0) {
        language_report_add(reading->report, LANGUAGE_ERROR, &sd->sd.place,
                            "or drive=, which selects drives by what they are",
                            "sd=%s has no lun=", sd->sd.name);
        return -EINVAL;
    }
    if (hosts > 0 && hosts != sd->lun_count) {
        language_report_add(reading->report, LANGUAGE_ERROR, &sd->sd.place,
                            "write host=a,lun=x,host=b,lun=y; or one lun= and "
                            "host=(a,b)",
                            "sd=%s has %u lun= and %u host=; they come in "
                            "pairs",
                            sd->sd.name, sd->lun_count, hosts);
        return -EINVAL;
    }
    if (hosts == 0 && sd->lun_count > 1) {
        language_report_add(
            reading->report, LANGUAGE_ERROR, &sd->luns[1].place, NULL,
            "sd=%s has several lun=, but no host= for each", sd->sd.name);
        return -EINVAL;
    }
    paths = ARENA_ARRAY(reading->arena, sd->lun_count, struct definition_path);
    if (paths == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < sd->lun_count; i++)
        paths[i] = (struct definition_path){
            .lun = sd->luns[i],
            .hosts = hosts > 0 ? sd->hosts[i] : sd->hosts_default,
        };
    *ret_paths = paths;
    return 0;
}

static int add_sd(struct building *building, const struct definition_sd *sd)
{
    struct reading *reading = building->reading;
    int err;

    if (building->sd_count == SDS_MAX) {
        language_report_add(reading->report, LANGUAGE_ERROR, &sd->place, NULL,
                            "more than %u sds", SDS_MAX);
        return 0;
    }
    if (strlen(sd->name) >= NAME_SIZE) {
        language_report_add(reading->report, LANGUAGE_ERROR, &sd->place, NULL,
                            "a name has 1 to %d bytes", NAME_SIZE - 1);
        return 0;
    }
    err = reading_grow(reading, &building->sds, building->sd_count,
                       &building->sd_capacity, sizeof(*sd));
    if (err == 0)
        building->sds[building->sd_count++] = *sd;
    return err;
}

/* The index-th sd of count=. */
static int add_counted(struct building *building,
                       const struct sd_building *from,
                       const struct definition_path *paths, uint32_t index)
{
    struct reading *reading = building->reading;
    uint32_t number = from->count_first + index;
    struct definition_sd sd = from->sd;
    struct definition_path *copies =
        arena_memdup(reading->arena, paths, from->lun_count * sizeof(*copies));

    sd.name = counted_name(reading, from->sd.name, number);
    if (copies == NULL || sd.name == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->lun_count; i++) {
        copies[i].lun.text = counted_name(reading, paths[i].lun.text, number);
        if (copies[i].lun.text == NULL)
            return -ENOMEM;
    }
    sd.paths = copies;
    sd.path_count = from->lun_count;
    return add_sd(building, &sd);
}

/* What the sd does not say itself, the general parameters say. */
static void settle_dedup(struct building *building, struct sd_building *sd)
{
    struct definition_dedup dedup = building->general.dedup;

    if (sd->dedup.ratio > 0) {
        dedup.ratio = sd->dedup.ratio;
        dedup.place = sd->dedup.place;
    }
    if (sd->dedup.unit > 0) {
        dedup.unit = sd->dedup.unit;
        dedup.unit_place = sd->dedup.unit_place;
    }
    if (sd->dedup.sets > 0) {
        dedup.sets = sd->dedup.sets;
        dedup.sets_is_percent = sd->dedup.sets_is_percent;
    }
    if (sd->dedup.hot_count > 0) {
        memcpy(dedup.hot, sd->dedup.hot, sizeof(dedup.hot));
        dedup.hot_count = sd->dedup.hot_count;
        dedup.hot_place = sd->dedup.hot_place;
    }
    if (sd->dedup.flip_given) {
        dedup.flip = sd->dedup.flip;
        dedup.flip_place = sd->dedup.flip_place;
    }
    dedup.bucket = sd->dedup.bucket;
    if (dedup.sets == 0) {
        dedup.sets = 5;
        dedup.sets_is_percent = true;
    }
    if (dedup.ratio > 1 && dedup.unit == 0)
        language_report_add(building->reading->report, LANGUAGE_ERROR,
                            &dedup.place, "as in dedupunit=4k",
                            "dedupratio= needs a dedupunit=");
    if (dedup.flip == DEFINITION_FLIP_HOT && dedup.hot_count == 0)
        language_report_add(building->reading->report, LANGUAGE_ERROR,
                            &dedup.flip_place, "as in deduphotsets=(10,2)",
                            "dedupflipflop=hot needs deduphotsets=");
    sd->sd.dedup = dedup;
}

static int finish_sd(struct building *building, struct sd_building *sd)
{
    struct definition_path *paths = NULL;
    int err = pair_paths(building->reading, sd, &paths);

    settle_dedup(building, sd);
    if (err == -ENOMEM)
        return err;
    if (err < 0)
        sd->lun_count = 0; /* it counts as defined: one error is enough */
    sd->sd.paths = paths;
    sd->sd.path_count = err == 0 && sd->sd.select.given ? 1 : sd->lun_count;
    err = 0;
    if (sd->count_number == 0)
        return add_sd(building, &sd->sd);
    for (uint32_t i = 0; i < sd->count_number && err == 0; i++)
        err = add_counted(building, sd, paths, i);
    return err;
}

int apply_storage(struct building *building, const struct stanza *stanza)
{
    const struct token *name = NULL;
    struct sd_building sd = building->sd_default;
    int err = 0;

    /* With count= the * in a name becomes the number. */
    if (stanza->name_count == 1 && strchr(stanza->names[0].text, '*') != NULL)
        for (uint32_t i = 0; i < stanza->count; i++)
            if (strcmp(stanza->parameters[i].kind->name, "count") == 0)
                name = &stanza->names[0];
    if (name == NULL)
        name = apply_name(building, stanza);
    if (name == NULL)
        return 0;
    sd.is_default = strcmp(name->text, "default") == 0;
    sd.sd.name = name->text;
    sd.sd.place = name->place;
    for (uint32_t i = 0; i < stanza->count && err == 0; i++)
        err = apply_parameter(building, &sd, &stanza->parameters[i]);
    if (err < 0)
        return err;
    if (!sd.is_default)
        return finish_sd(building, &sd);
    if (sd.host_count > 0)
        sd.hosts_default = sd.hosts[sd.host_count - 1];
    sd.hosts = NULL;
    sd.host_count = 0;
    sd.host_capacity = 0;
    building->sd_default = sd;
    return 0;
}
