#include <string.h>

#include "common/arena.h"
#include "common/prng.h"
#include "tests/support/suite.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new(1 << 20);
    ck_assert_ptr_nonnull(arena);
}

static void teardown(void)
{
    arena = arena_free(arena);
    ck_assert_ptr_null(arena);
}

START_TEST(memory_is_zeroed_aligned_and_apart)
{
    enum { PIECES = 500 };
    static uint8_t *pieces[PIECES];
    static size_t sizes[PIECES];
    struct prng prng;

    prng_seed(&prng, 1);
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = prng_below(&prng, 1000);
        pieces[i] = arena_alloc(arena, sizes[i]);
        ck_assert_ptr_nonnull(pieces[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            if (pieces[i][k] != 0)
                ck_abort_msg("not zeroed");
        memset(pieces[i], i & 255, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            if (pieces[i][k] != (i & 255))
                ck_abort_msg("piece %d was overwritten", i);
}
END_TEST

START_TEST(nothings_differ)
{
    void *a = arena_alloc(arena, 0), *b = arena_alloc(arena, 0);

    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_ne(a, b);
}
END_TEST

/* The maximum holds, for one large piece and for many small ones. */
START_TEST(growth_is_bounded)
{
    size_t taken = 0;

    ck_assert_ptr_null(arena_alloc(arena, (1 << 20) + 1));
    ck_assert_ptr_null(arena_alloc(arena, SIZE_MAX));
    ck_assert_ptr_null(arena_alloc(arena, 1 << 20)); /* with bookkeeping */
    while (arena_alloc(arena, 100) != NULL)
        taken += 100;
    ck_assert_uint_gt(taken, (1 << 20) * 8 / 10);
    ck_assert_uint_le(arena_size(arena), 1 << 20);
}
END_TEST

START_TEST(products_may_overflow)
{
    ck_assert_ptr_null(arena_array(arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(ARENA_ARRAY(arena, SIZE_MAX / 4, uint64_t));
    ck_assert_ptr_nonnull(ARENA_ARRAY(arena, 10, uint64_t));
}
END_TEST

START_TEST(copies)
{
    static const char four[4] = {'a', 'b', 'c', 'd'}; /* no final zero */

    ck_assert_str_eq(arena_strdup(arena, ""), "");
    ck_assert_str_eq(arena_strdup(arena, "word"), "word");
    ck_assert_str_eq(arena_strndup(arena, four, 4), "abcd");
    ck_assert_str_eq(arena_strndup(arena, "word", 2), "wo");
    ck_assert_str_eq(arena_printf(arena, "%s %d", "x", 5), "x 5");
    ck_assert_mem_eq(arena_memdup(arena, four, 4), four, 4);
    ck_assert_ptr_nonnull(arena_memdup(arena, NULL, 0));
}
END_TEST

START_TEST(reset_reuses)
{
    size_t first;

    ck_assert_ptr_nonnull(arena_alloc(arena, 100));
    first = arena_size(arena);
    for (int i = 0; i < 100; i++)
        ck_assert_ptr_nonnull(arena_alloc(arena, 5000));
    arena_reset(arena);
    ck_assert_uint_eq(arena_size(arena), first);
    for (int round = 0; round < 1000; round++) {
        uint8_t *piece = arena_alloc(arena, 2000);

        ck_assert(piece != NULL && piece[0] == 0 && piece[1999] == 0);
        memset(piece, 7, 2000);
        arena_reset(arena);
    }
    ck_assert_uint_eq(arena_size(arena), first);
}
END_TEST

START_TEST(free_of_nothing)
{
    ck_assert_ptr_null(arena_free(NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tc = tcase_create("arena");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, memory_is_zeroed_aligned_and_apart);
    tcase_add_test(tc, nothings_differ);
    tcase_add_test(tc, growth_is_bounded);
    tcase_add_test(tc, products_may_overflow);
    tcase_add_test(tc, copies);
    tcase_add_test(tc, reset_reuses);
    tcase_add_test(tc, free_of_nothing);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
