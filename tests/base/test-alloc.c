/* SPDX-License-Identifier: MIT */
/* The library's memory: blocks of malloc's or of the caller's allocator,
 * counted, and given back where they came from. */
#include <config.h>

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include <radio/radio.h>

#include "tests/unit.h"
#include "tests/alloc-fail.h"

#include "src/base/cleanup.h"

/* An allocator that counts what it holds and marks its blocks, so that one
 * of malloc's that came to it would be noticed. */
struct books {
  size_t nallocated, nresized, nreleased;
  size_t nlive;
  bool fails;
};

#define MARK ((uint64_t) 0x6d61726b6d61726b)

struct marked {
  alignas (max_align_t) uint64_t mark;
};

static void *
take (size_t nbytes, void *user_data)
{
  struct books *books = user_data;
  struct marked *marked
    = books->fails ? NULL : malloc (sizeof *marked + nbytes);
  if (!marked)
    return NULL;
  memset (marked, 0xee, sizeof *marked + nbytes);
  marked->mark = MARK;
  books->nallocated++;
  books->nlive++;
  return marked + 1;
}

static struct marked *
check_mark (void *block)
{
  struct marked *marked = (struct marked *) block - 1;
  assert_true (marked->mark == MARK);
  return marked;
}

static void *
resize (void *block, size_t nbytes, void *user_data)
{
  struct books *books = user_data;
  assert_true (nbytes > 0);
  if (!block)
    return take (nbytes, user_data);
  struct marked *marked = check_mark (block);
  if (books->fails)
    return NULL;
  marked = realloc (marked, sizeof *marked + nbytes);
  assert_non_null (marked);
  books->nresized++;
  return marked + 1;
}

static void
release (void *block, void *user_data)
{
  struct books *books = user_data;
  struct marked *marked = check_mark (block);
  marked->mark = 0;
  books->nreleased++;
  books->nlive--;
  free (marked);
}

static void
use_books (struct books *books)
{
  const struct radio_allocator allocator = { take, resize, release, books };
  memset (books, 0, sizeof *books);
  assert_ok (radio_set_allocator (&allocator));
}

static void
blocks_are_counted_until_they_are_released (void **state)
{
  (void) state;
  uint64_t before = rd_alloc_live_count ();
  char *a = rd_malloc (10), *b = rd_calloc (3, 7), *c = rd_strdup ("text");
  assert_true (rd_alloc_live_count () == before + 3);
  a = rd_realloc (a, 100000);
  assert_non_null (a);
  assert_true (rd_alloc_live_count () == before + 3);
  rd_free (b);
  rd_free (a);
  rd_free (NULL);
  rd_free (c);
  assert_true (rd_alloc_live_count () == before);
}

static void
blocks_are_aligned_for_any_type (void **state)
{
  (void) state;
  for (size_t n = 0; n < 100; n++) {
    void *a = rd_malloc (n), *b = rd_calloc (1, n), *c = rd_realloc (NULL, n);
    assert_true ((uintptr_t) a % alignof (max_align_t) == 0);
    assert_true ((uintptr_t) b % alignof (max_align_t) == 0);
    assert_true ((uintptr_t) c % alignof (max_align_t) == 0);
    rd_free (a);
    rd_free (b);
    rd_free (c);
  }
}

static void
a_block_of_no_bytes_is_a_block (void **state)
{
  (void) state;
  void *a = rd_malloc (0), *b = rd_calloc (0, 8);
  assert_non_null (a);
  assert_non_null (b);
  assert_ptr_not_equal (a, b);
  b = rd_realloc (b, 0);
  assert_non_null (b);
  rd_free (a);
  rd_free (b);
}

static void
calloc_gives_zeros_of_any_allocator (void **state)
{
  (void) state;
  struct books books;
  for (int own = 0; own < 2; own++) {
    if (own)
      use_books (&books);
    unsigned char *zeros = rd_calloc (100, 41);
    assert_non_null (zeros);
    for (size_t i = 0; i < 4100; i++)
      assert_int_equal (zeros[i], 0);
    rd_free (zeros);
  }
  assert_ok (radio_set_allocator (NULL));
}

static void
sizes_that_do_not_fit_are_refused (void **state)
{
  (void) state;
  uint64_t before = rd_alloc_live_count ();
  /* Volatile: the compiler would warn of sizes that it knows. */
  volatile size_t most = SIZE_MAX, half = SIZE_MAX / 2 + 2;
  assert_null (rd_malloc (most));
  assert_null (rd_malloc (most - 8));
  assert_null (rd_calloc (half, 2));
  assert_null (rd_calloc (most, most));
  char *kept = rd_strdup ("kept");
  assert_null (rd_realloc (kept, most - 8));
  assert_string_equal (kept, "kept");
  rd_free (kept);
  assert_true (rd_alloc_live_count () == before);
}

static void
resizing_keeps_the_bytes (void **state)
{
  (void) state;
  unsigned char *block = rd_malloc (16);
  assert_non_null (block);
  for (unsigned char i = 0; i < 16; i++)
    block[i] = i;
  for (size_t n = 17; n < 1 << 20; n *= 3) {
    block = rd_realloc (block, n);
    assert_non_null (block);
    for (unsigned char i = 0; i < 16; i++)
      assert_int_equal (block[i], i);
  }
  block = rd_realloc (block, 4);
  assert_non_null (block);
  assert_int_equal (block[3], 3);
  rd_free (block);
}

static void
text_is_copied_up_to_its_end_or_the_limit (void **state)
{
  (void) state;
  char *whole = rd_strdup ("head"), *part = rd_strndup ("header", 4),
    *shorter = rd_strndup ("he", 4);
  assert_string_equal (whole, "head");
  assert_string_equal (part, "head");
  assert_string_equal (shorter, "he");
  rd_free (whole);
  rd_free (part);
  rd_free (shorter);
}

static void
without_memory_nothing_is_counted (void **state)
{
  (void) state;
  uint64_t before = rd_alloc_live_count ();
  char *kept = rd_strdup ("kept");
  alloc_fail_above (1);
  void *a = rd_malloc (10), *b = rd_calloc (1, 10),
    *c = rd_realloc (kept, 1000), *d = rd_strdup ("lost");
  assert_true (alloc_fail_end ());
  assert_true (!a && !b && !c && !d);
  assert_true (rd_alloc_live_count () == before + 1);
  assert_string_equal (kept, "kept");
  rd_free (kept);
}

static enum radio_status
open_memory (struct radio_store **store)
{
  const struct radio_store_options options = { .create = true };
  return radio_store_open ("memory:", &options, store);
}

static void
the_callers_allocator_gives_all_memory (void **state)
{
  (void) state;
  struct books books;
  use_books (&books);
  alloc_fail_nth (0);
  struct radio_store *store = NULL;
  assert_ok (open_memory (&store));
  assert_true (books.nlive > 0);
  assert_true (books.nlive == rd_alloc_live_count ());
  radio_store_close (store);
  assert_false (alloc_fail_end ());
  assert_true (books.nallocated > 0);
  assert_true (books.nallocated == books.nreleased);
  assert_true (rd_alloc_live_count () == 0);
  assert_ok (radio_set_allocator (NULL));
}

static void
an_allocator_without_memory_is_a_failure_in_words (void **state)
{
  (void) state;
  struct books books;
  use_books (&books);
  books.fails = true;
  struct radio_store *store = NULL;
  assert_fails (open_memory (&store),
                RADIO_ERROR_MEMORY, "out of memory");
  assert_null (rd_calloc (1, 1));
  assert_true (books.nlive == 0);
  assert_ok (radio_set_allocator (NULL));
}

static void
the_allocator_is_not_changed_while_blocks_are_held (void **state)
{
  (void) state;
  struct books books;
  const struct radio_allocator allocator = { take, resize, release, &books };
  void *held = rd_malloc (1);
  assert_fails (radio_set_allocator (&allocator), RADIO_ERROR_EXISTS,
                "1 blocks");
  assert_fails (radio_set_allocator (NULL), RADIO_ERROR_EXISTS, "1 blocks");
  rd_free (held);
  use_books (&books);
  held = rd_malloc (1);
  assert_fails (radio_set_allocator (NULL), RADIO_ERROR_EXISTS, "1 blocks");
  rd_free (held);
  assert_ok (radio_set_allocator (NULL));
}

static void
an_allocator_must_be_complete (void **state)
{
  (void) state;
  struct radio_allocator allocator = { take, resize, release, NULL };
  allocator.allocate = NULL;
  assert_fails (radio_set_allocator (&allocator), RADIO_ERROR_ARGUMENT,
                "allocate");
  allocator = (struct radio_allocator) { take, NULL, release, NULL };
  assert_fails (radio_set_allocator (&allocator), RADIO_ERROR_ARGUMENT,
                "resize");
  allocator = (struct radio_allocator) { take, resize, NULL, NULL };
  assert_fails (radio_set_allocator (&allocator), RADIO_ERROR_ARGUMENT,
                "release");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (blocks_are_counted_until_they_are_released),
    cmocka_unit_test (blocks_are_aligned_for_any_type),
    cmocka_unit_test (a_block_of_no_bytes_is_a_block),
    cmocka_unit_test (calloc_gives_zeros_of_any_allocator),
    cmocka_unit_test (sizes_that_do_not_fit_are_refused),
    cmocka_unit_test (resizing_keeps_the_bytes),
    cmocka_unit_test (text_is_copied_up_to_its_end_or_the_limit),
    cmocka_unit_test (without_memory_nothing_is_counted),
    cmocka_unit_test (the_callers_allocator_gives_all_memory),
    cmocka_unit_test (an_allocator_without_memory_is_a_failure_in_words),
    cmocka_unit_test (the_allocator_is_not_changed_while_blocks_are_held),
    cmocka_unit_test (an_allocator_must_be_complete),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
