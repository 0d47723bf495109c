/* SPDX-License-Identifier: MIT */
/* Slow runs: those of scopes that a trigger names, and that took longer than
 * it allows, each give a profile.
 *
 * Nodes of such scopes are marked when they are made, and are the only ones
 * that cost more than without triggers: their scopes leave the hot path.  At
 * the end of a run that is too long, its thread puts the run's place in the
 * log into a queue, up to a limit per minute, of which each trigger has a
 * quota.  A thread of the recorder copies the log, as a snapshot does, and
 * makes the profile from the run's spans in it. */
#ifndef RD_SLOW_H
#define RD_SLOW_H

#include <pthread.h>
#include <stdatomic.h>

#include "profiler/record/record.h"
#include "profiler/triggers.h"

#define RD_SLOW_PER_MINUTE 10

/* A run that ended. */
struct rd_slow_run {
  uint32_t writer;
  uint64_t sequence;
  uint64_t begin, duration;   /* ticks */
  uint64_t cpu_ns;            /* of its thread; 0: not read */
  bool is_cpu;                /* that is above the limit, not the duration */
  uint32_t trigger;
};

/* When a run that was queued ended: ticks. */
struct rd_slow_end {
  uint64_t end;
  uint32_t trigger;
};

struct rd_slow_counts {
  uint64_t written;
  uint64_t dropped;           /* since there were too many, since they were not
                                 in the log any more, or since it failed */
  char error[160];            /* the last one; "": none */
};

struct rd_slow {
  struct rd_triggers triggers;
  uint64_t wall[RD_MAX_TRIGGERS];       /* ticks; UINT64_MAX: any */
  uint64_t least[RD_MAX_TRIGGERS];      /* ticks: no shorter run is slow, on
                                           the clock or on a CPU */
  atomic_bool is_known[RD_MAX_TRIGGERS];        /* a scope has its name */
  uint64_t minute;            /* ticks */
  unsigned per_minute;
  radio_slow_fn *report;
  void *user_data;

  pthread_t thread;
  bool is_running;
  struct rd_slow_run *taken;  /* per_minute, for the thread */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct {
    bool ends;
    struct rd_slow_run *runs; /* a queue of per_minute */
    size_t first, n;
    struct rd_slow_end *ends_of_runs;   /* of the last per_minute that were
                                           queued, in turn */
    uint64_t nqueued;
    struct rd_slow_counts counts;
  } synced;
};

/* The triggers of a recorder that is about to start, by its rate.  Errors:
 * RADIO_ERROR_ARGUMENT, RADIO_ERROR_MEMORY. */
enum radio_status rd_slow_new (const struct radio_slow_options *options,
                               const struct rd_rate *rate,
                               struct rd_slow **slow) RADIO_USE_RESULT;

/* NULL is legal. */
void rd_slow_free (struct rd_slow *slow);

/* 1 + the trigger of a scope's name; 0: none, or there are no triggers. */
uint32_t rd_slow_find (struct rd_slow *slow, const char *name);

/* True if the CPU time is needed from the begin of a run on. */
static inline bool
rd_slow_needs_cpu (const struct rd_slow *slow, uint32_t trigger)
{
  return slow && slow->triggers.at[trigger - 1].cpu_ns > 0;
}

/* The duration, in ticks, from which on runs of a node with a trigger must be
 * in the log. */
static inline uint64_t
rd_slow_least (const struct rd_slow *slow, uint32_t trigger)
{
  return slow ? slow->least[trigger - 1] : UINT64_MAX;
}

/* A run of a node with a trigger ended, on the entered writer (or, of a
 * request, under the recorder's mutex; then its thread's CPU time is
 * UINT64_MAX).  cpu_begin_ns: rd_clock_cpu_ns at its begin. */
void rd_slow_check (const struct rd_writer_state *writer,
                    const struct rd_node *node, uint64_t sequence,
                    uint64_t begin, uint64_t duration,
                    uint64_t cpu_begin_ns);

struct rd_slow_counts rd_slow_counts (struct rd_slow *slow);

/* The thread (slow-thread.c).  Start: errors of creating a thread.  End: what
 * is in the queue is still written; later runs are dropped.  Not in a child of
 * fork, which has no such thread.  Both without effect if there are no
 * triggers. */
enum radio_status rd_slow_start (struct radio_recorder *recorder)
  RADIO_USE_RESULT;
void rd_slow_end (struct radio_recorder *recorder);

/* Called by a radio_slow_fn of the library: the run has no profile, as the
 * thread's message says. */
void rd_slow_fail (void);

/* True if the caller is that thread. */
bool rd_slow_is_thread (const struct radio_recorder *recorder);

#endif /* RD_SLOW_H */
