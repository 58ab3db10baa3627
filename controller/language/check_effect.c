/*
 * check_effect.c - parameters that are right, but change nothing where they
 * stand: warnings.
 */
#include "controller/language/internal.h"

#include <string.h>

static bool loops_over(const struct definitions *d,
                       enum definition_loop_kind kind)
{
    for (uint32_t i = 0; i < d->rd_count; i++)
        for (uint32_t k = 0; k < d->rds[i].loop_count; k++)
            if (d->rds[i].loops[k].kind == kind)
                return true;
    return false;
}

/* ---- general parameters ---- */

static void check_format(struct reading *reading)
{
    const struct definitions *d = reading->definitions;

    for (uint32_t i = 0; i < d->sd_count; i++)
        if (d->sds[i].size_bytes > 0)
            return;
    if (d->general.format_sds)
        language_report_add(reading->report, LANGUAGE_WARNING,
                            &d->general.format_place,
                            "files have a size=; devices are never formatted",
                            "formatsds= has no effect: no sd= has a size=");
}

/* ---- sd= ---- */

/* One for all: mostly they stand in every sd=. */
static void check_hit_areas(struct reading *reading)
{
    const struct definitions *d = reading->definitions;

    for (uint32_t i = 0; i < d->wd_count; i++)
        if (d->wds[i].read_hit_percent > 0 || d->wds[i].write_hit_percent > 0)
            return;
    if (d->wd_default.read_hit_percent > 0 ||
        d->wd_default.write_hit_percent > 0 || loops_over(d, LOOP_RHPCT) ||
        loops_over(d, LOOP_WHPCT))
        return;
    for (uint32_t i = 0; i < d->sd_count; i++)
        if (d->sds[i].hit_place.file != NULL) {
            language_report_add(reading->report, LANGUAGE_WARNING,
                                &d->sds[i].hit_place, NULL,
                                "hitarea= has no effect: nothing has rhpct= or "
                                "whpct=");
            return;
        }
}

/* Units and sets of duplicates, where none are asked for. */
static void check_dedup(struct reading *reading)
{
    const struct definitions *d = reading->definitions;

    for (uint32_t i = 0; i < d->sd_count; i++) {
        const struct definition_dedup *dedup = &d->sds[i].dedup;

        if (dedup->ratio == 0 && dedup->unit_place.file != NULL)
            language_report_add(reading->report, LANGUAGE_WARNING,
                                &dedup->unit_place, NULL,
                                "dedupunit= has no effect without dedupratio=");
    }
}

/* ---- wd= ---- */

static void check_sequential(struct reading *reading,
                             const struct definition_wd *wd)
{
    const char *idle = wd->streams > 0      ? "streams="
                       : wd->stride_max > 0 ? "stride="
                                            : NULL;

    if (wd->seek_percent < 100 || idle == NULL ||
        loops_over(reading->definitions, LOOP_SEEKPCT))
        return;
    language_report_add(reading->report, LANGUAGE_WARNING, &wd->place, NULL,
                        "wd=%s: %s has no effect where every request goes "
                        "elsewhere; give seekpct=seq",
                        wd->name, idle);
}

/* Its own ones, not those that wd=default has for others too. */
static void check_hits(struct reading *reading, const struct definition_wd *wd)
{
    const struct definition_wd *usual = &reading->definitions->wd_default;

    if (loops_over(reading->definitions, LOOP_RDPCT))
        return;
    if (wd->read_percent <= 0 && wd->read_hit_percent > 0 &&
        wd->read_hit_percent != usual->read_hit_percent)
        language_report_add(reading->report, LANGUAGE_WARNING, &wd->place, NULL,
                            "wd=%s: rhpct= has no effect: with rdpct=0 nothing "
                            "is read",
                            wd->name);
    if (wd->read_percent >= 100 && wd->write_hit_percent > 0 &&
        wd->write_hit_percent != usual->write_hit_percent)
        language_report_add(reading->report, LANGUAGE_WARNING, &wd->place,
                            "rdpct= says how much is read; all, by default",
                            "wd=%s: whpct= has no effect: with rdpct=100 "
                            "nothing is written",
                            wd->name);
}

static bool is_hardly_any(double rate, uint64_t elapsed_ns)
{
    return rate * (double)elapsed_ns / NS_PER_S < 1;
}

/* Over the longest run. */
static void check_own_rate(struct reading *reading,
                           const struct definition_wd *wd)
{
    const struct definitions *d = reading->definitions;
    uint64_t longest_ns = 0;

    for (uint32_t i = 0; i < d->rd_count; i++)
        if (d->rds[i].elapsed_ns > longest_ns)
            longest_ns = d->rds[i].elapsed_ns;
    if (wd->rate > 0 && d->rd_count > 0 && is_hardly_any(wd->rate, longest_ns))
        language_report_add(reading->report, LANGUAGE_WARNING, &wd->place,
                            "a longer elapsed=, or a higher rate",
                            "wd=%s: iorate=%g is less than one request in the "
                            "%g seconds of a run: hardly anything is measured",
                            wd->name, wd->rate, (double)longest_ns / NS_PER_S);
}

/* ---- rd= ---- */

static void warn_without(struct reading *reading,
                         const struct definition_rd *rd, const char *parameter,
                         const char *rate)
{
    language_report_add(reading->report, LANGUAGE_WARNING, &rd->place, NULL,
                        "rd=%s: %s= has no effect without iorate=%s", rd->name,
                        parameter, rate);
}

static bool has_rate(const struct definition_rd *rd)
{
    if (rd->variable)
        return true;
    for (uint32_t i = 0; i < rd->rate_count; i++)
        if (rd->rates[i].kind != DEFINITION_RATE_MAX)
            return true;
    return false;
}

static bool any_workload_has_rate(const struct definitions *d)
{
    for (uint32_t i = 0; i < d->wd_count; i++)
        if (d->wds[i].rate > 0)
            return true;
    return false;
}

/* Its own one, not that of rd=default, which is for others too. */
static void check_distribution(struct reading *reading,
                               const struct definition_rd *rd)
{
    const struct language_place *place = &rd->distribution_place;

    if (place->file == NULL || has_rate(rd) || rd->rate_count == 0 ||
        strcmp(place->file, rd->place.file) != 0 ||
        place->line < rd->place.line ||
        any_workload_has_rate(reading->definitions))
        return;
    language_report_add(reading->report, LANGUAGE_WARNING, place, NULL,
                        "distribution= has no effect at full speed "
                        "(iorate=max): there are no arrivals to spread");
}

/* One for all of an rd's rates. */
static void check_low_rates(struct reading *reading,
                            const struct definition_rd *rd)
{
    for (uint32_t i = 0; i < rd->rate_count && !rd->variable; i++) {
        const struct definition_rate *rate = &rd->rates[i];

        if (rate->kind != DEFINITION_RATE_FIXED ||
            !is_hardly_any(rate->value, rd->elapsed_ns))
            continue;
        language_report_add(
            reading->report, LANGUAGE_WARNING,
            rd->rate_place.file != NULL ? &rd->rate_place : &rd->place,
            "a longer elapsed=, or a higher rate",
            "rd=%s: iorate=%g is less than one request in elapsed=%g seconds: "
            "hardly anything is measured",
            rd->name, rate->value, (double)rd->elapsed_ns / NS_PER_S);
        return;
    }
}

static void check_rate_parameters(struct reading *reading,
                                  const struct definition_rd *rd)
{
    enum definition_rate_kind kind =
        rd->rate_count > 0 ? rd->rates[0].kind : DEFINITION_RATE_NONE;

    if (rd->find_quantile > 0 && kind != DEFINITION_RATE_FIND)
        warn_without(reading, rd, "find", "find");
    if (kind == DEFINITION_RATE_NONE || kind == DEFINITION_RATE_CURVE)
        return;
    if (rd->stop_curve_ns > 0)
        warn_without(reading, rd, "stopcurve", "curve");
    if (rd->curve_count > 0)
        warn_without(reading, rd, "curve", "curve");
    if (rd->curve_per_drive)
        warn_without(reading, rd, "curve_scope", "curve");
}

void check_effects(struct reading *reading)
{
    const struct definitions *d = reading->definitions;

    check_format(reading);
    check_hit_areas(reading);
    check_dedup(reading);
    for (uint32_t i = 0; i < d->wd_count; i++) {
        check_sequential(reading, &d->wds[i]);
        check_hits(reading, &d->wds[i]);
        check_own_rate(reading, &d->wds[i]);
    }
    for (uint32_t i = 0; i < d->rd_count; i++) {
        check_distribution(reading, &d->rds[i]);
        check_rate_parameters(reading, &d->rds[i]);
        check_low_rates(reading, &d->rds[i]);
    }
}
