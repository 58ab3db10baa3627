/*
 * value.c - what stands behind '=': numbers, names, lists and ranges.
 */
#include "controller/language/internal.h"

#include "common/arena.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int value_error(struct reading *reading, const struct parameter *parameter,
                const struct token *token, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    language_report_add(reading->report, LANGUAGE_ERROR,
                        token != NULL ? &token->place : &parameter->place, NULL,
                        "%s", text);
    return -EINVAL;
}

int value_not_yet(struct reading *reading, const struct parameter *parameter,
                  const char *what)
{
    const struct language_place *place = what != NULL && parameter->count > 0
                                             ? &parameter->values[0].place
                                             : &parameter->place;

    language_report_add(reading->report, LANGUAGE_UNSUPPORTED, place, NULL,
                        what != NULL ? "%s=%s" : "%s=", parameter->kind->name,
                        what);
    return 0;
}

/* ---- one number ---- */

/*
 * Digits, a point, an exponent, as everywhere, whatever the locale.  Gives the
 * bytes used, 0 for no number.  Up to 15 digits with 22 decimals are exact.
 */
static size_t read_decimal(const char *text, double *ret_value)
{
    size_t i = 0;
    double mantissa = 0;
    int exponent = 0;
    bool digits = false;
    bool negative = text[0] == '-';

    if (text[0] == '-' || text[0] == '+')
        i++;
    for (; isdigit((unsigned char)text[i]); i++, digits = true)
        mantissa = mantissa * 10 + (text[i] - '0');
    if (text[i] == '.')
        for (i++; isdigit((unsigned char)text[i]); i++, digits = true) {
            mantissa = mantissa * 10 + (text[i] - '0');
            exponent--;
        }
    if (!digits)
        return 0;
    if (text[i] == 'e' || text[i] == 'E') {
        size_t k = i + 1;
        int sign = text[k] == '-' ? -1 : 1;
        int power = 0;

        k += text[k] == '-' || text[k] == '+';
        if (isdigit((unsigned char)text[k])) {
            for (; isdigit((unsigned char)text[k]); k++)
                power = power < 1000 ? power * 10 + (text[k] - '0') : power;
            exponent += sign * power;
            i = k;
        }
    }
    if (exponent < 0)
        mantissa /= pow(10, -exponent);
    else if (exponent > 0)
        mantissa *= pow(10, exponent);
    *ret_value = negative ? -mantissa : mantissa;
    return i;
}

static bool apply_time_suffix(const char *suffix, struct number *number)
{
    static const struct {
        const char *suffix;
        double factor;
        bool is_exact; /* ours */
    } suffixes[] = {
        {"s", 1, true},        {"ms", 1e-3, true}, {"us", 1e-6, true},
        {"m", 60, false},      {"h", 3600, false}, {"k", 1024, false},
        {"g", 1 << 30, false},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++)
        if (strcasecmp(suffix, suffixes[i].suffix) == 0) {
            number->value *= suffixes[i].factor;
            number->is_exact = suffixes[i].is_exact;
            return true;
        }
    return false;
}

static bool apply_size_suffix(const char *suffix, struct number *number)
{
    static const char letters[] = "kmgt";
    const char *letter;
    int c = tolower((unsigned char)suffix[0]);

    if (c == 'h' && suffix[1] == '\0') {
        number->value *= 3600;
        return true;
    }
    letter = strchr(letters, c);
    if (letter == NULL ||
        (suffix[1] != '\0' &&
         (tolower((unsigned char)suffix[1]) != 'b' || suffix[2] != '\0')))
        return false;
    number->value = ldexp(number->value, 10 * (int)(letter - letters + 1));
    return true;
}

int number_parse(const char *text, enum unit unit, struct number *ret_number)
{
    struct number number = {0};
    size_t used = read_decimal(text, &number.value);
    const char *suffix = text + used;

    if (used == 0 || !isfinite(number.value))
        return -EINVAL;
    if (strcmp(suffix, "%") == 0)
        number.is_percent = true;
    else if (*suffix == '\0' || strcasecmp(suffix, "d") == 0 ||
             strcasecmp(suffix, "f") == 0)
        ; /* 10d and 10f are 10 to vdbench */
    else if (unit == UNIT_SECONDS ? !apply_time_suffix(suffix, &number)
                                  : !apply_size_suffix(suffix, &number))
        return -EINVAL;
    if (!isfinite(number.value))
        return -EINVAL;
    number.token = ret_number->token;
    *ret_number = number;
    return 0;
}

static const char *unit_example(enum unit unit)
{
    switch (unit) {
    case UNIT_BYTES:
        return "a size such as 4096, 4k, 1m or 10g";
    case UNIT_SECONDS:
        return "a time such as 30, 30s, 5m or 2h";
    case UNIT_COUNT:
        break;
    }
    return "a number";
}

void value_warn_letter(struct reading *reading, const struct token *token,
                       const struct number *number)
{
    size_t length = strlen(token->text);
    int last = length > 1 ? tolower((unsigned char)token->text[length - 1]) : 0;

    if (last == 'd')
        language_report_add(reading->report, LANGUAGE_WARNING, &token->place,
                            "there is no letter for days: write hours, as in "
                            "24h",
                            "'%s' is %g, as in vdbench", token->text,
                            number->value);
}

void value_whole(struct reading *reading, const struct parameter *parameter,
                 struct number *number)
{
    if (number->value == trunc(number->value))
        return;
    language_report_add(
        reading->report, LANGUAGE_WARNING, &number->token->place, NULL,
        "%s=%s counts as %g, as in vdbench", parameter->kind->name,
        number->token->text, trunc(number->value));
    number->value = trunc(number->value);
}

static int read_number(struct reading *reading,
                       const struct parameter *parameter,
                       const struct token *token, const char *text,
                       enum unit unit, struct number *ret_number)
{
    ret_number->token = token;
    if (number_parse(text, unit, ret_number) < 0)
        return value_error(reading, parameter, token, "expected %s, not '%s'",
                           unit_example(unit), text);
    value_warn_letter(reading, token, ret_number);
    return 0;
}

/* ---- lists of numbers ---- */

struct numbers {
    struct number *items;
    uint32_t count;
    uint32_t capacity;
};

static int numbers_add(struct reading *reading,
                       const struct parameter *parameter,
                       struct numbers *numbers, const struct number *number)
{
    int err;

    if (numbers->count == LANGUAGE_LIST_MAX)
        return value_error(reading, parameter, number->token,
                           "%s= has more than %u values", parameter->keyword,
                           LANGUAGE_LIST_MAX);
    err = reading_grow(reading, &numbers->items, numbers->count,
                       &numbers->capacity, sizeof(*number));
    if (err < 0)
        return err;
    numbers->items[numbers->count++] = *number;
    return 0;
}

struct range {
    struct number from;
    struct number to;
    const struct token *token;
};

/* (1-64,d) and (64-1,d). */
static int add_doubling(struct reading *reading,
                        const struct parameter *parameter,
                        const struct range *range, struct numbers *numbers)
{
    struct number number = range->from;
    bool up = range->from.value < range->to.value;
    int err = 0;

    if (range->from.value <= 0 || range->to.value <= 0)
        return value_error(reading, parameter, range->token,
                           "'%s' cannot be doubled: both ends must be above 0",
                           range->token->text);
    while (err == 0 && (up ? number.value <= range->to.value
                           : number.value >= range->to.value)) {
        err = numbers_add(reading, parameter, numbers, &number);
        number.value = up ? number.value * 2 : number.value / 2;
    }
    return err;
}

/* (1-100,3): the end counts only when it is hit. */
static int add_steps(struct reading *reading, const struct parameter *parameter,
                     const struct range *range, const struct number *step,
                     struct numbers *numbers)
{
    struct number number = range->from;
    int err = 0;

    if (step->value <= 0)
        return value_error(reading, parameter, step->token,
                           "the step of a range must be above 0, not '%s'",
                           step->token->text);
    if (range->from.value > range->to.value)
        return value_error(
            reading, parameter, range->token,
            "the range '%s' runs backwards; only (64-1,d), which halves, does",
            range->token->text);
    for (uint32_t i = 0; err == 0 && number.value <= range->to.value; i++) {
        err = numbers_add(reading, parameter, numbers, &number);
        number.value = range->from.value + (i + 1) * step->value;
    }
    return err;
}

/* Where the '-' of a range stands in an unquoted value; NULL: no range. */
static const char *range_dash(const struct token *token)
{
    if (token->quoted || token->text[0] == '\0')
        return NULL;
    return strchr(token->text + 1, '-');
}

/* Reads the two ends of "4k-64k". */
static int read_range(struct reading *reading,
                      const struct parameter *parameter,
                      const struct token *token, enum unit unit,
                      struct range *ret_range)
{
    const char *dash = range_dash(token);
    char *from = arena_strndup(reading->arena, token->text,
                               (size_t)(dash - token->text));
    int err;

    if (from == NULL)
        return -ENOMEM;
    ret_range->token = token;
    err = read_number(reading, parameter, token, from, unit, &ret_range->from);
    if (err == 0)
        err = read_number(reading, parameter, token, dash + 1, unit,
                          &ret_range->to);
    return err;
}

static int add_range(struct reading *reading, const struct parameter *parameter,
                     uint32_t index, enum unit unit, struct numbers *numbers)
{
    const struct token *token = &parameter->values[index];
    const struct token *step = &parameter->values[index + 1];
    struct number number;
    struct range range;
    int err;

    if (!parameter->is_list)
        return value_error(reading, parameter, token,
                           "the range '%s' wants parentheses and a step, as in "
                           "(%s,%s)",
                           token->text, token->text,
                           unit == UNIT_BYTES ? "d" : "10");
    if (index + 1 == parameter->count)
        return value_error(reading, parameter, token,
                           "the range '%s' wants a step behind it, or d to "
                           "double, as in (%s,d)",
                           token->text, token->text);
    err = read_range(reading, parameter, token, unit, &range);
    if (err < 0)
        return err;
    if (strcasecmp(step->text, "d") == 0)
        return add_doubling(reading, parameter, &range, numbers);
    err = read_number(reading, parameter, step, step->text, unit, &number);
    if (err < 0)
        return err;
    return add_steps(reading, parameter, &range, &number, numbers);
}

int value_numbers(struct reading *reading, const struct parameter *parameter,
                  enum unit unit, struct number **ret_numbers,
                  uint32_t *ret_count)
{
    struct numbers numbers = {0};

    for (uint32_t i = 0; i < parameter->count; i++) {
        const struct token *token = &parameter->values[i];
        struct number number = {0};
        int err;

        if (range_dash(token) != NULL &&
            number_parse(token->text, unit, &number) < 0) {
            err = add_range(reading, parameter, i, unit, &numbers);
            i++;
        } else {
            err = read_number(reading, parameter, token, token->text, unit,
                              &number);
            if (err == 0)
                err = numbers_add(reading, parameter, &numbers, &number);
        }
        if (err < 0)
            return err;
    }
    *ret_numbers = numbers.items;
    *ret_count = numbers.count;
    return 0;
}

int value_number(struct reading *reading, const struct parameter *parameter,
                 enum unit unit, struct number *ret_number)
{
    struct number *numbers;
    uint32_t count;
    int err = value_numbers(reading, parameter, unit, &numbers, &count);

    if (err < 0)
        return err;
    if (count != 1)
        return value_error(reading, parameter, &parameter->values[1],
                           "%s= takes one value here, not a list",
                           parameter->keyword);
    *ret_number = numbers[0];
    return 0;
}

/* ---- names ---- */

struct names {
    struct definition_name *items;
    uint32_t count;
    uint32_t capacity;
};

static int names_add(struct reading *reading, const struct parameter *parameter,
                     struct names *names, const struct token *token,
                     const char *text)
{
    int err;

    if (text[0] == '\0')
        return value_error(reading, parameter, token, "an empty name");
    if (names->count == LANGUAGE_LIST_MAX)
        return value_error(reading, parameter, token,
                           "%s= has more than %u values", parameter->keyword,
                           LANGUAGE_LIST_MAX);
    err = reading_grow(reading, &names->items, names->count, &names->capacity,
                       sizeof(names->items[0]));
    if (err < 0)
        return err;
    names->items[names->count++] = (struct definition_name){
        .text = text,
        .place = token->place,
    };
    return 0;
}

/* "sd08": the prefix's length, the number, its digits.  False: no number. */
static bool split_name(const char *text, size_t length, size_t *ret_prefix,
                       uint32_t *ret_number)
{
    size_t prefix = length;
    uint32_t number = 0;

    while (prefix > 0 && isdigit((unsigned char)text[prefix - 1]))
        prefix--;
    if (prefix == 0 || prefix == length || length - prefix > 8)
        return false;
    for (size_t i = prefix; i < length; i++)
        number = number * 10 + (uint32_t)(text[i] - '0');
    *ret_prefix = prefix;
    *ret_number = number;
    return true;
}

/*
 * (sd1-sd8), with leading zeros where both ends have as many digits.  Anything
 * else with a '-' is a name as it stands: `ret_range` is false.
 */
static int add_name_range(struct reading *reading,
                          const struct parameter *parameter,
                          const struct token *token, struct names *names,
                          bool *ret_range)
{
    const char *dash = range_dash(token);
    size_t length = (size_t)(dash - token->text);
    size_t from_prefix, to_prefix;
    uint32_t from, to;
    int err = 0;

    *ret_range = false;
    if (!split_name(token->text, length, &from_prefix, &from) ||
        !split_name(dash + 1, strlen(dash + 1), &to_prefix, &to) ||
        from_prefix != to_prefix ||
        strncmp(token->text, dash + 1, from_prefix) != 0)
        return 0;
    *ret_range = true;
    if (from >= to)
        return value_error(reading, parameter, token,
                           "the range '%s' runs backwards", token->text);

    int digits =
        token->text[from_prefix] == '0' ? (int)(length - from_prefix) : 0;

    for (uint32_t i = from; i <= to && err == 0; i++) {
        char *text = arena_printf(reading->arena, "%.*s%0*u", (int)from_prefix,
                                  token->text, digits, i);

        if (text == NULL)
            return -ENOMEM;
        err = names_add(reading, parameter, names, token, text);
    }
    return err;
}

int value_names(struct reading *reading, const struct parameter *parameter,
                struct definition_names *ret_names)
{
    struct names names = {0};

    for (uint32_t i = 0; i < parameter->count; i++) {
        const struct token *token = &parameter->values[i];
        bool is_range = false;
        int err = 0;

        if (parameter->is_list && range_dash(token) != NULL)
            err = add_name_range(reading, parameter, token, &names, &is_range);
        if (err == 0 && !is_range)
            err = names_add(reading, parameter, &names, token, token->text);
        if (err < 0)
            return err;
    }
    ret_names->items = names.items;
    ret_names->count = names.count;
    return 0;
}

int value_word(struct reading *reading, const struct parameter *parameter,
               const struct token **ret_token)
{
    if (parameter->count != 1)
        return value_error(reading, parameter, &parameter->values[1],
                           "%s= takes one value, not a list",
                           parameter->keyword);
    *ret_token = &parameter->values[0];
    return 0;
}

int value_keyed(struct reading *reading, const struct parameter *parameter,
                uint32_t index, const char **key, const char **ret_text)
{
    const struct token *token = &parameter->values[index];
    const char *equals = strchr(token->text, '=');
    char *name;

    *ret_text = token->text;
    if (equals == NULL && *key == NULL)
        return value_error(reading, parameter, token,
                           "%s= takes key=value, not '%s'",
                           parameter->kind->name, token->text);
    if (equals == NULL)
        return 0;
    name = arena_strndup(reading->arena, token->text,
                         (size_t)(equals - token->text));
    if (name == NULL)
        return -ENOMEM;
    for (char *c = name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    *key = name;
    *ret_text = equals[1] != '\0' ? equals + 1 : NULL;
    if (*ret_text == NULL &&
        (index + 1 == parameter->count || strchr(token[1].text, '=') != NULL))
        return value_error(reading, parameter, token,
                           "expected a value after '%s'", token->text);
    return 0;
}

int value_yes(struct reading *reading, const struct parameter *parameter,
              bool *ret_yes)
{
    const struct token *token = NULL;
    int err = value_word(reading, parameter, &token);
    size_t length;

    if (err < 0)
        return err;
    length = strlen(token->text);
    *ret_yes = length > 0 && strncasecmp("yes", token->text, length) == 0;
    if (!*ret_yes &&
        (length == 0 || strncasecmp("no", token->text, length) != 0))
        return value_error(reading, parameter, token,
                           "expected yes or no, not '%s'", token->text);
    return 0;
}
