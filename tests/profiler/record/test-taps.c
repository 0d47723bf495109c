/* SPDX-License-Identifier: MIT */
/* The taps for VTune and Nsight, compiled with stub headers: the calls that
 * these tools receive, and that nothing a tool does during a call harms the
 * recorder. */
#include <config.h>

#include <pthread.h>
#include <unistd.h>

#include "tests/profiler/record/history.h"

#include "profiler/counters.h"
#include "profiler/record/recorder.h"

#include <ittnotify.h>
#include <nvtx3/nvToolsExt.h>

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (c, RADIO_SCOPE_WORK);
SITE (tapped, RADIO_SCOPE_WORK);
SITE (blocks, RADIO_SCOPE_BLOCKING);

static const struct radio_counter rows = { "rows", "count" };

/*------------------------------------------------------------------------
 * The tools: each call becomes a word
 *----------------------------------------------------------------------*/

static struct {
  char words[4096];
  size_t n;
  unsigned nhandles, ndomains;
  void (*hook) (const char *name);      /* called with the name at a begin,
                                           and with NULL at an end */
} tools;

static void
clear_calls (void)
{
  memset (&tools, 0, sizeof tools);
}

static void
add_call (const char *what, const char *name)
{
  size_t room = sizeof tools.words - tools.n;
  int n = snprintf (tools.words + tools.n, room, "%s%s%s%s",
                    tools.n ? " " : "", what, *name ? ":" : "", name);
  assert_in_range (n, 1, room - 1);
  tools.n += (size_t) n;
}

static void
call_hook (const char *name)
{
  if (tools.hook)
    tools.hook (name);
}

__itt_domain *
__itt_domain_create (const char *name)
{
  static __itt_domain domain = { .flags = 1 };
  assert_string_equal (name, "radio");
  tools.ndomains++;
  return &domain;
}

/* Handles are never freed, as the real ones. */
__itt_string_handle *
__itt_string_handle_create (const char *name)
{
  static __itt_string_handle handles[64];
  static char names[64][32];
  static size_t n;
  tools.nhandles++;
  for (size_t i = 0; i < n; i++)
    if (strcmp (names[i], name) == 0)
      return &handles[i];
  assert_true (n < 64);
  snprintf (names[n], sizeof names[n], "%s", name);
  handles[n].strA = names[n];
  return &handles[n++];
}

void
__itt_task_begin (const __itt_domain *domain, __itt_id taskid,
                  __itt_id parentid, __itt_string_handle *name)
{
  assert_int_equal (domain->flags, 1);
  assert_int_equal (taskid.d1 | parentid.d1, 0);
  add_call ("task", name->strA);
}

void
__itt_task_end (const __itt_domain *domain)
{
  assert_int_equal (domain->flags, 1);
  add_call ("done", "");
}

int
nvtxRangePushA (const char *message)
{
  add_call ("push", message);
  call_hook (message);
  return 0;
}

int
nvtxRangePop (void)
{
  add_call ("pop", "");
  call_hook (NULL);
  return 0;
}

void
nvtxMarkA (const char *message)
{
  add_call ("mark", message);
  call_hook (message);
}

static const struct radio_recorder_options with_taps = { .taps = true };

static void
start (struct history *h)
{
  clear_calls ();
  history_start (h, &with_taps);
}

/*------------------------------------------------------------------------
 * Calls
 *----------------------------------------------------------------------*/

static void
taps_are_nested_as_scopes_are (void **state)
{
  struct history h;
  (void) state;
  start (&h);
  uint64_t outer = radio_scope_begin (&a);
  history_leaf (&h, &b, 1);
  radio_scope_instant (&c);
  history_leaf (&h, &blocks, 1);
  radio_scope_end (outer);
  assert_string_equal (tools.words, "task:a push:a task:b push:b pop done "
                       "mark:c task:blocks push:blocks pop done pop done");
  history_freeze (&h);
  history_release (&h);
}

static void
without_the_option_taps_are_not_called (void **state)
{
  struct history h;
  (void) state;
  clear_calls ();
  history_start (&h, NULL);
  history_leaf (&h, &a, 1);
  radio_scope_instant (&c);
  history_freeze (&h);
  assert_string_equal (tools.words, "");
  history_release (&h);
}

static void
taps_are_called_for_scopes_that_end_with_amounts (void **state)
{
  static const struct rd_counter_set set = { .counters = { &rows } };
  struct history h;
  (void) state;
  start (&h);
  struct rd_counting counting = rd_count_in (&a, &set);
  counting.amounts[RD_AMOUNT_MAIN] = 7;
  rd_counting_end (&counting);
  assert_string_equal (tools.words, "task:a push:a pop done");
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a")->tallies[0].value, 7);
  history_release (&h);
}

static void
scopes_left_open_end_with_the_outer_one (void **state)
{
  struct history h;
  (void) state;
  start (&h);
  uint64_t outer = radio_scope_begin (&a);
  radio_scope_begin (&b);
  radio_scope_begin (&c);
  tools.n = 0;
  radio_scope_end (outer);
  assert_string_equal (tools.words, "pop done pop done pop done");
  history_freeze (&h);
  history_release (&h);
}

static void
open_scopes_call_taps_at_the_stop (void **state)
{
  struct history h;
  (void) state;
  start (&h);
  radio_scope_begin (&a);
  radio_scope_begin (&b);
  tools.n = 0;
  history_freeze (&h);
  assert_string_equal (tools.words, "pop done pop done");
  history_release (&h);
}

static void *
receive_and_leave_open (void *arg)
{
  radio_scope_receive (arg, &b);
  radio_scope_begin (&c);
  return NULL;
}

static void
received_scopes_end_with_their_thread (void **state)
{
  struct radio_handoff handoff;
  struct history h;
  pthread_t thread;
  (void) state;
  start (&h);
  uint64_t outer = radio_scope_begin (&a);
  radio_handoff_give (&handoff);
  assert_int_equal (pthread_create (&thread, NULL, receive_and_leave_open,
                                    &handoff), 0);
  pthread_join (thread, NULL);
  radio_handoff_release (&handoff);
  radio_scope_end (outer);
  assert_string_equal (tools.words, "task:a push:a task:b push:b task:c "
                       "push:c pop done pop done pop done");
  history_freeze (&h);
  history_release (&h);
}

/* Uses sites that no other test has. */
static void
a_handle_is_made_once_for_each_site (void **state)
{
  SITE (first, RADIO_SCOPE_WORK);
  SITE (second, RADIO_SCOPE_WORK);
  struct history h;
  (void) state;
  for (int round = 0; round < 3; round++) {
    start (&h);
    for (int i = 0; i < 20; i++) {
      uint64_t outer = radio_scope_begin (&first);
      history_leaf (&h, &second, 1);
      radio_scope_end (outer);
    }
    assert_int_equal (tools.nhandles, round == 0 ? 2 : 0);
    assert_int_equal (tools.ndomains, 0);       /* it was made before */
    history_freeze (&h);
    history_release (&h);
  }
}

/* As in a plug-in that is loaded at the address of an earlier one. */
static void
another_name_at_a_sites_address_has_a_handle_of_its_own (void **state)
{
  struct radio_site site = { .name = "before", .category = "test" };
  struct history h;
  (void) state;
  for (int i = 0; i < 4; i++) {
    site.name = i % 2 ? "after" : "before";
    start (&h);
    history_leaf (&h, &site, 1);
    assert_string_equal (tools.words, i % 2
                         ? "task:after push:after pop done"
                         : "task:before push:before pop done");
    history_freeze (&h);
    history_release (&h);
  }
}

static void
sites_beyond_the_cache_of_handles_call_taps (void **state)
{
  enum { N = 1000 };
  static struct radio_site sites[N];
  static char names[7][8];
  struct history h;
  (void) state;
  start (&h);
  for (int i = 0; i < N; i++) {
    snprintf (names[i % 7], sizeof names[0], "s%d", i % 7);
    sites[i] = (struct radio_site) { .name = names[i % 7],
                                     .category = "test" };
    tools.n = 0;
    history_leaf (&h, &sites[i], 1);
    char wanted[64];
    snprintf (wanted, sizeof wanted, "task:s%d push:s%d pop done", i % 7,
              i % 7);
    assert_string_equal (tools.words, wanted);
  }
  history_freeze (&h);
  history_release (&h);
}

/*------------------------------------------------------------------------
 * Taps that call the recorder
 *----------------------------------------------------------------------*/

static void
record_something (const char *name)
{
  (void) name;
  uint64_t token = radio_scope_begin (&tapped);
  radio_scope_add (&rows, 1);
  radio_scope_text ("key", "value", RADIO_TEXT_PLAIN);
  radio_scope_instant (&c);
  radio_scope_end (token);
}

static void
a_tap_may_record (void **state)
{
  struct history h;
  (void) state;
  start (&h);
  tools.hook = record_something;
  uint64_t outer = radio_scope_begin (&a);
  history_leaf (&h, &b, 10);
  radio_scope_instant (&c);
  radio_scope_end (outer);
  tools.hook = NULL;
  assert_string_equal (tools.words, "task:a push:a task:b push:b pop done "
                       "mark:c pop done");
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a")->calls, 1);
  assert_times (history_node (&h, "a/b"), 10, 10, 10, 0);
  assert_int_equal (history_node (&h, "a/b/tapped")->calls, 1);
  /* At a's begin, b's end, and the instant. */
  assert_int_equal (history_node (&h, "a/tapped")->calls, 3);
  assert_int_equal (history_node (&h, "a/tapped")->tallies[0].value, 3);
  assert_int_equal (history_node (&h, "a/tapped/c")->calls, 3);
  assert_int_equal (history_node (&h, "tapped")->calls, 1);
  assert_int_equal (history_node (&h, "a")->opens, 0);
  history_release (&h);
}

static void
leave_something_open (const char *name)
{
  if (name)
    radio_scope_begin (&tapped);
}

static void
a_scope_that_a_tap_leaves_open_calls_no_tap (void **state)
{
  struct history h;
  (void) state;
  start (&h);
  tools.hook = leave_something_open;
  uint64_t outer = radio_scope_begin (&a);
  history_leaf (&h, &b, 10);
  radio_scope_end (outer);
  tools.hook = NULL;
  assert_string_equal (tools.words, "task:a push:a task:b push:b pop done "
                       "pop done");
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a/tapped")->opens, 1);
  assert_int_equal (history_node (&h, "a/tapped/b")->calls, 1);
  history_release (&h);
}

/* Stopping frees writer, tree and log. */
static struct radio_recorder *to_stop;

static void
stop_it (const char *name)
{
  struct radio_recorder *recorder = to_stop;
  (void) name;
  to_stop = NULL;
  if (recorder)
    assert_ok (radio_recorder_stop (recorder, NULL));
}

static void
begin_and_stop_in (int what)
{
  struct history h;
  start (&h);
  uint64_t outer = radio_scope_begin (&a);
  radio_scope_begin (&b);
  to_stop = h.recorder;
  tools.hook = stop_it;
  if (what == 0)
    radio_scope_begin (&c);
  else if (what == 1)
    radio_scope_instant (&c);
  radio_scope_end (outer);
  assert_null (to_stop);
  tools.hook = NULL;
  assert_false (radio_profile_is_on ());
  assert_int_equal (radio_scope_begin (&a), 0);
}

static void
a_tap_may_stop_the_recorder (void **state)
{
  (void) state;
  for (int what = 0; what < 3; what++)
    begin_and_stop_in (what);
}

static void
stop_it_at_an_end (const char *name)
{
  if (name == NULL)
    stop_it (name);
}

static void
a_tap_may_stop_the_recorder_as_a_thread_ends (void **state)
{
  struct radio_handoff handoff;
  struct history h;
  pthread_t thread;
  (void) state;
  start (&h);
  uint64_t outer = radio_scope_begin (&a);
  radio_handoff_give (&handoff);
  to_stop = h.recorder;
  tools.hook = stop_it_at_an_end;
  assert_int_equal (pthread_create (&thread, NULL, receive_and_leave_open,
                                    &handoff), 0);
  pthread_join (thread, NULL);
  tools.hook = NULL;
  assert_null (to_stop);
  assert_false (radio_profile_is_on ());
  radio_scope_end (outer);
  radio_handoff_release (&handoff);
}

/* A thread of a process's recorder ends, and a tap records. */
static void *
leave_a_scope_open (void *arg)
{
  (void) arg;
  radio_scope_begin (&a);
  return NULL;
}

static uint64_t
count_calls (struct history *h, const char *path)
{
  uint64_t n = 0;
  for (size_t i = 0; i < h->recorder->synced.writers.n; i++) {
    const struct rd_node *node = history_find (h, i, path);
    n += node ? node->calls : 0;
  }
  return n;
}

static void
a_tap_may_record_as_a_thread_ends (void **state)
{
  const struct radio_recorder_options options = { .taps = true,
                                                  .whole_process = true };
  struct history h;
  pthread_t thread;
  (void) state;
  clear_calls ();
  history_start (&h, &options);
  for (int i = 0; i < 3; i++) {
    tools.hook = record_something;
    assert_int_equal (pthread_create (&thread, NULL, leave_a_scope_open,
                                      NULL), 0);
    pthread_join (thread, NULL);
  }
  tools.hook = NULL;
  history_freeze (&h);
  assert_int_equal (count_calls (&h, "a"), 3);
  assert_int_equal (count_calls (&h, "a/tapped"), 3);
  assert_int_equal (count_calls (&h, "tapped"), 3);
  history_release (&h);
}

/* A tap waits for the stop: the stop must not wait for the tap. */
static pthread_barrier_t meeting;

static void
wait_for_the_stop (const char *name)
{
  if (name == NULL)
    return;
  pthread_barrier_wait (&meeting);
  pthread_barrier_wait (&meeting);
}

static void *
run_with_tap (void *arg)
{
  uint64_t token = radio_scope_receive (arg, &b);
  radio_scope_end (token);
  return NULL;
}

static void
the_stop_does_not_wait_for_a_slow_tap (void **state)
{
  struct radio_handoff handoff;
  struct history h;
  pthread_t thread;
  (void) state;
  start (&h);
  uint64_t outer = radio_scope_begin (&a);
  radio_handoff_give (&handoff);
  pthread_barrier_init (&meeting, NULL, 2);
  tools.hook = wait_for_the_stop;
  assert_int_equal (pthread_create (&thread, NULL, run_with_tap, &handoff), 0);
  pthread_barrier_wait (&meeting);
  alarm (20);                   /* else this would hang */
  radio_scope_end (outer);
  history_freeze (&h);
  alarm (0);
  pthread_barrier_wait (&meeting);
  pthread_join (thread, NULL);
  tools.hook = NULL;
  pthread_barrier_destroy (&meeting);
  assert_int_equal (history_find (&h, 1, "")->nskipped, 0);
  radio_handoff_release (&handoff);
  history_release (&h);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (taps_are_nested_as_scopes_are),
    cmocka_unit_test (without_the_option_taps_are_not_called),
    cmocka_unit_test (taps_are_called_for_scopes_that_end_with_amounts),
    cmocka_unit_test (scopes_left_open_end_with_the_outer_one),
    cmocka_unit_test (open_scopes_call_taps_at_the_stop),
    cmocka_unit_test (received_scopes_end_with_their_thread),
    cmocka_unit_test (a_handle_is_made_once_for_each_site),
    cmocka_unit_test (
      another_name_at_a_sites_address_has_a_handle_of_its_own),
    cmocka_unit_test (sites_beyond_the_cache_of_handles_call_taps),
    cmocka_unit_test (a_tap_may_record),
    cmocka_unit_test (a_scope_that_a_tap_leaves_open_calls_no_tap),
    cmocka_unit_test (a_tap_may_stop_the_recorder),
    cmocka_unit_test (a_tap_may_stop_the_recorder_as_a_thread_ends),
    cmocka_unit_test (a_tap_may_record_as_a_thread_ends),
    cmocka_unit_test (the_stop_does_not_wait_for_a_slow_tap),
  };
  return run_recording_tests (tests);
}
