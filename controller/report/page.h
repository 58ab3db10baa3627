/*
 * page.h - a campaign's report: one page of HTML that needs nothing else.
 *
 *     page = page_new();
 *     pieces of the campaign go to page_sink(page);
 *     page_write(page, out, &diag);
 *     page_free(page);
 *
 * The verdict comes first, then what is to be looked at, the runs side by
 * side, latency curves, each run, and what it was run on.  No figure is
 * computed here but medians and outliers among drives; each figure's exact
 * digits, those of the JSON document, are in a <data value="">.
 *
 * A page stays below 5 MB: beyond PAGE_CHARTS_MAX bytes runs get their
 * figures without charts, and the page says so.
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_REPORT_PAGE_H
#define CONTROLLER_REPORT_PAGE_H

#include <stdio.h>

#include "controller/report/sink.h"

#define PAGE_CHARTS_MAX (2900u << 10)

struct page;

/* NULL without memory. */
struct page *page_new(void);
struct sink page_sink(struct page *page);
int page_write(struct page *page, FILE *out, struct diag *diag) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct page *page_free(struct page *page);

#endif
