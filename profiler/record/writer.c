/* SPDX-License-Identifier: MIT */
/* Writers of a recorder, and the recorder's lifetime: each thread's writer
 * refers to it. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "profiler/record/image.h"
#include "profiler/record/log.h"
#include "profiler/record/notes.h"
#include "profiler/record/slow.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

#define MAX_WRITERS 65536     /* threads at one time */

_Thread_local struct rd_thread rd_this_thread;

/* Mostly it runs on another CPU, and will be out in nanoseconds. */
#define NTRIES 1000

void
rd_writer_await (struct rd_writer_state *writer)
{
  for (unsigned i = 0; atomic_load (&writer->busy); i++)
    if (i >= NTRIES)
      rd_clock_rest ();
}

/* Without membarrier both sides need a full fence between their store and
 * their load: an exchange has one.  A pause is short, and signal handlers may
 * wait for its end, too: so there is no lock. */
bool
rd_writer_enter_slow (struct rd_writer_state *writer, unsigned attention)
{
  if (attention & RD_ATTEND_BUSY)
    return false;
  for (;;) {
    atomic_exchange (&writer->busy, RD_ATTEND_BUSY);
    attention = atomic_load (&writer->attention);
    if (!(attention & (RD_ATTEND_STOPPED | RD_ATTEND_PAUSED)))
      return true;
    rd_writer_leave (writer);
    if (attention & RD_ATTEND_STOPPED)
      return false;
    while (atomic_load (&writer->attention) & RD_ATTEND_PAUSED)
      rd_clock_rest ();
  }
}

bool
rd_thread_interrupts (void)
{
  struct rd_thread *thread = &rd_this_thread;
  struct rd_writer_state *writer = thread->current;
  if (thread->ninside > 0)
    thread->ninterrupting++;
  else if (writer && atomic_load_explicit (&writer->busy,
                                           memory_order_relaxed))
    writer->ninterrupting++;
  else
    return false;
  return true;
}

void
rd_thread_report_interrupting (void)
{
  struct rd_thread *thread = &rd_this_thread;
  struct rd_writer_state *writer = thread->current;
  if (thread->ninside > 0 || !writer || !rd_writer_enter (writer))
    return;
  writer->ninterrupting += thread->ninterrupting;
  thread->ninterrupting = 0;
  rd_writer_leave (writer);
}

bool
rd_writer_is_mine (const struct rd_writer_state *writer)
{
  const struct rd_writer_state *w = rd_this_thread.mine;
  while (w && w != writer)
    w = w->next_mine;
  return w != NULL;
}

void
rd_writer_pop (struct rd_writer_state *writer)
{
  struct rd_writer_state **w = &rd_this_thread.current;
  while (*w && *w != writer)
    w = &(*w)->below;
  if (*w)
    rd_thread_link (w, writer->below);
  rd_writer_come_back ();
}

void
rd_writer_go_away (struct rd_writer_state *writer)
{
  if (!rd_writer_enter (writer))
    return;
  writer->naway++;
  writer->away_since = rd_clock_now (&writer->clock);
  rd_writer_leave (writer);
}

void
rd_writer_come_back (void)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  if (!writer || writer->away_since == 0 || !rd_writer_enter (writer))
    return;
  rd_writer_end_away (writer, rd_clock_now (&writer->clock));
  rd_writer_leave (writer);
}

void
rd_writer_end_away (struct rd_writer_state *writer, uint64_t now)
{
  if (writer->away_since > 0)
    writer->away += rd_subtract (now, writer->away_since);
  writer->away_since = 0;
}

/*------------------------------------------------------------------------
 * One writer
 *----------------------------------------------------------------------*/

static void
clear_writer (struct rd_writer_state *writer)
{
  rd_tree_free (writer);
  rd_log_clear (writer);
  rd_texts_free (&writer->texts);
  rd_samples_free (&writer->samples);
  rd_vector_free (writer->recorder->arena, &writer->sessions);
}

static void
free_writer (struct rd_writer_state *writer)
{
  clear_writer (writer);
  rd_run_queue_close (&writer->queue);
  rd_arena_release (writer->recorder->arena, writer, sizeof *writer);
}

/*------------------------------------------------------------------------
 * The recorder's list
 *----------------------------------------------------------------------*/

/* NULL without memory. */
static struct rd_writer_state *
add_writer_synced (struct radio_recorder *recorder)
{
  static atomic_uint next_epoch;
  struct rd_writer_state *writer
    = rd_arena_alloc (recorder->arena, _Alignof (struct rd_writer_state),
                      sizeof *writer);
  if (!writer)
    return NULL;
  memset (writer, 0, sizeof *writer);
  atomic_init (&writer->attention,
               (recorder->fences ? RD_ATTEND_FENCES : 0)
               | (recorder->taps ? RD_ATTEND_TAPS : 0)
               | (recorder->clock.tsc ? 0 : RD_ATTEND_CLOCK));
  writer->recorder = recorder;
  writer->texts.recorder = writer->samples.recorder = recorder;
  writer->texts.ring = recorder->ring_nbytes > 0 ? writer : NULL;
  writer->number = (uint32_t) recorder->synced.writers.n;
  writer->clock = recorder->clock;
  writer->rate = recorder->rate;
  writer->cpu.fresh_for = rd_rate_ticks (&writer->rate,
                                         writer->clock.cpu_fresh_ns);
  writer->cpu.least_wait = rd_rate_ticks (&writer->rate,
                                          writer->clock.least_wait_ns);
  writer->long_own = writer->clock.read && !writer->clock.read_starved_ns
    ? INT64_MAX
    : rd_rate_ticks (&writer->rate, writer->clock.least_starved_ns);

  /* Split nanoseconds per tick into a power of two, which is the unit of
   * octaves, and units per tick, which are one to two. */
  double ns_per_tick = rd_rate_ns_per_tick (&writer->rate);
  uint64_t bits;
  memcpy (&bits, &ns_per_tick, sizeof bits);
  writer->octave_shift = (int) (bits >> 52) - 1023;
  bits = (bits & ((UINT64_C (1) << 52) - 1)) | UINT64_C (1023) << 52;
  memcpy (&writer->octave_scale, &bits, sizeof bits);

  /* The low 15 bits of a writer's ids identify it, and are not all zero.  The
   * root has sequence 0, which no token has. */
  unsigned epoch = atomic_fetch_add (&next_epoch, 1);
  writer->next_id = RD_ID_STEP | (epoch % (RD_ID_MARK - 1) + 1);
  writer->top = writer->frames;
  writer->frames[0].node = &writer->root;
  writer->frames[0].id = writer->next_id - RD_ID_STEP;
  writer->frames[RD_MAX_DEPTH].fenced = true;

  struct rd_writer_state **slot = NULL;
  if (rd_tree_init (writer))
    slot = rd_vector_add (NULL, &recorder->synced.writers, MAX_WRITERS);
  if (!slot) {
    free_writer (writer);
    return NULL;
  }
  if (recorder->header) {
    writer->older = recorder->header->writers;
    rd_commit ();
    recorder->header->writers = writer;
  }
  return *slot = writer;
}

struct rd_writer_state *
rd_recorder_take_writer (struct radio_recorder *recorder)
{
  RD_THREAD_LOCK_SCOPE (&recorder->mutex);
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
  RD_THREAD_LOCK_SCOPE (&recorder->mutex);
  rd_run_queue_close (&writer->queue);
  writer->observed = (struct rd_run_account) { .state = RD_RUN_UNKNOWN };
  writer->cpu.fresh_until = 0;  /* the next thread has a clock of its own */
  writer->is_own = false;
  writer->is_free = true;
  writer->next_free = recorder->synced.free_writers;
  recorder->synced.free_writers = writer;
}

static void
observe (struct rd_writer_state *writer, uint64_t last_moment)
{
  struct rd_run_account *observed = &writer->observed, now;
  if (!rd_run_queue_observe (&writer->queue, &writer->clock, &now)) {
    if (observed->until == 0)
      observed->until = last_moment;
  } else if (now.state != observed->state || now.cpu_ns != observed->cpu_ns
             || now.starved_ns != observed->starved_ns
             || now.nsleeps != observed->nsleeps || observed->until != 0)
    *observed = now;
}

uint64_t
rd_recorder_observe (struct radio_recorder *recorder)
{
  uint64_t moment = rd_clock_now (&recorder->clock);
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    observe (recorder->synced.writers.at[i], recorder->synced.observed);
  /* Snapshots read the header meanwhile, word by word. */
  if (recorder->header)
    __atomic_store_n (&recorder->header->observed, moment, __ATOMIC_RELEASE);
  return recorder->synced.observed = moment;
}

static uint64_t
distance (uint64_t a, uint64_t b)
{
  return a > b ? a - b : b - a;
}

struct rd_cpu_mark
rd_recorder_nearest_mark (const struct radio_recorder *recorder,
                          uint64_t moment)
{
  struct rd_cpu_mark nearest = { recorder->stop.ticks, recorder->stop.cpu_ns };
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_cpu_mark *mark = &recorder->synced.writers.at[i]->last;
    if (mark->ticks != 0
        && distance (mark->ticks, moment) < distance (nearest.ticks, moment))
      nearest = *mark;
  }
  return nearest;
}

struct rd_writer_state *
rd_async_writer (struct radio_recorder *recorder)
{
  if (recorder->synced.stopped)
    return NULL;
  if (!recorder->synced.async_writer) {
    recorder->synced.async_writer = add_writer_synced (recorder);
    if (recorder->header)
      recorder->header->async_writer = recorder->synced.async_writer;
  }
  return recorder->synced.async_writer;
}

void
rd_recorder_clear (struct radio_recorder *recorder)
{
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    clear_writer (recorder->synced.writers.at[i]);
  rd_span_memory_free (recorder->span_memory);
  recorder->span_memory = NULL;
  rd_names_free (recorder->names);
  recorder->names = NULL;
  for (size_t i = 0; i < recorder->synced.facts.n && !recorder->arena; i++) {
    free (recorder->synced.facts.at[i].key);
    free (recorder->synced.facts.at[i].value);
  }
  rd_vector_free (recorder->arena, &recorder->synced.facts);
  rd_arena_end (recorder->arena);
}

void
rd_recorder_unref (struct radio_recorder *recorder)
{
  if (atomic_fetch_sub (&recorder->nrefs, 1) > 1)
    return;
  /* A child of fork does not have the writers, and frees nothing. */
  if (!rd_arena_is_here (recorder->arena))
    return;
  rd_recorder_clear (recorder);
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    free_writer (recorder->synced.writers.at[i]);
  free (recorder->synced.writers.at);
  rd_account_unref (recorder->account);
  rd_slow_free (recorder->slow);
  pthread_mutex_destroy (&recorder->mutex);
  pthread_mutex_destroy (&recorder->snapshot_mutex);
  if (!recorder->arena)
    free (recorder->title);
  rd_arena_free (recorder->arena);
  free (recorder);
}
