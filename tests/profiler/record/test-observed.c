/* SPDX-License-Identifier: MIT */
/* Open scopes that another thread splits into work on a CPU, work without one,
 * and sleep, since their own does not end them: in snapshots, when the recorder
 * stops, and of a process that was killed. */
#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/thread.h"
#include "profiler/model/profile.h"
#include "profiler/record/collect.h"
#include "profiler/record/image.h"
#include "profiler/record/recorder.h"
#include "profiler/record/snapshot.h"
#include "profiler/record/writer.h"
#include "tests/profiler/record/history.h"

SITE (a, RADIO_SCOPE_WORK);
SITE (b, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);

static const struct radio_recorder_options with_ring = {
  .ring_nbytes = 256 << 10
};

/* Ends a history whose innermost scope is open, and one that was recovered of
 * it. */
static void
release (struct history *h, struct history *recovered, uint64_t token)
{
  rd_recorder_unref (recovered->recorder);
  radio_scope_end (token);
  history_freeze (h);
  history_release (h);
}

struct open_scope {
  struct history history;
  const struct radio_site *site;
  bool never_sleeps;
  pthread_barrier_t barrier;
  pthread_t thread;
};

static void *
stay_in_a_scope (void *arg)
{
  struct open_scope *open = arg;
  struct history *h = &open->history;
  uint64_t outer = radio_scope_begin (&a);
  history_work (h, 10, 5);
  uint64_t inner = radio_scope_begin (open->site);
  history_work (h, 10, 20);
  if (!open->never_sleeps)
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

/* All time of marked scopes is waiting, unless it is known to be for a CPU. */
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
  (void) state;
  struct history h, then = { .now = 0 };
  struct rd_copy copy = { NULL, 0 };
  history_start_starving (&h, &with_ring, 0);
  uint64_t outer = radio_scope_begin (&a);
  history_work (&h, 10, 5);
  uint64_t inner = radio_scope_begin (&b);
  history_work (&h, 10, 20);
  history_sleep (&h, 300);
  assert_ok (rd_snapshot_recover (h.recorder, &copy, &then.recorder));
  assert_times (history_node (&then, "a/b"), 330, 330, 30, 300);
  assert_int_equal (history_node (&then, "a/b")->starved, 20);
  assert_times (history_node (&then, "a"), 345, 15, 15, 0);
  assert_int_equal (history_node (&then, "a")->starved, 5);
  rd_recorder_unref (then.recorder);
  rd_copy_free (&copy);
  history_sleep (&h, 4000);
  history_work (&h, 10, 0);
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
  (void) state;
  struct history h, then = { .now = 0 };
  RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
  history_start_starving (&h, &with_ring, 0);
  uint64_t outer = radio_scope_begin (&a);
  history_sleep (&h, 300);
  assert_ok (rd_snapshot_recover (h.recorder, &copy, &then.recorder));
  assert_in_range (h.recorder->synced.observed, h.now - 300, h.now);
  assert_int_equal (h.recorder->header->observed,
                    h.recorder->synced.observed);
  release (&h, &then, outer);
}

/* The kernel adds the wait for a CPU to a thread's account when it gets one, so
 * that it looks like sleep until then: but a thread that did not sleep since
 * its last event did nothing else. */
static void
a_wait_for_a_cpu_is_no_sleep_when_another_thread_stops (void **state)
{
  (void) state;
  struct open_scope open = { .site = &b, .never_sleeps = true };
  struct history *h = &open.history;
  open_in_thread (&open);
  atomic_store (&h->is_runnable, true);
  history_pass (h, 5000);
  freeze_open (&open);
  assert_times (history_find (h, 1, "a/b"), 5030, 5030, 5030, 0);
  assert_int_equal (history_find (h, 1, "a/b")->starved, 5020);
  assert_int_equal (history_find (h, 1, "a")->starved, 5);
  history_release (h);
}

/* For one that did, the account before that wait is known. */
static void
sleep_before_a_wait_for_a_cpu_is_known (void **state)
{
  (void) state;
  struct open_scope open = { .site = &b };
  struct history *h = &open.history;
  open_in_thread (&open);
  atomic_store (&h->is_runnable, true);
  freeze_open (&open);
  assert_times (history_find (h, 1, "a/b"), 330, 330, 30, 300);
  assert_int_equal (history_find (h, 1, "a/b")->starved, 20);
  history_release (h);
}

static void
look (struct history *h)
{
  rd_thread_lock (&h->recorder->mutex);
  rd_recorder_observe (h->recorder);
  rd_thread_unlock (&h->recorder->mutex);
}

/* The last sign of life of a killed process is younger than what is known of
 * its threads: they go on as they were seen. */
static void
a_killed_thread_is_not_taken_to_have_run (void **state)
{
  (void) state;
  for (int lacks_cpu = 0; lacks_cpu < 2; lacks_cpu++) {
    struct history h, then = { .now = 0 };
    RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
    history_start_starving (&h, &with_ring, 0);
    uint64_t outer = radio_scope_begin (&a);
    history_work (&h, 10, 20);
    if (lacks_cpu)
      atomic_store (&h.is_runnable, true);
    else
      history_sleep (&h, 300);
    look (&h);
    history_pass (&h, 1000);
    struct rd_image_header *header = h.recorder->header;
    rd_clock_anchor (&h.recorder->clock, &header->beats[0]);
    header->nbeats = 1;
    assert_ok (rd_copy_new ((size_t) header->nbytes, &copy));
    memcpy (copy.at, header, (size_t) header->nbytes);
    assert_ok (rd_recover (copy.at, copy.nbytes, "copy", &then.recorder));
    const struct rd_node *node = history_node (&then, "a");
    assert_int_equal (node->work - node->starved, 10);
    assert_int_equal (node->starved, lacks_cpu ? 1020 : 20);
    assert_int_equal (node->wait, lacks_cpu ? 0 : 1300);
    release (&h, &then, outer);
  }
}

/* Recovers the image of this moment, of a process on ncpus CPUs that has
 * used that much CPU time (0: not known). */
static void
recover_used (struct history *h, uint64_t ncpus, uint64_t cpu_ns,
              struct rd_copy *copy, struct history *then)
{
  const struct rd_image_header *header = h->recorder->header;
  assert_ok (rd_copy_new ((size_t) header->nbytes, copy));
  memcpy (copy->at, header, (size_t) header->nbytes);
  struct rd_image_header *copied = (struct rd_image_header *) copy->at;
  rd_clock_anchor (&h->recorder->clock, &copied->beats[0]);
  copied->beats[0].cpu_ns = copied->start.cpu_ns + cpu_ns;
  copied->nbeats = 1;
  copied->origin.ncpus = ncpus;
  assert_ok (rd_recover (copy->at, copy->nbytes, "copy", &then->recorder));
}

/* The account of a thread that ended no long scope is not known, so the open
 * scope is taken to run: but not for longer than the process did. */
static void
open_scopes_have_no_more_cpu_time_than_the_process (void **state)
{
  static const struct {
    uint64_t ncpus, cpu_ns, ran;
  } cases[] = {
    { 2, 500, 300 }, { 2, 200, 0 }, { 2, 150, 0 }, { 2, 5000, 800 },
    { 2, 0, 800 }, { 0, 500, 800 },
  };
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct history h, then = { .now = 0 };
    RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
    history_start (&h, &with_ring);
    history_leaf (&h, &b, 200);
    uint64_t token = radio_scope_begin (&a);
    history_pass (&h, 800);
    recover_used (&h, cases[i].ncpus, cases[i].cpu_ns, &copy, &then);
    assert_times (history_node (&then, "b"), 200, 200, 200, 0);
    assert_times (history_node (&then, "a"), 800, 800, cases[i].ran,
                  800 - cases[i].ran);
    const struct rd_log_span *span = history_span (&then, 1);
    assert_int_equal (rd_span_extra (span)->wait, 800 - cases[i].ran);
    release (&h, &then, token);
  }
}

static const char *
fact_of (const struct radio_profile *profile, const char *key)
{
  const char *value = rd_profile_find_fact (profile, key);
  return value ? value : "none";
}

/* The first scope begins at 10 ms of 110, its thread runs, and the process was
 * killed at the last of them, and had read its CPU time before. */
static void
the_cpu_time_of_a_killed_process_is_known_or_said_not_to_be (void **state)
{
#define LAST_READ(ms) "it was last read " ms " ms before the last event"
#define NEVER_READ "it was not read after the first scope began"
  static const struct {
    uint64_t read_at_us, cpu_ms;
    const char *cpu_ns, *least, *why;
  } cases[] = {
    { 110000, 70, "70000000", "none", "none" },
    { 100000, 70, "70000000", "none", "none" },
    { 100000, 50, "50000000", "none", "none" },
    { 100000, 49, "none", "49000000", LAST_READ ("10") },
    { 99900, 70, "none", "70000000", LAST_READ ("10.1") },
    { 10100, 70, "none", "70000000", LAST_READ ("99.9") },
    { 10000, 70, "none", "none", NEVER_READ },
    { 5000, 70, "none", "none", NEVER_READ },
  };
  (void) state;
  struct history h;
  history_start (&h, &with_ring);
  history_pass (&h, 10000000);
  uint64_t token = radio_scope_begin (&a);
  history_pass (&h, 90000000);
  history_leaf (&h, &b, 10000000);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
    RD_PROFILE_SCOPE struct radio_profile *profile = NULL;
    struct radio_recorder *killed;
    assert_ok (rd_snapshot_take (h.recorder, &copy));
    struct rd_image_header *header = (struct rd_image_header *) copy.at;
    struct rd_anchor *beat = &header->beats[0];
    beat->ticks = header->start.ticks + cases[i].read_at_us * 1000;
    beat->ns = header->start.ns + cases[i].read_at_us * 1000;
    beat->cpu_ns = header->start.cpu_ns + cases[i].cpu_ms * 1000000;
    assert_ok (rd_recover (copy.at, copy.nbytes, "copy", &killed));
    assert_ok (rd_collect (killed, &profile));
    assert_string_equal (fact_of (profile, "cpu ns"), cases[i].cpu_ns);
    assert_string_equal (fact_of (profile, "cpu at least ns"), cases[i].least);
    assert_string_equal (fact_of (profile, "cpu not known because"),
                         cases[i].why);
    rd_recorder_unref (killed);
  }
  radio_scope_end (token);
  history_freeze (&h);
  history_release (&h);
#undef LAST_READ
#undef NEVER_READ
}

static void *
open_and_wait (void *barrier)
{
  uint64_t token = radio_scope_begin (&a);
  pthread_barrier_wait (barrier);
  pthread_barrier_wait (barrier);
  radio_scope_end (token);
  return NULL;
}

/* Nor than all CPUs together have. */
static void
open_scopes_share_the_cpus (void **state)
{
  static const struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = 256 << 10
  };
  (void) state;
  for (uint64_t ncpus = 1; ncpus < 3; ncpus++) {
    struct history h, then = { .now = 0 };
    RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init (&barrier, NULL, 2);
    history_start (&h, &options);
    uint64_t token = radio_scope_begin (&a);
    assert_int_equal (pthread_create (&thread, NULL, open_and_wait, &barrier),
                      0);
    pthread_barrier_wait (&barrier);
    history_pass (&h, 1000);
    recover_used (&h, ncpus, 0, &copy, &then);
    for (size_t i = 0; i < 2; i++)
      assert_times (history_find (&then, i, "a"), 1000, 1000, 500 * ncpus,
                    1000 - 500 * ncpus);
    rd_recorder_unref (then.recorder);

    /* Nor can they have had more since it was read, here at the start. */
    history_leaf (&h, &b, 0);
    const struct rd_image_header *own = h.recorder->header;
    rd_copy_free (&copy);
    assert_ok (rd_copy_new ((size_t) own->nbytes, &copy));
    memcpy (copy.at, own, (size_t) own->nbytes);
    struct rd_image_header *header = (struct rd_image_header *) copy.at;
    header->origin.ncpus = ncpus;
    assert_ok (rd_recover (copy.at, copy.nbytes, "copy", &then.recorder));
    assert_int_equal (then.recorder->unread_cpu, 1000 * ncpus);
    rd_recorder_unref (then.recorder);
    pthread_barrier_wait (&barrier);
    pthread_join (thread, NULL);
    pthread_barrier_destroy (&barrier);
    radio_scope_end (token);
    history_freeze (&h);
    history_release (&h);
  }
}

/* Times up to the observation do not change, only the time since then. */
static void
cpu_time_that_was_observed_stays (void **state)
{
  (void) state;
  struct history h, then = { .now = 0 };
  RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
  history_start_starving (&h, &with_ring, 0);
  uint64_t token = radio_scope_begin (&a);
  history_work (&h, 100, 20);
  look (&h);
  h.recorder->synced.writers.at[0]->observed.state = RD_RUN_ON_CPU;
  history_pass (&h, 1000);
  recover_used (&h, 2, 30, &copy, &then);
  const struct rd_node *node = history_node (&then, "a");
  assert_times (node, 1120, 1120, 120, 1000);
  assert_int_equal (node->starved, 20);
  release (&h, &then, token);
}

/* A thread that never read its CPU clock has not run for longer than that. */
static void
a_thread_has_not_run_for_longer_than_since_it_began (void **state)
{
  (void) state;
  struct history h, then = { .now = 0 };
  RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
  history_start_starving (&h, &with_ring, 0);
  uint64_t token = radio_scope_begin (&a);
  history_work (&h, 100, 20);
  history_sleep (&h, 300);
  look (&h);
  h.recorder->synced.writers.at[0]->cpu.fresh_until = 0;
  recover_used (&h, 0, 0, &copy, &then);
  const struct rd_node *node = history_node (&then, "a");
  assert_times (node, 420, 420, 120, 300);
  assert_int_equal (node->starved, 20);
  release (&h, &then, token);
}

/* The image has what the process used: all of it in a snapshot, and for a
 * killed process what a quota withheld.  It may be damaged. */
static void
usage_is_that_of_the_image (void **state)
{
  static const struct {
    uint64_t written;
    const char *read;
  } cases[] = {
    { 0, NULL }, { 48000000, "48000000" },
    { UINT64_MAX, "9223372036854775807" },
  };
  (void) state;
  struct history h;
  history_start_starving (&h, &with_ring, 0);
  history_leaf (&h, &a, 10);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
    struct radio_recorder *killed;
    struct radio_profile *profile;
    assert_ok (rd_snapshot_take (h.recorder, &copy));
    struct rd_image_header *header = (struct rd_image_header *) copy.at;
    header->used.throttled_ns = cases[i].written;
    if (i == 2)
      memset (&header->used, 0xff, sizeof header->used);
    assert_ok (rd_recover (copy.at, copy.nbytes, "copy", &killed));
    assert_ok (rd_collect (killed, &profile));
    const char *fact = rd_profile_find_fact (profile, "throttled ns");
    assert_int_equal (fact != NULL, cases[i].read != NULL);
    if (fact)
      assert_string_equal (fact, cases[i].read);
    radio_profile_close (profile);
    rd_recorder_unref (killed);
  }
  history_freeze (&h);
  history_release (&h);
}

/* For this process, with its own clock. */
static void
a_snapshot_knows_what_the_process_and_the_machine_used (void **state)
{
  (void) state;
  static const char *const keys[] = {
    "bytes resident at most", "page faults", "bytes read from disks"
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct rusage before, after;
  assert_int_equal (getrusage (RUSAGE_SELF, &before), 0);
  assert_ok (radio_recorder_start (&with_ring, &recorder));
  uint64_t token = radio_scope_begin (&a);
  RD_CLEANUP (rd_copy_free) struct rd_copy touched = { NULL, 0 };
  assert_ok (rd_copy_new (1 << 20, &touched));
  memset (touched.at, 1, touched.nbytes);
  radio_scope_end (token);
  assert_ok (radio_recorder_snapshot (recorder, &profile));
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    assert_non_null (rd_profile_find_fact (profile, keys[i]));
  assert_int_equal (getrusage (RUSAGE_SELF, &after), 0);
  assert_in_range (rd_profile_number (profile, "page faults"), 1,
                   after.ru_minflt - before.ru_minflt);
  radio_profile_close (profile);
  assert_ok (radio_recorder_stop (recorder, NULL));
}

/* Real threads that share one CPU, and never sleep: a snapshot takes that CPU,
 * too. */
enum { NSHARING = 3 };

struct sharing {
  atomic_int nbegun;
  atomic_bool ends;
};

static void *
spin_in_a_scope (void *arg)
{
  struct sharing *sharing = arg;
  uint64_t token = radio_scope_begin (&a);
  atomic_fetch_add (&sharing->nbegun, 1);
  while (!atomic_load (&sharing->ends))
    ;
  radio_scope_end (token);
  return NULL;
}

static uint64_t
process_cpu_ns (void)
{
  struct timespec t;
  assert_int_equal (clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t), 0);
  return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static void
share_one_cpu (void)
{
  static const struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = 256 << 10
  };
  const struct timespec pause = { 0, 5000000 };
  struct sharing sharing = { 0 };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  struct radio_profile_info info;
  pthread_t threads[NSHARING];
  assert_ok (radio_recorder_start (&options, &recorder));
  for (int i = 0; i < NSHARING; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, spin_in_a_scope,
                                      &sharing), 0);
  while (atomic_load (&sharing.nbegun) < NSHARING)
    nanosleep (&pause, NULL);
  uint64_t begin_ns = process_cpu_ns ();
  while (process_cpu_ns () - begin_ns < 100000000)
    nanosleep (&pause, NULL);
  uint64_t least_ns = (process_cpu_ns () - begin_ns) / 2;
  assert_ok (radio_recorder_snapshot (recorder, &profile));
  uint64_t most_ns = process_cpu_ns ();
  radio_profile_get_info (profile, &info);
  radio_profile_close (profile);
  atomic_store (&sharing.ends, true);
  for (int i = 0; i < NSHARING; i++)
    pthread_join (threads[i], NULL);
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_true (info.starved_ns > 0);
  assert_in_range (info.work_ns - info.starved_ns, least_ns, most_ns);
}

static void
threads_that_share_a_cpu_do_so_in_a_snapshot (void **state)
{
  (void) state;
  cpu_set_t before, one;
  int cpu = 0;
  if (access ("/proc/thread-self/schedstat", R_OK) != 0
      || sched_getaffinity (0, sizeof before, &before) != 0)
    skip ();
  while (!CPU_ISSET (cpu, &before))
    cpu++;
  CPU_ZERO (&one);
  CPU_SET (cpu, &one);
  if (sched_setaffinity (0, sizeof one, &one) != 0)
    skip ();
  share_one_cpu ();
  assert_int_equal (sched_setaffinity (0, sizeof before, &before), 0);
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
  assert_int_equal (account.state, RD_RUN_SLEEPS);
  assert_int_equal (account.cpu_ns, cpu.tv_sec * 1000000000 + cpu.tv_nsec);
  rd_recorder_freeze (recorder);
  pthread_barrier_wait (&sleeper.end);
  pthread_join (thread, NULL);
  pthread_barrier_destroy (&sleeper.end);
  rd_recorder_release (recorder);
}

static void
the_state_of_a_thread_is_not_its_name (void **state)
{
  static const struct {
    const char *text;
    char state;
    uint64_t nsleeps;
  } cases[] = {
    { "Name:\tradio\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t7\n"
      "nonvoluntary_ctxt_switches:\t9\n", 'S', 7 },
    { "Name:\tState:\tR\nState:\tD (disk sleep)\n"
      "nonvoluntary_ctxt_switches:\t9\n"
      "voluntary_ctxt_switches:\t18446744073709551615\n", 'D', UINT64_MAX },
    { "Name:\tradio\nState:\tR (running)\nvoluntary_ctxt_switches:\t0\n",
      'R', 0 },
    { "State:\tR (running)\nvoluntary_ctxt_switches:\t0\n", 0, 0 },
    { "Name:\ta\nState:\tR\nvoluntary_ctxt_switches:\t", 0, 0 },
    { "Name:\ta\nState:\tR\nvoluntary_ctxt_switches:\t12", 0, 0 },
    { "Name:\ta\nState:\tR\n"
      "voluntary_ctxt_switches:\t18446744073709551616\n", 0, 0 },
    { "Name:\ta\nState:\tR\nvoluntary_ctxt_switches:\t-1\n", 0, 0 },
    { "Name:\ta\nState:\t", 0, 0 }, { "", 0, 0 },
  };
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char found = 0;
    uint64_t nsleeps = 0;
    bool is_known = rd_run_queue_parse_status (cases[i].text, &found,
                                               &nsleeps);
    assert_int_equal (is_known, cases[i].state != 0);
    if (is_known) {
      assert_int_equal (found, cases[i].state);
      assert_int_equal (nsleeps, cases[i].nsleeps);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sleep_is_no_work_when_another_thread_stops),
    cmocka_unit_test (sleep_is_no_work_in_a_snapshot),
    cmocka_unit_test (a_snapshot_leaves_its_moment_in_the_image_that_is_live),
    cmocka_unit_test (a_wait_for_a_cpu_is_no_sleep_when_another_thread_stops),
    cmocka_unit_test (sleep_before_a_wait_for_a_cpu_is_known),
    cmocka_unit_test (open_scopes_have_no_more_cpu_time_than_the_process),
    cmocka_unit_test (
      the_cpu_time_of_a_killed_process_is_known_or_said_not_to_be),
    cmocka_unit_test (open_scopes_share_the_cpus),
    cmocka_unit_test (cpu_time_that_was_observed_stays),
    cmocka_unit_test (a_thread_has_not_run_for_longer_than_since_it_began),
    cmocka_unit_test (usage_is_that_of_the_image),
    cmocka_unit_test (a_snapshot_knows_what_the_process_and_the_machine_used),
    cmocka_unit_test (a_killed_thread_is_not_taken_to_have_run),
    cmocka_unit_test (threads_that_share_a_cpu_do_so_in_a_snapshot),
    cmocka_unit_test (the_account_of_a_sleeping_thread_is_read_by_another),
    cmocka_unit_test (the_state_of_a_thread_is_not_its_name),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
