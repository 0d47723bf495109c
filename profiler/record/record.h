/* SPDX-License-Identifier: MIT */
/* The recorder's insides: what a thread writes while it runs, and what the
 * collector reads when the recorder stops.
 *
 * Each recorded thread owns a writer: a stack of open frames, a tree of
 * nodes, and a log of spans in chunks.  One thread writes a writer at a time,
 * without locks or shared atomics.  Stopping is asymmetric: the writer sets
 * `busy' with a plain store around each change and looks at the recorder's
 * `stopped'; the stopper sets `stopped', makes every processor see it
 * (membarrier, or, where that is missing, the writers fence themselves) and
 * waits until nobody is busy.  After that nothing writes, and the collector
 * reads at leisure.
 *
 * A thread that ends gives its writer back to the recorder, and the next
 * thread goes on with it: the tree grows with the number of paths, not with
 * that of threads.
 *
 * Parents on other threads: radio_handoff_give makes a `shared' of the
 * innermost frame.  It counts how many children run at the moment, so the
 * union of their intervals is known exactly without keeping them: time is
 * covered while at least one runs.  While a frame has a shared, its own
 * thread's children go through it too.
 */
#ifndef RD_RECORD_H
#define RD_RECORD_H

#include <pthread.h>
#include <stdatomic.h>

#include <radio/profile.h>

#include "profiler/base/error.h"
#include "profiler/record/gauge.h"
#include "profiler/record/memory.h"
#include "profiler/record/text.h"

struct rd_writer_state;

/*------------------------------------------------------------------------
 * The tree, as one writer has it.  Times are in ticks of the clock.
 *----------------------------------------------------------------------*/

struct rd_tally {
  const struct radio_counter *counter;
  uint64_t value;
};

struct rd_text_note {
  const char *key;            /* static */
  char *value;
  enum radio_text_kind kind;
  bool varies;
};

struct rd_node {
  const struct radio_site *site;        /* NULL: a stand-in for `foreign' */
  struct rd_node *foreign;    /* the parent in another writer's tree; set in
                                 stand-ins, which are the roots of what was
                                 handed over */
  enum radio_edge edge;
  struct rd_node *parent;     /* in this tree */
  struct rd_node *first_child, *next_sibling;
  struct rd_node *latest_child;         /* found last: mostly found next */

  uint64_t calls;
  uint64_t total;
  uint64_t self;              /* of the interval: less the union */
  uint64_t work;              /* of the own thread's time */
  uint64_t wait;
  uint64_t queue;
  uint64_t min, max;
  uint64_t opens, lates, drops;         /* opens: filled when stopping */
  uint64_t histogram[RADIO_HISTOGRAM_BUCKETS];  /* of nanoseconds, by the
                                                   rate known at the start */
  bool throttled;             /* tiny and frequent: no longer logged */

  struct rd_tally *tallies;   /* a few; looked through */
  unsigned ntallies, tallies_capacity;
  struct rd_text_note *notes;
  unsigned nnotes, notes_capacity;

  /* Memory that was asked for; what is held is in the account, which is
   * made with the first block (NULL before) and outlives the node. */
  uint64_t alloc_count, alloc_nbytes;
  struct rd_account *account;

  uint32_t index;             /* in the collector's profile */
};

/*------------------------------------------------------------------------
 * The log
 *----------------------------------------------------------------------*/

enum {
  RD_LOG_LATE = 1,
  RD_LOG_OPEN = 2,
  RD_LOG_ASYNC = 4,
  RD_LOG_REMOTE_PARENT = 8,   /* parent is of another sequence: handed */
};

/* One run, written when it ends.  A span is known by its writer's number
 * and the count of scopes that the writer had opened before it. */
struct rd_log_span {
  uint64_t begin;
  uint64_t duration;
  struct rd_node *node;
  uint32_t sequence;          /* of this writer, when it began */
  uint32_t parent;            /* the parent's sequence; its writer's number
                                 is this one's, or in `extra' */
};

/* What few spans have: for those handed over, those that waited, those with
 * bytes or texts.  Beside the log, found by sequence. */
struct rd_log_extra {
  uint32_t sequence;
  uint32_t parent_writer;     /* its number */
  uint64_t submitted;
  uint64_t wait;
  uint64_t nbytes;
  uint32_t flags;
};

/* A thread that had the writer: spans whose sequence is at least `first'
 * and below the next session's are its. */
struct rd_session {
  uint32_t first;
  uint64_t os_tid;
  char name[64];
};

/*------------------------------------------------------------------------
 * Frames and writers
 *----------------------------------------------------------------------*/

#define RD_MAX_DEPTH 256      /* deeper scopes count into the deepest */

struct rd_shared;

struct rd_frame {
  struct rd_node *node;
  uint64_t begin;
  uint64_t covered;           /* by scopes that ended, on this thread */
  uint64_t elsewhere;         /* of these, by ones that were received and so
                                 are no children */
  uint64_t cpu_begin;         /* of BLOCKING scopes, in ns */
  uint64_t nbytes;            /* counters of unit "bytes", added */
  struct rd_shared *shared;   /* made by radio_handoff_give, else NULL */
  struct rd_shared *via;      /* its parent's, if that has one; else NULL */
  bool received;              /* the parent is not the frame below */
  bool attached;              /* the thread got the writer for this scope */
  struct rd_writer_state *previous;     /* the thread's before, then */
  uint64_t submitted;         /* of a received scope, else 0 */
  uint32_t sequence;
  uint32_t nskipped;          /* scopes deeper than RD_MAX_DEPTH, open */
};

struct rd_writer_state {
  struct radio_recorder *recorder;
  uint32_t number;            /* of this writer in the recorder */
  uint32_t epoch;             /* part of the tokens: other recorders' and
                                 other threads' tokens do not fit */
  bool tsc;                   /* which clock */
  bool fences;                /* no membarrier: fence in the hot path */
  bool logs;
  atomic_int busy;
  unsigned depth;             /* frames in use; frames[0] is the root's */
  struct rd_frame frames[RD_MAX_DEPTH];
  struct rd_node root;        /* its children are what began by itself; or,
                                 with `foreign', what was handed over */
  uint32_t next_sequence;
  uint64_t nscopes;
  struct rd_writer_state *following;    /* in the recorder's list of all */
  bool is_free;               /* its thread ended: may be given again */
  struct rd_texts texts;
  struct rd_samples samples;
  /* The log's chunks and sessions follow here; see log.h.
   * The writer of requests (recorder->async_writer) is used under the
   * recorder's mutex by whichever thread ends one. */
};

/* A parent for other threads.  Its fields are guarded by mutex. */
struct rd_shared {
  pthread_mutex_t mutex;
  atomic_uint nrefs;          /* not under the mutex */
  struct radio_recorder *recorder;
  struct rd_node *node;
  uint32_t writer, sequence;  /* which span it is */
  unsigned nactive;           /* children that run now */
  uint64_t cover_begin;       /* since when, if nactive > 0 */
  uint64_t covered;           /* before that */
  uint64_t latest;            /* the clock, when it was last read here */
  bool ended;                 /* the frame is gone: children are late */
};

#endif /* RD_RECORD_H */
