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

enum definition_select_key {
    SELECT_MODEL,
    SELECT_SERIAL,
    SELECT_WWN,
    SELECT_FIRMWARE,
    SELECT_BY_ID, /* the link's name below /dev/disk/by-id */
    SELECT_NAME,  /* the kernel's: nvme0n1 */
    SELECT_SIZE,
    SELECT_KEYS,
};

/* One key=value of drive=. */
struct definition_pattern {
    enum definition_select_key key;
    const char *text; /* as in a shell: *, ?, [a-z]; of a size as written */
    uint64_t low[2];  /* of a size: bytes, within either pair */
    uint64_t high[2];
};

/* drive=(model=*PM1725*,size=3.84t,count=24): drives by what they are. */
struct definition_select {
    bool given;
    /* Of one key any must fit, of several keys each. */
    const struct definition_pattern *patterns;
    uint32_t pattern_count;
    uint32_t count;   /* of each host, no more and no less; 0: all that fit */
    bool used;        /* those that somebody uses, too */
    const char *text; /* as written, between the parentheses */
    struct language_place place;
};

/* dedupflipflop=: which duplicates take one of two contents. */
enum definition_flip {
    DEFINITION_FLIP_NO,
    DEFINITION_FLIP_YES,
    DEFINITION_FLIP_HOT,
};

#define DEFINITION_HOT_MAX 16u

/* A pair of deduphotsets=: so many sets of so many duplicates each. */
struct definition_hot {
    uint32_t sets;
    uint32_t units;
};

/* dedupratio= and its kin. */
struct definition_dedup {
    double ratio;  /* 1 or less: no duplicates */
    uint32_t unit; /* bytes; 0: not given */
    double sets;   /* so many, or per cent of all units */
    bool sets_is_percent;
    struct definition_hot hot[DEFINITION_HOT_MAX];
    uint32_t hot_count;
    enum definition_flip flip;
    bool flip_given;
    bool places_alike; /* dedupacross=no */
    bool across_given;
    uint32_t bucket; /* sds of one share their duplicates; 0: the general one */
    struct language_place place;      /* of the ratio */
    struct language_place unit_place; /* file NULL: not given */
    struct language_place hot_place;
    struct language_place flip_place;
};

struct definition_sd {
    const char *name;
    const char *family; /* the sd= whose drive= chose it; NULL: its own */
    struct language_place place;
    struct definition_select select;
    const struct definition_path *paths; /* with drive=: its text as path */
    uint32_t path_count;
    uint64_t size_bytes; /* 0: all of it */
    struct language_place size_place;
    uint32_t threads;
    struct definition_open open;
    struct definition_range range;
    uint64_t hit_area;               /* bytes */
    struct language_place hit_place; /* file NULL: the default */
    uint64_t offset;
    uint32_t align; /* 0: as large as the transfer */
    struct language_place align_place;
    bool overwrite;
    struct definition_dedup dedup;
};

struct definition_size {
    uint32_t bytes;
    double percent; /* all together 100 */
};

enum definition_seek {
    DEFINITION_SEEK_UNIFORM,
    DEFINITION_SEEK_POISSON,
    DEFINITION_SEEK_BAND,
};

struct definition_wd {
    const char *name;
    struct language_place place;
    struct definition_names sds;
    struct definition_names hosts; /* none: all */
    const struct definition_size *sizes;
    uint32_t size_count;
    uint32_t size_step; /* (min,max,align): sizes are the least and the most */
    struct language_place size_place;
    double read_percent;
    double seek_percent; /* 0 sequential .. 100 random */
    bool end_at_eof;
    double skew; /* 0: shares the remainder */
    struct language_place skew_place;
    struct definition_range range;
    struct definition_open open;
    double read_hit_percent;
    double write_hit_percent;
    uint64_t stride_min;
    uint64_t stride_max;
    uint32_t streams; /* 0: not given */
    enum definition_seek seek;
    double poisson_mid;
    bool starts_anywhere;
    uint32_t priority; /* 0: none */
    double rate;       /* its own; 0: its share of the run's */
    struct language_place rate_place;
    uint32_t threads; /* with concatenatesds=; 0: not given */
};

/* A command by name or text, as a host's own configuration has it. */
struct definition_command {
    const char *text;
    struct language_place place;
};

/* startcmd= and the like. */
struct definition_commands {
    const struct definition_command *items;
    uint32_t count;
    bool shown;     /* its output also goes to the console */
    bool on_master; /* on the controller's host, not on those of the run */
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
    DEFINITION_RATE_BYTES,    /* bytes a second */
    DEFINITION_RATE_FIND,     /* the highest that keeps find= */
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

/* One step of distribution=variable. */
struct definition_step {
    double rate;
    uint64_t duration_ns;
};

/* maxdata= and the like. */
enum definition_data {
    DATA_ALL,
    DATA_READ,
    DATA_WRITTEN,
    DATA_KINDS,
};

struct definition_max {
    double value; /* 0: none; up to 100: times all sds together, else bytes */
    struct language_place place;
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
    bool curve_per_drive; /* curve_scope=drive */
    struct language_place curve_scope_place;
    uint64_t elapsed_ns;
    uint64_t interval_ns;
    uint64_t warmup_ns;
    uint64_t pause_ns;
    struct language_place elapsed_place; /* file NULL: the default */
    struct language_place interval_place;
    struct language_place warmup_place;
    enum definition_arrival arrival;
    struct language_place distribution_place; /* file NULL: the default */
    bool variable; /* the rates are pairs of rate and seconds, until checked */
    bool spike;
    uint32_t spin_percent; /* arrival_precision=; 0: sleep */
    const struct definition_step *steps;
    uint32_t step_count;
    struct definition_max max[DATA_KINDS];
    uint64_t stop_curve_ns; /* 0: none */
    uint32_t repeat;        /* each run so often in a row */
    double find_quantile;   /* 0 .. 1; 0: not given */
    uint64_t find_limit_ns;
    struct definition_open open;
    struct definition_commands start;         /* before each of its runs */
    struct definition_commands end;           /* and after it */
    struct definition_loop loops[LOOP_KINDS]; /* outermost first */
    uint32_t loop_count;
};

enum definition_require {
    DEFINITION_REQUIRE_ALL,
    DEFINITION_REQUIRE_COUNT,
    DEFINITION_REQUIRE_PERCENT,
};

/* histogram=: where one range of response times ends and the next begins. */
#define DEFINITION_EDGES_MAX 64u
struct definition_histogram {
    uint64_t edges_us[DEFINITION_EDGES_MAX]; /* rising */
    uint32_t count;                          /* 0: vdbench's own */
    bool suppress;                           /* empty ranges are left out */
};

/* General parameters. */
struct definition_general {
    double compression; /* 1: none */
    struct definition_dedup dedup;
    struct definition_name pattern; /* of a file; text NULL: none */
    const uint8_t *pattern_bytes;
    uint32_t pattern_length;
    bool format_sds;
    struct language_place format_place;
    bool concatenate;
    struct language_place concatenate_place;
    uint64_t max_errors; /* of a run */
    uint64_t max_errors_span_ns;
    uint32_t workers;
    enum definition_require require;
    double require_value;
    bool host_wait_given; /* else as the controller is configured */
    uint64_t host_wait_ns;
    uint64_t drain_wait_ns;
    uint32_t loops;   /* all runs so often; 0: once */
    uint64_t loop_ns; /* or for so long */
    struct language_place loop_place;
    struct definition_name first_rd; /* text NULL: the first one */
    struct definition_name monitor;  /* a file; text NULL: none */
    double skew_limit;               /* abort_failed_skew=; 0: none */
    struct definition_histogram histogram;
    struct definition_commands start; /* before the first run */
    struct definition_commands end;   /* after the last one */
    struct definition_commands host_lost;
};

struct definitions {
    struct definition_general general;
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

/* Whether `pattern` means the sd: its name, or that of its family. */
bool definitions_match_sd(const char *pattern, const struct definition_sd *sd);

#endif
