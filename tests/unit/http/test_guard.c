/* Goal: nobody else's page reaches a controller, and every program does. */
#include "controller/http/guard.h"

#include <check.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct {
    struct guard_request request;
    unsigned status;
} cases[] = {
    /* Looking, on loopback: the Host must be loopback's. */
    {{.host = "127.0.0.1:7781", .loopback = true}, 0},
    {{.host = "localhost", .loopback = true}, 0},
    {{.host = "localhost:9999", .loopback = true}, 0}, /* forwarded */
    {{.host = "[::1]:7781", .loopback = true}, 0},
    {{.host = "rebound.example:7781", .loopback = true}, 403},
    {{.host = "127.0.0.1.example", .loopback = true}, 403},
    {{.host = "10.0.0.7:7781", .loopback = true}, 403},
    {{.host = "", .loopback = true}, 403},
    {{.host = NULL, .loopback = true}, 403},
    {{.host = "lab.example:7781"}, 0}, /* by certificate */
    {{.host = "localhost", .loopback = true, .origin = "http://evil.example"},
     0}, /* it cannot read the answer */
    /* Changing. */
    {{.host = "localhost:7781",
      .loopback = true,
      .changes = true,
      .content_type = "application/json"},
     0},
    {{.host = "localhost:7781",
      .loopback = true,
      .changes = true,
      .content_type = "Application/JSON; charset=utf-8",
      .origin = "http://localhost:7781",
      .fetch_site = "same-origin"},
     0},
    {{.host = "localhost:7781",
      .loopback = true,
      .changes = true,
      .content_type = "application/json",
      .origin = "http://localhost:7782"},
     403},
    {{.host = "localhost:7781",
      .loopback = true,
      .changes = true,
      .content_type = "application/json",
      .origin = "https://localhost:7781"},
     403},
    {{.host = "localhost:7781",
      .loopback = true,
      .changes = true,
      .content_type = "application/json",
      .origin = "null"},
     403},
    {{.host = "lab:1",
      .changes = true,
      .content_type = "application/json",
      .origin = "https://lab:1"},
     0},
    {{.host = "lab:1",
      .changes = true,
      .content_type = "application/json",
      .origin = "http://lab:1"},
     403},
    {{.host = "lab:1",
      .changes = true,
      .content_type = "application/json",
      .fetch_site = "cross-site"},
     403},
    {{.host = "lab:1", .changes = true, .content_type = "text/plain"}, 415},
    {{.host = "lab:1", .changes = true, .content_type = "application/jsonp"},
     415},
    {{.host = "lab:1", .changes = true}, 415},
};

START_TEST(guard_refuses_what_it_must)
{
    struct diag diag = {0};

    ck_assert_uint_eq(guard_check(&cases[_i].request, &diag), cases[_i].status);
    if (cases[_i].status != 0)
        ck_assert_uint_gt(strlen(diag.text), 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http.guard");
    TCase *tcase = tcase_create("guard");

    tcase_add_loop_test(tcase, guard_refuses_what_it_must, 0,
                        ARRAY_LENGTH(cases));
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
