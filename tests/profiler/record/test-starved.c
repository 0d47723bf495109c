/* SPDX-License-Identifier: MIT */
/* Time in which a thread was runnable without a CPU, or slept in a scope that
 * is not marked as waiting: to which scope it belongs, and how rarely it is
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
#include "profiler/record/image.h"
#include "profiler/record/recorder.h"
#include "profiler/record/snapshot.h"
#include "profiler/record/writer.h"
#include "tests/profiler/record/history.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);

/* Runs for some ticks, then has no CPU for some. */
static void
work (struct history *h, uint64_t ran, uint64_t starved)
{
  history_pass (h, ran);
  atomic_fetch_add (&h->cpu_ns, ran);
  history_starve (h, starved);
}

static void
a_scope_without_a_cpu_is_starved (void **state)
{
  (void) state;
  struct history h;
  history_start_starving (&h, NULL, 0);
  uint64_t token = radio_scope_begin (&a);
  work (&h, 30, 70);
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
  work (&h, 10, 1);
  uint64_t inner = radio_scope_begin (&b);
  work (&h, 10, 20);
  radio_scope_end (inner);
  work (&h, 10, 300);
  inner = radio_scope_begin (&b);
  work (&h, 10, 4000);
  radio_scope_end (inner);
  work (&h, 10, 50000);
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
    work (&h, 30, ticks[i]);
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
  work (&h, 0, 0);
  history_pass (&h, 60);
  work (&h, 0, 40);
  radio_scope_end (token);
  token = radio_scope_begin (&blocks);
  work (&h, 5, 0);
  history_pass (&h, 50);
  work (&h, 5, 40);
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
  work (&h, 10, 7);
  uint64_t inner = radio_scope_begin (&a);
  work (&h, 10, 30);
  radio_scope_end (inner);
  history_pass (&h, 20);
  work (&h, 10, 3);
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
  work (&h, 100, 0);
  atomic_store (&h.lost, 500);
  uint64_t inner = radio_scope_begin (&b);
  work (&h, 100, 0);
  atomic_store (&h.lost, 7000);
  radio_scope_end (inner);
  work (&h, 30, 0);
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
  work (&h, 0, 500);
  uint64_t token = radio_scope_begin (&b);
  work (&h, 90, 10);
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
  work (&h, 10, 1);
  history_sleep (&h, 2);
  uint64_t inner = radio_scope_begin (&b);
  work (&h, 10, 20);
  history_sleep (&h, 40);
  radio_scope_end (inner);
  work (&h, 10, 300);
  history_sleep (&h, 600);
  inner = radio_scope_begin (&b);
  history_sleep (&h, 8000);
  work (&h, 10, 4000);
  radio_scope_end (inner);
  history_sleep (&h, 100000);
  work (&h, 10, 50000);
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

/* What a scope that waits does inside, and what is around it, is not counted
 * twice. */
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
  work (&h, 5, 7);
  radio_scope_end (inner);
  history_sleep (&h, 4000);
  radio_scope_end (token);
  token = radio_scope_begin (&blocks);
  history_sleep (&h, 50000);
  inner = radio_scope_begin (&b);
  history_sleep (&h, 600000);
  work (&h, 5, 0);
  radio_scope_end (inner);
  history_sleep (&h, 7000000);
  work (&h, 3, 2);
  radio_scope_end (token);
  history_sleep (&h, 80000000);
  work (&h, 4, 0);
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
    work (&h, 10, 30);
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
  work (&h, 70, 0);
  for (int i = 0; i < 4; i++) {
    uint64_t token = radio_scope_begin (&b);
    history_sleep (&h, 90);
    radio_scope_end (token);
  }
  work (&h, 70, 0);
  uint64_t token = radio_scope_begin (&b);
  work (&h, 10, 100);
  radio_scope_end (token);
  work (&h, 70, 0);
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
  work (&h, 5, 0);
  atomic_store (&h.lost, 80);
  uint64_t inner = radio_scope_begin (&blocks);
  history_sleep (&h, 60);
  radio_scope_end (inner);
  work (&h, 5, 0);
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
    work (&h, 5, 0);
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
  work (h, 50, 0);
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

/*------------------------------------------------------------------------
 * Open scopes that another thread splits
 *----------------------------------------------------------------------*/

struct open_scope {
  struct history history;
  const struct radio_site *site;
  pthread_barrier_t barrier;
  pthread_t thread;
};

static void *
stay_in_a_scope (void *arg)
{
  struct open_scope *open = arg;
  struct history *h = &open->history;
  uint64_t outer = radio_scope_begin (&a);
  work (h, 10, 5);
  uint64_t inner = radio_scope_begin (open->site);
  work (h, 10, 20);
  history_sleep (h, 300);
  pthread_barrier_wait (&open->barrier);
  pthread_barrier_wait (&open->barrier);
  radio_scope_end (inner);
  radio_scope_end (outer);
  return NULL;
}

/* Returns when another thread is in open->site, where it stays. */
static void
open_in_thread (struct open_scope *open)
{
  static const struct radio_recorder_options options = {
    .whole_process = true
  };
  pthread_barrier_init (&open->barrier, NULL, 2);
  history_start_starving (&open->history, &options, 0);
  assert_int_equal (pthread_create (&open->thread, NULL, stay_in_a_scope,
                                    open), 0);
  pthread_barrier_wait (&open->barrier);
}

/* Stops the recorder, and then lets the thread end. */
static void
freeze_open (struct open_scope *open)
{
  history_freeze (&open->history);
  pthread_barrier_wait (&open->barrier);
  pthread_join (open->thread, NULL);
  pthread_barrier_destroy (&open->barrier);
}

/* Of marked scopes all is taken for waiting that is known not to be for a
 * CPU. */
static void
sleep_is_no_work_when_another_thread_stops (void **state)
{
  const struct radio_site *const sites[] = { &b, &waits, &blocks };
  (void) state;
  for (size_t i = 0; i < 3; i++) {
    struct open_scope open = { .site = sites[i] };
    struct history *h = &open.history;
    char inner[16];
    snprintf (inner, sizeof inner, "a/%s", sites[i]->name);
    open_in_thread (&open);
    freeze_open (&open);
    const struct rd_node *node = history_find (h, 1, inner);
    assert_non_null (node);
    assert_times (node, 330, 330, i == 0 ? 30 : 20, i == 0 ? 300 : 310);
    assert_int_equal (node->starved, 20);
    node = history_find (h, 1, "a");
    assert_times (node, 345, 15, 15, 0);
    assert_int_equal (node->starved, 5);
    history_release (h);
  }
}

/* And the recorder that goes on has not lost any of it, nor has it twice. */
static void
sleep_is_no_work_in_a_snapshot (void **state)
{
  static const struct radio_recorder_options options = {
    .ring_nbytes = 256 << 10
  };
  (void) state;
  struct history h, then = { .now = 0 };
  struct rd_copy copy = { NULL, 0 };
  history_start_starving (&h, &options, 0);
  uint64_t outer = radio_scope_begin (&a);
  work (&h, 10, 5);
  uint64_t inner = radio_scope_begin (&b);
  work (&h, 10, 20);
  history_sleep (&h, 300);
  assert_ok (rd_snapshot_recover (h.recorder, &copy, &then.recorder));
  assert_times (history_node (&then, "a/b"), 330, 330, 30, 300);
  assert_int_equal (history_node (&then, "a/b")->starved, 20);
  assert_times (history_node (&then, "a"), 345, 15, 15, 0);
  assert_int_equal (history_node (&then, "a")->starved, 5);
  rd_recorder_unref (then.recorder);
  rd_copy_free (&copy);
  history_sleep (&h, 4000);
  work (&h, 10, 0);
  radio_scope_end (inner);
  radio_scope_end (outer);
  history_freeze (&h);
  assert_times (history_node (&h, "a/b"), 4340, 4340, 40, 4300);
  assert_int_equal (history_node (&h, "a/b")->starved, 20);
  history_release (&h);
}

/* Or a process that is killed after a snapshot, and before the next sign of
 * life, has accounts that are younger than the moment in its image. */
static void
a_snapshot_leaves_its_moment_in_the_image_that_is_live (void **state)
{
  static const struct radio_recorder_options options = {
    .ring_nbytes = 256 << 10
  };
  (void) state;
  struct history h, then = { .now = 0 };
  struct rd_copy copy = { NULL, 0 };
  history_start_starving (&h, &options, 0);
  uint64_t outer = radio_scope_begin (&a);
  history_sleep (&h, 300);
  assert_ok (rd_snapshot_recover (h.recorder, &copy, &then.recorder));
  assert_in_range (h.recorder->synced.observed, h.now - 300, h.now);
  assert_int_equal (h.recorder->header->observed,
                    h.recorder->synced.observed);
  rd_recorder_unref (then.recorder);
  rd_copy_free (&copy);
  radio_scope_end (outer);
  history_freeze (&h);
  history_release (&h);
}

/* The kernel adds the wait for a CPU to a thread's account when it gets one, so
 * that it looks like sleep until then. */
static void
a_wait_for_a_cpu_is_no_sleep_when_another_thread_stops (void **state)
{
  (void) state;
  struct open_scope open = { .site = &b };
  struct history *h = &open.history;
  open_in_thread (&open);
  atomic_store (&h->is_runnable, true);
  freeze_open (&open);
  assert_times (history_find (h, 1, "a/b"), 330, 330, 330, 0);
  assert_int_equal (history_find (h, 1, "a")->starved, 5);
  history_release (h);
}

/* Of a thread that waits for a CPU is known how long it slept before the last
 * time when it did not. */
static void
sleep_before_a_wait_for_a_cpu_is_known (void **state)
{
  static const struct radio_recorder_options options = {
    .ring_nbytes = 256 << 10
  };
  (void) state;
  struct history h, then = { .now = 0 };
  struct rd_copy copy = { NULL, 0 };
  history_start_starving (&h, &options, 0);
  uint64_t outer = radio_scope_begin (&a);
  work (&h, 10, 20);
  history_sleep (&h, 300);
  for (int i = 0; i < 3; i++) {
    rd_thread_lock (&h.recorder->mutex);
    rd_recorder_observe (h.recorder);
    rd_thread_unlock (&h.recorder->mutex);
    atomic_store (&h.is_runnable, true);
    history_pass (&h, 1000);
  }
  assert_ok (rd_snapshot_recover (h.recorder, &copy, &then.recorder));
  assert_times (history_node (&then, "a"), 3330, 3330, 3030, 300);
  assert_int_equal (history_node (&then, "a")->starved, 20);
  rd_recorder_unref (then.recorder);
  rd_copy_free (&copy);
  radio_scope_end (outer);
  history_freeze (&h);
  history_release (&h);
}

/* A real thread, which is asleep for sure when its state says so. */
struct sleeper {
  _Atomic uint64_t os_tid;
  pthread_barrier_t end;
};

static void *
sleep_in_a_scope (void *arg)
{
  struct sleeper *sleeper = arg;
  uint64_t token = radio_scope_begin (&a);
  const struct timespec pause = { 0, 20000000 };
  nanosleep (&pause, NULL);
  radio_scope_end (token);
  token = radio_scope_begin (&b);
  atomic_store (&sleeper->os_tid, (uint64_t) syscall (SYS_gettid));
  pthread_barrier_wait (&sleeper->end);
  radio_scope_end (token);
  return NULL;
}

static void
the_account_of_a_sleeping_thread_is_read_by_another (void **state)
{
  static const struct radio_recorder_options options = {
    .whole_process = true
  };
  (void) state;
  if (access ("/proc/thread-self/schedstat", R_OK) != 0)
    skip ();
  struct radio_recorder *recorder;
  struct sleeper sleeper = { 0 };
  struct rd_run_account account;
  struct timespec cpu;
  clockid_t clock;
  pthread_t thread;
  pthread_barrier_init (&sleeper.end, NULL, 2);
  assert_ok (radio_recorder_start (&options, &recorder));
  assert_int_equal (pthread_create (&thread, NULL, sleep_in_a_scope, &sleeper),
                    0);
  uint64_t os_tid;
  while ((os_tid = atomic_load (&sleeper.os_tid)) == 0)
    sched_yield ();
  history_await_sleep (os_tid);
  const struct rd_writer_state *writer = recorder->synced.writers.at[1];
  assert_true (rd_run_queue_observe (&writer->queue, &writer->clock,
                                     &account));
  assert_int_equal (pthread_getcpuclockid (thread, &clock), 0);
  assert_int_equal (clock_gettime (clock, &cpu), 0);
  assert_int_equal (account.cpu_ns, cpu.tv_sec * 1000000000 + cpu.tv_nsec);
  rd_recorder_freeze (recorder);
  pthread_barrier_wait (&sleeper.end);
  pthread_join (thread, NULL);
  pthread_barrier_destroy (&sleeper.end);
  rd_recorder_release (recorder);
}

static void
a_thread_named_like_a_state_has_its_own (void **state)
{
  static const struct { const char *text; char state; } cases[] = {
    { "7 (radio) S 1 7 7 0", 'S' }, { "7 (a) R (b) D 1 7 7 0", 'D' },
    { "7 () R 1", 'R' }, { "7 (radio", 0 }, { "7 (radio) ", 0 },
    { "7 (radio) S", 0 }, { "", 0 },
  };
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char found = 0;
    bool is_known = rd_run_queue_parse_stat (cases[i].text,
                                             strlen (cases[i].text), &found);
    assert_int_equal (is_known, cases[i].state != 0);
    assert_int_equal (found, cases[i].state);
  }
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
    work (&h, 10, 80);
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
    cmocka_unit_test (sleep_is_no_work_when_another_thread_stops),
    cmocka_unit_test (sleep_is_no_work_in_a_snapshot),
    cmocka_unit_test (a_snapshot_leaves_its_moment_in_the_image_that_is_live),
    cmocka_unit_test (a_wait_for_a_cpu_is_no_sleep_when_another_thread_stops),
    cmocka_unit_test (sleep_before_a_wait_for_a_cpu_is_known),
    cmocka_unit_test (the_account_of_a_sleeping_thread_is_read_by_another),
    cmocka_unit_test (a_thread_named_like_a_state_has_its_own),
    cmocka_unit_test (a_thread_that_sleeps_in_a_scope_waits),
    cmocka_unit_test (short_times_are_not_read),
    cmocka_unit_test (no_scope_is_starved_for_longer_than_it_worked),
    cmocka_unit_test (a_lost_descriptor_is_left_alone),
    cmocka_unit_test (a_fourth_of_the_descriptors_are_for_accounts),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
