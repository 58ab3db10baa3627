/*
 * json.h - how documents are written.
 *
 * Every JSON that a program of ours prints, sends or keeps goes through
 * JSON_FORM: a number has the 15 digits that a double can keep, so that what
 * was rounded to three decimals is printed with three (jansson's own 17 would
 * make 601.518000000001 of it).  Reals are made by json_fixed().
 *
 * Threads: any; no state.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <jansson.h>
#include <math.h>

#define JSON_FORM JSON_REAL_PRECISION(15)

/* A number with so many decimals at most; null where it is none.  NULL: no
 * memory. */
static inline json_t *json_fixed(double value, int decimals)
{
    double scale = pow(10, decimals);
    double scaled = round(value * scale);

    if (!isfinite(value))
        return json_null();
    return json_real(isfinite(scaled) ? scaled / scale : value);
}

#endif
