/* SPDX-License-Identifier: MIT */
/* Processes that die, in several ways, and the profiles of their rings. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/counters.h"
#include "profiler/model/profile.h"
#include "tests/profiler/record/dying.h"
#include "tests/profiler/record/history.h"

SITE (outer, RADIO_SCOPE_WORK);
SITE (step, RADIO_SCOPE_WORK);
SITE (plain, RADIO_SCOPE_WORK);
SITE (counted, RADIO_SCOPE_WORK);
SITE (noted, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);
SITE (received, RADIO_SCOPE_WORK);
SITE (brief, RADIO_SCOPE_WORK);

static const struct radio_counter bytes = { "bytes", "bytes" };
static const struct radio_counter rows = { "rows", "count" };
static const struct rd_counter_set set = {
  .counters = { &rows, &bytes }, .text_key = "name",
};
static const struct rd_counter_set other_set = {
  .counters = { &rows }, .text_key = "name",
};

const char *const dying_names[DYING_NSITES] = {
  "step", "plain", "counted", "noted", "waits", "blocks", "received",
  "brief"
};
struct dying_progress *dying_progress;
char dying_path[64];

/*------------------------------------------------------------------------
 * The process that dies
 *----------------------------------------------------------------------*/

static struct radio_handoff handoff;

static void
ended (size_t thread, size_t site)
{
  _Atomic uint64_t *n = &dying_progress->ended[thread][site];
  atomic_store_explicit (n, atomic_load_explicit (n, memory_order_relaxed) + 1,
                         memory_order_relaxed);
}

static void
end_counted (const struct rd_counter_set *counters, const char *text)
{
  const struct rd_counting counting = {
    .token = radio_scope_begin (&counted), .set = counters,
    .amounts = { 1, counters == &set ? 10 : 0 }, .text = text,
  };
  rd_scope_end_counting (&counting);
}

void
dying_work (size_t thread, uint64_t i)
{
  char text[24];
  uint64_t token = radio_scope_begin (&step);
  for (int j = 0; j < 5; j++) {
    radio_scope_end (radio_scope_begin (&plain));
    ended (thread, DYING_PLAIN);
  }
  snprintf (text, sizeof text, "%llu", (unsigned long long) (i / 4));
  end_counted (i % 2 ? &set : &other_set, i % 3 ? text : NULL);
  ended (thread, DYING_COUNTED);
  uint64_t inner = radio_scope_begin (&noted);
  radio_scope_text ("key", text, RADIO_TEXT_PLAIN);
  radio_scope_add (&bytes, 7);
  radio_scope_end (inner);
  ended (thread, DYING_NOTED);
  radio_scope_end (radio_scope_begin (&waits));
  ended (thread, DYING_WAITS);
  radio_scope_end (radio_scope_begin (&blocks));
  ended (thread, DYING_BLOCKS);
  radio_scope_end (token);
  ended (thread, DYING_STEP);
  radio_scope_end (radio_scope_receive (&handoff, &received));
  ended (thread, DYING_RECEIVED);
}

static enum dying_death death;
static useconds_t delay_us;

static void *
run_thread (void *arg)
{
  size_t thread = (size_t) (uintptr_t) arg;
  uint64_t token = thread == 0 ? radio_scope_begin (&outer) : 0;
  if (thread == 0)
    radio_handoff_give (&handoff);
  atomic_fetch_add (&dying_progress->started, 1);
  while (atomic_load (&dying_progress->started) < DYING_NTHREADS)
    sched_yield ();
  for (uint64_t i = 0; death != DYING_RESTING || i < 1000; i++)
    dying_work (thread, i);
  atomic_fetch_add (&dying_progress->rested, 1);
  for (;;)
    pause ();
  radio_scope_end (token);
  return NULL;
}

static void *
run_briefly (void *arg)
{
  (void) arg;
  radio_thread_name ("brief");
  for (int i = 0; i < 100; i++) {
    radio_scope_end (radio_scope_begin (&brief));
    ended (0, DYING_BRIEF);
  }
  return NULL;
}

/* Threads that come and go, one at a time. */
static void *
start_brief_threads (void *arg)
{
  pthread_t thread;
  (void) arg;
  while (atomic_load (&dying_progress->started) < DYING_NTHREADS)
    sched_yield ();
  for (uint64_t i = 0; death != DYING_RESTING || i < 300; i++)
    if (pthread_create (&thread, NULL, run_briefly, NULL) == 0)
      pthread_join (thread, NULL);
  atomic_fetch_add (&dying_progress->rested, 1);
  return NULL;
}

static void *
end_process (void *arg)
{
  (void) arg;
  while (atomic_load (&dying_progress->started) < DYING_NTHREADS)
    sched_yield ();
  usleep (delay_us);
  while (death == DYING_RESTING
         && atomic_load (&dying_progress->rested) < DYING_NTHREADS + 1)
    usleep (1000);
  switch (death) {
  case DYING_RESTING:
  case DYING_KILLED: kill (getpid (), SIGKILL); break;
  case DYING_SEGV: kill (getpid (), SIGSEGV); break;
  case DYING_TERM: kill (getpid (), SIGTERM); break;
  case DYING_EXIT: _exit (3);
  default: quick_exit (3);
  }
  for (;;)
    pause ();
}

static _Noreturn void
run_process (void)
{
  struct radio_recorder *recorder;
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = DYING_RING_NBYTES,
    .ring_file = dying_path,
    .title = "to die",
  };
  static const struct rlimit none = { 0, 0 };
  pthread_t threads[DYING_NTHREADS + 2];
  setrlimit (RLIMIT_CORE, &none);
  if (radio_recorder_start (&options, &recorder) != RADIO_OK
      || radio_recorder_fact (recorder, "fact", "value", RADIO_TEXT_PLAIN)
         != RADIO_OK)
    _exit (9);
  /* Sanitizers' handlers, which report and exit in their own way. */
  signal (SIGSEGV, SIG_DFL);
  signal (SIGTERM, SIG_DFL);
  for (size_t i = 0; i < DYING_NTHREADS; i++)
    pthread_create (&threads[i], NULL, run_thread, (void *) (uintptr_t) i);
  pthread_create (&threads[DYING_NTHREADS], NULL, start_brief_threads, NULL);
  pthread_create (&threads[DYING_NTHREADS + 1], NULL, end_process, NULL);
  for (;;)
    pause ();
}

/*------------------------------------------------------------------------
 * Remains of the process
 *----------------------------------------------------------------------*/

void
dying_die (enum dying_death way, useconds_t after_us)
{
  int status;
  memset (dying_progress, 0, sizeof *dying_progress);
  death = way;
  delay_us = after_us;
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0)
    run_process ();
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_false (WIFEXITED (status) && WEXITSTATUS (status) == 9);
}

struct radio_profile_node
dying_sum_of (const struct radio_profile *profile, const char *name)
{
  struct radio_profile_node sum = { .name = name };
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    if (strcmp (node->name, name) != 0)
      continue;
    uint64_t histogram = 0;
    for (size_t j = 0; j < RADIO_HISTOGRAM_BUCKETS; j++)
      histogram += node->histogram[j];
    assert_int_equal (histogram, node->calls);
    assert_true (node->self_ns <= node->total_ns);
    assert_true (node->max_ns <= node->total_ns);
    assert_true (node->wait_ns + node->work_ns <= node->total_ns);
    sum.calls += node->calls;
    sum.total_ns += node->total_ns;
    sum.wait_ns += node->wait_ns;
    sum.starved_ns += node->starved_ns;
    sum.open_count += node->open_count;
    sum.dropped_count += node->dropped_count;
  }
  return sum;
}

uint64_t
dying_counter_of (const struct radio_profile *profile, const char *name,
            const char *counter)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (strcmp (profile->nodes.at[i].name, name) == 0)
      sum += radio_profile_counter (profile, i, counter, false);
  return sum;
}

void
dying_check (const struct radio_profile *profile)
{
  uint64_t logged = 0, dropped = 0, calls = 0;
  for (size_t i = 0; i < DYING_NSITES; i++) {
    struct radio_profile_node node = dying_sum_of (profile, dying_names[i]);
    uint64_t sure = 0;
    for (size_t t = 0; t < DYING_NTHREADS; t++)
      sure += atomic_load (&dying_progress->ended[t][i]);
    assert_true (node.open_count <= DYING_NTHREADS);
    assert_in_range (node.calls - node.open_count, sure, sure + DYING_NTHREADS);
    calls += node.calls;
    dropped += node.dropped_count;
  }
  assert_int_equal (dying_sum_of (profile, "outer").calls, 1);
  assert_int_equal (dying_sum_of (profile, "outer").open_count, 1);
  logged = profile->spans.n;
  assert_int_equal (logged + dropped, calls + 1);

  uint64_t n = dying_sum_of (profile, "counted").calls;
  uint64_t nrows = dying_counter_of (profile, "counted", "rows");
  uint64_t nbytes = dying_counter_of (profile, "counted", "bytes");
  assert_in_range (nrows + DYING_NTHREADS, n, n + 2 * DYING_NTHREADS);
  assert_in_range (nbytes / 10 + 2 * DYING_NTHREADS, n / 2,
                   n / 2 + 4 * DYING_NTHREADS);
  n = dying_sum_of (profile, "noted").calls;
  nbytes = dying_counter_of (profile, "noted", "bytes");
  assert_in_range (nbytes / 7 + DYING_NTHREADS, n, n + 2 * DYING_NTHREADS);

  /* Spans are their threads'. */
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    bool is_brief = strcmp (profile->nodes.at[span->node].name, "brief") == 0;
    bool is_named = strncmp (profile->lanes.at[span->lane].name, "brief", 5)
                    == 0;
    assert_int_equal (is_brief, is_named);
  }

  assert_null (rd_profile_find_fact (profile, RD_FACT_DAMAGE));
  assert_string_equal (rd_profile_find_fact (profile, "fact"), "value");
  assert_true ((rd_profile_find_fact (profile, RD_FACT_CPU_NS) != NULL)
               == (rd_profile_find_fact (profile, RD_FACT_CPU_UNKNOWN)
                   == NULL));
  assert_string_equal (profile->info.title, "to die");
  assert_string_equal (rd_profile_find_fact (profile, RD_FACT_RECOVERED),
                       "a process that ended");
}

void
dying_begin (void)
{
  dying_progress = mmap (NULL, sizeof *dying_progress, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  snprintf (dying_path, sizeof dying_path, "/dev/shm/radio-test-%d",
            (int) getpid ());
}

/* A test that fails leaves its files. */
int
dying_end (int nfailed)
{
  char old[sizeof dying_path + 8];
  snprintf (old, sizeof old, "%s.old", dying_path);
  unlink (dying_path);
  unlink (old);
  return nfailed;
}
