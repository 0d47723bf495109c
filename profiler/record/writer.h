/* SPDX-License-Identifier: MIT */
/* Writers: how their thread changes them, and which ones a recorder and a
 * thread have. */
#ifndef RD_WRITER_H
#define RD_WRITER_H

#include "src/base/cleanup.h"
#include "src/base/thread.h"
#include "profiler/record/record.h"

/* State of each thread.  Initial-exec: an access is one load. */
struct rd_thread {
  struct rd_writer_state *current;      /* of its scopes; or NULL */
  struct rd_writer_state *mine;         /* all that it has, by next_mine */
  volatile unsigned ninside;  /* see rd_thread_enter */
  struct rd_writer_state *hidden;       /* the current one, while a lock is
                                           held */
  int cancel_state;           /* meanwhile: the one before */
  volatile uint64_t ninterrupting;      /* events dropped since */
  uint64_t refused_serial;    /* of the process's recorder, when that could
                                 not record the thread */
  bool is_in_tap;             /* see frame.h */
  bool is_hidden;             /* see rd_thread_hide */
  uint64_t charged_ns;        /* see rd_thread_charge */
  bool is_named;
  char name[64];
};

extern _Thread_local struct rd_thread rd_this_thread
  __attribute__ ((__tls_model__ ("initial-exec"),
                  __visibility__ ("hidden")));

/*------------------------------------------------------------------------
 * The busy protocol
 *----------------------------------------------------------------------*/

bool rd_writer_enter_slow (struct rd_writer_state *writer,
                           unsigned attention);

/* The first half of entering: returns RD_ATTEND_* flags (record.h).  Only 0
 * means entered. */
static inline unsigned
rd_writer_enter_quickly (struct rd_writer_state *writer)
{
  unsigned was_busy = atomic_load_explicit (&writer->busy,
                                            memory_order_relaxed);
  atomic_store_explicit (&writer->busy, RD_ATTEND_BUSY,
                         memory_order_relaxed);
  atomic_signal_fence (memory_order_seq_cst);
  return was_busy | atomic_load_explicit (&writer->attention,
                                          memory_order_acquire);
}

/* The second half, with the flags of the first. */
static inline bool
rd_writer_enter_checked (struct rd_writer_state *writer, unsigned attention)
{
  if (__builtin_expect (attention & (RD_ATTEND_STOPPED | RD_ATTEND_FENCES
                                     | RD_ATTEND_BUSY | RD_ATTEND_PAUSED), 0))
    return rd_writer_enter_slow (writer, attention);
  return true;
}

/* Begin and end of a change.  Nothing of the writer, its nodes and its log
 * may be touched outside.  False, without a need to leave: its recorder was
 * stopped, or the caller is a signal handler that interrupted a change.  Does
 * not nest; the code between must be short, and must not call the public
 * functions. */
static inline bool
rd_writer_enter (struct rd_writer_state *writer)
{
  return rd_writer_enter_checked (writer, rd_writer_enter_quickly (writer));
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

/* Waits until the thread of a writer that was stopped or paused is not busy. */
void rd_writer_await (struct rd_writer_state *writer);

/* Pause a writer, and let it go on; as with stopping, its thread may still be
 * busy. */
static inline void
rd_writer_pause (struct rd_writer_state *writer)
{
  atomic_fetch_or (&writer->attention, RD_ATTEND_PAUSED);
}

static inline void
rd_writer_resume (struct rd_writer_state *writer)
{
  atomic_fetch_and (&writer->attention, ~(unsigned) RD_ATTEND_PAUSED);
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
 * Changes beyond one writer: of the thread's list, or under a lock.  Signal
 * handlers that interrupt them record nothing, or they would wait for the
 * lock for ever.
 *----------------------------------------------------------------------*/

/* Moves the count of dropped events to the current writer, if there is one. */
void rd_thread_report_interrupting (void);

/* Sets a link of the thread's lists, or an end of one.  The thread does not
 * enter the writer for that: a snapshot may read the word meanwhile, though it
 * does not use it. */
static inline void
rd_thread_link (struct rd_writer_state **link, struct rd_writer_state *writer)
{
  __atomic_store_n (link, writer, __ATOMIC_RELAXED);
}

/* Begin and end of a change of the thread's list of writers.  Nests. */
static inline void
rd_thread_enter (void)
{
  rd_this_thread.ninside++;
  atomic_signal_fence (memory_order_seq_cst);
}

static inline void
rd_thread_leave (void)
{
  atomic_signal_fence (memory_order_seq_cst);
  rd_this_thread.ninside--;
  if (__builtin_expect (rd_this_thread.ninterrupting > 0, 0))
    rd_thread_report_interrupting ();
}

/* Lock and unlock a mutex of a recorder or of the process, one at a time.
 * The current writer is hidden meanwhile, so that the hot path does not find
 * it; and asynchronous cancellation waits. */
static inline pthread_mutex_t *
rd_thread_lock (pthread_mutex_t *mutex)
{
  int state = rd_disable_cancel ();
  rd_this_thread.cancel_state = state;
  rd_thread_enter ();
  rd_this_thread.hidden = rd_this_thread.current;
  rd_this_thread.current = NULL;
  atomic_signal_fence (memory_order_seq_cst);
  pthread_mutex_lock (mutex);
  return mutex;
}

static inline void
rd_thread_unlock (pthread_mutex_t *mutex)
{
  pthread_mutex_unlock (mutex);
  atomic_signal_fence (memory_order_seq_cst);
  rd_this_thread.current = rd_this_thread.hidden;
  rd_this_thread.hidden = NULL;
  int state = rd_this_thread.cancel_state;
  rd_thread_leave ();
  rd_cleanup_cancel (&state);
}

static inline void
rd_cleanup_thread_unlock (pthread_mutex_t **mutex)
{
  if (*mutex)
    rd_thread_unlock (*mutex);
}

#define RD_THREAD_LOCK_SCOPE(mutex)                                     \
  RD_CLEANUP (rd_cleanup_thread_unlock) __attribute__ ((__unused__))    \
  pthread_mutex_t *RD_CONCAT (rd_held_, __LINE__) = rd_thread_lock (mutex)

/* True if the caller is a signal handler that interrupted the recorder on
 * this thread.  Counts its event as dropped then. */
bool rd_thread_interrupts (void);

/*------------------------------------------------------------------------
 * The calling thread's writers; see process.h for how it gets them
 *----------------------------------------------------------------------*/

bool rd_writer_is_mine (const struct rd_writer_state *writer);

/* Removes a writer from the stack of rd_writer_push, if it is there. */
void rd_writer_pop (struct rd_writer_state *writer);

/* A writer is not the current one any more, since another recorder's is put
 * on top; and the current one is so again. */
void rd_writer_go_away (struct rd_writer_state *writer);
void rd_writer_come_back (void);

/* The second half for a writer that is entered, or that nothing writes. */
void rd_writer_end_away (struct rd_writer_state *writer, uint64_t now);

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

/* Notes the account of each thread, for scopes that its thread cannot end, as
 * rd_frame_observe needs it.  An account that did not change is not written;
 * where none can be read any more the last one stays, `until' the moment of the
 * last call.  Called with the mutex held.  Returns the moment, until which the
 * accounts have all, and stores it in the header of a ring. */
uint64_t rd_recorder_observe (struct radio_recorder *recorder);

/* The reading of the process's CPU time that was nearest to a moment: that of
 * the stop, or one of a writer. */
struct rd_cpu_mark
rd_recorder_nearest_mark (const struct radio_recorder *recorder,
                          uint64_t moment);

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
