/* SPDX-License-Identifier: MIT */
/* Starting, stopping, facts, one recorder beside another, and fork. */
#include <config.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/io/child.h"
#include "tests/profiler/record/history.h"

#include "profiler/model/profile.h"
#include "profiler/record/process.h"
#include "profiler/record/recorder.h"
#include "profiler/record/writer.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);

static void
nothing_is_recorded_without_a_recorder (void **state)
{
  (void) state;
  assert_false (radio_profile_is_on ());
  assert_int_equal (radio_scope_begin (&a), 0);
  radio_scope_end (0);
  radio_scope_end (1);
  radio_scope_instant (&a);
}

static void
the_switch_is_on_while_anything_records (void **state)
{
  struct radio_recorder_options process = { .whole_process = true };
  struct radio_recorder *first, *second;
  (void) state;
  assert_ok (radio_recorder_start (&process, &first));
  assert_ok (radio_recorder_start (NULL, &second));
  assert_ok (radio_recorder_stop (first, NULL));
  assert_true (radio_profile_is_on ());
  assert_ok (radio_recorder_stop (second, NULL));
  assert_false (radio_profile_is_on ());
}

static void
a_second_recorder_of_a_kind_is_refused (void **state)
{
  struct radio_recorder_options process = { .whole_process = true };
  struct radio_recorder *first, *second;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &first));
  assert_fails (radio_recorder_start (NULL, &second), RADIO_ERROR_EXISTS,
                "this thread");
  assert_null (second);
  assert_ok (radio_recorder_stop (first, NULL));
  assert_ok (radio_recorder_start (&process, &first));
  assert_fails (radio_recorder_start (&process, &second),
                RADIO_ERROR_EXISTS, "whole process");
  assert_ok (radio_recorder_stop (first, NULL));
  assert_false (radio_profile_is_on ());
}

static void
a_threads_recorder_takes_precedence (void **state)
{
  struct radio_recorder_options process = { .whole_process = true };
  struct history all, own;
  (void) state;
  history_start (&all, &process);
  uint64_t outer = radio_scope_begin (&a);
  history_start (&own, NULL);
  history_leaf (&own, &b, 5);
  history_freeze (&own);
  history_release (&own);
  history_leaf (&all, &b, 7);
  radio_scope_end (outer);
  history_freeze (&all);
  assert_int_equal (history_node (&all, "a/b")->total, 7);
  assert_int_equal (history_node (&all, "a")->total, 7);
  history_release (&all);
}

static void
a_scope_ends_in_the_recorder_where_it_began (void **state)
{
  struct radio_recorder_options process = { .whole_process = true };
  struct history all, own;
  (void) state;
  history_start (&all, &process);
  uint64_t token = radio_scope_begin (&a);
  history_start (&own, NULL);
  uint64_t other = radio_scope_begin (&b);
  history_pass (&all, 3);
  radio_scope_end (token);
  history_pass (&own, 4);
  radio_scope_end (other);
  history_freeze (&own);
  assert_int_equal (history_node (&own, "b")->total, 4);
  history_release (&own);
  history_freeze (&all);
  assert_int_equal (history_node (&all, "a")->total, 3);
  assert_int_equal (history_node (&all, "a")->opens, 0);
  history_release (&all);
}

static void
equal_facts_replace_each_other (void **state)
{
  struct radio_recorder *recorder;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  assert_ok (radio_recorder_fact (recorder, "axis", "x", RADIO_TEXT_PLAIN));
  assert_ok (radio_recorder_fact (recorder, "volume", "v",
                                  RADIO_TEXT_NAME));
  assert_ok (radio_recorder_fact (recorder, "axis", "y", RADIO_TEXT_PLAIN));
  assert_int_equal (recorder->synced.facts.n, 2);
  assert_string_equal (recorder->synced.facts.at[0].value, "y");
  assert_int_equal (recorder->synced.facts.at[1].kind, RADIO_TEXT_NAME);
  assert_ok (radio_recorder_stop (recorder, NULL));
}

static void
the_cost_of_a_scope_is_measured (void **state)
{
  struct radio_recorder_options portable = { .portable_clock = true };
  struct radio_recorder *recorder;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  assert_true (recorder->scope_cost_ns > 0.5);
  assert_true (recorder->throttle_below > 0);
  double cost = recorder->scope_cost_ns;
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_ok (radio_recorder_start (NULL, &recorder));
  assert_true (recorder->scope_cost_ns == cost);
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_ok (radio_recorder_start (&portable, &recorder));
  assert_false (recorder->clock.tsc);
  assert_true (recorder->scope_cost_ns > 0.5);
  assert_ok (radio_recorder_stop (recorder, NULL));
}

static uint64_t
system_ns (void)
{
  struct timespec t;
  assert_int_equal (clock_gettime (CLOCK_MONOTONIC, &t), 0);
  return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static void
the_portable_clock_measures_the_same_time (void **state)
{
  (void) state;
  for (int portable = 0; portable < 2; portable++) {
    struct radio_recorder_options options = { .portable_clock = portable };
    struct radio_recorder *recorder;
    assert_ok (radio_recorder_start (&options, &recorder));
    uint64_t before = system_ns ();
    uint64_t token = radio_scope_begin (&a);
    usleep (2000);
    radio_scope_end (token);
    uint64_t most = system_ns () - before;
    rd_recorder_freeze (recorder);
    struct history h = { .recorder = recorder };
    uint64_t ns = rd_rate_ns (&recorder->rate,
                              history_node (&h, "a")->total);
    assert_int_equal (recorder->clock.tsc, !portable && rd_clock_has_tsc ());
    /* Rates of short recordings are accurate to a few percent. */
    assert_in_range (ns, 1900000, most + most / 10);
    rd_recorder_release (recorder);
  }
}

static void
a_thread_keeps_its_writer_from_push_to_push (void **state)
{
  struct radio_recorder_options process = { .whole_process = true };
  struct history h;
  (void) state;
  history_start (&h, &process);
  struct rd_writer_state *all = rd_this_thread.current;
  struct radio_recorder *alone = rd_recorder_alone (&h.recorder->clock, 100);
  for (int i = 0; i < 3; i++) {
    struct rd_writer_state *writer = rd_writer_push (alone);
    assert_ptr_equal (rd_writer_current (), writer);
    history_leaf (&h, &a, 3);
    rd_writer_pop (writer);
    assert_ptr_equal (rd_writer_current (), all);
  }
  assert_int_equal (alone->synced.writers.n, 1);
  assert_int_equal (alone->synced.writers.at[0]->sessions.n, 1);
  rd_writer_stop (alone->synced.writers.at[0]);
  history_freeze (&h);
  history_release (&h);
  rd_thread_purge ();
  assert_null (rd_this_thread.mine);
  rd_recorder_unref (alone);
}

/*------------------------------------------------------------------------
 * fork
 *----------------------------------------------------------------------*/

static int
run_in_a_child (void *arg)
{
  struct radio_recorder *recorder = arg, *own;
  struct radio_profile *profile;
  CHILD_CHECK (!radio_profile_is_on ());
  CHILD_CHECK (radio_scope_begin (&b) == 0);
  radio_scope_end (1);
  CHILD_CHECK (radio_recorder_fact (recorder, "a", "b", RADIO_TEXT_PLAIN)
               == RADIO_ERROR_FORKED);
  CHILD_CHECK (radio_recorder_stop (recorder, &profile)
               == RADIO_ERROR_FORKED);
  CHILD_CHECK (profile == NULL);
  CHILD_CHECK (radio_recorder_start (NULL, &own) == RADIO_OK);
  uint64_t token = radio_scope_begin (&b);
  CHILD_CHECK (token != 0);
  radio_scope_end (token);
  CHILD_CHECK (radio_recorder_stop (own, NULL) == RADIO_OK);
  CHILD_CHECK (!radio_profile_is_on ());
  return 0;
}

static void
a_child_of_fork_does_not_record_for_its_parent (void **state)
{
  struct radio_recorder_options process = { .whole_process = true };
  struct radio_recorder *recorder;
  (void) state;
  assert_ok (radio_recorder_start (&process, &recorder));
  uint64_t token = radio_scope_begin (&a);
  assert_int_equal (child_run (run_in_a_child, recorder), 0);
  radio_scope_end (token);
  rd_recorder_freeze (recorder);
  struct history h = { .recorder = recorder };
  assert_int_equal (history_node (&h, "a")->opens, 0);
  assert_null (history_find (&h, 0, "a/b"));
  rd_recorder_release (recorder);
}

/* The child stops the recorder while its lock is held, as by another thread of
 * the parent. */
static void
a_lock_held_at_fork_does_not_hang_the_child (void **state)
{
  struct radio_recorder *recorder;
  (void) state;
  assert_ok (radio_recorder_start (NULL, &recorder));
  pthread_mutex_lock (&recorder->mutex);
  int status = child_run (run_in_a_child, recorder);
  pthread_mutex_unlock (&recorder->mutex);
  assert_int_equal (status, 0);
  assert_ok (radio_recorder_stop (recorder, NULL));
}

static void
NULL_is_an_error_or_ignored (void **state)
{
  struct radio_recorder *recorder;
  struct radio_profile *profile = NULL;
  (void) state;
  assert_ok (radio_recorder_stop (NULL, NULL));
  assert_fails (radio_recorder_stop (NULL, &profile), RADIO_ERROR_ARGUMENT,
                "radio_recorder_stop: recorder is NULL");
  assert_fails (radio_recorder_fact (NULL, "a", "b", RADIO_TEXT_PLAIN),
                RADIO_ERROR_ARGUMENT, "recorder is NULL");
  assert_fails (radio_profile_env_fact (NULL, "b", RADIO_TEXT_PLAIN),
                RADIO_ERROR_ARGUMENT, "key is NULL");
  assert_fails (radio_profile_env_fact ("a", NULL, RADIO_TEXT_PLAIN),
                RADIO_ERROR_ARGUMENT, "value is NULL");
  assert_ok (radio_recorder_start (NULL, &recorder));
  assert_fails (radio_recorder_fact (recorder, NULL, "b", RADIO_TEXT_PLAIN),
                RADIO_ERROR_ARGUMENT, "key is NULL");
  assert_fails (radio_recorder_fact (recorder, "a", NULL, RADIO_TEXT_PLAIN),
                RADIO_ERROR_ARGUMENT, "value is NULL");
  uint64_t token = radio_scope_begin (&a);
  radio_scope_add (NULL, 1);
  radio_scope_text (NULL, "b", RADIO_TEXT_PLAIN);
  radio_scope_text ("a", NULL, RADIO_TEXT_PLAIN);
  radio_thread_name ("named");
  radio_thread_name (NULL);
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (recorder, &profile));
  radio_profile_close (profile);
}

static void
stopping_twice_aborts_with_a_line (void **state)
{
  struct radio_recorder *recorder;
  int status = 0, fds[2];
  char line[128] = "";
  (void) state;
  assert_int_equal (pipe (fds), 0);
  pid_t pid = fork ();
  assert_true (pid >= 0);
  if (pid == 0) {
    /* A test program that aborts is not to leave a core. */
    const struct rlimit none = { 0, 0 };
    if (setrlimit (RLIMIT_CORE, &none) != 0 || dup2 (fds[1], 2) < 0
        || signal (SIGABRT, SIG_DFL) == SIG_ERR
        || radio_recorder_start (NULL, &recorder) != RADIO_OK
        || radio_recorder_stop (recorder, NULL) != RADIO_OK)
      _exit (1);
    alarm (60);
    _exit (radio_recorder_stop (recorder, NULL) == RADIO_OK ? 2 : 3);
  }
  close (fds[1]);
  assert_true (read (fds[0], line, sizeof line - 1) > 0);
  close (fds[0]);
  assert_int_equal (waitpid (pid, &status, 0), pid);
  assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGABRT);
  assert_string_equal (line, "radio_recorder_stop: the recorder was stopped "
                             "before\n");
}

/* Reads the time in us in which a process waited for a disk; false where the
 * system does not count it. */
static bool
read_disk_pressure (uint64_t *us)
{
  char line[256] = "";
  FILE *file = fopen ("/proc/pressure/io", "r");
  bool ok = file && fgets (line, sizeof line, file);
  if (file)
    fclose (file);
  const char *at = ok ? strstr (line, " total=") : NULL;
  *us = at ? strtoull (at + strlen (" total="), NULL, 10) : 0;
  return at;
}

/* It grows meanwhile, so it is between readings inside and outside. */
static void
the_pressure_on_disks_is_that_of_the_system (void **state)
{
  (void) state;
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  uint64_t us[4];
  if (!read_disk_pressure (&us[0]))
    skip ();
  assert_ok (radio_recorder_start (NULL, &recorder));
  (void) read_disk_pressure (&us[1]);
  pid_t child = fork ();
  if (child == 0) {
    int fd = open (".", O_TMPFILE | O_RDWR, 0600);
    for (int i = 0; i < 4 && fd >= 0; i++)
      if (write (fd, us, sizeof us) > 0)
        fsync (fd);
    _exit (0);
  }
  assert_true (child > 0 && waitpid (child, NULL, 0) == child);
  (void) read_disk_pressure (&us[2]);
  assert_ok (radio_recorder_stop (recorder, &profile));
  (void) read_disk_pressure (&us[3]);
  const char *ns = rd_profile_find_fact (profile, RD_FACT_DISK_PRESSURE);
  assert_non_null (ns);
  uint64_t found_us = strtoull (ns, NULL, 10) / 1000;
  assert_true (found_us >= us[2] - us[1] && found_us <= us[3] - us[0]);
  radio_profile_close (profile);
}

static uint64_t
clock_ns (clockid_t clock)
{
  struct timespec t;
  assert_int_equal (clock_gettime (clock, &t), 0);
  return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

/* Also outside of scopes: what the machine did is of all of it. */
static void
the_recorded_time_is_from_start_to_stop (void **state)
{
  (void) state;
  static const clockid_t clocks[] = {
    CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID
  };
  static const char *const keys[] = {
    RD_FACT_RECORDED_NS, RD_FACT_RECORDED_CPU_NS
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  uint64_t ns[2][4];
  for (int k = 0; k < 2; k++)
    ns[k][0] = clock_ns (clocks[k]);
  assert_ok (radio_recorder_start (NULL, &recorder));
  for (int k = 0; k < 2; k++)
    ns[k][1] = clock_ns (clocks[k]);
  RADIO_SCOPE ("short")
    ;
  while (clock_ns (CLOCK_PROCESS_CPUTIME_ID) < ns[1][1] + 20000000)
    ;
  for (int k = 0; k < 2; k++)
    ns[k][2] = clock_ns (clocks[k]);
  assert_ok (radio_recorder_stop (recorder, &profile));
  for (int k = 0; k < 2; k++)
    ns[k][3] = clock_ns (clocks[k]);
  for (int k = 0; k < 2; k++) {
    const char *value = rd_profile_find_fact (profile, keys[k]);
    assert_non_null (value);
    uint64_t found_ns = strtoull (value, NULL, 10);
    /* Clocks differ by a little. */
    assert_in_range (found_ns, (ns[k][2] - ns[k][1]) / 100 * 99,
                     (ns[k][3] - ns[k][0]) / 100 * 101 + 1000000);
  }
  const char *calm = rd_profile_find_fact (profile, RD_FACT_NO_DISK_NS);
  assert_true (!rd_profile_find_fact (profile, RD_FACT_DISK_PRESSURE) || calm);
  if (calm)
    assert_string_equal (calm, rd_profile_find_fact (profile,
                                                     RD_FACT_RECORDED_NS));
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nothing_is_recorded_without_a_recorder),
    cmocka_unit_test (the_switch_is_on_while_anything_records),
    cmocka_unit_test (a_second_recorder_of_a_kind_is_refused),
    cmocka_unit_test (a_threads_recorder_takes_precedence),
    cmocka_unit_test (a_scope_ends_in_the_recorder_where_it_began),
    cmocka_unit_test (equal_facts_replace_each_other),
    cmocka_unit_test (the_cost_of_a_scope_is_measured),
    cmocka_unit_test (the_portable_clock_measures_the_same_time),
    cmocka_unit_test (a_thread_keeps_its_writer_from_push_to_push),
    cmocka_unit_test (a_child_of_fork_does_not_record_for_its_parent),
    cmocka_unit_test (a_lock_held_at_fork_does_not_hang_the_child),
    cmocka_unit_test (the_recorded_time_is_from_start_to_stop),
    cmocka_unit_test (the_pressure_on_disks_is_that_of_the_system),
    cmocka_unit_test (NULL_is_an_error_or_ignored),
    cmocka_unit_test (stopping_twice_aborts_with_a_line),
  };
  return run_recording_tests (tests);
}
