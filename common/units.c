#include "common/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A decimal number as a whole part and billionths: exact. */
struct decimal {
    uint64_t whole;
    uint64_t billionths;
};

/* Takes digits[.digits] off the front: 0, -EINVAL, -ERANGE. */
static int take_decimal(const char **text, struct decimal *ret_decimal)
{
    struct decimal d = {0, 0};
    const char *at = *text;

    if (!isdigit((unsigned char)*at))
        return -EINVAL;
    for (; isdigit((unsigned char)*at); at++)
        if (__builtin_mul_overflow(d.whole, UINT64_C(10), &d.whole) ||
            __builtin_add_overflow(d.whole, (uint64_t)(*at - '0'), &d.whole))
            return -ERANGE;
    if (*at == '.') {
        uint64_t place = NS_PER_S / 10;

        if (!isdigit((unsigned char)at[1]))
            return -EINVAL;
        for (at++; isdigit((unsigned char)*at); at++, place /= 10)
            d.billionths += place * (uint64_t)(*at - '0');
    }
    *text = at;
    *ret_decimal = d;
    return 0;
}

/* The decimal times `unit`; fractions of the unit's smallest part are cut. */
static int scale(struct decimal d, uint64_t unit, uint64_t *ret_value)
{
    u128 value = (u128)d.whole * unit + (u128)d.billionths * unit / NS_PER_S;

    if (value >> 63 != 0)
        return -ERANGE;
    *ret_value = (uint64_t)value;
    return 0;
}

/* 0 for the letters k m g t p; -1 for others. */
static int letter_power(char c)
{
    static const char letters[] = "kmgtp";
    const char *at = c == '\0' ? NULL : strchr(letters, tolower(c));

    return at == NULL ? 0 : (int)(at - letters) + 1;
}

int units_parse_size(const char *text, uint64_t *ret_bytes)
{
    struct decimal d;
    int power, r = take_decimal(&text, &d);

    if (r < 0)
        return r;
    power = letter_power(*text);
    if (power > 0)
        text++;
    if (power > 0 && strcasecmp(text, "ib") == 0)
        text += 2;
    if (strcasecmp(text, "b") == 0)
        text++;
    if (*text != '\0' || (power == 0 && d.billionths != 0))
        return -EINVAL;
    return scale(d, UINT64_C(1) << (10 * power), ret_bytes);
}

int units_parse_time(const char *text, uint64_t bare_ns, uint64_t *ret_ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"ns", 1},
        {"us", NS_PER_US},
        {"ms", NS_PER_MS},
        {"s", NS_PER_S},
        {"m", 60 * NS_PER_S},
        {"min", 60 * NS_PER_S},
        {"h", 3600 * NS_PER_S},
        {"d", 86400 * NS_PER_S},
    };
    struct decimal d;
    int r = take_decimal(&text, &d);

    if (r < 0)
        return r;
    if (*text == '\0')
        return bare_ns == 0 ? -EINVAL : scale(d, bare_ns, ret_ns);
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
        if (strcasecmp(text, units[i].name) == 0)
            return scale(d, units[i].ns, ret_ns);
    return -EINVAL;
}

int units_parse_rate(const char *text, double *ret_per_second)
{
    static const double factor[] = {1, 1e3, 1e6, 1e9, 1e12, 1e15};
    struct decimal d;
    int power, r = take_decimal(&text, &d);

    if (r < 0)
        return r;
    power = letter_power(*text);
    if (text[power > 0] != '\0')
        return -EINVAL;
    *ret_per_second =
        ((double)d.whole + (double)d.billionths * 1e-9) * factor[power];
    return 0;
}

/*
 * A value and the prefix it is printed with: divided by `base` until what is
 * printed with `digits` significant digits stays below `limit`.
 */
static char *print_scaled(char text[UNITS_SIZE], double value, double base,
                          const char *const *suffix, size_t suffixes)
{
    size_t i = 0;

    while (i + 1 < suffixes && value >= base - 0.5 && value >= 999.5) {
        value /= base;
        i++;
    }
    int decimals = i == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    (void)snprintf(text, UNITS_SIZE, "%.*f%s", decimals, value, suffix[i]);
    return text;
}

char *units_print_size(char text[UNITS_SIZE], uint64_t bytes)
{
    static const char *const suffix[] = {" B",   " KiB", " MiB", " GiB",
                                         " TiB", " PiB", " EiB"};
    size_t i = 0;

    if (bytes == 0 || bytes % 1024 != 0)
        return print_scaled(text, (double)bytes, 1024, suffix,
                            ARRAY_LENGTH(suffix));
    for (; bytes % 1024 == 0 && i + 1 < ARRAY_LENGTH(suffix); i++)
        bytes /= 1024;
    if (bytes < 10240)
        (void)snprintf(text, UNITS_SIZE, "%llu%s", (unsigned long long)bytes,
                       suffix[i]);
    else
        print_scaled(text, (double)bytes, 1024, suffix + i,
                     ARRAY_LENGTH(suffix) - i);
    return text;
}

char *units_print_capacity(char text[UNITS_SIZE], uint64_t bytes)
{
    static const char *const suffix[] = {" B",  " kB", " MB", " GB",
                                         " TB", " PB", " EB"};

    return print_scaled(text, (double)bytes, 1000, suffix,
                        ARRAY_LENGTH(suffix));
}

char *units_print_time(char text[UNITS_SIZE], uint64_t ns)
{
    static const char *const suffix[] = {" ns", " us", " ms", " s"};

    return print_scaled(text, (double)ns, 1000, suffix, ARRAY_LENGTH(suffix));
}

char *units_print_duration(char text[UNITS_SIZE], uint64_t seconds)
{
    static const struct {
        uint64_t limit;
        uint64_t large, small;
        const char *large_name, *small_name;
    } forms[] = {
        {3600, 60, 1, "min", "s"},
        {86400, 3600, 60, "h", "min"},
        {UINT64_MAX, 86400, 3600, "d", "h"},
    };
    size_t i = 0;

    if (seconds < 60) {
        (void)snprintf(text, UNITS_SIZE, "%u s", (unsigned)seconds);
        return text;
    }
    while (seconds >= forms[i].limit && i + 1 < ARRAY_LENGTH(forms))
        i++;

    unsigned long long large = seconds / forms[i].large;
    unsigned small = (unsigned)(seconds % forms[i].large / forms[i].small);

    if (small == 0)
        (void)snprintf(text, UNITS_SIZE, "%llu %s", large, forms[i].large_name);
    else
        (void)snprintf(text, UNITS_SIZE, "%llu %s %02u %s", large,
                       forms[i].large_name, small, forms[i].small_name);
    return text;
}

char *units_print_rate(char text[UNITS_SIZE], double per_second)
{
    static const char *const suffix[] = {"", "k", "M", "G", "T"};

    if (per_second > 0 && per_second < 9.995 &&
        per_second != floor(per_second)) {
        (void)snprintf(text, UNITS_SIZE, "%.2f", per_second);
        return text;
    }
    return print_scaled(text, per_second, 1000, suffix, ARRAY_LENGTH(suffix));
}

char *units_print_count(char text[UNITS_SIZE], uint64_t count, const char *noun)
{
    (void)snprintf(text, UNITS_SIZE, "%llu %.10s%s", (unsigned long long)count,
                   noun, count == 1 ? "" : "s");
    return text;
}
