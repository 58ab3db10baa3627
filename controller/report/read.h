/*
 * read.h - values out of documents.
 *
 * A path names a value within an object: "service_us.p99".  What is absent is
 * NAN, 0 or "": a document of an older controller has fewer keys.
 *
 * Threads: none of its own.  Texts live as long as the document.
 */
#ifndef CONTROLLER_REPORT_READ_H
#define CONTROLLER_REPORT_READ_H

#include <jansson.h>
#include <stdio.h>

#include "common/base.h"

/* NULL where there is none. */
const json_t *read_path(const json_t *object, const char *path);

const char *read_text(const json_t *object, const char *path); /* or "" */
double read_number(const json_t *object, const char *path);    /* or NAN */
double read_or_zero(const json_t *object, const char *path);
/* The text of a campaign's file, or, where it stands for the bytes of pattern=,
 * a line that says so. */
const char *read_file_text(const json_t *file);
json_int_t read_count(const json_t *object, const char *path); /* or 0 */
bool read_is(const json_t *object, const char *path, const char *text);

/* A number's digits as the JSON document has them, for every rendering that
 * must agree with it: at most `decimals`, none of them a trailing zero.
 * Returns `text`, "" for what is no number. */
#define READ_DIGITS_SIZE 40
char *read_digits(const json_t *value, char text[READ_DIGITS_SIZE]);
char *read_digits_of(double value, int decimals, char text[READ_DIGITS_SIZE]);

/* Seconds since 1970 of "2026-01-31T12:00:00.123Z", and the milliseconds.
 * False for what is none. */
bool read_time(const char *text, int64_t *ret_seconds, int *ret_ms);

#endif
