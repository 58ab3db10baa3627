/*
 * The small texts and answers that an agent reads from its own host: the mark
 * on a file (which its owner can forge), an offer, a drive's Identify answer.
 * The first byte chooses.
 */
#include <assert.h>
#include <string.h>

#include "agent/interlock_mark.h"
#include "agent/inventory_drive.h"
#include "agent/offer.h"
#include "tests/fuzz/fuzz.h"

static void try_mark(const char *text)
{
    struct mark mark;
    struct mark again;
    char printed[MARK_SIZE];

    if (mark_parse(text, &mark) < 0)
        return;
    mark_print(&mark, printed);
    assert(mark_parse(printed, &again) == 0);
    assert(again.inode == mark.inode && again.open == mark.open &&
           again.birth_ns == mark.birth_ns &&
           again.filled_bytes == mark.filled_bytes &&
           again.modified_ns == mark.modified_ns);
}

static void try_offer(const char *text)
{
    static struct offers offers;
    struct offer_subject subject = {.path = "/dev/sda", .model = "x"};
    struct diag diag = {0};
    int result;

    offers.count = 0;
    result = offers_add(&offers, text, &diag);
    assert(result == 0 ? offers.count == 1 : offers.count == 0);
    assert(result == 0 || diag.text[0] != '\0');
    /* Unknown is matched by nothing. */
    subject.model[0] = '\0';
    if (offers_match(&offers, &subject) != NULL)
        assert(offers.items[0].kind == OFFER_PATH);
}

static void try_identify(const uint8_t *data, size_t size)
{
    uint8_t identify[NVME_IDENTIFY_BYTES] = {0};
    char text[TEXT_SIZE];

    memcpy(identify, data, size < sizeof(identify) ? size : sizeof(identify));
    drive_formats(identify, text, sizeof(text));
    assert(strlen(text) < sizeof(text));
    assert(text[strspn(text, "0123456789+* ")] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[2048];

    if (size < 1 || size > sizeof(text))
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 3) {
    case 0:
        try_mark(text);
        break;
    case 1:
        try_offer(text);
        break;
    default:
        try_identify(data + 1, size - 1);
        break;
    }
    return 0;
}
