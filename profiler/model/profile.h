/* SPDX-License-Identifier: MIT */
/* A finished profile in memory: the collector, the reader and the joiner build
 * it, and the exporters and the findings read it.  Builders call the functions
 * below in any order that keeps parents before children, set profile->info
 * (its strings by rd_profile_string), then rd_profile_finalize, after which
 * nothing changes any more.  Strings are copied by the functions that add
 * them, and equal ones are one: within a finished profile they may be compared
 * by their addresses. */
#ifndef RD_PROFILE_H
#define RD_PROFILE_H

#include <radio/calltree.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/reserve.h"

#define RD_NO_INDEX UINT32_MAX

/* A deeper node is refused, so that a tree may be walked by recursion; the
 * recorder folds deeper scopes into the node at this depth. */
#define RD_MAX_NODE_DEPTH 4096

/* Counters, gauges or facts of one profile, at most. */
#define RD_MAX_KEYS 4096

/* Facts that findings look for.  When profiles are joined, the numbers are
 * added up (facts.c). */
#define RD_FACT_FAILED "failed"         /* the message */
#define RD_FACT_TITLE "title"           /* the recorder's: no fact of a profile,
                                           but its title */
#define RD_FACT_CACHE "cache"           /* "warm", or how cold it was */
#define RD_FACT_PID "pid"
#define RD_FACT_CPU_NS "cpu ns"         /* of all threads of the process, in
                                           the wall time */
#define RD_FACT_CPU_LEAST_NS "cpu at least ns"  /* instead, where it is not
                                           known, and why it is not */
#define RD_FACT_CPU_UNKNOWN "cpu not known because"
#define RD_FACT_STEAL_NS "steal ns"     /* that a hypervisor gave to others,
                                           of all CPUs */
#define RD_FACT_QUOTA_NS "throttled ns" /* by the quota of its control group, on
                                           all CPUs together */
#define RD_FACT_MACHINE_NS "machine cpu ns"     /* of all processes */
#define RD_FACT_RECORDED_NS "recorded ns"       /* from the recorder's start to
                                           its stop, as "machine cpu ns" is */
#define RD_FACT_RECORDED_CPU_NS "recorded cpu ns"      /* of the process, in
                                           "recorded ns" */
#define RD_FACT_NO_DISK_NS "recorded without disks ns"  /* "recorded ns" of
                                           those that say what others waited
                                           for disks */
#define RD_FACT_OWN_NS "recorder's cpu ns"      /* of its own threads */
#define RD_FACT_NCPUS "ncpus"
#define RD_FACT_CPU_MODEL "CPU"
#define RD_FACT_CLOCK "clock MHz"       /* measured; of parts the mean */
#define RD_FACT_MINOR "page faults"     /* without a disk, of the process */
#define RD_FACT_MAJOR "page faults from disks"
#define RD_FACT_BLOCK_INPUT "bytes read from disks"     /* "0" is known */
#define RD_FACT_DISK_WAIT "disk wait of others ns"     /* CPUs idle while they
                                           waited; not known of a process
                                           that used disks itself */
#define RD_FACT_DISK_PRESSURE "disk pressure of others ns"     /* the time in
                                           which they waited; "0" is known */
#define RD_FACT_RESIDENT "bytes resident at most"       /* of the process */
#define RD_FACT_SKIPPED "scopes not recorded"
#define RD_FACT_THROTTLED "paths logged in part"
#define RD_FACT_AWAY "threads recorded by another recorder"
#define RD_FACT_AWAY_NS "recorded by another recorder ns"
#define RD_FACT_LEFT "scopes left without an end"
#define RD_FACT_CLOCK_JUMPS "clock jumped"      /* 1 */
#define RD_FACT_INTERRUPTING "events dropped in signal handlers"
#define RD_FACT_OUTSIDE "counts and texts outside of scopes"
#define RD_FACT_TEXTS "texts not kept"
#define RD_FACT_VALUES "counter values not kept"
#define RD_FACT_SAMPLES "gauge samples not kept"
#define RD_FACT_THREADS "threads not recorded"

/* The process whose ring this profile was made of, since it did not write one
 * itself: "a process that ended"; and when it ran for sure, in ns of the
 * profile's time. */
#define RD_FACT_RECOVERED "recovered from"
#define RD_FACT_SEEN "last seen ns"

/* For a damaged ring: the damage, and the number of spans dropped because of
 * it. */
#define RD_FACT_DAMAGE "damage of the ring"
#define RD_FACT_DAMAGED "damaged spans not kept"

/* Why the ring of this process had no file. */
#define RD_FACT_NO_FILE "no file of the ring"

/* For a log that is a ring: its size, and the time since when it has all spans
 * that ended, in ns of the profile's time. */
#define RD_FACT_RING "bytes of the ring"
#define RD_FACT_RING_BEGIN "ring begins ns"

/* Runs that were slower than their triggers allow (profiler/record/slow.h): how
 * many have a profile of their own, and how many have none; the last error why;
 * and the names of triggers that no scope had, with commas between. */
#define RD_FACT_SLOW_WRITTEN "slow runs written"
#define RD_FACT_SLOW_DROPPED "slow runs not written"
#define RD_FACT_SLOW_ERROR "slow runs not written because"
#define RD_FACT_SLOW_UNKNOWN "triggers without a scope"

/* For the profile of a slow run: its trigger ("read > 50 ms"), its path ("main
 * / read"), and when it began, in ns of the recording. */
#define RD_FACT_SLOW_TRIGGER "trigger"
#define RD_FACT_SLOW_PATH "path of the run"
#define RD_FACT_SLOW_BEGIN "run began ns"
#define RD_FACT_SLOW_CPU "run's cpu ns"  /* of its thread, if it was read */

/* A text that is part of the profile. */
struct rd_fact {
  const char *key;
  const char *value;
  bool is_name;               /* replaced when redacted */
};

/* A row of the timeline: a thread, or a row of requests that do not overlap
 * but by nesting. */
struct rd_lane {
  const char *name;
  bool is_async;
  uint64_t os_tid;            /* 0 for rows of requests */
  uint32_t part;              /* of runs that were joined: the first in
                                 which it was; the others go on in it */
};

enum {
  RD_SPAN_OPEN = 1,           /* had not ended */
  RD_SPAN_LATE = 2,           /* ended after its parent */
};

/* A run of a node.  Times count from the profile's beginning. */
struct rd_span {
  uint64_t begin_ns;
  uint64_t duration_ns;
  uint64_t submitted_ns;      /* when it was handed on; begin_ns if not */
  uint64_t wait_ns;           /* of its own self time */
  uint64_t starved_ns;        /* of the rest of that: without a CPU; 0 in
                                 profiles of radio 0.1 */
  uint32_t id;                /* 1 and up, unique in the profile */
  uint32_t parent;            /* an id, which the log may have dropped; 0 */
  uint32_t node;
  uint32_t lane;
  uint32_t flags;
  uint64_t nbytes;            /* its largest own counter of unit "bytes" */
  uint64_t tile;              /* 1 + the number of the tile that it was
                                 about; 0: of none.  See docs/profile.md */
  uint64_t stored_nbytes;     /* of the tile, in the store */
};

/* A text of one span, or without a span (0) of a node: its first one. */
struct rd_note {
  uint32_t span;
  uint32_t node;              /* of a span: RD_NO_INDEX will do */
  const char *key;
  const char *value;
  bool is_name;
  bool varies;                /* of a node: others followed */
};

/* A gauge at a time. */
struct rd_sample {
  uint64_t time_ns;
  int64_t value;
  uint32_t gauge;
};

struct rd_counter {
  const char *name;
  const char *unit;
};

struct rd_profile_part {
  const char *name;
  uint64_t wall_ns;
  uint64_t work_ns;
  uint64_t started_unix_ns;
  uint64_t pid;               /* of the operating system; 0: unknown */
  uint64_t starved_ns;        /* of the work */
  struct rd_part_usage {      /* of the process, as its facts; 0: none, or
                                 unknown */
    uint64_t minor_fault_count, major_fault_count;
    uint64_t block_input_nbytes;
  } usage;
  uint64_t process;           /* a number for it of all machines and containers,
                                 below 2^53, as the page's are; 0: unknown, as
                                 in older files */
};

/* True if two parts are of one process, as far as known. */
bool rd_is_same_process (const struct rd_profile_part *a,
                         const struct rd_profile_part *b);

/* A node's own value of a counter, and a part's share of a node.  Both, and the
 * next, begin with the two numbers that they are sorted by. */
struct rd_value {
  uint32_t node, counter;
  uint64_t value;
};

struct rd_part_share {
  uint32_t node, part;
  struct radio_profile_share share;
};

/* The sum of a counter over all nodes up to a place, of 96 bits, since files
 * can ask for sums of any size. */
struct rd_running {
  uint32_t counter, place;
  uint64_t low;
  uint32_t high;
};

/* The place of a node in preorder, and the number of nodes of its subtree,
 * itself included. */
struct rd_extent {
  uint32_t place, size;
};

struct rd_counters {
  struct rd_counter *at;
  size_t n, capacity;
};

struct radio_profile {
  struct radio_profile_info info;       /* strings owned by `strings' */
  RD_VECTOR (struct radio_profile_node) nodes;  /* strings likewise */
  struct rd_counters counters;
  struct rd_counters gauges;
  RD_VECTOR (struct rd_value) values;   /* by node, then counter, where it
                                           is not 0 */
  RD_VECTOR (struct rd_part_share) shares;      /* by node, then part, where
                                                   it has anything */
  RD_VECTOR (struct rd_running) running;        /* by counter, then place */
  struct rd_extent *extents;  /* of nodes */
  RD_VECTOR (struct rd_profile_part) parts;
  RD_VECTOR (struct rd_lane) lanes;
  RD_VECTOR (struct rd_span) spans;     /* by lane, then begin, then longer
                                           first, then node; in a lane every
                                           two nest or do not meet */
  RD_VECTOR (struct rd_note) notes;     /* by span, then node, then key */
  RD_VECTOR (struct rd_sample) samples; /* by time */
  RD_VECTOR (struct rd_fact) facts;
  RD_VECTOR (struct radio_finding) findings;    /* strings likewise */
  struct rd_string_table *strings;   /* every string once */
  struct rd_builder *builder; /* see builder.h */
  uint64_t process;           /* of its part, if it gets one when it is made
                                 whole */
};

/* An empty profile.  RADIO_ERROR_MEMORY. */
enum radio_status rd_profile_new (struct radio_profile **profile)
  RADIO_USE_RESULT;

RD_DEFINE_CLEANUP (profile, struct radio_profile, radio_profile_close);
#define RD_PROFILE_SCOPE RD_CLEANUP (rd_cleanup_profile)

/* The profile's own copy of a string, equal ones once; bytes that are not
 * UTF-8, and control characters, become U+FFFD.  NULL gives "".  NULL is
 * returned without memory. */
const char *rd_profile_string (struct radio_profile *profile,
                               const char *text);

/* The same into *string, or RADIO_ERROR_MEMORY. */
enum radio_status rd_profile_set_string (struct radio_profile *profile,
                                         const char *text,
                                         const char **string)
  RADIO_USE_RESULT;

/* Add a node; its parent is there already, and no child of it with this
 * name, category and edge: else RADIO_ERROR_FORMAT.  Its depth is computed,
 * its strings are copied, parent is an index or RADIO_NO_PARENT.  *index may
 * be NULL here and below. */
enum radio_status
rd_profile_add_node (struct radio_profile *profile,
                     const struct radio_profile_node *node, uint32_t *index)
  RADIO_USE_RESULT;

/* The child of a parent (RD_NO_INDEX: a root) with this name, category and
 * edge, or RD_NO_INDEX.  By hash: constant time. */
uint32_t rd_profile_find_node (const struct radio_profile *profile,
                               uint32_t parent, const char *name,
                               const char *category, enum radio_edge edge);

/* The index of a counter or gauge of this name and unit, added if it is
 * new. */
enum radio_status
rd_profile_add_counter (struct radio_profile *profile, const char *name,
                        const char *unit, uint32_t *index) RADIO_USE_RESULT;
enum radio_status
rd_profile_add_gauge (struct radio_profile *profile, const char *name,
                      const char *unit, uint32_t *index) RADIO_USE_RESULT;

/* True if a counter or gauge is among these, or may still be added. */
bool rd_profile_has_room (const struct rd_counters *counters,
                          const char *name, const char *unit);

/* Adds to a node's own counter, or to the share of a part in a node.  Nodes,
 * counters and parts may still be added afterwards. */
enum radio_status
rd_profile_add_value (struct radio_profile *profile, uint32_t node,
                      uint32_t counter, uint64_t value) RADIO_USE_RESULT;
enum radio_status
rd_profile_add_share (struct radio_profile *profile, uint32_t node,
                      uint32_t part,
                      const struct radio_profile_share *share)
  RADIO_USE_RESULT;

enum radio_status
rd_profile_add_part (struct radio_profile *profile,
                     const struct rd_profile_part *part, uint32_t *index)
  RADIO_USE_RESULT;
enum radio_status
rd_profile_add_lane (struct radio_profile *profile,
                     const struct rd_lane *lane, uint32_t *index)
  RADIO_USE_RESULT;
enum radio_status
rd_profile_add_span (struct radio_profile *profile,
                     const struct rd_span *span) RADIO_USE_RESULT;
enum radio_status
rd_profile_add_note (struct radio_profile *profile,
                     const struct rd_note *note) RADIO_USE_RESULT;
enum radio_status
rd_profile_add_sample (struct radio_profile *profile,
                       const struct rd_sample *sample) RADIO_USE_RESULT;

/* Facts with equal keys replace each other. */
enum radio_status
rd_profile_add_fact (struct radio_profile *profile, const char *key,
                     const char *value, bool is_name) RADIO_USE_RESULT;
enum radio_status
rd_profile_add_number (struct radio_profile *profile, const char *key,
                       uint64_t value) RADIO_USE_RESULT;

/* The process's use of the machine in a part, from the profile's facts. */
struct rd_part_usage
rd_profile_usage (const struct radio_profile *profile);

/* The value of a fact when profiles are joined. */
enum rd_fact_join {
  RD_JOIN_LIST,               /* a list of a few of those that differ */
  RD_JOIN_SUM,                /* of each part alone */
  RD_JOIN_MACHINES,           /* the sum; but ranks of one host saw the same of
                                 it */
  RD_JOIN_PEAK,               /* the largest; the sum of ranks, which are
                                 processes of their own */
  RD_JOIN_MEAN
};

/* The rule for facts with a key. */
struct rd_fact_rule {
  const char *key;
  enum rd_fact_join join;
  bool is_of_whole;           /* the recording: a run of it has none */
  bool is_incidental;         /* differs between any two recordings, or is
                                 measured and compared as such (conditions.c).
                                 The page has the same ones
                                 (profiler/view/model/conditions.mjs). */
};

/* Returns the rule of a key, or the default one. */
const struct rd_fact_rule *rd_find_fact_rule (const char *key);

/* The value of a fact, or NULL. */
const char *rd_profile_find_fact (const struct radio_profile *profile,
                                  const char *key);

/* Parses a text of digits only; 0 for any other text, and for numbers too
 * large. */
uint64_t rd_parse_digits (const char *text);

/* The value of a fact that is a number; 0: none, or no number. */
uint64_t rd_profile_number (const struct radio_profile *profile,
                            const char *key);

/* A counter's value, by its index, of a node itself, of its subtree, and of
 * the whole tree.  The profile must be finished. */
uint64_t rd_profile_value (const struct radio_profile *profile, size_t node,
                           size_t counter);
uint64_t rd_profile_tree_value (const struct radio_profile *profile,
                                size_t node, size_t counter);
uint64_t rd_profile_counter_sum (const struct radio_profile *profile,
                                 size_t counter);

/* What a part contributed to a node, all 0 if nothing; and the same of all
 * parts that contributed, by part. */
struct radio_profile_share
rd_profile_share (const struct radio_profile *profile, size_t node,
                  size_t part);
const struct rd_part_share *
rd_profile_shares (const struct radio_profile *profile, size_t node,
                   size_t *n);

/* The text that a node has for a key, or NULL, and whether other texts
 * followed it; and the first text of a node whose key is not before this one
 * ("": the first of all).  The profile must be finished. */
const char *rd_profile_node_note (const struct radio_profile *profile,
                                  size_t node, const char *key,
                                  bool *varies);
size_t rd_profile_first_note (const struct radio_profile *profile,
                              size_t node, const char *key);

struct rd_move {
  const char *counter;
  const char *word;
};

/* In order of preference. */
#define RD_NMOVES 7
extern const struct rd_move rd_moves[RD_NMOVES];

/* By the first of these counters that the node has (inclusive: or any below
 * it), else by the largest one of unit "bytes"; 0: none. */
uint64_t rd_moved (const struct radio_profile *profile, size_t node,
                   bool inclusive);

/* The sum of a node's counters of one unit, of its own or with those below
 * it. */
uint64_t rd_unit_sum (const struct radio_profile *profile, size_t node,
                      const char *unit, bool inclusive);

/* Arithmetic operations of a node and those below it: its counters of unit
 * "flop". */
#define RD_UNIT_FLOP "flop"
uint64_t rd_flop (const struct radio_profile *profile, size_t node);

/* Completes the profile: derived values (tree_work_ns, tree_wait_ns, the
 * counts of info) are computed, a profile without parts gets a single one,
 * requests are packed into rows, spans, notes and samples are sorted, findings
 * are found.  Sums saturate.  Of info, the builder sets title, program, clock,
 * started_unix_ns, wall_ns (0: the end of the last span), scope_cost_ns,
 * scope_count (0: all calls), parts, alloc_peak_nbytes, and the part of
 * alloc_count, alloc_nbytes, alloc_live_nbytes and dropped_count that belongs
 * to no node (0: only that of the nodes).  Spans that stick out of the one
 * around them in their lane, by the rounding of clocks, are cut.  Refuses
 * inconsistent data with RADIO_ERROR_FORMAT (an index out of range, an id
 * twice, a time above 2^63 ns, spans that are their own parents): the reader
 * relies on it. */
enum radio_status rd_profile_finalize (struct radio_profile *profile)
  RADIO_USE_RESULT;

/* Lay requests that overlap into rows: spans whose lane is RD_NO_INDEX get
 * lanes "requests 1", ... of part 0.  A request's phases share its row and
 * lie within it; no other two in a row meet, since tools would take the one
 * for the other's child.  First fit: as few rows as there are requests at
 * one time.  Called by rd_profile_finalize. */
enum radio_status rd_profile_assign_lanes (struct radio_profile *profile)
  RADIO_USE_RESULT;

/* Fill profile->findings (see findings.c).  Called by rd_profile_finalize. */
enum radio_status rd_profile_find_findings (struct radio_profile *profile)
  RADIO_USE_RESULT;

/* Copies one run and its descendants from the log into a profile that is not
 * finished, so that facts may be added.  It begins with the run.  Its nodes are
 * those of the spans; it lacks figures that the log does not have for each run
 * (all counters but one of bytes, memory) and runs that the log dropped, whose
 * time is their parents' self time.  Errors: RADIO_ERROR_ARGUMENT (no such id),
 * RADIO_ERROR_MEMORY. */
enum radio_status
rd_profile_of_run (const struct radio_profile *whole, uint32_t span_id,
                   struct radio_profile **run) RADIO_USE_RESULT;

/* A copy with every name replaced (see redact.c); NULL key: none. */
enum radio_status
rd_profile_redact (const struct radio_profile *profile, const void *key,
                   size_t key_nbytes, struct radio_profile **redacted)
  RADIO_USE_RESULT;

#endif /* RD_PROFILE_H */
