/* SPDX-License-Identifier: MIT */
/* Starting and stopping: the recorder's public functions, its facts, and the
 * cost of a scope. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/base/thread.h"
#include "profiler/record/beat.h"
#include "profiler/record/collect.h"
#include "profiler/record/frame.h"
#include "profiler/record/image.h"
#include "profiler/record/log.h"
#include "profiler/record/process.h"
#include "profiler/record/recorder.h"
#include "profiler/record/shared.h"
#include "profiler/record/slow.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

#define DEFAULT_MAX_SPANS 1048576
#define MAX_FACTS 1024
#define THROTTLE_FACTOR 20    /* throttle_below, in costs of a scope */
#define MIN_RING_NBYTES 65536

/*------------------------------------------------------------------------
 * Making a recorder
 *----------------------------------------------------------------------*/

static void
cleanup_recorder (struct radio_recorder **recorder)
{
  if (*recorder)
    rd_recorder_unref (*recorder);
}

static bool
make_span_memory (struct radio_recorder *recorder, uint64_t max_spans)
{
  if (recorder->tree_only)
    return true;
  if (max_spans > SIZE_MAX)
    return false;
  recorder->span_memory = rd_span_memory_new ((size_t) max_spans,
                                              recorder->arena);
  return recorder->span_memory != NULL;
}

static struct radio_recorder *
new_recorder (const struct rd_clock *clock)
{
  static _Atomic uint64_t last_serial;
  struct radio_recorder *recorder = calloc (1, sizeof *recorder);
  if (!recorder)
    return NULL;
  pthread_mutex_init (&recorder->mutex, NULL);
  pthread_mutex_init (&recorder->snapshot_mutex, NULL);
  atomic_init (&recorder->nrefs, 1);
  recorder->generation = rd_process_generation ();
  recorder->serial = atomic_fetch_add (&last_serial, 1) + 1;
  recorder->clock = *clock;
  rd_clock_rate (clock, &recorder->rate);
  return recorder;
}

static bool
make_names (struct radio_recorder *recorder)
{
  recorder->names = rd_names_new (recorder->arena);
  return recorder->names != NULL;
}

struct radio_recorder *
rd_recorder_alone (const struct rd_clock *clock, size_t max_spans)
{
  struct radio_recorder *recorder = new_recorder (clock);
  if (recorder && (!make_names (recorder)
                   || !make_span_memory (recorder, max_spans))) {
    rd_recorder_unref (recorder);
    return NULL;
  }
  return recorder;
}

/*------------------------------------------------------------------------
 * The cost of a scope: measured with the same functions that scopes call, in
 * a recorder of its own, as the least mean of many short batches, so that
 * other work of the machine is not in it.
 *----------------------------------------------------------------------*/

#define NBATCHES 24
#define BATCH 128             /* some 4 us: mostly undisturbed */

/* Nanoseconds of one scope in tree and log, by this kind of clock; measured
 * at the first call, which takes some tenths of a millisecond.  0: there was
 * no memory to measure it. */
static double
scope_cost_ns (const struct rd_clock *clock)
{
  static const struct radio_site site = {
    "scope", "profiler", __func__, __FILE__, __LINE__, RADIO_SCOPE_WORK
  };
  /* By clock, in units of 1/1024 ns; 0: not measured yet. */
  static _Atomic uint64_t known_costs[2];
  uint64_t cost = atomic_load (&known_costs[clock->tsc]);
  if (cost != 0)
    return (double) cost / 1024;
  RD_CLEANUP (cleanup_recorder) struct radio_recorder *recorder
    = rd_recorder_alone (clock, NBATCHES * BATCH * 2);
  struct rd_writer_state *writer
    = recorder ? rd_recorder_take_writer (recorder) : NULL;
  if (!writer)
    return 0;

  struct rd_writer_state *before = rd_this_thread.current;
  uint64_t least = UINT64_MAX;
  rd_this_thread.current = writer;
  for (int i = 0; i < NBATCHES; i++) {
    uint64_t begin = rd_clock_now (&writer->clock);
    for (int j = 0; j < BATCH; j++)
      radio_scope_end (radio_scope_begin (&site));
    uint64_t ticks = rd_clock_now (&writer->clock) - begin;
    if (ticks < least)
      least = ticks;
  }
  rd_this_thread.current = before;

  cost = rd_rate_ns (&recorder->rate, least * 1024) / BATCH;
  rd_recorder_unref (recorder);         /* the writer's reference */
  atomic_store (&known_costs[clock->tsc], cost);
  return (double) cost / 1024;
}

/*------------------------------------------------------------------------
 * Starting
 *----------------------------------------------------------------------*/

static enum radio_status
begin_recording (struct radio_recorder *recorder, bool has_file)
{
  rd_thread_purge ();
  if (!recorder->whole_process) {
    const struct rd_writer_state *own = rd_this_thread.mine;
    while (own && !own->is_own)
      own = own->next_mine;
    if (own)
      return rd_fail (RADIO_ERROR_EXISTS, "this thread is recorded already; "
                      "stop that recorder first");
  }
  struct timespec t;
  if (clock_gettime (CLOCK_REALTIME, &t) == 0)
    recorder->started_unix_ns = (uint64_t) t.tv_sec * 1000000000
                                + (uint64_t) t.tv_nsec;
  if (!recorder->clock.read)
    rd_usage_read (&recorder->usage);
  rd_clock_anchor (&recorder->clock, &recorder->start);
  if (recorder->header)
    rd_image_begin (recorder,
                    rd_span_memory_chunk_slots (recorder->span_memory));
  if (has_file && !recorder->clock.read)
    RD_TRY (rd_beat_start (recorder));
  enum radio_status status = rd_slow_start (recorder);
  if (status == RADIO_OK)
    status = rd_process_enter (recorder);
  if (status != RADIO_OK) {
    rd_slow_end (recorder);
    rd_beat_end (recorder);
    return status;
  }
  /* One of the whole process records this thread once another one ends. */
  struct rd_writer_state *writer
    = recorder->whole_process && rd_this_thread.current
      ? rd_writer_push_below (recorder) : rd_writer_push (recorder);
  if (writer) {
    /* Snapshots of slow runs may have begun; see rd_thread_link. */
    __atomic_store_n (&writer->is_own, !recorder->whole_process,
                      __ATOMIC_RELAXED);
    return RADIO_OK;
  }
  /* The recorder may have attached other threads since. */
  struct rd_error error;
  rd_error_save (&error, rd_fail_memory (sizeof *writer));
  rd_recorder_freeze (recorder);
  return rd_error_raise (&error);
}

static enum radio_status
check_ring (const struct radio_recorder_options *options)
{
  if (options->ring_nbytes == 0 && options->slow)
    return rd_fail (RADIO_ERROR_ARGUMENT, "slow is set without a ring; set "
                    "ring_nbytes, too");
  if (options->ring_nbytes == 0)
    return RADIO_OK;
  if (options->ring_file && *options->ring_file == '\0')
    return rd_fail (RADIO_ERROR_ARGUMENT, "ring_file is empty; name a file, or "
                    "set it to NULL for a ring in memory");
  if (options->max_spans != 0 || options->tree_only)
    return rd_fail (RADIO_ERROR_ARGUMENT, "ring_nbytes (RADIO_PROFILE_RING) is "
                    "set beside %s (RADIO_PROFILE_SPANS); set one of them",
                    options->tree_only ? "tree_only" : "max_spans");
  if (options->ring_nbytes < MIN_RING_NBYTES)
    return rd_fail (RADIO_ERROR_ARGUMENT, "ring_nbytes (RADIO_PROFILE_RING) is "
                    "too small (%" PRIu64 "); use %d or more",
                    options->ring_nbytes, MIN_RING_NBYTES);
  return RADIO_OK;
}

enum radio_status
rd_recorder_start (const struct radio_recorder_options *options,
                   const struct rd_recorder_setup *setup,
                   struct radio_recorder **result)
{
  static const struct radio_recorder_options defaults;
  RD_NO_CANCEL_SCOPE ();
  RD_CLEANUP (cleanup_recorder) struct radio_recorder *recorder = NULL;
  struct rd_clock clock;
  if (result == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_recorder_start: recorder is "
                    "NULL");
  *result = NULL;
#ifdef RADIO_NO_PROFILE
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "this library was built with "
                  "--disable-profiler: it records nothing");
#endif
  if (!options)
    options = &defaults;
  RD_TRY (RD_CHECK_RESERVED (radio_recorder_options, options));
  RD_TRY (check_ring (options));
  if (!rd_process_init ())
    return rd_fail (RADIO_ERROR_MEMORY, "no room for the handlers of "
                    "threads' ends and of forks");
  rd_clock_choose (&clock, options->portable_clock);
  if (setup && setup->clock.read)
    clock = setup->clock;
  recorder = new_recorder (&clock);
  if (!recorder)
    return rd_fail_memory (sizeof *recorder);

  uint64_t max_spans = options->ring_nbytes
                       ? options->ring_nbytes / sizeof (union rd_log_slot)
                       : options->max_spans ? options->max_spans
                                            : DEFAULT_MAX_SPANS;
  recorder->whole_process = options->whole_process;
  recorder->tree_only = options->tree_only;
  recorder->ring_nbytes = options->ring_nbytes;
  recorder->taps = options->taps;
  if (recorder->ring_nbytes > 0)
    RD_TRY (rd_image_new (recorder, options->ring_file));
  if (options->slow)
    RD_TRY (rd_slow_new (options->slow, &recorder->rate, &recorder->slow));
  if (!make_names (recorder))
    return rd_fail_memory (sizeof *recorder);
  if (options->title) {
    recorder->title = rd_arena_strndup (recorder->arena, options->title,
                                        SIZE_MAX);
    if (!recorder->title)
      return rd_fail_memory (strlen (options->title) + 1);
  }
  if (!make_span_memory (recorder, max_spans))
    return rd_fail (RADIO_ERROR_MEMORY, "no memory for a log of %" PRIu64
                    " spans; use fewer (max_spans, RADIO_PROFILE_SPANS)",
                    max_spans);
  recorder->account = rd_account_new (NULL);
  if (!recorder->account)
    return rd_fail_memory (sizeof *recorder->account);

  recorder->fences = (setup && setup->fences) || !rd_process_has_barrier ();
  recorder->scope_cost_ns = setup && setup->scope_cost_ns > 0
                            ? setup->scope_cost_ns
                            : scope_cost_ns (&recorder->clock);
  recorder->throttle_below
    = rd_rate_ticks (&recorder->rate, (uint64_t) (recorder->scope_cost_ns
                                                  * THROTTLE_FACTOR));
  RD_TRY (begin_recording (recorder, recorder->ring_nbytes > 0
                                     && options->ring_file));
  *result = RD_STEAL (recorder);
  return RADIO_OK;
}

enum radio_status
radio_recorder_start (const struct radio_recorder_options *options,
                      struct radio_recorder **recorder)
{
  return rd_recorder_start (options, NULL, recorder);
}

/*------------------------------------------------------------------------
 * Facts
 *----------------------------------------------------------------------*/

enum radio_status
radio_recorder_fact (struct radio_recorder *recorder, const char *key,
                     const char *value, enum radio_text_kind kind)
{
  RD_NOT_NULL (recorder);
  RD_NOT_NULL (key);
  RD_NOT_NULL (value);
  if (rd_recorder_is_forked (recorder))
    return rd_fail_recorder_forked ();
  RD_THREAD_LOCK_SCOPE (&recorder->mutex);
  struct rd_arena *arena = recorder->arena;
  struct rd_recorder_fact *fact = NULL;
  char *new_value = rd_arena_strndup (arena, value, SIZE_MAX);
  char *new_key = NULL;
  for (size_t i = 0; i < recorder->synced.facts.n && !fact; i++)
    if (strcmp (recorder->synced.facts.at[i].key, key) == 0)
      fact = &recorder->synced.facts.at[i];
  if (new_value && fact) {
    char *old = fact->value;
    fact->kind = kind;
    fact->value = new_value;
    rd_arena_release (arena, old, strlen (old) + 1);
    return RADIO_OK;
  }
  if (new_value)
    new_key = rd_arena_strndup (arena, key, SIZE_MAX);
  if (new_key
      && rd_array_grow (arena, &recorder->synced.facts.at,
                        &recorder->synced.facts.capacity,
                        recorder->synced.facts.n, MAX_FACTS, sizeof *fact)) {
    recorder->synced.facts.at[recorder->synced.facts.n++]
      = (struct rd_recorder_fact) { new_key, new_value, kind };
    rd_image_update (recorder);
    return RADIO_OK;
  }
  rd_arena_release (arena, new_key, strlen (key) + 1);
  rd_arena_release (arena, new_value, strlen (value) + 1);
  return recorder->synced.facts.n >= MAX_FACTS
         ? rd_fail (RADIO_ERROR_LIMIT, "%s: a profile has at most %d facts",
                    key, MAX_FACTS)
         : rd_fail (RADIO_ERROR_MEMORY, "no memory for another fact: %s", key);
}

/*------------------------------------------------------------------------
 * Stopping
 *----------------------------------------------------------------------*/

struct rd_writer_state *
rd_recorder_youngest (struct radio_recorder *recorder)
{
  struct rd_writer_state *youngest = NULL;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    struct rd_writer_state *writer = recorder->synced.writers.at[i];
    if (writer->top > writer->frames
        && (!youngest || writer->top->begin > youngest->top->begin))
      youngest = writer;
  }
  return youngest;
}

/* Open scopes of other threads, which do not write any more, but may end. */
static void
observe_others (struct radio_recorder *recorder)
{
  RD_THREAD_LOCK_SCOPE (&recorder->mutex);
  uint64_t moment = rd_recorder_observe (recorder);
  uint64_t end = rd_clock_now (&recorder->clock);
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    struct rd_writer_state *writer = recorder->synced.writers.at[i];
    if (!rd_writer_is_mine (writer))
      (void) rd_frame_observe (writer, moment, end, false);
  }
}

void
rd_recorder_freeze (struct radio_recorder *recorder)
{
  struct rd_tap_ends ends;
  ends.n = 0;

  rd_slow_end (recorder);
  rd_beat_end (recorder);
  if (recorder->header)
    recorder->own_cpu_ns = recorder->header->own_cpu_ns;

  /* From here on no thread enters a writer; then wait for those inside. */
  rd_thread_lock (&recorder->mutex);
  recorder->synced.stopped = true;
  size_t n = recorder->synced.writers.n;
  for (size_t i = 0; i < n; i++)
    rd_writer_stop (recorder->synced.writers.at[i]);
  rd_thread_unlock (&recorder->mutex);
  if (!recorder->fences)
    rd_process_barrier ();
  for (size_t i = 0; i < n; i++)
    rd_writer_await (recorder->synced.writers.at[i]);
  rd_process_leave (recorder);
  observe_others (recorder);

  /* Close frames and requests.  Children began after their parents, on any
   * thread: so the youngest frame of all is closed first, and none is
   * late. */
  struct rd_writer_state *youngest;
  while ((youngest = rd_recorder_youngest (recorder)) != NULL)
    rd_frame_abandon (youngest, false,
                      rd_writer_is_mine (youngest) ? &ends : NULL);
  rd_thread_lock (&recorder->mutex);
  rd_async_stop (recorder, rd_clock_now (&recorder->clock));
  rd_thread_unlock (&recorder->mutex);

  rd_clock_anchor (&recorder->clock, &recorder->stop);
  if (!recorder->clock.read)
    rd_usage_since (&recorder->usage);
  recorder->clock_jumped
    = !rd_clock_rate_between (&recorder->clock, &recorder->start,
                              &recorder->stop, &recorder->rate);

  /* Under the mutex: threads that end return their writers meanwhile. */
  rd_thread_lock (&recorder->mutex);
  rd_image_end (recorder);
  for (size_t i = 0; i < n; i++) {
    struct rd_writer_state *writer = recorder->synced.writers.at[i];
    rd_run_queue_close (&writer->queue);
    rd_writer_end_away (writer, recorder->stop.ticks);
    rd_log_finish (writer);
    rd_tree_finish (writer);
    if (!writer->is_free && writer->sessions.n > 0)
      rd_session_read_name (&writer->sessions.at[writer->sessions.n - 1]);
  }
  rd_thread_unlock (&recorder->mutex);
  rd_tap_end (&ends);
}

enum radio_status
rd_recorder_finish (struct radio_recorder *recorder,
                    struct radio_profile **profile)
{
  rd_recorder_freeze (recorder);
  return rd_collect (recorder, profile);
}

void
rd_recorder_give_file (struct radio_recorder *recorder, char **path)
{
  rd_arena_give_file (recorder->arena, path);
}

void
rd_recorder_release (struct radio_recorder *recorder)
{
  rd_recorder_clear (recorder);
  rd_thread_purge ();
  rd_recorder_unref (recorder);
}

enum radio_status
radio_recorder_stop (struct radio_recorder *recorder,
                     struct radio_profile **profile)
{
  RD_NO_CANCEL_SCOPE ();
  enum radio_status status = RADIO_OK;
  if (profile)
    *profile = NULL;
  if (!recorder)
    return profile ? rd_fail (RADIO_ERROR_ARGUMENT, "radio_recorder_stop: "
                              "recorder is NULL") : RADIO_OK;
  if (rd_slow_is_thread (recorder))
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_recorder_stop: called by a "
                    "radio_slow_fn of this recorder; let it return first");
  /* It would wait for ever for the writers in memory that is another's now. */
  if (!rd_process_claim (recorder)) {
    static const char line[] = "radio_recorder_stop: the recorder was "
                               "stopped before\n";
    (void) !write (STDERR_FILENO, line, sizeof line - 1);
    abort ();
  }
  if (rd_recorder_is_forked (recorder))
    return rd_fail_recorder_forked ();
  rd_recorder_freeze (recorder);
  if (profile)
    status = rd_collect (recorder, profile);
  rd_recorder_release (recorder);
  return status;
}
