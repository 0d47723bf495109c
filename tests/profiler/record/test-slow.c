/* SPDX-License-Identifier: MIT */
/* Slow runs: which ones give a profile, what is in it, and what becomes of
 * those beyond the limit. */
#include <config.h>

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/model/profile.h"
#include "profiler/record/collect.h"
#include "profiler/record/recorder.h"
#include "profiler/record/slow.h"
#include "tests/profiler/record/history.h"

#define US UINT64_C (1000)
#define MS UINT64_C (1000000)
#define S UINT64_C (1000000000)

/* A ring of 8,192 spans, and more than it holds. */
#define SMALL_RING_NBYTES (256 << 10)
#define SMALL_RING_SPANS 20000

SITE (serve, RADIO_SCOPE_WORK);
static const struct radio_site read_site = {
  "read", "test", "", "", 0, RADIO_SCOPE_WORK
};
SITE (fetch, RADIO_SCOPE_WAIT);
SITE (decode, RADIO_SCOPE_WORK);
SITE (fast, RADIO_SCOPE_WORK);
SITE (GET, RADIO_SCOPE_WORK);
SITE (first_byte, RADIO_SCOPE_WORK);
SITE (blocks, RADIO_SCOPE_BLOCKING);

static const struct radio_counter bytes = { "bytes", "bytes" };

/* The profiles that were reported; kept by way of a file, since they are the
 * recorder's. */
static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct radio_profile *at[64];
  size_t n;                   /* those beyond are only counted */
  bool is_held;               /* the thread waits in the callback */
  bool failed;
} got = {
  .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER
};

static void
keep (const struct radio_profile *profile, void *user_data)
{
  char path[64];
  (void) user_data;
  pthread_mutex_lock (&got.mutex);
  snprintf (path, sizeof path, "test-slow-%d.json", (int) getpid ());
  if (got.n < sizeof got.at / sizeof got.at[0])
    got.failed |= radio_profile_write (profile, path, NULL) != RADIO_OK
                  || radio_profile_read (path, &got.at[got.n]) != RADIO_OK;
  unlink (path);
  got.n++;
  pthread_cond_broadcast (&got.changed);
  while (got.is_held)
    pthread_cond_wait (&got.changed, &got.mutex);
  pthread_mutex_unlock (&got.mutex);
}

static void
wait_for (size_t n)
{
  pthread_mutex_lock (&got.mutex);
  while (got.n < n)
    pthread_cond_wait (&got.changed, &got.mutex);
  pthread_mutex_unlock (&got.mutex);
}

static void
hold (bool is_held)
{
  pthread_mutex_lock (&got.mutex);
  got.is_held = is_held;
  pthread_cond_broadcast (&got.changed);
  pthread_mutex_unlock (&got.mutex);
}

static void
forget (void)
{
  assert_false (got.failed);
  for (size_t i = 0; i < got.n && i < sizeof got.at / sizeof got.at[0]; i++)
    radio_profile_close (got.at[i]);
  got.n = 0;
}

/* Starts a recorder with a clock that the test advances. */
static void
start_ring (struct history *h, const char *triggers, unsigned per_minute,
            uint64_t ring_nbytes)
{
  const struct radio_slow_options slow = {
    .triggers = triggers, .report = keep, .per_minute = per_minute,
  };
  const struct radio_recorder_options options = {
    .ring_nbytes = ring_nbytes, .slow = &slow,
  };
  history_start (h, &options);
}

static void
start (struct history *h, const char *triggers, unsigned per_minute)
{
  start_ring (h, triggers, per_minute, 4 << 20);
}

/* Stops, and returns the recorder's own profile. */
static struct radio_profile *
stop (struct history *h)
{
  struct radio_profile *profile;
  history_freeze (h);
  assert_ok (rd_collect (h->recorder, &profile));
  history_release (h);
  return profile;
}

static void
assert_fact (const struct radio_profile *profile, const char *key,
             const char *value)
{
  const char *found = rd_profile_find_fact (profile, key);
  if (!value)
    assert_null (found);
  else {
    assert_non_null (found);
    assert_string_equal (found, value);
  }
}

static uint64_t
number_of (const struct radio_profile *profile, const char *key)
{
  const char *value = rd_profile_find_fact (profile, key);
  return value ? strtoull (value, NULL, 10) : 0;
}

static const struct radio_finding *
find_finding (const struct radio_profile *profile, const char *id)
{
  for (size_t i = 0; i < profile->findings.n; i++)
    if (strcmp (profile->findings.at[i].id, id) == 0)
      return &profile->findings.at[i];
  return NULL;
}

static size_t
find_node (const struct radio_profile *profile, const char *name)
{
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (strcmp (profile->nodes.at[i].name, name) == 0)
      return i;
  fail_msg ("no node '%s'", name);
  return 0;
}

static void
assert_node (const struct radio_profile *profile, const char *name,
             uint64_t calls, uint64_t total_ns, uint64_t self_ns)
{
  const struct radio_profile_node *node
    = &profile->nodes.at[find_node (profile, name)];
  assert_int_equal (node->calls, calls);
  assert_int_equal (node->total_ns, total_ns);
  assert_int_equal (node->self_ns, self_ns);
}

/* A read that fetches 7 ms, is sent as a request for the last 4 of these, and
 * hands a part of 3 ms on. */
static void
record_read (struct history *h, const char *key, uint64_t scale)
{
  uint64_t token = radio_scope_begin (&read_site);
  struct radio_handoff handoff;
  radio_scope_text ("volume", key, RADIO_TEXT_NAME);
  radio_handoff_give (&handoff);
  uint64_t inner = radio_scope_begin (&fetch);
  radio_scope_add (&bytes, 100 * scale);
  history_pass (h, 3 * scale);
  struct radio_async *request = radio_async_begin (&GET);
  radio_async_text (request, "key", key, RADIO_TEXT_NAME);
  radio_async_phase (request, &first_byte);
  history_pass (h, 4 * scale);
  radio_async_end (request);
  radio_scope_end (inner);
  inner = radio_scope_receive (&handoff, &decode);
  history_pass (h, 3 * scale);
  radio_scope_end (inner);
  radio_handoff_release (&handoff);
  radio_scope_end (token);
}

static void
one_slow_run_of_many_gives_one_profile (void **state)
{
  struct history h;
  bool varies;
  (void) state;
  start (&h, "read > 50ms", 0);
  uint64_t token = radio_scope_begin (&serve);
  for (int i = 0; i < 100; i++)
    record_read (&h, i == 57 ? "the slow one" : "another",
                 i == 57 ? 10 * MS : 5 * MS);
  radio_scope_end (token);
  struct radio_profile *profile = stop (&h);
  assert_int_equal (got.n, 1);
  const struct radio_profile *run = got.at[0];
  assert_node (run, "read", 1, 100 * MS, 0);
  assert_node (run, "fetch", 1, 70 * MS, 30 * MS);
  assert_node (run, "decode", 1, 30 * MS, 30 * MS);
  assert_node (run, "GET", 1, 40 * MS, 0);
  assert_node (run, "first_byte", 1, 40 * MS, 40 * MS);
  assert_int_equal (run->nodes.n, 5);
  assert_int_equal (run->spans.n, 5);
  assert_int_equal (run->info.wall_ns, 100 * MS);
  assert_int_equal (run->info.wait_ns, 70 * MS);
  assert_int_equal (run->info.work_ns, 30 * MS);
  assert_int_equal (run->nodes.at[find_node (run, "decode")].edge,
                    RADIO_EDGE_HANDOFF);
  assert_int_equal (radio_profile_counter (run, find_node (run, "fetch"),
                                           "bytes", false), 1000 * MS);
  assert_string_equal (rd_profile_node_note (run, find_node (run, "GET"),
                                             "key", &varies),
                       "the slow one");
  assert_fact (run, RD_FACT_SLOW_TRIGGER, "read > 50 ms");
  assert_fact (run, RD_FACT_SLOW_PATH, "serve / read");
  assert_fact (run, RD_FACT_SLOW_BEGIN, "2850000000");
  assert_non_null (find_finding (run, "slow-run"));

  /* A run of exactly the limit is not slow. */
  assert_fact (profile, RD_FACT_SLOW_WRITTEN, "1");
  assert_fact (profile, RD_FACT_SLOW_DROPPED, NULL);
  assert_fact (profile, RD_FACT_SLOW_UNKNOWN, NULL);
  assert_node (profile, "read", 100, 99 * 50 * MS + 100 * MS, 0);
  radio_profile_close (profile);
  forget ();
}

static void
all_sites_and_paths_of_a_name_are_watched (void **state)
{
  static const struct radio_site other = {
    "read", "elsewhere", "", "", 7, RADIO_SCOPE_BLOCKING
  };
  struct history h;
  (void) state;
  start (&h, "fast>1s,read>1ms", 0);
  history_leaf (&h, &read_site, 2 * MS);
  history_leaf (&h, &other, 2 * MS);
  history_leaf (&h, &fast, 900 * MS);
  uint64_t token = radio_scope_begin (&serve);
  for (int i = 0; i < 4; i++) {
    history_leaf (&h, &read_site, i % 2 ? 2 * MS : 1);
    history_leaf (&h, &fast, 1);
  }
  radio_scope_end (token);
  radio_profile_close (stop (&h));
  assert_int_equal (got.n, 4);
  assert_string_equal (got.at[1]->nodes.at[0].category, "elsewhere");
  forget ();
}

static void
requests_are_watched_and_open_scopes_are_not (void **state)
{
  struct history h;
  (void) state;
  start (&h, "GET>10ms,first_byte>10ms,serve>10ms", 0);
  uint64_t token = radio_scope_begin (&serve);
  struct radio_async *request = radio_async_begin (&GET);
  history_pass (&h, 5 * MS);
  radio_async_phase (request, &first_byte);
  history_pass (&h, 8 * MS);
  radio_async_end (request);
  request = radio_async_begin (&GET);
  history_pass (&h, 20 * MS);

  /* Left by the recorder, and by the scope around it. */
  (void) radio_scope_begin (&serve);
  history_pass (&h, 20 * MS);
  radio_scope_end (token);
  (void) radio_scope_begin (&serve);
  history_pass (&h, 20 * MS);
  radio_profile_close (stop (&h));
  radio_async_end (request);
  assert_int_equal (got.n, 2);
  assert_node (got.at[0], "GET", 1, 13 * MS, 5 * MS);
  assert_node (got.at[0], "first_byte", 1, 8 * MS, 8 * MS);
  assert_int_equal (got.at[1]->nodes.at[0].total_ns, 53 * MS);
  forget ();
}

/* Among 100,000 runs as tiny as these, only those of 640 ns are logged. */
static void
a_slow_run_of_a_tiny_scope_is_one (void **state)
{
  struct history h;
  (void) state;
  start (&h, "fast>300ns", 0);
  for (int i = 0; i < 300000; i++)
    history_leaf (&h, &fast, 10);
  history_leaf (&h, &fast, 400);
  radio_profile_close (stop (&h));
  assert_int_equal (got.n, 1);
  assert_int_equal (got.at[0]->nodes.at[0].total_ns, 400);
  forget ();
}

static void
a_trigger_may_be_of_cpu_time (void **state)
{
  static const struct {
    uint64_t ns, cpu_ns;
    const char *trigger, *cpu;
  } cases[] = {
    { 40 * MS, 5 * MS, NULL, NULL },
    { 40 * MS, 6 * MS, "decode > 5 ms cpu", "6000000" },
    { 4 * MS, 6 * MS, NULL, NULL },     /* impossible, so it is not read */
    { 101 * MS, 1 * MS, "decode > 100 ms", "1000000" },
    { 101 * MS, 50 * MS, "decode > 100 ms", "50000000" },
  };
  struct history h;
  size_t n = 0;
  (void) state;
  start (&h, "decode>5ms cpu, decode>100ms wall", 0);
  history_leaf (&h, &fast, 40 * MS);
  uint64_t nreads = atomic_load (&h.ncpu_reads);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t token = radio_scope_begin (&decode);
    history_leaf (&h, &fast, cases[i].ns);
    atomic_fetch_add (&h.cpu_ns, cases[i].cpu_ns);
    radio_scope_end (token);
    n += cases[i].trigger != NULL;
  }
  assert_int_equal (atomic_load (&h.ncpu_reads) - nreads, 5 + 4);
  radio_profile_close (stop (&h));
  assert_int_equal (got.n, n);
  for (size_t i = 0, k = 0; k < n; i++) {
    if (!cases[i].trigger)
      continue;
    assert_fact (got.at[k], RD_FACT_SLOW_TRIGGER, cases[i].trigger);
    assert_fact (got.at[k++], RD_FACT_SLOW_CPU, cases[i].cpu);
  }
  forget ();
}

static void
a_star_stands_for_the_rest_of_a_name (void **state)
{
  static const struct {
    const char *triggers;
    bool is_slow;
  } cases[] = {
    { "decode*>5ms", true }, { "de*>5ms", true }, { "*>5ms", true },
    { "decode x*>5ms", false }, { "*decode>5ms", false },
    { "de*>5ms, decode>50ms", false }, /* its own name comes first */
    { "dx*>5ms, de*>50ms, d*>5ms", false },
  };
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct history h;
    start (&h, cases[i].triggers, 0);
    history_leaf (&h, &decode, 10 * MS);
    radio_profile_close (stop (&h));
    assert_int_equal (got.n, cases[i].is_slow);
    forget ();
  }
}

/*------------------------------------------------------------------------
 * Limits
 *----------------------------------------------------------------------*/

static void
at_most_so_many_a_minute_are_written (void **state)
{
  struct history h;
  (void) state;
  start (&h, "read>100us", 5);
  for (int i = 0; i < 10000; i++)
    history_leaf (&h, &read_site, MS);
  wait_for (5);
  /* The five ended at 1 to 5 ms: one more may be written at 60,001 ms, and so
   * on. */
  history_pass (&h, 60 * S - 10000 * MS);
  for (int i = 0; i < 100; i++)
    history_leaf (&h, &read_site, 200 * US);
  struct radio_profile *profile = stop (&h);
  assert_int_equal (got.n, 10);
  assert_fact (profile, RD_FACT_SLOW_WRITTEN, "10");
  assert_fact (profile, RD_FACT_SLOW_DROPPED, "10090");
  const struct radio_finding *finding = find_finding (profile, "slow-runs");
  assert_non_null (finding);
  assert_int_equal (finding->weight, RADIO_FINDING_HINT);
  assert_non_null (strstr (finding->evidence, "have none"));
  assert_in_range (number_of (got.at[5], RD_FACT_SLOW_DROPPED), 9995, 10090);
  assert_node (profile, "read", 10100, 10000 * MS + 20 * MS,
               10000 * MS + 20 * MS);
  radio_profile_close (profile);
  forget ();
}

static void
a_trigger_leaves_the_others_their_quotas (void **state)
{
  struct history h;
  (void) state;
  start (&h, "serve>50ms, read>1ms", 4);
  for (int i = 0; i < 100; i++)
    history_leaf (&h, &read_site, 2 * MS);
  wait_for (2);
  for (int i = 0; i < 3; i++)
    history_leaf (&h, &serve, 60 * MS);
  radio_profile_close (stop (&h));
  assert_int_equal (got.n, 4);
  for (size_t i = 0; i < 4; i++)
    assert_fact (got.at[i], RD_FACT_SLOW_TRIGGER,
                 i < 2 ? "read > 1 ms" : "serve > 50 ms");
  assert_in_range (number_of (got.at[3], RD_FACT_SLOW_DROPPED), 98, 99);
  forget ();
}

static void
a_run_that_left_the_ring_is_counted (void **state)
{
  struct history h;
  (void) state;
  start_ring (&h, "read>1ms", 0, SMALL_RING_NBYTES);
  hold (true);
  history_leaf (&h, &read_site, 2 * MS);
  wait_for (1);
  history_leaf (&h, &read_site, 2 * MS);
  for (int i = 0; i < SMALL_RING_SPANS; i++)
    history_leaf (&h, &fast, 100);
  history_leaf (&h, &read_site, 2 * MS);
  hold (false);
  struct radio_profile *profile = stop (&h);
  assert_int_equal (got.n, 2);
  assert_fact (profile, RD_FACT_SLOW_WRITTEN, "2");
  assert_fact (profile, RD_FACT_SLOW_DROPPED, "1");
  radio_profile_close (profile);
  forget ();
}

static void
a_part_that_left_the_ring_is_reported (void **state)
{
  struct history h;
  (void) state;
  start_ring (&h, "serve>1ms", 0, SMALL_RING_NBYTES);
  uint64_t token = radio_scope_begin (&serve);
  for (int i = 0; i < SMALL_RING_SPANS; i++)
    history_leaf (&h, &fast, 100);
  radio_scope_end (token);
  radio_profile_close (stop (&h));
  assert_int_equal (got.n, 1);
  const struct radio_profile *run = got.at[0];
  const struct radio_profile_node *node
    = &run->nodes.at[find_node (run, "fast")];
  assert_in_range (node->calls, 3750, 8192);
  assert_int_equal (run->nodes.at[0].self_ns, 2 * MS - node->total_ns);
  assert_non_null (strstr (find_finding (run, "slow-run")->evidence,
                           "had left the ring"));
  forget ();
}

/* The copy is refused, as a ring of another version is. */
static void
the_error_for_which_runs_have_no_profile_is_reported (void **state)
{
  struct history h;
  (void) state;
  start (&h, "read>1ms", 0);
  h.recorder->header->version[0] = 'x';
  history_leaf (&h, &read_site, 2 * MS);
  struct radio_profile *profile = stop (&h);
  assert_int_equal (got.n, 0);
  assert_fact (profile, RD_FACT_SLOW_DROPPED, "1");
  assert_non_null (strstr (find_finding (profile, "slow-runs")->evidence,
                           "or it failed: snapshot: this ring is of another "
                           "version"));
  radio_profile_close (profile);
  forget ();
}

static void
a_name_that_no_scope_has_is_reported (void **state)
{
  struct history h;
  (void) state;
  start (&h, "raed>1ms, read>1ms,first byte>2s", 0);
  history_leaf (&h, &read_site, 1);
  struct radio_profile *profile = stop (&h);
  assert_fact (profile, RD_FACT_SLOW_UNKNOWN, "raed, first byte");
  assert_non_null (strstr (find_finding (profile, "unused-triggers")->evidence,
                           "has such a name: raed, first byte; use"));
  radio_profile_close (profile);
  forget ();
}

static void
snapshots_have_the_counts (void **state)
{
  struct history h;
  struct radio_profile *profile;
  (void) state;
  start (&h, "read>1ms,raed>1s", 1);
  history_leaf (&h, &read_site, 2 * MS);
  wait_for (1);
  history_leaf (&h, &read_site, 2 * MS);
  assert_ok (radio_recorder_snapshot (h.recorder, &profile));
  assert_fact (profile, RD_FACT_SLOW_DROPPED, "1");
  assert_fact (profile, RD_FACT_SLOW_UNKNOWN, "raed");
  radio_profile_close (profile);
  radio_profile_close (stop (&h));
  forget ();
}

/*------------------------------------------------------------------------
 * Options
 *----------------------------------------------------------------------*/

static void
assert_refused (const struct radio_recorder_options *options,
                const char *part)
{
  struct radio_recorder *recorder;
  assert_fails (radio_recorder_start (options, &recorder),
                RADIO_ERROR_ARGUMENT, part);
  assert_null (recorder);
  assert_false (radio_profile_is_on ());
}

static void
bad_options_are_refused (void **state)
{
  struct radio_slow_options slow = { .report = keep };
  struct radio_recorder_options options = { .slow = &slow };
  (void) state;
  assert_refused (&options, "set ring_nbytes");
  options.ring_nbytes = 65536;
  assert_refused (&options, "triggers is NULL");
  slow.triggers = "read>50ms";
  slow.per_minute = 1001;
  assert_refused (&options, "use 1 to 1000, or 0 for 10");
  slow.per_minute = 0;
  slow.reserved[5] = 1;
  assert_refused (&options, "reserved[5]");
  slow.reserved[5] = 0;
  slow.report = NULL;
  assert_refused (&options, "report is NULL");
  slow.report = keep;
  slow.triggers = "read>50";
  assert_refused (&options, "radio_slow_options: triggers: \"read>50\" at "
                  "character 8: no unit (ns, us, ms or s); write NAME>TIME");
}

static struct radio_recorder *stopped;
static enum radio_status stop_status;

static void
stop_it (const struct radio_profile *profile, void *user_data)
{
  (void) profile;
  (void) user_data;
  pthread_mutex_lock (&got.mutex);
  stop_status = radio_recorder_stop (stopped, NULL);
  got.n++;
  pthread_cond_broadcast (&got.changed);
  pthread_mutex_unlock (&got.mutex);
}

static void
the_callback_cannot_stop_the_recorder (void **state)
{
  const struct radio_slow_options slow = {
    .triggers = "read>1ns", .report = stop_it,
  };
  const struct radio_recorder_options options = {
    .ring_nbytes = 65536, .slow = &slow,
  };
  (void) state;
  assert_ok (radio_recorder_start (&options, &stopped));
  uint64_t token = radio_scope_begin (&read_site);
  usleep (1000);
  radio_scope_end (token);
  wait_for (1);
  assert_int_equal (stop_status, RADIO_ERROR_ARGUMENT);
  assert_ok (radio_recorder_stop (stopped, NULL));
  got.n = 0;
}

/*------------------------------------------------------------------------
 * Threads and processes
 *----------------------------------------------------------------------*/

#define NTHREADS 4
#define NRUNS 2000

static void
count_run (const struct radio_profile *profile, void *user_data)
{
  _Atomic uint64_t *n = user_data;
  (void) profile;
  atomic_fetch_add (n, 1);
}

static void *
run_scopes (void *arg)
{
  (void) arg;
  for (int i = 0; i < NRUNS; i++) {
    uint64_t token = radio_scope_begin (&read_site);
    radio_scope_end (radio_scope_begin (&blocks));
    struct radio_async *request = radio_async_begin (&GET);
    radio_async_end (request);
    radio_scope_end (token);
  }
  return NULL;
}

static void
threads_report_all_at_once (void **state)
{
  static _Atomic uint64_t nreported;
  const struct radio_slow_options slow = {
    .triggers = "read>1ns,GET>1ns,blocks>1ns cpu", .report = count_run,
    .user_data = &nreported, .per_minute = 40,
  };
  const struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = 16 << 20, .slow = &slow,
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  pthread_t threads[NTHREADS];
  (void) state;
  assert_ok (radio_recorder_start (&options, &recorder));
  for (int i = 0; i < NTHREADS; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, run_scopes, NULL),
                      0);
  for (int i = 0; i < NTHREADS; i++)
    pthread_join (threads[i], NULL);
  assert_ok (radio_recorder_stop (recorder, &profile));
  uint64_t written = number_of (profile, RD_FACT_SLOW_WRITTEN);
  uint64_t dropped = number_of (profile, RD_FACT_SLOW_DROPPED);
  assert_int_equal (written, nreported);
  assert_in_range (written, 1, 40);
  assert_in_range (written + dropped, NTHREADS * NRUNS,
                   3 * NTHREADS * NRUNS);
  radio_profile_close (profile);
}

/* CPU time of the recorder's thread. */
static void
use_3_ms (const struct radio_profile *profile, void *user_data)
{
  struct timespec now;
  (void) profile;
  (void) user_data;
  do
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec == 0 && now.tv_nsec < (long) (3 * MS));
}

static void
the_time_of_reporting_is_the_recorders (void **state)
{
  const struct radio_slow_options slow = {
    .triggers = "serve>1ns", .report = use_3_ms,
  };
  const struct radio_recorder_options options = {
    .ring_nbytes = 1 << 20, .slow = &slow,
  };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  (void) state;
  assert_ok (radio_recorder_start (&options, &recorder));
  uint64_t token = radio_scope_begin (&serve);
  (void) getppid ();          /* more than a nanosecond on every clock */
  radio_scope_end (token);
  assert_ok (radio_recorder_stop (recorder, &profile));
  assert_int_equal (number_of (profile, RD_FACT_SLOW_WRITTEN), 1);
  assert_in_range (number_of (profile, RD_FACT_OWN_NS), 3 * MS, S);
  radio_profile_close (profile);
}

/* The thread is not there, and may have held its lock. */
static void
a_child_of_fork_neither_reports_nor_waits (void **state)
{
  struct history h;
  int status;
  (void) state;
  start (&h, "read>1ms", 1000);
  history_leaf (&h, &read_site, 2 * MS);
  pid_t pid = fork ();
  if (pid == 0) {
    uint64_t token = radio_scope_begin (&read_site);
    history_pass (&h, 2 * MS);
    radio_scope_end (token);
    _exit (radio_recorder_stop (h.recorder, NULL) == RADIO_ERROR_FORKED
           ? 0 : 1);
  }
  assert_int_equal (waitpid (pid, &status, 0), pid);
  assert_int_equal (status, 0);
  radio_profile_close (stop (&h));
  assert_int_equal (got.n, 1);
  forget ();
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_slow_run_of_many_gives_one_profile),
    cmocka_unit_test (all_sites_and_paths_of_a_name_are_watched),
    cmocka_unit_test (requests_are_watched_and_open_scopes_are_not),
    cmocka_unit_test (a_slow_run_of_a_tiny_scope_is_one),
    cmocka_unit_test (a_trigger_may_be_of_cpu_time),
    cmocka_unit_test (a_star_stands_for_the_rest_of_a_name),
    cmocka_unit_test (at_most_so_many_a_minute_are_written),
    cmocka_unit_test (a_trigger_leaves_the_others_their_quotas),
    cmocka_unit_test (a_run_that_left_the_ring_is_counted),
    cmocka_unit_test (a_part_that_left_the_ring_is_reported),
    cmocka_unit_test (the_error_for_which_runs_have_no_profile_is_reported),
    cmocka_unit_test (a_name_that_no_scope_has_is_reported),
    cmocka_unit_test (snapshots_have_the_counts),
    cmocka_unit_test (bad_options_are_refused),
    cmocka_unit_test (the_callback_cannot_stop_the_recorder),
    cmocka_unit_test (threads_report_all_at_once),
    cmocka_unit_test (the_time_of_reporting_is_the_recorders),
    cmocka_unit_test (a_child_of_fork_neither_reports_nor_waits),
  };
  return run_recording_tests (tests);
}
