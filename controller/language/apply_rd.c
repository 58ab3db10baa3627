/*
 * apply_rd.c - rd=.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define SECONDS_MAX 1e9 /* 31 years */
#define RATE_MAX    1e9
#define STEPS_MAX   1800u

#define SPIN_PERCENT 30u /* arrival_precision=spin */

void apply_defaults(struct building *building)
{
    static const struct definition_size size = {4096, 100};

    building->general.compression = 1;
    building->general.max_errors = 50;
    building->sd_default.sd.threads = 8;
    building->sd_default.sd.hit_area = 1u << 20;
    building->wd_default.name = "default";
    building->wd_default.sizes = &size;
    building->wd_default.size_count = 1;
    building->wd_default.read_percent = 100;
    building->wd_default.seek_percent = 100;
    building->rd_default.rd.elapsed_ns = 30 * NS_PER_S;
    building->rd_default.rd.interval_ns = NS_PER_S;
    building->rd_default.rd.repeat = 1;
}

/* ---- what runs where ---- */

APPLY(apply_rd_wd)
{
    struct rd_building *building = definition;

    if (building->wds_given)
        return value_error(reading, parameter, NULL,
                           "wd= is given twice; several workloads are "
                           "wd=(a,b)");
    building->wds_given = true;
    return value_names(reading, parameter, &building->rd.wds);
}

APPLY(apply_rd_sd)
{
    struct rd_building *building = definition;
    struct definition_rd *rd = &building->rd;
    const char *text = parameter->values[0].text;
    static const char sets[] = "setsof";
    struct number number = {0};
    int err = value_names(reading, parameter, &rd->sds);

    if (err < 0)
        return err;
    rd->spread = SPREAD_NAMES;
    if (parameter->count > 1)
        return 0;
    if (strcmp(text, "range") == 0) {
        rd->spread = SPREAD_RANGE;
    } else if (strcmp(text, "single") == 0) {
        rd->spread = SPREAD_SETS;
        rd->spread_size = 1;
    } else if (strncmp(text, sets, strlen(sets)) == 0 &&
               number_parse(text + strlen(sets), UNIT_COUNT, &number) == 0) {
        if (number.value < 1 || number.value > 65536)
            return value_error(reading, parameter, NULL,
                               "sd=%s: sets hold one sd or more", text);
        rd->spread = SPREAD_SETS;
        rd->spread_size = (uint32_t)number.value;
    }
    return 0;
}

/* ---- rates ---- */

/* 100MiB/s and the like: ours. */
static bool is_throughput(const char *text, double *ret_bytes)
{
    static const struct {
        const char *unit;
        int bits;
    } units[] = {{"k", 10}, {"m", 20}, {"g", 30}};
    char head[32];
    const char *slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : 0;
    struct number number = {0};

    if (slash == NULL || strcasecmp(slash, "/s") != 0 || length < 3 ||
        length >= sizeof(head) || strncasecmp(slash - 1, "b", 1) != 0)
        return false;
    length -= strncasecmp(slash - 2, "i", 1) == 0 ? 2 : 1;
    memcpy(head, text, length);
    head[length] = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
        if (strncasecmp(&head[length - 1], units[i].unit, 1) == 0) {
            head[length - 1] = '\0';
            if (number_parse(head, UNIT_COUNT, &number) < 0 ||
                number.is_percent || number.value <= 0)
                return false;
            *ret_bytes = ldexp(number.value, units[i].bits);
            return true;
        }
    return false;
}

static int read_rate(struct reading *reading, const struct parameter *parameter,
                     const struct number *number, struct definition_rate *ret)
{
    if (number->value <= 0 || number->value > RATE_MAX)
        return value_error(reading, parameter, number->token,
                           "iorate=%s is not a rate above 0%s",
                           number->token->text,
                           number->value > 0 ? " and up to 1000000000" : "");
    *ret = (struct definition_rate){
        .kind = number->is_percent ? DEFINITION_RATE_OBSERVED
                                   : DEFINITION_RATE_FIXED,
        .value = number->value,
    };
    return 0;
}

/* max, or 100MiB/s. */
static bool is_single_rate(const struct token *token)
{
    double bytes;

    return strcasecmp(token->text, "max") == 0 ||
           is_throughput(token->text, &bytes);
}

/* Numbers, and max among them; ranges only between numbers. */
static int read_rates(struct reading *reading,
                      const struct parameter *parameter,
                      struct definition_rate **ret_rates, uint32_t *ret_count)
{
    struct definition_rate *rates = NULL;
    uint32_t count = 0, capacity = 0;
    uint32_t i = 0;

    while (i < parameter->count) {
        struct parameter part = *parameter;
        struct number *numbers = NULL;
        uint32_t number_count = 0;
        uint32_t length = 0;
        int err;

        while (i + length < parameter->count &&
               !is_single_rate(&parameter->values[i + length]))
            length++;
        part.values = &parameter->values[i];
        part.count = length;
        err =
            value_numbers(reading, &part, UNIT_COUNT, &numbers, &number_count);
        for (uint32_t k = 0; k < number_count + 1 && err == 0; k++) {
            struct definition_rate rate = {.kind = DEFINITION_RATE_MAX};

            if (k == number_count && i + length == parameter->count)
                break; /* nothing of its own behind these */
            if (k == number_count &&
                is_throughput(parameter->values[i + length].text, &rate.value))
                rate.kind = DEFINITION_RATE_BYTES;
            if (k < number_count)
                err = read_rate(reading, parameter, &numbers[k], &rate);
            if (err == 0)
                err = reading_grow(reading, &rates, count, &capacity,
                                   sizeof(rate));
            if (err == 0)
                rates[count++] = rate;
        }
        if (err < 0)
            return err;
        i += length + 1;
    }
    *ret_rates = rates;
    *ret_count = count;
    return 0;
}

static int set_rates(struct definition_rd *rd, struct definition_rate *rates,
                     uint32_t count)
{
    rd->rates = rates;
    rd->rate_count = count;
    return 0;
}

APPLY(apply_rd_iorate)
{
    struct rd_building *building = definition;
    struct definition_rd *rd = &building->rd;
    struct definition_rate *rates = NULL;
    uint32_t count = 0;
    uint32_t list_line = rd->rate_place.line;
    int err;

    rd->rate_place = parameter->place;
    if (parameter->count == 1 &&
        (strcasecmp(parameter->values[0].text, "curve") == 0 ||
         strcasecmp(parameter->values[0].text, "find") == 0)) {
        rates = ARENA_NEW(reading->arena, struct definition_rate);
        if (rates == NULL)
            return -ENOMEM;
        rates->kind =
            tolower((unsigned char)parameter->values[0].text[0]) == 'c'
                ? DEFINITION_RATE_CURVE
                : DEFINITION_RATE_FIND;
        return set_rates(rd, rates, 1);
    }
    err = read_rates(reading, parameter, &rates, &count);
    if (err < 0)
        return err;
    if (count == 1 && rd->rate_count > 1) {
        language_report_add(reading->report, LANGUAGE_WARNING,
                            &parameter->place,
                            "give this rd= a list too, or take the list out of "
                            "rd=default",
                            "the list of iorate= in line %u stays in force, as "
                            "in vdbench: a single value does not end it",
                            list_line);
        return 0;
    }
    return set_rates(rd, rates, count);
}

APPLY(apply_rd_curve)
{
    struct rd_building *building = definition;
    struct number *numbers;
    uint32_t count;
    double *points;
    int err = value_numbers(reading, parameter, UNIT_COUNT, &numbers, &count);

    if (err < 0)
        return err;
    points = ARENA_ARRAY(reading->arena, count, double);
    if (points == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        points[i] = trunc(numbers[i].value);
        if (points[i] < 1 || points[i] > 1000)
            return value_error(reading, parameter, numbers[i].token,
                               "curve=%s is not a percentage from 1 to 1000",
                               numbers[i].token->text);
        if (points[i] != numbers[i].value)
            language_report_add(reading->report, LANGUAGE_WARNING,
                                &numbers[i].token->place, NULL,
                                "curve=%s counts as %g, as in vdbench",
                                numbers[i].token->text, points[i]);
    }
    building->rd.curve = points;
    building->rd.curve_count = count;
    return 0;
}

APPLY(apply_rd_distribution)
{
    static const struct {
        const char *word;
        enum definition_arrival arrival;
    } words[] = {
        {"exponential", DEFINITION_EXPONENTIAL},
        {"uniform", DEFINITION_UNIFORM},
        {"deterministic", DEFINITION_DETERMINISTIC},
    };
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;

    rd->variable = rd->spike = false;
    rd->distribution_place = parameter->place;

    for (uint32_t i = 0; i < parameter->count; i++) {
        const struct token *token = &parameter->values[i];
        size_t length = strlen(token->text);
        bool known = false;

        if (length == 0)
            return value_error(reading, parameter, token,
                               "distribution= has an empty value");
        for (size_t k = 0; k < ARRAY_LENGTH(words) && !known; k++) {
            known = strncasecmp(words[k].word, token->text, length) == 0;
            if (known)
                rd->arrival = words[k].arrival;
        }
        if (!known && strncasecmp("variable", token->text, length) == 0)
            known = rd->variable = true;
        if (!known && strncasecmp("spike", token->text, length) == 0)
            known = rd->spike = true;
        if (!known)
            return value_error(reading, parameter, token,
                               "distribution=%s is neither exponential, "
                               "uniform nor deterministic, nor variable or "
                               "spike",
                               token->text);
    }
    return 0;
}

/* A share of a worker's time, written as one or by its word. */
APPLY(apply_rd_arrival_precision)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;
    const struct token *token;
    struct number share;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    rd->spin_percent = 0;
    if (strcasecmp(token->text, "sleep") == 0)
        return 0;
    rd->spin_percent = SPIN_PERCENT;
    if (strcasecmp(token->text, "spin") == 0)
        return 0;
    if (number_parse(token->text, UNIT_COUNT, &share) < 0 || share.value < 1 ||
        share.value > 100 || share.value != trunc(share.value))
        return value_error(reading, parameter, token,
                           "arrival_precision=%s is neither sleep, spin nor a "
                           "percentage from 1 to 100",
                           token->text);
    rd->spin_percent = (uint32_t)share.value;
    return 0;
}

/* ---- times ---- */

/* Whole seconds, as in vdbench; with s, ms or us to the nanosecond. */
int apply_time(struct reading *reading, const struct parameter *parameter,
               uint64_t *ret_ns, struct language_place *ret_place)
{
    struct number number;
    int err = value_number(reading, parameter, UNIT_SECONDS, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 0 || number.value > SECONDS_MAX)
        return value_error(reading, parameter, number.token,
                           "%s=%s is not a time", parameter->kind->name,
                           number.token->text);
    if (!number.is_exact && number.value != trunc(number.value)) {
        language_report_add(
            reading->report, LANGUAGE_WARNING, &number.token->place,
            "with s or ms behind it, the fraction counts",
            "%s=%s counts as %g seconds, as in vdbench", parameter->kind->name,
            number.token->text, trunc(number.value));
        number.value = trunc(number.value);
    }
    *ret_ns = (uint64_t)llround(number.value * 1e9);
    *ret_place = number.token->place;
    return 0;
}

APPLY(apply_rd_elapsed)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;

    return apply_time(reading, parameter, &rd->elapsed_ns, &rd->elapsed_place);
}

APPLY(apply_rd_interval)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;

    return apply_time(reading, parameter, &rd->interval_ns,
                      &rd->interval_place);
}

APPLY(apply_rd_warmup)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;

    return apply_time(reading, parameter, &rd->warmup_ns, &rd->warmup_place);
}

APPLY(apply_rd_pause)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;
    struct language_place place;

    return apply_time(reading, parameter, &rd->pause_ns, &place);
}

APPLY(apply_rd_openflags)
{
    struct rd_building *building = definition;

    return apply_openflags(reading, &building->rd.open, parameter);
}

/* ---- loops ---- */

static enum definition_loop_kind loop_kind(const struct parameter *parameter)
{
    static const char *const names[LOOP_KINDS] = {
        [LOOP_XFERSIZE] = "xfersize", [LOOP_THREADS] = "threads",
        [LOOP_RDPCT] = "rdpct",       [LOOP_RHPCT] = "rhpct",
        [LOOP_WHPCT] = "whpct",       [LOOP_SEEKPCT] = "seekpct",
        [LOOP_HITAREA] = "hitarea",   [LOOP_COMPRATIO] = "compratio",
    };
    const char *name = parameter->kind->name;

    if (strncmp(name, "for", 3) == 0)
        name += 3;
    for (int i = 0; i < LOOP_KINDS; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum definition_loop_kind)i;
    return LOOP_COMPRATIO; /* compression= is the same in per cent */
}

/* (4k,50,8k,50) is a mix on wd=, but four runs on rd=. */
static int check_loop_size(struct reading *reading,
                           const struct parameter *parameter,
                           const struct number *number)
{
    if (parameter->count % 2 == 0 && number->value > 0 &&
        number->value <= 100) {
        language_report_add(
            reading->report, LANGUAGE_ERROR, &number->token->place,
            "on rd= every size of a list is a run of its own; "
            "a mix of sizes belongs to wd=",
            "xfersize=%s is not a multiple of 512", number->token->text);
        return -EINVAL;
    }
    return check_transfer(reading, parameter, number);
}

static int check_loop_blocks(struct reading *reading,
                             const struct parameter *parameter,
                             const struct number *number)
{
    if (number->is_percent || number->value < 512 || number->value > 0x1p60 ||
        (uint64_t)number->value % 512 != 0)
        return value_error(reading, parameter, number->token,
                           "%s=%s is not a size that is a multiple of 512",
                           parameter->kind->name, number->token->text);
    return 0;
}

static int check_loop_ratio(struct reading *reading,
                            const struct parameter *parameter,
                            const struct number *number)
{
    if (number->is_percent || number->value < 1 || number->value > 25)
        return value_error(reading, parameter, number->token,
                           "%s=%s is not a ratio from 1 to 25",
                           parameter->kind->name, number->token->text);
    return 0;
}

/* One value of a loop, as the engine can run it. */
static int check_loop_value(struct reading *reading,
                            const struct parameter *parameter,
                            enum definition_loop_kind kind,
                            const struct number *number)
{
    switch (kind) {
    case LOOP_XFERSIZE:
        return check_loop_size(reading, parameter, number);
    case LOOP_THREADS:
        return check_threads(reading, parameter, number);
    case LOOP_SEEKPCT:
        if (number->value == -1)
            return 0; /* eof */
        return check_percentage(reading, parameter, number);
    case LOOP_RDPCT:
    case LOOP_RHPCT:
    case LOOP_WHPCT:
        return check_percentage(reading, parameter, number);
    case LOOP_HITAREA:
        return check_loop_blocks(reading, parameter, number);
    case LOOP_COMPRATIO:
        return check_loop_ratio(reading, parameter, number);
    case LOOP_KINDS:
        break;
    }
    if (number->value <= 0)
        return value_error(reading, parameter, number->token,
                           "%s=%s must be above 0", parameter->kind->name,
                           number->token->text);
    return 0;
}

/* The same loop a second time replaces the first, and goes innermost. */
static void put_loop(struct definition_rd *rd,
                     const struct definition_loop *loop)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < rd->loop_count; i++)
        if (rd->loops[i].kind != loop->kind)
            rd->loops[kept++] = rd->loops[i];
    rd->loops[kept++] = *loop;
    rd->loop_count = kept;
}

static bool is_word(const struct parameter *parameter)
{
    struct number number = {0};
    const char *text = parameter->values[0].text;

    return parameter->count == 1 && strpbrk(text, "0123456789") == NULL &&
           number_parse(text, UNIT_BYTES, &number) < 0;
}

/* Checks one value; whole where vdbench takes it so. */
static int loop_value(struct reading *reading,
                      const struct parameter *parameter,
                      enum definition_loop_kind kind, struct number *number,
                      double *ret_value)
{
    int err;

    if (strstr(parameter->kind->name, "compression") != NULL)
        return check_compression(reading, parameter, number, ret_value);
    err = check_loop_value(reading, parameter, kind, number);
    if (err < 0)
        return err;
    if (kind == LOOP_THREADS || kind == LOOP_RDPCT || kind == LOOP_RHPCT ||
        kind == LOOP_WHPCT)
        value_whole(reading, parameter, number);
    *ret_value = number->value;
    return 0;
}

APPLY(apply_rd_loop)
{
    struct rd_building *building = definition;
    struct definition_loop loop = {.kind = loop_kind(parameter),
                                   .place = parameter->place};
    struct number *numbers;
    double *values;
    int err;

    if (loop.kind == LOOP_SEEKPCT && is_word(parameter))
        return value_error(reading, parameter, &parameter->values[0],
                           "on rd=, seekpct= takes numbers: 0 for seq, 100 for "
                           "random, -1 for eof");
    err = value_numbers(reading, parameter,
                        loop.kind == LOOP_THREADS ? UNIT_COUNT : UNIT_BYTES,
                        &numbers, &loop.count);
    if (err < 0)
        return err;
    values = ARENA_ARRAY(reading->arena, loop.count, double);
    if (values == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < loop.count; i++) {
        err =
            loop_value(reading, parameter, loop.kind, &numbers[i], &values[i]);
        if (err < 0)
            return err;
    }
    loop.values = values;
    put_loop(&building->rd, &loop);
    return 0;
}

/* ---- when a run ends ---- */

APPLY(apply_rd_maxdata)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;
    enum definition_data kind =
        strcmp(parameter->kind->name, "maxdataread") == 0      ? DATA_READ
        : strcmp(parameter->kind->name, "maxdatawritten") == 0 ? DATA_WRITTEN
                                                               : DATA_ALL;
    struct number number;
    int err = value_number(reading, parameter, UNIT_BYTES, &number);

    if (err < 0)
        return err;
    if (number.value <= 0 || number.value > 0x1p62)
        return value_error(reading, parameter, number.token,
                           "%s=%s is not an amount of data",
                           parameter->kind->name, number.token->text);
    if (number.is_percent) /* ours: said so, there is no doubt */
        number.value /= 100;
    else if (number.value <= 100)
        language_report_add(
            reading->report, LANGUAGE_WARNING, &number.token->place,
            "write it in bytes, or as a percentage such as 100%",
            "%s=%s means %g times the size of all sds of a run, as in "
            "vdbench's "
            "manual and 5.04.06; 5.04.07 takes it for %g per cent",
            parameter->kind->name, number.token->text, number.value,
            number.value);
    rd->max[kind].value = number.value;
    rd->max[kind].place = number.token->place;
    return 0;
}

/* Milliseconds, as in vdbench; ours takes s, ms and us, too. */
APPLY(apply_rd_stopcurve)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;
    struct number number;
    int err = value_number(reading, parameter, UNIT_SECONDS, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value <= 0 || number.value > 1e9)
        return value_error(reading, parameter, number.token,
                           "stopcurve=%s is not a response time above 0",
                           number.token->text);
    rd->stop_curve_ns =
        (uint64_t)llround(number.value * (number.is_exact ? 1e9 : 1e6));
    if (rd->stop_curve_ns == 0)
        return value_error(reading, parameter, number.token,
                           "stopcurve=%s is less than a nanosecond",
                           number.token->text);
    return 0;
}

/* find=(p99,2ms): the percentile of response times, and its bound. */
APPLY(apply_rd_find)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;
    const char *text = parameter->values[0].text;
    struct number percent = {0}, limit = {0};

    if (parameter->count != 2)
        return value_error(reading, parameter, NULL,
                           "find= takes a percentile and a time, as in "
                           "find=(p99,2ms)");
    if (tolower((unsigned char)text[0]) != 'p' ||
        number_parse(text + 1, UNIT_COUNT, &percent) < 0 ||
        percent.value < 50 || percent.value > 99.999)
        return value_error(reading, parameter, &parameter->values[0],
                           "'%s' is not a percentile from p50 to p99.999",
                           text);
    text = parameter->values[1].text;
    if (number_parse(text, UNIT_SECONDS, &limit) < 0 || !limit.is_exact ||
        limit.value <= 0 || limit.value > 1e6)
        return value_error(reading, parameter, &parameter->values[1],
                           "'%s' is not a response time with s, ms or us",
                           text);
    rd->find_quantile = percent.value / 100;
    rd->find_limit_ns = (uint64_t)llround(limit.value * 1e9);
    return 0;
}

APPLY(apply_rd_curve_scope)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;
    const struct token *token;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    rd->curve_per_drive = strcasecmp(token->text, "drive") == 0;
    rd->curve_scope_place = parameter->place;
    if (rd->curve_per_drive || strcasecmp(token->text, "cluster") == 0)
        return 0;
    return value_error(reading, parameter, token,
                       "curve_scope=%s is neither cluster nor drive",
                       token->text);
}

APPLY(apply_rd_repeat)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 1 || number.value > 100000 ||
        number.value != trunc(number.value))
        return value_error(reading, parameter, number.token,
                           "repeat=%s is not a number from 1 to 100000",
                           number.token->text);
    rd->repeat = (uint32_t)number.value;
    return 0;
}

/* ---- distribution=variable ---- */

int apply_steps(struct reading *reading, struct definition_rd *rd)
{
    struct definition_rate *mean;
    struct definition_step *steps;
    double work = 0, seconds = 0;

    if (rd->rate_count < 2 || rd->rate_count % 2 != 0 ||
        rd->rate_count > 2 * STEPS_MAX) {
        language_report_add(reading->report, LANGUAGE_ERROR, &rd->rate_place,
                            NULL,
                            "distribution=variable takes pairs of rate and "
                            "seconds, as in iorate=(100,10,500,5)");
        return 0;
    }
    steps =
        ARENA_ARRAY(reading->arena, rd->rate_count / 2, struct definition_step);
    mean = ARENA_NEW(reading->arena, struct definition_rate);
    if (steps == NULL || mean == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < rd->rate_count; i++)
        if (rd->rates[i].kind != DEFINITION_RATE_FIXED) {
            language_report_add(reading->report, LANGUAGE_ERROR,
                                &rd->rate_place, NULL,
                                "distribution=variable takes numbers only");
            return 0;
        }
    for (uint32_t i = 0; i < rd->rate_count / 2; i++) {
        double length = rd->rates[2 * i + 1].value;

        steps[i] = (struct definition_step){
            .rate = rd->rates[2 * i].value,
            .duration_ns = (uint64_t)llround(length * 1e9),
        };
        work += steps[i].rate * length;
        seconds += length;
    }
    *mean = (struct definition_rate){DEFINITION_RATE_FIXED, work / seconds};
    rd->steps = steps;
    rd->step_count = rd->rate_count / 2;
    rd->rates = mean;
    rd->rate_count = 1;
    return 0;
}

int apply_rd(struct building *building, const struct stanza *stanza)
{
    struct reading *reading = building->reading;
    const struct token *name = apply_name(building, stanza);
    struct rd_building rd = building->rd_default;
    int err = 0;

    if (name == NULL)
        return 0;
    rd.rd.name = name->text;
    rd.rd.place = name->place;
    rd.wds_given = false;
    for (uint32_t i = 0; i < stanza->count && err == 0; i++)
        err = apply_parameter(building, &rd, &stanza->parameters[i]);
    if (err < 0)
        return err;
    if (strcmp(name->text, "default") == 0) {
        building->rd_default = rd;
        return 0;
    }
    if (rd.rd.variable)
        err = apply_steps(reading, &rd.rd);
    if (err < 0)
        return err;
    err = reading_grow(reading, &building->rds, building->rd_count,
                       &building->rd_capacity, sizeof(rd.rd));
    if (err == 0)
        building->rds[building->rd_count++] = rd.rd;
    return err;
}
