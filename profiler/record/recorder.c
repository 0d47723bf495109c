/* SPDX-License-Identifier: MIT */
/* Starting and stopping, and the writers that a recorder has given out. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/cleanup.h"
#include "profiler/record/async.h"
#include "profiler/record/log.h"
#include "profiler/record/pool.h"
#include "profiler/record/recorder.h"
#include "profiler/record/scope.h"
#include "profiler/record/session.h"
#include "profiler/record/tap.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

#define DEFAULT_MAX_SPANS 1048576
#define MAX_WRITERS 65536     /* threads at one time */
#define MAX_FACTS 1024
#define NOT_WORTH_LOGGING 20  /* times the cost of a scope */

/*------------------------------------------------------------------------
 * Memory
 *----------------------------------------------------------------------*/

void
rd_recorder_ref (struct radio_recorder *recorder)
{
  atomic_fetch_add_explicit (&recorder->nrefs, 1, memory_order_relaxed);
}

static void
free_contents (struct radio_recorder *recorder)
{
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    rd_writer_clear (recorder->synced.writers.at[i]);
  rd_pool_free (recorder->pool);
  recorder->pool = NULL;
  for (size_t i = 0; i < recorder->synced.facts.n; i++) {
    free (recorder->synced.facts.at[i].key);
    free (recorder->synced.facts.at[i].value);
  }
  free (recorder->synced.facts.at);
  recorder->synced.facts.at = NULL;
  recorder->synced.facts.n = 0;
}

void
rd_recorder_unref (struct radio_recorder *recorder)
{
  if (atomic_fetch_sub (&recorder->nrefs, 1) > 1)
    return;
  free_contents (recorder);
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    rd_writer_free (recorder->synced.writers.at[i]);
  free (recorder->synced.writers.at);
  rd_account_unref (recorder->account);
  pthread_mutex_destroy (&recorder->mutex);
  free (recorder->title);
  free (recorder);
}

static void
cleanup_recorder (struct radio_recorder **recorder)
{
  if (*recorder)
    rd_recorder_unref (*recorder);
}

/*------------------------------------------------------------------------
 * Writers
 *----------------------------------------------------------------------*/

static struct rd_writer_state *
add_writer_synced (struct radio_recorder *recorder)
{
  size_t number = recorder->synced.writers.n;
  struct rd_writer_state *writer
    = rd_writer_new (recorder, (uint32_t) number);
  if (!writer)
    return NULL;
  struct rd_writer_state **slot
    = RD_ARRAY_ADD (&recorder->synced.writers, MAX_WRITERS);
  if (!slot) {
    rd_writer_free (writer);
    return NULL;
  }
  return *slot = writer;
}

struct rd_writer_state *
rd_recorder_take_writer (struct radio_recorder *recorder)
{
  RD_LOCK_SCOPE (&recorder->mutex);
  if (recorder->synced.stopped)
    return NULL;
  struct rd_writer_state *writer = recorder->synced.free_writers;
  if (writer) {
    recorder->synced.free_writers = writer->next_free;
    writer->is_free = false;
  } else
    writer = add_writer_synced (recorder);
  if (writer)
    rd_recorder_ref (recorder);
  return writer;
}

void
rd_recorder_give_writer (struct radio_recorder *recorder,
                         struct rd_writer_state *writer)
{
  RD_LOCK_SCOPE (&recorder->mutex);
  writer->is_own = false;
  writer->is_free = true;
  writer->next_free = recorder->synced.free_writers;
  recorder->synced.free_writers = writer;
}

bool
rd_recorder_refuse (struct radio_recorder *recorder)
{
  RD_LOCK_SCOPE (&recorder->mutex);
  if (recorder->synced.stopped)
    return false;
  recorder->synced.nrefused++;
  return true;
}

struct rd_writer_state *
rd_async_writer (struct radio_recorder *recorder)
{
  if (recorder->synced.stopped)
    return NULL;
  if (!recorder->synced.async_writer)
    recorder->synced.async_writer = add_writer_synced (recorder);
  return recorder->synced.async_writer;
}

/*------------------------------------------------------------------------
 * Starting
 *----------------------------------------------------------------------*/

static bool
make_pool (struct radio_recorder *recorder, size_t max_spans)
{
  if (recorder->tree_only)
    return true;
  recorder->pool = rd_pool_new (max_spans ? max_spans : DEFAULT_MAX_SPANS);
  return recorder->pool != NULL;
}

static struct radio_recorder *
new_recorder (const struct rd_clock *clock)
{
  struct radio_recorder *recorder = calloc (1, sizeof *recorder);
  if (!recorder)
    return NULL;
  pthread_mutex_init (&recorder->mutex, NULL);
  atomic_init (&recorder->nrefs, 1);
  recorder->generation = rd_process_generation ();
  recorder->serial = rd_recorder_next_serial ();
  recorder->clock = *clock;
  rd_clock_rate (clock, &recorder->rate);
  return recorder;
}

struct radio_recorder *
rd_recorder_alone (const struct rd_clock *clock, size_t max_spans)
{
  struct radio_recorder *recorder = new_recorder (clock);
  if (recorder && !make_pool (recorder, max_spans)) {
    rd_recorder_unref (recorder);
    return NULL;
  }
  return recorder;
}

static enum radio_status
set_options (struct radio_recorder *recorder,
             const struct radio_recorder_options *options)
{
  recorder->whole_process = options->whole_process;
  recorder->tree_only = options->tree_only;
  recorder->taps = options->taps;
  if (options->title) {
    recorder->title = strdup (options->title);
    if (!recorder->title)
      return rd_fail_memory (strlen (options->title) + 1);
  }
  if (!make_pool (recorder, options->max_spans))
    return rd_fail (RADIO_ERROR_MEMORY, "no memory for a log of %zu spans",
                    options->max_spans ? options->max_spans
                                       : (size_t) DEFAULT_MAX_SPANS);
  return RADIO_OK;
}

static void
set_cost (struct radio_recorder *recorder,
          const struct rd_recorder_setup *setup)
{
  recorder->scope_cost_ns = setup && setup->scope_cost_ns > 0
                            ? setup->scope_cost_ns
                            : rd_scope_cost_ns (&recorder->clock);
  recorder->throttle_below
    = rd_rate_ticks (&recorder->rate, (uint64_t) (recorder->scope_cost_ns
                                                  * NOT_WORTH_LOGGING));
}

static uint64_t
unix_ns (void)
{
  struct timespec t;
  if (clock_gettime (CLOCK_REALTIME, &t) < 0)
    return 0;
  return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static bool
has_own_recorder (void)
{
  rd_thread_purge ();
  struct rd_writer_state *writer = rd_this_thread.mine;
  while (writer && !writer->is_own)
    writer = writer->next_mine;
  return writer != NULL;
}

/* The calling thread's scopes go there from now on; in a recorder of the
 * whole process unless they go elsewhere already. */
static enum radio_status
take_this_thread (struct radio_recorder *recorder)
{
  if (recorder->whole_process && rd_this_thread.current)
    return RADIO_OK;
  struct rd_writer_state *writer = rd_writer_push (recorder);
  if (!writer)
    return rd_fail_memory (sizeof *writer);
  writer->is_own = !recorder->whole_process;
  return RADIO_OK;
}

static enum radio_status
begin_recording (struct radio_recorder *recorder)
{
  if (!recorder->whole_process && has_own_recorder ())
    return rd_fail (RADIO_ERROR_EXISTS, "this thread is recorded already; "
                    "stop that recorder first");
  recorder->started_unix_ns = unix_ns ();
  rd_clock_anchor (&recorder->clock, &recorder->start);
  RD_TRY (rd_process_enter (recorder));
  enum radio_status status = take_this_thread (recorder);
  if (status == RADIO_OK)
    return RADIO_OK;
  /* Other threads may have been taken on since. */
  struct rd_error error;
  rd_error_save (&error, status);
  rd_recorder_freeze (recorder);
  return rd_error_raise (&error);
}

#ifdef RADIO_NO_PROFILE

static enum radio_status
refuse (void)
{
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "this library was built with "
                  "--disable-profiler: it records nothing");
}

#else

static enum radio_status
refuse (void)
{
  return RADIO_OK;
}

#endif

enum radio_status
rd_recorder_start (const struct radio_recorder_options *options,
                   const struct rd_recorder_setup *setup,
                   struct radio_recorder **result)
{
  static const struct radio_recorder_options defaults;
  RD_CLEANUP (cleanup_recorder) struct radio_recorder *recorder = NULL;
  struct rd_clock clock;
  *result = NULL;
  RD_TRY (refuse ());
  if (!options)
    options = &defaults;
  if (!rd_process_init ())
    return rd_fail (RADIO_ERROR_MEMORY, "no room to be told of the ends of "
                    "threads and of forks");
  rd_clock_choose (&clock, options->portable_clock);
  if (setup && setup->clock.read)
    clock = setup->clock;
  recorder = new_recorder (&clock);
  if (!recorder)
    return rd_fail_memory (sizeof *recorder);
  RD_TRY (set_options (recorder, options));
  recorder->account = rd_account_new (NULL);
  if (!recorder->account)
    return rd_fail_memory (sizeof *recorder->account);
  recorder->fences = (setup && setup->fences) || !rd_process_has_barrier ();
  set_cost (recorder, setup);
  RD_TRY (begin_recording (recorder));
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

static struct rd_recorder_fact *
find_fact_synced (struct radio_recorder *recorder, const char *key)
{
  for (size_t i = 0; i < recorder->synced.facts.n; i++)
    if (strcmp (recorder->synced.facts.at[i].key, key) == 0)
      return &recorder->synced.facts.at[i];
  return NULL;
}

enum radio_status
radio_recorder_fact (struct radio_recorder *recorder, const char *key,
                     const char *value, enum radio_text_kind kind)
{
  if (rd_recorder_is_forked (recorder))
    return rd_fail (RADIO_ERROR_FORKED, "the recorder was started before "
                    "fork, by the parent");
  char *copy = strdup (value);
  RD_FREE_PLAIN char *new_key = strdup (key);
  if (!copy || !new_key) {
    free (copy);
    return rd_fail_memory (strlen (value) + strlen (key));
  }
  RD_LOCK_SCOPE (&recorder->mutex);
  struct rd_recorder_fact *fact = find_fact_synced (recorder, key);
  if (fact)
    free (fact->value);
  else if ((fact = RD_ARRAY_ADD (&recorder->synced.facts, MAX_FACTS)))
    fact->key = RD_STEAL (new_key);
  else {
    free (copy);
    return rd_fail (RADIO_ERROR_MEMORY, "no memory for another fact: %s",
                    key);
  }
  fact->value = copy;
  fact->kind = kind;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Stopping
 *----------------------------------------------------------------------*/

/* From here on no thread enters a writer; then wait for those inside. */
static void
silence (struct radio_recorder *recorder)
{
  pthread_mutex_lock (&recorder->mutex);
  recorder->synced.stopped = true;
  size_t n = recorder->synced.writers.n;
  for (size_t i = 0; i < n; i++)
    rd_writer_stop (recorder->synced.writers.at[i]);
  pthread_mutex_unlock (&recorder->mutex);
  if (!recorder->fences)
    rd_process_barrier ();
  for (size_t i = 0; i < n; i++)
    rd_writer_wait (recorder->synced.writers.at[i]);
}

static struct rd_writer_state *
find_youngest_frame (struct radio_recorder *recorder)
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

/* Children began after their parents, wherever they are: so the youngest
 * frame of all goes first, and none is late for having to wait its turn. */
static void
close_frames (struct radio_recorder *recorder, struct rd_tap_ends *ends)
{
  struct rd_writer_state *writer;
  while ((writer = find_youngest_frame (recorder)) != NULL)
    rd_frame_abandon (writer, rd_writer_is_mine (writer) ? ends : NULL);
}

/* Threads that end give their writers back meanwhile. */
static void
settle_writers (struct radio_recorder *recorder)
{
  RD_LOCK_SCOPE (&recorder->mutex);
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    struct rd_writer_state *writer = recorder->synced.writers.at[i];
    rd_log_settle (writer);
    rd_tree_settle (writer);
    if (!writer->is_free && writer->sessions.n > 0)
      rd_session_ask_name (&writer->sessions.at[writer->sessions.n - 1]);
  }
}

static void
settle (struct radio_recorder *recorder, struct rd_tap_ends *ends)
{
  close_frames (recorder, ends);
  pthread_mutex_lock (&recorder->mutex);
  rd_async_stop (recorder, rd_clock_now (&recorder->clock));
  pthread_mutex_unlock (&recorder->mutex);
  rd_clock_anchor (&recorder->clock, &recorder->stop);
  rd_clock_rate_between (&recorder->clock, &recorder->start,
                         &recorder->stop, &recorder->rate);
  settle_writers (recorder);
}

void
rd_recorder_freeze (struct radio_recorder *recorder)
{
  struct rd_tap_ends ends;
  ends.n = 0;
  silence (recorder);
  rd_process_leave (recorder);
  settle (recorder, &ends);
  rd_tap_end (&ends);
}

void
rd_recorder_release (struct radio_recorder *recorder)
{
  free_contents (recorder);
  rd_thread_purge ();
  rd_recorder_unref (recorder);
}

enum radio_status
radio_recorder_stop (struct radio_recorder *recorder,
                     struct radio_profile **profile)
{
  enum radio_status status = RADIO_OK;
  if (profile)
    *profile = NULL;
  if (rd_recorder_is_forked (recorder))
    return rd_fail (RADIO_ERROR_FORKED, "the recorder was started before "
                    "fork, by the parent: this child records nothing");
  rd_recorder_freeze (recorder);
  if (profile)
    status = rd_collect (recorder, profile);
  rd_recorder_release (recorder);
  return status;
}
