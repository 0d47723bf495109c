/* SPDX-License-Identifier: MIT */
/* Each allocation of an exporter may fail: writing fails, and nothing
 * leaks. */
#include <config.h>

#include "profiler/export/export.h"
#include "tests/alloc-fail.h"
#include "tests/profiler/build.h"

static enum radio_status
swallow (const void *data, size_t nbytes, void *user_data)
{
  (void) data;
  *(size_t *) user_data += nbytes;
  return RADIO_OK;
}

static void
fail_each_allocation (enum radio_profile_format format)
{
  struct radio_profile *profile = build_specimen ();
  struct radio_profile_write_options options = { .format = format };
  for (size_t nth = 1;; nth++) {
    size_t nbytes = 0;
    alloc_fail_nth (nth);
    enum radio_status status =
      radio_profile_write_to (profile, &options, swallow, &nbytes);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_true (nbytes > 100);
      assert_true (nth > 3);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  radio_profile_close (profile);
}

static void
chrome_traces_fail_cleanly (void **state)
{
  (void) state;
  fail_each_allocation (RADIO_PROFILE_CHROME);
}

static void
speedscope_fails_cleanly (void **state)
{
  (void) state;
  fail_each_allocation (RADIO_PROFILE_SPEEDSCOPE);
}

static void
pprof_fails_cleanly (void **state)
{
  (void) state;
  fail_each_allocation (RADIO_PROFILE_PPROF);
}

/* A sink that accepts a limited number of bytes. */
static enum radio_status
take_some (const void *data, size_t nbytes, void *user_data)
{
  (void) data;
  size_t *room = user_data;
  if (nbytes > *room)
    return rd_fail (RADIO_ERROR_NO_SPACE, "the disk is full");
  *room -= nbytes;
  return RADIO_OK;
}

static void
a_full_disk_is_reported_at_any_write (void **state)
{
  (void) state;
  static const enum radio_profile_format formats[] = {
    RADIO_PROFILE_CHROME, RADIO_PROFILE_SPEEDSCOPE, RADIO_PROFILE_PPROF
  };
  struct radio_profile *profile = build_random (1, 2000, 3);
  for (size_t i = 0; i < 3; i++)
    for (size_t room = 0; room < 3 * sizeof (struct rd_writer);
         room += sizeof (struct rd_writer)) {
      size_t left = i == 2 ? 0 : room;
      struct radio_profile_write_options options = { .format = formats[i] };
      assert_fails (radio_profile_write_to (profile, &options, take_some,
                                            &left),
                    RADIO_ERROR_NO_SPACE, "the disk is full");
    }
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (chrome_traces_fail_cleanly),
    cmocka_unit_test (speedscope_fails_cleanly),
    cmocka_unit_test (pprof_fails_cleanly),
    cmocka_unit_test (a_full_disk_is_reported_at_any_write),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
