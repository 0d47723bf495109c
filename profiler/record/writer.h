/* SPDX-License-Identifier: MIT */
/* Which writer a thread has, and how it may write into it. */
#ifndef RD_WRITER_H
#define RD_WRITER_H

#include "profiler/record/record.h"

/* What each thread knows.  Initial-exec: an access is one load. */
struct rd_thread {
  struct rd_writer_state *current;      /* where its scopes go; or NULL */
  struct rd_writer_state *mine;         /* all that it has, by next_mine */
  uint64_t refused_serial;    /* of the process's recorder, when that could
                                 not take the thread */
  bool is_in_tap;             /* see tap.h */
  bool is_named;
  char name[64];
};

extern _Thread_local struct rd_thread rd_this_thread
  __attribute__ ((__tls_model__ ("initial-exec"),
                  __visibility__ ("hidden")));

/* The calling thread's writer; the process's recorder takes the thread on if
 * it has none.  NULL: it is not recorded. */
struct rd_writer_state *rd_writer_current (void);

/* Whether it is one of the calling thread's. */
bool rd_writer_is_mine (const struct rd_writer_state *writer);

/* The calling thread's own writer of this recorder, made current on top of
 * what was current before, until rd_writer_pop.  NULL: the recorder was
 * stopped, or there is no memory.  A thread keeps the writer, so that doing
 * this again costs no lock.  Pushing what is on the stack already is a
 * mistake. */
struct rd_writer_state *rd_writer_push (struct radio_recorder *recorder);
void rd_writer_pop (struct rd_writer_state *writer);

bool rd_writer_enter_slowly (struct rd_writer_state *writer);

/* The first half of entering: what it has to heed.  Only 0 means entered. */
static inline unsigned
rd_writer_enter_quickly (struct rd_writer_state *writer)
{
  atomic_store_explicit (&writer->busy, 1, memory_order_relaxed);
  atomic_signal_fence (memory_order_seq_cst);
  return atomic_load_explicit (&writer->attention, memory_order_acquire);
}

/* Begin and end of a change.  Nothing of the writer, its nodes and its log
 * may be touched outside.  False, without a need to leave: its recorder was
 * stopped.  Does not nest; what runs between must be short, and must not
 * call the public functions. */
static inline bool
rd_writer_enter (struct rd_writer_state *writer)
{
  if (__builtin_expect (rd_writer_enter_quickly (writer)
                        & (RD_ATTEND_STOPPED | RD_ATTEND_FENCES), 0))
    return rd_writer_enter_slowly (writer);
  return true;
}

static inline void
rd_writer_leave (struct rd_writer_state *writer)
{
  atomic_store_explicit (&writer->busy, 0, memory_order_release);
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

/* For recorder.c: a writer of a recorder; NULL without memory.  Not yet in
 * its list. */
struct rd_writer_state *rd_writer_new (struct radio_recorder *recorder,
                                       uint32_t number);

/* Stop it, as far as the flag goes. */
void rd_writer_stop (struct rd_writer_state *writer);

/* Wait until its thread is not busy. */
void rd_writer_wait (struct rd_writer_state *writer);

/* Release all that it recorded; then the struct. */
void rd_writer_clear (struct rd_writer_state *writer);
void rd_writer_free (struct rd_writer_state *writer);

/* Drop writers of stopped recorders from the calling thread's list. */
void rd_thread_purge (void);

/* Forget everything, in the child of a fork. */
void rd_thread_forget (void);

/* Once in the process, before any thread is taken on.  False: the system
 * has no more keys for threads' ends. */
bool rd_thread_init (void);

#endif /* RD_WRITER_H */
