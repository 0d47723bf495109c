/* SPDX-License-Identifier: MIT */
/* The growable run of bytes, also without memory. */
#include <config.h>

#include "tests/unit.h"

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "tests/alloc-fail.h"

static void
a_zero_filled_buffer_is_empty (void **state)
{
  (void) state;
  struct rd_buffer buffer = { 0 };
  assert_ok (rd_buffer_reserve (&buffer, 0));
  assert_ok (rd_buffer_append (&buffer, NULL, 0));
  assert_null (buffer.data);
  rd_buffer_free (&buffer);
}

static void
appended_bytes_are_in_order (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  for (unsigned int i = 0; i < 1000; i++) {
    unsigned char pair[] = { (unsigned char) i, (unsigned char) (i >> 8) };
    assert_ok (rd_buffer_append (&buffer, pair, 2));
  }
  assert_int_equal (buffer.nbytes, 2000);
  for (unsigned int i = 0; i < 1000; i++)
    assert_int_equal (buffer.data[2 * i] + 256 * buffer.data[2 * i + 1], i);
}

static void
growth_by_single_bytes_needs_few_allocations (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  alloc_fail_nth (0);
  for (int i = 0; i < 100000; i++)
    if (rd_buffer_append (&buffer, "x", 1) != RADIO_OK)
      break;
  assert_int_equal (buffer.nbytes, 100000);
  assert_true (alloc_fail_count () < 50);
}

static void
room_is_kept_and_never_shrinks (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_buffer_reserve (&buffer, 1000));
  const unsigned char *data = buffer.data;
  assert_ok (rd_buffer_reserve (&buffer, 10));
  assert_ptr_equal (buffer.data, data);
  assert_int_equal (buffer.capacity, 1000);
  assert_int_equal (buffer.nbytes, 0);
}

static void
reserving_keeps_the_bytes_in_use (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_buffer_append (&buffer, "kept", 4));
  assert_ok (rd_buffer_reserve (&buffer, 1 << 20));
  assert_int_equal (buffer.nbytes, 4);
  assert_memory_equal (buffer.data, "kept", 4);
}

static void
a_failed_allocation_leaves_the_buffer_as_it_was (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  assert_ok (rd_buffer_append (&buffer, "kept", 4));
  alloc_fail_nth (1);
  enum radio_status status = rd_buffer_reserve (&buffer, 1 << 20);
  assert_true (alloc_fail_end ());
  assert_fails (status, RADIO_ERROR_MEMORY, "1048576");
  assert_int_equal (buffer.nbytes, 4);
  assert_memory_equal (buffer.data, "kept", 4);
  assert_ok (rd_buffer_append (&buffer, "!", 1));
}

static void
an_append_that_finds_no_memory_appends_nothing (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  alloc_fail_nth (1);
  enum radio_status status = rd_buffer_append (&buffer, "abc", 3);
  assert_true (alloc_fail_end ());
  assert_fails (status, RADIO_ERROR_MEMORY, "out of memory");
  assert_int_equal (buffer.nbytes, 0);
}

static void
sizes_that_wrap_are_refused (void **state)
{
  (void) state;
  struct rd_buffer buffer = { 0 };
  assert_ok (rd_buffer_append (&buffer, "x", 1));
  assert_fails (rd_buffer_append (&buffer, "x", SIZE_MAX),
                RADIO_ERROR_MEMORY, "out of memory");
  assert_fails (rd_buffer_append (&buffer, "x", SIZE_MAX / 2),
                RADIO_ERROR_MEMORY, "out of memory");
  assert_int_equal (buffer.nbytes, 1);
  rd_buffer_free (&buffer);
}

static void
a_freed_buffer_is_usable_again (void **state)
{
  (void) state;
  struct rd_buffer buffer = { 0 };
  assert_ok (rd_buffer_append (&buffer, "x", 1));
  rd_buffer_free (&buffer);
  assert_null (buffer.data);
  assert_int_equal (buffer.nbytes, 0);
  assert_int_equal (buffer.capacity, 0);
  assert_ok (rd_buffer_append (&buffer, "y", 1));
  rd_buffer_free (&buffer);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_zero_filled_buffer_is_empty),
    cmocka_unit_test (appended_bytes_are_in_order),
    cmocka_unit_test (growth_by_single_bytes_needs_few_allocations),
    cmocka_unit_test (room_is_kept_and_never_shrinks),
    cmocka_unit_test (reserving_keeps_the_bytes_in_use),
    cmocka_unit_test (a_failed_allocation_leaves_the_buffer_as_it_was),
    cmocka_unit_test (an_append_that_finds_no_memory_appends_nothing),
    cmocka_unit_test (sizes_that_wrap_are_refused),
    cmocka_unit_test (a_freed_buffer_is_usable_again),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
