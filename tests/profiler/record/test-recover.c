/* SPDX-License-Identifier: MIT */
/* Processes that die while they record with a ring in a file: at random
 * moments, in five ways; and that run on, or hang. */
#include <config.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/model/profile.h"
#include "profiler/record/image.h"
#include "profiler/record/record.h"
#include "tests/profiler/record/dying.h"
#include "tests/profiler/record/history.h"

SITE (outer, RADIO_SCOPE_WORK);
SITE (blocks, RADIO_SCOPE_BLOCKING);
SITE (received, RADIO_SCOPE_WORK);

static void
recover_and_check (void)
{
  struct radio_profile *profile;
  assert_ok (radio_profile_recover (dying_path, &profile));
  dying_check (profile);
  radio_profile_close (profile);
  assert_int_equal (unlink (dying_path), 0);
}

/* RADIO_TEST_DEATHS: how often in each way. */
static void
a_process_that_dies_leaves_what_it_recorded (void **state)
{
  const char *number = getenv ("RADIO_TEST_DEATHS");
  int n = number ? atoi (number) : 6;
  uint32_t random = (uint32_t) time (NULL);
  (void) state;
  print_message ("seed %u\n", random);
  for (int way = 0; way < DYING_NDEATHS; way++)
    for (int i = 0; i < n; i++) {
      random = random * 1664525 + 1013904223;
      dying_die ((enum dying_death) way, (random >> 8) % (i % 2 ? 30000 : 300));
      recover_and_check ();
    }
}

/*------------------------------------------------------------------------
 * Files of processes that run
 *----------------------------------------------------------------------*/

static _Atomic bool is_over;

static void *
record_on (void *arg)
{
  for (uint64_t i = 0; !atomic_load (&is_over); i++)
    dying_work ((size_t) (uintptr_t) arg, i);
  return NULL;
}

/* Two threads at work, which are as far as they say, or one run farther. */
static struct radio_recorder *
start_two (pthread_t threads[2], const struct radio_recorder_options *options)
{
  struct radio_recorder *recorder;
  memset (dying_progress, 0, sizeof *dying_progress);
  atomic_store (&is_over, false);
  assert_ok (radio_recorder_start (options, &recorder));
  for (size_t i = 0; i < 2; i++)
    pthread_create (&threads[i], NULL, record_on, (void *) (uintptr_t) i);
  return recorder;
}

static void
end_two (const pthread_t threads[2])
{
  atomic_store (&is_over, true);
  for (size_t i = 0; i < 2; i++)
    pthread_join (threads[i], NULL);
}

/* Returns the number of runs that are certain to have ended. */
static uint64_t
count_sure (void)
{
  uint64_t sure = 0;
  for (size_t t = 0; t < 2; t++)
    sure += atomic_load (&dying_progress->ended[t][DYING_PLAIN]);
  return sure;
}

/* Returns the runs in it. */
static uint64_t
check_moment (const struct radio_profile *profile, uint64_t sure)
{
  uint64_t n = dying_sum_of (profile, "plain").calls;
  assert_null (rd_profile_find_fact (profile, RD_FACT_DAMAGE));
  assert_true (n >= sure);
  assert_in_range (dying_sum_of (profile, "step").calls * 5 + 10, n, n + 20);
  return n;
}

static void
a_file_of_a_process_that_runs_is_of_one_moment (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = DYING_RING_NBYTES,
    .ring_file = dying_path,
  };
  struct radio_profile *profile;
  pthread_t threads[2];
  struct stat st;
  uint64_t nbefore = 0;
  (void) state;
  struct radio_recorder *recorder = start_two (threads, &options);
  for (int i = 0; i < 20; i += EXHAUSTIVE_STEP) {
    uint64_t sure = count_sure ();
    assert_ok (radio_profile_recover (dying_path, &profile));
    assert_string_equal (rd_profile_find_fact (profile, RD_FACT_RECOVERED),
                         "a process that runs");
    uint64_t n = check_moment (profile, sure);
    assert_true (n >= nbefore);
    nbefore = n;
    radio_profile_close (profile);
  }
  end_two (threads);
  assert_ok (radio_profile_recover (dying_path, &profile));
  radio_profile_close (profile);

  /* The copy in it goes once it was read. */
  do {
    usleep (1000);
    assert_int_equal (stat (dying_path, &st), 0);
  } while (st.st_size > 100 << 20);
  assert_ok (radio_recorder_stop (recorder, NULL));
}

/* Beyond this limit the process cannot put a copy into the file. */
static void
a_file_that_is_written_meanwhile_is_of_one_moment_or_refused (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = DYING_RING_NBYTES,
    .ring_file = dying_path,
  };
  struct radio_profile *profile;
  struct rlimit before, limit;
  pthread_t threads[2];
  int nrefused = 0;
  (void) state;
  assert_int_equal (getrlimit (RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = 100 << 20;
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
  struct radio_recorder *recorder = start_two (threads, &options);
  for (int i = 0; i < 5; i++) {
    uint64_t sure = count_sure ();
    enum radio_status status = radio_profile_recover (dying_path, &profile);
    if (status == RADIO_OK) {
      check_moment (profile, sure);
      radio_profile_close (profile);
      continue;
    }
    assert_int_equal (status, RADIO_ERROR_TIMEOUT);
    assert_non_null (strstr (radio_error_message (), "writes this ring"));
    nrefused++;
  }
  print_message ("%d of 5 were refused\n", nrefused);
  end_two (threads);
  assert_ok (radio_profile_recover (dying_path, &profile));
  check_moment (profile, count_sure ());
  radio_profile_close (profile);
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &before), 0);
}

static void
snapshots_are_of_one_moment_each (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = DYING_RING_NBYTES, .title = "to die",
  };
  struct radio_profile *profile;
  pthread_t threads[2];
  uint64_t nbefore = 0;
  (void) state;
  struct radio_recorder *recorder = start_two (threads, &options);
  for (int i = 0; i < 50; i += EXHAUSTIVE_STEP) {
    usleep (1000);
    uint64_t sure = count_sure ();
    assert_ok (radio_recorder_snapshot (recorder, &profile));
    uint64_t n = check_moment (profile, sure);
    assert_true (n >= nbefore);
    assert_null (rd_profile_find_fact (profile, RD_FACT_RECOVERED));
    nbefore = n;
    radio_profile_close (profile);
  }
  end_two (threads);

  /* Twins: a last snapshot, and the stop. */
  struct radio_profile *last;
  assert_ok (radio_recorder_snapshot (recorder, &last));
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (last->nodes.n, profile->nodes.n);
  for (size_t i = 0; i < last->nodes.n; i++) {
    assert_string_equal (last->nodes.at[i].name, profile->nodes.at[i].name);
    assert_int_equal (last->nodes.at[i].calls, profile->nodes.at[i].calls);
  }
  assert_int_equal (last->spans.n, profile->spans.n);
  assert_int_equal (last->notes.n, profile->notes.n);
  assert_int_equal (dying_counter_of (last, "counted", "bytes"),
                    dying_counter_of (profile, "counted", "bytes"));
  radio_profile_close (last);
  radio_profile_close (profile);
  assert_ok (radio_recorder_start (NULL, &recorder));
  assert_fails (radio_recorder_snapshot (recorder, &profile),
                RADIO_ERROR_UNSUPPORTED, "set ring_nbytes");
  assert_ok (radio_recorder_stop (recorder, NULL));
}

/* Starts and stops a recorder of its own, under the one of the process.
 * Returns NULL if that fails. */
static void *
record_beside (void *arg)
{
  struct radio_recorder *own;
  radio_scope_end (radio_scope_begin (&outer));
  if (radio_recorder_start (NULL, &own) != RADIO_OK)
    return NULL;
  radio_scope_end (radio_scope_begin (&blocks));
  if (radio_recorder_stop (own, NULL) != RADIO_OK)
    return NULL;
  radio_scope_end (radio_scope_begin (&outer));
  return arg;
}

static void *
start_threads (void *arg)
{
  _Atomic uint64_t *nended = arg;
  pthread_t thread;
  void *result = arg;
  while (result && !atomic_load (&is_over)) {
    if (pthread_create (&thread, NULL, record_beside, arg) != 0)
      return NULL;
    pthread_join (thread, &result);
    atomic_fetch_add (nended, 1);
  }
  return result;
}

static void
snapshots_are_taken_while_threads_come_and_go (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = DYING_RING_NBYTES,
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  static _Atomic uint64_t nended;
  pthread_t threads[2];
  (void) state;
  atomic_store (&is_over, false);
  assert_ok (radio_recorder_start (&options, &recorder));
  for (size_t i = 0; i < 2; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, start_threads,
                                      &nended), 0);
  for (int i = 0; i < 50; i++) {
    uint64_t sure = 2 * atomic_load (&nended);
    assert_ok (radio_recorder_snapshot (recorder, &profile));
    uint64_t n = dying_sum_of (profile, "outer").calls;
    radio_profile_close (profile);
    assert_in_range (n, sure, 2 * atomic_load (&nended) + 4);
  }
  atomic_store (&is_over, true);
  for (size_t i = 0; i < 2; i++) {
    void *result;
    pthread_join (threads[i], &result);
    assert_non_null (result);
  }
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (dying_sum_of (profile, "outer").calls, 2 * nended);
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Processes that hang
 *----------------------------------------------------------------------*/

static uint64_t
clock_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

/* Kills the process, whose first thread sleeps, when the recorder's thread gave
 * a sign of life that began after dying_progress->until_ns. */
static void *
kill_after_beat (void *arg)
{
  const uint64_t *nbeats = arg;
  history_await_sleep ((uint64_t) getpid ());
  usleep (20000);
  dying_progress->until_ns = clock_ns ();
  uint64_t n = __atomic_load_n (nbeats, __ATOMIC_ACQUIRE);
  while (__atomic_load_n (nbeats, __ATOMIC_ACQUIRE) < n + 2)
    usleep (1000);
  kill (getpid (), SIGKILL);
  return NULL;
}

/* Stays in a scope. */
static _Noreturn void
run_hung_process (bool dies)
{
  struct radio_recorder *recorder;
  struct radio_recorder_options options = {
    .ring_nbytes = DYING_RING_NBYTES, .ring_file = dying_path,
  };
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    _exit (9);
  pthread_t killer;
  (void) radio_scope_begin (&outer);
  dying_progress->since_ns = clock_ns ();
  atomic_store (&dying_progress->started, 1);
  if (dies && pthread_create (&killer, NULL, kill_after_beat,
                              &recorder->header->nbeats) != 0)
    _exit (8);
  for (;;)
    pause ();
}

/* The scope took that long at least, within the accuracy of the clock; and most
 * of it was no work on a CPU, where the kernel's account is known. */
static void
check_hung (const char *process)
{
  struct radio_profile *profile;
  uint64_t ns = dying_progress->until_ns - dying_progress->since_ns;
  assert_ok (radio_profile_recover (dying_path, &profile));
  struct radio_profile_node sum = dying_sum_of (profile, "outer");
  assert_true (sum.total_ns >= ns - ns / 20);
  assert_int_equal (sum.open_count, 1);
  if (access ("/proc/thread-self/schedstat", R_OK) == 0)
    assert_true (sum.wait_ns + sum.starved_ns >= sum.total_ns / 2);
  assert_string_equal (rd_profile_find_fact (profile, RD_FACT_RECOVERED),
                       process);
  const char *seen = rd_profile_find_fact (profile, RD_FACT_SEEN);
  bool ended = strcmp (process, "a process that ended") == 0;
  assert_int_equal (seen != NULL, ended);
  if (seen)
    assert_true (strtoull (seen, NULL, 10) >= ns - ns / 20);
  radio_profile_close (profile);
}

static void
the_open_scope_of_a_process_that_ended_lasts_until_it_was_seen (void **state)
{
  int status;
  (void) state;
  memset (dying_progress, 0, sizeof *dying_progress);
  pid_t child = fork ();
  if (child == 0)
    run_hung_process (true);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFSIGNALED (status));
  check_hung ("a process that ended");
  assert_int_equal (unlink (dying_path), 0);
}

/* Starts one, which is in its scope then. */
static pid_t
start_hung_process (void)
{
  int status;
  memset (dying_progress, 0, sizeof *dying_progress);
  pid_t child = fork ();
  if (child == 0)
    run_hung_process (false);
  while (!atomic_load (&dying_progress->started)) {
    assert_int_equal (waitpid (child, &status, WNOHANG), 0);
    usleep (1000);
  }
  return child;
}

static void
the_open_scope_of_a_process_that_runs_lasts_until_now (void **state)
{
  int status;
  (void) state;
  pid_t child = start_hung_process ();
  history_await_sleep ((uint64_t) child);
  usleep (20000);
  dying_progress->until_ns = clock_ns ();
  check_hung ("a process that runs");

  /* One that is stopped does not answer. */
  assert_int_equal (kill (child, SIGSTOP), 0);
  assert_int_equal (waitpid (child, &status, WUNTRACED), child);
  assert_true (WIFSTOPPED (status));
  usleep (20000);
  dying_progress->until_ns = clock_ns ();
  check_hung ("a process that runs");
  assert_int_equal (kill (child, SIGKILL), 0);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_int_equal (unlink (dying_path), 0);
}

/* The entry of /proc for its number is another process's, or missing. */
static void
a_process_of_another_container_runs (void **state)
{
  const struct radio_recorder_options options = {
    .ring_nbytes = DYING_RING_NBYTES, .ring_file = dying_path,
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  const uint64_t other = 1;
  int status;
  (void) state;
  pid_t child = start_hung_process ();
  int fd = open (dying_path, O_WRONLY);
  assert_int_equal (pwrite (fd, &other, sizeof other,
                            offsetof (struct rd_image_header, origin.started)),
                    sizeof other);
  assert_int_equal (close (fd), 0);
  assert_ok (radio_profile_recover (dying_path, &profile));
  assert_string_equal (rd_profile_find_fact (profile, RD_FACT_RECOVERED),
                       "a process that runs");
  radio_profile_close (profile);
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_EXISTS, "another recorder uses this ring");
  assert_int_equal (kill (child, SIGKILL), 0);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_ok (radio_profile_recover (dying_path, &profile));
  assert_string_equal (rd_profile_find_fact (profile, RD_FACT_RECOVERED),
                       "a process that ended");
  radio_profile_close (profile);
  assert_int_equal (unlink (dying_path), 0);
}

static void
a_file_is_removed_at_the_stop_and_kept_if_it_is_old (void **state)
{
  struct radio_recorder_options options = {
    .ring_nbytes = DYING_RING_NBYTES, .ring_file = dying_path,
  };
  struct radio_recorder *recorder, *second;
  struct radio_profile *profile;
  char old[sizeof dying_path + 8];
  (void) state;
  snprintf (old, sizeof old, "%s.old", dying_path);
  dying_die (DYING_EXIT, 1000);
  assert_int_equal (access (dying_path, F_OK), 0);
  assert_ok (radio_recorder_start (&options, &recorder));
  assert_ok (radio_profile_recover (old, &profile));
  radio_profile_close (profile);
  struct radio_recorder_options whole = options;
  whole.whole_process = true;
  assert_fails (radio_recorder_start (&whole, &second), RADIO_ERROR_EXISTS,
                "another recorder uses this ring");
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_int_not_equal (access (dying_path, F_OK), 0);
  assert_int_equal (unlink (old), 0);
  options.ring_file = "/nowhere/ring";
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_NOT_FOUND, "cannot create this ring");
  options.ring_file = dying_path;
  options.ring_nbytes = (uint64_t) 1 << 45;
  assert_true (radio_recorder_start (&options, &recorder) != RADIO_OK);
  assert_int_not_equal (access (dying_path, F_OK), 0);
}

/* Processes that start at once with one name: the other has no header yet. */
static void
a_file_that_another_process_begins_is_not_replaced (void **state)
{
  const struct radio_recorder_options options = {
    .ring_nbytes = DYING_RING_NBYTES, .ring_file = dying_path,
  };
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  struct radio_recorder *recorder;
  int ready[2], status;
  char byte;
  (void) state;
  assert_int_equal (pipe (ready), 0);
  pid_t child = fork ();
  if (child == 0) {
    int fd = open (dying_path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fcntl (fd, F_SETLK, &lock) == 0 && write (ready[1], "", 1) == 1)
      pause ();
    _exit (1);
  }
  close (ready[1]);
  assert_int_equal (read (ready[0], &byte, 1), 1);
  close (ready[0]);
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_EXISTS, "another recorder uses this ring");
  assert_int_equal (kill (child, SIGKILL), 0);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_ok (radio_recorder_start (&options, &recorder));
  assert_ok (radio_recorder_stop (recorder, NULL));
  char old[sizeof dying_path + 8];
  snprintf (old, sizeof old, "%s.old", dying_path);
  assert_int_equal (unlink (old), 0);
}

/* Waits until `start' has an end, starts a recorder, says if it could, and ends
 * with the parent, or when that closes `hold'. */
static void
run_one_of_several (const int start[2], const int hold[2],
                    const int result[2])
{
  const struct radio_recorder_options options = {
    .ring_nbytes = DYING_RING_NBYTES, .ring_file = dying_path,
  };
  struct radio_recorder *recorder;
  char byte;
  close (start[1]);
  close (hold[1]);
  (void) !read (start[0], &byte, 1);
  enum radio_status status = radio_recorder_start (&options, &recorder);
  byte = status == RADIO_OK ? 'y' : status == RADIO_ERROR_EXISTS ? 'n' : '?';
  (void) !write (result[1], &byte, 1);
  (void) !read (hold[0], &byte, 1);
  _exit (1);
}

/* As process 1 of several containers, which share a folder and start together:
 * one of them has the name, and the ring that was there is kept. */
static void
of_processes_that_start_at_once_one_has_the_name (void **state)
{
  enum { NPROCESSES = 3, NROUNDS = 30 };
  char old[sizeof dying_path + 8], content[8];
  (void) state;
  snprintf (old, sizeof old, "%s.old", dying_path);
  for (int round = 0; round < NROUNDS; round++) {
    int start[2], hold[2], result[2], status, nstarted = 0;
    pid_t children[NPROCESSES];
    int fd = open (dying_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal (write (fd, "earlier", 8), 8);
    assert_int_equal (close (fd), 0);
    assert_int_equal (pipe (start) | pipe (hold) | pipe (result), 0);
    for (int i = 0; i < NPROCESSES; i++) {
      children[i] = fork ();
      if (children[i] == 0)
        run_one_of_several (start, hold, result);
    }
    close (start[0]);
    close (start[1]);
    close (hold[0]);
    for (int i = 0; i < NPROCESSES; i++) {
      char byte;
      assert_int_equal (read (result[0], &byte, 1), 1);
      assert_true (byte == 'y' || byte == 'n');
      nstarted += byte == 'y';
    }
    close (result[0]);
    close (result[1]);
    assert_int_equal (nstarted, 1);
    fd = open (old, O_RDONLY);
    assert_int_equal (read (fd, content, sizeof content), sizeof content);
    assert_string_equal (content, "earlier");
    assert_int_equal (close (fd), 0);
    fd = open (dying_path, O_RDONLY);
    assert_true (rd_image_is_locked (fd));
    assert_int_equal (close (fd), 0);
    close (hold[1]);
    for (int i = 0; i < NPROCESSES; i++)
      assert_int_equal (waitpid (children[i], &status, 0), children[i]);
    assert_int_equal (unlink (dying_path) | unlink (old), 0);
  }
}

/* The child has no mapping; what it has of the parent are handles. */
static void
a_child_of_fork_does_not_touch_the_ring (void **state)
{
  struct radio_recorder_options options = {
    .ring_nbytes = DYING_RING_NBYTES, .ring_file = dying_path,
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct radio_handoff given;
  int status;
  (void) state;
  assert_ok (radio_recorder_start (&options, &recorder));
  uint64_t token = radio_scope_begin (&outer);
  radio_handoff_give (&given);
  struct radio_async *request = radio_async_begin (&blocks);
  pid_t child = fork ();
  if (child == 0) {
    radio_scope_end (radio_scope_receive (&given, &received));
    radio_handoff_release (&given);
    radio_async_end (request);
    radio_scope_end (token);
    _exit (radio_recorder_stop (recorder, NULL) == RADIO_ERROR_FORKED ? 0 : 1);
  }
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_int_equal (status, 0);
  radio_async_end (request);
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (dying_sum_of (profile, "outer").calls, 1);
  assert_int_equal (dying_sum_of (profile, "received").calls, 0);
  radio_profile_close (profile);

  /* The last reference is the child's. */
  if (fork () == 0) {
    radio_handoff_release (&given);
    _exit (0);
  }
  assert_true (wait (&status) > 0);
  assert_int_equal (status, 0);
  radio_handoff_release (&given);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_process_that_dies_leaves_what_it_recorded),
    cmocka_unit_test (a_file_of_a_process_that_runs_is_of_one_moment),
    cmocka_unit_test (
      a_file_that_is_written_meanwhile_is_of_one_moment_or_refused),
    cmocka_unit_test (snapshots_are_of_one_moment_each),
    cmocka_unit_test (snapshots_are_taken_while_threads_come_and_go),
    cmocka_unit_test (
      the_open_scope_of_a_process_that_ended_lasts_until_it_was_seen),
    cmocka_unit_test (the_open_scope_of_a_process_that_runs_lasts_until_now),
    cmocka_unit_test (a_process_of_another_container_runs),
    cmocka_unit_test (a_file_is_removed_at_the_stop_and_kept_if_it_is_old),
    cmocka_unit_test (a_file_that_another_process_begins_is_not_replaced),
    cmocka_unit_test (of_processes_that_start_at_once_one_has_the_name),
    cmocka_unit_test (a_child_of_fork_does_not_touch_the_ring),
  };
  return DYING_RUN_TESTS (tests);
}
