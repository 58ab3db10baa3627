/* loop.c - the connection, the time and the signals of an agent. */
#include "agent/loop.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "agent/interlock.h"
#include "agent/loop_errand.h"
#include "agent/loop_look.h"
#include "agent/loop_stage.h"
#include "agent/session.h"
#include "common/channel.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/process.h"
#include "common/tls.h"
#include "common/uuid.h"

/* More than the session ever has in the channel: what it lets wait, and one
 * row's last part. */
#define CHANNEL_BYTES (SESSION_QUEUE_MAX + (4u << 20))

static const int end_signals[] = {SIGTERM, SIGINT, SIGHUP};

/* One connection, from its dialling to its on_close. */
struct link {
    struct loop *loop;
    struct channel *channel;
    bool left; /* the session has given it up */
};

enum ending {
    ENDING_NOT,
    ENDING_STOPPING, /* a signal came, or the one connection is over */
    ENDING_GIVEN_UP, /* a second one, or it took too long */
};

struct loop {
    uv_loop_t uv;
    uv_timer_t timer;
    uv_timer_t compare;
    uv_prepare_t prepare;
    uv_signal_t signals[ARRAY_LENGTH(end_signals)];
    const struct settings *settings;
    const struct clock *clock;
    struct tls_context *tls;
    struct interlock_policy policy;
    struct session *session;
    struct stages *stages;
    struct looks *looks;
    struct errands *errands;
    struct link *link; /* the session's, NULL without */
    uint32_t links;    /* with those that are still closing */
    char name[NAME_SIZE];
    struct diag no_dial; /* why the dialling failed at once; "" */
    enum ending ending;
    uint64_t ending_ns; /* since when */
};

/* ---- The connection ----------------------------------------------------- */

static void on_open(void *owner)
{
    struct link *link = owner;

    if (link->left)
        return;
    log_debug(NULL, "dialled %s", channel_peer(link->channel));
    session_connected(link->loop->session);
}

static void on_frame(void *owner, const uint8_t *body, uint32_t length,
                     uint64_t read_ns)
{
    struct link *link = owner;

    if (!link->left)
        session_frame(link->loop->session, body, length, read_ns);
}

static void on_drained(void *owner)
{
    struct link *link = owner;

    if (!link->left)
        session_tick(link->loop->session);
}

static void on_close(void *owner, const struct diag *reason)
{
    struct link *link = owner;
    struct loop *loop = link->loop;
    bool left = link->left;

    loop->links--;
    free(link);
    if (left)
        return;
    loop->link = NULL;
    session_disconnected(loop->session, reason->text);
}

static const struct channel_handlers handlers = {
    .on_open = on_open,
    .on_frame = on_frame,
    .on_drained = on_drained,
    .on_close = on_close,
};

static void dial(void *context)
{
    struct loop *loop = context;
    struct channel_setup setup = {
        .loop = &loop->uv,
        .tls = loop->tls,
        .peer_roles = TLS_ROLE_CONTROLLER,
        .queue_max = CHANNEL_BYTES,
        .clock = loop->clock,
    };
    struct link *link = calloc(1, sizeof(*link));
    int err;

    assert(loop->link == NULL);
    assert(link != NULL);
    link->loop = loop;
    if (loop->settings->controller_fd >= 0)
        err = channel_adopt(&setup, loop->settings->controller_fd, &handlers,
                            link, &link->channel, &loop->no_dial);
    else
        err = channel_connect(&setup, loop->settings->controller, &handlers,
                              link, &link->channel, &loop->no_dial);
    if (err < 0) {
        free(link); /* the session hears of it in the loop's next turn */
        return;
    }
    loop->no_dial.text[0] = '\0';
    loop->link = link;
    loop->links++;
}

static void send_body(void *context, const uint8_t *body, size_t length)
{
    struct loop *loop = context;

    if (loop->link != NULL)
        (void)channel_send(loop->link->channel, body, (uint32_t)length);
}

static size_t queued(void *context)
{
    const struct loop *loop = context;

    return loop->link != NULL ? channel_queued(loop->link->channel) : 0;
}

static void hang_up(void *context)
{
    struct loop *loop = context;
    struct link *link = TAKE(loop->link);

    if (link == NULL)
        return;
    link->left = true;
    channel_end(link->channel, "the agent ended it");
}

/* ---- The rest of the world ---------------------------------------------- */

static void say(void *context, enum session_log level, const char *text)
{
    (void)context;
    if (level == SESSION_LOG_WARNING)
        log_warn(NULL, "%s", text);
    else
        log_notice(NULL, "%s", text);
}

static void look(void *context)
{
    struct loop *loop = context;

    looks_look(loop->looks);
}

static void inspect(void *context, const struct uuid *campaign,
                    struct interlock_wish *wishes, uint32_t count)
{
    struct loop *loop = context;

    looks_inspect(loop->looks, campaign, wishes, count);
}

static void prepare(void *context, const struct job *job)
{
    struct loop *loop = context;

    stages_prepare(loop->stages, job);
}

static int arm(void *context, uint64_t start_ns, struct diag *diag)
{
    struct loop *loop = context;

    return stages_arm(loop->stages, start_ns, diag);
}

static void go(void *context)
{
    struct loop *loop = context;

    stages_go(loop->stages);
}

static void stop_after(void *context, uint64_t interval)
{
    struct loop *loop = context;

    stages_stop_after(loop->stages, interval);
}

static void stop(void *context)
{
    struct loop *loop = context;

    stages_stop(loop->stages);
}

static void lease(void *context, uint64_t deadline_ns)
{
    struct loop *loop = context;

    stages_lease(loop->stages, deadline_ns);
}

static void discard(void *context, struct job *job)
{
    struct loop *loop = context;

    stages_discard(loop->stages, job);
}

static void release(void *context, const struct uuid *campaign)
{
    struct loop *loop = context;

    stages_release(loop->stages, campaign);
}

static void run(void *context, const struct command *command,
                const struct uuid *campaign, uint32_t phase)
{
    struct loop *loop = context;

    errands_run(loop->errands, command, campaign, phase);
}

static void end_run(void *context)
{
    struct loop *loop = context;

    errands_end(loop->errands);
}

static const struct session_world world = {
    .dial = dial,
    .send = send_body,
    .queued = queued,
    .hang_up = hang_up,
    .log = say,
    .look = look,
    .inspect = inspect,
    .prepare = prepare,
    .arm = arm,
    .go = go,
    .stop_after = stop_after,
    .stop = stop,
    .lease = lease,
    .discard = discard,
    .release = release,
    .run = run,
    .end_run = end_run,
};

/* ---- Ends --------------------------------------------------------------- */

/* Whether there is still something worth waiting for. */
static bool is_waiting(const struct loop *loop)
{
    uint64_t waited = clock_now_ns(loop->clock) - loop->ending_ns;

    if (loop->ending == ENDING_GIVEN_UP)
        return false;
    if (!session_is_over(loop->session))
        return waited < LOOP_DRAIN_NS;
    return session_is_up(loop->session) &&
           phase_has_work(session_phase(loop->session)) &&
           waited < LOOP_FAREWELL_NS;
}

static void check_end(struct loop *loop)
{
    if (loop->ending == ENDING_NOT && session_is_over(loop->session)) {
        loop->ending = ENDING_STOPPING; /* the one connection has ended */
        loop->ending_ns = clock_now_ns(loop->clock);
    }
    if (loop->ending != ENDING_NOT && !is_waiting(loop))
        uv_stop(&loop->uv);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct loop *loop = handle->data;
    char reason[REASON_SIZE];

    if (loop->ending != ENDING_NOT) {
        loop->ending = ENDING_GIVEN_UP;
        return;
    }
    loop->ending = ENDING_STOPPING;
    loop->ending_ns = clock_now_ns(loop->clock);
    (void)snprintf(reason, sizeof(reason), "agent %s was told to end (SIG%s)",
                   loop->name, sigabbrev_np(number));
    log_notice(NULL, "%s", reason);
    session_stop(loop->session, reason);
}

/* ---- Time --------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer)
{
    struct loop *loop = timer->data;

    if (loop->no_dial.text[0] != '\0') {
        struct diag diag = loop->no_dial;

        loop->no_dial.text[0] = '\0';
        session_disconnected(loop->session, diag.text);
    }
    stages_poll(loop->stages);
    session_tick(loop->session);
}

static void on_compare(uv_timer_t *timer)
{
    struct loop *loop = timer->data;

    looks_compare(loop->looks);
}

static uint64_t due_ns(struct loop *loop)
{
    uint64_t session_due = session_due_ns(loop->session);
    uint64_t stages_due = stages_due_ns(loop->stages);
    uint64_t due = session_due < stages_due ? session_due : stages_due;

    if (loop->no_dial.text[0] != '\0')
        return 0;
    /* While it ends, it looks twice a second whether it may. */
    if (loop->ending != ENDING_NOT &&
        due > clock_now_ns(loop->clock) + NS_PER_S / 2)
        return clock_now_ns(loop->clock) + NS_PER_S / 2;
    return due;
}

/* Before each wait: sets the timer to what is due next. */
static void on_prepare(uv_prepare_t *handle)
{
    struct loop *loop = handle->data;
    uint64_t now, due;

    check_end(loop);
    session_waits(loop->session);
    due = due_ns(loop);
    now = clock_now_ns(loop->clock);
    if (due == UINT64_MAX) {
        (void)uv_timer_stop(&loop->timer);
        return;
    }
    uv_update_time(&loop->uv);
    (void)uv_timer_start(&loop->timer, on_timer,
                         due <= now ? 0 : (due - now) / NS_PER_MS + 1, 0);
}

/* ---- Life --------------------------------------------------------------- */

/* Many drives, each with descriptors of its own. */
static void raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
        limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Keys, and the name that goes with them. */
static int take_identity(struct loop *loop, struct diag *diag)
{
    const struct settings *settings = loop->settings;
    const char *name = settings->name;
    char host[ADDRESS_SIZE];
    uint16_t port;

    if (settings->controller_fd < 0 && settings->keys[0] != '\0') {
        int err = tls_context_load(settings->keys, &loop->tls, diag);

        if (err < 0)
            return err;
        if (name[0] == '\0')
            name = tls_context_name(loop->tls);
        if (strcmp(name, tls_context_name(loop->tls)) != 0)
            return diag_set(diag, -EINVAL,
                            "the keys in %s are those of agent '%s', not of "
                            "'%s': leave out name, or use that agent's keys",
                            settings->keys, tls_context_name(loop->tls), name);
    } else if (settings->controller_fd < 0) {
        if (address_split(settings->controller, 0, host, &port) < 0 ||
            !address_is_loopback(host))
            return diag_set(diag, -EINVAL,
                            "controller %s is another machine: give keys = "
                            "FILE, made there by 'lockstep keys agent NAME'",
                            settings->controller);
    }
    (void)snprintf(loop->name, sizeof(loop->name), "%s", name);
    if (loop->name[0] == '\0')
        settings_host_name(loop->name);
    return 0;
}

static void make_config(const struct loop *loop,
                        struct session_config *ret_config)
{
    const struct settings *settings = loop->settings;
    struct session_config config = {
        .instance = uuid_random(),
        .boot = uuid_boot(),
        .label_count = settings->label_count,
        .commands = &settings->commands,
        .phase = {.lease_ns = settings->lease_ns,
                  .finish_on_lease_lost =
                      settings->lease_lost == SETTINGS_FINISH},
        .unacknowledged_max = settings->unacknowledged_max,
        .once = settings->controller_fd >= 0,
    };

    memcpy(config.name, loop->name, sizeof(config.name));
    memcpy(config.labels, settings->labels, sizeof(config.labels));
    *ret_config = config;
}

static int make_parts(struct loop *loop, struct diag *diag)
{
    const struct settings *settings = loop->settings;
    struct session_config config;
    struct stages_setup setup = {
        .loop = &loop->uv,
        .policy = &loop->policy,
        .clock = loop->clock,
        .options = {.engine =
                        settings->engine[0] != '\0' ? settings->engine : NULL,
                    .workers_max = settings->workers_max,
                    .pin = settings->pin,
                    /* Agents that share a host begin at different CPUs. */
                    .turn = (uint32_t)getpid()},
    };
    int err = take_identity(loop, diag);

    if (err < 0)
        return err;
    loop->policy.root = "/";
    loop->policy.offers = &settings->offers;
    loop->policy.private_agent = settings->controller_fd >= 0;
    memcpy(loop->policy.state_directory, settings->state_directory,
           sizeof(loop->policy.state_directory));
    make_config(loop, &config);
    loop->stages = stages_new(&setup);
    loop->looks = looks_new(&loop->uv, &loop->policy);
    loop->errands = errands_new(&loop->uv);
    loop->session = session_new(&config, loop->clock, &world, loop);
    if (loop->stages == NULL || loop->looks == NULL || loop->errands == NULL ||
        loop->session == NULL)
        return diag_set(diag, -ENOMEM, "no memory to begin with");
    stages_serve(loop->stages, loop->session);
    looks_serve(loop->looks, loop->session);
    errands_serve(loop->errands, loop->session);
    return 0;
}

static void open_handles(struct loop *loop)
{
    (void)uv_timer_init(&loop->uv, &loop->timer);
    (void)uv_timer_init(&loop->uv, &loop->compare);
    (void)uv_prepare_init(&loop->uv, &loop->prepare);
    loop->timer.data = loop;
    loop->compare.data = loop;
    loop->prepare.data = loop;
    (void)uv_prepare_start(&loop->prepare, on_prepare);
    (void)uv_timer_start(&loop->compare, on_compare, LOOK_EVERY_NS / NS_PER_MS,
                         LOOK_EVERY_NS / NS_PER_MS);
    for (size_t i = 0; i < ARRAY_LENGTH(end_signals); i++) {
        (void)uv_signal_init(&loop->uv, &loop->signals[i]);
        loop->signals[i].data = loop;
        if (end_signals[i] != SIGHUP || !process_ignores(SIGHUP))
            (void)uv_signal_start(&loop->signals[i], on_signal, end_signals[i]);
    }
}

static void on_moment(uv_timer_t *timer)
{
    (void)timer; /* only ends a wait */
}

/* Lets what runs on threads and what closes come to its end, but not for ever:
 * a drive that hangs must not keep the process. */
static bool wait_for_rest(struct loop *loop)
{
    uint64_t until = clock_now_ns(loop->clock) + LOOP_FAREWELL_NS;

    while (loop->links > 0 || !stages_are_idle(loop->stages) ||
           !looks_are_idle(loop->looks) || !errands_are_idle(loop->errands)) {
        if (clock_now_ns(loop->clock) >= until)
            return false;
        uv_update_time(&loop->uv);
        (void)uv_timer_start(&loop->timer, on_moment, 50, 0);
        (void)uv_run(&loop->uv, UV_RUN_ONCE);
    }
    return true;
}

static void end_session(struct loop *loop)
{
    if (session_is_up(loop->session)) {
        struct codec_bytes bytes = codec_reject("the agent has ended");

        send_body(loop, bytes.data, bytes.length);
        codec_bytes_done(&bytes);
    }
    hang_up(loop);
    stages_serve(loop->stages, NULL);
    looks_serve(loop->looks, NULL);
    loop->session = session_free(loop->session);
    errands_serve(loop->errands, NULL);
}

static void close_handles(struct loop *loop)
{
    uv_close((uv_handle_t *)&loop->timer, NULL);
    uv_close((uv_handle_t *)&loop->compare, NULL);
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(end_signals); i++)
        uv_close((uv_handle_t *)&loop->signals[i], NULL);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
}

/* False: threads still use all of it, and nothing may be freed. */
static bool finish(struct loop *loop)
{
    (void)uv_prepare_stop(&loop->prepare);
    (void)uv_timer_stop(&loop->compare);
    end_session(loop);
    if (!wait_for_rest(loop)) {
        log_warn(NULL, "a drive hangs: ending without it, ignoring");
        return false;
    }
    close_handles(loop);
    return true;
}

static int loop_new(const struct settings *settings, struct loop **ret_loop,
                    struct diag *diag)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    int err;

    if (loop == NULL)
        return diag_set(diag, -ENOMEM, "no memory to begin with");
    err = uv_loop_init(&loop->uv);
    if (err < 0) {
        free(loop);
        return diag_set(diag, err, "no event loop: %s", uv_strerror(err));
    }
    loop->settings = settings;
    loop->clock = clock_os();
    *ret_loop = loop;
    return 0;
}

static void loop_free(struct loop *loop)
{
    loop->session = session_free(loop->session);
    loop->stages = stages_free(loop->stages);
    loop->looks = looks_free(loop->looks);
    loop->errands = errands_free(loop->errands);
    loop->tls = tls_context_free(loop->tls);
    (void)uv_loop_close(&loop->uv);
    free(loop);
}

int loop_run(const struct settings *settings, struct diag *diag)
{
    struct loop *loop = NULL;
    int err = loop_new(settings, &loop, diag);

    if (err < 0)
        return err;
    raise_limits();
    err = make_parts(loop, diag);
    if (err < 0) {
        loop_free(loop);
        return err;
    }
    open_handles(loop);
    log_notice(NULL, "agent %s, version %s, serves %s, writes %s", loop->name,
               LOCKSTEP_VERSION,
               settings->controller_fd >= 0 ? "who started it"
                                            : settings->controller,
               settings->offers.count > 0     ? "what is offered"
               : settings->controller_fd >= 0 ? "files that it makes"
                                              : "nothing: there is no offer");
    session_start(loop->session);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    if (finish(loop))
        loop_free(loop);
    return 0;
}
