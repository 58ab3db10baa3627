/* Goal: a path means one thing, and a strange one nothing. */
#include "controller/http/route.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct {
    enum route_method method;
    const char *path;
    enum route_kind kind;
    const char *campaign;
    uint32_t run;
    const char *allow;
} cases[] = {
    {ROUTE_GET, "/", ROUTE_FILE, "", 0, NULL},
    {ROUTE_GET, "/page.css", ROUTE_FILE, "", 0, NULL},
    {ROUTE_POST, "/", ROUTE_UNKNOWN, "", 0, NULL},
    {ROUTE_GET, "/metrics", ROUTE_METRICS, "", 0, NULL},
    {ROUTE_POST, "/metrics", ROUTE_UNKNOWN, "", 0, "GET, HEAD"},
    {ROUTE_GET, "/api/v1/campaigns", ROUTE_CAMPAIGNS, "", 0, NULL},
    {ROUTE_POST, "/api/v1/campaigns", ROUTE_SUBMIT, "", 0, NULL},
    {ROUTE_OTHER, "/api/v1/campaigns", ROUTE_UNKNOWN, "", 0, "GET, HEAD, POST"},
    {ROUTE_GET, "/api/v1/campaigns/", ROUTE_FILE, "", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/7", ROUTE_SHOW, "7", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/7/", ROUTE_FILE, "", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/newest/live", ROUTE_LIVE, "", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/0af3-12/runs/12", ROUTE_RUN, "0af3-12", 12,
     NULL},
    {ROUTE_GET, "/api/v1/campaigns/7/runs/0", ROUTE_FILE, "", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/7/runs/-1", ROUTE_FILE, "", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/7/runs/99999999999", ROUTE_FILE, "", 0,
     NULL},
    {ROUTE_GET, "/api/v1/campaigns/../7", ROUTE_FILE, "", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/x'y/report", ROUTE_FILE, "", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/7/export.csv", ROUTE_CSV, "7", 0, NULL},
    {ROUTE_GET, "/api/v1/campaigns/7/stop", ROUTE_UNKNOWN, "", 0, "POST"},
    {ROUTE_POST, "/api/v1/campaigns/7/stop", ROUTE_STOP, "7", 0, NULL},
};

START_TEST(path_is_found)
{
    struct route route = route_find(cases[_i].method, cases[_i].path);

    ck_assert_int_eq(route.kind, cases[_i].kind);
    if (route.kind != ROUTE_FILE && route.kind != ROUTE_UNKNOWN)
        ck_assert_str_eq(route.campaign, cases[_i].campaign);
    if (route.kind == ROUTE_RUN)
        ck_assert_uint_eq(route.run, cases[_i].run);
    ck_assert_pstr_eq(route.allow, cases[_i].allow);
}
END_TEST

/* A name as long as can be, and one longer. */
START_TEST(campaign_fits)
{
    char path[256];

    for (int extra = 0; extra < 2; extra++) {
        int digits = NAME_SIZE - 1 + extra;

        (void)snprintf(path, sizeof(path), "/api/v1/campaigns/%0*d", digits, 7);
        ck_assert_int_eq(route_find(ROUTE_GET, path).kind,
                         extra == 0 ? ROUTE_SHOW : ROUTE_FILE);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http.route");
    TCase *tcase = tcase_create("route");

    tcase_add_loop_test(tcase, path_is_found, 0, ARRAY_LENGTH(cases));
    tcase_add_test(tcase, campaign_fits);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
