#include "controller/fleet/codec.h"

#include "bodies.h"

#include "common/arena.h"
#include "common/prng.h"
#include "controller/results/sample.h"
#include "tests/support/suite.h"

#include <errno.h>

static struct arena *arena;
static struct wire_in in;
static struct diag diag;

static void setup(void)
{
    arena = arena_new(WIRE_ARENA_BYTES);
    ck_assert_ptr_nonnull(arena);
}

static void teardown(void)
{
    arena = arena_free(arena);
}

static int decode(void)
{
    memset(&diag, 0, sizeof(diag));
    arena_reset(arena);
    return wire_decode(body_made.data, body_made.length, arena, &in, &diag);
}

/* Refused, with a text that names what is wrong. */
static void expect_refusal(const char *word)
{
    ck_assert_int_eq(decode(), -EBADMSG);
    ck_assert_msg(strstr(diag.text, word) != NULL, "'%s' does not say '%s'",
                  diag.text, word);
}

/* ---- Hello --------------------------------------------------------------- */

START_TEST(a_hello_is_read)
{
    Lockstep__AgentHello hello = body_hello("host-7.lab", &body_instance);
    Lockstep__Held held = LOCKSTEP__HELD__INIT;
    Lockstep__Work work = body_work(3);
    char *labels[] = {(char *)(uintptr_t) "rack=4"};

    held.work = &work;
    held.state = LOCKSTEP__AGENT_STATE__AGENT_RUNNING;
    held.first_unacknowledged = 17;
    hello.held = &held;
    hello.labels = labels;
    hello.n_labels = 1;
    hello.finishes_phase = true;
    BODY_PACK(AGENT_HELLO, agent_hello, &hello);
    ck_assert_int_eq(decode(), 0);
    ck_assert_int_eq(in.kind, WIRE_IN_AGENT_HELLO);
    ck_assert_str_eq(in.agent_hello.name, "host-7.lab");
    ck_assert_str_eq(in.agent_hello.labels[0], "rack=4");
    ck_assert(in.agent_hello.holds && in.agent_hello.finishes_phase);
    ck_assert_uint_eq(in.agent_hello.held.phase, 3);
    ck_assert_int_eq(in.agent_hello.held_state, WIRE_AGENT_RUNNING);
    ck_assert_uint_eq(in.agent_hello.first_unacknowledged, 17);
}
END_TEST

/* What a hello may not say, and the word that names it. */
START_TEST(a_wrong_hello_is_refused)
{
    static const char *const names[] = {
        "",
        "two words",
        "new\nline",
        "caf\xc3\xa9",
        "a/b",
        "0123456789012345678901234567890123456789012345678901234567890123x",
    };
    Lockstep__AgentHello hello;

    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        hello = body_hello(names[i], &body_instance);
        BODY_PACK(AGENT_HELLO, agent_hello, &hello);
        expect_refusal("name");
    }
    hello = body_hello("host", &body_instance);
    hello.instance.len = 15;
    BODY_PACK(AGENT_HELLO, agent_hello, &hello);
    expect_refusal("instance");
    hello = body_hello("host", &body_instance);
    hello.lease_ms = 999;
    BODY_PACK(AGENT_HELLO, agent_hello, &hello);
    expect_refusal("lease_ms");
    hello = body_hello("host", &body_instance);
    hello.version = (char *)(uintptr_t) "\x1b[31mred";
    BODY_PACK(AGENT_HELLO, agent_hello, &hello);
    expect_refusal("version");
}
END_TEST

/* Of another major version only what its refusal needs is looked at. */
START_TEST(a_hello_of_another_major_is_readable)
{
    Lockstep__AgentHello hello = body_hello("host", &body_instance);

    hello.major = 2;
    hello.instance.len = 3;
    hello.lease_ms = 0;
    BODY_PACK(AGENT_HELLO, agent_hello, &hello);
    ck_assert_int_eq(decode(), 0);
    ck_assert_uint_eq(in.agent_hello.major, 2);
}
END_TEST

START_TEST(lists_have_limits)
{
    Lockstep__AgentHello hello = body_hello("host", &body_instance);
    char *labels[WIRE_LABELS_MAX + 1];

    for (size_t i = 0; i < ARRAY_LENGTH(labels); i++)
        labels[i] = (char *)(uintptr_t) "x";
    hello.labels = labels;
    hello.n_labels = WIRE_LABELS_MAX;
    BODY_PACK(AGENT_HELLO, agent_hello, &hello);
    ck_assert_int_eq(decode(), 0);
    hello.n_labels = WIRE_LABELS_MAX + 1;
    BODY_PACK(AGENT_HELLO, agent_hello, &hello);
    expect_refusal("labels");
}
END_TEST

/* UTF-8 is checked to the bit: what is stored and shown is text. */
START_TEST(texts_are_clean)
{
    static const struct {
        const char *text;
        bool fine;
    } cases[] = {
        {"SAMSUNG MZWLL800HEHP", true},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe", true},
        {"\xc3", false},             /* cut */
        {"\xc0\xaf", false},         /* not the shortest */
        {"\xe0\x80\xaf", false},     /* the same in three bytes */
        {"\xed\xa0\x80", false},     /* half of a surrogate pair */
        {"\xf4\x90\x80\x80", false}, /* beyond Unicode */
        {"\xff", false},
        {"\x80", false},
        {"a\tb", false},
        {"a\x7f", false},
        {"a\xc2\x9b", false}, /* a control, as terminals understand it */
    };

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        Lockstep__Reject reject = LOCKSTEP__REJECT__INIT;

        reject.reason = (char *)(uintptr_t)cases[i].text;
        BODY_PACK(REJECT, reject, &reject);
        ck_assert_msg((decode() == 0) == cases[i].fine, "case %zu", i);
    }
}
END_TEST

/* ---- Samples ------------------------------------------------------------- */

static struct body_sample s;

static void pack_sample(void)
{
    BODY_PACK(SAMPLE, sample, &s.sample);
}

static void expect_sample_refusal(const char *word)
{
    pack_sample();
    expect_refusal(word);
    body_sample_init(&s, 5, 1000);
}

START_TEST(a_sample_is_read)
{
    struct sample *sample;

    body_sample_init(&s, 5, 1000);
    pack_sample();
    ck_assert_int_eq(decode(), 0);
    sample = in.sample.sample;
    memset(body_made.data, 0xff, body_made.length); /* it has its own copy */
    arena_reset(arena);
    ck_assert_uint_eq(sample->interval, 5);
    ck_assert_uint_eq(sample->cell_count, 1);
    ck_assert_uint_eq(sample->cells[0].ios, 1000);
    ck_assert_uint_eq(sample->cells[0].service_length, s.cell.service.len);
    ck_assert_mem_eq(sample->cells[0].service, s.blob, s.cell.service.len);
    ck_assert_ptr_null(sample->cells[0].response);
    ck_assert(sample->has_host);
    ck_assert_uint_eq(in.sample.agent_begin_ns, s.sample.agent_begin_ns);
    sample_free(sample);
}
END_TEST

START_TEST(an_impossible_sample_is_refused)
{
    body_sample_init(&s, 5, 1000);
    s.sample.parts = 0;
    expect_sample_refusal("parts");
    s.sample.parts = WIRE_PARTS_MAX + 1;
    expect_sample_refusal("parts");
    s.sample.part = 1;
    expect_sample_refusal("part");
    s.sample.spans = 0;
    expect_sample_refusal("spans");
    s.sample.spans = 7; /* more than there were */
    expect_sample_refusal("spans");
    s.sample.interval = UINT64_C(1) << 32;
    expect_sample_refusal("interval");
    s.sample.kind = 3;
    expect_sample_refusal("kind");
    s.sample.agent_end_ns = s.sample.agent_begin_ns - 1;
    expect_sample_refusal("agent_end_ns");
    s.sample.agent_opened_last_ns = 999;
    expect_sample_refusal("agent_opened_last_ns");
    s.sample.work = NULL;
    expect_sample_refusal("work");
    s.work.campaign.len = 0;
    expect_sample_refusal("campaign");
    s.sample.n_cells = 2; /* the same cell again */
    expect_sample_refusal("twice");
    s.cell.cell = WIRE_CELLS_MAX;
    expect_sample_refusal("cell");
    s.cell.op = 2;
    expect_sample_refusal("op");
    s.cell.ios = 999;
    expect_sample_refusal("service");
    s.cell.bytes = UINT64_MAX;
    expect_sample_refusal("bytes");
    s.cell.errors = UINT64_C(1) << 63;
    expect_sample_refusal("errors");
    s.cell.errors = 4; /* fewer than by errno */
    s.cell.n_by_errno = 1;
    expect_sample_refusal("more errors by errno");
    s.cell.errors = 5;
    s.cell.n_by_errno = 1;
    s.error.err = 4096;
    expect_sample_refusal("err");
    s.sample.n_failures = 65;
    expect_sample_refusal("65 failures");
    s.sample.n_failures = 1;
    s.failure.op = 2;
    expect_sample_refusal("op");
    s.sample.parts = 2;
    s.sample.part = 1; /* the host comes with part 0 */
    expect_sample_refusal("host");
}
END_TEST

START_TEST(an_open_loop_has_both_latencies)
{
    body_sample_init(&s, 0, 1000);
    s.cell.response = s.cell.service;
    pack_sample();
    ck_assert_int_eq(decode(), 0);
    ck_assert_uint_gt(in.sample.sample->cells[0].response_length, 0);
    sample_free(in.sample.sample);
    s.cell.response.len--;
    expect_sample_refusal("response");
}
END_TEST

/* case O01: inner lengths that lie, a message cut at each byte. */
START_TEST(case_O01_cut_and_spoilt_frames_do_no_harm)
{
    static uint8_t whole[sizeof(body_made.data)];
    uint64_t seed = suite_seed();
    struct prng prng;
    size_t length;

    body_sample_init(&s, 5, 100000);
    pack_sample();
    length = body_made.length;
    memcpy(whole, body_made.data, length);
    for (size_t cut = 0; cut < length; cut++) {
        body_made.length = cut;
        memcpy(body_made.data, whole, cut);
        if (decode() == 0 && in.kind == WIRE_IN_SAMPLE)
            sample_free(in.sample.sample);
    }
    prng_seed(&prng, seed);
    for (int i = 0; i < 20000; i++) {
        body_made.length = length;
        memcpy(body_made.data, whole, length);
        for (int k = 0; k < 3; k++)
            body_made.data[prng_below(&prng, length)] =
                (uint8_t)prng_next(&prng);
        if (decode() == 0 && in.kind == WIRE_IN_SAMPLE)
            sample_free(in.sample.sample);
    }
}
END_TEST

/* A small frame may not make us take much memory. */
START_TEST(a_frame_of_empty_parts_is_refused)
{
    Lockstep__Inventory inventory = LOCKSTEP__INVENTORY__INIT;
    Lockstep__DriveFacts drive = LOCKSTEP__DRIVE_FACTS__INIT;
    size_t count = 300000;
    Lockstep__DriveFacts **drives = calloc(count, sizeof(*drives));

    for (size_t i = 0; i < count; i++)
        drives[i] = &drive;
    inventory.drives = drives;
    inventory.n_drives = count;
    BODY_PACK(INVENTORY, inventory, &inventory);
    ck_assert_int_eq(decode(), -EBADMSG);
    ck_assert_uint_le(arena_size(arena), WIRE_ARENA_BYTES);
    free(drives);
}
END_TEST

/* ---- Others -------------------------------------------------------------- */

START_TEST(an_unknown_frame_is_ignored)
{
    /* Field 99, a message of three bytes: of a newer minor. */
    static const uint8_t newer[] = {0x9a, 0x06, 3, 0x0a, 1, 'x'};

    memcpy(body_made.data, newer, sizeof(newer));
    body_made.length = sizeof(newer);
    ck_assert_int_eq(decode(), 0);
    ck_assert_int_eq(in.kind, WIRE_IN_IGNORED);
}
END_TEST

START_TEST(clock_stamps_do_not_run_backwards)
{
    Lockstep__ClockReply reply = LOCKSTEP__CLOCK_REPLY__INIT;

    reply.sequence = 1;
    reply.agent_received_ns = 100;
    reply.agent_sent_ns = 100;
    BODY_PACK(CLOCK_REPLY, clock_reply, &reply);
    ck_assert_int_eq(decode(), 0);
    reply.agent_sent_ns = 99;
    BODY_PACK(CLOCK_REPLY, clock_reply, &reply);
    expect_refusal("agent_sent_ns");
}
END_TEST

START_TEST(a_submit_is_bounded)
{
    static char text[WIRE_FILES_BYTES / 2 + 2];
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Submit submit = LOCKSTEP__SUBMIT__INIT;
    Lockstep__File file = LOCKSTEP__FILE__INIT;
    Lockstep__File *files[] = {&file, &file};

    request.id = 1;
    request.what_case = LOCKSTEP__REQUEST__WHAT_SUBMIT;
    request.submit = &submit;
    BODY_PACK(REQUEST, request, &request);
    expect_refusal("files");
    memset(text, '*', sizeof(text) - 1);
    file.name = (char *)(uintptr_t) "a.parm";
    file.text = text;
    submit.files = files;
    submit.n_files = 1;
    BODY_PACK(REQUEST, request, &request);
    ck_assert_int_eq(decode(), 0);
    ck_assert_int_eq(in.request.kind, WIRE_REQUEST_SUBMIT);
    submit.n_files = 2;
    BODY_PACK(REQUEST, request, &request);
    expect_refusal("bytes");
}
END_TEST

START_TEST(an_unknown_request_is_told_apart)
{
    Lockstep__Request request = LOCKSTEP__REQUEST__INIT;
    Lockstep__Query query = LOCKSTEP__QUERY__INIT;

    request.id = 9;
    BODY_PACK(REQUEST, request, &request);
    ck_assert_int_eq(decode(), 0);
    ck_assert_int_eq(in.request.kind, WIRE_REQUEST_UNKNOWN);
    request.what_case = LOCKSTEP__REQUEST__WHAT_QUERY;
    request.query = &query;
    query.kind = 77;
    BODY_PACK(REQUEST, request, &request);
    ck_assert_int_eq(decode(), 0);
    ck_assert_int_eq(in.request.kind, WIRE_REQUEST_UNKNOWN);
    query.kind = LOCKSTEP__QUERY_KIND__QUERY_SHOW;
    BODY_PACK(REQUEST, request, &request);
    ck_assert_int_eq(decode(), 0);
    ck_assert_int_eq(in.request.kind, WIRE_REQUEST_SHOW);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.codec");
    TCase *tcase = tcase_create("codec");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_hello_is_read);
    tcase_add_test(tcase, a_wrong_hello_is_refused);
    tcase_add_test(tcase, a_hello_of_another_major_is_readable);
    tcase_add_test(tcase, lists_have_limits);
    tcase_add_test(tcase, texts_are_clean);
    tcase_add_test(tcase, a_sample_is_read);
    tcase_add_test(tcase, an_impossible_sample_is_refused);
    tcase_add_test(tcase, an_open_loop_has_both_latencies);
    tcase_add_test(tcase, case_O01_cut_and_spoilt_frames_do_no_harm);
    tcase_add_test(tcase, a_frame_of_empty_parts_is_refused);
    tcase_add_test(tcase, an_unknown_frame_is_ignored);
    tcase_add_test(tcase, clock_stamps_do_not_run_backwards);
    tcase_add_test(tcase, a_submit_is_bounded);
    tcase_add_test(tcase, an_unknown_request_is_told_apart);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
