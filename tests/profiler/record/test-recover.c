/* SPDX-License-Identifier: MIT */
/* Processes that die while they record with a ring in a file: at random
 * moments, in five ways.  What they did is counted in memory of their own, and
 * must be in the profile that is made of the file. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/buffer.h"
#include "profiler/counters.h"
#include "profiler/export/read.h"
#include "profiler/model/profile.h"
#include "profiler/record/image.h"
#include "profiler/record/record.h"
#include "tests/profiler/record/history.h"

SITE (outer, RADIO_SCOPE_WORK);
SITE (step, RADIO_SCOPE_WORK);
SITE (plain, RADIO_SCOPE_WORK);
SITE (counted, RADIO_SCOPE_WORK);
SITE (noted, RADIO_SCOPE_WORK);
SITE (waits, RADIO_SCOPE_WAIT);
SITE (blocks, RADIO_SCOPE_BLOCKING);
SITE (received, RADIO_SCOPE_WORK);

#define NTHREADS 3
#define RING_NBYTES ((uint64_t) 256 << 10)

static const struct radio_counter bytes = { "bytes", "bytes" };
static const struct radio_counter rows = { "rows", "count" };
static const struct rd_counter_set set = {
  .counters = { &rows, &bytes }, .text_key = "name",
};
static const struct rd_counter_set other_set = {
  .counters = { &rows }, .text_key = "name",
};

/* Scopes that ended, by thread: those whose end has returned. */
enum { STEP, PLAIN, COUNTED, NOTED, WAITS, BLOCKS, RECEIVED, NSITES };
static const char *const names[NSITES] = {
  "step", "plain", "counted", "noted", "waits", "blocks", "received"
};
struct progress {
  _Atomic uint64_t ended[NTHREADS][NSITES];
  _Atomic int started;
  uint64_t since_ns, until_ns;          /* of a process that hangs */
};
static struct progress *progress;

static char path[64];

/*------------------------------------------------------------------------
 * The process that dies
 *----------------------------------------------------------------------*/

static struct radio_handoff handoff;

static void
ended (size_t thread, size_t site)
{
  atomic_store_explicit (&progress->ended[thread][site],
                         atomic_load_explicit (&progress->ended[thread][site],
                                               memory_order_relaxed) + 1,
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

static void
work (size_t thread, uint64_t i)
{
  char text[24];
  uint64_t token = radio_scope_begin (&step);
  for (int j = 0; j < 5; j++) {
    radio_scope_end (radio_scope_begin (&plain));
    ended (thread, PLAIN);
  }
  snprintf (text, sizeof text, "%llu", (unsigned long long) (i / 4));
  end_counted (i % 2 ? &set : &other_set, i % 3 ? text : NULL);
  ended (thread, COUNTED);
  uint64_t inner = radio_scope_begin (&noted);
  radio_scope_text ("key", text, RADIO_TEXT_PLAIN);
  radio_scope_add (&bytes, 7);
  radio_scope_end (inner);
  ended (thread, NOTED);
  radio_scope_end (radio_scope_begin (&waits));
  ended (thread, WAITS);
  radio_scope_end (radio_scope_begin (&blocks));
  ended (thread, BLOCKS);
  radio_scope_end (token);
  ended (thread, STEP);
  radio_scope_end (radio_scope_receive (&handoff, &received));
  ended (thread, RECEIVED);
}

static void *
run_thread (void *arg)
{
  size_t thread = (size_t) (uintptr_t) arg;
  uint64_t token = thread == 0 ? radio_scope_begin (&outer) : 0;
  if (thread == 0)
    radio_handoff_give (&handoff);
  atomic_fetch_add (&progress->started, 1);
  while (atomic_load (&progress->started) < NTHREADS)
    sched_yield ();
  for (uint64_t i = 0;; i++)
    work (thread, i);
  radio_scope_end (token);
  return NULL;
}

enum death { KILLED, SEGV, TERM, EXIT, QUICK_EXIT, NDEATHS };

static enum death death;
static useconds_t delay_us;

static void *
end_process (void *arg)
{
  (void) arg;
  while (atomic_load (&progress->started) < NTHREADS)
    sched_yield ();
  usleep (delay_us);
  switch (death) {
  case KILLED: kill (getpid (), SIGKILL); break;
  case SEGV: kill (getpid (), SIGSEGV); break;
  case TERM: kill (getpid (), SIGTERM); break;
  case EXIT: _exit (3);
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
    .whole_process = true, .ring_nbytes = RING_NBYTES, .ring_file = path,
    .title = "to die",
  };
  static const struct rlimit none = { 0, 0 };
  pthread_t threads[NTHREADS + 1];
  setrlimit (RLIMIT_CORE, &none);
  if (radio_recorder_start (&options, &recorder) != RADIO_OK
      || radio_recorder_fact (recorder, "fact", "value", RADIO_TEXT_PLAIN)
         != RADIO_OK)
    _exit (9);
  /* Of sanitizers, which report and go on their own ways. */
  signal (SIGSEGV, SIG_DFL);
  signal (SIGTERM, SIG_DFL);
  for (size_t i = 0; i < NTHREADS; i++)
    pthread_create (&threads[i], NULL, run_thread, (void *) (uintptr_t) i);
  pthread_create (&threads[NTHREADS], NULL, end_process, NULL);
  for (;;)
    pause ();
}

/*------------------------------------------------------------------------
 * What it left
 *----------------------------------------------------------------------*/

static void
die (enum death way, useconds_t after_us)
{
  int status;
  memset (progress, 0, sizeof *progress);
  death = way;
  delay_us = after_us;
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0)
    run_process ();
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_false (WIFEXITED (status) && WEXITSTATUS (status) == 9);
}

/* Figures of all paths whose last scope has this name. */
static struct radio_profile_node
sum_of (const struct radio_profile *profile, const char *name)
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

static uint64_t
counter_of (const struct radio_profile *profile, const char *name,
            const char *counter)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (strcmp (profile->nodes.at[i].name, name) == 0)
      sum += radio_profile_counter (profile, i, counter, false);
  return sum;
}

/* Each thread may have ended one more than it says; one that had begun is
 * open. */
static void
check_profile (const struct radio_profile *profile)
{
  uint64_t logged = 0, dropped = 0, calls = 0;
  for (size_t i = 0; i < NSITES; i++) {
    struct radio_profile_node node = sum_of (profile, names[i]);
    uint64_t sure = 0;
    for (size_t t = 0; t < NTHREADS; t++)
      sure += atomic_load (&progress->ended[t][i]);
    assert_true (node.open_count <= NTHREADS);
    assert_in_range (node.calls - node.open_count, sure, sure + NTHREADS);
    calls += node.calls;
    dropped += node.dropped_count;
  }
  assert_int_equal (sum_of (profile, "outer").calls, 1);
  assert_int_equal (sum_of (profile, "outer").open_count, 1);
  logged = profile->spans.n;
  assert_int_equal (logged + dropped, calls + 1);

  uint64_t n = sum_of (profile, "counted").calls;
  uint64_t nrows = counter_of (profile, "counted", "rows");
  uint64_t nbytes = counter_of (profile, "counted", "bytes");
  assert_in_range (nrows + NTHREADS, n, n + 2 * NTHREADS);
  assert_in_range (nbytes / 10 + 2 * NTHREADS, n / 2, n / 2 + 4 * NTHREADS);
  n = sum_of (profile, "noted").calls;
  assert_in_range (counter_of (profile, "noted", "bytes") / 7 + NTHREADS, n,
                   n + 2 * NTHREADS);

  assert_string_equal (rd_profile_find_fact (profile, "fact"), "value");
  assert_string_equal (profile->info.title, "to die");
  assert_string_equal (rd_profile_find_fact (profile, RD_FACT_RECOVERED),
                       "a process that ended");
}

static void
recover_and_check (void)
{
  struct radio_profile *profile;
  assert_ok (radio_profile_recover (path, &profile));
  check_profile (profile);
  radio_profile_close (profile);
  assert_int_equal (unlink (path), 0);
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
  for (int way = 0; way < NDEATHS; way++)
    for (int i = 0; i < n; i++) {
      random = random * 1664525 + 1013904223;
      die ((enum death) way, (random >> 8) % (i % 2 ? 30000 : 300));
      recover_and_check ();
    }
}

/*------------------------------------------------------------------------
 * Files that are damaged, and files of processes that run
 *----------------------------------------------------------------------*/

struct bytes {
  unsigned char *at;
  size_t n;
};

static struct bytes
read_ring (void)
{
  static unsigned char room[8 << 20];
  FILE *file = fopen (path, "rb");
  assert_non_null (file);
  struct bytes all = { room, fread (room, 1, sizeof room, file) };
  assert_in_range (all.n, RING_NBYTES, sizeof room - 1);
  fclose (file);
  return all;
}

static enum radio_status
append (const void *data, size_t nbytes, void *user_data)
{
  struct rd_buffer *buffer = user_data;
  return rd_buffer_append (buffer, data, nbytes);
}

/* Whatever is recovered can be written, and read again. */
static void
check_written (const struct radio_profile *profile)
{
  static const enum radio_profile_format formats[] = {
    RADIO_PROFILE_TEXT, RADIO_PROFILE_CHROME, RADIO_PROFILE_PPROF,
    RADIO_PROFILE_JSON,
  };
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
    struct radio_profile *back;
    struct radio_profile_write_options options = { .format = formats[i] };
    assert_ok (radio_profile_write_to (profile, &options, append, &buffer));
    if (formats[i] != RADIO_PROFILE_JSON)
      continue;
    assert_ok (rd_profile_parse ((const char *) buffer.data, buffer.nbytes,
                                 "back", &back));
    radio_profile_close (back);
  }
}

static enum radio_status
recover_bytes (const unsigned char *at, size_t n)
{
  struct radio_profile *profile;
  FILE *file = fopen (path, "wb");
  assert_non_null (file);
  assert_int_equal (fwrite (at, 1, n, file), n);
  assert_int_equal (fclose (file), 0);
  enum radio_status status = radio_profile_recover (path, &profile);
  if (status == RADIO_OK) {
    check_written (profile);
    radio_profile_close (profile);
  } else
    assert_null (profile);
  return status;
}

static void
a_cut_or_foreign_file_is_refused (void **state)
{
  (void) state;
  die (KILLED, 3000);
  struct bytes ring = read_ring ();
  struct rd_image_header *header = (struct rd_image_header *) ring.at;
  for (size_t i = 0; i < 40; i++) {
    size_t n = (size_t) header->nbytes * i / 40;
    assert_int_equal (recover_bytes (ring.at, n), RADIO_ERROR_FORMAT);
  }
  assert_int_equal (recover_bytes (ring.at, (size_t) header->nbytes),
                    RADIO_OK);
  assert_fails (recover_bytes (ring.at, (size_t) header->nbytes - 1),
                RADIO_ERROR_FORMAT, "this ring is cut");
  header->version[0] ^= 1;
  assert_fails (recover_bytes (ring.at, ring.n), RADIO_ERROR_UNSUPPORTED,
                "use that version of radio");
  header->version[0] ^= 1;
  header->sizes[0] = 0x01000000;
  assert_fails (recover_bytes (ring.at, ring.n), RADIO_ERROR_UNSUPPORTED,
                "another kind of machine");
  header->magic[1] = 'R';
  assert_fails (recover_bytes (ring.at, ring.n), RADIO_ERROR_FORMAT,
                "is not a ring");
  assert_int_equal (unlink (path), 0);
  struct radio_profile *profile;
  assert_fails (radio_profile_recover (path, &profile),
                RADIO_ERROR_NOT_FOUND, path);
  assert_fails (radio_profile_recover ("/", &profile), RADIO_ERROR_FORMAT,
                "not a ring");
}

/* Words that are other words of the file, small numbers, or anything. */
static void
damaged_files_do_no_harm (void **state)
{
  const char *number = getenv ("RADIO_TEST_DAMAGES");
  int n = number ? atoi (number) : 100;
  uint32_t random = (uint32_t) time (NULL);
  int nok = 0;
  (void) state;
  print_message ("seed %u\n", random);
  die (KILLED, 5000);
  struct bytes ring = read_ring ();
  unsigned char *copy = malloc (ring.n);
  assert_non_null (copy);
  size_t end = (size_t) ((struct rd_image_header *) ring.at)->nbytes;
  for (int i = 0; i < n; i++) {
    memcpy (copy, ring.at, ring.n);
    for (int j = 0; j < 1 + i % 20; j++) {
      uint64_t words[3];
      for (int k = 0; k < 3; k++) {
        random = random * 1664525 + 1013904223;
        words[k] = random >> 4;
        random = random * 1664525 + 1013904223;
        words[k] = words[k] << 24 ^ random >> 8;
      }
      /* Mostly behind the ring, where the structure is. */
      size_t from = j % 4 == 0 ? 0 : j % 4 == 1 ? 16384
                                                : RING_NBYTES + 16384;
      size_t at = (from + words[0] % (end - from - 8)) & ~(size_t) 7;
      uint64_t value = words[1] % 3 == 0 ? words[2] : words[2] % 300;
      if (words[1] % 3 == 1)
        memcpy (&value, ring.at + (words[2] % (end - 8) & ~(size_t) 7), 8);
      memcpy (copy + at, &value, sizeof value);
    }
    enum radio_status status = recover_bytes (copy, ring.n);
    assert_true (status == RADIO_OK || status == RADIO_ERROR_FORMAT
                 || status == RADIO_ERROR_UNSUPPORTED);
    nok += status == RADIO_OK;
  }
  print_message ("%d of %d were not noticed\n", nok, n);
  free (copy);
  assert_int_equal (unlink (path), 0);
}

static _Atomic bool is_over;

static void *
record_on (void *arg)
{
  for (uint64_t i = 0; !atomic_load (&is_over); i++)
    work ((size_t) (uintptr_t) arg, i);
  return NULL;
}

/* Two threads at work, which are as far as they say, or one run farther. */
static struct radio_recorder *
start_two (pthread_t threads[2], const struct radio_recorder_options *options)
{
  struct radio_recorder *recorder;
  memset (progress, 0, sizeof *progress);
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

/* Of how many runs they are sure at least. */
static uint64_t
count_sure (void)
{
  uint64_t sure = 0;
  for (size_t t = 0; t < 2; t++)
    sure += atomic_load (&progress->ended[t][PLAIN]);
  return sure;
}

/* Returns the runs in it. */
static uint64_t
check_moment (const struct radio_profile *profile, uint64_t sure)
{
  uint64_t n = sum_of (profile, "plain").calls;
  assert_true (n >= sure);
  assert_in_range (sum_of (profile, "step").calls * 5 + 10, n, n + 20);
  return n;
}

static void
a_file_of_a_process_that_runs_is_of_one_moment (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = RING_NBYTES, .ring_file = path,
  };
  struct radio_profile *profile;
  pthread_t threads[2];
  struct stat st;
  uint64_t nbefore = 0;
  (void) state;
  struct radio_recorder *recorder = start_two (threads, &options);
  for (int i = 0; i < 20; i++) {
    uint64_t sure = count_sure ();
    assert_ok (radio_profile_recover (path, &profile));
    assert_string_equal (rd_profile_find_fact (profile, RD_FACT_RECOVERED),
                         "a process that runs");
    uint64_t n = check_moment (profile, sure);
    assert_true (n >= nbefore);
    nbefore = n;
    radio_profile_close (profile);
  }
  end_two (threads);
  assert_ok (radio_profile_recover (path, &profile));
  radio_profile_close (profile);

  /* The copy in it goes once it was read. */
  do {
    usleep (1000);
    assert_int_equal (stat (path, &st), 0);
  } while (st.st_size > 100 << 20);
  assert_ok (radio_recorder_stop (recorder, NULL));
}

/* Beyond this limit the process cannot put a copy into the file. */
static void
a_file_that_is_written_meanwhile_is_of_one_moment_or_refused (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = RING_NBYTES, .ring_file = path,
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
    enum radio_status status = radio_profile_recover (path, &profile);
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
  assert_ok (radio_profile_recover (path, &profile));
  check_moment (profile, count_sure ());
  radio_profile_close (profile);
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &before), 0);
}

static void
snapshots_are_of_one_moment_each (void **state)
{
  struct radio_recorder_options options = {
    .whole_process = true, .ring_nbytes = RING_NBYTES, .title = "to die",
  };
  struct radio_profile *profile;
  pthread_t threads[2];
  uint64_t nbefore = 0;
  (void) state;
  struct radio_recorder *recorder = start_two (threads, &options);
  for (int i = 0; i < 50; i++) {
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
  assert_int_equal (counter_of (last, "counted", "bytes"),
                    counter_of (profile, "counted", "bytes"));
  radio_profile_close (last);
  radio_profile_close (profile);
  assert_ok (radio_recorder_start (NULL, &recorder));
  assert_fails (radio_recorder_snapshot (recorder, &profile),
                RADIO_ERROR_UNSUPPORTED, "set ring_nbytes");
  assert_ok (radio_recorder_stop (recorder, NULL));
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
 * a sign of life that began after progress->until_ns. */
static void *
kill_after_beat (void *arg)
{
  const uint64_t *nbeats = arg;
  history_await_sleep ((uint64_t) getpid ());
  usleep (20000);
  progress->until_ns = clock_ns ();
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
    .ring_nbytes = RING_NBYTES, .ring_file = path,
  };
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    _exit (9);
  pthread_t killer;
  (void) radio_scope_begin (&outer);
  progress->since_ns = clock_ns ();
  atomic_store (&progress->started, 1);
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
  uint64_t ns = progress->until_ns - progress->since_ns;
  assert_ok (radio_profile_recover (path, &profile));
  struct radio_profile_node sum = sum_of (profile, "outer");
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
  memset (progress, 0, sizeof *progress);
  pid_t child = fork ();
  if (child == 0)
    run_hung_process (true);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFSIGNALED (status));
  check_hung ("a process that ended");
  assert_int_equal (unlink (path), 0);
}

static void
the_open_scope_of_a_process_that_runs_lasts_until_now (void **state)
{
  int status;
  (void) state;
  memset (progress, 0, sizeof *progress);
  pid_t child = fork ();
  if (child == 0)
    run_hung_process (false);
  while (!atomic_load (&progress->started)) {
    assert_int_equal (waitpid (child, &status, WNOHANG), 0);
    usleep (1000);
  }
  history_await_sleep ((uint64_t) child);
  usleep (20000);
  progress->until_ns = clock_ns ();
  check_hung ("a process that runs");

  /* One that is stopped does not answer. */
  assert_int_equal (kill (child, SIGSTOP), 0);
  assert_int_equal (waitpid (child, &status, WUNTRACED), child);
  assert_true (WIFSTOPPED (status));
  usleep (20000);
  progress->until_ns = clock_ns ();
  check_hung ("a process that runs");
  assert_int_equal (kill (child, SIGKILL), 0);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_int_equal (unlink (path), 0);
}

static void
a_file_is_removed_at_the_stop_and_kept_if_it_is_old (void **state)
{
  struct radio_recorder_options options = {
    .ring_nbytes = RING_NBYTES, .ring_file = path,
  };
  struct radio_recorder *recorder, *second;
  struct radio_profile *profile;
  char old[sizeof path + 8];
  (void) state;
  snprintf (old, sizeof old, "%s.old", path);
  die (EXIT, 1000);
  assert_int_equal (access (path, F_OK), 0);
  assert_ok (radio_recorder_start (&options, &recorder));
  assert_ok (radio_profile_recover (old, &profile));
  radio_profile_close (profile);
  struct radio_recorder_options whole = options;
  whole.whole_process = true;
  assert_fails (radio_recorder_start (&whole, &second), RADIO_ERROR_EXISTS,
                "another recorder uses this ring");
  assert_ok (radio_recorder_stop (recorder, NULL));
  assert_int_not_equal (access (path, F_OK), 0);
  assert_int_equal (unlink (old), 0);
  options.ring_file = "/nowhere/ring";
  assert_fails (radio_recorder_start (&options, &recorder),
                RADIO_ERROR_NOT_FOUND, "cannot create this ring");
  options.ring_file = path;
  options.ring_nbytes = (uint64_t) 1 << 45;
  assert_true (radio_recorder_start (&options, &recorder) != RADIO_OK);
  assert_int_not_equal (access (path, F_OK), 0);
}

/* The child has no mapping; what it has of the parent are handles. */
static void
a_child_of_fork_does_not_touch_the_ring (void **state)
{
  struct radio_recorder_options options = {
    .ring_nbytes = RING_NBYTES, .ring_file = path,
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
  assert_int_equal (sum_of (profile, "outer").calls, 1);
  assert_int_equal (sum_of (profile, "received").calls, 0);
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
    cmocka_unit_test (a_cut_or_foreign_file_is_refused),
    cmocka_unit_test (damaged_files_do_no_harm),
    cmocka_unit_test (a_file_of_a_process_that_runs_is_of_one_moment),
    cmocka_unit_test (
      a_file_that_is_written_meanwhile_is_of_one_moment_or_refused),
    cmocka_unit_test (snapshots_are_of_one_moment_each),
    cmocka_unit_test (
      the_open_scope_of_a_process_that_ended_lasts_until_it_was_seen),
    cmocka_unit_test (the_open_scope_of_a_process_that_runs_lasts_until_now),
    cmocka_unit_test (a_file_is_removed_at_the_stop_and_kept_if_it_is_old),
    cmocka_unit_test (a_child_of_fork_does_not_touch_the_ring),
  };
  progress = mmap (NULL, sizeof *progress, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  snprintf (path, sizeof path, "/dev/shm/radio-test-%d", (int) getpid ());
  int failed = run_recording_tests (tests);
  /* A test that fails leaves its files. */
  char old[sizeof path + 8];
  snprintf (old, sizeof old, "%s.old", path);
  unlink (path);
  unlink (old);
  return failed;
}
