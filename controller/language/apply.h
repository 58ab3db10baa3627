/*
 * apply.h - from stanzas to definitions: the state while definitions grow,
 * and the functions that the table of parameters names.  For this room only.
 */
#ifndef CONTROLLER_LANGUAGE_APPLY_H
#define CONTROLLER_LANGUAGE_APPLY_H

#include "controller/language/internal.h"

/* hd= while its stanza is applied. */
struct host_building {
    struct definition_host host;
};

/* sd= while its stanza is applied; lun= and host= come in pairs. */
struct sd_building {
    struct definition_sd sd;
    struct definition_names hosts_default;
    struct definition_names *hosts;
    uint32_t host_count;
    uint32_t host_capacity;
    bool lun_refused; /* lun= on sd=default: that is said already */
    struct definition_name *luns;
    uint32_t lun_count;
    uint32_t lun_capacity;
    uint32_t count_first; /* count=(first,number); number 0: one sd */
    uint32_t count_number;
    struct definition_dedup dedup; /* as far as it has its own */
    bool is_default;
};

/* rd= while its stanza is applied. */
struct rd_building {
    struct definition_rd rd;
    bool wds_given; /* in this very stanza */
};

/* Everything; defaults last until a later sd=default and the like. */
struct building {
    struct reading *reading;
    struct definition_general general;
    struct host_building host_default;
    struct definition_host *hosts;
    uint32_t host_count;
    uint32_t host_capacity;
    struct sd_building sd_default;
    struct definition_sd *sds;
    uint32_t sd_count;
    uint32_t sd_capacity;
    struct definition_wd wd_default;
    struct definition_wd *wds;
    uint32_t wd_count;
    uint32_t wd_capacity;
    struct rd_building rd_default;
    struct definition_rd *rds;
    uint32_t rd_count;
    uint32_t rd_capacity;

    /* Parameters without effect here, in the order they were met. */
    const struct parameter_kind *idle[64];
    uint32_t idle_count;
    struct language_place idle_place; /* of the first */
};

/* Applies one parameter to `definition`, as the table says. */
int apply_parameter(struct building *building, void *definition,
                    const struct parameter *parameter) MUST_CHECK;

/* A stanza's one name, or NULL with an error in the report. */
const struct token *apply_name(struct building *building,
                               const struct stanza *stanza);

/* One stanza of each section. */
int apply_host(struct building *building,
               const struct stanza *stanza) MUST_CHECK;
int apply_storage(struct building *building,
                  const struct stanza *stanza) MUST_CHECK;
int apply_workload(struct building *building,
                   const struct stanza *stanza) MUST_CHECK;
int apply_rd(struct building *building, const struct stanza *stanza) MUST_CHECK;

/* What the defaults are before a file says anything. */
void apply_defaults(struct building *building);

/* A stanza with $host, !host, #host or #hosts in it, once for each host. */
int hosts_expand(struct building *building, const struct stanza *stanza,
                 int (*apply)(struct building *,
                              const struct stanza *)) MUST_CHECK;

/* ---- named by the table ---- */

#define APPLY(name)                                                            \
    int name(struct reading *reading, void *definition,                        \
             const struct parameter *parameter)

/* Words of which only `no` is what Lockstep does anyway. */
APPLY(apply_anything_but_no);

APPLY(apply_dedupratio);
APPLY(apply_dedupunit);
APPLY(apply_dedupsets);
APPLY(apply_dedup);
APPLY(apply_deduphotsets);
APPLY(apply_dedupflipflop);
APPLY(apply_dedupacross);
APPLY(apply_compratio);
APPLY(apply_compression);
APPLY(apply_pattern);
APPLY(apply_formatsds);
APPLY(apply_concatenatesds);
APPLY(apply_data_errors);
APPLY(apply_commands);
APPLY(apply_monitor);
APPLY(apply_failed_skew);
APPLY(apply_histogram);
APPLY(apply_report_words);
APPLY(apply_heartbeat_error);
APPLY(apply_workers);
APPLY(apply_require);
APPLY(apply_host_wait);
APPLY(apply_drain_wait);
APPLY(apply_loop);
APPLY(apply_first_rd);

APPLY(apply_host_system);

APPLY(apply_sd_host);
APPLY(apply_sd_lun);
APPLY(apply_sd_count);
APPLY(apply_sd_size);
APPLY(apply_sd_threads);
APPLY(apply_sd_openflags);
APPLY(apply_sd_range);
APPLY(apply_sd_hitarea);
APPLY(apply_sd_offset);
APPLY(apply_sd_align);
APPLY(apply_sd_overwrite);
APPLY(apply_sd_drive);
APPLY(apply_sd_dedupratio);
APPLY(apply_sd_dedupunit);
APPLY(apply_sd_dedupsets);
APPLY(apply_sd_deduphotsets);
APPLY(apply_sd_dedupflipflop);

APPLY(apply_wd_sd);
APPLY(apply_wd_host);
APPLY(apply_wd_skew);
APPLY(apply_wd_xfersize);
APPLY(apply_wd_rdpct);
APPLY(apply_wd_wrpct);
APPLY(apply_wd_seekpct);
APPLY(apply_wd_range);
APPLY(apply_wd_openflags);
APPLY(apply_wd_hits);
APPLY(apply_wd_stride);
APPLY(apply_wd_streams);
APPLY(apply_wd_hotband);
APPLY(apply_wd_priority);
APPLY(apply_wd_iorate);
APPLY(apply_wd_threads);

APPLY(apply_rd_wd);
APPLY(apply_rd_sd);
APPLY(apply_rd_iorate);
APPLY(apply_rd_curve);
APPLY(apply_rd_elapsed);
APPLY(apply_rd_interval);
APPLY(apply_rd_warmup);
APPLY(apply_rd_pause);
APPLY(apply_rd_distribution);
APPLY(apply_rd_arrival_precision);
APPLY(apply_rd_openflags);
APPLY(apply_rd_loop);
APPLY(apply_rd_commands);
APPLY(apply_rd_maxdata);
APPLY(apply_rd_stopcurve);
APPLY(apply_rd_find);
APPLY(apply_rd_curve_scope);
APPLY(apply_rd_repeat);

/* ---- shared by sections ---- */

/* openflags= of sd, wd and rd. */
int apply_openflags(struct reading *reading, struct definition_open *open,
                    const struct parameter *parameter);

/* range= of sd and wd. */
int apply_range(struct reading *reading, struct definition_range *range,
                const struct parameter *parameter);

/* A time; without s, ms or us whole seconds, as in vdbench. */
int apply_time(struct reading *reading, const struct parameter *parameter,
               uint64_t *ret_ns, struct language_place *ret_place);

/* A size that is a multiple of 512, up to `most`. */
int apply_blocks(struct reading *reading, const struct parameter *parameter,
                 uint64_t most, uint64_t *ret_bytes);

/* distribution=variable: pairs of rate and seconds become steps. */
int apply_steps(struct reading *reading, struct definition_rd *rd) MUST_CHECK;

/* A size for transfers: a multiple of 512, not 0, not too large. */
int check_transfer(struct reading *reading, const struct parameter *parameter,
                   const struct number *number);

/* compression=: per cent that are left, as a ratio of three decimals. */
int check_compression(struct reading *reading,
                      const struct parameter *parameter,
                      const struct number *number, double *ret_ratio);

/* 0 .. 100. */
int check_percentage(struct reading *reading, const struct parameter *parameter,
                     const struct number *number);

/* 1 .. 65536 requests at a time. */
int check_threads(struct reading *reading, const struct parameter *parameter,
                  const struct number *number);

#endif
