/* SPDX-License-Identifier: MIT */
/* The recorder's data: the state that threads write while they run, and that
 * the collector reads when the recorder stops.
 *
 * Each recorded thread owns a writer: a stack of open frames, a tree of
 * nodes, and a log of spans in chunks.  One thread writes a writer at a time,
 * without locks or shared atomics.  Stopping is asymmetric: the writer sets
 * `busy' with a plain store around each change and checks whether it was
 * stopped; the stopper sets that flag, makes every processor see it
 * (membarrier; without it the writers fence themselves) and waits until no
 * writer is busy.  After that nothing writes, and the collector reads.
 *
 * A snapshot pauses the writers in the same way, for as long as it copies
 * them.
 *
 * A signal handler may interrupt any of this on its own thread.  It finds the
 * writer busy, or the thread inside (writer.h): then what it records is
 * dropped, and counted.
 *
 * A thread that ends returns its writer to the recorder, and the next thread
 * reuses it: the tree grows with the number of paths, not of threads.
 *
 * Parents on other threads: radio_handoff_give makes a `shared' of the
 * innermost frame.  It counts how many children run at the moment, so the
 * union of their intervals is known exactly without keeping them: time is
 * covered while at least one runs.  While a frame has a shared, its own
 * thread's children go through it too.
 *
 * Layers, each calling only those before it: clock, run queue, usage; arena;
 * names; notes; slow; tree; log and span memory; writer; shared, tap, frame;
 * process; scope, handoff, hooks; collect; snapshot; beat, slow-thread;
 * recorder; recover/, which makes a recorder out of an image.
 */
#ifndef RD_RECORD_H
#define RD_RECORD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <radio/profile.h>

#include "profiler/counters.h"
#include "profiler/model/sum.h"
#include "profiler/record/arena.h"
#include "profiler/record/names.h"
#include "profiler/record/run-queue.h"
#include "profiler/record/usage.h"

struct rd_image_header;
struct rd_node;
struct rd_origin;
struct rd_writer_state;
struct rd_shared;
struct rd_slow;

/*------------------------------------------------------------------------
 * Notes: texts of spans and nodes, and samples of gauges
 *----------------------------------------------------------------------*/

struct rd_text_note {
  const char *key;            /* of rd_names_keep */
  char *value;
  size_t nbytes;              /* of value, without the NUL */
  enum radio_text_kind kind;
  bool varies;
};

/* Spans of one node mostly repeat the values of those before: so texts share
 * their values. */
struct rd_text_value {
  size_t nrefs;               /* of texts, of spans that have it in their
                                 extra, and of recent */
  size_t nbytes;              /* with the NUL */
  const char *own_key;        /* of spans that hold it in their extra, or
                                 NULL */
  char at[];
};

/* A text of a span. */
struct rd_log_text {
  uint64_t sequence;
  enum radio_text_kind kind;
  const char *key;            /* of rd_names_keep */
  struct rd_text_value *value;
};

/* The last value of a key; holds a reference. */
struct rd_text_recent {
  const char *key;            /* the caller's; NULL: none yet */
  const char *name;           /* the same of rd_names_keep */
  struct rd_text_value *value;
  const struct rd_node *node; /* one whose note of the key is this value, or
                                 varies; or NULL */
};

#define RD_NRECENT 32

/* The texts of one writer, in the order in which they were set. */
struct rd_texts {
  const struct rd_writer_state *ring;   /* the writer, if its log is a ring: the
                                           oldest texts are dropped; or
                                           NULL */
  struct radio_recorder *recorder;
  struct rd_log_text *at;
  size_t n, capacity;
  size_t nown;                /* spans in the log that hold their text in
                                 their extra */
  size_t nbytes;              /* of the values */
  struct rd_text_recent recent[RD_NRECENT];     /* by key */
  uint64_t dropped_count;
};

struct rd_log_sample {
  uint64_t time;
  int64_t value;
  uint32_t gauge;             /* of rd_samples_gauge */
};

struct rd_gauge {
  const struct radio_counter *counter;  /* the caller's */
  struct radio_counter kept;
};

/* The values of gauges on one thread, in bounded memory: when it is full,
 * the time between samples of one gauge doubles, and of those closer the
 * last one stays. */
struct rd_samples {
  struct radio_recorder *recorder;
  RD_VECTOR (struct rd_gauge) gauges;
  struct rd_log_sample *at;
  size_t n, capacity;
  uint64_t spacing;           /* ticks; 0: every sample is kept */
  uint64_t dropped_count;
};

/*------------------------------------------------------------------------
 * The tree of one writer.  Times are in ticks of the clock.
 *----------------------------------------------------------------------*/

/* The bytes that one run added to its node's counters, by their slots.  The
 * same bytes are requested, fetched, decoded and delivered: a run moved as
 * many as its largest counter, not their sum. */
#define RD_NSLOTS 8           /* counters in further ones are left out */

struct rd_tally {
  const struct radio_counter *counter;  /* the caller's: to find it; its names
                                           are in kept */
  uint64_t value;             /* saturates: see rd_sum */
  unsigned slot;              /* of a counter whose unit is "bytes";
                                 RD_NSLOTS: none */
  bool is_of_set;             /* was made for a set, which may add nothing */
  struct radio_counter kept;
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

/* Returns the largest, and zeroes all. */
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

/* The memory that the scopes of one node hold; or all of a recorder, then
 * `whole' is NULL.  A block outlives the scope that allocated it, and often
 * the recorder: so it carries neither a node nor an index but an account,
 * which has one reference for the node and one for each block held. */
struct rd_account {
  atomic_size_t nrefs;
  _Atomic int64_t live;       /* bytes held */
  _Atomic int64_t peak;       /* of live */
  struct rd_account *whole;   /* a reference */
};

/* Durations below one unit, and one octave each from there on. */
#define RD_NOCTAVES 65

struct rd_node {
  /* Changed by the end of a scope, and read by the begin of a child: one
   * cache line. */
  _Alignas (64) const struct radio_site *site;  /* the caller's: to find it;
                                           its names are in kept.  NULL: a
                                           stand-in for `foreign', or a
                                           writer's root */
  uint64_t total;             /* as throttling sees it; exact when stopped */
  uint64_t nlogged;           /* spans of it that are in the log; of a ring 0,
                                 since all runs are in its figures */
  uint64_t threshold;         /* shorter spans are not logged */
  uint64_t tag;               /* makes a span's first word of a frame's id */
  uint32_t number;            /* in writer->nodes, parents first */
  uint8_t kind;               /* the site's: enum radio_scope_kind */
  bool is_in_ring;            /* the log is a ring */
  struct rd_node *latest_child;         /* of ordinary kind; never NULL:
                                           see tree.c */
  struct rd_node *successor;  /* the sibling that began after this one */

  /* The next cache line: amounts of ended scopes (see rd_node_add_set) that
   * are not in the tallies yet. */
  const struct rd_counter_set *set;     /* the last one; or NULL */
  uint64_t sums[RD_NAMOUNTS];
  struct rd_node *parent;     /* in this tree */
  struct rd_node *foreign;    /* the parent in another writer's tree; set in
                                 stand-ins, the roots of handed-over
                                 scopes */
  enum radio_edge edge;
  uint32_t nfirst;            /* its first spans that a compaction of the
                                 log keeps */
  uint32_t trigger;           /* rd_slow_find; 0: none */

  /* Figures of the runs that are not in the log; those in the log are added
   * when stopping.  With a ring, which loses spans all the time, they are of
   * all runs. */
  uint64_t min, max;          /* min is UINT64_MAX before the first call */
  uint64_t unlogged;          /* their total */
  uint64_t drops;             /* their number: see rd_node_drop; when stopped,
                                 of those that are not in the log */

  /* Set when stopping: calls are the runs that are logged or in the octaves;
   * self is total less the children on the same thread, plus `self_adjust',
   * modulo 2^64. */
  uint64_t calls;
  uint64_t self;              /* of the interval: less the union */
  uint64_t self_adjust;

  /* The thread's own time (less everything inside) is self + this, modulo
   * 2^64: more than self where children ran on other threads, less where
   * scopes inside were received from elsewhere. */
  uint64_t own_above_self;
  uint64_t wait;
  uint64_t starved;           /* of work: runnable, but without a CPU */
  uint64_t work;              /* set when stopping: own less wait */
  uint64_t queue;
  uint64_t opens, lates;
  uint64_t nskipped;          /* scopes below it that were not recorded: too
                                 deep, or no memory */
  bool throttled;             /* tiny and frequent: only long runs of it are
                                 logged */
  uint64_t octaves[RD_NOCTAVES];        /* by duration, as min and max; see
                                           tree.h */

  struct rd_tally *tallies;   /* a few; searched linearly */
  size_t ntallies, tallies_capacity;
  struct rd_text_note *notes;
  size_t nnotes, notes_capacity;

  /* Memory allocated; the memory still held is in the account, which is
   * made with the first block (NULL before) and outlives the node. */
  uint64_t alloc_count, alloc_nbytes;
  struct rd_account *account;

  /* For readers: the counters of `set', and an amount that is being moved into
   * its tally, with the tally's value after that; see tree.c. */
  const struct radio_counter *counters[RD_NAMOUNTS];
  uint64_t moved_value;
  unsigned moving;            /* 1 + its place; 0: none */

  struct radio_site kept;
  struct radio_recorder *recorder;
  uint32_t writer;            /* its number */
  uint32_t index;             /* in the collector's profile */
  bool folded;                /* index is the parent's: this node is deeper
                                 than profiles may be */
};

/*------------------------------------------------------------------------
 * The log
 *----------------------------------------------------------------------*/

enum {
  RD_LOG_LATE = 1,
  RD_LOG_OPEN = 2,
  RD_LOG_ASYNC = 4,
  RD_LOG_REMOTE_PARENT = 8,   /* parent is of another sequence: handed */
  RD_LOG_TILE = 16,           /* has a tile; was not handed over */
  RD_LOG_TEXT = 32,           /* has a text in its extra; no tile, and was
                                 not handed over */
};

/* One run, written when it ends.  A span is identified by its writer's
 * number and its sequence: 1 + the count of scopes that the writer had opened
 * before it.  Sequences have 48 bits: at 30 ns a scope they last for three
 * months. */
struct rd_log_span {
  uint64_t begin;
  uint64_t duration_more;     /* the highest bit: an extra follows */
  uint64_t sequence_node;     /* 48 bits of sequence, 16 of the node's
                                 number */
  uint64_t parent_epoch;      /* 48 bits of the parent's sequence (0: none);
                                 in a ring rd_span_check, else the rest is
                                 ignored.  Its writer is this one, or in the
                                 extra */
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

#define RD_SPAN_CHECK 0xffff    /* bits of parent_epoch */

/* A sum of all else in a span, by which a reader of a ring's file knows that it
 * is sound.  Not 0 of zeros. */
static inline uint64_t
rd_span_check (const struct rd_log_span *span)
{
  uint64_t more = span->duration_more, of = span->sequence_node;
  uint64_t parent = span->parent_epoch & ~(uint64_t) RD_SPAN_CHECK;
  uint64_t sum = span->begin ^ (more << 17 | more >> 47)
                 ^ (of << 37 | of >> 27) ^ (parent << 51 | parent >> 13);
  return (~sum * UINT64_C (0x9e3779b97f4a7c15)) >> 48;
}

static inline void
rd_span_seal (struct rd_log_span *span)
{
  span->parent_epoch = (span->parent_epoch & ~(uint64_t) RD_SPAN_CHECK)
                       | rd_span_check (span);
}

/* Follows spans that were handed over, that waited, or that have bytes, in
 * the next slot of the log. */
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
  uint32_t flags;             /* the lowest 8 bits; see rd_log_starved */
};

/* The ticks of its own time in which a span's thread had no CPU, in the bits
 * above the flags: 18 bits, and by how many others they are shifted.  So they
 * are less by 4 millionths at most, and spans take no more room. */
static inline uint32_t
rd_log_pack_starved (uint64_t ticks)
{
  unsigned nbits = ticks ? 64 - (unsigned) __builtin_clzll (ticks) : 0;
  unsigned shift = nbits > 18 ? nbits - 18 : 0;
  return (uint32_t) (ticks >> shift) << 14 | shift << 8;
}

static inline uint64_t
rd_log_starved (const struct rd_log_extra *extra)
{
  return (uint64_t) (extra->flags >> 14) << (extra->flags >> 8 & 63);
}

union rd_log_slot {
  struct rd_log_span span;
  struct rd_log_extra extra;  /* of the span before */
};

/* Spans in the order in which they ended.  A span and its extra are in the
 * same chunk. */
struct rd_log_chunk {
  struct rd_log_chunk *next;
  union rd_log_slot *slots;
  size_t nslots;              /* used; set when the log moves on to the next
                                 chunk, or the recorder stops */
  uint64_t nbefore;           /* spans of a ring when it was appended */
  size_t nwanted;             /* of them: a snapshot's */
  atomic_uint copying;        /* of enum rd_copying */
};

/* A copy of a chunk for a snapshot.  Its owner makes it if it is about to use
 * the chunk again. */
enum rd_copying { RD_COPY_NONE, RD_COPY_WANTED, RD_COPY_UNDER_WAY };

static inline size_t
rd_span_nslots (const struct rd_log_span *span)
{
  return rd_span_has_extra (span) ? 2 : 1;
}

/* The extra of a span; all zeros where it has none. */
static inline const struct rd_log_extra *
rd_span_extra (const struct rd_log_span *span)
{
  static const struct rd_log_extra none;
  const union rd_log_slot *slot = (const union rd_log_slot *) span;
  return rd_span_has_extra (span) ? &slot[1].extra : &none;
}

/* A thread that had the writer: its spans are those whose sequence is at
 * least `first' and below the next session's. */
struct rd_session {
  uint64_t first;
  uint64_t os_tid;
  bool is_named;              /* by radio_thread_name */
  char name[64];
};

/* The cold part of a log; the hot part is in the writer. */
struct rd_log {
  struct rd_log_chunk *first, *last;
  size_t nchunks;
  uint64_t nappended;         /* slots ever used, without the last chunk's */
  uint64_t threshold;         /* since the last compaction; in ticks */
  size_t next_throttled;      /* of the writer's nodes; see tree.h */
  uint64_t nspans;            /* of a ring, ever */
  uint64_t retired_until;     /* the end of the last run that left the ring; 0:
                                 none did */
};

/*------------------------------------------------------------------------
 * Frames and writers
 *----------------------------------------------------------------------*/

#define RD_MAX_DEPTH 256      /* levels; deeper scopes count into the last */

/* Marks of frames that need more than the fastest end.  Frames with all but
 * SPECIAL, as fetches of tiles have, end in the hot path. */
enum {
  RD_FRAME_COUNTED = 1,       /* has bytes */
  RD_FRAME_NOTED = 2,         /* has texts */
  RD_FRAME_BLOCKING = 4,      /* is of that kind, and has cpu_begin and
                                 waited_before */
  RD_FRAME_SPECIAL = 8,       /* has any other member from `special' on */
  RD_FRAME_RUNNING = 16,      /* is of kind BLOCKING, has no cpu_begin, and
                                 did not report: see rd_scope_begin_running */
};

/* All members from `special' on are zero in frames that are not open, and in
 * open ones without a mark: the hot path neither reads nor clears them.  The
 * members that it does read are in one cache line, with the bytes of a first
 * counter. */
struct rd_frame {
  _Alignas (64) struct rd_node *node;
  uint64_t begin;
  uint64_t covered;           /* by scopes that ended, on this thread */
  uint64_t id;                /* the token: the sequence above the writer's
                                 epoch; and RD_ID_MARK, which no token has */
  bool fenced;                /* children take the slow path: there is a
                                 shared, or no room for them */

  /* From here on zero, unless marked. */
  unsigned char special;
  bool is_tapped;             /* taps were called at its begin */
  bool received;              /* the parent is not the frame below */
  bool attached;              /* the writer was pushed for this scope:
                                 rd_writer_pop at its end */
  uint32_t flags;             /* RD_LOG_TILE, or 0 */
  uint32_t stored_nbytes;
  uint64_t tile;
  struct rd_run_bytes bytes;
  uint64_t elsewhere;         /* part of covered: by scopes that were
                                 received and so are no children */
  struct rd_shared *shared;   /* made by radio_handoff_give, or NULL */
  struct rd_shared *via;      /* its parent's shared, or NULL */
  const struct rd_cover *cover, *via_cover;     /* of these */
  uint64_t submitted;         /* of a received scope, else 0 */
  uint64_t cpu_begin;         /* of BLOCKING scopes, in ticks */
  uint64_t waited_before;     /* of these: writer->waited at the begin */
  uint64_t starved;           /* known so far, of its own time */
  uint64_t slept;             /* the same */
  uint64_t cpu_begin_ns;      /* with a trigger by CPU time */
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

/* The scope's end will not take the fastest path. */
static inline void
rd_frame_mark (struct rd_frame *frame, unsigned marks)
{
  frame->special |= (unsigned char) marks;
  frame->id |= RD_ID_MARK;
}

static inline uint64_t
rd_frame_token (const struct rd_frame *frame)
{
  return frame->id & ~(uint64_t) RD_ID_MARK;
}

/* Conditions under which a writer leaves the fastest path. */
enum {
  RD_ATTEND_STOPPED = 1,
  RD_ATTEND_FENCES = 2,       /* no membarrier: fence in the hot path */
  RD_ATTEND_TAPS = 4,
  RD_ATTEND_CLOCK = 8,        /* the clock is not the counter */
  RD_ATTEND_BUSY = 16,        /* busy is this or 0: see rd_writer_enter */
  RD_ATTEND_PAUSED = 32,      /* a snapshot copies it: threads wait */
};

struct rd_node_block;

struct rd_writer_state {
  /* Hot: one cache line. */
  _Alignas (64) atomic_uint busy;
  atomic_uint attention;
  struct rd_frame *top;       /* frames[0] is the root's */
  uint64_t next_id;           /* in steps of RD_ID_STEP */
  union rd_log_slot *log_next, *log_end;        /* room in the last chunk */
  uint64_t long_own;          /* ticks from which on a scope's own time is
                                 read from the run queue, too; below 2^63 */
  uint64_t last_end;          /* of all runs that ended */
  struct rd_node *pending_node;         /* of the last run that was not
                                           logged: not in its octaves yet */
  uint64_t pending_duration;
  uint64_t pending_unlogged;  /* of that node, with this run */
  double octave_scale;        /* units in a tick; see tree.h */

  struct rd_clock clock;
  struct rd_rate rate;
  int octave_shift;           /* a unit is 2 to the power of this, in ns */
  uint64_t first_begin;       /* 0: nothing began yet */
  uint64_t waited;            /* ticks without a CPU, as far as known: of
                                 wait, and starved */
  struct rd_run_queue queue;  /* of the thread that has the writer */

  /* CPU time of the process when the first scope began, and about when the
   * last one without a scope around it, or a long one of a ring, ended. */
  struct rd_cpu_mark first, last;

  /* CPU time of the thread: a reading of the CPU clock is used for a while,
   * as if the thread had run since, except in its known waits. */
  struct {
    uint64_t fresh_until;     /* 0: it was never read */
    uint64_t above;           /* CPU time less (clock less waited), modulo
                                 2^64 */
    uint64_t fresh_for;       /* the clock's cpu_fresh_ns, in ticks */
    uint64_t least_wait;      /* and its least_wait_ns */
  } cpu;

  struct radio_recorder *recorder;
  struct rd_writer_state *older;        /* the writer made before; NULL */
  uint32_t number;            /* in recorder->synced.writers */
  struct rd_node root;        /* parent of the scopes without one; and, of
                                 stand-ins with `foreign', for handed-over
                                 scopes */
  struct rd_node **nodes;     /* by number; [0] is the root */
  size_t nnodes, nodes_capacity;
  struct rd_node_block *node_blocks;
  uint32_t *node_table;       /* children by parent and site; see tree.c */
  size_t node_table_size;

  /* The times when another recorder had the thread. */
  uint64_t naway;
  uint64_t away;              /* ticks */
  uint64_t away_since;        /* 0: the writer is the current one, or on no
                                 thread's stack */
  uint64_t nleft;             /* scopes left without an end */
  uint64_t noutside;          /* counts and texts outside of all scopes */
  volatile uint64_t ninterrupting;      /* events of signal handlers that
                                           interrupted the recorder */

  /* The scope in which something failed last: see hooks.c. */
  struct {
    enum radio_status status; /* RADIO_OK: no failure */
    uint64_t sequence;
    struct rd_node *node;
  } failure;

  struct rd_log log;
  struct rd_texts texts;
  struct rd_samples samples;
  RD_VECTOR (struct rd_session) sessions;
  uint64_t session_mark;      /* rd_log_mark when the last session began */

  /* Guarded by the recorder's mutex: */
  struct rd_run_account observed;       /* see rd_recorder_observe */
  /* And ownership: */
  bool is_free;               /* its thread ended: another one may have it */
  struct rd_writer_state *next_free;
  /* For the thread that has it: */
  bool is_own;                /* started by radio_recorder_start there */
  struct rd_writer_state *next_mine;    /* in the thread's list */
  struct rd_writer_state *below;        /* current again when this one is
                                           popped */
  struct rd_frame frames[RD_MAX_DEPTH + 1];
};

/* The sequence of a run that has no frame. */
static inline uint64_t
rd_writer_next_sequence (struct rd_writer_state *writer)
{
  uint64_t id = writer->next_id;
  writer->next_id += RD_ID_STEP;
  return id >> 16;
}

/* A frame that is a parent for other threads, and the union of its
 * children. */
struct rd_cover {
  struct rd_node *node;
  uint32_t writer;            /* this and sequence identify the span */
  uint64_t sequence;
  unsigned nactive;           /* children that run now */
  uint64_t cover_begin;       /* since when, if nactive > 0 */
  uint64_t covered;           /* before that */
  uint64_t latest;            /* last reading of the clock here */
  bool ended;                 /* the frame is gone: children are late */
};

/* The same as other threads, and children of fork, may touch it: not in the
 * arena. */
struct rd_shared {
  pthread_mutex_t mutex;
  atomic_uint nrefs;          /* not under the mutex */
  struct radio_recorder *recorder;
  struct rd_cover *cover;     /* guarded by mutex; in the arena, or `own' */
  struct rd_cover own;
};

/*------------------------------------------------------------------------
 * Recorders
 *----------------------------------------------------------------------*/

struct rd_recorder_fact {
  char *key;
  char *value;
  enum radio_text_kind kind;
};

struct rd_span_memory;

struct radio_recorder {
  atomic_uint nrefs;          /* the handle, each thread's writer, ... */
  struct radio_recorder *next_running;        /* under the process's mutex */
  unsigned generation;        /* rd_process_generation; differs in children */
  uint64_t serial;            /* of the recorder in the process; not 0 */
  bool whole_process;
  bool tree_only;
  bool fences;
  bool taps;
  char *title;                /* NULL: the program's name */
  struct rd_clock clock;
  struct rd_rate rate;        /* as known at the start; when stopped, between
                                 the anchors */
  struct rd_anchor start, stop;
  bool clock_jumped;          /* between them */
  struct rd_usage usage;      /* at the start; when stopped, since then */
  uint64_t started_unix_ns;
  double scope_cost_ns;       /* of one scope */
  uint64_t throttle_below;    /* ticks: shorter means are not logged */
  struct rd_arena *arena;     /* of all of it that a reader needs; NULL: the
                                 heap */
  struct rd_image_header *header;       /* of the arena, or NULL */
  const struct rd_origin *origin;       /* of a recovered recorder; NULL: this
                                           process */
  struct rd_beat *beat;       /* of a ring in a file, or NULL */
  struct rd_slow *slow;       /* triggers of a ring, or NULL */
  uint64_t own_cpu_ns;        /* of rd_thread_charge; when stopped */
  uint64_t unread_cpu;        /* ticks of CPU time, at most, that threads of a
                                 process which was recovered had after it was
                                 last read; else 0 */
  uint64_t seen;              /* ticks: of a process that ended, and was
                                 recovered, the last sign of life; else 0 */
  struct rd_names *names;     /* of all trees and logs */
  struct rd_span_memory *span_memory;   /* of all logs; NULL: tree only */
  uint64_t ring_nbytes;       /* size of the log's ring; 0: no ring */
  struct rd_account *account; /* of all memory; made when starting */

  /* Held while a snapshot is taken, without the other one while spans are
   * copied: to where all of the image goes. */
  pthread_mutex_t snapshot_mutex;
  unsigned char *snapshot;

  pthread_mutex_t mutex;
  struct {
    bool stopped;
    RD_VECTOR (struct rd_writer_state *) writers;        /* by number */
    struct rd_writer_state *free_writers;
    struct rd_writer_state *async_writer;       /* of requests; see
                                                   rd_async_writer */
    struct radio_async *asyncs; /* open requests; see handoff.c */
    RD_VECTOR (struct rd_recorder_fact) facts;
    uint64_t nrefused;        /* threads that could not be recorded */
    uint64_t observed;        /* ticks: the last rd_recorder_observe; or 0 */
  } synced;
};

/* Another reference to the recorder; see rd_recorder_unref. */
static inline void
rd_recorder_ref (struct radio_recorder *recorder)
{
  atomic_fetch_add_explicit (&recorder->nrefs, 1, memory_order_relaxed);
}

#endif /* RD_RECORD_H */
