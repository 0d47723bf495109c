/* SPDX-License-Identifier: MIT */
/* Time in which a thread was runnable without a CPU, or slept in a scope that
 * is not marked as waiting: to which scope it belongs, and how seldom it is
 * read. */
#include <config.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/thread.h"
#include "profiler/record/recorder.h"
#include "profiler/record/writer.h"
#include "tests/profiler/record/history.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);

static void
a_scope_without_a_cpu_is_starved (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  uint64_t token = radio_scope_begin (&a);
  history_work (&h, 30, 70);
  radio_scope_end (token);
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 100, 100, 100, 0);
  assert_int_equal (history_node (&h, "a")->starved, 70);
  history_release (&h);
}

/* Before a child, in it, between two, and after the last. */
static void
each_scope_has_its_own (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  uint64_t outer = radio_scope_begin (&a);
  history_work (&h, 10, 1);
  uint64_t inner = radio_scope_begin (&b);
  history_work (&h, 10, 20);
  radio_scope_end (inner);
  history_work (&h, 10, 300);
  inner = radio_scope_begin (&b);
  history_work (&h, 10, 4000);
  radio_scope_end (inner);
  history_work (&h, 10, 50000);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a")->starved, 50301);
  assert_int_equal (history_node (&h, "a/b")->starved, 4020);
  assert_int_equal (history_node (&h, "a")->work, 50331);
  history_release (&h);
}

/* The log has them too: exactly up to 18 bits, and 4 millionths less then; also
 * beside a tile's number, and without a wait or bytes. */
static void
each_span_has_its_own (void **state)
{
  static const uint64_t ticks[] = {
    0, 1, 70, 262143, 262144, 262145, 123456789, UINT64_C (1) << 50,
    (UINT64_C (1) << 50) + 12345,
  };
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
    uint64_t token = i % 2 ? radio_step_begin (&a, 9000 + i)
                           : radio_scope_begin (&a);
    history_work (&h, 30, ticks[i]);
    radio_scope_end (token);
  }
  history_freeze (&h);
  for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
    const struct rd_log_extra *extra = rd_span_extra (history_span (&h, i));
    uint64_t starved = rd_log_starved (extra);
    assert_in_range (ticks[i] - starved, 0, ticks[i] / 250000);
    if (ticks[i] < 1 << 18)
      assert_int_equal (starved, ticks[i]);
    assert_int_equal (extra->flags & 0xff, i % 2 ? RD_LOG_TILE : 0);
    if (i % 2)
      assert_int_equal (extra->tile, 9000 + i);
  }
  history_release (&h);
}

/* It is runnable from the moment when what it waited for is there. */
static void
waking_up_late_is_not_waiting (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  uint64_t outer = radio_scope_begin (&a);
  uint64_t token = radio_scope_begin (&waits);
  history_work (&h, 0, 0);
  history_pass (&h, 60);
  history_work (&h, 0, 40);
  radio_scope_end (token);
  token = radio_scope_begin (&blocks);
  history_work (&h, 5, 0);
  history_pass (&h, 50);
  history_work (&h, 5, 40);
  radio_scope_end (token);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/waits"), 100, 100, 40, 60);
  assert_int_equal (history_node (&h, "a/waits")->starved, 40);
  assert_times (history_node (&h, "a/blocks"), 100, 100, 50, 50);
  assert_int_equal (history_node (&h, "a/blocks")->starved, 40);
  assert_int_equal (history_node (&h, "a")->starved, 0);
  history_release (&h);
}

/* Inside a system call, and inside a scope in it. */
static void
a_blocking_scope_knows_what_is_inside (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  uint64_t token = radio_scope_begin (&blocks);
  history_work (&h, 10, 7);
  uint64_t inner = radio_scope_begin (&a);
  history_work (&h, 10, 30);
  radio_scope_end (inner);
  history_pass (&h, 20);
  history_work (&h, 10, 3);
  radio_scope_end (token);
  history_freeze (&h);
  assert_times (history_node (&h, "blocks"), 90, 50, 30, 20);
  assert_int_equal (history_node (&h, "blocks")->starved, 10);
  assert_int_equal (history_node (&h, "blocks/a")->starved, 30);
  history_release (&h);
}

/* A thread is most likely to lose its CPU at the end of a system call. */
static void
a_cpu_lost_while_the_account_is_read_belongs_there (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 100);
  uint64_t outer = radio_scope_begin (&a);
  history_work (&h, 100, 0);
  atomic_store (&h.lost, 500);
  uint64_t inner = radio_scope_begin (&b);
  history_work (&h, 100, 0);
  atomic_store (&h.lost, 7000);
  radio_scope_end (inner);
  history_work (&h, 30, 0);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/b"), 100, 100, 100, 0);
  assert_int_equal (history_node (&h, "a/b")->starved, 0);
  assert_times (history_node (&h, "a"), 7730, 7630, 7630, 0);
  assert_int_equal (history_node (&h, "a")->starved, 7500);
  history_release (&h);
}

static void
outside_of_all_scopes_it_is_nobodys (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  history_leaf (&h, &a, 10);
  history_work (&h, 0, 500);
  uint64_t token = radio_scope_begin (&b);
  history_work (&h, 90, 10);
  radio_scope_end (token);
  history_freeze (&h);
  assert_int_equal (history_node (&h, "a")->starved, 0);
  assert_int_equal (history_node (&h, "b")->starved, 10);
  history_release (&h);
}

/*------------------------------------------------------------------------
 * Sleep in scopes that are not marked
 *----------------------------------------------------------------------*/

/* Before a child, in it, between two, and after the last. */
static void
sleep_is_no_work_in_any_scope (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  uint64_t outer = radio_scope_begin (&a);
  history_work (&h, 10, 1);
  history_sleep (&h, 2);
  uint64_t inner = radio_scope_begin (&b);
  history_work (&h, 10, 20);
  history_sleep (&h, 40);
  radio_scope_end (inner);
  history_work (&h, 10, 300);
  history_sleep (&h, 600);
  inner = radio_scope_begin (&b);
  history_sleep (&h, 8000);
  history_work (&h, 10, 4000);
  radio_scope_end (inner);
  history_sleep (&h, 100000);
  history_work (&h, 10, 50000);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/b"), 12080, 12080, 4040, 8040);
  assert_int_equal (history_node (&h, "a/b")->starved, 4020);
  assert_times (history_node (&h, "a"), 163013, 150933, 50331, 100602);
  assert_int_equal (history_node (&h, "a")->starved, 50301);
  assert_int_equal (rd_span_extra (history_span (&h, 0))->wait, 40);
  assert_int_equal (rd_span_extra (history_span (&h, 1))->wait, 8000);
  history_release (&h);
}

/* Time inside a waiting scope, and around it, is not counted twice. */
static void
sleep_beside_marked_waits_is_its_own (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  uint64_t outer = radio_scope_begin (&a);
  history_sleep (&h, 1);
  uint64_t token = radio_scope_begin (&waits);
  history_sleep (&h, 20);
  uint64_t inner = radio_scope_begin (&b);
  history_sleep (&h, 300);
  history_work (&h, 5, 7);
  radio_scope_end (inner);
  history_sleep (&h, 4000);
  radio_scope_end (token);
  token = radio_scope_begin (&blocks);
  history_sleep (&h, 50000);
  inner = radio_scope_begin (&b);
  history_sleep (&h, 600000);
  history_work (&h, 5, 0);
  radio_scope_end (inner);
  history_sleep (&h, 7000000);
  history_work (&h, 3, 2);
  radio_scope_end (token);
  history_sleep (&h, 80000000);
  history_work (&h, 4, 0);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/waits/b"), 312, 312, 12, 300);
  assert_times (history_node (&h, "a/waits"), 4332, 4020, 0, 4020);
  assert_times (history_node (&h, "a/blocks/b"), 600005, 600005, 5, 600000);
  assert_times (history_node (&h, "a/blocks"), 7650010, 7050005, 5, 7050000);
  assert_times (history_node (&h, "a"), 87654347, 80000005, 4, 80000001);
  history_release (&h);
}

/* Its CPU time is not read then: what a hypervisor took is no sleep. */
static void
a_thread_that_never_slept_did_not_wait (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  history_leaf (&h, &a, 10);
  uint64_t nreads = atomic_load (&h.ncpu_reads);
  for (int i = 0; i < 50; i++) {
    uint64_t token = radio_scope_begin (&a);
    history_work (&h, 10, 30);
    history_pass (&h, 60);
    radio_scope_end (token);
  }
  assert_int_equal (atomic_load (&h.ncpu_reads), nreads);
  history_freeze (&h);
  assert_times (history_node (&h, "a"), 5010, 5010, 5010, 0);
  history_release (&h);
}

/* They leave it to the scope around them. */
static void
no_scope_sleeps_for_longer_than_it_lasted (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 100);
  uint64_t outer = radio_scope_begin (&a);
  history_work (&h, 70, 0);
  for (int i = 0; i < 4; i++) {
    uint64_t token = radio_scope_begin (&b);
    history_sleep (&h, 90);
    radio_scope_end (token);
  }
  history_work (&h, 70, 0);
  uint64_t token = radio_scope_begin (&b);
  history_work (&h, 10, 100);
  radio_scope_end (token);
  history_work (&h, 70, 0);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/b"), 470, 470, 460, 10);
  assert_int_equal (history_node (&h, "a/b")->starved, 100);
  assert_times (history_node (&h, "a"), 680, 210, 0, 210);
  history_release (&h);
}

/* A thread that wants the CPU clock for a call that may block loses its CPU
 * there: the call still waits for as long as it does. */
static void
a_cpu_lost_before_a_call_is_not_its_wait (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 50);
  uint64_t outer = radio_scope_begin (&a);
  history_work (&h, 5, 0);
  atomic_store (&h.lost, 80);
  uint64_t inner = radio_scope_begin (&blocks);
  history_sleep (&h, 60);
  radio_scope_end (inner);
  history_work (&h, 5, 0);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/blocks"), 60, 60, 0, 60);
  assert_int_equal (history_node (&h, "a/blocks")->starved, 0);
  assert_times (history_node (&h, "a"), 150, 90, 90, 0);
  assert_int_equal (history_node (&h, "a")->starved, 80);
  history_release (&h);
}

/* A thread loses its CPU between the end of a scope and the reading of its
 * account: what it slept in the scope is known all the same, and what it slept
 * after that. */
static void
a_cpu_lost_after_the_end_is_no_sleep_less (void **state)
{
  (void) state;
  static const struct radio_site *const sites[] = { &b, &blocks, &waits };
  for (size_t i = 0; i < 3; i++) {
    struct history h;
    char path[16];
    snprintf (path, sizeof path, "a/%s", sites[i]->name);
    history_start_starving (&h, NULL, 50);
    uint64_t outer = radio_scope_begin (&a);
    uint64_t inner = radio_scope_begin (sites[i]);
    history_sleep (&h, 60);
    atomic_store (&h.lost_next, 80);
    radio_scope_end (inner);
    history_sleep (&h, 70);
    history_work (&h, 5, 0);
    radio_scope_end (outer);
    history_freeze (&h);
    assert_times (history_node (&h, path), 60, 60, 0, 60);
    assert_int_equal (history_node (&h, path)->starved, 0);
    assert_times (history_node (&h, "a"), 215, 155, 85, 70);
    assert_int_equal (history_node (&h, "a")->starved, 80);
    history_release (&h);
  }
}

/* A thread has a CPU clock of its own, and takes over the writer of one that
 * ended. */
static void *
run_long (void *arg)
{
  struct history *h = arg;
  uint64_t token = radio_scope_begin (&a);
  history_sleep (h, 30);
  history_work (h, 50, 0);
  radio_scope_end (token);
  atomic_store (&h->cpu_ns, 0);
  return NULL;
}

static void
each_thread_has_its_own_cpu_time (void **state)
{
  (void) state;
  struct history h;
  pthread_t thread;
  const struct radio_recorder_options options = { .whole_process = true };
  history_start_starving (&h, &options, 0);
  for (int i = 0; i < 3; i++) {
    assert_int_equal (pthread_create (&thread, NULL, run_long, &h), 0);
    pthread_join (thread, NULL);
  }
  history_freeze (&h);
  const struct rd_node *node = history_find (&h, 1, "a");
  assert_non_null (node);
  assert_times (node, 240, 240, 150, 90);
  history_release (&h);
}

/* A real thread. */
static void
a_thread_that_sleeps_in_a_scope_waits (void **state)
{
  (void) state;
  struct radio_recorder *recorder;
  const struct timespec pause = { 0, 20000000 };
  assert_ok (radio_recorder_start (NULL, &recorder));
  for (int i = 0; i < 3; i++) {
    uint64_t token = radio_scope_begin (&a);
    nanosleep (&pause, NULL);
    radio_scope_end (token);
  }
  bool is_known = recorder->synced.writers.at[0]->queue.state
                  == RD_RUN_QUEUE_OPEN;
  rd_recorder_freeze (recorder);
  const struct rd_node *node = recorder->synced.writers.at[0]->nodes[1];
  uint64_t wait_ns = rd_rate_ns (&recorder->rate, node->wait);
  uint64_t starved_ns = rd_rate_ns (&recorder->rate, node->starved);
  uint64_t total_ns = rd_rate_ns (&recorder->rate, node->total);
  rd_recorder_release (recorder);
  if (!is_known)
    skip ();
  assert_in_range (wait_ns + starved_ns, 57000000, total_ns);
  assert_true (wait_ns > 40000000);
}

/*------------------------------------------------------------------------
 * When it is read
 *----------------------------------------------------------------------*/

/* Only the time since the last event counts, not the scope's whole. */
static void
short_times_are_not_read (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 100);
  history_leaf (&h, &a, 10);
  uint64_t nreads = atomic_load (&h.nstarved_reads);
  uint64_t outer = radio_scope_begin (&a);
  for (int i = 0; i < 50; i++) {
    history_pass (&h, 1);
    history_leaf (&h, &b, 99);
  }
  radio_scope_end (outer);
  assert_int_equal (atomic_load (&h.nstarved_reads), nreads);
  history_leaf (&h, &b, 100);
  assert_int_equal (atomic_load (&h.nstarved_reads), nreads + 1);
  history_pass (&h, 100);
  history_leaf (&h, &b, 1);
  assert_int_equal (atomic_load (&h.nstarved_reads), nreads + 2);
  history_freeze (&h);
  history_release (&h);
}

/* Scopes too short for a reading leave theirs to the scope around them. */
static void
no_scope_is_starved_for_longer_than_it_worked (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 100);
  uint64_t outer = radio_scope_begin (&a);
  for (int i = 0; i < 4; i++) {
    uint64_t token = radio_scope_begin (&b);
    history_work (&h, 10, 80);
    radio_scope_end (token);
  }
  history_pass (&h, 99);
  uint64_t token = radio_scope_begin (&waits);
  history_pass (&h, 100);
  radio_scope_end (token);
  history_pass (&h, 99);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/waits"), 100, 100, 100, 0);
  assert_int_equal (history_node (&h, "a/waits")->starved, 100);
  assert_int_equal (history_node (&h, "a")->starved, 198);
  assert_int_equal (history_node (&h, "a/b")->starved, 0);
  history_release (&h);
}

/* The account of the kernel, by which real threads are measured: it grows by
 * no more than the time, and a descriptor that the program closed and used
 * again is neither read nor closed. */
static void
a_lost_descriptor_is_left_alone (void **state)
{
  (void) state;
  struct rd_clock clock;
  struct rd_run_queue queue = { .ns = 0 };
  bool has_slept;
  rd_clock_choose (&clock, false);
  assert_int_equal (rd_run_queue_read (&queue, &clock, &has_slept), 0);
  if (queue.state != RD_RUN_QUEUE_OPEN)
    skip ();
  int fd = queue.fd;
  close (fd);
  FILE *other = tmpfile ();
  assert_non_null (other);
  int taken = dup2 (fileno (other), fd);
  assert_int_equal (taken, fd);
  assert_int_equal (fprintf (other, "no numbers\n"), 11);
  assert_int_equal (fflush (other), 0);
  assert_int_equal (rd_run_queue_read (&queue, &clock, &has_slept), 0);
  assert_false (has_slept);
  assert_int_equal (queue.state, RD_RUN_QUEUE_NONE);
  rd_run_queue_close (&queue);
  assert_true (fcntl (fd, F_GETFD) >= 0);
  close (fd);
  fclose (other);
}

/* Counts the accounts that many threads would get. */
static size_t
count_accounts (rlim_t ndescriptors)
{
  enum { N = 600 };
  static struct rd_run_queue queues[N];
  struct rd_clock clock;
  struct rlimit limit;
  bool has_slept;
  size_t n = 0;
  rd_clock_choose (&clock, false);
  memset (queues, 0, sizeof queues);
  assert_int_equal (getrlimit (RLIMIT_NOFILE, &limit), 0);
  struct rlimit some = { ndescriptors, limit.rlim_max };
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &some), 0);
  for (size_t i = 0; i < N; i++) {
    (void) rd_run_queue_read (&queues[i], &clock, &has_slept);
    n += queues[i].state == RD_RUN_QUEUE_OPEN;
  }
  for (size_t i = 0; i < N; i++)
    rd_run_queue_close (&queues[i]);
  assert_int_equal (setrlimit (RLIMIT_NOFILE, &limit), 0);
  return n;
}

static void
a_fourth_of_the_descriptors_are_for_accounts (void **state)
{
  (void) state;
  struct rlimit limit;
  assert_int_equal (getrlimit (RLIMIT_NOFILE, &limit), 0);
  if (count_accounts (400) == 0)
    skip ();
  rlim_t most = limit.rlim_max < 2048 ? limit.rlim_max : 2048;
  assert_int_equal (count_accounts (400), 100);
  assert_int_equal (count_accounts (most), most / 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_scope_without_a_cpu_is_starved),
    cmocka_unit_test (each_scope_has_its_own),
    cmocka_unit_test (each_span_has_its_own),
    cmocka_unit_test (waking_up_late_is_not_waiting),
    cmocka_unit_test (a_blocking_scope_knows_what_is_inside),
    cmocka_unit_test (a_cpu_lost_while_the_account_is_read_belongs_there),
    cmocka_unit_test (outside_of_all_scopes_it_is_nobodys),
    cmocka_unit_test (sleep_is_no_work_in_any_scope),
    cmocka_unit_test (sleep_beside_marked_waits_is_its_own),
    cmocka_unit_test (a_thread_that_never_slept_did_not_wait),
    cmocka_unit_test (no_scope_sleeps_for_longer_than_it_lasted),
    cmocka_unit_test (a_cpu_lost_before_a_call_is_not_its_wait),
    cmocka_unit_test (a_cpu_lost_after_the_end_is_no_sleep_less),
    cmocka_unit_test (each_thread_has_its_own_cpu_time),
    cmocka_unit_test (a_thread_that_sleeps_in_a_scope_waits),
    cmocka_unit_test (short_times_are_not_read),
    cmocka_unit_test (no_scope_is_starved_for_longer_than_it_worked),
    cmocka_unit_test (a_lost_descriptor_is_left_alone),
    cmocka_unit_test (a_fourth_of_the_descriptors_are_for_accounts),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
