/* SPDX-License-Identifier: MIT */
/* Signal handlers that record: what they record while their thread is inside
 * the recorder is dropped and counted, and nothing else suffers.  Handlers
 * run at chosen places: where the recorder reads its clock, and where it asks
 * for memory with a lock held. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit.h"

#include "profiler/model/profile.h"
#include "profiler/record/recorder.h"

int __real_madvise (void *address, size_t nbytes, int advice);
int __wrap_madvise (void *address, size_t nbytes, int advice);
void *__real_aligned_alloc (size_t alignment, size_t nbytes);
void *__wrap_aligned_alloc (size_t alignment, size_t nbytes);

#define SITE(variable, kind) \
  static const struct radio_site variable = { \
    #variable, "test", "", "", 0, kind \
  }

SITE (outer, RADIO_SCOPE_WORK);
SITE (inner, RADIO_SCOPE_WORK);
SITE (handled, RADIO_SCOPE_WORK);
SITE (request, RADIO_SCOPE_WORK);
static const struct radio_counter rows = { "rows", "count" };

/* Events that the handler records. */
#define NEVENTS 7

/* Where the next signal comes, and how many came. */
static enum { NOWHERE, IN_CLOCK, IN_MADVISE, IN_ALLOC } place;
static unsigned nhandled;
static bool allocates = true;           /* so may the handler */
static uint64_t now;

static void
handle (int signum)
{
  (void) signum;
  nhandled++;
  uint64_t token = radio_scope_begin (&handled);
  radio_scope_add (&rows, 1);
  if (!allocates) {
    radio_scope_end (token);
    return;
  }
  radio_scope_text ("key", "value", RADIO_TEXT_PLAIN);
  radio_scope_instant (&handled);
  radio_gauge_set (&rows, 1);
  struct radio_handoff handoff;
  radio_handoff_give (&handoff);
  radio_handoff_release (&handoff);
  radio_async_end (radio_async_begin (&request));
  radio_scope_end (token);
}

static void
interrupt (int at)
{
  if ((int) place != at)
    return;
  place = NOWHERE;
  raise (SIGUSR1);
}

static uint64_t
read_now (void *user_data)
{
  (void) user_data;
  interrupt (IN_CLOCK);
  return now++;
}

int
__wrap_madvise (void *address, size_t nbytes, int advice)
{
  interrupt (IN_MADVISE);
  return __real_madvise (address, nbytes, advice);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t nbytes)
{
  interrupt (IN_ALLOC);
  return __real_aligned_alloc (alignment, nbytes);
}

static struct radio_recorder *
start (bool whole_process)
{
  struct radio_recorder_options options = { .whole_process = whole_process };
  struct rd_recorder_setup setup = {
    .clock = { .read = read_now }, .scope_cost_ns = 1e-3
  };
  struct radio_recorder *recorder;
  struct sigaction action = { .sa_handler = handle };
  sigaction (SIGUSR1, &action, NULL);
  nhandled = 0;
  assert_ok (rd_recorder_start (&options, &setup, &recorder));
  alarm (60);                           /* instead of waiting for ever */
  return recorder;
}

/* The profile, of which the handler's events are missing and counted. */
static struct radio_profile *
stop (struct radio_recorder *recorder, unsigned nsignals)
{
  char ndropped[16];
  struct radio_profile *profile;
  assert_int_equal (nhandled, nsignals);
  place = NOWHERE;
  assert_ok (radio_recorder_stop (recorder, &profile));
  alarm (0);
  snprintf (ndropped, sizeof ndropped, "%u", nsignals * NEVENTS);
  const char *fact = rd_profile_find_fact (
    profile, "events dropped in signal handlers");
  assert_non_null (fact);
  assert_string_equal (fact, ndropped);
  for (size_t i = 0; i < profile->nodes.n; i++)
    assert_string_not_equal (profile->nodes.at[i].name, "handled");
  return profile;
}

static const struct radio_profile_node *
find_node (const struct radio_profile *profile, const char *name)
{
  const struct radio_profile_node *node = NULL;
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (strcmp (profile->nodes.at[i].name, name) == 0) {
      assert_null (node);
      node = &profile->nodes.at[i];
    }
  assert_non_null (node);
  return node;
}

static void
a_handler_that_interrupts_a_change_is_dropped (void **state)
{
  (void) state;
  struct radio_recorder *recorder = start (false);
  place = IN_CLOCK;
  uint64_t token = radio_scope_begin (&outer);
  for (int i = 0; i < 3; i++) {
    place = i == 0 ? IN_CLOCK : NOWHERE;
    uint64_t child = radio_scope_begin (&inner);
    place = i == 1 ? IN_CLOCK : NOWHERE;
    radio_scope_add (&rows, 5);
    radio_scope_end (child);
  }
  place = IN_CLOCK;
  radio_gauge_set (&rows, 3);
  place = IN_CLOCK;
  radio_scope_end (token);
  struct radio_profile *profile = stop (recorder, 5);
  assert_int_equal (find_node (profile, "outer")->calls, 1);
  assert_int_equal (find_node (profile, "inner")->calls, 3);
  assert_int_equal (find_node (profile, "inner")->parent, 0);
  assert_int_equal (radio_profile_counter (profile, 0, "rows", true), 15);
  assert_int_equal (profile->samples.n, 1);
  assert_int_equal (profile->info.open_count, 0);
  radio_profile_close (profile);
}

/* Its first run, which allocates memory, is not in a signal. */
static void
a_handler_between_changes_is_recorded (void **state)
{
  (void) state;
  struct radio_profile *profile;
  struct radio_recorder *recorder = start (false);
  uint64_t token = radio_scope_begin (&outer);
  allocates = false;
  handle (SIGUSR1);
  raise (SIGUSR1);
  allocates = true;
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (recorder, &profile));
  alarm (0);
  assert_int_equal (nhandled, 2);
  assert_int_equal (radio_profile_counter (profile, 0, "rows", true), 2);
  assert_int_equal (find_node (profile, "handled")->calls, 2);
  assert_null (rd_profile_find_fact (profile,
                                     "events dropped in signal handlers"));
  radio_profile_close (profile);
}

/* The first 64 Ki slots of the log are there from the beginning; the mutex is
 * held where more are faulted in. */
static void
the_mutex_of_the_log_does_not_deadlock (void **state)
{
  (void) state;
  enum { N = 70000 };
  struct radio_recorder *recorder = start (false);
  place = IN_MADVISE;
  for (int i = 0; i < N; i++)
    radio_scope_end (radio_scope_begin (&outer));
  assert_int_equal (place, NOWHERE);
  struct radio_profile *profile = stop (recorder, 1);
  assert_int_equal (find_node (profile, "outer")->calls, N);
  radio_profile_close (profile);
}

/* The clock is read with the mutexes of the recorder and the parent. */
static void
the_mutex_of_requests_does_not_deadlock (void **state)
{
  (void) state;
  struct radio_recorder *recorder = start (false);
  uint64_t token = radio_scope_begin (&outer);
  place = IN_CLOCK;
  struct radio_async *async = radio_async_begin (&request);
  assert_non_null (async);
  place = IN_CLOCK;
  radio_async_phase (async, &inner);
  place = IN_CLOCK;
  radio_async_end (async);
  radio_scope_end (token);
  struct radio_profile *profile = stop (recorder, 3);
  assert_int_equal (find_node (profile, "request")->calls, 1);
  assert_int_equal (find_node (profile, "inner")->edge, RADIO_EDGE_PHASE);
  radio_profile_close (profile);
}

static void *
record_once (void *arg)
{
  (void) arg;
  place = IN_ALLOC;
  radio_scope_end (radio_scope_begin (&outer));
  return NULL;
}

/* The memory of a writer is allocated with the recorder's mutex. */
static void
the_mutex_of_the_recorder_does_not_deadlock (void **state)
{
  (void) state;
  pthread_t thread;
  struct radio_recorder *recorder = start (true);
  assert_int_equal (pthread_create (&thread, NULL, record_once, NULL), 0);
  pthread_join (thread, NULL);
  assert_int_equal (place, NOWHERE);
  struct radio_profile *profile = stop (recorder, 1);
  assert_int_equal (find_node (profile, "outer")->calls, 1);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_handler_that_interrupts_a_change_is_dropped),
    cmocka_unit_test (a_handler_between_changes_is_recorded),
    cmocka_unit_test (the_mutex_of_the_log_does_not_deadlock),
    cmocka_unit_test (the_mutex_of_requests_does_not_deadlock),
    cmocka_unit_test (the_mutex_of_the_recorder_does_not_deadlock),
  };
  return run_recording_tests (tests);
}
