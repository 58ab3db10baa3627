/*
 * definitions.h - what a parameter file defines, checked one by one: the
 * output of language_read() and the input of plan_expand().
 *
 * Defaults are applied: every entry is complete.  Names may still be wildcards
 * ("sd*"); definitions_match() resolves them.  Everything carries its place,
 * so that later steps can point at it.
 *
 * Memory: all in `arena`, the places' strings included.
 */
#ifndef CONTROLLER_LANGUAGE_DEFINITIONS_H
#define CONTROLLER_LANGUAGE_DEFINITIONS_H

#include "controller/language/report.h"

struct arena;

/* A name, or a wildcard that ends in '*', where it was written. */
struct definition_name {
    const char *text;
    struct language_place place;
};

struct definition_names {
    const struct definition_name *items;
    uint32_t count;
};

struct definition_host {
    const char *label;
    const char *system; /* the label where system= is absent */
    struct language_place place;
};

/* One lun= and the hosts that see it there. */
struct definition_path {
    struct definition_name lun;
    struct definition_names hosts; /* none: all */
};

/* range=(low,high); `high` 0: to the end. */
struct definition_range {
    bool given;
    bool low_is_percent;
    bool high_is_percent;
    double low;
    double high;
    struct language_place place;
};

/* The values of OpenFlag on the wire. */
enum definition_open_flag {
    DEFINITION_OPEN_DIRECT = 1,
    DEFINITION_OPEN_DSYNC = 2,
    DEFINITION_OPEN_SYNC = 4,
    DEFINITION_OPEN_FSYNC = 8,
};

struct definition_open {
    bool given;
    uint32_t flags;
    struct language_place place;
};

struct definition_sd {
    const char *name;
    struct language_place place;
    const struct definition_path *paths;
    uint32_t path_count;
    uint64_t size_bytes; /* 0: all of it */
    struct language_place size_place;
    uint32_t threads;
    struct definition_open open;
    struct definition_range range;
};

struct definition_size {
    uint32_t bytes;
    double percent; /* all together 100 */
};

struct definition_wd {
    const char *name;
    struct language_place place;
    struct definition_names sds;
    struct definition_names hosts; /* none: all */
    const struct definition_size *sizes;
    uint32_t size_count;
    double read_percent;
    double seek_percent; /* 0 sequential .. 100 random */
    bool end_at_eof;
    double skew; /* 0: shares the remainder */
    struct language_place skew_place;
    struct definition_range range;
    struct definition_open open;
};

enum definition_loop_kind {
    LOOP_XFERSIZE,
    LOOP_THREADS,
    LOOP_RDPCT,
    LOOP_RHPCT,
    LOOP_WHPCT,
    LOOP_SEEKPCT,
    LOOP_HITAREA,
    LOOP_COMPRATIO,
    LOOP_KINDS,
};

/* One for-parameter: a run for each of its values. */
struct definition_loop {
    enum definition_loop_kind kind;
    const double *values; /* 1 or more */
    uint32_t count;
    struct language_place place;
};

enum definition_rate_kind {
    DEFINITION_RATE_NONE, /* iorate= is missing */
    DEFINITION_RATE_MAX,
    DEFINITION_RATE_CURVE,
    DEFINITION_RATE_FIXED,
    DEFINITION_RATE_OBSERVED, /* per cent */
};

struct definition_rate {
    enum definition_rate_kind kind;
    double value;
};

enum definition_arrival {
    DEFINITION_EXPONENTIAL,
    DEFINITION_UNIFORM,
    DEFINITION_DETERMINISTIC,
};

/* Which sds an rd takes, beside a list of names. */
enum definition_spread {
    SPREAD_NAMES,
    SPREAD_SETS,  /* sd=single, sd=setsofN: a run for each N sds */
    SPREAD_RANGE, /* sd=range: the first, the first two, ... */
};

struct definition_rd {
    const char *name;
    struct language_place place;
    struct definition_names wds; /* none: wd=default's values */
    struct definition_names sds; /* none: each wd's own */
    enum definition_spread spread;
    uint32_t spread_size; /* N of setsofN */
    const struct definition_rate *rates;
    uint32_t rate_count;
    struct language_place rate_place;
    const double *curve; /* per cent */
    uint32_t curve_count;
    uint64_t elapsed_ns;
    uint64_t interval_ns;
    uint64_t warmup_ns;
    uint64_t pause_ns;
    struct language_place elapsed_place; /* file NULL: the default */
    struct language_place interval_place;
    struct language_place warmup_place;
    enum definition_arrival arrival;
    struct definition_open open;
    struct definition_loop loops[LOOP_KINDS]; /* outermost first */
    uint32_t loop_count;
};

struct definitions {
    const struct definition_host *hosts; /* none: the one agent there is */
    uint32_t host_count;
    const struct definition_sd *sds;
    uint32_t sd_count;
    const struct definition_wd *wds;
    uint32_t wd_count;
    struct definition_wd wd_default; /* as the file left it */
    const struct definition_rd *rds;
    uint32_t rd_count;
    struct arena *arena;
};

/* Whether `name` is what `pattern` says: equal, or a prefix before a '*'. */
bool definitions_match(const char *pattern, const char *name);

#endif
