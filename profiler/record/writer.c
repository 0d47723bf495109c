/* SPDX-License-Identifier: MIT */
/* Threads and their writers.
 *
 * A thread keeps each writer that it ever got until the writer's recorder
 * stops or the thread ends; each one holds a reference to its recorder.
 * Which of them is current is a stack: a thread that is recorded by itself,
 * or by the process's recorder, can be received into another recorder for
 * the time of a scope.  That a recorder stopped, a thread notices when it
 * next has to do with the recorder, and lets go then. */
#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "profiler/record/log.h"
#include "profiler/record/recorder.h"
#include "profiler/record/scope.h"
#include "profiler/record/session.h"
#include "profiler/record/tap.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

_Thread_local struct rd_thread rd_this_thread;

static pthread_key_t thread_key;

/*------------------------------------------------------------------------
 * The busy protocol
 *----------------------------------------------------------------------*/

/* Without membarrier both sides need a full fence between their store and
 * their load: an exchange has one. */
bool
rd_writer_enter_slowly (struct rd_writer_state *writer)
{
  atomic_exchange (&writer->busy, 1);
  if (!(atomic_load (&writer->attention) & RD_ATTEND_STOPPED))
    return true;
  rd_writer_leave (writer);
  return false;
}

void
rd_writer_stop (struct rd_writer_state *writer)
{
  atomic_fetch_or (&writer->attention, RD_ATTEND_STOPPED);
}

void
rd_writer_wait (struct rd_writer_state *writer)
{
  while (atomic_load (&writer->busy))
    sched_yield ();
}

/*------------------------------------------------------------------------
 * One writer
 *----------------------------------------------------------------------*/

static unsigned
attention_of (const struct radio_recorder *recorder)
{
  return (recorder->fences ? RD_ATTEND_FENCES : 0)
         | (recorder->taps ? RD_ATTEND_TAPS : 0)
         | (recorder->clock.tsc ? 0 : RD_ATTEND_CLOCK);
}

/* Split nanoseconds per tick into a power of two, which is the unit, and
 * units per tick, which are one to two. */
static void
set_octaves (struct rd_writer_state *writer)
{
  double ns_per_tick = rd_rate_ns_per_tick (&writer->rate);
  uint64_t bits;
  memcpy (&bits, &ns_per_tick, sizeof bits);
  writer->octave_shift = (int) (bits >> 52) - 1023;
  bits = (bits & ((UINT64_C (1) << 52) - 1)) | UINT64_C (1023) << 52;
  memcpy (&writer->octave_scale, &bits, sizeof bits);
}

static void
set_clock (struct rd_writer_state *writer,
           const struct radio_recorder *recorder)
{
  writer->clock = recorder->clock;
  writer->rate = recorder->rate;
  writer->cpu.fresh_for = rd_rate_ticks (&writer->rate,
                                         writer->clock.cpu_fresh_ns);
  writer->cpu.least_wait = rd_rate_ticks (&writer->rate,
                                          writer->clock.least_wait_ns);
  set_octaves (writer);
}

struct rd_writer_state *
rd_writer_new (struct radio_recorder *recorder, uint32_t number)
{
  struct rd_writer_state *writer
    = aligned_alloc (_Alignof (struct rd_writer_state), sizeof *writer);
  if (!writer)
    return NULL;
  memset (writer, 0, sizeof *writer);
  atomic_init (&writer->attention, attention_of (recorder));
  writer->recorder = recorder;
  writer->number = number;
  set_clock (writer, recorder);
  writer->top = writer->frames;
  writer->frames[0].node = &writer->root;
  writer->frames[RD_MAX_DEPTH - 1].fenced = true;
  writer->next_id = rd_recorder_first_id ();
  /* The root has sequence 0, which no token has. */
  writer->frames[0].id = writer->next_id - RD_ID_STEP;
  if (!rd_tree_init (writer)) {
    rd_writer_free (writer);
    return NULL;
  }
  return writer;
}

void
rd_writer_clear (struct rd_writer_state *writer)
{
  rd_tree_free (writer);
  rd_log_clear (&writer->log);
  rd_texts_free (&writer->texts);
  rd_samples_free (&writer->samples);
  free (writer->sessions.at);
  writer->sessions.at = NULL;
  writer->sessions.n = 0;
}

void
rd_writer_free (struct rd_writer_state *writer)
{
  rd_writer_clear (writer);
  free (writer);
}

/*------------------------------------------------------------------------
 * The calling thread's writers
 *----------------------------------------------------------------------*/

/* The stack without those that were stopped. */
static void
drop_stopped_from_stack (struct rd_thread *thread)
{
  struct rd_writer_state **w = &thread->current;
  while (*w)
    if (rd_writer_is_stopped (*w))
      *w = (*w)->below;
    else
      w = &(*w)->below;
}

void
rd_thread_purge (void)
{
  struct rd_thread *thread = &rd_this_thread;
  struct rd_writer_state **w = &thread->mine;
  drop_stopped_from_stack (thread);
  while (*w) {
    struct rd_writer_state *writer = *w;
    if (!rd_writer_is_stopped (writer)) {
      w = &writer->next_mine;
      continue;
    }
    *w = writer->next_mine;
    rd_recorder_unref (writer->recorder);
  }
}

void
rd_thread_forget (void)
{
  rd_this_thread.current = NULL;
  rd_this_thread.mine = NULL;
}

bool
rd_writer_is_mine (const struct rd_writer_state *writer)
{
  const struct rd_writer_state *w = rd_this_thread.mine;
  while (w && w != writer)
    w = w->next_mine;
  return w != NULL;
}

static struct rd_writer_state *
find_mine (const struct radio_recorder *recorder)
{
  struct rd_writer_state *writer = rd_this_thread.mine;
  while (writer && writer->recorder != recorder)
    writer = writer->next_mine;
  return writer;
}

/* A writer for this thread, with a reference to the recorder. */
static struct rd_writer_state *
attach (struct radio_recorder *recorder)
{
  struct rd_thread *thread = &rd_this_thread;
  if (pthread_setspecific (thread_key, thread) != 0)
    return NULL;
  struct rd_writer_state *writer = rd_recorder_take_writer (recorder);
  if (!writer)
    return NULL;
  writer->next_mine = thread->mine;
  thread->mine = writer;
  if (rd_writer_enter (writer)) {
    rd_session_begin (writer);
    rd_writer_leave (writer);
  }
  return writer;
}

struct rd_writer_state *
rd_writer_push (struct radio_recorder *recorder)
{
  struct rd_thread *thread = &rd_this_thread;
  rd_thread_purge ();
  struct rd_writer_state *writer = find_mine (recorder);
  if (!writer)
    writer = attach (recorder);
  if (!writer || rd_writer_is_stopped (writer))
    return NULL;
  writer->below = thread->current;
  thread->current = writer;
  return writer;
}

void
rd_writer_pop (struct rd_writer_state *writer)
{
  struct rd_writer_state **w = &rd_this_thread.current;
  while (*w && *w != writer)
    w = &(*w)->below;
  if (*w)
    *w = writer->below;
}

/* The process's recorder takes the thread on. */
static struct rd_writer_state *
attach_to_process (void)
{
  struct rd_thread *thread = &rd_this_thread;
  struct radio_recorder *recorder
    = rd_process_recorder (thread->refused_serial);
  if (!recorder)
    return NULL;
  struct rd_writer_state *writer = rd_writer_push (recorder);
  if (!writer && rd_recorder_refuse (recorder))
    thread->refused_serial = recorder->serial;
  rd_recorder_unref (recorder);
  return writer;
}

struct rd_writer_state *
rd_writer_current (void)
{
  struct rd_thread *thread = &rd_this_thread;
  if (thread->current && rd_writer_is_stopped (thread->current))
    rd_thread_purge ();
  return thread->current ? thread->current : attach_to_process ();
}

/*------------------------------------------------------------------------
 * The end of a thread
 *----------------------------------------------------------------------*/

static void
end_session (struct rd_writer_state *writer, struct rd_tap_ends *ends)
{
  if (!rd_writer_enter (writer))
    return;
  while (writer->top > writer->frames)
    rd_frame_abandon (writer, ends);
  rd_session_name (writer);
  rd_writer_leave (writer);
}

/* Taps are told last: one that records has the thread taken on once more. */
static void
give_back (struct rd_thread *thread, struct rd_writer_state *writer)
{
  struct radio_recorder *recorder = writer->recorder;
  struct rd_tap_ends ends;
  ends.n = 0;
  end_session (writer, &ends);  /* as the thread's own: it reads its clock */
  thread->mine = writer->next_mine;
  rd_recorder_give_writer (recorder, writer);
  rd_recorder_unref (recorder);
  rd_tap_end (&ends);
}

static void
end_thread (void *arg)
{
  struct rd_thread *thread = arg;
  while (thread->mine) {
    thread->current = NULL;
    give_back (thread, thread->mine);
  }
}

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void
make_key (void)
{
  has_key = pthread_key_create (&thread_key, end_thread) == 0;
}

bool
rd_thread_init (void)
{
  pthread_once (&key_once, make_key);
  return has_key;
}

/*------------------------------------------------------------------------
 * Names
 *----------------------------------------------------------------------*/

/* A name is cut at a whole character. */
static size_t
name_nbytes (const char *name)
{
  size_t n = strlen (name), room = sizeof rd_this_thread.name - 1;
  if (n <= room)
    return n;
  while (room > 0 && ((unsigned char) name[room] & 0xc0) == 0x80)
    room--;
  return room;
}

void
radio_thread_name (const char *name)
{
  struct rd_thread *thread = &rd_this_thread;
  memset (thread->name, 0, sizeof thread->name);
  memcpy (thread->name, name, name_nbytes (name));
  thread->is_named = true;
  for (struct rd_writer_state *w = thread->mine; w; w = w->next_mine)
    if (rd_writer_enter (w)) {
      rd_session_name (w);
      rd_writer_leave (w);
    }
}
