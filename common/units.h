/*
 * units.h - sizes, times and rates as people write them.
 *
 * Parsers use the whole of `text`: 0, -EINVAL (not one) or -ERANGE (does not
 * fit).  Printers write at most UNITS_SIZE bytes and return `text`, so that a
 * call can be an argument of printf.
 */
#ifndef COMMON_UNITS_H
#define COMMON_UNITS_H

#include "common/base.h"

#define UNITS_SIZE 32

/* "512", "4k", "1m", "3t", in either case, "b" or "ib" may follow the letter:
 * powers of 1024. */
int units_parse_size(const char *text, uint64_t *ret_bytes) MUST_CHECK;

/* "500us", "10ms", "1.5s", "30s", "10m", "2h", "1d"; a bare number is in units
 * of `bare_ns` (0: refused).  Exact, up to 2^63 ns. */
int units_parse_time(const char *text, uint64_t bare_ns,
                     uint64_t *ret_ns) MUST_CHECK;

/* "250", "0.5", "100k", "1.2m": powers of 1000. */
int units_parse_rate(const char *text, double *ret_per_second) MUST_CHECK;

/* Binary and exact where it is: "4 KiB", "1.50 MiB", "700 B". */
char *units_print_size(char text[UNITS_SIZE], uint64_t bytes);

/* Decimal, as drives are sold: "3.84 TB". */
char *units_print_capacity(char text[UNITS_SIZE], uint64_t bytes);

/* Latencies and short times, three digits: "870 ns", "12.3 us", "1.04 s". */
char *units_print_time(char text[UNITS_SIZE], uint64_t ns);

/* Long times in whole seconds: "45 s", "10 min", "2 h 05 min". */
char *units_print_duration(char text[UNITS_SIZE], uint64_t seconds);

/* Three or four digits: "950", "12.5k", "1.20M". */
char *units_print_rate(char text[UNITS_SIZE], double per_second);

/* "1 drive", "3 drives", "0 drives": a noun of ten letters at most that takes
 * an s. */
char *units_print_count(char text[UNITS_SIZE], uint64_t count,
                        const char *noun);

#endif
