/* codec.c - see codec.h. */
#include "controller/shell/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/frame.h"
#include "proto/lockstep.pb-c.h"

#define SHELL_MAJOR 1
#define SHELL_MINOR 0

/* protobuf-c's structs hold `char *`; it never writes through them when it
 * packs. */
static char *text(const char *constant)
{
    union {
        const char *in;
        char *out;
    } u = {.in = constant != NULL ? constant : ""};

    return u.out;
}

static int pack(Lockstep__Frame *frame, struct body *ret)
{
    size_t length = lockstep__frame__get_packed_size(frame);

    if (length > FRAME_BODY_MAX)
        return -EMSGSIZE;

    uint8_t *bytes = malloc(length > 0 ? length : 1);

    if (bytes == NULL)
        return -ENOMEM;
    ret->length = (uint32_t)lockstep__frame__pack(frame, bytes);
    ret->bytes = bytes;
    return 0;
}

int codec_hello(const char *user, struct body *ret)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__ShellHello hello = LOCKSTEP__SHELL_HELLO__INIT;

    hello.major = SHELL_MAJOR;
    hello.minor = SHELL_MINOR;
    hello.user = text(user);
    hello.version = text(LOCKSTEP_VERSION);
    frame.body_case = LOCKSTEP__FRAME__BODY_SHELL_HELLO;
    frame.shell_hello = &hello;
    return pack(&frame, ret);
}

int codec_heartbeat(struct body *ret)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;
    Lockstep__Heartbeat heartbeat = LOCKSTEP__HEARTBEAT__INIT;

    frame.body_case = LOCKSTEP__FRAME__BODY_HEARTBEAT;
    frame.heartbeat = &heartbeat;
    return pack(&frame, ret);
}

static int pack_request(Lockstep__Request *request, uint32_t id,
                        struct body *ret)
{
    Lockstep__Frame frame = LOCKSTEP__FRAME__INIT;

    request->id = id;
    frame.body_case = LOCKSTEP__FRAME__BODY_REQUEST;
    frame.request = request;
    return pack(&frame, ret);
}

static int pack_submit(uint32_t id, const struct submit *submit,
                       Lockstep__File *files, Lockstep__File **list,
                       char **variables, struct body *ret)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Submit s = LOCKSTEP__SUBMIT__INIT;

    for (size_t i = 0; i < submit->file_count; i++) {
        lockstep__file__init(&files[i]);
        files[i].name = text(submit->files[i].name);
        files[i].text = text(submit->files[i].text);
        files[i].included = submit->files[i].included;
        list[i] = &files[i];
    }
    for (size_t i = 0; i < submit->variable_count; i++)
        variables[i] = text(submit->variables[i]);
    s.n_files = submit->file_count;
    s.files = list;
    s.n_variables = submit->variable_count;
    s.variables = variables;
    s.elapsed_ns = submit->elapsed_ns;
    s.interval_ns = submit->interval_ns;
    s.warmup_ns = submit->warmup_ns;
    s.warmup_given = submit->warmup_given;
    s.name = text(submit->name);
    s.plan = (Lockstep__PlanForm)submit->plan;
    s.yes = text(submit->yes);
    request.what_case = LOCKSTEP__REQUEST__WHAT_SUBMIT;
    request.submit = &s;
    return pack_request(&request, id, ret);
}

int codec_submit(uint32_t id, const struct submit *submit, struct body *ret)
{
    size_t files = submit->file_count + 1;
    size_t variables = submit->variable_count + 1;
    Lockstep__File *file = calloc(files, sizeof(*file));
    Lockstep__File **list = calloc(files, sizeof(*list));
    char **variable = calloc(variables, sizeof(*variable));
    int r = -ENOMEM;

    if (file != NULL && list != NULL && variable != NULL)
        r = pack_submit(id, submit, file, list, variable, ret);
    free(file);
    free(list);
    free(variable);
    return r;
}

int codec_query(uint32_t id, enum query_kind kind, const char *campaign,
                struct body *ret)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Query query = LOCKSTEP__QUERY__INIT;

    query.kind = (Lockstep__QueryKind)kind;
    query.campaign = text(campaign);
    request.what_case = LOCKSTEP__REQUEST__WHAT_QUERY;
    request.query = &query;
    return pack_request(&request, id, ret);
}

int codec_export(uint32_t id, const char *campaign, uint32_t phase,
                 uint64_t interval, struct body *ret)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Query query = LOCKSTEP__QUERY__INIT;

    query.kind = LOCKSTEP__QUERY_KIND__QUERY_EXPORT;
    query.campaign = text(campaign);
    query.phase = phase;
    query.interval = interval;
    request.what_case = LOCKSTEP__REQUEST__WHAT_QUERY;
    request.query = &query;
    return pack_request(&request, id, ret);
}

int codec_watch(uint32_t id, const char *campaign, struct body *ret)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Watch watch = LOCKSTEP__WATCH__INIT;

    watch.campaign = text(campaign);
    request.what_case = LOCKSTEP__REQUEST__WHAT_WATCH;
    request.watch = &watch;
    return pack_request(&request, id, ret);
}

int codec_pin(uint32_t id, const char *campaign, bool pinned, struct body *ret)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Pin pin = LOCKSTEP__PIN__INIT;

    pin.campaign = text(campaign);
    pin.pinned = pinned;
    request.what_case = LOCKSTEP__REQUEST__WHAT_PIN;
    request.pin = &pin;
    return pack_request(&request, id, ret);
}

int codec_stop(uint32_t id, const char *campaign, bool run_only,
               struct body *ret)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Stop stop = LOCKSTEP__STOP__INIT;

    stop.campaign = text(campaign);
    stop.run_only = run_only;
    request.what_case = LOCKSTEP__REQUEST__WHAT_STOP;
    request.stop = &stop;
    return pack_request(&request, id, ret);
}

/* Fills the message from a frame; returns false for one that is not ours. */
static bool fill(const Lockstep__Frame *frame, struct message *m)
{
    switch (frame->body_case) {
    case LOCKSTEP__FRAME__BODY_WELCOME:
        m->kind = MESSAGE_WELCOME;
        return frame->welcome->major == SHELL_MAJOR;
    case LOCKSTEP__FRAME__BODY_REJECT:
        m->kind = MESSAGE_REJECT;
        m->reason = frame->reject->reason;
        return strlen(m->reason) < REASON_SIZE;
    case LOCKSTEP__FRAME__BODY_ANSWER:
        m->kind = MESSAGE_ANSWER;
        m->id = frame->answer->id;
        m->status = frame->answer->status;
        m->last = frame->answer->last;
        m->document = frame->answer->document.data;
        m->document_length = frame->answer->document.len;
        return m->status <= 6;
    case LOCKSTEP__FRAME__BODY_EVENT:
        m->kind = MESSAGE_EVENT;
        m->id = frame->event->id;
        m->document = frame->event->document.data;
        m->document_length = frame->event->document.len;
        return true;
    default:
        m->kind = MESSAGE_OTHER;
        return true;
    }
}

int codec_decode(const uint8_t *bytes, uint32_t length,
                 struct message *ret_message)
{
    Lockstep__Frame *frame = lockstep__frame__unpack(NULL, length, bytes);
    struct message m = {.memory_ = frame};

    if (frame == NULL)
        return -EBADMSG;
    if (!fill(frame, &m)) {
        codec_message_done(&m);
        return -EBADMSG;
    }
    *ret_message = m;
    return 0;
}

void codec_message_done(struct message *message)
{
    if (message->memory_ != NULL)
        lockstep__frame__free_unpacked(message->memory_, NULL);
    message->memory_ = NULL;
}
