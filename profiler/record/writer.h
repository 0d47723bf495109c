/* SPDX-License-Identifier: MIT */
/* Writers: how their thread changes them, and which ones a recorder and a
 * thread have. */
#ifndef RD_WRITER_H
#define RD_WRITER_H

#include "profiler/record/record.h"

/* State of each thread.  Initial-exec: an access is one load. */
struct rd_thread {
  struct rd_writer_state *current;      /* of its scopes; or NULL */
  struct rd_writer_state *mine;         /* all that it has, by next_mine */
  uint64_t refused_serial;    /* of the process's recorder, when that could
                                 not record the thread */
  bool is_in_tap;             /* see frame.h */
  bool is_named;
  char name[64];
};

extern _Thread_local struct rd_thread rd_this_thread
  __attribute__ ((__tls_model__ ("initial-exec"),
                  __visibility__ ("hidden")));

/*------------------------------------------------------------------------
 * The busy protocol
 *----------------------------------------------------------------------*/

bool rd_writer_enter_slow (struct rd_writer_state *writer);

/* The first half of entering: returns RD_ATTEND_* flags (record.h).  Only 0
 * means entered. */
static inline unsigned
rd_writer_enter_quickly (struct rd_writer_state *writer)
{
  atomic_store_explicit (&writer->busy, 1, memory_order_relaxed);
  atomic_signal_fence (memory_order_seq_cst);
  return atomic_load_explicit (&writer->attention, memory_order_acquire);
}

/* Begin and end of a change.  Nothing of the writer, its nodes and its log
 * may be touched outside.  False, without a need to leave: its recorder was
 * stopped.  Does not nest; the code between must be short, and must not call
 * the public functions. */
static inline bool
rd_writer_enter (struct rd_writer_state *writer)
{
  if (__builtin_expect (rd_writer_enter_quickly (writer)
                        & (RD_ATTEND_STOPPED | RD_ATTEND_FENCES), 0))
    return rd_writer_enter_slow (writer);
  return true;
}

static inline void
rd_writer_leave (struct rd_writer_state *writer)
{
  atomic_store_explicit (&writer->busy, 0, memory_order_release);
}

/* Sets the flag only: its thread may still be busy. */
static inline void
rd_writer_stop (struct rd_writer_state *writer)
{
  atomic_fetch_or (&writer->attention, RD_ATTEND_STOPPED);
}

static inline bool
rd_writer_is_stopped (struct rd_writer_state *writer)
{
  return atomic_load_explicit (&writer->attention, memory_order_acquire)
         & RD_ATTEND_STOPPED;
}

static inline bool
rd_writer_has_taps (struct rd_writer_state *writer)
{
  return atomic_load_explicit (&writer->attention, memory_order_relaxed)
         & RD_ATTEND_TAPS;
}

/*------------------------------------------------------------------------
 * The calling thread's writers; see process.h for how it gets them
 *----------------------------------------------------------------------*/

bool rd_writer_is_mine (const struct rd_writer_state *writer);

/* Removes a writer from the stack of rd_writer_push, if it is there. */
void rd_writer_pop (struct rd_writer_state *writer);

/*------------------------------------------------------------------------
 * A recorder's writers
 *----------------------------------------------------------------------*/

/* A writer that no thread has, or a new one, with a reference to the
 * recorder.  NULL: it was stopped, or there is no memory. */
struct rd_writer_state *
rd_recorder_take_writer (struct radio_recorder *recorder);

/* Called when the thread of a writer ends.  Keeps the reference. */
void rd_recorder_give_writer (struct radio_recorder *recorder,
                              struct rd_writer_state *writer);

/* The writer of requests, which is used under the recorder's mutex by any
 * thread; made at the first call.  Called with the mutex held.  NULL: no
 * memory, or the recorder was stopped. */
struct rd_writer_state *rd_async_writer (struct radio_recorder *recorder);

/* Frees nodes, logs, notes and facts: all but the structs of the recorder and
 * its writers, to which threads may still refer. */
void rd_recorder_clear (struct radio_recorder *recorder);

/* Drops a reference to the recorder; the last one frees it.  Thread-safe. */
void rd_recorder_unref (struct radio_recorder *recorder);

#endif /* RD_WRITER_H */
