/*
 * apply_general.c - the general parameters, which come first.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define COMPRESSION_MAX 25.0
#define LOOPS_MAX       100000u
#define WORKERS_MAX     1024u
#define ERRORS_MAX      1e15

/* ---- what is written ---- */

APPLY(apply_compratio)
{
    struct definition_general *general = definition;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 1 || number.value > COMPRESSION_MAX)
        return value_error(reading, parameter, number.token,
                           "compratio=%s is not a ratio from 1 to %g",
                           number.token->text, COMPRESSION_MAX);
    general->compression = number.value;
    return 0;
}

/* The old form: so many per cent are left. */
int check_compression(struct reading *reading,
                      const struct parameter *parameter,
                      const struct number *number, double *ret_ratio)
{
    if (number->value < 100 / COMPRESSION_MAX || number->value > 100)
        return value_error(reading, parameter, number->token,
                           "%s=%s is not a percentage from %g to 100 that is "
                           "left of the data",
                           parameter->kind->name, number->token->text,
                           100 / COMPRESSION_MAX);
    *ret_ratio = round(100 / number->value * 1000) / 1000;
    return 0;
}

APPLY(apply_compression)
{
    struct definition_general *general = definition;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    return check_compression(reading, parameter, &number,
                             &general->compression);
}

APPLY(apply_formatsds)
{
    struct definition_general *general = definition;

    general->format_place = parameter->place;
    return value_yes(reading, parameter, &general->format_sds);
}

APPLY(apply_concatenatesds)
{
    struct definition_general *general = definition;

    general->concatenate_place = parameter->place;
    return value_yes(reading, parameter, &general->concatenate);
}

/* ---- when it ends ---- */

/* remove_device, a command, or neither. */
static int errors_not_yet(struct reading *reading,
                          const struct parameter *parameter,
                          const struct token *first)
{
    static const char *const words[] = {"stop", "remove_device"};
    const char *near = suggest(first->text, words, ARRAY_LENGTH(words));
    bool removes = strcasecmp(first->text, "remove_device") == 0;

    if (near != NULL && !removes)
        return value_error(reading, parameter, first,
                           "data_errors=%s is neither a number of errors nor "
                           "stop; did you mean %s?",
                           first->text, near);
    language_report_add(
        reading->report, LANGUAGE_UNSUPPORTED, &first->place,
        removes ? "data_errors=N ends the campaign when N requests have failed"
                : "data_errors=N says when to end, and endcmd= runs a command "
                  "that the host offers, however the campaign ends",
        "data_errors=%s", first->text);
    return 0;
}

/* data_errors=nn, (nn,seconds), stop. */
APPLY(apply_data_errors)
{
    struct definition_general *general = definition;
    const struct token *first = &parameter->values[0];
    struct number count = {.token = first}, span = {0};

    if (parameter->count == 1 && strcasecmp(first->text, "stop") == 0) {
        general->max_errors = 1;
        general->max_errors_span_ns = 0;
        return 0;
    }
    if (first->quoted || number_parse(first->text, UNIT_COUNT, &count) < 0)
        return errors_not_yet(reading, parameter, first);
    if (parameter->count > 2)
        return value_error(reading, parameter, &parameter->values[2],
                           "data_errors= takes a number of errors, or "
                           "(errors,seconds)");
    if (count.is_percent || count.value < 1 || count.value > ERRORS_MAX)
        return value_error(reading, parameter, first,
                           "data_errors=%s is not a number of errors above 0",
                           first->text);
    if (parameter->count == 2 &&
        (number_parse(parameter->values[1].text, UNIT_SECONDS, &span) < 0 ||
         span.value <= 0 || span.value > 1e9))
        return value_error(reading, parameter, &parameter->values[1],
                           "expected seconds above 0, not '%s'",
                           parameter->values[1].text);
    value_warn_letter(reading, first, &count);
    value_whole(reading, parameter, &count);
    general->max_errors = (uint64_t)count.value;
    general->max_errors_span_ns = (uint64_t)llround(span.value * 1e9);
    return 0;
}

static bool is_from_command_line(const struct language_place *place)
{
    return place->file != NULL &&
           strcmp(place->file, LANGUAGE_COMMAND_LINE) == 0;
}

APPLY(apply_first_rd)
{
    struct definition_general *general = definition;
    const struct token *token;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    if (is_from_command_line(&general->first_rd.place))
        return 0;
    general->first_rd.text = token->text;
    general->first_rd.place = token->place;
    return 0;
}

/* A file on the host of who runs or watches. */
APPLY(apply_monitor)
{
    struct definition_general *general = definition;
    const struct token *token;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    if (token->text[0] == '\0' || strlen(token->text) >= PATH_SIZE)
        return value_error(reading, parameter, token,
                           "a path has 1 to %d bytes", PATH_SIZE - 1);
    general->monitor.text = token->text;
    general->monitor.place = token->place;
    return 0;
}

APPLY(apply_failed_skew)
{
    struct definition_general *general = definition;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    if (number.value <= 0 || number.value > 100)
        return value_error(reading, parameter, number.token,
                           "abort_failed_skew=%s is not a percentage above 0",
                           number.token->text);
    general->skew_limit = number.value;
    return 0;
}

/* loop=nn, or nns, nnm, nnh: all runs so often, or for so long. */
APPLY(apply_loop)
{
    struct definition_general *general = definition;
    struct number number = {0};
    const struct token *token;
    int err = value_word(reading, parameter, &token);
    size_t length;
    bool is_time;

    if (err < 0)
        return err;
    length = strlen(token->text);
    is_time = length > 0 && isalpha((unsigned char)token->text[length - 1]);
    number.token = token;
    if (number_parse(token->text, is_time ? UNIT_SECONDS : UNIT_COUNT,
                     &number) < 0 ||
        number.is_percent || number.value <= 0 ||
        (!is_time && number.value < 1))
        return value_error(reading, parameter, token,
                           "loop=%s is neither a number nor a time such as "
                           "10m or 2h",
                           token->text);
    if (number.value > (is_time ? 1e9 : LOOPS_MAX))
        return value_error(reading, parameter, token, "loop=%s is too much",
                           token->text);
    value_warn_letter(reading, token, &number);
    if (!is_time)
        value_whole(reading, parameter, &number);
    if (is_from_command_line(&general->loop_place))
        return 0;
    general->loops = is_time ? 0 : (uint32_t)number.value;
    general->loop_ns = is_time ? (uint64_t)llround(number.value * 1e9) : 0;
    general->loop_place = token->place;
    return 0;
}

/* ---- ours ---- */

APPLY(apply_workers)
{
    struct definition_general *general = definition;
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 1 || number.value > WORKERS_MAX ||
        number.value != trunc(number.value))
        return value_error(reading, parameter, number.token,
                           "workers=%s is not a number from 1 to %u",
                           number.token->text, WORKERS_MAX);
    general->workers = (uint32_t)number.value;
    return 0;
}

APPLY(apply_require)
{
    struct definition_general *general = definition;
    struct number number = {0};
    const struct token *token;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    if (strcasecmp(token->text, "all") == 0) {
        general->require = DEFINITION_REQUIRE_ALL;
        return 0;
    }
    if (number_parse(token->text, UNIT_COUNT, &number) < 0 ||
        number.value <= 0 || (number.is_percent && number.value > 100) ||
        (!number.is_percent && number.value != trunc(number.value)) ||
        number.value > 65536)
        return value_error(reading, parameter, token,
                           "require=%s is neither all, nor a number of hosts, "
                           "nor a percentage such as 75%%",
                           token->text);
    value_warn_letter(reading, token, &number);
    general->require = number.is_percent ? DEFINITION_REQUIRE_PERCENT
                                         : DEFINITION_REQUIRE_COUNT;
    general->require_value = number.value;
    return 0;
}

APPLY(apply_host_wait)
{
    struct definition_general *general = definition;
    struct language_place place;
    int err = apply_time(reading, parameter, &general->host_wait_ns, &place);

    general->host_wait_given = err == 0;
    return err;
}

APPLY(apply_drain_wait)
{
    struct definition_general *general = definition;
    struct language_place place;

    return apply_time(reading, parameter, &general->drain_wait_ns, &place);
}
