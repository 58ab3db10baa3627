#include "tests/support/loop.h"

#include <check.h>

struct limit {
    uv_timer_t timer;
    bool passed;
    bool closed;
};

static void on_limit(uv_timer_t *timer)
{
    ((struct limit *)timer->data)->passed = true;
}

static void on_closed(uv_handle_t *handle)
{
    ((struct limit *)handle->data)->closed = true;
}

bool loop_until(uv_loop_t *loop, bool (*holds)(void *data), void *data,
                unsigned limit_ms)
{
    struct limit limit = {.passed = false, .closed = false};
    bool held;

    ck_assert_int_eq(uv_timer_init(loop, &limit.timer), 0);
    limit.timer.data = &limit;
    ck_assert_int_eq(uv_timer_start(&limit.timer, on_limit, limit_ms, 0), 0);
    while (!(held = holds(data)) && !limit.passed)
        (void)uv_run(loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&limit.timer, on_closed);
    while (!limit.closed)
        (void)uv_run(loop, UV_RUN_ONCE);
    return held;
}

static void name_handle(uv_handle_t *handle, void *data)
{
    (void)data;
    fprintf(stderr, "still on the loop: %s\n",
            uv_handle_type_name(handle->type));
}

void loop_finish(uv_loop_t *loop)
{
    int r;

    (void)uv_run(loop, UV_RUN_DEFAULT);
    r = uv_loop_close(loop);
    if (r < 0)
        uv_walk(loop, name_handle, NULL);
    ck_assert_int_eq(r, 0);
}
