/* The rules: every row alone, their order, and the sentences. */
#include "agent/interlock.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/interlock_facts.h"
#include "tests/support/suite.h"

#define GIB (UINT64_C(1) << 30)

static struct interlock_facts facts;
static struct interlock_wish wish;

/* A drive that may be written, in the last judgement. */
static void good_drive(void)
{
    facts = (struct interlock_facts){
        .kind = INTERLOCK_BLOCK,
        .device = "/dev/nvme3n1",
        .size_bytes = 960 * GIB,
        .logical_block = 512,
        .serial = "PHLJ1",
        .wwn = "eui.01",
        .model = "INTEL X",
        .disk_sequence = 9,
        .offered = true,
        .offer_hint = "serial=PHLJ1",
        .claim = INTERLOCK_CLAIM_HELD,
        .content = INTERLOCK_CONTENT_NONE,
    };
    wish = (struct interlock_wish){
        .path = "/dev/disk/by-id/nvme-x",
        .write = true,
        .size_bytes = 100 * GIB,
        .serial = "PHLJ1",
        .wwn = "eui.01",
        .device_size_bytes = 960 * GIB,
        .disk_sequence = 9,
        .final = true,
    };
}

/* A file of ours that a fill makes longer, in an offered directory. */
static void good_file(void)
{
    facts = (struct interlock_facts){
        .kind = INTERLOCK_FILE,
        .device = "/srv/t/f",
        .size_bytes = 1 * GIB,
        .length_bytes = 1 * GIB,
        .allocated_bytes = 1 * GIB,
        .free_bytes = 50 * GIB,
        .logical_block = 4096,
        .offered = true,
        .offer_hint = "/srv/t/",
        .ours = true,
        .claim = INTERLOCK_CLAIM_HELD,
    };
    wish = (struct interlock_wish){
        .path = "/srv/t/f",
        .write = true,
        .create = true,
        .size_bytes = 10 * GIB,
        .final = true,
    };
}

/* One that does not exist yet. */
static void good_new_file(void)
{
    good_file();
    facts.kind = INTERLOCK_MISSING;
    facts.size_bytes = facts.length_bytes = facts.allocated_bytes = 0;
    facts.ours = false;
    facts.claim = INTERLOCK_CLAIM_UNTRIED;
}

static void read_only_wish(void)
{
    wish.write = false;
}

static void silent(void)
{
    facts.silent_ns = 90 * NS_PER_S;
}

static void no_access(void)
{
    facts = (struct interlock_facts){.access_error = EACCES};
}

static void missing_drive(void)
{
    facts.kind = INTERLOCK_MISSING;
    facts.below_dev = true;
}

static void missing_file(void)
{
    wish.create = false;
}

static void missing_without_size(void)
{
    wish.size_bytes = 0;
}

static void missing_folder(void)
{
    facts.parent_missing = true;
}

/* Typing a drive's name wrong must not make a file in memory. */
static void missing_below_dev_with_size(void)
{
    facts.below_dev = true;
}

static void directory(void)
{
    facts.kind = INTERLOCK_OTHER;
    (void)snprintf(facts.what, sizeof(facts.what), "a directory");
}

static void terminal(void)
{
    facts.kind = INTERLOCK_CHARACTER;
}

static void null_device(void)
{
    facts = (struct interlock_facts){
        .kind = INTERLOCK_CHARACTER, .harmless = true, .logical_block = 1};
    wish = (struct interlock_wish){
        .path = "/dev/null", .write = true, .size_bytes = 1, .final = true};
}

static void null_device_without_size(void)
{
    null_device();
    wish.size_bytes = 0;
}

static void other_serial(void)
{
    (void)snprintf(facts.serial, sizeof(facts.serial), "PHLJ2");
}

static void serial_not_told(void)
{
    facts.serial[0] = '\0';
}

static void other_wwn(void)
{
    (void)snprintf(facts.wwn, sizeof(facts.wwn), "eui.02");
}

static void other_size(void)
{
    facts.size_bytes++;
}

static void other_sequence(void)
{
    facts.disk_sequence++;
}

static void other_drive_only_read(void)
{
    wish.write = false;
    other_wwn();
}

/* The path of the drive is a file now. */
static void drive_became_file(void)
{
    facts.kind = INTERLOCK_FILE;
    facts.serial[0] = facts.wwn[0] = '\0';
    facts.ours = true;
}

static void not_compared(void)
{
    other_serial();
    other_wwn();
    other_size();
    other_sequence();
    wish.serial[0] = wish.wwn[0] = '\0';
    wish.device_size_bytes = wish.disk_sequence = 0;
}

static void small_drive(void)
{
    wish.size_bytes = 961 * GIB;
}

static void no_medium(void)
{
    facts.size_bytes = 0;
    wish.device_size_bytes = wish.size_bytes = 0;
}

static void small_file(void)
{
    wish.create = false;
    wish.size_bytes = GIB + 1;
}

static void half_filled_file(void)
{
    small_file();
    facts.size_bytes = 0;
}

static void set_read_only(void)
{
    facts.read_only = true;
}

static void read_only_is_read(void)
{
    facts.read_only = true;
    wish.write = false;
}

static void mounted(void)
{
    facts.used_by_count = 1;
    (void)snprintf(facts.used_by[0], TEXT_SIZE, "partition sda2: mounted on /");
}

static void mounted_is_read(void)
{
    mounted();
    wish.write = false;
    facts.offered = false;
    facts.content = INTERLOCK_CONTENT_FOUND;
    facts.claim = INTERLOCK_CLAIM_UNTRIED;
}

static void file_below_dev(void)
{
    facts.below_dev = true;
}

static void foreign_file(void)
{
    facts.ours = false;
}

/* A file that is long enough needs no writing, whoever made it. */
static void foreign_file_read(void)
{
    facts.ours = facts.offered = false;
    wish.write = false;
    wish.size_bytes = GIB;
}

static void foreign_file_too_short(void)
{
    facts.ours = false;
    wish.write = false;
}

static void not_offered(void)
{
    facts.offered = false;
}

static void private_file(void)
{
    facts.offered = false;
    facts.private_agent = true;
}

/* A private agent makes files; drives need their offer all the same. */
static void private_drive(void)
{
    facts.offered = false;
    facts.private_agent = true;
}

static void full(void)
{
    facts.free_bytes = 9 * GIB - 1;
}

static void just_enough(void)
{
    facts.free_bytes = 9 * GIB;
}

static void held_by_another(void)
{
    facts.claim = INTERLOCK_CLAIM_BUSY;
}

static void never_claimed(void)
{
    facts.claim = INTERLOCK_CLAIM_UNTRIED;
}

static void not_claimed_yet(void)
{
    facts.claim = INTERLOCK_CLAIM_UNTRIED;
    facts.content = INTERLOCK_CONTENT_UNKNOWN;
    wish.final = false;
}

static void has_ext4(void)
{
    facts.content = INTERLOCK_CONTENT_FOUND;
    (void)snprintf(facts.content_text, TEXT_SIZE, "ext4 file system");
}

static void never_probed(void)
{
    facts.content = INTERLOCK_CONTENT_UNKNOWN;
}

static void probe_failed(void)
{
    facts.content = INTERLOCK_CONTENT_UNKNOWN;
    (void)snprintf(facts.content_text, TEXT_SIZE, "looking failed: EIO");
    wish.final = false;
}

/* ---- Consent ---- */

static void ask_to_overwrite(void)
{
    has_ext4();
    wish.overwrite = true;
    wish.final = false;
}

static void agreed_to_ext4(void)
{
    has_ext4();
    wish.overwrite = true;
    (void)snprintf(wish.consent, TEXT_SIZE, "ext4 file system");
}

static void agreed_to_something_else(void)
{
    agreed_to_ext4();
    (void)snprintf(wish.consent, TEXT_SIZE, "xfs file system");
}

static void agreed_without_overwrite(void)
{
    agreed_to_ext4();
    wish.overwrite = false;
}

static void nobody_agreed(void)
{
    agreed_to_ext4();
    wish.consent[0] = '\0';
}

static void agreed_and_unreadable(void)
{
    agreed_to_ext4();
    facts.content = INTERLOCK_CONTENT_UNKNOWN;
}

static void agreed_and_mounted(void)
{
    agreed_to_ext4();
    mounted();
}

static void agreed_and_not_offered(void)
{
    agreed_to_ext4();
    facts.offered = false;
}

static void agreed_and_busy(void)
{
    agreed_to_ext4();
    held_by_another();
}

static void agreed_and_another_drive(void)
{
    agreed_to_ext4();
    other_wwn();
}

static void agreed_and_gone_blank(void)
{
    agreed_to_ext4();
    facts.content = INTERLOCK_CONTENT_NONE;
    facts.content_text[0] = '\0';
}

static void left_by_a_campaign(void)
{
    facts.content = INTERLOCK_CONTENT_LEFT;
}

static void foreign_file_asked(void)
{
    foreign_file();
    facts.content = INTERLOCK_CONTENT_FOUND;
    (void)snprintf(facts.content_text, TEXT_SIZE, "a file of others: 9");
    wish.overwrite = true;
    wish.final = false;
}

static void foreign_file_agreed(void)
{
    foreign_file_asked();
    wish.final = true;
    (void)snprintf(wish.consent, TEXT_SIZE, "a file of others: 9");
}

static void foreign_file_changed(void)
{
    foreign_file_agreed();
    (void)snprintf(wish.consent, TEXT_SIZE, "a file of others: 8");
}

static void written_by_this_campaign(void)
{
    facts.content = INTERLOCK_CONTENT_CLAIMED;
}

static void nothing(void)
{
}

static const struct {
    const char *name;
    void (*good)(void);
    void (*change)(void);
    enum interlock_verdict verdict;
    const char *says; /* what a person needs to read */
} table[] = {
    {"a drive", good_drive, nothing, INTERLOCK_ALLOWED, ""},
    {"a drive, reading", good_drive, read_only_wish, INTERLOCK_ALLOWED, ""},
    {"a file", good_file, nothing, INTERLOCK_ALLOWED, ""},
    {"a new file", good_new_file, nothing, INTERLOCK_ALLOWED, ""},
    {"no access", good_drive, no_access, INTERLOCK_NO_ACCESS,
     "Permission denied; the agent must run as"},
    {"silent", good_drive, silent, INTERLOCK_SILENT,
     "does not answer: requests of an earlier phase have been given up 1 min "
     "30 s"},
    {"no drive", good_drive, missing_drive, INTERLOCK_NOT_THERE,
     "'lockstep drives' lists"},
    {"no file", good_new_file, missing_file, INTERLOCK_NOT_THERE,
     "give its sd a size="},
    {"no size", good_new_file, missing_without_size, INTERLOCK_NOT_THERE,
     "give its sd a size="},
    {"no folder", good_new_file, missing_folder, INTERLOCK_NOT_THERE,
     "the directory of '/srv/t/f' does not exist"},
    {"new below /dev", good_new_file, missing_below_dev_with_size,
     INTERLOCK_NOT_THERE, "there is no '/srv/t/f' on this host"},
    {"directory", good_drive, directory, INTERLOCK_WRONG_KIND,
     "is a directory; I/O goes to"},
    {"terminal", good_drive, terminal, INTERLOCK_WRONG_KIND,
     "a character device"},
    {"/dev/null", good_drive, null_device, INTERLOCK_ALLOWED, ""},
    {"/dev/null, no size", good_drive, null_device_without_size,
     INTERLOCK_TOO_SMALL, "give its sd a size="},
    {"serial", good_drive, other_serial, INTERLOCK_ANOTHER_DRIVE,
     "its serial number was PHLJ1 and is PHLJ2; submit"},
    {"serial lost", good_drive, serial_not_told, INTERLOCK_ANOTHER_DRIVE,
     "its serial number was PHLJ1 and is unknown"},
    {"wwn", good_drive, other_wwn, INTERLOCK_ANOTHER_DRIVE,
     "its WWN was eui.01 and is eui.02"},
    {"size", good_drive, other_size, INTERLOCK_ANOTHER_DRIVE,
     "its size was 1030792151040 and is 1030792151041"},
    {"sequence", good_drive, other_sequence, INTERLOCK_ANOTHER_DRIVE,
     "its disk sequence was 9 and is 10"},
    {"other, read", good_drive, other_drive_only_read, INTERLOCK_ANOTHER_DRIVE,
     "its WWN"},
    {"now a file", good_drive, drive_became_file, INTERLOCK_ANOTHER_DRIVE,
     "its serial number was PHLJ1 and is unknown"},
    {"not compared", good_drive, not_compared, INTERLOCK_ALLOWED, ""},
    {"small drive", good_drive, small_drive, INTERLOCK_TOO_SMALL,
     "it has 960 GiB (1030792151040 bytes), the campaign wants 961 GiB"},
    {"no medium", good_drive, no_medium, INTERLOCK_TOO_SMALL, "no medium"},
    {"small file", good_file, small_file, INTERLOCK_TOO_SMALL, "too small"},
    {"half filled", good_file, half_filled_file, INTERLOCK_TOO_SMALL,
     "an earlier fill did not come to its end"},
    {"read-only", good_drive, set_read_only, INTERLOCK_READ_ONLY,
     "blockdev --setrw /dev/nvme3n1"},
    {"read-only, read", good_drive, read_only_is_read, INTERLOCK_ALLOWED, ""},
    {"ro file system", good_file, set_read_only, INTERLOCK_READ_ONLY,
     "on a read-only file system"},
    {"mounted", good_drive, mounted, INTERLOCK_IN_USE,
     "is in use: partition sda2: mounted on /."},
    {"mounted, read", good_drive, mounted_is_read, INTERLOCK_ALLOWED, ""},
    {"file in use", good_file, mounted, INTERLOCK_IN_USE, "is in use: "},
    {"below /dev", good_file, file_below_dev, INTERLOCK_BELOW_DEV,
     "a file below /dev"},
    {"foreign file", good_file, foreign_file, INTERLOCK_NOT_OURS,
     "exists and was not made by Lockstep"},
    {"foreign, read", good_file, foreign_file_read, INTERLOCK_ALLOWED, ""},
    {"foreign, short", good_file, foreign_file_too_short, INTERLOCK_NOT_OURS,
     "(to make it long enough)"},
    {"not offered", good_drive, not_offered, INTERLOCK_NOT_OFFERED,
     "'offer = serial=PHLJ1'"},
    {"file not offered", good_new_file, not_offered, INTERLOCK_NOT_OFFERED,
     "'offer = /srv/t/'"},
    {"private file", good_file, private_file, INTERLOCK_ALLOWED, ""},
    {"private new file", good_new_file, private_file, INTERLOCK_ALLOWED, ""},
    {"private drive", good_drive, private_drive, INTERLOCK_NOT_OFFERED,
     "--offer 'serial=PHLJ1'"},
    {"full", good_file, full, INTERLOCK_NO_SPACE,
     "needs 9 GiB (9663676416 bytes) more, and its file system has"},
    {"just enough", good_file, just_enough, INTERLOCK_ALLOWED, ""},
    {"busy", good_drive, held_by_another, INTERLOCK_BUSY, "held exclusively"},
    {"busy file", good_file, held_by_another, INTERLOCK_BUSY,
     "held exclusively"},
    {"never claimed", good_drive, never_claimed, INTERLOCK_BUSY, ""},
    {"file not claimed", good_file, never_claimed, INTERLOCK_BUSY, ""},
    {"before the claim", good_drive, not_claimed_yet, INTERLOCK_ALLOWED, ""},
    {"ext4", good_drive, has_ext4, INTERLOCK_HAS_CONTENT,
     "it has ext4 file system.  That is overwritten only where its sd says "
     "overwrite=yes and the operator confirms it"},
    {"asked to overwrite", good_drive, ask_to_overwrite, INTERLOCK_ALLOWED, ""},
    {"agreed", good_drive, agreed_to_ext4, INTERLOCK_ALLOWED, ""},
    {"agreed to else", good_drive, agreed_to_something_else,
     INTERLOCK_HAS_CONTENT, "that was xfs file system, now it is ext4 file"},
    {"agreed, not asked", good_drive, agreed_without_overwrite,
     INTERLOCK_HAS_CONTENT, "overwrite=yes"},
    {"nobody agreed", good_drive, nobody_agreed, INTERLOCK_HAS_CONTENT,
     "nobody agreed to lose that"},
    {"agreed, unreadable", good_drive, agreed_and_unreadable,
     INTERLOCK_HAS_CONTENT, "cannot tell what is on"},
    {"agreed, mounted", good_drive, agreed_and_mounted, INTERLOCK_IN_USE,
     "is in use"},
    {"agreed, not offered", good_drive, agreed_and_not_offered,
     INTERLOCK_NOT_OFFERED, "offer"},
    {"agreed, busy", good_drive, agreed_and_busy, INTERLOCK_BUSY,
     "held exclusively"},
    {"agreed, another", good_drive, agreed_and_another_drive,
     INTERLOCK_ANOTHER_DRIVE, "its WWN was eui.01 and is eui.02"},
    {"agreed, blank", good_drive, agreed_and_gone_blank, INTERLOCK_ALLOWED, ""},
    {"left by us", good_drive, left_by_a_campaign, INTERLOCK_ALLOWED, ""},
    {"foreign, asked", good_file, foreign_file_asked, INTERLOCK_ALLOWED, ""},
    {"foreign, agreed", good_file, foreign_file_agreed, INTERLOCK_ALLOWED, ""},
    {"foreign, changed", good_file, foreign_file_changed, INTERLOCK_NOT_OURS,
     "that was a file of others: 8, now it is a file of others: 9"},
    {"never probed", good_drive, never_probed, INTERLOCK_HAS_CONTENT,
     "cannot tell what is on"},
    {"probe failed", good_drive, probe_failed, INTERLOCK_HAS_CONTENT,
     "looking failed: EIO"},
    {"written by us", good_drive, written_by_this_campaign, INTERLOCK_ALLOWED,
     ""},
};

START_TEST(each_rule)
{
    char reason[REASON_SIZE] = "untouched";
    enum interlock_verdict verdict;

    table[_i].good();
    table[_i].change();
    verdict = interlock_judge(&facts, &wish, reason);
    ck_assert_msg(verdict == table[_i].verdict, "%s: verdict %d, not %d: %s",
                  table[_i].name, verdict, table[_i].verdict, reason);
    ck_assert_msg(strstr(reason, table[_i].says) != NULL, "%s says: %s",
                  table[_i].name, reason);
    if (verdict == INTERLOCK_ALLOWED) {
        ck_assert_str_eq(reason, "");
        return;
    }
    ck_assert_msg(strstr(reason, wish.path) != NULL, "%s", reason);
    ck_assert_uint_lt(strlen(reason), REASON_SIZE - 1);
}
END_TEST

/* Whatever breaks, an in-use drive must not be answered with "offer it". */
START_TEST(the_order_is_that_of_the_verdicts)
{
    char reason[REASON_SIZE];

    good_drive();
    has_ext4();
    held_by_another();
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason), INTERLOCK_BUSY);
    not_offered();
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason),
                     INTERLOCK_NOT_OFFERED);
    mounted();
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason), INTERLOCK_IN_USE);
    set_read_only();
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason),
                     INTERLOCK_READ_ONLY);
    small_drive();
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason),
                     INTERLOCK_TOO_SMALL);
    other_wwn();
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason),
                     INTERLOCK_ANOTHER_DRIVE);
    directory();
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason),
                     INTERLOCK_WRONG_KIND);
    facts.access_error = EPERM;
    ck_assert_int_eq(interlock_judge(&facts, &wish, reason),
                     INTERLOCK_NO_ACCESS);
}
END_TEST

/* Facts that nobody gathered must not open a drive for writing. */
START_TEST(case_F06_empty_facts_write_nothing)
{
    char reason[REASON_SIZE];

    for (int kind = INTERLOCK_MISSING; kind <= INTERLOCK_OTHER; kind++) {
        facts = (struct interlock_facts){.kind = (enum interlock_kind)kind};
        wish = (struct interlock_wish){
            .path = "/dev/sda", .write = true, .final = true};
        ck_assert_int_ne(interlock_judge(&facts, &wish, reason),
                         INTERLOCK_ALLOWED);
        facts.size_bytes = facts.length_bytes = 1;
        ck_assert_int_ne(interlock_judge(&facts, &wish, reason),
                         INTERLOCK_ALLOWED);
    }
}
END_TEST

/* The longest texts of peers and kernels leave the reason a text. */
START_TEST(long_texts_fit)
{
    char reason[REASON_SIZE + 1];

    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        table[i].good();
        table[i].change();
        memset(wish.path, 'p', sizeof(wish.path) - 1);
        memset(facts.device, 'd', sizeof(facts.device) - 1);
        memset(facts.offer_hint, 'o', sizeof(facts.offer_hint) - 1);
        memset(facts.content_text, 'c', sizeof(facts.content_text) - 1);
        memset(facts.claim_text, 'b', sizeof(facts.claim_text) - 1);
        for (uint32_t k = 0; k < INVENTORY_USES_MAX; k++)
            memset(facts.used_by[k], 'u', TEXT_SIZE - 1);
        if (facts.used_by_count > 0)
            facts.used_by_count = INVENTORY_USES_MAX;
        memset(reason, 0, sizeof(reason));
        (void)interlock_judge(&facts, &wish, reason);
        ck_assert_int_eq(reason[REASON_SIZE], '\0');
        ck_assert_uint_lt(strlen(reason), REASON_SIZE);
    }
}
END_TEST

START_TEST(writing_is_more_than_asking_for_it)
{
    good_file();
    wish.write = false;
    ck_assert(interlock_writes(&facts, &wish)); /* to make it longer */
    wish.size_bytes = GIB;
    ck_assert(!interlock_writes(&facts, &wish));
    wish.create = false;
    wish.size_bytes = 10 * GIB;
    ck_assert(!interlock_writes(&facts, &wish));
    good_drive();
    wish.write = false;
    wish.create = true; /* size= of a drive makes nothing */
    wish.size_bytes = 2000 * GIB;
    ck_assert(!interlock_writes(&facts, &wish));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interlock_rules");
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, each_rule, 0, ARRAY_LENGTH(table));
    tcase_add_test(tests, the_order_is_that_of_the_verdicts);
    tcase_add_test(tests, case_F06_empty_facts_write_nothing);
    tcase_add_test(tests, long_texts_fit);
    tcase_add_test(tests, writing_is_more_than_asking_for_it);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
