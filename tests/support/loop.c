#include "tests/support/loop.h"

#include <check.h>
#include <stdio.h>

/* What loop_until() waits for, asked before and after each poll. */
struct wait {
    bool (*holds)(void *data);
    void *data;
    bool held;
    bool passed;
    uv_timer_t timer;
    uv_prepare_t prepare;
    uv_check_t check;
    int open;
};

static void ask(struct wait *wait, uv_loop_t *loop)
{
    wait->held = wait->held || wait->holds(wait->data);
    if (wait->held || wait->passed)
        uv_stop(loop);
}

static void on_prepare(uv_prepare_t *handle)
{
    ask(handle->data, handle->loop);
}

static void on_check(uv_check_t *handle)
{
    ask(handle->data, handle->loop);
}

static void on_limit(uv_timer_t *timer)
{
    ((struct wait *)timer->data)->passed = true;
}

static void on_closed(uv_handle_t *handle)
{
    ((struct wait *)handle->data)->open--;
}

bool loop_until(uv_loop_t *loop, bool (*holds)(void *data), void *data,
                unsigned limit_ms)
{
    struct wait wait = {.holds = holds, .data = data, .open = 3};

    uv_timer_init(loop, &wait.timer);
    uv_prepare_init(loop, &wait.prepare);
    uv_check_init(loop, &wait.check);
    wait.timer.data = wait.prepare.data = wait.check.data = &wait;
    uv_timer_start(&wait.timer, on_limit, limit_ms, 0);
    uv_prepare_start(&wait.prepare, on_prepare);
    uv_check_start(&wait.check, on_check);
    (void)uv_run(loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&wait.timer, on_closed);
    uv_close((uv_handle_t *)&wait.prepare, on_closed);
    uv_close((uv_handle_t *)&wait.check, on_closed);
    while (wait.open > 0)
        (void)uv_run(loop, UV_RUN_NOWAIT);
    return wait.held;
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
