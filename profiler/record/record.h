/* SPDX-License-Identifier: MIT */
/* The recorder's insides: what a thread writes while it runs, and what the
 * collector reads when the recorder stops.
 *
 * Each recorded thread owns a writer: a stack of open frames, a tree of
 * nodes, and a log of spans in chunks.  One thread writes a writer at a time,
 * without locks or shared atomics.  Stopping is asymmetric: the writer sets
 * `busy' with a plain store around each change and looks whether it was
 * stopped; the stopper says so, makes every processor see it (membarrier,
 * or, where that is missing, the writers fence themselves) and waits until
 * nobody is busy.  After that nothing writes, and the collector reads at
 * leisure.
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

#include "src/base/error.h"
#include "profiler/counters.h"
#include "profiler/model/vector.h"
#include "profiler/record/clock.h"
#include "profiler/record/gauge.h"
#include "profiler/record/memory.h"
#include "profiler/record/text.h"

struct rd_writer_state;
struct rd_shared;

/*------------------------------------------------------------------------
 * The tree, as one writer has it.  Times are in ticks of the clock.
 *----------------------------------------------------------------------*/

/* What one run added to its node's counters of bytes, by their slots.  The
 * same bytes are asked for, fetched, decoded and delivered: a run moved as
 * many as its largest counter says, not all of these together. */
#define RD_NSLOTS 8           /* counters in further ones are left out */

/* Values saturate: see rd_sum. */
struct rd_tally {
  const struct radio_counter *counter;
  uint64_t value;
  unsigned slot;              /* of a counter whose unit is "bytes";
                                 RD_NSLOTS: it has none */
};

struct rd_run_bytes {
  unsigned nslots;            /* those from here on are zero */
  uint64_t of[RD_NSLOTS];
};

/* The tally has a slot. */
static inline void
rd_run_bytes_add (struct rd_run_bytes *bytes, const struct rd_tally *tally,
                  uint64_t value)
{
  if (bytes->nslots <= tally->slot)
    bytes->nslots = tally->slot + 1;
  bytes->of[tally->slot] = rd_sum (bytes->of[tally->slot], value);
}

/* The largest of them; all are zero then. */
static inline uint64_t
rd_run_bytes_take (struct rd_run_bytes *bytes)
{
  uint64_t most = 0;
  for (unsigned i = 0; i < bytes->nslots; i++) {
    if (bytes->of[i] > most)
      most = bytes->of[i];
    bytes->of[i] = 0;
  }
  bytes->nslots = 0;
  return most;
}

struct rd_text_note {
  const char *key;            /* static */
  char *value;
  size_t nbytes;              /* of it, without the NUL */
  enum radio_text_kind kind;
  bool varies;
};

/* Durations below one unit, and those of each octave from there on. */
#define RD_NOCTAVES 65

struct rd_node {
  /* What the end of a scope changes, and the begin of a child looks at: one
   * line of the cache. */
  _Alignas (64) const struct radio_site *site;  /* NULL: a stand-in for
                                           `foreign', or a writer's root */
  uint64_t total;
  uint64_t nlogged;           /* spans of it that are in the log */
  uint64_t threshold;         /* shorter spans are not logged */
  uint64_t tag;               /* makes a span's first word of a frame's id */
  uint32_t number;            /* in writer->nodes, parents first */
  enum radio_scope_kind kind; /* the site's */
  struct rd_node *latest_child;         /* of ordinary kind; never NULL:
                                           see tree.c */
  struct rd_node *successor;  /* the sibling that began after this one */

  /* The next line: what it ended with (see rd_node_add_set), not yet in the
   * tallies. */
  const struct rd_counter_set *set;     /* the last one; or NULL */
  uint64_t sums[RD_NAMOUNTS];
  struct rd_node *parent;     /* in this tree */
  struct rd_node *foreign;    /* the parent in another writer's tree; set in
                                 stand-ins, which are the roots of what was
                                 handed over */
  enum radio_edge edge;
  uint32_t nfirst;            /* of its first spans, what a compaction of
                                 the log keeps */

  /* Of the runs that the log does not have; when stopping those that it has
   * come to them. */
  uint64_t min, max;          /* min is UINT64_MAX before the first call */
  uint64_t drops;             /* how many these are */

  /* These are set when stopping: the calls, which are logged or in the
   * octaves, and self, which is what the children on the same thread leave
   * of total, but for what `self_adjust' adds to it, modulo 2^64. */
  uint64_t calls;
  uint64_t self;              /* of the interval: less the union */
  uint64_t self_adjust;

  /* The thread's own time (less all that it did inside) is self + this,
   * modulo 2^64: more than self where children ran on other threads, less
   * where scopes inside were received from elsewhere. */
  uint64_t own_above_self;
  uint64_t wait;
  uint64_t work;              /* set when stopping: own less wait */
  uint64_t queue;
  uint64_t opens, lates;
  uint64_t nskipped;          /* scopes below it that were not recorded: too
                                 deep, or no memory */
  bool throttled;             /* tiny and frequent: no longer logged */
  uint64_t octaves[RD_NOCTAVES];        /* by duration, as min and max; see
                                           tree.h */

  struct rd_tally *tallies;   /* a few; looked through */
  unsigned ntallies, tallies_capacity;
  struct rd_text_note *notes;
  unsigned nnotes, notes_capacity;

  /* Memory that was asked for; what is held is in the account, which is
   * made with the first block (NULL before) and outlives the node. */
  uint64_t alloc_count, alloc_nbytes;
  struct rd_account *account;

  uint32_t index;             /* in the collector's profile */
  bool folded;                /* index is of the node above: this one is
                                 deeper than profiles may be */
};

/*------------------------------------------------------------------------
 * The log
 *----------------------------------------------------------------------*/

enum {
  RD_LOG_LATE = 1,
  RD_LOG_OPEN = 2,
  RD_LOG_ASYNC = 4,
  RD_LOG_REMOTE_PARENT = 8,   /* parent is of another sequence: handed */
  RD_LOG_TILE = 16,           /* it is about a tile, and was not handed */
  RD_LOG_TEXT = 32,           /* it has a text itself, and is neither */
};

/* One run, written when it ends.  A span is known by its writer's number
 * and its sequence: the count of scopes that the writer had opened before it,
 * and 1.  Sequences have 48 bits: at 30 ns a scope they last for three
 * months. */
struct rd_log_span {
  uint64_t begin;
  uint64_t duration_more;     /* the highest bit: an extra is behind it */
  uint64_t sequence_node;     /* sequence, and the node's number below */
  uint64_t parent_epoch;      /* the parent's sequence (0: none) above what
                                 does not matter.  Its writer is this one,
                                 or in the extra */
};

#define RD_SPAN_HAS_EXTRA ((uint64_t) 1 << 63)

static inline uint64_t
rd_span_duration (const struct rd_log_span *span)
{
  return span->duration_more & ~RD_SPAN_HAS_EXTRA;
}

static inline bool
rd_span_has_extra (const struct rd_log_span *span)
{
  return (span->duration_more & RD_SPAN_HAS_EXTRA) != 0;
}

static inline uint64_t
rd_span_sequence (const struct rd_log_span *span)
{
  return span->sequence_node >> 16;
}

static inline uint64_t
rd_span_parent (const struct rd_log_span *span)
{
  return span->parent_epoch >> 16;
}

/* Index into the writer's nodes. */
static inline uint32_t
rd_span_node (const struct rd_log_span *span)
{
  return span->sequence_node & 0xffff;
}

/* What not all spans have: those handed over, those that waited, those with
 * bytes.  In the log, right behind the span. */
struct rd_log_extra {
  union {
    uint64_t submitted;
    uint64_t tile;            /* its number, with RD_LOG_TILE */
    const struct rd_text_value *text;   /* with RD_LOG_TEXT */
  };
  uint64_t wait;
  uint64_t nbytes;
  union {
    uint32_t parent_writer;   /* its number, with RD_LOG_REMOTE_PARENT */
    uint32_t stored_nbytes;   /* of the tile, with RD_LOG_TILE */
  };
  uint32_t flags;
};

union rd_log_slot {
  struct rd_log_span span;
  struct rd_log_extra extra;  /* of the span before */
};

/* Spans in the order in which they ended.  A span and its extra are in the
 * same chunk. */
struct rd_chunk {
  struct rd_chunk *next;
  union rd_log_slot *slots;
  size_t nslots;              /* used; known when the chunk was left, or the
                                 recorder stopped */
};

/* Slots that a span takes. */
static inline size_t
rd_span_nslots (const struct rd_log_span *span)
{
  return rd_span_has_extra (span) ? 2 : 1;
}

/* The extra of a span; where it has none, of zeros. */
static inline const struct rd_log_extra *
rd_span_extra (const struct rd_log_span *span)
{
  static const struct rd_log_extra none;
  const union rd_log_slot *slot = (const union rd_log_slot *) span;
  return rd_span_has_extra (span) ? &slot[1].extra : &none;
}

/* A thread that had the writer: spans whose sequence is at least `first'
 * and below the next session's are its. */
struct rd_session {
  uint64_t first;
  uint64_t os_tid;
  bool is_named;              /* by radio_thread_name */
  char name[64];
};

#define RD_ARRAY(type) struct { type *at; size_t n, capacity; }

/* The cold part of a log; the hot one is in the writer. */
struct rd_log {
  struct rd_chunk *first, *last;
  size_t nchunks;
  uint64_t nappended;         /* slots of chunks that were left, in all */
  uint64_t threshold;         /* since the last compaction; in ticks */
  size_t next_considered;     /* of the writer's nodes; see tree.h */
};

/*------------------------------------------------------------------------
 * Frames and writers
 *----------------------------------------------------------------------*/

#define RD_MAX_DEPTH 256      /* deeper scopes count into the deepest */

/* How a frame is out of the ordinary.  All but SPECIAL are what fetches of
 * tiles are, and end in the hot path. */
enum {
  RD_FRAME_COUNTED = 1,       /* it has bytes */
  RD_FRAME_NOTED = 2,         /* it has texts */
  RD_FRAME_BLOCKING = 4,      /* it is of that kind, and what its thread
                                 had run is noted */
  RD_FRAME_SPECIAL = 8,       /* it has anything else from `special' on */
  RD_FRAME_RUNNING = 16,      /* of that kind, nothing is noted, and it said
                                 nothing yet: see rd_scope_begin_running */
};

/* All from `special' on is zero in frames that are not open, and in open
 * ones unless rd_frame_mark said otherwise: the hot path neither looks at it
 * nor clears it.  What it does look at is in one line of the cache, with the
 * bytes of a first counter. */
struct rd_frame {
  _Alignas (64) struct rd_node *node;
  uint64_t begin;
  uint64_t covered;           /* by scopes that ended, on this thread */
  uint64_t id;                /* the token: the sequence above the writer's
                                 epoch; and RD_ID_MARK, which no token has */
  bool fenced;                /* children are out of the ordinary: there is a
                                 shared, or no room for them.  Whoever sets
                                 shared sets it too */

  /* From here on zero, unless marked. */
  unsigned char special;
  bool is_told;               /* taps were told of its begin */
  bool received;              /* the parent is not the frame below */
  bool attached;              /* the thread got the writer for this scope:
                                 rd_writer_pop at its end */
  uint32_t flags;             /* RD_LOG_TILE, or 0 */
  uint32_t stored_nbytes;
  uint64_t tile;
  struct rd_run_bytes bytes;
  uint64_t elsewhere;         /* of covered, by scopes that were received
                                 and so are no children */
  struct rd_shared *shared;   /* made by radio_handoff_give, else NULL */
  struct rd_shared *via;      /* its parent's, if that has one; else NULL */
  uint64_t submitted;         /* of a received scope, else 0 */
  uint64_t cpu_begin;         /* of BLOCKING scopes, in ticks */
  uint64_t waited_before;     /* of these: writer->waited at the beginning */
};

static inline uint64_t
rd_frame_sequence (const struct rd_frame *frame)
{
  return frame->id >> 16;
}

/* Ids are a sequence in the high 48 bits, and the writer's epoch, which is
 * not 0, in the low 15. */
#define RD_ID_STEP 0x10000
#define RD_ID_MARK 0x8000

/* The scope's end will go another way. */
static inline void
rd_frame_mark (struct rd_frame *frame, unsigned how)
{
  frame->special |= (unsigned char) how;
  frame->id |= RD_ID_MARK;
}

static inline uint64_t
rd_frame_token (const struct rd_frame *frame)
{
  return frame->id & ~(uint64_t) RD_ID_MARK;
}

/* What a writer has to heed in its hot path. */
enum {
  RD_ATTEND_STOPPED = 1,
  RD_ATTEND_FENCES = 2,       /* no membarrier: fence in the hot path */
  RD_ATTEND_TAPS = 4,
  RD_ATTEND_CLOCK = 8,        /* not the counter */
};

struct rd_node_block;

struct rd_writer_state {
  /* Hot: one line of the cache. */
  _Alignas (64) atomic_uint busy;
  atomic_uint attention;
  struct rd_frame *top;       /* frames[0] is the root's */
  uint64_t next_id;           /* in steps of RD_ID_STEP */
  union rd_log_slot *log_next, *log_end;        /* room in the last chunk */
  double octave_scale;        /* what ticks are in units; see tree.h */
  uint64_t last_end;           /* of all that ended */
  struct rd_node *pending_node;         /* of the last run that was not
                                           logged: not in its octaves yet */
  uint64_t pending_duration;

  struct rd_clock clock;
  struct rd_rate rate;
  int octave_shift;           /* a unit is 2 to the power of this, in ns */
  uint64_t first_begin;       /* 0: nothing began yet */
  uint64_t waited;            /* ticks of wait, in all */

  /* What the thread has run: the CPU clock is read when it was not for a
   * while, and otherwise taken to have gone on but for the waits that are
   * known. */
  struct {
    uint64_t fresh_until;     /* 0: it was never read */
    uint64_t above;           /* what it said above the clock less waited,
                                 modulo 2^64 */
    uint64_t fresh_for;       /* the clock's cpu_fresh_ns, in ticks */
    uint64_t least_wait;      /* and its least_wait_ns */
  } cpu;

  struct radio_recorder *recorder;
  uint32_t number;            /* in recorder->synced.writers */
  struct rd_node root;        /* its children are what began by itself; or,
                                 with `foreign', what was handed over */
  struct rd_node **nodes;     /* by number; [0] is the root */
  size_t nnodes, nodes_capacity;
  struct rd_node_block *node_blocks;
  uint32_t *node_table;       /* children by parent and site; see tree.c */
  size_t node_table_size;

  /* The scope in which something failed last: see failure.c. */
  struct {
    enum radio_status status; /* RADIO_OK: there is none */
    uint64_t sequence;
    struct rd_node *node;
  } failure;

  struct rd_log log;
  struct rd_texts texts;
  struct rd_samples samples;
  RD_ARRAY (struct rd_session) sessions;
  uint64_t session_mark;      /* how far the log was when it began */

  /* Whose it is.  Guarded by the recorder's mutex: */
  bool is_free;               /* its thread ended: may be given again */
  struct rd_writer_state *next_free;
  /* Of the thread that has it: */
  bool is_own;                /* started by radio_recorder_start there */
  struct rd_writer_state *next_mine;    /* in the thread's list */
  struct rd_writer_state *below;        /* current again when this one is
                                           no longer */
  struct rd_frame frames[RD_MAX_DEPTH];
};

/* The sequence of a run that has no frame. */
static inline uint64_t
rd_writer_next_sequence (struct rd_writer_state *writer)
{
  uint64_t id = writer->next_id;
  writer->next_id += RD_ID_STEP;
  return id >> 16;
}

/* A parent for other threads.  Its fields are guarded by mutex. */
struct rd_shared {
  pthread_mutex_t mutex;
  atomic_uint nrefs;          /* not under the mutex */
  struct radio_recorder *recorder;
  struct rd_node *node;
  uint32_t writer;            /* which span it is */
  uint64_t sequence;
  unsigned nactive;           /* children that run now */
  uint64_t cover_begin;       /* since when, if nactive > 0 */
  uint64_t covered;           /* before that */
  uint64_t latest;            /* the clock, when it was last read here */
  bool ended;                 /* the frame is gone: children are late */
};

/*------------------------------------------------------------------------
 * Recorders
 *----------------------------------------------------------------------*/

struct rd_recorder_fact {
  char *key;
  char *value;
  enum radio_text_kind kind;
};

struct rd_pool;

struct radio_recorder {
  atomic_uint nrefs;          /* the handle, each thread's writer, ... */
  unsigned generation;        /* of the process; another one in children */
  uint64_t serial;            /* of the recorder in the process; not 0 */
  bool whole_process;
  bool tree_only;
  bool fences;
  bool taps;
  char *title;                /* NULL: the program's name */
  struct rd_clock clock;
  struct rd_rate rate;        /* at the start as known then; when stopped,
                                 between the anchors */
  struct rd_anchor start, stop;
  uint64_t started_unix_ns;
  double scope_cost_ns;       /* of one scope */
  uint64_t throttle_below;    /* ticks: a mean that is not worth logging */
  struct rd_pool *pool;       /* of chunks */
  struct rd_account *account; /* of all memory; made when starting */

  pthread_mutex_t mutex;
  struct {
    bool stopped;
    RD_ARRAY (struct rd_writer_state *) writers;        /* by number */
    struct rd_writer_state *free_writers;
    struct rd_writer_state *async_writer;       /* of requests; see
                                                   rd_async_writer */
    struct radio_async *asyncs; /* that are open; see async.h */
    RD_ARRAY (struct rd_recorder_fact) facts;
    uint64_t nrefused;        /* threads that could not be recorded */
  } synced;
};

struct rd_recorder_setup {
  struct rd_clock clock;      /* used if read is set */
  bool fences;                /* as if there were no membarrier */
  double scope_cost_ns;       /* instead of a measured one, if not 0 */
};

/* radio_recorder_start, with what only tests choose; setup may be NULL. */
enum radio_status
rd_recorder_start (const struct radio_recorder_options *options,
                   const struct rd_recorder_setup *setup,
                   struct radio_recorder **recorder) RADIO_USE_RESULT;

/* Keep the recorder's struct and those of its writers in memory, though not
 * recording, and let them go.  Nodes, logs and texts are gone when it was
 * stopped.  Thread-safe. */
void rd_recorder_ref (struct radio_recorder *recorder);
void rd_recorder_unref (struct radio_recorder *recorder);

/* Whether this process is a child of the one that started the recorder:
 * nothing of it, its mutex least, may be touched then. */
bool rd_recorder_is_forked (const struct radio_recorder *recorder);

/* The writer that requests are written to, under the recorder's mutex by
 * whichever thread ends one; made at the first call.  The mutex is held.
 * NULL: no memory, or the recorder was stopped. */
struct rd_writer_state *rd_async_writer (struct radio_recorder *recorder);

/* All writers' ticks into one profile.  Called once, by radio_recorder_stop,
 * when nothing writes any more and all frames are closed.  Built in
 * collect.c. */
enum radio_status
rd_collect (const struct radio_recorder *recorder,
            struct radio_profile **profile) RADIO_USE_RESULT;

#endif /* RD_RECORD_H */
