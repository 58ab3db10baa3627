/*
 * apply_workload.c - wd=.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define SIZES_MAX    64u
#define STREAMS_MAX  256u
#define PRIORITY_MAX 64u

APPLY(apply_wd_sd)
{
    struct definition_wd *wd = definition;

    return value_names(reading, parameter, &wd->sds);
}

APPLY(apply_wd_host)
{
    struct definition_wd *wd = definition;

    return value_names(reading, parameter, &wd->hosts);
}

APPLY(apply_wd_skew)
{
    struct definition_wd *wd = definition;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err == 0)
        err = check_percentage(reading, parameter, &number);
    if (err < 0)
        return err;
    wd->skew = number.value;
    wd->skew_place = number.token->place;
    return 0;
}

/* ---- xfersize ---- */

static int one_size(struct reading *reading, struct definition_wd *wd,
                    const struct parameter *parameter,
                    const struct number *number)
{
    struct definition_size *size;
    int err = check_transfer(reading, parameter, number);

    if (err < 0)
        return err;
    size = ARENA_NEW(reading->arena, struct definition_size);
    if (size == NULL)
        return -ENOMEM;
    *size = (struct definition_size){(uint32_t)number->value, 100};
    wd->size_step = 0;
    wd->sizes = size;
    wd->size_count = 1;
    return 0;
}

/* (min,max,align): any multiple between the two. */
static int random_size(struct reading *reading, struct definition_wd *wd,
                       const struct parameter *parameter,
                       const struct number *numbers)
{
    struct definition_size *sizes =
        ARENA_ARRAY(reading->arena, 2, struct definition_size);
    uint32_t min = 0, max = 0, step = 0;

    if (sizes == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < 3; i++)
        if (check_transfer(reading, parameter, &numbers[i]) < 0)
            return -EINVAL;
    if (numbers[0].value >= numbers[1].value)
        return value_error(reading, parameter, numbers[0].token,
                           "xfersize=(min,max,align): %s is not below %s",
                           numbers[0].token->text, numbers[1].token->text);
    step = (uint32_t)numbers[2].value;
    min = ((uint32_t)numbers[0].value + step - 1) / step * step;
    max = (uint32_t)numbers[1].value / step * step;
    if (min > max)
        return value_error(reading, parameter, numbers[2].token,
                           "xfersize=(min,max,align): no multiple of %s lies "
                           "between %s and %s",
                           numbers[2].token->text, numbers[0].token->text,
                           numbers[1].token->text);
    sizes[0] = (struct definition_size){min, 50};
    sizes[1] = (struct definition_size){max, 50};
    wd->sizes = sizes;
    wd->size_count = 2;
    wd->size_step = step;
    wd->size_place = parameter->place;
    return 0;
}

/* Adds one pair of a mix to those before it. */
static int add_size(struct reading *reading, const struct parameter *parameter,
                    const struct number *pair, struct definition_size *sizes,
                    uint32_t *count)
{
    int err = check_transfer(reading, parameter, &pair[0]);

    if (err < 0)
        return err;
    if (pair[1].value < 0 || pair[1].value > 100)
        return value_error(reading, parameter, pair[1].token,
                           "%s is not a percentage from 0 to 100",
                           pair[1].token->text);
    if (pair[1].value == 0)
        return 0;
    if (*count == SIZES_MAX)
        return value_error(reading, parameter, pair[0].token,
                           "xfersize= mixes more than %u sizes", SIZES_MAX);
    sizes[(*count)++] =
        (struct definition_size){(uint32_t)pair[0].value, pair[1].value};
    return 0;
}

static int mixed_sizes(struct reading *reading, struct definition_wd *wd,
                       const struct parameter *parameter,
                       const struct number *numbers, uint32_t count)
{
    struct definition_size *sizes =
        ARENA_ARRAY(reading->arena, SIZES_MAX, struct definition_size);
    uint32_t size_count = 0;
    double sum = 0;
    int err = 0;

    if (sizes == NULL)
        return -ENOMEM;
    if (count % 2 != 0)
        return value_error(reading, parameter, NULL,
                           "xfersize= mixes pairs of size and per cent, as in "
                           "xfersize=(4k,70,8k,30)");
    for (uint32_t i = 0; i < count && err == 0; i += 2) {
        err = add_size(reading, parameter, &numbers[i], sizes, &size_count);
        sum += numbers[i + 1].value;
    }
    if (err < 0)
        return err;
    if (lround(sum) != 100)
        return value_error(reading, parameter, NULL,
                           "the percentages of xfersize= add up to %g, not to "
                           "100",
                           sum);
    for (uint32_t i = 0; i < size_count; i++)
        sizes[i].percent *= 100 / sum;
    wd->sizes = sizes;
    wd->size_step = 0;
    wd->size_count = size_count;
    return 0;
}

APPLY(apply_wd_xfersize)
{
    struct definition_wd *wd = definition;
    struct number *numbers;
    uint32_t count;
    int err = value_numbers(reading, parameter, UNIT_BYTES, &numbers, &count);

    if (err < 0)
        return err;
    if (count == 1)
        return one_size(reading, wd, parameter, &numbers[0]);
    if (count == 3)
        return random_size(reading, wd, parameter, numbers);
    return mixed_sizes(reading, wd, parameter, numbers, count);
}

/* ---- reads and seeks ---- */

/* vdbench drops the fraction. */
static int whole_percentage(struct reading *reading,
                            const struct parameter *parameter,
                            double *ret_percent)
{
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err == 0)
        err = check_percentage(reading, parameter, &number);
    if (err < 0)
        return err;
    value_whole(reading, parameter, &number);
    *ret_percent = number.value;
    return 0;
}

APPLY(apply_wd_rdpct)
{
    struct definition_wd *wd = definition;

    return whole_percentage(reading, parameter, &wd->read_percent);
}

APPLY(apply_wd_wrpct)
{
    struct definition_wd *wd = definition;
    double percent;
    int err = whole_percentage(reading, parameter, &percent);

    if (err == 0)
        wd->read_percent = 100 - percent;
    return err;
}

static bool is_prefix_of(const char *text, const char *word)
{
    return text[0] != '\0' && strncmp(word, text, strlen(text)) == 0;
}

/* poisson, or (poisson,mid). */
static int poisson(struct reading *reading, struct definition_wd *wd,
                   const struct parameter *parameter)
{
    struct number mid = {.value = 3};

    if (parameter->count > 2 ||
        (parameter->count == 2 &&
         (number_parse(parameter->values[1].text, UNIT_COUNT, &mid) < 0 ||
          mid.is_percent || mid.value < 1 || mid.value > 100)))
        return value_error(reading, parameter,
                           &parameter->values[parameter->count - 1],
                           "seekpct=(poisson,mid) takes a middle from 1 to "
                           "100");
    wd->end_at_eof = false;
    wd->seek_percent = 100;
    wd->seek = DEFINITION_SEEK_POISSON;
    wd->poisson_mid = mid.value;
    return 0;
}

APPLY(apply_wd_seekpct)
{
    struct definition_wd *wd = definition;
    const char *text = parameter->values[0].text;
    struct number number = {.token = &parameter->values[0]};

    wd->seek = DEFINITION_SEEK_UNIFORM;
    wd->starts_anywhere = false;
    if (is_prefix_of(text, "poisson"))
        return poisson(reading, wd, parameter);
    if (parameter->count > 1)
        return value_error(reading, parameter, &parameter->values[1],
                           "seekpct= takes one value here; forseekpct= of rd= "
                           "takes a list");
    wd->end_at_eof = false;
    if (strcasecmp(text, "seqnz") == 0) {
        wd->seek_percent = 0;
        wd->starts_anywhere = true;
        return 0;
    }
    if (is_prefix_of(text, "sequential")) {
        wd->seek_percent = 0;
        return 0;
    }
    if (strcasecmp(text, "eof") == 0 || strcmp(text, "-1") == 0) {
        wd->seek_percent = 0;
        wd->end_at_eof = true;
        return 0;
    }
    if (is_prefix_of(text, "random")) {
        wd->seek_percent = 100;
        return 0;
    }
    if (number_parse(text, UNIT_COUNT, &number) < 0 || number.is_percent ||
        number.value < 0 || number.value > 100)
        return value_error(reading, parameter, number.token,
                           "seekpct=%s is neither 0 to 100, nor seq, random or "
                           "eof",
                           text);
    value_warn_letter(reading, number.token, &number);
    wd->seek_percent = number.value;
    return 0;
}

APPLY(apply_wd_range)
{
    struct definition_wd *wd = definition;

    return apply_range(reading, &wd->range, parameter);
}

APPLY(apply_wd_openflags)
{
    struct definition_wd *wd = definition;

    return apply_openflags(reading, &wd->open, parameter);
}

/* ---- places ---- */

APPLY(apply_wd_hits)
{
    struct definition_wd *wd = definition;

    return whole_percentage(reading, parameter,
                            parameter->kind->name[0] == 'r'
                                ? &wd->read_hit_percent
                                : &wd->write_hit_percent);
}

/* hotband=: a range, in which places near its beginning are hit more often. */
APPLY(apply_wd_hotband)
{
    struct definition_wd *wd = definition;
    int err = apply_range(reading, &wd->range, parameter);

    if (err < 0)
        return err;
    wd->seek = DEFINITION_SEEK_BAND;
    wd->seek_percent = 100;
    return 0;
}

APPLY(apply_wd_stride)
{
    struct definition_wd *wd = definition;
    struct number *numbers;
    uint32_t count;
    int err = value_numbers(reading, parameter, UNIT_BYTES, &numbers, &count);

    if (err < 0)
        return err;
    if (count != 2)
        return value_error(
            reading, parameter, NULL,
            "stride= takes the least and the most bytes to leave "
            "out, as in stride=(64k,128k)");
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i].is_percent || numbers[i].value < 0 ||
            numbers[i].value > 0x1p60 || (uint64_t)numbers[i].value % 512 != 0)
            return value_error(reading, parameter, numbers[i].token,
                               "stride=%s is not a multiple of 512",
                               numbers[i].token->text);
    if (numbers[0].value > numbers[1].value || numbers[1].value <= 0)
        return value_error(reading, parameter, numbers[0].token,
                           "stride=(%s,%s): the second value must not be below "
                           "the first, nor 0",
                           numbers[0].token->text, numbers[1].token->text);
    wd->stride_min = (uint64_t)numbers[0].value;
    wd->stride_max = (uint64_t)numbers[1].value;
    return 0;
}

APPLY(apply_wd_streams)
{
    struct definition_wd *wd = definition;
    struct number *numbers;
    uint32_t count;
    int err = value_numbers(reading, parameter, UNIT_COUNT, &numbers, &count);

    if (err < 0)
        return err;
    if (count > 2 || numbers[0].is_percent || numbers[0].value < 2 ||
        numbers[0].value > STREAMS_MAX ||
        numbers[0].value != trunc(numbers[0].value))
        return value_error(reading, parameter, numbers[0].token,
                           "streams=%s is not a number from 2 to %u",
                           numbers[0].token->text, STREAMS_MAX);
    wd->streams = (uint32_t)numbers[0].value;
    if (count == 2)
        language_report_add(reading->report, LANGUAGE_WARNING,
                            &numbers[1].token->place, NULL,
                            "the second value of streams= has no effect, as in "
                            "vdbench");
    return 0;
}

/* ---- rates ---- */

APPLY(apply_wd_priority)
{
    struct definition_wd *wd = definition;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 1 || number.value > PRIORITY_MAX ||
        number.value != trunc(number.value))
        return value_error(reading, parameter, number.token,
                           "priority=%s is not a number from 1, the highest, "
                           "to %u",
                           number.token->text, PRIORITY_MAX);
    wd->priority = (uint32_t)number.value;
    return 0;
}

APPLY(apply_wd_iorate)
{
    struct definition_wd *wd = definition;
    struct number number = {.token = &parameter->values[0]};
    int err;

    if (parameter->count == 1 &&
        strcasecmp(parameter->values[0].text, "max") == 0) {
        wd->rate = 0;
        return 0;
    }
    err = value_number(reading, parameter, UNIT_COUNT, &number);
    if (err < 0)
        return err;
    if (number.is_percent || number.value <= 0 || number.value > 1e9)
        return value_error(reading, parameter, number.token,
                           "iorate=%s is not a rate above 0 and up to "
                           "1000000000",
                           number.token->text);
    wd->rate = number.value;
    wd->rate_place = number.token->place;
    return 0;
}

APPLY(apply_wd_threads)
{
    struct definition_wd *wd = definition;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err == 0)
        err = check_threads(reading, parameter, &number);
    if (err < 0)
        return err;
    value_whole(reading, parameter, &number);
    wd->threads = (uint32_t)number.value;
    return 0;
}

int apply_workload(struct building *building, const struct stanza *stanza)
{
    struct reading *reading = building->reading;
    const struct token *name = apply_name(building, stanza);
    struct definition_wd wd = building->wd_default;
    int err = 0;

    if (name == NULL)
        return 0;
    wd.name = name->text;
    wd.place = name->place;
    for (uint32_t i = 0; i < stanza->count && err == 0; i++)
        err = apply_parameter(building, &wd, &stanza->parameters[i]);
    if (err < 0)
        return err;
    if (strcmp(name->text, "default") == 0) {
        building->wd_default = wd;
        return 0;
    }
    err = reading_grow(reading, &building->wds, building->wd_count,
                       &building->wd_capacity, sizeof(wd));
    if (err == 0)
        building->wds[building->wd_count++] = wd;
    return err;
}
