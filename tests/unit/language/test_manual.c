/*
 * The manual page says what the table of parameters says, letter by letter.
 * After a change of the table, UPDATE_MANUAL=1 writes the page anew.
 */
#include "controller/language/language.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "deploy/man/lockstep-campaign.5"

static void page_path(char *path, size_t size)
{
    const char *end = strstr(__FILE__, "tests/unit/language/");

    ck_assert_ptr_nonnull(end);
    (void)snprintf(path, size, "%.*s%s", (int)(end - __FILE__), __FILE__, PAGE);
}

START_TEST(the_page_is_made_from_the_table)
{
    static char page[256 << 10];
    char *made = language_manual();
    char path[4096];
    FILE *file;
    size_t length;

    ck_assert_ptr_nonnull(made);
    page_path(path, sizeof(path));
    if (getenv("UPDATE_MANUAL") != NULL) {
        file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(made, file);
        ck_assert_int_eq(fclose(file), 0);
    }
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "there is no %s", path);
    length = fread(page, 1, sizeof(page) - 1, file);
    page[length] = '\0';
    fclose(file);
    ck_assert_msg(strcmp(page, made) == 0,
                  "%s differs from the table: UPDATE_MANUAL=1 %s", PAGE,
                  "test.unit.language.manual writes it");
    free(made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("manual");
    TCase *cases = tcase_create("manual");

    tcase_add_test(cases, the_page_is_made_from_the_table);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
