/* SPDX-License-Identifier: MIT */
/* A recorder of the whole process that cannot record the thread that starts
 * it, while another thread has attached already. */
#include <config.h>

#include <errno.h>
#include <pthread.h>

#include "tests/profiler/record/history.h"

#include "profiler/record/writer.h"

int __real_pthread_setspecific (pthread_key_t key, const void *value);
int __wrap_pthread_setspecific (pthread_key_t key, const void *value);

SITE (a, RADIO_SCOPE_WORK);

static bool fails;
static struct rd_thread other;
static uint64_t token;

/* Simulates the other thread. */
static void
swap_threads (void)
{
  struct rd_thread thread = rd_this_thread;
  rd_this_thread = other;
  other = thread;
}

int
__wrap_pthread_setspecific (pthread_key_t key, const void *value)
{
  if (!fails)
    return __real_pthread_setspecific (key, value);
  fails = false;
  swap_threads ();
  token = radio_scope_begin (&a);
  swap_threads ();
  return ENOMEM;
}

static void
attached_threads_are_detached_when_starting_fails (void **state)
{
  struct radio_recorder_options options = { .whole_process = true };
  struct radio_recorder *recorder;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));  /* measures the cost */
  assert_ok (radio_recorder_stop (recorder, NULL));
  fails = true;
  assert_int_equal (radio_recorder_start (&options, &recorder),
                    RADIO_ERROR_MEMORY);
  assert_false (radio_profile_is_on ());
  assert_int_not_equal (token, 0);
  swap_threads ();
  assert_non_null (rd_this_thread.mine);
  assert_int_equal (radio_scope_begin (&a), 0);
  radio_scope_end (token);
  assert_null (rd_this_thread.mine);
  assert_null (rd_this_thread.current);
  swap_threads ();
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (
      attached_threads_are_detached_when_starting_fails),
  };
  return run_recording_tests (tests);
}
