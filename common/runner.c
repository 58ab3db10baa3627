/* runner.c - see runner.h. */
#include "common/runner.h"

#include "common/clock.h"
#include "common/text.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

/* How long output may still come when the process has ended. */
#define LAST_WORDS_MS 500

#define ENVIRONMENT_MAX 512u

/* What a command has on the loop, from its start to the last closed handle. */
struct run {
    struct runner *runner;
    uv_process_t process;
    uv_pipe_t output;
    uv_timer_t timer;
    uint32_t handles; /* not closed yet */
    bool has_process; /* its handle is the loop's */
    runner_done *done;
    void *context;
    uint64_t begin_ns;
    struct runner_result result;
    bool ended;     /* the process has */
    bool timed_out; /* and was told to end; then killed */
    bool silent;    /* its output has ended */
    char text[RUNNER_BYTES_MAX + 1];
    size_t length;
    char chunk[4096];
};

struct runner {
    uv_loop_t *loop;
    struct run *run; /* at hand; NULL: none */
    uint32_t runs;   /* with those that are still closing */
};

/* ---- The end ------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    struct run *run = handle->data;

    if (--run->handles > 0)
        return;
    run->runner->runs--;
    free(run);
}

static void close_run(struct run *run)
{
    if (run->runner->run == run)
        run->runner->run = NULL;
    if (run->has_process)
        uv_close((uv_handle_t *)&run->process, on_closed);
    uv_close((uv_handle_t *)&run->output, on_closed);
    uv_close((uv_handle_t *)&run->timer, on_closed);
}

/* Cuts the text into lines, in place; the last ones where they are many. */
static uint32_t cut_lines(struct run *run, const char **lines)
{
    uint32_t count = 0;
    char *rest = run->text;
    char *line;

    run->text[run->length] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL) {
        text_make_plain(line, "");
        if (line[0] == '\0')
            continue;
        if (strlen(line) >= TEXT_SIZE) {
            line[TEXT_SIZE - 1] = '\0';
            text_make_plain(line, "");
        }
        if (count == RUNNER_LINES_MAX) {
            memmove(lines, lines + 1, (count - 1) * sizeof(*lines));
            count--;
        }
        lines[count++] = line;
    }
    return count;
}

/* Zeros would end a text early. */
static void mask_zeros(struct run *run)
{
    for (size_t i = 0; i < run->length; i++)
        if (run->text[i] == '\0')
            run->text[i] = '?';
}

static void finish(struct run *run)
{
    const char *lines[RUNNER_LINES_MAX];

    mask_zeros(run);
    run->result.line_count = cut_lines(run, lines);
    run->result.lines = lines;
    if (run->timed_out)
        run->result.end = RUNNER_TIMED_OUT;
    /* Free before it is told: the next one may follow at once. */
    if (run->runner->run == run)
        run->runner->run = NULL;
    if (run->done != NULL)
        run->done(run->context, &run->result);
    close_run(run);
}

static void finish_if_over(struct run *run)
{
    if (run->ended && run->silent && !uv_is_closing((uv_handle_t *)&run->timer))
        finish(run);
}

static void on_last_words(uv_timer_t *timer)
{
    struct run *run = timer->data;

    run->silent = true;
    finish_if_over(run);
}

/* ---- What it says -------------------------------------------------------- */

/* Keeps the end: what went wrong is said last. */
static void keep(struct run *run, const char *text, size_t length)
{
    size_t over;

    run->result.bytes += length;
    over = run->length + length > RUNNER_BYTES_MAX
               ? run->length + length - RUNNER_BYTES_MAX
               : 0;
    memmove(run->text, run->text + over, run->length - over);
    run->length -= over;
    memcpy(run->text + run->length, text, length);
    run->length += length;
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buffer)
{
    struct run *run = handle->data;

    (void)suggested;
    *ret_buffer = uv_buf_init(run->chunk, sizeof(run->chunk));
}

static void on_output(uv_stream_t *stream, ssize_t count,
                      const uv_buf_t *buffer)
{
    struct run *run = stream->data;

    if (count > 0) {
        keep(run, buffer->base, (size_t)count);
    } else if (count < 0) {
        (void)uv_read_stop(stream);
        run->silent = true;
        finish_if_over(run);
    }
}

/* ---- The process --------------------------------------------------------- */

static void kill_group(const struct run *run, int signal)
{
    if (run->process.pid > 0)
        (void)kill(-run->process.pid, signal);
}

static void on_limit(uv_timer_t *timer)
{
    struct run *run = timer->data;

    kill_group(run, run->timed_out ? SIGKILL : SIGTERM);
    run->timed_out = true;
    (void)uv_timer_start(timer, on_limit, RUNNER_GRACE_NS / NS_PER_MS, 0);
}

static void on_end(uv_process_t *process, int64_t status, int signal)
{
    struct run *run = process->data;

    run->ended = true;
    run->result.end = signal != 0 ? RUNNER_KILLED : RUNNER_EXITED;
    run->result.status = signal != 0 ? signal : (int)status;
    run->result.duration_ns = clock_now_ns(clock_os()) - run->begin_ns;
    kill_group(run, SIGKILL); /* what it left behind */
    if (run->silent)
        finish_if_over(run);
    else
        (void)uv_timer_start(&run->timer, on_last_words, LAST_WORDS_MS, 0);
}

/* Told from the loop, as every other end. */
static void on_no_start(uv_timer_t *timer)
{
    finish(timer->data);
}

/* This process's environment with more before it, so that it wins. */
static uint32_t gather(const char *const *environment, char **ret_list)
{
    uint32_t count = 0;

    for (; environment != NULL && environment[count] != NULL &&
           count < ENVIRONMENT_MAX;
         count++)
        ret_list[count] = (char *)(uintptr_t)environment[count];
    for (char **at = environ; *at != NULL && count < ENVIRONMENT_MAX; at++)
        ret_list[count++] = *at;
    ret_list[count] = NULL;
    return count;
}

static int spawn(struct run *run, const struct command *command,
                 const char *const *environment)
{
    struct command_words words;
    char *list[ENVIRONMENT_MAX + 1];
    uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE}};
    uv_process_options_t options = {
        .exit_cb = on_end,
        .args = words.word,
        .env = list,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = stdio,
    };
    int both[2];
    int err = command_split(command->text, &words, NULL);

    if (err < 0)
        return err;
    options.file = words.word[0];
    (void)gather(environment, list);
    err = uv_pipe(both, UV_NONBLOCK_PIPE, 0);
    if (err < 0)
        return err;
    /* stdout and stderr are one pipe, so that lines keep their order. */
    stdio[1] =
        (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = both[1]};
    stdio[2] = stdio[1];
    err = uv_pipe_open(&run->output, both[0]);
    if (err < 0) {
        (void)close(both[0]);
    } else {
        err = uv_spawn(run->runner->loop, &run->process, &options);
        run->has_process = true; /* also where it failed */
        if (err < 0)
            run->process.pid = 0;
    }
    (void)close(both[1]);
    return err;
}

/* ---- Life ---------------------------------------------------------------- */

int runner_start(struct runner *runner, const struct command *command,
                 const char *const *environment, runner_done *done,
                 void *context)
{
    struct run *run;
    int err;

    if (runner->run != NULL)
        return -EBUSY;
    run = calloc(1, sizeof(*run));
    if (run == NULL)
        return -ENOMEM;
    run->runner = runner;
    run->done = done;
    run->context = context;
    run->begin_ns = clock_now_ns(clock_os());
    (void)uv_pipe_init(runner->loop, &run->output, 0);
    (void)uv_timer_init(runner->loop, &run->timer);
    err = spawn(run, command, environment);
    run->handles = run->has_process ? 3 : 2;
    run->process.data = run;
    run->output.data = run;
    run->timer.data = run;
    runner->run = run;
    runner->runs++;
    if (err < 0) {
        run->result.end = RUNNER_NO_START;
        run->result.status = -err;
        return uv_timer_start(&run->timer, on_no_start, 0, 0);
    }
    (void)uv_read_start((uv_stream_t *)&run->output, on_room, on_output);
    uv_update_time(runner->loop); /* the limit is from now on, and no shorter */
    return uv_timer_start(&run->timer, on_limit,
                          command->limit_ns / NS_PER_MS + 1, 0);
}

void runner_cancel(struct runner *runner)
{
    struct run *run = runner->run;

    if (run == NULL)
        return;
    run->done = NULL;
    runner->run = NULL;
    kill_group(run, SIGKILL);
}

bool runner_is_free(const struct runner *runner)
{
    return runner->run == NULL;
}

bool runner_is_idle(const struct runner *runner)
{
    return runner->runs == 0;
}

struct runner *runner_new(struct uv_loop_s *loop)
{
    struct runner *runner = calloc(1, sizeof(*runner));

    if (runner != NULL)
        runner->loop = loop;
    return runner;
}

struct runner *runner_free(struct runner *runner)
{
    if (runner == NULL)
        return NULL;
    assert(runner_is_idle(runner));
    free(runner);
    return NULL;
}
